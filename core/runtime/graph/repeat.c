/* The steps of a repeat in its later turns. */
#include "runtime/graph/repeat.h"

#include <string.h>

#include "foundation/diag/diag.h"

static int is_within(const pctl_plan_slot *slot, uint32_t buffer, uint64_t offset)
{
	return slot->buffer == buffer && offset >= slot->offset &&
	       offset - slot->offset <= slot->n_bytes;
}

static void exchange(const pctl_repeat *r, uint32_t *buffer, uint64_t *offset)
{
	for (uint32_t i = 0; i < r->n_pairs; i++) {
		const pctl_plan_slot *a = &r->pairs[i].a, *b = &r->pairs[i].b;

		if (is_within(b, *buffer, *offset)) {
			a = b;
			b = &r->pairs[i].a;
		}
		if (!is_within(a, *buffer, *offset))
			continue;
		*buffer = b->buffer;
		*offset = *offset - a->offset + b->offset;
		return;
	}
}

pctl_status pctl_repeat_step(const pctl_repeat *r, uint32_t turn, const pctl_step *step,
			     pctl_arena *arena, const pctl_call *call, pctl_step *out)
{
	*out = *step;
	if (turn % 2 != 0 && step->kind != PCTL_STEP_KERNEL)
		exchange(r, &out->to, &out->to_offset);
	if (turn % 2 != 0 && step->kind == PCTL_STEP_COPY)
		exchange(r, &out->from, &out->from_offset);
	if (step->kind != PCTL_STEP_KERNEL)
		return PCTL_OK;
	out->bindings = pctl_arena_array(arena, step->n_bindings + 1u, sizeof(*out->bindings));
	if (out->bindings == NULL)
		return pctl_no_memory(call, "a plan");
	for (uint32_t i = 0; i < step->n_bindings; i++) {
		pctl_plan_binding *b = &out->bindings[i];

		*b = step->bindings[i];
		b->offset += (uint64_t)b->turn_stride * turn;
		if (turn % 2 != 0)
			exchange(r, &b->buffer, &b->offset);
	}
	return PCTL_OK;
}
