/* Requests of a host, one function each, and the reply around them; see serve.h. */
#include "runtime/ipc/serve.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/ipc/serve_objects.h"

/* A request's part of the reply goes into s->body; *malformed ends the connection. */
typedef struct request {
	uint16_t op;
	pctl_ipc_in in;
	int malformed;
} request;

static pctl_status bad(request *r)
{
	r->malformed = 1;
	return PCTL_E_INTERNAL;
}

static int done(request *r)
{
	if (!pctl_ipc_in_done(&r->in))
		r->malformed = 1;
	return !r->malformed;
}

static object *get(pctl_ipc_server *s, request *r, uint32_t kind, uint32_t device)
{
	object *o = pctl_serve_object_get(s, pctl_ipc_get_u32(&r->in), kind, device);

	if (!o)
		r->malformed = 1;
	return o;
}

/* Every request about a device begins with its number. */
static pctl_device *get_device(pctl_ipc_server *s, request *r, uint32_t *number)
{
	const object *o = get(s, r, OBJECT_DEVICE, 0);

	*number = o ? o->device : 0;
	return o ? o->p : NULL;
}

static pctl_status hello(pctl_ipc_server *s, request *r, pctl_ipc_channel *ch)
{
	const uint32_t version = pctl_ipc_get_u32(&r->in);
	uint32_t optional = 0;

	if (!done(r) || s->greeted)
		return bad(r);
	s->greeted = 1;
	if (version != PCTL_IPC_VERSION)
		return pctl_refuse(&s->call, PC3106_WORKER_VERSION,
				   "the host speaks version %u, this worker %u", version,
				   PCTL_IPC_VERSION);
	if (s->open_status)
		return s->open_status;
	if (!pctl_ipc_window_attach(pctl_ipc_take_fd(ch), &s->window))
		return pctl_refuse(&s->call, PC3107_WORKER_REQUEST,
				   "the shared window is missing or not sealed");
	if (s->table && s->table->kernel_cache)
		optional |= PCTL_IPC_HAS_CACHE;
	if (s->table && s->table->findings)
		optional |= PCTL_IPC_HAS_FINDINGS;
	if (s->table && s->table->counts)
		optional |= PCTL_IPC_HAS_COUNTS;
	pctl_ipc_put_u32(&s->body, PCTL_IPC_VERSION);
	pctl_ipc_put_u32(&s->body, optional);
	return PCTL_OK;
}

static pctl_status devices(pctl_ipc_server *s, request *r)
{
	uint32_t capacity = pctl_ipc_get_u32(&r->in), n = 0, i;
	pctl_device_info *infos;
	pctl_status status;

	if (!done(r) || capacity > PCTL_IPC_DEVICES_MAX)
		return bad(r);
	infos = calloc(capacity + 1u, sizeof(*infos));
	if (!infos)
		return PCTL_E_NOMEM;
	for (i = 0; i < capacity; i++)
		infos[i].head = (pctl_head)PCTL_HEAD(pctl_device_info);
	status = s->table->devices(s->inst, &s->call, capacity, infos, &n);
	pctl_ipc_put_u32(&s->body, n);
	for (i = 0; i < n && i < capacity; i++) {
		infos[i].head = (pctl_head)PCTL_HEAD(pctl_device_info);
		pctl_ipc_put(&s->body, &infos[i], sizeof(infos[i]));
	}
	free(infos);
	return status;
}

static pctl_status device_open(pctl_ipc_server *s, request *r)
{
	const uint32_t id = pctl_ipc_get_u32(&r->in);
	const uint32_t index = pctl_ipc_get_u32(&r->in);
	object o = {.kind = OBJECT_DEVICE, .device = id};
	pctl_device *dev = NULL;
	pctl_status status;

	if (!done(r))
		return bad(r);
	status = s->table->device_open(s->inst, &s->call, index, &dev);
	if (status)
		return status;
	o.p = dev;
	if (pctl_serve_object_put(s, id, &o))
		return PCTL_OK;
	s->table->device_close(dev);
	return bad(r);
}

