/* Recording: each call checks what it is given and keeps one command. A dispatch gets a kernel
 * object of its own, so that its arguments are set once however often the list runs. */
#include "runtime/opencl.h"

#include <stdlib.h>

pctl_status opencl_list_begin(pctl_device *dev, const pctl_call *call, pctl_list **out)
{
	pctl_list *l = calloc(1, sizeof(*l));

	*out = NULL;
	if (!l)
		return pctl_refuse(call, PC2_NOMEM, "opencl: a command list");
	l->dev = dev;
	*out = l;
	return PCTL_OK;
}

static void command_release(command *c)
{
	if (c->kernel)
		clReleaseKernel(c->kernel);
}

void opencl_list_destroy(pctl_device *dev, pctl_list *l)
{
	(void)dev;
	if (!l)
		return;
	/* The last first: PoCL keeps a program's kernels in a list with the newest in front, and looks each one up. */
	for (uint32_t i = l->n_commands; i-- > 0;)
		command_release(&l->commands[i]);
	for (uint32_t i = 0; i < l->n_spare; i++)
		clReleaseMemObject(l->spare[i]);
	for (uint32_t i = 0; i < 64; i++)
		if (l->slots[i])
			clReleaseEvent(l->slots[i]);
	free(l->commands);
	free(l->spare);
	free(l);
}

static pctl_status fault(pctl_list *l, pctl_status status)
{
	if (status != PCTL_OK)
		l->failed = 1;
	return status;
}

/* Take over the command, whose kernel is released here when it cannot be kept. */
static pctl_status append(pctl_list *l, const pctl_call *call, command *c)
{
	if (l->n_commands == l->capacity) {
		const uint32_t capacity = l->capacity ? l->capacity * 2 : 16;
		command *more = capacity > l->capacity
					? realloc(l->commands, capacity * sizeof(*more))
					: NULL;

		if (!more) {
			command_release(c);
			return fault(l, pctl_refuse(call, PC2_NOMEM, "opencl: a command list"));
		}
		l->commands = more;
		l->capacity = capacity;
	}
	l->commands[l->n_commands++] = *c;
	return PCTL_OK;
}

static pctl_status check_open(pctl_list *l, const pctl_call *call)
{
	if (!l->ended)
		return PCTL_OK;
	return fault(l, pctl_refuse(call, PC3213_LIST_STATE, "the list is closed"));
}

static int inside(const pctl_buffer *buf, uint64_t offset, uint64_t n_bytes)
{
	return offset <= buf->n_bytes && n_bytes <= buf->n_bytes - offset;
}

/* Recorded copies, fills and counts move whole words inside their buffers. */
static pctl_status check_words(pctl_list *l, const pctl_call *call, const pctl_buffer *buf,
			       uint64_t offset, uint64_t n_bytes)
{
	if ((offset | n_bytes) % 4)
		return fault(
			l, pctl_refuse(call, PC3203_BACKEND_ALIGNMENT,
				       "bytes [%llu, +%llu) do not begin and end at multiples of 4",
				       (unsigned long long)offset, (unsigned long long)n_bytes));
	if (!inside(buf, offset, n_bytes))
		return fault(l, pctl_refuse(call, PC3202_BACKEND_RANGE,
					    "bytes [%llu, +%llu) of a buffer of %llu",
					    (unsigned long long)offset, (unsigned long long)n_bytes,
					    (unsigned long long)buf->n_bytes));
	return PCTL_OK;
}

static const pctl_binding *binding_of(const pctl_var *var, const pctl_binding *bindings,
				      uint32_t n_bindings)
{
	for (uint32_t i = 0; i < n_bindings; i++)
		if (bindings[i].group == var->group && bindings[i].binding == var->binding)
			return &bindings[i];
	return NULL;
}

