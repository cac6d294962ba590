/* transformer.moe_route: which experts a row goes to, and with what weights (SEMANTICS.md 18.13): tensor.softmax where it comes first, and one kernel. */
#include <math.h>
#include <stdio.h>

#include "kernels.h"
#include "shared.h"

enum { ATTR_K, ATTR_MODE, ATTR_NORM };
enum { SOFTMAX_TOPK, TOPK_SOFTMAX };
#define K_MOST 64u
#define EXPERTS_MOST 65536u

typedef struct route {
	uint64_t rows, experts, k;
	int mode, norm;
} route;

static pctl_status route_of(const kit_use *u, route *r)
{
	const pctl_tensor_type *x = &u->q->in[0];
	const char *mode = u->q->attr[ATTR_MODE].text;

	if (x->dtype != PCTL_SCALAR_F32 || x->rank == 0)
		return kit_refuse_type(u, 0, "f32, of one dimension at least");
	*r = (route){.rows = transformer_rows(x, 1),
		     .experts = x->dim[x->rank - 1],
		     .k = kit_attr(u, ATTR_K),
		     .mode = strcmp(mode, "topk_softmax") == 0 ? TOPK_SOFTMAX : SOFTMAX_TOPK,
		     .norm = kit_attr(u, ATTR_NORM) != 0};
	if (r->mode == SOFTMAX_TOPK && strcmp(mode, "softmax_topk") != 0)
		return kit_refuse_attr(u, "mode", "is not softmax_topk or topk_softmax");
	if (r->mode == TOPK_SOFTMAX && r->norm)
		return kit_refuse_attr(u, "norm", "is for softmax_topk alone");
	if (r->k > r->experts)
		return kit_refuse_attr(u, "k", "is more than there are experts");
	return kit_limit(u, "experts", r->experts, EXPERTS_MOST);
}

static pctl_status route_infer(const kit_use *u, pctl_op_result *out)
{
	route r;
	const pctl_status status = route_of(u, &r);

	if (status != PCTL_OK)
		return status;
	out->out[0] = u->q->in[0];
	out->out[0].dim[out->out[0].rank - 1] = r.k;
	out->out[1] = out->out[0];
	out->out[0].dtype = PCTL_SCALAR_U32;
	transformer_cut_rows(u, out, 1, 1u);
	return kit_limit(u, "elements", kit_elements(&u->q->in[0]), TENSOR_ELEMENTS_MAX);
}

static void route_plan(kit_plan *p)
{
	kit_kernel kernel = {"transformer/moe_route.wgsl", NULL, 64, "steps", 1};
	uint32_t scores = kit_in(p, 0);
	char chosen[40];
	kit_wgsl w;
	route r;

	p->status = route_of(p->use, &r);
	if (p->status != PCTL_OK || r.rows == 0)
		return;
	if (r.mode == SOFTMAX_TOPK) {
		const pctl_tensor_type t = {PCTL_SCALAR_F32, 2, {r.rows, r.experts}};
		const pctl_attr attr[] = {{"axis", "-1", (uint64_t)-1}};

		scores = kit_temp(p, 4 * r.rows * r.experts);
		if (p->status == PCTL_OK)
			p->status = p->sink->op(p->sink->ctx, "tensor.softmax", 1,
						(uint32_t[]){kit_in(p, 0), scores},
						(pctl_tensor_type[]){t, t}, 2, attr, 1);
	}
	while (kernel.override_value * 64 < r.experts)
		kernel.override_value *= 2;
	w = kit_wgsl_make(p->use, 16384);
	kit_wgsl_add(&w, r.mode == TOPK_SOFTMAX ? "const SOFTMAX: bool = true;\n"
						: "const SOFTMAX: bool = false;\n");
	kit_wgsl_add(&w, r.norm ? "const NORM: bool = true;\n" : "const NORM: bool = false;\n");
	snprintf(chosen, sizeof(chosen), "const CHOSEN: u32 = %uu;\n", (unsigned)r.k);
	kit_wgsl_add(&w, chosen);
	kit_wgsl_add(&w, KERNEL_UNIT_SUM);
	kit_wgsl_add(&w, KERNEL_MOE_ROUTE);
	if (p->status == PCTL_OK)
		p->status = kit_wgsl_status(&w);
	kernel.text = w.text;
	{
		const uint32_t sizes[4] = {(uint32_t)r.rows, (uint32_t)r.experts, 0, 0};

		kit_run(p, &kernel, r.rows * 64,
			(kit_slot[]){KIT_ALL(kit_params(p, sizes, sizeof(sizes))), KIT_ALL(scores),
				     KIT_ALL(kit_out(p, 0)), KIT_ALL(kit_out(p, 1))},
			4);
	}
	kit_wgsl_free(&w);
}

/* ---- plain C -------------------------------------------------------------------------------- */

