/* Control flow, functions and barriers: each program computes per invocation what a C function
 * beside it computes. */
#include "sketch.h"

#include <stdlib.h>

#define RW PCTL_ACCESS_READ_WRITE
#define N 96u

typedef struct vars {
	uint32_t in, out, at;
} vars;

static void begin(sketch *s, vars *v, uint32_t local)
{
	const uint32_t array = (sketch_begin(s, local), pctl_build_array(s->b, s->t_u32, 0, 0));

	v->in = sketch_storage(s, 0, array, PCTL_ACCESS_READ);
	v->out = sketch_storage(s, 1, array, RW);
}

static void run(rig *r, sketch *s, uint32_t groups,
		uint32_t (*want)(const uint32_t *in, uint32_t i))
{
	uint32_t in[N], out[N] = {0};
	rig_bytes bounds[2] = {{in, sizeof(in), 0}, {out, sizeof(out), 0}};
	uint64_t n;
	uint8_t *wire = sketch_end(s, &n);

	for (uint32_t i = 0; i < N; i++)
		in[i] = i < 8 ? i : (uint32_t)rig_random(21, i) >> (i % 29);
	sketch_run(r, wire, n, bounds, 2, groups);
	for (uint32_t i = 0; i < N; i++)
		if (out[i] != want(in, i))
			fail_msg("invocation %u with %u: got %u, want %u", i, in[i], out[i],
				 want(in, i));
}

static uint32_t load(sketch *s, uint32_t local)
{
	return OP(s, LOAD, s->t_u32, PCTL_PLACE_LOCAL | local);
}

static void set(sketch *s, uint32_t local, uint32_t value)
{
	OP(s, STORE, 0, value, PCTL_PLACE_LOCAL | local);
}

static uint32_t less(sketch *s, uint32_t a, uint32_t b)
{
	return OP(s, LT, s->t_bool, a, b);
}

static void when(sketch *s, uint32_t condition)
{
	OP(s, IF, 0, condition);
}

/* for (i = 0; i < limit; i += 1) up to the body; close with loop_end */
static void loop_begin(sketch *s, uint32_t i, uint32_t limit)
{
	set(s, i, k_u32(s, 0));
	OP0(s, LOOP, 0);
	OP(s, LOOP_TEST, 0, less(s, load(s, i), limit));
}

static void loop_end(sketch *s, uint32_t i, uint32_t step)
{
	OP0(s, CONTINUING, 0);
	set(s, i, OP(s, ADD, s->t_u32, load(s, i), k_u32(s, step)));
	OP0(s, END_LOOP, 0);
}

/* Nested loops, continue and break in both, a switch in the middle whose break leaves only the
 * switch. */
static uint32_t want_torture(const uint32_t *in, uint32_t at)
{
	const uint32_t x = in[at];
	uint32_t sum = 0;

	for (uint32_t i = 0; i < (x & 15); i++) {
		if ((x >> i & 3) == 1)
			continue;
		for (uint32_t j = 0; j < 7; j += 2) {
			if (j == (x & 7))
				continue;
			switch ((i + j) & 7) {
			case 1:
			case 6:
				sum += 100;
				break;
			case 3:
				if (x & 64)
					break;
				sum ^= 0x1234;
				break;
			case 4:
				continue;
			default:
				sum = sum * 3 + i;
			}
			if (sum > 1000000)
				break;
			sum += j;
		}
		if (sum & 0x800)
			break;
		sum += 7;
	}
	return sum;
}

