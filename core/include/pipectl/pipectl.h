/* libpipectl: what a program needs to run declared compute pipelines, to check and prove them, and to keep their data. The
 * tool `pipectl` stands on the same core, so that both decide alike; this header, resident.h for pipelines that stay on a device,
 * model.h for language models, vm.h for machines and chain.h for the chain, are the only promise of the library.
 *
 * Threads. A handle (pipectl, and all that was made of it) is used by one thread at a time. Different pipectl handles may be
 * used by different threads at once. Callbacks are called in the thread that made the call, before it returns; they make no
 * call with the same handle and do not jump out (longjmp, C++ exceptions).
 *
 * Memory. What goes in stays the caller's; it is read during the call and not kept, unless a function says otherwise. What
 * comes out belongs to the handle that is named with the function and lives as long as it. Handles are released by their
 * own function, which takes NULL; what was made of a handle is released before the handle.
 *
 * Errors. Every function that can fail returns a status of status.h, PCTL_OK for success, and tells the diagnostic callback
 * why: at least one diagnostic with severity error for each failure. An output is NULL or zero after an error unless a
 * function says otherwise. After an error a handle can be used again. Nothing is printed, no signal is caught, blocked or
 * sent, and the process is never ended; a plugin whose worker dies is PCTL_E_DEVICE_LOST. A backend that runs inside the
 * process (PIPECTL_IN_PROCESS) can do all that a library can, and should not be asked for with plugins nobody knows.
 *
 * Structures begin with a head: PCTL_HEAD(type). A newer library reads older structures, whose younger members count as
 * zero; reserved members are zero. Strings are UTF-8 and end with a NUL. Sizes are in bytes. A CID is the text "bafkrei..".
 * Selectors name devices as on the command line: "cpu", "vulkan:0", "opencl:portable".
 *
 * An installation's files are found from the directory of this library (bin/../..), its home as by the tool: the option,
 * PIPECTL_HOME, XDG_DATA_HOME/pipectl, ~/.local/share/pipectl. */
#ifndef PIPECTL_PIPECTL_H
#define PIPECTL_PIPECTL_H

#include "pipectl/host.h"

PCTL_C_BEGIN

/* An opened installation, and what is made of one. */
typedef struct pipectl pipectl;
typedef struct pipectl_pipeline pipectl_pipeline;
typedef struct pipectl_result pipectl_result;
typedef struct pipectl_devices pipectl_devices;
typedef struct pipectl_blob pipectl_blob;

/* ---- the library -------------------------------------------------------------------------- */

/* "0.1.0", of the library that is loaded. [any thread] */
PCTL_EXPORT const char *pipectl_version(void);

/* What the tool's `explain` says of a code (4102 for PC4102): its short name, one line, the long text; NULL for a number that
 * is no code. And the name of a status, "ok", never NULL. [any thread] */
PCTL_EXPORT const char *pipectl_code_name(uint32_t code);
PCTL_EXPORT const char *pipectl_code_summary(uint32_t code);
PCTL_EXPORT const char *pipectl_code_explanation(uint32_t code);
PCTL_EXPORT const char *pipectl_status_name(pctl_status status);

/* Release a text that a function handed out for the caller to release. NULL is fine. [any thread] */
PCTL_EXPORT void pipectl_free(char *text);

/* ---- opening ------------------------------------------------------------------------------ */

/*
 * How far work is.
 *
 * phase  "run", "audit", "certify", "store" (blobs go in or out), "block" (one ends), "verify" (blocks, again); "probe" once for each device that is looked at for the first time, which takes seconds
 * what   the job, the block of a proof; NULL in "probe"
 * device selector or name of the device, NULL where it is not one
 * done   of total rounds or blocks; total 0: nobody knows
 *
 * Since 0.2:
 * stage  of a job: "hash" (an input is read and named), "build" (its kernels), "measure" (a size found in data), "races" (the
 *        reference looks for them), "run", "verify" (again on the reference); of a proof "prove"; of a file "write", "read",
 *        "verify"; of a store "collect"; NULL: none
 * unit   what done and total count, "rounds", "blocks", "blobs", "jobs"; NULL: nothing is counted
 * bytes, total_bytes  of a transfer, moved so far and in all; 0: not known
 * memory_bytes        of the job's buffers on its device
 * elapsed_ns  since the job, the proof or the transfer began; limit_ns: after how long it is stopped, 0: never
 * job, jobs   which of how many, from 1; repeat, repeats: which run of an audit; 0: not one of several
 */
