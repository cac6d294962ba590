/* Small blobs of batches of many (pctl_store_batch_begin_many), in one SQLite file of the directory store: a file each costs many times its bytes. What is put otherwise,
 * or is larger, is a file. For several threads; between processes SQLite's own locks hold. Internal to cas.
 *
 *   small.sqlite  blobs(cid: 32 bytes of the digest, at: seconds, when it was last put, bytes) */
#ifndef PIPECTL_RUNTIME_CAS_DIR_SMALL_H
#define PIPECTL_RUNTIME_CAS_DIR_SMALL_H

#include "runtime/cas/store_ops.h"

#define PCTL_CAS_SMALL 4096u /* bytes, the largest that lies there */

typedef struct pctl_small pctl_small;
/* The file is made by the first put, and looked for by every other question until it is there. */
pctl_status pctl_small_open(const char *dir, uint32_t read_only, const pctl_call *call,
			    pctl_small **out);
void pctl_small_close(pctl_small *s);

/* Remembered until the next commit. Refused (PCTL_E_LIMIT, no word) where so much waits that a commit is due. */
pctl_status pctl_small_put(pctl_small *s, const void *data, uint64_t n, const pctl_cid *cid,
			   const pctl_call *call);
/* All that waits, in one transaction, durable when it returns. On failure nothing of it is kept. */
pctl_status pctl_small_commit(pctl_small *s, const pctl_call *call);

/* Of what was committed. 1: there. */
int pctl_small_stat(pctl_small *s, const pctl_cid *cid, uint64_t *n);
/* PCTL_E_NOT_FOUND without a diagnostic. */
pctl_status pctl_small_get(pctl_small *s, const pctl_cid *cid, const pctl_call *call,
			   pctl_blob *out);
/* While it is on, gets share one transaction, until one finds nothing or something is written: others that write wait for it. */
void pctl_small_gets(pctl_small *s, int on);
/* 1: there with n bytes, and put now as far as gc knows. */
int pctl_small_touch(pctl_small *s, const pctl_cid *cid, uint64_t n);
/* 1: it was last put grace_s ago or before, and is gone unless `dry`. */
int pctl_small_remove_old(pctl_small *s, const pctl_cid *cid, uint64_t grace_s, int dry);
void pctl_small_remove(pctl_small *s, const pctl_cid *cid);
/* All CIDs with their sizes, in no order: released with free(). */
typedef struct pctl_small_row {
	pctl_cid cid;
	uint64_t n_bytes;
} pctl_small_row;
pctl_status pctl_small_list(pctl_small *s, const pctl_call *call, pctl_small_row **out,
			    uint32_t *n);

#endif
