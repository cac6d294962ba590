/* Which jobs need not run: from the inputs on, each whose record may answer, as far as the bytes of all it reads are named by
 * records too. What the others need of them comes from the store; where bytes are gone or damaged, the job that gave them runs
 * again, and with it all that hangs on it. */
#include <stdlib.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "runtime/exec/run_private.h"

static const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};

/* Nothing was asked for that only running can show. */
static int is_allowed(const pctl_running *r)
{
	return r->o->memo != NULL && r->o->observe == NULL && r->o->policy->memo != PCTL_MEMO_OFF &&
	       r->o->n_backends == 0 && r->o->verify_ppm == 0 &&
	       !(r->o->flags & (PCTL_RUN_FRESH | PCTL_RUN_SANITIZE));
}

int pctl_run_is_recalled(const pctl_running *r)
{
	for (uint32_t i = 0; i < r->graph->n_nodes; i++)
		if (r->nodes[i].recalled == NULL && !r->nodes[i].spared)
			return 0;
	return r->graph->n_nodes != 0;
}

/* ---- one record --------------------------------------------------------------------------- */

/* A type that was written out when it was remembered. */
static int read_type(pctl_running *r, const char *text, pctl_tensor_type *out)
{
	pctl_type_pattern p;

	return pctl_type_parse(text, r->result->arena, NULL, NULL, &p) == PCTL_OK &&
	       pctl_pattern_concrete(&p, out);
}

/* Every output that somebody needs is in the record, with a type and as many bytes as that has. */
static int take_outputs(pctl_running *r, pctl_run_node *n, const pctl_memo_record *record)
{
	for (uint32_t i = 0; i < n->node->n_out; i++) {
		const char *name = pctl_node_out_name(n->node, i);
		uint32_t k = 0;

		while (k < record->n_outputs && strcmp(record->outputs[k].name, name) != 0)
			k++;
		if (k == record->n_outputs) {
			if (n->users[i] != 0)
				return 0;
			continue;
		}
		if (!read_type(r, record->outputs[k].type, &n->out[i]) ||
		    !pctl_type_bytes(&n->out[i], &n->out_bytes[i]) ||
		    n->out_bytes[i] != record->outputs[k].n_bytes)
			return 0;
		n->cid[i] = record->outputs[k].cid;
		n->known[i] = 1;
	}
	return 1;
}

static void forget(pctl_run_node *n)
{
	memset(n->known, 0, sizeof(n->known));
	n->recalled = NULL;
	n->spared = n->has_key = 0;
	n->gas = n->size_gas = 0;
	for (uint32_t i = 0; i < n->node->n_out; i++) {
		pctl_value_release(n->values[i]);
		pctl_source_close(n->stored[i]);
		n->values[i] = NULL;
		n->stored[i] = NULL;
	}
}

static pctl_status take_record(pctl_running *r, pctl_run_node *n, const pctl_memo_record *record)
{
	pctl_recalled_job *was = pctl_arena_alloc(r->result->arena, sizeof(*was));

	if (was == NULL)
		return pctl_no_memory(r->call, "a run");
	n->memo_void = pctl_run_void_reason(r, n, record);
	if (n->memo_void != NULL || !take_outputs(r, n, record)) {
		forget(n);
		return PCTL_OK;
	}
	*was = (pctl_recalled_job){
		record->determinism, record->proven, record->kernels, 0,
		record->memory,	     record->peak,   record->gas,     record->size_gas,
		record->wall_ns};
	n->recalled = was;
	n->gas = record->gas;
	n->size_gas = record->size_gas;
	n->own = record->evidence;
	n->evidence = pctl_run_evidence_along(r, n, n->own);
	return PCTL_OK;
}

/* A job that names where it runs is like a named backend: nobody else's answer will do. */
static pctl_status recall(pctl_running *r, pctl_run_node *n, pctl_memo_record *record)
{
	const pctl_evidence verified = {.kind = PCTL_EVIDENCE_VERIFIED};
	uint8_t key[PCTL_DIGEST_BYTES];
	uint32_t known;
	pctl_status status;

	/* Until it runs, a job stands as its inputs do: what it did itself is in the record of the kernel that it was in. */
	n->evidence = pctl_run_evidence_along(r, n, verified);
	if (n->lost || n->node->job->placement != NULL)
		return PCTL_OK;
	for (uint32_t i = 0; i < n->node->n_in; i++) {
		const pctl_source s = n->node->in[i];
		const pctl_run_node *maker = s.job == PCTL_FROM_INPUT ? NULL : &r->nodes[s.job];

		if (maker != NULL && maker->recalled == NULL &&
		    (!pctl_run_is_element(maker->node) || maker->lost ||
		     maker->node->job->placement != NULL))
			return PCTL_OK;
	}
	status = pctl_run_job_key(r, n, key, &known);
	if (status == PCTL_OK && known && pctl_memo_get(r->o->memo, key, record))
		status = take_record(r, n, record);
	return status;
}

