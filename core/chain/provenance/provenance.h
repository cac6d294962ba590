/* The causal history of a name: which jobs made it, from what and in which order, back to what was given from outside
 * (semantics 8.5); or forward, what was made from it. Read from the graph and the rows of jobs. */
#ifndef PIPECTL_CHAIN_PROVENANCE_PROVENANCE_H
#define PIPECTL_CHAIN_PROVENANCE_PROVENANCE_H

#include "chain/chain.h"
#include "chain/graph/edges.h"

#define PCTL_PROVENANCE_NONE UINT32_MAX
#define PCTL_PROVENANCE_NAME_SIZE (PCTL_EDGE_NAME_MAX + 1u)

#define PCTL_PROVENANCE_FORWARD 1u /* what was made from the name */
#define PCTL_PROVENANCE_ALL 2u	   /* every job that made some bytes, not only the first */

/* max_depth, max_steps: jobs away from the name, and in all. height: as of this block, 0: as it is. max_makers: bytes that
 * more jobs made are not followed, 0: all are. */
typedef struct pctl_provenance_options {
	uint32_t max_depth, max_steps;
	uint32_t flags, reserved;
	uint64_t height, max_makers;
} pctl_provenance_options;

/*
 * What a step took: an input (INPUT) or a job it waited for (PARENT).
 *
 * name   CID of the bytes, or "job:ID"
 * maker  the job that made them, where has_maker; its clock is below that of the step, so a history has no cycles
 * step   of the maker; PCTL_PROVENANCE_NONE without one or where the history was cut
 */
typedef struct pctl_provenance_link {
	uint32_t kind, step;
	char name[PCTL_PROVENANCE_NAME_SIZE];
	uint8_t maker[PCTL_DIGEST_BYTES];
	uint32_t has_maker;
} pctl_provenance_link;

/*
 * One job. depth: 1 for a job that made the name itself (or took it, forward). from: the step that led here first,
 * PCTL_PROVENANCE_NONE for the name. status, gas and sender are those of the job's row where there is one (has_row).
 * author: who uploaded the shader, or "". output "" when it made none.
 */
typedef struct pctl_provenance_step {
	uint8_t job[PCTL_DIGEST_BYTES];
	uint32_t depth, from, has_row, status;
	uint64_t clock, height, gas_used;
	char sender[PCTL_ACCOUNT_SIZE], author[PCTL_ACCOUNT_SIZE];
	char shader[PCTL_CID_TEXT_SIZE], output[PCTL_CID_TEXT_SIZE];
	uint32_t first_link, n_links;
} pctl_provenance_step;

/*
 * steps     breadth first; of equal depth in the order of what led to them. Each job once
 * n_makers  jobs that made the name, all of them (0 for a job and forward)
 * cut_depth, cut_steps  links (forward: jobs) not followed because of max_depth, max_steps
 */
typedef struct pctl_provenance {
	char name[PCTL_PROVENANCE_NAME_SIZE];
	uint32_t flags, n_steps, n_links, cap_steps, cap_links, reserved;
	pctl_provenance_step *steps;
	pctl_provenance_link *links;
	uint64_t n_makers, cut_depth, cut_steps;
} pctl_provenance;

/* PC5880 for what is no name; PC5883 when the graph and the rows of jobs know nothing of it. */
pctl_status pctl_provenance_read(pctl_chain_state *s, const char *name,
				 const pctl_provenance_options *o, const pctl_call *call,
				 pctl_provenance *out);
void pctl_provenance_clear(pctl_provenance *p);

/* Places of the steps by (clock, id of the job): the order in which they happened. Released with free(); NULL: no
 * memory. */
uint32_t *pctl_provenance_order(const pctl_provenance *p);

/* Every CID of the history, ascending by its text, none twice, released with free(): the name, what each step took and
 * made, and its shader. */
pctl_status pctl_provenance_cids(const pctl_provenance *p, const pctl_call *call, pctl_cid **out,
				 uint32_t *n_out);

/* ---- verifying ---------------------------------------------------------------------------- */

/* What became of a step: its output came out the same; its rows are right and it ended without an output; another
 * output; bytes missing; rows that contradict each other. */
enum {
	PCTL_PROVENANCE_SAME = 1,
	PCTL_PROVENANCE_NO_OUTPUT,
	PCTL_PROVENANCE_DIFFERS,
	PCTL_PROVENANCE_MISSING,
	PCTL_PROVENANCE_BROKEN
};
const char *pctl_provenance_verdict_name(uint32_t verdict);

/*
 * Run every job of a history again, in the order in which they happened, from the inputs in the store, and compare the
 * CIDs of their outputs; hold its row against its edges. Every finding is reported (PC5884 to PC5886) and does not keep
 * the rest from being verified. verdicts[i] is that of step i. Nothing of the chain or the store changes.
 * Errors: the first finding's; PC5887 when the history was cut; trouble of the executor.
 */
pctl_status pctl_provenance_verify(pctl_chain *c, const pctl_provenance *p, const pctl_executor *e,
				   const pctl_call *call, uint32_t *verdicts);

#endif
