/* Elementwise operations on pairs of words. The short ones are written in place; product, quotient
 * and remainder call the forms. Names: x and y are pairs, lo and hi their words. */
#include "legal/legal_parts.h"

static uint32_t op1(legal *l, uint16_t op, uint32_t type, uint32_t a)
{
	return legal_emit(l, op, type, &a, 1);
}

static uint32_t op2(legal *l, uint16_t op, uint32_t type, uint32_t a, uint32_t b)
{
	return legal_emit(l, op, type, (const uint32_t[]){a, b}, 2);
}

static uint32_t choose(legal *l, uint32_t type, uint32_t condition, uint32_t yes, uint32_t no)
{
	return legal_emit(l, PCTL_OP_SELECT, type, (const uint32_t[]){condition, yes, no}, 3);
}

static uint32_t word(legal *l, uint32_t k)
{
	return pctl_build_const(l->b, l->t_u32, k);
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

static uint32_t small(legal *l, uint32_t k)
{
	return legal_pair(l, word(l, k), word(l, 0));
}

static uint32_t as_word(legal *l, uint32_t condition)
{
	return op1(l, PCTL_OP_CAST, l->t_u32, condition);
}

uint32_t legal_wide_add(legal *l, uint32_t a, uint32_t b)
{
	const uint32_t alo = legal_low(l, a),
		       lo = op2(l, PCTL_OP_ADD, l->t_u32, alo, legal_low(l, b));
	const uint32_t hi = op2(l, PCTL_OP_ADD, l->t_u32, legal_high(l, a), legal_high(l, b));
	const uint32_t carry = as_word(l, op2(l, PCTL_OP_LT, l->t_bool, lo, alo));

	return legal_pair(l, lo, op2(l, PCTL_OP_ADD, l->t_u32, hi, carry));
}

static uint32_t subtract(legal *l, uint32_t a, uint32_t b)
{
	const uint32_t alo = legal_low(l, a), blo = legal_low(l, b);
	const uint32_t hi = op2(l, PCTL_OP_SUB, l->t_u32, legal_high(l, a), legal_high(l, b));
	const uint32_t borrow = as_word(l, op2(l, PCTL_OP_LT, l->t_bool, alo, blo));

	return legal_pair(l, op2(l, PCTL_OP_SUB, l->t_u32, alo, blo),
			  op2(l, PCTL_OP_SUB, l->t_u32, hi, borrow));
}

static uint32_t zero_pair(legal *l)
{
	return legal_emit(l, PCTL_OP_ZERO, l->t_u2, NULL, 0);
}

static uint32_t equal(legal *l, uint32_t a, uint32_t b)
{
	return op1(l, PCTL_OP_ALL, l->t_bool, op2(l, PCTL_OP_EQ, l->t_b2, a, b));
}

static uint32_t as_signed(legal *l, uint32_t x)
{
	return op1(l, PCTL_OP_BITCAST, l->t_i32, x);
}

static uint32_t less(legal *l, uint32_t a, uint32_t b, int is_signed)
{
	const uint32_t ahi = legal_high(l, a), bhi = legal_high(l, b);
	const uint32_t low = op2(l, PCTL_OP_LT, l->t_bool, legal_low(l, a), legal_low(l, b));
	const uint32_t same = op2(l, PCTL_OP_EQ, l->t_bool, ahi, bhi);
	const uint32_t high =
		is_signed ? op2(l, PCTL_OP_LT, l->t_bool, as_signed(l, ahi), as_signed(l, bhi))
			  : op2(l, PCTL_OP_LT, l->t_bool, ahi, bhi);

	return op2(l, PCTL_OP_OR, l->t_bool, high, op2(l, PCTL_OP_AND, l->t_bool, same, low));
}

/* All ones when x is negative, else 0. */
static uint32_t sign_word(legal *l, uint32_t x)
{
	const uint32_t hi = as_signed(l, legal_high(l, x));

	return op1(l, PCTL_OP_BITCAST, l->t_u32, op2(l, PCTL_OP_SHR, l->t_i32, hi, word(l, 31)));
}

static uint32_t is_negative(legal *l, uint32_t x)
{
	return op2(l, PCTL_OP_NE, l->t_bool, sign_word(l, x), word(l, 0));
}

/* amount & 63, split: s below 32 (the IR masks), and whether a whole word moves. */
static uint32_t moves_word(legal *l, uint32_t amount)
{
	return op2(l, PCTL_OP_NE, l->t_bool, op2(l, PCTL_OP_AND, l->t_u32, amount, word(l, 32)),
		   word(l, 0));
}

/* What crosses the word boundary in a shift by s: w moved by 32 - s, nothing for s = 0. */
static uint32_t crossing(legal *l, uint16_t away, uint32_t w, uint32_t amount)
{
	const uint32_t s = op2(l, PCTL_OP_AND, l->t_u32, amount, word(l, 31));

	return op2(l, away, l->t_u32, op2(l, away, l->t_u32, w, word(l, 1)),
		   op2(l, PCTL_OP_XOR, l->t_u32, s, word(l, 31)));
}

static uint32_t shift_left(legal *l, uint32_t x, uint32_t amount)
{
	const uint32_t lo = legal_low(l, x), moved = op2(l, PCTL_OP_SHL, l->t_u32, lo, amount);
	const uint32_t hi = op2(l, PCTL_OP_OR, l->t_u32,
				op2(l, PCTL_OP_SHL, l->t_u32, legal_high(l, x), amount),
				crossing(l, PCTL_OP_SHR, lo, amount));

	return choose(l, l->t_u2, moves_word(l, amount), legal_pair(l, word(l, 0), moved),
		      legal_pair(l, moved, hi));
}

static uint32_t shift_right(legal *l, uint32_t x, uint32_t amount, int is_signed)
{
	const uint32_t hi = legal_high(l, x);
	const uint32_t lo =
		op2(l, PCTL_OP_OR, l->t_u32, op2(l, PCTL_OP_SHR, l->t_u32, legal_low(l, x), amount),
		    crossing(l, PCTL_OP_SHL, hi, amount));
	uint32_t moved, fill = word(l, 0);

	if (is_signed) {
		moved = op2(l, PCTL_OP_SHR, l->t_i32, as_signed(l, hi), amount);
		moved = op1(l, PCTL_OP_BITCAST, l->t_u32, moved);
		fill = sign_word(l, x);
	} else {
		moved = op2(l, PCTL_OP_SHR, l->t_u32, hi, amount);
	}
	return choose(l, l->t_u2, moves_word(l, amount), legal_pair(l, moved, fill),
		      legal_pair(l, lo, moved));
}

static uint32_t call_form(legal *l, uint32_t form, uint32_t a, uint32_t b)
{
	return legal_emit(l, PCTL_OP_CALL, l->t_u2, (const uint32_t[]){l->forms[form], a, b}, 3);
}

uint32_t legal_wide_mul(legal *l, uint32_t a, uint32_t b)
{
	return call_form(l, FORM_MUL, a, b);
}

/* Number of zeros in front of (or behind) the first one; 64 for zero. `first` is the word looked at
 * first. */
static uint32_t zeros(legal *l, uint16_t op, uint32_t first, uint32_t second)
{
	const uint32_t none = op2(l, PCTL_OP_EQ, l->t_bool, first, word(l, 0));
	const uint32_t further =
		op2(l, PCTL_OP_ADD, l->t_u32, op1(l, op, l->t_u32, second), word(l, 32));

	return choose(l, l->t_u32, none, further, op1(l, op, l->t_u32, first));
}

static uint32_t leading(legal *l, uint32_t x)
{
	return zeros(l, PCTL_OP_CLZ, legal_high(l, x), legal_low(l, x));
}

static uint32_t trailing(legal *l, uint32_t x)
{
	return zeros(l, PCTL_OP_CTZ, legal_low(l, x), legal_high(l, x));
}

static uint32_t first_leading(legal *l, uint32_t x, int is_signed)
{
	uint32_t at;

	if (is_signed)
		x = op2(l, PCTL_OP_XOR, l->t_u2, x,
			op1(l, PCTL_OP_SPLAT, l->t_u2, sign_word(l, x)));
	at = op2(l, PCTL_OP_SUB, l->t_u32, word(l, 63), leading(l, x)); /* all ones for none */
	return legal_pair(l, at, sign_word(l, legal_pair(l, at, at)));
}

static uint32_t first_trailing(legal *l, uint32_t x)
{
	const uint32_t none = equal(l, x, zero_pair(l)), ones = word(l, UINT32_MAX);

	return choose(l, l->t_u2, none, legal_pair(l, ones, ones),
		      legal_pair(l, trailing(l, x), word(l, 0)));
}

static uint32_t sign_of(legal *l, uint32_t x)
{
	const uint32_t ones = word(l, UINT32_MAX);
	const uint32_t nothing = equal(l, x, zero_pair(l));
	const uint32_t positive = choose(l, l->t_u2, nothing, zero_pair(l), small(l, 1));

	return choose(l, l->t_u2, is_negative(l, x), legal_pair(l, ones, ones), positive);
}

/* One component. The operands are pairs, except the amount of a shift. */
static uint32_t pair_op(legal *l, uint16_t op, int is_signed, const uint32_t *a)
{
	uint32_t t;

	switch (op) {
	case PCTL_OP_ADD:
		return legal_wide_add(l, a[0], a[1]);
	case PCTL_OP_SUB:
		return subtract(l, a[0], a[1]);
	case PCTL_OP_MUL:
		return legal_wide_mul(l, a[0], a[1]);
	case PCTL_OP_DIV:
		return call_form(l, is_signed ? FORM_SDIV : FORM_UDIV, a[0], a[1]);
	case PCTL_OP_DIV_WGSL:
		t = call_form(l, is_signed ? FORM_SDIV : FORM_UDIV, a[0], a[1]);
		return choose(l, l->t_u2, equal(l, a[1], zero_pair(l)), a[0], t);
	case PCTL_OP_MOD:
		return call_form(l, is_signed ? FORM_SMOD : FORM_UMOD, a[0], a[1]);
	case PCTL_OP_NEG:
		return subtract(l, zero_pair(l), a[0]);
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
		return is_signed ? choose(l, l->t_u2, is_negative(l, a[0]),
					  subtract(l, zero_pair(l), a[0]), a[0])
				 : a[0];
	case PCTL_OP_SIGN:
		return sign_of(l, a[0]);
	case PCTL_OP_POPCOUNT:
		t = op1(l, op, l->t_u2, a[0]);
		return legal_pair(l,
				  op2(l, PCTL_OP_ADD, l->t_u32, legal_low(l, t), legal_high(l, t)),
				  word(l, 0));
	case PCTL_OP_CLZ:
		return legal_pair(l, leading(l, a[0]), word(l, 0));
	case PCTL_OP_CTZ:
		return legal_pair(l, trailing(l, a[0]), word(l, 0));
	case PCTL_OP_REVERSE:
		t = op1(l, op, l->t_u2, a[0]);
		return legal_pair(l, legal_high(l, t), legal_low(l, t));
	case PCTL_OP_FIRST_LEADING:
		return first_leading(l, a[0], is_signed);
	case PCTL_OP_FIRST_TRAILING:
		return first_trailing(l, a[0]);
	case PCTL_OP_EQ:
		return equal(l, a[0], a[1]);
	case PCTL_OP_NE:
		return op1(l, PCTL_OP_NOT, l->t_bool, equal(l, a[0], a[1]));
	case PCTL_OP_LT:
		return less(l, a[0], a[1], is_signed);
	case PCTL_OP_GT:
		return less(l, a[1], a[0], is_signed);
	case PCTL_OP_LE:
		return op1(l, PCTL_OP_NOT, l->t_bool, less(l, a[1], a[0], is_signed));
	case PCTL_OP_GE:
		return op1(l, PCTL_OP_NOT, l->t_bool, less(l, a[0], a[1], is_signed));
	default: /* SELECT: the condition first */
		return choose(l, l->t_u2, a[0], a[1], a[2]);
	}
}

void legal_wide_elem(legal *l, uint32_t v, const pctl_inst *in)
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
	if (!l->is_wide[in->type] && result->kind == PCTL_TYPE_VECTOR)
		lanes[0] = legal_emit(l, PCTL_OP_COMPOSE, legal_type(l, in->type), lanes, width);
	for (uint32_t k = 0; k < width; k++)
		l->values[v].id[k] = lanes[k];
}
