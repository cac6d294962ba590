/* What the verbs that submit jobs share. */
#ifndef PIPECTL_TOOLS_JOB_H
#define PIPECTL_TOOLS_JOB_H

#include "chain.h"
#include "chain/transition/submit.h"

/* Overrides as somebody wrote them, read by the types of the shader, sorted, into the message. */
pctl_status pctl_job_overrides(pctl_app *app, pctl_chain *c, const char *shader,
			       const pctl_override_value *given, uint32_t n, pctl_msg_execute *m);
/* One line (or the members of an open object) about a job that was taken in; name: in its pipeline, or NULL. */
pctl_status pctl_job_print_submitted(pctl_app *app, pctl_chain *c, const char *name,
				     const pctl_msg_execute_response *r);
/* `job submit --pipeline`: every job of a pipeline in one batch, all or none. */
pctl_status pctl_job_submit_pipeline(pctl_app *app, pctl_chain *c);

#endif
