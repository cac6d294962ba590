/* Cutting a resident run's commands into segments: as many commands, in their order, as have their streamed inputs in the slot side by side.
 * An input that is in the slot already is not put there again before the segment ends. */
#include <stdlib.h>

#include "foundation/base/num.h"
#include "runtime/exec/resident_private.h"

/* in: of each span the segment, from 1 on, in whose slot it lies. */
struct cutting {
	pctl_resident *r;
	uint32_t *in;
	uint64_t slot, used;
	uint32_t segment, n_uploads;
};

static uint64_t room_of(const pctl_resident *r, uint32_t span)
{
	return pctl_num_align(r->spans[span].n_bytes, pctl_resident_alignment(r));
}

/* 1: range i of the command is the first that names this streamed input. */
static int is_streamed(const pctl_resident *r, const pctl_resident_command *c, uint32_t i)
{
	if (!r->spans[c->ranges[i].span].is_streamed)
		return 0;
	for (uint32_t k = 0; k < i; k++)
		if (c->ranges[k].span == c->ranges[i].span)
			return 0;
	return 1;
}

uint64_t pctl_resident_slot_of(const pctl_resident *r, const pctl_resident_command *c)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < c->n_ranges; i++)
		if (is_streamed(r, c, i))
			(void)pctl_num_add(sum, room_of(r, c->ranges[i].span), &sum);
	return sum;
}

static uint64_t missing(const struct cutting *x, const pctl_resident_command *c)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < c->n_ranges; i++)
		if (is_streamed(x->r, c, i) && x->in[c->ranges[i].span] != x->segment)
			(void)pctl_num_add(sum, room_of(x->r, c->ranges[i].span), &sum);
	return sum;
}

static void put(struct cutting *x, const pctl_resident_command *c, int makes, uint64_t *bytes)
{
	for (uint32_t i = 0; i < c->n_ranges; i++) {
		const uint32_t span = c->ranges[i].span;

		if (!is_streamed(x->r, c, i) || x->in[span] == x->segment)
			continue;
		x->in[span] = x->segment;
		if (makes)
			x->r->uploads[x->n_uploads] =
				(pctl_resident_upload){.span = span, .at = x->used};
		x->n_uploads++;
		x->used += room_of(x->r, span);
		*bytes += pctl_value_bytes(x->r->run.inputs[x->r->spans[span].number]);
	}
}

/* makes 0: only count. */
static void cut(struct cutting *x, int makes, uint64_t *bytes)
{
	pctl_resident *r = x->r;

	*bytes = 0;
	x->segment = 1;
	for (uint32_t i = 0; i < r->n_commands; i++) {
		const pctl_resident_command *c = &r->commands[i];
		const uint64_t need = missing(x, c);

		if (need > x->slot - x->used) {
			x->segment++;
			x->used = 0;
			if (makes)
				r->segments[x->segment - 1] = (pctl_resident_segment){
					.first = i, .first_upload = x->n_uploads};
		}
		put(x, c, makes, bytes);
		if (makes) {
			r->segments[x->segment - 1].n++;
			r->segments[x->segment - 1].n_uploads =
				x->n_uploads - r->segments[x->segment - 1].first_upload;
		}
	}
}

pctl_status pctl_resident_count_segments(pctl_resident *r, uint64_t slot, uint64_t *bytes,
					 uint32_t *segments)
{
	struct cutting x = {.r = r, .slot = slot, .in = calloc(r->n_spans + 1u, sizeof(*x.in))};

	if (x.in == NULL)
		return pctl_no_memory(r->call, "a resident run");
	cut(&x, 0, bytes);
	*segments = x.segment;
	free(x.in);
	return PCTL_OK;
}

pctl_status pctl_resident_cut(pctl_resident *r, uint64_t slot)
{
	struct cutting count = {.r = r,
				.slot = slot,
				.in = calloc(r->n_spans + 1u, sizeof(*count.in))},
		       make = {.r = r,
			       .slot = slot,
			       .in = calloc(r->n_spans + 1u, sizeof(*make.in))};
	pctl_status status = PCTL_OK;

	free(r->segments);
	free(r->uploads);
	r->segments = NULL;
	r->uploads = NULL;
	r->n_segments = r->n_uploads = 0;
	if (count.in != NULL)
		cut(&count, 0, &r->streamed_bytes);
	r->segments = calloc(count.segment + 1u, sizeof(*r->segments));
	r->uploads = calloc(count.n_uploads + 1u, sizeof(*r->uploads));
	if (count.in == NULL || make.in == NULL || r->segments == NULL || r->uploads == NULL) {
		status = pctl_no_memory(r->call, "a resident run");
	} else {
		cut(&make, 1, &r->streamed_bytes);
		r->n_segments = make.segment;
		r->n_uploads = make.n_uploads;
	}
	free(count.in);
	free(make.in);
	return status;
}
