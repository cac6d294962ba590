/* An audit runs one pipeline on several devices, several times, and compares everything: every output of every job,
 * byte for byte. Before a device is blamed the race detector of the reference is asked whether it is the pipeline. Where devices differ it finds the job, the round of its repeat, the step, the buffer, the element and
 * the bits, makes the smallest reproduction it can, lets k of n outvote the rest, and says who is to be quarantined.
 * Not here: how a report looks (report.h). */
#ifndef PIPECTL_EVIDENCE_AUDIT_AUDIT_H
#define PIPECTL_EVIDENCE_AUDIT_AUDIT_H

#include "runtime/exec/run.h"

/*
 * run        as for pctl_run: sources, policy, ins; its backends, memo and verify are not used. PCTL_RUN_NATIVE is
 *            refused here (see natives)
 * selectors  devices, at least two; the reference, if it is among them, decides where there is no quorum
 * repeat     runs a device, at least 1
 * quorum     voices that must agree to outvote the others (quorum.h); 0: more than half of the devices
 * natives    1: class approximate pipelines only; every device runs it once strict and once with its native forms, and
 *            what is compared is native against strict: no verdict on the device, but how far it goes
 * scratch    a directory for blobs of job outputs, removed by the caller afterwards
 * repro      a directory where the reproduction is written (made when needed), or NULL
 */
typedef struct pctl_audit_options {
	pctl_run_options run;
	const char *const *selectors;
	uint32_t n_selectors, repeat, quorum, natives;
	const char *pipeline_file; /* for commands printed */
	const char *scratch, *repro;
} pctl_audit_options;

/* OUTVOTED: its bytes differ from those that stand. UNSTEADY: its own runs differ, of a program that has no race.
 * FAILED: a run on it ended in an error. UNDECIDED: bytes differ and nobody is to blame, or nobody knows who. */
enum {
	PCTL_AUDIT_AGREES = 1,
	PCTL_AUDIT_OUTVOTED,
	PCTL_AUDIT_FAILED,
	PCTL_AUDIT_UNDECIDED,
	PCTL_AUDIT_UNSTEADY
};

/* The one word over all devices: what text, page, document and exit status say. */
enum {
	PCTL_AUDIT_AGREED = 1,
	PCTL_AUDIT_WEAK,	     /* everything is all zero, all NaN or all the same */
	PCTL_AUDIT_RACE,	     /* bytes differ because the pipeline has a race */
	PCTL_AUDIT_DIFFERS,	     /* devices gave different bytes */
	PCTL_AUDIT_NOT_REPRODUCIBLE, /* only ever a device from itself */
	PCTL_AUDIT_SOME_FAILED	     /* nothing differs, but a device did not come to an end */
};

/* One device under audit. status: of the run that ended in an error, with FAILED. */
typedef struct pctl_audit_device {
	const char *selector, *name, *driver, *plugin;
	const char *driver_key;		       /* as quarantine knows it */
	const char *plugin_file, *driver_code; /* plugin and driver of pctl_quorum_voter */
	const char *profile;		       /* key of the profile in force, or NULL */
	pctl_setting *identity;
	uint32_t n_identity, kind, outcome, n_runs;
	uint32_t vouched; /* as pctl_quorum_voter has it */
	pctl_status status;
	const char *cause;	     /* of OUTVOTED, UNSTEADY and FAILED, to the bit */
	uint64_t wall_ns, device_ns; /* medians over repeats */
	uint64_t native_wall_ns, native_device_ns; /* natives: of the native run */
} pctl_audit_device;

/* What one output of one job carries as evidence: a comparison of constants proves little. */
typedef struct pctl_audit_evidence {
	uint64_t n_elements, zeros, nans, distinct; /* distinct counts to 65536 */
	uint32_t weak, reserved;		    /* 1: all zero, all NaN, or all the same */
} pctl_audit_evidence;

/* One output of one job over all devices and repeats. cids[device * repeat + r]; an absent run has an all-zero cid.
 * group: which outcome each belongs to, 0 the winning one, UINT32_MAX an absent run; where nobody won and not all are the
 * same, numbers start at 1. How a winner is found stands in quorum.c. */
typedef struct pctl_audit_cell {
	const char *job, *what, *port;
	pctl_tensor_type type; /* dtype 0: bytes */
	uint64_t n_bytes;
	pctl_cid *cids;
	uint32_t *groups;
	uint32_t n_groups, agreed; /* agreed: 1 when all that ran are the same */
	pctl_audit_evidence evidence;
	uint64_t *device_ns; /* device * repeat + r: of the job */
} pctl_audit_cell;

