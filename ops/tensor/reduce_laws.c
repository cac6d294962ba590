/* Laws of reductions along axes, and their problems; see reduce_laws.h. */
#include "reduce_laws.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- elements ------------------------------------------------------------------------------- */

static int is_float(uint32_t dtype)
{
	return dtype >= PCTL_SCALAR_F16 && dtype <= PCTL_SCALAR_BF16;
}

/* An f32 as an element of a float type, what does not fit cut off. */
static uint32_t narrowed(uint32_t dtype, uint32_t bits)
{
	const uint32_t sign = bits >> 16 & 0x8000u, field = bits >> 23 & 255;

	if (dtype == PCTL_SCALAR_F32)
		return bits;
	if (dtype == PCTL_SCALAR_BF16)
		return bits >> 16 | (field == 255 && bits << 9 ? 1u : 0);
	if (field == 255)
		return sign | 0x7c00u | (bits << 9 ? 1u : 0);
	if ((bits << 1) == 0)
		return sign;
	/* Exponents are folded into those of f16, with 1 kept as 1. */
	return sign | ((field + 16 - 128) & 31) % 31 << 10 | (bits >> 13 & 1023);
}

void tensor_problem_element(uint32_t dtype, uint32_t kind, uint64_t r, void *to)
{
	static const uint32_t special[] = {0,		0x80000000u, 0x7f800000u, 0xff800000u,
					   0x7fc00000u, 0xffc12345u, 1,		  0x80000001u};
	static const uint32_t equal[] = {0, 0x80000000u, 0x3f800000u, 0xbf800000u};
	const uint64_t top = 1ull << (8 * kit_dtype_bytes(dtype) - 1);
	const float f = (float)((int32_t)(r % 19) - 9);
	uint64_t v = r >> 8;
	uint32_t bits = (uint32_t)(r >> 32);

	if (dtype == PCTL_SCALAR_F64 && kind != TENSOR_ANY) {
		float narrow;
		double wide;

		tensor_problem_element(PCTL_SCALAR_F32, kind, r, &narrow);
		wide = (double)narrow;
		memcpy(&v, &wide, 8);
	} else if (dtype == PCTL_SCALAR_BOOL) {
		v = kind == TENSOR_EQUAL ? r % 64 == 0 : r & 1;
	} else if (is_float(dtype)) {
		if (kind == TENSOR_SMALL)
			memcpy(&bits, &f, 4);
		else if (kind == TENSOR_EQUAL)
			bits = equal[r % KIT_COUNT(equal)];
		else if (kind == TENSOR_SPECIAL || r % 16 == 0)
			bits = special[r / 16 % KIT_COUNT(special)];
		v = narrowed(dtype, bits);
	} else if (kind == TENSOR_SMALL) {
		v = r % 9;
	} else if (kind == TENSOR_EQUAL) {
		v = r % 3 == 0 ? 0 - 1ull : r % 3;
	} else if (kind == TENSOR_SPECIAL) {
		v = top - r % 3 + 1;
	}
	memcpy(to, &v, kit_dtype_bytes(dtype));
}

/* ---- problems ------------------------------------------------------------------------------- */

typedef struct shape {
	uint32_t rank;
	uint64_t dim[4];
	const char *axes;
} shape;

static const shape shapes[] = {
	{1, {0}, ""},	     {1, {1}, ""},	     {1, {2}, ""},
	{1, {63}, ""},	     {1, {64}, ""},	     {1, {65}, ""},
	{1, {1023}, ""},     {1, {1025}, ""},	     {1, {2503}, "0"},
	{2, {3, 5}, "1"},    {2, {5, 3}, "0"},	     {2, {2, 1031}, "-1"},
	{2, {131, 2}, "0"},  {3, {2, 3, 4}, "1"},    {3, {2, 0, 3}, "1"},
	{3, {2, 3, 0}, "1"}, {3, {3, 2, 5}, "0,-1"}, {4, {2, 3, 2, 3}, "2,0"},
	{2, {67, 65}, "1"},
};

const pctl_op_problems reduce_problems = {PCTL_HEAD(pctl_op_problems),
					  "tensors of up to four dimensions and axes of them",
					  KIT_COUNT(shapes) * TENSOR_KINDS * 2};

