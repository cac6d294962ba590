/* Sealed copies of plugin libraries: the bytes that are hashed are the bytes that are loaded. A library is read once into
 * memory that nothing can change any more; its hash is taken from there, and every process that loads it gets this
 * descriptor, never the path, so that whoever replaces the file in between changes nothing. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/cas/cid.h"
#include "runtime/plugin/registry_private.h"

#define SEALS (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define SEAL_TRIES 1000

static int write_all(int fd, const uint8_t *data, size_t n)
{
	while (n) {
		const ssize_t k = write(fd, data, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return 0;
		data += k;
		n -= (size_t)k;
	}
	return 1;
}

static int copy(int from, int to)
{
	uint8_t buf[65536];
	ssize_t n;

	while ((n = read(from, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || !write_all(to, buf, (size_t)n))
			return 0;
	}
	return 1;
}

/* Of the sealed memory itself. */
static int hash(int fd, char hex[2 * PCTL_DIGEST_BYTES + 1])
{
	struct stat st;
	pctl_cid cid;
	void *p;
	int ok;

	if (fstat(fd, &st) < 0)
		return 0;
	if (st.st_size == 0) {
		ok = !pctl_cid_of("", 0, NULL, &cid);
	} else {
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
		if (p == MAP_FAILED)
			return 0;
		ok = !pctl_cid_of(p, (uint64_t)st.st_size, NULL, &cid);
		munmap(p, (size_t)st.st_size);
	}
	if (ok)
		pctl_digest_hex(cid.digest, hex);
	return ok;
}

/* EBUSY says that somebody holds a reference to a page at this moment. Nobody but this process knows the descriptor, so it
 * is the kernel itself, which migrates or compacts memory, and it lets go. */
static int seal(int fd)
{
	const struct timespec pause = {0, 5 * 1000 * 1000};
	int tries = 0;

	while (fcntl(fd, F_ADD_SEALS, SEALS) < 0) {
		if (errno != EBUSY || ++tries == SEAL_TRIES)
			return 0;
		nanosleep(&pause, NULL);
	}
	return 1;
}

int pctl_sealed_copy(const char *path, char hex[2 * PCTL_DIGEST_BYTES + 1])
{
	const char *base = strrchr(path, '/');
	int from = open(path, O_RDONLY | O_CLOEXEC), to = -1, error;

	if (from < 0)
		return -1;
	to = memfd_create(base ? base + 1 : path, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	/* Mapped, never run: no worker makes a program of it. */
	if (to < 0 || fchmod(to, 0600) < 0 || !copy(from, to) || !seal(to) || !hash(to, hex)) {
		error = errno;
		if (to >= 0)
			close(to);
		to = -1;
		errno = error;
	}
	close(from);
	return to;
}

pctl_status pctl_plugin_seal(pctl_registry *r, known_plugin *p, const pctl_call *call)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1];
	int fd;

	if (p->sealed_fd >= 0)
		return PCTL_OK;
	fd = pctl_sealed_copy(p->info.library, hex);
	if (fd < 0)
		return pctl_refuse(call, PC3007_PLUGIN_LIBRARY, "%s: cannot be read: %s",
				   p->info.library, strerror(errno));
	if (!p->info.sha256 || strcmp(hex, p->info.sha256)) {
		close(fd);
		pctl_examine_forget(r, p, call);
		return pctl_refuse(call, PC3035_PLUGIN_CHANGED,
				   "%s: has SHA-256 %s now, and had %s when it was examined",
				   p->info.library, hex, p->info.sha256 ? p->info.sha256 : "none");
	}
	p->sealed_fd = fd;
	return PCTL_OK;
}

void pctl_plugin_unseal(known_plugin *p)
{
	if (p->sealed_fd >= 0)
		close(p->sealed_fd);
	p->sealed_fd = -1;
}
