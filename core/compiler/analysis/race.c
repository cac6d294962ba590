/* Race freedom and order of atomics: for every two accesses that may meet, that no two invocations
 * touch the same bytes. Two invocations at one place give one equation for each index; the
 * differences of their coordinates must all come out as zero (then they are one invocation), or no
 * solution be there. */
#include <stdlib.h>
#include <string.h>

#include "compiler/analysis/interp.h"

#define TERMS_MAX (3u * PCTL_AFFINE_TERMS)
#define EQUATIONS_MAX 24u
#define UNKNOWNS_MAX 48u

/* factor * x for an unknown x in lo .. hi. */
typedef struct unknown {
	uint32_t symbol;
	uint32_t kind; /* UNKNOWN_* */
	int64_t lo, hi;
	int zero; /* known to be 0 */
} unknown;

enum {
	UNKNOWN_DELTA,	/* the first invocation's value minus the second's */
	UNKNOWN_SHARED, /* one value for both */
	UNKNOWN_FIRST,	/* the first's alone */
	UNKNOWN_SECOND
};

typedef struct equation {
	int64_t constant;
	uint32_t n;
	int exact; /* over the integers; else modulo 2^32 */
	uint32_t unknown[TERMS_MAX];
	int64_t factor[TERMS_MAX];
} equation; /* sum == 0 */

typedef struct system {
	pctl_interp *w;
	const pctl_access *a, *b;
	int across; /* different workgroups; else different invocations of one */
	unknown unknowns[UNKNOWNS_MAX];
	uint32_t n_unknowns;
	equation equations[EQUATIONS_MAX];
	uint32_t n_equations;
	int impossible, overflow;
} system_;

static int is_coordinate(uint32_t symbol)
{
	return symbol < PCTL_SYMBOL_COORDINATES;
}

/* Both invocations see one value of the symbol. */
static int is_shared(const system_ *s, uint32_t symbol)
{
	const uint8_t shared = s->w->symbols.items[symbol].shared;

	if (is_coordinate(symbol))
		return !s->across && symbol >= PCTL_SYMBOL_GROUP;
	return shared == PCTL_AGREE_ALL || (!s->across && shared == PCTL_AGREE_GROUP);
}

static void range_of(const system_ *s, const pctl_access *x, uint32_t symbol, int64_t *lo,
		     int64_t *hi)
{
	*lo = s->w->symbols.items[symbol].lo;
	*hi = s->w->symbols.items[symbol].hi;
	pctl_fact_narrow(&s->w->symbols, x->facts, symbol, lo, hi);
}

static uint32_t find_unknown(system_ *s, uint32_t symbol, uint32_t kind)
{
	unknown *u;
	int64_t alo, ahi, blo, bhi;
	uint32_t i;

	for (i = 0; i < s->n_unknowns; i++) {
		if (s->unknowns[i].symbol == symbol && s->unknowns[i].kind == kind)
			return i;
	}
	if (s->n_unknowns == UNKNOWNS_MAX) {
		s->overflow = 1;
		return 0;
	}
	u = &s->unknowns[s->n_unknowns];
	u->symbol = symbol;
	u->kind = kind;
	u->zero = 0;
	range_of(s, s->a, symbol, &alo, &ahi);
	range_of(s, s->b, symbol, &blo, &bhi);
	if (alo > ahi || blo > bhi)
		s->impossible = 1; /* one of the two is never reached */
	switch (kind) {
	case UNKNOWN_DELTA:
		u->lo = alo - bhi;
		u->hi = ahi - blo;
		u->zero = u->lo == 0 && u->hi == 0;
		break;
	case UNKNOWN_SHARED:
		u->lo = alo > blo ? alo : blo;
		u->hi = ahi < bhi ? ahi : bhi;
		if (u->lo > u->hi)
			s->impossible = 1;
		break;
	default:
		u->lo = kind == UNKNOWN_FIRST ? alo : blo;
		u->hi = kind == UNKNOWN_FIRST ? ahi : bhi;
		break;
	}
	return s->n_unknowns++;
}

static void add_term(system_ *s, equation *e, uint32_t symbol, uint32_t kind, int64_t factor)
{
	if (!factor)
		return;
	if (e->n == TERMS_MAX) {
		s->overflow = 1;
		return;
	}
	e->unknown[e->n] = find_unknown(s, symbol, kind);
	e->factor[e->n++] = factor;
}

