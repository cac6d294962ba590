/* What a kernel becomes on its way to a device, as text for people. Nothing is compiled or run. */
#ifndef PIPECTL_HOST_EMIT_H
#define PIPECTL_HOST_EMIT_H

#include "host/installation.h"

#define PCTL_EMIT_IR "ir" /* the language of programs as the host prints them */

/*
 * text      n bytes and a NUL; released by pctl_emitted_kernel_close
 * device    "vulkan:0 (llvmpipe ..)", for whom
 * note      whether there is a second program without guards there, for buffers that fulfil range contracts, or why not;
 *           "": the device needs none
 */
typedef struct pctl_emitted_kernel {
	char *text;
	uint64_t n;
	char device[PCTL_NAME_MAX + 64];
	char note[512];
} pctl_emitted_kernel;

/*
 * The unit as the first of the devices gets it that takes it and speaks the language: PCTL_EMIT_IR, which all do (legalised; as
 * written for the reference), or what the device's plugin says it hands to its compiler ("opencl", "spirv").
 *
 * how  backends (none: all, in the policy's order), PCTL_RUN_NATIVE, _IN_PROCESS and _DEBUG of its flags
 *
 * Errors: PC3218, no device speaks it; of the last device that was asked: what the legaliser or the device refuses.
 */
pctl_status pctl_emit_kernel(const pctl_kernel_module *unit, const char *language,
			     const pctl_run_options *how, const pctl_call *call,
			     pctl_emitted_kernel *out);
void pctl_emitted_kernel_close(pctl_emitted_kernel *e);

#endif
