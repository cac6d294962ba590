/* The synthetic backend under a mock that wraps nothing: buffers in plain memory, kernels that do nothing, and fences
 * that pass when somebody waits for them. Arguments were checked by nobody, so everything here checks them. */
#include "runtime/mock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES (1ull << 32)

typedef struct synthetic_buffer {
	uint64_t n_bytes;
	uint8_t data[];
} synthetic_buffer;

typedef struct synthetic_cmd {
	uint32_t kind, word;
	synthetic_buffer *from, *to;
	uint64_t from_offset, to_offset, n_bytes;
} synthetic_cmd;

typedef struct synthetic_list {
	synthetic_cmd *cmds;
	uint32_t n, cap;
	uint32_t state; /* 0 open, 1 closed, 2 broken */
} synthetic_list;

/* Submits not waited for yet, oldest first. */
typedef struct synthetic_fence {
	uint64_t id;
	const synthetic_list *list;
	uint32_t times;
	uint32_t reserved;
	struct synthetic_fence *next;
} synthetic_fence;

typedef struct synthetic_device {
	uint64_t last;
	synthetic_fence *fences;
} synthetic_device;

/* The objects behind the interface's opaque types. */
#define OWN(T, p) ((T *)(void *)(p))

static pctl_status missing(const pctl_call *call, const char *what)
{
	return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "%s: a pointer is missing", what);
}

static pctl_status devices(pctl_instance *inst, const pctl_call *call, uint32_t capacity,
			   pctl_device_info *out, uint32_t *n_out)
{
	(void)inst;
	(void)call;
	*n_out = 1;
	if (capacity == 0)
		return PCTL_OK;
	*out = (pctl_device_info){.head = PCTL_HEAD(pctl_device_info), .kind = PCTL_DEVICE_OTHER};
	snprintf(out->name, sizeof(out->name), "nothing");
	snprintf(out->driver, sizeof(out->driver), "pipectl-mock %s", PIPECTL_VERSION);
	return PCTL_OK;
}

static pctl_status device_open(pctl_instance *inst, const pctl_call *call, uint32_t index,
			       pctl_device **out)
{
	synthetic_device *d = calloc(1, sizeof(*d));

	(void)inst;
	(void)index;
	*out = OWN(pctl_device, d);
	return d ? PCTL_OK : pctl_no_memory(call, "a device");
}

static void device_close(pctl_device *dev)
{
	synthetic_device *d = OWN(synthetic_device, dev);

	while (d->fences) {
		synthetic_fence *f = d->fences;

		d->fences = f->next;
		free(f);
	}
	free(d);
}

static pctl_status identity(pctl_device *dev, const pctl_call *call, uint32_t capacity,
			    pctl_key_value *out, uint32_t *n_out)
{
	static const char *const facts[][2] = {{"vendor", "pipectl"},
					       {"device", "nothing"},
					       {"driver", "pipectl-mock"},
					       {"driver-version", PIPECTL_VERSION},
					       {"api", PCTL_BACKEND_INTERFACE}};
	const uint32_t n = sizeof(facts) / sizeof(facts[0]);

	(void)dev;
	(void)call;
	*n_out = n;
	for (uint32_t i = 0; i < n && i < capacity; i++) {
		memset(&out[i], 0, sizeof(out[i]));
		snprintf(out[i].key, sizeof(out[i].key), "%s", facts[i][0]);
		snprintf(out[i].value, sizeof(out[i].value), "%s", facts[i][1]);
	}
	return PCTL_OK;
}

static pctl_status caps(pctl_device *dev, const pctl_call *call, pctl_device_caps *out)
{
	(void)dev;
	(void)call;
	*out = (pctl_device_caps){.head = PCTL_HEAD(pctl_device_caps),
				  .caps = PCTL_CAP_I64 | PCTL_CAP_I64_DIV | PCTL_CAP_F32 |
					  PCTL_CAP_NATIVE_FLOAT | PCTL_CAP_STORE16,
				  .max_binding_bytes = MAX_BYTES,
				  .max_buffer_bytes = MAX_BYTES,
				  .binding_alignment = 16,
				  .max_groups = {65535, 65535, 65535},
				  .max_local = {1024, 1024, 1024},
				  .max_invocations = 1024,
				  .max_workgroup_bytes = 1u << 20,
				  .max_bindings = 64,
				  .timestamp_ns_den = 1};
	return PCTL_OK;
}

