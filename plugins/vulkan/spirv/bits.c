/* Counting, finding, reversing, extracting and inserting bits. Vulkan defines the SPIR-V
 * instructions for these on 32-bit components only, so a 64-bit value is worked on by halves. */
#include "spirv/spirv.h"

/* The two halves of a 64-bit value, and its type's 32-bit twin. */
typedef struct halves {
	pctl_spv_shape word; /* 32 bits, the value's width */
	uint32_t type;
	uint32_t flag;
	uint32_t low;
	uint32_t high;
} halves;

static halves split(pctl_spv *e, pctl_spv_shape s, uint32_t x)
{
	const uint32_t wide = pctl_spv_type(e, 64, s.width);
	halves h = {.word = {.bits = 32, .width = s.width}};
	uint32_t up;

	h.type = pctl_spv_type(e, 32, s.width);
	h.flag = pctl_spv_type(e, 1, s.width);
	h.low = PCTL_SPV_VALUE(e, SpvOpUConvert, h.type, x);
	up = PCTL_SPV_VALUE(e, SpvOpShiftRightLogical, wide, x, pctl_spv_const(e, 32, s.width, 32));
	h.high = PCTL_SPV_VALUE(e, SpvOpUConvert, h.type, up);
	return h;
}

static uint32_t join(pctl_spv *e, const halves *h, uint32_t low, uint32_t high)
{
	const uint32_t wide = pctl_spv_type(e, 64, h->word.width);
	const uint32_t up = PCTL_SPV_VALUE(e, SpvOpUConvert, wide, high);
	const uint32_t shifted = PCTL_SPV_VALUE(e, SpvOpShiftLeftLogical, wide, up,
						pctl_spv_const(e, 32, h->word.width, 32));

	return PCTL_SPV_VALUE(e, SpvOpBitwiseOr, wide, shifted,
			      PCTL_SPV_VALUE(e, SpvOpUConvert, wide, low));
}

static uint32_t word(pctl_spv *e, const halves *h, uint32_t value)
{
	return pctl_spv_const(e, 32, h->word.width, value);
}

/* yes where `half` has a bit set, else no. */
static uint32_t where_set(pctl_spv *e, const halves *h, uint32_t half, uint32_t yes, uint32_t no)
{
	const uint32_t set = PCTL_SPV_VALUE(e, SpvOpINotEqual, h->flag, half, word(e, h, 0));

	return pctl_spv_select(e, h->word, set, yes, no);
}

static uint32_t plus(pctl_spv *e, const halves *h, uint32_t a, uint32_t b)
{
	return PCTL_SPV_VALUE(e, SpvOpIAdd, h->type, a, b);
}

/* FindUMsb and FindILsb give -1 for 0. */
static uint32_t msb(pctl_spv *e, const halves *h, uint32_t x)
{
	return PCTL_SPV_GLSL(e, h->type, GLSLstd450FindUMsb, x);
}

static uint32_t lsb(pctl_spv *e, const halves *h, uint32_t x)
{
	return PCTL_SPV_GLSL(e, h->type, GLSLstd450FindILsb, x);
}

static uint32_t from_top(pctl_spv *e, const halves *h, uint32_t top, uint32_t x)
{
	return PCTL_SPV_VALUE(e, SpvOpISub, h->type, word(e, h, top), msb(e, h, x));
}

/* -1 becomes 32, as the smaller of two unsigned numbers. */
static uint32_t lsb_or_32(pctl_spv *e, const halves *h, uint32_t x)
{
	return PCTL_SPV_GLSL(e, h->type, GLSLstd450UMin, lsb(e, h, x), word(e, h, 32));
}

