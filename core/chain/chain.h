/* The consensus VM as one object: messages go in, blocks come out. Verbs, the node and replay all use this
 * and nothing below it, so a message means the same whichever way it came. */
#ifndef PIPECTL_CHAIN_CHAIN_H
#define PIPECTL_CHAIN_CHAIN_H

#include "runtime/cas/memo.h"
#include "runtime/cas/store.h"
#include "chain/executor/executor.h"
#include "chain/history/gitlog.h"
#include "chain/jobs/jobs.h"
#include "chain/ledger/params.h"

typedef struct pctl_chain pctl_chain;

/*
 * dir       holds state.sqlite and blocks.git, made when missing; NULL: state in memory and no history (replay, tests)
 * store     bytes by CID; outlives the chain
 * kernels   compiles shaders; outlives the chain
 * genesis   values of height 0 for a state that has none; NULL: `seed` is asked for them, and only then
 * seed      gives them, with seed_ctx, where genesis is NULL and the state has none; NULL: such a state is refused (PC5723)
 * executor  runs jobs; NULL: end_block is refused (PC5850) when a job would have to run
 * is_bare   nothing is put into a state that has no parameters: a snapshot is to be restored into it (sync/snapshot.h).
 *           Otherwise one in which that was begun and has not ended is refused (PC6149)
 * reference runs again the jobs that are disputed, from version 2 of the rules on; a copy is kept and closed with the chain, also where opening fails. run NULL: such
 *           messages are trouble of this node (PC5850)
 * is_reader it only answers (pctl_chain_answer), beside the chain that writes: nothing is put into its state, and its history is read as it is
 * wasm      where Wasmtime's library is, which contracts run in; copied, and looked at when the first one is met. NULL: nowhere, and messages that
 *           need it are trouble of this node (PC6128)
 * made      where it is noted how outputs stand, by CID, as runs do; outlives the chain; NULL: nowhere. No state
 */
typedef struct pctl_chain_options {
	const char *dir;
	pctl_store *store;
	pctl_kernels *kernels;
	const pctl_params *genesis;
	pctl_status (*seed)(void *ctx, const pctl_call *call, pctl_params *out);
	void *seed_ctx;
	const pctl_executor *executor;
	pctl_executor reference;
	pctl_memo *made;
	const char *wasm;
	uint32_t is_bare, is_reader;
} pctl_chain_options;

/* At start the log is brought to what SQLite names (pctl_gitlog_repair). One process writes at a time: the second waits
 * up to 5 s, then PC5703. Reading needs no transaction. */
pctl_status pctl_chain_open(const pctl_chain_options *o, const pctl_call *call, pctl_chain **out);
void pctl_chain_close(pctl_chain *c);

pctl_chain_state *pctl_cursor(pctl_chain *c);
/* The status of a job as people see it: EXECUTING while a process of this home runs it, else that of its row. */
uint32_t pctl_chain_job_status(const pctl_chain *c, const pctl_chain_job *job);
pctl_gitlog *pctl_chain_log(pctl_chain *c); /* NULL without history */
pctl_store *pctl_chain_store(pctl_chain *c);
/* How the output stands that a job of the block that was ended last gave here: not verified where it did not run here. */
pctl_evidence pctl_chain_evidence(const pctl_chain *c, const uint8_t job[PCTL_DIGEST_BYTES]);

/* last: the last finished block, 0 before the first, whose height is 1. clock: its final clock. The open block has
 * height last + 1 and starts at clock + 1. */
typedef struct pctl_chain_info {
	uint64_t last, clock, n_pending, n_inbox;
	pctl_gitlog_oid commit; /* of `last`; zeros before the first block */
} pctl_chain_info;
pctl_status pctl_chain_info_read(pctl_chain *c, const pctl_call *call, pctl_chain_info *out);

/*
 * Take in one message of any kind that changes state (all but queries and BLOCK_END). Refused: nothing changed, not a
 * row. Accepted: the change and the message are one transaction, durable when it returns; the sender's sequence number
 * went up by one. `out` (may be NULL) is the response; release with pctl_response_destroy.
 * From version 2 of the rules on, an execute message that is refused for its gas or its shader is kept too, as a job that
 * failed, and charged (refusal.h); the status and the code are those of the refusal, the message says what it costs.
 * Without an account a sender's sequence starts at 0 and an account with no gas is made to hold it.
 */
pctl_status pctl_chain_apply(pctl_chain *c, const pctl_request *r, const pctl_call *call,
			     pctl_response *out);
/* Take in a message of a record again: one that is refused and charged belongs there, PCTL_OK without a word. origin:
 * PCTL_ORIGIN_MESSAGE or _GENESIS. */
pctl_status pctl_chain_apply_again(pctl_chain *c, const pctl_request *r, uint32_t origin,
				   const pctl_call *call);
