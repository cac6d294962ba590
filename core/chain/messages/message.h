/* Messages of the consensus VM: what a node is asked and answers, as plain structs; the check of every field; the one
 * canonical encoding; and the id of a job, which is a hash of it. messages.proto has the field numbers. Not here:
 * whether what a message names exists, who pays, and what is then done.
 *
 * Strings are NUL-terminated and never NULL; "" is 'not given'. An id of a job is 64 lower-case hex digits. Where a CID
 * may also be "job:ID", the output of that job is meant. A decoded message owns all it points to; one made by hand
 * borrows it.
 */
#ifndef PIPECTL_CHAIN_MESSAGES_MESSAGE_H
#define PIPECTL_CHAIN_MESSAGES_MESSAGE_H

#include "runtime/cas/cid.h"

/* ---- limits ------------------------------------------------------------------------------- */

#define PCTL_MESSAGE_MAX (2u << 20)	   /* bytes of an encoded request or response */
#define PCTL_MESSAGE_SOURCE_MAX (1u << 20) /* bytes of WGSL */
#define PCTL_MESSAGE_DESCRIPTION_MAX 1024u /* bytes */
#define PCTL_MESSAGE_TAGS_MAX 16u
#define PCTL_MESSAGE_TAG_MAX 64u       /* bytes */
#define PCTL_MESSAGE_GROUPS_MAX 65535u /* workgroups in one direction: WebGPU's default */
#define PCTL_MESSAGE_BINDINGS_MAX 6u   /* beside input and output: WebGPU's 8 storage buffers */
#define PCTL_MESSAGE_GROUP_MAX 3u      /* WebGPU: 4 bind groups of 1000 bindings */
#define PCTL_MESSAGE_BINDING_MAX 999u
#define PCTL_MESSAGE_OUTPUT_MAX (128u << 20) /* bytes: WebGPU's maxStorageBufferBindingSize */
#define PCTL_MESSAGE_JOBS_MAX 64u	     /* parent jobs, and jobs in `after` */
#define PCTL_MESSAGE_OVERRIDES_MAX 64u
#define PCTL_MESSAGE_NAME_MAX 255u     /* bytes of an override's name or an entry point's */
#define PCTL_MESSAGE_SHARED_MAX 16384u /* bytes of workgroup memory: WebGPU's default */
#define PCTL_MESSAGE_TICKS_MAX 65536u
#define PCTL_MESSAGE_ERROR_MAX 1024u /* bytes of a reason */
#define PCTL_MESSAGE_BLOCK_JOBS_MAX 8192u
#define PCTL_MESSAGE_CLOCK_MAX INT64_MAX      /* clocks, heights and proposals */
#define PCTL_MESSAGE_ALIAS_MAX 64u	      /* bytes of an alias */
#define PCTL_MESSAGE_CHANGES_MAX 64u	      /* parameters that one proposal changes */
#define PCTL_MESSAGE_PARAM_MAX 64u	      /* bytes of a parameter's name, or of its value */
#define PCTL_MESSAGE_DATA_MAX (1u << 20)      /* bytes of a PUT or GET */
#define PCTL_MESSAGE_CODE_MAX (256u << 10)    /* bytes of a contract's module */
#define PCTL_MESSAGE_ARGUMENT_MAX (64u << 10) /* bytes of a call's argument */
#define PCTL_MESSAGE_CALL_JOBS_MAX 1024u      /* that one call submits */
#define PCTL_MESSAGE_LOGS_MAX 65536u	      /* bytes that one call logs, and texts */

/* ---- the messages ------------------------------------------------------------------------- */

/*
 * sender       1 to 64 of [a-z0-9._-]
 * source       UTF-8, 1 byte or more
 * description  may be ""
 * tags         each 1 byte or more, ascending bytewise, none twice
 * implements   CID of the algorithm, or ""
 */
typedef struct pctl_msg_upload {
	const char *sender;
	const uint8_t *source;
	uint64_t n_source;
	const char *description;
	const char *const *tags;
	uint32_t n_tags, reserved;
	const char *implements;
} pctl_msg_upload;

/* As pctl_tick. tick_index is the tick's place in the list; barrier_type 0 none (the last tick alone), 1 workgroup, 2
 * storage, 3 both; barriers: how often it is counted, 0 without one. */
