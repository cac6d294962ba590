/* Control flow, functions and composite values through the plugin, against the same computation in
 * C. */
#include "main.h"
#include "devices.h"

#include <stdlib.h>

#define N 256u

/* A program over one u32 a lane: out[i] = body(in[i]). */
typedef struct lane {
	pctl_builder *b;
	uint32_t u32, i32, boolean;
	uint32_t v_in, v_out;
	uint32_t i, x; /* global index, in[i] */
} lane;

static lane lane_begin(void)
{
	lane l = {.b = rig_builder()};
	uint32_t list;

	l.u32 = pctl_build_scalar(l.b, PCTL_SCALAR_U32);
	l.i32 = pctl_build_scalar(l.b, PCTL_SCALAR_I32);
	l.boolean = pctl_build_scalar(l.b, PCTL_SCALAR_BOOL);
	list = pctl_build_array(l.b, l.u32, 0, 0);
	l.v_in = rig_storage(l.b, 0, list, 0);
	l.v_out = rig_storage(l.b, 1, list, 1);
	return l;
}

static void lane_main(lane *l)
{
	pctl_build_function_begin(l->b, "main", NULL, 0, 0);
	l->i = rig_global_x(l->b);
	l->x = rig_inst(l->b, PCTL_OP_LOAD, l->u32, 2, l->v_in, l->i);
}

/* Store `value`, run on the rig, compare with `want` lane by lane. */
static void lane_check(rig *r, lane *l, uint32_t value, uint32_t (*want)(uint32_t i, uint32_t x),
		       const char *what)
{
	static uint32_t in[N], out[N];
	rig_bytes bytes[2] = {{in, sizeof(in), 0}, {out, sizeof(out), 0}};
	rig_program p;
	uint32_t i;

	rig_inst(l->b, PCTL_OP_STORE, 0, 3, value, l->v_out, l->i);
	rig_entry(l->b, 32, 1, 1);
	p = rig_finish(l->b);
	for (i = 0; i < N; i++)
		in[i] = (uint32_t)rig_value(3, i, 32);
	memset(out, 0xee, sizeof(out));
	rig_run(r, p.wire, p.n, 0, bytes, 2, N / 32, 1, 1);
	for (i = 0; i < N; i++)
		if (out[i] != want(i, in[i]))
			fail_msg("%s on %s: lane %u, %08x gave %08x, not %08x", what, r->info.name,
				 i, in[i], out[i], want(i, in[i]));
	free(p.wire);
}

static uint32_t op2(lane *l, uint16_t op, uint32_t a, uint32_t b)
{
	return pctl_build_op(l->b, op, op >= PCTL_OP_EQ && op <= PCTL_OP_GE ? l->boolean : l->u32,
			     a, b);
}

static uint32_t k(lane *l, uint32_t value)
{
	return rig_u32(l->b, value);
}

/* ---- loops ---- */

static uint32_t want_loops(uint32_t i, uint32_t x)
{
	uint32_t n = x % 13, s = 0, a, c;

	for (a = 0; a < n; a++) {
		if (a == 3)
			continue;
		for (c = 0; c < 5; c++) {
			if (c > a)
				break;
			switch (c) {
			case 1:
				s += 100;
				break;
			case 2:
			case 4:
				if (a == 6)
					continue;
				s ^= i;
				break;
			default:
				s += a * c;
				if (s > 5000)
					return s;
				break;
			}
			s += 1;
		}
		if (a == 9)
			break;
	}
	return s + 7;
}

