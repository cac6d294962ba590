/* Convolutions sooner, by the same bits (SEMANTICS.md 4.4, 16.7): as products of w's matrices and of matrices that hold the terms, by tensor.matmul in
 * place; where a group has too few channels for tiles, by f64 sums that tell what most elements round to. */
#include <string.h>

#include "conv.h"
#include "kernels.h"

#define PRODUCTS_LEAST 16384u /* fewer are done sooner by one kernel */
#define OUT_LEAST 4u	      /* channels of y in a group that fill enough of a tile */
#define ROUND_BYTES \
	(64ull      \
	 << 20) /* of terms, in tiles, that lie in memory at once, where a batch has no more */

#define TILE 128u /* sides of tiles, at most; tensor.matmul lays factors and results out by them */

static uint64_t whole(uint64_t n)
{
	return (n + TILE - 1) / TILE * TILE;
}

/* Bytes of the largest buffer that a batch's product needs. */
static uint64_t bytes_of(const convolution *c)
{
	const uint64_t k = whole(c->in * c->w.taps), out = whole(c->out);

	return (out > k ? out : k) * whole(c->w.places) * c->groups * 4;
}

/* Batches of a round; 0: one is more than a binding holds. */
static uint64_t batches_of(const kit_plan *p, const convolution *c)
{
	const uint64_t most = p->caps->max_binding_bytes, one = bytes_of(c);
	const uint64_t all = most == 0 || most > TENSOR_ELEMENTS_MAX ? TENSOR_ELEMENTS_MAX : most;
	const uint64_t room = all < ROUND_BYTES ? all : ROUND_BYTES;
	const uint64_t n = room / one == 0 ? one <= all : room / one;

	return n < c->w.batches ? n : c->w.batches;
}

/* The terms of batches `first` and on: [batch, channels * taps, places]. */
static void terms(kit_plan *p, const convolution *c, uint64_t first, uint64_t n, uint32_t to)
{
	const uint64_t bytes = kit_dtype_bytes(p->use->q->in[0].dtype);
	tensor_kernel k = tensor_kernel_begin(
		p, "tensor/conv_terms.wgsl", n * c->w.channels * c->w.taps * c->w.places, bytes, 0);

	tensor_kernel_read(&k, "x", bytes, kit_in(p, 0));
	window_text(&k, &c->w, 3);
	kit_wgsl_add(&k.w, KERNEL_CONV_TERMS);
	k.params.v[0][0] = (uint32_t)c->w.places;
	k.params.v[0][1] = (uint32_t)c->w.taps;
	k.params.v[0][2] = (uint32_t)c->w.elements;
	k.params.v[0][3] = (uint32_t)(first * c->w.channels);
	tensor_kernel_run(&k, to);
}

/* The type that matrices of w have: its own, but for what the first factor of tensor.matmul cannot be. */
static uint32_t matrix_dtype(const kit_plan *p, const convolution *c)
{
	const uint32_t dtype = p->use->q->in[1].dtype;

	return kit_dtype_bytes(dtype) != 0			  ? dtype
	       : c->format != NULL				  ? PCTL_SCALAR_F32
	       : dtype == PCTL_DTYPE_U4 || dtype == PCTL_DTYPE_U2 ? PCTL_SCALAR_U8
								  : PCTL_SCALAR_I8;
}

/* w in that type: each of its elements is one. */
static uint32_t widened(kit_plan *p, const convolution *c)
{
	pctl_tensor_type types[2] = {p->use->q->in[1], p->use->q->in[1]};
	uint32_t buffers[2] = {kit_in(p, 1), 0};
	const pctl_attr attr[] = {{"to", kit_dtype_name(matrix_dtype(p, c)), 0},
				  {"saturate", "false", 0}};

	types[1].dtype = matrix_dtype(p, c);
	if (types[1].dtype == types[0].dtype)
		return buffers[0];
	buffers[1] = kit_temp(p, (kit_bytes(&types[1]) + 3) / 4 * 4);
	if (p->status == PCTL_OK)
		p->status = p->sink->op(p->sink->ctx, "tensor.convert", 1, buffers, types, 2, attr,
					KIT_COUNT(attr));
	return buffers[1];
}