/* first(p) - second(q) == 0 */
static void add_equation(system_ *s, const pctl_affine *first, const pctl_affine *second, int exact)
{
	equation *e = &s->equations[s->n_equations];
	uint32_t i = 0, j = 0;

	if (s->n_equations == EQUATIONS_MAX) {
		s->overflow = 1;
		return;
	}
	memset(e, 0, sizeof(*e));
	e->exact = exact;
	e->constant = first->constant - second->constant;
	while (i < first->n || j < second->n) {
		const uint32_t sf = i < first->n ? first->term[i].symbol : UINT32_MAX;
		const uint32_t ss = j < second->n ? second->term[j].symbol : UINT32_MAX;
		const uint32_t symbol = sf < ss ? sf : ss;
		const int64_t cf = sf == symbol ? first->term[i++].factor : 0;
		const int64_t cs = ss == symbol ? second->term[j++].factor : 0;

		if (is_shared(s, symbol)) {
			add_term(s, e, symbol, UNKNOWN_SHARED, cf - cs);
		} else if (cf == cs) {
			add_term(s, e, symbol, UNKNOWN_DELTA, cf);
		} else {
			add_term(s, e, symbol, UNKNOWN_FIRST, cf);
			add_term(s, e, symbol, UNKNOWN_SECOND, -cs);
		}
	}
	s->n_equations++;
}

static int multiply(int64_t a, int64_t b, int64_t *out)
{
	return !__builtin_mul_overflow(a, b, out) && *out < ((int64_t)1 << 61) &&
	       *out > -((int64_t)1 << 61);
}

/* Range of the equation's sum without term `but`; 0 when too large to be of use. */
static int rest_range(const system_ *s, const equation *e, uint32_t but, int64_t *lo, int64_t *hi)
{
	uint32_t i;

	*lo = *hi = e->constant;
	for (i = 0; i < e->n; i++) {
		const unknown *u = &s->unknowns[e->unknown[i]];
		int64_t a, b;

		if (i == but || u->zero)
			continue;
		if (!multiply(e->factor[i], u->lo, &a) || !multiply(e->factor[i], u->hi, &b))
			return 0;
		*lo += a < b ? a : b;
		*hi += a < b ? b : a;
		if (*lo < -((int64_t)1 << 61) || *hi > ((int64_t)1 << 61))
			return 0;
	}
	return 1;
}

static int64_t magnitude(int64_t x)
{
	return x < 0 ? -x : x;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
	while (b) {
		const int64_t t = a % b;

		a = b;
		b = t;
	}
	return a;
}

/* No solution because all factors divide by something the constant does not. */
static int contradicts_divisor(const system_ *s, const equation *e)
{
	int64_t g = 0;
	uint32_t i;

	for (i = 0; i < e->n; i++) {
		if (!s->unknowns[e->unknown[i]].zero)
			g = common_divisor(magnitude(e->factor[i]), g);
	}
	if (!e->exact)
		g = common_divisor((int64_t)1 << 32, g);
	return g > 1 && e->constant % g;
}

/* factor * x is a multiple of what divides all the rest: then x is 0, or too large to be. */
static int divisor_forces_zero(const system_ *s, const equation *e, uint32_t which)
{
	const unknown *u = &s->unknowns[e->unknown[which]];
	const int64_t most =
		magnitude(u->lo) > magnitude(u->hi) ? magnitude(u->lo) : magnitude(u->hi);
	int64_t g = e->exact ? 0 : (int64_t)1 << 32;
	uint32_t i;

	for (i = 0; i < e->n; i++) {
		if (i != which && !s->unknowns[e->unknown[i]].zero)
			g = common_divisor(magnitude(e->factor[i]), g);
	}
	if (!g || e->constant % g)
		return 0;
	return most < g / common_divisor(g, magnitude(e->factor[which]));
}

/* Draw what one equation tells; 1 when something new was found. */
static int draw(system_ *s, const equation *e)
{
	int64_t lo, hi;
	int found = 0;
	uint32_t i;

	if (contradicts_divisor(s, e)) {
		s->impossible = 1;
		return 0;
	}
	for (i = 0; i < e->n; i++) {
		unknown *u = &s->unknowns[e->unknown[i]];

		if (!u->zero && divisor_forces_zero(s, e, i)) {
			u->zero = 1;
			found = 1;
		}
	}
	if (!rest_range(s, e, UINT32_MAX, &lo, &hi))
		return found;
	/* Modulo 2^32 the sum is an equation over the integers only while it cannot reach a
	 * multiple. */
	if (!e->exact && (lo <= -((int64_t)1 << 32) || hi >= (int64_t)1 << 32))
		return found;
	if (lo > 0 || hi < 0) {
		s->impossible = 1;
		return 0;
	}
	for (i = 0; i < e->n; i++) {
		unknown *u = &s->unknowns[e->unknown[i]];
		const int64_t c = magnitude(e->factor[i]);

		if (u->zero || !rest_range(s, e, i, &lo, &hi))
			continue;
		/* factor * x lies in -hi .. -lo: only 0 when no other multiple does. */
		if (hi < c && lo > -c) {
			u->zero = 1;
			found = 1;
		}
	}
	return found;
}