/* want_loops as a function of the program, called twice so that its locals start anew. */
static uint32_t loops_function(lane *l)
{
	pctl_builder *b = l->b;
	const uint32_t i = 0, x = 1;
	uint32_t s, a, c, n, v, va, vc;

	pctl_build_function_begin(b, "f", (const uint32_t[]){l->u32, l->u32}, 2, l->u32);
	s = PCTL_PLACE_LOCAL | pctl_build_local(b, "s", l->u32);
	a = PCTL_PLACE_LOCAL | pctl_build_local(b, "a", l->u32);
	c = PCTL_PLACE_LOCAL | pctl_build_local(b, "c", l->u32);
	n = op2(l, PCTL_OP_MOD, x, k(l, 13));
	rig_inst(b, PCTL_OP_LOOP, 0, 0);
	v = rig_inst(b, PCTL_OP_LOAD, l->u32, 1, a);
	rig_inst(b, PCTL_OP_LOOP_TEST, 0, 1, op2(l, PCTL_OP_LT, v, n));
	va = rig_inst(b, PCTL_OP_LOAD, l->u32, 1, a);
	rig_inst(b, PCTL_OP_IF, 0, 1, op2(l, PCTL_OP_EQ, va, k(l, 3)));
	rig_inst(b, PCTL_OP_CONTINUE, 0, 0);
	rig_inst(b, PCTL_OP_END_IF, 0, 0);
	rig_inst(b, PCTL_OP_STORE, 0, 2, k(l, 0), c);
	rig_inst(b, PCTL_OP_LOOP, 0, 0);
	v = rig_inst(b, PCTL_OP_LOAD, l->u32, 1, c);
	rig_inst(b, PCTL_OP_LOOP_TEST, 0, 1, op2(l, PCTL_OP_LT, v, k(l, 5)));
	vc = rig_inst(b, PCTL_OP_LOAD, l->u32, 1, c);
	rig_inst(b, PCTL_OP_IF, 0, 1, op2(l, PCTL_OP_GT, vc, va));
	rig_inst(b, PCTL_OP_BREAK, 0, 0);
	rig_inst(b, PCTL_OP_END_IF, 0, 0);
	rig_inst(b, PCTL_OP_SWITCH, 0, 1, vc);
	rig_inst(b, PCTL_OP_CASE, 0, 2, 0, 1);
	v = rig_inst(b, PCTL_OP_LOAD, l->u32, 1, s);
	rig_inst(b, PCTL_OP_STORE, 0, 2, op2(l, PCTL_OP_ADD, v, k(l, 100)), s);
	rig_inst(b, PCTL_OP_CASE, 0, 3, 0, 2, 4);
	rig_inst(b, PCTL_OP_IF, 0, 1, op2(l, PCTL_OP_EQ, va, k(l, 6)));
	rig_inst(b, PCTL_OP_CONTINUE, 0, 0);
	rig_inst(b, PCTL_OP_END_IF, 0, 0);
	v = rig_inst(b, PCTL_OP_LOAD, l->u32, 1, s);
	rig_inst(b, PCTL_OP_STORE, 0, 2, op2(l, PCTL_OP_XOR, v, i), s);
	rig_inst(b, PCTL_OP_BREAK, 0, 0);
	rig_inst(b, PCTL_OP_CASE, 0, 1, 1);
	v = rig_inst(b, PCTL_OP_LOAD, l->u32, 1, s);
	v = op2(l, PCTL_OP_ADD, v, op2(l, PCTL_OP_MUL, va, vc));
	rig_inst(b, PCTL_OP_STORE, 0, 2, v, s);
	rig_inst(b, PCTL_OP_IF, 0, 1, op2(l, PCTL_OP_GT, v, k(l, 5000)));
	rig_inst(b, PCTL_OP_RETURN, 0, 1, v);
	rig_inst(b, PCTL_OP_END_IF, 0, 0);
	rig_inst(b, PCTL_OP_END_SWITCH, 0, 0);
	v = rig_inst(b, PCTL_OP_LOAD, l->u32, 1, s);
	rig_inst(b, PCTL_OP_STORE, 0, 2, op2(l, PCTL_OP_ADD, v, k(l, 1)), s);
	rig_inst(b, PCTL_OP_CONTINUING, 0, 0);
	v = rig_inst(b, PCTL_OP_LOAD, l->u32, 1, c);
	rig_inst(b, PCTL_OP_STORE, 0, 2, op2(l, PCTL_OP_ADD, v, k(l, 1)), c);
	rig_inst(b, PCTL_OP_END_LOOP, 0, 0);
	rig_inst(b, PCTL_OP_IF, 0, 1, op2(l, PCTL_OP_EQ, va, k(l, 9)));
	rig_inst(b, PCTL_OP_BREAK, 0, 0);
	rig_inst(b, PCTL_OP_END_IF, 0, 0);
	rig_inst(b, PCTL_OP_CONTINUING, 0, 0);
	v = rig_inst(b, PCTL_OP_LOAD, l->u32, 1, a);
	rig_inst(b, PCTL_OP_STORE, 0, 2, op2(l, PCTL_OP_ADD, v, k(l, 1)), a);
	rig_inst(b, PCTL_OP_END_LOOP, 0, 0);
	v = rig_inst(b, PCTL_OP_LOAD, l->u32, 1, s);
	rig_inst(b, PCTL_OP_RETURN, 0, 1, op2(l, PCTL_OP_ADD, v, k(l, 7)));
	return pctl_build_function_end(b);
}

