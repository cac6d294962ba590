/* Bytes to a device and back, through a stage on the host, so that many small ones cost one call; and what lies beside them,
 * where there are zones: a slab is then written and read whole. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "runtime/exec/tasks_layout.h"
#include "runtime/exec/readback.h"

#define STAGE_BYTES (4u << 20)
#define ALONE_BYTES (1u << 20) /* so many are moved without the stage */
#define COMPARED_BYTES \
	(16u << 10) /* inputs up to so many are read back with the zones beside them */

/* ---- what lies in a slab, in ascending order ------------------------------------------------ */

/* A span of the host's or a zone; a zone is told of by the span before it, the first one of a slab by the span behind it. */
typedef struct segment {
	enum { SEGMENT_INPUT, SEGMENT_OUTPUT, SEGMENT_ZONE } kind;
	uint32_t slab, task;
	uint64_t offset, n;
	const pctl_task_binding *binding; /* NULL: the output of the task */
	int64_t from;			  /* of a zone: where in that span's terms it begins */
} segment;

typedef struct walk {
	const pctl_task_layout *l;
	pctl_status (*each)(void *ctx, const segment *s);
	void *ctx;
	segment last; /* span */
	uint64_t end; /* of all that was seen of the slab */
	int is_open;
} walk;

static uint64_t bytes_of(const pctl_task_layout *l, const segment *span)
{
	return span->binding == NULL ? l->tasks[span->task].n_output : span->binding->n_bytes;
}

/* Zones in pieces, up to `to`; `beside` is what they are told of. */
static pctl_status zones_to(walk *w, uint64_t to, const segment *beside)
{
	pctl_status status = PCTL_OK;

	while (status == PCTL_OK && w->end < to) {
		segment zone = *beside;

		zone.kind = SEGMENT_ZONE;
		zone.n = to - w->end < ALONE_BYTES ? to - w->end : ALONE_BYTES;
		zone.from = (int64_t)w->end - (int64_t)beside->offset;
		zone.offset = w->end;
		w->end += zone.n;
		if (w->l->slabs.items[beside->slab].is_zoned)
			status = w->each(w->ctx, &zone);
	}
	return status;
}

static pctl_status walk_end(walk *w)
{
	const int is_open = w->is_open;

	w->is_open = 0;
	return is_open ? zones_to(w, pctl_slab_bytes(w->l, w->last.slab), &w->last) : PCTL_OK;
}

static pctl_status walk_span(walk *w, const segment *span)
{
	pctl_status status = PCTL_OK;

	if (w->is_open && w->last.slab != span->slab)
		status = walk_end(w);
	if (!w->is_open)
		w->end = 0;
	if (status == PCTL_OK)
		status = zones_to(w, span->offset, w->is_open ? &w->last : span);
	if (status == PCTL_OK)
		status = w->each(w->ctx, span);
	w->last = *span;
	w->is_open = 1;
	/* What rounds a span up to whole words is its own. */
	w->end = pctl_num_align(span->offset + span->n, 4);
	return status;
}

static pctl_status walk_inputs(walk *w)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < w->l->uploads.n; i++) {
		const pctl_task_upload *u = &w->l->uploads.items[i];
		const segment span = {SEGMENT_INPUT,	   u->at.slab, u->task, u->at.offset,
				      u->binding->n_bytes, u->binding, 0};

		status = walk_span(w, &span);
	}
	return status == PCTL_OK ? walk_end(w) : status;
}

static pctl_status walk_outputs(walk *w)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < w->l->n; i++) {
		const pctl_task_place *at = &w->l->outputs[i];
		const segment span = {SEGMENT_OUTPUT,	       at->slab, i, at->offset,
				      w->l->tasks[i].n_output, NULL,	 0};

		if (at->slab != PCTL_TASK_NOWHERE)
			status = walk_span(w, &span);
	}
	return status == PCTL_OK ? walk_end(w) : status;
}

/* ---- a stage -------------------------------------------------------------------------------- */

/* A run of neighbouring bytes of one slab; what of it is read back, in `queue`. */
struct stage {
	const pctl_task_layout *l;
	pctl_session *s;
	const pctl_call *call;
	pctl_task_stats *stats;
	uint8_t *data;
	uint32_t slab, held;
	uint64_t offset, n;
	PCTL_VEC(segment) queue;
};

