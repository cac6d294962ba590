/* Statements: types, what may be written to, and the ways a statement may end (WGSL's behaviours).
 */
#include "compiler/wgsl/check.h"

static uint32_t block_or_none(struct wgsl *c, struct stmt *s)
{
	return s ? pctl_wgsl_check_stmt(c, s) : FLOW_NEXT;
}

uint32_t pctl_wgsl_check_block(struct wgsl *c, struct stmt *s, int own_scope)
{
	uint32_t flow = FLOW_NEXT, next;
	struct stmt *part;

	if (own_scope)
		pctl_wgsl_scope_enter(c);
	for (part = s->body; part; part = part->next) {
		next = pctl_wgsl_check_stmt(c, part);
		if (flow & FLOW_NEXT)
			flow = (flow & ~FLOW_NEXT) | next;
	}
	if (own_scope)
		pctl_wgsl_scope_leave(c);
	return flow;
}

static void condition(struct wgsl *c, struct expr *e, const char *what)
{
	if (pctl_wgsl_check_value(c, e)->kind != TY_ERROR)
		pctl_wgsl_coerce(c, e, &c->types.scalar[PCTL_SCALAR_BOOL], what);
}

static uint32_t if_stmt(struct wgsl *c, struct stmt *s)
{
	uint32_t flow;

	condition(c, s->a, "the condition");
	flow = pctl_wgsl_check_stmt(c, s->body);
	return flow | block_or_none(c, s->other);
}

/* ---- switch ---- */

struct seen {
	uint64_t value;
	const struct selector *at;
};

/* Open addressing by value; n is a power of two above twice the selectors. */
static void check_duplicate(struct wgsl *c, struct seen *table, uint32_t n,
			    const struct selector *s, uint64_t value)
{
	uint32_t at = (uint32_t)((value * 0x9e3779b97f4a7c15ull) >> 32) & (n - 1);

	for (; table[at].at; at = (at + 1) & (n - 1))
		if (table[at].value == value) {
			pctl_wgsl_error_note(c, PC2419_WGSL_SWITCH, s->pos, s->end, NULL,
					     table[at].at->pos, table[at].at->end,
					     "the first is here", "this value is selected twice");
			return;
		}
	table[at].at = s;
	table[at].value = value;
}

static void check_selector(struct wgsl *c, struct selector *s, const struct type *t)
{
	if (pctl_wgsl_is_error(s->e) || t->kind == TY_ERROR)
		return;
	if (s->e->stage != STAGE_CONST) {
		pctl_wgsl_not_constant(c, s->e, NULL,
				       "a selector must be known when the shader is compiled");
		return;
	}
	pctl_wgsl_coerce(c, s->e, t, "the selector");
}

/* The type of value and selectors: the concrete one among them, or i32. */
static const struct type *switch_type(struct wgsl *c, struct stmt *s)
{
	const struct type *t = pctl_wgsl_check_value(c, s->a), *found = t;
	struct clause *k;
	struct selector *sel;

	for (k = s->clauses; k; k = k->next)
		for (sel = k->selectors; sel; sel = sel->next)
			if (sel->e && pctl_wgsl_check_value(c, sel->e)->kind != TY_ERROR &&
			    pctl_wgsl_is_abstract(found))
				found = sel->e->type;
	if (t->kind == TY_ERROR)
		return t;
	found = pctl_wgsl_concrete(c, found);
	if (found->kind != TY_SCALAR ||
	    (found->scalar != PCTL_SCALAR_I32 && found->scalar != PCTL_SCALAR_U32)) {
		pctl_wgsl_error(c, PC2419_WGSL_SWITCH, s->a->pos, s->a->end, NULL,
				"switch takes an i32 or u32, not %s",
				pctl_wgsl_type_name(c, found));
		return &c->types.error;
	}
	return pctl_wgsl_coerce(c, s->a, found, "the value") ? found : &c->types.error;
}

static uint32_t switch_stmt(struct wgsl *c, struct stmt *s)
{
	const struct type *t = switch_type(c, s);
	const struct selector *first_default = NULL;
	uint32_t flow = 0, n = 16, count = 0;
	struct selector *sel;
	struct clause *k;
	struct seen *table;

	for (k = s->clauses; k; k = k->next)
		count += k->n_selectors;
	while (n < 2 * count + 2)
		n *= 2;
	table = pctl_wgsl_alloc(c, n * sizeof(*table));
	c->n_breakable++;
	for (k = s->clauses; k; k = k->next) {
		for (sel = k->selectors; sel; sel = sel->next) {
			if (sel->e) {
				check_selector(c, sel, t);
				if (sel->e->type == t && t->kind != TY_ERROR &&
				    sel->e->stage == STAGE_CONST)
					check_duplicate(c, table, n, sel,
							pctl_wgsl_leaf(sel->e, 0));
			} else if (first_default) {
				pctl_wgsl_error_note(c, PC2419_WGSL_SWITCH, sel->pos, sel->end,
						     NULL, first_default->pos, first_default->end,
						     "the first is here", "there are two defaults");
			} else {
				first_default = sel;
			}
		}
		flow |= pctl_wgsl_check_stmt(c, k->body);
	}
	c->n_breakable--;
	if (!first_default)
		pctl_wgsl_error(c, PC2419_WGSL_SWITCH, s->pos, s->end, "add `default: {}`",
				"switch needs a default");
	if (flow & FLOW_BREAK)
		flow = (flow & ~FLOW_BREAK) | FLOW_NEXT;
	return flow ? flow : FLOW_NEXT;
}

