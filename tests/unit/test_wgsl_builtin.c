/* What float operators and builtins become: the lowered instructions are carried out here with the
 * machine's own arithmetic and compared with each function as WGSL words it, written in C. The front
 * end's constant evaluation has no part in it. */
#include <math.h>
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "main.h"
#include "compiler/wgsl/wgsl.h"

#define NAN_BITS 0x7fc00000u

static uint32_t bits_of(float x)
{
	uint32_t u;

	memcpy(&u, &x, sizeof(u));
	return x != x ? NAN_BITS : u;
}

static float float_of(uint32_t u)
{
	float x;

	memcpy(&x, &u, sizeof(x));
	return x;
}

static pctl_program *compile(const char *text, uint32_t flags)
{
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_wgsl_options o = {.file = "test.wgsl", .flags = flags};
	pctl_program *p;
	pctl_status status = pctl_wgsl_compile(text, strlen(text), &o, pctl_diag_list_call(l), &p);

	if (status != PCTL_OK) {
		pctl_diag_list_source(l, "test.wgsl", text, strlen(text));
		pctl_diag_render_text(l, stderr, 0);
	}
	assert_int_equal(status, PCTL_OK);
	pctl_diag_list_destroy(l);
	return p;
}

/* ---- halves, by trying their neighbours ---- */

static double half_value(uint32_t h)
{
	uint32_t e = h >> 10 & 31, m = h & 1023;
	double v = e == 31 ? (m ? (double)NAN : (double)INFINITY)
		   : e	   ? ldexp(1024 + m, (int)e - 25)
			   : ldexp(m, -24);

	return h & 0x8000 ? -v : v;
}

static uint32_t half_of(double x)
{
	uint32_t sign = signbit(x) ? 0x8000 : 0, best = 0, h;
	double a = fabs(x);

	if (x != x)
		return 0x7e00;
	if (a >= 65520)
		return sign | 0x7c00;
	for (h = 0; h < 0x7c00; h++) {
		double now = fabs(half_value(h) - a), was = fabs(half_value(best) - a);

		if (now < was || (now == was && !(h & 1)))
			best = h;
	}
	return sign | best;
}

/* ---- carrying out straight code: up to four words a value ---- */

struct value {
	uint32_t w[16];
};

static uint32_t to_int(float x, int is_signed)
{
	double v = trunc((double)x);

	if (x != x)
		return 0;
	if (is_signed)
		return (uint32_t)(int32_t)(v < -2147483648.0  ? -2147483648.0
					   : v > 2147483647.0 ? 2147483647.0
							      : v);
	return v < 0 ? 0 : v > 4294967295.0 ? UINT32_MAX : (uint32_t)v;
}

static uint32_t convert(uint8_t from, uint8_t to, uint32_t x)
{
	double v;

	if (to == PCTL_SCALAR_I32 || to == PCTL_SCALAR_U32)
		return to_int(float_of(x), to == PCTL_SCALAR_I32);
	v = from == PCTL_SCALAR_I32   ? (double)(int32_t)x
	    : from == PCTL_SCALAR_U32 ? (double)x
	    : from == PCTL_SCALAR_F16 ? half_value(x)
				      : (double)float_of(x);
	return to == PCTL_SCALAR_F16 ? half_of(v) : bits_of((float)v);
}

static float less_of(float a, float b)
{
	if (a != a || b != b)
		return a != a ? b : a;
	return a < b || (a == b && signbit(a)) ? a : b;
}

