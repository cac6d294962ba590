/* Functions and the module: bodies, missing returns, entry points, bindings, recursion. */
#include "compiler/wgsl/check.h"

void pctl_wgsl_check_function(struct wgsl *c, struct function *f)
{
	struct decl *p;
	uint32_t flow;

	c->fn = f;
	c->fn_number++;
	pctl_wgsl_scope_enter(c);
	for (p = f->params; p; p = p->next)
		pctl_wgsl_declare_local(c, p);
	flow = pctl_wgsl_check_block(c, f->body, 0);
	pctl_wgsl_scope_leave(c);
	c->fn = NULL;
	if ((flow & FLOW_NEXT) && !f->broken && f->return_type->kind != TY_VOID &&
	    f->return_type->kind != TY_ERROR)
		pctl_wgsl_error_note(c, PC2416_WGSL_MISSING_RETURN, f->body->close,
				     f->body->close + 1, NULL, f->decl->pos, f->decl->end,
				     "of this function",
				     "the end can be reached without returning a value");
}

/* ---- recursion: a search without recursion of its own ---- */

struct frame {
	struct function *f;
	const struct call_edge *next;
};

enum { VISIT_NEW, VISIT_OPEN, VISIT_DONE };

static void search(struct wgsl *c, struct function *first, struct frame *stack)
{
	uint32_t n = 0;

	first->visit = VISIT_OPEN;
	stack[n].f = first;
	stack[n++].next = first->calls;
	while (n) {
		struct frame *top = &stack[n - 1];
		const struct call_edge *edge = top->next;

		if (!edge) {
			top->f->visit = VISIT_DONE;
			*c->order_end = top->f;
			c->order_end = &top->f->callee_first;
			n--;
			continue;
		}
		top->next = edge->next;
		if (edge->callee->visit == VISIT_OPEN) {
			pctl_wgsl_error_note(c, PC2213_WGSL_RECURSION, edge->pos, edge->end,
					     "use a bounded `for`", edge->callee->decl->pos,
					     edge->callee->decl->end, "it is declared here",
					     "\"%s\" calls itself%s",
					     pctl_wgsl_sym_text(c, edge->callee->decl->sym),
					     edge->callee == top->f ? "" : " through others");
		} else if (edge->callee->visit == VISIT_NEW) {
			edge->callee->visit = VISIT_OPEN;
			stack[n].f = edge->callee;
			stack[n++].next = edge->callee->calls;
		}
	}
}

void pctl_wgsl_check_calls(struct wgsl *c)
{
	struct function *f;
	struct frame *stack;
	size_t n = 1;

	for (f = c->functions; f; f = f->next)
		n++;
	stack = pctl_wgsl_alloc(c, n * sizeof(*stack));
	c->order_end = &c->order;
	for (f = c->functions; f; f = f->next)
		if (f->visit == VISIT_NEW)
			search(c, f, stack);
}

/* ---- module-wide rules ---- */

static void check_entries(struct wgsl *c)
{
	struct function *f;

	for (f = c->functions; f; f = f->next)
		if (f->is_entry)
			return;
	if (!c->n_errors)
		pctl_wgsl_error(c, PC2426_WGSL_NO_ENTRY, c->sources[0]->base,
				c->sources[0]->base + 1,
				"write `@compute @workgroup_size(64) fn main() { .. }`",
				"the text has no entry point");
}

struct key {
	uint64_t key;
	const struct decl *at;
};

static const struct decl *find_or_add(struct key *table, uint32_t n, uint64_t key,
				      const struct decl *d)
{
	uint32_t at = (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 32) & (n - 1);

	for (; table[at].at; at = (at + 1) & (n - 1))
		if (table[at].key == key)
			return table[at].at;
	table[at].key = key;
	table[at].at = d;
	return NULL;
}

void pctl_wgsl_reach(struct wgsl *c, struct function *entry, uint32_t mark)
{
	struct function **todo;
	uint32_t n = 0, cap = 0;

	todo = pctl_wgsl_grow(c, NULL, 0, &cap, sizeof(struct function *));
	todo[n++] = entry;
	entry->reached = mark;
	while (n) {
		struct function *f = todo[--n];
		const struct call_edge *edge;
		const struct var_use *use;

		for (use = f->vars; use; use = use->next)
			use->var->last_use = mark;
		for (edge = f->calls; edge; edge = edge->next) {
			if (edge->callee->reached == mark)
				continue;
			edge->callee->reached = mark;
			todo = pctl_wgsl_grow(c, todo, n, &cap, sizeof(struct function *));
			todo[n++] = edge->callee;
		}
	}
}

