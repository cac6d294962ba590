/* Plans as a whole: made, given buffers and steps, and thrown away. */
#include "runtime/graph/jobplan_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/vec.h"

pctl_status pctl_plan_no_memory(const pctl_call *call)
{
	return pctl_no_memory(call, "a plan");
}

void pctl_job_plan_destroy(pctl_job_plan *p)
{
	pctl_job_plan *of = p == NULL ? NULL : p->of;

	if (p == NULL)
		return;
	if (of != NULL) {
		pctl_arena_destroy(p->arena);
		free(p);
		pctl_job_plan_destroy(of);
		return;
	}
	if (p->sharers != 0) {
		p->sharers--;
		return;
	}
	free(p->buffers);
	free(p->steps);
	free(p->checks);
	pctl_arena_destroy(p->arena);
	free(p);
}

pctl_status pctl_job_plan_create(const char *job, const pctl_call *call, pctl_job_plan **out)
{
	struct pctl_growing_plan *g = calloc(1, sizeof(*g));

	*out = NULL;
	if (g == NULL)
		return pctl_plan_no_memory(call);
	g->plan.arena = pctl_arena_create();
	g->plan.name = g->plan.arena == NULL ? NULL : pctl_arena_dup(g->plan.arena, job);
	if (g->plan.name == NULL) {
		pctl_job_plan_destroy(&g->plan);
		return pctl_plan_no_memory(call);
	}
	g->plan.determinism = PCTL_CLASS_INTEGER;
	g->plan.race = PCTL_PROOF_PROVEN;
	*out = &g->plan;
	return PCTL_OK;
}

pctl_status pctl_job_plan_share(pctl_job_plan *p, const char *job, const pctl_call *call,
				pctl_job_plan **out)
{
	pctl_job_plan *of = p->of != NULL ? p->of : p, *shared;
	pctl_status status = pctl_job_plan_create(job, call, &shared);
	pctl_arena *arena;
	const char *name;

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	arena = shared->arena;
	name = shared->name;
	*shared = *of;
	shared->arena = arena;
	shared->name = name;
	shared->of = of;
	shared->sharers = 0;
	of->sharers++;
	*out = shared;
	return PCTL_OK;
}

pctl_status pctl_job_plan_buffer(pctl_job_plan *p, uint32_t kind, uint64_t n_bytes,
				 const void *data, const pctl_call *call, uint32_t *number)
{
	struct pctl_growing_plan *g = (struct pctl_growing_plan *)p;
	pctl_plan_buffer b = {
		kind,	 PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM | PCTL_BUFFER_TRANSFER,
		n_bytes, NULL,
		NULL,	 0};

	*number = 0;
	if (kind == PCTL_PLAN_PARAMS || kind == PCTL_PLAN_CONSTANT) {
		void *copy = pctl_arena_alloc(p->arena, n_bytes);

		if (copy == NULL)
			return pctl_plan_no_memory(call);
		if (n_bytes != 0)
			memcpy(copy, data, n_bytes);
		b.data = copy;
	}
	if (!pctl_vec_reserve((void **)&p->buffers, p->n_buffers, &g->cap_buffers,
			      sizeof(*p->buffers)))
		return pctl_plan_no_memory(call);
	(void)pctl_num_add(p->buffer_bytes, n_bytes, &p->buffer_bytes);
	p->n_in += kind == PCTL_PLAN_INPUT;
	p->n_out += kind == PCTL_PLAN_OUTPUT;
	*number = p->n_buffers;
	p->buffers[p->n_buffers++] = b;
	return PCTL_OK;
}

pctl_status pctl_plan_add_step(pctl_job_plan *p, const pctl_step *step, const pctl_call *call)
{
	struct pctl_growing_plan *g = (struct pctl_growing_plan *)p;

	if (!pctl_vec_reserve((void **)&p->steps, p->n_steps, &g->cap_steps, sizeof(*p->steps)))
		return pctl_plan_no_memory(call);
	p->steps[p->n_steps++] = *step;
	return PCTL_OK;
}

