/* The hunt of a dispute: the first line that differs, the run up to it, the reference's answer. */
#include "evidence/receipt/dispute.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "runtime/graph/jobplan_step.h"
#include "evidence/receipt/dispute_private.h"

uint32_t pctl_dispute_level(const pctl_receipt *a, const pctl_receipt *b)
{
	return a->level < b->level ? a->level : b->level;
}

/* ---- whether there is a dispute ----------------------------------------------------------- */

static pctl_status same_question(const pctl_receipt *a, const pctl_receipt *b,
				 const pctl_call *call)
{
	pctl_str_buf x = PCTL_STR_BUF_INIT, y = PCTL_STR_BUF_INIT;
	pctl_status status = pctl_receipt_question(a, call, &x);
	const char *p, *q;

	if (status == PCTL_OK)
		status = pctl_receipt_question(b, call, &y);
	p = x.data;
	q = y.data;
	while (status == PCTL_OK && *p != '\0') {
		const size_t n = strcspn(p, "\n"), k = strcspn(q, "\n");

		if (n != k || memcmp(p, q, n) != 0) {
			status = pctl_refuse(call, PC5912_DISPUTE_QUESTION,
					     "%s says \"%.*s\", %s says \"%.*s\"", a->name, (int)n,
					     p, b->name, (int)k, q);
			break;
		}
		p += n + (p[n] != '\0');
		q += k + (q[k] != '\0');
	}
	pctl_str_drop(&x);
	pctl_str_drop(&y);
	return status;
}

static int same_outputs(const pctl_receipt *a, const pctl_receipt *b)
{
	if (a->n_outputs != b->n_outputs)
		return 0;
	for (uint32_t i = 0; i < a->n_outputs; i++)
		if (pctl_cid_compare(&a->outputs[i].cid, &b->outputs[i].cid) != 0)
			return 0;
	return 1;
}

pctl_status pctl_dispute_check(const pctl_receipt *a, const pctl_receipt *b, const pctl_call *call)
{
	uint32_t at[2], n_same;
	pctl_status status = same_question(a, b, call);

	if (status != PCTL_OK)
		return status;
	if (!a->executed || !b->executed)
		return pctl_refuse(
			call, same_outputs(a, b) ? PC5911_DISPUTE_NOTHING : PC5903_RECEIPT_NO_TRACE,
			"%s has no trace: its outputs came from the memo and nothing was run",
			a->executed ? b->name : a->name);
	if (same_outputs(a, b) &&
	    !pctl_receipt_compare(&a->trace, &b->trace, pctl_dispute_level(a, b), &at[0], &at[1],
				  &n_same))
		return pctl_refuse(call, PC5911_DISPUTE_NOTHING,
				   "%" PRIu32 " outputs and %" PRIu32
				   " lines of trace are the same",
				   a->n_outputs, n_same);
	return PCTL_OK;
}

/* ---- running up --------------------------------------------------------------------------- */

void pctl_hunt_clear(struct pctl_hunt *h)
{
	pctl_reference_judge_bytes_clear(h->before, h->n_before);
	pctl_reference_judge_bytes_clear(h->after, h->n_after);
	free(h->before);
	free(h->after);
	h->before = h->after = NULL;
	h->n_before = h->n_after = 0;
	for (uint32_t i = 0; h->inputs != NULL && i < PCTL_PORTS_MAX; i++) {
		pctl_source_close(h->inputs[i]);
		h->inputs[i] = NULL;
	}
}

/* Hold each line against the one both agree on. */
static pctl_status trace(void *ctx, const pctl_run_observation *view, const pctl_call *call)
{
	struct pctl_hunt *h = ctx;
	const pctl_run_trace *t = &h->agreed->trace;
	pctl_trace_leaf here;
	pctl_status status;

	if (view->level > h->level)
		return PCTL_OK;
	while (h->at < t->n && t->leaves[h->at].level > h->level)
		h->at++;
	if (h->at >= h->target)
		return PCTL_OK;
	status = pctl_run_trace_leaf(h->arena, view, call, &here);
	if (status != PCTL_OK)
		return status;
	if (strcmp(here.line, t->leaves[h->at].line) != 0) {
		h->strayed = h->at + 1;
		return PCTL_E_CANCELLED;
	}
	h->at++;
	h->n_checked++;
	return PCTL_OK;
}

static pctl_status read_port(const pctl_run_observation *view, uint32_t port, uint64_t n,
			     const pctl_call *call, uint8_t **out)
{
	pctl_status status;

	*out = calloc(n + 1, 1);
	if (*out == NULL)
		return pctl_no_memory(call, "a dispute");
	for (uint64_t at = 0; at < n; at += PCTL_SOURCE_PIECE) {
		const uint64_t now = n - at < PCTL_SOURCE_PIECE ? n - at : PCTL_SOURCE_PIECE;

		status = pctl_run_observation_read(view, port, at, *out + at, now, call);
		if (status != PCTL_OK)
			return status;
	}
	return PCTL_OK;
}

