/* Reductions of what is more than a binding and cannot be cut where it lies: turned, so that what is reduced lies side by side, and then by the op
 * itself over rows, which the host cuts (SEMANTICS.md 17.3); or some rows at a time, where it has no cut. */
#include <stdio.h>

#include "reduce_axes.h"

#define PARTS_MAX 1024u

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

/* Some rows at a time, copied to where they begin as a binding may: where the host has no cut, for a result is less than what bindings begin with, or a row is more than
 * a binding. Each part is a multiple of words but the last, behind which its buffers have zeros. */
static void some_rows(kit_plan *p, const tensor_axes *a, uint32_t from, uint32_t to, uint64_t each,
		      const uint64_t row_bytes[2], int shaped)
{
	const uint32_t dtype = p->use->q->in[0].dtype;

	for (uint64_t first = 0; first < a->count && p->status == PCTL_OK; first += each) {
		const uint64_t n = a->count - first < each ? a->count - first : each;
		const uint64_t in_bytes = (n * row_bytes[0] + 3) / 4 * 4,
			       out_bytes = (n * row_bytes[1] + 3) / 4 * 4;
		const pctl_tensor_type rows = {dtype, 2, {n, a->terms}};
		const pctl_tensor_type results = {a->out.dtype, 1, {n}};
		const uint32_t part = kit_temp(p, in_bytes), made = kit_temp(p, out_bytes);

		kit_copy(p, from, first * row_bytes[0], part, 0, in_bytes);
		over_rows(p, part, &rows, made, shaped ? &rows : &results);
		kit_copy(p, made, 0, to, first * row_bytes[1], out_bytes);
	}
}

int tensor_rows_apart(kit_plan *p, const tensor_axes *a, int shaped)
{
	const pctl_tensor_type *x = &p->use->q->in[0];
	const uint64_t width = kit_dtype_bytes(a->out.dtype), most = p->caps->max_binding_bytes;
	const uint64_t row_bytes[2] = {a->terms * kit_dtype_bytes(x->dtype),
				       shaped ? a->terms * width : width};
	const uint64_t unit = width < 4 ? 4 / width : 1;
	const pctl_tensor_type rows = {x->dtype, 2, {a->count, a->terms}};
	const pctl_tensor_type results = {a->out.dtype, 1, {a->count}};
	uint32_t from = kit_in(p, 0), last = x->rank, order[PCTL_RANK_MAX], to = kit_out(p, 0);
	pctl_tensor_type turned = *x;
	uint64_t each = 1;
	char text[64];
	int in_order;

	while (last > 0 && a->mask >> (last - 1) & 1)
		last--;
	in_order = (a->mask & ((1u << last) - 1)) == 0;
	if (p->status != PCTL_OK || !tensor_is_larger(p, a) || a->count == 1)
		return 0;
	if (row_bytes[0] <= most)
		each = most / row_bytes[0] / unit * unit;
	/* Rows in order that fit come here where the host has no cut for them. */
	if ((in_order || row_bytes[0] > most) &&
	    (each % unit != 0 || each == 0 || (a->count - 1) / each >= PARTS_MAX ||
	     (shaped && row_bytes[0] > most)))
		return 0;
	if (p->through != 0) {
		p->status = PCTL_E_UNSUPPORTED;
		return 1;
	}
	if (!in_order) {
		order_of(x->rank, a->mask, 0, text, order);
		for (uint32_t d = 0; d < x->rank; d++)
			turned.dim[d] = x->dim[order[d]];
		from = kit_temp(p, (kit_bytes(x) + 3) / 4 * 4);
		turn(p, kit_in(p, 0), x, from, &turned, text);
		to = shaped ? kit_temp(p, (kit_bytes(x) + 3) / 4 * 4) : to;
	}
	if (in_order || row_bytes[0] > most)
		some_rows(p, a, from, to, each, row_bytes, shaped);
	else
		over_rows(p, from, &rows, to, shaped ? &rows : &results);
	if (to != kit_out(p, 0)) {
		order_of(x->rank, a->mask, 1, text, order);
		turn(p, to, &turned, kit_out(p, 0), x, text);
	}
	return 1;
}
