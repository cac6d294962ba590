/* The queue as one rising number: each submit gets the next, and waiting for a number waits for all
 * up to it. A timeline semaphore counts where the device has them, fences otherwise. */
#include <stdlib.h>

#include "runtime/vk.h"

#define POLL_NS 50000000ull /* how often a wait looks at the caller's cancel test */

pctl_status pctl_vk_sync_open(pctl_device *dev, const pctl_call *call)
{
	const VkSemaphoreTypeCreateInfo type = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
		.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
	};
	const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
					    .pNext = &type};
	VkResult r;

	if (!dev->has.timeline)
		return PCTL_OK;
	dev->sync.wait = (PFN_vkWaitSemaphores)vkGetDeviceProcAddr(dev->vk, "vkWaitSemaphores");
	if (!dev->sync.wait)
		dev->sync.wait =
			(PFN_vkWaitSemaphores)vkGetDeviceProcAddr(dev->vk, "vkWaitSemaphoresKHR");
	if (!dev->sync.wait)
		return PCTL_OK;
	r = vkCreateSemaphore(dev->vk, &info, NULL, &dev->sync.timeline);
	return r == VK_SUCCESS ? PCTL_OK : pctl_vk_fail(dev, call, r, "vkCreateSemaphore");
}

void pctl_vk_sync_close(pctl_device *dev)
{
	uint32_t i;

	if (dev->sync.timeline)
		vkDestroySemaphore(dev->vk, dev->sync.timeline, NULL);
	for (i = 0; i < dev->sync.n_fences; i++)
		vkDestroyFence(dev->vk, dev->sync.fences[i].fence, NULL);
	free(dev->sync.fences);
	dev->sync = (pctl_vk_sync){0};
}

/* A fence that guards nothing, made when there is none. */
static pctl_status free_fence(pctl_device *dev, const pctl_call *call, pctl_vk_fence **out)
{
	const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
	pctl_vk_sync *s = &dev->sync;
	pctl_vk_fence *grown;
	VkResult r;
	uint32_t i;

	for (i = 0; i < s->n_fences; i++) {
		if (s->fences[i].value == 0 || s->fences[i].value <= s->reached) {
			*out = &s->fences[i];
			r = vkResetFences(dev->vk, 1, &(*out)->fence);
			return r == VK_SUCCESS ? PCTL_OK
					       : pctl_vk_fail(dev, call, r, "vkResetFences");
		}
	}
	grown = realloc(s->fences, (s->n_fences + 1u) * sizeof(*grown));
	if (!grown)
		return pctl_no_memory(call, "a fence");
	s->fences = grown;
	r = vkCreateFence(dev->vk, &info, NULL, &grown[s->n_fences].fence);
	if (r != VK_SUCCESS)
		return pctl_vk_fail(dev, call, r, "vkCreateFence");
	grown[s->n_fences].value = 0;
	*out = &grown[s->n_fences++];
	return PCTL_OK;
}

pctl_status pctl_vk_sync_submit(pctl_device *dev, const pctl_call *call,
				const VkCommandBuffer *cmds, uint32_t n, uint64_t *value)
{
	const uint64_t next = dev->sync.last + 1;
	const VkTimelineSemaphoreSubmitInfo timeline = {
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.signalSemaphoreValueCount = 1,
		.pSignalSemaphoreValues = &next,
	};
	VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
			     .commandBufferCount = n,
			     .pCommandBuffers = cmds};
	pctl_vk_fence *fence = NULL;
	pctl_status status;
	VkResult r;

	*value = 0;
	if (dev->sync.timeline) {
		info.pNext = &timeline;
		info.signalSemaphoreCount = 1;
		info.pSignalSemaphores = &dev->sync.timeline;
	} else {
		status = free_fence(dev, call, &fence);
		if (status != PCTL_OK)
			return status;
	}
	r = vkQueueSubmit(dev->queue, 1, &info, fence ? fence->fence : VK_NULL_HANDLE);
	if (r != VK_SUCCESS)
		return pctl_vk_fail(dev, call, r, "vkQueueSubmit");
	if (fence)
		fence->value = next;
	dev->sync.last = next;
	*value = next;
	return PCTL_OK;
}

static VkResult wait_once(pctl_device *dev, uint64_t value, uint64_t timeout_ns)
{
	pctl_vk_sync *s = &dev->sync;
	const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
					  .semaphoreCount = 1,
					  .pSemaphores = &s->timeline,
					  .pValues = &value};
	uint32_t i, first = UINT32_MAX;

	if (s->timeline)
		return s->wait(dev->vk, &info, timeout_ns);
	for (i = 0; i < s->n_fences; i++)
		if (s->fences[i].value >= value &&
		    (first == UINT32_MAX || s->fences[i].value < s->fences[first].value))
			first = i;
	if (first == UINT32_MAX)
		return VK_SUCCESS;
	return vkWaitForFences(dev->vk, 1, &s->fences[first].fence, VK_TRUE, timeout_ns);
}

pctl_status pctl_vk_sync_wait(pctl_device *dev, const pctl_call *call, uint64_t value,
			      uint64_t timeout_ns, int *done)
{
	VkResult r;

	*done = 1;
	if (value <= dev->sync.reached)
		return PCTL_OK;
	r = wait_once(dev, value, timeout_ns);
	if (r == VK_SUCCESS) {
		dev->sync.reached = value;
		return PCTL_OK;
	}
	*done = 0;
	return r == VK_TIMEOUT ? PCTL_OK : pctl_vk_fail(dev, call, r, "waiting for the device");
}

pctl_status pctl_vk_sync_finish(pctl_device *dev, const pctl_call *call, uint64_t value)
{
	pctl_status status = PCTL_OK;
	int done = 0;

	while (status == PCTL_OK && !done)
		status = pctl_vk_sync_wait(dev, call, value, POLL_NS, &done);
	return status;
}
