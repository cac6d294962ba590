/* tensor.conv1d, conv2d, conv3d, conv_transpose2d and im2col (SEMANTICS.md 16.7): each element is the exact sum of its exact products, rounded
 * once, or an integer sum modulo 2^width. Places outside x are no terms. */
#include <stdio.h>

#include "common/tensors/exact_reference.h"
#include "conv.h"
#include "kernels.h"

enum { ATTR_STRIDE, ATTR_PAD, ATTR_DILATION, ATTR_GROUPS, ATTR_OUT, ATTR_EXTRA };
enum { ATTR_WINDOW = 3 }; /* of im2col */

typedef struct kind {
	uint32_t dims, spread;
} kind;
static const kind kinds[] = {{1, 0}, {2, 0}, {3, 0}, {2, 1}};

/* Of elements that are no integers, and each an f32. */
static int is_real(uint32_t dtype)
{
	return kit_codec_bits(dtype) != NULL && kit_codec_word(dtype) == NULL;
}

static pctl_status types(const kit_use *u, convolution *c)
{
	const uint32_t x = u->q->in[0].dtype, w = u->q->in[1].dtype;
	const char *out = u->q->attr[ATTR_OUT].text;

	if (is_real(x) || is_real(w)) {
		if (kit_codec_bits(x) == NULL)
			return kit_refuse_type(u, 0, "a type whose elements are exact in f32");
		if (kit_codec_bits(w) == NULL)
			return kit_refuse_type(u, 1, "a type whose elements are exact in f32");
		if (*out != '\0') {
			const pctl_status status =
				tensor_dtype_of(u, ATTR_OUT, "f32|f16|bf16", &c->y.dtype);

			if (status != PCTL_OK)
				return status;
		} else {
			c->y.dtype = PCTL_SCALAR_F32;
		}
		c->format = tensor_float_format_of(c->y.dtype);
		return PCTL_OK;
	}
	if (kit_dtype_bytes(x) == 8 || kit_codec_word(x) != NULL)
		c->y.dtype = kit_dtype_bytes(x) == 8 ? x
			     : tensor_is_signed(x)   ? PCTL_SCALAR_I32
						     : PCTL_SCALAR_U32;
	else
		return kit_refuse_type(u, 0, u->op->desc.in[0].type);
	if ((kit_dtype_bytes(w) != 8 && kit_codec_word(w) == NULL) ||
	    tensor_is_signed(x) != (tensor_is_signed(w) || w == PCTL_DTYPE_BINARY) ||
	    (kit_dtype_bytes(x) == 8) != (kit_dtype_bytes(w) == 8))
		return kit_refuse_type(u, 1, "integers of the sign of x, of 64 bits where x's are");
	if (*out != '\0' && strcmp(out, kit_dtype_name(c->y.dtype)) != 0)
		return kit_refuse_attr(u, "out", "is i32, u32, i64 or u64 by the inputs' types");
	return PCTL_OK;
}

