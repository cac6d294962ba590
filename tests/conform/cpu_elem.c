/* Every elementwise operation on boundary and random values, scalars and vectors, each operand once
 * per lane and once as a constant. The expectations are bit loops and 128-bit integers. */
#include "harness.h"
#include "main.h"

#include <stdlib.h>

#define LANES 300u /* no multiple of a strip or a vector */

__extension__ typedef __int128 wide_int;
__extension__ typedef unsigned __int128 wide_uint;

static const uint64_t edges[] = {0,
				 1,
				 2,
				 3,
				 7,
				 31,
				 32,
				 33,
				 63,
				 64,
				 65,
				 127,
				 128,
				 255,
				 256,
				 0x7fff,
				 0x8000,
				 0xffff,
				 0x10000,
				 0x7ffffffe,
				 0x7fffffff,
				 0x80000000,
				 0x80000001,
				 0xaaaaaaaa,
				 0x55555555,
				 0xfffffffe,
				 0xffffffff,
				 0x100000000,
				 0x1ffffffff,
				 0x7fffffffffffffff,
				 0x8000000000000000,
				 0x8000000000000001,
				 0xfffffffffffffffe,
				 0xffffffffffffffff,
				 0xffffffff80000000,
				 0xaaaaaaaaaaaaaaaa};
#define N_EDGES (sizeof(edges) / sizeof(edges[0]))

/* Lane i's operand number which: pairs of edges first, then random ones of all sizes. */
static uint64_t operand(uint32_t which, uint32_t i, uint64_t seed)
{
	uint64_t r = rig_random(seed + which, i);

	if (rig_random(seed ^ 77, i * 4 + which) % 4 != 0)
		return edges[r % N_EDGES];
	return r >> (rig_random(seed ^ 99, i + which) % 64);
}

static uint32_t width_of(uint8_t scalar)
{
	return scalar == PCTL_SCALAR_BOOL				? 1
	       : scalar == PCTL_SCALAR_I64 || scalar == PCTL_SCALAR_U64 ? 64
									: 32;
}

static int signed_of(uint8_t scalar)
{
	return scalar == PCTL_SCALAR_I32 || scalar == PCTL_SCALAR_I64;
}

static wide_int pow2(uint32_t n)
{
	return (wide_int)1 << n;
}

static uint64_t low_bits(uint32_t n)
{
	return n == 64 ? UINT64_MAX : (1ull << n) - 1;
}

/* The mathematical value of the low `width` bits. */
static wide_int value_of(uint64_t bits, uint8_t scalar)
{
	const uint32_t w = width_of(scalar);
	wide_int v = (wide_int)bits % pow2(w);

	if (signed_of(scalar) && v >= pow2(w - 1))
		v -= pow2(w);
	return v;
}

static uint64_t bits_of(wide_int v, uint8_t scalar)
{
	wide_int m = v % pow2(width_of(scalar));

	if (m < 0)
		m += pow2(width_of(scalar));
	return (uint64_t)m;
}

static int bit(uint64_t x, uint32_t i)
{
	return (int)((x >> i) & 1);
}

static uint64_t bitwise(uint16_t op, uint64_t x, uint64_t y, uint32_t w)
{
	uint64_t r = 0;

	for (uint32_t i = 0; i < w; i++) {
		int a = bit(x, i), b = bit(y, i), c = 0;

		c = op == PCTL_OP_AND	? a && b
		    : op == PCTL_OP_OR	? a || b
		    : op == PCTL_OP_XOR ? a != b
					: !a;
		if (c)
			r |= 1ull << i;
	}
	return r;
}

static uint64_t count_or_move(uint16_t op, uint64_t x, uint32_t w, int is_signed)
{
	uint64_t r = 0;
	int i;

	switch (op) {
	case PCTL_OP_POPCOUNT:
		for (i = 0; i < (int)w; i++)
			r += (uint64_t)bit(x, (uint32_t)i);
		return r;
	case PCTL_OP_CLZ:
		for (i = (int)w - 1; i >= 0 && !bit(x, (uint32_t)i); i--)
			r++;
		return r;
	case PCTL_OP_CTZ:
		for (i = 0; i < (int)w && !bit(x, (uint32_t)i); i++)
			r++;
		return r;
	case PCTL_OP_REVERSE:
		for (i = 0; i < (int)w; i++)
			if (bit(x, (uint32_t)i))
				r |= 1ull << (w - 1 - (uint32_t)i);
		return r;
	case PCTL_OP_FIRST_TRAILING:
		for (i = 0; i < (int)w; i++)
			if (bit(x, (uint32_t)i))
				return (uint64_t)i;
		return UINT64_MAX;
	default: /* FIRST_LEADING: the highest bit that differs from the sign; of 1 for unsigned */
		for (i = (int)w - 1; i >= 0; i--)
			if (bit(x, (uint32_t)i) != (is_signed ? bit(x, w - 1) : 0))
				return (uint64_t)i;
		return UINT64_MAX;
	}
}