typedef struct pctl_msg_tick {
	uint32_t tick_index, reserved;
	uint64_t integer_ops, division_ops, atomic_ops;
	uint64_t float_ops, float_division_ops, elementary_ops;
	uint64_t storage_reads_bytes, storage_writes_bytes;
	uint64_t barrier_type, barriers;
} pctl_msg_tick;

/* At least one tick; max_dispatch in workgroups, 0 where none was declared. */
typedef struct pctl_msg_profile {
	const pctl_msg_tick *ticks;
	uint32_t n_ticks, reserved;
	uint64_t cost_per_workgroup, max_loop_iterations, workgroup_shared_bytes;
	uint64_t max_dispatch[3];
} pctl_msg_profile;

typedef struct pctl_msg_upload_response {
	const char *shader_cid;
	pctl_msg_profile profile;
} pctl_msg_upload_response;

/* Never 0:0, 0:1 or 1:0, which the message names apart. */
typedef struct pctl_msg_binding {
	uint32_t group, binding;
	const char *cid; /* or job:ID */
} pctl_msg_binding;

/* The order in which a message has them: groups, then bindings in each; for qsort. */
int pctl_msg_binding_order(const void *a, const void *b);

/* bits: of an integer sign- or zero-extended, of a float its bits (pctl_override_value). */
typedef struct pctl_msg_override {
	const char *name; /* of the override, or its @id in decimal */
	uint64_t bits;
} pctl_msg_override;

/*
 * input         CID or job:ID for group 0 binding 0; always given (an empty input is the CID of no bytes)
 * dispatch      workgroups; always given, zeros are valid
 * gas_limit     at least 1
 * bindings      ascending by (group, binding), none twice
 * parent_clock  0: none
 * uniform_cid   of the CBOR document for group 0 binding 1, or ""
 * output_bytes  of group 1 binding 0, a multiple of 4, 0 is valid
 * parent_jobs   jobs that must complete first; when one fails this one fails. Ascending, none twice
 * after         jobs that must have ended first, well or not: order alone. Ascending, none twice, none of parent_jobs
 * overrides     ascending bytewise by name, none twice
 * entry         name of the entry point, or "" for the only one
 * tip           gas above the price of the job, charged with it: what its place in the queue is worth to the sender
 */
typedef struct pctl_msg_execute {
	const char *sender, *shader_cid, *input;
	uint32_t dispatch[3], reserved;
	uint64_t gas_limit;
	const pctl_msg_binding *bindings;
	uint64_t parent_clock;
	const char *uniform_cid;
	uint64_t output_bytes;
	const char *const *parent_jobs, *const *after;
	const pctl_msg_override *overrides;
	uint32_t n_bindings, n_parent_jobs, n_after, n_overrides;
	const char *entry;
	uint64_t tip;
} pctl_msg_execute;

typedef struct pctl_msg_execute_response {
	const char *job_id;
	uint64_t logical_clock; /* at least 1 */
} pctl_msg_execute_response;

typedef struct pctl_msg_query {
	const char *job_id;
} pctl_msg_query;

enum { PCTL_JOB_PENDING = 0, PCTL_JOB_EXECUTING = 1, PCTL_JOB_COMPLETE = 2, PCTL_JOB_FAILED = 3 };

/* output_cid is given exactly when COMPLETE, error exactly when FAILED; gas_used is 0 before either. */
typedef struct pctl_msg_query_response {
	uint32_t status, reserved;
	const char *output_cid;
	uint64_t gas_used, logical_clock;
	const char *error;
} pctl_msg_query_response;

/* height: of the block to end or show; 0: the open one, the last one. executor (BLOCK_END): account that is paid for the
 * jobs; "" or NULL: "executor". */
typedef struct pctl_msg_block {
	uint64_t height;
	const char *executor;
} pctl_msg_block;

/* commit: id of the block in the history, 40 or 64 hex digits. jobs and deferred: ids in the order of the queue, the
 * first of *_total where the list is shorter. messages: how many were taken in since the block before. executor may be
 * "" or NULL. */
typedef struct pctl_msg_block_info {
	uint64_t height, final_clock;
	const char *state_root, *commit;
	const char *const *jobs, *const *deferred;
	uint32_t n_jobs, n_deferred;
	uint64_t gas_used, gas_budget, messages;
	const char *executor;
	uint64_t jobs_total, deferred_total;
} pctl_msg_block_info;

/* CREDIT makes gas for `to`, TRANSFER moves the sender's; BOND and UNBOND are the sender's own, `to` is "". amount: at
 * least 1. */
