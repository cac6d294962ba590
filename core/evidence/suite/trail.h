/* Can the operations on one cell have happened one after the other? Each is a step from the value it gave back to the
 * value it left; an order exists exactly when all steps form one trail from the first value to the last. */
#ifndef PIPECTL_EVIDENCE_SUITE_TRAIL_H
#define PIPECTL_EVIDENCE_SUITE_TRAIL_H

#include <stdint.h>

typedef struct suite_move {
	uint32_t from, to;
} suite_move;

/*
 * 1: the n moves can be put in an order that starts at `start`, ends at `end`, and goes on where the one before ended
 * (an Eulerian trail: at every value as many moves arrive as leave, the two ends apart, and all hang together). 0: no.
 * -1: no memory. *culprit is a value at which it breaks.
 */
int suite_trail(const suite_move *moves, uint32_t n, uint32_t start, uint32_t end,
		uint32_t *culprit);

#endif
