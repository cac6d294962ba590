/* What remote.c (the connection) and remote_table.c (the slots) share. */
#ifndef PIPECTL_RUNTIME_IPC_REMOTE_PRIVATE_H
#define PIPECTL_RUNTIME_IPC_REMOTE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "runtime/ipc/patience.h"
#include "runtime/ipc/process.h"
#include "runtime/ipc/protocol.h"
#include "runtime/ipc/remote.h"
#include "runtime/ipc/window.h"

#define NO_DEADLINE UINT64_MAX

/* A submit under way that holds a program the worker has never run to the end. */
typedef struct remote_first {
	uint64_t ticket;
	uint64_t begin_ms, next_poll_ms;
	uint64_t memory;   /* that the worker had when it was looked at first, 0: not yet */
	uint32_t *kernels; /* serials */
	uint32_t n, reserved;
} remote_first;

struct pctl_remote {
	pctl_process process;
	pctl_ipc_channel ch;
	pctl_arena *arena; /* lists of the last reply */
	pctl_ipc_window window;
	pctl_backend table;
	pthread_mutex_t lock;
	int control_fd;
	uint32_t seq;
	uint32_t traced; /* the worker is told which job a call belongs to */
	uint64_t trace;	 /* that it was told last */
	uint32_t call_ms, grace_ms, build_cpu_ms, first_run_ms;
	uint64_t build_memory;
	pctl_worker_limits limits; /* that its supervisor keeps */
	uint64_t asked_bytes;	   /* of the buffers that the host has there */
	int is_building;
	uint32_t next_id;
	uint32_t *free_ids;
	uint32_t n_free, cap_free;
	uint32_t last_serial; /* of a kernel */
	uint8_t *ran;	      /* a bit a serial */
	uint32_t n_ran, cap_ran;
	remote_first *firsts;
	uint32_t n_firsts, cap_firsts;
	atomic_ullong next_ticket;
	uint32_t under_way; /* submits not yet seen to end */
	int submitted;	    /* a submit was sent and nothing was heard since */
	int lost;
	int blameless;	    /* it was lost because work was given up, not by its own doing */
	int *over_folder;   /* of the options */
	uint32_t lost_code; /* 0: that of the way it was lost */
	const pctl_refused *refused; /* system calls, by its supervisor */
	uint32_t n_told;	     /* of them */
	char cause[1024];
	char doing[128]; /* the call under way, for the cause; empty where the code says enough */
	char id[64];
};

/* Any object of the remote: devices, buffers, kernels and lists look alike from here. */
typedef struct remote_object {
	pctl_remote *r;
	uint32_t id;
	uint32_t device;
	uint64_t n_bytes; /* of a buffer */
	uint32_t serial;  /* of a kernel: no other has it, ever */
	uint32_t *
		fresh; /* of a list: serials of its kernels that had not run when it was recorded */
	uint32_t n_fresh, cap_fresh;
} remote_object;

/* remote_first.c. note, begin: 0 when there is no memory. A list is noted as it is recorded; begin with its submit, end with
 * what came of it. */
int pctl_remote_first_note(remote_object *list, const remote_object *kernel);
int pctl_remote_first_has(const remote_object *list);
int pctl_remote_first_begin(const remote_object *list, uint64_t ticket);
remote_first *pctl_remote_first_of(pctl_remote *r, uint64_t ticket);
void pctl_remote_first_end(pctl_remote *r, uint64_t ticket, int well);
void pctl_remote_first_drop(pctl_remote *r);

/* Put a request into r->ch.out, which `ask` is the structure of (protocol.def); 0 when the worker is lost (and says so into
 * `call`). */
int pctl_remote_begin(pctl_remote *r, uint16_t op, const void *ask, const pctl_call *call);
/* End a posted request. */
pctl_status pctl_remote_post(pctl_remote *r, const pctl_call *call);
/* End a request, send all that is pending, take the reply: its status, and, where that is PCTL_OK, *reply, the structure of its
 * shape (NULL where it carries nothing). What it points to is valid until the next request. limit_ms as in patience.h, may be
 * NO_DEADLINE. */
pctl_status pctl_remote_ask(pctl_remote *r, const pctl_call *call, uint64_t limit_ms, void *reply);
/* The same, and what the reply points to lives as long as the arena. */
pctl_status pctl_remote_ask_keep(pctl_remote *r, const pctl_call *call, uint64_t limit_ms,
				 pctl_arena *arena, void *reply);
