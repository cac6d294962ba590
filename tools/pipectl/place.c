/* Signing pipelines, saying where one comes from, and what was frozen by a release. */
#include <inttypes.h>

#include "app.h"
#include "foundation/git/immutable.h"
#include "host/document.h"

pctl_status pctl_verb_sign(pctl_app *app)
{
	const char *path = app->line.arguments[0], *key = NULL;
	const char *to = pctl_arena_printf(app->arena, "%s.sig", path);
	uint32_t n = 0;
	pctl_status status =
		to == NULL ? pctl_no_memory(app->call, "a signature")
			   : pctl_sign_pipeline(&app->host, path, to, app->call, &key, &n);

	if (status == PCTL_OK && app->json) {
		pctl_json_kv_string(&app->document, "file", to);
		pctl_json_kv_string(&app->document, "key", key);
		pctl_json_kv_u32(&app->document, "texts", n);
	} else if (status == PCTL_OK) {
		printf("%s\n", key == NULL ? "" : key);
		if (!app->quiet)
			fprintf(stderr, "%s covers %" PRIu32 " files\n", to, n);
	}
	return status;
}

void pctl_app_print_place(pctl_app *app, const pctl_loaded_pipeline *p, int plan)
{
	const pctl_repo_place *at = &p->place;
	FILE *to = plan ? stdout : stderr;

	if (app->json) {
		pctl_document_place(&app->document, at);
	} else if (plan || app->verbose) {
		fprintf(to, "source %s%s%s%s%s (%s%s)\n", at->repository,
			at->commit[0] == '\0' ? "" : "@", at->commit,
			at->path[0] == '\0' ? "" : ":", at->path, pctl_repo_state_name(at->state),
			at->committed ? ", read from the commit" : "");
	}
}

/* ---- what was released -------------------------------------------------------------------- */

pctl_status pctl_app_check_immutable(pctl_app *app, const char *rev)
{
	const char *dir = pctl_option_value(&app->line, "--repo");
	pctl_repo_frozen f;
	pctl_status status = pctl_repo_check_immutable(dir == NULL ? "." : dir, rev, app->call, &f);

	if (app->json) {
		pctl_json *j = &app->document;

		pctl_json_key(j, "immutable");
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "revision", rev);
		pctl_json_kv_bool(j, "ok", status == PCTL_OK);
		pctl_json_kv_u32(j, "schedules", f.schedules);
		pctl_json_kv_u32(j, "codes", f.codes);
		pctl_json_kv_u32(j, "instructions", f.instructions);
		pctl_json_kv_u32(j, "numbers", f.numbers);
		pctl_json_kv_u32(j, "ops", f.ops);
		pctl_json_object_end(j);
	} else if (!app->quiet && status == PCTL_OK) {
		printf("%s: %" PRIu32 " schedules, %" PRIu32 " codes, %" PRIu32
		       " instructions, %" PRIu32 " numbers and %" PRIu32
		       " ops are as they were released\n",
		       rev, f.schedules, f.codes, f.instructions, f.numbers, f.ops);
	}
	return status;
}
