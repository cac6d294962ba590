/* The worker's side of recording: posted commands, whose first failure list_end reports,
 * and the trace id that goes before them. */
#include "runtime/ipc/serve_objects.h"

static int get_bindings(pctl_ipc_server *s, pctl_ipc_in *in, uint32_t device, uint32_t *n_out)
{
	const uint32_t n = pctl_ipc_get_u32(in);
	uint32_t i;

	*n_out = 0;
	if (in->failed || n > PCTL_IPC_BINDINGS_MAX)
		return 0;
	for (i = 0; i < n; i++) {
		pctl_binding *b = &s->bindings[i];
		const object *buf;
		uint32_t id;

		b->group = pctl_ipc_get_u32(in);
		b->binding = pctl_ipc_get_u32(in);
		id = pctl_ipc_get_u32(in);
		b->offset = pctl_ipc_get_u64(in);
		b->n_bytes = pctl_ipc_get_u64(in);
		b->buffer = NULL;
		if (in->failed)
			return 0;
		if (id == 0)
			continue;
		buf = pctl_serve_object_get(s, id, OBJECT_BUFFER, device);
		if (!buf)
			return 0;
		b->buffer = buf->p;
	}
	*n_out = n;
	return 1;
}

static pctl_buffer *get_buffer(pctl_ipc_server *s, pctl_ipc_in *in, uint32_t device)
{
	const object *o = pctl_serve_object_get(s, pctl_ipc_get_u32(in), OBJECT_BUFFER, device);

	if (!o)
		in->failed = 1;
	return o ? o->p : NULL;
}

static pctl_status dispatch(pctl_ipc_server *s, const object *l, pctl_ipc_in *in, int indirect)
{
	const object *k = pctl_serve_object_get(s, pctl_ipc_get_u32(in), OBJECT_KERNEL, l->device);
	pctl_buffer *from = NULL;
	uint64_t offset = 0;
	uint32_t counts[3], n = 0;
	uint32_t i;

	for (i = 0; i < 3; i++)
		counts[i] = pctl_ipc_get_u32(in);
	if (indirect) {
		from = get_buffer(s, in, l->device);
		offset = pctl_ipc_get_u64(in);
	}
	if (!k || !get_bindings(s, in, l->device, &n) || !pctl_ipc_in_done(in)) {
		in->failed = 1;
		return PCTL_OK;
	}
	if (l->status)
		return PCTL_OK;
	if (indirect)
		return s->table->list_dispatch_indirect(l->p, &s->call, k->p, s->bindings, n, from,
							offset, counts);
	return s->table->list_dispatch(l->p, &s->call, k->p, s->bindings, n, counts);
}

static pctl_status copy(pctl_ipc_server *s, const object *l, pctl_ipc_in *in)
{
	pctl_buffer *from = get_buffer(s, in, l->device);
	const uint64_t from_offset = pctl_ipc_get_u64(in);
	pctl_buffer *to = get_buffer(s, in, l->device);
	const uint64_t to_offset = pctl_ipc_get_u64(in);
	const uint64_t n = pctl_ipc_get_u64(in);

	if (!pctl_ipc_in_done(in) || l->status)
		return PCTL_OK;
	return s->table->list_copy(l->p, &s->call, from, from_offset, to, to_offset, n);
}

static pctl_status fill(pctl_ipc_server *s, const object *l, pctl_ipc_in *in)
{
	pctl_buffer *buf = get_buffer(s, in, l->device);
	const uint64_t offset = pctl_ipc_get_u64(in);
	const uint64_t n = pctl_ipc_get_u64(in);
	const uint32_t word = pctl_ipc_get_u32(in);

	if (!pctl_ipc_in_done(in) || l->status)
		return PCTL_OK;
	return s->table->list_fill(l->p, &s->call, buf, offset, n, word);
}

static int begin(pctl_ipc_server *s, uint32_t id, pctl_ipc_in *in)
{
	const uint32_t device = pctl_ipc_get_u32(in);
	const object *dev = pctl_serve_object_get(s, device, OBJECT_DEVICE, 0);
	object l = {.kind = OBJECT_LIST, .device = device};
	pctl_list *list = NULL;

	if (!dev || !pctl_ipc_in_done(in))
		return 0;
	l.status = s->table->list_begin(dev->p, &s->call, &list);
	l.p = l.status ? NULL : list;
	if (pctl_serve_object_put(s, id, &l))
		return 1;
	if (l.p)
		s->table->list_destroy(dev->p, l.p);
	return 0;
}

/* Whose work the requests are that follow. */
static int set_trace(pctl_ipc_server *s, pctl_ipc_in *in)
{
	const uint64_t id = pctl_ipc_get_u64(in);

	if (!pctl_ipc_in_done(in))
		return 0;
	s->call.trace_id = id;
	return 1;
}

int pctl_serve_list(pctl_ipc_server *s, uint16_t op, pctl_ipc_in *in)
{
	pctl_status status = PCTL_OK;
	uint32_t slot, id;
	object *l;

	if (op == PCTL_IPC_TRACE)
		return set_trace(s, in);
	id = pctl_ipc_get_u32(in);
	if (op == PCTL_IPC_LIST_BEGIN)
		return begin(s, id, in);
	l = pctl_serve_object_get(s, id, OBJECT_LIST, 0);
	if (!l)
		return 0;
	switch (op) {
	case PCTL_IPC_LIST_DISPATCH:
		status = dispatch(s, l, in, 0);
		break;
	case PCTL_IPC_LIST_INDIRECT:
		status = dispatch(s, l, in, 1);
		break;
	case PCTL_IPC_LIST_COPY:
		status = copy(s, l, in);
		break;
	case PCTL_IPC_LIST_FILL:
		status = fill(s, l, in);
		break;
	case PCTL_IPC_LIST_BARRIER:
		if (pctl_ipc_in_done(in) && !l->status)
			status = s->table->list_barrier(l->p, &s->call);
		break;
	case PCTL_IPC_LIST_TIMESTAMP:
		slot = pctl_ipc_get_u32(in);
		if (pctl_ipc_in_done(in) && !l->status)
			status = s->table->list_timestamp(l->p, &s->call, slot);
		break;
	default:
		return 0;
	}
	if (!l->status)
		l->status = status;
	return pctl_ipc_in_done(in);
}
