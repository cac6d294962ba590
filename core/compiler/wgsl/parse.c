/* The parser's base: cursor, errors, recovery, directives, the loop over a module's declarations.
 */
#include <string.h>

#include "compiler/wgsl/parse.h"

static const char *found_text(struct parser *p)
{
	const struct token *t = p->t;

	if (t->kind == T_NAME || t->kind == T_INT || t->kind == T_FLOAT)
		return pctl_wgsl_format(p->c, "\"%.*s\"", (int)(t->len > 40 ? 40 : t->len),
					p->src->text + (t->pos - p->src->base));
	return pctl_wgsl_token_text(t->kind);
}

void pctl_wgsl_syntax_error(struct parser *p, const char *hint, const char *expected)
{
	if (p->panic)
		return;
	p->panic = 1;
	if (p->fn)
		p->fn->broken = 1;
	pctl_wgsl_error(p->c, PC2110_WGSL_SYNTAX, p->t->pos, pctl_wgsl_token_end(p->t), hint,
			"expected %s, found %s", expected, found_text(p));
}

int pctl_wgsl_expect(struct parser *p, uint32_t kind, const char *where)
{
	if (p->panic)
		return 0;
	if (p->t->kind == kind) {
		pctl_wgsl_advance(p);
		return 1;
	}
	/* A missing ';' or ')' is best shown where it is missing: behind the last token. */
	if (kind == T_SEMICOLON || kind == T_RPAREN || kind == T_RBRACKET) {
		uint32_t end = pctl_wgsl_last_end(p);

		p->panic = 1;
		if (p->fn)
			p->fn->broken = 1;
		pctl_wgsl_error(p->c, PC2110_WGSL_SYNTAX, end ? end - 1 : end, end, NULL,
				"expected %s %s, found %s", pctl_wgsl_token_text(kind), where,
				found_text(p));
		return 0;
	}
	pctl_wgsl_syntax_error(p, NULL,
			       pctl_wgsl_format(p->c, "%s %s", pctl_wgsl_token_text(kind), where));
	return 0;
}

int pctl_wgsl_parse_name(struct parser *p, const char *what, uint32_t *sym, uint32_t *pos,
			 uint32_t *end)
{
	*sym = 0;
	*pos = p->t->pos;
	*end = pctl_wgsl_token_end(p->t);
	if (p->panic)
		return 0;
	if (!pctl_wgsl_at(p, T_NAME) || p->t->sym < KW_COUNT) {
		pctl_wgsl_syntax_error(
			p,
			pctl_wgsl_at(p, T_NAME) ? "that is a keyword; choose another name" : NULL,
			what);
		return 0;
	}
	*sym = p->t->sym;
	if (p->c->syms[*sym].reserved)
		pctl_wgsl_error(p->c, PC2107_WGSL_NAME, *pos, *end, "choose another name",
				"\"%s\" is reserved by WGSL for later versions",
				pctl_wgsl_sym_text(p->c, *sym));
	pctl_wgsl_advance(p);
	return 1;
}

/* Reading ends at such a place: whatever follows would only be nested deeper. */
void pctl_wgsl_stop(struct parser *p)
{
	p->c->is_cut = 1;
	p->panic = 1;
	if (p->fn)
		p->fn->broken = 1;
	while (!pctl_wgsl_at(p, T_EOF))
		pctl_wgsl_advance(p);
}

int pctl_wgsl_enter(struct parser *p)
{
	if (p->nesting < WGSL_MAX_NESTING) {
		p->nesting++;
		return 1;
	}
	if (!p->panic) {
		pctl_wgsl_error(p->c, PC2105_WGSL_NESTING, p->t->pos, pctl_wgsl_token_end(p->t),
				"split it with `let` or a function",
				"brackets and blocks are nested deeper than %u; reading ends here",
				WGSL_MAX_NESTING);
		pctl_wgsl_stop(p);
	}
	return 0;
}

static int starts_declaration(const struct parser *p)
{
	switch (p->t->kind) {
	case T_AT:
		return 1;
	case T_NAME:
		return p->t->sym == KW_FN || p->t->sym == KW_STRUCT || p->t->sym == KW_CONST ||
		       p->t->sym == KW_OVERRIDE || p->t->sym == KW_ALIAS || p->t->sym == KW_VAR ||
		       p->t->sym == KW_CONST_ASSERT || p->t->sym == KW_ENABLE ||
		       p->t->sym == KW_REQUIRES;
	default:
		return 0;
	}
}

/* After an error at module scope: on behind the next ';' or block, or to what begins a declaration.
 */
static void synchronise(struct parser *p, const struct token *start)
{
	uint32_t depth = 0;

	while (p->t->kind != T_EOF) {
		if (!depth && p->t != start && starts_declaration(p))
			break;
		if (p->t->kind == T_LBRACE) {
			depth++;
		} else if (p->t->kind == T_RBRACE) {
			if (depth <= 1) {
				pctl_wgsl_advance(p);
				break;
			}
			depth--;
		} else if (p->t->kind == T_SEMICOLON && !depth) {
			pctl_wgsl_advance(p);
			break;
		}
		pctl_wgsl_advance(p);
	}
	p->panic = 0;
}

