/* Resident runs: a pipeline that stays on one device, planned, built and recorded once, and submitted again for each step
 * with other small inputs; its large inputs and its state stay there (SEMANTICS.md 17.8). A step of it gives what a run of
 * the pipeline gives. One thread at a time. */
#ifndef PIPECTL_RUNTIME_EXEC_RESIDENT_H
#define PIPECTL_RUNTIME_EXEC_RESIDENT_H

#include "runtime/exec/run.h"

typedef struct pctl_resident pctl_resident;

/* Among the flags of a run: which dispatches become one (SEMANTICS.md 17.8; resident_join.c), each with those before it; 0: all on GPUs, none
 * elsewhere. PCTL_RUN_NO_FUSE: none. */
enum { PCTL_JOINS_NONE = 1, PCTL_JOINS_BESIDE, PCTL_JOINS_BEHIND, PCTL_JOINS_AHEAD };
#define PCTL_RUN_JOINS(n) ((uint32_t)(n) << 17)
#define PCTL_RUN_JOINS_OF(flags) (((flags) >> 17) & 7u)

/* Between steps an input of the pipeline takes what an output gave: `keys` becomes `keys_after`. output NULL: it is read as others
 * that share it leave it. */
typedef struct pctl_resident_state {
	const char *input, *output;
} pctl_resident_state;

/*
 * What stays and what changes. Names are the pipeline's; inputs that stand in neither list are constant.
 *
 * changing       inputs that come with each step, in the order of pctl_resident_step
 * states         each has two buffers, which are exchanged when a step has succeeded; or one, where the op that gives its next bytes
 *                writes them in its place (SEMANTICS.md 17.7), and then a step that fails after it was submitted ends the resident
 *                n_states 0: those that the pipeline declares, but for what changes
 * reads          outputs that each step gives back, in that order
 * sharing        NULL, or a resident of the same device whose constant inputs and states are taken by their names, where the
 *                options give no data for them. It has the same states. Both go on from the state that either left
 * memory_bytes   the most that all residents that share may have on the device (of those that share, the first's holds), 0: what the
 *                device has, less what its driver needs. Constant inputs that do not go into it are streamed: see the facts
 * history_bytes  the most of host memory that is kept of small inputs and of outputs' CIDs, for pctl_resident_check; 0: none
 */
typedef struct pctl_resident_options {
	const char *const *changing;
	const pctl_resident_state *states;
	const char *const *reads;
	uint32_t n_changing, n_states, n_reads;
	uint32_t reserved;
	pctl_resident *sharing;
	uint64_t memory_bytes, history_bytes;
} pctl_resident_options;

/* Data of a step, the caller's. Of outputs `data` is where they go. */
typedef struct pctl_resident_input {
	const void *data;
	uint64_t n_bytes;
} pctl_resident_input;
typedef struct pctl_resident_output {
	void *data;
	uint64_t n_bytes;
} pctl_resident_output;

/*
 * Of a resident: what one step does (dispatches, copies and fills, barriers, bytes written and read) and what lies on the
 * device for it, of which constant_bytes are inputs and constants, state_bytes both buffers of states, pool_bytes what
 * activations share, which are live_bytes without sharing. total_bytes: of all residents that share.
 * gas: of one step.
 *
 * Where not all constant inputs may stay on the device (memory_bytes), weight_bytes of them, of all residents that share, do; the others
 * come into a slot of slot_bytes in each step, streamed_bytes of them, for each of its submissions those that it reads.
 */
typedef struct pctl_resident_facts {
	uint64_t steps; /* that succeeded, of all residents that share */
	uint32_t dispatches, transfers, barriers, levels;
	uint64_t written_bytes, read_bytes;
	uint64_t constant_bytes, state_bytes, pool_bytes, live_bytes, total_bytes;
	uint64_t gas;
	uint32_t n_pools, submissions;
	uint64_t weight_bytes, slot_bytes, streamed_bytes;
	const char *device, *device_name;
	pctl_evidence evidence; /* of outputs of a step that was not checked */
} pctl_resident_facts;

