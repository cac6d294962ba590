/* Every computing instruction at every integer type and width against plain C written from
 * core/SEMANTICS.md: a kernel per type computes all operations over boundary pairs and random values. */
#include "sketch.h"

#include <stdlib.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

#define N_ROWS 192u

typedef struct op_case {
	uint16_t op;
	uint8_t arity;
	uint8_t kind; /* 0 plain, 1 second operand is a shift amount, 2 result is bool, 3 bit
			 fields, 4 signed only */
} op_case;

static const op_case cases[] = {
	{PCTL_OP_ADD, 2, 0},
	{PCTL_OP_SUB, 2, 0},
	{PCTL_OP_MUL, 2, 0},
	{PCTL_OP_DIV, 2, 0},
	{PCTL_OP_MOD, 2, 0},
	{PCTL_OP_DIV_WGSL, 2, 0},
	{PCTL_OP_NEG, 1, 0},
	{PCTL_OP_AND, 2, 0},
	{PCTL_OP_OR, 2, 0},
	{PCTL_OP_XOR, 2, 0},
	{PCTL_OP_NOT, 1, 0},
	{PCTL_OP_SHL, 2, 1},
	{PCTL_OP_SHR, 2, 1},
	{PCTL_OP_MIN, 2, 0},
	{PCTL_OP_MAX, 2, 0},
	{PCTL_OP_CLAMP, 3, 0},
	{PCTL_OP_ABS, 1, 0},
	{PCTL_OP_SIGN, 1, 4},
	{PCTL_OP_POPCOUNT, 1, 0},
	{PCTL_OP_CLZ, 1, 0},
	{PCTL_OP_CTZ, 1, 0},
	{PCTL_OP_REVERSE, 1, 0},
	{PCTL_OP_FIRST_LEADING, 1, 0},
	{PCTL_OP_FIRST_TRAILING, 1, 0},
	{PCTL_OP_EQ, 2, 2},
	{PCTL_OP_NE, 2, 2},
	{PCTL_OP_LT, 2, 2},
	{PCTL_OP_LE, 2, 2},
	{PCTL_OP_GT, 2, 2},
	{PCTL_OP_GE, 2, 2},
	{PCTL_OP_EXTRACT_BITS, 3, 3},
	{PCTL_OP_INSERT_BITS, 3, 3},
};
#define N_CASES (sizeof(cases) / sizeof(cases[0]))

static uint64_t low(uint64_t x, uint32_t bits)
{
	return bits == 64 ? x : x & 0xffffffffu;
}

/* The mathematical value of a bit pattern. */
static wide value(uint64_t x, uint32_t bits, int is_signed)
{
	const wide v = (wide)low(x, bits);

	return is_signed && (x >> (bits - 1) & 1) ? v - ((wide)1 << bits) : v;
}

static uint64_t oracle_field(uint16_t op, uint64_t a, uint64_t b, uint64_t offset, uint64_t count,
			     int is_signed)
{
	uint64_t out = op == PCTL_OP_INSERT_BITS ? a : 0, last = 0;

	if (offset > 32)
		offset = 32;
	if (count > 32 - offset)
		count = 32 - offset;
	for (uint64_t i = 0; i < count; i++) {
		if (op == PCTL_OP_INSERT_BITS) {
			out &= ~(1ull << (offset + i));
			out |= (b >> i & 1) << (offset + i);
		} else {
			last = a >> (offset + i) & 1;
			out |= last << i;
		}
	}
	if (op == PCTL_OP_EXTRACT_BITS && is_signed && last)
		for (uint64_t i = count; i < 32; i++)
			out |= 1ull << i;
	return out;
}

static uint64_t oracle_bits(uint16_t op, uint64_t a, uint32_t bits, int is_signed)
{
	uint64_t out = 0;
	uint32_t i;

	switch (op) {
	case PCTL_OP_POPCOUNT:
		for (i = 0; i < bits; i++)
			out += a >> i & 1;
		return out;
	case PCTL_OP_CLZ:
		for (i = 0; i < bits && !(a >> (bits - 1 - i) & 1); i++)
			;
		return i;
	case PCTL_OP_CTZ:
		for (i = 0; i < bits && !(a >> i & 1); i++)
			;
		return i;
	case PCTL_OP_REVERSE:
		for (i = 0; i < bits; i++)
			out |= (a >> i & 1) << (bits - 1 - i);
		return out;
	case PCTL_OP_FIRST_TRAILING:
		for (i = 0; i < bits; i++)
			if (a >> i & 1)
				return i;
		return UINT64_MAX;
	default: /* FIRST_LEADING: the highest bit that differs from the sign */
		for (i = bits; i-- > 0;)
			if ((a >> i & 1) != (is_signed ? a >> (bits - 1) & 1 : 0))
				return i;
		return UINT64_MAX;
	}
}

