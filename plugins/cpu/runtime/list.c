/* Command lists: commands checked when they are recorded, so that running them cannot fail on an
 * argument. A list keeps what it refers to alive. */
#include "runtime/device.h"

#include <inttypes.h>
#include <stdlib.h>

static pctl_status check_open(const pctl_list *l, const pctl_call *call)
{
	if (!l)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "the list is missing");
	if (l->state != PCTL_CPU_LIST_OPEN)
		return pctl_refuse(call, PC3213_LIST_STATE, "the list is not open for recording");
	return PCTL_OK;
}

static void drop(pctl_cpu_cmd *cmd)
{
	for (uint32_t i = 0; cmd->buffers && cmd->kernel && i < cmd->kernel->code->n_slots; i++)
		pctl_cpu_buffer_release(cmd->buffers[i]);
	free(cmd->buffers);
	free(cmd->bounds);
	pctl_cpu_kernel_release(cmd->kernel);
	pctl_cpu_buffer_release(cmd->from);
	pctl_cpu_buffer_release(cmd->to);
}

/* Append a checked command and take references to what it names. */
static pctl_status append(pctl_list *l, const pctl_call *call, const pctl_cpu_cmd *cmd)
{
	if (l->n_cmds == l->cap_cmds) {
		const uint32_t cap = l->cap_cmds ? l->cap_cmds * 2 : 16;
		pctl_cpu_cmd *grown =
			cap > l->cap_cmds ? realloc(l->cmds, cap * sizeof(*grown)) : NULL;

		if (!grown)
			return pctl_no_memory(call, "a command");
		l->cmds = grown;
		l->cap_cmds = cap;
	}
	for (uint32_t i = 0; cmd->buffers && i < cmd->kernel->code->n_slots; i++)
		if (cmd->buffers[i])
			cmd->buffers[i]->refs++;
	if (cmd->kernel)
		cmd->kernel->refs++;
	if (cmd->from)
		cmd->from->refs++;
	if (cmd->to)
		cmd->to->refs++;
	l->cmds[l->n_cmds++] = *cmd;
	return PCTL_OK;
}

static pctl_status broken(pctl_list *l, pctl_status status)
{
	if (status != PCTL_OK && l && l->state == PCTL_CPU_LIST_OPEN)
		l->state = PCTL_CPU_LIST_BROKEN;
	return status;
}

pctl_status pctl_cpu_list_begin(pctl_device *dev, const pctl_call *call, pctl_list **out)
{
	if (!dev || !out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "list_begin: a pointer is missing");
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return pctl_no_memory(call, "a list");
	(*out)->dev = dev;
	return PCTL_OK;
}

static pctl_status record(pctl_list *l, const pctl_call *call, pctl_kernel *k,
			  const pctl_binding *bindings, uint32_t n_bindings, pctl_cpu_cmd *cmd,
			  const uint32_t groups[3])
{
	pctl_status status = check_open(l, call);

	if (status != PCTL_OK)
		return status;
	if (!k || k->dev != l->dev || !groups)
		return broken(l, pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
					     "dispatch: no kernel of this device, or no counts"));
	for (int i = 0; i < 3; i++) {
		if (groups[i] > PCTL_CPU_MAX_GROUPS)
			return broken(l,
				      pctl_refuse(call, PC3209_GROUPS_LIMIT,
						  "%u workgroups in dimension %d; %u are possible",
						  groups[i], i, PCTL_CPU_MAX_GROUPS));
		cmd->groups[i] = groups[i];
	}
	cmd->number = l->n_dispatches;
	status = pctl_cpu_bind(l->dev, call, k, bindings, n_bindings, cmd);
	cmd->kernel = k;
	if (status == PCTL_OK)
		status = append(l, call, cmd);
	if (status == PCTL_OK) {
		l->n_dispatches++;
	} else {
		free(cmd->bounds);
		free(cmd->buffers);
	}
	return broken(l, status);
}

pctl_status pctl_cpu_list_dispatch(pctl_list *l, const pctl_call *call, pctl_kernel *k,
				   const pctl_binding *bindings, uint32_t n_bindings,
				   const uint32_t groups[3])
{
	pctl_cpu_cmd cmd = {.kind = PCTL_CPU_CMD_DISPATCH};

	return record(l, call, k, bindings, n_bindings, &cmd, groups);
}

