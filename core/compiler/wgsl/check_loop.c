/* `loop` with its `continuing`, and what may stand there: the ways out, and the names that a `continue` passes over. */
#include "compiler/wgsl/check.h"

/* A loop whose body is being checked. Positions are of the text; 0: none. */
struct loop_body {
	struct loop_body *outer;
	uint32_t from;
	uint32_t first_continue;
	uint32_t continuing; /* where its `continuing` starts, while that is checked */
};

static const struct stmt *last_of(const struct stmt *block)
{
	const struct stmt *s = block->body;

	while (s && s->next)
		s = s->next;
	return s;
}

const struct stmt *pctl_wgsl_continuing_of(const struct stmt *loop)
{
	const struct stmt *s = loop->kind == ST_LOOP ? last_of(loop->body) : NULL;

	return s && s->kind == ST_CONTINUING ? s : NULL;
}

const struct stmt *pctl_wgsl_break_if_of(const struct stmt *continuing)
{
	const struct stmt *s = continuing ? last_of(continuing->body) : NULL;

	return s && s->kind == ST_BREAK_IF ? s : NULL;
}

/* The nearest loop, or NULL: a `for` has none of its own, but what is in it may not mistake the one around for it. */
void pctl_wgsl_enter_body(struct wgsl *c, const struct stmt *s)
{
	struct loop_body *l = WGSL_NEW(c, struct loop_body);

	l->outer = c->loop_body;
	l->from = s->pos;
	c->loop_body = l;
}

void pctl_wgsl_leave_body(struct wgsl *c)
{
	c->loop_body = c->loop_body->outer;
}

void pctl_wgsl_note_continue(struct wgsl *c, const struct stmt *s)
{
	if (c->loop_body && !c->loop_body->first_continue)
		c->loop_body->first_continue = s->pos;
}

int pctl_wgsl_in_continuing(struct wgsl *c, const struct stmt *s)
{
	const struct loop_body *l = c->loop_body;

	while (l && !l->continuing)
		l = l->outer;
	if (!l)
		return 0;
	pctl_wgsl_error(c, PC2418_WGSL_JUMP, s->pos, s->end,
			s->kind == ST_BREAK ? "write `break if CONDITION;` at its end" : NULL,
			"`%s` cannot leave `continuing`",
			s->kind == ST_BREAK	 ? "break"
			: s->kind == ST_CONTINUE ? "continue"
						 : "return");
	return 1;
}

void pctl_wgsl_note_name(struct wgsl *c, const struct expr *e, struct decl *d)
{
	const struct loop_body *l;

	if (d->is_global || (d->kind != DECL_VAR && d->kind != DECL_LET))
		return;
	for (l = c->loop_body; l; l = l->outer) {
		if (!l->continuing || d->pos < l->from || d->pos > l->continuing)
			continue;
		d->in_continuing = 1;
		if (l->first_continue && d->pos > l->first_continue)
			pctl_wgsl_error_note(c, PC2418_WGSL_JUMP, e->pos, e->end,
					     "declare it before the first `continue`", d->pos,
					     d->end, "it is declared here",
					     "`continue` passes over \"%s\"",
					     pctl_wgsl_sym_text(c, d->sym));
	}
}

uint32_t pctl_wgsl_check_loop(struct wgsl *c, struct stmt *s)
{
	const struct stmt *leave = pctl_wgsl_break_if_of(pctl_wgsl_continuing_of(s));
	uint32_t flow;

	pctl_wgsl_enter_body(c, s);
	c->n_breakable++;
	c->n_loops++;
	flow = pctl_wgsl_check_block(c, s->body, 1);
	c->n_breakable--;
	c->n_loops--;
	pctl_wgsl_leave_body(c);
	if (!leave && !(flow & (FLOW_BREAK | FLOW_RETURN)))
		pctl_wgsl_error(c, PC2208_WGSL_LOOP, s->pos, s->end,
				"write `break`, or `continuing { break if CONDITION; }`",
				"`loop` is never left");
	return (flow & FLOW_RETURN) | (leave || (flow & FLOW_BREAK) ? FLOW_NEXT : 0);
}

/* Nothing jumps out of it: loops and switches of its own have their `break` and `continue`. */
uint32_t pctl_wgsl_check_continuing(struct wgsl *c, struct stmt *s)
{
	const uint32_t breakable = c->n_breakable, loops = c->n_loops;

	if (c->loop_body)
		c->loop_body->continuing = s->pos;
	c->n_breakable = c->n_loops = 0;
	pctl_wgsl_check_block(c, s->body, 1);
	c->n_breakable = breakable;
	c->n_loops = loops;
	if (c->loop_body)
		c->loop_body->continuing = 0;
	return FLOW_NEXT;
}
