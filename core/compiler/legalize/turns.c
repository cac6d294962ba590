/* Implementation of turns.h: a few instructions at the head of each loop that counts, and one before its test. */
#include "compiler/legalize/turns.h"

#include <stdlib.h>

#include "compiler/legalize/legal_parts.h"
#include "compiler/legalize/pure.h"

/* Who counts: an invocation for itself, or a workgroup as one. */
enum { COUNT_NONE, COUNT_OWN, COUNT_GROUP, N_COUNTS };

struct legal_turns {
	const pctl_analysis *a;
	uint32_t budget;
	uint32_t *
		loop_of; /* by instruction: of a LOOP that counts and of its LOOP_TEST 1 + the loop's number in the analysis */
	uint32_t *within; /* by loop: what its test asks besides, a value of the new function */
	legal_purity purity;
	uint8_t *count;		   /* by loop: COUNT_* */
	uint32_t counts[N_COUNTS]; /* 1 + module variable of the new program */
	uint32_t flag;
};

static void choose(struct legal_turns *x, const pctl_program *p)
{
	for (uint32_t i = 0; i < x->a->n_loops; i++) {
		const pctl_loop_bound *b = &x->a->loops[i];
		const uint32_t base = p->functions[b->function].first_inst;
		const uint32_t end = base + legal_loop_end(p, &p->functions[b->function], b->inst);

		if (b->bound_kind != PCTL_BOUND_NONE)
			continue;
		x->count[i] = COUNT_OWN;
		for (uint32_t k = base + b->inst; k < end; k++)
			if (legal_waits(&x->purity, &p->insts[k]))
				x->count[i] = COUNT_GROUP;
		x->loop_of[base + b->inst] = x->loop_of[base + b->test] = i + 1;
		x->counts[x->count[i]] = 1;
	}
}

/* Names that no text has. */
static void variables(legal *l)
{
	struct legal_turns *x = l->turns;
	const pctl_var flag = {.type = pctl_build_atomic(l->b, PCTL_SCALAR_U32),
			       .space = PCTL_SPACE_STORAGE,
			       .access = PCTL_ACCESS_READ_WRITE,
			       .group = PCTL_TURNS_GROUP};
	const pctl_var own = {
		.type = l->t_u32, .space = PCTL_SPACE_PRIVATE, .access = PCTL_ACCESS_READ_WRITE};

	x->flag = pctl_build_var(l->b, &flag, "turns exceeded");
	if (x->counts[COUNT_OWN])
		x->counts[COUNT_OWN] = 1 + pctl_build_var(l->b, &own, "turns");
	if (x->counts[COUNT_GROUP])
		x->counts[COUNT_GROUP] = 1 + pctl_build_var(l->b, &own, "turns of the workgroup");
}

/* What stands behind LOOP; the value that is true while the budget lasts. */
static uint32_t head(legal *l, uint32_t count)
{
	const struct legal_turns *x = l->turns;
	const uint32_t var = x->counts[count] - 1, one = legal_word(l, 1);
	const uint32_t turns = legal_emit1(l, PCTL_OP_LOAD, l->t_u32, var);
	const uint32_t next = legal_emit2(l, PCTL_OP_ADD, l->t_u32, turns, one);
	uint32_t within, over;

	legal_emit2(l, PCTL_OP_STORE, 0, next, var);
	within = legal_word(l, x->budget);
	within = legal_emit2(l, PCTL_OP_LT, l->t_bool, turns, within);
	over = legal_emit1(l, PCTL_OP_NOT, l->t_bool, within);
	legal_emit1(l, PCTL_OP_IF, 0, over);
	legal_emit2(l, PCTL_OP_ATOMIC_OR, l->t_u32, one, x->flag);
	legal_emit(l, PCTL_OP_END_IF, 0, NULL, 0);
	return within;
}

static void instruction(legal *l, uint32_t v, const pctl_inst *in)
{
	struct legal_turns *x = l->turns;
	const uint32_t loop = x->loop_of[l->fn->first_inst + v];
	uint32_t test;

	if (!loop || in->op == PCTL_OP_LOOP)
		legal_int64_rules.instruction(l, v, in);
	if (!loop)
		return;
	if (in->op == PCTL_OP_LOOP) {
		x->within[loop - 1] = head(l, x->count[loop - 1]);
		return;
	}
	test = legal_packed(l, pctl_arg(l->p, in, 0));
	test = legal_emit2(l, PCTL_OP_AND, l->t_bool, test, x->within[loop - 1]);
	legal_emit1(l, PCTL_OP_LOOP_TEST, 0, test);
}

pctl_status pctl_legal_turns(const pctl_program *p, const pctl_analysis *a, uint32_t budget,
			     const pctl_call *call, pctl_program **out)
{
	struct legal_turns x = {.a = a, .budget = budget};
	legal_rules rules = legal_int64_rules;
	legal l = {.call = call, .turns = &x};
	pctl_status status;

	*out = NULL;
	rules.instruction = instruction;
	rules.variables = variables;
	x.loop_of = calloc(p->n_insts + 1u, sizeof(*x.loop_of));
	x.within = calloc(a->n_loops + 1u, sizeof(*x.within));
	x.count = calloc(a->n_loops + 1u, sizeof(*x.count));
	if (!legal_purity_open(&x.purity, p) || !x.loop_of || !x.within || !x.count) {
		status = pctl_refuse(call, PC2_NOMEM, "no memory to count turns");
	} else {
		choose(&x, p);
		status = legal_rebuild(&l, p, &rules, 0, NULL, out);
	}
	free(x.loop_of);
	free(x.within);
	free(x.count);
	legal_purity_close(&x.purity);
	return status;
}
