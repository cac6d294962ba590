/* Inside of a run, shared by the run_*.c files. */
#ifndef PIPECTL_RUNTIME_EXEC_RUN_PRIVATE_H
#define PIPECTL_RUNTIME_EXEC_RUN_PRIVATE_H

#include "foundation/base/map.h"
#include "runtime/exec/open.h"
#include "runtime/exec/run.h"

/* A job on its way: types when known, the plan gas is priced from and the one that runs (often the
 * same). */
typedef struct pctl_run_node {
	const pctl_graph_node *node;
	pctl_tensor_type in[PCTL_PORTS_MAX], out[PCTL_PORTS_MAX];
	uint64_t out_bytes[PCTL_PORTS_MAX];
	pctl_job_plan *canonical;
	pctl_job_plan *tuned; /* for the session's device, NULL: canonical serves */
	pctl_job_plan *measure;
	pctl_attr measured[4];
	uint32_t n_measured;
	uint32_t typed;
	uint32_t ready; /* placed, tuned and qualified */
	uint64_t gas;
	pctl_evidence evidence; /* of its outputs: the weakest of its own and its inputs' */
	pctl_value *values[PCTL_PORTS_MAX]; /* outputs, while somebody needs them */
	uint32_t users[PCTL_PORTS_MAX];
	/* What the reference gave when it looked for races, where the node is to be verified; looked 1: right[] has it. */
	pctl_value *right[PCTL_PORTS_MAX];
	uint32_t observed;
	pctl_session *session;
} pctl_run_node;

typedef struct pctl_open_session {
	pctl_open_device open;
	char *selector, *name, *driver; /* of the device, and the key of its driver environment */
	uint32_t index, kind;
} pctl_open_session;

#define PCTL_RUN_SESSIONS 8u

typedef struct pctl_running {
	const pctl_graph *graph;
	const pctl_run_options *o;
	const pctl_call *call;
	pctl_run_result *result;
	pctl_data_source **sources; /* one an input, NULL: not used */
	pctl_value **inputs;
	uint32_t *input_users;
	uint8_t *input_alive; /* 1 once a job has used it */
	pctl_tensor_type *input_types;
	pctl_evidence *input_evidence;
	pctl_map *dims; /* name to uint64_t in the arena */
	pctl_run_node *nodes;
	pctl_open_session sessions[PCTL_RUN_SESSIONS];
	uint32_t n_sessions;
	uint32_t executes;	 /* 1: not a plan alone */
	pctl_session *main;	 /* where jobs without placement run */
	pctl_session *reference; /* for --verify */
	pctl_session *checker;	 /* the reference with its race detector, when it was needed */
	uint64_t gas;
	uint64_t alive_bytes;
	pctl_shapes shapes; /* drawn for this run: what its jobs look like to a device */
} pctl_running;

/* Open the data of every input that is used and find its concrete type. */
pctl_status pctl_run_bind_inputs(pctl_running *r);
/* Store the inputs that are not there (PCTL_RUN_KEEP_INPUTS). */
pctl_status pctl_run_keep_inputs(pctl_running *r);
/* Value of a dimension or a numeric parameter by name; 1 when known. */
int pctl_run_dim(void *running, const char *name, uint64_t *out);

/* Types and canonical plan of one node whose inputs are typed. *blocked is set, and nothing
 * planned, when a measure is due. */
pctl_status pctl_run_plan_node(pctl_running *r, pctl_run_node *n, uint32_t *blocked);
/* The plan of a node for a session; NULL: the canonical one serves. The caller destroys it. */
pctl_status pctl_run_tuned_plan(pctl_running *r, pctl_run_node *n, pctl_session *s,
				const pctl_call *call, pctl_job_plan **out);
/* Bytes of the second buffers of carried outputs, and all bytes a job makes besides its inputs. */
uint64_t pctl_run_second_bytes(const pctl_run_node *n, const pctl_job_plan *plan);
uint64_t pctl_run_own_bytes(const pctl_run_node *n, const pctl_job_plan *plan);
void pctl_run_node_clear(pctl_run_node *n);
/* What the canonical plan of gas may rely on, and what plans for a device may. */
pctl_plan_caps pctl_run_canonical_caps(void);

/* The memo key of the whole run. */
pctl_status pctl_run_memo_key(pctl_running *r, uint8_t out[PCTL_DIGEST_BYTES]);
/* May a remembered result answer: nothing was asked for that only running can show. */
int pctl_run_memo_allowed(const pctl_running *r);
int pctl_run_from_memo(pctl_running *r);
void pctl_run_to_memo(pctl_running *r);

/* Outputs into the store, all or none, with their evidence; the values are let go. */
pctl_status pctl_run_store_outputs(pctl_running *r);

/* How the bytes of the run's inputs stand: as the runs left them that stored them, else as the user's own. */
void pctl_run_know_inputs(pctl_running *r);
/* How the outputs of a node stand that just ran. */
pctl_evidence pctl_run_evidence_of(pctl_running *r, const pctl_run_node *n, int verified);
/* Note it for all that was stored, by CID. */
pctl_status pctl_run_note_made(pctl_running *r);
/* Why a record does not answer under the policy in force with the files that are here, or NULL: it does. */
const char *pctl_run_void_reason(pctl_running *r, const pctl_memo_record *record);
/* The plugin files that took part; 0 when they cannot be told, or one may have been told to lie. */
int pctl_run_name_plugins(pctl_running *r, pctl_memo_record *record);
/* What the run has cost so far against its limits. */
pctl_status pctl_run_check_gas(pctl_running *r);

