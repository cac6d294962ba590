/* WGSL's rules on aliases: what a function may reach in two ways, by two pointers or by a pointer and a variable's
 * name, it must not write. Each function's touches are gathered, callees first, and every call with pointers is
 * judged by what the callee does to them. Indices and members do not matter: memory is told apart by variable alone. */
#include "compiler/wgsl/check.h"

typedef struct aliases {
	struct wgsl *c;
	struct function *f; /* whose body is read */
	uint32_t number, n_calls, n_merged;
} aliases;

static void visit(aliases *x, const struct expr *e);

/* The variable or pointer parameter that memory or a pointer comes from; NULL after an error. */
static struct decl *root_of(const struct expr *e)
{
	while (e->kind == EX_MEMBER || e->kind == EX_INDEX || e->kind == EX_DEREF ||
	       e->kind == EX_ADDRESS)
		e = e->a;
	if (e->kind != EX_NAME || !e->decl)
		return NULL;
	return e->decl->kind == DECL_VAR ? e->decl : e->decl->root;
}

static void touch(aliases *x, struct decl *root, int is_written, uint32_t pos, uint32_t end)
{
	struct touch *t;

	if (!root)
		return;
	if (root->touched_by != x->number) {
		t = WGSL_NEW(x->c, struct touch);
		*t = (struct touch){x->f->touches, root, 0, pos, end};
		x->f->touches = t;
		root->touch = t;
		root->touched_by = x->number;
	}
	t = root->touch;
	if (is_written && !t->is_written) {
		t->is_written = 1;
		t->pos = pos;
		t->end = end;
	}
}

/* The values on the way to memory: its indices. */
static void visit_chain(aliases *x, const struct expr *e)
{
	while (e->kind == EX_MEMBER || e->kind == EX_INDEX || e->kind == EX_DEREF ||
	       e->kind == EX_ADDRESS) {
		if (e->kind == EX_INDEX)
			visit(x, e->b);
		e = e->a;
	}
}

static void access_to(aliases *x, const struct expr *e, int is_written)
{
	touch(x, root_of(e), is_written, e->pos, e->end);
	visit_chain(x, e);
}

/* ---- calls ---- */

static void refuse_pair(aliases *x, const struct expr *call, const struct expr *a,
			const struct decl *p, const struct decl *q)
{
	pctl_wgsl_error_note(
		x->c, PC2438_WGSL_ALIAS, a->pos, a->end,
		"pass different variables, or copy one: `var copy = x;`", q->pos, q->end,
		"the other parameter is this one",
		"\"%s\" and \"%s\" of \"%s\" point into one variable, \"%s\", and one of them is "
		"written to",
		pctl_wgsl_sym_text(x->c, q->sym), pctl_wgsl_sym_text(x->c, p->sym),
		pctl_wgsl_sym_text(x->c, call->sym), pctl_wgsl_sym_text(x->c, root_of(a)->sym));
}

static void refuse_name(aliases *x, const struct expr *call, const struct touch *t)
{
	const struct decl *p = t->root->passed, *q;
	const struct expr *a = call->a;

	for (q = call->decl->function->params; q != p; q = q->next)
		a = a->next;
	pctl_wgsl_error_note(
		x->c, PC2438_WGSL_ALIAS, a->pos, a->end,
		"let the function use the pointer alone, or the variable's name alone", t->pos,
		t->end, "the variable is used by name here",
		"\"%s\" of \"%s\" points into \"%s\", which that function also %s by name, and one "
		"of them is written to",
		pctl_wgsl_sym_text(x->c, p->sym), pctl_wgsl_sym_text(x->c, call->sym),
		pctl_wgsl_sym_text(x->c, t->root->sym), t->is_written ? "writes" : "reads");
}

/* Pointers that the callee leaves alone are no ways to memory. */
static void judge_pointers(aliases *x, const struct expr *call)
{
	struct decl *p = call->decl->function->params, *root;
	const struct expr *a;

	for (a = call->a; a && p; a = a->next, p = p->next) {
		if (p->type->kind != TY_POINTER || !p->touch || !(root = root_of(a)))
			continue;
		if (root->passed_by == x->n_calls &&
		    (p->touch->is_written || root->passed->touch->is_written))
			refuse_pair(x, call, a, p, root->passed);
		if (root->passed_by != x->n_calls || p->touch->is_written)
			root->passed = p;
		root->passed_by = x->n_calls;
		touch(x, root, p->touch->is_written != 0, a->pos, a->end);
	}
}

