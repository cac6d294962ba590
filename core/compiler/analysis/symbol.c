/* Linear forms, what follows from facts about them, and the table of symbols. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/vec.h"
#include "compiler/eval/eval.h"
#include "compiler/analysis/symbol.h"

#define LIMIT ((int64_t)1 << 62)

static int fits(int64_t x)
{
	return x > -LIMIT && x < LIMIT;
}

static int multiply(int64_t a, int64_t b, int64_t *out)
{
	return !__builtin_mul_overflow(a, b, out) && fits(*out);
}

static int sum(int64_t a, int64_t b, int64_t *out)
{
	return !__builtin_add_overflow(a, b, out) && fits(*out);
}

int pctl_affine_add(const pctl_affine *a, const pctl_affine *b, int64_t factor, pctl_affine *out)
{
	uint32_t i = 0, j = 0;
	pctl_affine f = {0};
	int64_t scaled;

	if (!multiply(b->constant, factor, &scaled) || !sum(a->constant, scaled, &f.constant))
		return 0;
	while (i < a->n || j < b->n) {
		const uint32_t sa = i < a->n ? a->term[i].symbol : UINT32_MAX;
		const uint32_t sb = j < b->n ? b->term[j].symbol : UINT32_MAX;
		const uint32_t s = sa < sb ? sa : sb;
		int64_t c = 0;

		if (sa == s)
			c = a->term[i++].factor;
		if (sb == s &&
		    (!multiply(b->term[j++].factor, factor, &scaled) || !sum(c, scaled, &c)))
			return 0;
		if (!c)
			continue;
		if (f.n == PCTL_AFFINE_TERMS)
			return 0;
		f.term[f.n].symbol = s;
		f.term[f.n++].factor = c;
	}
	*out = f;
	return 1;
}

int pctl_affine_scale(const pctl_affine *a, int64_t factor, pctl_affine *out)
{
	const pctl_affine zero = {0};

	return pctl_affine_add(&zero, a, factor, out);
}

int pctl_affine_same(const pctl_affine *a, const pctl_affine *b)
{
	return a->constant == b->constant && a->n == b->n &&
	       memcmp(a->term, b->term, a->n * sizeof(a->term[0])) == 0;
}

int64_t pctl_affine_factor(const pctl_affine *a, uint32_t symbol)
{
	uint32_t i;

	for (i = 0; i < a->n; i++) {
		if (a->term[i].symbol == symbol)
			return a->term[i].factor;
	}
	return 0;
}

static const pctl_symbol *at(const pctl_symbols *s, uint32_t symbol)
{
	return &s->items[symbol < s->n ? symbol : symbol - s->n];
}

int pctl_affine_range(const pctl_symbols *s, const pctl_affine *f, int64_t *lo, int64_t *hi)
{
	uint32_t i;

	*lo = *hi = f->constant;
	for (i = 0; i < f->n; i++) {
		const pctl_symbol *x = at(s, f->term[i].symbol);
		int64_t a, b;

		if (!multiply(f->term[i].factor, x->lo, &a) ||
		    !multiply(f->term[i].factor, x->hi, &b) || !sum(*lo, a < b ? a : b, lo) ||
		    !sum(*hi, a < b ? b : a, hi))
			return 0;
	}
	return 1;
}

/* ---- proofs ---- */

static int at_most_zero(const pctl_symbols *s, const pctl_affine *f)
{
	int64_t lo, hi;

	return pctl_affine_range(s, f, &lo, &hi) && hi <= 0;
}

/* The multiple of g worth taking from f: one that makes a term of both vanish; 0 for none. */
static int64_t multiple(const pctl_affine *f, const pctl_affine *g, uint32_t i)
{
	const int64_t have = pctl_affine_factor(f, g->term[i].symbol), per = g->term[i].factor;

	if (!have || have % per || have / per <= 0)
		return 0;
	return have / per;
}

static int proven(pctl_symbols *s, const pctl_affine *f, const pctl_fact *facts, uint32_t depth);

