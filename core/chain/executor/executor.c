/* The executor over the devices of an installation: which device runs the tasks, and what happens when it is lost. */
#include "chain/executor/executor.h"

#include <stdlib.h>
#include <string.h>

#include "chain/executor/executor_devices.h"
#include "foundation/diag/diag.h"
#include "runtime/exec/run.h"

#define KERNELS_KEPT 1024u /* of a device between two runs: anybody may send programs */

#define TRIES 2u /* openings of one device in a run */

pctl_task_limits pctl_executor_limits(const pctl_device_executor *e)
{
	return (pctl_task_limits){.submit_bytes = pctl_policy_least(e->o.policy->memory_bytes,
								    PCTL_TASKS_SUBMIT_BYTES),
				  .timeout_ms = e->o.policy->time_ms};
}

/* ---- opening -------------------------------------------------------------------------------- */

void pctl_executor_device_close(pctl_executor_device *d)
{
	pctl_open_close(&d->open);
}

pctl_status pctl_executor_device_open(pctl_device_executor *e, pctl_executor_device *d,
				      const pctl_call *call)
{
	const pctl_open_options o = {.registry = e->o.registry,
				     .without_contracts = 1, /* tasks are recorded many at once */

				     .policy = e->o.policy,
				     .profiles = e->o.profiles,
				     .cache_dir = e->cache_dir,
				     .flags = e->o.flags};
	pctl_status status;

	if (d->open.session != NULL)
		return PCTL_OK;
	d->tries++;
	status = pctl_open_selected(&o, d->selector, call, &d->open);
	/* The name is shown after the device is closed, too. */
	if (status == PCTL_OK && d->name == NULL &&
	    (d->name = strdup(pctl_session_name(d->open.session))) == NULL) {
		pctl_executor_device_close(d);
		status = pctl_no_memory(call, "a device");
	}
	return status;
}

static void device_drop(pctl_executor_device *d)
{
	pctl_executor_device_close(d);
	free(d->selector);
	free(d->name);
}

static void drop_devices(pctl_device_executor *e)
{
	for (uint32_t i = 0; i < e->n_devices; i++)
		device_drop(&e->devices[i]);
	free(e->devices);
	e->devices = NULL;
	e->n_devices = 0;
}

/* ---- candidates ----------------------------------------------------------------------------- */

static pctl_status add_device(pctl_device_executor *e, const char *selector, const pctl_call *call)
{
	pctl_executor_device *grown =
		realloc(e->devices, (e->n_devices + 1u) * sizeof(*e->devices));

	if (grown == NULL)
		return pctl_no_memory(call, "a device");
	e->devices = grown;
	grown[e->n_devices] = (pctl_executor_device){.selector = strdup(selector)};
	if (grown[e->n_devices].selector == NULL)
		return pctl_no_memory(call, "a device");
	e->n_devices++;
	return PCTL_OK;
}

/* Usable devices by the policy's order; those it never chooses are left out. */
static pctl_status add_by_policy(pctl_device_executor *e, const pctl_call *call)
{
	const pctl_device_entry *entry;
	pctl_devices *list = NULL;
	pctl_status status = pctl_devices_list(e->o.registry, NULL,
					       pctl_open_list_flags(e->o.flags), call, &list);
	uint8_t *taken = calloc((status == PCTL_OK ? pctl_devices_count(list) : 0) + 1u, 1);

	if (taken == NULL)
		status = pctl_no_memory(call, "devices");
	while (status == PCTL_OK && (entry = pctl_open_next(e->o.policy, list, taken, 0)) != NULL) {
		const pctl_policy_device d = pctl_open_policy_device(entry);

		if (pctl_policy_backend_allowed(e->o.policy, &d, NULL) == PCTL_OK)
			status = add_device(e, entry->selector, call);
	}
	free(taken);
	pctl_devices_destroy(list);
	return status;
}

/* ---- a run ---------------------------------------------------------------------------------- */

static pctl_status policy_allows(const pctl_device_executor *e, const pctl_task *tasks, uint32_t n,
				 const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		const pctl_analysis *a = tasks[i].unit->analysis;
		/* The rules take proven ones alone; nothing is checked here. */
		const pctl_policy_race what = {.races = pctl_policy_races(a->race),
					       .gas = UINT64_MAX,
					       .subject = tasks[i].name};

		if (i != 0 && tasks[i].unit == tasks[i - 1].unit)
			continue;
		status = pctl_policy_class_allowed(e->o.policy, a->determinism, 0, tasks[i].name,
						   call);
		if (status == PCTL_OK)
			status = pctl_policy_race_allowed(e->o.policy, &what, call);
	}
	return status;
}

