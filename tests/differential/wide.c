/* A bound of what a schedule can ask for a program, of its own: every instruction at its dearest, all sides of branches, each loop one turn more than its bound, all invocations, in 128 bits,
 * where what is more stays the greatest. Prices are never above it; a program that has none because its price does not fit is above 2^64 here, and uses less than this. */
#include "wide.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/ir/tables.h"
#include "foundation/base/num.h"
#include "runtime/gas/schedule.h"

#define GREATEST (~(rig_wide)0 >> 1)

static rig_wide sum(rig_wide a, rig_wide b)
{
	return a > GREATEST - b ? GREATEST : a + b;
}

static rig_wide product(rig_wide a, rig_wide b)
{
	return a != 0 && b > GREATEST / a ? GREATEST : a * b;
}

static uint64_t words(uint64_t bytes)
{
	return pctl_num_div_up(bytes, 4);
}

/* Variables that begin as zero: of a function, and before the entry point the private ones. */
static rig_wide zeroed(const pctl_cost_table *t, const pctl_program *p, const pctl_function *fn)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < fn->n_locals; i++)
		n += words(p->types[p->locals[fn->first_local + i].type].size);
	for (uint32_t i = 0; i < p->n_vars; i++)
		if (p->vars[i].space == PCTL_SPACE_PRIVATE)
			n += words(p->types[p->vars[i].type].size);
	return product(product(n, t->zero_ops), t->integer);
}

static rig_wide of_opcode(const pctl_cost_table *t, const pctl_program *p, const pctl_function *fn,
			  const pctl_inst *in)
{
	const uint64_t weights[] = {[PCTL_COST_INTEGER] = t->integer,
				    [PCTL_COST_DIVISION] = t->division,
				    [PCTL_COST_ATOMIC] = t->atomic,
				    [PCTL_COST_FLOAT] = t->float_op,
				    [PCTL_COST_ELEMENTARY] = t->elementary,
				    [PCTL_COST_FLOAT_DIVISION] = t->float_division};
	const uint8_t kind = pctl_cost_kind(t, in->op);

	return kind == PCTL_COST_NONE || kind == PCTL_COST_UNPRICED
		       ? 0
		       : product(product(pctl_cost_units(p, fn, in), t->count[in->op]),
				 weights[kind]);
}

static rig_wide of_memory(const pctl_cost_table *t, const pctl_program *p, const pctl_function *fn,
			  const pctl_inst *in)
{
	pctl_place place;
	uint32_t type;

	if (!pctl_place_get(p, fn, in, &place))
		return 0;
	type = pctl_tile_moved(p, fn, in);
	return sum(product(place.n_chain, product(t->index_check, t->integer)),
		   product(words(p->types[type != 0 ? type : place.end_type].size),
			   sum(sum(t->read, t->write), product(t->memory_ops, t->integer))));
}

static rig_wide turns_of(const pctl_analysis *a, uint32_t function, uint32_t inst)
{
	for (uint32_t i = 0; i < a->n_loops; i++)
		if (a->loops[i].function == function && a->loops[i].inst == inst)
			return (rig_wide)a->loops[i].max_iterations + 1;
	return GREATEST;
}

/* Of one invocation. A function stands behind those that it calls. */
static rig_wide of_function(const pctl_cost_table *t, const pctl_program *p, const pctl_analysis *a,
			    uint32_t number, const rig_wide *known)
{
	const pctl_function *fn = &p->functions[number];
	const rig_wide barrier = sum(t->workgroup_barrier, t->storage_barrier);
	rig_wide times[257] = {1}, all = zeroed(t, p, fn);
	uint32_t depth = 0;

	for (uint32_t v = 0; v < fn->n_insts; v++) {
		const pctl_inst *in = &p->insts[fn->first_inst + v];
		rig_wide one = sum(of_opcode(t, p, fn, in), of_memory(t, p, fn, in));

		if (in->op == PCTL_OP_BARRIER || in->op == PCTL_OP_LOAD_UNIFORM)
			one = sum(one, product(2, barrier));
		if (in->op == PCTL_OP_CALL)
			one = sum(one, known[pctl_arg(p, in, 0)]);
		all = sum(all, product(one, times[depth]));
		if (in->op == PCTL_OP_LOOP && depth < 256) {
			times[depth + 1] = product(times[depth], turns_of(a, number, v));
			depth++;
		}
		depth -= in->op == PCTL_OP_END_LOOP;
	}
	return all;
}

rig_wide rig_most(const pctl_gas_schedule *s, const pctl_program *p, const pctl_analysis *a,
		  const uint32_t groups[3])
{
	rig_wide *known = calloc(p->n_functions + 1u, sizeof(*known)), one;

	if (known == NULL)
		return GREATEST;
	for (uint32_t i = 0; i < p->n_functions; i++)
		known[i] = of_function(&s->costs, p, a, i, known);
	one = product(known[p->entries[0].function], a->invocations);
	free(known);
	one = sum(one,
		  sum(product(s->invocation, a->invocations),
		      sum(s->workgroup, product(s->zero_workgroup, words(a->workgroup_bytes)))));
	one = sum(product(product(product(one, groups[0]), groups[1]), groups[2]), s->dispatch);
	return s->parts > 1 ? one / s->parts + 1 : one;
}