/* Zeros for a binding that has no bytes, as many as a load of the fixed part may touch. */
static pctl_status spare(pctl_list *l, const pctl_call *call, uint64_t n_bytes, cl_mem *out)
{
	cl_mem *more = realloc(l->spare, (l->n_spare + 1u) * sizeof(*more));
	pctl_status status;

	if (!more)
		return pctl_refuse(call, PC2_NOMEM, "opencl: a command list");
	l->spare = more;
	status = opencl_zeros(l->dev, call, n_bytes ? n_bytes : 4, out);
	if (status == PCTL_OK)
		l->spare[l->n_spare++] = *out;
	return status;
}

static pctl_status check_binding(const pctl_call *call, const pctl_var *var, const pctl_binding *b,
				 uint64_t fixed_bytes)
{
	if (!b)
		return pctl_refuse(call, PC3204_BINDING_MISSING,
				   "nothing is bound to group %u binding %u", var->group,
				   var->binding);
	if (b->n_bytes && (!b->buffer || !inside(b->buffer, b->offset, b->n_bytes)))
		return pctl_refuse(
			call, PC3202_BACKEND_RANGE,
			"group %u binding %u: bytes [%llu, +%llu) are outside the buffer",
			var->group, var->binding, (unsigned long long)b->offset,
			(unsigned long long)b->n_bytes);
	if (b->n_bytes && b->offset % 64)
		return pctl_refuse(call, PC3203_BACKEND_ALIGNMENT,
				   "group %u binding %u: offset %llu is not a multiple of 64",
				   var->group, var->binding, (unsigned long long)b->offset);
	if (b->n_bytes && b->n_bytes < fixed_bytes)
		return pctl_refuse(call, PC3275_OPENCL_SHORT_BINDING,
				   "group %u binding %u: %llu bytes, its type needs %llu (or none)",
				   var->group, var->binding, (unsigned long long)b->n_bytes,
				   (unsigned long long)fixed_bytes);
	return PCTL_OK;
}

static pctl_status set_binding(pctl_list *l, const pctl_call *call, pctl_kernel *k,
			       cl_kernel kernel, uint32_t v, const pctl_binding *b)
{
	uint64_t fixed_bytes, stride, elements = 0;
	cl_uint first = v * EMIT_ARGS_PER_VAR, length, present;
	cl_ulong offset;
	pctl_status status;
	cl_int error;
	cl_mem mem;

	emit_binding_layout(k->program, v, &fixed_bytes, &stride);
	status = check_binding(call, &k->program->vars[v], b, fixed_bytes);
	if (status != PCTL_OK)
		return status;
	present = b->n_bytes != 0;
	if (present && stride)
		elements = (b->n_bytes - fixed_bytes) / stride;
	if (elements > UINT32_MAX)
		return pctl_refuse(call, PC3208_BUFFER_LIMIT,
				   "group %u binding %u has more than 2^32-1 elements",
				   k->program->vars[v].group, k->program->vars[v].binding);
	length = (cl_uint)elements;
	offset = present ? b->offset : 0;
	if (present)
		mem = b->buffer->mem;
	else
		status = spare(l, call, fixed_bytes, &mem);
	if (status != PCTL_OK)
		return status;
	error = clSetKernelArg(kernel, first, sizeof(mem), &mem);
	if (error == CL_SUCCESS)
		error = clSetKernelArg(kernel, first + 1, sizeof(offset), &offset);
	if (error == CL_SUCCESS)
		error = clSetKernelArg(kernel, first + 2, sizeof(length), &length);
	if (error == CL_SUCCESS)
		error = clSetKernelArg(kernel, first + 3, sizeof(present), &present);
	return error == CL_SUCCESS ? PCTL_OK : opencl_fail(l->dev, call, error, "clSetKernelArg");
}

static int is_writable(const pctl_program *p, uint32_t v)
{
	return p->vars[v].space == PCTL_SPACE_STORAGE && p->vars[v].access != PCTL_ACCESS_READ;
}

