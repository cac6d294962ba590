/* Laws of ops whose y has x's shape and that work along one axis; see map_laws.h. By code that knows neither kernels nor references. */
#include "map_laws.h"

#include "cumsum.h"

#include <stdio.h>
#include <stdlib.h>

static const pctl_tensor_type *x_of(const kit_law *l)
{
	return &l->use.q->in[0];
}

static uint32_t axis_of(const kit_law *l)
{
	const long axis = strtol(l->use.q->attr[0].text, NULL, 10);

	return (uint32_t)(axis < 0 ? axis + (long)x_of(l)->rank : axis);
}

/* The op on another tensor along another axis, with its other attributes. */
static uint32_t again(kit_law *l, uint32_t of, uint32_t axis)
{
	char text[16];
	pctl_attr attr[8];
	const uint32_t n = l->use.q->n_attr;

	snprintf(text, sizeof(text), "%u", axis);
	for (uint32_t i = 0; i < n; i++)
		attr[i] = l->use.q->attr[i];
	attr[0].text = text;
	attr[0].u64 = axis;
	return kit_law_use(l, l->use.op->desc.name, &of, 1, attr, n, 1);
}

/* outer, n and inner of a tensor along the axis. */
static void cut(const kit_law *l, uint64_t *outer, uint64_t *n, uint64_t *inner)
{
	*outer = *inner = 1;
	*n = x_of(l)->dim[axis_of(l)];
	for (uint32_t d = 0; d < x_of(l)->rank; d++)
		*(d < axis_of(l) ? outer : inner) *= d == axis_of(l) ? 1 : x_of(l)->dim[d];
}

/* Tensor `of`, of x's shape, with rows reversed. */
static uint32_t reversed(kit_law *l, uint32_t of)
{
	const pctl_tensor_type *t = &l->c->types[of];
	const uint64_t bytes = kit_dtype_bytes(t->dtype), all = kit_elements(t);
	uint64_t outer, n, inner;
	uint8_t *data = kit_law_scratch(l, all * bytes + 1);
	uint32_t number;

	if (data == NULL)
		return 0;
	cut(l, &outer, &n, &inner);
	for (uint64_t i = 0; i < all; i++) {
		const uint64_t at = i / inner % n;

		memcpy(data + i * bytes,
		       kit_law_data(l, of) + (i + (n - 1 - at) * inner - at * inner) * bytes,
		       bytes);
	}
	number = kit_law_tensor(l, t, data);
	kit_law_free(l, data);
	return number;
}

void map_law_permuted(kit_law *l)
{
	if (kit_elements(x_of(l)) > 0)
		kit_law_equal(l, again(l, reversed(l, 0), axis_of(l)),
			      reversed(l, kit_law_out(l, 0)));
}

static uint32_t transposed(kit_law *l, uint32_t of)
{
	const pctl_tensor_type *t = &l->c->types[of];
	const uint64_t bytes = kit_dtype_bytes(t->dtype), all = kit_elements(t);
	pctl_tensor_type turned = *t;
	uint8_t *data = kit_law_scratch(l, all * bytes + 1);
	uint32_t number;

	if (data == NULL)
		return 0;
	for (uint32_t d = 0; d < t->rank; d++)
		turned.dim[d] = t->dim[t->rank - 1 - d];
	for (uint64_t i = 0; i < all; i++) {
		uint64_t rest = i, to = 0, scale = all;

		/* The last coordinate of the old one is the first of the new one. */
		for (uint32_t d = t->rank; d-- > 0;) {
			scale /= t->dim[d];
			to += rest % t->dim[d] * scale;
			rest /= t->dim[d];
		}
		memcpy(data + to * bytes, kit_law_data(l, of) + i * bytes, bytes);
	}
	number = kit_law_tensor(l, &turned, data);
	kit_law_free(l, data);
	return number;
}

void map_law_transposed(kit_law *l)
{
	if (x_of(l)->rank > 1 && kit_elements(x_of(l)) > 0)
		kit_law_equal(l, again(l, transposed(l, 0), x_of(l)->rank - 1 - axis_of(l)),
			      transposed(l, kit_law_out(l, 0)));
}

/* The last row of a tensor of x's shape, between `pad` elements of `filler` on each side; NULL with nothing in it. */
static uint8_t *last_row(kit_law *l, uint32_t of, uint64_t pad, uint64_t filler, uint64_t *length)
{
	const uint64_t bytes = kit_dtype_bytes(l->c->types[of].dtype);
	uint64_t outer, n, inner;
	uint8_t *data;

	cut(l, &outer, &n, &inner);
	*length = n + 2 * pad;
	data = outer * n * inner == 0 ? NULL : kit_law_scratch(l, *length * bytes);
	for (uint64_t t = 0; data != NULL && t < *length; t++)
		if (t < pad || t >= pad + n)
			memcpy(data + t * bytes, &filler, bytes);
		else
			memcpy(data + t * bytes,
			       kit_law_data(l, of) +
				       (((outer - 1) * n + t - pad) * inner + inner - 1) * bytes,
			       bytes);
	return data;
}

