/* What a physical device offers, read once, and the limits that follow from it. */
#include <string.h>

#include "runtime/vk.h"

static int has_extension(VkPhysicalDevice device, const char *name)
{
	VkExtensionProperties *list;
	uint32_t n = 0, i;
	int found = 0;

	if (vkEnumerateDeviceExtensionProperties(device, NULL, &n, NULL) != VK_SUCCESS || n == 0)
		return 0;
	list = calloc(n, sizeof(*list));
	if (list && vkEnumerateDeviceExtensionProperties(device, NULL, &n, list) >= VK_SUCCESS)
		for (i = 0; i < n && !found; i++)
			found = strcmp(list[i].extensionName, name) == 0;
	free(list);
	return found;
}

static int has_controls(const pctl_device *dev)
{
	return dev->props.apiVersion >= VK_API_VERSION_1_2 ||
	       has_extension(dev->physical, VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME);
}

static uint32_t widths(VkBool32 on16, VkBool32 on32, VkBool32 on64)
{
	return (on16 ? PCTL_SPV_WIDTH(16) : 0u) | (on32 ? PCTL_SPV_WIDTH(32) : 0u) |
	       (on64 ? PCTL_SPV_WIDTH(64) : 0u);
}

static void note_controls(pctl_device *dev, const VkPhysicalDeviceFloatControlsProperties *c)
{
	dev->has.controls = (pctl_spv_controls){
		.signed_zero = widths(c->shaderSignedZeroInfNanPreserveFloat16,
				      c->shaderSignedZeroInfNanPreserveFloat32,
				      c->shaderSignedZeroInfNanPreserveFloat64),
		.denormals = widths(c->shaderDenormPreserveFloat16, c->shaderDenormPreserveFloat32,
				    c->shaderDenormPreserveFloat64),
		.nearest = widths(c->shaderRoundingModeRTEFloat16, c->shaderRoundingModeRTEFloat32,
				  c->shaderRoundingModeRTEFloat64),
		.denormals_tied = (uint32_t)c->denormBehaviorIndependence,
		.nearest_tied = (uint32_t)c->roundingModeIndependence,
	};
}

static int has_size_control(const pctl_device *dev)
{
	return dev->props.apiVersion >= VK_API_VERSION_1_3 ||
	       has_extension(dev->physical, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
}

/* Workgroups with subgroups are laid out in one dimension (spirv/subgroup.c), so the first must take all of them. A device of
 * several sizes must be asked for one, which may limit how many of them a workgroup has. */
static void note_subgroups(pctl_device *dev, const VkPhysicalDeviceSubgroupProperties *p,
			   const VkPhysicalDeviceSubgroupSizeControlProperties *sizes)
{
	const VkPhysicalDeviceLimits *l = &dev->props.limits;
	const VkSubgroupFeatureFlags all =
		VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_VOTE_BIT |
		VK_SUBGROUP_FEATURE_ARITHMETIC_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT |
		VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
	const uint32_t n = p->subgroupSize;

	dev->has.required_size = sizes->minSubgroupSize != sizes->maxSubgroupSize;
	dev->has.subgroups = (p->supportedOperations & all) == all &&
			     (p->supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
			     n >= PCTL_SUBGROUP_SIZE_MIN && n <= PCTL_SUBGROUP_SIZE_MAX &&
			     (n & (n - 1)) == 0 && n >= sizes->minSubgroupSize &&
			     n <= sizes->maxSubgroupSize &&
			     l->maxComputeWorkGroupSize[0] >= l->maxComputeWorkGroupInvocations &&
			     (!dev->has.required_size ||
			      ((sizes->requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
			       (uint64_t)sizes->maxComputeWorkgroupSubgroups * n >=
				       l->maxComputeWorkGroupInvocations));
}

/* Products of matrix tiles among the shapes that the device names for subgroups. Sums must not saturate; none that are asked for
 * do. */
static uint32_t find_tiles(const pctl_device *dev)
{
	const coopmat_get_properties get = (coopmat_get_properties)vkGetInstanceProcAddr(
		dev->inst->vk, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
	coopmat_properties *list;
	uint32_t n = 0, i, found = 0;

	if (!get || get(dev->physical, &n, NULL) != VK_SUCCESS || n == 0)
		return 0;
	list = calloc(n, sizeof(*list));
	for (i = 0; list && i < n; i++)
		list[i].sType = COOPMAT_STRUCTURE_PROPERTIES;
	if (list && get(dev->physical, &n, list) >= VK_SUCCESS) {
		for (i = 0; i < n; i++) {
			const coopmat_properties *p = &list[i];
			const int is_signed = p->AType == COOPMAT_COMPONENT_SINT8;
			const uint32_t byte =
				is_signed ? COOPMAT_COMPONENT_SINT8 : COOPMAT_COMPONENT_UINT8;
			const uint32_t word =
				is_signed ? COOPMAT_COMPONENT_SINT32 : COOPMAT_COMPONENT_UINT32;

			if (p->scope == COOPMAT_SCOPE_SUBGROUP && p->AType == byte &&
			    p->BType == byte && p->CType == word && p->ResultType == word &&
			    !p->saturatingAccumulation && (p->MSize == 8 || p->MSize == 16) &&
			    (p->NSize == 8 || p->NSize == 16) && (p->KSize == 16 || p->KSize == 32))
				found |= pctl_vk_tile_bit(p->MSize, p->NSize, p->KSize, is_signed);
		}
	}
	free(list);
	return found;
}

/* Extension structures may only be chained where the version or the extension is there. */
static void read_properties(pctl_device *dev)
{
	VkPhysicalDeviceSubgroupProperties subgroup = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
	VkPhysicalDeviceSubgroupSizeControlProperties sizes = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
	VkPhysicalDeviceMaintenance3Properties more = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES,
		.pNext = &subgroup};
	VkPhysicalDeviceMaintenance4Properties size = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES,
	};
	VkPhysicalDeviceFloatControlsProperties controls = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES,
		.pNext = &subgroup,
	};
	VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
					   .pNext = &dev->ids};

	dev->driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
	dev->ids.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
	dev->ids.pNext = &more;
	if (has_controls(dev))
		more.pNext = &controls;
	if (dev->props.apiVersion >= VK_API_VERSION_1_2)
		subgroup.pNext = &dev->driver;
	if (dev->props.apiVersion >= VK_API_VERSION_1_3)
		dev->driver.pNext = &size;
	if (has_size_control(dev)) {
		sizes.pNext = all.pNext;
		all.pNext = &sizes;
	}
	vkGetPhysicalDeviceProperties2(dev->physical, &all);
	dev->ids.pNext = NULL;
	dev->driver.pNext = NULL;
	note_controls(dev, &controls);
	dev->subgroup_size = subgroup.subgroupSize;
	note_subgroups(dev, &subgroup, &sizes);
	dev->max_allocation = more.maxMemoryAllocationSize;
	if (size.maxBufferSize && size.maxBufferSize < dev->max_allocation)
		dev->max_allocation = size.maxBufferSize;
}

