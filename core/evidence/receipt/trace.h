/* The trace of a run: one line for each job, and as asked for each round and each step before it, of what was written
 * there. The lines are the leaves of the Merkle tree whose root a receipt signs. They are the same on every device: a
 * trace of steps is taken of plans that are cut alike everywhere (PCTL_RUN_CANONICAL). */
#ifndef PIPECTL_EVIDENCE_RECEIPT_TRACE_H
#define PIPECTL_EVIDENCE_RECEIPT_TRACE_H

#include "foundation/record/record.h"
#include "runtime/exec/run.h"

#define PCTL_TRACE_LEAVES_MAX 262144u

/* A buffer that was written. name: of an output port, or "#7" for buffer 7 of the plan. */
typedef struct pctl_trace_buffer {
	const char *name;
	uint64_t n_bytes;
	pctl_cid cid; /* of all its bytes */
} pctl_trace_buffer;

/*
 * One line: "JOB ID ROUND STEP NAME=BYTES:SHA256 ..", with "-" for the round and step of a whole job and for the step of a
 * whole round.
 *
 * job    index in the pipeline; id: its name
 * level  PCTL_TRACE_JOBS, _ROUNDS or _STEPS; round from 0, step from 1
 */
typedef struct pctl_trace_leaf {
	const char *line, *id;
	const pctl_trace_buffer *buffers;
	uint32_t job, level, step, n_buffers;
	uint64_t round;
} pctl_trace_leaf;

extern const pctl_record_type pctl_trace_leaf_type; /* of pctl_trace_leaf, but its line */

typedef struct pctl_run_trace {
	pctl_arena *arena;
	pctl_trace_leaf *leaves;
	uint32_t n, cap;
	uint8_t root[PCTL_DIGEST_BYTES]; /* once pctl_run_trace_finish was called */
} pctl_run_trace;

/* Empty, its strings in the arena. */
void pctl_run_trace_begin(pctl_run_trace *t, pctl_arena *arena);
/* Hash what is traced, and add its leaf. Errors: PC5905, of reading. */
pctl_status pctl_run_trace_add(pctl_run_trace *t, const pctl_run_observation *view,
			       const pctl_call *call);
/* The leaf of a view without adding it. */
pctl_status pctl_run_trace_leaf(pctl_arena *arena, const pctl_run_observation *view,
				const pctl_call *call, pctl_trace_leaf *out);
/* The root of what is there. */
pctl_status pctl_run_trace_finish(pctl_run_trace *t, const pctl_call *call);

/* Lines back; 1 on success, 0 when one is not as writing gives it, or there are too many. No root. */
int pctl_run_trace_read(pctl_run_trace *t, pctl_arena *arena, const char *const *lines, uint32_t n);

/* Set the line of a leaf from the rest of it; 0: no memory. */
int pctl_trace_leaf_spell(pctl_arena *arena, pctl_trace_leaf *leaf);

/* "job", "round", "step"; and back, 1 when it is one. */
extern const char *const pctl_trace_levels[3];
const char *pctl_trace_level_name(uint32_t level);
int pctl_trace_level_parse(const char *text, uint32_t *out);

/* "job \"iterate\", round 3, step 2" into out. */
#define PCTL_TRACE_PLACE 256u
const char *pctl_trace_place(const pctl_trace_leaf *leaf, char out[PCTL_TRACE_PLACE]);

#endif
