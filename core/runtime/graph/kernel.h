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
	uint32_t turns; /* the budget that is in the program; 0: no loop needs one */
	uint32_t
		subgroup; /* the size that was asked for, as the program has it; 0: it has another, or none */
	/* The dispatch that its proofs are for, of pctl_kernel_source. */
	pctl_analysis_query known;
	/* Devices build it under this name: beside the program it tells the proofs in it and the turns of its loops, which
	 * hang on the dispatch; under the consensus rules they do not. */
	char build_key[PCTL_CID_TEXT_SIZE + 24];
	struct pctl_arena *arena; /* that has it, the cache's own business; NULL: the cache's */
} pctl_kernel_module;

/* Where an instruction of a function stands in the text, as far as that is known. */
pctl_pos pctl_kernel_position(const pctl_kernel_module *u, uint32_t function, uint32_t inst);
/* Offset and bytes of the scalar in a uniform block that a declared maximum speaks of; 0 when its path leads nowhere. */
int pctl_kernel_max_place(const pctl_program *p, const pctl_max *m, uint64_t *offset,
			  uint32_t *bytes);
/* 1 when the instruction of the function writes to the module variable; *n_bytes is how many bytes at most. */
int pctl_kernel_writes(const pctl_program *p, const pctl_function *fn, const pctl_inst *in,
		       uint32_t var, uint64_t *n_bytes);
/* Where its atomics depend on an order (analysis->order_dependent), as far as that is known. */
pctl_pos pctl_kernel_order_position(const pctl_kernel_module *u);
/* What to write in place of them; NULL where nothing more than the code's text helps. */
const char *pctl_kernel_order_hint(const pctl_kernel_module *u);

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
/* How many texts and units are kept, and about how many bytes they take; and to keep none of them: by who knows that nobody holds a unit or
 * a program any more. After PC2 all is as it was. What was refused is not kept. */
uint32_t pctl_kernels_kept(const pctl_kernels *k);
uint64_t pctl_kernels_kept_bytes(const pctl_kernels *k);
pctl_status pctl_kernels_forget(pctl_kernels *k, const pctl_call *call);
/* How often they were forgotten: units and programs are those of before as long as it is the same. */
uint64_t pctl_kernels_age(const pctl_kernels *k);

/* Refuse units that are larger than a policy allows (PC4318), from now on; it outlives the cache. */
struct pctl_policy;
void pctl_kernels_obey(pctl_kernels *k, const struct pctl_policy *policy);

/* The budget of loops that nothing bounds, for every kernel that has such loops: before what kernels declare, and before the
 * policy's. 0: these are asked. */
void pctl_kernels_ask_turns(pctl_kernels *k, uint32_t turns);

/* The size of subgroups of every kernel that enables them and declares none. 0: such kernels are refused (PC2222). */
void pctl_kernels_ask_subgroup(pctl_kernels *k, uint32_t size);

/* What a kernel is made from. groups NULL: proofs for any dispatch; bindings: what is known to be bound to it. flags:
 * PCTL_WGSL_* of wgsl.h. */
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
	uint32_t
		turns; /* the budget of loops that nothing bounds, whatever else says; 0: that is asked */
	const pctl_known_binding *bindings;
	uint32_t n_bindings;
	uint32_t subgroup; /* the size where the text declares none; 0: what was asked for */
} pctl_kernel_source;

/* The unit of a source, from the cache or made now; it lives as long as the cache. The source's
 * strings need not outlive the call. Errors: those of the front end, of specialise and of analyse.
 */
pctl_status pctl_kernels_get(pctl_kernels *k, const pctl_kernel_source *source,
			     const pctl_call *call, const pctl_kernel_module **out);

/* A unit among those that are joined; as pctl_join_part (compiler/legalize/join.h). */
typedef struct pctl_kernel_part {
	const pctl_kernel_module *unit;
	const uint32_t *slots;
	const uint64_t *own;
	uint32_t groups, reserved;
} pctl_kernel_part;

/*
 * Units joined to one by PCTL_JOIN_*, from the cache or made now. It has a text that is empty. bindings: what is bound to it.
 *
 * *out is NULL with PCTL_OK where they cannot be joined, or where the analysis does not prove of the whole what it proves of each kernel of a resident
 * run: no race, no order of atomics that shows, barriers and loads that a workgroup agrees on, bounds of loops.
 */
pctl_status pctl_kernels_join(pctl_kernels *k, const pctl_kernel_part *parts, uint32_t n,
			      uint32_t how, const pctl_known_binding *bindings, uint32_t n_bindings,
			      const pctl_call *call, const pctl_kernel_module **out);

/* The program of a source before it is specialised (entry, overrides and groups do not count); it lives as long as the
 * cache. Errors: those of the front end. */
pctl_status pctl_kernels_compiled(pctl_kernels *k, const pctl_kernel_source *source,
				  const pctl_call *call, const pctl_program **out);

#endif
