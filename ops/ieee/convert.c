/* ieee.to_f16 to_bf16 to_f32 to_i32 to_u32: from every other type, with one rounding. */
#include "ieee.h"
#include "kernels.h"

enum { TRUNC, NEAREST, FLOOR, CEIL, MODES };
static const char *const mode_names[MODES] = {"trunc", "nearest", "floor", "ceil"};

uint32_t ieee_mode(const kit_use *u)
{
	uint32_t mode = TRUNC;

	if (u->op->desc.n_attr > 0)
		while (mode < MODES && strcmp(u->q->attr[0].text, mode_names[mode]) != 0)
			mode++;
	return mode;
}

static pctl_status integer_infer(const kit_use *u, pctl_op_result *out)
{
	if (ieee_mode(u) == MODES)
		return kit_refuse_attr(u, "mode", "is not trunc, nearest, floor or ceil");
	return ieee_infer(u, out);
}

/* From a float or an integer of 32 bits. */
static uint32_t eval_float(const ieee_ask *a)
{
	ieee_number x = {.kind = IEEE_FINITE, .mantissa = a->x[0]};

	if (a->form) {
		x = ieee_take(a->x[0], a->form);
	} else if (a->dtype == PCTL_SCALAR_I32 && a->x[0] >> 31) {
		x.negative = 1;
		x.mantissa = (1ull << 32) - a->x[0];
	}
	return ieee_give(&x, a->out);
}

/* 1 when the integer next to `whole` away from zero is taken; rest of 2^shift units lies above
 * `whole`. */
static uint64_t away(uint32_t mode, uint32_t negative, uint64_t whole, uint64_t rest, int64_t shift)
{
	switch (mode) {
	case NEAREST:
		return 2 * rest + (whole & 1) > 1ull << shift;
	case FLOOR:
		return negative && rest > 0;
	case CEIL:
		return !negative && rest > 0;
	default:
		return 0;
	}
}

/* The magnitude as an integer, at most 2^33. */
static uint64_t whole_of(const ieee_number *x, uint32_t mode)
{
	const uint64_t too_much = 1ull << 33;
	uint64_t whole, rest;
	int64_t shift;

	if (x->kind == IEEE_INFINITE || x->exponent > 32)
		return x->mantissa || x->kind == IEEE_INFINITE ? too_much : 0;
	if (x->exponent >= 0) {
		whole = x->mantissa << x->exponent;
		return whole < too_much ? whole : too_much;
	}
	/* All fractions below 2^-30 are alike. */
	shift = x->exponent < -60 ? 60 : -x->exponent;
	whole = x->mantissa >> shift;
	rest = x->mantissa - (whole << shift);
	return whole + away(mode, x->negative, whole, rest, shift);
}

static uint32_t eval_i32(const ieee_ask *a)
{
	const ieee_number x = ieee_take(a->x[0], a->form);
	const uint64_t most = x.negative ? 1ull << 31 : (1ull << 31) - 1;
	uint64_t whole;

	if (x.kind == IEEE_NAN)
		return 0;
	whole = whole_of(&x, a->mode);
	if (whole > most)
		whole = most;
	return x.negative ? 0u - (uint32_t)whole : (uint32_t)whole;
}

static uint32_t eval_u32(const ieee_ask *a)
{
	const ieee_number x = ieee_take(a->x[0], a->form);
	uint64_t whole;

	if (x.kind == IEEE_NAN || x.negative)
		return 0;
	whole = whole_of(&x, a->mode);
	return whole > UINT32_MAX ? UINT32_MAX : (uint32_t)whole;
}

/* ---- texts ------------------------------------------------------------------------------------
 */