static pctl_status supports(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
			    uint64_t n, pctl_support *out)
{
	(void)dev;
	(void)call;
	(void)wire;
	(void)n;
	*out = (pctl_support){.head = PCTL_HEAD(pctl_support), .supported = 1};
	return PCTL_OK;
}

/* ---- buffers and kernels ------------------------------------------------------------------ */

static pctl_status buffer_create(pctl_device *dev, const pctl_call *call, uint64_t n_bytes,
				 uint32_t usage, pctl_buffer **out)
{
	synthetic_buffer *b;

	(void)dev;
	(void)usage;
	*out = NULL;
	if (n_bytes > MAX_BYTES)
		return pctl_refuse(call, PC3208_BUFFER_LIMIT,
				   "a buffer of %" PRIu64 " bytes; the device takes %" PRIu64,
				   n_bytes, (uint64_t)MAX_BYTES);
	b = calloc(1, sizeof(*b) + n_bytes);
	if (!b)
		return pctl_refuse(call, PC2_NOMEM, "no memory for a buffer of %" PRIu64 " bytes",
				   n_bytes);
	b->n_bytes = n_bytes;
	*out = OWN(pctl_buffer, b);
	return PCTL_OK;
}

static void buffer_destroy(pctl_device *dev, pctl_buffer *buf)
{
	(void)dev;
	free(buf);
}

static pctl_status check(const synthetic_buffer *b, uint64_t offset, uint64_t n, const char *what,
			 const pctl_call *call)
{
	if (!b)
		return missing(call, what);
	if (offset > b->n_bytes || n > b->n_bytes - offset)
		return pctl_refuse(call, PC3202_BACKEND_RANGE,
				   "%s: %" PRIu64 " bytes from %" PRIu64 " in a buffer of %" PRIu64,
				   what, n, offset, b->n_bytes);
	return PCTL_OK;
}

static pctl_status buffer_write(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				uint64_t offset, const void *data, uint64_t n)
{
	synthetic_buffer *b = OWN(synthetic_buffer, buf);
	pctl_status s = check(b, offset, n, "buffer_write", call);

	(void)dev;
	if (s == PCTL_OK && n)
		memcpy(b->data + offset, data, n);
	return s;
}

static pctl_status buffer_read(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
			       uint64_t offset, void *data, uint64_t n)
{
	const synthetic_buffer *b = OWN(synthetic_buffer, buf);
	pctl_status s = check(b, offset, n, "buffer_read", call);

	(void)dev;
	if (s == PCTL_OK && n)
		memcpy(data, b->data + offset, n);
	return s;
}

static pctl_status kernel_build(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				uint64_t n, uint32_t flags, const void *cache, uint64_t cache_bytes,
				pctl_kernel **out)
{
	(void)dev;
	(void)wire;
	(void)n;
	(void)cache;
	(void)cache_bytes;
	*out = NULL;
	if (flags)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "kernel_build: flags 0x%x mean nothing here", flags);
	*out = OWN(pctl_kernel, calloc(1, 1));
	return *out ? PCTL_OK : pctl_no_memory(call, "a kernel");
}

static void kernel_destroy(pctl_device *dev, pctl_kernel *k)
{
	(void)dev;
	free(k);
}

/* ---- lists -------------------------------------------------------------------------------- */

static pctl_status list_begin(pctl_device *dev, const pctl_call *call, pctl_list **out)
{
	(void)dev;
	*out = OWN(pctl_list, calloc(1, sizeof(synthetic_list)));
	return *out ? PCTL_OK : pctl_no_memory(call, "a list");
}

