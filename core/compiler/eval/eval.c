/* Evaluation of scalar operations and of function `spec`; semantics section 2 is the rule book. */
#include <stdlib.h>

#include "compiler/eval/eval.h"
#include "compiler/eval/float.h"

static uint64_t mask_of(uint32_t bits)
{
	return bits >= 64 ? UINT64_MAX : (1ull << bits) - 1;
}

int64_t pctl_eval_signed(uint8_t scalar, uint64_t bits)
{
	const uint32_t width = pctl_scalar_bits(scalar);
	uint64_t sign;

	if (!pctl_scalar_is_signed(scalar) || width == 64)
		return (int64_t)bits;
	sign = 1ull << (width - 1);
	return (int64_t)((bits ^ sign) - sign);
}

static uint32_t leading_zeros(uint64_t x, uint32_t bits)
{
	return x ? (uint32_t)__builtin_clzll(x) - (64 - bits) : bits;
}

static uint64_t reverse(uint64_t x, uint32_t bits)
{
	uint64_t out = 0;
	uint32_t i;

	for (i = 0; i < bits; i++)
		out |= (x >> i & 1) << (bits - 1 - i);
	return out;
}

static uint64_t divide(uint16_t op, int is_signed, uint32_t bits, uint64_t a, uint64_t b,
		       int64_t sa, int64_t sb)
{
	if (b == 0)
		return op == PCTL_OP_DIV_WGSL ? a : 0;
	if (!is_signed)
		return op == PCTL_OP_MOD ? a % b : a / b;
	if (sb == -1)
		return op == PCTL_OP_MOD ? 0 : (0 - a) & mask_of(bits);
	return (uint64_t)(op == PCTL_OP_MOD ? sa % sb : sa / sb);
}

static uint64_t first_leading(int is_signed, uint32_t bits, uint64_t a, int64_t sa)
{
	const uint64_t x = is_signed && sa < 0 ? ~a & mask_of(bits) : a;

	return x ? bits - 1 - leading_zeros(x, bits) : mask_of(bits);
}

static uint64_t extract_bits(int is_signed, uint32_t bits, const uint64_t *a)
{
	const uint64_t offset = a[1] < bits ? a[1] : bits;
	const uint64_t count = a[2] < bits - offset ? a[2] : bits - offset;
	uint64_t field;

	if (!count)
		return 0;
	field = a[0] >> offset & mask_of((uint32_t)count);
	if (is_signed && field >> (count - 1) & 1)
		field |= ~mask_of((uint32_t)count);
	return field;
}

static uint64_t insert_bits(uint32_t bits, const uint64_t *a)
{
	const uint64_t offset = a[2] < bits ? a[2] : bits;
	const uint64_t count = a[3] < bits - offset ? a[3] : bits - offset;
	uint64_t field;

	if (!count)
		return a[0];
	field = mask_of((uint32_t)count) << offset;
	return (a[0] & ~field) | (a[1] << offset & field);
}

static int compare(uint16_t op, int is_signed, uint64_t a, uint64_t b, int64_t sa, int64_t sb)
{
	const int less = is_signed ? sa < sb : a < b;

	switch (op) {
	case PCTL_OP_EQ:
		return a == b;
	case PCTL_OP_NE:
		return a != b;
	case PCTL_OP_LT:
		return less;
	case PCTL_OP_LE:
		return less || a == b;
	case PCTL_OP_GT:
		return !less && a != b;
	default:
		return !less;
	}
}

/* Operations whose arguments and result are one integer type of `bits` bits; *ok is cleared for
 * others. */