static const ieee_row to_f32_row = {
	.wgsl = {[IEEE_ON_F16] = IEEE_HALF IEEE_FN1("to_f32_f16", "f16", "f32", "f32(x)"),
		 [IEEE_ON_BF16] = IEEE_FN1("to_f32_bf16", "bf16", "f32", "f32(x)"),
		 [IEEE_ON_I32] = IEEE_FN1("to_f32_i32", "i32", "f32", "f32(x)"),
		 [IEEE_ON_U32] = IEEE_FN1("to_f32", "u32", "f32", "f32(x)")},
	.eval = eval_float,
	.out = PCTL_SCALAR_F32,
};
static const ieee_row to_f16_row = {
	.wgsl = {[IEEE_ON_F32] = IEEE_HALF IEEE_FN1("to_f16_f32", "f32", "f16", "f16(x)"),
		 [IEEE_ON_BF16] = IEEE_HALF IEEE_FN1("to_f16_bf16", "bf16", "f16", "f16(x)"),
		 [IEEE_ON_I32] = IEEE_HALF IEEE_FN1("to_f16_i32", "i32", "f16", "f16(x)"),
		 [IEEE_ON_U32] = IEEE_HALF IEEE_FN1("to_f16", "u32", "f16", "f16(x)")},
	.eval = eval_float,
	.out = PCTL_SCALAR_F16,
};
static const ieee_row to_bf16_row = {
	.wgsl = {[IEEE_ON_F32] = IEEE_FN1("to_bf16_f32", "f32", "bf16", "bf16(x)"),
		 [IEEE_ON_F16] = IEEE_HALF IEEE_FN1("to_bf16_f16", "f16", "bf16", "bf16(x)"),
		 [IEEE_ON_I32] = IEEE_FN1("to_bf16_i32", "i32", "bf16", "bf16(x)"),
		 [IEEE_ON_U32] = IEEE_FN1("to_bf16", "u32", "bf16", "bf16(x)")},
	.eval = eval_float,
	.out = PCTL_SCALAR_BF16,
};

#define TO_INTEGER(name, R)                                                         \
	{                                                                           \
		[IEEE_ON_F32] = IEEE_FN1(name "_f32", "f32", R, R "(x)"),           \
		[IEEE_ON_F16] = IEEE_HALF IEEE_FN1(name "_f16", "f16", R, R "(x)"), \
		[IEEE_ON_BF16] = IEEE_FN1(name "_bf16", "bf16", R, R "(x)"),        \
	}
static const ieee_row to_i32_row = {
	.wgsl = TO_INTEGER("to_i32", "i32"), .eval = eval_i32, .out = PCTL_SCALAR_I32};
static const ieee_row to_u32_row = {
	.wgsl = TO_INTEGER("to_u32", "u32"), .eval = eval_u32, .out = PCTL_SCALAR_U32};

/* By mode but trunc, then by type. */
#define HEAD(enable, T, R, round)                                                           \
	{                                                                                   \
		IEEE_GRID enable "alias T = " T ";\nalias R = " R ";\n"                     \
				 "fn convert(x: T) -> R {\n\treturn R(" round "(x));\n}\n", \
			KERNEL_CONVERT                                                      \
	}
#define HEADS(R, round) \
	HEAD("", "f32", R, round), HEAD(IEEE_HALF, "f16", R, round), HEAD("", "bf16", R, round)
static const kit_joined i32_joined[] = {HEADS("i32", "round"), HEADS("i32", "floor"),
					HEADS("i32", "ceil")};
static const kit_joined u32_joined[] = {HEADS("u32", "round"), HEADS("u32", "floor"),
					HEADS("u32", "ceil")};

/* The default mode is the function's own, which the host maps. */
static void integer_plan(kit_plan *p)
{
	const pctl_tensor_type *x = &p->use->q->in[0];
	const uint32_t type = x->dtype == PCTL_SCALAR_F32 ? 0 : x->dtype == PCTL_SCALAR_F16 ? 1 : 2;
	const uint32_t mode = ieee_mode(p->use);
	kit_kernel convert = {.name = "ieee/convert.wgsl", .local = 64};

	if (mode == TRUNC) {
		p->status = PCTL_E_UNSUPPORTED;
		return;
	}
	convert.text = kit_joined_text(p->use, (mode - 1) * 3 + type);
	kit_run(p, &convert, kit_elements(x),
		(kit_slot[]){KIT_ALL(kit_in(p, 0)), KIT_ALL(kit_out(p, 0))}, 2);
}

/* ---- ops --------------------------------------------------------------------------------------
 */

