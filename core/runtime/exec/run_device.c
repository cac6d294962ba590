/* Where a run happens: the candidates in order, the first that qualifies for all that is planned,
 * and why the others did not. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/vec.h"
#include "foundation/diag/diag.h"
#include "runtime/exec/run_private.h"

static void forget(pctl_open_session *s)
{
	pctl_open_close(&s->open);
	free(s->selector);
	free(s->name);
	free(s->driver);
	*s = (pctl_open_session){.selector = NULL};
}

static pctl_open_options open_options(const pctl_running *r)
{
	return (pctl_open_options){.registry = r->o->registry,
				   .policy = r->o->policy,
				   .profiles = r->o->profiles,
				   .cache_dir = r->o->cache_dir,
				   .flags = r->o->flags};
}

/* `key` stands for the selector in the list of open sessions: a device can have two. */
static pctl_status open_as(pctl_running *r, const pctl_device_entry *e, const char *key,
			   const pctl_open_options *o, const pctl_call *call, pctl_session **out)
{
	pctl_open_session *slot = &r->sessions[r->n_sessions];
	pctl_status status;

	*out = NULL;
	for (uint32_t i = 0; i < r->n_sessions; i++) {
		if (strcmp(r->sessions[i].selector, key) == 0) {
			*out = r->sessions[i].open.session;
			return PCTL_OK;
		}
	}
	if (r->n_sessions == PCTL_RUN_SESSIONS)
		return pctl_refuse(call, PC5207_NO_DEVICE, "one run may use at most %u devices",
				   PCTL_RUN_SESSIONS);
	status = pctl_open_entry(o, e, call, &slot->open);
	if (status != PCTL_OK)
		return status;
	slot->selector = strdup(key);
	slot->name = strdup(e->name);
	slot->driver = strdup(e->env->key);
	slot->index = e->index;
	slot->kind = e->kind;
	if (slot->selector == NULL || slot->name == NULL || slot->driver == NULL) {
		forget(slot);
		return pctl_no_memory(call, "a session");
	}
	r->n_sessions++;
	*out = slot->open.session;
	return PCTL_OK;
}

static pctl_status open_entry(pctl_running *r, const pctl_device_entry *e, const pctl_call *call,
			      pctl_session **out)
{
	pctl_open_options o = open_options(r);

	if (e->kind == PCTL_DEVICE_REFERENCE && r->o->flags & PCTL_RUN_SANITIZE)
		o.build_flags = PCTL_BUILD_SANITIZE | PCTL_BUILD_COUNT;
	return open_as(r, e, e->selector, &o, call, out);
}

static void close_last(pctl_running *r)
{
	forget(&r->sessions[--r->n_sessions]);
}

void pctl_run_close_sessions(pctl_running *r)
{
	while (r->n_sessions > 0)
		close_last(r);
}

pctl_status pctl_run_session(pctl_running *r, const char *selector, pctl_session **out)
{
	uint32_t flags = pctl_open_list_flags(r->o->flags);
	const pctl_device_entry *entry;
	pctl_devices *list = NULL;
	pctl_status status =
		pctl_devices_find(r->o->registry, selector, flags, r->call, &list, &entry);

	*out = NULL;
	if (status == PCTL_OK)
		status = open_entry(r, entry, r->call, out);
	pctl_devices_destroy(list);
	return status;
}

pctl_status pctl_run_checker(pctl_running *r, pctl_session **out)
{
	uint32_t flags = pctl_open_list_flags(r->o->flags);
	pctl_open_options o = open_options(r);
	const pctl_device_entry *entry;
	pctl_devices *list = NULL;
	pctl_status status = PCTL_OK;

	*out = r->checker;
	if (r->checker != NULL)
		return PCTL_OK;
	status = pctl_devices_find(r->o->registry, PCTL_REFERENCE, flags, r->call, &list, &entry);
	o.policy = NULL; /* what the host asks for itself */
	o.build_flags = PCTL_BUILD_SANITIZE;
	if (status == PCTL_OK)
		status = open_as(r, entry, "the reference, looking for races", &o, r->call,
				 &r->checker);
	pctl_devices_destroy(list);
	*out = r->checker;
	return status;
}

