/* Modules through SPIRV-Tools: in debug each is judged before a driver sees it; and as text, for people. */
#include <spirv-tools/libspirv.h>
#include <string.h>

#include "runtime/vk.h"

static spv_target_env environment(uint32_t api)
{
	if (api >= VK_API_VERSION_1_3)
		return SPV_ENV_VULKAN_1_3;
	return api >= VK_API_VERSION_1_2 ? SPV_ENV_VULKAN_1_2 : SPV_ENV_VULKAN_1_1;
}

pctl_status pctl_vk_validate(pctl_device *dev, const pctl_call *call, const pctl_spv_words *module)
{
	spv_const_binary_t binary = {module->at, module->n};
	spv_context context = spvContextCreate(environment(dev->props.apiVersion));
	spv_validator_options options = spvValidatorOptionsCreate();
	spv_diagnostic what = NULL;
	pctl_status status = PCTL_OK;

	if (!context || !options) {
		status = pctl_no_memory(call, "SPIRV-Tools");
		goto out;
	}
	spvValidatorOptionsSetUniformBufferStandardLayout(options, dev->has.uniform_layout != 0);
	if (spvValidateWithOptions(context, options, &binary, &what) != SPV_SUCCESS)
		status = pctl_refuse(call, PC3245_SPIRV_INVALID, "%s (at word %zu of %u)",
				     what && what->error ? what->error : "no text",
				     what ? what->position.index : 0, module->n);
out:
	spvDiagnosticDestroy(what);
	spvValidatorOptionsDestroy(options);
	spvContextDestroy(context);
	return status;
}

pctl_status pctl_vk_disassemble(pctl_device *dev, const pctl_call *call,
				const pctl_spv_words *module, uint64_t capacity, char *out,
				uint64_t *n_out)
{
	const uint32_t how = SPV_BINARY_TO_TEXT_OPTION_INDENT |
			     SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES |
			     SPV_BINARY_TO_TEXT_OPTION_NO_HEADER;
	spv_context context = spvContextCreate(environment(dev->props.apiVersion));
	spv_text text = NULL;
	pctl_status status = PCTL_OK;

	if (!context)
		return pctl_no_memory(call, "SPIRV-Tools");
	if (spvBinaryToText(context, module->at, module->n, how, &text, NULL) != SPV_SUCCESS)
		status = pctl_refuse(call, PC3245_SPIRV_INVALID, "the module cannot be shown");
	if (status == PCTL_OK) {
		*n_out = text->length;
		if (capacity)
			memcpy(out, text->str, capacity < text->length ? capacity : text->length);
	}
	spvTextDestroy(text);
	spvContextDestroy(context);
	return status;
}
