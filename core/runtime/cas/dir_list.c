/* Walks over the directory store: listings in order, and what gc removes. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/base/order.h"
#include "runtime/cas/dir.h"

#define LOCK_WAIT_NS 5000000

typedef PCTL_VEC(char *) names;

static void free_names(names *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		free(list->items[i]);
	free(list->items);
	*list = (names){0};
}

/* The names in a directory, sorted, without those that begin with '.'. An absent directory has
 * none. */
static pctl_status read_names(pctl_dir_store *d, int at, const char *path, const pctl_call *call,
			      names *out)
{
	const int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir;
	struct dirent *e;
	pctl_status status = PCTL_OK;

	*out = (names){0};
	if (fd < 0)
		return errno == ENOENT ? PCTL_OK : pctl_dir_io(d, call, "read a directory", errno);
	dir = fdopendir(fd);
	if (dir == NULL) {
		close(fd);
		return pctl_dir_io(d, call, "read a directory", errno);
	}
	errno = 0;
	while ((e = readdir(dir)) != NULL) {
		char *name = e->d_name[0] != '.' ? strdup(e->d_name) : NULL;

		if (e->d_name[0] != '.' && (name == NULL || !PCTL_VEC_PUSH(out, name))) {
			free(name);
			status = pctl_no_memory(call, "a listing");
			break;
		}
		errno = 0;
	}
	if (status == PCTL_OK && errno != 0)
		status = pctl_dir_io(d, call, "read a directory", errno);
	closedir(dir);
	if (out->n > 0)
		qsort(out->items, out->n, sizeof(*out->items), pctl_order_texts);
	if (status != PCTL_OK)
		free_names(out);
	return status;
}

/* Rows by the text of their CIDs, and how far they were shown; between the files, which are walked in the same order. */
typedef struct rows {
	pctl_small_row *items;
	uint32_t n, at;
} rows;

static int by_cid(const void *a, const void *b)
{
	return pctl_cid_compare(&((const pctl_small_row *)a)->cid,
				&((const pctl_small_row *)b)->cid);
}

/* Those before a file (NULL: all that are left); one that is there both ways is shown once, as its row. 1: it is. */
static int show_rows(rows *r, const pctl_cid *file, pctl_store_visit visit, void *ctx, int *stop)
{
	int order = -1;

	while (!*stop && r->at < r->n &&
	       (file == NULL || (order = pctl_cid_compare(&r->items[r->at].cid, file)) <= 0)) {
		*stop = visit(ctx, &r->items[r->at].cid, r->items[r->at].n_bytes);
		r->at++;
		if (file != NULL && order == 0)
			return 1;
	}
	return 0;
}

