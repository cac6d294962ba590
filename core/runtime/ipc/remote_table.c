/* The backend table whose every slot is a request to a worker; see remote.h. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/vec.h"
#include "runtime/ipc/remote_private.h"

remote_object *pctl_remote_object_of(const void *p)
{
	return (remote_object *)(uintptr_t)p;
}

remote_object *pctl_remote_object_create(pctl_remote *r, uint32_t device, const pctl_call *call)
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

void pctl_remote_object_destroy(remote_object *o)
{
	pctl_remote *r = o->r;

	r->asked_bytes -= o->n_bytes;
	/* A number that cannot be kept for reuse is merely used up. */
	if (pctl_vec_reserve((void **)&r->free_ids, r->n_free, &r->cap_free, sizeof(uint32_t)))
		r->free_ids[r->n_free++] = o->id;
	free(o->fresh);
	free(o);
}

static pctl_status ask(pctl_remote *r, const pctl_call *call, pctl_ipc_in *body)
{
	return pctl_remote_ask(r, call, r->call_ms, body);
}

/* For requests whose reply has no body. */
pctl_status pctl_remote_ask_plain(pctl_remote *r, const pctl_call *call, const char *what)
{
	pctl_ipc_in body;
	pctl_status s = ask(r, call, &body);

	if (!s && !pctl_ipc_in_done(&body))
		s = pctl_remote_bad_reply(r, call, what);
	return s;
}

/* ---- devices ------------------------------------------------------------------------------ */

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
	o = pctl_remote_object_create(r, 0, call);
	if (!o)
		goto out;
	o->device = o->id;
	s = PCTL_E_DEVICE_LOST;
	if (pctl_remote_begin(r, PCTL_IPC_DEVICE_OPEN, call)) {
		pctl_ipc_put_u32(&r->ch.out, o->id);
		pctl_ipc_put_u32(&r->ch.out, index);
		s = pctl_remote_ask_plain(r, call, "device_open");
	}
	if (s)
		pctl_remote_object_destroy(o);
	else
		*out = (pctl_device *)(void *)o;
out:
	pthread_mutex_unlock(&r->lock);
	return s;
}

static void do_device_close(pctl_device *dev)
{
	remote_object *o = pctl_remote_object_of(dev);
	pctl_remote *r = o->r;
	pctl_ipc_in body;

	pthread_mutex_lock(&r->lock);
	if (!r->lost && pctl_remote_begin(r, PCTL_IPC_DEVICE_CLOSE, NULL)) {
		/* Work that was given up gets the time of a cancel to end, not that of a call. */
		const int given_up = r->under_way != 0;

		pctl_ipc_put_u32(&r->ch.out, o->id);
		pctl_remote_ask(r, NULL, given_up ? r->grace_ms : r->call_ms, &body);
		if (given_up)
			r->blameless |= r->lost;
		r->under_way = 0;
	}
	pctl_remote_object_destroy(o);
	pthread_mutex_unlock(&r->lock);
}

static pctl_status do_device_identity(pctl_device *dev, const pctl_call *call, uint32_t capacity,
				      pctl_key_value *out, uint32_t *n_out)
{
	remote_object *o = pctl_remote_object_of(dev);
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
	remote_object *o = pctl_remote_object_of(dev);
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
	remote_object *o = pctl_remote_object_of(dev);
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

/* ---- buffers ------------------------------------------------------------------------------ */

static pctl_status do_buffer_create(pctl_device *dev, const pctl_call *call, uint64_t n_bytes,
				    uint32_t usage, pctl_buffer **out)
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
	/* From now on: whoever runs out of memory over it does so for the host. */
	o->n_bytes = n_bytes;
	r->asked_bytes += n_bytes;
	if (pctl_remote_begin(r, PCTL_IPC_BUFFER_CREATE, call)) {
		pctl_ipc_put_u32(&r->ch.out, d->id);
		pctl_ipc_put_u32(&r->ch.out, o->id);
		pctl_ipc_put_u64(&r->ch.out, n_bytes);
		pctl_ipc_put_u32(&r->ch.out, usage);
		s = pctl_remote_ask_plain(r, call, "buffer_create");
	}
	if (s)
		pctl_remote_object_destroy(o);
	else
		*out = (pctl_buffer *)(void *)o;
out:
	pthread_mutex_unlock(&r->lock);
	return s;
}

