/* Reductions along axes: which elements of x belong to a result, and how the work is cut into rounds of lanes that share one. No cut
 * ever shows: what is reduced this way does not depend on the order. */
#ifndef PIPECTL_OPS_TENSOR_REDUCE_AXES_H
#define PIPECTL_OPS_TENSOR_REDUCE_AXES_H

#include "common/codec.h"
#include "tensor.h"

#define TENSOR_GROUPS_MAX 4u
#define TENSOR_LANES 64u /* of a workgroup */

/* n elements `stride` apart. */
typedef struct tensor_group {
	uint64_t n, stride;
} tensor_group;

/* A reduction, taken apart; groups from the innermost on, of which those that are not there have 1 element. */
typedef struct tensor_axes {
	tensor_group kept[TENSOR_GROUPS_MAX], reduced[TENSOR_GROUPS_MAX];
	uint64_t count, terms; /* results, terms of each */
	uint32_t mask;	       /* of the axes that are reduced */
	pctl_tensor_type out;  /* of x's type */
} tensor_axes;

/* A mask of axes from "", which is all, or numbers between commas; negative ones count from the end. */
pctl_status tensor_axes_mask(const kit_use *u, uint32_t attr, uint32_t *out);
/* The mask of one axis, which x must have, of an attribute that is a number. */
pctl_status tensor_axis_mask(const kit_use *u, uint32_t attr, uint32_t *out);
/* Along the axes of `mask`; sizes over what the ops take are refused. */
pctl_status tensor_axes_of(const kit_use *u, uint32_t mask, int keep, tensor_axes *out);
/* Axes by the attributes that reductions begin with: `axes`, then `keep`. */
enum { TENSOR_ATTR_AXES, TENSOR_ATTR_KEEP };
pctl_status tensor_axes_given(const kit_use *u, tensor_axes *out);
/* One output, of what axes_of finds. */
pctl_status tensor_axes_infer(const kit_use *u,
			      pctl_status (*axes_of)(const kit_use *u, tensor_axes *out),
			      pctl_op_result *out);
/* It can be cut along the dimensions before the first that is reduced, which the outputs have too. */
void tensor_axes_cut(const kit_use *u, const tensor_axes *a, pctl_op_result *out);
/* The result to which element i of x belongs, by its coordinates. For references: no kernel does it this way. */
uint64_t tensor_axes_result(const pctl_tensor_type *x, uint32_t mask, uint64_t i);

/* One round: of each result `terms` things, of which lane n of `lanes` takes n, n + lanes, ...; `width` neighbours of them stand in
 * one workgroup, which leaves one thing of them, so that `runs` are left. counts: where the workgroups that are needed stand, if is_counted. */
typedef struct tensor_round {
	uint64_t terms, lanes, runs;
	uint32_t width;
	uint64_t from_offset, from_bytes; /* of `from`; 0 and 0: the whole */
	uint32_t skip,
		before; /* of a piece: elements in front of it there, its first term's number */
	uint32_t from, to, counts;
	int first, last, is_counted;
} tensor_round;

/* The first round; `least`: terms that are worth a lane. */
tensor_round tensor_round_first(const tensor_axes *a, uint32_t from, uint32_t least);
/* The one after it, over what it left. */
tensor_round tensor_round_next(const tensor_axes *a, const tensor_round *r, uint32_t least);
/* What a round reads. */
kit_slot tensor_round_from(const tensor_round *r);
/* 1: x is more than a binding. */
int tensor_is_larger(const kit_plan *p, const tensor_axes *a);
/*
 * 1: the plan is made, or cannot go through functions as it is asked to: x is more than a binding, of several results, and neither the host nor a piece can
 * cut it as it lies (apart.c). The op's first attribute names what is reduced. shaped: y has x's shape.
 */
int tensor_rows_apart(kit_plan *p, const tensor_axes *a, int shaped);
/* 1: x is more than a binding, and all of it is reduced to one result: the first round goes piece by piece, of which none skips. */
int tensor_in_pieces(const kit_plan *p, const tensor_axes *a);
/* x is more than a binding, and of any number of results: n slabs side by side, `elements` each, reduced along `each` of their own to results of
 * their own. The first round of each goes piece by piece, of which some skip. n 0: x fits, or cannot be cut so. */
typedef struct tensor_slabs {
	uint64_t n, elements;
	tensor_axes each;
} tensor_slabs;
tensor_slabs tensor_slabs_of(const kit_plan *p, const tensor_axes *a);
/*
 * Of what begins with element `base` of x: the first round of each piece, by `run`, which writes as many things of item_bytes as the round leaves to r->to; none of them is the
 * last. The round over all that they left.
 */
typedef void tensor_round_runner(kit_plan *p, const tensor_axes *a, const tensor_round *r,
				 void *ctx);
tensor_round tensor_round_pieces(kit_plan *p, const tensor_axes *a, uint64_t base, uint32_t least,
				 uint64_t item_bytes, tensor_round_runner *run, void *ctx);
/* The uniform of a round, as reduce_place.wgsl has it. */
uint32_t tensor_round_params(kit_plan *p, const tensor_axes *a, const tensor_round *r);
/* What stands in front of its kernel: reduce_place.wgsl behind the rows of a workgroup. */
void tensor_round_text(kit_wgsl *w, const tensor_axes *a, const tensor_round *r);
/* Run a kernel made of that and of what follows it. The text is used up. */
void tensor_round_run(kit_plan *p, const char *name, const tensor_axes *a, const tensor_round *r,
		      kit_wgsl *w, const kit_slot *slots, uint32_t n_slots);

/* 1: the plan can go through functions as it is asked to; else its status says that it cannot. */
int tensor_axes_go_through(kit_plan *p, const tensor_axes *a);
/* 1: it reads x through a function of the host; it writes the op's output through one. */
int tensor_round_reads(const kit_plan *p, const tensor_round *r);
int tensor_round_writes(const kit_plan *p, const tensor_round *r);
/* x at binding 1, which is what an earlier round left (declared: how) or in the first round the op's input 0, of elements of `type`, with the text that reads them. */
void tensor_round_x(const kit_plan *p, const tensor_round *r, kit_wgsl *w, const char *declared,
		    const char *codec);
/* What stands behind `take`, `join`, `none` and `give`: a tree; but for the plan that gas is priced by, of lanes that have four reads under way. */
void tensor_round_tree(const kit_plan *p, const tensor_round *r, kit_wgsl *w);
/* That of lanes alone, whose text of terms stands in front. */
void tensor_round_lanes(const kit_plan *p, const tensor_round *r, kit_wgsl *w);

/* Words of one element each, packed into elements of 1 or 2 bytes. */
void tensor_pack(kit_plan *p, uint32_t from, uint32_t to, uint64_t count, uint64_t bytes);

#endif
