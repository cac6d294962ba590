/* See bare.h. One buffer for all inputs, one for all outputs, a descriptor set a dispatch, one command buffer. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vulkan/vulkan.h>

#include "bare.h"

/* spirv-as of the kernel with `x` at binding 0 and `y` at binding 1 of set 0, its work guarded by the length of y. */
static const uint32_t code[] = {
	0x07230203, 0x00010000, 0x00070000, 0x0000001d, 0x00000000, 0x00020011, 0x00000001,
	0x0003000e, 0x00000000, 0x00000001, 0x0006000f, 0x00000005, 0x00000001, 0x6e69616d,
	0x00000000, 0x00000002, 0x00060010, 0x00000001, 0x00000011, 0x00000040, 0x00000001,
	0x00000001, 0x00040047, 0x00000002, 0x0000000b, 0x0000001c, 0x00040047, 0x00000003,
	0x00000006, 0x00000004, 0x00050048, 0x00000004, 0x00000000, 0x00000023, 0x00000000,
	0x00030047, 0x00000004, 0x00000003, 0x00040047, 0x00000005, 0x00000022, 0x00000000,
	0x00040047, 0x00000005, 0x00000021, 0x00000000, 0x00040047, 0x00000006, 0x00000022,
	0x00000000, 0x00040047, 0x00000006, 0x00000021, 0x00000001, 0x00020013, 0x00000007,
	0x00030021, 0x00000008, 0x00000007, 0x00040015, 0x00000009, 0x00000020, 0x00000000,
	0x00040017, 0x0000000a, 0x00000009, 0x00000003, 0x00020014, 0x0000000b, 0x00040020,
	0x0000000c, 0x00000001, 0x0000000a, 0x0004003b, 0x0000000c, 0x00000002, 0x00000001,
	0x0003001d, 0x00000003, 0x00000009, 0x0003001e, 0x00000004, 0x00000003, 0x00040020,
	0x0000000d, 0x00000002, 0x00000004, 0x00040020, 0x0000000e, 0x00000002, 0x00000009,
	0x0004003b, 0x0000000d, 0x00000005, 0x00000002, 0x0004003b, 0x0000000d, 0x00000006,
	0x00000002, 0x0004002b, 0x00000009, 0x0000000f, 0x00000000, 0x0004002b, 0x00000009,
	0x00000010, 0x9e3779b1, 0x00050036, 0x00000007, 0x00000001, 0x00000000, 0x00000008,
	0x000200f8, 0x00000011, 0x0004003d, 0x0000000a, 0x00000012, 0x00000002, 0x00050051,
	0x00000009, 0x00000013, 0x00000012, 0x00000000, 0x00050044, 0x00000009, 0x00000014,
	0x00000006, 0x00000000, 0x000500b0, 0x0000000b, 0x00000015, 0x00000013, 0x00000014,
	0x000300f7, 0x00000016, 0x00000000, 0x000400fa, 0x00000015, 0x00000017, 0x00000016,
	0x000200f8, 0x00000017, 0x00060041, 0x0000000e, 0x00000018, 0x00000005, 0x0000000f,
	0x00000013, 0x0004003d, 0x00000009, 0x00000019, 0x00000018, 0x00050084, 0x00000009,
	0x0000001a, 0x00000019, 0x00000010, 0x00050080, 0x00000009, 0x0000001b, 0x0000001a,
	0x00000013, 0x00060041, 0x0000000e, 0x0000001c, 0x00000006, 0x0000000f, 0x00000013,
	0x0003003e, 0x0000001c, 0x0000001b, 0x000200f9, 0x00000016, 0x000200f8, 0x00000016,
	0x000100fd, 0x00010038,
};

typedef struct bare {
	VkInstance instance;
	VkPhysicalDevice physical;
	VkDevice device;
	VkQueue queue;
	VkCommandPool commands;
	VkShaderModule module;
	VkDescriptorSetLayout set_layout;
	VkPipelineLayout layout;
	VkPipeline pipeline;
	uint32_t family, memory;
} bare;

/* A mapped buffer. */
typedef struct block {
	VkBuffer buffer;
	VkDeviceMemory memory;
	void *at;
} block;

