/* Where outputs of a run go: a file of bytes alone, or one of tensors (foundation/tensorfile) where the name ends as those do. */
#ifndef PIPECTL_HOST_OUTPUTS_H
#define PIPECTL_HOST_OUTPUTS_H

#include "host/load.h"
#include "runtime/exec/run.h"

/*
 * outs: "output" = "FILE", "FILE.npy", "FILE.npz", "FILE.npz:NAME", "FILE.safetensors:NAME". Without a NAME the tensor has the
 * output's. Outputs that go to one .npz or .safetensors file stand there together, in the order given.
 *
 * What can be known before a run: PC4214 for formats that are only read, PC0010 for a name in an .npy, or the same place
 * given twice.
 */
pctl_status pctl_outputs_check(const pctl_setting *outs, uint32_t n, const pctl_call *call);

/* Read from the store, verified, and put under the names, each file at once (foundation/base/output.h). Formats are asked for
 * all outputs before the first is written: PC4214. types, one an output of `outs`: what its bytes are, dtype 0 or NULL: what
 * the result says; opaque bytes are written as u8. */
pctl_status pctl_outputs_write(pctl_store *store, const pctl_run_result *r,
			       const pctl_setting *outs, const pctl_tensor_type *types, uint32_t n,
			       const pctl_call *call);

#endif
