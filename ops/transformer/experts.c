/* transformer.moe_linear and moe_combine: rows times the matrices of their experts, and what comes of these added up (SEMANTICS.md 18.14, 18.15). */
#include <stdio.h>

#include "kernels.h"
#include "shared.h"

enum { X, W, EXPERTS, BIAS };
#define LANES 16u
#define ROWS 4u

typedef struct experts {
	uint64_t places, k, n, m, all;
	int each, biased;
} experts;

static pctl_status experts_of(const kit_use *u, experts *e)
{
	const pctl_tensor_type *x = &u->q->in[X], *w = &u->q->in[W], *which = &u->q->in[EXPERTS],
			       *bias = &u->q->in[BIAS];
	pctl_status status = PCTL_OK;

	if (tensor_float_format_of(x->dtype) == NULL || x->rank == 0)
		return kit_refuse_type(u, X, TRANSFORMER_FLOATS ", of one dimension at least");
	if (!kit_codec_is_factor(w->dtype) || w->rank != 3)
		return kit_refuse_type(u, W, "matrices [E, m, n] of a type that products take");
	if (which->dtype != PCTL_SCALAR_U32 || which->rank == 0 || which->rank >= PCTL_RANK_MAX)
		return kit_refuse_type(u, EXPERTS, "u32, of 1 to 7 dimensions");
	*e = (experts){.places = kit_elements(which),
		       .k = which->dim[which->rank - 1],
		       .n = w->dim[2],
		       .m = w->dim[1],
		       .all = w->dim[0],
		       .each = x->rank == which->rank + 1,
		       .biased = kit_elements(bias) != 0};
	if (x->rank != which->rank && !e->each)
		return kit_refuse_type(u, X, "a row for each row of experts, or for each expert");
	for (uint32_t d = 0; d + 1 < x->rank; d++)
		if (x->dim[d] != which->dim[d])
			return kit_refuse_type(u, X,
					       "a row for each row of experts, or for each expert");
	if (x->dim[x->rank - 1] != e->n)
		return kit_refuse_type(u, X, "rows as long as those of w");
	if (tensor_float_format_of(bias->dtype) == NULL ||
	    (e->biased && (bias->rank != 2 || bias->dim[0] != e->all || bias->dim[1] != e->m)))
		return kit_refuse_type(u, BIAS, "an element for each row of w, or none");
	for (uint32_t i = 0; status == PCTL_OK && i < u->q->n_in; i++)
		status = kit_limit(u, "elements", kit_elements(&u->q->in[i]), TENSOR_ELEMENTS_MAX);
	return status != PCTL_OK
		       ? status
		       : kit_limit(u, "products of an element", 2 * e->n, TENSOR_TERMS_MAX);
}

static pctl_status linear_infer(const kit_use *u, pctl_op_result *out)
{
	experts e;
	const pctl_status status = experts_of(u, &e);

	if (status != PCTL_OK)
		return status;
	out->out[0] = u->q->in[EXPERTS];
	out->out[0].dtype = PCTL_SCALAR_F32;
	out->out[0].dim[out->out[0].rank++] = e.m;
	/* A row stays with its experts. */
	transformer_cut_rows(u, out, 2, 1u << X | 1u << EXPERTS);
	return kit_limit(u, "elements", kit_elements(&out->out[0]), TENSOR_ELEMENTS_MAX);
}

/* How factors are read, and exact sums of their products. */
static void begin(kit_plan *p, kit_wgsl *w)
{
	const pctl_op_query *q = p->use->q;

	kit_wgsl_add(w, tensor_float_format_of(PCTL_SCALAR_F32)->text);
	kit_wgsl_add(w, KERNEL_MOE_PLACE);
	kit_wgsl_named(w, kit_codec_bits(q->in[X].dtype), "x");
	kit_wgsl_named(w, kit_codec_bits(q->in[BIAS].dtype), "bias");
	kit_wgsl_factor(w, q->in[W].dtype, "w");
	kit_wgsl_add(w, "fn sum_scale() -> bool {\n\treturn false;\n}\n");
	kit_wgsl_add(w, KERNEL_EXACT_SUM);
	kit_wgsl_add(w, kit_codec_is_pair(q->in[W].dtype) ? KERNEL_MOE_TERM_PAIR : KERNEL_MOE_TERM);
}