static pctl_status stage_open(struct stage *st, const pctl_task_layout *l, pctl_session *s,
			      const pctl_call *call, pctl_task_stats *stats)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < l->slabs.n; i++)
		n = pctl_slab_bytes(l, i) > n ? pctl_slab_bytes(l, i) : n;
	*st = (struct stage){.l = l, .s = s, .call = call, .stats = stats};
	st->data = malloc(n < STAGE_BYTES ? n + 1 : STAGE_BYTES);
	return st->data == NULL ? pctl_no_memory(call, "moving bytes") : PCTL_OK;
}

static void stage_close(struct stage *st)
{
	free(st->data);
	free(st->queue.items);
}

/* Does a segment continue what is staged, within the stage. */
static int continues(const struct stage *st, const segment *g)
{
	return st->n != 0 && g->slab == st->slab && g->offset >= st->offset + st->n &&
	       g->offset - st->offset <= STAGE_BYTES &&
	       g->n <= STAGE_BYTES - (g->offset - st->offset);
}

static void begin(struct stage *st, const segment *g)
{
	st->slab = g->slab;
	st->offset = g->offset;
}

/* ---- up ------------------------------------------------------------------------------------- */

static pctl_status write_at(struct stage *st, uint32_t slab, uint64_t offset, const void *data,
			    uint64_t n)
{
	return pctl_session_table(st->s)->buffer_write(pctl_session_device(st->s), st->call,
						       st->l->slabs.items[slab].buffer, offset,
						       data, n);
}

static pctl_status write_stage(struct stage *st)
{
	const uint64_t n = st->n;

	st->n = 0;
	return n == 0 ? PCTL_OK : write_at(st, st->slab, st->offset, st->data, n);
}

static pctl_status put(void *ctx, const segment *g)
{
	struct stage *st = ctx;
	pctl_status status = PCTL_OK;
	uint8_t *room;

	if (g->kind == SEGMENT_INPUT)
		st->stats->bytes_up += g->n;
	if (g->kind != SEGMENT_ZONE && g->n >= ALONE_BYTES) {
		status = write_stage(st);
		if (status == PCTL_OK && g->kind == SEGMENT_INPUT)
			status = write_at(st, g->slab, g->offset, g->binding->data, g->n);
		return status; /* a buffer begins as zeros, and so must an output */
	}
	if (!continues(st, g)) {
		status = write_stage(st);
		begin(st, g);
	}
	room = st->data + (g->offset - st->offset);
	/* What lies between two spans without a zone is nobody's and stays zero. */
	memset(st->data + st->n, 0, g->offset - st->offset - st->n);
	if (g->kind == SEGMENT_ZONE)
		pctl_guard_fill(room, g->n, pctl_slab_key(st->l, g->slab), g->offset);
	else if (g->kind == SEGMENT_INPUT)
		memcpy(room, g->binding->data, g->n);
	else
		memset(room, 0, g->n);
	st->n = g->offset - st->offset + g->n;
	return status;
}

pctl_status pctl_layout_upload(const pctl_task_layout *l, pctl_session *s, const pctl_call *call,
			       pctl_task_stats *stats)
{
	struct stage st;
	walk w = {.l = l, .each = put, .ctx = &st};
	pctl_status status = stage_open(&st, l, s, call, stats);

	if (status == PCTL_OK)
		status = walk_inputs(&w);
	if (status == PCTL_OK && l->zones.before != 0)
		status = walk_outputs(&w);
	if (status == PCTL_OK)
		status = write_stage(&st);
	stage_close(&st);
	return status;
}

/* ---- back ----------------------------------------------------------------------------------- */

