/* The life of a program: everything it owns is in one arena. And what is asked of it as a whole. */
#include "compiler/ir/tables.h"

void pctl_program_destroy(pctl_program *p)
{
	if (p)
		pctl_arena_destroy(p->arena);
}

pctl_pos pctl_program_pos(const pctl_program *p, uint32_t inst)
{
	const pctl_origin *o = p->origins ? &p->origins[inst] : NULL;

	if (!o || o->file >= p->n_origin_files)
		return (pctl_pos){NULL, 0, 0, 0, 0};
	return (pctl_pos){p->origin_files[o->file], o->line, o->column, o->end_column, 0};
}

uint32_t pctl_program_subgroup_size(const pctl_program *p)
{
	uint32_t i;

	for (i = 0; i < p->n_insts; i++) {
		const pctl_inst *in = &p->insts[i];

		if (pctl_op_get(in->op)->kind == PCTL_OPKIND_subgroup)
			return pctl_arg(p, in, in->n_args - 1);
	}
	return 0;
}
