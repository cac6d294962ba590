/* Float values as data: constants by their bits, every instruction that moves or picks them,
 * variables in all memories; constant tables, high words of products, 16-bit memory. */
#include "native.h"

#include <stdlib.h>

static uint32_t store_at(words *w, uint32_t x, uint32_t var, uint32_t index)
{
	return native_inst(w->b, PCTL_OP_STORE, 0, 3, x, var, index);
}

/* ---- constants ---- */

static const uint64_t odd_f64[] = {0x0000000000000001, 0x8000000000000000, 0x3ff0000000000001,
				   0x3fd5555555555555, 0x7fefffffffffffff, 0x7ff0000000000000,
				   0xfff8000000000001, 0x000fffffffffffff, 0x400921fb54442d18,
				   0xbfe62e42fefa39ef};
static const uint32_t odd_f32[] = {1,	       0x80000000, 0x3f800001, 0x3eaaaaab, 0x7f7fffff,
				   0x7f800000, 0x7fc00001, 0x007fffff, 0x40490fdb, 0xbf317218};

#define N_ODD 10u

/* Constants through f32 and f64 storage arrays, not touched by any operation. */
void native_constants(rig *r)
{
	const int wide = (r->caps.caps & PCTL_CAP_F64) != 0;
	uint64_t f64[N_ODD + 1] = {0};
	uint32_t f32[N_ODD + 1] = {0}, cast[3 * N_ODD * WORDS_GROUP], i, single, twice = 0, v32,
			     v64 = 0;
	uint32_t index, x;
	rig_bytes arrays[4] = {
		{f32, 0, 0}, {cast, 0, 0}, {f32, sizeof(f32), 0}, {f64, sizeof(f64), 0}};
	pctl_var v = {.space = PCTL_SPACE_STORAGE, .access = PCTL_ACCESS_READ_WRITE, .binding = 2};
	rig_program p;
	words w;

	words_begin(&w);
	single = pctl_build_scalar(w.b, PCTL_SCALAR_F32);
	v.type = pctl_build_array(w.b, single, 0, 0);
	v32 = pctl_build_var(w.b, &v, "f");
	if (wide) {
		twice = pctl_build_scalar(w.b, PCTL_SCALAR_F64);
		v.type = pctl_build_array(w.b, twice, 0, 0);
		v.binding = 3;
		v64 = pctl_build_var(w.b, &v, "d");
	}
	words_main(&w, 0, N_ODD * 3);
	/* every invocation stores the same, at indices that fall outside for none but the last */
	for (i = 0; i < N_ODD; i++) {
		x = pctl_build_const(w.b, single, odd_f32[i]);
		index = native_inst(w.b, PCTL_OP_ADD, w.u32, 2, w.row, native_u32(&w, i));
		index = native_inst(w.b, PCTL_OP_SUB, w.u32, 2, index, w.row);
		store_at(&w, x, v32, index);
		words_leave(&w, native_inst(w.b, PCTL_OP_BITCAST, w.u32, 1, x));
		x = pctl_build_vector(w.b, PCTL_SCALAR_U32, 2);
		if (wide) {
			const uint32_t d = pctl_build_const(w.b, twice, odd_f64[i]);

			store_at(&w, d, v64, index);
			x = native_inst(w.b, PCTL_OP_BITCAST, x, 1, d);
		} else {
			x = native_inst(w.b, PCTL_OP_COMPOSE, x, 2,
					native_u32(&w, (uint32_t)odd_f64[i]),
					native_u32(&w, (uint32_t)(odd_f64[i] >> 32)));
		}
		words_leave(&w, native_inst(w.b, PCTL_OP_EXTRACT, w.u32, 2, x, 0));
		words_leave(&w, native_inst(w.b, PCTL_OP_EXTRACT, w.u32, 2, x, 1));
	}
	/* one past the end: no effect */
	store_at(&w, pctl_build_const(w.b, single, 0x3f800000), v32,
		 native_inst(w.b, PCTL_OP_OR, w.u32, 2, w.row, native_u32(&w, N_ODD + 1)));
	p = words_end(&w);
	arrays[1].n_bytes = sizeof(cast);
	rig_run(r, p.wire, p.n, 0, arrays, wide ? 4 : 3, 1, 1, 1);
	for (i = 0; i < N_ODD; i++) {
		assert_int_equal(f32[i], odd_f32[i]);
		assert_true(!wide || f64[i] == odd_f64[i]);
		assert_int_equal(cast[3 * i], odd_f32[i]);
		assert_int_equal(cast[3 * i + 1], (uint32_t)odd_f64[i]);
		assert_int_equal(cast[3 * i + 2], (uint32_t)(odd_f64[i] >> 32));
	}
	assert_int_equal(f32[N_ODD], 0);
	free(p.wire);
}

