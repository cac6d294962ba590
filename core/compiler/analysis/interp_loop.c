/* The abstract interpreter's loops: who agrees on what they store is brought to a fixed point, then a round is
 * recorded, or two in a row where barriers part them. */
#include <string.h>

#include "compiler/analysis/interp.h"

static uint8_t least(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

typedef struct round {
	uint32_t start, test, update, end;
	uint32_t *slots;  /* stored in the loop */
	uint8_t *uniform; /* who agrees on them at the head */
	uint32_t n_slots;
	int has_barrier, crosses; /* every round passes a barrier */
	int divergent;		  /* some leave earlier than others */
	pctl_interp_target target;
} round;

static int add_slot(round *r, uint32_t slot, uint32_t cap)
{
	uint32_t i;

	for (i = 0; i < r->n_slots; i++) {
		if (r->slots[i] == slot)
			return 1;
	}
	if (r->n_slots == cap)
		return 0;
	r->slots[r->n_slots++] = slot;
	return 1;
}

/* What a loop stores and whether barriers stand in it. */
static int survey(pctl_interp *w, round *r)
{
	uint32_t depth = 0, v, i, continues = 0;

	r->slots = pctl_arena_array(w->arena, w->n_slots + 1, sizeof(*r->slots));
	r->uniform = pctl_arena_array(w->arena, w->n_slots + 1, 1);
	if (!r->slots || !r->uniform)
		return 0;
	for (v = r->start + 1; v < r->end; v++) {
		const pctl_inst *in = &w->p->insts[w->fn->first_inst + v];
		pctl_place pl;

		w->steps++;
		if (in->op == PCTL_OP_IF || in->op == PCTL_OP_SWITCH || in->op == PCTL_OP_LOOP ||
		    in->op == PCTL_OP_BLOCK)
			depth++;
		if (in->op == PCTL_OP_END_IF || in->op == PCTL_OP_END_SWITCH ||
		    in->op == PCTL_OP_END_LOOP || in->op == PCTL_OP_END_BLOCK)
			depth--;
		/* A CONTINUE of an inner loop is taken for one of this: it only weakens. */
		continues += in->op == PCTL_OP_CONTINUE;
		if (pctl_interp_is_barrier(in->op)) {
			r->has_barrier = 1;
			r->crosses |= depth == 0;
		}
		if (in->op == PCTL_OP_CALL) {
			const uint32_t callee = pctl_arg(w->p, in, 0);
			const uint8_t *written =
				w->writes ? w->writes + (size_t)callee * w->p->n_vars : w->written;

			r->has_barrier |= w->has_barrier[callee];
			for (i = 0; i < w->p->n_vars; i++) {
				if (w->p->vars[i].space == PCTL_SPACE_PRIVATE && written[i] &&
				    !add_slot(r, i, w->n_slots))
					return 0;
			}
		}
		if (in->op != PCTL_OP_STORE || !pctl_place_get(w->p, w->fn, in, &pl) ||
		    (pl.space != PCTL_SPACE_FUNCTION && pl.space != PCTL_SPACE_PRIVATE))
			continue;
		if (!add_slot(r,
			      pl.root & PCTL_PLACE_LOCAL
				      ? w->local_base + (pl.root & ~PCTL_PLACE_LOCAL)
				      : pl.root,
			      w->n_slots))
			return 0;
	}
	r->crosses = r->crosses && !continues;
	return 1;
}

static uint32_t slot_type(const pctl_interp *w, uint32_t slot)
{
	if (slot < w->p->n_vars)
		return w->p->vars[slot].type;
	return w->p->locals[w->fn->first_local + slot - w->local_base].type;
}

/* The loop variable at the head of some round: start + step * round. */
static const pctl_absvec *counter(pctl_interp *w, const pctl_loop_bound *b,
				  const pctl_absvec *start, uint8_t uniform)
{
	const pctl_absval *k = start->part[0], *rounds, *value;
	const uint8_t shared = least(least(uniform, PCTL_AGREE_GROUP), w->round_agrees);
	pctl_affine f;

	if (start->n != 1 || b->step >= 1ull << 32 || b->max_iterations >= 1ull << 32)
		return NULL;
	if (b->step_op == PCTL_OP_SHR && k->exact && k->lo >= 0) {
		value = pctl_absval_fresh(&w->symbols, k->scalar, 0, k->hi, uniform, shared);
		return pctl_absvec_of(w, &value, 1);
	}
	if (b->step_op != PCTL_OP_ADD && b->step_op != PCTL_OP_SUB)
		return NULL;
	rounds = pctl_absval_fresh(&w->symbols, k->scalar, 0, (int64_t)b->max_iterations,
				   PCTL_AGREE_GROUP, least(PCTL_AGREE_GROUP, w->round_agrees));
	if (!rounds ||
	    !pctl_affine_add(&k->form, &rounds->form,
			     b->step_op == PCTL_OP_ADD ? (int64_t)b->step : -(int64_t)b->step, &f))
		return NULL;
	value = pctl_absval_affine(&w->symbols, k->scalar, &f, least(k->uniform, rounds->uniform),
				   least(k->shared, rounds->shared), w->state.facts);
	return pctl_absvec_of(w, &value, 1);
}

/* The state at the head of any round. */
static void enter_head(pctl_interp *w, const round *r, const pctl_interp_state *before,
		       const pctl_loop_bound *b)
{
	uint32_t i;

	for (i = 0; i < r->n_slots && !w->gave_up; i++) {
		const uint32_t slot = r->slots[i];
		const pctl_absvec *cell = NULL;

		if (b->bound_kind && b->local != PCTL_NONE && slot == w->local_base + b->local)
			cell = counter(w, b, before->slots[slot], r->uniform[i]);
		if (!cell)
			cell = pctl_absvec_fresh(w, slot_type(w, slot), r->uniform[i],
						 least(r->uniform[i], PCTL_AGREE_GROUP));
		w->state.slots[slot] = cell;
		if (!cell)
			pctl_interp_give_up(w);
	}
}

/* One round from the head: afterwards w->state is that of the way back, *leaves that of the test's
 * exit. */
static void one_round(pctl_interp *w, round *r, pctl_interp_state *leaves)
{
	const uint32_t base = w->fn->first_inst;
	const pctl_absval *c;
	pctl_interp_choice by = {NULL, PCTL_AGREE_GROUP, PCTL_AGREE_NONE};
	const int late = r->divergent; /* some left in an earlier round */
	int divergent;

	r->target.continued = 0;
	r->target.has_next = 0;
	w->divergent += (uint32_t)late;
	pctl_interp_region(w, r->start + 1);
	w->divergent -= (uint32_t)late;
	if (w->gave_up)
		return;
	*leaves = pctl_interp_copy(w, &w->state);
	if (r->crosses) {
		/* All go on together, or all leave: the body and what follows the loop exclude each
		 * other. */
		leaves->intervals = pctl_interp_later_part(w, leaves->intervals);
		w->state.intervals = pctl_interp_later_part(w, w->state.intervals);
	}
	c = w->values[pctl_arg(w->p, &w->p->insts[base + r->test], 0)]->part[0];
	divergent = late || c->uniform == PCTL_AGREE_NONE;
	r->divergent = divergent;
	w->divergent += (uint32_t)divergent;
	pctl_interp_assume(w, c->yes);
	pctl_interp_region(w, r->test + 1);
	if (r->target.has_next) {
		if (r->target.continued)
			by.uniform = PCTL_AGREE_NONE;
		pctl_interp_join(w, &w->state, &r->target.next, &by);
	}
	r->target.continued = 0;
	if (w->state.dead) {
		/* Every way out of the body is a jump: there is no further round, but its code is
		 * still looked at. */
		w->state = pctl_interp_copy(w, leaves);
	}
	pctl_interp_region(w, r->update + 1);
	w->divergent -= (uint32_t)divergent;
}

/* Who agrees at the head, when it is at most what the way back brings; 1 when something had to be
 * lowered. */
static int lower(pctl_interp *w, round *r)
{
	uint32_t i;
	int changed = 0;

	for (i = 0; i < r->n_slots; i++) {
		const uint8_t back = pctl_absvec_uniform(w->state.slots[r->slots[i]]);

		if (back < r->uniform[i]) {
			r->uniform[i] = back;
			changed = 1;
		}
	}
	return changed;
}

/* Behind the loop: what it stored is some value of those that left. */
static void leave_loop(pctl_interp *w, const round *r)
{
	const uint8_t agree =
		r->divergent || r->target.diverged ? PCTL_AGREE_NONE : PCTL_AGREE_GROUP;
	uint32_t i, j;

	for (i = 0; i < r->n_slots && !w->gave_up; i++) {
		const pctl_absvec *old = w->state.slots[r->slots[i]];
		const uint8_t uniform = least(agree, pctl_absvec_uniform(old));
		const pctl_absval *parts[4];

		for (j = 0; j < old->n; j++) {
			const pctl_absval *k = old->part[j];

			parts[j] = pctl_absval_fresh(&w->symbols, k->scalar, k->lo, k->hi, uniform,
						     least(uniform, w->round_agrees));
		}
		w->state.slots[r->slots[i]] = pctl_absvec_of(w, parts, old->n);
		if (!w->state.slots[r->slots[i]])
			pctl_interp_give_up(w);
	}
}

uint32_t pctl_interp_loop(pctl_interp *w, uint32_t v)
{
	const uint32_t base = w->fn->first_inst;
	const pctl_loop_bound *b = &w->z->a->loops[w->z->loop_of[base + v]];
	const uint8_t agreed = w->round_agrees;
	const pctl_interp_state before = pctl_interp_copy(w, &w->state);
	const pctl_interp_choice by = {NULL, PCTL_AGREE_GROUP, PCTL_AGREE_NONE};
	round r = {.start = v, .test = b->test, .update = b->update};
	pctl_interp_state leaves = {.dead = 1}, out = {.dead = 1};
	uint32_t i, rounds;
	int diverged;

	r.end = w->z->next[base + b->update] - base;
	if (!survey(w, &r)) {
		pctl_interp_give_up(w);
		return r.end + 1;
	}
	for (i = 0; i < r.n_slots; i++)
		r.uniform[i] = pctl_absvec_uniform(before.slots[r.slots[i]]);
	w->round_agrees = r.crosses ? agreed : PCTL_AGREE_NONE;
	pctl_interp_open_target(w, &r.target, PCTL_OP_LOOP);
	w->conditions++;
	w->in_fixpoint++;
	do {
		diverged = r.target.diverged + r.divergent;
		w->state = pctl_interp_copy(w, &before);
		enter_head(w, &r, &before, b);
		one_round(w, &r, &leaves);
	} while (!w->gave_up && (lower(w, &r) || diverged != r.target.diverged + r.divergent));
	w->in_fixpoint--;
	/* One round more, or two in a row where barriers part them, with their accesses recorded.
	 */
	w->state = pctl_interp_copy(w, &before);
	for (rounds = 0; rounds < (r.has_barrier ? 2u : 1u) && !w->gave_up && !w->in_fixpoint;
	     rounds++) {
		r.target.has_exit = 0;
		enter_head(w, &r, &before, b);
		w->state.facts = before.facts;
		w->state.dead = 0;
		one_round(w, &r, &leaves);
		pctl_interp_join(w, &out, &leaves, &by);
		if (r.target.has_exit)
			pctl_interp_join(w, &out, &r.target.exit, &by);
	}
	if (w->in_fixpoint) {
		pctl_interp_join(w, &out, &leaves, &by);
		if (r.target.has_exit)
			pctl_interp_join(w, &out, &r.target.exit, &by);
	}
	pctl_interp_close_target(w, &r.target);
	w->conditions--;
	w->round_agrees = agreed;
	if (!w->gave_up) {
		out.facts = before.facts;
		/* Without a round that is sure to pass a barrier, what follows may meet what came
		 * before. */
		if (!out.intervals)
			out.intervals = before.intervals;
		else if (!r.crosses)
			out.intervals =
				pctl_interp_joined_intervals(w, out.intervals, before.intervals);
		out.dead = 0;
		w->state = out;
		leave_loop(w, &r);
	}
	return r.end + 1;
}
