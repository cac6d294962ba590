/* A reference that most chains never open; see judge.h. */
#include "chain/home/judge.h"

#include <stdlib.h>

#include "host/run.h"

typedef struct judge {
	pctl_installation *in;
	pctl_executor reference; /* run NULL: not open yet */
} judge;

static pctl_status run(void *ctx, const pctl_task *tasks, uint32_t n, const pctl_call *call)
{
	judge *j = ctx;
	pctl_run_options options;
	pctl_status status = PCTL_OK;

	if (j->reference.run == NULL) {
		status = pctl_installation_run_options(j->in, call, &options);
		if (status == PCTL_OK)
			status = pctl_home_executor(&options, PCTL_REFERENCE, call, &j->reference);
	}
	return status == PCTL_OK ? j->reference.run(j->reference.ctx, tasks, n, call) : status;
}

static void close_judge(void *ctx)
{
	judge *j = ctx;

	pctl_executor_close(&j->reference);
	free(j);
}

static const char *describe(void *ctx)
{
	(void)ctx;
	return PCTL_REFERENCE;
}

pctl_status pctl_home_judge(pctl_installation *in, const pctl_call *call, pctl_executor *out)
{
	judge *j = calloc(1, sizeof(*j));

	*out = (pctl_executor){.run = NULL};
	if (j == NULL)
		return pctl_no_memory(call, "the judge of disputes");
	j->in = in;
	*out = (pctl_executor){.run = run, .close = close_judge, .describe = describe, .ctx = j};
	return PCTL_OK;
}
