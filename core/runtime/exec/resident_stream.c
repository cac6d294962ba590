/* Streaming: constant inputs for which there is no place on the device come to it in each step, into one slot, before the commands that read
 * them are submitted. There is one slot and not two, because nothing may be written while a submit is under way (backend.h): a second one
 * would hold bytes back from what stays, and hide nothing.
 *
 * What is put there is what was verified: the bytes are copied to the host's memory once, hashed against their CID as they are read, and come
 * from that copy in every step; where the copies would be more than half of the host's memory, an input is read from its file each time
 * and hashed again (PC5210 before a command sees them), so that a file that changes under the run is never taken for what it was. */
#include <unistd.h>

#include "foundation/base/num.h"
#include "runtime/exec/resident_private.h"

static uint64_t host_share(void)
{
	const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	return pages <= 0 || size <= 0 ? 0 : (uint64_t)pages / 2 * (uint64_t)size;
}

pctl_status pctl_resident_hold(pctl_resident *r)
{
	const uint64_t most = host_share();
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < r->n_spans; i++) {
		const uint8_t *data;
		pctl_value *v;

		if (!r->spans[i].is_streamed)
			continue;
		v = r->run.inputs[r->spans[i].number];
		if (v->host != NULL || v->n_bytes > most - r->family->held_bytes)
			continue;
		status = pctl_value_hold(v, r->call, &data);
		if (status == PCTL_OK)
			r->family->held_bytes += v->n_bytes;
	}
	return status;
}

void pctl_resident_settle_segment(pctl_resident *r, const pctl_resident_segment *g)
{
	for (uint32_t i = 0; i < g->n_uploads; i++) {
		const pctl_resident_upload *u = &r->uploads[g->first_upload + i];

		r->spans[u->span].buffer = r->family->slot;
		r->spans[u->span].base = u->at;
	}
}

struct upload {
	const pctl_resident *r;
	uint64_t base;
};

static pctl_status upload_piece(void *ctx, uint64_t offset, const void *data, uint64_t n)
{
	const struct upload *u = ctx;

	return u->r->t->buffer_write(u->r->dev, u->r->call, u->r->family->slot, u->base + offset,
				     data, n);
}

pctl_status pctl_resident_upload_segment(pctl_resident *r, const pctl_resident_segment *g)
{
	static const uint8_t none[4] = {0};
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < g->n_uploads; i++) {
		const pctl_resident_upload *at = &r->uploads[g->first_upload + i];
		pctl_value *v = r->run.inputs[r->spans[at->span].number];
		struct upload u = {r, at->at};

		status = pctl_value_stream(v, r->call, upload_piece, &u);
		/* What pads it is zero, in a place where other inputs were. */
		if (status == PCTL_OK && v->n_bytes % 4 != 0)
			status = upload_piece(&u, v->n_bytes, none, 4 - v->n_bytes % 4);
	}
	return status;
}
