/* transformer.lora: a product of low rank added to what there is (SEMANTICS.md 18.12): two products of tensor.matmul and an elementwise end. */
#include <math.h>

#include "shared.h"

enum { Y0, X, A, B };
enum { ATTR_SCALE };

/* rows of x and y0, n, r and m. */
typedef struct lora {
	uint64_t rows, n, r, m;
	float scale;
} lora;

static pctl_status lora_of(const kit_use *u, lora *l)
{
	const pctl_tensor_type *in = u->q->in;

	for (uint32_t i = 0; i < 4; i++)
		if (tensor_float_format_of(in[i].dtype) == NULL ||
		    (i == Y0 && in[i].dtype != PCTL_SCALAR_F32))
			return kit_refuse_type(u, i, u->op->desc.in[i].type);
	if (in[X].rank == 0 || in[Y0].rank != in[X].rank)
		return kit_refuse_type(u, X, "as many dimensions as y0 has, one at least");
	for (uint32_t d = 0; d + 1 < in[X].rank; d++)
		if (in[X].dim[d] != in[Y0].dim[d])
			return kit_refuse_type(u, X, "y0's shape but along the last dimension");
	*l = (lora){.rows = transformer_rows(&in[X], 1),
		    .n = in[X].dim[in[X].rank - 1],
		    .m = in[Y0].dim[in[Y0].rank - 1]};
	if (in[A].rank != 2 || in[A].dim[1] != l->n)
		return kit_refuse_type(u, A, "a matrix whose rows are as long as x's");
	l->r = in[A].dim[0];
	if (in[B].rank != 2 || in[B].dim[0] != l->m || in[B].dim[1] != l->r)
		return kit_refuse_type(u, B,
				       "a matrix with a row for each of y0's columns, as long as a "
				       "has rows");
	return transformer_scale_of(u, ATTR_SCALE, &l->scale);
}

static pctl_status lora_infer(const kit_use *u, pctl_op_result *out)
{
	lora l;
	const pctl_status status = lora_of(u, &l);

	out->out[0] = u->q->in[Y0];
	if (status == PCTL_OK)
		transformer_cut_rows(u, out, 1, 1u << Y0 | 1u << X);
	return status != PCTL_OK
		       ? status
		       : kit_limit(u, "elements", kit_elements(&out->out[0]), TENSOR_ELEMENTS_MAX);
}

/* to = from times the rows of factor, in f32. */
static void product(kit_plan *p, uint32_t from, pctl_tensor_type from_type, uint32_t factor,
		    uint32_t to)
{
	const pctl_tensor_type *b = &p->use->q->in[factor];
	const uint32_t buffers[] = {from, kit_in(p, factor), to};
	const pctl_tensor_type types[] = {
		from_type, *b, {PCTL_SCALAR_F32, 2, {from_type.dim[0], b->dim[0]}}};
	const pctl_attr attr[] = {{"order", "exact", 0},
				  {"out", "f32", 0},
				  {"transpose_a", "false", 0},
				  {"transpose_b", "true", 1}};

	if (p->status == PCTL_OK)
		p->status = p->sink->op(p->sink->ctx, "tensor.matmul", 1, buffers, types, 3, attr,
					KIT_COUNT(attr));
}

static void lora_plan(kit_plan *p)
{
	const pctl_tensor_type *x = &p->use->q->in[X];
	uint32_t t, d;
	tensor_kernel k;
	lora l;

	p->status = lora_of(p->use, &l);
	if (p->status != PCTL_OK || l.rows * l.m == 0)
		return;
	t = kit_temp(p, 4 * l.rows * l.r);
	d = kit_temp(p, 4 * l.rows * l.m);
	product(p, kit_in(p, X), (pctl_tensor_type){x->dtype, 2, {l.rows, l.n}}, A, t);
	product(p, t, (pctl_tensor_type){PCTL_SCALAR_F32, 2, {l.rows, l.r}}, B, d);
	k = tensor_kernel_begin(p, "transformer/lora.wgsl", l.rows * l.m, 4, 0);
	tensor_kernel_bind(&k, "y0", "f32", kit_in(p, Y0));
	tensor_kernel_bind(&k, "d", "f32", d);
	kit_wgsl_add(&k.w, "fn product(i: u32) -> T {\n\treturn bitcast<u32>(y0[i] + "
			   "bitcast<f32>(params.v[0].x) * d[i]);\n}\n");
	memcpy(&k.params.v[0][0], &l.scale, 4);
	tensor_kernel_run(&k, kit_out(p, 0));
}

static pctl_status lora_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const pctl_tensor_type *types = u->q->in;
	pctl_status status;
	float *t;
	lora l;

	status = lora_of(u, &l);
	if (status != PCTL_OK)
		return status;
	t = kit_scratch(u, 4 * l.r);
	if (t == NULL)
		return pctl_refuse(u->call, PC2_NOMEM, "no memory for %s", u->op->desc.name);
	for (uint64_t row = 0; row < l.rows; row++) {
		for (uint64_t j = 0; j < l.r; j++) {
			tensor_sum s = {.nan = 0};

			for (uint64_t i = 0; i < l.n; i++)
				tensor_sum_product(
					&s, tensor_value(types[X].dtype, in[X].data, row * l.n + i),
					tensor_value(types[A].dtype, in[A].data, j * l.n + i));
			t[j] = transformer_rounded(&s);
		}
		for (uint64_t j = 0; j < l.m; j++) {
			tensor_sum s = {.nan = 0};
			float d;

			for (uint64_t i = 0; i < l.r; i++)
				tensor_sum_product(
					&s, (double)t[i],
					tensor_value(types[B].dtype, in[B].data, j * l.r + i));
			d = l.scale * transformer_rounded(&s);
			transformer_put(out[0].data, row * l.m + j,
					transformer_get(in[Y0].data, row * l.m + j) + d);
		}
	}
	kit_scratch_free(u, t);
	return PCTL_OK;
}

