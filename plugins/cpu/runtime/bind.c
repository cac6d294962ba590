/* The bindings of a dispatch: checked against the program's variables and against each other, and
 * turned into what the interpreter reads. */
#include "runtime/device.h"

#include <inttypes.h>
#include <stdlib.h>

static pctl_status find_slot(const pctl_call *call, const pctl_cpu_code *code,
			     const pctl_binding *b, uint32_t *out)
{
	for (uint32_t i = 0; i < code->n_slots; i++) {
		if (code->slots[i].group == b->group && code->slots[i].binding == b->binding) {
			*out = i;
			return PCTL_OK;
		}
	}
	return pctl_refuse(call, PC3205_BINDING_UNKNOWN,
			   "the program has no variable at group %u, binding %u", b->group,
			   b->binding);
}

static pctl_status bind_one(pctl_device *dev, const pctl_call *call, const pctl_cpu_slot *slot,
			    const pctl_binding *b, pctl_cpu_bound *out)
{
	const uint32_t usage = slot->is_storage ? PCTL_BUFFER_STORAGE : PCTL_BUFFER_UNIFORM;
	uint64_t length = 0;
	pctl_status status;

	if (b->buffer) {
		status = pctl_cpu_buffer_range(dev, call, b->buffer, b->offset, b->n_bytes, usage,
					       "binding");
		if (status != PCTL_OK)
			return status;
	} else if (b->n_bytes || b->offset) {
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "group %u, binding %u: no buffer for %" PRIu64 " bytes",
				   b->group, b->binding, b->n_bytes);
	}
	if (b->offset % PCTL_CPU_BINDING_ALIGNMENT)
		return pctl_refuse(call, PC3203_BACKEND_ALIGNMENT,
				   "group %u, binding %u: offset %" PRIu64 " is no multiple of %u",
				   b->group, b->binding, b->offset, PCTL_CPU_BINDING_ALIGNMENT);
	if (b->n_bytes > PCTL_CPU_MAX_BINDING_BYTES)
		return pctl_refuse(
			call, PC3208_BUFFER_LIMIT,
			"group %u, binding %u: %" PRIu64 " bytes; a binding has at most %" PRIu64,
			b->group, b->binding, b->n_bytes, (uint64_t)PCTL_CPU_MAX_BINDING_BYTES);
	if (slot->runtime_stride && b->n_bytes > slot->runtime_offset)
		length = (b->n_bytes - slot->runtime_offset) / slot->runtime_stride;
	if (length > UINT32_MAX) /* of elements of 2 bytes; no index reaches further */
		length = UINT32_MAX;
	*out = (pctl_cpu_bound){.base = b->buffer ? b->buffer->data + b->offset : dev->nothing,
				.n_bytes = b->n_bytes,
				.buffer_offset = b->offset,
				.length = (uint32_t)length,
				.is_short = b->n_bytes < slot->fixed_bytes};
	return PCTL_OK;
}

static pctl_status check_overlap(const pctl_call *call, const pctl_cpu_code *code,
				 const pctl_cpu_cmd *cmd)
{
	for (uint32_t i = 0; i < code->n_slots; i++) {
		const pctl_cpu_bound *a = &cmd->bounds[i];

		if (!code->slots[i].writable || a->n_bytes == 0)
			continue;
		for (uint32_t k = 0; k < code->n_slots; k++) {
			const pctl_cpu_bound *b = &cmd->bounds[k];

			if (k == i || b->n_bytes == 0 || cmd->buffers[i] != cmd->buffers[k])
				continue;
			if (a->buffer_offset < b->buffer_offset + b->n_bytes &&
			    b->buffer_offset < a->buffer_offset + a->n_bytes)
				return pctl_refuse(
					call, PC3206_BINDING_OVERLAP,
					"group %u, binding %u can be written and shares bytes with "
					"group %u, binding %u",
					code->slots[i].group, code->slots[i].binding,
					code->slots[k].group, code->slots[k].binding);
		}
	}
	return PCTL_OK;
}

pctl_status pctl_cpu_bind(pctl_device *dev, const pctl_call *call, const pctl_kernel *k,
			  const pctl_binding *bindings, uint32_t n_bindings, pctl_cpu_cmd *cmd)
{
	const pctl_cpu_code *code = k->code;
	pctl_status status = PCTL_OK;

	if (n_bindings && !bindings)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "dispatch: the bindings are missing");
	cmd->bounds = calloc(code->n_slots + 1u, sizeof(*cmd->bounds));
	cmd->buffers = calloc(code->n_slots + 1u, sizeof(*cmd->buffers));
	if (!cmd->bounds || !cmd->buffers)
		return pctl_no_memory(call, "bindings");
	for (uint32_t i = 0; i < n_bindings && status == PCTL_OK; i++) {
		uint32_t slot = 0;

		status = find_slot(call, code, &bindings[i], &slot);
		if (status == PCTL_OK && cmd->bounds[slot].base)
			status = pctl_refuse(call, PC3205_BINDING_UNKNOWN,
					     "group %u, binding %u is bound twice",
					     bindings[i].group, bindings[i].binding);
		if (status == PCTL_OK)
			status = bind_one(dev, call, &code->slots[slot], &bindings[i],
					  &cmd->bounds[slot]);
		if (status == PCTL_OK)
			cmd->buffers[slot] = bindings[i].buffer;
	}
	for (uint32_t i = 0; i < code->n_slots && status == PCTL_OK; i++)
		if (!cmd->bounds[i].base)
			status = pctl_refuse(call, PC3204_BINDING_MISSING,
					     "nothing is bound to group %u, binding %u",
					     code->slots[i].group, code->slots[i].binding);
	if (status == PCTL_OK)
		status = check_overlap(call, code, cmd);
	return status;
}
