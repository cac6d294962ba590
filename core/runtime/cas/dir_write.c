/* Writing into the directory store: temporary file, fsync, rename, fsync of the shard's directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/cas/dir.h"

#define SYNC_ALL_FROM \
	64u /* so many files or directories are cheaper to sync with their file system than one by one */

static const char shard_digits[] = "abcdefghijklmnopqrstuvwxyz234567";

/* ---- the writer's own directory of temporary files ---------------------------------------- */

/* Make tmp/w-XXXXXX and lock it, so that gc of other processes sees that its owner lives. */
static pctl_status enter(pctl_dir_store *d, const pctl_call *call)
{
	for (int tries = 0; d->writer_fd < 0 && tries < 100; tries++) {
		char path[64];
		struct stat st;
		struct timespec now;

		clock_gettime(CLOCK_REALTIME, &now);
		snprintf(d->writer, sizeof(d->writer), "w-%08" PRIx32,
			 (uint32_t)(now.tv_nsec * 2654435761ll + getpid() * 40503ll + tries));
		snprintf(path, sizeof(path), "tmp/%s", d->writer);
		if (mkdirat(d->root_fd, path, 0700) != 0) {
			if (errno == EEXIST)
				continue;
			return pctl_dir_io(d, call, "make a directory in tmp/", errno);
		}
		d->writer_fd = openat(d->root_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (d->writer_fd >= 0 && flock(d->writer_fd, LOCK_EX | LOCK_NB) == 0 &&
		    fstat(d->writer_fd, &st) == 0 && st.st_nlink > 0 &&
		    faccessat(d->root_fd, path, F_OK, 0) == 0)
			return PCTL_OK;
		if (d->writer_fd >= 0)
			close(d->writer_fd);
		d->writer_fd = -1; /* gc of another process was faster; take another name */
	}
	return d->writer_fd >= 0 ? PCTL_OK
				 : pctl_dir_io(d, call, "lock a directory in tmp/", EBUSY);
}

static char *temp_name(uint64_t temp, char buf[24])
{
	snprintf(buf, 24, "%" PRIu64, temp);
	return buf;
}

void pctl_dir_leave(pctl_dir_store *d)
{
	char path[64], name[24];

	if (d->writer_fd < 0)
		return;
	for (uint32_t i = 0; i < d->pending.n; i++)
		(void)unlinkat(d->writer_fd, temp_name(d->pending.items[i].temp, name), 0);
	snprintf(path, sizeof(path), "tmp/%s", d->writer);
	(void)unlinkat(d->root_fd, path, AT_REMOVEDIR);
	close(d->writer_fd);
	d->writer_fd = -1;
}

static pctl_status open_temp(pctl_dir_store *d, const pctl_call *call, uint64_t *temp, int *fd)
{
	char name[24];
	pctl_status status = enter(d, call);

	*fd = -1;
	if (status != PCTL_OK)
		return status;
	*temp = d->n_temps++;
	*fd = openat(d->writer_fd, temp_name(*temp, name), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
		     0400);
	return *fd < 0 ? pctl_dir_io(d, call, "make a temporary file", errno) : PCTL_OK;
}

static void drop_temp(pctl_dir_store *d, uint64_t temp)
{
	char name[24];

	(void)unlinkat(d->writer_fd, temp_name(temp, name), 0);
}

/* ---- names -------------------------------------------------------------------------------- */

static uint32_t shard_of(const pctl_cid *cid)
{
	char text[PCTL_CID_TEXT_SIZE];

	pctl_cid_format(cid, text);
	return (uint32_t)(strchr(shard_digits, text[PCTL_CAS_SHARD_AT]) - shard_digits) * 32 +
	       (uint32_t)(strchr(shard_digits, text[PCTL_CAS_SHARD_AT + 1]) - shard_digits);
}

static void mark_dirty(pctl_dir_store *d, const pctl_cid *cid)
{
	const uint32_t shard = shard_of(cid);

	d->dirty[shard / 8] |= (uint8_t)(1u << shard % 8);
}

static pctl_status sync_all(const pctl_dir_store *d, const pctl_call *call)
{
	return syncfs(d->root_fd) == 0 ? PCTL_OK
				       : pctl_dir_io(d, call, "sync the file system", errno);
}

static uint32_t count_dirty(const pctl_dir_store *d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sizeof(d->dirty); i++)
		n += (uint32_t)__builtin_popcount(d->dirty[i]);
	return n;
}

