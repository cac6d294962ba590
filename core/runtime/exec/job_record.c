/* Recording a job: the commands of rounds and steps, with a barrier only where one command needs what another wrote. */
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/job_private.h"

struct recorder {
	struct pctl_job_running *r;
	pctl_buffer **buffers;
	uint64_t *bases;  /* of the plan's bytes in them */
	uint8_t *touched; /* a plan buffer since the last barrier: 1 read, 2 written */
};

static int overlap(const struct recorder *rec, uint32_t a, uint32_t b)
{
	const pctl_plan_buffer *of = rec->r->plan->buffers;

	return rec->bases[a] < rec->bases[b] + of[b].n_bytes &&
	       rec->bases[b] < rec->bases[a] + of[a].n_bytes;
}

static void note_access(const struct recorder *rec, uint32_t buffer, int writes, uint8_t *next,
			int *hazard)
{
	/* Two plan numbers may be one buffer (a value fed to two ports) or lie in one (temporaries), so compare what they
	 * stand for. */
	for (uint32_t i = 0; i < rec->r->plan->n_buffers; i++) {
		if (rec->buffers[i] == rec->buffers[buffer] && overlap(rec, i, buffer) &&
		    (rec->touched[i] & 2 || (writes && rec->touched[i])))
			*hazard = 1;
	}
	next[buffer] |= writes ? 2 : 1;
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
	uint32_t n = rec->r->plan->n_buffers;
	uint8_t *next = calloc(n + 1u, 1);
	pctl_status status = PCTL_OK;
	int hazard = 0;

	if (next == NULL)
		return pctl_no_memory(rec->r->call, "a job");
	for (uint32_t i = 0; step->kind == PCTL_STEP_KERNEL && i < step->n_bindings; i++)
		note_access(rec, step->bindings[i].buffer,
			    pctl_job_writes(step->unit->program, &step->bindings[i]), next,
			    &hazard);
	if (step->kind != PCTL_STEP_KERNEL)
		note_access(rec, step->to, 1, next, &hazard);
	if (step->kind == PCTL_STEP_COPY)
		note_access(rec, step->from, 0, next, &hazard);
	if (hazard) {
		status = rec->r->t->list_barrier(rec->r->work.list, rec->r->call);
		memset(rec->touched, 0, n);
	}
	for (uint32_t i = 0; i < n; i++)
		rec->touched[i] |= next[i];
	free(next);
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
	status = pctl_submission_dispatch(&rec->r->work, rec->r->kernels[index], bindings,
					  step->n_bindings, step->groups);
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

	pctl_job_buffers_of(r, round, rec->buffers, rec->bases);
	for (uint32_t i = first; status == PCTL_OK && i < end; i++) {
		const pctl_step *step = &r->plan->steps[i];

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
	return status;
}

pctl_status pctl_job_record(struct pctl_job_running *r, uint64_t first, uint32_t n, uint32_t step,
			    pctl_list **out)
{
	struct recorder rec = {r, calloc(r->plan->n_buffers + 1u, sizeof(pctl_buffer *)),
			       calloc(r->plan->n_buffers + 1u, sizeof(uint64_t)),
			       calloc(r->plan->n_buffers + 1u, 1)};
	pctl_status status;

	*out = NULL;
	if (rec.buffers == NULL || rec.bases == NULL || rec.touched == NULL) {
		status = pctl_no_memory(r->call, "a job");
		goto out;
	}
	status = pctl_submission_open(&r->work);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		if (i != 0)
			status = r->t->list_barrier(r->work.list, r->call);
		memset(rec.touched, 0, r->plan->n_buffers);
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
	free(rec.touched);
	return status;
}
