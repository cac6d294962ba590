/* Programs of a machine: planned for its device, admitted as a job's plan is, kept there, executed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "runtime/exec/adversary.h"
#include "vm/private.h"

/* ---- admission ------------------------------------------------------------------------------ */

/* Nobody can run the race detector over data that only the device will make, so freedom from races is proven or trusted. */
static pctl_status ask_policy(const pctl_machine *m, const pctl_job_plan *plan,
			      const pctl_call *call)
{
	const pctl_policy *p = m->o.open->policy;
	char text[PCTL_KERNEL_RACE_SIZE] = "";
	pctl_policy_race what = {.races = pctl_policy_races(plan->race),
				 .gas = UINT64_MAX,
				 .subject = m->desc.name,
				 .detail = text};
	pctl_status status = PCTL_OK;

	if (p == NULL)
		return PCTL_OK;
	if (plan->order != NULL) {
		const pctl_pos pos = pctl_kernel_order_position(plan->order);

		status = pctl_policy_order_allowed(p, 0, m->desc.name, &pos,
						   pctl_kernel_order_hint(plan->order), call);
	}
	if (status == PCTL_OK)
		status = pctl_policy_class_allowed(p, plan->determinism, 0, m->desc.name, call);
	if (plan->race_of != NULL)
		pctl_kernel_race(plan->race_of, what.place, text);
	if (status == PCTL_OK)
		status = pctl_policy_race_allowed(p, &what, call);
	return status == PCTL_OK
		       ? pctl_policy_memory_allowed(p, pctl_job_plan_peak(plan), m->desc.name, call)
		       : status;
}

/* What a policy asks of ops. A machine that stays has nobody to show it certificates, so where one is asked of an op only the reference may
 * run it here; a job of a pipeline may. */
static pctl_status ask_ops(const pctl_machine *m, const pctl_vm_desc *d, const pctl_call *call)
{
	const pctl_session *s = m->sides[SIDE_DEVICE].device.session;
	const pctl_policy *p = m->o.open->policy;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; p != NULL && status == PCTL_OK && i < d->n_steps; i++) {
		const pctl_op_desc *op = d->steps[i].op.desc;

		if (op == NULL)
			continue;
		status = pctl_policy_deprecated_allowed(p, pctl_op_deprecated(op), op->name,
							m->desc.name, &d->steps[i].pos, call);
		if (status == PCTL_OK && pctl_policy_certificate(p, op->name) != 0 &&
		    pctl_session_kind(s) != PCTL_DEVICE_REFERENCE)
			status = pctl_policy_certificate_allowed(
				p, op->name, 0, pctl_session_name(s),
				"run it as a vm job of a pipeline, where certificates count", call);
	}
	return status;
}

/* The first build of each strict kernel here is held against the reference (SEMANTICS.md 3). */
static pctl_status first_builds(pctl_machine *m, const pctl_job_plan *plan, const pctl_call *call)
{
	pctl_session *s = m->sides[SIDE_DEVICE].device.session;
	pctl_open_device reference = {0};
	const pctl_profile_record *profile;
	pctl_status status;
	int due;

	if (plan->determinism < PCTL_CLASS_STRICT || m->o.open->profiles == NULL)
		return PCTL_OK;
	status = pctl_session_profile(s, call, &profile);
	for (uint32_t i = 0; status == PCTL_OK && profile != NULL && i < plan->n_steps; i++) {
		const pctl_step *step = &plan->steps[i];

		if (step->kind != PCTL_STEP_KERNEL)
			continue;
		status = pctl_adversary_is_due(m->o.open->profiles, profile, s, step->unit, call,
					       &due);
		if (status == PCTL_OK && due && reference.session == NULL)
			status = pctl_open_selected(m->o.open, PCTL_REFERENCE, call, &reference);
		if (status == PCTL_OK && due)
			status = pctl_adversary_judge(m->o.open->profiles, profile, s,
						      reference.session, step->unit, step->groups,
						      m->desc.name, call);
	}
	pctl_open_close(&reference);
	return status;
}

/* ---- making --------------------------------------------------------------------------------- */

struct making {
	pctl_machine *m;
	const pctl_vm_desc *d;
	const pctl_call *call;
	pctl_vm_buffers where;
	uint32_t *marks;
};

static pctl_status plan_with(struct making *k, const pctl_plan_caps *caps, pctl_job_plan **out)
{
	const pctl_planner planner = {k->m->o.ops, k->m->o.kernels, *caps, 0};

	return pctl_vm_turn_plan(&planner, k->d, PCTL_PUT_KEPT, k->call, &k->where, k->marks, out);
}

/* What the device has of its own is asked before ops are, for they plan by it; that may probe it. */
static pctl_status plan_side(struct making *k, uint32_t side, pctl_job_plan **out)
{
	pctl_session *s = k->m->sides[side].device.session;
	pctl_plan_caps caps = pctl_session_plan_caps(s);
	pctl_status status = plan_with(k, &caps, out);

	for (uint32_t i = 0; status == PCTL_OK && i < (*out)->n_steps; i++)
		if ((*out)->steps[i].kind == PCTL_STEP_KERNEL)
			status = pctl_session_learn(s, (*out)->steps[i].unit, k->call);
	if (status == PCTL_OK && (*out)->determinism >= PCTL_CLASS_STRICT)
		status = pctl_session_learn_doubles(s, k->call);
	if (status != PCTL_OK)
		return status;
	pctl_job_plan_destroy(*out);
	*out = NULL;
	caps = pctl_session_plan_caps(s);
	return plan_with(k, &caps, out);
}

