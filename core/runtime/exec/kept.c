/* A plan that stays on a session; see kept.h. It is a job under way that is never torn down between its submits. */
#include "runtime/exec/kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/job_private.h"

struct pctl_kept_plan {
	struct pctl_job_running r;
	pctl_job_run run;
	pctl_list *list;
	uint8_t *is_given;
	uint32_t *marks;
	uint32_t n_marks, reserved;
	pctl_kept_plan_stats stats;
};

static pctl_status make(pctl_kept_plan *k, uint32_t i)
{
	static const uint8_t none[4] = {0};
	const pctl_plan_buffer *b = &k->r.plan->buffers[i];
	pctl_status status;

	if (b->kind == PCTL_PLAN_CONSTANT) {
		k->is_given[i] = 1; /* the session's */
		return pctl_session_constant(k->r.s, b, k->r.call, &k->r.own[i]);
	}
	status = k->r.t->buffer_create(k->r.dev, k->r.call, b->n_bytes, b->usage, &k->r.own[i]);
	if (status == PCTL_OK && b->kind == PCTL_PLAN_PARAMS && b->n_bytes != 0)
		status = k->r.t->buffer_write(k->r.dev, k->r.call, k->r.own[i], 0, b->data,
					      b->n_bytes);
	if (status == PCTL_OK && b->kind == PCTL_PLAN_TURNS)
		status =
			k->r.t->buffer_write(k->r.dev, k->r.call, k->r.own[i], 0, none, b->n_bytes);
	return status;
}

static pctl_status make_buffers(pctl_kept_plan *k, pctl_buffer *const *buffers)
{
	const pctl_job_plan *plan = k->r.plan;
	pctl_status status = PCTL_OK;

	if (pctl_session_pools(k->r.s, plan))
		status = k->r.t->buffer_create(k->r.dev, k->r.call, plan->pool_bytes,
					       PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM |
						       PCTL_BUFFER_TRANSFER | PCTL_BUFFER_INDIRECT,
					       &k->r.pool);
	for (uint32_t i = 0; status == PCTL_OK && i < plan->n_buffers; i++) {
		k->is_given[i] = buffers[i] != NULL;
		if (i < plan->n_in)
			k->r.inputs[i] = buffers[i];
		else if (buffers[i] != NULL)
			k->r.own[i] = buffers[i];
		else if (k->r.pool == NULL || plan->buffers[i].kind != PCTL_PLAN_TEMP)
			status = make(k, i);
	}
	return status;
}

static pctl_status make_kernels(pctl_kept_plan *k)
{
	const pctl_job_plan *plan = k->r.plan;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < plan->n_steps; i++)
		if (plan->steps[i].kind == PCTL_STEP_KERNEL)
			status = pctl_session_kernel(k->r.s, plan->steps[i].unit, k->r.call,
						     &k->r.kernels[i]);
	return status;
}

static int make_tables(pctl_kept_plan *k, const uint32_t *marks, uint32_t n_marks)
{
	const pctl_job_plan *plan = k->r.plan;

	k->r.kernels = calloc(plan->n_steps + 1u, sizeof(*k->r.kernels));
	k->r.own = calloc(plan->n_buffers + 1u, sizeof(*k->r.own));
	k->r.second = calloc(plan->n_buffers + 1u, sizeof(*k->r.second));
	k->r.inputs = calloc(plan->n_in + 1u, sizeof(*k->r.inputs));
	k->r.lie = calloc(plan->n_in + 1u, sizeof(*k->r.lie));
	k->is_given = calloc(plan->n_buffers + 1u, 1);
	k->marks = calloc(n_marks + 1u, sizeof(*k->marks));
	if (k->r.kernels == NULL || k->r.own == NULL || k->r.second == NULL ||
	    k->r.inputs == NULL || k->r.lie == NULL || k->is_given == NULL || k->marks == NULL)
		return 0;
	for (uint32_t i = 0; i < n_marks; i++)
		k->marks[i] = marks[i];
	k->n_marks = pctl_session_caps(k->r.s)->timestamp_ns_den == 0 ? 0 : n_marks;
	return 1;
}

pctl_status pctl_kept_plan_open(pctl_session *s, const pctl_job_plan *plan,
				pctl_buffer *const *buffers, const uint32_t *marks,
				uint32_t n_marks, const pctl_call *call, pctl_kept_plan **out)
{
	pctl_kept_plan *k = calloc(1, sizeof(*k));
	pctl_status status;

	*out = NULL;
	if (k == NULL)
		return pctl_no_memory(call, "a program");
	k->run = (pctl_job_run){.plan = plan, .repeat = 1};
	k->r = (struct pctl_job_running){.s = s,
					 .t = pctl_session_table(s),
					 .dev = pctl_session_device(s),
					 .run = &k->run,
					 .plan = plan,
					 .call = &k->r.work.call};
	snprintf(k->r.what, sizeof(k->r.what), "program \"%.200s\"", plan->name);
	pctl_submission_begin(&k->r.work, s, k->r.what, 0, call);
	status = make_tables(k, marks, n_marks) ? PCTL_OK : pctl_no_memory(call, "a program");
	k->run.marks = k->marks;
	k->run.n_marks = k->n_marks;
	if (status == PCTL_OK)
		status = make_kernels(k);
	if (status == PCTL_OK)
		status = make_buffers(k, buffers);
	if (status == PCTL_OK)
		status = pctl_job_record(&k->r, 0, 1, 0, &k->list);
	k->stats.dispatches = k->r.work.dispatches;
	k->stats.barriers = k->r.barriers;
	if (status == PCTL_OK)
		*out = k;
	else
		pctl_kept_plan_close(k);
	return status;
}

void pctl_kept_plan_close(pctl_kept_plan *k)
{
	if (k == NULL)
		return;
	if (k->list != NULL)
		k->r.t->list_destroy(k->r.dev, k->list);
	if (k->r.pool != NULL)
		k->r.t->buffer_destroy(k->r.dev, k->r.pool);
	for (uint32_t i = 0; k->r.own != NULL && k->is_given != NULL && i < k->r.plan->n_buffers;
	     i++)
		if (k->r.own[i] != NULL && !k->is_given[i])
			k->r.t->buffer_destroy(k->r.dev, k->r.own[i]);
	free(k->r.kernels);
	free(k->r.own);
	free(k->r.second);
	free(k->r.inputs);
	free(k->r.lie);
	free(k->is_given);
	free(k->marks);
	free(k);
}

pctl_status pctl_kept_plan_run(pctl_kept_plan *k, uint32_t times, uint64_t timeout_ms,
			       const pctl_call *call)
{
	pctl_status status;

	pctl_submission_begin(&k->r.work, k->r.s, k->r.what, timeout_ms, call);
	pctl_submission_trace(&k->r.work, k->r.plan->name, (uint32_t)k->stats.rounds, 0);
	status = pctl_submission_run(&k->r.work, k->list, times);
	k->stats.submits += k->r.work.submits;
	k->stats.device_ns = k->r.work.device_ns;
	k->stats.host_ns = k->r.work.time.host_ns;
	k->stats.n_stamps = k->r.work.n_stamps;
	memcpy(k->stats.stamps, k->r.work.stamps, sizeof(k->stats.stamps));
	if (status == PCTL_OK)
		k->stats.rounds += times;
	return status == PCTL_OK ? pctl_job_check_turns(&k->r) : status;
}

const pctl_kept_plan_stats *pctl_kept_plan_stats_of(const pctl_kept_plan *k)
{
	return &k->stats;
}
