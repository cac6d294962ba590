/* The legaliser against the meaning of 64-bit integers: each program runs on the reference as
 * written (64-bit arithmetic of C) and as legalised (pairs of 32-bit words), from the same bytes,
 * and must leave the same bytes. */
#include "main.h"
#include "test_legalize_build.h"

#define MAX_BOUND 4u

typedef struct image {
	rig_bytes b[MAX_BOUND];
	uint32_t count;
} image;

static void run(rig *r, const pctl_program *p, const image *m, uint32_t groups)
{
	uint8_t *wire = NULL;
	uint64_t n;

	rig_must(r, pctl_program_encode(p, &r->call, &wire, &n), "its wire form");
	rig_run(r, wire, n, 0, m->b, m->count, groups, 1, 1);
	free(wire);
}

/* Where 64-bit integers stay, none of them may still be divided: else a program would be compared with itself. */
static void expect_no_long_division(const pctl_program *p)
{
	for (uint32_t i = 0; i < p->n_insts; i++) {
		const uint8_t scalar = p->types[p->insts[i].type].scalar;
		const uint16_t op = p->insts[i].op;

		assert_false((op == PCTL_OP_DIV || op == PCTL_OP_DIV_WGSL || op == PCTL_OP_MOD) &&
			     (scalar == PCTL_SCALAR_I64 || scalar == PCTL_SCALAR_U64));
	}
}

/* Both ways over the same start, which is taken over; every byte of every buffer must agree.
 * Returns how many bytes of the last buffer are not zero, so that a test can demand that anything
 * happened. */
static uint32_t compare_on(rig *r, pctl_program *p, image *m, uint32_t groups, uint64_t has)
{
	const pctl_device_caps caps = caps_of(has);
	pctl_program *narrow = NULL;
	image other = {.count = m->count};
	uint32_t changed = 0;

	assert_true((p->caps & PCTL_CAP_I64) != 0);
	assert_int_equal(pctl_legalise(p, &caps, NULL, &r->call, &narrow), PCTL_OK);
	assert_true((narrow->caps & PCTL_CAP_I64 & ~has) == 0);
	expect_no_long_division(narrow);
	assert_int_equal(narrow->n_vars, p->n_vars);
	for (uint32_t i = 0; i < p->n_vars; i++)
		assert_int_equal(narrow->types[narrow->vars[i].type].size,
				 p->types[p->vars[i].type].size);
	for (uint32_t i = 0; i < m->count; i++) {
		other.b[i] = m->b[i];
		other.b[i].data = malloc(m->b[i].n_bytes);
		memcpy(other.b[i].data, m->b[i].data, m->b[i].n_bytes);
	}
	run(r, narrow, &other, groups);
	run(r, p, m, groups);
	for (uint32_t i = 0; i < m->count; i++) {
		const uint8_t *int64 = m->b[i].data, *pairs = other.b[i].data;

		for (uint64_t at = 0; at < m->b[i].n_bytes; at++) {
			if (int64[at] != pairs[at])
				fail_msg("buffer %u byte %llu: as written %02x, legalised %02x", i,
					 (unsigned long long)at, int64[at], pairs[at]);
			changed += i == m->count - 1 && int64[at] != 0;
		}
	}
	for (uint32_t i = 0; i < m->count; i++) {
		free(other.b[i].data);
		free(m->b[i].data);
	}
	pctl_program_destroy(narrow);
	pctl_program_destroy(p);
	return changed;
}

static uint32_t compare(rig *r, pctl_program *p, image *m, uint32_t groups)
{
	return compare_on(r, p, m, groups, 0);
}

static uint8_t *zeros(image *m, uint64_t n)
{
	rig_bytes *a = &m->b[m->count++];

	*a = (rig_bytes){calloc(1, n), n, 0};
	return a->data;
}

/* ---- elementwise ------------------------------------------------------------------------------
 */

static const struct {
	uint16_t op;
	uint8_t arity, kind; /* 1 shift, 2 bool result, 3 signed only */
} cases[] = {
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
	{PCTL_OP_SIGN, 1, 3},
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
};
#define N_CASES (sizeof(cases) / sizeof(cases[0]))
#define N_ROWS 400u