/* ---- assignments ---- */

/* The variable an expression writes to. */
static const struct expr *root_of(const struct expr *e)
{
	while (e->kind == EX_MEMBER || e->kind == EX_INDEX || e->kind == EX_DEREF ||
	       e->kind == EX_ADDRESS)
		e = e->a;
	return e;
}

static int check_target(struct wgsl *c, struct expr *e)
{
	const struct expr *root;

	pctl_wgsl_check_expr(c, e);
	if (pctl_wgsl_is_error(e))
		return 0;
	root = root_of(e);
	if (!e->ref) {
		if (e->kind == EX_MEMBER && e->a->ref && e->n_args > 1)
			pctl_wgsl_error(c, PC2414_WGSL_NOT_ASSIGNABLE, e->pos, e->end,
					"assign the components one by one",
					"a swizzle cannot be assigned to");
		else if (root->kind == EX_NAME && root->decl)
			pctl_wgsl_error_note(
				c, PC2414_WGSL_NOT_ASSIGNABLE, e->pos, e->end,
				root->decl->kind == DECL_LET || root->decl->kind == DECL_PARAM
					? "copy it into a `var`"
					: NULL,
				root->decl->pos, root->decl->end, "it is declared here",
				"\"%s\" cannot be assigned to", pctl_wgsl_sym_text(c, root->sym));
		else
			pctl_wgsl_error(c, PC2414_WGSL_NOT_ASSIGNABLE, e->pos, e->end, NULL,
					"a value cannot be assigned to");
		return 0;
	}
	if (!(e->access & PCTL_ACCESS_WRITE)) {
		pctl_wgsl_error(c, PC2415_WGSL_ACCESS, e->pos, e->end,
				e->space == PCTL_SPACE_STORAGE
					? "declare it var<storage, read_write>"
					: NULL,
				"this memory is read-only");
		return 0;
	}
	if (!e->type->plain) {
		pctl_wgsl_error(c,
				e->type->kind == TY_ATOMIC ? PC2433_WGSL_ATOMIC : PC2404_WGSL_TYPE,
				e->pos, e->end,
				e->type->kind == TY_ATOMIC ? "use atomicStore(&.., value)" : NULL,
				"%s cannot be assigned to", pctl_wgsl_type_name(c, e->type));
		return 0;
	}
	pctl_wgsl_check_assigned(c, root);
	return 1;
}

static void assign(struct wgsl *c, struct stmt *s)
{
	const struct type *t;
	int ok;

	if (!s->a) {
		if (pctl_wgsl_check_value(c, s->b)->kind != TY_ERROR)
			pctl_wgsl_settle(c, s->b);
		return;
	}
	ok = check_target(c, s->a);
	t = pctl_wgsl_check_value(c, s->b);
	if (!ok || t->kind == TY_ERROR)
		return;
	if (s->op != T_EQ) {
		t = pctl_wgsl_operator_type(c, s->op, s->a, s->b, s->pos, s->end);
		if (t && t != s->a->type)
			pctl_wgsl_error(c, PC2404_WGSL_TYPE, s->pos, s->end, NULL,
					"the result is %s, but the variable is %s",
					pctl_wgsl_type_name(c, t),
					pctl_wgsl_type_name(c, s->a->type));
		return;
	}
	pctl_wgsl_coerce(c, s->b, s->a->type, "the value");
}

static void step(struct wgsl *c, struct stmt *s)
{
	if (!check_target(c, s->a))
		return;
	if (s->a->type->kind != TY_SCALAR || !pctl_wgsl_is_integer(s->a->type->scalar))
		pctl_wgsl_error(c, PC2405_WGSL_OPERATOR, s->pos, s->end, NULL,
				"%s takes an integer, not %s", s->op == T_PLUS ? "++" : "--",
				pctl_wgsl_type_name(c, s->a->type));
}

static void call_stmt(struct wgsl *c, struct stmt *s)
{
	const uint32_t droppable =
		BF_DROPPABLE |
		(pctl_wgsl_is_first_rules(c) ? BF_DROPPABLE_FIRST : BF_DROPPABLE_LATER);
	struct expr *e = s->a;

	pctl_wgsl_check_expr(c, e);
	if (pctl_wgsl_is_error(e) || e->type->kind == TY_VOID)
		return;
	if (e->call == CALL_FUNCTION ? !e->decl->function->must_use
				     : e->call == CALL_BUILTIN &&
					       (pctl_wgsl_builtin_at(e->index)->flags & droppable))
		return;
	pctl_wgsl_error(c, PC2430_WGSL_RESULT_UNUSED, e->pos, e->end, "write `_ = ..` to drop it",
			"the value of this call is not used");
}

