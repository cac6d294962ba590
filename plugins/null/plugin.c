/* The plugin's symbol, its instance, its one device, and the refusal of programs. Read from the
 * bottom up: the host finds pctl_plugin_v1, opens an instance, asks it for the table, and calls the
 * slots. */
#include "null.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which devices are there, in an order that does not change. A host first asks with capacity 0. */
static pctl_status devices(pctl_instance *inst, const pctl_call *call, uint32_t capacity,
			   pctl_device_info *out, uint32_t *n_out)
{
	if (!inst || !n_out || (capacity && !out))
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "devices: a pointer is missing");
	*n_out = 1;
	if (capacity == 0)
		return PCTL_OK;
	*out = (pctl_device_info){.head = PCTL_HEAD(pctl_device_info), .kind = PCTL_DEVICE_OTHER};
	snprintf(out->name, sizeof(out->name), "null");
	snprintf(out->driver, sizeof(out->driver), "pipectl-null %s", PIPECTL_VERSION);
	return PCTL_OK;
}

static pctl_status device_open(pctl_instance *inst, const pctl_call *call, uint32_t index,
			       pctl_device **out)
{
	if (!inst || !out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "device_open: a pointer is missing");
	*out = NULL; /* out parameters are cleared on every path that fails */
	if (index != 0)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "device_open: there is no device %u", index);
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return pctl_no_memory(call, "a device");
	(*out)->inst = inst;
	return PCTL_OK;
}

static void device_close(pctl_device *dev)
{
	free(dev); /* nothing can be under way: submit returns when all is done */
}

/* What makes this device this device. All of it enters receipts, so it holds no time and no path.
 */
static pctl_status device_identity(pctl_device *dev, const pctl_call *call, uint32_t capacity,
				   pctl_key_value *out, uint32_t *n_out)
{
	static const char *const facts[][2] = {{"vendor", "pipectl"},
					       {"device", "null"},
					       {"driver", "pipectl-null"},
					       {"driver-version", PIPECTL_VERSION},
					       {"api", PCTL_BACKEND_INTERFACE}};
	const uint32_t n = sizeof(facts) / sizeof(facts[0]);

	if (!dev || !n_out || (capacity && !out))
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "device_identity: a pointer is missing");
	*n_out = n;
	for (uint32_t i = 0; i < n && i < capacity; i++) {
		memset(&out[i], 0, sizeof(out[i]));
		snprintf(out[i].key, sizeof(out[i].key), "%s", facts[i][0]);
		snprintf(out[i].value, sizeof(out[i].value), "%s", facts[i][1]);
	}
	return PCTL_OK;
}

/* Limits are promises that the host checks before it asks: claim what every call then accepts. */
static pctl_status device_caps(pctl_device *dev, const pctl_call *call, pctl_device_caps *out)
{
	if (!dev || !out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "device_caps: a pointer is missing");
	*out = (pctl_device_caps){.head = PCTL_HEAD(pctl_device_caps),
				  .max_binding_bytes = PCTL_NULL_MAX_BYTES,
				  .max_buffer_bytes = PCTL_NULL_MAX_BYTES,
				  .binding_alignment = 16,
				  .max_groups = {1, 1, 1},
				  .max_local = {1, 1, 1},
				  .max_invocations = 1,
				  .max_bindings = 1};
	return PCTL_OK;
}

/* A backend that runs programs decodes the wire form here (pctl_program_decode), looks at its caps
 * and sizes, and answers for this program. "No" is an answer, not an error, and always says why. */
static pctl_status supports(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
			    uint64_t n, pctl_support *out)
{
	if (!dev || !out || (!wire && n))
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "supports: a pointer is missing");
	*out = (pctl_support){.head = PCTL_HEAD(pctl_support), .code = PC3215_KERNEL_REFUSED};
	snprintf(out->reason, sizeof(out->reason), "the null backend runs no programs");
	return PCTL_OK;
}

/* Here a backend lowers the program with its own code and hands out a pctl_kernel. */
static pctl_status kernel_build(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				uint64_t n, uint32_t flags, const void *cache, uint64_t cache_bytes,
				pctl_kernel **out)
{
	(void)flags;
	(void)cache; /* a stale or damaged cache is ignored, never trusted */
	(void)cache_bytes;
	if (!dev || !out || (!wire && n))
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "kernel_build: a pointer is missing");
	*out = NULL;
	return pctl_refuse(call, PC3215_KERNEL_REFUSED, "the null backend runs no programs");
}

static void kernel_destroy(pctl_device *dev, pctl_kernel *k)
{
	(void)dev;
	(void)k; /* kernel_build made none */
}

/* Optional slots (kernel_cache, findings, counts) stay NULL; all others must be filled. */
static const pctl_backend backend = {
	.head = PCTL_HEAD(pctl_backend),
	.devices = devices,
	.device_open = device_open,
	.device_close = device_close,
	.device_identity = device_identity,
	.device_caps = device_caps,
	.supports = supports,
	.buffer_create = pctl_null_buffer_create,
	.buffer_destroy = pctl_null_buffer_destroy,
	.buffer_write = pctl_null_buffer_write,
	.buffer_read = pctl_null_buffer_read,
	.kernel_build = kernel_build,
	.kernel_destroy = kernel_destroy,
	.list_begin = pctl_null_list_begin,
	.list_dispatch = pctl_null_list_dispatch,
	.list_dispatch_indirect = pctl_null_list_dispatch_indirect,
	.list_copy = pctl_null_list_copy,
	.list_fill = pctl_null_list_fill,
	.list_barrier = pctl_null_list_barrier,
	.list_timestamp = pctl_null_list_timestamp,
	.list_end = pctl_null_list_end,
	.list_destroy = pctl_null_list_destroy,
	.submit = pctl_null_submit,
	.wait = pctl_null_wait,
	.cancel = pctl_null_cancel,
};

/* No device work yet: open must be cheap and must not fail because a driver is missing. */
static pctl_status plugin_open(const pctl_host *host, const pctl_call *call, pctl_instance **out)
{
	if (!out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "open: a pointer is missing");
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return pctl_no_memory(call, "an instance");
	(*out)->host = host;
	return PCTL_OK;
}

static void plugin_close(pctl_instance *inst)
{
	free(inst);
}

static const void *plugin_interface(pctl_instance *inst, const char *name)
{
	return inst && name && strcmp(name, PCTL_BACKEND_INTERFACE) == 0 ? &backend : NULL;
}

PCTL_EXPORT const pctl_plugin pctl_plugin_v1 = {
	.head = PCTL_HEAD(pctl_plugin),
	.id = "null",
	.version = PIPECTL_VERSION,
	.build_flags = PCTL_BUILD_FLAGS,
	.open = plugin_open,
	.close = plugin_close,
	.interface = plugin_interface,
};