static int is_wanted(const pctl_running *r, uint32_t job)
{
	for (uint32_t i = 0; i < r->graph->n_nodes; i++) {
		const pctl_run_node *n = &r->nodes[i];

		for (uint32_t k = 0; n->recalled == NULL && !n->spared && k < n->node->n_in; k++)
			if (n->node->in[k].job == job)
				return 1;
	}
	for (uint32_t i = 0; i < r->graph->pipeline->n_outputs; i++)
		if (r->graph->outputs[i].job == job)
			return 1;
	return 0;
}

/* Jobs that are not remembered and that nothing which runs reads: a fused kernel was remembered in their stead. */
static void spare(pctl_running *r)
{
	for (uint32_t i = r->graph->n_nodes; i-- > 0;) {
		pctl_run_node *n = &r->nodes[r->graph->order[i]];

		n->spared = n->recalled == NULL && n->users[0] != 0 &&
			    pctl_run_is_element(n->node) && !is_wanted(r, r->graph->order[i]);
	}
}

static pctl_status recall_all(pctl_running *r, pctl_memo_record *record)
{
	pctl_status status = PCTL_OK;

	r->result->memo_void = NULL;
	for (uint32_t i = 0; i < r->graph->n_nodes; i++)
		forget(&r->nodes[i]);
	for (uint32_t i = 0; status == PCTL_OK && i < r->graph->n_nodes; i++) {
		pctl_run_node *n = &r->nodes[r->graph->order[i]];

		status = recall(r, n, record);
		if (r->result->memo_void == NULL)
			r->result->memo_void = n->memo_void;
	}
	spare(r);
	return status;
}

/* ---- their bytes, where others need them -------------------------------------------------- */

/* Read and rehashed here, so that damage is found while there is still somebody to ask. */
static int open_value(pctl_running *r, pctl_run_node *n, uint32_t port)
{
	if (n->values[port] != NULL)
		return 1;
	if (pctl_source_open_cid(r->o->store, &n->cid[port], &quiet, &n->stored[port]) != PCTL_OK)
		return 0;
	n->values[port] = pctl_value_from_source(n->stored[port]);
	return n->values[port] != NULL;
}

/* 1: all that jobs which run need of jobs which do not is there. 0: a job is marked lost. */
static int open_values(pctl_running *r)
{
	for (uint32_t i = 0; i < r->graph->n_nodes; i++) {
		const pctl_run_node *n = &r->nodes[i];

		for (uint32_t k = 0; n->recalled == NULL && !n->spared && k < n->node->n_in; k++) {
			const pctl_source s = n->node->in[k];
			pctl_run_node *maker = s.job == PCTL_FROM_INPUT ? NULL : &r->nodes[s.job];

			if (maker == NULL || maker->recalled == NULL ||
			    open_value(r, maker, s.port))
				continue;
			maker->lost = 1;
			return 0;
		}
	}
	return 1;
}

/* A trace has every job or, where nothing runs, none: half a trace is no receipt. */
static void forget_all(pctl_running *r)
{
	for (uint32_t i = 0; i < r->graph->n_nodes; i++) {
		pctl_run_node *n = &r->nodes[i];

		if (n->recalled != NULL)
			n->memo_void = "others run, and a trace has every job";
		if (r->result->memo_void == NULL)
			r->result->memo_void = n->memo_void;
		forget(n);
	}
}

pctl_status pctl_run_recall(pctl_running *r)
{
	pctl_memo_record *record = NULL;
	pctl_status status = PCTL_OK;

	if (!is_allowed(r))
		return PCTL_OK;
	record = malloc(sizeof(*record));
	if (record == NULL)
		return pctl_no_memory(r->call, "a run");
	/* Each turn marks a job as lost, so this ends. */
	do
		status = recall_all(r, record);
	while (status == PCTL_OK && !open_values(r));
	if (status == PCTL_OK && r->o->trace != NULL && !pctl_run_is_recalled(r))
		forget_all(r);
	free(record);
	return status;
}
