/* What the files of tensor.convert share. */
#ifndef PIPECTL_OPS_TENSOR_CONVERT_H
#define PIPECTL_OPS_TENSOR_CONVERT_H

#include "common/codec.h"
#include "common/tensors/value.h"

enum { CONVERT_TO, CONVERT_SATURATE };

/* The types that can be made, one by one; PCTL_SCALAR_NONE behind the last. */
uint32_t convert_type(uint32_t i);
/* The one that a use asks for. */
pctl_status convert_to(const kit_use *u, uint32_t *out);

/* Parts of a kernel (convert.c): a constant of u32, u64, i32; `read(i)`, which takes element i of `x` apart, and `written()`, which rounds what was read to
 * the type's code, over the text convert_code.wgsl. */
void convert_add_number(kit_wgsl *w, const char *name, uint64_t value);
void convert_add_wide(kit_wgsl *w, const char *name, uint64_t value);
void convert_add_integer(kit_wgsl *w, const char *name, int value);
void convert_add_reading(kit_wgsl *w, uint32_t from);
void convert_add_code(kit_wgsl *w, uint32_t from,
		      const char *code); /* of a float, with a `code(i)` of one's own */
void convert_add_writing(kit_wgsl *w, uint32_t to, int saturate);

/* convert_reference.c. The code of the float nearest to v. */
uint64_t convert_float_code(const tensor_float_layout *f, long double v, int saturate);
pctl_status convert_reference(const kit_use *u, const pctl_span *in, pctl_span *out);
/* convert_laws.c */
extern const pctl_op_problems convert_problems;
void convert_problem(kit_problem *p);
void convert_law_fixed(kit_law *l);
void convert_law_back(kit_law *l);

#endif
