/* How much gas a device does in a millisecond, measured as a block would run it: through an executor, with bytes going
 * up and coming back. What is measured here is for people to propose; it never enters state by itself. */
#ifndef PIPECTL_CHAIN_EXECUTOR_CALIBRATE_H
#define PIPECTL_CHAIN_EXECUTOR_CALIBRATE_H

#include "chain/executor/executor.h"
#include "chain/ledger/params.h"

#define PCTL_CALIBRATION_KERNELS 7u

/* One kernel at the size that took long enough: `jobs` jobs of together `gas`, in `ns` (the median of several runs). */
typedef struct pctl_calibration_point {
	const char *kernel;
	uint64_t jobs, groups, gas, ns, gas_per_ms;
} pctl_calibration_point;

/* gas_per_ms: of the slowest kernel, since a block may be made of nothing else. */
typedef struct pctl_calibration {
	char device[600];
	pctl_calibration_point points[PCTL_CALIBRATION_KERNELS];
	uint64_t gas_per_ms;
} pctl_calibration;

/*
 * Measure the one device that `o` names. least_ms: a size is grown until a run takes this long or cannot grow; then the
 * median of `runs` (1 to 15).
 *
 * Errors: those of the executor; PC5832 for a result that is not what the kernel gives.
 */
pctl_status pctl_calibrate(const pctl_device_executor_options *o, pctl_kernels *kernels,
			   const pctl_gas_schedule *schedule, uint32_t least_ms, uint32_t runs,
			   const pctl_call *call, pctl_calibration *out);

/* The parameters in force for the open block of the state in `dir`, which is only read. */
pctl_status pctl_calibration_params(const char *dir, const pctl_call *call, pctl_params *out);

#endif
