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

static pctl_status charge(pctl_block_work *w, pctl_ledger_tab *tab, const pctl_block_job *job)
{
	pctl_ledger_split split;

	if (job->error != NULL && job->row.gas_used == 0)
		return pctl_ledger_tab_release(tab, job->row.id, w->call);
	/* Gas and tip of what ran were set aside together (submit.c). */
	return pctl_ledger_tab_settle(
		tab, job->row.id,
		job->error != NULL ? job->row.gas_used : job->row.gas + job->message.as.execute.tip,
		w->header.executor, w->call, &split);
}

/* The row, and what is kept of it here. */
static pctl_status end_job(pctl_block_work *w, pctl_ledger_tab *tab, pctl_block_job *job)
{
	const pctl_block_ended ended = {&job->row, job};
	pctl_chain_job *row = &job->row;
	pctl_status status = charge(w, tab, job);

	row->status = job->error != NULL ? PCTL_JOB_FAILED : PCTL_JOB_COMPLETE;
	row->ended = w->header.height;
	if (job->error == NULL) {
		row->gas_used = row->gas;
		row->output = job->output;
	} else {
		snprintf(row->error, sizeof(row->error), "%s", job->error);
	}
	if (status == PCTL_OK)
		status = pctl_jobs_end(w->s, row->id, row->status, row->ended, row->gas_used,
				       job->error == NULL ? &row->output : NULL, job->error,
				       w->call);
	if (status == PCTL_OK && !PCTL_VEC_PUSH(&w->ended, ended))
		status = pctl_no_memory(w->call, "a block");
	return status;
}

/* ---- what ended before -------------------------------------------------------------------- */

typedef struct gathering {
	pctl_block_work *w;
	int is_lost;
} gathering;

static int gather(void *ctx, const pctl_chain_job *job)
{
	gathering *g = ctx;
	pctl_chain_job *copy = pctl_arena_alloc(g->w->arena, sizeof(*copy));
	pctl_block_ended ended = {copy, NULL};

	if (copy != NULL) {
		*copy = *job;
		copy->message = (uint8_t *)pctl_arena_dup_n(g->w->arena, (const char *)job->message,
							    (size_t)job->n_message);
	}
	g->is_lost = copy == NULL || copy->message == NULL || !PCTL_VEC_PUSH(&g->w->ended, ended);
	return g->is_lost;
}

/* Jobs that ended at this height before the block's own do: of these, those that were refused and are charged used gas. */
static pctl_status settle_refusals(pctl_block_work *w, pctl_ledger_tab *tab)
{
	gathering g = {.w = w};
	pctl_ledger_split split;
	pctl_status status = pctl_jobs_ended_at(w->s, w->header.height, gather, &g, w->call);

	if (status == PCTL_OK && g.is_lost)
		status = pctl_no_memory(w->call, "a block");
	for (uint32_t i = 0; status == PCTL_OK && i < w->ended.n; i++) {
		const pctl_chain_job *row = w->ended.items[i].row;

		if (row->gas_used != 0)
			status = pctl_ledger_tab_settle(tab, row->id, row->gas_used,
							w->header.executor, w->call, &split);
	}
	return status;
}

static int by_clock(const void *a, const void *b)
{
	const pctl_chain_job *x = ((const pctl_block_ended *)a)->row,
			     *y = ((const pctl_block_ended *)b)->row;

	if (x->clock != y->clock)
		return x->clock < y->clock ? -1 : 1;
	return x->position < y->position ? -1 : x->position > y->position;
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

static pctl_status add_edges(pctl_block_work *w, pctl_edges_run *run, const pctl_block_job *job)
{
	edges e;
	char hex[PCTL_JOB_TEXT_SIZE];
	pctl_status status;

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
	status = pctl_edges_add_all(w->s, run, e.all, e.n, w->call);
	for (uint32_t i = 0; status == PCTL_OK && i < e.n; i++)
		if (e.all[i].is_new)
			pctl_block_edge_text(&e.all[i], &w->edges);
	return status;
}

static int write_edge(void *ctx, const pctl_edge *e)
{
	pctl_block_edge_text(e, ctx);
	return 0;
}

/* The file has them in the order of making: those of messages are there already. */
static pctl_status settle_edges(pctl_block_work *w)
{
	pctl_edges_run run;
	pctl_status status =
		pctl_edges_of_block(w->s, w->header.height, write_edge, &w->edges, w->call);

	if (status == PCTL_OK)
		status = pctl_edges_begin(w->s, w->call, &run);
	for (uint32_t i = 0; status == PCTL_OK && i < w->n_order; i++)
		status = add_edges(w, &run, w->order[i]);
	return status;
}

/* What jobs held of their senders' queues and of blobs. */
static pctl_status drop_uses(pctl_block_work *w)
{
	pctl_data_uses *uses;
	pctl_status status = pctl_data_uses_open(w->s, w->call, &uses);

	for (uint32_t i = 0; status == PCTL_OK && i < w->jobs.n; i++)
		status = pctl_data_uses_end(uses, &w->jobs.items[i]->row,
					    &w->jobs.items[i]->message.as.execute, w->call);
	return pctl_data_uses_close(uses, status, w->call);
}

static pctl_status settle_all(pctl_block_work *w, pctl_ledger_tab *tab)
{
	pctl_status status = settle_refusals(w, tab);

	if (status == PCTL_OK)
		status = pctl_contracts_settle(w->s, tab, w->header.height, w->header.executor,
					       w->call);
	for (uint32_t i = 0; status == PCTL_OK && i < w->jobs.n; i++)
		status = end_job(w, tab, w->jobs.items[i]);
	if (status == PCTL_OK)
		status = drop_uses(w);
	if (w->ended.n > 1)
		qsort(w->ended.items, w->ended.n, sizeof(w->ended.items[0]), by_clock);
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
	if (status == PCTL_OK)
		status = settle_edges(w);
	return status == PCTL_OK ? pctl_data_expire(w->s, w->header.height, &w->params, w->call)
				 : status;
}
