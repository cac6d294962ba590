/* The backend interface `pctl.backend/1`: devices, buffers, programs, command lists, tickets. A
 * backend runs legalised programs (program.h) and owes nothing else: no hashing, no policy, no
 * float expertise.
 *
 * Lifetimes: instance > device > {buffer, program, list} ; a list refers to the programs and
 * buffers recorded in it, which outlive it. A list may be submitted any number of times, one submit
 * at a time. Threads: all calls for one device come from one thread, except cancel. No call runs
 * code of the host other than the sink and cancel test of its own pctl_call. Every call is
 * serialisable: the host runs backends in a worker process and forwards each of them.
 *
 * Errors: a call that fails says why in one diagnostic with a code of the table (pctl_refuse) and
 * returns that code's status; the host says PC3118 for a failure without a word, and PC3108 for a
 * status that it does not know or a call that says PCTL_OK and makes nothing. Every call may return
 * PCTL_E_NOMEM, PCTL_E_CANCELLED once its cancel test said yes, PCTL_E_DEVICE_LOST, after which the
 * device is good for device_close alone, and PCTL_E_INTERNAL; further ones stand at the slot. On any
 * error nothing is made and what an `out` points to is not read. The host checks what it passes
 * (ranges, alignments, limits of device_caps) and so does a backend, with PCTL_E_INVALID.
 */
#ifndef PIPECTL_BACKEND_H
#define PIPECTL_BACKEND_H

#include "pipectl/plugin.h"
#include "pipectl/program.h"

#define PCTL_BACKEND_INTERFACE "pctl.backend/1"

typedef struct pctl_device pctl_device;
typedef struct pctl_buffer pctl_buffer;
typedef struct pctl_kernel pctl_kernel; /* a program built for a device */
typedef struct pctl_list pctl_list;

#define PCTL_NAME_MAX 256

enum {
	PCTL_DEVICE_OTHER = 0,
	PCTL_DEVICE_REFERENCE = 1, /* believed of plugins with that role alone, else OTHER */
	PCTL_DEVICE_CPU = 2,
	PCTL_DEVICE_INTEGRATED = 3,
	PCTL_DEVICE_DISCRETE = 4
};

/* Handed over in arrays, whose stride both sides must know: in spite of its head it never grows. What else there is to
 * say of a device is a fact of its identity. */
typedef struct pctl_device_info {
	pctl_head head;
	uint32_t kind; /* PCTL_DEVICE_* */
	uint32_t reserved;
	char name[PCTL_NAME_MAX];   /* as the driver calls it */
	char driver[PCTL_NAME_MAX]; /* driver and version */
} pctl_device_info;

/* One fact of a device's identity: "vendor", "device", "driver", "driver-version", "compiler",
 * "uuid", "api". All of it enters receipts and profile keys. */
typedef struct pctl_key_value {
	char key[64];
	char value[PCTL_NAME_MAX];
} pctl_key_value;

typedef struct pctl_device_caps {
	pctl_head head;
	uint64_t caps;	       /* PCTL_CAP_* the device can run natively */
	uint64_t memory_bytes; /* for buffers, 0 unknown */
	uint64_t max_binding_bytes;
	uint64_t max_buffer_bytes;
	uint64_t binding_alignment; /* of a binding's offset */
	uint64_t max_groups[3];
	uint32_t max_local[3];
	uint32_t max_invocations; /* of a workgroup */
	uint32_t max_workgroup_bytes;
	uint32_t max_bindings;	   /* storage and uniform together, of one entry point */
	uint32_t subgroup_size;	   /* 0 unknown */
	uint32_t timestamp_ns_den; /* 0: no timestamps */
} pctl_device_caps;

/* Answer to `supports`. reason is mandatory when supported is 0. */
typedef struct pctl_support {
	pctl_head head;
	uint32_t supported;
	uint32_t code; /* diagnostic code of the refusal, 0 when supported */
	char reason[PCTL_NAME_MAX];
} pctl_support;

#define PCTL_BUFFER_STORAGE 1u
#define PCTL_BUFFER_UNIFORM 2u
#define PCTL_BUFFER_TRANSFER 4u /* read or written by the host, copied, filled */
#define PCTL_BUFFER_INDIRECT 8u

/* A buffer range bound to a variable. n_bytes is what ARRAY_LENGTH and bounds checks are made from;
 * 0 is valid (every access misses, buffer may then be NULL). */
typedef struct pctl_binding {
	uint32_t group;
	uint32_t binding;
	pctl_buffer *buffer;
	uint64_t offset;
	uint64_t n_bytes;
} pctl_binding;

#define PCTL_BUILD_SANITIZE \
	1u /* detect races, out-of-bounds accesses, divergent barriers (asked of the reference) */
#define PCTL_BUILD_COUNT 2u /* count what runs (asked of the reference) */

/* What happened in a submit. timestamps: nanoseconds since the first, one per list_timestamp
 * slot. */
