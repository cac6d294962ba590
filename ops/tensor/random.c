/* tensor.random_bits, random_uniform, random_normal and dropout (SEMANTICS.md 16.9): Philox4x32 with ten rounds, in which element i has counter
 * `counter` + i, so that no cut of a tensor shows. */
#include <math.h>
#include <mpfr.h>
#include <stdio.h>

#include "common/tensors/elements.h"
#include "common/tensors/exact_reference.h"
#include "kernels.h"

enum { BITS, UNIFORM, NORMAL, DROPOUT };
static const uint32_t bits_op = BITS, uniform_op = UNIFORM, normal_op = NORMAL,
		      dropout_op = DROPOUT;
enum { ATTR_KEY, ATTR_COUNTER, ATTR_STREAM, ATTR_SHAPE, ATTR_OUT };
enum { ATTR_DROP = 3 };

static uint32_t op_of(const kit_use *u)
{
	return *(const uint32_t *)u->op->data;
}

static pctl_status random_of(const kit_use *u, pctl_tensor_type *y)
{
	pctl_status status;

	*y = (pctl_tensor_type){0};
	if (op_of(u) == DROPOUT) {
		*y = u->q->in[0];
		status = tensor_movable(u, 0);
		return status == PCTL_OK && !tensor_is_float(y->dtype)
			       ? kit_refuse_type(u, 0, u->op->desc.in[0].type)
			       : status;
	}
	status = tensor_shape_of(u, ATTR_SHAPE, y);
	return status != PCTL_OK
		       ? status
		       : tensor_dtype_of(u, ATTR_OUT,
					 op_of(u) == BITS ? "u32|u64|u128" : "f32|f16|bf16",
					 &y->dtype);
}

static pctl_status random_infer(const kit_use *u, pctl_op_result *out)
{
	return random_of(u, &out->out[0]);
}

/* ---- the kernel ----------------------------------------------------------------------------- */

static const char *drawn(const kit_use *u, uint32_t dtype)
{
	switch (op_of(u)) {
	case BITS:
		return dtype == PCTL_SCALAR_U32
			       ? "fn product(i: u32) -> T {\n\treturn philox(i).x;\n}\n"
		       : dtype == PCTL_SCALAR_U64
			       ? "fn product(i: u32) -> T {\n\tlet w = philox(i);\n\treturn "
				 "(u64(w.y) << 32u) | "
				 "u64(w.x);\n}\n"
			       : "fn product(i: u32) -> vec4<u32> {\n\treturn philox(i);\n}\n";
	case UNIFORM:
		return dtype == PCTL_SCALAR_F32	  ? "fn drawn(i: u32) -> f32 {\n\treturn "
						    "f32(philox(i).x >> 8u) * 0x1p-24f;\n}\n"
		       : dtype == PCTL_SCALAR_F16 ? "fn drawn(i: u32) -> f32 {\n\treturn "
						    "f32(philox(i).x >> 21u) * 0x1p-11f;\n}\n"
						  : "fn drawn(i: u32) -> f32 {\n\treturn "
						    "f32(philox(i).x >> 24u) * 0x1p-8f;\n}\n";
	case NORMAL:
		return "fn drawn(i: u32) -> f32 {\n\tlet w = philox(i);\n\tlet u = f32((w.x >> 8u) "
		       "+ 1u) * 0x1p-24f;\n"
		       "\tlet v = f32(w.y >> 8u) * 0x1p-24f;\n\tlet r = sqrt(-2.0f * log(u));\n"
		       "\treturn r * cos(bitcast<f32>(0x40c90fdbu) * v);\n}\n";
	default:
		return "fn drawn(i: u32) -> f32 {\n\tlet kept = bitcast<f32>(x_bits(i)) / "
		       "bitcast<f32>(params.v[2].y);\n"
		       "\treturn select(kept, 0.0f, (philox(i).x >> 16u) < params.v[2].x);\n}\n";
	}
}

