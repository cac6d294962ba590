/* Putting bytes under a name that somebody gave; see output.h for what happens to what is there. What a path leads to
 * is found in output_place.c. */
#include "foundation/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "foundation/base/output_place.h"

#define PIECE_BYTES (8u << 20) /* written before somebody is asked whether to go on */
#define BUFFER_BYTES 65536u
#define LARGEST_ACL 4096u
#define TEMP_TRIES 16
#define WAIT_MS 100	 /* for room in a pipe, before somebody is asked whether to go on */
#define LONGEST_BASE 200 /* names have at most 255 bytes */

struct pctl_output {
	pctl_output_place place;
	char *temp; /* of replace; NULL once it is renamed or unlinked */
	int fd;	    /* where bytes go: the temporary file, or the thing itself */
	int durable;
	uint64_t n_bytes;
	size_t n_buffer;
	char buffer[BUFFER_BYTES];
};

static pctl_status lost(const pctl_output *o, int error, const pctl_call *call)
{
	char reason[128];

	return pctl_refuse(call, PC23_OUTPUT_LOST, "cannot write %s: %s%s", o->place.name,
			   strerror_r(error, reason, sizeof(reason)),
			   o->place.way != PCTL_PLACE_THROUGH ? "; it is as it was" : "");
}

static pctl_status write_fd(const pctl_output *o, int fd, const char *data, uint64_t n,
			    const pctl_call *call)
{
	while (n > 0) {
		const ssize_t put = write(fd, data, n < PIECE_BYTES ? n : PIECE_BYTES);

		if (put < 0 && errno == EINTR && pctl_is_cancelled(call))
			return pctl_refuse(call, PC4_CANCELLED, "cancelled while writing %s",
					   o->place.name);
		if (put < 0 && errno == EINTR)
			continue;
		/* Somebody may have set the pipe so that it does not wait; then we do. */
		if (put < 0 && errno == EAGAIN) {
			if (pctl_is_cancelled(call))
				return pctl_refuse(call, PC4_CANCELLED,
						   "cancelled while writing %s", o->place.name);
			(void)poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, WAIT_MS);
			continue;
		}
		if (put < 0)
			return errno == EPIPE && o->place.fd == STDOUT_FILENO
				       ? PCTL_OK
				       : lost(o, errno, call);
		data += put;
		n -= (uint64_t)put;
		if (n > 0 && pctl_is_cancelled(call))
			return pctl_refuse(call, PC4_CANCELLED, "cancelled while writing %s",
					   o->place.name);
	}
	return PCTL_OK;
}

/* ---- the temporary file ------------------------------------------------------------------------- */

/* Named after the file, so that who finds what a crash left knows what it was. A new one gets its mode from the umask;
 * one that replaces a file shows its bytes to nobody before it has that mode. */
