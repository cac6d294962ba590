/* Whole files and paths. */
#include "foundation/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/base/num.h"
#include "foundation/base/output.h"

static pctl_status io_error(const pctl_call *call, const char *what, const char *path, int error)
{
	char reason[128];

	return pctl_refuse(call, PC3_IO, "cannot %s %s: %s", what, path,
			   strerror_r(error, reason, sizeof(reason)));
}

static pctl_status read_all(int fd, const char *path, uint64_t limit, uint64_t expect,
			    const pctl_call *call, char **out, uint64_t *n_out)
{
	uint64_t cap = expect < limit ? expect + 1 : limit + 1, n = 0;
	char *data = malloc(cap + 1), *grown;

	if (data == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory to read %s", path);
	for (;;) {
		ssize_t got = read(fd, data + n, cap - n);

		if (got < 0 && errno == EINTR && !pctl_is_cancelled(call))
			continue;
		if (got < 0 && errno == EINTR) {
			free(data);
			return pctl_refuse(call, PC4_CANCELLED, "cancelled while reading %s", path);
		}
		if (got < 0) {
			int error = errno;

			free(data);
			return io_error(call, "read", path, error);
		}
		if (got == 0)
			break;
		n += (uint64_t)got;
		if (n > limit) {
			free(data);
			return pctl_refuse(call, PC3_IO,
					   "cannot read %s: larger than the limit of %llu bytes",
					   path, (unsigned long long)limit);
		}
		if (n < cap)
			continue;
		cap = cap > limit / 2 ? limit + 1 : cap * 2;
		grown = realloc(data, cap + 1);
		if (grown == NULL) {
			free(data);
			return pctl_refuse(call, PC2_NOMEM, "no memory to read %s", path);
		}
		data = grown;
	}
	data[n] = '\0';
	*out = data;
	*n_out = n;
	return PCTL_OK;
}

pctl_status pctl_file_read(const char *path, uint64_t limit, const pctl_call *call, char **out,
			   uint64_t *n_out)
{
	struct stat st;
	pctl_status status;
	int fd;

	*out = NULL;
	*n_out = 0;
	if (limit > UINT64_MAX / 4)
		limit = UINT64_MAX / 4;
	if (strcmp(path, "-") == 0)
		return read_all(STDIN_FILENO, "standard input", limit, 65536, call, out, n_out);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return io_error(call, "open", path, errno);
	if (fstat(fd, &st) != 0)
		status = io_error(call, "read", path, errno);
	else if (S_ISDIR(st.st_mode))
		status = io_error(call, "read", path, EISDIR);
	else
		status = read_all(fd, path, limit, (uint64_t)st.st_size + 1, call, out, n_out);
	close(fd);
	return status;
}

pctl_status pctl_file_read_fd(int fd, const char *name, uint64_t limit, const pctl_call *call,
			      char **out, uint64_t *n_out)
{
	*out = NULL;
	*n_out = 0;
	return read_all(fd, name, limit, 65536, call, out, n_out);
}

pctl_status pctl_file_write(const char *path, const void *data, uint64_t n, int durable,
			    const pctl_call *call)
{
	pctl_output *o = NULL;
	pctl_status status = pctl_output_open(path, durable, call, &o);

	if (status == PCTL_OK)
		status = pctl_output_put(o, data, n, call);
	if (status == PCTL_OK)
		return pctl_output_commit(o, call);
	pctl_output_discard(o);
	return status;
}

pctl_status pctl_file_make_dirs(const char *path, const pctl_call *call)
{
	char *copy = strdup(path);
	pctl_status status = PCTL_OK;

	if (copy == NULL)
		return pctl_no_memory(call, "a path");
	for (char *s = copy[0] == '\0' ? copy : copy + 1; status == PCTL_OK; s++) {
		char kept = *s;

		if (kept != '/' && kept != '\0')
			continue;
		*s = '\0';
		if (mkdir(copy, 0700) != 0 && errno != EEXIST)
			status = io_error(call, "make directory", copy, errno);
		*s = kept;
		if (kept == '\0')
			break;
	}
	if (status == PCTL_OK && !pctl_dir_exists(path))
		status = io_error(call, "make directory", path, ENOTDIR);
	free(copy);
	return status;
}

char *pctl_path_join(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	int slash = na > 0 && a[na - 1] != '/';
	char *out = malloc(na + nb + 2);

	if (out == NULL)
		return NULL;
	memcpy(out, a, na);
	if (slash)
		out[na] = '/';
	memcpy(out + na + (size_t)slash, b, nb + 1);
	return out;
}

int pctl_file_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

int pctl_dir_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}
