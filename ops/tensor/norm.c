/* tensor.layer_norm, rms_norm, group_norm and batch_norm (SEMANTICS.md 15.10): exact sums of rows, what follows from them, and an
 * elementwise end. */
#include "norm.h"

#include "compose_laws.h"

#include <math.h>
#include <stdlib.h>

#include "kernels.h"
#include "map.h"

static const uint32_t kinds[] = {NORM_LAYER, NORM_RMS, NORM_GROUP, NORM_BATCH};

uint32_t norm_kind(const kit_use *u)
{
	return *(const uint32_t *)u->op->data;
}

static pctl_status eps_of(const kit_use *u, float *out)
{
	const char *text = u->q->attr[0].text;
	char *end;

	*out = kit_parse_f32(text, &end);
	if (end == text || *end != '\0' || !isfinite(*out) || signbit(*out))
		return kit_refuse_attr(u, "eps", "is not a number that is zero or more");
	return PCTL_OK;
}

/* Ports behind x: one element a channel each; weights and biases may have none. */
static pctl_status channels_of(const kit_use *u, norm_shape *s)
{
	const uint32_t means = norm_kind(u) == NORM_BATCH ? 2 : 0;

	for (uint32_t i = 1; i < u->q->n_in; i++) {
		const uint64_t n = kit_elements(&u->q->in[i]);

		if (u->q->in[i].dtype != u->q->in[0].dtype)
			return kit_refuse_type(u, i, "x's type");
		if (n != s->channels && (i <= means || n != 0))
			return kit_refuse_type(u, i,
					       i <= means ? "one element a channel"
							  : "one element a channel, or none");
		if (n != 0 && i > means)
			*(i == means + 1 ? &s->weight : &s->bias) = i;
	}
	return PCTL_OK;
}

pctl_status norm_shape_of(const kit_use *u, norm_shape *s)
{
	const pctl_tensor_type *x = &u->q->in[0];
	const uint32_t kind = norm_kind(u);
	const uint64_t axes = kind == NORM_BATCH ? 0 : kit_attr(u, 1);
	pctl_status status;

	*s = (norm_shape){.rows = 1, .n = 1, .rest = 1, .channels = 1};
	if (tensor_float_format_of(x->dtype) == NULL)
		return kit_refuse_type(u, 0, u->op->desc.in[0].type);
	status = kit_limit(u, "elements", kit_elements(x), TENSOR_ELEMENTS_MAX);
	if (status == PCTL_OK)
		status = eps_of(u, &s->eps);
	if (status != PCTL_OK)
		return status;
	if (kind == NORM_LAYER || kind == NORM_RMS) {
		if (axes > x->rank)
			return kit_refuse_attr(u, "axes", "is more than x has");
		for (uint32_t d = 0; d < x->rank; d++)
			*(d + axes < x->rank ? &s->rows : &s->n) *= x->dim[d];
		s->channels = s->n;
	} else {
		if (x->rank < 2)
			return kit_refuse_type(u, 0, "at least 2 dimensions");
		for (uint32_t d = 2; d < x->rank; d++)
			s->rest *= x->dim[d];
		s->channels = x->dim[1];
		if (kind == NORM_GROUP && s->channels % axes != 0)
			return kit_refuse_attr(u, "groups", "does not divide the channels");
		s->rows = x->dim[0] * (kind == NORM_GROUP ? axes : s->channels);
		s->n = kind == NORM_GROUP ? s->channels / axes * s->rest : s->rest;
	}
	status = channels_of(u, s);
	return status != PCTL_OK ? status
				 : kit_limit(u, "elements of a row", s->n, TENSOR_TERMS_MAX);
}

/* Dimensions of x before those of a row. */
static uint32_t norm_rows(const kit_use *u)
{
	const uint32_t kind = norm_kind(u);

	if (kind != NORM_LAYER && kind != NORM_RMS)
		return 1;
	return u->q->in[0].rank - (uint32_t)kit_attr(u, 1);
}

