/* How far work is, told to whoever shows it. The core says what it knows; rates, what is left of the time, and how any of it
 * looks are the client's. A sink may pass on what it hears to another after filling in what the teller below it cannot know. */
#ifndef PIPECTL_FOUNDATION_BASE_PROGRESS_H
#define PIPECTL_FOUNDATION_BASE_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

/*
 * stage         what is being done: "build", "run", "verify" (again on the reference), "races", "measure", "prove",
 *               "replay", "read", "write", "hash", "collect"
 * what          the job, the subject of a block of a proof, the file; NULL: it has no name
 * device        selector or name; NULL: no device takes part
 * unit          what done and total count: "rounds", "blocks", "blobs"; NULL: nothing is counted
 * done, total   total 0: nobody knows
 * bytes, total_bytes  of a transfer, moved so far and in all; 0: not known
 * memory_bytes  of the job's buffers on its device
 * elapsed_ns    since this job, proof or transfer began; limit_ns: when it will be stopped, 0: never
 * job, jobs     which job of how many, from 1; repeat, repeats: which run of how many; 0: not one of several
 */
typedef struct pctl_progress {
	const char *stage, *what, *device, *unit;
	uint64_t done, total;
	uint64_t bytes, total_bytes, memory_bytes;
	uint64_t elapsed_ns, limit_ns;
	uint32_t job, jobs, repeat, repeats;
} pctl_progress;

/* tell: NULL, or called in the thread that works: between pieces of work, and at least every 100 ms while a device is
 * waited for. What it is shown is valid during the call. */
typedef struct pctl_progress_sink {
	void (*tell)(void *ctx, const pctl_progress *p);
	void *ctx;
} pctl_progress_sink;

static inline void pctl_progress_tell(const pctl_progress_sink *s, const pctl_progress *p)
{
	if (s != NULL && s->tell != NULL)
		s->tell(s->ctx, p);
}

#endif
