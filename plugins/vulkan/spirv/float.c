/* Native float operations. Nothing here may be contracted, reassociated or approximated by a driver
 * that keeps to its word: every instruction says NoContraction, and the module asks for signed
 * zeros, NaN, subnormals and rounding to nearest wherever the device promises to keep them. What a
 * device then really does is the host's probe to find out (core/runtime/policy). */
#include "spirv/spirv.h"

/* The bits of one number in the three formats. */
typedef struct number {
	uint16_t f16;
	uint32_t f32;
	uint64_t f64;
} number;

static uint32_t constant(pctl_spv *e, pctl_spv_shape s, const number *x)
{
	return pctl_spv_shape_const(e, s, s.bits == 16 ? x->f16 : s.bits == 32 ? x->f32 : x->f64);
}

static uint32_t exact(pctl_spv *e, uint32_t id)
{
	PCTL_SPV_PUT(e, &e->decorations, SpvOpDecorate, id, SpvDecorationNoContraction);
	return id;
}

static uint32_t of_args(pctl_spv *e, const pctl_inst *in, SpvOp op, uint32_t type)
{
	uint32_t args[3] = {0}, i;

	for (i = 0; i < in->n_args && i < 3; i++)
		args[i] = pctl_spv_arg(e, in, i);
	return exact(e, pctl_spv_value(e, op, type, args, i));
}

static uint32_t glsl(pctl_spv *e, const pctl_inst *in, uint32_t which, uint32_t type)
{
	uint32_t args[5] = {e->glsl, which}, i;

	for (i = 0; i < in->n_args && i < 3; i++)
		args[2 + i] = pctl_spv_arg(e, in, i);
	return exact(e, pctl_spv_value(e, SpvOpExtInst, type, args, 2 + i));
}

/* ---- conversions ---- */

/* The values that truncate into the integer lie above `over` and below `under`, which for f16, all
 * of whose numbers fit an i32, means that NaN and the infinities alone are outside. */
static uint32_t in_range(pctl_spv *e, pctl_spv_shape from, uint32_t is_signed, uint32_t x)
{
	static const number over[2] = {{0xbc00, 0xbf800000, 0xbff0000000000000},
				       {0xfc00, 0xcf000001, 0xc1e0000000200000}};
	static const number under[2] = {{0x7c00, 0x4f800000, 0x41f0000000000000},
					{0x7c00, 0x4f000000, 0x41e0000000000000}};
	const uint32_t flag = pctl_spv_type(e, 1, from.width);
	const uint32_t above = PCTL_SPV_VALUE(e, SpvOpFOrdGreaterThan, flag, x,
					      constant(e, from, &over[is_signed]));
	const uint32_t below =
		PCTL_SPV_VALUE(e, SpvOpFOrdLessThan, flag, x, constant(e, from, &under[is_signed]));

	return PCTL_SPV_VALUE(e, SpvOpLogicalAnd, flag, above, below);
}

/* A float outside of the integer's range has no meaning for drivers, not even a wrong one: 0 is
 * converted in its place. */
static uint32_t convert(pctl_spv *e, const pctl_inst *in)
{
	const uint32_t from_type = pctl_value_type(e->p, e->fn, pctl_arg(e->p, in, 0));
	uint32_t x = pctl_spv_arg(e, in, 0), type;
	pctl_spv_shape from, to;
	SpvOp op = SpvOpFConvert;

	pctl_spv_shape_get(e->p, from_type, &from);
	pctl_spv_shape_get(e->p, in->type, &to);
	type = pctl_spv_shape_type(e, to);
	if (from_type == in->type)
		return x;
	if (!from.is_float)
		op = from.is_signed ? SpvOpConvertSToF : SpvOpConvertUToF;
	if (!to.is_float) {
		op = to.is_signed ? SpvOpConvertFToS : SpvOpConvertFToU;
		x = pctl_spv_select(e, from, in_range(e, from, to.is_signed, x), x,
				    pctl_spv_null(e, pctl_spv_shape_type(e, from)));
	}
	x = PCTL_SPV_VALUE(e, op, type, x);
	return op == SpvOpFConvert ? exact(e, x) : x;
}

/* ---- the vendor's functions that GLSL.std.450 leaves out ---- */

static uint32_t power_of_10(pctl_spv *e, const pctl_inst *in, pctl_spv_shape s, uint32_t type)
{
	static const number log2_10 = {0x42a5, 0x40549a78, 0x400a934f0979a371};
	const uint32_t y = PCTL_SPV_VALUE(e, SpvOpFMul, type, pctl_spv_arg(e, in, 0),
					  constant(e, s, &log2_10));

	return PCTL_SPV_GLSL(e, type, GLSLstd450Exp2, y);
}

