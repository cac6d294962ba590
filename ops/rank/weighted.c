/* rank.weighted: PageRank in which a node's rank follows its out-edges in proportion to their weights. The edges are
 * sorted by target once; an iteration is that of rank.step with the weights in between. */
#include <inttypes.h>

#include "kernels.h"
#include "rank.h"

#define WEIGHTED_EDGES_MAX (1ull << 24) /* sums of that many bytes fit in 32 bits */
#define HEAVY "the weights of the out-edges of node %"

static pctl_status weighted_infer(const kit_use *u, pctl_op_result *out)
{
	uint64_t n = 0;
	pctl_status status = kit_want(u, 1, PCTL_SCALAR_U64, 1);

	if (status == PCTL_OK)
		status = rank_nodes(u, &out->measure, &n);
	if (status == PCTL_OK)
		status = kit_limit(u, "edges", u->q->in[0].dim[0], WEIGHTED_EDGES_MAX);
	if (status == PCTL_OK && u->q->in[1].dim[0] != u->q->in[0].dim[0])
		return kit_refuse_type(u, 1, "one weight for each edge");
	out->out[0] = kit_vector(PCTL_SCALAR_U64, n);
	return status;
}

static const kit_kernel split_kernel = {"rank/weighted_split.wgsl", KERNEL_WEIGHTED_SPLIT, 64, NULL,
					0};
static const kit_kernel totals_kernel = {"rank/weighted_totals.wgsl", KERNEL_WEIGHTED_TOTALS, 64,
					 NULL, 0};
static const kit_kernel order_kernel = {"rank/weighted_order.wgsl", KERNEL_WEIGHTED_ORDER, 64, NULL,
					0};

/* The edges once: their sources and weights in the order of the targets, where each node's begin, what its out-edges
 * weigh together, and the ranks to start from. */
typedef struct weighted_graph {
	uint64_t n, m;
	uint32_t links, rows, totals;
} weighted_graph;

static void plan_links(kit_plan *p, const weighted_graph *g, uint32_t targets, uint32_t numbers)
{
	const pctl_tensor_type type = kit_vector(PCTL_SCALAR_U32, g->m);
	const uint32_t keys = kit_temp(p, 4 * g->m), sorted = kit_temp(p, 4 * g->m);
	const uint32_t n_edges = (uint32_t)g->m;

	kit_run_op(p, "tensor.sort_pairs", 1,
		   (kit_arg[]){{targets, type}, {numbers, type}, {keys, type}, {sorted, type}}, 4,
		   NULL, 0);
	kit_run(p, &order_kernel, g->m,
		(kit_slot[]){KIT_ALL(kit_params(p, &n_edges, sizeof(n_edges))), KIT_ALL(sorted),
			     KIT_ALL(kit_in(p, 0)), KIT_ALL(kit_in(p, 1)), KIT_ALL(g->links)},
		5);
}

static void plan_graph(kit_plan *p, weighted_graph *g, uint32_t start)
{
	const pctl_tensor_type type = kit_vector(PCTL_SCALAR_U32, g->n + 1);
	const uint32_t in_degrees = kit_temp(p, 4 * (g->n + 1)),
		       counts = kit_temp(p, 4 * (g->n + 1));
	const uint32_t bytes = kit_temp(p, 16 * g->n), first = kit_temp(p, 8);
	const uint32_t edge = kit_temp(p, 4), node = kit_temp(p, 4);
	const uint32_t targets = kit_temp(p, 4 * g->m), numbers = kit_temp(p, 4 * g->m);
	const uint32_t sizes[2] = {(uint32_t)g->m, (uint32_t)g->n};

	g->links = kit_temp(p, 8 * g->m);
	g->rows = kit_temp(p, 4 * (g->n + 1));
	g->totals = kit_temp(p, 4 * g->n);
	kit_fill(p, in_degrees, 0, 4 * (g->n + 1), 0);
	kit_fill(p, bytes, 0, 16 * g->n, 0);
	kit_fill(p, first, 0, 8, UINT32_MAX);
	if (g->m > 0)
		kit_run(p, &split_kernel, g->m,
			(kit_slot[]){KIT_ALL(kit_params(p, sizes, sizeof(sizes))),
				     KIT_ALL(kit_in(p, 0)), KIT_ALL(kit_in(p, 1)), KIT_ALL(targets),
				     KIT_ALL(numbers), KIT_ALL(in_degrees), KIT_ALL(bytes),
				     KIT_ALL(first)},
			8);
	kit_run(p, &totals_kernel, g->n,
		(kit_slot[]){KIT_ALL(kit_params(p, &sizes[1], 4)), KIT_ALL(bytes),
			     KIT_ALL(g->totals), KIT_ALL(first)},
		4);
	rank_plan_start(p, in_degrees, counts, start, g->n);
	kit_run_op(p, "tensor.scan", 1, (kit_arg[]){{in_degrees, type}, {g->rows, type}}, 2,
		   (kit_setting[]){{"exclusive", 1}}, 1);
	if (g->m > 0)
		plan_links(p, g, targets, numbers);
	kit_copy(p, first, 0, edge, 0, 4);
	kit_copy(p, first, 4, node, 0, 4);
	kit_assert(p, edge, 4, UINT32_MAX,
		   "edge %v names a node that is not below the number of nodes");
	kit_assert(p, node, 4, UINT32_MAX, HEAVY "v add up to 2^32 or more");
}

