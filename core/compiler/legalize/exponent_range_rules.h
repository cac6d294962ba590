/* What an operation makes of the exponent ranges of its operands (exponent_range.h). */
#ifndef PIPECTL_COMPILER_LEGALIZE_EXPONENT_RANGE_RULES_H
#define PIPECTL_COMPILER_LEGALIZE_EXPONENT_RANGE_RULES_H

#include "compiler/legalize/exponent_range.h"

/* Of a value of which nothing is known; of one that is always 0. */
extern const legal_exponent_range legal_range_unknown, legal_range_nothing;

/* Within the limits of the type; finite where all that is below 2^top is. low is that of lsb. */
legal_exponent_range legal_range_made(int lsb, int top);
/* Of a value of at least 2^low: an f32 has 23 places below its first. */
legal_exponent_range legal_range_at_least(int low, int top);
legal_exponent_range legal_range_either(legal_exponent_range a, legal_exponent_range b);
/* Of the exact product, before it is rounded. */
legal_exponent_range legal_range_product(legal_exponent_range a, legal_exponent_range b);
legal_exponent_range legal_range_of_bits(uint32_t bits);
/* Of a conversion to f32 from another scalar. */
legal_exponent_range legal_range_from(uint8_t scalar);
/* Of the result of a strict operation that yields f32, of which a is the operands. */
legal_exponent_range legal_range_operation(uint16_t op, const legal_exponent_range *a, uint32_t n);

#endif
