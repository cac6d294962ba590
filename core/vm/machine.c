/* Machines: booted, given a heap, shut down. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/vec.h"
#include "foundation/diag/diag.h"
#include "vm/private.h"

/* ---- boot ----------------------------------------------------------------------------------- */

static pctl_status make(struct pctl_machine_side *s, uint64_t n_bytes, uint32_t usage,
			const pctl_call *call, pctl_buffer **out)
{
	return pctl_side_table(s)->buffer_create(
		pctl_side_device(s), call, n_bytes,
		PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM | PCTL_BUFFER_TRANSFER | usage, out);
}

static pctl_status write_words(struct pctl_machine_side *s, pctl_buffer *b, const uint32_t *words,
			       uint64_t n_bytes, const pctl_call *call)
{
	return pctl_side_table(s)->buffer_write(pctl_side_device(s), call, b, 0, words, n_bytes);
}

static pctl_status boot_words(const pctl_vm_desc *d, struct pctl_machine_side *s,
			      const pctl_call *call)
{
	uint32_t *control, *head;
	pctl_status status = pctl_vm_boot_words(d, call, &control, &head);

	if (status != PCTL_OK)
		return status;
	status = write_words(s, s->control, control, 4ull * PCTL_VM_CONTROL * d->instances, call);
	if (status == PCTL_OK)
		status = write_words(s, s->globals, head, pctl_vm_head_bytes(d), call);
	free(control);
	free(head);
	return status;
}

/* Buffers begin as zero, as backends promise. */
static pctl_status boot_side(pctl_machine *m, struct pctl_machine_side *s, const char *selector,
			     const pctl_call *call)
{
	const pctl_vm_desc *d = &m->desc;
	pctl_status status = pctl_open_selected(m->o.open, selector, call, &s->device);

	s->registers = calloc(d->instances + 1u, sizeof(pctl_buffer *));
	if (status == PCTL_OK && s->registers == NULL)
		status = pctl_no_memory(call, "a machine");
	for (uint32_t i = 0; status == PCTL_OK && i < d->instances; i++)
		status = make(s, pctl_vm_registers_bytes(d), 0, call, &s->registers[i]);
	if (status == PCTL_OK)
		status = make(s, (uint64_t)d->instances * PCTL_VM_METRICS_STRIDE, 0, call,
			      &s->metrics);
	if (status == PCTL_OK)
		status = make(s, 4ull * PCTL_VM_CONTROL * d->instances, 0, call, &s->control);
	if (status == PCTL_OK)
		status = make(s, pctl_vm_globals_all(d), 0, call, &s->globals);
	if (status == PCTL_OK)
		status = make(s, PCTL_PLAN_ALIGN, PCTL_BUFFER_INDIRECT, call, &s->counts);
	return status == PCTL_OK ? boot_words(d, s, call) : status;
}

static uint64_t own_bytes(const pctl_vm_desc *d)
{
	return d->instances * (pctl_vm_registers_bytes(d) + PCTL_VM_METRICS_STRIDE +
			       4ull * PCTL_VM_CONTROL) +
	       pctl_vm_globals_all(d) + PCTL_PLAN_ALIGN;
}

static pctl_status allowed(const pctl_machine *m, uint64_t more, const pctl_call *call)
{
	uint64_t all = UINT64_MAX;

	(void)pctl_num_add(m->used_bytes, more, &all);
	return m->o.open->policy == NULL
		       ? PCTL_OK
		       : pctl_policy_memory_allowed(m->o.open->policy, all, m->desc.name, call);
}

pctl_status pctl_machine_boot(const pctl_machine_options *o, const pctl_call *call,
			      pctl_machine **out)
{
	pctl_machine *m = calloc(1, sizeof(*m));
	pctl_status status;

	*out = NULL;
	if (m == NULL)
		return pctl_no_memory(call, "a machine");
	m->o = *o;
	m->desc = *o->desc;
	m->desc.heap = NULL;
	m->desc.globals = NULL;
	m->desc.steps = NULL;
	m->desc.n_heap = m->desc.n_globals = m->desc.n_steps = 0;
	m->desc.turns = 1;
	m->arena = pctl_arena_create();
	m->desc.name = m->arena == NULL ? NULL : pctl_arena_dup(m->arena, o->desc->name);
	status = m->desc.name == NULL ? pctl_no_memory(call, "a machine")
				      : pctl_vm_lay_out(&m->desc, call);
	if (status == PCTL_OK)
		status = allowed(m, own_bytes(&m->desc), call);
	m->used_bytes = own_bytes(&m->desc);
	m->n_sides = o->is_verified ? 2 : 1;
	for (uint32_t i = 0; status == PCTL_OK && i < m->n_sides; i++)
		status = boot_side(m, &m->sides[i],
				   i == SIDE_REFERENCE ? PCTL_REFERENCE : o->selector, call);
	if (status == PCTL_OK)
		*out = m;
	else
		pctl_machine_shutdown(m);
	return status;
}

