/* tensor.tril, triu and where: elements kept or chosen (SEMANTICS.md 16.5). */
#include <stdio.h>

#include "common/tensors/elements.h"
#include "kernels.h"

/* ---- tril and triu -------------------------------------------------------------------------- */

enum { LOWER, UPPER };
static const uint32_t lower = LOWER, upper = UPPER;

static int is_lower(const kit_use *u)
{
	return *(const uint32_t *)u->op->data == LOWER;
}

static pctl_status tri_infer(const kit_use *u, pctl_op_result *out)
{
	if (u->q->in[0].rank < 2)
		return kit_refuse_type(u, 0, "at least 2 dimensions");
	out->out[0] = u->q->in[0];
	return tensor_movable(u, 0);
}

static void tri_plan(kit_plan *p)
{
	const pctl_tensor_type *x = &p->use->q->in[0];
	const int64_t named = (int64_t)kit_attr(p->use, 0), most = (int64_t)1 << 30;
	/* No element is as far from the diagonal as 2^31, and differences stay within i32. */
	const int64_t d = named > 2 * most - 1 ? 2 * most - 1
			  : named < -2 * most  ? -2 * most
					       : named;
	tensor_kernel k =
		tensor_kernel_begin_of(p, "tensor/tri.wgsl", kit_elements(x), x->dtype, 0);

	tensor_kernel_read_of(&k, "x", x->dtype, kit_in(p, 0));
	kit_wgsl_add(&k.w,
		     is_lower(p->use)
			     ? "fn kept(away: i32, d: i32) -> bool {\n\treturn away <= d;\n}\n"
			     : "fn kept(away: i32, d: i32) -> bool {\n\treturn away >= d;\n}\n");
	kit_wgsl_add(
		&k.w,
		"fn product(i: u32) -> T {\n\tlet n = params.v[0].x;\n\tlet away = i32(i % n) - "
		"i32((i / n) % params.v[0].y);\n\treturn select(T(0), x_raw(i), kept(away, "
		"bitcast<i32>(params.v[0].z)));\n}\n");
	k.params.v[0][0] = (uint32_t)x->dim[x->rank - 1];
	k.params.v[0][1] = (uint32_t)x->dim[x->rank - 2];
	k.params.v[0][2] = (uint32_t)d;
	tensor_kernel_run(&k, kit_out(p, 0));
}

static pctl_status tri_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const pctl_tensor_type *x = &u->q->in[0];
	const uint64_t m = x->dim[x->rank - 2], n = x->dim[x->rank - 1];
	const int64_t d = (int64_t)kit_attr(u, 0);

	for (uint64_t at = 0, all = kit_elements(x); at < all; at += m * n)
		for (uint64_t r = 0; r < m; r++)
			for (uint64_t c = 0; c < n; c++) {
				const int64_t away = (int64_t)c - (int64_t)r;
				const int kept = is_lower(u) ? away <= d : away >= d;

				tensor_code_put(
					x->dtype, out[0].data, at + r * n + c,
					kept ? tensor_code(x->dtype, in[0].data, at + r * n + c)
					     : 0);
			}
	return PCTL_OK;
}

static const pctl_op_problems tri_problems = {PCTL_HEAD(pctl_op_problems),
					      "matrices of up to 325 elements", TENSOR_SHAPES * 5};

static void tri_problem(kit_problem *p)
{
	static const char *const diagonals[] = {"0", "-1", "1", "3", "-4000000000"};
	pctl_tensor_type x = tensor_problem_shapes[p->number % TENSOR_SHAPES];

	if (tensor_problem_of_others(p))
		return;
	x.dtype = p->dtype;
	if (x.rank < 2) {
		kit_problem_none(p);
		return;
	}
	tensor_problem_attr(p, 0, diagonals[p->number / TENSOR_SHAPES % 5]);
	tensor_problem_fill(p, 0, &x, TENSOR_BITS);
	kit_problem_rigid(p);
}

typedef struct transposition {
	uint64_t m, n; /* of what is taken from */
} transposition;

static uint64_t transposed(const void *ctx, uint64_t i)
{
	const transposition *t = ctx;
	const uint64_t c = i % t->m, r = i / t->m % t->n;

	return i / (t->m * t->n) * (t->m * t->n) + c * t->n + r;
}

/* The other op of x transposed, with the diagonal's sign turned. */
static void law_transposed(kit_law *l)
{
	const pctl_tensor_type *x = &l->use.q->in[0];
	const transposition t = {x->dim[x->rank - 2], x->dim[x->rank - 1]};
	const char *d = kit_law_attr(l, "diagonal");
	pctl_attr attr = {"diagonal", NULL, 0};
	pctl_tensor_type turned = *x;
	char text[32];
	uint32_t in;

	snprintf(text, sizeof(text), "%s%s", *d == '-' ? "" : "-", *d == '-' ? d + 1 : d);
	attr.text = text;
	turned.dim[x->rank - 2] = t.n;
	turned.dim[x->rank - 1] = t.m;
	in = tensor_law_taken(l, &turned, 0, transposed, &t);
	in = kit_law_use(l, is_lower(&l->use) ? "tensor.triu" : "tensor.tril", &in, 1, &attr, 1, 1);
	kit_law_equal(l, in, tensor_law_taken(l, &turned, kit_law_out(l, 0), transposed, &t));
}

