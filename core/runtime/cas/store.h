/* Stores of blobs by CID. A blob is immutable, complete or absent; what is handed out was verified
 * against its CID. The directory store is durable: a put that returned PCTL_OK survives power loss,
 * and kill -9 at any instant leaves at most garbage in tmp/ that gc removes. Any number of
 * processes may use one directory. A store is used by one thread at a time. */
#ifndef PIPECTL_RUNTIME_CAS_STORE_H
#define PIPECTL_RUNTIME_CAS_STORE_H

#include "foundation/base/progress.h"
#include "runtime/cas/cid.h"

typedef struct pctl_store pctl_store;

/* A blob in memory, released with pctl_blob_release. Below 1 MiB it is a copy; larger ones are a
 * private map of the file, so a program that truncates files inside the store while they are in use
 * ends this process with SIGBUS. */
typedef struct pctl_blob {
	const uint8_t *data; /* never NULL, also for 0 bytes */
	uint64_t n_bytes;
	void *owner;
	uint32_t mapped;
	uint32_t reserved;
} pctl_blob;
void pctl_blob_release(pctl_blob *b);

#define PCTL_STORE_READ_ONLY 1u /* nothing is created, changed or set aside */

/* Open (and unless read-only, create) the store in directory `path`.
 * Errors: PCTL_E_IO, PCTL_E_STORE (PC5002: another format version; PC5003: not a store). */
pctl_status pctl_store_open(const char *path, uint32_t flags, const pctl_call *call,
			    pctl_store **out);
/* From now on transfers in and out of the store, gc and verify tell how far they are; NULL: nobody is told. */
void pctl_store_set_progress(pctl_store *s, const pctl_progress_sink *sink);
/* A store in memory, for tests and for dry runs. */
pctl_status pctl_store_open_memory(const pctl_call *call, pctl_store **out);
void pctl_store_close(pctl_store *s);
/* The directory, or "memory". */
const char *pctl_store_path(const pctl_store *s);

/* Put. On return the blob is in the store, durably, whether it was there before or not. out may be
 * NULL. put_fd reads to the end of the descriptor in constant memory. */
pctl_status pctl_store_put(pctl_store *s, const void *data, uint64_t n, const pctl_call *call,
			   pctl_cid *out);
pctl_status pctl_store_put_fd(pctl_store *s, int fd, const pctl_call *call, pctl_cid *out,
			      uint64_t *n_out);
pctl_status pctl_store_put_file(pctl_store *s, const char *path, const pctl_call *call,
				pctl_cid *out, uint64_t *n_out);

/* Several puts with one sync of each directory: between begin and commit puts are not yet durable;
 * commit makes them so (and is where a failure to do so is reported). Not nested. */
pctl_status pctl_store_batch_begin(pctl_store *s, const pctl_call *call);
/* The same where thousands of small blobs are to be expected, as of blocks: they lie together, and not in a file each. */
pctl_status pctl_store_batch_begin_many(pctl_store *s, const pctl_call *call);
pctl_status pctl_store_batch_commit(pctl_store *s, const pctl_call *call);

/* Many gets, one after the other and soon over: between the two the store may go on from where it looked last, in place of beginning anew for
 * each. Puts and everything else are allowed in between. Not nested. */
void pctl_store_gets_begin(pctl_store *s);
void pctl_store_gets_end(pctl_store *s);

/* Get, verified. A blob that does not match its CID is set aside to damaged/ (unless read-only) and
 * refused with PCTL_E_STORE (PC5001); an absent one with PCTL_E_NOT_FOUND (PC5004). get_file writes
 * atomically. */
pctl_status pctl_store_get(pctl_store *s, const pctl_cid *cid, const pctl_call *call,
			   pctl_blob *out);
pctl_status pctl_store_get_file(pctl_store *s, const pctl_cid *cid, const char *path,
				const pctl_call *call);
/* 1 when a blob of this name is there (not verified). */
int pctl_store_has(pctl_store *s, const pctl_cid *cid);
/* Its size, unverified; PCTL_E_NOT_FOUND (PC5004). */
pctl_status pctl_store_size(pctl_store *s, const pctl_cid *cid, const pctl_call *call,
			    uint64_t *out);

/* 1 for the beginning of a CID, of at least so many characters: eight more than all CIDs have in common. */
#define PCTL_CID_SHORT_LEAST 15u
int pctl_cid_is_short(const char *text);
/* The CID that a person means: a whole one, in the store or not, or the beginning of one that is there. Records, messages and
 * files hold whole CIDs. Errors: PC5004 (nothing begins so), PC5013 (several do; the message lists them), PC5005. */
pctl_status pctl_store_find(pctl_store *s, const char *text, const pctl_call *call, pctl_cid *out);

/* Visit every blob (or pin) in ascending order of CID. A non-zero return of visit ends the walk. */
typedef int (*pctl_store_visit)(void *ctx, const pctl_cid *cid, uint64_t n_bytes);
pctl_status pctl_store_list(pctl_store *s, const pctl_call *call, pctl_store_visit visit,
			    void *ctx);

/* Pins keep a blob from gc. Pinning an absent blob is PCTL_E_NOT_FOUND; repeated pins and unpins of
 * unpinned are fine. */
pctl_status pctl_store_pin(pctl_store *s, const pctl_cid *cid, const pctl_call *call);
pctl_status pctl_store_unpin(pctl_store *s, const pctl_cid *cid, const pctl_call *call);
pctl_status pctl_store_list_pins(pctl_store *s, const pctl_call *call, pctl_store_visit visit,
				 void *ctx);
int pctl_store_is_pinned(pctl_store *s, const pctl_cid *cid);

/*
 * While a store is held, by whatever process, no gc removes a blob from it: who reads what the state named at one moment finds it there, whatever
 * becomes of the state meanwhile. Hold first, then look at what is named. The hold ends with release, or with the process, however that ends.
 *
 * out   to be given to release; -1 after an error, and of a store in memory, which has no other process.
 *
 * Errors: PC3 (the directory cannot be opened), PCTL_E_CANCELLED (PC4). [may wait for a moment of a gc]
 */
pctl_status pctl_store_hold(pctl_store *s, const pctl_call *call, int *out);
void pctl_store_release(int hold); /* -1: nothing is done */

typedef struct pctl_store_report {
	uint64_t blobs;	  /* looked at */
	uint64_t bytes;	  /* of those */
	uint64_t damaged; /* found by verify */
	uint64_t removed; /* blobs removed by gc */
	uint64_t removed_bytes;
	uint64_t held;	  /* blobs that gc would have removed of a store that is held */
	uint64_t garbage; /* leftover temporary files (gc removes them, verify counts them) */
} pctl_store_report;

/*
 * Remove blobs that are not pinned, that `keep` (NULL: keeps nothing) does not answer 1 for, and
 * that are older than grace_s seconds: a blob put by a running process is not yet named anywhere.
 * dry 1 only reports. What `keep` says has to be known before the call: of a store that is held when it begins nothing is
 * removed, and whoever holds it later looks at what is named later.
 */
pctl_status pctl_store_gc(pctl_store *s, uint64_t grace_s, int dry,
			  int (*keep)(void *ctx, const pctl_cid *cid), void *ctx,
			  const pctl_call *call, pctl_store_report *out);

/* Rehash everything. Each damaged blob is reported (PC5001) and set aside to damaged/ unless
 * read-only. PCTL_E_STORE when any was. Asks the cancel test. */
pctl_status pctl_store_verify(pctl_store *s, const pctl_call *call, pctl_store_report *out);

#endif
