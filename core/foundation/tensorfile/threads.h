/* One loop over several threads of the host, for work whose result does not depend on who does which part. */
#ifndef PIPECTL_FOUNDATION_TENSORFILE_THREADS_H
#define PIPECTL_FOUNDATION_TENSORFILE_THREADS_H

#include <stdint.h>

/*
 * Do items 0 to n - 1 by `each`, which is given ranges of at most `step` of them, in order, but several at a time. It returns the first item of
 * its range that cannot be done, or UINT64_MAX. The lowest such item, after which no further range is begun; UINT64_MAX: all are done.
 *
 * Threads are as many as the processors that the process may use, at most 64 and no more than there are ranges; the caller is one of them.
 */
typedef uint64_t pctl_threads_each(void *ctx, uint64_t first, uint64_t n);
uint64_t pctl_threads_run(uint64_t n, uint64_t step, pctl_threads_each *each, void *ctx);

#endif