static uint64_t operand(uint32_t which, uint32_t row)
{
	static const uint64_t edges[] = {0,
					 1,
					 2,
					 3,
					 63,
					 64,
					 0xffff,
					 0x10000,
					 0x7fffffff,
					 0x80000000,
					 0xffffffff,
					 0x100000000,
					 0x100000001,
					 0x7fffffffffffffff,
					 0x8000000000000000,
					 0x8000000000000001,
					 0xfffffffffffffffe,
					 0xffffffffffffffff};
	enum { N = sizeof(edges) / sizeof(edges[0]) };
	const uint64_t r = rig_random(which + 3, row);

	if (row < N * N && which < 2)
		return which ? edges[row / N] : edges[row % N];
	if (r % 4 == 0)
		return edges[(r >> 9) % N];
	return rig_random(which + 50, row) >> (r >> 20) % 64;
}

static uint32_t of_width(uint8_t scalar, uint32_t width)
{
	return width > 1 ? pctl_build_vector(b, scalar, width) : pctl_build_scalar(b, scalar);
}

static void elementwise(rig *r, uint8_t scalar, uint32_t width, uint64_t has)
{
	const uint32_t step = width == 3 ? 4 : width;
	uint32_t type, mask, amount, array, in[3], at, vars[4];
	image m = {.count = 0};
	pctl_program *p;

	program_begin();
	type = of_width(scalar, width);
	mask = of_width(PCTL_SCALAR_BOOL, width);
	amount = of_width(PCTL_SCALAR_U32, width);
	array = pctl_build_array(b, type, 0, 0);
	for (uint32_t i = 0; i < 4; i++)
		vars[i] = storage(i, array);
	at = main_begin();
	for (uint32_t i = 0; i < 3; i++)
		in[i] = OP(LOAD, type, vars[i], at);
	at = OP(MUL, t_u32, at, k(N_CASES));
	for (uint32_t c = 0; c < N_CASES; c++) {
		uint32_t args[3] = {in[0], in[1], in[2]}, out;

		if (cases[c].kind == 3 && scalar != PCTL_SCALAR_I64)
			continue;
		if (cases[c].kind == 1)
			args[1] = OP(CAST, amount, in[1]);
		out = pctl_build_inst(b, cases[c].op, cases[c].kind == 2 ? mask : type, args,
				      cases[c].arity);
		if (cases[c].kind == 2) {
			out = OP(SELECT, type, out, in[2], in[0]);
		}
		out = OP(STORE, 0, out, vars[3], OP(ADD, t_u32, at, k(c)));
	}
	p = program_end(r);
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t *x = (uint64_t *)(void *)zeros(&m, (uint64_t)N_ROWS * step * 8);

		for (uint32_t row = 0; row < N_ROWS; row++)
			for (uint32_t lane = 0; lane < step; lane++)
				x[row * step + lane] = operand(i, (row + lane * 37) % N_ROWS);
	}
	zeros(&m, (uint64_t)N_ROWS * step * 8 * N_CASES);
	assert_true(compare_on(r, p, &m, N_ROWS, has) > N_ROWS);
}

static void test_legalize_int64__elementwise(void **state)
{
	rig r;

	(void)state;
	legal_open(&r);
	for (uint32_t width = 1; width <= 4; width++) {
		elementwise(&r, PCTL_SCALAR_U64, width, 0);
		elementwise(&r, PCTL_SCALAR_I64, width, 0);
	}
}

/* ---- a device that has 64-bit integers and must not divide them ------------------------------- */

static void test_legalize_int64__divided_by_forms(void **state)
{
	rig r;

	(void)state;
	legal_open(&r);
	for (uint32_t width = 1; width <= 4; width++) {
		elementwise(&r, PCTL_SCALAR_U64, width, PCTL_CAP_I64);
		elementwise(&r, PCTL_SCALAR_I64, width, PCTL_CAP_I64);
	}
}

/* Divisors of every length with runs of ones and zeros, dividends next to their multiples: where an estimated digit is
 * one or two too large. */
static void divisions(uint64_t *x, uint64_t *y, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t how = rig_random(71, i), q = rig_random(72, i) >> how % 64;
		uint64_t d = rig_random(73, i) >> (how >> 8) % 64;

		if (how >> 16 & 1)
			d = (UINT64_MAX >> (how >> 8) % 64) ^ (how >> 20 & 3);
		if (how >> 17 & 1)
			d = (UINT64_C(1) << (how >> 24) % 64) + (how >> 32) % 3 - 1;
		if (how >> 18 & 1)
			d &= 0xffffffff0000ffffu;
		y[i] = d;
		x[i] = q * d + (how >> 40) % 3 - 1;
	}
}

