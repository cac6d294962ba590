/* Where a kernel's time goes: what every line of it does and how often, by exact counts; what the dispatch takes on a device,
 * beside what the device's memory allows; and what the compiler could not do without. For people: nothing is stored, and
 * nothing here proves anything. */
#ifndef PIPECTL_HOST_TUNE_H
#define PIPECTL_HOST_TUNE_H

#include "compiler/analysis/tally.h"
#include "compiler/legalize/blocks.h"
#include "host/installation.h"

/* Who counts how often blocks run. The counts are integers that are added up, so that all who count right count the same. */
enum { PCTL_TUNE_BY_REFERENCE = 0, PCTL_TUNE_BY_DEVICE = 1, PCTL_TUNE_BY_NOBODY = 2 };

#define PCTL_TUNE_ROUNDS_MAX 1000u

/*
 * counts  PCTL_TUNE_BY_*
 * rounds  that are timed after one that is not; 0: as many as fit into two seconds, 3 to 15
 */
typedef struct pctl_tune_options {
	uint32_t counts, rounds;
} pctl_tune_options;

typedef struct pctl_tune_line {
	uint32_t line, reserved;
	pctl_tally tally;
} pctl_tune_line;

/* A basic block: its function, and the first and last line of the kernel's own text in it (0: it is of another text). */
typedef struct pctl_tune_block {
	const char *function;
	uint32_t first_line, last_line;
	pctl_tally tally;
} pctl_tune_block;

/* What the compiler has to say of a place: "guard" an index that is not proven in bounds, "turns" a loop that takes the turn
 * budget, "call" an operation that is a function on this device, "contract" of guards of floats. line 0: of the whole. */
typedef struct pctl_tune_remark {
	const char *kind, *text;
	uint32_t line, column;
} pctl_tune_remark;

/* Times of rounds. is_device 0: by the host's clock, and `why` says why not by the device's. */
typedef struct pctl_tune_time {
	uint64_t median_ns, least_ns, most_ns;
	uint32_t rounds, is_device;
	const char *why;
} pctl_tune_time;

/*
 * Everything lives in `arena`.
 *
 * device     "vulkan:0 (llvmpipe ..)"; counted_by likewise, NULL where nobody counted
 * total      of all lines and of what stands in other texts, which `elsewhere` has alone
 * least_bytes  that must move between memory and the device whatever the kernel does: of every binding what is read and what is
 *            written of it, each byte once
 * copy_bytes, copy  a kernel that copies: bytes that it reads and writes, and what that took; 0 bytes: it was not measured
 * copy_why   why not
 */
typedef struct pctl_tune_result {
	pctl_arena *arena;
	const char *device, *counted_by, *entry;
	uint32_t groups[3], workgroup[3];
	uint64_t invocations;
	pctl_tune_time time;
	pctl_tune_line *lines;
	pctl_tune_block *blocks;
	pctl_tune_remark *remarks;
	uint32_t n_lines, n_blocks, n_remarks;
	uint32_t compared; /* 0: of class approximate, whose bytes may differ */
	pctl_tally total, elsewhere;
	uint64_t least_bytes, copy_bytes;
	pctl_tune_time copy;
	const char *copy_why;
} pctl_tune_result;

void pctl_tune_result_destroy(pctl_tune_result *r);

/*
 * A graph of one shader job, with the data and the checks of a run (`o`). Its device must give the reference's bytes where
 * the reference counts, and whoever counts the bytes it gives without counting.
 *
 * Errors: of runs; PC5208, bytes differ.
 */
pctl_status pctl_tune_kernel(pctl_installation *in, const pctl_graph *g, const pctl_run_options *o,
			     const pctl_tune_options *t, const pctl_call *call,
			     pctl_tune_result **out);

/*
 * One kernel in several ways (workgroup sizes, overrides), each a graph of one shader job over the same data: nobody counts, all
 * are timed, and all must give the same bytes. names: of the graphs, for messages. results: room for n; those of a graph that ran
 * are the caller's to destroy, also after an error, the others are NULL.
 *
 * Errors: of runs; PC5227, bytes differ from those of the first graph.
 */
pctl_status pctl_tune_sweep(pctl_installation *in, const pctl_graph *const *graphs,
			    const char *const *names, uint32_t n, const pctl_run_options *o,
			    const pctl_tune_options *t, const pctl_call *call,
			    pctl_tune_result **results);

/* What rounds took, the first left out. A device's claim is dropped for the host's clock where it cannot be: no time at all, an
 * end before its begin, more than the host waited. n at least 2, at most 1 + PCTL_TUNE_ROUNDS_MAX. */
void pctl_tune_judge(const pctl_round_time *rounds, uint32_t n, pctl_tune_time *out);

#endif
