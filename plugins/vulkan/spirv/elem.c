/* Elementwise arithmetic, comparisons and conversions, with the guards that make division, shifts
 * and the like total (semantics section 2). Bit counting and bit fields are in bits.c. */
#include <string.h>

#include "spirv/spirv.h"

uint32_t pctl_spv_arg(const pctl_spv *e, const pctl_inst *in, uint32_t i)
{
	return e->values[pctl_arg(e->p, in, i)];
}

static pctl_spv_shape shape_of_arg(const pctl_spv *e, const pctl_inst *in, uint32_t i)
{
	pctl_spv_shape s;

	pctl_spv_shape_get(e->p, pctl_value_type(e->p, e->fn, pctl_arg(e->p, in, i)), &s);
	return s;
}

uint32_t pctl_spv_literal(const pctl_spv *e, uint32_t value, uint64_t out[4])
{
	const pctl_inst *in = &e->p->insts[e->fn->first_inst + value];
	uint32_t i, n;
	uint64_t lane[4];

	if (in->op == PCTL_OP_CONST) {
		out[0] = pctl_arg(e->p, in, 0) | (uint64_t)pctl_arg(e->p, in, 1) << 32;
		return 1;
	}
	if (in->op == PCTL_OP_SPLAT && pctl_spv_literal(e, pctl_arg(e->p, in, 0), lane) == 1) {
		n = e->p->types[in->type].width;
		for (i = 0; i < n; i++)
			out[i] = lane[0];
		return n;
	}
	if (in->op == PCTL_OP_COMPOSE && e->p->types[in->type].kind == PCTL_TYPE_VECTOR) {
		n = e->p->types[in->type].width;
		for (i = 0; i < n; i++) {
			const uint32_t part = pctl_arg(e->p, in, i);

			if (e->p->insts[e->fn->first_inst + part].op != PCTL_OP_CONST)
				return 0;
			pctl_spv_literal(e, part, lane);
			out[i] = lane[0];
		}
		return n;
	}
	return 0;
}

/* SPIR-V 1.3 selects vectors by vectors only. condition has the shape's width. */
uint32_t pctl_spv_select(pctl_spv *e, pctl_spv_shape s, uint32_t condition, uint32_t yes,
			 uint32_t no)
{
	return PCTL_SPV_VALUE(e, SpvOpSelect, pctl_spv_shape_type(e, s), condition, yes, no);
}

/* ---- division ---- */

/* A literal divisor without a lane of 0 (or of -1, when signed) needs no guard. */
static int harmless(const pctl_spv *e, const pctl_inst *in, pctl_spv_shape s)
{
	const uint64_t ones = s.bits == 64 ? UINT64_MAX : UINT32_MAX;
	uint64_t lanes[4];
	const uint32_t n = pctl_spv_literal(e, pctl_arg(e->p, in, 1), lanes);
	uint32_t i;

	for (i = 0; i < n; i++)
		if (lanes[i] == 0 || (s.is_signed && (lanes[i] & ones) == ones))
			return 0;
	return n != 0;
}

/*
 * The divisor becomes 1 where it is 0 or the quotient would overflow, which by itself gives x/0 = x
 * (WGSL), MIN/-1 = MIN and a remainder of 0 for both; the IR's x/0 = 0 costs one select more. The
 * signed remainder is x - q*y: OpSRem is undefined for negative operands in Vulkan.
 */
