/* tensor.reshape, tensor.transpose, tensor.slice, tensor.broadcast (SEMANTICS.md 14.3): elements of x in another order. Each says in
 * infer where its elements lie, and the host copies or finds them there; the reference walks over the indices itself. */
#include <stdlib.h>

#include "common/tensors/value.h"
#include "tensor.h"
#include "view.h"

/* Numbers between commas. has: bit i, item i was not left empty. */
typedef struct numbers {
	int64_t at[PCTL_RANK_MAX];
	uint32_t n, has;
} numbers;

static pctl_status read_numbers(const kit_use *u, uint32_t attr, int may_be_empty, numbers *out)
{
	const char *name = u->op->desc.attr[attr].name;
	const char *text = u->q->attr[attr].text;

	*out = (numbers){.n = 0};
	if (*text == '\0')
		return PCTL_OK;
	for (;;) {
		char *end;
		const long long v = strtoll(text, &end, 10);
		const int empty = end == text;

		if ((empty && !may_be_empty) || (*end != ',' && *end != '\0'))
			return kit_refuse_attr(u, name, "is not numbers between commas");
		if (out->n == PCTL_RANK_MAX)
			return kit_refuse_attr(u, name, "has more than 8 numbers");
		out->has |= (uint32_t)!empty << out->n;
		out->at[out->n++] = v;
		if (*end == '\0')
			return PCTL_OK;
		text = end + 1;
	}
}

static void strides_of(const pctl_tensor_type *t, uint64_t stride[PCTL_RANK_MAX])
{
	uint64_t n = 1;

	for (uint32_t d = t->rank; d-- > 0;) {
		stride[d] = n;
		n *= t->dim[d];
	}
}

/* What all have in common: the type of x, and that it is a view. */
static pctl_status begin(const kit_use *u, pctl_op_result *out)
{
	const pctl_tensor_type *x = &u->q->in[0];

	if (tensor_bits(x->dtype) == 0)
		return kit_refuse_type(u, 0, u->op->desc.in[0].type);
	out->out[0] = (pctl_tensor_type){.dtype = x->dtype};
	out->is_view = 1;
	return kit_limit(u, "elements", kit_elements(x), TENSOR_ELEMENTS_MAX);
}

/* ---- infer -------------------------------------------------------------------------------- */

static pctl_status reshape_infer(const kit_use *u, pctl_op_result *out)
{
	const uint64_t n = kit_elements(&u->q->in[0]);
	pctl_tensor_type *y = &out->out[0];
	uint32_t open = UINT32_MAX;
	numbers shape;
	pctl_status status = begin(u, out);

	if (status == PCTL_OK)
		status = read_numbers(u, 0, 0, &shape);
	if (status != PCTL_OK)
		return status;
	y->rank = shape.n;
	for (uint32_t d = 0; d < shape.n; d++) {
		if (shape.at[d] < -1 || (shape.at[d] == -1 && open != UINT32_MAX))
			return kit_refuse_attr(u, "shape", "has a negative extent, or -1 twice");
		y->dim[d] = shape.at[d] == -1 ? 1 : (uint64_t)shape.at[d];
		if (shape.at[d] == -1)
			open = d;
	}
	if (open != UINT32_MAX) {
		const uint64_t others = kit_elements(y);

		if (others == 0 || n % others != 0)
			return kit_refuse_attr(
				u, "shape",
				"leaves an extent open that x's elements do not divide into");
		y->dim[open] = n / others;
	}
	if (kit_elements(y) != n)
		return kit_refuse_attr(u, "shape", "has another number of elements than x");
	strides_of(y, out->view_stride);
	return PCTL_OK;
}

/* axes, or the last first. */
static pctl_status axes_of(const kit_use *u, uint32_t axes[PCTL_RANK_MAX])
{
	const uint32_t rank = u->q->in[0].rank;
	numbers list;
	pctl_status status = read_numbers(u, 0, 0, &list);
	uint32_t seen = 0;

	if (status != PCTL_OK)
		return status;
	if (list.n != 0 && list.n != rank)
		return kit_refuse_attr(u, "axes", "does not name each axis of x once");
	for (uint32_t d = 0; d < rank; d++) {
		int64_t axis = list.n == 0 ? (int64_t)(rank - 1 - d) : list.at[d];

		axis += axis < 0 ? (int64_t)rank : 0;
		if (axis < 0 || axis >= (int64_t)rank || seen >> axis & 1)
			return kit_refuse_attr(u, "axes", "does not name each axis of x once");
		seen |= 1u << axis;
		axes[d] = (uint32_t)axis;
	}
	return PCTL_OK;
}

