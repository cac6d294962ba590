/* Lowering of statements to structured control. Text behind a jump is checked but not lowered. */
#include "compiler/wgsl/lower.h"

static void at_stmt(struct lower *l, const struct stmt *s)
{
	l->pos = s->pos;
	l->end = s->end;
}

void pctl_wgsl_lower_block(struct lower *l, const struct stmt *s)
{
	const struct stmt *part;

	for (part = s->body; part && !l->terminated; part = part->next)
		pctl_wgsl_lower_stmt(l, part);
}

static void declare(struct lower *l, struct decl *d)
{
	struct place p = {.type = d->type};
	uint32_t value;

	if (d->kind == DECL_CONST)
		return;
	if (d->type->kind == TY_POINTER) {
		if (!d->place)
			d->place = WGSL_NEW(l->c, struct place);
		pctl_wgsl_lower_place(l, d->init, d->place);
		return;
	}
	value = d->init ? pctl_wgsl_lower_value(l, d->init) : pctl_wgsl_zero(l, d->type);
	if (d->kind == DECL_LET) {
		d->value = value;
		return;
	}
	l->pos = d->pos;
	l->end = d->init ? d->init->end : d->end;
	/* Text that is written out again takes the same local: what was in it is over. */
	if (d->local_of != l->number)
		d->index = pctl_wgsl_new_local(l, pctl_wgsl_sym_text(l->c, d->sym), d->type);
	d->local_of = l->number;
	p.root = d->index;
	pctl_wgsl_store(l, &p, value);
}

static void assign(struct lower *l, const struct stmt *s)
{
	uint32_t value, old;
	struct place p;

	if (!s->a) {
		pctl_wgsl_lower_value(l, s->b);
		return;
	}
	pctl_wgsl_lower_place(l, s->a, &p);
	if (s->op == T_EQ) {
		value = pctl_wgsl_lower_value(l, s->b);
	} else {
		pctl_wgsl_at_expr(l, s->a);
		old = pctl_wgsl_load(l, PCTL_OP_LOAD, s->a->type, &p);
		value = pctl_wgsl_lower_value(l, s->b);
		at_stmt(l, s);
		value = pctl_wgsl_lower_operator(l, s->op, s->a->type, old, s->a->type, value,
						 s->b->type);
	}
	at_stmt(l, s);
	pctl_wgsl_store(l, &p, value);
}

static void step(struct lower *l, const struct stmt *s)
{
	const struct type *t = s->a->type;
	struct place p;
	uint32_t value;

	pctl_wgsl_lower_place(l, s->a, &p);
	at_stmt(l, s);
	value = pctl_wgsl_load(l, PCTL_OP_LOAD, t, &p);
	value = pctl_wgsl_emit2(l, s->op == T_PLUS ? PCTL_OP_ADD : PCTL_OP_SUB, t, value,
				pctl_wgsl_const(l, t->scalar, 1));
	pctl_wgsl_store(l, &p, value);
}

static void if_stmt(struct lower *l, const struct stmt *s)
{
	uint32_t value = pctl_wgsl_lower_value(l, s->a), ended;

	pctl_wgsl_control_value(l, PCTL_OP_IF, value);
	pctl_wgsl_lower_stmt(l, s->body);
	ended = l->terminated;
	l->terminated = 0;
	if (s->other) {
		at_stmt(l, s->other);
		pctl_wgsl_control(l, PCTL_OP_ELSE);
		pctl_wgsl_lower_stmt(l, s->other);
		ended &= l->terminated;
	} else {
		ended = 0;
	}
	at_stmt(l, s);
	pctl_wgsl_control(l, PCTL_OP_END_IF);
	l->terminated = ended;
}

static void switch_stmt(struct lower *l, const struct stmt *s)
{
	uint32_t value = pctl_wgsl_lower_value(l, s->a), *outer = l->broken_out, breaks = 0,
		 ended = 1, flagged = pctl_wgsl_breakable_enter(l);
	const struct selector *sel;
	const struct clause *k;
	struct word *w;

	pctl_wgsl_control_value(l, PCTL_OP_SWITCH, value);
	l->broken_out = &breaks;
	for (k = s->clauses; k; k = k->next) {
		uint32_t n = 1;

		w = pctl_wgsl_alloc(l->c, (k->n_selectors + 1) * sizeof(*w));
		for (sel = k->selectors; sel; sel = sel->next) {
			if (!sel->e)
				w[0].v = 1;
			else
				w[n++].v = (uint32_t)pctl_wgsl_leaf(sel->e, 0);
		}
		l->pos = k->pos;
		l->end = k->end;
		pctl_wgsl_emit(l, PCTL_OP_CASE, 0, w, n);
		pctl_wgsl_lower_stmt(l, k->body);
		ended &= l->terminated;
		l->terminated = 0;
	}
	l->broken_out = outer;
	at_stmt(l, s);
	pctl_wgsl_control(l, PCTL_OP_END_SWITCH);
	l->terminated = ended && !breaks;
	pctl_wgsl_breakable_leave(l, flagged, (int)l->terminated);
}

static void jump(struct lower *l, const struct stmt *s)
{
	uint32_t value;

	if (s->kind == ST_RETURN && l->inlined) {
		pctl_wgsl_inlined_return(l, s, s->a ? pctl_wgsl_lower_value(l, s->a) : 0);
		return;
	}
	if (s->kind == ST_RETURN && s->a) {
		value = pctl_wgsl_lower_value(l, s->a);
		at_stmt(l, s);
		pctl_wgsl_control_value(l, PCTL_OP_RETURN, value);
	} else {
		pctl_wgsl_control(l, s->kind == ST_RETURN  ? PCTL_OP_RETURN
				     : s->kind == ST_BREAK ? PCTL_OP_BREAK
							   : PCTL_OP_CONTINUE);
	}
	if (s->kind == ST_BREAK && l->broken_out)
		*l->broken_out = 1;
	if (s->kind == ST_CONTINUE && l->continued)
		*l->continued = 1;
	l->terminated = 1;
}

void pctl_wgsl_lower_stmt(struct lower *l, const struct stmt *s)
{
	at_stmt(l, s);
	pctl_wgsl_step_in(l);
	switch (s->kind) {
	case ST_BLOCK:
		pctl_wgsl_lower_block(l, s);
		break;
	case ST_IF:
		if_stmt(l, s);
		break;
	case ST_SWITCH:
		switch_stmt(l, s);
		break;
	case ST_FOR:
		pctl_wgsl_lower_for(l, s);
		break;
	case ST_LOOP:
		pctl_wgsl_lower_loop(l, s);
		break;
	case ST_BREAK:
	case ST_CONTINUE:
	case ST_RETURN:
		jump(l, s);
		break;
	case ST_ASSIGN:
		assign(l, s);
		break;
	case ST_STEP:
		step(l, s);
		break;
	case ST_CALL:
		if (s->a->stage == STAGE_RUNTIME)
			pctl_wgsl_lower_call(l, s->a);
		break;
	case ST_DECL:
		declare(l, s->decl);
		break;
	default: /* const_assert; what is refused never comes here */
		break;
	}
	l->c->nesting--;
}
