/* The test of a loop. Where a kernel has a barrier anywhere, PoCL 3.1 puts barriers of its own into inner loops whose tests it
 * takes to be the same for all invocations of a workgroup. It does so too when others have left the loop before, by a
 * condition that LLVM has pulled out of it, and then some are told of another's turn. So there the test of every loop
 * without a barrier of its own hangs on the invocation: on a zero that was made of its id. The zero is volatile, or it
 * would be pulled out, too; a zero that is not made of the id does not help. */
#include "clc/internal.h"

static int is_barrier(uint16_t op)
{
	return op == PCTL_OP_BARRIER || op == PCTL_OP_LOAD_UNIFORM;
}

static int has_barrier(const pctl_program *p, uint32_t f)
{
	const pctl_function *fn = &p->functions[f];

	for (uint32_t i = 0; i < fn->n_insts; i++) {
		const pctl_inst *in = &p->insts[fn->first_inst + i];

		/* Functions call those before them, so this ends. */
		if (is_barrier(in->op) ||
		    (in->op == PCTL_OP_CALL && has_barrier(p, pctl_arg(p, in, 0))))
			return 1;
	}
	return 0;
}

/* Does the loop around instruction v hold a barrier? Of those inside it, too. */
static int loop_waits(const emitter *e, uint32_t v)
{
	const pctl_inst *insts = &e->p->insts[e->fn->first_inst];
	uint32_t first = v, depth = 0;

	while (insts[first].op != PCTL_OP_LOOP || depth != 0) {
		depth += insts[first].op == PCTL_OP_END_LOOP;
		depth -= insts[first].op == PCTL_OP_LOOP;
		first--;
	}
	depth = 0;
	for (uint32_t i = first; i < e->fn->n_insts; i++) {
		depth += insts[i].op == PCTL_OP_LOOP;
		if (is_barrier(insts[i].op) || (insts[i].op == PCTL_OP_CALL &&
						has_barrier(e->p, pctl_arg(e->p, &insts[i], 0))))
			return 1;
		if (insts[i].op == PCTL_OP_END_LOOP && --depth == 0)
			return 0;
	}
	return 0;
}

/* Workgroup memory is cleared before a barrier, so to have some is to have one. */
static int kernel_waits(const emitter *e)
{
	if (emit_is_alone(e))
		return 0;
	for (uint32_t v = 0; v < e->p->n_vars; v++)
		if (e->p->vars[v].space == PCTL_SPACE_WORKGROUP)
			return 1;
	return has_barrier(e->p, e->p->entries[0].function);
}

static int nofold_loops(const emitter *e)
{
	return (e->flags & EMIT_LANE_LOOPS) && kernel_waits(e);
}

static int has_loop(const emitter *e)
{
	for (uint32_t i = 0; i < e->fn->n_insts; i++)
		if (e->p->insts[e->fn->first_inst + i].op == PCTL_OP_LOOP)
			return 1;
	return 0;
}

void emit_loop_zero(emitter *e)
{
	if (e->by_ticks || (nofold_loops(e) && has_loop(e)))
		text_add(&e->code,
			 "\tvolatile uint " EMIT_LANE_ZERO " = (uint)(get_local_id(0) >> 31);\n");
}

void emit_loop_test(emitter *e, uint32_t v, const pctl_inst *in, const char *leave)
{
	emit_indent(e);
	text_add(&e->code, "if (!");
	emit_value(e, &e->code, pctl_arg(e->p, in, 0));
	text_printf(&e->code, "%s) %s;\n",
		    nofold_loops(e) && (e->by_ticks || !loop_waits(e, v)) ? " | " EMIT_LANE_ZERO
									  : "",
		    leave);
}