static void test_legalize_int64__division_digits(void **state)
{
	enum { N = 8192 };
	static const uint16_t ops[] = {PCTL_OP_DIV, PCTL_OP_MOD};
	uint32_t vars[3], x, y, at;
	pctl_program *p;
	uint64_t *in[2];
	rig r;

	(void)state;
	legal_open(&r);
	for (uint32_t is_signed = 0; is_signed < 2; is_signed++) {
		image m = {.count = 0};
		uint32_t type;

		program_begin();
		type = is_signed ? t_i64 : t_u64;
		for (uint32_t i = 0; i < 3; i++)
			vars[i] = storage(i, pctl_build_array(b, type, 0, 0));
		at = main_begin();
		x = OP(LOAD, type, vars[0], at);
		y = OP(LOAD, type, vars[1], at);
		for (uint32_t c = 0; c < 2; c++) {
			const uint32_t args[2] = {x, y};
			const uint32_t q = pctl_build_inst(b, ops[c], type, args, 2);

			OP(STORE, 0, q, vars[2], OP(ADD, t_u32, OP(MUL, t_u32, at, k(2)), k(c)));
		}
		p = program_end(&r);
		in[0] = (uint64_t *)(void *)zeros(&m, N * 8);
		in[1] = (uint64_t *)(void *)zeros(&m, N * 8);
		divisions(in[0], in[1], N);
		zeros(&m, N * 16);
		assert_true(compare_on(&r, p, &m, N, PCTL_CAP_I64) > N);
	}
}

/* ---- conversions and products -----------------------------------------------------------------
 */

static void put(uint32_t value, uint32_t to, uint32_t *next)
{
	OP(STORE, 0, value, to, k((*next)++));
}

static void test_legalize_int64__conversions(void **state)
{
	uint32_t in, out, at, n = 0, x[3], v, u2, i2, u4, l2, l3, b3, i3, q3;
	image m = {.count = 0};
	pctl_program *p;
	rig r;

	(void)state;
	legal_open(&r);
	for (uint32_t row = 0; row < 60; row++) {
		n = 0;
		m.count = 0;
		program_begin();
		u2 = pctl_build_vector(b, PCTL_SCALAR_U32, 2);
		i2 = pctl_build_vector(b, PCTL_SCALAR_I32, 2);
		i3 = pctl_build_vector(b, PCTL_SCALAR_I32, 3);
		u4 = pctl_build_vector(b, PCTL_SCALAR_U32, 4);
		l2 = pctl_build_vector(b, PCTL_SCALAR_U64, 2);
		l3 = pctl_build_vector(b, PCTL_SCALAR_I64, 3);
		q3 = pctl_build_vector(b, PCTL_SCALAR_U64, 3);
		b3 = pctl_build_vector(b, PCTL_SCALAR_BOOL, 3);
		in = storage(0, pctl_build_array(b, t_u64, 0, 0));
		out = storage(1, pctl_build_array(b, t_u64, 0, 0));
		at = main_begin();
		for (uint32_t i = 0; i < 3; i++)
			x[i] = OP(LOAD, t_u64, in, OP(ADD, t_u32, at, k(i)));
		put(OP(CAST, t_u64, OP(CAST, t_u32, x[0])), out, &n);
		put(OP(CAST, t_u64, OP(CAST, t_i32, x[0])), out, &n);
		put(OP(CAST, t_u64, OP(CAST, t_bool, x[0])), out, &n);
		put(OP(CAST, t_u64, OP(CAST, t_i64, x[1])), out, &n);
		put(OP(BITCAST, t_u64, OP(BITCAST, t_i64, x[1])), out, &n);
		put(OP(BITCAST, t_u64, OP(SHUFFLE, u2, OP(BITCAST, u2, x[2]), 1, 0)), out, &n);
		put(OP(BITCAST, t_u64, OP(NEG, i2, OP(BITCAST, i2, x[2]))), out, &n);
		v = OP(BITCAST, u4, OP(COMPOSE, l2, x[0], x[1]));
		v = OP(BITCAST, l2, OP(SHUFFLE, u4, v, 3, 0, 2, 1));
		put(OP(EXTRACT, t_u64, v, 0), out, &n);
		put(OP(EXTRACT, t_u64, v, 1), out, &n);
		v = OP(COMPOSE, l3, OP(CAST, t_i64, x[2]), OP(CAST, t_i64, x[0]),
		       OP(CAST, t_i64, x[1]));
		v = OP(CAST, l3, OP(CAST, i3, v));
		put(OP(CAST, t_u64, OP(EXTRACT_DYN, t_i64, v, OP(CAST, t_u32, x[2]))), out, &n);
		put(OP(CAST, t_u64, OP(EXTRACT_DYN, t_i64, v, OP(CAST, t_i32, x[2]))), out, &n);
		v = OP(INSERT, l3, v, OP(CAST, t_i64, x[1]), 1);
		put(OP(CAST, t_u64, OP(DOT, t_i64, v, OP(SHUFFLE, l3, v, 2, 2, 1))), out, &n);
		v = OP(CAST, q3, OP(CAST, b3, v));
		put(OP(DOT, t_u64, v,
		       OP(SPLAT, q3, pctl_build_const(b, t_u64, 0x123456789abcdefull))),
		    out, &n);
		v = OP(SELECT, l2,
		       OP(CAST, t_bool, OP(AND, t_u64, x[0], pctl_build_const(b, t_u64, 1))),
		       OP(SPLAT, l2, x[1]), pctl_build_inst(b, PCTL_OP_ZERO, l2, NULL, 0));
		put(OP(EXTRACT, t_u64, v, 1), out, &n);
		p = program_end(&r);
		{
			uint64_t *words = (uint64_t *)(void *)zeros(&m, 24);

			for (uint32_t i = 0; i < 3; i++)
				words[i] = operand(i, row * 6 + i);
			words[2] = row % 3 ? words[2] : row / 3 % 5;
		}
		zeros(&m, n * 8);
		compare(&r, p, &m, 1);
	}
}

