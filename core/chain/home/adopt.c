/* Putting a chain in the place of another; see adopt.h. */
#include "chain/home/adopt.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/diag/diag.h"

#define PATH_SIZE 4096u
#define MARK PCTL_HOME_INCOMING "/whole" /* where it is, the incoming chain is the one */

static pctl_status path_of(const char *dir, const char *name, const pctl_call *call,
			   char out[PATH_SIZE])
{
	return (size_t)snprintf(out, PATH_SIZE, "%s/%s", dir, name) < PATH_SIZE
		       ? PCTL_OK
		       : pctl_refuse(call, PC3_IO, "%s: the path is too long", dir);
}

pctl_status pctl_home_remove(const char *dir, const pctl_call *call)
{
	char *roots[2] = {strdup(dir), NULL};
	FTS *tree = roots[0] == NULL ? NULL
				     : fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	pctl_status status = tree == NULL ? pctl_no_memory(call, "a folder") : PCTL_OK;
	FTSENT *e;

	while (tree != NULL && (e = fts_read(tree)) != NULL) {
		int bad = 0;

		if (e->fts_info == FTS_DP)
			bad = rmdir(e->fts_accpath);
		else if (e->fts_info != FTS_D)
			bad = unlink(e->fts_accpath);
		if (bad != 0 && errno != ENOENT && status == PCTL_OK)
			status = pctl_refuse(call, PC3_IO, "%s: %s", e->fts_path, strerror(errno));
	}
	if (tree != NULL)
		fts_close(tree);
	free(roots[0]);
	return status;
}

static pctl_status sync_dir(const char *dir, const pctl_call *call)
{
	const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const int bad = fd < 0 || fsync(fd) != 0;

	if (fd >= 0)
		close(fd);
	return bad ? pctl_refuse(call, PC3_IO, "%s: %s", dir, strerror(errno)) : PCTL_OK;
}

/* What of the old chain would be taken for a part of the new one goes first; a move that is done is not done again. */
static pctl_status move(const char *dir, const char *name, const char *const *beside,
			const pctl_call *call)
{
	char from[PATH_SIZE], to[PATH_SIZE], old[PATH_SIZE], inner[64];
	struct stat st;
	pctl_status status;

	snprintf(inner, sizeof(inner), PCTL_HOME_INCOMING "/%s", name);
	status = path_of(dir, inner, call, from);
	if (status == PCTL_OK)
		status = path_of(dir, name, call, to);
	if (status != PCTL_OK || lstat(from, &st) != 0)
		return status;
	for (; status == PCTL_OK && *beside != NULL; beside++) {
		status = path_of(dir, *beside, call, old);
		if (status == PCTL_OK)
			status = pctl_home_remove(old, call);
	}
	if (status == PCTL_OK && rename(from, to) != 0)
		status = pctl_refuse(call, PC3_IO, "%s: %s", to, strerror(errno));
	return status == PCTL_OK ? sync_dir(dir, call) : status;
}

static pctl_status settle(const char *dir, const pctl_call *call)
{
	static const char *const of_state[] = {"state.sqlite-wal", "state.sqlite-shm", NULL};
	static const char *const of_log[] = {"blocks.git", NULL};
	char incoming[PATH_SIZE], mark[PATH_SIZE];
	pctl_status status = path_of(dir, PCTL_HOME_INCOMING, call, incoming);

	if (status == PCTL_OK)
		status = path_of(dir, MARK, call, mark);
	if (status == PCTL_OK)
		status = move(dir, "blocks.git", of_log, call);
	if (status == PCTL_OK)
		status = move(dir, "state.sqlite", of_state, call);
	if (status == PCTL_OK && unlink(mark) != 0 && errno != ENOENT)
		status = pctl_refuse(call, PC3_IO, "%s: %s", mark, strerror(errno));
	return status == PCTL_OK ? pctl_home_remove(incoming, call) : status;
}

pctl_status pctl_home_settle(const char *dir, const pctl_call *call)
{
	char mark[PATH_SIZE];
	struct stat st;
	pctl_status status = path_of(dir, MARK, call, mark);
	int fd;

	if (status != PCTL_OK)
		return status;
	fd = open(mark, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return PCTL_OK;
	/* Whoever opens the home meanwhile waits; when the mark is gone then, it was done. */
	while (status == PCTL_OK && flock(fd, LOCK_EX) != 0)
		if (errno != EINTR)
			status = pctl_refuse(call, PC3_IO, "%s: %s", mark, strerror(errno));
	if (status == PCTL_OK && fstat(fd, &st) == 0 && st.st_nlink != 0)
		status = settle(dir, call);
	close(fd);
	return status;
}

pctl_status pctl_home_adopt(const char *dir, const pctl_call *call)
{
	char mark[PATH_SIZE];
	pctl_status status = path_of(dir, MARK, call, mark);

	if (status == PCTL_OK)
		status = pctl_file_write(mark, "whole\n", 6, 1, call);
	return status == PCTL_OK ? pctl_home_settle(dir, call) : status;
}