/* The same structures serve asking and enabling. */
static void chain(pctl_device *dev, pctl_vk_feature_room *room)
{
	const uint32_t api = dev->props.apiVersion;
	void **next = &room->core.pNext;

	memset(room, 0, sizeof(*room));
	room->core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
	room->timeline.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES;
	room->model.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES;
	room->layout.sType =
		VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_UNIFORM_BUFFER_STANDARD_LAYOUT_FEATURES;
	room->robust.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT;
	room->storage16.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES;
	room->float16.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES;
	room->dot.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES;
	room->flow.sType =
		VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SUBGROUP_UNIFORM_CONTROL_FLOW_FEATURES_KHR;
	room->subgroups.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES;
	room->tiles.sType = COOPMAT_STRUCTURE_FEATURES;
	room->reconverge.sType = RECONVERGE_STRUCTURE_FEATURES;
	*next = &room->storage16;
	next = &room->storage16.pNext;
	if (api >= VK_API_VERSION_1_2 ||
	    has_extension(dev->physical, VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME)) {
		*next = &room->float16;
		next = &room->float16.pNext;
		if (api < VK_API_VERSION_1_2)
			room->extensions[room->n_extensions++] =
				VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME;
	}
	if (api < VK_API_VERSION_1_2 && has_controls(dev))
		room->extensions[room->n_extensions++] =
			VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME;
	if (api >= VK_API_VERSION_1_2 ||
	    has_extension(dev->physical, VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME)) {
		*next = &room->timeline;
		next = &room->timeline.pNext;
		if (api < VK_API_VERSION_1_2)
			room->extensions[room->n_extensions++] =
				VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME;
	}
	if (api >= VK_API_VERSION_1_2) {
		*next = &room->model;
		room->model.pNext = &room->layout;
		next = &room->layout.pNext;
	}
	if (api >= VK_API_VERSION_1_3) {
		*next = &room->dot;
		next = &room->dot.pNext;
	}
	if (has_size_control(dev)) {
		*next = &room->subgroups;
		next = &room->subgroups.pNext;
		if (api < VK_API_VERSION_1_3)
			room->extensions[room->n_extensions++] =
				VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME;
	}
	if (has_extension(dev->physical,
			  VK_KHR_SHADER_SUBGROUP_UNIFORM_CONTROL_FLOW_EXTENSION_NAME)) {
		*next = &room->flow;
		next = &room->flow.pNext;
		room->extensions[room->n_extensions++] =
			VK_KHR_SHADER_SUBGROUP_UNIFORM_CONTROL_FLOW_EXTENSION_NAME;
	}
	if (has_extension(dev->physical, RECONVERGE_VK_EXTENSION)) {
		*next = &room->reconverge;
		next = &room->reconverge.pNext;
		room->extensions[room->n_extensions++] = RECONVERGE_VK_EXTENSION;
	}
	if (has_extension(dev->physical, COOPMAT_VK_EXTENSION)) {
		*next = &room->tiles;
		next = &room->tiles.pNext;
		room->extensions[room->n_extensions++] = COOPMAT_VK_EXTENSION;
	}
	if (has_extension(dev->physical, VK_EXT_ROBUSTNESS_2_EXTENSION_NAME)) {
		*next = &room->robust;
		room->extensions[room->n_extensions++] = VK_EXT_ROBUSTNESS_2_EXTENSION_NAME;
	}
	/* A device of a portability driver must be told that this is known. */
	if (has_extension(dev->physical, "VK_KHR_portability_subset"))
		room->extensions[room->n_extensions++] = "VK_KHR_portability_subset";
}

