/* Debug only: every module is judged by SPIRV-Tools before a driver sees it. */
#include <spirv-tools/libspirv.h>

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
		status = pctl_refuse(call, PC2_NOMEM, "no memory for SPIRV-Tools");
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
