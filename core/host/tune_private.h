/* Inside of tune.h, shared by the tune_*.c files. */
#ifndef PIPECTL_HOST_TUNE_PRIVATE_H
#define PIPECTL_HOST_TUNE_PRIVATE_H

#include "host/tune.h"

/* A job as an observer of a run is shown it: the kernel, and its outputs' CIDs, which another run must give too. */
typedef struct pctl_tuning {
	pctl_installation *in;
	const pctl_run_options *o;
	const pctl_tune_options *t;
	pctl_tune_result *result;
	pctl_arena *arena; /* of what outlives a run */
	pctl_cid *
		right; /* of what the reference gave, or the first graph of a sweep, n_right of them */
	uint32_t n_right;
	const char *name, *first; /* of a sweep: its graph, and the first */
	int counts, times;	  /* what is wanted of the run that is observed */
	int compares; /* 0: of class approximate, whose bytes may differ from run to run */
} pctl_tuning;

/* tune_count.c: run the kernel of the view once more with counters, and fill in lines, blocks and totals. */
pctl_status pctl_tune_count(pctl_tuning *x, const pctl_run_observation *view,
			    const pctl_call *call);
/* tune_time.c: time the kernel, and a copy. */
pctl_status pctl_tune_measure(pctl_tuning *x, const pctl_run_observation *view,
			      const pctl_call *call);
/* tune_remark.c: what the compiler says of it. */
pctl_status pctl_tune_remarks(pctl_tuning *x, const pctl_run_observation *view,
			      const pctl_call *call);

/* The one step of a shader's plan that is a kernel. */
const pctl_step *pctl_tune_step(const pctl_job_plan *plan);
/* The outputs of the run that is observed, once more: PC5208 where they are not what it gave. who: "the device when it .." */
pctl_status pctl_tune_compare(const pctl_tuning *x, pctl_value *const *values, const char *who,
			      const pctl_call *call);

#endif