static uint32_t want_loops_twice(uint32_t i, uint32_t x)
{
	return want_loops(i, x) + 3 * want_loops(x, i);
}

static void loops(rig *r)
{
	lane l = lane_begin();
	const uint32_t f = loops_function(&l);
	uint32_t a, c;

	lane_main(&l);
	a = rig_inst(l.b, PCTL_OP_CALL, l.u32, 3, f, l.i, l.x);
	c = rig_inst(l.b, PCTL_OP_CALL, l.u32, 3, f, l.x, l.i);
	lane_check(r, &l, op2(&l, PCTL_OP_ADD, a, op2(&l, PCTL_OP_MUL, c, k(&l, 3))),
		   want_loops_twice, "loops");
}

/* A switch on i32 with negative literals and the default first; both arms of an if that leave. */
static uint32_t want_switch(uint32_t i, uint32_t x)
{
	(void)i;
	switch ((int32_t)x) {
	default:
		return (x & 1) ? 11 : 22;
	case -1:
	case INT32_MIN:
		return 33;
	case 7:
		return x + 40;
	}
}

static void switches(rig *r)
{
	lane l = lane_begin();
	pctl_builder *b = l.b;
	uint32_t f, odd;

	pctl_build_function_begin(b, "f", (const uint32_t[]){l.u32}, 1, l.u32);
	rig_inst(b, PCTL_OP_SWITCH, 0, 1, rig_inst(b, PCTL_OP_BITCAST, l.i32, 1, 0));
	rig_inst(b, PCTL_OP_CASE, 0, 1, 1);
	odd = op2(&l, PCTL_OP_NE, op2(&l, PCTL_OP_AND, 0, k(&l, 1)), k(&l, 0));
	rig_inst(b, PCTL_OP_IF, 0, 1, odd);
	rig_inst(b, PCTL_OP_RETURN, 0, 1, k(&l, 11));
	rig_inst(b, PCTL_OP_ELSE, 0, 0);
	rig_inst(b, PCTL_OP_BLOCK, 0, 0);
	rig_inst(b, PCTL_OP_RETURN, 0, 1, k(&l, 22));
	rig_inst(b, PCTL_OP_END_BLOCK, 0, 0);
	rig_inst(b, PCTL_OP_END_IF, 0, 0);
	rig_inst(b, PCTL_OP_CASE, 0, 3, 0, 0xffffffff, 0x80000000);
	rig_inst(b, PCTL_OP_RETURN, 0, 1, k(&l, 33));
	rig_inst(b, PCTL_OP_CASE, 0, 2, 0, 7);
	rig_inst(b, PCTL_OP_RETURN, 0, 1, op2(&l, PCTL_OP_ADD, 0, k(&l, 40)));
	rig_inst(b, PCTL_OP_END_SWITCH, 0, 0);
	f = pctl_build_function_end(b);
	lane_main(&l);
	lane_check(r, &l, rig_inst(b, PCTL_OP_CALL, l.u32, 2, f, l.x), want_switch, "switch");
}

/* Checked stores inside the update of a loop put branches into its continue construct. */
static uint32_t want_update(uint32_t i, uint32_t x)
{
	uint32_t a[4] = {0}, n;

	(void)i;
	for (n = 0; n < 9; n++)
		if ((x + n) % 7 < 4)
			a[(x + n) % 7] += n + 1;
	return a[0] + a[1] * 100 + a[2] * 10000 + a[3] * 1000000;
}

