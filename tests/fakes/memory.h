/* A backend in plain memory for tests: complete, well-behaved, and without any use. Each planted
 * fault includes it and spoils one thing. A dispatch adds groups[0] to every u32 of every binding.
 */
#ifndef PIPECTL_TESTS_FAKES_MEMORY_H
#define PIPECTL_TESTS_FAKES_MEMORY_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipectl/backend.h"

struct pctl_instance {
	const pctl_host *host;
};
struct pctl_device {
	struct pctl_instance *inst;
	uint64_t next_ticket, done_ticket, cancelled;
	uint32_t submits;
	uint32_t findings;
};
struct pctl_buffer {
	uint64_t n_bytes;
	uint8_t *data;
};
struct pctl_kernel {
	uint64_t n_wire;
};
enum { FAKE_DISPATCH, FAKE_INDIRECT, FAKE_COPY, FAKE_FILL, FAKE_BARRIER, FAKE_TIMESTAMP };
typedef struct fake_command {
	uint32_t what, word, n_bindings;
	pctl_binding bindings[8];
	pctl_buffer *from, *to;
	uint64_t from_offset, to_offset, n_bytes;
} fake_command;
struct pctl_list {
	fake_command *commands;
	uint32_t n, ended;
};

static pctl_status fake_devices(pctl_instance *inst, const pctl_call *call, uint32_t capacity,
				pctl_device_info *out, uint32_t *n_out)
{
	(void)inst;
	(void)call;
	if (capacity) {
		out->kind = PCTL_DEVICE_OTHER;
		strcpy(out->name, "Fake Device");
		strcpy(out->driver, "plain memory 1");
	}
	*n_out = 1;
	return PCTL_OK;
}

static pctl_status fake_device_open(pctl_instance *inst, const pctl_call *call, uint32_t index,
				    pctl_device **out)
{
	*out = NULL;
	if (index)
		return pctl_refuse(call, PC3231_DEVICE_UNKNOWN, "there is no device %u", index);
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return PCTL_E_NOMEM;
	(*out)->inst = inst;
	(*out)->next_ticket = 1;
	return PCTL_OK;
}

static void fake_device_close(pctl_device *dev)
{
	free(dev);
}

static pctl_status fake_device_identity(pctl_device *dev, const pctl_call *call, uint32_t capacity,
					pctl_key_value *out, uint32_t *n_out)
{
	static const char *const facts[2][2] = {{"vendor", "nobody"}, {"api", "none"}};
	uint32_t i;

	(void)dev;
	(void)call;
	for (i = 0; i < 2 && i < capacity; i++) {
		strcpy(out[i].key, facts[i][0]);
		strcpy(out[i].value, facts[i][1]);
	}
	*n_out = 2;
	return PCTL_OK;
}

static pctl_status fake_device_caps(pctl_device *dev, const pctl_call *call, pctl_device_caps *out)
{
	(void)dev;
	(void)call;
	out->caps = PCTL_CAP_I64;
	out->max_binding_bytes = 1u << 30;
	out->max_buffer_bytes = 1u << 30;
	out->binding_alignment = 4;
	out->max_groups[0] = out->max_groups[1] = out->max_groups[2] = 65535;
	out->max_local[0] = out->max_local[1] = out->max_local[2] = 256;
	out->max_invocations = 256;
	out->max_bindings = 8;
	return PCTL_OK;
}

/* Wire forms that begin with 'n' are not supported. */
static pctl_status fake_supports(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				 uint64_t n, pctl_support *out)
{
	(void)dev;
	(void)call;
	out->supported = n == 0 || wire[0] != 'n';
	out->code = 0;
	strcpy(out->reason, out->supported ? "" : "the first byte is n");
	return PCTL_OK;
}

static pctl_status fake_buffer_create(pctl_device *dev, const pctl_call *call, uint64_t n_bytes,
				      uint32_t usage, pctl_buffer **out)
{
	(void)dev;
	(void)usage;
	*out = NULL;
	if (n_bytes > 1u << 30)
		return pctl_refuse(call, PC2_NOMEM, "%llu bytes", (unsigned long long)n_bytes);
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return PCTL_E_NOMEM;
	(*out)->n_bytes = n_bytes;
	(*out)->data = calloc(1, n_bytes + 1);
	return PCTL_OK;
}

static void fake_buffer_destroy(pctl_device *dev, pctl_buffer *buf)
{
	(void)dev;
	free(buf->data);
	free(buf);
}

static pctl_status fake_buffer_write(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				     uint64_t offset, const void *data, uint64_t n_bytes)
{
	(void)dev;
	(void)call;
	if (n_bytes)
		memcpy(buf->data + offset, data, n_bytes);
	return PCTL_OK;
}

static pctl_status fake_buffer_read(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				    uint64_t offset, void *data, uint64_t n_bytes)
{
	(void)dev;
	(void)call;
	if (n_bytes)
		memcpy(data, buf->data + offset, n_bytes);
	return PCTL_OK;
}

