/* Float builtins as sequences of opcodes. BUILTINS.md says the same in words; a test holds the two
 * together. */
#include "compiler/wgsl/compose.h"
#include "compiler/wgsl/float.h"

static struct val add(struct compose *x, struct val a, struct val b)
{
	return pctl_wgsl_op2(x, PCTL_OP_FADD, a, b);
}

static struct val sub(struct compose *x, struct val a, struct val b)
{
	return pctl_wgsl_op2(x, PCTL_OP_FSUB, a, b);
}

static struct val mul(struct compose *x, struct val a, struct val b)
{
	return pctl_wgsl_op2(x, PCTL_OP_FMUL, a, b);
}

static struct val divide(struct compose *x, struct val a, struct val b)
{
	return pctl_wgsl_op2(x, PCTL_OP_FDIV, a, b);
}

static struct val number(struct compose *x, struct val like, double v)
{
	return pctl_wgsl_float(x, like.t, v);
}

static struct val clamp(struct compose *x, struct val v, struct val low, struct val high)
{
	return pctl_wgsl_op2(x, PCTL_OP_FMIN, pctl_wgsl_op2(x, PCTL_OP_FMAX, v, low), high);
}

static struct val sign(struct compose *x, struct val v)
{
	struct val zero = number(x, v, 0), out;

	out = pctl_wgsl_select(x, pctl_wgsl_test(x, PCTL_OP_FLT, v, zero), number(x, v, -1), zero);
	return pctl_wgsl_select(x, pctl_wgsl_test(x, PCTL_OP_FGT, v, zero), number(x, v, 1), out);
}

static struct val mix(struct compose *x, struct val a, struct val b, struct val t)
{
	struct val rest = sub(x, number(x, t, 1), t);

	return add(x, mul(x, a, pctl_wgsl_splat(x, a.t, rest)),
		   mul(x, b, pctl_wgsl_splat(x, a.t, t)));
}

static struct val smoothstep(struct compose *x, struct val low, struct val high, struct val v)
{
	struct val t = divide(x, sub(x, v, low), sub(x, high, low));

	t = clamp(x, t, number(x, t, 0), number(x, t, 1));
	return mul(x, mul(x, t, t), sub(x, number(x, t, 3), mul(x, number(x, t, 2), t)));
}

static struct val quantize(struct compose *x, struct val v)
{
	const struct type *half = pctl_wgsl_with_scalar(x->c, v.t, PCTL_SCALAR_F16);

	return pctl_wgsl_convert(x, PCTL_OP_FCONVERT, v.t,
				 pctl_wgsl_convert(x, PCTL_OP_FCONVERT, half, v));
}

static struct val step(struct compose *x, struct val edge, struct val v)
{
	return pctl_wgsl_select(x, pctl_wgsl_test(x, PCTL_OP_FLE, edge, v), number(x, v, 1),
				number(x, v, 0));
}

/* ---- vectors and matrices ---- */

static struct val length(struct compose *x, struct val v)
{
	if (v.t->kind == TY_SCALAR)
		return pctl_wgsl_op1(x, PCTL_OP_FABS, v);
	return pctl_wgsl_op1(x, PCTL_OP_FSQRT, pctl_wgsl_float_dot(x, v, v));
}

/* Components i, j, k of a vector of three. */
static struct val turned(struct compose *x, struct val v, uint32_t i, uint32_t j, uint32_t k)
{
	const struct val parts[3] = {pctl_wgsl_component(x, v, i), pctl_wgsl_component(x, v, j),
				     pctl_wgsl_component(x, v, k)};

	return pctl_wgsl_construct(x, v.t, parts, 3);
}

static struct val cross(struct compose *x, struct val a, struct val b)
{
	struct val left = mul(x, turned(x, a, 1, 2, 0), turned(x, b, 2, 0, 1));

	return sub(x, left, mul(x, turned(x, a, 2, 0, 1), turned(x, b, 1, 2, 0)));
}

static struct val reflect(struct compose *x, struct val v, struct val n)
{
	struct val d = pctl_wgsl_float_dot(x, n, v);

