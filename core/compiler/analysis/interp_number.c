/* What is known of the result of one scalar operation. An operation that is not understood gives a
 * symbol that is the same for the same operands, so that equal expressions stay equal. */
#include "compiler/analysis/interp.h"

static uint8_t least(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

/* ---- scalars ---- */

static const pctl_absval *made(pctl_interp *w, uint8_t scalar, int64_t lo, int64_t hi, uint16_t op,
			       const pctl_absval *const *args, uint32_t n)
{
	return pctl_absval_made(&w->symbols, scalar, lo, hi, op, scalar, args, n);
}

static const pctl_absval *anything(pctl_interp *w, uint8_t scalar, uint16_t op,
				   const pctl_absval *const *args, uint32_t n)
{
	int64_t lo, hi;

	pctl_scalar_range(scalar, &lo, &hi);
	return made(w, scalar, lo, hi, op, args, n);
}

const pctl_absval *pctl_absval_linear(pctl_interp *w, uint8_t scalar, uint16_t op,
				      const pctl_absval *a, const pctl_absval *b, int64_t factor)
{
	const pctl_absval *const args[2] = {a, b};
	pctl_affine f;

	if (pctl_affine_add(&a->form, &b->form, factor, &f))
		return pctl_absval_affine(&w->symbols, scalar, &f, least(a->uniform, b->uniform),
					  least(a->shared, b->shared), w->state.facts);
	return anything(w, scalar, op, args, 2);
}

static const pctl_absval *scaled(pctl_interp *w, uint8_t scalar, const pctl_absval *a,
				 int64_t factor)
{
	pctl_affine f;

	if (pctl_affine_scale(&a->form, factor, &f))
		return pctl_absval_affine(&w->symbols, scalar, &f, a->uniform, a->shared,
					  w->state.facts);
	return NULL;
}

static int is_number(const pctl_absval *k, int64_t *out)
{
	*out = k->form.constant;
	return k->exact && k->form.n == 0;
}

static const pctl_absval *multiply(pctl_interp *w, uint8_t scalar, const pctl_absval *a,
				   const pctl_absval *b)
{
	const pctl_absval *const args[2] = {a, b};
	const pctl_absval *out = NULL;
	int64_t c, lo, hi;

	if (is_number(b, &c))
		out = scaled(w, scalar, a, c);
	else if (is_number(a, &c))
		out = scaled(w, scalar, b, c);
	if (out)
		return out;
	pctl_scalar_range(scalar, &lo, &hi);
	if (a->exact && b->exact && a->lo >= 0 && b->lo >= 0 && a->hi < ((int64_t)1 << 32) &&
	    b->hi < ((int64_t)1 << 29) && a->hi * b->hi <= hi)
		return made(w, scalar, a->lo * b->lo, a->hi * b->hi, PCTL_OP_MUL, args, 2);
	return anything(w, scalar, PCTL_OP_MUL, args, 2);
}

/* Give a symbol just made facts that hold always; the same symbol gets the same facts again. */
static void attach(pctl_interp *w, const pctl_absval *k, const pctl_affine *f)
{
	pctl_symbol *x;

	if (k->form.n != 1)
		return;
	x = &w->symbols.items[k->form.term[0].symbol];
	x->facts = pctl_fact_push(&w->symbols, x->facts, f);
}

static int has_facts(const pctl_interp *w, const pctl_absval *k)
{
	return k->form.n != 1 || w->symbols.items[k->form.term[0].symbol].facts;
}

/* factor_a*a + factor_b*b + constant <= 0 */
static void relate(pctl_interp *w, const pctl_absval *k, const pctl_absval *a, int64_t factor_a,
		   const pctl_absval *b, int64_t factor_b, int64_t constant)
{
	pctl_affine f;

	if (!pctl_affine_scale(&a->form, factor_a, &f) ||
	    !pctl_affine_add(&f, &b->form, factor_b, &f))
		return;
	f.constant += constant;
	attach(w, k, &f);
}

/* Every coefficient divides by c: the exact quotient. */
static int divides(const pctl_absval *a, int64_t c, pctl_affine *out)
{
	uint32_t i;

	*out = a->form;
	if (a->form.constant % c)
		return 0;
	out->constant /= c;
	for (i = 0; i < out->n; i++) {
		if (out->term[i].factor % c)
			return 0;
		out->term[i].factor /= c;
	}
	return 1;
}

/* x / c and x % c for c > 0 and x not negative. */
static const pctl_absval *divide(pctl_interp *w, uint8_t scalar, const pctl_absval *a, int64_t c)
{
	const pctl_absval *x = pctl_absval_exact(&w->symbols, a), *args[2], *q;
	pctl_affine f;

	if (!x)
		return NULL;
	if (divides(x, c, &f))
		return pctl_absval_affine(&w->symbols, scalar, &f, x->uniform, x->shared,
					  w->state.facts);
	args[0] = x;
	args[1] = pctl_absval_number(&w->symbols, scalar, (uint64_t)c);
	if (!args[1])
		return NULL;
	q = made(w, scalar, x->lo / c, x->hi / c, PCTL_OP_DIV, args, 2);
	if (q && !has_facts(w, q)) {
		relate(w, q, q, c, x, -1, 0);
		relate(w, q, q, -c, x, 1, -(c - 1));
	}
	return q;
}

static const pctl_absval *modulo(pctl_interp *w, uint8_t scalar, const pctl_absval *a, int64_t c)
{
	const pctl_absval *x = pctl_absval_exact(&w->symbols, a), *args[2], *r;

	if (!x)
		return NULL;
	if (x->lo >= 0 && x->hi < c)
		return x;
	args[0] = x;
	args[1] = pctl_absval_number(&w->symbols, scalar, (uint64_t)c);
	if (!args[1])
		return NULL;
	r = made(w, scalar, 0, c - 1, PCTL_OP_MOD, args, 2);
	if (r && !has_facts(w, r))
		relate(w, r, r, 1, x, -1, 0);
	return r;
}

static int not_negative(const pctl_absval *k)
{
	return k->exact ? k->lo >= 0 : !pctl_scalar_is_signed(k->scalar);
}

static const pctl_absval *minimum(pctl_interp *w, uint8_t scalar, const pctl_absval *a,
				  const pctl_absval *b, int is_max)
{
	const pctl_absval *x = pctl_absval_exact(&w->symbols, a),
			  *y = pctl_absval_exact(&w->symbols, b), *m;
	const int64_t sign = is_max ? -1 : 1;
	const pctl_absval *args[2] = {x, y};
	int64_t lo, hi;

	if (!x || !y)
		return NULL;
	if (x->hi <= y->lo)
		return is_max ? y : x;
	if (y->hi <= x->lo)
		return is_max ? x : y;
	lo = (x->lo < y->lo) != is_max ? x->lo : y->lo;
	hi = (x->hi < y->hi) != is_max ? x->hi : y->hi;
	m = made(w, scalar, lo, hi, is_max ? PCTL_OP_MAX : PCTL_OP_MIN, args, 2);
	if (m && !has_facts(w, m)) {
		relate(w, m, m, sign, x, -sign, 0);
		relate(w, m, m, sign, y, -sign, 0);
	}
	return m;
}

/* a & b of values that are not negative: at most each of them. */
static const pctl_absval *mask(pctl_interp *w, uint8_t scalar, const pctl_absval *a,
			       const pctl_absval *b)
{
	const pctl_absval *x = pctl_absval_exact(&w->symbols, a),
			  *y = pctl_absval_exact(&w->symbols, b), *m;
	const pctl_absval *args[2] = {x, y};
	int64_t c;

	if (!x || !y)
		return NULL;
	if (is_number(x, &c)) {
		args[0] = y;
		args[1] = x;
	}
	if (is_number(args[1], &c) && c >= 0 && (c & (c + 1)) == 0 && not_negative(args[0]))
		return modulo(w, scalar, args[0], c + 1);
	if (!not_negative(x) || !not_negative(y) || pctl_scalar_bits(scalar) > 32)
		return anything(w, scalar, PCTL_OP_AND, args, 2);
	m = made(w, scalar, 0, x->hi < y->hi ? x->hi : y->hi, PCTL_OP_AND, args, 2);
	if (m && !has_facts(w, m)) {
		relate(w, m, m, 1, x, -1, 0);
		relate(w, m, m, 1, y, -1, 0);
	}
	return m;
}

/* ---- bools ---- */

static pctl_absval *with_facts(pctl_interp *w, const pctl_absval *k)
{
	pctl_absval *copy = k ? pctl_arena_alloc(w->arena, sizeof(*copy)) : NULL;

	if (copy)
		*copy = *k;
	return copy;
}

/* A fact a - b + c <= 0 in front of a list. */
static const pctl_fact *difference(pctl_interp *w, const pctl_fact *list, const pctl_absval *a,
				   const pctl_absval *b, int64_t c)
{
	pctl_affine f;

	if (!pctl_affine_add(&a->form, &b->form, -1, &f))
		return list;
	f.constant += c;
	return pctl_fact_push(&w->symbols, list, &f);
}

static const pctl_absval *compare(pctl_interp *w, uint16_t op, const pctl_absval *a,
				  const pctl_absval *b)
{
	const pctl_absval *x = pctl_absval_exact(&w->symbols, a),
			  *y = pctl_absval_exact(&w->symbols, b);
	const pctl_absval *args[2] = {x, y};
	int64_t lo = 0, hi = 1;
	pctl_absval *k;

	if (!x || !y)
		return NULL;
	if (op == PCTL_OP_GT || op == PCTL_OP_GE) {
		args[0] = y;
		args[1] = x;
		x = args[0];
		y = args[1];
		op = op == PCTL_OP_GT ? PCTL_OP_LT : PCTL_OP_LE;
	}
	if (op == PCTL_OP_LT) {
		lo = x->hi < y->lo;
		hi = x->lo < y->hi;
	} else if (op == PCTL_OP_LE) {
		lo = x->hi <= y->lo;
		hi = x->lo <= y->hi;
	} else if (x->hi < y->lo || y->hi < x->lo) {
		lo = hi = op == PCTL_OP_NE;
	} else if (x->lo == x->hi && y->lo == y->hi) {
		lo = hi = op == PCTL_OP_EQ;
	}
	k = with_facts(w, made(w, PCTL_SCALAR_BOOL, lo, hi, op, args, 2));
	if (!k || x->scalar == PCTL_SCALAR_BOOL)
		return k;
	switch (op) {
	case PCTL_OP_LT:
		k->yes = difference(w, NULL, x, y, 1);
		k->no = difference(w, NULL, y, x, 0);
		break;
	case PCTL_OP_LE:
		k->yes = difference(w, NULL, x, y, 0);
		k->no = difference(w, NULL, y, x, 1);
		break;
	default: {
		const pctl_fact *equal = difference(w, difference(w, NULL, x, y, 0), y, x, 0),
				*unequal = NULL;

		/* Unequal to the end of a range is beyond it. */
		if (y->lo == y->hi && x->lo == y->lo)
			unequal = difference(w, NULL, y, x, 1);
		else if (y->lo == y->hi && x->hi == y->hi)
			unequal = difference(w, NULL, x, y, 1);
		else if (x->lo == x->hi && y->lo == x->lo)
			unequal = difference(w, NULL, x, y, 1);
		k->yes = op == PCTL_OP_EQ ? equal : unequal;
		k->no = op == PCTL_OP_EQ ? unequal : equal;
		break;
	}
	}
	return k;
}

const pctl_absval *pctl_absval_logic(pctl_interp *w, uint16_t op, const pctl_absval *a,
				     const pctl_absval *b)
{
	const pctl_absval *const args[2] = {a, b};
	const int is_and = op == PCTL_OP_AND;
	pctl_absval *k;

	k = with_facts(w, made(w, PCTL_SCALAR_BOOL, is_and ? a->lo & b->lo : a->lo | b->lo,
			       is_and ? a->hi & b->hi : a->hi | b->hi, op, args, 2));
	if (!k)
		return NULL;
	if (is_and)
		k->yes = pctl_fact_concat(&w->symbols, a->yes, b->yes);
	else
		k->no = pctl_fact_concat(&w->symbols, a->no, b->no);
	return k;
}

/* Not a is 1 - a, so that a and its negation are seen to be opposite. */
static const pctl_absval *negate(pctl_interp *w, const pctl_absval *a)
{
	pctl_affine f;
	pctl_absval *k;

	if (!pctl_affine_scale(&a->form, -1, &f))
		return NULL;
	f.constant++;
	k = with_facts(w, pctl_absval_affine(&w->symbols, PCTL_SCALAR_BOOL, &f, a->uniform,
					     a->shared, NULL));
	if (k) {
		k->yes = a->no;
		k->no = a->yes;
	}
	return k;
}

/* ---- one component ---- */

static const pctl_absval *cast(pctl_interp *w, uint8_t to, const pctl_absval *a, uint16_t op)
{
	const pctl_absval *const args[1] = {a};
	const pctl_absval *x = a;
	int64_t lo, hi;

	pctl_scalar_range(to, &lo, &hi);
	if (to == PCTL_SCALAR_BOOL) {
		const pctl_absval *zero = pctl_absval_number(&w->symbols, a->scalar, 0);

		return zero ? compare(w, PCTL_OP_NE, a, zero) : NULL;
	}
	if (pctl_scalar_bits(to) > pctl_scalar_bits(a->scalar))
		x = pctl_absval_exact(&w->symbols, a);
	if (!x)
		return NULL;
	/* A value that fits keeps its number; cutting to 32 bits keeps the form modulo 2^32. */
	if ((x->exact &&
	     (pctl_scalar_bits(to) > 32 ? pctl_scalar_is_signed(to) || x->lo >= 0 : 1)) ||
	    pctl_scalar_bits(to) == pctl_scalar_bits(a->scalar) ||
	    pctl_scalar_bits(a->scalar) == 64) {
		if (pctl_scalar_bits(to) >= 32 && op == PCTL_OP_CAST)
			return pctl_absval_affine(&w->symbols, to, &x->form, x->uniform, x->shared,
						  w->state.facts);
		if (pctl_scalar_bits(to) == 32 && pctl_scalar_bits(a->scalar) == 32)
			return pctl_absval_affine(&w->symbols, to, &x->form, x->uniform, x->shared,
						  w->state.facts);
	}
	return made(w, to, lo, hi, op, args, 1);
}

static const pctl_absval *shift(pctl_interp *w, uint8_t scalar, uint16_t op, const pctl_absval *a,
				const pctl_absval *b)
{
	const uint32_t bits = pctl_scalar_bits(scalar);
	const pctl_absval *const args[2] = {a, b};
	const pctl_absval *out = NULL;
	int64_t c;

	if (!is_number(b, &c)) {
		if (op == PCTL_OP_SHR && a->exact && a->lo >= 0)
			return made(w, scalar, 0, a->hi, op, args, 2);
		return anything(w, scalar, op, args, 2);
	}
	c &= bits - 1;
	if (op == PCTL_OP_SHL)
		out = c < 32 ? scaled(w, scalar, a, (int64_t)1 << c) : NULL;
	else if (not_negative(a) && c < 32)
		out = divide(w, scalar, a, (int64_t)1 << c);
	return out ? out : anything(w, scalar, op, args, 2);
}

static const pctl_absval *select_known(pctl_interp *w, uint8_t scalar,
				       const pctl_absval *const *args)
{
	const int64_t lo = args[1]->lo < args[2]->lo ? args[1]->lo : args[2]->lo;
	const int64_t hi = args[1]->hi > args[2]->hi ? args[1]->hi : args[2]->hi;

	if (args[0]->lo == args[0]->hi)
		return args[0]->lo ? args[1] : args[2];
	if (args[1]->exact && args[2]->exact)
		return made(w, scalar, lo, hi, PCTL_OP_SELECT, args, 3);
	return anything(w, scalar, PCTL_OP_SELECT, args, 3);
}

/* A native float operation: who agrees on its operands agrees on its result, but written twice it may
 * give two results, as devices contract and reorder. */
static const pctl_absval *native(pctl_interp *w, uint8_t scalar, const pctl_absval *const *args,
				 uint32_t n)
{
	uint8_t uniform = PCTL_AGREE_ALL, shared = w->round_agrees;
	int64_t lo, hi;
	uint32_t i;

	for (i = 0; i < n; i++) {
		uniform = least(uniform, args[i]->uniform);
		shared = least(shared, args[i]->shared);
	}
	pctl_scalar_range(scalar, &lo, &hi);
	return pctl_absval_fresh(&w->symbols, scalar, lo, hi, uniform, shared);
}

/* Strict floats are pure and so are found by their operands like any operation that is not
 * understood; nothing is known of their values, nor of integers made from them. */
const pctl_absval *pctl_absval_component(pctl_interp *w, uint16_t op, uint8_t scalar,
					 const pctl_absval *const *args, uint32_t n)
{
	const uint32_t bits = pctl_scalar_bits(scalar);
	const pctl_absval *low;
	int64_t c;

	if (PCTL_IS_NATIVE(op))
		return native(w, scalar, args, n);
	switch (op) {
	case PCTL_OP_ADD:
		return pctl_absval_linear(w, scalar, op, args[0], args[1], 1);
	case PCTL_OP_SUB:
		return pctl_absval_linear(w, scalar, op, args[0], args[1], -1);
	case PCTL_OP_NEG:
		return scaled(w, scalar, args[0], -1);
	case PCTL_OP_MUL:
		return multiply(w, scalar, args[0], args[1]);
	case PCTL_OP_SHL:
	case PCTL_OP_SHR:
		return shift(w, scalar, op, args[0], args[1]);
	case PCTL_OP_DIV:
	case PCTL_OP_DIV_WGSL:
		if (is_number(args[1], &c) && c > 0 && not_negative(args[0]))
			return divide(w, scalar, args[0], c);
		break;
	case PCTL_OP_MOD:
		if (is_number(args[1], &c) && c > 0 && not_negative(args[0]))
			return modulo(w, scalar, args[0], c);
		break;
	case PCTL_OP_AND:
		return scalar == PCTL_SCALAR_BOOL ? pctl_absval_logic(w, op, args[0], args[1])
						  : mask(w, scalar, args[0], args[1]);
	case PCTL_OP_OR:
		if (scalar == PCTL_SCALAR_BOOL)
			return pctl_absval_logic(w, op, args[0], args[1]);
		break;
	case PCTL_OP_NOT:
		if (scalar == PCTL_SCALAR_BOOL)
			return negate(w, args[0]);
		break;
	case PCTL_OP_MIN:
	case PCTL_OP_MAX:
		return minimum(w, scalar, args[0], args[1], op == PCTL_OP_MAX);
	case PCTL_OP_CLAMP:
		low = minimum(w, scalar, args[0], args[1], 1);
		return low ? minimum(w, scalar, low, args[2], 0) : NULL;
	case PCTL_OP_ABS:
		if (not_negative(args[0]))
			return args[0];
		break;
	case PCTL_OP_POPCOUNT:
	case PCTL_OP_CLZ:
	case PCTL_OP_CTZ:
		return made(w, scalar, 0, bits, op, args, n);
	case PCTL_OP_SIGN:
		return made(w, scalar, -1, 1, op, args, n);
	case PCTL_OP_EQ:
	case PCTL_OP_NE:
	case PCTL_OP_LT:
	case PCTL_OP_LE:
	case PCTL_OP_GT:
	case PCTL_OP_GE:
		return compare(w, op, args[0], args[1]);
	case PCTL_OP_SELECT:
		return select_known(w, scalar, args);
	case PCTL_OP_CAST:
	case PCTL_OP_BITCAST:
		return cast(w, scalar, args[0], op);
	default:
		break;
	}
	return anything(w, scalar, op, args, n);
}
