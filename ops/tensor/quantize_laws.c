/* Laws of tensor.quantize and its kin, as further uses that the device makes and what follows from them, and their problems. */
#include <math.h>
#include <stdio.h>

#include "quantize.h"

/* ---- problems ------------------------------------------------------------------------------- */

static const struct {
	uint32_t rank;
	uint64_t dim[3], scales[3];
} shapes[] = {{1, {33}, {1}},	   {1, {0}, {1}},	{1, {96}, {3}},
	      {2, {4, 6}, {4, 1}}, {2, {4, 6}, {2, 3}}, {3, {2, 3, 8}, {1, 3, 2}},
	      {1, {1}, {1}},	   {1, {257}, {1}}};
enum { TIES, ANY, SPECIAL, KINDS };
#define TYPES 11u
#define PROBLEMS (KIT_COUNT(shapes) * KINDS * TYPES)

const pctl_op_problems quantize_problems = {
	PCTL_HEAD(pctl_op_problems), "tensors of up to 257 elements, a scale and groups", PROBLEMS};
const pctl_op_problems dequantize_problems = {PCTL_HEAD(pctl_op_problems),
					      "tensors of up to 257 elements, a scale and groups",
					      KIT_COUNT(shapes) * KINDS * 3u};
const pctl_op_problems quantize_scale_problems = {
	PCTL_HEAD(pctl_op_problems), "tensors of up to 257 elements, a scale and groups", PROBLEMS};

static float scale_value(uint32_t kind, uint64_t r)
{
	static const float ordinary[] = {1, 0.5f, 3, 0.1f, 0x1.8p-20f, 1e10f};
	static const float special[] = {0,	   -0.0f, 1e-40f,    -2,    INFINITY,
					-INFINITY, NAN,	  0x1p-149f, 3e38f, 0.7f};

	return kind == SPECIAL ? special[r % KIT_COUNT(special)]
			       : ordinary[r % KIT_COUNT(ordinary)];
}

/* An f32 as bits of a float type: near multiples of half a scale, so that roundings meet ties; or anything. */
static uint32_t element(uint32_t dtype, uint32_t kind, float scale, uint64_t r)
{
	static const uint32_t edges[] = {0,	      0x80000000u, 1,		0x7f800000u,
					 0xff800000u, 0x7fc00000u, 0xffc12345u, 0x7f7fffffu};
	float f = (float)((int32_t)(r % 1200) - 600) / 2 * scale;
	uint32_t bits;

	if (kind == TIES && dtype != PCTL_SCALAR_F32)
		f = (float)((int32_t)(r % 128) - 64) / 2;
	memcpy(&bits, &f, 4);
	if (kind != TIES)
		bits = r % 4 == 0 ? edges[r / 4 % KIT_COUNT(edges)] : (uint32_t)(r >> 32);
	if (dtype == PCTL_SCALAR_F32)
		return bits;
	if (dtype == PCTL_SCALAR_BF16)
		return bits >> 16;
	if (kind != TIES || f == 0)
		return bits >> 16;
	return (bits >> 16 & 0x8000u) | ((bits >> 23 & 255) - 112) << 10 | (bits >> 13 & 1023);
}

static void put_scales(kit_problem *p, uint32_t which, uint32_t kind, float *scales)
{
	pctl_tensor_type t = {.dtype = PCTL_SCALAR_F32, .rank = shapes[which].rank};

	memcpy(t.dim, shapes[which].scales, sizeof(shapes[which].scales));
	for (uint64_t i = 0; i < kit_elements(&t); i++)
		scales[i] = scale_value(kind, kit_random(p->seed + p->number, 1000 + i));
	kit_problem_input(p, QUANTIZE_SCALE, &t, scales);
}

/* Of every other problem; some beyond the type's range. */
static void put_zeros(kit_problem *p, uint32_t which, const quantize_type *type)
{
	pctl_tensor_type t = {.dtype = PCTL_SCALAR_I32, .rank = shapes[which].rank};
	int32_t zeros[16] = {0};

	memcpy(t.dim, shapes[which].scales, sizeof(shapes[which].scales));
	for (uint64_t i = 0; i < kit_elements(&t); i++)
		zeros[i] = (int32_t)(kit_random(p->seed + p->number, 2000 + i) % 400) - 200;
	if (type->low == type->high || p->number % 2 == 0)
		t = kit_vector(PCTL_SCALAR_I32, 0);
	kit_problem_input(p, QUANTIZE_ZERO, &t, zeros);
}