typedef struct pipectl_progress {
	pctl_head head;
	const char *phase, *what, *device;
	uint64_t done, total;
	const char *stage, *unit;
	uint64_t bytes, total_bytes, memory_bytes, elapsed_ns, limit_ns;
	uint32_t job, jobs, repeat, repeats;
} pipectl_progress;

#define PIPECTL_IN_PROCESS \
	1u /* backends that allow it run in this process; PC4317 where the policy says no */
#define PIPECTL_DEBUG 2u /* backends validate what they make */

/*
 * What an installation is opened with. NULL and 0 stand for what is configured. Everything is copied, but ctx.
 *
 * home, config  as --home and --config of the tool
 * policy        a file in place of the configured policy; gas_schedule likewise
 * plugin_dirs   searched after those of the configuration
 * diagnostic    told of every diagnostic, valid during the call (host.h); NULL: nobody is told
 * progress      may be NULL; called when work is handed to a device, and at least every 100 ms while it is waited for, so
 *               that a client can show time passing inside one long dispatch
 * cancel        asked at least every 100 ms while work goes on; an answer other than 0 ends the call with
 *               PCTL_E_CANCELLED; may be NULL
 */
typedef struct pipectl_options {
	pctl_head head;
	const char *home, *config, *policy, *gas_schedule;
	const char *const *plugin_dirs;
	uint32_t n_plugin_dirs;
	uint32_t flags;
	void *ctx;
	void (*diagnostic)(void *ctx, const pctl_diag *d);
	void (*progress)(void *ctx, const pipectl_progress *p);
	uint32_t (*cancel)(void *ctx);
} pipectl_options;

/*
 * Open an installation: configuration and policy are read, so that a fault in them is told here; all else is opened when it
 * is first needed. options may be NULL.
 *
 * Errors: those of the files, PC4317, PCTL_E_NOMEM, PC0011 (a structure that is none).
 */
PCTL_EXPORT pctl_status pipectl_open(const pipectl_options *options, pipectl **out);
PCTL_EXPORT void pipectl_close(pipectl *p);

/* ---- devices ------------------------------------------------------------------------------ */

#define PIPECTL_DEVICE_USABLE 1u
#define PIPECTL_DEVICE_UNUSABLE 2u
#define PIPECTL_DEVICE_QUARANTINED 3u

#define PIPECTL_KIND_OTHER 0u
#define PIPECTL_KIND_REFERENCE 1u
#define PIPECTL_KIND_CPU 2u
#define PIPECTL_KIND_INTEGRATED 3u
#define PIPECTL_KIND_DISCRETE 4u

#define PIPECTL_ROLE_REFERENCE 1u /* results are held against it */
#define PIPECTL_ROLE_SYNTHETIC 2u /* fails on purpose; of tests */
#define PIPECTL_ROLE_INERT 4u	  /* runs nothing */

/*
 * A device, or a driver that could not be asked (no name, and a cause).
 *
 * selector  how it is named: "vulkan:0"
 * driver    driver and version, as it says
 * cause     why it is not usable, else NULL
 * state     PIPECTL_DEVICE_*; kind: PIPECTL_KIND_*; roles: PIPECTL_ROLE_* or'ed
 * certified the highest level (0 to 4) that a certificate which is trusted here, of these very files, gives any operation
 *           of class integer on a device with this name and driver; 0: none
 */
typedef struct pipectl_device {
	pctl_head head;
	const char *selector, *name, *driver, *backend, *cause;
	uint32_t state, kind, roles, certified;
} pipectl_device;

/* All devices of all usable backends, in the order in which they are preferred; those of tests are left out. They live until
 * the list is released. */
PCTL_EXPORT pctl_status pipectl_devices_list(pipectl *p, pipectl_devices **out);
PCTL_EXPORT uint32_t pipectl_devices_count(const pipectl_devices *d);
/* The i-th into *out, whose head says how much of it is written. PC0011 past the end. */
PCTL_EXPORT pctl_status pipectl_devices_at(const pipectl_devices *d, uint32_t i,
					   pipectl_device *out);
PCTL_EXPORT void pipectl_devices_release(pipectl_devices *d);

/* ---- ops ---------------------------------------------------------------------------------- */

/*
 * An op of a loaded library; lives as long as the installation.
 *
 * name, version  "tensor.matmul", 1: written tensor.matmul@1 in pipelines
 * in, out, attr  names of its ports and attributes, n_in, n_out and n_attr of them
 */
