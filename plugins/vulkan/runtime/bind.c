/* The bindings of one dispatch: checked against the program's variables, turned into a descriptor
 * set and the lengths of runtime arrays. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/vk.h"

#define POOL_SETS 32u

static pctl_status match(const pctl_call *call, const pctl_kernel *k, const pctl_binding *bindings,
			 uint32_t n, const pctl_binding *out[PCTL_SPV_MAX_BINDINGS])
{
	uint32_t i, v;

	for (i = 0; i < n; i++) {
		for (v = 0; v < k->interface.n_bindings; v++)
			if (k->interface.bindings[v].group == bindings[i].group &&
			    k->interface.bindings[v].binding == bindings[i].binding)
				break;
		if (v == k->interface.n_bindings || out[v])
			return pctl_refuse(
				call, PC3205_BINDING_UNKNOWN, "group %u binding %u is %s",
				bindings[i].group, bindings[i].binding,
				v == k->interface.n_bindings ? "no variable of the program"
							     : "given twice");
		out[v] = &bindings[i];
	}
	for (v = 0; v < k->interface.n_bindings; v++)
		if (!out[v])
			return pctl_refuse(call, PC3204_BINDING_MISSING, "group %u binding %u",
					   k->interface.bindings[v].group,
					   k->interface.bindings[v].binding);
	return PCTL_OK;
}

static pctl_status check_one(pctl_device *dev, const pctl_call *call, const pctl_kernel *k,
			     uint32_t v, const pctl_binding *b)
{
	const pctl_spv_binding *s = &k->interface.bindings[v];
	const int is_uniform = k->program->vars[v].space == PCTL_SPACE_UNIFORM;
	uint32_t usage = is_uniform ? PCTL_BUFFER_UNIFORM : PCTL_BUFFER_STORAGE;
	char what[64];
	pctl_status status;

	snprintf(what, sizeof(what), "group %u binding %u", b->group, b->binding);
	if (k == dev->clamp)
		usage = 0; /* reads the counts of whatever buffer has them */
	if (b->n_bytes == 0 && !b->buffer)
		return PCTL_OK;
	status = pctl_vk_range_check(dev, call, b->buffer, b->offset, b->n_bytes, usage, what);
	if (status != PCTL_OK || b->n_bytes == 0)
		return status;
	if (b->offset % dev->caps.binding_alignment)
		return pctl_refuse(call, PC3203_BACKEND_ALIGNMENT,
				   "%s: offset %" PRIu64 " is no multiple of %" PRIu64, what,
				   b->offset, dev->caps.binding_alignment);
	if (b->n_bytes > dev->caps.max_binding_bytes)
		return pctl_refuse(call, PC3208_BUFFER_LIMIT,
				   "%s: %" PRIu64 " bytes, %s takes %" PRIu64, what, b->n_bytes,
				   dev->props.deviceName, dev->caps.max_binding_bytes);
	if (b->n_bytes < s->fixed_bytes)
		return pctl_refuse(call, PC3202_BACKEND_RANGE,
				   "%s: %" PRIu64
				   " bytes, the variable has %u (0 would bind nothing)",
				   what, b->n_bytes, s->fixed_bytes);
	return PCTL_OK;
}

static pctl_status check_overlap(const pctl_call *call, const pctl_kernel *k,
				 const pctl_binding *const *b)
{
	uint32_t i, j;

	for (i = 0; i < k->interface.n_bindings; i++)
		for (j = i + 1; j < k->interface.n_bindings; j++)
			if (b[i]->n_bytes && b[j]->n_bytes && b[i]->buffer == b[j]->buffer &&
			    b[i]->offset < b[j]->offset + b[j]->n_bytes &&
			    b[j]->offset < b[i]->offset + b[i]->n_bytes &&
			    (k->interface.bindings[i].writable ||
			     k->interface.bindings[j].writable))
				return pctl_refuse(call, PC3206_BINDING_OVERLAP,
						   "group %u binding %u and group %u binding %u",
						   b[i]->group, b[i]->binding, b[j]->group,
						   b[j]->binding);
	return PCTL_OK;
}

/* ---- descriptor sets ---- */

static VkResult add_pool(pctl_list *l)
{
	const VkDescriptorPoolSize sizes[2] = {
		{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, POOL_SETS * (PCTL_SPV_MAX_BINDINGS + 1)},
		{VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, POOL_SETS * PCTL_SPV_MAX_BINDINGS},
	};
	const VkDescriptorPoolCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
		.maxSets = POOL_SETS,
		.poolSizeCount = 2,
		.pPoolSizes = sizes,
	};
	VkDescriptorPool *grown = realloc(l->pools, (l->n_pools + 1u) * sizeof(*grown));
	VkResult r;

	if (!grown)
		return VK_ERROR_OUT_OF_HOST_MEMORY;
	l->pools = grown;
	r = vkCreateDescriptorPool(l->dev->vk, &info, NULL, &grown[l->n_pools]);
	if (r == VK_SUCCESS)
		l->n_pools++;
	return r;
}

static VkResult take_set(pctl_list *l, const pctl_kernel *k, VkDescriptorSet *out)
{
	VkDescriptorSetAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
		.descriptorSetCount = 1,
		.pSetLayouts = &k->set_layout,
	};
	VkResult r = VK_ERROR_OUT_OF_POOL_MEMORY;

	if (l->n_pools && l->sets_left) {
		info.descriptorPool = l->pools[l->n_pools - 1];
		r = vkAllocateDescriptorSets(l->dev->vk, &info, out);
	}
	if (r == VK_ERROR_OUT_OF_POOL_MEMORY || r == VK_ERROR_FRAGMENTED_POOL) {
		r = add_pool(l);
		if (r != VK_SUCCESS)
			return r;
		l->sets_left = POOL_SETS;
		info.descriptorPool = l->pools[l->n_pools - 1];
		r = vkAllocateDescriptorSets(l->dev->vk, &info, out);
	}
	if (r == VK_SUCCESS)
		l->sets_left--;
	return r;
}

