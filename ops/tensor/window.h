/* Windows that go over one to three dimensions: what convolutions, pools and im2col share. */
#ifndef PIPECTL_OPS_TENSOR_WINDOW_H
#define PIPECTL_OPS_TENSOR_WINDOW_H

#include "common/tensors/elements.h"

#define WINDOW_DIMS 3u

/* One dimension: n elements of x, `taps` of the window, `out` places. */
typedef struct window_dim {
	uint64_t n, taps, out, stride, pad, dilation;
} window_dim;

/* Dimensions that are not there have one element of each, and stand first. spread: 1: a place of x goes to places of y (transposed). */
typedef struct window {
	window_dim dim[WINDOW_DIMS];
	uint64_t batches, channels;	 /* of x */
	uint64_t places, taps, elements; /* of y, of a window, of x, in a channel of a batch */
	int spread;
} window;

/* Numbers of attributes `stride`, `pad` and `dilation` from number `attr` on, for x [batch, channels, ..]; window: sizes of `dims` taps. */
pctl_status window_of(const kit_use *u, uint32_t dims, const uint64_t *taps, uint32_t attr,
		      int spread, window *out);
/* Numbers of an attribute, one for all dimensions or one for each. */
pctl_status window_numbers(const kit_use *u, uint32_t attr, uint32_t dims, uint64_t least,
			   uint64_t otherwise, uint64_t *out);
/* fn window_at(place: u32, tap: u32) -> u32: the element of x in its channel, 0xffffffff where there is none; v[first] .. are its numbers. */
void window_text(tensor_kernel *k, const window *w, uint32_t first);
/* The same in plain C; UINT64_MAX where there is none. */
uint64_t window_at(const window *w, uint64_t place, uint64_t tap);
/* y's dimensions behind its first two. */
void window_shape(const window *w, uint32_t dims, pctl_tensor_type *y);

#endif
