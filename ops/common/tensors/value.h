/* Elements of tensors of any type, for references and problems; see value.c. */
#ifndef PIPECTL_OPS_TENSORS_VALUE_H
#define PIPECTL_OPS_TENSORS_VALUE_H

#include "common/tensors/format.h"

/* Bits of the exponent and the fraction; whether there are infinities, and NaN. */
typedef struct tensor_float_layout {
	uint32_t dtype, exponent, fraction, infinities, nan;
} tensor_float_layout;

/* NULL: no float. */
const tensor_float_layout *tensor_float_layout_of(uint32_t dtype);
/* Bits of an element that is moved alone; 0: a block is none, nor are bytes of no type. */
uint32_t tensor_bits(uint32_t dtype);
/* Bits of element i of a type without blocks, and the same put in their place. */
uint64_t tensor_code(uint32_t dtype, const void *data, uint64_t i);
void tensor_code_put(uint32_t dtype, void *data, uint64_t i, uint64_t code);
int tensor_is_signed(uint32_t dtype);
/* Bytes of no type in particular made into n elements: codes that stand for something, and zeros behind the last. */
void tensor_mend(uint32_t dtype, uint8_t *data, uint64_t n, uint64_t n_bytes);
/* The number that element i is, exactly. */
long double tensor_element(uint32_t dtype, const void *data, uint64_t i);

#endif
