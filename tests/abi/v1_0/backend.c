/* A backend as somebody wrote it against version 1.0: it knows the frozen declarations and nothing
 * younger. It keeps buffers, fills and copies them, and refuses programs. It is here to be loaded
 * by every later host. */
#include "pctl_v1_0.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMANDS 16u

struct pctl_instance {
	const pctl_host *host;
};

struct pctl_device {
	uint64_t tickets;
};

struct pctl_buffer {
	uint64_t n_bytes;
	unsigned char *data;
};

typedef struct command {
	pctl_buffer *from, *to;
	uint64_t from_offset, to_offset, n_bytes;
	uint32_t word, reserved;
} command;

struct pctl_list {
	command commands[COMMANDS];
	uint32_t n_commands, n_stamps;
};

/* The codes of version 1.0 that are used here. */
enum { CODE_NO_MEMORY = 2, CODE_ARGUMENT = 3201, CODE_RANGE = 3202, CODE_KERNEL = 3215 };

static pctl_status refuse(const pctl_call *call, uint32_t code, pctl_status status,
			  const char *message)
{
	const pctl_diag d = {.head = V1_0_HEAD(pctl_diag),
			     .code = code,
			     .severity = V1_0_SEVERITY_ERROR,
			     .message = message};

	if (call && call->diag)
		call->diag(call->ctx, &d);
	return status;
}

static pctl_status devices(pctl_instance *inst, const pctl_call *call, uint32_t capacity,
			   pctl_device_info *out, uint32_t *n_out)
{
	(void)inst;
	(void)call;
	*n_out = 1;
	if (!capacity)
		return V1_0_OK;
	*out = (pctl_device_info){.head = V1_0_HEAD(pctl_device_info)};
	snprintf(out->name, sizeof(out->name), "Device of 1.0");
	snprintf(out->driver, sizeof(out->driver), "frozen");
	return V1_0_OK;
}

static pctl_status device_open(pctl_instance *inst, const pctl_call *call, uint32_t index,
			       pctl_device **out)
{
	void *p;

	*out = NULL;
	if (index)
		return refuse(call, CODE_ARGUMENT, V1_0_INVALID, "there is one device");
	/* The host's memory, as its services hand it out. */
	p = inst->host->alloc(inst->host->ctx, sizeof(**out));
	if (!p)
		return refuse(call, CODE_NO_MEMORY, V1_0_NOMEM, "no memory for a device");
	inst->host->release(inst->host->ctx, p);
	inst->host->log(inst->host->ctx, 0, "a plugin of 1.0 opens its device");
	if (inst->host->get_service(inst->host->ctx, "frozen.nobody-has-this/1"))
		return refuse(call, CODE_ARGUMENT, V1_0_INVALID, "the host has a service unknown");
	*out = calloc(1, sizeof(**out));
	return *out ? V1_0_OK : refuse(call, CODE_NO_MEMORY, V1_0_NOMEM, "no memory for a device");
}

static void device_close(pctl_device *dev)
{
	free(dev);
}

static pctl_status device_identity(pctl_device *dev, const pctl_call *call, uint32_t capacity,
				   pctl_key_value *out, uint32_t *n_out)
{
	(void)dev;
	(void)call;
	*n_out = 1;
	if (capacity)
		*out = (pctl_key_value){"vendor", "the past"};
	return V1_0_OK;
}

static pctl_status device_caps(pctl_device *dev, const pctl_call *call, pctl_device_caps *out)
{
	(void)dev;
	(void)call;
	*out = (pctl_device_caps){.head = V1_0_HEAD(pctl_device_caps),
				  .max_binding_bytes = 1u << 20,
				  .max_buffer_bytes = 1u << 20,
				  .binding_alignment = 16,
				  .max_groups = {1, 2, 3},
				  .max_local = {4, 5, 6},
				  .max_invocations = 7,
				  .max_bindings = 8,
				  .timestamp_ns_den = 9};
	return V1_0_OK;
}

