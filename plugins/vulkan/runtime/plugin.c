/* The plugin's interface: open, close, and the table of the backend interface. */
#include <stdlib.h>
#include <string.h>

#include "runtime/vk.h"

static pctl_status open_instance(const pctl_host *host, const pctl_call *call, pctl_instance **out)
{
	pctl_instance *inst;
	const uint32_t *debug;

	if (!out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "open: out is NULL");
	*out = NULL;
	inst = calloc(1, sizeof(*inst));
	if (!inst)
		return pctl_no_memory(call, "the vulkan backend");
	inst->host = host;
	if (host && host->get_service) {
		debug = host->get_service(host->ctx, PCTL_SERVICE_DEBUG);
		inst->debug = debug && *debug;
		inst->cache_dir = host->get_service(host->ctx, PCTL_SERVICE_CACHE_DIR);
	}
	pctl_vk_messages_open(inst);
	*out = inst;
	return PCTL_OK;
}

static void close_instance(pctl_instance *inst)
{
	if (!inst)
		return;
	pctl_vk_stop(inst);
	pctl_vk_messages_close(inst);
	free(inst);
}

static const pctl_backend backend = {
	.head = PCTL_HEAD(pctl_backend),
	.devices = pctl_vk_devices,
	.device_open = pctl_vk_device_open,
	.device_close = pctl_vk_device_close,
	.device_identity = pctl_vk_identity,
	.device_caps = pctl_vk_caps,
	.supports = pctl_vk_supports,
	.buffer_create = pctl_vk_buffer_create,
	.buffer_destroy = pctl_vk_buffer_destroy,
	.buffer_write = pctl_vk_buffer_write,
	.buffer_read = pctl_vk_buffer_read,
	.kernel_build = pctl_vk_kernel_build,
	.kernel_cache = pctl_vk_kernel_cache,
	.kernel_source = pctl_vk_kernel_source,
	.kernel_destroy = pctl_vk_kernel_destroy,
	.list_begin = pctl_vk_list_begin,
	.list_dispatch = pctl_vk_list_dispatch,
	.list_dispatch_indirect = pctl_vk_list_dispatch_indirect,
	.list_copy = pctl_vk_list_copy,
	.list_fill = pctl_vk_list_fill,
	.list_barrier = pctl_vk_list_barrier,
	.list_timestamp = pctl_vk_list_timestamp,
	.list_end = pctl_vk_list_end,
	.list_destroy = pctl_vk_list_destroy,
	.submit = pctl_vk_submit,
	.wait = pctl_vk_wait,
	.cancel = pctl_vk_cancel,
	.findings = NULL,
	.counts = NULL,
};

static const void *get_interface(pctl_instance *inst, const char *name)
{
	(void)inst;
	return name && strcmp(name, PCTL_BACKEND_INTERFACE) == 0 ? &backend : NULL;
}

PCTL_EXPORT const pctl_plugin pctl_plugin_v1 = {
	.head = PCTL_HEAD(pctl_plugin),
	.id = "vulkan",
	.version = PIPECTL_VERSION,
	.build_flags = PCTL_BUILD_FLAGS,
	.open = open_instance,
	.close = close_instance,
	.interface = get_interface,
};
