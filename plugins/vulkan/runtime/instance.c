/* The Vulkan instance and its devices in a stable order. Nothing of a driver is touched before
 * devices are first asked for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/vk.h"

#define API_WANTED VK_API_VERSION_1_3
#define API_LEAST VK_API_VERSION_1_1

static int has_extension(const VkExtensionProperties *list, uint32_t n, const char *name)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (strcmp(list[i].extensionName, name) == 0)
			return 1;
	return 0;
}

static int has_validation_layer(void)
{
	VkLayerProperties *layers;
	uint32_t n = 0, i;
	int found = 0;

	if (vkEnumerateInstanceLayerProperties(&n, NULL) != VK_SUCCESS || n == 0)
		return 0;
	layers = calloc(n, sizeof(*layers));
	if (layers && vkEnumerateInstanceLayerProperties(&n, layers) >= VK_SUCCESS)
		for (i = 0; i < n; i++)
			found |= strcmp(layers[i].layerName, "VK_LAYER_KHRONOS_validation") == 0;
	free(layers);
	return found;
}

static void add_messenger(pctl_instance *inst, const VkDebugUtilsMessengerCreateInfoEXT *info)
{
	const PFN_vkCreateDebugUtilsMessengerEXT create =
		(PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
			inst->vk, "vkCreateDebugUtilsMessengerEXT");

	if (create && create(inst->vk, info, NULL, &inst->messenger) != VK_SUCCESS)
		inst->messenger = VK_NULL_HANDLE;
}

static pctl_status create_instance(pctl_instance *inst, const pctl_call *call)
{
	static const char *const layer = "VK_LAYER_KHRONOS_validation";
	const VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
				       .pApplicationName = "pipectl",
				       .apiVersion = inst->api};
	VkDebugUtilsMessengerCreateInfoEXT listener;
	VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
				     .pApplicationInfo = &app};
	VkExtensionProperties *list = NULL;
	const char *names[2];
	uint32_t n = 0;
	VkResult r;

	vkEnumerateInstanceExtensionProperties(NULL, &n, NULL);
	list = calloc(n + 1u, sizeof(*list));
	if (!list)
		return pctl_no_memory(call, "Vulkan's extension list");
	vkEnumerateInstanceExtensionProperties(NULL, &n, list);
	info.ppEnabledExtensionNames = names;
	if (has_extension(list, n, VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME)) {
		names[info.enabledExtensionCount++] = VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;
		info.flags |= VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
	}
	if (inst->debug && has_validation_layer()) {
		names[info.enabledExtensionCount++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
		info.enabledLayerCount = 1;
		info.ppEnabledLayerNames = &layer;
		pctl_vk_messenger_describe(inst, &listener);
		info.pNext = &listener;
	}
	r = vkCreateInstance(&info, NULL, &inst->vk);
	if (r == VK_SUCCESS && info.enabledLayerCount)
		add_messenger(inst, &listener);
	free(list);
	if (r == VK_ERROR_INCOMPATIBLE_DRIVER) {
		inst->vk = VK_NULL_HANDLE; /* a loader without any driver: no devices, no error */
		return PCTL_OK;
	}
	if (r != VK_SUCCESS)
		return pctl_refuse(call, PC3240_VULKAN_LOADER, "vkCreateInstance gave %d", (int)r);
	return PCTL_OK;
}

/* ---- order ---- */

static uint32_t kind_of(VkPhysicalDeviceType type)
{
	switch (type) {
	case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
		return PCTL_DEVICE_DISCRETE;
	case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
		return PCTL_DEVICE_INTEGRATED;
	case VK_PHYSICAL_DEVICE_TYPE_CPU:
		return PCTL_DEVICE_CPU;
	default:
		return PCTL_DEVICE_OTHER;
	}
}

static void identify(VkPhysicalDevice device, VkPhysicalDeviceProperties *props,
		     VkPhysicalDeviceIDProperties *ids, VkPhysicalDeviceDriverProperties *driver)
{
	VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};

	vkGetPhysicalDeviceProperties(device, props);
	*ids = (VkPhysicalDeviceIDProperties){
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
	*driver = (VkPhysicalDeviceDriverProperties){
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
	all.pNext = ids;
	if (props->apiVersion >= VK_API_VERSION_1_2)
		ids->pNext = driver;
	vkGetPhysicalDeviceProperties2(device, &all);
	ids->pNext = NULL;
}

/* GPUs before software, then by UUID: the order of driver files on this machine does not matter. */
static int by_identity(const void *a, const void *b)
{
	VkPhysicalDeviceProperties pa, pb;
	VkPhysicalDeviceIDProperties ia, ib;
	VkPhysicalDeviceDriverProperties da, db;
	uint32_t ka, kb;
	int order;

	identify(*(const VkPhysicalDevice *)a, &pa, &ia, &da);
	identify(*(const VkPhysicalDevice *)b, &pb, &ib, &db);
	ka = kind_of(pa.deviceType);
	kb = kind_of(pb.deviceType);
	if (ka != kb)
		return ka > kb ? -1 : 1;
	order = memcmp(ia.deviceUUID, ib.deviceUUID, VK_UUID_SIZE);
	if (order == 0)
		order = memcmp(ia.driverUUID, ib.driverUUID, VK_UUID_SIZE);
	return order ? order : strcmp(pa.deviceName, pb.deviceName);
}

static int usable(VkPhysicalDevice device)
{
	VkPhysicalDeviceProperties props;
	VkQueueFamilyProperties families[32];
	uint32_t n = 32, i;

	vkGetPhysicalDeviceProperties(device, &props);
	if (props.apiVersion < API_LEAST)
		return 0;
	vkGetPhysicalDeviceQueueFamilyProperties(device, &n, families);
	for (i = 0; i < n; i++)
		if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT)
			return 1;
	return 0;
}

