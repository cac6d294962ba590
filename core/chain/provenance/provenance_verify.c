/* Verifying a history: each job's row against its edges, and its output against one that is computed again. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/blocks/block_private.h"
#include "chain/provenance/provenance_private.h"
#include "chain/transition/rerun.h"

#define INPUTS_MAX (PCTL_MESSAGE_BINDINGS_MAX + 2u) /* 0:0, the bindings, the uniform document */

const char *pctl_provenance_verdict_name(uint32_t verdict)
{
	static const char *const names[] = {"unknown", "same",	  "no output",
					    "differs", "missing", "broken"};

	return names[verdict <= PCTL_PROVENANCE_BROKEN ? verdict : 0];
}

/* One job under verification. inputs: names of what it took, the first n_bound bound, then the document. */
typedef struct checking {
	pctl_chain *c;
	pctl_chain_state *s;
	const pctl_call *call;
	const pctl_executor *executor;
	pctl_chain_job row;
	pctl_request request;
	char name[PCTL_PROVENANCE_JOB_SIZE], id[PCTL_JOB_TEXT_SIZE], output[PCTL_CID_TEXT_SIZE];
	char inputs[INPUTS_MAX][PCTL_CID_TEXT_SIZE];
	uint32_t n_inputs, n_bound;
	pctl_blob blobs[INPUTS_MAX];
	pctl_cid cids[INPUTS_MAX];
	pctl_task_binding bindings[INPUTS_MAX];
} checking;

static pctl_status broken(checking *k, const char *what)
{
	return pctl_refuse(k->call, PC5886_PROVENANCE_EDGE, "job %s: %s", k->id, what);
}

/* ---- edges -------------------------------------------------------------------------------- */

/* Looking for one edge among those of a job. */
typedef struct looking {
	const checking *k;
	const char *source, *via;
	uint32_t found, strange;
} looking;

static int look(void *ctx, const pctl_edge *e)
{
	looking *l = ctx;

	if (e->clock != l->k->row.clock || e->height != l->k->row.ended)
		l->strange = 1;
	if (strcmp(e->source, l->source) == 0 && strcmp(e->via, l->via) == 0)
		l->found = 1;
	return 0;
}

static pctl_status expect(checking *k, uint32_t kind, const char *source, const char *target,
			  const char *via)
{
	char what[240];
	looking l = {k, source, via, 0, 0};
	pctl_status status = pctl_edges_of_job(k->s, target, kind, k->name, look, &l, k->call);

	if (status != PCTL_OK || (l.found && !l.strange))
		return status;
	snprintf(what, sizeof(what), "%s edge %.80s -> %.80s", pctl_edge_name(kind), source,
		 target);
	return pctl_refuse(k->call, PC5886_PROVENANCE_EDGE, "job %s: the %s is %s", k->id, what,
			   l.found ? "recorded with another clock or block than the job"
				   : "missing");
}

static int is_input(void *ctx, const pctl_edge *e)
{
	checking *k = ctx;

	for (uint32_t i = 0; i < k->n_inputs; i++)
		if (strcmp(e->source, k->inputs[i]) == 0)
			return 0;
	k->n_inputs = UINT32_MAX;
	return 1;
}

/* No input that the message does not have. */
static pctl_status expect_no_more(checking *k)
{
	const uint32_t n = k->n_inputs;
	const pctl_status status =
		pctl_edges_of_job(k->s, k->output, PCTL_EDGE_INPUT, k->name, is_input, k, k->call);
	const int has_more = k->n_inputs != n;

	k->n_inputs = n;
	return status == PCTL_OK && has_more ? broken(k, "the graph has an edge from an input that "
							 "the job's message does not name")
					     : status;
}

