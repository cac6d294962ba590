/* `certify verify` and `certify replay`: what a stranger does with a certificate. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "certify.h"
#include "foundation/base/num.h"
#include "evidence/certify/replay.h"

static const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};

/* ---- verify ------------------------------------------------------------------------------- */

static const char *library_digest(const pctl_certificate *c, const char *id)
{
	for (uint32_t i = 0; i < c->n_libraries; i++)
		if (strcmp(c->libraries[i].key, id) == 0)
			return c->libraries[i].value;
	return NULL;
}

/* Op libraries of this installation whose file is another one than the certificate's, by name. */
static const char *other_libraries(pctl_app *app, const pctl_certificate *c, pctl_proof_context *b)
{
	pctl_certificate *here = NULL;
	const char *names = "";

	if (pctl_certificate_create(&quiet, &here) == PCTL_OK &&
	    pctl_certificate_describe(here, b, &quiet) == PCTL_OK)
		for (uint32_t i = 0; names != NULL && i < c->n_libraries; i++) {
			const char *digest = library_digest(here, c->libraries[i].key);

			if (digest == NULL || strcmp(digest, c->libraries[i].value) != 0)
				names = pctl_arena_printf(app->arena, "%s%s%s", names,
							  names[0] == '\0' ? "" : ", ",
							  c->libraries[i].key);
		}
	pctl_certificate_destroy(here);
	return names == NULL ? "" : names;
}

/* Are its units those of this installation: "" when they are, else what differs. */
static const char *compare_units(pctl_app *app, const pctl_certificate *c, const char **libraries)
{
	uint32_t n;
	const pctl_provider *providers = pctl_providers(&n);
	pctl_proof_context *b = NULL;
	char what[512] = "";
	int same = 0;
	pctl_status status = pctl_app_proof_context(app, NULL, &c->params, c->regressions,
						    c->n_regressions, &quiet, &b);

	*libraries = "";
	if (status == PCTL_OK) {
		*libraries = other_libraries(app, c, b);
		status = pctl_certify_compare_units(c, b, providers, n, &quiet, &same, what);
	}
	pctl_certify_context_close(b);
	if (status != PCTL_OK)
		return "this installation cannot make the units of proof from the certificate's "
		       "parameters";
	return same ? "" : pctl_arena_dup(app->arena, what);
}

static void print_verified(pctl_app *app, const pctl_certificate *c, int trusted, const char *units,
			   const char *libraries, const char *claim)
{
	pctl_json *j = &app->document;

	pctl_app_print_certificate(app, c, 0);
	if (app->json) {
		pctl_json_kv_bool(j, "trusted", trusted);
		pctl_json_kv_bool(j, "same_units", units[0] == '\0');
		pctl_json_kv_string(j, "difference", units);
		pctl_json_kv_string(j, "other_libraries", libraries);
		pctl_json_kv_string(j, "claim", claim);
		return;
	}
	printf("signer     %s, %s\n", c->signer,
	       trusted ? "trusted here" : "not among the keys trusted here");
	if (units[0] != '\0')
		printf("programs   made with other libraries: %s\n", units);
	else
		printf("programs   those of this installation%s%s\n",
		       libraries[0] == '\0' ? "" : ", though other files of ", libraries);
	if (claim[0] != '\0')
		printf("here       a claim, %s: it counts for nothing until `pipectl certify "
		       "confirm %s` has "
		       "tried a sample of it\n",
		       claim, c->path);
	else
		printf("here       of the files that are here\n");
}

static pctl_status verify_one(pctl_app *app, const char *path)
{
	const char *units, *libraries, *claim = "";
	pctl_certificate *c = NULL;
	pctl_status status = pctl_certificate_read(path, app->call, &c);

	if (status == PCTL_OK)
		status = pctl_found_claim(c, app->host.registry,
					  pctl_op_library_source(app->host.library), app->arena,
					  app->call, &claim);

	if (app->json) {
		pctl_json_object_begin(&app->document);
		pctl_json_kv_string(&app->document, "file", path);
		pctl_json_kv_bool(&app->document, "valid", status == PCTL_OK);
	}
	if (status == PCTL_OK) {
		units = compare_units(app, c, &libraries);
		print_verified(app, c,
			       pctl_profiles_trust(app->host.profiles, c->signer, app->call),
			       units == NULL ? "" : units, libraries, claim);
	}
	if (app->json)
		pctl_json_object_end(&app->document);
	pctl_certificate_destroy(c);
	return status;
}

pctl_status pctl_verb_certify_verify(pctl_app *app)
{
	pctl_status first = PCTL_OK, status = pctl_installation_ops(&app->host, app->call);

	if (status == PCTL_OK)
		status = pctl_installation_profiles(&app->host, app->call);
	if (status != PCTL_OK)
		return status;
	if (app->json) {
		pctl_json_key(&app->document, "certificates");
		pctl_json_array_begin(&app->document);
	}
	for (uint32_t i = 0; i < app->line.n_arguments; i++) {
		status = verify_one(app, app->line.arguments[i]);
		if (first == PCTL_OK)
			first = status;
	}
	if (app->json)
		pctl_json_array_end(&app->document);
	return first;
}