	d = mul(x, number(x, d, 2), d);
	return sub(x, v, mul(x, pctl_wgsl_splat(x, n.t, d), n));
}

static struct val refract(struct compose *x, struct val v, struct val n, struct val eta)
{
	struct val d = pctl_wgsl_float_dot(x, n, v), one = number(x, d, 1), k, bent;

	k = sub(x, one, mul(x, mul(x, eta, eta), sub(x, one, mul(x, d, d))));
	/* A constant is not told of the root that is not taken. */
	bent = x->way == COMPOSE_CONST ? pctl_wgsl_op2(x, PCTL_OP_FMAX, k, number(x, k, 0)) : k;
	bent = add(x, mul(x, eta, d), pctl_wgsl_op1(x, PCTL_OP_FSQRT, bent));
	bent = sub(x, mul(x, pctl_wgsl_splat(x, v.t, eta), v),
		   mul(x, pctl_wgsl_splat(x, n.t, bent), n));
	k = pctl_wgsl_test(x, PCTL_OP_FLT, k, number(x, k, 0));
	return pctl_wgsl_select(x, k, number(x, v, 0), bent);
}

static struct val face_forward(struct compose *x, const struct val *args)
{
	struct val d = pctl_wgsl_float_dot(x, args[1], args[2]);

	return pctl_wgsl_select(x, pctl_wgsl_test(x, PCTL_OP_FLT, d, number(x, d, 0)), args[0],
				pctl_wgsl_op1(x, PCTL_OP_FNEG, args[0]));
}

static struct val determinant3(struct compose *x, struct val a, struct val b, struct val d)
{
	return pctl_wgsl_float_dot(x, a, cross(x, b, d));
}

/* The column without its first component. */
static struct val lower3(struct compose *x, struct val m, uint32_t column)
{
	const struct val v = pctl_wgsl_component(x, m, column);
	const struct val parts[3] = {pctl_wgsl_component(x, v, 1), pctl_wgsl_component(x, v, 2),
				     pctl_wgsl_component(x, v, 3)};

	return pctl_wgsl_construct(x, pctl_wgsl_vector(x->c, v.t->scalar, 3), parts, 3);
}

static struct val determinant(struct compose *x, struct val m)
{
	struct val column[4], term, sum = {.t = NULL};
	uint32_t i, n = m.t->columns;

	for (i = 0; i < n; i++)
		column[i] = pctl_wgsl_component(x, m, i);
	if (n == 2)
		return sub(x,
			   mul(x, pctl_wgsl_component(x, column[0], 0),
			       pctl_wgsl_component(x, column[1], 1)),
			   mul(x, pctl_wgsl_component(x, column[1], 0),
			       pctl_wgsl_component(x, column[0], 1)));
	if (n == 3)
		return determinant3(x, column[0], column[1], column[2]);
	for (i = 0; i < 4; i++) {
		term = determinant3(x, lower3(x, m, i < 1 ? 1 : 0), lower3(x, m, i < 2 ? 2 : 1),
				    lower3(x, m, i < 3 ? 3 : 2));
		term = mul(x, pctl_wgsl_component(x, column[i], 0), term);
		sum = !i ? term : i & 1 ? sub(x, sum, term) : add(x, sum, term);
	}
	return sum;
}

/* ---- exponents: through f32, where f16 and bf16 are exact ---- */

static const struct type *like(struct compose *x, const struct type *t, uint32_t scalar)
{
	return pctl_wgsl_with_scalar(x->c, t, scalar);
}

static struct val int_op(struct compose *x, uint16_t op, struct val a, uint64_t b)
{
	const uint32_t amount =
		op == PCTL_OP_SHL || op == PCTL_OP_SHR ? PCTL_SCALAR_U32 : a.t->scalar;

	return pctl_wgsl_op2(x, op, a, pctl_wgsl_int(x, like(x, a.t, amount), b));
}

static struct val int_test(struct compose *x, uint16_t op, struct val a, uint64_t b)
{
	return pctl_wgsl_test(x, op, a, pctl_wgsl_int(x, a.t, b));
}

