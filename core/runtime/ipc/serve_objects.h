/* The worker's objects, by the numbers the host gave them, and one handler a request. Private to core/runtime/ipc/serve*.c. */
#ifndef PIPECTL_RUNTIME_IPC_SERVE_OBJECTS_H
#define PIPECTL_RUNTIME_IPC_SERVE_OBJECTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "runtime/ipc/serve.h"
#include "runtime/ipc/window.h"

#define EARLY_MAX 32u

/* What a handle of a request is unpacked to. */
typedef struct object {
	void *p;
	uint64_t n_bytes; /* of a buffer */
	uint32_t kind;	  /* PCTL_IPC_DEVICE .. PCTL_IPC_LIST */
	uint32_t device;  /* number of the device it belongs to */
	pctl_status
		status; /* the first failure of what was posted: of a list's recording, of writing a buffer */
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
	uint32_t greeted, optional;
	pctl_call call;
	pctl_ipc_out diags; /* waiting for the next reply */
	uint32_t n_diags;
	/* Of the request being served. */
	pctl_arena *arena;   /* what it holds, and what its reply does */
	pctl_ipc_out record; /* the same, of a plan, law or problem */
	uint32_t device;     /* number of the one that all its objects are of */
	int fd;		     /* that came with it, -1: none; who takes it sets that */
	int malformed;
	pctl_ipc_window window;
	uint8_t *inlined; /* PCTL_IPC_INLINE_MAX bytes */
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

/* 1, or 0 when the number is out of range, in use, or memory is short. Pointers to objects are gone after it. */
int pctl_serve_object_put(pctl_ipc_server *s, uint32_t id, const object *o);
/* NULL when there is no such object of that kind on that device (0: any). */
object *pctl_serve_object_get(pctl_ipc_server *s, uint32_t id, uint32_t kind, uint32_t device);
void pctl_serve_object_drop(pctl_ipc_server *s, uint32_t id);
/* Number of an object. */
uint32_t pctl_serve_object_number(const pctl_ipc_server *s, const object *o);
/* Destroy all objects of a device but the device, lists first, or of all devices and those too (0).
 */
void pctl_serve_objects_clear(pctl_ipc_server *s, uint32_t device);

int pctl_serve_ticket_put(pctl_ipc_server *s, const ticket *t);
/* 1 and *out, or 0. */
int pctl_serve_ticket_get(pctl_ipc_server *s, uint32_t device, uint64_t host, ticket *out);
void pctl_serve_ticket_drop(pctl_ipc_server *s, uint32_t device, uint64_t host);
/* 1 when a cancel for it came before; it is forgotten then. */
int pctl_serve_ticket_early(pctl_ipc_server *s, uint32_t device, uint64_t host);

/* What no host asks: the connection ends. */
pctl_status pctl_serve_bad(pctl_ipc_server *s);

/* The handlers: `ask` is unpacked and in its bounds, its objects are there; `reply` is zero, what it points to lives until the
 * next request. The status of a posted one is kept by the handler. */
#define PCTL_ASKED(number, NAME, name, ask, reply, whose, patience, needs, fds, means) \
	pctl_status pctl_serve_##name(pctl_ipc_server *s, const pctl_ipc_##ask *a,     \
				      pctl_ipc_##reply *r);
#define PCTL_POSTED(number, NAME, name, ask, whose, means) \
	void pctl_serve_##name(pctl_ipc_server *s, const pctl_ipc_##ask *a);
#include "runtime/ipc/protocol.def"

#endif
