/* A turn of a machine as steps of a plan: its memory as buffers, its program, with what the host puts between the instances (SEMANTICS.md
 * 9.4). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/diag/diag.h"
#include "runtime/graph/broadcast.h"
#include "runtime/graph/vm_private.h"
#include "vm_kernels.h"

#define SKIPPED_AT 16u /* of the counts for what runs where an instance does not */
#define MESSAGE_GROUP 64u

/* ---- uniform blocks: of every instance one for the host, then one a step -------------------- */

static uint64_t block_at(const struct pctl_vm_maker *m, uint32_t instance, uint32_t step)
{
	return ((uint64_t)instance * (m->d->n_steps + 1u) + step) * PCTL_PLAN_ALIGN;
}

static void fill_block(const struct pctl_vm_maker *m, uint32_t instance, const pctl_vm_step *s,
		       uint32_t *words)
{
	const uint64_t window = s == NULL ? 0 : s->window.at + instance * s->window.stride;
	const uint64_t n = s == NULL ? 0 : s->window.n_bytes;
	const uint32_t arguments[PCTL_VM_ARGUMENTS] = {instance,	 m->d->n_embd,
						       m->d->width,	 m->d->instances,
						       (uint32_t)window, (uint32_t)(window >> 32),
						       (uint32_t)n,	 (uint32_t)(n >> 32)};

	memcpy(words, arguments, sizeof(arguments));
	if (s != NULL && s->n_params != 0)
		memcpy(words + PCTL_VM_ARGUMENTS, s->params, s->n_params * sizeof(*words));
}

static pctl_status make_blocks(struct pctl_vm_maker *m)
{
	const uint64_t n = block_at(m, m->d->instances, 0);
	uint32_t *words = calloc(n / 4u, sizeof(*words));
	pctl_status status;

	if (words == NULL)
		return pctl_no_memory(m->call, "a plan");
	for (uint32_t i = 0; i < m->d->instances; i++)
		for (uint32_t k = 0; k <= m->d->n_steps; k++)
			fill_block(m, i, k == 0 ? NULL : &m->d->steps[k - 1],
				   words + block_at(m, i, k) / 4u);
	status = pctl_job_plan_buffer(m->plan, PCTL_PLAN_PARAMS, n, words, m->call, &m->blocks);
	free(words);
	return status;
}

/* ---- memory --------------------------------------------------------------------------------- */

static pctl_status add(struct pctl_vm_maker *m, uint64_t n_bytes, uint32_t *number)
{
	return pctl_job_plan_buffer(m->plan, m->kind, n_bytes, NULL, m->call, number);
}

pctl_status pctl_vm_make_memory(struct pctl_vm_maker *m)
{
	const pctl_vm_desc *d = m->d;
	pctl_status status = PCTL_OK;
	uint32_t number;

	for (uint32_t i = 0; status == PCTL_OK && i < d->instances; i++) {
		status = add(m, pctl_vm_registers_bytes(d), &number);
		m->at.registers = number - i;
	}
	if (status == PCTL_OK)
		status = add(m, (uint64_t)d->instances * PCTL_VM_METRICS_STRIDE, &m->at.metrics);
	if (status == PCTL_OK)
		status = add(m, 4ull * PCTL_VM_CONTROL * d->instances, &m->at.control);
	if (status == PCTL_OK)
		status = add(m, pctl_vm_globals_all(d), &m->at.globals);
	if (status == PCTL_OK && d->skipping)
		status = add(m, PCTL_PLAN_ALIGN, &m->counts);
	if (status == PCTL_OK && (m->put & PCTL_PUT_KEPT))
		status = add(m, 0, &m->at.verdicts);
	m->at.counts = m->counts;
	return status == PCTL_OK ? make_blocks(m) : status;
}

/* The range of a place in an instance, which pctl_vm_check has found to be there. */
static pctl_plan_slot slot_of(const struct pctl_vm_maker *m, const pctl_vm_place *p,
			      uint32_t instance)
{
	const uint64_t at = p->at + instance * p->stride;
	pctl_plan_slot slot = {m->at.globals, 0, at, p->n_bytes};

	if (p->space == PCTL_VM_IN_REGISTER) {
		slot.buffer = m->at.registers + instance;
		slot.offset = 4ull * m->d->width * p->number + at;
	}
	for (uint32_t i = 0; p->space == PCTL_VM_IN_HEAP && i < m->d->n_heap; i++) {
		const pctl_vm_part *part = &m->d->heap[i];

		if (at < part->at || at - part->at >= part->n_bytes)
			continue;
		slot.buffer = m->heap[i];
		slot.offset = at - part->at;
	}
	return slot;
}

/* ---- kernels -------------------------------------------------------------------------------- */

