/* The memo table: what a job with this key gave before. A key is a digest that exec computes; a record names the outputs
 * by CID, the files whose code made them, and how they stand. Whether a record may still answer is not decided here
 * (core/runtime/exec). Beside it, by CID: how bytes stand that a run has stored. A table is a convenience: losing any of it costs
 * only time. */
#ifndef PIPECTL_RUNTIME_CAS_MEMO_H
#define PIPECTL_RUNTIME_CAS_MEMO_H

#include "runtime/cas/evidence.h"
#include "runtime/cas/store.h"

#define PCTL_MEMO_OUTPUTS_MAX 64u
#define PCTL_MEMO_PLUGINS_MAX 32u

typedef struct pctl_memo pctl_memo;

/* type: "u32[4,2]" as pctl_type_text writes it; no blanks or control characters in either text. */
typedef struct pctl_memo_output {
	char name[64]; /* of the port */
	char type[192];
	pctl_cid cid;
	uint64_t n_bytes;
} pctl_memo_output;

/*
 * A plugin file that took part. No field has control characters; any but id may be empty.
 *
 * sha256           of the file that was loaded, as hex
 * is_device        1: a backend, and the rest says which device of it; 0: an op library
 * index, kind, name  of the device, as its backend numbers and names it; PCTL_DEVICE_*
 * driver           key of its driver environment, by which it is quarantined
 * profile          CID of the profile its kernels were made by, "" none
 */
typedef struct pctl_memo_plugin {
	char id[64], sha256[2 * PCTL_DIGEST_BYTES + 1];
	uint32_t is_device, index, kind;
	char profile[PCTL_CID_TEXT_SIZE];
	char driver[256], name[256];
} pctl_memo_plugin;

/*
 * What one job gave.
 *
 * key            under which it lies: a record in another one's place is none
 * host           which host ran it: a digest of its files, as hex
 * evidence       how its outputs stand as the answer to its inputs' bytes; how those stand is asked when it is to answer
 * determinism    highest PCTL_CLASS_* that the kernels needed
 * kernels        how many steps of its plan are kernels
 * memory         its buffers together, in bytes; peak: the most of them that is alive at once, 0: not known
 * gas            estimate in the schedule of the run; size_gas: of the sizes that were found in its data, on top
 * wall_ns        how long it took, 0 unknown; what is told of it is telemetry
 * outputs        those that were stored, in the order of the ports: one that nobody asked for may be missing
 */
typedef struct pctl_memo_record {
	uint8_t key[PCTL_DIGEST_BYTES];
	char host[2 * PCTL_DIGEST_BYTES + 1];
	pctl_evidence evidence;
	uint32_t determinism;
	uint32_t proven; /* 1: free of races by analysis, all of it */
	uint32_t kernels, n_plugins, n_outputs, reserved;
	uint64_t memory, peak, gas, size_gas, wall_ns;
	pctl_memo_plugin plugins[PCTL_MEMO_PLUGINS_MAX];
	pctl_memo_output outputs[PCTL_MEMO_OUTPUTS_MAX];
} pctl_memo_record;

/* Open the table in directory `path`, over a store that outlives it. Created on the first put. */
pctl_status pctl_memo_open(const char *path, pctl_store *store, const pctl_call *call,
			   pctl_memo **out);
void pctl_memo_close(pctl_memo *m);

/*
 * 1 and *out when there is a record whose outputs all lie in the store with the recorded sizes;
 * else 0: absent, malformed or gone count as a miss, silently. Contents are verified when they are
 * read. `record` is zeroed on a miss.
 */
int pctl_memo_get(pctl_memo *m, const uint8_t key[PCTL_DIGEST_BYTES], pctl_memo_record *out);

/* Record an answer under `key`, whatever record->key says, atomically; a later one replaces it. Not durable across power
 * loss (a lost record is a miss). */
pctl_status pctl_memo_put(pctl_memo *m, const uint8_t key[PCTL_DIGEST_BYTES],
			  const pctl_memo_record *record, const pctl_call *call);

/* Visit all records in ascending order of key, for `keep` of gc; a non-zero return ends the walk.
 */
pctl_status pctl_memo_list(pctl_memo *m, const pctl_call *call,
			   int (*visit)(void *ctx, const uint8_t key[PCTL_DIGEST_BYTES],
					const pctl_memo_record *r),
			   void *ctx);

/* ---- bytes that runs have stored (made.c) ------------------------------------------------- */

/* Note that the run with this key stored these bytes, which stand so. Of one run the strongest is kept. */
pctl_status pctl_memo_made_put(pctl_memo *m, const pctl_cid *cid,
			       const uint8_t key[PCTL_DIGEST_BYTES], pctl_evidence e,
			       const pctl_call *call);
/* 1 and how they stand when a run is known to have stored these bytes: the weakest of all runs that did. 0: they are
 * the user's own. A damaged note counts as not verified. */
int pctl_memo_made(pctl_memo *m, const pctl_cid *cid, pctl_evidence *out);

#endif
