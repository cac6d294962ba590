/* The backend table whose every slot is a request to a worker; see remote.h. */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "ipc/remote_private.h"

static remote_object *object_of(const void *p)
{
	return (remote_object *)(uintptr_t)p;
}

static remote_object *object_create(pctl_remote *r, uint32_t device, const pctl_call *call)
{
	remote_object *o = calloc(1, sizeof(*o));

	if (!o) {
		pctl_refuse(call, PC2_NOMEM, "no memory for an object of a worker");
		return NULL;
	}
	o->r = r;
	o->id = r->n_free ? r->free_ids[--r->n_free] : r->next_id++;
	o->device = device;
	return o;
}

static void object_destroy(remote_object *o)
{
	pctl_remote *r = o->r;

	/* A number that cannot be kept for reuse is merely used up. */
	if (pctl_vec_reserve((void **)&r->free_ids, r->n_free, &r->cap_free, sizeof(uint32_t)))
		r->free_ids[r->n_free++] = o->id;
	free(o);
}

static void put_bindings(pctl_remote *r, const pctl_binding *b, uint32_t n)
{
	uint32_t i;

	pctl_ipc_put_u32(&r->ch.out, n);
	for (i = 0; i < n; i++) {
		pctl_ipc_put_u32(&r->ch.out, b[i].group);
		pctl_ipc_put_u32(&r->ch.out, b[i].binding);
		pctl_ipc_put_u32(&r->ch.out, b[i].buffer ? object_of(b[i].buffer)->id : 0);
		pctl_ipc_put_u64(&r->ch.out, b[i].offset);
		pctl_ipc_put_u64(&r->ch.out, b[i].n_bytes);
	}
}

static pctl_status ask(pctl_remote *r, const pctl_call *call, pctl_ipc_in *body)
{
	return pctl_remote_ask(r, call, r->call_ms, NULL, body);
}

/* For requests whose reply has no body. */
static pctl_status ask_plain(pctl_remote *r, const pctl_call *call, const char *what)
{
	pctl_ipc_in body;
	pctl_status s = ask(r, call, &body);

	if (!s && !pctl_ipc_in_done(&body))
		s = pctl_remote_bad_reply(r, call, what);
	return s;
}

/* ---- devices ----------------------------------------------------------------------------------
 */

static pctl_status do_devices(pctl_instance *inst, const pctl_call *call, uint32_t capacity,
			      pctl_device_info *out, uint32_t *n_out)
{
	pctl_remote *r = (pctl_remote *)(void *)inst;
	const uint32_t cap = capacity < PCTL_IPC_DEVICES_MAX ? capacity : PCTL_IPC_DEVICES_MAX;
	pctl_status s = PCTL_E_DEVICE_LOST;
	pctl_ipc_in body;
	uint32_t n, i;

	*n_out = 0;
	pthread_mutex_lock(&r->lock);
	if (!pctl_remote_begin(r, PCTL_IPC_DEVICES, call))
		goto out;
	pctl_ipc_put_u32(&r->ch.out, cap);
	s = ask(r, call, &body);
	if (s)
		goto out;
	n = pctl_ipc_get_u32(&body);
	for (i = 0; i < n && i < cap; i++)
		if (!pctl_ipc_get_device_info(&body, &out[i]))
			break;
	if (!pctl_ipc_in_done(&body))
		s = pctl_remote_bad_reply(r, call, "devices");
	else
		*n_out = n;
out:
	pthread_mutex_unlock(&r->lock);
	return s;
}

