/* Where a plan's temporaries lie in the one buffer that they share (SEMANTICS.md 17.2). */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "runtime/graph/jobplan.h"
#include "runtime/graph/liveness.h"

#define MOST_SHARING 4096u /* the search is quadratic; of those shipped no plan has a thousand */

static void touch(pctl_life *lives, const uint32_t *life_of, uint32_t buffer, uint32_t step)
{
	if (life_of[buffer] != UINT32_MAX)
		pctl_life_touch(&lives[life_of[buffer]], step);
}

static void find_lives(const pctl_job_plan *p, pctl_life *lives, const uint32_t *life_of)
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
	pctl_life *lives;
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
		lives[found] = (pctl_life){.id = i, .n_bytes = p->buffers[i].n_bytes};
		life_of[i] = found++;
	}
	find_lives(p, lives, life_of);
	/* Sizes are below 2^62 together, by what was asked above. */
	pool = pctl_lives_place(lives, n, PCTL_PLAN_ALIGN, 0, sorted);
	/* Alignment may cost more than sharing gains. */
	for (uint32_t i = 0; pool < sum && i < n; i++)
		p->buffers[lives[i].id].at = lives[i].at;
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
