/* tensor.softmax, log_softmax and logsumexp along an axis (SEMANTICS.md 15.8, 15.9): the greatest, the exact sum of correctly rounded
 * exponentials, and an elementwise end. */
#include <math.h>

#include "common/tensors/exact_reference.h"
#include "exact_sums.h"
#include "kernels.h"
#include "map.h"
#include "compose_laws.h"
#include "map_laws.h"
#include "common/tensors/real_reference.h"
#include "reduce_laws.h"
#include "softmax.h"

enum { SOFTMAX, LOG_SOFTMAX, LOGSUMEXP };

static const uint32_t kinds[] = {SOFTMAX, LOG_SOFTMAX, LOGSUMEXP};

static uint32_t kind_of(const kit_use *u)
{
	return *(const uint32_t *)u->op->data;
}

static pctl_status axes_of(const kit_use *u, tensor_axes *a)
{
	uint32_t mask;
	pctl_status status;

	if (tensor_float_format_of(u->q->in[0].dtype) == NULL)
		return kit_refuse_type(u, 0, u->op->desc.in[0].type);
	status = tensor_axis_mask(u, 0, &mask);
	if (status == PCTL_OK)
		status = tensor_axes_of(u, mask, kind_of(u) == LOGSUMEXP && kit_attr(u, 1) != 0, a);
	if (kind_of(u) != LOGSUMEXP)
		a->out = u->q->in[0];
	return status;
}