static void test_opencl__torture(void **state)
{
	uint32_t x, sum, i, j, t;
	sketch s;
	vars v;

	begin(&s, &v, 32);
	sketch_main(&s);
	sum = pctl_build_local(s.b, "sum", s.t_u32);
	i = pctl_build_local(s.b, "i", s.t_u32);
	j = pctl_build_local(s.b, "j", s.t_u32);
	v.at = global_x(&s);
	x = OP(&s, LOAD, s.t_u32, v.in, v.at);
	loop_begin(&s, i, OP(&s, AND, s.t_u32, x, k_u32(&s, 15)));
	t = OP(&s, AND, s.t_u32, OP(&s, SHR, s.t_u32, x, load(&s, i)), k_u32(&s, 3));
	when(&s, OP(&s, EQ, s.t_bool, t, k_u32(&s, 1)));
	OP0(&s, CONTINUE, 0);
	OP0(&s, END_IF, 0);
	loop_begin(&s, j, k_u32(&s, 7));
	when(&s, OP(&s, EQ, s.t_bool, load(&s, j), OP(&s, AND, s.t_u32, x, k_u32(&s, 7))));
	OP0(&s, CONTINUE, 0);
	OP0(&s, END_IF, 0);
	t = OP(&s, AND, s.t_u32, OP(&s, ADD, s.t_u32, load(&s, i), load(&s, j)), k_u32(&s, 7));
	OP(&s, SWITCH, 0, t);
	OP(&s, CASE, 0, 0, 1, 6);
	set(&s, sum, OP(&s, ADD, s.t_u32, load(&s, sum), k_u32(&s, 100)));
	OP(&s, CASE, 0, 0, 3);
	when(&s, OP(&s, NE, s.t_bool, OP(&s, AND, s.t_u32, x, k_u32(&s, 64)), k_u32(&s, 0)));
	OP0(&s, BREAK, 0);
	OP0(&s, END_IF, 0);
	set(&s, sum, OP(&s, XOR, s.t_u32, load(&s, sum), k_u32(&s, 0x1234)));
	OP(&s, CASE, 0, 0, 4);
	OP0(&s, CONTINUE, 0);
	OP(&s, CASE, 0, 1);
	set(&s, sum,
	    OP(&s, ADD, s.t_u32, OP(&s, MUL, s.t_u32, load(&s, sum), k_u32(&s, 3)), load(&s, i)));
	OP0(&s, END_SWITCH, 0);
	when(&s, less(&s, k_u32(&s, 1000000), load(&s, sum)));
	OP0(&s, BREAK, 0);
	OP0(&s, END_IF, 0);
	set(&s, sum, OP(&s, ADD, s.t_u32, load(&s, sum), load(&s, j)));
	loop_end(&s, j, 2);
	when(&s, OP(&s, NE, s.t_bool, OP(&s, AND, s.t_u32, load(&s, sum), k_u32(&s, 0x800)),
		    k_u32(&s, 0)));
	OP0(&s, BREAK, 0);
	OP0(&s, ELSE, 0);
	OP0(&s, BLOCK, 0);
	set(&s, sum, OP(&s, ADD, s.t_u32, load(&s, sum), k_u32(&s, 7)));
	OP0(&s, END_BLOCK, 0);
	OP0(&s, END_IF, 0);
	loop_end(&s, i, 1);
	OP(&s, STORE, 0, load(&s, sum), v.out, v.at);
	run(*state, &s, N / 32, want_torture);
}

/* Functions: parameters of composite type, early returns from inside a loop, a call of a call,
 * private state. */
static uint32_t inner(uint32_t x, uint32_t limit)
{
	for (uint32_t i = 0; i < limit; i++)
		if (x >> i & 1)
			return i * 10;
	return x;
}

static uint32_t want_calls(const uint32_t *in, uint32_t at)
{
	return inner(in[at], 5) + inner(in[at] >> 2, 3) * 7 + 2;
}

