/* The way in and out of memory the host cannot see: two stages take turns, so that the host copies
 * one while the device copies the other. */
#include <string.h>

#include "runtime/vk.h"

static pctl_status open_stage(pctl_device *dev, const pctl_call *call, pctl_vk_stage *s)
{
	const VkBufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
		.size = PCTL_VK_STAGE_BYTES,
		.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
	};
	const VkCommandBufferAllocateInfo cmd = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = dev->pool,
		.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
		.commandBufferCount = 1,
	};
	VkMemoryRequirements need;
	pctl_status status;
	VkResult r;

	if (s->buffer)
		return PCTL_OK;
	r = vkAllocateCommandBuffers(dev->vk, &cmd, &s->cmd);
	if (r == VK_SUCCESS)
		r = vkCreateBuffer(dev->vk, &info, NULL, &s->buffer);
	if (r != VK_SUCCESS)
		return pctl_vk_fail(dev, call, r, "making a staging buffer");
	vkGetBufferMemoryRequirements(dev->vk, s->buffer, &need);
	status = pctl_vk_memory_take(dev, call, PCTL_VK_MEMORY_HOST, &need, &s->memory);
	if (status == PCTL_OK) {
		r = vkBindBufferMemory(dev->vk, s->buffer, s->memory.handle, s->memory.offset);
		if (r != VK_SUCCESS)
			status = pctl_vk_fail(dev, call, r, "vkBindBufferMemory");
	}
	if (status != PCTL_OK) {
		vkDestroyBuffer(dev->vk, s->buffer, NULL);
		pctl_vk_memory_give(dev, &s->memory);
		s->buffer = VK_NULL_HANDLE;
	}
	return status;
}

void pctl_vk_stage_close(pctl_device *dev)
{
	uint32_t i;

	for (i = 0; i < 2; i++) {
		if (dev->stages[i].buffer)
			vkDestroyBuffer(dev->vk, dev->stages[i].buffer, NULL);
		pctl_vk_memory_give(dev, &dev->stages[i].memory);
		dev->stages[i] = (pctl_vk_stage){0};
	}
}

/* Wait until the stage is free and start recording in it. */
static pctl_status begin(pctl_device *dev, const pctl_call *call, pctl_vk_stage *s)
{
	const VkCommandBufferBeginInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
	};
	pctl_status status = open_stage(dev, call, s);
	VkResult r;

	if (status == PCTL_OK)
		status = pctl_vk_sync_finish(dev, call, s->value);
	if (status != PCTL_OK)
		return status;
	r = vkBeginCommandBuffer(s->cmd, &info);
	return r == VK_SUCCESS ? PCTL_OK : pctl_vk_fail(dev, call, r, "vkBeginCommandBuffer");
}

static pctl_status end(pctl_device *dev, const pctl_call *call, pctl_vk_stage *s)
{
	const VkCommandBuffer cmds[3] = {dev->around, s->cmd, dev->around};
	const VkResult r = vkEndCommandBuffer(s->cmd);

	if (r != VK_SUCCESS)
		return pctl_vk_fail(dev, call, r, "vkEndCommandBuffer");
	return pctl_vk_sync_submit(dev, call, cmds, 3, &s->value);
}

static uint64_t piece(uint64_t done, uint64_t n_bytes)
{
	return n_bytes - done < PCTL_VK_STAGE_BYTES ? n_bytes - done : PCTL_VK_STAGE_BYTES;
}

pctl_status pctl_vk_stage_write(pctl_device *dev, const pctl_call *call, VkBuffer to,
				uint64_t offset, const uint8_t *data, uint64_t n_bytes)
{
	pctl_status status = PCTL_OK;
	uint64_t done;
	uint32_t turn = 0;

	for (done = 0; done < n_bytes && status == PCTL_OK; turn ^= 1) {
		pctl_vk_stage *s = &dev->stages[turn];
		const VkBufferCopy copy = {0, offset + done, piece(done, n_bytes)};

		if (pctl_is_cancelled(call))
			return pctl_refuse(call, PC4_CANCELLED, "a transfer to %s was stopped",
					   dev->props.deviceName);
		status = begin(dev, call, s);
		if (status != PCTL_OK)
			break;
		memcpy(s->memory.map, data + done, copy.size);
		vkCmdCopyBuffer(s->cmd, s->buffer, to, 1, &copy);
		status = end(dev, call, s);
		done += copy.size;
	}
	return status;
}

static pctl_status fetch(pctl_device *dev, const pctl_call *call, pctl_vk_stage *s, VkBuffer from,
			 uint64_t offset, uint64_t n_bytes)
{
	const VkBufferCopy copy = {offset, 0, n_bytes};
	pctl_status status = begin(dev, call, s);

	if (status != PCTL_OK)
		return status;
	vkCmdCopyBuffer(s->cmd, from, s->buffer, 1, &copy);
	return end(dev, call, s);
}

pctl_status pctl_vk_stage_read(pctl_device *dev, const pctl_call *call, VkBuffer from,
			       uint64_t offset, uint8_t *data, uint64_t n_bytes)
{
	pctl_status status;
	uint64_t done, asked = 0, n;
	uint32_t turn = 0;

	status = fetch(dev, call, &dev->stages[0], from, offset, piece(0, n_bytes));
	asked = piece(0, n_bytes);
	for (done = 0; done < n_bytes && status == PCTL_OK; turn ^= 1) {
		pctl_vk_stage *s = &dev->stages[turn];

		if (pctl_is_cancelled(call))
			return pctl_refuse(call, PC4_CANCELLED, "a transfer from %s was stopped",
					   dev->props.deviceName);
		if (asked < n_bytes) {
			n = piece(asked, n_bytes);
			status = fetch(dev, call, &dev->stages[turn ^ 1], from, offset + asked, n);
			asked += n;
		}
		if (status == PCTL_OK)
			status = pctl_vk_sync_finish(dev, call, s->value);
		if (status == PCTL_OK) {
			n = piece(done, n_bytes);
			memcpy(data + done, s->memory.map, n);
			done += n;
		}
	}
	return status;
}

pctl_status pctl_vk_stage_clear(pctl_device *dev, const pctl_call *call, VkBuffer buffer)
{
	pctl_vk_stage *s = &dev->stages[0];
	pctl_status status = begin(dev, call, s);

	if (status != PCTL_OK)
		return status;
	vkCmdFillBuffer(s->cmd, buffer, 0, VK_WHOLE_SIZE, 0);
	return end(dev, call, s);
}
