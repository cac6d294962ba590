/* What gives the same in every turn of a loop is written before it: addresses, lengths, loads of what nobody writes. Out of as
 * many loops as it goes, but never out of one with a barrier: what lives across a barrier is kept for each invocation on a
 * device that runs them one after the other (plugins/opencl). What is dear is written before a loop only where each turn
 * needs it. A load has no proof of its indices there: it may have been one of the loop's condition. */
#include "compiler/legalize/legal_parts.h"

#include <stdlib.h>

#include "compiler/ir/tables.h"
#include "compiler/legalize/pure.h"

#define MOST_HOISTED 48u /* values out of one loop: each may take a register as long as it turns */

typedef struct open_loop {
	uint32_t first, last; /* LOOP, END_LOOP */
	uint32_t conditions;  /* open where it begins */
	uint32_t waits;	      /* it has a barrier */
	uint32_t n;	      /* written before it so far */
} open_loop;

typedef struct legal_hoister {
	const pctl_program *p;
	legal_purity purity;
	/* Of the whole program, by instruction; values are those of its function. */
	uint32_t *level;     /* loops around the place where it is written */
	uint8_t *is_hoisted; /* it is written before a loop */
	uint32_t *first;     /* LOOP: 1 + the first value that is written before it */
	uint32_t *next;	     /* 1 + the next one before the same loop */
	uint32_t *last;	     /* LOOP: 1 + the last one so far */
	/* Of the function: the stores to its locals, one local after the other; those of local i begin at begin[i]. */
	uint32_t *stores, *begin;
	open_loop open[PCTL_REGION_DEPTH_MAX + 1];
	uint32_t depth, conditions, n;
} hoister;

/* The local that an instruction stores to, whole or in part; PCTL_NONE: none. */
static uint32_t stored_local(const pctl_program *p, const pctl_function *fn, const pctl_inst *in)
{
	pctl_place place;

	if (in->op != PCTL_OP_STORE || !pctl_place_get(p, fn, in, &place) ||
	    !(place.root & PCTL_PLACE_LOCAL))
		return PCTL_NONE;
	return place.root & ~PCTL_PLACE_LOCAL;
}

static void find_stores(hoister *x, const pctl_function *fn)
{
	uint32_t *begin = x->begin;

	for (uint32_t i = 0; i <= fn->n_locals + 1; i++)
		begin[i] = 0;
	for (uint32_t v = 0; v < fn->n_insts; v++) {
		const uint32_t local = stored_local(x->p, fn, &x->p->insts[fn->first_inst + v]);

		if (local != PCTL_NONE)
			begin[local + 2]++;
	}
	for (uint32_t i = 1; i <= fn->n_locals + 1; i++)
		begin[i] += begin[i - 1];
	/* begin[i + 1] runs through the stores of local i, and is where those of the next begin in the end. */
	for (uint32_t v = 0; v < fn->n_insts; v++) {
		const uint32_t local = stored_local(x->p, fn, &x->p->insts[fn->first_inst + v]);

		if (local != PCTL_NONE)
			x->stores[begin[local + 1]++] = v;
	}
}

static int is_stored(const hoister *x, uint32_t local, const open_loop *loop)
{
	uint32_t low = x->begin[local], high = x->begin[local + 1];
	const uint32_t end = high;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (x->stores[middle] < loop->first)
			low = middle + 1;
		else
			high = middle;
	}
	return low < end && x->stores[low] < loop->last;
}

/* How many loops must stay around the instruction. */
static uint32_t level_of(const hoister *x, const pctl_function *fn, const pctl_inst *in,
			 uint32_t purity)
{
	const legal view = {.p = x->p, .fn = fn};
	legal_operands o = {.l = &view, .in = in};
	uint32_t level = 0, i, value;
	pctl_place place;

	if (purity == LEGAL_CONSTANT)
		return 0;
	while (level < x->depth && x->open[level].waits)
		level++;
	while (legal_next_operand(&o, &i, &value))
		if (x->level[fn->first_inst + value] > level)
			level = x->level[fn->first_inst + value];
	if (purity == LEGAL_OF_LOCAL && pctl_place_get(x->p, fn, in, &place))
		while (level < x->depth &&
		       is_stored(x, place.root & ~PCTL_PLACE_LOCAL, &x->open[level]))
			level++;
	if (purity == LEGAL_DEAR || purity == LEGAL_OF_LOCAL)
		while (level < x->depth && x->open[level].conditions != x->conditions)
			level++;
	return level;
}

