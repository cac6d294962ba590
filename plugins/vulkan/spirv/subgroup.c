/* Subgroup operations by those of the device, whose subgroups are of opt->subgroup lanes. The host has proved that the lanes
 * of one are consecutive local indices, and that every invocation of a whole number of subgroups arrives. A program's own
 * subgroups may be smaller, a part of the device's: then reductions and scans go by shuffles in log2 of the size steps
 * (which needs no clustered operations: lavapipe and SwiftShader have none), and votes by a part of the ballot. Vectors go
 * component by component. */
#include "spirv/spirv.h"

/* What the pieces below share of one instruction. */
typedef struct asked {
	uint16_t op;
	uint32_t size;	/* of the program's subgroups */
	uint32_t whole; /* 1: the device's own */
	uint32_t u32, boolean;
	uint32_t scope;
	uint32_t lane; /* in the device's subgroup */
	uint32_t own;  /* in the program's */
	int is_signed;
} asked;

static uint32_t op2(pctl_spv *e, const asked *a, SpvOp op, uint32_t x, uint32_t y)
{
	return PCTL_SPV_VALUE(e, op, a->u32, x, y);
}

static uint32_t is_below(pctl_spv *e, const asked *a, uint32_t x, uint32_t y)
{
	return PCTL_SPV_VALUE(e, SpvOpULessThan, a->boolean, x, y);
}

static uint32_t pick(pctl_spv *e, const asked *a, uint32_t condition, uint32_t yes, uint32_t no)
{
	return PCTL_SPV_VALUE(e, SpvOpSelect, a->u32, condition, yes, no);
}

static void needs(pctl_spv *e, SpvCapability c)
{
	e->subgroup_caps |= 1u << (c - SpvCapabilityGroupNonUniform);
}

/* What lane `from` of the program's subgroup has; from is below its size. */
static uint32_t read_lane(pctl_spv *e, const asked *a, uint32_t x, uint32_t from)
{
	needs(e, SpvCapabilityGroupNonUniformShuffle);
	if (!a->whole)
		from = op2(e, a, SpvOpBitwiseOr, from,
			   op2(e, a, SpvOpBitwiseAnd, a->lane, pctl_spv_u32(e, ~(a->size - 1))));
	return PCTL_SPV_VALUE(e, SpvOpGroupNonUniformShuffle, a->u32, a->scope, x, from);
}

/* ---- reductions and scans ---- */

static SpvOp combination(const asked *a)
{
	switch (a->op) {
	case PCTL_OP_SUBGROUP_MUL:
	case PCTL_OP_SUBGROUP_INCLUSIVE_MUL:
	case PCTL_OP_SUBGROUP_EXCLUSIVE_MUL:
		return SpvOpGroupNonUniformIMul;
	case PCTL_OP_SUBGROUP_MIN:
		return a->is_signed ? SpvOpGroupNonUniformSMin : SpvOpGroupNonUniformUMin;
	case PCTL_OP_SUBGROUP_MAX:
		return a->is_signed ? SpvOpGroupNonUniformSMax : SpvOpGroupNonUniformUMax;
	case PCTL_OP_SUBGROUP_AND:
		return SpvOpGroupNonUniformBitwiseAnd;
	case PCTL_OP_SUBGROUP_OR:
		return SpvOpGroupNonUniformBitwiseOr;
	case PCTL_OP_SUBGROUP_XOR:
		return SpvOpGroupNonUniformBitwiseXor;
	default:
		return SpvOpGroupNonUniformIAdd;
	}
}

