/* Fault: the reference under another name, whose compiler does to one whole kernel what it does not do to single
 * operations: where a variable is called planted_lie, results come out with a bit changed. The probe finds nothing. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "pipectl/backend.h"

static pctl_backend table;
static const pctl_backend *honest;
static pctl_instance *inner;
static int lies;

static pctl_status devices(pctl_instance *inst, const pctl_call *call, uint32_t capacity,
			   pctl_device_info *out, uint32_t *n_out)
{
	const pctl_status status = honest->devices(inst, call, capacity, out, n_out);

	for (uint32_t i = 0; status == PCTL_OK && i < capacity && i < *n_out; i++) {
		out[i].kind = PCTL_DEVICE_CPU;
		snprintf(out[i].name, sizeof(out[i].name), "a liar");
	}
	return status;
}

static pctl_status device_caps(pctl_device *dev, const pctl_call *call, pctl_device_caps *out)
{
	const pctl_status status = honest->device_caps(dev, call, out);

	out->caps |= PCTL_CAP_NATIVE_FLOAT | PCTL_CAP_F32;
	out->caps &= ~(PCTL_CAP_STRICT_FLOAT | PCTL_CAP_BF16);
	return status;
}

static int has_marker(const uint8_t *wire, uint64_t n)
{
	static const char marker[] = "planted_lie";

	for (uint64_t i = 0; i + sizeof(marker) - 1 <= n; i++)
		if (memcmp(wire + i, marker, sizeof(marker) - 1) == 0)
			return 1;
	return 0;
}

static pctl_status kernel_build(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				uint64_t n, uint32_t flags, const void *cached, uint64_t n_cached,
				pctl_kernel **out)
{
	lies = has_marker(wire, n);
	return honest->kernel_build(dev, call, wire, n, flags, cached, n_cached, out);
}

static pctl_status buffer_read(pctl_device *dev, const pctl_call *call, pctl_buffer *b,
			       uint64_t offset, void *data, uint64_t n)
{
	const pctl_status status = honest->buffer_read(dev, call, b, offset, data, n);

	if (status == PCTL_OK && lies && n > 0)
		((uint8_t *)data)[0] ^= 1;
	return status;
}

static pctl_status plugin_open(const pctl_host *host, const pctl_call *call, pctl_instance **out)
{
	void *library = dlopen(LYING_CPU, RTLD_NOW | RTLD_LOCAL);
	const pctl_plugin *cpu = library == NULL ? NULL : dlsym(library, PCTL_PLUGIN_SYMBOL);
	pctl_status status;

	*out = NULL;
	if (cpu == NULL)
		return PCTL_E_NOT_FOUND;
	status = cpu->open(host, call, &inner);
	if (status != PCTL_OK)
		return status;
	honest = cpu->interface(inner, PCTL_BACKEND_INTERFACE);
	memcpy(&table, honest, sizeof(table));
	table.devices = devices;
	table.device_caps = device_caps;
	table.kernel_build = kernel_build;
	table.buffer_read = buffer_read;
	table.kernel_cache = NULL;
	*out = inner;
	return PCTL_OK;
}

static void plugin_close(pctl_instance *inst)
{
	(void)inst; /* the process ends */
}

static const void *plugin_interface(pctl_instance *inst, const char *name)
{
	(void)inst;
	return strcmp(name, PCTL_BACKEND_INTERFACE) != 0 ? NULL : (const void *)&table;
}

PCTL_EXPORT const pctl_plugin pctl_plugin_v1 = {.head = PCTL_HEAD(pctl_plugin),
						.id = "lying",
						.version = "1.0",
						.build_flags = PCTL_BUILD_FLAGS,
						.open = plugin_open,
						.close = plugin_close,
						.interface = plugin_interface};
