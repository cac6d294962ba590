/* Running a resolved pipeline: inputs are named by their bytes, what is known is looked up, the
 * rest is planned, priced, placed on a device, run job by job, and stored under its CID. */
#ifndef PIPECTL_RUNTIME_EXEC_RUN_H
#define PIPECTL_RUNTIME_EXEC_RUN_H

#include "runtime/cas/memo.h"
#include "runtime/exec/job.h"
#include "runtime/graph/graph.h"
#include "runtime/plugin/devices.h"
#include "runtime/policy/policy.h"

#define PCTL_SEMANTICS_VERSION "1" /* of what programs mean: core/SEMANTICS.md */

#define PCTL_RUN_IN_PROCESS 1u /* backends that allow it run in this process */
#define PCTL_RUN_DEBUG 2u      /* backends validate what they make */
#define PCTL_RUN_FRESH 4u      /* the memo is neither read nor written */
#define PCTL_RUN_NO_DEVICE 16u /* plan only: sizes, gas and policy, no device is opened */
#define PCTL_RUN_NATIVE \
	32u /* class approximate only: the device's own float operations; needs FRESH */
#define PCTL_RUN_SANITIZE 8u /* the reference looks for races and bad accesses, and counts gas */
#define PCTL_RUN_TRACED 64u  /* one submit a round: trace ids name rounds exactly */
#define PCTL_RUN_POISON \
	128u /* temporaries and outputs of op jobs start as a pattern of poison_seed, not zero */
#define PCTL_RUN_UNPLACED 256u	   /* jobs go where the run goes, whatever their placement says */
#define PCTL_RUN_CANONICAL 512u	   /* plans are cut alike for every device */
#define PCTL_RUN_KEEP_INPUTS 1024u /* inputs are stored like outputs */

/* Plans by the tunables of a profile, whatever was found best for the device (runtime/device/tuning_record.h). */
#define PCTL_RUN_PROFILE_SC 32768u
#define PCTL_RUN_PROFILE_MC 65536u

#define PCTL_RUN_NO_FUSE 8192u /* every job runs by itself */

#define PCTL_RUN_NO_PLACES 16384u /* no output lies in the place of an input (SEMANTICS.md 17.7) */

#define PCTL_RUN_CHECK_RACES \
	2048u /* every job not proven is checked for races, whatever it costs */
#define PCTL_RUN_RACES_KNOWN \
	4096u /* races were asked for by the caller: jobs not proven run as they are */

/* A buffer an observer is shown. kind and number: of a job's output PCTL_PLAN_OUTPUT and the port; after cut steps
 * PCTL_PLAN_* and the plan's buffer. name: "ranks", "temporary 3". type: dtype 0 where none is known. */
typedef struct pctl_run_port {
	const char *name;
	uint32_t kind, number;
	pctl_tensor_type type;
	uint64_t n_bytes;
} pctl_run_port;

/*
 * What `observe` or `trace` sees of one job. Valid during the call alone, what it points to until the run ends.
 *
 * job        index in the pipeline
 * cut        its last round was cut, ports are all buffers of the plan, and stats are not known yet
 * canonical  the plan that gas is priced from: the same on every device
 * level      of a trace: PCTL_TRACE_STEPS after `step` (from 1) of `round` (from 0), ports are the buffers that it
 *            writes; _ROUNDS after `round`, ports are the outputs as far as they are; _JOBS after the job, ports are
 *            its outputs. An observer sees _JOBS
 */
typedef struct pctl_run_observation {
	uint32_t job, cut;
	const struct pctl_run_job *ran;
	const pctl_job_plan *plan, *canonical;
	pctl_session *session;
	const pctl_run_port *ports;
	pctl_value *const *in; /* what the plan's inputs are fed */
	uint32_t n_ports, level, step, reserved;
	uint64_t round;
	const void *inside;
} pctl_run_observation;

/* Bytes of a port, to host memory. */
pctl_status pctl_run_observation_read(const pctl_run_observation *v, uint32_t port, uint64_t offset,
				      void *data, uint64_t n, const pctl_call *call);

/* Where a run ends: after job number `job`, whose repeat is cut to `rounds` (at least 1); cut 1: and of the last of
 * them only the first `steps` steps of the plan run. Jobs after it are not run. */
