/* Where the taps of a window lie in x (SEMANTICS.md 16.7); see window.h. */
#include "window.h"

#include "kernels.h"

pctl_status window_numbers(const kit_use *u, uint32_t attr, uint32_t dims, uint64_t least,
			   uint64_t otherwise, uint64_t *out)
{
	int64_t numbers[WINDOW_DIMS];
	uint32_t n;
	const pctl_status status = tensor_numbers_of(u, attr, (int64_t)least, dims, numbers, &n);

	if (status == PCTL_OK && n > 1 && n != dims)
		return kit_refuse_attr(u, u->op->desc.attr[attr].name,
				       "is not one number, or one for each dimension");
	for (uint32_t d = 0; d < dims && status == PCTL_OK; d++) {
		out[d] = n == 0 ? otherwise : (uint64_t)numbers[n == 1 ? 0 : d];
		if (out[d] > UINT16_MAX)
			return kit_refuse_attr(u, u->op->desc.attr[attr].name,
					       "has a number above 65535");
	}
	return status;
}

pctl_status window_of(const kit_use *u, uint32_t dims, const uint64_t *taps, uint32_t attr,
		      int spread, window *out)
{
	const pctl_tensor_type *x = &u->q->in[0];
	uint64_t stride[WINDOW_DIMS], pad[WINDOW_DIMS], dilation[WINDOW_DIMS];
	pctl_status status;

	*out = (window){.places = 1, .taps = 1, .elements = 1, .spread = spread};
	if (x->rank != dims + 2)
		return kit_refuse_type(u, 0, u->op->desc.in[0].type);
	status = window_numbers(u, attr, dims, 1, 1, stride);
	if (status == PCTL_OK)
		status = window_numbers(u, attr + 1, dims, 0, 0, pad);
	if (status == PCTL_OK)
		status = window_numbers(u, attr + 2, dims, 1, 1, dilation);
	if (status != PCTL_OK)
		return status;
	out->batches = x->dim[0];
	out->channels = x->dim[1];
	for (uint32_t d = 0; d < WINDOW_DIMS; d++)
		out->dim[d] = (window_dim){1, 1, 1, 1, 0, 1};
	for (uint32_t d = 0; d < dims; d++) {
		window_dim *w = &out->dim[WINDOW_DIMS - dims + d];
		const uint64_t n = x->dim[2 + d];
		uint64_t reach;

		if (taps[d] == 0 || taps[d] > UINT16_MAX)
			return kit_refuse_size(u, "taps of a window (not 0)", taps[d], UINT16_MAX);
		reach = dilation[d] * (taps[d] - 1) + 1;
		*w = (window_dim){n, taps[d], 0, stride[d], pad[d], dilation[d]};
		if (spread)
			w->out = n == 0 || (n - 1) * stride[d] + reach < 2 * pad[d]
					 ? 0
					 : (n - 1) * stride[d] + reach - 2 * pad[d];
		else
			w->out = n + 2 * pad[d] < reach ? 0
							: (n + 2 * pad[d] - reach) / stride[d] + 1;
		if (w->out + n + 2 * pad[d] + reach > (1u << 30))
			return kit_refuse_size(u, "places of a dimension", w->out + n + reach,
					       1u << 30);
	}
	for (uint32_t d = 0; d < WINDOW_DIMS; d++) {
		out->places *= out->dim[d].out;
		out->taps *= out->dim[d].taps;
		out->elements *= out->dim[d].n;
	}
	return kit_limit(u, "taps of a window", out->taps, TENSOR_TERMS_MAX);
}

void window_shape(const window *w, uint32_t dims, pctl_tensor_type *y)
{
	y->rank = dims + 2;
	for (uint32_t d = 0; d < dims; d++)
		y->dim[2 + d] = w->dim[WINDOW_DIMS - dims + d].out;
}

void window_text(tensor_kernel *k, const window *w, uint32_t first)
{
	char at[2] = {(char)('0' + first), '\0'};

	kit_wgsl_add(
		&k->w,
		w->spread ? "fn window_step(place: i32, dim: vec4<u32>) -> i32 {\n\tlet s = "
			    "i32(dim.y);\n\treturn select(-1, place / s, place >= 0 && place % s "
			    "== 0);\n}\nconst SPREAD: i32 = -1;\n"
			  : "fn window_step(place: i32, dim: vec4<u32>) -> i32 {\n\treturn "
			    "place;\n}\nconst SPREAD: i32 = 1;\n");
	kit_wgsl_named(&k->w, KERNEL_WINDOW, at);
	for (uint32_t d = 0; d < WINDOW_DIMS; d++) {
		const window_dim *a = &w->dim[WINDOW_DIMS - 1 - d];

		k->params.v[first + d][0] = (uint32_t)a->out;
		k->params.v[first + d][1] = (uint32_t)a->stride;
		k->params.v[first + d][2] = (uint32_t)a->pad;
		k->params.v[first + d][3] = (uint32_t)a->dilation;
		k->params.v[first + 3][d] = (uint32_t)a->taps;
		k->params.v[first + 4][d] = (uint32_t)a->n;
	}
}

uint64_t window_at(const window *w, uint64_t place, uint64_t tap)
{
	uint64_t at = 0, scale = 1;

	for (uint32_t d = WINDOW_DIMS; d-- > 0;) {
		const window_dim *a = &w->dim[d];
		const int64_t q = (int64_t)(place % a->out), t = (int64_t)(tap % a->taps);
		int64_t s;

		if (w->spread) {
			s = q + (int64_t)a->pad - t * (int64_t)a->dilation;
			if (s < 0 || s % (int64_t)a->stride != 0)
				return UINT64_MAX;
			s /= (int64_t)a->stride;
		} else {
			s = q * (int64_t)a->stride - (int64_t)a->pad + t * (int64_t)a->dilation;
		}
		if (s < 0 || s >= (int64_t)a->n)
			return UINT64_MAX;
		at += (uint64_t)s * scale;
		scale *= a->n;
		place /= a->out;
		tap /= a->taps;
	}
	return at;
}
