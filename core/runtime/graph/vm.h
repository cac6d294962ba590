/* The GPU VM (SEMANTICS.md section 9) as it is declared and as a plan: machines of registers, metrics, heap, globals and control
 * words, whose program is a list of kernels and ops. A plan of it is a job's plan like any other, so that pipelines (a `vm` job),
 * `pipectl vm` and machines that stay on a device (core/vm) run one and the same list of steps. */
#ifndef PIPECTL_RUNTIME_GRAPH_VM_H
#define PIPECTL_RUNTIME_GRAPH_VM_H

#include "foundation/base/vfs.h"
#include "runtime/graph/jobplan.h"

#define PCTL_VM_REGISTERS 32u
#define PCTL_VM_OUTBOX 30u
#define PCTL_VM_INBOX 31u
#define PCTL_VM_WIDTH 4096u  /* words of a register where nothing else is said */
#define PCTL_VM_TELEMETRY 4u /* words of a message behind its data */
#define PCTL_VM_METRICS 6u   /* words of LayerMetrics */
#define PCTL_VM_CONTROL 4u   /* of LayerControl */
#define PCTL_VM_HEAD 4u	     /* before the statistics in the globals; the first is the position */
#define PCTL_VM_INSTANCES_MAX 1024u
#define PCTL_VM_WIDTH_MAX 65536u
#define PCTL_VM_TURNS_MAX 256u
#define PCTL_VM_HEAP_BYTES (1ull << 48) /* of the logical space */
#define PCTL_VM_ARGUMENTS 8u /* words of the uniform block before a step's own: see pctl_vm_step */

/* What the host allots: a part of the heap, or of the globals behind the KV partitions. at: its logical offset. file: what `vm run`
 * feeds a part of the heap with, or NULL. */
typedef struct pctl_vm_part {
	const char *name, *file;
	pctl_pos pos;
	uint64_t at, n_bytes;
} pctl_vm_part;

enum { PCTL_VM_IN_REGISTER = 1, PCTL_VM_IN_HEAP, PCTL_VM_IN_GLOBALS };

/*
 * Where data of an instance lie. number: of the register. In the heap and the globals instance i has the bytes from
 * at + i * stride on. n_bytes 0: nothing is named.
 */
typedef struct pctl_vm_place {
	uint32_t space, number;
	uint64_t at, stride, n_bytes;
	pctl_pos pos;
} pctl_vm_place;

/*
 * A step of the program, in each instance from `first` to `last`.
 *
 * text, ..   a kernel: group 0 has registers, metrics, heap (read), globals, control at bindings 0 to 4, group 1 at binding 0 a uniform
 *            block: layer_idx, n_embd, width, instances, the window's logical offset (low word, high word) and its bytes (likewise), then
 *            `params`
 * window     of the heap; n_bytes 0: none
 * op, ..     or an op: places and types of its inputs, then of its outputs
 */
typedef struct pctl_vm_step {
	pctl_pos pos;
	uint32_t first, last;
	const char *name, *text, *entry;
	uint64_t n_text;
	const pctl_override_value *overrides;
	const uint32_t *params;
	uint32_t n_overrides, n_params;
	uint32_t groups[3];
	pctl_vm_place window;
	pctl_op_ref op;
	const pctl_attr *attr;
	const pctl_vm_place *ports;
	const pctl_tensor_type *types;
	uint32_t n_in, n_out, n_attr;
} pctl_vm_step;

/*
 * A machine with its program. n_embd: words of data in a message. kv_bytes: of an instance's partition. acts: the regulator writes scale
 * factors. skipping: active = 0 skips an instance. advance: what the position counter goes on by in every turn. epsilon and target as
 * bits of f32; target 0: none, the running mean is it. turns: how often a job runs the program. heap_bytes: where the heap ends, 0: at
 * PCTL_VM_HEAP_BYTES.
 */
typedef struct pctl_vm_desc {
	const char *name, *about;
	pctl_pos pos;
	uint32_t instances, width, n_embd, acts, skipping, advance, turns;
	uint32_t epsilon, target;
	uint64_t kv_bytes, globals_bytes, heap_bytes;
	pctl_vm_part *heap, *globals;
	pctl_vm_step *steps;
	uint32_t n_heap, n_globals, n_steps;
	const char
		*identity; /* of a file: its text and those of its kernels, one behind the other */
	uint64_t n_identity;
} pctl_vm_desc;

/* Shape and message, and the places of all parts: one behind the other at multiples of PCTL_PLAN_ALIGN, in the order of the table.
 * Every fault is reported: PC4401 to PC4403, PC4405. */
