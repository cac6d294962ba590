/* Loop bounds (semantics sections 1 and 5): which local counts, how it steps, what it is compared
 * with, and that it can neither wrap nor be stepped over. The rules are syntactic, so that a bound
 * never depends on cleverness. Arithmetic on constants is carried out for the schedules after
 * structured-2 alone (folded_iterations). */
#include <stdlib.h>

#include "foundation/base/num.h"
#include "compiler/analysis/analyse_parts.h"
#include "compiler/analysis/range.h"
#include "compiler/eval/eval.h"

__extension__ typedef __int128 wide;

#define CONJUNCTS_MAX 16u

typedef struct loop {
	pctl_analyser *z;
	const pctl_function *fn;
	uint32_t start, test, update, end; /* of the function's list */
	pctl_loop_bound *bound;
	const pctl_folded
		*folds; /* of the function; NULL: only what is written as a constant is one */
} loop;

/* How the loop variable moves in the update. */
typedef struct step {
	uint16_t op; /* ADD, SUB, SHL, SHR, MUL or DIV_WGSL */
	uint64_t amount;
	uint8_t scalar;
	int has_start;
	wide start;
} step;

static const pctl_inst *inst(const loop *l, uint32_t v)
{
	return &l->z->p->insts[l->fn->first_inst + v];
}

static uint32_t arg(const loop *l, uint32_t v, uint32_t i)
{
	return pctl_arg(l->z->p, inst(l, v), i);
}

static wide as_number(uint8_t scalar, uint64_t bits)
{
	if (pctl_scalar_is_signed(scalar))
		return pctl_eval_signed(scalar, bits);
	return (wide)bits;
}

static wide type_min(uint8_t scalar)
{
	return pctl_scalar_is_signed(scalar) ? -((wide)1 << (pctl_scalar_bits(scalar) - 1)) : 0;
}

static wide type_max(uint8_t scalar)
{
	const uint32_t bits = pctl_scalar_bits(scalar);

	return ((wide)1 << (pctl_scalar_is_signed(scalar) ? bits - 1 : bits)) - 1;
}

static uint8_t scalar_of(const loop *l, uint32_t v)
{
	const pctl_type *t = &l->z->p->types[inst(l, v)->type];

	return t->kind == PCTL_TYPE_SCALAR ? t->scalar : PCTL_SCALAR_NONE;
}

static int is_const(const loop *l, uint32_t v, wide *out)
{
	const uint8_t scalar = scalar_of(l, v);

	*out = 0;
	if (l->folds && l->folds[v].known) {
		*out = as_number(scalar, l->folds[v].bits);
		return 1;
	}
	if (inst(l, v)->op == PCTL_OP_ZERO && scalar != PCTL_SCALAR_NONE)
		return 1;
	if (inst(l, v)->op != PCTL_OP_CONST)
		return 0;
	*out = as_number(scalar, arg(l, v, 0) | (uint64_t)arg(l, v, 1) << 32);
	return 1;
}

/* Local of an instruction whose place is a whole local, or PCTL_NONE. */
static uint32_t whole_local(const loop *l, uint32_t v, uint16_t op)
{
	pctl_place pl;

	if (inst(l, v)->op != op || !pctl_place_get(l->z->p, l->fn, inst(l, v), &pl) ||
	    pl.n_chain || !(pl.root & PCTL_PLACE_LOCAL))
		return PCTL_NONE;
	return pl.root & ~PCTL_PLACE_LOCAL;
}

static int stores_local(const loop *l, uint32_t v, uint32_t local)
{
	pctl_place pl;

	return inst(l, v)->op == PCTL_OP_STORE && pctl_place_get(l->z->p, l->fn, inst(l, v), &pl) &&
	       pl.root == (local | PCTL_PLACE_LOCAL);
}

/* ---- bounds of what a loop variable is compared with ---- */

static int declared_max(const loop *l, uint32_t v, uint64_t *out)
{
	const pctl_program *p = l->z->p;
	uint32_t i, d;
	pctl_place pl;

	/* A component's or an element's index is a value: no rule of old names one. */
	if (inst(l, v)->op != PCTL_OP_LOAD || !pctl_place_get(p, l->fn, inst(l, v), &pl) ||
	    pl.space != PCTL_SPACE_UNIFORM || !pctl_place_is_of_members(p, &pl))
		return 0;
	for (i = 0; i < p->n_maxima; i++) {
		const pctl_max *m = &p->maxima[i];

		if (m->var != pl.root || m->n_path != pl.n_chain)
			continue;
		for (d = 0; d < m->n_path && m->path[d] == p->words[pl.chain + d]; d++)
			;
		if (d == m->n_path) {
			*out = m->value;
			return 1;
		}
	}
	return 0;
}

