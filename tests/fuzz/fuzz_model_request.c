/* Any bytes as the body of each call: refused with one code that has an HTTP status and a document, or read, run to its end over the fake
 * engine and answered with JSON that another parser takes. */
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "fakes/engine.h"
#include "model/serve/scheduler.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const fake_engine_options engine_options = {
	.n_slots = 3, .max_chunk = 7, .context = 200, .n_embd = 4, .has_chat = 1};

static void told(void *ctx, serve_request *r)
{
	(void)ctx;
	(void)r;
}

static void must(int what)
{
	if (!what)
		abort();
}

static void check_json(const char *text)
{
	cJSON *json = text == NULL ? NULL : cJSON_Parse(text);

	must(json != NULL);
	cJSON_Delete(json);
}

static void check_stream(const serve_request *r)
{
	static const char end[] = "data: [DONE]\n\n";

	must(r->out.n >= sizeof(end) - 1 &&
	     memcmp(r->out.data + r->out.n - (sizeof(end) - 1), end, sizeof(end) - 1) == 0);
}

static void run(serve_request *r, pctl_engine *e, const pctl_serve_limits *limits)
{
	serve_scheduler s = {.engine = e, .limits = limits, .told = told, .ended = told};
	char *text;

	must(serve_scheduler_open(&s, NULL) == PCTL_OK);
	serve_scheduler_add(&s, r);
	while (serve_scheduler_plan(&s, r->arrived_ms) != 0) {
		serve_scheduler_run(&s);
		serve_scheduler_apply(&s, r->arrived_ms);
	}
	/* A stream that nobody reads pauses; whatever else there is ends. */
	must(r->is_done || serve_scheduler_is_paused(&s, r));
	if (r->is_done && r->refusal.code == 0 && r->params.stream)
		check_stream(r);
	if (r->is_done && r->refusal.code == 0 && !r->params.stream) {
		text = serve_answer(r, e);
		check_json(text);
		free(text);
	}
	serve_scheduler_stop(&s, PC6270_SERVE_STOPPING);
	serve_scheduler_close(&s);
}

static void one(uint32_t call, const uint8_t *data, size_t n)
{
	pctl_engine *e = fake_engine_create(&engine_options);
	serve_request *r = serve_request_create(call);
	serve_refusal refusal = {.code = 0};
	pctl_serve_limits limits;
	char *text;

	must(e != NULL && r != NULL);
	pctl_serve_limits_init(&limits);
	r->body = malloc(n == 0 ? 1 : n);
	must(r->body != NULL);
	memcpy(r->body, data, n);
	r->n_body = n;
	if (serve_request_read(r, e, &limits, &refusal)) {
		must(refusal.code == 0);
		run(r, e, &limits);
	} else {
		must(refusal.code != 0 && serve_refusal_http(refusal.code) >= 400);
		text = serve_refusal_document(&refusal);
		check_json(text);
		free(text);
	}
	serve_request_destroy(r);
	fake_engine_destroy(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	one(SERVE_COMPLETIONS, data, n);
	one(SERVE_CHAT, data, n);
	one(SERVE_EMBEDDINGS, data, n);
	return 0;
}
