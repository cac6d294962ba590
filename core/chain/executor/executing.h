/* Which jobs a node is running now, for whoever asks it or another process of the same home. It is no state: the file
 * HOME/chain/executing names them while a lock is held on it, and says nothing the moment that process ends, however. */
#ifndef PIPECTL_CHAIN_EXECUTOR_EXECUTING_H
#define PIPECTL_CHAIN_EXECUTOR_EXECUTING_H

#include "chain/jobs/jobs.h"

#define PCTL_EXECUTING_NONE (-1)

/* Say that these jobs are being run. *out is handed to pctl_executing_end; NONE without a directory, or where another
 * process says so already. Nothing fails for it: a file that cannot be written is a warning (PC5865). */
void pctl_executing_begin(const char *dir, const uint8_t (*ids)[PCTL_DIGEST_BYTES], uint32_t n,
			  const pctl_call *call, int *out);
void pctl_executing_end(int fd);

/* 1 when some process is running the job. dir may be NULL. */
int pctl_executing_has(const char *dir, const uint8_t id[PCTL_DIGEST_BYTES]);

#endif