static pctl_status conv_of(const kit_use *u, convolution *c)
{
	const kind *k = u->op->data;
	const pctl_tensor_type *x = &u->q->in[0], *w = &u->q->in[1];
	uint64_t extra[WINDOW_DIMS] = {0};
	pctl_status status;

	*c = (convolution){.groups = kit_attr(u, ATTR_GROUPS)};
	status = types(u, c);
	if (status == PCTL_OK && w->rank != k->dims + 2)
		status = kit_refuse_type(u, 1, u->op->desc.in[1].type);
	if (status == PCTL_OK)
		status = window_of(u, k->dims, &w->dim[2], ATTR_STRIDE, (int)k->spread, &c->w);
	if (status == PCTL_OK && k->spread)
		status = window_numbers(u, ATTR_EXTRA, k->dims, 0, 0, extra);
	if (status != PCTL_OK)
		return status;
	if (x->dim[1] % c->groups != 0 || (!k->spread && w->dim[0] % c->groups != 0))
		return kit_refuse_attr(u, "groups", "does not divide the channels");
	c->in = x->dim[1] / c->groups;
	c->out = k->spread ? w->dim[1] : w->dim[0] / c->groups;
	if (w->dim[k->spread ? 0 : 1] != (k->spread ? x->dim[1] : c->in))
		return kit_refuse_type(u, 1, "the channels of x in a group");
	for (uint32_t d = 0; d < k->dims && k->spread; d++) {
		window_dim *dim = &c->w.dim[WINDOW_DIMS - k->dims + d];

		if (extra[d] >= dim->stride)
			return kit_refuse_attr(u, "extra", "is not below the stride");
		dim->out += dim->n == 0 ? 0 : extra[d];
	}
	c->w.places = c->w.dim[0].out * c->w.dim[1].out * c->w.dim[2].out;
	c->y.dim[0] = x->dim[0];
	c->y.dim[1] = c->groups * c->out;
	window_shape(&c->w, k->dims, &c->y);
	for (uint32_t i = 0; i < 2 && status == PCTL_OK; i++)
		status = kit_limit(u, "elements", kit_elements(&u->q->in[i]), TENSOR_ELEMENTS_MAX);
	if (status == PCTL_OK)
		status = kit_limit(u, "elements", kit_elements(&c->y), TENSOR_ELEMENTS_MAX);
	return status != PCTL_OK ? status
				 : kit_limit(u, "products of an element",
					     c->in > TENSOR_TERMS_MAX ? c->in : c->in * c->w.taps,
					     TENSOR_TERMS_MAX);
}

static pctl_status conv_infer(const kit_use *u, pctl_op_result *out)
{
	convolution c;
	const pctl_status status = conv_of(u, &c);

	if (status != PCTL_OK)
		return status;
	out->out[0] = c.y;
	/* Batch by batch. */
	out->n_cut = 1;
	out->cut[0] = 1;
	return PCTL_OK;
}

/* One element an invocation, by 4.4's exact integer sums; what comes sooner to most elements stands in front. */
static void add_terms(tensor_kernel *k, const convolution *c)
{
	const kit_use *u = k->plan->use;
	const char *const names[] = {"x", "w"};
	const int wide = kit_dtype_bytes(c->y.dtype) == 8;

	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t dtype = u->q->in[i].dtype;

		const tensor_store store =
			tensor_kernel_store(k, names[i], wide ? "u64" : "u32", kit_in(k->plan, i));

		if (wide)
			kit_wgsl_named(&k->w, "fn $_word(i: u32) -> u64 {\n\treturn $[i];\n}\n",
				       names[i]);
		else if (kit_codec_word(dtype) != NULL)
			kit_wgsl_named(&k->w, kit_codec_word(dtype), names[i]);
		if (c->format != NULL)
			kit_wgsl_named(&k->w, kit_codec_bits(dtype), names[i]);
		tensor_kernel_stored(k, &store);
	}
	window_text(k, &c->w, 3);
	if (c->format != NULL) {
		kit_wgsl_add(&k->w, c->format->text);
		kit_wgsl_add(&k->w, "fn sum_scale() -> bool {\n\treturn false;\n}\n");
		kit_wgsl_add(&k->w, KERNEL_EXACT_SUM);
		kit_wgsl_add(&k->w,
			     "fn clear() {\n\tsum_clear();\n}\nfn term(a: u32, b: u32) "
			     "{\n\tsum_product(x_bits(a), "
			     "w_bits(b));\n}\nfn result() -> T {\n\treturn sum_round();\n}\n");
	} else {
		kit_wgsl_add(
			&k->w,
			"var<private> acc: T;\nfn clear() {\n\tacc = T(0);\n}\nfn term(a: u32, b: "
			"u32) {\n\tacc += x_word(a) * w_word(b);\n}\nfn result() -> T {\n\treturn "
			"acc;\n}\n");
	}
	k->params.v[0][0] = (uint32_t)c->w.places;
	k->params.v[0][1] = (uint32_t)c->w.taps;
	k->params.v[0][2] = (uint32_t)c->w.elements;
	k->params.v[0][3] = (uint32_t)(c->groups * c->out);
	k->params.v[1][0] = (uint32_t)c->in;
	k->params.v[1][1] = (uint32_t)c->out;
	k->params.v[1][2] = (uint32_t)c->w.channels;
	/* How far it is in w from one channel of x to the next, and from one of y; and from one group to the next. */
	k->params.v[2][0] = (uint32_t)(c->w.spread ? c->out * c->w.taps : c->w.taps);
	k->params.v[2][1] = (uint32_t)(c->w.spread ? c->w.taps : c->in * c->w.taps);
	k->params.v[2][2] = (uint32_t)(c->in * c->out * c->w.taps);
}

