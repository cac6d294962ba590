/* Loops over runtime arrays are written twice where the largest indices can be told before they begin: a copy without checks for
 * when all of these are below the arrays' lengths, and the loop as it was for when not. A bound is a value of the new program that
 * is no less than one of the old program ever is in the loop: sums, products, quotients and the like of what does not change
 * there, of coordinates, and of what the tests of loops compare. Values wrap; where a bound would, the loop stays as it was.
 *
 * Bounds of coordinates are those of the whole workgroup, so that all of it goes one way. A bound may still be a value of each
 * invocation's own: those of a workgroup go different ways then, each by a check of its own indices, which is why no loop is
 * taken in which they meet. Turns are counted again in the new program (legal.c), gas in the old one. */
#include "compiler/legalize/lengths.h"

#include <stdlib.h>

#define LARGEST_LOOP 4096u   /* instructions that are written twice, at most */
#define LARGEST_GROWTH 8192u /* of the whole program */
#define MOST_LOOPS 256u	     /* looked at, in a program */

int legal_length_checked(struct legal_lengths *x, const legal_length_loop *s, uint32_t v,
			 legal_length_access *out)
{
	const pctl_inst *in = &x->p->insts[x->fn->first_inst + v];
	const uint8_t kind = pctl_op_get(in->op)->kind;
	uint32_t type;

	if ((kind != PCTL_OPKIND_memory && kind != PCTL_OPKIND_atomic) ||
	    in->op == PCTL_OP_ARRAY_LENGTH || !pctl_place_get(x->p, x->fn, in, &out->place))
		return 0;
	type = out->place.root_type;
	for (uint32_t i = 0; i < out->place.n_chain && i < 16; i++) {
		out->step = i;
		out->index = x->p->words[out->place.chain + i];
		if (x->p->types[type].kind == PCTL_TYPE_RUNTIME_ARRAY)
			return !(in->flags & PCTL_INST_PROVEN(i)) &&
			       legal_length_bound(x, s, out->index, v) != 0;
		type = pctl_type_step(x->p, type, out->index);
	}
	return 0;
}

/* ---- which loops -------------------------------------------------------------------------- */

/* Checks that the copy of a loop does without, and how many of them are in loops inside. */
static void count(struct legal_lengths *x, legal_length_loop *s)
{
	legal_length_access access;

	for (uint32_t v = s->first; v <= s->last; v++) {
		if (!legal_length_checked(x, s, v, &access))
			continue;
		s->n++;
		s->n_inside += &x->loops[x->around[v]] != s;
	}
}

/* Tests are evaluated once more than without a copy. */
static int has_effect(const pctl_inst *in)
{
	const uint8_t kind = pctl_op_get(in->op)->kind;

	return kind == PCTL_OPKIND_control || kind == PCTL_OPKIND_atomic || pctl_op_stores(in->op);
}

static int fits(const struct legal_lengths *x, const legal_length_loop *s)
{
	const uint32_t n = s->last - s->first + 1;

	if (n > LARGEST_LOOP || x->growth + n > LARGEST_GROWTH)
		return 0;
	for (uint32_t v = s->first; v <= s->last; v++) {
		const pctl_inst *in = &x->p->insts[x->fn->first_inst + v];

		if (legal_waits(&x->purity, in) || (v > s->first && v < s->test && has_effect(in)))
			return 0;
	}
	return 1;
}

/* The outermost that do without all the checks that the loops in them would. */
static void choose(struct legal_lengths *x)
{
	uint32_t behind = 0; /* the end of one that was chosen */

	for (uint32_t i = x->first_loop; i < x->n_loops; i++)
		count(x, &x->loops[i]);
	for (uint32_t i = x->first_loop; i < x->n_loops; i++) {
		legal_length_loop *s = &x->loops[i];
		uint32_t inside = 0;

		for (uint32_t k = i + 1; k < x->n_loops && x->loops[k].first < s->last; k++)
			inside += x->loops[k].outer == i ? x->loops[k].n : 0;
		if (s->first < behind || !s->n || s->n_inside < inside || !fits(x, s))
			continue;
		s->is_chosen = 1;
		x->n_chosen++;
		x->growth += s->last - s->first + 1;
		behind = s->last;
	}
}

