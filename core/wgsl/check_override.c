/* What an override expression may be made of where the host computes it before the shader runs:
 * defaults of overrides, workgroup sizes, array counts. */
#include "wgsl/check.h"

static int is_scalar_call(const struct expr *e)
{
	const struct builtin *b;

	if (e->call == CALL_CONVERT)
		return 1;
	if (e->call != CALL_BUILTIN)
		return 0;
	b = pctl_wgsl_builtin_at(e->index);
	return b->kind == BUILTIN_ELEMENTWISE || b->kind == BUILTIN_BITS ||
	       b->kind == BUILTIN_SELECT || b->kind == BUILTIN_FLOAT || b->kind == BUILTIN_LDEXP;
}

void pctl_wgsl_check_spec(struct wgsl *c, const struct expr *e)
{
	const struct expr *a;

	if (e->type->kind == TY_ERROR || (e->stage == STAGE_CONST && e->type->kind == TY_SCALAR))
		return;
	if (e->type->kind != TY_SCALAR ||
	    (e->kind != EX_NAME && e->kind != EX_UNARY && e->kind != EX_BINARY &&
	     !(e->kind == EX_CALL && is_scalar_call(e)))) {
		pctl_wgsl_error(c, PC2410_WGSL_NOT_CONST, e->pos, e->end,
				"use scalar operators, select and conversions only",
				"an override expression cannot be this complex");
		return;
	}
	if (e->kind == EX_CALL) {
		for (a = e->a; a; a = a->next)
			pctl_wgsl_check_spec(c, a);
		return;
	}
	if (e->a)
		pctl_wgsl_check_spec(c, e->a);
	if (e->b)
		pctl_wgsl_check_spec(c, e->b);
}
