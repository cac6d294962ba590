/* What a driver's compiler may not do to a product and a sum, wherever they stand; and the float
 * programs that a backend refuses. */
#include "native.h"

#include <stdlib.h>

#define WITNESS 0x3f800800u
#define ONE 0x3f800000u
#define TWICE_ROUNDED 0x3a000000u /* a fused operation gives 0x3a000400 */

static uint32_t f32_of(words *w, uint32_t word)
{
	return native_inst(w->b, PCTL_OP_BITCAST, pctl_build_scalar(w->b, PCTL_SCALAR_F32), 1,
			   word);
}

static uint32_t mul_add(words *w, uint16_t op, uint32_t a, uint32_t b, uint32_t c, int swapped)
{
	const uint32_t f32 = pctl_build_scalar(w->b, PCTL_SCALAR_F32);
	const uint32_t product = native_inst(w->b, PCTL_OP_NMUL, f32, 2, a, b);

	return native_inst(w->b, op, f32, 2, swapped ? c : product, swapped ? product : c);
}

static void leave_f32(words *w, uint32_t x)
{
	words_leave(w, native_inst(w->b, PCTL_OP_BITCAST, w->u32, 1, x));
}

/* sum = 0; for (i = 0; i < n; i++) sum = a * b + (i == 0 ? c : -c .. ): the witness once a turn. */
static uint32_t in_loop(words *w, uint32_t sum, uint32_t a, uint32_t b, uint32_t c, uint32_t n)
{
	const uint32_t f32 = pctl_build_scalar(w->b, PCTL_SCALAR_F32);
	const uint32_t i = pctl_build_local(w->b, "i", w->u32);
	uint32_t x, old;

	native_inst(w->b, PCTL_OP_LOOP, 0, 0);
	x = native_inst(w->b, PCTL_OP_LOAD, w->u32, 1, PCTL_PLACE_LOCAL | i);
	native_inst(w->b, PCTL_OP_LOOP_TEST, 0, 1,
		    native_inst(w->b, PCTL_OP_LT, w->boolean, 2, x, n));
	/* sum += a*b + c, the inner sum rounded by itself */
	old = native_inst(w->b, PCTL_OP_LOAD, f32, 1, PCTL_PLACE_LOCAL | sum);
	x = mul_add(w, PCTL_OP_NADD, a, b, c, 0);
	x = native_inst(w->b, PCTL_OP_NADD, f32, 2, old, x);
	native_inst(w->b, PCTL_OP_STORE, 0, 2, x, PCTL_PLACE_LOCAL | sum);
	native_inst(w->b, PCTL_OP_CONTINUING, 0, 0);
	x = native_inst(w->b, PCTL_OP_LOAD, w->u32, 1, PCTL_PLACE_LOCAL | i);
	x = native_inst(w->b, PCTL_OP_ADD, w->u32, 2, x, native_u32(w, 1));
	native_inst(w->b, PCTL_OP_STORE, 0, 2, x, PCTL_PLACE_LOCAL | i);
	native_inst(w->b, PCTL_OP_END_LOOP, 0, 0);
	return native_inst(w->b, PCTL_OP_LOAD, f32, 1, PCTL_PLACE_LOCAL | sum);
}

/* Workgroup memory and private memory keep the product between the two operations. */
static uint32_t through(words *w, uint32_t var, uint32_t a, uint32_t b, uint32_t c, int barrier)
{
	const uint32_t f32 = pctl_build_scalar(w->b, PCTL_SCALAR_F32);
	uint32_t product = native_inst(w->b, PCTL_OP_NMUL, f32, 2, a, b);

	if (barrier) {
		const uint32_t lane =
			native_inst(w->b, PCTL_OP_BUILTIN, w->u32, 1, PCTL_BUILTIN_LOCAL_INDEX);

		native_inst(w->b, PCTL_OP_STORE, 0, 3, product, var, lane);
		native_inst(w->b, PCTL_OP_BARRIER, 0, 1, PCTL_BARRIER_WORKGROUP);
		product = native_inst(
			w->b, PCTL_OP_LOAD, f32, 2, var,
			native_inst(w->b, PCTL_OP_XOR, w->u32, 2, lane, native_u32(w, 1)));
	} else {
		native_inst(w->b, PCTL_OP_STORE, 0, 2, product, var);
		product = native_inst(w->b, PCTL_OP_LOAD, f32, 1, var);
	}
	return native_inst(w->b, PCTL_OP_NADD, f32, 2, product, c);
}

static uint32_t helper(words *w, uint32_t f32)
{
	const uint32_t params[3] = {f32, f32, f32};

	pctl_build_function_begin(w->b, "mul_add", params, 3, f32);
	native_inst(w->b, PCTL_OP_RETURN, 0, 1, mul_add(w, PCTL_OP_NADD, 0, 1, 2, 0));
	return pctl_build_function_end(w->b);
}

