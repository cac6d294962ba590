/* The verdict of a dispute: who states other bytes than the reference, and which. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "evidence/receipt/dispute_private.h"

void pctl_dispute_destroy(pctl_dispute *d)
{
	if (d != NULL)
		pctl_arena_destroy(d->arena); /* which holds d itself */
}

/* ---- outputs against the trace ------------------------------------------------------------- */

static const pctl_trace_buffer *stated(const pctl_receipt *r, const pctl_graph *g, uint32_t output)
{
	const pctl_source s = g->outputs[output];
	const char *name = pctl_node_out_name(&g->nodes[s.job], s.port);

	for (uint32_t i = 0; i < r->trace.n; i++) {
		const pctl_trace_leaf *leaf = &r->trace.leaves[i];

		if (leaf->level != PCTL_TRACE_JOBS || leaf->job != s.job)
			continue;
		for (uint32_t k = 0; k < leaf->n_buffers; k++)
			if (strcmp(leaf->buffers[k].name, name) == 0)
				return &leaf->buffers[k];
	}
	return NULL;
}

/* 1 when an output is not what the trace says its job gave; *buffer: its name. */
static int is_forged(const pctl_receipt *r, const pctl_graph *g, const char **buffer)
{
	const pctl_pipeline *p = g->pipeline;

	*buffer = "";
	if (r->n_outputs != p->n_outputs)
		return 1;
	for (uint32_t i = 0; i < p->n_outputs; i++) {
		const pctl_receipt_data *out = &r->outputs[i];
		const pctl_trace_buffer *b;

		*buffer = out->name;
		if (strcmp(out->name, p->outputs[i].port) != 0)
			return 1;
		if (g->outputs[i].job == PCTL_FROM_INPUT) {
			if (pctl_cid_compare(&out->cid, &r->inputs[g->outputs[i].port].cid) != 0)
				return 1;
			continue;
		}
		b = stated(r, g, i);
		if (b == NULL || b->n_bytes != out->n_bytes ||
		    pctl_cid_compare(&b->cid, &out->cid) != 0)
			return 1;
	}
	return 0;
}

/* ---- the line ------------------------------------------------------------------------------ */

static int same_place(const pctl_trace_leaf *a, const pctl_trace_leaf *b)
{
	return a != NULL && b != NULL && a->id != NULL && b->id != NULL && a->job == b->job &&
	       strcmp(a->id, b->id) == 0 && a->level == b->level && a->round == b->round &&
	       a->step == b->step;
}

static const pctl_trace_leaf *leaf_at(const pctl_receipt *r, uint32_t i)
{
	return i < r->trace.n ? &r->trace.leaves[i] : NULL;
}

/* What the reference gave, as a line. */
static pctl_status spell(struct pctl_hunt *h, const pctl_trace_leaf *place, const pctl_call *call,
			 pctl_trace_leaf *out)
{
	pctl_trace_buffer *buffers =
		pctl_arena_array(h->arena, h->n_after + (size_t)1, sizeof(*buffers));
	pctl_status status = buffers == NULL ? pctl_no_memory(call, "a dispute") : PCTL_OK;

	*out = *place;
	out->id = pctl_arena_dup(h->arena, place->id);
	out->buffers = buffers;
	out->n_buffers = h->n_after;
	for (uint32_t i = 0; status == PCTL_OK && i < h->n_after; i++) {
		buffers[i].name = h->after[i].name;
		buffers[i].n_bytes = h->after[i].n_bytes;
		status = pctl_cid_of(h->after[i].data, h->after[i].n_bytes, call, &buffers[i].cid);
	}
	if (status == PCTL_OK && (out->id == NULL || !pctl_trace_leaf_spell(h->arena, out)))
		status = pctl_no_memory(call, "a dispute");
	return status;
}

static pctl_status judge_line(struct pctl_hunt *h, pctl_dispute *d,
			      const pctl_trace_leaf *const claimed[2], uint32_t target,
			      const pctl_call *call)
{
	const pctl_trace_leaf *line[2] = {claimed[0], claimed[1]};
	pctl_status status = pctl_hunt_run(h, claimed[0], target, call);

	if (status == PCTL_OK && h->strayed != 0) {
		/* Both state the same here, the run-up something else: the reference decides about that line. */
		line[0] = line[1] = &h->agreed->trace.leaves[h->strayed_at];
		d->both_agreed = 1;
		status = pctl_hunt_run(h, line[0], h->strayed_at, call);
	}
	if (status == PCTL_OK && h->strayed == 0)
		status = spell(h, line[0], call, &d->leaf);
	if (status != PCTL_OK)
		return status;
	for (uint32_t i = 0; i < 2 && h->strayed == 0; i++) {
		d->side[i].claimed = line[i]->line;
		d->side[i].wrong = strcmp(line[i]->line, d->leaf.line) != 0;
		if (d->side[i].wrong)
			status = pctl_dispute_evidence(h, line[i], &d->side[i], call);
		if (status != PCTL_OK)
			return status;
	}
	d->run_up = h->run_up;
	d->kernel = h->kernel;
	d->n_checked = h->n_checked;
	if (d->side[0].wrong || d->side[1].wrong)
		return PCTL_OK;
	return pctl_refuse(call, PC5914_DISPUTE_RUN_UP,
			   "%s: the reference gives the bytes of both receipts, %s gives others",
			   h->strayed != 0 ? "several steps" : d->leaf.line,
			   h->run_up == NULL ? "the device" : h->run_up);
}

