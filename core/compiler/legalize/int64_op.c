/* Elementwise operations on pairs of words. The short ones are written in place; product, quotient
 * and remainder call the forms. Names: x and y are pairs, lo and hi their words. */
#include "compiler/legalize/legal_parts.h"

static uint32_t op1(legal *l, uint16_t op, uint32_t type, uint32_t a)
{
	return legal_emit1(l, op, type, a);
}

static uint32_t op2(legal *l, uint16_t op, uint32_t type, uint32_t a, uint32_t b)
{
	return legal_emit2(l, op, type, a, b);
}

static uint32_t choose(legal *l, uint32_t type, uint32_t condition, uint32_t yes, uint32_t no)
{
	return legal_emit3(l, PCTL_OP_SELECT, type, condition, yes, no);
}

/* op2 with a constant as its second operand. */
static uint32_t op_word(legal *l, uint16_t op, uint32_t type, uint32_t a, uint32_t k)
{
	return op2(l, op, type, a, legal_word(l, k));
}

uint32_t legal_pair(legal *l, uint32_t low, uint32_t high)
{
	return op2(l, PCTL_OP_COMPOSE, l->t_u2, low, high);
}

uint32_t legal_low(legal *l, uint32_t x)
{
	return op2(l, PCTL_OP_EXTRACT, l->t_u32, x, 0);
}

uint32_t legal_high(legal *l, uint32_t x)
{
	return op2(l, PCTL_OP_EXTRACT, l->t_u32, x, 1);
}

static uint32_t with_zero(legal *l, uint32_t low)
{
	return legal_pair(l, low, legal_word(l, 0));
}

static uint32_t as_word(legal *l, uint32_t condition)
{
	return op1(l, PCTL_OP_CAST, l->t_u32, condition);
}

static uint32_t both_low(legal *l, uint16_t op, uint32_t type, uint32_t a, uint32_t b)
{
	const uint32_t x = legal_low(l, a), y = legal_low(l, b);

	return op2(l, op, type, x, y);
}

static uint32_t both_high(legal *l, uint16_t op, uint32_t type, uint32_t a, uint32_t b)
{
	const uint32_t x = legal_high(l, a), y = legal_high(l, b);

	return op2(l, op, type, x, y);
}

uint32_t legal_int64_add(legal *l, uint32_t a, uint32_t b)
{
	const uint32_t alo = legal_low(l, a), blo = legal_low(l, b);
	const uint32_t lo = op2(l, PCTL_OP_ADD, l->t_u32, alo, blo);
	const uint32_t hi = both_high(l, PCTL_OP_ADD, l->t_u32, a, b);
	const uint32_t carry = as_word(l, op2(l, PCTL_OP_LT, l->t_bool, lo, alo));

	return legal_pair(l, lo, op2(l, PCTL_OP_ADD, l->t_u32, hi, carry));
}

static uint32_t subtract(legal *l, uint32_t a, uint32_t b)
{
	const uint32_t alo = legal_low(l, a), blo = legal_low(l, b);
	const uint32_t hi = both_high(l, PCTL_OP_SUB, l->t_u32, a, b);
	const uint32_t borrow = as_word(l, op2(l, PCTL_OP_LT, l->t_bool, alo, blo));
	const uint32_t low = op2(l, PCTL_OP_SUB, l->t_u32, alo, blo);

	return legal_pair(l, low, op2(l, PCTL_OP_SUB, l->t_u32, hi, borrow));
}

static uint32_t zero_pair(legal *l)
{
	return legal_emit(l, PCTL_OP_ZERO, l->t_u2, NULL, 0);
}

static uint32_t equal(legal *l, uint32_t a, uint32_t b)
{
	return op1(l, PCTL_OP_ALL, l->t_bool, op2(l, PCTL_OP_EQ, l->t_b2, a, b));
}

static uint32_t equals_zero(legal *l, uint32_t x)
{
	return equal(l, x, zero_pair(l));
}

static uint32_t negated(legal *l, uint32_t x)
{
	return subtract(l, zero_pair(l), x);
}

static uint32_t as_signed(legal *l, uint32_t x)
{
	return op1(l, PCTL_OP_BITCAST, l->t_i32, x);
}