/* Sums in f64, where one of LANES lanes has few turns. */
static void add_quick(kit_plan *p, kit_wgsl *w)
{
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
	kit_wgsl_add(w, kit_codec_is_pair(p->use->q->in[W].dtype) ? KERNEL_MOE_QUICK_PAIR
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

	p->status = experts_of(p->use, &e);
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
		(kit_slot[]){KIT_ALL(kit_params(p, params, sizeof(params))), KIT_ALL(kit_in(p, X)),
			     KIT_ALL(kit_in(p, W)), KIT_ALL(kit_in(p, EXPERTS)),
			     KIT_ALL(kit_in(p, BIAS)), KIT_ALL(kit_out(p, 0))},
		6);
	kit_wgsl_free(&w);
}

static pctl_status linear_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const pctl_tensor_type *t = u->q->in;
	pctl_status status;
	experts e;

	status = experts_of(u, &e);
	for (uint64_t i = 0; status == PCTL_OK && i < e.places; i++) {
		const uint64_t expert = tensor_get(in[EXPERTS].data, i, 4);
		const uint64_t row = e.each ? i : i / e.k;

		for (uint64_t j = 0; j < e.m; j++) {
			tensor_sum s = {.nan = expert >= e.all};
			float y;

			for (uint64_t c = 0; expert < e.all && c < e.n; c++)
				tensor_sum_product(
					&s, tensor_value(t[X].dtype, in[X].data, row * e.n + c),
					tensor_value(t[W].dtype, in[W].data,
						     (expert * e.m + j) * e.n + c));
			y = transformer_rounded(&s);
			if (e.biased && expert < e.all)
				y = y + (float)tensor_value(t[BIAS].dtype, in[BIAS].data,
							    expert * e.m + j);
			transformer_put(out[0].data, i * e.m + j, y);
		}
	}
	return status;
}

/* ---- problems ------------------------------------------------------------------------------- */

static const struct {
	uint32_t dtype, n;
} weights[] = {{PCTL_SCALAR_F32, 5},	{PCTL_SCALAR_F32, 70},	{PCTL_SCALAR_BF16, 33},
	       {PCTL_SCALAR_F16, 18},	{PCTL_DTYPE_Q8_0, 64},	{PCTL_DTYPE_Q4_0, 32},
	       {PCTL_DTYPE_Q4_1, 32},	{PCTL_DTYPE_Q5_0, 32},	{PCTL_DTYPE_Q5_1, 32},
	       {PCTL_DTYPE_Q2_K, 256},	{PCTL_DTYPE_Q4_K, 256}, {PCTL_DTYPE_Q6_K, 256},
	       {PCTL_SCALAR_I8, 7},	{PCTL_DTYPE_F8E4M3, 9}, {PCTL_SCALAR_F32, 0},
	       {PCTL_DTYPE_TERNARY, 16}};

static const pctl_op_problems linear_problems = {
	PCTL_HEAD(pctl_op_problems),
	"up to 4 experts of 5 rows, weights of 14 types, experts in range and out of it",
	KIT_COUNT(weights) * 9};

static void numbers(kit_problem *p, uint32_t port, const pctl_tensor_type *t, uint64_t below)
{
	uint32_t data[64];

	for (uint64_t i = 0; i < kit_elements(t) && i < KIT_COUNT(data); i++) {
		const uint64_t r = kit_random(p->seed + p->number * 8 + port, i);

		data[i] = (uint32_t)(r % 32 == 0 ? below + (r >> 8) % 3 : (r >> 8) % below);
	}
	kit_problem_input(p, port, t, data);
}

static void linear_problem(kit_problem *p)
{
	const uint32_t which = (uint32_t)(p->number % KIT_COUNT(weights));
	const uint64_t variant = p->number / KIT_COUNT(weights), n = weights[which].n;
	const uint64_t rows = 1 + variant % 3, k = 1 + variant / 2 % 3, m = 1 + variant % 5,
		       all = 2 + variant % 3;
	const int each = variant % 2 == 1, biased = variant % 4 < 2;
	pctl_tensor_type x = {p->dtype, 2, {rows, n}};
	const pctl_tensor_type w = {weights[which].dtype, 3, {all, m, n}},
			       which_t = {PCTL_SCALAR_U32, 2, {rows, k}},
			       bias = {variant % 3 == 0 ? PCTL_SCALAR_BF16 : PCTL_SCALAR_F32,
				       2,
				       {biased ? all : 0, m}};

	if (each)
		x = (pctl_tensor_type){p->dtype, 3, {rows, k, n}};
	if (tensor_problem_of_others(p))
		return;
	transformer_problem_floats(p, X, &x);
	if (tensor_float_format_of(w.dtype) != NULL)
		transformer_problem_floats(p, W, &w);
	else
		transformer_problem_table(p, W, &w);
	numbers(p, EXPERTS, &which_t, all);
	transformer_problem_floats(p, BIAS, &bias);
	kit_problem_rigid(p);
}