/* f <= 0 follows when f - m*g <= 0 does, for a fact g <= 0 and m > 0. */
static int by_facts(pctl_symbols *s, const pctl_affine *f, const pctl_fact *list,
		    const pctl_fact *facts, uint32_t depth)
{
	const pctl_fact *fact = list;
	uint32_t n, i;

	for (n = 0; fact && n < PCTL_FACTS_MAX; fact = fact->next, n++) {
		for (i = 0; i < fact->form.n; i++) {
			const int64_t m = multiple(f, &fact->form, i);
			pctl_affine rest;

			if (m && pctl_affine_add(f, &fact->form, -m, &rest) &&
			    proven(s, &rest, facts, depth - 1))
				return 1;
		}
	}
	return 0;
}

static int proven(pctl_symbols *s, const pctl_affine *f, const pctl_fact *facts, uint32_t depth)
{
	uint32_t i;

	if (at_most_zero(s, f))
		return 1;
	if (!depth || s->work++ > PCTL_PROOF_WORK_MAX)
		return 0;
	if (by_facts(s, f, facts, facts, depth))
		return 1;
	for (i = 0; i < f->n; i++) {
		/* Facts of a symbol speak of first copies. */
		if (f->term[i].symbol < s->n && s->items[f->term[i].symbol].facts &&
		    by_facts(s, f, s->items[f->term[i].symbol].facts, facts, depth))
			return 1;
	}
	return 0;
}

int pctl_affine_proven(pctl_symbols *s, const pctl_affine *f, const pctl_fact *facts)
{
	return proven(s, f, facts, 3);
}

