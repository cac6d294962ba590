/* Frames of ABCI; see frame.h. */
#include "chain/engine/abci/frame.h"

#include <stdlib.h>
#include <string.h>

int pctl_abci_frame(const uint8_t *bytes, size_t n, uint32_t *head, uint32_t *body)
{
	uint64_t v = 0;

	*head = *body = 0;
	for (uint32_t i = 0; i < PCTL_ABCI_HEAD_MAX; i++) {
		if (i == n)
			return 0;
		v |= (uint64_t)(bytes[i] & 0x7f) << (7 * i);
		if (bytes[i] >= 0x80)
			continue;
		if ((i > 0 && bytes[i] == 0) || v > PCTL_ABCI_FRAME_MAX)
			return -1;
		*head = i + 1;
		*body = (uint32_t)v;
		return n - *head >= *body;
	}
	return -1;
}

uint32_t pctl_abci_head(uint32_t body, uint8_t out[PCTL_ABCI_HEAD_MAX])
{
	uint32_t n = 0;

	for (; body > 0x7f; body >>= 7)
		out[n++] = (uint8_t)(body | 0x80);
	out[n++] = (uint8_t)body;
	return n;
}

/* Memory of one request, counted as it is asked for. */
static void *take(void *left, size_t n)
{
	size_t *l = left;

	if (n > *l)
		return NULL;
	*l -= n;
	return malloc(n == 0 ? 1 : n);
}

static void give(void *left, void *p)
{
	(void)left;
	free(p);
}

/* 1: a message, or one inside it, has a field of number 0, which protobuf has not: protobuf-c reads it where it is spelled
 * in more bytes than it needs, and packs what it does not read again. */
static int has_field_zero(const ProtobufCMessage *m)
{
	const ProtobufCMessageDescriptor *d = m->descriptor;

	for (uint32_t i = 0; i < m->n_unknown_fields; i++)
		if (m->unknown_fields[i].tag == 0)
			return 1;
	for (uint32_t i = 0; i < d->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &d->fields[i];
		const uint8_t *at = (const uint8_t *)m + f->offset;
		const void *count = (const uint8_t *)m + f->quantifier_offset;
		const ProtobufCMessage *one = NULL, *const *items = &one;
		size_t n = 1;

		if (f->type != PROTOBUF_C_TYPE_MESSAGE)
			continue;
		if (f->label == PROTOBUF_C_LABEL_REPEATED) {
			memcpy(&n, count, sizeof(n));
			memcpy(&items, at, sizeof(items));
		} else if ((f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) == 0 ||
			   *(const uint32_t *)count == f->id) {
			memcpy(&one, at, sizeof(one));
		}
		for (size_t k = 0; k < n; k++)
			if (items[k] != NULL && has_field_zero(items[k]))
				return 1;
	}
	return 0;
}

pctl_status pctl_abci_decode(const uint8_t *bytes, size_t n, const pctl_call *call,
			     Abci__Request **out)
{
	size_t left = PCTL_ABCI_MEMORY_MAX;
	ProtobufCAllocator counted = {.alloc = take, .free = give, .allocator_data = &left};
	int is_known;

	*out = abci__request__unpack(&counted, n, bytes);
	if (*out == NULL)
		return pctl_refuse(call, PC6163_ENGINE_MESSAGE, "%zu bytes are no request", n);
	is_known = (*out)->value_case != ABCI__REQUEST__VALUE__NOT_SET;
	if (is_known && !has_field_zero(&(*out)->base))
		return PCTL_OK;
	pctl_abci_release(*out);
	*out = NULL;
	return pctl_refuse(call, PC6163_ENGINE_MESSAGE, "%s",
			   is_known ? "a field of number 0"
				    : "a request of a kind that is not known");
}

void pctl_abci_release(Abci__Request *r)
{
	if (r != NULL)
		abci__request__free_unpacked(r, NULL);
}