static uint32_t define_inner(sketch *s)
{
	const uint32_t u2 = pctl_build_vector(s->b, PCTL_SCALAR_U32, 2);
	uint32_t i, x, bit;

	pctl_build_function_begin(s->b, "inner", &u2, 1, s->t_u32);
	i = pctl_build_local(s->b, "i", s->t_u32);
	x = OP(s, EXTRACT, s->t_u32, 0, 0);
	loop_begin(s, i, OP(s, EXTRACT, s->t_u32, 0, 1));
	bit = OP(s, AND, s->t_u32, OP(s, SHR, s->t_u32, x, load(s, i)), k_u32(s, 1));
	when(s, OP(s, CAST, s->t_bool, bit));
	OP(s, RETURN, 0, OP(s, MUL, s->t_u32, load(s, i), k_u32(s, 10)));
	OP0(s, END_IF, 0);
	loop_end(s, i, 1);
	OP(s, RETURN, 0, x);
	return pctl_build_function_end(s->b);
}

/* Calls `inner` and counts its own calls in a private variable. */
static uint32_t define_outer(sketch *s, uint32_t callee, uint32_t counter)
{
	const uint32_t u2 = pctl_build_vector(s->b, PCTL_SCALAR_U32, 2);
	const uint32_t params[2] = {s->t_u32, s->t_u32};
	uint32_t v;

	pctl_build_function_begin(s->b, "outer", params, 2, s->t_u32);
	v = OP(s, CALL, s->t_u32, callee, OP(s, COMPOSE, u2, 0, 1));
	OP(s, STORE, 0, OP(s, ADD, s->t_u32, OP(s, LOAD, s->t_u32, counter), k_u32(s, 1)), counter);
	OP(s, RETURN, 0, v);
	return pctl_build_function_end(s->b);
}

static void test_opencl__calls(void **state)
{
	uint32_t f, x, a, b, counter;
	sketch s;
	vars v;

	begin(&s, &v, 8);
	counter = sketch_var(&s, PCTL_SPACE_PRIVATE, s.t_u32);
	f = define_outer(&s, define_inner(&s), counter);
	sketch_main(&s);
	v.at = global_x(&s);
	x = OP(&s, LOAD, s.t_u32, v.in, v.at);
	a = OP(&s, CALL, s.t_u32, f, x, k_u32(&s, 5));
	b = OP(&s, CALL, s.t_u32, f, OP(&s, SHR, s.t_u32, x, k_u32(&s, 2)), k_u32(&s, 3));
	a = OP(&s, ADD, s.t_u32, a, OP(&s, MUL, s.t_u32, b, k_u32(&s, 7)));
	OP(&s, STORE, 0, OP(&s, ADD, s.t_u32, a, OP(&s, LOAD, s.t_u32, counter)), v.out, v.at);
	run(*state, &s, N / 8, want_calls);
}

/* A tree sum in workgroup memory with a barrier in a loop, then the total read uniformly by all. */
static uint32_t want_sum(const uint32_t *in, uint32_t at)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < 32; i++)
		sum += in[at / 32 * 32 + i];
	return sum + at % 32;
}

static void test_opencl__barriers(void **state)
{
	uint32_t w, lane, i, half, sum;
	sketch s;
	vars v;

	begin(&s, &v, 32);
	w = sketch_var(&s, PCTL_SPACE_WORKGROUP, pctl_build_array(s.b, s.t_u32, 32, 0));
	sketch_main(&s);
	i = pctl_build_local(s.b, "i", s.t_u32);
	v.at = global_x(&s);
	lane = OP(&s, BUILTIN, s.t_u32, PCTL_BUILTIN_LOCAL_INDEX);
	OP(&s, STORE, 0, OP(&s, LOAD, s.t_u32, v.in, v.at), w, lane);
	OP(&s, BARRIER, 0, PCTL_BARRIER_WORKGROUP);
	loop_begin(&s, i, k_u32(&s, 5));
	half = OP(&s, SHR, s.t_u32, k_u32(&s, 16), load(&s, i));
	when(&s, less(&s, lane, half));
	sum = OP(&s, LOAD, s.t_u32, w, OP(&s, ADD, s.t_u32, lane, half));
	OP(&s, STORE, 0, OP(&s, ADD, s.t_u32, sum, OP(&s, LOAD, s.t_u32, w, lane)), w, lane);
	OP0(&s, END_IF, 0);
	OP(&s, BARRIER, 0, PCTL_BARRIER_WORKGROUP | PCTL_BARRIER_STORAGE);
	loop_end(&s, i, 1);
	sum = OP(&s, LOAD_UNIFORM, s.t_u32, w, k_u32(&s, 0));
	OP(&s, STORE, 0, OP(&s, ADD, s.t_u32, sum, lane), v.out, v.at);
	run(*state, &s, N / 32, want_sum);
}

