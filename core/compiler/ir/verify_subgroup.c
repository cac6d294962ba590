/* Verification of subgroup operations: types of operands and result, and the one size of the program. */
#include "compiler/ir/verify.h"

static const pctl_type *operand(const pctl_verify *v, const pctl_inst *in, uint32_t arg)
{
	return &v->p->types[pctl_value_type(v->p, v->fn, pctl_arg(v->p, in, arg))];
}

static int is_scalar_of(const pctl_type *t, uint8_t scalar)
{
	return t->kind == PCTL_TYPE_SCALAR && t->scalar == scalar;
}

/* A power of two in the range, and the same as that of the others. */
static int size_ok(pctl_verify *v, uint32_t size)
{
	if (size < PCTL_SUBGROUP_SIZE_MIN || size > PCTL_SUBGROUP_SIZE_MAX || (size & (size - 1)))
		return 0;
	if (!v->subgroup_size)
		v->subgroup_size = size;
	return v->subgroup_size == size;
}

/* One type of i32 or u32 for the value and the result. */
static int moves_words(const pctl_verify *v, const pctl_inst *in)
{
	const pctl_type *r = &v->p->types[in->type];

	return (r->kind == PCTL_TYPE_SCALAR || r->kind == PCTL_TYPE_VECTOR) &&
	       (r->scalar == PCTL_SCALAR_I32 || r->scalar == PCTL_SCALAR_U32) &&
	       pctl_value_type(v->p, v->fn, pctl_arg(v->p, in, 0)) == in->type;
}

int pctl_verify_subgroup(pctl_verify *v, const pctl_inst *in)
{
	const uint32_t size = pctl_arg(v->p, in, in->n_args - 1);
	const pctl_type *r = &v->p->types[in->type];

	if (!size_ok(v, size))
		return 0;
	switch (in->op) {
	case PCTL_OP_SUBGROUP_ELECT:
		return is_scalar_of(r, PCTL_SCALAR_BOOL);
	case PCTL_OP_SUBGROUP_ALL:
	case PCTL_OP_SUBGROUP_ANY:
		return is_scalar_of(operand(v, in, 0), PCTL_SCALAR_BOOL) &&
		       is_scalar_of(r, PCTL_SCALAR_BOOL);
	case PCTL_OP_SUBGROUP_BALLOT:
		return is_scalar_of(operand(v, in, 0), PCTL_SCALAR_BOOL) &&
		       r->kind == PCTL_TYPE_VECTOR && r->scalar == PCTL_SCALAR_U32 && r->width == 4;
	case PCTL_OP_SUBGROUP_BROADCAST:
		return moves_words(v, in) && pctl_arg(v->p, in, 1) < size;
	case PCTL_OP_SUBGROUP_SHUFFLE:
	case PCTL_OP_SUBGROUP_SHUFFLE_XOR:
	case PCTL_OP_SUBGROUP_SHUFFLE_UP:
	case PCTL_OP_SUBGROUP_SHUFFLE_DOWN:
		return moves_words(v, in) && is_scalar_of(operand(v, in, 1), PCTL_SCALAR_U32);
	default:
		return moves_words(v, in);
	}
}