static pctl_status sync_dirty(pctl_dir_store *d, const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	if (count_dirty(d) >= SYNC_ALL_FROM) {
		status = sync_all(d, call);
		memset(d->dirty, 0, sizeof(d->dirty));
		return status;
	}
	for (uint32_t shard = 0; shard < 8 * sizeof(d->dirty); shard++) {
		const char name[3] = {shard_digits[shard / 32], shard_digits[shard % 32], 0};
		int fd;

		if (!(d->dirty[shard / 8] & 1u << shard % 8))
			continue;
		fd = openat(d->blobs_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if ((fd < 0 || fsync(fd) != 0) && status == PCTL_OK)
			status = pctl_dir_io(d, call, "sync a directory", errno);
		if (fd >= 0)
			close(fd);
	}
	memset(d->dirty, 0, sizeof(d->dirty));
	return status;
}

/* Give a synced temporary file its name; the shard's directory is made when it is missing. */
static pctl_status publish(pctl_dir_store *d, uint64_t temp, const pctl_cid *cid,
			   const pctl_call *call)
{
	char from[24], name[PCTL_CAS_NAME_SIZE], shard[3];

	temp_name(temp, from);
	pctl_dir_name(cid, name);
	if (renameat(d->writer_fd, from, d->blobs_fd, name) == 0) {
		mark_dirty(d, cid);
		return PCTL_OK;
	}
	if (errno != ENOENT)
		return pctl_dir_io(d, call, "name a blob", errno);
	memcpy(shard, name, 2);
	shard[2] = 0;
	if (mkdirat(d->blobs_fd, shard, 0700) != 0 && errno != EEXIST)
		return pctl_dir_io(d, call, "make a directory", errno);
	if (fsync(d->blobs_fd) != 0)
		return pctl_dir_io(d, call, "sync blobs/", errno);
	if (renameat(d->writer_fd, from, d->blobs_fd, name) != 0)
		return pctl_dir_io(d, call, "name a blob", errno);
	mark_dirty(d, cid);
	return PCTL_OK;
}

/* A temporary file is complete: make it the blob, now or when the batch is committed. */
static pctl_status finish_temp(pctl_dir_store *d, uint64_t temp, int fd, const pctl_cid *cid,
			       const pctl_call *call)
{
	const pctl_pending p = {temp, *cid};
	pctl_status status;

	if (d->base.in_batch)
		return PCTL_VEC_PUSH(&d->pending, p) ? PCTL_OK
						     : pctl_no_memory(call, "a batch of blobs");
	if (fsync(fd) != 0)
		return pctl_dir_io(d, call, "sync a blob", errno);
	status = publish(d, temp, cid, call);
	return status == PCTL_OK ? sync_dirty(d, call) : status;
}

static pctl_status sync_pending(pctl_dir_store *d, const pctl_call *call)
{
	if (d->pending.n >= SYNC_ALL_FROM)
		return sync_all(d, call);
	for (uint32_t i = 0; i < d->pending.n; i++) {
		char name[24];
		const int fd = openat(d->writer_fd, temp_name(d->pending.items[i].temp, name),
				      O_RDONLY | O_CLOEXEC);
		const int ok = fd >= 0 && fsync(fd) == 0;
		const int error = errno;

		if (fd >= 0)
			close(fd);
		if (!ok)
			return pctl_dir_io(d, call, "sync a blob", error);
	}
	return PCTL_OK;
}

pctl_status pctl_dir_commit(pctl_store *s, const pctl_call *call)
{
	pctl_dir_store *d = pctl_dir(s);
	pctl_status status = pctl_small_commit(d->small, call);

	if (status == PCTL_OK && d->pending.n > 0)
		status = sync_pending(d, call);
	for (uint32_t i = 0; i < d->pending.n; i++) {
		if (status == PCTL_OK)
			status = publish(d, d->pending.items[i].temp, &d->pending.items[i].cid,
					 call);
		else
			drop_temp(d, d->pending.items[i].temp);
	}
	d->pending.n = 0;
	if (s->in_batch) {
		if (status != PCTL_OK)
			d->failed = status;
		return status;
	}
	if (status == PCTL_OK)
		status = sync_dirty(d, call);
	if (status == PCTL_OK && d->failed != PCTL_OK)
		status = pctl_refuse(call, PC3_IO, "puts of this batch could not be stored in %s",
				     s->path);
	d->failed = PCTL_OK;
	return status;
}

/* ---- puts --------------------------------------------------------------------------------- */

/* Of a file. */
static int touch(pctl_store *s, const pctl_cid *cid, uint64_t n, const pctl_call *call)
{
	pctl_dir_store *d = pctl_dir(s);
	char name[PCTL_CAS_NAME_SIZE];
	struct stat st;
	int found;

	pctl_dir_name(cid, name);
	if (!pctl_dir_lock(d, LOCK_SH, call))
		return 0;
	found = fstatat(d->blobs_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (found && S_ISREG(st.st_mode) && (uint64_t)st.st_size == n)
		(void)utimensat(d->blobs_fd, name, NULL, AT_SYMLINK_NOFOLLOW);
	pctl_dir_unlock(d);
	if (!found)
		return 0;
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != n) {
		pctl_dir_set_aside(s, cid);
		return 0;
	}
	/* Whoever stored it may not have synced its directory yet. */
	mark_dirty(d, cid);
	return s->in_batch || sync_dirty(d, call) == PCTL_OK;
}

int pctl_dir_touch(pctl_store *s, const pctl_cid *cid, uint64_t n, const pctl_call *call)
{
	return touch(s, cid, n, call) || pctl_small_touch(pctl_dir(s)->small, cid, n);
}

static pctl_status put_small(pctl_store *s, const void *data, uint64_t n, const pctl_cid *cid,
			     const pctl_call *call)
{
	pctl_dir_store *d = pctl_dir(s);
	pctl_status status = pctl_small_put(d->small, data, n, cid, call);

	if (status != PCTL_E_LIMIT)
		return status;
	status = pctl_dir_commit(s, call);
	return status == PCTL_OK ? pctl_small_put(d->small, data, n, cid, call) : status;
}

pctl_status pctl_dir_put(pctl_store *s, const void *data, uint64_t n, const pctl_cid *cid,
			 const pctl_call *call)
{
	pctl_dir_store *d = pctl_dir(s);
	uint64_t temp = 0;
	pctl_status status;
	int fd;

	if (s->in_batch == PCTL_STORE_BATCH_MANY && n <= PCTL_CAS_SMALL)
		return touch(s, cid, n, call) ? PCTL_OK : put_small(s, data, n, cid, call);
	if (pctl_dir_touch(s, cid, n, call))
		return PCTL_OK;
	status = open_temp(d, call, &temp, &fd);
	if (status != PCTL_OK)
		return status;
	status = pctl_store_write(fd, data, n, s->path, call);
	if (status == PCTL_OK)
		status = finish_temp(d, temp, fd, cid, call);
	close(fd);
	if (status != PCTL_OK)
		drop_temp(d, temp);
	return status;
}

pctl_status pctl_dir_put_fd(pctl_store *s, int from, const pctl_call *call, pctl_cid *out,
			    uint64_t *n_out)
{
	pctl_dir_store *d = pctl_dir(s);
	pctl_stream stream = {.from_name = "the bytes to put",
			      .to_name = s->path,
			      .from = from,
			      .progress = &s->progress};
	uint64_t temp = 0;
	int fd, present = 0;
	pctl_status status;

	*n_out = 0;
	status = open_temp(d, call, &temp, &fd);
	if (status != PCTL_OK)
		return status;
	stream.to = fd;
	status = pctl_store_stream(&stream, call, out, n_out);
	if (status == PCTL_OK) {
		present = pctl_dir_touch(s, out, *n_out, call);
		if (!present)
			status = finish_temp(d, temp, fd, out, call);
	}
	close(fd);
	if (status != PCTL_OK || present)
		drop_temp(d, temp);
	return status;
}

/* A row under a name in damaged/. */
static void set_aside_small(pctl_dir_store *d, const pctl_cid *cid, const char *to)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	pctl_blob b = {.data = NULL};
	const int fd =
		pctl_small_get(d->small, cid, &quiet, &b) == PCTL_OK
			? openat(d->root_fd, to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400)
			: -1;

	if (fd >= 0) {
		if (pctl_store_write(fd, b.data, b.n_bytes, d->base.path, &quiet) == PCTL_OK &&
		    fsync(fd) == 0)
			pctl_small_remove(d->small, cid);
		close(fd);
	}
	pctl_blob_release(&b);
}

void pctl_dir_set_aside(pctl_store *s, const pctl_cid *cid)
{
	pctl_dir_store *d = pctl_dir(s);
	char name[PCTL_CAS_NAME_SIZE], text[PCTL_CID_TEXT_SIZE], to[80];

	pctl_dir_name(cid, name);
	pctl_cid_format(cid, text);
	for (uint32_t i = 1; i < 100000; i++) {
		snprintf(to, sizeof(to), "damaged/%s.%" PRIu32, text, i);
		if (faccessat(d->root_fd, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			continue;
		/* What is read comes from its row, where it has one. */
		set_aside_small(d, cid, to);
		if (faccessat(d->root_fd, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
		    renameat2(d->blobs_fd, name, d->root_fd, to, RENAME_NOREPLACE) == 0 ||
		    errno != EEXIST)
			break;
	}
}
