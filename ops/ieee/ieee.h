/* What the families of the ieee library share. An op is one row: WGSL a type, an answer in C that
 * takes and gives bits, and its rules; op list, functions, references and rules are all read from
 * that row. */
#ifndef PIPECTL_OPS_IEEE_H
#define PIPECTL_OPS_IEEE_H

#include <stdint.h>

#include <mpfr.h>

#include "common/kit.h"

extern const kit_family ieee_arith_family;
extern const kit_family ieee_compare_family;
extern const kit_family ieee_round_family;
extern const kit_family ieee_trig_family;
extern const kit_family ieee_exp_family;
extern const kit_family ieee_convert_family;
extern const kit_family ieee_reduce_family;
extern const kit_family ieee_activation_family;
extern const kit_family ieee_vector_family;
extern const kit_family ieee_double_family;

#define IEEE_ELEMENTS_MAX (1ull << 31)

/* ---- bits and numbers -------------------------------------------------------------------------
 */

/* An interchange format. bits: of the whole; fraction: of the field below the exponent. */
typedef struct ieee_format {
	uint32_t dtype;
	uint32_t bits;
	uint32_t fraction;
} ieee_format;

enum { IEEE_FINITE, IEEE_INFINITE, IEEE_NAN };

/* (-1)^negative * (mantissa + something below 1 that is 0 exactly when inexact is 0) * 2^exponent.
 * Zero has mantissa 0 and a sign. */
typedef struct ieee_number {
	uint32_t kind;
	uint32_t negative;
	uint64_t mantissa;
	int64_t exponent;
	uint32_t inexact;
} ieee_number;

/* The format of a dtype; NULL for one that is no float here. */
const ieee_format *ieee_format_of(uint32_t dtype);
ieee_number ieee_take(uint32_t bits, const ieee_format *f);
/* Rounded to nearest even; NaN is the canonical one. An inexact number has a mantissa of at least
 * fraction + 3 bits, or of none. */
uint32_t ieee_give(const ieee_number *x, const ieee_format *f);
uint32_t ieee_nan(const ieee_format *f);
uint32_t ieee_infinity(const ieee_format *f);
uint32_t ieee_sign(const ieee_format *f);
int ieee_is_nan(uint32_t bits, const ieee_format *f);
/* -1, 0 or 1 as a is below, equal to or above b; neither is NaN, and -0 is below +0. */
int ieee_order(uint32_t a, uint32_t b, const ieee_format *f);

uint32_t ieee_load(const void *data, uint64_t i, uint32_t n_bytes);
void ieee_store(void *data, uint64_t i, uint32_t n_bytes, uint32_t bits);

/* ---- correctly rounded functions, by MPFR -----------------------------------------------------
 */

typedef int (*ieee_real1)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
typedef int (*ieee_real2)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

/* MPFR's variables for one call of a reference; the thread's exponent range is widened between open
 * and close. */
typedef struct ieee_reals {
	mpfr_t in[3], out;
	mpfr_exp_t emin, emax;
} ieee_reals;

void ieee_reals_open(ieee_reals *r);
void ieee_reals_close(ieee_reals *r);
void ieee_real_set(mpfr_ptr y, uint32_t bits, const ieee_format *f);
/* What r->out rounds to; ternary is what MPFR said when it was cut there. r->out is used up. */
uint32_t ieee_real_get(ieee_reals *r, int ternary, const ieee_format *f);
uint32_t ieee_real_1(ieee_reals *r, ieee_real1 fn, const uint32_t *x, const ieee_format *f);
uint32_t ieee_real_2(ieee_reals *r, ieee_real2 fn, const uint32_t *x, const ieee_format *f);
uint32_t ieee_real_fma(ieee_reals *r, const uint32_t *x, const ieee_format *f);

/* minimumNumber (want -1) or maximumNumber (want 1). */
uint32_t ieee_extreme(uint32_t a, uint32_t b, int want, const ieee_format *f);

/* ---- rows -------------------------------------------------------------------------------------
 */

typedef struct ieee_row ieee_row;

/* What an answer is computed from: the operands' bits, their dtype (and format, if a float), the
 * output's format where it is one, and the value of the attribute where the op has one. */
typedef struct ieee_ask {
	const ieee_row *row;
	const uint32_t *x;
	const ieee_format *form, *out;
	ieee_reals *reals;
	uint32_t dtype;
	uint32_t mode;
} ieee_ask;

enum { IEEE_ON_F32, IEEE_ON_F16, IEEE_ON_BF16, IEEE_ON_I32, IEEE_ON_U32, IEEE_TYPES };

