/* Placing spans by when they are alive; see liveness.h. */
#include "runtime/graph/liveness.h"

#include <stdlib.h>

#include "foundation/base/num.h"

void pctl_life_touch(pctl_life *l, uint32_t step)
{
	l->from = l->is_touched && l->from < step ? l->from : step;
	l->to = l->is_touched && l->to > step ? l->to : step;
	l->is_touched = 1;
}

static int by_size(const void *a, const void *b)
{
	const pctl_life *x = a, *y = b;

	if (x->n_bytes != y->n_bytes)
		return x->n_bytes < y->n_bytes ? 1 : -1;
	return x->id < y->id ? -1 : 1;
}

static int meet(const pctl_life *a, const pctl_life *b)
{
	return !a->is_touched || !b->is_touched || (a->from <= b->to && b->from <= a->to);
}

/* The first place from `at` on where n bytes do not lie across a multiple of `most`. */
static uint64_t within(uint64_t at, uint64_t n, uint64_t most)
{
	if (most == 0 || n == 0 || at / most == (at + n - 1) / most)
		return at;
	return (at / most + 1) * most;
}

/* The lowest place of lives[i] among those before it, of which sorted[] has the numbers by place. */
static uint64_t place_of(const pctl_life *lives, uint32_t i, uint64_t align, uint64_t most,
			 const uint32_t *sorted)
{
	uint64_t at = 0;

	for (uint32_t k = 0; k < i; k++) {
		const pctl_life *other = &lives[sorted[k]];
		uint64_t end;

		if (!meet(&lives[i], other) || other->n_bytes == 0)
			continue;
		if (other->at >= at && other->at - at >= lives[i].n_bytes)
			break;
		end = pctl_num_align(other->at + other->n_bytes, align);
		at = end > at ? within(end, lives[i].n_bytes, most) : at;
	}
	return at;
}

uint64_t pctl_lives_place(pctl_life *lives, uint32_t n, uint64_t align, uint64_t most,
			  uint32_t *sorted)
{
	uint64_t end = 0;

	qsort(lives, n, sizeof(*lives), by_size);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = i;

		lives[i].at = place_of(lives, i, align, most, sorted);
		if (lives[i].at + lives[i].n_bytes > end)
			end = lives[i].at + lives[i].n_bytes;
		for (; k > 0 && lives[sorted[k - 1]].at > lives[i].at; k--)
			sorted[k] = sorted[k - 1];
		sorted[k] = i;
	}
	return end;
}
