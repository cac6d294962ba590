/* The worker's side of recording, posted commands whose first failure list_end reports, and of running. */
#include "runtime/ipc/serve_objects.h"

void pctl_serve_list_begin(pctl_ipc_server *s, const pctl_ipc_list_begin *a)
{
	const object *d = a->device;
	pctl_device *dev = d->p;
	object l = {.kind = PCTL_IPC_LIST, .device = s->device};
	pctl_list *list = NULL;

	l.status = s->table->list_begin(dev, &s->call, &list);
	l.p = l.status ? NULL : list;
	if (pctl_serve_object_put(s, a->list, &l))
		return;
	if (l.p)
		s->table->list_destroy(dev, l.p);
	pctl_serve_bad(s);
}

/* A buffer that could not be written is none that a list may use. */
static void use(object *list, const object *buffer)
{
	if (!list->status)
		list->status = buffer->status;
}

/* Of bindings as they were unpacked, whose buffers are objects still. */
static const pctl_binding *resolve(object *list, const pctl_ipc_binding *bindings, uint32_t n)
{
	/* They lie in the server's arena, which is its own to write. */
	pctl_binding *b = (pctl_binding *)(uintptr_t)bindings;

	for (uint32_t i = 0; i < n; i++) {
		if (!b[i].buffer)
			continue;
		use(list, (object *)(void *)b[i].buffer);
		b[i].buffer = ((object *)(void *)b[i].buffer)->p;
	}
	return b;
}

void pctl_serve_list_dispatch(pctl_ipc_server *s, const pctl_ipc_dispatch *a)
{
	object *l = a->list;
	const object *k = a->kernel;
	const pctl_binding *b = resolve(l, a->bindings, a->n_bindings);

	if (!l->status)
		l->status =
			s->table->list_dispatch(l->p, &s->call, k->p, b, a->n_bindings, a->groups);
}

void pctl_serve_list_indirect(pctl_ipc_server *s, const pctl_ipc_indirect *a)
{
	object *l = a->list;
	const object *k = a->kernel, *buf = a->buffer;
	const pctl_binding *b = resolve(l, a->bindings, a->n_bindings);

	use(l, buf);
	if (!l->status)
		l->status = s->table->list_dispatch_indirect(l->p, &s->call, k->p, b, a->n_bindings,
							     buf->p, a->offset, a->limit);
}

void pctl_serve_list_copy(pctl_ipc_server *s, const pctl_ipc_list_copy *a)
{
	object *l = a->list;
	const object *from = a->from, *to = a->to;

	use(l, from);
	use(l, to);
	if (!l->status)
		l->status = s->table->list_copy(l->p, &s->call, from->p, a->from_offset, to->p,
						a->to_offset, a->n_bytes);
}

void pctl_serve_list_fill(pctl_ipc_server *s, const pctl_ipc_list_fill *a)
{
	object *l = a->list;
	const object *buf = a->buffer;

	use(l, buf);
	if (!l->status)
		l->status =
			s->table->list_fill(l->p, &s->call, buf->p, a->offset, a->n_bytes, a->word);
}

void pctl_serve_list_barrier(pctl_ipc_server *s, const pctl_ipc_of_list *a)
{
	object *l = a->list;

	if (!l->status)
		l->status = s->table->list_barrier(l->p, &s->call);
}

void pctl_serve_list_timestamp(pctl_ipc_server *s, const pctl_ipc_timestamp *a)
{
	object *l = a->list;

	if (!l->status)
		l->status = s->table->list_timestamp(l->p, &s->call, a->slot);
}

pctl_status pctl_serve_list_end(pctl_ipc_server *s, const pctl_ipc_of_list *a, pctl_ipc_nothing *r)
{
	object *l = a->list;

	(void)r;
	if (!l->status)
		l->status = s->table->list_end(l->p, &s->call);
	return l->status;
}

void pctl_serve_list_destroy(pctl_ipc_server *s, const pctl_ipc_old_list *a)
{
	const object *dev = a->device, *o = a->list;
	pctl_list *l = o->p;

	pctl_serve_object_drop(s, pctl_serve_object_number(s, o));
	if (l)
		s->table->list_destroy(dev->p, l);
}

/* ---- running ------------------------------------------------------------------------------ */

void pctl_serve_submit(pctl_ipc_server *s, const pctl_ipc_submit *a)
{
	const object *dev = a->device, *l = a->list;
	ticket t = {.device = s->device, .host = a->ticket};

	if (pctl_serve_ticket_early(s, s->device, t.host))
		t.status = PCTL_E_CANCELLED;
	else if (l->status)
		t.status = l->status;
	else
		t.status = s->table->submit(dev->p, &s->call, l->p, a->times, &t.backend);
	if (!pctl_serve_ticket_put(s, &t))
		pctl_serve_bad(s);
}

pctl_status pctl_serve_wait(pctl_ipc_server *s, const pctl_ipc_wait *a, pctl_completion *r)
{
	const object *dev = a->device;
	pctl_status status;
	ticket t;

	if (!pctl_serve_ticket_get(s, s->device, a->ticket, &t))
		return pctl_refuse(&s->call, PC3107_WORKER_REQUEST,
				   "nothing under way has ticket %llu",
				   (unsigned long long)a->ticket);
	status = t.status;
	r->head = (pctl_head)PCTL_HEAD(pctl_completion);
	/* A cancel that came while the submit was still being carried out. */
	if (!status && pctl_serve_ticket_early(s, s->device, a->ticket))
		s->table->cancel(dev->p, t.backend);
	if (!status)
		status = s->table->wait(dev->p, &s->call, t.backend, a->timeout_ns, r);
	if (status || r->done)
		pctl_serve_ticket_drop(s, s->device, a->ticket);
	return status;
}

pctl_status pctl_serve_findings(pctl_ipc_server *s, const pctl_ipc_findings *a,
				pctl_ipc_finding_list *r)
{
	const object *dev = a->device;
	pctl_finding *f = pctl_arena_array(s->arena, a->capacity, sizeof(*f));
	pctl_status status;

	if (!f)
		return PCTL_E_NOMEM;
	status = s->table->findings(dev->p, &s->call, a->capacity, f, &r->n);
	r->findings = f;
	r->n_findings = r->n < a->capacity ? r->n : a->capacity;
	return status;
}

pctl_status pctl_serve_counts(pctl_ipc_server *s, const pctl_ipc_of_device *a, pctl_counts *r)
{
	const object *dev = a->device;

	r->head = (pctl_head)PCTL_HEAD(pctl_counts);
	return s->table->counts(dev->p, &s->call, r);
}