void map_law_alone(kit_law *l)
{
	uint64_t n;
	uint8_t *x = last_row(l, 0, 0, 0, &n), *y = last_row(l, kit_law_out(l, 0), 0, 0, &n);
	const pctl_tensor_type of_x = {x_of(l)->dtype, 1, {n}};
	const pctl_tensor_type of_y = {l->c->types[kit_law_out(l, 0)].dtype, 1, {n}};

	if (x != NULL && y != NULL)
		kit_law_equal(l, again(l, kit_law_tensor(l, &of_x, x), 0),
			      kit_law_tensor(l, &of_y, y));
	kit_law_free(l, x);
	kit_law_free(l, y);
}

static uint64_t infinity_of(uint32_t dtype)
{
	return dtype == PCTL_SCALAR_F32	  ? 0x7f800000u
	       : dtype == PCTL_SCALAR_F16 ? 0x7c00u
					  : 0x7f80u;
}

/* What -Inf becomes: +0, or -Inf of logarithms. */
void map_law_padded(kit_law *l)
{
	const uint32_t dtype = x_of(l)->dtype;
	const uint64_t bytes = kit_dtype_bytes(dtype), top = 1ull << (8 * bytes - 1);
	const uint64_t low = infinity_of(dtype) | top;
	const uint64_t becomes = strcmp(l->use.op->desc.name, "tensor.softmax") == 0 ? 0 : low;
	uint64_t n, v = 0;
	uint8_t *x = last_row(l, 0, 2, low, &n),
		*y = last_row(l, kit_law_out(l, 0), 2, becomes, &n);
	const pctl_tensor_type t = {dtype, 1, {n}};
	int numbers = 1;

	for (uint64_t i = 0; y != NULL && i < n; i++) {
		memcpy(&v, y + i * bytes, bytes);
		numbers &= (v & (top - 1)) <= infinity_of(dtype);
	}
	if (x != NULL && y != NULL && numbers)
		kit_law_equal(l, again(l, kit_law_tensor(l, &t, x), 0), kit_law_tensor(l, &t, y));
	kit_law_free(l, x);
	kit_law_free(l, y);
}

/* ---- of cumsum ------------------------------------------------------------------------------ */

/* The op with an attribute the other way round. */
static uint32_t otherwise(kit_law *l, uint32_t of, uint32_t which)
{
	pctl_attr attr[8];
	const uint32_t n = l->use.q->n_attr;

	for (uint32_t i = 0; i < n; i++)
		attr[i] = l->use.q->attr[i];
	attr[which].u64 = strcmp(attr[which].text, "true") != 0;
	attr[which].text = attr[which].u64 ? "true" : "false";
	return kit_law_use(l, l->use.op->desc.name, &of, 1, attr, n, 1);
}

void cumsum_law_turned(kit_law *l)
{
	if (kit_elements(x_of(l)) > 0)
		kit_law_equal(l, otherwise(l, reversed(l, 0), CUMSUM_REVERSE),
			      reversed(l, kit_law_out(l, 0)));
}

void cumsum_law_shifted(kit_law *l)
{
	const pctl_tensor_type *t = x_of(l);
	const uint64_t bytes = kit_dtype_bytes(t->dtype), all = kit_elements(t);
	const int back = strcmp(kit_law_attr(l, "reverse"), "true") == 0;
	uint64_t outer, n, inner;
	uint8_t *data = strcmp(kit_law_attr(l, "exclusive"), "true") != 0 || all == 0
				? NULL
				: kit_law_scratch(l, all * bytes);

	if (data == NULL)
		return;
	cut(l, &outer, &n, &inner);
	for (uint64_t i = 0; i < all; i++)
		if (i / inner % n != (back ? n - 1 : 0))
			memcpy(data + i * bytes,
			       kit_law_data(l, 0) + (back ? i + inner : i - inner) * bytes, bytes);
	kit_law_equal(l, otherwise(l, kit_law_tensor(l, t, data), CUMSUM_EXCLUSIVE),
		      kit_law_out(l, 0));
	kit_law_free(l, data);
}

void cumsum_law_last(kit_law *l)
{
	const uint32_t x = 0, y = kit_law_out(l, 0);
	pctl_tensor_type t = *x_of(l);
	const uint64_t bytes = kit_dtype_bytes(t.dtype);
	const int back = strcmp(kit_law_attr(l, "reverse"), "true") == 0;
	uint64_t outer, n, inner;
	pctl_attr axes;
	char text[16];
	uint8_t *data;

	if (kit_elements(&t) == 0 || strcmp(kit_law_attr(l, "exclusive"), "true") == 0)
		return;
	cut(l, &outer, &n, &inner);
	snprintf(text, sizeof(text), "%u", axis_of(l));
	axes = (pctl_attr){"axes", text, 0};
	data = kit_law_scratch(l, outer * inner * bytes);
	if (data == NULL)
		return;
	for (uint64_t i = 0; i < outer * inner; i++)
		memcpy(data + i * bytes,
		       kit_law_data(l, y) +
			       ((i / inner * n + (back ? 0 : n - 1)) * inner + i % inner) * bytes,
		       bytes);
	t.rank = 1;
	t.dim[0] = outer * inner;
	kit_law_equal(l, kit_law_use(l, "tensor.sum", &x, 1, &axes, 1, 1),
		      kit_law_tensor(l, &t, data));
	kit_law_free(l, data);
}
