/* Every elementwise operation, on every integer type and vector width, against plain C on boundary
 * and random values. */
#include "main.h"
#include "devices.h"

#include <stdlib.h>

#define LANES 4096u

typedef struct kind {
	uint8_t scalar;
	uint32_t bits;
	int is_signed;
} kind;

static const kind kinds[] = {
	{PCTL_SCALAR_U32, 32, 0},
	{PCTL_SCALAR_I32, 32, 1},
	{PCTL_SCALAR_U64, 64, 0},
	{PCTL_SCALAR_I64, 64, 1},
};

/* How the second and third operand look: as the first, a u32 shape, or scalar u32. */
enum { SAME, AMOUNT, FIELD };
typedef struct op_case {
	uint16_t op;
	uint8_t n_args;
	uint8_t others;
	uint8_t is_compare;
	uint8_t only;	     /* 1: 32 bits only, 2: signed only */
	uint8_t second_same; /* insert_bits: the second is as the first although others are FIELD */
} op_case;

static const op_case cases[] = {
	{PCTL_OP_ADD, 2, SAME, 0, 0, 0},
	{PCTL_OP_SUB, 2, SAME, 0, 0, 0},
	{PCTL_OP_MUL, 2, SAME, 0, 0, 0},
	{PCTL_OP_DIV, 2, SAME, 0, 0, 0},
	{PCTL_OP_MOD, 2, SAME, 0, 0, 0},
	{PCTL_OP_DIV_WGSL, 2, SAME, 0, 0, 0},
	{PCTL_OP_NEG, 1, SAME, 0, 2, 0},
	{PCTL_OP_AND, 2, SAME, 0, 0, 0},
	{PCTL_OP_OR, 2, SAME, 0, 0, 0},
	{PCTL_OP_XOR, 2, SAME, 0, 0, 0},
	{PCTL_OP_NOT, 1, SAME, 0, 0, 0},
	{PCTL_OP_SHL, 2, AMOUNT, 0, 0, 0},
	{PCTL_OP_SHR, 2, AMOUNT, 0, 0, 0},
	{PCTL_OP_MIN, 2, SAME, 0, 0, 0},
	{PCTL_OP_MAX, 2, SAME, 0, 0, 0},
	{PCTL_OP_CLAMP, 3, SAME, 0, 0, 0},
	{PCTL_OP_ABS, 1, SAME, 0, 0, 0},
	{PCTL_OP_SIGN, 1, SAME, 0, 2, 0},
	{PCTL_OP_POPCOUNT, 1, SAME, 0, 0, 0},
	{PCTL_OP_CLZ, 1, SAME, 0, 0, 0},
	{PCTL_OP_CTZ, 1, SAME, 0, 0, 0},
	{PCTL_OP_REVERSE, 1, SAME, 0, 0, 0},
	{PCTL_OP_FIRST_LEADING, 1, SAME, 0, 0, 0},
	{PCTL_OP_FIRST_TRAILING, 1, SAME, 0, 0, 0},
	{PCTL_OP_EXTRACT_BITS, 3, FIELD, 0, 1, 0},
	{PCTL_OP_INSERT_BITS, 4, FIELD, 0, 1, 1},
	{PCTL_OP_EQ, 2, SAME, 1, 0, 0},
	{PCTL_OP_NE, 2, SAME, 1, 0, 0},
	{PCTL_OP_LT, 2, SAME, 1, 0, 0},
	{PCTL_OP_LE, 2, SAME, 1, 0, 0},
	{PCTL_OP_GT, 2, SAME, 1, 0, 0},
	{PCTL_OP_GE, 2, SAME, 1, 0, 0},
};

/* ---- the oracle ---- */

static uint64_t cut(uint64_t x, const kind *k)
{
	return k->bits == 64 ? x : x & 0xffffffffu;
}

static int64_t as_signed(uint64_t x, const kind *k)
{
	return k->bits == 64 ? (int64_t)x : (int32_t)(uint32_t)x;
}

static uint32_t less(uint64_t a, uint64_t b, const kind *k)
{
	return k->is_signed ? as_signed(a, k) < as_signed(b, k) : a < b;
}

/* Schoolbook division on magnitudes, one bit at a time. */
static void divide(uint64_t a, uint64_t b, const kind *k, uint64_t *q, uint64_t *rest)
{
	const int na = k->is_signed && as_signed(a, k) < 0,
		  nb = k->is_signed && as_signed(b, k) < 0;
	const uint64_t x = na ? cut(0 - a, k) : a, y = nb ? cut(0 - b, k) : b;
	uint64_t quotient = 0, r = 0;
	int i, carry;

	for (i = (int)k->bits - 1; i >= 0; i--) {
		carry = (int)(r >> 63);
		r = r << 1 | (x >> i & 1);
		if (carry || r >= y) {
			r -= y;
			quotient |= 1ull << i;
		}
	}
	*q = cut(na != nb ? 0 - quotient : quotient, k);
	*rest = cut(na ? 0 - r : r, k);
}