static pctl_status device_close(pctl_ipc_server *s, request *r)
{
	uint32_t number;
	pctl_device *dev = get_device(s, r, &number);

	if (!done(r))
		return bad(r);
	pctl_serve_objects_clear(s, number);
	pctl_serve_object_drop(s, number);
	s->table->device_close(dev);
	return PCTL_OK;
}

static pctl_status identity(pctl_ipc_server *s, request *r)
{
	uint32_t number, n = 0, i;
	pctl_device *dev = get_device(s, r, &number);
	const uint32_t capacity = pctl_ipc_get_u32(&r->in);
	pctl_key_value *kv;
	pctl_status status;

	if (!done(r) || capacity > PCTL_IPC_IDENTITY_MAX)
		return bad(r);
	kv = calloc(capacity + 1u, sizeof(*kv));
	if (!kv)
		return PCTL_E_NOMEM;
	status = s->table->device_identity(dev, &s->call, capacity, kv, &n);
	pctl_ipc_put_u32(&s->body, n);
	for (i = 0; i < n && i < capacity; i++)
		pctl_ipc_put(&s->body, &kv[i], sizeof(kv[i]));
	free(kv);
	return status;
}

static pctl_status caps(pctl_ipc_server *s, request *r)
{
	uint32_t number;
	pctl_device *dev = get_device(s, r, &number);
	pctl_device_caps c = {.head = PCTL_HEAD(pctl_device_caps)};
	pctl_status status;

	if (!done(r))
		return bad(r);
	status = s->table->device_caps(dev, &s->call, &c);
	c.head = (pctl_head)PCTL_HEAD(pctl_device_caps);
	pctl_ipc_put(&s->body, &c, sizeof(c));
	return status;
}

static pctl_status supports(pctl_ipc_server *s, request *r)
{
	uint32_t number;
	pctl_device *dev = get_device(s, r, &number);
	size_t n;
	const uint8_t *wire = pctl_ipc_get_blob(&r->in, &n);
	pctl_support answer = {.head = PCTL_HEAD(pctl_support)};
	pctl_status status;

	if (!done(r))
		return bad(r);
	status = s->table->supports(dev, &s->call, wire, n, &answer);
	answer.head = (pctl_head)PCTL_HEAD(pctl_support);
	pctl_ipc_put(&s->body, &answer, sizeof(answer));
	return status;
}

static pctl_status buffer_create(pctl_ipc_server *s, request *r)
{
	uint32_t number;
	pctl_device *dev = get_device(s, r, &number);
	const uint32_t id = pctl_ipc_get_u32(&r->in);
	const uint64_t n_bytes = pctl_ipc_get_u64(&r->in);
	const uint32_t usage = pctl_ipc_get_u32(&r->in);
	object o = {.kind = OBJECT_BUFFER, .device = number, .n_bytes = n_bytes};
	pctl_buffer *buf = NULL;
	pctl_status status;

	if (!done(r))
		return bad(r);
	status = s->table->buffer_create(dev, &s->call, n_bytes, usage, &buf);
	if (status)
		return status;
	o.p = buf;
	if (pctl_serve_object_put(s, id, &o))
		return PCTL_OK;
	s->table->buffer_destroy(dev, buf);
	return bad(r);
}

static void destroy(pctl_ipc_server *s, request *r, uint32_t kind)
{
	uint32_t number;
	pctl_device *dev = get_device(s, r, &number);
	const uint32_t id = pctl_ipc_get_u32(&r->in);
	const object *o = pctl_serve_object_get(s, id, kind, number);
	void *p = o ? o->p : NULL;

	if (!o || !done(r)) {
		r->malformed = 1;
		return;
	}
	pctl_serve_object_drop(s, id);
	if (!p)
		return;
	if (kind == OBJECT_BUFFER)
		s->table->buffer_destroy(dev, p);
	else if (kind == OBJECT_KERNEL)
		s->table->kernel_destroy(dev, p);
	else
		s->table->list_destroy(dev, p);
}