static void call_function(aliases *x, const struct expr *call)
{
	struct function *callee = call->decl->function;
	const struct touch *t;

	x->n_calls++;
	judge_pointers(x, call);
	for (t = callee->touches; t; t = t->next) {
		if (t->root->kind != DECL_VAR || !t->root->is_global)
			continue;
		if (t->root->passed_by == x->n_calls &&
		    (t->is_written || t->root->passed->touch->is_written))
			refuse_name(x, call, t);
		touch(x, t->root, t->is_written != 0, t->pos, t->end);
		if (++x->n_merged < WGSL_MAX_TOUCHED)
			continue;
		pctl_wgsl_error(x->c, PC2109_WGSL_PROGRAM_SIZE, call->pos, call->end,
				"split the shader",
				"its functions touch too many variables, call by call");
		longjmp(x->c->give_up, GIVE_UP_REPORTED);
	}
}

static void call(aliases *x, const struct expr *e)
{
	const struct builtin *b = e->call == CALL_BUILTIN ? pctl_wgsl_builtin_at(e->index) : NULL;
	const struct expr *a = e->a;

	if (b && a && b->kind == BUILTIN_ARRAY_LENGTH) {
		visit_chain(x, a);
		return;
	}
	if (b && a &&
	    (b->kind == BUILTIN_ATOMIC_FN || b->kind == BUILTIN_ATOMIC_CAS ||
	     b->kind == BUILTIN_UNIFORM_LOAD)) {
		access_to(x, a, b->kind != BUILTIN_UNIFORM_LOAD && b->arg != PCTL_OP_ATOMIC_LOAD);
		a = a->next;
	}
	if (b && a && (b->kind == BUILTIN_TILE_LOAD || b->kind == BUILTIN_TILE_STORE)) {
		access_to(x, a, b->kind == BUILTIN_TILE_STORE);
		a = a->next;
	}
	for (; a; a = a->next)
		visit(x, a);
	if (e->call == CALL_FUNCTION)
		call_function(x, e);
}

/* ---- expressions and statements ---- */

static void visit(aliases *x, const struct expr *e)
{
	if (!e->checked || !e->type || e->type->kind == TY_ERROR || e->stage != STAGE_RUNTIME)
		return;
	if (e->ref) {
		access_to(x, e, 0);
		return;
	}
	if (e->type->kind == TY_POINTER) {
		visit_chain(x, e);
		return;
	}
	switch (e->kind) {
	case EX_MEMBER:
	case EX_INDEX:
		if (e->kind == EX_INDEX)
			visit(x, e->b);
		if (e->a->type->kind == TY_POINTER)
			access_to(x, e->a, 0); /* a swizzle of what it points to */
		else
			visit(x, e->a);
		break;
	case EX_BINARY:
		visit(x, e->b);
		visit(x, e->a);
		break;
	case EX_UNARY:
		visit(x, e->a);
		break;
	case EX_CALL:
		call(x, e);
		break;
	default:
		break;
	}
}

static void declaration(aliases *x, struct decl *d)
{
	if (!d->init || d->kind == DECL_CONST || d->kind == DECL_ASSERT)
		return;
	if (d->type && d->type->kind == TY_POINTER)
		d->root = root_of(d->init);
	visit(x, d->init);
}

static void statement(aliases *x, const struct stmt *s)
{
	const struct clause *k;
	const struct stmt *part;

	if (s->kind == ST_DECL)
		declaration(x, s->decl);
	if (s->kind == ST_FOR && s->other)
		statement(x, s->other);
	if (s->a && (s->kind == ST_ASSIGN || s->kind == ST_STEP) && s->a->checked && s->a->ref)
		access_to(x, s->a, 1);
	else if (s->a)
		visit(x, s->a);
	if (s->b)
		visit(x, s->b);
	for (k = s->clauses; k; k = k->next)
		statement(x, k->body);
	if (s->kind == ST_BLOCK)
		for (part = s->body; part; part = part->next)
			statement(x, part);
	else if (s->body)
		statement(x, s->body);
	if (s->kind != ST_FOR && s->other)
		statement(x, s->other);
	if (s->update)
		statement(x, s->update);
}

void pctl_wgsl_check_aliases(struct wgsl *c)
{
	aliases x = {.c = c};

	for (x.f = c->order; x.f; x.f = x.f->callee_first) {
		x.number++;
		statement(&x, x.f->body);
	}
}
