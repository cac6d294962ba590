/* Command lists: one Vulkan command buffer each, recorded once and submitted as often as wanted. */
#include <inttypes.h>
#include <stdlib.h>

#include "runtime/vk.h"

void pctl_vk_barrier(VkCommandBuffer cmd, VkPipelineStageFlags from, VkPipelineStageFlags to)
{
	VkMemoryBarrier b = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER};

	if (from & VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT)
		b.srcAccessMask |= VK_ACCESS_SHADER_WRITE_BIT;
	if (from & VK_PIPELINE_STAGE_TRANSFER_BIT)
		b.srcAccessMask |= VK_ACCESS_TRANSFER_WRITE_BIT;
	if (to & VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT)
		b.dstAccessMask |= VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
				   VK_ACCESS_UNIFORM_READ_BIT;
	if (to & VK_PIPELINE_STAGE_TRANSFER_BIT)
		b.dstAccessMask |= VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
	if (to & VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT)
		b.dstAccessMask |= VK_ACCESS_INDIRECT_COMMAND_READ_BIT;
	if (to & VK_PIPELINE_STAGE_HOST_BIT)
		b.dstAccessMask |= VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT;
	vkCmdPipelineBarrier(cmd, from, to, 0, 1, &b, 0, NULL, 0, NULL);
}

pctl_status pctl_vk_list_open(const pctl_list *l, const pctl_call *call)
{
	if (!l)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "the list is NULL");
	if (l->state == PCTL_VK_LIST_RECORDING)
		return PCTL_OK;
	return pctl_refuse(call, PC3213_LIST_STATE, "the list is %s",
			   l->state == PCTL_VK_LIST_READY ? "closed" : "in error");
}

pctl_status pctl_vk_list_note(pctl_list *l, pctl_status status)
{
	if (status != PCTL_OK && l)
		l->state = PCTL_VK_LIST_BROKEN;
	return status;
}

/* ---- begin, end ---- */

static VkResult record_start(pctl_list *l)
{
	const VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
	};
	VkResult r = vkBeginCommandBuffer(l->start, &begin);

	if (r != VK_SUCCESS)
		return r;
	vkCmdResetQueryPool(l->start, l->queries, PCTL_VK_SLOTS, 1);
	vkCmdWriteTimestamp(l->start, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, l->queries, PCTL_VK_SLOTS);
	return vkEndCommandBuffer(l->start);
}

static VkResult open_list(pctl_list *l)
{
	pctl_device *dev = l->dev;
	const VkCommandBufferAllocateInfo cmd = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = dev->pool,
		.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
		.commandBufferCount = 1,
	};
	const VkQueryPoolCreateInfo queries = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
		.queryType = VK_QUERY_TYPE_TIMESTAMP,
		.queryCount = PCTL_VK_SLOTS + 2,
	};
	const VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
	};
	VkResult r = vkAllocateCommandBuffers(dev->vk, &cmd, &l->cmd);

	if (r == VK_SUCCESS && dev->timestamp_bits) {
		r = vkCreateQueryPool(dev->vk, &queries, NULL, &l->queries);
		if (r == VK_SUCCESS)
			r = vkAllocateCommandBuffers(dev->vk, &cmd, &l->start);
		if (r == VK_SUCCESS)
			r = record_start(l);
	}
	if (r == VK_SUCCESS)
		r = vkBeginCommandBuffer(l->cmd, &begin);
	return r;
}

pctl_status pctl_vk_list_begin(pctl_device *dev, const pctl_call *call, pctl_list **out)
{
	pctl_list *l;
	pctl_status status;
	VkResult r;

	if (!out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "list_begin: out is NULL");
	*out = NULL;
	l = calloc(1, sizeof(*l));
	if (!l)
		return pctl_no_memory(call, "a command list");
	l->dev = dev;
	r = open_list(l);
	if (r != VK_SUCCESS) {
		status = pctl_vk_fail(dev, call, r, "beginning a command list");
		pctl_vk_list_destroy(dev, l);
		return status;
	}
	*out = l;
	return PCTL_OK;
}

/* A query is reset each time the list runs, just before it is written. */
static void write_time(pctl_list *l, uint32_t query)
{
	if (!l->queries)
		return;
	vkCmdResetQueryPool(l->cmd, l->queries, query, 1);
	vkCmdWriteTimestamp(l->cmd, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, l->queries, query);
}

