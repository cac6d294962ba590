/* Declarations: attributes, structs, aliases, values, variables, functions. A declaration that
 * could not be read whole keeps its name as DECL_ERROR, so that uses of it stay silent. */
#include <string.h>

#include "compiler/wgsl/parse.h"

struct decl *pctl_wgsl_decl_new(struct parser *p, uint32_t kind)
{
	struct decl *d = WGSL_NEW(p->c, struct decl);

	d->kind = (uint8_t)kind;
	d->pos = p->t->pos;
	d->end = pctl_wgsl_token_end(p->t);
	d->id = 0xffffffffu;
	return d;
}

static void add_global(struct parser *p, struct decl *d)
{
	d->is_global = 1;
	*p->c->decls_end = d;
	p->c->decls_end = &d->next;
}

static uint32_t word_of(struct parser *p, const struct expr *e, const char *const *words,
			uint32_t n, const char *what)
{
	uint32_t i;

	if (e->kind == EX_ERROR)
		return n;
	if (e->kind == EX_NAME && !e->has_templates)
		for (i = 0; i < n; i++)
			if (!strcmp(words[i], pctl_wgsl_sym_text(p->c, e->sym)))
				return i;
	pctl_wgsl_error(
		p->c, PC2420_WGSL_ADDRESS_SPACE, e->pos, e->end,
		e->kind == EX_NAME
			? pctl_wgsl_hint_nearest(p->c, pctl_wgsl_sym_text(p->c, e->sym), words, n)
			: NULL,
		"this is no %s", what);
	return n;
}

/* var<space, access> */
static void var_template(struct parser *p, struct decl *d)
{
	static const char *const spaces[] = {"function", "private", "workgroup", "uniform",
					     "storage"};
	static const uint8_t space_ids[] = {PCTL_SPACE_FUNCTION,  PCTL_SPACE_PRIVATE,
					    PCTL_SPACE_WORKGROUP, PCTL_SPACE_UNIFORM,
					    PCTL_SPACE_STORAGE,	  0};
	static const char *const accesses[] = {"read", "write", "read_write"};
	static const uint8_t access_ids[] = {PCTL_ACCESS_READ, PCTL_ACCESS_WRITE,
					     PCTL_ACCESS_READ_WRITE, PCTL_ACCESS_READ_WRITE};
	struct expr *e;
	uint32_t n;

	e = pctl_wgsl_parse_args(p, T_TEMPLATE_CLOSE, &n);
	if (!e || p->panic)
		return;
	d->space = space_ids[word_of(p, e, spaces, 5, "address space")];
	if (!d->space)
		d->kind = DECL_ERROR;
	if (!e->next)
		return;
	d->access = access_ids[word_of(p, e->next, accesses, 3, "access mode")];
	if (d->space && d->space != PCTL_SPACE_STORAGE)
		pctl_wgsl_error(p->c, PC2420_WGSL_ADDRESS_SPACE, e->next->pos, e->next->end,
				"leave it out", "only storage variables have an access mode");
	if (e->next->next)
		pctl_wgsl_error(p->c, PC2420_WGSL_ADDRESS_SPACE, e->next->next->pos,
				e->next->next->end, NULL,
				"a variable has at most a space and an access mode");
}

struct decl *pctl_wgsl_parse_value_decl(struct parser *p, struct attr *attrs)
{
	uint32_t keyword = p->t->sym;
	struct decl *d = pctl_wgsl_decl_new(p, keyword == KW_CONST	? DECL_CONST
					       : keyword == KW_OVERRIDE ? DECL_OVERRIDE
					       : keyword == KW_LET	? DECL_LET
									: DECL_VAR);

	d->attrs = attrs;
	pctl_wgsl_advance(p);
	if (keyword == KW_VAR && pctl_wgsl_accept(p, T_TEMPLATE_OPEN))
		var_template(p, d);
	if (!pctl_wgsl_parse_name(p, "a name", &d->sym, &d->pos, &d->end))
		goto broken;
	if (pctl_wgsl_accept(p, T_COLON))
		d->type_expr = pctl_wgsl_parse_type(p);
	if (pctl_wgsl_accept(p, T_EQ))
		d->init = pctl_wgsl_parse_expr(p);
	else if (!p->panic && (keyword == KW_CONST || keyword == KW_LET))
		pctl_wgsl_syntax_error(p, NULL, "'=' and a value");
broken:
	if (p->panic)
		d->kind = DECL_ERROR;
	return d;
}

struct decl *pctl_wgsl_parse_assert(struct parser *p)
{
	struct decl *d = pctl_wgsl_decl_new(p, DECL_ASSERT);

	pctl_wgsl_advance(p);
	d->init = pctl_wgsl_parse_expr(p);
	if (p->panic)
		d->kind = DECL_ERROR;
	return d;
}

/* After an error among members: on behind the brace that ends them, unless something else begins.
 */
static void skip_members(struct parser *p)
{
	while (!pctl_wgsl_at(p, T_EOF) && !pctl_wgsl_at(p, T_LBRACE) &&
	       !pctl_wgsl_at_keyword(p, KW_FN) && !pctl_wgsl_at_keyword(p, KW_STRUCT)) {
		int is_end = pctl_wgsl_at(p, T_RBRACE);

		pctl_wgsl_advance(p);
		if (is_end) {
			p->panic = 0;
			return;
		}
	}
}