static void update(rig *r)
{
	lane l = lane_begin();
	pctl_builder *b = l.b;
	const uint32_t list = pctl_build_array(b, l.u32, 4, 0);
	uint32_t a, n, at, v, j;

	lane_main(&l);
	a = PCTL_PLACE_LOCAL | pctl_build_local(b, "a", list);
	n = PCTL_PLACE_LOCAL | pctl_build_local(b, "n", l.u32);
	rig_inst(b, PCTL_OP_LOOP, 0, 0);
	v = rig_inst(b, PCTL_OP_LOAD, l.u32, 1, n);
	rig_inst(b, PCTL_OP_LOOP_TEST, 0, 1, op2(&l, PCTL_OP_LT, v, k(&l, 9)));
	rig_inst(b, PCTL_OP_CONTINUING, 0, 0);
	v = rig_inst(b, PCTL_OP_LOAD, l.u32, 1, n);
	at = op2(&l, PCTL_OP_MOD, op2(&l, PCTL_OP_ADD, l.x, v), k(&l, 7));
	v = op2(&l, PCTL_OP_ADD, v, k(&l, 1));
	rig_inst(b, PCTL_OP_STORE, 0, 2, v, n);
	v = op2(&l, PCTL_OP_ADD, v, rig_inst(b, PCTL_OP_LOAD, l.u32, 2, a, at));
	rig_inst(b, PCTL_OP_STORE, 0, 3, v, a, at);
	rig_inst(b, PCTL_OP_END_LOOP, 0, 0);
	at = k(&l, 0);
	for (j = 4; j-- > 0;) {
		v = rig_inst(b, PCTL_OP_LOAD, l.u32, 2, a, k(&l, j));
		at = op2(&l, PCTL_OP_ADD, op2(&l, PCTL_OP_MUL, at, k(&l, 100)), v);
	}
	lane_check(r, &l, at, want_update, "update");
}

/* ---- values ---- */

static uint32_t want_vectors(uint32_t i, uint32_t x)
{
	const uint32_t v[4] = {x, x * 3, i, x ^ i}, w[4] = {v[3], v[3], v[0], v[2]};
	uint32_t m, dot = 0;

	for (m = 0; m < 4; m++)
		dot += v[m] * w[m];
	dot ^= v[1] > w[1] ? v[1] : w[0];	/* scalar select of vectors */
	dot += (v[0] < w[0] ? v[0] : w[0]) * 5; /* select lane by lane */
	dot += (v[2] < w[2] ? v[2] : w[2]) * 9;
	dot += (v[0] == w[0] && v[1] == w[1] && v[2] == w[2] && v[3] == w[3]) ? 1000 : 0;
	dot += (v[0] == w[0] || v[1] == w[1] || v[2] == w[2] || v[3] == w[3]) ? 2000 : 0;
	return dot + x; /* insert */
}

static void vectors(rig *r)
{
	lane l = lane_begin();
	pctl_builder *b = l.b;
	const uint32_t vec4 = pctl_build_vector(b, PCTL_SCALAR_U32, 4);
	const uint32_t bvec4 = pctl_build_vector(b, PCTL_SCALAR_BOOL, 4);
	uint32_t v, w, s, t, eq, out;

	lane_main(&l);
	v = rig_inst(b, PCTL_OP_COMPOSE, vec4, 4, l.x, op2(&l, PCTL_OP_MUL, l.x, k(&l, 3)), l.i,
		     op2(&l, PCTL_OP_XOR, l.x, l.i));
	w = rig_inst(b, PCTL_OP_SHUFFLE, vec4, 5, v, 3, 3, 0, 2);
	out = rig_inst(b, PCTL_OP_DOT, l.u32, 2, v, w);
	s = rig_inst(b, PCTL_OP_EXTRACT, l.u32, 2, v, 1);
	t = rig_inst(b, PCTL_OP_EXTRACT, l.u32, 2, w, 1);
	s = rig_inst(b, PCTL_OP_SELECT, vec4, 3, op2(&l, PCTL_OP_GT, s, t),
		     rig_inst(b, PCTL_OP_SPLAT, vec4, 1, s), w);
	out = op2(&l, PCTL_OP_XOR, out, rig_inst(b, PCTL_OP_EXTRACT, l.u32, 2, s, 0));
	s = rig_inst(b, PCTL_OP_SELECT, vec4, 3, rig_inst(b, PCTL_OP_LT, bvec4, 2, v, w), v, w);
	t = op2(&l, PCTL_OP_MUL, rig_inst(b, PCTL_OP_EXTRACT, l.u32, 2, s, 0), k(&l, 5));
	out = op2(&l, PCTL_OP_ADD, out, t);
	t = op2(&l, PCTL_OP_MUL, rig_inst(b, PCTL_OP_EXTRACT, l.u32, 2, s, 2), k(&l, 9));
	out = op2(&l, PCTL_OP_ADD, out, t);
	eq = rig_inst(b, PCTL_OP_EQ, bvec4, 2, v, w);
	t = rig_inst(b, PCTL_OP_CAST, l.u32, 1, rig_inst(b, PCTL_OP_ALL, l.boolean, 1, eq));
	out = op2(&l, PCTL_OP_ADD, out, op2(&l, PCTL_OP_MUL, t, k(&l, 1000)));
	t = rig_inst(b, PCTL_OP_CAST, l.u32, 1, rig_inst(b, PCTL_OP_ANY, l.boolean, 1, eq));
	out = op2(&l, PCTL_OP_ADD, out, op2(&l, PCTL_OP_MUL, t, k(&l, 2000)));
	s = rig_inst(b, PCTL_OP_INSERT, vec4, 3, w, l.x, 1);
	lane_check(r, &l, op2(&l, PCTL_OP_ADD, out, rig_inst(b, PCTL_OP_EXTRACT, l.u32, 2, s, 1)),
		   want_vectors, "vectors");
}