typedef struct pipectl_op {
	pctl_head head;
	const char *name, *about;
	const char *const *in, *const *out, *const *attr;
	uint32_t version, n_in, n_out, n_attr;
} pipectl_op;

/* How many there are. Errors: of opening op libraries. */
PCTL_EXPORT pctl_status pipectl_op_count(pipectl *p, uint32_t *n);
/* The i-th, by library and in its order. PC0011 past the end. */
PCTL_EXPORT pctl_status pipectl_op_at(pipectl *p, uint32_t i, pipectl_op *out);

/* ---- files of tensors --------------------------------------------------------------------- */

#define PIPECTL_RANK_MAX 8u

/* The element type and shape of the tensor that a source names, "x.npy" or "w.safetensors:layer.0". */
typedef struct pipectl_tensor {
	pctl_head head;
	const char *dtype;
	uint32_t rank, reserved;
	uint64_t dims[PIPECTL_RANK_MAX];
} pipectl_tensor;

/* Nothing but the header is read. Errors: PC4211 to PC4215, those of files; PC4212 also where the name's ending is that of no such
 * file. */
PCTL_EXPORT pctl_status pipectl_tensor_look(pipectl *p, const char *source, pipectl_tensor *out);

/* ---- pipelines ---------------------------------------------------------------------------- */

/* A parameter of a pipeline: set from outside, as --set NAME=VALUE, or the value in force. */
typedef struct pipectl_setting {
	const char *name, *value;
} pipectl_setting;

/*
 * Read a pipeline with all it includes and run every check that needs no data: one call tells all faults, each with its
 * place. path: a file, or a text of a revision, "REPO@REV:PATH". p is used by the pipeline as long as it lives.
 */
PCTL_EXPORT pctl_status pipectl_pipeline_load(pipectl *p, const char *path,
					      const pipectl_setting *settings, uint32_t n_settings,
					      pipectl_pipeline **out);
PCTL_EXPORT void pipectl_pipeline_release(pipectl_pipeline *pl);

/* An input or output as declared. type: "u32[m,2]", in which names are dimensions that the data gives, and "|" and "..." say
 * what is left open. source: the file or CID that an input names itself, or NULL. */
typedef struct pipectl_port {
	pctl_head head;
	const char *name, *type, *source;
} pipectl_port;

PCTL_EXPORT const char *pipectl_pipeline_name(const pipectl_pipeline *pl);
PCTL_EXPORT uint32_t pipectl_pipeline_input_count(const pipectl_pipeline *pl);
PCTL_EXPORT uint32_t pipectl_pipeline_output_count(const pipectl_pipeline *pl);
/* PC0011 past the end. */
PCTL_EXPORT pctl_status pipectl_pipeline_input(pipectl_pipeline *pl, uint32_t i, pipectl_port *out);
PCTL_EXPORT pctl_status pipectl_pipeline_output(pipectl_pipeline *pl, uint32_t i,
						pipectl_port *out);
/* The parameters as declared, with their values in force. PC0011 past the end. */
PCTL_EXPORT uint32_t pipectl_pipeline_param_count(const pipectl_pipeline *pl);
PCTL_EXPORT pctl_status pipectl_pipeline_param(pipectl_pipeline *pl, uint32_t i,
					       pipectl_setting *out);

/*
 * Data for an input, in place of what the pipeline names.
 *
 * source  a file, a CID, "zero:BYTES"; NULL: data
 * data    n_bytes, packed and row by row, little endian; unchanged until the call returns (PC5210 where it changed)
 * dtype   "u32", "f32", ..: what data is, held against the declaration; NULL: bytes, whose size tells the shape
 * dims    rank numbers, with dtype
 */
typedef struct pipectl_input {
	pctl_head head;
	const char *name;
	const char *source;
	const void *data;
	uint64_t n_bytes;
	const char *dtype;
	const uint64_t *dims;
	uint32_t rank;
	uint32_t reserved;
} pipectl_input;

#define PIPECTL_RUN_NO_MEMO 1u	 /* nothing remembered is taken or added */
#define PIPECTL_RUN_GAS_LIMIT 2u /* gas_limit holds, besides the pipeline's and the policy's */
#define PIPECTL_RUN_RECEIPT 4u	 /* make a receipt (pipectl_result_receipt) */

/*
 * What is asked of a run, and of a plan.
 *
 * backends    selectors in order of preference; n 0: the policy's order
 * verify_ppm  share of jobs that the reference runs again, in millionths; never less than the policy's
 */
