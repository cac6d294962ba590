/* Virtual file systems; see vfs.h. What NULL stands for, and plain paths. */
#include "foundation/base/vfs.h"

#include <stdlib.h>
#include <string.h>

char *pctl_vfs_resolve(const pctl_vfs *v, const char *from, const char *path)
{
	const char *slash = strrchr(from, '/');
	char *dir, *out;

	if (v != NULL)
		return v->resolve(v->ctx, from, path);
	if (path[0] == '/' || slash == NULL)
		return strdup(path);
	dir = strndup(from, (size_t)(slash - from) + 1);
	out = dir != NULL ? pctl_path_join(dir, path) : NULL;
	free(dir);
	return out;
}

int pctl_vfs_exists(const pctl_vfs *v, const char *name)
{
	return v != NULL ? v->exists(v->ctx, name) : pctl_file_exists(name);
}

pctl_status pctl_vfs_read(const pctl_vfs *v, const char *name, uint64_t limit,
			  const pctl_call *call, char **out, uint64_t *n_out)
{
	return v != NULL ? v->read(v->ctx, name, limit, call, out, n_out)
			 : pctl_file_read(name, limit, call, out, n_out);
}

/* Length without the last part and the slash before it; `root` bytes at the front stay. */
static size_t parent(const char *path, size_t n, size_t root)
{
	while (n > root && path[n - 1] != '/')
		n--;
	return n > root ? n - 1 : n;
}

static int ends_with_up(const char *path, size_t n, size_t root)
{
	return n >= root + 2 && path[n - 1] == '.' && path[n - 2] == '.' &&
	       (n == root + 2 || path[n - 3] == '/');
}

char *pctl_path_plain(const char *path)
{
	const size_t root = path[0] == '/';
	char *out = malloc(strlen(path) + 1);
	size_t n = root;

	if (out == NULL)
		return NULL;
	memcpy(out, path, root);
	for (const char *p = path; *p != '\0';) {
		const size_t part = strcspn(p, "/");
		const int up = part == 2 && p[0] == '.' && p[1] == '.';

		if (up && n > root && !ends_with_up(out, n, root)) {
			n = parent(out, n, root);
		} else if (part != 0 && !(part == 1 && p[0] == '.') && !(up && root)) {
			if (n > root)
				out[n++] = '/';
			memmove(out + n, p, part);
			n += part;
		}
		p += part;
		p += *p == '/';
	}
	out[n] = '\0';
	return out;
}
