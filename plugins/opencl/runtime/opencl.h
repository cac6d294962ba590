/* What the runtime half of the plugin shares: the objects behind backend.h's handles. Only this
 * half sees an OpenCL header; the half that writes source (emit.h) does not. */
#ifndef PCTL_OPENCL_OPENCL_H
#define PCTL_OPENCL_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <pthread.h>

#include "clc/emit.h"
#include "pipectl/backend.h"

#define OPENCL_MAX_DEVICES 64u
/* Commands enqueued ahead of the device: enough to hide the host, few enough that cancel is prompt.
 */
#define OPENCL_WINDOW 256u
/* And handed on at once so often within a window, first behind so many. */
#define OPENCL_FLUSH 64u
#define OPENCL_FLUSH_FIRST 8u

typedef struct opencl_id {
	cl_platform_id platform;
	cl_device_id device;
} opencl_id;

struct pctl_instance {
	const pctl_host *host;
	uint32_t n_ids;
	uint32_t enumerated;
	opencl_id ids[OPENCL_MAX_DEVICES];
};

struct pctl_buffer {
	cl_mem mem; /* NULL for 0 bytes */
	uint64_t n_bytes;
};

struct pctl_kernel {
	pctl_program *program;
	emit_facts facts;
	cl_program built;
	uint32_t whole_groups; /* a work-item runs a whole workgroup (spmd/) */
	size_t local[3];       /* work-items of a group */
	uint64_t
		key[2]; /* of device, driver, options and source: what a cached binary must match */
};

enum { COMMAND_DISPATCH, COMMAND_INDIRECT, COMMAND_COPY, COMMAND_FILL, COMMAND_TIMESTAMP };

typedef struct command {
	uint32_t kind;
	uint32_t slot; /* of a timestamp */
	cl_kernel kernel;
	size_t groups[3]; /* dispatch: counts; indirect: limits */
	size_t local[3];
	cl_mem from; /* copy: source; indirect: where the counts are */
	cl_mem to;
	size_t from_offset, to_offset, n_bytes;
	uint32_t word;
	uint32_t reserved;
} command;

struct pctl_list {
	pctl_device *dev;
	command *commands;
	uint32_t n_commands, capacity;
	cl_mem *spare; /* zero-filled stand-ins for bindings without bytes */
	uint32_t n_spare;
	uint32_t ended;
	uint32_t failed;
	uint32_t n_slots;   /* highest timestamp slot used, plus one */
	cl_event slots[64]; /* of the submit under way */
};

/* A submit under way: how far the commands have been handed to the driver. */
typedef struct ticket {
	struct ticket *next;
	uint64_t id;
	pctl_list *list;
	uint32_t times;	    /* runs left, counting the one under way */
	uint32_t at;	    /* next command */
	uint32_t in_flight; /* since the last fence */
	uint32_t counting;  /* an indirect count is on its way to `counts` */
	uint32_t all_sent;
	cl_event first, fence, last, count_event;
	uint32_t counts[3];
	pctl_status error;
} ticket;

/* Shared with the driver's callback thread; outlives the device when a callback is late. */
typedef struct waker {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint32_t generation;
	uint32_t references;
} waker;

struct pctl_device {
	pctl_instance *inst;
	opencl_id id;
	cl_context context;
	cl_command_queue queue;
	const char *options;	   /* for the driver's compiler */
	const char *float_options; /* the same for a program with floats */
	uint64_t float_caps;	   /* of PCTL_CAP_F16, PCTL_CAP_F64 */
	uint32_t emit_flags;	   /* EMIT_* of emit.h */
	uint32_t is_cpu;	   /* its driver runs on the processors that the host has */
	uint32_t spmd;		   /* kernels are written for whole workgroups, where they can be */
	cl_uint address_bits;
	cl_bool unified;
	uint32_t keeps_kernels; /* the driver has a folder for them: kernel_cache gives nothing */
	uint32_t lost;
	uint32_t n_kv;
	uint64_t max_alloc, memory, local_bytes, max_invocations, constant_bytes;
	uint64_t max_local[3];
	uint64_t next_ticket;
	uint64_t cancel_id; /* atomic: ticket asked to stop, 0 none */
	ticket *tickets;    /* oldest first */
	waker *wake;
	pctl_key_value identity[16];
};

/* error.c: report a failed driver call; the status tells trouble from loss. */
pctl_status opencl_fail(pctl_device *dev, const pctl_call *call, cl_int error, const char *what);
const char *opencl_error_name(cl_int error);

/* device.c */
pctl_status opencl_devices(pctl_instance *inst, const pctl_call *call, uint32_t capacity,
			   pctl_device_info *out, uint32_t *n_out);
pctl_status opencl_device_open(pctl_instance *inst, const pctl_call *call, uint32_t index,
			       pctl_device **out);