static uint64_t extract(uint32_t e, uint32_t offset, uint32_t count, int is_signed)
{
	uint64_t r = 0;
	uint32_t n = 0;

	for (uint64_t i = offset; i < 32 && i < (uint64_t)offset + count; i++, n++)
		if (bit(e, (uint32_t)i))
			r |= 1ull << n;
	if (is_signed && n && bit(r, n - 1))
		for (uint32_t i = n; i < 32; i++)
			r |= 1ull << i;
	return r;
}

static uint64_t insert(uint32_t e, uint32_t x, uint32_t offset, uint32_t count)
{
	uint64_t r = e;

	for (uint64_t i = offset; i < 32 && i < (uint64_t)offset + count; i++) {
		r &= ~(1ull << i);
		if (bit(x, (uint32_t)(i - offset)))
			r |= 1ull << i;
	}
	return r;
}

/* C's own division truncates as ours does; the special cases are written before it. */
static wide_int divide(uint16_t op, wide_int a, wide_int b)
{
	if (b == 0)
		return op == PCTL_OP_DIV_WGSL ? a : 0;
	return op == PCTL_OP_MOD ? a % b : a / b;
}

static uint64_t expect(uint16_t op, uint8_t s, uint64_t x, uint64_t y, uint64_t z, uint64_t t)
{
	const uint32_t w = width_of(s);
	const wide_int a = value_of(x, s), b = value_of(y, s), c = value_of(z, s);
	wide_int v;

	switch (op) {
	case PCTL_OP_ADD:
		return bits_of(a + b, s);
	case PCTL_OP_SUB:
		return bits_of(a - b, s);
	case PCTL_OP_MUL: /* on magnitudes: 64 x 64 bits fit unsigned 128 */
		return (uint64_t)((wide_uint)(x & low_bits(w)) * (y & low_bits(w)) & low_bits(w));
	case PCTL_OP_DIV:
	case PCTL_OP_MOD:
	case PCTL_OP_DIV_WGSL:
		return bits_of(divide(op, a, b), s);
	case PCTL_OP_NEG:
		return bits_of(-a, s);
	case PCTL_OP_AND:
	case PCTL_OP_OR:
	case PCTL_OP_XOR:
	case PCTL_OP_NOT:
		return bitwise(op, x, y, w);
	case PCTL_OP_SHL:
		v = a;
		for (uint64_t i = 0; i < y % w; i++)
			v = value_of(bits_of(v * 2, s), s);
		return bits_of(v, s);
	case PCTL_OP_SHR: /* floor division by two, as often */
		v = a;
		for (uint64_t i = 0; i < y % w; i++)
			v = (v - (v < 0 && v % 2 != 0)) / 2;
		return bits_of(v, s);
	case PCTL_OP_MIN:
		return bits_of(a < b ? a : b, s);
	case PCTL_OP_MAX:
		return bits_of(a < b ? b : a, s);
	case PCTL_OP_CLAMP:
		v = a < b ? b : a;
		return bits_of(v < c ? v : c, s);
	case PCTL_OP_ABS:
		return bits_of(a < 0 ? -a : a, s);
	case PCTL_OP_SIGN:
		return bits_of(a < 0 ? -1 : a > 0 ? 1 : 0, s);
	case PCTL_OP_EXTRACT_BITS:
		return extract((uint32_t)x, (uint32_t)y, (uint32_t)z, signed_of(s));
	case PCTL_OP_INSERT_BITS:
		return insert((uint32_t)x, (uint32_t)y, (uint32_t)z, (uint32_t)t);
	case PCTL_OP_EQ:
		return a == b;
	case PCTL_OP_NE:
		return a != b;
	case PCTL_OP_LT:
		return a < b;
	case PCTL_OP_LE:
		return a <= b;
	case PCTL_OP_GT:
		return a > b;
	case PCTL_OP_GE:
		return a >= b;
	default:
		return count_or_move(op, x & low_bits(w), w, signed_of(s));
	}
}

typedef struct operation {
	uint16_t op;
	uint8_t n_args;
	uint8_t types; /* bits: 1 bool, 2 signed, 4 unsigned, 8 also 64-bit */
} operation;

