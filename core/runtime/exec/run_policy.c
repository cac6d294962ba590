/* What the policy says of a planned job, and of the device that is to run it. */
#include <inttypes.h>
#include <stdio.h>

#include "foundation/base/num.h"
#include "runtime/exec/run_private.h"
#include "runtime/graph/vm.h"

/* With native forms a device's own floats answer, which differ. */
static uint32_t class_of(const pctl_running *r, const pctl_job_plan *plan)
{
	return plan->determinism == PCTL_CLASS_STRICT && r->o->flags & PCTL_RUN_NATIVE
		       ? PCTL_CLASS_APPROXIMATE
		       : plan->determinism;
}

/* What somebody else asked the detector, or is asking it now, is not asked of the policy again. */
pctl_status pctl_run_check_race_policy(pctl_running *r, const pctl_run_node *n,
				       const pctl_job_plan *plan, uint64_t gas)
{
	char text[PCTL_KERNEL_RACE_SIZE] = "";
	pctl_policy_race what = {.races = pctl_policy_races(plan->race),
				 .gas = gas,
				 .subject = n->node->job->id,
				 .detail = text,
				 .pos = &n->node->job->pos};

	if (what.races == PCTL_RACES_UNPROVEN &&
	    r->o->flags & (PCTL_RUN_CHECK_RACES | PCTL_RUN_RACES_KNOWN))
		return PCTL_OK;
	if (plan->race_of != NULL)
		pctl_kernel_race(plan->race_of, what.place, text);
	return pctl_policy_race_allowed(r->o->policy, &what, r->call);
}

pctl_status pctl_run_check_policy(pctl_running *r, const pctl_run_node *n,
				  const pctl_job_plan *plan, uint64_t gas)
{
	const uint32_t most = r->graph->pipeline->max_class;
	const char *job = n->node->job->id;
	const pctl_vm_desc *d = n->node->vm;
	pctl_status status = PCTL_OK;

	if (n->node->job->kind == PCTL_JOB_OP)
		status = pctl_policy_deprecated_allowed(
			r->o->policy, pctl_op_deprecated(n->node->op.desc), n->node->job->op, job,
			&n->node->job->op_pos, r->call);
	for (uint32_t i = 0; d != NULL && status == PCTL_OK && i < d->n_steps; i++)
		if (d->steps[i].op.desc != NULL)
			status = pctl_policy_deprecated_allowed(
				r->o->policy, pctl_op_deprecated(d->steps[i].op.desc),
				d->steps[i].op.desc->name, job, &d->steps[i].pos, r->call);
	/* Of a kernel that is approximate for its atomics the place is named. */
	if (status == PCTL_OK && plan->order != NULL) {
		const pctl_pos pos = pctl_kernel_order_position(plan->order);

		status = pctl_policy_order_allowed(r->o->policy, most, job, &pos,
						   pctl_kernel_order_hint(plan->order), r->call);
	}
	if (status == PCTL_OK)
		status = pctl_policy_class_allowed(r->o->policy, class_of(r, plan), most, job,
						   r->call);
	if (status == PCTL_OK)
		status = pctl_run_check_race_policy(r, n, plan, gas);
	if (status == PCTL_OK)
		status = pctl_policy_memory_allowed(r->o->policy, pctl_run_peak_bytes(n, plan), job,
						    r->call);
	return status;
}

static pctl_level_answer ask_level(const pctl_running *r, const pctl_op_ref *ref,
				   const pctl_session *s)
{
	const pctl_op_desc *op = ref->desc;
	pctl_level_answer answer = {0, 0, NULL};
	char name[160];
	pctl_level_question q = {.op = name,
				 .library = ref->plugin,
				 .ops = r->o->ops,
				 .backend = pctl_session_plugin(s),
				 .files = pctl_session_files(s),
				 .late = pctl_session_late(s),
				 .track = op->op_class,
				 .wanted = pctl_policy_certificate(r->o->policy, op->name)};

	snprintf(name, sizeof(name), "%s@%" PRIu32, op->name, op->version);
	q.n_identity = pctl_session_identity(s, &q.identity);
	if (r->o->certified_level != NULL)
		r->o->certified_level(r->o->certified_ctx, &q, &answer);
	return answer;
}

pctl_evidence pctl_run_certified(const pctl_running *r, const pctl_run_node *n,
				 const pctl_session *s)
{
	const uint32_t level =
		n->node->job->kind == PCTL_JOB_OP ? ask_level(r, &n->node->op, s).level : 0;

	return (pctl_evidence){.kind = level != 0 ? PCTL_EVIDENCE_CERTIFIED : PCTL_EVIDENCE_NONE,
			       .level = level};
}

static pctl_status check_op(const pctl_running *r, const pctl_op_ref *op, const pctl_session *s,
			    const pctl_call *call)
{
	pctl_level_answer answer;

	if (pctl_policy_certificate(r->o->policy, op->desc->name) == 0)
		return PCTL_OK;
	answer = ask_level(r, op, s);
	return pctl_policy_certificate_allowed(r->o->policy, op->desc->name, answer.level,
					       pctl_session_name(s), answer.hint, call);
}

/* Of a machine every op of its program is asked about. */
pctl_status pctl_run_check_certified(pctl_running *r, const pctl_run_node *n, const pctl_session *s,
				     const pctl_call *call)
{
	const pctl_vm_desc *d = n->node->vm;
	pctl_status status = PCTL_OK;

	if (pctl_session_kind(s) == PCTL_DEVICE_REFERENCE)
		return PCTL_OK;
	if (n->node->job->kind == PCTL_JOB_OP)
		return check_op(r, &n->node->op, s, call);
	for (uint32_t i = 0; status == PCTL_OK && d != NULL && i < d->n_steps; i++)
		if (d->steps[i].op.desc != NULL)
			status = check_op(r, &d->steps[i].op, s, call);
	return status;
}