typedef struct pipectl_run_options {
	pctl_head head;
	const char *const *backends;
	const pipectl_input *inputs;
	uint32_t n_backends, n_inputs;
	uint32_t verify_ppm, flags;
	uint64_t gas_limit;
} pipectl_run_options;

/* The checks that need sizes, on each of the devices ("all": those that compute); n_devices 0: for no device in particular.
 * options may be NULL. Tells all faults; the status is that of the first. */
PCTL_EXPORT pctl_status pipectl_pipeline_check(pipectl_pipeline *pl,
					       const pipectl_run_options *options,
					       const char *const *devices, uint32_t n_devices);

/* What would run where, and what it costs: the document of `pipectl --json plan`, released with pipectl_free. Also after an
 * error *json is the document with its diagnostics, or NULL for lack of memory. */
PCTL_EXPORT pctl_status pipectl_pipeline_plan(pipectl_pipeline *pl,
					      const pipectl_run_options *options, char **json);

/*
 * Run. What the policy asks of pipelines (committed, signed) is asked first and cannot be passed by: PC6010 to PC6012. On
 * success every output is in the store. The result uses p until it is released, and the pipeline no more.
 */
PCTL_EXPORT pctl_status pipectl_pipeline_run(pipectl_pipeline *pl,
					     const pipectl_run_options *options,
					     pipectl_result **out);

/* ---- results ------------------------------------------------------------------------------ */

/* One output. evidence: how it stands, "verified", "quorum 2 of 3", ..; dims: rank numbers. */
typedef struct pipectl_output {
	pctl_head head;
	const char *name, *cid, *dtype, *evidence;
	const uint64_t *dims;
	uint64_t n_bytes;
	uint32_t rank;
	uint32_t reserved;
} pipectl_output;

/*
 * The whole run. device: that took most of it, NULL where it was remembered. seconds: 0 where the policy keeps telemetry to
 * itself.
 *
 * remembered     1: every job was, and none ran; remembered_jobs: of how many what they gave before was taken
 * saved_gas, saved_seconds  what those cost when they ran; gas has theirs, too
 */
typedef struct pipectl_summary {
	pctl_head head;
	const char *evidence, *device;
	uint64_t gas;
	double seconds;
	uint32_t remembered;
	uint32_t reserved;
	uint64_t remembered_jobs, saved_gas;
	double saved_seconds;
} pipectl_summary;

/*
 * One job, in the order in which they run.
 *
 * device      NULL where it was remembered
 * gas         by the schedule, of all rounds and of the sizes that were found in its data, remembered or not
 * seconds     how long it took: now or, remembered, when it ran; 0 where the policy keeps telemetry to itself
 * remembered  1: it did not run, what it gave before was taken
 * not_taken   why what was remembered of it was not taken, or NULL
 */
typedef struct pipectl_job {
	pctl_head head;
	const char *id, *what, *device, *evidence, *not_taken;
	uint64_t gas;
	double seconds;
	uint32_t remembered;
	uint32_t reserved;
} pipectl_job;

PCTL_EXPORT void pipectl_result_release(pipectl_result *r);
PCTL_EXPORT pctl_status pipectl_result_summary(pipectl_result *r, pipectl_summary *out);
PCTL_EXPORT uint32_t pipectl_result_job_count(const pipectl_result *r);
/* PC0011 past the end. */
PCTL_EXPORT pctl_status pipectl_result_job(pipectl_result *r, uint32_t i, pipectl_job *out);
PCTL_EXPORT uint32_t pipectl_result_output_count(const pipectl_result *r);
/* PC0011 past the end. */
PCTL_EXPORT pctl_status pipectl_result_output(pipectl_result *r, uint32_t i, pipectl_output *out);
/* The bytes of the i-th output, read from the store and verified against its CID when they are first asked for; they live as
 * long as the result. Errors: PC5001, PC5004, PC0011. */
PCTL_EXPORT pctl_status pipectl_result_data(pipectl_result *r, uint32_t i, const void **data,
					    uint64_t *n_bytes);
/* Outputs as files: each setting an output and where it goes, as --out NAME=FILE of the tool has it: bytes alone, or a tensor of
 * an .npy, .npz or .safetensors file, "FILE.npz:NAME". Each file is put there at once. Errors: PC0010, PC4013, PC4214, PC5001, PC5004,
 * those of writing a file. */
PCTL_EXPORT pctl_status pipectl_result_write(pipectl_result *r, const pipectl_setting *outs,
					     uint32_t n);
