/* Kernels: a program, its layout, and one compiled pipeline for each set of variables that was
 * bound to nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/vk.h"

static pctl_status create_layouts(pctl_kernel *k, const pctl_call *call)
{
	pctl_device *dev = k->dev;
	VkDescriptorSetLayoutBinding bindings[PCTL_SPV_MAX_BINDINGS + 1];
	const VkDescriptorSetLayoutCreateInfo set = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
		.bindingCount = k->interface.n_bindings + k->interface.has_tables,
		.pBindings = bindings,
	};
	const VkPushConstantRange lengths = {VK_SHADER_STAGE_COMPUTE_BIT, 0,
					     4 * k->interface.n_lengths};
	VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
					   .setLayoutCount = 1,
					   .pSetLayouts = &k->set_layout};
	uint32_t i;
	VkResult r;

	for (i = 0; i < k->interface.n_bindings + k->interface.has_tables; i++)
		bindings[i] = (VkDescriptorSetLayoutBinding){
			.binding = i,
			.descriptorType =
				i < k->interface.n_bindings && k->interface.bindings[i].uniform
					? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER
					: VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
			.descriptorCount = 1,
			.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
		};
	if (k->interface.n_lengths) {
		info.pushConstantRangeCount = 1;
		info.pPushConstantRanges = &lengths;
	}
	r = vkCreateDescriptorSetLayout(dev->vk, &set, NULL, &k->set_layout);
	if (r == VK_SUCCESS)
		r = vkCreatePipelineLayout(dev->vk, &info, NULL, &k->layout);
	return r == VK_SUCCESS ? PCTL_OK : pctl_vk_fail(dev, call, r, "making a pipeline layout");
}

static pctl_status create_tables(pctl_kernel *k, const pctl_call *call)
{
	uint32_t *words, n = 0;
	pctl_status status;

	if (!k->interface.has_tables)
		return PCTL_OK;
	words = pctl_spv_table_block(k->program, &n);
	if (!words)
		return pctl_no_memory(call, "constant tables");
	status = pctl_vk_buffer_create(k->dev, call, (uint64_t)n * sizeof(*words),
				       PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER, &k->tables);
	if (status == PCTL_OK)
		status = pctl_vk_buffer_write(k->dev, call, k->tables, 0, words,
					      (uint64_t)n * sizeof(*words));
	free(words);
	return status;
}

static pctl_status compile(pctl_kernel *k, const pctl_call *call, const pctl_spv_words *module,
			   VkPipeline *out)
{
	pctl_device *dev = k->dev;
	const VkShaderModuleCreateInfo code = {
		.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
		.codeSize = (size_t)module->n * sizeof(uint32_t),
		.pCode = module->at,
	};
	VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
		.requiredSubgroupSize = dev->spirv.subgroup,
	};
	VkComputePipelineCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
		.stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
			  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
			  .pName = "main"},
		.layout = k->layout,
	};
	VkResult r;

	if (pctl_spv_subgroup_size(k->program)) {
		info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
		info.stage.pNext = dev->has.required_size ? &size : NULL;
	}
	r = vkCreateShaderModule(dev->vk, &code, NULL, &info.stage.module);

	if (r == VK_SUCCESS) {
		r = vkCreateComputePipelines(dev->vk, k->cache, 1, &info, NULL, out);
		vkDestroyShaderModule(dev->vk, info.stage.module, NULL);
	}
	if (r == VK_SUCCESS)
		return PCTL_OK;
	*out = VK_NULL_HANDLE;
	if (r == VK_ERROR_DEVICE_LOST || r == VK_ERROR_OUT_OF_HOST_MEMORY ||
	    r == VK_ERROR_OUT_OF_DEVICE_MEMORY)
		return pctl_vk_fail(dev, call, r, "compiling a kernel");
	return pctl_refuse(call, PC3247_VULKAN_PIPELINE, "%s gave %d", dev->props.deviceName,
			   (int)r);
}

static pctl_status write_module(const pctl_device *dev, const pctl_call *call,
				const pctl_program *program, uint64_t null_vars,
				pctl_spv_words *out)
{
	pctl_spv_options options = dev->spirv;
	pctl_status status;

	options.null_vars = null_vars;
	status = pctl_spv_write(program, &options, out);
	if (status == PCTL_E_NOMEM)
		return pctl_no_memory(call, "a module");
	return status == PCTL_OK
		       ? status
		       : pctl_refuse(call, PC1_INTERNAL, "the program cannot be written as SPIR-V");
}

pctl_status pctl_vk_kernel_variant(pctl_kernel *k, const pctl_call *call, uint64_t null_vars,
				   VkPipeline *out)
{
	pctl_spv_words module = {0};
	pctl_vk_variant *grown;
	pctl_status status;
	uint32_t i;

	*out = VK_NULL_HANDLE;
	for (i = 0; i < k->n_variants; i++) {
		if (k->variants[i].null_vars == null_vars) {
			*out = k->variants[i].pipeline;
			return PCTL_OK;
		}
	}
	grown = realloc(k->variants, (k->n_variants + 1u) * sizeof(*grown));
	if (!grown)
		return pctl_no_memory(call, "a kernel");
	k->variants = grown;
	status = write_module(k->dev, call, k->program, null_vars, &module);
	/* SPIRV-Tools of 2022 know neither cooperative matrices nor maximal reconvergence. */
	if (status == PCTL_OK && k->dev->inst->debug && !(k->program->caps & PCTL_CAP_TILES) &&
	    !(k->dev->has.reconverges && (k->program->caps & PCTL_CAP_SUBGROUPS)))
		status = pctl_vk_validate(k->dev, call, &module);
	if (status == PCTL_OK)
		status = compile(k, call, &module, out);
	free(module.at);
	if (status == PCTL_OK)
		status = pctl_vk_warm(k, call, *out);
	if (status != PCTL_OK && *out) {
		vkDestroyPipeline(k->dev->vk, *out, NULL);
		*out = VK_NULL_HANDLE;
	}
	if (status == PCTL_OK) {
		k->variants[k->n_variants].null_vars = null_vars;
		k->variants[k->n_variants++].pipeline = *out;
	}
	return status;
}

