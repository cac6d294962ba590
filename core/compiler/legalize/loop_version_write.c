/* Writing a loop twice: see loop_version.c. */
#include "compiler/legalize/loop_version.h"

#include <stdlib.h>
#include <string.h>

static void assume(legal *l, uint32_t value, int lsb_of_it)
{
	struct legal_loop_versioner *x = l->versioner;

	if (x->n_lsbs == x->capacity) {
		const uint32_t capacity = x->capacity ? 2 * x->capacity : 64;
		legal_lsb *more = realloc(x->lsbs, capacity * sizeof(*more));

		if (!more) {
			legal_refuse_memory(l);
			return;
		}
		x->lsbs = more;
		x->capacity = capacity;
	}
	x->lsbs[x->n_lsbs++] = (legal_lsb){l->new_function, value, (int16_t)lsb_of_it};
}

/* Test a value and take it for what the test says. What is kept is the least of twice the magnitudes less one,
 * in which zero is the greatest; where the bound is another one, what comes to the same. */
static void test(legal *l, const legal_loop *s, uint32_t value, uint32_t width, uint32_t bound)
{
	const uint32_t type =
		width == 1 ? l->t_u32 : pctl_build_vector(l->b, PCTL_SCALAR_U32, width);
	const uint32_t place = PCTL_PLACE_LOCAL | s->least;
	const uint32_t bits = legal_emit1(l, PCTL_OP_BITCAST, type, value);
	const uint32_t one = legal_splat(l, type, width, 1);
	const uint32_t twice = legal_emit2(l, PCTL_OP_SHL, type, bits, one);
	const uint32_t less = legal_emit2(l, PCTL_OP_SUB, type, twice, one);
	uint32_t now = legal_emit1(l, PCTL_OP_LOAD, l->t_u32, place);

	for (uint32_t i = 0; i < width; i++) {
		uint32_t lane =
			width == 1 ? less : legal_emit2(l, PCTL_OP_EXTRACT, l->t_u32, less, i);

		if (bound != LEGAL_INPUT_TINY) {
			const uint32_t end = legal_word(l, 2 * bound - 1);
			const uint32_t is_tiny = legal_emit2(l, PCTL_OP_LT, l->t_bool, lane, end);
			const uint32_t failed = legal_word(l, 0),
				       passed = legal_word(l, 0xffffffffu);

			lane = legal_emit3(l, PCTL_OP_SELECT, l->t_u32, is_tiny, failed, passed);
		}
		now = legal_emit2(l, PCTL_OP_MIN, l->t_u32, now, lane);
	}
	legal_emit2(l, PCTL_OP_STORE, 0, now, place);
	assume(l, value, bound == LEGAL_INPUT_TINY ? LEGAL_INPUT_LSB : LEGAL_LSB_NORMAL);
}

/* A local being copied: the places, growing with the depth. */
typedef struct copying {
	uint32_t from[2 + LEGAL_DEEPEST_LOCAL],
		to[2 + LEGAL_DEEPEST_LOCAL]; /* to[0] is for the value */
	uint32_t depth;
	const legal_loop *tested; /* NULL: its f32 values are not tested */
} copying;

static void copy_part(legal *l, copying *c, uint32_t type)
{
	const pctl_type *t = &l->p->types[type];
	uint16_t flags = 0;
	uint32_t n;

	if ((t->kind != PCTL_TYPE_ARRAY && t->kind != PCTL_TYPE_MATRIX) ||
	    c->depth == LEGAL_DEEPEST_LOCAL) {
		for (uint32_t i = 0; i < c->depth; i++)
			flags |= (uint16_t)PCTL_INST_PROVEN(i);
		c->to[0] = legal_emit(l, PCTL_OP_LOAD, legal_type(l, type), c->from, 1 + c->depth);
		legal_keep_flags(l, c->to[0], flags);
		n = legal_emit(l, PCTL_OP_STORE, 0, c->to, 2 + c->depth);
		legal_keep_flags(l, n, flags);
		if (c->tested && legal_type_is_f32(l->p, type))
			test(l, c->tested, c->to[0], legal_type_width(l->p, type),
			     LEGAL_ENTRY_TINY);
		return;
	}
	n = t->kind == PCTL_TYPE_ARRAY ? t->count : t->columns;
	c->depth++;
	for (uint32_t i = 0; i < n; i++) {
		c->from[c->depth] = c->to[1 + c->depth] = legal_word(l, i);
		copy_part(l, c, t->elem);
	}
	c->depth--;
}

/* The locals that the loop stores, to those of the fast copy or back. */
static void copy_locals(legal *l, const legal_loop *s, int is_back)
{
	const struct legal_loop_versioner *x = l->versioner;

	for (uint32_t i = 0; i < l->fn->n_locals; i++) {
		copying c = {.tested = is_back ? NULL : s};

		if (!x->renamed[i] || legal_loop_owns(x, i))
			continue;
		c.from[0] = PCTL_PLACE_LOCAL | (is_back ? x->renamed[i] - 1 : i);
		c.to[1] = PCTL_PLACE_LOCAL | (is_back ? i : x->renamed[i] - 1);
		copy_part(l, &c, l->p->locals[l->fn->first_local + i].type);
	}
}