static pctl_status supports(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
			    uint64_t n, pctl_support *out)
{
	(void)dev;
	(void)call;
	(void)wire;
	(void)n;
	*out = (pctl_support){.head = V1_0_HEAD(pctl_support), .code = CODE_KERNEL};
	snprintf(out->reason, sizeof(out->reason), "programs are younger than this plugin");
	return V1_0_OK;
}

static pctl_status buffer_create(pctl_device *dev, const pctl_call *call, uint64_t n_bytes,
				 uint32_t usage, pctl_buffer **out)
{
	pctl_buffer *b = calloc(1, sizeof(*b));

	(void)dev;
	(void)usage;
	*out = NULL;
	if (b)
		b->data = calloc(1, n_bytes ? n_bytes : 1);
	if (!b || !b->data) {
		free(b);
		return refuse(call, CODE_NO_MEMORY, V1_0_NOMEM, "no memory for a buffer");
	}
	b->n_bytes = n_bytes;
	*out = b;
	return V1_0_OK;
}

static void buffer_destroy(pctl_device *dev, pctl_buffer *buf)
{
	(void)dev;
	if (buf)
		free(buf->data);
	free(buf);
}

static pctl_status inside(const pctl_call *call, const pctl_buffer *b, uint64_t offset,
			  uint64_t n_bytes)
{
	return b && offset <= b->n_bytes && n_bytes <= b->n_bytes - offset
		       ? V1_0_OK
		       : refuse(call, CODE_RANGE, V1_0_INVALID, "outside of the buffer");
}

static pctl_status buffer_write(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				uint64_t offset, const void *data, uint64_t n_bytes)
{
	pctl_status s = inside(call, buf, offset, n_bytes);

	(void)dev;
	if (!s && n_bytes)
		memcpy(buf->data + offset, data, n_bytes);
	return s;
}

static pctl_status buffer_read(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
			       uint64_t offset, void *data, uint64_t n_bytes)
{
	pctl_status s = inside(call, buf, offset, n_bytes);

	(void)dev;
	if (!s && n_bytes)
		memcpy(data, buf->data + offset, n_bytes);
	return s;
}

static pctl_status kernel_build(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				uint64_t n, uint32_t flags, const void *cache, uint64_t cache_bytes,
				pctl_kernel **out)
{
	(void)dev;
	(void)wire;
	(void)n;
	(void)flags;
	(void)cache;
	(void)cache_bytes;
	*out = NULL;
	return refuse(call, CODE_KERNEL, V1_0_UNSUPPORTED, "programs are younger than this plugin");
}

static void kernel_destroy(pctl_device *dev, pctl_kernel *k)
{
	(void)dev;
	(void)k;
}

static pctl_status list_begin(pctl_device *dev, const pctl_call *call, pctl_list **out)
{
	(void)dev;
	*out = calloc(1, sizeof(**out));
	return *out ? V1_0_OK : refuse(call, CODE_NO_MEMORY, V1_0_NOMEM, "no memory for a list");
}

static pctl_status list_dispatch(pctl_list *l, const pctl_call *call, pctl_kernel *k,
				 const pctl_binding *bindings, uint32_t n_bindings,
				 const uint32_t groups[3])
{
	(void)l;
	(void)k;
	(void)bindings;
	(void)n_bindings;
	(void)groups;
	return refuse(call, CODE_ARGUMENT, V1_0_INVALID, "no kernel of this device");
}

static pctl_status list_dispatch_indirect(pctl_list *l, const pctl_call *call, pctl_kernel *k,
					  const pctl_binding *bindings, uint32_t n_bindings,
					  pctl_buffer *buf, uint64_t offset,
					  const uint32_t limit[3])
{
	(void)buf;
	(void)offset;
	return list_dispatch(l, call, k, bindings, n_bindings, limit);
}

static pctl_status add(pctl_list *l, const pctl_call *call, const command *c)
{
	if (l->n_commands == COMMANDS)
		return refuse(call, CODE_RANGE, V1_0_INVALID, "the list is full");
	l->commands[l->n_commands++] = *c;
	return V1_0_OK;
}