/* One entry point holds one variable a binding; mark 0: all of the text. */
static void check_bindings(struct wgsl *c, uint32_t n, uint32_t mark)
{
	struct key *table = pctl_wgsl_alloc(c, n * sizeof(*table));
	const struct decl *d, *first;

	for (d = c->decls; d; d = d->next) {
		if (d->kind != DECL_VAR || !d->is_bound || (mark && d->last_use != mark))
			continue;
		first = find_or_add(table, n, (uint64_t)d->group << 16 | d->binding, d);
		if (first)
			pctl_wgsl_error_note(c, PC2424_WGSL_BINDING_TWICE, d->pos, d->end,
					     "give each variable its own", first->pos, first->end,
					     "the first is here",
					     "two variables have @group(%u) @binding(%u)", d->group,
					     d->binding);
	}
}

/* A variable that no entry point uses does not take the place of one that is used. */
static void forget_unused(struct wgsl *c, uint32_t n, uint32_t mark)
{
	struct key *table = pctl_wgsl_alloc(c, n * sizeof(*table));
	struct decl **at, *d;

	for (d = c->decls; d; d = d->next)
		if (d->kind == DECL_VAR && d->is_bound && d->last_use == mark)
			find_or_add(table, n, (uint64_t)d->group << 16 | d->binding, d);
	for (at = &c->decls; *at;) {
		d = *at;
		if (d->kind == DECL_VAR && d->is_bound && d->last_use != mark &&
		    find_or_add(table, n, (uint64_t)d->group << 16 | d->binding, d))
			pctl_wgsl_forget(c, at);
		else
			at = &d->next;
	}
	c->decls_end = at;
}

static void check_all_bindings(struct wgsl *c, uint32_t n)
{
	const uint32_t before = c->n_errors;
	uint32_t entries = 0;
	struct function *f;

	for (f = c->functions; f; f = f->next)
		entries += f->is_entry == 1;
	if (pctl_wgsl_is_first_rules(c) ||
	    (entries < 2 && c->options->flags & PCTL_WGSL_CONSENSUS)) {
		check_bindings(c, n, 0);
		return;
	}
	for (f = c->functions; f && c->n_errors == before; f = f->next) {
		if (f->is_entry != 1)
			continue;
		pctl_wgsl_reach(c, f, ++c->fn_number);
		check_bindings(c, n, c->fn_number);
		if (entries == 1 && c->n_errors == before)
			forget_unused(c, n, c->fn_number);
	}
}

/* An entry point holds one variable a binding, a text one override an id. */
static void check_unique(struct wgsl *c)
{
	uint32_t n = 16, count = 0;
	const struct decl *d, *first;
	struct key *table;

	for (d = c->decls; d; d = d->next)
		count++;
	while (n < 2 * count + 2)
		n *= 2;
	table = pctl_wgsl_alloc(c, n * sizeof(*table));
	check_all_bindings(c, n);
	for (d = c->decls; d; d = d->next) {
		if (d->kind == DECL_OVERRIDE && d->id != 0xffffffffu) {
			first = find_or_add(table, n, 1ull << 40 | d->id, d);
			if (first)
				pctl_wgsl_error_note(c, PC2427_WGSL_OVERRIDE, d->pos, d->end, NULL,
						     first->pos, first->end, "the first is here",
						     "two overrides have @id(%u)", d->id);
		}
	}
}

void pctl_wgsl_check_module(struct wgsl *c)
{
	struct function *f;
	struct decl *d;

	pctl_wgsl_declare_globals(c);
	pctl_wgsl_leave_out_stages(c);
	if (c->concrete) {
		pctl_wgsl_concrete_check(c);
		return;
	}
	for (d = c->decls; d; d = d->next)
		pctl_wgsl_resolve(c, d, d->pos, d->end);
	for (f = c->functions; f; f = f->next)
		pctl_wgsl_check_function(c, f);
	pctl_wgsl_check_calls(c);
	if (c->has_pointers)
		pctl_wgsl_check_aliases(c);
	check_unique(c);
	pctl_wgsl_meta_check(c);
	check_entries(c);
}