static pctl_status check_edges(checking *k)
{
	const pctl_msg_execute *m = &k->request.as.execute;
	char name[PCTL_PROVENANCE_NAME_SIZE];
	const char *reference;
	uint32_t group, binding;
	pctl_status status;

	snprintf(name, sizeof(name), "account:%s", k->row.sender);
	status = expect(k, PCTL_EDGE_EXECUTED, name, k->name, "");
	if (status == PCTL_OK)
		status = expect(k, PCTL_EDGE_OUTPUT, k->name, k->output, m->shader_cid);
	for (uint32_t i = 0; status == PCTL_OK && i < k->n_inputs; i++)
		status = expect(k, PCTL_EDGE_INPUT, k->inputs[i], k->output, m->shader_cid);
	for (uint32_t i = 0; status == PCTL_OK && i < m->n_parent_jobs; i++) {
		snprintf(name, sizeof(name), "job:%s", m->parent_jobs[i]);
		status = expect(k, PCTL_EDGE_PARENT, name, k->name, "");
	}
	for (uint32_t i = 0; status == PCTL_OK &&
			     (reference = pctl_block_reference(m, i, &group, &binding)) != NULL;
	     i++)
		if (pctl_block_job_of(reference) != NULL)
			status = expect(k, PCTL_EDGE_PARENT, reference, k->name, "");
	return status == PCTL_OK ? expect_no_more(k) : status;
}

/* ---- rows --------------------------------------------------------------------------------- */

static pctl_status resolve(checking *k, const char *reference, char out[PCTL_CID_TEXT_SIZE])
{
	const char *id = pctl_block_job_of(reference);
	uint8_t digest[PCTL_DIGEST_BYTES];
	pctl_chain_job from = {.message = NULL};
	pctl_status status;

	if (id == NULL) {
		snprintf(out, PCTL_CID_TEXT_SIZE, "%s", reference);
		return PCTL_OK;
	}
	(void)pctl_job_id_parse(id, digest);
	status = pctl_jobs_read(k->s, digest, k->call, &from);
	if (status == PCTL_OK && from.status != PCTL_JOB_COMPLETE)
		status = broken(k, "it took the output of a job that is not complete");
	pctl_cid_format(&from.output, out);
	pctl_chain_job_clear(&from);
	return status;
}

static pctl_status resolve_inputs(checking *k)
{
	const pctl_msg_execute *m = &k->request.as.execute;
	const char *reference;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK &&
			     (reference = pctl_block_reference(m, i, &k->bindings[i].group,
							       &k->bindings[i].binding)) != NULL;
	     i++)
		status = resolve(k, reference, k->inputs[k->n_inputs++]);
	k->n_bound = k->n_inputs;
	if (m->uniform_cid[0] != '\0')
		snprintf(k->inputs[k->n_inputs++], PCTL_CID_TEXT_SIZE, "%s", m->uniform_cid);
	return status;
}

static pctl_status read_row(checking *k, const pctl_provenance_step *step)
{
	pctl_status status = pctl_jobs_read(k->s, step->job, k->call, &k->row);

	if (status != PCTL_OK)
		return broken(k, "the state has no row for this job");
	status = pctl_request_decode(k->row.message, k->row.n_message, k->call, &k->request);
	if (status == PCTL_OK && k->request.kind != PCTL_MSG_EXECUTE)
		status = broken(k, "its message is not a request to execute a shader");
	if (status != PCTL_OK)
		return status;
	if (k->row.status == PCTL_JOB_COMPLETE)
		pctl_cid_format(&k->row.output, k->output);
	if (strcmp(k->output, step->output) != 0)
		return broken(k, "its row and its edge name different outputs");
	return k->output[0] != '\0' ? resolve_inputs(k) : PCTL_OK;
}

/* ---- running ------------------------------------------------------------------------------ */

static pctl_status load_inputs(checking *k)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < k->n_inputs; i++) {
		pctl_status one = pctl_cid_parse(k->inputs[i], &k->cids[i])
					  ? pctl_store_get(pctl_chain_store(k->c), &k->cids[i],
							   NULL, &k->blobs[i])
					  : PCTL_E_NOT_FOUND;

		if (one != PCTL_OK)
			one = pctl_refuse(k->call, PC5884_PROVENANCE_MISSING,
					  "job %s: its input %s cannot be read", k->id,
					  k->inputs[i]);
		status = status == PCTL_OK ? one : status;
		k->bindings[i].cid = &k->cids[i];
		k->bindings[i].data = k->blobs[i].data;
		k->bindings[i].n_bytes = k->blobs[i].n_bytes;
	}
	return status;
}

