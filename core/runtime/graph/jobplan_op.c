/* An op library asked for a plan: function ops and views by the host's own kernels, nested ops opened up in place, what is too large
 * for a binding part by part. */
#include "runtime/graph/jobplan_private.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "runtime/graph/broadcast.h"
#include "runtime/graph/cut.h"
#include "runtime/graph/elementwise.h"
#include "runtime/graph/lookup.h"

static pctl_status run_frame(struct pctl_frame *f, const pctl_op_query *q);

/* The plan of a function op: its own where it has attributes, which a function cannot see, and plans for those asked for;
 * else the kernel that the host writes, over the frame's buffers. */
static pctl_status run_function(struct pctl_frame *f, const pctl_op_query *q)
{
	pctl_op_result result;
	pctl_tensor_type in[PCTL_PORTS_MAX];
	pctl_op_query asked = *q;
	pctl_plan_slot kept[PCTL_PORTS_MAX];
	pctl_status status = pctl_op_operands(f->op, q, f->plan->name, NULL, f->call, in);

	asked.in = in;
	for (uint32_t i = 0; i < q->n_in; i++)
		kept[i] = f->slots[i];
	if (status == PCTL_OK && f->op->desc->n_attr != 0) {
		const pctl_job_plan before = *f->plan;

		status =
			pctl_job_plan_stretch(f->planner, f->op, q, in, f->slots, f->call, f->plan);
		if (status == PCTL_OK)
			status = run_frame(f, &asked);
		if (status != PCTL_E_UNSUPPORTED)
			return status;
		/* Nothing was put: the copies are not needed. */
		f->plan->n_steps = before.n_steps;
		f->plan->n_buffers = before.n_buffers;
		f->plan->buffer_bytes = before.buffer_bytes;
		memcpy(f->slots, kept, q->n_in * sizeof(*kept));
		status = PCTL_OK;
	}
	if (status == PCTL_OK)
		status = pctl_op_infer(f->op, q, f->plan->name, NULL, f->call, &result);
	if (status == PCTL_OK)
		status = pctl_job_plan_function(f->planner, f->op, q, result.out, f->slots, f->call,
						f->plan);
	if (status == PCTL_OK && f->depth == 0)
		f->plan->form = PCTL_PLAN_FORM_FUNCTION;
	return status;
}

/* An input or output has more bytes than one binding of the device may have. */
static int is_too_large(const struct pctl_frame *f)
{
	const uint64_t most = f->planner->caps.max_binding_bytes;

	for (uint32_t i = 0; most != 0 && i < f->n_slots; i++)
		if (f->slots[i].n_bytes > most)
			return 1;
	return 0;
}

static pctl_status run_piece(void *ctx, const pctl_op_query *q, const pctl_plan_slot *slots,
			     uint32_t n)
{
	const struct pctl_frame *f = ctx;
	struct pctl_frame inner = {.planner = f->planner,
				   .plan = f->plan,
				   .op = f->op,
				   .call = f->call,
				   .depth = f->depth,
				   .within = f->within,
				   .flags = f->flags};
	pctl_status status = PCTL_OK;
	uint32_t local;

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		status = pctl_frame_map_slot(&inner, &slots[i], &local);
	if (status == PCTL_OK)
		status = run_frame(&inner, q);
	free(inner.slots);
	return status;
}

/* No kernel from step `from` on binds more than the device may. */
static int bindings_fit(const struct pctl_frame *f, uint32_t from)
{
	return pctl_job_plan_fits(f->plan, from, f->planner->caps.max_binding_bytes);
}

/* What was put since is taken back. */
static void back_to(struct pctl_frame *f, const pctl_job_plan *before, uint32_t n_slots)
{
	f->plan->n_steps = before->n_steps;
	f->plan->n_buffers = before->n_buffers;
	f->plan->n_checks = before->n_checks;
	f->plan->buffer_bytes = before->buffer_bytes;
	f->plan->is_cut = before->is_cut;
	f->n_slots = n_slots;
}

/* A part that fits may have temporaries that do not: then parts are made smaller. What cannot be cut so the library may cut itself,
 * and what binds too much in the end a device refuses. */
