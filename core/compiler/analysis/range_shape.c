/* What the passes of range.c look things up in: regions, loops, the stores to each local, which of them are seen before
 * anything is stored, and where the ranges of each value lie. */
#include <stdlib.h>
#include <string.h>

#include "compiler/analysis/range.h"

uint32_t pctl_range_parts(const pctl_program *p, uint32_t type)
{
	const pctl_type *t = &p->types[type];

	if ((t->kind != PCTL_TYPE_SCALAR && t->kind != PCTL_TYPE_VECTOR) ||
	    !pctl_range_has(t->scalar))
		return 0;
	return t->kind == PCTL_TYPE_SCALAR ? 1 : t->width;
}

/* Where the region ends that `opening` opens. */
static uint32_t region_end(const pctl_ranges *r, const pctl_function *fn, uint32_t opening)
{
	return opening == PCTL_NONE ? fn->n_insts
				    : r->z->next[fn->first_inst + opening] - fn->first_inst;
}

/* Is the first access to the local a store of the whole, and are all others in the same region, behind it? */
static void find_seen(pctl_ranges *r, const pctl_function *fn, uint32_t v, const pctl_place *pl,
		      uint32_t *ends)
{
	const uint32_t local = pl->root & ~PCTL_PLACE_LOCAL;
	uint8_t *seen = &r->seen[fn->first_local + local];
	const int is_store = r->p->insts[fn->first_inst + v].op == PCTL_OP_STORE;

	if (ends[local] == 0) {
		ends[local] = region_end(r, fn, r->region[fn->first_inst + v]);
		*seen = is_store && pl->n_chain == 0;
	} else if (v >= ends[local]) {
		*seen = 0;
	}
}

/* The loop that a CONTINUE goes on with knows of it. */
static void find_continue(pctl_ranges *r, const pctl_function *fn, uint32_t v)
{
	uint32_t at = v;

	do {
		at = r->region[fn->first_inst + at];
	} while (at != PCTL_NONE && r->p->insts[fn->first_inst + at].op != PCTL_OP_LOOP_TEST);
	if (at != PCTL_NONE && r->first_continue[fn->first_inst + at] == PCTL_NONE)
		r->first_continue[fn->first_inst + at] = v;
}

static void find_loop(pctl_ranges *r, const pctl_function *fn, uint32_t v)
{
	const uint32_t loop = fn->first_inst + v, test = r->z->next[loop];

	r->loop[loop] = r->loop[test] = r->loop[r->z->next[test]] = v;
}

static int find_shape(pctl_ranges *r, const pctl_function *fn)
{
	uint32_t *last = calloc((size_t)fn->n_locals + 1, sizeof(*last));
	uint32_t *ends = calloc((size_t)fn->n_locals + 1, sizeof(*ends));
	uint32_t at = PCTL_NONE;
	pctl_place pl;

	for (uint32_t v = 0; last && ends && v < fn->n_insts; v++) {
		const pctl_inst *in = &r->p->insts[fn->first_inst + v];
		const int parts = in->op == PCTL_OP_ELSE || in->op == PCTL_OP_CASE ||
				  in->op == PCTL_OP_LOOP_TEST || in->op == PCTL_OP_CONTINUING;

		if (parts || in->op == PCTL_OP_END_IF || in->op == PCTL_OP_END_SWITCH ||
		    in->op == PCTL_OP_END_LOOP || in->op == PCTL_OP_END_BLOCK)
			at = r->region[fn->first_inst + at];
		r->region[fn->first_inst + v] = at;
		if (parts || in->op == PCTL_OP_IF || in->op == PCTL_OP_SWITCH ||
		    in->op == PCTL_OP_LOOP || in->op == PCTL_OP_BLOCK)
			at = v;
		if (in->op == PCTL_OP_LOOP)
			find_loop(r, fn, v);
		if (in->op == PCTL_OP_CONTINUE)
			find_continue(r, fn, v);
		if (!pctl_place_get(r->p, fn, in, &pl) || !(pl.root & PCTL_PLACE_LOCAL))
			continue;
		find_seen(r, fn, v, &pl, ends);
		if (in->op != PCTL_OP_STORE)
			continue;
		pl.root &= ~PCTL_PLACE_LOCAL;
		if (r->first_store[fn->first_local + pl.root] == PCTL_NONE)
			r->first_store[fn->first_local + pl.root] = v;
		else
			r->next_store[fn->first_inst + last[pl.root]] = v;
		last[pl.root] = v;
	}
	free(last);
	free(ends);
	return last && ends;
}

/* Where the ranges of each value and each local begin. */
static void find_parts(pctl_ranges *r)
{
	const pctl_program *p = r->p;

	for (uint32_t i = 0; i < p->n_insts; i++)
		r->part[i + 1] = r->part[i] + pctl_range_parts(p, p->insts[i].type);
	for (uint32_t i = 0; i < p->n_locals; i++)
		r->local_part[i + 1] = r->local_part[i] + pctl_range_parts(p, p->locals[i].type);
}

static uint32_t *all_none(size_t n)
{
	uint32_t *a = malloc((n + 1) * sizeof(*a));

	if (a)
		memset(a, 0xff, (n + 1) * sizeof(*a));
	return a;
}

int pctl_range_open_tables(pctl_ranges *r)
{
	int is_whole;

	const pctl_program *p = r->p;

	r->region = all_none(p->n_insts);
	r->loop = all_none(p->n_insts);
	r->loop_exit = all_none(p->n_insts);
	r->first_continue = all_none(p->n_insts);
	r->next_store = all_none(p->n_insts);
	r->first_store = all_none(p->n_locals);
	r->first_exit = all_none(p->n_locals);
	r->first_fact = all_none(p->n_insts);
	r->part = calloc((size_t)p->n_insts + 1, sizeof(*r->part));
	r->local_part = calloc((size_t)p->n_locals + 1, sizeof(*r->local_part));
	r->seen = calloc((size_t)p->n_locals + 1, 1);
	if (!r->region || !r->loop || !r->loop_exit || !r->first_continue || !r->next_store ||
	    !r->first_store || !r->first_exit || !r->first_fact || !r->part || !r->local_part ||
	    !r->seen)
		return 0;
	find_parts(r);
	r->values = calloc((size_t)r->part[p->n_insts] + 1, sizeof(*r->values));
	r->params = calloc((size_t)r->part[p->n_insts] + 1, sizeof(*r->params));
	r->locals = calloc((size_t)r->local_part[p->n_locals] + 1, sizeof(*r->locals));
	r->grown = calloc((size_t)r->local_part[p->n_locals] + 1, sizeof(*r->grown));
	r->returns = calloc(4 * (size_t)p->n_functions + 1, sizeof(*r->returns));
	is_whole = r->values && r->params && r->locals && r->grown && r->returns;
	for (uint32_t f = 0; f < p->n_functions && is_whole; f++)
		is_whole = find_shape(r, &p->functions[f]) &&
			   pctl_range_find_exits(r, &p->functions[f]);
	return is_whole;
}