static int is_zero_delta(const system_ *s, uint32_t symbol)
{
	uint32_t i;

	for (i = 0; i < s->n_unknowns; i++) {
		if (s->unknowns[i].symbol == symbol && s->unknowns[i].kind == UNKNOWN_DELTA)
			return s->unknowns[i].zero;
	}
	return 0;
}

/* Quotient and remainder of one value by one divisor both agree: so does the value. */
static int draw_divisions(system_ *s)
{
	const pctl_symbol *all = s->w->symbols.items;
	uint32_t i, j, before = s->n_equations;

	for (i = 0; i < s->n_unknowns; i++) {
		const pctl_symbol *q = &all[s->unknowns[i].symbol];

		if (q->op != PCTL_OP_DIV || s->unknowns[i].kind != UNKNOWN_DELTA ||
		    !s->unknowns[i].zero)
			continue;
		for (j = 0; j < s->n_unknowns; j++) {
			const pctl_symbol *r = &all[s->unknowns[j].symbol];

			if (r->op != PCTL_OP_MOD || s->unknowns[j].kind != UNKNOWN_DELTA ||
			    !s->unknowns[j].zero || !pctl_absval_same(q->args[0], r->args[0]) ||
			    !pctl_absval_same(q->args[1], r->args[1]))
				continue;
			add_equation(s, &q->args[0]->form, &q->args[0]->form, q->args[0]->exact);
		}
	}
	return s->n_equations != before;
}

/* ---- with facts ---- */

/* Rename what the second invocation has of its own to second copies. */
static int renamed(const system_ *s, const pctl_affine *f, pctl_affine *out)
{
	pctl_affine r = {.constant = f->constant};
	uint32_t i, pass;

	/* Ascending ids: what keeps its id first. */
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < f->n; i++) {
			const uint32_t symbol = f->term[i].symbol;
			const int own = !is_shared(s, symbol);

			if (own != (int)pass)
				continue;
			r.term[r.n] = f->term[i];
			r.term[r.n++].symbol = own ? symbol + s->w->symbols.n : symbol;
		}
	}
	*out = r;
	return 1;
}

/* The indices are ordered: one is always less. */
static int ordered(system_ *s, const pctl_absval *a, const pctl_absval *b, const pctl_fact *facts)
{
	pctl_affine second, f, back;

	if (!a->exact || !b->exact || !renamed(s, &b->form, &second) ||
	    !pctl_affine_add(&a->form, &second, -1, &f) || !pctl_affine_scale(&f, -1, &back))
		return 0;
	f.constant++;
	back.constant++;
	return pctl_affine_proven(&s->w->symbols, &f, facts) ||
	       pctl_affine_proven(&s->w->symbols, &back, facts);
}

static const pctl_fact *both_facts(system_ *s)
{
	const pctl_fact *list = s->a->facts, *f;
	uint32_t n;

	for (f = s->b->facts, n = 0; f && n < PCTL_FACTS_MAX / 2; f = f->next, n++) {
		pctl_affine r;

		if (renamed(s, &f->form, &r))
			list = pctl_fact_push(&s->w->symbols, list, &r);
	}
	return list;
}

/* ---- pairs ---- */

/* All coordinates that tell the two apart come out equal. */
static int is_one(const system_ *s)
{
	const uint32_t first = s->across ? PCTL_SYMBOL_GROUP : PCTL_SYMBOL_LOCAL;
	uint32_t d;

	for (d = first; d < first + 3; d++) {
		int64_t alo, ahi, blo, bhi;

		if (is_zero_delta(s, d))
			continue;
		range_of(s, s->a, d, &alo, &ahi);
		range_of(s, s->b, d, &blo, &bhi);
		if (alo > ahi || blo > bhi)
			return 1;
		if (alo != ahi || blo != bhi || alo != blo)
			return 0;
	}
	return 1;
}