static pctl_status infer(const kit_use *u, pctl_op_result *out)
{
	return tensor_axes_infer(u, axes_of, out);
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* The greatest of each row, as f32. */
static void greatest(kit_plan *p, const tensor_axes *a, uint32_t to)
{
	tensor_round r = tensor_round_first(a, kit_in(p, 0), 4);

	while (p->status == PCTL_OK) {
		kit_wgsl w = kit_wgsl_make(p->use, 16384);

		r.to = r.last ? to : kit_temp(p, 4 * a->count * r.runs);
		tensor_round_text(&w, a, &r);
		kit_wgsl_add(&w, "alias A = u32;\n"
				 "@group(0) @binding(1) var<storage, read> x: array<A>;\n"
				 "@group(0) @binding(2) var<storage, read_write> y: array<A>;\n"
				 "fn none() -> A {\n\treturn 0u;\n}\n"
				 "fn join(a: A, b: A) -> A {\n\treturn max(a, b);\n}\n");
		kit_wgsl_add(&w, KERNEL_EXTREME_KEY);
		kit_wgsl_named(&w, kit_codec_bits(p->use->q->in[0].dtype), "x");
		kit_wgsl_add(&w,
			     r.first ? "fn take(i: u32, term: u32) -> A {\n\treturn "
				       "float_key(x_bits(i));\n}\n"
				     : "fn take(i: u32, term: u32) -> A {\n\treturn x[i];\n}\n");
		kit_wgsl_add(&w, r.last ? "fn give(a: A) -> A {\n\tif (a == 0u) {\n\t\treturn "
					  "select(0x7fc00000u, 0xff800000u, params.terms == 0u);\n"
					  "\t}\n\treturn float_of(a);\n}\n"
					: "fn give(a: A) -> A {\n\treturn a;\n}\n");
		kit_wgsl_named(&w, KERNEL_REDUCE_TREE, "give(ping[lid])");
		tensor_round_run(p, "tensor/softmax_max.wgsl", a, &r, &w,
				 (kit_slot[]){KIT_ALL(tensor_round_params(p, a, &r)),
					      KIT_ALL(r.from), KIT_ALL(r.to)},
				 3);
		if (r.last)
			return;
		r = tensor_round_next(a, &r, 4);
	}
}

#define SUMMED                                                                              \
	"fn term(bits: u32, result: u32) {\n"                                               \
	"\tif (bits != 0xff800000u) {\n\t\tsum_term(bitcast<u32>(exp(bitcast<f32>(bits) - " \
	"bitcast<f32>(greatest[result]))));\n\t}\n}\n"
#define SUMMED_EQUAL                                                                    \
	"fn term(bits: u32, result: u32) {\n\tlet x = bitcast<f32>(bits);\n"            \
	"\tlet m = bitcast<f32>(greatest[result]);\n\tvar e = 1.0f;\n\tif (x != m) {\n" \
	"\t\te = exp(x - m);\n\t}\n\tsum_term(bitcast<u32>(e));\n}\n"

static void plan(kit_plan *p)
{
	static const char *const values[] = {
		[SOFTMAX] = "fn value(i: u32, v: f32) -> f32 {\n\tlet row = row_of(i);\n"
			    "\tlet s = bitcast<f32>(sums[row]);\n"
			    "\tif (s == 0.0 || bitcast<u32>(v) == 0xff800000u) {\n"
			    "\t\treturn 0.0 / select(s, 1.0, s == 0.0);\n\t}\n"
			    "\treturn exp(v - bitcast<f32>(greatest[row])) / s;\n}\n",
		[LOG_SOFTMAX] = "fn value(i: u32, v: f32) -> f32 {\n\tlet row = row_of(i);\n"
				"\tlet s = bitcast<f32>(sums[row]);\n\tif (s == 0.0) {\n"
				"\t\tvar low = 0xff800000u;\n\t\treturn bitcast<f32>(low);\n\t}\n"
				"\treturn (v - bitcast<f32>(greatest[row])) - log(s);\n}\n"};
	const uint32_t kind = kind_of(p->use), dtype = p->use->q->in[0].dtype;
	tensor_exact e = {.name = "tensor/softmax_sum.wgsl",
			  .term = kind == LOGSUMEXP ? SUMMED_EQUAL : SUMMED,
			  .give = TENSOR_GIVE_SUM,
			  .format = tensor_float_format_of(PCTL_SCALAR_F32),
			  .extra_text = "@group(0) @binding(3) var<storage, read> greatest: "
					"array<u32>;\n",
			  .n_extra = 1,
			  .marks = TENSOR_NONE};
	tensor_map m = {.name = "tensor/softmax.wgsl", .n_slots = 2};
	uint32_t highest, sums;
	kit_slot slots[2];
	tensor_axes a;
	kit_wgsl w;

	p->status = axes_of(p->use, &a);
	if (p->status != PCTL_OK || kit_elements(&a.out) == 0 ||
	    tensor_rows_apart(p, &a, kind != LOGSUMEXP))
		return;
	if (kind != LOGSUMEXP && softmax_rows(p, &a, kind == LOG_SOFTMAX))
		return;
	/* Terms that are read twice are no functions of the host's. */
	if ((p->through & PCTL_PLAN_READ_THROUGH(0)) != 0 || !tensor_axes_go_through(p, &a)) {
		p->status = PCTL_E_UNSUPPORTED;
		return;
	}
	highest = kit_temp(p, 4 * a.count);
	greatest(p, &a, highest);
	e.extra[0] = (kit_slot)KIT_ALL(highest);
	if (kind == LOGSUMEXP) {
		const int words = kit_dtype_bytes(dtype) == 4;

		e.narrow = kit_dtype_name(dtype);
		e.give =
			"fn give(item: u32) -> u32 {\n\treturn narrow(bitcast<f32>(greatest[item]) "
			"+ log(bitcast<f32>(sum_round())));\n}\n";
		sums = words ? kit_out(p, 0) : kit_temp(p, 4 * a.count);
		tensor_exact_sums(p, &a, &e, sums);
		if (!words)
			tensor_pack(p, sums, kit_out(p, 0), a.count, kit_dtype_bytes(dtype));
		return;
	}
	sums = kit_temp(p, 4 * a.count);
	tensor_exact_sums(p, &a, &e, sums);
	m.block = a.terms * a.reduced[0].stride;
	m.inner = a.reduced[0].stride;
	m.rest = m.channels = 1;
	slots[0] = (kit_slot)KIT_ALL(highest);
	slots[1] = (kit_slot)KIT_ALL(sums);
	m.slots = slots;
	w = kit_wgsl_make(p->use, 16384);
	tensor_map_text(p, &m, &w);
	kit_wgsl_add(&w, "@group(0) @binding(3) var<storage, read> greatest: array<u32>;\n"
			 "@group(0) @binding(4) var<storage, read> sums: array<u32>;\n");
	kit_wgsl_add(&w, values[kind]);
	tensor_map_run(p, &m, &w);
}

/* ---- reference ------------------------------------------------------------------------------ */

static float e_of(uint32_t kind, float x, float m)
{
	if (kind == LOGSUMEXP ? x == m : isinf(x) && x < 0)
		return kind == LOGSUMEXP ? 1 : 0;
	return tensor_exp(x - m);
}

static float y_of(uint32_t kind, float x, float m, float s)
{
	switch (kind) {
	case SOFTMAX:
		return s == 0 ? 0 : e_of(kind, x, m) / s;
	case LOG_SOFTMAX:
		return s == 0 ? -INFINITY : (x - m) - tensor_log(s);
	default:
		return m + tensor_log(s);
	}
}

/* Row by row: element t of row (o, i) lies at (o * n + t) * inner + i. */
static pctl_status reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const tensor_float_format *f32 = tensor_float_format_of(PCTL_SCALAR_F32);
	const pctl_tensor_type *x = &u->q->in[0];
	const tensor_float_format *format = tensor_float_format_of(x->dtype);
	const uint64_t bytes = kit_dtype_bytes(x->dtype);
	const uint32_t kind = kind_of(u);
	uint64_t inner;
	tensor_axes a;
	const pctl_status status = axes_of(u, &a);

	if (status != PCTL_OK)
		return status;
	inner = a.reduced[0].stride;
	for (uint64_t row = 0; row < a.count; row++) {
		const uint64_t first = row / inner * a.terms * inner + row % inner;
		float m = a.terms == 0 ? -INFINITY : NAN, s;
		tensor_sum sum = {0};
		uint32_t word;

		for (uint64_t t = 0; t < a.terms; t++) {
			const float v =
				(float)tensor_value(x->dtype, in[0].data, first + t * inner);

			if (isnan(m) || v > m)
				m = v;
		}
		for (uint64_t t = 0; t < a.terms; t++)
			tensor_sum_product(&sum,
					   (double)e_of(kind,
							(float)tensor_value(x->dtype, in[0].data,
									    first + t * inner),
							m),
					   1);
		word = tensor_sum_round(&sum, 1, f32);
		memcpy(&s, &word, 4);
		for (uint64_t t = 0; t < (kind == LOGSUMEXP ? 1 : a.terms); t++) {
			const uint64_t at = kind == LOGSUMEXP ? row : first + t * inner;
			const float v = kind == LOGSUMEXP
						? 0
						: (float)tensor_value(x->dtype, in[0].data, at);
			const uint32_t y = tensor_narrowed(y_of(kind, v, m, s), format);

			memcpy((char *)out[0].data + at * bytes, &y, bytes);
		}
	}
	return PCTL_OK;
}