/* A compiler that explodes is a reason to take another device before anything ran. A device that fails in another way is
 * not: the run fails with it, and says so itself. */
static pctl_status builds(const pctl_running *r, pctl_session *s, const pctl_job_plan *plan,
			  const pctl_call *call)
{
	const pctl_status status = r->executes ? pctl_session_build(s, plan, call) : PCTL_OK;

	return status == PCTL_E_LIMIT || status == PCTL_E_UNSUPPORTED ? status : PCTL_OK;
}

/* What lies on a session alone would be lost with it: a build may cost the device its worker. */
static pctl_status hold_alive(const pctl_running *r, const pctl_call *call)
{
	pctl_status status = PCTL_OK;
	const uint8_t *held;

	for (uint32_t i = 0; i < r->graph->n_nodes; i++)
		for (uint32_t k = 0; status == PCTL_OK && k < r->nodes[i].node->n_out; k++)
			if (r->nodes[i].values[k] != NULL)
				status = pctl_value_hold(r->nodes[i].values[k], call, &held);
	return status;
}

pctl_status pctl_run_fits(pctl_running *r, pctl_run_node *n, pctl_session *s, const pctl_call *call,
			  pctl_job_plan **tuned)
{
	const pctl_job_plan *plan = n->canonical != NULL ? n->canonical : n->measure;
	pctl_status status = pctl_run_check_certified(r, n, s, call);

	*tuned = NULL;
	if (status == PCTL_OK)
		status = pctl_run_tuned_plan(r, n, s, call, tuned);
	if (*tuned != NULL)
		plan = *tuned;
	if (status == PCTL_OK)
		status = pctl_session_qualify(s, plan, call);
	if (status == PCTL_OK)
		status = pctl_run_check_memory(r, n, s, call);
	/* Of jobs that are to be one kernel that is built. */
	if (status == PCTL_OK && n->group == NULL && r->executes &&
	    !pctl_session_has_built(s, plan))
		status = hold_alive(r, call);
	if (status == PCTL_OK && n->group == NULL)
		status = builds(r, s, plan, call);
	if (status != PCTL_OK) {
		pctl_job_plan_destroy(*tuned);
		*tuned = NULL;
	}
	return status;
}

static int goes_there(const pctl_running *r, const pctl_run_node *n)
{
	return (n->canonical != NULL || n->measure != NULL) && !n->spared &&
	       (n->node->job->placement == NULL || r->o->flags & PCTL_RUN_UNPLACED);
}

/* What will be built there, as far as it can be said before anything is. It says nothing, and what fails fails again when its turn
 * comes. */
static void foresee(pctl_running *r, pctl_session *s, const pctl_call *call)
{
	pctl_call quiet = *call;

	quiet.diag = NULL;
	if (!r->executes || !pctl_session_looks_ahead(s))
		return;
	for (uint32_t i = 0; i < r->graph->n_nodes; i++) {
		pctl_run_node *n = &r->nodes[i];
		pctl_job_plan *tuned = NULL;
		pctl_status status = PCTL_OK;

		if (!goes_there(r, n))
			continue;
		if (n->group != NULL)
			status = pctl_run_is_within(r, n)
					 ? PCTL_OK
					 : pctl_run_foresee_group(r, n->group, s, &quiet);
		else
			status = pctl_run_tuned_plan(r, n, s, &quiet, &tuned);
		if (status == PCTL_OK && n->group == NULL)
			pctl_session_foresee(s,
					     tuned != NULL	    ? tuned
					     : n->canonical != NULL ? n->canonical
								    : n->measure,
					     &quiet);
		pctl_job_plan_destroy(tuned);
		if (status != PCTL_OK)
			return;
	}
}