typedef struct pctl_run_limit {
	uint32_t job, cut, steps;
	uint32_t reserved;
	uint64_t rounds;
} pctl_run_limit;

/*
 * What a certificate is asked: the op with the file that defines it, and the device with the file that drives it.
 *
 * op        "rank.step@1"; library: id of the op library that defines it; ops: all that are loaded, with their files
 * track     of the op's class (PCTL_CLASS_*, numbered as the tracks)
 * backend   the plugin whose file the session loaded; NULL: of no plugin, which holds nothing
 * wanted    the level that the policy asks for
 */
typedef struct pctl_level_question {
	const char *op, *library;
	const pctl_op_source *ops;
	const pctl_plugin_info *backend;
	const char *files; /* pctl_session_files */
	const char *late;  /* pctl_session_late */
	const pctl_key_value *identity;
	uint32_t n_identity, track, wanted;
	uint32_t reserved;
} pctl_level_question;

/* level: held by these very files on this device; claimed: the highest that a trusted certificate of other files says.
 * hint: what to do where `level` is below `wanted`, or NULL; lives as long as who answered. */
typedef struct pctl_level_answer {
	uint32_t level, claimed;
	const char *hint;
} pctl_level_answer;

/* What devices agreed on: the CID of every output, jobs in the graph's order and ports in theirs, and the evidence that
 * this is. */
typedef struct pctl_run_agreed {
	const pctl_cid *cids;
	pctl_evidence evidence;
} pctl_run_agreed;

/* Data for an input that lies in memory: the caller's, unchanged until the run ends. type: dtype 0 where the size is to tell
 * it, as it does of files. */
typedef struct pctl_input_bytes {
	const char *name;
	const void *data;
	uint64_t n_bytes;
	pctl_tensor_type type;
} pctl_input_bytes;

/*
 * ins       --in NAME=FILE|CID, in place of what the file names
 * given     the same from memory; no name stands in both
 * backends  selectors in order of preference; n 0: the policy's order. Naming one: no memo is read
 * progress  told of every stage of every job: done in rounds, with the device, time and limit
 * certified_level  the certificate level (0 to 4) that an op holds on a device; NULL: nothing is certified. Asked where
 *           the policy wants a level, and where nothing else speaks for a result
 * observe   called after each job; any error it returns ends the run with it. With one nothing is stored, outputs of
 *           the result have no CID, and no memo is used
 * agreed    NULL, or what every job must give: other bytes end the run with PC5235
 * limit     NULL: the whole pipeline; needs observe
 * like      NULL, or a run under way whose inputs are taken, by their names, where nobody gives data: nothing is opened or
 *           named again; it outlives this one
 * cid_of    NULL, or the CID of a tensor of a set, by the name of its input ("set/tensor"); NULL: not known. What is read is held against it
 *           (PC5210), so that a wrong one gives no wrong name
 * trace     called after each job, and with trace_level (PCTL_TRACE_*) after each round and step before; any error it
 *           returns ends the run with it. Not after a job that `limit` cuts short. The run itself goes as without: outputs
 *           are stored, and a remembered result may answer, of which nothing is seen then
 */
typedef struct pctl_run_options {
	pctl_registry *registry;
	const pctl_op_source *ops;
	pctl_store *store;
	pctl_memo *memo; /* NULL: none */
	const pctl_gas_schedule *schedule;
	const char *schedule_id; /* identity of its contents, for memo keys; NULL: its name */
	const pctl_policy *policy;
	const char *cache_dir;
	pctl_profiles *profiles; /* NULL: strict floats run on the reference only */
	const pctl_setting *ins;
	const char *const *backends;
	const pctl_input_bytes *given;
	uint32_t n_ins, n_backends, n_given;
	uint32_t verify_ppm; /* share of jobs run again on the reference, in millionths */
	uint32_t flags;	     /* PCTL_RUN_* */
	uint32_t has_gas_limit;
	uint64_t gas_limit;
	uint64_t memory_bytes; /* the most that may lie on a device, 0: what it has */
	pctl_progress_sink progress;
	void (*certified_level)(void *ctx, const pctl_level_question *q, pctl_level_answer *out);
	void *certified_ctx;
	pctl_status (*observe)(void *ctx, const pctl_run_observation *view, const pctl_call *call);
	void *observe_ctx;
	const pctl_run_agreed *agreed;
	const pctl_run_limit *limit;
	uint64_t poison_seed; /* not 0 with PCTL_RUN_POISON */
	pctl_status (*trace)(void *ctx, const pctl_run_observation *view, const pctl_call *call);
	void *trace_ctx;
	uint32_t trace_level, reserved2;
	const struct pctl_running *like;
	const pctl_cid *(*cid_of)(void *ctx, const char *input);
	void *cid_ctx;
	const uint32_t *tunable; /* PCTL_N_TUNABLES values, as they are tried; NULL: the device's */
} pctl_run_options;