/* The largest value of v, when a rule gives one. */
static int upper(const loop *l, uint32_t v, wide *out)
{
	wide a, b;
	uint64_t max;

	if (is_const(l, v, out))
		return 1;
	if (inst(l, v)->op == PCTL_OP_MIN) {
		const int has_a = is_const(l, arg(l, v, 0), &a) ||
				  (declared_max(l, arg(l, v, 0), &max) && (a = (wide)max, 1));
		const int has_b = is_const(l, arg(l, v, 1), &b) ||
				  (declared_max(l, arg(l, v, 1), &max) && (b = (wide)max, 1));

		if (!has_a && !has_b)
			return 0;
		*out = !has_b || (has_a && a < b) ? a : b;
		return 1;
	}
	if (declared_max(l, v, &max)) {
		*out = (wide)max;
		return 1;
	}
	return 0;
}

/* The smallest value of v: a constant, or what the type allows at least. */
static wide lower(const loop *l, uint32_t v)
{
	wide c;

	return is_const(l, v, &c) ? c : type_min(scalar_of(l, v));
}

/* ---- counting ---- */

/* i < limit or i <= limit with i growing by `amount`. */
static int count_up(const step *s, wide last, uint64_t *out)
{
	const wide amount = as_number(s->scalar, s->amount);
	const wide from = s->has_start ? s->start : type_min(s->scalar);
	wide n;

	/* `last` is the largest value that passes the test; one step from it must not wrap. */
	if (amount <= 0 || (last >= from && last + amount > type_max(s->scalar)))
		return 0;
	n = last >= from ? (last - from) / amount + 1 : 0;
	*out = n > (wide)UINT64_MAX ? UINT64_MAX : (uint64_t)n;
	return 1;
}

static int count_down(const step *s, wide last, uint64_t *out)
{
	const wide amount = as_number(s->scalar, s->amount);
	const wide from = s->has_start ? s->start : type_max(s->scalar);
	wide n;

	if (amount <= 0 || (last <= from && last - amount < type_min(s->scalar)))
		return 0;
	n = last <= from ? (from - last) / amount + 1 : 0;
	*out = n > (wide)UINT64_MAX ? UINT64_MAX : (uint64_t)n;
	return 1;
}

/* Halving until the test i >= least fails; least is at least 1, so 0 ends it. */
static int count_halving(const step *s, wide least, uint64_t *out)
{
	const uint32_t shift = (uint32_t)s->amount & (pctl_scalar_bits(s->scalar) - 1);
	wide i = s->has_start ? s->start : type_max(s->scalar);

	if (!shift || least < 1)
		return 0;
	for (*out = 0; i >= least; (*out)++)
		i >>= shift;
	return 1;
}

/* Doubling until the test i <= last fails; from 0 it would never. */
static int count_doubling(const step *s, wide last, uint64_t *out)
{
	const uint32_t shift = (uint32_t)s->amount & (pctl_scalar_bits(s->scalar) - 1);
	wide i = s->start;

	if (!shift || !s->has_start || i < 1 || (last >= 1 && last << shift > type_max(s->scalar)))
		return 0;
	for (*out = 0; i <= last; (*out)++)
		i <<= shift;
	return 1;
}

/* Multiplied by at least 2 until the test i <= last fails; from 0 it would never. */
static int count_growing(const step *s, wide last, uint64_t *out)
{
	const wide factor = as_number(s->scalar, s->amount);
	wide i = s->start;

	if (factor < 2 || !s->has_start || i < 1 ||
	    (last >= 1 && last > type_max(s->scalar) / factor))
		return 0;
	for (*out = 0; i <= last; (*out)++)
		i *= factor;
	return 1;
}

/* Divided by at least 2 until the test i >= least fails; least is at least 1, so 0 ends it. */
static int count_dividing(const step *s, wide least, uint64_t *out)
{
	const wide divisor = as_number(s->scalar, s->amount);
	wide i = s->has_start ? s->start : type_max(s->scalar);

	if (divisor < 2 || least < 1)
		return 0;
	for (*out = 0; i >= least; (*out)++)
		i /= divisor;
	return 1;
}

