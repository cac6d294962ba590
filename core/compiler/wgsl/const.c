/* Arithmetic on constants, by WGSL's rules: abstract integers are 64 bits wide, and a result that
 * does not fit is an error; sums and products of concrete ones wrap. Run-time arithmetic is none of this file's
 * business. */
#include "compiler/eval/float.h"
#include "compiler/wgsl/check.h"
#include "compiler/wgsl/float.h"

/* Wide enough to hold every sum and signed product of 64-bit values exactly. */
__extension__ typedef __int128 wide;

static uint32_t bits_of(uint32_t scalar)
{
	return scalar == PCTL_SCALAR_I32 || scalar == PCTL_SCALAR_U32 ? 32
	       : scalar == PCTL_SCALAR_BOOL			      ? 1
								      : 64;
}

static int is_unsigned(uint32_t scalar)
{
	return scalar == PCTL_SCALAR_U32 || scalar == PCTL_SCALAR_U64 || scalar == PCTL_SCALAR_BOOL;
}

uint64_t pctl_wgsl_wrap(uint32_t scalar, uint64_t v)
{
	switch (scalar) {
	case PCTL_SCALAR_BOOL:
		return v & 1;
	case PCTL_SCALAR_I32:
		return (uint64_t)(int64_t)(int32_t)(uint32_t)v;
	case PCTL_SCALAR_U32:
		return (uint32_t)v;
	default:
		return v;
	}
}

int pctl_wgsl_fits(uint32_t scalar, int64_t v)
{
	switch (scalar) {
	case PCTL_SCALAR_I32:
		return v >= INT32_MIN && v <= INT32_MAX;
	case PCTL_SCALAR_U32:
		return v >= 0 && v <= UINT32_MAX;
	case PCTL_SCALAR_U64:
		return v >= 0;
	default:
		return scalar != PCTL_SCALAR_BOOL;
	}
}

const char *pctl_wgsl_leaf_text(struct wgsl *c, uint32_t scalar, uint64_t v)
{
	char text[PCTL_FLOAT_TEXT];

	if (scalar == PCTL_SCALAR_BOOL)
		return v ? "true" : "false";
	if (pctl_wgsl_is_float(scalar)) {
		pctl_float_print(scalar == SCALAR_ABSTRACT_FLOAT ? PCTL_SCALAR_F64
								 : (uint8_t)scalar,
				 v, 0, text);
		return pctl_wgsl_format(c, "%s", text);
	}
	if (is_unsigned(scalar))
		return pctl_wgsl_format(c, "%llu", (unsigned long long)v);
	return pctl_wgsl_format(c, "%lld", (long long)(int64_t)v);
}

/* Keep an exact result when the type holds it. */
static uint32_t keep(uint32_t scalar, wide v, uint64_t *out)
{
	uint32_t bits = bits_of(scalar);
	wide least = is_unsigned(scalar) ? 0 : -((wide)1 << (bits - 1));
	wide most = ((wide)1 << (is_unsigned(scalar) ? bits : bits - 1)) - 1;

	*out = (uint64_t)v;
	return v < least || v > most ? PC2407_WGSL_CONST_OVERFLOW : 0;
}

/* A sum, difference or product: concrete integers wrap, abstract ones must fit. */
static uint32_t wrapped(const struct wgsl *c, uint32_t scalar, wide v, uint64_t *out)
{
	const uint32_t code = keep(scalar, v, out);

	if (!code || scalar == SCALAR_ABSTRACT || pctl_wgsl_is_first_rules(c))
		return code;
	*out = pctl_wgsl_wrap(scalar, *out);
	return 0;
}

static wide widen(uint32_t scalar, uint64_t v)
{
	return is_unsigned(scalar) ? (wide)v : (wide)(int64_t)v;
}

