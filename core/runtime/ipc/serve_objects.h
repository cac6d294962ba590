/* The worker's objects, by the numbers the host gave them. Private to core/runtime/ipc/serve*.c. */
#ifndef PIPECTL_RUNTIME_IPC_SERVE_OBJECTS_H
#define PIPECTL_RUNTIME_IPC_SERVE_OBJECTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "runtime/ipc/serve.h"

enum { OBJECT_NONE = 0, OBJECT_DEVICE, OBJECT_BUFFER, OBJECT_KERNEL, OBJECT_LIST };

#define OBJECTS_MAX (1u << 20)
#define EARLY_MAX 32u

typedef struct object {
	void *p;
	uint64_t n_bytes; /* of a buffer */
	uint32_t kind;
	uint32_t device;    /* number of the device it belongs to */
	pctl_status status; /* of a list under recording: the first failure */
} object;

/* A submit under way: the host's ticket and the backend's. status: the submit itself failed. */
typedef struct ticket {
	uint64_t host, backend;
	uint32_t device;
	pctl_status status;
} ticket;

struct pctl_ipc_server {
	const pctl_backend *table; /* or ops, never both */
	const pctl_oplib *ops;
	pctl_instance *inst;
	pctl_status open_status;
	uint32_t greeted;
	pctl_call call;
	pctl_ipc_out diags; /* waiting for the next reply */
	uint32_t n_diags;
	pctl_ipc_out body;
	pctl_ipc_window window;
	pctl_binding *bindings; /* scratch, PCTL_IPC_BINDINGS_MAX of them */
	/* The lock guards objects and tickets against the control thread: it is held to change them
	 * and for a cancel, never across another call of the backend. */
	pthread_mutex_t lock;
	object *objects;
	uint32_t n_objects;
	ticket *tickets;
	uint32_t n_tickets, cap_tickets;
	pctl_ipc_control early[EARLY_MAX]; /* cancels that overtook their submit */
	uint32_t n_early;
	atomic_uint seq;	   /* of the request being served */
	atomic_uint cancelled_seq; /* of the last call to be cancelled */
};

/* 1, or 0 when the number is out of range, in use, or memory is short. */
int pctl_serve_object_put(pctl_ipc_server *s, uint32_t id, const object *o);
/* NULL when there is no such object of that kind on that device (0: any). */
object *pctl_serve_object_get(pctl_ipc_server *s, uint32_t id, uint32_t kind, uint32_t device);
void pctl_serve_object_drop(pctl_ipc_server *s, uint32_t id);
/* Destroy all objects of a device but the device, lists first, or of all devices and those too (0).
 */
void pctl_serve_objects_clear(pctl_ipc_server *s, uint32_t device);

int pctl_serve_ticket_put(pctl_ipc_server *s, const ticket *t);
/* 1 and *out, or 0. */
int pctl_serve_ticket_get(pctl_ipc_server *s, uint32_t device, uint64_t host, ticket *out);
void pctl_serve_ticket_drop(pctl_ipc_server *s, uint32_t device, uint64_t host);
/* 1 when a cancel for it came before; it is forgotten then. */
int pctl_serve_ticket_early(pctl_ipc_server *s, uint32_t device, uint64_t host);

/* Requests of an op library, in serve_ops.c: 1 and the answer's status, its body in s->body, or 0 when the request is
 * malformed. */
int pctl_serve_ops(pctl_ipc_server *s, uint16_t op, pctl_ipc_in *in, pctl_ipc_channel *ch,
		   pctl_status *status);

/* Recording, in serve_list.c: 1, or 0 when the request is malformed. */
int pctl_serve_list(pctl_ipc_server *s, uint16_t op, pctl_ipc_in *in);

#endif
