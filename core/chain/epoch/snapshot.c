/* Spelling a graph: names in order, edges in order, stakes made small enough for the rank's arithmetic. */
#include "chain/epoch/snapshot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/bytes.h"
#include "foundation/base/order.h"

#define VERSION 1u
#define VERSION_PARTS 2u       /* of a part */
#define WEIGHTS_MAX UINT32_MAX /* of the out-edges of one node together */

static const char magic[8] = {'p', 'c', 't', 'l', 'r', 'a', 'n', 'k'};

/* An edge by number. */
typedef struct row {
	uint32_t source, target;
	const char *account;
	uint64_t clock, stake;
} row;

typedef struct graph {
	const char **names; /* ascending, each once */
	row *rows;
	uint64_t *totals; /* of each node's weights */
	uint32_t n_names, n_rows, shift, reserved;
} graph;

pctl_status pctl_epoch_no_memory(const pctl_call *call)
{
	return pctl_no_memory(call, "the graph of an epoch");
}

static uint32_t number_of(const graph *g, const char *name)
{
	const char **at = bsearch(&name, g->names, g->n_names, sizeof(*g->names), pctl_order_texts);

	return (uint32_t)(at - g->names);
}

#define ORDER(x, y)     \
	if ((x) != (y)) \
	return (x) < (y) ? -1 : 1

/* The same edge of the same account side by side, its first drawing in front. */
static int by_account(const void *a, const void *b)
{
	const row *x = a, *y = b;
	int order;

	ORDER(x->source, y->source);
	ORDER(x->target, y->target);
	order = strcmp(x->account, y->account);
	if (order != 0)
		return order;
	ORDER(x->clock, y->clock);
	return 0;
}

/* As they are spelled. One shift for all, so that the order of stakes is that of weights. */
static int by_clock(const void *a, const void *b)
{
	const row *x = a, *y = b;

	ORDER(x->source, y->source);
	ORDER(x->target, y->target);
	ORDER(x->clock, y->clock);
	ORDER(x->stake, y->stake);
	return 0;
}

static pctl_status too_large(const char *what, uint64_t n, const pctl_call *call)
{
	return pctl_refuse(call, PC6100_EPOCH_GRAPH, "%" PRIu64 " %s, at most 2^22 can be ranked",
			   n, what);
}

static pctl_status collect_names(const pctl_snapshot_link *links, uint64_t n, int is_cut,
				 const pctl_call *call, graph *g)
{
	uint64_t kept = 0;

	g->names = calloc(2 * n + 1, sizeof(*g->names));
	if (g->names == NULL)
		return pctl_epoch_no_memory(call);
	for (uint64_t i = 0; i < n; i++) {
		g->names[2 * i] = links[i].source;
		g->names[2 * i + 1] = links[i].target;
	}
	qsort(g->names, 2 * n, sizeof(*g->names), pctl_order_texts);
	for (uint64_t i = 0; i < 2 * n; i++)
		if (kept == 0 || strcmp(g->names[kept - 1], g->names[i]) != 0)
			g->names[kept++] = g->names[i];
	if (kept > PCTL_SNAPSHOT_NODES_MAX && !is_cut)
		return too_large("nodes", kept, call);
	g->n_names = (uint32_t)kept;
	return PCTL_OK;
}

static pctl_status collect_rows(const pctl_snapshot_link *links, uint64_t n, int is_cut,
				const pctl_call *call, graph *g)
{
	uint64_t kept = 0;

	g->rows = calloc(n + 1, sizeof(*g->rows));
	if (g->rows == NULL)
		return pctl_epoch_no_memory(call);
	for (uint64_t i = 0; i < n; i++)
		g->rows[i] = (row){number_of(g, links[i].source), number_of(g, links[i].target),
				   links[i].account, links[i].clock, links[i].stake};
	qsort(g->rows, n, sizeof(*g->rows), by_account);
	for (uint64_t i = 0; i < n; i++) {
		const row *last = kept == 0 ? NULL : &g->rows[kept - 1];

		if (last == NULL || last->source != g->rows[i].source ||
		    last->target != g->rows[i].target ||
		    strcmp(last->account, g->rows[i].account) != 0)
			g->rows[kept++] = g->rows[i];
	}
	if (kept > PCTL_SNAPSHOT_EDGES_MAX && !is_cut)
		return too_large("edges", kept, call);
	g->n_rows = (uint32_t)kept;
	return PCTL_OK;
}

/* ---- leaving out --------------------------------------------------------------------------- */

