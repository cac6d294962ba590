/* tensor.layer_norm, rms_norm and group_norm of rows by one kernel (rows.h). */
#include <stdio.h>

#include "kernels.h"
#include "norm.h"
#include "rows.h"

/* As the text below has it. */
typedef struct places {
	tensor_judge mean, variance;
	float n, eps;
	uint32_t rest, channels;
} places;

/* 1 / sqrt of what is under the root, and the channels of the quad that begins at element t of a row. */
static void add_ends(kit_wgsl *w, uint32_t kind)
{
	kit_wgsl_add(w, kind == NORM_RMS ? "fn root_of(q: f32) -> f32 {\n"
					   "\treturn 1.0 / sqrt(q / norm.n + norm.eps);\n}\n"
					 : "fn root_of(v: f32) -> f32 {\n"
					   "\treturn 1.0 / sqrt(v + norm.eps);\n}\n");
	kit_wgsl_add(w, kind == NORM_GROUP
				? "fn channel_of(row: u32, t: u32) -> vec4<u32> {\n"
				  "\tlet i = vec4<u32>(row * params.n + t) + vec4<u32>(0u, 1u, 2u, "
				  "3u);\n\treturn (i / norm.rest) % norm.channels;\n}\n"
				: "fn channel_of(row: u32, t: u32) -> vec4<u32> {\n"
				  "\treturn vec4<u32>(t, t + 1u, t + 2u, t + 3u);\n}\n");
}

/* How a row in doubt is settled: of squares alone, or by the digits of both sums. */
static void add_settled(kit_wgsl *w, uint32_t kind)
{
	kit_wgsl_add(w, "var<workgroup> results: array<u32, 2>;\n");
	if (kind == NORM_RMS) {
		kit_wgsl_add(w,
			     "var<private> rounded: u32;\n"
			     "fn settled_keep(at: u32, which: u32) {\n\trounded = sum_round();\n}\n"
			     "fn settled_bits(at: u32) -> u32 {\n\treturn rounded;\n}\n");
		return;
	}
	kit_wgsl_add(w,
		     "var<workgroup> sums: array<array<u32, 21>, 1>;\n"
		     "var<workgroup> squares_of: array<array<u32, 21>, 1>;\n"
		     "fn settled_keep(at: u32, which: u32) {\n\tsum_carry();\n\tif (at == 0u) {\n"
		     "\t\tfor (var digit = 0u; digit < 21u; digit++) {\n"
		     "\t\t\tvar word = saw;\n\t\t\tif (digit < DIGITS) {\n"
		     "\t\t\t\tword = u32(total[digit]);\n\t\t\t}\n\t\t\tif (which == 0u) {\n"
		     "\t\t\t\tsums[0][digit] = word;\n\t\t\t} else {\n"
		     "\t\t\t\tsquares_of[0][digit] = word;\n\t\t\t}\n\t\t}\n\t}\n}\n");
	kit_wgsl_add(w, "struct Moments {\n\tn: u32,\n\tddof: u32,\n}\nvar<private> moments: "
			"Moments;\n");
	kit_wgsl_add(w, KERNEL_VARIANCE);
	kit_wgsl_add(w, "fn settled_bits(at: u32) -> u32 {\n\tmoments.n = params.n;\n"
			"\treturn moment_of(0u, at == 1u);\n}\n");
}

static void add_port(kit_plan *p, kit_wgsl *w, const char *name, uint32_t port, kit_slot *slots,
		     uint32_t *n)
{
	char text[96];

	if (port == 0)
		return;
	snprintf(text, sizeof(text), "@group(0) @binding(%u) var<storage, read> %s: array<u32>;\n",
		 3 + *n, name);
	kit_wgsl_add(w, text);
	kit_wgsl_named(w, kit_codec_bits(p->use->q->in[0].dtype), name);
	slots[(*n)++] = (kit_slot)KIT_ALL(kit_in(p, port));
}

