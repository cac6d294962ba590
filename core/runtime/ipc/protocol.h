/* What host and worker say to each other, made from protocol.def: structures, numbers, and the tables that pack and unpack
 * them. Both sides are built from this one table; a worker of another one is refused at HELLO. PROTOCOL.md is the same for
 * people. */
#ifndef PIPECTL_RUNTIME_IPC_PROTOCOL_H
#define PIPECTL_RUNTIME_IPC_PROTOCOL_H

#include "foundation/base/arena.h"
#include "runtime/ipc/channel.h"
#include "pipectl/backend.h"
#include "pipectl/oplib.h"

#define PCTL_IPC_VERSION 6u

#define PCTL_IPC_FD 3	      /* descriptor of the channel in a worker */
#define PCTL_IPC_CONTROL_FD 4 /* of the control socket: cancellation, and the host's end */

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
#define PCTL_IPC_HAS_SOURCE 8u

/* Bounds of protocol.def. */
#define PCTL_IPC_ANY UINT64_MAX
#define PCTL_IPC_STRING_MAX 65536u /* bytes of a text of a diagnostic */
#define PCTL_IPC_DEVICES_MAX 256u
#define PCTL_IPC_IDENTITY_MAX 256u
#define PCTL_IPC_FINDINGS_MAX 65536u
#define PCTL_IPC_BINDINGS_MAX 1024u
#define PCTL_IPC_DIAGS_MAX 256u
#define PCTL_IPC_NOTES_MAX 64u
#define PCTL_IPC_OBJECTS_MAX (1u << 20) /* numbers of objects are below */
#define PCTL_IPC_INLINE_MAX \
	32768u /* bytes of data that travel in the frame instead of the window */
#define PCTL_IPC_WINDOW_MAX (1u << 30) /* bytes of shared memory */
#define PCTL_IPC_CACHE_MAX (64u << 20)
#define PCTL_IPC_SOURCE_MAX (64u << 20)
#define PCTL_OPS_MAX 4096u
#define PCTL_OPS_ATTRS_MAX 64u
#define PCTL_OPS_ROWS_MAX 65536u	/* of a table: laws, examples, bindings, overrides */
#define PCTL_OPS_PLAN_BYTES (64u << 20) /* of one recorded plan */
#define PCTL_OPS_DTYPES 15u		/* that functions are asked for */
/* A bit for each element type of a port, below 64 and from 64 on. */
#define PCTL_OPS_DTYPE_BITS UINT64_C(0x7ff00003ffe)
#define PCTL_OPS_DTYPE_BITS_64 UINT64_C(0x7dcc)
#define PCTL_OPS_TENSORS_MAX 1024u /* of one case of a law */

#define PCTL_IPC_UNREAD 0xa5 /* what the place of a read holds before it: no earlier answer */

/* Kinds of objects. */
enum { PCTL_IPC_NO_OBJECT = 0, PCTL_IPC_DEVICE, PCTL_IPC_BUFFER, PCTL_IPC_KERNEL, PCTL_IPC_LIST };

/* Of TEXT. */
#define PCTL_IPC_NEEDED 1u
#define PCTL_IPC_EMPTY 2u
#define PCTL_IPC_WORDS 4u
#define PCTL_IPC_CUT 8u

/* ---- structures ---------------------------------------------------------------------------- */

typedef struct pctl_ipc_bytes {
	const void *data;
	uint64_t n;
} pctl_ipc_bytes;
/* Of a message that carries nothing: there is none, its pointer is NULL. */
typedef char pctl_ipc_nothing;

#define IPC_MEMBER_U32(name, of) uint32_t name;
#define IPC_MEMBER_U64(name, of) uint64_t name;
#define IPC_MEMBER_FLAGS(name, of) uint32_t name;
#define IPC_MEMBER_U32S(name, of) uint32_t name[of];
#define IPC_MEMBER_U64S(name, of) uint64_t name[of];
#define IPC_MEMBER_TEXT(name, of) const char *name;
#define IPC_MEMBER_TEXTS(name, of) const char *name[of];
#define IPC_MEMBER_BYTES(name, of) pctl_ipc_bytes name;
#define IPC_MEMBER_NUMBERS(name, of) \
	const uint32_t *name;        \
	uint32_t n_##name;
