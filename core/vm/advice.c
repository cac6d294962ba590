/* Loops 1 and 3 of the regulator: memory pressure and throughput, told to the host and to nobody else (SEMANTICS.md 9.8). */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/order.h"
#include "foundation/diag/diag.h"
#include "vm/private.h"

static void read_clock(const pctl_machine_program *p, pctl_machine_advice *out)
{
	const pctl_kept_plan_stats *s = pctl_machine_stats(p);
	uint64_t sorted[PCTL_KEPT_MARKS], most = 0;

	for (uint32_t i = 0; i + 1u < s->n_stamps; i++)
		out->ticks[out->n_ticks++] =
			s->stamps[i + 1u] < s->stamps[i] ? 0 : s->stamps[i + 1u] - s->stamps[i];
	if (out->n_ticks < 3)
		return;
	memcpy(sorted, out->ticks, sizeof(sorted));
	qsort(sorted, out->n_ticks, sizeof(*sorted), pctl_order_u64);
	for (uint32_t i = 0; i < out->n_ticks; i++) {
		if (out->ticks[i] <= most || out->ticks[i] / 2u <= sorted[out->n_ticks / 2u])
			continue;
		most = out->ticks[i];
		out->slow = i;
	}
}

static pctl_status find_evict(pctl_machine *m, const pctl_call *call, uint32_t *out)
{
	float most = 0.0f;

	*out = 0; /* the oldest */
	for (uint32_t i = 0; i < m->desc.instances; i++) {
		const pctl_machine_range r = {PCTL_MACHINE_CONTROL, i, 0, 0, 4, 4};
		float priority;
		pctl_status status = pctl_machine_read(m, &r, &priority, call);

		if (status != PCTL_OK)
			return status;
		if (priority > most) {
			most = priority;
			*out = i;
		}
	}
	return PCTL_OK;
}

pctl_status pctl_machine_advise(pctl_machine *m, const pctl_machine_program *p,
				const pctl_call *call, pctl_machine_advice *out)
{
	const pctl_device_caps *caps = pctl_session_caps(m->sides[SIDE_DEVICE].device.session);

	memset(out, 0, sizeof(*out));
	out->evict = out->prefetch = out->slow = UINT32_MAX;
	out->used_bytes = m->used_bytes;
	out->budget_bytes = m->o.budget_bytes != 0 ? m->o.budget_bytes : caps->memory_bytes;
	if (p != NULL)
		read_clock(p, out);
	out->pressed = out->budget_bytes != 0 &&
		       out->used_bytes > out->budget_bytes - out->budget_bytes / 10u;
	if (out->pressed)
		return find_evict(m, call, &out->evict);
	out->prefetch = 0; /* runs next */
	return PCTL_OK;
}
