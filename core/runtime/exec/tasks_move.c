/* Bytes to a device and back, through a stage on the host, so that many small ones cost one call. */
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/tasks_layout.h"
#include "runtime/exec/job.h"

#define STAGE_BYTES (4u << 20)
#define ALONE_BYTES (1u << 20) /* so many are moved without the stage */

/* A run of neighbouring bytes of one slab. */
struct stage {
	pctl_session *s;
	const pctl_call *call;
	uint8_t *data;
	pctl_buffer *buffer;
	uint64_t offset, n;
};

static pctl_status stage_open(struct stage *st, const pctl_task_layout *l, pctl_session *s,
			      const pctl_call *call)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < l->slabs.n; i++)
		n = l->slabs.items[i].n_bytes > n ? l->slabs.items[i].n_bytes : n;
	*st = (struct stage){.s = s, .call = call};
	st->data = malloc(n < STAGE_BYTES ? n + 1 : STAGE_BYTES);
	return st->data == NULL ? pctl_refuse(call, PC2_NOMEM, "no memory to move bytes") : PCTL_OK;
}

static pctl_status write_stage(struct stage *st)
{
	const uint64_t n = st->n;

	st->n = 0;
	return n == 0 ? PCTL_OK
		      : pctl_session_table(st->s)->buffer_write(pctl_session_device(st->s),
								st->call, st->buffer, st->offset,
								st->data, n);
}

/* Does a range continue what is staged, within the stage. */
static int continues(const struct stage *st, const pctl_buffer *buffer, uint64_t offset, uint64_t n)
{
	return st->n != 0 && buffer == st->buffer && offset >= st->offset + st->n &&
	       offset - st->offset <= STAGE_BYTES && n <= STAGE_BYTES - (offset - st->offset);
}

static pctl_status put(struct stage *st, pctl_buffer *buffer, uint64_t offset,
		       const pctl_task_binding *b)
{
	pctl_status status = PCTL_OK;

	if (b->n_bytes >= ALONE_BYTES) {
		status = write_stage(st);
		return status != PCTL_OK
			       ? status
			       : pctl_session_table(st->s)->buffer_write(pctl_session_device(st->s),
									 st->call, buffer, offset,
									 b->data, b->n_bytes);
	}
	if (!continues(st, buffer, offset, b->n_bytes)) {
		status = write_stage(st);
		st->buffer = buffer;
		st->offset = offset;
	}
	/* What lies between two ranges is nobody's and stays zero. */
	memset(st->data + st->n, 0, offset - st->offset - st->n);
	memcpy(st->data + (offset - st->offset), b->data, b->n_bytes);
	st->n = offset - st->offset + b->n_bytes;
	return status;
}

pctl_status pctl_layout_upload(const pctl_task_layout *l, pctl_session *s, const pctl_call *call,
			       pctl_task_stats *stats)
{
	struct stage st;
	pctl_status status = stage_open(&st, l, s, call);

	for (uint32_t i = 0; status == PCTL_OK && i < l->uploads.n; i++) {
		const pctl_task_upload *u = &l->uploads.items[i];

		status = put(&st, l->slabs.items[u->at.slab].buffer, u->at.offset, u->binding);
		stats->bytes_up += u->binding->n_bytes;
	}
	if (status == PCTL_OK)
		status = write_stage(&st);
	free(st.data);
	return status;
}

static pctl_status read_at(struct stage *st, pctl_buffer *buffer, uint64_t offset, void *data,
			   uint64_t n)
{
	memset(data, PCTL_UNREAD, n); /* no earlier answer */
	return pctl_session_table(st->s)->buffer_read(pctl_session_device(st->s), st->call, buffer,
						      offset, data, n);
}

/* The outputs of tasks from..to - 1, which neighbour each other in one slab: one read. */
static pctl_status fetch_run(struct stage *st, const pctl_task_layout *l, uint32_t from,
			     uint32_t to)
{
	pctl_status status = read_at(st, st->buffer, st->offset, st->data, st->n);

	for (uint32_t i = from; status == PCTL_OK && i < to; i++) {
		if (l->outputs[i].slab != PCTL_TASK_NOWHERE)
			memcpy(l->tasks[i].output, st->data + (l->outputs[i].offset - st->offset),
			       l->tasks[i].n_output);
	}
	return status;
}

pctl_status pctl_layout_fetch(const pctl_task_layout *l, pctl_session *s, const pctl_call *call,
			      pctl_task_stats *stats)
{
	struct stage st;
	uint32_t from = 0;
	pctl_status status = stage_open(&st, l, s, call);

	for (uint32_t i = 0; status == PCTL_OK && i < l->n; i++) {
		const pctl_task *t = &l->tasks[i];
		const pctl_task_place *at = &l->outputs[i];
		pctl_buffer *buffer;

		if (at->slab == PCTL_TASK_NOWHERE) {
			if (t->n_output != 0)
				memset(t->output, 0, t->n_output);
			continue;
		}
		buffer = l->slabs.items[at->slab].buffer;
		stats->bytes_down += t->n_output;
		if (continues(&st, buffer, at->offset, t->n_output) && t->n_output < ALONE_BYTES) {
			st.n = at->offset - st.offset + t->n_output;
			continue;
		}
		if (st.n != 0)
			status = fetch_run(&st, l, from, i);
		st.n = 0;
		if (status == PCTL_OK && t->n_output >= ALONE_BYTES) {
			status = read_at(&st, buffer, at->offset, t->output, t->n_output);
			continue;
		}
		st.buffer = buffer;
		st.offset = at->offset;
		st.n = t->n_output;
		from = i;
	}
	if (status == PCTL_OK && st.n != 0)
		status = fetch_run(&st, l, from, l->n);
	free(st.data);
	return status;
}
