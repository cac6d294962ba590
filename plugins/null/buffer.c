/* Buffers: zeroed memory with a usage. Every argument is checked: the host on the other side may be
 * of another version, or wrong. */
#include "null.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define USAGE_ALL \
	(PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM | PCTL_BUFFER_TRANSFER | PCTL_BUFFER_INDIRECT)

pctl_status pctl_null_buffer_create(pctl_device *dev, const pctl_call *call, uint64_t n_bytes,
				    uint32_t usage, pctl_buffer **out)
{
	pctl_buffer *b;

	if (!dev || !out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "buffer_create: a pointer is missing");
	*out = NULL;
	if (usage & ~USAGE_ALL)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "buffer_create: unknown usage bits 0x%x", usage & ~USAGE_ALL);
	if (n_bytes > PCTL_NULL_MAX_BYTES)
		return pctl_refuse(call, PC3208_BUFFER_LIMIT,
				   "a buffer of %" PRIu64 " bytes; the device takes %" PRIu64,
				   n_bytes, (uint64_t)PCTL_NULL_MAX_BYTES);
	b = calloc(1, sizeof(*b));
	if (b)
		b->data = calloc(1, n_bytes ? n_bytes : 1); /* 0 bytes are a valid buffer */
	if (!b || !b->data) {
		free(b);
		return pctl_refuse(call, PC2_NOMEM, "no memory for a buffer of %" PRIu64 " bytes",
				   n_bytes);
	}
	b->dev = dev;
	b->n_bytes = n_bytes;
	b->usage = usage;
	b->refs = 1;
	*out = b;
	return PCTL_OK;
}

void pctl_null_buffer_release(pctl_buffer *b)
{
	if (!b || --b->refs)
		return;
	free(b->data);
	free(b);
}

void pctl_null_buffer_destroy(pctl_device *dev, pctl_buffer *b)
{
	if (dev && b && b->dev == dev)
		pctl_null_buffer_release(b);
}

pctl_status pctl_null_buffer_range(const pctl_device *dev, const pctl_call *call,
				   const pctl_buffer *b, uint64_t offset, uint64_t n_bytes,
				   uint32_t usage, const char *what)
{
	if (!dev || !b || b->dev != dev)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "%s: no buffer of this device",
				   what);
	if (!(b->usage & usage))
		return pctl_refuse(call, PC3207_BUFFER_USAGE,
				   "%s: the buffer was not created for it (0x%x)", what, usage);
	/* Written so that no sum can wrap around. */
	if (offset > b->n_bytes || n_bytes > b->n_bytes - offset)
		return pctl_refuse(call, PC3202_BACKEND_RANGE,
				   "%s: %" PRIu64 " bytes from %" PRIu64 " in a buffer of %" PRIu64,
				   what, n_bytes, offset, b->n_bytes);
	return PCTL_OK;
}

pctl_status pctl_null_buffer_write(pctl_device *dev, const pctl_call *call, pctl_buffer *b,
				   uint64_t offset, const void *data, uint64_t n_bytes)
{
	pctl_status status = pctl_null_buffer_range(dev, call, b, offset, n_bytes,
						    PCTL_BUFFER_TRANSFER, "buffer_write");

	if (status != PCTL_OK || n_bytes == 0)
		return status;
	if (!data)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "buffer_write: no data");
	memcpy(b->data + offset, data, n_bytes);
	return PCTL_OK;
}

pctl_status pctl_null_buffer_read(pctl_device *dev, const pctl_call *call, pctl_buffer *b,
				  uint64_t offset, void *data, uint64_t n_bytes)
{
	pctl_status status = pctl_null_buffer_range(dev, call, b, offset, n_bytes,
						    PCTL_BUFFER_TRANSFER, "buffer_read");

	if (status != PCTL_OK || n_bytes == 0)
		return status;
	if (!data)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "buffer_read: nowhere to read to");
	memcpy(data, b->data + offset, n_bytes);
	return PCTL_OK;
}