pctl_status pctl_vm_lay_out(pctl_vm_desc *d, const pctl_call *call);
/* The steps of a machine that is laid out: PC4404 to PC4406. */
pctl_status pctl_vm_check(const pctl_vm_desc *d, const pctl_call *call);
/* One more part behind those that have a place. PC4403. */
pctl_status pctl_vm_allot(const pctl_vm_desc *d, const pctl_vm_part *last, pctl_vm_part *part,
			  const pctl_call *call);

/* Offsets and sizes in the globals. */
uint64_t pctl_vm_head_bytes(const pctl_vm_desc *d);	   /* position, statistics, throughput */
uint64_t pctl_vm_throughput_at(const pctl_vm_desc *d);	   /* one word an instance */
uint64_t pctl_vm_kv_at(const pctl_vm_desc *d, uint32_t i); /* the partition of instance i */
uint64_t pctl_vm_kv_stride(const pctl_vm_desc *d);
uint64_t pctl_vm_globals_at(const pctl_vm_desc *d); /* where the program's own parts begin */
uint64_t pctl_vm_globals_all(const pctl_vm_desc *d);
uint64_t pctl_vm_registers_bytes(const pctl_vm_desc *d); /* of an instance */

/*
 * Read a file of a machine and all its kernels; paths are relative to it. ops NULL: nobody is asked for ops, and
 * steps are not checked (who wants the texts alone). Everything lives in the arena.
 *
 * Errors: those of the file, PC4019 (a kernel's file is missing), PC44xx, those of finding ops.
 */
pctl_status pctl_vm_read(const pctl_vfs *vfs, const char *path, const pctl_op_source *ops,
			 pctl_arena *arena, const pctl_call *call, pctl_vm_desc **out);
const struct pctl_conf_schema *pctl_vm_schema(void);

/* A port of a job that runs the machine, by its name: "r0" (as input of instance 0, as output of the last one), "r30_2" of instance
 * 2, a part of the heap or the globals, "kv_2", "globals", "control", "metrics". instance: of a register, or of a partition. */
enum {
	PCTL_VM_PORT_REGISTER = 1,
	PCTL_VM_PORT_HEAP,
	PCTL_VM_PORT_GLOBALS,
	PCTL_VM_PORT_CONTROL,
	PCTL_VM_PORT_METRICS
};
typedef struct pctl_vm_port {
	uint32_t kind, instance, number;
	uint64_t at, n_bytes; /* of its space; of metrics and control of all instances, packed */
} pctl_vm_port;

/* PC4405 where there is none such, and where it cannot be that: metrics are no input, the heap no output. */
pctl_status pctl_vm_port_find(const pctl_vm_desc *d, const char *name, int is_output,
			      const pctl_pos *pos, const pctl_call *call, pctl_vm_port *out);

/*
 * The plan of a job: inputs and outputs as ports with the bytes that they have, machine as booted, `turns` turns, outputs. Every
 * part of the heap is an input.
 *
 * Errors: PC4403 (a part is fed other bytes than it has), PC4405, PC4408, those of kernels and op libraries.
 */
pctl_status pctl_vm_job_plan(const pctl_planner *planner, const char *job, const pctl_vm_desc *d,
			     const pctl_vm_port *in, const uint64_t *in_bytes, uint32_t n_in,
			     const pctl_vm_port *out, const uint64_t *out_bytes, uint32_t n_out,
			     const pctl_call *call, pctl_job_plan **plan);

/* Which buffers of a plan are the machine's. registers: the first of d->instances. counts: of the gates, where it is skipping. verdicts: what
 * the plan's assertions look at, where it is kept; without bytes where there are none. */
typedef struct pctl_vm_buffers {
	uint32_t registers, metrics, control, globals, counts, verdicts;
} pctl_vm_buffers;

/* The plan of one turn of a machine that stays on a device: inputs are the parts of the heap in the table's order, and the machine's
 * memory, which nothing but the program touches, counts as outputs. marks: NULL, or room for one step number an instance: its first.
 * put: PCTL_PUT_KEPT, where whoever keeps it looks at `verdicts` after each turn; without it ops can have no assertion. */
pctl_status pctl_vm_turn_plan(const pctl_planner *planner, const pctl_vm_desc *d, uint32_t put,
			      const pctl_call *call, pctl_vm_buffers *where, uint32_t *marks,
			      pctl_job_plan **plan);

/* Where the metrics of instance i begin in their buffer. */
#define PCTL_VM_METRICS_STRIDE PCTL_PLAN_ALIGN

/* What control words and the head of the globals are at boot: n_bytes of each, released with free(). */
pctl_status pctl_vm_boot_words(const pctl_vm_desc *d, const pctl_call *call, uint32_t **control,
			       uint32_t **head);

#endif
