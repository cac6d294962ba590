/* Control flow. Where EMIT_MEET asks for it, all invocations of a workgroup meet at the end of each side of an `if`, each case of a
 * `switch` and each turn of a loop with jumps that holds a barrier, before anything leaves it: what would jump on from inside (from a turn:
 * behind a barrier of it) goes there first, and on behind it (`left` says where).
 *
 * PoCL (3.1: BarrierTailReplication) copies what follows behind such a region, up to the next barriers, once for every way out of
 * it. Where invocations part for the last time in the region, as at `if (lane == i)` or at a loop of their own, and nothing stands
 * between there and its end, each side so gets barriers of its own; then they count as barriers under a condition, which
 * invocation 0 decides for all. With a barrier at its end a region has one way out. A function with a return before its end is such a
 * region, too. */
#include "clc/internal.h"

#include <stdio.h>

/* What leaves a region for a place behind it: values of `left`, and bits by them of emit_region.jumps. */
enum { LEFT_BREAK = 1, LEFT_CONTINUE, LEFT_RETURN };

static emit_region *top(const emitter *e)
{
	return &e->open[e->n_open - 1];
}

static const pctl_inst *inst_at(const emitter *e, uint32_t i)
{
	return &e->p->insts[e->fn->first_inst + i];
}

static void push(emitter *e, uint16_t op)
{
	e->open[e->n_open++] = (emit_region){.op = op, .end = EMIT_NO_LABEL};
	e->indent++;
}