static void local_decl(struct wgsl *c, struct decl *d)
{
	d->state = DECL_DONE;
	if (d->kind == DECL_OVERRIDE) {
		pctl_wgsl_error(c, PC2427_WGSL_OVERRIDE, d->pos, d->end,
				"move it out of the function",
				"an override stands at module scope");
		d->type = &c->types.error;
	} else if (d->kind != DECL_ERROR) {
		if (d->kind == DECL_VAR && d->space && d->space != PCTL_SPACE_FUNCTION) {
			pctl_wgsl_error(c, PC2420_WGSL_ADDRESS_SPACE, d->pos, d->end,
					"move it out of the function",
					"a variable of this space stands at module scope");
		}
		d->space = PCTL_SPACE_FUNCTION;
		d->access = PCTL_ACCESS_READ_WRITE;
		pctl_wgsl_check_value_decl(c, d);
		if (d->kind == DECL_VAR && d->type->kind != TY_ERROR && !d->type->plain) {
			pctl_wgsl_error(c, PC2421_WGSL_STORE_TYPE, d->pos, d->end, NULL,
					"a variable of a function cannot hold %s",
					pctl_wgsl_type_name(c, d->type));
			d->type = &c->types.error;
		}
	} else {
		d->type = &c->types.error;
	}
	pctl_wgsl_declare_local(c, d);
}

static void return_stmt(struct wgsl *c, struct stmt *s)
{
	const struct type *want = c->fn->return_type;
	const struct type *found = s->a ? pctl_wgsl_check_value(c, s->a) : NULL;

	if (pctl_wgsl_in_continuing(c, s) || want->kind == TY_ERROR ||
	    (found && found->kind == TY_ERROR))
		return;
	if (want->kind == TY_VOID && s->a)
		pctl_wgsl_error(c, PC2417_WGSL_RETURN, s->a->pos, s->a->end,
				"write `-> TYPE` behind the parameters",
				"this function returns nothing");
	else if (want->kind != TY_VOID && !s->a)
		pctl_wgsl_error(c, PC2417_WGSL_RETURN, s->pos, s->end, NULL,
				"a value of %s must be returned", pctl_wgsl_type_name(c, want));
	else if (s->a)
		pctl_wgsl_coerce(c, s->a, want, "the returned value");
}

static uint32_t jump(struct wgsl *c, struct stmt *s)
{
	if (s->kind == ST_BREAK ? c->n_breakable : c->n_loops) {
		if (s->kind == ST_CONTINUE)
			pctl_wgsl_note_continue(c, s);
		return s->kind == ST_BREAK ? FLOW_BREAK : FLOW_CONTINUE;
	}
	if (pctl_wgsl_in_continuing(c, s))
		return FLOW_NEXT;
	pctl_wgsl_error(c, PC2418_WGSL_JUMP, s->pos, s->end, NULL,
			s->kind == ST_BREAK ? "`break` stands outside of any loop or switch"
					    : "`continue` stands outside of any loop");
	return FLOW_NEXT;
}

uint32_t pctl_wgsl_check_stmt(struct wgsl *c, struct stmt *s)
{
	switch (s->kind) {
	case ST_BLOCK:
		return pctl_wgsl_check_block(c, s, 1);
	case ST_IF:
		return if_stmt(c, s);
	case ST_SWITCH:
		return switch_stmt(c, s);
	case ST_FOR:
		return pctl_wgsl_check_for(c, s);
	case ST_LOOP:
		return pctl_wgsl_check_loop(c, s);
	case ST_CONTINUING:
		return pctl_wgsl_check_continuing(c, s);
	case ST_BREAK_IF:
		condition(c, s->a, "the condition");
		return FLOW_NEXT;
	case ST_REFUSED_LOOP:
		if (s->a)
			condition(c, s->a, "the condition");
		c->n_breakable++;
		c->n_loops++;
		block_or_none(c, s->body);
		c->n_breakable--;
		c->n_loops--;
		return FLOW_NEXT;
	case ST_BREAK:
	case ST_CONTINUE:
		return jump(c, s);
	case ST_RETURN:
		return_stmt(c, s);
		return FLOW_RETURN;
	case ST_ASSIGN:
		assign(c, s);
		return FLOW_NEXT;
	case ST_STEP:
		step(c, s);
		return FLOW_NEXT;
	case ST_CALL:
		call_stmt(c, s);
		return FLOW_NEXT;
	case ST_DECL:
		local_decl(c, s->decl);
		return FLOW_NEXT;
	case ST_ASSERT:
		if (s->decl->kind != DECL_ERROR)
			pctl_wgsl_check_assert(c, s->decl);
		return FLOW_NEXT;
	case ST_DISCARD:
		pctl_wgsl_error(c, PC2206_WGSL_DISCARD, s->pos, s->end, "use `return`",
				"`discard` belongs to fragment shaders");
		return FLOW_NEXT;
	default:
		return FLOW_NEXT;
	}
}
