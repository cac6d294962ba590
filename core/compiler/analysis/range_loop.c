/* Bounds of loops by ranges. For each way out: how far the compared local moves in a turn, where it starts, and that it
 * can neither wrap nor be moved in a way that is not counted. Every number that passes a comparison is on this side of the
 * limit's far end, and the next one that is compared is further by all that a turn adds; the rest is counting. */
#include "compiler/analysis/range.h"

__extension__ typedef __int128 wide;

/* A proof of more turns than this says nothing of use: `i < x` holds fewer than 2^32 times whatever x is. */
#define ROUNDS_MAX (1u << 24)
#define INVARIANT_DEPTH 6u

/* How a local moves in one turn.
 *
 * op       ADD or SUB (all stores move it that way), or the operation of its one store
 * least, most  by how much in a turn, or the operand's range
 * n, n_early, early_*  stores, and the part of all that comes before the load that is compared
 */
typedef struct moves {
	uint16_t op;
	uint16_t n, n_early;
	uint32_t store; /* the one store, PCTL_NONE: several */
	int64_t least, most, early_least, early_most;
} moves;

typedef struct prover {
	const pctl_ranges *r;
	const pctl_program *p;
	const pctl_function *fn;
	uint32_t loop, test, update, end;
	pctl_range all; /* of the local's type */
	uint8_t scalar;
} prover;

static const pctl_inst *inst(const prover *s, uint32_t v)
{
	return &s->p->insts[s->fn->first_inst + v];
}

static uint32_t region(const prover *s, uint32_t v)
{
	return s->r->region[s->fn->first_inst + v];
}

static uint32_t next_store(const prover *s, uint32_t v)
{
	return s->r->next_store[s->fn->first_inst + v];
}

/* As instruction `at` uses it. */
static pctl_range value(const prover *s, uint32_t v, uint32_t at)
{
	return pctl_ranges_value_at(s->r, s->fn, v, 0, at);
}

/* ---- the steps ---------------------------------------------------------------------------- */

/* Does every turn that is gone on with come by? */
static int is_passed(const prover *s, uint32_t v)
{
	const uint32_t jump = s->r->first_continue[s->fn->first_inst + s->test];

	return region(s, v) == s->update || region(s, v) == s->loop ||
	       (region(s, v) == s->test && (jump == PCTL_NONE || jump > v));
}

static int is_move(uint16_t op)
{
	switch (op) {
	case PCTL_OP_ADD:
	case PCTL_OP_SUB:
	case PCTL_OP_MUL:
	case PCTL_OP_DIV:
	case PCTL_OP_DIV_WGSL:
	case PCTL_OP_SHL:
	case PCTL_OP_SHR:
		return 1;
	default:
		return 0;
	}
}

/* Which operand of a move is the local as the turn has left it since `last`: PCTL_NONE where none is. */
static uint32_t moved_operand(const prover *s, const pctl_inst *in, uint32_t local, uint32_t last)
{
	const uint32_t n = in->op == PCTL_OP_ADD || in->op == PCTL_OP_MUL ? 2 : 1;

	for (uint32_t i = 0; is_move(in->op) && i < n; i++) {
		const uint32_t v = pctl_arg(s->p, in, i);

		if (pctl_range_whole_local(s->p, s->fn, v, PCTL_OP_LOAD) == local && v > last)
			return i;
	}
	return PCTL_NONE;
}

/* One store more; last: the store before it in the loop, or the loop. */
static int add_store(const prover *s, uint32_t local, uint32_t load, uint32_t store, uint32_t last,
		     moves *m)
{
	const pctl_inst *in = inst(s, pctl_arg(s->p, inst(s, store), 0));
	const uint32_t i = moved_operand(s, in, local, last);
	uint16_t op = in->op;
	pctl_range by;

	if (i == PCTL_NONE || pctl_range_part_of_loop(s->r, s->fn, s->loop, store) == PCTL_NONE)
		return 0;
	by = value(s, pctl_arg(s->p, in, 1 - i), store);
	if ((op == PCTL_OP_ADD || op == PCTL_OP_SUB) && by.hi <= 0 && by.lo < 0) {
		op = op == PCTL_OP_ADD ? PCTL_OP_SUB : PCTL_OP_ADD;
		by = (pctl_range){-by.hi, -by.lo};
	}
	if (pctl_range_is_empty(by) || by.lo < 0 || (m->n && op != m->op))
		return 0;
	if (op != PCTL_OP_ADD && op != PCTL_OP_SUB && (m->n || !is_passed(s, store)))
		return 0;
	m->op = op;
	m->store = m->n++ ? PCTL_NONE : store;
	if (!is_passed(s, store))
		by.lo = 0;
	m->least += by.lo;
	m->most += by.hi;
	if (store < load) {
		m->n_early++;
		m->early_least += by.lo;
		m->early_most += by.hi;
	}
	return m->n < UINT16_MAX;
}

