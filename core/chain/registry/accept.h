/* How large a shader of the chain may be, and what a job of it needs, from version 2 of the rules on: numbers that are computed
 * from the program, never what a machine happens to have. accept.def is the table. */
#ifndef PIPECTL_CHAIN_REGISTRY_ACCEPT_H
#define PIPECTL_CHAIN_REGISTRY_ACCEPT_H

#include "runtime/graph/kernel.h"

/* PC5829 with the first row that the shader is over, what it needs, and the place of its largest share. */
pctl_status pctl_accept_extents(const pctl_kernel_module *u, const pctl_call *call);

/*
 * What a job needs of memory:
 *
 *     bytes + invocations of a workgroup * (private + function memory of one) + workgroup memory
 *
 * bytes: of its inputs, its uniform block and its output together. Saturates.
 */
pctl_status pctl_accept_memory(const pctl_kernel_module *u, uint64_t bytes, const pctl_call *call,
			       uint64_t *out);

/* Instructions of a concrete shader, calls written out: what checking and building it cost by. */
pctl_status pctl_accept_instructions(const pctl_kernel_module *u, const pctl_call *call,
				     uint64_t *out);

#endif
