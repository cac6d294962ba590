/* A stranger's backend that lies, made from the installed SDK alone. Its driver knows one program, which it takes every
 * kernel to be: y[i] = x[i] * 3 + x[i ^ 1] + 7, x at binding 0 and y at binding 1 of group 0. Device 0 is honest; every
 * other device lies in its own way, which is its number and its name. lies.h is the table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipectl/backend.h"

#ifndef STRANGER_ID
#define STRANGER_ID "stranger"
#endif
#define LIE(id, name) id,
enum {
#include "lies.h"
	N_LIES
};
#undef LIE
#define LIE(id, name) name,
static const char *const names[] = {
#include "lies.h"
};
#undef LIE

struct pctl_instance {
	const pctl_host *host;
};

struct pctl_device {
	uint32_t lie;
	uint32_t dispatches, submits;
	uint64_t last_ticket;
	uint8_t *kept; /* what the first dispatch gave */
	uint64_t n_kept;
	struct pctl_buffer *last; /* made last */
	pctl_binding x;		  /* of the last dispatch */
	uint32_t looked_at;	  /* since then it was read */
};

struct pctl_buffer {
	uint8_t *data;
	uint64_t n_bytes;
	uint32_t reads, is_output;
	uint8_t *late; /* results that come when nobody waits any more */
};

struct pctl_kernel {
	uint32_t nothing;
};

enum { DISPATCH, COPY, FILL };

typedef struct command {
	uint32_t what, word;
	pctl_binding x, y;
	uint32_t groups;
	pctl_buffer *from, *to;
	uint64_t from_offset, to_offset, n_bytes;
} command;

struct pctl_list {
	pctl_device *dev;
	command *commands;
	uint32_t n;
};

/* ---- who it says it is -------------------------------------------------------------------- */

static pctl_status devices(pctl_instance *inst, const pctl_call *call, uint32_t capacity,
			   pctl_device_info *out, uint32_t *n_out)
{
	(void)inst;
	(void)call;
	for (uint32_t i = 0; i < N_LIES && i < capacity; i++) {
		out[i].kind = i == SAYS_IT_IS_THE_REFERENCE ? PCTL_DEVICE_REFERENCE
							    : PCTL_DEVICE_DISCRETE;
		snprintf(out[i].name, sizeof(out[i].name), "%s",
			 i == BORROWS_A_NAME ? "pipectl lockstep interpreter" : names[i]);
		snprintf(out[i].driver, sizeof(out[i].driver), "%s", "stranger 1");
	}
	*n_out = N_LIES;
	return PCTL_OK;
}

static pctl_status device_open(pctl_instance *inst, const pctl_call *call, uint32_t index,
			       pctl_device **out)
{
	(void)inst;
	(void)call;
	*out = calloc(1, sizeof(**out));
	if (*out == NULL)
		return PCTL_E_NOMEM;
	(*out)->lie = index;
	return PCTL_OK;
}

static void device_close(pctl_device *dev)
{
	free(dev->kept);
	free(dev);
}

static pctl_status device_identity(pctl_device *dev, const pctl_call *call, uint32_t capacity,
				   pctl_key_value *out, uint32_t *n_out)
{
	(void)call;
	*n_out = 1;
	if (capacity != 0) {
		snprintf(out->key, sizeof(out->key), "%s", "device");
		snprintf(out->value, sizeof(out->value), "%s",
			 dev->lie == BORROWS_A_NAME ? "pipectl lockstep interpreter"
						    : names[dev->lie]);
	}
	return PCTL_OK;
}

static pctl_status device_caps(pctl_device *dev, const pctl_call *call, pctl_device_caps *out)
{
	(void)dev;
	(void)call;
	out->max_binding_bytes = out->max_buffer_bytes = 1u << 30;
	out->binding_alignment = 4;
	for (uint32_t i = 0; i < 3; i++) {
		out->max_groups[i] = 65535;
		out->max_local[i] = 256;
	}
	out->max_invocations = 256;
	out->max_workgroup_bytes = 16384;
	out->max_bindings = 8;
	return PCTL_OK;
}

static pctl_status supports(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
			    uint64_t n, pctl_support *out)
{
	(void)dev;
	(void)call;
	(void)wire;
	(void)n;
	out->supported = 1;
	return PCTL_OK;
}

