/* What devices have mapped since they were opened, asked when all work is done and before any byte of it counts: results
 * stand as they do with these libraries. */
#include <string.h>

#include "foundation/diag/diag.h"
#include "runtime/exec/run_private.h"

static void say(const pctl_running *r, const pctl_session *s)
{
	const char *late = pctl_session_late(s);

	pctl_warn_at(r->call, PC5225_LATE_LIBRARY, NULL,
		     "`pipectl certify` again makes a certificate that names it",
		     "%s: %.*s was mapped after the device was opened, and no certificate of the "
		     "device names that library: the results are not certified",
		     pctl_session_name(s), (int)strcspn(late, "\t"), late);
}

/* Jobs in the order they ran, for each stands no better than its inputs. */
static pctl_status judge_again(pctl_running *r)
{
	pctl_status status = PCTL_OK;
	uint64_t told = 0;

	for (uint32_t i = 0; status == PCTL_OK && i < r->result->n_jobs; i++) {
		pctl_run_node *n = &r->nodes[r->graph->order[i]];
		pctl_run_job *job = &r->result->jobs[i];
		const pctl_evidence before = n->evidence;
		uint32_t at = 0;

		if (n->recalled != NULL || n->spared)
			continue;
		pctl_run_judge_evidence(r, n, (int)job->verified);
		job->evidence = n->evidence;
		while (at < r->n_sessions && r->sessions[at].open.session != n->session)
			at++;
		if (before.kind == PCTL_EVIDENCE_CERTIFIED &&
		    n->evidence.kind != PCTL_EVIDENCE_CERTIFIED && !(told >> at & 1) &&
		    pctl_session_late(n->session)[0] != '\0') {
			say(r, n->session);
			told |= UINT64_C(1) << at;
		}
		status = pctl_run_check_certified(r, n, n->session, r->call);
	}
	return status;
}

pctl_status pctl_run_settle(pctl_running *r)
{
	pctl_status status = PCTL_OK;
	int late = 0;

	for (uint32_t i = 0; status == PCTL_OK && i < r->n_sessions; i++) {
		status = pctl_session_settle(r->sessions[i].open.session, r->call);
		late |= pctl_session_late(r->sessions[i].open.session)[0] != '\0';
	}
	return status == PCTL_OK && late ? judge_again(r) : status;
}
