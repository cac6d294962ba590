/* Outputs that lie in the place of inputs (SEMANTICS.md 17.7), while a job runs. */
#include "runtime/exec/job_private.h"

uint32_t pctl_job_place(const struct pctl_job_running *r, uint32_t number)
{
	const uint32_t out = number - r->plan->n_in;

	return r->run->places != NULL && number >= r->plan->n_in && out < r->plan->n_out
		       ? r->run->places[out]
		       : 0;
}

int pctl_job_is_overwritten(const struct pctl_job_running *r, uint32_t input)
{
	for (uint32_t i = 0; r->run->places != NULL && i < r->plan->n_out; i++)
		if (r->run->places[i] == input + 1)
			return 1;
	return 0;
}

void pctl_job_drop_places(struct pctl_job_running *r, pctl_value *const *in)
{
	for (uint32_t i = 0; i < r->plan->n_in; i++)
		if (pctl_job_is_overwritten(r, i))
			pctl_value_release(pctl_value_take_over(in[i], r->s, 0));
}
