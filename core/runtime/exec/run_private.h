/* Inside of a run, shared by the run_*.c files. */
#ifndef PIPECTL_RUNTIME_EXEC_RUN_PRIVATE_H
#define PIPECTL_RUNTIME_EXEC_RUN_PRIVATE_H

#include "foundation/base/map.h"
#include "runtime/exec/open.h"
#include "runtime/exec/run.h"
#include "runtime/exec/sample.h"
#include "runtime/exec/tensor_sets.h"
#include "runtime/exec/value.h"
#include "runtime/graph/elementwise.h"
#include "runtime/graph/pipeline_once.h"

/* What a record says of a job that is not run again. */
typedef struct pctl_recalled_job {
	uint32_t determinism, proven, kernels, reserved;
	uint64_t memory, peak, gas, size_gas, wall_ns;
} pctl_recalled_job;

enum {
	PCTL_RUN_APART_NOT = 0,
	PCTL_RUN_APART_BEFORE, /* the middle of a group with jobs before it */
	PCTL_RUN_APART_ALL     /* the middle of any group */
};

/*
 * Jobs that run as one kernel (run_fuse.c).
 *
 * jobs    in the graph's order; the last one, `root`, gives the result
 * middle  the one whose library has the plan, or UINT32_MAX: all are function ops and views
 * in      what the kernel reads, each once, in the order of the plan's inputs
 * plan    for the session of all its jobs, once they are ready
 */
typedef struct pctl_run_group {
	uint32_t root, n_jobs, n_in, middle;
	uint32_t *jobs;
	pctl_source in[PCTL_ELEMENTWISE_INPUTS];
	pctl_job_plan *plan;
} pctl_run_group;

/* A job on its way: types when known, the plan gas is priced from and the one that runs (often the
 * same). */
typedef struct pctl_run_node {
	const pctl_graph_node *node;
	uint32_t place; /* in the graph's order, and so in the result's */
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
	uint64_t size_gas;	/* of the sizes that were found in its data */
	pctl_evidence own;	/* of its outputs as the answer to its inputs' bytes */
	pctl_evidence evidence; /* of its outputs: the weakest of its own and its inputs' */
	const pctl_recalled_job *recalled; /* NULL: it runs */
	const char *memo_void;		   /* why a record was not taken, or NULL */
	uint32_t lost;			   /* 1: its record's bytes are not to be had */
	uint32_t
		trusted; /* 1: its own freedom from races, or that of a job before it, was taken on trust */
	uint32_t kept; /* 1: those of its outputs that somebody needs are stored with the run's */
	uint8_t known[PCTL_PORTS_MAX]; /* 1: cid has it */
	pctl_cid cid[PCTL_PORTS_MAX];
	pctl_data_source *stored[PCTL_PORTS_MAX]; /* where the values of a recalled job come from */
	pctl_value *values[PCTL_PORTS_MAX];	  /* outputs, while somebody needs them */
	uint32_t users[PCTL_PORTS_MAX];
	uint64_t peak_beside;		/* what lies on devices at most while it runs, foreseen */
	uint64_t idle_beside;		/* inputs of the run among that, which it does not read */
	uint8_t needed[PCTL_PORTS_MAX]; /* 1: it had users when the run began */
	/* What the reference gave when it looked for races, where the node is to be verified; looked 1: right[] has it. */
	pctl_value *right[PCTL_PORTS_MAX];
	uint32_t observed;
	uint32_t spared; /* 1: it need not run, since all that read it are remembered */
	uint32_t apart;	 /* PCTL_RUN_APART_*: what it was tried as, in vain */
	uint32_t has_key;
	uint8_t key[PCTL_DIGEST_BYTES]; /* its own, once it was asked for */
	pctl_session *session;
	pctl_run_group *group; /* NULL: it runs by itself */
} pctl_run_node;

typedef struct pctl_open_session {
	pctl_open_device open;
	char *selector, *name, *driver; /* of the device, and the key of its driver environment */
	uint32_t index, kind;
} pctl_open_session;

#define PCTL_RUN_SESSIONS 8u

/* Devices that this run has given up, and why: each took too long over the first run of a program. */
typedef struct pctl_run_left {
	struct {
		char *selector, *why;
	} devices[PCTL_RUN_SESSIONS];
	uint32_t n;
} pctl_run_left;