static int overlap(const pctl_binding *a, const pctl_binding *b)
{
	return a->n_bytes && b->n_bytes && a->buffer == b->buffer &&
	       a->offset < b->offset + b->n_bytes && b->offset < a->offset + a->n_bytes;
}

/* The generated code says `restrict`, so this is a matter of right results and not of taste. */
static pctl_status check_overlap(const pctl_call *call, const pctl_kernel *k,
				 const pctl_binding *bindings, uint32_t n_bindings)
{
	const pctl_program *p = k->program;

	for (uint32_t v = 0; v < k->facts.n_bindings; v++) {
		const pctl_binding *a = binding_of(&p->vars[v], bindings, n_bindings);

		for (uint32_t w = 0; w < v; w++) {
			const pctl_binding *b = binding_of(&p->vars[w], bindings, n_bindings);

			if (a && b && (is_writable(p, v) || is_writable(p, w)) && overlap(a, b))
				return pctl_refuse(
					call, PC3206_BINDING_OVERLAP,
					"group %u binding %u overlaps group %u binding %u",
					a->group, a->binding, b->group, b->binding);
		}
	}
	return PCTL_OK;
}

/* Each binding names one variable of the program, and none twice. */
static pctl_status check_known(const pctl_call *call, const pctl_kernel *k,
			       const pctl_binding *bindings, uint32_t n_bindings)
{
	for (uint32_t i = 0; i < n_bindings; i++) {
		int known = 0;

		for (uint32_t v = 0; v < k->facts.n_bindings; v++)
			known |= binding_of(&k->program->vars[v], bindings, n_bindings) ==
				 &bindings[i];
		if (!known)
			return pctl_refuse(call, PC3205_BINDING_UNKNOWN, "group %u binding %u",
					   bindings[i].group, bindings[i].binding);
	}
	return PCTL_OK;
}

static pctl_status check_groups(pctl_list *l, const pctl_call *call, const uint32_t groups[3])
{
	pctl_device_caps caps;

	opencl_device_caps(l->dev, call, &caps);
	for (uint32_t i = 0; i < 3; i++)
		if (groups[i] > caps.max_groups[i])
			return pctl_refuse(call, PC3209_GROUPS_LIMIT,
					   "%u workgroups in dimension %u, at most %llu", groups[i],
					   i, (unsigned long long)caps.max_groups[i]);
	return PCTL_OK;
}

static pctl_status record(pctl_list *l, const pctl_call *call, pctl_kernel *k,
			  const pctl_binding *bindings, uint32_t n_bindings,
			  const uint32_t groups[3], command *c)
{
	pctl_status status = check_open(l, call);
	cl_int error;

	if (status == PCTL_OK)
		status = check_groups(l, call, groups);
	if (status == PCTL_OK)
		status = check_known(call, k, bindings, n_bindings);
	if (status == PCTL_OK)
		status = check_overlap(call, k, bindings, n_bindings);
	if (status != PCTL_OK)
		return fault(l, status);
	c->kernel = clCreateKernel(k->built, EMIT_KERNEL_NAME, &error);
	if (error != CL_SUCCESS)
		return fault(l, opencl_fail(l->dev, call, error, "clCreateKernel"));
	for (uint32_t v = 0; v < k->facts.n_bindings && status == PCTL_OK; v++)
		status = set_binding(l, call, k, c->kernel, v,
				     binding_of(&k->program->vars[v], bindings, n_bindings));
	if (status == PCTL_OK && k->facts.workgroup_bytes) {
		error = clSetKernelArg(c->kernel, k->facts.n_bindings * EMIT_ARGS_PER_VAR,
				       (size_t)k->facts.workgroup_bytes, NULL);
		if (error != CL_SUCCESS)
			status = opencl_fail(l->dev, call, error, "clSetKernelArg");
	}
	if (status == PCTL_OK)
		status = opencl_switch(l->dev, call, k, c->kernel, 1);
	if (status != PCTL_OK) {
		command_release(c);
		return fault(l, status);
	}
	for (uint32_t i = 0; i < 3; i++) {
		c->groups[i] = groups[i];
		c->local[i] = k->local[i];
	}
	return append(l, call, c);
}

