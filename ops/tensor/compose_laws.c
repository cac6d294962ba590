/* Implementation of compose_laws.h: straight lines of uses, that stop at the first refusal (kit.h). */
#include "compose_laws.h"

#include <stdio.h>
#include <stdlib.h>

#define TEXT 32u /* an attribute's text, as the host keeps it */

static uint64_t elements_of(const kit_law *l, uint32_t port)
{
	return kit_elements(&l->use.q->in[port]);
}

static uint32_t one(kit_law *l, const char *op, uint32_t x)
{
	return kit_law_use(l, op, &x, 1, NULL, 0, 1);
}

static uint32_t two(kit_law *l, const char *op, uint32_t x, uint32_t y)
{
	return kit_law_use(l, op, (uint32_t[]){x, y}, 2, NULL, 0, 1);
}

/* The op with one attribute in words. */
static uint32_t with(kit_law *l, const char *op, uint32_t x, const char *name, const char *text)
{
	const pctl_attr attr = {name, text, 0};

	return kit_law_use(l, op, &x, 1, &attr, 1, 1);
}

/* Extents between commas. */
static void extents(const pctl_tensor_type *t, char text[TEXT])
{
	int n = 0;

	for (uint32_t d = 0; d < t->rank && n < (int)TEXT; d++)
		n += snprintf(text + n, TEXT - (size_t)n, d == 0 ? "%llu" : ",%llu",
			      (unsigned long long)t->dim[d]);
}

static uint32_t stretched(kit_law *l, uint32_t x, const pctl_tensor_type *like)
{
	char text[TEXT] = "";

	extents(like, text);
	return with(l, "tensor.broadcast", x, "shape", text);
}

/* Elements from .. to - 1 along axis `back` (0: the last), all of the others. */
static uint32_t part(kit_law *l, uint32_t x, const pctl_tensor_type *t, uint32_t back,
		     uint64_t from, uint64_t to)
{
	char start[TEXT] = "", stop[TEXT] = "";
	int n = 0, m = 0;

	for (uint32_t d = 0; d < t->rank && n < (int)TEXT && m < (int)TEXT; d++) {
		const int cut = d == t->rank - 1 - back;

		n += snprintf(start + n, TEXT - (size_t)n, d == 0 ? "%llu" : ",%llu",
			      cut ? (unsigned long long)from : 0ull);
		m += snprintf(stop + m, TEXT - (size_t)m, d == 0 ? "%llu" : ",%llu",
			      (unsigned long long)(cut ? to : t->dim[d]));
	}
	return kit_law_use(l, "tensor.slice", &x, 1,
			   (pctl_attr[]){{"start", start, 0}, {"stop", stop, 0}}, 2, 1);
}

static uint32_t joined(kit_law *l, uint32_t x, uint32_t y, int64_t axis)
{
	char text[TEXT];
	const pctl_attr attr = {"axis", text, (uint64_t)axis};

	snprintf(text, sizeof(text), "%lld", (long long)axis);
	return kit_law_use(l, "tensor.concat", (uint32_t[]){x, y}, 2, &attr, 1, 1);
}

/* An f32 as often as t has elements. */
static uint32_t filled(kit_law *l, const pctl_tensor_type *t, float value)
{
	const uint64_t n = kit_elements(t);
	float *data = kit_law_scratch(l, 4 * n + 4);
	uint32_t number;

	if (data == NULL)
		return 0;
	for (uint64_t i = 0; i < n; i++)
		data[i] = value;
	number = kit_law_tensor(l, t, data);
	kit_law_free(l, data);
	return number;
}

/* ---- products ------------------------------------------------------------------------------- */

/* Parts and other places are made of whole bytes. */
static int is_plain(const kit_law *l)
{
	return kit_dtype_bytes(l->use.q->in[0].dtype) != 0 &&
	       kit_dtype_bytes(l->use.q->in[1].dtype) != 0;
}

static uint32_t multiplied(kit_law *l, uint32_t a, uint32_t b, const pctl_attr *attr)
{
	return kit_law_use(l, "tensor.matmul", (uint32_t[]){a, b}, 2, attr, l->use.q->n_attr, 1);
}

static int is_set(const kit_law *l, const char *name)
{
	return strcmp(kit_law_attr(l, name), "true") == 0;
}