static pctl_status put_kernel(struct pctl_vm_maker *m, const pctl_kernel_source *source,
			      const pctl_plan_binding *bindings, uint32_t n)
{
	pctl_known_binding known[PCTL_PORTS_MAX];
	pctl_kernel_source s = *source;
	const pctl_kernel_module *unit;
	pctl_status status;

	for (uint32_t i = 0; i < n; i++)
		known[i] = pctl_job_plan_known(m->plan, &bindings[i]);
	s.flags = m->planner->wgsl_flags;
	s.bindings = known;
	s.n_bindings = n;
	status = pctl_kernels_get(m->planner->kernels, &s, m->call, &unit);
	return status == PCTL_OK
		       ? pctl_job_plan_kernel(m->plan, unit, bindings, n, s.groups, m->call)
		       : status;
}

/* One of the host's own. */
static pctl_status put_own(struct pctl_vm_maker *m, const char *name, const char *text,
			   const pctl_override_value *overrides, uint32_t n_overrides,
			   uint32_t groups, const pctl_plan_binding *bindings, uint32_t n)
{
	const uint32_t all[3] = {groups, 1, 1};
	const pctl_kernel_source source = {.name = name,
					   .text = text,
					   .n_text = strlen(text),
					   .overrides = overrides,
					   .n_overrides = n_overrides,
					   .groups = all,
					   .any_size = 1};

	return put_kernel(m, &source, bindings, n);
}

static pctl_plan_binding whole(uint32_t group, uint32_t binding, uint32_t buffer)
{
	return (pctl_plan_binding){.group = group, .binding = binding, .buffer = buffer};
}

static pctl_plan_binding range(uint32_t group, uint32_t binding, uint32_t buffer, uint64_t offset,
			       uint64_t n_bytes)
{
	return (pctl_plan_binding){.group = group,
				   .binding = binding,
				   .buffer = buffer,
				   .offset = offset,
				   .n_bytes = n_bytes};
}

static pctl_plan_binding in_register(const struct pctl_vm_maker *m, uint32_t binding,
				     uint32_t instance, uint32_t number)
{
	const uint64_t n = 4ull * m->d->width;

	return range(0, binding, m->at.registers + instance, n * number, n);
}

static pctl_plan_binding block(const struct pctl_vm_maker *m, uint32_t instance, uint32_t step)
{
	return range(1, 0, m->blocks, block_at(m, instance, step), PCTL_PLAN_ALIGN);
}

static pctl_plan_binding metrics_of(const struct pctl_vm_maker *m, uint32_t binding,
				    uint32_t instance)
{
	return range(0, binding, m->at.metrics, (uint64_t)instance * PCTL_VM_METRICS_STRIDE,
		     4u * PCTL_VM_METRICS);
}

/* ---- the program's steps --------------------------------------------------------------------- */

static int reads_heap(const pctl_program *p)
{
	for (uint32_t i = 0; i < p->n_vars; i++)
		if (p->vars[i].space == PCTL_SPACE_STORAGE && p->vars[i].group == 0 &&
		    p->vars[i].binding == 2)
			return 1;
	return 0;
}

static pctl_status put_text(struct pctl_vm_maker *m, uint32_t instance, uint32_t number)
{
	const pctl_vm_step *s = &m->d->steps[number];
	const pctl_kernel_source source = {.name = s->name,
					   .text = s->text,
					   .n_text = s->n_text,
					   .entry = s->entry,
					   .overrides = s->overrides,
					   .n_overrides = s->n_overrides,
					   .groups = s->groups};
	const pctl_plan_slot window = slot_of(m, &s->window, instance);
	pctl_plan_binding bindings[6] = {whole(0, 0, m->at.registers + instance),
					 metrics_of(m, 1, instance),
					 whole(0, 3, m->at.globals),
					 whole(0, 4, m->at.control),
					 block(m, instance, number + 1u),
					 range(0, 2, window.buffer, window.offset, window.n_bytes)};
	const pctl_program *program;
	pctl_status status = pctl_kernels_compiled(m->planner->kernels, &source, m->call, &program);

	if (status == PCTL_OK && s->window.space == 0 && reads_heap(program))
		status = pctl_refuse_at(
			m->call, PC4404_VM_WINDOW, &s->pos, "name what it reads under `heap`",
			"kernel %s binds the heap, and its step has no window of it", s->name);
	return status == PCTL_OK ? put_kernel(m, &source, bindings, s->window.space == 0 ? 5u : 6u)
				 : status;
}

static int is_memory(const struct pctl_vm_maker *m, uint32_t buffer)
{
	return (buffer >= m->at.registers && buffer < m->at.registers + m->d->instances) ||
	       buffer == m->at.globals;
}