/* x, as floats. Where f4 is asked for there is neither NaN nor infinity. */
static void put_floats(kit_problem *p, uint32_t which, uint32_t kind, float scale, int finite)
{
	pctl_tensor_type t = {.dtype = p->dtype, .rank = shapes[which].rank};
	const uint64_t bytes = kit_dtype_bytes(p->dtype);
	uint8_t data[4 * 257] = {0};

	memcpy(t.dim, shapes[which].dim, sizeof(shapes[which].dim));
	for (uint64_t i = 0; i < kit_elements(&t); i++) {
		uint32_t bits = element(p->dtype, kind, scale, kit_random(p->seed + p->number, i));

		if (finite)
			bits &= p->dtype == PCTL_SCALAR_F32 ? 0xbfffffffu : 0xbfffu;
		memcpy(data + i * bytes, &bits, bytes);
	}
	kit_problem_input(p, QUANTIZE_X, &t, data);
}

void quantize_problem(kit_problem *p)
{
	const quantize_type *to = quantize_type_at((uint32_t)(p->number % TYPES));
	const uint32_t kind = (uint32_t)(p->number / TYPES % KINDS);
	const uint32_t which = (uint32_t)(p->number / TYPES / KINDS % KIT_COUNT(shapes));
	float scales[16] = {0};

	if (p->number >= PROBLEMS || (to->dtype == PCTL_DTYPE_F4 && kind == SPECIAL)) {
		kit_problem_none(p);
		return;
	}
	put_scales(p, which, kind, scales);
	put_floats(p, which, kind, scales[0], to->dtype == PCTL_DTYPE_F4);
	put_zeros(p, which, to);
	if (p->status == PCTL_OK)
		p->status = p->sink->attr(p->sink->ctx, QUANTIZE_TO, kit_dtype_name(to->dtype));
	if (p->status == PCTL_OK && which % 2 == 1)
		p->status = p->sink->attr(p->sink->ctx, QUANTIZE_SATURATE, "true");
	kit_problem_rigid(p);
}

void dequantize_problem(kit_problem *p)
{
	static const char *const outs[] = {"f32", "f16", "bf16"};
	const quantize_type *from = quantize_type_of(p->dtype);
	const uint32_t kind = (uint32_t)(p->number / 3 % KINDS);
	const uint32_t which = (uint32_t)(p->number / 3 / KINDS % KIT_COUNT(shapes));
	pctl_tensor_type t = {.dtype = p->dtype, .rank = shapes[which].rank};
	float scales[16] = {0};
	uint8_t data[257] = {0};

	if (p->number >= dequantize_problems.n || from == NULL) {
		kit_problem_none(p);
		return;
	}
	memcpy(t.dim, shapes[which].dim, sizeof(shapes[which].dim));
	for (uint64_t i = 0; i < kit_bytes(&t); i++)
		data[i] = (uint8_t)kit_random(p->seed + p->number, i);
	tensor_mend(p->dtype, data, kit_elements(&t), kit_bytes(&t));
	kit_problem_input(p, QUANTIZE_X, &t, data);
	put_scales(p, which, kind, scales);
	put_zeros(p, which, from);
	if (p->status == PCTL_OK)
		p->status = p->sink->attr(p->sink->ctx, 0, outs[p->number % 3]);
	kit_problem_rigid(p);
}

void quantize_scale_problem(kit_problem *p)
{
	const quantize_type *to = quantize_type_at((uint32_t)(p->number % TYPES));
	const uint32_t kind = (uint32_t)(p->number / TYPES % KINDS);
	const uint32_t which = (uint32_t)(p->number / TYPES / KINDS % KIT_COUNT(shapes));
	char text[32];
	int n = 0;

	if (p->number >= PROBLEMS) {
		kit_problem_none(p);
		return;
	}
	for (uint32_t d = 0; d < shapes[which].rank; d++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, d == 0 ? "%u" : ",%u",
			      (unsigned)shapes[which].scales[d]);
	put_floats(p, which, kind, 0.1f, kind == ANY);
	if (p->status == PCTL_OK)
		p->status =
			p->sink->attr(p->sink->ctx, QUANTIZE_SCALE_TO, kit_dtype_name(to->dtype));
	if (p->status == PCTL_OK && which != 0)
		p->status = p->sink->attr(p->sink->ctx, QUANTIZE_SCALE_SCALES, text);
	kit_problem_rigid(p);
}

/* ---- what laws are made of ------------------------------------------------------------------ */

static uint32_t converted(kit_law *l, uint32_t x)
{
	const pctl_attr attr = {"to", "f32", 0};

	return kit_law_use(l, "tensor.convert", &x, 1, &attr, 1, 1);
}

static uint32_t again(kit_law *l, const char *op, uint32_t x, uint32_t scale, uint32_t zero)
{
	return kit_law_use(l, op, (uint32_t[]){x, scale, zero}, 3,
			   strcmp(op, l->use.op->desc.name) == 0 ? l->use.q->attr : NULL,
			   strcmp(op, l->use.op->desc.name) == 0 ? l->use.q->n_attr : 0, 1);
}

