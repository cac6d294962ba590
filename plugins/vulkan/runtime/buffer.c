/* Buffers: every one has all usages of Vulkan and starts as zero. Its declared usage is checked
 * here, so that a program of calls valid on this backend is valid on others. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/vk.h"

#define ALL_USAGE \
	(PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM | PCTL_BUFFER_TRANSFER | PCTL_BUFFER_INDIRECT)

pctl_status pctl_vk_range_check(pctl_device *dev, const pctl_call *call, const pctl_buffer *buf,
				uint64_t offset, uint64_t n_bytes, uint32_t usage, const char *what)
{
	if (!buf || buf->dev != dev)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "%s: the buffer is %s", what,
				   buf ? "another device's" : "NULL");
	if (offset > buf->n_bytes || n_bytes > buf->n_bytes - offset)
		return pctl_refuse(call, PC3202_BACKEND_RANGE,
				   "%s: %" PRIu64 " bytes at %" PRIu64 " of a buffer of %" PRIu64,
				   what, n_bytes, offset, buf->n_bytes);
	if ((buf->usage & usage) != usage)
		return pctl_refuse(call, PC3207_BUFFER_USAGE,
				   "%s: usage %#x is needed, the buffer has %#x", what, usage,
				   buf->usage);
	return PCTL_OK;
}

static pctl_status make(pctl_device *dev, const pctl_call *call, pctl_buffer *buf)
{
	const VkBufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
		.size = (buf->n_bytes + 3) / 4 * 4,
		.usage = PCTL_VK_BUFFER_USAGE,
	};
	VkMemoryRequirements need;
	pctl_status status;
	VkResult r = vkCreateBuffer(dev->vk, &info, NULL, &buf->vk);

	if (r != VK_SUCCESS)
		return pctl_vk_fail(dev, call, r, "vkCreateBuffer");
	vkGetBufferMemoryRequirements(dev->vk, buf->vk, &need);
	status = pctl_vk_memory_take(dev, call, PCTL_VK_MEMORY_DEVICE, &need, &buf->memory);
	if (status != PCTL_OK)
		return status;
	r = vkBindBufferMemory(dev->vk, buf->vk, buf->memory.handle, buf->memory.offset);
	if (r != VK_SUCCESS)
		return pctl_vk_fail(dev, call, r, "vkBindBufferMemory");
	if (buf->memory.map) {
		memset(buf->memory.map, 0, info.size);
		return PCTL_OK;
	}
	return pctl_vk_stage_clear(dev, call, buf->vk);
}

pctl_status pctl_vk_buffer_create(pctl_device *dev, const pctl_call *call, uint64_t n_bytes,
				  uint32_t usage, pctl_buffer **out)
{
	pctl_buffer *buf;
	pctl_status status = PCTL_OK;

	if (!out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "buffer_create: out is NULL");
	*out = NULL;
	if (usage & ~ALL_USAGE)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "buffer_create: unknown usage bits %#x", usage & ~ALL_USAGE);
	if (n_bytes > dev->caps.max_buffer_bytes)
		return pctl_refuse(call, PC3208_BUFFER_LIMIT,
				   "%" PRIu64 " bytes asked, %s takes %" PRIu64, n_bytes,
				   dev->props.deviceName, dev->caps.max_buffer_bytes);
	buf = calloc(1, sizeof(*buf));
	if (!buf)
		return pctl_no_memory(call, "a buffer");
	buf->dev = dev;
	buf->n_bytes = n_bytes;
	buf->usage = usage;
	if (n_bytes)
		status = make(dev, call, buf);
	status = pctl_vk_checked(dev->inst, call, status);
	if (status != PCTL_OK)
		pctl_vk_buffer_destroy(dev, buf);
	else
		*out = buf;
	return status;
}

/* A clear may still be under way where the host cannot see the memory. */
void pctl_vk_buffer_destroy(pctl_device *dev, pctl_buffer *buf)
{
	if (!buf)
		return;
	if (buf->vk && !buf->memory.map && !dev->lost)
		pctl_vk_sync_finish(dev, NULL, dev->sync.last);
	if (buf->vk)
		vkDestroyBuffer(dev->vk, buf->vk, NULL);
	pctl_vk_memory_give(dev, &buf->memory);
	free(buf);
}

pctl_status pctl_vk_buffer_write(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				 uint64_t offset, const void *data, uint64_t n_bytes)
{
	pctl_status status = pctl_vk_range_check(dev, call, buf, offset, n_bytes,
						 PCTL_BUFFER_TRANSFER, "buffer_write");

	if (status != PCTL_OK || n_bytes == 0)
		return status;
	if (!data)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "buffer_write: data is NULL");
	if (buf->memory.map)
		memcpy(buf->memory.map + offset, data, n_bytes);
	else
		status = pctl_vk_stage_write(dev, call, buf->vk, offset, data, n_bytes);
	return pctl_vk_checked(dev->inst, call, status);
}

pctl_status pctl_vk_buffer_read(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				uint64_t offset, void *data, uint64_t n_bytes)
{
	pctl_status status = pctl_vk_range_check(dev, call, buf, offset, n_bytes,
						 PCTL_BUFFER_TRANSFER, "buffer_read");

	if (status != PCTL_OK || n_bytes == 0)
		return status;
	if (!data)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "buffer_read: data is NULL");
	/* Its memory may well be mapped still, and holds whatever it holds. */
	if (dev->lost)
		return pctl_vk_fail(dev, call, VK_ERROR_DEVICE_LOST, "reading a lost device");
	if (buf->memory.map)
		memcpy(data, buf->memory.map + offset, n_bytes);
	else
		status = pctl_vk_stage_read(dev, call, buf->vk, offset, data, n_bytes);
	return pctl_vk_checked(dev->inst, call, status);
}