/* An input that was read or an output that was made. */
typedef struct pctl_run_output {
	const char *name;
	pctl_tensor_type type;
	pctl_cid cid;
	uint64_t n_bytes;
	pctl_evidence evidence; /* how it stands; of an input of the user's own: verified */
} pctl_run_output;

/*
 * What became of one job; of a plan, what would.
 *
 * device         selector of the device it ran on, device_name what its driver calls it; NULL where none is chosen yet
 * repeat         rounds
 * gas            the price by the schedule, of all rounds; 0 where has_gas of the result is 0 and this job was not reached
 * buffer_bytes   of all buffers of its plan together; peak_bytes: the most of them that is alive at once, with the second
 *                buffers of a repeat, 0: not known, of a remembered job
 * determinism    PCTL_CLASS_* by analysis
 * verified       1: the reference ran it too and gave the same bytes
 * remembered     1: it did not run, what it gave was computed before; of device and stats nothing is known then
 * out            types of its outputs, n_out of them
 * size_gas       the price of the sizes that were found in its data, on top
 * saved_ns       how long a remembered job took when it ran, 0 unknown
 * memo_void      why what was remembered of it was not taken, or NULL
 * fused          1 + the job (in the result) whose kernel it ran in; 0: it ran by itself
 */
typedef struct pctl_run_job {
	const char *id;
	const char *what; /* "rank.step@1", or the shader's name */
	const char *device;
	const char *device_name;
	uint64_t repeat;
	uint64_t gas;
	uint64_t buffer_bytes, peak_bytes;
	uint32_t determinism;
	uint32_t race;	      /* PCTL_PROOF_*: what the analysis says */
	uint32_t order_shows; /* 1: the order of its atomics does, which is why it is approximate */
	uint32_t
		races; /* what shows that there are none: PCTL_RACES_PROVEN, _CHECKED, _UNPROVEN (it was trusted) */
	uint32_t verified;
	uint32_t n_kernels;
	pctl_evidence evidence; /* of its outputs: the weakest of its own and its inputs' */
	uint32_t remembered;
	uint32_t n_out;
	const pctl_tensor_type *out;
	uint64_t size_gas, saved_ns;
	const char *memo_void;
	uint32_t fused, reserved;
	pctl_job_stats stats;
} pctl_run_job;

/*
 * What one stage of a run took by the host's clock (run_stage.c). Stages of a job lie one in another or one after the other,
 * and so do those of the run; the job's lie in the run's.
 *
 * kind      PCTL_STAGE_*
 * job       its number in the result, or PCTL_STAGE_OF_RUN
 * began_ns  since the run began
 */
enum {
	PCTL_STAGE_INPUTS = 0, /* the run's inputs opened and hashed */
	PCTL_STAGE_RECALL,     /* remembered results looked up */
	PCTL_STAGE_CHOOSE,     /* a device chosen and opened */
	PCTL_STAGE_BUILD,      /* kernels built for the device, and first builds checked */
	PCTL_STAGE_RACES,      /* the reference looked for races */
	PCTL_STAGE_MEASURE,    /* a size looked for in data */
	PCTL_STAGE_RUN,	       /* on the device: upload, dispatch and check are parts of it */
	PCTL_STAGE_UPLOAD,
	PCTL_STAGE_DISPATCH,
	PCTL_STAGE_CHECK,
	PCTL_STAGE_READ,     /* outputs read from the device, once */
	PCTL_STAGE_VERIFY,   /* the reference ran it again, bytes compared */
	PCTL_STAGE_HASH,     /* bytes hashed into their CID and put into the store */
	PCTL_STAGE_STORE,    /* all outputs and what is kept */
	PCTL_STAGE_REMEMBER, /* records written */
	PCTL_STAGES
};
#define PCTL_STAGE_OF_RUN UINT32_MAX
typedef struct pctl_run_stage {
	uint32_t kind, job;
	uint64_t began_ns, ns;
} pctl_run_stage;
/* "dispatch"; in one line what it is. */
const char *pctl_run_stage_name(uint32_t kind);
const char *pctl_run_stage_about(uint32_t kind);

