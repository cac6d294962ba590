/* The worker's side of devices, buffers and kernels: each request calls a slot of the backend. */
#include <stdlib.h>

#include "runtime/ipc/serve_objects.h"

pctl_status pctl_serve_devices(pctl_ipc_server *s, const pctl_ipc_devices *a,
			       pctl_ipc_device_list *r)
{
	pctl_device_info *infos = pctl_arena_array(s->arena, a->capacity, sizeof(*infos));
	pctl_status status;

	if (!infos)
		return PCTL_E_NOMEM;
	for (uint32_t i = 0; i < a->capacity; i++)
		infos[i].head = (pctl_head)PCTL_HEAD(pctl_device_info);
	status = s->table->devices(s->inst, &s->call, a->capacity, infos, &r->n);
	r->devices = infos;
	r->n_devices = r->n < a->capacity ? r->n : a->capacity;
	return status;
}

pctl_status pctl_serve_device_open(pctl_ipc_server *s, const pctl_ipc_device_open *a,
				   pctl_ipc_nothing *r)
{
	object o = {.kind = PCTL_IPC_DEVICE, .device = a->device};
	pctl_device *dev = NULL;
	const pctl_status status = s->table->device_open(s->inst, &s->call, a->index, &dev);

	(void)r;
	if (status)
		return status;
	o.p = dev;
	if (pctl_serve_object_put(s, a->device, &o))
		return PCTL_OK;
	s->table->device_close(dev);
	return pctl_serve_bad(s);
}

pctl_status pctl_serve_device_close(pctl_ipc_server *s, const pctl_ipc_of_device *a,
				    pctl_ipc_nothing *r)
{
	const object *o = a->device;
	pctl_device *dev = o->p;

	(void)r;
	pctl_serve_objects_clear(s, s->device);
	pctl_serve_object_drop(s, s->device);
	s->table->device_close(dev);
	return PCTL_OK;
}

pctl_status pctl_serve_device_identity(pctl_ipc_server *s, const pctl_ipc_identity *a,
				       pctl_ipc_fact_list *r)
{
	const object *dev = a->device;
	pctl_key_value *facts = pctl_arena_array(s->arena, a->capacity, sizeof(*facts));
	pctl_status status;

	if (!facts)
		return PCTL_E_NOMEM;
	status = s->table->device_identity(dev->p, &s->call, a->capacity, facts, &r->n);
	r->facts = facts;
	r->n_facts = r->n < a->capacity ? r->n : a->capacity;
	return status;
}

pctl_status pctl_serve_device_caps(pctl_ipc_server *s, const pctl_ipc_of_device *a,
				   pctl_device_caps *r)
{
	const object *dev = a->device;

	r->head = (pctl_head)PCTL_HEAD(pctl_device_caps);
	return s->table->device_caps(dev->p, &s->call, r);
}

pctl_status pctl_serve_supports(pctl_ipc_server *s, const pctl_ipc_program *a, pctl_support *r)
{
	const object *dev = a->device;

	r->head = (pctl_head)PCTL_HEAD(pctl_support);
	return s->table->supports(dev->p, &s->call, a->wire.data, a->wire.n, r);
}

/* ---- buffers ------------------------------------------------------------------------------ */

pctl_status pctl_serve_buffer_create(pctl_ipc_server *s, const pctl_ipc_buffer_create *a,
				     pctl_ipc_nothing *r)
{
	const object *d = a->device;
	pctl_device *dev = d->p;
	object o = {.kind = PCTL_IPC_BUFFER, .device = s->device, .n_bytes = a->n_bytes};
	pctl_buffer *buf = NULL;
	const pctl_status status =
		s->table->buffer_create(dev, &s->call, a->n_bytes, a->usage, &buf);

	(void)r;
	if (status)
		return status;
	o.p = buf;
	if (pctl_serve_object_put(s, a->buffer, &o))
		return PCTL_OK;
	s->table->buffer_destroy(dev, buf);
	return pctl_serve_bad(s);
}

void pctl_serve_buffer_destroy(pctl_ipc_server *s, const pctl_ipc_of_buffer *a)
{
	const object *dev = a->device, *o = a->buffer;
	pctl_buffer *buf = o->p;

	pctl_serve_object_drop(s, pctl_serve_object_number(s, o));
	s->table->buffer_destroy(dev->p, buf);
}

/* PCTL_OK; what became of writing the buffer before; or PC3107: the range is not inside the buffer, or what is moved not inside the `room` that it goes by. */
static pctl_status inside(pctl_ipc_server *s, const object *buf, uint64_t offset, uint64_t n,
			  uint64_t room)
{
	if (buf->status)
		return buf->status;
	if (offset <= buf->n_bytes && n <= buf->n_bytes - offset)
		return n <= room ? PCTL_OK : pctl_serve_bad(s);
	return pctl_refuse(&s->call, PC3107_WORKER_REQUEST,
			   "bytes %llu + %llu are outside a buffer of %llu",
			   (unsigned long long)offset, (unsigned long long)n,
			   (unsigned long long)buf->n_bytes);
}

