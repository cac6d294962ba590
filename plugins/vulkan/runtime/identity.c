/* The facts that name a device in receipts and profile keys, and its limits for the host. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/vk.h"

typedef struct facts {
	pctl_key_value *at;
	uint32_t capacity;
	uint32_t n;
} facts;

static void __attribute__((format(printf, 3, 4)))
fact(facts *f, const char *key, const char *fmt, ...)
{
	va_list args;

	if (f->n < f->capacity) {
		memset(&f->at[f->n], 0, sizeof(f->at[f->n]));
		snprintf(f->at[f->n].key, sizeof(f->at[f->n].key), "%s", key);
		va_start(args, fmt);
		vsnprintf(f->at[f->n].value, sizeof(f->at[f->n].value), fmt, args);
		va_end(args);
	}
	f->n++;
}

static void uuid(facts *f, const char *key, const uint8_t bytes[VK_UUID_SIZE])
{
	char text[2 * VK_UUID_SIZE + 1];
	uint32_t i;

	for (i = 0; i < VK_UUID_SIZE; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	fact(f, key, "%s", text);
}

/* What decides how float programs are written for the device, so that a driver which changes its
 * promises becomes another device. Sets of widths are sums of 1 (f16), 2 (f32) and 4 (f64). */
static void float_facts(facts *f, const pctl_device *dev)
{
	const pctl_spv_controls *c = &dev->has.controls;

	fact(f, "float-types", "%s%s%s%s", "f32", dev->has.float64 ? " f64" : "",
	     dev->has.float16 ? " f16" : "", dev->has.storage16 ? " store16" : "");
	fact(f, "float-controls", "zero-inf-nan=%u subnormals=%u/%u nearest=%u/%u", c->signed_zero,
	     c->denormals, c->denormals_tied, c->nearest, c->nearest_tied);
	fact(f, "float-constants-hidden", "%u",
	     dev->spirv.opaque_constants ? PCTL_SPV_WIDTH(32) : dev->spirv.opaque_floats);
}

pctl_status pctl_vk_identity(pctl_device *dev, const pctl_call *call, uint32_t capacity,
			     pctl_key_value *out, uint32_t *n_out)
{
	facts f = {out, capacity, 0};
	const VkPhysicalDeviceProperties *p = &dev->props;

	if (!n_out || (capacity && !out))
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "device_identity: an out pointer is NULL");
	fact(&f, "vendor", "0x%04x", p->vendorID);
	fact(&f, "device", "0x%04x %s", p->deviceID, p->deviceName);
	fact(&f, "driver", "%s", dev->driver.driverName);
	fact(&f, "driver-version", "0x%08x", p->driverVersion);
	fact(&f, "compiler", "%s", dev->driver.driverInfo);
	uuid(&f, "uuid", dev->ids.deviceUUID);
	uuid(&f, "driver-uuid", dev->ids.driverUUID);
	fact(&f, "api", "Vulkan %u.%u.%u", VK_API_VERSION_MAJOR(p->apiVersion),
	     VK_API_VERSION_MINOR(p->apiVersion), VK_API_VERSION_PATCH(p->apiVersion));
	float_facts(&f, dev);
	*n_out = f.n;
	return PCTL_OK;
}

pctl_status pctl_vk_caps(pctl_device *dev, const pctl_call *call, pctl_device_caps *out)
{
	if (!out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "device_caps: out is NULL");
	*out = dev->caps;
	return PCTL_OK;
}