/* Can this session run every planned node that is not placed elsewhere. */
static pctl_status qualifies(pctl_running *r, pctl_session *s, const pctl_call *call)
{
	foresee(r, s, call);
	for (uint32_t i = 0; i < r->graph->n_nodes; i++) {
		pctl_run_node *n = &r->nodes[i];
		pctl_job_plan *tuned = NULL;
		pctl_status status;

		if (!goes_there(r, n))
			continue;
		status = pctl_run_fits(r, n, s, call, &tuned);
		pctl_job_plan_destroy(tuned);
		if (status != PCTL_OK)
			return status;
	}
	return PCTL_OK;
}

static pctl_status note_choice(pctl_running *r, const pctl_device_entry *e, const char *why,
			       int taken)
{
	pctl_run_result *result = r->result;
	pctl_run_choice *grown =
		pctl_arena_array(result->arena, result->n_choices + 1u, sizeof(*grown));

	if (grown == NULL)
		return pctl_no_memory(r->call, "a run");
	if (result->n_choices != 0)
		memcpy(grown, result->choices, result->n_choices * sizeof(*grown));
	grown[result->n_choices++] = (pctl_run_choice){
		pctl_arena_dup(result->arena, e->selector), pctl_arena_dup(result->arena, e->name),
		pctl_arena_dup(result->arena, why), (uint32_t)taken, 0};
	result->choices = grown;
	return PCTL_OK;
}

static pctl_status note_identity(pctl_running *r, const pctl_session *s)
{
	const pctl_key_value *facts;
	uint32_t n = pctl_session_identity(s, &facts);
	pctl_run_result *result = r->result;

	result->identity = pctl_arena_array(result->arena, n, sizeof(*result->identity));
	result->driver = pctl_arena_dup(result->arena, pctl_session_driver(s));
	if (result->identity == NULL || result->driver == NULL)
		return pctl_no_memory(r->call, "a run");
	result->n_identity = n;
	for (uint32_t i = 0; i < n; i++)
		result->identity[i] = (pctl_setting){
			pctl_arena_dup_n(result->arena, facts[i].key,
					 strnlen(facts[i].key, sizeof(facts[i].key))),
			pctl_arena_dup_n(result->arena, facts[i].value,
					 strnlen(facts[i].value, sizeof(facts[i].value)))};
	return PCTL_OK;
}

/* ---- devices that were given up --------------------------------------------------------------- */

/* Why the run does without this device, or NULL. */
static const char *left_for(const pctl_running *r, const char *selector)
{
	for (uint32_t i = 0; r->left != NULL && i < r->left->n; i++)
		if (strcmp(r->left->devices[i].selector, selector) == 0)
			return r->left->devices[i].why;
	return NULL;
}

static int is_placed_on(const pctl_running *r, const pctl_session *s)
{
	for (uint32_t i = 0; i < r->graph->n_nodes; i++)
		if (r->nodes[i].session == s && r->nodes[i].node->job->placement != NULL &&
		    !(r->o->flags & PCTL_RUN_UNPLACED))
			return 1;
	return 0;
}

void pctl_run_leave(pctl_running *r)
{
	for (uint32_t i = 0; r->left != NULL && i < r->n_sessions; i++) {
		const pctl_open_session *s = &r->sessions[i];
		const char *lost = pctl_backend_instance_lost(s->open.backend);
		char *selector, *why;

		if (lost == NULL || is_placed_on(r, s->open.session) ||
		    r->left->n == PCTL_RUN_SESSIONS)
			continue;
		selector = strdup(s->selector);
		why = strdup(lost);
		if (selector == NULL || why == NULL) {
			free(selector);
			free(why);
			return; /* the run ends as it would have */
		}
		r->left->devices[r->left->n].selector = selector;
		r->left->devices[r->left->n++].why = why;
	}
}