/* ---- moving and picking ---- */

typedef struct values {
	words w;
	uint8_t scalar;
	uint32_t one, two, three, four, words_two, mask3;
} values;

/* A component as the two words it is left as; f32 has a second word of 0. */
static void leave(values *s, uint32_t x)
{
	words *w = &s->w;
	uint32_t pair;

	if (s->scalar == PCTL_SCALAR_F32) {
		words_leave(w, native_inst(w->b, PCTL_OP_BITCAST, w->u32, 1, x));
		words_leave(w, native_u32(w, 0));
		return;
	}
	pair = native_inst(w->b, PCTL_OP_BITCAST, s->words_two, 1, x);
	words_leave(w, native_inst(w->b, PCTL_OP_EXTRACT, w->u32, 2, pair, 0));
	words_leave(w, native_inst(w->b, PCTL_OP_EXTRACT, w->u32, 2, pair, 1));
}

static void leave_vector(values *s, uint32_t x, uint32_t width)
{
	uint32_t i;

	for (i = 0; i < width; i++)
		leave(s, native_inst(s->w.b, PCTL_OP_EXTRACT, s->one, 2, x, i));
}

static uint32_t take(values *s)
{
	words *w = &s->w;
	const uint32_t low = words_take(w), high = words_take(w);

	if (s->scalar == PCTL_SCALAR_F32)
		return native_inst(w->b, PCTL_OP_BITCAST, s->one, 1, low);
	return native_inst(w->b, PCTL_OP_BITCAST, s->one, 1,
			   native_inst(w->b, PCTL_OP_COMPOSE, s->words_two, 2, low, high));
}

/* A function that gives back its second parameter, through a local struct and a matrix. */
static uint32_t pass_through(values *s, uint32_t record)
{
	pctl_builder *b = s->w.b;
	const uint32_t params[2] = {s->one, record};
	const uint32_t matrix = pctl_build_matrix(b, s->scalar, 2, 3);
	const uint32_t turned = pctl_build_matrix(b, s->scalar, 3, 2);
	uint32_t local, x, y;

	pctl_build_function_begin(b, "pass", params, 2, record);
	local = pctl_build_local(b, "l", record);
	native_inst(b, PCTL_OP_STORE, 0, 2, 1, PCTL_PLACE_LOCAL | local);
	x = native_inst(b, PCTL_OP_LOAD, s->three, 2, PCTL_PLACE_LOCAL | local, 1);
	y = native_inst(b, PCTL_OP_COMPOSE, matrix, 2, x,
			native_inst(b, PCTL_OP_SPLAT, s->three, 1, 0));
	y = native_inst(b, PCTL_OP_TRANSPOSE, turned, 1, y);
	y = native_inst(b, PCTL_OP_TRANSPOSE, matrix, 1, y);
	y = native_inst(b, PCTL_OP_EXTRACT, s->three, 2, y, 0);
	native_inst(b, PCTL_OP_STORE, 0, 3, y, PCTL_PLACE_LOCAL | local, 1);
	native_inst(b, PCTL_OP_RETURN, 0, 1,
		    native_inst(b, PCTL_OP_LOAD, record, 1, PCTL_PLACE_LOCAL | local));
	return pctl_build_function_end(b);
}

