/* Values that a driver may not look through. SwiftShader's Subzero computes some operations wrongly
 * when it has found out that all their operands are constants (`min(-7, 127)` gave 127 where -7 came
 * out of a private variable), so on it whatever might be such a constant is mixed with a zero that
 * only the dispatch knows. Found by tests/differential; regressions/constant-*.wgsl there. */
#include "spirv/spirv.h"

/* The number of workgroups is below 2^31, so its top bit is 0; emitted where it dominates all uses. */
void pctl_spv_opaque_begin(pctl_spv *e)
{
	const uint32_t u32 = pctl_spv_type(e, 32, 1);
	uint32_t i, x, parts[4];

	if (!e->opt->opaque_constants)
		return;
	x = PCTL_SPV_VALUE(e, SpvOpCompositeExtract, u32,
			   pctl_spv_builtin(e, PCTL_BUILTIN_NUM_WORKGROUPS), 0);
	x = PCTL_SPV_VALUE(e, SpvOpShiftRightLogical, u32, x, pctl_spv_u32(e, 31));
	for (i = 0; i < 4; i++)
		parts[i] = x;
	e->opaque_zero[1] = x;
	for (i = 2; i <= 4; i++)
		e->opaque_zero[i] = pctl_spv_value(e, SpvOpCompositeConstruct,
						   pctl_spv_type(e, 32, i), parts, i);
	for (i = 1; i <= 4; i++)
		e->opaque_false[i] = PCTL_SPV_VALUE(e, SpvOpINotEqual, pctl_spv_type(e, 1, i),
						    e->opaque_zero[i], pctl_spv_const(e, 32, i, 0));
}

uint32_t pctl_spv_opaque(pctl_spv *e, pctl_spv_shape s, uint32_t value)
{
	if (!e->opt->opaque_constants || (s.bits != 1 && s.bits != 32) || s.width > 4)
		return value;
	if (s.is_float) {
		value = PCTL_SPV_VALUE(e, SpvOpBitcast, pctl_spv_type(e, 32, s.width), value);
		value = PCTL_SPV_VALUE(e, SpvOpBitwiseOr, pctl_spv_type(e, 32, s.width), value,
				       e->opaque_zero[s.width]);
		return PCTL_SPV_VALUE(e, SpvOpBitcast, pctl_spv_shape_type(e, s), value);
	}
	return s.bits == 1 ? PCTL_SPV_VALUE(e, SpvOpLogicalOr, pctl_spv_type(e, 1, s.width), value,
					    e->opaque_false[s.width])
			   : PCTL_SPV_VALUE(e, SpvOpBitwiseOr, pctl_spv_type(e, 32, s.width), value,
					    e->opaque_zero[s.width]);
}

/* Could the driver know the value of this instruction without help of other instructions: literals,
 * what was stored to an invocation's own variables, what crosses a call or leaves a composite. */
static int might_be_constant(const pctl_spv *e, const pctl_inst *in)
{
	pctl_place place;

	switch (in->op) {
	case PCTL_OP_CONST:
	case PCTL_OP_ZERO:
	case PCTL_OP_PARAM:
	case PCTL_OP_CALL:
	case PCTL_OP_LOOKUP:
		return 1;
	case PCTL_OP_EXTRACT:
		return e->p->types[pctl_value_type(e->p, e->fn, pctl_arg(e->p, in, 0))].kind !=
		       PCTL_TYPE_VECTOR;
	case PCTL_OP_LOAD:
		return pctl_place_get(e->p, e->fn, in, &place) &&
		       (place.space == PCTL_SPACE_FUNCTION || place.space == PCTL_SPACE_PRIVATE);
	default:
		return 0;
	}
}

void pctl_spv_opaque_value(pctl_spv *e, uint32_t index)
{
	const pctl_inst *in = &e->p->insts[e->fn->first_inst + index];
	pctl_spv_shape s;

	if (e->opt->opaque_constants && e->block && e->values[index] && might_be_constant(e, in) &&
	    pctl_spv_shape_get(e->p, in->type, &s))
		e->values[index] = pctl_spv_opaque(e, s, e->values[index]);
}