static uint32_t log10_of(pctl_spv *e, const pctl_inst *in, pctl_spv_shape s, uint32_t type)
{
	static const number log10_2 = {0x34d1, 0x3e9a209b, 0x3fd34413509f79ff};
	const uint32_t y = PCTL_SPV_GLSL(e, type, GLSLstd450Log2, pctl_spv_arg(e, in, 0));

	return PCTL_SPV_VALUE(e, SpvOpFMul, type, y, constant(e, s, &log10_2));
}

static uint32_t cube_root(pctl_spv *e, const pctl_inst *in, pctl_spv_shape s, uint32_t type)
{
	static const number third = {0x3555, 0x3eaaaaab, 0x3fd5555555555555};
	const uint32_t x = pctl_spv_arg(e, in, 0);
	const uint32_t y =
		PCTL_SPV_GLSL(e, type, GLSLstd450Pow, PCTL_SPV_GLSL(e, type, GLSLstd450FAbs, x),
			      constant(e, s, &third));

	return PCTL_SPV_VALUE(e, SpvOpFMul, type, y, PCTL_SPV_GLSL(e, type, GLSLstd450FSign, x));
}

static uint32_t vendor(pctl_spv *e, const pctl_inst *in, pctl_spv_shape s, uint32_t type)
{
	static const uint8_t which[] = {
		[PCTL_OP_NSIN - PCTL_OP_NSIN] = GLSLstd450Sin,
		[PCTL_OP_NCOS - PCTL_OP_NSIN] = GLSLstd450Cos,
		[PCTL_OP_NTAN - PCTL_OP_NSIN] = GLSLstd450Tan,
		[PCTL_OP_NASIN - PCTL_OP_NSIN] = GLSLstd450Asin,
		[PCTL_OP_NACOS - PCTL_OP_NSIN] = GLSLstd450Acos,
		[PCTL_OP_NATAN - PCTL_OP_NSIN] = GLSLstd450Atan,
		[PCTL_OP_NATAN2 - PCTL_OP_NSIN] = GLSLstd450Atan2,
		[PCTL_OP_NSINH - PCTL_OP_NSIN] = GLSLstd450Sinh,
		[PCTL_OP_NCOSH - PCTL_OP_NSIN] = GLSLstd450Cosh,
		[PCTL_OP_NTANH - PCTL_OP_NSIN] = GLSLstd450Tanh,
		[PCTL_OP_NASINH - PCTL_OP_NSIN] = GLSLstd450Asinh,
		[PCTL_OP_NACOSH - PCTL_OP_NSIN] = GLSLstd450Acosh,
		[PCTL_OP_NATANH - PCTL_OP_NSIN] = GLSLstd450Atanh,
		[PCTL_OP_NEXP - PCTL_OP_NSIN] = GLSLstd450Exp,
		[PCTL_OP_NEXP2 - PCTL_OP_NSIN] = GLSLstd450Exp2,
		[PCTL_OP_NLOG - PCTL_OP_NSIN] = GLSLstd450Log,
		[PCTL_OP_NLOG2 - PCTL_OP_NSIN] = GLSLstd450Log2,
		[PCTL_OP_NPOW - PCTL_OP_NSIN] = GLSLstd450Pow,
		[PCTL_OP_NRSQRT - PCTL_OP_NSIN] = GLSLstd450InverseSqrt,
		[PCTL_OP_NCBRT - PCTL_OP_NSIN] = 0,
	};

	switch (in->op) {
	case PCTL_OP_NEXP10:
		return power_of_10(e, in, s, type);
	case PCTL_OP_NLOG10:
		return log10_of(e, in, s, type);
	case PCTL_OP_NCBRT:
		return cube_root(e, in, s, type);
	default:
		if (in->op < PCTL_OP_NSIN || in->op > PCTL_OP_NCBRT)
			pctl_spv_fail(e, PCTL_E_UNSUPPORTED);
		else
			return glsl(e, in, which[in->op - PCTL_OP_NSIN], type);
		return 0;
	}
}