void conv_run(kit_plan *p, const convolution *c, uint32_t way, uint32_t made)
{
	tensor_kernel k = tensor_kernel_begin(p, "tensor/conv.wgsl", kit_elements(&c->y),
					      kit_dtype_bytes(c->y.dtype), c->in * c->w.taps);

	add_terms(&k, c);
	kit_wgsl_named(&k.w, KERNEL_CONV, way == CONV_ALONE ? "product" : "direct");
	if (way == CONV_MENDED) {
		tensor_kernel_read(&k, "made", k.bytes, made);
		kit_wgsl_add(&k.w, KERNEL_CONV_MENDED);
	} else if (way == CONV_JUDGED) {
		if (c->format->dtype == PCTL_SCALAR_F16)
			kit_wgsl_front(&k.w, "enable f16;\n");
		tensor_judge_text(&k.w, c->format);
		kit_wgsl_add(&k.w, KERNEL_CONV_JUDGED);
	}
	tensor_kernel_run(&k, kit_out(p, 0));
}

static void conv_plan(kit_plan *p)
{
	convolution c;

	p->status = conv_of(p->use, &c);
	if (p->status == PCTL_OK && !conv_fast(p, &c))
		conv_run(p, &c, CONV_ALONE, 0);
}

static uint64_t integer_of(uint32_t dtype, const void *data, uint64_t i)
{
	const uint64_t bits = 8 * kit_dtype_bytes(dtype);
	uint64_t v;

	if (bits == 0) /* narrower than a byte */
		return (uint64_t)(int64_t)tensor_element(dtype, data, i);
	v = tensor_get(data, i, bits / 8);
	return tensor_is_signed(dtype) && bits < 64 && v >> (bits - 1) ? v | UINT64_MAX << bits : v;
}

static pctl_status conv_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint32_t xt = u->q->in[0].dtype, wt = u->q->in[1].dtype;
	uint64_t at = 0;
	convolution c;
	const pctl_status status = conv_of(u, &c);

	for (uint64_t b = 0; status == PCTL_OK && b < c.w.batches; b++)
		for (uint64_t channel = 0; channel < c.groups * c.out; channel++)
			for (uint64_t q = 0; q < c.w.places; q++, at++) {
				const uint64_t g = channel / c.out;
				tensor_sum sum = {0};
				uint64_t acc = 0;

				for (uint64_t i = 0; i < c.in * c.w.taps; i++) {
					const uint64_t ci = i / c.w.taps, t = i % c.w.taps;
					const uint64_t from = window_at(&c.w, q, t);
					const uint64_t xi =
						(b * c.w.channels + g * c.in + ci) * c.w.elements +
						from;
					const uint64_t wi =
						c.w.spread ? ((g * c.in + ci) * c.out +
							      channel % c.out) *
									     c.w.taps +
								     t
							   : (channel * c.in + ci) * c.w.taps + t;

					if (from == UINT64_MAX)
						continue;
					if (c.format != NULL)
						tensor_sum_product(
							&sum, tensor_value(xt, in[0].data, xi),
							tensor_value(wt, in[1].data, wi));
					else
						acc += integer_of(xt, in[0].data, xi) *
						       integer_of(wt, in[1].data, wi);
				}
				tensor_put(out[0].data, at, kit_dtype_bytes(c.y.dtype),
					   c.format != NULL ? tensor_sum_round(&sum, 1, c.format)
							    : acc);
			}
	return status;
}

