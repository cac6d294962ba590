/* Uniforms with declared maxima: a run holds them against its data before a job runs. Here what stays is looked at once, what
 * changes before each step; what a job or a state gives cannot be known in time. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/bytes.h"
#include "runtime/exec/resident_private.h"

static pctl_status hold(const pctl_job_plan *plan, const pctl_step *step, const pctl_max *m,
			const uint8_t *raw, uint32_t bytes, const pctl_call *call)
{
	const uint64_t value = pctl_le_get(raw, bytes);

	return value <= m->value ? PCTL_OK : pctl_run_refuse_max(plan, step, m, value, call);
}

static pctl_status keep(pctl_resident *r, const pctl_resident_max *m)
{
	if (r->n_maxima == r->room_maxima) {
		const uint32_t room = 2 * r->room_maxima + 16;
		pctl_resident_max *grown = realloc(r->maxima, room * sizeof(*grown));

		if (grown == NULL)
			return pctl_no_memory(r->call, "a resident run");
		r->maxima = grown;
		r->room_maxima = room;
	}
	r->maxima[r->n_maxima++] = *m;
	return PCTL_OK;
}

static pctl_status take(pctl_resident *r, uint32_t node, const pctl_resident_max *m,
			const pctl_plan_binding *b, const uint32_t *span_of)
{
	const pctl_plan_buffer *buffer = &m->plan->buffers[b->buffer];
	const pctl_graph_node *n = r->run.nodes[node].node;
	const pctl_resident_span *span = &r->spans[span_of[b->buffer]];
	const int goes_round = n->repeat > 1 && b->buffer < n->n_in && n->carry[b->buffer] != 0;
	pctl_resident_max kept = *m;
	uint8_t raw[8] = {0};
	pctl_status status = PCTL_OK;

	kept.offset += b->offset;
	if (buffer->kind == PCTL_PLAN_PARAMS || buffer->kind == PCTL_PLAN_CONSTANT) {
		memcpy(raw, (const uint8_t *)buffer->data + kept.offset, m->bytes);
	} else if (span->kind == PCTL_SPAN_ASK && !goes_round) {
		kept.changing = span->number;
		return keep(r, &kept);
	} else if (span->kind == PCTL_SPAN_INPUT && !goes_round) {
		status = pctl_value_read(r->run.inputs[span->number], kept.offset, raw, m->bytes,
					 r->call);
	} else {
		return pctl_refuse(r->call, PC5250_RESIDENT,
				   "job \"%s\": kernel %s: a uniform with a declared maximum comes "
				   "from a job or a state",
				   m->plan->name, m->step->unit->name);
	}
	return status == PCTL_OK ? hold(m->plan, m->step, m->max, raw, m->bytes, r->call) : status;
}

pctl_status pctl_resident_take_maxima(pctl_resident *r, uint32_t node, const pctl_job_plan *plan,
				      const uint32_t *span_of)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < plan->n_steps; i++) {
		const pctl_step *step = &plan->steps[i];
		const pctl_program *p = step->kind == PCTL_STEP_KERNEL ? step->unit->program : NULL;

		for (uint32_t k = 0; status == PCTL_OK && p != NULL && k < p->n_maxima; k++) {
			const pctl_var *v = &p->vars[p->maxima[k].var];
			pctl_resident_max m = {.plan = plan, .step = step, .max = &p->maxima[k]};

			if (!pctl_kernel_max_place(p, m.max, &m.offset, &m.bytes))
				continue;
			for (uint32_t b = 0; status == PCTL_OK && b < step->n_bindings; b++) {
				const pctl_plan_binding *at = &step->bindings[b];

				if (at->group == v->group && at->binding == v->binding &&
				    m.offset + m.bytes <= at->n_bytes)
					status = take(r, node, &m, at, span_of);
			}
		}
	}
	return status;
}

pctl_status pctl_resident_check_maxima(const pctl_resident *r, const pctl_resident_input *in)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < r->n_maxima; i++) {
		const pctl_resident_max *m = &r->maxima[i];
		uint8_t raw[8] = {0};

		/* What pads an input is zero. */
		for (uint32_t k = 0; k < m->bytes; k++)
			if (m->offset + k < in[m->changing].n_bytes)
				raw[k] = ((const uint8_t *)in[m->changing].data)[m->offset + k];
		status = hold(m->plan, m->step, m->max, raw, m->bytes, r->call);
	}
	return status;
}
