/* Maps of indices: of an operand that is stretched, of a view, and with as few dimensions as can be. */
#include <string.h>

#include "foundation/base/num.h"
#include "runtime/graph/elementwise.h"

static void strides_of(const pctl_tensor_type *t, uint64_t stride[PCTL_RANK_MAX])
{
	uint64_t n = 1;

	for (uint32_t d = t->rank; d-- > 0;) {
		stride[d] = n;
		(void)pctl_num_mul(n, t->dim[d], &n);
	}
}

void pctl_index_map_stretch(const pctl_tensor_type *from, const pctl_tensor_type *to,
			    pctl_index_map *out)
{
	uint64_t stride[PCTL_RANK_MAX] = {0};
	const uint32_t ahead = to->rank - from->rank;

	strides_of(from, stride);
	*out = (pctl_index_map){.rank = to->rank};
	for (uint32_t d = 0; d < to->rank; d++) {
		out->dim[d] = to->dim[d];
		if (d >= ahead && (from->dim[d - ahead] == to->dim[d]))
			out->stride[d] = stride[d - ahead];
	}
}

void pctl_index_map_view(const pctl_op_result *view, pctl_index_map *out)
{
	const pctl_tensor_type *t = &view->out[0];

	*out = (pctl_index_map){.rank = t->rank, .offset = view->view_offset};
	memcpy(out->dim, t->dim, sizeof(out->dim));
	memcpy(out->stride, view->view_stride, sizeof(out->stride));
	if (t->rank == 0) {
		out->rank = 1;
		out->dim[0] = 1;
		out->stride[0] = 0;
	}
}

void pctl_index_map_simplify(pctl_index_map *m)
{
	uint32_t n = 0;

	if (m->rank == 0)
		return;
	for (uint32_t d = 0; d < m->rank; d++) {
		const uint64_t dim = m->dim[d], stride = m->stride[d];

		if (dim == 1)
			continue;
		/* The dimension before goes on where this one ends: both are one. */
		if (n != 0 && m->stride[n - 1] == stride * dim) {
			m->dim[n - 1] *= dim;
			m->stride[n - 1] = stride;
			continue;
		}
		m->dim[n] = dim;
		m->stride[n++] = stride;
	}
	if (n == 0) {
		m->dim[0] = 1;
		m->stride[0] = 0;
		n = 1;
		if (m->offset == 0)
			m->stride[0] = 1; /* one element, number 0 of both */
	}
	m->rank = n == 1 && m->stride[0] == 1 && m->offset == 0 ? 0 : n;
	m->simple = 1;
}