/* What is done with three numbers, and which of them (1, 2, 3; 0 for zero) each result is. */
static const uint8_t picks[] = {
	1, 2, 3,    /* composed */
	3, 1, 1, 2, /* shuffled */
	2, 2,	    /* splat */
	1, 3, 3,    /* inserted */
	1, 2, 3,    /* chosen by a scalar: the odd lane's or the even lane's are swapped below */
	1, 2, 2,    /* chosen lane by lane */
	2, 0,	    /* picked by an index, inside and outside */
	0, 0,	    /* zero */
	1, 2, 3,    /* through the function's record */
	1, 2,	    /* private array */
	3, 0,	    /* private array at an index from the row: inside, outside */
	3, 2, 1,    /* workgroup vector */
	1, 3,	    /* storage struct */
};
#define N_PICKS ((uint32_t)sizeof(picks))

static void data(values *s, const uint32_t x[3], uint32_t function, uint32_t record, uint32_t own,
		 uint32_t shared, uint32_t store)
{
	pctl_builder *b = s->w.b;
	words *w = &s->w;
	const uint32_t v = native_inst(b, PCTL_OP_COMPOSE, s->three, 3, x[0], x[1], x[2]);
	const uint32_t zero = native_inst(b, PCTL_OP_ZERO, s->three, 0);
	const uint32_t yes = native_inst(b, PCTL_OP_GE, w->boolean, 2, w->row, native_u32(w, 0));
	uint32_t y, lane, index;

	leave_vector(s, v, 3);
	leave_vector(s, native_inst(b, PCTL_OP_SHUFFLE, s->four, 5, v, 2, 0, 0, 1), 4);
	leave_vector(s, native_inst(b, PCTL_OP_SPLAT, s->two, 1, x[1]), 2);
	leave_vector(s, native_inst(b, PCTL_OP_INSERT, s->three, 3, v, x[2], 1), 3);
	leave_vector(s, native_inst(b, PCTL_OP_SELECT, s->three, 3, yes, v, zero), 3);
	y = native_inst(b, PCTL_OP_NOT, w->boolean, 1, yes);
	y = native_inst(b, PCTL_OP_COMPOSE, s->mask3, 3, yes, yes, y);
	leave_vector(s,
		     native_inst(b, PCTL_OP_SELECT, s->three, 3, y, v,
				 native_inst(b, PCTL_OP_SPLAT, s->three, 1, x[1])),
		     3);
	index = native_inst(b, PCTL_OP_MIN, w->u32, 2, w->row, native_u32(w, 0));
	index = native_inst(b, PCTL_OP_ADD, w->u32, 2, index, native_u32(w, 1));
	leave(s, native_inst(b, PCTL_OP_EXTRACT_DYN, s->one, 2, v, index));
	y = native_inst(b, PCTL_OP_ADD, w->u32, 2, index, native_u32(w, 2));
	leave(s, native_inst(b, PCTL_OP_EXTRACT_DYN, s->one, 2, v, y));
	leave(s, native_inst(b, PCTL_OP_ZERO, s->one, 0));
	leave(s, native_inst(b, PCTL_OP_EXTRACT, s->one, 2, zero, 1));
	y = native_inst(b, PCTL_OP_COMPOSE, record, 2, w->row, v);
	y = native_inst(b, PCTL_OP_CALL, record, 3, function, x[0], y);
	leave_vector(s, native_inst(b, PCTL_OP_EXTRACT, s->three, 2, y, 1), 3);
	for (lane = 0; lane < 3; lane++)
		store_at(w, x[lane], own, native_u32(w, lane));
	leave(s, native_inst(b, PCTL_OP_LOAD, s->one, 2, own, native_u32(w, 0)));
	leave(s, native_inst(b, PCTL_OP_LOAD, s->one, 2, own, index));
	y = native_inst(b, PCTL_OP_ADD, w->u32, 2, index, native_u32(w, 1));
	leave(s, native_inst(b, PCTL_OP_LOAD, s->one, 2, own, y));
	y = native_inst(b, PCTL_OP_ADD, w->u32, 2, index, native_u32(w, 7));
	leave(s, native_inst(b, PCTL_OP_LOAD, s->one, 2, own, y));
	lane = native_inst(b, PCTL_OP_BUILTIN, w->u32, 1, PCTL_BUILTIN_LOCAL_INDEX);
	store_at(w, native_inst(b, PCTL_OP_SHUFFLE, s->three, 4, v, 2, 1, 0), shared, lane);
	native_inst(b, PCTL_OP_BARRIER, 0, 1, PCTL_BARRIER_WORKGROUP);
	leave_vector(s, native_inst(b, PCTL_OP_LOAD, s->three, 2, shared, lane), 3);
	y = native_inst(b, PCTL_OP_COMPOSE, record, 2, lane, v);
	store_at(w, y, store, w->row);
	y = native_inst(b, PCTL_OP_LOAD, record, 2, store, w->row);
	y = native_inst(b, PCTL_OP_EXTRACT, s->three, 2, y, 1);
	leave(s, native_inst(b, PCTL_OP_EXTRACT, s->one, 2, y, 0));
	leave(s, native_inst(b, PCTL_OP_LOAD, s->one, 4, store, w->row, 1, native_u32(w, 2)));
}