/* Vectors of bool through every road: compare, logic, select, components in memory, extraction, all
 * and any. */
static uint32_t want_bools(const uint32_t *in, uint32_t at)
{
	const uint32_t x = in[at], lane[3] = {x, x >> 3, x >> 7};
	uint32_t m[3], out = 0, all = 1, any = 0;

	for (uint32_t i = 0; i < 3; i++) {
		m[i] = (lane[i] & 7) < 4;
		all &= m[i];
		any |= m[i];
	}
	for (uint32_t i = 0; i < 3; i++)
		out = out * 2 + !m[i];
	m[x % 3] = x & 1;
	for (uint32_t i = 0; i < 3; i++)
		out = out * 2 + m[i];
	return out << 4 | all << 1 | any << 2 | m[(x >> 1) % 3];
}

static void test_opencl__bools(void **state)
{
	uint32_t u3, b3, x, m, local, t[3], out, k1, which;
	sketch s;
	vars v;

	begin(&s, &v, 16);
	u3 = pctl_build_vector(s.b, PCTL_SCALAR_U32, 3);
	b3 = pctl_build_vector(s.b, PCTL_SCALAR_BOOL, 3);
	sketch_main(&s);
	local = pctl_build_local(s.b, "m", b3);
	v.at = global_x(&s);
	x = OP(&s, LOAD, s.t_u32, v.in, v.at);
	k1 = k_u32(&s, 1);
	m = OP(&s, COMPOSE, u3, x, OP(&s, SHR, s.t_u32, x, k_u32(&s, 3)),
	       OP(&s, SHR, s.t_u32, x, k_u32(&s, 7)));
	m = OP(&s, LT, b3, OP(&s, AND, u3, m, OP(&s, SPLAT, u3, k_u32(&s, 7))),
	       OP(&s, SPLAT, u3, k_u32(&s, 4)));
	out = k_u32(&s, 0);
	t[0] = OP(&s, SELECT, u3, m, OP0(&s, ZERO, u3), OP(&s, SPLAT, u3, k1));
	for (uint32_t i = 0; i < 3; i++)
		out = OP(&s, ADD, s.t_u32, OP(&s, SHL, s.t_u32, out, k1),
			 OP(&s, EXTRACT, s.t_u32, t[0], i));
	OP(&s, STORE, 0, m, PCTL_PLACE_LOCAL | local);
	t[1] = OP(&s, CAST, s.t_bool, OP(&s, AND, s.t_u32, x, k1));
	OP(&s, STORE, 0, t[1], PCTL_PLACE_LOCAL | local, OP(&s, MOD, s.t_u32, x, k_u32(&s, 3)));
	t[2] = OP(&s, NOT, b3, OP(&s, NOT, b3, OP(&s, LOAD, b3, PCTL_PLACE_LOCAL | local)));
	for (uint32_t i = 0; i < 3; i++) {
		const uint32_t bit = OP(&s, CAST, s.t_u32, OP(&s, EXTRACT, s.t_bool, t[2], i));

		out = OP(&s, ADD, s.t_u32, OP(&s, SHL, s.t_u32, out, k1), bit);
	}
	which = OP(&s, MOD, s.t_u32, OP(&s, SHR, s.t_u32, x, k1), k_u32(&s, 3));
	out = OP(&s, SHL, s.t_u32, out, k_u32(&s, 4));
	t[0] = OP(&s, CAST, s.t_u32, OP(&s, ALL, s.t_bool, m));
	out = OP(&s, OR, s.t_u32, out, OP(&s, SHL, s.t_u32, t[0], k1));
	t[0] = OP(&s, CAST, s.t_u32, OP(&s, ANY, s.t_bool, m));
	out = OP(&s, OR, s.t_u32, out, OP(&s, SHL, s.t_u32, t[0], k_u32(&s, 2)));
	t[0] = OP(&s, CAST, s.t_u32, OP(&s, EXTRACT_DYN, s.t_bool, t[2], which));
	OP(&s, STORE, 0, OP(&s, OR, s.t_u32, out, t[0]), v.out, v.at);
	run(*state, &s, N / 16, want_bools);
}