/* Take in a message that the chain begins with: keys, roles and gas of an account, unsigned. PC5848 once it has begun. */
pctl_status pctl_chain_apply_genesis(pctl_chain *c, const pctl_request *r, const pctl_call *call);
/*
 * Whoever signs, from version 2 of the rules on, the messages that pctl_chain_apply and _submit get made by hand and
 * without `auth`: the author is called with `auth` filled in but for its signatures, which it adds, in the arena. They
 * are good for `blocks` blocks after the open one. ctx outlives the chain. NULL, as at first: they are refused (PC5840).
 */
typedef pctl_status (*pctl_author_fn)(void *ctx, pctl_chain *c, const char *sender, pctl_request *r,
				      struct pctl_arena *arena, const pctl_call *call);
void pctl_chain_set_author(pctl_chain *c, pctl_author_fn author, void *ctx, uint64_t blocks);
/* What take does for an EXECUTE (or UPLOAD) message, from the engine itself too. */
pctl_status pctl_chain_submit(pctl_chain *c, const pctl_request *r, uint32_t origin,
			      const pctl_call *call, pctl_response *out);

/*
 * Whoever gets bytes from other nodes that are state and that the chain's store lacks: puts them into `store`, held against
 * their CID. Other statuses than PCTL_OK: nobody has them. ctx outlives the chain.
 */
typedef pctl_status (*pctl_fetch_fn)(void *ctx, const pctl_cid *cid, pctl_store *store,
				     const pctl_call *call);
void pctl_chain_set_fetch(pctl_chain *c, pctl_fetch_fn fetch, void *ctx);

/* Several messages with one commit: between begin and commit, takes are savepoints; a refused one undoes itself alone.
 * Nothing is durable before commit returned; trouble (status PCTL_E_STORE) ends the batch, rolled
 * back, and commit then says so (PC5828). */
pctl_status pctl_chain_batch_begin(pctl_chain *c, const pctl_call *call);
pctl_status pctl_chain_batch_commit(pctl_chain *c, const pctl_call *call);
void pctl_chain_batch_abort(pctl_chain *c); /* none of it; also for a batch that trouble ended */

/* Forget texts and kernels of shaders where more than `most` of either are kept, or about `most` times PCTL_CHAIN_SHADER_BYTES; they are read and
 * made again when they are needed. By who has the kernels for this chain alone, between messages and blocks. */
#define PCTL_CHAIN_SHADERS_KEPT 256u /* between blocks: uploads are many, and jobs of few shaders */
#define PCTL_CHAIN_SHADERS_OPEN 1024u /* in the midst of one, whose jobs need them again */
#define PCTL_CHAIN_SHADER_BYTES (256u << 10)
pctl_status pctl_chain_forget_shaders(pctl_chain *c, uint32_t most, const pctl_call *call);

/* Answer a query (QUERY, BLOCK_QUERY, GET ..) from the state as it is; changes nothing. */
pctl_status pctl_chain_answer(pctl_chain *c, const pctl_request *r, const pctl_call *call,
			      pctl_response *out);

/*
 * End the open block (r->kind BLOCK_END; its height must be 0 or that of the open block, PC5851): choose jobs, run them
 * by clocks, settle gas, write edges, and make it final. On any trouble nothing has changed, and doing it again gives
 * the same block.
 */
pctl_status pctl_chain_end_block(pctl_chain *c, const pctl_request *r, const pctl_call *call,
				 pctl_response *out);

/*
 * Another view of this chain, for one further thread: pctl_chain_answer on *out sees what was committed last, jobs of a block
 * that is being ended as EXECUTING, and waits for nothing that this chain does. The chain's own; made at the first call.
 * NULL: a chain or a store in memory has none.
 */
pctl_status pctl_chain_reader(pctl_chain *c, const pctl_call *call, pctl_chain **out);
/* One more such reader, for another thread, with a store of its own: the caller closes both, the chain first. Of a chain that lies in a folder (else
 * PC5701). */
pctl_status pctl_chain_open_apart(const pctl_chain *c, const pctl_call *call, pctl_chain **out,
				  pctl_store **store);

/* Requests that were decoded will be taken in: what can be asked of their bytes alone (signatures) is asked here, in threads,
 * and known then. In any thread. */
void pctl_chain_ahead(pctl_chain *c, const pctl_request *const *requests, uint32_t n);
/* Of encoded requests, for pctl_chain_take_bytes. */
void pctl_chain_ahead_bytes(pctl_chain *c, const pctl_msg_bytes *messages, uint32_t n);

/* Whatever the request is: take, answer or end. A refusal is an ERROR response (code and text of the first diagnostic)
 * and PCTL_OK; trouble of this node (state, store, device) is the status. */
pctl_status pctl_chain_serve(pctl_chain *c, const pctl_request *r, const pctl_call *call,
			     pctl_response *out);

