/* Receipts of the jobs of a block. What a block's jobs did is one canonical line a job (a statement: no signature, no
 * device, no time, so all honest nodes write the same bytes); the lines are the leaves of a Merkle tree; a node signs
 * once a block, over the tree's root and who it is. One job's receipt is its line, the path to the root and that
 * signature. Nothing of the chain is known here: who ends a block fills in the structs. */
#ifndef PIPECTL_EVIDENCE_RECEIPT_BLOCK_RECEIPT_H
#define PIPECTL_EVIDENCE_RECEIPT_BLOCK_RECEIPT_H

#include "foundation/base/arena.h"
#include "foundation/base/str.h"
#include "foundation/record/record.h"
#include "runtime/cas/cid.h"
#include "runtime/cas/evidence.h"
#include "runtime/cas/sign.h"
#include "evidence/receipt/tree.h"

#define PCTL_BLOCK_RECEIPTS_SCHEMA "pipectl block receipts 1" /* first line of the block's file */
#define PCTL_BLOCK_RECEIPT_SCHEMA "pipectl.block-receipt/2"
#define PCTL_BLOCK_INPUTS_MAX 16u

/* Bytes bound to a storage variable. */
typedef struct pctl_block_input {
	uint32_t group, binding;
	pctl_cid cid; /* job:ID resolved */
} pctl_block_input;

/*
 * What one job did.
 *
 * job       its id
 * request   SHA-256 of its execute message (pctl_execute_bytes)
 * program   CID of the shader's source
 * inputs    ascending by group and binding, none twice; of a COMPLETE job all storage it reads, of a FAILED one none
 * uniform   SHA-256 of the bytes bound to 0:1; has_uniform 0: none
 * complete  1: `output` names its n_output bytes; 0: it failed with `error` (UTF-8 without control characters)
 * gas       charged
 */
typedef struct pctl_block_statement {
	uint8_t job[PCTL_DIGEST_BYTES], request[PCTL_DIGEST_BYTES];
	pctl_cid program;
	const pctl_block_input *inputs;
	uint32_t n_inputs, has_uniform;
	uint8_t uniform[PCTL_DIGEST_BYTES];
	uint32_t groups[3], complete;
	pctl_cid output;
	uint64_t n_output, gas;
	const char *error; /* "" of a complete one */
} pctl_block_statement;

/* All of a block, in the order in which the block lists its jobs. Strings and lists belong to the arena it was read
 * into, or to the caller. root: over the lines. */
typedef struct pctl_block_statements {
	uint64_t height;
	const pctl_block_statement *items;
	uint32_t n, reserved;
	uint8_t root[PCTL_DIGEST_BYTES];
} pctl_block_statements;

extern const pctl_record_type pctl_block_statement_type, pctl_block_statements_type;

/* Append the line of a statement, without a line end. Errors: PC5920 (a field is outside what is written above). */
pctl_status pctl_block_statement_text(const pctl_block_statement *s, const pctl_call *call,
				      pctl_str_buf *out);
/* And back: accepts only the line that writing gives. Errors: PC5920. */
pctl_status pctl_block_statement_read(const char *line, size_t n, pctl_arena *arena,
				      const pctl_call *call, pctl_block_statement *out);

/*
 * The block's file `receipts`: head, root, a line a job. Computes s->root. Errors: PC5920, a job stands there twice
 * too.
 */
pctl_status pctl_block_statements_text(pctl_block_statements *s, const pctl_call *call,
				       pctl_str_buf *out);
/* And back; accepts only what writing gives. `name` is for messages. Errors: PC5920. */
pctl_status pctl_block_statements_read(const char *name, const char *text, size_t n,
				       pctl_arena *arena, const pctl_call *call,
				       pctl_block_statements *out);

/* Who signs, and over which block. */
typedef struct pctl_block_fact {
	const char *key, *value;
} pctl_block_fact;

/* So many jobs in a row, in the order of the block, stand so: which is the word of the node that signs, no part of the
 * block. Of a job that failed it says nothing. */
typedef struct pctl_block_standing {
	uint64_t n_jobs;
	pctl_evidence evidence;
} pctl_block_standing;

/*
 * standings how the outputs stand on this node; together as many as there are jobs
 * previous  state root that the block starts from; state: that it ends with (zeros where the caller has none)
 * executor  "vulkan:0 (llvmpipe ..)"
 * facts     identity of plugin, device and driver: key and value; may be none
 */
typedef struct pctl_block_signing {
	uint8_t previous[PCTL_DIGEST_BYTES], state[PCTL_DIGEST_BYTES];
	const char *version, *executor;
	const pctl_block_fact *facts;
	const pctl_block_standing *standings;
	uint32_t n_facts, n_standings;
} pctl_block_signing;

/*
 * Sign a block and write DIR/HEIGHT.receipt (DIR made when missing): signed head, then the lines of all jobs.
 * receipts: text of the block's file. Errors: PC5920, PC5011, PC0003.
 */
pctl_status pctl_block_receipt_write(const char *dir, const char *receipts, size_t n,
				     const pctl_block_signing *who, const pctl_signer *signer,
				     const pctl_call *call);

/*
 * A receipt as read: of a block (all its statements) or of one job (its statement and path). head: the signed text, in
 * the arena; index: of the job in the block.
 */
typedef struct pctl_block_receipt {
	pctl_arena *arena;
	const char *name;
	const char *head; /* with the signature line */
	size_t n_head;
	char signer[PCTL_PUBLIC_KEY_TEXT];
	uint64_t height;
	uint8_t root[PCTL_DIGEST_BYTES];
	uint32_t n_jobs, is_job; /* of the block; 1: one job's receipt */
	pctl_block_signing who;
	pctl_block_statements all; /* of a block's receipt */
	pctl_block_statement job;  /* of a job's receipt */
	const char *line;	   /* its statement as it was read */
	uint32_t index, n_path;
	uint8_t path[PCTL_TREE_PATH_MAX][PCTL_DIGEST_BYTES];
} pctl_block_receipt;
extern const pctl_record_type pctl_block_receipt_type, pctl_block_job_type;

/*
 * Read and check a text: signature, canonical form, root or path. Errors: PC5012 (signature), PC5901 (no such receipt),
 * PC5902 (it contradicts itself).
 */
pctl_status pctl_block_receipt_parse(const char *name, const char *text, size_t n,
				     const pctl_call *call, pctl_block_receipt **out);
void pctl_block_receipt_destroy(pctl_block_receipt *r);

/* How the output of the job with this index stands, by the word of who signed. */
pctl_evidence pctl_block_receipt_evidence(const pctl_block_receipt *r, uint32_t index);

/* The text of one job's receipt, from its block's. Errors: PC5921 (no such job in the block). */
pctl_status pctl_block_receipt_export(const pctl_block_receipt *block,
				      const uint8_t job[PCTL_DIGEST_BYTES], const pctl_call *call,
				      pctl_str_buf *out);

#endif