/* Try one candidate. Its diagnostics go to `told`, or nowhere when that is NULL. */
static pctl_status try_entry(pctl_running *r, const pctl_device_entry *e, const pctl_call *told,
			     pctl_session **out)
{
	pctl_diag_list *quiet = pctl_diag_list_create();
	const pctl_call *call = quiet == NULL ? r->call : pctl_diag_list_call(quiet);
	uint32_t before = r->n_sessions;
	const char *why = "first that qualifies";
	pctl_status status;

	*out = NULL;
	if (quiet != NULL)
		pctl_diag_list_set_cancel(quiet, r->call->cancelled, r->call->ctx);
	status = left_for(r, e->selector) == NULL
			 ? open_entry(r, e, call, out)
			 : pctl_refuse(call, PC3110_WORKER_BUILD, "%s: %s", e->selector,
				       left_for(r, e->selector));
	if (status == PCTL_OK)
		status = qualifies(r, *out, call);
	if (status != PCTL_OK) {
		*out = NULL;
		if (r->n_sessions > before)
			close_last(r); /* a worker that is not needed holds memory and a place */
		why = quiet != NULL && pctl_diag_list_count(quiet) != 0
			      ? pctl_diag_list_at(quiet, 0)->message
			      : "refused";
	}
	for (uint32_t i = 0;
	     quiet != NULL && status != PCTL_OK && told != NULL && i < pctl_diag_list_count(quiet);
	     i++)
		(void)pctl_emit(told, pctl_diag_list_at(quiet, i));
	if (note_choice(r, e, why, status == PCTL_OK) != PCTL_OK)
		status = PCTL_E_NOMEM;
	pctl_diag_list_destroy(quiet);
	return status;
}

static pctl_status choose_named(pctl_running *r)
{
	uint32_t flags = pctl_open_list_flags(r->o->flags);
	pctl_diag_list *kept = pctl_diag_list_create();
	pctl_status first = PCTL_OK, status = PCTL_E_NOMEM;

	if (kept == NULL)
		return pctl_no_memory(r->call, "a run");
	pctl_diag_list_set_cancel(kept, r->call->cancelled, r->call->ctx);
	/* What was said of one that does not qualify is only of interest when none does. */
	for (uint32_t i = 0; i < r->o->n_backends && r->main == NULL; i++) {
		const pctl_device_entry *entry;
		pctl_devices *list = NULL;

		status = pctl_devices_find(r->o->registry, r->o->backends[i], flags,
					   pctl_diag_list_call(kept), &list, &entry);
		if (status == PCTL_OK)
			status = try_entry(r, entry, pctl_diag_list_call(kept), &r->main);
		pctl_devices_destroy(list);
		if (first == PCTL_OK)
			first = status;
	}
	for (uint32_t i = 0; r->main == NULL && i < pctl_diag_list_count(kept); i++)
		(void)pctl_emit(r->call, pctl_diag_list_at(kept, i));
	pctl_diag_list_destroy(kept);
	return r->main != NULL ? PCTL_OK : first;
}

static const pctl_device_entry *next_by_rank(const pctl_running *r, const pctl_devices *list,
					     uint8_t *tried)
{
	return pctl_open_next(r->o->policy, list, tried, (r->o->flags & PCTL_RUN_SANITIZE) != 0);
}

/* ---- a job that was sized too late for the choice ------------------------------------------- */

/* One candidate for one node. What is said of it goes nowhere: the first refusal is the one to tell. */
static int takes(pctl_running *r, pctl_run_node *n, const pctl_device_entry *e,
		 const pctl_call *call, pctl_job_plan **tuned)
{
	const uint32_t before = r->n_sessions;
	pctl_session *s = NULL;

	if (left_for(r, e->selector) == NULL && open_entry(r, e, call, &s) == PCTL_OK &&
	    pctl_run_fits(r, n, s, call, tuned) == PCTL_OK) {
		n->session = s;
		return 1;
	}
	if (r->n_sessions > before)
		close_last(r);
	return 0;
}

static int takes_named(pctl_running *r, pctl_run_node *n, const char *selector, uint32_t *passed,
		       const char *left, const pctl_call *call, pctl_job_plan **tuned)
{
	const uint32_t flags = pctl_open_list_flags(r->o->flags);
	const pctl_device_entry *e;
	pctl_devices *list = NULL;
	int taken = 0;

	if (pctl_devices_find(r->o->registry, selector, flags, call, &list, &e) == PCTL_OK) {
		taken = *passed && takes(r, n, e, call, tuned);
		*passed |= strcmp(e->selector, left) == 0;
	}
	pctl_devices_destroy(list);
	return taken;
}