/* All stores to the local in the loop; 0: there are none, or one that is not understood. */
static int find_moves(const prover *s, uint32_t local, uint32_t load, moves *m)
{
	uint32_t v = s->r->first_store[s->fn->first_local + local], last = s->loop;

	*m = (moves){.store = PCTL_NONE};
	for (; v != PCTL_NONE && v < s->end; v = next_store(s, v)) {
		if (v < s->loop)
			continue;
		if (!add_store(s, local, load, v, last, m))
			return 0;
		last = v;
	}
	return m->n != 0;
}

/* What the local holds when the loop is entered: what the last store before it put there, if that is passed on every way
 * here, else whatever it ever holds. */
static pctl_range start(const prover *s, uint32_t local)
{
	uint32_t v = s->r->first_store[s->fn->first_local + local], last = PCTL_NONE, at;

	for (; v != PCTL_NONE && v < s->loop; v = next_store(s, v))
		last = v;
	for (at = region(s, s->loop); last != PCTL_NONE && at != region(s, last);
	     at = region(s, at))
		if (at == PCTL_NONE || s->r->loop[s->fn->first_inst + at] != PCTL_NONE)
			return pctl_ranges_local(s->r, s->fn, local);
	return last == PCTL_NONE ? pctl_ranges_local(s->r, s->fn, local)
				 : value(s, pctl_arg(s->p, inst(s, last), 0), last);
}

/* ---- counting ----------------------------------------------------------------------------- */

/* How often x passes that goes on from `from`, while it is at most `last`. 0: not known. */
static int count_up(const prover *s, const moves *m, pctl_range from, wide last, uint64_t *out)
{
	wide x = from.lo;

	*out = 0;
	if (last < from.lo)
		return 1;
	switch (m->op) {
	case PCTL_OP_ADD:
		/* The next one that is compared must not have wrapped. */
		if (m->least < 1 || last + m->most > s->all.hi)
			return 0;
		*out = (uint64_t)((last - x) / m->least) + 1;
		return 1;
	case PCTL_OP_SUB:
		/* Down to zero, and then far beyond the limit: the one loop that wants to wrap. */
		if (s->all.lo < 0 || m->least < 1 || last + m->most > s->all.hi)
			return 0;
		x = from.hi < last ? from.hi : last;
		*out = (uint64_t)(x / m->least) + 1;
		return 1;
	case PCTL_OP_MUL:
		if (m->least < 2 || x < 1 || last * m->most > s->all.hi)
			return 0;
		for (; x <= last; (*out)++)
			x *= m->least;
		return 1;
	case PCTL_OP_SHL:
		if (m->least < 1 || m->most > 31 || x < 1 || last << m->most > s->all.hi)
			return 0;
		for (; x <= last; (*out)++)
			x <<= m->least;
		return 1;
	default:
		return 0;
	}
}

/* The same while it is at least `last`. */
static int count_down(const prover *s, const moves *m, pctl_range from, wide last, uint64_t *out)
{
	wide x = from.hi;

	*out = 0;
	if (last > from.hi)
		return 1;
	switch (m->op) {
	case PCTL_OP_SUB:
		if (m->least < 1 || last - m->most < s->all.lo)
			return 0;
		*out = (uint64_t)((x - last) / m->least) + 1;
		return 1;
	case PCTL_OP_SHR:
		/* Ends at zero, which must not pass. */
		if (m->least < 1 || m->most > 31 || last < 1)
			return 0;
		for (; x >= last; (*out)++)
			x >>= m->least;
		return 1;
	case PCTL_OP_DIV:
	case PCTL_OP_DIV_WGSL:
		if (m->least < 2 || last < 1)
			return 0;
		for (; x >= last; (*out)++)
			x /= m->least;
		return 1;
	default:
		return 0;
	}
}