/* The same of two lanes. */
static uint32_t combine(pctl_spv *e, const asked *a, uint32_t x, uint32_t y)
{
	switch (combination(a)) {
	case SpvOpGroupNonUniformIMul:
		return op2(e, a, SpvOpIMul, x, y);
	case SpvOpGroupNonUniformSMin:
		return PCTL_SPV_GLSL(e, a->u32, GLSLstd450SMin, x, y);
	case SpvOpGroupNonUniformUMin:
		return PCTL_SPV_GLSL(e, a->u32, GLSLstd450UMin, x, y);
	case SpvOpGroupNonUniformSMax:
		return PCTL_SPV_GLSL(e, a->u32, GLSLstd450SMax, x, y);
	case SpvOpGroupNonUniformUMax:
		return PCTL_SPV_GLSL(e, a->u32, GLSLstd450UMax, x, y);
	case SpvOpGroupNonUniformBitwiseAnd:
		return op2(e, a, SpvOpBitwiseAnd, x, y);
	case SpvOpGroupNonUniformBitwiseOr:
		return op2(e, a, SpvOpBitwiseOr, x, y);
	case SpvOpGroupNonUniformBitwiseXor:
		return op2(e, a, SpvOpBitwiseXor, x, y);
	default:
		return op2(e, a, SpvOpIAdd, x, y);
	}
}

static SpvGroupOperation over(const asked *a)
{
	switch (a->op) {
	case PCTL_OP_SUBGROUP_INCLUSIVE_ADD:
	case PCTL_OP_SUBGROUP_INCLUSIVE_MUL:
		return SpvGroupOperationInclusiveScan;
	case PCTL_OP_SUBGROUP_EXCLUSIVE_ADD:
	case PCTL_OP_SUBGROUP_EXCLUSIVE_MUL:
		return SpvGroupOperationExclusiveScan;
	default:
		return SpvGroupOperationReduce;
	}
}

/* Everyone with the one whose lane differs in one bit, bit by bit. */
static uint32_t reduce_part(pctl_spv *e, const asked *a, uint32_t x)
{
	uint32_t by, other;

	for (by = 1; by < a->size; by *= 2) {
		other = op2(e, a, SpvOpBitwiseXor, a->own, pctl_spv_u32(e, by));
		x = combine(e, a, x, read_lane(e, a, x, other));
	}
	return x;
}

/* The value `by` lanes below, and `none` where there is no such lane. */
static uint32_t from_below(pctl_spv *e, const asked *a, uint32_t x, uint32_t by, uint32_t none)
{
	const uint32_t distance = pctl_spv_u32(e, by);
	const uint32_t from = op2(e, a, SpvOpBitwiseAnd, op2(e, a, SpvOpISub, a->own, distance),
				  pctl_spv_u32(e, a->size - 1));

	x = read_lane(e, a, x, from);
	return pick(e, a, is_below(e, a, a->own, distance), none, x);
}

static uint32_t scan_part(pctl_spv *e, const asked *a, uint32_t x)
{
	const uint32_t start = pctl_spv_u32(e, combination(a) == SpvOpGroupNonUniformIMul ? 1 : 0);
	uint32_t by;

	for (by = 1; by < a->size; by *= 2)
		x = combine(e, a, x, from_below(e, a, x, by, start));
	return over(a) == SpvGroupOperationExclusiveScan ? from_below(e, a, x, 1, start) : x;
}

static uint32_t gather(pctl_spv *e, const asked *a, uint32_t x)
{
	if (a->whole) {
		needs(e, SpvCapabilityGroupNonUniformArithmetic);
		return PCTL_SPV_VALUE(e, combination(a), a->u32, a->scope, (uint32_t)over(a), x);
	}
	return over(a) == SpvGroupOperationReduce ? reduce_part(e, a, x) : scan_part(e, a, x);
}

/* ---- votes ---- */