static uint32_t shift(uint32_t op, uint32_t scalar, uint64_t a, uint64_t n, uint64_t *out)
{
	uint32_t bits = bits_of(scalar), code;

	if (n >= bits)
		return PC2409_WGSL_CONST_SHIFT;
	if (op == T_SHR) {
		*out = is_unsigned(scalar) ? a >> n : (uint64_t)((int64_t)a >> n);
		return 0;
	}
	code = keep(scalar, widen(scalar, a) * ((wide)1 << n), out);
	*out = pctl_wgsl_wrap(scalar, *out);
	return code;
}

static uint64_t compare(uint32_t op, wide a, wide b)
{
	switch (op) {
	case T_EQEQ:
		return a == b;
	case T_NE:
		return a != b;
	case T_LT:
		return a < b;
	case T_LE:
		return a <= b;
	case T_GT:
		return a > b;
	default:
		return a >= b;
	}
}

uint32_t pctl_wgsl_eval_binary(const struct wgsl *c, uint32_t op, uint32_t scalar, uint64_t a,
			       uint64_t b, uint64_t *out)
{
	wide x = widen(scalar, a), y = widen(scalar, b);

	*out = 0;
	switch (op) {
	case T_PLUS:
		return wrapped(c, scalar, x + y, out);
	case T_MINUS:
		return wrapped(c, scalar, x - y, out);
	case T_STAR:
		/* two 64-bit factors fit in 128 bits only when signed; unsigned ones are looked at
		 * apart */
		if (is_unsigned(scalar) && b && a > UINT64_MAX / b) {
			*out = a * b;
			return pctl_wgsl_is_first_rules(c) ? PC2407_WGSL_CONST_OVERFLOW : 0;
		}
		return wrapped(c, scalar, x * y, out);
	case T_SLASH:
		if (!y)
			return PC2408_WGSL_CONST_DIVISION;
		return keep(scalar, x / y, out);
	case T_PERCENT:
		if (!y)
			return PC2408_WGSL_CONST_DIVISION;
		*out = (uint64_t)(x % y);
		return y == -1 ? keep(scalar, x / y, &(uint64_t){0}) : 0;
	case T_AND:
	case T_ANDAND:
		*out = a & b;
		return 0;
	case T_OR:
	case T_OROR:
		*out = a | b;
		return 0;
	case T_XOR:
		*out = a ^ b;
		return 0;
	case T_SHL:
	case T_SHR:
		return shift(op, scalar, a, b, out);
	default:
		*out = compare(op, x, y);
		return 0;
	}
}

uint32_t pctl_wgsl_eval_unary(const struct wgsl *c, uint32_t op, uint32_t scalar, uint64_t a,
			      uint64_t *out)
{
	switch (op) {
	case T_MINUS:
		return wrapped(c, scalar, -widen(scalar, a), out);
	case T_TILDE:
		*out = pctl_wgsl_wrap(scalar, ~a);
		return 0;
	default:
		*out = !a;
		return 0;
	}
}

uint64_t pctl_wgsl_eval_cast(uint32_t from, uint32_t to, uint64_t v)
{
	(void)from; /* leaves are already extended by the sign of their own type */
	return to == PCTL_SCALAR_BOOL ? v != 0 : pctl_wgsl_wrap(to, v);
}

static uint64_t mask_of(uint32_t bits)
{
	return bits >= 64 ? UINT64_MAX : (1ull << bits) - 1;
}

static uint64_t reverse(uint64_t v, uint32_t bits)
{
	uint64_t out = 0;
	uint32_t i;

	for (i = 0; i < bits; i++)
		out |= (v >> i & 1) << (bits - 1 - i);
	return out;
}

static uint64_t first_leading(uint32_t scalar, uint64_t v, uint32_t bits)
{
	if (!is_unsigned(scalar) && v >> (bits - 1) & 1)
		v = ~v & mask_of(bits);
	return v ? 63u - (uint32_t)__builtin_clzll(v) : UINT64_MAX;
}

