/* The cache of kernel units from inside, shared by kernel.c and kernel_join.c. */
#ifndef PIPECTL_RUNTIME_GRAPH_KERNEL_PRIVATE_H
#define PIPECTL_RUNTIME_GRAPH_KERNEL_PRIVATE_H

#include "compiler/wgsl/wgsl.h"
#include "foundation/base/arena.h"
#include "foundation/base/map.h"
#include "runtime/graph/kernel.h"
#include "runtime/policy/policy.h"

struct pctl_kernels {
	const pctl_op_source *ops;
	pctl_arena *arena;
	pctl_map *compiled; /* key of a text to pctl_program (unspecialised) */
	pctl_map *units;    /* key of a source to pctl_kernel_module */
	uint64_t age;	    /* how often they were forgotten */
	uint64_t bytes;	    /* that both take, about */
	pctl_wgsl_library library;
	const pctl_policy *policy; /* NULL: kernels of any size */
	uint32_t turns;		   /* the budget of what declares none; 0: such loops are refused */
	uint32_t asked_turns;	   /* the budget of all that need one; 0: nobody asked */
	uint32_t asked_subgroup;   /* likewise */
};

/* build_key, of a unit whose program has its proofs. */
pctl_status pctl_kernel_name_build(pctl_kernel_module *u, const pctl_call *call);
void pctl_kernel_unit_destroy(pctl_kernel_module *u);

#endif