static rig_program values_program(uint8_t scalar)
{
	values s = {.scalar = scalar};
	uint32_t x[3], record, function, own, shared, store, i;
	pctl_var v = {.space = PCTL_SPACE_PRIVATE, .access = PCTL_ACCESS_READ_WRITE};
	pctl_member_spec members[2] = {{"n", 0, 0, 0, PCTL_OFFSET_AUTO},
				       {"v", 0, 0, 0, PCTL_OFFSET_AUTO}};

	words_begin(&s.w);
	s.one = pctl_build_scalar(s.w.b, scalar);
	s.two = pctl_build_vector(s.w.b, scalar, 2);
	s.three = pctl_build_vector(s.w.b, scalar, 3);
	s.four = pctl_build_vector(s.w.b, scalar, 4);
	s.words_two = pctl_build_vector(s.w.b, PCTL_SCALAR_U32, 2);
	s.mask3 = pctl_build_vector(s.w.b, PCTL_SCALAR_BOOL, 3);
	members[0].type = s.w.u32;
	members[1].type = s.three;
	record = pctl_build_struct(s.w.b, members, 2);
	v.type = pctl_build_array(s.w.b, s.one, 3, 0);
	own = pctl_build_var(s.w.b, &v, "own");
	v.space = PCTL_SPACE_WORKGROUP;
	v.type = pctl_build_array(s.w.b, s.three, WORDS_GROUP, 0);
	shared = pctl_build_var(s.w.b, &v, "shared");
	v.space = PCTL_SPACE_STORAGE;
	v.binding = 2;
	v.type = pctl_build_array(s.w.b, record, 0, 0);
	store = pctl_build_var(s.w.b, &v, "store");
	function = pass_through(&s, record);
	words_main(&s.w, 6, 2 * N_PICKS);
	for (i = 0; i < 3; i++)
		x[i] = take(&s);
	data(&s, x, function, record, own, shared, store);
	return words_end(&s.w);
}

static void moved(rig *r, uint8_t scalar)
{
	uint32_t in[6 * WORDS_GROUP], out[2 * N_PICKS * WORDS_GROUP], i, k;
	static uint64_t room[8 * WORDS_GROUP];
	rig_bytes arrays[3] = {{in, sizeof(in), 0}, {out, sizeof(out), 0}, {room, sizeof(room), 0}};
	rig_program p = values_program(scalar);

	for (i = 0; i < 6 * WORDS_GROUP; i++)
		in[i] = (uint32_t)rig_random(scalar, i) & 0xff7fffffu; /* no NaN, no infinity */
	memset(out, 0xa5, sizeof(out));
	rig_run(r, p.wire, p.n, 0, arrays, 3, 1, 1, 1);
	for (i = 0; i < WORDS_GROUP; i++)
		for (k = 0; k < 2 * N_PICKS; k++) {
			const uint8_t pick = picks[k / 2];
			uint32_t want = pick ? in[6 * i + 2 * (pick - 1u) + k % 2] : 0;

			if (scalar == PCTL_SCALAR_F32 && k % 2)
				want = 0;
			if (out[2 * N_PICKS * i + k] != want)
				fail_msg("%s: scalar %u, lane %u, word %u of pick %u is %#x, not "
					 "%#x",
					 r->info.name, scalar, i, k % 2, k / 2,
					 out[2 * N_PICKS * i + k], want);
		}
	free(p.wire);
}

void native_values(rig *r)
{
	moved(r, PCTL_SCALAR_F32);
	if (r->caps.caps & PCTL_CAP_F64)
		moved(r, PCTL_SCALAR_F64);
}