static void pop(emitter *e)
{
	e->n_open--;
	e->indent--;
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

/* ---- where all meet ---- */

static int meets(const emitter *e)
{
	return (e->flags & EMIT_MEET) && e->has_barrier[e->fn_index] && !emit_is_alone(e);
}

static int waits(const emitter *e, const pctl_inst *in)
{
	return in->op == PCTL_OP_BARRIER || in->op == PCTL_OP_LOAD_UNIFORM ||
	       (in->op == PCTL_OP_CALL && e->has_barrier[pctl_arg(e->p, in, 0)]);
}

void emit_waited(emitter *e)
{
	for (uint32_t i = 0; i < e->n_open; i++)
		e->open[i].has_waited = 1;
}

/* Does the side, case or loop that instruction v opens hold a barrier? */
static int side_waits(const emitter *e, uint32_t v)
{
	uint32_t depth = 0;

	for (uint32_t i = v + 1; i < e->fn->n_insts; i++) {
		const pctl_inst *in = inst_at(e, i);

		if (depth == 0 && (in->op == PCTL_OP_ELSE || in->op == PCTL_OP_CASE ||
				   in->op == PCTL_OP_CONTINUING || emit_closes_region(in->op)))
			return 0;
		if (waits(e, in))
			return 1;
		depth += (uint32_t)emit_opens_region(in->op);
		depth -= (uint32_t)emit_closes_region(in->op);
	}
	return 0;
}

/* Does anything leave a region before its end? */
static int has_jump(const emitter *e)
{
	uint32_t depth = 0;

	for (uint32_t i = 0; i < e->fn->n_insts; i++) {
		const uint16_t op = inst_at(e, i)->op;

		if (depth > 0 &&
		    (op == PCTL_OP_BREAK || op == PCTL_OP_CONTINUE || op == PCTL_OP_RETURN))
			return 1;
		depth += (uint32_t)emit_opens_region(op);
		depth -= (uint32_t)emit_closes_region(op);
	}
	return 0;
}

/* Does anything return before the end? */
static int returns_early(const emitter *e)
{
	uint32_t depth = 0;

	for (uint32_t i = 0; i < e->fn->n_insts; i++) {
		const uint16_t op = inst_at(e, i)->op;

		if (depth > 0 && op == PCTL_OP_RETURN)
			return 1;
		depth += (uint32_t)emit_opens_region(op);
		depth -= (uint32_t)emit_closes_region(op);
	}
	return 0;
}

void emit_control_begin(emitter *e)
{
	char name[24];

	e->n_open = 0;
	e->next_label = 0;
	e->body_end = EMIT_NO_LABEL;
	if (!meets(e) || !has_jump(e))
		return;
	/* A kernel's end is one. */
	if (e->fn_index != e->p->entries[0].function && returns_early(e))
		e->body_end = e->next_label++;
	text_add(&e->code, "\tuint left = 0u;\n");
	if (!e->fn->return_type || emit_is_whole(e, e->fn->return_type))
		return;
	text_printf(&e->code, "\t%s R = ", emit_type_name(e, e->fn->return_type, name));
	emit_zero(e, &e->code, e->fn->return_type);
	text_add(&e->code, ";\n");
}

/* A side or a case begins with instruction v. */
static void side_begin(emitter *e, uint32_t v)
{
	if (meets(e) && side_waits(e, v))
		top(e)->end = e->next_label++;
}

/* It ends before instruction v. */
static void side_end(emitter *e, uint32_t v)
{
	emit_region *r = top(e);

	if (r->end == EMIT_NO_LABEL)
		return;
	if (r->is_jumped_to)
		labelled(e, "e%u:;\n", r->end);
	if (r->is_jumped_to || inst_at(e, v - 1)->op != PCTL_OP_BARRIER)
		line(e, "barrier(CLK_LOCAL_MEM_FENCE);\n");
	r->end = EMIT_NO_LABEL;
	r->is_jumped_to = 0;
}

/* ---- jumps ---- */

static uint32_t left_of(uint16_t op)
{
	return op == PCTL_OP_BREAK	? LEFT_BREAK
	       : op == PCTL_OP_CONTINUE ? LEFT_CONTINUE
					: LEFT_RETURN;
}

static int is_target(uint16_t op, uint16_t region)
{
	return (region == PCTL_OP_LOOP && op != PCTL_OP_RETURN) ||
	       (region == PCTL_OP_CASE && op == PCTL_OP_BREAK);
}

/* Is the end of such a region where the jump leads anyway? */
static int ends_at(uint16_t op, uint16_t region)
{
	return (region == PCTL_OP_LOOP && op == PCTL_OP_CONTINUE) ||
	       (region == PCTL_OP_CASE && op == PCTL_OP_BREAK);
}

/* The region that a jump leaves first where all meet at its end; NULL: none. */
static emit_region *met_first(const emitter *e, uint16_t op)
{
	for (uint32_t i = e->n_open; i-- > 0;) {
		if (e->open[i].end != EMIT_NO_LABEL &&
		    (e->open[i].op != PCTL_OP_LOOP || e->open[i].has_waited))
			return &e->open[i];
		if (is_target(op, e->open[i].op))
			return NULL;
	}
	return NULL;
}

static uint32_t loop_of(const emitter *e)
{
	uint32_t i = e->n_open - 1;

	while (e->open[i].op != PCTL_OP_LOOP)
		i--;
	return e->open[i].loop;
}

static void leave_here(emitter *e, uint16_t op)
{
	if (op == PCTL_OP_BREAK)
		line(e, "break;\n");
	else if (op == PCTL_OP_CONTINUE)
		labelled(e, "goto c%u;\n", loop_of(e));
	else if (e->body_end != EMIT_NO_LABEL)
		labelled(e, "goto e%u;\n", e->body_end);
	else
		line(e, e->fn->return_type && !emit_is_whole(e, e->fn->return_type) ? "return R;\n"
										    : "return;\n");
}

void emit_control_end(emitter *e)
{
	if (e->body_end == EMIT_NO_LABEL)
		return;
	labelled(e, "e%u:;\n", e->body_end);
	line(e, "barrier(CLK_LOCAL_MEM_FENCE);\n");
	e->body_end = EMIT_NO_LABEL;
	leave_here(e, PCTL_OP_RETURN);
}

/* Jump `op`, at once or by way of the end of a region. */
static void jump(emitter *e, uint16_t op)
{
	emit_region *r = met_first(e, op);

	if (!r) {
		leave_here(e, op);
		return;
	}
	r->is_jumped_to = 1;
	/* A case ends with a break, a turn goes on. */
	if (!ends_at(op, r->op)) {
		r->jumps |= 1u << left_of(op);
		labelled(e, "left = %uu;\n", left_of(op));
	}
	labelled(e, "goto e%u;\n", r->end);
}

/* Behind the regions that jumps left by their ends: on to where they lead. */
static void go_on(emitter *e, uint32_t jumps)
{
	static const uint16_t ops[] = {PCTL_OP_BREAK, PCTL_OP_CONTINUE, PCTL_OP_RETURN};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (!(jumps & 1u << left_of(ops[i])))
			continue;
		labelled(e, "if (left == %uu) {\n", left_of(ops[i]));
		e->indent++;
		if (!met_first(e, ops[i]) || ends_at(ops[i], met_first(e, ops[i])->op))
			line(e, "left = 0u;\n");
		jump(e, ops[i]);
		e->indent--;
		line(e, "}\n");
	}
}

/* Does anything leave the turns of loop v before their end? Without, whoever comes to a barrier comes to the end. */
static int turn_has_jump(const emitter *e, uint32_t v)
{
	uint32_t depth = 1;

	for (uint32_t i = v + 1; depth > 0; i++) {
		const uint16_t op = inst_at(e, i)->op;

		if (op == PCTL_OP_BREAK || op == PCTL_OP_CONTINUE || op == PCTL_OP_RETURN)
			return 1;
		depth += (uint32_t)emit_opens_region(op);
		depth -= (uint32_t)emit_closes_region(op);
	}
	return 0;
}

/* A turn ends: those who leave from behind a barrier of it meet here; who went on before one is not asked. */
static void turn_end(emitter *e, uint32_t v)
{
	const uint32_t jumps = top(e)->jumps;

	side_end(e, v);
	top(e)->jumps = 0;
	go_on(e, jumps);
}

/* Who returns where others still wait returns with all. */
static int waits_behind(const emitter *e, uint32_t v)
{
	for (uint32_t i = v + 1; i < e->fn->n_insts; i++)
		if (waits(e, inst_at(e, i)))
			return 1;
	return 0;
}

