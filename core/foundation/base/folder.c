/* Implementation of folder.h. */
#include "foundation/base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/base/str.h"

static pctl_status is_there(const char *path, const pctl_call *call)
{
	return pctl_refuse_at(call, PC24_OUTPUT_EXISTS, NULL,
			      "name a directory that is not there yet, or an empty one",
			      "%s is there already; nothing was written", path);
}

static int is_empty(DIR *d)
{
	const struct dirent *e;

	while ((e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			return 0;
	return 1;
}

pctl_status pctl_folder_check(const char *path, const pctl_call *call)
{
	struct stat st;
	DIR *d = opendir(path);
	int empty;

	if (d == NULL)
		return lstat(path, &st) != 0 && errno == ENOENT ? PCTL_OK : is_there(path, call);
	empty = is_empty(d);
	(void)closedir(d);
	return empty ? PCTL_OK : is_there(path, call);
}

/* The place itself: an empty directory by its real name, else without slashes at the end. The caller frees it. */
static char *place_of(const char *path)
{
	char *place = realpath(path, NULL);
	size_t n;

	if (place == NULL && (place = strdup(path)) != NULL)
		for (n = strlen(place); n > 1 && place[n - 1] == '/';)
			place[--n] = '\0';
	return place;
}

static pctl_status make_parent(const char *place, const pctl_call *call)
{
	const char *slash = strrchr(place, '/');
	char *parent =
		slash == NULL || slash == place ? NULL : strndup(place, (size_t)(slash - place));
	pctl_status status = parent == NULL && slash != NULL && slash != place
				     ? pctl_no_memory(call, "a path")
				     : PCTL_OK;

	if (parent != NULL)
		status = pctl_file_make_dirs(parent, call);
	free(parent);
	return status;
}

static pctl_status fill(const char *dir, const pctl_folder_file *files, uint32_t n,
			const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		char *path = pctl_path_join(dir, files[i].name);

		status = path == NULL ? pctl_no_memory(call, "a path")
				      : pctl_file_write(path, files[i].text, strlen(files[i].text),
							1, call);
		free(path);
	}
	return status;
}

static void drop(const char *dir, const pctl_folder_file *files, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		char *path = pctl_path_join(dir, files[i].name);

		if (path != NULL)
			(void)unlink(path);
		free(path);
	}
	(void)rmdir(dir);
}

/* The name on the disk too. That a file system cannot say so takes nothing back. */
static void keep_name(const char *place)
{
	const char *slash = strrchr(place, '/');
	char *parent = slash == NULL ? strdup(".") : strndup(place, (size_t)(slash - place) + 1);
	const int fd = parent == NULL ? -1 : open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		(void)fsync(fd);
		(void)close(fd);
	}
	free(parent);
}

static pctl_status put_in_place(const char *made, const char *place, const pctl_call *call)
{
	if (rename(made, place) == 0) {
		keep_name(place);
		return PCTL_OK;
	}
	if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR)
		return is_there(place, call);
	return pctl_refuse(call, PC3_IO, "%s: %s", place, strerror(errno));
}

pctl_status pctl_folder_write(const char *path, const pctl_folder_file *files, uint32_t n,
			      const pctl_call *call)
{
	pctl_str_buf made = PCTL_STR_BUF_INIT;
	pctl_status status = pctl_folder_check(path, call);
	char *place = NULL;

	if (status != PCTL_OK)
		return status;
	place = place_of(path);
	if (place != NULL)
		pctl_str_addf(&made, "%s.XXXXXX", place);
	if (place == NULL || made.data == NULL || made.failed)
		status = pctl_no_memory(call, "a directory");
	if (status == PCTL_OK)
		status = make_parent(place, call);
	if (status == PCTL_OK && mkdtemp(made.data) == NULL)
		status = pctl_refuse(call, PC3_IO, "%s: %s", place, strerror(errno));
	else if (status == PCTL_OK) {
		status = fill(made.data, files, n, call);
		if (status == PCTL_OK)
			status = put_in_place(made.data, place, call);
		if (status != PCTL_OK)
			drop(made.data, files, n);
	}
	pctl_str_drop(&made);
	free(place);
	return status;
}