/* Composites and conversions: matrices, shuffles, inserts, dots, casts and bit casts of 64-bit
 * values. */
static uint32_t want_data(const uint32_t *in, uint32_t at)
{
	const uint32_t x = in[at],
		       a[6] = {x, x + 1, x * 3, x ^ 5, x >> 1, 7}; /* 3 columns of 2 rows */
	const int8_t *bytes = (const int8_t *)&x;
	const int64_t wide = (int64_t)(int32_t)x * -3;
	uint32_t mv[2], vm[3], out;

	for (uint32_t r = 0; r < 2; r++)
		mv[r] = a[r] * x + a[2 + r] * 2 + a[4 + r] * 3;
	for (uint32_t c = 0; c < 3; c++)
		vm[c] = a[c * 2] * x + a[c * 2 + 1] * 9;
	out = mv[0] + mv[1] * 5 + vm[0] + vm[1] * 7 + vm[2] * 11;
	/* transpose(m) * m is symmetric 3x3; take its corner [0][2] and [2][1] */
	out += (a[0] * a[4] + a[1] * a[5]) * 13 + (a[4] * a[2] + a[5] * a[3]) * 17;
	for (uint32_t i = 0; i < 4; i++)
		out += (uint32_t)(bytes[i] * bytes[3 - i]);
	out += (uint32_t)wide ^ (uint32_t)((uint64_t)wide >> 32);
	return out + ((x >> 16) | x << 16);
}

static uint32_t data_wide(sketch *s, uint32_t x)
{
	const uint32_t u2 = pctl_build_vector(s->b, PCTL_SCALAR_U32, 2);
	uint32_t w = OP(s, CAST, s->t_i64, OP(s, BITCAST, s->t_i32, x));

	w = OP(s, MUL, s->t_i64, w, pctl_build_const(s->b, s->t_i64, (uint64_t)-3));
	w = OP(s, BITCAST, u2, w);
	return OP(s, XOR, s->t_u32, OP(s, EXTRACT, s->t_u32, w, 0), OP(s, EXTRACT, s->t_u32, w, 1));
}

static uint32_t scaled(sketch *s, uint32_t sum, uint32_t value, uint32_t part, uint32_t factor)
{
	const uint32_t p = OP(s, EXTRACT, s->t_u32, value, part);

	return OP(s, ADD, s->t_u32, sum, OP(s, MUL, s->t_u32, p, k_u32(s, factor)));
}

