/* rank.prepare: edges into the form rank.step gathers along. Targets are sorted stably, so the form
 * is one and the same on every device. */
#include <inttypes.h>

#include "kernels.h"
#include "rank.h"

static pctl_status prepare_infer(const kit_use *u, pctl_op_result *out)
{
	uint64_t n = 0;
	pctl_status status = rank_nodes(u, &out->measure, &n);

	if (status != PCTL_OK)
		return status;
	out->out[0] = kit_vector(PCTL_SCALAR_U32, rank_layout_make(n, u->q->in[0].dim[0]).n_words);
	out->out[1] = kit_vector(PCTL_SCALAR_U64, n);
	return PCTL_OK;
}

typedef struct split_params {
	uint32_t edges, nodes;
} split_params;
typedef struct start_params {
	uint64_t start;
	uint32_t nodes, reserved;
} start_params;
typedef struct chunks_params {
	uint32_t chunks, nodes, steps;
} chunks_params;

static const kit_kernel split_kernel = {"rank/split.wgsl", KERNEL_SPLIT, 64, NULL, 0};
static const kit_kernel start_kernel = {"rank/start.wgsl", KERNEL_START, 64, NULL, 0};
static const kit_kernel chunks_kernel = {"rank/chunks.wgsl", KERNEL_CHUNKS, 64, NULL, 0};

void rank_plan_start(kit_plan *p, uint32_t in_degrees, uint32_t counts, uint32_t ranks, uint64_t n)
{
	const start_params begin = {n ? RANK_SCALE / n : 0, (uint32_t)n, 0};

	kit_run(p, &start_kernel, n + 1,
		(kit_slot[]){KIT_ALL(kit_params(p, &begin, sizeof(begin))), KIT_ALL(in_degrees),
			     KIT_ALL(counts), KIT_ALL(ranks)},
		4);
}

static void plan_scan(kit_plan *p, uint32_t from, uint32_t to, uint64_t n)
{
	const pctl_tensor_type type = kit_vector(PCTL_SCALAR_U32, n);

	kit_run_op(p, "tensor.scan", 1, (kit_arg[]){{from, type}, {to, type}}, 2,
		   (kit_setting[]){{"exclusive", 1}}, 1);
}

/* Sources in the order of the targets, stably. */
static uint32_t plan_sort(kit_plan *p, uint32_t targets, uint32_t sources, uint64_t m)
{
	const pctl_tensor_type type = kit_vector(PCTL_SCALAR_U32, m);
	const uint32_t keys = kit_temp(p, 4 * m), payloads = kit_temp(p, 4 * m);

	kit_run_op(p, "tensor.sort_pairs", 1,
		   (kit_arg[]){{targets, type}, {sources, type}, {keys, type}, {payloads, type}}, 4,
		   NULL, 0);
	return payloads;
}

static uint32_t search_steps(uint64_t n_candidates)
{
	uint32_t steps = 1;

	while (n_candidates >> steps)
		steps++;
	return steps;
}

static void prepare_plan(kit_plan *p)
{
	const uint64_t m = p->use->q->in[0].dim[0];
	const uint32_t edges = kit_in(p, 0), graph = kit_out(p, 0), start = kit_out(p, 1);
	uint32_t sources, targets, in_degrees, begins, counts, rows, bad;
	const char *measure;
	rank_layout l;
	uint64_t n;

	if (p->measure) {
		rank_plan_measure(p);
		return;
	}
	p->status = rank_nodes(p->use, &measure, &n);
	l = rank_layout_make(n, m);
	in_degrees = kit_temp(p, 4 * (n + 1));
	sources = kit_temp(p, 4 * m);
	targets = kit_temp(p, 4 * m);
	begins = kit_temp(p, 4 * (n + 1));
	counts = kit_temp(p, 4 * (n + 1));
	rows = kit_temp(p, 4 * (n + 1));
	bad = kit_temp(p, 4);
	kit_fill(p, graph, 0, 4 * l.chunks, 0);
	kit_fill(p, in_degrees, 0, 4 * (n + 1), 0);
	kit_fill(p, bad, 0, 4, UINT32_MAX);

	const split_params split = {(uint32_t)m, (uint32_t)n};
	const chunks_params chunk = {(uint32_t)l.n_chunks, (uint32_t)n, search_steps(n + 1)};

	if (m > 0)
		kit_run(p, &split_kernel, m,
			(kit_slot[]){KIT_ALL(kit_params(p, &split, sizeof(split))), KIT_ALL(edges),
				     KIT_ALL(sources), KIT_ALL(targets), KIT_PART(graph, 0, 4 * n),
				     KIT_ALL(in_degrees), KIT_ALL(bad)},
			7);
	rank_plan_start(p, in_degrees, counts, start, n);
	plan_scan(p, in_degrees, begins, n + 1);
	plan_scan(p, counts, rows, n + 1);
	kit_copy(p, rows, 0, graph, 4 * l.rows, 4 * (n + 1));
	if (l.n_chunks > 0)
		kit_run(p, &chunks_kernel, l.n_chunks,
			(kit_slot[]){KIT_ALL(kit_params(p, &chunk, sizeof(chunk))), KIT_ALL(rows),
				     KIT_ALL(begins),
				     KIT_ALL(m > 0 ? plan_sort(p, targets, sources, m) : sources),
				     KIT_PART(graph, 4 * l.chunks, 16 * l.n_chunks)},
			5);
	kit_assert(p, bad, 4, UINT32_MAX,
		   "edge %v names a node that is not below the number of nodes");
}

