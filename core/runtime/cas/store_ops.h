/* What a kind of store implements. The functions of store.h add hashing, verifying and reports on
 * top, once for all kinds. Internal to cas. */
#ifndef PIPECTL_RUNTIME_CAS_STORE_OPS_H
#define PIPECTL_RUNTIME_CAS_STORE_OPS_H

#include "runtime/cas/store.h"

typedef struct pctl_store_ops {
	void (*close)(pctl_store *s);
	/* Bytes whose CID is known. Present already: keep it from gc for its grace period. */
	pctl_status (*put)(pctl_store *s, const void *data, uint64_t n, const pctl_cid *cid,
			   const pctl_call *call);
	/* 1 when the blob is there with n bytes (UINT64_MAX: any number), after the same keeping.
	 */
	int (*touch)(pctl_store *s, const pctl_cid *cid, uint64_t n, const pctl_call *call);
	pctl_status (*put_fd)(pctl_store *s, int fd, const pctl_call *call, pctl_cid *out,
			      uint64_t *n_out);
	pctl_status (*batch_commit)(pctl_store *s, const pctl_call *call);
	/* The bytes, unverified. PCTL_E_NOT_FOUND without a diagnostic. */
	pctl_status (*get)(pctl_store *s, const pctl_cid *cid, const pctl_call *call,
			   pctl_blob *out);
	int (*stat)(pctl_store *s, const pctl_cid *cid, uint64_t *n_out);
	/* Many gets begin (1) or end (0); NULL: it makes no difference. */
	void (*gets)(pctl_store *s, int on);
	void (*set_aside)(pctl_store *s, const pctl_cid *cid);
	/* Sorted; the visitor may remove and set aside what it is shown. */
	pctl_status (*list)(pctl_store *s, const pctl_call *call, pctl_store_visit visit,
			    void *ctx);
	pctl_status (*list_pins)(pctl_store *s, const pctl_call *call, pctl_store_visit visit,
				 void *ctx);
	pctl_status (*pin)(pctl_store *s, const pctl_cid *cid, int on, const pctl_call *call);
	int (*is_pinned)(pctl_store *s, const pctl_cid *cid);
	/* Remove when older than grace_s (dry: only say so): 1 when it is. Nothing when cancelled meanwhile. */
	int (*remove_old)(pctl_store *s, const pctl_cid *cid, uint64_t grace_s, int dry,
			  const pctl_call *call);
	/* A descriptor that holds the store until it is closed. */
	pctl_status (*hold)(pctl_store *s, const pctl_call *call, int *out);
	int (*is_held)(pctl_store *s);
	/* Leftovers of dead writers: count, and remove unless dry. */
	uint64_t (*garbage)(pctl_store *s, int dry);
} pctl_store_ops;

enum { PCTL_STORE_BATCH_FILES = 1, PCTL_STORE_BATCH_MANY = 2 };

struct pctl_store {
	const pctl_store_ops *ops;
	char *path;
	uint32_t read_only;
	uint32_t in_batch;	     /* 0: none */
	pctl_progress_sink progress; /* pctl_store_set_progress */
};

/* SHA-256 in pieces, with the cancel test asked between them and progress told. */
pctl_status pctl_store_hash(const uint8_t *data, uint64_t n, const pctl_progress_sink *progress,
			    const pctl_call *call, pctl_cid *out);

/* A stream to read to its end; `to` is -1 or gets a copy. Names are for messages. */
typedef struct pctl_stream {
	const char *from_name, *to_name;
	int from, to;
	const pctl_progress_sink *progress; /* NULL: none */
} pctl_stream;
pctl_status pctl_store_stream(const pctl_stream *stream, const pctl_call *call, pctl_cid *out,
			      uint64_t *n_out);
/* All n bytes to fd, whose store `path` is for messages. */
pctl_status pctl_store_write(int fd, const uint8_t *data, uint64_t n, const char *path,
			     const pctl_call *call);
/* PC0003: "cannot WHAT PATH: reason". */
pctl_status pctl_store_io(const pctl_call *call, const char *what, const char *path, int error);

#endif
