/* Laws of the norms, as equations between tensors, and the problems that they are tried on. */
#include "norm.h"

#include <stdio.h>

#include "reduce_laws.h"

/* ---- problems ------------------------------------------------------------------------------- */

/* axes: of rows, or groups. */
static const struct {
	uint32_t rank;
	uint64_t dim[4];
	uint32_t axes, groups;
} shapes[] = {
	{2, {1, 1}, 1, 1},     {2, {3, 2}, 1, 2},	{2, {2, 64}, 1, 8},   {2, {2, 65}, 1, 5},
	{2, {3, 1025}, 1, 1},  {2, {0, 3}, 1, 3},	{2, {3, 0}, 1, 1},    {3, {2, 6, 3}, 2, 3},
	{3, {2, 4, 33}, 1, 2}, {4, {2, 3, 2, 5}, 3, 1}, {3, {5, 1, 2}, 2, 1},
};
enum { WITHOUT, WITH_WEIGHT, WITH_BOTH, WAYS };

const pctl_op_problems norm_problems = {PCTL_HEAD(pctl_op_problems),
					"tensors of two to four dimensions",
					KIT_COUNT(shapes) * TENSOR_KINDS *WAYS};

static void put(kit_problem *p, uint32_t port, const pctl_tensor_type *t, uint32_t kind)
{
	const uint64_t n = kit_elements(t), bytes = kit_dtype_bytes(p->dtype);
	uint8_t *data = kit_scratch(&p->use, n * bytes);

	if (data == NULL) {
		p->status = pctl_refuse(p->use.call, PC2_NOMEM, "no memory for a problem");
		return;
	}
	for (uint64_t i = 0; i < n; i++)
		tensor_problem_element(p->dtype, kind,
				       kit_random(p->seed + p->number * 8 + port, i),
				       data + i * bytes);
	kit_problem_input(p, port, t, data);
	kit_scratch_free(&p->use, data);
}

void norm_problem(kit_problem *p)
{
	const uint32_t kind = *(const uint32_t *)p->use.op->data;
	const uint32_t way = (uint32_t)(p->number % WAYS);
	const uint32_t number = (uint32_t)(p->number / WAYS / TENSOR_KINDS % KIT_COUNT(shapes));
	const uint32_t elements = (uint32_t)(p->number / WAYS % TENSOR_KINDS);
	pctl_tensor_type x = {.dtype = p->dtype, .rank = shapes[number].rank};
	pctl_tensor_type channel = {p->dtype, 1, {1}};
	const uint32_t n_in = p->use.op->desc.n_in;

	if (p->number >= norm_problems.n || (kind == NORM_RMS && way == WITH_BOTH)) {
		kit_problem_none(p);
		return;
	}
	memcpy(x.dim, shapes[number].dim, sizeof(shapes[number].dim));
	if (kind == NORM_LAYER || kind == NORM_RMS) {
		for (uint32_t d = x.rank - shapes[number].axes; d < x.rank; d++)
			channel.dim[0] *= x.dim[d];
		kit_problem_attr(p, 1, shapes[number].axes);
	} else {
		channel.dim[0] = x.dim[1];
		if (kind == NORM_GROUP)
			kit_problem_attr(p, 1, shapes[number].groups);
	}
	if (p->status == PCTL_OK && number % 2 == 1)
		p->status = p->sink->attr(p->sink->ctx, 0, "0.1");
	put(p, 0, &x, elements);
	for (uint32_t port = 1; port < n_in; port++) {
		const uint32_t given = kind == NORM_BATCH && port < 3
					       ? 2
					       : port - (n_in - (kind == NORM_RMS ? 1 : 2));
		pctl_tensor_type t = channel;

		/* 0: the weight, 1: the bias. */
		if (given < 2 && given >= way)
			t.dim[0] = 0;
		put(p, port, &t, elements == TENSOR_SPECIAL ? TENSOR_ANY : TENSOR_SMALL);
	}
	kit_problem_rigid(p);
}

/* ---- laws ----------------------------------------------------------------------------------- */

static uint32_t again(kit_law *l, const uint32_t *in)
{
	return kit_law_use(l, l->use.op->desc.name, in, l->use.q->n_in, l->use.q->attr,
			   l->use.q->n_attr, 1);
}

static void inputs(const kit_law *l, uint32_t *in)
{
	for (uint32_t i = 0; i < l->use.q->n_in; i++)
		in[i] = i;
}

