/* Devices, audits, proofs and receipts; see pipectl.h. */
#include <stdlib.h>
#include <string.h>

#include "api/private.h"
#include "host/audit.h"
#include "host/certify.h"
#include "host/receipts.h"

/* ---- devices ------------------------------------------------------------------------------ */

struct pipectl_devices {
	pipectl *p;
	pctl_devices *list;
};

pctl_status pipectl_devices_list(pipectl *p, pipectl_devices **out)
{
	pctl_status status = pipectl_begin(p, NULL, NULL);
	pipectl_devices *d;

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	d = calloc(1, sizeof(*d));
	if (d == NULL)
		return pctl_no_memory(&p->call, "devices");
	d->p = p;
	status = pctl_installation_certificates(&p->host, &p->call);
	if (status == PCTL_OK)
		status = pctl_devices_list(p->host.registry, NULL, 0, &p->call, &d->list);
	if (status != PCTL_OK)
		pipectl_devices_release(d);
	else
		*out = d;
	return pipectl_end(p, status);
}

uint32_t pipectl_devices_count(const pipectl_devices *d)
{
	return pctl_devices_count(d->list);
}

void pipectl_devices_release(pipectl_devices *d)
{
	if (d == NULL)
		return;
	if (d->list != NULL)
		pctl_devices_destroy(d->list);
	free(d);
}

/* The words for clients are those of backends. */
_Static_assert(PIPECTL_KIND_OTHER == PCTL_DEVICE_OTHER &&
		       PIPECTL_KIND_REFERENCE == PCTL_DEVICE_REFERENCE &&
		       PIPECTL_KIND_CPU == PCTL_DEVICE_CPU &&
		       PIPECTL_KIND_INTEGRATED == PCTL_DEVICE_INTEGRATED &&
		       PIPECTL_KIND_DISCRETE == PCTL_DEVICE_DISCRETE,
	       "kinds of devices");

static uint32_t certified(const pctl_found *f, const pctl_device_entry *e)
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		const pctl_found_certificate *x = &f->items[i];

		if (x->trusted && x->note[0] == '\0' && x->claim[0] == '\0' &&
		    x->c->params.track == PCTL_CLASS_INTEGER && x->c->granted > best &&
		    strcmp(x->c->device, e->name) == 0 && strcmp(x->c->driver, e->driver) == 0)
			best = x->c->granted;
	}
	return best;
}

pctl_status pipectl_devices_at(const pipectl_devices *d, uint32_t i, pipectl_device *out)
{
	pctl_status status = pipectl_begin(d->p, NULL, NULL);
	const pctl_device_entry *e;
	pipectl_device v = {.head = PCTL_HEAD(pipectl_device)};

	if (status == PCTL_OK && i >= pctl_devices_count(d->list))
		status = pipectl_misused(&d->p->call, "there is no such device");
	if (status != PCTL_OK)
		return status;
	e = pctl_devices_at(d->list, i);
	v.selector = e->selector;
	v.name = e->name;
	v.driver = e->driver;
	v.backend = e->backend;
	v.cause = e->cause;
	v.state = e->state;
	v.kind = e->kind;
	v.roles = e->roles;
	if (e->state == PCTL_DEVICE_USABLE && e->name != NULL && e->driver != NULL)
		v.certified = certified(d->p->host.certificates, e);
	return PIPECTL_GIVE(&d->p->call, out, &v);
}

/* ---- audits ------------------------------------------------------------------------------- */

static pctl_status audit(pipectl_pipeline *pl, const pipectl_audit_options *options,
			 pctl_arena *arena, pctl_json *j)
{
	pipectl *p = pl->p;
	pctl_audit_result *r = NULL;
	uint32_t n_quarantined = 0;
	pctl_audit_request q = {.run = {.progress = {pipectl_tell, p}}, .ctx = p};
	pipectl_audit_options o;
	pctl_status status = PIPECTL_TAKE(&p->call, &o, options), verdict;

	if (status == PCTL_OK &&
	    (o.flags & ~(PIPECTL_AUDIT_NATIVES | PIPECTL_AUDIT_KEEP) ||
	     o.repeat > PCTL_AUDIT_REPEATS_MAX || (o.n_devices != 0 && o.devices == NULL)))
		status = pipectl_misused(&p->call, "options has a flag that does not exist, more "
						   "than 1000 repeats, or no devices");
	if (status == PCTL_OK)
		status = pipectl_request_inputs(p, o.inputs, o.n_inputs, arena, &q.run);
	if (status != PCTL_OK)
		return status;
	q.run.flags = p->asked.flags & PIPECTL_DEBUG ? PCTL_RUN_DEBUG : 0;
	q.selectors = o.devices;
	q.n_selectors = o.n_devices;
	q.repeat = o.repeat;
	q.quorum = o.quorum;
	q.natives = (o.flags & PIPECTL_AUDIT_NATIVES) != 0;
	q.keep = (o.flags & PIPECTL_AUDIT_KEEP) != 0;
	q.report = o.report;
	status = pctl_audit_pipeline(&p->host, &pl->loaded, &q, &p->call, &r, &n_quarantined);
	if (r != NULL) {
		pctl_audit_document(r, n_quarantined, q.report, j);
		verdict = pctl_audit_judge(r, &p->call);
		status = verdict != PCTL_OK ? verdict : status;
	}
	pctl_audit_result_destroy(r);
	return status;
}

