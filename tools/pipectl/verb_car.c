/* `pipectl cas export` and `cas import`: blobs in CAR files. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cas/car.h"
#include "provenance.h"

static pctl_status file_of(pctl_app *app, const char **out)
{
	*out = pctl_option_value(&app->line, "--car");
	return *out != NULL ? PCTL_OK
			    : pctl_refuse(app->call, PC10_USAGE, "--car FILE says which file");
}

static pctl_status read_roots(pctl_app *app, pctl_cid *out)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < app->line.n_arguments; i++)
		status = pctl_cid_read(app->line.arguments[i], app->call, &out[i]);
	return status;
}

static void print_counts(pctl_app *app, const pctl_car_report *r, const char *path)
{
	pctl_app_progress_clear(app);
	if (app->json) {
		pctl_json_kv_string(&app->document, "file", path);
		pctl_json_kv_u64(&app->document, "blobs", r->n_blocks);
		pctl_json_kv_u64(&app->document, "bytes", r->n_bytes);
	} else if (!app->quiet) {
		fprintf(stderr, "%s: %" PRIu64 " blobs, %" PRIu64 " bytes\n", path, r->n_blocks,
			r->n_bytes);
	}
}

pctl_status pctl_verb_cas_export(pctl_app *app)
{
	const uint32_t n = app->line.n_arguments;
	pctl_cid *roots = pctl_arena_array(app->arena, n, sizeof(*roots)), *others = NULL;
	const char *path;
	uint32_t n_others = 0;
	pctl_car_report report = {.n_blocks = 0};
	pctl_status status =
		roots == NULL ? pctl_no_memory(app->call, "CIDs") : file_of(app, &path);

	if (status == PCTL_OK)
		status = read_roots(app, roots);
	if (status == PCTL_OK)
		status = pctl_installation_store(&app->host, app->call);
	if (status == PCTL_OK && pctl_option_has(&app->line, "--provenance"))
		status = pctl_app_history_cids(app, roots, n, &others, &n_others);
	if (status == PCTL_OK)
		status = pctl_car_export(app->host.store, path, roots, n, others, n_others,
					 app->call, &report);
	if (status == PCTL_OK)
		print_counts(app, &report, path);
	free(others);
	return status;
}

pctl_status pctl_verb_cas_import(pctl_app *app)
{
	const char *path;
	char text[PCTL_CID_TEXT_SIZE];
	pctl_car_report report = {.n_blocks = 0};
	pctl_status status = file_of(app, &path);

	if (status == PCTL_OK)
		status = pctl_installation_store(&app->host, app->call);
	if (status == PCTL_OK)
		status = pctl_car_import(app->host.store, path, app->call, &report);
	if (status != PCTL_OK)
		return status;
	print_counts(app, &report, path);
	if (app->json) {
		pctl_json_key(&app->document, "roots");
		pctl_json_array_begin(&app->document);
	}
	for (uint32_t i = 0; i < report.n_roots; i++) {
		pctl_cid_format(&report.roots[i], text);
		if (app->json)
			pctl_json_string(&app->document, text);
		else
			printf("%s\n", text);
	}
	if (app->json)
		pctl_json_array_end(&app->document);
	pctl_car_report_clear(&report);
	return PCTL_OK;
}
