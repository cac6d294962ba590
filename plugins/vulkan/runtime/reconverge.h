/* What VK_KHR_shader_maximal_reconvergence adds to Vulkan, by the numbers of its registry (Vulkan-Headers, vk.xml: extension 435),
 * for headers that are older than it. Names of our own, so that newer headers do not clash. */
#ifndef PCTL_VULKAN_RECONVERGE_H
#define PCTL_VULKAN_RECONVERGE_H

#include <vulkan/vulkan.h>

#define RECONVERGE_VK_EXTENSION "VK_KHR_shader_maximal_reconvergence"
#define RECONVERGE_STRUCTURE_FEATURES ((VkStructureType)1000434000)

/* VkPhysicalDeviceShaderMaximalReconvergenceFeaturesKHR */
typedef struct reconverge_features {
	VkStructureType sType;
	void *pNext;
	VkBool32 shaderMaximalReconvergence;
} reconverge_features;

#endif
