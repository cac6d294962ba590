/* The mock: another backend's device, or a synthetic one, that goes wrong as a script says. What is right is forwarded;
 * script.h says what can be asked for. */
#ifndef PCTL_MOCK_H
#define PCTL_MOCK_H

#include <pthread.h>

#include "pipectl/backend.h"
#include "faults/script.h"

#define MOCK_TIMESTAMPS 64u
#define MOCK_SPANS 8u

/* The backend under the mock: a loaded one, or synthetic.c. */
typedef struct mock_inner {
	const pctl_plugin *plugin; /* NULL: synthetic.c */
	const pctl_backend *table;
	pctl_instance *inst;
	uint32_t index;
} mock_inner;

struct pctl_instance {
	const pctl_host *host;
	mock_inner inner;
	mock_script script;
	char *text; /* of the script */
	pctl_status
		status; /* of the script and of the inner backend: told by devices and device_open */
	uint32_t in_host; /* not a worker: a crash would be the host's */
	uint64_t submits; /* of this process's life */
	uint64_t born_ns; /* when it was opened */
};

/* A submit. One whose work is done, or that hangs, has no inner ticket. */
typedef struct mock_ticket {
	uint64_t id, inner;
	uint32_t is_inner, hangs, is_lost, cancelled; /* cancelled under the lock */
	uint32_t waits;				      /* that still time out */
	uint32_t reserved;
	uint64_t not_before_ns;
	pctl_completion done;
	struct mock_ticket *next;
} mock_ticket;

struct pctl_device {
	pctl_instance *inst;
	const pctl_backend *t; /* the inner table */
	pctl_device *inner;
	uint32_t is_reference; /* the inner device: it gets strict operations for native ones */
	uint32_t is_lost;
	uint64_t last_ticket;
	uint64_t words;	      /* written back so far, for `lane` */
	uint64_t racing;      /* submits seen by `racy` */
	pthread_mutex_t lock; /* tickets, against cancel */
	mock_ticket *tickets;
};

/* refs: the host's and one for each recorded command. */
struct pctl_buffer {
	pctl_device *dev;
	pctl_buffer *inner;
	uint64_t n_bytes;
	uint32_t refs;
	uint32_t usage; /* as the host asked; the inner one can be written from outside as well */
	/* Spans that were read before, for `read-twice`: what lies between two zones is read after them. */
	struct {
		uint64_t from, to;
	} read[MOCK_SPANS];
	uint32_t n_read;
};

typedef struct mock_slot {
	uint32_t group, binding;
} mock_slot;

struct pctl_kernel {
	pctl_device *dev;
	pctl_kernel *inner;
	mock_slot *written; /* bindings of writable variables, in their order */
	uint32_t n_written;
	uint32_t refs;
	uint32_t
		is_optional; /* subgroup operations or packed products of the device's own are in it */
};

enum { MOCK_DISPATCH, MOCK_INDIRECT, MOCK_COPY, MOCK_FILL, MOCK_BARRIER, MOCK_TIMESTAMP };

typedef struct mock_cmd {
	uint32_t kind;
	uint32_t word; /* fill: the pattern; timestamp: the slot */
	uint64_t trace;
	pctl_kernel *kernel;
	pctl_binding *bindings; /* of ours */
	uint32_t n_bindings;
	uint32_t groups[3];
	pctl_buffer *from, *to; /* from: also of the counts of an indirect dispatch */
	uint64_t from_offset, to_offset, n_bytes;
} mock_cmd;

/* A range of a buffer that a list writes. */
typedef struct mock_range {
	pctl_buffer *buffer;
	uint64_t offset, n_bytes;
} mock_range;

/* Recorded twice: in the inner list, which runs when nothing is to go wrong in its middle, and in cmds. */
struct pctl_list {
	pctl_device *dev;
	pctl_list *inner;
	mock_cmd *cmds;
	uint32_t n_cmds, cap_cmds;
	mock_range *outputs;
	uint32_t n_outputs, cap_outputs;
	uint32_t is_broken; /* a command was refused */
	uint32_t reserved;
	uint8_t **kept; /* one an output: what the first submit left, for `stale` */
};

/* ---- inner.c, synthetic.c ---- */
/* From PIPECTL_WRAP_*; without them the synthetic one. PC3281. */
pctl_status mock_inner_open(pctl_instance *inst, const pctl_call *call);
void mock_inner_close(mock_inner *in);
/* NAME's value: what the host gives this session, else the process's environment. */
const char *mock_setting(const pctl_host *host, const char *name, uint32_t *in_host);
extern const pctl_backend mock_synthetic;

/* ---- kernel.c ---- */
pctl_status mock_supports(pctl_device *dev, const pctl_call *call, const uint8_t *wire, uint64_t n,
			  pctl_support *out);
pctl_status mock_kernel_build(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
			      uint64_t n, uint32_t flags, const void *cache, uint64_t cache_bytes,
			      pctl_kernel **out);
