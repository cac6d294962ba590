/* How results stand, along their provenance, and whether a remembered one still may answer: by whom it was made, and
 * whether the policy in force would take that evidence from those files today. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/run_private.h"
#include "runtime/graph/vm.h"

static const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};

void pctl_run_know_inputs(pctl_running *r)
{
	for (uint32_t i = 0; i < r->graph->pipeline->n_inputs; i++) {
		pctl_evidence known;

		r->input_evidence[i] = (pctl_evidence){.kind = PCTL_EVIDENCE_VERIFIED};
		if (r->o->memo == NULL || pctl_source_is_zero(r->sources[i]) ||
		    pctl_source_bytes(r->sources[i]) == 0)
			continue;
		if (pctl_memo_made(r->o->memo, pctl_source_cid(r->sources[i]), &known))
			r->input_evidence[i] = known;
		if (i < r->result->n_inputs)
			r->result->inputs[i].evidence = r->input_evidence[i];
	}
}

pctl_evidence pctl_run_evidence_along(const pctl_running *r, const pctl_run_node *n,
				      pctl_evidence own)
{
	pctl_evidence e = own;

	for (uint32_t i = 0; i < n->node->n_in; i++) {
		const pctl_source s = n->node->in[i];

		e = pctl_evidence_weaker(e, s.job == PCTL_FROM_INPUT ? r->input_evidence[s.port]
								     : r->nodes[s.job].evidence);
	}
	return e;
}

void pctl_run_judge_evidence(pctl_running *r, pctl_run_node *n, int verified)
{
	n->own = (pctl_evidence){.kind = PCTL_EVIDENCE_VERIFIED};
	if (!verified && r->o->agreed != NULL)
		n->own = r->o->agreed->evidence;
	else if (!verified && pctl_session_kind(n->session) != PCTL_DEVICE_REFERENCE)
		n->own = pctl_run_certified(r, n, n->session);
	/* A result that one kernel gave stands as its jobs do, of which it is the last. */
	if (n->group != NULL && !pctl_run_is_within(r, n))
		for (uint32_t i = 0; i + 1 < n->group->n_jobs; i++)
			n->own = pctl_evidence_weaker(n->own, r->nodes[n->group->jobs[i]].own);
	n->evidence = pctl_run_evidence_along(r, n, n->own);
}

/* Bytes that went in are known already, whatever came out of it: a job may give its input back. */
static int went_in(const pctl_running *r, const pctl_cid *cid)
{
	for (uint32_t i = 0; i < r->result->n_inputs; i++)
		if (pctl_cid_compare(&r->result->inputs[i].cid, cid) == 0)
			return 1;
	return 0;
}

/* What is verified needs no note, unless one says less of this run. */
pctl_status pctl_run_note_made(pctl_running *r)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; r->o->memo != NULL && i < r->graph->n_nodes; i++) {
		const pctl_run_node *n = &r->nodes[i];

		for (uint32_t k = 0; status == PCTL_OK && n->recalled == NULL && k < n->node->n_out;
		     k++) {
			pctl_evidence known;

			if (!n->known[k] || went_in(r, &n->cid[k]) ||
			    (n->evidence.kind == PCTL_EVIDENCE_VERIFIED &&
			     !pctl_memo_made(r->o->memo, &n->cid[k], &known)))
				continue;
			status = pctl_memo_made_put(r->o->memo, &n->cid[k], r->result->key,
						    n->evidence, r->call);
		}
	}
	return status;
}

/* ---- records ------------------------------------------------------------------------------ */

static int copy(char *to, size_t cap, const char *text)
{
	if (text == NULL)
		text = "";
	return snprintf(to, cap, "%s", text) < (int)cap;
}

static int add_device(const pctl_open_session *s, pctl_memo_record *record)
{
	const pctl_plugin_info *p = pctl_session_plugin(s->open.session);
	const pctl_profile_record *profile = pctl_session_profile_known(s->open.session);
	pctl_memo_plugin *to = &record->plugins[record->n_plugins++];
	char key[PCTL_CID_TEXT_SIZE];

	to->is_device = 1;
	to->index = s->index;
	to->kind = s->kind;
	return p != NULL && !p->selects && p->sha256 != NULL &&
	       copy(to->id, sizeof(to->id), p->id) &&
	       copy(to->sha256, sizeof(to->sha256), p->sha256) &&
	       copy(to->profile, sizeof(to->profile),
		    profile == NULL ? "" : pctl_cid_format(&profile->key, key)) &&
	       copy(to->driver, sizeof(to->driver), s->driver) &&
	       copy(to->name, sizeof(to->name), s->name);
}

/* Its device, and the reference, which may have judged it. */
static int took_part(const pctl_open_session *s, const pctl_run_node *n)
{
	return s->open.session == n->session || s->kind == PCTL_DEVICE_REFERENCE;
}