/* The same when the worker is to wait, itself, for up to after_ms: the limit counts from then. `cancel` goes out too when
 * the call is cancelled. `first`, if any, is the first run that is waited for: PC3110 when it is over its limits. */
pctl_status pctl_remote_ask_after(pctl_remote *r, const pctl_call *call, uint64_t after_ms,
				  uint64_t limit_ms, const pctl_ipc_control *cancel,
				  remote_first *first, void *reply);
/* The limits of a first run, between two waits for it. */
pctl_status pctl_remote_look_at_first(pctl_remote *r, const pctl_call *call, remote_first *first);
/* The same for the build of a program, which also has limits of what it may use: PC3110. */
pctl_status pctl_remote_ask_build(pctl_remote *r, const pctl_call *call, void *reply);
/* Begin and ask, with the patience that the table says. [the lock is held] */
pctl_status pctl_remote_request(pctl_remote *r, uint16_t op, const void *ask, const pctl_call *call,
				void *reply);
/* The same under the lock. What the reply points to may be gone already. */
pctl_status pctl_remote_call(pctl_remote *r, uint16_t op, const void *ask, const pctl_call *call,
			     void *reply);
/* Send what is pending without waiting for anything but room. */
pctl_status pctl_remote_flush(pctl_remote *r, const pctl_call *call);
/* A reply was not what it must be: give the worker up. */
pctl_status pctl_remote_bad_reply(pctl_remote *r, const pctl_call *call, const char *what);

/* Take a reply apart: its status into *status, its diagnostics into `call`, the rest into *body. Lists go into the arena. 0:
 * malformed, nothing was said. */
int pctl_remote_decode(const uint8_t *payload, size_t n, const char *plugin, pctl_arena *arena,
		       const pctl_call *call, pctl_status *status, pctl_ipc_in *body);

/* A message beside the channel; never blocks. [any thread] */
void pctl_remote_send_control(pctl_remote *r, const pctl_ipc_control *m);

/* The table of all slots; optional ones are taken out where the plugin lacks them. */
void pctl_remote_fill_table(pctl_backend *t, uint32_t optional);

/* Shared by the slots (remote_table.c, remote_run.c). A number is taken from, and given back to,
 * the remote. */
remote_object *pctl_remote_object_of(const void *p);
remote_object *pctl_remote_object_create(pctl_remote *r, uint32_t device, const pctl_call *call);
void pctl_remote_object_destroy(remote_object *o);
/* Destroy an object here and, posted, there. */
void pctl_remote_destroy(pctl_device *dev, void *object, uint16_t op);
/* Slots of lists and running, in remote_run.c. */
pctl_status pctl_remote_list_begin(pctl_device *dev, const pctl_call *call, pctl_list **out);
pctl_status pctl_remote_list_dispatch(pctl_list *l, const pctl_call *call, pctl_kernel *k,
				      const pctl_binding *bindings, uint32_t n_bindings,
				      const uint32_t groups[3]);
pctl_status pctl_remote_list_dispatch_indirect(pctl_list *l, const pctl_call *call, pctl_kernel *k,
					       const pctl_binding *bindings, uint32_t n_bindings,
					       pctl_buffer *buf, uint64_t offset,
					       const uint32_t limit[3]);
pctl_status pctl_remote_list_copy(pctl_list *l, const pctl_call *call, pctl_buffer *from,
				  uint64_t from_offset, pctl_buffer *to, uint64_t to_offset,
				  uint64_t n_bytes);
pctl_status pctl_remote_list_fill(pctl_list *l, const pctl_call *call, pctl_buffer *buf,
				  uint64_t offset, uint64_t n_bytes, uint32_t word);
pctl_status pctl_remote_list_barrier(pctl_list *l, const pctl_call *call);
pctl_status pctl_remote_list_timestamp(pctl_list *l, const pctl_call *call, uint32_t slot);
pctl_status pctl_remote_list_end(pctl_list *l, const pctl_call *call);
void pctl_remote_list_destroy(pctl_device *dev, pctl_list *l);
pctl_status pctl_remote_submit(pctl_device *dev, const pctl_call *call, pctl_list *l,
			       uint32_t times, uint64_t *ticket);
pctl_status pctl_remote_wait(pctl_device *dev, const pctl_call *call, uint64_t ticket,
			     uint64_t timeout_ns, pctl_completion *out);
void pctl_remote_cancel(pctl_device *dev, uint64_t ticket);

#endif
