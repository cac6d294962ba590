/* Baselines: how many elements a second the elementwise kernel of a function op makes on the device, on a shape that
 * keeps it busy. A measurement: it judges nothing and is compared with nothing here. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/order.h"
#include "runtime/graph/type.h"
#include "evidence/proof/function.h"
#include "evidence/proof/gates.h"
#include "evidence/proof/plans.h"
#include "foundation/base/clock.h"
#include "foundation/base/num.h"

#define LEAST (1u << 16)
#define MOST (1u << 24)
#define ENOUGH_NS (20u * 1000u * 1000u) /* a submit that takes this long is no longer grown */
#define SUBMITS 5u
#define PIECE (1u << 20)
#define WAIT_NS (UINT64_C(100) * 1000 * 1000)
#define WAITS 600u

/* What is measured: a plan over n elements on its own buffers. */
typedef struct measuring {
	pctl_proof_context *b;
	const pctl_call *call;
	const pctl_op_function *f;
	const pctl_backend *t;
	pctl_device *dev;
	pctl_job_plan *plan;
	pctl_buffer *buffers[PCTL_FUNCTION_OPERANDS + 1];
	pctl_list *list;
} measuring;

static void clear(measuring *m)
{
	if (m->list != NULL)
		m->t->list_destroy(m->dev, m->list);
	for (uint32_t i = 0; i <= PCTL_FUNCTION_OPERANDS; i++)
		if (m->buffers[i] != NULL)
			m->t->buffer_destroy(m->dev, m->buffers[i]);
	pctl_job_plan_destroy(m->plan);
	m->list = NULL;
	m->plan = NULL;
	memset(m->buffers, 0, sizeof(m->buffers));
}

static pctl_status make_plan(measuring *m, uint64_t n)
{
	const pctl_device_caps *caps = pctl_session_caps(m->b->device);
	const pctl_planner planner = {
		.ops = m->b->ops,
		.kernels = m->b->kernels,
		.caps = {.head = PCTL_HEAD(pctl_plan_caps),
			 .max_binding_bytes = caps->max_binding_bytes,
			 .max_groups = {caps->max_groups[0], caps->max_groups[1],
					caps->max_groups[2]},
			 .max_invocations = caps->max_invocations,
			 .max_workgroup_bytes = caps->max_workgroup_bytes,
			 .device_kind = pctl_session_kind(m->b->device),
			 .max_turns = pctl_session_plan_turns(m->b->device)}};
	pctl_op_result result = {.head = PCTL_HEAD(pctl_op_result)};
	pctl_function_query ask;
	pctl_status status;

	if (!pctl_function_ask(&m->f->op, m->f->dtype, n, &ask))
		return pctl_refuse(m->call, PC1_INTERNAL, "a baseline of what is no function");
	status = m->f->op.lib->infer(m->f->op.inst, m->call, &ask.q, &result);
	if (status == PCTL_OK)
		status = pctl_job_plan_op(&planner, m->f->op.desc->name, &m->f->op, &ask.q,
					  result.out, PCTL_PLAN_RUN, m->call, &m->plan);
	if (status == PCTL_OK)
		status = pctl_session_qualify(m->b->device, m->plan, m->call);
	return status;
}

/* Operands of random words. */
static pctl_status write_operand(measuring *m, uint32_t i, uint64_t n_bytes)
{
	uint8_t *piece = malloc(PIECE);
	pctl_status status = PCTL_OK;

	if (piece == NULL)
		return pctl_no_memory(m->call, "a baseline");
	for (uint64_t k = 0; k < PIECE / 8; k++) {
		const uint64_t word = pctl_proof_mix(m->b->seed, i, k);

		memcpy(piece + 8 * k, &word, 8);
	}
	for (uint64_t at = 0; at < n_bytes && status == PCTL_OK; at += PIECE)
		status = m->t->buffer_write(m->dev, m->call, m->buffers[i], at, piece,
					    n_bytes - at < PIECE ? n_bytes - at : PIECE);
	free(piece);
	return status;
}

static pctl_status record(measuring *m)
{
	pctl_binding bindings[PCTL_FUNCTION_OPERANDS + 1];
	pctl_status status = m->t->list_begin(m->dev, m->call, &m->list);

	for (uint32_t i = 0; i < m->plan->n_steps && status == PCTL_OK; i++) {
		const pctl_step *step = &m->plan->steps[i];
		pctl_kernel *kernel = NULL;

		status = pctl_session_kernel(m->b->device, step->unit, m->call, &kernel);
		for (uint32_t k = 0; k < step->n_bindings; k++) {
			const pctl_plan_binding *from = &step->bindings[k];

			bindings[k] =
				(pctl_binding){.group = from->group,
					       .binding = from->binding,
					       .buffer = m->buffers[from->buffer],
					       .n_bytes = m->plan->buffers[from->buffer].n_bytes};
		}
		if (status == PCTL_OK)
			status = m->t->list_dispatch(m->list, m->call, kernel, bindings,
						     step->n_bindings, step->groups);
	}
	return status == PCTL_OK ? m->t->list_end(m->list, m->call) : status;
}

static pctl_status prepare(measuring *m, uint64_t n)
{
	pctl_status status = make_plan(m, n);

	if (status == PCTL_OK && (m->plan->n_buffers != m->f->n_in + 1 || m->plan->n_steps != 1))
		status =
			pctl_refuse(m->call, PC1_INTERNAL, "a function op of more than one kernel");
	for (uint32_t i = 0; status == PCTL_OK && i <= m->f->n_in; i++) {
		status = m->t->buffer_create(m->dev, m->call, m->plan->buffers[i].n_bytes,
					     PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER,
					     &m->buffers[i]);
		if (status == PCTL_OK && i < m->f->n_in)
			status = write_operand(m, i, m->plan->buffers[i].n_bytes);
	}
	return status == PCTL_OK ? record(m) : status;
}

