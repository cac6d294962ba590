/* Kernels of a session are bounded where programs come from strangers: least recently used first. */
#include <stdlib.h>

#include "foundation/base/order.h"
#include "runtime/exec/session_private.h"

uint32_t pctl_session_kernels_kept(const pctl_session *s)
{
	return pctl_map_count(s->kernels);
}

static int stays(const struct pctl_session_built *b)
{
	return b->is_foreseen || b->contract_asked || b->contract != NULL;
}

/* The number of questions up to which kernels go. */
static pctl_status oldest(const pctl_session *s, uint32_t n_gone, const pctl_call *call,
			  uint64_t *out)
{
	const uint32_t n = pctl_map_count(s->kernels);
	uint64_t *uses = calloc(n, sizeof(*uses));

	if (uses == NULL)
		return pctl_no_memory(call, "kernels");
	for (uint32_t i = 0; i < n; i++)
		uses[i] =
			((const struct pctl_session_built *)pctl_map_value_at(s->kernels, i))->used;
	qsort(uses, n, sizeof(*uses), pctl_order_u64);
	*out = uses[n_gone - 1];
	free(uses);
	return PCTL_OK;
}

pctl_status pctl_session_forget_kernels(pctl_session *s, uint32_t most, const pctl_call *call)
{
	const uint32_t n = pctl_map_count(s->kernels);
	pctl_map *left;
	uint64_t until = 0;
	pctl_status status;
	int ok = 1;

	if (n <= most)
		return PCTL_OK;
	status = oldest(s, n - most / 2, call, &until);
	if (status != PCTL_OK)
		return status;
	left = pctl_map_create();
	ok = left != NULL;
	for (uint32_t i = 0; ok && i < n; i++) {
		struct pctl_session_built *b = pctl_map_value_at(s->kernels, i);

		if (b->used > until || stays(b))
			ok = pctl_map_put(left, pctl_map_key_at(s->kernels, i), b);
	}
	if (!ok) {
		pctl_map_destroy(left);
		return pctl_no_memory(call, "kernels");
	}
	for (uint32_t i = 0; i < n; i++) {
		struct pctl_session_built *b = pctl_map_value_at(s->kernels, i);

		if (b->used <= until && !stays(b))
			pctl_session_drop_built(s, b);
	}
	pctl_map_destroy(s->kernels);
	s->kernels = left;
	return PCTL_OK;
}
