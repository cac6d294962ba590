/* Making prepared code: functions and structured control. Every region end is a marker instruction;
 * whatever may leave no lane active carries a jump to the next marker of its region. */
#include "code/bytecode.h"

#include <stdlib.h>

static pctl_cpu_region *top(pctl_cpu_bytecode *f)
{
	return &f->regions.at[f->regions.n - 1];
}

/* Emit an instruction that jumps to the next marker of the innermost region. */
static void emit_pending(pctl_cpu_bytecode *f, pctl_cpu_ins *in)
{
	uint32_t at;

	in->jump = top(f)->pending;
	at = pctl_cpu_emit(f, in);
	if (f->status == PCTL_OK)
		top(f)->pending = at;
}

/* The next instruction is a marker of the innermost region. */
static void mark(pctl_cpu_bytecode *f)
{
	uint32_t at = top(f)->pending;

	while (at != PCTL_CPU_NONE) {
		const uint32_t next = f->ins.at[at].jump;

		f->ins.at[at].jump = f->ins.n;
		at = next;
	}
	top(f)->pending = PCTL_CPU_NONE;
}

static void open_region(pctl_cpu_bytecode *f, uint32_t op)
{
	pctl_cpu_region r = {.op = op, .pending = PCTL_CPU_NONE};
	const uint32_t depth = f->regions.n;

	/* Masks of one depth are used by one region at a time. */
	while (f->masks.n < 3 * (depth + 1) && f->status == PCTL_OK)
		PCTL_CPU_PUSH(f, masks, pctl_cpu_bytecode_fixed(f, 1));
	for (uint32_t i = 0; i < 3 && f->status == PCTL_OK; i++)
		r.mask[i] = f->masks.at[3 * depth + i];
	PCTL_CPU_PUSH(f, regions, r);
}

static void close_region(pctl_cpu_bytecode *f, uint16_t kind)
{
	const pctl_cpu_region r = *top(f);
	pctl_cpu_ins in = {.kind = kind, .d = r.mask[2], .c = r.mask[0], .e = r.mask[1]};

	mark(f);
	if (kind == PCTL_CPU_END_LOOP || kind == PCTL_CPU_END_SWITCH)
		in.extra = r.switch_index; /* for loops: the instruction after LOOP */
	f->regions.n--;
	emit_pending(f, &in);
}

static uint32_t condition(pctl_cpu_bytecode *f, const pctl_inst *in, uint16_t *flags)
{
	const uint32_t reg = pctl_cpu_value(f, pctl_arg(f->p, in, 0))[0];

	*flags = pctl_cpu_bytecode_is_uniform(f, reg) ? PCTL_CPU_UNIFORM : 0;
	return reg;
}

static int by_literal(const void *a, const void *b)
{
	const pctl_cpu_case *x = a, *y = b;

	return (x->literal > y->literal) - (x->literal < y->literal);
}

/* Find the switch's CASE instructions, which come later in the same function. */
static void open_switch(pctl_cpu_bytecode *f, uint32_t value, const pctl_inst *in)
{
	const pctl_program *p = f->p;
	const pctl_inst *insts = p->insts + f->fn->first_inst;
	pctl_cpu_switch s = {.first_case = f->cases.n, .first_count = f->code->n_case_counts};
	pctl_cpu_ins ins = {.kind = PCTL_CPU_SWITCH, .extra = f->switches.n};
	uint32_t depth = 0;

	for (uint32_t i = value + 1; i < f->fn->n_insts; i++) {
		if (insts[i].op == PCTL_OP_SWITCH) {
			depth++;
		} else if (insts[i].op == PCTL_OP_END_SWITCH) {
			if (depth-- == 0)
				break;
		} else if (insts[i].op == PCTL_OP_CASE && depth == 0) {
			for (uint32_t k = 1; k < insts[i].n_args; k++) {
				const pctl_cpu_case c = {pctl_arg(p, &insts[i], k), s.n_cases};
				PCTL_CPU_PUSH(f, cases, c);
			}
			if (pctl_arg(p, &insts[i], 0))
				s.default_number = s.n_cases;
			s.n_cases++;
		}
	}
	if (f->status != PCTL_OK)
		return;
	s.n_literals = f->cases.n - s.first_case;
	if (s.n_literals)
		qsort(f->cases.at + s.first_case, s.n_literals, sizeof(*f->cases.at), by_literal);
	f->code->n_case_counts += s.n_cases;
	ins.a = condition(f, in, &ins.flags);
	open_region(f, PCTL_OP_SWITCH);
	if (f->status != PCTL_OK)
		return;
	top(f)->switch_index = f->switches.n;
	PCTL_CPU_PUSH(f, switches, s);
	ins.c = top(f)->mask[0];
	ins.e = top(f)->mask[1];
	ins.d = top(f)->mask[2];
	emit_pending(f, &ins);
}

