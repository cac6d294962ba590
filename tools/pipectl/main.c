/* pipectl: parses, runs one verb, renders diagnostics, maps the outcome to an exit code. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
	(void)signal_number;
	interrupted = 1;
}

static uint32_t is_interrupted(void *ctx)
{
	(void)ctx;
	return interrupted != 0;
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_interrupt};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static int wants_colour(const char *word)
{
	const char *no_colour = getenv("NO_COLOR");

	if (word != NULL && strcmp(word, "always") == 0)
		return 1;
	if (word != NULL && strcmp(word, "never") == 0)
		return 0;
	return (no_colour == NULL || no_colour[0] == '\0') && isatty(STDERR_FILENO);
}

static pctl_status run_verb(pctl_app *app)
{
	const char *colour = pctl_option_value(&app->line, "--color");

	if (colour != NULL && strcmp(colour, "auto") != 0 && strcmp(colour, "always") != 0 &&
	    strcmp(colour, "never") != 0)
		return pctl_refuse(app->call, PC10_USAGE,
				   "--color takes auto, always or never, not \"%s\"", colour);
	app->json = (uint32_t)pctl_option_has(&app->line, "--json");
	app->quiet = (uint32_t)pctl_option_has(&app->line, "-q");
	app->verbose = (uint32_t)pctl_option_has(&app->line, "-v");
	app->colour = (uint32_t)wants_colour(colour);
	app->progress = isatty(STDERR_FILENO) && !app->quiet &&
			!pctl_option_has(&app->line, "--no-progress");
	if (app->line.verb == NULL || pctl_option_has(&app->line, "--help"))
		return pctl_verb_help(app);
	if (app->json) {
		char schema[64];

		pctl_json_init(&app->document, 2);
		pctl_json_object_begin(&app->document);
		snprintf(schema, sizeof(schema), "pipectl.%s%s%s/1", app->line.verb->name,
			 app->line.verb->sub == NULL ? "" : ".",
			 app->line.verb->sub == NULL ? "" : app->line.verb->sub);
		pctl_json_kv_string(&app->document, "schema", schema);
	}
	return app->line.verb->run(app);
}

static void print_document(pctl_app *app, pctl_status status)
{
	char *text;

	pctl_json_kv_string(&app->document, "status", pctl_status_name(status));
	pctl_json_key(&app->document, "diagnostics");
	pctl_diag_render_json(app->diagnostics, &app->document);
	pctl_json_object_end(&app->document);
	text = pctl_json_finish(&app->document);
	if (text != NULL)
		fputs(text, stdout);
	free(text);
}

int main(int argc, char **argv)
{
	pctl_app app = {.json = 0};
	pctl_status status;

	catch_signals();
	app.diagnostics = pctl_diag_list_create();
	app.arena = pctl_arena_create();
	if (app.diagnostics == NULL || app.arena == NULL) {
		fputs("pipectl: no memory\n", stderr);
		return 1;
	}
	pctl_diag_list_set_cancel(app.diagnostics, is_interrupted, NULL);
	app.call = pctl_diag_list_call(app.diagnostics);
	status = pctl_command_line_parse(argc, argv, app.call, &app.line);
	if (status == PCTL_OK)
		status = run_verb(&app);
	pctl_app_progress_clear(&app);
	if (app.json && app.line.verb != NULL && !pctl_option_has(&app.line, "--help"))
		print_document(&app, status);
	pctl_diag_render_text(app.diagnostics, stderr, (int)app.colour);
	pctl_app_close(&app);
	pctl_command_line_clear(&app.line);
	pctl_diag_list_destroy(app.diagnostics);
	pctl_arena_destroy(app.arena);
	if (fflush(stdout) != 0 && status == PCTL_OK)
		status = PCTL_E_IO;
	return interrupted ? 130 : pctl_status_exit(status);
}
