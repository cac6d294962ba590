/* The laws of the rank library, on what a device answered: sums of degrees and ranks, chunks against the edges one by one,
 * renamed nodes, shuffled edges, pagerank put together from prepare and step, and weights that do not tell. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "rank.h"

static uint32_t word(const uint8_t *data, uint64_t i)
{
	uint32_t v;

	memcpy(&v, data + 4 * i, 4);
	return v;
}

static uint64_t rank_at(const uint8_t *data, uint64_t i)
{
	uint64_t v;

	memcpy(&v, data + 8 * i, 8);
	return v;
}

static pctl_attr number(char text[24], const char *name, uint64_t value)
{
	snprintf(text, 24, "%" PRIu64, value);
	return (pctl_attr){name, text, value};
}

/* ---- prepare ------------------------------------------------------------------------------- */

void rank_law_degrees(kit_law *l)
{
	const uint64_t n = kit_law_bytes(l, kit_law_out(l, 1)) / 8, m = l->use.q->in[0].dim[0];
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum += word(kit_law_data(l, kit_law_out(l, 0)), i);
	if (sum != m)
		kit_law_broken(l, "sum of degrees", n, sum, m);
	kit_law_holds(l);
}

/* Node by node: what the chunks hold, against a walk over all edges for the sources that end there. */
static void walk(kit_law *l, const rank_layout *f, uint64_t *at, uint64_t *end)
{
	const uint8_t *graph = kit_law_data(l, kit_law_out(l, 0)), *edges = kit_law_data(l, 0);
	const uint64_t n = f->n_nodes, words = kit_law_bytes(l, kit_law_out(l, 0)) / 4;

	for (uint64_t i = 0; i < n; i++) {
		at[i] = f->chunks + 4ull * word(graph, f->rows + i);
		end[i] = f->chunks + 4ull * word(graph, f->rows + i + 1);
		if (at[i] > end[i] || end[i] > words)
			kit_law_broken(l, "rows", i, end[i], words);
	}
	for (uint64_t e = 0; e < l->use.q->in[0].dim[0] && l->status == PCTL_OK; e++) {
		const uint32_t source = word(edges, 2 * e), target = word(edges, 2 * e + 1);

		if (at[target] >= end[target])
			kit_law_broken(l, "chunks end before edge", e, at[target], at[target] + 1);
		else if (word(graph, at[target]) != source)
			kit_law_broken(l, "graph", at[target], word(graph, at[target]), source);
		else
			at[target]++;
	}
	for (uint64_t i = 0; i < n && l->status == PCTL_OK; i++) {
		if (end[i] - at[i] > 3)
			kit_law_broken(l, "chunks of node", i, end[i] - at[i], 3);
		for (; at[i] < end[i] && l->status == PCTL_OK; at[i]++)
			if (word(graph, at[i]) != n)
				kit_law_broken(l, "graph", at[i], word(graph, at[i]), n);
	}
	kit_law_holds(l);
}

void rank_law_chunks(kit_law *l)
{
	const uint64_t n = kit_law_bytes(l, kit_law_out(l, 1)) / 8;
	uint64_t *at = kit_law_scratch(l, 8 * (n + 1)), *end = kit_law_scratch(l, 8 * (n + 1));
	rank_layout f;

	if (!rank_layout_find(n, kit_law_bytes(l, kit_law_out(l, 0)) / 4, &f))
		kit_law_says(l, "a graph of another size", "a graph of these nodes and edges");
	if (at != NULL && end != NULL && l->status == PCTL_OK)
		walk(l, &f, at, end);
	kit_law_free(l, at);
	kit_law_free(l, end);
}

/* ---- step ---------------------------------------------------------------------------------- */