static const pctl_port to_f32_in[1] = {{"x", "f16|bf16|i32|u32[...]", "the operand", 0, 0}};
static const pctl_port to_f16_in[1] = {{"x", "f32|bf16|i32|u32[...]", "the operand", 0, 0}};
static const pctl_port to_bf16_in[1] = {{"x", "f32|f16|i32|u32[...]", "the operand", 0, 0}};
static const pctl_port f32_out[1] = {{"y", "f32[...]", "the result, of x's shape", 0, 0}};
static const pctl_port f16_out[1] = {{"y", "f16[...]", "the result, of x's shape", 0, 0}};
static const pctl_port bf16_out[1] = {{"y", "bf16[...]", "the result, of x's shape", 0, 0}};
static const pctl_port i32_out[1] = {{"y", "i32[...]", "the result, of x's shape", 0, 0}};
static const pctl_port u32_out[1] = {{"y", "u32[...]", "the result, of x's shape", 0, 0}};
static const pctl_attr_desc mode_attr[] = {
	{"mode", "trunc", "how a fraction is rounded: trunc, nearest (ties to even), floor, ceil",
	 PCTL_ATTR_STRING, 0, 0, 0},
};

static const pctl_law to_f32_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("f16 | number x: to_f16(to_f32(x)) = x"),
	IEEE_LAW_SAID("bf16 | number x: to_bf16(to_f32(x)) = x"),
	IEEE_LAW_SAID("u32 | x < 0x1000000: to_u32(to_f32(x)) = x"),
	IEEE_LAW_SAID("i32 | x != 0, x != 0x80000000: to_f32(int.neg(x)) = neg(to_f32(x))"),
};
static const pctl_law to_f16_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("to_f16(to_f32(to_f16(x))) = to_f16(x)"),
	IEEE_LAW_SAID("f32 | abs(x) >= 65520: abs(to_f16(x)) = +Inf"),
	IEEE_LAW_SAID("f32, bf16 | number x: to_f16(neg(x)) = neg(to_f16(x))"),
};
static const pctl_law to_bf16_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("to_bf16(to_f32(to_bf16(x))) = to_bf16(x)"),
	IEEE_LAW_SAID("f32, f16 | number x: to_bf16(neg(x)) = neg(to_bf16(x))"),
	IEEE_LAW_SAID("f32 | number x: to_f32(to_bf16(f32(int.and(u32(x), 0xffff0000)))) = "
		      "f32(int.and(u32(x), 0xffff0000))"),
};
static const pctl_law to_i32_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("to_i32(add(x, NaN)) = 0"),
	IEEE_LAW_SAID("to_i32(trunc(x)) = to_i32(x)"),
	IEEE_LAW_SAID("f32 | x >= 2147483648: to_i32(x) = 0x7fffffff"),
	IEEE_LAW_SAID("f32 | abs(x) <= 16777216: to_f32(to_i32(x)) = add(trunc(x), +0)"),
	IEEE_LAW_SAID("abs(x) < 32768: to_i32(neg(x)) = int.neg(to_i32(x))"),
};
static const pctl_law to_u32_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("to_u32(add(x, NaN)) = 0"),
	IEEE_LAW_SAID("x <= -0: to_u32(x) = 0"),
	IEEE_LAW_SAID("to_u32(trunc(x)) = to_u32(x)"),
	IEEE_LAW_SAID("f32 | x >= 4294967296: to_u32(x) = 0xffffffff"),
	IEEE_LAW_SAID("f32 | x >= +0, x <= 16777216: to_f32(to_u32(x)) = trunc(x)"),
};

