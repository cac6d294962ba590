/* Listening on a Unix socket; see listener.h. */
#include "runtime/ipc/listener.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 4096

static pctl_status failure(const pctl_listener_who *who, const char *path, const char *what,
			   int error, const pctl_call *call)
{
	return pctl_refuse(call, who->socket_code, "%s: %s: %s", path, what, strerror(error));
}

/* 1 when somebody listens there, 0 when nobody does, -1 when the system will not say. */
static int is_alive(const struct sockaddr_un *where)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int alive = -1;

	if (fd < 0)
		return -1;
	/* EAGAIN: its queue of connections is full. */
	if (connect(fd, (const struct sockaddr *)where, sizeof(*where)) == 0 || errno == EAGAIN)
		alive = 1;
	else if (errno == ECONNREFUSED || errno == ENOENT)
		alive = 0;
	close(fd);
	return alive;
}

static pctl_status make_way(const pctl_listener_who *who, const struct sockaddr_un *where,
			    const pctl_call *call)
{
	struct stat st;
	int alive;

	if (lstat(where->sun_path, &st) != 0)
		return errno == ENOENT ? PCTL_OK
				       : failure(who, where->sun_path, "its type cannot be read",
						 errno, call);
	if (!S_ISSOCK(st.st_mode))
		return pctl_refuse(call, who->socket_code, "%s exists already and is not a socket",
				   where->sun_path);
	alive = is_alive(where);
	if (alive < 0)
		return failure(who, where->sun_path,
			       "whether somebody listens on it cannot be found out", errno, call);
	if (alive)
		return pctl_refuse(call, who->taken_code, "another %s listens on %s", who->name,
				   where->sun_path);
	if (unlink(where->sun_path) != 0 && errno != ENOENT)
		return failure(who, where->sun_path, "cannot be removed", errno, call);
	return PCTL_OK;
}

static pctl_status bind_and_listen(const pctl_listener_who *who, pctl_listener *l,
				   const struct sockaddr_un *where, const pctl_call *call)
{
	struct stat st;

	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* Linux gives the file the socket's own mode: there is no moment with another one. */
	if (l->fd < 0 || fchmod(l->fd, 0600) != 0)
		return failure(who, l->path, "a socket cannot be made for it", errno, call);
	if (bind(l->fd, (const struct sockaddr *)where, sizeof(*where)) != 0)
		return failure(who, l->path, "cannot be bound", errno, call);
	if (lstat(l->path, &st) != 0 || !S_ISSOCK(st.st_mode))
		return failure(who, l->path, "the socket was removed at once by something else",
			       errno, call);
	l->device = st.st_dev;
	l->inode = st.st_ino;
	if (listen(l->fd, BACKLOG) != 0)
		return failure(who, l->path, "cannot be listened on", errno, call);
	return PCTL_OK;
}

pctl_status pctl_listener_open(const char *path, const pctl_listener_who *who,
			       const pctl_call *call, pctl_listener *out)
{
	struct sockaddr_un where = {.sun_family = AF_UNIX};
	pctl_status status;

	*out = (pctl_listener){.fd = -1};
	if (path[0] == '\0' || strlen(path) >= sizeof(where.sun_path))
		return pctl_refuse(call, who->socket_code,
				   "the path has %zu bytes, a socket's has 1 to %zu", strlen(path),
				   sizeof(where.sun_path) - 1);
	memcpy(where.sun_path, path, strlen(path));
	out->path = strdup(path);
	if (out->path == NULL)
		return pctl_no_memory(call, "a path");
	status = make_way(who, &where, call);
	if (status == PCTL_OK)
		status = bind_and_listen(who, out, &where, call);
	if (status != PCTL_OK)
		pctl_listener_close(out);
	return status;
}

void pctl_listener_close(pctl_listener *l)
{
	struct stat st;

	if (l->inode != 0 && lstat(l->path, &st) == 0 && st.st_dev == l->device &&
	    st.st_ino == l->inode)
		unlink(l->path);
	if (l->fd >= 0)
		close(l->fd);
	free(l->path);
	*l = (pctl_listener){.fd = -1};
}
