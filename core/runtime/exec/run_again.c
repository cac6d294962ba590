/* A run from its first job to its last, done again on other devices when one took too long over the first run of a program
 * (PC3110). That shows when other jobs have run, and what lay on the device is lost with its worker; nothing was stored or told by
 * then, so the whole is done again. */
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "runtime/exec/run_private.h"

/* A device that was named alone is meant, and what an observer was shown cannot be taken back. */
static int may_leave(const pctl_run_options *o)
{
	return o->n_backends != 1 && o->observe == NULL;
}

pctl_status pctl_run(const pctl_graph *g, const pctl_run_options *o, const pctl_call *call,
		     pctl_run_result **out)
{
	pctl_run_left left = {.n = 0};
	pctl_status status = PCTL_E_LIMIT;
	uint32_t tried = 0;

	*out = NULL;
	if (!may_leave(o))
		return pctl_run_once(g, o, NULL, call, out);
	do {
		pctl_diag_list *said = pctl_diag_list_create();
		pctl_call quiet;

		if (said == NULL) {
			status = pctl_no_memory(call, "a run");
			break;
		}
		tried = left.n;
		pctl_diag_list_set_cancel(said, call->cancelled, call->ctx);
		quiet = *pctl_diag_list_call(said);
		quiet.trace_id = call->trace_id;
		status = pctl_run_once(g, o, &left, &quiet, out);
		/* What was said of a run that is done again is of no interest. */
		for (uint32_t i = 0;
		     (status != PCTL_E_LIMIT || left.n == tried) && i < pctl_diag_list_count(said);
		     i++)
			(void)pctl_emit(call, pctl_diag_list_at(said, i));
		pctl_diag_list_destroy(said);
	} while (status == PCTL_E_LIMIT && left.n != tried);
	for (uint32_t i = 0; i < left.n; i++) {
		free(left.devices[i].selector);
		free(left.devices[i].why);
	}
	return status;
}
