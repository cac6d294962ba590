/* tensor.sum and tensor.mean along axes: of floats the exact sum, divided exactly, rounded once; of integers modulo 2^width. Long
 * sums are cut into runs, whose exact sums are added in further rounds: no cut ever shows. */
#include <stdlib.h>

#include "common/codec.h"
#include "exact_reference.h"
#include "kernels.h"

#define RUN 1024u
#define GROUPS_MAX 4u
#define DIGIT_WORDS 21u /* of a sum in memory: exact_sum.wgsl's digits, and what was seen */

enum { ATTR_AXES, ATTR_KEEP };

/* n elements `stride` apart. */
typedef struct group {
	uint64_t n, stride;
} group;

/* A sum, taken apart; groups from the innermost on, of which those that are not there have 1 element. */
typedef struct layout {
	group kept[GROUPS_MAX], reduced[GROUPS_MAX];
	uint64_t count, terms;
	pctl_tensor_type out;
	const tensor_float_format *format; /* NULL: integers */
} layout;

static const uint32_t divided = 1; /* data of tensor.mean */

static int is_mean(const kit_use *u)
{
	return u->op->data != NULL;
}

/* A mask of axes from "", which is all, or numbers between commas; negative ones count from the end. */
static pctl_status axes_of(const kit_use *u, uint32_t *out)
{
	const uint32_t rank = u->q->in[0].rank;
	const char *text = u->q->attr[ATTR_AXES].text;

	*out = *text == '\0' ? (1u << rank) - 1 : 0;
	while (*text != '\0') {
		char *end;
		long axis = strtol(text, &end, 10);

		if (end == text || (*end != '\0' && (*end != ',' || end[1] == '\0')))
			return kit_refuse_attr(u, "axes", "is not numbers between commas");
		axis += axis < 0 ? (long)rank : 0;
		if (axis < 0 || axis >= (long)rank)
			return kit_refuse_attr(u, "axes", "names an axis that x has not");
		if (*out >> axis & 1)
			return kit_refuse_attr(u, "axes", "names an axis twice");
		*out |= 1u << axis;
		text = end + (*end == ',');
	}
	return PCTL_OK;
}

static pctl_status layout_of(const kit_use *u, layout *l)
{
	const pctl_tensor_type *x = &u->q->in[0];
	uint32_t axes, n[2] = {0, 0}, last = 2;
	uint64_t stride = 1;
	pctl_status status = axes_of(u, &axes);

	*l = (layout){.count = 1, .terms = 1, .out = {.dtype = x->dtype}};
	l->format = tensor_float_format_of(x->dtype);
	if (l->format == NULL &&
	    (is_mean(u) || (kit_dtype_bytes(x->dtype) != 4 && kit_dtype_bytes(x->dtype) != 8) ||
	     x->dtype == PCTL_SCALAR_BOOL))
		return kit_refuse_type(u, 0, u->op->desc.in[0].type);
	for (uint32_t i = 0; i < GROUPS_MAX; i++)
		l->kept[i].n = l->reduced[i].n = 1;
	for (uint32_t d = x->rank; status == PCTL_OK && d-- > 0;) {
		const uint32_t reduced = axes >> d & 1;
		group *g = reduced ? l->reduced : l->kept;

		if (reduced != last)
			g[n[reduced]++] = (group){1, stride};
		g[n[reduced] - 1].n *= x->dim[d];
		last = reduced;
		stride *= x->dim[d];
		*(reduced ? &l->terms : &l->count) *= x->dim[d];
	}
	for (uint32_t d = 0; d < x->rank; d++)
		if (!(axes >> d & 1))
			l->out.dim[l->out.rank++] = x->dim[d];
		else if (kit_attr(u, ATTR_KEEP))
			l->out.dim[l->out.rank++] = 1;
	if (status == PCTL_OK)
		status = kit_limit(u, "elements", kit_elements(x), TENSOR_ELEMENTS_MAX);
	if (status == PCTL_OK)
		status = kit_limit(u, "results", kit_elements(&l->out), TENSOR_ELEMENTS_MAX);
	return status != PCTL_OK ? status
				 : kit_limit(u, "terms of a sum", l->terms, TENSOR_TERMS_MAX);
}

