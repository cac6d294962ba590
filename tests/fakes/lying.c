/* Fault: the reference under another name, whose compiler does to one whole kernel what it does not do to single
 * operations: where a variable is called planted_lie, results come out with a bit changed. The probe finds nothing. */
#include "under_name.h"

static int lies;

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

static void change(const pctl_host *host)
{
	(void)host;
	table.kernel_build = kernel_build;
	table.buffer_read = buffer_read;
}

PCTL_EXPORT const pctl_plugin pctl_plugin_v1 = {.head = PCTL_HEAD(pctl_plugin),
						.id = "lying",
						.version = "1.0",
						.build_flags = PCTL_BUILD_FLAGS,
						.open = plugin_open,
						.close = plugin_close,
						.interface = plugin_interface};