/* ---- the cache ---- */

static void create_cache(pctl_kernel *k, const uint8_t *payload, uint64_t n)
{
	VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
					  .initialDataSize = n,
					  .pInitialData = payload};

	/* Without a cache everything works, only slower. */
	if (vkCreatePipelineCache(k->dev->vk, &info, NULL, &k->cache) != VK_SUCCESS)
		k->cache = VK_NULL_HANDLE;
}

/* 1 when the cache came with something in it. */
static int open_cache(pctl_kernel *k, const uint8_t *blob, uint64_t n)
{
	uint64_t n_payload = 0, n_file = 0;
	const uint8_t *payload = pctl_vk_blob_open(k->dev, k->hash, blob, n, &n_payload);
	uint8_t *file = NULL;

	if (!payload) {
		file = pctl_vk_cache_load(k->dev, k->hash, &n_file);
		payload = pctl_vk_blob_open(k->dev, k->hash, file, n_file, &n_payload);
	}
	create_cache(k, payload, n_payload);
	free(file);
	return payload != NULL;
}

static void save_cache(pctl_kernel *k)
{
	uint64_t n;
	uint8_t *blob;

	if (!k->dev->inst->cache_dir)
		return;
	blob = pctl_vk_blob_make(k->dev, k->hash, k->cache, &n);
	if (blob)
		pctl_vk_cache_save(k->dev, k->hash, blob, n);
	free(blob);
}

pctl_status pctl_vk_kernel_cache(pctl_device *dev, const pctl_call *call, pctl_kernel *k,
				 uint64_t capacity, void *out, uint64_t *n_out)
{
	uint8_t *blob;
	uint64_t n;

	if (!k || k->dev != dev || !n_out || (capacity && !out))
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "kernel_cache: a pointer is NULL or not of this device");
	blob = pctl_vk_blob_make(dev, k->hash, k->cache, &n);
	if (blob)
		memcpy(out ? out : blob, blob, n < capacity ? n : capacity);
	free(blob);
	*n_out = n;
	return PCTL_OK;
}

