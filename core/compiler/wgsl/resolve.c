/* Names: module scope in any order of the text, local scopes with shadowing, declared values. */
#include <string.h>

#include "compiler/wgsl/check.h"

/* Names offered when one is unknown: enough to help, few enough to stay quick. */
#define MAX_CANDIDATES 4096u

void pctl_wgsl_declare_globals(struct wgsl *c)
{
	struct decl *d;

	for (d = c->decls; d; d = d->next) {
		struct sym *s = &c->syms[d->sym];

		if (!d->sym)
			continue; /* const_assert */
		if (s->global) {
			pctl_wgsl_error_note(c, PC2401_WGSL_DUPLICATE, d->pos, d->end,
					     "choose another name", s->global->pos, s->global->end,
					     "it is declared here", "\"%s\" is declared twice",
					     s->text);
			continue;
		}
		s->global = d;
	}
}

void pctl_wgsl_scope_enter(struct wgsl *c)
{
	c->scope++;
}

void pctl_wgsl_scope_leave(struct wgsl *c)
{
	while (c->n_scope_stack && c->scope_stack[c->n_scope_stack - 1]->scope == c->scope) {
		struct decl *d = c->scope_stack[--c->n_scope_stack];

		c->syms[d->sym].local = d->shadow;
	}
	c->scope--;
}

void pctl_wgsl_declare_local(struct wgsl *c, struct decl *d)
{
	struct sym *s = &c->syms[d->sym];

	if (!d->sym)
		return;
	if (s->local && s->local->scope == c->scope)
		pctl_wgsl_error_note(c, PC2401_WGSL_DUPLICATE, d->pos, d->end,
				     "choose another name", s->local->pos, s->local->end,
				     "it is declared here",
				     "\"%s\" is declared twice in this scope", s->text);
	c->scope_stack = pctl_wgsl_grow(c, c->scope_stack, c->n_scope_stack, &c->cap_scope_stack,
					sizeof(struct decl *));
	c->scope_stack[c->n_scope_stack++] = d;
	d->scope = c->scope;
	d->shadow = s->local;
	s->local = d;
}

struct decl *pctl_wgsl_lookup(struct wgsl *c, uint32_t sym, uint32_t pos, uint32_t end)
{
	struct sym *s = &c->syms[sym];
	struct decl *d;

	if (s->local)
		return s->local;
	d = s->global;
	if (d)
		pctl_wgsl_resolve(c, d, pos, end);
	return d;
}

void pctl_wgsl_unknown_name(struct wgsl *c, const struct expr *e)
{
	const char *names[MAX_CANDIDATES];
	const char *word = pctl_wgsl_sym_text(c, e->sym);
	uint32_t i, n = 0;

	c->poisoned = 1;
	if (c->is_cut)
		return;
	if (c->n_errors >= WGSL_MAX_ERRORS) {
		c->n_dropped++;
		return;
	}
	for (i = KW_COUNT; i < c->n_syms && n < MAX_CANDIDATES; i++)
		if (c->syms[i].global || c->syms[i].local || c->syms[i].builtin)
			names[n++] = c->syms[i].text;
	pctl_wgsl_error(
		c, PC2400_WGSL_UNKNOWN_NAME, e->pos, e->op_pos > e->pos ? e->op_pos : e->end,
		pctl_wgsl_hint_nearest(c, word, names, n), "nothing is named \"%s\" here", word);
}

static void resolve_alias(struct wgsl *c, struct decl *d)
{
	const struct type *t = pctl_wgsl_check_type(c, d->type_expr);

	d->type = t;
}

static void cycle(struct wgsl *c, struct decl *d, uint32_t pos, uint32_t end)
{
	if (d->kind == DECL_FUNCTION)
		return; /* its signature only needs types; recursion is found elsewhere */
	pctl_wgsl_error_note(c, PC2403_WGSL_CYCLE, pos, end, NULL, d->pos, d->end,
			     "it is declared here", "\"%s\" needs itself",
			     pctl_wgsl_sym_text(c, d->sym));
	d->type = &c->types.error;
}

void pctl_wgsl_resolve(struct wgsl *c, struct decl *d, uint32_t pos, uint32_t end)
{
	struct function *fn = c->fn;
	uint32_t quiet = c->quiet;

	if (d->state == DECL_DONE)
		return;
	if (d->state == DECL_BUSY) {
		cycle(c, d, pos, end);
		return;
	}
	if (c->depth >= WGSL_MAX_CHAIN) {
		pctl_wgsl_error(c, PC2105_WGSL_NESTING, pos, end,
				"declare what is needed before what needs it",
				"declarations need each other too deep");
		d->type = &c->types.error;
		d->state = DECL_DONE;
		return;
	}
	d->state = DECL_BUSY;
	c->depth++;
	c->fn = NULL; /* module-scope text sees no locals and reads no variables */
	c->quiet = 0;
	switch (d->kind) {
	case DECL_ALIAS:
		resolve_alias(c, d);
		break;
	case DECL_STRUCT:
		pctl_wgsl_check_struct(c, d);
		break;
	case DECL_FUNCTION:
		pctl_wgsl_check_signature(c, d);
		break;
	case DECL_CONST:
	case DECL_OVERRIDE:
	case DECL_VAR:
		pctl_wgsl_check_value_decl(c, d);
		break;
	case DECL_ASSERT:
		pctl_wgsl_check_assert(c, d);
		break;
	default:
		d->type = &c->types.error;
	}
	c->fn = fn;
	c->quiet = quiet;
	c->depth--;
	d->state = DECL_DONE;
}