static void next_case(pctl_cpu_bytecode *f)
{
	pctl_cpu_region *r = top(f);
	pctl_cpu_ins in = {
		.kind = PCTL_CPU_CASE, .c = r->mask[0], .e = r->mask[1], .d = r->mask[2]};

	in.extra = f->switches.at[r->switch_index].first_count + r->n_cases;
	in.a = pctl_cpu_bytecode_const(f, r->n_cases, 0);
	r->n_cases++;
	mark(f);
	emit_pending(f, &in);
}

static void leave(pctl_cpu_bytecode *f, uint16_t op)
{
	pctl_cpu_ins in = {.kind = PCTL_CPU_LEAVE};

	for (uint32_t i = f->regions.n; i-- > 0 && op != PCTL_OP_RETURN;) {
		const pctl_cpu_region *r = &f->regions.at[i];

		if (r->op == PCTL_OP_LOOP || (r->op == PCTL_OP_SWITCH && op == PCTL_OP_BREAK)) {
			/* Loops: mask 0 left, mask 1 continued. Switches: mask 0 entered, mask 1
			 * left. */
			in.c = (r->op == PCTL_OP_LOOP) == (op == PCTL_OP_BREAK) ? r->mask[0]
										: r->mask[1];
			break;
		}
	}
	emit_pending(f, &in);
}

static void bytecode_return(pctl_cpu_bytecode *f, const pctl_inst *in)
{
	if (in->n_args) {
		const uint32_t v = pctl_arg(f->p, in, 0);
		const uint64_t n = f->type_leaves[pctl_value_type(f->p, f->fn, v)];

		for (uint32_t i = 0; i < n && f->status == PCTL_OK; i++) {
			const uint32_t reg = pctl_cpu_value(f, v)[i];
			pctl_cpu_emit_blend(f, f->edges.at[f->return_first[f->fn_number] + i], reg,
					    f->regs.at[reg].wide);
		}
	}
	leave(f, PCTL_OP_RETURN);
}

static void bytecode_call(pctl_cpu_bytecode *f, uint32_t value, const pctl_inst *in)
{
	const uint32_t callee = pctl_arg(f->p, in, 0);
	const pctl_cpu_ins call = {.kind = PCTL_CPU_CALL, .jump = callee};
	uint32_t edge = f->param_first[callee];
	uint32_t *at;

	for (uint32_t k = 1; k < in->n_args; k++) {
		const uint32_t v = pctl_arg(f->p, in, k);
		const uint64_t n = f->type_leaves[pctl_value_type(f->p, f->fn, v)];

		for (uint32_t i = 0; i < n && f->status == PCTL_OK; i++) {
			const uint32_t reg = pctl_cpu_value(f, v)[i];
			pctl_cpu_emit_move(f, f->edges.at[edge++], reg, f->regs.at[reg].wide);
		}
	}
	pctl_cpu_emit(f, &call);
	if (!in->type)
		return;
	at = pctl_cpu_value_new(f, value, in->type);
	for (uint32_t i = 0; at && i < f->type_leaves[in->type] && f->status == PCTL_OK; i++) {
		const uint32_t from = f->edges.at[f->return_first[callee] + i];
		const uint8_t wide = f->regs.at[from].wide;

		at[i] = pctl_cpu_bytecode_reg(f, PCTL_CPU_REG_TEMP, wide);
		pctl_cpu_emit_move(f, at[i], from, wide);
	}
}