static uint32_t less(legal *l, uint32_t a, uint32_t b, int is_signed)
{
	const uint32_t ahi = legal_high(l, a), bhi = legal_high(l, b);
	const uint32_t low = both_low(l, PCTL_OP_LT, l->t_bool, a, b);
	const uint32_t same = op2(l, PCTL_OP_EQ, l->t_bool, ahi, bhi);
	const uint32_t x = is_signed ? as_signed(l, ahi) : ahi,
		       y = is_signed ? as_signed(l, bhi) : bhi;
	const uint32_t high = op2(l, PCTL_OP_LT, l->t_bool, x, y);

	return op2(l, PCTL_OP_OR, l->t_bool, high, op2(l, PCTL_OP_AND, l->t_bool, same, low));
}

/* All ones when x is negative, else 0. */
static uint32_t sign_word(legal *l, uint32_t x)
{
	const uint32_t hi = as_signed(l, legal_high(l, x));

	return op1(l, PCTL_OP_BITCAST, l->t_u32, op_word(l, PCTL_OP_SHR, l->t_i32, hi, 31));
}

static uint32_t is_negative(legal *l, uint32_t x)
{
	return op_word(l, PCTL_OP_NE, l->t_bool, sign_word(l, x), 0);
}

/* amount & 63, split: s below 32 (the IR masks), and whether a whole word moves. */
static uint32_t moves_word(legal *l, uint32_t amount)
{
	const uint32_t bit = op_word(l, PCTL_OP_AND, l->t_u32, amount, 32);

	return op_word(l, PCTL_OP_NE, l->t_bool, bit, 0);
}

/* What crosses the word boundary in a shift by s: w moved by 32 - s, nothing for s = 0. */
static uint32_t crossing(legal *l, uint16_t away, uint32_t w, uint32_t amount)
{
	const uint32_t s = op_word(l, PCTL_OP_AND, l->t_u32, amount, 31);
	const uint32_t first = op_word(l, away, l->t_u32, w, 1);
	const uint32_t rest = op_word(l, PCTL_OP_XOR, l->t_u32, s, 31);

	return op2(l, away, l->t_u32, first, rest);
}

static uint32_t shift_left(legal *l, uint32_t x, uint32_t amount)
{
	const uint32_t lo = legal_low(l, x), moved = op2(l, PCTL_OP_SHL, l->t_u32, lo, amount);
	const uint32_t over = legal_high(l, x);
	const uint32_t kept = op2(l, PCTL_OP_SHL, l->t_u32, over, amount);
	const uint32_t crossed = crossing(l, PCTL_OP_SHR, lo, amount);
	const uint32_t hi = op2(l, PCTL_OP_OR, l->t_u32, kept, crossed);
	const uint32_t whole = moves_word(l, amount), none = legal_word(l, 0);
	const uint32_t far = legal_pair(l, none, moved), near = legal_pair(l, moved, hi);

	return choose(l, l->t_u2, whole, far, near);
}

static uint32_t shift_right(legal *l, uint32_t x, uint32_t amount, int is_signed)
{
	const uint32_t hi = legal_high(l, x), below = legal_low(l, x);
	const uint32_t kept = op2(l, PCTL_OP_SHR, l->t_u32, below, amount);
	const uint32_t crossed = crossing(l, PCTL_OP_SHL, hi, amount);
	const uint32_t lo = op2(l, PCTL_OP_OR, l->t_u32, kept, crossed);
	uint32_t moved, fill, whole, far, near;

	if (is_signed) {
		moved = op2(l, PCTL_OP_SHR, l->t_i32, as_signed(l, hi), amount);
		moved = op1(l, PCTL_OP_BITCAST, l->t_u32, moved);
		fill = sign_word(l, x);
	} else {
		moved = op2(l, PCTL_OP_SHR, l->t_u32, hi, amount);
		fill = legal_word(l, 0);
	}
	whole = moves_word(l, amount);
	far = legal_pair(l, moved, fill);
	near = legal_pair(l, lo, moved);
	return choose(l, l->t_u2, whole, far, near);
}

static uint32_t call_form(legal *l, uint32_t form, uint32_t a, uint32_t b)
{
	return legal_emit3(l, PCTL_OP_CALL, l->t_u2, l->int64->int64[form], a, b);
}