static int inside(uint64_t offset, uint64_t n, uint64_t whole)
{
	return offset <= whole && n <= whole - offset;
}

/* WRITE carries its bytes; WRITE_WINDOW, READ and READ_WINDOW a length. */
static pctl_status transfer(pctl_ipc_server *s, request *r)
{
	uint32_t number;
	pctl_device *dev = get_device(s, r, &number);
	const object *buf = get(s, r, OBJECT_BUFFER, number);
	const uint64_t offset = pctl_ipc_get_u64(&r->in);
	const uint8_t *bytes = NULL;
	pctl_status status;
	uint64_t n = 0;
	size_t n_blob = 0, at;

	if (r->op == PCTL_IPC_WRITE) {
		bytes = pctl_ipc_get_blob(&r->in, &n_blob);
		n = n_blob;
	} else {
		n = pctl_ipc_get_u64(&r->in);
	}
	if (!done(r))
		return bad(r);
	if (!inside(offset, n, buf->n_bytes))
		return pctl_refuse(&s->call, PC3107_WORKER_REQUEST,
				   "bytes %llu + %llu are outside a buffer of %llu",
				   (unsigned long long)offset, (unsigned long long)n,
				   (unsigned long long)buf->n_bytes);
	switch (r->op) {
	case PCTL_IPC_WRITE:
		return s->table->buffer_write(dev, &s->call, buf->p, offset, bytes, n);
	case PCTL_IPC_READ:
		if (n > PCTL_IPC_INLINE_MAX)
			return bad(r);
		at = pctl_ipc_put_hole(&s->body, (size_t)n);
		if (s->body.failed)
			return PCTL_E_NOMEM;
		memset(s->body.data + at, PCTL_IPC_UNREAD, n);
		return s->table->buffer_read(dev, &s->call, buf->p, offset,
					     n ? s->body.data + at : NULL, n);
	default:
		if (n > s->window.n_bytes)
			return bad(r);
		if (r->op == PCTL_IPC_WRITE_WINDOW)
			status = s->table->buffer_write(dev, &s->call, buf->p, offset,
							s->window.data, n);
		else
			status = s->table->buffer_read(dev, &s->call, buf->p, offset,
						       s->window.data, n);
		return status;
	}
}

static pctl_status kernel_build(pctl_ipc_server *s, request *r)
{
	uint32_t number;
	pctl_device *dev = get_device(s, r, &number);
	const uint32_t id = pctl_ipc_get_u32(&r->in);
	const uint32_t flags = pctl_ipc_get_u32(&r->in);
	object o = {.kind = OBJECT_KERNEL, .device = number};
	size_t n, n_cache;
	const uint8_t *wire = pctl_ipc_get_blob(&r->in, &n);
	const uint8_t *cache = pctl_ipc_get_blob(&r->in, &n_cache);
	pctl_kernel *k = NULL;
	pctl_status status;

	if (!done(r))
		return bad(r);
	status = s->table->kernel_build(dev, &s->call, wire, n, flags, n_cache ? cache : NULL,
					n_cache, &k);
	if (status)
		return status;
	o.p = k;
	if (pctl_serve_object_put(s, id, &o))
		return PCTL_OK;
	s->table->kernel_destroy(dev, k);
	return bad(r);
}

static pctl_status kernel_cache(pctl_ipc_server *s, request *r)
{
	uint32_t number;
	pctl_device *dev = get_device(s, r, &number);
	const object *k = get(s, r, OBJECT_KERNEL, number);
	const uint64_t capacity = pctl_ipc_get_u64(&r->in);
	uint8_t *blob = NULL;
	uint64_t n = 0;
	pctl_status status;

	if (!done(r) || !s->table->kernel_cache || capacity > PCTL_IPC_CACHE_MAX)
		return bad(r);
	if (capacity && !(blob = malloc((size_t)capacity)))
		return PCTL_E_NOMEM;
	status = s->table->kernel_cache(dev, &s->call, k->p, capacity, blob, &n);
	pctl_ipc_put_u64(&s->body, n);
	pctl_ipc_put_blob(&s->body, blob, (size_t)(n < capacity ? n : capacity));
	free(blob);
	return status;
}