static pctl_status do_device_open(pctl_instance *inst, const pctl_call *call, uint32_t index,
				  pctl_device **out)
{
	pctl_remote *r = (pctl_remote *)(void *)inst;
	pctl_status s = PCTL_E_NOMEM;
	remote_object *o;

	*out = NULL;
	pthread_mutex_lock(&r->lock);
	o = object_create(r, 0, call);
	if (!o)
		goto out;
	o->device = o->id;
	s = PCTL_E_DEVICE_LOST;
	if (pctl_remote_begin(r, PCTL_IPC_DEVICE_OPEN, call)) {
		pctl_ipc_put_u32(&r->ch.out, o->id);
		pctl_ipc_put_u32(&r->ch.out, index);
		s = ask_plain(r, call, "device_open");
	}
	if (s)
		object_destroy(o);
	else
		*out = (pctl_device *)(void *)o;
out:
	pthread_mutex_unlock(&r->lock);
	return s;
}

static void do_device_close(pctl_device *dev)
{
	remote_object *o = object_of(dev);
	pctl_remote *r = o->r;
	pctl_ipc_in body;

	pthread_mutex_lock(&r->lock);
	if (!r->lost && pctl_remote_begin(r, PCTL_IPC_DEVICE_CLOSE, NULL)) {
		/* Work that was given up gets the time of a cancel to end, not that of a call. */
		const int given_up = r->under_way != 0;

		pctl_ipc_put_u32(&r->ch.out, o->id);
		pctl_remote_ask(r, NULL, given_up ? r->grace_ms : r->call_ms, NULL, &body);
		if (given_up)
			r->blameless |= r->lost;
		r->under_way = 0;
	}
	object_destroy(o);
	pthread_mutex_unlock(&r->lock);
}

static pctl_status do_device_identity(pctl_device *dev, const pctl_call *call, uint32_t capacity,
				      pctl_key_value *out, uint32_t *n_out)
{
	remote_object *o = object_of(dev);
	pctl_remote *r = o->r;
	const uint32_t cap = capacity < PCTL_IPC_IDENTITY_MAX ? capacity : PCTL_IPC_IDENTITY_MAX;
	pctl_status s = PCTL_E_DEVICE_LOST;
	pctl_ipc_in body;
	uint32_t n, i;

	*n_out = 0;
	pthread_mutex_lock(&r->lock);
	if (!pctl_remote_begin(r, PCTL_IPC_IDENTITY, call))
		goto out;
	pctl_ipc_put_u32(&r->ch.out, o->id);
	pctl_ipc_put_u32(&r->ch.out, cap);
	s = ask(r, call, &body);
	if (s)
		goto out;
	n = pctl_ipc_get_u32(&body);
	for (i = 0; i < n && i < cap; i++)
		if (!pctl_ipc_get_key_value(&body, &out[i]))
			break;
	if (!pctl_ipc_in_done(&body))
		s = pctl_remote_bad_reply(r, call, "device_identity");
	else
		*n_out = n;
out:
	pthread_mutex_unlock(&r->lock);
	return s;
}

static pctl_status do_device_caps(pctl_device *dev, const pctl_call *call, pctl_device_caps *out)
{
	remote_object *o = object_of(dev);
	pctl_remote *r = o->r;
	pctl_status s = PCTL_E_DEVICE_LOST;
	pctl_ipc_in body;

	pthread_mutex_lock(&r->lock);
	if (pctl_remote_begin(r, PCTL_IPC_CAPS, call)) {
		pctl_ipc_put_u32(&r->ch.out, o->id);
		s = ask(r, call, &body);
		if (!s && (!pctl_ipc_get_caps(&body, out) || !pctl_ipc_in_done(&body)))
			s = pctl_remote_bad_reply(r, call, "device_caps");
	}
	pthread_mutex_unlock(&r->lock);
	return s;
}

static pctl_status do_supports(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
			       uint64_t n, pctl_support *out)
{
	remote_object *o = object_of(dev);
	pctl_remote *r = o->r;
	pctl_status s = PCTL_E_DEVICE_LOST;
	pctl_ipc_in body;

	pthread_mutex_lock(&r->lock);
	if (!pctl_remote_begin(r, PCTL_IPC_SUPPORTS, call))
		goto out;
	pctl_ipc_put_u32(&r->ch.out, o->id);
	pctl_ipc_put_blob(&r->ch.out, wire, n);
	s = ask(r, call, &body);
	if (s)
		goto out;
	if (!pctl_ipc_get_support(&body, out) || !pctl_ipc_in_done(&body))
		s = pctl_remote_bad_reply(r, call, "supports");
	else if (!out->supported && !out->reason[0])
		s = pctl_refuse(call, PC3108_WORKER_CONTRACT,
				"plugin \"%s\" does not support a program and gives no reason",
				r->id);
out:
	pthread_mutex_unlock(&r->lock);
	return s;
}

