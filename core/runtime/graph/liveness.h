/* Where spans lie in a place that they share (SEMANTICS.md 17.2): those that are never alive together may share bytes. Of plans
 * (jobplan_memory.c) and of whole pipelines that stay on a device (exec/resident_place.c). */
#ifndef PIPECTL_RUNTIME_GRAPH_LIVENESS_H
#define PIPECTL_RUNTIME_GRAPH_LIVENESS_H

#include <stdint.h>

/* A span of n_bytes, alive from the first step that touches it to the last; one that none touches counts as alive always.
 * id: the caller's number of it, which orders spans of one size. at: where it lies, once it was placed. */
typedef struct pctl_life {
	uint32_t id, from, to;
	uint32_t is_touched;
	uint64_t n_bytes, at;
} pctl_life;

void pctl_life_touch(pctl_life *l, uint32_t step);

/*
 * Place them, the largest first, each at the lowest multiple of `align` where nothing lies that is alive with it; what is
 * returned is the end of the last. They are put in that order.
 *
 * most    0, or a multiple of `align`, and no span is larger: none lies across a multiple of it, so that the place can be
 *         several buffers of so many bytes
 * sorted  room for n numbers
 *
 * Sizes are below 2^62 together. The time is quadratic in n.
 */
uint64_t pctl_lives_place(pctl_life *lives, uint32_t n, uint64_t align, uint64_t most,
			  uint32_t *sorted);

#endif
