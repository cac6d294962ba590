/* Running prepared code: a batch is the lanes of one or more workgroups that go through the code
 * together, with their memory. One thread runs one batch at a time. */
#ifndef PCTL_CPU_BATCH_H
#define PCTL_CPU_BATCH_H

#include "code/code.h"
#include "lanes/sanitizer.h"

/* A buffer range as a program sees it. */
typedef struct pctl_cpu_bound {
	uint8_t *base; /* never NULL: at least 8 readable bytes */
	uint64_t n_bytes;
	uint64_t buffer_offset;	 /* of the range in its buffer, for the shadow */
	uint32_t length;	 /* elements of the runtime array */
	uint32_t is_short;	 /* n_bytes does not hold the fixed part: every access asks */
	pctl_cpu_shadow *shadow; /* of the buffer, or NULL */
} pctl_cpu_bound;

/* One dispatch, shared by the threads that run it. */
typedef struct pctl_cpu_job {
	const pctl_cpu_code *code;
	const pctl_cpu_kernels *k;
	const pctl_cpu_bound *bounds; /* by slot of the code */
	uint32_t groups[3];
	uint32_t groups_per_batch;
	uint64_t n_groups;
	uint64_t next_group;	       /* atomic: the first group nobody has taken */
	const uint32_t *cancel;	       /* atomic: non-zero stops */
	pctl_cpu_sanitizer *sanitizer; /* sanitized builds, else NULL */
} pctl_cpu_job;

typedef struct pctl_cpu_frame {
	const pctl_cpu_ins *back;
	uint32_t *mask;
	uint32_t n_active, lo, hi;
	uint32_t reserved;
} pctl_cpu_frame;

typedef struct pctl_cpu_batch {
	const pctl_cpu_code *code;
	pctl_cpu_job *job;
	uint8_t *registers;
	uint64_t *off; /* scratch of memory accesses, one a lane */
	uint32_t *ok;
	uint64_t *group_base; /* by lane: offset of its group's workgroup memory */
	uint8_t *workgroup;
	uint32_t *case_counts;
	uint64_t *block_counts;
	pctl_cpu_frame *frames;
	uint32_t *mask; /* of the running function: 1 for each active lane */
	uint32_t n_frames;
	uint32_t n_lanes, width;   /* width: lanes padded to a multiple of 16 */
	uint32_t n_active, lo, hi; /* every active lane is in [lo, hi) */
	uint64_t first_group;
	uint64_t out_of_bounds;
	uint64_t barriers[4];
} pctl_cpu_batch;

pctl_cpu_batch *pctl_cpu_batch_create(const pctl_cpu_code *code, const pctl_cpu_kernels *k);
void pctl_cpu_batch_destroy(pctl_cpu_batch *s);

/* Run n_groups workgroups from first_group. PCTL_OK, PCTL_E_CANCELLED, or PCTL_E_LIMIT from the
 * sanitizer. */
pctl_status pctl_cpu_batch_run(pctl_cpu_batch *s, pctl_cpu_job *job, uint64_t first_group,
			       uint32_t n_groups);

/* batch_memory.c: one access by the active lanes. */
void pctl_cpu_batch_load(pctl_cpu_batch *s, const pctl_cpu_ins *in);
void pctl_cpu_batch_store(pctl_cpu_batch *s, const pctl_cpu_ins *in);
void pctl_cpu_batch_atomic(pctl_cpu_batch *s, const pctl_cpu_ins *in);

/* batch_subgroup.c: one operation over the subgroups of the batch. */
void pctl_cpu_batch_subgroup(pctl_cpu_batch *s, const pctl_cpu_ins *in);

/* batch_tile.c: a product of tiles by the subgroups of the batch. */
void pctl_cpu_batch_tile(pctl_cpu_batch *s, const pctl_cpu_ins *in);

/* batch_sanitizer.c: what only sanitizing and counting builds do. */
void pctl_cpu_batch_missed(pctl_cpu_batch *s, const pctl_cpu_ins *in, const pctl_cpu_mem *m);
void pctl_cpu_batch_touched(pctl_cpu_batch *s, const pctl_cpu_ins *in, const pctl_cpu_mem *m,
			    uint32_t access);
void pctl_cpu_batch_barrier(pctl_cpu_batch *s, const pctl_cpu_ins *in);
/* The linear id of a lane over the whole dispatch. */
uint64_t pctl_cpu_batch_invocation(const pctl_cpu_batch *s, uint64_t group, uint32_t local);

static inline void *pctl_cpu_at(const pctl_cpu_batch *s, uint32_t reg)
{
	return s->registers + (uint64_t)reg * 8;
}

#endif