/* ---- im2col --------------------------------------------------------------------------------- */

static pctl_status im2col_of(const kit_use *u, window *w, pctl_tensor_type *y)
{
	const uint32_t dims = u->q->in[0].rank - 2;
	uint64_t taps[WINDOW_DIMS];
	pctl_status status = tensor_movable(u, 0);

	if (status == PCTL_OK && (u->q->in[0].rank < 3 || dims > WINDOW_DIMS))
		status = kit_refuse_type(u, 0, "3 to 5 dimensions");
	if (status == PCTL_OK)
		status = window_numbers(u, ATTR_WINDOW, dims, 1, 1, taps);
	if (status == PCTL_OK)
		status = window_of(u, dims, taps, ATTR_STRIDE, 0, w);
	if (status != PCTL_OK)
		return status;
	for (uint32_t d = 0; d < WINDOW_DIMS && u->q->in[0].dtype == PCTL_DTYPE_BINARY; d++)
		if (w->dim[d].pad != 0)
			return kit_refuse_attr(u, "pad", "puts zeros around, and no binary is one");
	*y = (pctl_tensor_type){
		u->q->in[0].dtype, 3, {w->batches, w->places, w->channels * w->taps}};
	return kit_limit(u, "elements", kit_elements(y), TENSOR_ELEMENTS_MAX);
}

static pctl_status im2col_infer(const kit_use *u, pctl_op_result *out)
{
	window w;

	return im2col_of(u, &w, &out->out[0]);
}

static void im2col_plan(kit_plan *p)
{
	const uint32_t dtype = p->use->q->in[0].dtype;
	pctl_tensor_type y;
	tensor_kernel k;
	window w;

	p->status = im2col_of(p->use, &w, &y);
	if (p->status != PCTL_OK)
		return;
	k = tensor_kernel_begin_of(p, "tensor/im2col.wgsl", kit_elements(&y), dtype, 0);
	tensor_kernel_read_of(&k, "x", dtype, kit_in(p, 0));
	window_text(&k, &w, 3);
	kit_wgsl_add(&k.w, KERNEL_IM2COL);
	k.params.v[0][0] = (uint32_t)w.places;
	k.params.v[0][1] = (uint32_t)w.taps;
	k.params.v[0][2] = (uint32_t)w.elements;
	k.params.v[0][3] = (uint32_t)w.channels;
	tensor_kernel_run(&k, kit_out(p, 0));
}

static pctl_status im2col_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint32_t dtype = u->q->in[0].dtype;
	pctl_tensor_type y;
	uint64_t at = 0;
	window w;
	const pctl_status status = im2col_of(u, &w, &y);

	for (uint64_t b = 0; status == PCTL_OK && b < w.batches; b++)
		for (uint64_t q = 0; q < w.places; q++)
			for (uint64_t i = 0; i < w.channels * w.taps; i++, at++) {
				const uint64_t from = window_at(&w, q, i % w.taps);

				tensor_code_put(dtype, out[0].data, at,
						from == UINT64_MAX
							? 0
							: tensor_code(dtype, in[0].data,
								      (b * w.channels +
								       i / w.taps) * w.elements +
									      from));
			}
	return status;
}

/* ---- problems and laws ---------------------------------------------------------------------- */

typedef struct sizes {
	uint64_t batches, in, out, groups, n, taps;
	const char *stride, *pad, *dilation;
} sizes;
/* So many that products of matrices, or f64 sums, are what comes sooner. */
#define MANY 24u