/* ---- buffers ----------------------------------------------------------------------------------
 */

static pctl_status do_buffer_create(pctl_device *dev, const pctl_call *call, uint64_t n_bytes,
				    uint32_t usage, pctl_buffer **out)
{
	remote_object *d = object_of(dev), *o;
	pctl_remote *r = d->r;
	pctl_status s = PCTL_E_NOMEM;

	*out = NULL;
	pthread_mutex_lock(&r->lock);
	o = object_create(r, d->id, call);
	if (!o)
		goto out;
	s = PCTL_E_DEVICE_LOST;
	if (pctl_remote_begin(r, PCTL_IPC_BUFFER_CREATE, call)) {
		pctl_ipc_put_u32(&r->ch.out, d->id);
		pctl_ipc_put_u32(&r->ch.out, o->id);
		pctl_ipc_put_u64(&r->ch.out, n_bytes);
		pctl_ipc_put_u32(&r->ch.out, usage);
		s = ask_plain(r, call, "buffer_create");
	}
	if (s)
		object_destroy(o);
	else
		*out = (pctl_buffer *)(void *)o;
out:
	pthread_mutex_unlock(&r->lock);
	return s;
}

static void destroy(pctl_device *dev, void *object, uint16_t op)
{
	remote_object *o = object;
	pctl_remote *r = o->r;

	(void)dev;
	pthread_mutex_lock(&r->lock);
	if (!r->lost && pctl_remote_begin(r, op, NULL)) {
		pctl_ipc_put_u32(&r->ch.out, o->device);
		pctl_ipc_put_u32(&r->ch.out, o->id);
		pctl_remote_post(r, NULL);
	}
	object_destroy(o);
	pthread_mutex_unlock(&r->lock);
}

static void do_buffer_destroy(pctl_device *dev, pctl_buffer *buf)
{
	destroy(dev, buf, PCTL_IPC_BUFFER_DESTROY);
}

static int begin_transfer(remote_object *o, const pctl_call *call, uint16_t op, uint64_t offset)
{
	pctl_remote *r = o->r;

	if (!pctl_remote_begin(r, op, call))
		return 0;
	pctl_ipc_put_u32(&r->ch.out, o->device);
	pctl_ipc_put_u32(&r->ch.out, o->id);
	pctl_ipc_put_u64(&r->ch.out, offset);
	return 1;
}

static pctl_status do_buffer_write(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				   uint64_t offset, const void *data, uint64_t n_bytes)
{
	remote_object *o = object_of(buf);
	const uint8_t *from = data;
	pctl_remote *r = o->r;
	pctl_status s = PCTL_OK;

	(void)dev;
	pthread_mutex_lock(&r->lock);
	if (n_bytes <= PCTL_IPC_INLINE_MAX) {
		s = PCTL_E_DEVICE_LOST;
		if (begin_transfer(o, call, PCTL_IPC_WRITE, offset)) {
			pctl_ipc_put_blob(&r->ch.out, from, n_bytes);
			s = ask_plain(r, call, "buffer_write");
		}
		n_bytes = 0;
	}
	while (!s && n_bytes) {
		const uint64_t n = n_bytes < r->window.n_bytes ? n_bytes : r->window.n_bytes;

		s = PCTL_E_DEVICE_LOST;
		if (!begin_transfer(o, call, PCTL_IPC_WRITE_WINDOW, offset))
			break;
		memcpy(r->window.data, from, n);
		pctl_ipc_put_u64(&r->ch.out, n);
		s = ask_plain(r, call, "buffer_write");
		from += n;
		offset += n;
		n_bytes -= n;
	}
	pthread_mutex_unlock(&r->lock);
	return s;
}