static pctl_status list_copy(pctl_list *l, const pctl_call *call, pctl_buffer *from,
			     uint64_t from_offset, pctl_buffer *to, uint64_t to_offset,
			     uint64_t n_bytes)
{
	const command c = {from, to, from_offset, to_offset, n_bytes, 0, 0};
	pctl_status s = inside(call, from, from_offset, n_bytes);

	if (!s)
		s = inside(call, to, to_offset, n_bytes);
	return s ? s : add(l, call, &c);
}

static pctl_status list_fill(pctl_list *l, const pctl_call *call, pctl_buffer *buf, uint64_t offset,
			     uint64_t n_bytes, uint32_t word)
{
	const command c = {NULL, buf, 0, offset, n_bytes, word, 0};
	pctl_status s = inside(call, buf, offset, n_bytes);

	return s ? s : add(l, call, &c);
}

static pctl_status list_barrier(pctl_list *l, const pctl_call *call)
{
	(void)l;
	(void)call;
	return V1_0_OK;
}

static pctl_status list_timestamp(pctl_list *l, const pctl_call *call, uint32_t slot)
{
	(void)call;
	l->n_stamps = slot + 1;
	return V1_0_OK;
}

static pctl_status list_end(pctl_list *l, const pctl_call *call)
{
	(void)l;
	(void)call;
	return V1_0_OK;
}

static void list_destroy(pctl_device *dev, pctl_list *l)
{
	(void)dev;
	free(l);
}

static pctl_status submit(pctl_device *dev, const pctl_call *call, pctl_list *l, uint32_t times,
			  uint64_t *ticket)
{
	(void)call;
	for (uint32_t n = 0; n < times; n++) {
		for (uint32_t i = 0; i < l->n_commands; i++) {
			const command *c = &l->commands[i];

			if (c->from)
				memcpy(c->to->data + c->to_offset, c->from->data + c->from_offset,
				       c->n_bytes);
			for (uint64_t k = 0; !c->from && k + 4 <= c->n_bytes; k += 4)
				memcpy(c->to->data + c->to_offset + k, &c->word, 4);
		}
	}
	*ticket = ++dev->tickets;
	return V1_0_OK;
}

static pctl_status wait(pctl_device *dev, const pctl_call *call, uint64_t ticket,
			uint64_t timeout_ns, pctl_completion *out)
{
	(void)timeout_ns;
	if (ticket != dev->tickets)
		return refuse(call, CODE_ARGUMENT, V1_0_INVALID, "no such ticket");
	*out = (pctl_completion){.head = V1_0_HEAD(pctl_completion),
				 .done = 1,
				 .n_timestamps = 1,
				 .device_ns = 10,
				 .timestamps = {11}};
	return V1_0_OK;
}

static void cancel(pctl_device *dev, uint64_t ticket)
{
	(void)dev;
	(void)ticket;
}

static const pctl_backend table = {
	.head = V1_0_HEAD(pctl_backend),
	.devices = devices,
	.device_open = device_open,
	.device_close = device_close,
	.device_identity = device_identity,
	.device_caps = device_caps,
	.supports = supports,
	.buffer_create = buffer_create,
	.buffer_destroy = buffer_destroy,
	.buffer_write = buffer_write,
	.buffer_read = buffer_read,
	.kernel_build = kernel_build,
	.kernel_destroy = kernel_destroy,
	.list_begin = list_begin,
	.list_dispatch = list_dispatch,
	.list_dispatch_indirect = list_dispatch_indirect,
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

static pctl_status plugin_open(const pctl_host *host, const pctl_call *call, pctl_instance **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return refuse(call, CODE_NO_MEMORY, V1_0_NOMEM, "no memory for an instance");
	(*out)->host = host;
	return V1_0_OK;
}

static void plugin_close(pctl_instance *inst)
{
	free(inst);
}

static const void *plugin_interface(pctl_instance *inst, const char *name)
{
	return inst && !strcmp(name, "pctl.backend/1") ? &table : NULL;
}

extern const pctl_plugin pctl_plugin_v1;
V1_0_EXPORT const pctl_plugin pctl_plugin_v1 = {
	V1_0_HEAD(pctl_plugin), "frozen", "1.0", 0, 0, plugin_open, plugin_close, plugin_interface,
};