static uint64_t side_of(const sizes *s, uint32_t dims)
{
	return s->n != MANY ? s->n : dims == 1 ? 90 : dims == 2 ? 7 : 4;
}

static const sizes tried[] = {
	{1, 1, 1, 1, 1, 1, "", "", ""},	      {2, 1, 2, 1, 5, 3, "", "1", ""},
	{1, 4, 2, 2, 7, 2, "2", "", ""},      {1, 3, 3, 3, 6, 3, "1", "2", "2"},
	{2, 2, 3, 1, 4, 4, "3", "3", ""},     {1, 2, 2, 1, 2, 5, "", "", ""},
	{0, 1, 1, 1, 3, 1, "", "", ""},	      {1, 2, 4, 2, 0, 3, "", "1", ""},
	{1, 8, 1, 1, 3, 2, "2", "1", "1"},    {1, 16, 16, 1, MANY, 3, "", "1", ""},
	{1, 48, 48, 48, MANY, 4, "", "1", ""}};

static const pctl_op_problems conv_problems = {PCTL_HEAD(pctl_op_problems),
					       "up to 48 channels of up to 90 elements a dimension",
					       KIT_COUNT(tried) * TENSOR_KINDS};

static void conv_problem(kit_problem *p)
{
	const kind *k = p->use.op->data;
	const sizes *s = &tried[p->number % KIT_COUNT(tried)];
	const uint32_t variant = (uint32_t)(p->number / KIT_COUNT(tried)) % TENSOR_KINDS;
	const int is_float = tensor_is_float(p->dtype);
	pctl_tensor_type x = {p->dtype, k->dims + 2, {s->batches, s->in}};
	pctl_tensor_type w = {p->dtype, k->dims + 2, {s->out, s->in / s->groups}};
	const uint64_t n = side_of(s, k->dims);
	char groups[8];

	snprintf(groups, sizeof(groups), "%u", (uint32_t)s->groups);

	if (k->spread) {
		w.dim[0] = s->in;
		w.dim[1] = s->out / s->groups;
	}
	/* Dimensions differ, so that none stands for another. */
	for (uint32_t d = 0; d < k->dims; d++) {
		x.dim[2 + d] = n == 0 ? 0 : n - (d == 1 && n > 2) + (d == 2);
		w.dim[2 + d] = s->taps > 1 && d == 1 ? s->taps - 1 : s->taps;
	}
	if (k->dims == 3 && n > 4)
		x.dim[2] = 3;
	tensor_problem_attr(p, ATTR_STRIDE, s->stride);
	tensor_problem_attr(p, ATTR_PAD, s->pad);
	tensor_problem_attr(p, ATTR_DILATION, s->dilation);
	tensor_problem_attr(p, ATTR_GROUPS, groups);
	tensor_problem_attr(p, ATTR_OUT,
			    !is_float	   ? ""
			    : variant == 0 ? "f32"
			    : variant == 1 ? "f16"
					   : "bf16");
	if (k->spread && (s->stride[0] == '2' || s->stride[0] == '3'))
		tensor_problem_attr(p, ATTR_EXTRA, "1,0");
	tensor_problem_fill(p, 0, &x, variant);
	tensor_problem_fill(p, 1, &w, variant);
	kit_problem_rigid(p);
}

/* Batches from the last to the first. */
static void law_batches(kit_law *l)
{
	const uint32_t y = kit_law_out(l, 0);
	const pctl_tensor_type *x = &l->use.q->in[0], *t = &l->c->types[y];
	const uint64_t n = x->dim[0];
	const tensor_lines from = {1, n, n == 0 ? 1 : kit_elements(x) / n, 0},
			   to = {1, n, n == 0 ? 1 : kit_elements(t) / n, 0};
	uint32_t in[2] = {0, 1};

	in[0] = tensor_law_taken(l, x, 0, tensor_law_mirrored, &from);
	kit_law_equal(l,
		      kit_law_use(l, l->use.op->desc.name, in, l->use.q->n_in, l->use.q->attr,
				  l->use.q->n_attr, 1),
		      tensor_law_taken(l, t, y, tensor_law_mirrored, &to));
}

