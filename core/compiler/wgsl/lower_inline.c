/* A function with pointers written out in place of its call, for pointers to locals of the caller. A `return` at the end is
 * no jump; one before it leaves a block by BREAK, through the loops and switches between by a flag. */
#include "compiler/wgsl/lower_pointer.h"

/* How the body of a function is left: only at its end, from before it, from inside loops or switches too. */
enum { EXITS_UNKNOWN, EXITS_LAST, EXITS_EARLY, EXITS_INSIDE };

static int returns(const struct stmt *s)
{
	const struct clause *k;
	const struct stmt *part;

	if (!s)
		return 0;
	if (s->kind == ST_RETURN)
		return 1;
	for (k = s->clauses; k; k = k->next)
		if (returns(k->body))
			return 1;
	if (s->kind != ST_BLOCK)
		return returns(s->body) || (s->kind == ST_IF && returns(s->other));
	for (part = s->body; part; part = part->next)
		if (returns(part))
			return 1;
	return 0;
}

/* Does something of the statement follow a `return` in it? Not where each is the last thing done on its way. */
static int leaves_early(const struct stmt *s)
{
	const struct clause *k;
	const struct stmt *part;

	switch (s->kind) {
	case ST_BLOCK:
		for (part = s->body; part && part->next && part->kind != ST_RETURN;
		     part = part->next)
			if (returns(part))
				return 1;
		return part && leaves_early(part);
	case ST_IF:
		return leaves_early(s->body) || (s->other && leaves_early(s->other));
	case ST_SWITCH:
		for (k = s->clauses; k; k = k->next)
			if (leaves_early(k->body))
				return 1;
		return 0;
	case ST_RETURN:
		return 0;
	default:
		return returns(s);
	}
}

static int returns_inside(const struct stmt *s)
{
	const struct stmt *part;

	if (s->kind == ST_RETURN)
		return 0;
	if (s->kind == ST_IF)
		return returns_inside(s->body) || (s->other && returns_inside(s->other));
	if (s->kind != ST_BLOCK)
		return returns(s);
	for (part = s->body; part; part = part->next)
		if (returns_inside(part))
			return 1;
	return 0;
}

/* Locals of the function that is open now; the same ones when the callee is written out in it again. */
static struct place result(struct lower *l, struct function *f)
{
	if (f->result_of != l->number)
		f->result = pctl_wgsl_new_local(l, "", f->return_type);
	f->result_of = l->number;
	return (struct place){.root = f->result, .type = f->return_type};
}

static struct place flag(struct lower *l)
{
	const struct type *t = &l->c->types.scalar[PCTL_SCALAR_BOOL];
	struct function *f = l->inlined->f;

	if (f->returned_of != l->number)
		f->returned = pctl_wgsl_new_local(l, "", t);
	f->returned_of = l->number;
	return (struct place){.root = f->returned, .type = t};
}

void pctl_wgsl_inlined_return(struct lower *l, const struct stmt *s, uint32_t value)
{
	struct inlined *in = l->inlined;
	struct place p;

	l->pos = s->pos;
	l->end = s->end;
	if (s->a && !in->has_block && l->regions == in->regions) {
		in->value = value; /* the one return, at the very end */
	} else if (s->a) {
		p = result(l, in->f);
		pctl_wgsl_store(l, &p, value);
	}
	if (in->breakable && in->has_block) {
		p = flag(l);
		pctl_wgsl_store(l, &p, pctl_wgsl_const(l, PCTL_SCALAR_BOOL, 1));
		in->is_flagged = 1;
	}
	if (in->has_block)
		pctl_wgsl_control(l, PCTL_OP_BREAK);
	l->terminated = 1;
}

uint32_t pctl_wgsl_breakable_enter(struct lower *l)
{
	uint32_t outer = 0;

	if (l->inlined) {
		outer = l->inlined->is_flagged;
		l->inlined->is_flagged = 0;
		l->inlined->breakable++;
	}
	return outer;
}

void pctl_wgsl_breakable_leave(struct lower *l, uint32_t outer, int only_returns)
{
	struct inlined *in = l->inlined;
	struct place p;

	if (!in)
		return;
	in->breakable--;
	if (in->is_flagged && only_returns) {
		pctl_wgsl_control(l, PCTL_OP_BREAK);
	} else if (in->is_flagged) {
		p = flag(l);
		pctl_wgsl_control_value(l, PCTL_OP_IF, pctl_wgsl_load(l, PCTL_OP_LOAD, p.type, &p));
		pctl_wgsl_control(l, PCTL_OP_BREAK);
		pctl_wgsl_control(l, PCTL_OP_END_IF);
	}
	in->is_flagged |= outer;
}

/* A SWITCH of one case is the block that a BREAK leaves. */
static void open_block(struct lower *l)
{
	const struct word is_default = {WORD_LITERAL, 1};
	struct place p;

	if (l->inlined->f->exits == EXITS_INSIDE) {
		p = flag(l);
		pctl_wgsl_store(l, &p, pctl_wgsl_const(l, PCTL_SCALAR_BOOL, 0));
	}
	pctl_wgsl_control_value(l, PCTL_OP_SWITCH, pctl_wgsl_const(l, PCTL_SCALAR_U32, 0));
	pctl_wgsl_emit(l, PCTL_OP_CASE, 0, &is_default, 1);
}

uint32_t pctl_wgsl_write_out(struct lower *l, const struct arguments *x)
{
	struct inlined in = {.outer = l->inlined, .f = x->f, .value = VALUE_NONE};
	struct function *caller = l->fn;
	uint32_t *broken_out = l->broken_out, i = 0;
	struct place at;
	struct decl *p;

	if (!x->f->exits)
		x->f->exits = !leaves_early(x->f->body)	   ? EXITS_LAST
			      : returns_inside(x->f->body) ? EXITS_INSIDE
							   : EXITS_EARLY;
	in.has_block = x->f->exits != EXITS_LAST;
	for (p = x->f->params; p; p = p->next, i++) {
		if (p->type->kind == TY_POINTER)
			*pctl_wgsl_place_of(l, p) = x->places[i];
		else
			p->value = x->values[i];
	}
	l->inlined = &in;
	l->fn = x->f;
	l->broken_out = NULL;
	if (in.has_block)
		open_block(l);
	in.regions = l->regions;
	pctl_wgsl_lower_block(l, x->f->body);
	pctl_wgsl_at_expr(l, x->call);
	if (in.has_block)
		pctl_wgsl_control(l, PCTL_OP_END_SWITCH);
	l->terminated = 0;
	l->broken_out = broken_out;
	l->fn = caller;
	l->inlined = in.outer;
	if (x->f->return_type->kind == TY_VOID || in.value != VALUE_NONE)
		return in.value;
	at = result(l, x->f);
	return pctl_wgsl_load(l, PCTL_OP_LOAD, at.type, &at);
}