/* ---- tables ---- */

#define N_TABLE 11u

static uint32_t lookup(words *w, uint32_t type, uint32_t index, const uint32_t *at, uint32_t n)
{
	uint32_t args[1 + 2 * N_TABLE], i;

	args[0] = index;
	for (i = 0; i < n; i++)
		args[1 + i] = at[i];
	return pctl_build_inst(w->b, PCTL_OP_LOOKUP, type, args, 1 + n);
}

void native_tables(rig *r)
{
	static const uint32_t literals[3] = {0, N_TABLE - 1, N_TABLE};
	const int wide = (r->caps.caps & PCTL_CAP_F64) != 0,
		  longs = (r->caps.caps & PCTL_CAP_I64) != 0;
	uint32_t table[2 * N_TABLE], in[2 * WORDS_GROUP], out[11 * WORDS_GROUP], i, k, x, index,
		as_int;
	uint32_t words_two;
	words w;

	for (i = 0; i < 2 * N_TABLE; i++)
		table[i] = (uint32_t)rig_random(3, i) & 0xff7fffffu;
	words_begin(&w);
	words_two = pctl_build_vector(w.b, PCTL_SCALAR_U32, 2);
	words_main(&w, 1, 11);
	index = words_take(&w);
	as_int = native_inst(w.b, PCTL_OP_BITCAST, w.i32, 1, index);
	words_leave(&w, lookup(&w, w.u32, index, table, N_TABLE));
	words_leave(&w, lookup(&w, w.u32, as_int, table, N_TABLE));
	x = lookup(&w, pctl_build_scalar(w.b, PCTL_SCALAR_F32), as_int, table, N_TABLE);
	words_leave(&w, native_inst(w.b, PCTL_OP_BITCAST, w.u32, 1, x));
	for (k = 0; k < 3; k++)
		words_leave(&w, lookup(&w, w.u32, native_u32(&w, literals[k]), table, N_TABLE));
	for (k = 0; k < 2; k++) {
		if (k ? longs : wide) {
			x = pctl_build_scalar(w.b, k ? PCTL_SCALAR_U64 : PCTL_SCALAR_F64);
			x = lookup(&w, x, index, table, 2 * N_TABLE);
			x = native_inst(w.b, PCTL_OP_BITCAST, words_two, 1, x);
		} else {
			x = native_inst(w.b, PCTL_OP_COMPOSE, words_two, 2,
					lookup(&w, w.u32, native_u32(&w, 0), table, 1),
					native_u32(&w, 0));
		}
		words_leave(&w, native_inst(w.b, PCTL_OP_EXTRACT, w.u32, 2, x, 0));
		words_leave(&w, native_inst(w.b, PCTL_OP_EXTRACT, w.u32, 2, x, 1));
	}
	words_leave(&w, lookup(&w, w.u32, as_int, table + 5, 3)); /* its end is another's middle */
	for (i = 0; i < WORDS_GROUP; i++)
		in[i] = i < 32 ? i : i < 48 ? 0u - (i - 31) : (uint32_t)rig_random(4, i);
	words_run(r, words_end(&w), in, 1, out, 11, WORDS_GROUP);
	for (i = 0; i < WORDS_GROUP; i++) {
		const uint32_t *got = out + 11 * i, narrow = in[i] < N_TABLE ? table[in[i]] : 0;

		for (k = 0; k < 3; k++)
			assert_int_equal(got[k], narrow);
		assert_int_equal(got[3], table[0]);
		assert_int_equal(got[4], table[N_TABLE - 1]);
		assert_int_equal(got[5], 0);
		assert_int_equal(got[10], in[i] < 3 ? table[5 + in[i]] : 0);
		for (k = 0; k < 2; k++) {
			const int has = k ? longs : wide;
			const int inside = in[i] < N_TABLE;

			assert_int_equal(got[6 + 2 * k],
					 has ? (inside ? table[2 * in[i]] : 0) : table[0]);
			assert_int_equal(got[7 + 2 * k], has && inside ? table[2 * in[i] + 1] : 0);
		}
	}
}

/* ---- the high word of a product ---- */

