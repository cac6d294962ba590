/* The one seam of all consensus engines and ordering services: "these messages, in this order, were decided as block H". What
 * comes of it is a function of the state before and of these bytes alone. Not here: how it came to be decided, and by whom. */
#ifndef PIPECTL_CHAIN_ENGINE_DECIDE_H
#define PIPECTL_CHAIN_ENGINE_DECIDE_H

#include "chain/chain.h"
#include "foundation/base/arena.h"

typedef struct pctl_decider pctl_decider;

#define PCTL_DECIDE_MESSAGES_MAX 8192u	 /* of a block that is proposed */
#define PCTL_DECIDE_BYTES_MAX (4u << 20) /* of its messages together */
#define PCTL_DECIDE_KEPT 16u		 /* blocks whose results are kept */
#define PCTL_DECIDE_TEXT_SIZE (PCTL_MESSAGE_ERROR_MAX + 1u)
/* Of all results of a block together; who sends messages decides how large answers are, and engines have limits of their own for all of them. What
 * goes beyond is left out: an answer alike everywhere, for it is hashed; a text is for people. */
#define PCTL_DECIDE_DATA_MAX (8u << 20)
#define PCTL_DECIDE_TEXTS_MAX (4u << 20)

/*
 * The chain has to begin under version 2 of the rules or later (PC6164), and nothing may be in its open block that no
 * engine decided (PC6165, also later). dir: where results of blocks are kept (HOME/chain/decided), made when it is
 * missing. `c` outlives the decider, and nobody else ends its blocks meanwhile.
 */
pctl_status pctl_decider_open(pctl_chain *c, const char *dir, const pctl_call *call,
			      pctl_decider **out);
/* A block that is not committed is gone. */
void pctl_decider_close(pctl_decider *d);

/* The last block that is final: 0 before the first. root: its state root; before the first block the id of the chain. */
typedef struct pctl_decider_last {
	uint64_t height;
	uint8_t root[PCTL_DIGEST_BYTES];
} pctl_decider_last;
const pctl_decider_last *pctl_decider_last_of(const pctl_decider *d);
/* Whether jobs of blocks that are final wait for the next one. */
pctl_status pctl_decider_has_jobs(pctl_decider *d, const pctl_call *call, int *out);
const uint8_t *pctl_decider_chain(const pctl_decider *d); /* pctl_chain_id */

/*
 * What came of one message.
 *
 * code        0: taken in; else the code of its refusal
 * gas_wanted  of the job that it made; 0 without one
 * gas_used    charged to that job when its block ended; 0 where it waits
 * paid        what it cost where it was refused, 0: it left no trace; not kept, 0 of a block that was done before
 * data        the canonical response (message.h) where the code is 0
 * text        of a refusal, for people; not kept, "" of a block that was done before
 */
typedef struct pctl_decided_result {
	uint32_t code, reserved;
	uint64_t gas_wanted, gas_used, paid;
	pctl_msg_bytes data;
	const char *text;
} pctl_decided_result;

/* root: the state root of the block. Results are in the order of the messages. Valid until the decider is used again. */
typedef struct pctl_decided {
	uint64_t height;
	uint8_t root[PCTL_DIGEST_BYTES];
	const pctl_decided_result *results;
	uint32_t n_results, reserved;
} pctl_decided;

/*
 * These messages were decided as block `height`. They are taken in by pctl_chain_take_bytes, one after the other, a
 * refusal being an outcome like any other; jobs run, the block is closed, and all of it waits for commit. Asked again
 * for a block that waits or is done, it gives the same answer: after a crash before the commit the block is made
 * again, to the bit, and after one behind it the results that were kept are read.
 *
 * Errors: PC6165; PC6166 (not the next height); PC6167 (the block was decided otherwise); PC6168; trouble of this node, after
 * which nothing of the block is there.
 */
pctl_status pctl_decide(pctl_decider *d, uint64_t height, const pctl_msg_bytes *messages,
			uint32_t n, const pctl_call *call, pctl_decided *out);
/* The block that waits becomes durable, as a whole. PC6170: none does. */
pctl_status pctl_decide_commit(pctl_decider *d, const pctl_call *call);

/* ---- before anything is decided: nothing below changes state or store ----------------------- */

/* Which message is at fault and why; code 0: none, the block may be decided. */
typedef struct pctl_judgement {
	uint32_t code, index;
	char text[PCTL_DECIDE_TEXT_SIZE];
} pctl_judgement;

/*
 * May this block be decided as `height`? Every message of it has to be taken in where it stands, or refused and paid for (so none is twice there,
 * of another chain, unsigned, or before one of its sender's that comes first), within the bounds above, and the gas of
 * jobs that wait and of those that it brings within the budget of a block (PC6171). No contract runs for it, and no job of a dispute (chain.h).
 */
pctl_status pctl_decide_judge(pctl_decider *d, uint64_t height, const pctl_msg_bytes *messages,
			      uint32_t n, const pctl_call *call, pctl_judgement *out);

/*
 * Choose from what waits a block that pctl_decide_judge lets pass: of each sender in the order of its numbers, else by gas a
 * byte, the highest first, and where that is equal as they stand. max_bytes: of the encoded block, each message with up to
 * six bytes around it. chosen has room for n places and holds numbers of messages.
 */
pctl_status pctl_decide_choose(pctl_decider *d, const pctl_msg_bytes *messages, uint32_t n,
			       uint64_t max_bytes, const pctl_call *call, uint32_t *chosen,
			       uint32_t *n_chosen);

/*
 * A message that no block will have as the state is: refused for a block before beside what else waited, and now again, alone, on what is final, and
 * without a price (`fee_ppm` 0), so that it is of no use to a block either. digest: SHA-256 of its bytes.
 */
#define PCTL_DECIDE_REFUSED_MAX 64u
typedef struct pctl_decide_refusal {
	uint8_t digest[PCTL_DIGEST_BYTES];
	uint32_t code, reserved;
	char text[PCTL_DECIDE_TEXT_SIZE];
} pctl_decide_refusal;
/* Those that pctl_decide_choose found since this was asked last; valid until it chooses again. */
const pctl_decide_refusal *pctl_decide_refused(pctl_decider *d, uint32_t *n);

#endif