/* m: 2 columns of 3 rows, n: 3 columns of 2 rows. */
static uint32_t want_matrices(uint32_t i, uint32_t x)
{
	uint32_t m[2][3], n[3][2], p[3][3], c, row, j, s = 0;

	for (c = 0; c < 2; c++)
		for (row = 0; row < 3; row++)
			m[c][row] = x * (c * 3 + row + 1) + i;
	for (c = 0; c < 3; c++)
		for (row = 0; row < 2; row++)
			n[c][row] = m[row][c]; /* transpose */
	for (c = 0; c < 3; c++)
		for (row = 0; row < 3; row++)
			for (j = 0, p[c][row] = 0; j < 2; j++)
				p[c][row] += m[j][row] * n[c][j];
	for (c = 0; c < 3; c++)
		for (row = 0; row < 3; row++)
			s = s * 31 + p[c][row];
	for (row = 0; row < 3; row++) /* m * vec2(x, i) */
		s = s * 31 + m[0][row] * x + m[1][row] * i;
	for (c = 0; c < 2; c++) /* vec3(i, x, 5) * m */
		s = s * 31 + i * m[c][0] + x * m[c][1] + 5 * m[c][2];
	return s;
}

static uint32_t mix(lane *l, uint32_t s, uint32_t value, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		s = op2(l, PCTL_OP_ADD, op2(l, PCTL_OP_MUL, s, k(l, 31)),
			rig_inst(l->b, PCTL_OP_EXTRACT, l->u32, 2, value, i));
	return s;
}

static void matrices(rig *r)
{
	lane l = lane_begin();
	pctl_builder *b = l.b;
	const uint32_t vec2 = pctl_build_vector(b, PCTL_SCALAR_U32, 2);
	const uint32_t vec3 = pctl_build_vector(b, PCTL_SCALAR_U32, 3);
	const uint32_t mat23 = pctl_build_matrix(b, PCTL_SCALAR_U32, 2, 3);
	const uint32_t mat32 = pctl_build_matrix(b, PCTL_SCALAR_U32, 3, 2);
	const uint32_t mat33 = pctl_build_matrix(b, PCTL_SCALAR_U32, 3, 3);
	uint32_t cols[2], parts[3], c, row, m, n, p, s;

	lane_main(&l);
	for (c = 0; c < 2; c++) {
		for (row = 0; row < 3; row++)
			parts[row] = op2(&l, PCTL_OP_ADD,
					 op2(&l, PCTL_OP_MUL, l.x, k(&l, c * 3 + row + 1)), l.i);
		cols[c] = rig_inst(b, PCTL_OP_COMPOSE, vec3, 3, parts[0], parts[1], parts[2]);
	}
	m = rig_inst(b, PCTL_OP_COMPOSE, mat23, 2, cols[0], cols[1]);
	n = rig_inst(b, PCTL_OP_TRANSPOSE, mat32, 1, m);
	p = rig_inst(b, PCTL_OP_MATMUL, mat33, 2, m, n);
	s = k(&l, 0);
	for (c = 0; c < 3; c++)
		s = mix(&l, s, rig_inst(b, PCTL_OP_EXTRACT, vec3, 2, p, c), 3);
	n = rig_inst(b, PCTL_OP_COMPOSE, vec2, 2, l.x, l.i);
	s = mix(&l, s, rig_inst(b, PCTL_OP_MATMUL, vec3, 2, m, n), 3);
	n = rig_inst(b, PCTL_OP_COMPOSE, vec3, 3, l.i, l.x, k(&l, 5));
	s = mix(&l, s, rig_inst(b, PCTL_OP_MATMUL, vec2, 2, n, m), 2);
	lane_check(r, &l, s, want_matrices, "matrices");
}

