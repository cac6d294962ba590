/* Frames of ABCI; see frame.h. */
#include "chain/engine/abci/frame.h"

#include <stdlib.h>

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

pctl_status pctl_abci_decode(const uint8_t *bytes, size_t n, const pctl_call *call,
			     Abci__Request **out)
{
	size_t left = PCTL_ABCI_MEMORY_MAX;
	ProtobufCAllocator counted = {.alloc = take, .free = give, .allocator_data = &left};

	*out = abci__request__unpack(&counted, n, bytes);
	if (*out == NULL)
		return pctl_refuse(call, PC6163_ENGINE_MESSAGE, "%zu bytes are no request", n);
	if ((*out)->value_case != ABCI__REQUEST__VALUE__NOT_SET)
		return PCTL_OK;
	pctl_abci_release(*out);
	*out = NULL;
	return pctl_refuse(call, PC6163_ENGINE_MESSAGE, "a request of a kind that is not known");
}

void pctl_abci_release(Abci__Request *r)
{
	if (r != NULL)
		abci__request__free_unpacked(r, NULL);
}