/* The last of the outermost dimension of a tensor. */
static uint32_t last(kit_law *l, uint32_t of)
{
	pctl_tensor_type t = l->c->types[of];
	const uint64_t bytes = kit_law_bytes(l, of), one = bytes / t.dim[0];

	t.dim[0] = 1;
	return kit_law_tensor(l, &t, kit_law_data(l, of) + bytes - one);
}

void norm_law_alone(kit_law *l)
{
	const pctl_tensor_type *x = &l->use.q->in[0];
	norm_shape s;
	uint32_t in[8];

	if (kit_elements(x) == 0 || norm_shape_of(&l->use, &s) != PCTL_OK ||
	    s.rows % x->dim[0] != 0)
		return;
	inputs(l, in);
	in[0] = last(l, 0);
	kit_law_equal(l, again(l, in), last(l, kit_law_out(l, 0)));
}

/* The same tensor, every `n` elements in reverse. */
static uint32_t reversed(kit_law *l, uint32_t of, uint64_t n)
{
	const pctl_tensor_type *t = &l->c->types[of];
	const uint64_t bytes = kit_dtype_bytes(t->dtype), all = kit_elements(t);
	uint8_t *data = kit_law_scratch(l, all * bytes + 1);
	uint32_t number;

	if (data == NULL)
		return 0;
	for (uint64_t i = 0; i < all; i++)
		memcpy(data + i * bytes, kit_law_data(l, of) + (i / n * n + n - 1 - i % n) * bytes,
		       bytes);
	number = kit_law_tensor(l, t, data);
	kit_law_free(l, data);
	return number;
}

void norm_law_permuted(kit_law *l)
{
	const pctl_tensor_type *x = &l->use.q->in[0];
	const uint64_t n = x->dim[x->rank - 1];
	const uint32_t kind = norm_kind(&l->use);
	const int rows = kind == NORM_LAYER || kind == NORM_RMS;
	uint32_t in[8];

	if (kit_elements(x) == 0 || (!rows && x->rank < 3))
		return;
	inputs(l, in);
	for (uint32_t i = 0; i < l->use.q->n_in; i++)
		if (i == 0 || (rows && kit_elements(&l->use.q->in[i]) > 0))
			in[i] = reversed(l, i, n);
	kit_law_equal(l, again(l, in), reversed(l, kit_law_out(l, 0), n));
}

/* A tensor of n ones. */
static uint32_t ones(kit_law *l, uint64_t n)
{
	const pctl_tensor_type t = {l->use.q->in[0].dtype, 1, {n}};
	const uint64_t bytes = kit_dtype_bytes(t.dtype);
	const uint32_t one = t.dtype == PCTL_SCALAR_F32	  ? 0x3f800000u
			     : t.dtype == PCTL_SCALAR_F16 ? 0x3c00u
							  : 0x3f80u;
	uint8_t *data = kit_law_scratch(l, n * bytes + 1);
	uint32_t number;

	if (data == NULL)
		return 0;
	for (uint64_t i = 0; i < n; i++)
		memcpy(data + i * bytes, &one, bytes);
	number = kit_law_tensor(l, &t, data);
	kit_law_free(l, data);
	return number;
}

void norm_law_ones(kit_law *l)
{
	const uint32_t weight = norm_kind(&l->use) == NORM_BATCH ? 3 : 1;
	norm_shape s;
	uint32_t in[8];

	if (norm_shape_of(&l->use, &s) != PCTL_OK || s.weight != 0 || s.channels == 0)
		return;
	inputs(l, in);
	in[weight] = ones(l, s.channels);
	kit_law_equal(l, again(l, in), kit_law_out(l, 0));
}

void norm_law_as_group(kit_law *l)
{
	const pctl_attr attr[2] = {l->use.q->attr[0], {"groups", "1", 1}};
	uint32_t in[8];
	norm_shape s;

	if (norm_shape_of(&l->use, &s) != PCTL_OK || s.rows * s.n == 0)
		return;
	inputs(l, in);
	in[0] = kit_law_tensor(l, &(pctl_tensor_type){l->use.q->in[0].dtype, 2, {s.rows, s.n}},
			       kit_law_data(l, 0));
	kit_law_equal(l, kit_law_use(l, "tensor.group_norm", in, 3, attr, 2, 1), kit_law_out(l, 0));
}