static void random_plan(kit_plan *p)
{
	const kit_use *u = p->use;
	pctl_tensor_type y;
	tensor_kernel k;
	uint64_t bytes;

	p->status = random_of(u, &y);
	if (p->status != PCTL_OK)
		return;
	bytes = kit_dtype_bytes(y.dtype);
	k = tensor_kernel_begin(p, "tensor/random.wgsl", kit_elements(&y), bytes, 0);
	for (uint32_t a = 0; a < 3; a++) {
		k.params.v[a / 2][a % 2 * 2] = (uint32_t)kit_attr(u, a);
		k.params.v[a / 2][a % 2 * 2 + 1] = (uint32_t)(kit_attr(u, a) >> 32);
	}
	if (op_of(u) == DROPOUT) {
		const float kept = (float)(65536 - kit_attr(u, ATTR_DROP)) / 65536.0f;

		const tensor_store x = tensor_kernel_store(&k, "x", "u32", kit_in(p, 0));

		kit_wgsl_named(&k.w, kit_codec_bits(y.dtype), "x");
		tensor_kernel_stored(&k, &x);
		k.params.v[2][0] = (uint32_t)kit_attr(u, ATTR_DROP);
		memcpy(&k.params.v[2][1], &kept, 4);
	}
	kit_wgsl_add(&k.w, KERNEL_PHILOX);
	kit_wgsl_add(&k.w, drawn(u, y.dtype));
	if (op_of(u) != BITS) {
		kit_wgsl_add(&k.w, "fn product(i: u32) -> T {\n\treturn ");
		kit_wgsl_add(&k.w, y.dtype == PCTL_SCALAR_F32	? "bitcast<u32>(drawn(i));\n}\n"
				   : y.dtype == PCTL_SCALAR_F16 ? "half_of(drawn(i));\n}\n"
								: "upper_of(drawn(i));\n}\n");
		kit_wgsl_add(&k.w, y.dtype == PCTL_SCALAR_F32 ? "" : KERNEL_NARROW);
	}
	tensor_kernel_run(&k, kit_out(p, 0));
}

/* ---- plain C -------------------------------------------------------------------------------- */

static void philox(const kit_use *u, uint64_t i, uint32_t w[4])
{
	const uint64_t counter = kit_attr(u, ATTR_COUNTER) + i, stream = kit_attr(u, ATTR_STREAM);
	uint32_t key[2] = {(uint32_t)kit_attr(u, ATTR_KEY),
			   (uint32_t)(kit_attr(u, ATTR_KEY) >> 32)};

	w[0] = (uint32_t)counter;
	w[1] = (uint32_t)(counter >> 32);
	w[2] = (uint32_t)stream;
	w[3] = (uint32_t)(stream >> 32);
	for (int round = 0; round < 10; round++) {
		const uint64_t a = 0xD2511F53ull * w[0], b = 0xCD9E8D57ull * w[2];
		const uint32_t next[4] = {(uint32_t)(b >> 32) ^ w[1] ^ key[0], (uint32_t)b,
					  (uint32_t)(a >> 32) ^ w[3] ^ key[1], (uint32_t)a};

		memcpy(w, next, sizeof(next));
		key[0] += 0x9E3779B9u;
		key[1] += 0xBB67AE85u;
	}
}

/* Correctly rounded to f32 by MPFR, of whose exponents no result here comes near the ends. */
static float rounded(int (*f)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t), float x)
{
	float y;
	mpfr_t m;

	mpfr_init2(m, 24);
	mpfr_set_flt(m, x, MPFR_RNDN);
	f(m, m, MPFR_RNDN);
	y = mpfr_get_flt(m, MPFR_RNDN);
	mpfr_clear(m);
	return y;
}

static float normal_of(const uint32_t w[4])
{
	const uint32_t two_pi = 0x40c90fdbu;
	const float u = (float)((w[0] >> 8) + 1) * 0x1p-24f, v = (float)(w[1] >> 8) * 0x1p-24f;
	const float r = sqrtf(-2.0f * rounded(mpfr_log, u));
	float c;

	memcpy(&c, &two_pi, 4);
	return r * rounded(mpfr_cos, c * v);
}

/* An f32 to a type of 16 bits. */
static uint64_t narrowed(uint32_t dtype, float x)
{
	const int half = dtype == PCTL_SCALAR_F16;
	uint32_t bits;

	memcpy(&bits, &x, 4);
	if (!half) {
		const uint32_t rest = bits & 0xffffu, upper = bits >> 16;

		return x != x ? 0x7fc0u
			      : upper + (rest > 0x8000u || (rest == 0x8000u && (upper & 1)));
	}
	if (x != x || isinf(x))
		return x != x ? 0x7e00u : bits >> 31 << 15 | 0x7c00u;
	{
		const uint64_t sign = bits >> 31 << 15;
		const double size = fabs((double)x);
		/* The unit in the last place of where it lies: 2^-24 at least. */
		const int exponent = size < 0x1p-14 ? -24 : ilogb(size) - 10;
		const double n = size == 0 ? 0 : nearbyint(ldexp(size, -exponent));
		const uint64_t field = exponent == -24 ? 0 : (uint64_t)(exponent + 24);
		const uint64_t code = (field << 10) + (uint64_t)n;

		return sign | (code > 0x7c00u ? 0x7c00u : code);
	}
}

