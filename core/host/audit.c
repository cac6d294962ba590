/* What a client's audit consists of; see audit.h. */
#include "host/audit.h"

#include <inttypes.h>
#include <string.h>

#include "evidence/audit/forms.h"
#include "evidence/audit/report.h"
#include "foundation/base/json.h"
#include "foundation/diag/diag.h"

#define DEFAULT_REPEAT 2u
#define FORMS_MS 4000u /* a device, for what its forms cost */

typedef struct selectors {
	const char **at;
	uint32_t n, cap;
} selectors;

static pctl_status add_selector(pctl_installation *in, selectors *s, const char *text,
				const pctl_call *call)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (strcmp(s->at[i], text) == 0)
			return PCTL_OK;
	}
	if (s->n == s->cap) {
		const uint32_t cap = s->cap == 0 ? 16 : 2 * s->cap;
		const char **grown = pctl_arena_array(in->arena, cap, sizeof(*grown));

		if (grown == NULL)
			return pctl_no_memory(call, "an audit");
		if (s->n != 0)
			memcpy(grown, s->at, s->n * sizeof(*grown));
		s->at = grown;
		s->cap = cap;
	}
	s->at[s->n] = pctl_arena_dup(in->arena, text);
	return s->at[s->n++] != NULL ? PCTL_OK : pctl_no_memory(call, "an audit");
}

/* Why a device of `all` cannot take part, or NULL. What it says otherwise is not the caller's concern. */
static pctl_status unfit(pctl_installation *in, const pctl_graph *g, const pctl_run_options *run,
			 const char *selector, const pctl_call *call, const char **why)
{
	pctl_diag_list *said = pctl_diag_list_create();
	pctl_run_options o = *run;
	pctl_run_result *result = NULL;
	pctl_status status;

	*why = NULL;
	if (said == NULL)
		return pctl_no_memory(call, "an audit");
	pctl_diag_list_set_cancel(said, call->cancelled, call->ctx);
	o.backends = &selector;
	o.n_backends = 1;
	status = pctl_run_plan(g, &o, pctl_diag_list_call(said), &result);
	if (status == PCTL_E_NOMEM || status == PCTL_E_CANCELLED) {
		status = pctl_refuse(call, status == PCTL_E_NOMEM ? PC2_NOMEM : PC4_CANCELLED,
				     "while devices for the audit were looked for");
	} else {
		if (status != PCTL_OK)
			*why = pctl_diag_list_count(said) == 0
				       ? "refused"
				       : pctl_arena_dup(in->arena,
							pctl_diag_list_at(said, 0)->message);
		status = status != PCTL_OK && *why == NULL ? pctl_no_memory(call, "an audit")
							   : PCTL_OK;
	}
	pctl_run_result_destroy(result);
	pctl_diag_list_destroy(said);
	return status;
}

static pctl_status add_all(pctl_installation *in, const pctl_graph *g, const pctl_audit_request *q,
			   const pctl_run_options *run, selectors *s, const pctl_call *call)
{
	pctl_devices *list = NULL;
	pctl_status status = pctl_devices_list(in->registry, NULL, 0, call, &list);

	for (uint32_t i = 0; status == PCTL_OK && i < pctl_devices_count(list); i++) {
		const pctl_device_entry *e = pctl_devices_at(list, i);
		const char *why;

		if (!pctl_device_is_meant(e))
			continue;
		status = unfit(in, g, run, e->selector, call, &why);
		if (status == PCTL_OK && why == NULL)
			status = add_selector(in, s, e->selector, call);
		else if (status == PCTL_OK && q->left_out != NULL)
			q->left_out(q->ctx, e->selector, why);
	}
	pctl_devices_destroy(list);
	return status;
}

static pctl_status find_devices(pctl_installation *in, const pctl_graph *g,
				const pctl_audit_request *q, pctl_audit_options *o,
				const pctl_call *call)
{
	static const char *const everything[] = {"all"};
	const char *const *asked = q->n_selectors == 0 ? everything : q->selectors;
	const uint32_t n = q->n_selectors == 0 ? 1 : q->n_selectors;
	selectors s = {NULL, 0, 0};
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		status = strcmp(asked[i], "all") == 0 ? add_all(in, g, q, &o->run, &s, call)
						      : add_selector(in, &s, asked[i], call);
	o->selectors = s.at;
	o->n_selectors = s.n;
	return status;
}

static pctl_status find_quorum(const pctl_installation *in, const pctl_audit_request *q,
			       pctl_audit_options *o, const pctl_call *call)
{
	const pctl_policy *p = in->policy;

	o->quorum = q->quorum;
	if (q->quorum == 0 && p->quorum_n > 1) {
		o->quorum = p->quorum_k;
		if (o->n_selectors < p->quorum_n)
			return pctl_refuse(call, PC10_USAGE,
					   "the policy (%s) asks for %" PRIu32
					   " devices, and only %" PRIu32 " take part",
					   pctl_policy_origin(p, "quorum"), p->quorum_n,
					   o->n_selectors);
	}
	return o->quorum <= o->n_selectors ? PCTL_OK
					   : pctl_refuse(call, PC10_USAGE,
							 "a quorum of %" PRIu32
							 " cannot be had from %" PRIu32 " devices",
							 o->quorum, o->n_selectors);
}