void pctl_vk_features_read(pctl_device *dev)
{
	pctl_vk_feature_room room;

	vkGetPhysicalDeviceProperties(dev->physical, &dev->props);
	if (dev->props.apiVersion > dev->inst->api)
		dev->props.apiVersion = dev->inst->api;
	vkGetPhysicalDeviceMemoryProperties(dev->physical, &dev->memory);
	read_properties(dev);
	chain(dev, &room);
	vkGetPhysicalDeviceFeatures2(dev->physical, &room.core);
	dev->has.int64 = room.core.features.shaderInt64;
	dev->has.float64 = room.core.features.shaderFloat64;
	dev->has.float16 = room.float16.shaderFloat16;
	dev->has.storage16 = room.storage16.storageBuffer16BitAccess &&
			     room.storage16.uniformAndStorageBuffer16BitAccess;
	dev->has.timeline = room.timeline.timelineSemaphore;
	/* With the model enabled but not its device scope, no module may use that scope at all. */
	dev->has.memory_model =
		room.model.vulkanMemoryModel && room.model.vulkanMemoryModelDeviceScope;
	dev->has.uniform_layout = room.layout.uniformBufferStandardLayout;
	dev->has.robustness2 = room.robust.robustBufferAccess2;
	/* Accelerated or not: the driver's own expansion is no worse than ours. */
	dev->has.dot4 = room.dot.shaderIntegerDotProduct;
	dev->has.subgroups &=
		room.subgroups.subgroupSizeControl && room.subgroups.computeFullSubgroups;
	dev->has.uniform_flow = dev->has.subgroups && room.flow.shaderSubgroupUniformControlFlow;
	dev->has.reconverges = dev->has.subgroups && room.reconverge.shaderMaximalReconvergence;
	if (dev->has.subgroups && dev->subgroup_size == PCTL_TILE_LANES && dev->has.memory_model &&
	    room.float16.shaderInt8 && room.tiles.cooperativeMatrix)
		dev->has.tiles = find_tiles(dev);
}

void pctl_vk_features_enable(pctl_device *dev, pctl_vk_feature_room *room)
{
	chain(dev, room);
	room->core.features.robustBufferAccess = VK_TRUE;
	room->core.features.shaderInt64 = dev->has.int64;
	room->core.features.shaderFloat64 = dev->has.float64;
	room->float16.shaderFloat16 = dev->has.float16;
	room->float16.shaderInt8 = dev->has.tiles != 0;
	room->storage16.storageBuffer16BitAccess = dev->has.storage16;
	room->storage16.uniformAndStorageBuffer16BitAccess = dev->has.storage16;
	room->timeline.timelineSemaphore = dev->has.timeline;
	room->model.vulkanMemoryModel = dev->has.memory_model;
	room->model.vulkanMemoryModelDeviceScope = dev->has.memory_model;
	room->layout.uniformBufferStandardLayout = dev->has.uniform_layout;
	room->robust.robustBufferAccess2 = dev->has.robustness2;
	room->dot.shaderIntegerDotProduct = dev->has.dot4;
	room->subgroups.subgroupSizeControl = dev->has.subgroups;
	room->subgroups.computeFullSubgroups = dev->has.subgroups;
	room->flow.shaderSubgroupUniformControlFlow = dev->has.uniform_flow;
	room->reconverge.shaderMaximalReconvergence = dev->has.reconverges;
	room->tiles.cooperativeMatrix = dev->has.tiles != 0;
	room->tiles.cooperativeMatrixRobustBufferAccess = VK_FALSE;
}

/* ---- limits ---- */

