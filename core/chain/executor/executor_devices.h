/* Inside of the executor over devices, shared by executor.c and executor_verify.c. */
#ifndef PIPECTL_CHAIN_EXECUTOR_EXECUTOR_DEVICES_H
#define PIPECTL_CHAIN_EXECUTOR_EXECUTOR_DEVICES_H

#include "chain/executor/executor.h"
#include "foundation/base/map.h"
#include "foundation/diag/diag.h"
#include "runtime/exec/open.h"

/* A device that may be used. name: "vulkan:0 (llvmpipe ..)", NULL before it was opened; tries: openings in this run;
 * gone: lost twice in one run, and taken again only when nothing else is left; where the reference is always left: not
 * taken again in this run. losses: of this run. is_wrong: the reference gave other bytes; it is not taken again. */
typedef struct pctl_executor_device {
	char *selector, *name;
	pctl_open_device open;
	uint32_t tries, gone, losses, is_wrong;
} pctl_executor_device;

typedef struct pctl_device_executor {
	pctl_device_executor_options o; /* backends and cache_dir are copies */
	char *cache_dir;
	pctl_executor_device *devices; /* in order of preference */
	uint32_t n_devices, is_listed;
	pctl_map *avoided; /* kernels of devices that are not asked for again (executor_next.c) */
	pctl_executor_device reference; /* of its own: what verifies is not what ran */
	const char *ran;		/* name of the device that ran last */
	pctl_shapes shapes;		/* of submissions to devices */
} pctl_device_executor;

/* Its session, opened when it is not. PC4312 and what opening says. */
pctl_status pctl_executor_device_open(pctl_device_executor *e, pctl_executor_device *d,
				      const pctl_call *call);
void pctl_executor_device_close(pctl_executor_device *d);
pctl_task_limits pctl_executor_limits(const pctl_device_executor *e);

/* Run the tasks on one device, which is opened when it is not and once more when it is lost. */
pctl_status pctl_executor_run_on(pctl_device_executor *e, pctl_executor_device *d,
				 const pctl_task *tasks, uint32_t n, const pctl_call *call);
/* Can it run this task: opened and its kernel built. Where it cannot be opened it is gone. */
pctl_status pctl_executor_try(pctl_device_executor *e, pctl_executor_device *d, const pctl_task *t,
			      const pctl_call *call);
/* Run all tasks, each on the first device that can, the last being the reference. said: what `call` says goes there; outer
 * is told PC5833 where another device stood in. */
pctl_status pctl_executor_run_in_turn(pctl_device_executor *e, const pctl_task *tasks, uint32_t n,
				      const pctl_diag_list *said, const pctl_call *call,
				      const pctl_call *outer);

/* Kernels of class strict: the check of their first build on this device (runtime/exec/adversary.h). PC5216. */
pctl_status pctl_executor_first_builds(pctl_device_executor *e, pctl_executor_device *d,
				       const pctl_task *tasks, uint32_t n, const pctl_call *call);
/* Run the sampled tasks again on the reference and compare with their outputs: PC5208. Says how all of them stand. */
pctl_status pctl_executor_verify(pctl_device_executor *e, const pctl_executor_device *d,
				 const pctl_task *tasks, uint32_t n, const pctl_call *call);

#endif
