/* Lists: every command goes into the inner list, which says whether it is valid, and is kept here, so that a submit can
 * be taken apart where something is to go wrong. */
#include "runtime/mock.h"

#include <stdlib.h>
#include <string.h>

static void drop(mock_cmd *c)
{
	for (uint32_t i = 0; i < c->n_bindings; i++)
		mock_buffer_release(c->bindings[i].buffer);
	free(c->bindings);
	mock_kernel_release(c->kernel);
	mock_buffer_release(c->from);
	mock_buffer_release(c->to);
}

static int grow(void **items, uint32_t n, uint32_t *cap, size_t size)
{
	const uint32_t more = *cap ? 2 * *cap : 16;
	void *grown;

	if (n < *cap)
		return 1;
	grown = realloc(*items, more * size);
	if (!grown)
		return 0;
	*items = grown;
	*cap = more;
	return 1;
}

/* A range that the list writes, once. */
static int note_output(pctl_list *l, pctl_buffer *b, uint64_t offset, uint64_t n_bytes)
{
	const mock_range r = {b, offset, n_bytes};

	if (!b || n_bytes < 4)
		return 1;
	for (uint32_t i = 0; i < l->n_outputs; i++)
		if (l->outputs[i].buffer == b && l->outputs[i].offset == offset &&
		    l->outputs[i].n_bytes == n_bytes)
			return 1;
	if (!grow((void **)&l->outputs, l->n_outputs, &l->cap_outputs, sizeof(r)))
		return 0;
	l->outputs[l->n_outputs++] = r;
	return 1;
}

int mock_is_step(const mock_cmd *c)
{
	return c->kind <= MOCK_FILL;
}

int mock_is_written(const mock_cmd *c, const pctl_binding *b)
{
	for (uint32_t i = 0; i < c->kernel->n_written; i++)
		if (c->kernel->written[i].group == b->group &&
		    c->kernel->written[i].binding == b->binding)
			return 1;
	return 0;
}

static int note_outputs(pctl_list *l, const mock_cmd *c)
{
	int ok = 1;

	if (c->kind == MOCK_COPY || c->kind == MOCK_FILL)
		return note_output(l, c->to, c->to_offset, c->n_bytes);
	for (uint32_t i = 0; i < c->n_bindings; i++)
		if (mock_is_written(c, &c->bindings[i]))
			ok = ok && note_output(l, c->bindings[i].buffer, c->bindings[i].offset,
					       c->bindings[i].n_bytes);
	return ok;
}

/* Keep a command that the inner list has taken. Takes over c->bindings. */
static pctl_status keep(pctl_list *l, const pctl_call *call, mock_cmd *c)
{
	c->trace = call ? call->trace_id : 0;
	if (!grow((void **)&l->cmds, l->n_cmds, &l->cap_cmds, sizeof(*c)) || !note_outputs(l, c)) {
		free(c->bindings);
		return pctl_no_memory(call, "a command");
	}
	for (uint32_t i = 0; i < c->n_bindings; i++)
		if (c->bindings[i].buffer)
			c->bindings[i].buffer->refs++;
	if (c->kernel)
		c->kernel->refs++;
	if (c->from)
		c->from->refs++;
	if (c->to)
		c->to->refs++;
	l->cmds[l->n_cmds++] = *c;
	return PCTL_OK;
}

pctl_status mock_replay(const mock_cmd *c, pctl_device *dev, pctl_list *inner,
			const pctl_call *call)
{
	const pctl_backend *t = dev->t;
	pctl_binding *bindings;
	pctl_status s;

	switch (c->kind) {
	case MOCK_COPY:
		s = mock_transfer(dev, call, c->from, "list_copy");
		if (s == PCTL_OK)
			s = mock_transfer(dev, call, c->to, "list_copy");
		if (s != PCTL_OK)
			return s;
		return t->list_copy(inner, call, c->from->inner, c->from_offset, c->to->inner,
				    c->to_offset, c->n_bytes);
	case MOCK_FILL:
		s = mock_transfer(dev, call, c->to, "list_fill");
		if (s != PCTL_OK)
			return s;
		return t->list_fill(inner, call, c->to->inner, c->to_offset, c->n_bytes, c->word);
	case MOCK_BARRIER:
		return t->list_barrier(inner, call);
	case MOCK_TIMESTAMP:
		return t->list_timestamp(inner, call, c->word);
	default:
		break;
	}
	bindings = calloc(c->n_bindings + 1u, sizeof(*bindings));
	if (!bindings)
		return pctl_no_memory(call, "a command");
	for (uint32_t i = 0; i < c->n_bindings; i++) {
		bindings[i] = c->bindings[i];
		bindings[i].buffer = c->bindings[i].buffer ? c->bindings[i].buffer->inner : NULL;
	}
	if (c->kind == MOCK_DISPATCH)
		s = t->list_dispatch(inner, call, c->kernel->inner, bindings, c->n_bindings,
				     c->groups);
	else
		s = t->list_dispatch_indirect(inner, call, c->kernel->inner, bindings,
					      c->n_bindings, c->from ? c->from->inner : NULL,
					      c->from_offset, c->groups);
	free(bindings);
	return s;
}