/* ---- laws of moe_linear --------------------------------------------------------------------- */

static uint32_t linear(kit_law *l, uint32_t x, uint32_t w, uint32_t which, uint32_t bias)
{
	return kit_law_use(l, "transformer.moe_linear", (uint32_t[]){x, w, which, bias}, 4, NULL, 0,
			   1);
}

static void linear_law_rows(kit_law *l)
{
	const pctl_tensor_type *t = l->use.q->in;
	const uint32_t y = kit_law_out(l, 0);
	experts e;
	uint32_t x;

	if (experts_of(&l->use, &e) != PCTL_OK || e.k * e.n * e.m == 0)
		return;
	x = transformer_law_rows(l, &t[X], X, e.each ? e.k * e.n : e.n);
	kit_law_equal(l, linear(l, x, W, transformer_law_rows(l, &t[EXPERTS], EXPERTS, e.k), BIAS),
		      transformer_law_rows(l, &l->c->types[y], y, e.k * e.m));
}

/* The matrix of one expert, with tensor.matmul: of the first place whose expert there is, without a bias. */
static uint64_t of_expert(const void *ctx, uint64_t i)
{
	return *(const uint64_t *)ctx + i;
}

static void linear_law_matmul(kit_law *l)
{
	const pctl_tensor_type *t = l->use.q->in;
	const pctl_attr attr[] = {{"transpose_b", "true", 1}};
	const uint32_t y = kit_law_out(l, 0);
	uint64_t row, from, to = 0;
	pctl_tensor_type x, w, one;
	uint32_t product;
	experts e;

	if (experts_of(&l->use, &e) != PCTL_OK || e.places * e.m * e.n == 0 || e.biased ||
	    kit_dtype_bytes(t[W].dtype) == 0)
		return;
	from = tensor_get(kit_law_data(l, EXPERTS), e.places - 1, 4);
	if (from >= e.all)
		return;
	row = (e.each ? e.places - 1 : (e.places - 1) / e.k) * e.n;
	from *= e.m * e.n;
	to = (e.places - 1) * e.m;
	x = (pctl_tensor_type){t[X].dtype, 2, {1, e.n}};
	w = (pctl_tensor_type){t[W].dtype, 2, {e.m, e.n}};
	one = (pctl_tensor_type){PCTL_SCALAR_F32, 2, {1, e.m}};
	product = kit_law_use(l, "tensor.matmul",
			      (uint32_t[]){tensor_law_taken(l, &x, X, of_expert, &row),
					   tensor_law_taken(l, &w, W, of_expert, &from)},
			      2, attr, 1, 1);
	kit_law_equal(l, product, tensor_law_taken(l, &one, y, of_expert, &to));
}

/* Numbers of experts that w has not. */
static void linear_law_unknown(kit_law *l)
{
	const pctl_tensor_type *t = l->use.q->in;
	const uint32_t y = kit_law_out(l, 0);
	experts e;
	uint32_t *data;

	if (experts_of(&l->use, &e) != PCTL_OK || e.places * e.m == 0)
		return;
	data = kit_law_scratch(l, 4 * e.places * (e.m + 1));
	if (data == NULL)
		return;
	for (uint64_t i = 0; i < e.places; i++)
		data[i] = (uint32_t)(e.all + i);
	data[0] = (uint32_t)e.all;
	{
		const uint32_t which = kit_law_tensor(l, &t[EXPERTS], data);

		for (uint64_t i = 0; i < e.places * e.m; i++)
			data[i] = 0x7fc00000u;
		kit_law_equal(l, linear(l, X, W, which, BIAS),
			      kit_law_tensor(l, &l->c->types[y], data));
	}
	kit_law_free(l, data);
}