enum { PCTL_LEDGER_CREDIT = 1, PCTL_LEDGER_TRANSFER, PCTL_LEDGER_BOND, PCTL_LEDGER_UNBOND };
typedef struct pctl_msg_ledger {
	const char *sender;
	uint32_t op, reserved;
	const char *to;
	uint64_t amount;
} pctl_msg_ledger;

typedef struct pctl_msg_param_change {
	const char *name, *value; /* as pctl_param_parse takes it */
} pctl_msg_param_change;

/* PROPOSE has height and changes (ascending by name, none twice), VOTE has proposal and yes, APPLY has proposal; the
 * rest is 0. */
enum { PCTL_PARAMS_PROPOSE = 1, PCTL_PARAMS_VOTE, PCTL_PARAMS_APPLY };
typedef struct pctl_msg_params {
	const char *sender;
	uint32_t op, yes;
	uint64_t height, proposal;
	const pctl_msg_param_change *changes;
	uint32_t n_changes, reserved;
} pctl_msg_params;

/* ALIAS: the name (1 to 64 of [a-z0-9._-]) means this shader from now on. DEPRECATE: no new jobs of this shader; name is
 * "". */
enum { PCTL_NAME_ALIAS = 1, PCTL_NAME_DEPRECATE };
typedef struct pctl_msg_name {
	const char *sender;
	uint32_t op, reserved;
	const char *name, *cid;
} pctl_msg_name;

typedef struct pctl_msg_cancel {
	const char *sender, *job_id;
} pctl_msg_cancel;

typedef struct pctl_msg_link {
	const char *sender, *source, *target; /* CIDs */
	uint32_t is_taken, reserved;	      /* 1: a link of the sender is taken back */
} pctl_msg_link;

/* One bonded account's vote that `accused` gave wrong results, as the dispute's report of CID `evidence` shows; or a dispute:
 * the output of this job should have been `output`. Either pair is given, the other is "". */
typedef struct pctl_msg_verdict {
	const char *sender, *accused, *evidence, *job_id, *output;
} pctl_msg_verdict;

#define PCTL_MESSAGE_KEYS_MAX 16u     /* of an account, and signatures of a message */
#define PCTL_MESSAGE_KEY_BYTES 32u    /* of an Ed25519 public key */
#define PCTL_MESSAGE_SIGNED_BYTES 64u /* of a signature */

/* Bytes of a field that has a size of its own. */
typedef struct pctl_msg_bytes {
	const uint8_t *data;
	uint64_t n;
} pctl_msg_bytes;

/* threshold: 1 to n_keys; keys: 1 to PCTL_MESSAGE_KEYS_MAX, ascending bytewise, none twice. */
typedef struct pctl_msg_keys {
	const char *sender;
	const pctl_msg_bytes *keys;
	uint32_t n_keys, threshold;
} pctl_msg_keys;

/* CREDIT: may make gas; BLOCK: may end a block over a node's socket and name its executor. */
enum { PCTL_ROLE_CREDIT = 1, PCTL_ROLE_BLOCK };
typedef struct pctl_msg_role {
	const char *sender, *account;
	uint32_t role, is_taken;
} pctl_msg_role;

typedef struct pctl_msg_signature {
	pctl_msg_bytes key, value;
} pctl_msg_signature;

/* What the account that is named by `key` says of a block, with its signature; brought by `sender` as evidence that it is not so. */
typedef struct pctl_msg_statement {
	const char *sender;
	pctl_msg_bytes key, root, signature;
	uint64_t height;
} pctl_msg_statement;

/*
 * Who answers for a message.
 *
 * is_given    0: nobody, and the rest is nothing
 * chain       pctl_chain_id
 * nonce       the sender's sequence number; of BLOCK_END the height of the block
 * expiry      at least 1: the height of the last block that may take it in
 * signatures  each over pctl_request_signed, ascending by key, none twice
 */
typedef struct pctl_msg_auth {
	uint32_t is_given, n_signatures;
	pctl_msg_bytes chain;
	uint64_t nonce, expiry;
	const pctl_msg_signature *signatures;
} pctl_msg_auth;

/* sequence: the sender's number that the message used up. proposal: the one it made, else 0. */
typedef struct pctl_msg_ack {
	uint64_t sequence, proposal;
} pctl_msg_ack;

/* PUT, and the response to GET: at most PCTL_MESSAGE_DATA_MAX bytes, none are fine. */
typedef struct pctl_msg_data {
	const uint8_t *data;
	uint64_t n_data;
} pctl_msg_data;

