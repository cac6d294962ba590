/* Jobs of the chain as rows: what was submitted, where it stands in the queue, and how it ended. */
#ifndef PIPECTL_CHAIN_JOBS_JOBS_H
#define PIPECTL_CHAIN_JOBS_JOBS_H

#include "chain/ledger/ledger.h"
#include "chain/messages/message.h"

/* Who asked: a message, the engine itself at the end of an epoch, or a contract that a message called. */
enum {
	PCTL_ORIGIN_MESSAGE = 0,
	PCTL_ORIGIN_EPOCH = 1,
	PCTL_ORIGIN_GENESIS = 2,
	PCTL_ORIGIN_CONTRACT = 3, /* of jobs alone */
	/* Beside one of these, in the inbox alone: the message was refused and has paid for it, and there is nothing else of it. What it names is nothing
	 * that its block needs; it may not even be there. */
	PCTL_ORIGIN_REFUSED = 0x100
};

#define PCTL_JOB_TEXT_SIZE 65u /* 64 lower-case hex digits and a NUL */

/*
 * id        pctl_job_id
 * position  in the queue: 1, 2, 3 .. in the order of arrival, never used twice. A job refers only to jobs that were
 *           there before, so this order is also one of dependencies
 * height    of the block that took it in
 * clock     max(clock of the open block, 1 + clock of each parent); semantics 8.4
 * gas       what running it costs, fixed at submit under the parameters of `height`; at most its gas_limit
 * status    PCTL_JOB_PENDING, _COMPLETE, _FAILED (EXECUTING is never stored: pctl_chain_job_status)
 * ended     height of the block that ended it, 0 while pending; then gas_used, output (COMPLETE) and error (FAILED)
 * message   canonical bytes (pctl_request_bytes) of a request of kind PCTL_MSG_EXECUTE, as it was taken in
 */
typedef struct pctl_chain_job {
	uint8_t id[PCTL_DIGEST_BYTES];
	uint64_t position, height, clock, gas;
	uint32_t status, origin;
	char sender[PCTL_ACCOUNT_SIZE];
	uint64_t ended, gas_used, output_bytes;
	pctl_cid output;
	char error[PCTL_MESSAGE_ERROR_MAX + 1u];
	uint8_t *message;
	uint64_t n_message;
} pctl_chain_job;

void pctl_chain_job_clear(pctl_chain_job *job); /* frees the message */

/* Text of an id and back: 1 when it is exactly 64 lower-case hex digits. */
char *pctl_job_id_format(const uint8_t id[PCTL_DIGEST_BYTES], char buf[PCTL_JOB_TEXT_SIZE]);
int pctl_job_id_parse(const char *text, uint8_t out[PCTL_DIGEST_BYTES]);

/* Inside an open transaction. add: a pending job. */
pctl_status pctl_jobs_add(pctl_chain_state *s, const pctl_chain_job *job, const pctl_call *call);
/* End a pending job: COMPLETE with `output`, or FAILED with `error` (output NULL). */
pctl_status pctl_jobs_end(pctl_chain_state *s, const uint8_t id[PCTL_DIGEST_BYTES], uint32_t status,
			  uint64_t height, uint64_t gas_used, const pctl_cid *output,
			  const char *error, const pctl_call *call);

/* PC5801 when there is none. The message is the caller's to clear. */
pctl_status pctl_jobs_read(pctl_chain_state *s, const uint8_t id[PCTL_DIGEST_BYTES],
			   const pctl_call *call, pctl_chain_job *out);
/* Visit pending jobs in the order of the queue, or those that ended at a height (by clock, then position), or all
 * (sender not NULL: of that sender) newest first. A visitor that returns non-zero ends the walk; it may not change
 * rows. */
typedef int (*pctl_jobs_visit)(void *ctx, const pctl_chain_job *job);
pctl_status pctl_jobs_pending(pctl_chain_state *s, pctl_jobs_visit visit, void *ctx,
			      const pctl_call *call);
pctl_status pctl_jobs_ended_at(pctl_chain_state *s, uint64_t height, pctl_jobs_visit visit,
			       void *ctx, const pctl_call *call);
pctl_status pctl_jobs_all(pctl_chain_state *s, const char *sender, pctl_jobs_visit visit, void *ctx,
			  const pctl_call *call);
/* Those behind (clock, position), of a clock up to `end`, by both. */
pctl_status pctl_jobs_after(pctl_chain_state *s, uint64_t clock, uint64_t position, uint64_t end,
			    pctl_jobs_visit visit, void *ctx, const pctl_call *call);

/* Whether any job has this clock. */
pctl_status pctl_jobs_has_clock(pctl_chain_state *s, uint64_t clock, const pctl_call *call,
				int *out);
/* The highest clock ever assigned and the last position ever used; 0 without jobs. */
pctl_status pctl_jobs_last(pctl_chain_state *s, const pctl_call *call, uint64_t *clock,
			   uint64_t *position);

/* ---- messages taken in since the last block ----------------------------------------------- */

/* Keep an accepted message for the record of the open block; bytes are an encoded request. */
pctl_status pctl_inbox_add(pctl_chain_state *s, uint32_t origin, const void *bytes, uint64_t n,
			   const pctl_call *call);
/* In the order of arrival. */
typedef int (*pctl_inbox_visit_fn)(void *ctx, uint32_t origin, const uint8_t *bytes, uint64_t n);
pctl_status pctl_inbox_visit(pctl_chain_state *s, pctl_inbox_visit_fn visit, void *ctx,
			     const pctl_call *call);

#endif
