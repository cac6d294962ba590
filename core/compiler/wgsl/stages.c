/* Declarations of other stages: what draws stands beside compute entry points in many texts, and what no compute entry
 * point reaches is no part of the program. Left out is a declaration that no compute entry point names, directly or
 * through others, and that cannot mean anything to compute: it names textures, samplers, derivatives, `discard` or a
 * stage, or a declaration that does. All else is checked, used or not.
 *
 * Told from the tokens, before types are known: a local name counts as the global one it hides, so that rather too
 * much is kept than too little. */
#include <string.h>

#include "compiler/wgsl/check.h"

struct user {
	uint32_t number, next; /* 1 + index, 0: the last */
};

struct graph {
	struct wgsl *c;
	struct decl **at; /* by number */
	uint32_t n;
	uint8_t *reached, *outside;
	uint32_t *users_of; /* by number: what names it; 1 + index, 0: nothing */
	struct user *users;
	uint32_t n_users, cap_users;
};

static const struct token *token_at(const struct source *src, uint32_t pos)
{
	uint32_t low = 0, high = src->n_tokens;

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;

		if (src->tokens[mid].pos < pos)
			low = mid + 1;
		else
			high = mid;
	}
	return &src->tokens[low];
}

static int is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(word, *words))
			return 1;
	return 0;
}

/* What follows `@`: an attribute of another stage, or @builtin with a value of one. */
static int is_stage_attribute(const struct wgsl *c, const struct token *t)
{
	static const char *const attributes[] = {
		"vertex", "fragment", "location", "interpolate", "invariant", "blend_src", NULL};
	static const char *const values[] = {
		"vertex_index", "instance_index", "position",	    "front_facing",    "frag_depth",
		"sample_index", "sample_mask",	  "clip_distances", "primitive_index", NULL};

	if (t->kind != T_NAME)
		return 0;
	if (is_one_of(pctl_wgsl_sym_text(c, t->sym), attributes))
		return 1;
	return !strcmp(pctl_wgsl_sym_text(c, t->sym), "builtin") && t[1].kind == T_LPAREN &&
	       t[2].kind == T_NAME && is_one_of(pctl_wgsl_sym_text(c, t[2].sym), values);
}

static int is_foreign_name(const struct wgsl *c, uint32_t sym)
{
	const struct builtin *b;

	if (sym == KW_DISCARD)
		return 1;
	if (!c->syms[sym].builtin)
		return 0;
	b = pctl_wgsl_builtin_at(c->syms[sym].builtin - 1);
	return b->kind == BUILTIN_REFUSED &&
	       (b->arg == PC2201_WGSL_TEXTURE || b->arg == PC2202_WGSL_SAMPLER ||
		b->arg == PC2204_WGSL_DERIVATIVE || b->arg == PC2205_WGSL_TEXTURE_BARRIER);
}

/* Is there a next token of d? */
static int is_within(const struct decl *d, const struct token *t)
{
	return t->kind != T_EOF && t->pos < d->to;
}

static const struct token *first_token(const struct wgsl *c, const struct decl *d)
{
	return token_at(c->sources[pctl_wgsl_source_number(c, d->from)], d->from);
}

/* The global declaration a token names; a name behind a point is a member. */
static struct decl *named(const struct wgsl *c, const struct decl *d, const struct token *t)
{
	struct decl *to = t->kind == T_NAME ? c->syms[t->sym].global : NULL;

	if (!to || to == d || (t->pos > d->from && t[-1].kind == T_DOT))
		return NULL;
	return to;
}

static void add_user(struct graph *g, const struct decl *to, const struct decl *by)
{
	g->users = pctl_wgsl_grow(g->c, g->users, g->n_users, &g->cap_users, sizeof(*g->users));
	g->users[g->n_users].number = by->number;
	g->users[g->n_users].next = g->users_of[to->number];
	g->users_of[to->number] = ++g->n_users;
}

