/* What the compiler could not do without, by the places of the kernel's text; see tune.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/legalize/contract.h"
#include "host/tune_private.h"

typedef struct remarks {
	pctl_tuning *x;
	const pctl_call *call;
	uint32_t capacity;
	pctl_status status;
} remarks;

/* Said once of a place, whatever number of instructions it became. */
static void remark(remarks *r, const char *kind, const pctl_origin *at, char *text)
{
	pctl_tune_result *to = r->x->result;
	const uint32_t line = at == NULL ? 0 : at->line, column = at == NULL ? 0 : at->column;

	if (r->status == PCTL_OK && text == NULL)
		r->status = pctl_no_memory(r->call, "remarks");
	for (uint32_t i = 0; r->status == PCTL_OK && i < to->n_remarks; i++)
		if (to->remarks[i].line == line && to->remarks[i].column == column &&
		    strcmp(to->remarks[i].text, text) == 0)
			return;
	if (r->status != PCTL_OK)
		return;
	if (to->n_remarks == r->capacity) {
		const uint32_t more = r->capacity == 0 ? 16 : 2 * r->capacity;
		pctl_tune_remark *grown = pctl_arena_array(to->arena, more, sizeof(*grown));

		if (grown == NULL) {
			r->status = pctl_no_memory(r->call, "remarks");
			return;
		}
		if (to->n_remarks != 0)
			memcpy(grown, to->remarks, to->n_remarks * sizeof(*grown));
		to->remarks = grown;
		r->capacity = more;
	}
	to->remarks[to->n_remarks++] = (pctl_tune_remark){kind, text, line, column};
}

static const pctl_origin *origin_of(const pctl_program *p, uint32_t inst)
{
	return p->origins != NULL && p->origins[inst].file == 0 && p->origins[inst].line != 0
		       ? &p->origins[inst]
		       : NULL;
}

/* ---- indices -------------------------------------------------------------------------------- */

static const char *root_name(const pctl_program *p, const pctl_function *fn, uint32_t root)
{
	return root & PCTL_PLACE_LOCAL
		       ? pctl_str(p, p->locals[fn->first_local + (root & ~PCTL_PLACE_LOCAL)].name)
		       : pctl_str(p, p->vars[root].name);
}

/* A step of the place needs a check wherever the device runs it. */
static int is_guarded(const pctl_program *p, const pctl_inst *in, const pctl_place *place)
{
	uint32_t type = place->root_type;

	for (uint32_t i = 0; i < place->n_chain; i++) {
		if (p->types[type].kind != PCTL_TYPE_STRUCT &&
		    (i >= 16 || !(in->flags & PCTL_INST_PROVEN(i))))
			return 1;
		type = pctl_type_step(p, type, p->words[place->chain + i]);
	}
	return 0;
}

static void find_guards(remarks *r, const pctl_program *p)
{
	for (uint32_t f = 1; f < p->n_functions; f++) {
		const pctl_function *fn = &p->functions[f];

		for (uint32_t i = fn->first_inst; i < fn->first_inst + fn->n_insts; i++) {
			pctl_place place;

			if (pctl_place_get(p, fn, &p->insts[i], &place) &&
			    !pctl_tile_moved(p, fn, &p->insts[i]) &&
			    is_guarded(p, &p->insts[i], &place) && origin_of(p, i) != NULL)
				remark(r, "guard", origin_of(p, i),
				       pctl_arena_printf(
					       r->x->result->arena,
					       "an index of \"%s\" is not proven in bounds, and "
					       "is checked, each time or before its loop",
					       root_name(p, fn, place.root)));
		}
	}
}

/* ---- loops ---------------------------------------------------------------------------------- */