static pctl_status kernel_build(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				uint64_t n, uint32_t flags, const void *cache, uint64_t n_cache,
				pctl_kernel **out)
{
	(void)dev;
	(void)call;
	(void)wire;
	(void)n;
	(void)flags;
	(void)cache;
	(void)n_cache;
	*out = calloc(1, sizeof(**out));
	return *out == NULL ? PCTL_E_NOMEM : PCTL_OK;
}

static void kernel_destroy(pctl_device *dev, pctl_kernel *k)
{
	(void)dev;
	free(k);
}

/* ---- buffers ------------------------------------------------------------------------------ */

static pctl_status buffer_create(pctl_device *dev, const pctl_call *call, uint64_t n_bytes,
				 uint32_t usage, pctl_buffer **out)
{
	(void)call;
	(void)usage;
	*out = calloc(1, sizeof(**out));
	if (*out == NULL)
		return PCTL_E_NOMEM;
	(*out)->data = calloc(1, n_bytes + 4);
	(*out)->n_bytes = n_bytes;
	dev->last = *out;
	return (*out)->data == NULL ? PCTL_E_NOMEM : PCTL_OK;
}

static void buffer_destroy(pctl_device *dev, pctl_buffer *b)
{
	if (dev->last == b)
		dev->last = NULL;
	free(b->late);
	free(b->data);
	free(b);
}

static pctl_status buffer_write(pctl_device *dev, const pctl_call *call, pctl_buffer *b,
				uint64_t offset, const void *data, uint64_t n)
{
	(void)call;
	if (dev->lie == LOSES_UPLOADS)
		return PCTL_OK;
	if (dev->lie == LOSES_HALF_OF_UPLOADS)
		n /= 2;
	if (n != 0)
		memcpy(b->data + offset, data, n);
	if (dev->lie == FLIPS_A_BIT_OF_UPLOADS && n != 0)
		b->data[offset] ^= 1;
	return PCTL_OK;
}

static pctl_status buffer_read(pctl_device *dev, const pctl_call *call, pctl_buffer *b,
			       uint64_t offset, void *data, uint64_t n)
{
	const uint8_t *from = b->data + offset;
	uint8_t *to = data;

	(void)call;
	if (dev->lie == READS_NOTHING)
		return PCTL_OK;
	if (dev->lie == READS_ANOTHER_BUFFER && dev->last != NULL &&
	    dev->last->n_bytes >= offset + n)
		from = dev->last->data + offset;
	if (dev->lie == READS_HALF)
		n /= 2;
	if (n != 0)
		memcpy(to, from, n);
	if (dev->lie == READS_SHIFTED && n > 4)
		memmove(to, to + 4, n - 4);
	/* Whoever checks a job reads its input back; where that was made here, a second time. */
	dev->looked_at |= b == dev->x.buffer && offset == dev->x.offset && n == dev->x.n_bytes &&
			  (!b->is_output || b->reads != 0);
	b->reads++;
	if (n == 0 || !b->is_output)
		return PCTL_OK;
	if ((dev->lie == SECOND_READ_DIFFERS && b->reads > 1) ||
	    (dev->lie == FIRST_READ_DIFFERS && b->reads == 1))
		to[0] ^= 1;
	if (dev->lie == CHANGES_AFTER_READ)
		b->data[0] ^= 1;
	if (dev->lie == WRONG_UNLESS_LOOKED_AT && !dev->looked_at)
		to[0] ^= 1;
	return PCTL_OK;
}

/* ---- lists -------------------------------------------------------------------------------- */

static pctl_status list_begin(pctl_device *dev, const pctl_call *call, pctl_list **out)
{
	(void)call;
	*out = calloc(1, sizeof(**out));
	if (*out == NULL)
		return PCTL_E_NOMEM;
	(*out)->dev = dev;
	return PCTL_OK;
}

static pctl_status add(pctl_list *l, const command *c)
{
	command *grown = realloc(l->commands, (l->n + 1u) * sizeof(*grown));

	if (grown == NULL)
		return PCTL_E_NOMEM;
	l->commands = grown;
	l->commands[l->n++] = *c;
	return PCTL_OK;
}

static pctl_status list_dispatch(pctl_list *l, const pctl_call *call, pctl_kernel *k,
				 const pctl_binding *bindings, uint32_t n, const uint32_t groups[3])
{
	command c = {.what = DISPATCH, .groups = groups[0]};

	(void)call;
	(void)k;
	for (uint32_t i = 0; i < n; i++) {
		if (bindings[i].binding == 0)
			c.x = bindings[i];
		if (bindings[i].binding == 1)
			c.y = bindings[i];
	}
	return add(l, &c);
}

