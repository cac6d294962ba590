/* The zones around the buffers of a guarded job: written when a buffer is made, compared when the job has run. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "runtime/exec/guard.h"
#include "runtime/exec/job_private.h"

/* Each buffer has a pattern of its own. */
static uint64_t key_of(const struct pctl_job_running *r, uint32_t number, int second)
{
	return r->shape.key * UINT64_C(0xbf58476d1ce4e5b9) + 2u * number + (second ? 1u : 0u);
}

uint64_t pctl_job_span(const struct pctl_job_running *r, uint32_t number, pctl_value *const *in)
{
	return number < r->plan->n_in ? pctl_num_align(pctl_value_bytes(in[number]), 4)
				      : r->plan->buffers[number].n_bytes;
}

pctl_status pctl_job_guard_write(struct pctl_job_running *r, uint32_t number, int second,
				 pctl_buffer *buffer, uint64_t n)
{
	const uint64_t key = key_of(r, number, second);
	const uint64_t before = r->shape.before, behind = r->shape.behind;
	uint8_t *zone = before == 0 ? NULL : malloc(before + behind);
	pctl_status status;

	if (before == 0)
		return PCTL_OK;
	if (zone == NULL)
		return pctl_refuse(r->call, PC2_NOMEM, "no memory for a job");
	pctl_guard_fill(zone, before + behind, key, 0);
	status = r->t->buffer_write(r->dev, r->call, buffer, 0, zone, before);
	if (status == PCTL_OK)
		status = r->t->buffer_write(r->dev, r->call, buffer, before + n, zone + before,
					    behind);
	free(zone);
	return status;
}

static pctl_status check_zone(struct pctl_job_running *r, uint32_t number, int second, int behind,
			      pctl_buffer *buffer, uint64_t n, uint8_t *zone)
{
	const uint64_t before = r->shape.before, at = behind ? before + n : 0;
	const uint64_t n_zone = behind ? r->shape.behind : before;
	uint64_t wrong;
	pctl_status status;

	memset(zone, PCTL_UNREAD, n_zone);
	status = r->t->buffer_read(r->dev, r->call, buffer, at, zone, n_zone);
	if (status != PCTL_OK)
		return status;
	wrong = pctl_guard_check(zone, n_zone, key_of(r, number, second), behind ? before : 0);
	if (wrong == n_zone)
		return PCTL_OK;
	return pctl_refuse(r->call, PC5224_GUARD,
			   "job \"%s\": byte %" PRId64 " of buffer %" PRIu32
			   " was written, beside its %" PRIu64 " bytes: it is 0x%02x now on %s",
			   r->plan->name,
			   behind ? (int64_t)(n + wrong) : (int64_t)wrong - (int64_t)before, number,
			   n, zone[wrong], pctl_session_name(r->s));
}

pctl_status pctl_job_guard_check(struct pctl_job_running *r, pctl_value *const *in)
{
	uint8_t *zone = malloc(r->shape.before + r->shape.behind);
	pctl_status status =
		zone == NULL ? pctl_refuse(r->call, PC2_NOMEM, "no memory for a job") : PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < r->plan->n_buffers; i++) {
		const uint64_t n = pctl_job_span(r, i, in);

		for (int k = 0; k < 4 && status == PCTL_OK; k++) {
			pctl_buffer *buffer = k < 2 ? r->own[i] : r->second[i];

			if (buffer != NULL)
				status = check_zone(r, i, k >= 2, k % 2, buffer, n, zone);
		}
	}
	free(zone);
	return status;
}