void opencl_device_close(pctl_device *dev);
pctl_status opencl_device_identity(pctl_device *dev, const pctl_call *call, uint32_t capacity,
				   pctl_key_value *out, uint32_t *n_out);
pctl_status opencl_device_caps(pctl_device *dev, const pctl_call *call, pctl_device_caps *out);

/* buffer.c */
pctl_status opencl_buffer_create(pctl_device *dev, const pctl_call *call, uint64_t n_bytes,
				 uint32_t usage, pctl_buffer **out);
void opencl_buffer_destroy(pctl_device *dev, pctl_buffer *buf);
pctl_status opencl_buffer_write(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				uint64_t offset, const void *data, uint64_t n_bytes);
pctl_status opencl_buffer_read(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
			       uint64_t offset, void *data, uint64_t n_bytes);
/* n_bytes of zeros on the device. */
pctl_status opencl_zeros(pctl_device *dev, const pctl_call *call, uint64_t n_bytes, cl_mem *out);

/* kernel.c */
pctl_status opencl_supports(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
			    uint64_t n, pctl_support *out);
pctl_status opencl_kernel_build(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				uint64_t n, uint32_t flags, const void *cache, uint64_t cache_bytes,
				pctl_kernel **out);
pctl_status opencl_kernel_source(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				 uint64_t n, uint64_t capacity, char *out, uint64_t *n_out,
				 char *language);
pctl_status opencl_kernel_cache(pctl_device *dev, const pctl_call *call, pctl_kernel *k,
				uint64_t capacity, void *out, uint64_t *n_out);
void opencl_kernel_destroy(pctl_device *dev, pctl_kernel *k);
/* cache.c: a program from a cache blob, or NULL when the blob is not for this key, damaged or
 * refused. */
cl_program opencl_cache_load(pctl_device *dev, const uint64_t key[2], const void *cache,
			     uint64_t cache_bytes);
void opencl_cache_key(const pctl_device *dev, const char *source, size_t n, uint64_t out[2]);

/* warm.c: run the kernel once with its switch off, where the device's kernels have one. */
pctl_status opencl_warm(pctl_device *dev, const pctl_call *call, const pctl_kernel *k);
/* The argument that says whether a dispatch does anything; kernels without a switch have none. */
pctl_status opencl_switch(pctl_device *dev, const pctl_call *call, const pctl_kernel *k,
			  cl_kernel kernel, cl_uint on);

/* list.c */
pctl_status opencl_list_begin(pctl_device *dev, const pctl_call *call, pctl_list **out);
pctl_status opencl_list_dispatch(pctl_list *l, const pctl_call *call, pctl_kernel *k,
				 const pctl_binding *bindings, uint32_t n_bindings,
				 const uint32_t groups[3]);
pctl_status opencl_list_dispatch_indirect(pctl_list *l, const pctl_call *call, pctl_kernel *k,
					  const pctl_binding *bindings, uint32_t n_bindings,
					  pctl_buffer *buf, uint64_t offset,
					  const uint32_t limit[3]);
pctl_status opencl_list_copy(pctl_list *l, const pctl_call *call, pctl_buffer *from,
			     uint64_t from_offset, pctl_buffer *to, uint64_t to_offset,
			     uint64_t n_bytes);
pctl_status opencl_list_fill(pctl_list *l, const pctl_call *call, pctl_buffer *buf, uint64_t offset,
			     uint64_t n_bytes, uint32_t word);
pctl_status opencl_list_barrier(pctl_list *l, const pctl_call *call);
pctl_status opencl_list_timestamp(pctl_list *l, const pctl_call *call, uint32_t slot);
pctl_status opencl_list_end(pctl_list *l, const pctl_call *call);
void opencl_list_destroy(pctl_device *dev, pctl_list *l);

/* submit.c */
pctl_status opencl_submit(pctl_device *dev, const pctl_call *call, pctl_list *l, uint32_t times,
			  uint64_t *out);
pctl_status opencl_wait(pctl_device *dev, const pctl_call *call, uint64_t id, uint64_t timeout_ns,
			pctl_completion *out);
void opencl_cancel(pctl_device *dev, uint64_t id);
void opencl_tickets_drop(pctl_device *dev);

/* wake.c: sleep until the driver's callback or a short time has passed. */
waker *opencl_waker_create(void);
void opencl_waker_release(waker *w);
uint32_t opencl_waker_generation(waker *w);
/* Call back when the event completes. 1 when the driver took it. */
int opencl_waker_watch(waker *w, cl_event event);
/* Return once the generation is no longer `seen`, at the latest after ns. */
void opencl_waker_sleep(waker *w, uint32_t seen, uint64_t ns);
void opencl_waker_signal(waker *w);

#endif
