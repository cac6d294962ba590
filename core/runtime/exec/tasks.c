/* Checking, recording and submitting tasks on one device. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/clock.h"
#include "foundation/base/num.h"
#include "runtime/exec/submission.h"
#include "runtime/exec/tasks_layout.h"

#define MOST_BINDINGS 64u
#define BETWEEN 16u /* bytes of a zone between two spans, that times 1 to BETWEEN_MOST */
#define BETWEEN_MOST 8u

/* ---- before a device ------------------------------------------------------------------------ */

static int is_bound(const pctl_var *v)
{
	return v->space == PCTL_SPACE_STORAGE || v->space == PCTL_SPACE_UNIFORM;
}

static int is_output(const pctl_var *v)
{
	return v->group == 1 && v->binding == 0;
}

/* The binding of a variable other than the output, or NULL. */
static const pctl_task_binding *binding_of(const pctl_task *t, const pctl_var *v)
{
	for (uint32_t i = 0; i < t->n_bindings; i++) {
		if (t->bindings[i].group == v->group && t->bindings[i].binding == v->binding)
			return &t->bindings[i];
	}
	return NULL;
}

/* Bytes of a type before the runtime array at its end. */
static uint64_t fixed_bytes(const pctl_program *p, uint32_t type)
{
	const pctl_type *t = &p->types[type];

	if (t->kind == PCTL_TYPE_RUNTIME_ARRAY)
		return 0;
	if (t->kind == PCTL_TYPE_STRUCT && t->size == 0 && t->count != 0) {
		const pctl_member *last = &p->members[t->first_member + t->count - 1];

		return last->offset + fixed_bytes(p, last->type);
	}
	return t->size;
}

static pctl_status check_var(const pctl_task *t, const pctl_var *v, const pctl_call *call)
{
	const pctl_program *p = t->unit->program;
	const uint64_t fixed = fixed_bytes(p, v->type);
	uint64_t n = t->n_output;
	uint32_t found = is_output(v) ? 1 : 0;

	for (uint32_t i = 0; i < t->n_bindings; i++)
		found += t->bindings[i].group == v->group && t->bindings[i].binding == v->binding;
	if (found != 1)
		return pctl_refuse(call, PC5831_TASK_BINDING,
				   "job %s: group %" PRIu32 " binding %" PRIu32 " is bound %" PRIu32
				   " times",
				   t->name, v->group, v->binding, found);
	if (!is_output(v) && v->space == PCTL_SPACE_STORAGE && v->access & PCTL_ACCESS_WRITE)
		return pctl_refuse(call, PC5831_TASK_BINDING,
				   "job %s: group %" PRIu32 " binding %" PRIu32
				   " is written and is not the output",
				   t->name, v->group, v->binding);
	if (!is_output(v))
		n = binding_of(t, v)->n_bytes;
	if (n != 0 && n < fixed)
		return pctl_refuse(call, PC5831_TASK_BINDING,
				   "job %s: group %" PRIu32 " binding %" PRIu32 " gets %" PRIu64
				   " bytes, its type has %" PRIu64,
				   t->name, v->group, v->binding, n, fixed);
	return PCTL_OK;
}

pctl_status pctl_tasks_check(const pctl_task *tasks, uint32_t n, const pctl_call *call)
{
	pctl_status first = PCTL_OK;

	for (uint32_t i = 0; i < n; i++) {
		const pctl_program *p = tasks[i].unit->program;

		for (uint32_t k = 0; k < p->n_vars; k++) {
			const pctl_status status = is_bound(&p->vars[k])
							   ? check_var(&tasks[i], &p->vars[k], call)
							   : PCTL_OK;

			if (first == PCTL_OK)
				first = status;
		}
	}
	return first;
}

