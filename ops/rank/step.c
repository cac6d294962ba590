/* rank.step: one iteration. Four dispatches a step: contributions, gather with running sums, one
 * scan over the sums of runs (and of dangling ranks behind them), differences. How long a run is
 * depends on the device, no bit does. */
#include "kernels.h"
#include "rank.h"

#define CPU_RUN_LOG2 6u
#define GROUP_NODES 1024u /* of a workgroup of contribute and apply */

static pctl_status step_infer(const kit_use *u, pctl_op_result *out)
{
	pctl_status status = kit_want(u, 0, PCTL_SCALAR_U32, 1);
	rank_layout l;

	if (status == PCTL_OK)
		status = kit_want(u, 1, PCTL_SCALAR_U64, 1);
	if (status == PCTL_OK)
		status = kit_limit(u, "nodes", u->q->in[1].dim[0], RANK_NODES_MAX);
	if (status == PCTL_OK)
		status = kit_limit(u, "words of graph", u->q->in[0].dim[0], 8 * RANK_NODES_MAX);
	if (status != PCTL_OK)
		return status;
	if (!rank_layout_find(u->q->in[1].dim[0], u->q->in[0].dim[0], &l))
		return kit_refuse_type(
			u, 0,
			"a graph that rank.prepare made for as many nodes as there are ranks");
	out->out[0] = u->q->in[1];
	return PCTL_OK;
}

typedef struct contribute_params {
	uint32_t nodes, first_sum;
} contribute_params;
typedef struct apply_params {
	uint64_t base;
	uint32_t nodes, run_log2, runs, dangling, damping, reserved;
} apply_params;

static const kit_kernel contribute_kernel = {"rank/contribute.wgsl", KERNEL_CONTRIBUTE, 256, NULL,
					     0};
static const kit_kernel apply_kernel = {"rank/apply.wgsl", KERNEL_APPLY, 256, NULL, 0};

/* How the chunks are gathered: 2^run_log2 of them have one sum, found by that many invocations. */
typedef struct gather_cut {
	kit_kernel kernel;
	uint32_t run_log2;
	uint32_t reserved;
} gather_cut;

/* A GPU wants neighbouring invocations on neighbouring chunks; where invocations are loops of a
 * CPU, runs. */
static gather_cut cut_for(const pctl_plan_caps *caps)
{
	const gather_cut runs = {{"rank/gather.wgsl", KERNEL_GATHER, 64, "run", 1u << CPU_RUN_LOG2},
				 CPU_RUN_LOG2,
				 0};
	const gather_cut tiles = {
		{"rank/gather_tile.wgsl", KERNEL_GATHER_TILE, 256, NULL, 0}, 10, 0};

	return caps->device_kind == PCTL_DEVICE_DISCRETE ||
			       caps->device_kind == PCTL_DEVICE_INTEGRATED
		       ? tiles
		       : runs;
}

static uint64_t dangling_sums(uint64_t n_nodes)
{
	return n_nodes / GROUP_NODES + 1; /* n + 1 contributions */
}

uint64_t rank_sums(uint64_t n_nodes, uint64_t runs)
{
	return runs + dangling_sums(n_nodes);
}

void rank_plan_contribute(kit_plan *p, const rank_round *r)
{
	const contribute_params contribute = {(uint32_t)r->n_nodes, (uint32_t)r->runs};

	kit_run(p, &contribute_kernel, dangling_sums(r->n_nodes) * contribute_kernel.local,
		(kit_slot[]){KIT_ALL(kit_params(p, &contribute, sizeof(contribute))),
			     KIT_ALL(r->ranks), r->degrees, KIT_ALL(r->shares), KIT_ALL(r->sums)},
		5);
}

void rank_plan_apply(kit_plan *p, const rank_round *r)
{
	const uint64_t n = r->n_nodes;
	const pctl_tensor_type type = kit_vector(PCTL_SCALAR_U64, rank_sums(n, r->runs));
	const apply_params apply = {.base = rank_scale(RANK_SCALE / n, RANK_MILLION - r->damping),
				    .nodes = (uint32_t)n,
				    .run_log2 = r->run_log2,
				    .runs = (uint32_t)r->runs,
				    .dangling = (uint32_t)dangling_sums(n),
				    .damping = (uint32_t)r->damping};
	const uint32_t offsets = kit_temp(p, 8 * type.dim[0]);

	kit_run_op(p, "tensor.scan", 1, (kit_arg[]){{r->sums, type}, {offsets, type}}, 2,
		   (kit_setting[]){{"exclusive", 1}}, 1);
	kit_run(p, &apply_kernel, dangling_sums(n) * apply_kernel.local,
		(kit_slot[]){KIT_ALL(kit_params(p, &apply, sizeof(apply))), r->rows,
			     KIT_ALL(r->prefixes), KIT_ALL(r->sums), KIT_ALL(offsets),
			     KIT_ALL(r->out)},
		6);
}