static float float_at(const kit_law *l, uint32_t tensor, uint64_t i)
{
	float f;

	memcpy(&f, kit_law_data(l, tensor) + 4 * i, 4);
	return f;
}

static uint64_t count(const kit_law *l, uint32_t port)
{
	return kit_elements(&l->use.q->in[port]);
}

/* All scales are of a size at which neither they nor their small multiples meet an end of f32. */
static int are_middling(const kit_law *l)
{
	for (uint64_t i = 0; i < count(l, QUANTIZE_SCALE); i++) {
		const float s = fabsf(float_at(l, QUANTIZE_SCALE, i));

		if (!(s >= 0x1p-90f && s <= 0x1p100f))
			return 0;
	}
	return 1;
}

/* The group of element i, and that group's zero point. */
static uint64_t group_of(const pctl_tensor_type *x, const uint64_t *scales, uint64_t i)
{
	uint64_t stride = kit_elements(x), group = 0;

	for (uint32_t d = 0; d < x->rank; d++) {
		stride /= x->dim[d];
		group = group * scales[d] + i / stride % x->dim[d] * scales[d] / x->dim[d];
	}
	return group;
}

static int zero_of(const kit_law *l, const quantize_type *to, uint64_t group)
{
	int32_t z = 0;

	if (quantize_has_zeros(&l->use))
		memcpy(&z, kit_law_data(l, QUANTIZE_ZERO) + 4 * group, 4);
	return z < to->low ? to->low : z > to->high ? to->high : z;
}

/* ---- quantize ------------------------------------------------------------------------------- */

void quantize_law_fixed(kit_law *l)
{
	uint32_t back;

	if (!are_middling(l))
		return;
	back = again(l, "tensor.dequantize", kit_law_out(l, 0), QUANTIZE_SCALE, QUANTIZE_ZERO);
	kit_law_equal(l, again(l, "tensor.quantize", back, QUANTIZE_SCALE, QUANTIZE_ZERO),
		      kit_law_out(l, 0));
}

/* In the first round x and y are made f32 by the device. */
static int as_floats(kit_law *l, uint32_t *x, uint32_t *y)
{
	*x = kit_law_out(l, 0) + 1;
	*y = *x + 1;
	if (l->c->round != 0)
		return 1;
	(void)converted(l, QUANTIZE_X);
	(void)converted(l, kit_law_out(l, 0));
	kit_law_again(l);
	return 0;
}

void quantize_law_monotone(kit_law *l)
{
	const uint64_t n = count(l, QUANTIZE_X);
	uint32_t x, y;

	if (count(l, QUANTIZE_SCALE) != 1 || n < 2 || !are_middling(l) ||
	    !(float_at(l, QUANTIZE_SCALE, 0) > 0) || !as_floats(l, &x, &y))
		return;
	for (uint64_t i = 0; i + 1 < n; i++) {
		const float a = float_at(l, x, i), b = float_at(l, x, i + 1), p = float_at(l, y, i),
			    q = float_at(l, y, i + 1);

		if ((a <= b && p > q) || (a >= b && p < q))
			kit_law_broken(l, "the order of y", i, (uint64_t)(p > q),
				       (uint64_t)(a > b));
	}
	kit_law_holds(l);
}

void quantize_law_half_a_step(kit_law *l)
{
	const quantize_type *to;
	uint32_t x, y;

	if (quantize_to(&l->use, QUANTIZE_TO, &to) != PCTL_OK || to->low == to->high ||
	    count(l, QUANTIZE_X) == 0 || !are_middling(l) || !as_floats(l, &x, &y))
		return;
	for (uint64_t i = 0; i < count(l, QUANTIZE_X); i++) {
		const uint64_t g =
			group_of(&l->use.q->in[QUANTIZE_X], l->use.q->in[QUANTIZE_SCALE].dim, i);
		const long double s = float_at(l, QUANTIZE_SCALE, g), v = float_at(l, x, i);
		const int q = (int)float_at(l, y, i), z = zero_of(l, to, g);

		if (isfinite(v) && q > to->low && q < to->high &&
		    fabsl(v - s * (q - z)) > fabsl(s) / 2)
			kit_law_broken(l, "an element farther than half a scale", i,
				       (uint64_t)(int64_t)q, (uint64_t)(int64_t)z);
	}
	kit_law_holds(l);
}

void quantize_law_reversed(kit_law *l)
{
	const uint32_t x = QUANTIZE_X, ours = kit_law_out(l, 0);
	const pctl_attr axes = {"axes", "0", 0};
	uint32_t turned;

	if (l->use.q->in[QUANTIZE_X].rank != 1 || count(l, QUANTIZE_SCALE) != 1)
		return;
	turned = kit_law_use(l, "tensor.flip", &x, 1, &axes, 1, 1);
	turned = converted(l, again(l, "tensor.quantize", turned, QUANTIZE_SCALE, QUANTIZE_ZERO));
	turned = kit_law_use(l, "tensor.flip", &turned, 1, &axes, 1, 1);
	kit_law_equal(l, turned, converted(l, ours));
}