/* One submit: the device's own time where it tells it. */
static pctl_status submit(measuring *m, uint64_t *ns)
{
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
	const uint64_t start = pctl_clock_ns();
	uint64_t ticket = 0;
	pctl_status status = m->t->submit(m->dev, m->call, m->list, 1, &ticket);

	for (uint32_t i = 0; status == PCTL_OK && !done.done && i < WAITS; i++)
		status = m->t->wait(m->dev, m->call, ticket, WAIT_NS, &done);
	if (status == PCTL_OK && !done.done) {
		m->t->cancel(m->dev, ticket);
		status = pctl_refuse(m->call, PC5206_TIMEOUT,
				     "a baseline ran longer than a minute on %s",
				     pctl_session_name(m->b->device));
	}
	*ns = done.device_ns != 0 ? done.device_ns : pctl_clock_ns() - start;
	if (*ns == 0)
		*ns = 1;
	return status;
}

/* 1 when n elements of every buffer fit the device with room to spare. */
static int fits(const measuring *m, uint64_t n)
{
	const pctl_device_caps *caps = pctl_session_caps(m->b->device);
	const uint64_t in = n * pctl_dtype_bytes(m->f->dtype),
		       out = n * pctl_dtype_bytes(m->f->out_dtype);
	const uint64_t most = in > out ? in : out, all = m->f->n_in * in + out;

	return (caps->max_binding_bytes == 0 || most <= caps->max_binding_bytes) &&
	       (caps->max_buffer_bytes == 0 || most <= caps->max_buffer_bytes) &&
	       (caps->memory_bytes == 0 || all <= caps->memory_bytes / 4);
}

static pctl_status run(const pctl_unit *u, pctl_proof_context *b, uint64_t block,
		       const pctl_call *call, pctl_block *out)
{
	measuring m = {.b = b,
		       .call = call,
		       .f = u->ctx,
		       .t = pctl_session_table(b->device),
		       .dev = pctl_session_device(b->device)};
	uint64_t n = LEAST, ns = 0, times[SUBMITS];
	pctl_status status;

	(void)block;
	memset(out, 0, sizeof(*out));
	for (;;) {
		status = prepare(&m, n);
		for (uint32_t i = 0; i < 2 && status == PCTL_OK; i++) /* the first warms up */
			status = submit(&m, &ns);
		if (status != PCTL_OK || ns >= ENOUGH_NS || n * 4 > MOST || !fits(&m, n * 4))
			break;
		clear(&m);
		n *= 4;
	}
	for (uint32_t i = 0; i < SUBMITS && status == PCTL_OK; i++)
		status = submit(&m, &times[i]);
	clear(&m);
	if (status != PCTL_OK)
		return status;
	qsort(times, SUBMITS, sizeof(times[0]), pctl_order_u64);
	out->cases = 1;
	pctl_num_print(out->value, sizeof(out->value), "%.3e elements/s, %" PRIu64 " elements",
		       (double)n * 1e9 / (double)times[SUBMITS / 2], n);
	return PCTL_OK;
}

/* ---- units ------------------------------------------------------------------------------------ */

static pctl_status add(pctl_proof_context *b, const pctl_op_function *f, const pctl_call *call,
		       pctl_units *list)
{
	pctl_op_function *kept = pctl_arena_alloc(list->arena, sizeof(*kept));
	char name[PCTL_FUNCTION_NAME];
	pctl_unit u = {.name = "throughput",
		       .domain = "random operands",
		       .kind = PCTL_UNIT_BASELINE,
		       .level = 4,
		       .track = pctl_gate_track(f->op.desc),
		       .flags = PCTL_UNIT_MEASURED,
		       .n_cases = 1,
		       .n_blocks = 1,
		       .ctx = kept,
		       .run = run};
	pctl_status status = pctl_function_program(b, f, call, u.program);

	u.subject = pctl_arena_dup(list->arena, pctl_function_name(f, name));
	u.op = pctl_arena_printf(list->arena, "%s@%" PRIu32, f->op.desc->name, f->op.desc->version);
	if (status == PCTL_OK && (kept == NULL || u.subject == NULL || u.op == NULL))
		status = pctl_no_memory(call, "units of proof");
	if (status != PCTL_OK)
		return status;
	*kept = *f;
	return pctl_units_add(list, &u, call);
}

pctl_status pctl_baseline_units(pctl_proof_context *b, const pctl_selection *s,
				const pctl_call *call, pctl_units *list)
{
	static const uint32_t dtypes[] = {PCTL_SCALAR_U32, PCTL_SCALAR_I32, PCTL_SCALAR_U64,
					  PCTL_DTYPE_U128, PCTL_SCALAR_F16, PCTL_SCALAR_BF16,
					  PCTL_SCALAR_F32};
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < b->ops->count(b->ops->ctx); i++) {
		pctl_op_function f;
		pctl_op_ref op;

		b->ops->at(b->ops->ctx, i, &op);
		if (pctl_gate_track(op.desc) != s->track || !pctl_selection_has(s, op.desc))
			continue;
		for (uint32_t k = 0; k < sizeof(dtypes) / sizeof(dtypes[0]) && status == PCTL_OK;
		     k++)
			if (pctl_gate_function(&op, dtypes[k], &f))
				status = add(b, &f, call, list);
		if (status == PCTL_OK && pctl_gate_as_plan(op.desc) && s->track == PCTL_TRACK_FLOAT)
			status = pctl_plan_baselines(b, &op, call, list);
	}
	return status;
}
