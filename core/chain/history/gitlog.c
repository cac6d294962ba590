/* The log's directory: making and opening it, setting its ref, clearing what dead writers left. */
#include "chain/history/gitlog_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <git2/sys/mempack.h>
#include <git2/sys/repository.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/git/git.h"

#define MARKER "pipectl-gitlog"
#define MARKER_TEXT "pipectl-gitlog 1\n"
#define HEAD_TEXT "ref: " PCTL_GITLOG_REF "\n"
#define MEMORY_FIRST 999

/* For the git program; libgit2 never reads it. A fetch keeps its pack as it came. */
static const char config_text[] = "[core]\n"
				  "\trepositoryformatversion = 0\n"
				  "\tfilemode = true\n"
				  "\tbare = true\n"
				  "\tlogAllRefUpdates = false\n"
				  "[gc]\n"
				  "\tauto = 0\n"
				  "[fetch]\n"
				  "\tunpackLimit = 1\n";

/* ---- reports ------------------------------------------------------------------------------ */

pctl_status pctl_gitlog_io(const pctl_gitlog *log, const pctl_call *call, const char *what,
			   int error)
{
	char reason[128];

	return pctl_refuse(call, PC5751_GITLOG_IO, "cannot %s %s: %s", what, log->dir,
			   strerror_r(error, reason, sizeof(reason)));
}

pctl_status pctl_gitlog_git_io(const pctl_gitlog *log, const pctl_call *call, const char *what)
{
	const git_error *e = git_error_last();

	return pctl_refuse(call, PC5751_GITLOG_IO, "cannot %s %s: %s", what, log->dir,
			   e == NULL ? "libgit2 gives no reason" : e->message);
}

pctl_status pctl_gitlog_unread(const pctl_call *call, const git_oid *commit, const char *kind,
			       const git_oid *oid, int error)
{
	char of[GIT_OID_HEXSZ + 1], hex[GIT_OID_HEXSZ + 1];
	const git_error *e = git_error_last();

	git_oid_tostr(of, sizeof(of), commit);
	git_oid_tostr(hex, sizeof(hex), oid);
	if (error == GIT_ENOTFOUND)
		return pctl_refuse(call, PC5753_GITLOG_MISSING,
				   "commit %s: there is no %s %s in the log", of, kind, hex);
	return pctl_refuse(call, PC5754_GITLOG_DAMAGED, "commit %s: %s %s: %s", of, kind, hex,
			   e == NULL ? "unreadable" : e->message);
}

/* ---- files -------------------------------------------------------------------------------- */

int pctl_gitlog_lock(pctl_gitlog *log, int how)
{
	int result;

	do
		result = flock(log->temp_fd, how);
	while (result != 0 && errno == EINTR);
	return result;
}

