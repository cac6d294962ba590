/* Buffers: zeroed host memory with a usage. Large ones come from the operating system, so that
 * their pages cost nothing until they are touched. */
#include "runtime/device.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAPPED_FROM (128u << 10)
#define USAGE_ALL \
	(PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM | PCTL_BUFFER_TRANSFER | PCTL_BUFFER_INDIRECT)

static int allocate(pctl_buffer *b)
{
	const uint64_t n = (b->n_bytes + 127) & ~(uint64_t)63; /* never empty */

	if (n < MAPPED_FROM) {
		b->data = aligned_alloc(64, n);
		if (b->data)
			memset(b->data, 0, n);
		return b->data != NULL;
	}
	b->data = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b->data == MAP_FAILED)
		b->data = NULL;
	else
		b->mapped_bytes = n;
	return b->data != NULL;
}

pctl_status pctl_cpu_buffer_create(pctl_device *dev, const pctl_call *call, uint64_t n_bytes,
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
	if (n_bytes > dev->memory_bytes)
		return pctl_refuse(call, PC3208_BUFFER_LIMIT,
				   "a buffer of %" PRIu64 " bytes; the device takes %" PRIu64,
				   n_bytes, dev->memory_bytes);
	b = calloc(1, sizeof(*b));
	if (!b)
		return pctl_no_memory(call, "a buffer");
	b->dev = dev;
	b->n_bytes = n_bytes;
	b->usage = usage;
	b->refs = 1;
	if (!allocate(b)) {
		free(b);
		return pctl_refuse(call, PC2_NOMEM, "no memory for a buffer of %" PRIu64 " bytes",
				   n_bytes);
	}
	*out = b;
	return PCTL_OK;
}

void pctl_cpu_buffer_release(pctl_buffer *b)
{
	if (!b || --b->refs)
		return;
	if (b->mapped_bytes)
		munmap(b->data, b->mapped_bytes);
	else
		free(b->data);
	pctl_cpu_shadow_destroy(b->shadow);
	free(b);
}

void pctl_cpu_buffer_destroy(pctl_device *dev, pctl_buffer *b)
{
	if (!dev || !b || b->dev != dev)
		return;
	pctl_cpu_buffer_release(b);
}

pctl_status pctl_cpu_buffer_range(const pctl_device *dev, const pctl_call *call,
				  const pctl_buffer *b, uint64_t offset, uint64_t n_bytes,
				  uint32_t usage, const char *what)
{
	if (!dev || !b || b->dev != dev)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "%s: no buffer of this device",
				   what);
	if (!(b->usage & usage))
		return pctl_refuse(call, PC3207_BUFFER_USAGE,
				   "%s: the buffer was not created for it (0x%x)", what, usage);
	if (offset > b->n_bytes || n_bytes > b->n_bytes - offset)
		return pctl_refuse(call, PC3202_BACKEND_RANGE,
				   "%s: %" PRIu64 " bytes from %" PRIu64 " in a buffer of %" PRIu64,
				   what, n_bytes, offset, b->n_bytes);
	return PCTL_OK;
}

pctl_status pctl_cpu_buffer_write(pctl_device *dev, const pctl_call *call, pctl_buffer *b,
				  uint64_t offset, const void *data, uint64_t n_bytes)
{
	pctl_status status = pctl_cpu_buffer_range(dev, call, b, offset, n_bytes,
						   PCTL_BUFFER_TRANSFER, "buffer_write");

	if (status != PCTL_OK || n_bytes == 0)
		return status;
	if (!data)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "buffer_write: no data");
	pctl_cpu_idle(dev);
	memcpy(b->data + offset, data, n_bytes);
	return PCTL_OK;
}

pctl_status pctl_cpu_buffer_read(pctl_device *dev, const pctl_call *call, pctl_buffer *b,
				 uint64_t offset, void *data, uint64_t n_bytes)
{
	pctl_status status = pctl_cpu_buffer_range(dev, call, b, offset, n_bytes,
						   PCTL_BUFFER_TRANSFER, "buffer_read");

	if (status != PCTL_OK || n_bytes == 0)
		return status;
	if (!data)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "buffer_read: nowhere to read to");
	pctl_cpu_idle(dev);
	memcpy(data, b->data + offset, n_bytes);
	return PCTL_OK;
}
