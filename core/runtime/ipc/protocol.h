/* What host and worker say to each other: the operations, how structures of the backend interface
 * travel, and how diagnostics come back. Both sides are built from this one file; a worker of
 * another version is refused at HELLO. */
#ifndef PIPECTL_RUNTIME_IPC_PROTOCOL_H
#define PIPECTL_RUNTIME_IPC_PROTOCOL_H

#include "runtime/ipc/channel.h"
#include "pipectl/backend.h"

#define PCTL_IPC_VERSION 4u

#define PCTL_IPC_FD 3	      /* descriptor of the channel in a worker */
#define PCTL_IPC_CONTROL_FD 4 /* of the control socket: cancellation, and the host's end */

/*
 * Operations. A request marked [posted] has no reply: what goes wrong is kept and told by the reply
 * it names. Every other request has exactly one reply, with the same op and seq. Objects are named
 * by numbers the host gives, from 1; 0 is no object.
 */
enum {
	PCTL_IPC_HELLO = 1,
	PCTL_IPC_DEVICES,
	PCTL_IPC_DEVICE_OPEN,
	PCTL_IPC_DEVICE_CLOSE,
	PCTL_IPC_IDENTITY,
	PCTL_IPC_CAPS,
	PCTL_IPC_SUPPORTS,
	PCTL_IPC_BUFFER_CREATE,
	PCTL_IPC_BUFFER_DESTROY, /* posted */
	PCTL_IPC_WRITE,
	PCTL_IPC_WRITE_WINDOW,
	PCTL_IPC_READ,
	PCTL_IPC_READ_WINDOW,
	PCTL_IPC_KERNEL_BUILD,
	PCTL_IPC_KERNEL_CACHE,
	PCTL_IPC_KERNEL_DESTROY, /* posted */
	PCTL_IPC_LIST_BEGIN,	 /* posted; LIST_END tells, as for the LIST_* that follow */
	PCTL_IPC_LIST_DISPATCH,
	PCTL_IPC_LIST_INDIRECT,
	PCTL_IPC_LIST_COPY,
	PCTL_IPC_LIST_FILL,
	PCTL_IPC_LIST_BARRIER,
	PCTL_IPC_LIST_TIMESTAMP,
	PCTL_IPC_LIST_END,     /* the first request since LIST_BEGIN that replies */
	PCTL_IPC_LIST_DESTROY, /* posted */
	PCTL_IPC_SUBMIT,       /* posted; WAIT tells */
	PCTL_IPC_WAIT,
	PCTL_IPC_FINDINGS,
	PCTL_IPC_COUNTS,
	PCTL_IPC_BYE,
	PCTL_IPC_END,
	/* [posted] Trace id (u64) of the requests that follow, until another comes; 0 at first. */
	PCTL_IPC_TRACE = 32,
	/* Of an op library, which knows none of the above but HELLO and BYE; ops_wire.h says what they carry. REFERENCE
	 * and LAW come with shared memory of their own for what they work on. */
	PCTL_IPC_OPS_DESCRIBE = 48,
	PCTL_IPC_OPS_INFER,
	PCTL_IPC_OPS_PLAN,
	PCTL_IPC_OPS_REFERENCE,
	PCTL_IPC_OPS_PROBLEM,
	PCTL_IPC_OPS_LAW,
	/* Frames of `pipectl-worker --probe`, all from the worker. */
	PCTL_IPC_PROBE_STAGE = 64,
	PCTL_IPC_PROBE_RESULT = 65
};

int pctl_ipc_is_posted(uint16_t op);

/* A message on the control socket (a packet socket: whole or not at all). */
typedef struct pctl_ipc_control {
	uint32_t what;	 /* PCTL_IPC_CANCEL_* */
	uint32_t object; /* seq of the call, or number of the device */
	uint64_t ticket;
} pctl_ipc_control;
enum { PCTL_IPC_CANCEL_CALL = 1, PCTL_IPC_CANCEL_TICKET = 2 };

/* Optional slots of the backend, told by HELLO. */
#define PCTL_IPC_HAS_CACHE 1u
#define PCTL_IPC_HAS_FINDINGS 2u
#define PCTL_IPC_HAS_COUNTS 4u

/* Limits of what one message carries. */
#define PCTL_IPC_DEVICES_MAX 256u
#define PCTL_IPC_IDENTITY_MAX 256u
#define PCTL_IPC_FINDINGS_MAX 65536u
#define PCTL_IPC_BINDINGS_MAX 1024u
#define PCTL_IPC_DIAGS_MAX 256u
#define PCTL_IPC_UNREAD 0xa5 /* what the place of a read holds before it: no earlier answer */
#define PCTL_IPC_INLINE_MAX \
	32768u /* bytes of data that travel in the frame instead of the window */
#define PCTL_IPC_CACHE_MAX (64u << 20)

/* 1 when a status is one of status.h. */
int pctl_ipc_status_known(pctl_status s);

/*
 * Structures of fixed size travel as they lie in memory: both processes run the same build. The
 * reader checks what has a meaning to it: strings end, counts are within their arrays, enumerations
 * known.
 */
int pctl_ipc_get_device_info(pctl_ipc_in *in, pctl_device_info *out);
int pctl_ipc_get_key_value(pctl_ipc_in *in, pctl_key_value *out);
int pctl_ipc_get_caps(pctl_ipc_in *in, pctl_device_caps *out);
int pctl_ipc_get_support(pctl_ipc_in *in, pctl_support *out);
int pctl_ipc_get_completion(pctl_ipc_in *in, pctl_completion *out);
int pctl_ipc_get_counts(pctl_ipc_in *in, pctl_counts *out);

/* A diagnostic on its way. get emits it into `call`; `plugin` fills in who speaks where the record
 * does not say. Returns 0 when the bytes are no diagnostic. */
void pctl_ipc_put_diag(pctl_ipc_out *o, const pctl_diag *d);
int pctl_ipc_get_diag(pctl_ipc_in *in, const char *plugin, const pctl_call *call);

/*
 * Shared windows. create makes sealed memory of n bytes (its size can no longer change) and maps
 * it; attach maps memory that came from the other side after checking size and seals, so that no
 * access can fault. Descriptor -1 and NULL on failure, errno says why.
 */
typedef struct pctl_ipc_window {
	uint8_t *data;
	uint64_t n_bytes;
	int fd;
} pctl_ipc_window;
int pctl_ipc_window_create(uint64_t n_bytes, pctl_ipc_window *out);
int pctl_ipc_window_attach(int fd, pctl_ipc_window *out); /* takes fd over */
void pctl_ipc_window_close(pctl_ipc_window *w);

#endif