typedef struct pctl_running { /* run.h names it */
	const pctl_graph *graph;
	const pctl_run_options *o;
	const pctl_call *call;
	pctl_run_result *result;
	pctl_data_source **sources; /* one an input, NULL: not used */
	pctl_tensor_sets *sets;	    /* whose files some of them read */
	pctl_pipe_once *once;	    /* while inputs are bound */
	pctl_value **inputs;
	uint32_t *input_users;
	uint8_t *input_alive; /* 1 once a job has used it */
	pctl_tensor_type *input_types;
	pctl_evidence *input_evidence;
	pctl_map *dims; /* name to uint64_t in the arena */
	pctl_run_node *nodes;
	pctl_map *known; /* of run_plan_once.c, or NULL */
	pctl_open_session sessions[PCTL_RUN_SESSIONS];
	uint32_t n_sessions;
	uint32_t executes; /* 1: not a plan alone */
	uint32_t shares;   /* 1: inputs of `like` are its values too, on its sessions */
	uint32_t reserved;
	pctl_run_left *left;	 /* NULL: a device that fails ends the run */
	pctl_session *main;	 /* where jobs without placement run */
	pctl_session *reference; /* for --verify */
	pctl_session *checker;	 /* the reference with its race detector, when it was needed */
	uint64_t began_ns;	 /* by pctl_clock_ns */
	uint32_t most_stages;
	uint64_t gas;
	uint64_t alive_bytes;
	uint64_t kept_bytes; /* of intermediate results that are to be stored */
	pctl_shapes shapes;  /* drawn for this run: what its jobs look like to a device */
	pctl_sample sample;  /* and what the reference does again */
} pctl_running;

/* A stage that began at began_ns and ended at ended_ns (pctl_clock_ns); n NULL: of the run as a whole. */
pctl_status pctl_run_note_stage(pctl_running *r, const pctl_run_node *n, uint32_t kind,
				uint64_t began_ns, uint64_t ended_ns);
/* The same of one that ends now, and went well where `status` says so: that is what is returned, or no memory. */
pctl_status pctl_run_end_stage(pctl_running *r, const pctl_run_node *n, uint32_t kind,
			       uint64_t began_ns, pctl_status status);
/* The stages of a job on its device, from its stats. */
pctl_status pctl_run_note_job(pctl_running *r, const pctl_run_node *n, const pctl_job_stats *stats);

/* run.c, the parts of a run before anything runs. set_up: also after an error it is torn down. plan_ahead: nodes in order from
 * *next on, as far as sizes are known; *next is the first that could not be. */
pctl_status pctl_run_set_up(pctl_running *r, const pctl_graph *g, const pctl_run_options *o,
			    const pctl_call *call);
void pctl_run_tear_down(pctl_running *r);
pctl_status pctl_run_plan_ahead(pctl_running *r, uint32_t *next);

/* Open the data of every input that is used and find its concrete type. */
pctl_status pctl_run_bind_inputs(pctl_running *r);
/* Once all jobs are typed: what states are next has their type (PC4024). */
pctl_status pctl_run_check_states(const pctl_running *r);
/* 1: input i has the source of an input of `like`, which closes it. */
int pctl_run_is_borrowed(const pctl_running *r, uint32_t i);
/* Bytes for input i that lie in memory: no code that stands for nothing, no bits behind the last element (PC4213). */
pctl_status pctl_run_check_codes(const pctl_running *r, uint32_t i, const void *data,
				 const pctl_call *call);
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
/* What the op library is asked about it. */
pctl_op_query pctl_run_query(const pctl_run_node *n);
/* What its plan may rely on there; that may probe the session's device. */
pctl_status pctl_run_plan_caps(pctl_running *r, const pctl_run_node *n, pctl_session *s,
			       const pctl_call *call, pctl_plan_caps *out);
/* run_plan_once.c: what infer says of a node's op, and its plan under such caps (n->out has its types), each asked once for all jobs
 * of the run that ask the same. The plan is the caller's. */
pctl_status pctl_run_infer_once(pctl_running *r, const pctl_run_node *n, const pctl_op_query *q,
				pctl_op_result *out);
pctl_status pctl_run_plan_once(pctl_running *r, const pctl_run_node *n, const pctl_plan_caps *caps,
			       const pctl_op_query *q, const pctl_call *call, pctl_job_plan **out);
void pctl_run_forget(pctl_running *r);
/* Bytes of the second buffers of carried outputs, and all bytes a job makes besides its inputs. */
uint64_t pctl_run_second_bytes(const pctl_run_node *n, const pctl_job_plan *plan);
uint64_t pctl_run_own_bytes(const pctl_run_node *n, const pctl_job_plan *plan);
/* The most that a job needs at once, inputs and all. */
uint64_t pctl_run_peak_bytes(const pctl_run_node *n, const pctl_job_plan *plan);
void pctl_run_node_clear(pctl_run_node *n);
/* Outputs as the job declares them (shader and vm jobs). */
pctl_status pctl_run_declared_types(pctl_running *r, pctl_run_node *n);
/* The dispatch of a shader job, its unit, and in n->out what it gives. */
pctl_status pctl_run_shader_unit(pctl_running *r, pctl_run_node *n, uint32_t groups[3],
				 const pctl_kernel_module **unit);

