/* `for`. The consensus rules read a bound from the header alone, and what it lacks is said here, with good positions;
 * elsewhere a header is what WGSL takes. Whether a bound holds is proved on the program (compiler/analysis/analyse.h). */
#include "compiler/wgsl/check.h"
#include "compiler/wgsl/float.h"

static int header_must_bound(const struct wgsl *c)
{
	return (c->options->flags & (PCTL_WGSL_CONSENSUS | PCTL_WGSL_RULES_1)) != 0;
}

/* The variable the header counts with: declared or set by the initialiser. */
static struct decl *loop_variable(const struct stmt *init)
{
	if (!init)
		return NULL;
	if (init->kind == ST_DECL)
		return init->decl->kind == DECL_VAR ? init->decl : NULL;
	if (init->kind == ST_ASSIGN && init->op == T_EQ && init->a && init->a->kind == EX_NAME)
		return init->a->decl && init->a->decl->kind == DECL_VAR && !init->a->decl->is_global
			       ? init->a->decl
			       : NULL;
	return NULL;
}

static int is_variable(const struct expr *e, const struct decl *d)
{
	return e->kind == EX_NAME && e->decl == d;
}

static int is_step(const struct expr *e)
{
	return e->type->kind == TY_ERROR || e->stage != STAGE_RUNTIME;
}

/* i++, i--, i += c, i = i + c, i = c + i, and the other operators in the same way. */
static int steps_by_constant(const struct stmt *s, const struct decl *d)
{
	const struct expr *b = s->b;

	if (!s->a || !is_variable(s->a, d))
		return 0;
	if (s->kind == ST_STEP)
		return 1;
	if (s->kind != ST_ASSIGN)
		return 0;
	if (s->op != T_EQ)
		return is_step(b);
	if (b->kind != EX_BINARY)
		return 0;
	if (is_variable(b->a, d))
		return is_step(b->b);
	return (b->op == T_PLUS || b->op == T_STAR) && is_variable(b->b, d) && is_step(b->a);
}

static int mentions(const struct expr *e, const struct decl *d)
{
	const struct expr *part;

	if (e->kind == EX_NAME)
		return e->decl == d;
	if (e->kind == EX_CALL) {
		for (part = e->a; part; part = part->next)
			if (mentions(part, d))
				return 1;
		return 0;
	}
	return (e->a && mentions(e->a, d)) || (e->b && mentions(e->b, d));
}

static void check_header(struct wgsl *c, const struct stmt *s, const struct decl *d)
{
	const char *name;

	if (!s->a)
		pctl_wgsl_error(c, PC2210_WGSL_FOR_CONDITION, s->pos, s->end,
				"write `for (var i = 0u; i < LIMIT; i++)`",
				"`for` without a condition has no bound");
	if (!d) {
		if (!s->other || s->other->kind == ST_DECL || s->other->kind == ST_ASSIGN ||
		    s->other->kind == ST_STEP || s->other->kind == ST_CALL)
			if (!s->other || s->other->kind != ST_DECL ||
			    s->other->decl->kind != DECL_ERROR)
				pctl_wgsl_error(
					c, PC2218_WGSL_FOR_VARIABLE_MISSING,
					s->other ? s->other->pos : s->pos,
					s->other ? s->other->end : s->end,
					"write `for (var i = 0u; ..`",
					"the initialiser of `for` must declare or set the variable "
					"it counts with");
		return;
	}
	name = pctl_wgsl_sym_text(c, d->sym);
	if (d->type && pctl_wgsl_is_float(pctl_wgsl_scalar_of(d->type)))
		pctl_wgsl_error(c, PC2218_WGSL_FOR_VARIABLE_MISSING, s->other->pos, s->other->end,
				"count with an integer and convert it in the body",
				"the initialiser of `for` must declare or set an integer, not %s",
				pctl_wgsl_type_name(c, d->type));
	if (s->a && !pctl_wgsl_is_error(s->a) && !mentions(s->a, d))
		pctl_wgsl_error(c, PC2210_WGSL_FOR_CONDITION, s->a->pos, s->a->end, NULL,
				"the condition does not look at \"%s\", so it bounds nothing",
				name);
	if (!s->update)
		pctl_wgsl_error(c, PC2212_WGSL_FOR_STEP, s->pos, s->end,
				pctl_wgsl_format(c, "write `%s++` at the end of the header", name),
				"`for` must step \"%s\" in its header", name);
	else if (s->update->kind != ST_ERROR && !steps_by_constant(s->update, d))
		pctl_wgsl_error(c, PC2212_WGSL_FOR_STEP, s->update->pos, s->update->end,
				pctl_wgsl_format(c, "write `%s++` or `%s += CONSTANT`", name, name),
				"the update must step \"%s\" by a constant", name);
}

void pctl_wgsl_check_assigned(struct wgsl *c, const struct expr *target)
{
	const struct for_loop *l;

	for (l = c->loop; l && target->decl && header_must_bound(c); l = l->outer) {
		if (l->variable != target->decl || l->update)
			continue;
		pctl_wgsl_error_note(c, PC2211_WGSL_FOR_ASSIGNED, target->pos, target->end,
				     "use another variable, or `break`", target->decl->pos,
				     target->decl->end, "the loop counts with it",
				     "\"%s\" is changed inside the loop it bounds",
				     pctl_wgsl_sym_text(c, target->sym));
		return;
	}
}

/* A change through a pointer escapes the rule above; the analysis of the program sees it. */
uint32_t pctl_wgsl_check_for(struct wgsl *c, struct stmt *s)
{
	struct for_loop loop = {.outer = c->loop};
	uint32_t flow;

	pctl_wgsl_scope_enter(c);
	if (s->other)
		pctl_wgsl_check_stmt(c, s->other);
	loop.variable = loop_variable(s->other);
	c->loop = &loop;
	if (s->a && pctl_wgsl_check_value(c, s->a)->kind != TY_ERROR)
		pctl_wgsl_coerce(c, s->a, &c->types.scalar[PCTL_SCALAR_BOOL], "the condition");
	c->n_breakable++;
	c->n_loops++;
	pctl_wgsl_enter_body(c, s);
	flow = pctl_wgsl_check_block(c, s->body, 1);
	pctl_wgsl_leave_body(c);
	c->n_breakable--;
	c->n_loops--;
	loop.update = s->update;
	if (s->update)
		pctl_wgsl_check_stmt(c, s->update);
	c->loop = loop.outer;
	if (header_must_bound(c))
		check_header(c, s, loop.variable);
	else if (!s->a && !(flow & (FLOW_BREAK | FLOW_RETURN)))
		pctl_wgsl_error(c, PC2210_WGSL_FOR_CONDITION, s->pos, s->end,
				"write `for (var i = 0u; i < LIMIT; i++)`, or `break`",
				"`for` without a condition is never left");
	pctl_wgsl_scope_leave(c);
	return (flow & FLOW_RETURN) |
	       (s->a || header_must_bound(c) || (flow & FLOW_BREAK) ? FLOW_NEXT : 0);
}