/* i != limit: only from a known start that hits the limit exactly. */
static int count_unequal(const step *s, wide limit, uint64_t *out)
{
	const wide amount = as_number(s->scalar, s->amount);
	const wide distance = s->op == PCTL_OP_ADD ? limit - s->start : s->start - limit;

	if (!s->has_start || (s->op != PCTL_OP_ADD && s->op != PCTL_OP_SUB) || amount <= 0 ||
	    distance < 0 || distance % amount)
		return 0;
	*out = (uint64_t)(distance / amount);
	return 1;
}

static int count(const loop *l, const step *s, uint16_t op, uint32_t limit, uint64_t *out)
{
	wide top, c;

	*out = 0;
	switch (op) {
	case PCTL_OP_LT:
	case PCTL_OP_LE:
		if (!upper(l, limit, &top))
			return 0;
		top -= op == PCTL_OP_LT;
		if (s->op == PCTL_OP_ADD)
			return count_up(s, top, out);
		if (s->op == PCTL_OP_MUL)
			return count_growing(s, top, out);
		return s->op == PCTL_OP_SHL && count_doubling(s, top, out);
	case PCTL_OP_GT:
	case PCTL_OP_GE:
		c = lower(l, limit) + (op == PCTL_OP_GT);
		if (s->op == PCTL_OP_SUB)
			return count_down(s, c, out);
		if (s->op == PCTL_OP_DIV_WGSL)
			return count_dividing(s, c, out);
		return s->op == PCTL_OP_SHR && count_halving(s, c, out);
	case PCTL_OP_NE:
		if (!is_const(l, limit, &c))
			return 0;
		if (s->op == PCTL_OP_SHR)
			return c == 0 &&
			       (!pctl_scalar_is_signed(s->scalar) ||
				(s->has_start && s->start >= 0)) &&
			       count_halving(s, 1, out);
		return count_unequal(s, c, out);
	default:
		return 0;
	}
}

/* ---- the loop variable ---- */

/* The one store to `local` in the whole loop, when it stands straight in the update; else
 * PCTL_NONE. */
static uint32_t update_store(const loop *l, uint32_t local)
{
	uint32_t found = PCTL_NONE, depth = 0, v;

	for (v = l->start; v < l->end; v++) {
		const uint16_t op = inst(l, v)->op;

		if (v > l->update)
			depth += op == PCTL_OP_IF || op == PCTL_OP_SWITCH || op == PCTL_OP_LOOP ||
				 op == PCTL_OP_BLOCK;
		if (v > l->update && (op == PCTL_OP_END_IF || op == PCTL_OP_END_SWITCH ||
				      op == PCTL_OP_END_LOOP || op == PCTL_OP_END_BLOCK))
			depth--;
		if (!stores_local(l, v, local))
			continue;
		if (found != PCTL_NONE || v < l->update || depth)
			return PCTL_NONE;
		found = v;
	}
	return found;
}

static int read_step(const loop *l, uint32_t store, uint32_t local, step *s)
{
	const uint32_t value = arg(l, store, 0);
	const pctl_inst *in = inst(l, value);
	uint32_t load, amount, swap;
	wide c;

	if (value < l->update || in->n_args != 2)
		return 0;
	load = pctl_arg(l->z->p, in, 0);
	amount = pctl_arg(l->z->p, in, 1);
	if ((in->op == PCTL_OP_ADD || in->op == PCTL_OP_MUL) && is_const(l, load, &c)) {
		swap = load;
		load = amount;
		amount = swap;
	}
	if (whole_local(l, load, PCTL_OP_LOAD) != local || load < l->update ||
	    !is_const(l, amount, &c))
		return 0;
	s->scalar = scalar_of(l, value);
	s->op = in->op;
	s->amount = (uint64_t)c;
	if ((in->op == PCTL_OP_ADD || in->op == PCTL_OP_SUB) && c < 0) {
		s->op = in->op == PCTL_OP_ADD ? PCTL_OP_SUB : PCTL_OP_ADD;
		if (c == type_min(s->scalar))
			return 0;
		s->amount = (uint64_t)-c;
	}
	return s->op == PCTL_OP_ADD || s->op == PCTL_OP_SUB || s->op == PCTL_OP_SHL ||
	       s->op == PCTL_OP_SHR || s->op == PCTL_OP_MUL || s->op == PCTL_OP_DIV_WGSL;
}

