/* How much gas a device does in a millisecond, measured as a block would run it: through an executor, with bytes going
 * up and coming back. What is measured here is for people to propose; it never enters state by itself. */
#ifndef PIPECTL_CHAIN_EXECUTOR_CALIBRATE_H
#define PIPECTL_CHAIN_EXECUTOR_CALIBRATE_H

#include "chain/executor/executor.h"
#include "chain/ledger/params.h"

/* One kernel at the size that took long enough: `jobs` jobs of together `gas`, in `ns`. row: of the schedule, that the kernel is for;
 * NULL of the few that stand for what jobs do. before: gas under the schedule of that name, 0 where it has no price. parts: the
 * gas before it is rounded, in parts of one; units: by PCTL_GAS_* and opcode (gas.h), what one more in that row adds to it, of the
 * suite alone. */
typedef struct pctl_calibration_point {
	const char *kernel, *row;
	uint64_t jobs, groups, gas, parts, before, ns, gas_per_ms;
	uint32_t is_odd; /* nobody's honest work (suite.h) */
	uint32_t
		is_built; /* a kernel of each job's own: of the time of a block, and no kernel's that runs */
	uint64_t units[PCTL_GAS_ROWS];
} pctl_calibration_point;

/* gas_per_ms: of the slowest kernel, since a block may be made of nothing else. least, most: the points of the least and, of honest ones, the most
 * gas a millisecond; those under `before` likewise, among the kernels that it prices. */
typedef struct pctl_calibration {
	char device[600];
	pctl_calibration_point *points;
	uint32_t n_points;
	uint32_t least, most, least_before, most_before;
	uint64_t gas_per_ms;
} pctl_calibration;

/*
 * How it is measured. least_ms: a size is grown until a run takes this long or cannot grow; then the median of `runs` (1 to 15).
 *
 * has_floats  of the suite also what is of class strict, for which a device is probed first
 * is_suite  every kernel of the suite, the least of `runs`, by what processors did where the device is one (processor.h); else the few,
 *           by the clock
 * schedule  its rows are changed while it is measured, and are as before when it is done
 */
typedef struct pctl_calibrating {
	pctl_gas_schedule *schedule;
	const pctl_gas_schedule *before; /* may be NULL */
	uint32_t least_ms, runs, is_suite, has_floats;
} pctl_calibrating;

/*
 * Measure the one device that `o` names. *out is released with pctl_calibration_clear, whatever the status.
 *
 * Errors: those of the executor; PC5832 for a result that is not what the kernel gives.
 */
pctl_status pctl_calibrate(const pctl_device_executor_options *o, pctl_kernels *kernels,
			   const pctl_calibrating *how, const pctl_call *call,
			   pctl_calibration *out);
void pctl_calibration_clear(pctl_calibration *c);
/* Gas a millisecond of a point: under `before` where is_before. */
double pctl_calibration_rate(const pctl_calibration_point *p, int is_before);

/* The parameters in force for the open block of the state in `dir`, which is only read. */
pctl_status pctl_calibration_params(const char *dir, const pctl_call *call, pctl_params *out);

#endif
