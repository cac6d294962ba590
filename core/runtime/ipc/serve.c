/* A request from its frame to its reply, by the table of messages; the greeting and the end. See serve.h. */
#include "runtime/ipc/serve.h"

#include <stdlib.h>
#include <unistd.h>

#include "runtime/ipc/serve_objects.h"

pctl_status pctl_serve_bad(pctl_ipc_server *s)
{
	s->malformed = 1;
	return PCTL_E_INTERNAL;
}

/* ---- the greeting and the end ----------------------------------------------------------------- */

pctl_status pctl_serve_hello(pctl_ipc_server *s, const pctl_ipc_hello *a, pctl_ipc_greeting *r)
{
	const uint64_t mine = pctl_ipc_table_hash();
	int fd = s->fd;

	s->greeted = 1;
	if (a->version != PCTL_IPC_VERSION)
		return pctl_refuse(&s->call, PC3106_WORKER_VERSION,
				   "the host speaks version %u, this worker %u", a->version,
				   PCTL_IPC_VERSION);
	if (a->table != mine)
		return pctl_refuse(&s->call, PC3106_WORKER_VERSION,
				   "the host's table of messages is %016llx, this worker's %016llx",
				   (unsigned long long)a->table, (unsigned long long)mine);
	if (s->open_status)
		return s->open_status;
	s->fd = -1;
	if (!pctl_ipc_window_attach(fd, &s->window))
		return pctl_refuse(&s->call, PC3107_WORKER_REQUEST,
				   "the shared window is missing or not sealed");
	if (s->table && s->table->kernel_cache)
		s->optional |= PCTL_IPC_HAS_CACHE;
	if (s->table && s->table->findings)
		s->optional |= PCTL_IPC_HAS_FINDINGS;
	if (s->table && s->table->counts)
		s->optional |= PCTL_IPC_HAS_COUNTS;
	if (s->table && PCTL_HAS(s->table, pctl_backend, kernel_source) && s->table->kernel_source)
		s->optional |= PCTL_IPC_HAS_SOURCE;
	r->version = PCTL_IPC_VERSION;
	r->table = mine;
	r->optional = s->optional;
	return PCTL_OK;
}

pctl_status pctl_serve_bye(pctl_ipc_server *s, const pctl_ipc_nothing *a, pctl_ipc_nothing *r)
{
	(void)s;
	(void)a;
	(void)r;
	return PCTL_OK;
}

/* Whose work the requests are that follow. */
void pctl_serve_trace(pctl_ipc_server *s, const pctl_ipc_trace *a)
{
	s->call.trace_id = a->id;
}

/* ---- by the table ----------------------------------------------------------------------------- */

#define PCTL_ASKED(number, NAME, name, ask, reply, whose, patience, needs, fds, means) \
	static pctl_status call_##name(pctl_ipc_server *s, const void *a, void *r)     \
	{                                                                              \
		return pctl_serve_##name(s, a, r);                                     \
	}
#define PCTL_POSTED(number, NAME, name, ask, whose, means)                         \
	static pctl_status call_##name(pctl_ipc_server *s, const void *a, void *r) \
	{                                                                          \
		(void)r;                                                           \
		pctl_serve_##name(s, a);                                           \
		return PCTL_OK;                                                    \
	}
#include "runtime/ipc/protocol.def"

static pctl_status (*const handlers[PCTL_IPC_MESSAGES])(pctl_ipc_server *s, const void *a,
							void *r) = {
#define PCTL_ASKED(number, NAME, name, ask, reply, whose, patience, needs, fds, means) \
	[number] = call_##name,
#define PCTL_POSTED(number, NAME, name, ask, whose, means) [number] = call_##name,
#include "runtime/ipc/protocol.def"
};

/* Room for any request, and for any reply. */
typedef union any {
	max_align_t align;
#define PCTL_ASKED(number, NAME, name, ask, reply, whose, patience, needs, fds, means) \
	pctl_ipc_##ask ask_##name;                                                     \
	pctl_ipc_##reply reply_##name;
#define PCTL_POSTED(number, NAME, name, ask, whose, means) pctl_ipc_##ask ask_##name;
#include "runtime/ipc/protocol.def"
} any;

/* May it be asked now. */
static int is_in_place(const pctl_ipc_server *s, const pctl_ipc_message *m)
{
	if (!m || m->whose == PCTL_IPC_OF_PROBE || m->needs & ~s->optional)
		return 0;
	if (m->whose == PCTL_IPC_OF_ANY)
		return 1;
	if (m->whose == PCTL_IPC_OF_FIRST)
		return !s->greeted;
	return s->greeted && ((m->whose == PCTL_IPC_OF_BACKEND && s->table) ||
			      (m->whose == PCTL_IPC_OF_OPS && s->ops));
}

/* All objects of a request are of the device of the first. */
static void *find(void *ctx, uint32_t kind, uint32_t number)
{
	pctl_ipc_server *s = ctx;
	object *o = pctl_serve_object_get(s, number, kind, s->device);

	if (o && !s->device)
		s->device = o->device;
	return o;
}

static int put_reply(pctl_ipc_server *s, const pctl_ipc_header *h, const pctl_ipc_message *m,
		     pctl_status status, const void *reply, pctl_ipc_channel *ch)
{
	pctl_ipc_frame_begin(ch, h->op, h->seq);
	/* An `answer`, whose diagnostics were packed as they came. */
	pctl_ipc_put_u32(&ch->out, (uint32_t)status);
	pctl_ipc_put_u32(&ch->out, s->n_diags);
	pctl_ipc_put(&ch->out, s->diags.data, s->diags.n);
	if (!status)
		pctl_ipc_pack(&ch->out, m->reply, reply, NULL);
	if (s->diags.failed)
		ch->out.failed = 1;
	s->diags.n = 0;
	s->n_diags = 0;
	return pctl_ipc_frame_end(ch);
}

int pctl_ipc_server_handle(pctl_ipc_server *s, const pctl_ipc_frame *f, pctl_ipc_channel *ch)
{
	const pctl_ipc_message *m = pctl_ipc_message_of(f->header.op);
	const pctl_ipc_scope scope = {s->arena, find, s};
	pctl_ipc_in in = {f->payload, f->header.n_bytes, 0, 0};
	pctl_status status;
	any ask, reply;

	if (!is_in_place(s, m))
		return -1;
	atomic_store_explicit(&s->seq, f->header.seq, memory_order_relaxed);
	pctl_arena_clear(s->arena);
	s->device = 0;
	s->malformed = 0;
	if (!pctl_ipc_unpack_all(&in, m->ask, &scope, &ask))
		return -1;
	memset(&reply, 0, pctl_ipc_shape_of(m->reply)->size);
	s->fd = m->fds ? pctl_ipc_take_fd(ch) : -1;
	status = handlers[f->header.op](s, &ask, &reply);
	if (s->fd >= 0)
		close(s->fd);
	if (s->malformed)
		return -1;
	if (m->how == PCTL_IPC_IS_POSTED)
		return 1;
	if (!put_reply(s, &f->header, m, status, &reply, ch))
		return -1;
	return f->header.op != PCTL_IPC_BYE;
}