/* The words of the program's subgroup out of the device's ballot, of which there are `n` of some bits. */
static uint32_t ballot_words(pctl_spv *e, const asked *a, uint32_t truth, uint32_t words[4])
{
	const uint32_t u4 = pctl_spv_type(e, 32, 4), n = a->size > 32 ? a->size / 32 : 1;
	uint32_t i, all, first;

	needs(e, SpvCapabilityGroupNonUniformBallot);
	all = PCTL_SPV_VALUE(e, SpvOpGroupNonUniformBallot, u4, a->scope, truth);
	first = op2(e, a, SpvOpBitwiseAnd, a->lane, pctl_spv_u32(e, ~(a->size - 1)));
	for (i = 0; i < n; i++) {
		words[i] =
			a->whole ? PCTL_SPV_VALUE(e, SpvOpCompositeExtract, a->u32, all, i)
				 : op2(e, a, SpvOpIAdd,
				       op2(e, a, SpvOpShiftRightLogical, first, pctl_spv_u32(e, 5)),
				       pctl_spv_u32(e, i));
		if (!a->whole)
			words[i] =
				PCTL_SPV_VALUE(e, SpvOpVectorExtractDynamic, a->u32, all, words[i]);
	}
	if (a->size < 32 && !a->whole) {
		first = op2(e, a, SpvOpBitwiseAnd, first, pctl_spv_u32(e, 31));
		words[0] = op2(e, a, SpvOpShiftRightLogical, words[0], first);
		words[0] =
			op2(e, a, SpvOpBitwiseAnd, words[0], pctl_spv_u32(e, (1u << a->size) - 1));
	}
	for (i = n; i < 4; i++)
		words[i] = pctl_spv_u32(e, 0);
	return n;
}

static uint32_t vote(pctl_spv *e, const asked *a, uint32_t truth)
{
	const int is_all = a->op == PCTL_OP_SUBGROUP_ALL;
	uint32_t words[4], n, i, so_far = 0, x;

	if (a->op == PCTL_OP_SUBGROUP_BALLOT) {
		ballot_words(e, a, truth, words);
		return pctl_spv_value(e, SpvOpCompositeConstruct, pctl_spv_type(e, 32, 4), words,
				      4);
	}
	if (a->whole) {
		needs(e, SpvCapabilityGroupNonUniformVote);
		return PCTL_SPV_VALUE(e, is_all ? SpvOpGroupNonUniformAll : SpvOpGroupNonUniformAny,
				      a->boolean, a->scope, truth);
	}
	n = ballot_words(e, a, truth, words);
	for (i = 0; i < n; i++) {
		const uint32_t full = a->size < 32 ? (1u << a->size) - 1 : ~0u;

		x = PCTL_SPV_VALUE(e, is_all ? SpvOpIEqual : SpvOpINotEqual, a->boolean, words[i],
				   pctl_spv_u32(e, is_all ? full : 0));
		so_far = !so_far ? x
				 : PCTL_SPV_VALUE(e, is_all ? SpvOpLogicalAnd : SpvOpLogicalOr,
						  a->boolean, so_far, x);
	}
	return so_far;
}

/* ---- movements ---- */

/* The lane to read, and in *there whether there is one. */
static uint32_t lane_of(pctl_spv *e, const asked *a, uint32_t by, uint32_t *there)
{
	const uint32_t size = pctl_spv_u32(e, a->size);
	uint32_t lane = by, whole;

	switch (a->op) {
	case PCTL_OP_SUBGROUP_SHUFFLE_XOR:
		lane = op2(e, a, SpvOpBitwiseXor, a->own, by);
		*there = is_below(e, a, lane, size);
		break;
	case PCTL_OP_SUBGROUP_SHUFFLE_UP: /* below lane 0 is far behind the last */
		lane = op2(e, a, SpvOpISub, a->own, by);
		*there = PCTL_SPV_VALUE(e, SpvOpULessThanEqual, a->boolean, by, a->own);
		break;
	case PCTL_OP_SUBGROUP_SHUFFLE_DOWN: /* the sum of what is below the size does not wrap */
		lane = op2(e, a, SpvOpIAdd, a->own, by);
		whole = is_below(e, a, by, size);
		*there = is_below(e, a, lane, size);
		*there = PCTL_SPV_VALUE(e, SpvOpLogicalAnd, a->boolean, whole, *there);
		break;
	default:
		*there = is_below(e, a, lane, size);
		break;
	}
	return op2(e, a, SpvOpBitwiseAnd, lane, pctl_spv_u32(e, a->size - 1));
}

