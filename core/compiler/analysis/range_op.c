/* What each operation makes of ranges. A result that may leave its type wraps, and then nothing is known of it. */
#include <string.h>

#include "compiler/analysis/range.h"
#include "compiler/analysis/symbol.h"

__extension__ typedef __int128 wide;

int pctl_range_has(uint8_t scalar)
{
	return scalar != PCTL_SCALAR_NONE &&
	       !(scalar >= PCTL_SCALAR_F16 && scalar <= PCTL_SCALAR_F64) &&
	       pctl_scalar_bits(scalar) <= 32;
}

pctl_range pctl_range_all(uint8_t scalar)
{
	pctl_range r;

	pctl_scalar_range(scalar, &r.lo, &r.hi);
	return r;
}

pctl_range pctl_range_join(pctl_range a, pctl_range b)
{
	if (pctl_range_is_empty(a))
		return b;
	if (pctl_range_is_empty(b))
		return a;
	return (pctl_range){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

uint16_t pctl_range_mirrored(uint16_t op)
{
	switch (op) {
	case PCTL_OP_LT:
		return PCTL_OP_GT;
	case PCTL_OP_LE:
		return PCTL_OP_GE;
	case PCTL_OP_GT:
		return PCTL_OP_LT;
	case PCTL_OP_GE:
		return PCTL_OP_LE;
	default:
		return op;
	}
}

uint16_t pctl_range_negated(uint16_t op)
{
	switch (op) {
	case PCTL_OP_LT:
		return PCTL_OP_GE;
	case PCTL_OP_LE:
		return PCTL_OP_GT;
	case PCTL_OP_GT:
		return PCTL_OP_LE;
	case PCTL_OP_GE:
		return PCTL_OP_LT;
	default:
		return op == PCTL_OP_EQ ? PCTL_OP_NE : PCTL_OP_EQ;
	}
}

pctl_range pctl_range_where(pctl_range a, uint16_t op, pctl_range b)
{
	if (pctl_range_is_empty(a) || pctl_range_is_empty(b))
		return PCTL_RANGE_NOTHING;
	if ((op == PCTL_OP_LT || op == PCTL_OP_LE || op == PCTL_OP_EQ) &&
	    b.hi - (op == PCTL_OP_LT) < a.hi)
		a.hi = b.hi - (op == PCTL_OP_LT);
	if ((op == PCTL_OP_GT || op == PCTL_OP_GE || op == PCTL_OP_EQ) &&
	    b.lo + (op == PCTL_OP_GT) > a.lo)
		a.lo = b.lo + (op == PCTL_OP_GT);
	return a;
}

pctl_range pctl_range_length(uint64_t n_bytes, uint64_t offset, uint64_t stride)
{
	const uint64_t n = stride && n_bytes > offset ? (n_bytes - offset) / stride : 0;

	return n > UINT32_MAX ? pctl_range_all(PCTL_SCALAR_U32)
			      : (pctl_range){(int64_t)n, (int64_t)n};
}

/* ---- arithmetic --------------------------------------------------------------------------- */

/* lo .. hi as mathematics has it, in a type of the range all. */
static pctl_range within(wide lo, wide hi, pctl_range all)
{
	if (lo < all.lo || hi > all.hi)
		return all;
	return (pctl_range){(int64_t)lo, (int64_t)hi};
}

static pctl_range multiply(pctl_range a, pctl_range b, pctl_range all)
{
	const wide c[4] = {(wide)a.lo * b.lo, (wide)a.lo * b.hi, (wide)a.hi * b.lo,
			   (wide)a.hi * b.hi};
	wide lo = c[0], hi = c[0];

	for (uint32_t i = 1; i < 4; i++) {
		lo = c[i] < lo ? c[i] : lo;
		hi = c[i] > hi ? c[i] : hi;
	}
	return within(lo, hi, all);
}

static int64_t magnitude(pctl_range a)
{
	return -a.lo > a.hi ? -a.lo : a.hi;
}

/* zero_is_one: x / 0 is x, else 0. */
static pctl_range divide(pctl_range a, pctl_range b, int zero_is_one, pctl_range all)
{
	pctl_range r;

	if (b.lo < 0) {
		/* At most as far from 0 as what is divided; MIN / -1 is MIN. */
		r.hi = magnitude(a) > all.hi ? all.hi : magnitude(a);
		r.lo = -magnitude(a);
		return r;
	}
	if (b.hi == 0)
		return zero_is_one ? a : (pctl_range){0, 0};
	r.lo = a.lo < 0 ? a.lo / (b.lo ? b.lo : 1) : a.lo / b.hi;
	r.hi = a.hi < 0 ? a.hi / b.hi : a.hi / (b.lo ? b.lo : 1);
	if (b.lo == 0 && !zero_is_one)
		r = pctl_range_join(r, (pctl_range){0, 0});
	return r;
}

static pctl_range modulo(pctl_range a, pctl_range b)
{
	const int64_t most = magnitude(b) - 1;
	pctl_range r = {0, 0};

	if (most < 0)
		return r;
	if (a.lo >= 0 && a.hi < b.lo)
		return a;
	if (a.lo < 0)
		r.lo = a.lo < -most ? -most : a.lo;
	if (a.hi > 0)
		r.hi = a.hi > most ? most : a.hi;
	return r;
}

/* ---- bits --------------------------------------------------------------------------------- */

/* The least number of ones that is at least x. */
static int64_t ones(int64_t x)
{
	int64_t r = 0;

	while (r < x)
		r = 2 * r + 1;
	return r;
}

static pctl_range bitwise(uint16_t op, pctl_range a, pctl_range b, pctl_range all)
{
	const int64_t most = a.hi > b.hi ? a.hi : b.hi;

	if (op == PCTL_OP_AND && (a.lo >= 0 || b.lo >= 0)) {
		/* No bit is set that a number without a sign has not. */
		if (a.lo == a.hi && b.lo == b.hi)
			return (pctl_range){a.lo & b.lo, a.lo & b.lo};
		if (a.lo >= 0 && b.lo >= 0)
			return (pctl_range){0, a.hi < b.hi ? a.hi : b.hi};
		return (pctl_range){0, a.lo >= 0 ? a.hi : b.hi};
	}
	if (op == PCTL_OP_AND || a.lo < 0 || b.lo < 0)
		return all;
	if (op == PCTL_OP_OR)
		return (pctl_range){a.lo > b.lo ? a.lo : b.lo, ones(most)};
	return (pctl_range){0, ones(most)};
}

/* Amounts are taken modulo the width. */
static pctl_range amounts(pctl_range b, uint8_t scalar)
{
	const int64_t most = (int64_t)pctl_scalar_bits(scalar) - 1;

	return b.lo < 0 || b.hi > most ? (pctl_range){0, most} : b;
}

static pctl_range shift(uint16_t op, uint8_t scalar, pctl_range a, pctl_range b, pctl_range all)
{
	b = amounts(b, scalar);
	if (op == PCTL_OP_SHL)
		return a.lo < 0 ? all : within((wide)a.lo << b.lo, (wide)a.hi << b.hi, all);
	return (pctl_range){a.lo >> (a.lo < 0 ? b.lo : b.hi), a.hi >> (a.hi < 0 ? b.hi : b.lo)};
}

static pctl_range extract_bits(uint8_t scalar, pctl_range count, pctl_range all)
{
	const int is_signed = pctl_scalar_is_signed(scalar);

	if (count.hi >= 32)
		return all;
	if (!is_signed || count.hi == 0)
		return (pctl_range){0, ((int64_t)1 << count.hi) - 1};
	return (pctl_range){-((int64_t)1 << (count.hi - 1)), ((int64_t)1 << (count.hi - 1)) - 1};
}

/* ---- the rest ----------------------------------------------------------------------------- */

static pctl_range compare(uint16_t op, pctl_range a, pctl_range b)
{
	const pctl_range no = {0, 0}, yes = {1, 1}, either = {0, 1};

	switch (op) {
	case PCTL_OP_GT:
	case PCTL_OP_GE:
		return compare(pctl_range_mirrored(op), b, a);
	case PCTL_OP_LT:
		return a.hi < b.lo ? yes : a.lo >= b.hi ? no : either;
	case PCTL_OP_LE:
		return a.hi <= b.lo ? yes : a.lo > b.hi ? no : either;
	default:
		if (a.hi < b.lo || b.hi < a.lo)
			return op == PCTL_OP_EQ ? no : yes;
		if (a.lo == a.hi && b.lo == b.hi)
			return op == PCTL_OP_EQ ? yes : no;
		return either;
	}
}

/* The same bits in another type: what does not fit comes out a whole turn away, or anywhere. */
static pctl_range convert(uint8_t scalar, uint8_t from, pctl_range a, pctl_range all)
{
	const int64_t turn = (int64_t)1 << 32;

	if (scalar == PCTL_SCALAR_BOOL)
		return compare(PCTL_OP_NE, a, (pctl_range){0, 0});
	if (a.lo >= all.lo && a.hi <= all.hi)
		return a;
	if (pctl_scalar_bits(scalar) == 32 && pctl_scalar_bits(from) == 32 && a.hi < 0)
		return within(a.lo + turn, a.hi + turn, all);
	if (pctl_scalar_bits(scalar) == 32 && pctl_scalar_bits(from) == 32 && a.lo > all.hi)
		return within(a.lo - turn, a.hi - turn, all);
	return all;
}

static pctl_range unary(uint16_t op, uint8_t scalar, pctl_range a, pctl_range all)
{
	switch (op) {
	case PCTL_OP_NEG:
		return within(-(wide)a.hi, -(wide)a.lo, all);
	case PCTL_OP_NOT:
		return (pctl_range){all.lo + (all.hi - a.hi), all.lo + (all.hi - a.lo)};
	case PCTL_OP_ABS:
		if (a.lo >= 0)
			return a;
		return within(a.hi < 0 ? -a.hi : 0, magnitude(a), all);
	case PCTL_OP_SIGN:
		return (pctl_range){a.lo < 0 ? -1 : a.lo > 0, a.hi > 0 ? 1 : -(a.hi < 0)};
	case PCTL_OP_POPCOUNT:
	case PCTL_OP_CLZ:
	case PCTL_OP_CTZ:
		return (pctl_range){0, pctl_scalar_bits(scalar)};
	case PCTL_OP_FIRST_LEADING:
	case PCTL_OP_FIRST_TRAILING:
		if (a.lo > 0)
			return (pctl_range){0, (int64_t)pctl_scalar_bits(scalar) - 1};
		return all;
	default:
		return all;
	}
}

static pctl_range smaller(pctl_range a, pctl_range b)
{
	return (pctl_range){a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
}

static pctl_range larger(pctl_range a, pctl_range b)
{
	return (pctl_range){a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

pctl_range pctl_range_apply(uint16_t op, uint8_t scalar, uint8_t operand, const pctl_range *args)
{
	const size_t n = strlen(pctl_op_get(op)->args);
	const pctl_range all = pctl_range_all(scalar), a = args[0];

	for (size_t i = 0; i < n; i++)
		if (pctl_range_is_empty(args[i]))
			return PCTL_RANGE_NOTHING;
	switch (op) {
	case PCTL_OP_ADD:
		return within((wide)a.lo + args[1].lo, (wide)a.hi + args[1].hi, all);
	case PCTL_OP_SUB:
		return within((wide)a.lo - args[1].hi, (wide)a.hi - args[1].lo, all);
	case PCTL_OP_MUL:
		return multiply(a, args[1], all);
	case PCTL_OP_DIV:
	case PCTL_OP_DIV_WGSL:
		return divide(a, args[1], op == PCTL_OP_DIV_WGSL, all);
	case PCTL_OP_MOD:
		return modulo(a, args[1]);
	case PCTL_OP_AND:
	case PCTL_OP_OR:
	case PCTL_OP_XOR:
		return bitwise(op, a, args[1], all);
	case PCTL_OP_SHL:
	case PCTL_OP_SHR:
		return shift(op, scalar, a, args[1], all);
	case PCTL_OP_MIN:
		return smaller(a, args[1]);
	case PCTL_OP_MAX:
		return larger(a, args[1]);
	case PCTL_OP_CLAMP:
		return smaller(larger(a, args[1]), args[2]);
	case PCTL_OP_EQ:
	case PCTL_OP_NE:
	case PCTL_OP_LT:
	case PCTL_OP_LE:
	case PCTL_OP_GT:
	case PCTL_OP_GE:
		return compare(op, a, args[1]);
	case PCTL_OP_SELECT:
		if (a.lo == a.hi)
			return a.lo ? args[1] : args[2];
		return pctl_range_join(args[1], args[2]);
	case PCTL_OP_EXTRACT_BITS:
		return extract_bits(scalar, args[2], all);
	case PCTL_OP_CAST:
	case PCTL_OP_BITCAST:
		return convert(scalar, operand, a, all);
	default:
		return unary(op, scalar, a, all);
	}
}
