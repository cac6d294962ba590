/* Runs under a quorum; see quorum.h. Who takes part, the audit, who agreed, and the run that is kept. */
#include "evidence/audit/quorum.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/audit/audit_private.h"
#include "foundation/diag/diag.h"

#define MOST 64u

typedef struct comparison {
	const pctl_graph *graph;
	const pctl_run_options *o;
	const pctl_call *call;
	pctl_arena *arena;
	uint32_t k, n, one_each;
	const char *selectors[MOST];
	pctl_quorum_voter seats[MOST];
	uint32_t n_selectors;
	pctl_audit_options options;
	pctl_audit_result *r;
	uint8_t agrees[MOST]; /* gave the winning bytes everywhere */
	pctl_quorum_decision decision;
} comparison;

/* ---- who takes part ----------------------------------------------------------------------- */

/* At first a plugin has one seat, so that as many as there are come to speak. */
static int is_plugin_seated(const comparison *b, const pctl_quorum_voter *v)
{
	for (uint32_t i = 0; i < b->n_selectors; i++)
		if (strcmp(b->seats[i].plugin, v->plugin) == 0)
			return 1;
	return 0;
}

static int is_voice_seated(const comparison *b, const pctl_quorum_voter *v)
{
	for (uint32_t i = 0; i < b->n_selectors; i++)
		if (pctl_quorum_is_one_voice(&b->seats[i], v))
			return 1;
	return 0;
}

/* 1: it can take part, and what is seen of its driver is taken. Why it cannot goes to `told`. */
static int qualifies(comparison *b, const char *selector, pctl_quorum_voter *v,
		     pctl_diag_list *told)
{
	pctl_run_options o = *b->o;
	pctl_run_result *result = NULL;
	pctl_status status;

	o.backends = &selector;
	o.n_backends = 1;
	o.flags |= PCTL_RUN_FRESH | PCTL_RUN_UNPLACED;
	o.observe = NULL;
	o.trace = NULL;
	status = pctl_run_plan(b->graph, &o, pctl_diag_list_call(told), &result);
	v->driver = status == PCTL_OK && result->driver != NULL
			    ? pctl_arena_dup(b->arena, result->driver)
			    : "";
	pctl_run_result_destroy(result);
	return status == PCTL_OK;
}

static pctl_quorum_voter voter_of(const comparison *b, const pctl_device_entry *e)
{
	const pctl_plugin_info *p = pctl_registry_find(b->o->registry, e->backend);

	return (pctl_quorum_voter){.plugin = pctl_arena_dup(b->arena, p == NULL || p->sha256 == NULL
									      ? e->backend
									      : p->sha256),
				   .driver = "",
				   .vouched = pctl_audit_is_vouched(p)};
}

static int is_chosen(const comparison *b, const char *selector)
{
	for (uint32_t i = 0; i < b->n_selectors; i++)
		if (strcmp(b->selectors[i], selector) == 0)
			return 1;
	return 0;
}

static pctl_status seat(comparison *b, const pctl_device_entry *e, pctl_diag_list *told)
{
	const uint32_t i = b->n_selectors;
	pctl_quorum_voter v;

	if (i == b->n || is_chosen(b, e->selector))
		return PCTL_OK;
	v = voter_of(b, e);
	if (v.plugin == NULL)
		return pctl_no_memory(b->call, "a quorum");
	if ((b->one_each && is_plugin_seated(b, &v)) || !qualifies(b, e->selector, &v, told))
		return PCTL_OK;
	b->selectors[i] = pctl_arena_dup(b->arena, e->selector);
	if (b->selectors[i] == NULL || v.driver == NULL)
		return pctl_no_memory(b->call, "a quorum");
	if (is_voice_seated(b, &v))
		return PCTL_OK;
	b->seats[i] = v;
	b->n_selectors++;
	return PCTL_OK;
}

