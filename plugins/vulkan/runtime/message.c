/* The validation layer's voice. Messages may come from any thread of a layer or driver, diagnostics
 * only from the calling one, so an error is kept until the call that caused it ends. */
#include <stdio.h>
#include <string.h>

#include "runtime/vk.h"

void pctl_vk_messages_open(pctl_instance *inst)
{
	pthread_mutex_init(&inst->messages.lock, NULL);
}

void pctl_vk_messages_close(pctl_instance *inst)
{
	pthread_mutex_destroy(&inst->messages.lock);
}

static VKAPI_ATTR VkBool32 VKAPI_CALL heard(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
					    VkDebugUtilsMessageTypeFlagsEXT types,
					    const VkDebugUtilsMessengerCallbackDataEXT *data,
					    void *user)
{
	pctl_instance *inst = user;
	pctl_vk_messages *m = &inst->messages;

	(void)types;
	if (severity < VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT)
		return VK_FALSE;
	pthread_mutex_lock(&m->lock);
	if (m->n_errors++ == 0)
		snprintf(m->first, sizeof(m->first), "%s",
			 data->pMessage ? data->pMessage : "no text");
	pthread_mutex_unlock(&m->lock);
	return VK_FALSE;
}

void pctl_vk_messenger_describe(pctl_instance *inst, VkDebugUtilsMessengerCreateInfoEXT *out)
{
	*out = (VkDebugUtilsMessengerCreateInfoEXT){
		.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
		.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
		.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
		.pfnUserCallback = heard,
		.pUserData = inst,
	};
}

pctl_status pctl_vk_checked(pctl_instance *inst, const pctl_call *call, pctl_status status)
{
	pctl_vk_messages *m = &inst->messages;
	char text[sizeof(m->first)];
	uint32_t n;

	if (!inst->debug)
		return status;
	pthread_mutex_lock(&m->lock);
	n = m->n_errors;
	memcpy(text, m->first, sizeof(text));
	m->n_errors = 0;
	pthread_mutex_unlock(&m->lock);
	if (n == 0 || status != PCTL_OK)
		return status;
	return pctl_refuse(call, PC3246_VULKAN_VALIDATION, "%u errors, the first: %s", n, text);
}