/* ---- the ops -------------------------------------------------------------------------------- */

static const pctl_port ports_in[] = {
	{"x", "f32|f16|bf16[...]", "the elements", PCTL_PORT_THROUGH, 0}};
static const pctl_port ports_out[] = {
	{"y", "f32|f16|bf16[...]", "the results, of x's type", PCTL_PORT_THROUGH, 0}};
static const pctl_attr_desc attr[] = {
	{"axis", "-1", "along which rows lie; a negative number counts from the end", PCTL_ATTR_I64,
	 0, (uint64_t)-8, 7},
	{"keep", "false", "the axis stays, with one element", PCTL_ATTR_BOOL, 0, 0, 1},
};
#define LAW(name, words)                                                  \
	{                                                                 \
		PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, name, NULL, words \
	}
static const pctl_law softmax_laws[] = {
	LAW("permuted", "x reversed along the axis gives y reversed"),
	LAW("transposed", "x with its axes in reverse order gives y with its own so"),
	LAW("alone", "the last row gives the same where it is all there is"),
	LAW("padded",
	    "-Inf before and behind every row without NaN in y leaves y as it is between"),
	TENSOR_COMPOSED_LAW(
		"by steps",
		"without -Inf: y is e / S of e = exp(x - m), each step an op of its own"),
	TENSOR_COMPOSED_LAW(
		"attention in parts",
		"of matrices along their rows: y times values is the same rows by rows"),
};
static void (*const softmax_checks[])(kit_law *) = {
	map_law_permuted, map_law_transposed,	     map_law_alone,
	map_law_padded,	  compose_law_softmax_steps, compose_law_attention};
