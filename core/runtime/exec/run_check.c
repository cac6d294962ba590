/* Checks around a job: uniforms against their declared maxima before it runs, and the same job on
 * the reference after. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/bytes.h"
#include "foundation/diag/diag.h"
#include "runtime/exec/adversary.h"
#include "runtime/exec/run_private.h"

pctl_status pctl_run_refuse_max(const pctl_job_plan *plan, const pctl_step *step, const pctl_max *m,
				uint64_t value, const pctl_call *call)
{
	const pctl_program *p = step->unit->program;

	return pctl_refuse(call, PC4135_UNIFORM_MAX,
			   "job \"%s\": kernel %s: uniform \"%s\" holds %" PRIu64
			   ", its declared maximum is %" PRIu64,
			   plan->name, step->unit->name, pctl_str(p, p->vars[m->var].name), value,
			   m->value);
}

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
		if (buffer->kind == PCTL_PLAN_PARAMS || buffer->kind == PCTL_PLAN_CONSTANT)
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
		value = pctl_le_get(raw, bytes);
		if (value > m->value)
			return pctl_run_refuse_max(plan, step, m, value, r->call);
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
	return at >= n ? 0 : pctl_le_get(data + at, n - at < bytes ? n - at : bytes);
}

/* " (fused with a, b)", or nothing. */
static const char *fused_with(pctl_running *r, const pctl_run_node *n)
{
	const char *text = "";

	for (uint32_t i = 0; n->group != NULL && text != NULL && i + 1 < n->group->n_jobs; i++)
		text = pctl_arena_printf(r->result->arena, "%s%s%s", text,
					 i == 0 ? " (fused with " : ", ",
					 r->nodes[n->group->jobs[i]].node->job->id);
	if (n->group != NULL && text != NULL)
		text = pctl_arena_printf(r->result->arena, "%s)", text);
	return text == NULL ? "" : text;
}

/* Compare two results byte for byte and name the first element that differs, with both bit patterns. What was read
 * from the device for it stays with its value: it is what is hashed and handed out. */
static pctl_status compare(pctl_running *r, const pctl_run_node *n, uint32_t out, pctl_value *mine,
			   pctl_value *reference)
{
	uint32_t element = pctl_dtype_bytes(n->out[out].dtype);
	uint64_t bytes = pctl_value_bytes(mine), at = 0;
	const uint8_t *theirs, *right;
	pctl_status status = pctl_value_hold(mine, r->call, &theirs);

	if (element == 0 || element > 8)
		element = 4;
	if (status == PCTL_OK)
		status = pctl_value_hold(reference, r->call, &right);
	if (status != PCTL_OK || memcmp(theirs, right, bytes) == 0)
		return status;
	while (theirs[at] == right[at])
		at++;
	at -= at % element;
	return pctl_refuse(r->call, PC5208_MISMATCH,
			   "job \"%s\"%s output \"%s\" element %" PRIu64 ": right is 0x%0*" PRIx64
			   " (%s), %s gives 0x%0*" PRIx64,
			   n->node->job->id, fused_with(r, n), pctl_node_out_name(n->node, out),
			   at / element, (int)element * 2, element_at(right, bytes, at, element),
			   pctl_session_name(r->reference != NULL ? r->reference : r->checker),
			   pctl_session_name(n->session), (int)element * 2,
			   element_at(theirs, bytes, at, element));
}

static pctl_status open_reference(pctl_running *r)
{
	return r->reference != NULL ? PCTL_OK : pctl_run_session(r, PCTL_REFERENCE, &r->reference);
}

