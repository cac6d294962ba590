/* The directory store: opening, reading, pins. Writing is in dir_write.c, walks are in dir_list.c.
 */
#include "runtime/cas/dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/base/file.h"

#define FORMAT_TEXT "pipectl-cas 1\n"
#define MAP_FROM \
	(1u << 20) /* smaller blobs are copied: no map outlives a change of the file then */

pctl_status pctl_dir_io(const pctl_dir_store *d, const pctl_call *call, const char *what, int error)
{
	char text[128];

	snprintf(text, sizeof(text), "%s in the store", what);
	return pctl_store_io(call, text, d->base.path, error);
}

char *pctl_dir_name(const pctl_cid *cid, char buf[PCTL_CAS_NAME_SIZE])
{
	char text[PCTL_CID_TEXT_SIZE];

	pctl_cid_format(cid, text);
	memcpy(buf, text + PCTL_CAS_SHARD_AT, 2);
	buf[2] = '/';
	memcpy(buf + 3, text, sizeof(text));
	return buf;
}

/* ---- opening ------------------------------------------------------------------------------ */

/* 1 when nothing but an unfinished `format` file is in the directory. */
static int is_empty(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	int empty = 1;

	while (dir != NULL && empty && (e = readdir(dir)) != NULL)
		empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
			strncmp(e->d_name, "format", 6) == 0;
	if (dir != NULL)
		closedir(dir);
	return empty;
}

static pctl_status check_format(const char *path, uint32_t read_only, const pctl_call *call)
{
	char *file = pctl_path_join(path, "format");
	char *text = NULL;
	uint64_t n = 0;
	pctl_status status = PCTL_OK;

	if (file == NULL)
		return pctl_no_memory(call, "a path");
	if (!pctl_file_exists(file)) {
		if (read_only || !is_empty(path))
			status = pctl_refuse(call, PC5003_CAS_NOT_A_STORE,
					     "%s has no file \"format\"", path);
		else
			status = pctl_file_write(file, FORMAT_TEXT, strlen(FORMAT_TEXT), 1, call);
	} else {
		status = pctl_file_read(file, 256, call, &text, &n);
		if (status == PCTL_OK && strcmp(text, FORMAT_TEXT) != 0)
			status = pctl_refuse(call, PC5002_CAS_FORMAT,
					     "%s has format \"%.*s\", known is \"%.*s\"", path,
					     (int)strcspn(text, "\n"), text,
					     (int)strlen(FORMAT_TEXT) - 1, FORMAT_TEXT);
	}
	free(text);
	free(file);
	return status;
}

