/* The laws of the rank library, checked on what a device answered: sums of degrees and ranks, chunks against the edges
 * one by one, renamed nodes, shuffled edges, pagerank put together from prepare and step, and weights that do not tell. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "evidence/proof/plans.h"

#define SCALE 1000000000000000ull

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

static void broken(pctl_verdict *v, const char *what, uint64_t i, uint64_t got, uint64_t want)
{
	v->failed = 1;
	snprintf(v->got, sizeof(v->got), "%s[%" PRIu64 "] = %" PRIu64, what, i, got);
	snprintf(v->want, sizeof(v->want), "%" PRIu64, want);
}

static pctl_status degrees_add_up(const pctl_judge *j, const pctl_problem *p, const pctl_answer *a,
				  const pctl_call *call, pctl_verdict *out)
{
	const uint64_t n = a->bytes[1] / 8;
	uint64_t sum = 0;

	(void)j;
	(void)call;
	for (uint64_t i = 0; i < n; i++)
		sum += word(a->data[0], i);
	if (sum != p->in[0].dim[0])
		broken(out, "sum of degrees", n, sum, p->in[0].dim[0]);
	return PCTL_OK;
}

/* Node by node: what the chunks hold, against a walk over all edges for the sources that end there. */
static pctl_status chunks_hold(const pctl_judge *j, const pctl_problem *p, const pctl_answer *a,
			       const pctl_call *call, pctl_verdict *out)
{
	const uint64_t n = a->bytes[1] / 8, m = p->in[0].dim[0], words = a->bytes[0] / 4;
	const uint64_t rows = (n + 255) / 256 * 256, chunks = rows + (n + 1 + 255) / 256 * 256;
	uint64_t *at = calloc(n + 1, sizeof(*at)), *end = calloc(n + 1, sizeof(*end));

	(void)j;
	if (at == NULL || end == NULL || words < chunks) {
		free(at);
		free(end);
		return pctl_refuse(call, PC2_NOMEM, "no memory to check a graph");
	}
	for (uint64_t i = 0; i < n; i++) {
		at[i] = chunks + 4ull * word(a->data[0], rows + i);
		end[i] = chunks + 4ull * word(a->data[0], rows + i + 1);
		if (at[i] > end[i] || end[i] > words)
			broken(out, "rows", i, end[i], words);
	}
	for (uint64_t e = 0; e < m && !out->failed; e++) {
		const uint32_t source = word(p->data[0], 2 * e),
			       target = word(p->data[0], 2 * e + 1);

		if (at[target] >= end[target])
			broken(out, "chunks end before edge", e, at[target], at[target] + 1);
		else if (word(a->data[0], at[target]) != source)
			broken(out, "graph", at[target], word(a->data[0], at[target]), source);
		else
			at[target]++;
	}
	for (uint64_t i = 0; i < n && !out->failed; i++) {
		if (end[i] - at[i] > 3)
			broken(out, "chunks of node", i, end[i] - at[i], 3);
		for (; at[i] < end[i] && !out->failed; at[i]++)
			if (word(a->data[0], at[i]) != n)
				broken(out, "graph", at[i], word(a->data[0], at[i]), n);
	}
	free(at);
	free(end);
	return PCTL_OK;
}

static pctl_status ranks_bounded(const pctl_judge *j, const pctl_problem *p, const pctl_answer *a,
				 const pctl_call *call, pctl_verdict *out)
{
	const uint64_t n = a->bytes[0] / 8;
	uint64_t before = 0, after = 0;

	(void)j;
	(void)call;
	/* Of sums that fit: above them the ranks wrap. */
	for (uint64_t i = 0; i < n; i++)
		if (!pctl_num_add(before, rank_at(p->data[1], i), &before) ||
		    before > UINT64_MAX / 4)
			out->skipped = 1;
	for (uint64_t i = 0; i < n; i++)
		if (!pctl_num_add(after, rank_at(a->data[0], i), &after))
			after = UINT64_MAX;
	out->skipped |= n == 0;
	if (!out->skipped && after > (before > SCALE ? before : SCALE))
		broken(out, "sum of ranks", n, after, before > SCALE ? before : SCALE);
	return PCTL_OK;
}

