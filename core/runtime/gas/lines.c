/* What each line of a source costs: every instruction once, for people who look for the dear ones. Prices never come
 * from here. */
#include "runtime/gas/schedule.h"

static void count_memory(const pctl_program *p, const pctl_function *fn, const pctl_inst *in,
			 const pctl_place *place, const pctl_cost_table *t, pctl_gas_line *c)
{
	const uint32_t tile = pctl_tile_moved(p, fn, in);
	const uint64_t bytes = p->types[tile ? tile : place->end_type].size;
	const int is_store = pctl_op_stores(in->op);

	if (place->space != PCTL_SPACE_STORAGE && place->space != PCTL_SPACE_UNIFORM)
		c->integer += (bytes + 3) / 4 * t->memory_ops;
	else if (is_store)
		c->write += bytes;
	else
		c->read += bytes;
}

static void count_inst(const pctl_program *p, const pctl_function *fn, const pctl_inst *in,
		       const pctl_cost_table *t, pctl_gas_line *c)
{
	uint64_t n;
	pctl_place place;

	if (in->op == PCTL_OP_BARRIER) {
		c->barriers++;
		return;
	}
	if ((in->op == PCTL_OP_LOAD || in->op == PCTL_OP_STORE || pctl_tile_moved(p, fn, in)) &&
	    pctl_place_get(p, fn, in, &place)) {
		count_memory(p, fn, in, &place, t, c);
		if (!pctl_tile_moved(p, fn, in))
			return;
	}
	if (pctl_cost_kind(t, in->op) == PCTL_COST_NONE)
		return;
	n = t->count[in->op] * pctl_cost_units(p, fn, in);
	switch (pctl_cost_kind(t, in->op)) {
	case PCTL_COST_INTEGER:
		c->integer += n;
		break;
	case PCTL_COST_DIVISION:
		c->division += n;
		break;
	case PCTL_COST_ATOMIC:
		c->atomic += n;
		break;
	case PCTL_COST_FLOAT:
		c->floats += n;
		break;
	case PCTL_COST_FLOAT_DIVISION:
		c->float_division += n;
		break;
	default:
		c->elementary += n;
		break;
	}
}

static uint64_t gas_of(const pctl_gas_line *c, const pctl_cost_table *t)
{
	return c->integer * t->integer + c->division * t->division + c->atomic * t->atomic +
	       c->floats * t->float_op + c->float_division * t->float_division +
	       c->elementary * t->elementary + (c->read + 3) / 4 * t->read +
	       (c->write + 3) / 4 * t->write + c->barriers * t->workgroup_barrier;
}

void pctl_gas_lines(const pctl_gas_schedule *s, const pctl_program *p, pctl_gas_line *lines,
		    uint32_t n_lines)
{
	for (uint32_t f = 0; p->origins != NULL && f < p->n_functions; f++) {
		const pctl_function *fn = &p->functions[f];

		for (uint32_t i = fn->first_inst; i < fn->first_inst + fn->n_insts; i++)
			if (p->origins[i].file == 0 && p->origins[i].line >= 1 &&
			    p->origins[i].line <= n_lines)
				count_inst(p, fn, &p->insts[i], &s->costs,
					   &lines[p->origins[i].line - 1]);
	}
	for (uint32_t i = 0; i < n_lines; i++)
		lines[i].gas = gas_of(&lines[i], &s->costs);
}