static pctl_status do_buffer_read(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				  uint64_t offset, void *data, uint64_t n_bytes)
{
	remote_object *o = object_of(buf);
	uint8_t *to = data;
	pctl_remote *r = o->r;
	pctl_status s = PCTL_OK;

	(void)dev;
	pthread_mutex_lock(&r->lock);
	if (n_bytes <= PCTL_IPC_INLINE_MAX) {
		pctl_ipc_in body;

		s = PCTL_E_DEVICE_LOST;
		if (begin_transfer(o, call, PCTL_IPC_READ, offset)) {
			pctl_ipc_put_u64(&r->ch.out, n_bytes);
			s = ask(r, call, &body);
			if (!s) {
				pctl_ipc_get(&body, to, n_bytes);
				if (!pctl_ipc_in_done(&body))
					s = pctl_remote_bad_reply(r, call, "buffer_read");
			}
		}
		n_bytes = 0;
	}
	while (!s && n_bytes) {
		const uint64_t n = n_bytes < r->window.n_bytes ? n_bytes : r->window.n_bytes;

		s = PCTL_E_DEVICE_LOST;
		if (!begin_transfer(o, call, PCTL_IPC_READ_WINDOW, offset))
			break;
		pctl_ipc_put_u64(&r->ch.out, n);
		s = ask_plain(r, call, "buffer_read");
		/* The copy is what is hashed: the worker can still write the window, never this. */
		if (!s)
			memcpy(to, r->window.data, n);
		to += n;
		offset += n;
		n_bytes -= n;
	}
	pthread_mutex_unlock(&r->lock);
	return s;
}

/* ---- kernels ----------------------------------------------------------------------------------
 */

static pctl_status do_kernel_build(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				   uint64_t n, uint32_t flags, const void *cache,
				   uint64_t cache_bytes, pctl_kernel **out)
{
	remote_object *d = object_of(dev), *o;
	pctl_remote *r = d->r;
	pctl_status s = PCTL_E_NOMEM;

	*out = NULL;
	if (cache_bytes > PCTL_IPC_CACHE_MAX)
		cache_bytes = 0; /* a cache is never needed */
	pthread_mutex_lock(&r->lock);
	o = object_create(r, d->id, call);
	if (!o)
		goto out;
	s = PCTL_E_DEVICE_LOST;
	if (pctl_remote_begin(r, PCTL_IPC_KERNEL_BUILD, call)) {
		pctl_ipc_put_u32(&r->ch.out, d->id);
		pctl_ipc_put_u32(&r->ch.out, o->id);
		pctl_ipc_put_u32(&r->ch.out, flags);
		pctl_ipc_put_blob(&r->ch.out, wire, n);
		pctl_ipc_put_blob(&r->ch.out, cache, cache_bytes);
		s = ask_plain(r, call, "kernel_build");
	}
	if (s)
		object_destroy(o);
	else
		*out = (pctl_kernel *)(void *)o;
out:
	pthread_mutex_unlock(&r->lock);
	return s;
}

