/* tensor.softmax and log_softmax of rows that lie side by side (rows.h). */
#include "softmax.h"

#include "kernels.h"
#include "rows.h"

/* Of 4 kept elements of quad j. The sum s, once it is known, is the same for all. */
#define FINISH4(one)                                                                     \
	"fn finish4(first: u32, lane: u32, at: u32, j: u32) -> vec4<u32> {\n"            \
	"\treturn vec4<u32>(narrowed(" one "(kept_bits(first, lane, at, 4u * j))), "     \
	"narrowed(" one "(kept_bits(first, lane, at, 4u * j + 1u))),\n\t\tnarrowed(" one \
	"(kept_bits(first, lane, at, 4u * j + 2u))), narrowed(" one                      \
	"(kept_bits(first, lane, at, 4u * j + 3u))));\n}\n"
#define LOOP4(one)                                                                        \
	"fn finish4(first: u32, lane: u32, at: u32, j: u32) -> vec4<u32> {\n"             \
	"\tvar four = vec4<u32>();\n\tfor (var c = 0u; c < 4u; c++) {\n"                  \
	"\t\tfour[c] = narrowed(" one "(kept_bits(first, lane, at, 4u * j + c)));\n\t}\n" \
	"\treturn four;\n}\n"

static void add_finish(kit_wgsl *w, int logarithm, int keep)
{
	kit_wgsl_add(w, "var<private> top: u32;\nvar<private> divisor: f32;\n");
	if (logarithm) {
		kit_wgsl_add(
			w, "var<private> nothing: bool;\nfn finish_begin(m: u32, s: u32) {\n"
			   "\ttop = m;\n\tnothing = bitcast<f32>(s) == 0.0;\n"
			   "\tdivisor = log(bitcast<f32>(s));\n}\n"
			   "fn one(bits: u32) -> f32 {\n"
			   "\tlet v = (bitcast<f32>(bits) - bitcast<f32>(top)) - divisor;\n"
			   "\treturn bitcast<f32>(select(bitcast<u32>(v), 0xff800000u, nothing));\n"
			   "}\n" FINISH4("one"));
		return;
	}
	kit_wgsl_add(w, "fn finish_begin(m: u32, s: u32) {\n\ttop = m;\n"
			"\tdivisor = select(bitcast<f32>(s), 1.0, bitcast<f32>(s) == 0.0);\n}\n");
	if (keep)
		kit_wgsl_add(
			w,
			"fn one(e: u32) -> f32 {\n\treturn bitcast<f32>(e) / divisor;\n}\n" FINISH4(
				"one"));
	else
		kit_wgsl_add(w,
			     "fn one(bits: u32) -> f32 {\n"
			     "\treturn bitcast<f32>(e_of(bits, top)) / divisor;\n}\n" LOOP4("one"));
}

int softmax_rows(kit_plan *p, const tensor_axes *a, int logarithm)
{
	tensor_rows r;
	kit_wgsl w;

	if (a->reduced[0].stride != 1 || !tensor_rows_cut(p, a->count, a->terms, 12, 64, &r) ||
	    ((p->through & PCTL_PLAN_READ_THROUGH(0)) != 0 && !tensor_rows_read_once(p, &r)))
		return 0;
	w = kit_wgsl_make(p->use, 32768);
	kit_wgsl_add(&w, KERNEL_EXTREME_KEY);
	kit_wgsl_add(&w, logarithm ? "const LOGARITHM: bool = true;\n"
				   : "const LOGARITHM: bool = false;\n");
	/* What is no number is above none. */
	tensor_rows_text(p, &r,
			 "const ABSENT: u32 = 0x7fc00000u;\nvar<private> most: u32;\n"
			 "fn look(quad: vec4<u32>) {\n"
			 "\tmost = max(most, max(max(float_key(quad.x), float_key(quad.y)), "
			 "max(float_key(quad.z), float_key(quad.w))));\n}\n",
			 &w);
	kit_wgsl_add(&w, "alias greatest_T = u32;\n"
			 "fn greatest_join(a: u32, b: u32) -> u32 {\n\treturn max(a, b);\n}\n"
			 "alias added_T = f64;\n"
			 "fn added_join(a: f64, b: f64) -> f64 {\n\treturn a + b;\n}\n"
			 "var<workgroup> tops: array<u32, ROWS>;\n");
	kit_wgsl_named(&w, KERNEL_ROWS_TREE, "greatest");
	kit_wgsl_named(&w, KERNEL_ROWS_TREE, "added");
	tensor_judge_text(&w, tensor_float_format_of(PCTL_SCALAR_F32));
	tensor_rows_settle(&w, "fn sum_scale() -> bool {\n\treturn false;\n}\n");
	add_finish(&w, logarithm, r.keep);
	kit_wgsl_named(&w, KERNEL_ROWS_SOFTMAX,
		       p->through & PCTL_PLAN_WRITE_THROUGH(0) ? "first + q, " : "");
	tensor_rows_run(p, "tensor/softmax_rows.wgsl", &r, &w, NULL, 0);
	return 1;
}