typedef struct turned {
	uint64_t group, channels, taps;
} turned;

static uint64_t other_order(const void *ctx, uint64_t i)
{
	const turned *t = ctx;
	const uint64_t c = i / t->taps % t->channels;

	return i - c * t->taps +
	       (c / t->group * t->group + (t->group - 1 - c % t->group)) * t->taps;
}

/* Channels of each group, in x and w, from the last to the first: the order of terms does not show. */
static void law_channels(kit_law *l)
{
	const kind *k = l->use.op->data;
	const pctl_op_query *q = l->use.q;
	uint32_t in[2];
	convolution c;
	turned x, w;

	if (conv_of(&l->use, &c) != PCTL_OK || c.in == 0 || c.w.elements == 0)
		return;
	x = (turned){c.in, c.w.channels, c.w.elements};
	w = k->spread ? (turned){c.in, c.w.channels, c.out * c.w.taps}
		      : (turned){c.in, c.in, c.w.taps};
	in[0] = tensor_law_taken(l, &q->in[0], 0, other_order, &x);
	in[1] = tensor_law_taken(l, &q->in[1], 1, other_order, &w);
	kit_law_equal(l, kit_law_use(l, l->use.op->desc.name, in, 2, q->attr, q->n_attr, 1),
		      kit_law_out(l, 0));
}

static const pctl_op_problems im2col_problems = {
	PCTL_HEAD(pctl_op_problems), "up to 48 channels of up to 90 elements a dimension",
	KIT_COUNT(tried) * 3};

static void im2col_problem(kit_problem *p)
{
	const sizes *s = &tried[p->number % KIT_COUNT(tried)];
	const uint32_t dims = 1 + (uint32_t)(p->number / KIT_COUNT(tried)) % 3;
	const uint64_t n = s->n == MANY ? 4 : s->n;
	pctl_tensor_type x = {p->dtype, dims + 2, {s->batches, s->in, n, n, 2}};
	char taps[8] = {(char)('0' + s->taps), '\0'};

	if (tensor_problem_of_others(p))
		return;
	if (dims > 1 && n > 2)
		x.dim[3]--;
	tensor_problem_attr(p, ATTR_STRIDE, s->stride);
	tensor_problem_attr(p, ATTR_PAD, p->dtype == PCTL_DTYPE_BINARY ? "0" : s->pad);
	tensor_problem_attr(p, ATTR_DILATION, s->dilation);
	tensor_problem_attr(p, ATTR_WINDOW, taps);
	tensor_problem_fill(p, 0, &x, TENSOR_BITS);
	kit_problem_rigid(p);
}

/* ---- the ops -------------------------------------------------------------------------------- */

#define TYPES "f32|f16|bf16|i8|u8|i16|u16|i32|u32|i64|u64"
#define NARROW "f8e4m3|f8e5m2|f4|i4|u4|i2|u2|ternary|binary|"
#define PORTS(id, x_dims, w_dims)                                        \
	static const pctl_port id##_in[] = {                             \
		{"x", TYPES x_dims, "batches and channels first", 0, 0}, \
		{"w", NARROW TYPES w_dims,                               \
		 "channels of the result, or with transposed ones of x, first", 0, 0}}
PORTS(conv1, "[b,c,n]", "[o,i,t]");
PORTS(conv2, "[b,c,n,m]", "[o,i,t,s]");
PORTS(conv3, "[b,c,n,m,k]", "[o,i,t,s,r]");
static const pctl_port conv_out[] = {
	{"y", "f32|f16|bf16|i32|u32|i64|u64[...]", "batches and channels first", 0, 0}};
static const pctl_port im2col_in[] = {
	{"x", TENSOR_ANY "[...]", "batches and channels, then one to three dimensions", 0, 0}};