static pctl_status list_devices(pctl_instance *inst, const pctl_call *call)
{
	uint32_t n = 0, i;
	VkResult r = vkEnumeratePhysicalDevices(inst->vk, &n, NULL);

	if (r == VK_SUCCESS && n) {
		inst->physical = calloc(n, sizeof(*inst->physical));
		if (!inst->physical)
			return pctl_refuse(call, PC2_NOMEM, "no memory for %u devices", n);
		r = vkEnumeratePhysicalDevices(inst->vk, &n, inst->physical);
	}
	if (r < VK_SUCCESS && r != VK_ERROR_INITIALIZATION_FAILED)
		return pctl_refuse(call, PC3240_VULKAN_LOADER, "listing devices gave %d", (int)r);
	for (i = 0; i < n && r >= VK_SUCCESS; i++)
		if (usable(inst->physical[i]))
			inst->physical[inst->n_physical++] = inst->physical[i];
	if (inst->n_physical > 1)
		qsort(inst->physical, inst->n_physical, sizeof(*inst->physical), by_identity);
	return PCTL_OK;
}

pctl_status pctl_vk_start(pctl_instance *inst, const pctl_call *call)
{
	uint32_t version = VK_API_VERSION_1_0;
	pctl_status status;

	if (inst->api)
		return PCTL_OK;
	vkEnumerateInstanceVersion(&version);
	if (version < API_LEAST)
		return pctl_refuse(call, PC3240_VULKAN_LOADER,
				   "the loader knows Vulkan %u.%u, at least 1.1 is needed",
				   VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
	inst->api = version < API_WANTED ? version : API_WANTED;
	status = create_instance(inst, call);
	if (status == PCTL_OK && inst->vk)
		status = list_devices(inst, call);
	if (status != PCTL_OK)
		pctl_vk_stop(inst);
	return status;
}

void pctl_vk_stop(pctl_instance *inst)
{
	PFN_vkDestroyDebugUtilsMessengerEXT destroy;

	if (inst->messenger) {
		destroy = (PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
			inst->vk, "vkDestroyDebugUtilsMessengerEXT");
		if (destroy)
			destroy(inst->vk, inst->messenger, NULL);
	}
	inst->messenger = VK_NULL_HANDLE;
	if (inst->vk)
		vkDestroyInstance(inst->vk, NULL);
	free(inst->physical);
	inst->physical = NULL;
	inst->n_physical = 0;
	inst->vk = VK_NULL_HANDLE;
	inst->api = 0;
}

pctl_status pctl_vk_devices(pctl_instance *inst, const pctl_call *call, uint32_t capacity,
			    pctl_device_info *out, uint32_t *n_out)
{
	VkPhysicalDeviceProperties props;
	VkPhysicalDeviceIDProperties ids;
	VkPhysicalDeviceDriverProperties driver;
	pctl_status status;
	uint32_t i;

	if (!n_out || (capacity && !out))
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "devices: an out pointer is NULL");
	*n_out = 0;
	status = pctl_vk_start(inst, call);
	if (status != PCTL_OK)
		return status;
	for (i = 0; i < inst->n_physical && i < capacity; i++) {
		identify(inst->physical[i], &props, &ids, &driver);
		out[i] = (pctl_device_info){.head = PCTL_HEAD(pctl_device_info),
					    .kind = kind_of(props.deviceType)};
		snprintf(out[i].name, sizeof(out[i].name), "%s", props.deviceName);
		snprintf(out[i].driver, sizeof(out[i].driver), "%.127s%s%.120s",
			 driver.driverName[0] ? driver.driverName : "unnamed driver",
			 driver.driverInfo[0] ? ", " : "", driver.driverInfo);
	}
	*n_out = inst->n_physical;
	return pctl_vk_checked(inst, call, PCTL_OK);
}