static const operation operations[] = {
	{PCTL_OP_ADD, 2, 14},
	{PCTL_OP_SUB, 2, 14},
	{PCTL_OP_MUL, 2, 14},
	{PCTL_OP_DIV, 2, 14},
	{PCTL_OP_MOD, 2, 14},
	{PCTL_OP_DIV_WGSL, 2, 14},
	{PCTL_OP_NEG, 1, 14},
	{PCTL_OP_AND, 2, 15},
	{PCTL_OP_OR, 2, 15},
	{PCTL_OP_XOR, 2, 14},
	{PCTL_OP_NOT, 1, 15},
	{PCTL_OP_SHL, 2, 14},
	{PCTL_OP_SHR, 2, 14},
	{PCTL_OP_MIN, 2, 14},
	{PCTL_OP_MAX, 2, 14},
	{PCTL_OP_CLAMP, 3, 14},
	{PCTL_OP_ABS, 1, 14},
	{PCTL_OP_SIGN, 1, 10},
	{PCTL_OP_POPCOUNT, 1, 14},
	{PCTL_OP_CLZ, 1, 14},
	{PCTL_OP_CTZ, 1, 14},
	{PCTL_OP_REVERSE, 1, 14},
	{PCTL_OP_FIRST_LEADING, 1, 14},
	{PCTL_OP_FIRST_TRAILING, 1, 14},
	{PCTL_OP_EXTRACT_BITS, 3, 6},
	{PCTL_OP_INSERT_BITS, 4, 6},
	{PCTL_OP_EQ, 2, 15},
	{PCTL_OP_NE, 2, 15},
	{PCTL_OP_LT, 2, 14},
	{PCTL_OP_LE, 2, 14},
	{PCTL_OP_GT, 2, 14},
	{PCTL_OP_GE, 2, 14},
};

static int has_type(const operation *o, uint8_t scalar)
{
	switch (scalar) {
	case PCTL_SCALAR_BOOL:
		return o->types & 1;
	case PCTL_SCALAR_I32:
		return o->types & 2;
	case PCTL_SCALAR_U32:
		return o->types & 4;
	case PCTL_SCALAR_I64:
		return (o->types & 10) == 10;
	default:
		return (o->types & 12) == 12;
	}
}

static int is_comparison(uint16_t op)
{
	return op >= PCTL_OP_EQ && op <= PCTL_OP_GE;
}

/* Scalar of operand number `which`. */
static uint8_t operand_scalar(uint16_t op, uint8_t scalar, uint32_t which)
{
	if ((op == PCTL_OP_SHL || op == PCTL_OP_SHR) && which == 1)
		return PCTL_SCALAR_U32;
	if ((op == PCTL_OP_EXTRACT_BITS && which >= 1) || (op == PCTL_OP_INSERT_BITS && which >= 2))
		return PCTL_SCALAR_U32;
	return scalar;
}

static int is_shared(uint16_t op, uint32_t which) /* one scalar for all components */
{
	return (op == PCTL_OP_EXTRACT_BITS && which >= 1) ||
	       (op == PCTL_OP_INSERT_BITS && which >= 2);
}

static uint32_t type_for(prog *p, uint8_t scalar, uint32_t width)
{
	return width == 1 ? pctl_build_scalar(p->b, scalar)
			  : pctl_build_vector(p->b, scalar, width);
}

/* in[i * 16 + which * 4 + component] as u64 words; the program converts. */
static uint32_t load_operand(prog *p, uint32_t in, uint32_t gid, uint8_t scalar, uint32_t width,
			     uint32_t which, int constant)
{
	uint32_t parts[4];

	for (uint32_t c = 0; c < width; c++) {
		const uint32_t type = pctl_build_scalar(p->b, scalar);
		uint32_t at, word;

		if (constant) {
			const uint64_t bits = edges[(which * 5 + 3) % N_EDGES];
			parts[c] = pctl_build_const(p->b, type,
						    scalar == PCTL_SCALAR_BOOL ? bits & 1
						    : width_of(scalar) == 32   ? (uint32_t)bits
									       : bits);
			continue;
		}
		at = prog_op(p, PCTL_OP_ADD, p->u32, 2,
			     prog_op(p, PCTL_OP_MUL, p->u32, 2, gid, prog_u32(p, 16)),
			     prog_u32(p, which * 4 + c));
		word = prog_load(p, p->u64, in, 1, at);
		if (scalar == PCTL_SCALAR_BOOL)
			word = prog_op(p, PCTL_OP_AND, p->u64, 2, word,
				       pctl_build_const(p->b, p->u64, 1));
		parts[c] =
			scalar == PCTL_SCALAR_U64 ? word : prog_op(p, PCTL_OP_CAST, type, 1, word);
	}
	return width == 1 ? parts[0]
			  : pctl_build_inst(p->b, PCTL_OP_COMPOSE, type_for(p, scalar, width),
					    parts, width);
}

