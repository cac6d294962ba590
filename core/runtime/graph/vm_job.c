/* Plans of machines: of one turn of a machine that stays on a device, and of a job, which boots one, feeds it, runs it and reads it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/bytes.h"
#include "foundation/diag/diag.h"
#include "runtime/graph/vm_private.h"

/* ---- a machine that stays --------------------------------------------------------------------- */

static pctl_status begin(struct pctl_vm_maker *m, const char *name)
{
	return pctl_job_plan_create(name, m->call, &m->plan);
}

static pctl_status finish(struct pctl_vm_maker *m, pctl_status status, pctl_job_plan **out)
{
	*out = status == PCTL_OK ? m->plan : NULL;
	if (status != PCTL_OK)
		pctl_job_plan_destroy(m->plan);
	return status;
}

/* A step's ranges of one buffer, all of which lies in another from `at` on now. */
static void move_step(pctl_step *s, uint32_t from, uint64_t n, uint32_t to, uint64_t at)
{
	for (uint32_t i = 0; s->kind == PCTL_STEP_KERNEL && i < s->n_bindings; i++) {
		pctl_plan_binding *b = &s->bindings[i];

		if (b->buffer != from)
			continue;
		if (b->offset == 0 && b->n_bytes == 0)
			b->n_bytes = n;
		b->buffer = to;
		b->offset += at;
	}
	if (s->kind != PCTL_STEP_KERNEL && s->to == from) {
		s->to = to;
		s->to_offset += at;
	}
	if (s->kind == PCTL_STEP_COPY && s->from == from) {
		s->from = to;
		s->from_offset += at;
	}
}

/* What assertions look at, in one buffer, so that it is read (of a job: filled) at once: a multiple of PCTL_PLAN_ALIGN for each buffer that
 * they name. */
static void gather_verdicts(struct pctl_vm_maker *m)
{
	pctl_job_plan *p = m->plan;
	uint64_t at = 0;

	for (uint32_t i = 0; i < p->n_checks; i++) {
		const uint32_t from = p->checks[i].buffer;
		const uint64_t n = p->buffers[from].n_bytes;

		if (from == m->at.verdicts || p->buffers[from].kind != PCTL_PLAN_TEMP)
			continue;
		for (uint32_t k = 0; k < p->n_steps; k++)
			move_step(&p->steps[k], from, n, m->at.verdicts, at);
		for (uint32_t k = i; k < p->n_checks; k++) {
			if (p->checks[k].buffer != from)
				continue;
			p->checks[k].buffer = m->at.verdicts;
			p->checks[k].offset += at;
			p->checks[k].also_offset += at;
		}
		p->buffers[from].n_bytes = 0;
		p->buffer_bytes -= n;
		at += (n + PCTL_PLAN_ALIGN - 1u) / PCTL_PLAN_ALIGN * PCTL_PLAN_ALIGN;
	}
	p->buffers[m->at.verdicts].n_bytes = at;
	p->buffer_bytes += at;
}

pctl_status pctl_vm_turn_plan(const pctl_planner *planner, const pctl_vm_desc *d, uint32_t put,
			      const pctl_call *call, pctl_vm_buffers *where, uint32_t *marks,
			      pctl_job_plan **plan)
{
	struct pctl_vm_maker m = {
		.planner = planner, .d = d, .call = call, .kind = PCTL_PLAN_OUTPUT, .put = put};
	uint32_t *heap = calloc(d->n_heap + 1u, sizeof(*heap));
	pctl_status status = heap == NULL ? pctl_no_memory(call, "a plan") : begin(&m, d->name);

	m.heap = heap;
	m.marks = marks;
	for (uint32_t i = 0; status == PCTL_OK && i < d->n_heap; i++)
		status = pctl_job_plan_buffer(m.plan, PCTL_PLAN_INPUT, d->heap[i].n_bytes, NULL,
					      call, &heap[i]);
	if (status == PCTL_OK)
		status = pctl_vm_make_memory(&m);
	if (status == PCTL_OK)
		status = pctl_vm_put_turn(&m);
	if (status == PCTL_OK && (put & PCTL_PUT_KEPT))
		gather_verdicts(&m);
	if (status == PCTL_OK)
		status = pctl_job_plan_place(m.plan, call);
	*where = m.at;
	status = finish(&m, status, plan);
	free(heap);
	return status;
}

/* ---- a job ------------------------------------------------------------------------------------ */

static pctl_plan_slot port_slot(const struct pctl_vm_maker *m, const pctl_vm_port *p)
{
	pctl_plan_slot slot = {m->at.globals, 0, p->at, p->n_bytes};

	if (p->kind == PCTL_VM_PORT_REGISTER)
		slot = (pctl_plan_slot){m->at.registers + p->instance, 0,
					4ull * m->d->width * p->number, p->n_bytes};
	else if (p->kind == PCTL_VM_PORT_CONTROL)
		slot.buffer = m->at.control;
	return slot;
}

