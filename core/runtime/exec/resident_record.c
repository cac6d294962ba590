/* Recording a resident run: all commands of all jobs in one list (in one a segment, where inputs are streamed), and of one with states a
 * second list in which the states' buffers are exchanged. A barrier stands where the ranges of buffers need one. */
#include <stdlib.h>

#include "runtime/exec/resident_private.h"

void pctl_resident_where(const pctl_resident *r, const pctl_resident_range *a, uint32_t parity,
			 pctl_buffer **buffer, uint64_t *at)
{
	const pctl_resident_span *s = &r->spans[a->span];

	*buffer = s->buffer;
	*at = s->base + a->offset;
	if (s->kind == PCTL_SPAN_STATE || s->kind == PCTL_SPAN_PLACED)
		*buffer =
			r->family->states[r->held[s->number]]
				.buffers[r->family->states[r->held[s->number]].is_placed ? 0
											 : parity];
	if (s->kind == PCTL_SPAN_NEXT)
		*buffer = r->family->states[r->held[s->number]].buffers[1 - parity];
}

/* What a list is recorded with; room for as many as any command has. */
struct recorder {
	pctl_resident *r;
	pctl_submission *work;
	pctl_touched *accesses;
	pctl_binding *bindings;
	pctl_hazards hazards;
	uint32_t parity, n_barriers, n_transfers;
};

static pctl_status put_kernel(struct recorder *rec, const pctl_resident_command *c)
{
	const uint32_t n = c->step->n_bindings;
	const pctl_touched *counts = &rec->accesses[n];

	for (uint32_t i = 0; i < n; i++)
		rec->bindings[i] = (pctl_binding){c->ranges[i].group, c->ranges[i].binding,
						  (pctl_buffer *)(uintptr_t)rec->accesses[i].buffer,
						  rec->accesses[i].from, rec->accesses[i].n_bytes};
	if (c->step->counts == 0)
		return pctl_submission_dispatch(rec->work, c->kernel, rec->bindings, n,
						c->step->groups);
	return pctl_submission_indirect(rec->work, c->kernel, rec->bindings, n,
					(pctl_buffer *)(uintptr_t)counts->buffer, counts->from,
					c->step->groups);
}

static pctl_status put(struct recorder *rec, const pctl_resident_command *c)
{
	pctl_resident *r = rec->r;
	pctl_list *list = rec->work->list;
	const pctl_touched *to = &rec->accesses[0], *from = &rec->accesses[1];

	pctl_submission_trace(rec->work, r->run.nodes[c->node].node->job->id, 0, 0);
	if (c->kind == PCTL_STEP_KERNEL)
		return put_kernel(rec, c);
	rec->n_transfers++;
	if (c->kind == PCTL_STEP_FILL)
		return r->t->list_fill(list, r->call, (pctl_buffer *)(uintptr_t)to->buffer,
				       to->from, to->n_bytes, c->word);
	return r->t->list_copy(list, r->call, (pctl_buffer *)(uintptr_t)from->buffer, from->from,
			       (pctl_buffer *)(uintptr_t)to->buffer, to->from, to->n_bytes);
}

static pctl_status record_command(struct recorder *rec, const pctl_resident_command *c)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < c->n_ranges; i++) {
		pctl_buffer *buffer;
		uint64_t at;

		pctl_resident_where(rec->r, &c->ranges[i], rec->parity, &buffer, &at);
		rec->accesses[i] =
			(pctl_touched){buffer, at, c->ranges[i].n_bytes, c->ranges[i].writes, 0};
	}
	if (pctl_hazards_meet(&rec->hazards, rec->accesses, c->n_ranges)) {
		status = rec->r->t->list_barrier(rec->work->list, rec->r->call);
		pctl_hazards_clear(&rec->hazards);
		rec->n_barriers++;
	}
	if (status == PCTL_OK)
		status = pctl_hazards_note(&rec->hazards, rec->accesses, c->n_ranges, rec->r->call);
	return status == PCTL_OK ? put(rec, c) : status;
}

static pctl_status record_list(pctl_resident *r, const pctl_resident_command *commands, uint32_t n,
			       uint32_t parity, pctl_list **out)
{
	uint32_t most = 0;
	pctl_submission work;
	struct recorder rec = {.r = r, .work = &work, .parity = parity};
	pctl_status status;

	for (uint32_t i = 0; i < n; i++)
		most = commands[i].n_ranges > most ? commands[i].n_ranges : most;
	rec.accesses = calloc(most + 2u, sizeof(pctl_touched));
	rec.bindings = calloc(most + 2u, sizeof(pctl_binding));
	status = rec.accesses == NULL || rec.bindings == NULL
			 ? pctl_no_memory(r->call, "a resident run")
			 : PCTL_OK;
	pctl_submission_begin(&work, r->s, r->run.graph->pipeline->name, 0, r->call);
	if (status == PCTL_OK)
		status = pctl_submission_open(&work);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		status = record_command(&rec, &commands[i]);
	if (status == PCTL_OK)
		status = pctl_submission_end(&work, out);
	pctl_submission_drop(&work);
	r->n_dispatches += (uint32_t)work.dispatches;
	r->n_transfers += rec.n_transfers;
	r->n_barriers += rec.n_barriers;
	pctl_hazards_drop(&rec.hazards);
	free(rec.accesses);
	free(rec.bindings);
	return status;
}

pctl_status pctl_resident_record(pctl_resident *r)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < (pctl_resident_takes_turns(r) ? 2u : 1u);
	     i++) {
		r->n_dispatches = r->n_transfers = r->n_barriers = 0;
		for (uint32_t k = 0; status == PCTL_OK && k < r->n_segments; k++) {
			pctl_resident_segment *g = &r->segments[k];

			pctl_resident_settle_segment(r, g);
			status = record_list(r, r->commands + g->first, g->n, i, &g->lists[i]);
		}
	}
	return status;
}

void pctl_resident_drop_lists(pctl_resident *r)
{
	for (uint32_t k = 0; k < r->n_segments; k++)
		for (uint32_t i = 0; i < 2; i++) {
			if (r->segments[k].lists[i] != NULL)
				r->t->list_destroy(r->dev, r->segments[k].lists[i]);
			r->segments[k].lists[i] = NULL;
		}
}

pctl_status pctl_resident_run_once(pctl_resident *r)
{
	pctl_list *list = NULL;
	pctl_submission work;
	pctl_status status = PCTL_OK;

	if (r->n_once != 0)
		status = record_list(r, r->once, r->n_once, 0, &list);
	if (list != NULL) {
		pctl_submission_begin(&work, r->s, r->run.graph->pipeline->name,
				      r->o.policy->time_ms, r->call);
		status = pctl_submission_run(&work, list, 1);
		r->t->list_destroy(r->dev, list);
	}
	pctl_resident_let_go(r);
	return status;
}