pctl_status pctl_vk_list_end(pctl_list *l, const pctl_call *call)
{
	pctl_status status = pctl_vk_list_open(l, call);
	VkResult r;

	if (status != PCTL_OK)
		return status;
	write_time(l, PCTL_VK_SLOTS + 1);
	r = vkEndCommandBuffer(l->cmd);
	if (r != VK_SUCCESS)
		status = pctl_vk_fail(l->dev, call, r, "vkEndCommandBuffer");
	status = pctl_vk_checked(l->dev->inst, call, status);
	if (status == PCTL_OK)
		l->state = PCTL_VK_LIST_READY;
	return pctl_vk_list_note(l, status);
}

void pctl_vk_list_destroy(pctl_device *dev, pctl_list *l)
{
	uint32_t i;

	if (!l)
		return;
	if (l->under_way && !dev->lost)
		vkQueueWaitIdle(dev->queue);
	if (l->cmd)
		vkFreeCommandBuffers(dev->vk, dev->pool, 1, &l->cmd);
	if (l->start)
		vkFreeCommandBuffers(dev->vk, dev->pool, 1, &l->start);
	if (l->queries)
		vkDestroyQueryPool(dev->vk, l->queries, NULL);
	for (i = 0; i < l->n_pools; i++)
		vkDestroyDescriptorPool(dev->vk, l->pools[i], NULL);
	for (i = 0; i < l->n_scratch; i++)
		pctl_vk_buffer_destroy(dev, l->scratch[i]);
	free(l->pools);
	free(l->scratch);
	free(l);
}

/* ---- commands ---- */

static pctl_status check_groups(const pctl_list *l, const pctl_call *call, const uint32_t groups[3])
{
	uint32_t i;

	for (i = 0; i < 3; i++)
		if (groups[i] > l->dev->caps.max_groups[i])
			return pctl_refuse(call, PC3209_GROUPS_LIMIT,
					   "%u workgroups in dimension %u, %s takes %" PRIu64,
					   groups[i], i, l->dev->props.deviceName,
					   l->dev->caps.max_groups[i]);
	return PCTL_OK;
}

pctl_status pctl_vk_list_dispatch(pctl_list *l, const pctl_call *call, pctl_kernel *k,
				  const pctl_binding *bindings, uint32_t n_bindings,
				  const uint32_t groups[3])
{
	pctl_status status = pctl_vk_list_open(l, call);

	if (status != PCTL_OK)
		return status;
	if (!groups)
		status =
			pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "list_dispatch: groups is NULL");
	else
		status = check_groups(l, call, groups);
	if (status == PCTL_OK)
		status = pctl_vk_bind(l, call, k, bindings, n_bindings);
	if (status == PCTL_OK && groups[0] && groups[1] && groups[2]) {
		pctl_vk_list_work(l, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
		vkCmdDispatch(l->cmd, groups[0], groups[1], groups[2]);
	}
	return pctl_vk_list_note(l, status);
}

pctl_status pctl_vk_list_dispatch_indirect(pctl_list *l, const pctl_call *call, pctl_kernel *k,
					   const pctl_binding *bindings, uint32_t n_bindings,
					   pctl_buffer *buf, uint64_t offset,
					   const uint32_t limit[3])
{
	pctl_status status = pctl_vk_list_open(l, call);
	VkDeviceSize at = 0;
	VkBuffer counts = VK_NULL_HANDLE;

	if (status != PCTL_OK)
		return status;
	status = pctl_vk_range_check(l->dev, call, buf, offset, 12, PCTL_BUFFER_INDIRECT,
				     "list_dispatch_indirect");
	if (status == PCTL_OK && offset % 4)
		status = pctl_refuse(call, PC3203_BACKEND_ALIGNMENT,
				     "indirect counts at %" PRIu64 ", not a multiple of 4", offset);
	if (status == PCTL_OK && !limit)
		status = pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				     "list_dispatch_indirect: limit is NULL");
	if (status == PCTL_OK)
		status = pctl_vk_clamp(l, call, buf, offset, limit, &counts, &at);
	if (status == PCTL_OK)
		status = pctl_vk_bind(l, call, k, bindings, n_bindings);
	if (status == PCTL_OK) {
		pctl_vk_list_work(l, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
		vkCmdDispatchIndirect(l->cmd, counts, at);
	}
	return pctl_vk_list_note(l, status);
}

