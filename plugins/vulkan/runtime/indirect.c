/* Indirect dispatch: counts found on the device may exceed what it takes, so a small kernel of this
 * backend's own, written in the IR like any other, clamps them first. */
#include <stdlib.h>

#include "runtime/vk.h"

/* The scratch of one indirect dispatch, in words: counts for Vulkan, where the host's counts start
 * in their binding, and the limits. */
enum { AT_COUNTS = 0, AT_FIRST = 3, AT_LIMITS = 4, SCRATCH_WORDS = 8 };

typedef struct clamp_builder {
	pctl_builder *b;
	uint32_t u32;
	uint32_t from, to; /* variables */
} clamp_builder;

static uint32_t var(clamp_builder *c, uint32_t binding, uint8_t access, const char *name)
{
	const pctl_var v = {.type = pctl_build_array(c->b, c->u32, 0, 0),
			    .space = PCTL_SPACE_STORAGE,
			    .access = access,
			    .binding = binding};

	return pctl_build_var(c->b, &v, name);
}

static uint32_t load(clamp_builder *c, uint32_t of, uint32_t index)
{
	const uint32_t args[2] = {of, index};

	return pctl_build_inst(c->b, PCTL_OP_LOAD, c->u32, args, 2);
}

static pctl_status build(const pctl_call *call, pctl_program **out)
{
	clamp_builder c = {.b = pctl_builder_create()};
	pctl_entry entry = {.workgroup_size = {1, 1, 1}};
	uint32_t first, i, count, limit, args[3];
	pctl_status status;

	*out = NULL;
	if (!c.b)
		return pctl_no_memory(call, "the clamp kernel");
	c.u32 = pctl_build_scalar(c.b, PCTL_SCALAR_U32);
	c.from = var(&c, 0, PCTL_ACCESS_READ, "from");
	c.to = var(&c, 1, PCTL_ACCESS_READ_WRITE, "to");
	pctl_build_spec_begin(c.b);
	pctl_build_function_end(c.b);
	pctl_build_function_begin(c.b, "clamp", NULL, 0, 0);
	first = load(&c, c.to, pctl_build_const(c.b, c.u32, AT_FIRST));
	for (i = 0; i < 3; i++) {
		count = pctl_build_op(c.b, PCTL_OP_ADD, c.u32, first,
				      pctl_build_const(c.b, c.u32, i));
		count = load(&c, c.from, count);
		limit = load(&c, c.to, pctl_build_const(c.b, c.u32, AT_LIMITS + i));
		args[0] = pctl_build_op(c.b, PCTL_OP_MIN, c.u32, count, limit);
		args[1] = c.to;
		args[2] = pctl_build_const(c.b, c.u32, AT_COUNTS + i);
		pctl_build_inst(c.b, PCTL_OP_STORE, 0, args, 3);
	}
	entry.function = pctl_build_function_end(c.b);
	pctl_build_entry(c.b, &entry, "clamp");
	status = pctl_builder_finish(c.b, call, out);
	pctl_builder_destroy(c.b);
	return status;
}

static pctl_status need_kernel(pctl_device *dev, const pctl_call *call)
{
	static const uint64_t hash[2] = {0x70637463u,
					 0x6c616d70u}; /* no wire form, so its own name */
	pctl_program *program;
	pctl_status status;

	if (dev->clamp)
		return PCTL_OK;
	status = build(call, &program);
	if (status == PCTL_OK)
		status = pctl_vk_kernel_make(dev, call, program, hash, NULL, 0, &dev->clamp);
	return status;
}

static pctl_status need_scratch(pctl_list *l, const pctl_call *call, pctl_buffer **out)
{
	pctl_buffer **grown = realloc(l->scratch, (l->n_scratch + 1u) * sizeof(*grown));
	pctl_status status;

	*out = NULL;
	if (!grown)
		return pctl_no_memory(call, "an indirect dispatch");
	l->scratch = grown;
	status = pctl_vk_buffer_create(
		l->dev, call, 4 * SCRATCH_WORDS,
		PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER | PCTL_BUFFER_INDIRECT, out);
	if (status == PCTL_OK)
		l->scratch[l->n_scratch++] = *out;
	return status;
}

pctl_status pctl_vk_clamp(pctl_list *l, const pctl_call *call, pctl_buffer *buf, uint64_t offset,
			  const uint32_t limit[3], VkBuffer *out, VkDeviceSize *out_offset)
{
	pctl_device *dev = l->dev;
	const uint64_t start = offset / dev->caps.binding_alignment * dev->caps.binding_alignment;
	uint32_t words[SCRATCH_WORDS] = {0};
	pctl_buffer *scratch = NULL;
	pctl_binding bindings[2] = {{.binding = 0, .buffer = buf, .offset = start}};
	pctl_status status = need_kernel(dev, call);
	uint32_t i;

	if (status == PCTL_OK)
		status = need_scratch(l, call, &scratch);
	if (status != PCTL_OK)
		return status;
	words[AT_FIRST] = (uint32_t)((offset - start) / 4);
	for (i = 0; i < 3; i++)
		words[AT_LIMITS + i] = limit[i] < dev->props.limits.maxComputeWorkGroupCount[i]
					       ? limit[i]
					       : dev->props.limits.maxComputeWorkGroupCount[i];
	bindings[0].n_bytes = offset + 12 - start;
	bindings[1] = (pctl_binding){.binding = 1, .buffer = scratch, .n_bytes = sizeof(words)};
	status = pctl_vk_buffer_write(dev, call, scratch, 0, words, sizeof(words));
	if (status == PCTL_OK)
		status = pctl_vk_bind(l, call, dev->clamp, bindings, 2);
	if (status != PCTL_OK)
		return status;
	pctl_vk_list_work(l, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
	vkCmdDispatch(l->cmd, 1, 1, 1);
	pctl_vk_barrier(l->cmd, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
			VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT);
	*out = scratch->vk;
	*out_offset = 4 * AT_COUNTS;
	return PCTL_OK;
}