static const pctl_example to_f16_classes[] = {
	{"zero", {0x00000000}},	       {"negative zero", {0x80000000}},
	{"exact", {0x3fc00000}},       {"a tie", {0x3f801000}},
	{"above a tie", {0x3f801001}}, {"to a subnormal of f16", {0x38000001}},
	{"to zero", {0x33000000}},     {"overflows", {0x477ff000}},
	{"infinity", {0xff800000}},    {"NaN with a payload", {0x7f800001}},
};
static const pctl_example to_f16_bounds[] = {
	{"largest that stays finite", {0x477fefff}},
	{"a tie between zero and the smallest", {0x33000000}},
	{"just above it", {0x33000001}},
	{"largest f32, infinite in bf16", {0x7f7fffff}},
	{"a tie of bf16", {0x3f808000}},
};
static const pctl_example to_f32_classes[] = {
	{"zero", {0}},
	{"exact integer", {0x00ffffff}},
	{"a tie", {0x01000001}},
	{"a tie to the next", {0x01000003}},
	{"high bit set", {0x80000001}},
};
static const pctl_example to_f32_bounds[] = {
	{"largest", {0xffffffff}},
	{"smallest signed", {0x80000000}},
	{"largest signed", {0x7fffffff}},
	{"a tie above 2^31", {0x80000080}},
};
static const pctl_example to_i32_classes[] = {
	{"zero", {0x80000000}},
	{"an integer", {0x42280000}},
	{"a fraction", {0x3f4ccccd}},
	{"a tie", {0x40200000}},
	{"a tie to the next", {0x40600000}},
	{"a negative fraction", {0xbfcccccd}},
	{"subnormal", {0x80000001}},
	{"above the range", {0x7f000000}},
	{"below the range", {0xff000000}},
	{"infinity", {0x7f800000}},
	{"NaN", {0xffc00000}},
};
static const pctl_example to_i32_bounds[] = {
	{"largest below 2^31", {0x4effffff}},
	{"2^31", {0x4f000000}},
	{"-2^31", {0xcf000000}},
	{"largest below 2^32", {0x4f7fffff}},
	{"2^32", {0x4f800000}},
	{"just below one", {0x3f7fffff}},
};

#define to_bf16_classes to_f16_classes
#define to_bf16_bounds to_f16_bounds
#define to_u32_classes to_i32_classes
#define to_u32_bounds to_i32_bounds

#define TO_INT_OP(id, type)                                                                    \
	{                                                                                      \
		.desc = {.head = PCTL_HEAD(pctl_op_desc),                                      \
			 .name = "ieee." #id,                                                  \
			 .doc = "to " #type ", saturating, NaN to 0",                          \
			 .spec = "y = x rounded to an integer as mode says, then the nearest " \
				 "number of " #type ";\nNaN gives 0. As a function in a "      \
				 "kernel, mode is trunc.",                                     \
			 .version = 1,                                                         \
			 .kind = PCTL_OPDEF_FUNCTION,                                          \
			 .category = 'A',                                                      \
			 .op_class = PCTL_CLASS_STRICT,                                        \
			 .convention = 1,                                                      \
			 .n_in = 1,                                                            \
			 .n_out = 1,                                                           \
			 .n_attr = 1,                                                          \
			 .in = ieee_unary_in,                                                  \
			 .out = type##_out,                                                    \
			 .attr = mode_attr},                                                   \
		.rules = {.head = PCTL_HEAD(pctl_op_rules),                                    \
			  .laws = id##_laws,                                                   \
			  .classes = id##_classes,                                             \
			  .boundaries = id##_bounds,                                           \
			  .n_laws = KIT_COUNT(id##_laws),                                      \
			  .n_classes = KIT_COUNT(id##_classes),                                \
			  .n_boundaries = KIT_COUNT(id##_bounds)},                             \
		.function = ieee_function, .infer = integer_infer, .plan = integer_plan,       \
		.reference = ieee_reference, .data = &id##_row, .joined = type##_joined,       \
		.n_joined = KIT_COUNT(type##_joined)                                           \
	}

static const kit_op ops[] = {
	IEEE_OP("to_f32", "to f32",
		"y = x rounded to nearest even (f16 and bf16 are exact); a NaN gives the\n"
		"canonical one of f32",
		to_f32_in, f32_out, to_f32),
	IEEE_OP("to_f16", "to f16",
		"y = x rounded to nearest even; from 65520 up infinite, subnormals are kept;\n"
		"a NaN gives the canonical one of f16",
		to_f16_in, f16_out, to_f16),
	IEEE_OP("to_bf16", "to bf16",
		"y = x rounded to nearest even; overflow is infinite, subnormals are kept;\n"
		"a NaN gives the canonical one of bf16",
		to_bf16_in, bf16_out, to_bf16),
	TO_INT_OP(to_i32, i32),
	TO_INT_OP(to_u32, u32),
};

const kit_family ieee_convert_family = {ops, NULL, KIT_COUNT(ops), 0};