/* The value stored last before the loop, in the same region and under nothing else. */
static void read_start(const loop *l, uint32_t local, step *s)
{
	uint32_t depth = 0, v;

	for (v = l->start; v-- > 0;) {
		switch (inst(l, v)->op) {
		case PCTL_OP_END_IF:
		case PCTL_OP_END_SWITCH:
		case PCTL_OP_END_LOOP:
		case PCTL_OP_END_BLOCK:
			depth++;
			break;
		case PCTL_OP_IF:
		case PCTL_OP_SWITCH:
		case PCTL_OP_LOOP:
		case PCTL_OP_BLOCK:
			if (!depth)
				return;
			depth--;
			break;
		case PCTL_OP_ELSE:
		case PCTL_OP_CASE:
		case PCTL_OP_LOOP_TEST:
		case PCTL_OP_CONTINUING:
			if (!depth)
				return;
			break;
		case PCTL_OP_STORE:
			if (!stores_local(l, v, local))
				break;
			if (!depth && whole_local(l, v, PCTL_OP_STORE) == local)
				s->has_start = is_const(l, arg(l, v, 0), &s->start);
			return;
		default:
			break;
		}
	}
}

static void try_comparison(loop *l, uint16_t op, uint32_t var, uint32_t limit)
{
	const uint32_t local = whole_local(l, var, PCTL_OP_LOAD);
	uint32_t store;
	uint64_t n;
	wide literal;
	step s = {0};

	if (local == PCTL_NONE || var < l->start || scalar_of(l, var) < PCTL_SCALAR_I32 ||
	    scalar_of(l, var) > PCTL_SCALAR_U64)
		return;
	store = update_store(l, local);
	if (store == PCTL_NONE || !read_step(l, store, local, &s))
		return;
	read_start(l, local, &s);
	if (!count(l, &s, op, limit, &n))
		return;
	if (l->bound->bound_kind && n >= l->bound->max_iterations)
		return;
	l->bound->bound_kind = l->folds ? PCTL_BOUND_FOLDED : PCTL_BOUND_SYNTACTIC;
	l->bound->local = local;
	l->bound->max_iterations = n;
	l->bound->literal_below = 0;
	if (s.op == PCTL_OP_ADD && !pctl_scalar_is_signed(s.scalar) && is_const(l, limit, &literal))
		l->bound->literal_below = (uint64_t)literal + (op == PCTL_OP_LE);
	l->bound->step_op = s.op;
	l->bound->step = s.amount;
}

/* ---- the condition ---- */

/* The front end's short circuit: t = a; if (a) { t = b; }. A true t makes a and b true. */
static uint32_t short_circuit(const loop *l, uint32_t v, uint32_t *conjuncts)
{
	const uint32_t local = whole_local(l, v, PCTL_OP_LOAD);
	uint32_t stores[2] = {0, 0}, n = 0, depth = 0, opened = PCTL_NONE, i;

	if (local == PCTL_NONE)
		return 0;
	for (i = l->start + 1; i < v; i++) {
		const uint16_t op = inst(l, i)->op;

		if (op == PCTL_OP_IF && depth++ == 0)
			opened = i;
		else if (op == PCTL_OP_SWITCH || op == PCTL_OP_LOOP || op == PCTL_OP_BLOCK)
			depth++;
		else if (op == PCTL_OP_END_IF || op == PCTL_OP_END_SWITCH ||
			 op == PCTL_OP_END_LOOP || op == PCTL_OP_END_BLOCK)
			depth--;
		else if (op == PCTL_OP_ELSE && depth == 1)
			opened = PCTL_NONE;
		if (!stores_local(l, i, local))
			continue;
		if (n == 2 || depth != n ||
		    (n == 1 && (opened == PCTL_NONE || arg(l, opened, 0) != arg(l, stores[0], 0))))
			return 0;
		stores[n++] = i;
	}
	for (i = 0; i < n; i++)
		conjuncts[i] = arg(l, stores[i], 0);
	return n;
}