static void bytecode_if(pctl_cpu_bytecode *f, const pctl_inst *in)
{
	pctl_cpu_ins ins = {.kind = PCTL_CPU_IF};

	ins.a = condition(f, in, &ins.flags);
	open_region(f, PCTL_OP_IF);
	if (f->status != PCTL_OK)
		return;
	ins.c = top(f)->mask[0];
	emit_pending(f, &ins);
}

static void bytecode_control(pctl_cpu_bytecode *f, uint32_t value, const pctl_inst *in)
{
	pctl_cpu_ins ins = {0};

	switch (in->op) {
	case PCTL_OP_IF:
		bytecode_if(f, in);
		return;
	case PCTL_OP_END_IF:
		close_region(f, PCTL_CPU_END_IF);
		return;
	case PCTL_OP_SWITCH:
		open_switch(f, value, in);
		return;
	case PCTL_OP_CASE:
		next_case(f);
		return;
	case PCTL_OP_END_SWITCH:
		close_region(f, PCTL_CPU_END_SWITCH);
		return;
	case PCTL_OP_LOOP:
		open_region(f, PCTL_OP_LOOP);
		if (f->status != PCTL_OK)
			return;
		ins.kind = PCTL_CPU_LOOP;
		ins.c = top(f)->mask[0];
		ins.e = top(f)->mask[1];
		top(f)->switch_index = pctl_cpu_emit(f, &ins) + 1;
		return;
	case PCTL_OP_END_LOOP:
		close_region(f, PCTL_CPU_END_LOOP);
		return;
	case PCTL_OP_BREAK:
	case PCTL_OP_CONTINUE:
		leave(f, in->op);
		return;
	case PCTL_OP_RETURN:
		bytecode_return(f, in);
		return;
	case PCTL_OP_CALL:
		bytecode_call(f, value, in);
		return;
	case PCTL_OP_BARRIER:
		pctl_cpu_bytecode_barrier(f, pctl_arg(f->p, in, 0));
		return;
	case PCTL_OP_ELSE:
		ins.kind = PCTL_CPU_ELSE;
		break;
	case PCTL_OP_LOOP_TEST:
		ins.kind = PCTL_CPU_LOOP_TEST;
		ins.a = condition(f, in, &ins.flags);
		break;
	case PCTL_OP_CONTINUING:
		ins.kind = PCTL_CPU_CONTINUING;
		break;
	default: /* BLOCK, END_BLOCK: scopes only */
		return;
	}
	/* ELSE, LOOP_TEST and CONTINUING are markers themselves and part one region into two. */
	ins.c = top(f)->mask[0];
	ins.e = top(f)->mask[1];
	mark(f);
	emit_pending(f, &ins);
}

static void bytecode_inst(pctl_cpu_bytecode *f, uint32_t value, const pctl_inst *in)
{
	switch (pctl_op_get(in->op)->kind) {
	case PCTL_OPKIND_control:
		bytecode_control(f, value, in);
		break;
	case PCTL_OPKIND_atomic:
		pctl_cpu_bytecode_atomic(f, value, in);
		break;
	case PCTL_OPKIND_subgroup:
		pctl_cpu_bytecode_subgroup(f, value, in);
		break;
	case PCTL_OPKIND_tile:
		pctl_cpu_bytecode_tile(f, value, in);
		break;
	case PCTL_OPKIND_memory:
		if (in->op == PCTL_OP_STORE)
			pctl_cpu_bytecode_store(f, in);
		else if (in->op == PCTL_OP_ARRAY_LENGTH)
			pctl_cpu_bytecode_length(f, value, in);
		else
			pctl_cpu_bytecode_load(f, value, in);
		break;
	default:
		pctl_cpu_bytecode_data(f, value, in);
		break;
	}
}