double bare_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int find(bare *b, const char *name)
{
	VkPhysicalDevice devices[16];
	VkPhysicalDeviceMemoryProperties memory;
	VkPhysicalDeviceProperties p;
	VkQueueFamilyProperties families[16];
	const VkMemoryPropertyFlags seen =
		VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
	uint32_t n = 16, n_families = 16;

	if (vkEnumeratePhysicalDevices(b->instance, &n, devices) < 0)
		return 0;
	for (uint32_t i = 0; i < n && b->physical == NULL; i++) {
		vkGetPhysicalDeviceProperties(devices[i], &p);
		if (strstr(name, p.deviceName) != NULL)
			b->physical = devices[i];
	}
	if (b->physical == NULL)
		return 0;
	vkGetPhysicalDeviceQueueFamilyProperties(b->physical, &n_families, families);
	while (b->family < n_families && !(families[b->family].queueFlags & VK_QUEUE_COMPUTE_BIT))
		b->family++;
	vkGetPhysicalDeviceMemoryProperties(b->physical, &memory);
	while (b->memory < memory.memoryTypeCount &&
	       (memory.memoryTypes[b->memory].propertyFlags & seen) != seen)
		b->memory++;
	return b->family < n_families && b->memory < memory.memoryTypeCount;
}

static VkResult open_device(bare *b)
{
	const float priority = 1;
	const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
					       .queueFamilyIndex = b->family,
					       .queueCount = 1,
					       .pQueuePriorities = &priority};
	const VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
					   .queueCreateInfoCount = 1,
					   .pQueueCreateInfos = &queue};
	const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
					      .queueFamilyIndex = b->family};
	VkResult r = vkCreateDevice(b->physical, &device, NULL, &b->device);

	if (r != VK_SUCCESS)
		return r;
	vkGetDeviceQueue(b->device, b->family, 0, &b->queue);
	return vkCreateCommandPool(b->device, &pool, NULL, &b->commands);
}

static VkResult make_pipeline(bare *b)
{
	const VkDescriptorSetLayoutBinding bindings[2] = {
		{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
		{1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL}};
	const VkDescriptorSetLayoutCreateInfo sets = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
		.bindingCount = 2,
		.pBindings = bindings};
	const VkPipelineLayoutCreateInfo layout = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
		.setLayoutCount = 1,
		.pSetLayouts = &b->set_layout};
	const VkShaderModuleCreateInfo module = {
		.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
		.codeSize = sizeof(code),
		.pCode = code};
	VkComputePipelineCreateInfo pipeline = {
		.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
		.stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
			  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
			  .pName = "main"}};
	VkResult r = vkCreateDescriptorSetLayout(b->device, &sets, NULL, &b->set_layout);

	if (r == VK_SUCCESS)
		r = vkCreatePipelineLayout(b->device, &layout, NULL, &b->layout);
	if (r == VK_SUCCESS)
		r = vkCreateShaderModule(b->device, &module, NULL, &b->module);
	pipeline.stage.module = b->module;
	pipeline.layout = b->layout;
	return r == VK_SUCCESS
		       ? vkCreateComputePipelines(b->device, NULL, 1, &pipeline, NULL, &b->pipeline)
		       : r;
}

static VkResult make_block(bare *b, uint64_t n_bytes, block *out)
{
	const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
					 .size = n_bytes,
					 .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
	VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
				       .memoryTypeIndex = b->memory};
	VkMemoryRequirements need;
	VkResult r = vkCreateBuffer(b->device, &info, NULL, &out->buffer);

	if (r != VK_SUCCESS)
		return r;
	vkGetBufferMemoryRequirements(b->device, out->buffer, &need);
	memory.allocationSize = need.size;
	r = vkAllocateMemory(b->device, &memory, NULL, &out->memory);
	if (r == VK_SUCCESS)
		r = vkBindBufferMemory(b->device, out->buffer, out->memory, 0);
	if (r == VK_SUCCESS)
		r = vkMapMemory(b->device, out->memory, 0, VK_WHOLE_SIZE, 0, &out->at);
	return r;
}

static void drop_block(bare *b, const block *k)
{
	vkDestroyBuffer(b->device, k->buffer, NULL);
	vkFreeMemory(b->device, k->memory, NULL);
}

