/* rank.pagerank: prepare and a fixed number of steps in one op, for whoever wants ranks and no
 * pipeline. */
#include <inttypes.h>

#include "rank.h"

static pctl_status pagerank_infer(const kit_use *u, pctl_op_result *out)
{
	uint64_t n = 0;
	pctl_status status = rank_nodes(u, &out->measure, &n);

	out->out[0] = kit_vector(PCTL_SCALAR_U64, n);
	return status;
}

static void pagerank_plan(kit_plan *p)
{
	const uint64_t iterations = kit_attr(p->use, 1), damping = kit_attr(p->use, 2);
	const pctl_tensor_type *edges = &p->use->q->in[0];
	const char *measure;
	uint32_t graph, ranks[2];
	uint64_t n;

	if (p->measure) {
		rank_plan_measure(p);
		return;
	}
	p->status = rank_nodes(p->use, &measure, &n);
	if (p->status != PCTL_OK || n == 0)
		return;

	const pctl_tensor_type ranks_type = kit_vector(PCTL_SCALAR_U64, n);
	const pctl_tensor_type graph_type =
		kit_vector(PCTL_SCALAR_U32, rank_layout_make(n, edges->dim[0]).n_words);

	graph = kit_temp(p, 4 * graph_type.dim[0]);
	/* The last step writes the output. */
	ranks[iterations & 1] = kit_out(p, 0);
	ranks[(iterations & 1) ^ 1] = iterations ? kit_temp(p, 8 * n) : 0;
	/* Parity: step k reads ranks[k & 1], and prepare writes ranks[0]. */
	kit_run_op(p, "rank.prepare", 1,
		   (kit_arg[]){{kit_in(p, 0), *edges}, {graph, graph_type}, {ranks[0], ranks_type}},
		   3, (kit_setting[]){{"nodes", n}}, 1);
	for (uint64_t k = 0; k < iterations && p->status == PCTL_OK; k++)
		kit_run_op(p, "rank.step", 1,
			   (kit_arg[]){{graph, graph_type},
				       {ranks[k & 1], ranks_type},
				       {ranks[(k & 1) ^ 1], ranks_type}},
			   3, (kit_setting[]){{"damping_ppm", damping}}, 1);
}

/* Straight from the definition, along the edges as they come. */
static pctl_status pagerank_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint64_t m = u->q->in[0].dim[0], n = out[0].n_bytes / 8;
	const uint64_t iterations = kit_attr(u, 1), d = kit_attr(u, 2);
	const uint32_t *edges = in[0].data;
	uint64_t *r = out[0].data, *s = NULL;
	uint32_t *degree = NULL;
	pctl_status status = PCTL_OK;

	for (uint64_t e = 0; e < m; e++)
		if (edges[2 * e] >= n || edges[2 * e + 1] >= n)
			return pctl_refuse(
				u->call, PC4205_OP_VALUE,
				"edge %" PRIu64 " names a node that is not below %" PRIu64, e, n);
	s = kit_scratch(u, 8 * n);
	degree = kit_scratch(u, 4 * n);
	if (!s || !degree) {
		status = pctl_refuse(u->call, PC2_NOMEM, "no memory for %s", u->op->desc.name);
		goto out;
	}
	memset(degree, 0, 4 * n);
	for (uint64_t e = 0; e < m; e++)
		degree[edges[2 * e]]++;
	for (uint64_t i = 0; i < n; i++)
		r[i] = RANK_SCALE / n;
	for (uint64_t k = 0; k < iterations; k++) {
		uint64_t dangling = 0;

		if (pctl_is_cancelled(u->call)) {
			status = PCTL_E_CANCELLED;
			goto out;
		}
		memset(s, 0, 8 * n);
		for (uint64_t e = 0; e < m; e++)
			s[edges[2 * e + 1]] += r[edges[2 * e]] / degree[edges[2 * e]];
		for (uint64_t i = 0; i < n; i++)
			dangling += degree[i] ? 0 : r[i];
		for (uint64_t i = 0; i < n; i++)
			r[i] = rank_scale(s[i] + dangling / n, d) +
			       rank_scale(RANK_SCALE / n, RANK_MILLION - d);
	}
out:
	kit_scratch_free(u, s);
	kit_scratch_free(u, degree);
	return status;
}

static const pctl_port pagerank_in[] = {
	{"edges", "u32[m,2]", "source and target of each edge", 0, 0}};
static const pctl_port pagerank_out[] = {{"ranks", "u64[n]", "the rank of each node", 0, 0}};
static const pctl_attr_desc pagerank_attr[] = {
	{"nodes", "0", "number of nodes; 0: the largest id in the edges, plus one", PCTL_ATTR_U64,
	 0, 0, RANK_NODES_MAX},
	{"iterations", "30", "how many", PCTL_ATTR_U64, 0, 0, 10000},
	{"damping_ppm", "850000", "how much of a rank follows the edges, in parts per million",
	 PCTL_ATTR_U64, 0, 0, RANK_MILLION},
};
static const pctl_law pagerank_laws[] = {
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "no iteration", NULL,
	 "iterations = 0 gives every node 10^15 div n"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "shuffled", NULL,
	 "the order of the edges does not show"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "composed", NULL,
	 "equals rank.prepare and that many times rank.step"},
};
static void (*const pagerank_laws_checks[])(kit_law *) = {rank_law_no_iteration, rank_law_shuffled,
							  rank_law_composed};
static const pctl_example pagerank_boundaries[] = {
	{"no edge", {0}},
	{"one self-loop", {1}},
	{"every edge twice", {2}},
};

static const kit_op pagerank_ops[] = {
	{
		.desc = {KIT_PLAN_OP("rank.pagerank", 1, PCTL_CLASS_INTEGER),
			 .doc = "fixed-point PageRank of a directed graph",
			 .spec = "r[i] = 10^15 div n, then as many times as `iterations` says what "
				 "rank.step computes.\n"
				 "n = nodes, or the largest id plus one when nodes is 0 (0 without "
				 "edges).",
			 KIT_IN(pagerank_in), KIT_OUT(pagerank_out), KIT_ATTR(pagerank_attr)},
		.rules = KIT_PLAN_RULES(pagerank_laws, pagerank_boundaries),
		.laws = pagerank_laws_checks,
		.problems = &rank_graphs,
		.problem = rank_problem_pagerank,
		.infer = pagerank_infer,
		.plan = pagerank_plan,
		.reference = pagerank_reference,
	},
};

const kit_family rank_pagerank_family = {pagerank_ops, NULL, KIT_COUNT(pagerank_ops), 0};