uint32_t pctl_spv_float(pctl_spv *e, const pctl_inst *in)
{
	static const SpvOp compare[] = {SpvOpFOrdEqual,	      SpvOpFUnordNotEqual,
					SpvOpFOrdLessThan,    SpvOpFOrdLessThanEqual,
					SpvOpFOrdGreaterThan, SpvOpFOrdGreaterThanEqual};
	pctl_spv_shape s;
	uint32_t type;

	pctl_spv_shape_get(e->p, in->type, &s);
	type = pctl_spv_shape_type(e, s);
	switch (in->op) {
	case PCTL_OP_NADD:
		return of_args(e, in, SpvOpFAdd, type);
	case PCTL_OP_NSUB:
		return of_args(e, in, SpvOpFSub, type);
	case PCTL_OP_NMUL:
		return of_args(e, in, SpvOpFMul, type);
	case PCTL_OP_NDIV:
		return of_args(e, in, SpvOpFDiv, type);
	case PCTL_OP_NNEG:
		return of_args(e, in, SpvOpFNegate, type);
	case PCTL_OP_NFMA:
		return glsl(e, in, GLSLstd450Fma, type);
	case PCTL_OP_NSQRT:
		return glsl(e, in, GLSLstd450Sqrt, type);
	case PCTL_OP_NABS:
		return glsl(e, in, GLSLstd450FAbs, type);
	case PCTL_OP_NMIN:
		return glsl(e, in, GLSLstd450NMin, type);
	case PCTL_OP_NMAX:
		return glsl(e, in, GLSLstd450NMax, type);
	case PCTL_OP_NFLOOR:
		return glsl(e, in, GLSLstd450Floor, type);
	case PCTL_OP_NCEIL:
		return glsl(e, in, GLSLstd450Ceil, type);
	case PCTL_OP_NTRUNC:
		return glsl(e, in, GLSLstd450Trunc, type);
	case PCTL_OP_NROUND:
		return glsl(e, in, GLSLstd450RoundEven, type);
	case PCTL_OP_NCONVERT:
		return convert(e, in);
	default:
		if (in->op >= PCTL_OP_NEQ && in->op <= PCTL_OP_NGE)
			return of_args(e, in, compare[in->op - PCTL_OP_NEQ], type);
		return vendor(e, in, s, type);
	}
}

/* ---- execution modes ---- */

static uint32_t width_of(const pctl_program *p, uint32_t type)
{
	pctl_spv_shape s;

	return pctl_spv_shape_get(p, type, &s) && s.is_float ? PCTL_SPV_WIDTH(s.bits) : 0;
}

uint32_t pctl_spv_float_widths(const pctl_program *p)
{
	uint32_t f, i, out = 0;

	for (f = 1; f < p->n_functions; f++)
		for (i = 0; i < p->functions[f].n_insts; i++) {
			const pctl_inst *in = &p->insts[p->functions[f].first_inst + i];

			if (PCTL_IS_NATIVE(in->op))
				out |= width_of(p, in->type) |
				       width_of(p, pctl_value_type(p, &p->functions[f],
								   pctl_arg(p, in, 0)));
		}
	return out;
}

/* The widths a mode is asked for: used and promised, and where widths are tied, all of them or none. */
static uint32_t asked(uint32_t used, uint32_t promised, uint32_t tied)
{
	const uint32_t together = tied == PCTL_SPV_TIED_ALL ? 7u
				  : tied == PCTL_SPV_TIED_16_64
					  ? PCTL_SPV_WIDTH(16) | PCTL_SPV_WIDTH(64)
					  : 0;
	uint32_t out = used & promised;

	if ((used & together) != (out & together))
		out &= ~together;
	return out;
}

typedef struct mode {
	SpvCapability capability;
	SpvExecutionMode mode;
	uint32_t widths;
} mode;

static void modes(const pctl_spv *e, mode out[3])
{
	const pctl_spv_controls *c = &e->opt->controls;

	out[0] = (mode){SpvCapabilitySignedZeroInfNanPreserve,
			SpvExecutionModeSignedZeroInfNanPreserve, e->float_widths & c->signed_zero};
	out[1] = (mode){SpvCapabilityDenormPreserve, SpvExecutionModeDenormPreserve,
			asked(e->float_widths, c->denormals, c->denormals_tied)};
	out[2] = (mode){SpvCapabilityRoundingModeRTE, SpvExecutionModeRoundingModeRTE,
			asked(e->float_widths, c->nearest, c->nearest_tied)};
}

int pctl_spv_mode_capabilities(pctl_spv *e, pctl_spv_words *out)
{
	int i, any = 0;
	mode m[3];

	modes(e, m);
	for (i = 0; i < 3; i++) {
		if (m[i].widths)
			PCTL_SPV_PUT(e, out, SpvOpCapability, m[i].capability);
		any |= m[i].widths != 0;
	}
	return any;
}

void pctl_spv_mode_declare(pctl_spv *e, pctl_spv_words *out, uint32_t main_id)
{
	uint32_t i, bits;
	mode m[3];

	modes(e, m);
	for (i = 0; i < 3; i++)
		for (bits = 16; bits <= 64; bits *= 2)
			if (m[i].widths & PCTL_SPV_WIDTH(bits))
				PCTL_SPV_PUT(e, out, SpvOpExecutionMode, main_id, m[i].mode, bits);
}
