/* pipectl: parses, runs one verb, renders diagnostics, maps the outcome to an exit code. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app.h"
#include "fold.h"
#include "foundation/base/clock.h"
#include "foundation/base/file.h"
#include "host/document.h"

static atomic_uint interrupted;

#define IMPATIENCE_MS 100

/* Written by a handler and read by threads: lock-free atomics are for both. */
static atomic_uint is_gentle, hurried;
static atomic_uint interrupted_ms; /* when the first signal came; wraps */
static atomic_uint terminated;	   /* it was SIGTERM, which is how a service is told to stop */
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "signal handlers");

/* The first asks everything to stop in good order. Who asks again does not want to wait: this ends at once, and workers
 * with it. One gesture may send two signals (timeout(1) sends to process and group), a moment apart. */
static void on_interrupt(int signal_number)
{
	const uint32_t now = (uint32_t)pctl_clock_ms();

	if (interrupted && now - interrupted_ms > IMPATIENCE_MS) {
		if (!is_gentle)
			_exit(130);
		hurried = 1;
	}
	if (!interrupted) {
		interrupted_ms = now;
		terminated = signal_number == SIGTERM;
	}
	interrupted = 1;
}

void pctl_interrupt_gently(void)
{
	is_gentle = 1;
}

uint32_t pctl_interruptions(void)
{
	return interrupted + hurried;
}

static uint32_t is_interrupted(void *ctx)
{
	(void)ctx;
	return interrupted != 0;
}

/* Where the kernel has nothing to confine workers with, they run as the same user: they still cannot read this process. */
static void keep_to_oneself(void)
{
	prctl(PR_SET_DUMPABLE, 0);
}

/* A stream that was closed before we began would be the next file that is opened: the store's, or a device's. Written to or read from
 * these, it is none. */
static int keep_streams(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
			return 0;
	return 1;
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_interrupt}, before;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* Who had it ignored (nohup) meant it. */
	if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* over a limit a write fails and says so */
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

/* The document of --json, from here on the only thing on standard output. What a verb prints as text
 * (help, a completion script, a graph) is collected and becomes its member "text". */
static pctl_status begin_document(pctl_app *app)
{
	const pctl_verb *verb = app->line.verb;
	char name[48];

	snprintf(name, sizeof(name), "%s%s%s", verb == NULL ? "usage" : verb->name,
		 verb == NULL || verb->sub == NULL ? "" : ".",
		 verb == NULL || verb->sub == NULL ? "" : verb->sub);
	pctl_document_begin(&app->document, name);
	app->to = stdout;
	stdout = open_memstream(&app->printed, &app->n_printed);
	if (stdout != NULL)
		return PCTL_OK;
	stdout = app->to;
	return pctl_no_memory(app->call, "the document");
}

/* Verbs whose lines are sentences or trees: on a terminal they are folded at its width. */
static int is_folded(const pctl_app *app)
{
	static pctl_status (*const folded[])(pctl_app *) = {
		pctl_verb_plan,	      pctl_verb_audit,	      pctl_verb_doctor,
		pctl_verb_provenance, pctl_verb_receipt_show, pctl_verb_op_show,
		pctl_verb_certs_list, pctl_verb_certs_show,   pctl_verb_plugin_show,
		pctl_verb_job_show,   pctl_verb_block_show,   pctl_verb_device_probe,
		pctl_verb_explain,    pctl_verb_shader_check, pctl_verb_rank_show,
		pctl_verb_op_support};

	for (size_t i = 0; i < sizeof(folded) / sizeof(folded[0]); i++)
		if (app->line.verb->run == folded[i])
			return !app->json && isatty(STDOUT_FILENO) && pctl_columns() != 0;
	return 0;
}

static pctl_status run_folded(pctl_app *app)
{
	FILE *to = stdout;
	char *text = NULL;
	size_t n = 0;
	pctl_status status;

	stdout = open_memstream(&text, &n);
	if (stdout == NULL) {
		stdout = to;
		return pctl_no_memory(app->call, "a text");
	}
	status = app->line.verb->run(app);
	fclose(stdout);
	stdout = to;
	pctl_app_progress_clear(app);
	if (text != NULL)
		pctl_print_lines(stdout, text);
	free(text);
	return status;
}

