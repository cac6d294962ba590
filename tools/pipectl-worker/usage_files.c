/* What a worker has written: its own folder with all that lies in it, and files that no name leads to any more, which last as
 * long as somebody has them open. The kernel bounds one file (RLIMIT_FSIZE), and nobody bounds them together. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "foundation/base/clock.h"
#include "worker.h"

#define DEEPEST 64u	 /* folders in folders */
#define SHARE 50u	 /* a walk takes at most this part of the time of one processor */
#define BLOCK_BYTES 512u /* st_blocks counts these */

/* A sparse file counts whole: whoever copies it fills it. */
static uint64_t size_of(const struct stat *st)
{
	const uint64_t kept = (uint64_t)st->st_blocks * BLOCK_BYTES;

	return S_ISREG(st->st_mode) && (uint64_t)st->st_size > kept ? (uint64_t)st->st_size : kept;
}

/* ---- the folder --------------------------------------------------------------------------- */

static int is_over(const worker_written *w, const pctl_worker_limits *limits)
{
	if (limits->folder_files && w->n > limits->folder_files)
		return PCTL_WORKER_OVER_FOLDER_FILES;
	return limits->folder && w->bytes > limits->folder ? PCTL_WORKER_OVER_FOLDER : 0;
}

/* What has gone in between is gone; what cannot be looked into might hold anything. */
static int is_gone(void)
{
	return errno == ENOENT || errno == ELOOP || errno == ENOTDIR;
}

/* Takes `fd`. The exit status of the limit that is broken, 0: none. */
static int walk(worker_written *w, const pctl_worker_limits *limits, int fd, uint32_t depth)
{
	DIR *dir = fdopendir(fd);
	struct dirent *e;
	int over = 0;

	if (!dir) {
		close(fd);
		return PCTL_WORKER_OVER_FOLDER_HIDDEN;
	}
	while (!over && (e = readdir(dir))) {
		struct stat st;
		int next;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
			over = is_gone() ? 0 : PCTL_WORKER_OVER_FOLDER_HIDDEN;
			continue;
		}
		w->n++;
		w->bytes += size_of(&st);
		over = is_over(w, limits);
		if (over || !S_ISDIR(st.st_mode))
			continue;
		next = depth == DEEPEST ? -1
					: openat(fd, e->d_name,
						 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next >= 0)
			over = walk(w, limits, next, depth + 1);
		else if (depth == DEEPEST || !is_gone())
			over = PCTL_WORKER_OVER_FOLDER_HIDDEN;
	}
	closedir(dir);
	return over;
}

void worker_written_begin(worker_written *w, const worker_args *a)
{
	struct stat st;

	memset(w, 0, sizeof(*w));
	w->folder = a->writable ? open(a->writable, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (w->folder >= 0 && fstat(w->folder, &st) == 0)
		w->device = (uint64_t)st.st_dev;
}

int worker_written_over(worker_written *w, const pctl_worker_limits *limits)
{
	const uint64_t now = pctl_clock_ns();
	int fd, over;

	if (w->folder < 0 || now < w->next_ns || (!limits->folder && !limits->folder_files))
		return 0;
	fd = openat(w->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	w->bytes = w->nameless_bytes;
	w->n = 0;
	over = fd < 0 ? PCTL_WORKER_OVER_FOLDER_HIDDEN : walk(w, limits, fd, 0);
	if (!over)
		over = is_over(w, limits);
	w->next_ns = pctl_clock_ns();
	w->next_ns += (w->next_ns - now) * SHARE;
	return over;
}

/* ---- files without a name ----------------------------------------------------------------- */

void worker_nameless_begin(worker_written *w)
{
	w->nameless_bytes = w->memory = 0;
	w->n_seen = 0;
}

/* Descriptors share files, within a process and among several; those beyond what is kept count each time. */
static int is_seen(worker_written *w, const struct stat *st)
{
	for (uint32_t i = 0; i < w->n_seen; i++)
		if (w->seen[i].file == (uint64_t)st->st_ino &&
		    w->seen[i].device == (uint64_t)st->st_dev)
			return 1;
	if (w->n_seen < WORKER_NAMELESS_MAX) {
		w->seen[w->n_seen].file = (uint64_t)st->st_ino;
		w->seen[w->n_seen++].device = (uint64_t)st->st_dev;
	}
	return 0;
}

void worker_nameless_add(worker_written *w, const char *pid)
{
	char path[64];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		struct statfs fs;
		struct stat st;

		if (e->d_name[0] == '.' || fstatat(dirfd(dir), e->d_name, &st, 0) < 0 ||
		    !S_ISREG(st.st_mode) || st.st_nlink != 0 || is_seen(w, &st))
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/fd/%.20s", pid, e->d_name);
		if (w->folder >= 0 && (uint64_t)st.st_dev == w->device)
			w->nameless_bytes += size_of(&st);
		else if (statfs(path, &fs) == 0 && fs.f_type == TMPFS_MAGIC)
			w->memory += (uint64_t)st.st_blocks * BLOCK_BYTES;
	}
	if (dir)
		closedir(dir);
}