/* ---- where ---------------------------------------------------------------------------------- */

/* Dimension d from the inside: 1 where there is none. */
static uint64_t inner_dim(const pctl_tensor_type *t, uint32_t d)
{
	return d < t->rank ? t->dim[t->rank - 1 - d] : 1;
}

static pctl_status where_infer(const kit_use *u, pctl_op_result *out)
{
	pctl_tensor_type *y = &out->out[0];
	pctl_status status = PCTL_OK;

	*y = (pctl_tensor_type){.dtype = u->q->in[1].dtype};
	for (uint32_t i = 0; i < 3 && status == PCTL_OK; i++) {
		status = tensor_movable(u, i);
		if (u->q->in[i].rank > y->rank)
			y->rank = u->q->in[i].rank;
	}
	if (status == PCTL_OK && u->q->in[0].dtype != PCTL_SCALAR_BOOL &&
	    u->q->in[0].dtype != PCTL_SCALAR_U32 && u->q->in[0].dtype != PCTL_SCALAR_U8)
		status = kit_refuse_type(u, 0, "bool|u32|u8");
	if (status == PCTL_OK && u->q->in[2].dtype != y->dtype)
		status = kit_refuse_type(u, 2, "the type of a");
	for (uint32_t d = 0; d < y->rank && status == PCTL_OK; d++) {
		uint64_t n = 1;

		for (uint32_t i = 0; i < 3; i++) {
			const uint64_t of = inner_dim(&u->q->in[i], d);

			if (n != 1 && of != 1 && of != n)
				status = kit_refuse_type(u, i, "a shape that fits the others'");
			n = of == 1 ? n : of;
		}
		y->dim[y->rank - 1 - d] = n;
	}
	return status != PCTL_OK ? status
				 : kit_limit(u, "elements", kit_elements(y), TENSOR_ELEMENTS_MAX);
}

static void where_plan(kit_plan *p)
{
	static const char *const names[] = {"chosen", "a", "b"};
	const pctl_op_query *q = p->use->q;
	uint64_t stride[3] = {1, 1, 1};
	pctl_op_result r;
	tensor_kernel k;

	p->status = where_infer(p->use, &r);
	if (p->status != PCTL_OK)
		return;
	k = tensor_kernel_begin_of(p, "tensor/where.wgsl", kit_elements(&r.out[0]), r.out[0].dtype,
				   0);
	for (uint32_t i = 0; i < 3; i++)
		tensor_kernel_read_of(&k, names[i], q->in[i].dtype, kit_in(p, i));
	kit_wgsl_add(&k.w, KERNEL_WHERE);
	for (uint32_t d = 0; d < PCTL_RANK_MAX; d++) {
		k.params.v[d][0] = (uint32_t)inner_dim(&r.out[0], d);
		for (uint32_t i = 0; i < 3; i++) {
			const uint64_t n = inner_dim(&q->in[i], d);

			k.params.v[d][1 + i] = n == 1 ? 0 : (uint32_t)stride[i];
			stride[i] *= n;
		}
	}
	tensor_kernel_run(&k, kit_out(p, 0));
}

static uint64_t broadcast_at(const pctl_tensor_type *y, const pctl_tensor_type *x, uint64_t i)
{
	uint64_t at = 0, scale = 1;

	for (uint32_t d = 0; d < y->rank; d++) {
		const uint64_t n = inner_dim(x, d);

		at += (i % inner_dim(y, d)) % n * scale;
		i /= inner_dim(y, d);
		scale *= n;
	}
	return at;
}

static pctl_status where_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	pctl_op_result r;
	const pctl_status status = where_infer(u, &r);
	const pctl_tensor_type *y = &r.out[0];

	for (uint64_t i = 0; status == PCTL_OK && i < kit_elements(y); i++) {
		const int from = tensor_get(in[0].data, broadcast_at(y, &u->q->in[0], i),
					    kit_dtype_bytes(u->q->in[0].dtype)) != 0
					 ? 1
					 : 2;

		tensor_code_put(
			y->dtype, out[0].data, i,
			tensor_code(y->dtype, in[from].data, broadcast_at(y, &u->q->in[from], i)));
	}
	return status;
}

