/* Running what a client was given, as the policy asks: on one device, or on as many as its quorum names. What may run was
 * admitted; what is asked of a run never weakens what the policy asks. */
#ifndef PIPECTL_HOST_RUN_H
#define PIPECTL_HOST_RUN_H

#include "host/load.h"

/*
 * What a caller asks of a run. Everything stays the caller's and lives as long as the run.
 *
 * backends    selectors in order of preference; n 0: the policy's order
 * ins, given  data in place of what the pipeline names: of files, CIDs and "zero:BYTES", and of memory
 * verify_ppm  share of jobs run again on the reference, in millionths; never less than the policy's
 * flags       PCTL_RUN_DEBUG, _FRESH, _SANITIZE, _NATIVE, _NO_FUSE, _NO_PLACES, _NO_DEVICE (which implies nothing else; _NATIVE implies _FRESH)
 */
typedef struct pctl_run_request {
	const char *const *backends;
	const pctl_setting *ins;
	const pctl_input_bytes *given;
	uint32_t n_backends, n_ins, n_given;
	uint32_t verify_ppm, flags, has_gas_limit;
	uint64_t gas_limit, memory_bytes;
	pctl_progress_sink progress;
} pctl_run_request;

/* All that a run needs of an installation and of its request. */
pctl_status pctl_request_run_options(pctl_installation *in, const pctl_run_request *q,
				     const pctl_call *call, pctl_run_options *out);

/* Admit and run a pipeline; admit and plan one. */
pctl_status pctl_run_pipeline(pctl_installation *in, pctl_loaded_pipeline *p,
			      const pctl_run_options *o, const pctl_call *call,
			      pctl_run_result **out);
pctl_status pctl_plan_pipeline(pctl_installation *in, pctl_loaded_pipeline *p,
			       const pctl_run_options *o, const pctl_call *call,
			       pctl_run_result **out);

/*
 * The checks that need sizes, on top of loading: without devices when every input has data, or the caller gave some;
 * else on each of `devices`, where "all" stands for those that compute. The first error, after all were told.
 */
pctl_status pctl_check_pipeline(pctl_installation *in, const pctl_loaded_pipeline *p,
				const pctl_run_request *q, const char *const *devices,
				uint32_t n_devices, const pctl_call *call);

/* 1: a device that a client means by "all": usable, and one that computes. */
int pctl_device_is_meant(const pctl_device_entry *e);

/* Run a graph that no file declares (`op run`, `shader run`), which no policy of files speaks of. */
pctl_status pctl_host_run(pctl_installation *in, const pctl_graph *g, const pctl_run_options *o,
			  const pctl_call *call, pctl_run_result **out);

/* A directory for blobs of this process in the cache directory, its path in the installation's arena; and away with it
 * (NULL is fine). */
pctl_status pctl_scratch_make(pctl_installation *in, const pctl_call *call, const char **out);
void pctl_scratch_drop(const char *path);

#endif