static int by_worth(const void *a, const void *b)
{
	const row *x = a, *y = b;

	ORDER(y->stake, x->stake);
	ORDER(x->clock, y->clock);
	ORDER(x->source, y->source);
	ORDER(x->target, y->target);
	return strcmp(x->account, y->account);
}

/* Names that no row is left of go, and the others get their numbers anew. */
static void drop_names(graph *g, uint32_t *place)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n_names; i++)
		if (place[i] != 0) {
			g->names[n] = g->names[i];
			place[i] = n++;
		}
	g->n_names = n;
	for (uint32_t i = 0; i < g->n_rows; i++) {
		g->rows[i].source = place[g->rows[i].source];
		g->rows[i].target = place[g->rows[i].target];
	}
}

static pctl_status leave_out(graph *g, uint32_t most_edges, uint32_t most_nodes,
			     const pctl_call *call)
{
	uint32_t kept = 0, n_used = 0, *used;

	if (g->n_rows <= most_edges && g->n_names <= most_nodes)
		return PCTL_OK;
	used = calloc((size_t)g->n_names + 1, sizeof(*used));
	if (used == NULL)
		return pctl_epoch_no_memory(call);
	if (g->n_rows > 1)
		qsort(g->rows, g->n_rows, sizeof(*g->rows), by_worth);
	for (uint32_t i = 0; i < g->n_rows && kept < most_edges; i++) {
		const row *r = &g->rows[i];
		const uint32_t more = (used[r->source] == 0 ? 1u : 0u) +
				      (r->target != r->source && used[r->target] == 0 ? 1u : 0u);

		if (more > most_nodes - n_used)
			continue;
		n_used += more;
		used[r->source] = used[r->target] = 1;
		g->rows[kept++] = *r;
	}
	g->n_rows = kept;
	drop_names(g, used);
	free(used);
	return PCTL_OK;
}

/* ---- spelling ------------------------------------------------------------------------------ */

/* 1 when no node's weights add up to too much under this shift. Edges stand by source. */
static int shift_fits(const graph *g, uint32_t shift)
{
	memset(g->totals, 0, g->n_names * sizeof(*g->totals));
	for (uint32_t i = 0; i < g->n_rows; i++) {
		uint64_t *total = &g->totals[g->rows[i].source];
		const uint64_t stake = g->rows[i].stake >> shift;

		if (stake >= WEIGHTS_MAX || *total + stake + 1 > WEIGHTS_MAX)
			return 0;
		*total += stake + 1;
	}
	return 1;
}

static pctl_status spell_names(const graph *g, const pctl_call *call, pctl_snapshot *out)
{
	uint64_t n_bytes = 0;
	char *at;

	for (uint32_t i = 0; i < g->n_names; i++)
		n_bytes += strlen(g->names[i]) + 1;
	out->names = at = malloc(n_bytes + 1);
	if (at == NULL)
		return pctl_epoch_no_memory(call);
	for (uint32_t i = 0; i < g->n_names; i++) {
		const size_t n = strlen(g->names[i]);

		memcpy(at, g->names[i], n);
		at[n] = '\n';
		at += n + 1;
	}
	*at = '\0';
	out->n_names = n_bytes;
	return PCTL_OK;
}

static pctl_status spell_graph(const graph *g, uint64_t height, const pctl_call *call,
			       pctl_snapshot *out)
{
	const uint64_t n = g->n_names, m = g->n_rows;
	const uint64_t ends = PCTL_SNAPSHOT_HEADER_WORDS + n, weights = ends + 2 * m;
	pctl_cid names;
	uint8_t *w;
	pctl_status status = pctl_cid_of(out->names, out->n_names, call, &names);

	out->n_graph = 4 * (weights + 3 * m);
	out->graph = w = calloc(1, out->n_graph);
	if (status != PCTL_OK || w == NULL)
		return status != PCTL_OK ? status : pctl_epoch_no_memory(call);
	memcpy(w, magic, sizeof(magic));
	pctl_le_put(w + 4 * 2, VERSION, 4);
	pctl_le_put(w + 4 * 3, g->n_names, 4);
	pctl_le_put(w + 4 * 4, g->n_rows, 4);
	pctl_le_put(w + 4 * 5, g->shift, 4);
	pctl_le_put(w + 4 * 6, height, 8);
	memcpy(w + 32, names.digest, PCTL_DIGEST_BYTES);
	for (uint64_t i = 0; i < n; i++)
		pctl_le_put(w + 4 * (PCTL_SNAPSHOT_HEADER_WORDS + i), (uint32_t)g->totals[i], 4);
	for (uint64_t e = 0; e < m; e++) {
		pctl_le_put(w + 4 * (ends + 2 * e), g->rows[e].source, 4);
		pctl_le_put(w + 4 * (ends + 2 * e + 1), g->rows[e].target, 4);
		pctl_le_put(w + 4 * (weights + e), (uint32_t)(g->rows[e].stake >> g->shift) + 1, 4);
		pctl_le_put(w + 4 * (weights + m + 2 * e), g->rows[e].clock, 8);
	}
	out->n_nodes = g->n_names;
	out->n_edges = g->n_rows;
	return PCTL_OK;
}