static pctl_status run_verb(pctl_app *app)
{
	const char *colour = pctl_option_value(&app->line, "--color");
	pctl_status status;

	if (colour != NULL && strcmp(colour, "auto") != 0 && strcmp(colour, "always") != 0 &&
	    strcmp(colour, "never") != 0)
		return pctl_refuse(app->call, PC10_USAGE,
				   "--color takes auto, always or never, not \"%s\"", colour);
	app->quiet = (uint32_t)pctl_option_has(&app->line, "-q");
	app->verbose = (uint32_t)pctl_option_has(&app->line, "-v");
	status = pctl_app_progress_choose(app, NULL);
	if (status != PCTL_OK)
		return status;
	if (pctl_option_has(&app->line, "--version"))
		return pctl_verb_version(app);
	if (app->line.verb == NULL || pctl_option_has(&app->line, "--help"))
		return pctl_verb_help(app);
	status = pctl_app_log_open(app, NULL);
	if (status == PCTL_OK)
		status = pctl_app_begin(app);
	if (status == PCTL_OK)
		status = pctl_app_check_files(app);
	if (status == PCTL_OK)
		status = pctl_app_expand_cids(app);
	if (status != PCTL_OK)
		return status;
	status = is_folded(app) ? run_folded(app) : app->line.verb->run(app);
	return status == PCTL_OK ? app->log_status : status;
}

/* Whoever asked for a document has none where there is no memory for it: that is no success. */
static pctl_status end_document(pctl_app *app, pctl_status status)
{
	pctl_status written;
	char *text;

	if (stdout != app->to) {
		fclose(stdout);
		stdout = app->to;
	}
	if (app->n_printed != 0)
		pctl_json_kv_string(&app->document, "text", app->printed);
	free(app->printed);
	text = pctl_document_end(&app->document, status, app->diagnostics);
	if (text == NULL)
		return status == PCTL_OK ? pctl_no_memory(app->call, "the document") : status;
	written = pctl_file_write("-", text, strlen(text), 0, app->call);
	free(text);
	return status == PCTL_OK ? written : status;
}

/* Whoever read the pipe behind standard output has left: they have what they wanted (head, less). */
static int reader_is_gone(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};
	struct stat st;

	return fstat(STDOUT_FILENO, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) &&
	       poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

/* Everything printed has left. Bytes that nobody waits for are no loss; those that a full disk refused are. Where standard output carries
 * the bytes of an output, whoever wrote them has looked, and what is said goes elsewhere. */
static pctl_status flush_output(const pctl_app *app, pctl_status status)
{
	const int lost = fflush(stdout) != 0, error = errno;
	char reason[128];

	if (stdout == stderr)
		return status;
	if ((!lost && !ferror(stdout)) || status != PCTL_OK || reader_is_gone())
		return status;
	if (!lost) /* an earlier write: stdio does not keep why */
		return pctl_refuse(app->call, PC23_OUTPUT_LOST, "cannot write standard output");
	return pctl_refuse(app->call, PC23_OUTPUT_LOST, "cannot write standard output: %s",
			   strerror_r(error, reason, sizeof(reason)));
}

/* 1 when --json stands on the command line, even on one that could not be parsed. */
static int wants_json(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--json") == 0)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	pctl_app app = {.json = 0};
	const uint64_t began_ns = pctl_clock_ns();
	pctl_status status;

	if (!keep_streams())
		return 1;
	keep_to_oneself();
	catch_signals();
	/* Nobody asks how much memory SQLite has, and counting it takes a lock for each piece. Only a program may say so, before
	 * anything else of it. */
	(void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	if (!pctl_exit_guard()) {
		fputs("pipectl: no memory\n", stderr);
		return 1;
	}
	app.diagnostics = pctl_diag_list_create();
	app.arena = pctl_arena_create();
	if (app.diagnostics == NULL || app.arena == NULL) {
		fputs("pipectl: no memory\n", stderr);
		pctl_exit_ordered();
		return 1;
	}
	pctl_diag_list_set_cancel(app.diagnostics, is_interrupted, NULL);
	app.call = pctl_diag_list_call(app.diagnostics);
	status = pctl_command_line_parse(argc, argv, app.call, &app.line);
	app.json = (uint32_t)(status == PCTL_OK ? pctl_option_has(&app.line, "--json")
						: wants_json(argc, argv));
	app.colour = (uint32_t)wants_colour(pctl_option_value(&app.line, "--color"));
	if (app.json) {
		pctl_status begun = begin_document(&app);

		status = status == PCTL_OK ? begun : status;
	}
	if (status == PCTL_OK)
		status = run_verb(&app);
	if (interrupted && !(terminated && app.is_service && status == PCTL_OK))
		status = PCTL_E_CANCELLED;
	pctl_app_progress_clear(&app);
	pctl_installation_close(&app.host);
	pctl_app_log_close(&app, status, began_ns);
	if (app.json)
		status = end_document(&app, status);
	status = flush_output(&app, status);
	pctl_diag_render_text(app.diagnostics, stderr, (int)app.colour);
	pctl_command_line_clear(&app.line);
	pctl_diag_list_destroy(app.diagnostics);
	pctl_arena_destroy(app.arena);
	pctl_exit_ordered();
	return pctl_status_exit(status);
}