/* ---- dequantize ----------------------------------------------------------------------------- */

static uint32_t scales_of(kit_law *l, float factor, int of_ones)
{
	const uint64_t n = count(l, QUANTIZE_SCALE);
	float *data = kit_law_scratch(l, 4 * n);
	uint32_t number;

	if (data == NULL)
		return 0;
	for (uint64_t i = 0; i < n; i++)
		data[i] = of_ones ? factor : factor * float_at(l, QUANTIZE_SCALE, i);
	number = kit_law_tensor(l, &l->use.q->in[QUANTIZE_SCALE], data);
	kit_law_free(l, data);
	return number;
}

void dequantize_law_ones(kit_law *l)
{
	const pctl_tensor_type none = kit_vector(PCTL_SCALAR_I32, 0);
	const pctl_attr to = {"to", kit_law_attr(l, "out"), 0};
	const uint32_t x = QUANTIZE_X, scales = scales_of(l, 1, 1);
	const uint32_t zeros = kit_law_tensor(l, &none, "");

	kit_law_equal(l, again(l, "tensor.dequantize", x, scales, zeros),
		      kit_law_use(l, "tensor.convert", &x, 1, &to, 1, 1));
}

void dequantize_law_doubled(kit_law *l)
{
	const pctl_tensor_type *x = &l->use.q->in[QUANTIZE_X];
	const pctl_tensor_type t = {.dtype = PCTL_SCALAR_F32,
				    .rank = x->rank,
				    .dim = {x->dim[0], x->dim[1], x->dim[2]}};
	uint32_t y = kit_law_out(l, 0), twos;
	float *two;

	if (strcmp(kit_law_attr(l, "out"), "f32") != 0 || !are_middling(l) || x->rank > 3)
		return;
	two = kit_law_scratch(l, 4 * kit_elements(&t) + 4);
	for (uint64_t i = 0; two != NULL && i < kit_elements(&t); i++)
		two[i] = 2;
	if (two == NULL)
		return;
	twos = kit_law_tensor(l, &t, two);
	kit_law_free(l, two);
	y = kit_law_use(l, "ieee.mul", (uint32_t[]){y, twos}, 2, NULL, 0, 1);
	kit_law_equal(
		l, again(l, "tensor.dequantize", QUANTIZE_X, scales_of(l, 2, 0), QUANTIZE_ZERO), y);
}

/* ---- quantize_scale ------------------------------------------------------------------------- */

/* The next number below a scale that has 16 bits, or is a multiple of 2^-149. */
static float below(float s)
{
	uint32_t bits, step = 256;

	memcpy(&bits, &s, 4);
	for (; bits <= 0x00800000u && step > 1 && (bits - 1) >> 15 < step; step /= 2)
		;
	bits -= step;
	memcpy(&s, &bits, 4);
	return s;
}

void quantize_scale_law_least(kit_law *l)
{
	const uint64_t n = count(l, QUANTIZE_X);
	const uint32_t scale = kit_law_out(l, 0);
	const pctl_tensor_type *t = &l->c->types[scale];
	const quantize_type *to;
	uint32_t x = scale + 1;

	if (quantize_to(&l->use, QUANTIZE_SCALE_TO, &to) != PCTL_OK)
		return;
	if (l->c->round == 0) {
		(void)converted(l, QUANTIZE_X);
		kit_law_again(l);
		return;
	}
	for (uint64_t g = 0; g < kit_elements(t); g++) {
		const float s = float_at(l, scale, g);
		const long double most = ldexpl(to->odd, (int)to->power);
		long double a = 0;

		for (uint64_t i = 0; i < n; i++)
			if (group_of(&l->use.q->in[QUANTIZE_X], t->dim, i) == g)
				a = fmaxl(a, fabsl((long double)float_at(l, x, i)));
		if (!(s * most >= a) || (s != 0 && !isinf(s) && below(s) * most >= a) ||
		    (isinf(s) && a <= 0x1.fffep127L * most) || (a == 0 && s != 0))
			kit_law_broken(l, "a scale that is not the least", g, 1, 0);
	}
	kit_law_holds(l);
}

void quantize_scale_law_negated(kit_law *l)
{
	const uint32_t x = QUANTIZE_X;
	const uint32_t negative = kit_law_use(l, "ieee.neg", &x, 1, NULL, 0, 1);

	kit_law_equal(l,
		      kit_law_use(l, "tensor.quantize_scale", &negative, 1, l->use.q->attr,
				  l->use.q->n_attr, 1),
		      kit_law_out(l, 0));
}