/* What a bias adds is ieee.add's. */
static void linear_law_biased(kit_law *l)
{
	const pctl_tensor_type *t = l->use.q->in;
	const uint32_t y = kit_law_out(l, 0);
	const pctl_tensor_type none = {PCTL_SCALAR_F32, 2, {0, t[W].dim[1]}};
	uint32_t *added, plain;
	experts e;

	if (experts_of(&l->use, &e) != PCTL_OK || !e.biased || t[BIAS].dtype != PCTL_SCALAR_F32)
		return;
	added = kit_law_scratch(l, 4 * e.places * e.m + 4);
	if (added == NULL)
		return;
	for (uint64_t i = 0; i < e.places * e.m; i++) {
		const uint64_t expert = tensor_get(kit_law_data(l, EXPERTS), i / e.m, 4);

		added[i] = expert < e.all ? (uint32_t)tensor_get(kit_law_data(l, BIAS),
								 expert * e.m + i % e.m, 4)
					  : 0;
	}
	plain = linear(l, X, W, EXPERTS, kit_law_tensor(l, &none, added));
	kit_law_equal(l,
		      kit_law_use(l, "ieee.add",
				  (uint32_t[]){plain, kit_law_tensor(l, &l->c->types[y], added)}, 2,
				  NULL, 0, 1),
		      y);
	kit_law_free(l, added);
}

/* ---- moe_combine ---------------------------------------------------------------------------- */

enum { Y, WEIGHTS };

static pctl_status combine_infer(const kit_use *u, pctl_op_result *out)
{
	const pctl_tensor_type *y = &u->q->in[Y], *w = &u->q->in[WEIGHTS];

	for (uint32_t i = 0; i < 2; i++)
		if (u->q->in[i].dtype != PCTL_SCALAR_F32)
			return kit_refuse_type(u, i, "f32");
	if (w->rank == 0 || y->rank != w->rank + 1)
		return kit_refuse_type(u, Y, "one dimension more than the weights have");
	for (uint32_t d = 0; d < w->rank; d++)
		if (y->dim[d] != w->dim[d])
			return kit_refuse_type(u, WEIGHTS, "a weight for each row of y");
	out->out[0] = *y;
	out->out[0].rank = w->rank;
	out->out[0].dim[w->rank - 1] = y->dim[w->rank];
	transformer_cut_rows(u, out, 1, 3u);
	return kit_limit(u, "elements", kit_elements(y), TENSOR_ELEMENTS_MAX);
}

static void combine_plan(kit_plan *p)
{
	const pctl_tensor_type *y = &p->use->q->in[Y];
	const uint64_t rows = transformer_rows(y, 2), k = y->dim[y->rank - 2],
		       m = y->dim[y->rank - 1];
	const uint32_t buffers[] = {kit_in(p, WEIGHTS), kit_in(p, Y), kit_out(p, 0)};
	const pctl_tensor_type types[] = {{PCTL_SCALAR_F32, 3, {rows, 1, k}},
					  {PCTL_SCALAR_F32, 3, {rows, k, m}},
					  {PCTL_SCALAR_F32, 3, {rows, 1, m}}};
	const pctl_attr attr[] = {{"order", "exact", 0},
				  {"out", "f32", 0},
				  {"transpose_a", "false", 0},
				  {"transpose_b", "false", 0}};

	if (rows * m != 0)
		p->status = p->sink->op(p->sink->ctx, "tensor.matmul", 1, buffers, types, 3, attr,
					KIT_COUNT(attr));
}

static pctl_status combine_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const pctl_tensor_type *y = &u->q->in[Y];
	const uint64_t rows = transformer_rows(y, 2), k = y->dim[y->rank - 2],
		       m = y->dim[y->rank - 1];

	for (uint64_t i = 0; i < rows * m; i++) {
		tensor_sum s = {.nan = 0};

		for (uint64_t e = 0; e < k; e++)
			tensor_sum_product(
				&s, tensor_value(PCTL_SCALAR_F32, in[WEIGHTS].data, i / m * k + e),
				tensor_value(PCTL_SCALAR_F32, in[Y].data,
					     (i / m * k + e) * m + i % m));
		transformer_put(out[0].data, i, transformer_rounded(&s));
	}
	return PCTL_OK;
}

static const uint64_t combine_sizes[][3] = {{1, 1, 1}, {2, 2, 5}, {3, 8, 33}, {1, 8, 1030},
					    {2, 0, 4}, {0, 3, 4}, {4, 4, 64}, {1, 60, 7}};
