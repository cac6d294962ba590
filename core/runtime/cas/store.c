/* What all stores share: verified reads, reports, and guards. No kind of storage is known here. */
#include "runtime/cas/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/base/clock.h"
#include "foundation/base/file.h"
#include "runtime/cas/store_ops.h"

#define HASH_PIECE (8u << 20)

void pctl_blob_release(pctl_blob *b)
{
	if (b->mapped)
		(void)munmap(b->owner, b->n_bytes);
	else
		free(b->owner);
	*b = (pctl_blob){0};
}

void pctl_store_close(pctl_store *s)
{
	char *path;

	if (s == NULL)
		return;
	path = s->path;
	s->ops->close(s);
	free(path);
}

void pctl_store_set_progress(pctl_store *s, const pctl_progress_sink *sink)
{
	s->progress = sink == NULL ? (pctl_progress_sink){NULL, NULL} : *sink;
}

const char *pctl_store_path(const pctl_store *s)
{
	return s->path != NULL ? s->path : "memory";
}

pctl_status pctl_store_hash(const uint8_t *data, uint64_t n, const pctl_progress_sink *progress,
			    const pctl_call *call, pctl_cid *out)
{
	const uint64_t started = pctl_clock_ns();
	pctl_progress now = {.stage = "hash", .total_bytes = n};
	pctl_hasher *h = NULL;
	pctl_status status;

	if (n <= HASH_PIECE)
		return pctl_cid_of(data, n, call, out);
	memset(out, 0, sizeof(*out));
	status = pctl_hasher_create(call, &h);
	for (uint64_t at = 0; status == PCTL_OK && at < n; at += HASH_PIECE) {
		status =
			pctl_hasher_update(h, data + at, n - at < HASH_PIECE ? n - at : HASH_PIECE);
		now.bytes = at;
		now.elapsed_ns = pctl_clock_ns() - started;
		pctl_progress_tell(progress, &now);
		if (status == PCTL_OK && pctl_is_cancelled(call))
			status = pctl_refuse(call, PC4_CANCELLED, "hashing was cancelled");
	}
	if (status == PCTL_OK)
		return pctl_hasher_finish(h, out);
	pctl_hasher_destroy(h);
	return status;
}

static pctl_status refuse_read_only(const pctl_store *s, const pctl_call *call)
{
	return pctl_refuse(call, PC5006_CAS_READ_ONLY, "%s is open for reading only",
			   pctl_store_path(s));
}

pctl_status pctl_store_put(pctl_store *s, const void *data, uint64_t n, const pctl_call *call,
			   pctl_cid *out)
{
	pctl_cid cid;
	pctl_status status;

	if (out != NULL)
		memset(out, 0, sizeof(*out));
	if (s->read_only)
		return refuse_read_only(s, call);
	status = pctl_store_hash(data, n, &s->progress, call, &cid);
	if (status == PCTL_OK)
		status = s->ops->put(s, data, n, &cid, call);
	if (status == PCTL_OK && out != NULL)
		*out = cid;
	return status;
}

pctl_status pctl_store_put_fd(pctl_store *s, int fd, const pctl_call *call, pctl_cid *out,
			      uint64_t *n_out)
{
	memset(out, 0, sizeof(*out));
	*n_out = 0;
	if (s->read_only)
		return refuse_read_only(s, call);
	return s->ops->put_fd(s, fd, call, out, n_out);
}

pctl_status pctl_store_put_file(pctl_store *s, const char *path, const pctl_call *call,
				pctl_cid *out, uint64_t *n_out)
{
	pctl_stream stream = {.from_name = path, .to = -1, .progress = &s->progress};
	pctl_status status = PCTL_OK;
	struct stat st;
	int fd, present = 0;

	memset(out, 0, sizeof(*out));
	*n_out = 0;
	if (s->read_only)
		return refuse_read_only(s, call);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return pctl_store_io(call, "open", path, errno);
	if (fstat(fd, &st) != 0)
		status = pctl_store_io(call, "read", path, errno);
	else if (S_ISDIR(st.st_mode))
		status = pctl_store_io(call, "read", path, EISDIR);
	else if (S_ISREG(st.st_mode)) {
		/* Hashing first makes the put of what is already there a matter of reading it. */
		stream.from = fd;
		status = pctl_store_stream(&stream, call, out, n_out);
		present = status == PCTL_OK && s->ops->touch(s, out, *n_out, call);
		if (status == PCTL_OK && !present && lseek(fd, 0, SEEK_SET) != 0)
			status = pctl_store_io(call, "read", path, errno);
	}
	if (status == PCTL_OK && !present)
		status = s->ops->put_fd(s, fd, call, out, n_out);
	close(fd);
	return status;
}