uint32_t legal_int64_mul(legal *l, uint32_t a, uint32_t b)
{
	return call_form(l, LEGAL_INT64_MUL, a, b);
}

/* Number of zeros in front of (or behind) the first one; 64 for zero. `first` is the word looked at
 * first. */
static uint32_t zeros(legal *l, uint16_t op, uint32_t first, uint32_t second)
{
	const uint32_t none = op_word(l, PCTL_OP_EQ, l->t_bool, first, 0);
	const uint32_t further =
		op_word(l, PCTL_OP_ADD, l->t_u32, op1(l, op, l->t_u32, second), 32);
	const uint32_t here = op1(l, op, l->t_u32, first);

	return choose(l, l->t_u32, none, further, here);
}

static uint32_t leading(legal *l, uint32_t x)
{
	const uint32_t high = legal_high(l, x), low = legal_low(l, x);

	return zeros(l, PCTL_OP_CLZ, high, low);
}

static uint32_t trailing(legal *l, uint32_t x)
{
	const uint32_t low = legal_low(l, x), high = legal_high(l, x);

	return zeros(l, PCTL_OP_CTZ, low, high);
}

static uint32_t first_leading(legal *l, uint32_t x, int is_signed)
{
	uint32_t at, last;

	if (is_signed)
		x = op2(l, PCTL_OP_XOR, l->t_u2, x,
			op1(l, PCTL_OP_SPLAT, l->t_u2, sign_word(l, x)));
	last = legal_word(l, 63);
	at = op2(l, PCTL_OP_SUB, l->t_u32, last, leading(l, x)); /* all ones for none */
	return legal_pair(l, at, sign_word(l, legal_pair(l, at, at)));
}

static uint32_t all_ones(legal *l)
{
	const uint32_t ones = legal_word(l, UINT32_MAX);

	return legal_pair(l, ones, ones);
}

static uint32_t first_trailing(legal *l, uint32_t x)
{
	const uint32_t none = equals_zero(l, x), ones = all_ones(l);
	const uint32_t found = with_zero(l, trailing(l, x));

	return choose(l, l->t_u2, none, ones, found);
}

static uint32_t sign_of(legal *l, uint32_t x)
{
	const uint32_t ones = all_ones(l), nothing = equals_zero(l, x), zero = zero_pair(l);
	const uint32_t plus_one = with_zero(l, legal_word(l, 1));
	const uint32_t positive = choose(l, l->t_u2, nothing, zero, plus_one);
	const uint32_t negative = is_negative(l, x);

	return choose(l, l->t_u2, negative, ones, positive);
}

static uint32_t absolute(legal *l, uint32_t x)
{
	const uint32_t negative = is_negative(l, x), opposite = negated(l, x);

	return choose(l, l->t_u2, negative, opposite, x);
}

static uint32_t population(legal *l, uint32_t x)
{
	const uint32_t t = op1(l, PCTL_OP_POPCOUNT, l->t_u2, x);
	const uint32_t low = legal_low(l, t), high = legal_high(l, t);

	return with_zero(l, op2(l, PCTL_OP_ADD, l->t_u32, low, high));
}

static uint32_t reversed(legal *l, uint32_t x)
{
	const uint32_t t = op1(l, PCTL_OP_REVERSE, l->t_u2, x);
	const uint32_t low = legal_high(l, t), high = legal_low(l, t);

	return legal_pair(l, low, high);
}

static uint32_t is_not(legal *l, uint32_t condition)
{
	return op1(l, PCTL_OP_NOT, l->t_bool, condition);
}