static int find_loops(struct legal_lengths *x)
{
	uint32_t open = PCTL_NONE;

	x->first_loop = x->n_loops;
	for (uint32_t v = 0; v < x->fn->n_insts; v++) {
		const uint16_t op = x->p->insts[x->fn->first_inst + v].op;

		x->around[v] = open;
		if (op == PCTL_OP_LOOP) {
			if (x->n_loops == MOST_LOOPS)
				return 0;
			x->loops[x->n_loops] =
				(legal_length_loop){.function = x->function,
						    .first = v,
						    .last = legal_loop_end(x->p, x->fn, v),
						    .outer = open};
			x->around[v] = open = x->n_loops++;
		} else if (op == PCTL_OP_LOOP_TEST) {
			x->loops[open].test = v;
		} else if (op == PCTL_OP_CONTINUING) {
			x->loops[open].update = v;
		} else if (op == PCTL_OP_END_LOOP) {
			open = x->loops[open].outer;
		}
	}
	return 1;
}

/* ---- writing ------------------------------------------------------------------------------ */

static void position(legal *l, uint32_t v)
{
	if (l->p->origins)
		pctl_build_origin(l->b, &l->p->origins[l->fn->first_inst + v]);
}

static void test(legal *l, const pctl_inst *in, uint32_t also)
{
	const uint32_t goes_on = l->values[pctl_arg(l->p, in, 0)].id[0];

	legal_emit1(l, PCTL_OP_LOOP_TEST, 0, legal_emit2(l, PCTL_OP_AND, l->t_bool, goes_on, also));
}

/* The copy. Neither stands in a condition, which devices that run lanes under masks pay for in each turn: both tests ask, too. */
static void begin(legal *l, legal_length_loop *s)
{
	struct legal_lengths *x = l->lengths;
	legal_length_access access;

	x->holds = 0;
	for (uint32_t v = s->first; v <= s->last; v++)
		if (legal_length_checked(x, s, v, &access))
			legal_length_require(x, l, s, v, &access);
	s->otherwise = legal_emit1(l, PCTL_OP_NOT, l->t_bool, x->holds - 1);
	for (uint32_t v = s->first; v <= s->last && l->status == PCTL_OK; v++) {
		pctl_inst in = l->p->insts[l->fn->first_inst + v];

		if (legal_length_checked(x, s, v, &access))
			in.flags |= (uint16_t)PCTL_INST_PROVEN(access.step);
		position(l, v);
		if (v == s->test)
			test(l, &in, x->holds - 1);
		else
			legal_int64_rules.instruction(l, v, &in);
	}
	position(l, s->first);
}

static void instruction(legal *l, uint32_t v, const pctl_inst *in)
{
	struct legal_lengths *x = l->lengths;

	for (uint32_t i = 0; i < x->n_loops; i++) {
		legal_length_loop *s = &x->loops[i];

		if (!s->is_chosen || s->function != l->function)
			continue;
		if (s->first == v)
			begin(l, s);
		if (s->test == v) {
			test(l, in, s->otherwise);
			return;
		}
	}
	legal_int64_rules.instruction(l, v, in);
}

static void look_at(struct legal_lengths *x, uint32_t f)
{
	x->function = f;
	x->fn = &x->p->functions[f];
	x->around = x->around_all + x->fn->first_inst;
}

static int prepare(struct legal_lengths *x)
{
	const pctl_program *p = x->p;

	x->loops = calloc(MOST_LOOPS, sizeof(*x->loops));
	x->around_all = calloc(p->n_insts + 1u, sizeof(*x->around_all));
	if (!legal_purity_open(&x->purity, p) || !x->loops || !x->around_all)
		return 0;
	for (uint32_t f = 1; f < p->n_functions; f++) {
		look_at(x, f);
		if (!find_loops(x))
			return 1;
		choose(x);
	}
	return 1;
}

static int plan(legal *l)
{
	look_at(l->lengths, l->function);
	return 1;
}

pctl_status legal_lengths_pass(const pctl_program *p, const pctl_call *call, pctl_program **out)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	legal_rules rules = legal_int64_rules;
	struct legal_lengths x = {.p = p};
	legal l = {.call = &quiet, .lengths = &x};
	pctl_status status = prepare(&x) ? PCTL_OK : PCTL_E_NOMEM;

	*out = NULL;
	rules.instruction = instruction;
	rules.plan = plan;
	if (status == PCTL_OK && x.n_chosen)
		status = legal_rebuild(&l, p, &rules, 0, NULL, out);
	/* Twice a loop may be more than a program may have. */
	if (status == PCTL_E_INVALID)
		status = PCTL_OK;
	legal_purity_close(&x.purity);
	free(x.loops);
	free(x.around_all);
	return status == PCTL_OK ? status : pctl_no_memory(call, "legalising a program");
}