/* Softmax of n numbers (15.8). */
static void softmax(float *x, uint64_t n)
{
	tensor_sum s = {.nan = 0};
	float m = n == 0 ? -INFINITY : NAN, sum;

	for (uint64_t i = 0; i < n; i++)
		m = isnan(m) || x[i] > m ? x[i] : m;
	for (uint64_t i = 0; i < n; i++) {
		x[i] = x[i] == -INFINITY ? 0 : tensor_exp(x[i] - m);
		tensor_sum_product(&s, (double)x[i], 1);
	}
	sum = transformer_rounded(&s);
	for (uint64_t i = 0; i < n; i++)
		x[i] = sum == 0 ? 0 : x[i] / sum;
}

static uint64_t key_of(float x)
{
	uint32_t bits = 0x7fc00000u;

	memcpy(&bits, &x, 4);
	return tensor_order_key(PCTL_SCALAR_F32, bits);
}

static pctl_status route_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	float *x, taken[K_MOST];
	uint64_t at[K_MOST + 1];
	pctl_status status;
	route r;

	status = route_of(u, &r);
	if (status != PCTL_OK)
		return status;
	x = kit_scratch(u, 4 * r.experts + 4);
	if (x == NULL)
		return pctl_refuse(u->call, PC2_NOMEM, "no memory for %s", u->op->desc.name);
	for (uint64_t row = 0; row < r.rows; row++) {
		uint64_t n = 0;

		for (uint64_t e = 0; e < r.experts; e++)
			x[e] = transformer_get(in[0].data, row * r.experts + e);
		if (r.mode == SOFTMAX_TOPK) {
			softmax(x, r.experts);
			for (uint64_t e = 0; e < r.experts; e++)
				x[e] = isnan(x[e])
					       ? transformer_get((const uint32_t[]){0x7fc00000u}, 0)
					       : x[e];
		}
		/* Each goes behind those that go before it, while there is room. */
		for (uint64_t e = 0; e < r.experts; e++) {
			uint64_t to = n;

			for (; to > 0 && key_of(x[at[to - 1]]) < key_of(x[e]); to--)
				at[to] = at[to - 1];
			at[to] = e;
			n = n < r.k ? n + 1 : n;
		}
		for (uint64_t i = 0; i < r.k; i++)
			taken[i] = x[at[i]];
		if (r.mode == TOPK_SOFTMAX)
			softmax(taken, r.k);
		if (r.norm) {
			tensor_sum s = {.nan = 0};
			float sum;

			for (uint64_t i = 0; i < r.k; i++)
				tensor_sum_product(&s, (double)taken[i], 1);
			sum = transformer_rounded(&s);
			for (uint64_t i = 0; i < r.k; i++)
				taken[i] = taken[i] / sum;
		}
		for (uint64_t i = 0; i < r.k; i++) {
			tensor_put(out[0].data, row * r.k + i, 4, at[i]);
			transformer_put(out[1].data, row * r.k + i, taken[i]);
		}
	}
	kit_scratch_free(u, x);
	return PCTL_OK;
}

/* ---- problems and laws ---------------------------------------------------------------------- */

static const uint64_t sizes_of[][3] = {{3, 4, 2},   {1, 1, 1},	{2, 8, 8}, {5, 60, 4},
				       {1, 128, 8}, {2, 65, 3}, {0, 8, 2}, {3, 257, 33},
				       {4, 16, 6},  {2, 64, 64}};

static const pctl_op_problems route_problems = {PCTL_HEAD(pctl_op_problems),
						"up to 5 rows of 257 experts, many of them equal",
						KIT_COUNT(sizes_of) * 9};

static void route_problem(kit_problem *p)
{
	const uint64_t *s = sizes_of[p->number % KIT_COUNT(sizes_of)];
	const uint64_t variant = p->number / KIT_COUNT(sizes_of);
	const pctl_tensor_type t = {PCTL_SCALAR_F32, 2, {s[0], s[1]}};

	kit_problem_attr(p, ATTR_K, s[2]);
	tensor_problem_attr(p, ATTR_MODE, variant % 3 == 0 ? "topk_softmax" : "softmax_topk");
	tensor_problem_attr(p, ATTR_NORM, variant % 3 == 1 ? "true" : "false");
	if (variant < 6)
		transformer_problem_floats(p, 0, &t);
	else
		tensor_problem_fill(p, 0, &t, variant == 6 ? TENSOR_EDGES : TENSOR_SMALL);
	kit_problem_rigid(p);
}

static uint32_t routed(kit_law *l, uint32_t x)
{
	return kit_law_use(l, l->use.op->desc.name, &x, 1, l->use.q->attr, l->use.q->n_attr, 2);
}

static void route_law_rows(kit_law *l)
{
	const pctl_tensor_type *t = &l->use.q->in[0];
	const uint32_t y = kit_law_out(l, 0);
	const uint64_t n = t->dim[t->rank - 1], k = kit_attr(&l->use, ATTR_K);
	uint32_t got;

	if (n == 0 || k == 0)
		return;
	got = routed(l, transformer_law_rows(l, t, 0, n));
	kit_law_equal(l, got, transformer_law_rows(l, &l->c->types[y], y, k));
	kit_law_equal(l, got + 1, transformer_law_rows(l, &l->c->types[y + 1], y + 1, k));
}

