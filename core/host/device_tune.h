/* Which cuts of work are fastest on a device: real ops are run with each value of each tunable (pipectl/tunables.def), on one session, and the
 * fastest values are kept as the device's record (runtime/device/tuning_record.h). Bytes are compared each time: a value that changes one
 * is no tunable, whoever is to blame. */
#ifndef PIPECTL_HOST_DEVICE_TUNE_H
#define PIPECTL_HOST_DEVICE_TUNE_H

#include "host/run.h"
#include "runtime/device/tuning_record.h"

#define PCTL_DEVICE_TUNE_TRIES 9u /* values of a tunable, and the one that it began with */

/* What became of a tunable: values that were tried, the first what the profile has, and the median of what each took, by the device's clock
 * or (is_device 0) by the host's. plan: of what was planned; same: number of the first with that plan, which alone is timed. best: number of
 * the one that is kept. */
typedef struct pctl_device_tuned {
	uint32_t values[PCTL_DEVICE_TUNE_TRIES];
	uint64_t ns[PCTL_DEVICE_TUNE_TRIES];
	pctl_cid plan[PCTL_DEVICE_TUNE_TRIES];
	uint32_t same[PCTL_DEVICE_TUNE_TRIES];
	uint32_t n, best, is_device;
} pctl_device_tuned;

/* What a tunable is tried on: a pipeline of one job, with a large form for discrete GPUs. The first input changes with each step. */
typedef struct pctl_device_problem {
	uint32_t tunable;
	const char *text, *large;
} pctl_device_problem;

/*
 * selector  of the device, as for --backend
 * rounds    that are timed for each value; 0: 7
 * keep      1: write the record. Nothing is written after an error
 * out       one a tunable; made: the record, whether or not it was written
 *
 * Errors: of runs; PC4334, a value gave other bytes.
 */
typedef struct pctl_device_tune_options {
	const char *selector;
	const pctl_device_problem *problems;	  /* at least one */
	uint32_t n_problems, rounds, keep, flags; /* flags: PCTL_RUN_* */
} pctl_device_tune_options;
pctl_status pctl_device_tune(pctl_installation *in, const pctl_device_tune_options *o,
			     const pctl_call *call, pctl_device_tuned out[PCTL_N_TUNABLES],
			     pctl_tuning_record *made);

#endif