/* One component. The operands are pairs, except the amount of a shift. */
static uint32_t pair_op(legal *l, uint16_t op, int is_signed, const uint32_t *a)
{
	uint32_t t;

	if (PCTL_IS_NATIVE(op))
		return legal_soft64_op(l, op, a);
	switch (op) {
	case PCTL_OP_ADD:
		return legal_int64_add(l, a[0], a[1]);
	case PCTL_OP_SUB:
		return subtract(l, a[0], a[1]);
	case PCTL_OP_MUL:
		return legal_int64_mul(l, a[0], a[1]);
	case PCTL_OP_DIV:
		return call_form(l, is_signed ? LEGAL_INT64_SDIV : LEGAL_INT64_UDIV, a[0], a[1]);
	case PCTL_OP_DIV_WGSL:
		t = call_form(l, is_signed ? LEGAL_INT64_SDIV : LEGAL_INT64_UDIV, a[0], a[1]);
		return choose(l, l->t_u2, equals_zero(l, a[1]), a[0], t);
	case PCTL_OP_MOD:
		return call_form(l, is_signed ? LEGAL_INT64_SMOD : LEGAL_INT64_UMOD, a[0], a[1]);
	case PCTL_OP_NEG:
		return negated(l, a[0]);
	case PCTL_OP_NOT:
		return op1(l, op, l->t_u2, a[0]);
	case PCTL_OP_AND:
	case PCTL_OP_OR:
	case PCTL_OP_XOR:
		return op2(l, op, l->t_u2, a[0], a[1]);
	case PCTL_OP_SHL:
		return shift_left(l, a[0], a[1]);
	case PCTL_OP_SHR:
		return shift_right(l, a[0], a[1], is_signed);
	case PCTL_OP_MIN:
		return choose(l, l->t_u2, less(l, a[0], a[1], is_signed), a[0], a[1]);
	case PCTL_OP_MAX:
		return choose(l, l->t_u2, less(l, a[0], a[1], is_signed), a[1], a[0]);
	case PCTL_OP_CLAMP:
		t = choose(l, l->t_u2, less(l, a[0], a[1], is_signed), a[1], a[0]);
		return choose(l, l->t_u2, less(l, t, a[2], is_signed), t, a[2]);
	case PCTL_OP_ABS:
		return is_signed ? absolute(l, a[0]) : a[0];
	case PCTL_OP_SIGN:
		return sign_of(l, a[0]);
	case PCTL_OP_POPCOUNT:
		return population(l, a[0]);
	case PCTL_OP_CLZ:
		return with_zero(l, leading(l, a[0]));
	case PCTL_OP_CTZ:
		return with_zero(l, trailing(l, a[0]));
	case PCTL_OP_REVERSE:
		return reversed(l, a[0]);
	case PCTL_OP_FIRST_LEADING:
		return first_leading(l, a[0], is_signed);
	case PCTL_OP_FIRST_TRAILING:
		return first_trailing(l, a[0]);
	case PCTL_OP_EQ:
		return equal(l, a[0], a[1]);
	case PCTL_OP_NE:
		return is_not(l, equal(l, a[0], a[1]));
	case PCTL_OP_LT:
		return less(l, a[0], a[1], is_signed);
	case PCTL_OP_GT:
		return less(l, a[1], a[0], is_signed);
	case PCTL_OP_LE:
		return is_not(l, less(l, a[1], a[0], is_signed));
	case PCTL_OP_GE:
		return is_not(l, less(l, a[0], a[1], is_signed));
	default: /* SELECT: the condition first */
		return choose(l, l->t_u2, a[0], a[1], a[2]);
	}
}

void legal_int64_elem(legal *l, uint32_t v, const pctl_inst *in)
{
	const pctl_program *p = l->p;
	const uint32_t last = pctl_arg(p, in, in->n_args - 1), first = pctl_arg(p, in, 0);
	/* A shift's amount comes last and is no pair, a select's condition first. */
	const uint32_t typical = pctl_value_type(p, l->fn, in->op == PCTL_OP_SELECT ? last : first);
	const pctl_type *t = &p->types[typical], *result = &p->types[in->type];
	const uint32_t width = t->kind == PCTL_TYPE_VECTOR ? t->width : 1;
	uint32_t lanes[4] = {0};

	for (uint32_t k = 0; k < width; k++) {
		uint32_t args[4] = {0};

		for (uint32_t i = 0; i < in->n_args && i < 4; i++)
			args[i] = legal_lane(l, pctl_arg(p, in, i), k);
		lanes[k] = pair_op(l, in->op, pctl_scalar_is_signed(t->scalar), args);
	}
	if (!l->is_int64[in->type] && result->kind == PCTL_TYPE_VECTOR)
		lanes[0] = legal_emit(l, PCTL_OP_COMPOSE, legal_type(l, in->type), lanes, width);
	for (uint32_t k = 0; k < width; k++)
		l->values[v].id[k] = lanes[k];
}