static pctl_status append(pctl_list *list, const pctl_call *call, pctl_status s, synthetic_cmd c)
{
	synthetic_list *l = OWN(synthetic_list, list);

	if (s == PCTL_OK && l->state != 0)
		return pctl_refuse(call, PC3213_LIST_STATE, "the list is not open for recording");
	if (s == PCTL_OK && l->n == l->cap) {
		const uint32_t cap = l->cap ? 2 * l->cap : 16;
		synthetic_cmd *grown = realloc(l->cmds, cap * sizeof(*grown));

		if (grown) {
			l->cmds = grown;
			l->cap = cap;
		} else {
			s = pctl_no_memory(call, "a command");
		}
	}
	if (s == PCTL_OK)
		l->cmds[l->n++] = c;
	else if (l->state == 0)
		l->state = 2;
	return s;
}

static pctl_status list_dispatch(pctl_list *l, const pctl_call *call, pctl_kernel *k,
				 const pctl_binding *bindings, uint32_t n, const uint32_t groups[3])
{
	pctl_status s = k && groups ? PCTL_OK : missing(call, "dispatch");

	for (uint32_t i = 0; s == PCTL_OK && i < n; i++)
		if (bindings[i].n_bytes)
			s = check(OWN(synthetic_buffer, bindings[i].buffer), bindings[i].offset,
				  bindings[i].n_bytes, "dispatch", call);
	return append(l, call, s, (synthetic_cmd){.kind = MOCK_DISPATCH});
}

static pctl_status list_indirect(pctl_list *l, const pctl_call *call, pctl_kernel *k,
				 const pctl_binding *bindings, uint32_t n, pctl_buffer *buf,
				 uint64_t offset, const uint32_t limit[3])
{
	pctl_status s = check(OWN(synthetic_buffer, buf), offset, 12, "dispatch_indirect", call);

	return s == PCTL_OK ? list_dispatch(l, call, k, bindings, n, limit)
			    : append(l, call, s, (synthetic_cmd){0});
}

static pctl_status words(uint64_t a, uint64_t b, uint64_t n, const pctl_call *call)
{
	return a % 4 || b % 4 || n % 4 ? pctl_refuse(call, PC3203_BACKEND_ALIGNMENT,
						     "offsets and sizes are multiples of 4")
				       : PCTL_OK;
}

static pctl_status list_copy(pctl_list *l, const pctl_call *call, pctl_buffer *from,
			     uint64_t from_offset, pctl_buffer *to, uint64_t to_offset, uint64_t n)
{
	synthetic_cmd c = {.kind = MOCK_COPY,
			   .from = OWN(synthetic_buffer, from),
			   .to = OWN(synthetic_buffer, to),
			   .from_offset = from_offset,
			   .to_offset = to_offset,
			   .n_bytes = n};
	pctl_status s = check(c.from, from_offset, n, "list_copy", call);

	if (s == PCTL_OK)
		s = check(c.to, to_offset, n, "list_copy", call);
	if (s == PCTL_OK)
		s = words(from_offset, to_offset, n, call);
	return append(l, call, s, c);
}

static pctl_status list_fill(pctl_list *l, const pctl_call *call, pctl_buffer *buf, uint64_t offset,
			     uint64_t n, uint32_t word)
{
	synthetic_cmd c = {.kind = MOCK_FILL,
			   .word = word,
			   .to = OWN(synthetic_buffer, buf),
			   .to_offset = offset,
			   .n_bytes = n};
	pctl_status s = check(c.to, offset, n, "list_fill", call);

	if (s == PCTL_OK)
		s = words(offset, 0, n, call);
	return append(l, call, s, c);
}

static pctl_status list_barrier(pctl_list *l, const pctl_call *call)
{
	return append(l, call, PCTL_OK, (synthetic_cmd){.kind = MOCK_BARRIER});
}

static pctl_status list_timestamp(pctl_list *l, const pctl_call *call, uint32_t slot)
{
	pctl_status s = slot < MOCK_TIMESTAMPS
				? PCTL_OK
				: pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
					      "timestamp slot %u; 0 to 63 are there", slot);

	return append(l, call, s, (synthetic_cmd){.kind = MOCK_TIMESTAMP, .word = slot});
}

