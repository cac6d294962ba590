/* The open chain as the files of core/chain see it. Internal to core/chain. */
#ifndef PIPECTL_CHAIN_CHAIN_PRIVATE_H
#define PIPECTL_CHAIN_CHAIN_PRIVATE_H

#include "foundation/base/arena.h"
#include "foundation/base/map.h"
#include "chain/chain.h"

/* A batch of takes: none, open, or ended by trouble before its commit. */
enum { PCTL_BATCH_NONE = 0, PCTL_BATCH_OPEN, PCTL_BATCH_LOST };

struct pctl_chain {
	pctl_chain_state *state;
	pctl_gitlog *log;
	pctl_store *store;
	pctl_store
		*attempted; /* in memory: what messages bring that are only tried; NULL: none are */
	uint32_t attempt_nested, attempt_reserved;
	pctl_kernels *kernels;
	const pctl_executor *executor;
	pctl_executor reference; /* run NULL: none */
	pctl_known_result_fn known;
	void *known_ctx;
	pctl_chain_record_fn record; /* NULL: nobody is told */
	void *record_ctx;
	void (*report)(void *ctx, uint32_t code, const char *text); /* NULL: nobody hears of it */
	void *report_ctx;
	uint64_t gas_per_ms;   /* of this node, 0: not known */
	uint64_t rules_known;  /* the newest version that is followed, 0: all that are known */
	pctl_author_fn author; /* NULL: a message made by hand is taken in as it is */
	void *author_ctx;
	uint64_t author_blocks;
	pctl_arena *arena;
	pctl_arena *texts;     /* of shaders */
	const char *dir;       /* in the arena; NULL: in memory */
	pctl_map *sources;     /* CID to the pctl_chain_source in `texts` */
	uint64_t source_bytes; /* of all of them */
	pctl_map *
		units; /* what unit.c found of kernels: of `units_of`, while the kernels have the age `units_age` */
	uint64_t units_age;
	pctl_params units_of;
	pctl_fetch_fn fetch; /* NULL: nobody is asked for bytes */
	void *fetch_ctx;
	pctl_memo *made;
	const char *wasm;			 /* in the arena; NULL: none */
	struct pctl_contract_runtime *contracts; /* NULL: none was met yet */
	pctl_map *
		evidence; /* of the jobs of the last block: hex of the id to pctl_evidence, which it owns */
	pctl_gas_schedule *schedule; /* of `schedule_of`, made when it is first needed */
	pctl_params schedule_of;
	struct pctl_verified *verified;
	pctl_chain *reader;	  /* NULL: none was asked for */
	pctl_store *reader_store; /* its own */
	uint32_t batch, abstains;
	uint32_t needs_contracts, needs_reserved; /* before a block that may have some */
	uint32_t bytes_open,
		shares_verified; /* bytes_open: the store's batch of an open batch of messages; shares_verified: with whom it reads for */
};

/* Where a message brings bytes: those of an open batch are made durable together, before it is. */
pctl_status pctl_chain_bring(pctl_chain *c, const void *data, uint64_t n, const pctl_call *call);
/* What was brought so far is durable. */
pctl_status pctl_chain_bring_end(pctl_chain *c, const pctl_call *call);

/* Where bytes are put that a message brings. */
pctl_store *pctl_chain_keeps(const pctl_chain *c);
/* Inside an attempt: what a message would have run (contracts, modules compiled, disputed jobs) is not run, and counts as the most that it may be. */
int pctl_chain_only_tries(const pctl_chain *c);

/* Forget those of the block before, and note one: in memory, and for its CID (NULL: not) where there is a place for it. */
pctl_status pctl_chain_evidence_begin(pctl_chain *c, const pctl_call *call);
pctl_status pctl_chain_evidence_put(pctl_chain *c, const uint8_t job[PCTL_DIGEST_BYTES],
				    const pctl_cid *output, pctl_evidence e, const pctl_call *call);
void pctl_chain_evidence_end(pctl_chain *c);
/* How bytes stand that a job takes: as whoever stored them noted, else as given. */
pctl_evidence pctl_chain_evidence_of(const pctl_chain *c, const pctl_cid *cid);

const pctl_executor *pctl_chain_executor(const pctl_chain *c); /* NULL: none */
/* Runs disputed jobs; NULL: none. */
const pctl_executor *pctl_chain_reference(const pctl_chain *c);
/* Tell whoever pctl_chain_set_record named. */
pctl_status pctl_chain_recorded(const pctl_chain *c, const struct pctl_block_record *record,
				const pctl_call *call);
/* What pctl_chain_set_known set: NULL when nothing is. */
pctl_known_result_fn pctl_chain_known(const pctl_chain *c, void **ctx);

/* The fields of the info but for the counts, which take time. */
pctl_status pctl_chain_last(pctl_chain *c, const pctl_call *call, pctl_chain_info *out);

/* The schedule of these parameters, kept by the chain. */
pctl_status pctl_chain_prices(pctl_chain *c, const pctl_params *p, const pctl_call *call,
			      const pctl_gas_schedule **out);

