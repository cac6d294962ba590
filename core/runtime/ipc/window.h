/* Shared windows: memory of a fixed size that both processes map. create makes sealed memory of n bytes (its size can no longer
 * change) and maps it; attach maps memory that came from the other side after checking size and seals, so that no access can
 * fault. Descriptor -1 and NULL on failure, errno says why. */
#ifndef PIPECTL_RUNTIME_IPC_WINDOW_H
#define PIPECTL_RUNTIME_IPC_WINDOW_H

#include <stdint.h>

typedef struct pctl_ipc_window {
	uint8_t *data;
	uint64_t n_bytes;
	int fd;
} pctl_ipc_window;
int pctl_ipc_window_create(uint64_t n_bytes, pctl_ipc_window *out);
int pctl_ipc_window_attach(int fd, pctl_ipc_window *out); /* takes fd over */
void pctl_ipc_window_close(pctl_ipc_window *w);

#endif
