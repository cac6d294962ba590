/* Jobs that a device cannot run, on the next one, in the end on the reference: a job alone where it can be told which, and the
 * device goes on with the rest. What a device does wrong is never a job's failure. */
#include <inttypes.h>
#include <stdio.h>

#include "chain/executor/executor_devices.h"
#include "foundation/base/clock.h"
#include "foundation/diag/diag.h"

#define LOSSES 8u /* of one device in a run; then it is left alone until the next run */
#define LONG_MS \
	60000u /* of what failed in a run; then nothing more is tried in halves to find out whose fault it was */
#define AVOIDED 65536u /* kernels of devices that are remembered */

/* from: where what was said of the present attempt begins. */
typedef struct running {
	pctl_device_executor *e;
	const pctl_call *call;
	const pctl_diag_list *said;
	uint32_t from, n_moved;
	uint64_t wasted_ms; /* on what failed */
	char why[600];
} running;

/* ---- kernels that a device is not asked for again ------------------------------------------ */

#define KEY_SIZE (PCTL_CID_TEXT_SIZE + 40u)

/* By what devices build: a kernel may be forgotten, and another one lie in its place. */
static const char *key_of(uint32_t device, const pctl_task *t, char buf[KEY_SIZE])
{
	snprintf(buf, KEY_SIZE, "%" PRIu32 ":%s", device, t->unit->build_key);
	return buf;
}

static int avoids(const running *r, uint32_t device, const pctl_task *t)
{
	char key[KEY_SIZE];

	return pctl_map_has(r->e->avoided, key_of(device, t, key));
}

/* Behind the last one, the reference, nobody stands: what kept it from running once is tried again. */
static pctl_status avoid(running *r, uint32_t device, const pctl_task *t)
{
	char key[KEY_SIZE];

	if (device + 1 == r->e->n_devices || pctl_map_count(r->e->avoided) >= AVOIDED)
		return PCTL_OK;
	return pctl_map_put(r->e->avoided, key_of(device, t, key), NULL)
		       ? PCTL_OK
		       : pctl_no_memory(r->call, "jobs");
}

/* ---- what is said of it -------------------------------------------------------------------- */

static const pctl_diag *first_error(const pctl_diag_list *said, uint32_t from)
{
	for (uint32_t i = from; i < pctl_diag_list_count(said); i++)
		if (pctl_diag_list_at(said, i)->severity == PCTL_SEVERITY_ERROR)
			return pctl_diag_list_at(said, i);
	return NULL;
}

/* The first reason of a run; the rest would be the same over again. */
static void note(running *r, const pctl_executor_device *d, const pctl_task *tasks)
{
	const pctl_diag *first = first_error(r->said, r->from);

	/* Of one that was lost before it is not said again. */
	if (first == NULL)
		first = first_error(r->said, 0);
	if (r->why[0] == '\0')
		snprintf(r->why, sizeof(r->why), "%s could not run job %s: PC%04" PRIu32 " %.300s",
			 d->name == NULL ? d->selector : d->name, tasks[0].name,
			 first == NULL ? 0 : first->code,
			 first == NULL ? "no reason was given" : first->message);
}

/* ---- one device ---------------------------------------------------------------------------- */

static int is_out(const pctl_executor_device *d)
{
	return d->is_wrong || d->gone;
}

/* How many tasks from the first on this device is asked for, or is not, as *avoided says. Each kernel is built by itself
 * first, so that one which it cannot build is known. */
