/* Opening and closing one device, and what a failed Vulkan call means. */
#include <stdlib.h>
#include <string.h>

#include "runtime/vk.h"

pctl_status pctl_vk_fail(pctl_device *dev, const pctl_call *call, VkResult r, const char *what)
{
	switch (r) {
	case VK_ERROR_DEVICE_LOST:
		dev->lost = 1;
		return pctl_refuse(call, PC3242_VULKAN_DEVICE_LOST, "%s: %s", what,
				   dev->props.deviceName);
	case VK_ERROR_OUT_OF_HOST_MEMORY:
		return pctl_refuse(call, PC2_NOMEM, "%s: the driver has no host memory", what);
	case VK_ERROR_OUT_OF_DEVICE_MEMORY:
	case VK_ERROR_TOO_MANY_OBJECTS:
		return pctl_refuse(call, PC3244_VULKAN_MEMORY, "%s on %s", what,
				   dev->props.deviceName);
	default:
		return pctl_refuse(call, PC3241_VULKAN_CALL, "%s gave %d on %s", what, (int)r,
				   dev->props.deviceName);
	}
}

/* A family for compute without graphics leaves the display's queue alone; else any with compute. */
static int find_family(pctl_device *dev)
{
	VkQueueFamilyProperties families[32];
	uint32_t n = 32, i, best = UINT32_MAX;

	vkGetPhysicalDeviceQueueFamilyProperties(dev->physical, &n, families);
	for (i = n; i-- > 0;) {
		if (!(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT))
			continue;
		if (best == UINT32_MAX || !(families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT) ||
		    (families[best].queueFlags & VK_QUEUE_GRAPHICS_BIT))
			best = i;
	}
	if (best == UINT32_MAX)
		return 0;
	dev->family = best;
	dev->timestamp_bits = families[best].timestampValidBits;
	return 1;
}

static pctl_status create_device(pctl_device *dev, const pctl_call *call)
{
	static const float priority = 1.0f;
	pctl_vk_feature_room room;
	const VkDeviceQueueCreateInfo queue = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
		.queueFamilyIndex = dev->family,
		.queueCount = 1,
		.pQueuePriorities = &priority,
	};
	VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
				   .queueCreateInfoCount = 1,
				   .pQueueCreateInfos = &queue};
	VkResult r;

	pctl_vk_features_enable(dev, &room);
	info.pNext = &room.core;
	info.enabledExtensionCount = room.n_extensions;
	info.ppEnabledExtensionNames = room.extensions;
	r = vkCreateDevice(dev->physical, &info, NULL, &dev->vk);
	if (r != VK_SUCCESS)
		return pctl_refuse(call, PC3243_VULKAN_DEVICE, "vkCreateDevice gave %d on %s",
				   (int)r, dev->props.deviceName);
	vkGetDeviceQueue(dev->vk, dev->family, 0, &dev->queue);
	return PCTL_OK;
}

static VkResult record_barrier(pctl_device *dev, VkPipelineStageFlags from, VkPipelineStageFlags to,
			       VkCommandBuffer *out)
{
	const VkCommandBufferAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = dev->pool,
		.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
		.commandBufferCount = 1,
	};
	const VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
	};
	VkResult r = vkAllocateCommandBuffers(dev->vk, &info, out);

	if (r == VK_SUCCESS)
		r = vkBeginCommandBuffer(*out, &begin);
	if (r != VK_SUCCESS)
		return r;
	pctl_vk_barrier(*out, from, to);
	return vkEndCommandBuffer(*out);
}

static pctl_status create_pool(pctl_device *dev, const pctl_call *call)
{
	const VkCommandPoolCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
		.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
		.queueFamilyIndex = dev->family,
	};
	const VkPipelineStageFlags work =
		VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
	VkResult r = vkCreateCommandPool(dev->vk, &info, NULL, &dev->pool);

	if (r == VK_SUCCESS)
		r = record_barrier(dev, work,
				   work | VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT |
					   VK_PIPELINE_STAGE_HOST_BIT,
				   &dev->around);
	if (r == VK_SUCCESS)
		r = record_barrier(dev, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
				   VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, &dev->between);
	return r == VK_SUCCESS ? PCTL_OK : pctl_vk_fail(dev, call, r, "making a command pool");
}

pctl_status pctl_vk_device_open(pctl_instance *inst, const pctl_call *call, uint32_t index,
				pctl_device **out)
{
	pctl_device *dev;
	pctl_status status;

	if (!out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "device_open: out is NULL");
	*out = NULL;
	status = pctl_vk_start(inst, call);
	if (status != PCTL_OK)
		return status;
	if (index >= inst->n_physical)
		return pctl_refuse(call, PC3231_DEVICE_UNKNOWN,
				   "vulkan has %u devices, %u was asked for", inst->n_physical,
				   index);
	dev = calloc(1, sizeof(*dev));
	if (!dev)
		return pctl_no_memory(call, "a device");
	dev->inst = inst;
	dev->physical = inst->physical[index];
	pthread_mutex_init(&dev->tickets_lock, NULL);
	pctl_vk_features_read(dev);
	if (!find_family(dev)) {
		status = pctl_refuse(call, PC3243_VULKAN_DEVICE, "%s has no compute queue",
				     dev->props.deviceName);
		goto out;
	}
	pctl_vk_caps_fill(dev);
	status = create_device(dev, call);
	if (status == PCTL_OK)
		status = create_pool(dev, call);
	if (status == PCTL_OK)
		status = pctl_vk_sync_open(dev, call);
	if (status == PCTL_OK)
		status = pctl_vk_buffer_create(
			dev, call, 256, PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM, &dev->dummy);
	status = pctl_vk_checked(inst, call, status);
out:
	if (status != PCTL_OK)
		pctl_vk_device_close(dev);
	else
		*out = dev;
	return status;
}

void pctl_vk_device_close(pctl_device *dev)
{
	if (!dev)
		return;
	if (dev->vk)
		vkDeviceWaitIdle(dev->vk);
	pctl_vk_tickets_close(dev);
	if (dev->vk) {
		pctl_vk_kernel_destroy(dev, dev->clamp);
		pctl_vk_buffer_destroy(dev, dev->dummy);
		pctl_vk_stage_close(dev);
		pctl_vk_memory_close(dev);
		pctl_vk_sync_close(dev);
		if (dev->pool)
			vkDestroyCommandPool(dev->vk, dev->pool, NULL);
		vkDestroyDevice(dev->vk, NULL);
	}
	pthread_mutex_destroy(&dev->tickets_lock);
	free(dev);
}
