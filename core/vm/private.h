/* Inside of machines: the device, and beside it the reference where a machine is verified. */
#ifndef PIPECTL_VM_PRIVATE_H
#define PIPECTL_VM_PRIVATE_H

#include "vm/machine.h"

enum { SIDE_DEVICE = 0, SIDE_REFERENCE = 1, MOST_SIDES = 2 };

/* Memory of a machine on one session: one buffer an instance and one a part of the heap. */
struct pctl_machine_side {
	pctl_open_device device;
	pctl_buffer **registers, **heap;
	pctl_buffer *metrics, *control, *globals, *counts;
};

struct pctl_machine {
	pctl_machine_options o;
	pctl_vm_desc desc; /* heap: as far as it is allotted */
	pctl_arena *arena;
	struct pctl_machine_side sides[MOST_SIDES];
	uint32_t n_sides, cap_heap;
	uint32_t skips; /* a program of it is skipping */
	uint32_t programs;
	uint64_t used_bytes;
};

struct pctl_machine_program {
	pctl_machine *m;
	pctl_job_plan *plans[MOST_SIDES];
	pctl_kept_plan *kept[MOST_SIDES];
	/* What assertions of its ops look at, n_verdicts bytes, and what stands there where all hold; plans of sides are cut otherwise. */
	pctl_buffer *verdicts[MOST_SIDES];
	uint8_t *hold[MOST_SIDES], *found[MOST_SIDES];
	uint64_t n_verdicts[MOST_SIDES];
	uint32_t skips, reserved;
};

/* verdicts.c: the buffer `number` of a side's plan, as if all held. */
pctl_status pctl_verdicts_open(pctl_machine_program *p, uint32_t side, uint32_t number,
			       const pctl_call *call);
void pctl_verdicts_close(pctl_machine_program *p, uint32_t side);
/* PC5205, by the first that does not hold; then all hold again. */
pctl_status pctl_verdicts_look(pctl_machine_program *p, uint32_t side, const pctl_call *call);

static inline const pctl_backend *pctl_side_table(const struct pctl_machine_side *s)
{
	return pctl_session_table(s->device.session);
}

static inline pctl_device *pctl_side_device(const struct pctl_machine_side *s)
{
	return pctl_session_device(s->device.session);
}

#endif