static int top_bit(uint64_t x)
{
	int i, at = -1;

	for (i = 0; i < 64; i++)
		if (x >> i & 1)
			at = i;
	return at;
}

static int low_bit(uint64_t x)
{
	int i;

	for (i = 0; i < 64; i++)
		if (x >> i & 1)
			return i;
	return -1;
}

static uint64_t bit_field(uint64_t a, uint64_t b, uint64_t c, uint64_t d, const op_case *oc,
			  const kind *k)
{
	const uint32_t offset = oc->op == PCTL_OP_INSERT_BITS ? (uint32_t)c : (uint32_t)b;
	const uint32_t count = oc->op == PCTL_OP_INSERT_BITS ? (uint32_t)d : (uint32_t)c;
	const uint32_t o = offset < 32 ? offset : 32;
	const uint32_t n = count < 32 - o ? count : 32 - o;
	uint64_t out = 0;
	uint32_t i;

	if (oc->op == PCTL_OP_INSERT_BITS) {
		for (i = 0; i < 32; i++)
			out |= (i >= o && i < o + n ? b >> (i - o) & 1 : a >> i & 1) << i;
		return out;
	}
	for (i = 0; i < n; i++)
		out |= (a >> (o + i) & 1) << i;
	if (k->is_signed && n && (out >> (n - 1) & 1))
		for (i = n; i < 32; i++)
			out |= 1ull << i;
	return out;
}

static uint64_t counting(uint64_t a, const op_case *oc, const kind *k)
{
	uint64_t out = 0;
	uint32_t i;

	switch (oc->op) {
	case PCTL_OP_POPCOUNT:
		for (i = 0; i < 64; i++)
			out += a >> i & 1;
		return out;
	case PCTL_OP_CLZ:
		return k->bits - 1 - (uint64_t)(int64_t)top_bit(a);
	case PCTL_OP_CTZ:
		return a ? (uint64_t)low_bit(a) : k->bits;
	case PCTL_OP_REVERSE:
		for (i = 0; i < k->bits; i++)
			out |= (a >> i & 1) << (k->bits - 1 - i);
		return out;
	case PCTL_OP_FIRST_LEADING:
		if (k->is_signed && as_signed(a, k) < 0)
			a = cut(~a, k);
		return cut((uint64_t)(int64_t)top_bit(a), k);
	default:
		return cut((uint64_t)(int64_t)low_bit(a), k);
	}
}

static uint64_t expect(const op_case *oc, const kind *k, const uint64_t v[4])
{
	const uint64_t a = v[0], b = v[1], c = v[2];
	const uint32_t s = (uint32_t)b % k->bits;
	uint64_t q, rest;

	switch (oc->op) {
	case PCTL_OP_ADD:
		return cut(a + b, k);
	case PCTL_OP_SUB:
		return cut(a - b, k);
	case PCTL_OP_MUL:
		return cut(a * b, k);
	case PCTL_OP_DIV:
	case PCTL_OP_DIV_WGSL:
	case PCTL_OP_MOD:
		if (b == 0)
			return oc->op == PCTL_OP_DIV_WGSL ? a : 0;
		divide(a, b, k, &q, &rest);
		return oc->op == PCTL_OP_MOD ? rest : q;
	case PCTL_OP_NEG:
		return cut(0 - a, k);
	case PCTL_OP_AND:
		return a & b;
	case PCTL_OP_OR:
		return a | b;
	case PCTL_OP_XOR:
		return a ^ b;
	case PCTL_OP_NOT:
		return cut(~a, k);
	case PCTL_OP_SHL:
		return cut(a << s, k);
	case PCTL_OP_SHR:
		return cut(k->is_signed ? (uint64_t)(as_signed(a, k) >> s) : a >> s, k);
	case PCTL_OP_MIN:
		return less(b, a, k) ? b : a;
	case PCTL_OP_MAX:
		return less(a, b, k) ? b : a;
	case PCTL_OP_CLAMP:
		q = less(a, b, k) ? b : a;
		return less(c, q, k) ? c : q;
	case PCTL_OP_ABS:
		return k->is_signed && as_signed(a, k) < 0 ? cut(0 - a, k) : a;
	case PCTL_OP_SIGN:
		return as_signed(a, k) < 0 ? cut(UINT64_MAX, k) : a != 0;
	case PCTL_OP_EXTRACT_BITS:
	case PCTL_OP_INSERT_BITS:
		return bit_field(a, b, c, v[3], oc, k);
	case PCTL_OP_EQ:
		return a == b;
	case PCTL_OP_NE:
		return a != b;
	case PCTL_OP_LT:
		return less(a, b, k);
	case PCTL_OP_LE:
		return !less(b, a, k);
	case PCTL_OP_GT:
		return less(b, a, k);
	case PCTL_OP_GE:
		return !less(a, b, k);
	default:
		return counting(a, oc, k);
	}
}