static pctl_status do_kernel_cache(pctl_device *dev, const pctl_call *call, pctl_kernel *k,
				   uint64_t capacity, void *out, uint64_t *n_out)
{
	remote_object *o = object_of(k);
	pctl_remote *r = o->r;
	const uint64_t cap = capacity < PCTL_IPC_CACHE_MAX ? capacity : PCTL_IPC_CACHE_MAX;
	pctl_status s = PCTL_E_DEVICE_LOST;
	const uint8_t *blob;
	pctl_ipc_in body;
	size_t n_blob;
	uint64_t n;

	(void)dev;
	*n_out = 0;
	pthread_mutex_lock(&r->lock);
	if (!pctl_remote_begin(r, PCTL_IPC_KERNEL_CACHE, call))
		goto out;
	pctl_ipc_put_u32(&r->ch.out, o->device);
	pctl_ipc_put_u32(&r->ch.out, o->id);
	pctl_ipc_put_u64(&r->ch.out, cap);
	s = ask(r, call, &body);
	if (s)
		goto out;
	n = pctl_ipc_get_u64(&body);
	blob = pctl_ipc_get_blob(&body, &n_blob);
	if (!pctl_ipc_in_done(&body) || n_blob != (n < cap ? n : cap)) {
		s = pctl_remote_bad_reply(r, call, "kernel_cache");
		goto out;
	}
	if (n_blob)
		memcpy(out, blob, n_blob);
	*n_out = n;
out:
	pthread_mutex_unlock(&r->lock);
	return s;
}

static void do_kernel_destroy(pctl_device *dev, pctl_kernel *k)
{
	destroy(dev, k, PCTL_IPC_KERNEL_DESTROY);
}

/* ---- lists ------------------------------------------------------------------------------------
 */

