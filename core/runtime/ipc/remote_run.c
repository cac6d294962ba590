/* Recording and running through a worker: the slots of lists, submits and what came of them. */
#include "runtime/ipc/remote_private.h"

/* ---- lists -------------------------------------------------------------------------------- */

pctl_status pctl_remote_list_begin(pctl_device *dev, const pctl_call *call, pctl_list **out)
{
	remote_object *d = pctl_remote_object_of(dev), *o;
	pctl_ipc_list_begin ask = {.device = dev};
	pctl_remote *r = d->r;
	pctl_status s = PCTL_E_NOMEM;

	*out = NULL;
	pthread_mutex_lock(&r->lock);
	o = pctl_remote_object_create(r, d->id, call);
	if (!o)
		goto out;
	ask.list = o->id;
	s = PCTL_E_DEVICE_LOST;
	if (pctl_remote_begin(r, PCTL_IPC_LIST_BEGIN, &ask, call))
		s = pctl_remote_post(r, call);
	if (s)
		pctl_remote_object_destroy(o);
	else
		*out = (pctl_list *)(void *)o;
out:
	pthread_mutex_unlock(&r->lock);
	return s;
}

/* Post a command. kernel: that it runs, or NULL; one that cannot be noted is not recorded either. */
static pctl_status record(pctl_list *list, uint16_t op, const void *ask, const pctl_kernel *kernel,
			  const pctl_call *call)
{
	remote_object *l = pctl_remote_object_of(list);
	pctl_status s = PCTL_E_DEVICE_LOST;
	pctl_remote *r = l->r;

	pthread_mutex_lock(&r->lock);
	if (pctl_remote_begin(r, op, ask, call)) {
		if (kernel && !pctl_remote_first_note(l, pctl_remote_object_of(kernel)))
			r->ch.out.failed = 1;
		s = pctl_remote_post(r, call);
	}
	pthread_mutex_unlock(&r->lock);
	return s;
}

static pctl_status too_many(const pctl_call *call, uint32_t n)
{
	return pctl_refuse(call, PC3109_WORKER_LIMIT, "a dispatch with %u bindings; %u can be sent",
			   n, PCTL_IPC_BINDINGS_MAX);
}

pctl_status pctl_remote_list_dispatch(pctl_list *l, const pctl_call *call, pctl_kernel *k,
				      const pctl_binding *bindings, uint32_t n_bindings,
				      const uint32_t groups[3])
{
	const pctl_ipc_dispatch ask = {
		l, k, {groups[0], groups[1], groups[2]}, bindings, n_bindings};

	return n_bindings > PCTL_IPC_BINDINGS_MAX
		       ? too_many(call, n_bindings)
		       : record(l, PCTL_IPC_LIST_DISPATCH, &ask, k, call);
}

pctl_status pctl_remote_list_dispatch_indirect(pctl_list *l, const pctl_call *call, pctl_kernel *k,
					       const pctl_binding *bindings, uint32_t n_bindings,
					       pctl_buffer *buf, uint64_t offset,
					       const uint32_t limit[3])
{
	const pctl_ipc_indirect ask = {
		l, k, {limit[0], limit[1], limit[2]}, buf, offset, bindings, n_bindings};

	return n_bindings > PCTL_IPC_BINDINGS_MAX
		       ? too_many(call, n_bindings)
		       : record(l, PCTL_IPC_LIST_INDIRECT, &ask, k, call);
}

pctl_status pctl_remote_list_copy(pctl_list *l, const pctl_call *call, pctl_buffer *from,
				  uint64_t from_offset, pctl_buffer *to, uint64_t to_offset,
				  uint64_t n_bytes)
{
	const pctl_ipc_list_copy ask = {l, from, from_offset, to, to_offset, n_bytes};

	return record(l, PCTL_IPC_LIST_COPY, &ask, NULL, call);
}

pctl_status pctl_remote_list_fill(pctl_list *l, const pctl_call *call, pctl_buffer *buf,
				  uint64_t offset, uint64_t n_bytes, uint32_t word)
{
	const pctl_ipc_list_fill ask = {l, buf, offset, n_bytes, word};

	return record(l, PCTL_IPC_LIST_FILL, &ask, NULL, call);
}

pctl_status pctl_remote_list_barrier(pctl_list *l, const pctl_call *call)
{
	const pctl_ipc_of_list ask = {l};

	return record(l, PCTL_IPC_LIST_BARRIER, &ask, NULL, call);
}