/* Outputs of an earlier job that feed the job under judgement. */
static pctl_status keep_inputs(struct pctl_hunt *h, const pctl_run_observation *view,
			       const pctl_call *call)
{
	const pctl_graph_node *node = &h->graph->nodes[h->leaf->job];
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < node->n_in; i++) {
		uint8_t *data;

		if (node->in[i].job != view->job)
			continue;
		status = read_port(view, node->in[i].port, view->ports[node->in[i].port].n_bytes,
				   call, &data);
		if (status != PCTL_OK) {
			free(data);
			return status;
		}
		status = pctl_source_open_memory("input", (char *)data,
						 view->ports[node->in[i].port].n_bytes, call,
						 &h->inputs[i]);
	}
	return status;
}

/* The run's own inputs that feed it. */
static pctl_status open_inputs(struct pctl_hunt *h, const pctl_call *call)
{
	const pctl_graph_node *node = &h->graph->nodes[h->leaf->job];
	const pctl_receipt *r = h->p->receipt;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < node->n_in; i++) {
		const char *name;
		uint32_t k = 0;

		if (node->in[i].job != PCTL_FROM_INPUT)
			continue;
		name = h->graph->pipeline->inputs[node->in[i].port].name;
		while (k < r->n_inputs && strcmp(r->inputs[k].name, name) != 0)
			k++;
		status = k == r->n_inputs ? pctl_refuse(call, PC5904_RECEIPT_MISSING,
							"%s names no input \"%s\"", r->name, name)
					  : pctl_source_open_cid(h->p->store, &r->inputs[k].cid,
								 call, &h->inputs[i]);
	}
	return status;
}

/* Ask the reference for the whole job. */
static pctl_status judge_job(struct pctl_hunt *h, const pctl_run_observation *view,
			     const pctl_call *call)
{
	h->after = calloc(view->n_ports + (size_t)1, sizeof(*h->after));
	if (h->after == NULL)
		return pctl_no_memory(call, "a dispute");
	h->n_after = view->n_ports;
	for (uint32_t i = 0; i < view->n_ports; i++)
		h->after[i] = (pctl_reference_judge_bytes){
			.name = pctl_arena_dup(h->arena, view->ports[i].name),
			.n_bytes = view->ports[i].n_bytes,
			.dtype = view->ports[i].type.dtype,
			.number = i};
	return pctl_reference_judge_job(&h->judge, &h->graph->nodes[h->leaf->job], view->canonical,
					h->inputs, h->timeout_ms, call, h->after, h->n_after);
}

/* The buffers that a line of this place has: what the step writes, or the outputs. */
static pctl_status wanted(struct pctl_hunt *h, const pctl_run_observation *view,
			  const pctl_call *call)
{
	const pctl_job_plan *plan = view->plan;

	h->after = calloc(plan->n_buffers + (size_t)1, sizeof(*h->after));
	if (h->after == NULL)
		return pctl_no_memory(call, "a dispute");
	for (uint32_t i = plan->n_in; i < plan->n_buffers; i++) {
		pctl_reference_judge_bytes *b = &h->after[h->n_after];

		if (h->leaf->level == PCTL_TRACE_STEPS
			    ? !pctl_step_writes(&plan->steps[h->leaf->step - 1], i)
			    : i >= plan->n_in + plan->n_out)
			continue;
		*b = (pctl_reference_judge_bytes){.n_bytes = view->ports[i].n_bytes,
						  .dtype = view->ports[i].type.dtype,
						  .number = i};
		b->name = view->ports[i].kind == PCTL_PLAN_OUTPUT
				  ? pctl_arena_dup(h->arena, view->ports[i].name)
				  : pctl_arena_printf(h->arena, "#%" PRIu32, i);
		if (b->name == NULL)
			return pctl_no_memory(call, "a dispute");
		h->n_after++;
	}
	return PCTL_OK;
}