static void structure(struct parser *p)
{
	struct decl *d = pctl_wgsl_decl_new(p, DECL_STRUCT);
	struct structure *s = WGSL_NEW(p->c, struct structure);
	struct member **end = &s->members;

	d->structure = s;
	s->decl = d;
	pctl_wgsl_advance(p);
	if (!pctl_wgsl_parse_name(p, "the name of a struct", &d->sym, &d->pos, &d->end))
		return;
	add_global(p, d);
	pctl_wgsl_expect(p, T_LBRACE, "after the name of the struct");
	while (!p->panic && !pctl_wgsl_at(p, T_RBRACE)) {
		struct member *m = WGSL_NEW(p->c, struct member);

		m->attrs = pctl_wgsl_parse_attrs(p);
		if (!pctl_wgsl_parse_name(p, "the name of a member", &m->sym, &m->pos, &m->end))
			break;
		pctl_wgsl_expect(p, T_COLON, "after the name of the member");
		m->type_expr = pctl_wgsl_parse_type(p);
		*end = m;
		end = &m->next;
		s->n_members++;
		if (!pctl_wgsl_accept(p, T_COMMA)) {
			if (pctl_wgsl_at(p, T_SEMICOLON))
				pctl_wgsl_syntax_error(p, "members are parted by ','",
						       "',' or '}'");
			break;
		}
	}
	pctl_wgsl_expect(p, T_RBRACE, "at the end of the struct");
	if (p->panic) {
		d->kind = DECL_ERROR;
		skip_members(p);
	}
}

static void alias(struct parser *p)
{
	struct decl *d = pctl_wgsl_decl_new(p, DECL_ALIAS);

	pctl_wgsl_advance(p);
	if (!pctl_wgsl_parse_name(p, "the name of an alias", &d->sym, &d->pos, &d->end))
		return;
	add_global(p, d);
	pctl_wgsl_expect(p, T_EQ, "after the name of the alias");
	d->type_expr = pctl_wgsl_parse_type(p);
	pctl_wgsl_expect(p, T_SEMICOLON, "at the end of the alias");
	if (p->panic)
		d->kind = DECL_ERROR;
}

static void parameters(struct parser *p, struct function *f)
{
	struct decl **end = &f->params;

	while (!p->panic && !pctl_wgsl_at(p, T_RPAREN)) {
		struct decl *d = pctl_wgsl_decl_new(p, DECL_PARAM);

		d->attrs = pctl_wgsl_parse_attrs(p);
		if (!pctl_wgsl_parse_name(p, "the name of a parameter", &d->sym, &d->pos, &d->end))
			break;
		pctl_wgsl_expect(p, T_COLON, "after the name of the parameter");
		d->type_expr = pctl_wgsl_parse_type(p);
		*end = d;
		end = &d->next;
		f->n_params++;
		if (!pctl_wgsl_accept(p, T_COMMA))
			break;
	}
	pctl_wgsl_expect(p, T_RPAREN, "behind the parameters");
}

static void function(struct parser *p, struct attr *attrs)
{
	struct decl *d = pctl_wgsl_decl_new(p, DECL_FUNCTION);
	struct function *f = WGSL_NEW(p->c, struct function);

	d->attrs = attrs;
	d->function = f;
	f->decl = d;
	p->fn = f;
	pctl_wgsl_advance(p);
	if (!pctl_wgsl_parse_name(p, "the name of a function", &d->sym, &d->pos, &d->end))
		return;
	add_global(p, d);
	pctl_wgsl_expect(p, T_LPAREN, "after the name of the function");
	parameters(p, f);
	if (pctl_wgsl_accept(p, T_ARROW)) {
		f->return_attrs = pctl_wgsl_parse_attrs(p);
		f->return_expr = pctl_wgsl_parse_type(p);
	}
	if (p->panic) {
		d->kind = DECL_ERROR;
		return;
	}
	*p->c->functions_end = f;
	p->c->functions_end = &f->next;
	f->body = pctl_wgsl_parse_block(p);
}

void pctl_wgsl_parse_global(struct parser *p)
{
	struct attr *attrs;
	struct decl *d;
	uint32_t sym;

	if (pctl_wgsl_accept(p, T_SEMICOLON))
		return;
	attrs = pctl_wgsl_parse_attrs(p);
	if (p->panic)
		return;
	sym = pctl_wgsl_at(p, T_NAME) ? p->t->sym : KW_NONE;
	if (attrs && sym != KW_FN && sym != KW_VAR && sym != KW_OVERRIDE)
		pctl_wgsl_error(
			p->c, PC2113_WGSL_ATTRIBUTE, attrs->pos, attrs->end, NULL,
			"attributes may stand before functions, variables and overrides only");
	switch (sym) {
	case KW_FN:
		function(p, attrs);
		return;
	case KW_STRUCT:
		structure(p);
		return;
	case KW_ALIAS:
		alias(p);
		return;
	case KW_CONST:
	case KW_OVERRIDE:
	case KW_VAR:
		d = pctl_wgsl_parse_value_decl(p, sym == KW_CONST ? NULL : attrs);
		if (d->sym)
			add_global(p, d);
		pctl_wgsl_expect(p, T_SEMICOLON, "at the end of the declaration");
		if (p->panic)
			d->kind = DECL_ERROR;
		return;
	case KW_CONST_ASSERT:
		add_global(p, pctl_wgsl_parse_assert(p));
		pctl_wgsl_expect(p, T_SEMICOLON, "at the end of the assertion");
		return;
	case KW_LET:
		pctl_wgsl_syntax_error(p, "at module scope it is `const` or `override`",
				       "a declaration");
		return;
	default:
		pctl_wgsl_syntax_error(p, NULL, "a declaration");
	}
}