static pctl_status open_dirs(pctl_dir_store *d, const pctl_call *call)
{
	static const char *const parts[] = {"blobs", "pins", "damaged", "tmp"};

	d->root_fd = open(d->base.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->root_fd < 0)
		return pctl_dir_io(d, call, "open the directory", errno);
	for (size_t i = 0; !d->base.read_only && i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (mkdirat(d->root_fd, parts[i], 0700) == 0)
			(void)fsync(d->root_fd);
		else if (errno != EEXIST)
			return pctl_dir_io(d, call, "make a directory", errno);
	}
	d->blobs_fd = openat(d->root_fd, "blobs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->blobs_fd < 0)
		return pctl_dir_io(d, call, "open blobs/", errno);
	return PCTL_OK;
}

static void dir_close(pctl_store *s)
{
	pctl_dir_store *d = pctl_dir(s);

	pctl_dir_leave(d);
	pctl_small_close(d->small);
	if (d->blobs_fd >= 0)
		close(d->blobs_fd);
	if (d->root_fd >= 0)
		close(d->root_fd);
	free(d->pending.items);
	free(d);
}

/* ---- reading ------------------------------------------------------------------------------ */

static int dir_stat(pctl_store *s, const pctl_cid *cid, uint64_t *n_out)
{
	pctl_dir_store *d = pctl_dir(s);
	char name[PCTL_CAS_NAME_SIZE];
	struct stat st;

	*n_out = 0;
	(void)pctl_dir_commit(s, NULL);
	if (pctl_small_stat(d->small, cid, n_out))
		return 1;
	if (fstatat(d->blobs_fd, pctl_dir_name(cid, name), &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(st.st_mode))
		return 0;
	*n_out = (uint64_t)st.st_size;
	return 1;
}

static pctl_status copy_blob(pctl_dir_store *d, int fd, uint64_t n, const pctl_call *call,
			     pctl_blob *out)
{
	uint8_t *data = malloc(n + 1);
	uint64_t at = 0;

	if (data == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for a blob of %" PRIu64 " bytes", n);
	while (at < n) {
		const ssize_t got = read(fd, data + at, n - at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			const int error = errno;

			free(data);
			return pctl_dir_io(d, call, "read a blob", error);
		}
		if (got == 0)
			break;
		at += (uint64_t)got;
	}
	*out = (pctl_blob){.data = data, .n_bytes = at, .owner = data};
	return PCTL_OK;
}

static pctl_status map_blob(pctl_dir_store *d, int fd, uint64_t n, const pctl_call *call,
			    pctl_blob *out)
{
	void *map = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);

	if (map == MAP_FAILED)
		return pctl_dir_io(d, call, "map a blob", errno);
	(void)madvise(map, n, MADV_SEQUENTIAL);
	*out = (pctl_blob){.data = map, .n_bytes = n, .owner = map, .mapped = 1};
	return PCTL_OK;
}

static pctl_status dir_get(pctl_store *s, const pctl_cid *cid, const pctl_call *call,
			   pctl_blob *out)
{
	pctl_dir_store *d = pctl_dir(s);
	char name[PCTL_CAS_NAME_SIZE];
	struct stat st;
	pctl_status status = pctl_dir_commit(s, call);
	int fd;

	if (status == PCTL_OK)
		status = pctl_small_get(d->small, cid, call, out);
	if (status != PCTL_E_NOT_FOUND)
		return status;
	status = PCTL_OK;
	fd = openat(d->blobs_fd, pctl_dir_name(cid, name),
		    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? PCTL_E_NOT_FOUND
				       : pctl_dir_io(d, call, "open a blob", errno);
	if (fstat(fd, &st) != 0)
		status = pctl_dir_io(d, call, "read a blob", errno);
	else if (!S_ISREG(st.st_mode))
		status = PCTL_E_NOT_FOUND;
	else if (st.st_size < (off_t)MAP_FROM)
		status = copy_blob(d, fd, (uint64_t)st.st_size, call, out);
	else
		status = map_blob(d, fd, (uint64_t)st.st_size, call, out);
	close(fd);
	return status;
}

/* ---- pins --------------------------------------------------------------------------------- */

static void pin_name(const pctl_cid *cid, char buf[5 + PCTL_CID_TEXT_SIZE])
{
	memcpy(buf, "pins/", 5);
	pctl_cid_format(cid, buf + 5);
}

static pctl_status dir_pin(pctl_store *s, const pctl_cid *cid, int on, const pctl_call *call)
{
	pctl_dir_store *d = pctl_dir(s);
	char name[5 + PCTL_CID_TEXT_SIZE];
	int fd;

	pin_name(cid, name);
	if (on) {
		fd = openat(d->root_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0)
			return pctl_dir_io(d, call, "pin a blob", errno);
		close(fd);
	} else if (unlinkat(d->root_fd, name, 0) != 0 && errno != ENOENT) {
		return pctl_dir_io(d, call, "unpin a blob", errno);
	}
	fd = openat(d->root_fd, "pins", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) != 0) {
		const int error = errno;

		if (fd >= 0)
			close(fd);
		return pctl_dir_io(d, call, "sync pins/", error);
	}
	close(fd);
	return PCTL_OK;
}

static int dir_is_pinned(pctl_store *s, const pctl_cid *cid)
{
	char name[5 + PCTL_CID_TEXT_SIZE];

	pin_name(cid, name);
	return faccessat(pctl_dir(s)->root_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void dir_gets(pctl_store *s, int on)
{
	pctl_small_gets(pctl_dir(s)->small, on);
}

static const pctl_store_ops dir_ops = {
	.close = dir_close,
	.put = pctl_dir_put,
	.touch = pctl_dir_touch,
	.put_fd = pctl_dir_put_fd,
	.batch_commit = pctl_dir_commit,
	.gets = dir_gets,
	.get = dir_get,
	.stat = dir_stat,
	.set_aside = pctl_dir_set_aside,
	.list = pctl_dir_list,
	.list_pins = pctl_dir_list_pins,
	.pin = dir_pin,
	.is_pinned = dir_is_pinned,
	.remove_old = pctl_dir_remove_old,
	.hold = pctl_dir_hold,
	.is_held = pctl_dir_is_held,
	.garbage = pctl_dir_garbage,
};

pctl_status pctl_store_open(const char *path, uint32_t flags, const pctl_call *call,
			    pctl_store **out)
{
	pctl_dir_store *d = calloc(1, sizeof(*d));
	pctl_status status = PCTL_OK;

	*out = NULL;
	if (d == NULL || (d->base.path = strdup(path)) == NULL) {
		free(d);
		return pctl_no_memory(call, "a store");
	}
	d->base.ops = &dir_ops;
	d->base.read_only = (flags & PCTL_STORE_READ_ONLY) != 0;
	d->root_fd = d->blobs_fd = d->writer_fd = -1;
	if (!d->base.read_only)
		status = pctl_file_make_dirs(path, call);
	if (status == PCTL_OK)
		status = check_format(path, d->base.read_only, call);
	if (status == PCTL_OK)
		status = open_dirs(d, call);
	if (status == PCTL_OK)
		status = pctl_small_open(path, d->base.read_only, call, &d->small);
	if (status != PCTL_OK) {
		pctl_store_close(&d->base);
		return status;
	}
	*out = &d->base;
	return PCTL_OK;
}