/* Of sums that fit: above them the ranks wrap. */
void rank_law_bounded(kit_law *l)
{
	const uint32_t out = kit_law_out(l, 0);
	const uint64_t n = kit_law_bytes(l, out) / 8;
	uint64_t before = 0, after = 0;

	for (uint64_t i = 0; i < n; i++) {
		const uint64_t r = rank_at(kit_law_data(l, 1), i);

		if (r > UINT64_MAX / 4 - before)
			return;
		before += r;
	}
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t r = rank_at(kit_law_data(l, out), i);

		after = r > UINT64_MAX - after ? UINT64_MAX : after + r;
	}
	if (after > (before > RANK_SCALE ? before : RANK_SCALE))
		kit_law_broken(l, "sum of ranks", n, after,
			       before > RANK_SCALE ? before : RANK_SCALE);
	if (n != 0)
		kit_law_holds(l);
}

static void all_alike(kit_law *l, const char *attr)
{
	const uint32_t out = kit_law_out(l, 0);
	const uint64_t n = kit_law_bytes(l, out) / 8;
	uint64_t *want;

	if (strcmp(kit_law_attr(l, attr), "0") != 0 || n == 0)
		return;
	want = kit_law_scratch(l, 8 * n);
	for (uint64_t i = 0; i < n && want != NULL; i++)
		want[i] = RANK_SCALE / n;
	if (want != NULL)
		kit_law_equal(l, out, kit_law_tensor(l, &l->c->types[out], want));
	kit_law_free(l, want);
}

void rank_law_no_damping(kit_law *l)
{
	all_alike(l, "damping_ppm");
}

void rank_law_no_iteration(kit_law *l)
{
	all_alike(l, "iterations");
}

/* rank.prepare of m edges, a tensor, over n nodes. */
static uint32_t prepare(kit_law *l, uint32_t edges, uint64_t n)
{
	char text[24];
	const pctl_attr nodes = number(text, "nodes", n);

	return kit_law_use(l, "rank.prepare", &edges, 1, &nodes, 1, 2);
}

static uint32_t step(kit_law *l, uint32_t graph, uint32_t ranks)
{
	const pctl_attr damping = {"damping_ppm", kit_law_attr(l, "damping_ppm"), 0};

	return kit_law_use(l, "rank.step", (uint32_t[]){graph, ranks}, 2, &damping, 1, 1);
}

/* The edges of a graph in the form that step reads, renamed: node i becomes (i + by) mod n. Returns how many. */
static uint64_t renamed_edges(const kit_law *l, const rank_layout *f, uint64_t by, uint32_t *edges)
{
	const uint8_t *graph = kit_law_data(l, 0);
	const uint64_t n = f->n_nodes;
	uint64_t m = 0;

	for (uint64_t i = 0; i < n; i++)
		for (uint64_t k = 4ull * word(graph, f->rows + i);
		     k < 4ull * word(graph, f->rows + i + 1) && k < 4 * f->n_chunks; k++) {
			const uint64_t source = word(graph, f->chunks + k);

			if (source == n)
				continue;
			edges[2 * m] = (uint32_t)((source + by) % n);
			edges[2 * m++ + 1] = (uint32_t)((i + by) % n);
		}
	return m;
}

/* Two rounds: what the device makes of renamed nodes, then its ranks under their first names. */
void rank_law_renamed(kit_law *l)
{
	const uint32_t out = kit_law_out(l, 0);
	const uint64_t n = kit_law_bytes(l, out) / 8, by = n / 2 + 1;
	uint64_t *ranks;
	uint32_t *edges;
	rank_layout f;

	if (n < 2 || !rank_layout_find(n, kit_law_bytes(l, 0) / 4, &f))
		return;
	ranks = kit_law_scratch(l, 8 * n);
	if (l->c->round != 0) {
		for (uint64_t i = 0; i < n && ranks != NULL; i++)
			ranks[i] = rank_at(kit_law_data(l, out + 5), (i + by) % n);
		if (ranks != NULL)
			kit_law_equal(l, out, kit_law_tensor(l, &l->c->types[out], ranks));
		kit_law_free(l, ranks);
		return;
	}
	edges = kit_law_scratch(l, 32 * f.n_chunks + 8);
	if (edges != NULL && ranks != NULL) {
		const uint64_t m = renamed_edges(l, &f, by, edges);
		const pctl_tensor_type t = {PCTL_SCALAR_U32, 2, {m, 2}};
		uint32_t given, graph;

		for (uint64_t i = 0; i < n; i++)
			ranks[(i + by) % n] = rank_at(kit_law_data(l, 1), i);
		graph = prepare(l, kit_law_tensor(l, &t, edges), n); /* out + 1, out + 2 and + 3 */
		given = kit_law_tensor(l, &l->use.q->in[1], ranks);  /* out + 4 */
		step(l, graph, given);				     /* out + 5 */
		kit_law_again(l);
	}
	kit_law_free(l, edges);
	kit_law_free(l, ranks);
}