/* The response to PUT. */
typedef struct pctl_msg_cid {
	const char *cid;
} pctl_msg_cid;

/* offset, length: which bytes are wanted, at most PCTL_MESSAGE_DATA_MAX; length 0: all behind the offset, refused where
 * they are more (PC5789). */
typedef struct pctl_msg_get {
	const char *cid;
	uint64_t offset, length;
} pctl_msg_get;

/* Bytes that become state, 1 to PCTL_MESSAGE_DATA_MAX of them, for `blocks` blocks (at least 1) after the open one. */
typedef struct pctl_msg_blob {
	const char *sender;
	const uint8_t *data;
	uint64_t n_data, blocks;
} pctl_msg_blob;

/* A module, 1 to PCTL_MESSAGE_CODE_MAX bytes. */
typedef struct pctl_msg_contract {
	const char *sender;
	const uint8_t *code;
	uint64_t n_code;
} pctl_msg_contract;

typedef struct pctl_msg_contract_response {
	const char *contract; /* CID */
	uint64_t gas_used;
} pctl_msg_contract_response;

/*
 * CALL and VIEW.
 *
 * sender    of a CALL; NULL or "" of a VIEW
 * function  of the contract, at most PCTL_MESSAGE_NAME_MAX bytes; "": "call"
 * fuel      at least 1
 * pay       of a CALL: gas that goes from the sender to the contract with it
 * height    of a VIEW: of the last finished block, 0: any
 */
typedef struct pctl_msg_call {
	const char *sender, *contract, *function;
	const uint8_t *argument;
	uint64_t n_argument, fuel, pay, height;
} pctl_msg_call;

/* call_id is "" of a VIEW; status is COMPLETE or FAILED; code and error are given exactly when it failed, and then there are no
 * jobs. */
typedef struct pctl_msg_call_response {
	const char *call_id;
	uint32_t status, returned;
	uint64_t fuel_used, gas_used, height;
	const char *const *jobs;
	const pctl_msg_bytes *log;
	uint32_t n_jobs, n_log, code, reserved;
	const char *error;
} pctl_msg_call_response;

#define PCTL_MESSAGE_GRAPH_MAX 1000u	     /* edges or jobs of one answer about the graph */
#define PCTL_MESSAGE_GRAPH_DEFAULT 100u	     /* where none is asked for */
#define PCTL_MESSAGE_GRAPH_PROVED 16u	     /* edges of one answer with proofs */
#define PCTL_MESSAGE_NEXT_MAX (512u << 10)   /* bytes of `next` */
#define PCTL_MESSAGE_GRAPH_NAME_MAX 80u	     /* bytes of a name in the graph */
#define PCTL_MESSAGE_GRAPH_INPUTS_MAX 65536u /* that one job took or waited for */

enum {
	PCTL_GRAPH_EDGES = 1,
	PCTL_GRAPH_HISTORY,
	PCTL_GRAPH_DEPENDENTS,
	PCTL_GRAPH_JOBS,
	PCTL_GRAPH_RANK
};
enum {
	PCTL_EDGE_ROLE_SOURCE = 1,
	PCTL_EDGE_ROLE_TARGET,
	PCTL_EDGE_ROLE_VIA,
	PCTL_EDGE_ROLE_JOB,
	PCTL_EDGE_ROLE_BLOCK_MADE
};
#define PCTL_MESSAGE_KINDS_MAX 0x3feu /* all kinds of edges, of edges.h */

/*
 * GRAPH: the fields of the .proto. EDGES takes a name and its role, or neither, or BLOCK_MADE and a height; HISTORY and
 * DEPENDENTS take a CID or job:ID; JOBS takes "", account:NAME, the CID of a shader or job:ID; RANK a CID or account.
 * What an operation does not use is 0.
 */
typedef struct pctl_msg_graph {
	uint32_t op, role, kinds, limit;
	const char *name;
	uint64_t height, from_clock, to_clock;
	pctl_msg_bytes next;
	uint32_t prove, reserved;
} pctl_msg_graph;

typedef struct pctl_msg_graph_edge {
	uint64_t number, height, clock;
	uint32_t kind, is_gone;
	const char *source, *target, *via, *job;
} pctl_msg_graph_edge;

typedef struct pctl_msg_graph_input {
	uint32_t kind, reserved;
	const char *name, *maker;
} pctl_msg_graph_input;