static const pctl_law map_laws[] = {
	LAW("permuted", "x reversed along the axis gives y reversed"),
	LAW("transposed", "x with its axes in reverse order gives y with its own so"),
	LAW("alone", "the last row gives the same where it is all there is"),
	LAW("padded",
	    "-Inf before and behind every row without NaN in y leaves y as it is between"),
};
static void (*const map_checks[])(kit_law *) = {map_law_permuted, map_law_transposed, map_law_alone,
						map_law_padded};
static const pctl_law sum_laws[] = {
	LAW("permuted", "x reversed along the axis gives the same y"),
	LAW("transposed", "x with its axes in reverse order gives y with its own so"),
	LAW("alone", "a result is the same where its terms are all there is"),
	LAW("padded", "-Inf in front of the terms and behind them leaves y as it is"),
};
static void (*const sum_checks[])(kit_law *) = {reduce_law_permuted, reduce_law_transposed,
						reduce_law_alone, reduce_law_neutral};
static const pctl_example boundaries[] = {
	{"nothing", {0}}, {"one", {1}}, {"a lane more", {65}}, {"two rounds", {1025}}};

#define SOFTMAX_OP(op, op_doc, op_spec, id, n_attr_, which)                                     \
	{                                                                                       \
		.desc = {KIT_PLAN_OP(op, 1, PCTL_CLASS_STRICT),                                 \
			 .doc = op_doc,                                                         \
			 .spec = op_spec                                                        \
			 "\nSteps are f32, each rounded; exp and log correctly; y is rounded "  \
			 "once more to x's type.\nx has at most 2^31 elements, a row at most "  \
			 "2^29.",                                                               \
			 .n_attr = n_attr_,                                                     \
			 KIT_IN(ports_in),                                                      \
			 KIT_OUT(ports_out),                                                    \
			 .attr = attr},                                                         \
		.rules = KIT_PLAN_RULES(id##_laws, boundaries), .laws = id##_checks,            \
		.problems = &reduce_problems, .problem = reduce_problem, .data = &kinds[which], \
		.infer = infer, .plan = plan, .reference = reference                            \
	}

static const kit_op ops[] = {
	SOFTMAX_OP("tensor.softmax", "softmax along an axis",
		   "m = tensor.max of the row; e = exp(x - m), +0 where x is -Inf; S = the exact "
		   "sum of e, rounded once; y = e / S, +0 where S is 0.",
		   softmax, 1, SOFTMAX),
	SOFTMAX_OP("tensor.log_softmax", "the logarithm of softmax along an axis",
		   "m, S as of tensor.softmax; y = (x - m) - log(S), -Inf where S is 0.", map, 1,
		   LOG_SOFTMAX),
	SOFTMAX_OP("tensor.logsumexp", "the logarithm of a sum of exponentials along an axis",
		   "m = tensor.max of the row; e = 1 where x equals m, else exp(x - m); S = the "
		   "exact sum of e, rounded once; y = m + log(S); -Inf of nothing.",
		   sum, 2, LOGSUMEXP),
};

const kit_family tensor_softmax_family = {ops, NULL, KIT_COUNT(ops), 0};
