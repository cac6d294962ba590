/* `audit` and `audit verify`: what the command line asks for, and what is shown of it. */
#include "app.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit.h"
#include "evidence/audit/report.h"
#include "foundation/base/num.h"

/* ---- options ------------------------------------------------------------------------------------ */

static pctl_status number_of(pctl_app *app, const char *option, uint32_t most, uint32_t *value)
{
	const char *text = pctl_option_value(&app->line, option);
	uint64_t n;

	if (text == NULL)
		return PCTL_OK;
	if (!pctl_num_parse_u64(text, strlen(text), &n) || n == 0 || n > most)
		return pctl_refuse(app->call, PC10_USAGE, "%s takes 1 to %" PRIu32 ", not \"%s\"",
				   option, most, text);
	*value = (uint32_t)n;
	return PCTL_OK;
}

/* --backends: selectors with commas between them. */
static pctl_status split_selectors(pctl_app *app, pctl_audit_request *q)
{
	const char *text = pctl_option_value(&app->line, "--backends"), **at;
	char *rest = text == NULL ? NULL : pctl_arena_dup(app->arena, text), *one;
	size_t n = 1;

	if (text == NULL)
		return PCTL_OK;
	for (const char *c = text; *c != '\0'; c++)
		n += *c == ',';
	at = pctl_arena_array(app->arena, n, sizeof(*at));
	if (rest == NULL || at == NULL)
		return pctl_no_memory(app->call, "options");
	q->selectors = at;
	while ((one = strsep(&rest, ",")) != NULL) {
		if (*one == '\0')
			return pctl_refuse(app->call, PC10_USAGE,
					   "--backends takes selectors with commas between them, "
					   "not \"%s\"",
					   text);
		at[q->n_selectors++] = one;
	}
	return PCTL_OK;
}

static void say_left_out(void *ctx, const char *selector, const char *why)
{
	pctl_app *app = ctx;

	if (!app->quiet)
		fprintf(stderr, "%s does not take part: %s\n", selector, why);
}

static pctl_status read_request(pctl_app *app, pctl_audit_request *q)
{
	pctl_setting *ins;
	pctl_status status = pctl_app_run_request(app, &q->run);

	if (status == PCTL_OK)
		status = pctl_app_settings(app, "--in", &ins, &q->run.n_ins);
	if (status != PCTL_OK)
		return status;
	q->run.ins = ins;
	q->natives = (uint32_t)pctl_option_has(&app->line, "--natives");
	q->keep = (uint32_t)pctl_option_has(&app->line, "--no-quarantine");
	q->report = pctl_option_value(&app->line, "--report");
	q->left_out = say_left_out;
	q->ctx = app;
	status = number_of(app, "--repeat", PCTL_AUDIT_REPEATS_MAX, &q->repeat);
	if (status == PCTL_OK)
		status = number_of(app, "--quorum", 1000, &q->quorum);
	return status == PCTL_OK ? split_selectors(app, q) : status;
}

pctl_status pctl_verb_audit(pctl_app *app)
{
	pctl_audit_request q = {.repeat = 0};
	pctl_audit_result *r = NULL;
	uint32_t n_quarantined = 0;
	char *command = NULL;
	pctl_loaded_pipeline p;
	pctl_status status = pctl_app_load(app, app->line.arguments[0], &p), verdict;

	if (status == PCTL_OK)
		status = read_request(app, &q);
	if (status == PCTL_OK && (command = pctl_app_command(app)) == NULL)
		status = pctl_no_memory(app->call, "a report");
	q.command = command;
	if (status == PCTL_OK)
		status = pctl_audit_pipeline(&app->host, &p, &q, app->call, &r, &n_quarantined);
	pctl_app_progress_clear(app);
	if (r != NULL) {
		if (app->json)
			pctl_audit_document(r, n_quarantined, q.report, &app->document);
		else
			pctl_audit_print(app, r, n_quarantined);
		verdict = pctl_audit_judge(r, app->call);
		status = verdict != PCTL_OK ? verdict : status;
	}
	pctl_audit_result_destroy(r);
	free(command);
	pctl_loaded_pipeline_close(&p);
	return status;
}

pctl_status pctl_verb_audit_verify(pctl_app *app)
{
	const char *dir = app->line.arguments[0];
	char key[PCTL_PUBLIC_KEY_TEXT];
	pctl_status status = pctl_audit_verify(dir, app->call, key);

	if (app->json) {
		pctl_json_kv_string(&app->document, "directory", dir);
		pctl_json_kv_bool(&app->document, "intact", status == PCTL_OK);
		pctl_json_kv_string(&app->document, "key", status == PCTL_OK ? key : NULL);
	} else if (status == PCTL_OK) {
		printf("%s: intact, signed by %s\n", dir, key);
	}
	return status;
}