static pctl_status first_build(pctl_running *r, const pctl_run_node *n,
			       const pctl_profile_record *profile, const pctl_step *step)
{
	int due;
	pctl_status status = pctl_adversary_is_due(r->o->profiles, profile, n->session, step->unit,
						   r->call, &due);

	if (status != PCTL_OK || !due)
		return status;
	status = open_reference(r);
	return status == PCTL_OK
		       ? pctl_adversary_judge(r->o->profiles, profile, n->session, r->reference,
					      step->unit, step->groups, n->node->job->id, r->call)
		       : status;
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

/* ---- the same on the reference -------------------------------------------------------------- */

/* Work of a device that the reference does again: a job, or the measure of a size. */
typedef struct again {
	pctl_running *r;
	const pctl_run_node *n;
	const pctl_job_run *run; /* NULL: the measure */
	pctl_value *const *in;
	pctl_value **out;
	uint64_t size;
} again;

/* As written. What the reference says of it goes to `call`. */
static pctl_status do_again(again *x, const pctl_call *call)
{
	pctl_job_run reference;
	pctl_run_teller teller;

	pctl_run_tell(&teller, x->r, x->n, "verify", x->r->reference);
	if (x->run == NULL)
		return pctl_job_measure(x->r->reference, x->n->measure, x->in,
					x->r->o->policy->time_ms, &teller.sink, call, &x->size);
	reference = *x->run;
	reference.plan = x->n->canonical;
	reference.progress = &teller.sink;
	reference.trace = PCTL_TRACE_JOBS;
	reference.held = 0;
	reference.places = NULL;
	reference.shape = NULL;
	if (x->n->group != NULL)
		return pctl_run_group_apart(x->r, x->n->group, x->r->reference, &reference, call,
					    &x->out[0]);
	return pctl_job_execute(x->r->reference, &reference, x->in, call, x->out, NULL);
}

/* Do it again, and hold what became of it on the device, a result or a failure of its data, against that: PC5208 where one
 * fails and the other does not. With two results PCTL_OK, and the caller compares them; with two failures the device's,
 * which was told already. */
static pctl_status judge(again *x, pctl_status device)
{
	pctl_running *r = x->r;
	const char *what = x->run == NULL ? "a size found in its data: " : "";
	pctl_diag_list *quiet = pctl_diag_list_create();
	pctl_status status = quiet == NULL ? pctl_no_memory(r->call, "a run") : open_reference(r);

	if (status == PCTL_OK) {
		pctl_diag_list_set_cancel(quiet, r->call->cancelled, r->call->ctx);
		status = do_again(x, device == PCTL_OK ? r->call : pctl_diag_list_call(quiet));
		if (status == PCTL_E_EXEC && device == PCTL_OK)
			status = pctl_refuse(
				r->call, PC5208_MISMATCH,
				"job \"%s\": %sthe reference fails it, which is right; %s "
				"gives a result",
				x->n->node->job->id, what, pctl_session_name(x->n->session));
		else if (status == PCTL_OK && device != PCTL_OK)
			status = pctl_refuse(
				r->call, PC5208_MISMATCH,
				"job \"%s\": %s%s fails it, the reference gives a result, "
				"which is right",
				x->n->node->job->id, what, pctl_session_name(x->n->session));
	}
	pctl_diag_list_destroy(quiet);
	return status;
}

/* The run that looked for races gave the bytes too, where it ran the plan as written. */
static uint32_t take_observed(pctl_run_node *n, pctl_value **out)
{
	const uint32_t has = n->observed;

	for (uint32_t i = 0; i < n->node->n_out; i++) {
		out[i] = n->right[i];
		n->right[i] = NULL;
	}
	n->observed = 0;
	return has;
}

pctl_status pctl_run_verify(pctl_running *r, pctl_run_node *n, const pctl_job_run *run,
			    pctl_value *const *in, pctl_status device)
{
	pctl_value *right[PCTL_PORTS_MAX] = {NULL};
	again x = {r, n, run, in, right, 0};
	pctl_status status = PCTL_OK;

	/* What the device gave is in the host's hands already. */
	if (device != PCTL_OK || !take_observed(n, right))
		status = judge(&x, device);
	for (uint32_t i = 0; i < n->node->n_out; i++) {
		if (status == PCTL_OK)
			status = compare(r, n, i, n->values[i], right[i]);
		pctl_value_release(right[i]);
	}
	return status;
}

pctl_status pctl_run_verify_measure(pctl_running *r, const pctl_run_node *n, pctl_value *const *in,
				    pctl_status device, uint64_t found)
{
	again x = {r, n, NULL, in, NULL, 0};
	pctl_status status = judge(&x, device);

	if (status == PCTL_OK && x.size != found)
		status = pctl_refuse(r->call, PC5208_MISMATCH,
				     "job \"%s\": a size found in its data: right is %" PRIu64
				     " (%s), %s gives %" PRIu64,
				     n->node->job->id, x.size, pctl_session_name(r->reference),
				     pctl_session_name(n->session), found);
	return status;
}

/* Where a node's outputs begin among those of all jobs in the graph's order. */
static uint32_t first_agreed(const pctl_running *r, const pctl_run_node *n)
{
	uint32_t first = 0;

	for (uint32_t i = 0; &r->nodes[r->graph->order[i]] != n; i++)
		first += r->graph->nodes[r->graph->order[i]].n_out;
	return first;
}

pctl_status pctl_run_check_agreed(pctl_running *r, const pctl_run_node *n)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < n->node->n_out; i++) {
		const uint8_t *data;
		pctl_cid cid;

		status = pctl_value_hold(n->values[i], r->call, &data);
		if (status == PCTL_OK)
			status = pctl_cid_of(data, pctl_value_bytes(n->values[i]), r->call, &cid);
		if (status == PCTL_OK &&
		    pctl_cid_compare(&cid, &r->o->agreed->cids[first_agreed(r, n) + i]) != 0)
			status = pctl_refuse(
				r->call, PC5235_QUORUM,
				"job \"%s\" output \"%s\": run once more, %s gives other "
				"bytes than the devices agreed on",
				n->node->job->id, pctl_node_out_name(n->node, i),
				pctl_session_name(n->session));
	}
	return status;
}
