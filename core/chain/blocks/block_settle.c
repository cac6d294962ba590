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
#include "chain/registry/rules.h"
#include "chain/state/counter.h"

/* Was it taken in under version 1 of the rules? *out. */
static pctl_status is_released(pctl_block_work *w, const pctl_chain_job *row, int *out)
{
	pctl_params then;
	const pctl_status status = pctl_params_in_force(w->s, row->height, w->call, &then);

	*out = status == PCTL_OK && then.values[PCTL_PARAM_RULES] == PCTL_RULES_RELEASED;
	return status;
}

/* Gas and tip of what ran were set aside together (submit.c). */
static pctl_status charge(pctl_block_work *w, pctl_ledger_tab *tab, const pctl_block_job *job)
{
	const pctl_msg_execute *m = &job->message.as.execute;
	const int is_free = job->error != NULL && job->row.gas_used == 0;
	const uint64_t charged = job->error != NULL ? job->row.gas_used : job->row.gas + m->tip;
	pctl_ledger_split split;
	int has_row;
	const pctl_status status = is_released(w, &job->row, &has_row);

	if (status != PCTL_OK)
		return status;
	if (!has_row)
		return pctl_ledger_tab_charge(tab, job->row.sender, m->gas_limit + m->tip,
					      is_free ? 0 : charged,
					      is_free ? NULL : w->header.executor, w->call);
	return is_free ? pctl_ledger_tab_release(tab, job->row.id, w->call)
		       : pctl_ledger_tab_settle(tab, job->row.id, charged, w->header.executor,
						w->call, &split);
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

/* One that was refused has a reservation of what it pays; one that was cancelled has all set aside that it had. */
static pctl_status settle_refusal(pctl_block_work *w, pctl_ledger_tab *tab,
				  const pctl_chain_job *row)
{
	pctl_ledger_split split;
	pctl_request r;
	int has_row;
	pctl_status status = pctl_ledger_is_reserved(w->s, row->id, w->call, &has_row);

	if (status != PCTL_OK || has_row)
		return status != PCTL_OK
			       ? status
			       : pctl_ledger_tab_settle(tab, row->id, row->gas_used,
							w->header.executor, w->call, &split);
	status = pctl_request_decode(row->message, row->n_message, w->call, &r);
	if (status == PCTL_OK)
		status = pctl_ledger_tab_charge(tab, row->sender,
						r.as.execute.gas_limit + r.as.execute.tip,
						row->gas_used, w->header.executor, w->call);
	pctl_request_destroy(&r);
	return status;
}

/* Jobs that ended at this height before the block's own do: of these, those that were refused and are charged used gas. */
static pctl_status settle_refusals(pctl_block_work *w, pctl_ledger_tab *tab)
{
	gathering g = {.w = w};
	pctl_status status = pctl_jobs_ended_at(w->s, w->header.height, gather, &g, w->call);

	if (status == PCTL_OK && g.is_lost)
		status = pctl_no_memory(w->call, "a block");
	for (uint32_t i = 0; status == PCTL_OK && i < w->ended.n; i++)
		if (w->ended.items[i].row->gas_used != 0)
			status = settle_refusal(w, tab, w->ended.items[i].row);
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

/* Are they in the record, too? */
static int has_file(const pctl_block_work *w)
{
	return w->params.values[PCTL_PARAM_RULES] == PCTL_RULES_RELEASED;
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
	for (uint32_t i = 0; status == PCTL_OK && has_file(w) && i < e.n; i++)
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
	pctl_status status = has_file(w) ? pctl_edges_of_block(w->s, w->header.height, write_edge,
							       &w->edges, w->call)
					 : PCTL_OK;

	if (status == PCTL_OK)
		status = pctl_edges_begin(w->s, w->call, &run);
	for (uint32_t i = 0; status == PCTL_OK && i < w->n_order; i++)
		status = add_edges(w, &run, w->order[i]);
	return status;
}

/* Of how many jobs their senders' queues are shorter: a row of each sender is written once. */
static pctl_status leave_queue(pctl_block_work *w)
{
	pctl_map *senders = pctl_map_create();
	pctl_status status = senders == NULL ? pctl_no_memory(w->call, "a block") : PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < w->jobs.n; i++) {
		const pctl_chain_job *row = &w->jobs.items[i]->row;
		uint64_t *n = pctl_map_get(senders, row->sender);
		int is_uncounted;

		status = is_released(w, row, &is_uncounted);
		if (status != PCTL_OK || is_uncounted || row->origin == PCTL_ORIGIN_EPOCH)
			continue;
		if (n == NULL) {
			n = pctl_arena_alloc(w->arena, sizeof(*n));
			if (n == NULL || !pctl_map_put(senders, row->sender, n)) {
				status = pctl_no_memory(w->call, "a block");
				break;
			}
		}
		++*n;
	}
	for (uint32_t i = 0; status == PCTL_OK && i < pctl_map_count(senders); i++)
		status = pctl_counter_take(w->s, PCTL_COUNTER_QUEUE, pctl_map_key_at(senders, i),
					   *(const uint64_t *)pctl_map_value_at(senders, i),
					   w->call);
	pctl_map_destroy(senders);
	return status;
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
		status = leave_queue(w);
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
