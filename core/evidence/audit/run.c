/* The runs of an audit: each device, each repeat, one fresh and traced run with garbage in its buffers, every output
 * put aside under its CID. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evidence/audit/audit_private.h"
#include "evidence/audit/forms.h"
#include "foundation/base/order.h"
#include "foundation/diag/diag.h"

int pctl_auditing_is_absent(const pctl_cid *cid)
{
	static const pctl_cid nothing;

	return memcmp(cid, &nothing, sizeof(nothing)) == 0;
}

uint64_t pctl_auditing_seed(uint32_t device, uint32_t repeat)
{
	return ((uint64_t)device + 1) << 32 | ((uint64_t)repeat + 1);
}

typedef struct run_teller {
	const pctl_auditing *a;
	const pctl_audit_ask *ask;
} run_teller;

static void tell_run(void *teller, const pctl_progress *p)
{
	const run_teller *t = teller;
	pctl_progress now = *p;

	now.device = t->a->r->devices[t->ask->device].selector;
	now.repeat = t->ask->repeat;
	now.repeats = t->ask->repeat == 0 ? 0 : t->a->r->repeat;
	pctl_progress_tell(&t->a->o->run.progress, &now);
}

pctl_status pctl_auditing_run(const pctl_auditing *a, const pctl_audit_ask *ask,
			      const pctl_call *call, pctl_run_result **out)
{
	const char *selector = a->r->devices[ask->device].selector;
	pctl_run_options o = a->o->run;
	run_teller teller = {a, ask};

	o.backends = &selector;
	o.n_backends = 1;
	o.memo = NULL;
	o.verify_ppm = 0;
	o.flags = (o.flags & (PCTL_RUN_IN_PROCESS | PCTL_RUN_DEBUG)) | PCTL_RUN_FRESH |
		  PCTL_RUN_RACES_KNOWN | PCTL_RUN_TRACED | PCTL_RUN_POISON | PCTL_RUN_UNPLACED |
		  ask->extra;
	o.poison_seed = ask->seed;
	o.limit = ask->limit;
	o.observe = ask->observe;
	o.observe_ctx = ask->ctx;
	o.progress = (pctl_progress_sink){tell_run, &teller};
	return pctl_run(a->graph, &o, call, out);
}

/* ---- putting aside ------------------------------------------------------------------------ */

static pctl_status hash_port(const pctl_run_observation *view, uint32_t port, int fd,
			     const pctl_call *call, pctl_cid *out)
{
	uint64_t n = view->ports[port].n_bytes;
	uint8_t *piece = malloc(PCTL_SOURCE_PIECE);
	pctl_hasher *h = NULL;
	pctl_status status =
		piece == NULL ? pctl_no_memory(call, "an audit") : pctl_hasher_create(call, &h);

	for (uint64_t at = 0; status == PCTL_OK && at < n;) {
		uint64_t now = n - at < PCTL_SOURCE_PIECE ? n - at : PCTL_SOURCE_PIECE;

		status = pctl_run_observation_read(view, port, at, piece, now, call);
		if (status == PCTL_OK)
			status = pctl_hasher_update(h, piece, now);
		for (uint64_t done = 0; status == PCTL_OK && fd >= 0 && done < now;) {
			ssize_t wrote = write(fd, piece + done, now - done);

			if (wrote <= 0)
				status = pctl_refuse(call, PC3_IO,
						     "cannot put %" PRIu64 " bytes aside", n);
			else
				done += (uint64_t)wrote;
		}
		at += now;
	}
	if (status == PCTL_OK)
		status = pctl_hasher_finish(h, out);
	else
		pctl_hasher_destroy(h);
	free(piece);
	return status;
}

