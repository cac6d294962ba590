/* Exact sums by way of f64: rounds of lanes as those of exact_sums.c, whose last says of each result what it rounds to, or marks it; what is marked
 * is summed exactly (SEMANTICS.md 4.4). */
#include "exact_sums.h"
#include "kernels.h"

#define LEAST 16u	 /* terms that are worth a lane */
#define TERMS_MANY 2048u /* of all results: fewer are done sooner by one kernel than by two */

tensor_judge tensor_judge_of(uint64_t n, uint64_t depth, double divisor)
{
	const double inverse = 1 / divisor;
	tensor_judge judge = {(uint32_t)n, (uint32_t)depth, {0}};

	memcpy(judge.inverse, &inverse, sizeof(inverse));
	return judge;
}

static void run(kit_plan *p, const tensor_axes *a, uint32_t what, const tensor_round *r,
		uint32_t judge)
{
	static const char *const gives[] = {
		[TENSOR_QUICK_SUM] = "fn give(a: A) -> u32 {\n\treturn sum_judged(a, judge);\n}\n",
		[TENSOR_QUICK_MEAN] =
			"fn give(a: A) -> u32 {\n\treturn mean_judged(a, judge);\n}\n",
		[TENSOR_QUICK_VARIANCE] =
			"fn give(a: A) -> u32 {\n\treturn variance_judged(a, judge);\n}\n"};
	kit_wgsl w = kit_wgsl_make(p->use, 16384);

	if (r->last && a->out.dtype == PCTL_SCALAR_F16)
		kit_wgsl_add(&w, "enable f16;\n");
	tensor_round_text(&w, a, r);
	kit_wgsl_add(&w, "alias A = vec4<f64>;\n");
	kit_wgsl_add(&w, what == TENSOR_QUICK_VARIANCE ? "const SQUARES: bool = true;\n"
						       : "const SQUARES: bool = false;\n");
	tensor_round_x(p, r, &w,
		       r->first ? "@group(0) @binding(1) var<storage, read> x: array<u32>;\n"
				: "@group(0) @binding(1) var<storage, read> x: array<A>;\n",
		       NULL);
	kit_wgsl_add(&w, r->last ? "@group(0) @binding(2) var<storage, read_write> y: array<u32>;\n"
				 : "@group(0) @binding(2) var<storage, read_write> y: array<A>;\n");
	kit_wgsl_add(&w, KERNEL_MOMENTS_ADD);
	kit_wgsl_add(&w, "fn none() -> A {\n\treturn A(0.0lf, 0.0lf, 0.0lf, NOTHING);\n}\n"
			 "fn join(a: A, b: A) -> A {\n\treturn sums_join(a, b);\n}\n");
	if (r->first) {
		if (!tensor_round_reads(p, r))
			kit_wgsl_named(&w, kit_codec_bits(p->use->q->in[0].dtype), "x");
		kit_wgsl_add(&w, KERNEL_MOMENTS_TAKE);
	} else {
		kit_wgsl_add(&w, "fn take(i: u32, term: u32) -> A {\n\treturn x[i];\n}\n");
		kit_wgsl_add(&w, KERNEL_REDUCE_TAKE);
	}
	if (r->last) {
		kit_wgsl_add(&w, "@group(0) @binding(3) var<uniform> judge: vec4<u32>;\n");
		tensor_judge_text(&w, tensor_float_format_of(a->out.dtype));
		kit_wgsl_add(&w, KERNEL_MOMENTS_JUDGE);
		kit_wgsl_add(&w, gives[what]);
	} else {
		kit_wgsl_add(&w, "fn give(a: A) -> A {\n\treturn a;\n}\n");
	}
	tensor_round_lanes(p, r, &w);
	tensor_round_run(p, "tensor/quick_sum.wgsl", a, r, &w,
			 (kit_slot[]){KIT_ALL(tensor_round_params(p, a, r)), KIT_ALL(r->from),
				      KIT_ALL(r->to), KIT_ALL(judge)},
			 r->last ? 4 : 3);
}

uint32_t tensor_quick_sums(kit_plan *p, const tensor_axes *a, uint32_t what, uint64_t ddof)
{
	tensor_round r = tensor_round_first(a, kit_in(p, 0), LEAST);
	uint64_t depth = 0;

	/* Pieces of more than a binding are summed exactly at once. */
	if (!tensor_has_f64(p) || a->terms == 0 || tensor_in_pieces(p, a) ||
	    a->count * a->terms < TERMS_MANY)
		return TENSOR_NONE;
	while (p->status == PCTL_OK) {
		uint32_t judge = 0;

		/* The lane's own terms, and the tree. */
		depth += (r.terms + r.lanes - 1) / r.lanes + 8;
		if (r.last) {
			const double below =
				what == TENSOR_QUICK_VARIANCE ? (double)(a->terms - ddof) : 1;
			const tensor_judge v =
				tensor_judge_of(a->terms, depth, (double)a->terms * below);

			judge = kit_params(p, &v, sizeof(v));
		}
		r.to = kit_temp(p, r.last ? 4 * a->count : 32 * a->count * r.runs);
		run(p, a, what, &r, judge);
		if (r.last)
			return r.to;
		r = tensor_round_next(a, &r, LEAST);
	}
	return TENSOR_NONE;
}
