/* The abstract interpreter's control flow: regions, branches that are joined again, loops brought to a fixed point,
 * calls followed, and barriers, which everyone must reach together. Recursion follows nesting: 256
 * regions deep in each of at most PCTL_INTERP_CALLS_MAX calls. */
#include <stdlib.h>
#include <string.h>

#include "compiler/analysis/interp.h"

static uint8_t least(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

void pctl_interp_give_up(pctl_interp *w)
{
	w->gave_up = 1;
}

int pctl_interp_is_uniform(const pctl_interp *w)
{
	const pctl_interp_target *t;

	if (w->divergent)
		return 0;
	for (t = w->target; t; t = t->outer) {
		if (t->diverged || t->continued)
			return 0;
	}
	return 1;
}

/* ---- branches ---- */

static pctl_interp_choice choice_of(pctl_interp *w, const pctl_absval *condition)
{
	pctl_interp_choice by = {condition, condition->uniform,
				 least(condition->shared, w->round_agrees)};

	return by;
}

void pctl_interp_assume(pctl_interp *w, const pctl_fact *facts)
{
	w->state.facts = pctl_fact_concat(&w->symbols, facts, w->state.facts);
}

static uint32_t branch(pctl_interp *w, uint32_t v)
{
	const uint32_t base = w->fn->first_inst;
	const pctl_absval *c = w->values[pctl_arg(w->p, &w->p->insts[base + v], 0)]->part[0];
	const pctl_interp_choice by = choice_of(w, c);
	const int divergent = c->uniform == PCTL_AGREE_NONE;
	pctl_interp_state other = pctl_interp_copy(w, &w->state), then;
	uint32_t at;

	w->divergent += (uint32_t)divergent;
	w->conditions++;
	if (c->exact && c->hi == 0)
		w->state.dead = 1;
	if (c->exact && c->lo == 1)
		other.dead = 1;
	pctl_interp_assume(w, c->yes);
	at = pctl_interp_region(w, v + 1);
	then = w->state;
	w->state = other;
	pctl_interp_assume(w, c->no);
	if (w->p->insts[base + at].op == PCTL_OP_ELSE)
		at = pctl_interp_region(w, at + 1);
	w->divergent -= (uint32_t)divergent;
	w->conditions--;
	if (then.dead && !w->state.dead)
		return at + 1; /* what follows knows that the condition was false */
	{
		pctl_interp_state rest = w->state;

		w->state = then;
		pctl_interp_join(w, &w->state, &rest, &by);
	}
	return at + 1;
}

void pctl_interp_open_target(pctl_interp *w, pctl_interp_target *t, uint32_t kind)
{
	t->outer = w->target;
	t->kind = kind;
	w->target = t;
}

void pctl_interp_close_target(pctl_interp *w, const pctl_interp_target *t)
{
	w->target = t->outer;
}

static uint32_t selection(pctl_interp *w, uint32_t v)
{
	const uint32_t base = w->fn->first_inst;
	const pctl_absval *c = w->values[pctl_arg(w->p, &w->p->insts[base + v], 0)]->part[0];
	const pctl_interp_state before = pctl_interp_copy(w, &w->state);
	const int divergent = c->uniform == PCTL_AGREE_NONE;
	pctl_interp_choice by = {NULL, c->uniform, least(c->shared, w->round_agrees)};
	pctl_interp_target target = {0};
	pctl_interp_state all = {.dead = 1};

	pctl_interp_open_target(w, &target, PCTL_OP_SWITCH);
	w->divergent += (uint32_t)divergent;
	w->conditions++;
	for (v++; w->p->insts[base + v].op == PCTL_OP_CASE && !w->gave_up;) {
		w->state = pctl_interp_copy(w, &before);
		v = pctl_interp_region(w, v + 1);
		pctl_interp_join(w, &all, &w->state, &by);
	}
	w->divergent -= (uint32_t)divergent;
	w->conditions--;
	if (target.diverged)
		by.uniform = by.shared = PCTL_AGREE_NONE;
	if (target.has_exit)
		pctl_interp_join(w, &all, &target.exit, &by);
	pctl_interp_close_target(w, &target);
	if (all.dead) {
		all = pctl_interp_copy(w, &before);
		all.dead = 1;
	}
	w->state = all;
	return v + 1;
}

/* ---- jumps ---- */

static void keep_state(pctl_interp *w, pctl_interp_state *into, int *has)
{
	const pctl_interp_choice by = {
		NULL, pctl_interp_is_uniform(w) ? PCTL_AGREE_GROUP : PCTL_AGREE_NONE,
		PCTL_AGREE_NONE};

	if (!*has)
		*into = pctl_interp_copy(w, &w->state);
	else
		pctl_interp_join(w, into, &w->state, &by);
	*has = 1;
}

static void jump(pctl_interp *w, uint16_t op, const pctl_absvec *result)
{
	pctl_interp_target *t = w->target;
	const int uniform = pctl_interp_is_uniform(w);

	while (t && !(op == PCTL_OP_RETURN  ? t->kind == PCTL_OP_CALL
		      : op == PCTL_OP_BREAK ? t->kind != PCTL_OP_CALL
					    : t->kind == PCTL_OP_LOOP))
		t = t->outer;
	if (t) {
		const pctl_interp_choice by = {NULL, uniform ? PCTL_AGREE_GROUP : PCTL_AGREE_NONE,
					       PCTL_AGREE_NONE};

		if (result && t->has_result)
			result = pctl_interp_joined_vec(w, &t->result, result, &by);
		if (result) {
			t->result = *result;
			t->has_result = 1;
		}
		keep_state(w, op == PCTL_OP_CONTINUE ? &t->next : &t->exit,
			   op == PCTL_OP_CONTINUE ? &t->has_next : &t->has_exit);
		if (!uniform && op == PCTL_OP_CONTINUE)
			t->continued = 1;
		else if (!uniform)
			t->diverged = 1;
	}
	/* Behind the jump, not everyone need be here any more. */
	w->state.dead = 1;
	if (op == PCTL_OP_RETURN && w->conditions)
		w->conditions |= 0x80000000u;
}

/* ---- calls and barriers ---- */

static const pctl_absvec *call(pctl_interp *w, const pctl_inst *in)
{
	const pctl_absvec **args = pctl_arena_array(w->arena, in->n_args, sizeof(*args));
	uint32_t i;

	if (!args)
		return NULL;
	for (i = 1; i < in->n_args; i++)
		args[i - 1] = w->values[pctl_arg(w->p, in, i)];
	return pctl_interp_function(w, pctl_arg(w->p, in, 0), args);
}

/* Everyone of a workgroup comes to what stands here, or it is refused, once. */
static void arrive(pctl_interp *w, uint32_t v, uint32_t code, const char *what)
{
	const uint32_t inst = w->fn->first_inst + v;

	if (pctl_interp_is_uniform(w))
		return;
	w->z->a->barriers_uniform = PCTL_PROOF_UNPROVEN;
	if (!w->reported[inst]) {
		const pctl_pos pos = pctl_analyse_position(w->p, inst);

		pctl_analyse_fail(w->z, pctl_refuse_at(w->z->call, code, &pos, NULL, "%s", what));
	}
	w->reported[inst] = 1;
}

static void barrier(pctl_interp *w, uint32_t v)
{
	arrive(w, v, PC2051_ANALYSE_BARRIER, "not every invocation need reach this barrier");
	w->state.intervals = pctl_interp_new_interval(w);
}

/* A subgroup operation or one on tiles: everyone arrives, as at a barrier, but no memory is ordered, so the interval
 * goes on. */
static void arrive_at_subgroup(pctl_interp *w, uint32_t v)
{
	arrive(w, v, PC2055_ANALYSE_SUBGROUP,
	       "not every invocation of the workgroup need reach this subgroup operation");
}

/* A workgroup must agree on the pointer of workgroupUniformLoad, or its value is not one. The caller
 * of the analysis decides on it: the first consensus rules took any. */
static void check_uniform_load(pctl_interp *w, const pctl_inst *in, uint32_t v)
{
	pctl_analysis *a = w->z->a;

	if (w->in_fixpoint || a->loads_uniform == PCTL_PROOF_UNPROVEN ||
	    pctl_interp_place_agreement(w, in) != PCTL_AGREE_NONE)
		return;
	a->loads_uniform = PCTL_PROOF_UNPROVEN;
	a->load_function = w->function;
	a->load_inst = v;
}

/* ---- regions ---- */

static void step(pctl_interp *w, uint32_t v)
{
	const pctl_inst *in = &w->p->insts[w->fn->first_inst + v];
	const pctl_op_info *info = pctl_op_get(in->op);
	const pctl_absvec *cell = NULL;

	if (pctl_interp_needs_all(w, in))
		arrive_at_subgroup(w, v);
	switch (in->op) {
	case PCTL_OP_PARAM:
		return; /* set by the caller */
	case PCTL_OP_BARRIER:
		barrier(w, v);
		return;
	case PCTL_OP_BREAK:
	case PCTL_OP_CONTINUE:
		jump(w, in->op, NULL);
		return;
	case PCTL_OP_RETURN:
		jump(w, in->op, in->n_args ? w->values[pctl_arg(w->p, in, 0)] : NULL);
		return;
	case PCTL_OP_BLOCK:
	case PCTL_OP_END_BLOCK:
		return;
	case PCTL_OP_LOAD_UNIFORM:
		barrier(w, v);
		cell = pctl_interp_memory(w, in, v);
		check_uniform_load(w, in, v);
		barrier(w, v);
		break;
	case PCTL_OP_CALL:
		cell = call(w, in);
		break;
	default:
		cell = info->kind == PCTL_OPKIND_memory || info->kind == PCTL_OPKIND_atomic
			       ? pctl_interp_memory(w, in, v)
		       : info->kind == PCTL_OPKIND_subgroup ? pctl_interp_subgroup(w, in)
		       : info->kind == PCTL_OPKIND_tile	    ? pctl_interp_tile(w, in, v)
							    : pctl_interp_value(w, in);
		break;
	}
	w->values[v] = cell;
	if (!cell)
		pctl_interp_give_up(w);
}

static int ends_region(uint16_t op)
{
	switch (op) {
	case PCTL_OP_ELSE:
	case PCTL_OP_END_IF:
	case PCTL_OP_CASE:
	case PCTL_OP_END_SWITCH:
	case PCTL_OP_LOOP_TEST:
	case PCTL_OP_CONTINUING:
	case PCTL_OP_END_LOOP:
		return 1;
	default:
		return 0;
	}
}

/* Skip a construct nobody reaches: the index behind it. */
static uint32_t skip(const pctl_interp *w, uint32_t v)
{
	const uint32_t base = w->fn->first_inst;
	uint32_t at = base + v;

	if (!w->z->next[at])
		return v + 1;
	while (w->z->next[at])
		at = w->z->next[at];
	return at - base + 1;
}

uint32_t pctl_interp_region(pctl_interp *w, uint32_t v)
{
	const uint32_t base = w->fn->first_inst;
	const uint32_t most =
		w->z->flags & PCTL_ANALYSE_BRIEF ? PCTL_INTERP_STEPS_BRIEF : PCTL_INTERP_STEPS_MAX;

	while (v < w->fn->n_insts) {
		const uint16_t op = w->p->insts[base + v].op;

		if (ends_region(op))
			return v;
		if (++w->steps > most || w->symbols.no_memory || pctl_arena_failed(w->arena))
			pctl_interp_give_up(w);
		if (w->state.dead || w->gave_up)
			v = skip(w, v);
		else if (op == PCTL_OP_IF)
			v = branch(w, v);
		else if (op == PCTL_OP_SWITCH)
			v = selection(w, v);
		else if (op == PCTL_OP_LOOP)
			v = pctl_interp_loop(w, v);
		else
			step(w, v++);
	}
	return v;
}

/* Follow a function: its result, or an empty cell. */
const pctl_absvec *pctl_interp_function(pctl_interp *w, uint32_t f, const pctl_absvec *const *args)
{
	static const pctl_absvec nothing = {0};
	const pctl_function *outer_fn = w->fn;
	const uint32_t outer_function = w->function, outer_base = w->local_base,
		       outer_slots = w->n_slots;
	const pctl_absvec **outer_values = w->values, *result = &nothing;
	pctl_interp_target target = {0};
	const pctl_fact *facts = w->state.facts;
	pctl_interp_state grown;
	uint32_t i;

	if (w->n_calls == PCTL_INTERP_CALLS_MAX) {
		pctl_interp_give_up(w);
		return NULL;
	}
	w->n_calls++;
	w->fn = &w->p->functions[f];
	w->function = f;
	w->local_base = w->n_slots;
	w->n_slots += w->fn->n_locals;
	w->values = calloc((size_t)w->fn->n_insts + 1, sizeof(*w->values));
	grown = w->state;
	grown.slots = pctl_arena_array(w->arena, w->n_slots + 1, sizeof(*grown.slots));
	if (!w->values || !grown.slots) {
		w->symbols.no_memory = 1;
		pctl_interp_give_up(w);
	} else {
		if (outer_slots)
			memcpy(grown.slots, w->state.slots, outer_slots * sizeof(*grown.slots));
		for (i = 0; i < w->fn->n_locals; i++)
			grown.slots[outer_slots + i] =
				pctl_absvec_zero(w, w->p->locals[w->fn->first_local + i].type);
		w->state = grown;
		for (i = 0; i < w->fn->n_params; i++)
			w->values[i] = args[i];
		w->steps += w->fn->n_insts / 8;
		pctl_interp_open_target(w, &target, PCTL_OP_CALL);
		pctl_interp_region(w, 0);
	}
	if (!w->gave_up) {
		const pctl_interp_choice by = {NULL,
					       target.diverged ? PCTL_AGREE_NONE : PCTL_AGREE_GROUP,
					       PCTL_AGREE_NONE};

		pctl_interp_close_target(w, &target);
		if (target.has_exit)
			pctl_interp_join(w, &w->state, &target.exit, &by);
		w->state.dead = 0;
		w->state.facts = facts;
		if (target.has_result) {
			pctl_absvec *copy = pctl_arena_alloc(w->arena, sizeof(*copy));

			if (copy)
				*copy = target.result;
			result = copy;
		}
	}
	free(w->values);
	w->values = outer_values;
	w->fn = outer_fn;
	w->function = outer_function;
	w->local_base = outer_base;
	w->n_slots = outer_slots;
	w->n_calls--;
	return result;
}