/* Does it name what compute does not have? What else it names is kept. */
static int names_foreign(struct graph *g, const struct decl *d)
{
	const struct wgsl *c = g->c;
	const int has_stages = d->kind == DECL_FUNCTION || d->kind == DECL_STRUCT;
	const struct token *t;
	int found = 0;

	for (t = first_token(c, d); is_within(d, t); t++) {
		const struct decl *to = named(c, d, t);
		const int is_member = t->pos > d->from && t[-1].kind == T_DOT;

		if (to)
			add_user(g, to, d);
		else if (t->kind == T_AT && has_stages)
			found |= is_stage_attribute(c, t + 1);
		else if (t->kind == T_NAME && !is_member && !c->syms[t->sym].global)
			found |= is_foreign_name(c, t->sym);
	}
	return found;
}

static int is_compute(const struct wgsl *c, const struct decl *d)
{
	const struct attr *a;

	if (d->kind != DECL_FUNCTION)
		return 0;
	for (a = d->attrs; a; a = a->next)
		if (!strcmp(pctl_wgsl_sym_text(c, a->sym), "compute"))
			return 1;
	return 0;
}

/* Mark what compute entry points and assertions name; the number of entry points. */
static uint32_t reach(struct graph *g)
{
	uint32_t *todo = pctl_wgsl_alloc(g->c, (g->n + 1) * sizeof(*todo)), n = 0, entries = 0, i;

	for (i = 0; i < g->n; i++) {
		entries += (uint32_t)is_compute(g->c, g->at[i]);
		if (is_compute(g->c, g->at[i]) || g->at[i]->kind == DECL_ASSERT) {
			g->reached[i] = 1;
			todo[n++] = i;
		}
	}
	while (n) {
		const struct decl *d = g->at[todo[--n]];
		const struct token *t;

		for (t = first_token(g->c, d); is_within(d, t); t++) {
			const struct decl *to = named(g->c, d, t);

			if (!to || g->reached[to->number])
				continue;
			g->reached[to->number] = 1;
			todo[n++] = to->number;
		}
	}
	return entries;
}

static void find_outside(struct graph *g)
{
	uint32_t *todo = pctl_wgsl_alloc(g->c, (g->n + 1) * sizeof(*todo)), n = 0, i, u;

	for (i = 0; i < g->n; i++) {
		if (g->reached[i] || !names_foreign(g, g->at[i]))
			continue;
		g->outside[i] = 1;
		todo[n++] = i;
	}
	while (n) {
		for (u = g->users_of[todo[--n]]; u; u = g->users[u - 1].next) {
			const uint32_t by = g->users[u - 1].number;

			if (g->outside[by])
				continue;
			g->outside[by] = 1;
			todo[n++] = by;
		}
	}
}

void pctl_wgsl_forget(struct wgsl *c, struct decl **at)
{
	c->syms[(*at)->sym].global = NULL;
	*at = (*at)->next;
}

static void leave_out(struct graph *g)
{
	struct wgsl *c = g->c;
	struct decl **d = &c->decls;
	struct function **f = &c->functions;

	while (*f)
		if (g->outside[(*f)->decl->number])
			*f = (*f)->next;
		else
			f = &(*f)->next;
	c->functions_end = f;
	while (*d)
		if (g->outside[(*d)->number])
			pctl_wgsl_forget(c, d);
		else
			d = &(*d)->next;
	c->decls_end = d;
}

void pctl_wgsl_leave_out_stages(struct wgsl *c)
{
	struct graph g = {.c = c};
	struct decl *d;

	if (c->options->flags & (PCTL_WGSL_CONSENSUS | PCTL_WGSL_RULES_1 | PCTL_WGSL_NATIVE))
		return;
	for (d = c->decls; d; d = d->next)
		d->number = g.n++;
	g.at = pctl_wgsl_alloc(c, (g.n + 1) * sizeof(struct decl *));
	g.reached = pctl_wgsl_alloc(c, g.n + 1);
	g.users_of = pctl_wgsl_alloc(c, (g.n + 1) * sizeof(*g.users_of));
	g.outside = pctl_wgsl_alloc(c, g.n + 1);
	for (d = c->decls; d; d = d->next)
		g.at[d->number] = d;
	if (!reach(&g))
		return; /* then the stages are what is wrong with the text */
	find_outside(&g);
	leave_out(&g);
}