static pctl_status infer(const kit_use *u, pctl_op_result *out)
{
	layout l;
	const pctl_status status = layout_of(u, &l);

	if (status == PCTL_OK)
		out->out[0] = l.out;
	return status;
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* As sum_place.wgsl has it. */
typedef struct params {
	uint32_t count, terms, runs, run;
	uint32_t kept[GROUPS_MAX][4], reduced[GROUPS_MAX][4];
} params;

/* One round: `terms` things to add of each result, in `runs` runs. */
typedef struct round {
	uint64_t terms, runs;
	uint32_t from, to;
	int first, last;
} round;

static void add_floats(kit_wgsl *w, const kit_use *u, const layout *l, const round *r)
{
	const char *read =
		r->first ? "@group(0) @binding(1) var<storage, read> x: array<u32>;\n"
			 : "@group(0) @binding(1) var<storage, read> x: array<array<u32, 21>>;\n";
	const char *write =
		r->last ? "@group(0) @binding(2) var<storage, read_write> y: array<u32>;\n"
			: "@group(0) @binding(2) var<storage, read_write> y: array<array<u32, "
			  "21>>;\n";

	kit_wgsl_add(w, read);
	kit_wgsl_add(w, write);
	kit_wgsl_add(w, l->format->text);
	/* Long division from the highest digit down. */
	kit_wgsl_add(w, is_mean(u)
				? "@group(0) @binding(3) var<uniform> divisor: u32;\n"
				  "fn sum_scale() -> bool {\n\tvar rest = 0lu;\n"
				  "\tfor (var i = 0u; i < DIGITS; i++) {\n"
				  "\t\trest = (rest << 32u) | u64(total[DIGITS - 1u - i]);\n"
				  "\t\ttotal[DIGITS - 1u - i] = i64(rest / u64(divisor));\n"
				  "\t\trest = rest % u64(divisor);\n\t}\n\treturn rest != 0lu;\n}\n"
				: "fn sum_scale() -> bool {\n\treturn false;\n}\n");
	kit_wgsl_add(w, KERNEL_EXACT_SUM);
	if (r->first) {
		kit_wgsl_named(w, kit_codec_bits(l->out.dtype), "x");
		kit_wgsl_add(w, KERNEL_SUM_TERMS);
	} else {
		kit_wgsl_add(w, KERNEL_SUM_PARTIALS);
	}
	if (!r->last) {
		kit_wgsl_add(w, KERNEL_SUM_KEEP);
		return;
	}
	kit_wgsl_add(w, "fn product(at: u32) -> u32 {\n\tsum_clear();\n\taccumulate(at);\n");
	kit_wgsl_add(w, is_mean(u) ? "\tif (divisor == 0u) {\n\t\tsaw = SAW_NAN;\n\t}\n\treturn "
				     "sum_round();\n}\n"
				   : "\treturn sum_round();\n}\n");
	kit_wgsl_add(w, kit_dtype_bytes(l->out.dtype) == 4 ? KERNEL_RESULT_WORDS
							   : KERNEL_RESULT_HALVES);
}

static void add_integers(kit_wgsl *w, const layout *l)
{
	const int wide = kit_dtype_bytes(l->out.dtype) == 8;

	kit_wgsl_add(w, wide ? "alias T = u64;\n" : "alias T = u32;\n");
	kit_wgsl_add(w, "@group(0) @binding(1) var<storage, read> x: array<T>;\n"
			"@group(0) @binding(2) var<storage, read_write> y: array<T>;\n");
	kit_wgsl_add(w, KERNEL_SUM_INTEGER);
	kit_wgsl_add(w, KERNEL_RESULT_WORDS);
}

static uint32_t params_of(kit_plan *p, const layout *l, const round *r)
{
	params v = {(uint32_t)l->count,
		    (uint32_t)r->terms,
		    (uint32_t)r->runs,
		    r->terms < RUN ? (uint32_t)r->terms : RUN,
		    {{0}},
		    {{0}}};

	for (uint32_t i = 0; i < GROUPS_MAX; i++) {
		const group kept = r->first ? l->kept[i] : (group){i == 0 ? l->count : 1, r->terms};
		const group reduced = r->first ? l->reduced[i] : (group){i == 0 ? r->terms : 1, 1};

		v.kept[i][0] = (uint32_t)kept.n;
		v.kept[i][1] = (uint32_t)kept.stride;
		v.reduced[i][0] = (uint32_t)reduced.n;
		v.reduced[i][1] = (uint32_t)reduced.stride;
	}
	/* Nothing is added: no index is computed from these. */
	for (uint32_t i = 0; i < GROUPS_MAX; i++)
		v.reduced[i][0] += v.reduced[i][0] == 0;
	v.runs += v.runs == 0;
	return kit_params(p, &v, sizeof(v));
}

static void run(kit_plan *p, const layout *l, const round *r)
{
	const kit_use *u = p->use;
	const uint32_t divisor = (uint32_t)l->terms;
	kit_kernel kernel = {"tensor/sum.wgsl", NULL, 64, "steps", 16};
	const int halves = r->last && kit_dtype_bytes(l->out.dtype) == 2;
	const uint64_t lanes = l->count * (r->runs == 0 ? 1 : r->runs);
	const uint32_t n_slots = l->format != NULL && is_mean(u) ? 4 : 3;
	kit_slot slots[4];
	kit_wgsl w = kit_wgsl_make(u, 16384);

	while (kernel.override_value < r->terms && kernel.override_value < RUN)
		kernel.override_value *= 2;
	kit_wgsl_add(&w, KERNEL_SUM_PLACE);
	if (l->format != NULL)
		add_floats(&w, u, l, r);
	else
		add_integers(&w, l);
	p->status = kit_wgsl_status(&w);
	kernel.text = w.text;
	slots[0] = (kit_slot)KIT_ALL(params_of(p, l, r));
	slots[1] = (kit_slot)KIT_ALL(r->from);
	slots[2] = (kit_slot)KIT_ALL(r->to);
	slots[3] = (kit_slot)KIT_ALL(n_slots == 4 ? kit_params(p, &divisor, sizeof(divisor)) : 0);
	kit_run(p, &kernel, halves ? (lanes + 1) / 2 : lanes, slots, n_slots);
	kit_wgsl_free(&w);
}

static void plan(kit_plan *p)
{
	round r = {.first = 1, .from = kit_in(p, 0)};
	layout l;

	p->status = layout_of(p->use, &l);
	if (p->status != PCTL_OK || l.count == 0)
		return;
	for (r.terms = l.terms; !r.last && p->status == PCTL_OK;
	     r.terms = r.runs, r.first = 0, r.from = r.to) {
		r.runs = (r.terms + RUN - 1) / RUN;
		r.last = r.runs <= 1;
		r.to = r.last ? kit_out(p, 0)
			      : kit_temp(p,
					 l.count * r.runs *
						 (l.format != NULL ? 4 * DIGIT_WORDS
								   : kit_dtype_bytes(l.out.dtype)));
		run(p, &l, &r);
	}
}

/* ---- reference ------------------------------------------------------------------------------ */

/* Element by element of x, to the result that it belongs to by its coordinates. */
static pctl_status reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const pctl_tensor_type *x = &u->q->in[0];
	const uint64_t n = kit_elements(x), bytes = kit_dtype_bytes(x->dtype);
	uint32_t axes = 0;
	layout l;
	pctl_status status = layout_of(u, &l);
	tensor_sum *sums = NULL;

	if (status == PCTL_OK)
		status = axes_of(u, &axes);
	if (status == PCTL_OK && l.format != NULL)
		sums = kit_scratch(u, l.count * sizeof(*sums));
	if (status == PCTL_OK && l.format != NULL && sums == NULL)
		return pctl_refuse(u->call, PC2_NOMEM, "no memory for sums");
	if (sums != NULL)
		memset(sums, 0, l.count * sizeof(*sums));
	else if (status == PCTL_OK)
		memset(out[0].data, 0, l.count * bytes);
	for (uint64_t i = 0; status == PCTL_OK && i < n; i++) {
		uint64_t rest = i, result = 0, scale = 1, a = 0, b = 0;

		for (uint32_t d = x->rank; d-- > 0;) {
			if (!(axes >> d & 1)) {
				result += rest % x->dim[d] * scale;
				scale *= x->dim[d];
			}
			rest /= x->dim[d];
		}
		if (sums != NULL) {
			tensor_sum_product(&sums[result], tensor_value(x->dtype, in[0].data, i), 1);
			continue;
		}
		memcpy(&a, (char *)out[0].data + result * bytes, bytes);
		memcpy(&b, (const char *)in[0].data + i * bytes, bytes);
		a += b;
		memcpy((char *)out[0].data + result * bytes, &a, bytes);
	}
	for (uint64_t i = 0; sums != NULL && i < l.count; i++) {
		const uint32_t bits =
			tensor_sum_round(&sums[i], is_mean(u) ? l.terms : 1, l.format);

		memcpy((char *)out[0].data + i * bytes, &bits, bytes);
	}
	kit_scratch_free(u, sums);
	return status;
}