/* The power of two that one step may take without rounding what later steps round again. */
static struct val one_step(struct compose *x, struct val e)
{
	struct val up = int_op(x, PCTL_OP_MIN, e, 127);

	return pctl_wgsl_select(x, int_test(x, PCTL_OP_LT, e, (uint64_t)-126),
				pctl_wgsl_int(x, e.t, (uint64_t)-102), up);
}

static struct val power_of_two(struct compose *x, struct val e)
{
	struct val bits = int_op(x, PCTL_OP_SHL, int_op(x, PCTL_OP_ADD, e, 127), 23);

	return pctl_wgsl_convert(x, PCTL_OP_BITCAST, like(x, e.t, PCTL_SCALAR_F32), bits);
}

/* x * 2^e in three steps of which at most the last one rounds: a step down by 102 that meets
 * subnormals leaves so much to go that the result is zero however it rounded. */
static struct val ldexp_of(struct compose *x, struct val v, struct val e)
{
	struct val y, s;
	uint32_t i;

	if (v.t->scalar == SCALAR_ABSTRACT_FLOAT)
		return pctl_wgsl_scale(x, v, e);
	y = pctl_wgsl_convert(x, PCTL_OP_FCONVERT, like(x, v.t, PCTL_SCALAR_F32), v);
	/* More than any format can use, and few enough steps. */
	e = int_op(x, PCTL_OP_MAX, int_op(x, PCTL_OP_MIN, e, 381), (uint64_t)-330);
	for (i = 0; i < 2; i++) {
		s = one_step(x, e);
		y = mul(x, y, power_of_two(x, s));
		e = pctl_wgsl_op2(x, PCTL_OP_SUB, e, s);
	}
	y = mul(x, y, power_of_two(x, e));
	return pctl_wgsl_convert(x, PCTL_OP_FCONVERT, v.t, y);
}

static struct val frexp_of(struct compose *x, const struct type *t, struct val v)
{
	const struct type *f32 = like(x, v.t, PCTL_SCALAR_F32),
			  *i32 = like(x, v.t, PCTL_SCALAR_I32);
	struct val y = pctl_wgsl_convert(x, PCTL_OP_FCONVERT, f32, v), small, bits, e, plain,
		   parts[2];

	small = pctl_wgsl_test(x, PCTL_OP_FLT, pctl_wgsl_op1(x, PCTL_OP_FABS, y),
			       pctl_wgsl_float(x, f32, 0x1p-126));
	y = pctl_wgsl_select(x, small, mul(x, y, pctl_wgsl_float(x, f32, 0x1p24)), y);
	bits = pctl_wgsl_convert(x, PCTL_OP_BITCAST, i32, y);
	e = int_op(x, PCTL_OP_AND, int_op(x, PCTL_OP_SHR, bits, 23), 255);
	/* neither zero nor infinite nor NaN */
	plain = int_test(x, PCTL_OP_LT, e, 255);
	plain = pctl_wgsl_op2(x, PCTL_OP_AND, plain, int_test(x, PCTL_OP_GT, e, 0));
	e = pctl_wgsl_op2(
		x, PCTL_OP_SUB, e,
		pctl_wgsl_select(x, small, pctl_wgsl_int(x, i32, 150), pctl_wgsl_int(x, i32, 126)));
	bits = int_op(x, PCTL_OP_AND, bits, (uint64_t)(int64_t)(int32_t)0x807fffff);
	bits = int_op(x, PCTL_OP_OR, bits, 0x3f000000);
	y = pctl_wgsl_convert(x, PCTL_OP_BITCAST, f32, bits);
	y = pctl_wgsl_convert(x, PCTL_OP_FCONVERT, v.t, y);
	parts[0] = pctl_wgsl_select(x, plain, y, v);
	parts[1] = pctl_wgsl_select(x, plain, e, pctl_wgsl_int(x, i32, 0));
	return pctl_wgsl_construct(x, t, parts, 2);
}

