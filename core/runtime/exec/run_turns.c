/* A job that went over its turn budget: the reference does it again and says where that happens first. */
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "runtime/exec/run_private.h"

#define PATIENCE_MS 60000u /* a device does in a moment what the reference may take hours for */

static pctl_status tell_first(const pctl_diag_list *said, const pctl_call *call, int *told)
{
	for (uint32_t i = 0; i < pctl_diag_list_count(said); i++) {
		const pctl_diag *d = pctl_diag_list_at(said, i);

		if (d->code != PC5226_TURNS)
			continue;
		*told = 1;
		return pctl_emit(call, d);
	}
	return PCTL_OK;
}

pctl_status pctl_run_name_turns(pctl_running *r, const pctl_run_node *n, const pctl_job_run *run,
				pctl_value *const *in, uint32_t step)
{
	pctl_diag_list *said = pctl_diag_list_create();
	pctl_value *again[PCTL_PORTS_MAX] = {NULL};
	pctl_job_run named = *run;
	pctl_run_teller teller;
	pctl_session *checker = NULL;
	pctl_status status, done;
	int told = 0;

	if (said == NULL)
		return pctl_no_memory(r->call, "a run");
	pctl_diag_list_set_cancel(said, r->call->cancelled, r->call->ctx);
	done = pctl_run_checker(r, &checker);
	if (done == PCTL_OK) {
		pctl_run_tell(&teller, r, n, "turns", checker);
		named.progress = &teller.sink;
		named.trace = PCTL_TRACE_JOBS;
		named.held = 0;
		named.shape = NULL;
		named.quiet_turns = 0;
		named.plan = n->canonical;
		if (named.timeout_ms == 0 || named.timeout_ms > PATIENCE_MS)
			named.timeout_ms = PATIENCE_MS;
		done = pctl_job_execute(checker, &named, in, pctl_diag_list_call(said), again,
					NULL);
	}
	for (uint32_t i = 0; i < n->node->n_out; i++)
		pctl_value_release(again[i]);
	status = tell_first(said, r->call, &told);
	pctl_diag_list_destroy(said);
	if (told)
		return status;
	if (pctl_is_cancelled(r->call))
		return pctl_refuse(r->call, PC4_CANCELLED, "while the reference looked for a loop");
	if (done == PCTL_OK)
		return pctl_refuse(r->call, PC5208_MISMATCH,
				   "job \"%s\": %s says that an invocation went over its budget of "
				   "turns, the reference makes them all, which is right",
				   n->node->job->id, pctl_session_name(n->session));
	return pctl_job_refuse_turns(run->plan, step, "; the reference did not get to it", r->call);
}