static void returns(emitter *e, uint32_t v, const pctl_inst *in)
{
	const int by_value = in->n_args && !emit_is_whole(e, e->fn->return_type);

	if (!met_first(e, PCTL_OP_RETURN) && e->body_end == EMIT_NO_LABEL) {
		emit_return(e, in);
		return;
	}
	if (by_value) {
		line(e, "R = ");
		emit_arg(e, in, 0);
		text_add(&e->code, ";\n");
	} else if (in->n_args) {
		emit_fill_value(e, e->fn->return_type, "(*r)", pctl_arg(e->p, in, 0));
	}
	if (e->body_end != EMIT_NO_LABEL && waits_behind(e, v))
		line(e, "barrier(CLK_LOCAL_MEM_FENCE);\n");
	jump(e, PCTL_OP_RETURN);
}

/* ---- regions ---- */

static void open_if(emitter *e, uint32_t v, const pctl_inst *in)
{
	line(e, "if (");
	emit_value(e, &e->code, pctl_arg(e->p, in, 0));
	text_add(&e->code, ") {\n");
	push(e, in->op);
	side_begin(e, v);
}

static void open_else(emitter *e, uint32_t v)
{
	side_end(e, v);
	e->indent--;
	line(e, "} else {\n");
	e->indent++;
	side_begin(e, v);
}

static void close_region(emitter *e)
{
	const uint32_t jumps = top(e)->jumps;

	pop(e);
	line(e, "}\n");
	go_on(e, jumps);
}

/* A CASE ends where the next one or END_SWITCH begins. */
static void case_end(emitter *e, uint32_t v)
{
	uint32_t jumps;

	if (top(e)->op != PCTL_OP_CASE)
		return;
	side_end(e, v);
	line(e, "break;\n");
	jumps = top(e)->jumps;
	pop(e);
	line(e, "}\n");
	top(e)->jumps |= jumps;
}

static void open_case(emitter *e, uint32_t v, const pctl_inst *in)
{
	case_end(e, v);
	emit_indent(e);
	for (uint32_t i = 1; i < in->n_args; i++)
		text_printf(&e->code, "case %uu: ", pctl_arg(e->p, in, i));
	text_add(&e->code, pctl_arg(e->p, in, 0) ? "default: {\n" : "{\n");
	push(e, in->op);
	side_begin(e, v);
}

static void barrier_of(emitter *e, uint32_t mask)
{
	if (emit_is_alone(e))
		return;
	emit_indent(e);
	if (mask == PCTL_BARRIER_SUBGROUP) {
		text_add(&e->code,
			 "asm volatile(\"bar.warp.sync 0xffffffff;\" : : : \"memory\");\n");
		return;
	}
	text_printf(&e->code, "barrier(%s%s%s);\n",
		    mask & PCTL_BARRIER_WORKGROUP ? "CLK_LOCAL_MEM_FENCE" : "",
		    mask == (PCTL_BARRIER_WORKGROUP | PCTL_BARRIER_STORAGE) ? " | " : "",
		    mask & PCTL_BARRIER_STORAGE ? "CLK_GLOBAL_MEM_FENCE" : "");
}

/* Test, body and update of a loop share one C block: a value is then in scope wherever the IR lets
 * it be seen. */
void emit_control(emitter *e, uint32_t v, const pctl_inst *in)
{
	if (waits(e, in))
		emit_waited(e);
	switch (in->op) {
	case PCTL_OP_IF:
		open_if(e, v, in);
		break;
	case PCTL_OP_ELSE:
		open_else(e, v);
		break;
	case PCTL_OP_SWITCH:
		line(e, "switch (");
		emit_value(e, &e->code, pctl_arg(e->p, in, 0));
		text_add(&e->code, ") {\n");
		push(e, in->op);
		break;
	case PCTL_OP_CASE:
		open_case(e, v, in);
		break;
	case PCTL_OP_END_SWITCH:
		case_end(e, v);
		close_region(e);
		break;
	case PCTL_OP_LOOP:
		line(e, "for (;;) {\n");
		push(e, in->op);
		top(e)->loop = e->next_label++;
		if (turn_has_jump(e, v))
			side_begin(e, v);
		break;
	case PCTL_OP_LOOP_TEST:
		emit_loop_test(e, v, in);
		break;
	case PCTL_OP_CONTINUING:
		turn_end(e, v);
		labelled(e, "c%u:;\n", top(e)->loop);
		break;
	case PCTL_OP_BLOCK:
		line(e, "{\n");
		push(e, in->op);
		break;
	case PCTL_OP_END_IF:
		side_end(e, v);
		close_region(e);
		break;
	case PCTL_OP_END_LOOP:
	case PCTL_OP_END_BLOCK:
		pop(e);
		line(e, "}\n");
		break;
	case PCTL_OP_BREAK:
	case PCTL_OP_CONTINUE:
		jump(e, in->op);
		break;
	case PCTL_OP_RETURN:
		returns(e, v, in);
		break;
	case PCTL_OP_BARRIER:
		barrier_of(e, pctl_arg(e->p, in, 0));
		break;
	default:
		emit_call(e, v, in);
		break;
	}
}
