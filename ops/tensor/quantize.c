/* tensor.quantize and tensor.dequantize (SEMANTICS.md 13.10, 13.11): exact quotients by scales made elements in one rounding, and exact products
 * with them. The kernels are tensor.convert's with a step between reading and writing. */
#include <stdio.h>

#include "quantize.h"
#include "kernels.h"

#define SCALED "i8|u8|i4|u4|i2|u2|ternary|binary|f8e4m3|f8e5m2|f4"

static const quantize_type types[] = {
	{PCTL_SCALAR_I8, -128, 127, 127, 0}, {PCTL_SCALAR_U8, 0, 255, 255, 0},
	{PCTL_DTYPE_I4, -8, 7, 7, 0},	     {PCTL_DTYPE_U4, 0, 15, 15, 0},
	{PCTL_DTYPE_I2, -2, 1, 1, 0},	     {PCTL_DTYPE_U2, 0, 3, 3, 0},
	{PCTL_DTYPE_TERNARY, -1, 1, 1, 0},   {PCTL_DTYPE_BINARY, 0, 0, 1, 0},
	{PCTL_DTYPE_F8E4M3, 0, 0, 7, 6},     {PCTL_DTYPE_F8E5M2, 0, 0, 7, 13},
	{PCTL_DTYPE_F4, 0, 0, 3, 1}};

const quantize_type *quantize_type_at(uint32_t i)
{
	return i < KIT_COUNT(types) ? &types[i] : NULL;
}

const quantize_type *quantize_type_of(uint32_t dtype)
{
	for (uint32_t i = 0; i < KIT_COUNT(types); i++)
		if (types[i].dtype == dtype)
			return &types[i];
	return NULL;
}

pctl_status quantize_to(const kit_use *u, uint32_t attr, const quantize_type **out)
{
	for (uint32_t i = 0; (*out = quantize_type_at(i)) != NULL; i++)
		if (strcmp(kit_dtype_name((*out)->dtype), u->q->attr[attr].text) == 0)
			return PCTL_OK;
	return kit_refuse_attr(u, "to",
			       "is no element type that scaled numbers are made: one of " SCALED);
}

pctl_status quantize_fits(const kit_use *u, const pctl_tensor_type *x,
			  const pctl_tensor_type *scale, uint32_t port)
{
	int fits = scale->rank == x->rank;

	for (uint32_t d = 0; d < x->rank && fits; d++)
		fits = scale->dim[d] != 0 && x->dim[d] % scale->dim[d] == 0;
	return fits ? PCTL_OK
		    : kit_refuse_type(u, port,
				      "as many dimensions as x, with extents that divide x's");
}

int quantize_has_zeros(const kit_use *u)
{
	return kit_elements(&u->q->in[QUANTIZE_ZERO]) != 0;
}

/* Scales and zero points; q: the type that has these. */
static pctl_status check(const kit_use *u, const quantize_type *q)
{
	const pctl_tensor_type *x = &u->q->in[QUANTIZE_X], *s = &u->q->in[QUANTIZE_SCALE];
	pctl_status status = quantize_fits(u, x, s, QUANTIZE_SCALE);

	if (status == PCTL_OK && quantize_has_zeros(u) &&
	    (q->low == q->high || !kit_same_shape(s, &u->q->in[QUANTIZE_ZERO])))
		status =
			kit_refuse_type(u, QUANTIZE_ZERO,
					q->low == q->high ? "no element: the type has no zero point"
							  : "the shape of scale, or no element");
	return status == PCTL_OK ? kit_limit(u, "elements", kit_elements(x), TENSOR_ELEMENTS_MAX)
				 : status;
}

/* Along the first dimensions, as far as each place has a scale of its own, or all have one. */
static void cut_by_scales(const kit_use *u, pctl_op_result *out)
{
	const pctl_tensor_type *x = &u->q->in[QUANTIZE_X], *s = &u->q->in[QUANTIZE_SCALE];

	for (uint32_t d = 0; d < x->rank; d++) {
		if (s->dim[d] != x->dim[d] && s->dim[d] != 1)
			break;
		out->cut[QUANTIZE_X] |= 1u << d;
		if (s->dim[d] == x->dim[d])
			out->cut[QUANTIZE_SCALE] |= 1u << d;
		out->n_cut++;
	}
	if (quantize_has_zeros(u))
		out->cut[QUANTIZE_ZERO] = out->cut[QUANTIZE_SCALE];
}