static pctl_status all_alike(const pctl_problem *p, const pctl_answer *a, const char *attr,
			     pctl_verdict *out)
{
	const uint64_t n = a->bytes[0] / 8;

	out->skipped = strcmp(pctl_problem_attr(p, attr), "0") != 0 || n == 0;
	for (uint64_t i = 0; i < n && !out->skipped && !out->failed; i++)
		if (rank_at(a->data[0], i) != SCALE / n)
			broken(out, "ranks", i, rank_at(a->data[0], i), SCALE / n);
	return PCTL_OK;
}

static pctl_status no_damping(const pctl_judge *j, const pctl_problem *p, const pctl_answer *a,
			      const pctl_call *call, pctl_verdict *out)
{
	(void)j;
	(void)call;
	return all_alike(p, a, "damping_ppm", out);
}

static pctl_status no_iteration(const pctl_judge *j, const pctl_problem *p, const pctl_answer *a,
				const pctl_call *call, pctl_verdict *out)
{
	(void)j;
	(void)call;
	return all_alike(p, a, "iterations", out);
}

/* rank.prepare of these edges over n nodes, on the device. */
static pctl_status prepare(const pctl_judge *j, const uint32_t *edges, uint64_t m, uint64_t n,
			   const pctl_call *call, pctl_answer *out)
{
	const pctl_tensor_type t = {PCTL_SCALAR_U32, 2, {m, 2}};
	char text[32];
	pctl_problem q;
	pctl_status status = pctl_problem_other(j->ops, "rank.prepare", 1, call, &q);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = pctl_problem_port(&q, 0, &t, call);
	if (status == PCTL_OK) {
		if (m != 0)
			memcpy(q.data[0], edges, 8 * m);
		snprintf(text, sizeof(text), "%" PRIu64, n);
		pctl_problem_set(&q, 0, text);
		status = j->device->solve(j->device->ctx, &q, call, out);
	}
	pctl_problem_clear(&q);
	return status;
}

/* rank.step of a prepared graph and ranks; both are answers of the device. */
static pctl_status step(const pctl_judge *j, const pctl_answer *graph, const uint8_t *ranks,
			uint64_t n, const char *damping, const pctl_call *call, pctl_answer *out)
{
	const pctl_tensor_type t = {PCTL_SCALAR_U64, 1, {n}};
	pctl_problem q;
	pctl_status status = pctl_problem_other(j->ops, "rank.step", 1, call, &q);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = pctl_problem_port(&q, 0, &graph->out[0], call);
	if (status == PCTL_OK)
		status = pctl_problem_port(&q, 1, &t, call);
	if (status == PCTL_OK) {
		memcpy(q.data[0], graph->data[0], graph->bytes[0]);
		memcpy(q.data[1], ranks, 8 * n);
		pctl_problem_set(&q, 0, damping);
		status = j->device->solve(j->device->ctx, &q, call, out);
	}
	pctl_problem_clear(&q);
	return status;
}