/* Ask it for a step or a round, from what every buffer holds before. */
static pctl_status judge_part(struct pctl_hunt *h, const pctl_run_observation *view,
			      const pctl_call *call)
{
	const pctl_job_plan *plan = view->plan;
	const int is_step = h->leaf->level == PCTL_TRACE_STEPS;
	pctl_status status;

	/* A place that the plan does not have is nobody's to run: no line of it can be right. */
	if (is_step && (h->leaf->step == 0 || h->leaf->step > plan->n_steps))
		return PCTL_OK;
	status = wanted(h, view, call);
	h->before = calloc(plan->n_buffers + (size_t)1, sizeof(*h->before));
	if (status == PCTL_OK && h->before == NULL)
		status = pctl_no_memory(call, "a dispute");
	for (uint32_t i = 0; status == PCTL_OK && i < plan->n_buffers; i++) {
		h->before[i].n_bytes = view->ports[i].n_bytes;
		h->n_before++;
		status = read_port(view, i, view->ports[i].n_bytes, call, &h->before[i].data);
	}
	if (status != PCTL_OK)
		return status;
	if (is_step && plan->steps[h->leaf->step - 1].kind == PCTL_STEP_KERNEL)
		h->kernel = pctl_arena_dup(h->arena, plan->steps[h->leaf->step - 1].unit->name);
	return pctl_reference_judge_steps(&h->judge, plan, is_step ? h->leaf->step - 1 : 0,
					  is_step ? h->leaf->step : plan->n_steps, h->before,
					  h->timeout_ms, call, h->after, h->n_after);
}

static pctl_status observe(void *ctx, const pctl_run_observation *view, const pctl_call *call)
{
	struct pctl_hunt *h = ctx;

	h->run_up = pctl_arena_dup(h->arena, pctl_session_id(view->session));
	if (view->job != h->leaf->job)
		return keep_inputs(h, view, call);
	if (view->cut)
		return judge_part(h, view, call);
	return h->leaf->level == PCTL_TRACE_JOBS ? judge_job(h, view, call) : PCTL_OK;
}

/* Run up to line `target` of the agreed trace and ask the reference for it. h->strayed: the run-up left the agreed trace
 * before. */
pctl_status pctl_hunt_run(struct pctl_hunt *h, const pctl_trace_leaf *leaf, uint32_t target,
			  const pctl_call *call)
{
	const uint64_t repeat = h->graph->nodes[leaf->job].repeat;
	pctl_run_limit limit = {.job = leaf->job, .rounds = repeat};
	pctl_run_options o = pctl_reopened_options(h->p, h->o);
	pctl_run_result *result = NULL;
	pctl_status status;

	pctl_hunt_clear(h);
	h->leaf = leaf;
	h->target = target;
	h->at = h->n_checked = h->strayed = 0;
	if (leaf->level != PCTL_TRACE_JOBS) {
		limit.cut = 1;
		limit.rounds = leaf->round + 1;
		limit.steps = leaf->level == PCTL_TRACE_STEPS ? leaf->step - 1 : 0;
	}
	o.limit = &limit;
	o.observe = observe;
	o.observe_ctx = h;
	o.trace = trace;
	o.trace_ctx = h;
	o.trace_level = h->level;
	o.flags |= PCTL_RUN_CANONICAL;
	status = open_inputs(h, call);
	if (status == PCTL_OK)
		status = pctl_run(h->graph, &o, call, &result);
	pctl_run_result_destroy(result);
	if (h->strayed != 0 && status == PCTL_E_CANCELLED && !pctl_is_cancelled(call)) {
		h->strayed_at = h->strayed - 1;
		status = PCTL_OK;
	}
	return status;
}

/* ---- places -------------------------------------------------------------------------------- */

struct places {
	struct pctl_hunt *h;
	uint32_t left;
	pctl_trace_leaf *out;
};

static pctl_status count_place(void *ctx, const pctl_run_observation *view, const pctl_call *call)
{
	struct places *p = ctx;

	p->h->run_up = pctl_arena_dup(p->h->arena, pctl_session_id(view->session));
	if (view->level > p->h->level)
		return PCTL_OK;
	if (p->left != 0) {
		p->left--;
		return PCTL_OK;
	}
	*p->out = (pctl_trace_leaf){.line = "",
				    .id = pctl_arena_dup(p->h->arena, view->ran->id),
				    .job = view->job,
				    .level = view->level,
				    .round = view->round,
				    .step = view->step};
	return p->out->id == NULL ? pctl_no_memory(call, "a dispute") : PCTL_E_CANCELLED;
}

static pctl_status look_on(void *ctx, const pctl_run_observation *view, const pctl_call *call)
{
	(void)ctx;
	(void)view;
	(void)call;
	return PCTL_OK;
}

pctl_status pctl_hunt_place(struct pctl_hunt *h, uint32_t target, const pctl_call *call,
			    pctl_trace_leaf *out)
{
	pctl_run_options o = pctl_reopened_options(h->p, h->o);
	struct places p = {h, target, out};
	pctl_run_result *result = NULL;
	pctl_status status;

	*out = (pctl_trace_leaf){.id = NULL};
	o.observe = look_on;
	o.trace = count_place;
	o.trace_ctx = &p;
	o.trace_level = h->level;
	o.flags |= PCTL_RUN_CANONICAL;
	status = pctl_run(h->graph, &o, call, &result);
	pctl_run_result_destroy(result);
	return out->id != NULL && !pctl_is_cancelled(call) ? PCTL_OK : status;
}