static pctl_status infer(const kit_use *u, pctl_op_result *out)
{
	const quantize_type *to;
	pctl_status status = quantize_to(u, QUANTIZE_TO, &to);

	if (status == PCTL_OK)
		status = check(u, to);
	out->out[0] = u->q->in[QUANTIZE_X];
	if (status != PCTL_OK)
		return status;
	out->out[0].dtype = to->dtype;
	/* What comes of a NaN in f4 is a failure of the whole. */
	if (to->dtype != PCTL_DTYPE_F4)
		cut_by_scales(u, out);
	return PCTL_OK;
}

static pctl_status out_of(const kit_use *u, uint32_t *out)
{
	static const uint32_t floats[] = {PCTL_SCALAR_F32, PCTL_SCALAR_F16, PCTL_SCALAR_BF16};

	for (uint32_t i = 0; i < KIT_COUNT(floats); i++)
		if (strcmp(kit_dtype_name(*out = floats[i]), u->q->attr[0].text) == 0)
			return PCTL_OK;
	return kit_refuse_attr(u, "out", "is f32, f16 or bf16");
}

static pctl_status dequantize_infer(const kit_use *u, pctl_op_result *out)
{
	const quantize_type *from = quantize_type_of(u->q->in[QUANTIZE_X].dtype);
	uint32_t dtype;
	pctl_status status = out_of(u, &dtype);

	if (status == PCTL_OK && from == NULL)
		status = kit_refuse_type(u, QUANTIZE_X, SCALED);
	if (status == PCTL_OK)
		status = check(u, from);
	out->out[0] = u->q->in[QUANTIZE_X];
	out->out[0].dtype = dtype;
	if (status == PCTL_OK)
		cut_by_scales(u, out);
	return status;
}

/* ---- the kernels ---------------------------------------------------------------------------- */

#define BINDING(n, access, name) \
	"@group(0) @binding(" n ") var<storage, " access "> " name ": array<u32>;\n"

/* With as many as there are: x, scale, y, zero points, words in which a NaN was met. */
static void begin(kit_wgsl *w, const kit_use *u, const quantize_type *q, int checked)
{
	const int zeros = quantize_has_zeros(u);

	convert_add_number(w, "RANK", u->q->in[QUANTIZE_X].rank);
	kit_wgsl_add(w, KERNEL_QUANTIZE_SCALE_OF);
	kit_wgsl_add(w, BINDING("1", "read", "x") BINDING("2", "read", "scale")
				BINDING("3", "read_write", "y"));
	if (zeros)
		kit_wgsl_add(w, BINDING("4", "read", "zero"));
	if (checked)
		kit_wgsl_add(w, BINDING("4", "read_write", "seen"));
	kit_wgsl_add(w, "var<private> zero_point: i32;\n");
	convert_add_integer(w, "LOW", q->low);
	convert_add_integer(w, "HIGH", q->high);
	kit_wgsl_add(w, zeros ? "fn zero_of(at: u32) -> i32 {\n\treturn "
				"clamp(bitcast<i32>(zero[at]), LOW, HIGH);\n}\n"
			      : "fn zero_of(at: u32) -> i32 {\n\treturn 0i;\n}\n");
	kit_wgsl_add(w, KERNEL_CONVERT_CODE);
}

static uint32_t params_of(kit_plan *p)
{
	const pctl_tensor_type *x = &p->use->q->in[QUANTIZE_X], *s = &p->use->q->in[QUANTIZE_SCALE];
	uint32_t words[4 + 4 * PCTL_RANK_MAX] = {(uint32_t)kit_elements(x)};

	for (uint32_t d = 0; d < x->rank; d++) {
		uint32_t *axis = &words[4 + 4 * (x->rank - 1 - d)];

		axis[0] = (uint32_t)x->dim[d];
		axis[1] = (uint32_t)(x->dim[d] / s->dim[d]);
		axis[2] = (uint32_t)s->dim[d];
	}
	return kit_params(p, words, sizeof(words));
}

