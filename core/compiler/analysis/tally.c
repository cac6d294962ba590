/* Implementation of tally.h: counts of runs times what one run does. */
#include "compiler/analysis/tally.h"

#include "compiler/analysis/profile.h"
#include "foundation/base/num.h"

static uint64_t sum(uint64_t a, uint64_t b)
{
	uint64_t out;

	return pctl_num_add(a, b, &out) ? out : UINT64_MAX;
}

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t out;

	return pctl_num_mul(a, b, &out) ? out : UINT64_MAX;
}

/* An access, and the module variable that it is of. 0: it is none, or of a variable of the invocation's own. */
static int is_access(const pctl_program *p, const pctl_function *fn, const pctl_inst *in,
		     pctl_place *place)
{
	return in->op != PCTL_OP_ARRAY_LENGTH && pctl_place_get(p, fn, in, place) &&
	       place->space != PCTL_SPACE_FUNCTION && place->space != PCTL_SPACE_PRIVATE;
}

static void access(const pctl_program *p, const pctl_function *fn, const pctl_inst *in,
		   const pctl_place *place, uint64_t n, pctl_tally *out)
{
	const uint32_t tile = pctl_tile_moved(p, fn, in);
	const uint64_t bytes = times(n, p->types[tile ? tile : place->end_type].size);
	const int is_atomic = pctl_op_get(in->op)->kind == PCTL_OPKIND_atomic;

	if (is_atomic)
		out->atomics = n;
	else if (pctl_op_stores(in->op))
		out->stores = n;
	else
		out->loads = n;
	if (place->space == PCTL_SPACE_WORKGROUP) {
		out->shared_bytes = bytes;
		return;
	}
	if (is_atomic ? in->op != PCTL_OP_ATOMIC_STORE : !pctl_op_stores(in->op))
		out->read_bytes = bytes;
	if (is_atomic ? in->op != PCTL_OP_ATOMIC_LOAD : pctl_op_stores(in->op))
		out->write_bytes = bytes;
}

static void operation(const pctl_cost_table *t, const pctl_program *p, const pctl_function *fn,
		      const pctl_inst *in, uint64_t n, pctl_tally *out)
{
	const uint8_t kind = pctl_cost_kind(t, in->op);

	if (kind == PCTL_COST_NONE || kind == PCTL_COST_UNPRICED || kind == PCTL_COST_ATOMIC)
		return;
	n = times(n, t->count[in->op] * pctl_cost_units(p, fn, in));
	if (kind == PCTL_COST_INTEGER)
		out->integer = n;
	else if (kind == PCTL_COST_FLOAT)
		out->floats = n;
	else
		out->slow = n;
}

static void instruction(const pctl_cost_table *t, const pctl_program *p, const pctl_function *fn,
			const pctl_inst *in, uint64_t n, pctl_tally *out)
{
	const uint8_t kind = pctl_op_get(in->op)->kind;
	pctl_place place;

	*out = (pctl_tally){.runs = n};
	if (in->op == PCTL_OP_BARRIER)
		out->barriers = n;
	else if (is_access(p, fn, in, &place))
		access(p, fn, in, &place, n, out);
	else if (kind != PCTL_OPKIND_memory && kind != PCTL_OPKIND_control)
		operation(t, p, fn, in, n, out);
}

void pctl_tally_program(const pctl_program *p, const uint64_t *runs, pctl_tally *out)
{
	pctl_cost_table t;

	pctl_cost_table_default(&t);
	for (uint32_t f = 0; f < p->n_functions; f++) {
		const pctl_function *fn = &p->functions[f];

		for (uint32_t i = fn->first_inst; i < fn->first_inst + fn->n_insts; i++)
			instruction(&t, p, fn, &p->insts[i], runs[i], &out[i]);
	}
}

void pctl_tally_add(pctl_tally *to, const pctl_tally *from)
{
	to->runs = from->runs > to->runs ? from->runs : to->runs;
	to->integer = sum(to->integer, from->integer);
	to->floats = sum(to->floats, from->floats);
	to->slow = sum(to->slow, from->slow);
	to->loads = sum(to->loads, from->loads);
	to->stores = sum(to->stores, from->stores);
	to->atomics = sum(to->atomics, from->atomics);
	to->barriers = sum(to->barriers, from->barriers);
	to->read_bytes = sum(to->read_bytes, from->read_bytes);
	to->write_bytes = sum(to->write_bytes, from->write_bytes);
	to->shared_bytes = sum(to->shared_bytes, from->shared_bytes);
}

void pctl_tally_var(const pctl_program *p, const uint64_t *runs, uint32_t var, uint64_t *read_bytes,
		    uint64_t *write_bytes)
{
	pctl_tally all = {0};

	for (uint32_t f = 0; f < p->n_functions; f++) {
		const pctl_function *fn = &p->functions[f];

		for (uint32_t i = fn->first_inst; i < fn->first_inst + fn->n_insts; i++) {
			pctl_tally one = {0};
			pctl_place place;

			if (!is_access(p, fn, &p->insts[i], &place) || place.root != var)
				continue;
			access(p, fn, &p->insts[i], &place, runs[i], &one);
			pctl_tally_add(&all, &one);
		}
	}
	*read_bytes = all.read_bytes;
	*write_bytes = all.write_bytes;
}