static pctl_status run_pieces(struct pctl_frame *f, const pctl_op_query *q,
			      const pctl_op_result *result)
{
	const pctl_job_plan before = *f->plan;
	pctl_cut cut = {.q = q,
			.result = result,
			.n_out = f->op->desc->n_out,
			.slots = f->slots,
			.most_bytes = f->planner->caps.max_binding_bytes,
			.alignment = f->planner->caps.binding_alignment,
			.each = run_piece,
			.ctx = f};
	pctl_status status = PCTL_OK;

	if (!pctl_cut_check(&cut))
		return pctl_frame_bad_plan(
			f, "it says that it can be cut along dimensions that its inputs and "
			   "outputs do not share");
	for (uint32_t i = 0; status == PCTL_OK && i < SMALLEST_PARTS; i++, cut.most_bytes /= 2) {
		f->plan->is_cut = 1;
		status = pctl_cut_run(&cut);
		if (status == PCTL_OK && bindings_fit(f, before.n_steps))
			return PCTL_OK;
		if (status == PCTL_OK || status == PCTL_E_UNSUPPORTED)
			back_to(f, &before, f->n_slots);
	}
	return status == PCTL_OK || status == PCTL_E_UNSUPPORTED ? run_frame(f, q) : status;
}

/* The library's plan, or where that binds too much one that is cut. */
static pctl_status run_plan(struct pctl_frame *f, const pctl_op_query *q)
{
	const pctl_job_plan before = *f->plan;
	const uint32_t n_slots = f->n_slots;
	pctl_op_result result;
	pctl_status status;

	if (!is_too_large(f)) {
		status = run_frame(f, q);
		if (status != PCTL_OK || bindings_fit(f, before.n_steps))
			return status;
		back_to(f, &before, n_slots);
	}
	status = pctl_op_infer(f->op, q, f->plan->name, NULL, f->call, &result);
	return status == PCTL_OK ? run_pieces(f, q, &result) : status;
}

/* A plan op's own plan, or of a view the copy. */
static pctl_status run_op(struct pctl_frame *f, const pctl_op_query *q)
{
	const pctl_op_desc *desc = f->op->desc;
	pctl_op_result result;
	pctl_status status;

	/* Found by analysis, never by claim, but for this: a tolerance is no kernel's to show. */
	if (desc->op_class == PCTL_CLASS_APPROXIMATE)
		f->plan->determinism = PCTL_CLASS_APPROXIMATE;
	if (desc->kind == PCTL_OPDEF_FUNCTION)
		return run_function(f, q);
	if (f->flags & PCTL_PLAN_MEASURE)
		return run_frame(f, q);
	if (pctl_lookup_port(desc) != UINT32_MAX) {
		if (f->within || f->repeat != NULL)
			return pctl_frame_bad_plan(f, "a lookup within a repeat");
		status = pctl_lookup_plan(f->planner, f->op, q, f->slots, f->call, f->plan);
		if (status != PCTL_OK)
			return status;
	}
	if (desc->n_in != 1 || desc->n_out != 1)
		return run_plan(f, q);
	status = pctl_op_infer(f->op, q, f->plan->name, NULL, f->call, &result);
	if (status != PCTL_OK)
		return status;
	if (!result.is_view)
		return run_plan(f, q);
	status = pctl_job_plan_view(f->planner, f->op, &q->in[0], &result, f->slots, f->call,
				    f->plan);
	if (status == PCTL_OK && f->depth == 0) {
		f->plan->form = PCTL_PLAN_FORM_VIEW;
		f->plan->view = result;
		f->plan->view.measure = NULL;
	}
	return status;
}

/* Whoever nests an op says of which types its buffers are; sizes follow from that in the op's plan and its kernels. */
static int type_fits(const struct pctl_frame *f, uint32_t buffer, const pctl_tensor_type *t)
{
	uint64_t n;

	return t->rank <= PCTL_RANK_MAX && pctl_type_buffer_bytes(t, &n) &&
	       n <= f->slots[buffer].n_bytes;
}

static pctl_status add_op(struct pctl_frame *f, const char *name, uint32_t version,
			  const uint32_t *buffers, const pctl_tensor_type *types,
			  uint32_t n_buffers, const pctl_attr *attr, uint32_t n_attr)
{
	struct pctl_frame inner = {.planner = f->planner,
				   .plan = f->plan,
				   .call = f->call,
				   .depth = f->depth + 1,
				   .within = f->within || f->repeat != NULL,
				   .flags = PCTL_PLAN_RUN};
	pctl_op_query q = {
		.head = PCTL_HEAD(pctl_op_query), .in = types, .attr = attr, .n_attr = n_attr};
	pctl_status status;
	pctl_op_ref op;
	uint32_t local;

	if (inner.depth > DEEPEST_NESTING)
		return pctl_frame_bad_plan(f, "ops are nested too deeply");
	status = pctl_op_find(f->planner->ops, name, version, version, NULL, f->call, &op);
	if (status != PCTL_OK)
		return status;
	if (n_buffers < op.desc->n_out || !pctl_op_takes(op.desc, n_buffers - op.desc->n_out) ||
	    n_attr != op.desc->n_attr)
		return pctl_frame_bad_plan(
			f, "a nested op has the wrong number of buffers or attributes");
	inner.op = &op;
	q.op = op.index;
	q.n_in = n_buffers - op.desc->n_out;
	for (uint32_t i = 0; status == PCTL_OK && i < n_buffers; i++) {
		if (buffers[i] >= f->n_slots)
			status = pctl_frame_bad_plan(
				f, "a nested op names a buffer that does not exist");
		else if (!type_fits(f, buffers[i], &types[i]))
			status = pctl_frame_bad_plan(f,
						     "a nested op's type does not fit its buffer");
		else if (pctl_frame_passes_by(f, buffers[i], 0) != NULL)
			status = pctl_frame_bad_plan(f, pctl_frame_passes_by(f, buffers[i], 0));
		else if (pctl_frame_is_placed(f, buffers[i]))
			status = pctl_frame_bad_plan(
				f, "an input in whose place an output lies goes to a nested op");
		else
			status = pctl_frame_map_slot(&inner, &f->slots[buffers[i]], &local);
		if (status == PCTL_OK)
			pctl_frame_touch(f, buffers[i]);
	}
	if (status == PCTL_OK)
		status = run_op(&inner, &q);
	free(inner.slots);
	return status;
}

