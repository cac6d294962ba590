/* Reductions of what is more than a binding and cannot be cut where it lies: turned, so that what is reduced lies side by side, and then by the op
 * itself over rows, which the host cuts (SEMANTICS.md 17.3); or row by row, where each is more than a binding. */
#include <stdio.h>

#include "reduce_axes.h"

#define ROWS_MAX 1024u

/* Axes of x between commas: those that stay, then those that are reduced; or where each of x's is among these. */
static void order_of(uint32_t rank, uint32_t mask, int back, char text[64], uint32_t order[])
{
	uint32_t n = 0, place[PCTL_RANK_MAX];
	size_t at = 0;

	for (uint32_t reduced = 0; reduced < 2; reduced++)
		for (uint32_t d = 0; d < rank; d++)
			if ((mask >> d & 1) == reduced)
				order[n++] = d;
	for (uint32_t d = 0; d < rank; d++)
		place[order[d]] = d;
	for (uint32_t d = 0; d < rank; d++)
		at += (size_t)snprintf(text + at, 64 - at, d == 0 ? "%u" : ",%u",
				       back ? place[d] : order[d]);
}

static void turn(kit_plan *p, uint32_t from, const pctl_tensor_type *t, uint32_t to,
		 const pctl_tensor_type *turned, const char *axes)
{
	kit_run_op_as(p, "tensor.transpose", 1, (kit_arg[]){{from, *t}, {to, *turned}}, 2,
		      &(pctl_attr){"axes", axes, 0}, 1);
}

/* The op itself along the second axis of rows. */
static void over_rows(kit_plan *p, uint32_t from, const pctl_tensor_type *rows, uint32_t to,
		      const pctl_tensor_type *out)
{
	const pctl_op_query *q = p->use->q;
	pctl_attr attrs[8];

	for (uint32_t i = 0; i < q->n_attr; i++) {
		attrs[i] = q->attr[i];
		if (i == 0)
			attrs[i] = (pctl_attr){attrs[i].name, "1", 1};
		else if (strcmp(attrs[i].name, "keep") == 0)
			attrs[i] = (pctl_attr){attrs[i].name, "false", 0};
	}
	kit_run_op_as(p, p->use->op->desc.name, p->use->op->desc.version,
		      (kit_arg[]){{from, *rows}, {to, *out}}, 2, attrs, q->n_attr);
}

static void row_by_row(kit_plan *p, const tensor_axes *a, uint32_t from, uint64_t width)
{
	const uint64_t bytes = a->terms * kit_dtype_bytes(p->use->q->in[0].dtype);
	const pctl_tensor_type row = {p->use->q->in[0].dtype, 2, {1, a->terms}};
	const pctl_tensor_type one = {a->out.dtype, 1, {1}};

	for (uint64_t i = 0; i < a->count && p->status == PCTL_OK; i++) {
		const uint32_t alone = kit_temp(p, bytes), result = kit_temp(p, width);

		kit_copy(p, from, i * bytes, alone, 0, bytes);
		over_rows(p, alone, &row, result, &one);
		kit_copy(p, result, 0, kit_out(p, 0), i * width, width);
	}
}

int tensor_rows_apart(kit_plan *p, const tensor_axes *a, int shaped)
{
	const pctl_tensor_type *x = &p->use->q->in[0];
	const uint64_t row_bytes = a->terms * kit_dtype_bytes(x->dtype),
		       width = kit_dtype_bytes(a->out.dtype);
	const pctl_tensor_type rows = {x->dtype, 2, {a->count, a->terms}};
	const pctl_tensor_type results = {a->out.dtype, 1, {a->count}};
	const int large = row_bytes > p->caps->max_binding_bytes;
	uint32_t from = kit_in(p, 0), last = x->rank, order[PCTL_RANK_MAX], to;
	pctl_tensor_type turned = *x;
	char text[64];

	while (last > 0 && a->mask >> (last - 1) & 1)
		last--;
	/* Rows that lie side by side and fit are the host's to cut. */
	if (p->status != PCTL_OK || !tensor_is_larger(p, a) || a->count == 1 ||
	    (!large && (a->mask & ((1u << last) - 1)) == 0))
		return 0;
	if (large && (shaped || a->count > ROWS_MAX || row_bytes % 4 != 0 || width % 4 != 0))
		return 0;
	if (p->through != 0) {
		p->status = PCTL_E_UNSUPPORTED;
		return 1;
	}
	if ((a->mask & ((1u << last) - 1)) != 0) {
		order_of(x->rank, a->mask, 0, text, order);
		for (uint32_t d = 0; d < x->rank; d++)
			turned.dim[d] = x->dim[order[d]];
		from = kit_temp(p, (kit_bytes(x) + 3) / 4 * 4);
		turn(p, kit_in(p, 0), x, from, &turned, text);
	}
	if (large) {
		row_by_row(p, a, from, width);
	} else if (!shaped) {
		over_rows(p, from, &rows, kit_out(p, 0), &results);
	} else {
		to = kit_temp(p, (kit_bytes(x) + 3) / 4 * 4);
		over_rows(p, from, &rows, to, &rows);
		order_of(x->rank, a->mask, 1, text, order);
		turn(p, to, &turned, kit_out(p, 0), x, text);
	}
	return 1;
}
