/* Jobs made ready: each on the session where it runs, with the plan that runs there, alone or in the kernel of its group. */
#include "foundation/base/clock.h"
#include "foundation/diag/diag.h"
#include "runtime/exec/run_private.h"

static pctl_status place(pctl_running *r, pctl_run_node *n)
{
	n->session = r->main;
	return n->node->job->placement == NULL || r->o->flags & PCTL_RUN_UNPLACED
		       ? PCTL_OK
		       : pctl_run_session(r, n->node->job->placement, &n->session);
}

pctl_status pctl_run_settle_node(pctl_running *r, pctl_run_node *n, pctl_job_plan **tuned)
{
	pctl_diag_list *said = pctl_diag_list_create();
	pctl_run_teller teller;
	pctl_status status;

	*tuned = NULL;
	if (said == NULL)
		return pctl_no_memory(r->call, "a run");
	pctl_diag_list_set_cancel(said, r->call->cancelled, r->call->ctx);
	status = place(r, n);
	if (status == PCTL_OK && r->executes)
		pctl_run_tell(&teller, r, n, "build", n->session);
	if (status == PCTL_OK)
		status = pctl_run_fits(r, n, n->session, pctl_diag_list_call(said), tuned);
	if (status == PCTL_E_UNSUPPORTED || status == PCTL_E_LIMIT) {
		pctl_diag_list *further = pctl_diag_list_create();

		if (further != NULL) {
			pctl_diag_list_set_cancel(further, r->call->cancelled, r->call->ctx);
			if (pctl_run_move(r, n, pctl_diag_list_call(further), tuned)) {
				pctl_diag_list_destroy(said);
				said = further;
				further = NULL;
				status = PCTL_OK;
			}
		}
		pctl_diag_list_destroy(further);
	}
	for (uint32_t i = 0; i < pctl_diag_list_count(said); i++)
		(void)pctl_emit(r->call, pctl_diag_list_at(said, i));
	pctl_diag_list_destroy(said);
	return status;
}

/* A group goes where the job that gives its result goes. */
static pctl_status make_group_ready(pctl_running *r, pctl_run_group *g)
{
	pctl_run_node *root = &r->nodes[g->root];
	const uint64_t began = pctl_clock_ns();
	pctl_job_plan *unused;
	pctl_status status = pctl_run_settle_node(r, root, &unused);

	pctl_job_plan_destroy(unused);
	if (status == PCTL_OK)
		status = pctl_run_ready_group(r, g, root->session);
	return r->executes ? pctl_run_end_stage(r, root, PCTL_STAGE_BUILD, began, status) : status;
}

pctl_status pctl_run_make_ready(pctl_running *r, pctl_run_node *n)
{
	const uint64_t began = pctl_clock_ns();
	pctl_status status;

	if (n->ready || n->recalled != NULL || n->spared)
		return PCTL_OK;
	/* What cannot be may become smaller groups. */
	while (n->group != NULL) {
		status = make_group_ready(r, n->group);
		if (status != PCTL_OK || n->ready)
			return status;
	}
	status = pctl_run_settle_node(r, n, &n->tuned);
	if (status == PCTL_OK && n->tuned != NULL && n->tuned->race != n->canonical->race)
		status = pctl_run_check_race_policy(r, n, n->tuned, n->gas);
	n->ready = status == PCTL_OK;
	return r->executes ? pctl_run_end_stage(r, n, PCTL_STAGE_BUILD, began, status) : status;
}