/* w as matrices [group, out, in * taps]: as it lies, but for transposed convolutions. */
static uint32_t matrices(kit_plan *p, const convolution *c)
{
	const uint64_t bytes = kit_dtype_bytes(matrix_dtype(p, c));
	const uint64_t n = kit_elements(&p->use->q->in[1]);
	const uint32_t from = widened(p, c);
	tensor_kernel k;
	uint32_t to;

	if (!c->w.spread)
		return from;
	to = kit_temp(p, (n * bytes + 3) / 4 * 4);
	k = tensor_kernel_begin(p, "tensor/conv_turned.wgsl", n, bytes, 0);
	tensor_kernel_read(&k, "w", bytes, from);
	kit_wgsl_add(&k.w, KERNEL_CONV_TURNED);
	k.params.v[0][0] = (uint32_t)c->w.taps;
	k.params.v[0][1] = (uint32_t)c->in;
	k.params.v[0][2] = (uint32_t)c->out;
	tensor_kernel_run(&k, to);
	return to;
}

static void multiply(kit_plan *p, const convolution *c, uint64_t n, const uint32_t buffers[3])
{
	const uint64_t k = c->in * c->w.taps;
	const pctl_attr attr[] = {{"order", "exact", 0},
				  {"out", c->format != NULL ? kit_dtype_name(c->y.dtype) : "", 0},
				  {"transpose_a", "false", 0},
				  {"transpose_b", "false", 0}};
	const pctl_tensor_type types[] = {
		{matrix_dtype(p, c), 4, {1, c->groups, c->out, k}},
		{p->use->q->in[0].dtype, 4, {n, c->groups, k, c->w.places}},
		{c->y.dtype, 4, {n, c->groups, c->out, c->w.places}}};

	if (p->status == PCTL_OK)
		p->status = p->sink->op(p->sink->ctx, "tensor.matmul", 1, buffers, types, 3, attr,
					KIT_COUNT(attr));
}

/* Each place is an element of x, in their order: x is the matrices of its terms. */
static int is_plain(const convolution *c)
{
	for (uint32_t d = 0; d < WINDOW_DIMS; d++)
		if (c->w.dim[d].taps != 1 || c->w.dim[d].stride != 1 || c->w.dim[d].pad != 0 ||
		    c->w.dim[d].out != c->w.dim[d].n)
			return 0;
	return 1;
}

/* Places outside x are among the terms. */
static int is_padded(const convolution *c)
{
	for (uint32_t d = 0; d < WINDOW_DIMS; d++)
		if (c->w.dim[d].pad != 0 || c->w.spread)
			return 1;
	return 0;
}

static void by_products(kit_plan *p, const convolution *c, uint64_t each)
{
	const uint64_t size = kit_dtype_bytes(c->y.dtype), y_bytes = kit_elements(&c->y) * size;
	const uint64_t part = y_bytes / c->w.batches;
	/* Of integers zeros are no terms anyway. */
	const int mends = is_padded(c) && c->format != NULL;
	const uint32_t made = mends ? kit_temp(p, (y_bytes + 3) / 4 * 4) : kit_out(p, 0);
	/* An op in place takes whole buffers, so that of rounds all terms are laid out. */
	const int plain = is_plain(c) && each == c->w.batches;
	uint32_t buffers[3] = {matrices(p, c), kit_in(p, 0), made};

	if (!plain)
		buffers[1] = kit_temp(p, (each * c->w.channels * c->w.taps * c->w.places *
						  kit_dtype_bytes(p->use->q->in[0].dtype) +
					  3) / 4 *
						 4);
	if (each < c->w.batches)
		buffers[2] = kit_temp(p, each * part);
	for (uint64_t first = 0; first < c->w.batches && p->status == PCTL_OK; first += each) {
		const uint64_t n = c->w.batches - first < each ? c->w.batches - first : each;

		if (!plain)
			terms(p, c, first, n, buffers[1]);
		multiply(p, c, n, buffers);
		if (each < c->w.batches)
			kit_copy(p, buffers[2], 0, made, first * part, n * part);
	}
	if (mends)
		conv_run(p, c, CONV_MENDED, made);
}

int conv_fast(kit_plan *p, const convolution *c)
{
	const uint64_t size = kit_dtype_bytes(c->y.dtype), n = kit_elements(&c->y);
	const uint64_t k = c->in * c->w.taps;
	uint64_t each = 0;

	/* Gas is priced by the plan of a device of no kind. */
	if (n == 0 || k == 0 || size == 8 || p->caps->device_kind == PCTL_DEVICE_OTHER ||
	    (c->format != NULL && !tensor_has_f64(p)) || n * k < PRODUCTS_LEAST)
		return 0;
	if (c->out >= OUT_LEAST)
		each = batches_of(p, c);
	/* A round's results are copied by words. */
	if (each < c->w.batches && n / c->w.batches * size % 4 != 0)
		each = 0;
	if (each != 0) {
		by_products(p, c, each);
		return 1;
	}
	if (c->format == NULL)
		return 0;
	conv_run(p, c, CONV_JUDGED, 0);
	return 1;
}
