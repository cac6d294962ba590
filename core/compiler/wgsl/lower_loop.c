/* Lowering of loops. `while` is a `for` with a condition alone. */
#include "compiler/wgsl/lower.h"

static void at_stmt(struct lower *l, const struct stmt *s)
{
	l->pos = s->pos;
	l->end = s->end;
}

/* Whether the part of the chain up to `e` can be computed without branching. */
static int straight(const struct lower *l, const struct expr *e)
{
	if (e->kind != EX_BINARY || e->op != T_ANDAND || e->stage != STAGE_RUNTIME)
		return 1;
	return pctl_wgsl_is_pure(l, e->b) && straight(l, e->a);
}

/* What a loop tests. Operands of && that may not be computed when an earlier one is false leave the
 * loop from inside its body, so that the bound in the condition stays plain to see. */
static void loop_test(struct lower *l, const struct expr *e)
{
	const struct expr *test = e;
	uint32_t value;

	if (!e) {
		pctl_wgsl_control_value(l, PCTL_OP_LOOP_TEST,
					pctl_wgsl_const(l, PCTL_SCALAR_BOOL, 1));
		return;
	}
	while (!straight(l, test))
		test = test->a;
	value = pctl_wgsl_lower_value(l, test);
	pctl_wgsl_at_expr(l, e);
	pctl_wgsl_control_value(l, PCTL_OP_LOOP_TEST, value);
}

static void loop_leave(struct lower *l, const struct expr *e)
{
	uint32_t value;

	if (!e || straight(l, e))
		return;
	loop_leave(l, e->a);
	value = pctl_wgsl_lower_value(l, e->b);
	value = pctl_wgsl_emit1(l, PCTL_OP_NOT, e->b->type, value);
	pctl_wgsl_control_value(l, PCTL_OP_IF, value);
	pctl_wgsl_control(l, PCTL_OP_BREAK);
	pctl_wgsl_control(l, PCTL_OP_END_IF);
}

/* What is kept of the code around while a loop's body is lowered. */
struct around {
	uint32_t *broken_out, *continued;
	uint32_t breaks, continues, flagged;
};

/* Behind the test, where the body starts. */
static void enter_body(struct lower *l, struct around *a)
{
	*a = (struct around){l->broken_out, l->continued, 0, 0, 0};
	l->broken_out = &a->breaks;
	l->continued = &a->continues;
	a->flagged = pctl_wgsl_breakable_enter(l);
}

/* To the update; 1 where it is reached. */
static int leave_body(struct lower *l, const struct stmt *s, struct around *a)
{
	const int is_reached = !l->terminated || a->continues;

	l->broken_out = a->broken_out;
	l->continued = a->continued;
	l->terminated = 0;
	at_stmt(l, s);
	pctl_wgsl_control(l, PCTL_OP_CONTINUING);
	return is_reached;
}

/* is_endless: nothing but a `break` leads behind it. */
static void end_loop(struct lower *l, const struct stmt *s, const struct around *a, int is_endless)
{
	at_stmt(l, s);
	pctl_wgsl_control(l, PCTL_OP_END_LOOP);
	l->terminated = is_endless && !a->breaks;
	if (l->inlined)
		pctl_wgsl_breakable_leave(l, a->flagged, (int)l->terminated);
	else if (l->terminated && l->fn->return_type->kind == TY_VOID)
		/* The IR ends a function by a RETURN, also where nobody arrives. */
		pctl_wgsl_control(l, PCTL_OP_RETURN);
	else if (l->terminated)
		pctl_wgsl_control_value(l, PCTL_OP_RETURN, pctl_wgsl_zero(l, l->fn->return_type));
}

void pctl_wgsl_lower_for(struct lower *l, const struct stmt *s)
{
	struct around a;

	if (s->other)
		pctl_wgsl_lower_stmt(l, s->other);
	at_stmt(l, s);
	pctl_wgsl_control(l, PCTL_OP_LOOP);
	loop_test(l, s->a);
	enter_body(l, &a);
	loop_leave(l, s->a);
	pctl_wgsl_lower_stmt(l, s->body);
	leave_body(l, s, &a);
	if (s->update)
		pctl_wgsl_lower_stmt(l, s->update);
	end_loop(l, s, &a, !s->a);
}

/* ---- loop --------------------------------------------------------------------------------- */

/* A value of the body that its `continuing` uses. There it is another one: regions of the program end their values. */
struct kept {
	struct kept *next;
	uint32_t *value, root;
};

static void keep(struct lower *l, struct kept **list, uint32_t *value)
{
	struct kept *k;

	if (!(*value & VALUE_BODY))
		return;
	k = WGSL_NEW(l->c, struct kept);
	*k = (struct kept){*list, value, pctl_wgsl_spill(l, *value)};
	*list = k;
}

/* A `let`; of a pointer the indices on the way to where it points. */
static void keep_let(struct lower *l, struct kept **list, struct decl *d)
{
	struct place p;
	uint32_t i;

	if (d->kind != DECL_LET || !d->in_continuing)
		return;
	if (d->type->kind != TY_POINTER) {
		keep(l, list, &d->value);
		return;
	}
	p = pctl_wgsl_own_steps(l, d->place);
	*d->place = p;
	for (i = 0; i < p.n; i++)
		if (p.steps[i].kind == WORD_VALUE)
			keep(l, list, &p.steps[i].v);
}

static void update(struct lower *l, const struct stmt *continuing, const struct kept *kept,
		   const struct place *left)
{
	const struct stmt *leave = pctl_wgsl_break_if_of(continuing), *part;

	for (; kept; kept = kept->next)
		*kept->value = pctl_wgsl_reload(l, kept->root);
	for (part = continuing->body->body; part != leave && !l->terminated; part = part->next)
		pctl_wgsl_lower_stmt(l, part);
	if (leave && !l->terminated)
		pctl_wgsl_store(l, left, pctl_wgsl_lower_value(l, leave->a));
}

/* What `break if` finds is kept in a local, and tested where the next turn would begin. */
void pctl_wgsl_lower_loop(struct lower *l, const struct stmt *s)
{
	const struct stmt *continuing = pctl_wgsl_continuing_of(s), *part;
	const struct stmt *leave = pctl_wgsl_break_if_of(continuing);
	const struct type *t = &l->c->types.scalar[PCTL_SCALAR_BOOL];
	struct place left = {.type = t};
	struct kept *kept = NULL;
	struct around a;
	uint32_t value;

	if (leave) {
		left.root = pctl_wgsl_new_local(l, "", t);
		pctl_wgsl_store(l, &left, pctl_wgsl_const(l, PCTL_SCALAR_BOOL, 0));
	}
	pctl_wgsl_control(l, PCTL_OP_LOOP);
	value = leave ? pctl_wgsl_emit1(l, PCTL_OP_NOT, t,
					pctl_wgsl_load(l, PCTL_OP_LOAD, t, &left))
		      : pctl_wgsl_const(l, PCTL_SCALAR_BOOL, 1);
	pctl_wgsl_control_value(l, PCTL_OP_LOOP_TEST, value);
	enter_body(l, &a);
	for (part = s->body->body; part && part != continuing && !l->terminated;
	     part = part->next) {
		pctl_wgsl_lower_stmt(l, part);
		if (part->kind == ST_DECL)
			keep_let(l, &kept, part->decl);
	}
	if (leave_body(l, s, &a) && continuing)
		update(l, continuing, kept, &left);
	l->terminated = 0;
	end_loop(l, s, &a, !leave);
}