/* ---- shutdown ------------------------------------------------------------------------------- */

static void drop(struct pctl_machine_side *s, pctl_buffer *b)
{
	if (b != NULL)
		pctl_side_table(s)->buffer_destroy(pctl_side_device(s), b);
}

static void shut_side(const pctl_machine *m, struct pctl_machine_side *s)
{
	for (uint32_t i = 0; s->registers != NULL && i < m->desc.instances; i++)
		drop(s, s->registers[i]);
	for (uint32_t i = 0; s->heap != NULL && i < m->desc.n_heap; i++)
		drop(s, s->heap[i]);
	drop(s, s->metrics);
	drop(s, s->control);
	drop(s, s->globals);
	drop(s, s->counts);
	free(s->registers);
	free(s->heap);
	pctl_open_close(&s->device);
}

void pctl_machine_shutdown(pctl_machine *m)
{
	if (m == NULL)
		return;
	for (uint32_t i = 0; i < m->n_sides; i++)
		shut_side(m, &m->sides[i]);
	free(m->desc.heap);
	pctl_arena_destroy(m->arena);
	free(m);
}

const pctl_vm_desc *pctl_machine_desc(const pctl_machine *m)
{
	return &m->desc;
}

const char *pctl_machine_device(const pctl_machine *m)
{
	return pctl_session_name(m->sides[SIDE_DEVICE].device.session);
}

/* ---- heap ----------------------------------------------------------------------------------- */

static int grow(pctl_machine *m)
{
	const uint32_t n = m->cap_heap == 0 ? 16u : 2u * m->cap_heap;
	pctl_vm_part *parts = realloc(m->desc.heap, n * sizeof(*parts));

	if (parts == NULL)
		return 0;
	m->desc.heap = parts;
	for (uint32_t i = 0; i < m->n_sides; i++) {
		pctl_buffer **heap = realloc(m->sides[i].heap, n * sizeof(pctl_buffer *));

		if (heap == NULL)
			return 0;
		m->sides[i].heap = heap;
	}
	m->cap_heap = n;
	return 1;
}

pctl_status pctl_machine_allot(pctl_machine *m, const void *data, uint64_t n_bytes,
			       const pctl_call *call, uint64_t *at, pctl_cid *cid)
{
	pctl_vm_desc *d = &m->desc;
	pctl_vm_part part = {.name = "an allocation", .n_bytes = n_bytes};
	pctl_status status = PCTL_OK;

	*at = 0;
	if (d->n_heap == m->cap_heap && !grow(m))
		return pctl_no_memory(call, "a heap");
	status = pctl_vm_allot(d, d->n_heap == 0 ? NULL : &d->heap[d->n_heap - 1], &part, call);
	if (status == PCTL_OK)
		status = allowed(m, n_bytes, call);
	/* Named by the host's bytes, not by what a device has. */
	if (status == PCTL_OK)
		status = pctl_cid_of(data, n_bytes, call, cid);
	if (status != PCTL_OK)
		return status;
	d->heap[d->n_heap] = part;
	for (uint32_t i = 0; i < m->n_sides; i++)
		m->sides[i].heap[d->n_heap] = NULL;
	d->n_heap++;
	for (uint32_t i = 0; status == PCTL_OK && i < m->n_sides; i++) {
		struct pctl_machine_side *s = &m->sides[i];
		pctl_buffer **b = &s->heap[d->n_heap - 1];

		status = make(s, n_bytes, 0, call, b);
		if (status == PCTL_OK)
			status = pctl_side_table(s)->buffer_write(pctl_side_device(s), call, *b, 0,
								  data, n_bytes);
	}
	if (status == PCTL_OK) {
		m->used_bytes += n_bytes;
		*at = part.at;
		return PCTL_OK;
	}
	d->n_heap--;
	for (uint32_t i = 0; i < m->n_sides; i++)
		drop(&m->sides[i], m->sides[i].heap[d->n_heap]);
	return status;
}
