/* Control flow: regions and jumps, as C has them, or flat where a kernel goes by ticks (ticks.c): what holds a barrier is
 * labels and gotos there, so that a tick may begin within it. */
#include "clc/internal.h"

#include <stdio.h>

static emit_region *top(const emitter *e)
{
	return &e->open[e->n_open - 1];
}

static void push(emitter *e, uint32_t v, uint16_t op)
{
	const uint8_t is_inlined =
		op == PCTL_OP_BLOCK && (emit_inst(e, v)->flags & EMIT_INLINED) != 0;
	const int is_flat =
		op == PCTL_OP_CASE ? top(e)->is_flat : is_inlined || emit_region_is_flat(e, v);

	e->open[e->n_open++] =
		(emit_region){.op = op, .is_flat = (uint8_t)is_flat, .is_inlined = is_inlined};
	if (is_flat)
		top(e)->end = e->next_label++;
	else
		e->indent++;
}

static void pop(emitter *e)
{
	e->indent -= !top(e)->is_flat;
	e->n_open--;
}

static void line(emitter *e, const char *s)
{
	emit_indent(e);
	text_add(&e->code, s);
}

static void labelled(emitter *e, const char *format, uint32_t number)
{
	emit_indent(e);
	text_printf(&e->code, format, number);
}

static void condition(emitter *e, const pctl_inst *in, const char *before, const char *after)
{
	line(e, before);
	emit_value(e, &e->code, pctl_arg(e->p, in, 0));
	text_add(&e->code, after);
}

/* ---- jumps ---- */

/* The region that BREAK leaves, or whose turn CONTINUE ends. */
static emit_region *target_of(const emitter *e, uint16_t op)
{
	uint32_t i = e->n_open - 1;

	while (e->open[i].op != PCTL_OP_LOOP &&
	       (op == PCTL_OP_CONTINUE || e->open[i].op != PCTL_OP_CASE))
		i--;
	return &e->open[i];
}

static void jump(emitter *e, uint16_t op)
{
	const emit_region *r = target_of(e, op);

	if (op == PCTL_OP_CONTINUE)
		labelled(e, "goto c%u;\n", r->loop);
	else if (r->is_flat)
		labelled(e, "goto x%u;\n", r->op == PCTL_OP_CASE ? r[-1].end : r->end);
	else
		line(e, "break;\n");
}

/* Of a function that inline.c wrote out: to the end of its block. */
static void leave_inlined(emitter *e)
{
	uint32_t i = e->n_open - 1;

	while (!e->open[i].is_inlined)
		i--;
	labelled(e, "goto x%u;\n", e->open[i].end);
}

static void returns(emitter *e, const pctl_inst *in)
{
	if (in->flags & EMIT_INLINED)
		leave_inlined(e);
	else if (e->by_ticks)
		emit_last_tick(e);
	else
		emit_return(e, in);
}

/* ---- regions ---- */

static void open_if(emitter *e, uint32_t v, const pctl_inst *in)
{
	push(e, v, in->op);
	if (!top(e)->is_flat) {
		e->indent--;
		condition(e, in, "if (", ") {\n");
		e->indent++;
		return;
	}
	top(e)->other = e->next_label++;
	condition(e, in, "if (!", "");
	text_printf(&e->code, ") goto x%u;\n", top(e)->other);
}

static void open_else(emitter *e)
{
	emit_region *r = top(e);

	if (!r->is_flat) {
		e->indent--;
		line(e, "} else {\n");
		e->indent++;
		return;
	}
	labelled(e, "goto x%u;\n", r->end);
	labelled(e, "x%u:;\n", r->other);
	r->other = EMIT_NO_LABEL;
}

static void close_if(emitter *e)
{
	const emit_region r = *top(e);

	pop(e);
	if (!r.is_flat) {
		line(e, "}\n");
		return;
	}
	if (r.other != EMIT_NO_LABEL)
		labelled(e, "x%u:;\n", r.other);
	labelled(e, "x%u:;\n", r.end);
}

static void case_head(emitter *e, const pctl_inst *in)
{
	emit_indent(e);
	for (uint32_t i = 1; i < in->n_args; i++)
		text_printf(&e->code, "case %uu: ", pctl_arg(e->p, in, i));
	text_add(&e->code, pctl_arg(e->p, in, 0) ? "default: " : "");
}

/* Which case a value leads to: labels of cases are those from `other` on, in order. */
static void flat_switch(emitter *e, uint32_t v)
{
	uint32_t depth = 0;

	top(e)->other = e->next_label;
	for (uint32_t i = v + 1;; i++) {
		const pctl_inst *in = emit_inst(e, i);

		if (depth == 0 && in->op == PCTL_OP_END_SWITCH)
			return;
		if (depth == 0 && in->op == PCTL_OP_CASE) {
			case_head(e, in);
			text_printf(&e->code, "goto x%u;\n", e->next_label++);
		}
		depth += (uint32_t)emit_opens_region(in->op);
		depth -= (uint32_t)emit_closes_region(in->op);
	}
}

