/* Adapters for models of real shapes, with matrices from a seed (SEMANTICS.md 19.3). */
#ifndef PIPECTL_MODEL_SYNTH_ADAPTER_H
#define PIPECTL_MODEL_SYNTH_ADAPTER_H

#include "model/file/adapter.h"

/*
 * path     a name that ends in .gguf: one file; any other: a folder as PEFT writes it, which is not there or empty
 * roles    n_roles of those that adapters are for (pctl_adapter_role) and the model has; n_roles 0: all but the output
 * rank     1 to PCTL_ADAPTER_RANK_MAX; alpha: above 0, up to 1e6
 * dtype    PCTL_SCALAR_F32, _F16 or _BF16
 */
typedef struct pctl_synth_adapter {
	const char *path;
	const pctl_model_role *roles;
	uint32_t n_roles, dtype;
	uint64_t rank, seed;
	double alpha;
} pctl_synth_adapter;

/* The same seed gives the same adapter, in either format. Errors: PC6290 for numbers that cannot be, and roles that the model lacks; those of base/output.h. */
pctl_status pctl_synth_adapter_write(const pctl_model_shape *s, const pctl_synth_adapter *a,
				     const pctl_call *call);

#endif