/* ---- memory -----------------------------------------------------------------------------------
 */

/* struct { a: u64, b: vec3<u64>, c: i64, d: array<vec3<i64>,2>, e: mat3x3<u64>, f: mat2x2<i64>, g:
 * u32, h: vec2<u64> } */
static uint32_t wide_struct(void)
{
	const pctl_member_spec members[] = {
		{"a", t_u64, 0, 0, PCTL_OFFSET_AUTO},
		{"b", pctl_build_vector(b, PCTL_SCALAR_U64, 3), 0, 0, PCTL_OFFSET_AUTO},
		{"c", t_i64, 0, 0, PCTL_OFFSET_AUTO},
		{"d", pctl_build_array(b, pctl_build_vector(b, PCTL_SCALAR_I64, 3), 2, 0), 0, 0,
		 PCTL_OFFSET_AUTO},
		{"e", pctl_build_matrix(b, PCTL_SCALAR_U64, 3, 3), 0, 0, PCTL_OFFSET_AUTO},
		{"f", pctl_build_matrix(b, PCTL_SCALAR_I64, 2, 2), 0, 0, PCTL_OFFSET_AUTO},
		{"g", t_u32, 0, 0, PCTL_OFFSET_AUTO},
		{"h", pctl_build_vector(b, PCTL_SCALAR_U64, 2), 0, 0, PCTL_OFFSET_AUTO},
	};

	return pctl_build_struct(b, members, 8);
}

/* Takes a struct and a vector, returns a vector: composites across calls. */
static uint32_t wide_callee(uint32_t type, uint32_t l3)
{
	const uint32_t params[2] = {type, l3};
	uint32_t x;

	pctl_build_function_begin(b, "callee", params, 2, l3);
	x = OP(EXTRACT, l3, 0, 1);
	OP(RETURN, 0, OP(ADD, l3, x, OP(MUL, l3, 1, x)));
	return pctl_build_function_end(b);
}

