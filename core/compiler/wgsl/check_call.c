/* Calls: which of function, builtin or constructor is meant, and calls of functions of the text. */
#include "compiler/wgsl/check.h"

#define MAX_TYPES_SHOWN 8u /* of a call, in a message */

const char *pctl_wgsl_argument_types(struct wgsl *c, const struct expr *e)
{
	const char *list = "";
	const struct expr *a;
	uint32_t n = 0;

	for (a = e->a; a && n < MAX_TYPES_SHOWN; a = a->next, n++)
		list = pctl_wgsl_format(c, "%s%s%s", list, n ? ", " : "",
					pctl_wgsl_type_name(c, a->type));
	return a ? pctl_wgsl_format(c, "%s, ..", list) : list;
}

void pctl_wgsl_wrong_arguments(struct wgsl *c, const struct expr *e, const char *expected)
{
	const struct expr *a;

	for (a = e->a; a; a = a->next)
		if (a->type->kind == TY_ERROR)
			return;
	pctl_wgsl_error(c, PC2406_WGSL_ARGUMENTS, e->pos, e->end, NULL, "%s takes (%s), found (%s)",
			pctl_wgsl_sym_text(c, e->sym), expected, pctl_wgsl_argument_types(c, e));
}

void pctl_wgsl_refuse_arguments(struct wgsl *c, struct expr *e, const char *expected)
{
	pctl_wgsl_wrong_arguments(c, e, expected);
	pctl_wgsl_set_error(c, e);
}

uint32_t pctl_wgsl_args_stage(const struct expr *e)
{
	uint32_t stage = STAGE_CONST;
	const struct expr *a;

	for (a = e->a; a; a = a->next)
		stage = a->stage > stage ? a->stage : stage;
	return stage;
}

static void note_call(struct wgsl *c, struct function *callee, const struct expr *e)
{
	struct call_edge *edge;

	if (!c->fn)
		return;
	edge = WGSL_NEW(c, struct call_edge);
	edge->callee = callee;
	edge->pos = e->pos;
	edge->end = e->op_pos;
	edge->next = c->fn->calls;
	c->fn->calls = edge;
}

/* An array whose count is an override is of one type with another exactly where both name that override. */
static int is_same_memory(const struct type *a, const struct type *b)
{
	const struct expr *n = a->count_expr, *m = b->count_expr;

	return a == b || (a->kind == TY_ARRAY && b->kind == TY_ARRAY && a->elem == b->elem && n &&
			  m && n->kind == EX_NAME && m->kind == EX_NAME && !n->paren && !m->paren &&
			  n->decl && n->decl == m->decl);
}

/* A pointer is passed as it is: neither its space nor its access mode changes on the way. */
static void pass_pointer(struct wgsl *c, struct expr *a, const struct decl *p)
{
	const struct type *from = a->type, *to = p->type;
	const char *name = pctl_wgsl_sym_text(c, p->sym), *hint = NULL;

	if (from == to || to->kind == TY_ERROR)
		return;
	if (from->kind != TY_POINTER) {
		if (a->ref && a->type == to->elem)
			hint = "write & before it";
	} else if (from->space == to->space && is_same_memory(from->elem, to->elem)) {
		if (from->access == to->access)
			return;
		if (!(from->access & PCTL_ACCESS_WRITE))
			pctl_wgsl_error_note(
				c, PC2415_WGSL_ACCESS, a->pos, a->end,
				"declare the variable var<storage, read_write>", p->pos, p->end,
				"it is declared here",
				"\"%s\" may be written to, but this memory is read-only", name);
		else
			pctl_wgsl_error_note(c, PC2404_WGSL_TYPE, a->pos, a->end,
					     pctl_wgsl_format(c, "declare the parameter %s",
							      pctl_wgsl_type_name(c, from)),
					     p->pos, p->end, "it is declared here",
					     "argument \"%s\" is %s, but %s is wanted", name,
					     pctl_wgsl_type_name(c, from),
					     pctl_wgsl_type_name(c, to));
		return;
	}
	pctl_wgsl_error_note(c, PC2404_WGSL_TYPE, a->pos, a->end, hint, p->pos, p->end,
			     "it is declared here", "argument \"%s\" is %s, but %s is wanted", name,
			     pctl_wgsl_type_name(c, from), pctl_wgsl_type_name(c, to));
}

