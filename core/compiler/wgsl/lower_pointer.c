/* Lowering of calls that take pointers, which the program does not have. Where every pointer comes from a variable of
 * the module, the function is cloned for each way of reaching memory there; a pointer to a caller's local has no such
 * form, and the function is written out in place of the call. An index is evaluated once, where its pointer is
 * formed. */
#include "compiler/wgsl/lower_pointer.h"

#define MAX_FEW 8u /* arguments that need no memory of the compile */

void pctl_wgsl_count_copied(struct lower *l)
{
	if (++l->c->n_copied <= WGSL_MAX_COPIED)
		return;
	pctl_wgsl_error(
		l->c, PC2109_WGSL_PROGRAM_SIZE, l->pos, l->end,
		"let fewer functions that take pointers call each other, or split the shader",
		"functions that take pointers are made for each call; here they grow over %u "
		"statements and expressions",
		WGSL_MAX_COPIED);
	longjmp(l->c->give_up, GIVE_UP_REPORTED);
}

/* The stack of the lowering is bounded over all functions that are open inside each other. */
static void check_nesting(struct lower *l, const struct expr *call)
{
	if (l->c->nesting <= WGSL_MAX_CHAIN)
		return;
	pctl_wgsl_error(l->c, PC2105_WGSL_NESTING, call->pos, call->op_pos,
			"pass values where no pointer is needed",
			"functions that take pointers call each other too deep");
	longjmp(l->c->give_up, GIVE_UP_REPORTED);
}

uint32_t pctl_wgsl_lower_pointer_call(struct lower *l, const struct expr *call)
{
	struct arguments x = {.call = call, .f = call->decl->function};
	struct place few_places[MAX_FEW];
	uint32_t few_values[MAX_FEW];
	const struct expr *a;
	const struct decl *p;
	int in_module = 1;
	uint32_t i = 0;

	check_nesting(l, call);
	x.values = few_values;
	x.places = few_places;
	if (call->n_args > MAX_FEW) {
		x.values = pctl_wgsl_alloc(l->c, call->n_args * sizeof(*x.values));
		x.places = pctl_wgsl_alloc(l->c, call->n_args * sizeof(*x.places));
	}
	for (a = call->a, p = x.f->params; a; a = a->next, p = p->next, i++) {
		if (p->type->kind != TY_POINTER) {
			x.values[i] = pctl_wgsl_lower_value(l, a);
			continue;
		}
		pctl_wgsl_lower_place(l, a, &x.places[i]);
		in_module &= !(x.places[i].root & PCTL_PLACE_LOCAL);
	}
	pctl_wgsl_at_expr(l, call);
	return in_module ? pctl_wgsl_call_clone(l, &x) : pctl_wgsl_write_out(l, &x);
}