pctl_status mock_kernel_cache(pctl_device *dev, const pctl_call *call, pctl_kernel *k,
			      uint64_t capacity, void *out, uint64_t *n_out);
void mock_kernel_destroy(pctl_device *dev, pctl_kernel *k);
void mock_kernel_release(pctl_kernel *k);

/* ---- buffer.c ---- */
pctl_status mock_buffer_create(pctl_device *dev, const pctl_call *call, uint64_t n_bytes,
			       uint32_t usage, pctl_buffer **out);
void mock_buffer_destroy(pctl_device *dev, pctl_buffer *b);
void mock_buffer_release(pctl_buffer *b);
/* A buffer of this device that the host may read, write, copy and fill. */
pctl_status mock_transfer(const pctl_device *dev, const pctl_call *call, const pctl_buffer *b,
			  const char *what);
pctl_status mock_buffer_write(pctl_device *dev, const pctl_call *call, pctl_buffer *b,
			      uint64_t offset, const void *data, uint64_t n_bytes);
pctl_status mock_buffer_read(pctl_device *dev, const pctl_call *call, pctl_buffer *b,
			     uint64_t offset, void *data, uint64_t n_bytes);

/* ---- list.c ---- */
pctl_status mock_list_begin(pctl_device *dev, const pctl_call *call, pctl_list **out);
pctl_status mock_list_dispatch(pctl_list *l, const pctl_call *call, pctl_kernel *k,
			       const pctl_binding *bindings, uint32_t n_bindings,
			       const uint32_t groups[3]);
pctl_status mock_list_dispatch_indirect(pctl_list *l, const pctl_call *call, pctl_kernel *k,
					const pctl_binding *bindings, uint32_t n_bindings,
					pctl_buffer *buf, uint64_t offset, const uint32_t limit[3]);
pctl_status mock_list_copy(pctl_list *l, const pctl_call *call, pctl_buffer *from,
			   uint64_t from_offset, pctl_buffer *to, uint64_t to_offset,
			   uint64_t n_bytes);
pctl_status mock_list_fill(pctl_list *l, const pctl_call *call, pctl_buffer *buf, uint64_t offset,
			   uint64_t n_bytes, uint32_t word);
pctl_status mock_list_barrier(pctl_list *l, const pctl_call *call);
pctl_status mock_list_timestamp(pctl_list *l, const pctl_call *call, uint32_t slot);
pctl_status mock_list_end(pctl_list *l, const pctl_call *call);
void mock_list_destroy(pctl_device *dev, pctl_list *l);
/* Record a command in an inner list. */
pctl_status mock_replay(const mock_cmd *c, pctl_device *dev, pctl_list *inner,
			const pctl_call *call);
/* Does it count as a step, and does it write? */
int mock_is_step(const mock_cmd *c);
/* Is binding b of this dispatch written? */
int mock_is_written(const mock_cmd *c, const pctl_binding *b);

/* ---- events.c: what the script wants of a submit ---- */
typedef struct mock_event {
	uint32_t times; /* complete runs of the list before */
	uint32_t after; /* commands of the run before */
	mock_range range;
	mock_fault *fault;
} mock_event;
/* Flips to be made while `l` runs `times` times, in order; *out is freed by the caller. Counts them as seen. */
pctl_status mock_events(pctl_list *l, const pctl_call *call, uint32_t times, mock_event **out,
			uint32_t *n_out);
/* What the list writes last; buffer NULL: nothing. */
mock_range mock_last_output(const pctl_list *l);
/* Is a fault that has a target, or is late, due in this submit? One without either always is. */
int mock_is_due(const pctl_list *l, const mock_fault *f, uint64_t trace, uint32_t times);

/* ---- corrupt.c: wrong bytes ---- */
pctl_status mock_flip(pctl_device *dev, const pctl_call *call, const mock_range *range,
		      uint64_t element, uint32_t bit);
/* After a run: zero, lane, racy, write-input, write-past, write-before, honest-*. */
pctl_status mock_corrupt(pctl_list *l, const pctl_call *call);
/* 1 when the script has such faults due, so that a submit must be waited for at once. */
int mock_corrupts(const pctl_list *l, uint64_t trace);
/* 1 when the script has a fault of this kind, which is always due. */
int mock_has(const pctl_device *dev, uint32_t kind);
/* The most bytes that a binding may have by the script. */
uint64_t mock_widest(const pctl_device *dev);
/* Keep the outputs of a first run, or bring them back. */
pctl_status mock_keep(pctl_list *l, const pctl_call *call);
pctl_status mock_bring_back(pctl_list *l, const pctl_call *call);

/* ---- submit.c, wait.c ---- */
pctl_status mock_submit(pctl_device *dev, const pctl_call *call, pctl_list *l, uint32_t times,
			uint64_t *ticket);
pctl_status mock_wait(pctl_device *dev, const pctl_call *call, uint64_t ticket, uint64_t timeout_ns,
		      pctl_completion *out);
void mock_cancel(pctl_device *dev, uint64_t ticket);
uint64_t mock_now_ns(void);

#endif
