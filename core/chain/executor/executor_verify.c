/* The reference beside an executor's device: first builds of strict kernels, and tasks run a second time. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chain/executor/executor_devices.h"
#include "runtime/exec/adversary.h"
#include "runtime/exec/sample.h"

static pctl_status open_reference(pctl_device_executor *e, const pctl_call *call)
{
	if (e->reference.selector == NULL)
		e->reference.selector = strdup(PCTL_REFERENCE);
	return e->reference.selector == NULL ? pctl_no_memory(call, "a device")
					     : pctl_executor_device_open(e, &e->reference, call);
}

static pctl_status first_build(pctl_device_executor *e, pctl_executor_device *d, const pctl_task *t,
			       const pctl_profile_record *profile, const pctl_call *call)
{
	int due;
	pctl_status status =
		pctl_adversary_is_due(e->o.profiles, profile, d->open.session, t->unit, call, &due);

	if (status != PCTL_OK || !due)
		return status;
	status = open_reference(e, call);
	return status == PCTL_OK ? pctl_adversary_judge(e->o.profiles, profile, d->open.session,
							e->reference.open.session, t->unit,
							t->groups, t->name, call)
				 : status;
}

pctl_status pctl_executor_first_builds(pctl_device_executor *e, pctl_executor_device *d,
				       const pctl_task *tasks, uint32_t n, const pctl_call *call)
{
	const pctl_profile_record *profile = NULL;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		if (tasks[i].unit->analysis->determinism < PCTL_CLASS_STRICT ||
		    (i != 0 && tasks[i].unit == tasks[i - 1].unit))
			continue;
		status = pctl_session_profile(d->open.session, call, &profile);
		if (status == PCTL_OK && profile != NULL)
			status = first_build(e, d, &tasks[i], profile, call);
	}
	return status;
}

static pctl_status compare(const pctl_device_executor *e, const pctl_executor_device *d,
			   const pctl_task *ours, const pctl_task *theirs, const pctl_call *call)
{
	const uint8_t *a = ours->output, *b = theirs->output;
	uint64_t at = 0;

	if (ours->n_output == 0 || memcmp(a, b, ours->n_output) == 0)
		return PCTL_OK;
	while (a[at] == b[at])
		at++;
	return pctl_refuse(call, PC5208_MISMATCH,
			   "job %s output byte %" PRIu64 ": right is 0x%02x (%s), %s gives 0x%02x",
			   ours->name, at, b[at], e->reference.name, d->name, a[at]);
}

/* The sampled tasks with outputs of their own, in one allocation; index[k] is the task's number. */
static pctl_task *pick(const pctl_sample *sample, const pctl_task *tasks, uint32_t n,
		       uint32_t *index, uint32_t *n_out)
{
	pctl_task *picked = calloc(n + 1u, sizeof(*picked));

	*n_out = 0;
	for (uint32_t i = 0; picked != NULL && i < n; i++) {
		pctl_task *t = &picked[*n_out];

		if (!pctl_sample_has(sample, i))
			continue;
		*t = tasks[i];
		t->output = malloc(t->n_output + 1);
		if (t->output == NULL) {
			while (*n_out > 0)
				free(picked[--*n_out].output);
			free(picked);
			return NULL;
		}
		index[(*n_out)++] = i;
	}
	return picked;
}

pctl_status pctl_executor_verify(pctl_device_executor *e, const pctl_executor_device *d,
				 const pctl_task *tasks, uint32_t n, const pctl_call *call)
{
	const pctl_task_limits limits = pctl_executor_limits(e);
	uint32_t n_picked = 0, *index;
	pctl_task *picked;
	pctl_sample sample;
	pctl_status status;

	const int is_reference = pctl_session_kind(d->open.session) == PCTL_DEVICE_REFERENCE;

	for (uint32_t i = 0; i < n; i++)
		if (tasks[i].evidence != NULL)
			*tasks[i].evidence = (pctl_evidence){
				.kind = is_reference ? PCTL_EVIDENCE_VERIFIED : PCTL_EVIDENCE_NONE};
	if (e->o.verify_ppm == 0 || is_reference)
		return PCTL_OK;
	/* Outputs are in the host's hands by now, of all tasks alike. */
	status = pctl_sample_draw(e->o.verify_ppm, call, &sample);
	if (status != PCTL_OK)
		return status;
	index = calloc(n + 1u, sizeof(*index));
	picked = index == NULL ? NULL : pick(&sample, tasks, n, index, &n_picked);
	if (picked == NULL) {
		free(index);
		return pctl_refuse(call, PC2_NOMEM, "no memory to verify jobs");
	}
	status = n_picked == 0 ? PCTL_OK : open_reference(e, call);
	if (status == PCTL_OK && n_picked != 0)
		status = pctl_tasks_run(e->reference.open.session, &limits, picked, n_picked, call,
					NULL);
	for (uint32_t k = 0; k < n_picked; k++) {
		const pctl_task *t = &tasks[index[k]];

		if (status == PCTL_OK)
			status = compare(e, d, t, &picked[k], call);
		if (status == PCTL_OK && t->evidence != NULL)
			t->evidence->kind = PCTL_EVIDENCE_VERIFIED;
		free(picked[k].output);
	}
	free(picked);
	free(index);
	return status;
}
