/* What the verbs that submit jobs share. */
#ifndef PIPECTL_TOOLS_JOB_H
#define PIPECTL_TOOLS_JOB_H

#include "chain.h"
#include "chain/home/pipeline.h"
#include "chain/home/submit.h"

/* One line (or the members of an open object) about a job that was taken in; name: in its pipeline, or NULL. */
void pctl_job_print_submitted(pctl_app *app, const char *name, const pctl_chain_job *job);
/* `job submit --pipeline`: every job of a pipeline in one batch, all or none. */
pctl_status pctl_job_submit_pipeline(pctl_app *app, pctl_chain *c);

#endif