static int64_t floor_divide(int64_t a, int64_t b)
{
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

void pctl_fact_narrow(const pctl_symbols *s, const pctl_fact *facts, uint32_t symbol, int64_t *lo,
		      int64_t *hi)
{
	uint32_t n;

	for (n = 0; facts && n < PCTL_FACTS_MAX; facts = facts->next, n++) {
		const int64_t c = pctl_affine_factor(&facts->form, symbol);
		pctl_affine rest = facts->form;
		int64_t low, high;
		uint32_t i;

		if (!c)
			continue;
		/* c*x <= -min(rest) */
		for (i = 0; rest.term[i].symbol != symbol; i++)
			;
		memmove(&rest.term[i], &rest.term[i + 1], (rest.n - i - 1) * sizeof(rest.term[0]));
		rest.n--;
		if (!pctl_affine_range(s, &rest, &low, &high))
			continue;
		if (c > 0 && floor_divide(-low, c) < *hi)
			*hi = floor_divide(-low, c);
		if (c < 0 && -floor_divide(-low, -c) > *lo)
			*lo = -floor_divide(-low, -c);
	}
}

/* ---- known values ---- */

void pctl_scalar_range(uint8_t scalar, int64_t *lo, int64_t *hi)
{
	const uint32_t bits = pctl_scalar_bits(scalar);

	*lo = -LIMIT; /* does not fit: no range, so no proof, comes of it */
	*hi = LIMIT;
	if (bits > 32 || (scalar >= PCTL_SCALAR_F16 && scalar <= PCTL_SCALAR_F64))
		return;
	*lo = pctl_scalar_is_signed(scalar) ? -((int64_t)1 << (bits - 1)) : 0;
	*hi = ((int64_t)1 << (pctl_scalar_is_signed(scalar) ? bits - 1 : bits)) - 1;
}

int pctl_absval_same(const pctl_absval *a, const pctl_absval *b)
{
	return a == b || (a->scalar == b->scalar && a->exact == b->exact && a->lo == b->lo &&
			  a->hi == b->hi && pctl_affine_same(&a->form, &b->form));
}

static pctl_absval *known(pctl_symbols *s, uint8_t scalar, int64_t lo, int64_t hi, uint8_t uniform,
			  uint8_t shared)
{
	pctl_absval *k = pctl_arena_alloc(s->arena, sizeof(*k));

	if (!k) {
		s->no_memory = 1;
		return NULL;
	}
	k->scalar = scalar;
	k->exact = 1;
	k->lo = lo;
	k->hi = hi;
	k->uniform = uniform;
	k->shared = shared;
	return k;
}

const pctl_absval *pctl_absval_number(pctl_symbols *s, uint8_t scalar, uint64_t bits)
{
	const int64_t value = pctl_eval_signed(scalar, bits);
	pctl_absval *k;

	/* A 64-bit number too large for a form is a value nothing is known of, but that all agree
	 * on. */
	if (!fits(value) || (!pctl_scalar_is_signed(scalar) && value < 0)) {
		int64_t lo, hi;

		pctl_scalar_range(scalar, &lo, &hi);
		return pctl_absval_fresh(s, scalar, lo, hi, PCTL_AGREE_ALL, PCTL_AGREE_ALL);
	}
	k = known(s, scalar, value, value, PCTL_AGREE_ALL, PCTL_AGREE_ALL);
	if (k)
		k->form.constant = value;
	return k;
}

static uint32_t new_symbol(pctl_symbols *s, const pctl_symbol *x)
{
	if (!PCTL_VEC_PUSH(s, *x)) {
		s->no_memory = 1;
		return PCTL_NONE;
	}
	return s->n - 1;
}

static const pctl_absval *of_symbol(pctl_symbols *s, uint8_t scalar, uint32_t symbol)
{
	const pctl_symbol *x = &s->items[symbol];
	pctl_absval *k = known(s, scalar, x->lo, x->hi, x->uniform, x->shared);

	if (!k)
		return NULL;
	if (x->lo == x->hi) {
		k->form.constant = x->lo;
		return k;
	}
	k->form.n = 1;
	k->form.term[0].symbol = symbol;
	k->form.term[0].factor = 1;
	return k;
}

const pctl_absval *pctl_absval_fresh(pctl_symbols *s, uint8_t scalar, int64_t lo, int64_t hi,
				     uint8_t uniform, uint8_t shared)
{
	const pctl_symbol x = {.lo = lo, .hi = hi, .uniform = uniform, .shared = shared};
	uint32_t id = new_symbol(s, &x);

	return id == PCTL_NONE ? NULL : of_symbol(s, scalar, id);
}

struct symbol_key {
	const pctl_symbols *s;
	const pctl_symbol *x;
	uint8_t scalar;
};

static int same_symbol(const void *ctx, uint32_t id)
{
	const struct symbol_key *key = ctx;
	const pctl_symbol *y = &key->s->items[id];
	uint32_t i;

	if (y->op != key->x->op || y->aux != key->x->aux || y->n_args != key->x->n_args ||
	    y->lo != key->x->lo || y->hi != key->x->hi)
		return 0;
	for (i = 0; i < y->n_args; i++) {
		if (!pctl_absval_same(y->args[i], key->x->args[i]))
			return 0;
	}
	return 1;
}

static uint32_t hash_symbol(const pctl_symbol *x)
{
	uint32_t h = pctl_index_hash(0, &x->op, sizeof(x->op)), i;

	h = pctl_index_hash(h, &x->aux, sizeof(x->aux));
	for (i = 0; i < x->n_args; i++) {
		const pctl_affine *f = &x->args[i]->form;

		h = pctl_index_hash(h, &f->constant, sizeof(f->constant));
		h = pctl_index_hash(h, f->term, f->n * sizeof(f->term[0]));
	}
	return h;
}

const pctl_absval *pctl_absval_made(pctl_symbols *s, uint8_t scalar, int64_t lo, int64_t hi,
				    uint16_t op, uint32_t aux, const pctl_absval *const *args,
				    uint32_t n_args)
{
	pctl_symbol x = {.lo = lo,
			 .hi = hi,
			 .uniform = PCTL_AGREE_ALL,
			 .shared = PCTL_AGREE_ALL,
			 .op = op,
			 .aux = aux,
			 .n_args = n_args};
	struct symbol_key key = {s, &x, scalar};
	uint32_t hash, id, i;

	for (i = 0; i < n_args; i++) {
		x.args[i] = args[i];
		if (args[i]->uniform < x.uniform)
			x.uniform = args[i]->uniform;
		if (args[i]->shared < x.shared)
			x.shared = args[i]->shared;
	}
	hash = hash_symbol(&x);
	id = pctl_index_find(&s->index, hash, same_symbol, &key);
	if (id == PCTL_NONE) {
		id = new_symbol(s, &x);
		if (id == PCTL_NONE || !pctl_index_add(&s->index, hash, id)) {
			s->no_memory = 1;
			return NULL;
		}
	}
	return of_symbol(s, scalar, id);
}

static int bounded_by(pctl_symbols *s, const pctl_affine *f, int64_t lo, int64_t hi,
		      const pctl_fact *facts)
{
	pctl_affine below, above;
	const pctl_affine zero = {0};

	if (!pctl_affine_add(&zero, f, -1, &below) || !sum(below.constant, lo, &below.constant) ||
	    !pctl_affine_add(&zero, f, 1, &above) || !sum(above.constant, -hi, &above.constant))
		return 0;
	return pctl_affine_proven(s, &below, facts) && pctl_affine_proven(s, &above, facts);
}

/* The range of a form under facts: that of each of its symbols is narrowed by them. */
static int range_under(const pctl_symbols *s, const pctl_affine *f, const pctl_fact *facts,
		       int64_t *lo, int64_t *hi)
{
	*lo = *hi = f->constant;
	for (uint32_t i = 0; i < f->n; i++) {
		const pctl_symbol *x = at(s, f->term[i].symbol);
		int64_t low = x->lo, high = x->hi, a, b;

		pctl_fact_narrow(s, facts, f->term[i].symbol, &low, &high);
		if (low > high || !multiply(f->term[i].factor, low, &a) ||
		    !multiply(f->term[i].factor, high, &b) || !sum(*lo, a < b ? a : b, lo) ||
		    !sum(*hi, a < b ? b : a, hi))
			return 0;
	}
	return 1;
}

const pctl_absval *pctl_absval_affine(pctl_symbols *s, uint8_t scalar, const pctl_affine *f,
				      uint8_t uniform, uint8_t shared, const pctl_fact *facts)
{
	int64_t lo, hi, low, high;
	pctl_absval *k;

	pctl_scalar_range(scalar, &lo, &hi);
	k = known(s, scalar, lo, hi, uniform, shared);
	if (!k)
		return NULL;
	k->form = *f;
	if (!pctl_affine_range(s, f, &low, &high)) {
		k->exact = 0;
	} else if (pctl_scalar_bits(scalar) > 32) {
		/* Of u64 only what is plainly small counts as exact. */
		k->exact = (pctl_scalar_is_signed(scalar) || low >= 0) && low > lo && high < hi;
	} else {
		k->exact = (low >= lo && high <= hi) || bounded_by(s, f, lo, hi, facts);
	}
	if (k->exact && low > lo)
		k->lo = low;
	if (k->exact && high < hi)
		k->hi = high;
	/* Wherever the value is, the facts are: it is made under them. */
	if (k->exact && facts && !s->is_released && range_under(s, f, facts, &low, &high)) {
		k->lo = low > k->lo ? low : k->lo;
		k->hi = high < k->hi ? high : k->hi;
	}
	return k;
}

const pctl_absval *pctl_absval_exact(pctl_symbols *s, const pctl_absval *k)
{
	int64_t lo, hi;

	if (k->exact)
		return k;
	pctl_scalar_range(k->scalar, &lo, &hi);
	return pctl_absval_made(s, k->scalar, lo, hi, 0xffff, k->scalar, &k, 1);
}

const pctl_fact *pctl_fact_push(pctl_symbols *s, const pctl_fact *list, const pctl_affine *f)
{
	pctl_fact *fact = pctl_arena_alloc(s->arena, sizeof(*fact));

	if (!fact) {
		s->no_memory = 1;
		return list;
	}
	fact->form = *f;
	fact->next = list;
	return fact;
}

const pctl_fact *pctl_fact_concat(pctl_symbols *s, const pctl_fact *a, const pctl_fact *b)
{
	uint32_t n;

	if (!b)
		return a;
	for (n = 0; a && n < PCTL_FACTS_MAX; a = a->next, n++)
		b = pctl_fact_push(s, b, &a->form);
	return b;
}
