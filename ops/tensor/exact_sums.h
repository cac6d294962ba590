/* Plans of exact sums along axes, which everything that sums floats is made of: rounds of lanes, whose digits are added, and one rounding
 * at the end. */
#ifndef PIPECTL_OPS_TENSOR_EXACT_SUMS_H
#define PIPECTL_OPS_TENSOR_EXACT_SUMS_H

#include "matmul.h"
#include "reduce_axes.h"

#define TENSOR_SUM_WORDS 21u /* of a sum in memory: exact_sum.wgsl's digits, and what was seen */
#define TENSOR_SUM_EXTRA 3u

/*
 * term    WGSL: fn term(bits: u32, result: u32), which adds an element of x of that f32, by sum_term or sum_square
 * scale   WGSL: fn sum_scale() of exact_sum.wgsl, or NULL for a sum as it is
 * give    WGSL: fn give(item: u32) -> u32, the bits of a result from the sum; NULL: sums are kept as digits
 * format  what sum_round rounds to
 * extra   bindings 3 and on, which `term` speaks of in the first round, `scale` and `give` in the last
 */
typedef struct tensor_exact {
	const char *name, *term, *scale, *give;
	const tensor_float_format *format;
	const char *narrow; /* NULL, or the type of fn narrow(x: f32) -> u32, for `give` */
	const char *extra_text;
	kit_slot extra[TENSOR_SUM_EXTRA];
	uint32_t n_extra;
} tensor_exact;

/* Of x, input 0. to: a buffer of a word a result, or of TENSOR_SUM_WORDS. */
void tensor_exact_sums(kit_plan *p, const tensor_axes *a, const tensor_exact *e, uint32_t to);

#define TENSOR_SUM_TERM "fn term(bits: u32, result: u32) {\n\tsum_term(bits);\n}\n"
#define TENSOR_SQUARE_TERM "fn term(bits: u32, result: u32) {\n\tsum_square(bits);\n}\n"
#define TENSOR_GIVE_SUM "fn give(item: u32) -> u32 {\n\treturn sum_round();\n}\n"
/* Long division by a uniform, from the highest digit down. */
#define TENSOR_SCALE_MEAN                                           \
	"fn sum_scale() -> bool {\n\tvar rest = 0lu;\n"             \
	"\tfor (var i = 0u; i < DIGITS; i++) {\n"                   \
	"\t\trest = (rest << 32u) | u64(total[DIGITS - 1u - i]);\n" \
	"\t\ttotal[DIGITS - 1u - i] = i64(rest / u64(divisor));\n"  \
	"\t\trest = rest % u64(divisor);\n\t}\n\treturn rest != 0lu;\n}\n"

#endif