static void call_function(struct wgsl *c, struct expr *e, struct decl *d)
{
	struct function *f = d->function;
	struct decl *p = f->params;
	struct expr *a;
	int ok = 1;

	e->call = CALL_FUNCTION;
	e->decl = d;
	e->stage = STAGE_RUNTIME;
	for (a = e->a; a; a = a->next)
		ok &= pctl_wgsl_check_value(c, a)->kind != TY_ERROR;
	e->type = f->return_type ? f->return_type : &c->types.error;
	if (f->is_entry) {
		pctl_wgsl_error_note(c, PC2431_WGSL_NOT_CALLABLE, e->pos, e->op_pos,
				     "move the work into a function both call", d->pos, d->end,
				     "it is declared here", "entry point \"%s\" cannot be called",
				     pctl_wgsl_sym_text(c, d->sym));
		pctl_wgsl_set_error(c, e);
		return;
	}
	note_call(c, f, e);
	if (e->n_args != f->n_params) {
		pctl_wgsl_error_note(c, PC2406_WGSL_ARGUMENTS, e->pos, e->end, NULL, d->pos, d->end,
				     "it is declared here", "\"%s\" takes %u argument%s, found %u",
				     pctl_wgsl_sym_text(c, d->sym), f->n_params,
				     f->n_params == 1 ? "" : "s", e->n_args);
		ok = 0;
	}
	for (a = e->a; ok && a; a = a->next, p = p->next) {
		if (p->type->kind == TY_POINTER)
			pass_pointer(c, a, p);
		else
			pctl_wgsl_coerce(c, a, p->type,
					 pctl_wgsl_format(c, "argument \"%s\"",
							  pctl_wgsl_sym_text(c, p->sym)));
	}
	if (!c->fn) {
		pctl_wgsl_error(c, PC2410_WGSL_NOT_CONST, e->pos, e->end, NULL,
				"functions cannot be called at module scope");
		pctl_wgsl_set_error(c, e);
	}
}

static void call_predeclared(struct wgsl *c, struct expr *e)
{
	const struct builtin *b = pctl_wgsl_builtin_at(c->syms[e->sym].builtin - 1);
	const struct type *t;
	int partial;

	if (pctl_wgsl_is_refused(c, b, e->pos)) {
		pctl_wgsl_refused_name(c, e, b);
		pctl_wgsl_set_error(c, e);
	} else if (!pctl_wgsl_builtin_is_type(b)) {
		pctl_wgsl_check_builtin_call(c, e, b);
	} else {
		t = pctl_wgsl_builtin_type(c, e, b, &partial);
		if (partial)
			pctl_wgsl_check_infer(c, e, b);
		else
			pctl_wgsl_check_construct(c, e, t);
	}
}

void pctl_wgsl_check_call(struct wgsl *c, struct expr *e)
{
	struct decl *d = pctl_wgsl_lookup(c, e->sym, e->pos, e->op_pos);
	struct expr *a;

	e->stage = STAGE_RUNTIME;
	if (!d && c->syms[e->sym].builtin) {
		call_predeclared(c, e);
		return;
	}
	if (d && d->kind == DECL_FUNCTION) {
		call_function(c, e, d);
		return;
	}
	if (d && (d->kind == DECL_ALIAS || d->kind == DECL_STRUCT)) {
		pctl_wgsl_check_construct(c, e, d->type ? d->type : &c->types.error);
		return;
	}
	for (a = e->a; a; a = a->next)
		pctl_wgsl_check_value(c, a);
	if (!d)
		pctl_wgsl_unknown_name(c, e);
	else if (d->kind != DECL_ERROR)
		pctl_wgsl_error_note(c, PC2431_WGSL_NOT_CALLABLE, e->pos, e->op_pos, NULL, d->pos,
				     d->end, "it is declared here", "\"%s\" cannot be called",
				     pctl_wgsl_sym_text(c, e->sym));
	pctl_wgsl_set_error(c, e);
}
