/* Implementation of readback.h. What a device says here is a claim too: results are compared whatever it says. */
#include "runtime/exec/readback.h"

#include <inttypes.h>
#include <string.h>

pctl_status pctl_readback_fill(pctl_session *s, const pctl_call *call, pctl_buffer *buffer,
			       uint64_t offset, void *data, uint64_t n)
{
	memset(data, PCTL_UNREAD, n);
	return pctl_session_table(s)->buffer_read(pctl_session_device(s), call, buffer, offset,
						  data, n);
}

pctl_status pctl_readback_zone(const pctl_readback *w, const uint8_t *read, uint64_t n,
			       uint64_t key, uint64_t at, int64_t from)
{
	const uint64_t wrong = pctl_guard_check(read, n, key, at);

	if (wrong == n)
		return PCTL_OK;
	return pctl_refuse(w->call, PC5224_GUARD,
			   "%s: byte %" PRId64 " of %s was written, outside of its %" PRIu64
			   " bytes: it is 0x%02x now on %s",
			   w->job, from + (int64_t)wrong, w->span, w->n_bytes, read[wrong],
			   pctl_session_name(w->s));
}

pctl_status pctl_readback_held(const pctl_readback *w, const uint8_t *read, const uint8_t *ours,
			       uint64_t n, uint64_t from)
{
	uint64_t at = 0;

	if (n == 0 || memcmp(ours, read, n) == 0)
		return PCTL_OK;
	while (ours[at] == read[at])
		at++;
	return pctl_refuse(w->call, PC5223_NOT_HELD,
			   "%s: %s reads back other bytes than it was given for %s, which no "
			   "kernel may write: byte %" PRIu64
			   " is 0x%02x there, the host gave 0x%02x",
			   w->job, pctl_session_name(w->s), w->span, from + at, read[at], ours[at]);
}