typedef struct pctl_completion {
	pctl_head head;
	uint32_t done; /* 0: the timeout came first */
	uint32_t n_timestamps;
	uint64_t device_ns; /* busy time on the device, 0 unknown */
	uint64_t timestamps[64];
} pctl_completion;

/* TURNS: of a program with a turn flag (pctl_program_turn_flag), the first place that sets it: in the first such workgroup
 * (address is its number) in the first such barrier interval (count is its number) by the lowest local index. Workgroups
 * behind it need not run. */
enum {
	PCTL_FINDING_RACE = 1,
	PCTL_FINDING_OUT_OF_BOUNDS = 2,
	PCTL_FINDING_DIVERGENT_BARRIER = 3,
	PCTL_FINDING_TURNS = 4
};

/* One thing a sanitizing backend saw. function and inst place it in the program that was built.
 * For a race, the two invocations (global linear ids) and instructions; address is the byte
 * offset in the binding, or in the workgroup variable var. */
typedef struct pctl_finding {
	uint32_t kind;
	uint32_t dispatch; /* number of the dispatch in the list */
	uint32_t var;	   /* module variable, or PCTL_PLACE_LOCAL | local */
	uint32_t function;
	uint32_t inst;
	uint32_t other_function;
	uint32_t other_inst;
	uint32_t reserved;
	uint64_t address;
	uint64_t invocation;
	uint64_t other_invocation;
	uint64_t count; /* how often; later ones of the same pair of instructions only add here */
} pctl_finding;

/* What really ran, summed over all dispatches since the last call, in units of the gas tables:
 * entry op is the number of invocation-executions of that opcode times its weight units
 * (components; 2 per 64-bit component), bytes for memory. */
typedef struct pctl_counts {
	pctl_head head;
	uint64_t op_units[512]; /* by opcode */
	uint64_t storage_read_bytes;
	uint64_t storage_write_bytes;
	uint64_t other_memory_bytes; /* workgroup, private, function */
	/* array indices that are not literals; which of them cost gas is the schedule's rule */
	uint64_t checked_accesses;
	uint64_t barriers[4]; /* per workgroup, by PCTL_BARRIER_* mask */
	uint64_t out_of_bounds;
	uint64_t lane_ops; /* executed instructions times active lanes */
} pctl_counts;

/*
 * The table. All slots are mandatory except those marked [optional], which may be NULL. Sizes are
 * bytes.
 */