/* By tensor's ops, step after step. */
static void route_law_steps(kit_law *l)
{
	const pctl_tensor_type *t = &l->use.q->in[0];
	const pctl_attr axis[] = {{"axis", "-1", (uint64_t)-1}};
	const pctl_attr top[] = {{"axis", "-1", (uint64_t)-1},
				 {"k", kit_law_attr(l, "k"), kit_attr(&l->use, ATTR_K)},
				 {"largest", "true", 1}};
	const pctl_attr sum[] = {{"axes", "-1", 0}, {"keep", "true", 1}};
	const uint32_t y = kit_law_out(l, 0);
	uint32_t p = 0, first;
	char shape[48];
	route r;

	if (route_of(&l->use, &r) != PCTL_OK || t->rank != 2)
		return;
	if (r.mode == SOFTMAX_TOPK)
		p = kit_law_use(l, "tensor.softmax", &p, 1, axis, 1, 1);
	first = kit_law_use(l, "tensor.topk", &p, 1, top, 3, 2);
	kit_law_equal(l, first + 1, y);
	if (r.mode == TOPK_SOFTMAX)
		first = kit_law_use(l, "tensor.softmax", &first, 1, axis, 1, 1);
	else if (r.norm) {
		const pctl_attr spread[] = {{"shape", shape, 0}};
		uint32_t in[2] = {first, 0};

		snprintf(shape, sizeof(shape), "%llu,%llu", (unsigned long long)r.rows,
			 (unsigned long long)r.k);
		in[1] = kit_law_use(l, "tensor.sum", &first, 1, sum, 2, 1);
		in[1] = kit_law_use(l, "tensor.broadcast", &in[1], 1, spread, 1, 1);
		first = kit_law_use(l, "ieee.div", in, 2, NULL, 0, 1);
	}
	kit_law_equal(l, first, y + 1);
}

/* Experts behind, of which none can be chosen: -Inf. Where k are better, nothing changes. */
static void route_law_padded(kit_law *l)
{
	const pctl_tensor_type *t = &l->use.q->in[0];
	const uint32_t y = kit_law_out(l, 0);
	pctl_tensor_type wide = *t;
	uint32_t *data, got;
	route r;

	if (route_of(&l->use, &r) != PCTL_OK || r.rows == 0)
		return;
	wide.dim[wide.rank - 1] += 3;
	data = kit_law_scratch(l, 4 * kit_elements(&wide));
	if (data == NULL)
		return;
	for (uint64_t i = 0; i < kit_elements(&wide); i++) {
		const uint64_t row = i / (r.experts + 3), e = i % (r.experts + 3);

		data[i] = e < r.experts
				  ? (uint32_t)tensor_get(kit_law_data(l, 0), row * r.experts + e, 4)
				  : 0xff800000u;
		/* NaN with a sign goes behind -Inf. */
		if (e < r.experts && data[i] > 0xff800000u)
			r.rows = 0;
	}
	if (r.rows != 0) {
		got = routed(l, kit_law_tensor(l, &wide, data));
		kit_law_equal(l, got, y);
		kit_law_equal(l, got + 1, y + 1);
	}
	kit_law_free(l, data);
}

/* ---- the op --------------------------------------------------------------------------------- */

static const pctl_port route_in[] = {{"logits", "f32[...]", "a row for each token, [.., E]", 0, 0}};
static const pctl_port route_out[] = {
	{"experts", "u32[...]", "the experts of a token, [.., k]", 0, 0},
	{"weights", "f32[...]", "the weight of each, [.., k]", 0, 0}};
static const pctl_attr_desc route_attr[] = {
	{"k", NULL, "how many experts a token has", PCTL_ATTR_U64, 0, 1, K_MOST},
	{"mode", "softmax_topk",
	 "softmax_topk: of all experts, then the best; topk_softmax: of the best alone",
	 PCTL_ATTR_STRING, 0, 0, 0},
	{"norm", "false", "softmax_topk: weights are divided by their sum", PCTL_ATTR_BOOL, 0, 0,
	 1},
};
static const pctl_law route_laws[] = {
	TENSOR_LAW("rows", "the rows of the logits reversed give those of experts and weights so"),
	TENSOR_LAW("by steps", "of matrices: experts and weights are what softmax, topk, sum and "
			       "div give one by one"),
	TENSOR_LAW("padded", "without NaN that have a sign: experts of -Inf behind change nothing"),
};
static void (*const route_checks[])(kit_law *) = {route_law_rows, route_law_steps,
						  route_law_padded};

static const kit_op ops[] = {
	TENSOR_OP(
		route, 2, "transformer.moe_route", "the experts of each token and their weights",
		"softmax_topk: p = tensor.softmax of a row; experts are the first k of p in "
		"descending order, NaN first, the lower index of equals first;\nweights are their "
		"p, with norm divided by T, the exact sum of the k rounded once.\ntopk_softmax: "
		"experts are the first k of the logits in that order, weights the softmax of the "
		"k.",
		PCTL_CLASS_STRICT, route_in, 1, route_out, route_attr, 3, NULL),
};

const kit_family transformer_route_family = {ops, NULL, KIT_COUNT(ops), 0};