/* Visit the CIDs named in one directory; *stop is set when the visitor ended the walk. */
static pctl_status walk(pctl_dir_store *d, int at, const char *path, const pctl_call *call, rows *r,
			pctl_store_visit visit, void *ctx, int *stop)
{
	names list;
	pctl_status status = read_names(d, at, path, call, &list);

	for (uint32_t i = 0; i < list.n && !*stop; i++) {
		char file[NAME_MAX + 8];
		pctl_cid cid;
		struct stat st;

		if (!pctl_cid_parse(list.items[i], &cid) || show_rows(r, &cid, visit, ctx, stop) ||
		    *stop)
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, list.items[i]);
		if (fstatat(at, file, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
			*stop = visit(ctx, &cid, (uint64_t)st.st_size);
	}
	free_names(&list);
	return status;
}

pctl_status pctl_dir_list(pctl_store *s, const pctl_call *call, pctl_store_visit visit, void *ctx)
{
	pctl_dir_store *d = pctl_dir(s);
	names shards = {0};
	rows r = {NULL, 0, 0};
	pctl_status status = pctl_dir_commit(s, call);
	int stop = 0;

	if (status == PCTL_OK)
		status = pctl_small_list(d->small, call, &r.items, &r.n);
	if (r.n > 1)
		qsort(r.items, r.n, sizeof(r.items[0]), by_cid);
	if (status == PCTL_OK)
		status = read_names(d, d->blobs_fd, ".", call, &shards);
	for (uint32_t i = 0; i < shards.n && !stop && status == PCTL_OK; i++)
		if (strlen(shards.items[i]) == 2)
			status = walk(d, d->blobs_fd, shards.items[i], call, &r, visit, ctx, &stop);
	if (status == PCTL_OK)
		(void)show_rows(&r, NULL, visit, ctx, &stop);
	free_names(&shards);
	free(r.items);
	return status;
}

pctl_status pctl_dir_list_pins(pctl_store *s, const pctl_call *call, pctl_store_visit visit,
			       void *ctx)
{
	rows none = {NULL, 0, 0};
	int stop = 0;

	return walk(pctl_dir(s), pctl_dir(s)->root_fd, "pins", call, &none, visit, ctx, &stop);
}

static int lock(int fd, int how, const pctl_call *call)
{
	const struct timespec moment = {0, LOCK_WAIT_NS};

	while (flock(fd, how | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return 0;
		if (pctl_is_cancelled(call))
			return 0;
		nanosleep(&moment, NULL);
	}
	return 1;
}

int pctl_dir_lock(const pctl_dir_store *d, int how, const pctl_call *call)
{
	return lock(d->blobs_fd, how, call);
}

void pctl_dir_unlock(const pctl_dir_store *d)
{
	(void)flock(d->blobs_fd, LOCK_UN);
}

/* A description of its own: locks of one are one lock. */
static int open_root(const pctl_dir_store *d)
{
	return openat(d->root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

pctl_status pctl_dir_hold(pctl_store *s, const pctl_call *call, int *out)
{
	const pctl_dir_store *d = pctl_dir(s);
	const int fd = open_root(d);

	if (fd < 0)
		return pctl_dir_io(d, call, "open the directory", errno);
	if (lock(fd, LOCK_SH, call)) {
		*out = fd;
		return PCTL_OK;
	}
	close(fd);
	return pctl_is_cancelled(call)
		       ? pctl_refuse(call, PC4_CANCELLED, "holding the store was cancelled")
		       : pctl_dir_io(d, call, "lock the directory", errno);
}

/* What cannot be known counts as held. */
int pctl_dir_is_held(pctl_store *s)
{
	const int fd = open_root(pctl_dir(s));
	const int is_free = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;

	if (fd >= 0)
		close(fd);
	return !is_free;
}

int pctl_dir_remove_old(pctl_store *s, const pctl_cid *cid, uint64_t grace_s, int dry,
			const pctl_call *call)
{
	pctl_dir_store *d = pctl_dir(s);
	char name[PCTL_CAS_NAME_SIZE];
	struct timespec now;
	struct stat st;
	int old = 0;

	pctl_dir_name(cid, name);
	clock_gettime(CLOCK_REALTIME, &now);
	if (!pctl_dir_lock(d, LOCK_EX, call))
		return 0;
	if (fstatat(d->blobs_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		const int64_t age = (int64_t)now.tv_sec - (int64_t)st.st_mtim.tv_sec;

		old = grace_s == 0 || (age > 0 && (uint64_t)age >= grace_s);
		if (old && !dry)
			old = unlinkat(d->blobs_fd, name, 0) == 0;
	}
	pctl_dir_unlock(d);
	return pctl_small_remove_old(d->small, cid, grace_s, dry) || old;
}

uint64_t pctl_dir_garbage(pctl_store *s, int dry)
{
	pctl_dir_store *d = pctl_dir(s);
	const int tmp = openat(d->root_fd, "tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t found = 0;
	names writers = {0};

	if (tmp >= 0)
		(void)read_names(d, tmp, ".", NULL, &writers);
	for (uint32_t i = 0; i < writers.n; i++) {
		const int fd = openat(tmp, writers.items[i],
				      O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		names files = {0};

		/* A lock that can be had belongs to nobody alive. */
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
			(void)read_names(d, fd, ".", NULL, &files);
			found += files.n;
			for (uint32_t k = 0; k < files.n && !dry; k++)
				(void)unlinkat(fd, files.items[k], 0);
			if (!dry)
				(void)unlinkat(tmp, writers.items[i], AT_REMOVEDIR);
		}
		free_names(&files);
		if (fd >= 0)
			close(fd);
	}
	free_names(&writers);
	if (tmp >= 0)
		close(tmp);
	return found;
}