static pctl_status list_dispatch_indirect(pctl_list *l, const pctl_call *call, pctl_kernel *k,
					  const pctl_binding *bindings, uint32_t n,
					  pctl_buffer *buf, uint64_t offset,
					  const uint32_t limit[3])
{
	(void)buf;
	(void)offset;
	return list_dispatch(l, call, k, bindings, n, limit);
}

static pctl_status list_copy(pctl_list *l, const pctl_call *call, pctl_buffer *from,
			     uint64_t from_offset, pctl_buffer *to, uint64_t to_offset, uint64_t n)
{
	const command c = {.what = COPY,
			   .from = from,
			   .from_offset = from_offset,
			   .to = to,
			   .to_offset = to_offset,
			   .n_bytes = n};

	(void)call;
	return add(l, &c);
}

static pctl_status list_fill(pctl_list *l, const pctl_call *call, pctl_buffer *b, uint64_t offset,
			     uint64_t n, uint32_t word)
{
	const command c = {.what = FILL, .word = word, .to = b, .to_offset = offset, .n_bytes = n};

	(void)call;
	return add(l, &c);
}

static pctl_status list_nothing(pctl_list *l, const pctl_call *call)
{
	(void)l;
	(void)call;
	return PCTL_OK;
}

static pctl_status list_timestamp(pctl_list *l, const pctl_call *call, uint32_t slot)
{
	(void)slot;
	return list_nothing(l, call);
}

static void list_destroy(pctl_device *dev, pctl_list *l)
{
	(void)dev;
	free(l->commands);
	free(l);
}

/* ---- the one program, and what becomes of it ---------------------------------------------- */

static uint32_t word(const pctl_binding *b, uint64_t i)
{
	uint32_t v = 0;

	if (b->buffer != NULL && i < b->n_bytes / 4)
		memcpy(&v, b->buffer->data + b->offset + 4 * i, 4);
	return v;
}

static uint32_t element(uint32_t lie, const pctl_binding *x, uint64_t i, uint64_t n)
{
	uint32_t v = word(x, i) * 3u + word(x, i ^ 1u) + 7u;

	switch (lie) {
	case WRONG_CONSTANT:
		return v + 1u;
	case WRONG_IN_THE_LAST_ELEMENT:
		return i + 1 == n ? v ^ 1u : v;
	case WRONG_ABOVE_A_SIZE:
		return i >= 100 ? v ^ 0x80000000u : v;
	case NEIGHBOUR_MISSED:
		return word(x, i) * 3u + word(x, i + 1) + 7u;
	case HALF_A_WORD:
		return v & 0xffffu;
	case BYTES_SWAPPED:
		return __builtin_bswap32(v);
	case WRONG_FOR_SOME_DATA:
		return (v >> 9 & 0x1fu) == 2u ? v + 1u : v;
	case SATURATES:
		return (uint64_t)word(x, i) * 3u + word(x, i ^ 1u) + 7u > UINT32_MAX ? UINT32_MAX
										     : v;
	default:
		return v;
	}
}

static void dispatch(pctl_device *dev, const command *c)
{
	const uint64_t n = c->y.n_bytes / 4;
	uint32_t lie = dev->lie;
	uint64_t upto = (uint64_t)c->groups * 64 < n ? (uint64_t)c->groups * 64 : n;
	uint8_t *y = c->y.buffer->data + c->y.offset;

	dev->dispatches++;
	dev->x = c->x;
	dev->looked_at = 0;
	c->y.buffer->is_output = 1;
	if (lie == EXECUTES_NOTHING)
		return;
	if (lie == LAST_GROUP_MISSING)
		upto -= 64;
	if (lie == ANSWERS_WHAT_IT_ANSWERED && dev->kept != NULL) {
		memcpy(y, dev->kept, dev->n_kept < c->y.n_bytes ? dev->n_kept : c->y.n_bytes);
		return;
	}
	if (lie == WRONG_THE_SECOND_TIME && dev->dispatches % 2 == 0)
		lie = WRONG_CONSTANT;
	if (lie == SAYS_IT_IS_THE_REFERENCE || lie == BORROWS_A_NAME)
		lie = WRONG_CONSTANT;
	for (uint64_t i = 0; i < upto; i++) {
		const uint32_t v = element(lie, &c->x, i, n);

		memcpy(y + 4 * i, &v, 4);
	}
	if (lie == GIVES_ZEROS)
		memset(y, 0, c->y.n_bytes);
	if (lie == GIVES_ITS_INPUT)
		memcpy(y, c->x.buffer->data + c->x.offset, c->y.n_bytes);
	if (lie == SWAPS_TWO_WORDS && n > 1) {
		uint8_t held[4];

		memcpy(held, y, 4);
		memcpy(y, y + 4, 4);
		memcpy(y + 4, held, 4);
	}
	if (lie == WRITES_INTO_ITS_INPUT)
		c->x.buffer->data[c->x.offset] ^= 1;
	if (lie == FINISHES_LATE && c->y.buffer->late == NULL) {
		c->y.buffer->late = malloc(c->y.n_bytes);
		if (c->y.buffer->late != NULL)
			memcpy(c->y.buffer->late, y, c->y.n_bytes);
		memset(y, 0, c->y.n_bytes / 2);
	}
	if (dev->kept == NULL && (dev->kept = malloc(c->y.n_bytes)) != NULL) {
		memcpy(dev->kept, y, c->y.n_bytes);
		dev->n_kept = c->y.n_bytes;
	}
}