/* What a step asserts says which step it is. Words that later steps write tell nothing of this one. */
static pctl_status name_checks(const struct pctl_vm_maker *m, uint32_t instance,
			       const pctl_vm_step *s, uint32_t first)
{
	for (uint32_t i = first; i < m->plan->n_checks; i++) {
		pctl_plan_check *c = &m->plan->checks[i];

		if (is_memory(m, c->buffer))
			return pctl_refuse_at(m->call, PC4132_PLAN, &s->pos, NULL,
					      "step %s: op %s asserts something of the machine's "
					      "memory, which later steps may change",
					      s->name, s->op.desc->name);
		c->message =
			pctl_arena_printf(m->plan->arena, "step %s of instance %" PRIu32 ": %s",
					  s->name, instance, c->message);
		if (c->message == NULL)
			return pctl_no_memory(m->call, "a plan");
	}
	return PCTL_OK;
}

static pctl_status put_op(struct pctl_vm_maker *m, uint32_t instance, const pctl_vm_step *s)
{
	const pctl_op_query q = {.head = PCTL_HEAD(pctl_op_query),
				 .op = s->op.index,
				 .n_in = s->n_in,
				 .in = s->types,
				 .attr = s->attr,
				 .n_attr = s->n_attr};
	const uint32_t first = m->plan->n_checks;
	pctl_plan_slot slots[2 * PCTL_PORTS_MAX];
	pctl_op_result result;
	pctl_status status = pctl_op_infer(&s->op, &q, m->plan->name, &s->pos, m->call, &result);

	if (status == PCTL_OK && result.measure != NULL)
		status = pctl_refuse_at(m->call, PC4406_VM_STEP, &s->pos, NULL,
					"step %s: a size of op %s depends on data", s->name,
					s->op.desc->name);
	for (uint32_t i = 0; status == PCTL_OK && i < s->n_out; i++)
		if (!pctl_type_equal(&result.out[i], &s->types[s->n_in + i]))
			status = pctl_refuse_at(
				m->call, PC4406_VM_STEP, &s->pos, NULL,
				"step %s: output %" PRIu32 " of op %s is %s, not %s", s->name, i,
				s->op.desc->name, pctl_type_text(m->plan->arena, &result.out[i]),
				pctl_type_text(m->plan->arena, &s->types[s->n_in + i]));
	for (uint32_t i = 0; status == PCTL_OK && i < s->n_in + s->n_out; i++) {
		slots[i] = slot_of(m, &s->ports[i], instance);
		(void)pctl_type_buffer_bytes(&s->types[i], &slots[i].n_bytes);
	}
	if (status == PCTL_OK)
		status = pctl_job_plan_put(m->planner, &s->op, &q, slots, s->n_in + s->n_out,
					   m->put, m->call, m->plan);
	return status == PCTL_OK ? name_checks(m, instance, s, first) : status;
}

/* Of an instance that may be skipped nothing changes its memory but what a dispatch does. */
static pctl_status check_moves(struct pctl_vm_maker *m, uint32_t first, const pctl_vm_step *s)
{
	for (uint32_t i = first; i < m->plan->n_steps; i++)
		if (m->plan->steps[i].kind != PCTL_STEP_KERNEL &&
		    is_memory(m, m->plan->steps[i].to))
			return pctl_refuse_at(m->call, PC4408_VM_SKIP, &s->pos, NULL,
					      "step %s: op %s fills or copies into the machine, "
					      "whose instances can be skipped",
					      s->name, s->op.desc->name);
	return PCTL_OK;
}

static pctl_status put_steps(struct pctl_vm_maker *m, uint32_t instance)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < m->d->n_steps; i++) {
		const pctl_vm_step *s = &m->d->steps[i];
		const uint32_t first = m->plan->n_steps;

		if (instance < s->first || instance > s->last)
			continue;
		status = s->text != NULL ? put_text(m, instance, i) : put_op(m, instance, s);
		if (status == PCTL_OK && m->d->skipping)
			status = check_moves(m, first, s);
	}
	return status;
}

/* ---- what the host puts between --------------------------------------------------------------- */

static pctl_status put_gate(struct pctl_vm_maker *m, uint32_t instance)
{
	const pctl_plan_binding bindings[] = {whole(0, 0, m->at.control), whole(0, 1, m->counts),
					      block(m, instance, 0)};

	return put_own(m, "vm/gate.wgsl", KERNEL_GATE, NULL, 0, 1, bindings, 3);
}