static uint32_t want_dot4(uint32_t i, uint32_t x)
{
	const uint32_t y = x * 0x9e3779b9u + i;
	uint32_t u = 0, n;
	int32_t s = 0;

	for (n = 0; n < 4; n++) {
		u += (x >> 8 * n & 255) * (y >> 8 * n & 255);
		s += (int32_t)(int8_t)(x >> 8 * n) * (int8_t)(y >> 8 * n);
	}
	return u * 3 + (uint32_t)s;
}

static void dot4(rig *r)
{
	lane l = lane_begin();
	uint32_t y, u, s;

	lane_main(&l);
	y = op2(&l, PCTL_OP_ADD, op2(&l, PCTL_OP_MUL, l.x, k(&l, 0x9e3779b9)), l.i);
	u = rig_inst(l.b, PCTL_OP_DOT4_U8, l.u32, 2, l.x, y);
	s = rig_inst(l.b, PCTL_OP_DOT4_I8, l.i32, 2, l.x, y);
	s = rig_inst(l.b, PCTL_OP_CAST, l.u32, 1, s);
	lane_check(r, &l, op2(&l, PCTL_OP_ADD, op2(&l, PCTL_OP_MUL, u, k(&l, 3)), s), want_dot4,
		   "dot4");
}

/* Whole structs and arrays by select, call, return and phi. */
static uint32_t want_whole(uint32_t i, uint32_t x)
{
	uint32_t a[3] = {x, i, x + i}, c[3] = {1, 2, 3}, *p = x > i ? a : c;

	return p[0] + 10 * p[1] + 100 * p[2] + (x > i ? 5000 : 0);
}

static void whole(rig *r)
{
	lane l = lane_begin();
	pctl_builder *b = l.b;
	const uint32_t list = pctl_build_array(b, l.u32, 3, 0);
	const pctl_member_spec spec[] = {{"flag", l.boolean, 0, 0, PCTL_OFFSET_AUTO},
					 {"list", list, 0, 0, PCTL_OFFSET_AUTO}};
	const uint32_t type = pctl_build_struct(b, spec, 2);
	uint32_t f, a, c, s, more, out;

	pctl_build_function_begin(b, "f", (const uint32_t[]){type, type, l.boolean}, 3, type);
	rig_inst(b, PCTL_OP_RETURN, 0, 1, rig_inst(b, PCTL_OP_SELECT, type, 3, 2, 0, 1));
	f = pctl_build_function_end(b);
	lane_main(&l);
	more = op2(&l, PCTL_OP_GT, l.x, l.i);
	a = rig_inst(b, PCTL_OP_COMPOSE, list, 3, l.x, l.i, op2(&l, PCTL_OP_ADD, l.x, l.i));
	a = rig_inst(b, PCTL_OP_COMPOSE, type, 2, more, a);
	c = rig_inst(b, PCTL_OP_COMPOSE, list, 3, k(&l, 1), k(&l, 2), k(&l, 3));
	c = rig_inst(b, PCTL_OP_INSERT, type, 3, rig_inst(b, PCTL_OP_ZERO, type, 0), c, 1);
	s = rig_inst(b, PCTL_OP_CALL, type, 4, f, a, c, more);
	a = rig_inst(b, PCTL_OP_EXTRACT, list, 2, s, 1);
	out = rig_inst(b, PCTL_OP_EXTRACT, l.u32, 2, a, 2);
	out = op2(&l, PCTL_OP_ADD, op2(&l, PCTL_OP_MUL, out, k(&l, 10)),
		  rig_inst(b, PCTL_OP_EXTRACT, l.u32, 2, a, 1));
	out = op2(&l, PCTL_OP_ADD, op2(&l, PCTL_OP_MUL, out, k(&l, 10)),
		  rig_inst(b, PCTL_OP_EXTRACT, l.u32, 2, a, 0));
	c = rig_inst(b, PCTL_OP_EXTRACT, l.boolean, 2, s, 0);
	c = op2(&l, PCTL_OP_MUL, rig_inst(b, PCTL_OP_CAST, l.u32, 1, c), k(&l, 5000));
	lane_check(r, &l, op2(&l, PCTL_OP_ADD, out, c), want_whole, "whole composites");
}