/* A device that was looked at and why it was (not) taken. */
typedef struct pctl_run_choice {
	const char *selector;
	const char *name;
	const char *why;
	uint32_t taken;
	uint32_t reserved;
} pctl_run_choice;

/*
 * What a run or a plan gave; everything in it lives in its arena, until pctl_run_result_destroy.
 *
 * memoised  1: every job was remembered, and none ran
 * n_remembered  how many were; saved_gas, saved_ns: what they cost when they ran, which `gas` has too
 * wall_ns   from the first look-up to the last store
 * kept_bytes  of intermediate results that were stored with the outputs, so that the jobs after them are remembered
 * key       of the question: what is asked of which data
 */
typedef struct pctl_run_result {
	pctl_run_output *inputs; /* what the run read */
	pctl_run_output *outputs;
	pctl_run_job *jobs;
	pctl_run_choice *choices;
	pctl_setting *identity; /* of the device, key and value */
	const char *driver;	/* of the device: pctl_session_driver */
	pctl_run_stage *stages; /* in the order in which they ended; of a plan none */
	uint32_t n_inputs, n_outputs, n_jobs, n_choices, n_identity, n_stages;
	uint32_t memoised, n_remembered;
	uint64_t saved_gas, saved_ns, kept_bytes;
	pctl_evidence evidence; /* the weakest along the provenance of all outputs */
	const char
		*memo_void; /* why the first remembered job that was not taken was not, or NULL */
	uint32_t
		trusted; /* 1: some job's freedom from races was taken on trust; what hangs on it is not remembered */
	uint32_t has_gas; /* of the whole: 0 for a plan that stops at a size found in data */
	uint64_t gas;
	uint64_t actual_gas; /* counted by the reference (PCTL_RUN_SANITIZE), else 0 */
	uint64_t peak_bytes; /* the most that lies on devices at once; of a plan, would */
	uint64_t wall_ns;
	uint8_t key[PCTL_DIGEST_BYTES];
	const char *stopped_at; /* plan: the job whose sizes depend on data, or NULL */
	pctl_arena *arena;
} pctl_run_result;

void pctl_run_result_destroy(pctl_run_result *r);

/*
 * Run. On success every output is in the store and *out is the caller's. Nothing is stored on any error, and *out is NULL.
 *
 * Errors: of reading inputs (PC41xx), of the policy (PC43xx), PC5207 (no device fits), PC5201 to PC5240 (a job, its bytes, a
 * quorum, gas), of backends; PCTL_E_CANCELLED.
 */
pctl_status pctl_run(const pctl_graph *g, const pctl_run_options *o, const pctl_call *call,
		     pctl_run_result **out);

/*
 * Ask the race detector about a pipeline on its data: the reference runs what is not proven, whatever the policy and its
 * bound say. Whoever is about to blame a device for bytes that differ asks this first.
 *
 * races  PCTL_RACES_PROVEN, _CHECKED (none seen), _REFUTED (the user's race: no device is to blame), _UNPROVEN (the
 *        reference did not come to an end: nobody can be blamed)
 * text   with REFUTED and UNPROVEN, what was said: the invocations, the byte, both places
 */
typedef struct pctl_race_answer {
	uint32_t races, code;
	char text[768];
} pctl_race_answer;
pctl_status pctl_run_ask_races(const pctl_graph *g, const pctl_run_options *o,
			       const pctl_call *call, pctl_race_answer *out);

/* What would run where, without running: as far as sizes are known. Inputs that have no data are
 * refused as in run. */
pctl_status pctl_run_plan(const pctl_graph *g, const pctl_run_options *o, const pctl_call *call,
			  pctl_run_result **out);

#endif