pctl_status mock_list_begin(pctl_device *dev, const pctl_call *call, pctl_list **out)
{
	pctl_list *l;
	pctl_status s;

	if (!dev || !out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "list_begin: a pointer is missing");
	*out = NULL;
	l = calloc(1, sizeof(*l));
	if (!l)
		return pctl_no_memory(call, "a list");
	l->dev = dev;
	s = dev->t->list_begin(dev->inner, call, &l->inner);
	if (s != PCTL_OK)
		free(l);
	else
		*out = l;
	return s;
}

static pctl_status record(pctl_list *l, const pctl_call *call, mock_cmd *c)
{
	pctl_status s;

	if (!l) {
		free(c->bindings);
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "the list is missing");
	}
	s = mock_replay(c, l->dev, l->inner, call);
	if (s == PCTL_OK)
		s = keep(l, call, c);
	else
		free(c->bindings);
	l->is_broken |= s != PCTL_OK;
	return s;
}

static pctl_status dispatch(pctl_list *l, const pctl_call *call, pctl_kernel *k,
			    const pctl_binding *bindings, uint32_t n, const uint32_t groups[3],
			    mock_cmd *c)
{
	if (!l || !k || k->dev != l->dev || !groups || (n && !bindings)) {
		if (l)
			l->is_broken = 1;
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "dispatch: no list or kernel of this device, or no counts");
	}
	/* Probes bind what any device takes. */
	for (uint32_t i = 0; i < n && call && call->trace_id != 0; i++) {
		if (bindings[i].n_bytes <= mock_widest(l->dev))
			continue;
		l->is_broken = 1;
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "dispatch: a binding has more bytes than device_caps says");
	}
	c->kernel = k;
	memcpy(c->groups, groups, sizeof(c->groups));
	c->bindings = calloc(n + 1u, sizeof(*c->bindings));
	if (!c->bindings)
		return pctl_no_memory(call, "a command");
	if (n)
		memcpy(c->bindings, bindings, n * sizeof(*bindings));
	c->n_bindings = n;
	return record(l, call, c);
}

pctl_status mock_list_dispatch(pctl_list *l, const pctl_call *call, pctl_kernel *k,
			       const pctl_binding *bindings, uint32_t n_bindings,
			       const uint32_t groups[3])
{
	mock_cmd c = {.kind = MOCK_DISPATCH};

	return dispatch(l, call, k, bindings, n_bindings, groups, &c);
}

pctl_status mock_list_dispatch_indirect(pctl_list *l, const pctl_call *call, pctl_kernel *k,
					const pctl_binding *bindings, uint32_t n_bindings,
					pctl_buffer *buf, uint64_t offset, const uint32_t limit[3])
{
	mock_cmd c = {.kind = MOCK_INDIRECT, .from = buf, .from_offset = offset};

	return dispatch(l, call, k, bindings, n_bindings, limit, &c);
}

pctl_status mock_list_copy(pctl_list *l, const pctl_call *call, pctl_buffer *from,
			   uint64_t from_offset, pctl_buffer *to, uint64_t to_offset,
			   uint64_t n_bytes)
{
	mock_cmd c = {.kind = MOCK_COPY,
		      .from = from,
		      .to = to,
		      .from_offset = from_offset,
		      .to_offset = to_offset,
		      .n_bytes = n_bytes};

	return record(l, call, &c);
}

pctl_status mock_list_fill(pctl_list *l, const pctl_call *call, pctl_buffer *buf, uint64_t offset,
			   uint64_t n_bytes, uint32_t word)
{
	mock_cmd c = {.kind = MOCK_FILL,
		      .word = word,
		      .to = buf,
		      .to_offset = offset,
		      .n_bytes = n_bytes};

	return record(l, call, &c);
}

pctl_status mock_list_barrier(pctl_list *l, const pctl_call *call)
{
	mock_cmd c = {.kind = MOCK_BARRIER};

	return record(l, call, &c);
}

pctl_status mock_list_timestamp(pctl_list *l, const pctl_call *call, uint32_t slot)
{
	mock_cmd c = {.kind = MOCK_TIMESTAMP, .word = slot};

	return record(l, call, &c);
}

pctl_status mock_list_end(pctl_list *l, const pctl_call *call)
{
	if (!l)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "the list is missing");
	if (l->is_broken)
		return pctl_refuse(call, PC3213_LIST_STATE, "list_end: a command was refused");
	return l->dev->t->list_end(l->inner, call);
}

void mock_list_destroy(pctl_device *dev, pctl_list *l)
{
	if (!dev || !l || l->dev != dev)
		return;
	dev->t->list_destroy(dev->inner, l->inner);
	for (uint32_t i = 0; i < l->n_cmds; i++)
		drop(&l->cmds[i]);
	for (uint32_t i = 0; l->kept && i < l->n_outputs; i++)
		free(l->kept[i]);
	free(l->kept);
	free(l->cmds);
	free(l->outputs);
	free(l);
}
