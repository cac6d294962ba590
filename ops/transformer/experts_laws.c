/* Problems of transformer.moe_linear, and its laws, by code that knows neither kernels nor the reference. */
#include "experts.h"

/* ---- problems ------------------------------------------------------------------------------- */

static const struct {
	uint32_t dtype, n;
} weights[] = {{PCTL_SCALAR_F32, 5},	{PCTL_SCALAR_F32, 70},	{PCTL_SCALAR_BF16, 33},
	       {PCTL_SCALAR_F16, 18},	{PCTL_DTYPE_Q8_0, 64},	{PCTL_DTYPE_Q4_0, 32},
	       {PCTL_DTYPE_Q4_1, 32},	{PCTL_DTYPE_Q5_0, 32},	{PCTL_DTYPE_Q5_1, 32},
	       {PCTL_DTYPE_Q2_K, 256},	{PCTL_DTYPE_Q4_K, 256}, {PCTL_DTYPE_Q6_K, 256},
	       {PCTL_SCALAR_I8, 7},	{PCTL_DTYPE_F8E4M3, 9}, {PCTL_SCALAR_F32, 0},
	       {PCTL_DTYPE_TERNARY, 16}};

const pctl_op_problems linear_problems = {
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

void linear_problem(kit_problem *p)
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
	transformer_problem_floats(p, EXPERTS_X, &x);
	if (tensor_float_format_of(w.dtype) != NULL)
		transformer_problem_floats(p, EXPERTS_W, &w);
	else
		transformer_problem_table(p, EXPERTS_W, &w);
	numbers(p, EXPERTS_WHICH, &which_t, all);
	transformer_problem_floats(p, EXPERTS_BIAS, &bias);
	kit_problem_rigid(p);
}

/* ---- laws of moe_linear --------------------------------------------------------------------- */

static uint32_t linear(kit_law *l, uint32_t x, uint32_t w, uint32_t which, uint32_t bias)
{
	return kit_law_use(l, "transformer.moe_linear", (uint32_t[]){x, w, which, bias}, 4, NULL, 0,
			   1);
}

void linear_law_rows(kit_law *l)
{
	const pctl_tensor_type *t = l->use.q->in;
	const uint32_t y = kit_law_out(l, 0);
	experts e;
	uint32_t x;

	if (transformer_experts_of(&l->use, &e) != PCTL_OK || e.k * e.n * e.m == 0)
		return;
	x = transformer_law_rows(l, &t[EXPERTS_X], EXPERTS_X, e.each ? e.k * e.n : e.n);
	kit_law_equal(l,
		      linear(l, x, EXPERTS_W,
			     transformer_law_rows(l, &t[EXPERTS_WHICH], EXPERTS_WHICH, e.k),
			     EXPERTS_BIAS),
		      transformer_law_rows(l, &l->c->types[y], y, e.k * e.m));
}

/* The matrix of one expert, with tensor.matmul: of the first place whose expert there is, without a bias. */
static uint64_t of_expert(const void *ctx, uint64_t i)
{
	return *(const uint64_t *)ctx + i;
}

void linear_law_matmul(kit_law *l)
{
	const pctl_tensor_type *t = l->use.q->in;
	const pctl_attr attr[] = {{"transpose_b", "true", 1}};
	const uint32_t y = kit_law_out(l, 0);
	uint64_t row, from, to = 0;
	pctl_tensor_type x, w, one;
	uint32_t product;
	experts e;

	if (transformer_experts_of(&l->use, &e) != PCTL_OK || e.places * e.m * e.n == 0 ||
	    e.biased || kit_dtype_bytes(t[EXPERTS_W].dtype) == 0)
		return;
	from = tensor_get(kit_law_data(l, EXPERTS_WHICH), e.places - 1, 4);
	if (from >= e.all)
		return;
	row = (e.each ? e.places - 1 : (e.places - 1) / e.k) * e.n;
	from *= e.m * e.n;
	to = (e.places - 1) * e.m;
	x = (pctl_tensor_type){t[EXPERTS_X].dtype, 2, {1, e.n}};
	w = (pctl_tensor_type){t[EXPERTS_W].dtype, 2, {e.m, e.n}};
	one = (pctl_tensor_type){PCTL_SCALAR_F32, 2, {1, e.m}};
	product = kit_law_use(l, "tensor.matmul",
			      (uint32_t[]){tensor_law_taken(l, &x, EXPERTS_X, of_expert, &row),
					   tensor_law_taken(l, &w, EXPERTS_W, of_expert, &from)},
			      2, attr, 1, 1);
	kit_law_equal(l, product, tensor_law_taken(l, &one, y, of_expert, &to));
}

/* Numbers of experts that w has not. */
void linear_law_unknown(kit_law *l)
{
	const pctl_tensor_type *t = l->use.q->in;
	const uint32_t y = kit_law_out(l, 0);
	experts e;
	uint32_t *data;

	if (transformer_experts_of(&l->use, &e) != PCTL_OK || e.places * e.m == 0)
		return;
	data = kit_law_scratch(l, 4 * e.places * (e.m + 1));
	if (data == NULL)
		return;
	for (uint64_t i = 0; i < e.places; i++)
		data[i] = (uint32_t)(e.all + i);
	data[0] = (uint32_t)e.all;
	{
		const uint32_t which = kit_law_tensor(l, &t[EXPERTS_WHICH], data);

		for (uint64_t i = 0; i < e.places * e.m; i++)
			data[i] = 0x7fc00000u;
		kit_law_equal(l, linear(l, EXPERTS_X, EXPERTS_W, which, EXPERTS_BIAS),
			      kit_law_tensor(l, &l->c->types[y], data));
	}
	kit_law_free(l, data);
}

/* What a bias adds is ieee.add's. */
void linear_law_biased(kit_law *l)
{
	const pctl_tensor_type *t = l->use.q->in;
	const uint32_t y = kit_law_out(l, 0);
	const pctl_tensor_type none = {PCTL_SCALAR_F32, 2, {0, t[EXPERTS_W].dim[1]}};
	uint32_t *added, plain;
	experts e;

	if (transformer_experts_of(&l->use, &e) != PCTL_OK || !e.biased ||
	    t[EXPERTS_BIAS].dtype != PCTL_SCALAR_F32)
		return;
	added = kit_law_scratch(l, 4 * e.places * e.m + 4);
	if (added == NULL)
		return;
	for (uint64_t i = 0; i < e.places * e.m; i++) {
		const uint64_t expert = tensor_get(kit_law_data(l, EXPERTS_WHICH), i / e.m, 4);

		added[i] = expert < e.all ? (uint32_t)tensor_get(kit_law_data(l, EXPERTS_BIAS),
								 expert * e.m + i % e.m, 4)
					  : 0;
	}
	plain = linear(l, EXPERTS_X, EXPERTS_W, EXPERTS_WHICH, kit_law_tensor(l, &none, added));
	kit_law_equal(l,
		      kit_law_use(l, "ieee.add",
				  (uint32_t[]){plain, kit_law_tensor(l, &l->c->types[y], added)}, 2,
				  NULL, 0, 1),
		      y);
	kit_law_free(l, added);
}
