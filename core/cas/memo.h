/* The memo table: what a job with this key gave before. A key is a digest that exec computes; a
 * record names the outputs by CID and says which device and profile made them. A table is a
 * convenience: losing any of it costs only time. */
#ifndef PIPECTL_CAS_MEMO_H
#define PIPECTL_CAS_MEMO_H

#include "cas/store.h"

#define PCTL_MEMO_OUTPUTS_MAX 64u

typedef struct pctl_memo pctl_memo;

typedef struct pctl_memo_output {
	char name[64]; /* of the port; no blanks or control characters */
	pctl_cid cid;
	uint64_t n_bytes;
} pctl_memo_output;

typedef struct pctl_memo_record {
	char device[256];  /* backend and device name; no control characters */
	char profile[128]; /* of the device, "" none */
	uint64_t gas;	   /* estimate in the schedule of the run */
	uint32_t n_outputs;
	uint32_t reserved;
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

/* The same, with every output read and rehashed: a damaged one is set aside and counts as a miss.
 * Time grows with the outputs' bytes. */
int pctl_memo_get_verified(pctl_memo *m, const uint8_t key[PCTL_DIGEST_BYTES],
			   pctl_memo_record *out);

/* Record an answer, atomically; a later one replaces it. Not durable across power loss (a lost
 * record is a miss). */
pctl_status pctl_memo_put(pctl_memo *m, const uint8_t key[PCTL_DIGEST_BYTES],
			  const pctl_memo_record *record, const pctl_call *call);
/* Forget one key, or all records; absent is fine. */
pctl_status pctl_memo_forget(pctl_memo *m, const uint8_t key[PCTL_DIGEST_BYTES],
			     const pctl_call *call);
pctl_status pctl_memo_clear(pctl_memo *m, const pctl_call *call);

/* Visit all records in ascending order of key, for `keep` of gc; a non-zero return ends the walk.
 */
pctl_status pctl_memo_list(pctl_memo *m, const pctl_call *call,
			   int (*visit)(void *ctx, const uint8_t key[PCTL_DIGEST_BYTES],
					const pctl_memo_record *r),
			   void *ctx);

#endif
