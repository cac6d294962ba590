/* Building plans: the sink an op library writes into, nested ops opened up in place, every number
 * checked before it is believed. */
#include "runtime/graph/jobplan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/vec.h"
#include "compiler/wgsl/wgsl.h"

#define DEEPEST_NESTING 8u

/* A plan while it grows; the plan comes first so that a pointer to one is a pointer to the other.
 */
struct growing {
	pctl_job_plan plan;
	uint32_t cap_buffers, cap_steps, cap_checks;
};

/* One op being planned: its view of the plan's buffers. */
struct frame {
	const pctl_planner *planner;
	pctl_job_plan *plan;
	const pctl_op_ref *op;
	const pctl_call *call;
	uint32_t *buffers; /* local number to plan number */
	uint32_t n_buffers, cap_buffers;
	uint32_t depth, flags;
	pctl_status status; /* the first that a callback refused: plan must not go on after it */
};

static pctl_status out_of_memory(const pctl_call *call)
{
	return pctl_refuse(call, PC2_NOMEM, "no memory for a plan");
}

void pctl_job_plan_destroy(pctl_job_plan *p)
{
	if (p == NULL)
		return;
	free(p->buffers);
	free(p->steps);
	free(p->checks);
	pctl_arena_destroy(p->arena);
	free(p);
}

pctl_status pctl_job_plan_create(const char *job, const pctl_call *call, pctl_job_plan **out)
{
	struct growing *g = calloc(1, sizeof(*g));

	*out = NULL;
	if (g == NULL)
		return out_of_memory(call);
	g->plan.arena = pctl_arena_create();
	g->plan.name = g->plan.arena == NULL ? NULL : pctl_arena_dup(g->plan.arena, job);
	if (g->plan.name == NULL) {
		pctl_job_plan_destroy(&g->plan);
		return out_of_memory(call);
	}
	g->plan.determinism = PCTL_CLASS_INTEGER;
	g->plan.race = PCTL_PROOF_PROVEN;
	*out = &g->plan;
	return PCTL_OK;
}

pctl_status pctl_job_plan_buffer(pctl_job_plan *p, uint32_t kind, uint64_t n_bytes,
				 const void *data, const pctl_call *call, uint32_t *number)
{
	struct growing *g = (struct growing *)p;
	pctl_plan_buffer b = {kind,
			      PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM | PCTL_BUFFER_TRANSFER,
			      n_bytes, NULL};

	*number = 0;
	if (kind == PCTL_PLAN_PARAMS) {
		void *copy = pctl_arena_alloc(p->arena, n_bytes);

		if (copy == NULL)
			return out_of_memory(call);
		if (n_bytes != 0)
			memcpy(copy, data, n_bytes);
		b.data = copy;
	}
	if (!pctl_vec_reserve((void **)&p->buffers, p->n_buffers, &g->cap_buffers,
			      sizeof(*p->buffers)))
		return out_of_memory(call);
	(void)pctl_num_add(p->buffer_bytes, n_bytes, &p->buffer_bytes);
	p->n_in += kind == PCTL_PLAN_INPUT;
	p->n_out += kind == PCTL_PLAN_OUTPUT;
	*number = p->n_buffers;
	p->buffers[p->n_buffers++] = b;
	return PCTL_OK;
}

static pctl_status add_step(pctl_job_plan *p, const pctl_step *step, const pctl_call *call)
{
	struct growing *g = (struct growing *)p;

	if (!pctl_vec_reserve((void **)&p->steps, p->n_steps, &g->cap_steps, sizeof(*p->steps)))
		return out_of_memory(call);
	p->steps[p->n_steps++] = *step;
	return PCTL_OK;
}

static int writes(const pctl_program *p, const pctl_plan_binding *b)
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
	return a->buffer == b->buffer && a->offset < b->offset + b->n_bytes &&
	       b->offset < a->offset + a->n_bytes;
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

		if (!writes(p, b))
			continue;
		if (kind == PCTL_PLAN_INPUT || kind == PCTL_PLAN_PARAMS)
			return pctl_refuse(call, PC4130_BINDING,
					   "job \"%s\": kernel %s writes group %" PRIu32
					   " binding %" PRIu32 ", which is bound to %s",
					   plan->name, step->unit->name, b->group, b->binding,
					   kind == PCTL_PLAN_INPUT ? "an input" : "parameters");
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

