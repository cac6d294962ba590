/* Recording and running through a worker: the slots of lists, submits and what came of them. */
#include "runtime/ipc/remote_private.h"

static void put_bindings(pctl_remote *r, const pctl_binding *b, uint32_t n)
{
	uint32_t i;

	pctl_ipc_put_u32(&r->ch.out, n);
	for (i = 0; i < n; i++) {
		pctl_ipc_put_u32(&r->ch.out, b[i].group);
		pctl_ipc_put_u32(&r->ch.out, b[i].binding);
		pctl_ipc_put_u32(&r->ch.out,
				 b[i].buffer ? pctl_remote_object_of(b[i].buffer)->id : 0);
		pctl_ipc_put_u64(&r->ch.out, b[i].offset);
		pctl_ipc_put_u64(&r->ch.out, b[i].n_bytes);
	}
}

/* ---- lists -------------------------------------------------------------------------------- */

pctl_status pctl_remote_list_begin(pctl_device *dev, const pctl_call *call, pctl_list **out)
{
	remote_object *d = pctl_remote_object_of(dev), *o;
	pctl_remote *r = d->r;
	pctl_status s = PCTL_E_NOMEM;

	*out = NULL;
	pthread_mutex_lock(&r->lock);
	o = pctl_remote_object_create(r, d->id, call);
	if (!o)
		goto out;
	s = PCTL_E_DEVICE_LOST;
	if (pctl_remote_begin(r, PCTL_IPC_LIST_BEGIN, call)) {
		pctl_ipc_put_u32(&r->ch.out, o->id);
		pctl_ipc_put_u32(&r->ch.out, d->id);
		s = pctl_remote_post(r, call);
	}
	if (s)
		pctl_remote_object_destroy(o);
	else
		*out = (pctl_list *)(void *)o;
out:
	pthread_mutex_unlock(&r->lock);
	return s;
}

static int begin_command(const remote_object *l, const pctl_call *call, uint16_t op)
{
	pctl_remote *r = l->r;

	pthread_mutex_lock(&r->lock);
	if (!pctl_remote_begin(r, op, call)) {
		pthread_mutex_unlock(&r->lock);
		return 0;
	}
	pctl_ipc_put_u32(&r->ch.out, l->id);
	return 1;
}

static pctl_status end_command(pctl_remote *r, const pctl_call *call)
{
	pctl_status s = pctl_remote_post(r, call);

	pthread_mutex_unlock(&r->lock);
	return s;
}

/* A command that cannot be noted is not recorded either. */
static int begin_dispatch(remote_object *l, const pctl_call *call, uint16_t op,
			  const pctl_kernel *k)
{
	if (!begin_command(l, call, op))
		return 0;
	if (pctl_remote_first_note(l, pctl_remote_object_of(k)))
		return 1;
	l->r->ch.out.failed = 1;
	return 1;
}

static void put_dispatch(pctl_remote *r, const pctl_kernel *k, const uint32_t counts[3])
{
	uint32_t i;

	pctl_ipc_put_u32(&r->ch.out, pctl_remote_object_of(k)->id);
	for (i = 0; i < 3; i++)
		pctl_ipc_put_u32(&r->ch.out, counts[i]);
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
	remote_object *o = pctl_remote_object_of(l);

	if (n_bindings > PCTL_IPC_BINDINGS_MAX)
		return too_many(call, n_bindings);
	if (!begin_dispatch(o, call, PCTL_IPC_LIST_DISPATCH, k))
		return PCTL_E_DEVICE_LOST;
	put_dispatch(o->r, k, groups);
	put_bindings(o->r, bindings, n_bindings);
	return end_command(o->r, call);
}

