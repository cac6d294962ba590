/* What nothing may have written on a device, read back and judged: zones beside a span, and bytes that programs only read.
 * Jobs of runs and tasks of blocks differ in how they read; what a wrong byte is called is said here. */
#ifndef PIPECTL_RUNTIME_EXEC_READBACK_H
#define PIPECTL_RUNTIME_EXEC_READBACK_H

#include "runtime/exec/session.h"
#include "runtime/exec/shape.h"

/* What a destination of a read holds before it: no zero, no byte of an earlier answer. */
#define PCTL_UNREAD 0xa5

/*
 * Bytes of one span on a device.
 *
 * job      as messages name it: `job "sum"`
 * span     what it is: `buffer 3`, `group 0 binding 1 of kernel k`
 * n_bytes  of the span
 */
typedef struct pctl_readback {
	pctl_session *s;
	const pctl_call *call;
	const char *job, *span;
	uint64_t n_bytes;
} pctl_readback;

/* Read into bytes that hold PCTL_UNREAD before. Errors: of the backend. */
pctl_status pctl_readback_fill(pctl_session *s, const pctl_call *call, pctl_buffer *buffer,
			       uint64_t offset, void *data, uint64_t n);
/* n bytes of a zone as they were written (runtime/exec/guard.h: key, at); `from`: where in the span's terms they begin.
 * PC5224. */
pctl_status pctl_readback_zone(const pctl_readback *w, const uint8_t *read, uint64_t n,
			       uint64_t key, uint64_t at, int64_t from);
/* n bytes of the span, from its byte `from` on, as the host has them. PC5223. */
pctl_status pctl_readback_held(const pctl_readback *w, const uint8_t *read, const uint8_t *ours,
			       uint64_t n, uint64_t from);

#endif
