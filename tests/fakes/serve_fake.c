/* The server of models over the fake engine, as a program: the options of limits.def, and those of engine.h. What `pipectl model serve`
 * does with the same rows is not its affair. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "foundation/base/num.h"
#include "foundation/diag/diag.h"
#include "model/serve/serve.h"

static volatile sig_atomic_t n_signals;

static void on_signal(int number)
{
	(void)number;
	n_signals = n_signals + 1;
}

static uint32_t stopping(void *ctx)
{
	(void)ctx;
	return n_signals > 1 ? 2 : (uint32_t)n_signals;
}

static void listening(void *ctx, const char *where)
{
	(void)ctx;
	printf("listening on %s\n", where);
	fflush(stdout);
}

typedef struct option {
	const char *name;
	uint32_t *value;
} option;

/* A number behind a name of the server's or the engine's. */
static int take_number(const char *name, const char *text, fake_engine_options *f,
		       pctl_serve_options *o)
{
	const option own[] = {{"--slots", &f->n_slots},
			      {"--chunk", &f->max_chunk},
			      {"--context", &f->context},
			      {"--embd", &f->n_embd},
			      {"--step-us", &f->step_us},
			      {"--token-us", &f->token_us},
			      {"--fail-every", &f->fail_every},
			      {"--pool", &f->pool},
			      {"--lie", &f->lie},
			      {"--endless", &f->endless},
			      {"--chat", &f->has_chat},
			      {"--port", &o->port}};
	uint32_t n, *to = NULL;
	const pctl_serve_limit_row *rows = pctl_serve_limit_rows(&n);
	uint64_t v;

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strcmp(own[i].name, name) == 0)
			to = own[i].value;
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(rows[i].option, name) == 0)
			to = (uint32_t *)(void *)((char *)&o->limits + rows[i].field);
	if (to == NULL || !pctl_num_parse_u64(text, strlen(text), &v) || v > UINT32_MAX)
		return 0;
	*to = (uint32_t)v;
	return 1;
}

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = on_signal};
	pctl_diag_list *diagnostics = pctl_diag_list_create();
	pctl_log_options log = {.path = NULL, .level = PCTL_LOG_DEBUG, .format = PCTL_LOG_JSON};
	fake_engine_options f = {
		.n_slots = 8, .max_chunk = 64, .context = 4096, .n_embd = 8, .has_chat = 1};
	pctl_serve_options o = {.stopping = stopping, .listening = listening};
	pctl_engine *engine;
	pctl_server *server = NULL;
	pctl_status status = PCTL_OK;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	pctl_serve_limits_init(&o.limits);
	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--socket") == 0)
			o.socket = argv[i + 1];
		else if (strcmp(argv[i], "--address") == 0)
			o.address = argv[i + 1];
		else if (strcmp(argv[i], "--log") == 0)
			log.path = argv[i + 1];
		else if (!take_number(argv[i], argv[i + 1], &f, &o)) {
			fprintf(stderr, "%s %s is not understood\n", argv[i], argv[i + 1]);
			return 2;
		}
	}
	engine = fake_engine_create(&f);
	if (diagnostics == NULL || engine == NULL)
		return 1;
	if (log.path != NULL)
		status = pctl_log_open(&log, pctl_diag_list_call(diagnostics), &o.log);
	if (status == PCTL_OK)
		status = pctl_server_open(&o, pctl_diag_list_call(diagnostics), &server);
	if (status == PCTL_OK)
		status = pctl_server_run(server, engine);
	pctl_server_close(server);
	pctl_log_close(o.log, pctl_diag_list_call(diagnostics));
	fake_engine_destroy(engine);
	pctl_diag_render_text(diagnostics, stderr, 0);
	pctl_diag_list_destroy(diagnostics);
	return pctl_status_exit(status);
}
