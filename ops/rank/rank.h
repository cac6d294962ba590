/* What the families of the rank library share: the form of a graph and the constants of the rank.
 */
#ifndef PIPECTL_OPS_RANK_H
#define PIPECTL_OPS_RANK_H

#include "common/kit.h"

extern const kit_family rank_prepare_family;
extern const kit_family rank_step_family;
extern const kit_family rank_pagerank_family;
extern const kit_family rank_weighted_family;

#define RANK_SCALE 1000000000000000ull /* S: the ranks of all nodes together, about */
#define RANK_MILLION 1000000ull
#define RANK_NODES_MAX (1ull << 30)
#define RANK_EDGES_MAX (1ull << 30)

/*
 * A graph as rank.prepare makes it and rank.step reads it: an array of u32 in three sections, each
 * beginning at a multiple of 256 words. The form is part of the op's version: the same on every
 * device.
 *
 * degrees  u32[n], out-degrees
 * rows     u32[n + 1], rows[i] is the first chunk of node i, rows[n] the number of chunks in use
 * chunks   u32[n_chunks, 4], sources of in-edges of one node a chunk, padded with n; nodes
 * ascending, the edges of a node in the order of the input. n_chunks = (m + 3n) div 4 is the most
 * that n nodes and m edges need.
 */
typedef struct rank_layout {
	uint64_t n_nodes, n_chunks;
	uint64_t rows, chunks; /* where the sections begin, in words */
	uint64_t n_words;
} rank_layout;

rank_layout rank_layout_make(uint64_t n_nodes, uint64_t n_edges);
/* The layout of a graph of n_words words over n_nodes nodes; 0 when there is none. */
int rank_layout_find(uint64_t n_nodes, uint64_t n_words, rank_layout *out);

/* Number of nodes for the edges in port 0 and attribute 0 ("nodes"): from the attribute, from what
 * was measured, or 0 and *measure set when it must be measured first. */
pctl_status rank_nodes(const kit_use *u, const char **measure, uint64_t *out);
/* The plan that measures it. */
void rank_plan_measure(kit_plan *p);

/* Element counts of in_degrees and counts: n + 1, of ranks: n; every rank becomes S div n. */
void rank_plan_start(kit_plan *p, uint32_t in_degrees, uint32_t counts, uint32_t ranks, uint64_t n);

/*
 * The two ends of an iteration. `sums` has rank_sums(n, runs) elements: those of runs of what in-edges bring, which
 * whoever gathers writes between the two, then those of the ranks of dangling nodes.
 *
 * contribute  shares[j] = r[j] div degrees[j], 0 where that is 0; n + 1 elements, the last 0
 * apply       new ranks: node i gets what the gathered elements rows[i] to rows[i + 1] - 1 bring. prefixes[k]: the sum
 *             of the elements of k's run up to k; a run has 2^run_log2 of them
 */
typedef struct rank_round {
	uint64_t n_nodes, runs, damping;
	uint32_t run_log2, ranks, shares, prefixes, sums, out;
	kit_slot degrees, rows;
} rank_round;
uint64_t rank_sums(uint64_t n_nodes, uint64_t runs);
void rank_plan_contribute(kit_plan *p, const rank_round *r);
void rank_plan_apply(kit_plan *p, const rank_round *r);

/* scale(x, k) of the definition, for the host's constants. */
uint64_t rank_scale(uint64_t x, uint64_t k);

/* laws.c */
void rank_law_degrees(kit_law *l);
void rank_law_chunks(kit_law *l);
void rank_law_bounded(kit_law *l);
void rank_law_no_damping(kit_law *l);
void rank_law_no_iteration(kit_law *l);
void rank_law_renamed(kit_law *l);
void rank_law_shuffled(kit_law *l);
void rank_law_composed(kit_law *l);
void rank_law_doubled(kit_law *l);
void rank_law_unweighted(kit_law *l);

/* problems.c */
extern const pctl_op_problems rank_graphs, rank_prepared;
void rank_problem_prepare(kit_problem *p);
void rank_problem_pagerank(kit_problem *p);
void rank_problem_weighted(kit_problem *p);
void rank_problem_step(kit_problem *p);

#endif
