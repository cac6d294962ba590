/* Pipelines that stay on a device, by libpipectl; what pipectl.h says of threads, memory, errors and structures holds here, too.
 *
 * A resident run is planned, built and recorded once, and submitted again for each step with other small inputs. Its other
 * inputs and its state lie on the device; a step gives what a run of the pipeline gives (core/SEMANTICS.md 17.8). Opening one
 * costs what a run costs before its first job; a step costs one submission, what it writes and what it reads. */
#ifndef PIPECTL_RESIDENT_H
#define PIPECTL_RESIDENT_H

#include "pipectl/pipectl.h"

PCTL_C_BEGIN

typedef struct pipectl_resident pipectl_resident;

/*
 * What stays and what changes, by the names of the pipeline. Inputs that stand in neither list stay as they are.
 *
 * changing       inputs that come with each step, in the order of pipectl_resident_step
 * states         name: an input; value: the output that it becomes between steps, or NULL where this one only reads it. All states
 *                get their next bytes in a step, or none
 *                n_states 0: those that the pipeline declares, but for what changes
 * reads          outputs that each step gives back, in that order
 * sharing        NULL, or one whose inputs and states are taken, by their names, where the options of the run give no data for
 *                them: nothing is read or put on the device again. Each goes on from the state that any of them left. They may be
 *                released in any order
 * memory_bytes   the most that all that share may have on the device; 0: what the device and the policy allow. Inputs that stay as they are
 *                and for which there is no place come to the device in each step then, and a step is several submissions
 * history_bytes  the most of this process' memory that small inputs are kept in, for pipectl_resident_check; 0: none are
 */
typedef struct pipectl_resident_options {
	pctl_head head;
	const char *const *changing;
	const pipectl_setting *states;
	const char *const *reads;
	uint32_t n_changing, n_states, n_reads;
	uint32_t reserved;
	pipectl_resident *sharing;
	uint64_t memory_bytes, history_bytes;
} pipectl_resident_options;

/*
 * Open. `run` is as for pipectl_pipeline_run (no receipt; may be NULL); inputs that change are given data too, whose size
 * counts ("zero:4"), and states their first bytes. Data in memory of inputs that stay, stays the caller's until the last of those
 * that share is released. The pipeline may be released before.
 *
 * Errors: those of a run before its first job; PC5250 (a job, a policy or an option that a run has and this has not), PC5252
 * (names and types), PC5204, PC4314 (memory), before anything is put on the device.
 */
PCTL_EXPORT pctl_status pipectl_resident_open(pipectl_pipeline *pl, const pipectl_run_options *run,
					      const pipectl_resident_options *options,
					      pipectl_resident **out);
PCTL_EXPORT void pipectl_resident_release(pipectl_resident *r);

/*
 * What one step does and what lies on the device for it.
 *
 * steps        that were made, by all that share
 * dispatches, transfers, barriers  of the recorded list; transfers: copies and fills
 * written_bytes, read_bytes        of a step
 * constant_bytes  inputs and constants that stay, put there for this one; state_bytes: both buffers of all states
 * pool_bytes      what activations share, live_bytes: what they were side by side
 * total_bytes     on the device, of all that share
 * gas             of a step
 * evidence        how outputs of a step stand that was not checked; device: its selector
 */
typedef struct pipectl_resident_facts {
	pctl_head head;
	uint64_t steps;
	uint32_t dispatches, transfers, barriers, reserved;
	uint64_t written_bytes, read_bytes;
	uint64_t constant_bytes, state_bytes, pool_bytes, live_bytes, total_bytes;
	uint64_t gas;
	const char *device, *evidence;
} pipectl_resident_facts;
PCTL_EXPORT pctl_status pipectl_resident_describe(pipectl_resident *r, pipectl_resident_facts *out);

/* The type of changing input i and of read output i: an element type, and rank numbers. PC0011 past the end. */
typedef struct pipectl_resident_port {
	pctl_head head;
	const char *name, *dtype;
	const uint64_t *dims;
	uint64_t n_bytes;
	uint32_t rank, reserved;
} pipectl_resident_port;
PCTL_EXPORT pctl_status pipectl_resident_input(pipectl_resident *r, uint32_t i,
					       pipectl_resident_port *out);
PCTL_EXPORT pctl_status pipectl_resident_output(pipectl_resident *r, uint32_t i,
						pipectl_resident_port *out);

/* One step: its number (from 0, of all that share), what it took by the host's clock in parts and on the device (0 unknown), how often
 * something was submitted, and whether the reference did it again (verify_ppm of the run's options). Times are 0 where the policy
 * keeps telemetry to itself. */
typedef struct pipectl_step {
	pctl_head head;
	uint64_t number;
	uint64_t host_ns, write_ns, submit_ns, wait_ns, read_ns, device_ns;
	uint32_t submits, verified;
} pipectl_step;

/*
 * One step. in, out: one a changing input and one a read output, exactly as large as they are (in_bytes, out_bytes say how large
 * the caller has them). step, and cids (one text a read output): may be NULL.
 *
 * Errors: PC5252, PC4135, PC4213 before anything is written; PC5205, PC5226 as in a run; PC5206, PC0004; PC5208. After each of
 * these the state is as it was, and steps go on. After any other the resident and all that share with it are of no more use: PC5251.
 */
PCTL_EXPORT pctl_status pipectl_resident_step(pipectl_resident *r, const void *const *in,
					      const uint64_t *in_bytes, void *const *out,
					      const uint64_t *out_bytes, pipectl_step *step,
					      char (*cids)[PIPECTL_CID_SIZE]);

/* Do the first `steps` steps again on the reference, from the states' first bytes and the inputs that were kept, and compare all that
 * was read by CID; and compare what stays on the device with the host's bytes. Errors: PC5208, PC5223, PC5253, those of a run. */
PCTL_EXPORT pctl_status pipectl_resident_check(pipectl_resident *r, uint64_t steps);
/* How the outputs of a step stand: "verified" once it was checked; lives as long as r. NULL: no memory. */
PCTL_EXPORT const char *pipectl_resident_evidence(pipectl_resident *r, uint64_t step);

PCTL_C_END

#endif