void reduce_problem(kit_problem *p)
{
	const uint32_t kind = (uint32_t)(p->number / 2 % TENSOR_KINDS);
	const shape *s = &shapes[p->number / 2 / TENSOR_KINDS % KIT_COUNT(shapes)];
	const int one_axis = p->use.op->desc.attr[0].kind == PCTL_ATTR_I64;
	pctl_tensor_type t = {.dtype = p->dtype, .rank = s->rank};
	const uint64_t bytes = kit_dtype_bytes(p->dtype);
	uint8_t *data;
	uint64_t n;

	memcpy(t.dim, s->dim, sizeof(s->dim));
	n = kit_elements(&t);
	if (p->number >= reduce_problems.n || (one_axis && strchr(s->axes, ',') != NULL)) {
		kit_problem_none(p);
		return;
	}
	if (p->status == PCTL_OK)
		p->status = p->sink->attr(p->sink->ctx, 0,
					  one_axis && *s->axes == '\0' ? "0" : s->axes);
	if (p->status == PCTL_OK && p->use.op->desc.n_attr > 1)
		p->status = p->sink->attr(p->sink->ctx, 1, p->number % 2 ? "true" : "false");
	data = kit_scratch(&p->use, n * bytes);
	if (data == NULL) {
		p->status = pctl_refuse(p->use.call, PC2_NOMEM, "no memory for a problem");
		return;
	}
	for (uint64_t i = 0; i < n; i++)
		tensor_problem_element(p->dtype, kind, kit_random(p->seed + p->number, i),
				       data + i * bytes);
	kit_problem_input(p, 0, &t, data);
	kit_scratch_free(&p->use, data);
}

/* ---- what laws are made of ------------------------------------------------------------------ */

static const pctl_tensor_type *x_of(const kit_law *l)
{
	return &l->use.q->in[0];
}

static int one_axis(const kit_law *l)
{
	return l->use.op->desc.attr[0].kind == PCTL_ATTR_I64;
}

static uint32_t mask_of(const kit_law *l)
{
	const char *text = l->use.q->attr[0].text;
	const long rank = (long)x_of(l)->rank;
	uint32_t mask = 0;

	if (*text == '\0')
		return (1u << rank) - 1;
	while (*text != '\0') {
		char *end;
		const long axis = strtol(text, &end, 10);

		mask |= 1u << (axis < 0 ? axis + rank : axis);
		text = *end == ',' ? end + 1 : end;
	}
	return mask;
}

static void coordinates(const pctl_tensor_type *t, uint64_t i, uint64_t *c)
{
	for (uint32_t d = t->rank; d-- > 0;) {
		c[d] = i % t->dim[d];
		i /= t->dim[d];
	}
}

static uint64_t place(const pctl_tensor_type *t, const uint64_t *c)
{
	uint64_t i = 0;

	for (uint32_t d = 0; d < t->rank; d++)
		i = i * t->dim[d] + c[d];
	return i;
}

static int in_order(const kit_law *l)
{
	const pctl_tensor_type *t = x_of(l);
	const uint32_t mask = mask_of(l);
	uint64_t terms = 1;

	for (uint32_t d = 0; d < t->rank; d++)
		terms *= mask >> d & 1 ? t->dim[d] : 1;
	/* Two factors have no order yet. */
	return is_float(t->dtype) && strcmp(l->use.op->desc.name, "tensor.prod") == 0 && terms > 2;
}

/* The op on another tensor along these axes. */
static uint32_t reduced(kit_law *l, const char *op, uint32_t of, uint32_t mask, int keep)
{
	char text[32] = "";
	pctl_attr attr[2] = {
		{one_axis(l) && strcmp(op, l->use.op->desc.name) == 0 ? "axis" : "axes", text, 0},
		{"keep", keep ? "true" : "false", (uint64_t)keep}};
	size_t n = 0;

	for (uint32_t d = 0; mask >> d != 0; d++)
		if (mask >> d & 1) {
			n += (size_t)snprintf(text + n, sizeof(text) - n, n == 0 ? "%u" : ",%u", d);
			attr[0].u64 = d;
		}
	return kit_law_use(l, op, &of, 1, attr, 2, 1);
}

static uint32_t again(kit_law *l, uint32_t of, uint32_t mask, int keep)
{
	return reduced(l, l->use.op->desc.name, of, mask, keep);
}

/* ---- laws ----------------------------------------------------------------------------------- */

