/* What remote.c (the connection) and remote_table.c (the slots) share. */
#ifndef PIPECTL_IPC_REMOTE_PRIVATE_H
#define PIPECTL_IPC_REMOTE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "ipc/process.h"
#include "ipc/protocol.h"
#include "ipc/remote.h"

#define NO_DEADLINE UINT64_MAX

struct pctl_remote {
	pctl_process process;
	pctl_ipc_channel ch;
	pctl_ipc_window window;
	pctl_backend table;
	pthread_mutex_t lock;
	int control_fd;
	uint32_t seq;
	uint32_t call_ms, grace_ms;
	uint32_t next_id;
	uint32_t *free_ids;
	uint32_t n_free, cap_free;
	atomic_ullong next_ticket;
	uint32_t under_way; /* submits not yet seen to end */
	int lost;
	int blameless; /* it was lost because work was given up, not by its own doing */
	char cause[1024];
	char id[64];
};

/* Any object of the remote: devices, buffers, kernels and lists look alike from here. */
typedef struct remote_object {
	pctl_remote *r;
	uint32_t id;
	uint32_t device;
} remote_object;

/* Begin a request in r->ch.out; 0 when the worker is lost (and says so into `call`). */
int pctl_remote_begin(pctl_remote *r, uint16_t op, const pctl_call *call);
/* End a posted request. */
pctl_status pctl_remote_post(pctl_remote *r, const pctl_call *call);
/* End a request, send all that is pending, take the reply: its status; *body is what follows, valid
 * until the next request. timeout_ms may be NO_DEADLINE. `cancel`, unless NULL, goes out too when
 * the call is cancelled. */
pctl_status pctl_remote_ask(pctl_remote *r, const pctl_call *call, uint64_t timeout_ms,
			    const pctl_ipc_control *cancel, pctl_ipc_in *body);
/* Send what is pending without waiting for anything but room. */
pctl_status pctl_remote_flush(pctl_remote *r, const pctl_call *call);
/* The body was not what it must be: give the worker up. */
pctl_status pctl_remote_bad_reply(pctl_remote *r, const pctl_call *call, const char *what);

/* Take a reply apart: its status into *status, its diagnostics into `call`, the rest into *body. 0:
 * malformed. */
int pctl_remote_decode(const uint8_t *payload, size_t n, const char *plugin, const pctl_call *call,
		       pctl_status *status, pctl_ipc_in *body);

/* A message beside the channel; never blocks. [any thread] */
void pctl_remote_send_control(pctl_remote *r, const pctl_ipc_control *m);

/* The table of all slots; optional ones are taken out where the plugin lacks them. */
void pctl_remote_fill_table(pctl_backend *t, uint32_t optional);

#endif