/* The encoded request of somebody else's order, taken in. Bytes that are no request, and requests that change no state, are
 * refused as others are: an ERROR response and PCTL_OK. *paid: what a refused one paid all the same, 0: it left no trace. */
pctl_status pctl_chain_take_bytes(pctl_chain *c, const void *bytes, uint64_t n,
				  const pctl_call *call, uint64_t *paid, pctl_response *out);

/*
 * Would it be worth somebody's while to order this message? Only what costs next to nothing is asked: its form, its signatures and its number,
 * the height that it is for, and whether its sender has what it costs and what it sets aside. What it does is not tried: a message that is
 * admitted may be refused in its block, and pays there. Changes nothing, so a chain to read from is enough.
 *
 * number    the least that its own may be; the sender's next where that is greater
 * taken     of its sender's balance, by messages that were admitted before it and are in no block yet
 * admitted  where it is admitted: sender, number, the most gas that its job or call may use, and what it takes of the balance
 *
 * A refusal is an ERROR response and PCTL_OK; else `out` has the kind of the message and nothing in it.
 */
typedef struct pctl_admission {
	char sender[PCTL_ACCOUNT_SIZE];
	uint64_t nonce, gas, takes;
} pctl_admission;
pctl_status pctl_chain_admit_bytes(pctl_chain *c, const void *bytes, uint64_t n, uint64_t number,
				   uint64_t taken, const pctl_call *call, pctl_admission *admitted,
				   pctl_response *out);

/*
 * Between begin and end messages are tried: what they do to the state is undone at the end, and bytes that they bring never
 * reach the store. Nothing is run for them, neither contracts nor the jobs of disputes, nor is a contract compiled: such a message counts as one that
 * used all that it may, and what comes of it is seen in its block alone. Also inside an open batch, of which nothing is undone that was there before. An attempt is not nested.
 */
pctl_status pctl_chain_attempt_begin(pctl_chain *c, const pctl_call *call);
pctl_status pctl_chain_attempt_end(pctl_chain *c, const pctl_call *call);

/*
 * Told of every record, written but not final yet: a status other than PCTL_OK leaves everything as it was. What it writes
 * (a receipt) is there whenever the block is; a block that is ended again after a crash has the same record.
 */
struct pctl_block_record;
typedef pctl_status (*pctl_chain_record_fn)(void *ctx, const struct pctl_block_record *record,
					    const pctl_call *call);
void pctl_chain_set_record(pctl_chain *c, pctl_chain_record_fn record, void *ctx);

/*
 * How fast this node is: the gas of a millisecond, 0 where nobody measured it. Before a block's jobs are run, their gas is held
 * against block_time_ms and utilisation_ppm: where they would take longer, that is a warning, or with `abstains` the block is
 * not ended here (PC5868, and nothing has changed). No input of state.
 */
void pctl_chain_set_pace(pctl_chain *c, uint64_t gas_per_ms, int abstains);
/* How many milliseconds so much gas takes at that pace, and how many a block has for its jobs. */
uint64_t pctl_chain_pace_ms(uint64_t gas, uint64_t gas_per_ms);
uint64_t pctl_chain_jobs_ms(const pctl_params *p);

/* The newest version of the rules to follow, 0 or one above those that are known: all that are. Messages and ends of a block under a
 * later one are trouble of this node (PC6153), so that nothing of it is done. No input of state. */
void pctl_chain_set_rules(pctl_chain *c, uint64_t newest);

/* A node that ends blocks for others does nothing of one that may have contracts where it cannot run them: PC6114, in place of PC6128 in the middle of it.
 * PC6114 at once where the chain takes contracts from the open block or from a later one on. */
pctl_status pctl_chain_set_contracts(pctl_chain *c, const pctl_call *call);

/* Who is told at once of warnings while requests are served (devices that stood in, other nodes, the pace), which nobody
 * would see otherwise. ctx outlives the chain. */
void pctl_chain_set_report(pctl_chain *c,
			   void (*report)(void *ctx, uint32_t code, const char *text), void *ctx);

/* ---- prices -------------------------------------------------------------------------------- */

/* The gas schedule of the consensus VM (loop bounds multiply everything) with the weights in force: released with
 * pctl_gas_schedule_destroy. */
pctl_status pctl_chain_schedule(const pctl_params *p, const pctl_call *call,
				pctl_gas_schedule **out);

/* ---- replay -------------------------------------------------------------------------------- */

/* As pctl_jobs_* and the inbox see it when results are known already: used in place of running (block replay). */
typedef struct pctl_known_result {
	uint32_t status, reserved;
	pctl_cid output;
	uint64_t n_output;
} pctl_known_result;
typedef int (*pctl_known_result_fn)(void *ctx, const uint8_t id[PCTL_DIGEST_BYTES],
				    pctl_known_result *out); /* 1: known */
void pctl_chain_set_known(pctl_chain *c, pctl_known_result_fn known, void *ctx);

#endif
