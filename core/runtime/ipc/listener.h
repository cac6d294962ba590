/* Listening on a Unix socket: made with its mode, in place of one that a dead process left, and of nothing else. Who listens (a
 * node, a server of models) brings its name and its codes. */
#ifndef PIPECTL_RUNTIME_IPC_LISTENER_H
#define PIPECTL_RUNTIME_IPC_LISTENER_H

#include <sys/types.h>

#include "pipectl/host.h"

/* name: as in "another node listens on"; the codes of what is in the way, and of one that is alive there. */
typedef struct pctl_listener_who {
	const char *name;
	uint32_t socket_code, taken_code;
} pctl_listener_who;

typedef struct pctl_listener {
	int fd; /* non-blocking; -1: none */
	char *path;
	dev_t device;
	ino_t inode;
} pctl_listener;

/* Listening when it returns, mode 0600 from its first moment. */
pctl_status pctl_listener_open(const char *path, const pctl_listener_who *who,
			       const pctl_call *call, pctl_listener *out);
/* Closes it, and removes the file if it is still this one's. */
void pctl_listener_close(pctl_listener *l);

#endif