/* most_edges 0: nothing is left out, and too much is refused. */
static pctl_status spell(const pctl_snapshot_link *links, uint64_t n, uint64_t height,
			 uint32_t most_edges, uint32_t most_nodes, const pctl_call *call,
			 pctl_snapshot *out)
{
	graph g = {.n_names = 0};
	pctl_status status = collect_names(links, n, most_edges != 0, call, &g);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = collect_rows(links, n, most_edges != 0, call, &g);
	if (status == PCTL_OK && most_edges != 0)
		status = leave_out(&g, most_edges, most_nodes, call);
	if (status == PCTL_OK && g.n_rows > 1)
		qsort(g.rows, g.n_rows, sizeof(*g.rows), by_clock);
	if (status == PCTL_OK) {
		g.totals = calloc((size_t)g.n_names + 1, sizeof(*g.totals));
		if (g.totals == NULL)
			status = pctl_epoch_no_memory(call);
	}
	/* At 63 a weight is at most 2, and there are at most 2^24. */
	while (status == PCTL_OK && !shift_fits(&g, g.shift))
		g.shift++;
	if (status == PCTL_OK)
		status = spell_names(&g, call, out);
	if (status == PCTL_OK)
		status = spell_graph(&g, height, call, out);
	if (status != PCTL_OK)
		pctl_snapshot_clear(out);
	free(g.totals);
	free(g.rows);
	free(g.names);
	return status;
}

pctl_status pctl_snapshot_spell(pctl_snapshot_link *links, uint64_t n, uint64_t height,
				const pctl_call *call, pctl_snapshot *out)
{
	return spell(links, n, height, 0, 0, call, out);
}

pctl_status pctl_snapshot_spell_most(pctl_snapshot_link *links, uint64_t n, uint64_t height,
				     uint32_t most_edges, uint32_t most_nodes,
				     const pctl_call *call, pctl_snapshot *out)
{
	return spell(links, n, height, most_edges, most_nodes, call, out);
}

/* ---- parts --------------------------------------------------------------------------------- */

uint32_t pctl_snapshot_parts(const pctl_snapshot *s, uint32_t edges)
{
	return s->n_edges <= edges ? 1 : (s->n_edges - 1) / edges + 1;
}

pctl_status pctl_snapshot_part(const pctl_snapshot *s, uint32_t edges, uint32_t part,
			       const pctl_call *call, uint8_t **out, uint64_t *n_out)
{
	const uint64_t n = s->n_nodes, m = s->n_edges, first = (uint64_t)part * edges;
	const uint64_t own = m - first < edges ? m - first : edges;
	const uint64_t head = PCTL_SNAPSHOT_HEADER_WORDS + n;
	const uint32_t is_one = pctl_snapshot_parts(s, edges) == 1;
	uint8_t *w;

	*n_out = 4 * (head + 5 * own);
	*out = w = malloc((size_t)*n_out + 1);
	if (w == NULL)
		return pctl_epoch_no_memory(call);
	memcpy(w, s->graph, 4 * head);
	memcpy(w + 4 * head, s->graph + 4 * (head + 2 * first), 8 * own);
	memcpy(w + 4 * (head + 2 * own), s->graph + 4 * (head + 2 * m + first), 4 * own);
	memcpy(w + 4 * (head + 3 * own), s->graph + 4 * (head + 3 * m + 2 * first), 8 * own);
	pctl_le_put(w + 4 * 2, is_one ? VERSION : VERSION_PARTS, 4);
	pctl_le_put(w + 4 * 4, (uint32_t)own, 4);
	for (uint64_t i = PCTL_SNAPSHOT_HEADER_WORDS; part != 0 && i < head; i++)
		if (w[4 * i] == 0 && w[4 * i + 1] == 0 && w[4 * i + 2] == 0 && w[4 * i + 3] == 0)
			pctl_le_put(w + 4 * i, 1, 4);
	return PCTL_OK;
}

void pctl_snapshot_clear(pctl_snapshot *snapshot)
{
	free(snapshot->graph);
	free(snapshot->names);
	memset(snapshot, 0, sizeof(*snapshot));
}