static uint32_t scalar_op(uint16_t op, uint32_t a, uint32_t b, uint32_t d)
{
	float x = float_of(a), y = float_of(b), z = float_of(d);

	switch (op) {
	case PCTL_OP_FADD:
		return bits_of(x + y);
	case PCTL_OP_FSUB:
		return bits_of(x - y);
	case PCTL_OP_FMUL:
		return bits_of(x * y);
	case PCTL_OP_FDIV:
		return bits_of(x / y);
	case PCTL_OP_FFMA:
		return bits_of(fmaf(x, y, z));
	case PCTL_OP_FSQRT:
		return bits_of(sqrtf(x));
	case PCTL_OP_FNEG:
		return a ^ 0x80000000u;
	case PCTL_OP_FABS:
		return a & 0x7fffffffu;
	case PCTL_OP_FMIN:
		return bits_of(less_of(x, y));
	case PCTL_OP_FMAX:
		return bits_of(-less_of(-x, -y));
	case PCTL_OP_FFLOOR:
		return bits_of(floorf(x));
	case PCTL_OP_FCEIL:
		return bits_of(ceilf(x));
	case PCTL_OP_FTRUNC:
		return bits_of(truncf(x));
	case PCTL_OP_FROUND:
		return bits_of(nearbyintf(x));
	case PCTL_OP_FEQ:
		return x == y;
	case PCTL_OP_FNE:
		return x != y;
	case PCTL_OP_FLT:
		return x < y;
	case PCTL_OP_FLE:
		return x <= y;
	case PCTL_OP_FGT:
		return x > y;
	case PCTL_OP_FGE:
		return x >= y;
	case PCTL_OP_SELECT:
		return a ? b : d;
	case PCTL_OP_ADD:
		return a + b;
	case PCTL_OP_SUB:
		return a - b;
	case PCTL_OP_AND:
		return a & b;
	case PCTL_OP_OR:
		return a | b;
	case PCTL_OP_SHL:
		return a << (b & 31);
	case PCTL_OP_MIN:
		return (int32_t)a < (int32_t)b ? a : b;
	case PCTL_OP_MAX:
		return (int32_t)a > (int32_t)b ? a : b;
	case PCTL_OP_LT:
		return (int32_t)a < (int32_t)b;
	case PCTL_OP_GT:
		return (int32_t)a > (int32_t)b;
	default:
		fail_msg("opcode %s is not known here", pctl_op_get(op)->name);
		return 0;
	}
}

static uint32_t words_of(const pctl_type *t)
{
	return t->kind == PCTL_TYPE_MATRIX   ? (uint32_t)t->width * t->columns
	       : t->kind == PCTL_TYPE_STRUCT ? 2
	       : t->kind == PCTL_TYPE_SCALAR ? 1
					     : t->width;
}

static void bitcast(const pctl_type *from, const pctl_type *to, const uint32_t *in, uint32_t *out)
{
	if (from->scalar == PCTL_SCALAR_F16) {
		*out = in[0] | in[1] << 16;
	} else if (to->scalar == PCTL_SCALAR_F16) {
		out[0] = *in & 0xffff;
		out[1] = *in >> 16;
	} else {
		memcpy(out, in, 4 * words_of(from));
	}
}

/* One instruction; all kinds that functions without memory are made of. */
static void carry_out(const pctl_program *p, const pctl_function *f, const pctl_inst *in,
		      struct value *v, const uint32_t *args, uint32_t at)
{
	const pctl_type *t = &p->types[in->type], *from;
	const uint32_t n = words_of(t);
	struct value *out = &v[at], *a[3] = {out, out, out};
	uint32_t i, k, m = 0, last = in->n_args < 3 ? in->n_args : 3;