static void step_plan(kit_plan *p)
{
	const pctl_tensor_type *in = p->use->q->in;
	const uint64_t n = in[1].dim[0];
	const gather_cut cut = cut_for(p->caps);
	const uint32_t graph = kit_in(p, 0);
	rank_layout l;

	if (n == 0 || !rank_layout_find(n, in[0].dim[0], &l))
		return;

	const uint64_t runs = (l.n_chunks + (1u << cut.run_log2) - 1) >> cut.run_log2;
	/* One invocation a run, or one workgroup a tile. */
	const uint64_t gatherers = cut.kernel.override_name ? runs : runs * cut.kernel.local;
	const uint32_t n_chunks = (uint32_t)l.n_chunks;
	const rank_round round = {.n_nodes = n,
				  .runs = runs,
				  .damping = kit_attr(p->use, 0),
				  .run_log2 = cut.run_log2,
				  .ranks = kit_in(p, 1),
				  .shares = kit_temp(p, 8 * (n + 1)),
				  .prefixes = kit_temp(p, 8 * l.n_chunks),
				  .sums = kit_temp(p, 8 * rank_sums(n, runs)),
				  .out = kit_out(p, 0),
				  .degrees = KIT_PART(graph, 0, 4 * n),
				  .rows = KIT_PART(graph, 4 * l.rows, 4 * (n + 1))};

	rank_plan_contribute(p, &round);
	kit_run(p, &cut.kernel, gatherers,
		(kit_slot[]){KIT_ALL(kit_params(p, &n_chunks, sizeof(n_chunks))),
			     KIT_PART(graph, 4 * l.chunks, 16 * l.n_chunks), KIT_ALL(round.shares),
			     KIT_ALL(round.prefixes), KIT_ALL(round.sums)},
		5);
	rank_plan_apply(p, &round);
}

static pctl_status step_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint64_t n = u->q->in[1].dim[0], d = kit_attr(u, 0);
	const uint32_t *graph = in[0].data;
	const uint64_t *r = in[1].data;
	uint64_t *r_new = out[0].data;
	uint64_t dangling = 0;
	rank_layout l;

	if (n == 0 || !rank_layout_find(n, u->q->in[0].dim[0], &l))
		return PCTL_OK;
	for (uint64_t j = 0; j < n; j++)
		if (graph[j] == 0)
			dangling += r[j];
	for (uint64_t i = 0; i < n; i++) {
		uint64_t s = 0;

		for (uint64_t c = graph[l.rows + i]; c < graph[l.rows + i + 1] && c < l.n_chunks;
		     c++)
			for (uint64_t k = 0; k < 4; k++) {
				const uint32_t j = graph[l.chunks + 4 * c + k];

				if (j < n && graph[j] != 0)
					s += r[j] / graph[j];
			}
		r_new[i] = rank_scale(s + dangling / n, d) +
			   rank_scale(RANK_SCALE / n, RANK_MILLION - d);
	}
	return PCTL_OK;
}

static const pctl_port step_in[] = {
	{"graph", "u32[g]", "what rank.prepare made of the edges", 0, 0},
	{"ranks", "u64[n]", "the ranks before this iteration", 0, 0},
};
static const pctl_port step_out[] = {{"ranks", "u64[n]", "the ranks after it", 0, 0}};
static const pctl_attr_desc step_attr[] = {
	{"damping_ppm", "850000", "how much of a rank follows the edges, in parts per million",
	 PCTL_ATTR_U64, 0, 0, RANK_MILLION},
};
static const pctl_law step_laws[] = {
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "bounded", NULL,
	 "the ranks never add up to more than before, or than 10^15"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "no damping", NULL,
	 "damping_ppm = 0 gives every node 10^15 div n"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "renamed", NULL,
	 "renaming the nodes renames the ranks and changes none"},
};
static void (*const step_laws_checks[])(kit_law *) = {rank_law_bounded, rank_law_no_damping,
						      rank_law_renamed};
static const pctl_example step_boundaries[] = {
	{"no node", {0}},
	{"one node", {1}},
	{"one workgroup of contributions", {1024}},
	{"the padding element alone in a workgroup", {2048}},
};

static const kit_op step_ops[] = {
	{
		.desc = {KIT_PLAN_OP("rank.step", 1, PCTL_CLASS_INTEGER),
			 .doc = "one iteration of fixed-point PageRank",
			 .spec = "All u64, floor division, S = 10^15, d = damping_ppm,\n"
				 "scale(x, k) = k (x div 10^6) + (k (x mod 10^6)) div 10^6:\n"
				 "c[j] = r[j] div outdegree[j]; s[i] = the sum of c[j] over the "
				 "edges j -> i;\n"
				 "D = the sum of r[j] over j of out-degree 0;\n"
				 "r'[i] = scale(s[i] + D div n, d) + scale(S div n, 10^6 - d).",
			 KIT_IN(step_in), KIT_OUT(step_out), KIT_ATTR(step_attr)},
		.rules = KIT_PLAN_RULES(step_laws, step_boundaries),
		.laws = step_laws_checks,
		.problems = &rank_prepared,
		.problem = rank_problem_step,
		.infer = step_infer,
		.plan = step_plan,
		.reference = step_reference,
	},
};

const kit_family rank_step_family = {step_ops, NULL, KIT_COUNT(step_ops), 0};