pctl_status pctl_gitlog_sync(pctl_gitlog *log, const char *folder, const pctl_call *call)
{
	const int fd = openat(log->root_fd, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pctl_status status = PCTL_OK;

	if (fd < 0 || fsync(fd) != 0)
		status = pctl_gitlog_io(log, call, "sync a directory of", errno);
	if (fd >= 0)
		close(fd);
	return status;
}

static pctl_status write_temp(pctl_gitlog *log, const char *name, const char *text,
			      const pctl_call *call)
{
	const size_t n = strlen(text);
	const int fd = openat(log->temp_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	size_t done = 0;
	int error = fd < 0 ? errno : 0;

	while (error == 0 && done < n) {
		const ssize_t put = write(fd, text + done, n - done);

		if (put < 0 && errno != EINTR)
			error = errno;
		else if (put > 0)
			done += (size_t)put;
	}
	if (error == 0 && fsync(fd) != 0)
		error = errno;
	if (fd >= 0)
		close(fd);
	return error == 0 ? PCTL_OK : pctl_gitlog_io(log, call, "write a file of", error);
}

pctl_status pctl_gitlog_put(pctl_gitlog *log, const char *folder, const char *name,
			    const char *text, const pctl_call *call)
{
	char temp[32], to[128];
	pctl_status status;

	snprintf(temp, sizeof(temp), "f-%ld", (long)getpid());
	snprintf(to, sizeof(to), "%s/%s", folder, name);
	if (pctl_gitlog_lock(log, LOCK_SH) != 0)
		return pctl_gitlog_io(log, call, "lock", errno);
	status = write_temp(log, temp, text, call);
	if (status == PCTL_OK && renameat(log->temp_fd, temp, log->root_fd, to) != 0)
		status = pctl_gitlog_io(log, call, "name a file of", errno);
	if (status != PCTL_OK)
		(void)unlinkat(log->temp_fd, temp, 0);
	(void)pctl_gitlog_lock(log, LOCK_UN);
	return status == PCTL_OK ? pctl_gitlog_sync(log, folder, call) : status;
}

/* n_text bytes of a small file and a NUL; 0 when it is missing or larger. */
static int read_small(const pctl_gitlog *log, const char *path, char *text, size_t n_text)
{
	const int fd = openat(log->root_fd, path, O_RDONLY | O_CLOEXEC);
	ssize_t got = -1;

	if (fd < 0)
		return 0;
	do
		got = read(fd, text, n_text);
	while (got < 0 && errno == EINTR);
	close(fd);
	if (got < 0 || (size_t)got >= n_text)
		return 0;
	text[got] = '\0';
	return 1;
}

static int is(const pctl_gitlog *log, const char *path, const char *want)
{
	char text[128];

	return read_small(log, path, text, sizeof(text)) && strcmp(text, want) == 0;
}

/* ---- making ------------------------------------------------------------------------------- */

/* Nothing here but what a making that was cut short may have left: the marker on its way. */
static int looks_empty(const pctl_gitlog *log)
{
	DIR *dir = opendir(log->dir);
	const struct dirent *e;
	int empty = 1;

	while (dir != NULL && (e = readdir(dir)) != NULL)
		if (e->d_name[0] != '.' && strncmp(e->d_name, MARKER, strlen(MARKER)) != 0)
			empty = 0;
	if (dir != NULL)
		closedir(dir);
	return dir != NULL && empty;
}

/* The marker comes first: from then on the directory is ours, however far the rest has come. */
static pctl_status mark(pctl_gitlog *log, const pctl_call *call)
{
	char path[4096];

	if (is(log, MARKER, MARKER_TEXT))
		return PCTL_OK;
	if (!looks_empty(log))
		return pctl_refuse(call, PC5752_GITLOG_FOREIGN,
				   "%s has contents that are not a log of blocks of version 1",
				   log->dir);
	if ((size_t)snprintf(path, sizeof(path), "%s/" MARKER, log->dir) >= sizeof(path))
		return pctl_gitlog_io(log, call, "make", ENAMETOOLONG);
	return pctl_file_write(path, MARKER_TEXT, strlen(MARKER_TEXT), 1, call) == PCTL_OK
		       ? PCTL_OK
		       : PCTL_E_STORE;
}

static pctl_status make_folders(pctl_gitlog *log, const pctl_call *call)
{
	static const char *const folders[] = {"tmp",  "objects",    "objects/pack", "objects/info",
					      "refs", "refs/heads", "refs/tags"};
	static const char *const parents[] = {"objects", "refs", ".", ".."};
	pctl_status status = PCTL_OK;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (mkdirat(log->root_fd, folders[i], 0755) != 0 && errno != EEXIST)
			return pctl_gitlog_io(log, call, "make a directory of", errno);
	for (size_t i = 0; status == PCTL_OK && i < sizeof(parents) / sizeof(parents[0]); i++)
		status = pctl_gitlog_sync(log, parents[i], call);
	return status;
}

static int has(const pctl_gitlog *log, const char *path)
{
	return faccessat(log->root_fd, path, F_OK, 0) == 0;
}

/* HEAD comes last: where it is, everything before it was made and synced. */
static pctl_status make(pctl_gitlog *log, const pctl_call *call)
{
	const int made = has(log, "HEAD");
	pctl_status status = mark(log, call);

	if (status == PCTL_OK && !made)
		status = make_folders(log, call);
	if (status != PCTL_OK)
		return status;
	log->temp_fd = openat(log->root_fd, "tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (log->temp_fd < 0)
		return pctl_gitlog_io(log, call, "open", errno);
	if (!made && !has(log, "config"))
		status = pctl_gitlog_put(log, ".", "config", config_text, call);
	if (status == PCTL_OK && !made)
		status = pctl_gitlog_put(log, ".", "HEAD", HEAD_TEXT, call);
	return status;
}

/* ---- opening ------------------------------------------------------------------------------ */

/*
 * The database is put together by hand, and the repository around it has no directory and an empty configuration: so no
 * file outside the log and no variable of the environment can matter. Packs first: nothing else is written here.
 */
static pctl_status open_objects(pctl_gitlog *log, const pctl_call *call)
{
	git_odb_backend *packed = NULL, *loose = NULL;
	git_config *config = NULL;
	char path[4096];
	int error = (size_t)snprintf(path, sizeof(path), "%s/objects", log->dir) >= sizeof(path);

	error = error || git_odb_new(&log->odb) || git_odb_backend_pack(&packed, path) ||
		git_odb_add_backend(log->odb, packed, 2);
	error = error || git_odb_backend_loose(&loose, path, -1, 0, 0, 0) ||
		git_odb_add_backend(log->odb, loose, 1);
	error = error || git_mempack_new(&log->fresh) ||
		git_odb_add_backend(log->odb, log->fresh, MEMORY_FIRST);
	error = error || git_repository_wrap_odb(&log->repo, log->odb) || git_config_new(&config) ||
		git_repository_set_config(log->repo, config);
	git_config_free(config);
	return error ? pctl_gitlog_git_io(log, call, "open the objects of") : PCTL_OK;
}

static pctl_status set_up(pctl_gitlog *log, const char *dir, const pctl_call *call)
{
	pctl_status status = pctl_file_make_dirs(dir, call);

	if (status != PCTL_OK)
		return status;
	log->dir = realpath(dir, NULL);
	if (log->dir == NULL)
		return pctl_no_memory(call, "the log of blocks");
	log->root_fd = open(log->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (log->root_fd < 0)
		return pctl_gitlog_io(log, call, "open", errno);
	status = make(log, call);
	return status == PCTL_OK ? open_objects(log, call) : status;
}

pctl_status pctl_gitlog_open(const char *dir, const pctl_call *call, pctl_gitlog **out)
{
	pctl_gitlog *log = calloc(1, sizeof(*log));
	pctl_status status;

	*out = NULL;
	if (log == NULL)
		return pctl_no_memory(call, "the log of blocks");
	log->root_fd = log->temp_fd = -1;
	pctl_git_library();
	status = set_up(log, dir, call);
	if (status == PCTL_OK)
		*out = log;
	else
		pctl_gitlog_close(log);
	return status;
}

void pctl_gitlog_close(pctl_gitlog *log)
{
	if (log == NULL)
		return;
	git_repository_free(log->repo);
	git_odb_free(log->odb);
	if (log->temp_fd >= 0)
		close(log->temp_fd);
	if (log->root_fd >= 0)
		close(log->root_fd);
	free(log->dir);
	free(log);
}

/* ---- the ref ------------------------------------------------------------------------------ */

int pctl_gitlog_tip(pctl_gitlog *log, pctl_gitlog_oid *out)
{
	char text[PCTL_GITLOG_OID_TEXT_SIZE + 1];

	memset(out, 0, sizeof(*out));
	if (!read_small(log, PCTL_GITLOG_REF, text, sizeof(text)))
		return 0;
	text[strcspn(text, "\n")] = '\0';
	return pctl_gitlog_oid_parse(text, out);
}

int pctl_gitlog_floor(const pctl_gitlog *log, pctl_gitlog_oid *out)
{
	char text[PCTL_GITLOG_OID_TEXT_SIZE + 1];

	memset(out, 0, sizeof(*out));
	if (!read_small(log, PCTL_GITLOG_SHALLOW, text, sizeof(text)))
		return 0;
	text[strcspn(text, "\n")] = '\0';
	return pctl_gitlog_oid_parse(text, out);
}

pctl_status pctl_gitlog_set_floor(pctl_gitlog *log, const pctl_gitlog_oid *oid,
				  const pctl_call *call)
{
	char text[PCTL_GITLOG_OID_TEXT_SIZE + 1];

	pctl_gitlog_oid_format(oid, text);
	strcat(text, "\n");
	return pctl_gitlog_put(log, ".", PCTL_GITLOG_SHALLOW, text, call);
}

pctl_status pctl_gitlog_point(pctl_gitlog *log, const pctl_gitlog_oid *oid, const pctl_call *call)
{
	char text[PCTL_GITLOG_OID_TEXT_SIZE + 1];
	pctl_gitlog_commit commit;
	pctl_status status = pctl_gitlog_look(log, oid, call, &commit);

	if (status != PCTL_OK)
		return status;
	pctl_gitlog_oid_format(oid, text);
	strcat(text, "\n");
	if (!is(log, PCTL_GITLOG_REF, text))
		status = pctl_gitlog_put(log, "refs/heads", strrchr(PCTL_GITLOG_REF, '/') + 1, text,
					 call);
	else
		status = pctl_gitlog_sync(log, "refs/heads", call);
	if (status == PCTL_OK && !is(log, "HEAD", HEAD_TEXT))
		status = pctl_gitlog_put(log, ".", "HEAD", HEAD_TEXT, call);
	return status;
}

/* ---- repair ------------------------------------------------------------------------------- */

void pctl_gitlog_clear(int parent_fd, const char *name)
{
	const int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	while (dir != NULL && (e = readdir(dir)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			(void)unlinkat(fd, e->d_name, 0);
	if (dir != NULL)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	(void)unlinkat(parent_fd, name, AT_REMOVEDIR);
}

/* A writer that lives holds the lock: then what lies in tmp/ is its own, and is left. */
static void clear_temp(pctl_gitlog *log)
{
	const int fd = openat(log->root_fd, "tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (dir == NULL && fd >= 0)
		close(fd);
	if (dir == NULL)
		return;
	if (pctl_gitlog_lock(log, LOCK_EX | LOCK_NB) == 0) {
		while ((e = readdir(dir)) != NULL)
			if (e->d_name[0] != '.' && unlinkat(log->temp_fd, e->d_name, 0) != 0)
				pctl_gitlog_clear(log->temp_fd, e->d_name);
		(void)pctl_gitlog_lock(log, LOCK_UN);
	}
	closedir(dir);
}

pctl_status pctl_gitlog_repair(pctl_gitlog *log, const pctl_gitlog_oid *oid, const pctl_call *call)
{
	clear_temp(log);
	return oid == NULL ? PCTL_OK : pctl_gitlog_point(log, oid, call);
}