static struct val modf_of(struct compose *x, const struct type *t, struct val v)
{
	struct val parts[2];

	parts[1] = pctl_wgsl_op1(x, PCTL_OP_FTRUNC, v);
	parts[0] = sub(x, v, parts[1]);
	return pctl_wgsl_construct(x, t, parts, 2);
}

/* ---- packing ---- */

/* first, first + by, .. in a vector of u32 */
static struct val shifts(struct compose *x, const struct type *t, uint32_t first, int32_t by)
{
	struct val parts[4];
	uint32_t i;

	for (i = 0; i < t->width; i++)
		parts[i] = pctl_wgsl_int(x, t->elem, (uint32_t)((int32_t)first + by * (int32_t)i));
	return pctl_wgsl_construct(x, t, parts, t->width);
}

/* The bits of halves as u32, and back, where there are no words of 16 bits: `spec` knows values of 32 and 64 bits.
 * v is f32 that halves hold. */
static struct val half_bits(struct compose *x, struct val v, const struct type *ints)
{
	const struct val bits = pctl_wgsl_convert(x, PCTL_OP_BITCAST, ints, v);
	const struct val size = int_op(x, PCTL_OP_AND, bits, 0x7fffffff);
	struct val sign = int_op(x, PCTL_OP_AND, int_op(x, PCTL_OP_SHR, bits, 16), 0x8000), out,
		   small;

	out = int_op(x, PCTL_OP_SHR, int_op(x, PCTL_OP_SUB, size, 0x38000000), 13);
	small = mul(x, pctl_wgsl_op1(x, PCTL_OP_FABS, v), number(x, v, 0x1p24));
	small = pctl_wgsl_convert(x, PCTL_OP_FCONVERT, ints, small);
	out = pctl_wgsl_select(
		x, pctl_wgsl_test(x, PCTL_OP_LT, size, pctl_wgsl_int(x, ints, 0x38800000)), small,
		out);
	/* Infinities keep their bits too; a NaN is refused with the override that made it. */
	out = pctl_wgsl_select(
		x, pctl_wgsl_test(x, PCTL_OP_GE, size, pctl_wgsl_int(x, ints, 0x7f800000)),
		pctl_wgsl_int(x, ints, 0x7c00), out);
	return pctl_wgsl_op2(x, PCTL_OP_OR, sign, out);
}

static struct val of_half_bits(struct compose *x, struct val bits, const struct type *floats)
{
	const struct type *ints = bits.t;
	const struct val size = int_op(x, PCTL_OP_AND, bits, 0x7fff);
	struct val sign = int_op(x, PCTL_OP_SHL, int_op(x, PCTL_OP_AND, bits, 0x8000), 16), out,
		   small;

	out = int_op(x, PCTL_OP_ADD, int_op(x, PCTL_OP_SHL, size, 13), 0x38000000);
	small = pctl_wgsl_convert(x, PCTL_OP_FCONVERT, floats, size);
	small = pctl_wgsl_convert(x, PCTL_OP_BITCAST, ints,
				  mul(x, small, number(x, small, 0x1p-24)));
	out = pctl_wgsl_select(
		x, pctl_wgsl_test(x, PCTL_OP_LT, size, pctl_wgsl_int(x, ints, 0x400)), small, out);
	out = pctl_wgsl_select(x,
			       pctl_wgsl_test(x, PCTL_OP_GE, size, pctl_wgsl_int(x, ints, 0x7c00)),
			       pctl_wgsl_int(x, ints, 0x7f800000), out);
	return pctl_wgsl_convert(x, PCTL_OP_BITCAST, floats,
				 pctl_wgsl_op2(x, PCTL_OP_OR, sign, out));
}

static struct val pack_half(struct compose *x, const struct type *u32, struct val v)
{
	const struct type *half = like(x, v.t, PCTL_SCALAR_F16);
	uint64_t *out = pctl_wgsl_alloc(x->c, sizeof(*out));

