/* Jobs of several kernels with their outputs worked out here in C, for the executor's tests and its bench. */
#ifndef PIPECTL_TESTS_EXECUTOR_JOBS_H
#define PIPECTL_TESTS_EXECUTOR_JOBS_H

#include "chain/executor/executor.h"

#define JOBS_KERNELS 7u

/* tasks[i].output is zeroed by the caller's run; want[i] has tasks[i].n_output bytes. */
typedef struct jobs {
	pctl_kernels *kernels;
	pctl_task *tasks;
	uint8_t **want;
	uint32_t n;
} jobs;

/* n jobs "job0", "job1", .., their data a function of the seed. only: number of a kernel, or JOBS_KERNELS for all in
 * turn. words: of an input, 0: random, from none to a few thousand. 0 and diagnostics when a kernel does not compile. */
int jobs_make(jobs *j, uint32_t n, uint64_t seed, uint32_t only, uint32_t words,
	      const pctl_call *call);
void jobs_drop(jobs *j);
/* Fill all outputs with a pattern that is no result. */
void jobs_corrupt(jobs *j);
/* Index of the first job whose output is not what is wanted, or n. */
uint32_t jobs_wrong(const jobs *j);

#endif
