/* Implementation of judge.h. A part of a plan is made a plan of its own, in which every buffer is an input, and what the
 * part writes is a copy of it. */
#include "evidence/receipt/judge.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "runtime/graph/jobplan_step.h"

pctl_status pctl_reference_judge_open(const pctl_run_options *o, pctl_arena *arena,
				      const pctl_call *call, pctl_reference_judge *out)
{
	const uint32_t flags = (o->flags & PCTL_RUN_IN_PROCESS ? PCTL_INSTANCE_IN_PROCESS : 0) |
			       (o->flags & PCTL_RUN_DEBUG ? PCTL_INSTANCE_DEBUG : 0);
	const pctl_device_entry *e = NULL;
	pctl_session_options options = {.cache_dir = o->cache_dir, .profiles = o->profiles};
	pctl_status status;

	*out = (pctl_reference_judge){.session = NULL};
	status = pctl_devices_find(o->registry, PCTL_REFERENCE,
				   o->flags & PCTL_RUN_IN_PROCESS ? PCTL_DEVICES_IN_PROCESS : 0,
				   call, &out->devices, &e);
	if (status != PCTL_OK)
		return status;
	options.index = e->in_driver;
	options.device_kind = e->kind;
	options.id = options.name = out->name = pctl_arena_dup(arena, e->selector);
	status = out->name == NULL ? pctl_no_memory(call, "a dispute")
				   : pctl_backend_instance_open(o->registry, e->backend, e->env,
								flags, call, &out->backend);
	if (status != PCTL_OK)
		return status;
	options.backend = out->backend;
	return pctl_session_open(&options, call, &out->session);
}

void pctl_reference_judge_close(pctl_reference_judge *j)
{
	pctl_session_close(j->session);
	pctl_backend_instance_close(j->backend, NULL);
	pctl_devices_destroy(j->devices);
	*j = (pctl_reference_judge){.session = NULL};
}

void pctl_reference_judge_bytes_clear(pctl_reference_judge_bytes *list, uint32_t n)
{
	for (uint32_t i = 0; list != NULL && i < n; i++) {
		free(list[i].data);
		list[i].data = NULL;
	}
}

/* ---- running ------------------------------------------------------------------------------ */

static pctl_status execute(const pctl_reference_judge *j, const pctl_job_run *run,
			   pctl_data_source *const *sources, const pctl_call *call,
			   pctl_reference_judge_bytes *list, uint32_t n, const uint32_t *places)
{
	const pctl_job_plan *plan = run->plan;
	pctl_value **in = calloc(plan->n_in + (size_t)1, sizeof(*in));
	pctl_value **out = calloc(plan->n_out + (size_t)1, sizeof(*out));
	pctl_status status =
		in == NULL || out == NULL ? pctl_no_memory(call, "a dispute") : PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < plan->n_in; i++) {
		in[i] = pctl_value_from_source(sources[i]);
		status = in[i] == NULL ? pctl_no_memory(call, "a dispute") : PCTL_OK;
	}
	if (status == PCTL_OK)
		status = pctl_job_execute(j->session, run, in, call, out, NULL);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		list[i].data = calloc(list[i].n_bytes + 1, 1);
		status = list[i].data == NULL
				 ? pctl_no_memory(call, "a dispute")
				 : pctl_value_read(out[places == NULL ? i : places[i]], 0,
						   list[i].data, list[i].n_bytes, call);
	}
	for (uint32_t i = 0; in != NULL && i < plan->n_in; i++)
		pctl_value_release(in[i]);
	for (uint32_t i = 0; out != NULL && i < plan->n_out; i++)
		pctl_value_release(out[i]);
	free(in);
	free(out);
	return status;
}

pctl_status pctl_reference_judge_job(const pctl_reference_judge *j, const pctl_graph_node *node,
				     const pctl_job_plan *plan, pctl_data_source *const *inputs,
				     uint64_t timeout_ms, const pctl_call *call,
				     pctl_reference_judge_bytes *list, uint32_t n)
{
	uint64_t *sizes = calloc(n + (size_t)1, sizeof(*sizes));
	const pctl_job_run run = {.plan = plan,
				  .repeat = node->repeat,
				  .carry = node->carry,
				  .out_bytes = sizes,
				  .timeout_ms = timeout_ms};
	pctl_status status;

	if (sizes == NULL)
		return pctl_no_memory(call, "a dispute");
	for (uint32_t i = 0; i < n; i++)
		sizes[i] = list[i].n_bytes;
	status = execute(j, &run, inputs, call, list, n, NULL);
	free(sizes);
	return status;
}

/* ---- a part of a plan --------------------------------------------------------------------- */

struct part {
	pctl_job_plan *plan;
	uint32_t *map; /* a buffer of the whole plan: its number here as it is used */
	uint32_t
		*outputs; /* a buffer of the whole plan: number of the output here, or UINT32_MAX */
	uint64_t *sizes;
	pctl_plan_binding *bindings;
};