static pctl_status run_once(pctl_device_executor *e, pctl_executor_device *d,
			    const pctl_task *tasks, uint32_t n, const pctl_call *call)
{
	pctl_task_limits limits = pctl_executor_limits(e);
	pctl_status status = pctl_executor_device_open(e, d, call);

	if (status == PCTL_OK && pctl_session_kind(d->open.session) != PCTL_DEVICE_REFERENCE) {
		limits.shapes = &e->shapes;
		limits.held = e->o.verify_ppm != 0;
	}
	if (status == PCTL_OK)
		status = pctl_session_forget_kernels(d->open.session, KERNELS_KEPT, call);
	if (status == PCTL_OK)
		status = pctl_tasks_qualify(d->open.session, tasks, n, call);
	if (status == PCTL_OK)
		status = pctl_executor_first_builds(e, d, tasks, n, call);
	if (status == PCTL_OK)
		status = pctl_tasks_run(d->open.session, &limits, tasks, n, call, NULL);
	if (status == PCTL_OK)
		status = pctl_executor_verify(e, d, tasks, n, call);
	return status;
}

/* No other device is asked after these. */
static int is_final(pctl_status status)
{
	return status == PCTL_OK || status == PCTL_E_CANCELLED || status == PCTL_E_TIMEOUT ||
	       status == PCTL_E_MISMATCH;
}

static int is_lost(const pctl_executor_device *d)
{
	return d->open.backend != NULL && pctl_backend_instance_lost(d->open.backend) != NULL;
}

/* On one device, twice when it is lost. */
pctl_status pctl_executor_run_on(pctl_device_executor *e, pctl_executor_device *d,
				 const pctl_task *tasks, uint32_t n, const pctl_call *call)
{
	pctl_status status;

	d->tries = 0;
	d->gone = 0;
	for (;;) {
		/* Of the reference, too: which of the two was lost is not asked. */
		if (e->reference.open.backend != NULL &&
		    pctl_backend_instance_lost(e->reference.open.backend) != NULL)
			pctl_executor_device_close(&e->reference);
		status = run_once(e, d, tasks, n, call);
		if (status == PCTL_OK) {
			e->ran = d->name;
			pctl_backend_instance_well(d->open.backend, call);
		}
		/* One that a program took too long on is opened again for other programs. */
		if (status != PCTL_E_DEVICE_LOST) {
			if (is_lost(d))
				pctl_executor_device_close(d);
			return status;
		}
		pctl_executor_device_close(d);
		if (pctl_is_cancelled(call))
			return pctl_refuse(call, PC4_CANCELLED, "the jobs were cancelled");
		if (d->tries >= TRIES) {
			d->gone = 1;
			return status;
		}
	}
}

/* A worker that somebody else ended while it waited is no fault of the next program: it is asked again on a new one. */
pctl_status pctl_executor_try(pctl_device_executor *e, pctl_executor_device *d, const pctl_task *t,
			      const pctl_call *call)
{
	d->tries = 0;
	for (;;) {
		pctl_status status = pctl_executor_device_open(e, d, call);
		const int opened = status == PCTL_OK;
		int lost = status == PCTL_E_DEVICE_LOST;

		if (opened)
			status = pctl_tasks_qualify(d->open.session, t, 1, call);
		if (status == PCTL_OK)
			return status;
		lost |= is_lost(d);
		if (lost)
			pctl_executor_device_close(d);
		if (lost && d->tries < TRIES && !pctl_is_cancelled(call))
			continue;
		d->gone = !opened;
		return status;
	}
}

/* In order of preference; devices that were given up before come after all others. */
static pctl_status run_anywhere(pctl_device_executor *e, const pctl_task *tasks, uint32_t n,
				const pctl_call *call)
{
	uint8_t *late = calloc(e->n_devices + 1u, 1);
	pctl_status status = PCTL_E_UNSUPPORTED;

	if (late == NULL)
		return pctl_no_memory(call, "devices");
	for (uint32_t i = 0; i < e->n_devices; i++)
		late[i] = e->devices[i].gone != 0;
	for (uint32_t turn = 0; turn < 2; turn++) {
		for (uint32_t i = 0; !is_final(status) && i < e->n_devices; i++) {
			if (late[i] == turn)
				status = pctl_executor_run_on(e, &e->devices[i], tasks, n, call);
		}
	}
	free(late);
	return is_final(status)
		       ? status
		       : pctl_refuse(call, PC5830_NO_EXECUTOR,
				     "none of %u devices could run %u jobs", e->n_devices, n);
}