	for (i = 0; i < last && in->op != PCTL_OP_PARAM && in->op != PCTL_OP_CONST; i++)
		if (!(in->op == PCTL_OP_EXTRACT && i) && in->op != PCTL_OP_COMPOSE)
			a[i] = &v[pctl_arg(p, in, i)];
	from = in->n_args && a[0] != out ? &p->types[pctl_value_type(p, f, pctl_arg(p, in, 0))] : t;
	switch (in->op) {
	case PCTL_OP_PARAM:
		out->w[0] = args[pctl_arg(p, in, 0)];
		break;
	case PCTL_OP_CONST:
		out->w[0] = pctl_arg(p, in, 0);
		break;
	case PCTL_OP_ZERO:
		break;
	case PCTL_OP_SPLAT:
		for (i = 0; i < n; i++)
			out->w[i] = a[0]->w[0];
		break;
	case PCTL_OP_COMPOSE:
		for (i = 0; i < in->n_args; i++) {
			const uint32_t part = pctl_arg(p, in, i);
			const uint32_t wide = words_of(&p->types[pctl_value_type(p, f, part)]);

			for (k = 0; k < wide; k++)
				out->w[m++] = v[part].w[k];
		}
		break;
	case PCTL_OP_EXTRACT:
		for (i = 0; i < n; i++)
			out->w[i] = a[0]->w[pctl_arg(p, in, 1) * n + i];
		break;
	case PCTL_OP_BITCAST:
		bitcast(from, t, a[0]->w, out->w);
		break;
	case PCTL_OP_FCONVERT:
		for (i = 0; i < n; i++)
			out->w[i] = convert(from->scalar, t->scalar, a[0]->w[i]);
		break;
	case PCTL_OP_SHR:
		for (i = 0; i < n; i++)
			out->w[i] = t->scalar == PCTL_SCALAR_I32
					    ? (uint32_t)((int32_t)a[0]->w[i] >> a[1]->w[i])
					    : a[0]->w[i] >> a[1]->w[i];
		break;
	default:
		for (i = 0; i < n; i++)
			out->w[i] = scalar_op(in->op, a[0]->w[words_of(from) == 1 ? 0 : i],
					      a[1]->w[i], a[2]->w[i]);
	}
}

/* The word that function 1 of the program returns. */
static uint32_t run(const pctl_program *p, const uint32_t *args)
{
	const pctl_function *f = &p->functions[1];
	struct value *v = calloc(f->n_insts, sizeof(*v));
	uint32_t i, out = 0;

	assert_non_null(v);
	for (i = 0; i < f->n_insts; i++) {
		const pctl_inst *in = &p->insts[f->first_inst + i];

		if (in->op == PCTL_OP_RETURN)
			out = v[pctl_arg(p, in, 0)].w[0];
		else
			carry_out(p, f, in, v, args, i);
	}
	free(v);
	return out;
}

/* ---- the functions, as the table words them ---- */

#define DEFINE(name, ...)                               \
	static uint32_t name(float x, float y, float z) \
	{                                               \
		(void)x;                                \
		(void)y;                                \
		(void)z;                                \
		__VA_ARGS__                             \
	}
#define GIVES(name, e) DEFINE(name, return bits_of(e);)

static float dot2(float a, float b, float c, float d)
{
	return a * c + b * d;
}

static float dot3(const float *a, const float *b)
{
	float s = a[0] * b[0];

	s = s + a[1] * b[1];
	return s + a[2] * b[2];
}

static float det3(const float *a, const float *b, const float *c)
{
	const float n[3] = {b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2],
			    b[0] * c[1] - b[1] * c[0]};

	return dot3(a, n);
}

static float low(float a, float b)
{
	return less_of(a, b);
}

static float high(float a, float b)
{
	return -less_of(-a, -b);
}

static float norm_pack(float x, float least, float most)
{
	return floorf(0.5f + most * low(1, high(least, x)));
}

