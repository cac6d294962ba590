/* The zones around the spans of a job: written when a buffer is made, compared when the job has run. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "runtime/exec/job_private.h"
#include "runtime/exec/readback.h"

/* Each buffer has a pattern of its own. */
pctl_zones pctl_job_zones(const struct pctl_job_running *r, uint32_t number, int second)
{
	if (r->shape.before == 0)
		return (pctl_zones){0, 0, 0};
	return (pctl_zones){r->shape.before, r->shape.behind,
			    r->shape.key * UINT64_C(0xbf58476d1ce4e5b9) + 2u * number +
				    (second ? 1u : 0u)};
}

int pctl_job_is_guarded(const struct pctl_job_running *r, uint32_t number)
{
	return r->shape.thorough || number < r->plan->n_in + r->plan->n_out ||
	       (r->shape.key >> number % 61 & 3u) == 0;
}

pctl_status pctl_zones_write(pctl_session *s, pctl_buffer *buffer, const pctl_zones *zones,
			     const void *data, uint64_t n, const pctl_call *call)
{
	const pctl_backend *t = pctl_session_table(s);
	const uint64_t before = zones->before, behind = zones->behind;
	const uint64_t span = pctl_zones_are_one(zones, n) ? n : 0;
	uint8_t *bytes = before == 0 ? NULL : calloc(1, before + span + behind);
	pctl_status status;

	if (before == 0)
		return PCTL_OK;
	if (bytes == NULL)
		return pctl_no_memory(call, "a job");
	pctl_guard_fill(bytes, before, zones->key, 0);
	if (data != NULL && span != 0)
		memcpy(bytes + before, data, span);
	pctl_guard_fill(bytes + before + span, behind, zones->key, before);
	if (span == n) {
		status = t->buffer_write(pctl_session_device(s), call, buffer, 0, bytes,
					 before + n + behind);
	} else {
		status = t->buffer_write(pctl_session_device(s), call, buffer, 0, bytes, before);
		if (status == PCTL_OK)
			status = t->buffer_write(pctl_session_device(s), call, buffer, before + n,
						 bytes + before, behind);
	}
	free(bytes);
	return status;
}

/* The zones, in two reads, or in one with a small span, which *taken then is, if it is wanted: outputs are read once. */
static pctl_status check_span(struct pctl_job_running *r, uint32_t number, const pctl_zones *zones,
			      pctl_buffer *buffer, uint64_t n, uint8_t **taken)
{
	const uint64_t before = zones->before, behind = zones->behind;
	const int one = pctl_zones_are_one(zones, n);
	const uint64_t span_bytes = one ? n : 0;
	char span[32];
	const pctl_readback w = {r->s, r->call, r->what, span, n};
	pctl_status status;
	uint8_t *bytes;

	if (before == 0 || buffer == NULL)
		return PCTL_OK;
	bytes = malloc(before + span_bytes + behind);
	if (bytes == NULL)
		return pctl_no_memory(r->call, "a job");
	snprintf(span, sizeof(span), "buffer %" PRIu32, number);
	status = pctl_readback_fill(r->s, r->call, buffer, 0, bytes,
				    one ? before + n + behind : before);
	if (status == PCTL_OK)
		status = pctl_readback_zone(&w, bytes, before, zones->key, 0, -(int64_t)before);
	if (status == PCTL_OK && !one)
		status = pctl_readback_fill(r->s, r->call, buffer, before + n, bytes, behind);
	if (status == PCTL_OK)
		status = pctl_readback_zone(&w, bytes + (one ? before + n : 0), behind, zones->key,
					    before, (int64_t)n);
	if (status == PCTL_OK && one && taken != NULL) {
		memmove(bytes, bytes + before, n);
		*taken = bytes;
		return PCTL_OK;
	}
	free(bytes);
	return status;
}

pctl_status pctl_job_guard_check(struct pctl_job_running *r, pctl_value *const *in)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < r->plan->n_in; i++)
		status = check_span(r, i, &r->lie[i], r->inputs[i],
				    pctl_num_align(pctl_value_bytes(in[i]), 4), NULL);
	for (uint32_t i = r->plan->n_in; status == PCTL_OK && i < r->plan->n_buffers; i++) {
		const uint64_t n = r->plan->buffers[i].n_bytes;
		const pctl_zones first = pctl_job_zones(r, i, 0), other = pctl_job_zones(r, i, 1);
		const int second = pctl_job_keeps_second(r, i);
		uint8_t **taken =
			i < r->plan->n_in + r->plan->n_out ? &r->taken[i - r->plan->n_in] : NULL;

		if (!pctl_job_is_guarded(r, i) || r->plan->buffers[i].kind == PCTL_PLAN_CONSTANT)
			continue;
		status = check_span(r, i, &first, r->own[i], n, second ? NULL : taken);
		if (status == PCTL_OK)
			status = check_span(r, i, &other, r->second[i], n, second ? taken : NULL);
	}
	if (status == PCTL_OK && pctl_job_is_guarded(r, r->plan->n_buffers)) {
		const pctl_zones zones = pctl_job_zones(r, r->plan->n_buffers, 0);

		status = check_span(r, r->plan->n_buffers, &zones, r->pool, r->plan->pool_bytes,
				    NULL);
	}
	return status;
}