pctl_status pctl_cpu_list_dispatch_indirect(pctl_list *l, const pctl_call *call, pctl_kernel *k,
					    const pctl_binding *bindings, uint32_t n_bindings,
					    pctl_buffer *buf, uint64_t offset,
					    const uint32_t limit[3])
{
	pctl_cpu_cmd cmd = {.kind = PCTL_CPU_CMD_INDIRECT, .from = buf, .from_offset = offset};
	pctl_status status = check_open(l, call);

	if (status == PCTL_OK)
		status =
			broken(l, pctl_cpu_buffer_range(l->dev, call, buf, offset, 12,
							PCTL_BUFFER_INDIRECT, "dispatch_indirect"));
	if (status == PCTL_OK && offset % 4)
		status = broken(l, pctl_refuse(call, PC3203_BACKEND_ALIGNMENT,
					       "dispatch_indirect: offset %" PRIu64
					       " is no multiple of 4",
					       offset));
	return status != PCTL_OK ? status : record(l, call, k, bindings, n_bindings, &cmd, limit);
}

static pctl_status check_words(const pctl_call *call, const char *what, uint64_t a, uint64_t b,
			       uint64_t n)
{
	if (a % 4 || b % 4 || n % 4)
		return pctl_refuse(call, PC3203_BACKEND_ALIGNMENT,
				   "%s: offsets and sizes are multiples of 4", what);
	return PCTL_OK;
}

pctl_status pctl_cpu_list_copy(pctl_list *l, const pctl_call *call, pctl_buffer *from,
			       uint64_t from_offset, pctl_buffer *to, uint64_t to_offset,
			       uint64_t n_bytes)
{
	const pctl_cpu_cmd cmd = {.kind = PCTL_CPU_CMD_COPY,
				  .from = from,
				  .to = to,
				  .from_offset = from_offset,
				  .to_offset = to_offset,
				  .n_bytes = n_bytes};
	pctl_status status = check_open(l, call);

	if (status != PCTL_OK)
		return status;
	status = pctl_cpu_buffer_range(l->dev, call, from, from_offset, n_bytes,
				       PCTL_BUFFER_TRANSFER, "list_copy");
	if (status == PCTL_OK)
		status = pctl_cpu_buffer_range(l->dev, call, to, to_offset, n_bytes,
					       PCTL_BUFFER_TRANSFER, "list_copy");
	if (status == PCTL_OK)
		status = check_words(call, "list_copy", from_offset, to_offset, n_bytes);
	if (status == PCTL_OK && from == to && from_offset < to_offset + n_bytes &&
	    to_offset < from_offset + n_bytes)
		status = pctl_refuse(call, PC3202_BACKEND_RANGE,
				     "list_copy: source and target overlap");
	if (status == PCTL_OK)
		status = append(l, call, &cmd);
	return broken(l, status);
}

pctl_status pctl_cpu_list_fill(pctl_list *l, const pctl_call *call, pctl_buffer *buf,
			       uint64_t offset, uint64_t n_bytes, uint32_t word)
{
	const pctl_cpu_cmd cmd = {.kind = PCTL_CPU_CMD_FILL,
				  .to = buf,
				  .to_offset = offset,
				  .n_bytes = n_bytes,
				  .word = word};
	pctl_status status = check_open(l, call);

	if (status != PCTL_OK)
		return status;
	status = pctl_cpu_buffer_range(l->dev, call, buf, offset, n_bytes, PCTL_BUFFER_TRANSFER,
				       "list_fill");
	if (status == PCTL_OK)
		status = check_words(call, "list_fill", offset, 0, n_bytes);
	if (status == PCTL_OK)
		status = append(l, call, &cmd);
	return broken(l, status);
}

pctl_status pctl_cpu_list_barrier(pctl_list *l, const pctl_call *call)
{
	return check_open(l,
			  call); /* commands run one after the other: the order is there already */
}

pctl_status pctl_cpu_list_timestamp(pctl_list *l, const pctl_call *call, uint32_t slot)
{
	const pctl_cpu_cmd cmd = {.kind = PCTL_CPU_CMD_TIMESTAMP, .word = slot};
	pctl_status status = check_open(l, call);

	if (status != PCTL_OK)
		return status;
	if (slot >= PCTL_CPU_N_TIMESTAMPS)
		return broken(l, pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
					     "timestamp slot %u; 0 to %u are there", slot,
					     PCTL_CPU_N_TIMESTAMPS - 1));
	return broken(l, append(l, call, &cmd));
}

pctl_status pctl_cpu_list_end(pctl_list *l, const pctl_call *call)
{
	pctl_status status = check_open(l, call);

	if (status == PCTL_OK)
		l->state = PCTL_CPU_LIST_CLOSED;
	return status;
}

void pctl_cpu_list_destroy(pctl_device *dev, pctl_list *l)
{
	if (!dev || !l || l->dev != dev)
		return;
	pctl_cpu_idle(dev);
	for (uint32_t i = 0; i < l->n_cmds; i++)
		drop(&l->cmds[i]);
	free(l->cmds);
	free(l);
}