static void open_switch(emitter *e, uint32_t v, const pctl_inst *in)
{
	condition(e, in, "switch (", ") {\n");
	push(e, v, in->op);
	if (!top(e)->is_flat)
		return;
	flat_switch(e, v);
	line(e, "}\n");
}

/* A CASE ends where the next one or END_SWITCH begins. */
static void case_end(emitter *e)
{
	if (top(e)->op != PCTL_OP_CASE)
		return;
	if (top(e)->is_flat) {
		pop(e);
		labelled(e, "goto x%u;\n", top(e)->end);
		return;
	}
	line(e, "break;\n");
	pop(e);
	line(e, "}\n");
}

static void open_case(emitter *e, uint32_t v, const pctl_inst *in)
{
	case_end(e);
	if (top(e)->is_flat) {
		labelled(e, "x%u:;\n", top(e)->other++);
	} else {
		case_head(e, in);
		text_add(&e->code, "{\n");
	}
	push(e, v, in->op);
}

static void open_loop(emitter *e, uint32_t v, const pctl_inst *in)
{
	push(e, v, in->op);
	top(e)->loop = e->next_label++;
	if (top(e)->is_flat) {
		top(e)->other = emit_tick(e);
		labelled(e, "t%u:;\n", top(e)->other);
		return;
	}
	e->indent--;
	line(e, "for (;;) {\n");
	e->indent++;
}

static void test_loop(emitter *e, uint32_t v, const pctl_inst *in)
{
	char leave[32] = "break";

	if (top(e)->is_flat)
		snprintf(leave, sizeof(leave), "goto x%u", top(e)->end);
	emit_loop_test(e, v, in, leave);
}

/* END_LOOP, END_BLOCK, END_SWITCH */
static void close_region(emitter *e)
{
	const emit_region r = *top(e);

	pop(e);
	if (!r.is_flat) {
		line(e, "}\n");
		return;
	}
	if (r.op == PCTL_OP_LOOP)
		emit_to_tick(e, r.other);
	labelled(e, "x%u:;\n", r.end);
}

static void open_block(emitter *e, uint32_t v, const pctl_inst *in)
{
	push(e, v, in->op);
	if (top(e)->is_flat)
		return;
	e->indent--;
	line(e, "{\n");
	e->indent++;
}

static void barrier_of(emitter *e, uint32_t mask)
{
	if (mask != PCTL_BARRIER_SUBGROUP) {
		emit_barrier(e, mask == PCTL_BARRIER_WORKGROUP ? "CLK_LOCAL_MEM_FENCE"
				: mask == PCTL_BARRIER_STORAGE
					? "CLK_GLOBAL_MEM_FENCE"
					: "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE");
		return;
	}
	if (!emit_is_alone(e))
		line(e, "asm volatile(\"bar.warp.sync 0xffffffff;\" : : : \"memory\");\n");
}

/* Test, body and update of a loop share one C block: a value is then in scope wherever the IR lets
 * it be seen. */
void emit_control(emitter *e, uint32_t v, const pctl_inst *in)
{
	switch (in->op) {
	case PCTL_OP_IF:
		open_if(e, v, in);
		top(e)->late = emit_late(e, v + 1);
		break;
	case PCTL_OP_ELSE:
		open_else(e);
		top(e)->late = 0;
		top(e)->late = emit_late(e, v + 1);
		break;
	case PCTL_OP_END_IF:
		close_if(e);
		break;
	case PCTL_OP_SWITCH:
		open_switch(e, v, in);
		break;
	case PCTL_OP_CASE:
		open_case(e, v, in);
		break;
	case PCTL_OP_END_SWITCH:
		case_end(e);
		close_region(e);
		break;
	case PCTL_OP_LOOP:
		open_loop(e, v, in);
		break;
	case PCTL_OP_LOOP_TEST:
		test_loop(e, v, in);
		break;
	case PCTL_OP_CONTINUING:
		labelled(e, "c%u:;\n", top(e)->loop);
		break;
	case PCTL_OP_BLOCK:
		open_block(e, v, in);
		break;
	case PCTL_OP_END_LOOP:
	case PCTL_OP_END_BLOCK:
		close_region(e);
		break;
	case PCTL_OP_BREAK:
	case PCTL_OP_CONTINUE:
		jump(e, in->op);
		break;
	case PCTL_OP_RETURN:
		returns(e, in);
		break;
	case PCTL_OP_BARRIER:
		barrier_of(e, pctl_arg(e->p, in, 0));
		break;
	default:
		emit_call(e, v, in);
		break;
	}
}