static pctl_status keep_side(struct making *k, uint32_t side, int has_clock,
			     const pctl_job_plan *plan, pctl_buffer *verdicts, pctl_kept_plan **out)
{
	const struct pctl_machine_side *s = &k->m->sides[side];
	const uint32_t n = k->d->instances;
	pctl_buffer **buffers = calloc(plan->n_buffers + 1u, sizeof(pctl_buffer *));
	pctl_status status;

	if (buffers == NULL)
		return pctl_no_memory(k->call, "a program");
	for (uint32_t i = 0; i < k->d->n_heap; i++)
		buffers[i] = s->heap[i];
	for (uint32_t i = 0; i < n; i++)
		buffers[k->where.registers + i] = s->registers[i];
	buffers[k->where.metrics] = s->metrics;
	buffers[k->where.control] = s->control;
	buffers[k->where.globals] = s->globals;
	if (k->d->skipping)
		buffers[k->where.counts] = s->counts;
	buffers[k->where.verdicts] = verdicts;
	status = pctl_kept_plan_open(s->device.session, plan, buffers, k->marks,
				     has_clock && n < PCTL_KEPT_MARKS ? n : 0, k->call, out);
	free(buffers);
	return status;
}

static pctl_status make_side(struct making *k, uint32_t side, int has_clock,
			     pctl_machine_program *p)
{
	pctl_session *s = k->m->sides[side].device.session;
	pctl_status status = plan_side(k, side, &p->plans[side]);

	if (status == PCTL_OK && side == SIDE_DEVICE)
		status = ask_policy(k->m, p->plans[side], k->call);
	if (status == PCTL_OK)
		status = pctl_session_qualify(s, p->plans[side], k->call);
	if (status == PCTL_OK)
		status = pctl_session_build(s, p->plans[side], k->call);
	if (status == PCTL_OK && side == SIDE_DEVICE)
		status = first_builds(k->m, p->plans[side], k->call);
	if (status == PCTL_OK)
		status = pctl_verdicts_open(p, side, k->where.verdicts, k->call);
	return status == PCTL_OK ? keep_side(k, side, has_clock && side == SIDE_DEVICE,
					     p->plans[side], p->verdicts[side], &p->kept[side])
				 : status;
}

pctl_status pctl_machine_program_make(pctl_machine *m, const pctl_vm_desc *d, int has_clock,
				      const pctl_call *call, pctl_machine_program **out)
{
	pctl_machine_program *p = calloc(1, sizeof(*p));
	pctl_vm_desc desc = m->desc;
	struct making k = {.m = m, .d = &desc, .call = call};
	pctl_status status = PCTL_OK;

	*out = NULL;
	k.marks = calloc(m->desc.instances + 1u, sizeof(*k.marks));
	if (p == NULL || k.marks == NULL) {
		status = pctl_no_memory(call, "a program");
		goto out;
	}
	p->m = m;
	desc.acts = d->acts;
	desc.skipping = d->skipping;
	desc.advance = d->advance;
	desc.epsilon = d->epsilon;
	desc.steps = d->steps;
	desc.n_steps = d->n_steps;
	status = pctl_vm_check(&desc, call);
	if (status == PCTL_OK)
		status = ask_ops(m, &desc, call);
	for (uint32_t i = 0; status == PCTL_OK && i < m->n_sides; i++)
		status = make_side(&k, i, has_clock, p);
out:
	free(k.marks);
	if (status != PCTL_OK) {
		pctl_machine_program_drop(p);
		return status;
	}
	m->skips |= d->skipping;
	p->skips = d->skipping;
	*out = p;
	return PCTL_OK;
}

int pctl_machine_is_skipping(const pctl_machine_program *p)
{
	return p->skips != 0;
}

void pctl_machine_program_drop(pctl_machine_program *p)
{
	for (uint32_t i = 0; p != NULL && i < MOST_SIDES; i++) {
		pctl_kept_plan_close(p->kept[i]);
		pctl_verdicts_close(p, i);
		pctl_job_plan_destroy(p->plans[i]);
	}
	free(p);
}

/* ---- executing ------------------------------------------------------------------------------ */

pctl_status pctl_machine_execute(pctl_machine_program *p, uint32_t times, uint64_t timeout_ms,
				 const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	if (times > 1 && p->n_verdicts[SIDE_DEVICE] != 0)
		return pctl_refuse(call, PC4409_VM_ASSERTS,
				   "machine \"%s\": %" PRIu32
				   " executions in one submission of a program whose ops assert",
				   p->m->desc.name, times);
	for (uint32_t i = 0; times != 0 && status == PCTL_OK && i < p->m->n_sides; i++) {
		status = pctl_kept_plan_run(p->kept[i], times, timeout_ms, call);
		if (status == PCTL_OK)
			status = pctl_verdicts_look(p, i, call);
	}
	return status;
}

const pctl_kept_plan_stats *pctl_machine_stats(const pctl_machine_program *p)
{
	return pctl_kept_plan_stats_of(p->kept[SIDE_DEVICE]);
}
