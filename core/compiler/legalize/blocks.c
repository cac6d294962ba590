/* Implementation of blocks.h: a few instructions at the head of each block, and one function that adds up at the end. */
#include "compiler/legalize/blocks.h"

#include <stdlib.h>

#include "compiler/legalize/legal_parts.h"

struct legal_blocks {
	const pctl_basic_blocks *blocks;
	uint32_t *own;	  /* by block: private variable of the new program */
	uint32_t shared;  /* the counters */
	uint32_t add_all; /* the function that adds the one to the other */
};

/* ---- which there are ---------------------------------------------------------------------- */

/* Begins a region or stands behind one: it does nothing itself. */
static int is_bracket(uint16_t op)
{
	return op == PCTL_OP_ELSE || op == PCTL_OP_END_IF || op == PCTL_OP_CASE ||
	       op == PCTL_OP_END_SWITCH || op == PCTL_OP_CONTINUING || op == PCTL_OP_END_LOOP;
}

/* What follows need not run as often. */
static int ends_block(uint16_t op)
{
	return op == PCTL_OP_IF || op == PCTL_OP_SWITCH || op == PCTL_OP_LOOP ||
	       op == PCTL_OP_LOOP_TEST || op == PCTL_OP_BREAK || op == PCTL_OP_CONTINUE ||
	       op == PCTL_OP_RETURN;
}

static void find_in(const pctl_program *p, uint32_t f, pctl_basic_blocks *out)
{
	const pctl_function *fn = &p->functions[f];
	int is_open = 0;

	for (uint32_t v = fn->n_params; v < fn->n_insts; v++) {
		const uint16_t op = p->insts[fn->first_inst + v].op;

		if (op == PCTL_OP_BLOCK || op == PCTL_OP_END_BLOCK)
			continue;
		if (is_bracket(op)) {
			is_open = 0;
			continue;
		}
		if (!is_open)
			out->at[out->n++] = (pctl_basic_block){f, v, v};
		is_open = !ends_block(op);
		out->at[out->n - 1].end = v + 1;
		out->of[fn->first_inst + v] = out->n;
	}
}

pctl_status pctl_basic_blocks_find(const pctl_program *p, const pctl_call *call,
				   pctl_basic_blocks *out)
{
	*out = (pctl_basic_blocks){calloc(p->n_insts + 1u, sizeof(*out->at)),
				   calloc(p->n_insts + 1u, sizeof(*out->of)), 0, 0};
	if (out->at == NULL || out->of == NULL) {
		pctl_basic_blocks_clear(out);
		return pctl_refuse(call, PC2_NOMEM, "no memory for the blocks of a program");
	}
	for (uint32_t f = 1; f < p->n_functions; f++)
		find_in(p, f, out);
	return PCTL_OK;
}

void pctl_basic_blocks_clear(pctl_basic_blocks *b)
{
	free(b->at);
	free(b->of);
	*b = (pctl_basic_blocks){NULL, NULL, 0, 0};
}

/* ---- counting ------------------------------------------------------------------------------ */

/* Counters wrap at 2^32: whoever takes the low word over it carries. */
static void add_one_block(legal *l, uint32_t b)
{
	const struct legal_blocks *x = l->blocks;
	const uint32_t zero = legal_word(l, 0), one = legal_word(l, 1);
	const uint32_t low = legal_word(l, 2 * b), high = legal_word(l, 2 * b + 1);
	const uint32_t count = legal_emit1(l, PCTL_OP_LOAD, l->t_u32, x->own[b]);
	const uint32_t any = legal_emit2(l, PCTL_OP_NE, l->t_bool, count, zero);
	uint32_t sum, wraps;

	legal_emit1(l, PCTL_OP_IF, 0, any);
	sum = legal_emit3(l, PCTL_OP_ATOMIC_ADD, l->t_u32, count, x->shared, low);
	sum = legal_emit2(l, PCTL_OP_ADD, l->t_u32, sum, count);
	wraps = legal_emit2(l, PCTL_OP_LT, l->t_bool, sum, count);
	legal_emit1(l, PCTL_OP_IF, 0, wraps);
	legal_emit3(l, PCTL_OP_ATOMIC_ADD, l->t_u32, one, x->shared, high);
	legal_emit(l, PCTL_OP_END_IF, 0, NULL, 0);
	legal_emit(l, PCTL_OP_END_IF, 0, NULL, 0);
}

/* Names that no text has. */
static void variables(legal *l)
{
	struct legal_blocks *x = l->blocks;
	const uint32_t word = pctl_build_atomic(l->b, PCTL_SCALAR_U32);
	const pctl_var shared = {.type = pctl_build_array(l->b, word, 2 * x->blocks->n, 0),
				 .space = PCTL_SPACE_STORAGE,
				 .access = PCTL_ACCESS_READ_WRITE,
				 .group = PCTL_BLOCKS_GROUP};
	const pctl_var own = {
		.type = l->t_u32, .space = PCTL_SPACE_PRIVATE, .access = PCTL_ACCESS_READ_WRITE};

	x->shared = pctl_build_var(l->b, &shared, "runs");
	for (uint32_t b = 0; b < x->blocks->n; b++)
		x->own[b] = pctl_build_var(l->b, &own, "runs of a block");
	pctl_build_function_begin(l->b, "add runs", NULL, 0, 0);
	for (uint32_t b = 0; b < x->blocks->n; b++)
		add_one_block(l, b);
	x->add_all = pctl_build_function_end(l->b);
	l->new_function = x->add_all + 1;
}

static void count(legal *l, uint32_t b)
{
	const struct legal_blocks *x = l->blocks;
	const uint32_t one = legal_word(l, 1);
	uint32_t n = legal_emit1(l, PCTL_OP_LOAD, l->t_u32, x->own[b]);

	n = legal_emit2(l, PCTL_OP_ADD, l->t_u32, n, one);
	legal_emit2(l, PCTL_OP_STORE, 0, n, x->own[b]);
}

static void instruction(legal *l, uint32_t v, const pctl_inst *in)
{
	struct legal_blocks *x = l->blocks;
	const uint32_t b = x->blocks->of[l->fn->first_inst + v];
	const int is_entry = l->function == l->p->entries[0].function;

	if (b != 0 && x->blocks->at[b - 1].first == v)
		count(l, b - 1);
	if (is_entry && in->op == PCTL_OP_RETURN)
		legal_emit(l, PCTL_OP_CALL, 0, &x->add_all, 1);
	legal_int64_rules.instruction(l, v, in);
	if (is_entry && v + 1 == l->fn->n_insts && in->op != PCTL_OP_RETURN)
		legal_emit(l, PCTL_OP_CALL, 0, &x->add_all, 1);
}

pctl_status pctl_legal_count_blocks(const pctl_program *p, const pctl_basic_blocks *b,
				    const pctl_call *call, pctl_program **out)
{
	struct legal_blocks x = {.blocks = b};
	legal_rules rules = legal_int64_rules;
	legal l = {.call = call, .blocks = &x};
	pctl_status status;

	*out = NULL;
	rules.instruction = instruction;
	rules.variables = variables;
	x.own = calloc(b->n + 1u, sizeof(*x.own));
	status = x.own == NULL ? pctl_refuse(call, PC2_NOMEM, "no memory to count blocks")
			       : legal_rebuild(&l, p, &rules, 0, NULL, out);
	free(x.own);
	return status;
}