static pctl_status prepare_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint64_t m = u->q->in[0].dim[0], n = out[1].n_bytes / 8;
	const rank_layout l = rank_layout_make(n, m);
	const uint32_t *edges = in[0].data;
	uint32_t *graph = out[0].data;
	uint32_t *rows = graph + l.rows, *chunks = graph + l.chunks;
	uint32_t *filled = NULL;

	memset(graph, 0, 4 * l.chunks);
	for (uint64_t e = 0; e < m; e++)
		if (edges[2 * e] >= n || edges[2 * e + 1] >= n)
			return pctl_refuse(
				u->call, PC4205_OP_VALUE,
				"edge %" PRIu64 " names a node that is not below %" PRIu64, e, n);
	filled = kit_scratch(u, 4 * n);
	if (!filled)
		return pctl_refuse(u->call, PC2_NOMEM, "no memory for %s", u->op->desc.name);
	memset(filled, 0, 4 * n);
	for (uint64_t e = 0; e < m; e++) {
		graph[edges[2 * e]]++;
		filled[edges[2 * e + 1]]++;
	}
	for (uint64_t i = 0; i < n; i++) {
		rows[i + 1] = rows[i] + filled[i] / 4 + (filled[i] % 4 != 0);
		filled[i] = 0;
		((uint64_t *)out[1].data)[i] = RANK_SCALE / n;
	}
	for (uint64_t k = 0; k < 4 * l.n_chunks; k++)
		chunks[k] = (uint32_t)n;
	for (uint64_t e = 0; e < m; e++) {
		const uint32_t target = edges[2 * e + 1];

		chunks[4 * (uint64_t)rows[target] + filled[target]++] = edges[2 * e];
	}
	kit_scratch_free(u, filled);
	return PCTL_OK;
}

static const pctl_port prepare_in[] = {
	{"edges", "u32[m,2]", "source and target of each edge", 0, 0}};
static const pctl_port prepare_out[] = {
	{"graph", "u32[g]", "the graph as rank.step reads it", 0, 0},
	{"start", "u64[n]", "the ranks before the first iteration", 0, 0},
};
static const pctl_attr_desc prepare_attr[] = {
	{"nodes", "0", "number of nodes; 0: the largest id in the edges, plus one", PCTL_ATTR_U64,
	 0, 0, RANK_NODES_MAX},
};
static const pctl_law prepare_laws[] = {
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "degrees", NULL,
	 "the out-degrees add up to the number of edges"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "chunks", NULL,
	 "the chunks of node i hold the sources of its in-edges in the order of the input, and "
	 "nothing else"},
};
static void (*const prepare_laws_checks[])(kit_law *) = {rank_law_degrees, rank_law_chunks};
static const pctl_example prepare_boundaries[] = {
	{"no edge", {0}},      {"one self-loop", {1}},	       {"a node without in-edges", {2}},
	{"a full chunk", {4}}, {"one over a full chunk", {5}},
};

static const kit_op prepare_ops[] = {
	{
		.desc = {KIT_PLAN_OP("rank.prepare", 1, PCTL_CLASS_INTEGER),
			 .doc = "the in-edge index and the start ranks of a directed graph",
			 .spec = "n = nodes, or the largest id plus one when nodes is 0 (0 without "
				 "edges). Every edge counts,\n"
				 "duplicates and self-loops too. An id that is not below n fails "
				 "the job with the number\n"
				 "of the first such edge.\n"
				 "start[i] = 10^15 div n.\n"
				 "graph, in words: out-degrees [n], rows [n + 1], chunks [(m + 3n) "
				 "div 4, 4], each section\n"
				 "beginning at a multiple of 256 and filled up with 0. rows[i] is "
				 "the number of the first\n"
				 "chunk of node i; its chunks hold the sources of its in-edges in "
				 "the order of the input,\n"
				 "four a chunk; what is left over holds n.",
			 KIT_IN(prepare_in), KIT_OUT(prepare_out), KIT_ATTR(prepare_attr)},
		.rules = KIT_PLAN_RULES(prepare_laws, prepare_boundaries),
		.laws = prepare_laws_checks,
		.problems = &rank_graphs,
		.problem = rank_problem_prepare,
		.infer = prepare_infer,
		.plan = prepare_plan,
		.reference = prepare_reference,
	},
};

const kit_family rank_prepare_family = {prepare_ops, NULL, KIT_COUNT(prepare_ops), 0};
