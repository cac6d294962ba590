/* Plans of exact sums along axes, which everything that sums floats is made of: rounds of lanes, whose digits are added, and one rounding
 * at the end. */
#ifndef PIPECTL_OPS_TENSOR_EXACT_SUMS_H
#define PIPECTL_OPS_TENSOR_EXACT_SUMS_H

#include "matmul.h"
#include "reduce_axes.h"

#define TENSOR_SUM_WORDS 21u /* of a sum in memory: exact_sum.wgsl's digits, and what was seen */
#define TENSOR_SUM_EXTRA 3u
#define TENSOR_NONE UINT32_MAX /* no buffer */

/*
 * term    WGSL: fn term(bits: u32, result: u32), which adds an element of x of that f32, by sum_term or sum_square
 * scale   WGSL: fn sum_scale() of exact_sum.wgsl, or NULL for a sum as it is
 * give    WGSL: fn give(item: u32) -> u32, the bits of a result from the sum; NULL: sums are kept as digits
 * format  what sum_round rounds to
 * extra   bindings 3 and on, which `term` speaks of in the first round, `scale` and `give` in the last
 * marks   what tensor_quick_sums gave, or TENSOR_NONE: results that are not marked there are those, and of digits nothing
 */
typedef struct tensor_exact {
	const char *name, *term, *scale, *give;
	const tensor_float_format *format;
	const char *narrow; /* NULL, or the type of fn narrow(x: f32) -> u32, for `give` */
	const char *extra_text;
	kit_slot extra[TENSOR_SUM_EXTRA];
	uint32_t n_extra, marks;
} tensor_exact;

/* Of x, input 0. to: a buffer of a word a result, or of TENSOR_SUM_WORDS. */
void tensor_exact_sums(kit_plan *p, const tensor_axes *a, const tensor_exact *e, uint32_t to);

/* quick_sums.c: sums in f64 where the device has them, which say what most exact sums round to. */
enum { TENSOR_QUICK_SUM, TENSOR_QUICK_MEAN, TENSOR_QUICK_VARIANCE };
/* The bits of each result of x, input 0, as a word, in a new buffer; within.wgsl's MARK where they do not tell. TENSOR_NONE: not on this device.
 * ddof: of a variance, below the number of terms. */
uint32_t tensor_quick_sums(kit_plan *p, const tensor_axes *a, uint32_t what, uint64_t ddof);
/* What moments_add.wgsl and moments_judge.wgsl are told of sums: see `inverse` there. */
typedef struct tensor_judge {
	uint32_t n, depth, inverse[2];
} tensor_judge;
tensor_judge tensor_judge_of(uint64_t n, uint64_t depth, double divisor);

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
