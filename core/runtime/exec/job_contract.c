/* Which program of a kernel a job runs: where one is proven under range contracts, the values that it binds are looked at
 * on the device, and it is taken if they fulfil them. What the device says of them is its claim: a wrong one makes
 * wrong bytes, as a wrong dispatch does, and is found as that. */
#include <stdlib.h>

#include "compiler/legalize/contract.h"
#include "foundation/base/bytes.h"
#include "runtime/exec/job_private.h"
#include "runtime/exec/readback.h"

#define MOST_WORDS (UINT64_C(1) << 31) /* as many as the check counts */

static int is_in(uint32_t bits)
{
	const uint32_t m = bits & 0x7fffffffu;

	return m == 0 || (m >= PCTL_CONTRACT_LEAST_BITS && m <= PCTL_CONTRACT_MOST_BITS);
}

/* Bytes that the host has: of a plan's parameters. */
static int are_in(const uint8_t *data, uint64_t n)
{
	for (uint64_t i = 0; i < n; i += 4) {
		if (!is_in((uint32_t)pctl_le_get(data + i, n - i < 4 ? n - i : 4)))
			return 0;
	}
	return 1;
}

/* No command of the plan writes to the buffer. */
static int is_kept(const pctl_job_plan *plan, uint32_t buffer)
{
	for (uint32_t i = 0; i < plan->n_steps; i++) {
		const pctl_step *step = &plan->steps[i];

		if (step->kind != PCTL_STEP_KERNEL && step->to == buffer)
			return 0;
		for (uint32_t k = 0; step->kind == PCTL_STEP_KERNEL && k < step->n_bindings; k++)
			if (step->bindings[k].buffer == buffer &&
			    pctl_job_writes(step->unit->program, &step->bindings[k]))
				return 0;
	}
	return 1;
}

static pctl_status dispatch_check(struct pctl_job_running *r, pctl_kernel *check,
				  const pctl_binding bindings[2], uint64_t n_words)
{
	pctl_list *list = NULL;
	uint32_t groups[3];
	pctl_status status = pctl_submission_open(&r->work);

	pctl_session_range_groups(r->s, n_words, groups);
	if (status == PCTL_OK)
		status = pctl_submission_dispatch(&r->work, check, bindings, 2, groups);
	if (status == PCTL_OK)
		status = pctl_submission_end(&r->work, &list);
	pctl_submission_drop(&r->work);
	if (status == PCTL_OK)
		status = pctl_submission_run(&r->work, list, 1);
	if (list != NULL)
		r->t->list_destroy(r->dev, list);
	return status;
}

/* Ask the device of an input. */
static pctl_status look(struct pctl_job_running *r, uint32_t input, uint64_t n_bytes, int *is)
{
	const uint32_t usage = PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER;
	pctl_binding bindings[2] = {{0, 0, r->inputs[input], r->lie[input].before, n_bytes},
				    {0, 1, NULL, 0, 4}};
	uint8_t found[4] = {1, 0, 0, 0};
	pctl_kernel *check;
	/* Built as the job has its kernels, but no round of its work. */
	pctl_status status;

	pctl_submission_trace(&r->work, r->plan->name, PCTL_TRACE_ROUND_MAX, 0);
	status = pctl_session_range_check(r->s, r->call, &check);
	if (status == PCTL_OK)
		status = r->t->buffer_create(r->dev, r->call, 4, usage, &bindings[1].buffer);
	if (status == PCTL_OK)
		status = dispatch_check(r, check, bindings, n_bytes / 4);
	if (status == PCTL_OK)
		status = pctl_readback_fill(r->s, r->call, bindings[1].buffer, 0, found,
					    sizeof(found));
	if (bindings[1].buffer != NULL)
		r->t->buffer_destroy(r->dev, bindings[1].buffer);
	pctl_submission_trace(&r->work, r->plan->name, 0, 0);
	*is = !(found[0] | found[1] | found[2] | found[3]);
	return status;
}

