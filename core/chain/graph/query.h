/* What is asked about the graph, answered a page at a time: bounded in edges, jobs, bytes and in what is looked at, in an
 * order that is a function of the state, as of any block, and with where to go on. One engine: the node, an engine's
 * queries and the command line ask here (node/serve_graph.h). Edges and jobs are answered in this folder, histories in
 * provenance/follow.h, ranks in epoch/rank.h. */
#ifndef PIPECTL_CHAIN_GRAPH_QUERY_H
#define PIPECTL_CHAIN_GRAPH_QUERY_H

#include "chain/graph/edges.h"
#include "foundation/base/arena.h"

/*
 * A page that is being filled.
 *
 * q, height      what is asked, checked, and as of which block; last: of the last finished one
 * status_of      of a job that did not end by then, with ctx: PENDING or EXECUTING
 * edges, jobs    room for `limit` of them; what they point to lies in the arena
 * n_bytes        of the texts so far; looked: rows that were looked at
 * clock          no job that ended by then has one above it
 * next           where to go on, empty at the end
 */
typedef struct pctl_query_page {
	pctl_chain_state *s;
	const pctl_msg_graph *q;
	pctl_arena *arena;
	const pctl_call *call;
	uint32_t (*status_of)(void *ctx, const pctl_chain_job *job);
	void *ctx;
	uint64_t height, last, clock, n_bytes, cut, epoch;
	uint32_t limit, looked;
	pctl_msg_graph_edge *edges;
	pctl_msg_graph_job *jobs;
	const pctl_msg_graph_rank *ranks;
	uint32_t n_edges, n_jobs, n_ranks, reserved;
	const uint8_t
		*from; /* of q->next, behind what all have; n_from bytes, 0 at the beginning */
	uint64_t n_from;
	pctl_msg_bytes next;
} pctl_query_page;

/* Which block, and whether `next` continues this very question: PC5730, PC5852. s, q, arena, call, status_of, ctx
 * and `last` are set; the rest becomes so, but for `clock`. */
pctl_status pctl_query_begin(pctl_query_page *p);
/* 1 when nothing more is to be put into it. */
int pctl_query_is_full(const pctl_query_page *p);
/* PC5730: the continuation is none of this kind of question. */
pctl_status pctl_query_bad_next(const pctl_query_page *p, const char *why);
/* Go on from here: n bytes. */
pctl_status pctl_query_go_on(pctl_query_page *p, const void *bytes, uint64_t n);
/* A number of a continuation, most significant byte first. */
uint64_t pctl_query_number(const uint8_t *at);
void pctl_query_put_number(uint8_t *at, uint64_t v);

/*
 * Edges. All, or those via a name or of a block: by number. From a name: by kind, clock and number. To a name: by kind, then
 * as their job, source and via were first named. Of a job: by number.
 */
pctl_status pctl_query_edges(pctl_query_page *p);

/* Jobs by clock and place in the queue. */
pctl_status pctl_query_jobs(pctl_query_page *p);
/* Put one into the page; *out for its inputs. */
pctl_status pctl_query_put_job(pctl_query_page *p, const pctl_chain_job *job,
			       const pctl_msg_execute *m, pctl_msg_graph_job **out);

#endif