static void test_opencl__data(void **state)
{
	uint32_t u2, u3, m32, m23, m33, x, m, t, out, c[3], swapped;
	sketch s;
	vars v;

	begin(&s, &v, 1);
	u2 = pctl_build_vector(s.b, PCTL_SCALAR_U32, 2);
	u3 = pctl_build_vector(s.b, PCTL_SCALAR_U32, 3);
	m32 = pctl_build_matrix(s.b, PCTL_SCALAR_U32, 3, 2);
	m23 = pctl_build_matrix(s.b, PCTL_SCALAR_U32, 2, 3);
	m33 = pctl_build_matrix(s.b, PCTL_SCALAR_U32, 3, 3);
	sketch_main(&s);
	v.at = global_x(&s);
	x = OP(&s, LOAD, s.t_u32, v.in, v.at);
	c[0] = OP(&s, COMPOSE, u2, x, OP(&s, ADD, s.t_u32, x, k_u32(&s, 1)));
	c[1] = OP(&s, COMPOSE, u2, OP(&s, MUL, s.t_u32, x, k_u32(&s, 3)), k_u32(&s, 0));
	c[1] = OP(&s, INSERT, u2, c[1], OP(&s, XOR, s.t_u32, x, k_u32(&s, 5)), 1);
	c[2] = OP(&s, COMPOSE, u2, OP(&s, SHR, s.t_u32, x, k_u32(&s, 1)), k_u32(&s, 7));
	m = OP(&s, COMPOSE, m32, c[0], c[2], c[2]);
	m = OP(&s, INSERT, m32, m, c[1], 1);
	t = OP(&s, MATMUL, u2, m, OP(&s, COMPOSE, u3, x, k_u32(&s, 2), k_u32(&s, 3)));
	out = scaled(&s, scaled(&s, k_u32(&s, 0), t, 0, 1), t, 1, 5);
	t = OP(&s, MATMUL, u3, OP(&s, COMPOSE, u2, x, k_u32(&s, 9)), m);
	out = scaled(&s, scaled(&s, scaled(&s, out, t, 0, 1), t, 1, 7), t, 2, 11);
	t = OP(&s, MATMUL, m33, OP(&s, TRANSPOSE, m23, m), m);
	out = scaled(&s, out, OP(&s, EXTRACT, u3, t, 2), 0, 13);
	out = scaled(&s, out, OP(&s, EXTRACT, u3, t, 1), 2, 17);
	swapped = OP(&s, SHL, s.t_u32, OP(&s, AND, s.t_u32, x, k_u32(&s, 0xff)), k_u32(&s, 24));
	for (uint32_t i = 1; i < 4; i++) {
		const uint32_t byte =
			OP(&s, EXTRACT_BITS, s.t_u32, x, k_u32(&s, i * 8), k_u32(&s, 8));

		swapped = OP(&s, INSERT_BITS, s.t_u32, swapped, byte, k_u32(&s, 24 - i * 8),
			     k_u32(&s, 8));
	}
	out = OP(&s, ADD, s.t_u32, out,
		 OP(&s, BITCAST, s.t_u32, OP(&s, DOT4_I8, s.t_i32, x, swapped)));
	out = OP(&s, ADD, s.t_u32, out, data_wide(&s, x));
	t = OP(&s, COMPOSE, u2, OP(&s, SHR, s.t_u32, x, k_u32(&s, 16)),
	       OP(&s, SHL, s.t_u32, x, k_u32(&s, 16)));
	t = OP(&s, SHUFFLE, u3, t, 1, 0, 1);
	t = OP(&s, DOT, s.t_u32, t, OP(&s, COMPOSE, u3, k_u32(&s, 1), k_u32(&s, 1), k_u32(&s, 0)));
	OP(&s, STORE, 0, OP(&s, ADD, s.t_u32, out, t), v.out, v.at);
	run(*state, &s, N, want_data);
}

/* 64-bit values made by extension and compared at once, and vectors of them chosen by lanes:
 * rusticl got both wrong. */
static uint32_t want_extension(const uint32_t *in, uint32_t at)
{
	const int64_t x = (int64_t)(int32_t)(in[at] * 0x9e3779b9u);
	const uint32_t swap = x < 5 ? 10 : 20;

	return (uint32_t)((x < 5) + (x <= -1) * 2 + (x > 0) * 4 + (x < -100000) * 8) + swap * 16 +
	       (x == (int64_t)in[at] ? 30u : 40u) * 512;
}