/* No two different invocations touch the same bytes by these accesses. */
static int is_apart(pctl_interp *w, const pctl_access *a, const pctl_access *b, int across)
{
	system_ s = {.w = w, .a = a, .b = b, .across = across};
	const uint32_t n = a->n_chain < b->n_chain ? a->n_chain : b->n_chain;
	const pctl_fact *facts;
	uint32_t i;
	int more;

	for (i = 0; i < n; i++) {
		if (!a->chain[i].index) {
			if (a->chain[i].member != b->chain[i].member)
				return 1;
			continue;
		}
		add_equation(&s, &a->chain[i].index->form, &b->chain[i].index->form,
			     a->chain[i].index->exact && b->chain[i].index->exact);
	}
	do {
		more = 0;
		for (i = 0; i < s.n_equations && !s.overflow; i++)
			more |= draw(&s, &s.equations[i]);
		if (s.impossible && !s.overflow)
			return 1;
		if (!more && s.n_equations + 4 < EQUATIONS_MAX && !s.overflow)
			more = draw_divisions(&s);
	} while (more && !s.overflow);
	if (!s.overflow && is_one(&s))
		return 1;
	facts = both_facts(&s);
	for (i = 0; i < n; i++) {
		if (a->chain[i].index && ordered(&s, a->chain[i].index, b->chain[i].index, facts))
			return 1;
	}
	return 0;
}

/* One interval is the other or holds it. */
static int is_within(const pctl_interp *w, uint32_t a, uint32_t b)
{
	/* Parents have lower numbers. */
	while (a != b) {
		if (a < b) {
			const uint32_t swap = a;

			a = b;
			b = swap;
		}
		if (w->parents.items[a] == PCTL_NONE)
			return 0;
		a = w->parents.items[a];
		if (a < b)
			return 0;
	}
	return 1;
}

static int meet(const pctl_interp *w, const pctl_intervals *a, const pctl_intervals *b)
{
	uint32_t i, j;

	for (i = 0; i < a->n; i++) {
		for (j = 0; j < b->n; j++) {
			if (is_within(w, a->number[i], b->number[j]))
				return 1;
		}
	}
	return 0;
}

/* Two invocations that may make these accesses unordered never make them to the same bytes. */
static int are_apart(pctl_interp *w, const pctl_access *a, const pctl_access *b)
{
	if (meet(w, a->intervals, b->intervals) && !is_apart(w, a, b, 0))
		return 0;
	return w->p->vars[a->var].space != PCTL_SPACE_STORAGE || is_apart(w, a, b, 1);
}

static void judge_pair(pctl_interp *w, const pctl_access *a, const pctl_access *b)
{
	pctl_analysis *out = w->z->a;
	const int atomic = a->kind == PCTL_ACCESS_KIND_ATOMIC && b->kind == PCTL_ACCESS_KIND_ATOMIC;

	if (a->kind == PCTL_ACCESS_KIND_LOAD && b->kind == PCTL_ACCESS_KIND_LOAD)
		return;
	if (atomic && a->family && a->family == b->family)
		return;
	if (atomic ? out->order_dependent : out->race != PCTL_PROOF_PROVEN)
		return;
	if (are_apart(w, a, b))
		return;
	if (atomic) {
		out->order_dependent = 1;
		out->order_function = a->family ? b->function : a->function;
		out->order_inst = a->family ? b->inst : a->inst;
		return;
	}
	out->race = PCTL_PROOF_UNPROVEN;
	out->race_function[0] = a->function;
	out->race_inst[0] = a->inst;
	out->race_function[1] = b->function;
	out->race_inst[1] = b->inst;
}

void pctl_interp_judge(pctl_interp *w)
{
	pctl_analysis *out = w->z->a;
	uint32_t i, j, pairs = 0;

	out->race = w->refuted ? PCTL_PROOF_REFUTED : PCTL_PROOF_PROVEN;
	for (i = 0; i < w->accesses.n; i++) {
		for (j = i; j < w->accesses.n; j++) {
			const pctl_access *a = w->accesses.items[i], *b = w->accesses.items[j];

			if (a->var != b->var)
				continue;
			if (++pairs > PCTL_INTERP_PAIRS_MAX) {
				if (out->race == PCTL_PROOF_PROVEN)
					out->race = PCTL_PROOF_UNPROVEN;
				out->order_dependent |= a->kind == PCTL_ACCESS_KIND_ATOMIC;
				continue;
			}
			judge_pair(w, a, b);
		}
	}
}