static void try_condition(loop *l)
{
	uint32_t todo[CONJUNCTS_MAX], n = 1;

	todo[0] = arg(l, l->test, 0);
	while (n) {
		const uint32_t v = todo[--n];
		const pctl_inst *in = inst(l, v);

		if (in->op == PCTL_OP_AND && n + 2 <= CONJUNCTS_MAX) {
			todo[n++] = pctl_arg(l->z->p, in, 0);
			todo[n++] = pctl_arg(l->z->p, in, 1);
		} else if (in->op == PCTL_OP_LOAD && n + 2 <= CONJUNCTS_MAX) {
			n += short_circuit(l, v, &todo[n]);
		} else if (in->op >= PCTL_OP_EQ && in->op <= PCTL_OP_GE) {
			try_comparison(l, in->op, pctl_arg(l->z->p, in, 0),
				       pctl_arg(l->z->p, in, 1));
			try_comparison(l, pctl_range_mirrored(in->op), pctl_arg(l->z->p, in, 1),
				       pctl_arg(l->z->p, in, 0));
		}
	}
}

/* The bound by the released rule, and the one that folding gives. */
static void find_bound(loop *l, const pctl_folded *folds)
{
	pctl_loop_bound *b = l->bound, folded;

	b->max_iterations = UINT64_MAX;
	b->local = PCTL_NONE;
	folded = *b;
	try_condition(l);
	l->folds = folds;
	l->bound = &folded;
	try_condition(l);
	l->folds = NULL;
	l->bound = b;
	if (!b->bound_kind && folded.bound_kind)
		*b = folded;
	b->folded_iterations = folded.max_iterations < b->max_iterations ? folded.max_iterations
									 : b->max_iterations;
}

static void refuse(pctl_analyser *z, const pctl_loop_bound *b)
{
	const pctl_pos pos =
		pctl_analyse_position(z->p, z->p->functions[b->function].first_inst + b->inst);

	pctl_analyse_fail(
		z, pctl_refuse_at(
			   z->call, PC2050_ANALYSE_LOOP, &pos,
			   b->missing ? b->missing
				      : "bound it by a literal, min(x, LITERAL), or a uniform with "
					"`//# max`",
			   "no bound of this loop of function \"%s\" can be proved",
			   pctl_str(z->p, z->p->functions[b->function].name)));
}

/* Loops without a bound are refused, or counted where the caller asked for them; the product of the others. */
static void judge(pctl_analyser *z)
{
	pctl_analysis *a = z->a;

	a->max_loop_iterations = 1;
	for (uint32_t i = 0; i < a->n_loops; i++) {
		const pctl_loop_bound *b = &a->loops[i];

		if (!b->bound_kind && !(z->flags & PCTL_ANALYSE_UNBOUNDED))
			refuse(z, b);
		a->n_unbounded += b->bound_kind == PCTL_BOUND_NONE;
		if (!pctl_num_mul(a->max_loop_iterations, b->max_iterations ? b->max_iterations : 1,
				  &a->max_loop_iterations))
			a->product_lost = 1;
	}
	if (a->n_unbounded) {
		a->max_loop_iterations = UINT64_MAX;
		a->product_lost = 1;
	}
}

void pctl_analyse_loops(pctl_analyser *z)
{
	const pctl_program *p = z->p;
	uint32_t f, v, n = 0;
	pctl_folded *folds;

	for (v = 0; v < p->n_insts; v++)
		n += p->insts[v].op == PCTL_OP_LOOP;
	z->a->loops = pctl_arena_array(z->arena, n, sizeof(pctl_loop_bound));
	folds = calloc((size_t)p->n_insts + 1, sizeof(*folds));
	if (!z->a->loops || !folds) {
		free(folds);
		pctl_analyse_fail(
			z, pctl_refuse(z->call, PC2_NOMEM, "no memory to analyse a program"));
		return;
	}
	for (f = 0; f < p->n_functions; f++) {
		loop l = {.z = z, .fn = &p->functions[f]};

		if (n)
			pctl_analyse_fold(p, l.fn, folds);
		for (v = 0; v < l.fn->n_insts; v++) {
			pctl_loop_bound *b = &z->a->loops[z->a->n_loops];

			if (inst(&l, v)->op != PCTL_OP_LOOP)
				continue;
			b->function = f;
			b->inst = l.start = v;
			l.test = z->next[l.fn->first_inst + v] - l.fn->first_inst;
			l.update = z->next[l.fn->first_inst + l.test] - l.fn->first_inst;
			l.end = z->next[l.fn->first_inst + l.update] - l.fn->first_inst;
			l.bound = b;
			b->test = l.test;
			b->update = l.update;
			z->loop_of[l.fn->first_inst + v] = z->a->n_loops++;
			find_bound(&l, folds);
		}
	}
	free(folds);
	pctl_analyse_ranges(z);
	pctl_analyse_turns(z);
	if (z->status == PCTL_OK)
		judge(z);
}