GIVES(mod_, x - y * truncf(x / y))
GIVES(clamp_, low(high(x, y), z))
DEFINE(sign_, return bits_of(x > 0 ? 1.0f : x < 0 ? -1.0f : 0.0f);)
GIVES(inverse_sqrt_, 1 / sqrtf(x))
GIVES(fract_, x - floorf(x))
GIVES(saturate_, low(high(x, 0), 1))
GIVES(mix_, x *(1 - z) + y * z)
GIVES(step_, x <= y ? 1 : 0)
GIVES(degrees_, x * 57.29577951308232f)
GIVES(radians_, x * 0.017453292519943295f)
GIVES(dot_, dot2(x, y, y, z))
GIVES(length_, sqrtf(dot2(x, y, x, y)))
GIVES(distance_, fabsf(x - y))
GIVES(normalize_, x / sqrtf(dot2(x, y, x, y)))
GIVES(quantize_, (float)half_value(half_of((double)x)))
GIVES(ldexp_up_, ldexpf(x, 100))
GIVES(ldexp_down_, ldexpf(x, -100))
GIVES(ldexp_far_, ldexpf(x, -140))
GIVES(ldexp_farther_, ldexpf(x, -270))
GIVES(ldexp_most_, ldexpf(x, 2000000000))
GIVES(ldexp_any_, ldexpf(x, (int)to_int(y, 1)))
DEFINE(smoothstep_, {
	float t = low(high((z - x) / (y - x), 0), 1);
	float square = t * t;

	return bits_of(square * (3 - 2 * t));
})
DEFINE(cross_, {
	float l = y * x;

	return bits_of(l - z * z);
})
DEFINE(reflect_, {
	float d = dot2(y, z, x, y);

	d = 2 * d;
	return bits_of(x - d * y);
})
DEFINE(refract_, {
	float d = dot2(0.25f, 0.5f, x, y), square = d * d, eta = z * z, k, e = z * d;

	k = eta * (1 - square);
	k = 1 - k;
	if (k < 0)
		return 0;
	e = e + sqrtf(k);
	d = z * x;
	return bits_of(d - e * 0.25f);
})
DEFINE(face_forward_, return dot2(x, y, y, z) < 0     ? bits_of(x)
			     : bits_of(x) == NAN_BITS ? 0x7fc00000u ^ 0x80000000u
						      : bits_of(-x);)
GIVES(determinant2_, x *z - y * y)
DEFINE(determinant3_, {
	const float a[3] = {x, y, 3}, b[3] = {4, z, 6}, c[3] = {7, 8, x};

	return bits_of(det3(a, b, c));
})
DEFINE(determinant4_, {
	const float m[4][4] = {{x, y, z, 4}, {5, x, 7, y}, {9, z, 11, x}, {y, 14, z, 16}};
	float s = m[0][0] * det3(m[1] + 1, m[2] + 1, m[3] + 1);

	s = s - m[1][0] * det3(m[0] + 1, m[2] + 1, m[3] + 1);
	s = s + m[2][0] * det3(m[0] + 1, m[1] + 1, m[3] + 1);
	s = s - m[3][0] * det3(m[0] + 1, m[1] + 1, m[2] + 1);
	return bits_of(s);
})
DEFINE(frexp_fract_, int e; return bits_of(frexpf(x, &e));)
DEFINE(frexp_exp_, {
	int e = 0;

	frexpf(x, &e);
	return isfinite(x) ? (uint32_t)e : 0;
})
GIVES(modf_whole_, truncf(x))
GIVES(modf_fract_, x - truncf(x))
DEFINE(pack_snorm8_, return (to_int(norm_pack(x, -1, 127), 1) & 255) |
			    (to_int(norm_pack(y, -1, 127), 1) & 255) << 8 |
			    (to_int(norm_pack(z, -1, 127), 1) & 255) << 16 | 127u << 24;)
DEFINE(pack_unorm8_, return to_int(norm_pack(x, 0, 255), 0) | to_int(norm_pack(y, 0, 255), 0) << 8 |
			    to_int(norm_pack(z, 0, 255), 0) << 16 | 255u << 24;)
DEFINE(pack_snorm16_, return (to_int(norm_pack(x, -1, 32767), 1) & 65535) |
			     (to_int(norm_pack(y, -1, 32767), 1) & 65535) << 16;)
DEFINE(pack_unorm16_, return to_int(norm_pack(x, 0, 65535), 0) | to_int(norm_pack(y, 0, 65535), 0)
									 << 16;)
