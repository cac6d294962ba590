/* Where a command must wait for those before it: what was read and written since the last barrier, by ranges of buffers. The one
 * place that decides where a barrier stands, for jobs (job_record.c) and pipelines that stay on a device (resident_record.c). */
#ifndef PIPECTL_RUNTIME_EXEC_HAZARDS_H
#define PIPECTL_RUNTIME_EXEC_HAZARDS_H

#include "pipectl/backend.h"

/* What a command may read or write (writes 1) of a buffer. */
typedef struct pctl_touched {
	const pctl_buffer *buffer;
	uint64_t from, n_bytes;
	uint32_t writes, reserved;
} pctl_touched;

/* Accesses since the last barrier; all 0 at first. */
typedef struct pctl_hazards {
	pctl_touched *since;
	uint32_t n, room;
} pctl_hazards;

/* 1: a command with these accesses needs a barrier before it: it reads what was written, or writes what was read or written. */
int pctl_hazards_meet(const pctl_hazards *h, const pctl_touched *accesses, uint32_t n);
/* It was recorded. Errors: PC0002. */
pctl_status pctl_hazards_note(pctl_hazards *h, const pctl_touched *accesses, uint32_t n,
			      const pctl_call *call);
/* A barrier was. */
void pctl_hazards_clear(pctl_hazards *h);
void pctl_hazards_drop(pctl_hazards *h);

#endif