static uint32_t divide(pctl_spv *e, const pctl_inst *in, pctl_spv_shape s)
{
	const uint32_t type = pctl_spv_type(e, s.bits, s.width);
	const uint32_t flag = pctl_spv_type(e, 1, s.width);
	const uint32_t zero = pctl_spv_const(e, s.bits, s.width, 0);
	const uint32_t x = pctl_spv_arg(e, in, 0);
	uint32_t y = pctl_spv_arg(e, in, 1);
	uint32_t is_zero = 0, bad, at_min, minus, q;

	if (!harmless(e, in, s)) {
		is_zero = PCTL_SPV_VALUE(e, SpvOpIEqual, flag, y, zero);
		bad = is_zero;
		if (s.is_signed) {
			at_min = PCTL_SPV_VALUE(
				e, SpvOpIEqual, flag, x,
				pctl_spv_const(e, s.bits, s.width, 1ull << (s.bits - 1)));
			minus = PCTL_SPV_VALUE(e, SpvOpIEqual, flag, y,
					       pctl_spv_const(e, s.bits, s.width, UINT64_MAX));
			at_min = PCTL_SPV_VALUE(e, SpvOpLogicalAnd, flag, at_min, minus);
			bad = PCTL_SPV_VALUE(e, SpvOpLogicalOr, flag, is_zero, at_min);
		}
		y = pctl_spv_select(e, s, bad, pctl_spv_const(e, s.bits, s.width, 1), y);
	}
	if (in->op == PCTL_OP_MOD && !s.is_signed)
		return PCTL_SPV_VALUE(e, SpvOpUMod, type, x, y);
	q = PCTL_SPV_VALUE(e, s.is_signed ? SpvOpSDiv : SpvOpUDiv, type, x, y);
	if (in->op == PCTL_OP_MOD) {
		q = PCTL_SPV_VALUE(e, SpvOpIMul, type, q, y);
		return PCTL_SPV_VALUE(e, SpvOpISub, type, x, q);
	}
	if (in->op == PCTL_OP_DIV && is_zero)
		return pctl_spv_select(e, s, is_zero, zero, q);
	return q;
}

/* ---- the rest ---- */

/*
 * The amount modulo the bits. Mesa 22.3 drops `amount & 63`, which its own shifts imply, and when it then learns that the
 * amount is -32 it shifts 64 bits by something else (seen in lavapipe: u64 and i64, both ways, -32 alone); a mask of 64-bit shifts
 * is therefore written as it does not know it: all bits above set, then cleared.
 */
static uint32_t amount_below(pctl_spv *e, pctl_spv_shape s, uint32_t amount)
{
	const uint32_t type = pctl_spv_type(e, 32, s.width);
	const uint32_t above = pctl_spv_const(e, 32, s.width, ~(uint32_t)(s.bits - 1));

	if (s.bits < 64)
		return PCTL_SPV_VALUE(e, SpvOpBitwiseAnd, type, amount,
				      pctl_spv_const(e, 32, s.width, s.bits - 1));
	amount = PCTL_SPV_VALUE(e, SpvOpBitwiseOr, type, amount, above);
	return PCTL_SPV_VALUE(e, SpvOpBitwiseXor, type, amount, above);
}

static uint32_t shift(pctl_spv *e, const pctl_inst *in, pctl_spv_shape s)
{
	uint64_t lanes[4];
	const uint32_t n = pctl_spv_literal(e, pctl_arg(e->p, in, 1), lanes);
	uint32_t amount = pctl_spv_arg(e, in, 1);
	uint32_t i, small = n != 0;
	SpvOp op = SpvOpShiftLeftLogical;

	for (i = 0; i < n; i++)
		small &= lanes[i] < s.bits;
	if (!small)
		amount = amount_below(e, s, amount);
	if (in->op == PCTL_OP_SHR)
		op = s.is_signed ? SpvOpShiftRightArithmetic : SpvOpShiftRightLogical;
	return PCTL_SPV_VALUE(e, op, pctl_spv_type(e, s.bits, s.width), pctl_spv_arg(e, in, 0),
			      amount);
}

static uint32_t compare(pctl_spv *e, const pctl_inst *in)
{
	static const SpvOp of_bool[2] = {SpvOpLogicalEqual, SpvOpLogicalNotEqual};
	static const SpvOp ops[2][6] = {
		{SpvOpIEqual, SpvOpINotEqual, SpvOpULessThan, SpvOpULessThanEqual,
		 SpvOpUGreaterThan, SpvOpUGreaterThanEqual},
		{SpvOpIEqual, SpvOpINotEqual, SpvOpSLessThan, SpvOpSLessThanEqual,
		 SpvOpSGreaterThan, SpvOpSGreaterThanEqual},
	};
	const pctl_spv_shape s = shape_of_arg(e, in, 0);
	const uint32_t which = in->op - PCTL_OP_EQ;

	return PCTL_SPV_VALUE(e, s.bits == 1 ? of_bool[which & 1] : ops[s.is_signed][which],
			      pctl_spv_type(e, 1, s.width), pctl_spv_arg(e, in, 0),
			      pctl_spv_arg(e, in, 1));
}

