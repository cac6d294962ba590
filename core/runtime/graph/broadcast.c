/* Broadcasting of function ops: the one rule, and its refusal. */
#include "runtime/graph/broadcast.h"

#include <inttypes.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/diag/diag.h"
#include "runtime/graph/symbols.h"

int pctl_port_stretches(const pctl_op_desc *op, uint32_t port)
{
	return op->kind == PCTL_OPDEF_FUNCTION && !(op->in[port].flags & PCTL_PORT_WHOLE) &&
	       strstr(op->in[port].type, "...") != NULL;
}

int pctl_broadcast_extent(uint64_t a, uint64_t b, uint64_t *out)
{
	*out = a == 1 ? b : a;
	return a == b || a == 1 || b == 1;
}

int pctl_broadcast_shape(const pctl_tensor_type *in, uint32_t n, pctl_tensor_type *out,
			 uint32_t *bad)
{
	*out = in[0];
	for (uint32_t i = 1; i < n; i++) {
		const uint32_t rank = in[i].rank > out->rank ? in[i].rank : out->rank;
		pctl_tensor_type next = {.dtype = out->dtype, .rank = rank};

		for (uint32_t d = 0; d < rank; d++) {
			const uint32_t a = rank - out->rank, b = rank - in[i].rank;

			if (pctl_broadcast_extent(d < a ? 1 : out->dim[d - a],
						  d < b ? 1 : in[i].dim[d - b], &next.dim[d]))
				continue;
			*bad = i;
			return 0;
		}
		*out = next;
	}
	return 1;
}

pctl_status pctl_broadcast_refuse(const pctl_op_desc *op, const char *job, const pctl_pos *pos,
				  uint32_t a, const char *a_type, uint32_t b, const char *b_type,
				  const pctl_call *call)
{
	const int whole = !pctl_port_stretches(op, b);

	return pctl_refuse_at(
		call, PC4107_BROADCAST, pos,
		whole ? "give the port its full shape, by `tensor.broadcast` for instance"
		      : "shapes are aligned from the right and an extent of 1 is "
			"stretched; `tensor.reshape` puts dimensions where they belong",
		"job \"%s\": port \"%s\" is %s and port \"%s\" is %s%s", job, op->in[a].name,
		a_type, op->in[b].name, b_type,
		whole ? ", which is not stretched" : ", which do not broadcast");
}

static int same_shape(const pctl_tensor_type *a, const pctl_tensor_type *b)
{
	return a->rank == b->rank &&
	       (a->rank == 0 || memcmp(a->dim, b->dim, a->rank * sizeof(a->dim[0])) == 0);
}

static pctl_status refuse(const pctl_op_ref *op, const pctl_op_query *q, const char *job,
			  const pctl_pos *pos, uint32_t a, uint32_t b, const pctl_call *call)
{
	pctl_arena *arena = pctl_arena_create();
	const char *left = arena == NULL ? NULL : pctl_type_text(arena, &q->in[a]);
	const char *right = arena == NULL ? NULL : pctl_type_text(arena, &q->in[b]);
	pctl_status status = pctl_broadcast_refuse(op->desc, job, pos, a, left == NULL ? "?" : left,
						   b, right == NULL ? "?" : right, call);

	pctl_arena_destroy(arena);
	return status;
}

