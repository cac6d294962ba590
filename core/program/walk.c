/* The walk's control flow: regions, branches that are joined again, loops brought to a fixed point,
 * calls followed, and barriers, which everyone must reach together. Recursion follows nesting: 256
 * regions deep in each of at most PCTL_WALK_CALLS_MAX calls. */
#include <stdlib.h>
#include <string.h>

#include "program/walk.h"

static uint32_t region(pctl_walk *w, uint32_t v);

static uint8_t least(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

static void give_up(pctl_walk *w)
{
	w->gave_up = 1;
}

int pctl_walk_is_uniform(const pctl_walk *w)
{
	const pctl_walk_target *t;

	if (w->divergent)
		return 0;
	for (t = w->target; t; t = t->outer) {
		if (t->diverged || t->continued)
			return 0;
	}
	return 1;
}

/* ---- states ---- */

static pctl_walk_state copy_of(pctl_walk *w, const pctl_walk_state *from)
{
	pctl_walk_state s = *from;

	s.slots = pctl_arena_array(w->arena, w->n_slots + 1, sizeof(*s.slots));
	w->steps += w->n_slots / 8;
	if (!s.slots) {
		give_up(w);
		return *from;
	}
	if (w->n_slots)
		memcpy(s.slots, from->slots, w->n_slots * sizeof(*s.slots));
	return s;
}

static const pctl_intervals *joined_intervals(pctl_walk *w, const pctl_intervals *a,
					      const pctl_intervals *b)
{
	pctl_intervals *all;
	uint32_t i = 0, j = 0;

	if (a == b)
		return a;
	all = pctl_arena_alloc(w->arena,
			       sizeof(*all) + ((size_t)a->n + b->n) * sizeof(all->number[0]));
	if (!all) {
		give_up(w);
		return a;
	}
	while (i < a->n || j < b->n) {
		if (j == b->n || (i < a->n && a->number[i] < b->number[j]))
			all->number[all->n++] = a->number[i++];
		else if (i == a->n || b->number[j] < a->number[i])
			all->number[all->n++] = b->number[j++];
		else
			all->number[all->n++] = a->number[i++], j++;
	}
	return all;
}

static const pctl_intervals *new_interval(pctl_walk *w)
{
	pctl_intervals *one = pctl_arena_alloc(w->arena, sizeof(*one) + sizeof(one->number[0]));

	if (!one || !PCTL_VEC_PUSH(&w->parents, PCTL_NONE)) {
		give_up(w);
		return w->state.intervals;
	}
	one->n = 1;
	one->number[0] = w->parents.n - 1;
	return one;
}

/* A later part of each of the intervals, that excludes other such parts. */
static const pctl_intervals *later_part(pctl_walk *w, const pctl_intervals *of)
{
	pctl_intervals *all =
		pctl_arena_alloc(w->arena, sizeof(*all) + of->n * sizeof(all->number[0]));
	uint32_t i;

	for (i = 0; all && i < of->n; i++) {
		if (!PCTL_VEC_PUSH(&w->parents, of->number[i]))
			break;
		all->number[all->n++] = w->parents.n - 1;
	}
	if (!all || all->n < of->n) {
		give_up(w);
		return of;
	}
	return all;
}

/* The branch taken, for the facts of a bool that is set on one side only; NULL where there was
 * none. */
typedef struct choice {
	const pctl_known *condition; /* side a is where it is true; NULL: nothing is known */
	uint8_t uniform, shared;     /* who goes the same way */
} choice;

/* `value` is certainly `truth` on the side where `condition` is `side`. */
static int is_certain(const pctl_known *value, int truth, const pctl_known *condition, int side)
{
	pctl_form f;

	if (value->lo == value->hi)
		return value->lo == truth;
	if (!condition)
		return 0;
	if (pctl_form_same(&value->form, &condition->form))
		return side == truth;
	return pctl_form_add(&value->form, &condition->form, 1, &f) && f.n == 0 &&
	       f.constant == 1 && side != truth;
}

/* What a joined bool tells: the other side is excluded when the value is certain there. */
static void join_facts(pctl_walk *w, pctl_known *k, const pctl_known *a, const pctl_known *b,
		       const pctl_known *c)
{
	if (!c)
		return;
	if (is_certain(b, 0, c, 0))
		k->yes = pctl_fact_concat(&w->symbols, c->yes, a->yes);
	else if (is_certain(a, 0, c, 1))
		k->yes = pctl_fact_concat(&w->symbols, c->no, b->yes);
	if (is_certain(b, 1, c, 0))
		k->no = pctl_fact_concat(&w->symbols, c->yes, a->no);
	else if (is_certain(a, 1, c, 1))
		k->no = pctl_fact_concat(&w->symbols, c->no, b->no);
}

static const pctl_known *joined_known(pctl_walk *w, const pctl_known *a, const pctl_known *b,
				      const choice *by)
{
	const int64_t lo = a->lo < b->lo ? a->lo : b->lo, hi = a->hi > b->hi ? a->hi : b->hi;
	const pctl_known *fresh;
	pctl_known *k;

	if (pctl_known_same(a, b))
		return a;
	fresh = pctl_known_fresh(
		&w->symbols, a->scalar, lo, hi, least(by->uniform, least(a->uniform, b->uniform)),
		least(w->round_agrees, least(by->shared, least(a->shared, b->shared))));
	if (!fresh || a->scalar != PCTL_SCALAR_BOOL)
		return fresh;
	k = pctl_arena_alloc(w->arena, sizeof(*k));
	if (!k)
		return NULL;
	*k = *fresh;
	join_facts(w, k, a, b, by->condition);
	return k;
}

static const pctl_cell *joined_cell(pctl_walk *w, const pctl_cell *a, const pctl_cell *b,
				    const choice *by)
{
	const pctl_known *parts[4];
	uint32_t i;

	if (a == b || a->n != b->n)
		return a;
	for (i = 0; i < a->n; i++)
		parts[i] = joined_known(w, a->part[i], b->part[i], by);
	return pctl_cell_of(w, parts, a->n);
}

/* Facts that hold on both ways: the common tail. */
static const pctl_fact *common_facts(const pctl_fact *a, const pctl_fact *b)
{
	const pctl_fact *x, *y;
	uint32_t n, m;

	for (x = a, n = 0; x && n < 256; x = x->next, n++) {
		for (y = b, m = 0; y && m < 256; y = y->next, m++) {
			if (x == y)
				return x;
		}
	}
	return NULL;
}

/* *into = both; either may be dead. */
static void join(pctl_walk *w, pctl_walk_state *into, const pctl_walk_state *other,
		 const choice *by)
{
	uint32_t i;

	if (other->dead)
		return;
	if (into->dead) {
		*into = *other;
		return;
	}
	for (i = 0; i < w->n_slots && !w->gave_up; i++) {
		into->slots[i] = joined_cell(w, into->slots[i], other->slots[i], by);
		if (!into->slots[i])
			give_up(w);
	}
	into->facts = common_facts(into->facts, other->facts);
	into->intervals = joined_intervals(w, into->intervals, other->intervals);
	w->steps += w->n_slots / 8;
}

/* ---- branches ---- */

static choice choice_of(pctl_walk *w, const pctl_known *condition)
{
	choice by = {condition, condition->uniform, least(condition->shared, w->round_agrees)};

	return by;
}

static void assume(pctl_walk *w, const pctl_fact *facts)
{
	w->state.facts = pctl_fact_concat(&w->symbols, facts, w->state.facts);
}

static uint32_t branch(pctl_walk *w, uint32_t v)
{
	const uint32_t base = w->fn->first_inst;
	const pctl_known *c = w->values[pctl_arg(w->p, &w->p->insts[base + v], 0)]->part[0];
	const choice by = choice_of(w, c);
	const int divergent = c->uniform == PCTL_AGREE_NONE;
	pctl_walk_state other = copy_of(w, &w->state), then;
	uint32_t at;

	w->divergent += (uint32_t)divergent;
	w->conditions++;
	if (c->exact && c->hi == 0)
		w->state.dead = 1;
	if (c->exact && c->lo == 1)
		other.dead = 1;
	assume(w, c->yes);
	at = region(w, v + 1);
	then = w->state;
	w->state = other;
	assume(w, c->no);
	if (w->p->insts[base + at].op == PCTL_OP_ELSE)
		at = region(w, at + 1);
	w->divergent -= (uint32_t)divergent;
	w->conditions--;
	if (then.dead && !w->state.dead)
		return at + 1; /* what follows knows that the condition was false */
	{
		pctl_walk_state rest = w->state;

		w->state = then;
		join(w, &w->state, &rest, &by);
	}
	return at + 1;
}

static void open_target(pctl_walk *w, pctl_walk_target *t, uint32_t kind)
{
	t->outer = w->target;
	t->kind = kind;
	w->target = t;
}

static void close_target(pctl_walk *w, const pctl_walk_target *t)
{
	w->target = t->outer;
}

static uint32_t selection(pctl_walk *w, uint32_t v)
{
	const uint32_t base = w->fn->first_inst;
	const pctl_known *c = w->values[pctl_arg(w->p, &w->p->insts[base + v], 0)]->part[0];
	const pctl_walk_state before = copy_of(w, &w->state);
	const int divergent = c->uniform == PCTL_AGREE_NONE;
	choice by = {NULL, c->uniform, least(c->shared, w->round_agrees)};
	pctl_walk_target target = {0};
	pctl_walk_state all = {.dead = 1};

	open_target(w, &target, PCTL_OP_SWITCH);
	w->divergent += (uint32_t)divergent;
	w->conditions++;
	for (v++; w->p->insts[base + v].op == PCTL_OP_CASE && !w->gave_up;) {
		w->state = copy_of(w, &before);
		v = region(w, v + 1);
		join(w, &all, &w->state, &by);
	}
	w->divergent -= (uint32_t)divergent;
	w->conditions--;
	if (target.diverged)
		by.uniform = by.shared = PCTL_AGREE_NONE;
	if (target.has_exit)
		join(w, &all, &target.exit, &by);
	close_target(w, &target);
	if (all.dead) {
		all = copy_of(w, &before);
		all.dead = 1;
	}
	w->state = all;
	return v + 1;
}

/* ---- jumps ---- */

static void keep_state(pctl_walk *w, pctl_walk_state *into, int *has)
{
	const choice by = {NULL, pctl_walk_is_uniform(w) ? PCTL_AGREE_GROUP : PCTL_AGREE_NONE,
			   PCTL_AGREE_NONE};

	if (!*has)
		*into = copy_of(w, &w->state);
	else
		join(w, into, &w->state, &by);
	*has = 1;
}

static void jump(pctl_walk *w, uint16_t op, const pctl_cell *result)
{
	pctl_walk_target *t = w->target;
	const int uniform = pctl_walk_is_uniform(w);

	while (t && !(op == PCTL_OP_RETURN  ? t->kind == PCTL_OP_CALL
		      : op == PCTL_OP_BREAK ? t->kind != PCTL_OP_CALL
					    : t->kind == PCTL_OP_LOOP))
		t = t->outer;
	if (t) {
		const choice by = {NULL, uniform ? PCTL_AGREE_GROUP : PCTL_AGREE_NONE,
				   PCTL_AGREE_NONE};

		if (result && t->has_result)
			result = joined_cell(w, &t->result, result, &by);
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

/* ---- loops ---- */

typedef struct round {
	uint32_t start, test, update, end;
	uint32_t *slots;  /* stored in the loop */
	uint8_t *uniform; /* who agrees on them at the head */
	uint32_t n_slots;
	int has_barrier, crosses; /* every round passes a barrier */
	int divergent;		  /* some leave earlier than others */
	pctl_walk_target target;
} round;

static int is_barrier(uint16_t op)
{
	return op == PCTL_OP_BARRIER || op == PCTL_OP_LOAD_UNIFORM;
}

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
static int survey(pctl_walk *w, round *r)
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
		if (is_barrier(in->op)) {
			r->has_barrier = 1;
			r->crosses |= depth == 0;
		}
		if (in->op == PCTL_OP_CALL) {
			r->has_barrier |= w->has_barrier[pctl_arg(w->p, in, 0)];
			for (i = 0; i < w->p->n_vars; i++) {
				if (w->p->vars[i].space == PCTL_SPACE_PRIVATE && w->written[i] &&
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

static uint32_t slot_type(const pctl_walk *w, uint32_t slot)
{
	if (slot < w->p->n_vars)
		return w->p->vars[slot].type;
	return w->p->locals[w->fn->first_local + slot - w->local_base].type;
}

/* The loop variable at the head of some round: start + step * round. */
static const pctl_cell *counter(pctl_walk *w, const pctl_loop_bound *b, const pctl_cell *start,
				uint8_t uniform)
{
	const pctl_known *k = start->part[0], *rounds, *value;
	const uint8_t shared = least(least(uniform, PCTL_AGREE_GROUP), w->round_agrees);
	pctl_form f;

	if (start->n != 1 || b->step >= 1ull << 32 || b->max_iterations >= 1ull << 32)
		return NULL;
	if (b->step_op == PCTL_OP_SHR && k->exact && k->lo >= 0) {
		value = pctl_known_fresh(&w->symbols, k->scalar, 0, k->hi, uniform, shared);
		return pctl_cell_of(w, &value, 1);
	}
	if (b->step_op != PCTL_OP_ADD && b->step_op != PCTL_OP_SUB)
		return NULL;
	rounds = pctl_known_fresh(&w->symbols, k->scalar, 0, (int64_t)b->max_iterations,
				  PCTL_AGREE_GROUP, least(PCTL_AGREE_GROUP, w->round_agrees));
	if (!rounds ||
	    !pctl_form_add(&k->form, &rounds->form,
			   b->step_op == PCTL_OP_ADD ? (int64_t)b->step : -(int64_t)b->step, &f))
		return NULL;
	value = pctl_known_form(&w->symbols, k->scalar, &f, least(k->uniform, rounds->uniform),
				least(k->shared, rounds->shared), w->state.facts);
	return pctl_cell_of(w, &value, 1);
}

/* The state at the head of any round. */
static void enter_head(pctl_walk *w, const round *r, const pctl_walk_state *before,
		       const pctl_loop_bound *b)
{
	uint32_t i;

	for (i = 0; i < r->n_slots && !w->gave_up; i++) {
		const uint32_t slot = r->slots[i];
		const pctl_cell *cell = NULL;

		if (b->bounded && slot == w->local_base + b->local)
			cell = counter(w, b, before->slots[slot], r->uniform[i]);
		if (!cell)
			cell = pctl_cell_fresh(w, slot_type(w, slot), r->uniform[i],
					       least(r->uniform[i], PCTL_AGREE_GROUP));
		w->state.slots[slot] = cell;
		if (!cell)
			give_up(w);
	}
}

/* One round from the head: afterwards w->state is that of the way back, *leaves that of the test's
 * exit. */
static void one_round(pctl_walk *w, round *r, pctl_walk_state *leaves)
{
	const uint32_t base = w->fn->first_inst;
	const pctl_known *c;
	choice by = {NULL, PCTL_AGREE_GROUP, PCTL_AGREE_NONE};
	const int late = r->divergent; /* some left in an earlier round */
	int divergent;

	r->target.continued = 0;
	r->target.has_next = 0;
	w->divergent += (uint32_t)late;
	region(w, r->start + 1);
	w->divergent -= (uint32_t)late;
	if (w->gave_up)
		return;
	*leaves = copy_of(w, &w->state);
	if (r->crosses) {
		/* All go on together, or all leave: the body and what follows the loop exclude each
		 * other. */
		leaves->intervals = later_part(w, leaves->intervals);
		w->state.intervals = later_part(w, w->state.intervals);
	}
	c = w->values[pctl_arg(w->p, &w->p->insts[base + r->test], 0)]->part[0];
	divergent = late || c->uniform == PCTL_AGREE_NONE;
	r->divergent = divergent;
	w->divergent += (uint32_t)divergent;
	assume(w, c->yes);
	region(w, r->test + 1);
	if (r->target.has_next) {
		if (r->target.continued)
			by.uniform = PCTL_AGREE_NONE;
		join(w, &w->state, &r->target.next, &by);
	}
	r->target.continued = 0;
	if (w->state.dead) {
		/* Every way out of the body is a jump: there is no further round, but its code is
		 * still looked at. */
		w->state = copy_of(w, leaves);
	}
	region(w, r->update + 1);
	w->divergent -= (uint32_t)divergent;
}

/* Who agrees at the head, when it is at most what the way back brings; 1 when something had to be
 * lowered. */
static int lower(pctl_walk *w, round *r)
{
	uint32_t i;
	int changed = 0;

	for (i = 0; i < r->n_slots; i++) {
		const uint8_t back = pctl_cell_uniform(w->state.slots[r->slots[i]]);

		if (back < r->uniform[i]) {
			r->uniform[i] = back;
			changed = 1;
		}
	}
	return changed;
}

/* Behind the loop: what it stored is some value of those that left. */
static void leave_loop(pctl_walk *w, const round *r)
{
	const uint8_t agree =
		r->divergent || r->target.diverged ? PCTL_AGREE_NONE : PCTL_AGREE_GROUP;
	uint32_t i, j;

	for (i = 0; i < r->n_slots && !w->gave_up; i++) {
		const pctl_cell *old = w->state.slots[r->slots[i]];
		const uint8_t uniform = least(agree, pctl_cell_uniform(old));
		const pctl_known *parts[4];

		for (j = 0; j < old->n; j++) {
			const pctl_known *k = old->part[j];

			parts[j] = pctl_known_fresh(&w->symbols, k->scalar, k->lo, k->hi, uniform,
						    least(uniform, w->round_agrees));
		}
		w->state.slots[r->slots[i]] = pctl_cell_of(w, parts, old->n);
		if (!w->state.slots[r->slots[i]])
			give_up(w);
	}
}

static uint32_t loop(pctl_walk *w, uint32_t v)
{
	const uint32_t base = w->fn->first_inst;
	const pctl_loop_bound *b = &w->z->a->loops[w->z->loop_of[base + v]];
	const uint8_t agreed = w->round_agrees;
	const pctl_walk_state before = copy_of(w, &w->state);
	const choice by = {NULL, PCTL_AGREE_GROUP, PCTL_AGREE_NONE};
	round r = {.start = v, .test = b->test, .update = b->update};
	pctl_walk_state leaves = {.dead = 1}, out = {.dead = 1};
	uint32_t i, rounds;
	int diverged;

	r.end = w->z->next[base + b->update] - base;
	if (!survey(w, &r)) {
		give_up(w);
		return r.end + 1;
	}
	for (i = 0; i < r.n_slots; i++)
		r.uniform[i] = pctl_cell_uniform(before.slots[r.slots[i]]);
	w->round_agrees = r.crosses ? agreed : PCTL_AGREE_NONE;
	open_target(w, &r.target, PCTL_OP_LOOP);
	w->conditions++;
	w->dry++;
	do {
		diverged = r.target.diverged + r.divergent;
		w->state = copy_of(w, &before);
		enter_head(w, &r, &before, b);
		one_round(w, &r, &leaves);
	} while (!w->gave_up && (lower(w, &r) || diverged != r.target.diverged + r.divergent));
	w->dry--;
	/* One round more, or two in a row where barriers part them, with their accesses recorded.
	 */
	w->state = copy_of(w, &before);
	for (rounds = 0; rounds < (r.has_barrier ? 2u : 1u) && !w->gave_up && !w->dry; rounds++) {
		r.target.has_exit = 0;
		enter_head(w, &r, &before, b);
		w->state.facts = before.facts;
		w->state.dead = 0;
		one_round(w, &r, &leaves);
		join(w, &out, &leaves, &by);
		if (r.target.has_exit)
			join(w, &out, &r.target.exit, &by);
	}
	if (w->dry) {
		join(w, &out, &leaves, &by);
		if (r.target.has_exit)
			join(w, &out, &r.target.exit, &by);
	}
	close_target(w, &r.target);
	w->conditions--;
	w->round_agrees = agreed;
	if (!w->gave_up) {
		out.facts = before.facts;
		/* Without a round that is sure to pass a barrier, what follows may meet what came
		 * before. */
		if (!out.intervals)
			out.intervals = before.intervals;
		else if (!r.crosses)
			out.intervals = joined_intervals(w, out.intervals, before.intervals);
		out.dead = 0;
		w->state = out;
		leave_loop(w, &r);
	}
	return r.end + 1;
}

/* ---- calls and barriers ---- */

static const pctl_cell *walk_function(pctl_walk *w, uint32_t f, const pctl_cell *const *args);

static const pctl_cell *call(pctl_walk *w, const pctl_inst *in)
{
	const pctl_cell **args = pctl_arena_array(w->arena, in->n_args, sizeof(*args));
	uint32_t i;

	if (!args)
		return NULL;
	for (i = 1; i < in->n_args; i++)
		args[i - 1] = w->values[pctl_arg(w->p, in, i)];
	return walk_function(w, pctl_arg(w->p, in, 0), args);
}

static void barrier(pctl_walk *w, uint32_t v)
{
	const uint32_t inst = w->fn->first_inst + v;

	if (!pctl_walk_is_uniform(w)) {
		w->z->a->barriers_uniform = PCTL_PROOF_UNPROVEN;
		if (!w->reported[inst]) {
			const pctl_pos pos = pctl_analyse_position(w->p, inst);

			pctl_analyse_fail(
				w->z,
				pctl_refuse_at(w->z->call, PC2051_ANALYSE_BARRIER, &pos, NULL,
					       "not every invocation need reach this barrier"));
		}
		w->reported[inst] = 1;
	}
	w->state.intervals = new_interval(w);
}

/* ---- regions ---- */

static void step(pctl_walk *w, uint32_t v)
{
	const pctl_inst *in = &w->p->insts[w->fn->first_inst + v];
	const pctl_op_info *info = pctl_op_get(in->op);
	const pctl_cell *cell = NULL;

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
		cell = pctl_walk_memory(w, in, v);
		barrier(w, v);
		break;
	case PCTL_OP_CALL:
		cell = call(w, in);
		break;
	default:
		cell = info->kind == PCTL_OPKIND_memory || info->kind == PCTL_OPKIND_atomic
			       ? pctl_walk_memory(w, in, v)
			       : pctl_walk_value(w, in);
		break;
	}
	w->values[v] = cell;
	if (!cell)
		give_up(w);
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
static uint32_t skip(const pctl_walk *w, uint32_t v)
{
	const uint32_t base = w->fn->first_inst;
	uint32_t at = base + v;

	if (!w->z->next[at])
		return v + 1;
	while (w->z->next[at])
		at = w->z->next[at];
	return at - base + 1;
}

static uint32_t region(pctl_walk *w, uint32_t v)
{
	const uint32_t base = w->fn->first_inst;

	while (v < w->fn->n_insts) {
		const uint16_t op = w->p->insts[base + v].op;

		if (ends_region(op))
			return v;
		if (++w->steps > PCTL_WALK_STEPS_MAX || w->symbols.no_memory)
			give_up(w);
		if (w->state.dead || w->gave_up)
			v = skip(w, v);
		else if (op == PCTL_OP_IF)
			v = branch(w, v);
		else if (op == PCTL_OP_SWITCH)
			v = selection(w, v);
		else if (op == PCTL_OP_LOOP)
			v = loop(w, v);
		else
			step(w, v++);
	}
	return v;
}

/* Follow a function: its result, or an empty cell. */
static const pctl_cell *walk_function(pctl_walk *w, uint32_t f, const pctl_cell *const *args)
{
	static const pctl_cell nothing = {0};
	const pctl_function *outer_fn = w->fn;
	const uint32_t outer_function = w->function, outer_base = w->local_base,
		       outer_slots = w->n_slots;
	const pctl_cell **outer_values = w->values, *result = &nothing;
	pctl_walk_target target = {0};
	const pctl_fact *facts = w->state.facts;
	pctl_walk_state grown;
	uint32_t i;

	if (w->n_calls == PCTL_WALK_CALLS_MAX) {
		give_up(w);
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
		give_up(w);
	} else {
		if (outer_slots)
			memcpy(grown.slots, w->state.slots, outer_slots * sizeof(*grown.slots));
		for (i = 0; i < w->fn->n_locals; i++)
			grown.slots[outer_slots + i] =
				pctl_cell_zero(w, w->p->locals[w->fn->first_local + i].type);
		w->state = grown;
		for (i = 0; i < w->fn->n_params; i++)
			w->values[i] = args[i];
		w->steps += w->fn->n_insts / 8;
		open_target(w, &target, PCTL_OP_CALL);
		region(w, 0);
	}
	if (!w->gave_up) {
		const choice by = {NULL, target.diverged ? PCTL_AGREE_NONE : PCTL_AGREE_GROUP,
				   PCTL_AGREE_NONE};

		close_target(w, &target);
		if (target.has_exit)
			join(w, &w->state, &target.exit, &by);
		w->state.dead = 0;
		w->state.facts = facts;
		if (target.has_result) {
			pctl_cell *copy = pctl_arena_alloc(w->arena, sizeof(*copy));

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

/* ---- the whole ---- */

static int add_coordinates(pctl_walk *w)
{
	const pctl_program *p = w->p;
	uint32_t d;

	for (d = 0; d < PCTL_SYMBOL_COORDINATES; d++) {
		pctl_symbol x = {0};

		if (d < PCTL_SYMBOL_GROUP) {
			x.hi = (int64_t)p->entries[0].workgroup_size[d] - 1;
		} else {
			const uint32_t g = d - PCTL_SYMBOL_GROUP;
			const uint32_t most = p->max_dispatch[g] && p->max_dispatch[g] < 65535
						      ? p->max_dispatch[g]
						      : 65535;

			x.hi = (int64_t)(w->z->groups ? w->z->groups[g] : most) - 1;
			if (x.hi < 0)
				x.hi = 0;
			x.uniform = x.shared = PCTL_AGREE_GROUP;
		}
		if (!PCTL_VEC_PUSH(&w->symbols, x))
			return 0;
	}
	return 1;
}

typedef struct facts_of_code {
	uint8_t *used, *written, *has_barrier;
} facts_of_code;

static void survey_code(const pctl_program *p, const facts_of_code *s)
{
	uint32_t f, v, i;

	for (f = 0; f < p->n_functions; f++) {
		const pctl_function *fn = &p->functions[f];

		for (v = 0; v < fn->n_insts; v++) {
			const pctl_inst *in = &p->insts[fn->first_inst + v];
			const pctl_op_info *info = pctl_op_get(in->op);
			const char *pattern = info->args;
			pctl_place pl;

			for (i = 0; i < in->n_args && *pattern && *pattern != 'g'; i++) {
				if (*pattern == 'v')
					s->used[fn->first_inst + pctl_arg(p, in, i)] = 1;
				if (pattern[1] != '*')
					pattern++;
			}
			if (is_barrier(in->op) ||
			    (in->op == PCTL_OP_CALL && s->has_barrier[pctl_arg(p, in, 0)]))
				s->has_barrier[f] = 1;
			if (!pctl_place_get(p, fn, in, &pl))
				continue;
			if (!(pl.root & PCTL_PLACE_LOCAL) &&
			    (in->op == PCTL_OP_STORE ||
			     (info->kind == PCTL_OPKIND_atomic && in->op != PCTL_OP_ATOMIC_LOAD)))
				s->written[pl.root] = 1;
			/* An index counts as a use, also where the word is a member's number: it
			 * only weakens. */
			for (i = 0; i < pl.n_chain; i++) {
				if (p->words[pl.chain + i] < fn->n_insts)
					s->used[fn->first_inst + p->words[pl.chain + i]] = 1;
			}
		}
	}
}

static int prepare(pctl_walk *w)
{
	const pctl_program *p = w->p;
	facts_of_code s;
	uint32_t i;

	s.used = pctl_arena_array(w->arena, p->n_insts, 1);
	s.written = pctl_arena_array(w->arena, p->n_vars, 1);
	s.has_barrier = pctl_arena_array(w->arena, p->n_functions, 1);
	w->visited = pctl_arena_array(w->arena, p->n_insts, 1);
	w->reported = pctl_arena_array(w->arena, p->n_insts, 1);
	w->n_slots = p->n_vars;
	w->state.slots = pctl_arena_array(w->arena, p->n_vars, sizeof(*w->state.slots));
	if (!s.used || !s.written || !s.has_barrier || !w->visited || !w->reported ||
	    !w->state.slots || !add_coordinates(w))
		return 0;
	survey_code(p, &s);
	w->used = s.used;
	w->written = s.written;
	w->has_barrier = s.has_barrier;
	w->round_agrees = PCTL_AGREE_ALL;
	w->state.intervals = new_interval(w);
	for (i = 0; i < p->n_vars; i++) {
		w->state.slots[i] = pctl_cell_zero(
			w, p->vars[i].space == PCTL_SPACE_PRIVATE ? p->vars[i].type : 0);
		if (!w->state.slots[i])
			return 0;
	}
	return 1;
}

/* What holds when the walk was not finished: nothing. */
static void assume_nothing(pctl_walk *w)
{
	const pctl_program *p = w->p;
	pctl_analysis *a = w->z->a;
	uint32_t i;

	memset(a->proven, 0, p->n_insts);
	a->race = PCTL_PROOF_UNPROVEN;
	for (i = 0; i < p->n_insts; i++) {
		const uint16_t op = p->insts[i].op;

		if (pctl_op_get(op)->kind == PCTL_OPKIND_atomic && op != PCTL_OP_ATOMIC_LOAD)
			a->order_dependent = 1;
		if (is_barrier(op) && a->barriers_uniform == PCTL_PROOF_PROVEN) {
			const pctl_pos pos = pctl_analyse_position(p, i);

			a->barriers_uniform = PCTL_PROOF_UNPROVEN;
			pctl_analyse_fail(
				w->z,
				pctl_refuse_at(
					w->z->call, PC2051_ANALYSE_BARRIER, &pos, NULL,
					"the program is too large to prove its barriers uniform"));
		}
	}
}

void pctl_analyse_walk(pctl_analyser *z)
{
	pctl_walk w = {.z = z, .p = z->p};

	z->a->barriers_uniform = PCTL_PROOF_PROVEN;
	z->a->proven = pctl_arena_array(z->arena, z->p->n_insts, 1);
	w.arena = w.symbols.arena = pctl_arena_create();
	if (!w.arena || !z->a->proven || !prepare(&w)) {
		pctl_analyse_fail(
			z, pctl_refuse(z->call, PC2_NOMEM, "no memory to analyse a program"));
	} else {
		walk_function(&w, z->p->entries[0].function, NULL);
		if (w.gave_up || w.symbols.no_memory)
			assume_nothing(&w);
		else
			pctl_walk_judge(&w);
	}
	free(w.symbols.items);
	pctl_index_drop(&w.symbols.index);
	free(w.accesses.items);
	free(w.parents.items);
	pctl_arena_destroy(w.arena);
}