static pctl_status write_from(pctl_ipc_server *s, const object *dev, const object *buf,
			      uint64_t offset, const void *bytes, uint64_t n, uint64_t room)
{
	const pctl_status status = inside(s, buf, offset, n, room);

	return status ? status : s->table->buffer_write(dev->p, &s->call, buf->p, offset, bytes, n);
}

static pctl_status read_into(pctl_ipc_server *s, const object *dev, const object *buf,
			     uint64_t offset, void *bytes, uint64_t n, uint64_t room)
{
	const pctl_status status = inside(s, buf, offset, n, room);

	return status ? status : s->table->buffer_read(dev->p, &s->call, buf->p, offset, bytes, n);
}

void pctl_serve_buffer_write(pctl_ipc_server *s, const pctl_ipc_buffer_write *a)
{
	object *buf = a->buffer;

	/* One that failed before stays as it is. */
	buf->status =
		write_from(s, a->device, buf, a->offset, a->bytes.data, a->bytes.n, a->bytes.n);
}

pctl_status pctl_serve_buffer_read(pctl_ipc_server *s, const pctl_ipc_buffer_read *a,
				   pctl_ipc_read_bytes *r)
{
	/* The protocol's bound of n_bytes is the room there is. */
	memset(s->inlined, PCTL_IPC_UNREAD, a->n_bytes);
	r->bytes = (pctl_ipc_bytes){s->inlined, a->n_bytes};
	return read_into(s, a->device, a->buffer, a->offset, a->n_bytes ? s->inlined : NULL,
			 a->n_bytes, a->n_bytes);
}

pctl_status pctl_serve_buffer_write_window(pctl_ipc_server *s, const pctl_ipc_window_range *a,
					   pctl_ipc_nothing *r)
{
	(void)r;
	return write_from(s, a->device, a->buffer, a->offset, s->window.data, a->n_bytes,
			  s->window.n_bytes);
}

pctl_status pctl_serve_buffer_read_window(pctl_ipc_server *s, const pctl_ipc_window_range *a,
					  pctl_ipc_nothing *r)
{
	(void)r;
	return read_into(s, a->device, a->buffer, a->offset, s->window.data, a->n_bytes,
			 s->window.n_bytes);
}

/* ---- kernels ------------------------------------------------------------------------------ */

pctl_status pctl_serve_kernel_build(pctl_ipc_server *s, const pctl_ipc_kernel_build *a,
				    pctl_ipc_nothing *r)
{
	const object *d = a->device;
	pctl_device *dev = d->p;
	object o = {.kind = PCTL_IPC_KERNEL, .device = s->device};
	pctl_kernel *k = NULL;
	const pctl_status status =
		s->table->kernel_build(dev, &s->call, a->wire.data, a->wire.n, a->flags,
				       a->cache.n ? a->cache.data : NULL, a->cache.n, &k);

	(void)r;
	if (status)
		return status;
	o.p = k;
	if (pctl_serve_object_put(s, a->kernel, &o))
		return PCTL_OK;
	s->table->kernel_destroy(dev, k);
	return pctl_serve_bad(s);
}

pctl_status pctl_serve_kernel_cache(pctl_ipc_server *s, const pctl_ipc_kernel_cache *a,
				    pctl_ipc_cache_blob *r)
{
	const object *dev = a->device, *k = a->kernel;
	void *blob = a->capacity ? pctl_arena_alloc(s->arena, a->capacity) : NULL;
	pctl_status status;

	if (a->capacity && !blob)
		return PCTL_E_NOMEM;
	status = s->table->kernel_cache(dev->p, &s->call, k->p, a->capacity, blob, &r->n);
	r->bytes = (pctl_ipc_bytes){blob, r->n < a->capacity ? r->n : a->capacity};
	return status;
}

pctl_status pctl_serve_kernel_source(pctl_ipc_server *s, const pctl_ipc_kernel_source *a,
				     pctl_ipc_source_text *r)
{
	const object *dev = a->device;
	void *bytes = a->capacity ? pctl_arena_alloc(s->arena, a->capacity) : NULL;
	char *language = pctl_arena_alloc(s->arena, PCTL_NAME_MAX);
	pctl_status status;

	if ((a->capacity && !bytes) || !language)
		return PCTL_E_NOMEM;
	status = s->table->kernel_source(dev->p, &s->call, a->wire.data, a->wire.n, a->capacity,
					 bytes, &r->n, language);
	language[PCTL_NAME_MAX - 1] = 0;
	r->language = language;
	r->bytes = (pctl_ipc_bytes){bytes, r->n < a->capacity ? r->n : a->capacity};
	return status;
}

void pctl_serve_kernel_destroy(pctl_ipc_server *s, const pctl_ipc_of_kernel *a)
{
	const object *dev = a->device, *o = a->kernel;
	pctl_kernel *k = o->p;

	pctl_serve_object_drop(s, pctl_serve_object_number(s, o));
	s->table->kernel_destroy(dev->p, k);
}