#define WHERE_TYPES 18u
static const uint32_t moved_types[WHERE_TYPES] = {
	PCTL_SCALAR_F32, PCTL_SCALAR_F16,    PCTL_SCALAR_BF16,	PCTL_SCALAR_I8,	 PCTL_SCALAR_U8,
	PCTL_SCALAR_I16, PCTL_SCALAR_U16,    PCTL_SCALAR_I32,	PCTL_SCALAR_U32, PCTL_SCALAR_I64,
	PCTL_SCALAR_U64, PCTL_SCALAR_F64,    PCTL_DTYPE_F8E4M3, PCTL_DTYPE_F4,	 PCTL_DTYPE_I4,
	PCTL_DTYPE_U2,	 PCTL_DTYPE_TERNARY, PCTL_DTYPE_BINARY};
static const pctl_op_problems where_problems = {
	PCTL_HEAD(pctl_op_problems), "tensors of up to 325 elements, of which one may be broadcast",
	TENSOR_SHAPES * 4};

static void where_problem(kit_problem *p)
{
	const uint32_t variant = (uint32_t)(p->number / TENSOR_SHAPES) % 4;
	const uint32_t dtype = moved_types[p->number % WHERE_TYPES];

	for (uint32_t i = 0; i < 3; i++) {
		pctl_tensor_type t = tensor_problem_shapes[p->number % TENSOR_SHAPES];

		t.dtype = i == 0 ? p->dtype : dtype;
		if (variant == i + 1 && t.dim[0] != 0)
			t.dim[0] = 1;
		if (variant == 3 && i == 1)
			t = (pctl_tensor_type){.dtype = dtype};
		tensor_problem_fill(p, i, &t, i == 0 ? TENSOR_SMALL : TENSOR_BITS);
	}
	kit_problem_rigid(p);
}

/* The other way round: a and b by a condition that is turned. */
static void law_turned(kit_law *l)
{
	const pctl_tensor_type *t = &l->use.q->in[0];
	const uint64_t n = kit_elements(t), bytes = kit_dtype_bytes(t->dtype);
	uint8_t *data = kit_law_scratch(l, n * bytes + 1);
	uint32_t in[3] = {0, 2, 1};

	if (data == NULL)
		return;
	for (uint64_t i = 0; i < n; i++)
		tensor_put(data, i, bytes, tensor_get(kit_law_data(l, 0), i, bytes) == 0);
	in[0] = kit_law_tensor(l, t, data);
	kit_law_equal(l, kit_law_use(l, "tensor.where", in, 3, NULL, 0, 1), kit_law_out(l, 0));
	kit_law_free(l, data);
}

/* ---- the ops -------------------------------------------------------------------------------- */

static const pctl_port one_in[] = {{"x", TENSOR_WITH_ZERO "[...]", "the elements", 0, 0}};
static const pctl_port one_out[] = {
	{"y", TENSOR_WITH_ZERO "[...]", "the result, of x's type", 0, 0}};
static const pctl_port where_in[] = {
	{"condition", "bool|u32|u8[...]", "a where it is not 0, else b", 0, 0},
	{"a", TENSOR_ANY "[...]", "taken where the condition holds", 0, 0},
	{"b", TENSOR_ANY "[...]", "taken elsewhere, of a's type", 0, 0}};
static const pctl_port where_out[] = {{"y", TENSOR_ANY "[...]", "what was taken", 0, 0}};
static const pctl_attr_desc tri_attr[] = {
	{"diagonal", "0", "0: the main one; above it are positive numbers", PCTL_ATTR_I64, 0, 0, 0},
};
static const pctl_law tri_laws[] = {
	TENSOR_LAW("transposed", "transposed, y is the other triangle of x transposed, the "
				 "diagonal's sign turned")};
static void (*const tri_checks[])(kit_law *) = {law_transposed};
static const pctl_law where_laws[] = {
	TENSOR_LAW("turned", "a and b changed about under the opposite condition give y")};
static void (*const where_checks[])(kit_law *) = {law_turned};

static const kit_op ops[] = {
	TENSOR_OP(tri, 1, "tensor.tril", "the lower triangle of matrices",
		  "y = x where column - row is at most diagonal, else all bits 0.",
		  PCTL_CLASS_INTEGER, one_in, 1, one_out, tri_attr, 1, &lower),
	TENSOR_OP(tri, 1, "tensor.triu", "the upper triangle of matrices",
		  "y = x where column - row is at least diagonal, else all bits 0.",
		  PCTL_CLASS_INTEGER, one_in, 1, one_out, tri_attr, 1, &upper),
	TENSOR_OP(where, 1, "tensor.where", "elements of two tensors by a condition",
		  "y = a where condition is not 0, else b; dimensions of 1 element are repeated.",
		  PCTL_CLASS_INTEGER, where_in, 3, where_out, NULL, 0, NULL),
};

const kit_family tensor_choose_family = {ops, NULL, KIT_COUNT(ops), 0};