/* ---- life ---- */

pctl_status pctl_vk_kernel_make(pctl_device *dev, const pctl_call *call, pctl_program *program,
				const uint64_t hash[2], const void *cache, uint64_t cache_bytes,
				pctl_kernel **out)
{
	pctl_kernel *k = calloc(1, sizeof(*k));
	pctl_status status;
	VkPipeline pipeline;
	int cached;

	*out = NULL;
	if (!k) {
		pctl_program_destroy(program);
		return pctl_no_memory(call, "a kernel");
	}
	k->dev = dev;
	k->program = program;
	memcpy(k->hash, hash, sizeof(k->hash));
	pctl_spv_interface_get(program, &dev->spirv, &k->interface);
	status = create_layouts(k, call);
	if (status == PCTL_OK)
		status = create_tables(k, call);
	if (status == PCTL_OK) {
		cached = open_cache(k, cache, cache_bytes);
		status = pctl_vk_kernel_variant(k, call, 0, &pipeline);
		if (status == PCTL_OK && !cached)
			save_cache(k);
	}
	status = pctl_vk_checked(dev->inst, call, status);
	if (status != PCTL_OK)
		pctl_vk_kernel_destroy(dev, k);
	else
		*out = k;
	return status;
}

/* A program that this device can run. */
static pctl_status decode(pctl_device *dev, const pctl_call *call, const uint8_t *wire, uint64_t n,
			  pctl_program **out)
{
	pctl_support support;
	const pctl_status status = pctl_program_decode(wire, n, call, out);

	if (status != PCTL_OK)
		return status;
	pctl_vk_support(dev, *out, &support);
	if (support.supported)
		return PCTL_OK;
	pctl_program_destroy(*out);
	*out = NULL;
	return pctl_refuse(call, support.code, "%s", support.reason);
}

pctl_status pctl_vk_kernel_source(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				  uint64_t n, uint64_t capacity, char *out, uint64_t *n_out,
				  char *language)
{
	pctl_program *program = NULL;
	pctl_spv_words module = {0};
	pctl_status status;

	*n_out = 0;
	snprintf(language, PCTL_NAME_MAX, "spirv");
	status = decode(dev, call, wire, n, &program);
	if (status == PCTL_OK)
		status = write_module(dev, call, program, 0, &module);
	if (status == PCTL_OK)
		status = pctl_vk_disassemble(dev, call, &module, capacity, out, n_out);
	free(module.at);
	pctl_program_destroy(program);
	return status;
}

pctl_status pctl_vk_kernel_build(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				 uint64_t n, uint32_t flags, const void *cache,
				 uint64_t cache_bytes, pctl_kernel **out)
{
	pctl_program *program = NULL;
	uint64_t hash[2];
	pctl_status status;

	if (!out || !wire)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "kernel_build: a pointer is NULL");
	*out = NULL;
	if (flags)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "kernel_build: this backend knows no build flags, %#x was given",
				   flags);
	status = decode(dev, call, wire, n, &program);
	if (status != PCTL_OK)
		return status;
	pctl_vk_hash(wire, n, hash);
	return pctl_vk_kernel_make(dev, call, program, hash, cache, cache_bytes, out);
}

void pctl_vk_kernel_destroy(pctl_device *dev, pctl_kernel *k)
{
	uint32_t i;

	if (!k)
		return;
	for (i = 0; i < k->n_variants; i++)
		vkDestroyPipeline(dev->vk, k->variants[i].pipeline, NULL);
	if (k->cache)
		vkDestroyPipelineCache(dev->vk, k->cache, NULL);
	if (k->layout)
		vkDestroyPipelineLayout(dev->vk, k->layout, NULL);
	if (k->set_layout)
		vkDestroyDescriptorSetLayout(dev->vk, k->set_layout, NULL);
	pctl_vk_buffer_destroy(dev, k->tables);
	free(k->variants);
	pctl_program_destroy(k->program);
	free(k);
}