static pctl_status transpose_infer(const kit_use *u, pctl_op_result *out)
{
	const pctl_tensor_type *x = &u->q->in[0];
	uint64_t stride[PCTL_RANK_MAX];
	uint32_t axes[PCTL_RANK_MAX];
	pctl_status status = begin(u, out);

	if (status == PCTL_OK)
		status = axes_of(u, axes);
	if (status != PCTL_OK)
		return status;
	strides_of(x, stride);
	out->out[0].rank = x->rank;
	for (uint32_t d = 0; d < x->rank; d++) {
		out->out[0].dim[d] = x->dim[axes[d]];
		out->view_stride[d] = stride[axes[d]];
	}
	return PCTL_OK;
}

/* Along each axis: the first element, how many, and how far apart. */
typedef struct cut {
	uint64_t start, n, step;
} cut;

/* As Python's: negative ones count from the end, and what lies outside is cut off. */
static uint64_t clamped(const numbers *list, uint32_t d, uint64_t extent, uint64_t otherwise)
{
	int64_t v;

	if (d >= list->n || !(list->has >> d & 1))
		return otherwise;
	v = list->at[d] < 0 ? list->at[d] + (int64_t)extent : list->at[d];
	return v < 0 ? 0 : (uint64_t)v > extent ? extent : (uint64_t)v;
}

static pctl_status cuts_of(const kit_use *u, cut cuts[PCTL_RANK_MAX])
{
	const pctl_tensor_type *x = &u->q->in[0];
	static const char *const names[] = {"start", "stop", "step"};
	numbers list[3];

	for (uint32_t i = 0; i < 3; i++) {
		pctl_status status = read_numbers(u, i, 1, &list[i]);

		if (status != PCTL_OK)
			return status;
		if (list[i].n > x->rank)
			return kit_refuse_attr(u, names[i], "has more numbers than x has axes");
	}
	for (uint32_t d = 0; d < x->rank; d++) {
		const uint64_t stop = clamped(&list[1], d, x->dim[d], x->dim[d]);
		cut *c = &cuts[d];

		c->start = clamped(&list[0], d, x->dim[d], 0);
		c->step = d < list[2].n && list[2].has >> d & 1 ? (uint64_t)list[2].at[d] : 1;
		if (d < list[2].n && list[2].has >> d & 1 && list[2].at[d] < 1)
			return kit_refuse_attr(u, "step", "is not 1 or more");
		c->n = stop <= c->start ? 0 : (stop - c->start - 1) / c->step + 1;
	}
	return PCTL_OK;
}

static pctl_status slice_infer(const kit_use *u, pctl_op_result *out)
{
	const pctl_tensor_type *x = &u->q->in[0];
	uint64_t stride[PCTL_RANK_MAX];
	cut cuts[PCTL_RANK_MAX];
	pctl_status status = begin(u, out);

	if (status == PCTL_OK)
		status = cuts_of(u, cuts);
	if (status != PCTL_OK)
		return status;
	strides_of(x, stride);
	out->out[0].rank = x->rank;
	for (uint32_t d = 0; d < x->rank; d++) {
		out->out[0].dim[d] = cuts[d].n;
		/* Of one element nothing is added to reach the next. */
		out->view_stride[d] = cuts[d].n < 2 ? 0 : stride[d] * cuts[d].step;
		out->view_offset += stride[d] * cuts[d].start;
	}
	if (kit_elements(&out->out[0]) == 0)
		out->view_offset = 0;
	return PCTL_OK;
}

