/* The zones around the spans of a job: written when a buffer is made, compared when the job has run. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "runtime/exec/guard.h"
#include "runtime/exec/job_private.h"

/* Each buffer has a pattern of its own. */
pctl_zones pctl_job_zones(const struct pctl_job_running *r, uint32_t number, int second)
{
	if (r->shape.before == 0)
		return (pctl_zones){0, 0, 0};
	return (pctl_zones){r->shape.before, r->shape.behind,
			    r->shape.key * UINT64_C(0xbf58476d1ce4e5b9) + 2u * number +
				    (second ? 1u : 0u)};
}

int pctl_job_is_watched(const struct pctl_job_running *r, uint32_t number)
{
	return r->shape.thorough || number < r->plan->n_in + r->plan->n_out ||
	       (r->shape.key >> number % 61 & 3u) == 0;
}

pctl_status pctl_zones_write(pctl_session *s, pctl_buffer *buffer, const pctl_zones *zones,
			     uint64_t n, const pctl_call *call)
{
	const pctl_backend *t = pctl_session_table(s);
	const uint64_t before = zones->before, behind = zones->behind;
	uint8_t *zone = before == 0 ? NULL : malloc(before + behind);
	pctl_status status;

	if (before == 0)
		return PCTL_OK;
	if (zone == NULL)
		return pctl_no_memory(call, "a job");
	pctl_guard_fill(zone, before + behind, zones->key, 0);
	status = t->buffer_write(pctl_session_device(s), call, buffer, 0, zone, before);
	if (status == PCTL_OK)
		status = t->buffer_write(pctl_session_device(s), call, buffer, before + n,
					 zone + before, behind);
	free(zone);
	return status;
}

static pctl_status check_zone(struct pctl_job_running *r, uint32_t number, const pctl_zones *zones,
			      int behind, pctl_buffer *buffer, uint64_t n)
{
	const uint64_t before = zones->before, at = behind ? before + n : 0;
	const uint64_t n_zone = behind ? zones->behind : before;
	uint8_t *zone = malloc(n_zone);
	uint64_t wrong;
	pctl_status status;

	if (zone == NULL)
		return pctl_no_memory(r->call, "a job");
	memset(zone, PCTL_UNREAD, n_zone);
	status = r->t->buffer_read(r->dev, r->call, buffer, at, zone, n_zone);
	wrong = pctl_guard_check(zone, n_zone, zones->key, behind ? before : 0);
	if (status == PCTL_OK && wrong != n_zone)
		status = pctl_refuse(
			r->call, PC5224_GUARD,
			"job \"%s\": byte %" PRId64 " of buffer %" PRIu32
			" was written, beside its %" PRIu64 " bytes: it is 0x%02x now on %s",
			r->plan->name,
			behind ? (int64_t)(n + wrong) : (int64_t)wrong - (int64_t)before, number, n,
			zone[wrong], pctl_session_name(r->s));
	free(zone);
	return status;
}

static pctl_status check_span(struct pctl_job_running *r, uint32_t number, const pctl_zones *zones,
			      pctl_buffer *buffer, uint64_t n)
{
	pctl_status status = PCTL_OK;

	for (int behind = 0; behind < 2 && status == PCTL_OK && buffer != NULL; behind++)
		if (zones->before != 0)
			status = check_zone(r, number, zones, behind, buffer, n);
	return status;
}

pctl_status pctl_job_guard_check(struct pctl_job_running *r, pctl_value *const *in)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < r->plan->n_in; i++)
		status = check_span(r, i, &r->lie[i], r->inputs[i],
				    pctl_num_align(pctl_value_bytes(in[i]), 4));
	for (uint32_t i = r->plan->n_in; status == PCTL_OK && i < r->plan->n_buffers; i++) {
		const uint64_t n = r->plan->buffers[i].n_bytes;
		const pctl_zones first = pctl_job_zones(r, i, 0), other = pctl_job_zones(r, i, 1);

		if (!pctl_job_is_watched(r, i))
			continue;
		status = check_span(r, i, &first, r->own[i], n);
		if (status == PCTL_OK)
			status = check_span(r, i, &other, r->second[i], n);
	}
	return status;
}