static pctl_status list_end(pctl_ipc_server *s, request *r)
{
	object *l = get(s, r, OBJECT_LIST, 0);

	if (!done(r))
		return bad(r);
	if (!l->status)
		l->status = s->table->list_end(l->p, &s->call);
	return l->status;
}

static void submit(pctl_ipc_server *s, request *r)
{
	uint32_t number;
	pctl_device *dev = get_device(s, r, &number);
	const object *l = get(s, r, OBJECT_LIST, number);
	ticket t = {.device = number};
	uint32_t times;

	times = pctl_ipc_get_u32(&r->in);
	t.host = pctl_ipc_get_u64(&r->in);
	if (!done(r))
		return;
	if (pctl_serve_ticket_early(s, number, t.host))
		t.status = PCTL_E_CANCELLED;
	else if (l->status)
		t.status = l->status;
	else
		t.status = s->table->submit(dev, &s->call, l->p, times, &t.backend);
	if (!pctl_serve_ticket_put(s, &t))
		r->malformed = 1;
}

static pctl_status wait_ticket(pctl_ipc_server *s, request *r)
{
	uint32_t number;
	pctl_device *dev = get_device(s, r, &number);
	const uint64_t host = pctl_ipc_get_u64(&r->in);
	const uint64_t timeout_ns = pctl_ipc_get_u64(&r->in);
	pctl_completion c = {.head = PCTL_HEAD(pctl_completion)};
	pctl_status status;
	ticket t;

	if (!done(r))
		return bad(r);
	if (!pctl_serve_ticket_get(s, number, host, &t))
		return pctl_refuse(&s->call, PC3107_WORKER_REQUEST,
				   "nothing under way has ticket %llu", (unsigned long long)host);
	status = t.status;
	/* A cancel that came while the submit was still being carried out. */
	if (!status && pctl_serve_ticket_early(s, number, host))
		s->table->cancel(dev, t.backend);
	if (!status)
		status = s->table->wait(dev, &s->call, t.backend, timeout_ns, &c);
	c.head = (pctl_head)PCTL_HEAD(pctl_completion);
	if (status || c.done)
		pctl_serve_ticket_drop(s, number, host);
	pctl_ipc_put(&s->body, &c, sizeof(c));
	return status;
}

static pctl_status findings(pctl_ipc_server *s, request *r)
{
	uint32_t number, n = 0;
	pctl_device *dev = get_device(s, r, &number);
	const uint32_t capacity = pctl_ipc_get_u32(&r->in);
	pctl_finding *f;
	pctl_status status;

	if (!done(r) || !s->table->findings || capacity > PCTL_IPC_FINDINGS_MAX)
		return bad(r);
	f = calloc(capacity + 1u, sizeof(*f));
	if (!f)
		return PCTL_E_NOMEM;
	status = s->table->findings(dev, &s->call, capacity, f, &n);
	pctl_ipc_put_u32(&s->body, n);
	pctl_ipc_put(&s->body, f, (n < capacity ? n : capacity) * sizeof(*f));
	free(f);
	return status;
}

static pctl_status counts(pctl_ipc_server *s, request *r)
{
	uint32_t number;
	pctl_device *dev = get_device(s, r, &number);
	pctl_counts c = {.head = PCTL_HEAD(pctl_counts)};
	pctl_status status;

	if (!done(r) || !s->table->counts)
		return bad(r);
	status = s->table->counts(dev, &s->call, &c);
	c.head = (pctl_head)PCTL_HEAD(pctl_counts);
	pctl_ipc_put(&s->body, &c, sizeof(c));
	return status;
}

