/* Attributes as they are read, and the diagnostic filters that WGSL allows before blocks and as a
 * directive. A filter changes nothing here (what it tunes are warnings of other compilers), but a
 * malformed one is refused as anywhere. */
#include <string.h>

#include "compiler/wgsl/parse.h"

struct attr *pctl_wgsl_parse_attrs(struct parser *p)
{
	struct attr *first = NULL, **end = &first;

	while (!p->panic && pctl_wgsl_at(p, T_AT)) {
		struct attr *a = WGSL_NEW(p->c, struct attr);

		a->pos = p->t->pos;
		pctl_wgsl_advance(p);
		if (!pctl_wgsl_at(p, T_NAME)) {
			pctl_wgsl_syntax_error(p, NULL, "the name of an attribute");
			break;
		}
		a->sym = p->t->sym; /* `const` and `diagnostic` are keywords and attributes */
		pctl_wgsl_advance(p);
		a->has_parens = (uint32_t)pctl_wgsl_accept(p, T_LPAREN);
		if (a->has_parens)
			a->args = pctl_wgsl_parse_args(p, T_RPAREN, &a->n_args);
		a->end = pctl_wgsl_last_end(p);
		if (a->sym == KW_DIAGNOSTIC && !p->panic)
			pctl_wgsl_check_diagnostic(p->c, PC2113_WGSL_ATTRIBUTE, a);
		*end = a;
		end = &a->next;
	}
	return first;
}

void pctl_wgsl_no_attrs(struct parser *p, const struct attr *attrs, const char *before)
{
	if (attrs && !pctl_wgsl_is_first_rules(p->c))
		pctl_wgsl_error(p->c, PC2113_WGSL_ATTRIBUTE, attrs->pos, attrs->end, NULL,
				"no attribute may stand before %s", before);
}

void pctl_wgsl_check_block_attrs(struct parser *p, const struct attr *attrs)
{
	const struct attr *a;

	if (pctl_wgsl_is_first_rules(p->c))
		return;
	for (a = attrs; a; a = a->next)
		if (a->sym != KW_DIAGNOSTIC)
			pctl_wgsl_error(p->c, PC2113_WGSL_ATTRIBUTE, a->pos, a->end, NULL,
					"@%s may not stand before a block or statement; only "
					"@diagnostic may",
					pctl_wgsl_sym_text(p->c, a->sym));
	pctl_wgsl_check_filters(p->c, PC2113_WGSL_ATTRIBUTE, attrs);
}

void pctl_wgsl_parse_block_attrs(struct parser *p)
{
	pctl_wgsl_check_block_attrs(p, pctl_wgsl_parse_attrs(p));
}

/* ---- filters: (severity, rule) ---- */

/* A rule is a name, or two with a point between them; 0 when it is neither. */
static int rule_of(const struct expr *e, uint32_t rule[2])
{
	rule[0] = rule[1] = 0;
	if (e->kind == EX_MEMBER && e->a->kind == EX_NAME && !e->a->has_templates && !e->a->paren) {
		rule[0] = e->a->sym;
		rule[1] = e->sym;
	} else if (e->kind == EX_NAME && !e->has_templates) {
		rule[0] = e->sym;
	}
	return rule[0] && !e->paren;
}

void pctl_wgsl_check_diagnostic(struct wgsl *c, uint32_t code, const struct attr *a)
{
	static const char *const severities[] = {"error", "warning", "info", "off"};
	const struct expr *severity = a->args;
	uint32_t rule[2], i;
	const char *name;

	if (pctl_wgsl_is_first_rules(c))
		return;
	if (a->n_args != 2) {
		pctl_wgsl_error(c, code, a->pos, a->end,
				"write diagnostic(off, derivative_uniformity)",
				"diagnostic takes a severity and a rule, found %u argument%s",
				a->n_args, a->n_args == 1 ? "" : "s");
		return;
	}
	name = severity->kind == EX_NAME && !severity->has_templates && !severity->paren
		       ? pctl_wgsl_sym_text(c, severity->sym)
		       : "";
	for (i = 0; i < 4 && strcmp(name, severities[i]) != 0; i++)
		;
	if (i == 4)
		pctl_wgsl_error(c, code, severity->pos, severity->end,
				pctl_wgsl_hint_nearest(c, name, severities, 4),
				"a severity is error, warning, info or off");
	if (!rule_of(severity->next, rule))
		pctl_wgsl_error(c, code, severity->next->pos, severity->next->end, NULL,
				"a rule is a name, or two with a point between them");
}

/* Two filters of one rule in one place must agree. */
void pctl_wgsl_check_filters(struct wgsl *c, uint32_t code, const struct attr *first)
{
	uint32_t rule[2], other[2];
	const struct attr *a, *b;

	for (a = first; a; a = a->next) {
		if (a->sym != KW_DIAGNOSTIC || a->n_args != 2 || !rule_of(a->args->next, rule))
			continue;
		for (b = first; b != a; b = b->next)
			if (b->sym == KW_DIAGNOSTIC && b->n_args == 2 &&
			    rule_of(b->args->next, other) && rule[0] == other[0] &&
			    rule[1] == other[1] &&
			    (code == PC2113_WGSL_ATTRIBUTE || a->args->sym != b->args->sym))
				break;
		if (b != a)
			pctl_wgsl_error_note(
				c, code, a->pos, a->end, NULL, b->pos, b->end, "the other is here",
				a->args->sym == b->args->sym
					? "two diagnostic attributes name one rule"
					: "two diagnostic filters give one rule two severities");
	}
}

void pctl_wgsl_parse_diagnostic(struct parser *p, uint32_t pos)
{
	struct attr *a = WGSL_NEW(p->c, struct attr);

	a->pos = pos;
	a->sym = KW_DIAGNOSTIC;
	if (!pctl_wgsl_expect(p, T_LPAREN, "after `diagnostic`"))
		return;
	if (pctl_wgsl_is_first_rules(p->c)) {
		while (!pctl_wgsl_at(p, T_RPAREN) && !pctl_wgsl_at(p, T_SEMICOLON) &&
		       !pctl_wgsl_at(p, T_EOF))
			pctl_wgsl_advance(p);
		pctl_wgsl_expect(p, T_RPAREN, "at the end of the directive");
		pctl_wgsl_expect(p, T_SEMICOLON, "at the end of the directive");
		return;
	}
	a->args = pctl_wgsl_parse_args(p, T_RPAREN, &a->n_args);
	a->end = pctl_wgsl_last_end(p);
	if (!pctl_wgsl_expect(p, T_SEMICOLON, "at the end of the directive"))
		return;
	pctl_wgsl_check_diagnostic(p->c, PC2112_WGSL_DIRECTIVE, a);
	*p->filters_end = a;
	p->filters_end = &a->next;
}
