/* Frames of ABCI over a stream socket: a length as a varint and as many bytes, one Request or Response each. */
#ifndef PIPECTL_CHAIN_ENGINE_ABCI_FRAME_H
#define PIPECTL_CHAIN_ENGINE_ABCI_FRAME_H

#include <stddef.h>

#include <abci.pb-c.h>

#include "pipectl/host.h"

#define PCTL_ABCI_FRAME_MAX (16u << 20)
#define PCTL_ABCI_HEAD_MAX 5u /* bytes of a length */
/* Bytes that a decoded request may take: what is small on the wire (an empty message of a block) is larger in memory. */
#define PCTL_ABCI_MEMORY_MAX (128u << 20)

/* Whether n bytes begin with a whole frame: 1, and it has *head bytes of length and *body behind them; 0 when some are missing;
 * -1 when the length is none (above PCTL_ABCI_FRAME_MAX, or not the shortest varint). */
int pctl_abci_frame(const uint8_t *bytes, size_t n, uint32_t *head, uint32_t *body);
/* The length of a frame into `out`; how many bytes it has. */
uint32_t pctl_abci_head(uint32_t body, uint8_t out[PCTL_ABCI_HEAD_MAX]);

/* Decode a frame; released with pctl_abci_release. Survives any bytes. PC6163: they are no request, one without a kind that is
 * known, or one that takes more memory than is given to it. */
pctl_status pctl_abci_decode(const uint8_t *bytes, size_t n, const pctl_call *call,
			     Abci__Request **out);
void pctl_abci_release(Abci__Request *r);

#endif