static pctl_status sink_op(void *ctx, const char *name, uint32_t version, const uint32_t *buffers,
			   const pctl_tensor_type *types, uint32_t n_buffers, const pctl_attr *attr,
			   uint32_t n_attr)
{
	struct pctl_frame *f = ctx;

	if (pctl_frame_next_command(f) != PCTL_OK)
		return f->status;
	if (name == NULL || (n_buffers != 0 && (buffers == NULL || types == NULL)) ||
	    (n_attr != 0 && attr == NULL))
		return pctl_frame_kept(
			ctx, pctl_frame_bad_plan(ctx, "a nested op lacks its name or tables"));
	return pctl_frame_kept(ctx,
			       add_op(ctx, name, version, buffers, types, n_buffers, attr, n_attr));
}

static pctl_status run_frame(struct pctl_frame *f, const pctl_op_query *q)
{
	pctl_plan_sink sink = pctl_frame_sink(f);
	pctl_status status;

	f->n_in = q->n_in;
	sink.op = sink_op;
	status = f->op->lib->plan(f->op->inst, f->call, q, &f->planner->caps, f->flags, &sink);

	if (status == PCTL_OK && f->status == PCTL_OK && f->repeat != NULL)
		return pctl_frame_bad_plan(f, "a repeat without an end");
	/* A library that goes on after a refusal must not get half a plan accepted. */
	return f->status != PCTL_OK ? f->status : status;
}

pctl_status pctl_frame_run_op(struct pctl_frame *f, const pctl_op_query *q)
{
	return run_op(f, q);
}

pctl_status pctl_frame_run_library(struct pctl_frame *f, const pctl_op_query *q)
{
	return run_frame(f, q);
}

pctl_status pctl_job_plan_op(const pctl_planner *planner, const char *job, const pctl_op_ref *op,
			     const pctl_op_query *q, const pctl_tensor_type *out_types,
			     uint32_t flags, const pctl_call *call, pctl_job_plan **out)
{
	struct pctl_frame f = {.planner = planner, .op = op, .call = call, .flags = flags};
	uint32_t n_out = flags & PCTL_PLAN_MEASURE ? 0 : op->desc->n_out, local;
	pctl_status status = pctl_job_plan_create(job, call, &f.plan);

	*out = NULL;
	for (uint32_t i = 0; status == PCTL_OK && i < q->n_in + n_out; i++) {
		const pctl_tensor_type *t = i < q->n_in ? &q->in[i] : &out_types[i - q->n_in];
		uint64_t n_bytes;

		if (!pctl_type_buffer_bytes(t, &n_bytes))
			status =
				pctl_refuse(call, PC4133_SIZE,
					    "job \"%s\": a port of type %s does not fit in 64 bits",
					    job, pctl_type_text(f.plan->arena, t));
		else
			status = pctl_frame_new_buffer(
				&f, i < q->n_in ? PCTL_PLAN_INPUT : PCTL_PLAN_OUTPUT, NULL, n_bytes,
				&local);
	}
	if (status == PCTL_OK)
		status = run_op(&f, q);
	if (status == PCTL_OK && (flags & PCTL_PLAN_MEASURE) && !f.plan->has_measure)
		status = pctl_frame_bad_plan(&f, "it measured nothing");
	if (status == PCTL_OK && !(flags & PCTL_PLAN_MEASURE))
		status = pctl_job_plan_in_place(f.plan, op->desc, call);
	if (status == PCTL_OK)
		status = pctl_job_plan_place(f.plan, call);
	free(f.slots);
	if (status != PCTL_OK) {
		pctl_job_plan_destroy(f.plan);
		return status;
	}
	*out = f.plan;
	return PCTL_OK;
}