/* ---- the program ---- */

static uint32_t shape(pctl_builder *b, uint8_t scalar, uint32_t width)
{
	return width == 1 ? pctl_build_scalar(b, scalar) : pctl_build_vector(b, scalar, width);
}

/* Slot of component c of element i: vectors of three take the room of four. */
static uint32_t slot(uint32_t width, uint32_t i, uint32_t c)
{
	return i * (width == 3 ? 4 : width) + c;
}

typedef struct operand {
	uint8_t scalar;
	uint32_t bits;
	uint32_t width;
	void *data;
	uint64_t n_bytes;
} operand;

static void fill(operand *o, uint64_t seed)
{
	const uint32_t n = slot(o->width, LANES, 0);
	uint32_t i;
	uint64_t v;

	o->n_bytes = (uint64_t)n * o->bits / 8;
	o->data = calloc(n, o->bits / 8);
	assert_non_null(o->data);
	for (i = 0; i < n; i++) {
		v = rig_value(seed, i, o->bits);
		memcpy((uint8_t *)o->data + (size_t)i * o->bits / 8, &v, o->bits / 8);
	}
}

static uint64_t get(const operand *o, uint32_t i, uint32_t c)
{
	uint64_t v = 0;

	memcpy(&v,
	       (const uint8_t *)o->data +
		       (size_t)slot(o->width, i, o->width == 1 ? 0 : c) * o->bits / 8,
	       o->bits / 8);
	return v;
}

static rig_program program_of(const op_case *oc, const kind *k, uint32_t width, const operand *ops)
{
	pctl_builder *b = rig_builder();
	uint32_t vars[5], args[4], i, at, type, r, out_type;

	for (i = 0; i < oc->n_args; i++)
		vars[i] = rig_storage(
			b, i, pctl_build_array(b, shape(b, ops[i].scalar, ops[i].width), 0, 0), 0);
	out_type = shape(b, oc->is_compare ? PCTL_SCALAR_U32 : k->scalar, width);
	vars[4] = rig_storage(b, oc->n_args, pctl_build_array(b, out_type, 0, 0), 1);
	pctl_build_function_begin(b, "main", NULL, 0, 0);
	at = rig_global_x(b);
	for (i = 0; i < oc->n_args; i++)
		args[i] = rig_inst(b, PCTL_OP_LOAD, shape(b, ops[i].scalar, ops[i].width), 2,
				   vars[i], at);
	type = shape(b, oc->is_compare ? PCTL_SCALAR_BOOL : k->scalar, width);
	r = pctl_build_inst(b, oc->op, type, args, oc->n_args);
	if (oc->is_compare)
		r = rig_inst(b, PCTL_OP_CAST, out_type, 1, r);
	rig_inst(b, PCTL_OP_STORE, 0, 3, r, vars[4], at);
	rig_entry(b, 64, 1, 1);
	return rig_finish(b);
}

static void one(rig *r, const op_case *oc, const kind *k, uint32_t width)
{
	operand ops[5] = {0};
	rig_bytes bytes[5];
	rig_program p;
	uint32_t i, c, a;

	for (a = 0; a < oc->n_args; a++) {
		ops[a] = (operand){.scalar = k->scalar, .bits = k->bits, .width = width};
		if (a > 0 && oc->others != SAME && !(a == 1 && oc->second_same)) {
			ops[a].scalar = PCTL_SCALAR_U32;
			ops[a].bits = 32;
			ops[a].width = oc->others == FIELD ? 1 : width;
		}
		fill(&ops[a], 1000u * oc->op + 10u * a + k->bits + width);
	}
	ops[a] = (operand){.bits = oc->is_compare ? 32 : k->bits, .width = width};
	fill(&ops[a], 5);
	p = program_of(oc, k, width, ops);
	for (a = 0; a <= oc->n_args; a++)
		bytes[a] = (rig_bytes){.data = ops[a].data, .n_bytes = ops[a].n_bytes};
	rig_run(r, p.wire, p.n, 0, bytes, oc->n_args + 1u, LANES / 64, 1, 1);
	for (i = 0; i < LANES; i++) {
		for (c = 0; c < width; c++) {
			uint64_t v[4] = {0};
			uint64_t want, got = get(&ops[oc->n_args], i, c);

			for (a = 0; a < oc->n_args; a++)
				v[a] = get(&ops[a], i, c);
			want = expect(oc, k, v);
			if (got != want)
				fail_msg("%s of %s, width %u, on %s: (%llx, %llx, %llx, %llx) gave "
					 "%llx, not %llx",
					 pctl_op_get(oc->op)->name, pctl_scalar_name(k->scalar),
					 width, r->info.name, (unsigned long long)v[0],
					 (unsigned long long)v[1], (unsigned long long)v[2],
					 (unsigned long long)v[3], (unsigned long long)got,
					 (unsigned long long)want);
		}
	}
	for (a = 0; a <= oc->n_args; a++)
		free(ops[a].data);
	free(p.wire);
}

