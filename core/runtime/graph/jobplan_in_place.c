/* Outputs in the place of inputs: what a plan must be like for that (SEMANTICS.md 17.7). An op library is not believed; its steps are
 * looked at. */
#include <inttypes.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "runtime/graph/jobplan.h"

/* A range of bytes, of a kernel's binding the whole buffer where it says so. */
struct range {
	uint64_t from, to;
};

static struct range range_of(const pctl_job_plan *p, uint32_t buffer, uint64_t offset,
			     uint64_t n_bytes)
{
	const int is_whole = offset == 0 && n_bytes == 0;

	return (struct range){offset, is_whole ? p->buffers[buffer].n_bytes : offset + n_bytes};
}

static int meet(struct range a, struct range b)
{
	return a.from < b.to && b.from < a.to;
}

static int is_copy(const pctl_step *step, uint32_t in, uint32_t out)
{
	return step->kind == PCTL_STEP_COPY && step->from == in && step->to == out &&
	       step->from_offset == step->to_offset;
}

/* Does a step touch these bytes of a buffer. */
static int touches(const pctl_job_plan *p, const pctl_step *step, uint32_t buffer,
		   struct range bytes)
{
	for (uint32_t i = 0; step->kind == PCTL_STEP_KERNEL && i < step->n_bindings; i++) {
		const pctl_plan_binding *b = &step->bindings[i];

		if (b->buffer == buffer && meet(bytes, range_of(p, buffer, b->offset, b->n_bytes)))
			return 1;
	}
	if (step->kind == PCTL_STEP_KERNEL || step->n_bytes == 0)
		return 0;
	if (step->to == buffer &&
	    meet(bytes, (struct range){step->to_offset, step->to_offset + step->n_bytes}))
		return 1;
	return step->kind == PCTL_STEP_COPY && step->from == buffer &&
	       meet(bytes, (struct range){step->from_offset, step->from_offset + step->n_bytes});
}

/* What keeps the output out of the input's place, or NULL. *step: where. */
static const char *fault(const pctl_job_plan *p, uint32_t in, uint32_t out, uint32_t *step)
{
	const struct range all = {0, UINT64_MAX};

	*step = 0;
	if (p->buffers[in].n_bytes != p->buffers[out].n_bytes)
		return "has another size";
	for (uint32_t i = 0; i < p->n_checks; i++)
		if (p->checks[i].buffer == in)
			return "is read by an assertion";
	for (uint32_t i = 0; i < p->n_steps; i++) {
		const pctl_step *copy = &p->steps[i];

		*step = i + 1;
		if (!is_copy(copy, in, out)) {
			if (touches(p, copy, in, all))
				return copy->kind == PCTL_STEP_KERNEL ? "is bound to a kernel"
								      : "is moved to another place";
			continue;
		}
		for (uint32_t k = 0; k < i; k++)
			if (!is_copy(&p->steps[k], in, out) &&
			    touches(p, &p->steps[k], out,
				    (struct range){copy->to_offset,
						   copy->to_offset + copy->n_bytes}))
				return "is read after the output was written";
	}
	return NULL;
}

pctl_status pctl_job_plan_in_place(pctl_job_plan *p, const pctl_op_desc *desc,
				   const pctl_call *call)
{
	memset(p->in_place, 0, sizeof(p->in_place));
	for (uint32_t i = 0; i < desc->n_out; i++) {
		const uint32_t place = PCTL_PORT_PLACE(desc->out[i].flags);
		const char *why;
		uint32_t step;

		if (place == 0)
			continue;
		if (place > p->n_in)
			return pctl_refuse(call, PC4132_PLAN,
					   "op \"%s\": output \"%s\" lies in the place of an input "
					   "that there is not",
					   desc->name, desc->out[i].name);
		why = fault(p, place - 1, p->n_in + i, &step);
		for (uint32_t k = 0; why == NULL && k < i; k++)
			if (PCTL_PORT_PLACE(desc->out[k].flags) == place)
				why = "is the place of another output, too";
		if (why == NULL)
			p->in_place[i] = (uint8_t)place;
		else if (!p->is_cut)
			return pctl_refuse(
				call, PC4132_PLAN,
				"op \"%s\": output \"%s\" is said to lie in the place of input "
				"\"%s\", which %s (step %" PRIu32 " of its plan)",
				desc->name, desc->out[i].name,
				place <= desc->n_in ? desc->in[place - 1].name : "?", why, step);
	}
	return PCTL_OK;
}

int pctl_step_falls_away(const pctl_job_plan *p, const pctl_step *step, const uint8_t *places)
{
	const uint32_t out = step->to - p->n_in;

	return places != NULL && step->kind == PCTL_STEP_COPY && step->to >= p->n_in &&
	       out < p->n_out && places[out] != 0 && step->from == places[out] - 1u;
}