static uint32_t bit_field(uint32_t opcode, uint32_t scalar, const uint64_t *args, uint64_t *out)
{
	uint32_t is_insert = opcode == PCTL_OP_INSERT_BITS;
	uint64_t offset = args[is_insert ? 2 : 1], count = args[is_insert ? 3 : 2];
	uint64_t field = mask_of((uint32_t)count), v;

	if (offset + count > 32)
		return PC2406_WGSL_ARGUMENTS;
	if (is_insert) {
		v = (args[0] & ~(field << offset)) | (args[1] & field) << offset;
	} else {
		v = (args[0] & UINT32_MAX) >> offset & field;
		if (count && !is_unsigned(scalar) && v >> (count - 1) & 1)
			v |= ~field;
	}
	*out = pctl_wgsl_wrap(scalar, v);
	return 0;
}

uint32_t pctl_wgsl_eval_builtin(uint32_t opcode, uint32_t scalar, const uint64_t *args,
				uint64_t *out)
{
	uint32_t bits = bits_of(scalar);
	uint64_t v = args[0] & mask_of(bits);
	wide x = widen(scalar, args[0]), y, z;

	switch (opcode) {
	case PCTL_OP_ABS:
		*out = pctl_wgsl_wrap(scalar, x < 0 ? 0 - args[0] : args[0]);
		return scalar == SCALAR_ABSTRACT && args[0] == (uint64_t)INT64_MIN
			       ? PC2407_WGSL_CONST_OVERFLOW
			       : 0;
	case PCTL_OP_MIN:
		*out = x < widen(scalar, args[1]) ? args[0] : args[1];
		return 0;
	case PCTL_OP_MAX:
		*out = x > widen(scalar, args[1]) ? args[0] : args[1];
		return 0;
	case PCTL_OP_CLAMP:
		y = widen(scalar, args[1]);
		z = widen(scalar, args[2]);
		if (y > z)
			return PC2406_WGSL_ARGUMENTS;
		*out = (uint64_t)(x < y ? y : x > z ? z : x);
		return 0;
	case PCTL_OP_SIGN:
		*out = (uint64_t)(int64_t)((x > 0) - (x < 0));
		return 0;
	case PCTL_OP_POPCOUNT:
		*out = (uint64_t)__builtin_popcountll(v);
		return 0;
	case PCTL_OP_CLZ:
		*out = v ? (uint64_t)__builtin_clzll(v) - (64 - bits) : bits;
		return 0;
	case PCTL_OP_CTZ:
		*out = v ? (uint64_t)__builtin_ctzll(v) : bits;
		return 0;
	case PCTL_OP_REVERSE:
		*out = pctl_wgsl_wrap(scalar, reverse(v, bits));
		return 0;
	case PCTL_OP_FIRST_LEADING:
		*out = pctl_wgsl_wrap(scalar, first_leading(scalar, v, bits));
		return 0;
	case PCTL_OP_FIRST_TRAILING:
		*out = pctl_wgsl_wrap(scalar, v ? (uint64_t)__builtin_ctzll(v) : UINT64_MAX);
		return 0;
	default:
		return bit_field(opcode, scalar, args, out);
	}
}

void pctl_wgsl_eval_error(struct wgsl *c, uint32_t code, uint32_t scalar, uint32_t pos,
			  uint32_t end)
{
	const char *name = scalar == SCALAR_ABSTRACT ? "abstract-int (64 bits)"
						     : pctl_scalar_name((uint8_t)scalar);

	if (c->quiet)
		return;
	switch (code) {
	case PC2408_WGSL_CONST_DIVISION:
		pctl_wgsl_error(c, code, pos, end, NULL, "the constant divisor is zero");
		break;
	case PC2409_WGSL_CONST_SHIFT:
		pctl_wgsl_error(c, code, pos, end, NULL,
				"the constant shift amount is not below the %u bits of %s",
				bits_of(scalar), name);
		break;
	case PC2406_WGSL_ARGUMENTS:
		pctl_wgsl_error(c, code, pos, end, NULL,
				"the constant arguments are out of order: low above high, or "
				"offset + count "
				"above 32");
		break;
	default:
		pctl_wgsl_error(c, code, pos, end, NULL, "the constant result does not fit in %s",
				name);
	}
}
