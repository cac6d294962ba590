/* What kernels may only read, read back: a device that lost an upload, or wrote where nothing may write, is named before
 * its outputs are judged. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/exec/job_private.h"
#include "runtime/exec/readback.h"

struct held {
	struct pctl_job_running *r;
	pctl_buffer *buffer;
	uint8_t *piece;
	uint64_t base;
	uint32_t number; /* of the plan's buffer */
	char name[160];
};

/* The first kernel that binds the buffer, as "kernel K, group G binding B"; an input that is only copied has none. */
static void name_span(struct held *h)
{
	const pctl_job_plan *plan = h->r->plan;

	snprintf(h->name, sizeof(h->name), "%s %" PRIu32,
		 plan->buffers[h->number].kind == PCTL_PLAN_INPUT ? "input" : "parameters",
		 plan->buffers[h->number].kind == PCTL_PLAN_INPUT
			 ? h->number
			 : h->number - plan->n_in - plan->n_out);
	for (uint32_t i = 0; i < plan->n_steps; i++) {
		const pctl_step *step = &plan->steps[i];

		for (uint32_t k = 0; step->kind == PCTL_STEP_KERNEL && k < step->n_bindings; k++) {
			if (step->bindings[k].buffer != h->number)
				continue;
			snprintf(h->name, sizeof(h->name),
				 "group %" PRIu32 " binding %" PRIu32 " of kernel %.80s",
				 step->bindings[k].group, step->bindings[k].binding,
				 step->unit->name);
			return;
		}
	}
}

static pctl_status compare_piece(void *ctx, uint64_t offset, const void *data, uint64_t n)
{
	const struct held *h = ctx;
	const pctl_readback w = {h->r->s, h->r->call, h->r->what, h->name, 0};
	const pctl_status status =
		pctl_readback_fill(h->r->s, h->r->call, h->buffer, h->base + offset, h->piece, n);

	return status == PCTL_OK ? pctl_readback_held(&w, h->piece, data, n, offset) : status;
}

pctl_status pctl_job_check_held(struct pctl_job_running *r, pctl_value *const *in)
{
	const pctl_job_plan *plan = r->plan;
	struct held h = {.r = r, .piece = malloc(PCTL_SOURCE_PIECE)};
	pctl_status status = h.piece == NULL ? pctl_no_memory(r->call, "a job") : PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < plan->n_buffers; i++) {
		const pctl_plan_buffer *b = &plan->buffers[i];
		const uint8_t *data = b->data;

		if (i < plan->n_in && pctl_job_is_overwritten(r, i))
			continue;
		h.number = i;
		h.buffer = i < plan->n_in ? r->inputs[i] : r->own[i];
		h.base = i < plan->n_in			 ? r->lie[i].before
			 : b->kind == PCTL_PLAN_CONSTANT ? 0
							 : r->shape.before;
		name_span(&h);
		if (b->kind == PCTL_PLAN_INPUT)
			status = pctl_value_stream(in[i], r->call, compare_piece, &h);
		for (uint64_t at = 0; status == PCTL_OK && b->data != NULL && at < b->n_bytes;
		     at += PCTL_SOURCE_PIECE)
			status = compare_piece(&h, at, data + at,
					       b->n_bytes - at < PCTL_SOURCE_PIECE
						       ? b->n_bytes - at
						       : PCTL_SOURCE_PIECE);
	}
	free(h.piece);
	return status;
}