/* Read a second time, since there was no reason to write it the first time. */
static pctl_status keep_port(const pctl_auditing *a, const pctl_run_observation *view,
			     uint32_t port, const pctl_call *call, pctl_cid *out)
{
	uint64_t n;
	char path[4096];
	int fd;
	pctl_status status;

	snprintf(path, sizeof(path), "%s/port-XXXXXX", a->o->scratch);
	fd = mkstemp(path);
	if (fd < 0)
		return pctl_refuse(call, PC3_IO, "cannot make a file in %s", a->o->scratch);
	unlink(path);
	status = hash_port(view, port, fd, call, out);
	if (status == PCTL_OK && lseek(fd, 0, SEEK_SET) != 0)
		status = pctl_refuse(call, PC3_IO, "cannot read a file in %s", a->o->scratch);
	if (status == PCTL_OK)
		status = pctl_store_put_fd(a->scratch, fd, call, out, &n);
	close(fd);
	return status;
}

pctl_status pctl_auditing_cid(const pctl_auditing *a, const pctl_run_observation *view,
			      uint32_t port, int keep, const pctl_call *call, pctl_cid *out)
{
	pctl_status status = hash_port(view, port, -1, call, out);

	if (status == PCTL_OK && keep && !pctl_store_has(a->scratch, out))
		status = keep_port(a, view, port, call, out);
	return status;
}

/* ---- the runs ----------------------------------------------------------------------------- */

struct one_run {
	pctl_auditing *a;
	uint32_t device, repeat;
	uint64_t device_ns;
};

static pctl_status note_identity(pctl_auditing *a, uint32_t device, const pctl_session *s)
{
	pctl_audit_device *d = &a->r->devices[device];
	const pctl_profile_record *profile = pctl_session_profile_known(s);
	const pctl_key_value *facts;
	uint32_t n = pctl_session_identity(s, &facts);
	pctl_arena *arena = a->r->arena;
	char key[PCTL_CID_TEXT_SIZE];

	if (d->identity == NULL) {
		d->identity = pctl_arena_array(arena, n, sizeof(*d->identity));
		for (uint32_t i = 0; d->identity != NULL && i < n; i++)
			d->identity[d->n_identity++] = (pctl_setting){
				pctl_arena_dup_n(arena, facts[i].key,
						 strnlen(facts[i].key, sizeof(facts[i].key))),
				pctl_arena_dup_n(arena, facts[i].value,
						 strnlen(facts[i].value, sizeof(facts[i].value)))};
	}
	if (profile != NULL && d->profile == NULL) {
		d->profile = pctl_arena_dup(arena, pctl_cid_format(&profile->key, key));
		a->kept->profiles[device] = pctl_arena_alloc(arena, sizeof(*profile));
		if (d->profile == NULL || a->kept->profiles[device] == NULL)
			return PCTL_E_NOMEM;
		*a->kept->profiles[device] = *profile;
	}
	if (*d->driver_code == '\0')
		d->driver_code = pctl_arena_dup(arena, pctl_session_driver(s));
	return d->identity == NULL || d->driver_code == NULL ? PCTL_E_NOMEM : PCTL_OK;
}

static pctl_status take_job(void *ctx, const pctl_run_observation *view, const pctl_call *call)
{
	struct one_run *run = ctx;
	pctl_auditing *a = run->a;
	pctl_status status = note_identity(a, run->device, view->session);

	if (status != PCTL_OK)
		return pctl_no_memory(call, "an audit");
	if (run->repeat == 0)
		status = pctl_forms_note(a->r, run->device, view->plan, view->session, call);
	run->device_ns += view->ran->stats.device_ns;
	for (uint32_t i = 0; status == PCTL_OK && i < view->n_ports; i++) {
		pctl_audit_cell *cell = &a->r->cells[a->first_cell[view->job] + i];
		uint32_t slot = pctl_auditing_slot(a, run->device, run->repeat);

		if (cell->what == NULL) {
			cell->what = pctl_arena_dup(a->r->arena, view->ran->what);
			cell->type = view->ports[i].type;
			cell->n_bytes = view->ports[i].n_bytes;
		}
		cell->device_ns[slot] = view->ran->stats.device_ns;
		status = pctl_auditing_cid(a, view, i, 1, call, &cell->cids[slot]);
	}
	return status;
}

