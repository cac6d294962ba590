/* Recording a job: the commands of rounds and steps, with a barrier only where one command needs what another wrote. */
#include <stdlib.h>

#include "runtime/exec/hazards.h"
#include "runtime/exec/job_private.h"

struct recorder {
	struct pctl_job_running *r;
	pctl_buffer **buffers;
	uint64_t *bases; /* of the plan's bytes in them */
	pctl_hazards hazards;
};

static pctl_touched access_of(const struct recorder *rec, uint32_t buffer, uint64_t offset,
			      uint64_t n_bytes, int writes)
{
	return (pctl_touched){rec->buffers[buffer], rec->bases[buffer] + offset, n_bytes,
			      (uint32_t)writes, 0};
}

int pctl_job_writes(const pctl_program *p, const pctl_plan_binding *b)
{
	for (uint32_t i = 0; i < p->n_vars; i++) {
		if (p->vars[i].group == b->group && p->vars[i].binding == b->binding &&
		    p->vars[i].space == PCTL_SPACE_STORAGE)
			return (p->vars[i].access & PCTL_ACCESS_WRITE) != 0;
	}
	return 0;
}

static pctl_status barrier_before(struct recorder *rec, const pctl_step *step)
{
	const int is_kernel = step->kind == PCTL_STEP_KERNEL;
	pctl_touched copied[2], *accesses = copied;
	uint32_t n = is_kernel			    ? step->n_bindings + (step->counts != 0)
		     : step->kind == PCTL_STEP_COPY ? 2
						    : 1;
	pctl_status status = PCTL_OK;

	if (is_kernel)
		accesses = calloc(n + 1u, sizeof(*accesses));
	if (accesses == NULL)
		return pctl_no_memory(rec->r->call, "a job");
	for (uint32_t i = 0; is_kernel && i < step->n_bindings; i++) {
		const pctl_plan_binding *b = &step->bindings[i];

		accesses[i] = access_of(rec, b->buffer, b->offset, b->n_bytes,
					pctl_job_writes(step->unit->program, b));
	}
	/* The three numbers of workgroups, read when it runs. */
	if (is_kernel && step->counts != 0)
		accesses[step->n_bindings] =
			access_of(rec, step->counts - 1u, step->counts_offset, 12, 0);
	if (!is_kernel)
		accesses[0] = access_of(rec, step->to, step->to_offset, step->n_bytes, 1);
	if (step->kind == PCTL_STEP_COPY)
		accesses[1] = access_of(rec, step->from, step->from_offset, step->n_bytes, 0);
	if (pctl_hazards_meet(&rec->hazards, accesses, n)) {
		rec->r->barriers++;
		status = rec->r->t->list_barrier(rec->r->work.list, rec->r->call);
		pctl_hazards_clear(&rec->hazards);
	}
	if (status == PCTL_OK)
		status = pctl_hazards_note(&rec->hazards, accesses, n, rec->r->call);
	if (is_kernel)
		free(accesses);
	return status;
}

static pctl_status record_kernel(struct recorder *rec, uint32_t index)
{
	const pctl_step *step = &rec->r->plan->steps[index];
	pctl_binding *bindings = calloc(step->n_bindings + 1u, sizeof(*bindings));
	pctl_status status;

	if (bindings == NULL)
		return pctl_no_memory(rec->r->call, "a job");
	for (uint32_t i = 0; i < step->n_bindings; i++) {
		const pctl_plan_binding *b = &step->bindings[i];

		bindings[i] = (pctl_binding){b->group, b->binding, rec->buffers[b->buffer],
					     rec->bases[b->buffer] + b->offset, b->n_bytes};
	}
	status = step->counts == 0
			 ? pctl_submission_dispatch(&rec->r->work, rec->r->kernels[index], bindings,
						    step->n_bindings, step->groups)
			 : pctl_submission_indirect(
				   &rec->r->work, rec->r->kernels[index], bindings,
				   step->n_bindings, rec->buffers[step->counts - 1u],
				   rec->bases[step->counts - 1u] + step->counts_offset,
				   step->groups);
	free(bindings);
	return status;
}

int pctl_job_is_cut(const struct pctl_job_running *r, uint64_t round)
{
	return r->run->cut && round + 1 == r->run->repeat;
}

uint32_t pctl_job_steps_of(const struct pctl_job_running *r, uint64_t round)
{
	return pctl_job_is_cut(r, round) && r->run->steps < r->plan->n_steps ? r->run->steps
									     : r->plan->n_steps;
}

