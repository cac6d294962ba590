/* Keeping what was compiled within its bound: the host's own kernels at the top of the cache directory and what drivers
 * keep below drivers/. The oldest files go first; a driver that is in use by somebody keeps its own. What there is is looked at only when
 * it may be more than the bound: how much it was the last time, and how many runs could write since, is noted. */
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "foundation/base/vec.h"
#include "runtime/plugin/registry_private.h"

#include "foundation/base/file.h"

#define KERNEL_PREFIX "bafk" /* compiled kernels are named by CIDs */
#define NOTE "compiled"	     /* in the cache's own folder, where no worker may write */
#define NOTE_MAX 128u
/* More than a run's drivers compile: what runs write beyond it is found a few runs later. */
#define RUN_BYTES (UINT64_C(16) << 20)

typedef struct cached_file {
	char *path;
	uint64_t n_bytes;
	struct timespec used;
	int busy; /* of a driver that somebody holds */
} cached_file;

typedef struct cached_files {
	PCTL_VEC(cached_file) all;
	uint64_t n_bytes;
	int busy_driver;
} cached_files;

/* 1 when no process uses the driver whose directory this is. */
static int is_free(const char *dir)
{
	char path[4096];
	int fd, free_now;

	if (snprintf(path, sizeof(path), "%s.lock", dir) >= (int)sizeof(path))
		return 0;
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return 1;
	free_now = flock(fd, LOCK_EX | LOCK_NB) == 0;
	close(fd);
	return free_now;
}

static void add(cached_files *files, const FTSENT *e)
{
	cached_file f = {.path = strdup(e->fts_path),
			 .n_bytes = (uint64_t)e->fts_statp->st_size,
			 .used = e->fts_statp->st_mtim,
			 .busy = files->busy_driver};

	/* What there is no memory for stays until the next time. */
	if (f.path == NULL || !PCTL_VEC_PUSH(&files->all, f))
		free(f.path);
	else
		files->n_bytes += f.n_bytes;
}

/* Levels: 1 the cache's own files, "drivers"; 2 a driver's directory; below that all is the driver's. */
static void look(cached_files *files, FTS *tree, FTSENT *e)
{
	if (e->fts_info == FTS_D && e->fts_level == 1 && strcmp(e->fts_name, "drivers") != 0)
		(void)fts_set(tree, e, FTS_SKIP);
	else if (e->fts_info == FTS_D && e->fts_level == 2)
		files->busy_driver = !is_free(e->fts_accpath);
	if (e->fts_info != FTS_F)
		return;
	if (e->fts_level == 1 ? strncmp(e->fts_name, KERNEL_PREFIX, 4) == 0 : e->fts_level > 3) {
		if (e->fts_level == 1)
			files->busy_driver = 0;
		add(files, e);
	}
}

static int by_age(const void *a, const void *b)
{
	const cached_file *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	if (x->used.tv_nsec != y->used.tv_nsec)
		return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
	return strcmp(x->path, y->path);
}

/* Remove a file below `root`, through folders alone: whoever may write there may put a link in place of one at any time. */
static int remove_below(int root, const char *path)
{
	const char *slash;
	int dir = fcntl(root, F_DUPFD_CLOEXEC, 0), removed;

	while (dir >= 0 && (slash = strchr(path, '/')) != NULL) {
		char *name = strndup(path, (size_t)(slash - path));
		const int next =
			name == NULL
				? -1
				: openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		free(name);
		close(dir);
		dir = next;
		path = slash + 1;
	}
	if (dir < 0)
		return 0;
	removed = unlinkat(dir, path, 0) == 0;
	close(dir);
	return removed;
}

/* Remove the oldest files until the others have no more than `most` bytes; how many they have then. */
static uint64_t remove_oldest(const char *cache, cached_files *files, uint64_t most)
{
	const int root = open(cache, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const size_t n_root = strlen(cache);

	if (files->all.n != 0)
		qsort(files->all.items, files->all.n, sizeof(*files->all.items), by_age);
	for (uint32_t i = 0; i < files->all.n && root >= 0 && files->n_bytes > most; i++) {
		const cached_file *f = &files->all.items[i];

		if (!f->busy &&
		    remove_below(root, f->path + n_root + strspn(f->path + n_root, "/")))
			files->n_bytes -= f->n_bytes;
	}
	if (root >= 0)
		close(root);
	return files->n_bytes;
}

/* Where it was too much an eighth of the bound is made free, so that the next run need not look again. */
static uint64_t look_and_trim(const char *cache, uint64_t most)
{
	char *const roots[] = {(char *)(uintptr_t)cache, NULL};
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	cached_files files = {.n_bytes = 0};
	uint64_t left;
	FTSENT *e;

	while (tree != NULL && (e = fts_read(tree)) != NULL)
		look(&files, tree, e);
	if (tree != NULL)
		fts_close(tree);
	left = files.n_bytes > most ? remove_oldest(cache, &files, most - most / 8) : files.n_bytes;
	for (uint32_t i = 0; i < files.all.n; i++)
		free(files.all.items[i].path);
	free(files.all.items);
	return left;
}

/* bytes: when it was looked at; runs: since; looks: how often it was, for whoever counts. */
typedef struct trim_note {
	uint64_t bytes, runs, looks;
} trim_note;

/* 0: there is none, or it is no note. */
static int read_note(const char *path, trim_note *out)
{
	char *text = NULL;
	uint64_t n;
	int end = 0;

	*out = (trim_note){0};
	if (!pctl_file_exists(path) || pctl_file_read(path, NOTE_MAX, NULL, &text, &n) != PCTL_OK)
		return 0;
	if (sscanf(text, "bytes %" SCNu64 " runs %" SCNu64 " looks %" SCNu64 "%n", &out->bytes,
		   &out->runs, &out->looks, &end) != 3 ||
	    strcmp(text + end, "\n") != 0)
		end = 0;
	free(text);
	return end != 0;
}

int pctl_cache_trim(const char *cache, uint64_t most)
{
	char path[4096], text[NOTE_MAX];
	int is_known, looks;
	uint64_t room;
	trim_note note;

	if (snprintf(path, sizeof(path), "%s/" NOTE, cache) >= (int)sizeof(path))
		return 0;
	is_known = read_note(path, &note);
	room = is_known && note.bytes < most ? most - note.bytes : 0;
	looks = !is_known || note.runs >= room / RUN_BYTES;
	if (looks) {
		note.bytes = look_and_trim(cache, most);
		note.looks++;
	}
	note.runs = looks ? 0 : note.runs + 1;
	snprintf(text, sizeof(text), "bytes %" PRIu64 " runs %" PRIu64 " looks %" PRIu64 "\n",
		 note.bytes, note.runs, note.looks);
	/* Who cannot write it looks again the next time. */
	(void)pctl_file_write(path, text, strlen(text), 0, NULL);
	return looks;
}
