/* Checks around a job: uniforms against their declared maxima before it runs, and the same job on
 * the reference after. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exec/adversary.h"
#include "exec/run_private.h"

static pctl_status check_one(pctl_running *r, const pctl_job_run *run, const pctl_step *step,
			     const pctl_max *m, pctl_value *const *in)
{
	const pctl_job_plan *plan = run->plan;
	const pctl_program *p = step->unit->program;
	const pctl_var *v = &p->vars[m->var];
	uint8_t raw[8] = {0};
	uint64_t offset, value = 0;
	uint32_t bytes;

	if (!pctl_kernel_max_place(p, m, &offset, &bytes))
		return PCTL_OK;
	for (uint32_t i = 0; i < step->n_bindings; i++) {
		const pctl_plan_binding *b = &step->bindings[i];
		const pctl_plan_buffer *buffer = &plan->buffers[b->buffer];
		pctl_status status = PCTL_OK;

		if (b->group != v->group || b->binding != v->binding || offset + bytes > b->n_bytes)
			continue;
		if (buffer->kind == PCTL_PLAN_PARAMS)
			memcpy(raw, (const uint8_t *)buffer->data + b->offset + offset, bytes);
		else if (buffer->kind == PCTL_PLAN_INPUT &&
			 (run->repeat < 2 || run->carry == NULL || run->carry[b->buffer] == 0))
			status = pctl_value_read(in[b->buffer], b->offset + offset, raw, bytes,
						 r->call);
		else
			return pctl_refuse(r->call, PC4135_UNIFORM_MAX,
					   "job \"%s\": kernel %s: a uniform with a declared "
					   "maximum is computed by the job itself",
					   plan->name, step->unit->name);
		if (status != PCTL_OK)
			return status;
		for (uint32_t k = 0; k < bytes; k++)
			value |= (uint64_t)raw[k] << (8 * k);
		if (value > m->value)
			return pctl_refuse(r->call, PC4135_UNIFORM_MAX,
					   "job \"%s\": kernel %s: uniform \"%s\" holds %" PRIu64
					   ", its declared maximum is %" PRIu64,
					   plan->name, step->unit->name, pctl_str(p, v->name),
					   value, m->value);
	}
	return PCTL_OK;
}

pctl_status pctl_run_check_maxima(pctl_running *r, const pctl_job_run *run, pctl_value *const *in)
{
	const pctl_job_plan *plan = run->plan;
	pctl_status first = PCTL_OK;

	for (uint32_t i = 0; i < plan->n_steps; i++) {
		const pctl_step *step = &plan->steps[i];

		for (uint32_t m = 0;
		     step->kind == PCTL_STEP_KERNEL && m < step->unit->program->n_maxima; m++) {
			pctl_status status =
				check_one(r, run, step, &step->unit->program->maxima[m], in);

			if (first == PCTL_OK)
				first = status;
		}
	}
	return first;
}

static uint64_t element_at(const uint8_t *data, uint64_t n, uint64_t at, uint32_t bytes)
{
	uint64_t value = 0;

	for (uint32_t k = 0; k < bytes && at + k < n; k++)
		value |= (uint64_t)data[at + k] << (8 * k);
	return value;
}

/* Compare two results byte for byte and name the first element that differs, with both bit
 * patterns. */
static pctl_status compare(pctl_running *r, const pctl_run_node *n, uint32_t out, pctl_value *mine,
			   pctl_value *theirs)
{
	uint32_t element = pctl_dtype_bytes(n->out[out].dtype);
	uint64_t bytes = pctl_value_bytes(mine);
	uint8_t *a = NULL, *b = NULL;
	pctl_status status = pctl_value_fetch(mine, r->call, &a);

	if (element == 0 || element > 8)
		element = 4;
	if (status == PCTL_OK)
		status = pctl_value_fetch(theirs, r->call, &b);
	if (status == PCTL_OK && memcmp(a, b, bytes) != 0) {
		uint64_t at = 0;

		while (a[at] == b[at])
			at++;
		at -= at % element;
		status = pctl_refuse(r->call, PC5208_MISMATCH,
				     "job \"%s\" output \"%s\" element %" PRIu64
				     ": %s gives 0x%0*" PRIx64 ", %s gives 0x%0*" PRIx64,
				     n->node->job->id, pctl_node_out_name(n->node, out),
				     at / element, pctl_session_name(n->session), (int)element * 2,
				     element_at(a, bytes, at, element),
				     pctl_session_name(r->reference), (int)element * 2,
				     element_at(b, bytes, at, element));
	}
	free(a);
	free(b);
	return status;
}

static pctl_status first_build(pctl_running *r, const pctl_run_node *n,
			       const pctl_profile_record *profile, const pctl_step *step)
{
	pctl_session *s = n->session;
	pctl_call call = *r->call;
	pctl_status status = PCTL_OK, revoked;
	char cause[256];
	int agreed;

	if (!pctl_adversary_applies(step->unit) ||
	    pctl_profiles_was_checked(r->o->profiles, profile, &step->unit->cid))
		return PCTL_OK;
	/* Built as the job will have it, but no round of its work. */
	call.trace_id = pctl_trace(n->node->job->id, PCTL_TRACE_ROUND_MAX, 0);
	if (r->reference == NULL)
		status = pctl_run_session(r, "cpu", &r->reference);
	if (status == PCTL_OK)
		status = pctl_adversary_run(s, r->reference, step->unit, step->groups, &call,
					    &agreed, cause);
	if (status != PCTL_OK)
		return status;
	if (agreed) {
		pctl_profiles_note_checked(r->o->profiles, profile, &step->unit->cid);
		return PCTL_OK;
	}
	revoked = pctl_profiles_revoke(r->o->profiles, profile, cause, r->call);
	status = pctl_refuse(r->call, PC5216_ADVERSARY, "%s: %s", pctl_session_name(s), cause);
	return revoked == PCTL_OK ? status : revoked;
}

pctl_status pctl_run_first_builds(pctl_running *r, pctl_run_node *n, const pctl_job_plan *plan)
{
	const pctl_profile_record *profile;
	pctl_status status;

	if (plan->determinism < PCTL_CLASS_STRICT || r->o->flags & PCTL_RUN_NATIVE)
		return PCTL_OK;
	status = pctl_session_profile(n->session, r->call, &profile);
	for (uint32_t i = 0; i < plan->n_steps && status == PCTL_OK && profile != NULL; i++)
		if (plan->steps[i].kind == PCTL_STEP_KERNEL)
			status = first_build(r, n, profile, &plan->steps[i]);
	return status;
}

pctl_status pctl_run_verify(pctl_running *r, pctl_run_node *n, const pctl_job_run *run,
			    pctl_value *const *in)
{
	pctl_value *again[PCTL_PORTS_MAX] = {NULL};
	pctl_job_run reference = *run;
	pctl_status status = PCTL_OK;

	if (r->reference == NULL)
		status = pctl_run_session(r, "cpu", &r->reference);
	reference.plan = n->canonical;
	reference.watch = PCTL_WATCH_JOBS;
	if (status == PCTL_OK)
		status = pctl_job_execute(r->reference, &reference, in, r->call, again, NULL);
	for (uint32_t i = 0; i < n->node->n_out; i++) {
		if (status == PCTL_OK)
			status = compare(r, n, i, n->values[i], again[i]);
		pctl_value_release(again[i]);
	}
	return status;
}