/* A task as the plan of a job with one kernel: what a session can judge. */
static pctl_status qualify(pctl_session *s, const pctl_task *t, const pctl_call *call)
{
	const pctl_program *p = t->unit->program;
	pctl_plan_binding bindings[MOST_BINDINGS];
	pctl_plan_buffer buffers[MOST_BINDINGS];
	pctl_step step = {.kind = PCTL_STEP_KERNEL, .unit = t->unit, .bindings = bindings};
	pctl_job_plan plan = {.name = t->name, .buffers = buffers, .steps = &step, .n_steps = 1};

	memcpy(step.groups, t->groups, sizeof(step.groups));
	for (uint32_t i = 0; i < p->n_vars; i++) {
		const pctl_var *v = &p->vars[i];
		uint64_t n;

		if (!is_bound(v))
			continue;
		if (step.n_bindings == MOST_BINDINGS)
			return pctl_refuse(call, PC5202_LIMIT,
					   "job %s: kernel %s binds more than %u variables",
					   t->name, t->unit->name, MOST_BINDINGS);
		n = is_output(v) ? t->n_output : binding_of(t, v)->n_bytes;
		buffers[step.n_bindings] = (pctl_plan_buffer){.n_bytes = n};
		bindings[step.n_bindings] =
			(pctl_plan_binding){v->group, v->binding, step.n_bindings, 0, 0, n};
		(void)pctl_num_add(plan.buffer_bytes, n, &plan.buffer_bytes);
		step.n_bindings++;
	}
	plan.n_buffers = step.n_bindings;
	return pctl_session_qualify(s, &plan, call);
}

pctl_status pctl_tasks_qualify(pctl_session *s, const pctl_task *tasks, uint32_t n,
			       const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		status = qualify(s, &tasks[i], call);
	return status;
}

/* ---- one submission ------------------------------------------------------------------------- */

struct running {
	const pctl_task_limits *limits;
	pctl_submission work;
	pctl_task_layout layout;
	pctl_task_stats stats;
};

/* Buffers start as zeros, so outputs need nothing more. */
static pctl_status create_buffers(struct running *r)
{
	const uint32_t usage = PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM | PCTL_BUFFER_TRANSFER;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < r->layout.slabs.n; i++) {
		pctl_task_slab *slab = &r->layout.slabs.items[i];

		status = r->work.t->buffer_create(r->work.dev, &r->work.call,
						  pctl_slab_bytes(&r->layout, i), usage,
						  &slab->buffer);
		r->stats.buffers++;
	}
	return status;
}

static pctl_binding bind(const struct running *r, uint32_t group, uint32_t binding,
			 const pctl_task_place *at, uint64_t n)
{
	pctl_binding b = {.group = group, .binding = binding};

	if (at->slab != PCTL_TASK_NOWHERE) {
		b.buffer = r->layout.slabs.items[at->slab].buffer;
		b.offset = at->offset;
		b.n_bytes = n;
	}
	return b;
}

static pctl_status record_task(struct running *r, uint32_t index, const pctl_task_place *inputs)
{
	const pctl_task *t = &r->layout.tasks[index];
	pctl_binding bindings[MOST_BINDINGS];
	pctl_kernel *kernel = NULL;
	uint32_t n = 0;
	pctl_status status = pctl_session_kernel(r->work.s, t->unit, &r->work.call, &kernel);

	if (status != PCTL_OK)
		return status;
	bindings[n++] = bind(r, 1, 0, &r->layout.outputs[index], t->n_output);
	for (uint32_t i = 0; i < t->n_bindings && n < MOST_BINDINGS; i++) {
		const pctl_task_binding *b = &t->bindings[i];

		if (pctl_task_var(t->unit->program, b->group, b->binding) != NULL)
			bindings[n++] = bind(r, b->group, b->binding, &inputs[i], b->n_bytes);
	}
	pctl_submission_trace(&r->work, t->name, 0, 0);
	return pctl_submission_dispatch(&r->work, kernel, bindings, n, t->groups);
}