/* The document of `pipectl --json run`; lives as long as the result. NULL: no memory. */
PCTL_EXPORT const char *pipectl_result_json(pipectl_result *r);
/* The signed receipt, for a run that was asked for one, else NULL; lives as long as the result. */
PCTL_EXPORT const char *pipectl_result_receipt(pipectl_result *r, uint64_t *n_bytes);

/* ---- evidence ----------------------------------------------------------------------------- */

#define PIPECTL_AUDIT_NATIVES \
	1u /* how far the devices' own forms go from the strict ones; class approximate */
#define PIPECTL_AUDIT_KEEP 2u /* nobody is quarantined */

/*
 * An audit: the pipeline on several devices, several times, all outputs of all jobs compared.
 *
 * devices  n_devices 0 or "all": those that compute and can run it
 * repeat   runs a device, 1 to 1000; 0: 2
 * quorum   voices that decide; 0: the policy's, or more than half
 * report   a directory for the report with its page, or NULL
 */
typedef struct pipectl_audit_options {
	pctl_head head;
	const char *const *devices;
	const pipectl_input *inputs;
	uint32_t n_devices, n_inputs;
	uint32_t repeat, quorum;
	const char *report;
	uint32_t flags;
	uint32_t reserved;
} pipectl_audit_options;

/* PCTL_OK when all agreed; PCTL_E_MISMATCH and the codes of `pipectl audit` when not. *json is the document of `pipectl --json
 * audit`, released with pipectl_free; NULL only for lack of memory. Admitted as a run is. */
PCTL_EXPORT pctl_status pipectl_audit(pipectl_pipeline *pl, const pipectl_audit_options *options,
				      char **json);

/*
 * A proof of a device's arithmetic.
 *
 * device    NULL: the one the policy prefers
 * level     "L1" to "L4", "L1f" to "L4f", "L1a"; NULL: "L2"
 * seed      of random cases; 0: 1
 * ops       what to prove, as --ops; NULL: all
 * cases     random cases a unit, programs: of the generator; 0: as the tool's
 * directory where the proof is kept, to go on after a stop with resume 1; NULL: in the home
 */
typedef struct pipectl_certify_options {
	pctl_head head;
	const char *device, *level, *ops, *directory;
	uint64_t seed, cases, programs;
	uint32_t resume;
	uint32_t reserved;
} pipectl_certify_options;

/* PCTL_OK when the level was granted. *json as for pipectl_audit: the document of `pipectl --json certify`. This takes
 * minutes to hours, by level. */
PCTL_EXPORT pctl_status pipectl_certify(pipectl *p, const pipectl_certify_options *options,
					char **json);

/* Check a receipt of any kind: signature, form, trace. signer: the key it must be by, or NULL. in_store 1: all it names must
 * be in the store. name is for messages. */
PCTL_EXPORT pctl_status pipectl_receipt_verify(pipectl *p, const char *name, const char *text,
					       uint64_t n_bytes, const char *signer,
					       uint32_t in_store);

/* ---- the store ---------------------------------------------------------------------------- */

#define PIPECTL_CID_SIZE 60u /* 59 characters and a NUL */

/* Put bytes, or all that a descriptor still gives, from where it is. When it returns, they are in the store durably. */
PCTL_EXPORT pctl_status pipectl_store_put(pipectl *p, const void *data, uint64_t n_bytes,
					  char cid[PIPECTL_CID_SIZE]);
PCTL_EXPORT pctl_status pipectl_store_put_fd(pipectl *p, int fd, char cid[PIPECTL_CID_SIZE],
					     uint64_t *n_bytes);
/* Get, verified: PC5001 (damaged), PC5004 (not there), PC5005 (no CID). The blob outlives p and is any thread's. */
PCTL_EXPORT pctl_status pipectl_store_get(pipectl *p, const char *cid, pipectl_blob **out);
PCTL_EXPORT const void *pipectl_blob_data(const pipectl_blob *b);
PCTL_EXPORT uint64_t pipectl_blob_bytes(const pipectl_blob *b);
PCTL_EXPORT void pipectl_blob_release(pipectl_blob *b);
/* The same into a file, which is the old one or the whole new one. */
PCTL_EXPORT pctl_status pipectl_store_get_file(pipectl *p, const char *cid, const char *path);
/* *out 1: there is a blob of this name, not verified. */
PCTL_EXPORT pctl_status pipectl_store_has(pipectl *p, const char *cid, uint32_t *out);

PCTL_C_END

#endif