static const pctl_port im2col_out[] = {
	{"y", TENSOR_ANY "[b,places,terms]", "a row of terms for each place", 0, 0}};
#define STEPS                                                                                    \
	{"stride",                                                                               \
	 "",                                                                                     \
	 "one number, or one for each dimension between commas; 1 if not given",                 \
	 PCTL_ATTR_STRING,                                                                       \
	 0,                                                                                      \
	 0,                                                                                      \
	 0},                                                                                     \
		{"pad",                                                                          \
		 "",                                                                             \
		 "places before and behind each dimension; 0 if not given",                      \
		 PCTL_ATTR_STRING,                                                               \
		 0,                                                                              \
		 0,                                                                              \
		 0},                                                                             \
	{                                                                                        \
		"dilation", "", "from one tap to the next; 1 if not given", PCTL_ATTR_STRING, 0, \
			0, 0                                                                     \
	}
static const pctl_attr_desc conv_attr[] = {
	STEPS,
	{"groups", "1", "channels are cut into so many", PCTL_ATTR_U64, 0, 1, 1u << 20},
	{"out", "", "type of y where an input is a float: f32 (if not given), f16 or bf16",
	 PCTL_ATTR_STRING, 0, 0, 0},
	{"extra", "", "more places behind each dimension, below its stride", PCTL_ATTR_STRING, 0, 0,
	 0},
};
static const pctl_attr_desc im2col_attr[] = {
	STEPS,
	{"window", NULL, "taps of each dimension", PCTL_ATTR_STRING, 0, 0, 0},
};
static const pctl_law conv_laws[] = {
	TENSOR_LAW("batches", "batches from the last to the first give y so"),
	TENSOR_LAW("channels",
		   "channels of x and w turned about within their groups give the same y"),
};
static void (*const conv_checks[])(kit_law *) = {law_batches, law_channels};
static const pctl_law im2col_laws[] = {
	TENSOR_LAW("batches", "batches from the last to the first give y so")};
static void (*const im2col_checks[])(kit_law *) = {law_batches};

#define EXACT                                                                                   \
	"\nOf floats exact, rounded once; of integers modulo 2^32, or 2^64 where they have 64 " \
	"bits. Places "                                                                         \
	"outside x are no terms."
#define CONV(dims, at)                                                                           \
	TENSOR_OP(conv, 1, "tensor.conv" #dims "d",                                              \
		  "convolution over " #dims " dimensions, exact",                                \
		  "y[b, c, q] = the sum over channels i of c's group and taps t of x[b, i, q * " \
		  "stride - "                                                                    \
		  "pad + t * dilation] * w[c, i, t]." EXACT,                                     \
		  PCTL_CLASS_STRICT, conv##dims##_in, 2, conv_out, conv_attr, 5, &kinds[at])

static const kit_op ops[] = {
	CONV(1, 0),
	CONV(2, 1),
	CONV(3, 2),
	TENSOR_OP(
		conv, 1, "tensor.conv_transpose2d",
		"transposed convolution over 2 dimensions, exact",
		"y[b, c, q] = the sum over channels i of c's group and taps t, where q + pad - t * "
		"dilation = stride * s,\nof x[b, i, s] * w[i, c, t]; a dimension has (n - 1) * "
		"stride - 2 "
		"* pad + dilation * (taps - 1) + extra + 1 places." EXACT,
		PCTL_CLASS_STRICT, conv2_in, 2, conv_out, conv_attr, 6, &kinds[3]),
	TENSOR_OP(im2col, 1, "tensor.im2col", "the terms of a convolution as rows of a matrix",
		  "y[b, q, i * taps + t] = x[b, i, q * stride - pad + t * dilation], all bits 0 "
		  "outside x.",
		  PCTL_CLASS_INTEGER, im2col_in, 1, im2col_out, im2col_attr, 4, NULL),
};

const kit_family tensor_conv_family = {ops, NULL, KIT_COUNT(ops), 0};