static pctl_status infer(const kit_use *u, pctl_op_result *out)
{
	norm_shape s;
	const pctl_status status = norm_shape_of(u, &s);

	out->out[0] = u->q->in[0];
	if (status != PCTL_OK)
		return status;
	/* Rows are apart; weights and what else goes by channels is needed by each. */
	out->n_cut = norm_rows(u);
	out->cut[0] = (1u << out->n_cut) - 1u;
	return PCTL_OK;
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* Mean and r of each row. */
static uint32_t layer_rows(kit_plan *p, const norm_shape *s, const tensor_axes *a)
{
	tensor_moments m = {.n = (uint32_t)s->n, .count = (uint32_t)s->rows};
	kit_kernel kernel = {"tensor/layer_norm_rows.wgsl", NULL, 64, NULL, 0};
	const uint32_t to = kit_temp(p, 8 * s->rows);
	kit_wgsl w = kit_wgsl_make(p->use, 32768);
	uint32_t sums, squares;

	memcpy(&m.eps, &s->eps, 4);
	tensor_moments_sums(p, a, TENSOR_NONE, &sums, &squares);
	tensor_moments_text(&w, tensor_float_format_of(PCTL_SCALAR_F32));
	/* A mean or an r an invocation. */
	kit_wgsl_add(&w, "@group(0) @binding(3) var<storage, read_write> y: array<u32>;\n"
			 "fn product(item: u32) -> u32 {\n\tlet is_r = item % 2u == 1u;\n"
			 "\tlet v = moment_of(item / 2u, is_r);\n\tif (!is_r) {\n"
			 "\t\treturn v;\n\t}\n"
			 "\treturn bitcast<u32>(1.0 / sqrt(bitcast<f32>(v) + "
			 "bitcast<f32>(moments.eps)));\n}\n");
	kit_wgsl_add(&w, KERNEL_RESULT_WORDS);
	kernel.text = w.text;
	if (p->status == PCTL_OK)
		p->status = kit_wgsl_status(&w);
	kit_run(p, &kernel, 2 * s->rows,
		(kit_slot[]){KIT_ALL(kit_params(p, &m, sizeof(m))), KIT_ALL(sums), KIT_ALL(squares),
			     KIT_ALL(to)},
		4);
	kit_wgsl_free(&w);
	return to;
}

/* r of each row. */
static uint32_t rms_rows(kit_plan *p, const norm_shape *s, const tensor_axes *a)
{
	const float v[2] = {(float)s->n, s->eps};
	const uint32_t to = kit_temp(p, 4 * s->rows);
	tensor_exact e = {.name = "tensor/rms_norm_rows.wgsl",
			  .term = TENSOR_SQUARE_TERM,
			  .give = "fn give(item: u32) -> u32 {\n\treturn bitcast<u32>(1.0 / "
				  "sqrt(bitcast<f32>(sum_round()) / scale.x + scale.y));\n}\n",
			  .format = tensor_float_format_of(PCTL_SCALAR_F32),
			  .extra_text = "@group(0) @binding(3) var<uniform> scale: vec2<f32>;\n",
			  .n_extra = 1,
			  .marks = TENSOR_NONE};

	e.extra[0] = (kit_slot)KIT_ALL(kit_params(p, v, sizeof(v)));
	tensor_exact_sums(p, a, &e, to);
	return to;
}

/* Binding `binding` of an element a channel, of x's type. */
static void add_channels(kit_plan *p, kit_wgsl *w, const char *name, const char *declared)
{
	kit_wgsl_add(w, declared);
	kit_wgsl_named(w, kit_codec_bits(p->use->q->in[0].dtype), name);
}

#define PORT(binding, name) \
	"@group(0) @binding(" binding ") var<storage, read> " name ": array<u32>;\n"

static void plan(kit_plan *p)
{
	static const char *const values[] = {
		[NORM_LAYER] =
			"\tlet row = rows[row_of(i)];\n\tvar t = (v - bitcast<f32>(row.x)) * "
			"bitcast<f32>(row.y);\n",
		[NORM_RMS] = "\tvar t = v * bitcast<f32>(rows[row_of(i)]);\n",
		[NORM_GROUP] =
			"\tlet row = rows[row_of(i)];\n\tvar t = (v - bitcast<f32>(row.x)) * "
			"bitcast<f32>(row.y);\n",
		[NORM_BATCH] = "\tlet r = 1.0 / sqrt(bitcast<f32>(s_bits(c)) + eps);\n"
			       "\tvar t = (v - bitcast<f32>(m_bits(c))) * r;\n"};
	const uint32_t kind = norm_kind(p->use);
	tensor_map m = {.name = "tensor/norm.wgsl", .inner = 1};
	tensor_axes a = {.count = 1};
	kit_slot slots[TENSOR_MAP_SLOTS];
	norm_shape s;
	kit_wgsl w;

	p->status = norm_shape_of(p->use, &s);
	if (p->status != PCTL_OK || kit_elements(&p->use->q->in[0]) == 0)
		return;
	if (norm_plan_rows(p, &s))
		return;
	/* Rows that are read twice are no functions of the host's. */
	if (kind != NORM_BATCH && (p->through & PCTL_PLAN_READ_THROUGH(0)) != 0)
		p->status = PCTL_E_UNSUPPORTED;
	if (p->status != PCTL_OK)
		return;
	for (uint32_t i = 0; i < TENSOR_GROUPS_MAX; i++)
		a.kept[i].n = a.reduced[i].n = 1;
	a.count = s.rows;
	a.terms = s.n;
	a.kept[0] = (tensor_group){s.rows, s.n};
	a.reduced[0] = (tensor_group){s.n, 1};
	if (kind == NORM_BATCH) {
		slots[m.n_slots++] = (kit_slot)KIT_ALL(kit_in(p, 1));
		slots[m.n_slots++] = (kit_slot)KIT_ALL(kit_in(p, 2));
		slots[m.n_slots++] = (kit_slot)KIT_ALL(kit_params(p, &s.eps, 4));
	} else {
		slots[m.n_slots++] = (kit_slot)KIT_ALL(kind == NORM_RMS ? rms_rows(p, &s, &a)
									: layer_rows(p, &s, &a));
	}
	w = kit_wgsl_make(p->use, 16384);
	tensor_map_text(p, &m, &w);
	if (kind == NORM_BATCH) {
		add_channels(p, &w, "m", PORT("3", "m"));
		add_channels(p, &w, "s", PORT("4", "s"));
		kit_wgsl_add(&w, "@group(0) @binding(5) var<uniform> eps: f32;\n");
	} else {
		kit_wgsl_add(&w, kind == NORM_RMS
					 ? PORT("3", "rows")
					 : "@group(0) @binding(3) var<storage, read> rows: "
					   "array<vec2<u32>>;\n");
	}
	if (s.weight != 0) {
		slots[m.n_slots++] = (kit_slot)KIT_ALL(kit_in(p, s.weight));
		add_channels(p, &w, "w", kind == NORM_BATCH ? PORT("6", "w") : PORT("4", "w"));
	}
	if (s.bias != 0) {
		static const char *const ports[] = {PORT("4", "b"), PORT("5", "b"), PORT("6", "b"),
						    PORT("7", "b")};

		add_channels(p, &w, "b", ports[m.n_slots - 1]);
		slots[m.n_slots++] = (kit_slot)KIT_ALL(kit_in(p, s.bias));
	}
	kit_wgsl_add(&w, "fn value(i: u32, v: f32) -> f32 {\n\tlet c = channel_of(i);\n");
	kit_wgsl_add(&w, values[kind]);
	if (s.weight != 0)
		kit_wgsl_add(&w, "\tt = t * bitcast<f32>(w_bits(c));\n");
	if (s.bias != 0)
		kit_wgsl_add(&w, "\tt = t + bitcast<f32>(b_bits(c));\n");
	kit_wgsl_add(&w, "\treturn t;\n}\n");
	m.block = s.n;
	m.rest = s.rest;
	m.channels = s.channels;
	m.slots = slots;
	tensor_map_run(p, &m, &w);
}

/* ---- the ops -------------------------------------------------------------------------------- */

#define FLOATS "f32|f16|bf16[...]"
static const pctl_port x_w_b[] = {
	{"x", FLOATS, "the elements", PCTL_PORT_THROUGH, 0},
	{"weight", FLOATS, "one element a channel, of x's type, or none", 0, 0},
	{"bias", FLOATS, "one element a channel, of x's type, or none", 0, 0},
};
static const pctl_port x_m_v_w_b[] = {
	{"x", FLOATS, "the elements: a batch of channels", PCTL_PORT_THROUGH, 0},
	{"mean", FLOATS, "one element a channel, of x's type", 0, 0},
	{"variance", FLOATS, "one element a channel, of x's type", 0, 0},
	{"weight", FLOATS, "one element a channel, of x's type, or none", 0, 0},
	{"bias", FLOATS, "one element a channel, of x's type, or none", 0, 0},
};
static const pctl_port ports_out[] = {
	{"y", FLOATS, "the results, of x's type and shape", PCTL_PORT_THROUGH, 0}};
#define EPS                                                                            \
	{                                                                              \
		"eps", "1e-5", "what is added to the variance or mean square, as f32", \
			PCTL_ATTR_STRING, 0, 0, 0                                      \
	}
static const pctl_attr_desc axes_attr[] = {
	EPS, {"axes", "1", "how many of the last dimensions a row has", PCTL_ATTR_U64, 0, 1, 8}};
static const pctl_attr_desc group_attr[] = {EPS,
					    {"groups", NULL,
					     "how many groups the channels of dimension 1 make",
					     PCTL_ATTR_U64, 0, 1, TENSOR_ELEMENTS_MAX}};
static const pctl_attr_desc batch_attr[] = {EPS};
#define LAW(name, words)                                                  \
	{                                                                 \
		PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, name, NULL, words \
	}
static const pctl_law laws[] = {
	LAW("alone", "the last of the outermost dimension gives the same where it is all there is"),
	LAW("permuted", "x reversed along the last dimension, with what there is for each of its "
			"elements, gives y reversed"),
	LAW("ones", "without a weight y is what weights of 1 give"),
};
static void (*const checks[])(kit_law *) = {norm_law_alone, norm_law_permuted, norm_law_ones};
static const pctl_law layer_laws[] = {
	LAW("alone", "the last of the outermost dimension gives the same where it is all there is"),
	LAW("permuted", "x reversed along the last dimension, with what there is for each of its "
			"elements, gives y reversed"),
	LAW("ones", "without a weight y is what weights of 1 give"),
	LAW("as group", "y is tensor.group_norm, of one group, of x as rows"),
	TENSOR_COMPOSED_LAW("by steps", "y is what the steps give, each an op of its own"),
};
static void (*const layer_checks[])(kit_law *) = {norm_law_alone, norm_law_permuted, norm_law_ones,
						  norm_law_as_group, compose_law_layer_steps};
static const pctl_law rms_laws[] = {
	LAW("alone", "the last of the outermost dimension gives the same where it is all there is"),
	LAW("permuted", "x reversed along the last dimension, with what there is for each of its "
			"elements, gives y reversed"),
	LAW("ones", "without a weight y is what weights of 1 give"),
	TENSOR_COMPOSED_LAW("by steps", "y is what the steps give, each an op of its own"),
};
static void (*const rms_checks[])(kit_law *) = {norm_law_alone, norm_law_permuted, norm_law_ones,
						compose_law_rms_steps};
static const pctl_example boundaries[] = {
	{"nothing", {0}}, {"one", {1}}, {"a lane more", {65}}, {"two rounds", {1025}}};

#define NORM_OP(op, op_doc, op_spec, id, n_in_, in_, attr_, which)                               \
	{                                                                                        \
		.desc = {KIT_PLAN_OP(op, 1, PCTL_CLASS_STRICT),                                  \
			 .doc = op_doc,                                                          \
			 .spec = op_spec                                                         \
			 "\nSteps are f32, each rounded; y is rounded once more to x's type. A " \
			 "weight or bias without elements is none.\nx has at most 2^31 "         \
			 "elements, a row at most 2^29.",                                        \
			 .n_in = n_in_,                                                          \
			 .in = in_,                                                              \
			 KIT_OUT(ports_out),                                                     \
			 KIT_ATTR(attr_)},                                                       \
		.rules = KIT_PLAN_RULES(id##laws, boundaries), .laws = id##checks,               \
		.problems = &norm_problems, .problem = norm_problem, .data = &kinds[which],      \
		.infer = infer, .plan = plan, .reference = norm_reference                        \
	}

static const kit_op ops[] = {
	NORM_OP("tensor.layer_norm", "rows of mean 0 and variance 1",
		"a = the exact mean, v = the exact variance, each rounded once; r = 1 / sqrt(v + "
		"eps); y = (x - a) * r, then * weight, + bias.",
		layer_, 3, x_w_b, axes_attr, NORM_LAYER),
	NORM_OP("tensor.rms_norm", "rows of mean square 1",
		"q = the exact sum of squares, rounded once; r = 1 / sqrt(q / n + eps), n rounded "
		"to f32; y = x * r, then * weight.",
		rms_, 2, x_w_b, axes_attr, NORM_RMS),
	NORM_OP("tensor.group_norm", "groups of channels of mean 0 and variance 1",
		"a = the exact mean, v = the exact variance of a group's channels, each rounded "
		"once; r = 1 / sqrt(v + eps); y = (x - a) * r, then\n* weight, + bias of the "
		"channel.",
		, 3, x_w_b, group_attr, NORM_GROUP),
	NORM_OP("tensor.batch_norm", "channels normalised by a mean and variance that are given",
		"r = 1 / sqrt(variance + eps); y = (x - mean) * r, then * weight, + bias, of the "
		"channel (dimension 1).",
		, 5, x_m_v_w_b, batch_attr, NORM_BATCH),
};

const kit_family tensor_norm_family = {ops, NULL, KIT_COUNT(ops), 0};
