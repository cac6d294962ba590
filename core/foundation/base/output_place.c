/* Finding what a path for an output leads to: links are followed by hand, because one that leads nowhere has its
 * target made, and because /dev/stdout of a redirected program leads to a file that must not be replaced. */
#include "foundation/base/output_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foundation/base/output.h"

#define LINKS_MAX 40

pctl_status pctl_place_refuse(const pctl_output_place *p, int error, const pctl_call *call)
{
	char reason[128];

	if (error == ENOENT || error == ENOTDIR)
		return pctl_refuse_at(call, PC21_OUTPUT_PLACE, NULL, "make the directory first",
				      "cannot write %s: there is no directory %s", p->name, p->dir);
	return pctl_refuse_at(call, PC21_OUTPUT_PLACE, NULL, NULL, "cannot write %s: %s", p->name,
			      strerror_r(error, reason, sizeof(reason)));
}

/* The number behind one of the names of this process's own descriptors, else -1. */
static int descriptor(const char *path)
{
	static const char *const names[] = {"/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"};
	const char *digits = NULL;
	char own[40];
	size_t n;

	if (strcmp(path, "-") == 0)
		return STDOUT_FILENO;
	snprintf(own, sizeof(own), "/proc/%ld/fd/", (long)getpid());
	if (strncmp(path, own, strlen(own)) == 0)
		digits = path + strlen(own);
	for (size_t i = 0; digits == NULL && i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(path, names[i], strlen(names[i])) == 0)
			digits = path + strlen(names[i]);
	if (digits == NULL)
		return -1;
	n = strspn(digits, "0123456789");
	return n == 0 || n > 5 || digits[n] != '\0' ? -1 : atoi(digits);
}

/* Descriptors that the caller handed over; those that this program opened for itself are closed on exec. */
static pctl_status use_descriptor(int fd, const pctl_call *call, pctl_output_place *out)
{
	const int flags = fcntl(fd, F_GETFL), own = fcntl(fd, F_GETFD);

	out->way = PCTL_PLACE_THROUGH;
	out->fd = fd;
	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || own < 0 ||
	    (fd > STDERR_FILENO && (own & FD_CLOEXEC) != 0))
		return pctl_refuse(call, PC21_OUTPUT_PLACE,
				   "cannot write %s: no descriptor %d was given that can be "
				   "written",
				   out->name, fd);
	return PCTL_OK;
}

static pctl_status set_path(pctl_output_place *p, char *path, const pctl_call *call)
{
	const char *slash = strrchr(path, '/');

	free(p->path);
	free(p->dir);
	p->path = path;
	p->dir = slash == NULL	 ? strdup(".")
		 : slash == path ? strdup("/")
				 : strndup(path, (size_t)(slash - path));
	return p->dir == NULL ? pctl_refuse(call, PC2_NOMEM, "no memory to write %s", p->name)
			      : PCTL_OK;
}

/* One link further. */
static pctl_status follow(pctl_output_place *p, const pctl_call *call)
{
	char target[PATH_MAX], *next;
	const ssize_t n = readlink(p->path, target, sizeof(target) - 1);
	size_t size;

	if (n < 0)
		return pctl_place_refuse(p, errno, call);
	target[n] = '\0';
	size = strlen(p->dir) + (size_t)n + 2;
	next = malloc(size);
	if (next == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory to write %s", p->name);
	if (target[0] == '/')
		memcpy(next, target, (size_t)n + 1);
	else
		snprintf(next, size, "%s/%s", p->dir, target);
	return set_path(p, next, call);
}

/* What stands at the end of the links. */
static pctl_status judge(pctl_output_place *p, const pctl_call *call)
{
	if (S_ISDIR(p->old.st_mode))
		return pctl_refuse_at(call, PC20_OUTPUT_DIRECTORY, NULL, "name a file in it",
				      "cannot write %s: it is a directory", p->name);
	if (S_ISSOCK(p->old.st_mode))
		return pctl_refuse(call, PC21_OUTPUT_PLACE, "cannot write %s: it is a socket",
				   p->name);
	p->exists = S_ISREG(p->old.st_mode);
	if (!p->exists)
		p->way = PCTL_PLACE_THROUGH;
	if (faccessat(AT_FDCWD, p->path, W_OK, AT_EACCESS) != 0)
		return pctl_place_refuse(p, errno, call);
	return PCTL_OK;
}

pctl_status pctl_place_find(const char *path, const pctl_call *call, pctl_output_place *out)
{
	struct stat here;
	pctl_status status;
	char *copy = strdup(path);

	memset(out, 0, sizeof(*out));
	out->name = strcmp(path, "-") == 0 ? "standard output" : path;
	out->fd = -1;
	if (copy == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory to write %s", path);
	status = set_path(out, copy, call);
	for (int i = 0; status == PCTL_OK; i++) {
		const int fd = descriptor(out->path);

		if (fd >= 0)
			return use_descriptor(fd, call, out);
		/* Links below /proc lead to pipes and to files without a name; the kernel follows them. */
		if (stat(out->path, &out->old) == 0 && !S_ISREG(out->old.st_mode))
			return judge(out, call);
		if (lstat(out->path, &here) != 0 && errno != ENOENT)
			return pctl_place_refuse(out, errno, call);
		if (i == LINKS_MAX)
			return pctl_place_refuse(out, ELOOP, call);
		if (lstat(out->path, &here) != 0)
			break;
		if (!S_ISLNK(here.st_mode)) {
			out->old = here;
			return judge(out, call);
		}
		status = follow(out, call);
	}
	if (status == PCTL_OK && path[0] == '\0')
		return pctl_refuse(call, PC21_OUTPUT_PLACE, "an output needs the name of a file");
	if (status == PCTL_OK && out->path[strlen(out->path) - 1] == '/')
		return pctl_refuse_at(call, PC20_OUTPUT_DIRECTORY, NULL, "name a file in it",
				      "cannot write %s: it names a directory", path);
	return status;
}

void pctl_place_clear(pctl_output_place *p)
{
	free(p->path);
	free(p->dir);
	p->path = p->dir = NULL;
}

pctl_status pctl_output_check(const char *path, const pctl_call *call)
{
	pctl_output_place p;
	struct stat dir;
	pctl_status status = pctl_place_find(path, call, &p);

	if (status == PCTL_OK && p.way == PCTL_PLACE_REPLACE && !p.exists) {
		if (stat(p.dir, &dir) != 0)
			status = pctl_place_refuse(&p, errno, call);
		else if (!S_ISDIR(dir.st_mode))
			status = pctl_place_refuse(&p, ENOTDIR, call);
		else if (faccessat(AT_FDCWD, p.dir, W_OK | X_OK, AT_EACCESS) != 0)
			status = pctl_place_refuse(&p, errno, call);
	}
	pctl_place_clear(&p);
	return status;
}