/* ---- laws ----------------------------------------------------------------------------------- */

/* The elements of x from the last to the first, and then again where `times` is 2. */
static uint32_t reversed(kit_law *l, uint64_t times)
{
	pctl_tensor_type t = l->use.q->in[0];
	const uint64_t n = kit_elements(&t), bytes = kit_dtype_bytes(t.dtype);
	uint8_t *data = kit_law_scratch(l, times * n * bytes + 1);
	uint32_t number = 0;

	if (data == NULL)
		return 0;
	for (uint64_t i = 0; i < times * n; i++)
		memcpy(data + i * bytes, kit_law_data(l, 0) + (n - 1 - i % n) * bytes, bytes);
	t.dim[0] *= times;
	number = kit_law_tensor(l, &t, data);
	kit_law_free(l, data);
	return number;
}

static void again(kit_law *l, uint64_t times)
{
	const pctl_tensor_type *x = &l->use.q->in[0];
	const uint32_t of = x->rank == 0 || kit_elements(x) == 0 || *kit_law_attr(l, "axes") != '\0'
				    ? UINT32_MAX
				    : reversed(l, times);

	if (of != UINT32_MAX)
		kit_law_equal(l, kit_law_use(l, l->use.op->desc.name, &of, 1, l->use.q->attr, 2, 1),
			      kit_law_out(l, 0));
}