static void hoist(hoister *x, const pctl_function *fn, uint32_t v, uint32_t level, int is_constant)
{
	open_loop *before = &x->open[level];
	const uint32_t at = fn->first_inst + v, loop = fn->first_inst + before->first;

	if (!is_constant) {
		if (before->n == MOST_HOISTED)
			return;
		before->n++;
		x->n++;
	}
	x->level[at] = level;
	x->is_hoisted[at] = 1;
	if (x->last[loop])
		x->next[fn->first_inst + x->last[loop] - 1] = v + 1;
	else
		x->first[loop] = v + 1;
	x->last[loop] = v + 1;
}

static void open_one(hoister *x, const pctl_function *fn, uint32_t v)
{
	open_loop *loop = &x->open[x->depth++];

	*loop = (open_loop){
		.first = v, .last = legal_loop_end(x->p, fn, v), .conditions = x->conditions};
	for (uint32_t i = v; i < loop->last && !loop->waits; i++)
		loop->waits = (uint32_t)legal_waits(&x->purity, &x->p->insts[fn->first_inst + i]);
}

static void function(hoister *x, const pctl_function *fn)
{
	x->depth = x->conditions = 0;
	find_stores(x, fn);
	for (uint32_t v = 0; v < fn->n_insts; v++) {
		const pctl_inst *in = &x->p->insts[fn->first_inst + v];
		uint32_t purity, level;

		x->level[fn->first_inst + v] = x->depth;
		if (in->op == PCTL_OP_LOOP)
			open_one(x, fn, v);
		x->depth -= in->op == PCTL_OP_END_LOOP;
		x->conditions += in->op == PCTL_OP_IF || in->op == PCTL_OP_SWITCH;
		x->conditions -= in->op == PCTL_OP_END_IF || in->op == PCTL_OP_END_SWITCH;
		if (!x->depth || !in->type)
			continue;
		purity = legal_purity_of(&x->purity, fn, in);
		if (purity == LEGAL_EFFECT)
			continue;
		level = level_of(x, fn, in, purity);
		if (level < x->depth)
			hoist(x, fn, v, level, purity == LEGAL_CONSTANT);
	}
}

/* ---- writing ------------------------------------------------------------------------------ */

static void instruction(legal *l, uint32_t v, const pctl_inst *in)
{
	const hoister *x = l->hoister;
	const uint32_t base = l->fn->first_inst;

	if (x->is_hoisted[base + v])
		return;
	for (uint32_t w = x->first[base + v]; w && in->op == PCTL_OP_LOOP;
	     w = x->next[base + w - 1]) {
		pctl_inst unproven = l->p->insts[base + w - 1];

		unproven.flags = 0;
		if (l->p->origins)
			pctl_build_origin(l->b, &l->p->origins[base + w - 1]);
		legal_int64_rules.instruction(l, w - 1, &unproven);
		if (l->p->origins)
			pctl_build_origin(l->b, &l->p->origins[base + v]);
	}
	legal_int64_rules.instruction(l, v, in);
}

pctl_status legal_hoist_pass(const pctl_program *p, const pctl_call *call, pctl_program **out)
{
	legal_rules rules = legal_int64_rules;
	hoister *x = calloc(1, sizeof(*x));
	legal l = {.call = call, .hoister = x};
	pctl_status status = PCTL_OK;

	*out = NULL;
	rules.instruction = instruction;
	if (!x)
		return pctl_no_memory(call, "legalising a program");
	x->p = p;
	x->level = calloc(p->n_insts + 1u, sizeof(*x->level));
	x->is_hoisted = calloc(p->n_insts + 1u, 1);
	x->first = calloc(p->n_insts + 1u, sizeof(*x->first));
	x->next = calloc(p->n_insts + 1u, sizeof(*x->next));
	x->last = calloc(p->n_insts + 1u, sizeof(*x->last));
	x->stores = calloc(p->n_insts + 1u, sizeof(*x->stores));
	x->begin = calloc(p->n_locals + 2u, sizeof(*x->begin));
	if (!legal_purity_open(&x->purity, p) || !x->level || !x->is_hoisted || !x->first ||
	    !x->next || !x->last || !x->stores || !x->begin)
		status = pctl_no_memory(call, "legalising a program");
	for (uint32_t f = 1; f < p->n_functions && status == PCTL_OK; f++)
		function(x, &p->functions[f]);
	if (status == PCTL_OK && x->n)
		status = legal_rebuild(&l, p, &rules, 0, NULL, out);
	legal_purity_close(&x->purity);
	free(x->level);
	free(x->is_hoisted);
	free(x->first);
	free(x->next);
	free(x->last);
	free(x->stores);
	free(x->begin);
	free(x);
	return status;
}
