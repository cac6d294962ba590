/* `certify confirm`: claims tried with the files that are here, and signed when no digest differs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "certify.h"
#include "evidence/certify/confirm.h"

/* Where --sample is left out: about a second or two for a certificate of all operations, besides a strip of each. */
#define SAMPLE_PPM 2000u

/* --backend as the device is listed: "vulkan:llvmpipe" is "vulkan:0" there. NULL: it was not given. */
static pctl_status named_device(pctl_app *app, const char **out)
{
	const char *given = pctl_option_value(&app->line, "--backend");
	const pctl_device_entry *e;
	pctl_devices *list = NULL;
	pctl_status status;

	*out = NULL;
	if (given == NULL)
		return PCTL_OK;
	status = pctl_devices_find(app->host.registry, given, 0, app->call, &list, &e);
	if (status == PCTL_OK && (*out = pctl_arena_dup(app->arena, e->selector)) == NULL)
		status = pctl_no_memory(app->call, "a claim");
	pctl_devices_destroy(list);
	return status;
}

static pctl_status sign(pctl_app *app, pctl_certificate *c)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1], level[8];
	const char *keys = pctl_arena_printf(app->arena, "%s/keys", app->host.config->home);
	const char *dir = pctl_arena_printf(app->arena, "%s/certificates", app->host.config->home);
	const char *path = pctl_arena_printf(
		app->arena, "%s/%.20s.%s.%.16s.confirmed.cfg", dir, c->profile + 7,
		pctl_level_name(c->params.level, c->params.track, level),
		pctl_digest_hex(c->digest, hex));
	pctl_signer *signer = NULL;
	pctl_status status = keys == NULL || dir == NULL || path == NULL
				     ? pctl_no_memory(app->call, "a claim")
				     : pctl_signer_open(keys, app->call, &signer);

	if (status == PCTL_OK)
		status = pctl_file_make_dirs(dir, app->call);
	if (status == PCTL_OK)
		status = pctl_certificate_write(c, path, signer, app->call);
	pctl_signer_close(signer);
	return status;
}

static pctl_status confirm(pctl_app *app, pctl_certificate *c, const char *selector, uint32_t ppm)
{
	pctl_certify_replay_options o = {.sample_ppm = ppm, .progress = pctl_app_progress(app)};
	pctl_replay_outcome outcome = {0};
	/* Which strips are tried is nobody's to know before. */
	pctl_status status = pctl_shapes_draw(app->call, &o.seed);

	if (status == PCTL_OK)
		status = pctl_app_proof_context(app, selector, &c->params, c->regressions,
						c->n_regressions, app->call, &o.context);
	if (status != PCTL_OK)
		return status;
	o.context->shapes.seed = o.seed;
	o.providers = pctl_providers(&o.n_providers);
	status = pctl_certify_confirm(c, &o, app->call, &outcome);
	pctl_certify_context_close(o.context);
	pctl_app_progress_clear(app);
	if (status == PCTL_OK)
		status = sign(app, c);
	if (app->json)
		pctl_json_object_begin(&app->document);
	if (status == PCTL_OK)
		pctl_app_print_certificate(app, c, 0);
	if (app->json)
		pctl_json_object_end(&app->document);
	return status;
}

static pctl_status confirm_file(pctl_app *app, const char *path, uint32_t ppm)
{
	const char *selector = pctl_option_value(&app->line, "--backend");
	pctl_certificate *c = NULL;
	pctl_status status = pctl_certificate_read(path, app->call, &c);

	if (status == PCTL_OK && !pctl_profiles_trust(app->host.profiles, c->signer, app->call))
		status = pctl_refuse(app->call, PC5543_CLAIM_UNTRUSTED, "%s: signed with %s", path,
				     c->signer);
	if (status == PCTL_OK && selector == NULL)
		status = pctl_certificate_device(app, c, c->backend, &selector);
	if (status == PCTL_OK && selector == NULL)
		status = pctl_refuse(app->call, PC5541_CLAIM_OTHER,
				     "%s: its device, %s with %s, is not on this machine", path,
				     c->device, c->driver);
	if (status == PCTL_OK)
		status = confirm(app, c, selector, ppm);
	pctl_certificate_destroy(c);
	return status;
}

/* Every claim of a device that is here. */
static pctl_status confirm_all(pctl_app *app, uint32_t ppm)
{
	const char *only = NULL;
	const pctl_found *f;
	pctl_status first = PCTL_OK, status = pctl_installation_certificates(&app->host, app->call);
	uint32_t n = 0;

	if (status == PCTL_OK)
		status = named_device(app, &only);

	f = app->host.certificates;
	for (uint32_t i = 0; status == PCTL_OK && i < f->n; i++) {
		const pctl_found_certificate *x = &f->items[i];
		const char *selector = NULL;

		if (!x->trusted || x->note[0] != '\0' || x->claim[0] == '\0' || x->c->granted == 0)
			continue;
		status = pctl_certificate_device(app, x->c, x->c->backend, &selector);
		if (status != PCTL_OK || selector == NULL ||
		    (only != NULL && strcmp(only, selector) != 0))
			continue;
		n++;
		status = confirm_file(app, x->c->path, ppm);
		if (first == PCTL_OK)
			first = status;
		if (!pctl_is_cancelled(app->call))
			status = PCTL_OK; /* the others are tried all the same */
	}
	if (status == PCTL_OK && n == 0)
		return pctl_refuse(app->call, PC5542_NO_CLAIM, "nothing to confirm");
	return first != PCTL_OK ? first : status;
}

pctl_status pctl_verb_certify_confirm(pctl_app *app)
{
	pctl_status first = PCTL_OK, status = PCTL_OK;
	uint32_t ppm = SAMPLE_PPM;

	if (pctl_option_value(&app->line, "--sample") != NULL)
		status = pctl_app_sample(app, &ppm);
	if (status == PCTL_OK)
		status = pctl_installation_ops(&app->host, app->call);
	if (status == PCTL_OK)
		status = pctl_installation_profiles(&app->host, app->call);
	if (status != PCTL_OK)
		return status;
	if (app->json) {
		pctl_json_key(&app->document, "confirmed");
		pctl_json_array_begin(&app->document);
	}
	if (app->line.n_arguments == 0)
		first = confirm_all(app, ppm);
	for (uint32_t i = 0; i < app->line.n_arguments; i++) {
		status = confirm_file(app, app->line.arguments[i], ppm);
		if (first == PCTL_OK)
			first = status;
	}
	if (app->json)
		pctl_json_array_end(&app->document);
	return first;
}
