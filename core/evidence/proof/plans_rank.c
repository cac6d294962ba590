/* Problems for the rank library, whose inputs hang together: graphs of shapes that go wrong, the form that rank.step
 * reads (built here from its description), and ranks of several kinds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/proof/plans.h"

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
	const uint64_t r = pctl_problem_random(seed, e);
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

/* The graph of a number: shapes by size. n is 0 for one number: nothing at all. */
static pctl_status graph(const pctl_problems *l, uint64_t number, const pctl_call *call,
			 pctl_problem *p, int *made)
{
	const uint32_t shape = (uint32_t)(number % SHAPES);
	const uint64_t n = number / SHAPES == N_COUNTS ? 0 : node_counts[number / SHAPES];
	const uint64_t m = n == 0 ? 0 : edges_of(shape, n);

	*made = n == 0 ? shape == EMPTY : shape == EMPTY || m > 0;
	p->n_nodes = n;
	p->n_edges = m;
	p->edges = malloc(8 * m + 8);
	if (p->edges == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for a graph");
	for (uint64_t e = 0; e < m; e++)
		edge(shape, n, l->seed + number, e, p->edges + 2 * e);
	return PCTL_OK;
}

static pctl_status edges_port(pctl_problem *p, const pctl_call *call)
{
	const pctl_tensor_type t = {PCTL_SCALAR_U32, 2, {p->n_edges, 2}};
	const pctl_status status = pctl_problem_port(p, 0, &t, call);

	if (status == PCTL_OK && p->n_edges != 0)
		memcpy(p->data[0], p->edges, 8 * p->n_edges);
	return status;
}

static void set_number(pctl_problem *p, uint32_t attr, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	pctl_problem_set(p, attr, text);
}

/* Nodes given, given with some to spare, found in the data, or one too few: the op must refuse. */
static void set_nodes(pctl_problem *p, uint32_t way)
{
	uint64_t largest = 0;

	for (uint64_t i = 0; i < 2 * p->n_edges; i++)
		largest = p->edges[i] > largest ? p->edges[i] : largest;
	p->size = p->n_edges == 0 ? 0 : largest + 1;
	set_number(p, 0,
		   way == 0   ? p->n_nodes
		   : way == 1 ? 0
		   : way == 2 ? p->n_nodes + 3
			      : largest);
}

static uint64_t graph_count(void)
{
	return SHAPES * (N_COUNTS + 1);
}

static uint64_t prepare_count(const pctl_problems *l)
{
	(void)l;
	return 4 * graph_count();
}

static pctl_status prepare_make(const pctl_problems *l, uint64_t number, const pctl_call *call,
				pctl_problem *p, int *made)
{
	const pctl_status status = graph(l, number / 4, call, p, made);

	/* Of most graphs one way is enough. */
	if (number / 4 / SHAPES > 5 && number % 4 != number / 4 % 4)
		*made = 0;
	set_nodes(p, (uint32_t)(number % 4));
	return status != PCTL_OK || !*made ? status : edges_port(p, call);
}

static uint64_t pagerank_count(const pctl_problems *l)
{
	(void)l;
	return 4 * graph_count();
}

static pctl_status pagerank_make(const pctl_problems *l, uint64_t number, const pctl_call *call,
				 pctl_problem *p, int *made)
{
	static const uint32_t iterations[4] = {0, 1, 3, 6}, damping[4] = {850000, 0, 1000000, 1};
	const pctl_status status = graph(l, number / 4, call, p, made);

	if (number / 4 / SHAPES > 5 && number % 4 != number / 4 % 4)
		*made = 0;
	set_nodes(p, (uint32_t)(number / 4 % 3));
	set_number(p, 1, iterations[number % 4]);
	set_number(p, 2, damping[number / 4 % 4]);
	return status != PCTL_OK || !*made ? status : edges_port(p, call);
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

static uint64_t weighted_count(const pctl_problems *l)
{
	(void)l;
	return 4 * graph_count();
}

static pctl_status weighted_make(const pctl_problems *l, uint64_t number, const pctl_call *call,
				 pctl_problem *p, int *made)
{
	const uint32_t kind = (uint32_t)((number / 4 / SHAPES + number) % 4);
	pctl_status status = pagerank_make(l, number, call, p, made);
	const pctl_tensor_type t = {PCTL_SCALAR_U64, 1, {p->n_edges}};

	if (status == PCTL_OK && *made)
		status = pctl_problem_port(p, 1, &t, call);
	for (uint64_t e = 0; e < p->n_edges && status == PCTL_OK && *made; e++) {
		const uint64_t w =
			weight(kind, p->n_edges, pctl_problem_random(l->seed ^ 0x3c3c, e));

		memcpy(p->data[1] + 8 * e, &w, 8);
	}
	return status;
}

/* ---- the form of rank.step ------------------------------------------------------------------ */

static uint64_t section(uint64_t words)
{
	return (words + 255) / 256 * 256;
}

/* From the description of rank.prepare: degrees, rows, chunks of four sources. */
static pctl_status graph_port(pctl_problem *p, const pctl_call *call)
{
	const uint64_t n = p->n_nodes, n_chunks = (p->n_edges + 3 * n) / 4;
	const uint64_t rows = section(n), chunks = rows + section(n + 1);
	const pctl_tensor_type t = {PCTL_SCALAR_U32, 1, {chunks + 4 * n_chunks}};
	pctl_status status = pctl_problem_port(p, 0, &t, call);
	uint32_t *words, *degrees;

	if (status != PCTL_OK)
		return status;
	words = (uint32_t *)(void *)p->data[0];
	degrees = calloc(n + 1, sizeof(*degrees)); /* in-degrees, then how many are placed */
	if (degrees == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for a graph");
	for (uint64_t e = 0; e < p->n_edges; e++) {
		words[p->edges[2 * e]]++;
		degrees[p->edges[2 * e + 1]]++;
	}
	for (uint64_t i = 0; i < n; i++) {
		words[rows + i + 1] = words[rows + i] + (degrees[i] + 3) / 4;
		degrees[i] = 0;
	}
	for (uint64_t k = 0; k < 4 * n_chunks; k++)
		words[chunks + k] = (uint32_t)n;
	for (uint64_t e = 0; e < p->n_edges; e++) {
		const uint32_t target = p->edges[2 * e + 1];

		words[chunks + 4ull * words[rows + target] + degrees[target]++] = p->edges[2 * e];
	}
	free(degrees);
	return PCTL_OK;
}

#define RANKS_KINDS 4u

static pctl_status ranks_port(const pctl_problems *l, pctl_problem *p, uint32_t kind,
			      const pctl_call *call)
{
	const uint64_t scale = 1000000000000000ull, n = p->n_nodes;
	const pctl_tensor_type t = {PCTL_SCALAR_U64, 1, {n}};
	const pctl_status status = pctl_problem_port(p, 1, &t, call);

	for (uint64_t i = 0; i < n && status == PCTL_OK; i++) {
		const uint64_t r = pctl_problem_random(l->seed ^ 0x5a5a, i);
		const uint64_t values[RANKS_KINDS] = {scale / n, r % (scale / n + 1),
						      i == n / 2 ? scale : 0, r};

		memcpy(p->data[1] + 8 * i, &values[kind], 8);
	}
	return status;
}

static uint64_t step_count(const pctl_problems *l)
{
	(void)l;
	return RANKS_KINDS * graph_count();
}

static pctl_status step_make(const pctl_problems *l, uint64_t number, const pctl_call *call,
			     pctl_problem *p, int *made)
{
	static const uint32_t damping[5] = {850000, 0, 1000000, 1, 999999};
	pctl_status status = graph(l, number / RANKS_KINDS, call, p, made);

	if (number / RANKS_KINDS / SHAPES > 5 &&
	    number % RANKS_KINDS != number / RANKS_KINDS % RANKS_KINDS)
		*made = 0;
	set_number(p, 0, damping[number / RANKS_KINDS % 5]);
	if (status == PCTL_OK && *made)
		status = graph_port(p, call);
	if (status == PCTL_OK && *made)
		status = ranks_port(l, p, (uint32_t)(number % RANKS_KINDS), call);
	return status;
}

const pctl_problem_maker pctl_problem_makers_rank[4] = {
	{"rank.prepare", prepare_count, prepare_make},
	{"rank.pagerank", pagerank_count, pagerank_make},
	{"rank.step", step_count, step_make},
	{"rank.weighted", weighted_count, weighted_make},
};