pctl_status opencl_list_dispatch(pctl_list *l, const pctl_call *call, pctl_kernel *k,
				 const pctl_binding *bindings, uint32_t n_bindings,
				 const uint32_t groups[3])
{
	command c = {.kind = COMMAND_DISPATCH};

	return record(l, call, k, bindings, n_bindings, groups, &c);
}

pctl_status opencl_list_dispatch_indirect(pctl_list *l, const pctl_call *call, pctl_kernel *k,
					  const pctl_binding *bindings, uint32_t n_bindings,
					  pctl_buffer *buf, uint64_t offset,
					  const uint32_t limit[3])
{
	command c = {.kind = COMMAND_INDIRECT};
	pctl_status status = check_words(l, call, buf, offset, 12);

	if (status != PCTL_OK)
		return status;
	c.from = buf->mem;
	c.from_offset = (size_t)offset;
	return record(l, call, k, bindings, n_bindings, limit, &c);
}

pctl_status opencl_list_copy(pctl_list *l, const pctl_call *call, pctl_buffer *from,
			     uint64_t from_offset, pctl_buffer *to, uint64_t to_offset,
			     uint64_t n_bytes)
{
	command c = {.kind = COMMAND_COPY};
	pctl_status status = check_open(l, call);

	if (status == PCTL_OK)
		status = check_words(l, call, from, from_offset, n_bytes);
	if (status == PCTL_OK)
		status = check_words(l, call, to, to_offset, n_bytes);
	if (status != PCTL_OK)
		return status;
	if (from == to && from_offset < to_offset + n_bytes && to_offset < from_offset + n_bytes)
		return fault(l,
			     pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "a copy overlaps itself"));
	if (!n_bytes)
		return PCTL_OK;
	c.from = from->mem;
	c.to = to->mem;
	c.from_offset = (size_t)from_offset;
	c.to_offset = (size_t)to_offset;
	c.n_bytes = (size_t)n_bytes;
	return append(l, call, &c);
}

pctl_status opencl_list_fill(pctl_list *l, const pctl_call *call, pctl_buffer *buf, uint64_t offset,
			     uint64_t n_bytes, uint32_t word)
{
	command c = {.kind = COMMAND_FILL, .word = word};
	pctl_status status = check_open(l, call);

	if (status == PCTL_OK)
		status = check_words(l, call, buf, offset, n_bytes);
	if (status != PCTL_OK || !n_bytes)
		return status;
	c.to = buf->mem;
	c.to_offset = (size_t)offset;
	c.n_bytes = (size_t)n_bytes;
	return append(l, call, &c);
}

/* The queue runs in order and makes memory visible between commands: nothing to record. */
pctl_status opencl_list_barrier(pctl_list *l, const pctl_call *call)
{
	return check_open(l, call);
}

pctl_status opencl_list_timestamp(pctl_list *l, const pctl_call *call, uint32_t slot)
{
	command c = {.kind = COMMAND_TIMESTAMP, .slot = slot};
	pctl_status status = check_open(l, call);

	if (status != PCTL_OK)
		return status;
	if (slot >= 64)
		return fault(l, pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
					    "timestamp slot %u, at most 63", slot));
	if (slot >= l->n_slots)
		l->n_slots = slot + 1;
	return append(l, call, &c);
}

pctl_status opencl_list_end(pctl_list *l, const pctl_call *call)
{
	pctl_status status = check_open(l, call);

	if (status == PCTL_OK && l->failed)
		status = pctl_refuse(call, PC3213_LIST_STATE,
				     "the list holds a command that was refused");
	l->ended = status == PCTL_OK;
	return status;
}