/* A row's own part. wgsl: texts by type of the operands; NULL where the op has no form. out: dtype
 * of the result, 0 for the operands'. */
struct ieee_row {
	const char *wgsl[IEEE_TYPES];
	uint32_t (*eval)(const ieee_ask *a);
	ieee_real1 real1;
	ieee_real2 real2;
	uint32_t out;
	uint32_t reserved;
};

extern const pctl_port ieee_unary_in[1];
extern const pctl_port ieee_binary_in[2];
extern const pctl_port ieee_ternary_in[3];
extern const pctl_port ieee_out[1];
extern const pctl_port ieee_truth_out[1];

const char *ieee_function(const kit_op *op, uint32_t dtype);
pctl_status ieee_infer(const kit_use *u, pctl_op_result *out);
pctl_status ieee_reference(const kit_use *u, const pctl_span *in, pctl_span *out);
/* The value of the attribute `mode`; 0 for an op without. */
uint32_t ieee_mode(const kit_use *u);
/* Rows of one MPFR function. */
uint32_t ieee_eval_real1(const ieee_ask *a);
uint32_t ieee_eval_real2(const ieee_ask *a);

/* Texts of one function of T giving R. */
#define IEEE_RET(expression) "\treturn " expression ";\n"
#define IEEE_FN1(name, T, R, e) "fn ieee_" name "(x: " T ") -> " R " {\n" IEEE_RET(e) "}\n"
#define IEEE_FN2(name, T, R, e) \
	"fn ieee_" name "(a: " T ", b: " T ") -> " R " {\n" IEEE_RET(e) "}\n"
#define IEEE_FN3(name, T, R, e) \
	"fn ieee_" name "(a: " T ", b: " T ", c: " T ") -> " R " {\n" IEEE_RET(e) "}\n"
#define IEEE_HALF "enable f16;\n"

/* The first line of a kernel whose grid kit_run cuts. */
#define IEEE_GRID "//# max dispatch = 65535,65535,1\n"

/* The same expression for every float type: IEEE_SAME1("neg", "-x"). */
#define IEEE_SAME(FN, name, e)                                              \
	{                                                                   \
		[IEEE_ON_F32] = FN(name "_f32", "f32", "f32", e),           \
		[IEEE_ON_F16] = IEEE_HALF FN(name "_f16", "f16", "f16", e), \
		[IEEE_ON_BF16] = FN(name "_bf16", "bf16", "bf16", e),       \
	}
#define IEEE_TRUTH(FN, name, condition)                                                            \
	{                                                                                          \
		[IEEE_ON_F32] = FN(name "_f32", "f32", "u32", "select(0u, 1u, " condition ")"),    \
		[IEEE_ON_F16] =                                                                    \
			IEEE_HALF FN(name "_f16", "f16", "u32", "select(0u, 1u, " condition ")"),  \
		[IEEE_ON_BF16] = FN(name "_bf16", "bf16", "u32", "select(0u, 1u, " condition ")"), \
	}
#define IEEE_ROW_REAL1(id, builtin, fn)                          \
	static const ieee_row id##_row = {                       \
		.wgsl = IEEE_SAME(IEEE_FN1, #id, builtin "(x)"), \
		.eval = ieee_eval_real1,                         \
		.real1 = fn,                                     \
	}

/* One op. The rules are the arrays <id>_laws, <id>_classes and <id>_bounds beside it; examples are
 * bits of f32. */
#define IEEE_OP(op_name, op_doc, op_spec, ports_in, ports_out, id)                              \
	KIT_FUNCTION_OP(ieee, op_name, op_doc, op_spec, PCTL_CLASS_STRICT, ports_in, ports_out, \
			id##_row, id)

#define IEEE_LAW(law_kind)        \
	{                         \
		.law = (law_kind) \
	}
#define IEEE_LAW_SAID(text)                              \
	{                                                \
		.law = PCTL_LAW_CUSTOM, .custom = (text) \
	}
#define IEEE_LAW_BOUNDED(low, high)                              \
	{                                                        \
		.law = PCTL_LAW_BOUNDED, .a = (low), .b = (high) \
	}

#define IEEE_CANONICAL "a result that is NaN is the canonical one"

/* laws.c: of the reductions */
void ieee_law_one_more(kit_law *l);
void ieee_law_one_element(kit_law *l);
void ieee_law_two_parts(kit_law *l);
void ieee_law_as_strict(kit_law *l);
void ieee_law_within(kit_law *l);

#endif