/* i32 to 64 bits without OpSConvert: lavapipe of Mesa 22.3 takes a comparison of its result with 0 for never true. */
static uint32_t widen_signed(pctl_spv *e, uint32_t type, uint32_t width, uint32_t x)
{
	const uint32_t sign = pctl_spv_const(e, 64, width, 0x80000000u);

	x = PCTL_SPV_VALUE(e, SpvOpUConvert, type, x);
	x = PCTL_SPV_VALUE(e, SpvOpBitwiseXor, type, x, sign);
	return PCTL_SPV_VALUE(e, SpvOpISub, type, x, sign);
}

/* Widen by the source's sign, or cut off; bool is 0 and 1; u16 has 32 bits of which 16 may be set. */
static uint32_t cast(pctl_spv *e, const pctl_inst *in)
{
	const pctl_spv_shape from = shape_of_arg(e, in, 0);
	uint32_t x = pctl_spv_arg(e, in, 0);
	pctl_spv_shape to;
	uint32_t type;

	pctl_spv_shape_get(e->p, in->type, &to);
	type = pctl_spv_type(e, to.bits, to.width);
	if (to.is_narrow && !from.is_narrow && from.bits != 1) {
		if (from.bits == 64)
			x = PCTL_SPV_VALUE(e, SpvOpUConvert, type, x);
		return PCTL_SPV_VALUE(e, SpvOpBitwiseAnd, type, x,
				      pctl_spv_const(e, 32, to.width, 0xffff));
	}
	if (from.bits == to.bits)
		return x;
	if (from.bits == 1)
		return pctl_spv_select(e, to, x, pctl_spv_const(e, to.bits, to.width, 1),
				       pctl_spv_const(e, to.bits, to.width, 0));
	if (to.bits == 1)
		return PCTL_SPV_VALUE(e, SpvOpINotEqual, type, x,
				      pctl_spv_const(e, from.bits, from.width, 0));
	if (from.is_signed && from.bits == 32 && to.bits == 64)
		return widen_signed(e, type, to.width, x);
	return PCTL_SPV_VALUE(e, from.is_signed ? SpvOpSConvert : SpvOpUConvert, type, x);
}

static uint32_t clamp(pctl_spv *e, const pctl_inst *in, pctl_spv_shape s)
{
	const uint32_t type = pctl_spv_type(e, s.bits, s.width);
	const uint32_t x = PCTL_SPV_GLSL(e, type, s.is_signed ? GLSLstd450SMax : GLSLstd450UMax,
					 pctl_spv_arg(e, in, 0), pctl_spv_arg(e, in, 1));

	return PCTL_SPV_GLSL(e, type, s.is_signed ? GLSLstd450SMin : GLSLstd450UMin, x,
			     pctl_spv_arg(e, in, 2));
}

static uint32_t sign(pctl_spv *e, const pctl_inst *in, pctl_spv_shape s)
{
	const uint32_t type = pctl_spv_type(e, s.bits, s.width);
	const uint32_t x = PCTL_SPV_GLSL(e, type, GLSLstd450SMax, pctl_spv_arg(e, in, 0),
					 pctl_spv_const(e, s.bits, s.width, UINT64_MAX));

	return PCTL_SPV_GLSL(e, type, GLSLstd450SMin, x, pctl_spv_const(e, s.bits, s.width, 1));
}

static uint32_t minmax(pctl_spv *e, const pctl_inst *in, pctl_spv_shape s)
{
	static const uint32_t inst[2][2] = {{GLSLstd450UMin, GLSLstd450UMax},
					    {GLSLstd450SMin, GLSLstd450SMax}};

	return PCTL_SPV_GLSL(e, pctl_spv_type(e, s.bits, s.width),
			     inst[s.is_signed][in->op == PCTL_OP_MAX], pctl_spv_arg(e, in, 0),
			     pctl_spv_arg(e, in, 1));
}

