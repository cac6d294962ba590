/* Laws of tensor.quantize_blocks, as further uses that the device makes and bytes that follow from y's, and the problems that they are tried on. */
#include <math.h>

#include "blocks.h"

/* ---- problems ------------------------------------------------------------------------------- */

#define ROWS 3u
enum { ANY, COARSE, POSITIVE, TINY, KINDS };

const pctl_op_problems blocks_problems = {PCTL_HEAD(pctl_op_problems),
					  "one row, three or none of one to three blocks",
					  BLOCKS_TYPES *KINDS * 4u};

/* Magnitudes over the whole range of an f16's multiples; coarse ones, so that many meet half steps; a zero and no negative ones; next to no size at all. */
static float number(uint32_t kind, uint64_t r)
{
	const float f = (float)(int32_t)(r >> 32) * 0x1p-31f;

	switch (kind) {
	case COARSE:
		return (float)((int32_t)(r % 61) - 30) / 4;
	case POSITIVE:
		return r % 7 == 0 ? 0 : (float)(1 + r % 300) / 8;
	case TINY:
		return ldexpf(f, -10 - (int)(r % 30));
	default:
		return r % 11 == 0 ? -0.0f : ldexpf(f, (int)(r % 24) - 9);
	}
}

void blocks_problem(kit_problem *p)
{
	const blocks_type *t = blocks_type_at((uint32_t)(p->number % BLOCKS_TYPES));
	const uint32_t kind = (uint32_t)(p->number / BLOCKS_TYPES % KINDS);
	const uint64_t which = p->number / BLOCKS_TYPES / KINDS;
	pctl_tensor_type x = {.dtype = p->dtype,
			      .rank = 2,
			      .dim = {which == 3   ? 0
				      : which == 0 ? ROWS
						   : 1}};
	const uint64_t bytes = kit_dtype_bytes(p->dtype);
	uint8_t data[4 * ROWS * 2 * 256];

	if (p->number >= blocks_problems.n) {
		kit_problem_none(p);
		return;
	}
	x.dim[1] = t->block * (which == 2 ? 3 : which == 1 ? 1 : 2);
	for (uint64_t i = 0; i < kit_elements(&x); i++) {
		const float f = number(kind, kit_random(p->seed + p->number, i));
		uint64_t code;

		if (p->dtype == PCTL_SCALAR_F16) {
			code = convert_float_code(tensor_float_layout_of(p->dtype), (long double)f,
						  1);
		} else {
			uint32_t word;

			memcpy(&word, &f, 4);
			code = p->dtype == PCTL_SCALAR_BF16 ? word >> 16 : word;
		}
		memcpy(data + i * bytes, &code, bytes);
	}
	if (p->status == PCTL_OK)
		p->status = p->sink->attr(p->sink->ctx, 0, kit_dtype_name(t->dtype));
	kit_problem_input(p, 0, &x, data);
	kit_problem_rigid(p);
}

/* ---- laws ----------------------------------------------------------------------------------- */

static pctl_tensor_type type_of_y(const kit_law *l, const blocks_type *t)
{
	pctl_tensor_type y = l->use.q->in[0];

	y.dtype = t->dtype;
	return y;
}

/* y of another x, with bytes that are given up, is y with bytes that are given up. */
static void compare(kit_law *l, const blocks_type *t, void *x, void *y)
{
	const pctl_tensor_type type = type_of_y(l, t);

	if (x != NULL && y != NULL) {
		const uint32_t other = kit_law_tensor(l, &l->use.q->in[0], x);

		kit_law_equal(
			l,
			kit_law_use(l, "tensor.quantize_blocks", &other, 1, l->use.q->attr, 1, 1),
			kit_law_tensor(l, &type, y));
	}
	kit_law_free(l, x);
	kit_law_free(l, y);
}

static void *copied(kit_law *l, uint32_t tensor)
{
	void *data = kit_law_scratch(l, kit_law_bytes(l, tensor) + 4);

	if (data != NULL)
		memcpy(data, kit_law_data(l, tensor), kit_law_bytes(l, tensor));
	return data;
}

static void turn_rows(uint8_t *to, const uint8_t *from, uint64_t rows, uint64_t n_bytes)
{
	for (uint64_t r = 0; r < rows; r++)
		memcpy(to + r * n_bytes, from + (rows - 1 - r) * n_bytes, n_bytes);
}