/* Behind all others, where it is not there already. */
static pctl_status add_reference(pctl_device_executor *e, const pctl_call *call)
{
	if (e->n_devices != 0 && strcmp(e->devices[e->n_devices - 1].selector, PCTL_REFERENCE) == 0)
		return PCTL_OK;
	return add_device(e, PCTL_REFERENCE, call);
}

static pctl_status run_told(pctl_device_executor *e, const pctl_task *tasks, uint32_t n,
			    const pctl_diag_list *said, const pctl_call *call,
			    const pctl_call *outer)
{
	pctl_status status = pctl_tasks_check(tasks, n, call);

	if (status == PCTL_OK)
		status = policy_allows(e, tasks, n, call);
	if (status == PCTL_OK && !e->is_listed && e->o.n_backends == 0) {
		drop_devices(e);
		status = add_by_policy(e, call);
		e->is_listed = status == PCTL_OK;
	}
	if (status != PCTL_OK || !e->o.to_reference)
		return status == PCTL_OK ? run_anywhere(e, tasks, n, call) : status;
	status = add_reference(e, call);
	return status == PCTL_OK ? pctl_executor_run_in_turn(e, tasks, n, said, call, outer)
				 : status;
}

/* What was said of a device that another one stood in for is of no interest. */
static pctl_status run(void *ctx, const pctl_task *tasks, uint32_t n, const pctl_call *call)
{
	pctl_diag_list *kept = pctl_diag_list_create();
	pctl_call quiet;
	pctl_status status;

	if (kept == NULL)
		return pctl_no_memory(call, "jobs");
	if (call != NULL)
		pctl_diag_list_set_cancel(kept, call->cancelled, call->ctx);
	quiet = *pctl_diag_list_call(kept);
	quiet.trace_id = call == NULL ? 0 : call->trace_id;
	status = n == 0 ? PCTL_OK : run_told(ctx, tasks, n, kept, &quiet, call);
	for (uint32_t i = 0; status != PCTL_OK && i < pctl_diag_list_count(kept); i++)
		(void)pctl_emit(call, pctl_diag_list_at(kept, i));
	pctl_diag_list_destroy(kept);
	return status;
}

static const char *describe(void *ctx)
{
	const pctl_device_executor *e = ctx;

	return e->ran == NULL ? "no device yet" : e->ran;
}

/* ---- opening and closing the executor ------------------------------------------------------- */

static void close_executor(void *ctx)
{
	pctl_device_executor *e = ctx;

	drop_devices(e);
	device_drop(&e->reference);
	pctl_map_destroy(e->avoided);
	free(e->cache_dir);
	free(e);
}

pctl_status pctl_device_executor_open(const pctl_device_executor_options *o, const pctl_call *call,
				      pctl_executor *out)
{
	pctl_device_executor *e = calloc(1, sizeof(*e));
	pctl_status status = PCTL_OK;

	*out = (pctl_executor){0};
	if (e == NULL)
		return pctl_no_memory(call, "an executor");
	e->o = *o;
	e->avoided = pctl_map_create();
	if (e->avoided == NULL)
		status = pctl_no_memory(call, "an executor");
	e->cache_dir = o->cache_dir == NULL ? NULL : strdup(o->cache_dir);
	if (o->cache_dir != NULL && e->cache_dir == NULL)
		status = pctl_no_memory(call, "an executor");
	if (status == PCTL_OK)
		status = pctl_shapes_draw(call, &e->shapes.seed);
	if (status == PCTL_OK)
		status = pctl_shapes_block(&e->shapes, 0, call);
	for (uint32_t i = 0; status == PCTL_OK && i < o->n_backends; i++)
		status = add_device(e, o->backends[i], call);
	if (status != PCTL_OK) {
		close_executor(e);
		return status;
	}
	e->o.backends = NULL;
	e->o.cache_dir = NULL;
	*out = (pctl_executor){run, close_executor, describe, e};
	return PCTL_OK;
}

void pctl_device_executor_hold_to(pctl_executor *e)
{
	((pctl_device_executor *)e->ctx)->o.to_reference = 0;
}

void pctl_executor_close(pctl_executor *e)
{
	if (e->close != NULL)
		e->close(e->ctx);
	*e = (pctl_executor){0};
}