/* Node i becomes (i + n / 2 + 1) mod n, its rank too. */
static pctl_status renamed(const pctl_judge *j, const pctl_problem *p, const pctl_answer *a,
			   const pctl_call *call, pctl_verdict *out)
{
	const uint64_t n = p->n_nodes, m = p->n_edges, by = n / 2 + 1;
	uint32_t *edges = malloc(8 * m + 8);
	uint64_t *ranks = malloc(8 * n + 8);
	pctl_answer graph = {.n_out = 0}, after = {.n_out = 0};
	pctl_status status = PCTL_OK;

	out->skipped = n < 2;
	if (edges == NULL || ranks == NULL)
		status = pctl_refuse(call, PC2_NOMEM, "no memory to rename nodes");
	for (uint64_t i = 0; i < 2 * m && status == PCTL_OK; i++)
		edges[i] = (uint32_t)((p->edges[i] + by) % n);
	for (uint64_t i = 0; i < n && status == PCTL_OK; i++)
		ranks[(i + by) % n] = rank_at(p->data[1], i);
	if (status == PCTL_OK && !out->skipped)
		status = prepare(j, edges, m, n, call, &graph);
	if (status == PCTL_OK && !out->skipped)
		status = step(j, &graph, (const uint8_t *)ranks, n,
			      pctl_problem_attr(p, "damping_ppm"), call, &after);
	for (uint64_t i = 0; i < n && status == PCTL_OK && !out->skipped && !out->failed; i++)
		if (rank_at(after.data[0], (i + by) % n) != rank_at(a->data[0], i))
			broken(out, "ranks", i, rank_at(a->data[0], i),
			       rank_at(after.data[0], (i + by) % n));
	pctl_answer_clear(&graph);
	pctl_answer_clear(&after);
	free(edges);
	free(ranks);
	return status;
}

/* Edges from last to first. */
static pctl_status shuffled(const pctl_judge *j, const pctl_problem *p, const pctl_answer *a,
			    const pctl_call *call, pctl_verdict *out)
{
	const uint64_t m = p->in[0].dim[0];
	pctl_answer again = {.n_out = 0};
	pctl_problem q;
	pctl_status status = pctl_problem_copy(p, call, &q);

	out->skipped = m < 2;
	/* The weights of rank.weighted go with them. */
	for (uint64_t e = 0; e < m && status == PCTL_OK; e++) {
		memcpy(q.data[0] + 8 * e, p->data[0] + 8 * (m - 1 - e), 8);
		if (p->in[1].rank == 1)
			memcpy(q.data[1] + 8 * e, p->data[1] + 8 * (m - 1 - e), 8);
	}
	if (status == PCTL_OK)
		status = j->device->solve(j->device->ctx, &q, call, &again);
	if (status == PCTL_OK)
		(void)pctl_answer_differs(p, &again, a, out);
	pctl_answer_clear(&again);
	pctl_problem_clear(&q);
	return status;
}

static pctl_status composed(const pctl_judge *j, const pctl_problem *p, const pctl_answer *a,
			    const pctl_call *call, pctl_verdict *out)
{
	const uint64_t n = a->bytes[0] / 8;
	const uint64_t iterations = strtoull(pctl_problem_attr(p, "iterations"), NULL, 10);
	const char *damping = pctl_problem_attr(p, "damping_ppm");
	pctl_answer graph = {.n_out = 0}, ranks = {.n_out = 0}, next = {.n_out = 0};
	const uint8_t *now;
	pctl_status status;

	out->skipped = n == 0;
	if (n == 0)
		return PCTL_OK;
	status = prepare(j, (const uint32_t *)(const void *)p->data[0], p->in[0].dim[0], n, call,
			 &graph);
	now = graph.data[1];
	for (uint64_t k = 0; k < iterations && status == PCTL_OK; k++) {
		status = step(j, &graph, now, n, damping, call, &next);
		pctl_answer_clear(&ranks);
		ranks = next;
		now = ranks.data[0];
	}
	for (uint64_t i = 0; i < n && status == PCTL_OK && !out->failed; i++)
		if (rank_at(now, i) != rank_at(a->data[0], i))
			broken(out, "ranks", i, rank_at(a->data[0], i), rank_at(now, i));
	pctl_answer_clear(&graph);
	pctl_answer_clear(&ranks);
	return status;
}