static pctl_status span(running *r, uint32_t at, const pctl_task *tasks, uint32_t n, int *avoided,
			uint32_t *out)
{
	pctl_executor_device *d = &r->e->devices[at];
	uint32_t i;

	*avoided = avoids(r, at, &tasks[0]);
	for (i = 0; i < n; i++) {
		pctl_status status;

		if (i != 0 && tasks[i].unit == tasks[i - 1].unit)
			continue;
		if (avoids(r, at, &tasks[i])) {
			if (!*avoided)
				break;
			continue;
		}
		if (*avoided)
			break;
		r->from = pctl_diag_list_count(r->said);
		status = pctl_executor_try(r->e, d, &tasks[i], r->call);
		if (status == PCTL_E_CANCELLED)
			return status;
		if (is_out(d)) {
			note(r, d, tasks);
			break;
		}
		if (status == PCTL_OK)
			continue;
		status = avoid(r, at, &tasks[i]);
		if (status != PCTL_OK)
			return status;
		if (i == 0)
			note(r, d, tasks);
		*avoided = i == 0;
		if (i != 0)
			break;
	}
	*out = is_out(d) ? n : i;
	return PCTL_OK;
}

static pctl_status run_from(running *r, uint32_t at, const pctl_task *tasks, uint32_t n);

/* To the next device. */
static pctl_status move(running *r, uint32_t at, const pctl_task *tasks, uint32_t n)
{
	r->n_moved += n;
	return run_from(r, at + 1, tasks, n);
}

/* Tasks that this device is asked for. */
static pctl_status run_span(running *r, uint32_t at, const pctl_task *tasks, uint32_t n)
{
	pctl_executor_device *d = &r->e->devices[at];
	const uint64_t began = pctl_clock_ms();
	pctl_status status;

	r->from = pctl_diag_list_count(r->said);
	status = pctl_executor_run_on(r->e, d, tasks, n, r->call);
	if (status == PCTL_OK || status == PCTL_E_CANCELLED)
		return status;
	r->wasted_ms += pctl_clock_ms() - began;
	if (status == PCTL_E_DEVICE_LOST) {
		d->losses++;
		d->gone = d->losses >= LOSSES;
	}
	/* The reference decides what is right, so it is never the one that is wrong. */
	if (status == PCTL_E_MISMATCH && at + 1 != r->e->n_devices)
		d->is_wrong = 1;
	if (n > 1 && !is_out(d) && r->wasted_ms < LONG_MS) {
		status = run_from(r, at, tasks, n / 2);
		return status == PCTL_OK ? run_from(r, at, tasks + n / 2, n - n / 2) : status;
	}
	note(r, d, tasks);
	for (uint32_t i = 0; i < n && !is_out(d); i++) {
		status = avoid(r, at, &tasks[i]);
		if (status != PCTL_OK)
			return status;
	}
	return move(r, at, tasks, n);
}

/* On the device of this place, or the next. */
static pctl_status run_from(running *r, uint32_t at, const pctl_task *tasks, uint32_t n)
{
	pctl_status status = PCTL_OK;

	while (status == PCTL_OK && n > 0) {
		uint32_t some = 0;
		int avoided = 0;

		/* It may have gone in the midst of this. */
		while (at < r->e->n_devices && is_out(&r->e->devices[at]))
			at++;
		if (at == r->e->n_devices)
			return pctl_refuse(r->call, PC5830_NO_EXECUTOR,
					   "none of %u devices could run %u jobs", r->e->n_devices,
					   n);
		status = span(r, at, tasks, n, &avoided, &some);
		if (status == PCTL_OK)
			status = avoided || is_out(&r->e->devices[at])
					 ? move(r, at, tasks, some)
					 : run_span(r, at, tasks, some);
		tasks += some;
		n -= some;
	}
	return status;
}

pctl_status pctl_executor_run_in_turn(pctl_device_executor *e, const pctl_task *tasks, uint32_t n,
				      const pctl_diag_list *said, const pctl_call *call,
				      const pctl_call *outer)
{
	running r = {.e = e, .call = call, .said = said};
	pctl_status status;

	for (uint32_t i = 0; i < e->n_devices; i++) {
		e->devices[i].gone = 0;
		e->devices[i].losses = 0;
	}
	status = run_from(&r, 0, tasks, n);
	if (status == PCTL_OK && r.n_moved != 0)
		pctl_warn_at(outer, PC5833_EXECUTOR_MOVED, NULL, NULL,
			     "%" PRIu32 " of %" PRIu32 " jobs ran on another device: %s", r.n_moved,
			     n, r.why);
	return status;
}