/* The kernel over as many words as the result has. */
static void run(kit_plan *p, kit_wgsl *w, const char *name, uint32_t seen, uint64_t words)
{
	kit_kernel kernel = {name, w->text, 64, NULL, 0};
	const int checked = seen != UINT32_MAX; /* then there are no zero points */
	kit_slot slots[5] = {KIT_ALL(params_of(p)), KIT_ALL(kit_in(p, QUANTIZE_X)),
			     KIT_ALL(kit_in(p, QUANTIZE_SCALE)), KIT_ALL(kit_out(p, 0)),
			     KIT_ALL(checked ? seen : kit_in(p, QUANTIZE_ZERO))};

	kit_run(p, &kernel, words, slots, checked || quantize_has_zeros(p->use) ? 5 : 4);
}

static void plan(kit_plan *p)
{
	const kit_use *u = p->use;
	const uint64_t n = kit_elements(&u->q->in[QUANTIZE_X]);
	const quantize_type *to;
	uint32_t block, bits, seen = UINT32_MAX, most;
	uint64_t words;
	int checked;
	kit_wgsl w;

	p->status = quantize_to(u, QUANTIZE_TO, &to);
	if (p->status != PCTL_OK || n == 0)
		return;
	bits = kit_dtype_bits(to->dtype, &block);
	words = (n + 32 / bits - 1) / (32 / bits);
	checked = to->dtype == PCTL_DTYPE_F4;
	w = kit_wgsl_make(u, 24576);
	begin(&w, u, to, checked);
	convert_add_reading(&w, u->q->in[QUANTIZE_X].dtype);
	kit_wgsl_add(&w, KERNEL_QUANTIZE_DIVIDE);
	if (to->low != to->high) {
		convert_add_number(&w, "TO_BITS", bits);
		kit_wgsl_add(&w, KERNEL_QUANTIZE_TO_INTEGER);
	} else {
		convert_add_writing(&w, to->dtype, kit_attr(u, QUANTIZE_SATURATE) != 0);
	}
	convert_add_number(&w, "PER", 32 / bits);
	kit_wgsl_add(&w, checked ? KERNEL_QUANTIZE_CHECKED : KERNEL_QUANTIZE_WORDS);
	p->status = kit_wgsl_status(&w);
	if (checked)
		seen = kit_temp(p, 4 * words);
	run(p, &w, "tensor/quantize.wgsl", seen, words);
	kit_wgsl_free(&w);
	if (checked) {
		most = kit_temp(p, 4);
		kit_run_op(p, "tensor.reduce_max", 1,
			   (kit_arg[]){{seen, kit_vector(PCTL_SCALAR_U32, words)},
				       {most, kit_vector(PCTL_SCALAR_U32, 1)}},
			   2, NULL, 0);
		kit_assert(p, most, 4, 0, "a quotient is a NaN, which f4 does not have");
	}
}

static void dequantize_plan(kit_plan *p)
{
	const kit_use *u = p->use;
	const uint64_t n = kit_elements(&u->q->in[QUANTIZE_X]);
	uint32_t dtype, block, bits;
	kit_wgsl w;

	p->status = out_of(u, &dtype);
	if (p->status != PCTL_OK || n == 0)
		return;
	bits = kit_dtype_bits(dtype, &block);
	w = kit_wgsl_make(u, 24576);
	begin(&w, u, quantize_type_of(u->q->in[QUANTIZE_X].dtype), 0);
	convert_add_reading(&w, u->q->in[QUANTIZE_X].dtype);
	kit_wgsl_add(&w, quantize_has_zeros(u) ? "const ZEROS: bool = true;\n"
					       : "const ZEROS: bool = false;\n");
	kit_wgsl_add(&w, KERNEL_QUANTIZE_MULTIPLY);
	convert_add_writing(&w, dtype, 0);
	convert_add_number(&w, "PER", 32 / bits);
	kit_wgsl_add(&w, KERNEL_QUANTIZE_WORDS);
	p->status = kit_wgsl_status(&w);
	run(p, &w, "tensor/dequantize.wgsl", UINT32_MAX, (n + 32 / bits - 1) / (32 / bits));
	kit_wgsl_free(&w);
}

/* ---- the ops -------------------------------------------------------------------------------- */

