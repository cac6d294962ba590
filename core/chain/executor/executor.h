/* What runs the jobs of a block: tasks that do not depend on each other, in as few submissions as memory allows. The
 * chain sees only this interface, so that a test can put its own in place. */
#ifndef PIPECTL_CHAIN_EXECUTOR_EXECUTOR_H
#define PIPECTL_CHAIN_EXECUTOR_EXECUTOR_H

#include "runtime/exec/tasks.h"
#include "runtime/plugin/devices.h"
#include "runtime/policy/policy.h"

/*
 * Run all n tasks. Either all outputs are right or the status says why none counts: whatever goes wrong here is trouble
 * of this node (device lost, no memory, no device that can), never a job's failure, and changes no state.
 */
typedef struct pctl_executor {
	pctl_status (*run)(void *ctx, const pctl_task *tasks, uint32_t n, const pctl_call *call);
	void (*close)(void *ctx); /* may be NULL */
	const char *(*describe)(
		void *ctx); /* "vulkan:0 (llvmpipe ..)", for messages and receipts */
	void *ctx;
} pctl_executor;

/*
 * An executor over the devices of this installation.
 *
 * backends   selectors in order of preference, each opened when it is first needed; a lost device is opened again once,
 *            then the next is taken. n 0: the policy's order
 * to_reference  1: what a device cannot run, or is found to give wrong bytes of, runs on the next one and in the end on
 *            the reference, which is added behind them where it is not the last; a job alone where it can be told which. It
 *            is said as a warning, PC5833. 0: these devices alone, all tasks of a run on one, and one that is found wrong ends it
 * verify_ppm share of tasks run again on the reference and compared (PCTL_E_MISMATCH), in millionths
 */
typedef struct pctl_device_executor_options {
	pctl_registry *registry;
	const pctl_policy *policy;
	pctl_profiles *profiles;
	const char *cache_dir;
	const char *const *backends;
	uint32_t n_backends, verify_ppm;
	uint32_t flags; /* PCTL_RUN_IN_PROCESS, PCTL_RUN_DEBUG */
	uint32_t to_reference;
} pctl_device_executor_options;

pctl_status pctl_device_executor_open(const pctl_device_executor_options *o, const pctl_call *call,
				      pctl_executor *out);
/* From now on the devices that were named alone (to_reference 0): for who wants to know what these do. */
void pctl_device_executor_hold_to(pctl_executor *e);
/* Calls close, if there is one. */
void pctl_executor_close(pctl_executor *e);

#endif