void native_mul_high(rig *r)
{
	uint32_t in[5 * WORDS_GROUP * 4], out[5 * WORDS_GROUP * 4], a[4], i, k, x, y, vec4;
	const uint32_t rows = 4 * WORDS_GROUP;
	words w;

	words_begin(&w);
	vec4 = pctl_build_vector(w.b, PCTL_SCALAR_U32, 4);
	words_main(&w, 5, 5);
	for (k = 0; k < 4; k++)
		a[k] = words_take(&w);
	y = words_take(&w);
	words_leave(&w, native_inst(w.b, PCTL_OP_MUL_HIGH, w.u32, 2, a[0], y));
	x = pctl_build_inst(w.b, PCTL_OP_COMPOSE, vec4, a, 4);
	x = native_inst(w.b, PCTL_OP_MUL_HIGH, vec4, 2, x,
			native_inst(w.b, PCTL_OP_SPLAT, vec4, 1, y));
	for (k = 0; k < 4; k++)
		words_leave(&w, native_inst(w.b, PCTL_OP_EXTRACT, w.u32, 2, x, k));
	for (i = 0; i < 5 * rows; i++)
		in[i] = i % 7 ? (uint32_t)rig_random(8, i) >> i % 9 : 0u - i % 5;
	words_run(r, words_end(&w), in, 5, out, 5, rows);
	for (i = 0; i < rows; i++)
		for (k = 0; k < 5; k++)
			assert_int_equal(out[5 * i + k],
					 (uint64_t)in[5 * i + (k ? k - 1 : 0)] * in[5 * i + 4] >>
						 32);
}

/* ---- 16 bits in memory ---- */

#define N_U16 37u

/* Binding 2: a struct of u16 and vectors of them in a runtime array; 3: array<u16>; 4: the same
 * read-only as uniform. */
static rig_program store16_program(void)
{
	pctl_var v = {.space = PCTL_SPACE_STORAGE, .access = PCTL_ACCESS_READ_WRITE};
	uint32_t u16, three, two, four, wide3, wide2, wide4, x, record, flat, same, uniform;
	pctl_member_spec m[4] = {{"a", 0, 0, 0, PCTL_OFFSET_AUTO},
				 {"b", 0, 0, 0, PCTL_OFFSET_AUTO},
				 {"c", 0, 0, 0, PCTL_OFFSET_AUTO},
				 {"d", 0, 0, 0, PCTL_OFFSET_AUTO}};
	words w;

	words_begin(&w);
	u16 = pctl_build_scalar(w.b, PCTL_SCALAR_U16);
	two = pctl_build_vector(w.b, PCTL_SCALAR_U16, 2);
	three = pctl_build_vector(w.b, PCTL_SCALAR_U16, 3);
	four = pctl_build_vector(w.b, PCTL_SCALAR_U16, 4);
	wide2 = pctl_build_vector(w.b, PCTL_SCALAR_U32, 2);
	wide3 = pctl_build_vector(w.b, PCTL_SCALAR_U32, 3);
	wide4 = pctl_build_vector(w.b, PCTL_SCALAR_U32, 4);
	m[0].type = u16, m[1].type = three, m[2].type = two, m[3].type = four;
	record = pctl_build_struct(w.b, m, 4);
	v.binding = 2;
	v.type = pctl_build_array(w.b, record, 0, 0);
	record = pctl_build_var(w.b, &v, "record");
	v.binding = 3;
	v.type = pctl_build_array(w.b, u16, 0, 0);
	flat = pctl_build_var(w.b, &v, "flat");
	v.binding = 4;
	v.space = PCTL_SPACE_UNIFORM;
	v.access = PCTL_ACCESS_READ;
	v.type = four;
	uniform = pctl_build_var(w.b, &v, "uniform");
	words_main(&w, 1, 4);
	x = words_take(&w);
	/* flat[i] = u16(flat[i] + x); what is read beyond the end is 0, what is written is lost */
	same = native_inst(w.b, PCTL_OP_LOAD, u16, 2, flat, w.row);
	same = native_inst(w.b, PCTL_OP_CAST, w.u32, 1, same);
	words_leave(&w, same);
	same = native_inst(w.b, PCTL_OP_ADD, w.u32, 2, same, x);
	same = native_inst(w.b, PCTL_OP_CAST, u16, 1, same);
	words_leave(&w, native_inst(w.b, PCTL_OP_CAST, w.u32, 1, same));
	store_at(&w, same, flat, w.row);
	/* record[i].b = vec3<u16>(x), .c = .d.zw; the second of d by an index */
	same = native_inst(w.b, PCTL_OP_SPLAT, wide3, 1, x);
	same = native_inst(w.b, PCTL_OP_CAST, three, 1, same);
	native_inst(w.b, PCTL_OP_STORE, 0, 4, same, record, w.row, 1);
	same = native_inst(w.b, PCTL_OP_LOAD, four, 3, record, w.row, 3);
	same = native_inst(w.b, PCTL_OP_CAST, wide4, 1, same);
	same = native_inst(w.b, PCTL_OP_SHUFFLE, wide2, 3, same, 2, 3);
	native_inst(w.b, PCTL_OP_STORE, 0, 4, native_inst(w.b, PCTL_OP_CAST, two, 1, same), record,
		    w.row, 2);
	same = native_inst(w.b, PCTL_OP_AND, w.u32, 2, w.row, native_u32(&w, 7));
	same = native_inst(w.b, PCTL_OP_LOAD, u16, 4, record, w.row, 3, same);
	words_leave(&w, native_inst(w.b, PCTL_OP_CAST, w.u32, 1, same));
	same = native_inst(w.b, PCTL_OP_LOAD, four, 1, uniform);
	same = native_inst(w.b, PCTL_OP_CAST, wide4, 1, same);
	words_leave(&w, native_inst(w.b, PCTL_OP_EXTRACT, w.u32, 2, same, 3));
	return words_end(&w);
}

