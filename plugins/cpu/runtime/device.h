/* The interpreter's device behind the backend interface: buffers, kernels, lists, submits. One
 * thread of the device runs submits in order and shares each dispatch with a pool of helpers. */
#ifndef PCTL_CPU_DEVICE_H
#define PCTL_CPU_DEVICE_H

#include "lanes/batch.h"

#include <pthread.h>

#define PCTL_CPU_CAPS                                                                    \
	(PCTL_CAP_I64 | PCTL_CAP_I64_DIV | PCTL_CAP_F16 | PCTL_CAP_F32 | PCTL_CAP_BF16 | \
	 PCTL_CAP_F64 | PCTL_CAP_STRICT_FLOAT | PCTL_CAP_STORE16 | PCTL_CAP_SUBGROUPS |  \
	 PCTL_CAP_TILES)
#define PCTL_CPU_MAX_INVOCATIONS 1024u
#define PCTL_CPU_MAX_WORKGROUP_BYTES (256u << 20)
#define PCTL_CPU_MAX_BINDINGS 1024u
#define PCTL_CPU_MAX_GROUPS 65535u
#define PCTL_CPU_MAX_BINDING_BYTES \
	(4ull * 0xffffffffu) /* an index of 32 bits reaches every word \
			      */
#define PCTL_CPU_BINDING_ALIGNMENT 16u
#define PCTL_CPU_MAX_THREADS 256u
#define PCTL_CPU_N_TIMESTAMPS 64u

struct pctl_instance {
	const pctl_host *host;
};

typedef struct pctl_cpu_pool pctl_cpu_pool;
typedef struct pctl_cpu_ticket pctl_cpu_ticket;

struct pctl_buffer {
	pctl_device *dev;
	uint8_t *data;
	uint64_t n_bytes;
	uint64_t mapped_bytes; /* 0: from the heap */
	uint32_t usage;
	uint32_t refs;		 /* the host's and one for each command */
	pctl_cpu_shadow *shadow; /* made by the first sanitized dispatch */
};

struct pctl_kernel {
	pctl_device *dev;
	pctl_program *program;
	pctl_cpu_code *code;
	pctl_cpu_batch **batches; /* by thread, made on first use */
	uint32_t n_batches;
	uint32_t refs;
};

enum {
	PCTL_CPU_CMD_DISPATCH,
	PCTL_CPU_CMD_INDIRECT,
	PCTL_CPU_CMD_COPY,
	PCTL_CPU_CMD_FILL,
	PCTL_CPU_CMD_TIMESTAMP
};

typedef struct pctl_cpu_cmd {
	uint32_t kind;
	uint32_t number; /* of a dispatch in the list */
	pctl_kernel *kernel;
	pctl_cpu_bound *bounds; /* by slot */
	pctl_buffer **buffers;	/* by slot, NULL where nothing is bound */
	uint32_t groups[3];	/* indirect: the limits */
	uint32_t word;		/* fill: the pattern; timestamp: the slot */
	pctl_buffer *from, *to;
	uint64_t from_offset, to_offset, n_bytes;
} pctl_cpu_cmd;

struct pctl_list {
	pctl_device *dev;
	pctl_cpu_cmd *cmds;
	uint32_t n_cmds, cap_cmds;
	uint32_t n_dispatches;
	uint32_t state; /* PCTL_CPU_LIST_* */
	uint32_t busy;	/* under the device's lock: a submit is under way */
};
enum { PCTL_CPU_LIST_OPEN, PCTL_CPU_LIST_CLOSED, PCTL_CPU_LIST_BROKEN };

struct pctl_cpu_ticket {
	uint64_t id;
	pctl_list *list;
	uint32_t times;
	uint32_t cancel; /* atomic */
	uint32_t done;
	pctl_status status;
	pctl_completion completion;
	pctl_cpu_ticket *next;
};

struct pctl_device {
	pctl_instance *inst;
	const pctl_cpu_kernels *k;
	pctl_cpu_pool *pool;
	uint32_t n_threads;
	uint32_t stop; /* under the lock */
	uint64_t memory_bytes;
	uint8_t *nothing; /* stands for the memory of an empty binding */
	pthread_t runner;
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	pctl_cpu_ticket *tickets; /* in order of submission */
	uint64_t last_ticket;
	/* Owned by the runner while a submit is under way, by the device thread otherwise. */
	pctl_cpu_sanitizer *sanitizer;
	pctl_counts *counts;
};

/* ---- pool.c: threads that share a dispatch ---- */
/* Run work(ctx, i) for i in 0..n_threads-1, each on its own thread, 0 on the caller's; wait for
 * all. */