pctl_status pctl_remote_list_timestamp(pctl_list *l, const pctl_call *call, uint32_t slot)
{
	const pctl_ipc_timestamp ask = {l, slot};

	return record(l, PCTL_IPC_LIST_TIMESTAMP, &ask, NULL, call);
}

pctl_status pctl_remote_list_end(pctl_list *l, const pctl_call *call)
{
	const remote_object *o = pctl_remote_object_of(l);
	const pctl_ipc_of_list ask = {l};
	pctl_status s = PCTL_E_DEVICE_LOST;
	pctl_remote *r = o->r;

	pthread_mutex_lock(&r->lock);
	/* A backend may build while it records: another variant for these bindings. */
	if (pctl_remote_begin(r, PCTL_IPC_LIST_END, &ask, call))
		s = pctl_remote_first_has(o) ? pctl_remote_ask_build(r, call, NULL)
					     : pctl_remote_ask(r, call, r->call_ms, NULL);
	pthread_mutex_unlock(&r->lock);
	return s;
}

void pctl_remote_list_destroy(pctl_device *dev, pctl_list *l)
{
	pctl_remote_destroy(dev, l, PCTL_IPC_LIST_DESTROY);
}

/* ---- running ------------------------------------------------------------------------------ */

pctl_status pctl_remote_submit(pctl_device *dev, const pctl_call *call, pctl_list *l,
			       uint32_t times, uint64_t *ticket)
{
	pctl_remote *r = pctl_remote_object_of(dev)->r;
	const pctl_ipc_submit ask = {dev, l, times, atomic_fetch_add(&r->next_ticket, 1)};
	pctl_status s = PCTL_E_DEVICE_LOST;

	*ticket = ask.ticket;
	pthread_mutex_lock(&r->lock);
	if (pctl_remote_begin(r, PCTL_IPC_SUBMIT, &ask, call)) {
		s = pctl_remote_post(r, call);
		if (!s)
			s = pctl_remote_flush(r, call);
		if (!s && !pctl_remote_first_begin(pctl_remote_object_of(l), *ticket))
			s = pctl_refuse(call, PC2_NOMEM, "no memory for a submit");
		if (!s) {
			r->under_way++;
			r->submitted = 1;
		}
	}
	pthread_mutex_unlock(&r->lock);
	return s;
}

pctl_status pctl_remote_wait(pctl_device *dev, const pctl_call *call, uint64_t ticket,
			     uint64_t timeout_ns, pctl_completion *out)
{
	remote_object *o = pctl_remote_object_of(dev);
	pctl_remote *r = o->r;
	const pctl_ipc_control cancel = {PCTL_IPC_CANCEL_TICKET, o->id, ticket};
	const pctl_ipc_wait ask = {dev, ticket, timeout_ns};
	uint64_t limit_ms = timeout_ns / 1000000u, after_ms;
	pctl_status s = PCTL_E_DEVICE_LOST;
	remote_first *first;

	/* Beyond a year there is no deadline, only cancellation. */
	after_ms = limit_ms > 31536000000u ? 0 : limit_ms + 1;
	limit_ms = after_ms ? r->grace_ms : NO_DEADLINE;
	pthread_mutex_lock(&r->lock);
	first = pctl_remote_first_of(r, ticket);
	/* A driver that works at once does so inside the submit, which is answered only now. */
	if (r->submitted && after_ms)
		limit_ms += r->call_ms;
	if (pctl_remote_begin(r, PCTL_IPC_WAIT, &ask, call)) {
		s = pctl_remote_ask_after(r, call, after_ms, limit_ms, &cancel, first, out);
		if (!s && !out->done && !pctl_is_cancelled(call))
			s = pctl_remote_look_at_first(r, call, first);
		if (s || out->done)
			pctl_remote_first_end(r, ticket, !s);
		if ((s || out->done) && r->under_way)
			r->under_way--;
	}
	pthread_mutex_unlock(&r->lock);
	return s;
}

void pctl_remote_cancel(pctl_device *dev, uint64_t ticket)
{
	remote_object *o = pctl_remote_object_of(dev);
	const pctl_ipc_control m = {PCTL_IPC_CANCEL_TICKET, o->id, ticket};

	pctl_remote_send_control(o->r, &m);
}