typedef struct pctl_msg_graph_job {
	const char *job_id, *sender, *shader_cid, *output_cid, *error;
	uint64_t gas_used, clock, height, ended;
	const pctl_msg_graph_input *inputs;
	uint32_t n_inputs, status;
} pctl_msg_graph_job;

typedef struct pctl_msg_graph_rank {
	const char *name;
	uint64_t rank;
} pctl_msg_graph_rank;

/* Edges or jobs, never both. */
typedef struct pctl_msg_graph_response {
	uint64_t height, cut, epoch;
	const pctl_msg_graph_edge *edges;
	const pctl_msg_graph_job *jobs;
	const pctl_msg_graph_rank *ranks;
	const pctl_msg_bytes *proofs;
	uint32_t n_edges, n_jobs, n_ranks, n_proofs;
	pctl_msg_bytes next;
} pctl_msg_graph_response;

typedef struct pctl_msg_error {
	uint32_t code, reserved; /* of the table of codes */
	const char *message;	 /* 1 byte or more */
} pctl_msg_error;

/* ---- what travels ------------------------------------------------------------------------- */

/* A request and its response have one kind; instead of any response an error may come. */
enum {
	PCTL_MSG_UPLOAD = 1,
	PCTL_MSG_EXECUTE = 2,
	PCTL_MSG_QUERY = 3,
	PCTL_MSG_BLOCK_END = 4,
	PCTL_MSG_BLOCK_QUERY = 5,
	PCTL_MSG_LEDGER = 6,
	PCTL_MSG_PARAMS = 7,
	PCTL_MSG_NAME = 8,
	PCTL_MSG_CANCEL = 9,
	PCTL_MSG_LINK = 10,
	PCTL_MSG_VERDICT = 11,
	PCTL_MSG_PUT = 12,
	PCTL_MSG_GET = 13,
	PCTL_MSG_KEYS = 14,
	PCTL_MSG_ERROR = 15,
	PCTL_MSG_ROLE = 16,
	PCTL_MSG_BLOB = 24,
	PCTL_MSG_CONTRACT = 25,
	PCTL_MSG_CALL = 26,
	PCTL_MSG_VIEW = 27,
	PCTL_MSG_STATEMENT = 28,
	PCTL_MSG_GRAPH = 29
};
/* The messages whose answer is an acknowledgement, as labels of a switch. */
#define PCTL_MSG_CASES_ACKNOWLEDGED \
	case PCTL_MSG_LEDGER:       \
	case PCTL_MSG_PARAMS:       \
	case PCTL_MSG_NAME:         \
	case PCTL_MSG_CANCEL:       \
	case PCTL_MSG_LINK:         \
	case PCTL_MSG_VERDICT:      \
	case PCTL_MSG_KEYS:         \
	case PCTL_MSG_ROLE:         \
	case PCTL_MSG_BLOB:         \
	case PCTL_MSG_STATEMENT

/* One that was decoded or sealed has its canonical bytes beside it and is not changed any more: what takes it in looks at
 * neither again. */
typedef struct pctl_request {
	uint32_t kind, reserved;
	union {
		pctl_msg_upload upload;
		pctl_msg_execute execute;
		pctl_msg_query query;
		pctl_msg_block block; /* BLOCK_END, BLOCK_QUERY */
		pctl_msg_ledger ledger;
		pctl_msg_params params;
		pctl_msg_name name;
		pctl_msg_cancel cancel;
		pctl_msg_link link;
		pctl_msg_verdict verdict;
		pctl_msg_data put;
		pctl_msg_get get;
		pctl_msg_keys keys;
		pctl_msg_role role;
		pctl_msg_blob blob;
		pctl_msg_contract contract;
		pctl_msg_call call; /* CALL, VIEW */
		pctl_msg_statement statement;
		pctl_msg_graph graph;
	} as;
	pctl_msg_auth auth; /* of a kind that changes state */
	void *owner;	    /* of a decoded or sealed message; NULL in one made by hand */
} pctl_request;

typedef struct pctl_response {
	uint32_t kind, reserved;
	union {
		pctl_msg_upload_response upload;
		pctl_msg_execute_response execute;
		pctl_msg_query_response query;
		pctl_msg_block_info block; /* BLOCK_END, BLOCK_QUERY */
		pctl_msg_ack ack;	   /* LEDGER to VERDICT, KEYS, ROLE, BLOB, STATEMENT */
		pctl_msg_cid put;
		pctl_msg_data get;
		pctl_msg_contract_response contract;
		pctl_msg_call_response call; /* CALL, VIEW */
		pctl_msg_graph_response graph;
		pctl_msg_error error;
	} as;
	void *owner;
} pctl_response;