	if (x->way == COMPOSE_SPEC) {
		const struct type *ints = like(x, v.t, PCTL_SCALAR_U32);

		v = half_bits(x, quantize(x, v), ints);
		v = pctl_wgsl_op2(x, PCTL_OP_SHL, v, shifts(x, ints, 0, 16));
		return pctl_wgsl_op2(x, PCTL_OP_OR, pctl_wgsl_component(x, v, 0),
				     pctl_wgsl_component(x, v, 1));
	}
	v = pctl_wgsl_convert(x, PCTL_OP_FCONVERT, half, v);
	if (x->way != COMPOSE_CONST)
		return pctl_wgsl_op(x, PCTL_OP_BITCAST, u32, &v, 1);
	pctl_wgsl_recast(half, v.leaf, u32, out);
	return (struct val){.t = u32, .leaf = out};
}

static struct val pack(struct compose *x, uint32_t flags, const struct type *u32, struct val v)
{
	const struct type *ints = like(x, v.t, PCTL_SCALAR_U32);
	const uint32_t bits = flags & FLOAT_8 ? 8 : 16, is_signed = flags & FLOAT_SIGNED;
	const uint32_t most = (1u << (bits - is_signed)) - 1;
	struct val out;
	uint32_t i;

	if (flags & FLOAT_HALF)
		return pack_half(x, u32, v);
	v = pctl_wgsl_op2(x, PCTL_OP_FMAX, number(x, v, is_signed ? -1 : 0), v);
	v = pctl_wgsl_op2(x, PCTL_OP_FMIN, number(x, v, 1), v);
	v = add(x, number(x, v, 0.5), mul(x, number(x, v, most), v));
	v = pctl_wgsl_op1(x, PCTL_OP_FFLOOR, v);
	if (is_signed) {
		v = pctl_wgsl_convert(x, PCTL_OP_FCONVERT, like(x, v.t, PCTL_SCALAR_I32), v);
		v = pctl_wgsl_convert(x, PCTL_OP_BITCAST, ints, v);
		v = int_op(x, PCTL_OP_AND, v, (1u << bits) - 1);
	} else {
		v = pctl_wgsl_convert(x, PCTL_OP_FCONVERT, ints, v);
	}
	v = pctl_wgsl_op2(x, PCTL_OP_SHL, v, shifts(x, ints, 0, (int32_t)bits));
	out = pctl_wgsl_component(x, v, 0);
	for (i = 1; i < ints->width; i++)
		out = pctl_wgsl_op2(x, PCTL_OP_OR, out, pctl_wgsl_component(x, v, i));
	return out;
}

static struct val unpack(struct compose *x, uint32_t flags, const struct type *t, struct val v)
{
	const struct type *ints = like(x, t, PCTL_SCALAR_U32);
	const struct type *half = like(x, t, PCTL_SCALAR_F16);
	const uint32_t bits = flags & FLOAT_8 ? 8 : 16, is_signed = flags & FLOAT_SIGNED;
	const uint32_t most = (1u << (bits - is_signed)) - 1;
	uint64_t *out = pctl_wgsl_alloc(x->c, 2 * sizeof(*out));

	if (flags & FLOAT_HALF && x->way == COMPOSE_SPEC) {
		v = pctl_wgsl_op2(x, PCTL_OP_SHR, pctl_wgsl_splat(x, ints, v),
				  shifts(x, ints, 0, 16));
		return of_half_bits(x, v, t);
	}
	if (flags & FLOAT_HALF) {
		if (x->way == COMPOSE_CONST) {
			pctl_wgsl_recast(v.t, v.leaf, half, out);
			v = (struct val){.t = half, .leaf = out};
		} else {
			v = pctl_wgsl_op(x, PCTL_OP_BITCAST, half, &v, 1);
		}
		return pctl_wgsl_convert(x, PCTL_OP_FCONVERT, t, v);
	}
	v = pctl_wgsl_splat(x, ints, v);
	if (is_signed) {
		v = pctl_wgsl_op2(x, PCTL_OP_SHL, v, shifts(x, ints, 32 - bits, -(int32_t)bits));
		v = pctl_wgsl_convert(x, PCTL_OP_BITCAST, like(x, t, PCTL_SCALAR_I32), v);
		v = int_op(x, PCTL_OP_SHR, v, 32 - bits);
	} else {
		v = pctl_wgsl_op2(x, PCTL_OP_SHR, v, shifts(x, ints, 0, (int32_t)bits));
		v = int_op(x, PCTL_OP_AND, v, (1u << bits) - 1);
	}
	v = pctl_wgsl_convert(x, PCTL_OP_FCONVERT, t, v);
	v = divide(x, v, number(x, v, most));
	return is_signed ? pctl_wgsl_op2(x, PCTL_OP_FMAX, v, number(x, v, -1)) : v;
}