void reduce_law_permuted(kit_law *l)
{
	const pctl_tensor_type *t = x_of(l);
	const uint64_t n = kit_elements(t), bytes = kit_dtype_bytes(t->dtype);
	const uint32_t mask = mask_of(l);
	uint8_t *data = in_order(l) || n == 0 ? NULL : kit_law_scratch(l, n * bytes);

	if (data == NULL)
		return;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t c[PCTL_RANK_MAX];

		coordinates(t, i, c);
		for (uint32_t d = 0; d < t->rank; d++)
			if (mask >> d & 1)
				c[d] = t->dim[d] - 1 - c[d];
		memcpy(data + i * bytes, kit_law_data(l, 0) + place(t, c) * bytes, bytes);
	}
	kit_law_equal(l, again(l, kit_law_tensor(l, t, data), mask, 0), kit_law_out(l, 0));
	kit_law_free(l, data);
}

/* Elements from `from` on, n of them, of x along axis d. */
static uint32_t part(kit_law *l, uint32_t d, uint64_t from, uint64_t n)
{
	pctl_tensor_type t = *x_of(l);
	const uint64_t bytes = kit_dtype_bytes(t.dtype);
	uint32_t number;
	uint8_t *data;

	t.dim[d] = n;
	data = kit_law_scratch(l, kit_elements(&t) * bytes + 1);
	if (data == NULL)
		return 0;
	for (uint64_t i = 0; i < kit_elements(&t); i++) {
		uint64_t c[PCTL_RANK_MAX];

		coordinates(&t, i, c);
		c[d] += from;
		memcpy(data + i * bytes, kit_law_data(l, 0) + place(x_of(l), c) * bytes, bytes);
	}
	number = kit_law_tensor(l, &t, data);
	kit_law_free(l, data);
	return number;
}

void reduce_law_split(kit_law *l)
{
	const pctl_tensor_type *y = &l->c->types[kit_law_out(l, 0)];
	const uint64_t bytes = kit_law_bytes(l, kit_law_out(l, 0));
	const pctl_tensor_type both = {y->dtype, 2, {2, kit_elements(y)}};
	const uint32_t mask = mask_of(l);
	uint32_t d = 0;
	uint8_t *data;

	while (d < x_of(l)->rank && (!(mask >> d & 1) || x_of(l)->dim[d] < 2))
		d++;
	if (in_order(l) || d == x_of(l)->rank || kit_elements(y) == 0)
		return;
	if (l->c->round == 0) {
		const uint64_t n = x_of(l)->dim[d], half = n / 3 + 1;
		const uint32_t a = part(l, d, 0, half), b = part(l, d, half, n - half);

		again(l, a, mask, 0);
		again(l, b, mask, 0);
		kit_law_again(l);
		return;
	}
	data = kit_law_scratch(l, 2 * bytes);
	if (data == NULL)
		return;
	memcpy(data, kit_law_data(l, 4), bytes);
	memcpy(data + bytes, kit_law_data(l, 5), bytes);
	kit_law_equal(l, again(l, kit_law_tensor(l, &both, data), 1, 0), kit_law_out(l, 0));
	kit_law_free(l, data);
}

/* Tensor `of` with its axes in reverse order. */
static uint32_t transposed(kit_law *l, uint32_t of)
{
	const pctl_tensor_type *t = &l->c->types[of];
	const uint64_t bytes = kit_dtype_bytes(t->dtype);
	pctl_tensor_type turned = *t;
	uint8_t *data = kit_law_scratch(l, kit_elements(t) * bytes + 1);
	uint32_t number;

	if (data == NULL)
		return 0;
	for (uint32_t d = 0; d < t->rank; d++)
		turned.dim[d] = t->dim[t->rank - 1 - d];
	for (uint64_t i = 0; i < kit_elements(t); i++) {
		uint64_t c[PCTL_RANK_MAX], from[PCTL_RANK_MAX];

		coordinates(&turned, i, c);
		for (uint32_t d = 0; d < t->rank; d++)
			from[d] = c[t->rank - 1 - d];
		memcpy(data + i * bytes, kit_law_data(l, of) + place(t, from) * bytes, bytes);
	}
	number = kit_law_tensor(l, &turned, data);
	kit_law_free(l, data);
	return number;
}

void reduce_law_transposed(kit_law *l)
{
	const uint32_t mask = mask_of(l), rank = x_of(l)->rank;
	const int keep = strcmp(kit_law_attr(l, "keep"), "true") == 0;
	uint32_t turned = 0;

	if (in_order(l) || rank < 2)
		return;
	for (uint32_t d = 0; d < rank; d++)
		turned |= (mask >> d & 1) << (rank - 1 - d);
	kit_law_equal(l, again(l, transposed(l, 0), turned, keep),
		      transposed(l, kit_law_out(l, 0)));
}

