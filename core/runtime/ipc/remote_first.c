/* First runs. Some drivers compile a program when it is first dispatched, in a submit that looks like any other, and whatever a
 * plugin says of its own driver is a claim. So the host knows which programs a worker has never run to the end, and a submit
 * that holds one of them has the limits of a first run: the clock, and the memory of a build. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/clock.h"
#include "foundation/base/vec.h"
#include "runtime/ipc/remote_private.h"

static int has_run(const pctl_remote *r, uint32_t serial)
{
	return serial / 8 < r->n_ran && (r->ran[serial / 8] >> serial % 8 & 1);
}

static int set_run(pctl_remote *r, uint32_t serial)
{
	while (r->n_ran <= serial / 8) {
		if (!pctl_vec_reserve((void **)&r->ran, r->n_ran, &r->cap_ran, 1))
			return 0;
		r->ran[r->n_ran++] = 0;
	}
	r->ran[serial / 8] |= (uint8_t)(1u << serial % 8);
	return 1;
}

int pctl_remote_first_note(remote_object *list, const remote_object *kernel)
{
	uint32_t i;

	for (i = 0; i < list->n_fresh && list->fresh[i] != kernel->serial; i++)
		;
	if (i < list->n_fresh || has_run(list->r, kernel->serial))
		return 1;
	if (!pctl_vec_reserve((void **)&list->fresh, list->n_fresh, &list->cap_fresh,
			      sizeof(*list->fresh)))
		return 0;
	list->fresh[list->n_fresh++] = kernel->serial;
	return 1;
}

int pctl_remote_first_has(const remote_object *list)
{
	for (uint32_t i = 0; i < list->n_fresh; i++)
		if (!has_run(list->r, list->fresh[i]))
			return 1;
	return 0;
}

int pctl_remote_first_begin(const remote_object *list, uint64_t ticket)
{
	pctl_remote *r = list->r;
	remote_first f = {.ticket = ticket, .begin_ms = pctl_clock_ms(), .n = list->n_fresh};

	if (!pctl_remote_first_has(list))
		return 1;
	f.next_poll_ms = f.begin_ms + PCTL_PATIENCE_POLL_MS;
	f.kernels = malloc(f.n * sizeof(*f.kernels));
	if (!f.kernels || !pctl_vec_reserve((void **)&r->firsts, r->n_firsts, &r->cap_firsts,
					    sizeof(*r->firsts))) {
		free(f.kernels);
		return 0;
	}
	memcpy(f.kernels, list->fresh, f.n * sizeof(*f.kernels));
	r->firsts[r->n_firsts++] = f;
	return 1;
}

remote_first *pctl_remote_first_of(pctl_remote *r, uint64_t ticket)
{
	for (uint32_t i = 0; i < r->n_firsts; i++)
		if (r->firsts[i].ticket == ticket)
			return &r->firsts[i];
	return NULL;
}

void pctl_remote_first_end(pctl_remote *r, uint64_t ticket, int well)
{
	remote_first *f = pctl_remote_first_of(r, ticket);

	/* Who could not be noted is looked at once more: no harm. */
	for (uint32_t i = 0; f && well && i < f->n; i++)
		(void)set_run(r, f->kernels[i]);
	if (f) {
		free(f->kernels);
		*f = r->firsts[--r->n_firsts];
	}
	/* What was submitted behind it only begins now. */
	for (uint32_t i = 0; i < r->n_firsts; i++)
		r->firsts[i].begin_ms = pctl_clock_ms();
}

void pctl_remote_first_drop(pctl_remote *r)
{
	for (uint32_t i = 0; i < r->n_firsts; i++)
		free(r->firsts[i].kernels);
	free(r->firsts);
	free(r->ran);
}