static const char *const extensions[] = {"f16",
					 "subgroups",
					 "subgroups_f16",
					 "dual_source_blending",
					 "clip_distances",
					 "primitive_index",
					 "chromium_experimental_subgroup_matrix"};
static const char *const language_features[] = {
	"readonly_and_readwrite_storage_textures", "packed_4x8_integer_dot_product",
	"unrestricted_pointer_parameters",	   "pointer_composite_access",
	"uniform_buffer_standard_layout",	   "subgroup_id"};

/* What stands in the list of `enable` or `requires`. */
static void check_directive_name(struct parser *p, uint32_t keyword, const struct token *t)
{
	const char *name = pctl_wgsl_sym_text(p->c, t->sym);

	if (keyword == KW_REQUIRES && (!strcmp(name, "packed_4x8_integer_dot_product") ||
				       !strcmp(name, "pointer_composite_access")))
		return;
	if (keyword == KW_REQUIRES && !strcmp(name, "subgroup_id") &&
	    !(p->c->options->flags & PCTL_WGSL_CONSENSUS))
		return;
	if (keyword == KW_ENABLE && !strcmp(name, "f16") &&
	    PCTL_WGSL_HAS_FLOATS(p->c->options->flags)) {
		p->src->has_f16 = 1;
		return;
	}
	if (keyword == KW_ENABLE && !strcmp(name, "subgroups") &&
	    !(p->c->options->flags & PCTL_WGSL_CONSENSUS)) {
		p->src->has_subgroups = 1;
		return;
	}
	if (keyword == KW_ENABLE && !strcmp(name, extensions[6]) &&
	    !(p->c->options->flags & PCTL_WGSL_CONSENSUS)) {
		p->src->has_tiles = 1;
		return;
	}
	if (keyword == KW_ENABLE)
		pctl_wgsl_error(p->c, PC2112_WGSL_DIRECTIVE, t->pos, pctl_wgsl_token_end(t),
				pctl_wgsl_hint_nearest(p->c, name, extensions, 7),
				!strcmp(name, "f16")
					? "extension \"%s\" needs floats, which are not taken here"
				: p->c->options->flags & PCTL_WGSL_CONSENSUS
					? "extension \"%s\" is not supported; f16 is"
					: "extension \"%s\" is not supported; f16, subgroups and "
					  "chromium_experimental_subgroup_matrix are",
				name);
	else
		pctl_wgsl_error(p->c, PC2112_WGSL_DIRECTIVE, t->pos, pctl_wgsl_token_end(t),
				pctl_wgsl_hint_nearest(p->c, name, language_features, 6),
				"language feature \"%s\" is not supported; supported are "
				"packed_4x8_integer_dot_product, pointer_composite_access and "
				"subgroup_id",
				name);
}

static void directive(struct parser *p)
{
	const struct token *first = p->t;
	uint32_t keyword = first->sym;

	if (p->seen_declaration)
		pctl_wgsl_error(p->c, PC2112_WGSL_DIRECTIVE, first->pos, pctl_wgsl_token_end(first),
				"move it to the top",
				"a directive must stand before all declarations");
	pctl_wgsl_advance(p);
	if (keyword == KW_DIAGNOSTIC) {
		pctl_wgsl_parse_diagnostic(p, first->pos);
		return;
	}
	do {
		if (!pctl_wgsl_at(p, T_NAME)) {
			pctl_wgsl_syntax_error(p, NULL, "the name of an extension");
			return;
		}
		check_directive_name(p, keyword, p->t);
		pctl_wgsl_advance(p);
	} while (pctl_wgsl_accept(p, T_COMMA) && !pctl_wgsl_at(p, T_SEMICOLON));
	pctl_wgsl_expect(p, T_SEMICOLON, "at the end of the directive");
}

void pctl_wgsl_parse(struct wgsl *c, struct source *src)
{
	struct parser p = {.c = c, .src = src, .t = src->tokens};

	p.filters_end = &p.filters;
	while (p.t->kind != T_EOF) {
		const struct token *start = p.t;

		if (pctl_wgsl_at_keyword(&p, KW_ENABLE) || pctl_wgsl_at_keyword(&p, KW_REQUIRES) ||
		    pctl_wgsl_at_keyword(&p, KW_DIAGNOSTIC)) {
			directive(&p);
		} else {
			struct decl **first = c->decls_end, *d;

			pctl_wgsl_parse_global(&p);
			p.seen_declaration = 1;
			for (d = *first; d; d = d->next) {
				d->from = start->pos;
				d->to = pctl_wgsl_last_end(&p);
			}
		}
		p.fn = NULL;
		p.nesting = 0;
		if (p.panic)
			synchronise(&p, start);
	}
	pctl_wgsl_check_filters(c, PC2112_WGSL_DIRECTIVE, p.filters);
}