static void all_of(rig *r, uint32_t first_kind, uint32_t last_kind)
{
	uint32_t k, c, w;

	for (k = first_kind; k <= last_kind; k++)
		for (c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
			if ((cases[c].only == 1 && kinds[k].bits != 32) ||
			    (cases[c].only == 2 && !kinds[k].is_signed))
				continue;
			for (w = 1; w <= 4; w++)
				one(r, &cases[c], &kinds[k], w);
		}
}

static void narrow(rig *r)
{
	all_of(r, 0, 1);
}

static void wide(rig *r)
{
	if (r->caps.caps & PCTL_CAP_I64)
		all_of(r, 2, 3);
}

/* Every literal divisor and shift amount that lets a guard be left out, and those that do not. */
static void literals(rig *r)
{
	static const uint32_t ys[] = {0, 1, 3, 31, 32, 33, 0x80000000u, 0xffffffffu};
	static const op_case ops[] = {{PCTL_OP_DIV, 2, SAME, 0, 0, 0},
				      {PCTL_OP_MOD, 2, SAME, 0, 0, 0},
				      {PCTL_OP_DIV_WGSL, 2, SAME, 0, 0, 0},
				      {PCTL_OP_SHL, 2, AMOUNT, 0, 0, 0},
				      {PCTL_OP_SHR, 2, AMOUNT, 0, 0, 0}};
	uint32_t k, o, y, i;

	for (k = 0; k < 2; k++)
		for (o = 0; o < 5; o++)
			for (y = 0; y < 8; y++) {
				operand x = {kinds[k].scalar, 32, 1, NULL, 0};
				operand out = {kinds[k].scalar, 32, 1, NULL, 0};
				pctl_builder *b = rig_builder();
				const uint32_t type = pctl_build_scalar(b, kinds[k].scalar);
				const uint32_t list = pctl_build_array(b, type, 0, 0);
				const uint32_t from = rig_storage(b, 0, list, 0);
				const uint32_t to = rig_storage(b, 1, list, 1);
				uint32_t at, v;
				rig_bytes bytes[2];
				rig_program p;

				fill(&x, 3 + k);
				fill(&out, 4);
				pctl_build_function_begin(b, "main", NULL, 0, 0);
				at = rig_global_x(b);
				v = pctl_build_const(b,
						     ops[o].others == AMOUNT
							     ? pctl_build_scalar(b, PCTL_SCALAR_U32)
							     : type,
						     ys[y]);
				v = rig_inst(b, ops[o].op, type, 2,
					     rig_inst(b, PCTL_OP_LOAD, type, 2, from, at), v);
				rig_inst(b, PCTL_OP_STORE, 0, 3, v, to, at);
				rig_entry(b, 64, 1, 1);
				p = rig_finish(b);
				bytes[0] = (rig_bytes){x.data, x.n_bytes, 0};
				bytes[1] = (rig_bytes){out.data, out.n_bytes, 0};
				rig_run(r, p.wire, p.n, 0, bytes, 2, LANES / 64, 1, 1);
				for (i = 0; i < LANES; i++) {
					const uint64_t args[4] = {get(&x, i, 0), ys[y], 0, 0};

					assert_int_equal(get(&out, i, 0),
							 expect(&ops[o], &kinds[k], args));
				}
				free(x.data);
				free(out.data);
				free(p.wire);
			}
}

static void test_vulkan__elementwise_32(void **state)
{
	(void)state;
	rig_each(narrow);
}

static void test_vulkan__elementwise_64(void **state)
{
	(void)state;
	rig_each(wide);
}

static void test_vulkan__literal_operands(void **state)
{
	(void)state;
	rig_each(literals);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_vulkan__elementwise_32), PCTL_TEST(test_vulkan__elementwise_64),
		PCTL_TEST(test_vulkan__literal_operands))