pctl_status pctl_op_operands(const pctl_op_ref *op, const pctl_op_query *q, const char *job,
			     const pctl_pos *pos, const pctl_call *call,
			     pctl_tensor_type out[PCTL_PORTS_MAX])
{
	pctl_tensor_type shape, in[PCTL_PORTS_MAX];
	uint32_t bad = 0, other = 0;

	for (uint32_t i = 0; i < q->n_in && i < PCTL_PORTS_MAX; i++)
		out[i] = q->in[i];
	if (op->desc->kind != PCTL_OPDEF_FUNCTION)
		return PCTL_OK;
	for (uint32_t i = 0; i < q->n_in && i < PCTL_PORTS_MAX; i++)
		if (!pctl_type_places(&q->in[i], pctl_port_lanes(&op->desc->in[i]), &in[i]))
			return pctl_op_symbols(op, q, NULL, job, pos, call);
	if (q->n_in < 2)
		return PCTL_OK;
	if (!pctl_broadcast_shape(in, q->n_in, &shape, &bad)) {
		pctl_tensor_type two[2] = {in[0], in[bad]}, ignored;

		/* The one that it does not go with, for the words. */
		for (; other + 1 < bad && pctl_broadcast_shape(two, 2, &ignored, &(uint32_t){0});)
			two[0] = in[++other];
		return refuse(op, q, job, pos, other, bad, call);
	}
	for (uint32_t i = 0; i < q->n_in && i < PCTL_PORTS_MAX; i++) {
		const uint32_t lanes = pctl_port_lanes(&op->desc->in[i]);

		if (same_shape(&in[i], &shape))
			continue;
		for (other = 0;
		     other + 1 < q->n_in && (other == i || !same_shape(&in[other], &shape));)
			other++;
		if (!pctl_port_stretches(op->desc, i) || shape.rank + (lanes > 1) > PCTL_RANK_MAX)
			return refuse(op, q, job, pos, other, i, call);
		out[i].rank = shape.rank;
		memcpy(out[i].dim, shape.dim, sizeof(shape.dim));
		if (lanes > 1)
			out[i].dim[out[i].rank++] = lanes;
	}
	return PCTL_OK;
}

/* The farthest element that a view reads lies in its input. */
static int view_fits(const pctl_tensor_type *in, const pctl_op_result *r)
{
	const pctl_tensor_type *t = &r->out[0];
	uint64_t last = r->view_offset, n, step;

	if (t->dtype != in->dtype || !pctl_type_elements(t, &n))
		return 0;
	for (uint32_t d = 0; d < t->rank && n != 0; d++)
		if (!pctl_num_mul(t->dim[d] - 1, r->view_stride[d], &step) ||
		    !pctl_num_add(last, step, &last))
			return 0;
	return n == 0 || (pctl_type_elements(in, &n) && last < n);
}

pctl_status pctl_op_infer(const pctl_op_ref *op, const pctl_op_query *q, const char *job,
			  const pctl_pos *pos, const pctl_call *call, pctl_op_result *out)
{
	pctl_tensor_type in[PCTL_PORTS_MAX], from, to;
	pctl_op_query asked = *q;
	pctl_status status = pctl_op_operands(op, q, job, pos, call, in);

	*out = (pctl_op_result){.head = PCTL_HEAD(pctl_op_result)};
	if (status == PCTL_OK)
		status = pctl_op_symbols(op, q, NULL, job, pos, call);
	if (status != PCTL_OK)
		return status;
	asked.in = in;
	status = op->lib->infer(op->inst, call, &asked, out);
	if (status != PCTL_OK || out->measure != NULL)
		return status;
	status = pctl_op_symbols(op, q, out->out, job, pos, call);
	if (status != PCTL_OK)
		return status;
	if (op->desc->kind == PCTL_OPDEF_FUNCTION && q->n_in != 0 &&
	    (!pctl_type_places(&in[0], pctl_port_lanes(&op->desc->in[0]), &from) ||
	     !pctl_type_places(&out->out[0], pctl_port_lanes(&op->desc->out[0]), &to) ||
	     !same_shape(&from, &to)))
		return pctl_refuse(call, PC4132_PLAN,
				   "function op \"%s\" of \"%s\" gives its output another shape "
				   "than its operands have",
				   op->desc->name, op->plugin);
	if (out->is_view && (op->desc->kind == PCTL_OPDEF_FUNCTION || op->desc->n_in != 1 ||
			     op->desc->n_out != 1 || !view_fits(&q->in[0], out)))
		return pctl_refuse(
			call, PC4132_PLAN,
			"op \"%s\" of \"%s\" says that it is a view, and would read outside "
			"its input",
			op->desc->name, op->plugin);
	return PCTL_OK;
}