/* Memory as it is booted, whatever the buffers held. */
static pctl_status put_boot(struct pctl_vm_maker *m)
{
	const pctl_vm_desc *d = m->d;
	const uint64_t n_control = 4ull * PCTL_VM_CONTROL * d->instances;
	const uint64_t n_head = pctl_vm_head_bytes(d);
	uint32_t *control, *head;
	pctl_plan_slot from = {0}, to = {0};
	pctl_status status = pctl_vm_boot_words(d, m->call, &control, &head);

	if (status != PCTL_OK)
		return status;
	for (uint32_t i = 0; status == PCTL_OK && i < d->instances; i++)
		status = pctl_job_plan_zero(m->plan, m->at.registers + i, m->call);
	if (status == PCTL_OK)
		status = pctl_job_plan_zero(m->plan, m->at.metrics, m->call);
	if (status == PCTL_OK)
		status = pctl_job_plan_zero(m->plan, m->at.globals, m->call);
	if (status == PCTL_OK)
		status = pctl_job_plan_buffer(m->plan, PCTL_PLAN_PARAMS, n_control, control,
					      m->call, &from.buffer);
	to.buffer = m->at.control;
	if (status == PCTL_OK)
		status = pctl_job_plan_move(m->plan, &from, &to, n_control, m->call);
	if (status == PCTL_OK)
		status = pctl_job_plan_buffer(m->plan, PCTL_PLAN_PARAMS, n_head, head, m->call,
					      &from.buffer);
	to.buffer = m->at.globals;
	if (status == PCTL_OK)
		status = pctl_job_plan_move(m->plan, &from, &to, n_head, m->call);
	free(control);
	free(head);
	return status;
}

static pctl_status put_inputs(struct pctl_vm_maker *m, const pctl_vm_port *in,
			      const uint64_t *in_bytes, uint32_t n_in)
{
	pctl_status status = PCTL_OK;
	int controls = 0;

	for (uint32_t i = 0; status == PCTL_OK && i < n_in; i++) {
		const pctl_plan_slot from = {.buffer = i}, to = port_slot(m, &in[i]);

		controls |= in[i].kind == PCTL_VM_PORT_CONTROL;
		if (in[i].kind != PCTL_VM_PORT_HEAP)
			status = pctl_job_plan_move(m->plan, &from, &to, in_bytes[i], m->call);
	}
	return status == PCTL_OK && controls ? pctl_vm_put_control_check(m) : status;
}

static pctl_status put_outputs(struct pctl_vm_maker *m, const pctl_vm_port *out,
			       const uint64_t *out_bytes, uint32_t n_in, uint32_t n_out)
{
	const uint64_t n = 4u * PCTL_VM_METRICS;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < n_out; i++) {
		const pctl_plan_slot from = port_slot(m, &out[i]);
		pctl_plan_slot to = {.buffer = n_in + i};

		if (out[i].kind != PCTL_VM_PORT_METRICS) {
			status = pctl_job_plan_move(m->plan, &from, &to, out_bytes[i], m->call);
			continue;
		}
		for (uint32_t k = 0; status == PCTL_OK && n * k < out_bytes[i]; k++) {
			const pctl_plan_slot one = {m->at.metrics, 0,
						    (uint64_t)k * PCTL_VM_METRICS_STRIDE, n};

			to.offset = n * k;
			status = pctl_job_plan_move(m->plan, &one, &to, n, m->call);
		}
	}
	return status;
}

/* A step of an instance that is skipped asserts nothing: its verdict is what was put there before all steps, which is that all holds. */
static pctl_status hold_verdicts(struct pctl_vm_maker *m)
{
	pctl_job_plan *p = m->plan;
	const uint32_t number = m->at.verdicts;
	pctl_plan_slot from = {0}, to = {.buffer = number};
	const uint64_t n = p->buffers[number].n_bytes;
	uint8_t *hold = calloc(n + 1u, 1);
	pctl_status status;
	pctl_step move;

	if (hold == NULL)
		return pctl_no_memory(m->call, "a plan");
	for (uint32_t i = 0; i < p->n_checks; i++)
		pctl_le_put(hold + p->checks[i].offset, p->checks[i].expected, p->checks[i].bytes);
	status = pctl_job_plan_buffer(p, PCTL_PLAN_PARAMS, n, hold, m->call, &from.buffer);
	free(hold);
	if (status == PCTL_OK)
		status = pctl_job_plan_move(p, &from, &to, n, m->call);
	if (status != PCTL_OK)
		return status;
	move = p->steps[p->n_steps - 1u];
	memmove(p->steps + 1, p->steps, (p->n_steps - 1u) * sizeof(*p->steps));
	p->steps[0] = move;
	return PCTL_OK;
}

