/* Emptying the folder of a worker that has put too much into it, once nobody uses it: what a driver keeps there it can make
 * again. No path is followed, and depth costs nothing: what lies in a folder is moved up, not gone down to. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/plugin/registry_private.h"

typedef struct emptying {
	int top;
	uint64_t n_moved;
	int did; /* something, in this pass */
} emptying;

static int is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Whoever made it may have closed it. */
static int open_folder(int at, const char *name)
{
	struct stat st;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode))
		return -1;
	(void)fchmodat(at, name, 0700, 0);
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void move_up(emptying *x, int from, const char *name)
{
	char to[40];

	snprintf(to, sizeof(to), "emptied-%" PRIu64, x->n_moved++);
	(void)fchmodat(from, name, 0700, 0);
	x->did |= renameat(from, name, x->top, to) == 0;
}

static void take_apart(emptying *x, const char *name)
{
	const int fd = open_folder(x->top, name);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		if (is_dots(e->d_name))
			continue;
		if (unlinkat(fd, e->d_name, 0) == 0)
			x->did = 1;
		else
			move_up(x, fd, e->d_name);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	x->did |= unlinkat(x->top, name, AT_REMOVEDIR) == 0;
}

void pctl_worker_folder_empty(const char *path)
{
	emptying x = {.top = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};

	if (x.top < 0)
		return;
	do {
		const int fd = openat(x.top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		DIR *dir = fd < 0 ? NULL : fdopendir(fd);
		struct dirent *e;

		x.did = 0;
		while (dir && (e = readdir(dir))) {
			if (is_dots(e->d_name))
				continue;
			if (unlinkat(x.top, e->d_name, 0) == 0)
				x.did = 1;
			else
				take_apart(&x, e->d_name);
		}
		if (dir)
			closedir(dir);
		else if (fd >= 0)
			close(fd);
	} while (x.did);
	close(x.top);
}
