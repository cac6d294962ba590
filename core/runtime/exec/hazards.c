/* Hazards between commands; see hazards.h. */
#include "runtime/exec/hazards.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"

static int overlap(const pctl_touched *a, const pctl_touched *b)
{
	return a->buffer == b->buffer && pctl_num_overlap(a->from, a->n_bytes, b->from, b->n_bytes);
}

int pctl_hazards_meet(const pctl_hazards *h, const pctl_touched *accesses, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < h->n; k++)
			if ((accesses[i].writes || h->since[k].writes) &&
			    overlap(&accesses[i], &h->since[k]))
				return 1;
	return 0;
}

pctl_status pctl_hazards_note(pctl_hazards *h, const pctl_touched *accesses, uint32_t n,
			      const pctl_call *call)
{
	if (n == 0)
		return PCTL_OK;
	if (h->room - h->n < n) {
		const uint32_t room = 2 * h->room + n + 16;
		pctl_touched *grown = realloc(h->since, room * sizeof(*grown));

		if (grown == NULL)
			return pctl_no_memory(call, "commands");
		h->since = grown;
		h->room = room;
	}
	memcpy(h->since + h->n, accesses, n * sizeof(*accesses));
	h->n += n;
	return PCTL_OK;
}

void pctl_hazards_clear(pctl_hazards *h)
{
	h->n = 0;
}

void pctl_hazards_drop(pctl_hazards *h)
{
	free(h->since);
	*h = (pctl_hazards){NULL, 0, 0};
}