DEFINE(pack_half_, return half_of((double)x) | half_of((double)y) << 16;)
GIVES(unpack_snorm8_, high((float)(int8_t)(bits_of(y) >> 8 & 255) / 127, -1))
GIVES(unpack_unorm8_, (float)(bits_of(y) >> 16 & 255) / 255)
GIVES(unpack_snorm16_, high((float)(int16_t)(bits_of(y) >> 16) / 32767, -1))
GIVES(unpack_unorm16_, (float)(bits_of(y) & 65535) / 65535)
GIVES(unpack_half_, (float)half_value(bits_of(y) >> 16))
GIVES(matrix_vector_, (x * y + y * z) + z * x)
GIVES(vector_matrix_, dot2(x, y, z, x))
GIVES(matrices_, dot2(x, z, z, x))
GIVES(of_bool_, x < y ? 1 : 0)
DEFINE(to_bool_, return x != 0;)
DEFINE(to_i32_, return to_int(x, 1);)
DEFINE(to_u32_, return to_int(x, 0);)

static const struct {
	const char *type, *text;
	uint32_t (*is)(float x, float y, float z);
} rows[] = {
	{"f32", "x % y", mod_},
	{"f32", "clamp(x, y, z)", clamp_},
	{"f32", "sign(x)", sign_},
	{"f32", "inverseSqrt(x)", inverse_sqrt_},
	{"f32", "fract(x)", fract_},
	{"f32", "saturate(x)", saturate_},
	{"f32", "mix(x, y, z)", mix_},
	{"f32", "mix(vec2(x, 7), vec2(y, 8), z).x", mix_},
	{"f32", "mix(vec2(7, x), vec2(8, y), vec2(9, z)).y", mix_},
	{"f32", "step(x, y)", step_},
	{"f32", "smoothstep(x, y, z)", smoothstep_},
	{"f32", "degrees(x)", degrees_},
	{"f32", "radians(x)", radians_},
	{"f32", "dot(vec2(x, y), vec2(y, z))", dot_},
	{"f32", "length(vec2(x, y))", length_},
	{"f32", "distance(x, y)", distance_},
	{"f32", "normalize(vec2(x, y)).x", normalize_},
	{"f32", "cross(vec3(1, y, z), vec3(2, z, x)).x", cross_},
	{"f32", "reflect(vec2(x, y), vec2(y, z)).x", reflect_},
	{"f32", "refract(vec2(x, y), vec2(0.25, 0.5), z).x", refract_},
	{"f32", "faceForward(vec2(x, 1), vec2(x, y), vec2(y, z)).x", face_forward_},
	{"f32", "determinant(mat2x2(x, y, y, z))", determinant2_},
	{"f32", "determinant(mat3x3(x, y, 3, 4, z, 6, 7, 8, x))", determinant3_},
	{"f32", "determinant(mat4x4(x, y, z, 4, 5, x, 7, y, 9, z, 11, x, y, 14, z, 16))",
	 determinant4_},
	{"f32", "quantizeToF16(x)", quantize_},
	{"f32", "ldexp(x, 100)", ldexp_up_},
	{"f32", "ldexp(x, -100)", ldexp_down_},
	{"f32", "ldexp(x, -140)", ldexp_far_},
	{"f32", "ldexp(x, -270)", ldexp_farther_},
	{"f32", "ldexp(x, select(2000000000, 2000000001, y > 0))", ldexp_most_},
	{"f32", "ldexp(vec2(0, x), vec2(0, i32(y))).y", ldexp_any_},
	{"f32", "frexp(x).fract", frexp_fract_},
	{"i32", "frexp(vec2(1, x)).exp.y", frexp_exp_},
	{"f32", "modf(x).whole", modf_whole_},
	{"f32", "modf(x).fract", modf_fract_},
	{"u32", "pack4x8snorm(vec4(x, y, z, 1))", pack_snorm8_},
	{"u32", "pack4x8unorm(vec4(x, y, z, 2))", pack_unorm8_},
	{"u32", "pack2x16snorm(vec2(x, y))", pack_snorm16_},
	{"u32", "pack2x16unorm(vec2(x, y))", pack_unorm16_},
	{"u32", "pack2x16float(vec2(x, y))", pack_half_},
	{"f32", "unpack4x8snorm(bitcast<u32>(y)).y", unpack_snorm8_},
	{"f32", "unpack4x8unorm(bitcast<u32>(y)).z", unpack_unorm8_},
	{"f32", "unpack2x16snorm(bitcast<u32>(y)).y", unpack_snorm16_},
	{"f32", "unpack2x16unorm(bitcast<u32>(y)).x", unpack_unorm16_},
	{"f32", "unpack2x16float(bitcast<u32>(y)).y", unpack_half_},
	{"f32", "(mat3x2(x, 0, y, 0, z, 0) * vec3(y, z, x)).x", matrix_vector_},
	{"f32", "(vec2(x, y) * mat3x2(1, 2, z, x, 3, 4)).y", vector_matrix_},
	{"f32", "(mat2x2(x, y, z, x) * mat2x2(y, z, z, x))[1].x", matrices_},
	{"f32", "f32(x < y)", of_bool_},
	{"bool", "bool(x)", to_bool_},
	{"i32", "i32(x)", to_i32_},
	{"u32", "u32(x)", to_u32_},
};