static pctl_status broadcast_infer(const kit_use *u, pctl_op_result *out)
{
	const pctl_tensor_type *x = &u->q->in[0];
	pctl_tensor_type *y = &out->out[0];
	uint64_t stride[PCTL_RANK_MAX];
	numbers shape;
	pctl_status status = begin(u, out);

	if (status == PCTL_OK)
		status = read_numbers(u, 0, 0, &shape);
	if (status != PCTL_OK)
		return status;
	if (shape.n < x->rank)
		return kit_refuse_attr(u, "shape", "has fewer extents than x");
	strides_of(x, stride);
	y->rank = shape.n;
	for (uint32_t d = 0; d < shape.n; d++) {
		const uint32_t ahead = shape.n - x->rank;

		if (shape.at[d] < 0)
			return kit_refuse_attr(u, "shape", "has a negative extent");
		y->dim[d] = (uint64_t)shape.at[d];
		if (d < ahead || x->dim[d - ahead] == 1)
			continue;
		if (x->dim[d - ahead] != y->dim[d])
			return kit_refuse_attr(u, "shape",
					       "differs from x in an extent that is not 1");
		out->view_stride[d] = stride[d - ahead];
	}
	return kit_limit(u, "elements of y", kit_elements(y), TENSOR_ELEMENTS_MAX);
}

/* ---- references --------------------------------------------------------------------------- */

/* The next index of a shape, the last digit first; 0 behind the last one. */
static int next_index(const pctl_tensor_type *t, uint64_t index[PCTL_RANK_MAX])
{
	for (uint32_t d = t->rank; d-- > 0;) {
		if (++index[d] < t->dim[d])
			return 1;
		index[d] = 0;
	}
	return 0;
}

static uint64_t number_of(const pctl_tensor_type *t, const uint64_t index[PCTL_RANK_MAX])
{
	uint64_t n = 0;

	for (uint32_t d = 0; d < t->rank; d++)
		n = n * t->dim[d] + index[d];
	return n;
}

static void move(const kit_use *u, const pctl_span *in, pctl_span *out, uint64_t from, uint64_t to)
{
	const uint32_t dtype = u->q->in[0].dtype;
	const uint64_t bytes = tensor_bits(dtype) / 8;

	if (bytes == 0)
		tensor_code_put(dtype, out[0].data, to, tensor_code(dtype, in[0].data, from));
	else
		memcpy((char *)out[0].data + to * bytes, (const char *)in[0].data + from * bytes,
		       bytes);
}

static pctl_status reshape_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint64_t n = kit_elements(&u->q->in[0]);

	for (uint64_t i = 0; i < n; i++)
		move(u, in, out, i, i);
	return PCTL_OK;
}

/* Scatters: element by element of x to its place in y. */
static pctl_status transpose_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const pctl_tensor_type *x = &u->q->in[0];
	pctl_tensor_type y = *x;
	uint64_t index[PCTL_RANK_MAX] = {0}, moved[PCTL_RANK_MAX], i = 0;
	uint32_t axes[PCTL_RANK_MAX] = {0};
	pctl_status status = axes_of(u, axes);

	for (uint32_t d = 0; d < x->rank; d++)
		y.dim[d] = x->dim[axes[d]];
	if (status != PCTL_OK || kit_elements(x) == 0)
		return status;
	do {
		for (uint32_t d = 0; d < x->rank; d++)
			moved[d] = index[axes[d]];
		move(u, in, out, i++, number_of(&y, moved));
	} while (next_index(x, index));
	return PCTL_OK;
}

/* Goes over x and keeps what the cuts leave. */
static pctl_status slice_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const pctl_tensor_type *x = &u->q->in[0];
	uint64_t index[PCTL_RANK_MAX] = {0}, i = 0, to = 0;
	cut cuts[PCTL_RANK_MAX];
	pctl_status status = cuts_of(u, cuts);

	if (status != PCTL_OK || kit_elements(x) == 0)
		return status;
	do {
		int kept = 1;

		for (uint32_t d = 0; d < x->rank; d++)
			kept &= index[d] >= cuts[d].start &&
				(index[d] - cuts[d].start) % cuts[d].step == 0 &&
				(index[d] - cuts[d].start) / cuts[d].step < cuts[d].n;
		if (kept)
			move(u, in, out, i, to++);
		i++;
	} while (next_index(x, index));
	return PCTL_OK;
}