static void write_set(pctl_list *l, const pctl_kernel *k, const pctl_binding *const *b,
		      VkDescriptorSet set)
{
	const pctl_spv_binding table = {0};
	VkDescriptorBufferInfo ranges[PCTL_SPV_MAX_BINDINGS + 1];
	VkWriteDescriptorSet writes[PCTL_SPV_MAX_BINDINGS + 1];
	const uint32_t n = k->interface.n_bindings + k->interface.has_tables;
	uint32_t v;

	for (v = 0; v < n; v++) {
		const pctl_spv_binding *s =
			v < k->interface.n_bindings ? &k->interface.bindings[v] : &table;

		ranges[v] = (VkDescriptorBufferInfo){l->dev->dummy->vk, 0, VK_WHOLE_SIZE};
		if (s == &table)
			ranges[v].buffer = k->tables->vk;
		else if (b[v]->n_bytes)
			ranges[v] = (VkDescriptorBufferInfo){b[v]->buffer->vk, b[v]->offset,
							     s->uniform ? s->fixed_bytes
									: b[v]->n_bytes};
		writes[v] = (VkWriteDescriptorSet){
			.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
			.dstSet = set,
			.dstBinding = v,
			.descriptorCount = 1,
			.descriptorType = s->uniform ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER
						     : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
			.pBufferInfo = &ranges[v],
		};
	}
	vkUpdateDescriptorSets(l->dev->vk, n, writes, 0, NULL);
}

/* Everything that a dispatch needs. */
static pctl_status set_up(pctl_list *l, const pctl_call *call, const pctl_kernel *k,
			  VkPipeline pipeline, const pctl_binding *const *b,
			  const uint32_t *lengths)
{
	VkDescriptorSet set;
	VkResult r;

	vkCmdBindPipeline(l->cmd, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
	if (k->interface.n_bindings || k->interface.has_tables) {
		r = take_set(l, k, &set);
		if (r != VK_SUCCESS)
			return pctl_vk_fail(l->dev, call, r, "making a descriptor set");
		write_set(l, k, b, set);
		vkCmdBindDescriptorSets(l->cmd, VK_PIPELINE_BIND_POINT_COMPUTE, k->layout, 0, 1,
					&set, 0, NULL);
	}
	if (k->interface.n_lengths)
		vkCmdPushConstants(l->cmd, k->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
				   4 * k->interface.n_lengths, lengths);
	return PCTL_OK;
}

pctl_status pctl_vk_warm(pctl_kernel *k, const pctl_call *call, VkPipeline pipeline)
{
	static const pctl_binding empty;
	const uint32_t lengths[PCTL_SPV_MAX_BINDINGS] = {0};
	const pctl_binding *b[PCTL_SPV_MAX_BINDINGS];
	pctl_list *l = NULL;
	uint64_t value = 0;
	pctl_status status = pctl_vk_list_begin(k->dev, call, &l);
	uint32_t v;

	for (v = 0; v < PCTL_SPV_MAX_BINDINGS; v++)
		b[v] = &empty;
	if (status == PCTL_OK)
		status = set_up(l, call, k, pipeline, b, lengths);
	if (status == PCTL_OK) {
		vkCmdDispatch(l->cmd, 0, 0, 0);
		status = pctl_vk_list_end(l, call);
	}
	if (status == PCTL_OK)
		status = pctl_vk_sync_submit(k->dev, call, &l->cmd, 1, &value);
	if (status == PCTL_OK)
		status = pctl_vk_sync_finish(k->dev, call, value);
	pctl_vk_list_destroy(k->dev, l);
	return status;
}

static pctl_status record(pctl_list *l, const pctl_call *call, pctl_kernel *k,
			  const pctl_binding *const *b)
{
	uint32_t lengths[PCTL_SPV_MAX_BINDINGS] = {0};
	uint64_t null_vars = 0;
	VkPipeline pipeline;
	pctl_status status;
	uint32_t v;

	for (v = 0; v < k->interface.n_bindings; v++) {
		const pctl_spv_binding *s = &k->interface.bindings[v];

		if (s->stride && b[v]->n_bytes)
			lengths[s->length_slot] =
				(uint32_t)((b[v]->n_bytes - s->fixed_bytes) / s->stride);
		if (s->fixed_bytes && !b[v]->n_bytes)
			null_vars |= 1ull << v;
	}
	status = pctl_vk_kernel_variant(k, call, null_vars, &pipeline);
	return status == PCTL_OK ? set_up(l, call, k, pipeline, b, lengths) : status;
}

pctl_status pctl_vk_bind(pctl_list *l, const pctl_call *call, pctl_kernel *k,
			 const pctl_binding *bindings, uint32_t n_bindings)
{
	const pctl_binding *b[PCTL_SPV_MAX_BINDINGS] = {0};
	pctl_status status;
	uint32_t v;

	if (!k || k->dev != l->dev || (n_bindings && !bindings))
		return pctl_refuse(
			call, PC3201_BACKEND_ARGUMENT,
			"dispatch: the kernel or the bindings are NULL or another device's");
	status = match(call, k, bindings, n_bindings, b);
	for (v = 0; v < k->interface.n_bindings && status == PCTL_OK; v++)
		status = check_one(l->dev, call, k, v, b[v]);
	if (status == PCTL_OK)
		status = check_overlap(call, k, b);
	if (status == PCTL_OK)
		status = record(l, call, k, b);
	return status;
}