pctl_cpu_pool *pctl_cpu_pool_create(uint32_t n_threads);
void pctl_cpu_pool_destroy(pctl_cpu_pool *pool);
void pctl_cpu_pool_run(pctl_cpu_pool *pool, void (*work)(void *ctx, uint32_t thread), void *ctx);
/* Processors this process may use. */
uint32_t pctl_cpu_pool_processors(void);

/* ---- run.c ---- */
void *pctl_cpu_runner(void *device);
/* Wait until no submit is under way. */
void pctl_cpu_idle(pctl_device *dev);
pctl_status pctl_cpu_dispatch(pctl_device *dev, const pctl_cpu_cmd *cmd, const uint32_t groups[3],
			      const uint32_t *cancel);

/* ---- the interface's slots ---- */
pctl_status pctl_cpu_buffer_create(pctl_device *dev, const pctl_call *call, uint64_t n_bytes,
				   uint32_t usage, pctl_buffer **out);
void pctl_cpu_buffer_destroy(pctl_device *dev, pctl_buffer *buf);
void pctl_cpu_buffer_release(pctl_buffer *buf);
pctl_status pctl_cpu_buffer_write(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				  uint64_t offset, const void *data, uint64_t n_bytes);
pctl_status pctl_cpu_buffer_read(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				 uint64_t offset, void *data, uint64_t n_bytes);
/* The range lies in the buffer and the buffer has the usage bit. */
pctl_status pctl_cpu_buffer_range(const pctl_device *dev, const pctl_call *call,
				  const pctl_buffer *buf, uint64_t offset, uint64_t n_bytes,
				  uint32_t usage, const char *what);

pctl_status pctl_cpu_kernel_build(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				  uint64_t n, uint32_t flags, const void *cache,
				  uint64_t cache_bytes, pctl_kernel **out);
void pctl_cpu_kernel_destroy(pctl_device *dev, pctl_kernel *k);
void pctl_cpu_kernel_release(pctl_kernel *k);

pctl_status pctl_cpu_list_begin(pctl_device *dev, const pctl_call *call, pctl_list **out);
pctl_status pctl_cpu_list_dispatch(pctl_list *l, const pctl_call *call, pctl_kernel *k,
				   const pctl_binding *bindings, uint32_t n_bindings,
				   const uint32_t groups[3]);
pctl_status pctl_cpu_list_dispatch_indirect(pctl_list *l, const pctl_call *call, pctl_kernel *k,
					    const pctl_binding *bindings, uint32_t n_bindings,
					    pctl_buffer *buf, uint64_t offset,
					    const uint32_t limit[3]);
pctl_status pctl_cpu_list_copy(pctl_list *l, const pctl_call *call, pctl_buffer *from,
			       uint64_t from_offset, pctl_buffer *to, uint64_t to_offset,
			       uint64_t n_bytes);
pctl_status pctl_cpu_list_fill(pctl_list *l, const pctl_call *call, pctl_buffer *buf,
			       uint64_t offset, uint64_t n_bytes, uint32_t word);
pctl_status pctl_cpu_list_barrier(pctl_list *l, const pctl_call *call);
pctl_status pctl_cpu_list_timestamp(pctl_list *l, const pctl_call *call, uint32_t slot);
pctl_status pctl_cpu_list_end(pctl_list *l, const pctl_call *call);
void pctl_cpu_list_destroy(pctl_device *dev, pctl_list *l);
/* bind.c: check the bindings of a dispatch and turn them into cmd's bounds and buffers. */
pctl_status pctl_cpu_bind(pctl_device *dev, const pctl_call *call, const pctl_kernel *k,
			  const pctl_binding *bindings, uint32_t n_bindings, pctl_cpu_cmd *cmd);

pctl_status pctl_cpu_submit(pctl_device *dev, const pctl_call *call, pctl_list *l, uint32_t times,
			    uint64_t *ticket);
pctl_status pctl_cpu_wait(pctl_device *dev, const pctl_call *call, uint64_t ticket,
			  uint64_t timeout_ns, pctl_completion *out);
void pctl_cpu_cancel(pctl_device *dev, uint64_t ticket);
pctl_status pctl_cpu_findings(pctl_device *dev, const pctl_call *call, uint32_t capacity,
			      pctl_finding *out, uint32_t *n_out);
pctl_status pctl_cpu_counts(pctl_device *dev, const pctl_call *call, pctl_counts *out);

pctl_status pctl_cpu_device_open(pctl_instance *inst, const pctl_call *call, uint32_t index,
				 pctl_device **out);
void pctl_cpu_device_close(pctl_device *dev);

#endif