void native_store16(rig *r)
{
	/* a, pad .. 6, b (3), pad, c (2), d at 24 (4): 24 + 8 = 32 bytes with an alignment of 8 */
	static uint16_t record[WORDS_GROUP * 16], was[WORDS_GROUP * 16], flat[N_U16 + 3],
		old[N_U16];
	uint16_t uniform[8] = {1, 2, 3, 0xfedc};
	uint32_t in[WORDS_GROUP], out[4 * WORDS_GROUP], i, k;
	rig_bytes arrays[5] = {{in, sizeof(in), 0},
			       {out, sizeof(out), 0},
			       {record, sizeof(record), 0},
			       {flat, N_U16 * 2, 0},
			       {uniform, 8, 1}};
	rig_program p = store16_program();
	pctl_support s;

	if (!(r->caps.caps & PCTL_CAP_STORE16)) {
		s = native_asked(r, p);
		assert_int_equal(s.supported, 0);
		assert_non_null(strstr(s.reason, "16-bit storage"));
		free(p.wire);
		return;
	}
	for (i = 0; i < WORDS_GROUP * 16; i++)
		record[i] = was[i] = (uint16_t)rig_random(1, i);
	for (i = 0; i < N_U16; i++)
		flat[i] = old[i] = (uint16_t)(rig_random(2, i) | (i % 3 ? 0x8000 : 0));
	for (i = 0; i < WORDS_GROUP; i++)
		in[i] = (uint32_t)rig_random(3, i);
	rig_run(r, p.wire, p.n, 0, arrays, 5, 1, 1, 1);
	for (i = 0; i < WORDS_GROUP; i++) {
		const uint32_t now = i < N_U16 ? old[i] : 0;

		assert_int_equal(out[4 * i], now);
		assert_int_equal(out[4 * i + 1], (now + in[i]) & 0xffff);
		if (i < N_U16)
			assert_int_equal(flat[i], (now + in[i]) & 0xffff);
		assert_int_equal(out[4 * i + 2], (i & 7) < 4 ? was[16 * i + 12 + (i & 7)] : 0);
		assert_int_equal(out[4 * i + 3], 0xfedc);
		for (k = 0; k < 16; k++) {
			uint16_t want = was[16 * i + k];

			if (k >= 4 && k < 7)
				want = (uint16_t)in[i];
			if (k == 8 || k == 9)
				want = was[16 * i + 14 + k - 8];
			assert_int_equal(record[16 * i + k], want);
		}
	}
	free(p.wire);
}