static void check_one(rig *r, const operation *o, uint8_t scalar, uint32_t width,
		      uint32_t constant_mask)
{
	static uint64_t in[LANES * 16], out[LANES * 4];
	rig_bytes arrays[2] = {{in, sizeof(in), 0}, {out, sizeof(out), 0}};
	const uint8_t result = is_comparison(o->op) ? PCTL_SCALAR_BOOL : scalar;
	const uint64_t seed = 1000u * o->op + 10u * scalar + width;
	uint32_t args[4], gid, value;
	uint32_t vin, vout;
	prog p;

	prog_begin(&p);
	vin = prog_storage(&p, "in", pctl_build_array(p.b, p.u64, 0, 0), 0);
	vout = prog_storage(&p, "out", pctl_build_array(p.b, p.u64, 0, 0), 1);
	prog_main(&p);
	gid = prog_builtin(&p, PCTL_BUILTIN_GLOBAL_ID, 0);
	for (uint32_t k = 0; k < o->n_args; k++)
		args[k] =
			load_operand(&p, vin, gid, operand_scalar(o->op, scalar, k),
				     is_shared(o->op, k) ? 1 : width, k, (constant_mask >> k) & 1);
	value = pctl_build_inst(p.b, o->op, type_for(&p, result, width), args, o->n_args);
	for (uint32_t c = 0; c < width; c++) {
		uint32_t part = width == 1 ? value
					   : prog_op(&p, PCTL_OP_EXTRACT,
						     pctl_build_scalar(p.b, result), 2, value, c);
		if (result == PCTL_SCALAR_I32) /* keep the bits, do not extend the sign */
			part = prog_op(&p, PCTL_OP_BITCAST, p.u32, 1, part);
		if (result == PCTL_SCALAR_I64)
			part = prog_op(&p, PCTL_OP_BITCAST, p.u64, 1, part);
		else if (result != PCTL_SCALAR_U64)
			part = prog_op(&p, PCTL_OP_CAST, p.u64, 1, part);
		prog_store(&p, part, vout, 1,
			   prog_op(&p, PCTL_OP_ADD, p.u32, 2,
				   prog_op(&p, PCTL_OP_MUL, p.u32, 2, gid, prog_u32(&p, 4)),
				   prog_u32(&p, c)));
	}
	for (uint32_t i = 0; i < LANES; i++)
		for (uint32_t k = 0; k < 16; k++)
			in[i * 16 + k] = operand(k / 4 * 8 + k % 4, i, seed);
	memset(out, 0xee, sizeof(out));
	rig_run_prog(r, &p, 64, 0, arrays, 2, (LANES + 63) / 64);
	for (uint32_t i = 0; i < LANES; i++) {
		for (uint32_t c = 0; c < width; c++) {
			uint64_t x[4] = {0}, want;

			for (uint32_t k = 0; k < o->n_args; k++) {
				const uint8_t s = operand_scalar(o->op, scalar, k);
				x[k] = (constant_mask >> k) & 1
					       ? edges[(k * 5 + 3) % N_EDGES]
					       : in[i * 16 + k * 4 + (is_shared(o->op, k) ? 0 : c)];
				x[k] = bits_of(value_of(x[k], s), s);
			}
			want = expect(o->op, scalar, x[0], x[1], x[2], x[3]);
			if (width_of(result) < 64)
				want &= width_of(result) == 32 ? 0xffffffffu : 1u;
			if (out[i * 4 + c] != want)
				fail_msg("%s scalar %u width %u constants %x: lane %u.%u of %llx "
					 "%llx %llx %llx "
					 "is %llx, not %llx",
					 pctl_op_get(o->op)->name, scalar, width, constant_mask, i,
					 c, (unsigned long long)x[0], (unsigned long long)x[1],
					 (unsigned long long)x[2], (unsigned long long)x[3],
					 (unsigned long long)out[i * 4 + c],
					 (unsigned long long)want);
		}
	}
}

static void every_operation_and_type(void **state)
{
	uint32_t n = 0;
	rig r;
	(void)state;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		for (uint8_t s = PCTL_SCALAR_BOOL; s <= PCTL_SCALAR_U64; s++)
			for (uint32_t w = 1; w <= 4 && has_type(&operations[i], s); w++)
				for (uint32_t m = 0; m < (w == 1 ? 1u << operations[i].n_args : 1);
				     m++, n++)
					check_one(&r, &operations[i], s, w, m);
	assert_true(n > 600);
	rig_close(&r);
}

PCTL_TESTS_MAIN(PCTL_TEST(every_operation_and_type))