/*
 * Check every field; all that is wrong is reported, each with the field's name and the value. PC5730, PC5731, PC5784 to PC5796.
 */
pctl_status pctl_request_check(const pctl_request *r, const pctl_call *call);
pctl_status pctl_response_check(const pctl_response *r, const pctl_call *call);

/*
 * The canonical encoding of a message that passes its check, released with free(): protocol buffers (proto3), fields
 * ascending by number, defaults left out, packed where proto3 packs, shortest varints, nothing unknown. PC5780 when it
 * is longer than PCTL_MESSAGE_MAX.
 */
pctl_status pctl_request_encode(const pctl_request *r, const pctl_call *call, uint8_t **out,
				uint64_t *n_out);
pctl_status pctl_response_encode(const pctl_response *r, const pctl_call *call, uint8_t **out,
				 uint64_t *n_out);

/*
 * Decode and check. Survives any bytes. Refused: PC5780 (too long), PC5781 (no such message), PC5782 (fields of unknown
 * number, anywhere), PC5783 (another encoding of a message than its canonical one), what check refuses. On success
 * release with destroy, which takes NULL owners too.
 */
pctl_status pctl_request_decode(const void *bytes, uint64_t n, const pctl_call *call,
				pctl_request *out);
pctl_status pctl_response_decode(const void *bytes, uint64_t n, const pctl_call *call,
				 pctl_response *out);
void pctl_request_destroy(pctl_request *r);
void pctl_response_destroy(pctl_response *r);

/*
 * Check and pack, once, a message made by hand: *out is the same message with its bytes beside it, and borrows what `r`
 * points to. Refused as pctl_request_encode refuses. Release *out with destroy, before what it borrows.
 */
pctl_status pctl_request_seal(const pctl_request *r, const pctl_call *call, pctl_request *out);
/* The canonical bytes of a request that was decoded or sealed, which live as long as it; NULL of one made by hand. */
const uint8_t *pctl_request_bytes(const pctl_request *r, uint64_t *n);
/* The message among them, with its tag and length and without `auth`. */
const uint8_t *pctl_request_bare(const pctl_request *r, uint64_t *n);

/* An arena for what a response made by hand points to, freed by pctl_response_destroy; call it before filling in. NULL:
 * no memory. */
struct pctl_arena;
struct pctl_arena *pctl_response_arena(pctl_response *r);

/* 1 where the bytes are like an encoded request of this kind. */
int pctl_request_tag_is(const uint8_t *bytes, uint64_t n, uint32_t kind);
/* The sender of a kind that changes state and is not the end of a block; else NULL. */
const char *pctl_request_sender(const pctl_request *r);

/*
 * What the signatures of a message are over:
 *
 *     domain || chain || nonce || expiry || message
 *
 *   domain   the 18 bytes "pipectl message 1" and a NUL
 *   chain    32 bytes; nonce and expiry: 8 bytes each, least significant first
 *   message  the canonical encoding of the request without its field `auth`
 *
 * `auth` has all but its signatures. Release *out with free().
 */
pctl_status pctl_request_signed(const pctl_request *r, const pctl_call *call, uint8_t **out,
				uint64_t *n_out);

/* ---- the id of a job ---------------------------------------------------------------------- */

/* The canonical encoding of the execute message alone, without the request around it: what a job's id is taken over. It
 * lies in the bytes of a request that was decoded or sealed; NULL of one made by hand or of another kind. */
const uint8_t *pctl_execute_bytes(const pctl_request *r, uint64_t *n);

/*
 * job_id = SHA-256( domain || height || sequence || n || message ), where
 *   domain    the 17 bytes "pipectl job-id 1" and a NUL
 *   height    8 bytes, least significant first: of the block that takes the message in
 *   sequence  8 bytes, least significant first: the sender's sequence number, which each message of theirs uses up
 *   n         8 bytes, least significant first: the length of the message
 *   message   the n bytes of pctl_execute_bytes
 * One sender never has one sequence number twice and the sender stands in the message, so no two jobs share an id.
 */
pctl_status pctl_job_id(const void *message, uint64_t n, uint64_t height, uint64_t sequence,
			const pctl_call *call, uint8_t out[PCTL_DIGEST_BYTES]);

#endif
