/* The log of this run of the program: which one, and what is said of the run itself. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "foundation/base/clock.h"

static void before_line(void *app)
{
	pctl_app_progress_clear(app);
}

/* The command line first, then the environment. */
static const char *named(const pctl_app *app, const char *option, const char *variable)
{
	const char *given = pctl_option_value(&app->line, option);

	if (given == NULL)
		given = getenv(variable);
	return given != NULL && given[0] != '\0' ? given : NULL;
}

static pctl_status take_word(pctl_app *app, const char *option, const char *variable,
			     const char *const *words, uint32_t *out)
{
	const char *text = named(app, option, variable);
	const int found = text == NULL ? (int)*out : pctl_log_word(words, text);

	if (found < 0)
		return pctl_refuse_at(app->call, PC10_USAGE, NULL,
				      words == pctl_log_levels ? "error, warning, info or debug"
							       : "text or json",
				      "%s (%s) does not know \"%.40s\"", option, variable, text);
	*out = (uint32_t)found;
	return PCTL_OK;
}

static const char *verb_text(const pctl_app *app, char out[64])
{
	const pctl_verb *v = app->line.verb;

	snprintf(out, 64, "%s%s%s", v->name, v->sub == NULL ? "" : " ",
		 v->sub == NULL ? "" : v->sub);
	return out;
}

pctl_status pctl_app_log_open(pctl_app *app, const pctl_host_config *c)
{
	const char *path = named(app, "--log", "PIPECTL_LOG");
	pctl_log_options o = {.path = path == NULL && c != NULL ? c->log_file : path,
			      .level = c == NULL ? PCTL_LOG_INFO : c->log_level,
			      .format = c == NULL ? PCTL_LOG_TEXT : c->log_format,
			      .before = before_line,
			      .ctx = app};
	char verb[64], pid[16];
	const pctl_log_field fields[] = {
		{"verb", verb_text(app, verb)}, {"pid", pid}, {"version", PIPECTL_VERSION}};
	pctl_status status =
		take_word(app, "--log-level", "PIPECTL_LOG_LEVEL", pctl_log_levels, &o.level);

	if (status == PCTL_OK)
		status = take_word(app, "--log-format", "PIPECTL_LOG_FORMAT", pctl_log_formats,
				   &o.format);
	if (status != PCTL_OK || o.path == NULL)
		return status;
	if (app->log != NULL) {
		pctl_log_set(app->log, o.level, o.format);
		return PCTL_OK;
	}
	status = pctl_log_open(&o, app->call, &app->log);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	pctl_log_write(app->log, PCTL_LOG_INFO, "pipectl", "begins", fields, 3);
	pctl_diag_list_set_log(app->diagnostics, app->log);
	return status;
}

void pctl_app_log_close(pctl_app *app, pctl_status status, uint64_t began_ns)
{
	char verb[64], code[16], seconds[32];
	const pctl_log_field fields[] = {{"verb", verb},
					 {"status", pctl_status_name(status)},
					 {"exit", code},
					 {"seconds", seconds}};

	if (app->log == NULL)
		return;
	verb_text(app, verb);
	snprintf(code, sizeof(code), "%d", pctl_status_exit(status));
	snprintf(seconds, sizeof(seconds), "%.3f", (double)(pctl_clock_ns() - began_ns) * 1e-9);
	pctl_log_write(app->log, PCTL_LOG_INFO, "pipectl", "ends", fields, 4);
	pctl_diag_list_set_log(app->diagnostics, NULL);
	pctl_log_close(app->log, app->call);
	app->log = NULL;
}
