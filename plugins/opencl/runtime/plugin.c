/* The plugin's one symbol: an instance per open, and the backend table. */
#include "runtime/opencl.h"

#include <string.h>

static pctl_status opencl_open(const pctl_host *host, const pctl_call *call, pctl_instance **out)
{
	pctl_instance *inst = host->alloc(host->ctx, sizeof(*inst));

	*out = NULL;
	if (!inst)
		return pctl_refuse(call, PC2_NOMEM, "opencl: opening the plugin");
	*inst = (pctl_instance){.host = host};
	*out = inst;
	return PCTL_OK;
}

static void opencl_close(pctl_instance *inst)
{
	const pctl_host *host = inst->host;

	host->release(host->ctx, inst);
}

static const pctl_backend backend = {
	.head = PCTL_HEAD(pctl_backend),
	.devices = opencl_devices,
	.device_open = opencl_device_open,
	.device_close = opencl_device_close,
	.device_identity = opencl_device_identity,
	.device_caps = opencl_device_caps,
	.supports = opencl_supports,
	.buffer_create = opencl_buffer_create,
	.buffer_destroy = opencl_buffer_destroy,
	.buffer_write = opencl_buffer_write,
	.buffer_read = opencl_buffer_read,
	.kernel_build = opencl_kernel_build,
	.kernel_cache = opencl_kernel_cache,
	.kernel_source = opencl_kernel_source,
	.kernel_destroy = opencl_kernel_destroy,
	.list_begin = opencl_list_begin,
	.list_dispatch = opencl_list_dispatch,
	.list_dispatch_indirect = opencl_list_dispatch_indirect,
	.list_copy = opencl_list_copy,
	.list_fill = opencl_list_fill,
	.list_barrier = opencl_list_barrier,
	.list_timestamp = opencl_list_timestamp,
	.list_end = opencl_list_end,
	.list_destroy = opencl_list_destroy,
	.submit = opencl_submit,
	.wait = opencl_wait,
	.cancel = opencl_cancel,
};

static const void *opencl_interface(pctl_instance *inst, const char *name)
{
	(void)inst;
	return strcmp(name, PCTL_BACKEND_INTERFACE) == 0 ? &backend : NULL;
}

PCTL_EXPORT const pctl_plugin pctl_plugin_v1 = {
	.head = PCTL_HEAD(pctl_plugin),
	.id = "opencl",
	.version = PIPECTL_VERSION,
	.build_flags = PCTL_BUILD_FLAGS,
	.open = opencl_open,
	.close = opencl_close,
	.interface = opencl_interface,
};
