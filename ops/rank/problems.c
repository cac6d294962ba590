/* Problems of the rank ops, whose inputs hang together: graphs of shapes that go wrong, the form that rank.step reads (built
 * here from its description), ranks and weights of several kinds. Certificates' digests depend on every number of them. */
#include "rank.h"

enum {
	EMPTY,
	LOOPS,
	STAR_IN,
	STAR_OUT,
	RING,
	CHAIN,
	DUPLICATES,
	DANGLING,
	COMPLETE,
	RANDOM,
	CHUNKS,
	SHAPES
};

static const uint32_t node_counts[] = {1,   2,	 3,    4,    5,	   33,	 64,  255,
				       256, 257, 1023, 1024, 1025, 2048, 5000};
#define N_COUNTS (sizeof(node_counts) / sizeof(node_counts[0]))

static uint64_t edges_of(uint32_t shape, uint64_t n)
{
	switch (shape) {
	case EMPTY:
		return 0;
	case CHAIN:
		return n - 1;
	case DUPLICATES:
	case RANDOM:
		return 3 * n + 1;
	case COMPLETE:
		return n <= 33 ? n * n : 0;
	case CHUNKS: /* in-degrees 0, 1, 2, .. 9, 0, 1 .. */
		return n / 10 * 45 + n % 10 * (n % 10 - (n % 10 != 0)) / 2;
	default:
		return n;
	}
}

static void edge(uint32_t shape, uint64_t n, uint64_t seed, uint64_t e, uint32_t *out)
{
	const uint64_t r = kit_random(seed, e);
	uint64_t source = e % n, target = e % n, first = 0;

	switch (shape) {
	case STAR_IN:
		target = 0;
		break;
	case STAR_OUT:
		source = 0;
		break;
	case RING:
	case CHAIN:
		target = (e + 1) % n;
		break;
	case DUPLICATES:
		source = 0;
		target = n - 1;
		break;
	case DANGLING: /* the upper half has no edge of its own */
		source = r % (n / 2 + 1);
		target = (r >> 32) % n;
		break;
	case COMPLETE:
		source = e / n;
		break;
	case RANDOM:
		source = r % n;
		target = (r >> 32) % n;
		break;
	case CHUNKS:
		first = e % 45;
		target = 0;
		while (first >= target)
			first -= target++;
		target += e / 45 * 10;
		source = r % n;
		break;
	default:
		break;
	}
	out[0] = (uint32_t)source;
	out[1] = (uint32_t)(target < n ? target : n - 1);
}

/* A graph as pairs of source and target. */
typedef struct graph {
	uint32_t *edges;
	uint64_t n, m;
} graph;

#define N_GRAPHS (SHAPES * (N_COUNTS + 1))

/* The graph of a number: shapes by size, and nothing at all for one number. 0: the number means nothing. */
static int graph_make(kit_problem *p, uint64_t number, graph *out)
{
	const uint32_t shape = (uint32_t)(number % SHAPES);
	const uint64_t n = number / SHAPES == N_COUNTS ? 0 : node_counts[number / SHAPES];
	const uint64_t m = n == 0 ? 0 : edges_of(shape, n);

	*out = (graph){NULL, n, m};
	if (n == 0 ? shape != EMPTY : shape != EMPTY && m == 0)
		return 0;
	out->edges = kit_scratch(&p->use, 8 * m);
	if (out->edges == NULL) {
		p->status = pctl_refuse(p->use.call, PC2_NOMEM, "no memory for a graph");
		return 0;
	}
	for (uint64_t e = 0; e < m; e++)
		edge(shape, n, p->seed + number, e, out->edges + 2 * e);
	return 1;
}

/* Of most graphs one of k ways is enough. */
static int is_made(uint64_t number, uint64_t k)
{
	return number / k / SHAPES <= 5 || number % k == number / k % k;
}

static void put_edges(kit_problem *p, const graph *g)
{
	const pctl_tensor_type t = {PCTL_SCALAR_U32, 2, {g->m, 2}};

	kit_problem_input(p, 0, &t, g->edges);
}

/* Nodes given, found in the data, given with some to spare, or one too few: the op must refuse. */
static void put_nodes(kit_problem *p, const graph *g, uint64_t way)
{
	uint64_t largest = 0;

	for (uint64_t i = 0; i < 2 * g->m; i++)
		largest = g->edges[i] > largest ? g->edges[i] : largest;
	kit_problem_measured(p, g->m == 0 ? 0 : largest + 1);
	kit_problem_attr(p, 0, way == 0 ? g->n : way == 1 ? 0 : way == 2 ? g->n + 3 : largest);
}

const pctl_op_problems rank_graphs = {PCTL_HEAD(pctl_op_problems), "graphs of up to 5000 nodes",
				      4 * N_GRAPHS};

void rank_problem_prepare(kit_problem *p)
{
	const int made = is_made(p->number, 4);
	graph g;

	if (!made || !graph_make(p, p->number / 4, &g)) {
		kit_problem_none(p);
		return;
	}
	put_nodes(p, &g, p->number % 4);
	put_edges(p, &g);
	kit_scratch_free(&p->use, g.edges);
}