/* Casts and bitcasts through 64 bits. */
static uint32_t want_casts(uint32_t i, uint32_t x)
{
	const int64_t s = (int32_t)x;
	const uint64_t u = (uint64_t)x << 32 | i;
	uint32_t out = (uint32_t)(s >> 32) ^ (uint32_t)s;

	out = out * 31 + (uint32_t)((uint64_t)x >> 16 >> 16);
	out = out * 31 + (uint32_t)(u >> 32);
	out = out * 31 + (uint32_t)u;
	return out * 31 + (u != 0);
}

static void casts(rig *r)
{
	lane l;
	pctl_builder *b;
	uint32_t i64, u64, vec2, s, u, out, t;

	if (!(r->caps.caps & PCTL_CAP_I64))
		return;
	l = lane_begin();
	b = l.b;
	i64 = pctl_build_scalar(b, PCTL_SCALAR_I64);
	u64 = pctl_build_scalar(b, PCTL_SCALAR_U64);
	vec2 = pctl_build_vector(b, PCTL_SCALAR_U32, 2);
	lane_main(&l);
	s = rig_inst(b, PCTL_OP_CAST, i64, 1, rig_inst(b, PCTL_OP_BITCAST, l.i32, 1, l.x));
	t = rig_inst(b, PCTL_OP_SHR, i64, 2, s, k(&l, 32));
	out = op2(&l, PCTL_OP_XOR, rig_inst(b, PCTL_OP_CAST, l.u32, 1, t),
		  rig_inst(b, PCTL_OP_CAST, l.u32, 1, s));
	t = rig_inst(b, PCTL_OP_CAST, u64, 1, l.x);
	t = rig_inst(b, PCTL_OP_SHR, u64, 2, t, k(&l, 32));
	out = op2(&l, PCTL_OP_ADD, op2(&l, PCTL_OP_MUL, out, k(&l, 31)),
		  rig_inst(b, PCTL_OP_CAST, l.u32, 1, t));
	u = rig_inst(b, PCTL_OP_COMPOSE, vec2, 2, l.i, l.x);
	u = rig_inst(b, PCTL_OP_BITCAST, u64, 1, u);
	t = rig_inst(b, PCTL_OP_BITCAST, vec2, 1, u);
	out = op2(&l, PCTL_OP_ADD, op2(&l, PCTL_OP_MUL, out, k(&l, 31)),
		  rig_inst(b, PCTL_OP_EXTRACT, l.u32, 2, t, 1));
	out = op2(&l, PCTL_OP_ADD, op2(&l, PCTL_OP_MUL, out, k(&l, 31)),
		  rig_inst(b, PCTL_OP_CAST, l.u32, 1, u));
	t = rig_inst(b, PCTL_OP_CAST, l.u32, 1, rig_inst(b, PCTL_OP_CAST, l.boolean, 1, u));
	out = op2(&l, PCTL_OP_ADD, op2(&l, PCTL_OP_MUL, out, k(&l, 31)), t);
	lane_check(r, &l, out, want_casts, "casts");
}

