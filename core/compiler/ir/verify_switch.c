/* Verification of switches: their literals. */
#include <stdlib.h>

#include "compiler/ir/verify.h"
#include "foundation/base/order.h"

/* The literals of a whole switch are different: gathered at SWITCH, looking ahead over its own
 * cases. */
void pctl_verify_literals(pctl_verify *v)
{
	const pctl_program *p = v->p;
	uint32_t depth = 0, n = 0, cap = 0, *all = NULL, i, j;

	for (i = v->at + 1; i < v->fn->n_insts; i++) {
		const pctl_inst *in = &p->insts[v->fn->first_inst + i];

		if (in->op == PCTL_OP_SWITCH)
			depth++;
		else if (in->op == PCTL_OP_END_SWITCH && depth-- == 0)
			break;
		if (in->op != PCTL_OP_CASE || depth)
			continue;
		for (j = 1; j < in->n_args; j++) {
			if (n == cap) {
				uint32_t *more = realloc(all, (size_t)(cap = cap ? cap * 2 : 64) *
								      sizeof(*all));

				if (!more) {
					free(all);
					pctl_verify_complain(v, PC2_NOMEM,
							     "no memory to verify a program");
					return;
				}
				all = more;
			}
			all[n++] = pctl_arg(p, in, j);
		}
	}
	if (n)
		qsort(all, n, sizeof(*all), pctl_order_u32);
	for (i = 1; i < n; i++) {
		if (all[i - 1] == all[i]) {
			pctl_verify_complain(v, PC2026_PROGRAM_CONTROL,
					     "literal %u stands twice in the switch", all[i]);
			break;
		}
	}
	free(all);
}
