/* The GPU VM (SEMANTICS.md section 9) for programs: machines of registers, metrics, heap, globals and control words that stay on a
 * device, whose programs are recorded once and submitted again. Part of libpipectl; what pipectl.h says of threads, memory, errors
 * and structures holds here. Machines and their programs use the pipectl handle as long as they live, and are one thread's with it;
 * there may be any number of machines.
 *
 * The names of the design document (vm_boot, vm_program, vm_write_register, vm_execute, vm_read_register, vm_shutdown) are macros where
 * PIPECTL_VM_NAMES is defined before this header. */
#ifndef PIPECTL_VM_H
#define PIPECTL_VM_H

#include "pipectl/pipectl.h"

PCTL_C_BEGIN

typedef struct pipectl_vm pipectl_vm;
typedef struct pipectl_vm_program pipectl_vm_program;

#define PIPECTL_VM_REGISTERS 32u
#define PIPECTL_VM_OUTBOX 30u
#define PIPECTL_VM_INBOX 31u

#define PIPECTL_VM_VERIFY \
	1u /* the reference does the same beside it, and what is read is compared: PC5208 */

/*
 * device         a selector; NULL: the first that the policy prefers
 * instances      0: 1
 * width          words of a register, a multiple of 64; 0: 4096
 * n_embd         words of data in a message; 0: width - 4
 * kv_bytes       of an instance's partition of the globals
 * globals_bytes  behind the partitions, the program's own
 * heap_bytes     where the heap's logical space ends; 0: at 2^48
 * budget_bytes   of device memory, for advice; 0: what the device has
 * target         the norm that the regulator wants; 0: its running mean
 */
typedef struct pipectl_vm_options {
	pctl_head head;
	const char *name, *device;
	uint32_t instances, width, n_embd, flags;
	uint64_t kv_bytes, globals_bytes, heap_bytes, budget_bytes;
	float target;
	uint32_t reserved;
} pipectl_vm_options;

/* Registers, metrics and globals are zero, but for targets; control words are 1, 0, 0, 1. Errors: PC4401, PC4402, those of opening a
 * device and of the policy. */
PCTL_EXPORT pctl_status pipectl_vm_boot(pipectl *p, const pipectl_vm_options *options,
					pipectl_vm **out);
/* Its programs are released before. */
PCTL_EXPORT void pipectl_vm_shutdown(pipectl_vm *vm);

/* Where things lie in the globals, and on which device the machine is. kv: of instance 0, the next kv_stride behind it. */
typedef struct pipectl_vm_layout {
	pctl_head head;
	const char *device;
	uint64_t statistics, throughput, kv, kv_stride, own, globals_bytes, heap_bytes;
	uint32_t instances, width, n_embd, reserved;
} pipectl_vm_layout;
PCTL_EXPORT pctl_status pipectl_vm_look(pipectl_vm *vm, pipectl_vm_layout *out);

/* ---- memory ------------------------------------------------------------------------------- */

/* The next part of the heap: at is its logical offset, cid the name of the bytes as the host had them. They are uploaded and not kept.
 * PC4403. */
PCTL_EXPORT pctl_status pipectl_vm_heap(pipectl_vm *vm, const void *data, uint64_t n_bytes,
					uint64_t *at, char cid[PIPECTL_CID_SIZE]);

/* n_words of a register, from its first on. PC4405. */
PCTL_EXPORT pctl_status pipectl_vm_write_register(pipectl_vm *vm, uint32_t instance,
						  uint32_t number, const float *data,
						  uint32_t n_words);
PCTL_EXPORT pctl_status pipectl_vm_read_register(pipectl_vm *vm, uint32_t instance, uint32_t number,
						 float *data, uint32_t n_words);
/* Bytes of the globals; multiples of 4. */
PCTL_EXPORT pctl_status pipectl_vm_write_globals(pipectl_vm *vm, uint64_t at, const void *data,
						 uint64_t n_bytes);
PCTL_EXPORT pctl_status pipectl_vm_read_globals(pipectl_vm *vm, uint64_t at, void *data,
						uint64_t n_bytes);
/* scale_factor, eviction_priority, precision_mode (0 alone: PC4407), active (0 only with a program that is skipping: PC4408). */
PCTL_EXPORT pctl_status pipectl_vm_write_control(pipectl_vm *vm, uint32_t instance,
						 const float words[4]);
PCTL_EXPORT pctl_status pipectl_vm_read_control(pipectl_vm *vm, uint32_t instance, float words[4]);
/* activation_norm, max_abs, compute_ticks, memory_used, layer_idx, status_flags: as programs read them, so that the third and fourth
 * are 0. */
PCTL_EXPORT pctl_status pipectl_vm_read_metrics(pipectl_vm *vm, uint32_t instance, float words[6]);

/* The CID of a message (the outbox of an instance), its metrics, or all globals, with what tells time or memory as 0. */
#define PIPECTL_VM_MESSAGE 1u
#define PIPECTL_VM_METRICS 2u
#define PIPECTL_VM_GLOBALS 3u
PCTL_EXPORT pctl_status pipectl_vm_name(pipectl_vm *vm, uint32_t what, uint32_t instance,
					char cid[PIPECTL_CID_SIZE]);