pctl_status pipectl_audit(pipectl_pipeline *pl, const pipectl_audit_options *options, char **json)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_json j;
	pctl_status status = pipectl_begin(pl->p, pl->loaded_said, "audit");

	*json = NULL;
	if (status == PCTL_OK && arena == NULL)
		status = pctl_no_memory(&pl->p->call, "an audit");
	if (status == PCTL_OK) {
		pctl_document_begin(&j, "audit");
		status = pipectl_end(pl->p, audit(pl, options, arena, &j));
		status = pipectl_document(pl->p, &j, status, json);
	}
	pctl_arena_destroy(arena);
	return status;
}

/* ---- proofs ------------------------------------------------------------------------------- */

static pctl_status certify(pipectl *p, const pipectl_certify_options *options, pctl_json *j)
{
	pctl_certify_request q = {.shard = {1, 1}, .progress = {pipectl_tell, p}};
	pctl_certified c;
	pipectl_certify_options o;
	pctl_status status = PIPECTL_TAKE(&p->call, &o, options);

	if (status != PCTL_OK)
		return status;
	if (!pctl_level_parse(o.level == NULL ? "L2" : o.level, &q.params.level, &q.params.track))
		return pctl_refuse(&p->call, PC11_API_USE,
				   "level is L1 to L4, L1f to L4f or L1a, not \"%s\"", o.level);
	q.params.ops = o.ops;
	q.params.seed = o.seed == 0 ? 1 : o.seed;
	q.params.cases = o.cases == 0 ? PCTL_CERTIFY_CASES : o.cases;
	q.params.programs = o.programs == 0 ? PCTL_CERTIFY_PROGRAMS : o.programs;
	q.selector = p->device = o.device;
	q.dir = o.directory;
	q.resume = o.resume;
	q.flags = p->asked.flags & PIPECTL_DEBUG ? PCTL_CERTIFY_DEBUG : 0;
	status = pctl_certify(&p->host, &q, &p->call, &c);
	if (status == PCTL_OK) {
		pctl_document_certificate(j, c.certificate, 0);
		status = pctl_certified_judge(&c, &p->call);
	}
	pctl_certified_clear(&c);
	return status;
}

pctl_status pipectl_certify(pipectl *p, const pipectl_certify_options *options, char **json)
{
	pctl_json j;
	pctl_status status = pipectl_begin(p, NULL, "certify");

	*json = NULL;
	if (status != PCTL_OK)
		return status;
	pctl_document_begin(&j, "certify");
	status = pipectl_end(p, certify(p, options, &j));
	return pipectl_document(p, &j, status, json);
}

/* ---- receipts ----------------------------------------------------------------------------- */

pctl_status pipectl_receipt_verify(pipectl *p, const char *name, const char *text, uint64_t n_bytes,
				   const char *signer, uint32_t in_store)
{
	pctl_some_receipt r = {.run = NULL};
	char *ended = NULL;
	pctl_status status = pipectl_begin(p, NULL, NULL);

	if (status == PCTL_OK && (name == NULL || text == NULL || n_bytes > PCTL_RECEIPT_BYTES_MAX))
		status = pipectl_misused(&p->call,
					 "a receipt has no name or no text, or is too long");
	/* The reader wants a NUL behind the text. */
	if (status == PCTL_OK && (ended = malloc(n_bytes + 1)) == NULL)
		status = pctl_no_memory(&p->call, "a receipt");
	if (status == PCTL_OK) {
		memcpy(ended, text, n_bytes);
		ended[n_bytes] = '\0';
		status = pctl_some_receipt_parse(name, ended, n_bytes, &p->call, &r);
	}
	if (status == PCTL_OK)
		status = pctl_some_receipt_verify(&p->host, &r, signer, (int)in_store, &p->call);
	pctl_some_receipt_clear(&r);
	free(ended);
	return pipectl_end(p, status);
}
