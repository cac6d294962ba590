/* One question about the graph answered from the state, with proofs where they are asked for; see serve_graph.h. */
#include "chain/node/serve_graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "chain/blocks/block.h"
#include "chain/chain_private.h"
#include "chain/epoch/rank.h"
#include "chain/graph/edges_private.h"
#include "chain/graph/query.h"
#include "chain/provenance/follow.h"
#include "chain/state/cursor.h"
#include "chain/state/tables.h"
#include "chain/sync/rowproof.h"

static uint32_t status_of(void *ctx, const pctl_chain_job *job)
{
	return pctl_chain_job_status(ctx, job);
}

/* Jobs that ended by a finished block have clocks up to its last one. */
static pctl_status read_clock(pctl_query_page *p)
{
	pctl_block_row row;
	pctl_status status;

	p->clock = PCTL_CHAIN_HEIGHT_MAX;
	if (p->height == 0 || p->height > p->last)
		return PCTL_OK;
	status = pctl_blocks_read(p->s, p->height, p->call, &row);
	p->clock = row.clock;
	return status;
}

/* ---- proofs -------------------------------------------------------------------------------- */

#define ROWS_MAX (5u * PCTL_MESSAGE_GRAPH_PROVED)

/* A proof, and of what: the page of a table. */
typedef struct proved {
	const char *table;
	int64_t page;
} proved;

typedef struct proving {
	pctl_chain *c;
	pctl_query_page *p;
	pctl_msg_bytes *out;
	uint32_t n, reserved;
	proved of[ROWS_MAX];
} proving;

/* The page on which the row of this number stands, once. */
static pctl_status prove(proving *g, const char *table, uint64_t number)
{
	const proved one = {table, pctl_page_of((int64_t)number)};
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	const char *copy = NULL, *word;
	pctl_status status;

	for (uint32_t i = 0; i < g->n; i++)
		if (g->of[i].page == one.page && strcmp(g->of[i].table, table) == 0)
			return PCTL_OK;
	word = pctl_arena_printf(g->p->arena, "%" PRIu64, number);
	status = word == NULL ? pctl_no_memory(g->p->call, "a proof")
			      : pctl_row_prove(g->c, table, &word, 1, g->p->call, &text);
	if (status == PCTL_OK)
		copy = pctl_arena_dup_n(g->p->arena, text.data, text.n);
	if (status == PCTL_OK && copy == NULL)
		status = pctl_no_memory(g->p->call, "a proof");
	if (status == PCTL_OK) {
		g->of[g->n] = one;
		g->out[g->n++] = (pctl_msg_bytes){(const uint8_t *)copy, text.n};
	}
	pctl_str_drop(&text);
	return status;
}

static pctl_status prove_name(proving *g, const char *name)
{
	pctl_word word;
	pctl_status status;

	if (name[0] == '\0')
		return PCTL_OK;
	status = pctl_word_spell(name, g->p->call, &word);
	if (status == PCTL_OK)
		status = pctl_word_find(g->p->s, &word, g->p->call);
	return status == PCTL_OK ? prove(g, "names", word.number) : status;
}

static pctl_status prove_all(pctl_chain *c, pctl_query_page *p, pctl_msg_graph_response *out)
{
	proving g = {.c = c, .p = p};
	pctl_status status = PCTL_OK;

	g.out = pctl_arena_array(p->arena, ROWS_MAX, sizeof(*g.out));
	if (g.out == NULL)
		return pctl_no_memory(p->call, "a proof");
	for (uint32_t i = 0; status == PCTL_OK && i < p->n_edges; i++)
		status = prove(&g, "edges", p->edges[i].number);
	for (uint32_t i = 0; status == PCTL_OK && i < p->n_edges; i++) {
		const pctl_msg_graph_edge *e = &p->edges[i];
		const char *const names[] = {e->source, e->target, e->via, e->job};

		for (uint32_t k = 0; status == PCTL_OK && k < 4; k++)
			status = prove_name(&g, names[k]);
	}
	out->proofs = g.out;
	out->n_proofs = g.n;
	return status;
}

/* ---- answers ------------------------------------------------------------------------------- */

static pctl_status answer(pctl_chain *c, pctl_query_page *p)
{
	switch (p->q->op) {
	case PCTL_GRAPH_EDGES:
		return pctl_query_edges(p);
	case PCTL_GRAPH_HISTORY:
		return pctl_query_history(p);
	case PCTL_GRAPH_DEPENDENTS:
		return pctl_query_dependents(p);
	case PCTL_GRAPH_RANK:
		return pctl_query_rank(p, c->store);
	default:
		return pctl_query_jobs(p);
	}
}

pctl_status pctl_chain_graph(pctl_chain *c, const pctl_msg_graph *q, pctl_arena *arena,
			     const pctl_call *call, pctl_msg_graph_response *out)
{
	pctl_query_page p = {.s = c->state,
			     .q = q,
			     .arena = arena,
			     .call = call,
			     .status_of = status_of,
			     .ctx = c};
	pctl_chain_info info;
	pctl_status status = pctl_chain_last(c, call, &info);

	if (status != PCTL_OK)
		return status;
	p.last = info.last;
	status = pctl_query_begin(&p);
	if (status == PCTL_OK)
		status = read_clock(&p);
	if (status == PCTL_OK)
		status = answer(c, &p);
	*out = (pctl_msg_graph_response){.height = p.height,
					 .cut = p.cut,
					 .epoch = p.epoch,
					 .edges = p.edges,
					 .jobs = p.jobs,
					 .ranks = p.ranks,
					 .n_edges = p.n_edges,
					 .n_jobs = p.n_jobs,
					 .n_ranks = p.n_ranks,
					 .next = p.next};
	return status == PCTL_OK && q->prove ? prove_all(c, &p, out) : status;
}