pctl_status pctl_vm_put_control_check(struct pctl_vm_maker *m)
{
	const pctl_override_value values[] = {{.name = "n", .bits = m->d->instances},
					      {.name = "skipping", .bits = m->d->skipping}};
	pctl_plan_check checks[] = {
		{.bytes = 4,
		 .expected = UINT32_MAX,
		 .also_offset = 4,
		 .also_bytes = 4,
		 .message = "precision_mode of instance %v has the bits %u, and 0 alone is known"},
		{.bytes = 4,
		 .offset = 8,
		 .expected = UINT32_MAX,
		 .message = "active of instance %v is 0, and the program is not skipping"}};
	uint32_t found;
	pctl_status status =
		pctl_job_plan_buffer(m->plan, PCTL_PLAN_TEMP, 12, NULL, m->call, &found);
	const pctl_plan_binding bindings[] = {whole(0, 0, m->at.control), whole(0, 1, found)};

	if (status == PCTL_OK)
		status = put_own(m, "vm/control.wgsl", KERNEL_CONTROL, values, 2, 1, bindings, 2);
	for (size_t i = 0; status == PCTL_OK && i < sizeof(checks) / sizeof(checks[0]); i++) {
		checks[i].buffer = found;
		status = pctl_job_plan_check(m->plan, &checks[i], m->call);
	}
	return status;
}

static pctl_status put_metrics(struct pctl_vm_maker *m, uint32_t instance)
{
	const pctl_override_value n = {.name = "n_embd", .bits = m->d->n_embd};
	const pctl_plan_binding bindings[] = {in_register(m, 0, instance, PCTL_VM_OUTBOX),
					      metrics_of(m, 1, instance), block(m, instance, 0)};

	return put_own(m, "vm/metrics.wgsl", KERNEL_METRICS, &n, 1, 1, bindings, 3);
}

static pctl_status put_regulator(struct pctl_vm_maker *m, uint32_t instance)
{
	const pctl_override_value values[] = {{.name = "act", .bits = m->d->acts},
					      {.name = "n_embd", .bits = m->d->n_embd},
					      {.name = "epsilon", .bits = m->d->epsilon}};
	const pctl_plan_binding bindings[] = {
		in_register(m, 0, instance, PCTL_VM_OUTBOX), metrics_of(m, 1, instance),
		range(0, 2, m->at.globals, 0, pctl_vm_throughput_at(m->d)),
		whole(0, 3, m->at.control), block(m, instance, 0)};

	return put_own(m, "vm/regulator.wgsl", KERNEL_REGULATOR, values, 3, 1, bindings, 5);
}

static pctl_status put_message(struct pctl_vm_maker *m, pctl_plan_binding from,
			       pctl_plan_binding to)
{
	const uint32_t words = m->d->n_embd + PCTL_VM_TELEMETRY;
	const pctl_override_value n = {.name = "n", .bits = words};
	const pctl_plan_binding bindings[] = {from, to};

	return put_own(m, "vm/message.wgsl", KERNEL_MESSAGE, &n, 1,
		       (words + MESSAGE_GROUP - 1u) / MESSAGE_GROUP, bindings, 2);
}

static pctl_status put_instance(struct pctl_vm_maker *m, uint32_t i)
{
	uint32_t first, passing;
	pctl_status status;

	if (m->marks != NULL)
		m->marks[i] = m->plan->n_steps;
	status = m->d->skipping ? put_gate(m, i) : PCTL_OK;
	first = m->plan->n_steps;
	if (status == PCTL_OK)
		status = put_steps(m, i);
	if (status == PCTL_OK)
		status = put_metrics(m, i);
	if (status == PCTL_OK)
		status = put_regulator(m, i);
	if (status == PCTL_OK && m->d->skipping) {
		pctl_job_plan_indirect(m->plan, first, m->counts, 0);
		passing = m->plan->n_steps;
		status = put_message(m, in_register(m, 0, i, i == 0 ? 0 : PCTL_VM_INBOX),
				     in_register(m, 1, i, PCTL_VM_OUTBOX));
		if (status == PCTL_OK)
			pctl_job_plan_indirect(m->plan, passing, m->counts, SKIPPED_AT);
	}
	if (status == PCTL_OK && i + 1u < m->d->instances)
		status = put_message(m, in_register(m, 0, i, PCTL_VM_OUTBOX),
				     in_register(m, 1, i + 1u, PCTL_VM_INBOX));
	return status;
}

pctl_status pctl_vm_put_turn(struct pctl_vm_maker *m)
{
	const pctl_override_value by = {.name = "by", .bits = m->d->advance};
	const pctl_plan_binding position = range(0, 0, m->at.globals, 0, 4u * PCTL_VM_HEAD);
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < m->d->instances; i++)
		status = put_instance(m, i);
	return status == PCTL_OK && m->d->advance != 0
		       ? put_own(m, "vm/advance.wgsl", KERNEL_ADVANCE, &by, 1, 1, &position, 1)
		       : status;
}
