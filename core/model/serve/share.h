/* What the threads of a server share. Three of them: HTTP (connections, bodies in, answers out), the intake (JSON, templates, tokens),
 * the engine's (scheduler and steps). A request goes from one to the next and back; each hand-over is under the one lock, which is
 * never held during a step. Whoever waits for a client is the thread of HTTP alone, and it waits for all of them at once. */
#ifndef PIPECTL_MODEL_SERVE_SHARE_H
#define PIPECTL_MODEL_SERVE_SHARE_H

#include <pthread.h>

#include "model/serve/scheduler.h"

/*
 * event_fd     readable when `woken` has something
 * intake       requests whose body is to be read
 * woken        requests with something for their client
 * stopping     1: the threads end, and whatever is under way is cut off
 * failure      of the engine, to be told in the log; n_failures: how often since
 */
typedef struct serve_share {
	const pctl_engine *engine;
	const pctl_serve_options *options;
	pthread_mutex_t lock;
	pthread_cond_t intake_work, engine_work;
	pthread_t intake_thread, engine_thread;
	int event_fd;
	uint32_t n_threads, stopping;
	serve_request *intake_first, *intake_last, *woken;
	serve_scheduler scheduler;
	serve_counts counts;
	serve_refusal failure;
	uint64_t n_failures;
} serve_share;

/* What the log says of a request. code 0: answered; started 0: it did not come to that. */
typedef struct serve_summary {
	uint64_t number, arrived_ms, started_ms, prompt_tokens, completion_tokens;
	uint32_t code, reserved;
	char user[SERVE_USER_BYTES + 1];
} serve_summary;

/* Threads run when it returned PCTL_OK. */
pctl_status serve_share_open(serve_share *s, const pctl_engine *engine,
			     const pctl_serve_options *options, const pctl_call *call);
/* Ends the threads; every request is done then. Each that the thread of HTTP still holds stays its own. */
void serve_share_stop(serve_share *s);
void serve_share_close(serve_share *s);

/* ---- the thread of HTTP ---- */

/* Hand a request over; its body is whole. */
void serve_share_submit(serve_share *s, serve_request *r);
/* The exchange is over: nothing more is done for it. Gives up HTTP's share of the request. */
void serve_share_leave(serve_share *s, serve_request *r, serve_summary *out);
/* The requests that have something, by next_ready; each is told of again when it has more. */
serve_request *serve_share_woken(serve_share *s);
/* 1: its body was read and found good, or it is done. */
int serve_share_is_readable(serve_share *s, serve_request *r);
/* Up to n bytes of a stream; 0: none yet; -1: it is at its end; -2: no memory, it is broken. */
long serve_share_read(serve_share *s, serve_request *r, char *to, size_t n);
void serve_share_counts(serve_share *s, serve_counts *out);
/* What the engine said last; 0: nothing new since `*seen`. */
int serve_share_failure(serve_share *s, uint64_t *seen, serve_refusal *out);

#endif
