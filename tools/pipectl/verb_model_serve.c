/* `pipectl model serve`: a model behind HTTP on this machine. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "chain.h"
#include "model.h"
#include "model/pipeline/pipeline.h"
#include "model/serve/serve.h"

#define USUAL_SLOTS 8u

static uint32_t stopping(void *ctx)
{
	(void)ctx;
	return pctl_interruptions();
}

static void listening(void *ctx, const char *where)
{
	pctl_app *app = ctx;

	if (!app->quiet)
		fprintf(stderr, "listening on %s\n", where);
}

/* The rows of limits.def, each an option of its own name. */
static pctl_status read_limits(pctl_app *app, pctl_serve_limits *out)
{
	uint32_t n;
	const pctl_serve_limit_row *rows = pctl_serve_limit_rows(&n);
	uint64_t v;

	pctl_serve_limits_init(out);
	for (uint32_t i = 0; i < n; i++) {
		const pctl_status status = pctl_app_number(app, rows[i].option, rows[i].usual, &v);

		if (status != PCTL_OK)
			return status;
		/* The server says which range it takes. */
		v = v > UINT32_MAX ? UINT32_MAX : v;
		memcpy((char *)out + rows[i].field, &(uint32_t){(uint32_t)v}, sizeof(uint32_t));
	}
	return PCTL_OK;
}

pctl_status pctl_verb_model_serve(pctl_app *app)
{
	pctl_serve_options o = {.socket = pctl_option_value(&app->line, "--socket"),
				.stopping = stopping,
				.listening = listening,
				.ctx = app,
				.log = app->log};
	const int has_port = pctl_option_has(&app->line, "--port");
	pctl_model_engine *engine = NULL;
	pctl_server *server = NULL;
	uint64_t port = 0, slots = 0;
	pctl_status status;

	if ((o.socket != NULL) == has_port)
		return pctl_refuse(app->call, PC10_USAGE,
				   "either --socket PATH or --port N says where to listen");
	status = pctl_app_number(app, "--port", 0, &port);
	if (status == PCTL_OK && has_port && (port == 0 || port > 65535))
		return pctl_refuse(app->call, PC6250_SERVE_ADDRESS,
				   "a port is 1 to 65535, not %" PRIu64, port);
	o.port = (uint32_t)port;
	if (status == PCTL_OK)
		status = read_limits(app, &o.limits);
	if (status == PCTL_OK)
		status = pctl_app_number(app, "--slots", USUAL_SLOTS, &slots);
	/* An address that cannot be had is told before a model is loaded; who connects meanwhile waits. */
	if (status == PCTL_OK)
		status = pctl_server_open(&o, app->call, &server);
	if (status == PCTL_OK)
		status = pctl_app_model_engine(app, slots, PCTL_LORAS_NAMED, &engine);
	/* A client shall not wait for what all clients need. */
	if (status == PCTL_OK)
		status = pctl_model_engine_warm(engine, PCTL_MODEL_GIVES_TOKEN, app->call);
	if (status == PCTL_OK) {
		pctl_interrupt_gently();
		app->is_service = 1;
		status = pctl_server_run(server, pctl_model_engine_of(engine));
	}
	pctl_server_close(server);
	pctl_model_engine_close(engine);
	return status;
}
