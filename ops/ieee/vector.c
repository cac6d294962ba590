/* ieee.complex_mul quaternion_mul dot4 scale4: function ops on vectors (SEMANTICS.md 14.10), made of strict operations. The reference
 * takes each step with MPFR; laws go by way of the ops on single elements. */
#include <stdlib.h>

#include "ieee.h"

#define VEC2 "vec2<f32>|vec2<f16>[...]"
#define VEC4 "vec4<f32>|vec4<f16>[...]"
#define ONE "f32|f16[...]"

/* Of one place: operands' components, and the results'. */
typedef struct place {
	ieee_reals *reals;
	const ieee_format *f;
	uint32_t a[4], b[4], y[4];
} place;

/* lanes: of a, b and y. parts: law "parts", from component c of the operands to those of the result. */
typedef struct vector_row {
	const char *wgsl[2]; /* of f32 and f16 */
	uint32_t lanes[3];
	uint32_t reserved;
	void (*eval)(place *p);
	uint32_t (*part)(kit_law *l, uint32_t c);
} vector_row;

/* ---- references ------------------------------------------------------------------------------- */

static uint32_t mul(const place *p, uint32_t a, uint32_t b)
{
	return ieee_real_2(p->reals, mpfr_mul, (uint32_t[]){a, b, 0}, p->f);
}

static uint32_t add(const place *p, uint32_t a, uint32_t b)
{
	return ieee_real_2(p->reals, mpfr_add, (uint32_t[]){a, b, 0}, p->f);
}

static uint32_t sub(const place *p, uint32_t a, uint32_t b)
{
	return ieee_real_2(p->reals, mpfr_sub, (uint32_t[]){a, b, 0}, p->f);
}

static uint32_t fused(const place *p, uint32_t a, uint32_t b, uint32_t c)
{
	return ieee_real_fma(p->reals, (uint32_t[]){a, b, c}, p->f);
}

static void complex_mul(place *p)
{
	const uint32_t *a = p->a, *b = p->b;

	p->y[0] = fused(p, a[0], b[0], mul(p, a[1], b[1]) ^ ieee_sign(p->f));
	p->y[1] = fused(p, a[0], b[1], mul(p, a[1], b[0]));
}

/* Of component c of a product of quaternions: a[i] b[j], added or taken off, in this order. */
static const struct {
	uint32_t a, b;
	int minus;
} hamilton[4][4] = {{{3, 0, 0}, {0, 3, 0}, {1, 2, 0}, {2, 1, 1}},
		    {{3, 1, 0}, {1, 3, 0}, {2, 0, 0}, {0, 2, 1}},
		    {{3, 2, 0}, {2, 3, 0}, {0, 1, 0}, {1, 0, 1}},
		    {{3, 3, 0}, {0, 0, 1}, {1, 1, 1}, {2, 2, 1}}};

static void quaternion_mul(place *p)
{
	for (uint32_t c = 0; c < 4; c++)
		for (uint32_t k = 0; k < 4; k++) {
			const uint32_t term =
				mul(p, p->a[hamilton[c][k].a], p->b[hamilton[c][k].b]);

			p->y[c] = k == 0		 ? term
				  : hamilton[c][k].minus ? sub(p, p->y[c], term)
							 : add(p, p->y[c], term);
		}
}

static void dot4(place *p)
{
	p->y[0] = mul(p, p->a[0], p->b[0]);
	for (uint32_t c = 1; c < 4; c++)
		p->y[0] = add(p, p->y[0], mul(p, p->a[c], p->b[c]));
}

static void scale4(place *p)
{
	for (uint32_t c = 0; c < 4; c++)
		p->y[c] = mul(p, p->a[c], p->b[0]);
}

/* ---- laws ------------------------------------------------------------------------------------- */

static const vector_row *row_of(const kit_law *l)
{
	return l->use.op->data;
}

static uint64_t places_of(const kit_law *l)
{
	return kit_elements(&l->use.q->in[0]) / row_of(l)->lanes[0];
}

static pctl_tensor_type shape(const kit_law *l, uint64_t n, uint32_t lanes)
{
	pctl_tensor_type t = kit_vector(l->use.q->in[0].dtype, n);

	if (lanes > 1)
		t.dim[t.rank++] = lanes;
	return t;
}