pctl_status pctl_remote_list_dispatch_indirect(pctl_list *l, const pctl_call *call, pctl_kernel *k,
					       const pctl_binding *bindings, uint32_t n_bindings,
					       pctl_buffer *buf, uint64_t offset,
					       const uint32_t limit[3])
{
	remote_object *o = pctl_remote_object_of(l);

	if (n_bindings > PCTL_IPC_BINDINGS_MAX)
		return too_many(call, n_bindings);
	if (!begin_dispatch(o, call, PCTL_IPC_LIST_INDIRECT, k))
		return PCTL_E_DEVICE_LOST;
	put_dispatch(o->r, k, limit);
	pctl_ipc_put_u32(&o->r->ch.out, pctl_remote_object_of(buf)->id);
	pctl_ipc_put_u64(&o->r->ch.out, offset);
	put_bindings(o->r, bindings, n_bindings);
	return end_command(o->r, call);
}

pctl_status pctl_remote_list_copy(pctl_list *l, const pctl_call *call, pctl_buffer *from,
				  uint64_t from_offset, pctl_buffer *to, uint64_t to_offset,
				  uint64_t n_bytes)
{
	const remote_object *o = pctl_remote_object_of(l);
	pctl_ipc_out *out = &o->r->ch.out;

	if (!begin_command(o, call, PCTL_IPC_LIST_COPY))
		return PCTL_E_DEVICE_LOST;
	pctl_ipc_put_u32(out, pctl_remote_object_of(from)->id);
	pctl_ipc_put_u64(out, from_offset);
	pctl_ipc_put_u32(out, pctl_remote_object_of(to)->id);
	pctl_ipc_put_u64(out, to_offset);
	pctl_ipc_put_u64(out, n_bytes);
	return end_command(o->r, call);
}

pctl_status pctl_remote_list_fill(pctl_list *l, const pctl_call *call, pctl_buffer *buf,
				  uint64_t offset, uint64_t n_bytes, uint32_t word)
{
	const remote_object *o = pctl_remote_object_of(l);
	pctl_ipc_out *out = &o->r->ch.out;

	if (!begin_command(o, call, PCTL_IPC_LIST_FILL))
		return PCTL_E_DEVICE_LOST;
	pctl_ipc_put_u32(out, pctl_remote_object_of(buf)->id);
	pctl_ipc_put_u64(out, offset);
	pctl_ipc_put_u64(out, n_bytes);
	pctl_ipc_put_u32(out, word);
	return end_command(o->r, call);
}

pctl_status pctl_remote_list_barrier(pctl_list *l, const pctl_call *call)
{
	const remote_object *o = pctl_remote_object_of(l);

	if (!begin_command(o, call, PCTL_IPC_LIST_BARRIER))
		return PCTL_E_DEVICE_LOST;
	return end_command(o->r, call);
}

pctl_status pctl_remote_list_timestamp(pctl_list *l, const pctl_call *call, uint32_t slot)
{
	const remote_object *o = pctl_remote_object_of(l);

	if (!begin_command(o, call, PCTL_IPC_LIST_TIMESTAMP))
		return PCTL_E_DEVICE_LOST;
	pctl_ipc_put_u32(&o->r->ch.out, slot);
	return end_command(o->r, call);
}