static uint32_t unary(pctl_spv *e, const pctl_inst *in, SpvOp op, pctl_spv_shape s)
{
	return PCTL_SPV_VALUE(e, op, pctl_spv_type(e, s.bits, s.width), pctl_spv_arg(e, in, 0));
}

static uint32_t binary(pctl_spv *e, const pctl_inst *in, SpvOp op, pctl_spv_shape s)
{
	return PCTL_SPV_VALUE(e, op, pctl_spv_type(e, s.bits, s.width), pctl_spv_arg(e, in, 0),
			      pctl_spv_arg(e, in, 1));
}

/* The instruction gives both halves of the product, the high one second. */
static uint32_t mul_high(pctl_spv *e, const pctl_inst *in, pctl_spv_shape s)
{
	const uint32_t type = pctl_spv_type(e, s.bits, s.width);
	int fresh;
	const uint32_t pair = pctl_spv_intern(e, SpvOpTypeStruct, type, type, 0, &fresh);

	if (fresh)
		PCTL_SPV_PUT(e, &e->globals, SpvOpTypeStruct, pair, type, type);
	return PCTL_SPV_VALUE(e, SpvOpCompositeExtract, type,
			      PCTL_SPV_VALUE(e, SpvOpUMulExtended, pair, pctl_spv_arg(e, in, 0),
					     pctl_spv_arg(e, in, 1)),
			      1);
}

uint32_t pctl_spv_elem(pctl_spv *e, const pctl_inst *in)
{
	pctl_spv_shape s;

	if (PCTL_IS_NATIVE(in->op))
		return pctl_spv_float(e, in);
	pctl_spv_shape_get(e->p, in->type, &s);
	switch (in->op) {
	case PCTL_OP_ADD:
		return binary(e, in, SpvOpIAdd, s);
	case PCTL_OP_SUB:
		return binary(e, in, SpvOpISub, s);
	case PCTL_OP_MUL:
		return binary(e, in, SpvOpIMul, s);
	case PCTL_OP_DIV:
	case PCTL_OP_MOD:
	case PCTL_OP_DIV_WGSL:
		return divide(e, in, s);
	case PCTL_OP_NEG:
		return unary(e, in, SpvOpSNegate, s);
	case PCTL_OP_AND:
		return binary(e, in, s.bits == 1 ? SpvOpLogicalAnd : SpvOpBitwiseAnd, s);
	case PCTL_OP_OR:
		return binary(e, in, s.bits == 1 ? SpvOpLogicalOr : SpvOpBitwiseOr, s);
	case PCTL_OP_XOR:
		return binary(e, in, s.bits == 1 ? SpvOpLogicalNotEqual : SpvOpBitwiseXor, s);
	case PCTL_OP_NOT:
		return unary(e, in, s.bits == 1 ? SpvOpLogicalNot : SpvOpNot, s);
	case PCTL_OP_SHL:
	case PCTL_OP_SHR:
		return shift(e, in, s);
	case PCTL_OP_MIN:
	case PCTL_OP_MAX:
		return minmax(e, in, s);
	case PCTL_OP_CLAMP:
		return clamp(e, in, s);
	case PCTL_OP_ABS:
		if (!s.is_signed)
			return pctl_spv_arg(e, in, 0);
		return PCTL_SPV_GLSL(e, pctl_spv_type(e, s.bits, s.width), GLSLstd450SAbs,
				     pctl_spv_arg(e, in, 0));
	case PCTL_OP_SIGN:
		return sign(e, in, s);
	case PCTL_OP_CAST:
		return cast(e, in);
	case PCTL_OP_MUL_HIGH:
		return mul_high(e, in, s);
	default:
		if (in->op >= PCTL_OP_EQ && in->op <= PCTL_OP_GE)
			return compare(e, in);
		return pctl_spv_bits(e, in);
	}
}