static void plan_iteration(kit_plan *p, const weighted_graph *g, rank_round *round)
{
	const kit_kernel gather = {"rank/weighted_gather.wgsl", KERNEL_WEIGHTED_GATHER, 64, "run",
				   1ull << round->run_log2};
	const uint32_t n_edges = (uint32_t)g->m;

	rank_plan_contribute(p, round);
	if (g->m > 0)
		kit_run(p, &gather, round->runs,
			(kit_slot[]){KIT_ALL(kit_params(p, &n_edges, sizeof(n_edges))),
				     KIT_ALL(g->links), KIT_ALL(round->ranks), KIT_ALL(g->totals),
				     KIT_ALL(round->shares), KIT_ALL(round->prefixes),
				     KIT_ALL(round->sums)},
			7);
	rank_plan_apply(p, round);
}

static void weighted_plan(kit_plan *p)
{
	const uint64_t iterations = kit_attr(p->use, 1);
	const uint32_t is_gpu = p->caps->device_kind == PCTL_DEVICE_DISCRETE ||
				p->caps->device_kind == PCTL_DEVICE_INTEGRATED;
	weighted_graph g = {.m = p->use->q->in[0].dim[0]};
	rank_round round = {.damping = kit_attr(p->use, 2), .run_log2 = is_gpu ? 3 : 6};
	const char *measure;
	uint32_t ranks[2];

	if (p->measure) {
		rank_plan_measure(p);
		return;
	}
	p->status = rank_nodes(p->use, &measure, &g.n);
	if (p->status != PCTL_OK || g.n == 0)
		return;
	/* Iteration k reads ranks[k & 1]; the last one writes the output. */
	ranks[iterations & 1] = kit_out(p, 0);
	ranks[(iterations & 1) ^ 1] = iterations ? kit_temp(p, 8 * g.n) : 0;
	plan_graph(p, &g, ranks[0]);
	if (iterations == 0)
		return;
	round.n_nodes = g.n;
	round.runs = (g.m + (1u << round.run_log2) - 1) >> round.run_log2;
	round.shares = kit_temp(p, 8 * (g.n + 1));
	round.prefixes = kit_temp(p, 8 * g.m);
	round.sums = kit_temp(p, 8 * rank_sums(g.n, round.runs));
	round.degrees = (kit_slot)KIT_ALL(g.totals);
	round.rows = (kit_slot)KIT_ALL(g.rows);
	for (uint64_t k = 0; k < iterations && p->status == PCTL_OK; k++) {
		round.ranks = ranks[k & 1];
		round.out = ranks[(k & 1) ^ 1];
		plan_iteration(p, &g, &round);
	}
}

/* ---- the definition -------------------------------------------------------------------------- */

static pctl_status read_totals(const kit_use *u, const pctl_span *in, uint64_t n, uint64_t *totals)
{
	const uint64_t m = u->q->in[0].dim[0], *weights = in[1].data;
	const uint32_t *edges = in[0].data;

	for (uint64_t e = 0; e < m; e++)
		if (edges[2 * e] >= n || edges[2 * e + 1] >= n)
			return pctl_refuse(
				u->call, PC4205_OP_VALUE,
				"edge %" PRIu64 " names a node that is not below %" PRIu64, e, n);
	memset(totals, 0, 8 * n);
	for (uint64_t e = 0; e < m; e++) {
		uint64_t *total = &totals[edges[2 * e]];

		*total = weights[e] >> 32 || *total >> 32 ? 1ull << 32 : *total + weights[e];
	}
	for (uint64_t i = 0; i < n; i++)
		if (totals[i] >> 32)
			return pctl_refuse(u->call, PC4205_OP_VALUE,
					   HEAVY PRIu64 " add up to 2^32 or more", i);
	return PCTL_OK;
}

/* floor(r w / W) for W below 2^32 and w <= W. */
static uint64_t part(uint64_t r, uint64_t w, uint64_t total)
{
	return r / total * w + r % total * w / total;
}