void blocks_law_rows(kit_law *l)
{
	const pctl_tensor_type *x = &l->use.q->in[0];
	const uint32_t y = kit_law_out(l, 0);
	const blocks_type *t;
	uint8_t *a, *b;

	if (x->rank != 2 || x->dim[0] < 2 || blocks_type_of(&l->use, &t) != PCTL_OK)
		return;
	a = copied(l, 0);
	b = copied(l, y);
	if (a != NULL && b != NULL) {
		turn_rows(a, kit_law_data(l, 0), x->dim[0], x->dim[1] * kit_dtype_bytes(x->dtype));
		turn_rows(b, kit_law_data(l, y), x->dim[0], x->dim[1] / t->block * t->bytes);
	}
	compare(l, t, a, b);
}

/* A block whose numbers are all negated. */
static void negate(const blocks_type *t, uint8_t *block)
{
	uint8_t *s = block + (t->dtype == PCTL_DTYPE_Q6_K ? 192 : 96);

	if (t->dtype == PCTL_DTYPE_Q4_0 || t->dtype == PCTL_DTYPE_Q5_0)
		block[1] ^= (block[0] | block[1]) != 0 ? 0x80 : 0;
	for (uint32_t i = 0; t->dtype == PCTL_DTYPE_Q8_0 && i < 32; i++)
		block[2 + i] = (uint8_t)-block[2 + i];
	for (uint32_t k = 0; t->dtype == PCTL_DTYPE_Q6_K && k < 16; k++)
		s[k] = (uint8_t)-s[k];
	for (uint32_t k = 0; t->dtype == PCTL_DTYPE_Q3_K && k < 16; k++) {
		uint8_t *low = &s[k % 8], *high = &s[8 + k % 4];
		const uint32_t up = k / 8 * 4, at = k / 4 * 2;
		const uint32_t now = ((uint32_t)*low >> up & 15u) | ((uint32_t)*high >> at & 3u)
									    << 4,
			       turned = 64 - now;

		*low = (uint8_t)((*low & ~(15u << up)) | (turned & 15u) << up);
		*high = (uint8_t)((*high & ~(3u << at)) | (turned >> 4 & 3u) << at);
	}
}

void blocks_law_negated(kit_law *l)
{
	const pctl_tensor_type *x = &l->use.q->in[0];
	const uint64_t n = kit_elements(x), bytes = kit_dtype_bytes(x->dtype);
	const blocks_type *t;
	uint8_t *a, *b;

	if (blocks_type_of(&l->use, &t) != PCTL_OK || t->minima != 0 || n == 0)
		return;
	a = copied(l, 0);
	b = copied(l, kit_law_out(l, 0));
	for (uint64_t i = 0; a != NULL && i < n; i++)
		a[(i + 1) * bytes - 1] ^= 0x80;
	for (uint64_t i = 0; b != NULL && i < n / t->block; i++)
		negate(t, b + i * t->bytes);
	compare(l, t, a, b);
}

/* A zero, no number below it, one of at least 1 and none that is large: then all f16 are normal, or 0. */
static int is_plain(const pctl_tensor_type *x, const uint8_t *data, uint64_t first, uint32_t n)
{
	long double most = 0, least = 1;

	for (uint32_t i = 0; i < n; i++) {
		const long double v = tensor_element(x->dtype, data, first + i);

		most = v > most ? v : most;
		least = v < least ? v : least;
	}
	return least == 0 && most >= 1 && most <= 1000;
}

void blocks_law_doubled(kit_law *l)
{
	const pctl_tensor_type *x = &l->use.q->in[0];
	const uint64_t n = kit_elements(x), bytes = kit_dtype_bytes(x->dtype);
	const tensor_float_layout *f = tensor_float_layout_of(x->dtype);
	const blocks_type *t;
	uint32_t scale;
	uint8_t *a, *b;

	if (blocks_type_of(&l->use, &t) != PCTL_OK || n == 0)
		return;
	for (uint64_t i = 0; i < n; i += t->block)
		if (!is_plain(x, kit_law_data(l, 0), i, t->block))
			return;
	scale = kit_block_format_of(t->dtype)->scale;
	a = copied(l, 0);
	b = copied(l, kit_law_out(l, 0));
	for (uint64_t i = 0; a != NULL && i < n; i++) {
		uint64_t code = convert_float_code(f, 2 * tensor_element(x->dtype, a, i), 0);

		memcpy(a + i * bytes, &code, bytes);
	}
	for (uint64_t i = 0; b != NULL && i < n / t->block; i++)
		b[i * t->bytes + scale + 1] = (uint8_t)(b[i * t->bytes + scale + 1] + 4);
	compare(l, t, a, b);
}
