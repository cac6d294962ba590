/* Inside of a value, shared by value.c and job.c. */
#ifndef PIPECTL_RUNTIME_EXEC_VALUE_H
#define PIPECTL_RUNTIME_EXEC_VALUE_H

#include "runtime/exec/job.h"

#define PCTL_VALUE_PLACES 8u

struct pctl_value {
	uint32_t references;
	pctl_data_source *source; /* where it came from, or NULL */
	uint8_t *host;		  /* its bytes once somebody asked for them, or NULL */
	/* Where it lies: a value never changes, so copies on several sessions agree. */
	struct {
		pctl_session *session;
		pctl_buffer *buffer;
		pctl_zones zones; /* where in the buffer */
	} at[PCTL_VALUE_PLACES];
	uint32_t n_at;
	uint64_t n_bytes;
};

/* job_guard.c: write the zones around a span of n bytes; nothing where there are none. */
pctl_status pctl_zones_write(pctl_session *s, pctl_buffer *buffer, const pctl_zones *zones,
			     uint64_t n, const pctl_call *call);
/* A value of n bytes that the host has, which are copied. NULL: no memory. */
pctl_value *pctl_value_from_bytes(const void *data, uint64_t n);
/* Takes the buffer over; NULL: no memory (the buffer stays the caller's). */
pctl_value *pctl_value_from_buffer(pctl_session *s, pctl_buffer *buffer, uint64_t n_bytes);

#endif
