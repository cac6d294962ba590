/* Keeping what was compiled within its bound: the host's own kernels at the top of the cache directory and what drivers
 * keep below drivers/. The oldest files go first; a driver that is in use by somebody keeps its own. */
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "foundation/base/vec.h"
#include "runtime/plugin/registry_private.h"

#define KERNEL_PREFIX "bafk" /* compiled kernels are named by CIDs */

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

void pctl_cache_trim(const char *cache, uint64_t most)
{
	char *const roots[] = {(char *)(uintptr_t)cache, NULL};
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	const int root = open(cache, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const size_t n_root = strlen(cache);
	cached_files files = {.n_bytes = 0};
	FTSENT *e;

	while (tree != NULL && (e = fts_read(tree)) != NULL)
		look(&files, tree, e);
	if (tree != NULL)
		fts_close(tree);
	if (files.all.n != 0 && files.n_bytes > most)
		qsort(files.all.items, files.all.n, sizeof(*files.all.items), by_age);
	for (uint32_t i = 0; i < files.all.n; i++) {
		const cached_file *f = &files.all.items[i];

		if (files.n_bytes > most && !f->busy && root >= 0 &&
		    remove_below(root, f->path + n_root + strspn(f->path + n_root, "/")))
			files.n_bytes -= f->n_bytes;
		free(f->path);
	}
	if (root >= 0)
		close(root);
	free(files.all.items);
}
