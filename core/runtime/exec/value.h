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
		uint32_t
			range; /* its f32 fulfil the range contract 1, do not 2; 0: nobody looked */
	} at[PCTL_VALUE_PLACES];
	uint32_t n_at;
	uint64_t n_bytes;
};

/* 1: a span of n bytes is written and read with its zones in one call, for a call costs more than the bytes. */
static inline int pctl_zones_are_one(const pctl_zones *zones, uint64_t n)
{
	return zones->before != 0 && n <= 64u << 10;
}
/* job_guard.c: write the zones around a span of n bytes, and the span where they are one: `span`, or zeros where that is NULL.
 * Nothing where there are no zones. */
pctl_status pctl_zones_write(pctl_session *s, pctl_buffer *buffer, const pctl_zones *zones,
			     const void *span, uint64_t n, const pctl_call *call);
/* A value of n bytes that the host has, which are copied. NULL: no memory. */
pctl_value *pctl_value_from_bytes(const void *data, uint64_t n);
/* Takes the buffer over; NULL: no memory (the buffer stays the caller's). */
pctl_value *pctl_value_from_buffer(pctl_session *s, pctl_buffer *buffer, uint64_t n_bytes);

/* Its buffer on the session, written anew since, as another value of n_bytes; v has none there afterwards. NULL: no memory, and v has
 * it still. */
pctl_value *pctl_value_take_over(pctl_value *v, const pctl_session *s, uint64_t n_bytes);

/* Let its buffers go; its bytes, which the host holds, stay. */
void pctl_value_leave(pctl_value *v);

#endif