static const uint32_t inputs[] = {
	0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x80800001,
	0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff, 0x40490fdb, 0xc2f6e979, 0x3dcccccd,
	0x3effffff, 0x477fe000, 0x477ff000, 0x33800000, 0x33000000, 0x4b000001, 0x4f000000,
	0xcf000001, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x38ffe000,
	0x5a1b2c3d, 0xa5e4d3c2, 0x0d1b2c3d, 0x3fc00000,
};

static void test_wgsl_builtin__lowered_code_computes_what_the_table_says(void **state)
{
	const uint32_t n = sizeof(inputs) / sizeof(inputs[0]);
	uint32_t i, k, bad = 0;
	char text[512];

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pctl_program *p;

		snprintf(text, sizeof(text),
			 "fn f(x: f32, y: f32, z: f32) -> %s { return %s; }\n"
			 "@compute @workgroup_size(1) fn main() { let r = f(1, 2, 3); }\n",
			 rows[i].type, rows[i].text);
		p = compile(text, 0);
		for (k = 0; k < 3 * n; k++) {
			const uint32_t a[3] = {inputs[k % n], inputs[(k * 7 + k / n + 3) % n],
					       inputs[(k * 5 + k / n + 11) % n]};
			uint32_t want = rows[i].is(float_of(a[0]), float_of(a[1]), float_of(a[2]));
			uint32_t found = run(p, a);

			if (found == want)
				continue;
			if (bad++ < 20)
				fprintf(stderr, "%s of %08x %08x %08x: %08x, not %08x\n",
					rows[i].text, a[0], a[1], a[2], found, want);
		}
		pctl_program_destroy(p);
	}
	assert_int_equal(bad, 0);
}

/* Ties among subnormals show a second rounding only now and then. */
static void test_wgsl_builtin__ldexp_rounds_once(void **state)
{
	pctl_program *p = compile("fn f(x: f32, y: f32) -> f32 { return ldexp(x, i32(y)); }\n"
				  "@compute @workgroup_size(1) fn main() { let r = f(1, 2); }\n",
				  0);
	uint64_t seed = 1;
	uint32_t i, bad = 0;

	(void)state;
	for (i = 0; i < 200000; i++) {
		uint32_t a[2], want;
		int e;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		a[0] = (uint32_t)(seed >> 32);
		if (i & 1) /* few digits: ties */
			a[0] &= 0xfff00000u;
		e = (int)(seed >> 8 & 1023) - 512;
		if (i & 2) /* just where subnormals are */
			e = -(int)(a[0] >> 23 & 255) - (int)(seed >> 8 & 31) + 2;
		a[1] = bits_of((float)e);
		want = bits_of(ldexpf(float_of(a[0]), e));
		if (run(p, a) != want && bits_of(float_of(run(p, a))) != want && bad++ < 5)
			fprintf(stderr, "ldexp(%08x, %d) is not %08x\n", a[0], e, want);
	}
	pctl_program_destroy(p);
	assert_int_equal(bad, 0);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_wgsl_builtin__lowered_code_computes_what_the_table_says),
		PCTL_TEST(test_wgsl_builtin__ldexp_rounds_once))