/* The key of the whole question, which is no memo's: it names the run in notes of stored bytes and in receipts. */
pctl_status pctl_run_key(pctl_running *r, uint8_t out[PCTL_DIGEST_BYTES]);
/* The key under which a job is remembered. *known 0: not all CIDs of its inputs are known, and there is none. */
pctl_status pctl_run_job_key(pctl_running *r, pctl_run_node *n, uint8_t out[PCTL_DIGEST_BYTES],
			     uint32_t *known);

/* Find the jobs that remembered results answer, with the values that other jobs need of them. */
pctl_status pctl_run_recall(pctl_running *r);
/* 1: all jobs are remembered, and no device is needed. */
int pctl_run_is_recalled(const pctl_running *r);
/* Are results of this run remembered. */
int pctl_run_remembers(const pctl_running *r);
/* After a job: have the host hold what is worth remembering of it and would be gone at the run's end. */
pctl_status pctl_run_keep(pctl_running *r, pctl_run_node *n);
/* Is an output of a node one of the pipeline's. */
int pctl_run_is_output(const pctl_running *r, const pctl_run_node *n, uint32_t port);
/* After all is stored: a record for each job whose inputs and outputs have CIDs. */
void pctl_run_remember(pctl_running *r);

/* run_ready.c: a session that the node fits, its own or where that was not named for it the next candidate, and the plan for it
 * (NULL: the canonical one). What the first one refused is told when there is no other. */
pctl_status pctl_run_settle_node(pctl_running *r, pctl_run_node *n, pctl_job_plan **tuned);
/* The node on its session, with the plan that runs there, or its group so; done once. */
pctl_status pctl_run_make_ready(pctl_running *r, pctl_run_node *n);

/* run_fuse.c: may jobs of this run be fused at all; is a job such that it may be in a group, as far as the graph tells. */
int pctl_run_may_fuse(const pctl_running *r);
int pctl_run_is_element(const pctl_graph_node *n);
/* Groups among the jobs that were planned, from place `from` up to `to`. */
pctl_status pctl_run_fuse(pctl_running *r, uint32_t from, uint32_t to);
/* Plan and build a group for the session where its result's job goes: all its jobs are ready then. What cannot be is no group any
 * more. */
pctl_status pctl_run_ready_group(pctl_running *r, pctl_run_group *g, pctl_session *s);
/* What it will build there is said to the session; the group stays as it is. */
pctl_status pctl_run_foresee_group(pctl_running *r, pctl_run_group *g, pctl_session *s,
				   const pctl_call *call);
/* 1: the job is in a group, and its output is not made. */
int pctl_run_is_within(const pctl_running *r, const pctl_run_node *n);
/* What feeds a job, or the kernel of its group. */
const pctl_source *pctl_run_sources(const pctl_run_node *n, uint32_t *count);
/* The jobs of a group one by one, as declared; `like` says how. One value for the caller. */
pctl_status pctl_run_group_apart(pctl_running *r, const pctl_run_group *g, pctl_session *s,
				 const pctl_job_run *like, const pctl_call *call, pctl_value **out);

/* What is said of a job, run or remembered (run_describe.c). */
void pctl_run_describe(pctl_running *r, const pctl_run_node *n, pctl_run_job *job);
/* A node has read its inputs: a value that nobody else wants is let go, or stays with the host where it is kept. */
void pctl_run_done_with(pctl_running *r, const pctl_run_node *n);
/*
 * run_in_place.c: which outputs of a job lie in the place of inputs (1 + the input, or 0), by its plan and by who reads them: `left`
 * says how often a value is still to be read. *n_bytes: what they do not take besides. 0: none does.
 */
int pctl_run_places(const pctl_running *r, const pctl_run_node *n, const pctl_job_plan *plan,
		    uint32_t (*left)(const void *ctx, pctl_source s), const void *ctx,
		    uint8_t places[PCTL_PORTS_MAX], uint64_t *n_bytes);
/* The same when the job is about to run, of values that nobody else has; where their bytes are to be compared with they are held. */
pctl_status pctl_run_take_places(pctl_running *r, pctl_run_node *n, pctl_job_run *run,
				 pctl_value *const *in, uint8_t places[PCTL_PORTS_MAX],
				 uint64_t *n_bytes);