static pctl_status do_list_begin(pctl_device *dev, const pctl_call *call, pctl_list **out)
{
	remote_object *d = object_of(dev), *o;
	pctl_remote *r = d->r;
	pctl_status s = PCTL_E_NOMEM;

	*out = NULL;
	pthread_mutex_lock(&r->lock);
	o = object_create(r, d->id, call);
	if (!o)
		goto out;
	s = PCTL_E_DEVICE_LOST;
	if (pctl_remote_begin(r, PCTL_IPC_LIST_BEGIN, call)) {
		pctl_ipc_put_u32(&r->ch.out, o->id);
		pctl_ipc_put_u32(&r->ch.out, d->id);
		s = pctl_remote_post(r, call);
	}
	if (s)
		object_destroy(o);
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

static void put_dispatch(pctl_remote *r, const pctl_kernel *k, const uint32_t counts[3])
{
	uint32_t i;

	pctl_ipc_put_u32(&r->ch.out, object_of(k)->id);
	for (i = 0; i < 3; i++)
		pctl_ipc_put_u32(&r->ch.out, counts[i]);
}

static pctl_status too_many(const pctl_call *call, uint32_t n)
{
	return pctl_refuse(call, PC3109_WORKER_LIMIT, "a dispatch with %u bindings; %u can be sent",
			   n, PCTL_IPC_BINDINGS_MAX);
}

static pctl_status do_list_dispatch(pctl_list *l, const pctl_call *call, pctl_kernel *k,
				    const pctl_binding *bindings, uint32_t n_bindings,
				    const uint32_t groups[3])
{
	const remote_object *o = object_of(l);

	if (n_bindings > PCTL_IPC_BINDINGS_MAX)
		return too_many(call, n_bindings);
	if (!begin_command(o, call, PCTL_IPC_LIST_DISPATCH))
		return PCTL_E_DEVICE_LOST;
	put_dispatch(o->r, k, groups);
	put_bindings(o->r, bindings, n_bindings);
	return end_command(o->r, call);
}

static pctl_status do_list_dispatch_indirect(pctl_list *l, const pctl_call *call, pctl_kernel *k,
					     const pctl_binding *bindings, uint32_t n_bindings,
					     pctl_buffer *buf, uint64_t offset,
					     const uint32_t limit[3])
{
	const remote_object *o = object_of(l);

	if (n_bindings > PCTL_IPC_BINDINGS_MAX)
		return too_many(call, n_bindings);
	if (!begin_command(o, call, PCTL_IPC_LIST_INDIRECT))
		return PCTL_E_DEVICE_LOST;
	put_dispatch(o->r, k, limit);
	pctl_ipc_put_u32(&o->r->ch.out, object_of(buf)->id);
	pctl_ipc_put_u64(&o->r->ch.out, offset);
	put_bindings(o->r, bindings, n_bindings);
	return end_command(o->r, call);
}

static pctl_status do_list_copy(pctl_list *l, const pctl_call *call, pctl_buffer *from,
				uint64_t from_offset, pctl_buffer *to, uint64_t to_offset,
				uint64_t n_bytes)
{
	const remote_object *o = object_of(l);
	pctl_ipc_out *out = &o->r->ch.out;

	if (!begin_command(o, call, PCTL_IPC_LIST_COPY))
		return PCTL_E_DEVICE_LOST;
	pctl_ipc_put_u32(out, object_of(from)->id);
	pctl_ipc_put_u64(out, from_offset);
	pctl_ipc_put_u32(out, object_of(to)->id);
	pctl_ipc_put_u64(out, to_offset);
	pctl_ipc_put_u64(out, n_bytes);
	return end_command(o->r, call);
}

static pctl_status do_list_fill(pctl_list *l, const pctl_call *call, pctl_buffer *buf,
				uint64_t offset, uint64_t n_bytes, uint32_t word)
{
	const remote_object *o = object_of(l);
	pctl_ipc_out *out = &o->r->ch.out;

	if (!begin_command(o, call, PCTL_IPC_LIST_FILL))
		return PCTL_E_DEVICE_LOST;
	pctl_ipc_put_u32(out, object_of(buf)->id);
	pctl_ipc_put_u64(out, offset);
	pctl_ipc_put_u64(out, n_bytes);
	pctl_ipc_put_u32(out, word);
	return end_command(o->r, call);
}

static pctl_status do_list_barrier(pctl_list *l, const pctl_call *call)
{
	const remote_object *o = object_of(l);

	if (!begin_command(o, call, PCTL_IPC_LIST_BARRIER))
		return PCTL_E_DEVICE_LOST;
	return end_command(o->r, call);
}

static pctl_status do_list_timestamp(pctl_list *l, const pctl_call *call, uint32_t slot)
{
	const remote_object *o = object_of(l);

	if (!begin_command(o, call, PCTL_IPC_LIST_TIMESTAMP))
		return PCTL_E_DEVICE_LOST;
	pctl_ipc_put_u32(&o->r->ch.out, slot);
	return end_command(o->r, call);
}

static pctl_status do_list_end(pctl_list *l, const pctl_call *call)
{
	const remote_object *o = object_of(l);
	pctl_status s;

	if (!begin_command(o, call, PCTL_IPC_LIST_END))
		return PCTL_E_DEVICE_LOST;
	s = ask_plain(o->r, call, "list_end");
	pthread_mutex_unlock(&o->r->lock);
	return s;
}

static void do_list_destroy(pctl_device *dev, pctl_list *l)
{
	destroy(dev, l, PCTL_IPC_LIST_DESTROY);
}

/* ---- running ----------------------------------------------------------------------------------
 */

static pctl_status do_submit(pctl_device *dev, const pctl_call *call, pctl_list *l, uint32_t times,
			     uint64_t *ticket)
{
	remote_object *o = object_of(dev);
	pctl_remote *r = o->r;
	pctl_status s = PCTL_E_DEVICE_LOST;

	*ticket = atomic_fetch_add(&r->next_ticket, 1);
	pthread_mutex_lock(&r->lock);
	if (pctl_remote_begin(r, PCTL_IPC_SUBMIT, call)) {
		pctl_ipc_put_u32(&r->ch.out, o->id);
		pctl_ipc_put_u32(&r->ch.out, object_of(l)->id);
		pctl_ipc_put_u32(&r->ch.out, times);
		pctl_ipc_put_u64(&r->ch.out, *ticket);
		s = pctl_remote_post(r, call);
		if (!s)
			s = pctl_remote_flush(r, call);
		if (!s)
			r->under_way++;
	}
	pthread_mutex_unlock(&r->lock);
	return s;
}

static pctl_status do_wait(pctl_device *dev, const pctl_call *call, uint64_t ticket,
			   uint64_t timeout_ns, pctl_completion *out)
{
	remote_object *o = object_of(dev);
	pctl_remote *r = o->r;
	const pctl_ipc_control cancel = {PCTL_IPC_CANCEL_TICKET, o->id, ticket};
	uint64_t limit_ms = timeout_ns / 1000000u;
	pctl_status s = PCTL_E_DEVICE_LOST;
	pctl_ipc_in body;

	/* Beyond a year there is no deadline, only cancellation. */
	limit_ms = limit_ms > 31536000000u ? NO_DEADLINE : limit_ms + 1 + r->grace_ms;
	pthread_mutex_lock(&r->lock);
	if (pctl_remote_begin(r, PCTL_IPC_WAIT, call)) {
		pctl_ipc_put_u32(&r->ch.out, o->id);
		pctl_ipc_put_u64(&r->ch.out, ticket);
		pctl_ipc_put_u64(&r->ch.out, timeout_ns);
		s = pctl_remote_ask(r, call, limit_ms, &cancel, &body);
		if (!s && (!pctl_ipc_get_completion(&body, out) || !pctl_ipc_in_done(&body)))
			s = pctl_remote_bad_reply(r, call, "wait");
		if ((s || out->done) && r->under_way)
			r->under_way--;
	}
	pthread_mutex_unlock(&r->lock);
	return s;
}

static void do_cancel(pctl_device *dev, uint64_t ticket)
{
	remote_object *o = object_of(dev);
	const pctl_ipc_control m = {PCTL_IPC_CANCEL_TICKET, o->id, ticket};

	pctl_remote_send_control(o->r, &m);
}

static pctl_status do_findings(pctl_device *dev, const pctl_call *call, uint32_t capacity,
			       pctl_finding *out, uint32_t *n_out)
{
	remote_object *o = object_of(dev);
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
	s = ask(r, call, &body);
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

static pctl_status do_counts(pctl_device *dev, const pctl_call *call, pctl_counts *out)
{
	remote_object *o = object_of(dev);
	pctl_remote *r = o->r;
	pctl_status s = PCTL_E_DEVICE_LOST;
	pctl_ipc_in body;

	pthread_mutex_lock(&r->lock);
	if (pctl_remote_begin(r, PCTL_IPC_COUNTS, call)) {
		pctl_ipc_put_u32(&r->ch.out, o->id);
		s = ask(r, call, &body);
		if (!s && (!pctl_ipc_get_counts(&body, out) || !pctl_ipc_in_done(&body)))
			s = pctl_remote_bad_reply(r, call, "counts");
	}
	pthread_mutex_unlock(&r->lock);
	return s;
}

void pctl_remote_fill_table(pctl_backend *t, uint32_t optional)
{
	const pctl_backend all = {
		.head = PCTL_HEAD(pctl_backend),
		.devices = do_devices,
		.device_open = do_device_open,
		.device_close = do_device_close,
		.device_identity = do_device_identity,
		.device_caps = do_device_caps,
		.supports = do_supports,
		.buffer_create = do_buffer_create,
		.buffer_destroy = do_buffer_destroy,
		.buffer_write = do_buffer_write,
		.buffer_read = do_buffer_read,
		.kernel_build = do_kernel_build,
		.kernel_cache = optional & PCTL_IPC_HAS_CACHE ? do_kernel_cache : NULL,
		.kernel_destroy = do_kernel_destroy,
		.list_begin = do_list_begin,
		.list_dispatch = do_list_dispatch,
		.list_dispatch_indirect = do_list_dispatch_indirect,
		.list_copy = do_list_copy,
		.list_fill = do_list_fill,
		.list_barrier = do_list_barrier,
		.list_timestamp = do_list_timestamp,
		.list_end = do_list_end,
		.list_destroy = do_list_destroy,
		.submit = do_submit,
		.wait = do_wait,
		.cancel = do_cancel,
		.findings = optional & PCTL_IPC_HAS_FINDINGS ? do_findings : NULL,
		.counts = optional & PCTL_IPC_HAS_COUNTS ? do_counts : NULL,
	};

	*t = all;
}
