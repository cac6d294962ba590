/* Where released schedules promise no bound (SEMANTICS.md 6.5): they weigh the sides of a branch as one invocation sees them, so a side with a barrier may hide one with more work. */
#include "rig.h"

#include <stdlib.h>

static int has_barrier(const pctl_program *p, const uint8_t *known, const pctl_inst *in)
{
	return in->op == PCTL_OP_BARRIER || in->op == PCTL_OP_LOAD_UNIFORM ||
	       (in->op == PCTL_OP_CALL && known[pctl_arg(p, in, 0)]);
}

int rig_branches_on_barriers(const pctl_program *p)
{
	uint8_t *known = calloc(p->n_functions ? p->n_functions : 1, 1);
	int found = known == NULL;

	/* A function stands behind those that it calls. */
	for (uint32_t i = 0; known != NULL && i < p->n_functions; i++) {
		const pctl_function *fn = &p->functions[i];
		uint32_t depth = 0;

		for (uint32_t v = 0; v < fn->n_insts; v++) {
			const pctl_inst *in = &p->insts[fn->first_inst + v];

			depth += in->op == PCTL_OP_IF || in->op == PCTL_OP_SWITCH;
			depth -= in->op == PCTL_OP_END_IF || in->op == PCTL_OP_END_SWITCH;
			if (!has_barrier(p, known, in))
				continue;
			known[i] = 1;
			found |= depth != 0;
		}
	}
	free(known);
	return found;
}
