/* The small inputs of steps that were made, and the CIDs of what was read, for a check that comes later. */
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/resident_private.h"

void pctl_resident_forget(pctl_resident_family *f)
{
	for (uint64_t i = 0; f->past != NULL && i < f->room; i++) {
		free(f->past[i].in);
		free(f->past[i].cids);
	}
	free(f->past);
	f->past = NULL;
	f->room = 0;
	f->forgot = 1;
	f->history_used = 0;
}

/* Room for one more, of which all that is not used is zero. */
static int make_room(pctl_resident_family *f)
{
	const uint64_t room = f->room == 0 ? 64 : 2 * (uint64_t)f->room;
	pctl_resident_past *grown;

	if (f->n_steps < f->room)
		return 1;
	if (room > UINT32_MAX)
		return 0;
	grown = realloc(f->past, room * sizeof(*grown));
	if (grown == NULL)
		return 0;
	memset(grown + f->room, 0, (room - f->room) * sizeof(*grown));
	f->past = grown;
	f->room = (uint32_t)room;
	return 1;
}

static uint64_t in_bytes(const pctl_resident *r)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < r->n_changing; i++)
		sum += r->in[i].n_bytes;
	return sum;
}

/* Without memory for it, or over the bound, there is no history any more: a step does not fail for that. */
void pctl_resident_remember(pctl_resident *r, const pctl_cid *cids)
{
	pctl_resident_family *f = r->family;
	const uint64_t n = in_bytes(r),
		       more = n + r->n_reads * sizeof(*cids) + sizeof(pctl_resident_past);
	pctl_resident_past *p;

	if (f->forgot)
		return;
	if (more > f->history_bytes - f->history_used || !make_room(f)) {
		pctl_resident_forget(f);
		return;
	}
	p = &f->past[f->n_steps];
	p->maker = r->number;
	p->in = malloc(n + 1);
	p->cids = malloc(r->n_reads * sizeof(*cids) + 1);
	if (p->in == NULL || p->cids == NULL) {
		pctl_resident_forget(f);
		return;
	}
	for (uint32_t i = 0, at = 0; i < r->n_changing; at += (uint32_t)r->in[i++].n_bytes)
		if (r->in[i].n_bytes != 0)
			memcpy(p->in + at, r->in[i].data, r->in[i].n_bytes);
	if (r->n_reads != 0)
		memcpy(p->cids, cids, r->n_reads * sizeof(*cids));
	f->history_used += more;
}
