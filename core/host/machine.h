/* A machine of the GPU VM, for clients: on the device that they name, or the first that the policy prefers. */
#ifndef PIPECTL_HOST_MACHINE_H
#define PIPECTL_HOST_MACHINE_H

#include "host/installation.h"
#include "vm/machine.h"

/* What a machine is opened by; it outlives the machine. */
typedef struct pctl_host_machine {
	pctl_open_options open;
	pctl_machine *machine;
} pctl_host_machine;

/*
 * What a caller says of a machine: desc and the last two as in pctl_machine_options. device: a selector, or NULL. run_flags: PCTL_RUN_IN_PROCESS and
 * PCTL_RUN_DEBUG, beside those of the installation.
 */
typedef struct pctl_host_machine_options {
	const pctl_vm_desc *desc;
	const char *device;
	uint32_t run_flags, is_verified;
	uint64_t budget_bytes;
} pctl_host_machine_options;

/* Boot it. Close it also after an error. Errors: those of pctl_machine_boot; PC5207: there is no device. */
pctl_status pctl_host_machine_boot(pctl_installation *in, const pctl_host_machine_options *o,
				   const pctl_call *call, pctl_host_machine *out);
void pctl_host_machine_shutdown(pctl_host_machine *m);

#endif