void compose_law_factors(kit_law *l)
{
	const pctl_tensor_type *y = &l->c->types[kit_law_out(l, 0)];
	pctl_attr attr[8];
	char axes[TEXT] = "";
	int n = 0;

	if (!is_plain(l) || l->use.q->in[0].dtype != l->use.q->in[1].dtype ||
	    l->use.q->n_attr > KIT_COUNT(attr))
		return;
	for (uint32_t i = 0; i < l->use.q->n_attr; i++) {
		attr[i] = l->use.q->attr[i];
		if (strcmp(attr[i].name, "transpose_a") == 0)
			attr[i].text = is_set(l, "transpose_b") ? "false" : "true";
		if (strcmp(attr[i].name, "transpose_b") == 0)
			attr[i].text = is_set(l, "transpose_a") ? "false" : "true";
		if (strncmp(attr[i].name, "transpose_", 10) == 0)
			attr[i].u64 = strcmp(attr[i].text, "true") == 0;
	}
	for (uint32_t d = 0; d < y->rank && n < (int)TEXT; d++)
		n += snprintf(axes + n, TEXT - (size_t)n, d == 0 ? "%u" : ",%u",
			      d + 2 < y->rank ? d : 2 * y->rank - 3 - d);
	kit_law_equal(l, with(l, "tensor.transpose", multiplied(l, 1, 0, attr), "axes", axes),
		      kit_law_out(l, 0));
}

/* Factor `port` in two parts along the axis of y that it has alone. */
static void in_parts(kit_law *l, uint32_t port)
{
	const pctl_tensor_type *t = &l->use.q->in[port];
	const int turned = is_set(l, port == 0 ? "transpose_a" : "transpose_b");
	const uint32_t back = (port == 0) != turned ? 1 : 0;
	const uint64_t n = t->dim[t->rank - 1 - back];
	uint32_t y[2];

	if (!is_plain(l) || n < 2)
		return;
	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t x =
			part(l, port, t, back, i == 0 ? 0 : n / 3 + 1, i == 0 ? n / 3 + 1 : n);

		y[i] = multiplied(l, port == 0 ? x : 0, port == 0 ? 1 : x, l->use.q->attr);
	}
	kit_law_equal(l, joined(l, y[0], y[1], port == 0 ? -2 : -1), kit_law_out(l, 0));
}

void compose_law_row_parts(kit_law *l)
{
	in_parts(l, 0);
}

void compose_law_column_parts(kit_law *l)
{
	in_parts(l, 1);
}

/* ---- softmax -------------------------------------------------------------------------------- */

static uint32_t converted(kit_law *l, uint32_t x, uint32_t dtype)
{
	return with(l, "tensor.convert", x, "to", kit_dtype_name(dtype));
}

static int has_lowest(const kit_law *l)
{
	const uint32_t dtype = l->use.q->in[0].dtype;
	const uint64_t bytes = kit_dtype_bytes(dtype);
	const uint32_t lowest = dtype == PCTL_SCALAR_F32   ? 0xff800000u
				: dtype == PCTL_SCALAR_F16 ? 0xfc00u
							   : 0xff80u;

	for (uint64_t i = 0; i < elements_of(l, 0); i++) {
		uint32_t bits = 0;

		memcpy(&bits, kit_law_data(l, 0) + bytes * i, bytes);
		if (bits == lowest)
			return 1;
	}
	return 0;
}

/* -Inf is left out of a row by a rule of its own, not by its steps. */
void compose_law_softmax_steps(kit_law *l)
{
	const pctl_tensor_type *x = &l->use.q->in[0];
	const pctl_attr attr[2] = {{"axes", kit_law_attr(l, "axis"), 0}, {"keep", "true", 1}};
	uint32_t wide, m, e, s;

	if (elements_of(l, 0) == 0 || has_lowest(l))
		return;
	wide = converted(l, 0, PCTL_SCALAR_F32);
	m = kit_law_use(l, "tensor.max", &wide, 1, attr, 2, 1);
	e = one(l, "ieee.exp", two(l, "ieee.sub", wide, stretched(l, m, x)));
	s = kit_law_use(l, "tensor.sum", &e, 1, attr, 2, 1);
	kit_law_equal(l, converted(l, two(l, "ieee.div", e, stretched(l, s, x)), x->dtype),
		      kit_law_out(l, 0));
}