static pctl_status random_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	pctl_tensor_type y;
	const pctl_status status = random_of(u, &y);

	for (uint64_t i = 0; status == PCTL_OK && i < kit_elements(&y); i++) {
		uint32_t w[4], bits;
		float v = 0;

		philox(u, i, w);
		switch (op_of(u)) {
		case BITS:
			memcpy((char *)out[0].data + i * kit_dtype_bytes(y.dtype), w,
			       kit_dtype_bytes(y.dtype));
			continue;
		case UNIFORM: {
			const uint32_t p = tensor_float_format_of(y.dtype)->precision;

			v = ldexpf((float)(w[0] >> (32 - p)), -(int)p);
			break;
		}
		case NORMAL:
			v = normal_of(w);
			break;
		default:
			memcpy(&bits, &v, 4);
			if (w[0] >> 16 >= kit_attr(u, ATTR_DROP)) {
				const uint64_t raw =
					tensor_get(in[0].data, i, kit_dtype_bytes(y.dtype));
				const float kept =
					(float)(65536 - kit_attr(u, ATTR_DROP)) / 65536.0f;

				v = (float)tensor_value(y.dtype, &raw, 0);
				v /= kept;
			}
			break;
		}
		memcpy(&bits, &v, 4);
		if (v != v)
			bits = 0x7fc00000u;
		tensor_put(out[0].data, i, kit_dtype_bytes(y.dtype),
			   y.dtype == PCTL_SCALAR_F32 ? bits : narrowed(y.dtype, v));
	}
	return status;
}

/* ---- problems and laws ---------------------------------------------------------------------- */

static const char *const numbers[] = {"0", "18446744073709551615", "81985529216486895", "1",
				      "4294967295"};
static const char *const shapes[] = {"7", "0", "3,5", "2,3,4", "257", "1"};
#define PROBLEMS 60u
static const pctl_op_problems random_problems = {
	PCTL_HEAD(pctl_op_problems), "up to 325 elements, counters that overflow", PROBLEMS};

static void random_problem(kit_problem *p)
{
	static const char *const bits_types[] = {"u32", "u64", "u128"};
	static const char *const float_types[] = {"f32", "f16", "bf16"};
	static const char *const drops[] = {"0", "1", "32768", "6554", "65535"};
	const uint32_t what = op_of(&p->use);
	const uint64_t v = p->number;

	tensor_problem_attr(p, ATTR_KEY, numbers[v % 5]);
	tensor_problem_attr(p, ATTR_COUNTER, numbers[v / 2 % 5]);
	tensor_problem_attr(p, ATTR_STREAM, numbers[v / 3 % 5]);
	if (what == DROPOUT) {
		pctl_tensor_type x = tensor_problem_shapes[v % TENSOR_SHAPES];

		x.dtype = p->dtype;
		tensor_problem_attr(p, ATTR_DROP, drops[v / TENSOR_SHAPES % 5]);
		tensor_problem_fill(p, 0, &x, (uint32_t)v % TENSOR_KINDS);
	} else {
		tensor_problem_attr(p, ATTR_SHAPE, shapes[v % 6]);
		tensor_problem_attr(p, ATTR_OUT,
				    what == BITS ? bits_types[v / 6 % 3] : float_types[v / 6 % 3]);
	}
	kit_problem_rigid(p);
}

typedef struct offset {
	uint64_t by;
} offset;

static uint64_t moved(const void *ctx, uint64_t i)
{
	return i + ((const offset *)ctx)->by;
}

/* Two parts, the second with the counter further on. */
static void law_cut(kit_law *l)
{
	const pctl_op_query *q = l->use.q;
	const uint32_t y = kit_law_out(l, 0);
	const uint64_t n = kit_elements(&l->c->types[y]), first = n / 3;
	char counter[24], shape[24];
	pctl_attr attr[5];
	pctl_tensor_type t = kit_vector(l->c->types[y].dtype, n - first);
	const offset by = {first};
	uint32_t in = 0;

	for (uint32_t i = 0; i < q->n_attr; i++)
		attr[i] = q->attr[i];
	snprintf(counter, sizeof(counter), "%llu",
		 (unsigned long long)(kit_attr(&l->use, ATTR_COUNTER) + first));
	snprintf(shape, sizeof(shape), "%llu", (unsigned long long)(n - first));
	attr[ATTR_COUNTER].text = counter;
	attr[ATTR_COUNTER].u64 += first;
	if (op_of(&l->use) == DROPOUT)
		in = tensor_law_taken(l, &t, 0, moved, &by);
	else
		attr[ATTR_SHAPE].text = shape;
	if (t.dtype == PCTL_DTYPE_U128)
		return; /* elements are taken apart by words of 8 bytes at most */
	kit_law_equal(l, kit_law_use(l, l->use.op->desc.name, &in, q->n_in, attr, q->n_attr, 1),
		      tensor_law_taken(l, &t, y, moved, &by));
}