pctl_status pctl_remote_list_end(pctl_list *l, const pctl_call *call)
{
	const remote_object *o = pctl_remote_object_of(l);
	pctl_ipc_in body;
	pctl_status s;

	if (!begin_command(o, call, PCTL_IPC_LIST_END))
		return PCTL_E_DEVICE_LOST;
	/* A backend may build while it records: another variant for these bindings. */
	s = pctl_remote_first_has(o) ? pctl_remote_ask_build(o->r, call, &body)
				     : pctl_remote_ask(o->r, call, o->r->call_ms, &body);
	if (!s && !pctl_ipc_in_done(&body))
		s = pctl_remote_bad_reply(o->r, call, "list_end");
	pthread_mutex_unlock(&o->r->lock);
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
	remote_object *o = pctl_remote_object_of(dev);
	pctl_remote *r = o->r;
	pctl_status s = PCTL_E_DEVICE_LOST;

	*ticket = atomic_fetch_add(&r->next_ticket, 1);
	pthread_mutex_lock(&r->lock);
	if (pctl_remote_begin(r, PCTL_IPC_SUBMIT, call)) {
		pctl_ipc_put_u32(&r->ch.out, o->id);
		pctl_ipc_put_u32(&r->ch.out, pctl_remote_object_of(l)->id);
		pctl_ipc_put_u32(&r->ch.out, times);
		pctl_ipc_put_u64(&r->ch.out, *ticket);
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
	uint64_t limit_ms = timeout_ns / 1000000u, after_ms;
	pctl_status s = PCTL_E_DEVICE_LOST;
	remote_first *first;
	pctl_ipc_in body;

	/* Beyond a year there is no deadline, only cancellation. */
	after_ms = limit_ms > 31536000000u ? 0 : limit_ms + 1;
	limit_ms = after_ms ? r->grace_ms : NO_DEADLINE;
	pthread_mutex_lock(&r->lock);
	first = pctl_remote_first_of(r, ticket);
	/* A driver that works at once does so inside the submit, which is answered only now. */
	if (r->submitted && after_ms)
		limit_ms += r->call_ms;
	if (pctl_remote_begin(r, PCTL_IPC_WAIT, call)) {
		pctl_ipc_put_u32(&r->ch.out, o->id);
		pctl_ipc_put_u64(&r->ch.out, ticket);
		pctl_ipc_put_u64(&r->ch.out, timeout_ns);
		s = pctl_remote_ask_after(r, call, after_ms, limit_ms, &cancel, first, &body);
		if (!s && (!pctl_ipc_get_completion(&body, out) || !pctl_ipc_in_done(&body)))
			s = pctl_remote_bad_reply(r, call, "wait");
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

pctl_status pctl_remote_findings(pctl_device *dev, const pctl_call *call, uint32_t capacity,
				 pctl_finding *out, uint32_t *n_out)
{
	remote_object *o = pctl_remote_object_of(dev);
	pctl_remote *r = o->r;
	const uint32_t cap = capacity < PCTL_IPC_FINDINGS_MAX ? capacity : PCTL_IPC_FINDINGS_MAX;
	pctl_status s = PCTL_E_DEVICE_LOST;
	pctl_ipc_in body;
	uint32_t n;

	*n_out = 0;
	pthread_mutex_lock(&r->lock);
	if (!pctl_remote_begin(r, PCTL_IPC_FINDINGS, call))
		goto out;
	pctl_ipc_put_u32(&r->ch.out, o->id);
	pctl_ipc_put_u32(&r->ch.out, cap);
	s = pctl_remote_ask(r, call, r->call_ms, &body);
	if (s)
		goto out;
	n = pctl_ipc_get_u32(&body);
	pctl_ipc_get(&body, out, (size_t)(n < cap ? n : cap) * sizeof(*out));
	if (!pctl_ipc_in_done(&body))
		s = pctl_remote_bad_reply(r, call, "findings");
	else
		*n_out = n;
out:
	pthread_mutex_unlock(&r->lock);
	return s;
}

pctl_status pctl_remote_counts(pctl_device *dev, const pctl_call *call, pctl_counts *out)
{
	remote_object *o = pctl_remote_object_of(dev);
	pctl_remote *r = o->r;
	pctl_status s = PCTL_E_DEVICE_LOST;
	pctl_ipc_in body;

	pthread_mutex_lock(&r->lock);
	if (pctl_remote_begin(r, PCTL_IPC_COUNTS, call)) {
		pctl_ipc_put_u32(&r->ch.out, o->id);
		s = pctl_remote_ask(r, call, r->call_ms, &body);
		if (!s && (!pctl_ipc_get_counts(&body, out) || !pctl_ipc_in_done(&body)))
			s = pctl_remote_bad_reply(r, call, "counts");
	}
	pthread_mutex_unlock(&r->lock);
	return s;
}
