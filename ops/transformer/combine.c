/* transformer.moe_combine: what experts gave, weighted and added up (SEMANTICS.md 18.15): tensor.matmul of a row of weights and a matrix. */
#include "shared.h"

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

/* ---- the op --------------------------------------------------------------------------------- */

static const pctl_port combine_in[] = {{"y", "f32[...]", "what the experts gave, [.., k, m]", 0, 0},
				       {"weights", "f32[...]", "their weights, [.., k]", 0, 0}};
static const pctl_port combine_out[] = {{"z", "f32[...]", "the sums, [.., m]", 0, 0}};
static const pctl_law combine_laws[] = {
	TENSOR_LAW("reordered", "the experts of all rows in reverse order give the same"),
	TENSOR_LAW("einsum", "of three dimensions: it is tensor.einsum of bk,bkm->bm"),
};
static void (*const combine_checks[])(kit_law *) = {combine_law_reordered, combine_law_einsum};

static const kit_op ops[] = {
	TENSOR_OP(
		combine, 1, "transformer.moe_combine", "what experts gave, weighted and added up",
		"z[.., j] = the exact sum over i of weights[.., i] * y[.., i, j], rounded once to "
		"f32.",
		PCTL_CLASS_STRICT, combine_in, 2, combine_out, NULL, 0, NULL),
};

const kit_family transformer_combine_family = {ops, NULL, KIT_COUNT(ops), 0};