/* ---- replay ------------------------------------------------------------------------------- */

pctl_status pctl_app_sample(pctl_app *app, uint32_t *ppm)
{
	const char *text = pctl_option_value(&app->line, "--sample");
	char *end;
	double f;

	*ppm = 1000000;
	if (text == NULL)
		return PCTL_OK;
	f = strtod(text, &end);
	if (end == text || *end != '\0' || !(f >= 0 && f <= 1))
		return pctl_refuse(app->call, PC10_USAGE, "--sample wants 0 to 1, not \"%s\"",
				   text);
	*ppm = f > 0 && f < 1e-6 ? 1 : (uint32_t)(f * 1e6 + 0.5);
	return PCTL_OK;
}

pctl_status pctl_certificate_device(pctl_app *app, const pctl_certificate *c, const char *backend,
				    const char **out)
{
	pctl_devices *list = NULL;
	pctl_status status = pctl_devices_list(app->host.registry, backend, 0, app->call, &list);

	*out = NULL;
	for (uint32_t i = 0; status == PCTL_OK && *out == NULL && i < pctl_devices_count(list);
	     i++) {
		const pctl_device_entry *e = pctl_devices_at(list, i);

		if (e->state == PCTL_DEVICE_USABLE && strcmp(e->name, c->device) == 0 &&
		    strcmp(e->driver, c->driver) == 0)
			*out = pctl_arena_dup(app->arena, e->selector);
	}
	pctl_devices_destroy(list);
	return status;
}

/* The device the certificate is of, when it is here, else the reference. */
static pctl_status choose_device(pctl_app *app, const pctl_certificate *c, const char **out)
{
	const pctl_status status = pctl_certificate_device(app, c, NULL, out);

	if (*out == NULL)
		*out = PCTL_REFERENCE;
	return status;
}

static void print_replay(pctl_app *app, const char *selector, const pctl_certify_replay_options *o,
			 const pctl_replay_outcome *r)
{
	pctl_json *j = &app->document;

	if (app->json) {
		pctl_json_kv_string(j, "device", selector);
		pctl_json_kv_u64(j, "seed", o->seed);
		pctl_json_kv_u64(j, "strips", r->chosen);
		pctl_json_kv_u64(j, "compared", r->compared);
		pctl_json_kv_u64(j, "mismatches", r->mismatches);
		pctl_json_kv_u64(j, "measured", r->measured);
		pctl_json_kv_u64(j, "never_run", r->absent);
		pctl_json_kv_u64(j, "blocks", r->blocks);
		pctl_json_kv_u64(j, "cases", r->cases);
		return;
	}
	printf("%s: %" PRIu64 " blocks, %" PRIu64 " cases run again; %" PRIu64
	       " digests compared, %" PRIu64 " differ; %" PRIu64 " only measured\n",
	       selector, r->blocks, r->cases, r->compared, r->mismatches, r->measured);
}

static pctl_status replay(pctl_app *app, const pctl_certificate *c, const char *selector,
			  uint32_t ppm, uint64_t seed)
{
	pctl_certify_replay_options o = {
		.sample_ppm = ppm, .seed = seed, .progress = pctl_app_progress(app)};
	pctl_replay_outcome outcome = {0};
	pctl_status status = pctl_app_proof_context(app, selector, &c->params, c->regressions,
						    c->n_regressions, app->call, &o.context);

	if (status != PCTL_OK)
		return status;
	o.providers = pctl_providers(&o.n_providers);
	status = pctl_certify_replay(c, &o, app->call, &outcome);
	pctl_certify_context_close(o.context);
	pctl_app_progress_clear(app);
	if (status == PCTL_OK || outcome.blocks != 0)
		print_replay(app, selector, &o, &outcome);
	return status;
}

pctl_status pctl_verb_certify_replay(pctl_app *app)
{
	const char *selector = pctl_option_value(&app->line, "--backend");
	const char *seed_text = pctl_option_value(&app->line, "--seed");
	pctl_certificate *c = NULL;
	uint64_t seed = 1;
	uint32_t ppm;
	pctl_status status = pctl_app_sample(app, &ppm);

	if (status == PCTL_OK && seed_text != NULL &&
	    !pctl_num_parse_u64(seed_text, strlen(seed_text), &seed))
		status = pctl_refuse(app->call, PC10_USAGE, "--seed wants a number, not \"%s\"",
				     seed_text);
	if (status == PCTL_OK)
		status = pctl_certificate_read(app->line.arguments[0], app->call, &c);
	if (status == PCTL_OK)
		status = pctl_installation_ops(&app->host, app->call);
	if (status == PCTL_OK)
		status = pctl_installation_profiles(&app->host, app->call);
	if (status == PCTL_OK && selector == NULL)
		status = choose_device(app, c, &selector);
	if (status == PCTL_OK)
		status = replay(app, c, selector, ppm, seed);
	pctl_certificate_destroy(c);
	return status;
}