static void iterate(const kit_use *u, const pctl_span *in, uint64_t n, const uint64_t *totals,
		    uint64_t *s, uint64_t *r)
{
	const uint64_t m = u->q->in[0].dim[0], d = kit_attr(u, 2), *weights = in[1].data;
	const uint32_t *edges = in[0].data;
	uint64_t dangling = 0;

	memset(s, 0, 8 * n);
	for (uint64_t e = 0; e < m; e++)
		if (totals[edges[2 * e]] != 0)
			s[edges[2 * e + 1]] +=
				part(r[edges[2 * e]], weights[e], totals[edges[2 * e]]);
	for (uint64_t i = 0; i < n; i++)
		dangling += totals[i] ? 0 : r[i];
	for (uint64_t i = 0; i < n; i++)
		r[i] = rank_scale(s[i] + dangling / n, d) +
		       rank_scale(RANK_SCALE / n, RANK_MILLION - d);
}

static pctl_status weighted_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint64_t n = out[0].n_bytes / 8, iterations = kit_attr(u, 1);
	uint64_t *totals = kit_scratch(u, 8 * n), *s = kit_scratch(u, 8 * n), *r = out[0].data;
	pctl_status status = PCTL_OK;

	if (!totals || !s)
		status = pctl_refuse(u->call, PC2_NOMEM, "no memory for %s", u->op->desc.name);
	if (status == PCTL_OK)
		status = read_totals(u, in, n, totals);
	for (uint64_t i = 0; i < n && status == PCTL_OK; i++)
		r[i] = RANK_SCALE / n;
	for (uint64_t k = 0; k < iterations && n > 0 && status == PCTL_OK; k++) {
		if (pctl_is_cancelled(u->call))
			status = PCTL_E_CANCELLED;
		else
			iterate(u, in, n, totals, s, r);
	}
	kit_scratch_free(u, totals);
	kit_scratch_free(u, s);
	return status;
}

static const pctl_port weighted_in[] = {
	{"edges", "u32[m,2]", "source and target of each edge", 0, 0},
	{"weights", "u64[m]", "the weight of each edge", 0, 0}};
static const pctl_port weighted_out[] = {{"ranks", "u64[n]", "the rank of each node", 0, 0}};
static const pctl_attr_desc weighted_attr[] = {
	{"nodes", "0", "number of nodes; 0: the largest id in the edges, plus one", PCTL_ATTR_U64,
	 0, 0, RANK_NODES_MAX},
	{"iterations", "30", "how many", PCTL_ATTR_U64, 0, 0, 10000},
	{"damping_ppm", "850000", "how much of a rank follows the edges, in parts per million",
	 PCTL_ATTR_U64, 0, 0, RANK_MILLION},
};
static const pctl_law weighted_laws[] = {
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "no iteration", NULL,
	 "iterations = 0 gives every node 10^15 div n"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "shuffled", NULL,
	 "the order of the edges does not show"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "doubled", NULL,
	 "doubled weights give the same ranks"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "unweighted", NULL,
	 "equal weights give the ranks of rank.pagerank"},
};
static void (*const weighted_laws_checks[])(kit_law *) = {rank_law_no_iteration, rank_law_shuffled,
							  rank_law_doubled, rank_law_unweighted};
static const pctl_example weighted_boundaries[] = {
	{"no edge", {0}},
	{"one self-loop", {1}},
	{"every edge twice", {2}},
};

static const kit_op weighted_ops[] = {
	{
		.desc = {KIT_PLAN_OP("rank.weighted", 1, PCTL_CLASS_INTEGER),
			 .doc = "fixed-point PageRank of a directed graph with weighted edges",
			 .spec = "All u64, floor division, S = 10^15, d = damping_ppm,\n"
				 "scale(x, k) = k (x div 10^6) + (k (x mod 10^6)) div 10^6.\n"
				 "W[j] = the sum of the weights w(e) of the edges e = j -> i, "
				 "below "
				 "2^32 or refused.\n"
				 "r[i] = S div n at the start; then `iterations` times:\n"
				 "c(e) = r[j] w(e) div W[j], exactly, and 0 when W[j] = 0;\n"
				 "s[i] = the sum of c(e) over the edges e = j -> i;\n"
				 "D = the sum of r[j] over j with W[j] = 0;\n"
				 "r'[i] = scale(s[i] + D div n, d) + scale(S div n, 10^6 - d).\n"
				 "n = nodes, or the largest id plus one when nodes is 0 (0 without "
				 "edges). At most 2^24 edges.",
			 KIT_IN(weighted_in), KIT_OUT(weighted_out), KIT_ATTR(weighted_attr)},
		.rules = KIT_PLAN_RULES(weighted_laws, weighted_boundaries),
		.laws = weighted_laws_checks,
		.problems = &rank_graphs,
		.problem = rank_problem_weighted,
		.infer = weighted_infer,
		.plan = weighted_plan,
		.reference = weighted_reference,
	},
};

const kit_family rank_weighted_family = {weighted_ops, NULL, KIT_COUNT(weighted_ops), 0};
