/* What the host reads and writes of a machine between executions, and what its bytes are called. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "vm/private.h"

/* The buffer of a range on a side, and where it begins there; NULL: there is no such range. */
static pctl_buffer *find(const pctl_machine *m, const struct pctl_machine_side *s,
			 const pctl_machine_range *r, uint64_t *at)
{
	const pctl_vm_desc *d = &m->desc;
	const uint64_t one = 4ull * d->width;
	pctl_buffer *b = NULL;
	uint64_t size = 0, base = 0;

	if (r->instance < d->instances && r->space == PCTL_MACHINE_REGISTER &&
	    r->number < PCTL_VM_REGISTERS) {
		b = s->registers[r->instance];
		base = one * r->number;
		size = one;
	} else if (r->instance < d->instances && r->space == PCTL_MACHINE_METRICS) {
		b = s->metrics;
		base = (uint64_t)r->instance * PCTL_VM_METRICS_STRIDE;
		size = 4u * PCTL_VM_METRICS;
	} else if (r->instance < d->instances && r->space == PCTL_MACHINE_CONTROL) {
		b = s->control;
		base = 4ull * PCTL_VM_CONTROL * r->instance;
		size = 4u * PCTL_VM_CONTROL;
	} else if (r->space == PCTL_MACHINE_GLOBALS) {
		b = s->globals;
		size = pctl_vm_globals_all(d);
	}
	*at = base + r->offset;
	return r->offset % 4 != 0 || r->n_bytes % 4 != 0 || r->offset > size ||
			       r->n_bytes > size - r->offset
		       ? NULL
		       : b;
}

static pctl_status no_range(const pctl_machine *m, const pctl_machine_range *r,
			    const pctl_call *call)
{
	return pctl_refuse(call, PC4405_VM_PLACE,
			   "machine \"%s\" has no %" PRIu64 " bytes from %" PRIu64
			   " on there (space %" PRIu32 ", instance %" PRIu32 ", number %" PRIu32
			   ")",
			   m->desc.name, r->n_bytes, r->offset, r->space, r->instance, r->number);
}

/* Control words as the machine will find them: those that are written, and the others of the instance as they are. */
static pctl_status check_control(pctl_machine *m, const pctl_machine_range *r, const void *data,
				 const pctl_call *call)
{
	uint32_t words[PCTL_VM_CONTROL] = {0, 0, 0, 1};

	memcpy((uint8_t *)words + r->offset, data, r->n_bytes);
	if ((words[2] & 0x7fffffffu) != 0)
		return pctl_refuse(call, PC4407_VM_PRECISION,
				   "machine \"%s\": precision_mode of instance %" PRIu32
				   " is written with bits %08" PRIx32,
				   m->desc.name, r->instance, words[2]);
	if ((words[3] & 0x7fffffffu) == 0 && !m->skips)
		return pctl_refuse(call, PC4408_VM_SKIP,
				   "machine \"%s\": active of instance %" PRIu32
				   " is written as 0, and no program of it is skipping",
				   m->desc.name, r->instance);
	return PCTL_OK;
}

pctl_status pctl_machine_write(pctl_machine *m, const pctl_machine_range *r, const void *data,
			       const pctl_call *call)
{
	pctl_status status = PCTL_OK;
	uint64_t at;

	if (r->space == PCTL_MACHINE_METRICS || find(m, &m->sides[0], r, &at) == NULL)
		return no_range(m, r, call);
	if (r->space == PCTL_MACHINE_CONTROL)
		status = check_control(m, r, data, call);
	for (uint32_t i = 0; status == PCTL_OK && r->n_bytes != 0 && i < m->n_sides; i++) {
		struct pctl_machine_side *s = &m->sides[i];

		status = pctl_side_table(s)->buffer_write(pctl_side_device(s), call,
							  find(m, s, r, &at), at, data, r->n_bytes);
	}
	return status;
}

static pctl_status compare(const pctl_machine *m, const pctl_machine_range *r, const uint8_t *ours,
			   const uint8_t *theirs, const pctl_call *call)
{
	for (uint64_t i = 0; i < r->n_bytes; i++)
		if (ours[i] != theirs[i])
			return pctl_refuse(call, PC5208_MISMATCH,
					   "machine \"%s\": byte %" PRIu64 " (space %" PRIu32
					   ", instance %" PRIu32 ", number %" PRIu32
					   ") is %02x on %s, %02x on the reference",
					   m->desc.name, r->offset + i, r->space, r->instance,
					   r->number, theirs[i], pctl_machine_device(m), ours[i]);
	return PCTL_OK;
}

pctl_status pctl_machine_read(pctl_machine *m, const pctl_machine_range *r, void *data,
			      const pctl_call *call)
{
	uint8_t *reference = NULL;
	pctl_status status = PCTL_OK;
	uint64_t at;

	if (find(m, &m->sides[0], r, &at) == NULL)
		return no_range(m, r, call);
	if (r->n_bytes == 0)
		return PCTL_OK;
	if (m->n_sides > 1 && (reference = malloc(r->n_bytes)) == NULL)
		return pctl_no_memory(call, "a comparison");
	for (uint32_t i = 0; status == PCTL_OK && i < m->n_sides; i++) {
		struct pctl_machine_side *s = &m->sides[i];
		pctl_buffer *b = find(m, s, r, &at);

		status = pctl_side_table(s)->buffer_read(pctl_side_device(s), call, b, at,
							 i == SIDE_DEVICE ? data : reference,
							 r->n_bytes);
	}
	if (status == PCTL_OK && reference != NULL)
		status = compare(m, r, reference, data, call);
	if (status != PCTL_OK)
		memset(data, 0, r->n_bytes);
	free(reference);
	return status;
}

/* ---- names ---------------------------------------------------------------------------------- */

/* What lies in a range from `from` to before `end` of its space counts as zero. */
static void blank(const pctl_machine_range *r, uint8_t *data, uint64_t from, uint64_t end)
{
	for (uint64_t i = from; i < end; i++)
		if (i >= r->offset && i - r->offset < r->n_bytes)
			data[i - r->offset] = 0;
}

static void blank_telemetry(const pctl_vm_desc *d, const pctl_machine_range *r, uint8_t *data)
{
	const int is_message = r->space == PCTL_MACHINE_REGISTER && r->number >= PCTL_VM_OUTBOX;

	if (is_message)
		blank(r, data, 4ull * (d->n_embd + 2u), 4ull * (d->n_embd + 3u));
	if (r->space == PCTL_MACHINE_METRICS)
		blank(r, data, 8, 16);
	if (r->space == PCTL_MACHINE_GLOBALS)
		blank(r, data, pctl_vm_throughput_at(d), pctl_vm_head_bytes(d));
}

pctl_status pctl_machine_name(pctl_machine *m, const pctl_machine_range *r, const pctl_call *call,
			      pctl_cid *out)
{
	const pctl_vm_desc *d = &m->desc;
	pctl_machine_range range = *r;
	uint8_t *data;
	pctl_status status;

	if (r->space == PCTL_MACHINE_REGISTER && r->number >= PCTL_VM_OUTBOX &&
	    r->number < PCTL_VM_REGISTERS) {
		range.offset = 0;
		range.n_bytes = 4ull * (d->n_embd + PCTL_VM_TELEMETRY);
	}
	data = malloc(range.n_bytes + 1u);
	if (data == NULL)
		return pctl_no_memory(call, "a name");
	status = pctl_machine_read(m, &range, data, call);
	if (status == PCTL_OK) {
		blank_telemetry(d, &range, data);
		status = pctl_cid_of(data, range.n_bytes, call, out);
	}
	free(data);
	return status;
}