static const pctl_port in[] = {
	{"x", "f32|f16|bf16[...]", "the numbers", 0, 0},
	{"scale", "f32[...]", "what they are divided by; its extents divide x's", 0, 0},
	{"zero", "i32[...]", "what is added to the integers, of scale's shape, or none", 0, 0}};
static const pctl_port out[] = {{"y", SCALED "[...]", "the elements of type `to`", 0, 0}};
static const pctl_port back_in[] = {
	{"x", SCALED "[...]", "the elements", 0, 0},
	{"scale", "f32[...]", "what they are multiplied by; its extents divide x's", 0, 0},
	{"zero", "i32[...]", "what is taken off first, of scale's shape, or none", 0, 0}};
static const pctl_port back_out[] = {{"y", "f32|f16|bf16[...]", "the numbers", 0, 0}};
static const pctl_attr_desc attr[] = {
	{"to", NULL, "the element type of y", PCTL_ATTR_STRING, 0, 0, 0},
	{"saturate", "false",
	 "what is beyond the largest number of a float type, infinities too, becomes that number",
	 PCTL_ATTR_BOOL, 0, 0, 1}};
static const pctl_attr_desc back_attr[] = {
	{"out", "f32", "the element type of y: f32, f16 or bf16", PCTL_ATTR_STRING, 0, 0, 0}};
#define LAW(name, words)                                                  \
	{                                                                 \
		PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, name, NULL, words \
	}
static const pctl_law laws[] = {
	LAW("fixed", "where scales are numbers of middling size: y dequantised and quantised "
		     "again is y"),
	LAW("monotone", "with one scale above zero, a number that is not below another does not "
			"become a lower element"),
	LAW("half a step", "integers within their range, less the zero point, times the scale are "
			   "within half a scale of x"),
	LAW("reversed", "of a vector with one scale: x reversed gives y reversed"),
};
static void (*const checks[])(kit_law *) = {quantize_law_fixed, quantize_law_monotone,
					    quantize_law_half_a_step, quantize_law_reversed};
static const pctl_law back_laws[] = {
	LAW("ones", "scales of 1 and no zero point give what tensor.convert gives"),
	LAW("doubled", "out f32, scales of middling size: twice the scale gives twice the y"),
};
static void (*const back_checks[])(kit_law *) = {dequantize_law_ones, dequantize_law_doubled};
static const pctl_example boundaries[] = {{"nothing", {0}}, {"one", {1}}, {"a word and one", {33}}};

#define QUANTIZE_OP(op, op_doc, op_spec, id, own, infer_, plan_)                        \
	{                                                                               \
		.desc = {KIT_PLAN_OP(op, 1, PCTL_CLASS_INTEGER),                        \
			 .doc = op_doc,                                                 \
			 .spec = op_spec,                                               \
			 KIT_IN(id##in),                                                \
			 KIT_OUT(id##out),                                              \
			 KIT_ATTR(id##attr)},                                           \
		.rules = KIT_PLAN_RULES(id##laws, boundaries), .laws = id##checks,      \
		.problems = &own##_problems, .problem = own##_problem, .infer = infer_, \
		.plan = plan_, .reference = own##_reference                             \
	}

static const kit_op ops[] = {
	QUANTIZE_OP("tensor.quantize", "numbers over a scale as elements of a narrow type",
		    "y[..] is the element of type `to` nearest to the exact quotient of x[..] and "
		    "its scale, ties to the even code.\n"
		    "Along each axis the extent of scale divides x's, and a scale stands for as "
		    "many elements in a row. Integers: the\n"
		    "nearest integer plus the zero point, which is first saturated to the type, "
		    "saturated; a NaN is the zero point.\n"
		    "f8e4m3, f8e5m2, f4 and binary as in tensor.convert, and have no zero point; "
		    "f4 has no NaN: the job fails.\n"
		    "x / 0 is +0 but for a NaN. At most 2^31 elements.",
		    , quantize, infer, plan),
	QUANTIZE_OP("tensor.dequantize", "elements of a narrow type times a scale",
		    "y[..] is the exact product of x[..], of integers less the zero point, and its "
		    "scale, rounded once to `out`.\n"
		    "Scales and zero points as in tensor.quantize. At most 2^31 elements.",
		    back_, dequantize, dequantize_infer, dequantize_plan),
};

const kit_family tensor_quantize_family = {ops, NULL, KIT_COUNT(ops), 0};