/* Wire forms that begin with 'b' do not build, with two diagnostics. */
static pctl_status fake_kernel_build(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				     uint64_t n, uint32_t flags, const void *cache,
				     uint64_t cache_bytes, pctl_kernel **out)
{
	const pctl_pos pos = {"kernel.wgsl", 3, 7, 12, 0};

	(void)dev;
	(void)flags;
	(void)cache;
	(void)cache_bytes;
	*out = NULL;
	if (n && wire[0] == 'b') {
		pctl_warn_at(call, PC3231_DEVICE_UNKNOWN, &pos, "a hint", "a warning");
		return pctl_refuse_at(call, PC3231_DEVICE_UNKNOWN, &pos, NULL,
				      "the first byte is b");
	}
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return PCTL_E_NOMEM;
	(*out)->n_wire = n;
	return PCTL_OK;
}

static pctl_status fake_kernel_cache(pctl_device *dev, const pctl_call *call, pctl_kernel *k,
				     uint64_t capacity, void *out, uint64_t *n_out)
{
	(void)dev;
	(void)call;
	*n_out = 5;
	if (capacity)
		memcpy(out, "cache", capacity < 5 ? capacity : 5);
	(void)k;
	return PCTL_OK;
}

/* Its language has a colour of the terminal in it. */
static pctl_status fake_kernel_source(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				      uint64_t n, uint64_t capacity, char *out, uint64_t *n_out,
				      char *language)
{
	(void)dev;
	(void)call;
	(void)wire;
	*n_out = n + 1;
	if (capacity)
		memset(out, 's', capacity < n + 1 ? capacity : n + 1);
	strcpy(language, "fa\033[31mke");
	return PCTL_OK;
}

static void fake_kernel_destroy(pctl_device *dev, pctl_kernel *k)
{
	(void)dev;
	free(k);
}

static pctl_status fake_list_begin(pctl_device *dev, const pctl_call *call, pctl_list **out)
{
	(void)dev;
	(void)call;
	*out = calloc(1, sizeof(**out));
	return *out ? PCTL_OK : PCTL_E_NOMEM;
}

static fake_command *fake_add(pctl_list *l, uint32_t what)
{
	fake_command *grown = realloc(l->commands, (l->n + 1) * sizeof(*grown));

	if (!grown)
		abort();
	l->commands = grown;
	memset(&grown[l->n], 0, sizeof(*grown));
	grown[l->n].what = what;
	return &grown[l->n++];
}

static pctl_status fake_list_dispatch(pctl_list *l, const pctl_call *call, pctl_kernel *k,
				      const pctl_binding *bindings, uint32_t n_bindings,
				      const uint32_t groups[3])
{
	fake_command *c;

	(void)k;
	if (n_bindings > 8)
		return pctl_refuse(call, PC3231_DEVICE_UNKNOWN, "%u bindings are too many",
				   n_bindings);
	c = fake_add(l, FAKE_DISPATCH);
	c->n_bindings = n_bindings;
	if (n_bindings)
		memcpy(c->bindings, bindings, n_bindings * sizeof(*bindings));
	c->word = groups[0];
	return PCTL_OK;
}

static pctl_status fake_list_dispatch_indirect(pctl_list *l, const pctl_call *call, pctl_kernel *k,
					       const pctl_binding *bindings, uint32_t n_bindings,
					       pctl_buffer *buf, uint64_t offset,
					       const uint32_t limit[3])
{
	const pctl_status s = fake_list_dispatch(l, call, k, bindings, n_bindings, limit);

	if (s)
		return s;
	l->commands[l->n - 1].what = FAKE_INDIRECT;
	l->commands[l->n - 1].from = buf;
	l->commands[l->n - 1].from_offset = offset;
	return PCTL_OK;
}

static pctl_status fake_list_copy(pctl_list *l, const pctl_call *call, pctl_buffer *from,
				  uint64_t from_offset, pctl_buffer *to, uint64_t to_offset,
				  uint64_t n_bytes)
{
	fake_command *c;

	if (n_bytes % 4)
		return pctl_refuse(call, PC3231_DEVICE_UNKNOWN, "%llu is no multiple of 4",
				   (unsigned long long)n_bytes);
	c = fake_add(l, FAKE_COPY);
	c->from = from;
	c->from_offset = from_offset;
	c->to = to;
	c->to_offset = to_offset;
	c->n_bytes = n_bytes;
	return PCTL_OK;
}

static pctl_status fake_list_fill(pctl_list *l, const pctl_call *call, pctl_buffer *buf,
				  uint64_t offset, uint64_t n_bytes, uint32_t word)
{
	fake_command *c = fake_add(l, FAKE_FILL);

	(void)call;
	c->to = buf;
	c->to_offset = offset;
	c->n_bytes = n_bytes;
	c->word = word;
	return PCTL_OK;
}

static pctl_status fake_list_barrier(pctl_list *l, const pctl_call *call)
{
	(void)call;
	fake_add(l, FAKE_BARRIER);
	return PCTL_OK;
}

