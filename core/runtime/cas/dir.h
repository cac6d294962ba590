/* The directory store's parts, shared by dir.c (blobs), dir_write.c (temporary files, batches) and
 * dir_list.c (walks).
 *
 *   format          "pipectl-cas 1"
 *   blobs/XX/CID    XX: the first two characters in which CIDs differ: shards sort as CIDs do
 *   small.sqlite    small blobs that batches brought (dir_small.h)
 *   pins/CID        empty files
 *   damaged/CID.N   what failed verification
 *   tmp/w-XXXXXXXX/ one directory a writer, locked while it lives
 *
 * Locks (flock): a writer's directory, exclusive, by the writer; blobs/, shared, while a present
 * blob's age is renewed, and exclusive while gc looks at the age of one and removes it; the store's own directory, shared, by who holds
 * the store, and exclusive, for a moment, by a gc that asks whether anybody does. Internal to cas. */
#ifndef PIPECTL_RUNTIME_CAS_DIR_H
#define PIPECTL_RUNTIME_CAS_DIR_H

#include <time.h>

#include "foundation/base/vec.h"
#include "runtime/cas/dir_small.h"
#include "runtime/cas/store_ops.h"

#define PCTL_CAS_SHARD_AT 7u /* place of XX in a CID; the first seven characters never differ */

typedef struct pctl_pending {
	uint64_t temp; /* number of the temporary file */
	pctl_cid cid;
} pctl_pending;

typedef struct pctl_dir_store {
	pctl_store base;
	pctl_small *small;
	int root_fd, blobs_fd;
	int writer_fd; /* tmp/w-XXXXXX, -1 until the first write */
	char writer[16];
	uint64_t n_temps;
	pctl_status failed; /* of a batch whose puts were named early, for a get, and in vain */
	PCTL_VEC(pctl_pending) pending; /* of a batch: written, not yet under their names */
	uint8_t dirty[1024 / 8];	/* by shard, whose directory is to be synced */
} pctl_dir_store;

static inline pctl_dir_store *pctl_dir(pctl_store *s)
{
	return (pctl_dir_store *)(void *)s;
}

pctl_status pctl_dir_io(const pctl_dir_store *d, const pctl_call *call, const char *what,
			int error);
/* "XX/CID" relative to blobs/. */
#define PCTL_CAS_NAME_SIZE (3u + PCTL_CID_TEXT_SIZE)
char *pctl_dir_name(const pctl_cid *cid, char buf[PCTL_CAS_NAME_SIZE]);

pctl_status pctl_dir_put(pctl_store *s, const void *data, uint64_t n, const pctl_cid *cid,
			 const pctl_call *call);
pctl_status pctl_dir_put_fd(pctl_store *s, int fd, const pctl_call *call, pctl_cid *out,
			    uint64_t *n_out);
int pctl_dir_touch(pctl_store *s, const pctl_cid *cid, uint64_t n, const pctl_call *call);
/* Hold blobs/ (LOCK_SH, LOCK_EX), which others hold for moments; 0: not had, for want of patience of the caller, who cancelled. */
int pctl_dir_lock(const pctl_dir_store *d, int how, const pctl_call *call);
void pctl_dir_unlock(const pctl_dir_store *d);
/* Give the pending blobs of a batch their names, durably. */
pctl_status pctl_dir_commit(pctl_store *s, const pctl_call *call);
void pctl_dir_leave(pctl_dir_store *d);
void pctl_dir_set_aside(pctl_store *s, const pctl_cid *cid);

pctl_status pctl_dir_list(pctl_store *s, const pctl_call *call, pctl_store_visit visit, void *ctx);
pctl_status pctl_dir_list_pins(pctl_store *s, const pctl_call *call, pctl_store_visit visit,
			       void *ctx);
int pctl_dir_remove_old(pctl_store *s, const pctl_cid *cid, uint64_t grace_s, int dry,
			const pctl_call *call);
pctl_status pctl_dir_hold(pctl_store *s, const pctl_call *call, int *out);
int pctl_dir_is_held(pctl_store *s);
uint64_t pctl_dir_garbage(pctl_store *s, int dry);

#endif