int pctl_run_name_plugins(pctl_running *r, const pctl_run_node *n, pctl_memo_record *record)
{
	const pctl_op_source *ops = r->o->ops;
	const char *host;

	if (r->o->registry == NULL ||
	    pctl_registry_host(r->o->registry, &quiet, &host) != PCTL_OK ||
	    !copy(record->host, sizeof(record->host), host))
		return 0;
	for (uint32_t i = 0; i < r->n_sessions; i++)
		if (took_part(&r->sessions[i], n) && (record->n_plugins == PCTL_MEMO_PLUGINS_MAX ||
						      !add_device(&r->sessions[i], record)))
			return 0;
	/* An op may use others, in its plan or by `//# use`: all that are loaded took part. */
	for (uint32_t i = 0; i < ops->count(ops->ctx); i++) {
		pctl_memo_plugin *to = &record->plugins[record->n_plugins];
		pctl_op_ref op;

		ops->at(ops->ctx, i, &op);
		if (record->n_plugins != 0 && !to[-1].is_device &&
		    strcmp(to[-1].id, op.plugin) == 0)
			continue;
		if (record->n_plugins == PCTL_MEMO_PLUGINS_MAX || op.digest == NULL ||
		    !copy(to->id, sizeof(to->id), op.plugin) ||
		    !copy(to->sha256, sizeof(to->sha256), op.digest))
			return 0;
		record->n_plugins++;
	}
	return 1;
}

/* ---- may it answer ------------------------------------------------------------------------ */

/* The certificate level that the policy asks of its op counts, of a machine the highest of its ops; of a shader it asks none. */
int pctl_run_suffices(const pctl_running *r, const pctl_run_node *n, pctl_evidence e)
{
	const pctl_vm_desc *d = n->node->vm;
	uint32_t level = n->node->job->kind == PCTL_JOB_OP
				 ? pctl_policy_certificate(r->o->policy, n->node->op.desc->name)
				 : 0;

	for (uint32_t i = 0; d != NULL && i < d->n_steps; i++) {
		const pctl_op_desc *op = d->steps[i].op.desc;
		const uint32_t one =
			op == NULL ? 0 : pctl_policy_certificate(r->o->policy, op->name);

		level = one > level ? one : level;
	}
	return pctl_policy_evidence_suffices(r->o->policy, e, level);
}

static const char *void_plugin(pctl_running *r, const pctl_memo_plugin *m)
{
	const pctl_plugin_info *p = pctl_registry_find(r->o->registry, m->id);
	const pctl_policy_device d = {m->id, m->name, m->index, m->kind};

	if (p == NULL || p->state != PCTL_PLUGIN_USABLE)
		return "cannot be used"; /* by the policy's rules, too: the registry holds to them */
	if (p->sha256 == NULL || strcmp(p->sha256, m->sha256) != 0)
		return "is another file now";
	if (pctl_quarantine_find(r->o->registry, m->id, NULL) != NULL)
		return "is in quarantine";
	if (!m->is_device)
		return NULL;
	if (pctl_quarantine_find(r->o->registry, m->id, m->driver) != NULL)
		return "is in quarantine with this driver";
	if (pctl_policy_backend_allowed(r->o->policy, &d, &quiet) != PCTL_OK)
		return "has a device that the policy does not allow";
	if (m->kind == PCTL_DEVICE_REFERENCE && !p->vouched)
		return "is not the reference here";
	if (m->profile[0] != '\0' &&
	    (r->o->profiles == NULL || pctl_profiles_is_revoked(r->o->profiles, m->profile)))
		return "has a device whose profile is revoked";
	return NULL;
}

const char *pctl_run_void_reason(pctl_running *r, const pctl_run_node *n,
				 const pctl_memo_record *record)
{
	const pctl_policy *policy = r->o->policy;
	const pctl_evidence e = pctl_run_evidence_along(r, n, record->evidence);
	char text[PCTL_EVIDENCE_TEXT];
	const char *host;

	if (r->o->registry == NULL ||
	    pctl_registry_host(r->o->registry, &quiet, &host) != PCTL_OK ||
	    strcmp(host, record->host) != 0)
		return "it was made by another build of pipectl";
	if (!pctl_run_suffices(r, n, e))
		return pctl_arena_printf(r->result->arena, "it is %s, the policy wants more (%s)",
					 pctl_evidence_text(e, text),
					 pctl_policy_origin(policy, "memo"));
	if (record->determinism > policy->max_class)
		return "its class is above the policy's";
	if (policy->race == PCTL_RACE_PROVEN && !record->proven)
		return "its freedom from races was not proven";
	if (pctl_policy_memory_allowed(policy, record->memory, "it", &quiet) != PCTL_OK)
		return "it needs more memory than the policy allows";
	for (uint32_t i = 0; i < record->n_plugins; i++) {
		const char *why = void_plugin(r, &record->plugins[i]);

		if (why != NULL)
			return pctl_arena_printf(r->result->arena, "plugin %s %s",
						 record->plugins[i].id, why);
	}
	return NULL;
}
