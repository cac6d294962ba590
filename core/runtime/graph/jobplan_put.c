/* An op put into a plan that somebody else makes, over ranges of its buffers: a step of a machine. Outputs may lie in inputs' places. */
#include "runtime/graph/jobplan_private.h"

#include <stdlib.h>
#include <string.h>

static int is_same(const pctl_plan_slot *a, const pctl_plan_slot *b)
{
	return a->buffer == b->buffer && a->offset == b->offset && a->n_bytes == b->n_bytes &&
	       a->n_bytes != 0;
}

/* What is declared and given. Two outputs of one place find each other as ranges that a kernel writes and binds twice. */
static void find_places(struct pctl_frame *f, const pctl_op_query *q)
{
	const pctl_op_desc *desc = f->op->desc;

	f->n_in = q->n_in;
	f->n_out = desc->n_out;
	for (uint32_t i = 0; i < desc->n_out; i++) {
		const uint32_t place = PCTL_PORT_PLACE(desc->out[i].flags);

		if (place != 0 && place <= q->n_in &&
		    is_same(&f->slots[place - 1], &f->slots[q->n_in + i]))
			f->places[i] = (uint8_t)place;
	}
}

int pctl_frame_is_placed(const struct pctl_frame *f, uint32_t local)
{
	for (uint32_t i = 0; i < f->n_out; i++)
		if (f->places[i] != 0 && f->places[i] - 1u == local)
			return 1;
	return 0;
}

int pctl_frame_is_input(const struct pctl_frame *f, uint32_t local, uint64_t offset,
			uint64_t n_bytes)
{
	const uint64_t begin = f->slots[local].offset + offset, end = begin + n_bytes;
	const uint32_t i = local - f->n_in;
	const uint32_t place = local >= f->n_in && i < f->n_out ? f->places[i] : 0;

	for (uint32_t k = 0; k < f->n_in; k++) {
		const pctl_plan_slot *in = &f->slots[k];

		if (k + 1 != place && in->buffer == f->slots[local].buffer &&
		    begin < in->offset + in->n_bytes && in->offset < end)
			return 1;
	}
	return 0;
}

void pctl_frame_touch(struct pctl_frame *f, uint32_t local)
{
	if (local >= f->n_in && local - f->n_in < f->n_out)
		f->touched[local - f->n_in] = 1;
}

int pctl_frame_copy_falls_away(const struct pctl_frame *f, uint32_t from, uint64_t from_offset,
			       uint32_t to, uint64_t to_offset)
{
	const uint32_t i = to - f->n_in;

	if (to < f->n_in || i >= f->n_out || f->places[i] == 0 || f->places[i] - 1u != from ||
	    from_offset != to_offset)
		return 0;
	return f->touched[i] ? -1 : 1;
}

pctl_status pctl_job_plan_put(const pctl_planner *planner, const pctl_op_ref *op,
			      const pctl_op_query *q, const pctl_plan_slot *slots, uint32_t n_slots,
			      uint32_t flags, const pctl_call *call, pctl_job_plan *plan)
{
	const int is_kept = (flags & PCTL_PUT_KEPT) != 0;
	struct pctl_frame f = {.planner = planner,
			       .plan = plan,
			       .op = op,
			       .call = call,
			       .depth = 1,
			       .within = (flags & (PCTL_PUT_KEPT | PCTL_PUT_ASSERTS)) == 0,
			       .flags = PCTL_PLAN_RUN};
	pctl_status status = PCTL_OK;
	uint32_t local;

	/* Of a plan that is made once, each op has what a job's has. */
	if (is_kept)
		((struct pctl_growing_plan *)plan)->n_commands = 0;
	for (uint32_t i = 0; status == PCTL_OK && i < n_slots; i++)
		status = pctl_frame_map_slot(&f, &slots[i], &local);
	if (status == PCTL_OK) {
		find_places(&f, q);
		status = pctl_frame_run_op(&f, q);
	}
	free(f.slots);
	return status;
}
