/* The gas of a job's plan: its kernels as the schedule prices them, what fills and copies move as
 * memory, its parent edges. */
#include "foundation/base/num.h"
#include "runtime/graph/jobplan.h"

/* Bytes of a kernel's bindings, by how the kernel uses them. */
static void bound_bytes(const pctl_step *step, pctl_gas_query *q)
{
	const pctl_program *p = step->unit->program;

	for (uint32_t i = 0; i < step->n_bindings; i++) {
		const pctl_plan_binding *b = &step->bindings[i];

		for (uint32_t k = 0; k < p->n_vars; k++) {
			const pctl_var *v = &p->vars[k];
			uint64_t *sum = v->space == PCTL_SPACE_UNIFORM	? &q->uniform_bytes
					: v->access & PCTL_ACCESS_WRITE ? &q->output_bytes
									: &q->input_bytes;

			if ((v->space == PCTL_SPACE_UNIFORM || v->space == PCTL_SPACE_STORAGE) &&
			    v->group == b->group && v->binding == b->binding)
				(void)pctl_num_add(*sum, b->n_bytes, sum);
		}
	}
}

static pctl_status step_gas(const pctl_step *step, const pctl_gas_schedule *schedule,
			    const pctl_call *call, uint64_t *out)
{
	pctl_gas_query q = {.program = NULL};
	pctl_gas_price price;
	pctl_status status;

	if (step->kind != PCTL_STEP_KERNEL)
		return pctl_gas_memory(schedule, step->n_bytes, call, out);
	q.program = step->unit->program;
	q.analysis = step->unit->analysis;
	for (uint32_t i = 0; i < 3; i++)
		q.groups[i] = step->groups[i];
	bound_bytes(step, &q);
	status = pctl_gas_price_of(schedule, &q, call, &price);
	*out = price.total;
	return status;
}

pctl_status pctl_job_plan_gas(const pctl_job_plan *p, const pctl_gas_schedule *schedule,
			      uint64_t times, uint64_t hops, const pctl_call *call, uint64_t *out)
{
	uint64_t sum = 0, one, hop_gas;
	pctl_status status = PCTL_OK;
	int fits = 1;

	*out = 0;
	for (uint32_t i = 0; status == PCTL_OK && i < p->n_steps; i++) {
		status = step_gas(&p->steps[i], schedule, call, &one);
		fits &= status != PCTL_OK || pctl_num_add(sum, one, &sum);
	}
	if (status == PCTL_OK)
		status = pctl_gas_hops(schedule, hops, call, &hop_gas);
	if (status != PCTL_OK)
		return status;
	fits &= pctl_num_mul(sum, times, &sum) && pctl_num_add(sum, hop_gas, &sum);
	if (!fits)
		return pctl_refuse(call, PC4136_GAS_OVERFLOW,
				   "the gas of job \"%s\" does not fit in 64 bits", p->name);
	*out = sum;
	return PCTL_OK;
}