/* What a step took: by the host's clock in parts, and on the device (0 unknown). Its number is the first's of all that share: 0. */
typedef struct pctl_resident_stats {
	uint64_t step;
	uint64_t host_ns, write_ns, submit_ns, wait_ns, read_ns, device_ns;
	uint64_t streamed_bytes; /* of constant inputs, within write_ns */
	uint32_t submits,
		verified; /* 1: the reference did this step again, from the state that the device had */
} pctl_resident_stats;

/*
 * Open: name and read the inputs, plan, price, admit, choose a device, build, check first builds, lay out, upload what is
 * constant and the states' first bytes, record. Everything that can be refused is refused before a byte is allocated on the device.
 * `o` as for a run; changing inputs are given data too, of which the size counts ("zero:4"). What `o` and `how` name is copied, but
 * data in memory (o->given) of inputs that stay stays the caller's until the resident is closed, and so do registry, store and
 * what else an installation has, and the graph.
 *
 * Errors: those of a run before its first job; PC5250 (a job, a policy or an option that a run has and this has not), PC5252
 * (names), PC5204 (memory_bytes, or the device's memory, with the least that would do), PC4314. Warning: PC5254, where inputs are streamed
 * that nobody asked to.
 */
pctl_status pctl_resident_open(const pctl_graph *g, const pctl_run_options *o,
			       const pctl_resident_options *how, const pctl_call *call,
			       pctl_resident **out);
/* One that others share lives on until they are closed, and asks for its graph until then. NULL is fine. */
void pctl_resident_close(pctl_resident *r);
/* 1: a step ended so that nobody knows what the states are; it and all that share with it are only to be closed. */
int pctl_resident_is_lost(const pctl_resident *r);

/*
 * One step: small inputs are written, the list is submitted once (where inputs are streamed, segment by segment) and waited for, outputs are read. in, out: as many as
 * `changing` and `reads`, exactly as large as declared (pctl_resident_type). stats, cids (one a read output): may be NULL.
 *
 * Errors: PC5252 (sizes), PC4135, PC4213 (values), before anything is written; PC5205, PC5226 as in a run; PC5206, PC0004;
 * PC5208 (the reference, where this step was drawn for it). After each of these the state is as it was before the step, and the
 * resident goes on. Any other error, and a stop that the device did not come to in time, ends it and all that share its state:
 * PC5251 from then on.
 */
pctl_status pctl_resident_step(pctl_resident *r, const pctl_resident_input *in,
			       const pctl_resident_output *out, const pctl_call *call,
			       pctl_resident_stats *stats, pctl_cid *cids);

/* The device: what it can do and of which kind it is (PCTL_DEVICE_*); and keep a record of what is fastest there
 * (runtime/device/tuning_record.h). Errors: PC5011. */
const pctl_device_caps *pctl_resident_caps(const pctl_resident *r);
uint32_t pctl_resident_device_kind(const pctl_resident *r);
/* The CID of what a step does: its commands, kernels by their programs and workgroups, in their order. */
pctl_status pctl_resident_plan_cid(const pctl_resident *r, const pctl_call *call, pctl_cid *out);
pctl_status pctl_resident_keep_tuning(const pctl_resident *r, pctl_tuning_record *record,
				      const pctl_call *call);

/* Types of changing input i and of read output i. */
const pctl_tensor_type *pctl_resident_input_type(const pctl_resident *r, uint32_t i);
const pctl_tensor_type *pctl_resident_output_type(const pctl_resident *r, uint32_t i);

void pctl_resident_facts_of(const pctl_resident *r, pctl_resident_facts *out);
/* How the outputs of step `step` stand: verified as far as pctl_resident_check came, else as the facts say. */
pctl_evidence pctl_resident_evidence(const pctl_resident *r, uint64_t step);

/*
 * Do all steps from the first to before `steps` again on the reference, from the states' first bytes and the small inputs that
 * the host kept, and hold every output that was read against its CID; and read back what is constant on the device and hold that
 * against the host's bytes (PC5223). Steps of all residents that share count, in the order in which they were made. What agreed
 * is verified from then on.
 *
 * Errors: PC5208 (step, output and both CIDs), PC5253 (the history was not kept, or not to there), those of a run.
 */
pctl_status pctl_resident_check(pctl_resident *r, uint64_t steps, const pctl_call *call);

#endif