static const char *kind_text(const struct decl *d)
{
	switch (d->kind) {
	case DECL_CONST:
		return "a `const`";
	case DECL_OVERRIDE:
		return "an `override`";
	default:
		return "a module-scope variable";
	}
}

/* The stage a declaration demands of its initialiser. */
static int stage_allowed(struct wgsl *c, const struct decl *d)
{
	uint32_t most = d->kind == DECL_CONST			   ? STAGE_CONST
			: d->kind == DECL_OVERRIDE || d->is_global ? STAGE_OVERRIDE
								   : STAGE_RUNTIME;

	if (d->init->stage <= most)
		return 1;
	pctl_wgsl_not_constant(
		c, d->init, d->kind == DECL_CONST && !d->is_global ? "use `let`" : NULL,
		pctl_wgsl_format(c, "%s needs a value that is known %s", kind_text(d),
				 most == STAGE_CONST ? "when the shader is compiled"
						     : "before the shader runs"));
	return 0;
}

static const struct type *value_type(struct wgsl *c, struct decl *d)
{
	const struct type *wanted = d->type_expr ? pctl_wgsl_check_type(c, d->type_expr) : NULL;
	const struct type *found = d->init ? pctl_wgsl_check_value(c, d->init) : NULL;

	if (wanted && wanted->kind == TY_ERROR)
		return wanted;
	if (!wanted && !found) {
		if (d->kind != DECL_ERROR)
			pctl_wgsl_error(c, PC2404_WGSL_TYPE, d->pos, d->end, NULL,
					"\"%s\" needs a type or a value",
					pctl_wgsl_sym_text(c, d->sym));
		return &c->types.error;
	}
	if (!found)
		return wanted;
	if (found->kind == TY_ERROR)
		return wanted ? wanted : found;
	if (wanted && !pctl_wgsl_coerce(c, d->init, wanted, "the value"))
		return wanted;
	if (!stage_allowed(c, d))
		return wanted ? wanted : &c->types.error;
	if (!wanted && d->kind != DECL_CONST && !pctl_wgsl_settle(c, d->init))
		return &c->types.error;
	return d->init->type;
}

/* With values for the overrides, each is a constant of its type. */
static void override_value(struct wgsl *c, struct decl *d)
{
	uint64_t *leaf = WGSL_NEW(c, uint64_t);

	if (pctl_wgsl_concrete_value(c, d, leaf)) {
		d->is_known = 1;
		d->leaf = leaf;
	} else if (d->init && d->init->type->kind != TY_ERROR && d->init->stage == STAGE_CONST) {
		d->is_known = 1;
		d->leaf = d->init->leaf;
	}
}

void pctl_wgsl_check_value_decl(struct wgsl *c, struct decl *d)
{
	/* A default that is not taken is never computed. */
	const int spared = d->kind == DECL_OVERRIDE && c->concrete &&
			   pctl_wgsl_concrete_value(c, d, &(uint64_t){0});
	const struct type *t;

	c->quiet += (uint32_t)spared;
	t = value_type(c, d);
	c->quiet -= (uint32_t)spared;

	d->type = t;
	if (d->is_global && d->kind == DECL_VAR)
		pctl_wgsl_check_var_attrs(c, d);
	else if (d->kind == DECL_OVERRIDE)
		pctl_wgsl_check_override_attrs(c, d);
	else if (d->attrs)
		pctl_wgsl_error(c, PC2113_WGSL_ATTRIBUTE, d->attrs->pos, d->attrs->end, NULL,
				"no attribute may stand here");
	if (t->kind == TY_ERROR)
		return;
	if (d->kind == DECL_OVERRIDE && c->concrete) {
		override_value(c, d);
		return;
	}
	if (d->kind == DECL_CONST) {
		if (d->init->type->kind == TY_ERROR || d->init->stage != STAGE_CONST)
			d->type = &c->types.error;
		else
			d->leaf = d->init->leaf;
	}
	if ((d->kind == DECL_CONST || d->kind == DECL_LET) && t->kind != TY_POINTER && !t->plain) {
		pctl_wgsl_error(c, PC2404_WGSL_TYPE, d->pos, d->end, NULL, "%s cannot be a value",
				pctl_wgsl_type_name(c, t));
		d->type = &c->types.error;
	}
}

void pctl_wgsl_check_assert(struct wgsl *c, struct decl *d)
{
	const struct type *t = pctl_wgsl_check_value(c, d->init);

	if (t->kind == TY_ERROR ||
	    !pctl_wgsl_coerce(c, d->init, &c->types.scalar[PCTL_SCALAR_BOOL], "the assertion"))
		return;
	if (d->init->stage != STAGE_CONST)
		pctl_wgsl_not_constant(
			c, d->init, NULL,
			"const_assert needs a value that is known when the shader is compiled");
	else if (!pctl_wgsl_leaf(d->init, 0))
		pctl_wgsl_error(c, PC2411_WGSL_CONST_ASSERT, d->init->pos, d->init->end, NULL,
				"the assertion is false");
}
