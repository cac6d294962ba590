/* What a program asks against what the device has, before any driver work. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "vk.h"

static void __attribute__((format(printf, 3, 4)))
refuse(pctl_support *out, uint32_t code, const char *fmt, ...)
{
	va_list args;

	out->supported = 0;
	out->code = code;
	va_start(args, fmt);
	vsnprintf(out->reason, sizeof(out->reason), fmt, args);
	va_end(args);
}

static void check_caps(const pctl_device *dev, const pctl_program *p, pctl_support *out)
{
	const uint64_t missing = p->caps & ~dev->caps.caps;

	if (p->n_entries == 0 || (p->caps & PCTL_CAP_OVERRIDES))
		refuse(out, PC3212_KERNEL_UNSPECIALISED, "the program is not specialised");
	else if (missing & PCTL_CAP_I64)
		refuse(out, PC3210_KERNEL_CAPABILITY, "%s has no 64-bit integers",
		       dev->props.deviceName);
	else if (missing)
		refuse(out, PC3210_KERNEL_CAPABILITY,
		       "capabilities %#" PRIx64 " are not there through Vulkan on %s", missing,
		       dev->props.deviceName);
}

static void check_group(const pctl_device *dev, const pctl_program *p, pctl_support *out)
{
	const uint32_t *size = p->entries[0].workgroup_size;
	uint64_t n = 1;
	uint32_t i;

	for (i = 0; i < 3 && out->supported; i++) {
		if (size[i] > dev->caps.max_local[i])
			refuse(out, PC3211_KERNEL_LIMIT,
			       "workgroup size %u in dimension %u, %u is the most", size[i], i,
			       dev->caps.max_local[i]);
		n *= size[i];
	}
	if (out->supported && n > dev->caps.max_invocations)
		refuse(out, PC3211_KERNEL_LIMIT,
		       "%" PRIu64 " invocations a workgroup, %u is the most", n,
		       dev->caps.max_invocations);
}

static void check_vars(const pctl_device *dev, const pctl_program *p, pctl_support *out)
{
	const VkPhysicalDeviceLimits *l = &dev->props.limits;
	pctl_spv_interface face;
	uint64_t bytes = 0;
	uint32_t i, n[2] = {0, 0};

	for (i = 0; i < p->n_vars; i++)
		if (p->vars[i].space == PCTL_SPACE_WORKGROUP)
			bytes += (p->types[p->vars[i].type].size + 15u) / 16u * 16u;
	if (bytes > dev->caps.max_workgroup_bytes) {
		refuse(out, PC3211_KERNEL_LIMIT,
		       "%" PRIu64 " bytes of workgroup memory, %u is the most", bytes,
		       dev->caps.max_workgroup_bytes);
		return;
	}
	if (!pctl_spv_interface_get(p, &dev->spirv, &face) ||
	    face.n_bindings > dev->caps.max_bindings) {
		refuse(out, PC3211_KERNEL_LIMIT, "more bindings than %u", dev->caps.max_bindings);
		return;
	}
	for (i = 0; i < face.n_bindings; i++)
		n[face.bindings[i].uniform]++;
	if (n[0] > l->maxPerStageDescriptorStorageBuffers ||
	    n[1] > l->maxPerStageDescriptorUniformBuffers)
		refuse(out, PC3211_KERNEL_LIMIT,
		       "%u storage and %u uniform bindings, %u and %u are the most", n[0], n[1],
		       l->maxPerStageDescriptorStorageBuffers,
		       l->maxPerStageDescriptorUniformBuffers);
}

void pctl_vk_support(const pctl_device *dev, const pctl_program *p, pctl_support *out)
{
	*out = (pctl_support){.head = PCTL_HEAD(pctl_support), .supported = 1};
	check_caps(dev, p, out);
	if (out->supported)
		check_group(dev, p, out);
	if (out->supported)
		check_vars(dev, p, out);
	if (out->supported && pctl_spv_effort(p) > PCTL_SPV_MAX_EFFORT)
		refuse(out, PC3211_KERNEL_LIMIT,
		       "a value of the program has more parts than %u instructions can move",
		       PCTL_SPV_MAX_EFFORT);
}

pctl_status pctl_vk_supports(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
			     uint64_t n, pctl_support *out)
{
	pctl_program *p = NULL;
	pctl_status status;

	if (!out || !wire)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "supports: a pointer is NULL");
	*out = (pctl_support){.head = PCTL_HEAD(pctl_support)};
	status = pctl_program_decode(wire, n, call, &p);
	if (status == PCTL_OK)
		pctl_vk_support(dev, p, out);
	pctl_program_destroy(p);
	return status;
}