static pctl_status make_options(pctl_installation *in, const pctl_loaded_pipeline *p,
				const pctl_audit_request *q, const pctl_call *call,
				pctl_audit_options *o)
{
	pctl_status status = pctl_request_run_options(in, &q->run, call, &o->run);

	if (status != PCTL_OK)
		return status;
	o->natives = q->natives;
	if (o->natives)
		status = pctl_policy_class_allowed(in->policy, PCTL_CLASS_APPROXIMATE,
						   p->pipeline->max_class, "--natives", call);
	o->repeat = q->repeat == 0 ? DEFAULT_REPEAT : q->repeat;
	if (status == PCTL_OK)
		status = find_devices(in, p->graph, q, o, call);
	if (status == PCTL_OK)
		status = find_quorum(in, q, o, call);
	o->pipeline_file = p->pipeline->file;
	o->repro = q->report != NULL
			   ? pctl_arena_printf(in->arena, "%s/reproduction", q->report)
			   : pctl_arena_printf(in->arena, "%s/reproductions", in->config->home);
	if (status == PCTL_OK && o->repro == NULL)
		status = pctl_no_memory(call, "an audit");
	return status;
}

static pctl_status write_report(pctl_installation *in, pctl_audit_result *r,
				const pctl_audit_request *q, const pctl_audit_options *o,
				const pctl_call *call)
{
	pctl_signer *signer = NULL;
	pctl_status status;

	if (q->report == NULL)
		return PCTL_OK;
	status = pctl_forms_measure(r, &o->run, FORMS_MS, call);
	if (status == PCTL_OK)
		status = pctl_installation_signer(in, call, &signer);
	if (status == PCTL_OK)
		status = pctl_audit_report(r, q->command == NULL ? "" : q->command, q->report,
					   signer, call);
	pctl_signer_close(signer);
	return status;
}

pctl_status pctl_audit_pipeline(pctl_installation *in, pctl_loaded_pipeline *p,
				const pctl_audit_request *q, const pctl_call *call,
				pctl_audit_result **out, uint32_t *n)
{
	pctl_audit_options o = {.repeat = DEFAULT_REPEAT};
	pctl_status status = make_options(in, p, q, call, &o);

	*out = NULL;
	*n = 0;
	if (status == PCTL_OK)
		status = pctl_admit(in, p, call);
	if (status == PCTL_OK)
		status = pctl_scratch_make(in, call, &o.scratch);
	if (status == PCTL_OK)
		status = pctl_audit(p->graph, &o, call, out);
	if (status == PCTL_OK)
		status = write_report(in, *out, q, &o, call);
	if (status == PCTL_OK && !q->natives && !q->keep)
		status = pctl_audit_quarantine(*out, &o, call, n);
	pctl_scratch_drop(o.scratch);
	return status;
}

/* ---- the verdict -------------------------------------------------------------------------------- */

/* A device that failed gave no bytes that could differ: that is no mismatch, and no success either. The status is that of
 * its own failure where the plugin is at fault. */
static pctl_status tell_failed(const pctl_audit_result *r, const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < r->n_devices; i++) {
		const pctl_audit_device *d = &r->devices[i];

		if (d->outcome != PCTL_AUDIT_FAILED)
			continue;
		(void)pctl_refuse(call, PC5614_AUDIT_FAILED, "%s did not come to an end: %s",
				  d->selector, d->cause == NULL ? "" : d->cause);
		if (status == PCTL_OK)
			status = d->status == PCTL_E_PLUGIN ? PCTL_E_PLUGIN : PCTL_E_EXEC;
	}
	return status;
}

static pctl_status tell_unsteady(const pctl_audit_result *r, const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < r->n_devices; i++)
		if (r->devices[i].outcome == PCTL_AUDIT_UNSTEADY)
			status =
				pctl_refuse(call, PC5615_AUDIT_NOT_REPRODUCIBLE, "%s: %s",
					    r->devices[i].selector,
					    r->devices[i].cause == NULL ? "" : r->devices[i].cause);
	return status;
}

pctl_status pctl_audit_judge(const pctl_audit_result *r, const pctl_call *call)
{
	const pctl_status unsteady = tell_unsteady(r, call), failed = tell_failed(r, call);

	switch (pctl_audit_verdict(r)) {
	case PCTL_AUDIT_RACE:
		return pctl_refuse(call, PC5220_RACE, "no device is blamed: %s", r->race);
	case PCTL_AUDIT_DIFFERS:
		return pctl_refuse(call, PC5612_AUDIT_MISMATCH,
				   "pipeline \"%s\" gives different bytes on these devices%s%s",
				   r->pipeline, r->race == NULL ? "" : "; nobody is blamed: ",
				   r->race == NULL ? "" : r->race);
	case PCTL_AUDIT_NOT_REPRODUCIBLE:
		return unsteady;
	case PCTL_AUDIT_WEAK:
		return pctl_refuse(
			call, PC5613_AUDIT_WEAK,
			"every output of pipeline \"%s\" is all zero, all NaN or all the same",
			r->pipeline);
	default:
		return failed;
	}
}

void pctl_audit_document(const pctl_audit_result *r, uint32_t n_quarantined, const char *report,
			 pctl_json *j)
{
	pctl_audit_json(r, j);
	pctl_json_kv_u32(j, "quarantined", n_quarantined);
	pctl_json_kv_string(j, "report", report);
}
