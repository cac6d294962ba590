/* What a block leaves in the rows: jobs ended, gas charged or given back, and the edges of what ran. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/blocks/block_private.h"
#include "chain/contracts/contracts.h"
#include "chain/data/data.h"
#include "chain/graph/edges.h"
#include "chain/ledger/stake.h"

static pctl_status end_job(pctl_block_work *w, pctl_ledger_tab *tab, const pctl_block_job *job)
{
	pctl_ledger_split split;
	pctl_status status;

	if (job->error != NULL) {
		status = job->row.gas_used == 0
				 ? pctl_ledger_tab_release(tab, job->row.id, w->call)
				 : pctl_ledger_tab_settle(tab, job->row.id, job->row.gas_used,
							  w->header.executor, w->call, &split);
		return status != PCTL_OK
			       ? status
			       : pctl_jobs_end(w->s, job->row.id, PCTL_JOB_FAILED, w->header.height,
					       job->row.gas_used, NULL, job->error, w->call);
	}
	/* Both were set aside together (submit.c). */
	status =
		pctl_ledger_tab_settle(tab, job->row.id, job->row.gas + job->message.as.execute.tip,
				       w->header.executor, w->call, &split);
	return status != PCTL_OK
		       ? status
		       : pctl_jobs_end(w->s, job->row.id, PCTL_JOB_COMPLETE, w->header.height,
				       job->row.gas, &job->output, NULL, w->call);
}

/* ---- refusals ----------------------------------------------------------------------------- */

/* Jobs that were refused and charged while the block was open: of all that has ended at its height by now, those alone
 * used gas. */
typedef struct refusals {
	PCTL_VEC(pctl_chain_job) jobs;
	int is_lost;
} refusals;

static int visit_refusal(void *ctx, const pctl_chain_job *job)
{
	refusals *all = ctx;
	pctl_chain_job copy = *job;

	copy.message = NULL;
	if (job->gas_used != 0)
		all->is_lost = !PCTL_VEC_PUSH(&all->jobs, copy);
	return all->is_lost;
}

/* Before the block's own jobs end. */
static pctl_status settle_refusals(pctl_block_work *w, pctl_ledger_tab *tab)
{
	refusals all = {.is_lost = 0};
	pctl_ledger_split split;
	pctl_status status =
		pctl_jobs_ended_at(w->s, w->header.height, visit_refusal, &all, w->call);

	if (status == PCTL_OK && all.is_lost)
		status = pctl_no_memory(w->call, "a block");
	for (uint32_t i = 0; status == PCTL_OK && i < all.jobs.n; i++)
		status = pctl_ledger_tab_settle(tab, all.jobs.items[i].id,
						all.jobs.items[i].gas_used, w->header.executor,
						w->call, &split);
	free(all.jobs.items);
	return status;
}

/* ---- edges -------------------------------------------------------------------------------- */

/* The edges of one job share all but kind, source and target; they are added at once. */
#define EDGES_MAX (8u + 2u * PCTL_MESSAGE_JOBS_MAX)
typedef struct edges {
	pctl_block_work *w;
	const pctl_block_job *job;
	char id[PCTL_EDGE_NAME_MAX], output[PCTL_CID_TEXT_SIZE], account[PCTL_EDGE_NAME_MAX];
	char inputs[PCTL_MESSAGE_BINDINGS_MAX + 2][PCTL_CID_TEXT_SIZE];
	char parents[PCTL_MESSAGE_JOBS_MAX][PCTL_EDGE_NAME_MAX];
	pctl_edge all[EDGES_MAX];
	uint32_t n, reserved;
} edges;

static void add(edges *e, uint32_t kind, const char *source, const char *target)
{
	e->all[e->n++] = (pctl_edge){.kind = kind,
				     .source = source,
				     .target = target,
				     .via = kind == PCTL_EDGE_INPUT || kind == PCTL_EDGE_OUTPUT
						    ? e->job->message.as.execute.shader_cid
						    : "",
				     .job = e->id,
				     .height = e->w->header.height,
				     .clock = e->job->row.clock};
}

static void add_inputs(edges *e)
{
	const pctl_msg_execute *m = &e->job->message.as.execute;

	for (uint32_t i = 0; i < e->job->n_inputs; i++)
		add(e, PCTL_EDGE_INPUT, pctl_cid_format(&e->job->inputs[i].cid, e->inputs[i]),
		    e->output);
	if (m->uniform_cid[0] != '\0')
		add(e, PCTL_EDGE_INPUT, m->uniform_cid, e->output);
}

static void add_parents(edges *e)
{
	const pctl_msg_execute *m = &e->job->message.as.execute;
	const char *reference;
	uint32_t group, binding;

	for (uint32_t i = 0; i < m->n_parent_jobs; i++) {
		snprintf(e->parents[i], sizeof(e->parents[i]), "job:%s", m->parent_jobs[i]);
		add(e, PCTL_EDGE_PARENT, e->parents[i], e->id);
	}
	for (uint32_t i = 0; (reference = pctl_block_reference(m, i, &group, &binding)) != NULL;
	     i++)
		if (pctl_block_job_of(reference) != NULL)
			add(e, PCTL_EDGE_PARENT, reference, e->id);
}

static pctl_status add_edges(pctl_block_work *w, const pctl_block_job *job)
{
	edges e;
	char hex[PCTL_JOB_TEXT_SIZE];

	e.w = w;
	e.job = job;
	e.n = 0;
	snprintf(e.id, sizeof(e.id), "job:%s", pctl_job_id_format(job->row.id, hex));
	snprintf(e.account, sizeof(e.account), "account:%s", job->row.sender);
	pctl_cid_format(&job->output, e.output);
	add(&e, PCTL_EDGE_EXECUTED, e.account, e.id);
	add_parents(&e);
	add_inputs(&e);
	add(&e, PCTL_EDGE_OUTPUT, e.id, e.output);
	return pctl_edges_add_all(w->s, e.all, e.n, w->call);
}

static pctl_status settle_all(pctl_block_work *w, pctl_ledger_tab *tab)
{
	pctl_status status = settle_refusals(w, tab);

	if (status == PCTL_OK)
		status = pctl_contracts_settle(w->s, tab, w->header.height, w->header.executor,
					       w->call);
	for (uint32_t i = 0; status == PCTL_OK && i < w->jobs.n; i++) {
		const pctl_block_job *job = w->jobs.items[i];

		status = end_job(w, tab, job);
		if (status == PCTL_OK)
			status = pctl_data_drop(w->s, &job->row, &job->message.as.execute, w->call);
	}
	return status;
}

pctl_status pctl_block_settle(pctl_block_work *w)
{
	pctl_ledger_tab *tab;
	pctl_status status = pctl_ledger_tab_open(w->s, w->header.height, w->call, &tab);

	if (status != PCTL_OK)
		return status;
	status = settle_all(w, tab);
	if (status == PCTL_OK)
		status = pctl_ledger_tab_close(tab, w->call);
	else
		pctl_ledger_tab_drop(tab);
	if (status == PCTL_OK)
		status = pctl_stake_release(w->s, w->header.height, w->call);
	for (uint32_t i = 0; status == PCTL_OK && i < w->n_order; i++)
		status = add_edges(w, w->order[i]);
	return status == PCTL_OK ? pctl_data_expire(w->s, w->header.height, w->call) : status;
}
