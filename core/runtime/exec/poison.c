/* Buffers that start with garbage: what a plan promises to fill, it must not read before. */
#include <stdlib.h>

#include "runtime/exec/job_private.h"

#define PIECE 65536u

pctl_status pctl_job_poison(pctl_session *s, pctl_buffer *buffer, uint64_t base, uint64_t n_bytes,
			    uint64_t seed, const pctl_call *call)
{
	uint8_t *piece = malloc(PIECE);
	pctl_status status = PCTL_OK;

	if (piece == NULL)
		return pctl_no_memory(call, "a job");
	for (uint32_t i = 0; i < PIECE; i++) {
		uint64_t h = (seed + i) * 0xbf58476d1ce4e5b9ull;

		h = (h ^ h >> 31) * 0x94d049bb133111ebull;
		piece[i] = (uint8_t)(h >> 56) == 0 ? 0xa5 : (uint8_t)(h >> 56);
	}
	for (uint64_t at = 0; status == PCTL_OK && at < n_bytes; at += PIECE)
		status = pctl_session_table(s)->buffer_write(
			pctl_session_device(s), call, buffer, base + at, piece,
			n_bytes - at < PIECE ? n_bytes - at : PIECE);
	free(piece);
	return status;
}

/* The bytes that pad an output to a multiple of four stay zero: of a value they are promised to be. */
pctl_status pctl_job_poison_own(const struct pctl_job_running *r, uint32_t i, uint64_t seed,
				pctl_buffer *buffer)
{
	const pctl_plan_buffer *b = &r->plan->buffers[i];
	uint64_t n = b->kind == PCTL_PLAN_OUTPUT && r->run->out_bytes != NULL
			     ? r->run->out_bytes[i - r->plan->n_in]
			     : b->n_bytes;

	if (r->run->poison == 0 || (b->kind != PCTL_PLAN_OUTPUT && b->kind != PCTL_PLAN_TEMP))
		return PCTL_OK;
	return pctl_job_poison(r->s, buffer, r->shape.before, n,
			       r->run->poison * 0x9e3779b97f4a7c15ull + seed + 1u, r->call);
}
