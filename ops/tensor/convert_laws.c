/* Laws of tensor.convert, as further conversions that the device makes, and the problems that they are tried on. */
#include "convert.h"

/* ---- problems ------------------------------------------------------------------------------- */

static const uint64_t sizes[] = {1, 33, 0, 257}; /* of blocks: so many of them, or one */
#define TYPES 22u
#define KINDS 3u

const pctl_op_problems convert_problems = {PCTL_HEAD(pctl_op_problems),
					   "tensors of up to 257 elements or two blocks",
					   KIT_COUNT(sizes) * TYPES *KINDS};

/* Bytes of no type in particular; every third of 32 bits like an f32 near a small integer, so that roundings meet ties. */
static void fill(uint8_t *data, uint64_t n_bytes, uint64_t seed, uint32_t kind)
{
	for (uint64_t i = 0; i < n_bytes; i++)
		data[i] = (uint8_t)(kit_random(seed, i / 8) >> i % 8 * 8);
	for (uint64_t i = 0; kind == 1 && i + 4 <= n_bytes; i += 4) {
		const uint64_t r = kit_random(seed + 1, i);
		const float f = (float)(int32_t)(r % 2048) / 8 - 128;

		memcpy(data + i, &f, 4);
	}
}

/* Where f4 is asked for, NaN and infinities are taken out of the problem. */
static void mend(uint32_t dtype, uint32_t to, uint8_t *data, uint64_t n, uint64_t n_bytes)
{
	const kit_block_format *block = kit_block_format_of(dtype);
	uint32_t elements;
	const uint32_t bits = kit_dtype_bits(dtype, &elements);

	tensor_mend(dtype, data, n, n_bytes);
	for (uint64_t i = 0; block != NULL && to == PCTL_DTYPE_F4 && i < n / block->block; i++) {
		data[i * block->bytes + block->scale + 1] &= 0xbfu;
		data[i * block->bytes + block->minimum + 1] &= 0xbfu;
	}
	if (to != PCTL_DTYPE_F4 || tensor_float_layout_of(dtype) == NULL || bits < 8)
		return;
	for (uint64_t i = 0; i < n; i++)
		data[(i + 1) * (bits / 8) - 1] &= 0xbfu; /* no exponent of all ones */
}

void convert_problem(kit_problem *p)
{
	const uint32_t to = convert_type((uint32_t)(p->number % TYPES));
	const uint32_t kind = (uint32_t)(p->number / TYPES % KINDS);
	uint64_t n = sizes[p->number / TYPES / KINDS % KIT_COUNT(sizes)], n_bytes;
	pctl_tensor_type t;
	uint32_t block;
	uint8_t *data;

	if (p->number >= convert_problems.n || kit_dtype_bits(p->dtype, &block) == 0) {
		kit_problem_none(p);
		return;
	}
	if (block != 1)
		n = n == 0 ? 0 : n == 1 ? block : 2 * block;
	t = kit_vector(p->dtype, n);
	n_bytes = kit_bytes(&t);
	data = kit_scratch(&p->use, n_bytes + 8);
	if (data == NULL) {
		p->status = pctl_refuse(p->use.call, PC2_NOMEM, "no memory for a tensor");
		return;
	}
	fill(data, n_bytes, p->seed + p->number, kind);
	mend(p->dtype, to, data, n, n_bytes);
	if (p->status == PCTL_OK)
		p->status = p->sink->attr(p->sink->ctx, CONVERT_TO, kit_dtype_name(to));
	if (p->status == PCTL_OK && kind == 2)
		p->status = p->sink->attr(p->sink->ctx, CONVERT_SATURATE, "true");
	kit_problem_input(p, 0, &t, data);
	kit_problem_rigid(p);
	kit_scratch_free(&p->use, data);
}

/* ---- laws ----------------------------------------------------------------------------------- */

static uint32_t converted(kit_law *l, uint32_t tensor, const char *to)
{
	const pctl_attr attr = {"to", to, 0};

	return kit_law_use(l, "tensor.convert", &tensor, 1, &attr, 1, 1);
}

/* An f64 has every number of these types. */
static int fits_f64(uint32_t dtype)
{
	return dtype != PCTL_SCALAR_I64 && dtype != PCTL_SCALAR_U64 && dtype != PCTL_SCALAR_F64;
}

void convert_law_fixed(kit_law *l)
{
	uint32_t to;

	if (convert_to(&l->use, &to) != PCTL_OK || to == l->use.q->in[0].dtype || !fits_f64(to))
		return;
	kit_law_equal(l, converted(l, converted(l, kit_law_out(l, 0), "f64"), kit_dtype_name(to)),
		      kit_law_out(l, 0));
}

/* 1: every number of the small integer type is one of the other type. */
static int holds(uint32_t small, uint32_t to)
{
	uint32_t block;
	const uint32_t bits = kit_dtype_bits(small, &block), wide = kit_dtype_bits(to, &block);
	const tensor_float_layout *f = tensor_float_layout_of(to);

	if (small == PCTL_SCALAR_BOOL || kit_block_format_of(small) != NULL || bits > 8 ||
	    tensor_float_layout_of(small) != NULL)
		return 0;
	if (f != NULL)
		return f->fraction >= 7;
	return to != PCTL_SCALAR_BOOL && wide > bits &&
	       (tensor_is_signed(to) || (!tensor_is_signed(small) && small != PCTL_DTYPE_BINARY)) &&
	       to != PCTL_DTYPE_TERNARY;
}

void convert_law_back(kit_law *l)
{
	const uint32_t from = l->use.q->in[0].dtype;
	uint32_t to;

	if (convert_to(&l->use, &to) != PCTL_OK)
		return;
	/* Nothing is made blocks again, and all their numbers are of f64. */
	if (kit_block_format_of(from) != NULL) {
		const uint32_t wide = converted(l, 0, "f64");
		const pctl_attr attr[] = {{"to", kit_dtype_name(to), 0},
					  {"saturate", kit_law_attr(l, "saturate"), 0}};

		kit_law_equal(l, kit_law_use(l, "tensor.convert", &wide, 1, attr, 2, 1),
			      kit_law_out(l, 0));
	} else if (from == to || holds(from, to))
		kit_law_equal(l, converted(l, kit_law_out(l, 0), kit_dtype_name(from)), 0);
}
