/* The outputs of a run that has succeeded as a whole, and the intermediate results that are kept for what is remembered: into
 * the store in one batch, each with how it stands. */
#include "foundation/base/clock.h"
#include "runtime/exec/run_private.h"

/* Nobody else asks for the value: its bytes need not stay in memory until the run ends. */
static void drop_last(pctl_value **v, uint32_t *users)
{
	if (--*users != 0)
		return;
	pctl_value_release(*v);
	*v = NULL;
}

/* n: whose output it is; NULL: an input of the pipeline's. */
static pctl_status put(pctl_running *r, const pctl_run_node *n, pctl_value *v, pctl_cid *cid)
{
	const int is_held = v->host != NULL;
	uint64_t began = pctl_clock_ns();
	const uint8_t *data;
	pctl_status status = pctl_value_hold(v, r->call, &data);

	if (!is_held)
		status = pctl_run_end_stage(r, n, PCTL_STAGE_READ, began, status);
	began = pctl_clock_ns();
	if (status == PCTL_OK)
		status = pctl_store_put(r->o->store, data, pctl_value_bytes(v), r->call, cid);
	return pctl_run_end_stage(r, n, PCTL_STAGE_HASH, began, status);
}

/* An output of a job, which may be several of the pipeline's, or lie in the store since it was remembered. */
static pctl_status put_port(pctl_running *r, pctl_run_node *n, uint32_t port)
{
	pctl_status status;

	if (n->known[port])
		return PCTL_OK;
	status = put(r, n, n->values[port], &n->cid[port]);
	n->known[port] = status == PCTL_OK;
	return status;
}

static pctl_status put_output(pctl_running *r, uint32_t i, pctl_run_output *out)
{
	const pctl_source s = r->graph->outputs[i];
	pctl_run_node *n = s.job == PCTL_FROM_INPUT ? NULL : &r->nodes[s.job];
	pctl_status status;

	out->name = r->graph->pipeline->outputs[i].port;
	if (n == NULL) {
		out->type = r->input_types[s.port];
		out->n_bytes = pctl_source_bytes(r->sources[s.port]);
		out->evidence = r->input_evidence[s.port];
		status = put(r, NULL, r->inputs[s.port], &out->cid);
		drop_last(&r->inputs[s.port], &r->input_users[s.port]);
		return status;
	}
	status = put_port(r, n, s.port);
	out->type = n->out[s.port];
	out->n_bytes = n->out_bytes[s.port];
	out->evidence = n->evidence;
	out->cid = n->cid[s.port];
	drop_last(&n->values[s.port], &n->users[s.port]);
	return status;
}

/* What came of the device may have changed since (run_late.c). */
static pctl_status put_kept(pctl_running *r, pctl_run_node *n)
{
	const int stays = n->kept && pctl_run_suffices(r, n, n->evidence);
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && stays && i < n->node->n_out; i++) {
		if (n->known[i] || n->values[i] == NULL)
			continue;
		status = put_port(r, n, i);
		r->result->kept_bytes += n->out_bytes[i];
		pctl_value_release(n->values[i]);
		n->values[i] = NULL;
	}
	return status;
}

/* What plans took as constants is data like any other: under its CID, once. */
static pctl_status put_constants(pctl_running *r, const pctl_job_plan *plan)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; plan != NULL && status == PCTL_OK && i < plan->n_buffers; i++) {
		const pctl_plan_buffer *b = &plan->buffers[i];

		if (b->kind == PCTL_PLAN_CONSTANT && !pctl_store_has(r->o->store, b->cid))
			status = pctl_store_put(r->o->store, b->data, b->n_bytes, r->call, NULL);
	}
	return status;
}

pctl_status pctl_run_store_outputs(pctl_running *r)
{
	const pctl_pipeline *p = r->graph->pipeline;
	pctl_run_result *result = r->result;
	pctl_status status = pctl_store_batch_begin(r->o->store, r->call);

	result->evidence = (pctl_evidence){.kind = PCTL_EVIDENCE_VERIFIED};
	for (uint32_t i = 0; status == PCTL_OK && i < p->n_outputs; i++) {
		status = put_output(r, i, &result->outputs[i]);
		result->evidence =
			pctl_evidence_weaker(result->evidence, result->outputs[i].evidence);
	}
	for (uint32_t i = 0; status == PCTL_OK && i < r->graph->n_nodes; i++)
		status = put_kept(r, &r->nodes[i]);
	for (uint32_t i = 0; status == PCTL_OK && i < r->graph->n_nodes; i++) {
		status = put_constants(r, r->nodes[i].canonical);
		if (status == PCTL_OK)
			status = put_constants(r, r->nodes[i].tuned);
	}
	/* A note of what is not stored yet does no harm; bytes without their note would pass for the user's own. */
	if (status == PCTL_OK) {
		result->n_outputs = p->n_outputs;
		status = pctl_run_note_made(r);
	}
	if (status == PCTL_OK)
		status = pctl_store_batch_commit(r->o->store, r->call);
	if (status != PCTL_OK)
		result->n_outputs = 0;
	return status;
}
