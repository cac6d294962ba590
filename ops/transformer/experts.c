/* transformer.moe_linear: rows times the matrices of their experts (SEMANTICS.md 18.14), by f64 sums where the device has f64, else by exact ones. */
#include <stdio.h>

#include "experts.h"
#include "kernels.h"

#define LANES 16u
#define ROWS 4u

pctl_status transformer_experts_of(const kit_use *u, experts *e)
{
	const pctl_tensor_type *x = &u->q->in[EXPERTS_X], *w = &u->q->in[EXPERTS_W],
			       *which = &u->q->in[EXPERTS_WHICH], *bias = &u->q->in[EXPERTS_BIAS];
	pctl_status status = PCTL_OK;

	if (tensor_float_format_of(x->dtype) == NULL || x->rank == 0)
		return kit_refuse_type(u, EXPERTS_X,
				       TRANSFORMER_FLOATS ", of one dimension at least");
	if (!kit_codec_is_factor(w->dtype) || w->rank != 3)
		return kit_refuse_type(u, EXPERTS_W,
				       "matrices [E, m, n] of a type that products take");
	if (which->dtype != PCTL_SCALAR_U32 || which->rank == 0 || which->rank >= PCTL_RANK_MAX)
		return kit_refuse_type(u, EXPERTS_WHICH, "u32, of 1 to 7 dimensions");
	*e = (experts){.places = kit_elements(which),
		       .k = which->dim[which->rank - 1],
		       .n = w->dim[2],
		       .m = w->dim[1],
		       .all = w->dim[0],
		       .each = x->rank == which->rank + 1,
		       .biased = kit_elements(bias) != 0};
	if (x->rank != which->rank && !e->each)
		return kit_refuse_type(u, EXPERTS_X,
				       "a row for each row of experts, or for each expert");
	for (uint32_t d = 0; d + 1 < x->rank; d++)
		if (x->dim[d] != which->dim[d])
			return kit_refuse_type(u, EXPERTS_X,
					       "a row for each row of experts, or for each expert");
	if (x->dim[x->rank - 1] != e->n)
		return kit_refuse_type(u, EXPERTS_X, "rows as long as those of w");
	if (tensor_float_format_of(bias->dtype) == NULL ||
	    (e->biased && (bias->rank != 2 || bias->dim[0] != e->all || bias->dim[1] != e->m)))
		return kit_refuse_type(u, EXPERTS_BIAS, "an element for each row of w, or none");
	for (uint32_t i = 0; status == PCTL_OK && i < u->q->n_in; i++)
		status = kit_limit(u, "elements", kit_elements(&u->q->in[i]), TENSOR_ELEMENTS_MAX);
	return status != PCTL_OK
		       ? status
		       : kit_limit(u, "products of an element", 2 * e->n, TENSOR_TERMS_MAX);
}

static pctl_status linear_infer(const kit_use *u, pctl_op_result *out)
{
	experts e;
	const pctl_status status = transformer_experts_of(u, &e);

	if (status != PCTL_OK)
		return status;
	out->out[0] = u->q->in[EXPERTS_WHICH];
	out->out[0].dtype = PCTL_SCALAR_F32;
	out->out[0].dim[out->out[0].rank++] = e.m;
	/* A row stays with its experts. */
	transformer_cut_rows(u, out, 2, 1u << EXPERTS_X | 1u << EXPERTS_WHICH);
	return kit_limit(u, "elements", kit_elements(&out->out[0]), TENSOR_ELEMENTS_MAX);
}

/* How factors are read, and exact sums of their products. */
static void begin(kit_plan *p, kit_wgsl *w)
{
	const pctl_op_query *q = p->use->q;

	kit_wgsl_add(w, tensor_float_format_of(PCTL_SCALAR_F32)->text);
	kit_wgsl_add(w, KERNEL_MOE_PLACE);
	kit_wgsl_named(w, kit_codec_bits(q->in[EXPERTS_X].dtype), "x");
	kit_wgsl_named(w, kit_codec_bits(q->in[EXPERTS_BIAS].dtype), "bias");
	kit_wgsl_factor(w, q->in[EXPERTS_W].dtype, "w");
	kit_wgsl_add(w, "fn sum_scale() -> bool {\n\treturn false;\n}\n");
	kit_wgsl_add(w, KERNEL_EXACT_SUM);
	kit_wgsl_add(w, kit_codec_is_pair(q->in[EXPERTS_W].dtype) ? KERNEL_MOE_TERM_PAIR
								  : KERNEL_MOE_TERM);
}

/* Sums in f64, where one of LANES lanes has few turns. */
static void add_quick(kit_plan *p, kit_wgsl *w)
{
	const uint32_t dtype = p->use->q->in[EXPERTS_W].dtype;
	char text[160];

	snprintf(text, sizeof(text),
		 "const LANES: u32 = %uu;\nconst ROWS: u32 = %uu;\nconst LOCAL: u32 = %uu;\n"
		 "const FEW: u32 = %uu;\n",
		 LANES, ROWS, LANES * ROWS, LANES * ROWS / 16);
	kit_wgsl_add(w, text);
	kit_wgsl_add(w, "alias found_T = vec2<f64>;\nfn found_join(a: found_T, b: found_T) -> "
			"found_T {\n\treturn a + b;\n}\n"
			"var<private> sums: vec2<f64>; // of products and of their magnitudes\n");
	kit_wgsl_named(w, KERNEL_ROWS_TREE, "found");
	tensor_judge_text(w, tensor_float_format_of(PCTL_SCALAR_F32));
	kit_wgsl_add(w, KERNEL_SUM_WINDOW);
	kit_wgsl_add(w, KERNEL_ROWS_SETTLE);
	kit_wgsl_add(w, kit_codec_is_pair(dtype)	     ? KERNEL_MOE_QUICK_PAIR
			: kit_block_format_of(dtype) != NULL ? KERNEL_MOE_QUICK_BLOCK
							     : KERNEL_MOE_QUICK);
	kit_wgsl_add(w, KERNEL_MOE_LINEAR);
}