#define SOFTWARE_MARGIN 4096u

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t device_heap_bytes(const pctl_device *dev)
{
	uint64_t most = 0;
	uint32_t i;

	for (i = 0; i < dev->memory.memoryHeapCount; i++)
		if ((dev->memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) &&
		    dev->memory.memoryHeaps[i].size > most)
			most = dev->memory.memoryHeaps[i].size;
	return most;
}

/* Widths in which constants are kept from the driver (spirv/nofold.c): those it makes no promise for,
 * and llvmpipe's all, which breaks it. SwiftShader is kept from all constants anyway. */
static uint32_t opaque_floats(const pctl_device *dev)
{
	if (dev->driver.driverID == VK_DRIVER_ID_GOOGLE_SWIFTSHADER)
		return 0;
	return dev->driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE
		       ? PCTL_SPV_WIDTH(16) | PCTL_SPV_WIDTH(32) | PCTL_SPV_WIDTH(64)
		       : widths(1, 1, 1) & ~dev->has.controls.signed_zero;
}

/*
 * Software drivers compute byte offsets in 32 bits, signed in places, so a buffer there stays below
 * 2^31 whatever they say, and an index that passes its check cannot wrap. SwiftShader refuses an
 * allocation of the very maximum it states (its padding comes on top), hence the margin. Lengths
 * travel as push constants, one word a binding, which bounds the bindings.
 */
void pctl_vk_caps_fill(pctl_device *dev)
{
	const VkPhysicalDeviceLimits *l = &dev->props.limits;
	pctl_device_caps *c = &dev->caps;
	uint32_t i;

	*c = (pctl_device_caps){.head = PCTL_HEAD(pctl_device_caps)};
	c->caps = PCTL_CAP_F32 | PCTL_CAP_NATIVE_FLOAT;
	c->caps |= dev->has.int64 ? PCTL_CAP_I64 : 0;
	/* core/compiler/legalize/div64.c says what goes wrong there. */
	if (dev->has.int64 && dev->driver.driverID != VK_DRIVER_ID_NVIDIA_PROPRIETARY)
		c->caps |= PCTL_CAP_I64_DIV;
	c->caps |= dev->has.float64 ? PCTL_CAP_F64 : 0;
	c->caps |= dev->has.float16 ? PCTL_CAP_F16 : 0;
	c->caps |= dev->has.storage16 ? PCTL_CAP_STORE16 : 0;
	c->caps |= dev->has.dot4 ? PCTL_CAP_DOT4 : 0;
	c->caps |= dev->has.subgroups ? PCTL_CAP_SUBGROUPS : 0;
	c->caps |= dev->has.tiles ? PCTL_CAP_TILES : 0;
	c->memory_bytes = device_heap_bytes(dev);
	c->max_buffer_bytes = least(dev->max_allocation, c->memory_bytes);
	if (dev->props.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU)
		c->max_buffer_bytes = least(c->max_buffer_bytes, 1u << 31) - SOFTWARE_MARGIN;
	c->max_binding_bytes = least(l->maxStorageBufferRange, c->max_buffer_bytes);
	c->binding_alignment = l->minStorageBufferOffsetAlignment;
	if (l->minUniformBufferOffsetAlignment > c->binding_alignment)
		c->binding_alignment = l->minUniformBufferOffsetAlignment;
	for (i = 0; i < 3; i++) {
		c->max_groups[i] = l->maxComputeWorkGroupCount[i];
		c->max_local[i] = l->maxComputeWorkGroupSize[i];
	}
	c->max_invocations = l->maxComputeWorkGroupInvocations;
	c->max_workgroup_bytes = l->maxComputeSharedMemorySize;
	c->max_bindings = (uint32_t)least(
		least(l->maxPerStageResources, l->maxPushConstantsSize / 4),
		least(PCTL_SPV_MAX_BINDINGS, (uint64_t)l->maxPerStageDescriptorStorageBuffers +
						     l->maxPerStageDescriptorUniformBuffers));
	c->subgroup_size = dev->subgroup_size;
	c->timestamp_ns_den = dev->timestamp_bits ? 1 : 0;
	dev->spirv.memory_model = dev->has.memory_model;
	dev->spirv.opaque_constants = dev->driver.driverID == VK_DRIVER_ID_GOOGLE_SWIFTSHADER;
	dev->spirv.controls = dev->has.controls;
	dev->spirv.opaque_floats = opaque_floats(dev);
	dev->spirv.rest_leaves = dev->driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
	dev->spirv.int64 = dev->has.int64;
	dev->spirv.dot4 = dev->has.dot4;
	dev->spirv.subgroup = dev->has.subgroups ? dev->subgroup_size : 0;
	dev->spirv.uniform_flow = dev->has.uniform_flow;
	dev->spirv.reconverges = dev->has.reconverges;
	dev->spirv.uniform_bytes = dev->has.uniform_layout ? l->maxUniformBufferRange : 0;
}