/* run_memory.c: peak_beside of the first `to` jobs of the order, which are planned or recalled, and the highest of them. */
pctl_status pctl_run_foresee(pctl_running *r, uint32_t to, uint64_t *peak);
/* Has the session's device that much (PC5204). */
/* The most that may lie on a session's device, 0: nobody knows. Where a job needs more, inputs that it does not read leave the device, and
 * come back for the next job that does. */
uint64_t pctl_run_budget(const pctl_running *r, const pctl_session *s);
void pctl_run_make_room(pctl_running *r, const pctl_run_node *n, const pctl_job_plan *plan,
			uint64_t placed);
pctl_status pctl_run_check_memory(const pctl_running *r, const pctl_run_node *n,
				  const pctl_session *s, const pctl_call *call);
/* Note the most that lies on devices at once: what is alive, inputs of the run from their first use on, and what the job
 * makes for itself, but for `placed` bytes, which lie where inputs do. */
void pctl_run_note_peak(pctl_running *r, const pctl_run_node *n, const pctl_job_plan *plan,
			uint64_t placed);

/* Outputs into the store, all or none, with their evidence, and with them the intermediate results that are kept; the
 * values are let go. */
pctl_status pctl_run_store_outputs(pctl_running *r);

/* How the bytes of the run's inputs stand: as the runs left them that stored them, else as the user's own. */
void pctl_run_know_inputs(pctl_running *r);
/* How the outputs of a node stand: own is what was done for themselves, and this along their provenance. */
pctl_evidence pctl_run_evidence_along(const pctl_running *r, const pctl_run_node *n,
				      pctl_evidence own);
/* Both, of a node that just ran, into the node. */
void pctl_run_judge_evidence(pctl_running *r, pctl_run_node *n, int verified);
/* Note it for all that was stored, by CID. */
pctl_status pctl_run_note_made(pctl_running *r);
/* Would the policy in force take results of this job that stand so. */
int pctl_run_suffices(const pctl_running *r, const pctl_run_node *n, pctl_evidence e);
/* Why a record does not answer under the policy in force with the files that are here, or NULL: it does. */
const char *pctl_run_void_reason(pctl_running *r, const pctl_run_node *n,
				 const pctl_memo_record *record);
/* The plugin files that took part in a job; 0 when they cannot be told, or one may have been told to lie. */
int pctl_run_name_plugins(pctl_running *r, const pctl_run_node *n, pctl_memo_record *record);
/* What the run has cost so far against its limits. */
pctl_status pctl_run_check_gas(pctl_running *r);

/* What is told of one stage of a job; the sink is for a pctl_job_run. */
typedef struct pctl_run_teller {
	const pctl_running *r;
	pctl_progress what;
	pctl_progress_sink sink;
} pctl_run_teller;
/* Begin: the session is the one that runs, or NULL. Tells of the stage once. */
void pctl_run_tell(pctl_run_teller *t, const pctl_running *r, const pctl_run_node *n,
		   const char *stage, const pctl_session *s);

/* A job under an observer (run_observe.c). */
typedef struct pctl_run_observer {
	pctl_running *r;
	const pctl_run_node *n;
	const pctl_run_job *job;
	pctl_value *const *in;
} pctl_run_observer;
/* Cut and trace a job as the options say; `run` has its observer already. */
void pctl_run_limit_job(const pctl_running *r, const pctl_run_node *n, pctl_job_run *run);
/* Show its outputs to `observe`, and to `trace`; each when there is one and the job was not cut short. */
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
/* run_turns.c: a kernel of the job, of that step, went over its turn budget, say its device: PC5226 with the first place, or
 * PC5208 where the reference does not find it so. */
pctl_status pctl_run_name_turns(pctl_running *r, const pctl_run_node *n, const pctl_job_run *run,
				pctl_value *const *in, uint32_t step);
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

/* The main session is this one, of another run, if every planned node qualifies there. */
pctl_status pctl_run_choose_as(pctl_running *r, pctl_session *s);
/* Choose and open the main session so that every planned node qualifies; note what was tried. */
pctl_status pctl_run_choose(pctl_running *r);
/* Give up the devices whose workers were ended, but for those that jobs are placed on. */
void pctl_run_leave(pctl_running *r);
/* The whole run once. left: devices that are no candidates; what it gives up is added. */
pctl_status pctl_run_once(const pctl_graph *g, const pctl_run_options *o, pctl_run_left *left,
			  const pctl_call *call, pctl_run_result **out);
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
/* PC4135 in words, with the value that was found. */
pctl_status pctl_run_refuse_max(const pctl_job_plan *plan, const pctl_step *step, const pctl_max *m,
				uint64_t value, const pctl_call *call);
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