int norm_plan_rows(kit_plan *p, const norm_shape *s)
{
	const uint32_t kind = norm_kind(p->use);
	const tensor_float_format *f32 = tensor_float_format_of(PCTL_SCALAR_F32);
	places v = {.n = (float)s->n,
		    .eps = s->eps,
		    .rest = (uint32_t)s->rest,
		    .channels = (uint32_t)s->channels};
	kit_slot slots[3];
	uint32_t n_slots = 0;
	tensor_rows r;
	kit_wgsl w;

	if (kind == NORM_BATCH || !tensor_rows_cut(p, s->rows, s->n, 32, 16, &r) ||
	    ((p->through & PCTL_PLAN_READ_THROUGH(0)) != 0 && !tensor_rows_read_once(p, &r)))
		return 0;
	v.mean = tensor_judge_of(s->n, r.depth, (double)s->n);
	v.variance = tensor_judge_of(s->n, r.depth, (double)s->n * (double)s->n);
	w = kit_wgsl_make(p->use, 32768);
	kit_wgsl_add(&w,
		     "struct Norm {\n\t@size(16) mean: vec4<u32>,\n\t@size(16) variance: "
		     "vec4<u32>,\n\t@size(4) n: f32,\n"
		     "\t@size(4) eps: f32,\n\t@size(4) rest: u32,\n\t@size(4) channels: u32,\n}\n"
		     "@group(0) @binding(3) var<uniform> norm: Norm;\n"
		     "const SQUARES: bool = true;\n");
	slots[n_slots++] = (kit_slot)KIT_ALL(kit_params(p, &v, sizeof(v)));
	kit_wgsl_add(&w, KERNEL_MOMENTS_ADD);
	tensor_rows_text(p, &r,
			 "const ABSENT: u32 = 0u;\nfn look(quad: vec4<u32>) {\n"
			 "\tsums_add(quad.x);\n\tsums_add(quad.y);\n\tsums_add(quad.z);\n"
			 "\tsums_add(quad.w);\n}\n",
			 &w);
	add_port(p, &w, "w", s->weight, slots, &n_slots);
	add_port(p, &w, "b", s->bias, slots, &n_slots);
	kit_wgsl_add(&w, "alias found_T = vec4<f64>;\n"
			 "fn found_join(a: vec4<f64>, b: vec4<f64>) -> vec4<f64> {\n"
			 "\treturn sums_join(a, b);\n}\n");
	kit_wgsl_named(&w, KERNEL_ROWS_TREE, "found");
	tensor_judge_text(&w, f32);
	kit_wgsl_add(&w, KERNEL_MOMENTS_JUDGE);
	kit_wgsl_add(&w, kind == NORM_RMS
				 ? "const MEANS: bool = false;\n"
				   "fn judged(s: vec4<f64>) -> vec2<u32> {\n"
				   "\treturn vec2<u32>(0u, squares_judged(s, norm.mean));\n}\n"
				 : "const MEANS: bool = true;\n"
				   "fn judged(s: vec4<f64>) -> vec2<u32> {\n"
				   "\treturn vec2<u32>(mean_judged(s, norm.mean), "
				   "variance_judged(s, norm.variance));\n}\n");
	tensor_rows_settle(&w, kind == NORM_RMS ? "fn sum_scale() -> bool {\n\treturn false;\n}\n"
						: KERNEL_DIVIDE_TWICE);
	add_settled(&w, kind);
	add_ends(&w, kind);
	kit_wgsl_add(&w, kind == NORM_RMS ? "fn value(x: f32, a: f32, r: f32, c: u32) -> f32 {\n"
					    "\tvar t = x * r;\n"
					  : "fn value(x: f32, a: f32, r: f32, c: u32) -> f32 {\n"
					    "\tvar t = (x - a) * r;\n");
	if (s->weight != 0)
		kit_wgsl_add(&w, "\tt = t * bitcast<f32>(w_bits(c));\n");
	if (s->bias != 0)
		kit_wgsl_add(&w, "\tt = t + bitcast<f32>(b_bits(c));\n");
	kit_wgsl_add(&w, "\treturn t;\n}\n");
	kit_wgsl_named(&w, KERNEL_ROWS_NORM,
		       p->through & PCTL_PLAN_WRITE_THROUGH(0) ? "first + q, " : "");
	tensor_rows_run(p, "tensor/norm_rows.wgsl", &r, &w, slots, n_slots);
	return 1;
}
