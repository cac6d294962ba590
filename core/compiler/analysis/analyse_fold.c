/* Arithmetic on constants, for the bounds of loops in the schedules after structured-2. */
#include <string.h>

#include "compiler/analysis/analyse_parts.h"
#include "compiler/eval/eval.h"

static int is_integer(const pctl_program *p, uint32_t type)
{
	const pctl_type *t = &p->types[type];

	return t->kind == PCTL_TYPE_SCALAR && t->scalar >= PCTL_SCALAR_BOOL &&
	       t->scalar <= PCTL_SCALAR_U64;
}

/* One pass, since operands stand before what uses them. */
void pctl_analyse_fold(const pctl_program *p, const pctl_function *fn, pctl_folded *out)
{
	uint32_t v, i;

	for (v = 0; v < fn->n_insts; v++) {
		const pctl_inst *in = &p->insts[fn->first_inst + v];
		const char *pattern = pctl_op_get(in->op)->args;
		const uint32_t which = in->op == PCTL_OP_SELECT;
		uint64_t args[4] = {0};
		uint32_t type;

		memset(&out[v], 0, sizeof(out[v]));
		if (!is_integer(p, in->type))
			continue;
		if (in->op == PCTL_OP_CONST || in->op == PCTL_OP_ZERO) {
			out[v].known = 1;
			if (in->op == PCTL_OP_CONST)
				out[v].bits = pctl_arg(p, in, 0) | (uint64_t)pctl_arg(p, in, 1)
									   << 32;
			continue;
		}
		if (!in->n_args || in->n_args > 4 || strspn(pattern, "v") != in->n_args ||
		    pattern[in->n_args])
			continue;
		for (i = 0; i < in->n_args && out[pctl_arg(p, in, i)].known; i++)
			args[i] = out[pctl_arg(p, in, i)].bits;
		type = pctl_value_type(p, fn, pctl_arg(p, in, which));
		if (i == in->n_args && is_integer(p, type))
			out[v].known =
				(uint32_t)pctl_eval(in->op, p->types[in->type].scalar,
						    p->types[type].scalar, args, &out[v].bits);
	}
}