/* The terms of the last result, in order of their indices; *n of them. The caller frees them. */
static uint8_t *terms(kit_law *l, uint64_t *n)
{
	const pctl_tensor_type *t = x_of(l);
	const uint64_t bytes = kit_dtype_bytes(t->dtype);
	const uint32_t mask = mask_of(l);
	uint8_t *data = kit_law_scratch(l, kit_elements(t) * bytes + 1);

	*n = 0;
	for (uint64_t i = 0; data != NULL && i < kit_elements(t); i++) {
		uint64_t c[PCTL_RANK_MAX];
		int of_last = 1;

		coordinates(t, i, c);
		for (uint32_t d = 0; d < t->rank; d++)
			of_last &= (mask >> d & 1) != 0 || c[d] == t->dim[d] - 1;
		if (of_last)
			memcpy(data + (*n)++ * bytes, kit_law_data(l, 0) + i * bytes, bytes);
	}
	return data;
}

void reduce_law_alone(kit_law *l)
{
	const uint32_t y = kit_law_out(l, 0);
	const pctl_tensor_type one = {l->c->types[y].dtype, 1, {1}};
	const uint64_t count = kit_elements(&l->c->types[y]), bytes = kit_dtype_bytes(one.dtype);
	uint64_t n;
	uint8_t *data = count == 0 ? NULL : terms(l, &n);

	if (data == NULL)
		return;
	kit_law_equal(l,
		      again(l, kit_law_tensor(l, &(pctl_tensor_type){x_of(l)->dtype, 1, {n}}, data),
			    1, 0),
		      kit_law_tensor(l, &one, kit_law_data(l, y) + (count - 1) * bytes));
	kit_law_free(l, data);
}

static int is_nan(uint32_t dtype, uint64_t v)
{
	return dtype == PCTL_SCALAR_F32	   ? (v & 0x7fffffff) > 0x7f800000
	       : dtype == PCTL_SCALAR_F16  ? (v & 0x7fff) > 0x7c00
	       : dtype == PCTL_SCALAR_BF16 ? (v & 0x7fff) > 0x7f80
	       : dtype == PCTL_SCALAR_F64  ? (v & 0x7fffffffffffffffu) > 0x7ff0000000000000u
					   : 0;
}

/* One and the infinities, or the ends, of x's type. */
static uint64_t neutral_of(const char *op, uint32_t dtype)
{
	const uint64_t top = 1ull << (8 * kit_dtype_bytes(dtype) - 1);
	const int below = strncmp(op, "tensor.max", 10) == 0 || strcmp(op, "tensor.logsumexp") == 0;
	const int has_sign = dtype == PCTL_SCALAR_I8 || dtype == PCTL_SCALAR_I16 ||
			     dtype == PCTL_SCALAR_I32 || dtype == PCTL_SCALAR_I64;

	if (strcmp(op, "tensor.any") == 0)
		return 0;
	if (strcmp(op, "tensor.prod") == 0 || strcmp(op, "tensor.all") == 0)
		return dtype == PCTL_SCALAR_F32	   ? 0x3f800000u
		       : dtype == PCTL_SCALAR_F16  ? 0x3c00u
		       : dtype == PCTL_SCALAR_BF16 ? 0x3f80u
						   : 1;
	if (dtype == PCTL_SCALAR_F64)
		return 0x7ff0000000000000u | (below ? top : 0);
	if (is_float(dtype))
		return (dtype == PCTL_SCALAR_F32   ? 0x7f800000u
			: dtype == PCTL_SCALAR_F16 ? 0x7c00u
						   : 0x7f80u) |
		       (below ? top : 0);
	if (has_sign)
		return below ? top : top - 1;
	return below ? 0 : top + (top - 1);
}

void reduce_law_neutral(kit_law *l)
{
	const uint32_t y = kit_law_out(l, 0), dtype = x_of(l)->dtype;
	const pctl_tensor_type one = {l->c->types[y].dtype, 1, {1}};
	const uint64_t count = kit_elements(&l->c->types[y]), bytes = kit_dtype_bytes(dtype);
	const uint64_t nothing = neutral_of(l->use.op->desc.name, dtype);
	uint64_t n, result = 0;
	uint8_t *data, *more;

	if (count == 0)
		return;
	memcpy(&result, kit_law_data(l, y) + (count - 1) * kit_dtype_bytes(one.dtype),
	       kit_dtype_bytes(one.dtype));
	if (is_nan(one.dtype, result))
		return;
	data = terms(l, &n);
	more = data == NULL ? NULL : kit_law_scratch(l, (n + 2) * bytes);
	if (more != NULL) {
		memcpy(more, &nothing, bytes);
		memcpy(more + bytes, data, n * bytes);
		memcpy(more + (n + 1) * bytes, &nothing, bytes);
		kit_law_equal(l,
			      again(l,
				    kit_law_tensor(l, &(pctl_tensor_type){dtype, 1, {n + 2}}, more),
				    1, 0),
			      kit_law_tensor(l, &one, &result));
	}
	kit_law_free(l, more);
	kit_law_free(l, data);
}