static uint64_t arithmetic(uint16_t op, uint8_t scalar, const uint64_t *a, int *ok)
{
	const uint32_t bits = pctl_scalar_bits(scalar), shift = bits - 1;
	const int is_signed = pctl_scalar_is_signed(scalar);
	const int64_t s0 = pctl_eval_signed(scalar, a[0]), s1 = pctl_eval_signed(scalar, a[1]);
	const int less = is_signed ? s0 < s1 : a[0] < a[1];
	uint64_t lower;

	switch (op) {
	case PCTL_OP_ADD:
		return a[0] + a[1];
	case PCTL_OP_SUB:
		return a[0] - a[1];
	case PCTL_OP_MUL:
		return a[0] * a[1];
	case PCTL_OP_MUL_HIGH:
		*ok = scalar == PCTL_SCALAR_U32;
		return (a[0] * a[1]) >> 32;
	case PCTL_OP_DIV:
	case PCTL_OP_MOD:
	case PCTL_OP_DIV_WGSL:
		return divide(op, is_signed, bits, a[0], a[1], s0, s1);
	case PCTL_OP_NEG:
		return 0 - a[0];
	case PCTL_OP_AND:
		return a[0] & a[1];
	case PCTL_OP_OR:
		return a[0] | a[1];
	case PCTL_OP_XOR:
		return a[0] ^ a[1];
	case PCTL_OP_NOT:
		return ~a[0];
	case PCTL_OP_SHL:
		return a[0] << (a[1] & shift);
	case PCTL_OP_SHR:
		if (is_signed && s0 < 0)
			return ~((uint64_t)~s0 >> (a[1] & shift));
		return a[0] >> (a[1] & shift);
	case PCTL_OP_MIN:
		return less ? a[0] : a[1];
	case PCTL_OP_MAX:
		return less ? a[1] : a[0];
	case PCTL_OP_CLAMP:
		lower = less ? a[1] : a[0];
		return (is_signed ? pctl_eval_signed(scalar, lower) < pctl_eval_signed(scalar, a[2])
				  : lower < a[2])
			       ? lower
			       : a[2];
	case PCTL_OP_ABS:
		return is_signed && s0 < 0 ? 0 - a[0] : a[0];
	case PCTL_OP_SIGN:
		return s0 < 0 ? UINT64_MAX : s0 > 0;
	case PCTL_OP_POPCOUNT:
		return (uint64_t)__builtin_popcountll(a[0]);
	case PCTL_OP_CLZ:
		return leading_zeros(a[0], bits);
	case PCTL_OP_CTZ:
		return a[0] ? (uint64_t)__builtin_ctzll(a[0]) : bits;
	case PCTL_OP_REVERSE:
		return reverse(a[0], bits);
	case PCTL_OP_FIRST_LEADING:
		return first_leading(is_signed, bits, a[0], s0);
	case PCTL_OP_FIRST_TRAILING:
		return a[0] ? (uint64_t)__builtin_ctzll(a[0]) : UINT64_MAX;
	case PCTL_OP_EXTRACT_BITS:
		return extract_bits(is_signed, bits, a);
	case PCTL_OP_INSERT_BITS:
		return insert_bits(bits, a);
	default:
		*ok = 0;
		return 0;
	}
}

static int is_int_or_bool(uint8_t scalar)
{
	return (scalar >= PCTL_SCALAR_BOOL && scalar <= PCTL_SCALAR_U64) ||
	       (scalar >= PCTL_SCALAR_I8 && scalar <= PCTL_SCALAR_U16);
}

static int is_scalar(uint8_t scalar)
{
	return is_int_or_bool(scalar) || pctl_float_is(scalar);
}

static int moves_bits(uint16_t op)
{
	return op == PCTL_OP_SELECT || op == PCTL_OP_BITCAST;
}

int pctl_eval(uint16_t op, uint8_t result, uint8_t operand, const uint64_t *args, uint64_t *out)
{
	uint64_t a[4] = {0, 0, 0, 0};
	const char *pattern = pctl_op_get(op)->args;
	int ok = 1;
	uint32_t i;

	*out = 0;
	if (PCTL_IS_STRICT(op))
		return pctl_float_eval(op, result, operand, args, out);
	if (!(is_int_or_bool(result) && is_int_or_bool(operand)) &&
	    !(moves_bits(op) && is_scalar(result) && is_scalar(operand)))
		return 0;
	for (i = 0; i < 4 && pattern[i] == 'v'; i++)
		a[i] = args[i];
	switch (op) {
	case PCTL_OP_EQ:
	case PCTL_OP_NE:
	case PCTL_OP_LT:
	case PCTL_OP_LE:
	case PCTL_OP_GT:
	case PCTL_OP_GE:
		*out = (uint64_t)compare(op, pctl_scalar_is_signed(operand), a[0], a[1],
					 pctl_eval_signed(operand, a[0]),
					 pctl_eval_signed(operand, a[1]));
		return 1;
	case PCTL_OP_ALL:
	case PCTL_OP_ANY:
		*out = a[0];
		return 1;
	case PCTL_OP_SELECT:
		*out = a[0] ? a[1] : a[2];
		return 1;
	case PCTL_OP_CAST:
		*out = result == PCTL_SCALAR_BOOL ? a[0] != 0
						  : (uint64_t)pctl_eval_signed(operand, a[0]);
		break;
	case PCTL_OP_BITCAST:
		*out = a[0];
		break;
	default:
		*out = arithmetic(op, result, a, &ok);
		break;
	}
	*out &= mask_of(pctl_scalar_bits(result));
	if (!ok)
		*out = 0;
	return ok;
}