static void linear_plan(kit_plan *p)
{
	kit_kernel kernel = {"transformer/moe_linear.wgsl", NULL, 64, "steps", 1};
	const uint64_t most = p->caps->max_turns;
	uint64_t count, lanes;
	uint32_t params[8];
	int quick;
	experts e;
	kit_wgsl w;

	p->status = transformer_experts_of(p->use, &e);
	count = e.places * e.m;
	if (p->status != PCTL_OK || count == 0)
		return;
	quick = tensor_has_f64(p) && e.n != 0;
	while (kernel.override_value * 4 * LANES < e.n)
		kernel.override_value *= 2;
	/* Its own turns, and those of exact sums. */
	quick &= most == 0 || kernel.override_value * 4 * (1 + ROWS) + 8192 <= most;
	if (!quick)
		while (kernel.override_value < e.n)
			kernel.override_value *= 2;
	params[0] = (uint32_t)count;
	params[1] = (uint32_t)e.m;
	params[2] = (uint32_t)e.n;
	params[3] = (uint32_t)e.k;
	params[4] = (uint32_t)e.all;
	params[5] = (uint32_t)e.each;
	params[6] = (uint32_t)kernel.override_value * 8 + 2 * LANES;
	params[7] = (uint32_t)e.biased;
	w = kit_wgsl_make(p->use, 32768);
	begin(p, &w);
	if (quick) {
		add_quick(p, &w);
	} else {
		kit_wgsl_add(&w, KERNEL_MOE_LINEAR_EXACT);
		kit_wgsl_add(&w, KERNEL_RESULT_WORDS);
	}
	p->status = kit_wgsl_status(&w);
	kernel.text = w.text;
	lanes = quick ? (count + ROWS - 1) / ROWS * LANES * ROWS : count;
	kit_run(p, &kernel, lanes,
		(kit_slot[]){KIT_ALL(kit_params(p, params, sizeof(params))),
			     KIT_ALL(kit_in(p, EXPERTS_X)), KIT_ALL(kit_in(p, EXPERTS_W)),
			     KIT_ALL(kit_in(p, EXPERTS_WHICH)), KIT_ALL(kit_in(p, EXPERTS_BIAS)),
			     KIT_ALL(kit_out(p, 0))},
		6);
	kit_wgsl_free(&w);
}

static pctl_status linear_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const pctl_tensor_type *t = u->q->in;
	pctl_status status;
	experts e;

	status = transformer_experts_of(u, &e);
	for (uint64_t i = 0; status == PCTL_OK && i < e.places; i++) {
		const uint64_t expert = tensor_get(in[EXPERTS_WHICH].data, i, 4);
		const uint64_t row = e.each ? i : i / e.k;

		for (uint64_t j = 0; j < e.m; j++) {
			tensor_sum s = {.nan = expert >= e.all};
			float y;

			for (uint64_t c = 0; expert < e.all && c < e.n; c++)
				tensor_sum_product(&s,
						   tensor_value(t[EXPERTS_X].dtype,
								in[EXPERTS_X].data, row * e.n + c),
						   tensor_value(t[EXPERTS_W].dtype,
								in[EXPERTS_W].data,
								(expert * e.m + j) * e.n + c));
			y = transformer_rounded(&s);
			if (e.biased && expert < e.all)
				y = y + (float)tensor_value(t[EXPERTS_BIAS].dtype,
							    in[EXPERTS_BIAS].data,
							    expert * e.m + j);
			transformer_put(out[0].data, i * e.m + j, y);
		}
	}
	return status;
}

/* ---- the op --------------------------------------------------------------------------------- */

static const pctl_port linear_in[] = {
	{"x", TRANSFORMER_FLOATS "[...]", "the rows, [.., n], or [.., k, n]: one for each expert",
	 0, 0},
	{"w", TRANSFORMER_FACTORS "[e,m,n]", "a matrix for each expert", 0, 0},
	{"experts", "u32[...]", "the experts of each row, [.., k]", 0, 0},
	{"bias", TRANSFORMER_FLOATS "[...]", "what is added, [e, m], or no elements", 0, 0}};
static const pctl_port linear_out[] = {{"y", "f32[...]", "the products, [.., k, m]", 0, 0}};
static const pctl_law linear_laws[] = {
	TENSOR_LAW("rows", "x and experts with their rows reversed give the rows of y so"),
	TENSOR_LAW("one expert",
		   "without a bias, of whole bytes: the last place is tensor.matmul's "
		   "product with its expert's matrix"),
	TENSOR_LAW("unknown", "experts that w has not give the canonical NaN"),
	TENSOR_LAW("biased", "of a bias of f32: y is y without it, and ieee.add of it"),
};
static void (*const linear_checks[])(kit_law *) = {linear_law_rows, linear_law_matmul,
						   linear_law_unknown, linear_law_biased};
static const kit_op ops[] = {
	TENSOR_OP(
		linear, 1, "transformer.moe_linear", "rows times the matrices of their experts",
		"y[.., i, j] = the exact sum over c of x's row [.., c] (of place i where x has k "
		"rows) * w[experts[.., i], j, c], rounded once to f32;\nthen + bias[experts[.., "
		"i], j], where there is one, rounded. An expert that w has not gives the canonical "
		"NaN.",
		PCTL_CLASS_STRICT, linear_in, 4, linear_out, NULL, 0, NULL),
};

const kit_family transformer_experts_family = {ops, NULL, KIT_COUNT(ops), 0};