/* Where a message stands: the open block, and who sends it. */
typedef struct pctl_taking {
	pctl_chain *c;
	pctl_chain_state *s;
	const pctl_call *call;
	uint64_t height, clock; /* of the open block */
	uint64_t sequence;	/* of the sender, not used up yet */
	pctl_params params;	/* in force at `height` */
	pctl_response *out;	/* its kind is set; may be filled in */
	pctl_arena *arena;	/* of `out` */
	/* Of a message that is refused and charged (refusal.h): what was said, what it pays (0: it leaves no
	 * trace) and, where is_job, the job that it is kept as. */
	struct pctl_diag_list *said;
	uint64_t charged;
	uint32_t is_job;
	uint32_t is_counted; /* the sender's number was used up with the fee */
	uint8_t refused[PCTL_DIGEST_BYTES];
} pctl_taking;

/* What each kind of message does, inside an open transaction: checks first, writes last. Requests are sealed
 * (message.h): nothing below checks or packs them again. */
pctl_status pctl_apply_upload(const pctl_taking *t, const pctl_msg_upload *m, uint32_t origin);
pctl_status pctl_apply_execute(pctl_taking *t, const pctl_request *r, uint32_t origin);
/* What it does for a message that is not refused, or under version 1 of the rules. */
pctl_status pctl_apply_job(const pctl_taking *t, const pctl_request *r, uint32_t origin);
/* Queue the job that an execute message becomes where it stands: its id, its place and its message are set here, which is
 * all that `job` must not have yet, and `reserve` gas of the sender is set aside; has_row: in a reservation, because
 * the row of the job does not say it (ledger.h). The row's message borrows `r`. */
pctl_status pctl_queue_job(const pctl_taking *t, const pctl_request *r, uint64_t reserve,
			   int has_row, pctl_chain_job *job);
/* pctl_chain_apply. *paid: what a message that is refused paid all the same (refusal.h), 0: nothing, and it left no trace. */
pctl_status pctl_apply_paid(pctl_chain *c, const pctl_request *r, const pctl_call *call,
			    uint64_t *paid, pctl_response *out);
/* The sender's sequence number (pctl_account_sequence) is used up. */
pctl_status pctl_sequence_use(const pctl_taking *t, const char *sender);
/*
 * A module becomes state, for ever. Its sender pays, and it is burned: its bytes as those of a blob for blob_blocks_max blocks, and the fuel of looking at it,
 * PCTL_CONTRACT_FUEL_UPLOAD a byte. Refused, and charged nothing: PC6131, PC6121, PC5713.
 */
pctl_status pctl_apply_contract(const pctl_taking *t, const pctl_msg_contract *m);

/*
 * Refused, and charged nothing: PC6130, PC6132, PC5713 (the gas of its fuel, and `pay`), PC5712. Else it is executed, and is a row of `calls`: COMPLETE, or FAILED with
 * PC6121 to PC6124, and then nothing of it is there but that row and what its fuel costs. That gas is split when the block ends,
 * as that of jobs is; until then all of its fuel is set aside. PC6128: trouble of this node.
 */
pctl_status pctl_apply_call(const pctl_taking *t, const pctl_request *r);
/* Gas of so much fuel, each started 1000, at the prices of the schedule, which is there. */
uint64_t pctl_contract_gas(const pctl_taking *t, uint64_t fuel);
/* What a module costs, and the gas of all fuel of a call. PC6115, PC5712. */
pctl_status pctl_contract_price_code(const pctl_taking *t, const pctl_msg_contract *m,
				     uint64_t *out);
pctl_status pctl_contract_price_call(const pctl_taking *t, const pctl_msg_call *m, uint64_t *out);
/* What a chain runs contracts with: Wasmtime, loaded when the first one is met, and the modules that were called last. NULL is fine. */
void pctl_contract_runtime_close(struct pctl_contract_runtime *r);
pctl_status pctl_apply_name(const pctl_taking *t, const pctl_msg_name *m);
pctl_status pctl_apply_cancel(const pctl_taking *t, const pctl_msg_cancel *m);
pctl_status pctl_apply_verdict(const pctl_taking *t, const pctl_msg_verdict *m);
/* Evidence against who said of a block that it has another root than it has: his bond is slashed. PC6116, PC6117. */
pctl_status pctl_apply_statement(const pctl_taking *t, const pctl_msg_statement *m);
pctl_status pctl_apply_dispute(const pctl_taking *t, const pctl_msg_verdict *m);

/* May this block be begun here: PC6153 where its rules are later than those that are followed, PC6114 where it may have contracts, which a
 * node that was asked to be ready for them (pctl_chain_set_contracts) cannot run. */
pctl_status pctl_chain_follows(pctl_chain *c, const pctl_params *p, uint64_t height,
			       const pctl_call *call);
/* PC6114 unless contracts can be run here; Wasmtime is loaded. */
pctl_status pctl_contracts_ready(pctl_chain *c, const pctl_call *call);

#endif
