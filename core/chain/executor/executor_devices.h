/* Inside of the executor over devices, shared by executor.c and executor_verify.c. */
#ifndef PIPECTL_CHAIN_EXECUTOR_EXECUTOR_DEVICES_H
#define PIPECTL_CHAIN_EXECUTOR_EXECUTOR_DEVICES_H

#include "chain/executor/executor.h"
#include "runtime/exec/open.h"

/* A device that may be used. name: "vulkan:0 (llvmpipe ..)", NULL before it was opened; tries: openings in this run;
 * gone: lost twice in one run, and taken again only when nothing else is left. */
typedef struct pctl_executor_device {
	char *selector, *name;
	pctl_open_device open;
	uint32_t tries, gone;
} pctl_executor_device;

typedef struct pctl_device_executor {
	pctl_device_executor_options o; /* backends and cache_dir are copies */
	char *cache_dir;
	pctl_executor_device *devices; /* in order of preference */
	uint32_t n_devices, is_listed;
	pctl_executor_device reference; /* of its own: what verifies is not what ran */
	const char *ran;		/* name of the device that ran last */
	pctl_shapes shapes;		/* of submissions to devices */
} pctl_device_executor;

/* Its session, opened when it is not. PC4312 and what opening says. */
pctl_status pctl_executor_device_open(pctl_device_executor *e, pctl_executor_device *d,
				      const pctl_call *call);
void pctl_executor_device_close(pctl_executor_device *d);
pctl_task_limits pctl_executor_limits(const pctl_device_executor *e);

/* Kernels of class strict: the check of their first build on this device (runtime/exec/adversary.h). PC5216. */
pctl_status pctl_executor_first_builds(pctl_device_executor *e, pctl_executor_device *d,
				       const pctl_task *tasks, uint32_t n, const pctl_call *call);
/* Run the sampled tasks again on the reference and compare with their outputs: PC5208. Says how all of them stand. */
pctl_status pctl_executor_verify(pctl_device_executor *e, const pctl_executor_device *d,
				 const pctl_task *tasks, uint32_t n, const pctl_call *call);

#endif
