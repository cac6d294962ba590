/* The tunables of plans for a session's device: those of its record, where `device tune` made one, else of the profile that its limits
 * name. */
#include <stdlib.h>
#include <string.h>

#include "runtime/device/tuning_record.h"
#include "runtime/exec/session_private.h"

/* By the files that it was opened on: what a driver maps later (session_late.c) is not known when plans are made. */
static pctl_profiled_device opened(const pctl_session *s)
{
	pctl_profiled_device d = pctl_session_profiled(s);

	d.files = s->files;
	d.drivers = s->drivers;
	return d;
}

pctl_status pctl_session_learn_tuning(pctl_session *s, const pctl_call *call)
{
	const pctl_profiled_device d = opened(s);
	pctl_tuning_record *r;
	int found = 0;
	pctl_status status = PCTL_OK;

	if (s->tuning_learned)
		return PCTL_OK;
	r = calloc(1, sizeof(*r));
	if (r == NULL)
		return pctl_no_memory(call, "a device's tunables");
	if (s->o.profiles != NULL)
		status = pctl_profiles_tuning(s->o.profiles, &d, call, r, &found);
	for (uint32_t i = 0; status == PCTL_OK && i < PCTL_N_TUNABLES; i++)
		s->tunable[i] =
			found ? r->value[i] : pctl_tunable_of(i, pctl_tuning_profile(&s->caps));
	s->tuning_learned = status == PCTL_OK;
	free(r);
	return status;
}

void pctl_session_tunables(const pctl_session *s, uint32_t *out)
{
	memcpy(out, s->tunable, sizeof(s->tunable));
}

pctl_status pctl_session_keep_tuning(const pctl_session *s, pctl_tuning_record *r,
				     const pctl_call *call)
{
	const pctl_profiled_device d = opened(s);

	return s->o.profiles == NULL ? PCTL_OK
				     : pctl_profiles_keep_tuning(s->o.profiles, &d, r, call);
}