/* Queries in two parts, as prefill and decode would have them; the values are the scores turned, so that there are some. */
void compose_law_attention(kit_law *l)
{
	const pctl_tensor_type *x = &l->use.q->in[0];
	const char *axis = kit_law_attr(l, "axis");
	uint32_t values, whole, y[2];

	if (x->rank != 2 || x->dim[0] < 2 || x->dim[1] == 0 ||
	    (strcmp(axis, "-1") != 0 && strcmp(axis, "1") != 0))
		return;
	values = one(l, "tensor.transpose", 0);
	whole = two(l, "tensor.matmul", kit_law_out(l, 0), values);
	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t scores =
			part(l, 0, x, 1, i == 0 ? 0 : x->dim[0] - 1, x->dim[0] - (i == 0));

		y[i] = two(l, "tensor.matmul", with(l, "tensor.softmax", scores, "axis", "-1"),
			   values);
	}
	kit_law_equal(l, joined(l, y[0], y[1], 0), whole);
}

/* ---- norms ---------------------------------------------------------------------------------- */

/* What the norms of rows have in common: x as a matrix of rows, and the row's factor as a column. */
typedef struct rows {
	pctl_tensor_type matrix, column;
	uint32_t x;
} rows;

static int as_rows(kit_law *l, rows *out)
{
	const pctl_tensor_type *x = &l->use.q->in[0];
	const uint32_t axes = (uint32_t)strtoul(kit_law_attr(l, "axes"), NULL, 10);
	uint64_t n = 1;
	char text[TEXT] = "";

	if (elements_of(l, 0) == 0 || axes > x->rank)
		return 0;
	for (uint32_t d = x->rank - axes; d < x->rank; d++)
		n *= x->dim[d];
	out->matrix =
		(pctl_tensor_type){.dtype = x->dtype, .rank = 2, .dim = {elements_of(l, 0) / n, n}};
	out->column = (pctl_tensor_type){
		.dtype = PCTL_SCALAR_F32, .rank = 2, .dim = {out->matrix.dim[0], 1}};
	extents(&out->matrix, text);
	out->x = with(l, "tensor.reshape", converted(l, 0, PCTL_SCALAR_F32), "shape", text);
	return 1;
}

/* 1 / sqrt(v + eps), for each element of the rows. */
static uint32_t reciprocal(kit_law *l, const rows *r, uint32_t v)
{
	char *end;
	const float eps = kit_parse_f32(kit_law_attr(l, "eps"), &end);
	const uint32_t root =
		one(l, "ieee.sqrt", two(l, "ieee.add", v, filled(l, &r->column, eps)));

	return stretched(l, two(l, "ieee.div", filled(l, &r->column, 1), root), &r->matrix);
}

/* With weight and bias, where there are such, in x's shape. */
static void finish(kit_law *l, const rows *r, uint32_t y)
{
	char text[TEXT] = "";

	if (elements_of(l, 1) != 0)
		y = two(l, "ieee.mul", y,
			stretched(l, converted(l, 1, PCTL_SCALAR_F32), &r->matrix));
	if (l->use.q->n_in > 2 && elements_of(l, 2) != 0)
		y = two(l, "ieee.add", y,
			stretched(l, converted(l, 2, PCTL_SCALAR_F32), &r->matrix));
	extents(&l->use.q->in[0], text);
	y = converted(l, with(l, "tensor.reshape", y, "shape", text), l->use.q->in[0].dtype);
	kit_law_equal(l, y, kit_law_out(l, 0));
}

void compose_law_layer_steps(kit_law *l)
{
	const pctl_attr attr[2] = {{"axes", "1", 0}, {"keep", "true", 1}};
	uint32_t a, v, y;
	rows r;

	if (!as_rows(l, &r))
		return;
	a = kit_law_use(l, "tensor.mean", &r.x, 1, attr, 2, 1);
	v = kit_law_use(l, "tensor.variance", &r.x, 1, attr, 2, 1);
	y = two(l, "ieee.sub", r.x, stretched(l, a, &r.matrix));
	finish(l, &r, two(l, "ieee.mul", y, reciprocal(l, &r, v)));
}

void compose_law_rms_steps(kit_law *l)
{
	const pctl_attr equation = {"equation", "ij,ij->i", 0};
	char text[TEXT] = "";
	uint32_t q;
	rows r;

	if (!as_rows(l, &r))
		return;
	extents(&r.column, text);
	q = kit_law_use(l, "tensor.einsum", (uint32_t[]){r.x, r.x}, 2, &equation, 1, 1);
	q = two(l, "ieee.div", with(l, "tensor.reshape", q, "shape", text),
		filled(l, &r.column, (float)r.matrix.dim[1]));
	finish(l, &r, two(l, "ieee.mul", r.x, reciprocal(l, &r, q)));
}
