/* The knowledge graph: typed edges between names (CIDs, jobs, accounts), each with the block and clock that made it
 * (semantics 8.5). Rows are only ever added. */
#ifndef PIPECTL_CHAIN_GRAPH_EDGES_H
#define PIPECTL_CHAIN_GRAPH_EDGES_H

#include "chain/jobs/jobs.h"

/*
 * UPLOAD      account -> shader                  "author uploaded"
 * IMPLEMENTS  shader -> CID of an algorithm
 * INPUT       input, binding or uniform -> output, via the shader, by the job
 * EXECUTED    account -> job
 * OUTPUT      job -> output, via the shader
 * PARENT      parent job -> job
 * LINK        CID -> CID, via the account that drew it (a cyberlink)
 * ALIAS       alias -> shader, via the account that decided
 * DEPRECATED  account -> shader
 */
enum {
	PCTL_EDGE_UPLOAD = 1,
	PCTL_EDGE_IMPLEMENTS,
	PCTL_EDGE_INPUT,
	PCTL_EDGE_EXECUTED,
	PCTL_EDGE_OUTPUT,
	PCTL_EDGE_PARENT,
	PCTL_EDGE_LINK,
	PCTL_EDGE_ALIAS,
	PCTL_EDGE_DEPRECATED
};
const char *pctl_edge_name(uint32_t kind); /* "input"; NULL for none of these */

/* What an edge joins: a CID's text, "job:ID", "account:NAME" or "alias:NAME". */
#define PCTL_EDGE_NAME_MAX 80u

/* via and job may be "" (job: "job:ID"). Names are borrowed. is_new: what pctl_edges_add_all says. */
typedef struct pctl_edge {
	uint32_t kind, is_new;
	const char *source, *target, *via, *job;
	uint64_t height, clock;
} pctl_edge;

/* Inside an open transaction. The same edge again (all fields but height and clock) changes nothing. */
pctl_status pctl_edges_add(pctl_chain_state *s, const pctl_edge *e, const pctl_call *call);

/* Several, in this order; after an error some of them may be there. is_new of each: 0 where it was there. What the graph ends with
 * is looked at by `begin` and then followed: no savepoint ends, and nobody else adds edges, before the last of them. */
typedef struct pctl_edges_run {
	uint64_t last; /* height of the last edge */
} pctl_edges_run;
pctl_status pctl_edges_begin(pctl_chain_state *s, const pctl_call *call, pctl_edges_run *out);
pctl_status pctl_edges_add_all(pctl_chain_state *s, pctl_edges_run *run, pctl_edge *edges,
			       uint32_t n, const pctl_call *call);

/* Visit edges that leave (or enter) a name, kind 0: all kinds, by (clock, order of making); or all edges of one block
 * in the order of making; or all. A visitor that returns non-zero ends the walk. */
typedef int (*pctl_edges_visit)(void *ctx, const pctl_edge *e);
pctl_status pctl_edges_from(pctl_chain_state *s, const char *name, uint32_t kind,
			    pctl_edges_visit visit, void *ctx, const pctl_call *call);
pctl_status pctl_edges_to(pctl_chain_state *s, const char *name, uint32_t kind,
			  pctl_edges_visit visit, void *ctx, const pctl_call *call);
/* The source of one of a kind that enters a name, whichever it is, so that it takes no longer where many do; "" without any. */
pctl_status pctl_edges_any_to(pctl_chain_state *s, const char *name, uint32_t kind,
			      const pctl_call *call, char source[PCTL_EDGE_NAME_MAX + 1]);
/* Those that enter a name and belong to one job ("job:ID"); quick however many others enter it. */
pctl_status pctl_edges_of_job(pctl_chain_state *s, const char *target, uint32_t kind,
			      const char *job, pctl_edges_visit visit, void *ctx,
			      const pctl_call *call);
/* The first of a kind that enters a name, by (clock, order of making), of a block up to `height`. n: how many of the kind
 * enter it, at most `most` + 1, and then there is no telling which is the first. source "": none. */
typedef struct pctl_edges_first {
	char source[PCTL_EDGE_NAME_MAX + 1];
	uint64_t clock, n;
} pctl_edges_first;
pctl_status pctl_edges_first_to(pctl_chain_state *s, const char *name, uint32_t kind,
				uint64_t height, uint64_t most, const pctl_call *call,
				pctl_edges_first *out);
/* 1 in *out when some edge has ever named it. */
pctl_status pctl_edges_known(pctl_chain_state *s, const char *name, const pctl_call *call,
			     int *out);
/* 1 in *out when there is this very edge, of no job. */
pctl_status pctl_edges_has(pctl_chain_state *s, uint32_t kind, const char *source,
			   const char *target, const char *via, const pctl_call *call, int *out);
/* How many edges of a kind enter a name. */
pctl_status pctl_edges_entering(pctl_chain_state *s, const char *name, uint32_t kind,
				const pctl_call *call, uint64_t *out);
/* The number of the first edge of a block at or after `height`; one above the last without any. */
pctl_status pctl_edges_first_at(pctl_chain_state *s, uint64_t height, const pctl_call *call,
				uint64_t *out);
pctl_status pctl_edges_of_block(pctl_chain_state *s, uint64_t height, pctl_edges_visit visit,
				void *ctx, const pctl_call *call);
pctl_status pctl_edges_all(pctl_chain_state *s, pctl_edges_visit visit, void *ctx,
			   const pctl_call *call);
pctl_status pctl_edges_count(pctl_chain_state *s, const pctl_call *call, uint64_t *out);

#endif
