/* Memory that host and worker share; see window.h. */
#include "runtime/ipc/window.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/ipc/protocol.h"

static int window_map(int fd, uint64_t n_bytes, pctl_ipc_window *out)
{
	void *p = mmap(NULL, (size_t)n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED) {
		close(fd);
		return 0;
	}
	out->data = p;
	out->n_bytes = n_bytes;
	out->fd = fd;
	return 1;
}

int pctl_ipc_window_create(uint64_t n_bytes, pctl_ipc_window *out)
{
	int fd;

	memset(out, 0, sizeof(*out));
	out->fd = -1;
	if (n_bytes == 0 || n_bytes > PCTL_IPC_WINDOW_MAX) {
		errno = EINVAL;
		return 0;
	}
	fd = memfd_create("pipectl-window", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return 0;
	/* The worker writes into it, and may not run what it wrote. */
	if (fchmod(fd, 0600) < 0 || ftruncate(fd, (off_t)n_bytes) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
		close(fd);
		return 0;
	}
	return window_map(fd, n_bytes, out);
}

int pctl_ipc_window_attach(int fd, pctl_ipc_window *out)
{
	struct stat st;
	int seals;

	memset(out, 0, sizeof(*out));
	out->fd = -1;
	if (fd < 0) {
		errno = EBADF;
		return 0;
	}
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || (seals & (F_SEAL_SHRINK | F_SEAL_GROW)) != (F_SEAL_SHRINK | F_SEAL_GROW) ||
	    fstat(fd, &st) < 0 || st.st_size <= 0 || (uint64_t)st.st_size > PCTL_IPC_WINDOW_MAX) {
		close(fd);
		errno = EPERM;
		return 0;
	}
	return window_map(fd, (uint64_t)st.st_size, out);
}

void pctl_ipc_window_close(pctl_ipc_window *w)
{
	if (w->data)
		munmap(w->data, (size_t)w->n_bytes);
	if (w->fd >= 0)
		close(w->fd);
	memset(w, 0, sizeof(*w));
	w->fd = -1;
}