static void law_reversed(kit_law *l)
{
	again(l, 1);
}

static void law_repeated(kit_law *l)
{
	again(l, 2);
}

/* x as one row times a column of ones, which are bytes beside floats and of x's type beside integers. */
static void law_product(kit_law *l)
{
	const uint32_t dtype = l->use.q->in[0].dtype;
	const int is_float = tensor_float_format_of(dtype) != NULL;
	const uint64_t n = kit_elements(&l->use.q->in[0]);
	const uint64_t bytes = is_float ? 1 : kit_dtype_bytes(dtype);
	const pctl_tensor_type row = {dtype, 2, {1, n}};
	const pctl_tensor_type column = {is_float ? PCTL_SCALAR_I8 : dtype, 2, {n, 1}};
	const pctl_attr out = {"out", kit_dtype_name(dtype), 0};
	uint8_t *ones =
		*kit_law_attr(l, "axes") != '\0' || n == 0 ? NULL : kit_law_scratch(l, n * bytes);
	uint32_t factors[2];

	if (ones == NULL)
		return;
	for (uint64_t i = 0; i < n; i++)
		ones[i * bytes] = 1;
	factors[0] = kit_law_tensor(l, &row, kit_law_data(l, 0));
	factors[1] = kit_law_tensor(l, &column, ones);
	kit_law_equal(l, kit_law_use(l, "tensor.matmul", factors, 2, &out, 1, 1),
		      kit_law_out(l, 0));
	kit_law_free(l, ones);
}

