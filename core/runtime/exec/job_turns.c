/* The turn budget of a job's kernels: whether a device says that an invocation went over it; and so of workgroups that it found. */
#include <inttypes.h>

#include "runtime/exec/job_private.h"
#include "runtime/exec/sanitize.h"
#include "runtime/exec/readback.h"

/* The first loop that counts: which one it was the device does not say. */
static pctl_pos first_loop(const pctl_kernel_module *u)
{
	const pctl_analysis *a = u->analysis;

	for (uint32_t i = 0; i < a->n_loops; i++)
		if (a->loops[i].bound_kind == PCTL_BOUND_BUDGET)
			return pctl_kernel_position(u, a->loops[i].function, a->loops[i].inst);
	return (pctl_pos){u->name, 0, 0, 0, 0};
}

static pctl_status refuse_counts(const pctl_job_plan *plan, const pctl_step *step,
				 const pctl_call *call)
{
	return pctl_refuse(call, PC5228_COUNTS,
			   "job \"%s\": kernel %s was to have more workgroups than the "
			   "%" PRIu32 " x %" PRIu32 " x %" PRIu32 " that its plan declares",
			   plan->name, step->unit->name, step->groups[0], step->groups[1],
			   step->groups[2]);
}

pctl_status pctl_job_refuse_turns(const pctl_job_plan *plan, uint32_t step, const char *why,
				  const pctl_call *call)
{
	const pctl_kernel_module *u = plan->steps[step].unit;
	const pctl_pos pos = first_loop(u);

	if (plan->steps[step].is_counts_check)
		return refuse_counts(plan, &plan->steps[step + 1], call);
	return pctl_refuse_at(call, PC5226_TURNS, &pos, PCTL_TURNS_HINT,
			      "job \"%s\": an invocation of kernel %s makes more than %" PRIu32
			      " turns of loops that nothing bounds%s",
			      plan->name, u->name, u->turns, why);
}

static pctl_status refuse(struct pctl_job_running *r, uint32_t step)
{
	pctl_counts counts = {0};
	pctl_status status = PCTL_OK;

	if (r->plan->steps[step].is_counts_check)
		return pctl_job_refuse_turns(r->plan, step, "", r->call);
	r->exceeded = step + 1;
	if (r->run->quiet_turns)
		return PCTL_E_EXEC;
	/* A sanitizing reference names the place. */
	status = pctl_sanitize_report(r->s, r->plan, r->call, &counts);
	return status != PCTL_OK ? status : pctl_job_refuse_turns(r->plan, step, "", r->call);
}

pctl_status pctl_job_check_turns(struct pctl_job_running *r)
{
	for (uint32_t i = 0; i < r->plan->n_steps; i++) {
		const pctl_step *step = &r->plan->steps[i];

		for (uint32_t k = 0; step->kind == PCTL_STEP_KERNEL && k < step->n_bindings; k++) {
			const uint32_t buffer = step->bindings[k].buffer;
			uint8_t word[4] = {0};
			pctl_status status;

			if (r->plan->buffers[buffer].kind != PCTL_PLAN_TURNS)
				continue;
			status = pctl_readback_fill(r->s, r->call, r->own[buffer], r->shape.before,
						    word, sizeof(word));
			if (status != PCTL_OK)
				return status;
			if (word[0] | word[1] | word[2] | word[3])
				return refuse(r, i);
		}
	}
	return PCTL_OK;
}
