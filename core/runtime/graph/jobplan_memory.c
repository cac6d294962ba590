/* Where a plan's temporaries lie in the one buffer that they share (SEMANTICS.md 17.2): the largest first, each at the lowest place
 * where nothing lies that is alive at the same time. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "runtime/graph/jobplan.h"

#define MOST_SHARING 4096u /* the search is quadratic; of those shipped no plan has a thousand */

/* A temporary: alive from the first step that touches it to the last. */
struct life {
	uint32_t buffer, from, to;
	uint32_t is_touched;
	uint64_t n_bytes, at;
};

static void touch(struct life *lives, const uint32_t *life_of, uint32_t buffer, uint32_t step)
{
	struct life *l = &lives[life_of[buffer]];

	if (life_of[buffer] == UINT32_MAX)
		return;
	l->from = l->is_touched ? l->from : step;
	l->to = step;
	l->is_touched = 1;
}

static void find_lives(const pctl_job_plan *p, struct life *lives, const uint32_t *life_of)
{
	for (uint32_t i = 0; i < p->n_steps; i++) {
		const pctl_step *step = &p->steps[i];

		for (uint32_t k = 0; step->kind == PCTL_STEP_KERNEL && k < step->n_bindings; k++)
			touch(lives, life_of, step->bindings[k].buffer, i);
		if (step->counts != 0)
			touch(lives, life_of, step->counts - 1u, i);
		if (step->kind != PCTL_STEP_KERNEL)
			touch(lives, life_of, step->to, i);
		if (step->kind == PCTL_STEP_COPY)
			touch(lives, life_of, step->from, i);
	}
	/* What is read when all has run. */
	for (uint32_t i = 0; i < p->n_checks; i++)
		touch(lives, life_of, p->checks[i].buffer, p->n_steps);
	if (p->has_measure)
		touch(lives, life_of, p->measure_buffer, p->n_steps);
}

static int by_size(const void *a, const void *b)
{
	const struct life *x = a, *y = b;

	if (x->n_bytes != y->n_bytes)
		return x->n_bytes < y->n_bytes ? 1 : -1;
	return x->buffer < y->buffer ? -1 : 1;
}

static int meet(const struct life *a, const struct life *b)
{
	return !a->is_touched || !b->is_touched || (a->from <= b->to && b->from <= a->to);
}

/* The lowest place of lives[i] among those before it, of which sorted[] has the numbers by place. Saturates. */
static uint64_t place_of(const struct life *lives, uint32_t i, const uint32_t *sorted)
{
	uint64_t at = 0;

	for (uint32_t k = 0; k < i; k++) {
		const struct life *other = &lives[sorted[k]];
		uint64_t end;

		if (!meet(&lives[i], other) || other->n_bytes == 0)
			continue;
		if (other->at >= at && other->at - at >= lives[i].n_bytes)
			break;
		end = pctl_num_align(other->at + other->n_bytes, PCTL_PLAN_ALIGN);
		at = end > at ? end : at;
	}
	return at;
}

/* Sizes are below 2^63 together (the sink sees to that), and there are at most MOST_SHARING. */
static uint64_t place_all(struct life *lives, uint32_t n, uint32_t *sorted)
{
	uint64_t pool = 0;

	qsort(lives, n, sizeof(*lives), by_size);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = i;

		lives[i].at = place_of(lives, i, sorted);
		if (lives[i].at + lives[i].n_bytes > pool)
			pool = lives[i].at + lives[i].n_bytes;
		for (; k > 0 && lives[sorted[k - 1]].at > lives[i].at; k--)
			sorted[k] = sorted[k - 1];
		sorted[k] = i;
	}
	return pool;
}

static uint64_t temp_bytes(const pctl_job_plan *p, uint32_t *n)
{
	uint64_t sum = 0;

	*n = 0;
	for (uint32_t i = 0; i < p->n_buffers; i++) {
		if (p->buffers[i].kind != PCTL_PLAN_TEMP)
			continue;
		(void)pctl_num_add(sum, p->buffers[i].n_bytes, &sum);
		(*n)++;
	}
	return sum;
}

pctl_status pctl_job_plan_place(pctl_job_plan *p, const pctl_call *call)
{
	uint32_t n, found = 0;
	const uint64_t sum = temp_bytes(p, &n);
	struct life *lives;
	uint32_t *life_of, *sorted;
	uint64_t pool;

	p->pool_bytes = 0;
	if (n < 2 || n > MOST_SHARING || sum > UINT64_MAX / 4)
		return PCTL_OK;
	lives = calloc(n, sizeof(*lives));
	sorted = calloc(n, sizeof(*sorted));
	life_of = malloc(p->n_buffers * sizeof(*life_of));
	if (lives == NULL || sorted == NULL || life_of == NULL) {
		free(lives);
		free(sorted);
		free(life_of);
		return pctl_no_memory(call, "a plan");
	}
	for (uint32_t i = 0; i < p->n_buffers; i++) {
		life_of[i] = UINT32_MAX;
		if (p->buffers[i].kind != PCTL_PLAN_TEMP)
			continue;
		lives[found] = (struct life){.buffer = i, .n_bytes = p->buffers[i].n_bytes};
		life_of[i] = found++;
	}
	find_lives(p, lives, life_of);
	pool = place_all(lives, n, sorted);
	/* Alignment may cost more than sharing gains. */
	for (uint32_t i = 0; pool < sum && i < n; i++)
		p->buffers[lives[i].buffer].at = lives[i].at;
	p->pool_bytes = pool < sum ? pool : 0;
	free(lives);
	free(sorted);
	free(life_of);
	return PCTL_OK;
}

uint64_t pctl_job_plan_peak(const pctl_job_plan *p)
{
	uint32_t n;

	if (p->pool_bytes == 0 || p->buffer_bytes == UINT64_MAX)
		return p->buffer_bytes;
	return p->buffer_bytes - temp_bytes(p, &n) + p->pool_bytes;
}
