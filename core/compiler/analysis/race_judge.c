/* Which accesses may meet, and the verdict over all pairs of them. */
#include "compiler/analysis/interp.h"

/* One interval is the other or holds it. */
static int is_within(const pctl_interp *w, uint32_t a, uint32_t b)
{
	/* Parents have lower numbers. */
	while (a != b) {
		if (a < b) {
			const uint32_t swap = a;

			a = b;
			b = swap;
		}
		if (w->parents.items[a] == PCTL_NONE)
			return 0;
		a = w->parents.items[a];
		if (a < b)
			return 0;
	}
	return 1;
}

static int meet(const pctl_interp *w, const pctl_intervals *a, const pctl_intervals *b)
{
	uint32_t i, j;

	for (i = 0; i < a->n; i++) {
		for (j = 0; j < b->n; j++) {
			if (is_within(w, a->number[i], b->number[j]))
				return 1;
		}
	}
	return 0;
}

/* Two invocations that may make these accesses unordered never make them to the same bytes. */
static int are_apart(pctl_interp *w, const pctl_access *a, const pctl_access *b)
{
	if (meet(w, a->intervals, b->intervals) && !pctl_access_is_apart(w, a, b, 0))
		return 0;
	return w->p->vars[a->var].space != PCTL_SPACE_STORAGE || pctl_access_is_apart(w, a, b, 1);
}

static void judge_pair(pctl_interp *w, const pctl_access *a, const pctl_access *b)
{
	pctl_analysis *out = w->z->a;
	const int atomic = a->kind == PCTL_ACCESS_KIND_ATOMIC && b->kind == PCTL_ACCESS_KIND_ATOMIC;

	if (a->kind == PCTL_ACCESS_KIND_LOAD && b->kind == PCTL_ACCESS_KIND_LOAD)
		return;
	if (atomic && a->family && a->family == b->family)
		return;
	if (atomic ? out->order_dependent : out->race != PCTL_PROOF_PROVEN)
		return;
	if (are_apart(w, a, b))
		return;
	if (atomic) {
		out->order_dependent = 1;
		out->order_function = a->family ? b->function : a->function;
		out->order_inst = a->family ? b->inst : a->inst;
		return;
	}
	out->race = PCTL_PROOF_UNPROVEN;
	out->race_function[0] = a->function;
	out->race_inst[0] = a->inst;
	out->race_function[1] = b->function;
	out->race_inst[1] = b->inst;
}

void pctl_interp_judge(pctl_interp *w)
{
	pctl_analysis *out = w->z->a;
	uint32_t i, j, pairs = 0;

	out->race = w->refuted ? PCTL_PROOF_REFUTED : PCTL_PROOF_PROVEN;
	for (i = 0; i < w->accesses.n; i++) {
		for (j = i; j < w->accesses.n; j++) {
			const pctl_access *a = w->accesses.items[i], *b = w->accesses.items[j];

			if (a->var != b->var)
				continue;
			if (++pairs > PCTL_INTERP_PAIRS_MAX) {
				if (out->race == PCTL_PROOF_PROVEN)
					out->race = PCTL_PROOF_UNPROVEN;
				out->order_dependent |= a->kind == PCTL_ACCESS_KIND_ATOMIC;
				continue;
			}
			judge_pair(w, a, b);
		}
	}
}
