/* The neighbourhood of a name with ranks; see rank.h. */
#include "chain/epoch/rank.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/base/bytes.h"
#include "foundation/base/order.h"

/* An epoch's names, a line each and ascending, and its ranks in the same order. at, line: where the name that was found last begins; those
 * that are looked for ascend, so that lines are counted once for all of them. */
typedef struct ranked {
	pctl_epoch epoch;
	pctl_blob names, ranks;
	uint64_t at, line;
} ranked;

static pctl_status open_ranks(pctl_query_page *p, pctl_store *store, ranked *r)
{
	pctl_chain_job last;
	uint64_t n = 0;
	pctl_status status = pctl_epoch_read_by(p->s, p->height, p->call, &r->epoch);

	if (status == PCTL_OK)
		status = pctl_store_size(store, &r->epoch.names, p->call, &n);
	if (status == PCTL_OK && n > PCTL_RANK_NAMES_MAX)
		return pctl_refuse(p->call, PC5789_MESSAGE_COUNT,
				   "graph.name: the names of the rank are %llu bytes, and an "
				   "answer searches at most %u",
				   (unsigned long long)n, PCTL_RANK_NAMES_MAX);
	if (status == PCTL_OK)
		status = pctl_jobs_read(p->s, r->epoch.last, p->call, &last);
	if (status != PCTL_OK)
		return status;
	status = pctl_store_get(store, &r->epoch.names, p->call, &r->names);
	if (status == PCTL_OK)
		status = pctl_store_get(store, &last.output, p->call, &r->ranks);
	pctl_chain_job_clear(&last);
	if (status == PCTL_OK && r->ranks.n_bytes != 8 * r->epoch.n_nodes)
		status = pctl_refuse(p->call, PC5701_CHAIN_STATE,
				     "names and ranks of block %llu do not match",
				     (unsigned long long)r->epoch.height);
	return status;
}

/* The line of a name, none before the last that was found: lines ascend bytewise. 1 and its number, or 0. */
static int find_line(ranked *r, const char *name, uint64_t *out)
{
	const char *text = (const char *)r->names.data;
	uint64_t low = r->at, high = r->names.n_bytes;
	const size_t n_name = strlen(name);

	while (low < high) { /* the line at `middle` or around it */
		uint64_t from = low + (high - low) / 2, to;
		size_t n;
		int order;

		while (from > low && text[from - 1] != '\n')
			from--;
		to = from;
		while (to < high && text[to] != '\n')
			to++;
		n = (size_t)(to - from);
		order = memcmp(text + from, name, n < n_name ? n : n_name);
		if (order == 0)
			order = n < n_name ? -1 : n > n_name;
		if (order == 0) {
			for (; r->at < from; r->at++)
				r->line += text[r->at] == '\n';
			*out = r->line;
			return *out < r->epoch.n_nodes;
		}
		if (order < 0)
			low = to + 1;
		else
			high = from;
	}
	return 0;
}

static pctl_status put_ranks(pctl_query_page *p, ranked *r)
{
	const uint32_t room = 1 + 2 * p->n_edges;
	const char **names = pctl_arena_array(p->arena, room, sizeof(*names));
	pctl_msg_graph_rank *ranks = pctl_arena_array(p->arena, room, sizeof(*ranks));
	uint32_t n = 0;

	if (names == NULL || ranks == NULL)
		return pctl_no_memory(p->call, "an answer");
	names[n++] = p->q->name;
	for (uint32_t i = 0; i < p->n_edges; i++) {
		names[n++] = p->edges[i].source;
		names[n++] = p->edges[i].target;
	}
	qsort(names, n, sizeof(*names), pctl_order_texts);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t line;

		if ((i != 0 && strcmp(names[i - 1], names[i]) == 0) ||
		    !find_line(r, names[i], &line))
			continue;
		ranks[p->n_ranks++] = (pctl_msg_graph_rank){
			names[i], pctl_le_get((const uint8_t *)r->ranks.data + 8 * line, 8)};
	}
	p->ranks = ranks;
	p->epoch = r->epoch.height;
	return PCTL_OK;
}

pctl_status pctl_query_rank(pctl_query_page *p, pctl_store *store)
{
	ranked r = {.names = {.data = NULL}, .ranks = {.data = NULL}};
	pctl_status status = open_ranks(p, store, &r);

	if (status == PCTL_OK)
		status = pctl_query_edges(p);
	if (status == PCTL_OK)
		status = put_ranks(p, &r);
	pctl_blob_release(&r.ranks);
	pctl_blob_release(&r.names);
	return status;
}