static pctl_status judge(const struct stage *st, const segment *g, const uint8_t *read,
			 uint64_t from)
{
	const char *name = st->l->tasks[g->task].name;
	char job[200], span[64] = "its output";
	const pctl_readback w = {st->s, st->call, job, span, bytes_of(st->l, g)};
	const uint64_t key = pctl_slab_key(st->l, g->slab);

	/* Nearly always as it should be; then nobody needs its name. */
	if (g->kind == SEGMENT_ZONE
		    ? pctl_guard_check(read, g->n, key, g->offset) == g->n
		    : memcmp(read, (const uint8_t *)g->binding->data + from, g->n) == 0)
		return PCTL_OK;
	snprintf(job, sizeof(job), "job \"%.180s\"", name);
	if (g->binding != NULL)
		snprintf(span, sizeof(span), "group %" PRIu32 " binding %" PRIu32,
			 g->binding->group, g->binding->binding);
	if (g->kind == SEGMENT_ZONE)
		return pctl_readback_zone(&w, read, g->n, key, g->offset, g->from);
	return pctl_readback_held(&w, read, (const uint8_t *)g->binding->data + from, g->n, from);
}

static pctl_status read_stage(struct stage *st)
{
	const uint64_t n = st->n;
	pctl_status status = PCTL_OK;

	st->n = 0;
	if (n != 0)
		status = pctl_readback_fill(st->s, st->call, st->l->slabs.items[st->slab].buffer,
					    st->offset, st->data, n);
	for (uint32_t i = 0; status == PCTL_OK && i < st->queue.n; i++) {
		const segment *g = &st->queue.items[i];
		const uint8_t *read = st->data + (g->offset - st->offset);

		if (g->kind == SEGMENT_OUTPUT)
			memcpy(st->l->tasks[g->task].output, read, g->n);
		else
			status = judge(st, g, read, 0);
	}
	st->queue.n = 0;
	return status;
}

/* Too many bytes for the stage: outputs go where they belong, inputs are compared in pieces where that is asked. */
static pctl_status take_alone(struct stage *st, const segment *g)
{
	pctl_buffer *buffer = st->l->slabs.items[g->slab].buffer;
	pctl_status status = read_stage(st);

	if (status == PCTL_OK && g->kind == SEGMENT_OUTPUT)
		return pctl_readback_fill(st->s, st->call, buffer, g->offset,
					  st->l->tasks[g->task].output, g->n);
	for (uint64_t at = 0; status == PCTL_OK && st->held && at < g->n; at += ALONE_BYTES) {
		segment piece = *g;

		piece.n = g->n - at < ALONE_BYTES ? g->n - at : ALONE_BYTES;
		status = pctl_readback_fill(st->s, st->call, buffer, g->offset + at, st->data,
					    piece.n);
		if (status == PCTL_OK)
			status = judge(st, &piece, st->data, at);
	}
	return status;
}

static pctl_status take(void *ctx, const segment *g)
{
	struct stage *st = ctx;
	pctl_status status = PCTL_OK;

	if (g->kind == SEGMENT_OUTPUT)
		st->stats->bytes_down += g->n;
	if (g->kind != SEGMENT_ZONE && g->n >= ALONE_BYTES)
		return take_alone(st, g);
	if (g->kind == SEGMENT_INPUT && g->n > COMPARED_BYTES && !st->held)
		return read_stage(st);
	if (!continues(st, g)) {
		status = read_stage(st);
		begin(st, g);
	}
	st->n = g->offset - st->offset + g->n;
	if (status == PCTL_OK && !PCTL_VEC_PUSH(&st->queue, *g))
		status = pctl_no_memory(st->call, "moving bytes");
	return status;
}

pctl_status pctl_layout_fetch(const pctl_task_layout *l, uint32_t held, pctl_session *s,
			      const pctl_call *call, pctl_task_stats *stats)
{
	struct stage st;
	walk w = {.l = l, .each = take, .ctx = &st};
	pctl_status status = stage_open(&st, l, s, call, stats);

	st.held = held;
	for (uint32_t i = 0; i < l->n; i++)
		if (l->outputs[i].slab == PCTL_TASK_NOWHERE && l->tasks[i].n_output != 0)
			memset(l->tasks[i].output, 0, l->tasks[i].n_output);
	if (status == PCTL_OK && (held || l->zones.before != 0))
		status = walk_inputs(&w);
	if (status == PCTL_OK)
		status = walk_outputs(&w);
	if (status == PCTL_OK)
		status = read_stage(&st);
	stage_close(&st);
	return status;
}