static pctl_status seat_named(comparison *b, pctl_diag_list *told)
{
	const uint32_t flags = b->o->flags & PCTL_RUN_IN_PROCESS ? PCTL_DEVICES_IN_PROCESS : 0;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < b->o->n_backends; i++) {
		const pctl_device_entry *e;
		pctl_devices *list = NULL;

		status = pctl_devices_find(b->o->registry, b->o->backends[i], flags, b->call, &list,
					   &e);
		if (status == PCTL_OK)
			status = seat(b, e, told);
		pctl_devices_destroy(list);
	}
	return status;
}

static pctl_status seat_by_policy(comparison *b, pctl_diag_list *told)
{
	const uint32_t flags = b->o->flags & PCTL_RUN_IN_PROCESS ? PCTL_DEVICES_IN_PROCESS : 0;
	pctl_devices *list = NULL;
	pctl_status status = pctl_devices_list(b->o->registry, NULL, flags, b->call, &list);

	for (uint32_t rank = 0; status == PCTL_OK && rank < b->o->policy->n_order; rank++)
		for (uint32_t i = 0; status == PCTL_OK && i < pctl_devices_count(list); i++) {
			const pctl_device_entry *e = pctl_devices_at(list, i);
			const pctl_policy_device d = {e->backend, e->name, e->index, e->kind};

			if (e->state == PCTL_DEVICE_USABLE &&
			    pctl_policy_backend_rank(b->o->policy, &d) == rank)
				status = seat(b, e, told);
		}
	pctl_devices_destroy(list);
	return status;
}

static uint32_t count_plugins(const comparison *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n_selectors; i++) {
		uint32_t k = 0;

		while (k < i && strcmp(b->seats[k].plugin, b->seats[i].plugin) != 0)
			k++;
		n += k == i;
	}
	return n;
}

static pctl_status find_devices(comparison *b)
{
	pctl_diag_list *told = pctl_diag_list_create();
	pctl_status status = told == NULL ? pctl_no_memory(b->call, "a quorum") : PCTL_OK;

	if (status == PCTL_OK) {
		pctl_diag_list_set_cancel(told, b->call->cancelled, b->call->ctx);
		for (b->one_each = 2; status == PCTL_OK && b->one_each-- != 0;)
			status = b->o->n_backends != 0 ? seat_named(b, told)
						       : seat_by_policy(b, told);
	}
	if (status == PCTL_OK && (b->n_selectors < b->n || count_plugins(b) < 2)) {
		for (uint32_t i = 0; i < pctl_diag_list_count(told); i++)
			(void)pctl_emit(b->call, pctl_diag_list_at(told, i));
		status = pctl_refuse(b->call, PC5237_QUORUM_DEVICES,
				     "the policy asks that %" PRIu32 " of %" PRIu32
				     " devices agree (%s): %" PRIu32 " with a plugin's file or a "
				     "driver of their own qualify, of %" PRIu32 " plugins",
				     b->k, b->n, pctl_policy_origin(b->o->policy, "quorum"),
				     b->n_selectors, count_plugins(b));
	}
	pctl_diag_list_destroy(told);
	return status;
}

/* ---- who agreed --------------------------------------------------------------------------- */

/* With one run a device, a cell's slots are numbered as the devices. Whoever gave what is believed everywhere speaks for one
 * thing; the others were judged output by output. */
static pctl_status count_agreement(comparison *b)
{
	pctl_quorum_voter *voters =
		pctl_arena_array(b->arena, b->r->n_devices + (size_t)1, sizeof(*voters));

	if (voters == NULL)
		return pctl_no_memory(b->call, "a quorum");
	for (uint32_t d = 0; d < b->r->n_devices; d++) {
		b->agrees[d] = b->r->devices[d].outcome == PCTL_AUDIT_AGREES;
		for (uint32_t i = 0; i < b->r->n_cells; i++)
			b->agrees[d] &= b->r->cells[i].groups[d] == 0;
		voters[d] = pctl_audit_voter(&b->r->devices[d]);
		voters[d].group = b->agrees[d] ? 0 : PCTL_QUORUM_SILENT;
	}
	pctl_quorum_decide(voters, b->r->n_devices, b->k, &b->decision);
	return PCTL_OK;
}