static int takes_by_policy(pctl_running *r, pctl_run_node *n, const char *left,
			   const pctl_call *call, pctl_job_plan **tuned)
{
	const uint32_t flags = pctl_open_list_flags(r->o->flags);
	const pctl_device_entry *e;
	pctl_devices *list = NULL;
	uint32_t passed = 0;
	uint8_t *tried;
	int taken = 0;

	if (pctl_devices_list(r->o->registry, NULL, flags, call, &list) != PCTL_OK)
		return 0;
	tried = calloc(pctl_devices_count(list) + 1u, 1);
	while (tried != NULL && !taken && (e = next_by_rank(r, list, tried)) != NULL) {
		taken = passed && takes(r, n, e, call, tuned);
		passed |= strcmp(e->selector, left) == 0;
	}
	free(tried);
	pctl_devices_destroy(list);
	passed = 1;
	return taken || takes_named(r, n, PCTL_REFERENCE, &passed, left, call, tuned);
}

int pctl_run_move(pctl_running *r, pctl_run_node *n, const pctl_call *call, pctl_job_plan **tuned)
{
	const char *left = NULL;
	uint32_t passed = 0, at = 0;
	int taken = 0;

	while (at < r->n_sessions && r->sessions[at].open.session != r->main)
		at++;
	if (n->session != r->main || at == r->n_sessions)
		return 0;
	left = r->sessions[at].selector;
	for (uint32_t i = 0; i < r->o->n_backends && !taken; i++)
		taken = takes_named(r, n, r->o->backends[i], &passed, left, call, tuned);
	if (r->o->n_backends == 0)
		taken = takes_by_policy(r, n, left, call, tuned);
	/* A worker that was ended for the build is of no more use to those that follow. */
	if (taken && pctl_backend_instance_lost(r->sessions[at].open.backend) != NULL)
		r->main = n->session;
	return taken;
}

static pctl_status choose_by_policy(pctl_running *r)
{
	uint32_t flags = pctl_open_list_flags(r->o->flags);
	const pctl_device_entry *e;
	pctl_devices *list = NULL;
	pctl_status status = pctl_devices_list(r->o->registry, NULL, flags, r->call, &list);
	uint8_t *tried;

	if (status != PCTL_OK)
		return status;
	tried = calloc(pctl_devices_count(list) + 1u, 1);
	while (tried != NULL && r->main == NULL && (e = next_by_rank(r, list, tried)) != NULL)
		(void)try_entry(r, e, NULL, &r->main);
	free(tried);
	pctl_devices_destroy(list);
	return PCTL_OK;
}

pctl_status pctl_run_choose(pctl_running *r)
{
	pctl_status status = r->o->n_backends != 0 ? choose_named(r) : choose_by_policy(r);

	if (r->main == NULL && status == PCTL_OK) {
		for (uint32_t i = 0; i < r->result->n_choices; i++)
			(void)pctl_refuse(r->call, PC5207_NO_DEVICE, "%s (%s): %s",
					  r->result->choices[i].selector,
					  r->result->choices[i].name, r->result->choices[i].why);
		status = pctl_refuse(r->call, PC5207_NO_DEVICE,
				     "no device qualifies for this pipeline");
	}
	/* To look for nothing and find nothing would pass for a clean run. */
	if (status == PCTL_OK && r->o->flags & PCTL_RUN_SANITIZE &&
	    pctl_session_kind(r->main) != PCTL_DEVICE_REFERENCE)
		status = pctl_refuse(r->call, PC10_USAGE,
				     "--sanitize works on the reference only, not on %s",
				     pctl_session_name(r->main));
	if (status == PCTL_OK)
		status = note_identity(r, r->main);
	return status;
}

pctl_status pctl_run_choose_as(pctl_running *r, pctl_session *s)
{
	pctl_status status = qualifies(r, s, r->call);

	if (status != PCTL_OK)
		return status;
	r->main = s;
	return note_identity(r, s);
}
