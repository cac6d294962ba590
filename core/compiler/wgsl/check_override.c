/* What an override expression may be made of where the host computes it before the shader runs:
 * defaults of overrides, workgroup sizes, array counts. */
#include "compiler/wgsl/check.h"
#include "compiler/wgsl/float.h"

#define MAX_PARTS 64u /* scalars of a value on the way */

static uint32_t bits(const struct type *t)
{
	return pctl_wgsl_width(t) ? pctl_scalar_bits(t->scalar) : 0;
}

static int takes_builtin(const struct expr *e, const struct builtin *b)
{
	switch (b->kind) {
	case BUILTIN_ELEMENTWISE:
	case BUILTIN_BITS:
	case BUILTIN_SELECT:
	case BUILTIN_ALL:
	case BUILTIN_DOT:
	case BUILTIN_FLOAT:
	case BUILTIN_GEOMETRY:
	case BUILTIN_LDEXP:
	case BUILTIN_SPLIT:
	case BUILTIN_PACK_FLOAT:
	case BUILTIN_UNPACK_FLOAT:
	case BUILTIN_PACK:
	case BUILTIN_UNPACK:
	case BUILTIN_DOT4:
	case BUILTIN_TRANSPOSE:
		return 1;
	case BUILTIN_BITCAST: /* part by part */
		return bits(e->type) == bits(e->a->type) &&
		       pctl_wgsl_width(e->type) == pctl_wgsl_width(e->a->type);
	default:
		return 0;
	}
}

static int takes_call(const struct expr *e)
{
	if (e->call == CALL_CONVERT || e->call == CALL_CONSTRUCT)
		return 1;
	return e->call == CALL_BUILTIN && takes_builtin(e, pctl_wgsl_builtin_at(e->index));
}

/* Operators of matrices exist for floats; ours of integers are computed by the shader alone. */
static int takes_operator(const struct expr *e)
{
	return (e->a->type->kind != TY_MATRIX && e->b->type->kind != TY_MATRIX) ||
	       pctl_wgsl_is_float(pctl_wgsl_scalar_of(e->a->type));
}

static int takes(const struct expr *e)
{
	switch (e->kind) {
	case EX_NAME:
	case EX_UNARY:
	case EX_MEMBER:
		return 1;
	case EX_BINARY:
		return takes_operator(e);
	case EX_INDEX:
		return e->a->type->kind != TY_POINTER;
	default:
		return e->kind == EX_CALL && takes_call(e);
	}
}

/* Version 1 of the consensus rules knew scalars only. */
static int took(const struct expr *e)
{
	const struct builtin *b;

	if (e->type->kind != TY_SCALAR)
		return 0;
	if (e->kind != EX_CALL)
		return e->kind == EX_NAME || e->kind == EX_UNARY || e->kind == EX_BINARY;
	if (e->call != CALL_BUILTIN)
		return e->call == CALL_CONVERT;
	b = pctl_wgsl_builtin_at(e->index);
	return b->kind == BUILTIN_ELEMENTWISE || b->kind == BUILTIN_BITS ||
	       b->kind == BUILTIN_SELECT || b->kind == BUILTIN_FLOAT || b->kind == BUILTIN_LDEXP;
}

static void check(struct wgsl *c, const struct expr *e)
{
	const struct expr *a;

	if (e->type->kind == TY_ERROR || (e->stage == STAGE_CONST && e->type->leaves <= MAX_PARTS))
		return;
	if (!e->type->leaves || e->type->leaves > MAX_PARTS || !takes(e) ||
	    (pctl_wgsl_is_first_rules(c) && !took(e))) {
		pctl_wgsl_error(c, PC2410_WGSL_NOT_CONST, e->pos, e->end,
				"compute it in the shader",
				"an override expression cannot be this complex");
		return;
	}
	if (e->kind == EX_CALL) {
		for (a = e->a; a; a = a->next)
			check(c, a);
		return;
	}
	if (e->a)
		check(c, e->a);
	if (e->b && (e->kind == EX_BINARY || e->kind == EX_INDEX))
		check(c, e->b);
}

void pctl_wgsl_check_spec(struct wgsl *c, const struct expr *e)
{
	if (e->type->kind == TY_ERROR || e->type->kind == TY_SCALAR)
		check(c, e);
	else
		pctl_wgsl_error(c, PC2410_WGSL_NOT_CONST, e->pos, e->end, NULL,
				"a scalar is wanted here, not %s", pctl_wgsl_type_name(c, e->type));
}