pctl_status pctl_job_plan_kernel(pctl_job_plan *p, const pctl_kernel_module *unit,
				 const pctl_plan_binding *bindings, uint32_t n_bindings,
				 const uint32_t groups[3], const pctl_call *call)
{
	pctl_step step = {.kind = PCTL_STEP_KERNEL, .unit = unit};
	const pctl_program *program = unit->program;
	pctl_status status;

	step.bindings = pctl_arena_array(p->arena, n_bindings, sizeof(*step.bindings));
	if (step.bindings == NULL)
		return out_of_memory(call);
	for (uint32_t i = 0; i < n_bindings; i++) {
		pctl_plan_binding b = bindings[i];
		uint64_t size, end;

		if (b.buffer >= p->n_buffers)
			return pctl_refuse(call, PC4130_BINDING,
					   "job \"%s\": kernel %s binds buffer %" PRIu32
					   " of %" PRIu32,
					   p->name, unit->name, b.buffer, p->n_buffers);
		size = p->buffers[b.buffer].n_bytes;
		if (b.offset == 0 && b.n_bytes == 0)
			b.n_bytes = size;
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
		if (kernel_has(program, &b))
			step.bindings[step.n_bindings++] = b;
	}
	status = check_all_bound(p, unit, step.bindings, step.n_bindings, call);
	if (status == PCTL_OK)
		status = check_written(p, &step, call);
	if (status != PCTL_OK)
		return status;
	for (uint32_t i = 0; i < 3; i++) {
		step.groups[i] = groups[i];
		if (program->max_dispatch[i] != 0 && groups[i] > program->max_dispatch[i])
			return pctl_refuse(
				call, PC4131_DISPATCH,
				"job \"%s\": kernel %s: %" PRIu32
				" workgroups along %c, it declares a maximum of %" PRIu32,
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
	return add_step(p, &step, call);
}

pctl_status pctl_job_plan_copy(pctl_job_plan *p, uint32_t from, uint32_t to, const pctl_call *call)
{
	pctl_step step = {
		.kind = PCTL_STEP_COPY, .from = from, .to = to, .n_bytes = p->buffers[to].n_bytes};

	if (p->buffers[from].n_bytes != step.n_bytes)
		return pctl_refuse(call, PC4130_BINDING,
				   "job \"%s\": a variable starts with %" PRIu64
				   " bytes and ends with %" PRIu64,
				   p->name, p->buffers[from].n_bytes, step.n_bytes);
	return add_step(p, &step, call);
}

pctl_status pctl_job_plan_zero(pctl_job_plan *p, uint32_t buffer, const pctl_call *call)
{
	pctl_step step = {
		.kind = PCTL_STEP_FILL, .to = buffer, .n_bytes = p->buffers[buffer].n_bytes};

	return add_step(p, &step, call);
}

/* ---- the sink ----------------------------------------------------------------------------- */

/* Every callback of the sink answers through this. */
static pctl_status kept(struct frame *f, pctl_status status)
{
	if (f->status == PCTL_OK)
		f->status = status;
	return status;
}

static pctl_status bad_plan(const struct frame *f, const char *what)
{
	return pctl_refuse(f->call, PC4132_PLAN, "op \"%s\" of \"%s\" gave a bad plan: %s",
			   f->op->desc->name, f->op->plugin, what);
}

static pctl_status map_buffer(struct frame *f, uint32_t plan_number, uint32_t *local)
{
	if (!pctl_vec_reserve((void **)&f->buffers, f->n_buffers, &f->cap_buffers,
			      sizeof(*f->buffers)))
		return out_of_memory(f->call);
	*local = f->n_buffers;
	f->buffers[f->n_buffers++] = plan_number;
	return PCTL_OK;
}

static pctl_status new_buffer(struct frame *f, uint32_t kind, const void *data, uint64_t n_bytes,
			      uint32_t *local)
{
	uint32_t number;
	pctl_status status = pctl_job_plan_buffer(f->plan, kind, n_bytes, data, f->call, &number);

	*local = 0;
	return status != PCTL_OK ? status : map_buffer(f, number, local);
}

static pctl_status sink_temp(void *ctx, uint64_t n_bytes, uint32_t *buffer)
{
	return kept(ctx, new_buffer(ctx, PCTL_PLAN_TEMP, NULL, n_bytes, buffer));
}

static pctl_status sink_params(void *ctx, const void *bytes, uint64_t n_bytes, uint32_t *buffer)
{
	if (bytes == NULL && n_bytes != 0)
		return kept(ctx, bad_plan(ctx, "parameters without bytes"));
	return kept(ctx, new_buffer(ctx, PCTL_PLAN_PARAMS, bytes, n_bytes, buffer));
}

static pctl_status add_kernel(struct frame *f, const pctl_plan_kernel *k)
{
	pctl_override_value *overrides = calloc(k->n_overrides + 1u, sizeof(*overrides));
	pctl_plan_binding *bindings = calloc(k->n_bindings + 1u, sizeof(*bindings));
	pctl_kernel_source source = {k->name,
				     k->wgsl,
				     strlen(k->wgsl),
				     k->entry,
				     overrides,
				     k->n_overrides,
				     f->planner->wgsl_flags,
				     k->groups,
				     0,
				     0};
	const pctl_kernel_module *unit;
	pctl_status status = PCTL_OK;

	if (overrides == NULL || bindings == NULL) {
		status = out_of_memory(f->call);
		goto out;
	}
	for (uint32_t i = 0; i < k->n_overrides; i++)
		overrides[i] =
			(pctl_override_value){k->overrides[i].name, k->overrides[i].value, NULL};
	for (uint32_t i = 0; i < k->n_bindings; i++) {
		bindings[i] = k->bindings[i];
		if (bindings[i].buffer >= f->n_buffers) {
			status = bad_plan(f, "a kernel binds a buffer that does not exist");
			goto out;
		}
		bindings[i].buffer = f->buffers[bindings[i].buffer];
	}
	status = pctl_kernels_get(f->planner->kernels, &source, f->call, &unit);
	if (status == PCTL_OK)
		status = pctl_job_plan_kernel(f->plan, unit, bindings, k->n_bindings, k->groups,
					      f->call);
out:
	free(overrides);
	free(bindings);
	return status;
}

static pctl_status sink_kernel(void *ctx, const pctl_plan_kernel *k)
{
	int whole = k->name != NULL && k->wgsl != NULL &&
		    (k->overrides != NULL || k->n_overrides == 0) &&
		    (k->bindings != NULL || k->n_bindings == 0);

	return kept(ctx, whole ? add_kernel(ctx, k)
			       : bad_plan(ctx, "a kernel lacks its name, text or tables"));
}

static int range_ok(const struct frame *f, uint32_t buffer, uint64_t offset, uint64_t n_bytes)
{
	uint64_t end;

	return buffer < f->n_buffers && offset % 4 == 0 && n_bytes % 4 == 0 &&
	       pctl_num_add(offset, n_bytes, &end) &&
	       end <= f->plan->buffers[f->buffers[buffer]].n_bytes;
}

/* A fill or copy writes what is the plan's own; see check_written. */
static int is_writable(const struct frame *f, uint32_t buffer)
{
	uint32_t kind = f->plan->buffers[f->buffers[buffer]].kind;

	return kind == PCTL_PLAN_OUTPUT || kind == PCTL_PLAN_TEMP;
}

static pctl_status sink_fill(void *ctx, uint32_t buffer, uint64_t offset, uint64_t n_bytes,
			     uint32_t word)
{
	struct frame *f = ctx;
	pctl_step step = {
		.kind = PCTL_STEP_FILL, .to_offset = offset, .n_bytes = n_bytes, .word = word};

	if (!range_ok(f, buffer, offset, n_bytes))
		return kept(f, bad_plan(f, "a fill is not aligned to 4 bytes or outside its "
					   "buffer"));
	if (!is_writable(f, buffer))
		return kept(f, bad_plan(f, "a fill of an input or of parameters"));
	step.to = f->buffers[buffer];
	return kept(f, add_step(f->plan, &step, f->call));
}

static pctl_status sink_copy(void *ctx, uint32_t from, uint64_t from_offset, uint32_t to,
			     uint64_t to_offset, uint64_t n_bytes)
{
	struct frame *f = ctx;
	pctl_step step = {.kind = PCTL_STEP_COPY,
			  .from_offset = from_offset,
			  .to_offset = to_offset,
			  .n_bytes = n_bytes};

	if (!range_ok(f, from, from_offset, n_bytes) || !range_ok(f, to, to_offset, n_bytes))
		return kept(f, bad_plan(f, "a copy is not aligned to 4 bytes or outside its "
					   "buffers"));
	if (!is_writable(f, to))
		return kept(f, bad_plan(f, "a copy over an input or parameters"));
	step.from = f->buffers[from];
	step.to = f->buffers[to];
	if (step.from == step.to)
		return kept(f, bad_plan(f, "a copy within one buffer"));
	return kept(f, add_step(f->plan, &step, f->call));
}

static pctl_status sink_assert(void *ctx, const pctl_plan_assert *a)
{
	struct frame *f = ctx;
	struct growing *g = (struct growing *)f->plan;
	pctl_plan_check check = {0, a->bytes, a->offset, a->expected, NULL};

	if ((a->bytes != 4 && a->bytes != 8) || !range_ok(f, a->buffer, a->offset, a->bytes))
		return kept(f, bad_plan(f, "an assertion looks outside its buffer"));
	if (a->message == NULL)
		return kept(f, bad_plan(f, "an assertion without a message"));
	check.buffer = f->buffers[a->buffer];
	check.message = pctl_arena_dup(f->plan->arena, a->message);
	if (check.message == NULL || !pctl_vec_reserve((void **)&f->plan->checks, f->plan->n_checks,
						       &g->cap_checks, sizeof(check)))
		return kept(f, out_of_memory(f->call));
	f->plan->checks[f->plan->n_checks++] = check;
	return PCTL_OK;
}

static pctl_status sink_measure(void *ctx, uint32_t buffer, uint64_t offset, uint32_t bytes,
				uint64_t add)
{
	struct frame *f = ctx;

	if ((bytes != 4 && bytes != 8) || !range_ok(f, buffer, offset, bytes) ||
	    f->plan->has_measure)
		return kept(f, bad_plan(f, "a measure looks outside its buffer, or there are "
					   "two"));
	if (!(f->flags & PCTL_PLAN_MEASURE))
		return kept(f, bad_plan(f, "a measure where none was asked for"));
	f->plan->has_measure = 1;
	f->plan->measure_buffer = f->buffers[buffer];
	f->plan->measure_offset = offset;
	f->plan->measure_bytes = bytes;
	f->plan->measure_add = add;
	return PCTL_OK;
}

static pctl_status run_frame(struct frame *f, const pctl_op_query *q);

/* A plan op's own plan. Of a function op the host writes the kernel, over the frame's buffers,
 * unless it has attributes, which a function cannot see, and plans for those asked for. */
static pctl_status run_op(struct frame *f, const pctl_op_query *q)
{
	pctl_op_result result = {.head = PCTL_HEAD(pctl_op_result)};
	pctl_status status = PCTL_E_UNSUPPORTED;

	/* Found by analysis, never by claim, but for this: a tolerance is no kernel's to show. */
	if (f->op->desc->op_class == PCTL_CLASS_APPROXIMATE)
		f->plan->determinism = PCTL_CLASS_APPROXIMATE;
	if (f->op->desc->kind != PCTL_OPDEF_FUNCTION || f->op->desc->n_attr != 0)
		status = run_frame(f, q);
	if (f->op->desc->kind != PCTL_OPDEF_FUNCTION || status != PCTL_E_UNSUPPORTED)
		return status;
	status = f->op->lib->infer(f->op->inst, f->call, q, &result);
	return status != PCTL_OK ? status
				 : pctl_job_plan_function(f->planner, f->op, q, result.out,
							  f->buffers, f->call, f->plan);
}

static pctl_status add_op(struct frame *f, const char *name, uint32_t version,
			  const uint32_t *buffers, const pctl_tensor_type *types,
			  uint32_t n_buffers, const pctl_attr *attr, uint32_t n_attr)
{
	struct frame inner = {.planner = f->planner,
			      .plan = f->plan,
			      .call = f->call,
			      .depth = f->depth + 1,
			      .flags = PCTL_PLAN_RUN};
	pctl_op_query q = {
		.head = PCTL_HEAD(pctl_op_query), .in = types, .attr = attr, .n_attr = n_attr};
	pctl_status status;
	pctl_op_ref op;
	uint32_t local;

	if (inner.depth > DEEPEST_NESTING)
		return bad_plan(f, "ops are nested too deeply");
	status = pctl_op_find(f->planner->ops, name, version, version, NULL, f->call, &op);
	if (status != PCTL_OK)
		return status;
	if (n_buffers != op.desc->n_in + op.desc->n_out || n_attr != op.desc->n_attr)
		return bad_plan(f, "a nested op has the wrong number of buffers or attributes");
	inner.op = &op;
	q.op = op.index;
	q.n_in = op.desc->n_in;
	for (uint32_t i = 0; status == PCTL_OK && i < n_buffers; i++) {
		if (buffers[i] >= f->n_buffers)
			status = bad_plan(f, "a nested op names a buffer that does not exist");
		else
			status = map_buffer(&inner, f->buffers[buffers[i]], &local);
	}
	if (status == PCTL_OK)
		status = run_op(&inner, &q);
	free(inner.buffers);
	return status;
}

static pctl_status sink_op(void *ctx, const char *name, uint32_t version, const uint32_t *buffers,
			   const pctl_tensor_type *types, uint32_t n_buffers, const pctl_attr *attr,
			   uint32_t n_attr)
{
	if (name == NULL || (n_buffers != 0 && (buffers == NULL || types == NULL)) ||
	    (n_attr != 0 && attr == NULL))
		return kept(ctx, bad_plan(ctx, "a nested op lacks its name or tables"));
	return kept(ctx, add_op(ctx, name, version, buffers, types, n_buffers, attr, n_attr));
}

static pctl_status run_frame(struct frame *f, const pctl_op_query *q)
{
	pctl_plan_sink sink = {PCTL_HEAD(pctl_plan_sink),
			       f,
			       sink_temp,
			       sink_params,
			       sink_kernel,
			       sink_fill,
			       sink_copy,
			       sink_op,
			       sink_assert,
			       sink_measure};

	pctl_status status =
		f->op->lib->plan(f->op->inst, f->call, q, &f->planner->caps, f->flags, &sink);

	/* A library that goes on after a refusal must not get half a plan accepted. */
	return f->status != PCTL_OK ? f->status : status;
}

pctl_status pctl_job_plan_op(const pctl_planner *planner, const char *job, const pctl_op_ref *op,
			     const pctl_op_query *q, const pctl_tensor_type *out_types,
			     uint32_t flags, const pctl_call *call, pctl_job_plan **out)
{
	struct frame f = {.planner = planner, .op = op, .call = call, .flags = flags};
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
			status = new_buffer(&f, i < q->n_in ? PCTL_PLAN_INPUT : PCTL_PLAN_OUTPUT,
					    NULL, n_bytes, &local);
	}
	if (status == PCTL_OK)
		status = run_op(&f, q);
	if (status == PCTL_OK && (flags & PCTL_PLAN_MEASURE) && !f.plan->has_measure)
		status = bad_plan(&f, "it measured nothing");
	free(f.buffers);
	if (status != PCTL_OK) {
		pctl_job_plan_destroy(f.plan);
		return status;
	}
	*out = f.plan;
	return PCTL_OK;
}