static pctl_status compare(checking *k, uint32_t *verdict)
{
	char text[PCTL_CID_TEXT_SIZE];
	pctl_cid found;
	pctl_status status = load_inputs(k);

	if (status == PCTL_OK)
		status = pctl_chain_rerun(k->c, k->executor, &k->request.as.execute, k->row.height,
					  k->id, k->bindings, k->n_bound, k->call, &found);
	/* A shader whose source is gone is missing like an input. */
	if (status == PCTL_E_NOT_FOUND) {
		*verdict = PCTL_PROVENANCE_MISSING;
		return status;
	}
	if (status != PCTL_OK)
		return status;
	*verdict = strcmp(pctl_cid_format(&found, text), k->output) == 0 ? PCTL_PROVENANCE_SAME
									 : PCTL_PROVENANCE_DIFFERS;
	return *verdict == PCTL_PROVENANCE_SAME
		       ? PCTL_OK
		       : pctl_refuse(k->call, PC5885_PROVENANCE_DIFFERS,
				     "job %s gave output %s, but the state records %s", k->id, text,
				     k->output);
}

static pctl_status check_step(checking *k, const pctl_provenance_step *step, uint32_t *verdict)
{
	pctl_status status;

	pctl_provenance_job_name(step->job, k->name);
	pctl_job_id_format(step->job, k->id);
	*verdict = PCTL_PROVENANCE_BROKEN;
	status = read_row(k, step);
	if (status == PCTL_OK && k->output[0] == '\0') {
		*verdict = PCTL_PROVENANCE_NO_OUTPUT;
		return PCTL_OK;
	}
	if (status == PCTL_OK)
		status = check_edges(k);
	return status == PCTL_OK ? compare(k, verdict) : status;
}

static void release(checking *k)
{
	for (uint32_t i = 0; i < INPUTS_MAX; i++)
		if (k->blobs[i].data != NULL)
			pctl_blob_release(&k->blobs[i]);
	pctl_request_destroy(&k->request);
	pctl_chain_job_clear(&k->row);
}

/* A finding about one job lets the others be verified; trouble of the node does not. */
static int is_finding(pctl_status status)
{
	return status == PCTL_E_MISMATCH || status == PCTL_E_NOT_FOUND || status == PCTL_E_STORE;
}

pctl_status pctl_provenance_verify(pctl_chain *c, const pctl_provenance *p, const pctl_executor *e,
				   const pctl_call *call, uint32_t *verdicts)
{
	uint32_t *order = pctl_provenance_order(p);
	pctl_status first = PCTL_OK, status = PCTL_OK;

	if (order == NULL)
		return pctl_no_memory(call, "a history");
	for (uint32_t i = 0; i < p->n_steps && (status == PCTL_OK || is_finding(status)); i++) {
		checking k = {.c = c, .s = pctl_cursor(c), .call = call, .executor = e};

		verdicts[order[i]] = 0;
		status = check_step(&k, &p->steps[order[i]], &verdicts[order[i]]);
		first = first == PCTL_OK ? status : first;
		release(&k);
		if (pctl_is_cancelled(call))
			status = pctl_refuse(call, PC4_CANCELLED, "verifying was cancelled");
	}
	free(order);
	if (status != PCTL_OK && !is_finding(status))
		return status;
	if (first == PCTL_OK && (p->cut_depth != 0 || p->cut_steps != 0))
		return pctl_refuse(call, PC5887_PROVENANCE_CUT,
				   "only a part of the history was verified; raise %s",
				   p->cut_steps != 0 ? "--limit" : "--depth");
	return first;
}
