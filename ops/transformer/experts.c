/* transformer.moe_linear: rows times the matrices of their experts (SEMANTICS.md 18.14): its types and laws. experts_plan.c says how. */
#include "experts.h"

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