static pctl_status doubled(const pctl_judge *j, const pctl_problem *p, const pctl_answer *a,
			   const pctl_call *call, pctl_verdict *out)
{
	const uint64_t m = p->in[0].dim[0];
	pctl_answer again = {.n_out = 0};
	pctl_problem q;
	pctl_status status = pctl_problem_copy(p, call, &q);
	uint64_t sum = 0;

	/* All of them together in half of what one node may have. */
	for (uint64_t e = 0; e < m && status == PCTL_OK; e++) {
		const uint64_t w = rank_at(p->data[1], e), twice = 2 * w;

		sum += w >> 31 ? UINT32_MAX : w;
		memcpy(q.data[1] + 8 * e, &twice, 8);
	}
	out->skipped = m == 0 || sum >> 31;
	if (status == PCTL_OK && !out->skipped)
		status = j->device->solve(j->device->ctx, &q, call, &again);
	if (status == PCTL_OK && !out->skipped)
		(void)pctl_answer_differs(p, &again, a, out);
	pctl_answer_clear(&again);
	pctl_problem_clear(&q);
	return status;
}

static pctl_status unweighted(const pctl_judge *j, const pctl_problem *p, const pctl_answer *a,
			      const pctl_call *call, pctl_verdict *out)
{
	const uint64_t m = p->in[0].dim[0];
	pctl_answer plain = {.n_out = 0};
	pctl_problem q = {.n_nodes = 0};
	pctl_status status = PCTL_OK;

	for (uint64_t e = 0; e < m; e++)
		out->skipped |= rank_at(p->data[1], e) == 0 ||
				rank_at(p->data[1], e) != rank_at(p->data[1], 0);
	out->skipped |= a->bytes[0] == 0;
	if (!out->skipped)
		status = pctl_problem_other(j->ops, "rank.pagerank", 1, call, &q);
	if (status == PCTL_OK && !out->skipped)
		status = pctl_problem_port(&q, 0, &p->in[0], call);
	if (status == PCTL_OK && !out->skipped) {
		if (m != 0)
			memcpy(q.data[0], p->data[0], 8 * m);
		for (uint32_t i = 0; i < 3; i++)
			pctl_problem_set(&q, i, p->text[i]);
		status = j->device->solve(j->device->ctx, &q, call, &plain);
	}
	if (status == PCTL_OK && !out->skipped)
		(void)pctl_answer_differs(p, &plain, a, out);
	pctl_answer_clear(&plain);
	pctl_problem_clear(&q);
	return status;
}

const pctl_plan_law pctl_plan_laws_rank[] = {
	{"rank.prepare@1", "the out-degrees add up to the number of edges", "degrees",
	 degrees_add_up, 0, 0},
	{"rank.prepare@1",
	 "the chunks of node i hold the sources of its in-edges in the order of the input, and "
	 "nothing else",
	 "chunks", chunks_hold, 0, 0},
	{"rank.step@1", "the ranks never add up to more than before, or than 10^15", "bounded",
	 ranks_bounded, 0, 0},
	{"rank.step@1", "damping_ppm = 0 gives every node 10^15 div n", "no damping", no_damping, 0,
	 0},
	{"rank.step@1", "renaming the nodes renames the ranks and changes none", "renamed", renamed,
	 0, 0},
	{"rank.pagerank@1", "iterations = 0 gives every node 10^15 div n", "no iteration",
	 no_iteration, 0, 0},
	{"rank.pagerank@1", "the order of the edges does not show", "shuffled", shuffled, 0, 0},
	{"rank.pagerank@1", "equals rank.prepare and that many times rank.step", "composed",
	 composed, 0, 0},
	{"rank.weighted@1", "iterations = 0 gives every node 10^15 div n", "no iteration",
	 no_iteration, 0, 0},
	{"rank.weighted@1", "the order of the edges does not show", "shuffled", shuffled, 0, 0},
	{"rank.weighted@1", "doubled weights give the same ranks", "doubled", doubled, 0, 0},
	{"rank.weighted@1", "equal weights give the ranks of rank.pagerank", "unweighted",
	 unweighted, 0, 0},
};
const uint32_t pctl_n_plan_laws_rank = sizeof(pctl_plan_laws_rank) / sizeof(pctl_plan_laws_rank[0]);
