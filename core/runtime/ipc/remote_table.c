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

/* ---- devices ------------------------------------------------------------------------------ */

/* A reply that has as many records as there are and there is room for. */
static pctl_status take_records(pctl_remote *r, uint16_t op, const pctl_call *call, uint32_t n,
				uint32_t n_records, uint32_t capacity, const void *records,
				size_t size, void *out, uint32_t *n_out)
{
	if (n_records != (n < capacity ? n : capacity))
		return pctl_remote_bad_reply(r, call, pctl_ipc_message_of(op)->name);
	if (n_records)
		memcpy(out, records, n_records * size);
	*n_out = n;
	return PCTL_OK;
}

static pctl_status do_devices(pctl_instance *inst, const pctl_call *call, uint32_t capacity,
			      pctl_device_info *out, uint32_t *n_out)
{
	pctl_remote *r = (pctl_remote *)(void *)inst;
	const pctl_ipc_devices ask = {capacity < PCTL_IPC_DEVICES_MAX ? capacity
								      : PCTL_IPC_DEVICES_MAX};
	pctl_ipc_device_list reply;
	pctl_status s;

	*n_out = 0;
	pthread_mutex_lock(&r->lock);
	s = pctl_remote_request(r, PCTL_IPC_DEVICES, &ask, call, &reply);
	if (!s)
		s = take_records(r, PCTL_IPC_DEVICES, call, reply.n, reply.n_devices, ask.capacity,
				 reply.devices, sizeof(*out), out, n_out);
	pthread_mutex_unlock(&r->lock);
	return s;
}