void native_contraction(rig *r)
{
	static const uint32_t row[6] = {WITNESS, WITNESS, ONE | 0x80000000u,
					ONE,	 1,	  WITNESS | 0x80000000u};
	uint32_t in[6 * WORDS_GROUP], out[16 * WORDS_GROUP], f32, vec4, a, b, c, one, n, minus, ka,
		kc;
	uint32_t i, k, function, shared, own, sum, va, vc;
	pctl_var v = {.space = PCTL_SPACE_WORKGROUP, .access = PCTL_ACCESS_READ_WRITE};
	words w;

	words_begin(&w);
	f32 = pctl_build_scalar(w.b, PCTL_SCALAR_F32);
	vec4 = pctl_build_vector(w.b, PCTL_SCALAR_F32, 4);
	v.type = pctl_build_array(w.b, f32, WORDS_GROUP, 0);
	shared = pctl_build_var(w.b, &v, "shared");
	v.space = PCTL_SPACE_PRIVATE;
	v.type = f32;
	own = pctl_build_var(w.b, &v, "own");
	function = helper(&w, f32);
	words_main(&w, 6, 13);
	sum = pctl_build_local(w.b, "sum", f32);
	a = f32_of(&w, words_take(&w));
	b = f32_of(&w, words_take(&w));
	c = f32_of(&w, words_take(&w));
	one = f32_of(&w, words_take(&w));
	n = words_take(&w);
	minus = f32_of(&w, words_take(&w));
	ka = pctl_build_const(w.b, f32, WITNESS);
	kc = pctl_build_const(w.b, f32, ONE | 0x80000000u);
	leave_f32(&w, mul_add(&w, PCTL_OP_NADD, a, b, c, 0));
	leave_f32(&w, mul_add(&w, PCTL_OP_NADD, a, b, c, 1));
	leave_f32(&w, mul_add(&w, PCTL_OP_NSUB, a, b, one, 0));
	leave_f32(&w, mul_add(&w, PCTL_OP_NADD, ka, ka, kc, 0));
	leave_f32(&w, mul_add(&w, PCTL_OP_NADD, a, ka, kc, 0));
	leave_f32(&w, native_inst(w.b, PCTL_OP_CALL, f32, 4, function, a, b, c));
	leave_f32(&w, native_inst(w.b, PCTL_OP_CALL, f32, 4, function, ka, ka, kc));
	leave_f32(&w, in_loop(&w, sum, a, b, c, n));
	leave_f32(&w, through(&w, shared, a, b, c, 1));
	leave_f32(&w, through(&w, own, a, b, c, 0));
	va = native_inst(w.b, PCTL_OP_SPLAT, vec4, 1, a);
	vc = native_inst(w.b, PCTL_OP_SPLAT, vec4, 1, c);
	va = native_inst(w.b, PCTL_OP_NADD, vec4, 2,
			 native_inst(w.b, PCTL_OP_NMUL, vec4, 2, va,
				     native_inst(w.b, PCTL_OP_SPLAT, vec4, 1, b)),
			 vc);
	leave_f32(&w, native_inst(w.b, PCTL_OP_EXTRACT, f32, 2, va, 2));
	/* -(1 - a*b), and one more with a negated product */
	leave_f32(&w,
		  native_inst(w.b, PCTL_OP_NNEG, f32, 1, mul_add(&w, PCTL_OP_NSUB, a, b, one, 1)));
	leave_f32(&w, native_inst(w.b, PCTL_OP_NNEG, f32, 1,
				  mul_add(&w, PCTL_OP_NADD, minus, b, one, 0)));
	for (i = 0; i < WORDS_GROUP; i++)
		memcpy(in + 6 * i, row, sizeof(row));
	words_run(r, words_end(&w), in, 6, out, 13, WORDS_GROUP);
	for (i = 0; i < WORDS_GROUP; i++)
		for (k = 0; k < 13; k++)
			if (out[13 * i + k] != TWICE_ROUNDED)
				fail_msg("%s: witness %u of lane %u gave %#x, %#x is right",
					 r->info.name, k, i, out[13 * i + k], TWICE_ROUNDED);
}

/* ---- refusals ---- */

static void refused(rig *r, rig_program p, const char *said)
{
	const pctl_support s = native_asked(r, p);

	assert_int_equal(s.supported, 0);
	assert_int_equal(s.code, PC3210_KERNEL_CAPABILITY);
	if (!strstr(s.reason, said))
		fail_msg("%s: the reason is '%s', not '%s'", r->info.name, s.reason, said);
	free(p.wire);
}

static rig_program unary(uint16_t op, uint8_t scalar)
{
	uint32_t type, x;
	words w;

	words_begin(&w);
	type = pctl_build_scalar(w.b, scalar);
	words_main(&w, 0, 1);
	x = native_inst(w.b, op, type, 1, native_inst(w.b, PCTL_OP_ZERO, type, 0));
	x = native_inst(w.b, scalar == PCTL_SCALAR_F64 ? PCTL_OP_NCONVERT : PCTL_OP_BITCAST, w.u32,
			1, x);
	words_leave(&w, x);
	return words_end(&w);
}

/* bitcast<u32>(vec2<u16>) */
static rig_program bitcast_u16(void)
{
	uint32_t x;
	words w;

	words_begin(&w);
	words_main(&w, 0, 1);
	x = native_inst(w.b, PCTL_OP_ZERO, pctl_build_vector(w.b, PCTL_SCALAR_U16, 2), 0);
	words_leave(&w, native_inst(w.b, PCTL_OP_BITCAST, w.u32, 1, x));
	return words_end(&w);
}

void native_refusals(rig *r)
{
	refused(r, unary(PCTL_OP_FSQRT, PCTL_SCALAR_F32), "FSQRT");
	refused(r, unary(PCTL_OP_FSIN, PCTL_SCALAR_F32), "FSIN");
	refused(r, bitcast_u16(), r->caps.caps & PCTL_CAP_STORE16 ? "BITCAST" : "16-bit storage");
	if (!(r->caps.caps & PCTL_CAP_F64))
		refused(r, unary(PCTL_OP_NSQRT, PCTL_SCALAR_F64), "64-bit floats");
	else if (native_asked(r, unary(PCTL_OP_NSIN, PCTL_SCALAR_F64)).supported == 0)
		refused(r, unary(PCTL_OP_NSIN, PCTL_SCALAR_F64), "NSIN");
}