static uint64_t median(uint64_t *v, uint32_t n)
{
	if (n == 0)
		return 0;
	qsort(v, n, sizeof(*v), pctl_order_u64);
	return v[n / 2];
}

/* The first error that was said, with its code. */
static const char *cause_of(pctl_auditing *a, const pctl_diag_list *l, uint32_t repeat,
			    pctl_status status)
{
	for (uint32_t i = 0; i < pctl_diag_list_count(l); i++) {
		const pctl_diag *d = pctl_diag_list_at(l, i);

		if (d->severity == PCTL_SEVERITY_ERROR)
			return pctl_arena_printf(a->r->arena,
						 "repeat %" PRIu32 ": PC%04" PRIu32 " %s", repeat,
						 d->code, d->message);
	}
	return pctl_arena_printf(a->r->arena, "repeat %" PRIu32 ": %s", repeat,
				 pctl_status_name(status));
}

/* One run. PCTL_OK also when the device failed: then its cause is set. */
static pctl_status run_once(pctl_auditing *a, uint32_t device, uint32_t repeat, uint64_t *wall_ns,
			    uint64_t *device_ns)
{
	struct one_run run = {a, device, repeat, 0};
	const pctl_audit_ask ask = {.device = device,
				    .seed = pctl_auditing_seed(device, repeat),
				    .repeat = repeat + 1,
				    .extra = a->r->natives && repeat == 1 ? PCTL_RUN_NATIVE : 0,
				    .observe = take_job,
				    .ctx = &run};
	pctl_audit_device *d = &a->r->devices[device];
	pctl_diag_list *said = pctl_diag_list_create();
	pctl_run_result *result = NULL;
	pctl_status status, put;

	if (said == NULL)
		return pctl_no_memory(a->call, "an audit");
	pctl_diag_list_set_cancel(said, a->call->cancelled, a->call->ctx);
	status = pctl_store_batch_begin(a->scratch, a->call);
	if (status == PCTL_OK) {
		status = pctl_auditing_run(a, &ask, pctl_diag_list_call(said), &result);
		put = pctl_store_batch_commit(a->scratch, a->call);
		if (put != PCTL_OK)
			status = put;
		else if (status == PCTL_OK)
			d->n_runs++;
		*wall_ns = result == NULL ? 0 : result->wall_ns;
		*device_ns = run.device_ns;
		if (put == PCTL_OK && status != PCTL_OK && !pctl_is_cancelled(a->call)) {
			d->outcome = PCTL_AUDIT_FAILED;
			d->status = status;
			d->cause = cause_of(a, said, repeat, status);
			status = d->cause == NULL ? pctl_no_memory(a->call, "an audit") : PCTL_OK;
		}
	}
	if (status == PCTL_E_CANCELLED)
		status = pctl_refuse(a->call, PC4_CANCELLED, "while %s ran", d->selector);
	pctl_run_result_destroy(result);
	pctl_diag_list_destroy(said);
	return status;
}

static pctl_status run_device(pctl_auditing *a, uint32_t device)
{
	pctl_audit_device *d = &a->r->devices[device];
	uint64_t *times = calloc(2u * a->r->repeat, sizeof(*times));
	pctl_status status = PCTL_OK;

	if (times == NULL)
		return pctl_no_memory(a->call, "an audit");
	for (uint32_t r = 0; status == PCTL_OK && d->outcome == 0 && r < a->r->repeat; r++)
		status = run_once(a, device, r, &times[r], &times[a->r->repeat + r]);
	if (a->r->natives) {
		d->wall_ns = times[0];
		d->native_wall_ns = times[1];
		d->device_ns = times[2];
		d->native_device_ns = times[3];
	} else if (d->n_runs != 0) {
		d->wall_ns = median(times, d->n_runs);
		d->device_ns = median(times + a->r->repeat, d->n_runs);
	}
	free(times);
	return status;
}

pctl_status pctl_auditing_run_all(pctl_auditing *a)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < a->r->n_devices; i++)
		status = run_device(a, i);
	return status;
}
