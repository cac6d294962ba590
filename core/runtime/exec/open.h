/* A device opened for work: its worker and a session on it, if the policy lets it be used. */
#ifndef PIPECTL_RUNTIME_EXEC_OPEN_H
#define PIPECTL_RUNTIME_EXEC_OPEN_H

#include "runtime/exec/session.h"
#include "runtime/plugin/devices.h"
#include "runtime/policy/policy.h"

/*
 * policy       NULL: it is not asked (the reference, where it looks for races)
 * flags        PCTL_RUN_IN_PROCESS, PCTL_RUN_DEBUG, PCTL_RUN_NATIVE; the others are nothing to this
 * build_flags  of kernels
 * without_contracts  as of a session
 */
typedef struct pctl_open_options {
	pctl_registry *registry;
	const pctl_policy *policy;
	pctl_profiles *profiles;
	const char *cache_dir;
	uint32_t flags, build_flags, without_contracts;
} pctl_open_options;

typedef struct pctl_open_device {
	pctl_backend_instance *backend;
	pctl_session *session;
} pctl_open_device;

/* A device as the policy sees it, and how devices are to be listed under `flags`. */
pctl_policy_device pctl_open_policy_device(const pctl_device_entry *e);
uint32_t pctl_open_list_flags(uint32_t flags);

/* May it be used (PC4312 where not, and what pctl_policy_backend_allowed says), and open it: its session is known as
 * "vulkan:0 (llvmpipe ..)". */
pctl_status pctl_open_entry(const pctl_open_options *o, const pctl_device_entry *e,
			    const pctl_call *call, pctl_open_device *out);
/* The same by a selector. */
pctl_status pctl_open_selected(const pctl_open_options *o, const char *selector,
			       const pctl_call *call, pctl_open_device *out);
void pctl_open_close(pctl_open_device *d);

/* Of the usable devices of a list that no `taken` marks, the next one by the policy's order, which is marked; NULL: none
 * is left. reference_only: of those alone. */
const pctl_device_entry *pctl_open_next(const pctl_policy *policy, const pctl_devices *list,
					uint8_t *taken, int reference_only);

#endif
