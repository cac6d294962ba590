/* States of the interpreter: copied before ways part, joined where they meet again, and the intervals
 * between barriers. */
#include <string.h>

#include "compiler/analysis/interp.h"

static uint8_t least(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

pctl_interp_state pctl_interp_copy(pctl_interp *w, const pctl_interp_state *from)
{
	pctl_interp_state s = *from;

	s.slots = pctl_arena_array(w->arena, w->n_slots + 1, sizeof(*s.slots));
	w->steps += w->n_slots / 8;
	if (!s.slots) {
		pctl_interp_give_up(w);
		return *from;
	}
	if (w->n_slots)
		memcpy(s.slots, from->slots, w->n_slots * sizeof(*s.slots));
	return s;
}

const pctl_intervals *pctl_interp_joined_intervals(pctl_interp *w, const pctl_intervals *a,
						   const pctl_intervals *b)
{
	pctl_intervals *all;
	uint32_t i = 0, j = 0;

	if (a == b)
		return a;
	all = pctl_arena_alloc(w->arena,
			       sizeof(*all) + ((size_t)a->n + b->n) * sizeof(all->number[0]));
	if (!all) {
		pctl_interp_give_up(w);
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

const pctl_intervals *pctl_interp_new_interval(pctl_interp *w)
{
	pctl_intervals *one = pctl_arena_alloc(w->arena, sizeof(*one) + sizeof(one->number[0]));

	if (!one || !PCTL_VEC_PUSH(&w->parents, PCTL_NONE)) {
		w->symbols.no_memory = 1;
		pctl_interp_give_up(w);
		return w->state.intervals;
	}
	one->n = 1;
	one->number[0] = w->parents.n - 1;
	return one;
}

/* A later part of each of the intervals, that excludes other such parts. */
const pctl_intervals *pctl_interp_later_part(pctl_interp *w, const pctl_intervals *of)
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
		w->symbols.no_memory = 1;
		pctl_interp_give_up(w);
		return of;
	}
	return all;
}

/* `value` is certainly `truth` on the side where `condition` is `side`. */
static int is_certain(const pctl_absval *value, int truth, const pctl_absval *condition, int side)
{
	pctl_affine f;

	if (value->lo == value->hi)
		return value->lo == truth;
	if (!condition)
		return 0;
	if (pctl_affine_same(&value->form, &condition->form))
		return side == truth;
	return pctl_affine_add(&value->form, &condition->form, 1, &f) && f.n == 0 &&
	       f.constant == 1 && side != truth;
}

/* What a joined bool tells: the other side is excluded when the value is certain there. */
static void join_facts(pctl_interp *w, pctl_absval *k, const pctl_absval *a, const pctl_absval *b,
		       const pctl_absval *c)
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

static const pctl_absval *joined_known(pctl_interp *w, const pctl_absval *a, const pctl_absval *b,
				       const pctl_interp_choice *by)
{
	const int64_t lo = a->lo < b->lo ? a->lo : b->lo, hi = a->hi > b->hi ? a->hi : b->hi;
	const pctl_absval *fresh;
	pctl_absval *k;

	if (pctl_absval_same(a, b))
		return a;
	fresh = pctl_absval_fresh(
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

const pctl_absvec *pctl_interp_joined_vec(pctl_interp *w, const pctl_absvec *a,
					  const pctl_absvec *b, const pctl_interp_choice *by)
{
	const pctl_absval *parts[4];
	uint32_t i;

	if (a == b || a->n != b->n)
		return a;
	for (i = 0; i < a->n; i++)
		parts[i] = joined_known(w, a->part[i], b->part[i], by);
	return pctl_absvec_of(w, parts, a->n);
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
void pctl_interp_join(pctl_interp *w, pctl_interp_state *into, const pctl_interp_state *other,
		      const pctl_interp_choice *by)
{
	uint32_t i;

	if (other->dead)
		return;
	if (into->dead) {
		*into = *other;
		return;
	}
	for (i = 0; i < w->n_slots && !w->gave_up; i++) {
		into->slots[i] = pctl_interp_joined_vec(w, into->slots[i], other->slots[i], by);
		if (!into->slots[i])
			pctl_interp_give_up(w);
	}
	into->facts = common_facts(into->facts, other->facts);
	into->intervals = pctl_interp_joined_intervals(w, into->intervals, other->intervals);
	w->steps += w->n_slots / 8;
}