static void play(pctl_device *dev, const command *c)
{
	if (c->what == DISPATCH)
		dispatch(dev, c);
	else if (c->what == COPY)
		memcpy(c->to->data + c->to_offset, c->from->data + c->from_offset, c->n_bytes);
	for (uint64_t i = 0; c->what == FILL && i < c->n_bytes; i += 4)
		memcpy(c->to->data + c->to_offset + i, &c->word, 4);
}

static pctl_status submit(pctl_device *dev, const pctl_call *call, pctl_list *l, uint32_t times,
			  uint64_t *ticket)
{
	(void)call;
	dev->submits++;
	*ticket = ++dev->last_ticket;
	if (dev->lie == SKIPS_EVERY_SECOND_SUBMIT && dev->submits % 2 == 0)
		return PCTL_OK;
	for (uint32_t t = 0; t < times; t++)
		for (uint32_t i = 0; i < l->n; i++)
			play(dev, &l->commands[i]);
	return PCTL_OK;
}

static pctl_status wait_(pctl_device *dev, const pctl_call *call, uint64_t ticket,
			 uint64_t timeout_ns, pctl_completion *out)
{
	(void)dev;
	(void)call;
	(void)ticket;
	(void)timeout_ns;
	out->done = 1;
	return PCTL_OK;
}

static void cancel(pctl_device *dev, uint64_t ticket)
{
	(void)dev;
	(void)ticket;
}

static const pctl_backend table = {
	.head = PCTL_HEAD(pctl_backend),
	.devices = devices,
	.device_open = device_open,
	.device_close = device_close,
	.device_identity = device_identity,
	.device_caps = device_caps,
	.supports = supports,
	.buffer_create = buffer_create,
	.buffer_destroy = buffer_destroy,
	.buffer_write = buffer_write,
	.buffer_read = buffer_read,
	.kernel_build = kernel_build,
	.kernel_destroy = kernel_destroy,
	.list_begin = list_begin,
	.list_dispatch = list_dispatch,
	.list_dispatch_indirect = list_dispatch_indirect,
	.list_copy = list_copy,
	.list_fill = list_fill,
	.list_barrier = list_nothing,
	.list_timestamp = list_timestamp,
	.list_end = list_nothing,
	.list_destroy = list_destroy,
	.submit = submit,
	.wait = wait_,
	.cancel = cancel,
};

static pctl_status plugin_open(const pctl_host *host, const pctl_call *call, pctl_instance **out)
{
	(void)call;
	*out = calloc(1, sizeof(**out));
	if (*out == NULL)
		return PCTL_E_NOMEM;
	(*out)->host = host;
	return PCTL_OK;
}

static void plugin_close(pctl_instance *inst)
{
	free(inst);
}

static const void *plugin_interface(pctl_instance *inst, const char *name)
{
	(void)inst;
	return strcmp(name, PCTL_BACKEND_INTERFACE) == 0 ? &table : NULL;
}

PCTL_EXPORT const pctl_plugin pctl_plugin_v1 = {
	.head = PCTL_HEAD(pctl_plugin),
	.id = STRANGER_ID,
	.version = "1",
	.build_flags = PCTL_BUILD_FLAGS,
	.open = plugin_open,
	.close = plugin_close,
	.interface = plugin_interface,
};