static void posted(pctl_ipc_server *s, request *r)
{
	switch (r->op) {
	case PCTL_IPC_BUFFER_DESTROY:
		destroy(s, r, OBJECT_BUFFER);
		break;
	case PCTL_IPC_KERNEL_DESTROY:
		destroy(s, r, OBJECT_KERNEL);
		break;
	case PCTL_IPC_LIST_DESTROY:
		destroy(s, r, OBJECT_LIST);
		break;
	case PCTL_IPC_SUBMIT:
		submit(s, r);
		break;
	default:
		if (!pctl_serve_list(s, r->op, &r->in))
			r->malformed = 1;
		break;
	}
}

static pctl_status ask(pctl_ipc_server *s, request *r, pctl_ipc_channel *ch)
{
	pctl_status status;

	if (s->ops && r->op != PCTL_IPC_HELLO && r->op != PCTL_IPC_BYE) {
		r->malformed = !pctl_serve_ops(s, r->op, &r->in, ch, &status);
		return status;
	}
	switch (r->op) {
	case PCTL_IPC_HELLO:
		return hello(s, r, ch);
	case PCTL_IPC_DEVICES:
		return devices(s, r);
	case PCTL_IPC_DEVICE_OPEN:
		return device_open(s, r);
	case PCTL_IPC_DEVICE_CLOSE:
		return device_close(s, r);
	case PCTL_IPC_IDENTITY:
		return identity(s, r);
	case PCTL_IPC_CAPS:
		return caps(s, r);
	case PCTL_IPC_SUPPORTS:
		return supports(s, r);
	case PCTL_IPC_BUFFER_CREATE:
		return buffer_create(s, r);
	case PCTL_IPC_WRITE:
	case PCTL_IPC_WRITE_WINDOW:
	case PCTL_IPC_READ:
	case PCTL_IPC_READ_WINDOW:
		return transfer(s, r);
	case PCTL_IPC_KERNEL_BUILD:
		return kernel_build(s, r);
	case PCTL_IPC_KERNEL_CACHE:
		return kernel_cache(s, r);
	case PCTL_IPC_LIST_END:
		return list_end(s, r);
	case PCTL_IPC_WAIT:
		return wait_ticket(s, r);
	case PCTL_IPC_FINDINGS:
		return findings(s, r);
	case PCTL_IPC_COUNTS:
		return counts(s, r);
	case PCTL_IPC_BYE:
		return done(r) ? PCTL_OK : bad(r);
	default:
		return bad(r);
	}
}

int pctl_ipc_server_handle(pctl_ipc_server *s, const pctl_ipc_frame *f, pctl_ipc_channel *ch)
{
	request r = {f->header.op, {f->payload, f->header.n_bytes, 0, 0}, 0};
	pctl_status status;

	if (!s->table && r.op != PCTL_IPC_HELLO && r.op != PCTL_IPC_BYE &&
	    (!s->ops || pctl_ipc_is_posted(r.op)))
		return -1;
	atomic_store_explicit(&s->seq, f->header.seq, memory_order_relaxed);
	s->body.n = 0;
	if (pctl_ipc_is_posted(r.op)) {
		posted(s, &r);
		return r.malformed ? -1 : 1;
	}
	status = ask(s, &r, ch);
	if (r.malformed)
		return -1;
	pctl_ipc_frame_begin(ch, r.op, f->header.seq);
	pctl_ipc_put_u32(&ch->out, (uint32_t)status);
	pctl_ipc_put_u32(&ch->out, s->n_diags);
	pctl_ipc_put(&ch->out, s->diags.data, s->diags.n);
	if (!status)
		pctl_ipc_put(&ch->out, s->body.data, s->body.n);
	if (s->body.failed || s->diags.failed)
		ch->out.failed = 1;
	s->body.failed = 0;
	s->diags.n = 0;
	s->n_diags = 0;
	if (!pctl_ipc_frame_end(ch))
		return -1;
	return r.op != PCTL_IPC_BYE;
}
