/* Flattening: what has to be known of a program before it is walked. */
#include "compiler/legalize/flatten.h"

#include <stdlib.h>

#include "compiler/analysis/extents.h"

/* Constructs that are open, outermost first. */
typedef struct open_ones {
	uint32_t at[512], from[512];
	uint32_t n;
} open_ones;

/* A jump leads out of every construct inside its target. */
static void jump(flattener *x, const open_ones *o, uint16_t op)
{
	for (uint32_t i = o->n; i-- > 0;) {
		const uint16_t target = x->p->insts[o->at[i]].op;

		if (target == PCTL_OP_LOOP && op != PCTL_OP_CONTINUE)
			x->broken[o->at[i]] = 1;
		if (op != PCTL_OP_RETURN &&
		    (target == PCTL_OP_LOOP || (target == PCTL_OP_SWITCH && op == PCTL_OP_BREAK)))
			return;
		x->escapes[o->at[i]] = 1;
	}
}

/* Match what opens with what parts and closes it. Regions nest 256 deep at most. */
static void read_constructs(flattener *x, open_ones *o)
{
	for (uint32_t i = 0; i < x->p->n_insts; i++) {
		switch (x->p->insts[i].op) {
		case PCTL_OP_IF:
		case PCTL_OP_SWITCH:
		case PCTL_OP_LOOP:
		case PCTL_OP_BLOCK:
			o->at[o->n] = o->from[o->n] = i;
			o->n++;
			break;
		case PCTL_OP_ELSE:
		case PCTL_OP_CASE:
		case PCTL_OP_LOOP_TEST:
		case PCTL_OP_CONTINUING:
			x->next[o->from[o->n - 1]] = i;
			o->from[o->n - 1] = i;
			break;
		case PCTL_OP_END_IF:
		case PCTL_OP_END_SWITCH:
		case PCTL_OP_END_LOOP:
		case PCTL_OP_END_BLOCK:
			o->n--;
			x->next[o->from[o->n]] = i;
			break;
		case PCTL_OP_BREAK:
		case PCTL_OP_CONTINUE:
		case PCTL_OP_RETURN:
			jump(x, o, x->p->insts[i].op);
			break;
		default:
			break;
		}
	}
}

pctl_status flat_open(flattener *x, const pctl_program *p, uint32_t limit, const pctl_call *call)
{
	const size_t n = (size_t)p->n_insts + 1;
	open_ones o = {.n = 0};

	*x = (flattener){.p = p, .entry = p->entries[0].function, .limit = limit};
	x->next = calloc(n, sizeof(*x->next));
	x->levels = calloc(n, sizeof(*x->levels));
	x->escapes = calloc(n, 1);
	x->broken = calloc(n, 1);
	x->spilled = calloc(n, 1);
	x->called = calloc((size_t)p->n_functions + 1, 1);
	/* Two for each region. */
	x->groups = calloc((size_t)LEGAL_FLAT_DEPTH * 2 + 8, sizeof(*x->groups));
	x->spare = calloc(LEGAL_FLAT_LARGEST, sizeof(*x->spare));
	if (!x->next || !x->levels || !x->escapes || !x->broken || !x->spilled || !x->called ||
	    !x->groups || !x->spare)
		return pctl_refuse(call, PC2_NOMEM, "legalising a program");
	read_constructs(x, &o);
	return pctl_program_levels(p, call, x->levels);
}

void flat_close(flattener *x)
{
	free(x->next);
	free(x->levels);
	free(x->escapes);
	free(x->broken);
	free(x->spilled);
	free(x->called);
	free(x->groups);
	free(x->spare);
}