static pctl_status fake_list_timestamp(pctl_list *l, const pctl_call *call, uint32_t slot)
{
	(void)call;
	fake_add(l, FAKE_TIMESTAMP)->word = slot;
	return PCTL_OK;
}

static pctl_status fake_list_end(pctl_list *l, const pctl_call *call)
{
	(void)call;
	l->ended = 1;
	return PCTL_OK;
}

static void fake_list_destroy(pctl_device *dev, pctl_list *l)
{
	(void)dev;
	free(l->commands);
	free(l);
}

static void fake_add_word(const fake_command *c, uint32_t word)
{
	uint32_t i;
	uint64_t k;

	for (i = 0; i < c->n_bindings; i++)
		for (k = 0; c->bindings[i].buffer && k + 4 <= c->bindings[i].n_bytes; k += 4) {
			uint8_t *at = c->bindings[i].buffer->data + c->bindings[i].offset + k;
			uint32_t v;

			memcpy(&v, at, 4);
			v += word;
			memcpy(at, &v, 4);
		}
}

static void fake_run(const fake_command *c)
{
	uint32_t word;
	uint64_t k;

	switch (c->what) {
	case FAKE_DISPATCH:
		fake_add_word(c, c->word);
		break;
	case FAKE_INDIRECT:
		memcpy(&word, c->from->data + c->from_offset, 4);
		fake_add_word(c, word < c->word ? word : c->word);
		break;
	case FAKE_COPY:
		memmove(c->to->data + c->to_offset, c->from->data + c->from_offset, c->n_bytes);
		break;
	case FAKE_FILL:
		for (k = 0; k < c->n_bytes; k += 4)
			memcpy(c->to->data + c->to_offset + k, &c->word, 4);
		break;
	default:
		break;
	}
}

static pctl_status fake_submit(pctl_device *dev, const pctl_call *call, pctl_list *l,
			       uint32_t times, uint64_t *ticket)
{
	uint32_t i, t;

	*ticket = 0;
	if (times == 0)
		return pctl_refuse(call, PC3231_DEVICE_UNKNOWN, "zero times");
	for (t = 0; t < times; t++)
		for (i = 0; i < l->n; i++)
			fake_run(&l->commands[i]);
	dev->submits++;
	dev->findings++;
	*ticket = dev->done_ticket = dev->next_ticket++;
	return PCTL_OK;
}

static pctl_status fake_wait(pctl_device *dev, const pctl_call *call, uint64_t ticket,
			     uint64_t timeout_ns, pctl_completion *out)
{
	(void)call;
	(void)timeout_ns;
	out->done = ticket <= dev->done_ticket;
	out->n_timestamps = 1;
	out->timestamps[0] = 42;
	return PCTL_OK;
}

static void fake_cancel(pctl_device *dev, uint64_t ticket)
{
	__atomic_store_n(&dev->cancelled, ticket, __ATOMIC_RELAXED);
}

static pctl_status fake_findings(pctl_device *dev, const pctl_call *call, uint32_t capacity,
				 pctl_finding *out, uint32_t *n_out)
{
	uint32_t i;

	(void)call;
	for (i = 0; i < dev->findings && i < capacity; i++) {
		out[i].kind = PCTL_FINDING_RACE;
		out[i].dispatch = i;
	}
	*n_out = dev->findings;
	dev->findings = 0;
	return PCTL_OK;
}

static pctl_status fake_counts(pctl_device *dev, const pctl_call *call, pctl_counts *out)
{
	(void)call;
	out->op_units[7] = dev->submits;
	out->lane_ops = 99;
	return PCTL_OK;
}

#define FAKE_TABLE                                                                                 \
	.head = PCTL_HEAD(pctl_backend), .devices = fake_devices, .device_open = fake_device_open, \
	.device_close = fake_device_close, .device_identity = fake_device_identity,                \
	.device_caps = fake_device_caps, .supports = fake_supports,                                \
	.buffer_create = fake_buffer_create, .buffer_destroy = fake_buffer_destroy,                \
	.buffer_write = fake_buffer_write, .buffer_read = fake_buffer_read,                        \
	.kernel_build = fake_kernel_build, .kernel_cache = fake_kernel_cache,                      \
	.kernel_destroy = fake_kernel_destroy, .list_begin = fake_list_begin,                      \
	.list_dispatch = fake_list_dispatch,                                                       \
	.list_dispatch_indirect = fake_list_dispatch_indirect, .list_copy = fake_list_copy,        \
	.list_fill = fake_list_fill, .list_barrier = fake_list_barrier,                            \
	.list_timestamp = fake_list_timestamp, .list_end = fake_list_end,                          \
	.list_destroy = fake_list_destroy, .submit = fake_submit, .wait = fake_wait,               \
	.cancel = fake_cancel, .findings = fake_findings, .counts = fake_counts,                   \
	.kernel_source = fake_kernel_source

#endif
