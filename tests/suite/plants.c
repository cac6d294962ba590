/* See plants.h. Reads are where bytes go wrong: what a read of a whole buffer gives is changed in its array. */
#include "plants.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST 64u

static struct {
	const pctl_backend *real;
	pctl_backend table;
	const pctl_device *first; /* that was read from */
	pctl_device *device;	  /* that lists are recorded on */
	uint32_t which, opened, submits, reads, dispatches, n_bound;
	/* what dispatches since list_begin bind: where in a buffer its array lies */
	pctl_binding bound[MOST];
	time_t skipped; /* seconds */
	/* what the reads of the submit before gave, in their order */
	struct {
		uint8_t *data;
		uint64_t n;
	} old[MOST];
} plant;

void plant_choose(uint32_t which)
{
	for (uint32_t i = 0; i < MOST; i++)
		free(plant.old[i].data);
	memset(&plant, 0, sizeof(plant));
	plant.which = which;
}

/* The array in a buffer, in whole words; NULL: it is bound nowhere. */
static const pctl_binding *array_of(const pctl_buffer *buf)
{
	for (uint32_t i = 0; i < plant.n_bound; i++)
		if (plant.bound[i].buffer == buf)
			return &plant.bound[i];
	return NULL;
}

static void answer_old(uint8_t *data, uint64_t n)
{
	uint8_t *kept = malloc(n);
	const uint32_t at = plant.reads % MOST;

	if (kept == NULL)
		return;
	memcpy(kept, data, n);
	if (plant.old[at].data != NULL && plant.old[at].n == n)
		memcpy(data, plant.old[at].data, n);
	free(plant.old[at].data);
	plant.old[at].data = kept;
	plant.old[at].n = n;
}

/* One word wrong somewhere in the middle, where it differs from its neighbour. */
static void change(uint32_t *w, uint64_t n)
{
	for (uint64_t i = n / 2; i + 1 < n; i++) {
		const uint32_t a = w[i], b = w[i + 1];

		if (a == b || a == 0 || b == 0)
			continue;
		if (plant.which == PLANT_DROP)
			w[i] = 0;
		if (plant.which != PLANT_DROP)
			w[i] = b;
		if (plant.which == PLANT_REORDER)
			w[i + 1] = a;
		return;
	}
}

/* Of a whole buffer, so that its array begins where it is bound. */
static pctl_status plant_read(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
			      uint64_t offset, void *data, uint64_t n)
{
	pctl_status status = plant.real->buffer_read(dev, call, buf, offset, data, n);
	const pctl_binding *b = array_of(buf);
	const uint64_t inner = b == NULL ? 0 : b->n_bytes / 4;
	uint32_t *words = b == NULL ? NULL : (uint32_t *)(void *)((uint8_t *)data + b->offset);

	if (status != PCTL_OK || b == NULL)
		return status;
	if (plant.which == PLANT_GUARD && b->offset + inner * 4 < n)
		((uint8_t *)data)[n - 4] ^= 1;
	if (plant.which == PLANT_OLD)
		answer_old((uint8_t *)words, inner * 4);
	if ((plant.which == PLANT_DROP || plant.which == PLANT_TWICE ||
	     plant.which == PLANT_REORDER || plant.which == PLANT_ATOMIC) &&
	    inner > 1)
		change(words, inner);
	if (plant.which == PLANT_FLIP && plant.submits % 7 == 3 && inner != 0)
		words[inner / 2] ^= 1u << 19;
	if (plant.first == NULL)
		plant.first = dev;
	if (plant.which == PLANT_RESTART && dev != plant.first && inner != 0)
		words[0] ^= 1;
	plant.reads++;
	return PCTL_OK;
}

/* As if data had gone up with every member after the first four bytes further on. */
static void lay_out_wrong(const pctl_call *call, const pctl_binding *b)
{
	const uint64_t n = b->n_bytes / 4 * 4;
	uint8_t *moved = n <= 8 ? NULL : malloc(n);

	if (moved == NULL)
		return;
	if (plant.real->buffer_read(plant.device, call, b->buffer, b->offset, moved, n) ==
	    PCTL_OK) {
		memmove(moved + 8, moved + 4, n - 8);
		(void)plant.real->buffer_write(plant.device, call, b->buffer, b->offset, moved, n);
	}
	free(moved);
}

static void note_bound(const pctl_call *call, const pctl_binding *b)
{
	if (array_of(b->buffer) != NULL || plant.n_bound == MOST)
		return;
	plant.bound[plant.n_bound++] = *b;
	if (plant.which == PLANT_LAYOUT)
		lay_out_wrong(call, b);
}

/* Every second dispatch of a list is left out: as if it had run first, on what the others had not yet written. */
static pctl_status plant_dispatch(pctl_list *l, const pctl_call *call, pctl_kernel *k,
				  const pctl_binding *bindings, uint32_t n,
				  const uint32_t groups[3])
{
	for (uint32_t i = 0; i < n; i++)
		note_bound(call, &bindings[i]);
	if (plant.which == PLANT_NO_BARRIER && plant.dispatches++ % 2 == 1)
		return PCTL_OK;
	return plant.real->list_dispatch(l, call, k, bindings, n, groups);
}

static pctl_status plant_begin(pctl_device *dev, const pctl_call *call, pctl_list **out)
{
	plant.dispatches = plant.n_bound = 0;
	plant.device = dev;
	return plant.real->list_begin(dev, call, out);
}

static pctl_status plant_submit(pctl_device *dev, const pctl_call *call, pctl_list *l,
				uint32_t times, uint64_t *ticket)
{
	plant.submits++;
	plant.reads = 0;
	if (plant.which == PLANT_LOST && plant.opened == 1 && plant.submits == 3)
		return PCTL_E_DEVICE_LOST;
	return plant.real->submit(dev, call, l, times, ticket);
}

static pctl_status plant_wait(pctl_device *dev, const pctl_call *call, uint64_t ticket,
			      uint64_t timeout_ns, pctl_completion *out)
{
	if (plant.which != PLANT_STUCK || plant.opened != 1 || plant.submits != 3)
		return plant.real->wait(dev, call, ticket, timeout_ns, out);
	plant.skipped += 60;
	return PCTL_OK;
}

/* The clock of this program, ahead by what a plant has let pass. */
time_t time(time_t *out)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec += plant.skipped;
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}

const pctl_backend *plant_wrap(const pctl_backend *real, uint32_t opened)
{
	plant.real = real;
	plant.opened = opened + 1;
	plant.submits = 0;
	plant.table = *real;
	plant.table.buffer_read = plant_read;
	plant.table.list_dispatch = plant_dispatch;
	plant.table.list_begin = plant_begin;
	plant.table.submit = plant_submit;
	plant.table.wait = plant_wait;
	return &plant.table;
}