/* A tensor of n values of `width` bytes, value i of which is value from(i) of tensor `of`. */
static uint32_t picked(kit_law *l, uint32_t of, const pctl_tensor_type *t, uint64_t n,
		       uint64_t width, uint64_t first, int64_t step)
{
	uint8_t *data = kit_law_scratch(l, n * width);
	uint32_t made = 0;

	for (uint64_t i = 0; data != NULL && i < n; i++)
		memcpy(data + i * width,
		       kit_law_data(l, of) + (first + (uint64_t)((int64_t)i * step)) * width,
		       width);
	if (data != NULL)
		made = kit_law_tensor(l, t, data);
	kit_law_free(l, data);
	return made;
}

/* Component c of all places of operand or result `port`. */
static uint32_t component(kit_law *l, uint32_t port, uint32_t c)
{
	const uint32_t lanes = row_of(l)->lanes[port];
	const uint64_t n = places_of(l);
	const pctl_tensor_type t = shape(l, n, 1);

	return picked(l, port == 2 ? kit_law_out(l, 0) : port, &t, n, kit_dtype_bytes(t.dtype), c,
		      lanes);
}

static uint32_t two(kit_law *l, const char *op, uint32_t a, uint32_t b)
{
	return kit_law_use(l, op, (uint32_t[]){a, b}, 2, NULL, 0, 1);
}

static uint32_t product(kit_law *l, uint32_t i, uint32_t k)
{
	const uint32_t a = component(l, 0, i);

	return two(l, "ieee.mul", a, component(l, 1, k));
}

static uint32_t complex_part(kit_law *l, uint32_t c)
{
	const uint32_t a = component(l, 0, 0), b = component(l, 1, c);
	uint32_t rest = product(l, 1, 1 - c);

	if (c == 0)
		rest = kit_law_use(l, "ieee.neg", &rest, 1, NULL, 0, 1);
	return kit_law_use(l, "ieee.fma", (uint32_t[]){a, b, rest}, 3, NULL, 0, 1);
}

static uint32_t quaternion_part(kit_law *l, uint32_t c)
{
	uint32_t sum = product(l, hamilton[c][0].a, hamilton[c][0].b);

	for (uint32_t k = 1; k < 4; k++)
		sum = two(l, hamilton[c][k].minus ? "ieee.sub" : "ieee.add", sum,
			  product(l, hamilton[c][k].a, hamilton[c][k].b));
	return sum;
}

static uint32_t dot_part(kit_law *l, uint32_t c)
{
	uint32_t sum = product(l, 0, 0);

	(void)c;
	for (uint32_t k = 1; k < 4; k++)
		sum = two(l, "ieee.add", sum, product(l, k, k));
	return sum;
}

static uint32_t scale_part(kit_law *l, uint32_t c)
{
	return product(l, c, 0);
}

static void law_parts(kit_law *l)
{
	for (uint32_t c = 0; places_of(l) != 0 && c < row_of(l)->lanes[2]; c++) {
		const uint32_t got = component(l, 2, c);

		kit_law_equal(l, got, row_of(l)->part(l, c));
	}
}

static uint32_t whole(kit_law *l, uint32_t port, uint64_t n, uint64_t first, int64_t step)
{
	const uint32_t lanes = row_of(l)->lanes[port];
	const pctl_tensor_type t = shape(l, n, lanes);

	return picked(l, port == 2 ? kit_law_out(l, 0) : port, &t, n,
		      lanes * kit_dtype_bytes(t.dtype), first, step);
}

static void law_places(kit_law *l)
{
	const uint64_t n = places_of(l);
	uint32_t a, b, y;

	if (n < 2)
		return;
	a = whole(l, 0, n, n - 1, -1);
	b = whole(l, 1, n, n - 1, -1);
	y = whole(l, 2, n, n - 1, -1);
	kit_law_equal(l, two(l, l->use.op->desc.name, a, b), y);
}

static void law_stretched(kit_law *l)
{
	const uint64_t n = places_of(l);
	uint32_t a, one, all, y;

	if (n < 2)
		return;
	a = whole(l, 0, n, 0, 1);
	one = whole(l, 1, 1, n / 2, 1);
	all = whole(l, 1, n, n / 2, 0);
	y = two(l, l->use.op->desc.name, a, one);
	kit_law_equal(l, two(l, l->use.op->desc.name, a, all), y);
}

#define JUDGED(how, name, text)                                                  \
	{                                                                        \
		PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED | (how), 0, name, NULL, text \
	}