/* ---- problems and laws ---------------------------------------------------------------------- */

static const uint64_t sizes[][4] = {{2, 5, 2, 3},  {1, 1, 1, 1}, {3, 33, 4, 17}, {1, 64, 8, 65},
				    {2, 0, 3, 4},  {0, 4, 2, 4}, {2, 3, 0, 5},	 {4, 128, 16, 96},
				    {5, 17, 1, 9}, {2, 8, 33, 7}};
static const char *const scales[] = {"2", "0.0078125", "-1.7", "0"};
static const uint32_t floats[] = {PCTL_SCALAR_F32, PCTL_SCALAR_BF16, PCTL_SCALAR_F16};

static const pctl_op_problems lora_problems = {PCTL_HEAD(pctl_op_problems),
					       "products of up to 4 rows of 128, ranks up to 33",
					       KIT_COUNT(sizes) * 6};

static void lora_problem(kit_problem *p)
{
	const uint64_t *s = sizes[p->number % KIT_COUNT(sizes)];
	const uint64_t variant = p->number / KIT_COUNT(sizes);
	const uint32_t x = floats[variant % 3], w = floats[(variant / 2) % 3];

	tensor_problem_attr(p, ATTR_SCALE, scales[variant % KIT_COUNT(scales)]);
	transformer_problem_floats(p, Y0, &(pctl_tensor_type){PCTL_SCALAR_F32, 2, {s[0], s[3]}});
	transformer_problem_floats(p, X, &(pctl_tensor_type){x, 2, {s[0], s[1]}});
	transformer_problem_floats(p, A, &(pctl_tensor_type){w, 2, {s[2], s[1]}});
	transformer_problem_floats(p, B, &(pctl_tensor_type){w, 2, {s[3], s[2]}});
	kit_problem_rigid(p);
}

static uint32_t multiplied(kit_law *l, uint32_t a, uint32_t b)
{
	const pctl_attr attr[] = {{"transpose_b", "true", 1}, {"out", "f32", 0}};

	return kit_law_use(l, "tensor.matmul", (uint32_t[]){a, b}, 2, attr, 2, 1);
}

static void lora_law_steps(kit_law *l)
{
	const pctl_tensor_type *t = &l->use.q->in[Y0];
	const uint32_t y = kit_law_out(l, 0);
	const uint64_t n = kit_elements(t);
	float scale, *all = kit_law_scratch(l, 4 * n + 4);
	uint32_t d;

	if (all != NULL && t->rank == 2 &&
	    transformer_scale_of(&l->use, ATTR_SCALE, &scale) == PCTL_OK) {
		for (uint64_t i = 0; i < n; i++)
			all[i] = scale;
		d = multiplied(l, multiplied(l, X, A), B);
		d = kit_law_use(l, "ieee.mul", (uint32_t[]){d, kit_law_tensor(l, t, all)}, 2, NULL,
				0, 1);
		kit_law_equal(l, kit_law_use(l, "ieee.add", (uint32_t[]){Y0, d}, 2, NULL, 0, 1), y);
	}
	kit_law_free(l, all);
}

static void lora_law_rows(kit_law *l)
{
	const pctl_op_query *q = l->use.q;
	const uint32_t y = kit_law_out(l, 0);
	uint32_t in[] = {Y0, X, A, B};

	if (q->in[X].rank != 2)
		return;
	in[Y0] = transformer_law_rows(l, &q->in[Y0], Y0, q->in[Y0].dim[1]);
	in[X] = transformer_law_rows(l, &q->in[X], X, q->in[X].dim[1]);
	kit_law_equal(l, kit_law_use(l, l->use.op->desc.name, in, 4, q->attr, q->n_attr, 1),
		      transformer_law_rows(l, &q->in[Y0], y, q->in[Y0].dim[1]));
}

/* ---- the op --------------------------------------------------------------------------------- */

static const pctl_port lora_in[] = {{"y0", "f32[...]", "what is added to, [.., m]", 0, 0},
				    {"x", TRANSFORMER_FLOATS "[...]", "the rows, [.., n]", 0, 0},
				    {"a", TRANSFORMER_FLOATS "[r,n]", "the first factor", 0, 0},
				    {"b", TRANSFORMER_FLOATS "[m,r]", "the second factor", 0, 0}};
static const pctl_port lora_out[] = {{"y", "f32[...]", "the result, of y0's shape", 0, 0}};
static const pctl_attr_desc lora_attr[] = {
	{"scale", NULL, "what the product is multiplied by, as the nearest f32 (alpha / r)",
	 PCTL_ATTR_STRING, 0, 0, 0}};
static const pctl_law lora_laws[] = {
	TENSOR_LAW("by steps", "of matrices: y is y0 + scale * d, each step an op of its own"),
	TENSOR_LAW("rows", "of matrices: the rows of y0 and x reversed give the rows of y so"),
};
static void (*const lora_checks[])(kit_law *) = {lora_law_steps, lora_law_rows};

static const kit_op ops[] = {
	TENSOR_OP(lora, 1, "transformer.lora", "a product of low rank added to what there is",
		  "t[.., j] = the exact sum of x[.., i] * a[j, i], rounded once to f32; d[.., j] = "
		  "that of t[.., i] * b[j, i];\ny = y0 + scale * d, two roundings.",
		  PCTL_CLASS_STRICT, lora_in, 4, lora_out, lora_attr, 1, NULL),
};

const kit_family transformer_lora_family = {ops, NULL, KIT_COUNT(ops), 0};
