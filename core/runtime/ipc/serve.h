/* The worker's side of the protocol: takes requests apart, calls the backend's or op library's table, puts replies
 * together. It owns every object the host has made and names it by the host's number. */
#ifndef PIPECTL_RUNTIME_IPC_SERVE_H
#define PIPECTL_RUNTIME_IPC_SERVE_H

#include "runtime/ipc/protocol.h"
#include "pipectl/oplib.h"

typedef struct pctl_ipc_server pctl_ipc_server;

/* NULL for lack of memory. What went wrong before a backend was there is emitted into `call` and
 * told to the host by the reply to HELLO. */
pctl_ipc_server *pctl_ipc_server_create(void);
/* Clears, too. */
void pctl_ipc_server_destroy(pctl_ipc_server *s);
const pctl_call *pctl_ipc_server_call(pctl_ipc_server *s);

/* The backend to serve (checked by pctl_library_check_backend), or the status for which there is
 * none. */
void pctl_ipc_server_set(pctl_ipc_server *s, pctl_status status, const pctl_backend *table,
			 pctl_instance *inst);

/* The same for an op library (checked by pctl_library_check_oplib). A server has one of the two. */
void pctl_ipc_server_set_ops(pctl_ipc_server *s, pctl_status status, const pctl_oplib *table,
			     pctl_instance *inst);

/* Destroy every object, children first, and let go of the backend; its instance may be closed then.
 */
void pctl_ipc_server_clear(pctl_ipc_server *s);

/* Carry out one request; its reply, if it has one, is put into ch->out.
 * 1: go on. 0: the host said goodbye. -1: what came is not of this protocol, the channel is of no
 * more use. */
int pctl_ipc_server_handle(pctl_ipc_server *s, const pctl_ipc_frame *f, pctl_ipc_channel *ch);

/* A message of the control socket. [any thread, beside handle] */
void pctl_ipc_server_control(pctl_ipc_server *s, const pctl_ipc_control *m);

#endif