static uint64_t oracle(uint16_t op, uint64_t a, uint64_t b, uint64_t c, uint32_t bits,
		       int is_signed)
{
	const wide x = value(a, bits, is_signed), y = value(b, bits, is_signed),
		   z = value(c, bits, is_signed);
	const uint32_t amount = (uint32_t)b & (bits - 1);

	switch (op) {
	case PCTL_OP_ADD:
		return (uint64_t)(x + y);
	case PCTL_OP_SUB:
		return (uint64_t)(x - y);
	case PCTL_OP_MUL:
		return (uint64_t)((uwide)x * (uwide)y);
	case PCTL_OP_DIV:
		return y ? (uint64_t)(x / y) : 0;
	case PCTL_OP_DIV_WGSL:
		return y ? (uint64_t)(x / y) : a;
	case PCTL_OP_MOD:
		return y ? (uint64_t)(x % y) : 0;
	case PCTL_OP_NEG:
		return (uint64_t)-x;
	case PCTL_OP_AND:
		return a & b;
	case PCTL_OP_OR:
		return a | b;
	case PCTL_OP_XOR:
		return a ^ b;
	case PCTL_OP_NOT:
		return ~a;
	case PCTL_OP_SHL:
		return (uint64_t)((uwide)a << amount);
	case PCTL_OP_SHR:
		return (uint64_t)(x >> amount);
	case PCTL_OP_MIN:
		return x < y ? a : b;
	case PCTL_OP_MAX:
		return x > y ? a : b;
	case PCTL_OP_CLAMP:
		return (uint64_t)((x > y ? x : y) < z ? (x > y ? x : y) : z);
	case PCTL_OP_ABS:
		return (uint64_t)(x < 0 ? -x : x);
	case PCTL_OP_SIGN:
		return x < 0 ? UINT64_MAX : x > 0;
	case PCTL_OP_EQ:
		return x == y;
	case PCTL_OP_NE:
		return x != y;
	case PCTL_OP_LT:
		return x < y;
	case PCTL_OP_LE:
		return x <= y;
	case PCTL_OP_GT:
		return x > y;
	case PCTL_OP_GE:
		return x >= y;
	default:
		return oracle_bits(op, low(a, bits), bits, is_signed);
	}
}

/* Boundary values crossed with each other first, then random ones of every magnitude. */
static uint64_t operand(uint32_t which, uint32_t row, uint32_t lane, uint32_t bits)
{
	const uint64_t top = 1ull << (bits - 1);
	const uint64_t edges[] = {0,	      1,   2,	    bits - 1,	    bits,
				  top - 1,    top, top + 1, UINT64_MAX - 1, UINT64_MAX,
				  0xffffffffu};
	const uint32_t n = sizeof(edges) / sizeof(edges[0]);
	const uint64_t r = rig_random(which + 1, row * 8u + lane);

	if (row + lane < n * n && which < 2)
		return low(edges[which ? (row + lane) / n : (row + lane) % n], bits);
	if (r % 5 == 0)
		return low(edges[(r >> 8) % n], bits);
	return low(rig_random(which + 77, row * 8u + lane) >> (r % 64), bits);
}

static int skipped(const op_case *c, uint32_t bits, int is_signed)
{
	return (c->kind == 3 && bits == 64) || (c->kind == 4 && !is_signed);
}

static uint32_t emit_case(sketch *s, const op_case *c, uint32_t type, uint32_t mask,
			  uint32_t amounts, const uint32_t in[3], uint32_t width)
{
	uint32_t offset, count, args[4] = {in[0], in[1], in[2], 0};

	if (c->kind == 1)
		args[1] = OP(s, CAST, amounts, in[1]);
	if (c->kind == 3) {
		offset = width > 1 ? OP(s, EXTRACT, pctl_build_type_at(s->b, type)->elem, in[1], 0)
				   : in[1];
		count = width > 1 ? OP(s, EXTRACT, pctl_build_type_at(s->b, type)->elem, in[2], 0)
				  : in[2];
		offset = OP(s, CAST, s->t_u32, offset);
		count = OP(s, CAST, s->t_u32, count);
		if (c->op == PCTL_OP_EXTRACT_BITS)
			return OP(s, EXTRACT_BITS, type, in[0], offset, count);
		return OP(s, INSERT_BITS, type, in[0], in[1], offset, count);
	}
	if (c->kind == 2)
		return OP(s, CAST, type, pctl_build_inst(s->b, c->op, mask, args, 2));
	return pctl_build_inst(s->b, c->op, type, args, c->arity);
}