/* ---- pagerank and weighted ----------------------------------------------------------------- */

/* The op again, on the tensors `inputs`. */
static void same(kit_law *l, const char *op, const uint32_t *inputs, uint32_t n_in)
{
	kit_law_equal(l, kit_law_use(l, op, inputs, n_in, l->use.q->attr, l->use.q->n_attr, 1),
		      kit_law_out(l, 0));
}

/* Edges from last to first, and the weights of rank.weighted with them. */
void rank_law_shuffled(kit_law *l)
{
	const pctl_op_query *q = l->use.q;
	const uint64_t m = q->in[0].dim[0];
	uint32_t inputs[2] = {0};

	if (m < 2)
		return;
	for (uint32_t port = 0; port < q->n_in; port++) {
		uint64_t *reversed = kit_law_scratch(l, 8 * m);

		for (uint64_t e = 0; e < m && reversed != NULL; e++)
			memcpy(&reversed[e], kit_law_data(l, port) + 8 * (m - 1 - e), 8);
		if (reversed != NULL)
			inputs[port] = kit_law_tensor(l, &q->in[port], reversed);
		kit_law_free(l, reversed);
	}
	same(l, l->use.op->desc.name, inputs, q->n_in);
}

void rank_law_composed(kit_law *l)
{
	const uint32_t out = kit_law_out(l, 0);
	const uint64_t n = kit_law_bytes(l, out) / 8;
	const uint64_t iterations = strtoull(kit_law_attr(l, "iterations"), NULL, 10);
	uint32_t graph, ranks;

	if (n == 0)
		return;
	graph = prepare(l, 0, n);
	ranks = graph + 1;
	for (uint64_t k = 0; k < iterations; k++)
		ranks = step(l, graph, ranks);
	kit_law_equal(l, out, ranks);
}

void rank_law_doubled(kit_law *l)
{
	const uint64_t m = l->use.q->in[0].dim[0];
	uint64_t *twice = m == 0 ? NULL : kit_law_scratch(l, 8 * m), sum = 0;

	/* All of them together in half of what one node may have. */
	for (uint64_t e = 0; e < m && twice != NULL; e++) {
		const uint64_t w = rank_at(kit_law_data(l, 1), e);

		sum += w >> 31 ? UINT32_MAX : w;
		twice[e] = 2 * w;
	}
	if (twice != NULL && !(sum >> 31))
		same(l, "rank.weighted",
		     (uint32_t[]){0, kit_law_tensor(l, &l->use.q->in[1], twice)}, 2);
	kit_law_free(l, twice);
}

void rank_law_unweighted(kit_law *l)
{
	const uint64_t m = l->use.q->in[0].dim[0];
	const uint32_t edges = 0;

	for (uint64_t e = 0; e < m; e++)
		if (rank_at(kit_law_data(l, 1), e) == 0 ||
		    rank_at(kit_law_data(l, 1), e) != rank_at(kit_law_data(l, 1), 0))
			return;
	if (kit_law_bytes(l, kit_law_out(l, 0)) != 0)
		same(l, "rank.pagerank", &edges, 1);
}