/* Of an input of the job: from the value, from what is remembered of its CID, or looked up now. */
static pctl_status is_input_in(struct pctl_job_running *r, uint32_t input, pctl_value *v, int *is)
{
	const pctl_device_caps *caps = pctl_session_caps(r->s);
	const pctl_cid *cid = v->source == NULL ? NULL : pctl_source_cid(v->source);
	const uint64_t n = (v->n_bytes + 3) & ~UINT64_C(3);
	pctl_status status = PCTL_OK;
	uint32_t place = 0;
	int known;

	*is = n == 0;
	if (n == 0 || n > caps->max_binding_bytes || n / 4 > MOST_WORDS)
		return PCTL_OK;
	while (place < v->n_at && v->at[place].session != r->s)
		place++;
	known = place == v->n_at || v->at[place].range == 0 ? -1 : v->at[place].range == 1;
	if (known < 0 && cid != NULL)
		known = pctl_session_range_known(r->s, cid);
	if (known < 0) {
		status = look(r, input, n, is);
		r->looked += status == PCTL_OK;
		if (status == PCTL_OK && cid != NULL)
			pctl_session_range_note(r->s, cid, *is);
	} else {
		*is = known;
	}
	if (status == PCTL_OK && place < v->n_at)
		v->at[place].range = *is ? 1 : 2;
	return status;
}

/* 1: a variable of the step is bound to what fulfils the contract, in every round. */
static pctl_status is_bound_in(struct pctl_job_running *r, const pctl_step *step,
			       const pctl_var *var, pctl_value *const *in, int *is)
{
	for (uint32_t i = 0; i < step->n_bindings; i++) {
		const pctl_plan_binding *b = &step->bindings[i];
		const pctl_plan_buffer *buffer = &r->plan->buffers[b->buffer];

		if (b->group != var->group || b->binding != var->binding)
			continue;
		*is = 0;
		if (!is_kept(r->plan, b->buffer))
			return PCTL_OK;
		if (buffer->kind == PCTL_PLAN_PARAMS || buffer->kind == PCTL_PLAN_CONSTANT)
			*is = are_in((const uint8_t *)buffer->data + b->offset, b->n_bytes);
		if (buffer->kind != PCTL_PLAN_INPUT ||
		    (r->run->repeat > 1 && r->run->carry != NULL && r->run->carry[b->buffer] != 0))
			return PCTL_OK;
		return is_input_in(r, b->buffer, in[b->buffer], is);
	}
	return PCTL_OK; /* nothing is bound, and nothing read */
}

static pctl_status choose(struct pctl_job_running *r, uint32_t index, pctl_value *const *in)
{
	const pctl_step *step = &r->plan->steps[index];
	const pctl_program *p = step->unit->program;
	uint8_t *has = NULL;
	pctl_kernel *other;
	pctl_status status = pctl_session_contract_kernel(r->s, step->unit, r->call, &other);
	int is = 1;

	if (status != PCTL_OK || other == NULL)
		return status;
	has = calloc(p->n_vars + 1u, 1);
	if (has == NULL)
		return pctl_no_memory(r->call, "a job");
	pctl_contract_vars(p, has);
	for (uint32_t i = 0; status == PCTL_OK && is && i < p->n_vars; i++)
		if (has[i])
			status = is_bound_in(r, step, &p->vars[i], in, &is);
	free(has);
	if (status == PCTL_OK && is)
		r->kernels[index] = other;
	r->fast += status == PCTL_OK && is;
	r->safe += status == PCTL_OK && !is;
	return status;
}

pctl_status pctl_job_choose_programs(struct pctl_job_running *r, pctl_value *const *in)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < r->plan->n_steps; i++)
		if (r->plan->steps[i].kind == PCTL_STEP_KERNEL)
			status = choose(r, i, in);
	return status;
}