/* Of the host a remote_object, of the worker its object. */
#define IPC_MEMBER_HANDLE(name, of) void *name;
#define IPC_MEMBER_NEW(name, of) uint32_t name;
#define IPC_MEMBER_NEST(name, of) pctl_ipc_##of name;
#define IPC_MEMBER_LIST(name, of)  \
	const pctl_ipc_##of *name; \
	uint32_t n_##name;

#define PCTL_SHAPE(name, means) typedef struct pctl_ipc_##name {
#define PCTL_FIELD(shape, kind, member, of, least, most, means) IPC_MEMBER_##kind(member, of)
#define PCTL_SHAPE_END(name) \
	}                    \
	pctl_ipc_##name;
#define PCTL_RECORD(name, type, means) typedef type pctl_ipc_##name;
#include "runtime/ipc/protocol.def"
#undef IPC_MEMBER_U32
#undef IPC_MEMBER_U64
#undef IPC_MEMBER_FLAGS
#undef IPC_MEMBER_U32S
#undef IPC_MEMBER_U64S
#undef IPC_MEMBER_TEXT
#undef IPC_MEMBER_TEXTS
#undef IPC_MEMBER_BYTES
#undef IPC_MEMBER_NUMBERS
#undef IPC_MEMBER_HANDLE
#undef IPC_MEMBER_NEW
#undef IPC_MEMBER_NEST
#undef IPC_MEMBER_LIST

/* ---- tables -------------------------------------------------------------------------------- */

enum {
	PCTL_IPC_SHAPE_nothing = 0,
#define PCTL_SHAPE(name, means) PCTL_IPC_SHAPE_##name,
#define PCTL_SHAPE_END(name)
#define PCTL_FIELD(shape, kind, member, of, least, most, means)
#define PCTL_RECORD(name, type, means) PCTL_IPC_SHAPE_##name,
#include "runtime/ipc/protocol.def"
	PCTL_IPC_SHAPES
};

/* Numbers of messages, PCTL_IPC_*, and of recorded commands, PCTL_OPS_*. */
enum {
#define PCTL_ASKED(number, NAME, name, ask, reply, whose, patience, needs, fds, means) \
	PCTL_IPC_##NAME = (number),
#define PCTL_POSTED(number, NAME, name, ask, whose, means) PCTL_IPC_##NAME = (number),
#define PCTL_TOLD(number, NAME, name, carries, means) PCTL_IPC_##NAME = (number),
#define PCTL_COMMAND(number, NAME, name, shape, whose, means) PCTL_OPS_##NAME = (number),
#include "runtime/ipc/protocol.def"
	PCTL_IPC_MESSAGES = 66 /* numbers are below */
};

enum {
	PCTL_IPC_KIND_U32 = 1,
	PCTL_IPC_KIND_U64,
	PCTL_IPC_KIND_ONE_OF,
	PCTL_IPC_KIND_FLAGS,
	PCTL_IPC_KIND_U32S,
	PCTL_IPC_KIND_U64S,
	PCTL_IPC_KIND_UPTO,
	PCTL_IPC_KIND_CHARS,
	PCTL_IPC_KIND_TEXT,
	PCTL_IPC_KIND_TEXTS,
	PCTL_IPC_KIND_TEXT_LIST,
	PCTL_IPC_KIND_BYTES,
	PCTL_IPC_KIND_NUMBERS,
	PCTL_IPC_KIND_HANDLE,
	PCTL_IPC_KIND_NEW,
	PCTL_IPC_KIND_NEST,
	PCTL_IPC_KIND_LIST,
	PCTL_IPC_KIND_HEAD
};

/* A member: at `at` of its structure; n_at: its count, where it has one. The rest as in protocol.def; of: a shape, a kind of
 * object, a count or flags. */
