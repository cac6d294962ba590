/* The outputs of a run that has succeeded as a whole: into the store in one batch, each with how it stands. */
#include "runtime/exec/run_private.h"

/* Nobody else asks for the value: its bytes need not stay in memory until the run ends. */
static void drop_last(pctl_value **v, uint32_t *users)
{
	if (--*users != 0)
		return;
	pctl_value_release(*v);
	*v = NULL;
}

pctl_status pctl_run_store_outputs(pctl_running *r)
{
	const pctl_pipeline *p = r->graph->pipeline;
	pctl_run_result *result = r->result;
	pctl_status status = pctl_store_batch_begin(r->o->store, r->call);

	result->evidence = (pctl_evidence){.kind = PCTL_EVIDENCE_VERIFIED};
	for (uint32_t i = 0; status == PCTL_OK && i < p->n_outputs; i++) {
		pctl_source s = r->graph->outputs[i];
		const int is_input = s.job == PCTL_FROM_INPUT;
		pctl_value **v = is_input ? &r->inputs[s.port] : &r->nodes[s.job].values[s.port];
		pctl_run_output *out = &result->outputs[i];
		const uint8_t *data;

		out->name = p->outputs[i].port;
		out->type = is_input ? r->input_types[s.port] : r->nodes[s.job].out[s.port];
		out->n_bytes = pctl_value_bytes(*v);
		out->evidence = is_input ? r->input_evidence[s.port] : r->nodes[s.job].evidence;
		result->evidence = pctl_evidence_weaker(result->evidence, out->evidence);
		status = pctl_value_hold(*v, r->call, &data);
		if (status == PCTL_OK)
			status =
				pctl_store_put(r->o->store, data, out->n_bytes, r->call, &out->cid);
		drop_last(v, is_input ? &r->input_users[s.port] : &r->nodes[s.job].users[s.port]);
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