/* All built-in values, in three dimensions. */
static void builtins(rig *r)
{
	enum {
		GX = 3,
		GY = 2,
		GZ = 4,
		SX = 4,
		SY = 2,
		SZ = 3,
		TOTAL = GX * GY * GZ * SX * SY * SZ
	};
	static uint32_t out[TOTAL * 16];
	rig_bytes bytes[1] = {{out, sizeof(out), 0}};
	pctl_builder *b = rig_builder();
	const uint32_t u32 = pctl_build_scalar(b, PCTL_SCALAR_U32);
	const uint32_t vec3 = pctl_build_vector(b, PCTL_SCALAR_U32, 3);
	const uint32_t v_out =
		rig_storage(b, 0, pctl_build_array(b, pctl_build_array(b, vec3, 4, 0), 0, 0), 1);
	uint32_t v[6], part[3], at, i, x, y, z;
	rig_program p;

	pctl_build_function_begin(b, "main", NULL, 0, 0);
	for (i = 1; i <= 5; i++)
		v[i] = rig_inst(b, PCTL_OP_BUILTIN, i == PCTL_BUILTIN_LOCAL_INDEX ? u32 : vec3, 1,
				i);
	for (i = 0; i < 3; i++)
		part[i] = rig_inst(b, PCTL_OP_EXTRACT, u32, 2, v[PCTL_BUILTIN_GLOBAL_ID], i);
	at = pctl_build_op(b, PCTL_OP_MUL, u32, part[2], rig_u32(b, GY * SY));
	at = pctl_build_op(b, PCTL_OP_ADD, u32, at, part[1]);
	at = pctl_build_op(b, PCTL_OP_MUL, u32, at, rig_u32(b, GX * SX));
	at = pctl_build_op(b, PCTL_OP_ADD, u32, at, part[0]);
	v[0] = rig_inst(b, PCTL_OP_SPLAT, vec3, 1, v[PCTL_BUILTIN_LOCAL_INDEX]);
	rig_inst(b, PCTL_OP_STORE, 0, 4, v[PCTL_BUILTIN_LOCAL_ID], v_out, at, rig_u32(b, 0));
	rig_inst(b, PCTL_OP_STORE, 0, 4, v[0], v_out, at, rig_u32(b, 1));
	rig_inst(b, PCTL_OP_STORE, 0, 4, v[PCTL_BUILTIN_WORKGROUP_ID], v_out, at, rig_u32(b, 2));
	rig_inst(b, PCTL_OP_STORE, 0, 4, v[PCTL_BUILTIN_NUM_WORKGROUPS], v_out, at, rig_u32(b, 3));
	rig_entry(b, SX, SY, SZ);
	p = rig_finish(b);
	rig_run(r, p.wire, p.n, 0, bytes, 1, GX, GY, GZ);
	for (z = 0; z < GZ * SZ; z++)
		for (y = 0; y < GY * SY; y++)
			for (x = 0; x < GX * SX; x++) {
				const uint32_t *o = &out[((z * GY * SY + y) * GX * SX + x) * 16];
				const uint32_t index = x % SX + y % SY * SX + z % SZ * SX * SY;
				const uint32_t want[16] = {
					x % SX, y % SY, z % SZ, 0, index, index, index, 0,
					x / SX, y / SY, z / SZ, 0, GX,	  GY,	 GZ,	0};

				assert_memory_equal(o, want, sizeof(want));
			}
	free(p.wire);
}

DEVICE_TEST(nested_loops_and_calls, loops)
DEVICE_TEST(switch_on_signed, switches)
DEVICE_TEST(stores_in_a_loop_update, update)
DEVICE_TEST(vector_values, vectors)
DEVICE_TEST(integer_matrices, matrices)
DEVICE_TEST(packed_dot_products, dot4)
DEVICE_TEST(whole_composites, whole)
DEVICE_TEST(casts_through_64_bits, casts)
DEVICE_TEST(builtin_values, builtins)

PCTL_TESTS_MAIN(PCTL_TEST(test_vulkan__nested_loops_and_calls),
		PCTL_TEST(test_vulkan__switch_on_signed),
		PCTL_TEST(test_vulkan__stores_in_a_loop_update),
		PCTL_TEST(test_vulkan__vector_values), PCTL_TEST(test_vulkan__integer_matrices),
		PCTL_TEST(test_vulkan__packed_dot_products),
		PCTL_TEST(test_vulkan__whole_composites),
		PCTL_TEST(test_vulkan__casts_through_64_bits),
		PCTL_TEST(test_vulkan__builtin_values))
