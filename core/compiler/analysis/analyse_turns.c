/* Loops that the host made to count their turns (compiler/legalize/turns.h), in a program and in what legalising made of
 * it. What is found is what the code says, not who wrote it: a counter is a private variable that nothing changes but
 * by adding one, and a loop counts that adds one and compares with a constant on the way to every turn. */
#include "compiler/analysis/analyse_parts.h"

#define STEP_MOST 8u /* instructions from the load of a counter to its store */

static const pctl_inst *inst(const pctl_analyser *z, const pctl_function *fn, uint32_t v)
{
	return &z->p->insts[fn->first_inst + v];
}

/* The private u32 that instruction v loads or stores, or PCTL_NONE. */
static uint32_t variable(const pctl_analyser *z, const pctl_function *fn, uint32_t v, uint16_t op)
{
	const pctl_inst *in = inst(z, fn, v);
	pctl_place pl;

	if (in->op != op || !pctl_place_get(z->p, fn, in, &pl) || pl.n_chain ||
	    pl.space != PCTL_SPACE_PRIVATE || z->p->types[pl.root_type].kind != PCTL_TYPE_SCALAR ||
	    z->p->types[pl.root_type].scalar != PCTL_SCALAR_U32)
		return PCTL_NONE;
	return pl.root;
}

static int is_number(const pctl_analyser *z, const pctl_function *fn, uint32_t v, uint64_t *out)
{
	const pctl_inst *in = inst(z, fn, v);

	*out = 0;
	if (in->op != PCTL_OP_CONST)
		return 0;
	*out = pctl_arg(z->p, in, 0) | (uint64_t)pctl_arg(z->p, in, 1) << 32;
	return 1;
}

/* var = var + 1, with nothing in between that could change it. */
static int adds_one(const pctl_analyser *z, const pctl_function *fn, uint32_t store, uint32_t var)
{
	const uint32_t sum = pctl_arg(z->p, inst(z, fn, store), 0);
	uint32_t load, i;
	uint64_t one;

	if (inst(z, fn, sum)->op != PCTL_OP_ADD)
		return 0;
	load = pctl_arg(z->p, inst(z, fn, sum), 0);
	if (variable(z, fn, load, PCTL_OP_LOAD) != var ||
	    !is_number(z, fn, pctl_arg(z->p, inst(z, fn, sum), 1), &one) || one != 1 ||
	    load > store || store - load > STEP_MOST)
		return 0;
	for (i = load; i < store; i++)
		if (pctl_op_get(inst(z, fn, i)->op)->kind == PCTL_OPKIND_control ||
		    inst(z, fn, i)->op == PCTL_OP_STORE)
			return 0;
	return 1;
}

/* Nothing else in the program stores to it, nor to a part of it. */
static int is_counter(const pctl_analyser *z, uint32_t var)
{
	uint32_t f, v;

	for (f = 0; f < z->p->n_functions; f++) {
		const pctl_function *fn = &z->p->functions[f];

		for (v = 0; v < fn->n_insts; v++)
			if (variable(z, fn, v, PCTL_OP_STORE) == var && !adds_one(z, fn, v, var))
				return 0;
	}
	return 1;
}

/* The test region adds one on every way through it. */
static int counts(const pctl_analyser *z, const pctl_function *fn, const pctl_loop_bound *b,
		  uint32_t var)
{
	uint32_t depth = 0, v;

	for (v = b->inst + 1; v < b->test; v++) {
		switch (inst(z, fn, v)->op) {
		case PCTL_OP_IF:
		case PCTL_OP_SWITCH:
		case PCTL_OP_LOOP:
		case PCTL_OP_BLOCK:
			depth++;
			break;
		case PCTL_OP_END_IF:
		case PCTL_OP_END_SWITCH:
		case PCTL_OP_END_LOOP:
		case PCTL_OP_END_BLOCK:
			depth--;
			break;
		default:
			if (!depth && variable(z, fn, v, PCTL_OP_STORE) == var)
				return 1;
		}
	}
	return 0;
}

/* counter < CONSTANT is among what value v, the test of the loop, is the conjunction of. */
static int find_budget(const pctl_analyser *z, pctl_loop_bound *b, uint32_t v, uint32_t depth)
{
	const pctl_function *fn = &z->p->functions[b->function];
	const pctl_inst *in = inst(z, fn, v);
	uint32_t load, var;
	uint64_t most;

	if (in->op == PCTL_OP_AND && depth < 8)
		return find_budget(z, b, pctl_arg(z->p, in, 1), depth + 1) ||
		       find_budget(z, b, pctl_arg(z->p, in, 0), depth + 1);
	if (in->op != PCTL_OP_LT)
		return 0;
	load = pctl_arg(z->p, in, 0);
	var = variable(z, fn, load, PCTL_OP_LOAD);
	if (var == PCTL_NONE || load < b->inst || !is_number(z, fn, pctl_arg(z->p, in, 1), &most) ||
	    !counts(z, fn, b, var) || !is_counter(z, var))
		return 0;
	b->bound_kind = PCTL_BOUND_BUDGET;
	b->counter = var;
	b->max_iterations = b->folded_iterations = most;
	return 1;
}

void pctl_analyse_turns(pctl_analyser *z)
{
	uint32_t i;

	for (i = 0; i < z->a->n_loops && pctl_program_turn_flag(z->p) != PCTL_NONE; i++) {
		pctl_loop_bound *b = &z->a->loops[i];
		const pctl_function *fn = &z->p->functions[b->function];

		if (b->bound_kind == PCTL_BOUND_NONE)
			(void)find_budget(z, b, pctl_arg(z->p, inst(z, fn, b->test), 0), 0);
	}
}
