/* What a kernel of a plan is bound to: ranges of the plan's buffers, every variable once, nothing written twice; and the
 * turn flag, which is the host's. */
#include <inttypes.h>

#include "foundation/base/num.h"
#include "runtime/graph/jobplan_step.h"

int pctl_binding_writes(const pctl_program *p, const pctl_plan_binding *b)
{
	for (uint32_t i = 0; i < p->n_vars; i++) {
		const pctl_var *v = &p->vars[i];

		if (v->space == PCTL_SPACE_STORAGE && v->group == b->group &&
		    v->binding == b->binding)
			return (v->access & PCTL_ACCESS_WRITE) != 0;
	}
	return 0;
}

static int overlap(const pctl_plan_binding *a, const pctl_plan_binding *b)
{
	return a->buffer == b->buffer &&
	       pctl_num_overlap(a->offset, a->n_bytes, b->offset, b->n_bytes);
}

/* What is written is the job's own, and nothing else of the kernel looks at it: an input is a value
 * that other jobs read too, parameters hold for every round. */
static pctl_status check_written(const pctl_job_plan *plan, const pctl_step *step,
				 const pctl_call *call)
{
	const pctl_program *p = step->unit->program;

	for (uint32_t i = 0; i < step->n_bindings; i++) {
		const pctl_plan_binding *b = &step->bindings[i];
		uint32_t kind = plan->buffers[b->buffer].kind;

		if (!pctl_binding_writes(p, b))
			continue;
		if (kind == PCTL_PLAN_INPUT || kind == PCTL_PLAN_PARAMS ||
		    kind == PCTL_PLAN_CONSTANT)
			return pctl_refuse(call, PC4130_BINDING,
					   "job \"%s\": kernel %s writes group %" PRIu32
					   " binding %" PRIu32 ", which is bound to %s",
					   plan->name, step->unit->name, b->group, b->binding,
					   kind == PCTL_PLAN_INPUT    ? "an input"
					   : kind == PCTL_PLAN_PARAMS ? "parameters"
								      : "a constant");
		for (uint32_t k = 0; k < step->n_bindings; k++) {
			if (k != i && overlap(b, &step->bindings[k]))
				return pctl_refuse(
					call, PC4130_BINDING,
					"job \"%s\": kernel %s: group %" PRIu32 " binding %" PRIu32
					" is written and overlaps group %" PRIu32
					" binding %" PRIu32,
					plan->name, step->unit->name, b->group, b->binding,
					step->bindings[k].group, step->bindings[k].binding);
		}
	}
	return PCTL_OK;
}

/* A binding that names nothing of the kernel is dropped: specialising drops variables that are not
 * used. */
static int kernel_has(const pctl_program *p, const pctl_plan_binding *b)
{
	for (uint32_t i = 0; i < p->n_vars; i++) {
		const pctl_var *v = &p->vars[i];

		if ((v->space == PCTL_SPACE_STORAGE || v->space == PCTL_SPACE_UNIFORM) &&
		    v->group == b->group && v->binding == b->binding)
			return 1;
	}
	return 0;
}

static pctl_status check_all_bound(const pctl_job_plan *plan, const pctl_kernel_module *unit,
				   const pctl_plan_binding *bindings, uint32_t n,
				   const pctl_call *call)
{
	const pctl_program *p = unit->program;

	for (uint32_t i = 0; i < p->n_vars; i++) {
		const pctl_var *v = &p->vars[i];
		uint32_t found = 0;

		if (v->space != PCTL_SPACE_STORAGE && v->space != PCTL_SPACE_UNIFORM)
			continue;
		for (uint32_t k = 0; k < n; k++)
			found += bindings[k].group == v->group && bindings[k].binding == v->binding;
		if (found != 1)
			return pctl_refuse(call, PC4130_BINDING,
					   "job \"%s\": kernel %s: variable \"%s\" (group %" PRIu32
					   ", binding %" PRIu32 ") is bound %" PRIu32 " times",
					   plan->name, unit->name, pctl_str(p, v->name), v->group,
					   v->binding, found);
	}
	return PCTL_OK;
}

/* The flag of a kernel on a budget is nobody else's to bind. */
static pctl_status bind_turns(pctl_job_plan *p, pctl_step *step, const pctl_call *call)
{
	pctl_plan_binding b = {.group = PCTL_TURNS_GROUP, .n_bytes = 4};
	pctl_status status;

	if (pctl_program_turn_flag(step->unit->program) == UINT32_MAX)
		return PCTL_OK;
	status = pctl_job_plan_buffer(p, PCTL_PLAN_TURNS, 4, NULL, call, &b.buffer);
	step->bindings[step->n_bindings++] = b;
	return status;
}