static VkResult record(bare *b, VkCommandBuffer cmd, VkDescriptorPool pool, const block *x,
		       const block *y, uint32_t jobs)
{
	const VkDescriptorSetAllocateInfo sets = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
		.descriptorPool = pool,
		.descriptorSetCount = 1,
		.pSetLayouts = &b->set_layout};
	VkResult r = VK_SUCCESS;

	vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, b->pipeline);
	for (uint32_t i = 0; i < jobs && r == VK_SUCCESS; i++) {
		const VkDescriptorBufferInfo ranges[2] = {
			{x->buffer, (VkDeviceSize)i * BARE_BYTES, BARE_BYTES},
			{y->buffer, (VkDeviceSize)i * BARE_BYTES, BARE_BYTES}};
		VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
					      .descriptorCount = 2,
					      .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
					      .pBufferInfo = ranges};

		r = vkAllocateDescriptorSets(b->device, &sets, &write.dstSet);
		if (r != VK_SUCCESS)
			break;
		vkUpdateDescriptorSets(b->device, 1, &write, 0, NULL);
		vkCmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, b->layout, 0, 1,
					&write.dstSet, 0, NULL);
		vkCmdDispatch(cmd, 1, 1, 1);
	}
	return r;
}

static VkResult run_once(bare *b, const void *in, void *out, uint32_t jobs)
{
	const uint64_t n_bytes = (uint64_t)jobs * BARE_BYTES;
	const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2 * jobs};
	const VkDescriptorPoolCreateInfo pools = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
		.maxSets = jobs,
		.poolSizeCount = 1,
		.pPoolSizes = &size};
	const VkCommandBufferAllocateInfo allocate = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = b->commands,
		.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
		.commandBufferCount = 1};
	const VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
	VkDescriptorPool pool = VK_NULL_HANDLE;
	VkCommandBuffer cmd = VK_NULL_HANDLE;
	block x = {0}, y = {0};
	VkResult r = make_block(b, n_bytes, &x);

	if (r == VK_SUCCESS)
		r = make_block(b, n_bytes, &y);
	if (r == VK_SUCCESS)
		r = vkCreateDescriptorPool(b->device, &pools, NULL, &pool);
	if (r == VK_SUCCESS)
		r = vkAllocateCommandBuffers(b->device, &allocate, &cmd);
	if (r == VK_SUCCESS) {
		memcpy(x.at, in, n_bytes);
		memset(y.at, 0, n_bytes);
		r = vkBeginCommandBuffer(cmd, &begin);
	}
	if (r == VK_SUCCESS)
		r = record(b, cmd, pool, &x, &y, jobs);
	if (r == VK_SUCCESS)
		r = vkEndCommandBuffer(cmd);
	if (r == VK_SUCCESS) {
		const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
					     .commandBufferCount = 1,
					     .pCommandBuffers = &cmd};

		r = vkQueueSubmit(b->queue, 1, &submit, VK_NULL_HANDLE);
	}
	if (r == VK_SUCCESS)
		r = vkQueueWaitIdle(b->queue);
	if (r == VK_SUCCESS)
		memcpy(out, y.at, n_bytes);
	if (cmd != VK_NULL_HANDLE)
		vkFreeCommandBuffers(b->device, b->commands, 1, &cmd);
	vkDestroyDescriptorPool(b->device, pool, NULL);
	drop_block(b, &x);
	drop_block(b, &y);
	return r;
}

static void drop(bare *b)
{
	if (b->device != NULL) {
		vkDestroyPipeline(b->device, b->pipeline, NULL);
		vkDestroyShaderModule(b->device, b->module, NULL);
		vkDestroyPipelineLayout(b->device, b->layout, NULL);
		vkDestroyDescriptorSetLayout(b->device, b->set_layout, NULL);
		vkDestroyCommandPool(b->device, b->commands, NULL);
		vkDestroyDevice(b->device, NULL);
	}
	vkDestroyInstance(b->instance, NULL);
}

int bare_vulkan(const char *name, const void *in, void *out, uint32_t jobs, uint32_t tries,
		double *seconds)
{
	const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
	bare b = {0};
	VkResult r = vkCreateInstance(&info, NULL, &b.instance);

	if (r != VK_SUCCESS)
		return 0;
	r = find(&b, name) ? open_device(&b) : VK_ERROR_INITIALIZATION_FAILED;
	if (r == VK_SUCCESS)
		r = make_pipeline(&b);
	for (uint32_t i = 0; i < tries && r == VK_SUCCESS; i++) {
		const double began = bare_now();

		r = run_once(&b, in, out, jobs);
		seconds[i] = bare_now() - began;
	}
	drop(&b);
	return r == VK_SUCCESS;
}
