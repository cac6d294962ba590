/* Kernel units: a WGSL text made concrete (compiled, specialised, analysed), with its identity. A
 * unit is what gas is priced from and what a session builds for a device. Units are cached by
 * everything that made them. */
#ifndef PIPECTL_RUNTIME_GRAPH_KERNEL_H
#define PIPECTL_RUNTIME_GRAPH_KERNEL_H

#include "runtime/cas/cid.h"
#include "runtime/graph/ops.h"
#include "compiler/analysis/analyse.h"
#include "compiler/eval/specialise.h"

typedef struct pctl_kernel_module {
	const char *name; /* of the text, for positions */
	pctl_program *program;
	pctl_analysis *analysis;
	uint8_t *wire; /* canonical, of the specialised program */
	uint64_t wire_bytes;
	pctl_cid cid; /* of the wire form: the program's identity */
	/* the source as it was given, for a reproduction of what it does */
	const char *text;
	uint64_t n_text;
	const char *entry; /* NULL: the only one */
	pctl_override_value *overrides;
	uint32_t n_overrides;
	uint32_t flags; /* PCTL_WGSL_* */
} pctl_kernel_module;

/* Where an instruction of a function stands in the text, as far as that is known. */
pctl_pos pctl_kernel_position(const pctl_kernel_module *u, uint32_t function, uint32_t inst);
/* Offset and bytes of the scalar in a uniform block that a declared maximum speaks of; 0 when its path leads nowhere. */
int pctl_kernel_max_place(const pctl_program *p, const pctl_max *m, uint64_t *offset,
			  uint32_t *bytes);
/* Where its atomics depend on an order (analysis->order_dependent), as far as that is known. */
pctl_pos pctl_kernel_order_position(const pctl_kernel_module *u);

/* The two accesses that race, or the first two that were not proved apart; a line of 0 where that is not known. text:
 * which invocations race for which byte of a refuted kernel, "" of others. */
#define PCTL_KERNEL_RACE_SIZE 192u
void pctl_kernel_race(const pctl_kernel_module *u, pctl_pos place[2],
		      char text[PCTL_KERNEL_RACE_SIZE]);

/* PC4311 for a refuted kernel, at both places: such a program never runs, whatever a policy says. */
pctl_status pctl_kernel_refuse_race(const pctl_kernel_module *u, const char *subject,
				    const pctl_call *call);

typedef struct pctl_kernels pctl_kernels;

/* `ops` answers `//# use`; it outlives the cache. NULL: no memory. */
pctl_kernels *pctl_kernels_create(const pctl_op_source *ops);
void pctl_kernels_destroy(pctl_kernels *k);

/* Refuse units that are larger than a policy allows (PC4318), from now on; it outlives the cache. */
struct pctl_policy;
void pctl_kernels_obey(pctl_kernels *k, const struct pctl_policy *policy);

/* What a kernel is made from. groups NULL: proofs for any dispatch. flags: PCTL_WGSL_* of wgsl.h.
 */
typedef struct pctl_kernel_source {
	const char *name;
	const char *text;
	uint64_t n_text;
	const char *entry; /* NULL: the only one */
	const pctl_override_value *overrides;
	uint32_t n_overrides;
	uint32_t flags;
	const uint32_t *groups;
	uint32_t any_size; /* 1: the policy does not judge its size, somebody else does */
	uint32_t reserved;
} pctl_kernel_source;

/* The unit of a source, from the cache or made now; it lives as long as the cache. The source's
 * strings need not outlive the call. Errors: those of the front end, of specialise and of analyse.
 */
pctl_status pctl_kernels_get(pctl_kernels *k, const pctl_kernel_source *source,
			     const pctl_call *call, const pctl_kernel_module **out);

/* The program of a source before it is specialised (entry, overrides and groups do not count); it lives as long as the
 * cache. Errors: those of the front end. */
pctl_status pctl_kernels_compiled(pctl_kernels *k, const pctl_kernel_source *source,
				  const pctl_call *call, const pctl_program **out);

#endif
