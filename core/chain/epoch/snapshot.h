/* The graph as bytes: what the rank of an epoch is computed from. One graph has one spelling, however and in whatever
 * order it came to be. */
#ifndef PIPECTL_CHAIN_EPOCH_SNAPSHOT_H
#define PIPECTL_CHAIN_EPOCH_SNAPSHOT_H

#include "chain/graph/edges.h"

/*
 * Two blobs. Names: each name and a newline, in ascending order bytewise; node i is name i, from 0. Graph: words of 32
 * bits, least significant byte first:
 *
 * 0, 1     the bytes "pctlrank"
 * 2        1, the version
 * 3, 4     n, the number of nodes, and m, that of edges
 * 5        k, by how many bits stakes were shifted
 * 6, 7     height of the block after which the graph was taken, low word first
 * 8 .. 15  SHA-256 of the names
 * 16       n words: of each node, the sum of the weights of its out-edges
 * 16 + n   m pairs of words: source and target of each edge
 * then     m words: the weight of each edge
 * then     m pairs of words: the clock of each edge, low word first
 *
 * Edges ascend by source, target, clock and weight. A name is a node when an edge begins or ends there. The edges are
 * those of kind LINK and of kind INPUT, one for each source, target and account that drew it (the sender of the job),
 * with the least clock at which it did; PCTL_EPOCH_ACCOUNT draws none, so that a rank does not rank its own traces.
 *
 * The stake of an edge is the bond of its account when the graph is taken, its weight (stake >> k) + 1, where k is the
 * least number for which the weights of no node's out-edges add up to 2^32 or more: what rank.weighted@1 takes.
 *
 * From version 2 of the rules on a graph has as many edges as there are, up to PCTL_SNAPSHOT_LINKS_MAX, and is cut into parts of as many
 * edges as one job takes. A part is a graph of this form, with m its own edges, which follow those of the part before; word 2 is 2, and
 * the word of a node without out-edges is 1 in all parts but the first, so that one part alone tells of it. One part is the graph as it
 * is. What is above a limit is left out: links count from the greatest stake down, then from the least clock up, then by source, target
 * and account, and one that would bring a node too many does not count.
 */
#define PCTL_SNAPSHOT_HEADER_WORDS 16u
#define PCTL_SNAPSHOT_EDGES_MAX (1u << 22) /* what the shaders' sums hold */
#define PCTL_SNAPSHOT_NODES_MAX (1u << 22)
#define PCTL_SNAPSHOT_LINKS_MAX (1u << 24) /* in all parts */
#define PCTL_SNAPSHOT_PARTS_MAX 64u

/* One edge before it is spelled; what it points to outlives the call. */
typedef struct pctl_snapshot_link {
	const char *source, *target, *account;
	uint64_t clock, stake;
} pctl_snapshot_link;

/* Released with pctl_snapshot_clear. */
typedef struct pctl_snapshot {
	uint32_t n_nodes, n_edges;
	uint8_t *graph;
	uint64_t n_graph;
	char *names;
	uint64_t n_names;
} pctl_snapshot;

/* Links in any order, which is changed; the same source, target and account may come several times, with one stake.
 * PC6100 for more nodes or edges than there may be. No link at all gives a graph of no nodes. */
pctl_status pctl_snapshot_spell(pctl_snapshot_link *links, uint64_t n, uint64_t height,
				const pctl_call *call, pctl_snapshot *out);
/* The same, but of the links above `most_edges` or `most_nodes` the least are left out, and none is refused. */
pctl_status pctl_snapshot_spell_most(pctl_snapshot_link *links, uint64_t n, uint64_t height,
				     uint32_t most_edges, uint32_t most_nodes,
				     const pctl_call *call, pctl_snapshot *out);
/* Parts of at most `edges` edges; at least one. */
uint32_t pctl_snapshot_parts(const pctl_snapshot *s, uint32_t edges);
/* One of them, released with free(). */
pctl_status pctl_snapshot_part(const pctl_snapshot *s, uint32_t edges, uint32_t part,
			       const pctl_call *call, uint8_t **out, uint64_t *n_out);

/* The graph of the state as it stands, after block `height`. most_edges: 0 under version 1 of the rules; else links that were taken
 * back are none, and of more the least are left out. */
pctl_status pctl_snapshot_take(pctl_chain_state *s, uint64_t height, uint32_t most_edges,
			       const pctl_call *call, pctl_snapshot *out);
void pctl_snapshot_clear(pctl_snapshot *snapshot);
/* There was no memory for a graph. */
pctl_status pctl_epoch_no_memory(const pctl_call *call);

#endif
