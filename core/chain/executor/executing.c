/* The file of jobs that are being run; see executing.h. */
#include "chain/executor/executing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static int open_in(const char *dir, int flags)
{
	char path[4096];

	if (dir == NULL ||
	    (size_t)snprintf(path, sizeof(path), "%s/executing", dir) >= sizeof(path))
		return -1;
	return open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
}

void pctl_executing_begin(const char *dir, const uint8_t (*ids)[PCTL_DIGEST_BYTES], uint32_t n,
			  const pctl_call *call, int *out)
{
	const size_t size = (size_t)n * PCTL_DIGEST_BYTES;
	int fd;

	*out = PCTL_EXECUTING_NONE;
	if (dir == NULL)
		return;
	fd = open_in(dir, O_RDWR | O_CREAT);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && ftruncate(fd, 0) == 0 &&
	    write(fd, ids, size) == (ssize_t)size) {
		*out = fd;
		return;
	}
	pctl_warn_at(call, PC5865_BLOCK_EXECUTING, NULL, NULL, "%s/executing: %s", dir,
		     strerror(errno));
	if (fd >= 0)
		close(fd);
}

void pctl_executing_end(int fd)
{
	if (fd == PCTL_EXECUTING_NONE)
		return;
	(void)!ftruncate(fd, 0);
	close(fd);
}

int pctl_executing_has(const char *dir, const uint8_t id[PCTL_DIGEST_BYTES])
{
	const int fd = open_in(dir, O_RDONLY);
	uint8_t one[PCTL_DIGEST_BYTES];
	int found = 0;

	if (fd < 0)
		return 0;
	/* Whoever runs jobs holds the lock; a file that nobody holds was left behind. */
	if (flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		while (!found && read(fd, one, sizeof(one)) == (ssize_t)sizeof(one))
			found = memcmp(one, id, sizeof(one)) == 0;
	close(fd);
	return found;
}
