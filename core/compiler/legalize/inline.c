/* Small functions of a strict program are written out where they are called, before the float pass: what crosses a
 * call has to be bits with its NaN put right, inside one function it can stay native. Only functions that return at
 * their very end; the rest stay calls. */
#include "compiler/legalize/legal_parts.h"

#include <stdlib.h>
#include <string.h>

#define SMALL 48u	     /* instructions of a function that is written out */
#define LARGEST_LOCAL 64u    /* bytes; locals start as zero at every call */
#define LARGEST_GROWTH 4096u /* instructions added to the whole program */

struct legal_inliner {
	const pctl_program *p;
	uint32_t *cost; /* by function: instructions written out, 0: stays a call */
};
typedef struct legal_inliner inliner;

/* The cost of a function with all it calls that is written out too; 0: not this one. Callees come first. */
static uint32_t cost_of(const inliner *x, const pctl_function *fn)
{
	const pctl_program *p = x->p;
	uint32_t cost = fn->n_insts, depth = 0;

	for (uint32_t i = 0; i < fn->n_locals; i++)
		if (p->types[p->locals[fn->first_local + i].type].size > LARGEST_LOCAL)
			return 0;
	for (uint32_t i = 0; i < fn->n_insts; i++) {
		const pctl_inst *in = &p->insts[fn->first_inst + i];

		if (in->op == PCTL_OP_RETURN && i + 1 != fn->n_insts)
			return 0;
		if (in->op == PCTL_OP_CALL) {
			if (!x->cost[pctl_arg(p, in, 0)])
				return 0;
			cost += x->cost[pctl_arg(p, in, 0)];
		}
		depth += in->op == PCTL_OP_LOOP;
	}
	return depth || cost > SMALL ? 0 : cost;
}

static const pctl_inst *call_of(const legal *l, uint32_t f, uint32_t i)
{
	return &l->p->insts[l->p->functions[f].first_inst + i];
}

static void instruction(legal *l, uint32_t v, const pctl_inst *in);

/* The body of f in the place of the call: parameters are the arguments, locals are new ones of the open function. */
static void write_out(legal *l, uint32_t v, const pctl_inst *call, uint32_t f)
{
	const pctl_function *caller = l->fn, *fn = &l->p->functions[f];
	const uint32_t base = l->local_base;
	legal_value *outer = l->values, *inner = calloc(fn->n_insts + 1u, sizeof(*inner));
	uint32_t first = 0;

	if (!inner) {
		legal_refuse_memory(l);
		return;
	}
	for (uint32_t i = 0; i < fn->n_params; i++)
		inner[i] = outer[pctl_arg(l->p, call, i + 1)];
	l->fn = fn;
	l->values = inner;
	for (uint32_t i = 0; i < fn->n_locals; i++) {
		const pctl_local *local = &l->p->locals[fn->first_local + i];
		const uint32_t type = legal_type(l, local->type);
		const uint32_t id = pctl_build_local(l->b, pctl_str(l->p, local->name), type);
		const uint32_t zero = legal_emit(l, PCTL_OP_ZERO, type, NULL, 0);

		legal_emit2(l, PCTL_OP_STORE, 0, zero, PCTL_PLACE_LOCAL | id);
		if (i == 0)
			first = id;
	}
	l->local_base = first;
	for (uint32_t i = 0; i < fn->n_insts && l->status == PCTL_OK; i++) {
		const pctl_inst *in = call_of(l, f, i);

		if (in->op == PCTL_OP_RETURN && in->n_args)
			outer[v] = inner[pctl_arg(l->p, in, 0)];
		else if (in->op != PCTL_OP_RETURN)
			instruction(l, i, in);
	}
	l->fn = caller;
	l->values = outer;
	l->local_base = base;
	free(inner);
}

static void instruction(legal *l, uint32_t v, const pctl_inst *in)
{
	const uint32_t f = in->op == PCTL_OP_CALL ? pctl_arg(l->p, in, 0) : 0;

	if (f && l->inliner->cost[f])
		write_out(l, v, in, f);
	else
		legal_int64_rules.instruction(l, v, in);
}

static int left_out(const legal *l, uint32_t f)
{
	return l->inliner->cost[f] != 0;
}

pctl_status legal_inline_pass(const pctl_program *p, const pctl_call *call, pctl_program **out)
{
	legal_rules rules = legal_int64_rules;
	inliner x = {.p = p, .cost = calloc(p->n_functions + 1u, sizeof(*x.cost))};
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	legal l = {.call = &quiet, .inliner = &x};
	uint32_t growth = 0;
	pctl_status status = PCTL_OK;

	*out = NULL;
	rules.instruction = instruction;
	rules.left_out = left_out;
	if (!x.cost)
		return pctl_refuse(call, PC2_NOMEM, "legalising a program");
	for (uint32_t f = 1; f < p->n_functions; f++) {
		const pctl_function *fn = &p->functions[f];
		int is_entry = 0;

		for (uint32_t i = 0; i < p->n_entries; i++)
			is_entry = is_entry || p->entries[i].function == f;
		x.cost[f] = is_entry ? 0 : cost_of(&x, fn);
		for (uint32_t i = 0; i < fn->n_insts; i++) {
			const pctl_inst *in = &p->insts[fn->first_inst + i];

			growth += in->op == PCTL_OP_CALL ? x.cost[pctl_arg(p, in, 0)] : 0;
		}
	}
	if (growth && growth <= LARGEST_GROWTH)
		status = legal_rebuild(&l, p, &rules, 0, NULL, out);
	/* Regions inside each other may now be deeper than a program's may be: then it stays as it is. */
	if (status == PCTL_E_INVALID)
		status = PCTL_OK;
	else if (status != PCTL_OK)
		status = pctl_refuse(call, PC2_NOMEM, "legalising a program");
	free(x.cost);
	return status;
}
