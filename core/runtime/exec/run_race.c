/* Races of jobs that are not proven free of them: the reference runs these very inputs with its detector, before the job
 * runs, or when somebody asks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/str.h"
#include "foundation/diag/diag.h"
#include "runtime/exec/run_private.h"

uint32_t pctl_run_race_evidence(const pctl_running *r, const pctl_job_plan *plan)
{
	if (plan->race == PCTL_PROOF_PROVEN)
		return PCTL_RACES_PROVEN;
	if (r->o->flags & PCTL_RUN_CHECK_RACES)
		return PCTL_RACES_CHECKED;
	return !(r->o->flags & PCTL_RUN_RACES_KNOWN) && r->o->policy->race == PCTL_RACE_CHECKED
		       ? PCTL_RACES_CHECKED
		       : PCTL_RACES_UNPROVEN;
}

pctl_status pctl_run_check_races(pctl_running *r, pctl_run_node *n, const pctl_job_run *run,
				 pctl_value *const *in)
{
	pctl_value *again[PCTL_PORTS_MAX] = {NULL};
	pctl_job_run observed = *run;
	pctl_run_teller teller;
	pctl_session *checker;
	pctl_status status;

	if (pctl_run_race_evidence(r, run->plan) != PCTL_RACES_CHECKED)
		return PCTL_OK;
	/* A sanitizing run of the reference sees them as it runs. */
	if (pctl_session_build_flags(n->session) & PCTL_BUILD_SANITIZE)
		return PCTL_OK;
	status = pctl_run_checker(r, &checker);
	if (status != PCTL_OK)
		return status;
	if (pctl_session_kind(n->session) == PCTL_DEVICE_REFERENCE) {
		n->session = checker;
		return PCTL_OK;
	}
	pctl_run_tell(&teller, r, n, "races", checker);
	observed.progress = &teller.sink;
	observed.trace = PCTL_TRACE_JOBS;
	observed.held = 0;
	observed.shape = NULL;
	status = pctl_job_execute(checker, &observed, in, r->call, again, NULL);
	n->observed = status == PCTL_OK && run->held && run->plan == n->canonical;
	for (uint32_t i = 0; i < n->node->n_out; i++) {
		if (n->observed)
			n->right[i] = again[i];
		else
			pctl_value_release(again[i]);
	}
	return status;
}

/* One number: where races are looked for, the reference that looks finds it too. */
pctl_status pctl_run_check_measure(pctl_running *r, const pctl_run_node *n, pctl_session **out)
{
	const uint32_t races = pctl_run_race_evidence(r, n->measure);

	r->result->trusted |= races == PCTL_RACES_UNPROVEN;
	*out = n->session;
	return races == PCTL_RACES_CHECKED ? pctl_run_checker(r, out) : PCTL_OK;
}

/* ---- asking ------------------------------------------------------------------------------- */

/* Nothing is kept of it. */
static pctl_status look_away(void *ctx, const pctl_run_observation *view, const pctl_call *call)
{
	(void)ctx;
	(void)view;
	(void)call;
	return PCTL_OK;
}

static void add_place(pctl_str_buf *s, const pctl_pos *pos)
{
	pctl_str_addf(s, "%s:%u:%u", pos->file == NULL ? "?" : pos->file, pos->line, pos->column);
}

/* The first error, or the race if one of them is that. */
static void answer_from(const pctl_diag_list *said, pctl_race_answer *out)
{
	const pctl_diag *first = NULL;
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	for (uint32_t i = 0; i < pctl_diag_list_count(said); i++) {
		const pctl_diag *d = pctl_diag_list_at(said, i);

		if (d->severity != PCTL_SEVERITY_ERROR)
			continue;
		if (first == NULL)
			first = d;
		if (d->code == PC5220_RACE || d->code == PC4311_POLICY_RACE) {
			first = d;
			out->races = PCTL_RACES_REFUTED;
			break;
		}
	}
	if (first == NULL)
		return;
	out->code = first->code;
	if (out->races == PCTL_RACES_REFUTED && first->pos.line != 0) {
		add_place(&s, &first->pos);
		if (first->n_notes != 0 && first->notes[0].pos.line != 0) {
			pctl_str_add(&s, " and ");
			add_place(&s, &first->notes[0].pos);
		}
		pctl_str_add(&s, ": ");
	}
	pctl_str_add(&s, first->message);
	snprintf(out->text, sizeof(out->text), "%s", s.failed ? first->message : s.data);
	pctl_str_drop(&s);
}

pctl_status pctl_run_ask_races(const pctl_graph *g, const pctl_run_options *o,
			       const pctl_call *call, pctl_race_answer *out)
{
	static const char *const reference[] = {PCTL_REFERENCE};
	pctl_diag_list *said = pctl_diag_list_create();
	pctl_run_options asked = *o;
	pctl_run_result *result = NULL;
	pctl_status status;

	*out = (pctl_race_answer){.races = PCTL_RACES_PROVEN};
	if (said == NULL)
		return pctl_no_memory(call, "a run");
	pctl_diag_list_set_cancel(said, call->cancelled, call->ctx);
	asked.backends = reference;
	asked.n_backends = 1;
	asked.memo = NULL;
	asked.verify_ppm = 0;
	asked.limit = NULL;
	asked.trace = NULL;
	asked.progress = (pctl_progress_sink){NULL, NULL};
	asked.observe = look_away;
	asked.observe_ctx = NULL;
	asked.flags = (o->flags & (PCTL_RUN_IN_PROCESS | PCTL_RUN_DEBUG)) | PCTL_RUN_FRESH |
		      PCTL_RUN_UNPLACED | PCTL_RUN_CHECK_RACES;
	status = pctl_run(g, &asked, pctl_diag_list_call(said), &result);
	for (uint32_t i = 0; status == PCTL_OK && i < result->n_jobs; i++)
		if (result->jobs[i].races != PCTL_RACES_PROVEN)
			out->races = PCTL_RACES_CHECKED;
	if (status != PCTL_OK) {
		out->races = PCTL_RACES_UNPROVEN;
		answer_from(said, out);
	}
	pctl_run_result_destroy(result);
	pctl_diag_list_destroy(said);
	if (pctl_is_cancelled(call))
		return pctl_refuse(call, PC4_CANCELLED, "while races were looked for");
	return PCTL_OK;
}
