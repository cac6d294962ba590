/* `run --report`: what the core needs for it, and what was typed. */
#include "host/run_report.h"

#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "foundation/base/folder.h"
#include "host/document.h"

static void add_word(pctl_str_buf *s, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-+=:,./@";

	pctl_str_add(s, " ");
	if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
		pctl_str_add(s, word);
		return;
	}
	pctl_str_add(s, "'");
	for (; *word != '\0'; word++) {
		if (*word == '\'')
			pctl_str_add(s, "'\\''");
		else
			pctl_str_add_n(s, word, 1);
	}
	pctl_str_add(s, "'");
}

/* What was typed, as a shell would take it again. */
char *pctl_app_command(const pctl_app *app)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_str_addf(&s, "pipectl %s", app->line.verb->name);
	if (app->line.verb->sub != NULL)
		add_word(&s, app->line.verb->sub);
	for (uint32_t i = 0; i < app->line.n_arguments; i++)
		add_word(&s, app->line.arguments[i]);
	for (uint32_t i = 0; i < app->line.n_given; i++) {
		add_word(&s, app->line.given[i].option->name);
		if (app->line.given[i].option->value != NULL)
			add_word(&s, app->line.given[i].value);
	}
	return pctl_str_finish(&s);
}

pctl_status pctl_app_check_report(pctl_app *app)
{
	const char *dir = pctl_option_value(&app->line, "--report");

	return dir == NULL ? PCTL_OK : pctl_folder_check(dir, app->call);
}

/* What --json would print of a run that went well. */
static char *document_of(const pctl_app *app, const pctl_loaded_pipeline *p,
			 const pctl_run_result *r)
{
	pctl_json j;

	pctl_document_begin(&j, app->line.verb->name);
	pctl_document_place(&j, &p->place);
	pctl_document_run(&j, p->pipeline->name, r, app->host.policy);
	return pctl_document_end(&j, PCTL_OK, app->diagnostics);
}

pctl_status pctl_app_write_report(pctl_app *app, const pctl_loaded_pipeline *p,
				  const pctl_run_result *r)
{
	const char *dir = pctl_option_value(&app->line, "--report");
	char *command, *document;
	pctl_status status;

	if (dir == NULL)
		return PCTL_OK;
	command = pctl_app_command(app);
	document = document_of(app, p, r);
	if (command == NULL || document == NULL) {
		status = pctl_no_memory(app->call, "a report");
	} else {
		const pctl_run_report report = {p->graph,	    r,	     app->host.policy,
						app->host.schedule, command, document};

		status = pctl_run_report_write(&report, dir, app->call);
	}
	free(command);
	free(document);
	return status;
}