/* ---- programs ----------------------------------------------------------------------------- */

#define PIPECTL_VM_IN_REGISTER 1u
#define PIPECTL_VM_IN_HEAP 2u
#define PIPECTL_VM_IN_GLOBALS 3u

/* A port of an op: where its tensor lies. at, stride: multiples of 256; in the heap and the globals instance i has it at
 * at + i * stride. type: "f32[1,64]". An output that the op declares to lie in an input's place may be that very range. */
typedef struct pipectl_vm_port {
	const char *type;
	uint64_t at, stride;
	uint32_t space, number;
} pipectl_vm_port;

#define PIPECTL_VM_SOME 1u /* first and last say which instances it is for; else it is for all */

/*
 * A step: a kernel (wgsl) or an op.
 *
 * name    of the kernel, for messages
 * wgsl    at group 0, bindings 0 to 4: registers, metrics, heap, globals, control; at group 1, binding 0 a uniform block of layer_idx,
 *         n_embd, width, instances, the window's offset and its bytes (two words each, the lower first), then params
 * groups  of the dispatch; 0 counts as 1
 * heap_*  the window of the heap that it is bound to: multiples of 256, within one part; heap_bytes 0: none
 * op      "tensor.matmul@1"; in, out: its ports; attr: its attributes
 */
typedef struct pipectl_vm_step {
	pctl_head head;
	uint32_t flags, first, last, reserved;
	const char *name, *wgsl, *entry;
	const pipectl_setting *overrides;
	const uint32_t *params;
	uint32_t n_overrides, n_params;
	uint32_t groups[3];
	uint32_t reserved2;
	uint64_t heap_at, heap_stride, heap_bytes;
	const char *op;
	const pipectl_vm_port *in, *out;
	const pipectl_setting *attr;
	uint32_t n_in, n_out, n_attr, reserved3;
} pipectl_vm_step;

#define PIPECTL_VM_ACT 1u      /* the regulator writes scale factors, and does not observe alone */
#define PIPECTL_VM_SKIPPING 2u /* active = 0 skips an instance */
#define PIPECTL_VM_CLOCK 4u    /* the device's time of each instance is taken, for advice */

/* steps: what each instance runs, in this order. epsilon: a norm below it has vanished. advance: added to the position counter, the first
 * word of the globals, behind the last instance. */
typedef struct pipectl_vm_program_options {
	pctl_head head;
	const pipectl_vm_step *const *steps;
	uint32_t n_steps, flags, advance;
	float epsilon;
} pipectl_vm_program_options;

/* Built, checked, recorded. Errors: PC4404 to PC4408, those of kernels, ops, the policy and the device. */
PCTL_EXPORT pctl_status pipectl_vm_program_make(pipectl_vm *vm,
						const pipectl_vm_program_options *options,
						pipectl_vm_program **out);
PCTL_EXPORT void pipectl_vm_program_release(pipectl_vm_program *program);

/* Execute it `times` times: one submit, one wait, and nothing of the host between. Of a program whose ops assert something of their data one time
 * (PC4409), and what they assert is looked at behind it (PC5205). */
PCTL_EXPORT pctl_status pipectl_vm_execute(pipectl_vm_program *program, uint32_t times);

/* submits, rounds: since it was made. dispatches, barriers: of one round. device_ns, host_ns: of the last submit; device_ns 0: not known. */
typedef struct pipectl_vm_stats {
	pctl_head head;
	uint64_t submits, rounds, dispatches, barriers, device_ns, host_ns;
} pipectl_vm_stats;
PCTL_EXPORT pctl_status pipectl_vm_program_stats(pipectl_vm_program *program,
						 pipectl_vm_stats *out);

#define PIPECTL_VM_NONE UINT32_MAX

/*
 * What the host makes of memory and clock; none of it is in any result. pressed: more than 90 % of the budget are used. evict: then, the
 * instance whose eviction_priority is highest, of equals the oldest. prefetch: else, the one that runs next. slow: the one that took longest,
 * where that was more than twice the middle one. PIPECTL_VM_NONE: no such. ticks: nanoseconds of the first instances in the last
 * execution, n_ticks of them (0 without PIPECTL_VM_CLOCK); they live as long as the program, until it is executed again.
 */
typedef struct pipectl_vm_advice {
	pctl_head head;
	uint64_t used_bytes, budget_bytes;
	uint32_t pressed, evict, prefetch, slow;
	const uint64_t *ticks;
	uint32_t n_ticks, reserved;
} pipectl_vm_advice;
PCTL_EXPORT pctl_status pipectl_vm_advise(pipectl_vm_program *program, pipectl_vm_advice *out);

#ifdef PIPECTL_VM_NAMES
#define vm_boot pipectl_vm_boot
#define vm_program pipectl_vm_program_make
#define vm_write_register pipectl_vm_write_register
#define vm_execute pipectl_vm_execute
#define vm_read_register pipectl_vm_read_register
#define vm_shutdown pipectl_vm_shutdown
#endif

PCTL_C_END

#endif
