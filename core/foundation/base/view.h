/* A view: where texts come from that name other texts (includes, shaders). NULL stands for the file system. With a view of
 * its own a caller reads a pipeline from a git revision, or keeps what was read. */
#ifndef PIPECTL_FOUNDATION_BASE_VIEW_H
#define PIPECTL_FOUNDATION_BASE_VIEW_H

#include "foundation/base/file.h"

/*
 * beside  the name of `path` as seen from the text `from`; released with free(), NULL: no memory. A path that leads out
 *         of the view gets a name that does not exist
 * exists  1 when there is something to read by this name; reading may still be refused
 * read    as pctl_file_read
 * data    where data files come from that a text names; NULL: files
 */
typedef struct pctl_view pctl_view;
struct pctl_view {
	void *ctx;
	char *(*beside)(void *ctx, const char *from, const char *path);
	int (*exists)(void *ctx, const char *name);
	pctl_status (*read)(void *ctx, const char *name, uint64_t limit, const pctl_call *call,
			    char **out, uint64_t *n_out);
	const pctl_view *data;
};

char *pctl_view_beside(const pctl_view *v, const char *from, const char *path);
int pctl_view_exists(const pctl_view *v, const char *name);
pctl_status pctl_view_read(const pctl_view *v, const char *name, uint64_t limit,
			   const pctl_call *call, char **out, uint64_t *n_out);

/* "." and ".." taken out and doubled slashes too; ".." at the beginning stay. "" for nothing left. Released with free();
 * NULL: no memory. */
char *pctl_path_plain(const char *path);

#endif