static pctl_status begin(pctl_store *s, uint32_t how, const pctl_call *call)
{
	if (s->read_only)
		return refuse_read_only(s, call);
	if (s->in_batch)
		return pctl_refuse(call, PC5008_CAS_BATCH, "a batch is already open");
	s->in_batch = how;
	return PCTL_OK;
}

pctl_status pctl_store_batch_begin(pctl_store *s, const pctl_call *call)
{
	return begin(s, PCTL_STORE_BATCH_FILES, call);
}

pctl_status pctl_store_batch_begin_many(pctl_store *s, const pctl_call *call)
{
	return begin(s, PCTL_STORE_BATCH_MANY, call);
}

void pctl_store_gets_begin(pctl_store *s)
{
	if (s->ops->gets != NULL)
		s->ops->gets(s, 1);
}

void pctl_store_gets_end(pctl_store *s)
{
	if (s->ops->gets != NULL)
		s->ops->gets(s, 0);
}

pctl_status pctl_store_batch_commit(pctl_store *s, const pctl_call *call)
{
	if (!s->in_batch)
		return pctl_refuse(call, PC5008_CAS_BATCH, "no batch is open");
	s->in_batch = 0;
	return s->ops->batch_commit(s, call);
}

static pctl_status refuse_absent(const pctl_store *s, const pctl_cid *cid, const pctl_call *call)
{
	char text[PCTL_CID_TEXT_SIZE];

	return pctl_refuse(call, PC5004_CAS_ABSENT, "%s is not in the store %s",
			   pctl_cid_format(cid, text), pctl_store_path(s));
}

/* PCTL_OK when the blob's bytes have this CID; else the blob is set aside. */
static pctl_status verify_blob(pctl_store *s, const pctl_cid *cid, const pctl_blob *b,
			       const pctl_call *call)
{
	char wanted[PCTL_CID_TEXT_SIZE], found_text[PCTL_CID_TEXT_SIZE];
	pctl_cid found;
	pctl_status status = pctl_store_hash(b->data, b->n_bytes, &s->progress, call, &found);

	if (status != PCTL_OK || memcmp(&found, cid, sizeof(found)) == 0)
		return status;
	if (!s->read_only)
		s->ops->set_aside(s, cid);
	return pctl_refuse(
		call, PC5001_CAS_DAMAGED, "%s in %s holds %" PRIu64 " bytes that hash to %s%s",
		pctl_cid_format(cid, wanted), pctl_store_path(s), b->n_bytes,
		pctl_cid_format(&found, found_text), s->read_only ? "" : "; it was set aside");
}

pctl_status pctl_store_get(pctl_store *s, const pctl_cid *cid, const pctl_call *call,
			   pctl_blob *out)
{
	pctl_status status;

	*out = (pctl_blob){0};
	status = s->ops->get(s, cid, call, out);
	if (status == PCTL_E_NOT_FOUND)
		return refuse_absent(s, cid, call);
	if (status != PCTL_OK)
		return status;
	status = verify_blob(s, cid, out, call);
	if (status != PCTL_OK)
		pctl_blob_release(out);
	return status;
}

pctl_status pctl_store_get_file(pctl_store *s, const pctl_cid *cid, const char *path,
				const pctl_call *call)
{
	pctl_blob b;
	pctl_status status = pctl_store_get(s, cid, call, &b);

	if (status != PCTL_OK)
		return status;
	status = pctl_file_write(path, b.data, b.n_bytes, 1, call);
	pctl_blob_release(&b);
	return status;
}

int pctl_store_has(pctl_store *s, const pctl_cid *cid)
{
	uint64_t n;

	return s->ops->stat(s, cid, &n);
}

pctl_status pctl_store_size(pctl_store *s, const pctl_cid *cid, const pctl_call *call,
			    uint64_t *out)
{
	*out = 0;
	return s->ops->stat(s, cid, out) ? PCTL_OK : refuse_absent(s, cid, call);
}

pctl_status pctl_store_list(pctl_store *s, const pctl_call *call, pctl_store_visit visit, void *ctx)
{
	return s->ops->list(s, call, visit, ctx);
}

pctl_status pctl_store_list_pins(pctl_store *s, const pctl_call *call, pctl_store_visit visit,
				 void *ctx)
{
	return s->ops->list_pins(s, call, visit, ctx);
}

pctl_status pctl_store_pin(pctl_store *s, const pctl_cid *cid, const pctl_call *call)
{
	if (s->read_only)
		return refuse_read_only(s, call);
	if (!pctl_store_has(s, cid))
		return refuse_absent(s, cid, call);
	return s->ops->pin(s, cid, 1, call);
}