static pctl_status record(struct running *r, pctl_list **out)
{
	const pctl_task_place *inputs = r->layout.inputs;
	pctl_status status = pctl_submission_open(&r->work);

	for (uint32_t i = 0; status == PCTL_OK && i < r->layout.n; i++) {
		const pctl_task *t = &r->layout.tasks[i];

		if (pctl_task_works(t))
			status = record_task(r, i, inputs);
		inputs += t->n_bindings;
	}
	pctl_submission_trace(&r->work, NULL, 0, 0);
	if (status == PCTL_OK)
		status = pctl_submission_end(&r->work, out);
	pctl_submission_drop(&r->work);
	return status;
}

static pctl_status record_and_submit(struct running *r)
{
	pctl_list *list;
	pctl_status status = record(r, &list);

	if (status != PCTL_OK)
		return status;
	r->work.started_ns = pctl_clock_ns();
	status = pctl_submission_run(&r->work, list, 1);
	r->work.t->list_destroy(r->work.dev, list);
	return status;
}

static pctl_layout_limits limits_of(const struct running *r)
{
	const pctl_device_caps *caps = pctl_session_caps(r->work.s);
	pctl_layout_limits l = {.align = 4,
				.most_bytes = r->limits->submit_bytes,
				.most_slab = UINT64_MAX,
				.most_tasks = r->limits->submit_tasks};

	if (l.most_bytes == 0)
		l.most_bytes = PCTL_TASKS_SUBMIT_BYTES;
	if (l.most_tasks == 0)
		l.most_tasks = PCTL_TASKS_SUBMIT_MOST;
	if (caps->memory_bytes != 0 && caps->memory_bytes / 2 < l.most_bytes)
		l.most_bytes = caps->memory_bytes / 2;
	if (caps->max_buffer_bytes != 0)
		l.most_slab = caps->max_buffer_bytes;
	while (l.align < caps->binding_alignment && l.align < 1u << 20)
		l.align *= 2;
	if (r->limits->shapes != NULL) {
		l.zones = pctl_shape_zones(r->limits->shapes, caps);
		l.between = BETWEEN * (1 + l.zones.key % BETWEEN_MOST);
	}
	return l;
}

/* As many tasks as one submission takes; *n of them were run. */
static pctl_status run_some(struct running *r, const pctl_task *tasks, uint32_t *n)
{
	const pctl_layout_limits limits = limits_of(r);
	const pctl_call *call = &r->work.call;
	char what[160];
	pctl_status status = pctl_layout_make(tasks, *n, &limits, call, &r->layout);

	*n = r->layout.n;
	snprintf(what, sizeof(what), "the submission of %" PRIu32 " jobs from \"%.80s\" on", *n,
		 tasks[0].name);
	r->work.what = what;
	/* No output, no work: nothing to ask a device for. */
	if (status == PCTL_OK && r->layout.slabs.n != 0) {
		status = create_buffers(r);
		if (status == PCTL_OK)
			status = pctl_layout_upload(&r->layout, r->work.s, call, &r->stats);
		if (status == PCTL_OK)
			status = record_and_submit(r);
	}
	if (status == PCTL_OK)
		status = pctl_layout_fetch(&r->layout, r->limits->held, r->work.s, call, &r->stats);
	for (uint32_t i = 0; i < r->layout.slabs.n; i++) {
		if (r->layout.slabs.items[i].buffer != NULL)
			r->work.t->buffer_destroy(r->work.dev, r->layout.slabs.items[i].buffer);
	}
	pctl_layout_clear(&r->layout);
	return status;
}

pctl_status pctl_tasks_run(pctl_session *s, const pctl_task_limits *limits, const pctl_task *tasks,
			   uint32_t n, const pctl_call *call, pctl_task_stats *stats)
{
	struct running r = {.limits = limits};
	pctl_status status = PCTL_OK;

	pctl_submission_begin(&r.work, s, "jobs", limits->timeout_ms, call);
	for (uint32_t at = 0; status == PCTL_OK && at < n;) {
		uint32_t some = n - at;

		status = run_some(&r, tasks + at, &some);
		at += some;
	}
	r.stats.submits = r.work.submits;
	r.stats.dispatches = r.work.dispatches;
	r.stats.device_ns = r.work.device_ns;
	if (stats != NULL)
		*stats = r.stats;
	return status;
}