pctl_status pctl_job_plan_unit(pctl_job_plan *p, pctl_step *step, const uint32_t groups[3],
			       const pctl_call *call)
{
	const pctl_kernel_module *unit = step->unit;
	const pctl_program *program = unit->program;

	for (uint32_t i = 0; i < 3; i++) {
		step->groups[i] = groups[i];
		if (program->max_dispatch[i] != 0 && groups[i] > program->max_dispatch[i])
			return pctl_refuse(
				call, PC4131_DISPATCH,
				"job \"%s\": kernel %s: %" PRIu32
				" workgroups along %c, the shader declares a maximum of %" PRIu32,
				p->name, unit->name, groups[i], "xyz"[i],
				program -> max_dispatch[i]);
	}
	if (unit->analysis->determinism > p->determinism)
		p->determinism = unit->analysis->determinism;
	if (unit->analysis->order_dependent && p->order == NULL)
		p->order = unit;
	if (unit->analysis->race == PCTL_PROOF_REFUTED ||
	    (unit->analysis->race == PCTL_PROOF_UNPROVEN && p->race == PCTL_PROOF_PROVEN)) {
		p->race_of = p->race == unit->analysis->race ? p->race_of : unit;
		p->race = unit->analysis->race;
	}
	p->caps |= program->caps;
	return PCTL_OK;
}

static uint64_t bound_bytes(const pctl_job_plan *p, const pctl_plan_binding *b)
{
	return b->offset == 0 && b->n_bytes == 0 ? p->buffers[b->buffer].n_bytes : b->n_bytes;
}

pctl_known_binding pctl_job_plan_known(const pctl_job_plan *p, const pctl_plan_binding *b)
{
	return (pctl_known_binding){b->group, b->binding, bound_bytes(p, b)};
}

pctl_status pctl_job_plan_bind(pctl_job_plan *p, pctl_step *step, const pctl_plan_binding *bindings,
			       uint32_t n_bindings, const pctl_call *call)
{
	const pctl_kernel_module *unit = step->unit;
	const pctl_program *program = unit->program;
	pctl_status status;

	step->bindings = pctl_arena_array(p->arena, n_bindings + 1u, sizeof(*step->bindings));
	if (step->bindings == NULL)
		return pctl_no_memory(call, "a plan");
	for (uint32_t i = 0; i < n_bindings; i++) {
		pctl_plan_binding b = bindings[i];
		uint64_t size, end;

		if (b.buffer >= p->n_buffers)
			return pctl_refuse(call, PC4130_BINDING,
					   "job \"%s\": kernel %s binds buffer %" PRIu32
					   " of %" PRIu32,
					   p->name, unit->name, b.buffer, p->n_buffers);
		size = p->buffers[b.buffer].n_bytes;
		b.n_bytes = bound_bytes(p, &b);
		if (!pctl_num_add(b.offset, b.n_bytes, &end) || end > size)
			return pctl_refuse(call, PC4130_BINDING,
					   "job \"%s\": kernel %s binds bytes %" PRIu64
					   " to %" PRIu64 " of a buffer of %" PRIu64,
					   p->name, unit->name, b.offset, end, size);
		if (b.offset % 4 != 0)
			return pctl_refuse(call, PC4130_BINDING,
					   "job \"%s\": kernel %s binds at offset %" PRIu64
					   ", which is no multiple of 4",
					   p->name, unit->name, b.offset);
		if (kernel_has(program, &b) && b.group != PCTL_TURNS_GROUP)
			step->bindings[step->n_bindings++] = b;
	}
	status = bind_turns(p, step, call);
	if (status == PCTL_OK)
		status = check_all_bound(p, unit, step->bindings, step->n_bindings, call);
	if (status == PCTL_OK)
		status = check_written(p, step, call);
	return status;
}

int pctl_step_writes(const pctl_step *s, uint32_t buffer)
{
	uint32_t i = 0;

	if (s->kind != PCTL_STEP_KERNEL)
		return s->to == buffer;
	while (i < s->n_bindings && (s->bindings[i].buffer != buffer ||
				     !pctl_binding_writes(s->unit->program, &s->bindings[i])))
		i++;
	return i < s->n_bindings;
}