typedef struct pctl_backend {
	pctl_head head;

	/* Fill up to `capacity` device records, in a stable order; *n_out is how many there are.
	 * No devices is not an error. Errors: PCTL_E_UNSUPPORTED, the loader or driver cannot be
	 * used. [device thread; may block for driver start-up] */
	pctl_status (*devices)(pctl_instance *inst, const pctl_call *call, uint32_t capacity,
			       pctl_device_info *out, uint32_t *n_out);
	/* Open device `index` of `devices`. Errors: PCTL_E_UNSUPPORTED, PCTL_E_DEVICE_LOST. */
	pctl_status (*device_open)(pctl_instance *inst, const pctl_call *call, uint32_t index,
				   pctl_device **out);
	/* Close; waits for work under way. Everything made from the device is destroyed already. */
	void (*device_close)(pctl_device *dev);
	/* Fill up to `capacity` identity facts, *n_out is how many there are: the same every time. */
	pctl_status (*device_identity)(pctl_device *dev, const pctl_call *call, uint32_t capacity,
				       pctl_key_value *out, uint32_t *n_out);
	/* What the device can do: the same every time. The host refuses what no device can be. */
	pctl_status (*device_caps)(pctl_device *dev, const pctl_call *call, pctl_device_caps *out);
	/* Can the device run this program (its first entry point)? Cheap: no driver compilation.
	 * That it cannot is PCTL_OK with supported 0. Errors: PCTL_E_INVALID, no such program. */
	pctl_status (*supports)(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				uint64_t n, pctl_support *out);

	/* A buffer of n_bytes, all zero; 0 is valid and yields a buffer that every access misses.
	 * Errors: PCTL_E_LIMIT, PCTL_E_NOMEM, PCTL_E_DEVICE_LOST. */
	pctl_status (*buffer_create)(pctl_device *dev, const pctl_call *call, uint64_t n_bytes,
				     uint32_t usage, pctl_buffer **out);
	void (*buffer_destroy)(pctl_device *dev, pctl_buffer *buf);
	/* Copy between host memory and a buffer; the range lies inside it, no submit is under
	 * way. Errors: PCTL_E_INVALID, it does not lie inside. */
	pctl_status (*buffer_write)(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				    uint64_t offset, const void *data, uint64_t n_bytes);
	pctl_status (*buffer_read)(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				   uint64_t offset, void *data, uint64_t n_bytes);

	/* Build the first entry point of a specialised, legalised program. flags: PCTL_BUILD_*,
	 * unknown ones are refused. cache: what kernel_cache gave for this very wire form on
	 * this device and driver, or NULL; a stale or damaged cache is ignored. Errors:
	 * PCTL_E_UNSUPPORTED for what `supports` refuses and for unknown flags, PCTL_E_FAILED when
	 * the driver's compiler fails, PCTL_E_LIMIT. */
	pctl_status (*kernel_build)(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				    uint64_t n, uint32_t flags, const void *cache,
				    uint64_t cache_bytes, pctl_kernel **out);
	/* [optional] The cache blob: *n_out bytes, up to capacity of them copied. 0 bytes:
	 * nothing to keep. */
	pctl_status (*kernel_cache)(pctl_device *dev, const pctl_call *call, pctl_kernel *k,
				    uint64_t capacity, void *out, uint64_t *n_out);
	void (*kernel_destroy)(pctl_device *dev, pctl_kernel *k);

	/* Record. Commands run in order; memory effects of one are visible to the next only
	 * across list_barrier. list_end checks and closes the list; a list in error is only good
	 * for destroy. Errors of all of them: PCTL_E_INVALID (a binding that is missing, out of
	 * range or overlaps, a misaligned offset), PCTL_E_LIMIT (more groups than the device
	 * has), at the call or at list_end. */
	pctl_status (*list_begin)(pctl_device *dev, const pctl_call *call, pctl_list **out);
	/* Dispatch groups[0..2] workgroups; 0 in any is valid and does nothing. One binding for
	 * each uniform and storage variable of the program. Bindings of writable variables
	 * overlap no other. */
	pctl_status (*list_dispatch)(pctl_list *l, const pctl_call *call, pctl_kernel *k,
				     const pctl_binding *bindings, uint32_t n_bindings,
				     const uint32_t groups[3]);
	/* As list_dispatch, the three u32 counts are read from `buf` at `offset` (multiple of 4)
	 * when the list runs; each is clamped to `limit`. */
	pctl_status (*list_dispatch_indirect)(pctl_list *l, const pctl_call *call, pctl_kernel *k,
					      const pctl_binding *bindings, uint32_t n_bindings,
					      pctl_buffer *buf, uint64_t offset,
					      const uint32_t limit[3]);
	/* Offsets and sizes are multiples of 4; source and target ranges do not overlap. */
	pctl_status (*list_copy)(pctl_list *l, const pctl_call *call, pctl_buffer *from,
				 uint64_t from_offset, pctl_buffer *to, uint64_t to_offset,
				 uint64_t n_bytes);
	pctl_status (*list_fill)(pctl_list *l, const pctl_call *call, pctl_buffer *buf,
				 uint64_t offset, uint64_t n_bytes, uint32_t word);
	pctl_status (*list_barrier)(pctl_list *l, const pctl_call *call);
	/* Note the device time in slot (0..63) once all commands before have finished. */
	pctl_status (*list_timestamp)(pctl_list *l, const pctl_call *call, uint32_t slot);
	pctl_status (*list_end)(pctl_list *l, const pctl_call *call);
	void (*list_destroy)(pctl_device *dev, pctl_list *l);

	/* Run the list `times` times in a row (a barrier between), *ticket identifies it. Errors
	 * here leave nothing under way: PCTL_E_INVALID while the list still runs or is not closed. */
	pctl_status (*submit)(pctl_device *dev, const pctl_call *call, pctl_list *l, uint32_t times,
			      uint64_t *ticket);
	/* Wait up to timeout_ns. PCTL_OK with done = 0 is a timeout. PCTL_E_DEVICE_LOST: the
	 * device is only good for device_close. */
	pctl_status (*wait)(pctl_device *dev, const pctl_call *call, uint64_t ticket,
			    uint64_t timeout_ns, pctl_completion *out);
	/* Ask to stop; wait then returns PCTL_E_CANCELLED or the result. [any thread] */
	void (*cancel)(pctl_device *dev, uint64_t ticket);

	/* [optional] What a sanitizing or counting build found since the last call; *n_out is
	 * how many there are, up to capacity are copied. Backends without PCTL_BUILD_SANITIZE
	 * leave it NULL. */
	pctl_status (*findings)(pctl_device *dev, const pctl_call *call, uint32_t capacity,
				pctl_finding *out, uint32_t *n_out);
	/* [optional] What a counting build ran since the last call. */
	pctl_status (*counts)(pctl_device *dev, const pctl_call *call, pctl_counts *out);
	/* [optional] What kernel_build would hand to the driver's compiler for this program, as
	 * text for people: language[PCTL_NAME_MAX] says in what ("opencl", "spirv": its assembly),
	 * *n_out bytes, up to capacity of them copied. Nothing is compiled. Errors: those of
	 * kernel_build that come before the driver. */
	pctl_status (*kernel_source)(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				     uint64_t n, uint64_t capacity, char *out, uint64_t *n_out,
				     char *language);
} pctl_backend;

#endif
