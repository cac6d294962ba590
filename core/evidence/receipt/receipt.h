/* The receipt of a run: a signed statement of what was asked, what came of it and where it ran, and behind the signature
 * the trace whose root the statement names. What was asked and what came of it are the same in every honest receipt of
 * one run; where it ran is not. It is read back only when writing it again gives the same bytes. Receipts of blocks are in
 * block_receipt.h. */
#ifndef PIPECTL_EVIDENCE_RECEIPT_RECEIPT_H
#define PIPECTL_EVIDENCE_RECEIPT_RECEIPT_H

#include "foundation/base/str.h"
#include "foundation/record/record.h"
#include "runtime/cas/evidence.h"
#include "runtime/cas/sign.h"
#include "evidence/receipt/trace.h"

#define PCTL_RECEIPT_SCHEMA "pipectl.receipt/3"
#define PCTL_RECEIPT_BYTES_MAX (256u << 20)
#define PCTL_RECEIPT_NO_DEVICE UINT32_MAX

/* Data by name: a text, an input or an output. type: "u32[4,2]", "" of texts. */
typedef struct pctl_receipt_data {
	const char *name, *type;
	pctl_cid cid;
	uint64_t n_bytes;
} pctl_receipt_data;

typedef struct pctl_receipt_pair {
	const char *key, *value;
} pctl_receipt_pair;

/*
 * One job.
 *
 * id, what  name, and op with version or shader: asked for
 * kernels   CIDs of the programs it runs, each once, as they are cut for no device in particular: what came of it
 * device    number among the devices, PCTL_RECEIPT_NO_DEVICE: it did not run
 * evidence  how its outputs stand, the weakest of its own and its inputs'
 */
typedef struct pctl_receipt_job {
	const char *id, *what;
	const pctl_cid *kernels;
	uint32_t n_kernels, device;
	uint32_t races; /* PCTL_RACES_* as in pctl_run_job */
	pctl_evidence evidence;
	uint64_t repeat, gas;
} pctl_receipt_job;

/* A device that ran jobs. facts: what its backend says of device and driver. */
typedef struct pctl_receipt_device {
	const char *selector, *name, *plugin, *version, *sha256, *profile;
	const pctl_receipt_pair *facts;
	uint32_t n_facts, reserved;
} pctl_receipt_device;

/* An op library that was loaded: id and SHA-256 of its file, in `libraries`. Strings are never NULL. */
typedef struct pctl_receipt {
	pctl_arena *arena;
	/* What was asked. texts: the pipeline's file, then what it includes and its shaders, by the names they have from
	 * its folder. */
	const char *semantics, *pipeline, *max_class, *schedule, *schedule_id;
	const pctl_receipt_data *texts, *inputs;
	const pctl_receipt_pair *params;
	pctl_receipt_job *jobs;
	uint32_t n_texts, n_inputs, n_params, n_jobs;
	/* What came of it. executed 0: the memo had the outputs, no trace. */
	const pctl_receipt_data *outputs;
	uint32_t n_outputs, executed, level, native;
	uint64_t gas;
	/* Where, and how it stands: the weakest along the provenance of all outputs. memo: key of the run. policy_id: CID of the values in force. Source:
	 * "" where the pipeline is under no git. */
	uint8_t memo[PCTL_DIGEST_BYTES];
	pctl_evidence evidence;
	const char *version, *made, *policy, *policy_id;
	const char *repository, *commit, *path, *state;
	const pctl_receipt_pair *libraries;
	const pctl_receipt_device *devices;
	uint32_t n_libraries, n_devices;
	/* The trace, with its root. */
	pctl_run_trace trace;
	/* Of the file. */
	const char *name;
	char signer[PCTL_PUBLIC_KEY_TEXT];
} pctl_receipt;
extern const pctl_record_type pctl_receipt_type;

/* Empty; every string "". */
pctl_status pctl_receipt_create(const pctl_call *call, pctl_receipt **out);
/* NULL is fine. */
void pctl_receipt_destroy(pctl_receipt *r);

/* The lines of the statement that say what was asked: equal exactly when two receipts are of one question. */
pctl_status pctl_receipt_question(const pctl_receipt *r, const pctl_call *call, pctl_str_buf *out);

/* The signed part of the text, without the signature. */
void pctl_receipt_head(const pctl_receipt *r, pctl_str_buf *out);

/* The whole text, signed; sets the trace's root and the signer. */
pctl_status pctl_receipt_text(pctl_receipt *r, const pctl_signer *signer, const pctl_call *call,
			      pctl_str_buf *out);

/*
 * Read and check a text: signature, schema, canonical form, trace and root. Errors: PC5012 (signature), PC5901 (no
 * receipt), PC5902 (it contradicts itself).
 */
pctl_status pctl_receipt_parse(const char *name, const char *text, size_t n, const pctl_call *call,
			       pctl_receipt **out);

/* Does the store have every text, input and output; each that is missing is reported (PC5904). */
pctl_status pctl_receipt_in_store(const pctl_receipt *r, pctl_store *store, const pctl_call *call);

/*
 * Fill in what was asked, from a resolved graph, and what a run gave. texts: as in pctl_receipt. The receipt keeps copies.
 */
pctl_status pctl_receipt_ask(pctl_receipt *r, const pctl_graph *g, const pctl_run_options *o,
			     const pctl_receipt_data *texts, uint32_t n_texts,
			     const pctl_call *call);
pctl_status pctl_receipt_answer(pctl_receipt *r, const pctl_run_options *o,
				const pctl_run_result *result, const pctl_call *call);

/*
 * Watch a run for its receipt: set o->trace, o->trace_level and the flags that `level` needs. The receipt and its trace
 * outlive the run.
 */
void pctl_receipt_trace(pctl_receipt *r, uint32_t level, pctl_run_options *o);

#endif