static void tell_others(const comparison *b, int in_quarantine)
{
	for (uint32_t d = 0; d < b->r->n_devices; d++) {
		const pctl_audit_device *x = &b->r->devices[d];

		if (b->agrees[d])
			continue;
		pctl_warn_at(b->call, PC5236_QUORUM_OUTVOTED, NULL, NULL,
			     "%s (%s) does not agree%s: %s", x->selector, x->name,
			     in_quarantine && x->outcome == PCTL_AUDIT_OUTVOTED
				     ? " and is put in quarantine"
				     : "",
			     x->cause == NULL ? "it gave other bytes" : x->cause);
	}
}

static pctl_status decide(comparison *b)
{
	uint32_t n;
	pctl_status status = count_agreement(b);

	if (status != PCTL_OK)
		return status;
	tell_others(b, (int)b->decision.stands);
	if (b->decision.stands)
		return pctl_audit_quarantine(b->r, &b->options, b->call, &n);
	return pctl_refuse(b->call, PC5235_QUORUM,
			   "the policy asks that %" PRIu32 " of %" PRIu32
			   " devices agree, each with a voice of its own, of two "
			   "plugins, one of which came with pipectl or is pinned (%s): no such "
			   "%" PRIu32 " do%s",
			   b->k, b->n, pctl_policy_origin(b->o->policy, "quorum"), b->k,
			   b->r->disputed ? ", or the reference says otherwise" : "");
}

/* ---- the run that is kept ----------------------------------------------------------------- */

static pctl_status keep(comparison *b, pctl_run_result **out)
{
	pctl_run_agreed agreed = {.evidence = {.kind = PCTL_EVIDENCE_QUORUM,
					       .plugins = b->decision.plugins,
					       .k = b->decision.voices,
					       .n = b->n_selectors}};
	pctl_cid *cids = pctl_arena_array(b->arena, b->r->n_cells + (size_t)1, sizeof(*cids));
	pctl_run_options o = *b->o;
	uint32_t speaker = 0;

	if (cids == NULL)
		return pctl_no_memory(b->call, "a quorum");
	while (!b->agrees[speaker])
		speaker++;
	for (uint32_t i = 0; i < b->r->n_cells; i++)
		cids[i] = b->r->cells[i].cids[speaker];
	agreed.cids = cids;
	o.agreed = &agreed;
	o.backends = &b->selectors[speaker];
	o.n_backends = 1;
	o.flags |= PCTL_RUN_FRESH | PCTL_RUN_UNPLACED;
	return pctl_run(b->graph, &o, b->call, out);
}

pctl_status pctl_quorum_run(const pctl_graph *g, const pctl_run_options *o, const char *scratch,
			    const pctl_call *call, pctl_run_result **out)
{
	comparison *b = calloc(1, sizeof(*b));
	pctl_status status = b == NULL || (b->arena = pctl_arena_create()) == NULL
				     ? pctl_no_memory(call, "a quorum")
				     : PCTL_OK;

	*out = NULL;
	if (status != PCTL_OK)
		goto out;
	b->graph = g;
	b->o = o;
	b->call = call;
	b->k = o->policy->quorum_k;
	b->n = o->policy->quorum_n;
	status = find_devices(b);
	if (status != PCTL_OK)
		goto out;
	b->options = (pctl_audit_options){.run = *o,
					  .selectors = b->selectors,
					  .n_selectors = b->n_selectors,
					  .repeat = 1,
					  .quorum = b->k,
					  .scratch = scratch};
	b->options.run.trace = NULL;
	status = pctl_audit(g, &b->options, call, &b->r);
	if (status == PCTL_OK)
		status = decide(b);
	if (status == PCTL_OK)
		status = keep(b, out);
out:
	if (b != NULL) {
		pctl_audit_result_destroy(b->r);
		pctl_arena_destroy(b->arena);
	}
	free(b);
	return status;
}