static uint32_t bits64(pctl_spv *e, const pctl_inst *in, pctl_spv_shape s)
{
	const uint32_t wide = pctl_spv_type(e, 64, s.width);
	uint32_t x = pctl_spv_arg(e, in, 0);
	uint32_t r;
	halves h;

	if (in->op == PCTL_OP_FIRST_LEADING && s.is_signed) {
		const uint32_t fill = PCTL_SPV_VALUE(e, SpvOpShiftRightArithmetic, wide, x,
						     pctl_spv_const(e, 32, s.width, 63));

		x = PCTL_SPV_VALUE(e, SpvOpBitwiseXor, wide, x, fill);
	}
	h = split(e, s, x);
	switch (in->op) {
	case PCTL_OP_POPCOUNT:
		r = plus(e, &h, PCTL_SPV_VALUE(e, SpvOpBitCount, h.type, h.low),
			 PCTL_SPV_VALUE(e, SpvOpBitCount, h.type, h.high));
		break;
	case PCTL_OP_CLZ:
		r = where_set(e, &h, h.high, from_top(e, &h, 31, h.high),
			      from_top(e, &h, 63, h.low));
		break;
	case PCTL_OP_CTZ:
		r = plus(e, &h, lsb_or_32(e, &h, h.high), word(e, &h, 32));
		r = where_set(e, &h, h.low, lsb(e, &h, h.low), r);
		break;
	case PCTL_OP_FIRST_LEADING:
		r = plus(e, &h, msb(e, &h, h.high), word(e, &h, 32));
		r = where_set(e, &h, h.high, r, msb(e, &h, h.low));
		return PCTL_SPV_VALUE(e, SpvOpSConvert, wide, r);
	case PCTL_OP_FIRST_TRAILING:
		r = plus(e, &h, lsb(e, &h, h.high), word(e, &h, 32));
		r = where_set(e, &h, h.high, r, word(e, &h, UINT32_MAX));
		r = where_set(e, &h, h.low, lsb(e, &h, h.low), r);
		return PCTL_SPV_VALUE(e, SpvOpSConvert, wide, r);
	case PCTL_OP_REVERSE:
		return join(e, &h, PCTL_SPV_VALUE(e, SpvOpBitReverse, h.type, h.high),
			    PCTL_SPV_VALUE(e, SpvOpBitReverse, h.type, h.low));
	default:
		pctl_spv_fail(e, PCTL_E_UNSUPPORTED);
		return 0;
	}
	return PCTL_SPV_VALUE(e, SpvOpUConvert, wide, r);
}

/* ---- bit fields ---- */

/* WGSL's rule: offset is cut to 32, count to what then remains. */
static void field(pctl_spv *e, const pctl_inst *in, uint32_t first, uint32_t *offset,
		  uint32_t *count)
{
	const uint32_t type = pctl_spv_type(e, 32, 1);
	uint64_t o[4], c[4];
	uint32_t rest;

	*offset = pctl_spv_arg(e, in, first);
	*count = pctl_spv_arg(e, in, first + 1);
	if (pctl_spv_literal(e, pctl_arg(e->p, in, first), o) == 1 &&
	    pctl_spv_literal(e, pctl_arg(e->p, in, first + 1), c) == 1 && o[0] <= 32 &&
	    c[0] <= 32 - o[0])
		return;
	*offset = PCTL_SPV_GLSL(e, type, GLSLstd450UMin, *offset, pctl_spv_u32(e, 32));
	rest = PCTL_SPV_VALUE(e, SpvOpISub, type, pctl_spv_u32(e, 32), *offset);
	*count = PCTL_SPV_GLSL(e, type, GLSLstd450UMin, *count, rest);
}

static uint32_t field_op(pctl_spv *e, const pctl_inst *in, pctl_spv_shape s)
{
	const uint32_t type = pctl_spv_type(e, 32, s.width);
	uint32_t offset, count;

	if (in->op == PCTL_OP_INSERT_BITS) {
		field(e, in, 2, &offset, &count);
		return PCTL_SPV_VALUE(e, SpvOpBitFieldInsert, type, pctl_spv_arg(e, in, 0),
				      pctl_spv_arg(e, in, 1), offset, count);
	}
	field(e, in, 1, &offset, &count);
	return PCTL_SPV_VALUE(e, s.is_signed ? SpvOpBitFieldSExtract : SpvOpBitFieldUExtract, type,
			      pctl_spv_arg(e, in, 0), offset, count);
}

uint32_t pctl_spv_bits(pctl_spv *e, const pctl_inst *in)
{
	halves h = {0};
	pctl_spv_shape s;
	uint32_t x;

	pctl_spv_shape_get(e->p, in->type, &s);
	if (s.bits == 64)
		return bits64(e, in, s);
	h.word = (pctl_spv_shape){.bits = 32, .width = s.width};
	h.type = pctl_spv_type(e, 32, s.width);
	switch (in->op) {
	case PCTL_OP_EXTRACT_BITS:
	case PCTL_OP_INSERT_BITS:
		return field_op(e, in, s);
	case PCTL_OP_POPCOUNT:
		return PCTL_SPV_VALUE(e, SpvOpBitCount, h.type, pctl_spv_arg(e, in, 0));
	case PCTL_OP_REVERSE:
		return PCTL_SPV_VALUE(e, SpvOpBitReverse, h.type, pctl_spv_arg(e, in, 0));
	default:
		break;
	}
	x = pctl_spv_arg(e, in, 0);
	switch (in->op) {
	case PCTL_OP_CLZ:
		return from_top(e, &h, 31, x);
	case PCTL_OP_CTZ:
		return lsb_or_32(e, &h, x);
	case PCTL_OP_FIRST_LEADING:
		return s.is_signed ? PCTL_SPV_GLSL(e, h.type, GLSLstd450FindSMsb, x)
				   : msb(e, &h, x);
	case PCTL_OP_FIRST_TRAILING:
		return lsb(e, &h, x);
	default:
		pctl_spv_fail(e, PCTL_E_UNSUPPORTED);
		return 0;
	}
}