/* Traces that have different places have not both the places of this pipeline. */
static pctl_status judge_places(struct pctl_hunt *h, pctl_dispute *d,
				const pctl_trace_leaf *const claimed[2], uint32_t target,
				const pctl_call *call)
{
	pctl_trace_leaf place = {.id = NULL};
	pctl_status status = pctl_hunt_place(h, target, call, &place);

	if (status != PCTL_OK)
		return status;
	d->forged = 1;
	d->run_up = h->run_up;
	for (uint32_t i = 0; i < 2; i++) {
		d->side[i].claimed = claimed[i] == NULL ? "" : claimed[i]->line;
		d->side[i].wrong =
			place.id == NULL ? claimed[i] != NULL : !same_place(claimed[i], &place);
		d->side[i].how = "its trace has another step there than this pipeline";
	}
	d->leaf = place;
	return d->side[0].wrong || d->side[1].wrong
		       ? PCTL_OK
		       : pctl_refuse(call, PC5914_DISPUTE_RUN_UP,
				     "the steps that were run again before the disputed one are "
				     "not those of the receipts");
}

static pctl_status judge(struct pctl_hunt *h, pctl_dispute *d, const pctl_receipt *a,
			 const pctl_receipt *b, const pctl_call *call)
{
	const pctl_receipt *const r[2] = {a, b};
	const pctl_trace_leaf *claimed[2];
	char place[PCTL_TRACE_PLACE];
	uint32_t at[2], n_same;
	pctl_status status;

	for (uint32_t i = 0; i < 2; i++) {
		d->side[i] = (pctl_dispute_side){.receipt = r[i], .claimed = "", .how = ""};
		d->side[i].wrong = (uint32_t)is_forged(r[i], h->graph, &d->side[i].buffer);
		d->forged |= d->side[i].wrong;
	}
	if (d->forged) {
		d->place = "the outputs";
		for (uint32_t i = 0; i < 2; i++)
			d->side[i].how = "an output is not what its own trace says";
		return PCTL_OK;
	}
	(void)pctl_receipt_compare(&a->trace, &b->trace, h->level, &at[0], &at[1], &n_same);
	claimed[0] = leaf_at(a, at[0]);
	claimed[1] = leaf_at(b, at[1]);
	status = same_place(claimed[0], claimed[1]) && claimed[0]->job < h->graph->n_nodes &&
				 (claimed[0]->level == PCTL_TRACE_JOBS ||
				  claimed[0]->round < h->graph->nodes[claimed[0]->job].repeat)
			 ? judge_line(h, d, claimed, at[0], call)
			 : judge_places(h, d, claimed, n_same, call);
	if (status != PCTL_OK)
		return status;
	d->place = d->leaf.id == NULL ? "after the last step"
				      : pctl_arena_dup(d->arena, pctl_trace_place(&d->leaf, place));
	return d->place == NULL ? pctl_no_memory(call, "a dispute") : PCTL_OK;
}

pctl_status pctl_dispute_judge(const pctl_receipt *a, const pctl_receipt *b, const pctl_reopened *p,
			       const pctl_run_options *o, const pctl_call *call, pctl_dispute **out)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_dispute *d = arena == NULL ? NULL : pctl_arena_alloc(arena, sizeof(*d));
	struct pctl_hunt h = {.p = p,
			      .graph = p->graph,
			      .o = o,
			      .agreed = a,
			      .arena = arena,
			      .timeout_ms = o->policy->time_ms,
			      .level = pctl_dispute_level(a, b)};
	pctl_status status;

	*out = NULL;
	if (d == NULL) {
		pctl_arena_destroy(arena);
		return pctl_no_memory(call, "a dispute");
	}
	d->arena = arena;
	h.inputs = calloc(PCTL_PORTS_MAX, sizeof(pctl_data_source *));
	status = h.inputs == NULL ? pctl_no_memory(call, "a dispute")
				  : pctl_reference_judge_open(o, arena, call, &h.judge);
	if (status == PCTL_OK)
		status = judge(&h, d, a, b, call);
	d->reference = h.judge.name;
	pctl_hunt_clear(&h);
	pctl_reference_judge_close(&h.judge);
	free(h.inputs);
	if (status == PCTL_OK)
		*out = d;
	else
		pctl_dispute_destroy(d);
	return status;
}