int pctl_job_is_empty(const pctl_step *step)
{
	return step->kind != PCTL_STEP_KERNEL && step->n_bytes == 0;
}

/* The first kernel of the steps, and the last, stand between the timestamps of a round that is timed. */
static int is_timed(const pctl_job_plan *plan, uint32_t i, uint32_t slot)
{
	const uint32_t n = plan->n_steps;

	if (plan->steps[i].kind != PCTL_STEP_KERNEL)
		return 0;
	for (uint32_t k = slot == PCTL_SLOT_BEGIN ? 0 : i + 1;
	     k < (slot == PCTL_SLOT_BEGIN ? i : n); k++)
		if (plan->steps[k].kind == PCTL_STEP_KERNEL)
			return 0;
	return 1;
}

static pctl_status note_time(const struct recorder *rec, uint32_t i, uint32_t slot)
{
	struct pctl_job_running *r = rec->r;

	if (r->run->times == NULL || pctl_session_caps(r->s)->timestamp_ns_den == 0 ||
	    !is_timed(r->plan, i, slot))
		return PCTL_OK;
	return r->t->list_timestamp(r->work.list, r->call, slot);
}

/* Steps from `first` to before `end` of a round. */
static pctl_status record_steps(struct recorder *rec, uint64_t round, uint32_t first, uint32_t end)
{
	struct pctl_job_running *r = rec->r;
	pctl_status status = PCTL_OK;

	uint32_t mark = 0;

	pctl_job_buffers_of(r, round, rec->buffers, rec->bases);
	for (uint32_t i = first; status == PCTL_OK && i < end; i++) {
		const pctl_step *step = &r->plan->steps[i];

		if (mark < r->run->n_marks && r->run->marks[mark] == i)
			status = r->t->list_timestamp(r->work.list, r->call, mark++);
		if (status != PCTL_OK)
			break;
		if (pctl_job_is_empty(step) || pctl_step_falls_away(r->plan, step, r->run->places))
			continue;
		status = barrier_before(rec, step);
		if (status == PCTL_OK)
			status = note_time(rec, i, PCTL_SLOT_BEGIN);
		if (status != PCTL_OK)
			break;
		if (step->kind == PCTL_STEP_KERNEL)
			status = record_kernel(rec, i);
		else if (step->kind == PCTL_STEP_FILL)
			status = r->t->list_fill(r->work.list, r->call, rec->buffers[step->to],
						 rec->bases[step->to] + step->to_offset,
						 step->n_bytes, step->word);
		else
			status = r->t->list_copy(
				r->work.list, r->call, rec->buffers[step->from],
				rec->bases[step->from] + step->from_offset, rec->buffers[step->to],
				rec->bases[step->to] + step->to_offset, step->n_bytes);
		if (status == PCTL_OK)
			status = note_time(rec, i, PCTL_SLOT_END);
	}
	if (status == PCTL_OK && r->run->n_marks != 0)
		status = r->t->list_timestamp(r->work.list, r->call, mark);
	return status;
}

pctl_status pctl_job_record(struct pctl_job_running *r, uint64_t first, uint32_t n, uint32_t step,
			    pctl_list **out)
{
	struct recorder rec = {r,
			       calloc(r->plan->n_buffers + 1u, sizeof(pctl_buffer *)),
			       calloc(r->plan->n_buffers + 1u, sizeof(uint64_t)),
			       {NULL, 0, 0}};
	pctl_status status;

	*out = NULL;
	if (rec.buffers == NULL || rec.bases == NULL) {
		status = pctl_no_memory(r->call, "a job");
		goto out;
	}
	status = pctl_submission_open(&r->work);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		if (i != 0)
			status = r->t->list_barrier(r->work.list, r->call);
		pctl_hazards_clear(&rec.hazards);
		pctl_submission_trace(&r->work, r->plan->name, (uint32_t)(first + i), step);
		if (status == PCTL_OK)
			status = step == 0 ? record_steps(&rec, first + i, 0,
							  pctl_job_steps_of(r, first + i))
					   : record_steps(&rec, first, step - 1, step);
	}
	if (status == PCTL_OK)
		status = pctl_submission_end(&r->work, out);
	pctl_submission_drop(&r->work);
out:
	free(rec.buffers);
	free(rec.bases);
	pctl_hazards_drop(&rec.hazards);
	return status;
}