static uint32_t move(pctl_spv *e, const asked *a, uint32_t x, uint32_t from, uint32_t there)
{
	if (a->op != PCTL_OP_SUBGROUP_BROADCAST)
		return pick(e, a, there, read_lane(e, a, x, from), pctl_spv_u32(e, 0));
	if (!a->whole)
		return read_lane(e, a, x, from);
	needs(e, SpvCapabilityGroupNonUniformBallot);
	return PCTL_SPV_VALUE(e, SpvOpGroupNonUniformBroadcast, a->u32, a->scope, x, from);
}

static int is_move(uint16_t op)
{
	return op >= PCTL_OP_SUBGROUP_BROADCAST && op <= PCTL_OP_SUBGROUP_SHUFFLE_DOWN;
}

uint32_t pctl_spv_subgroup(pctl_spv *e, const pctl_inst *in)
{
	const pctl_type *t = &e->p->types[in->type];
	const uint32_t width = t->kind == PCTL_TYPE_VECTOR ? t->width : 1;
	asked a = {.op = in->op,
		   .size = pctl_arg(e->p, in, in->n_args - 1),
		   .u32 = pctl_spv_type(e, 32, 1),
		   .boolean = pctl_spv_type(e, 1, 1),
		   .scope = pctl_spv_u32(e, SpvScopeSubgroup),
		   .is_signed = t->scalar == PCTL_SCALAR_I32};
	const uint32_t index = pctl_spv_builtin(e, PCTL_BUILTIN_LOCAL_INDEX);
	uint32_t parts[4], i, x, from = 0, there = 0;

	needs(e, SpvCapabilityGroupNonUniform);
	a.whole = a.size == e->opt->subgroup;
	a.lane = op2(e, &a, SpvOpBitwiseAnd, index, pctl_spv_u32(e, e->opt->subgroup - 1));
	a.own = op2(e, &a, SpvOpBitwiseAnd, index, pctl_spv_u32(e, a.size - 1));
	if (a.op == PCTL_OP_SUBGROUP_ELECT)
		return PCTL_SPV_VALUE(e, SpvOpIEqual, a.boolean, a.own, pctl_spv_u32(e, 0));
	x = pctl_spv_arg(e, in, 0);
	if (a.op >= PCTL_OP_SUBGROUP_ALL && a.op <= PCTL_OP_SUBGROUP_BALLOT)
		return vote(e, &a, x);
	if (a.op == PCTL_OP_SUBGROUP_BROADCAST)
		from = pctl_spv_u32(e, pctl_arg(e->p, in, 1));
	else if (is_move(a.op))
		from = lane_of(e, &a, pctl_spv_arg(e, in, 1), &there);
	for (i = 0; i < width; i++) {
		parts[i] = width > 1 ? PCTL_SPV_VALUE(e, SpvOpCompositeExtract, a.u32, x, i) : x;
		parts[i] = is_move(a.op) ? move(e, &a, parts[i], from, there)
					 : gather(e, &a, parts[i]);
	}
	return width > 1 ? pctl_spv_value(e, SpvOpCompositeConstruct, e->plain[in->type], parts,
					  width)
			 : parts[0];
}

uint32_t pctl_spv_subgroup_size(const pctl_program *p)
{
	if (p->caps & PCTL_CAP_SUBGROUPS)
		return pctl_program_subgroup_size(p);
	return p->caps & PCTL_CAP_TILES ? PCTL_TILE_LANES : 0;
}

void pctl_spv_subgroup_capabilities(pctl_spv *e, pctl_spv_words *out)
{
	uint32_t i;

	for (i = 0; i < 8; i++)
		if (e->subgroup_caps >> i & 1)
			PCTL_SPV_PUT(e, out, SpvOpCapability, SpvCapabilityGroupNonUniform + i);
}
