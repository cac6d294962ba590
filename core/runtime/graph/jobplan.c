/* Building plans: the sink an op library writes into, nested ops opened up in place, every number
 * checked before it is believed. */
#include "runtime/graph/jobplan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/vec.h"
#include "compiler/wgsl/wgsl.h"
#include "runtime/graph/broadcast.h"
#include "runtime/graph/elementwise.h"
#include "runtime/graph/lookup.h"

#define DEEPEST_NESTING 8u
/* Of one plan with all ops that it opened up; of those shipped none has a thousand. */
#define MOST_COMMANDS 16384u
#define MOST_PARAMS (64u << 20)

/* A plan while it grows; the plan comes first so that a pointer to one is a pointer to the other.
 */
struct growing {
	pctl_job_plan plan;
	uint32_t cap_buffers, cap_steps, cap_checks;
	uint32_t n_commands;
	uint64_t n_params; /* bytes of parameters */
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
	return pctl_no_memory(call, "a plan");
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

pctl_status pctl_job_plan_kernel(pctl_job_plan *p, const pctl_kernel_module *unit,
				 const pctl_plan_binding *bindings, uint32_t n_bindings,
				 const uint32_t groups[3], const pctl_call *call)
{
	pctl_step step = {.kind = PCTL_STEP_KERNEL, .unit = unit};
	pctl_status status;

	status = pctl_job_plan_bind(p, &step, bindings, n_bindings, call);
	if (status != PCTL_OK)
		return status;
	status = pctl_job_plan_unit(p, &step, groups, call);
	if (status != PCTL_OK)
		return status;
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

pctl_status pctl_job_plan_check(pctl_job_plan *p, const pctl_plan_check *check,
				const pctl_call *call)
{
	struct growing *g = (struct growing *)p;
	const char *message = pctl_arena_dup(p->arena, check->message);

	if (message == NULL ||
	    !pctl_vec_reserve((void **)&p->checks, p->n_checks, &g->cap_checks, sizeof(*check)))
		return out_of_memory(call);
	p->checks[p->n_checks] = *check;
	p->checks[p->n_checks++].message = message;
	return PCTL_OK;
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

/* Every callback of the sink begins with this: after a refusal nothing is taken any more, and no plan grows without end. */
static pctl_status next_command(struct frame *f)
{
	struct growing *g = (struct growing *)f->plan;

	if (f->status == PCTL_OK && g->n_commands++ == MOST_COMMANDS)
		f->status = bad_plan(f, "it has no end, or more commands than a plan may");
	return f->status;
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
	struct frame *f = ctx;
	const uint64_t most = UINT64_MAX / 2; /* with what lies beside them they fit in 64 bits */

	*buffer = UINT32_MAX;
	if (next_command(f) != PCTL_OK)
		return f->status;
	if (n_bytes > most || f->plan->buffer_bytes > most - n_bytes)
		return kept(f, bad_plan(f, "temporaries that do not fit in 64 bits"));
	return kept(f, new_buffer(f, PCTL_PLAN_TEMP, NULL, n_bytes, buffer));
}

static pctl_status sink_params(void *ctx, const void *bytes, uint64_t n_bytes, uint32_t *buffer)
{
	struct frame *f = ctx;
	struct growing *g = (struct growing *)f->plan;

	*buffer = UINT32_MAX;
	if (next_command(f) != PCTL_OK)
		return f->status;
	if (bytes == NULL && n_bytes != 0)
		return kept(f, bad_plan(f, "parameters without bytes"));
	if (n_bytes > MOST_PARAMS - g->n_params)
		return kept(f, bad_plan(f, "more bytes of parameters than a plan may have"));
	g->n_params += n_bytes;
	return kept(f, new_buffer(f, PCTL_PLAN_PARAMS, bytes, n_bytes, buffer));
}

static pctl_status add_kernel(struct frame *f, const pctl_plan_kernel *k)
{
	pctl_override_value *overrides = calloc(k->n_overrides + 1u, sizeof(*overrides));
	pctl_plan_binding *bindings = calloc(k->n_bindings + 1u, sizeof(*bindings));
	pctl_known_binding *known = calloc(k->n_bindings + 1u, sizeof(*known));
	pctl_kernel_source source = {.name = k->name,
				     .text = k->wgsl,
				     .n_text = strlen(k->wgsl),
				     .entry = k->entry,
				     .overrides = overrides,
				     .n_overrides = k->n_overrides,
				     .flags = f->planner->wgsl_flags,
				     .groups = k->groups,
				     .bindings = known,
				     .n_bindings = k->n_bindings};
	const pctl_kernel_module *unit;
	pctl_status status = PCTL_OK;

	if (overrides == NULL || bindings == NULL || known == NULL) {
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
		known[i] = pctl_job_plan_known(f->plan, &bindings[i]);
	}
	status = pctl_kernels_get(f->planner->kernels, &source, f->call, &unit);
	if (status == PCTL_OK)
		status = pctl_job_plan_kernel(f->plan, unit, bindings, k->n_bindings, k->groups,
					      f->call);
out:
	free(overrides);
	free(bindings);
	free(known);
	return status;
}

static pctl_status sink_kernel(void *ctx, const pctl_plan_kernel *k)
{
	int whole = k->name != NULL && k->wgsl != NULL &&
		    (k->overrides != NULL || k->n_overrides == 0) &&
		    (k->bindings != NULL || k->n_bindings == 0);
	struct frame *f = ctx;

	if (next_command(f) != PCTL_OK)
		return f->status;
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

	if (next_command(f) != PCTL_OK)
		return f->status;
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

	if (next_command(f) != PCTL_OK)
		return f->status;
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
	pctl_plan_check check = {0, a->bytes, a->offset, a->expected, NULL, 0, 0};

	if (next_command(f) != PCTL_OK)
		return f->status;
	if ((a->bytes != 4 && a->bytes != 8) || !range_ok(f, a->buffer, a->offset, a->bytes))
		return kept(f, bad_plan(f, "an assertion looks outside its buffer"));
	if (a->message == NULL)
		return kept(f, bad_plan(f, "an assertion without a message"));
	if (PCTL_HAS(a, pctl_plan_assert, also_bytes) && a->also_bytes != 0) {
		if ((a->also_bytes != 4 && a->also_bytes != 8) ||
		    !range_ok(f, a->buffer, a->also_offset, a->also_bytes))
			return kept(f,
				    bad_plan(f, "an assertion tells what is outside its buffer"));
		check.also_offset = a->also_offset;
		check.also_bytes = a->also_bytes;
	}
	check.buffer = f->buffers[a->buffer];
	check.message = a->message;
	return kept(f, pctl_job_plan_check(f->plan, &check, f->call));
}

static pctl_status sink_measure(void *ctx, uint32_t buffer, uint64_t offset, uint32_t bytes,
				uint64_t add)
{
	struct frame *f = ctx;

	if (next_command(f) != PCTL_OK)
		return f->status;
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

/* The plan of a function op: its own where it has attributes, which a function cannot see, and plans for those asked for;
 * else the kernel that the host writes, over the frame's buffers. */
static pctl_status run_function(struct frame *f, const pctl_op_query *q)
{
	pctl_op_result result;
	pctl_tensor_type in[PCTL_PORTS_MAX];
	pctl_op_query asked = *q;
	uint32_t kept[PCTL_PORTS_MAX];
	pctl_status status = pctl_op_operands(f->op, q, f->plan->name, NULL, f->call, in);

	asked.in = in;
	for (uint32_t i = 0; i < q->n_in; i++)
		kept[i] = f->buffers[i];
	if (status == PCTL_OK && f->op->desc->n_attr != 0) {
		const pctl_job_plan before = *f->plan;

		status = pctl_job_plan_stretch(f->planner, f->op, q, in, f->buffers, f->call,
					       f->plan);
		if (status == PCTL_OK)
			status = run_frame(f, &asked);
		if (status != PCTL_E_UNSUPPORTED)
			return status;
		/* Nothing was put: the copies are not needed. */
		f->plan->n_steps = before.n_steps;
		f->plan->n_buffers = before.n_buffers;
		f->plan->buffer_bytes = before.buffer_bytes;
		memcpy(f->buffers, kept, q->n_in * sizeof(*kept));
		status = PCTL_OK;
	}
	if (status == PCTL_OK)
		status = pctl_op_infer(f->op, q, f->plan->name, NULL, f->call, &result);
	if (status == PCTL_OK)
		status = pctl_job_plan_function(f->planner, f->op, q, result.out, f->buffers,
						f->call, f->plan);
	if (status == PCTL_OK && f->depth == 0)
		f->plan->form = PCTL_PLAN_FORM_FUNCTION;
	return status;
}

/* A plan op's own plan, or of a view the copy. */
static pctl_status run_op(struct frame *f, const pctl_op_query *q)
{
	const pctl_op_desc *desc = f->op->desc;
	pctl_op_result result;
	pctl_status status;

	/* Found by analysis, never by claim, but for this: a tolerance is no kernel's to show. */
	if (desc->op_class == PCTL_CLASS_APPROXIMATE)
		f->plan->determinism = PCTL_CLASS_APPROXIMATE;
	if (desc->kind == PCTL_OPDEF_FUNCTION)
		return run_function(f, q);
	if (pctl_lookup_port(desc) != UINT32_MAX && !(f->flags & PCTL_PLAN_MEASURE)) {
		status = pctl_lookup_plan(f->planner, f->op, q, f->buffers, f->call, f->plan);
		if (status != PCTL_OK)
			return status;
	}
	if (desc->n_in != 1 || desc->n_out != 1 || f->flags & PCTL_PLAN_MEASURE)
		return run_frame(f, q);
	status = pctl_op_infer(f->op, q, f->plan->name, NULL, f->call, &result);
	if (status != PCTL_OK)
		return status;
	if (!result.is_view)
		return run_frame(f, q);
	status = pctl_job_plan_view(f->planner, f->op, &q->in[0], &result, f->buffers, f->call,
				    f->plan);
	if (status == PCTL_OK && f->depth == 0) {
		f->plan->form = PCTL_PLAN_FORM_VIEW;
		f->plan->view = result;
		f->plan->view.measure = NULL;
	}
	return status;
}

/* Whoever nests an op says of which types its buffers are; sizes follow from that in the op's plan and its kernels. */
static int type_fits(const struct frame *f, uint32_t buffer, const pctl_tensor_type *t)
{
	uint64_t n;

	return t->rank <= PCTL_RANK_MAX && pctl_type_buffer_bytes(t, &n) &&
	       n <= f->plan->buffers[f->buffers[buffer]].n_bytes;
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
	if (n_buffers < op.desc->n_out || !pctl_op_takes(op.desc, n_buffers - op.desc->n_out) ||
	    n_attr != op.desc->n_attr)
		return bad_plan(f, "a nested op has the wrong number of buffers or attributes");
	inner.op = &op;
	q.op = op.index;
	q.n_in = n_buffers - op.desc->n_out;
	for (uint32_t i = 0; status == PCTL_OK && i < n_buffers; i++) {
		if (buffers[i] >= f->n_buffers)
			status = bad_plan(f, "a nested op names a buffer that does not exist");
		else if (!type_fits(f, buffers[i], &types[i]))
			status = bad_plan(f, "a nested op's type does not fit its buffer");
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
	struct frame *f = ctx;

	if (next_command(f) != PCTL_OK)
		return f->status;
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
