/* OpenCL C for CPU devices: one work-item runs a whole workgroup, its invocations being the lanes of explicit vectors
 * (ISPC's model). The kernel has the name and the arguments of clc/emit.h, and a local size of one. Pure, as clc/ is. */
#ifndef PCTL_OPENCL_SPMD_H
#define PCTL_OPENCL_SPMD_H

#include "clc/emit.h"

/* Changes with every change of what is written, for those who remember what a device did. */
#define SPMD_VERSION "spmd-5"

/* Write the source of entry point 0. *why is NULL, or the name of what this generator cannot take: nothing is written then,
 * and clc/ writes it. Depends on the program alone. */
pctl_status spmd_program(const pctl_program *p, const pctl_call *call, uint32_t flags, text *out,
			 const char **why);

#endif
