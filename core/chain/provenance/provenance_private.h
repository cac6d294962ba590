/* What the two halves of provenance share: the walk over jobs (provenance.c) and the reading of one job
 * (provenance_step.c). */
#ifndef PIPECTL_CHAIN_PROVENANCE_PROVENANCE_PRIVATE_H
#define PIPECTL_CHAIN_PROVENANCE_PROVENANCE_PRIVATE_H

#include "foundation/base/map.h"
#include "chain/provenance/provenance.h"

/* seen: place + 1 of a job's step. makers: of a name, the job that made it first. n_looked: edges that were looked
 * at for makers; n_unfollowed: names of more makers than are followed. */
typedef struct pctl_provenance_walk {
	pctl_chain_state *s;
	const pctl_provenance_options *o;
	const pctl_call *call;
	pctl_provenance *p;
	pctl_map *seen, *makers;
	uint64_t n_looked, n_unfollowed;
} pctl_provenance_walk;

/* 1 when what an edge says came after the block that the history is as of. */
int pctl_provenance_is_later(const pctl_provenance_walk *w, uint64_t height);
void pctl_provenance_drop_makers(pctl_map *makers);

/* Fill the step at a place, whose job is set, and append its links. */
pctl_status pctl_provenance_fill(pctl_provenance_walk *w, uint32_t at);

/* The first job that made a name with a clock below `clock`. */
pctl_status pctl_provenance_maker(pctl_provenance_walk *w, const char *name, uint64_t clock,
				  uint8_t out[PCTL_DIGEST_BYTES], uint32_t *has);

#define PCTL_PROVENANCE_JOB_SIZE (PCTL_JOB_TEXT_SIZE + 4u)
/* "job:" and the digits. */
char *pctl_provenance_job_name(const uint8_t id[PCTL_DIGEST_BYTES],
			       char buf[PCTL_PROVENANCE_JOB_SIZE]);
/* 1 when the name is that of a job. */
int pctl_provenance_job_id(const char *name, uint8_t out[PCTL_DIGEST_BYTES]);

#endif
