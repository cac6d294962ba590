/* Functions of the extension subgroups: where they are taken, and the types of their arguments. What they are made of is
 * lower_subgroup.c's. */
#include "compiler/wgsl/check.h"
#include "compiler/wgsl/float.h"

#define LANES_MAX 128u /* WGSL's limit on constant lanes, whatever the declared size */

uint32_t pctl_wgsl_subgroups_refused(const struct wgsl *c, uint32_t pos)
{
	if ((c->options->flags & PCTL_WGSL_CONSENSUS) ||
	    !c->sources[pctl_wgsl_source_number(c, pos)]->has_subgroups)
		return PC2203_WGSL_SUBGROUP;
	return c->subgroup_size ? 0 : PC2222_WGSL_SUBGROUP_SIZE;
}

const char *pctl_wgsl_subgroups_hint(const struct wgsl *c, uint32_t code)
{
	if (c->options->flags & PCTL_WGSL_CONSENSUS)
		return "use workgroup memory and workgroupBarrier()";
	return code == PC2222_WGSL_SUBGROUP_SIZE
		       ? "write `//# subgroup = 32` at the top, or say --subgroup 32"
		       : "write `//# subgroup = 32` and `enable subgroups;` at the top";
}

const char *pctl_wgsl_subgroups_why(const struct wgsl *c, uint32_t code)
{
	if (c->options->flags & PCTL_WGSL_CONSENSUS)
		return "depends on the subgroup size, which differs between devices";
	return code == PC2222_WGSL_SUBGROUP_SIZE
		       ? "depends on the subgroup size, which is not declared"
		       : "needs the extension subgroups";
}

static int is_word(uint32_t scalar)
{
	return scalar == PCTL_SCALAR_I32 || scalar == PCTL_SCALAR_U32;
}

static void reduce(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	uint32_t scalar;

	if (!pctl_wgsl_width(e->a->type)) {
		pctl_wgsl_refuse_arguments(c, e, "an i32 or u32, or a vector of them");
		return;
	}
	if (!pctl_wgsl_settle(c, e->a)) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	scalar = pctl_wgsl_scalar_of(e->a->type);
	if (pctl_wgsl_is_float(scalar)) {
		pctl_wgsl_error(c, PC2223_WGSL_SUBGROUP_FLOAT, e->pos, e->end,
				"use integers of a fixed scale, or workgroup memory in an order "
				"of your own",
				"%s takes i32 and u32: what it gives for floats would depend on "
				"the order",
				b->name);
		pctl_wgsl_set_error(c, e);
		return;
	}
	if (!is_word(scalar)) {
		pctl_wgsl_refuse_arguments(c, e, "an i32 or u32, or a vector of them");
		return;
	}
	e->type = e->a->type;
}

static void vote(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	const struct type *bool_type = &c->types.scalar[PCTL_SCALAR_BOOL];

	if (!pctl_wgsl_coerce(c, e->a, bool_type, "the predicate")) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	e->type = b->arg == PCTL_OP_SUBGROUP_BALLOT ? pctl_wgsl_vector(c, PCTL_SCALAR_U32, 4)
						    : bool_type;
}

/* The second argument: a constant lane, a lane of either type, or a u32 that is added, subtracted or xored. */
static int lane_ok(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	const struct type *u32 = &c->types.scalar[PCTL_SCALAR_U32];
	struct expr *lane = e->a->next;
	uint32_t value;

	if (b->arg == PCTL_OP_SUBGROUP_BROADCAST || b->arg == SUBGROUP_QUAD)
		return pctl_wgsl_const_u32(c, lane, "the lane", 0,
					   b->arg == SUBGROUP_QUAD ? 3 : LANES_MAX - 1, &value);
	if (b->arg != PCTL_OP_SUBGROUP_SHUFFLE) {
		if (!pctl_wgsl_coerce(c, lane, u32, "this argument"))
			return 0;
	} else if (!pctl_wgsl_settle(c, lane)) {
		return 0;
	} else if (lane->type->kind != TY_SCALAR || !is_word(lane->type->scalar)) {
		pctl_wgsl_wrong_arguments(c, e, "a value, and a lane of type i32 or u32");
		return 0;
	}
	return lane->stage != STAGE_CONST ||
	       pctl_wgsl_const_u32(c, lane, "a constant lane or distance", 0, LANES_MAX - 1,
				   &value);
}

static void move(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	uint32_t scalar;

	if (b->arg == PCTL_OP_SUBGROUP_ELECT) {
		e->type = &c->types.scalar[PCTL_SCALAR_BOOL];
		return;
	}
	if (!pctl_wgsl_width(e->a->type)) {
		pctl_wgsl_refuse_arguments(c, e, "a number of 16 or 32 bits, or a vector of them");
		return;
	}
	if (!pctl_wgsl_settle(c, e->a)) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	scalar = pctl_wgsl_scalar_of(e->a->type);
	if (!is_word(scalar) && scalar != PCTL_SCALAR_F32 && scalar != PCTL_SCALAR_F16 &&
	    scalar != PCTL_SCALAR_BF16) {
		pctl_wgsl_refuse_arguments(c, e, "a number of 16 or 32 bits, or a vector of them");
		return;
	}
	if (e->n_args == 2 && !lane_ok(c, e, b)) {
		pctl_wgsl_set_error(c, e);
		return;
	}
	e->type = e->a->type;
}

void pctl_wgsl_check_subgroup(struct wgsl *c, struct expr *e, const struct builtin *b)
{
	if (b->kind == BUILTIN_SUBGROUP_REDUCE)
		reduce(c, e, b);
	else if (b->kind == BUILTIN_SUBGROUP_VOTE)
		vote(c, e, b);
	else
		move(c, e, b);
}
