/* What the log is told: a line for each request, and now and then what the server does. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "foundation/base/clock.h"
#include "model/serve/http.h"

#define NUMBER 24

static const char *number(char out[NUMBER], uint64_t v)
{
	snprintf(out, NUMBER, "%" PRIu64, v);
	return out;
}

void serve_log_request(serve_http *h, const serve_exchange *e, const serve_summary *s)
{
	char n[8][NUMBER], code[16] = "";
	const uint32_t c = s != NULL && s->code != 0 ? s->code : e->code;
	const uint64_t now = pctl_clock_ms();
	const pctl_log_field fields[] = {
		{"path", e->path == NULL ? "?" : e->path},
		{"http", number(n[0], e->status)},
		{"code", c == 0 ? NULL : code},
		{"request", s == NULL ? NULL : number(n[1], s->number)},
		{"prompt_tokens", s == NULL ? NULL : number(n[2], s->prompt_tokens)},
		{"completion_tokens", s == NULL ? NULL : number(n[3], s->completion_tokens)},
		{"queue_ms", s == NULL || s->started_ms == 0
				     ? NULL
				     : number(n[4], s->started_ms - s->arrived_ms)},
		{"ms", number(n[5], now - e->begun_ms)},
		{"user", s == NULL || s->user[0] == '\0' ? NULL : s->user}};

	snprintf(code, sizeof(code), "PC%04" PRIu32, c);
	pctl_log_write(h->options->log, PCTL_LOG_INFO, "serve",
		       e->status == 0 ? "a client is gone" : "answered", fields,
		       sizeof(fields) / sizeof(fields[0]));
}

void serve_log_metrics(serve_http *h, uint64_t now_ms, int is_last)
{
	const uint64_t ms = now_ms == h->told_ms ? 1 : now_ms - h->told_ms;
	char n[12][NUMBER], code[16];
	serve_refusal failure;
	serve_counts c;

	if (serve_share_failure(h->share, &h->failures_seen, &failure)) {
		const pctl_log_field words[] = {{"code", failure.code == 0 ? NULL : code}};

		snprintf(code, sizeof(code), "PC%04" PRIu32, failure.code);
		pctl_log_write(h->options->log, PCTL_LOG_ERROR, "engine",
			       failure.code == 0 ? "a step failed" : failure.message, words, 1);
	}
	if (!is_last && ms < 1000ull * h->options->limits.metrics_s)
		return;
	serve_share_counts(h->share, &c);
	pctl_log_write(
		h->options->log, PCTL_LOG_INFO, "serve", "metrics",
		(const pctl_log_field[]){
			{"requests", number(n[0], c.ended)},
			{"requests_per_s", number(n[1], (c.ended - h->told.ended) * 1000 / ms)},
			{"tokens", number(n[2], c.tokens)},
			{"tokens_per_s", number(n[3], (c.tokens - h->told.tokens) * 1000 / ms)},
			{"prompt_tokens", number(n[4], c.prompt_tokens)},
			{"steps", number(n[5], c.steps)},
			{"queue", number(n[6], c.waiting)},
			{"active", number(n[7], c.active)},
			{"preempted", number(n[8], c.preempted)},
			{"failed", number(n[9], c.failed + h->refused)},
			{"connections", number(n[10], h->n_connections)},
			{"turned_away", number(n[11], h->turned_away)}},
		12);
	h->told = c;
	h->told_ms = now_ms;
}