/* ---- the ops -------------------------------------------------------------------------------- */

static const pctl_port bits_out[] = {{"y", "u32|u64|u128[...]", "random bits", 0, 0}};
static const pctl_port float_out[] = {{"y", "f32|f16|bf16[...]", "random numbers", 0, 0}};
static const pctl_port dropout_in[] = {{"x", "f32|f16|bf16[...]", "the elements", 0, 0}};
static const pctl_port dropout_out[] = {
	{"y", "f32|f16|bf16[...]", "elements, of which some are +0", 0, 0}};
#define COUNTER                                                                            \
	{"key", NULL, "of Philox: what makes the numbers others", PCTL_ATTR_U64, 0, 0, 0}, \
		{"counter",                                                                \
		 "0",                                                                      \
		 "of the first element; element i has the i-th after it",                  \
		 PCTL_ATTR_U64,                                                            \
		 0,                                                                        \
		 0,                                                                        \
		 0},                                                                       \
	{                                                                                  \
		"stream", "0", "the upper half of the counter", PCTL_ATTR_U64, 0, 0, 0     \
	}
#define SHAPE                                                                                     \
	{                                                                                         \
		"shape", NULL, "elements of each dimension, between commas", PCTL_ATTR_STRING, 0, \
			0, 0                                                                      \
	}
static const pctl_attr_desc bits_attr[] = {
	COUNTER,
	SHAPE,
	{"out", "u32", "u32, u64, or u128: all four words", PCTL_ATTR_STRING, 0, 0, 0},
};
static const pctl_attr_desc float_attr[] = {
	COUNTER,
	SHAPE,
	{"out", "f32", "f32, f16 or bf16", PCTL_ATTR_STRING, 0, 0, 0},
};
static const pctl_attr_desc dropout_attr[] = {
	COUNTER,
	{"drop", NULL, "of 65536 elements, how many are dropped on average", PCTL_ATTR_U64, 0, 0,
	 65535},
};
static const pctl_law random_laws[] = {TENSOR_LAW(
	"cut", "but of u128: a part made alone, its counter further on, is that part of y")};
static void (*const random_checks[])(kit_law *) = {law_cut};

#define PHILOX                                                                                   \
	"\nw0 to w3 are Philox4x32-10's, of key and of counter + i (two words) and stream (two " \
	"words)."
static const kit_op ops[] = {
	TENSOR_OP(random, 1, "tensor.random_bits", "random bits by Philox",
		  "y[i] is w0 (u32), w0 + 2^32 w1 (u64) or all four words (u128)." PHILOX,
		  PCTL_CLASS_INTEGER, NULL, 0, bits_out, bits_attr, 5, &bits_op),
	TENSOR_OP(random, 1, "tensor.random_uniform", "random numbers from 0 up to 1 by Philox",
		  "y[i] is the upper p bits of w0 times 2^-p, p the precision of the type." PHILOX,
		  PCTL_CLASS_STRICT, NULL, 0, float_out, float_attr, 5, &uniform_op),
	TENSOR_OP(random, 1, "tensor.random_normal",
		  "normally distributed random numbers by Philox",
		  "u = ((w0 >> 8) + 1) * 2^-24, v = (w1 >> 8) * 2^-24, y = sqrt(-2 * log(u)) * "
		  "cos(c * v) in f32, c "
		  "= 0x40c90fdb,\neach step rounded; in f16 and bf16 rounded once more." PHILOX,
		  PCTL_CLASS_STRICT, NULL, 0, float_out, float_attr, 5, &normal_op),
	TENSOR_OP(random, 1, "tensor.dropout",
		  "elements dropped at random by Philox, the rest scaled",
		  "y[i] = +0 where w0 >> 16 is below drop, else x[i] / ((65536 - drop) / 65536), "
		  "rounded in f32, and "
		  "then to x's type." PHILOX,
		  PCTL_CLASS_STRICT, dropout_in, 1, dropout_out, dropout_attr, 4, &dropout_op),
};

const kit_family tensor_random_family = {ops, NULL, KIT_COUNT(ops), 0};