/* ---- function `spec` ---- */

enum { STATE_NEW, STATE_OPEN, STATE_DONE };

/* A walk over `spec` in the order of need: an override's default may stand behind its use. */
typedef struct spec_walk {
	const pctl_program *p;
	const uint64_t *overrides;
	const uint8_t *has;
	uint64_t *values;
	uint8_t *state;
	uint32_t *stack;
	uint32_t depth;
	uint32_t missing;
} spec_walk;

/* The first value `v` still waits for, or `v` itself when there is none. */
static uint32_t waits_for(const spec_walk *w, uint32_t v)
{
	const pctl_inst *in = &w->p->insts[w->p->functions[0].first_inst + v];
	uint32_t i;

	if (in->op == PCTL_OP_OVERRIDE) {
		const uint32_t o = pctl_arg(w->p, in, 0);
		const uint32_t value = w->p->overrides[o].default_value;

		if (!w->has[o] && w->p->overrides[o].has_default && w->state[value] != STATE_DONE)
			return value;
		return v;
	}
	for (i = 0; pctl_op_get(in->op)->args[0] == 'v' && i < in->n_args; i++) {
		if (w->state[pctl_arg(w->p, in, i)] != STATE_DONE)
			return pctl_arg(w->p, in, i);
	}
	return v;
}

static int operate(spec_walk *w, const pctl_inst *in, uint32_t v)
{
	const uint32_t which = in->op == PCTL_OP_SELECT ? 1 : 0;
	uint64_t args[4] = {0, 0, 0, 0};
	uint32_t i, type;

	if (in->n_args <= which || in->n_args > 4)
		return 0;
	for (i = 0; i < in->n_args; i++)
		args[i] = w->values[pctl_arg(w->p, in, i)];
	type = pctl_value_type(w->p, &w->p->functions[0], pctl_arg(w->p, in, which));
	return pctl_eval(in->op, w->p->types[in->type].scalar, w->p->types[type].scalar, args,
			 &w->values[v]);
}

static int compute(spec_walk *w, uint32_t v)
{
	const pctl_inst *in = &w->p->insts[w->p->functions[0].first_inst + v];
	uint32_t o;

	switch (in->op) {
	case PCTL_OP_CONST:
		w->values[v] = pctl_arg(w->p, in, 0) | (uint64_t)pctl_arg(w->p, in, 1) << 32;
		return 1;
	case PCTL_OP_ZERO:
		w->values[v] = 0;
		return 1;
	case PCTL_OP_OVERRIDE:
		o = pctl_arg(w->p, in, 0);
		if (w->has[o]) {
			w->values[v] = w->overrides[o];
		} else if (w->p->overrides[o].has_default) {
			w->values[v] = w->values[w->p->overrides[o].default_value];
		} else {
			w->missing = o;
			return 0;
		}
		return 1;
	default:
		return operate(w, in, v);
	}
}

static int need(spec_walk *w, uint32_t v)
{
	w->stack[w->depth++] = v;
	w->state[v] = STATE_OPEN;
	while (w->depth) {
		uint32_t next;

		v = w->stack[w->depth - 1];
		next = waits_for(w, v);
		if (next == v) {
			if (!compute(w, v))
				return 0;
			w->state[v] = STATE_DONE;
			w->depth--;
		} else if (w->state[next] == STATE_OPEN) {
			return 0; /* a default that needs itself */
		} else {
			w->state[next] = STATE_OPEN;
			w->stack[w->depth++] = next;
		}
	}
	return 1;
}

int pctl_eval_spec(const pctl_program *p, const uint64_t *overrides, const uint8_t *has,
		   uint64_t *values, uint32_t *missing)
{
	const uint32_t n = p->functions[0].n_insts;
	spec_walk w = {.p = p,
		       .overrides = overrides,
		       .has = has,
		       .values = values,
		       .missing = PCTL_EVAL_BAD};
	uint32_t v;
	int ok = 1;

	w.state = calloc((size_t)n + 1, 1);
	w.stack = calloc((size_t)n + 1, sizeof(*w.stack));
	if (!w.state || !w.stack) {
		w.missing = PCTL_EVAL_NO_MEMORY;
		ok = 0;
	}
	for (v = 0; v < n && ok; v++) {
		if (w.state[v] == STATE_NEW)
			ok = need(&w, v);
	}
	free(w.state);
	free(w.stack);
	*missing = w.missing;
	return ok;
}
