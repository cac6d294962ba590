/* Buffers: the inner backend's, counted here because recorded commands refer to them. */
#include "runtime/mock.h"

#include <stdlib.h>

#define USAGE_ALL \
	(PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM | PCTL_BUFFER_TRANSFER | PCTL_BUFFER_INDIRECT)

pctl_status mock_buffer_create(pctl_device *dev, const pctl_call *call, uint64_t n_bytes,
			       uint32_t usage, pctl_buffer **out)
{
	pctl_buffer *b;
	pctl_status s;

	if (!dev || !out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "buffer_create: a pointer is missing");
	*out = NULL;
	if (usage & ~USAGE_ALL)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "buffer_create: unknown usage bits 0x%x", usage & ~USAGE_ALL);
	b = calloc(1, sizeof(*b));
	if (!b)
		return pctl_no_memory(call, "a buffer");
	/* Faults are written from outside. */
	s = dev->t->buffer_create(dev->inner, call, n_bytes, usage | PCTL_BUFFER_TRANSFER,
				  &b->inner);
	if (s != PCTL_OK) {
		free(b);
		return s;
	}
	b->dev = dev;
	b->n_bytes = n_bytes;
	b->refs = 1;
	b->usage = usage;
	*out = b;
	return PCTL_OK;
}

void mock_buffer_release(pctl_buffer *b)
{
	if (!b || --b->refs)
		return;
	b->dev->t->buffer_destroy(b->dev->inner, b->inner);
	free(b);
}

void mock_buffer_destroy(pctl_device *dev, pctl_buffer *b)
{
	if (dev && b && b->dev == dev)
		mock_buffer_release(b);
}

pctl_status mock_transfer(const pctl_device *dev, const pctl_call *call, const pctl_buffer *b,
			  const char *what)
{
	if (!dev || !b || b->dev != dev)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "%s: no buffer of this device",
				   what);
	if (!(b->usage & PCTL_BUFFER_TRANSFER))
		return pctl_refuse(call, PC3207_BUFFER_USAGE,
				   "%s: the buffer was not created for it (0x%x)", what, b->usage);
	if (dev->is_lost)
		return pctl_refuse(call, PC3282_MOCK_LOST, "%s: the device is lost", what);
	return PCTL_OK;
}

pctl_status mock_buffer_write(pctl_device *dev, const pctl_call *call, pctl_buffer *b,
			      uint64_t offset, const void *data, uint64_t n_bytes)
{
	pctl_status s = mock_transfer(dev, call, b, "buffer_write");

	return s != PCTL_OK || mock_has(dev, MOCK_WRITE_DROP)
		       ? s
		       : dev->t->buffer_write(dev->inner, call, b->inner, offset, data, n_bytes);
}

/* Whether a byte of the span was read before; it has been now. What is more than there is room for is the last span's. */
static int was_read(pctl_buffer *b, uint64_t from, uint64_t n_bytes)
{
	const uint64_t to = from + n_bytes;
	int before = 0;

	for (uint32_t i = 0; i < b->n_read; i++) {
		before |= from < b->read[i].to && b->read[i].from < to;
		if (b->read[i].to == from) {
			b->read[i].to = to;
			return before;
		}
	}
	if (b->n_read < MOCK_SPANS)
		b->n_read++;
	b->read[b->n_read - 1].from = from;
	b->read[b->n_read - 1].to = to;
	return before;
}

pctl_status mock_buffer_read(pctl_device *dev, const pctl_call *call, pctl_buffer *b,
			     uint64_t offset, void *data, uint64_t n_bytes)
{
	pctl_status s = mock_transfer(dev, call, b, "buffer_read");

	if (s != PCTL_OK || mock_has(dev, MOCK_READ_UNTOUCHED))
		return s;
	s = dev->t->buffer_read(dev->inner, call, b->inner, offset, data, n_bytes);
	if (s == PCTL_OK && n_bytes != 0 && mock_has(dev, MOCK_READ_TWICE)) {
		if (was_read(b, offset, n_bytes))
			*(uint8_t *)data ^= 1;
	}
	return s;
}
