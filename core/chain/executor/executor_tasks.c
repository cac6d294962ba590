/* Checking, recording and submitting tasks on one device. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "chain/executor/executor_layout.h"
#include "foundation/base/clock.h"

#define WAIT_SLICE_NS (100ull * 1000 * 1000)
#define STOP_SLICES 100u /* how long a cancelled submission is waited for */
#define MOST_BINDINGS 64u

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
	pctl_session *s;
	const pctl_backend *t;
	pctl_device *dev;
	const pctl_task_limits *limits;
	pctl_call call; /* with a trace id of this file's, where `traced` */
	uint32_t traced;
	pctl_task_layout layout;
	pctl_list *list;
	pctl_task_stats stats;
};

static void trace(struct running *r, const char *job)
{
	if (r->traced)
		r->call.trace_id = job == NULL ? 0 : pctl_trace(job, 0, 0);
}

/* Buffers start as zeros, so outputs need nothing more. */
static pctl_status create_buffers(struct running *r)
{
	const uint32_t usage = PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM | PCTL_BUFFER_TRANSFER;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < r->layout.slabs.n; i++) {
		pctl_task_slab *slab = &r->layout.slabs.items[i];

		status = r->t->buffer_create(r->dev, &r->call, pctl_num_align(slab->n_bytes, 4),
					     usage, &slab->buffer);
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
	pctl_status status = pctl_session_kernel(r->s, t->unit, &r->call, &kernel);

	if (status != PCTL_OK)
		return status;
	bindings[n++] = bind(r, 1, 0, &r->layout.outputs[index], t->n_output);
	for (uint32_t i = 0; i < t->n_bindings && n < MOST_BINDINGS; i++) {
		const pctl_task_binding *b = &t->bindings[i];

		if (pctl_task_var(t->unit->program, b->group, b->binding) != NULL)
			bindings[n++] = bind(r, b->group, b->binding, &inputs[i], b->n_bytes);
	}
	trace(r, t->name);
	r->stats.dispatches++;
	return r->t->list_dispatch(r->list, &r->call, kernel, bindings, n, t->groups);
}

static pctl_status record(struct running *r)
{
	const pctl_task_place *inputs = r->layout.inputs;
	pctl_status status = r->t->list_begin(r->dev, &r->call, &r->list);

	for (uint32_t i = 0; status == PCTL_OK && i < r->layout.n; i++) {
		const pctl_task *t = &r->layout.tasks[i];

		if (pctl_task_works(t))
			status = record_task(r, i, inputs);
		inputs += t->n_bindings;
	}
	trace(r, NULL);
	return status == PCTL_OK ? r->t->list_end(r->list, &r->call) : status;
}

static pctl_status stop_if_due(const struct running *r, uint64_t started_ns)
{
	const uint64_t limit = r->limits->timeout_ms;

	if (pctl_is_cancelled(&r->call))
		return pctl_refuse(&r->call, PC4_CANCELLED, "the jobs on %s were cancelled",
				   pctl_session_name(r->s));
	if (limit != 0 && (pctl_clock_ns() - started_ns) / 1000000u > limit)
		return pctl_refuse(
			&r->call, PC5206_TIMEOUT,
			"%" PRIu32 " jobs from \"%s\" on ran longer than %" PRIu64 " ms on %s",
			r->layout.n, r->layout.tasks[0].name, limit, pctl_session_name(r->s));
	return PCTL_OK;
}

/* Stop what is under way and wait until it has: its buffers are about to go. */
static void stop(struct running *r, uint64_t ticket)
{
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
	pctl_status status = PCTL_OK;

	r->t->cancel(r->dev, ticket);
	for (uint32_t i = 0; i < STOP_SLICES && status == PCTL_OK && !done.done; i++)
		status = r->t->wait(r->dev, &r->call, ticket, WAIT_SLICE_NS, &done);
}

static pctl_status submit(struct running *r)
{
	const uint64_t started_ns = pctl_clock_ns();
	uint64_t ticket = 0;
	pctl_status status = stop_if_due(r, started_ns);

	if (status == PCTL_OK)
		status = r->t->submit(r->dev, &r->call, r->list, 1, &ticket);
	r->stats.submits++;
	while (status == PCTL_OK) {
		pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};

		status = r->t->wait(r->dev, &r->call, ticket, WAIT_SLICE_NS, &done);
		r->stats.device_ns += done.device_ns;
		if (status != PCTL_OK || done.done)
			return status;
		status = stop_if_due(r, started_ns);
		if (status != PCTL_OK)
			stop(r, ticket);
	}
	return status;
}

static pctl_layout_limits limits_of(const struct running *r)
{
	const pctl_device_caps *caps = pctl_session_caps(r->s);
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
	return l;
}

/* As many tasks as one submission takes; *n of them were run. */
static pctl_status run_some(struct running *r, const pctl_task *tasks, uint32_t *n)
{
	const pctl_layout_limits limits = limits_of(r);
	pctl_status status = pctl_layout_make(tasks, *n, &limits, &r->call, &r->layout);

	*n = r->layout.n;
	/* No output, no work: nothing to ask a device for. */
	if (status == PCTL_OK && r->layout.slabs.n != 0) {
		status = create_buffers(r);
		if (status == PCTL_OK)
			status = pctl_layout_upload(&r->layout, r->s, &r->call, &r->stats);
		if (status == PCTL_OK)
			status = record(r);
		if (status == PCTL_OK)
			status = submit(r);
	}
	if (status == PCTL_OK)
		status = pctl_layout_fetch(&r->layout, r->s, &r->call, &r->stats);
	if (r->list != NULL)
		r->t->list_destroy(r->dev, r->list);
	r->list = NULL;
	for (uint32_t i = 0; i < r->layout.slabs.n; i++) {
		if (r->layout.slabs.items[i].buffer != NULL)
			r->t->buffer_destroy(r->dev, r->layout.slabs.items[i].buffer);
	}
	pctl_layout_clear(&r->layout);
	return status;
}

pctl_status pctl_tasks_run(pctl_session *s, const pctl_task_limits *limits, const pctl_task *tasks,
			   uint32_t n, const pctl_call *call, pctl_task_stats *stats)
{
	struct running r = {.s = s,
			    .t = pctl_session_table(s),
			    .dev = pctl_session_device(s),
			    .limits = limits,
			    .call = {.head = PCTL_HEAD(pctl_call)}};
	pctl_status status = PCTL_OK;

	if (call != NULL)
		r.call = *call;
	r.traced = r.call.trace_id == 0;
	for (uint32_t at = 0; status == PCTL_OK && at < n;) {
		uint32_t some = n - at;

		status = run_some(&r, tasks + at, &some);
		at += some;
	}
	if (stats != NULL)
		*stats = r.stats;
	return status;
}
