/* What VK_KHR_cooperative_matrix adds to Vulkan, by the numbers of its registry (Vulkan-Headers, vk.xml: extension 507), for
 * headers that are older than it. Names of our own, so that newer headers do not clash. */
#ifndef PCTL_VULKAN_COOPMAT_H
#define PCTL_VULKAN_COOPMAT_H

#include <vulkan/vulkan.h>

#define COOPMAT_VK_EXTENSION "VK_KHR_cooperative_matrix"
#define COOPMAT_STRUCTURE_FEATURES ((VkStructureType)1000506000)
#define COOPMAT_STRUCTURE_PROPERTIES ((VkStructureType)1000506001)

/* Of VkComponentTypeKHR. */
enum {
	COOPMAT_COMPONENT_SINT8 = 3,
	COOPMAT_COMPONENT_SINT32 = 5,
	COOPMAT_COMPONENT_UINT8 = 7,
	COOPMAT_COMPONENT_UINT32 = 9
};
#define COOPMAT_SCOPE_SUBGROUP 3u /* of VkScopeKHR */

/* VkPhysicalDeviceCooperativeMatrixFeaturesKHR */
typedef struct coopmat_features {
	VkStructureType sType;
	void *pNext;
	VkBool32 cooperativeMatrix;
	VkBool32 cooperativeMatrixRobustBufferAccess;
} coopmat_features;

/* VkCooperativeMatrixPropertiesKHR; its enumerations are 32 bits wide. */
typedef struct coopmat_properties {
	VkStructureType sType;
	void *pNext;
	uint32_t MSize;
	uint32_t NSize;
	uint32_t KSize;
	uint32_t AType;
	uint32_t BType;
	uint32_t CType;
	uint32_t ResultType;
	VkBool32 saturatingAccumulation;
	uint32_t scope;
} coopmat_properties;

/* vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR */
typedef VkResult(VKAPI_PTR *coopmat_get_properties)(VkPhysicalDevice device, uint32_t *n,
						    coopmat_properties *out);

#endif