/* Is a local left alone by the whole loop? */
static int is_kept(const prover *s, uint32_t local)
{
	uint32_t v = s->r->first_store[s->fn->first_local + local];

	while (v != PCTL_NONE && v < s->loop)
		v = next_store(s, v);
	return v == PCTL_NONE || v > s->end;
}

static int is_invariant(const prover *s, uint32_t v, uint32_t depth);

/* A place in a uniform that is the same in every turn. */
static int is_kept_place(const prover *s, const pctl_inst *in, uint32_t depth)
{
	uint32_t type;
	pctl_place pl;

	if (!depth || !pctl_place_get(s->p, s->fn, in, &pl) || pl.space != PCTL_SPACE_UNIFORM)
		return 0;
	type = pl.root_type;
	for (uint32_t i = 0; i < pl.n_chain; i++) {
		const uint32_t word = s->p->words[pl.chain + i];

		if (s->p->types[type].kind != PCTL_TYPE_STRUCT && !is_invariant(s, word, depth - 1))
			return 0;
		type = pctl_type_step(s->p, type, word);
	}
	return 1;
}

/* Is a value the same in every turn? Those made outside are, and what is made of such alone. */
static int is_invariant(const prover *s, uint32_t v, uint32_t depth)
{
	const pctl_inst *in = inst(s, v);
	const uint32_t local = pctl_range_whole_local(s->p, s->fn, v, PCTL_OP_LOAD);
	const uint8_t kind = pctl_op_get(in->op)->kind;

	if (v < s->loop || in->op == PCTL_OP_CONST || in->op == PCTL_OP_ZERO ||
	    in->op == PCTL_OP_ARRAY_LENGTH)
		return 1;
	if (local != PCTL_NONE)
		return is_kept(s, local);
	if (in->op == PCTL_OP_LOAD)
		return is_kept_place(s, in, depth);
	if (in->op == PCTL_OP_EXTRACT && depth)
		return is_invariant(s, pctl_arg(s->p, in, 0), depth - 1);
	if (kind != PCTL_OPKIND_elem && kind != PCTL_OPKIND_convert)
		return 0;
	for (uint32_t i = 0; i < in->n_args; i++)
		if (!depth || !is_invariant(s, pctl_arg(s->p, in, i), depth - 1))
			return 0;
	return 1;
}

/* While it is not the limit: it must meet it. */
static int count_unequal(const prover *s, const moves *m, uint32_t v, pctl_range from,
			 pctl_range limit, uint64_t *out)
{
	const pctl_range a = m->op == PCTL_OP_ADD ? from : limit,
			 b = m->op == PCTL_OP_ADD ? limit : from;

	*out = 0;
	if (m->op == PCTL_OP_SHR || m->op == PCTL_OP_DIV || m->op == PCTL_OP_DIV_WGSL)
		return limit.lo == 0 && limit.hi == 0 && from.lo >= 0 &&
		       count_down(s, m, from, 1, out);
	if ((m->op != PCTL_OP_ADD && m->op != PCTL_OP_SUB) || m->least != m->most || m->least < 1 ||
	    a.hi > b.lo || !is_invariant(s, v, INVARIANT_DEPTH))
		return 0;
	if (m->least != 1 && (a.lo != a.hi || b.lo != b.hi || (b.lo - a.lo) % m->least != 0))
		return 0;
	*out = (uint64_t)((b.hi - a.lo) / m->least);
	return 1;
}

/* ---- one way out -------------------------------------------------------------------------- */

/* What is compared first: the start, after what the turn adds before it, and what the comparison adds. */
static int first_compared(const prover *s, const pctl_range_exit *e, const moves *m, pctl_range *x)
{
	const pctl_range early[2] = {*x, {m->early_least, m->early_most}};

	if (m->n_early)
		*x = pctl_range_apply(m->op, s->scalar, s->scalar, early);
	if (e->offset == 0)
		return 1;
	/* x + c moves as x does, from a number that has not wrapped. */
	x->lo += e->offset;
	x->hi += e->offset;
	return m->op == PCTL_OP_ADD && x->hi <= s->all.hi;
}

