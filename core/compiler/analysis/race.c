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
#define PRODUCTS_DEEP 3u /* x + y * width + z * width * height */

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

/* ---- products ---- */

/* A form as by * factor + rest, where `by` is a value that both invocations agree on: a row's length, in x + y * length. */
typedef struct split {
	const pctl_absval *by;
	pctl_affine factor, rest;
} split;

/* All its symbols have one value for both. */
static int both_agree(const system_ *s, const pctl_absval *k)
{
	for (uint32_t i = 0; i < k->form.n; i++)
		if (!is_shared(s, k->form.term[i].symbol))
			return 0;
	return k->exact;
}

/* Operand i of a symbol that is a product over the integers; NULL: it is none. */
static const pctl_absval *operand(const system_ *s, uint32_t symbol, uint32_t i)
{
	const pctl_symbol *x = &s->w->symbols.items[symbol];
	int64_t lo, hi, most;

	if (x->op != PCTL_OP_MUL || x->n_args != 2)
		return NULL;
	pctl_scalar_range((uint8_t)x->aux, &lo, &hi);
	if (!x->args[0]->exact || !x->args[1]->exact || x->args[0]->lo < 0 || x->args[1]->lo < 0 ||
	    !multiply(x->args[0]->hi, x->args[1]->hi, &most) || most > hi)
		return NULL;
	return x->args[i];
}

/* Split by the first operand of a product that both agree on (is_set: by out->by). */
static int split_form(const system_ *s, const pctl_affine *f, int is_set, split *out)
{
	uint32_t found = 0;

	out->factor = (pctl_affine){0};
	out->rest = (pctl_affine){.constant = f->constant};
	for (uint32_t t = 0; t < f->n; t++) {
		const pctl_affine one = {.n = 1, .term = {{f->term[t].symbol, 0, 1}}};
		uint32_t i = 0;

		for (; i < 2; i++) {
			const pctl_absval *by = operand(s, f->term[t].symbol, i);

			if (by == NULL || !both_agree(s, by) ||
			    (is_set && !pctl_absval_same(by, out->by)))
				continue;
			out->by = by;
			is_set = 1;
			break;
		}
		if (i < 2 &&
		    !pctl_affine_add(&out->factor, &operand(s, f->term[t].symbol, 1 - i)->form,
				     f->term[t].factor, &out->factor))
			return 0;
		if (i == 2 && !pctl_affine_add(&out->rest, &one, f->term[t].factor, &out->rest))
			return 0;
		found += i < 2;
	}
	return found != 0;
}

/* 0 <= rest < by, for each of the two from what it knows itself; so the rests differ by less. */
static int is_within_row(system_ *s, const pctl_affine *rest, const pctl_absval *by,
			 const pctl_fact *facts)
{
	pctl_affine least, most;

	if (!pctl_affine_scale(rest, -1, &least) || !pctl_affine_add(rest, &by->form, -1, &most))
		return 0;
	most.constant++;
	return pctl_affine_proven(&s->w->symbols, &least, facts) &&
	       pctl_affine_proven(&s->w->symbols, &most, facts);
}

/* x * by + r = x' * by + r' with r and r' in a row of length `by`: then x = x' and r = r', each an equation of its own; x may be
 * such a sum again. */
static void draw_products(system_ *s, const pctl_affine *first, const pctl_affine *second,
			  uint32_t depth)
{
	split a = {.by = NULL}, b;

	if (!depth || !split_form(s, first, 0, &a))
		return;
	b.by = a.by;
	if (!split_form(s, second, 1, &b) || !is_within_row(s, &a.rest, a.by, s->a->facts) ||
	    !is_within_row(s, &b.rest, a.by, s->b->facts))
		return;
	add_equation(s, &a.factor, &b.factor, 1);
	add_equation(s, &a.rest, &b.rest, 1);
	draw_products(s, &a.factor, &b.factor, depth - 1);
	draw_products(s, &a.rest, &b.rest, depth - 1);
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

/* The equations have no solution but one invocation. */
static int is_solved(system_ *s)
{
	int more;

	do {
		more = 0;
		for (uint32_t i = 0; i < s->n_equations && !s->overflow; i++)
			more |= draw(s, &s->equations[i]);
		if (s->impossible && !s->overflow)
			return 1;
		if (!more && s->n_equations + 4 < EQUATIONS_MAX && !s->overflow)
			more = draw_divisions(s);
	} while (more && !s->overflow);
	return !s->overflow && is_one(s);
}

int pctl_access_is_apart(pctl_interp *w, const pctl_access *a, const pctl_access *b, int across)
{
	system_ s = {.w = w, .a = a, .b = b, .across = across};
	const uint32_t n = a->n_chain < b->n_chain ? a->n_chain : b->n_chain;
	const pctl_fact *facts;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (!a->chain[i].index) {
			if (a->chain[i].member != b->chain[i].member)
				return 1;
			continue;
		}
		add_equation(&s, &a->chain[i].index->form, &b->chain[i].index->form,
			     a->chain[i].index->exact && b->chain[i].index->exact);
	}
	if (is_solved(&s))
		return 1;
	for (i = 0; i < n && !s.overflow && !(w->z->flags & PCTL_ANALYSE_RELEASED); i++) {
		const pctl_absval *x = a->chain[i].index, *y = b->chain[i].index;

		if (x && x->exact && y->exact)
			draw_products(&s, &x->form, &y->form, PRODUCTS_DEEP);
	}
	if (s.n_equations > n && is_solved(&s))
		return 1;
	facts = both_facts(&s);
	for (i = 0; i < n; i++) {
		if (a->chain[i].index && ordered(&s, a->chain[i].index, b->chain[i].index, facts))
			return 1;
	}
	return 0;
}