void reduce_law_repeated(kit_law *l)
{
	const uint32_t y = kit_law_out(l, 0), dtype = x_of(l)->dtype;
	const pctl_tensor_type one = {dtype, 1, {1}};
	const uint64_t count = kit_elements(&l->c->types[y]), bytes = kit_dtype_bytes(dtype);
	uint64_t n;
	uint8_t *data = count == 0 ? NULL : terms(l, &n), *more;

	more = data == NULL || n == 0 ? NULL : kit_law_scratch(l, 2 * n * bytes);
	if (more != NULL) {
		memcpy(more, data, n * bytes);
		memcpy(more + n * bytes, data, n * bytes);
		kit_law_equal(l,
			      again(l,
				    kit_law_tensor(l, &(pctl_tensor_type){dtype, 1, {2 * n}}, more),
				    1, 0),
			      kit_law_tensor(l, &one, kit_law_data(l, y) + (count - 1) * bytes));
		for (uint64_t i = 0; i < n; i++)
			more[(i + 1) * bytes - 1] ^= 0x80;
		kit_law_equal(
			l,
			again(l, kit_law_tensor(l, &(pctl_tensor_type){dtype, 1, {n}}, more), 1, 0),
			kit_law_tensor(l, &one, kit_law_data(l, y) + (count - 1) * bytes));
	}
	kit_law_free(l, more);
	kit_law_free(l, data);
}

/* ---- of argmax and argmin ------------------------------------------------------------------- */

static const char *value_op(const kit_law *l)
{
	const int least = strncmp(l->use.op->desc.name, "tensor.argmin", 13) == 0;

	if (x_of(l)->dtype == PCTL_SCALAR_F64)
		return least ? "tensor.min64" : "tensor.max64";
	return least ? "tensor.min" : "tensor.max";
}

/* The index of the last result, and its terms. */
static uint8_t *indexed(kit_law *l, uint64_t *n, uint32_t *index)
{
	const uint32_t y = kit_law_out(l, 0);
	const uint64_t count = kit_elements(&l->c->types[y]);

	*n = 0;
	if (count == 0)
		return NULL;
	memcpy(index, kit_law_data(l, y) + (count - 1) * 4, 4);
	return terms(l, n);
}

void index_law_found(kit_law *l)
{
	const uint32_t dtype = x_of(l)->dtype;
	const uint64_t bytes = kit_dtype_bytes(dtype);
	uint32_t index = 0;
	uint64_t n, value = 0;
	uint8_t *data = indexed(l, &n, &index);

	if (data == NULL)
		return;
	if (index >= n) {
		kit_law_broken(l, "y past the axis", 0, index, n - 1);
		kit_law_free(l, data);
		return;
	}
	memcpy(&value, data + index * bytes, bytes);
	if (!is_nan(dtype, value))
		kit_law_equal(l,
			      reduced(l, value_op(l),
				      kit_law_tensor(l, &(pctl_tensor_type){dtype, 1, {n}}, data),
				      1, 0),
			      kit_law_tensor(l, &(pctl_tensor_type){dtype, 1, {1}}, &value));
	else if (index != 0)
		kit_law_broken(l, "y at a NaN", 0, index, 0);
	else
		kit_law_holds(l);
	kit_law_free(l, data);
}

void index_law_lowest(kit_law *l)
{
	const uint32_t dtype = x_of(l)->dtype;
	const uint64_t bytes = kit_dtype_bytes(dtype);
	uint32_t index = 0;
	uint64_t n;
	uint8_t *data = indexed(l, &n, &index);

	if (data == NULL || index == 0 || index >= n) {
		kit_law_free(l, data);
		return;
	}
	if (l->c->round == 0) {
		reduced(l, value_op(l),
			kit_law_tensor(l, &(pctl_tensor_type){dtype, 1, {index}}, data), 1, 0);
		kit_law_again(l);
	} else if (memcmp(kit_law_data(l, 3), data + index * bytes, bytes) == 0) {
		kit_law_says(l, "the same element lies in front of y", "another");
	} else {
		kit_law_holds(l);
	}
	kit_law_free(l, data);
}