static void test_opencl__extension(void **state)
{
	uint32_t x, w, out, l2, i2, pair, m, t;
	sketch s;
	vars v;

	begin(&s, &v, 32);
	l2 = pctl_build_vector(s.b, PCTL_SCALAR_I64, 2);
	i2 = pctl_build_vector(s.b, PCTL_SCALAR_I32, 2);
	sketch_main(&s);
	v.at = global_x(&s);
	x = OP(&s, LOAD, s.t_u32, v.in, v.at);
	t = OP(&s, BITCAST, s.t_i32, OP(&s, MUL, s.t_u32, x, k_u32(&s, 0x9e3779b9u)));
	w = OP(&s, CAST, s.t_i64, t);
	out = OP(&s, CAST, s.t_u32, OP(&s, LT, s.t_bool, w, pctl_build_const(s.b, s.t_i64, 5)));
	m = OP(&s, CAST, s.t_u32,
	       OP(&s, LE, s.t_bool, w, pctl_build_const(s.b, s.t_i64, (uint64_t)-1)));
	out = OP(&s, ADD, s.t_u32, out, OP(&s, MUL, s.t_u32, m, k_u32(&s, 2)));
	m = OP(&s, CAST, s.t_u32, OP(&s, GT, s.t_bool, w, pctl_build_const(s.b, s.t_i64, 0)));
	out = OP(&s, ADD, s.t_u32, out, OP(&s, MUL, s.t_u32, m, k_u32(&s, 4)));
	m = OP(&s, CAST, s.t_u32,
	       OP(&s, LT, s.t_bool, w, pctl_build_const(s.b, s.t_i64, (uint64_t)-100000)));
	out = OP(&s, ADD, s.t_u32, out, OP(&s, MUL, s.t_u32, m, k_u32(&s, 8)));
	pair = OP(&s, CAST, l2, OP(&s, COMPOSE, i2, t, t));
	m = OP(&s, LT, pctl_build_vector(s.b, PCTL_SCALAR_BOOL, 2), pair,
	       OP(&s, SPLAT, l2, pctl_build_const(s.b, s.t_i64, 5)));
	m = OP(&s, SELECT, l2, m, OP(&s, SPLAT, l2, pctl_build_const(s.b, s.t_i64, 10)),
	       OP(&s, SPLAT, l2, pctl_build_const(s.b, s.t_i64, 20)));
	m = OP(&s, CAST, s.t_u32, OP(&s, EXTRACT, s.t_i64, m, 1));
	out = OP(&s, ADD, s.t_u32, out, OP(&s, MUL, s.t_u32, m, k_u32(&s, 16)));
	m = OP(&s, EQ, s.t_bool, w, OP(&s, CAST, s.t_i64, x));
	m = OP(&s, SELECT, s.t_u32, m, k_u32(&s, 30), k_u32(&s, 40));
	out = OP(&s, ADD, s.t_u32, out, OP(&s, MUL, s.t_u32, m, k_u32(&s, 512)));
	OP(&s, STORE, 0, out, v.out, v.at);
	run(*state, &s, N / 32, want_extension);
}