/* ---- the ops -------------------------------------------------------------------------------- */

static const pctl_port sum_in[] = {{"x", "f32|f16|bf16|i32|u32|i64|u64[...]", "the terms", 0, 0}};
static const pctl_port sum_out[] = {
	{"y", "f32|f16|bf16|i32|u32|i64|u64[...]", "the sums, of x's type", 0, 0}};
static const pctl_port mean_in[] = {{"x", "f32|f16|bf16[...]", "the terms", 0, 0}};
static const pctl_port mean_out[] = {{"y", "f32|f16|bf16[...]", "the means, of x's type", 0, 0}};
static const pctl_attr_desc attr[] = {
	{"axes", "",
	 "what is summed over: numbers of axes between commas, negative ones from the end; if not "
	 "given, all",
	 PCTL_ATTR_STRING, 0, 0, 0},
	{"keep", "false", "these axes stay, with one element", PCTL_ATTR_BOOL, 0, 0, 1},
};
static const pctl_law sum_laws[] = {
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "reversed", NULL,
	 "over all axes: x reversed gives the same y"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "product", NULL,
	 "over all axes: y is tensor.matmul of x as a row and a column of ones"},
};
static void (*const sum_checks[])(kit_law *) = {law_reversed, law_product};
static const pctl_law mean_laws[] = {
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "reversed", NULL,
	 "over all axes: x reversed gives the same y"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "repeated", NULL,
	 "over all axes: x taken twice gives the same y"},
};
static void (*const mean_checks[])(kit_law *) = {law_reversed, law_repeated};
static const pctl_example boundaries[] = {
	{"nothing", {0}}, {"one", {1}}, {"one run", {1024}}, {"two rounds", {1025}}};

#define SUM_OP(op, op_doc, op_spec, id, data_)                                       \
	{                                                                            \
		.desc = {.head = PCTL_HEAD(pctl_op_desc),                            \
			 .name = op,                                                 \
			 .doc = op_doc,                                              \
			 .spec = op_spec                                             \
			 "\nx has at most 2^31 elements, a sum at most 2^29 terms.", \
			 .version = 1,                                               \
			 .kind = PCTL_OPDEF_PLAN,                                    \
			 .category = 'A',                                            \
			 .op_class = PCTL_CLASS_STRICT,                              \
			 .convention = 1,                                            \
			 .n_in = 1,                                                  \
			 .n_out = 1,                                                 \
			 .n_attr = KIT_COUNT(attr),                                  \
			 .in = id##_in,                                              \
			 .out = id##_out,                                            \
			 .attr = attr},                                              \
		.rules = {.head = PCTL_HEAD(pctl_op_rules),                          \
			  .laws = id##_laws,                                         \
			  .n_laws = KIT_COUNT(id##_laws),                            \
			  .boundaries = boundaries,                                  \
			  .n_boundaries = KIT_COUNT(boundaries)},                    \
		.laws = id##_checks, .data = data_, .infer = infer, .plan = plan,    \
		.reference = reference                                               \
	}

static const kit_op ops[] = {
	SUM_OP("tensor.sum", "sums along axes, exact of floats",
	       "Of floats the exact sum, rounded once to their type: no order of addition shows; "
	       "an exact zero and the sum of nothing\n"
	       "are +0, Inf - Inf and NaN give the canonical NaN. Of integers modulo 2^width.",
	       sum, NULL),
	SUM_OP("tensor.mean", "means along axes, exact and rounded once",
	       "The exact sum divided by the number of terms, rounded once to x's type; the mean "
	       "of nothing is the canonical NaN.",
	       mean, &divided),
};

const kit_family tensor_sum_family = {ops, NULL, KIT_COUNT(ops), 0};
