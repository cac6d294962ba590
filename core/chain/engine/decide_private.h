/* Shared by the files of the decider. */
#ifndef PIPECTL_CHAIN_ENGINE_DECIDE_PRIVATE_H
#define PIPECTL_CHAIN_ENGINE_DECIDE_PRIVATE_H

#include "chain/chain_private.h"
#include "chain/engine/decide.h"

/* A message that was refused, for nothing, when a block of this height was chosen; 0: none. */
#define PCTL_DECIDE_SUSPECTS_MAX 1024u
typedef struct pctl_decide_suspect {
	uint8_t digest[PCTL_DIGEST_BYTES];
	uint64_t height;
} pctl_decide_suspect;

/*
 * last     final
 * pending  the block that waits, its height 0: none; `digest` is of its messages, `commit` its id
 * suspects  the last of them; refused: those that the last choosing found to be out
 * arena    of the block that waits or was asked for last; scratch: of what was tried last; into: the one in use, with what is left for it
 */
struct pctl_decider {
	pctl_chain *chain;
	char *dir;
	pctl_decider_last last;
	uint8_t id[PCTL_DIGEST_BYTES], digest[PCTL_DIGEST_BYTES];
	pctl_decided pending;
	pctl_gitlog_oid commit;
	pctl_arena *arena, *scratch, *into;
	uint64_t data_left, texts_left;
	pctl_decide_suspect suspects[PCTL_DECIDE_SUSPECTS_MAX];
	pctl_decide_refusal refused[PCTL_DECIDE_REFUSED_MAX];
	uint32_t next_suspect, n_refused;
	int abstains; /* of the chain's pace: here it is a word about a proposal, for what was decided is followed, however long it takes */
};

/* What results point to lies in `arena` from now on, as far as there is room for the results of a block. */
void pctl_decide_into(pctl_decider *d, pctl_arena *arena);
/*
 * Take in one message inside a batch or an attempt. What the result points to lives in d->into. Errors are trouble alone.
 */
pctl_status pctl_decide_take(pctl_decider *d, const pctl_msg_bytes *m, const pctl_call *call,
			     pctl_decided_result *out, uint8_t job[PCTL_DIGEST_BYTES]);

/* decide_propose.c: around messages that are tried and undone. */
pctl_status pctl_decide_attempt_begin(pctl_decider *d, const pctl_call *call);
pctl_status pctl_decide_attempt_end(pctl_decider *d, pctl_status status, const pctl_call *call);

/* decide_refused.c: this message was refused beside others, for nothing; and, before others are tried, is it one that was, and is it refused alone, too?
 * No more than PCTL_DECIDE_REFUSED_MAX are found in a block. */
pctl_status pctl_decide_suspected(pctl_decider *d, const pctl_msg_bytes *m, const pctl_call *call);
pctl_status pctl_decide_try_again(pctl_decider *d, const pctl_msg_bytes *m, const pctl_call *call,
				  int *is_out);

/* The digest of a decided block: SHA-256 over a domain, the height, and of each message its length (8 bytes, least
 * significant first) and its bytes. */
pctl_status pctl_decide_digest(uint64_t height, const pctl_msg_bytes *messages, uint32_t n,
			       const pctl_call *call, uint8_t out[PCTL_DIGEST_BYTES]);
/* Results of a block as a file (engine.proto), before its commit; the oldest one is removed. */
pctl_status pctl_decide_keep(const pctl_decider *d, const pctl_decided *b,
			     const uint8_t digest[PCTL_DIGEST_BYTES], const pctl_call *call);
/* Of a block that is done. PC6167, PC6168. */
pctl_status pctl_decide_recall(pctl_decider *d, uint64_t height,
			       const uint8_t digest[PCTL_DIGEST_BYTES], const pctl_call *call,
			       pctl_decided *out);

#endif