pctl_status pctl_store_unpin(pctl_store *s, const pctl_cid *cid, const pctl_call *call)
{
	return s->read_only ? refuse_read_only(s, call) : s->ops->pin(s, cid, 0, call);
}

int pctl_store_is_pinned(pctl_store *s, const pctl_cid *cid)
{
	return s->ops->is_pinned(s, cid);
}

/* ---- gc and verify ------------------------------------------------------------------------ */

typedef struct sweep {
	pctl_store *s;
	const pctl_call *call;
	pctl_store_report *report;
	int (*keep)(void *ctx, const pctl_cid *cid);
	void *ctx;
	uint64_t grace_s;
	int dry, is_held;
	const char *stage;
	uint64_t started_ns;
	pctl_status status;
} sweep;

static int cancelled(sweep *w, const char *what)
{
	if (!pctl_is_cancelled(w->call))
		return 0;
	w->status = pctl_refuse(w->call, PC4_CANCELLED, "%s was cancelled", what);
	return 1;
}

static void tell(const sweep *w)
{
	const pctl_progress now = {.stage = w->stage,
				   .unit = "blobs",
				   .done = w->report->blobs,
				   .bytes = w->report->bytes,
				   .elapsed_ns = pctl_clock_ns() - w->started_ns};

	pctl_progress_tell(&w->s->progress, &now);
}

pctl_status pctl_store_hold(pctl_store *s, const pctl_call *call, int *out)
{
	*out = -1;
	return s->ops->hold(s, call, out);
}

void pctl_store_release(int hold)
{
	if (hold >= 0)
		close(hold);
}

static int gc_one(void *ctx, const pctl_cid *cid, uint64_t n_bytes)
{
	sweep *w = ctx;

	if (cancelled(w, "gc"))
		return 1;
	w->report->blobs++;
	w->report->bytes += n_bytes;
	tell(w);
	if (w->s->ops->is_pinned(w->s, cid) || (w->keep != NULL && w->keep(w->ctx, cid)))
		return 0;
	if (!w->s->ops->remove_old(w->s, cid, w->grace_s, w->dry || w->is_held, w->call))
		return 0;
	if (w->is_held) {
		w->report->held++;
	} else {
		w->report->removed++;
		w->report->removed_bytes += n_bytes;
	}
	return 0;
}

pctl_status pctl_store_gc(pctl_store *s, uint64_t grace_s, int dry,
			  int (*keep)(void *ctx, const pctl_cid *cid), void *ctx,
			  const pctl_call *call, pctl_store_report *out)
{
	sweep w = {.s = s,
		   .call = call,
		   .report = out,
		   .keep = keep,
		   .ctx = ctx,
		   .grace_s = grace_s,
		   .dry = dry,
		   .stage = "collect",
		   .started_ns = pctl_clock_ns()};
	pctl_status status;

	*out = (pctl_store_report){0};
	if (s->read_only && !dry)
		return refuse_read_only(s, call);
	w.is_held = s->ops->is_held(s);
	status = s->ops->list(s, call, gc_one, &w);
	if (status == PCTL_OK)
		status = w.status;
	if (status == PCTL_OK)
		out->garbage = s->ops->garbage(s, dry);
	return status;
}

static int verify_one(void *ctx, const pctl_cid *cid, uint64_t n_bytes)
{
	sweep *w = ctx;
	pctl_blob b = {0};
	pctl_status status;

	if (cancelled(w, "verify"))
		return 1;
	tell(w);
	w->report->blobs++;
	w->report->bytes += n_bytes;
	status = w->s->ops->get(w->s, cid, w->call, &b);
	if (status == PCTL_E_NOT_FOUND)
		return 0; /* another process removed it since the directory was read */
	if (status == PCTL_OK)
		status = verify_blob(w->s, cid, &b, w->call);
	pctl_blob_release(&b);
	w->report->damaged += status == PCTL_E_STORE;
	if (w->status == PCTL_OK)
		w->status = status;
	return status == PCTL_E_CANCELLED;
}

pctl_status pctl_store_verify(pctl_store *s, const pctl_call *call, pctl_store_report *out)
{
	sweep w = {.s = s,
		   .call = call,
		   .report = out,
		   .stage = "verify",
		   .started_ns = pctl_clock_ns()};
	pctl_status status;

	*out = (pctl_store_report){0};
	status = s->ops->list(s, call, verify_one, &w);
	out->garbage = s->ops->garbage(s, 1);
	return status != PCTL_OK ? status : w.status;
}