pctl_status pctl_job_plan_kernel(pctl_job_plan *p, const pctl_kernel_module *unit,
				 const pctl_plan_binding *bindings, uint32_t n_bindings,
				 const uint32_t groups[3], const pctl_call *call)
{
	pctl_step step = {.kind = PCTL_STEP_KERNEL, .unit = unit};
	pctl_status status;

	status = pctl_job_plan_bind(p, &step, bindings, n_bindings, call);
	if (status != PCTL_OK)
		return status;
	status = pctl_job_plan_unit(p, &step, groups, call);
	if (status != PCTL_OK)
		return status;
	return pctl_plan_add_step(p, &step, call);
}

pctl_status pctl_job_plan_copy(pctl_job_plan *p, uint32_t from, uint32_t to, const pctl_call *call)
{
	pctl_step step = {
		.kind = PCTL_STEP_COPY, .from = from, .to = to, .n_bytes = p->buffers[to].n_bytes};

	if (p->buffers[from].n_bytes != step.n_bytes)
		return pctl_refuse(call, PC4130_BINDING,
				   "job \"%s\": a variable starts with %" PRIu64
				   " bytes and ends with %" PRIu64,
				   p->name, p->buffers[from].n_bytes, step.n_bytes);
	return pctl_plan_add_step(p, &step, call);
}

pctl_status pctl_job_plan_zero(pctl_job_plan *p, uint32_t buffer, const pctl_call *call)
{
	pctl_step step = {
		.kind = PCTL_STEP_FILL, .to = buffer, .n_bytes = p->buffers[buffer].n_bytes};

	return pctl_plan_add_step(p, &step, call);
}

pctl_status pctl_job_plan_move(pctl_job_plan *p, const pctl_plan_slot *from,
			       const pctl_plan_slot *to, uint64_t n_bytes, const pctl_call *call)
{
	const pctl_step step = {.kind = PCTL_STEP_COPY,
				.from = from->buffer,
				.from_offset = from->offset,
				.to = to->buffer,
				.to_offset = to->offset,
				.n_bytes = n_bytes};

	return pctl_plan_add_step(p, &step, call);
}

void pctl_job_plan_indirect(pctl_job_plan *p, uint32_t first, uint32_t counts, uint64_t offset)
{
	p->buffers[counts].usage |= PCTL_BUFFER_INDIRECT;
	for (uint32_t i = first; i < p->n_steps; i++) {
		if (p->steps[i].kind != PCTL_STEP_KERNEL)
			continue;
		p->steps[i].counts = counts + 1u;
		p->steps[i].counts_offset = offset;
	}
}

int pctl_job_plan_fits(const pctl_job_plan *p, uint32_t from, uint64_t most)
{
	for (uint32_t i = from; most != 0 && i < p->n_steps; i++) {
		const pctl_step *step = &p->steps[i];

		for (uint32_t k = 0; step->kind == PCTL_STEP_KERNEL && k < step->n_bindings; k++) {
			const uint32_t kind = p->buffers[step->bindings[k].buffer].kind;

			if (step->bindings[k].n_bytes > most && kind != PCTL_PLAN_PARAMS &&
			    kind != PCTL_PLAN_CONSTANT)
				return 0;
		}
	}
	return 1;
}

pctl_status pctl_job_plan_check(pctl_job_plan *p, const pctl_plan_check *check,
				const pctl_call *call)
{
	struct pctl_growing_plan *g = (struct pctl_growing_plan *)p;
	const char *message = pctl_arena_dup(p->arena, check->message);

	if (message == NULL ||
	    !pctl_vec_reserve((void **)&p->checks, p->n_checks, &g->cap_checks, sizeof(*check)))
		return pctl_plan_no_memory(call);
	p->checks[p->n_checks] = *check;
	p->checks[p->n_checks++].message = message;
	return PCTL_OK;
}