typedef struct pctl_ipc_field {
	const char *name;
	const char *means;
	uint64_t least, most;
	uint32_t at, n_at;
	uint32_t kind, of;
} pctl_ipc_field;

typedef struct pctl_ipc_shape {
	const char *name;
	const char *means;
	const pctl_ipc_field *fields;
	uint32_t n_fields;
	uint32_t size; /* of its structure */
} pctl_ipc_shape;

enum { PCTL_IPC_IS_ASKED = 1, PCTL_IPC_IS_POSTED, PCTL_IPC_IS_TOLD };
/* Whose requests; ANY has the bits of both, and is asked even before the greeting. */
enum {
	PCTL_IPC_OF_PROBE = 0,
	PCTL_IPC_OF_BACKEND = 1,
	PCTL_IPC_OF_OPS = 2,
	PCTL_IPC_OF_FIRST = 4,
	PCTL_IPC_OF_ANY = 8
};
enum { PCTL_IPC_PATIENCE_CALL = 0, PCTL_IPC_PATIENCE_BUILD, PCTL_IPC_PATIENCE_OWN };

typedef struct pctl_ipc_message {
	const char *NAME; /* of the number, for the document */
	const char *name; /* for messages */
	const char *means;
	uint32_t how;	/* PCTL_IPC_IS_*; 0: there is no such message */
	uint32_t ask;	/* shape; of one that is told, what it carries */
	uint32_t reply; /* shape */
	uint32_t whose; /* PCTL_IPC_OF_* */
	uint32_t needs; /* PCTL_IPC_HAS_* */
	uint32_t patience;
	uint32_t fds;
} pctl_ipc_message;

enum { PCTL_IPC_IN_PLAN = 1, PCTL_IPC_IN_LAW, PCTL_IPC_IN_PROBLEM };
typedef struct pctl_ipc_command {
	const char *NAME;
	const char *means;
	uint32_t number, shape;
	uint32_t whose; /* PCTL_IPC_IN_* */
} pctl_ipc_command;

/* By PCTL_IPC_SHAPE_*; NULL beyond. */
const pctl_ipc_shape *pctl_ipc_shape_of(uint32_t shape);
/* NULL when there is no such message. */
const pctl_ipc_message *pctl_ipc_message_of(uint32_t number);
const pctl_ipc_command *pctl_ipc_commands(uint32_t *n);
/* The shape of a command of this recording, or UINT32_MAX. */
uint32_t pctl_ipc_command_shape(uint32_t number, uint32_t whose);
/* Over all that stands in the table but the words for people. */
uint64_t pctl_ipc_table_hash(void);

/* 1 when a status is one of status.h. */
int pctl_ipc_status_known(pctl_status s);

/* ---- packing and unpacking ----------------------------------------------------------------- */

/* Append what `value`, a structure of `shape`, holds. number: of an object, for shapes with handles. A list that is longer
 * than it may be, or that lies nowhere, is sent as its length alone: who reads it refuses. */
void pctl_ipc_pack(pctl_ipc_out *o, uint32_t shape, const void *value,
		   uint32_t (*number)(const void *object));

/* arena: for lists. find: the object of a handle, NULL when it is not one that `ctx` was given; may be NULL itself. */
typedef struct pctl_ipc_scope {
	pctl_arena *arena;
	void *(*find)(void *ctx, uint32_t kind, uint32_t number);
	void *ctx;
} pctl_ipc_scope;

/* Fill in a structure of `shape`. Texts and bytes point into the input. 0, and `in` has failed: something is out of its bounds
 * (or memory is short); what stands in `out` has no meaning then. */
int pctl_ipc_unpack(pctl_ipc_in *in, uint32_t shape, const pctl_ipc_scope *scope, void *out);
/* The same, and nothing is left over. */
int pctl_ipc_unpack_all(pctl_ipc_in *in, uint32_t shape, const pctl_ipc_scope *scope, void *out);

/* A diagnostic, as an item of `answer`: notes beyond what may travel are left out. */
void pctl_ipc_put_diag(pctl_ipc_out *o, const pctl_diag *d);

#endif