/* Inputs first: every buffer as it was; then outputs: copies of those that are written or wanted. */
static pctl_status add_buffers(struct part *p, const pctl_job_plan *whole, uint32_t first,
			       uint32_t end, const pctl_reference_judge_bytes *list, uint32_t n,
			       const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < whole->n_buffers; i++)
		status = pctl_job_plan_buffer(p->plan, PCTL_PLAN_INPUT, whole->buffers[i].n_bytes,
					      NULL, call, &p->map[i]);
	for (uint32_t i = 0; status == PCTL_OK && i < whole->n_buffers; i++) {
		int used = 0;

		for (uint32_t k = first; k < end; k++)
			used |= pctl_step_writes(&whole->steps[k], i);
		for (uint32_t k = 0; k < n; k++)
			used |= list[k].number == i;
		p->outputs[i] = UINT32_MAX;
		if (!used)
			continue;
		p->outputs[i] = p->plan->n_out;
		p->sizes[p->plan->n_out] = whole->buffers[i].n_bytes;
		status = pctl_job_plan_buffer(p->plan, PCTL_PLAN_OUTPUT, whole->buffers[i].n_bytes,
					      NULL, call, &p->map[i]);
	}
	for (uint32_t i = 0; status == PCTL_OK && i < whole->n_buffers; i++)
		if (p->outputs[i] != UINT32_MAX)
			status = pctl_job_plan_copy(p->plan, i, p->map[i], call);
	return status;
}

/* The steps with their buffers renumbered, behind the copies. */
static pctl_status add_steps(struct part *p, const pctl_job_plan *whole, uint32_t first,
			     uint32_t end, const pctl_call *call)
{
	const uint32_t n_copies = p->plan->n_steps;
	size_t n_bindings = 1, at = 0;
	pctl_step *steps;

	for (uint32_t k = first; k < end; k++)
		n_bindings += whole->steps[k].n_bindings;
	p->bindings = calloc(n_bindings, sizeof(*p->bindings));
	steps = calloc(n_copies + (size_t)(end - first) + 1, sizeof(*steps));
	if (p->bindings == NULL || steps == NULL) {
		free(steps);
		return pctl_no_memory(call, "a dispute");
	}
	if (n_copies != 0)
		memcpy(steps, p->plan->steps, n_copies * sizeof(*steps));
	free(p->plan->steps);
	p->plan->steps = steps; /* the plan's own, as it was before */
	for (uint32_t k = first; k < end; k++) {
		pctl_step *s = &steps[n_copies + k - first];

		*s = whole->steps[k];
		s->bindings = p->bindings + at;
		for (uint32_t i = 0; i < s->n_bindings; i++) {
			s->bindings[i] = whole->steps[k].bindings[i];
			s->bindings[i].buffer = p->map[s->bindings[i].buffer];
		}
		at += s->n_bindings;
		if (s->counts != 0) {
			s->counts = p->map[s->counts - 1] + 1;
			p->plan->buffers[s->counts - 1].usage |= PCTL_BUFFER_INDIRECT;
		}
		if (s->kind != PCTL_STEP_KERNEL)
			s->to = p->map[s->to];
		if (s->kind == PCTL_STEP_COPY)
			s->from = p->map[s->from];
	}
	p->plan->n_steps = n_copies + end - first;
	p->plan->determinism = whole->determinism;
	p->plan->race = whole->race;
	p->plan->caps = whole->caps;
	return PCTL_OK;
}

static pctl_status sources_of(const pctl_job_plan *whole, const pctl_reference_judge_bytes *before,
			      const pctl_call *call, pctl_data_source **out)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < whole->n_buffers; i++) {
		const uint64_t n = whole->buffers[i].n_bytes;
		char *copy = calloc(n + 1, 1);

		if (copy == NULL)
			return pctl_no_memory(call, "a dispute");
		memcpy(copy, before[i].data, before[i].n_bytes < n ? before[i].n_bytes : n);
		status = pctl_source_open_memory("buffer", copy, n, call, &out[i]);
	}
	return status;
}

pctl_status pctl_reference_judge_steps(const pctl_reference_judge *j, const pctl_job_plan *plan,
				       uint32_t first, uint32_t end,
				       const pctl_reference_judge_bytes *before,
				       uint64_t timeout_ms, const pctl_call *call,
				       pctl_reference_judge_bytes *list, uint32_t n)
{
	const size_t room = plan->n_buffers + (size_t)1;
	struct part p = {.map = calloc(room, sizeof(*p.map)),
			 .outputs = calloc(room, sizeof(*p.outputs)),
			 .sizes = calloc(room, sizeof(*p.sizes))};
	pctl_data_source **sources = calloc(room, sizeof(pctl_data_source *));
	uint32_t *places = calloc(n + (size_t)1, sizeof(*places));
	pctl_job_run run = {.repeat = 1, .out_bytes = p.sizes, .timeout_ms = timeout_ms};
	pctl_status status = p.map == NULL || p.outputs == NULL || p.sizes == NULL ||
					     sources == NULL || places == NULL
				     ? pctl_no_memory(call, "a dispute")
				     : pctl_job_plan_create(plan->name, call, &p.plan);

	if (status == PCTL_OK)
		status = add_buffers(&p, plan, first, end, list, n, call);
	if (status == PCTL_OK)
		status = add_steps(&p, plan, first, end, call);
	if (status == PCTL_OK)
		status = sources_of(plan, before, call, sources);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		places[i] = p.outputs[list[i].number];
	run.plan = p.plan;
	if (status == PCTL_OK)
		status = execute(j, &run, sources, call, list, n, places);
	for (uint32_t i = 0; sources != NULL && i < plan->n_buffers; i++)
		pctl_source_close(sources[i]);
	pctl_job_plan_destroy(p.plan);
	free(p.map);
	free(p.outputs);
	free(p.sizes);
	free(p.bindings);
	free(sources);
	free(places);
	return status;
}
