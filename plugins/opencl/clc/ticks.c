/* Kernels by ticks, where EMIT_MEET asks for it: main holds all barriers (inline.c), and goes from one to the next in the turns of
 * one loop, at whose end all invocations wait. An invocation notes where it is (`tick`) and comes back to there in the next turn.
 *
 * PoCL (3.1: BarrierTailReplication) copies what follows behind a barrier under a condition once for every way out of it, and lets
 * invocation 0 decide for all at what it takes for a condition around a barrier: wrong, silently, where invocations part behind a
 * barrier in a side, a case or a turn that something leaves. Here it sees one barrier, in one loop, which nothing leaves but its
 * test, and that is the same for all: either all are at a barrier, or all are at the end. What holds a barrier is no block of C
 * there, so values are variables of the function. A turn of the program's own that holds a barrier ends where ticks begin, too: else
 * there would be cycles with several ways in, which that pass walks for ever (until its stack ends). */
#include "clc/internal.h"

#include <string.h>

#define LAST_TICK "0xffffffffu"

const pctl_inst *emit_inst(const emitter *e, uint32_t i)
{
	return &e->p->insts[e->fn->first_inst + i];
}

static int waits(const emitter *e, const pctl_inst *in)
{
	return in->op == PCTL_OP_BARRIER || in->op == PCTL_OP_LOAD_UNIFORM ||
	       (in->op == PCTL_OP_CALL && e->has_barrier[pctl_arg(e->p, in, 0)]);
}

/* Does the region that instruction v opens hold a barrier? */
static int region_waits(const emitter *e, uint32_t v)
{
	uint32_t depth = 1;

	for (uint32_t i = v + 1; depth > 0; i++) {
		const pctl_inst *in = emit_inst(e, i);

		if (waits(e, in))
			return 1;
		depth += (uint32_t)emit_opens_region(in->op);
		depth -= (uint32_t)emit_closes_region(in->op);
	}
	return 0;
}

int emit_region_is_flat(const emitter *e, uint32_t v)
{
	return e->by_ticks && region_waits(e, v);
}

/* Does anything leave loop v, or a turn of it, from inside? */
static int turn_has_jump(const emitter *e, uint32_t v)
{
	uint32_t depth = 1, loops = 0, cases = 0;

	for (uint32_t i = v + 1; depth > 0; i++) {
		const uint16_t op = emit_inst(e, i)->op;

		if (op == PCTL_OP_RETURN || (op == PCTL_OP_CONTINUE && loops == 0) ||
		    (op == PCTL_OP_BREAK && loops + cases == 0))
			return 1;
		loops += op == PCTL_OP_LOOP;
		loops -= op == PCTL_OP_END_LOOP && depth > 1;
		cases += op == PCTL_OP_SWITCH;
		cases -= op == PCTL_OP_END_SWITCH;
		depth += (uint32_t)emit_opens_region(op);
		depth -= (uint32_t)emit_closes_region(op);
	}
	return 0;
}

static int waits_behind(const emitter *e, uint32_t v)
{
	for (uint32_t i = v + 1; i < e->fn->n_insts; i++)
		if (waits(e, emit_inst(e, i)))
			return 1;
	return 0;
}

/* Barriers at the outermost level, and in loops that nothing leaves but their tests, are left to the driver. */
static int goes_by_ticks(const emitter *e)
{
	if (!(e->flags & EMIT_MEET) || emit_is_alone(e) ||
	    e->fn_index != e->p->entries[0].function || !e->has_barrier[e->fn_index])
		return 0;
	for (uint32_t i = 0; i < e->fn->n_insts; i++) {
		const uint16_t op = emit_inst(e, i)->op;

		if ((op == PCTL_OP_IF || op == PCTL_OP_SWITCH || op == PCTL_OP_BLOCK) &&
		    region_waits(e, i))
			return 1;
		if (op == PCTL_OP_LOOP && region_waits(e, i) && turn_has_jump(e, i))
			return 1;
		if (op == PCTL_OP_RETURN && waits_behind(e, i))
			return 1;
	}
	return 0;
}

void emit_control_begin(emitter *e)
{
	e->n_open = 0;
	e->next_label = 0;
	e->n_ticks = 0;
	e->by_ticks = (uint32_t)goes_by_ticks(e);
	emit_loop_zero(e);
}

void emit_body_begin(emitter *e)
{
	if (!e->by_ticks)
		return;
	e->before = e->code;
	memset(&e->code, 0, sizeof(e->code));
	e->indent = 2;
}

/* Frees what it takes over. */
static void append(text *t, text *more)
{
	text_add(t, text_str(more));
	t->no_memory |= more->no_memory;
	text_free(more);
	memset(more, 0, sizeof(*more));
}

void emit_body_end(emitter *e)
{
	text body = e->code;

	if (!e->by_ticks)
		return;
	e->code = e->before;
	memset(&e->before, 0, sizeof(e->before));
	append(&e->code, &e->declared);
	/* The place hangs on the invocation, so that no pass knows it and takes the turns for one loop. */
	text_add(&e->code, "\tuint tick = 0u;\n\tfor (;;) {\n\t\tuint at = tick | " EMIT_LANE_ZERO
			   ";\n\tagain:;\n\t\tswitch (at) {\n");
	for (uint32_t i = 1; i <= e->n_ticks; i++)
		text_printf(&e->code, "\t\tcase %uu: goto t%u;\n", i, i);
	text_add(&e->code, "\t\tdefault: break;\n\t\t}\n");
	append(&e->code, &body);
	text_add(&e->code, "\t\ttick = " LAST_TICK ";\n"
			   "\twait:;\n\t\tbarrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
			   "\t\tif (tick == " LAST_TICK ") break;\n\t}\n");
	e->by_ticks = 0;
	e->indent = 1;
}

void emit_last_tick(emitter *e)
{
	emit_indent(e);
	text_add(&e->code, "{ tick = " LAST_TICK "; goto wait; }\n");
}

uint32_t emit_tick(emitter *e)
{
	return ++e->n_ticks;
}

void emit_to_tick(emitter *e, uint32_t tick)
{
	emit_indent(e);
	text_printf(&e->code, "at = %uu | " EMIT_LANE_ZERO "; goto again;\n", tick);
}

void emit_barrier(emitter *e, const char *fences)
{
	uint32_t tick;

	if (emit_is_alone(e))
		return;
	emit_indent(e);
	if (!e->by_ticks) {
		text_printf(&e->code, "barrier(%s);\n", fences);
		return;
	}
	tick = emit_tick(e);
	text_printf(&e->code, "tick = %uu; goto wait; t%u:;\n", tick, tick);
}