static pctl_status words_only(const pctl_call *call, uint64_t a, uint64_t b, uint64_t c)
{
	if ((a | b | c) % 4 == 0)
		return PCTL_OK;
	return pctl_refuse(call, PC3203_BACKEND_ALIGNMENT,
			   "offsets %" PRIu64 " and %" PRIu64 ", size %" PRIu64
			   ": not all multiples of 4",
			   a, b, c);
}

pctl_status pctl_vk_list_copy(pctl_list *l, const pctl_call *call, pctl_buffer *from,
			      uint64_t from_offset, pctl_buffer *to, uint64_t to_offset,
			      uint64_t n_bytes)
{
	const VkBufferCopy copy = {from_offset, to_offset, n_bytes};
	pctl_status status = pctl_vk_list_open(l, call);

	if (status != PCTL_OK)
		return status;
	status = pctl_vk_range_check(l->dev, call, from, from_offset, n_bytes, PCTL_BUFFER_TRANSFER,
				     "list_copy source");
	if (status == PCTL_OK)
		status = pctl_vk_range_check(l->dev, call, to, to_offset, n_bytes,
					     PCTL_BUFFER_TRANSFER, "list_copy target");
	if (status == PCTL_OK)
		status = words_only(call, from_offset, to_offset, n_bytes);
	if (status == PCTL_OK && from == to && from_offset < to_offset + n_bytes &&
	    to_offset < from_offset + n_bytes)
		status = pctl_refuse(call, PC3202_BACKEND_RANGE,
				     "list_copy: source and target overlap");
	if (status == PCTL_OK && n_bytes) {
		pctl_vk_list_work(l, VK_PIPELINE_STAGE_TRANSFER_BIT);
		vkCmdCopyBuffer(l->cmd, from->vk, to->vk, 1, &copy);
	}
	return pctl_vk_list_note(l, status);
}

pctl_status pctl_vk_list_fill(pctl_list *l, const pctl_call *call, pctl_buffer *buf,
			      uint64_t offset, uint64_t n_bytes, uint32_t word)
{
	pctl_status status = pctl_vk_list_open(l, call);

	if (status != PCTL_OK)
		return status;
	status = pctl_vk_range_check(l->dev, call, buf, offset, n_bytes, PCTL_BUFFER_TRANSFER,
				     "list_fill");
	if (status == PCTL_OK)
		status = words_only(call, offset, 0, n_bytes);
	if (status == PCTL_OK && n_bytes) {
		pctl_vk_list_work(l, VK_PIPELINE_STAGE_TRANSFER_BIT);
		vkCmdFillBuffer(l->cmd, buf->vk, offset, n_bytes, word);
	}
	return pctl_vk_list_note(l, status);
}

/* A barrier costs microseconds, more for each kind of command it holds back. So it is recorded when
 * the first command of a kind comes that has to wait, and for that kind alone. */
void pctl_vk_list_work(pctl_list *l, VkPipelineStageFlags stage)
{
	uint32_t *owed = &l->owed[stage == VK_PIPELINE_STAGE_TRANSFER_BIT];

	if (*owed)
		pctl_vk_barrier(l->cmd, *owed, stage);
	*owed = 0;
	l->stages |= stage;
	l->all_stages |= stage;
}

pctl_status pctl_vk_list_barrier(pctl_list *l, const pctl_call *call)
{
	pctl_status status = pctl_vk_list_open(l, call);

	if (status == PCTL_OK) {
		l->owed[0] |= l->stages;
		l->owed[1] |= l->stages;
		l->stages = 0;
	}
	return status;
}

pctl_status pctl_vk_list_timestamp(pctl_list *l, const pctl_call *call, uint32_t slot)
{
	pctl_status status = pctl_vk_list_open(l, call);

	if (status != PCTL_OK)
		return status;
	if (slot >= PCTL_VK_SLOTS)
		status = pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				     "list_timestamp: slot %u, there are %u", slot, PCTL_VK_SLOTS);
	else if (l->slots >> slot & 1)
		status = pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				     "list_timestamp: slot %u is used twice", slot);
	if (status == PCTL_OK) {
		write_time(l, slot);
		l->slots |= 1ull << slot;
	}
	return pctl_vk_list_note(l, status);
}