/* How far one run went from another in one output (drift.h). ulp: floats only; histogram[0] counts equal elements,
 * histogram[i] those with 2^(i-1) <= ulp < 2^i; strip: of 256 equal parts of the buffer, the share that differs in
 * millionths and the largest difference in ulp (both for plots). */
typedef struct pctl_audit_drift {
	uint32_t device, job; /* indices; job: of cells */
	uint64_t n_elements, n_different, first, max_ulp, max_at;
	uint64_t n_nan;			/* a NaN against a number; not in mean_ulp and histogram */
	uint64_t first_got, first_want; /* bits at `first` */
	uint64_t max_got, max_want;	/* bits at `max_at` */
	double mean_ulp, max_relative;
	uint64_t histogram[33];
	uint32_t strip_ppm[256];
	uint64_t strip_ulp[256];
	pctl_cid cid, base; /* of this run's output, and of what it is compared with */
} pctl_audit_drift;

/* The first difference of a device, bisected. */
typedef struct pctl_audit_divergence {
	uint32_t device, repeat; /* which run */
	const char *job, *what, *port;
	uint64_t n_different, element; /* in the port: how many, and the first */
	uint64_t got, want;	       /* bits of that element (of its first 8 bytes) */
	uint32_t element_bytes, flipped_bits;
	uint64_t ulp; /* floats */
	/* found by bisection: rounds from 0, steps from 1, as --trace and the mock count them; known 0: the difference did
	 * not come again when run again, and these are not set */
	uint32_t known, round, step;
	const char *kernel; /* name of the step's kernel, or "fill", "copy" */
	const char *buffer; /* "output ranks", "temporary 3", with binding "0:2" */
	uint64_t buffer_element, buffer_got, buffer_want;
	/* the reproduction; dir NULL: none was made. shrunk: bytes of its data that are not zero, and how many were not */
	const char *dir, *command;
	uint64_t shrunk_bytes, shrunk_from;
	uint32_t groups[3], reproduced, tried; /* how often it came again */
} pctl_audit_divergence;

/* Which form a strict float operation takes on a device, and what it costs: nanoseconds per million elements of the
 * strict and of the native elementwise kernel; 0: not measured. */
typedef struct pctl_audit_form {
	uint32_t device;
	const char *op, *type, *form; /* "native", "guarded", "f64", "int", "none" */
	double strict_ns, native_ns;
} pctl_audit_form;

typedef struct pctl_audit_result {
	const char *pipeline, *pipeline_class;
	pctl_cid pipeline_cid;
	pctl_run_output *inputs; /* of the run, with CIDs */
	pctl_audit_device *devices;
	pctl_audit_cell *
		cells; /* jobs in order, ports in order, repeats of the pipeline's outputs left out */
	pctl_audit_divergence *divergences;
	pctl_audit_drift *drifts; /* natives, and of every divergent output */
	pctl_audit_form *forms;
	uint32_t n_inputs, n_devices, n_cells, n_divergences, n_drifts, n_forms;
	uint32_t repeat, quorum, natives;
	uint32_t
		agreed; /* 1: all devices, all repeats, all outputs, and at least one output is no weak evidence */
	uint32_t
		races; /* PCTL_RACES_*: what is known of the pipeline's races; _REFUTED: they are why bytes differ */
	const char *
		race; /* of _REFUTED the race with both places; of _UNPROVEN why nobody could be blamed; else NULL */
	uint32_t weak;	  /* 1: every output is weak evidence: nothing was shown */
	uint32_t decided; /* 1: a quorum or the reference decided every difference */
	uint32_t
		disputed; /* 1: somewhere the reference spoke against a quorum, which nobody decides */
	uint64_t compared_bytes, wall_ns;
	pctl_arena *arena;
} pctl_audit_result;

/*
 * Audit. PCTL_OK whenever there is a result, divergent or not: the caller asks result->agreed. Nothing is put into the
 * store of run.store, and nobody is quarantined (pctl_audit_quarantine does that).
 *
 * Errors: PC5601 (fewer than two devices, one twice, a quorum of more), PC5602 (nothing was compared), PC5603 (native
 * forms where they have no place), those of finding a device, those of pctl_run that concern the pipeline rather than a
 * device.
 */
pctl_status pctl_audit(const pctl_graph *g, const pctl_audit_options *o, const pctl_call *call,
		       pctl_audit_result **out);
void pctl_audit_result_destroy(pctl_audit_result *r);

/* PCTL_AUDIT_AGREED to _SOME_FAILED. */
uint32_t pctl_audit_verdict(const pctl_audit_result *r);

/* Quarantine every OUTVOTED and UNSTEADY device's plugin and driver with its cause, and revoke its profile; *n_out how many. */
pctl_status pctl_audit_quarantine(const pctl_audit_result *r, const pctl_audit_options *o,
				  const pctl_call *call, uint32_t *n_out);

#endif