/* One fixed register for each scalar of a type that crosses calls. */
static void add_edges(pctl_cpu_bytecode *f, uint32_t type)
{
	const pctl_program *p = f->p;
	const pctl_type *ty = &p->types[type];

	if (ty->kind == PCTL_TYPE_STRUCT) {
		for (uint32_t i = 0; i < ty->count; i++)
			add_edges(f, p->members[ty->first_member + i].type);
	} else if (ty->kind == PCTL_TYPE_ARRAY) {
		for (uint32_t i = 0; i < ty->count && f->status == PCTL_OK; i++)
			add_edges(f, ty->elem);
	} else {
		const uint8_t wide = pctl_cpu_scalar_wide(ty->scalar);

		for (uint32_t i = 0; i < f->type_leaves[type] && f->status == PCTL_OK; i++) {
			const uint32_t reg = pctl_cpu_bytecode_fixed(f, 1u + wide);

			if (f->status == PCTL_OK)
				f->regs.at[reg].wide = wide;
			PCTL_CPU_PUSH(f, edges, reg);
		}
	}
}

static void open_function(pctl_cpu_bytecode *f, uint32_t number)
{
	const pctl_program *p = f->p;
	const pctl_inst *insts = p->insts + f->fn->first_inst;
	pctl_cpu_region body = {.pending = PCTL_CPU_NONE};
	uint32_t edge;

	f->param_first[number] = f->edges.n;
	for (uint32_t i = 0; i < f->fn->n_params; i++)
		add_edges(f, insts[i].type);
	f->return_first[number] = f->edges.n;
	add_edges(f, f->fn->return_type);
	edge = f->param_first[number];
	for (uint32_t i = 0; i < f->fn->n_params; i++) {
		uint32_t *at = pctl_cpu_value_new(f, i, insts[i].type);

		for (uint32_t k = 0; at && k < f->type_leaves[insts[i].type]; k++)
			at[k] = f->edges.at[edge++];
	}
	f->code->function_start[number] = f->ins.n;
	f->code->function_mask[number] = pctl_cpu_bytecode_fixed(f, 1);
	f->regions.n = 0;
	f->masks.n = 0;
	PCTL_CPU_PUSH(f, regions, body);
	pctl_cpu_bytecode_clear_locals(f);
}

void pctl_cpu_bytecode_function(pctl_cpu_bytecode *f, uint32_t number)
{
	const pctl_inst *insts;
	const pctl_cpu_ins end = {.kind = PCTL_CPU_END_FUNCTION};

	f->fn = &f->p->functions[number];
	f->fn_number = number;
	f->first_ins = f->ins.n;
	f->first_reg = f->regs.n;
	f->parts.n = 0;
	f->block = PCTL_CPU_NONE;
	f->value_first = calloc(f->fn->n_insts + 1u, sizeof(*f->value_first));
	f->facts = calloc(f->fn->n_insts + 1u, sizeof(*f->facts));
	if (!f->value_first || !f->facts) {
		f->status = pctl_no_memory(f->call, "a function of the program");
		goto out;
	}
	insts = f->p->insts + f->fn->first_inst;
	pctl_cpu_bytecode_facts(f);
	f->ir = f->fn->first_inst;
	open_function(f, number);
	for (uint32_t i = f->fn->n_params; i < f->fn->n_insts && f->status == PCTL_OK; i++) {
		f->ir = f->fn->first_inst + i;
		if (f->code->flags & PCTL_BUILD_COUNT)
			pctl_cpu_bytecode_count(f, &insts[i]);
		bytecode_inst(f, i, &insts[i]);
	}
	if (f->status != PCTL_OK)
		goto out;
	mark(f);
	pctl_cpu_emit(f, &end);
	pctl_cpu_bytecode_assign_function(f);
out:
	free(f->value_first);
	free(f->facts);
	f->value_first = NULL;
	f->facts = NULL;
}