static int count(const prover *s, const pctl_range_exit *e, const moves *m, uint64_t *out)
{
	const pctl_range limit = value(s, e->limit, e->where);
	pctl_range from = start(s, e->local);

	*out = 0;
	if (pctl_range_is_empty(from) || pctl_range_is_empty(limit))
		return 1; /* nothing ever arrives here */
	if (!first_compared(s, e, m, &from))
		return 0;
	switch (e->op) {
	case PCTL_OP_LT:
	case PCTL_OP_LE:
		return count_up(s, m, from, (wide)limit.hi - (e->op == PCTL_OP_LT), out);
	case PCTL_OP_GT:
	case PCTL_OP_GE:
		return count_down(s, m, from, (wide)limit.lo + (e->op == PCTL_OP_GT), out);
	case PCTL_OP_NE:
		return count_unequal(s, m, e->limit, from, limit, out);
	default:
		return 0;
	}
}

static void keep(const prover *s, const pctl_range_exit *e, const moves *m, uint64_t rounds,
		 pctl_loop_bound *b)
{
	if (rounds > ROUNDS_MAX || rounds >= b->folded_iterations)
		return;
	b->folded_iterations = rounds;
	if (b->bound_kind == PCTL_BOUND_SYNTACTIC || b->bound_kind == PCTL_BOUND_FOLDED)
		return;
	b->bound_kind = PCTL_BOUND_RANGE;
	b->max_iterations = rounds;
	b->local = PCTL_NONE;
	/* Where it moves by a number once a turn, it is known in each turn. */
	if (m->store == PCTL_NONE || m->least != m->most || !is_passed(s, m->store))
		return;
	b->local = e->local;
	b->step_op = m->op;
	b->step = (uint64_t)m->least;
}

/* The rules of old give nothing of use: no bound, or one as of `i > 0u; i--` from anywhere. That one stays for the
 * schedules that know it, while folded_iterations becomes what is proven here. */
static int is_wanted(const pctl_loop_bound *b)
{
	return b->bound_kind == PCTL_BOUND_NONE || b->folded_iterations > ROUNDS_MAX;
}

static void bound(const pctl_ranges *r, pctl_loop_bound *b)
{
	prover s = {.r = r, .p = r->p, .fn = &r->p->functions[b->function], .loop = b->inst};

	s.test = b->test;
	s.update = b->update;
	s.end = r->z->next[s.fn->first_inst + s.update] - s.fn->first_inst;
	for (uint32_t i = r->loop_exit[s.fn->first_inst + b->inst]; i < r->exits.n; i++) {
		const pctl_range_exit *e = &r->exits.items[i];
		uint64_t rounds;
		moves m;

		if (e->fn != s.fn || e->loop != b->inst)
			break;
		s.scalar = r->p->types[inst(&s, e->load)->type].scalar;
		s.all = pctl_range_all(s.scalar);
		if (find_moves(&s, e->local, e->load, &m) && count(&s, e, &m, &rounds))
			keep(&s, e, &m, rounds + e->is_late, b);
	}
}

void pctl_analyse_ranges(pctl_analyser *z)
{
	pctl_analysis *a = z->a;
	pctl_ranges *r;
	uint32_t i = 0;

	while (i < a->n_loops && !is_wanted(&a->loops[i]))
		i++;
	if (i == a->n_loops || (z->flags & PCTL_ANALYSE_RELEASED))
		return;
	r = pctl_ranges_create(z);
	if (!r) {
		pctl_analyse_fail(
			z, pctl_refuse(z->call, PC2_NOMEM, "no memory to analyse a program"));
		return;
	}
	for (; i < a->n_loops; i++) {
		if (is_wanted(&a->loops[i]))
			bound(r, &a->loops[i]);
		if (a->loops[i].bound_kind == PCTL_BOUND_NONE)
			a->loops[i].missing = pctl_range_missing(r, &a->loops[i], z->arena);
	}
	pctl_ranges_destroy(r);
}
