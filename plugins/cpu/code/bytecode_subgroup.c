/* Making prepared code: subgroup operations, one interpreter's instruction for each scalar (four for a ballot). Lanes of a
 * batch are whole workgroups in the order of their local indices, so a subgroup is a row of neighbours. */
#include "code/bytecode.h"

static uint32_t emit(pctl_cpu_bytecode *f, const pctl_inst *in, uint32_t a, uint32_t b,
		     uint32_t word)
{
	const uint32_t size = pctl_arg(f->p, in, in->n_args - 1);
	pctl_cpu_ins ins = {.kind = PCTL_CPU_SUBGROUP, .jump = in->op, .extra = size | word << 16};

	if (in->op != PCTL_OP_SUBGROUP_ELECT) {
		const uint32_t v = pctl_arg(f->p, in, 0);
		const uint8_t scalar = pctl_cpu_type_scalar(f->p, pctl_value_type(f->p, f->fn, v));

		ins.a = pctl_cpu_emit_vary(f, a);
		ins.flags = scalar == PCTL_SCALAR_I32 ? PCTL_CPU_SIGNED : 0;
	}
	if (in->op == PCTL_OP_SUBGROUP_BROADCAST)
		b = pctl_cpu_bytecode_const(f, pctl_arg(f->p, in, 1), 0);
	if (b)
		ins.b = pctl_cpu_emit_vary(f, b);
	ins.d = pctl_cpu_bytecode_reg(f, PCTL_CPU_REG_TEMP, 0);
	pctl_cpu_emit(f, &ins);
	return ins.d;
}

void pctl_cpu_bytecode_subgroup(pctl_cpu_bytecode *f, uint32_t value, const pctl_inst *in)
{
	const int has_lane = in->op >= PCTL_OP_SUBGROUP_SHUFFLE && in->op != PCTL_OP_SUBGROUP_ELECT;
	const int is_ballot = in->op == PCTL_OP_SUBGROUP_BALLOT;
	uint32_t *at = pctl_cpu_value_new(f, value, in->type);

	if (!at)
		return;
	/* Who does not arrive is a finding, as at a barrier that orders nothing. */
	pctl_cpu_bytecode_barrier(f, 0);
	for (uint32_t i = 0; i < f->type_leaves[in->type] && f->status == PCTL_OK; i++) {
		const uint32_t a =
			in->op == PCTL_OP_SUBGROUP_ELECT
				? 0
				: pctl_cpu_value(f, pctl_arg(f->p, in, 0))[is_ballot ? 0 : i];
		const uint32_t b = has_lane ? pctl_cpu_value(f, pctl_arg(f->p, in, 1))[0] : 0;

		at[i] = emit(f, in, a, b, is_ballot ? i : 0);
	}
}