static int pagerank(kit_problem *p, graph *g)
{
	static const uint32_t iterations[4] = {0, 1, 3, 6}, damping[4] = {850000, 0, 1000000, 1};

	if (!is_made(p->number, 4) || !graph_make(p, p->number / 4, g)) {
		kit_problem_none(p);
		return 0;
	}
	put_nodes(p, g, p->number / 4 % 3);
	kit_problem_attr(p, 1, iterations[p->number % 4]);
	kit_problem_attr(p, 2, damping[p->number / 4 % 4]);
	put_edges(p, g);
	return 1;
}

void rank_problem_pagerank(kit_problem *p)
{
	graph g;

	if (pagerank(p, &g))
		kit_scratch_free(&p->use, g.edges);
}

/* All alike; small ones and zeros; as large as the sums of all allow; large ones, of which two are too much. */
static uint64_t weight(uint32_t kind, uint64_t m, uint64_t random)
{
	switch (kind) {
	case 0:
		return 7;
	case 1:
		return random % 5 == 0 ? 0 : random % 1000;
	case 2:
		return random % (UINT32_MAX / m + 1);
	default:
		return (1ull << 31) + random % 2;
	}
}

void rank_problem_weighted(kit_problem *p)
{
	const uint32_t kind = (uint32_t)((p->number / 4 / SHAPES + p->number) % 4);
	uint64_t *weights;
	graph g;

	if (!pagerank(p, &g))
		return;
	weights = kit_scratch(&p->use, 8 * g.m);
	if (weights == NULL) {
		p->status = pctl_refuse(p->use.call, PC2_NOMEM, "no memory for weights");
	} else {
		const pctl_tensor_type t = {PCTL_SCALAR_U64, 1, {g.m}};

		for (uint64_t e = 0; e < g.m; e++)
			weights[e] = weight(kind, g.m, kit_random(p->seed ^ 0x3c3c, e));
		kit_problem_input(p, 1, &t, weights);
		kit_scratch_free(&p->use, weights);
	}
	kit_scratch_free(&p->use, g.edges);
}

/* ---- the form of rank.step ----------------------------------------------------------------- */

/* From the description of rank.prepare: degrees, rows, chunks of four sources. placed: n + 1 zeros. */
static void form(const graph *g, const rank_layout *f, uint32_t *words, uint32_t *placed)
{
	for (uint64_t e = 0; e < g->m; e++) {
		words[g->edges[2 * e]]++;
		placed[g->edges[2 * e + 1]]++;
	}
	for (uint64_t i = 0; i < g->n; i++) {
		words[f->rows + i + 1] = words[f->rows + i] + (placed[i] + 3) / 4;
		placed[i] = 0;
	}
	for (uint64_t k = 0; k < 4 * f->n_chunks; k++)
		words[f->chunks + k] = (uint32_t)g->n;
	for (uint64_t e = 0; e < g->m; e++) {
		const uint32_t target = g->edges[2 * e + 1];

		words[f->chunks + 4ull * words[f->rows + target] + placed[target]++] =
			g->edges[2 * e];
	}
}

#define RANKS_KINDS 4u

const pctl_op_problems rank_prepared = {PCTL_HEAD(pctl_op_problems), "graphs of up to 5000 nodes",
					RANKS_KINDS *N_GRAPHS};

static void put_ranks(kit_problem *p, uint64_t n, uint64_t *ranks)
{
	const pctl_tensor_type t = {PCTL_SCALAR_U64, 1, {n}};

	for (uint64_t i = 0; i < n; i++) {
		const uint64_t r = kit_random(p->seed ^ 0x5a5a, i);
		const uint64_t values[RANKS_KINDS] = {RANK_SCALE / n, r % (RANK_SCALE / n + 1),
						      i == n / 2 ? RANK_SCALE : 0, r};

		ranks[i] = values[p->number % RANKS_KINDS];
	}
	kit_problem_input(p, 1, &t, ranks);
}

static void put_form(kit_problem *p, const graph *g)
{
	const rank_layout f = rank_layout_make(g->n, g->m);
	const pctl_tensor_type t = {PCTL_SCALAR_U32, 1, {f.n_words}};
	uint32_t *words = kit_scratch(&p->use, 4 * f.n_words);
	uint32_t *placed = kit_scratch(&p->use, 4 * (g->n + 1));
	uint64_t *ranks = kit_scratch(&p->use, 8 * g->n);

	if (words == NULL || placed == NULL || ranks == NULL) {
		p->status = pctl_refuse(p->use.call, PC2_NOMEM, "no memory for a graph");
	} else {
		memset(words, 0, 4 * f.n_words);
		memset(placed, 0, 4 * (g->n + 1));
		form(g, &f, words, placed);
		kit_problem_input(p, 0, &t, words);
		put_ranks(p, g->n, ranks);
	}
	kit_scratch_free(&p->use, words);
	kit_scratch_free(&p->use, placed);
	kit_scratch_free(&p->use, ranks);
}

void rank_problem_step(kit_problem *p)
{
	static const uint32_t damping[5] = {850000, 0, 1000000, 1, 999999};
	graph g;

	if (!is_made(p->number, RANKS_KINDS) || !graph_make(p, p->number / RANKS_KINDS, &g)) {
		kit_problem_none(p);
		return;
	}
	kit_problem_attr(p, 0, damping[p->number / RANKS_KINDS % 5]);
	kit_problem_rigid(p);
	put_form(p, &g);
	kit_scratch_free(&p->use, g.edges);
}