/* Three-dimensional ids of an uneven workgroup: every builtin by its definition. */
static void test_opencl__builtins(void **state)
{
	enum { X = 3, Y = 2, Z = 4, GX = 2, GY = 3, GZ = 2, TOTAL = X * Y * Z * GX * GY * GZ };
	const uint32_t groups[3] = {GX, GY, GZ},
		       ids[4] = {PCTL_BUILTIN_GLOBAL_ID, PCTL_BUILTIN_LOCAL_ID,
				 PCTL_BUILTIN_WORKGROUP_ID, PCTL_BUILTIN_NUM_WORKGROUPS};
	uint32_t out[TOTAL * 13] = {0}, b, at, p[3], n_at = 0;
	rig *r = *state;
	pctl_buffer *buffer;
	pctl_binding binding;
	pctl_completion done;
	pctl_kernel *k;
	pctl_list *l;
	uint8_t *wire;
	uint64_t n;
	sketch s;

	sketch_begin(&s, X);
	s.local_size[1] = Y;
	s.local_size[2] = Z;
	b = sketch_storage(&s, 0, pctl_build_array(s.b, s.t_u32, 0, 0), RW);
	sketch_main(&s);
	at = OP(&s, BUILTIN, s.t_uvec3, PCTL_BUILTIN_GLOBAL_ID);
	for (uint32_t i = 0; i < 3; i++)
		p[i] = OP(&s, EXTRACT, s.t_u32, at, i);
	at = OP(&s, ADD, s.t_u32, OP(&s, MUL, s.t_u32, p[2], k_u32(&s, Y * GY)), p[1]);
	at = OP(&s, ADD, s.t_u32, OP(&s, MUL, s.t_u32, at, k_u32(&s, X * GX)), p[0]);
	at = OP(&s, MUL, s.t_u32, at, k_u32(&s, 13));
	for (uint32_t w = 0; w < 4; w++) {
		const uint32_t id = OP(&s, BUILTIN, s.t_uvec3, ids[w]);

		for (uint32_t i = 0; i < 3; i++)
			OP(&s, STORE, 0, OP(&s, EXTRACT, s.t_u32, id, i), b,
			   OP(&s, ADD, s.t_u32, at, k_u32(&s, n_at++)));
	}
	OP(&s, STORE, 0, OP(&s, BUILTIN, s.t_u32, PCTL_BUILTIN_LOCAL_INDEX), b,
	   OP(&s, ADD, s.t_u32, at, k_u32(&s, 12)));
	wire = sketch_end(&s, &n);
	k = rig_build(r, wire, n, 0);
	assert_int_equal(r->api->buffer_create(r->dev, &r->call, sizeof(out),
					       PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER, &buffer),
			 PCTL_OK);
	binding = (pctl_binding){0, 0, buffer, 0, sizeof(out)};
	assert_int_equal(r->api->list_begin(r->dev, &r->call, &l), PCTL_OK);
	assert_int_equal(r->api->list_dispatch(l, &r->call, k, &binding, 1, groups), PCTL_OK);
	assert_int_equal(r->api->list_end(l, &r->call), PCTL_OK);
	rig_submit(r, l, 1, &done);
	assert_int_equal(r->api->buffer_read(r->dev, &r->call, buffer, 0, out, sizeof(out)),
			 PCTL_OK);
	for (uint32_t i = 0; i < TOTAL; i++) {
		const uint32_t g[3] = {i % (X * GX), i / (X * GX) % (Y * GY),
				       i / (X * GX) / (Y * GY)};
		const uint32_t size[3] = {X, Y, Z}, *o = out + i * 13;

		for (uint32_t d = 0; d < 3; d++) {
			assert_int_equal(o[d], g[d]);
			assert_int_equal(o[3 + d], g[d] % size[d]);
			assert_int_equal(o[6 + d], g[d] / size[d]);
			assert_int_equal(o[9 + d], groups[d]);
		}
		assert_int_equal(o[12], g[0] % X + g[1] % Y * X + g[2] % Z * X * Y);
	}
	r->api->list_destroy(r->dev, l);
	r->api->buffer_destroy(r->dev, buffer);
	r->api->kernel_destroy(r->dev, k);
	free(wire);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opencl__torture),	  cmocka_unit_test(test_opencl__calls),
		cmocka_unit_test(test_opencl__barriers),  cmocka_unit_test(test_opencl__bools),
		cmocka_unit_test(test_opencl__data),	  cmocka_unit_test(test_opencl__builtins),
		cmocka_unit_test(test_opencl__extension),
	};

	return cmocka_run_group_tests(tests, sketch_setup, sketch_teardown) != 0;
}