static const pctl_law vector_laws[] = {
	JUDGED(PCTL_LAW_COMPOSED, "parts",
	       "each component is what ieee.mul, add, sub, neg and fma make of the operands'"),
	JUDGED(0, "places", "of operands whose places are in reverse order y's are, too"),
	JUDGED(0, "stretched", "one b for all places is b at each of them"),
};
static void (*const vector_checks[])(kit_law *l) = {law_parts, law_places, law_stretched};

static const pctl_example vector_sizes[] = {
	{"one place", {1, 0, 0, 0}},	 {"two", {2, 0, 0, 0}},	       {"a prime", {61, 0, 0, 0}},
	{"a workgroup", {256, 0, 0, 0}}, {"one more", {257, 0, 0, 0}}, {"many", {4099, 0, 0, 0}},
};
static const pctl_example vector_bounds[] = {{"none", {0, 0, 0, 0}}, {"three", {3, 0, 0, 0}}};

/* ---- ops -------------------------------------------------------------------------------------- */

static const char *vector_function(const kit_op *op, uint32_t dtype)
{
	const vector_row *row = op->data;

	return dtype == PCTL_SCALAR_F32	  ? row->wgsl[0]
	       : dtype == PCTL_SCALAR_F16 ? row->wgsl[1]
					  : NULL;
}

/* The places of a port: its shape without the dimension along which vectors lie. */
static pctl_tensor_type outer(const pctl_tensor_type *t, uint32_t lanes)
{
	pctl_tensor_type out = *t;

	out.rank -= lanes > 1 && out.rank != 0;
	return out;
}

static pctl_status vector_infer(const kit_use *u, pctl_op_result *out)
{
	const vector_row *row = u->op->data;
	const pctl_tensor_type *x = u->q->in;
	const pctl_tensor_type a = outer(&x[0], row->lanes[0]), b = outer(&x[1], row->lanes[1]);

	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t rank = x[i].rank;

		if (vector_function(u->op, x[i].dtype) == NULL ||
		    (row->lanes[i] > 1 && (rank == 0 || x[i].dim[rank - 1] != row->lanes[i])))
			return kit_refuse_type(u, i, u->op->desc.in[i].type);
	}
	if (x[1].dtype != x[0].dtype || !kit_same_shape(&a, &b))
		return kit_refuse_type(u, 1, "the type and the places of port \"a\"");
	out->out[0] = a;
	if (row->lanes[2] > 1)
		out->out[0].dim[out->out[0].rank++] = row->lanes[2];
	return kit_limit(u, "elements", kit_elements(&x[0]), IEEE_ELEMENTS_MAX);
}

static pctl_status vector_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const vector_row *row = u->op->data;
	const uint32_t dtype = u->q->in[0].dtype, bytes = (uint32_t)kit_dtype_bytes(dtype);
	const uint64_t n = kit_elements(&u->q->in[0]) / row->lanes[0];
	ieee_reals reals;
	place p = {.reals = &reals, .f = ieee_format_of(dtype)};

	ieee_reals_open(&reals);
	for (uint64_t i = 0; i < n; i++) {
		for (uint32_t c = 0; c < row->lanes[0]; c++)
			p.a[c] = ieee_load(in[0].data, i * row->lanes[0] + c, bytes);
		for (uint32_t c = 0; c < row->lanes[1]; c++)
			p.b[c] = ieee_load(in[1].data, i * row->lanes[1] + c, bytes);
		row->eval(&p);
		for (uint32_t c = 0; c < row->lanes[2]; c++)
			ieee_store(out[0].data, i * row->lanes[2] + c, bytes, p.y[c]);
	}
	ieee_reals_close(&reals);
	return PCTL_OK;
}

#define COMPLEX(t)                                                             \
	"fn ieee_complex_mul_" t "(a: vec2<" t ">, b: vec2<" t ">) -> vec2<" t \
	"> {\n\treturn vec2<" t ">(fma(a.x, b.x, -(a.y * b.y)), fma(a.x, b.y, a.y * b.x));\n}\n"
#define QUATERNION(t)                                                                \
	"fn ieee_quaternion_mul_" t "(a: vec4<" t ">, b: vec4<" t ">) -> vec4<" t    \
	"> {\n\treturn vec4<" t ">(a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,\n" \
	"\t\ta.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z,\n"                       \
	"\t\ta.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x,\n"                       \
	"\t\ta.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z);\n}\n"