/* A job under an observer (run_observe.c). */
typedef struct pctl_run_observer {
	pctl_running *r;
	const pctl_run_node *n;
	const pctl_run_job *job;
} pctl_run_observer;
/* Cut and trace a job as the options say; `run` has its observer already. */
void pctl_run_limit_job(const pctl_running *r, const pctl_run_node *n, pctl_job_run *run);
/* Show its outputs to the observer, and to the watcher; each when there is one and the job was not cut short. */
pctl_status pctl_run_observe(const pctl_run_observer *observe, const pctl_job_run *run);

/* What certificates say of a node's op on a session's device: PCTL_EVIDENCE_CERTIFIED, or NONE. */
pctl_evidence pctl_run_certified(const pctl_running *r, const pctl_run_node *n,
				 const pctl_session *s);
/* Class, order of atomics, races and memory of a plan that costs `gas` against the policy. */
pctl_status pctl_run_check_policy(pctl_running *r, const pctl_run_node *n,
				  const pctl_job_plan *plan, uint64_t gas);
/* Races alone: of the plan for a device, whose kernels may be others. */
pctl_status pctl_run_check_race_policy(pctl_running *r, const pctl_run_node *n,
				       const pctl_job_plan *plan, uint64_t gas);

/* What shows that a plan of this run has no races: PCTL_RACES_PROVEN, _CHECKED, or _UNPROVEN (trusted). */
uint32_t pctl_run_race_evidence(const pctl_running *r, const pctl_job_plan *plan);
/* After the last job: what the devices have mapped by now, and how the results stand with that (PC4316, PC5225). */
pctl_status pctl_run_settle(pctl_running *r);
/* A session on the reference that looks for races and for nothing else. */
pctl_status pctl_run_checker(pctl_running *r, pctl_session **out);
/* Before a job runs: where its races are to be checked, the reference runs it with its detector (PC5220 names what it
 * sees). A job of the reference itself is then run by that session alone: n->session becomes it. What the detector's run gave
 * is kept where the job is to be verified (run->held) and runs as written. */
pctl_status pctl_run_check_races(pctl_running *r, pctl_run_node *n, const pctl_job_run *run,
				 pctl_value *const *in);
/* The session that measures a size: the node's, or the one that looks for races as it does. */
pctl_status pctl_run_check_measure(pctl_running *r, const pctl_run_node *n, pctl_session **out);
/* Does the session's device hold the certificate level that the policy asks for the node's op (PC4316)? The reference
 * needs none: levels are measured by it. */
pctl_status pctl_run_check_certified(pctl_running *r, const pctl_run_node *n, const pctl_session *s,
				     const pctl_call *call);

/* Choose and open the main session so that every planned node qualifies; note what was tried. */
pctl_status pctl_run_choose(pctl_running *r);
/* Can this session run this node's plan, or its measure where that is due? Kernels are built where the run executes. *tuned:
 * the plan for it, or NULL, as pctl_run_tuned_plan. */
pctl_status pctl_run_fits(pctl_running *r, pctl_run_node *n, pctl_session *s, const pctl_call *call,
			  pctl_job_plan **tuned);
/* A job whose size was not known when the device was chosen, and which does not fit there: 1 and n->session is the next
 * candidate that it fits, of those that were named or of the policy's order, in the end the reference. 0: there is none. */
int pctl_run_move(pctl_running *r, pctl_run_node *n, const pctl_call *call, pctl_job_plan **tuned);
/* The session of a selector, opened once. */
pctl_status pctl_run_session(pctl_running *r, const char *selector, pctl_session **out);
void pctl_run_close_sessions(pctl_running *r);

/* Uniforms against their declared maxima, before a node runs. */
pctl_status pctl_run_check_maxima(pctl_running *r, const pctl_job_run *run, pctl_value *const *in);
/* Check what of a node's strict kernels was never checked with this device's profile (adversary.h); a difference
 * revokes the profile. */
pctl_status pctl_run_first_builds(pctl_running *r, pctl_run_node *n, const pctl_job_plan *plan);
/* Hold what became of a node on its device, results or (device PCTL_E_EXEC) a failure of its data, against the reference on
 * the host's bytes: PC5208. Failures alike: the device's words stand. */
pctl_status pctl_run_verify(pctl_running *r, pctl_run_node *n, const pctl_job_run *run,
			    pctl_value *const *in, pctl_status device);
/* The same for a size found in data: the types of all that follows hang on it. */
pctl_status pctl_run_verify_measure(pctl_running *r, const pctl_run_node *n, pctl_value *const *in,
				    pctl_status device, uint64_t found);
/* Its outputs against what devices agreed on (PC5235). */
pctl_status pctl_run_check_agreed(pctl_running *r, const pctl_run_node *n);

#endif
