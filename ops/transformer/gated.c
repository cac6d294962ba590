/* transformer.swiglu, geglu and geglu_erf: activations of a gate times what is gated (SEMANTICS.md 18.11), function ops. The
 * reference takes each step in MPFR, in the exponents of the operands' own format. */
#include <mpfr.h>

#include "common/activations.h"
#include "shared.h"

#define FLOATS "f32|f16|bf16[...]"
#define ELEMENTS_MAX (1ull << 31)

static const pctl_port gated_in[2] = {{"a", FLOATS, "the gate", 0, 0},
				      {"b", FLOATS, "what is gated, of a's type and shape", 0, 0}};
static const pctl_port gated_out[1] = {{"y", FLOATS, "the result, of a's type and shape", 0, 0}};

/* ---- steps ---------------------------------------------------------------------------------- */

typedef int (*function1)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
typedef int (*function2)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

/* x is what the steps so far have made. */
static void step1(mpfr_ptr x, function1 f)
{
	mpfr_subnormalize(x, f(x, x, MPFR_RNDN), MPFR_RNDN);
}

static void step2(mpfr_ptr x, function2 f, mpfr_srcptr a, mpfr_srcptr b)
{
	mpfr_subnormalize(x, f(x, a, b, MPFR_RNDN), MPFR_RNDN);
}

static void constant(mpfr_ptr x, double v)
{
	mpfr_subnormalize(x, mpfr_set_d(x, v, MPFR_RNDN), MPFR_RNDN);
}

/* Each leaves its value of v[0] in v[1]; v[2] is free. */
static void silu(mpfr_t *v)
{
	mpfr_neg(v[1], v[0], MPFR_RNDN);
	step1(v[1], mpfr_exp);
	constant(v[2], 1);
	step2(v[1], mpfr_add, v[2], v[1]);
	step2(v[1], mpfr_div, v[0], v[1]);
}

/* (0.5 * x) * (1 + v[1]) */
static void halved(mpfr_t *v)
{
	constant(v[2], 1);
	step2(v[1], mpfr_add, v[2], v[1]);
	constant(v[2], 0.5);
	step2(v[2], mpfr_mul, v[2], v[0]);
	step2(v[1], mpfr_mul, v[2], v[1]);
}

static void gelu_tanh(mpfr_t *v)
{
	step2(v[1], mpfr_mul, v[0], v[0]);
	step2(v[1], mpfr_mul, v[1], v[0]);
	constant(v[2], 0.044715);
	step2(v[1], mpfr_mul, v[2], v[1]);
	step2(v[1], mpfr_add, v[0], v[1]);
	constant(v[2], 0.79788456080286535588);
	step2(v[1], mpfr_mul, v[2], v[1]);
	step1(v[1], mpfr_tanh);
	halved(v);
}

static void gelu(mpfr_t *v)
{
	constant(v[2], 0.70710678118654752440);
	step2(v[1], mpfr_mul, v[2], v[0]);
	step1(v[1], mpfr_erf);
	halved(v);
}

typedef struct gated_row {
	const char *wgsl[3]; /* of f32, f16, bf16 */
	void (*eval)(mpfr_t *v);
} gated_row;

static const uint32_t gated_types[3] = {PCTL_SCALAR_F32, PCTL_SCALAR_F16, PCTL_SCALAR_BF16};

static const char *transformer_function(const kit_op *op, uint32_t dtype)
{
	const gated_row *row = op->data;

	for (uint32_t i = 0; i < KIT_COUNT(gated_types); i++)
		if (gated_types[i] == dtype)
			return row->wgsl[i];
	return NULL;
}

static pctl_status transformer_infer(const kit_use *u, pctl_op_result *out)
{
	const pctl_tensor_type *x = u->q->in;

	for (uint32_t i = 0; i < 2; i++) {
		if (transformer_function(u->op, x[i].dtype) == NULL)
			return kit_refuse_type(u, i, u->op->desc.in[i].type);
		if (x[i].dtype != x[0].dtype || !kit_same_shape(&x[i], &x[0]))
			return kit_refuse_type(u, i, "the type and shape of port \"a\"");
	}
	out->out[0] = x[0];
	return kit_limit(u, "elements", kit_elements(&x[0]), ELEMENTS_MAX);
}