static void find_turns(remarks *r, const pctl_kernel_module *u)
{
	const pctl_analysis *a = u->analysis;

	for (uint32_t i = 0; i < a->n_loops; i++) {
		const uint32_t at =
			u->program->functions[a->loops[i].function].first_inst + a->loops[i].inst;

		if (a->loops[i].bound_kind == PCTL_BOUND_BUDGET)
			remark(r, "turns", origin_of(u->program, at),
			       pctl_arena_printf(r->x->result->arena,
						 "nothing bounds this loop: it counts its turns, "
						 "at most %" PRIu32,
						 u->turns));
	}
}

/* ---- operations ----------------------------------------------------------------------------- */

static int has_function(const pctl_program *p, const char *name)
{
	for (uint32_t f = 1; f < p->n_functions; f++)
		if (strcmp(pctl_str(p, p->functions[f].name), name) == 0)
			return 1;
	return 0;
}

/* Calls that the legaliser made of operations. */
static void find_calls(remarks *r, const pctl_program *written, const pctl_program *legal)
{
	for (uint32_t i = 0; i < legal->n_insts; i++) {
		const pctl_inst *in = &legal->insts[i];
		const char *callee;

		if (in->op != PCTL_OP_CALL || origin_of(legal, i) == NULL)
			continue;
		callee = pctl_str(legal, legal->functions[pctl_arg(legal, in, 0)].name);
		if (!has_function(written, callee))
			remark(r, "call", origin_of(legal, i),
			       pctl_arena_printf(r->x->result->arena,
						 "this device has no exact operation for it: it "
						 "calls %s",
						 callee));
	}
}

static pctl_status find_contract(remarks *r, pctl_session *s, const pctl_kernel_module *u)
{
	const pctl_contract_proof *proof;
	const pctl_status status = pctl_session_contract(s, u, r->call, &proof);
	pctl_arena *arena = r->x->result->arena;
	pctl_origin at;

	if (status != PCTL_OK)
		return status;
	at = (pctl_origin){.line = proof->where.line, .column = proof->where.column};
	if (proof->verdict == PCTL_CONTRACT_PROVEN)
		remark(r, "contract", NULL,
		       pctl_arena_printf(arena,
					 "%" PRIu32 " float operations have guards, but for "
					 "buffers in the range "
					 "contract (zero, or from 2^%d to 2^%d)",
					 proof->n_operations, PCTL_CONTRACT_LEAST,
					 PCTL_CONTRACT_MOST));
	else if (proof->verdict == PCTL_CONTRACT_UNPROVEN)
		remark(r, "contract", proof->where.file == 0 ? &at : NULL,
		       pctl_arena_printf(arena,
					 "float operations have guards whatever the buffers hold: "
					 "%s",
					 proof->why));
	return PCTL_OK;
}

static int by_place(const void *a, const void *b)
{
	const pctl_tune_remark *x = a, *y = b;

	if (x->line != y->line)
		return (x->line > y->line) - (x->line < y->line);
	if (x->column != y->column)
		return (x->column > y->column) - (x->column < y->column);
	return strcmp(x->text, y->text);
}

pctl_status pctl_tune_remarks(pctl_tuning *x, const pctl_run_observation *view,
			      const pctl_call *call)
{
	const pctl_kernel_module *u = pctl_tune_step(view->plan)->unit;
	remarks r = {x, call, 0, PCTL_OK};
	pctl_program *legal = NULL;

	if (pctl_session_kind(view->session) != PCTL_DEVICE_REFERENCE) {
		find_guards(&r, u->program);
		if (r.status == PCTL_OK)
			r.status = pctl_session_legal(view->session, u, call, &legal);
		if (r.status == PCTL_OK)
			find_calls(&r, u->program, legal);
		if (r.status == PCTL_OK)
			r.status = find_contract(&r, view->session, u);
		pctl_program_destroy(legal);
	}
	find_turns(&r, u);
	if (r.status == PCTL_OK && x->result->n_remarks > 1)
		qsort(x->result->remarks, x->result->n_remarks, sizeof(*x->result->remarks),
		      by_place);
	return r.status;
}