static void memory(rig *r, uint8_t space)
{
	enum { N = 3, BYTES = 288 };
	uint32_t type, l3, s3, m33, m22, array, in, out, root, callee, at, whole, x, c[3], dyn;
	image m = {.count = 0};
	pctl_program *p;

	program_begin();
	type = wide_struct();
	assert_int_equal(pctl_build_type_at(b, type)->size, BYTES);
	l3 = pctl_build_vector(b, PCTL_SCALAR_U64, 3);
	s3 = pctl_build_vector(b, PCTL_SCALAR_I64, 3);
	m33 = pctl_build_matrix(b, PCTL_SCALAR_U64, 3, 3);
	m22 = pctl_build_matrix(b, PCTL_SCALAR_I64, 2, 2);
	array = pctl_build_array(b, type, 0, 0);
	in = storage(0, array);
	out = storage(1, array);
	root = space == PCTL_SPACE_FUNCTION ? 0 : var(0, type, space, PCTL_ACCESS_READ_WRITE);
	callee = wide_callee(type, l3);
	at = main_begin();
	if (space == PCTL_SPACE_FUNCTION)
		root = PCTL_PLACE_LOCAL | pctl_build_local(b, "s", type);
	whole = OP(LOAD, type, in, at);
	OP(STORE, 0, whole, root);
	for (uint32_t i = 0; i < 3; i++)
		c[i] = k(i);
	dyn = OP(CAST, t_u32,
		 OP(AND, t_u64, OP(LOAD, t_u64, in, at, 0), pctl_build_const(b, t_u64, 3)));
	/* a component by a computed index that misses for 3, a column, an element, a cell of each
	 */
	OP(STORE, 0, OP(NOT, t_u64, OP(LOAD, t_u64, root, 1, dyn)), root, 1, dyn);
	OP(STORE, 0, OP(NEG, t_i64, OP(LOAD, t_i64, root, 3, c[1], dyn)), root, 3, c[0], c[2]);
	OP(STORE, 0, OP(LOAD, s3, root, 3, c[0]), root, 3, c[1]);
	x = OP(LOAD, l3, root, 4, c[2]);
	x = OP(CALL, l3, callee, OP(LOAD, type, root), x);
	OP(STORE, 0, x, root, 4, dyn);
	OP(STORE, 0, OP(LOAD, t_u64, root, 4, c[0], dyn), root, 4, dyn, c[1]);
	x = OP(MATMUL, m33, OP(LOAD, m33, root, 4), OP(TRANSPOSE, m33, OP(LOAD, m33, in, at, 4)));
	OP(STORE, 0, x, root, 4);
	x = OP(MATMUL, l3, OP(LOAD, l3, root, 1), OP(LOAD, m33, root, 4));
	x = OP(XOR, l3, x, OP(MATMUL, l3, OP(LOAD, m33, root, 4), OP(LOAD, l3, root, 1)));
	OP(STORE, 0, x, root, 1);
	x = OP(LOAD, m22, root, 5);
	x = OP(INSERT, m22, x, OP(EXTRACT, pctl_build_vector(b, PCTL_SCALAR_I64, 2), x, 0), 1);
	x = OP(SELECT, m22, OP(EQ, t_bool, dyn, c[1]), x, OP(TRANSPOSE, m22, x));
	OP(STORE, 0, x, root, 5);
	whole = OP(LOAD, type, root);
	whole = OP(INSERT, type, whole, OP(EXTRACT, l3, whole, 1), 1);
	whole = OP(INSERT, type, whole, k(77), 6);
	OP(STORE, 0, whole, out, at);
	p = program_end(r);
	{
		uint8_t *bytes = zeros(&m, N * BYTES);

		for (uint32_t i = 0; i < N * BYTES; i++)
			bytes[i] = (uint8_t)rig_random(space, i);
	}
	zeros(&m, N * BYTES);
	assert_true(compare(r, p, &m, N) > N * BYTES / 3);
}

static void test_legalize_int64__memory(void **state)
{
	rig r;

	(void)state;
	legal_open(&r);
	memory(&r, PCTL_SPACE_FUNCTION);
	memory(&r, PCTL_SPACE_PRIVATE);
	memory(&r, PCTL_SPACE_WORKGROUP);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_legalize_int64__elementwise),
		PCTL_TEST(test_legalize_int64__conversions), PCTL_TEST(test_legalize_int64__memory),
		PCTL_TEST(test_legalize_int64__divided_by_forms),
		PCTL_TEST(test_legalize_int64__division_digits))