static const pctl_op_problems combine_problems = {PCTL_HEAD(pctl_op_problems),
						  "up to 4 rows of up to 60 experts",
						  KIT_COUNT(combine_sizes) * 6};

static void combine_problem(kit_problem *p)
{
	const uint64_t *s = combine_sizes[p->number % KIT_COUNT(combine_sizes)];

	transformer_problem_floats(p, Y,
				   &(pctl_tensor_type){PCTL_SCALAR_F32, 3, {s[0], s[1], s[2]}});
	transformer_problem_floats(p, WEIGHTS,
				   &(pctl_tensor_type){PCTL_SCALAR_F32, 2, {s[0], s[1]}});
	kit_problem_rigid(p);
}

/* The experts of a row in reverse order. */
static void combine_law_reordered(kit_law *l)
{
	const pctl_tensor_type *y = &l->use.q->in[Y];
	const tensor_lines rows = {transformer_rows(y, 2), y->dim[y->rank - 2], y->dim[y->rank - 1],
				   0},
			   ones = {rows.outer, rows.n, 1, 0};
	uint32_t in[2];

	in[Y] = tensor_law_taken(l, y, Y, tensor_law_mirrored, &rows);
	in[WEIGHTS] =
		tensor_law_taken(l, &l->use.q->in[WEIGHTS], WEIGHTS, tensor_law_mirrored, &ones);
	kit_law_equal(l, kit_law_use(l, "transformer.moe_combine", in, 2, NULL, 0, 1),
		      kit_law_out(l, 0));
}

static void combine_law_einsum(kit_law *l)
{
	const pctl_attr attr[] = {{"equation", "bk,bkm->bm", 0}};

	if (l->use.q->in[Y].rank == 3)
		kit_law_equal(
			l, kit_law_use(l, "tensor.einsum", (uint32_t[]){WEIGHTS, Y}, 2, attr, 1, 1),
			kit_law_out(l, 0));
}

/* ---- the ops -------------------------------------------------------------------------------- */

static const pctl_port linear_in[] = {
	{"x", TRANSFORMER_FLOATS "[...]", "the rows, [.., n], or [.., k, n]: one for each expert",
	 0, 0},
	{"w", TRANSFORMER_FACTORS "[e,m,n]", "a matrix for each expert", 0, 0},
	{"experts", "u32[...]", "the experts of each row, [.., k]", 0, 0},
	{"bias", TRANSFORMER_FLOATS "[...]", "what is added, [e, m], or no elements", 0, 0}};
static const pctl_port linear_out[] = {{"y", "f32[...]", "the products, [.., k, m]", 0, 0}};
static const pctl_port combine_in[] = {{"y", "f32[...]", "what the experts gave, [.., k, m]", 0, 0},
				       {"weights", "f32[...]", "their weights, [.., k]", 0, 0}};
static const pctl_port combine_out[] = {{"z", "f32[...]", "the sums, [.., m]", 0, 0}};
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
static const pctl_law combine_laws[] = {
	TENSOR_LAW("reordered", "the experts of all rows in reverse order give the same"),
	TENSOR_LAW("einsum", "of three dimensions: it is tensor.einsum of bk,bkm->bm"),
};
static void (*const combine_checks[])(kit_law *) = {combine_law_reordered, combine_law_einsum};

static const kit_op ops[] = {
	TENSOR_OP(
		linear, 1, "transformer.moe_linear", "rows times the matrices of their experts",
		"y[.., i, j] = the exact sum over c of x's row [.., c] (of place i where x has k "
		"rows) * w[experts[.., i], j, c], rounded once to f32;\nthen + bias[experts[.., "
		"i], j], where there is one, rounded. An expert that w has not gives the canonical "
		"NaN.",
		PCTL_CLASS_STRICT, linear_in, 4, linear_out, NULL, 0, NULL),
	TENSOR_OP(
		combine, 1, "transformer.moe_combine", "what experts gave, weighted and added up",
		"z[.., j] = the exact sum over i of weights[.., i] * y[.., i, j], rounded once to "
		"f32.",
		PCTL_CLASS_STRICT, combine_in, 2, combine_out, NULL, 0, NULL),
};

const kit_family transformer_experts_family = {ops, NULL, KIT_COUNT(ops), 0};