static pctl_status transformer_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const gated_row *row = u->op->data;
	const uint32_t dtype = u->q->in[0].dtype;
	const tensor_float_format *format = tensor_float_format_of(dtype);
	const mpfr_exp_t least = mpfr_get_emin(), most = mpfr_get_emax();
	mpfr_t v[4];

	for (uint32_t i = 0; i < KIT_COUNT(v); i++)
		mpfr_init2(v[i], format->precision);
	/* MPFR sees a significand in [1/2, 1). */
	mpfr_set_emin(dtype == PCTL_SCALAR_F32 ? -148 : dtype == PCTL_SCALAR_F16 ? -23 : -132);
	mpfr_set_emax(dtype == PCTL_SCALAR_F16 ? 16 : 128);
	for (uint64_t i = 0; i < kit_elements(&u->q->in[0]); i++) {
		uint32_t code;

		mpfr_set_d(v[0], tensor_value(dtype, in[0].data, i), MPFR_RNDN);
		mpfr_set_d(v[3], tensor_value(dtype, in[1].data, i), MPFR_RNDN);
		if (mpfr_inf_p(v[0]) && mpfr_signbit(v[0]))
			mpfr_set_zero(v[1], -1); /* 15.11: the limit */
		else
			row->eval(v);
		step2(v[1], mpfr_mul, v[1], v[3]);
		code = mpfr_nan_p(v[1]) ? format->nan
					: tensor_narrowed(mpfr_get_flt(v[1], MPFR_RNDN), format);
		memcpy((char *)out[0].data + i * kit_dtype_bytes(dtype), &code,
		       kit_dtype_bytes(dtype));
	}
	for (uint32_t i = 0; i < KIT_COUNT(v); i++)
		mpfr_clear(v[i]);
	mpfr_set_emin(least);
	mpfr_set_emax(most);
	return PCTL_OK;
}

/* ---- rows ----------------------------------------------------------------------------------- */

#define FN(name, e, T) \
	"fn transformer_" name "_" T "(x: " T ", b: " T ") -> " T " {\n\treturn (" e ") * b;\n}\n"
#define ROW(id, name, e)                                                                       \
	static const gated_row id##_row = {                                                    \
		{FN(name, e, "f32"), "enable f16;\n" FN(name, e, "f16"), FN(name, e, "bf16")}, \
		eval_##id}
#define eval_swiglu silu
#define eval_geglu gelu_tanh
#define eval_geglu_erf gelu
ROW(swiglu, "swiglu", KIT_SILU);
ROW(geglu, "geglu", KIT_GELU_TANH);
ROW(geglu_erf, "geglu_erf", KIT_GELU);

#define SAID(text)                                       \
	{                                                \
		.law = PCTL_LAW_CUSTOM, .custom = (text) \
	}
static const pctl_law swiglu_laws[] = {
	SAID("swiglu(a, b) = ieee.mul(ieee.silu(a), b)"),
	SAID("a >= 40: swiglu(a, b) = ieee.mul(a, b)"),
	SAID("number a: swiglu(a, 1) = ieee.silu(a)"),
};
static const pctl_law geglu_laws[] = {
	SAID("geglu(a, b) = ieee.mul(ieee.gelu_tanh(a), b)"),
	SAID("a >= 10: geglu(a, b) = ieee.mul(a, b)"),
	SAID("number a: geglu(a, 1) = ieee.gelu_tanh(a)"),
};
static const pctl_law geglu_erf_laws[] = {
	SAID("geglu_erf(a, b) = ieee.mul(ieee.gelu(a), b)"),
	SAID("a >= 6: geglu_erf(a, b) = ieee.mul(a, b)"),
	SAID("number a: geglu_erf(a, 1) = ieee.gelu(a)"),
};

static const pctl_example gated_classes[] = {{"zero", {0x00000000, 0x3f000000}},
					     {"negative zero", {0x80000000, 0x3f000000}},
					     {"subnormal", {0x00000001, 0x3f000000}},
					     {"infinity", {0x7f800000, 0x3f000000}},
					     {"negative infinity", {0xff800000, 0x3f000000}},
					     {"infinity of the other", {0xc0600000, 0x7f800000}},
					     {"limit times infinity", {0xff800000, 0x7f800000}},
					     {"NaN with a payload", {0x7f800001, 0x3f000000}},
					     {"one", {0x3f800000, 0x3f800000}},
					     {"below zero", {0xc0600000, 0x3c23d70a}},
					     {"far below", {0xc2b80000, 0x3f800000}}};
static const pctl_example gated_bounds[] = {{"largest", {0x7f7fffff, 0x3f800000}},
					    {"least", {0xff7fffff, 0x3f800000}},
					    {"just below three", {0x403fffff, 0x40000000}},
					    {"minus eleven", {0xc1318000, 0x40000000}}};
#define swiglu_classes gated_classes
#define swiglu_bounds gated_bounds
#define geglu_classes gated_classes
#define geglu_bounds gated_bounds
#define geglu_erf_classes gated_classes
#define geglu_erf_bounds gated_bounds

#define GATED_OP(name, doc, spec, id)                                                         \
	KIT_FUNCTION_OP(transformer, name, doc, spec, PCTL_CLASS_STRICT, gated_in, gated_out, \
			id##_row, id)

static const kit_op ops[] = {
	GATED_OP("swiglu", "what is gated, times SiLU of the gate",
		 "y = ieee.silu(a) * b, the product one more rounding; a result that is NaN is the "
		 "canonical one",
		 swiglu),
	GATED_OP(
		"geglu", "what is gated, times GELU of the gate, by tanh",
		"y = ieee.gelu_tanh(a) * b, the product one more rounding; a result that is NaN is "
		"the canonical one",
		geglu),
	GATED_OP("geglu_erf", "what is gated, times GELU of the gate, by erf",
		 "y = ieee.gelu(a) * b, the product one more rounding; a result that is NaN is the "
		 "canonical one",
		 geglu_erf),
};

const kit_family transformer_gated_family = {ops, NULL, KIT_COUNT(ops), 0};
