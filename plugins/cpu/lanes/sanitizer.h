/* The sanitizer: shadow memory that remembers who touched each word, and the findings.
 * Single-threaded: a sanitized dispatch runs its workgroups one after the other. */
#ifndef PCTL_CPU_SANITIZER_H
#define PCTL_CPU_SANITIZER_H

#include "pipectl/backend.h"

enum { PCTL_CPU_READ = 0, PCTL_CPU_WRITE = 1, PCTL_CPU_TOUCH_ATOMIC = 2 };

/*
 * What is remembered of a cell: a word of 4 bytes, or of 2 in programs with such elements. An access is packed as serial (34 bits) | local index (10) |
 * instruction (20), 0 for none. A serial numbers one barrier interval of one workgroup. Of reads
 * and of atomics two by different invocations are kept: one of them differs from any third.
 */
typedef struct pctl_cpu_cell {
	uint64_t write;
	uint64_t reads[2];
	uint64_t atomics[2];
} pctl_cpu_cell;

/* Shadow of one buffer or of one group's workgroup memory; cells are zero pages until touched. */
typedef struct pctl_cpu_shadow {
	pctl_cpu_cell *cells;
	uint64_t n_cells;
	uint32_t shift; /* byte b has cell b >> shift; 1 or 2 */
	uint32_t reserved;
} pctl_cpu_shadow;

pctl_cpu_shadow *pctl_cpu_shadow_create(uint64_t n_bytes, uint32_t shift);
void pctl_cpu_shadow_destroy(pctl_cpu_shadow *s);

/* One space's clock: serials at or after `group` are of the running workgroup, those before `first`
 * of work that cannot race with it. */
typedef struct pctl_cpu_clock {
	uint64_t now, group, first;
} pctl_cpu_clock;

typedef struct pctl_cpu_sanitizer {
	pctl_finding *findings;
	uint32_t n_findings, cap_findings;
	uint32_t dispatch;
	uint32_t overflow; /* 1: a serial did not fit; the run stops */
	uint32_t exceeded; /* 1: an invocation of this dispatch went over its turn budget */
	uint64_t barriers; /* that the running workgroup has passed */
	const pctl_program *program;
	pctl_cpu_clock storage, workgroup;
	pctl_cpu_shadow *workgroup_shadow; /* of the running dispatch */
	/* Which workgroup each storage serial belongs to: the serials at which groups of this
	 * dispatch began. */
	uint64_t *group_starts;
	uint64_t n_groups, cap_groups;
	uint64_t first_group;			   /* number of the first of them: always 0 */
	uint32_t exceeded_local, exceeded_finding; /* of the one that is kept */
} pctl_cpu_sanitizer;

pctl_cpu_sanitizer *pctl_cpu_sanitizer_create(void);
void pctl_cpu_sanitizer_destroy(pctl_cpu_sanitizer *w);
/* 1, or 0 for lack of memory. */
int pctl_cpu_sanitizer_dispatch(pctl_cpu_sanitizer *w, const pctl_program *p, uint32_t dispatch,
				uint64_t workgroup_bytes, uint32_t shift);
int pctl_cpu_sanitizer_group(pctl_cpu_sanitizer *w);
void pctl_cpu_sanitizer_barrier(pctl_cpu_sanitizer *w, uint32_t bits);
/*
 * One cell touched by lane `local`, by instruction `inst` of the program. The packed access it
 * races with, or 0.
 */
uint64_t pctl_cpu_sanitizer_touch(pctl_cpu_sanitizer *w, const pctl_cpu_clock *clock,
				  pctl_cpu_cell *cell, uint32_t kind, uint32_t local,
				  uint32_t inst);
/* The workgroup, local index and instruction of a packed access; the group is only right for
 * storage. */
void pctl_cpu_sanitizer_unpack(const pctl_cpu_sanitizer *w, uint64_t access, uint64_t *group,
			       uint32_t *local, uint32_t *inst);
/* An invocation sets the turn flag: kept is the first (PCTL_FINDING_TURNS). */
void pctl_cpu_sanitizer_exceeded(pctl_cpu_sanitizer *w, const pctl_finding *f, uint32_t local);
/* Add a finding, or to the count of one with the same instructions. Past 4096 kinds they are
 * dropped. */
void pctl_cpu_sanitizer_add(pctl_cpu_sanitizer *w, const pctl_finding *f);

#endif
