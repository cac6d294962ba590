/* A virtual file system: where texts come from that name other texts (includes, shaders). NULL stands for the file system. With a virtual file system of
 * its own a caller reads a pipeline from a git revision, or keeps what was read. */
#ifndef PIPECTL_FOUNDATION_BASE_VFS_H
#define PIPECTL_FOUNDATION_BASE_VFS_H

#include "foundation/base/file.h"

/*
 * beside  the name of `path` as seen from the text `from`; released with free(), NULL: no memory. A path that leads out
 *         of the file system gets a name that does not exist
 * exists  1 when there is something to read by this name; reading may still be refused
 * read    as pctl_file_read
 * data    where data files come from that a text names; NULL: files
 */
typedef struct pctl_vfs pctl_vfs;
struct pctl_vfs {
	void *ctx;
	char *(*resolve)(void *ctx, const char *from, const char *path);
	int (*exists)(void *ctx, const char *name);
	pctl_status (*read)(void *ctx, const char *name, uint64_t limit, const pctl_call *call,
			    char **out, uint64_t *n_out);
	const pctl_vfs *data;
};

char *pctl_vfs_resolve(const pctl_vfs *v, const char *from, const char *path);
int pctl_vfs_exists(const pctl_vfs *v, const char *name);
pctl_status pctl_vfs_read(const pctl_vfs *v, const char *name, uint64_t limit,
			  const pctl_call *call, char **out, uint64_t *n_out);

/* "." and ".." taken out and doubled slashes too; ".." at the beginning stay. "" for nothing left. Released with free();
 * NULL: no memory. */
char *pctl_path_plain(const char *path);

#endif