static int make_temp(pctl_output *o, const char *dir)
{
	const char *slash = strrchr(o->place.path, '/');
	const char *base = slash == NULL ? o->place.path : slash + 1;
	const size_t size = strlen(dir) + LONGEST_BASE + sizeof("/.0123456789abcdef.tmp");
	const mode_t mode = o->place.exists ? 0600 : 0666;

	o->temp = malloc(size);
	if (o->temp == NULL)
		return ENOMEM;
	for (int i = 0; i < TEMP_TRIES; i++) {
		unsigned long long number;

		if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
			break;
		snprintf(o->temp, size, "%s/%.*s.%016llx.tmp", dir, LONGEST_BASE, base, number);
		o->fd = open(o->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (o->fd >= 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	free(o->temp);
	o->temp = NULL;
	return errno;
}

static void drop_temp(pctl_output *o)
{
	if (o->temp != NULL)
		(void)unlink(o->temp);
	free(o->temp);
	o->temp = NULL;
}

/* An ACL widens what the mode says, so a file without the old one's is another file. 0 when there is none, too. */
static int keep_acl(const pctl_output *o)
{
	static const char name[] = "system.posix_acl_access";
	char acl[LARGEST_ACL];
	const ssize_t n = getxattr(o->place.path, name, acl, sizeof(acl));

	if (n < 0)
		return errno == ENODATA || errno == ENOTSUP || errno == ENOSYS ? 0 : -1;
	return fsetxattr(o->fd, name, acl, (size_t)n, 0);
}

/* 1 when the temporary file is to the system what the old one is. */
static int keep_owner(const pctl_output *o)
{
	const struct stat *old = &o->place.old;
	struct stat now;

	if (!o->place.exists)
		return 1;
	if (fstat(o->fd, &now) != 0)
		return 0;
	if ((now.st_uid != old->st_uid || now.st_gid != old->st_gid) &&
	    fchown(o->fd, now.st_uid != old->st_uid ? old->st_uid : (uid_t)-1, old->st_gid) != 0)
		return 0;
	return fchmod(o->fd, old->st_mode & 07777) == 0 && keep_acl(o) == 0;
}

/* ---- into the file that is there ---------------------------------------------------------------- */

static void say_in_place(const pctl_output *o, const char *why, const pctl_call *call)
{
	pctl_warn_at(call, PC22_OUTPUT_IN_PLACE, NULL, NULL,
		     "%s was written in place, since %s: whoever read it meanwhile may have seen "
		     "half of it",
		     o->place.name, why);
}

static pctl_status copy(const pctl_output *o, int to, const pctl_call *call)
{
	char *data = malloc(BUFFER_BYTES);
	pctl_status status =
		data == NULL ? pctl_refuse(call, PC2_NOMEM, "no memory to write %s", o->place.name)
			     : PCTL_OK;
	uint64_t at = 0;

	while (status == PCTL_OK && at < o->n_bytes) {
		const ssize_t n = pread(o->fd, data, BUFFER_BYTES, (off_t)at);

		if (n > 0)
			status = write_fd(o, to, data, (uint64_t)n, call);
		else if (n == 0 || errno != EINTR)
			status = lost(o, n == 0 ? EIO : errno, call);
		at += n > 0 ? (uint64_t)n : 0;
	}
	free(data);
	return status;
}

/* The bytes stand in o->fd, whole. Room is made before the first old byte goes. */
static pctl_status write_in_place(pctl_output *o, const char *why, const pctl_call *call)
{
	const int to = open(o->place.path, O_WRONLY | O_CLOEXEC);
	pctl_status status = PCTL_OK;
	int error;

	if (to < 0)
		return lost(o, errno, call);
	error = o->n_bytes == 0 ? 0 : posix_fallocate(to, 0, (off_t)o->n_bytes);
	if (error != 0 && error != EOPNOTSUPP && error != EINVAL) {
		(void)!ftruncate(to, o->place.old.st_size);
		status = lost(o, error, call);
	}
	if (status == PCTL_OK) {
		o->place.way = PCTL_PLACE_THROUGH;
		status = copy(o, to, call);
	}
	if (status == PCTL_OK && (ftruncate(to, (off_t)o->n_bytes) != 0 || fsync(to) != 0))
		status = lost(o, errno, call);
	if (close(to) != 0 && status == PCTL_OK)
		status = lost(o, errno, call);
	if (status == PCTL_OK)
		say_in_place(o, why, call);
	return status;
}

/* The directory takes no file, but the file takes bytes: they are collected elsewhere first. */
static int make_staging(pctl_output *o)
{
	const char *dir = getenv("TMPDIR");
	const int error = make_temp(o, dir != NULL && dir[0] == '/' ? dir : "/tmp");

	if (error == 0) {
		drop_temp(o);
		o->place.way = PCTL_PLACE_INTO;
	}
	return error;
}

/* ---- open, put, commit -------------------------------------------------------------------------- */

static pctl_status open_through(pctl_output *o, const pctl_call *call)
{
	if (o->place.fd >= 0) {
		fflush(o->place.fd == STDOUT_FILENO ? stdout : stderr);
		o->fd = fcntl(o->place.fd, F_DUPFD_CLOEXEC, 0);
		return o->fd < 0 ? lost(o, errno, call) : PCTL_OK;
	}
	do /* a FIFO waits here for its reader */
		o->fd = open(o->place.path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	while (o->fd < 0 && errno == EINTR && !pctl_is_cancelled(call));
	if (o->fd < 0 && errno == EINTR)
		return pctl_refuse(call, PC4_CANCELLED, "cancelled while opening %s",
				   o->place.name);
	return o->fd < 0 ? lost(o, errno, call) : PCTL_OK;
}

static pctl_status open_replace(pctl_output *o, const pctl_call *call)
{
	int error = make_temp(o, o->place.dir);

	if (error != 0 && o->place.exists && (error == EACCES || error == EPERM || error == EROFS))
		error = make_staging(o);
	if (error == EACCES || error == EPERM || error == EROFS || error == ENOENT)
		return pctl_place_refuse(&o->place, error, call);
	return error != 0 ? lost(o, error, call) : PCTL_OK;
}

pctl_status pctl_output_open(const char *path, int durable, const pctl_call *call,
			     pctl_output **out)
{
	pctl_output *o = malloc(sizeof(*o));
	pctl_status status;

	*out = NULL;
	if (o == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory to write %s", path);
	o->temp = NULL;
	o->fd = -1;
	o->durable = durable;
	o->n_bytes = 0;
	o->n_buffer = 0;
	status = pctl_place_find(path, call, &o->place);
	if (status == PCTL_OK)
		status = o->place.way == PCTL_PLACE_THROUGH ? open_through(o, call)
							    : open_replace(o, call);
	if (status != PCTL_OK)
		pctl_output_discard(o);
	else
		*out = o;
	return status;
}

static pctl_status flush(pctl_output *o, const pctl_call *call)
{
	const size_t n = o->n_buffer;

	o->n_buffer = 0;
	return write_fd(o, o->fd, o->buffer, n, call);
}

pctl_status pctl_output_put(pctl_output *o, const void *data, uint64_t n, const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	o->n_bytes += n;
	if (n > BUFFER_BYTES - o->n_buffer)
		status = flush(o, call);
	if (status == PCTL_OK && n > BUFFER_BYTES)
		return write_fd(o, o->fd, data, n, call);
	if (status == PCTL_OK && n != 0) {
		memcpy(o->buffer + o->n_buffer, data, n);
		o->n_buffer += n;
	}
	return status;
}

static int sync_directory(const char *dir)
{
	const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int error = fd < 0 || fsync(fd) != 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	return error;
}

static pctl_status replace(pctl_output *o, const pctl_call *call)
{
	int error;

	if (!keep_owner(o))
		return write_in_place(
			o, "its owner and permissions cannot be given to another file", call);
	if (o->durable && fsync(o->fd) != 0)
		return lost(o, errno, call);
	if (rename(o->temp, o->place.path) != 0) {
		if (o->place.exists &&
		    (errno == EBUSY || errno == EXDEV || errno == EPERM || errno == EACCES))
			return write_in_place(o, "the system does not let it be replaced", call);
		return lost(o, errno, call);
	}
	free(o->temp);
	o->temp = NULL;
	error = o->durable ? sync_directory(o->place.dir) : 0;
	return error == 0 ? PCTL_OK : lost(o, error, call);
}

/* A pipe or a terminal cannot be synced, and need not be. */
static pctl_status end_through(pctl_output *o, const pctl_call *call)
{
	if (o->durable && fsync(o->fd) != 0 && errno != EINVAL && errno != EROFS &&
	    errno != ENOTSUP)
		return lost(o, errno, call);
	return PCTL_OK;
}

pctl_status pctl_output_commit(pctl_output *o, const pctl_call *call)
{
	pctl_status status = flush(o, call);

	if (status == PCTL_OK)
		status = o->place.way == PCTL_PLACE_THROUGH ? end_through(o, call)
			 : o->place.way == PCTL_PLACE_INTO
				 ? write_in_place(o, "its directory cannot be written", call)
				 : replace(o, call);
	if (close(o->fd) != 0 && status == PCTL_OK)
		status = lost(o, errno, call);
	o->fd = -1;
	pctl_output_discard(o);
	return status;
}

void pctl_output_discard(pctl_output *o)
{
	if (o == NULL)
		return;
	if (o->fd >= 0)
		close(o->fd);
	drop_temp(o);
	pctl_place_clear(&o->place);
	free(o);
}

int pctl_output_same(const char *a, const char *b)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	pctl_output_place p[2] = {{.fd = -1}, {.fd = -1}};
	const char *slash[2];
	struct stat dir[2];
	int same = pctl_place_find(a, &quiet, &p[0]) == PCTL_OK &&
		   pctl_place_find(b, &quiet, &p[1]) == PCTL_OK;

	for (int i = 0; i < 2 && same; i++) {
		same = p[i].way != PCTL_PLACE_THROUGH && stat(p[i].dir, &dir[i]) == 0;
		slash[i] = same ? strrchr(p[i].path, '/') : NULL;
		slash[i] = slash[i] == NULL ? p[i].path : slash[i] + 1;
	}
	same = same && dir[0].st_dev == dir[1].st_dev && dir[0].st_ino == dir[1].st_ino &&
	       strcmp(slash[0], slash[1]) == 0;
	pctl_place_clear(&p[0]);
	pctl_place_clear(&p[1]);
	return same;
}
