/* Assertions of a program's ops, about data that only the device has: the host looks behind each execution. An instance that is skipped says
 * nothing, so what it last said stands, which is that all holds. */
#include <stdlib.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "runtime/exec/job.h"
#include "vm/private.h"

static pctl_status write_all(const pctl_machine_program *p, uint32_t side, const pctl_call *call)
{
	struct pctl_machine_side *s = &p->m->sides[side];

	return pctl_side_table(s)->buffer_write(pctl_side_device(s), call, p->verdicts[side], 0,
						p->hold[side], p->n_verdicts[side]);
}

static pctl_status note(pctl_machine_program *p, uint32_t side, uint64_t n, const pctl_call *call)
{
	const pctl_job_plan *plan = p->plans[side];
	uint8_t *hold = calloc(n + 1u, 1);

	p->n_verdicts[side] = n;
	p->hold[side] = hold;
	p->found[side] = calloc(n + 1u, 1);
	if (hold == NULL || p->found[side] == NULL)
		return pctl_no_memory(call, "a program");
	for (uint32_t i = 0; i < plan->n_checks; i++) {
		const pctl_plan_check *c = &plan->checks[i];
		const uint32_t low = (uint32_t)c->expected;

		if (c->bytes == 4)
			memcpy(hold + c->offset, &low, 4);
		else
			memcpy(hold + c->offset, &c->expected, 8);
	}
	return PCTL_OK;
}

pctl_status pctl_verdicts_open(pctl_machine_program *p, uint32_t side, uint32_t number,
			       const pctl_call *call)
{
	struct pctl_machine_side *s = &p->m->sides[side];
	const uint64_t n = p->plans[side]->buffers[number].n_bytes;
	pctl_status status = pctl_side_table(s)->buffer_create(
		pctl_side_device(s), call, n, PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER,
		&p->verdicts[side]);

	if (status == PCTL_OK && n != 0)
		status = note(p, side, n, call);
	return status == PCTL_OK && n != 0 ? write_all(p, side, call) : status;
}

void pctl_verdicts_close(pctl_machine_program *p, uint32_t side)
{
	struct pctl_machine_side *s = &p->m->sides[side];

	if (p->verdicts[side] != NULL)
		pctl_side_table(s)->buffer_destroy(pctl_side_device(s), p->verdicts[side]);
	p->verdicts[side] = NULL;
	free(p->hold[side]);
	free(p->found[side]);
}

static uint64_t word_at(const uint8_t *data, uint64_t offset, uint32_t bytes)
{
	uint64_t wide = 0;

	memcpy(&wide, data + offset, bytes);
	return wide;
}

pctl_status pctl_verdicts_look(pctl_machine_program *p, uint32_t side, const pctl_call *call)
{
	struct pctl_machine_side *s = &p->m->sides[side];
	const pctl_job_plan *plan = p->plans[side];
	const uint64_t n = plan->n_checks == 0 ? 0 : p->n_verdicts[side];
	pctl_status status = PCTL_OK;

	if (n == 0)
		return PCTL_OK;
	status = pctl_side_table(s)->buffer_read(pctl_side_device(s), call, p->verdicts[side], 0,
						 p->found[side], n);
	for (uint32_t i = 0; status == PCTL_OK && i < plan->n_checks; i++) {
		const pctl_plan_check *c = &plan->checks[i];
		const uint64_t found = word_at(p->found[side], c->offset, c->bytes);

		if (found != c->expected)
			status = pctl_job_refuse_check(
				plan, c, found,
				word_at(p->found[side], c->also_offset, c->also_bytes), call);
	}
	if (status != PCTL_OK)
		(void)write_all(p, side, call);
	return status;
}