#define DOT(t)                                                                     \
	"fn ieee_dot4_" t "(a: vec4<" t ">, b: vec4<" t ">) -> " t " {\n\treturn " \
	"a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;\n}\n"
#define SCALE(t)                                                            \
	"fn ieee_scale4_" t "(a: vec4<" t ">, b: " t ") -> vec4<" t "> {\n" \
	"\treturn a * b;\n}\n"
#define BOTH(text)                                       \
	{                                                \
		text("f32"), "enable f16;\n" text("f16") \
	}

static const vector_row complex_row = {BOTH(COMPLEX), {2, 2, 2}, 0, complex_mul, complex_part};
static const vector_row quaternion_row = {
	BOTH(QUATERNION), {4, 4, 4}, 0, quaternion_mul, quaternion_part};
static const vector_row dot_row = {BOTH(DOT), {4, 4, 1}, 0, dot4, dot_part};
static const vector_row scale_row = {BOTH(SCALE), {4, 1, 4}, 0, scale4, scale_part};

static const pctl_port complex_in[2] = {{"a", VEC2, "real and imaginary parts", 0, 0},
					{"b", VEC2, "the second factor, of a's type", 0, 0}};
static const pctl_port complex_out[1] = {{"y", VEC2, "the product", 0, 0}};
static const pctl_port quaternion_in[2] = {{"a", VEC4, "i, j, k and the real part", 0, 0},
					   {"b", VEC4, "the second factor, of a's type", 0, 0}};
static const pctl_port quaternion_out[1] = {{"y", VEC4, "the product", 0, 0}};
static const pctl_port dot_in[2] = {{"a", VEC4, "the first vectors", 0, 0},
				    {"b", VEC4, "the second vectors, of a's type", 0, 0}};
static const pctl_port dot_out[1] = {{"y", ONE, "a number for each place", 0, 0}};
static const pctl_port scale_in[2] = {{"a", VEC4, "vectors", 0, 0},
				      {"b", ONE, "what each is multiplied by, of a's type", 0, 0}};
static const pctl_port scale_out[1] = {{"y", VEC4, "the vectors, scaled", 0, 0}};

#define OP(op_name, op_doc, op_spec, id)                                                           \
	{                                                                                          \
		.desc = {.head = PCTL_HEAD(pctl_op_desc),                                          \
			 .name = "ieee." op_name,                                                  \
			 .doc = op_doc,                                                            \
			 .spec = op_spec,                                                          \
			 .version = 1,                                                             \
			 .kind = PCTL_OPDEF_FUNCTION,                                              \
			 .category = 'A',                                                          \
			 .op_class = PCTL_CLASS_STRICT,                                            \
			 .convention = 1,                                                          \
			 .n_in = 2,                                                                \
			 .n_out = 1,                                                               \
			 .in = id##_in,                                                            \
			 .out = id##_out},                                                         \
		.rules = {.head = PCTL_HEAD(pctl_op_rules),                                        \
			  .laws = vector_laws,                                                     \
			  .classes = vector_sizes,                                                 \
			  .boundaries = vector_bounds,                                             \
			  .n_laws = KIT_COUNT(vector_laws),                                        \
			  .n_classes = KIT_COUNT(vector_sizes),                                    \
			  .n_boundaries = KIT_COUNT(vector_bounds)},                               \
		.function = vector_function, .infer = vector_infer, .reference = vector_reference, \
		.laws = vector_checks, .data = &id##_row,                                          \
	}

static const kit_op vector_ops[] = {
	OP("complex_mul", "The product of complex numbers (pairs of elements).",
	   "y0 = fma(a0, b0, -(a1 * b1)), y1 = fma(a0, b1, a1 * b0): by (cos, sin) a turn of a.",
	   complex),
	OP("quaternion_mul", "The product of quaternions (four elements, the real part last).",
	   "Hamilton's product, for instance y0 = a3 * b0 + a0 * b3 + a1 * b2 - a2 * b1: every "
	   "product, sum and "
	   "difference rounded, from left to right.",
	   quaternion),
	OP("dot4", "The sum of the products of four elements with four.",
	   "a0 * b0 + a1 * b1 + a2 * b2 + a3 * b3, every product and sum rounded, from left to "
	   "right (semantics 3.7).",
	   dot),
	OP("scale4", "Four elements times one.", "y = a * b, each rounded once.", scale),
};

const kit_family ieee_vector_family = {vector_ops, NULL, KIT_COUNT(vector_ops), 0};