static pctl_status list_end(pctl_list *list, const pctl_call *call)
{
	synthetic_list *l = OWN(synthetic_list, list);

	if (l->state != 0)
		return pctl_refuse(call, PC3213_LIST_STATE, "the list is not open for recording");
	l->state = 1;
	return PCTL_OK;
}

static void list_destroy(pctl_device *dev, pctl_list *list)
{
	(void)dev;
	free(OWN(synthetic_list, list)->cmds);
	free(list);
}

/* ---- fences ------------------------------------------------------------------------------- */

static pctl_status submit(pctl_device *dev, const pctl_call *call, pctl_list *list, uint32_t times,
			  uint64_t *ticket)
{
	synthetic_device *d = OWN(synthetic_device, dev);
	synthetic_fence *f, **end = &d->fences;

	if (OWN(synthetic_list, list)->state != 1)
		return pctl_refuse(call, PC3213_LIST_STATE,
				   "submit: the list was not ended, or is in error");
	f = calloc(1, sizeof(*f));
	if (!f)
		return pctl_no_memory(call, "a submit");
	f->id = *ticket = ++d->last;
	f->list = OWN(synthetic_list, list);
	f->times = times;
	while (*end)
		end = &(*end)->next;
	*end = f;
	return PCTL_OK;
}

static void execute(const synthetic_cmd *c, uint64_t start_ns, pctl_completion *out)
{
	switch (c->kind) {
	case MOCK_COPY:
		memmove(c->to->data + c->to_offset, c->from->data + c->from_offset, c->n_bytes);
		break;
	case MOCK_FILL:
		for (uint64_t i = 0; i < c->n_bytes; i += 4)
			memcpy(c->to->data + c->to_offset + i, &c->word, 4);
		break;
	case MOCK_TIMESTAMP:
		out->timestamps[c->word] = mock_now_ns() - start_ns;
		if (out->n_timestamps <= c->word)
			out->n_timestamps = c->word + 1;
		break;
	default:
		break;
	}
}

/* Passing a fence is what runs the work: until then nothing of it can be seen. Fences pass in order. */
static pctl_status wait(pctl_device *dev, const pctl_call *call, uint64_t ticket,
			uint64_t timeout_ns, pctl_completion *out)
{
	synthetic_device *d = OWN(synthetic_device, dev);
	uint64_t start;

	(void)call;
	(void)timeout_ns;
	*out = (pctl_completion){.head = PCTL_HEAD(pctl_completion), .done = 1};
	while (d->fences && d->fences->id <= ticket) {
		synthetic_fence *f = d->fences;

		*out = (pctl_completion){.head = PCTL_HEAD(pctl_completion), .done = 1};
		start = mock_now_ns();
		for (uint32_t n = 0; n < f->times; n++)
			for (uint32_t i = 0; i < f->list->n; i++)
				execute(&f->list->cmds[i], start, out);
		out->device_ns = mock_now_ns() - start;
		d->fences = f->next;
		free(f);
	}
	return PCTL_OK;
}

/* A fence passes at once when it is waited for; the mock's own wait knows of a cancel before that. */
static void cancel(pctl_device *dev, uint64_t ticket)
{
	(void)dev;
	(void)ticket;
}

const pctl_backend mock_synthetic = {
	.head = PCTL_HEAD(pctl_backend),
	.devices = devices,
	.device_open = device_open,
	.device_close = device_close,
	.device_identity = identity,
	.device_caps = caps,
	.supports = supports,
	.buffer_create = buffer_create,
	.buffer_destroy = buffer_destroy,
	.buffer_write = buffer_write,
	.buffer_read = buffer_read,
	.kernel_build = kernel_build,
	.kernel_destroy = kernel_destroy,
	.list_begin = list_begin,
	.list_dispatch = list_dispatch,
	.list_dispatch_indirect = list_indirect,
	.list_copy = list_copy,
	.list_fill = list_fill,
	.list_barrier = list_barrier,
	.list_timestamp = list_timestamp,
	.list_end = list_end,
	.list_destroy = list_destroy,
	.submit = submit,
	.wait = wait,
	.cancel = cancel,
};