static void make_locals(legal *l, legal_loop *s)
{
	struct legal_loop_versioner *x = l->versioner;
	const uint32_t all = legal_word(l, 0xffffffffu);

	s->fast_first = all;
	s->least = pctl_build_local(l->b, "", l->t_u32);
	legal_emit2(l, PCTL_OP_STORE, 0, all, PCTL_PLACE_LOCAL | s->least);
	memset(x->renamed, 0, l->fn->n_locals * sizeof(*x->renamed));
	for (uint32_t i = 0; i < l->fn->n_locals; i++)
		if (x->locals[i] & LOCAL_STORED)
			x->renamed[i] =
				1 +
				pctl_build_local(
					l->b, "",
					legal_type(l, l->p->locals[l->fn->first_local + i].type));
}

/* Values from before the loop go through a local, so that there is something to be assumed. */
static void make_live(legal *l, legal_loop *s)
{
	struct legal_loop_versioner *x = l->versioner;

	memset(x->fast_id, 0, l->fn->n_insts * sizeof(*x->fast_id));
	for (uint32_t v = s->first; v <= s->last; v++) {
		legal_operands o = {.l = l, .in = legal_loop_inst(l->p, s, v)};
		uint32_t i, value;

		while (legal_next_operand(&o, &i, &value)) {
			const uint32_t old = pctl_value_type(l->p, l->fn, value);
			uint32_t type, local, id;

			if (x->fast_id[value] || !legal_loop_live(x, s, value))
				continue;
			type = legal_type(l, old);
			local = PCTL_PLACE_LOCAL | pctl_build_local(l->b, "", type);
			legal_emit2(l, PCTL_OP_STORE, 0, l->values[value].id[0], local);
			id = legal_emit1(l, PCTL_OP_LOAD, type, local);
			test(l, s, id, legal_type_width(l->p, old), LEGAL_INPUT_TINY);
			x->fast_id[value] = 1 + id;
		}
	}
}

/* Put the values of the fast copy in their places, or take them out again. */
static void swap_live(legal *l, const legal_loop *s)
{
	uint32_t *id = l->versioner->fast_id;

	for (uint32_t v = 0; v < s->first; v++) {
		const uint32_t other = l->values[v].id[0];

		if (!id[v])
			continue;
		l->values[v].id[0] = id[v] - 1;
		id[v] = 1 + other;
	}
}

static void position(legal *l, uint32_t v)
{
	if (l->p->origins)
		pctl_build_origin(l->b, &l->p->origins[l->fn->first_inst + v]);
}

/* All that comes before the loop as it was. */
static void begin(legal *l, legal_loop *s)
{
	struct legal_loop_versioner *x = l->versioner;
	uint32_t least, end, failed;

	legal_loop_locals(x, s);
	make_locals(l, s);
	copy_locals(l, s, 0);
	make_live(l, s);
	swap_live(l, s);
	l->renamed = x->renamed;
	s->fast_function = l->new_function;
	for (uint32_t v = s->first; v <= s->last && l->status == PCTL_OK; v++) {
		const pctl_inst *in = legal_loop_inst(l->p, s, v);

		position(l, v);
		legal_int64_rules.instruction(l, v, in);
		if (legal_loop_source(x, s, v))
			test(l, s, l->values[v].id[0], legal_type_width(l->p, in->type),
			     LEGAL_INPUT_TINY);
	}
	l->renamed = NULL;
	swap_live(l, s);
	position(l, s->first);
	least = legal_emit1(l, PCTL_OP_LOAD, l->t_u32, PCTL_PLACE_LOCAL | s->least);
	s->fast_end = least;
	end = legal_word(l, 2 * LEGAL_INPUT_TINY - 1);
	failed = legal_emit2(l, PCTL_OP_LT, l->t_bool, least, end);
	legal_emit1(l, PCTL_OP_IF, 0, failed);
}

void legal_loop_version_instruction(legal *l, uint32_t v, const pctl_inst *in)
{
	struct legal_loop_versioner *x = l->versioner;
	legal_loop *at_end = NULL;

	for (uint32_t i = 0; i < x->n_loops; i++) {
		legal_loop *s = &x->loops[i];

		if (!s->is_chosen || s->function != l->function)
			continue;
		if (s->first == v)
			begin(l, s);
		if (s->last == v)
			at_end = s;
	}
	legal_int64_rules.instruction(l, v, in);
	if (!at_end)
		return;
	legal_emit(l, PCTL_OP_ELSE, 0, NULL, 0);
	copy_locals(l, at_end, 1);
	legal_emit(l, PCTL_OP_END_IF, 0, NULL, 0);
}
