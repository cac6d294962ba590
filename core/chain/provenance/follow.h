/* The whole history of a name, and all that depends on it, in the order of clocks and a page at a time. What remains to be
 * followed is the continuation itself: a job is met once, since all that it leads to lies on one side of its clock. */
#ifndef PIPECTL_CHAIN_PROVENANCE_FOLLOW_H
#define PIPECTL_CHAIN_PROVENANCE_FOLLOW_H

#include "chain/graph/query.h"

/* Of a CID or job:ID (PC5880 for another name, PC5883): the jobs that led to it, itself among them, from the highest (clock,
 * id) down. cut counts what is left out: names that more than PCTL_FOLLOW_MAKERS jobs made, and the oldest of more than
 * PCTL_FOLLOW_MAX jobs that wait to be followed at once. */
#define PCTL_FOLLOW_MAKERS 65536u
#define PCTL_FOLLOW_MAX 8192u
pctl_status pctl_query_history(pctl_query_page *p);

/* The jobs that took it, or what these made, or waited for one of them, from the least clock up, those of one clock in the
 * order of their edges. cut counts outputs and jobs that are not followed, of more than PCTL_FOLLOW_MAX at once. */
pctl_status pctl_query_dependents(pctl_query_page *p);

/* Internal to the two: what a job's step says, put into the page. *output: its CID, "" where it made none by then. */
typedef struct pctl_follow {
	pctl_query_page *p;
	struct pctl_provenance_walk *w;
	char output[PCTL_CID_TEXT_SIZE];
	uint64_t clock;
} pctl_follow;
pctl_status pctl_follow_open(pctl_query_page *p, pctl_follow *f);
void pctl_follow_close(pctl_follow *f);
/* PC5883 where the job is not there, or not yet. */
pctl_status pctl_follow_put(pctl_follow *f, const uint8_t id[PCTL_DIGEST_BYTES]);

#endif