static pctl_status broadcast_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const pctl_tensor_type *x = &u->q->in[0];
	pctl_tensor_type y = {.dtype = x->dtype};
	uint64_t index[PCTL_RANK_MAX] = {0}, to = 0;
	numbers shape;
	pctl_status status = read_numbers(u, 0, 0, &shape);

	y.rank = shape.n;
	for (uint32_t d = 0; d < shape.n; d++)
		y.dim[d] = (uint64_t)shape.at[d];
	if (status != PCTL_OK || kit_elements(&y) == 0)
		return status;
	do {
		uint64_t from[PCTL_RANK_MAX];

		for (uint32_t d = 0; d < x->rank; d++)
			from[d] = x->dim[d] == 1 ? 0 : index[d + y.rank - x->rank];
		move(u, in, out, number_of(x, from), to++);
	} while (next_index(&y, index));
	return PCTL_OK;
}

/* ---- the ops ------------------------------------------------------------------------------ */

#define ANY                                                                                   \
	"bool|i32|u32|i64|u64|f16|f32|bf16|i8|u8|i16|u16|u128|f64|f8e4m3|f8e5m2|f4|i4|u4|i2|" \
	"u2|ternary|binary[...]"

static const pctl_port view_in[] = {{"x", ANY, "the elements", 0, 0}};
static const pctl_port view_out[] = {{"y", ANY, "elements of x, of its type", 0, 0}};
static const pctl_attr_desc reshape_attr[] = {
	{"shape", "-1", "extents between commas; one may be -1, which follows from the others",
	 PCTL_ATTR_STRING, 0, 0, 0},
};
static const pctl_attr_desc transpose_attr[] = {
	{"axes", "", "for each axis of y the axis of x; if not given, the last first",
	 PCTL_ATTR_STRING, 0, 0, 0},
};
static const pctl_attr_desc slice_attr[] = {
	{"start", "", "of each axis the first element; empty: 0; negative: from the end",
	 PCTL_ATTR_STRING, 0, 0, 0},
	{"stop", "", "of each axis the element before which it ends; empty: behind the last",
	 PCTL_ATTR_STRING, 0, 0, 0},
	{"step", "", "of each axis how far apart elements are; empty: 1", PCTL_ATTR_STRING, 0, 0,
	 0},
};
static const pctl_attr_desc broadcast_attr[] = {
	{"shape", NULL, "extents between commas; x's are these, or 1, aligned from the right",
	 PCTL_ATTR_STRING, 0, 0, 0},
};
static const pctl_example boundaries[] = {{"nothing", {0}}, {"one", {1}}, {"odd", {7}}};

#define VIEW_OP(id, op_doc, op_spec)                                                               \
	{                                                                                          \
		.desc = {KIT_PLAN_OP("tensor." #id, 1, PCTL_CLASS_INTEGER),                        \
			 .doc = op_doc,                                                            \
			 .spec = op_spec "\nx and y have at most 2^31 elements.",                  \
			 KIT_IN(view_in),                                                          \
			 KIT_OUT(view_out),                                                        \
			 KIT_ATTR(id##_attr)},                                                     \
		.rules = KIT_PLAN_RULES(tensor_##id##_laws, boundaries),                           \
		.laws = tensor_##id##_checks, .problems = &tensor_view_problems,                   \
		.problem = tensor_##id##_problem, .infer = id##_infer, .reference = id##_reference \
	}

static const kit_op ops[] = {
	VIEW_OP(reshape, "the same elements under another shape",
		"y has the elements of x in their order, and the shape that is given."),
	VIEW_OP(transpose, "axes in another order",
		"Axis d of y is axis axes[d] of x: y[i0, i1, ..] = x[j0, j1, ..] with j[axes[d]] = "
		"i[d]."),
	VIEW_OP(slice, "every step-th element from start on, below stop, along each axis",
		"y[i0, i1, ..] = x[start0 + i0 * step0, start1 + i1 * step1, ..], as many along "
		"each axis as\n"
		"lie below stop. Starts and stops are cut to x's extents."),
	VIEW_OP(broadcast, "stretched to a shape",
		"Extents of 1 of x, and those that it lacks in front, are repeated to the shape "
		"that is given."),
};

const kit_family tensor_view_family = {ops, NULL, KIT_COUNT(ops), 0};