static void check_type(rig *r, uint8_t scalar, uint32_t width)
{
	const int is_signed = pctl_scalar_is_signed(scalar);
	const uint32_t bits = pctl_scalar_bits(scalar), lanes = width == 3 ? 4 : width;
	const uint64_t step = (uint64_t)lanes * bits / 8;
	uint32_t vars[4], in[3], type, mask, amounts, array, at;
	uint8_t *data[4], *wire;
	rig_bytes bounds[4];
	uint64_t n;
	sketch s;

	sketch_begin(&s, 32);
	type = width > 1 ? pctl_build_vector(s.b, scalar, width) : pctl_build_scalar(s.b, scalar);
	mask = width > 1 ? pctl_build_vector(s.b, PCTL_SCALAR_BOOL, width) : s.t_bool;
	amounts = width > 1 ? pctl_build_vector(s.b, PCTL_SCALAR_U32, width) : s.t_u32;
	array = pctl_build_array(s.b, type, 0, 0);
	for (uint32_t i = 0; i < 4; i++) {
		vars[i] = sketch_storage(&s, i, array,
					 i < 3 ? PCTL_ACCESS_READ : PCTL_ACCESS_READ_WRITE);
		bounds[i] = (rig_bytes){NULL, N_ROWS * step * (i < 3 ? 1 : N_CASES), 0};
		data[i] = bounds[i].data = calloc(1, bounds[i].n_bytes);
	}
	sketch_main(&s);
	at = global_x(&s);
	for (uint32_t i = 0; i < 3; i++)
		in[i] = OP(&s, LOAD, type, vars[i], at);
	at = OP(&s, MUL, s.t_u32, at, k_u32(&s, N_CASES));
	for (uint32_t c = 0; c < N_CASES; c++) {
		uint32_t out;

		if (skipped(&cases[c], bits, is_signed))
			continue;
		out = emit_case(&s, &cases[c], type, mask, amounts, in, width);
		OP(&s, STORE, 0, out, vars[3], OP(&s, ADD, s.t_u32, at, k_u32(&s, c)));
	}
	wire = sketch_end(&s, &n);
	for (uint32_t i = 0; i < 3; i++) {
		for (uint32_t row = 0; row < N_ROWS; row++) {
			for (uint32_t lane = 0; lane < width; lane++) {
				const uint64_t x = operand(i, row, lane, bits);

				memcpy(data[i] + row * step + lane * bits / 8, &x, bits / 8);
			}
		}
	}
	sketch_run(r, wire, n, bounds, 4, N_ROWS / 32);
	for (uint32_t row = 0; row < N_ROWS; row++) {
		for (uint32_t c = 0; c < N_CASES; c++) {
			for (uint32_t lane = 0;
			     lane < width && !skipped(&cases[c], bits, is_signed); lane++) {
				const uint64_t a = operand(0, row, lane, bits),
					       b = operand(1, row, lane, bits);
				const uint64_t z = operand(2, row, lane, bits);
				uint64_t got = 0, want;

				memcpy(&got, data[3] + (row * N_CASES + c) * step + lane * bits / 8,
				       bits / 8);
				if (cases[c].kind == 3)
					want = oracle_field(cases[c].op, a, b,
							    operand(1, row, 0, bits),
							    operand(2, row, 0, bits), is_signed);
				else
					want = oracle(cases[c].op, a, b, z, bits, is_signed);
				if (got != low(want, bits))
					fail_msg("%s of %s x%u lane %u: a=%llx b=%llx c=%llx gives "
						 "%llx, want %llx",
						 pctl_op_get(cases[c].op)->name,
						 pctl_scalar_name(scalar), width, lane,
						 (unsigned long long)a, (unsigned long long)b,
						 (unsigned long long)z, (unsigned long long)got,
						 (unsigned long long)low(want, bits));
			}
		}
	}
	for (uint32_t i = 0; i < 4; i++)
		free(data[i]);
}

static void check_widths(rig *r, uint8_t scalar)
{
	for (uint32_t width = 1; width <= 4; width++)
		check_type(r, scalar, width);
}

static void test_opencl__u32_operations(void **state)
{
	check_widths(*state, PCTL_SCALAR_U32);
}

static void test_opencl__i32_operations(void **state)
{
	check_widths(*state, PCTL_SCALAR_I32);
}

static void test_opencl__u64_operations(void **state)
{
	check_widths(*state, PCTL_SCALAR_U64);
}

static void test_opencl__i64_operations(void **state)
{
	check_widths(*state, PCTL_SCALAR_I64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opencl__u32_operations),
		cmocka_unit_test(test_opencl__i32_operations),
		cmocka_unit_test(test_opencl__u64_operations),
		cmocka_unit_test(test_opencl__i64_operations),
	};

	return cmocka_run_group_tests(tests, sketch_setup, sketch_teardown) != 0;
}