static pctl_status do_device_open(pctl_instance *inst, const pctl_call *call, uint32_t index,
				  pctl_device **out)
{
	pctl_remote *r = (pctl_remote *)(void *)inst;
	pctl_ipc_device_open ask = {.index = index};
	pctl_status s = PCTL_E_NOMEM;
	remote_object *o;

	*out = NULL;
	pthread_mutex_lock(&r->lock);
	o = pctl_remote_object_create(r, 0, call);
	if (!o)
		goto out;
	ask.device = o->device = o->id;
	s = pctl_remote_request(r, PCTL_IPC_DEVICE_OPEN, &ask, call, NULL);
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
	const pctl_ipc_of_device ask = {o};
	pctl_remote *r = o->r;

	pthread_mutex_lock(&r->lock);
	if (!r->lost && pctl_remote_begin(r, PCTL_IPC_DEVICE_CLOSE, &ask, NULL)) {
		/* Work that was given up gets the time of a cancel to end, not that of a call. */
		const int given_up = r->under_way != 0;

		pctl_remote_ask(r, NULL, given_up ? r->grace_ms : r->call_ms, NULL);
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
	const pctl_ipc_identity ask = {
		dev, capacity < PCTL_IPC_IDENTITY_MAX ? capacity : PCTL_IPC_IDENTITY_MAX};
	pctl_remote *r = pctl_remote_object_of(dev)->r;
	pctl_ipc_fact_list reply;
	pctl_status s;

	*n_out = 0;
	pthread_mutex_lock(&r->lock);
	s = pctl_remote_request(r, PCTL_IPC_IDENTITY, &ask, call, &reply);
	if (!s)
		s = take_records(r, PCTL_IPC_IDENTITY, call, reply.n, reply.n_facts, ask.capacity,
				 reply.facts, sizeof(*out), out, n_out);
	pthread_mutex_unlock(&r->lock);
	return s;
}

static pctl_status do_device_caps(pctl_device *dev, const pctl_call *call, pctl_device_caps *out)
{
	const pctl_ipc_of_device ask = {dev};

	return pctl_remote_call(pctl_remote_object_of(dev)->r, PCTL_IPC_CAPS, &ask, call, out);
}

static pctl_status do_supports(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
			       uint64_t n, pctl_support *out)
{
	const pctl_ipc_program ask = {dev, {wire, n}};
	pctl_remote *r = pctl_remote_object_of(dev)->r;
	const pctl_status s = pctl_remote_call(r, PCTL_IPC_SUPPORTS, &ask, call, out);

	if (!s && !out->supported && !out->reason[0])
		return pctl_refuse(call, PC3108_WORKER_CONTRACT,
				   "plugin \"%s\" does not support a program and gives no reason",
				   r->id);
	return s;
}

static pctl_status do_findings(pctl_device *dev, const pctl_call *call, uint32_t capacity,
			       pctl_finding *out, uint32_t *n_out)
{
	const pctl_ipc_findings ask = {
		dev, capacity < PCTL_IPC_FINDINGS_MAX ? capacity : PCTL_IPC_FINDINGS_MAX};
	pctl_remote *r = pctl_remote_object_of(dev)->r;
	pctl_ipc_finding_list reply;
	pctl_status s;

	*n_out = 0;
	pthread_mutex_lock(&r->lock);
	s = pctl_remote_request(r, PCTL_IPC_FINDINGS, &ask, call, &reply);
	if (!s)
		s = take_records(r, PCTL_IPC_FINDINGS, call, reply.n, reply.n_findings,
				 ask.capacity, reply.findings, sizeof(*out), out, n_out);
	pthread_mutex_unlock(&r->lock);
	return s;
}

static pctl_status do_counts(pctl_device *dev, const pctl_call *call, pctl_counts *out)
{
	const pctl_ipc_of_device ask = {dev};

	return pctl_remote_call(pctl_remote_object_of(dev)->r, PCTL_IPC_COUNTS, &ask, call, out);
}

/* ---- buffers ------------------------------------------------------------------------------ */

static pctl_status do_buffer_create(pctl_device *dev, const pctl_call *call, uint64_t n_bytes,
				    uint32_t usage, pctl_buffer **out)
{
	remote_object *d = pctl_remote_object_of(dev), *o;
	pctl_ipc_buffer_create ask = {dev, 0, n_bytes, usage};
	pctl_remote *r = d->r;
	pctl_status s = PCTL_E_NOMEM;

	*out = NULL;
	pthread_mutex_lock(&r->lock);
	o = pctl_remote_object_create(r, d->id, call);
	if (!o)
		goto out;
	/* From now on: whoever runs out of memory over it does so for the host. */
	o->n_bytes = n_bytes;
	r->asked_bytes += n_bytes;
	ask.buffer = o->id;
	s = pctl_remote_request(r, PCTL_IPC_BUFFER_CREATE, &ask, call, NULL);
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
	/* The shapes of all three are one: a device and an object of it. */
	const pctl_ipc_of_buffer ask = {dev, object};
	remote_object *o = object;
	pctl_remote *r = o->r;

	pthread_mutex_lock(&r->lock);
	if (!r->lost && pctl_remote_begin(r, op, &ask, NULL))
		pctl_remote_post(r, NULL);
	pctl_remote_object_destroy(o);
	pthread_mutex_unlock(&r->lock);
}

static void do_buffer_destroy(pctl_device *dev, pctl_buffer *buf)
{
	pctl_remote_destroy(dev, buf, PCTL_IPC_BUFFER_DESTROY);
}

/* Few bytes go with the next request: small jobs cost what they wait for. */
static pctl_status write_inline(pctl_remote *r, pctl_device *dev, pctl_buffer *buf, uint64_t offset,
				const void *data, uint64_t n, const pctl_call *call)
{
	const pctl_ipc_buffer_write ask = {dev, buf, offset, {data, n}};
	pctl_status s = PCTL_E_DEVICE_LOST;

	pthread_mutex_lock(&r->lock);
	if (pctl_remote_begin(r, PCTL_IPC_WRITE, &ask, call))
		s = pctl_remote_post(r, call);
	pthread_mutex_unlock(&r->lock);
	return s;
}

static pctl_status do_buffer_write(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				   uint64_t offset, const void *data, uint64_t n_bytes)
{
	pctl_remote *r = pctl_remote_object_of(buf)->r;
	const uint8_t *from = data;
	pctl_status s = PCTL_OK;

	if (n_bytes <= PCTL_IPC_INLINE_MAX)
		return write_inline(r, dev, buf, offset, data, n_bytes, call);
	pthread_mutex_lock(&r->lock);
	while (!s && n_bytes) {
		const uint64_t n = n_bytes < r->window.n_bytes ? n_bytes : r->window.n_bytes;
		const pctl_ipc_window_range ask = {dev, buf, offset, n};

		memcpy(r->window.data, from, n);
		s = pctl_remote_request(r, PCTL_IPC_WRITE_WINDOW, &ask, call, NULL);
		from += n;
		offset += n;
		n_bytes -= n;
	}
	pthread_mutex_unlock(&r->lock);
	return s;
}

static pctl_status read_inline(pctl_remote *r, const pctl_ipc_buffer_read *ask,
			       const pctl_call *call, void *data)
{
	pctl_ipc_read_bytes reply;
	pctl_status s = pctl_remote_request(r, PCTL_IPC_READ, ask, call, &reply);

	if (!s && reply.bytes.n != ask->n_bytes)
		s = pctl_remote_bad_reply(r, call, "buffer_read");
	if (!s && ask->n_bytes)
		memcpy(data, reply.bytes.data, ask->n_bytes);
	return s;
}

static pctl_status do_buffer_read(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				  uint64_t offset, void *data, uint64_t n_bytes)
{
	pctl_remote *r = pctl_remote_object_of(buf)->r;
	uint8_t *to = data;
	pctl_status s = PCTL_OK;

	pthread_mutex_lock(&r->lock);
	if (n_bytes <= PCTL_IPC_INLINE_MAX) {
		const pctl_ipc_buffer_read ask = {dev, buf, offset, n_bytes};

		s = read_inline(r, &ask, call, data);
		n_bytes = 0;
	}
	while (!s && n_bytes) {
		const uint64_t n = n_bytes < r->window.n_bytes ? n_bytes : r->window.n_bytes;
		const pctl_ipc_window_range ask = {dev, buf, offset, n};

		/* A read that writes nothing must not find an earlier transfer's bytes. */
		memset(r->window.data, PCTL_IPC_UNREAD, n);
		s = pctl_remote_request(r, PCTL_IPC_READ_WINDOW, &ask, call, NULL);
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
	pctl_ipc_kernel_build ask = {dev, 0, flags, {wire, n}, {cache, cache_bytes}};
	pctl_remote *r = d->r;
	pctl_status s = PCTL_E_NOMEM;

	*out = NULL;
	if (cache_bytes > PCTL_IPC_CACHE_MAX)
		ask.cache.n = 0; /* a cache is never needed */
	pthread_mutex_lock(&r->lock);
	o = pctl_remote_object_create(r, d->id, call);
	if (!o)
		goto out;
	o->serial = ++r->last_serial;
	ask.kernel = o->id;
	s = pctl_remote_request(r, PCTL_IPC_KERNEL_BUILD, &ask, call, NULL);
	if (s)
		pctl_remote_object_destroy(o);
	else
		*out = (pctl_kernel *)(void *)o;
out:
	pthread_mutex_unlock(&r->lock);
	return s;
}

/* PoCL compiles for this, and again. */
static pctl_status do_kernel_cache(pctl_device *dev, const pctl_call *call, pctl_kernel *k,
				   uint64_t capacity, void *out, uint64_t *n_out)
{
	const pctl_ipc_kernel_cache ask = {
		dev, k, capacity < PCTL_IPC_CACHE_MAX ? capacity : PCTL_IPC_CACHE_MAX};
	pctl_remote *r = pctl_remote_object_of(k)->r;
	pctl_ipc_cache_blob reply;
	pctl_status s;

	*n_out = 0;
	pthread_mutex_lock(&r->lock);
	s = pctl_remote_request(r, PCTL_IPC_KERNEL_CACHE, &ask, call, &reply);
	if (!s && reply.bytes.n != (reply.n < ask.capacity ? reply.n : ask.capacity))
		s = pctl_remote_bad_reply(r, call, "kernel_cache");
	if (!s && reply.bytes.n)
		memcpy(out, reply.bytes.data, reply.bytes.n);
	if (!s)
		*n_out = reply.n;
	pthread_mutex_unlock(&r->lock);
	return s;
}

static pctl_status do_kernel_source(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				    uint64_t n, uint64_t capacity, char *out, uint64_t *n_out,
				    char *language)
{
	const pctl_ipc_kernel_source ask = {
		dev, capacity < PCTL_IPC_SOURCE_MAX ? capacity : PCTL_IPC_SOURCE_MAX, {wire, n}};
	pctl_remote *r = pctl_remote_object_of(dev)->r;
	pctl_ipc_source_text reply;
	pctl_status s;

	*n_out = 0;
	language[0] = '\0';
	pthread_mutex_lock(&r->lock);
	s = pctl_remote_request(r, PCTL_IPC_KERNEL_SOURCE, &ask, call, &reply);
	if (!s && reply.bytes.n != (reply.n < ask.capacity ? reply.n : ask.capacity))
		s = pctl_remote_bad_reply(r, call, "kernel_source");
	if (!s && reply.bytes.n)
		memcpy(out, reply.bytes.data, reply.bytes.n);
	if (!s) {
		*n_out = reply.n;
		memcpy(language, reply.language, strlen(reply.language) + 1);
	}
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
		.findings = optional & PCTL_IPC_HAS_FINDINGS ? do_findings : NULL,
		.counts = optional & PCTL_IPC_HAS_COUNTS ? do_counts : NULL,
		.kernel_source = optional & PCTL_IPC_HAS_SOURCE ? do_kernel_source : NULL,
	};

	*t = all;
}