/* ---- all of them ---- */

static struct val composed(struct compose *x, uint32_t id, const struct val *a)
{
	switch (id) {
	case FC_CLAMP:
		return clamp(x, a[0], a[1], a[2]);
	case FC_SIGN:
		return sign(x, a[0]);
	case FC_INVERSE_SQRT:
		return divide(x, number(x, a[0], 1), pctl_wgsl_op1(x, PCTL_OP_FSQRT, a[0]));
	case FC_FRACT:
		return sub(x, a[0], pctl_wgsl_op1(x, PCTL_OP_FFLOOR, a[0]));
	case FC_SATURATE:
		return clamp(x, a[0], number(x, a[0], 0), number(x, a[0], 1));
	case FC_MIX:
		return mix(x, a[0], a[1], a[2]);
	case FC_STEP:
		return step(x, a[0], a[1]);
	case FC_SMOOTHSTEP:
		return smoothstep(x, a[0], a[1], a[2]);
	case FC_DEGREES:
		return mul(x, a[0], number(x, a[0], 0x1.ca5dc1a63c1f8p+5));
	case FC_RADIANS:
		return mul(x, a[0], number(x, a[0], 0x1.1df46a2529d39p-6));
	case FC_QUANTIZE:
		return quantize(x, a[0]);
	case FC_LENGTH:
		return length(x, a[0]);
	case FC_DISTANCE:
		return length(x, sub(x, a[0], a[1]));
	case FC_NORMALIZE:
		return divide(x, a[0], pctl_wgsl_splat(x, a[0].t, length(x, a[0])));
	case FC_CROSS:
		return cross(x, a[0], a[1]);
	case FC_REFLECT:
		return reflect(x, a[0], a[1]);
	case FC_REFRACT:
		return refract(x, a[0], a[1], a[2]);
	case FC_FACE_FORWARD:
		return face_forward(x, a);
	default:
		return determinant(x, a[0]);
	}
}

/* The float twin of a function that integers have too. */
static uint32_t float_of(uint32_t opcode)
{
	switch (opcode) {
	case PCTL_OP_ABS:
		return PCTL_OP_FABS;
	case PCTL_OP_MIN:
		return PCTL_OP_FMIN;
	case PCTL_OP_MAX:
		return PCTL_OP_FMAX;
	case PCTL_OP_CLAMP:
		return FC_CLAMP;
	case PCTL_OP_SIGN:
		return FC_SIGN;
	default:
		return opcode;
	}
}

struct val pctl_wgsl_float_call(struct compose *x, const struct builtin *b, const struct type *t,
				const struct val *args)
{
	uint32_t id = float_of(b->arg);

	switch (b->kind) {
	case BUILTIN_DOT:
		return pctl_wgsl_float_dot(x, args[0], args[1]);
	case BUILTIN_LDEXP:
		return ldexp_of(x, args[0], args[1]);
	case BUILTIN_SPLIT:
		return b->arg ? frexp_of(x, t, args[0]) : modf_of(x, t, args[0]);
	case BUILTIN_PACK_FLOAT:
		return pack(x, b->arg, t, args[0]);
	case BUILTIN_UNPACK_FLOAT:
		return unpack(x, b->arg, t, args[0]);
	default:
		return id >= FC_CLAMP ? composed(x, id, args)
				      : pctl_wgsl_op(x, (uint16_t)id, t, args, b->n_args);
	}
}