void pctl_remote_destroy(pctl_device *dev, void *object, uint16_t op)
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
	pctl_remote_object_destroy(o);
	pthread_mutex_unlock(&r->lock);
}

static void do_buffer_destroy(pctl_device *dev, pctl_buffer *buf)
{
	pctl_remote_destroy(dev, buf, PCTL_IPC_BUFFER_DESTROY);
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
	remote_object *o = pctl_remote_object_of(buf);
	const uint8_t *from = data;
	pctl_remote *r = o->r;
	pctl_status s = PCTL_OK;

	(void)dev;
	pthread_mutex_lock(&r->lock);
	if (n_bytes <= PCTL_IPC_INLINE_MAX) {
		s = PCTL_E_DEVICE_LOST;
		if (begin_transfer(o, call, PCTL_IPC_WRITE, offset)) {
			pctl_ipc_put_blob(&r->ch.out, from, n_bytes);
			s = pctl_remote_ask_plain(r, call, "buffer_write");
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
		s = pctl_remote_ask_plain(r, call, "buffer_write");
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
	remote_object *o = pctl_remote_object_of(buf);
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
		/* A read that writes nothing must not find an earlier transfer's bytes. */
		memset(r->window.data, PCTL_IPC_UNREAD, n);
		s = pctl_remote_ask_plain(r, call, "buffer_read");
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

/* ---- kernels ------------------------------------------------------------------------------ */

static pctl_status do_kernel_build(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				   uint64_t n, uint32_t flags, const void *cache,
				   uint64_t cache_bytes, pctl_kernel **out)
{
	remote_object *d = pctl_remote_object_of(dev), *o;
	pctl_remote *r = d->r;
	pctl_status s = PCTL_E_NOMEM;
	pctl_ipc_in body;

	*out = NULL;
	if (cache_bytes > PCTL_IPC_CACHE_MAX)
		cache_bytes = 0; /* a cache is never needed */
	pthread_mutex_lock(&r->lock);
	o = pctl_remote_object_create(r, d->id, call);
	if (!o)
		goto out;
	o->serial = ++r->last_serial;
	s = PCTL_E_DEVICE_LOST;
	if (pctl_remote_begin(r, PCTL_IPC_KERNEL_BUILD, call)) {
		pctl_ipc_put_u32(&r->ch.out, d->id);
		pctl_ipc_put_u32(&r->ch.out, o->id);
		pctl_ipc_put_u32(&r->ch.out, flags);
		pctl_ipc_put_blob(&r->ch.out, wire, n);
		pctl_ipc_put_blob(&r->ch.out, cache, cache_bytes);
		s = pctl_remote_ask_build(r, call, &body);
		if (!s && !pctl_ipc_in_done(&body))
			s = pctl_remote_bad_reply(r, call, "kernel_build");
	}
	if (s)
		pctl_remote_object_destroy(o);
	else
		*out = (pctl_kernel *)(void *)o;
out:
	pthread_mutex_unlock(&r->lock);
	return s;
}

static pctl_status do_kernel_cache(pctl_device *dev, const pctl_call *call, pctl_kernel *k,
				   uint64_t capacity, void *out, uint64_t *n_out)
{
	remote_object *o = pctl_remote_object_of(k);
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
	/* PoCL compiles for this, and again. */
	s = pctl_remote_ask_build(r, call, &body);
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
	pctl_remote_destroy(dev, k, PCTL_IPC_KERNEL_DESTROY);
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
		.list_begin = pctl_remote_list_begin,
		.list_dispatch = pctl_remote_list_dispatch,
		.list_dispatch_indirect = pctl_remote_list_dispatch_indirect,
		.list_copy = pctl_remote_list_copy,
		.list_fill = pctl_remote_list_fill,
		.list_barrier = pctl_remote_list_barrier,
		.list_timestamp = pctl_remote_list_timestamp,
		.list_end = pctl_remote_list_end,
		.list_destroy = pctl_remote_list_destroy,
		.submit = pctl_remote_submit,
		.wait = pctl_remote_wait,
		.cancel = pctl_remote_cancel,
		.findings = optional & PCTL_IPC_HAS_FINDINGS ? pctl_remote_findings : NULL,
		.counts = optional & PCTL_IPC_HAS_COUNTS ? pctl_remote_counts : NULL,
	};

	*t = all;
}