/* Ops of a job may assert: each turn is written out, so every assertion has words of its own, which are looked at behind the job. */
static pctl_status put_verdicts(struct pctl_vm_maker *m)
{
	pctl_status status;

	if (m->plan->n_checks == 0 || !m->d->skipping)
		return PCTL_OK;
	status = pctl_job_plan_buffer(m->plan, PCTL_PLAN_TEMP, 0, NULL, m->call, &m->at.verdicts);
	if (status != PCTL_OK)
		return status;
	gather_verdicts(m);
	return hold_verdicts(m);
}

static pctl_status check_bytes(const struct pctl_vm_maker *m, const pctl_vm_port *p, uint64_t n,
			       int is_output, uint32_t i)
{
	if (p->kind == PCTL_VM_PORT_HEAP ? n == p->n_bytes
					 : n <= p->n_bytes && (p->kind != PCTL_VM_PORT_METRICS ||
							       n % (4u * PCTL_VM_METRICS) == 0))
		return PCTL_OK;
	return pctl_refuse(m->call, p->kind == PCTL_VM_PORT_HEAP ? PC4403_VM_HEAP : PC4405_VM_PLACE,
			   "job \"%s\": %s %" PRIu32 " has %" PRIu64 " bytes, its place %" PRIu64,
			   m->plan->name, is_output ? "output" : "input", i, n, p->n_bytes);
}

/* Each part of the heap is the input that feeds it. */
static pctl_status find_heap(struct pctl_vm_maker *m, const pctl_vm_port *in, uint32_t n_in,
			     uint32_t *heap)
{
	for (uint32_t i = 0; i < m->d->n_heap; i++) {
		heap[i] = UINT32_MAX;
		for (uint32_t k = 0; k < n_in; k++)
			if (in[k].kind == PCTL_VM_PORT_HEAP && in[k].number == i)
				heap[i] = k;
		if (heap[i] == UINT32_MAX)
			return pctl_refuse(m->call, PC4103_PORT_UNFED,
					   "job \"%s\": part \"%s\" of the heap is fed by nothing",
					   m->plan->name, m->d->heap[i].name);
	}
	return PCTL_OK;
}

pctl_status pctl_vm_job_plan(const pctl_planner *planner, const char *job, const pctl_vm_desc *d,
			     const pctl_vm_port *in, const uint64_t *in_bytes, uint32_t n_in,
			     const pctl_vm_port *out, const uint64_t *out_bytes, uint32_t n_out,
			     const pctl_call *call, pctl_job_plan **plan)
{
	struct pctl_vm_maker m = {.planner = planner,
				  .d = d,
				  .call = call,
				  .kind = PCTL_PLAN_TEMP,
				  .put = PCTL_PUT_ASSERTS};
	uint32_t *heap = calloc(d->n_heap + 1u, sizeof(*heap)), number;
	pctl_status status = heap == NULL ? pctl_no_memory(call, "a plan") : begin(&m, job);

	m.heap = heap;
	for (uint32_t i = 0; status == PCTL_OK && i < n_in + n_out; i++) {
		const int is_output = i >= n_in;
		const uint32_t k = is_output ? i - n_in : i;
		const uint64_t n = is_output ? out_bytes[k] : in_bytes[k];

		status = check_bytes(&m, is_output ? &out[k] : &in[k], n, is_output, k);
		if (status == PCTL_OK)
			status = pctl_job_plan_buffer(
				m.plan, is_output ? PCTL_PLAN_OUTPUT : PCTL_PLAN_INPUT, n, NULL,
				call, &number);
	}
	if (status == PCTL_OK)
		status = find_heap(&m, in, n_in, heap);
	if (status == PCTL_OK)
		status = pctl_vm_make_memory(&m);
	if (status == PCTL_OK)
		status = put_boot(&m);
	if (status == PCTL_OK)
		status = put_inputs(&m, in, in_bytes, n_in);
	for (uint32_t i = 0; status == PCTL_OK && i < d->turns; i++)
		status = pctl_vm_put_turn(&m);
	if (status == PCTL_OK)
		status = put_verdicts(&m);
	if (status == PCTL_OK)
		status = put_outputs(&m, out, out_bytes, n_in, n_out);
	if (status == PCTL_OK)
		status = pctl_job_plan_place(m.plan, call);
	status = finish(&m, status, plan);
	free(heap);
	return status;
}
