/* Which sequences are in the next step, and what becomes of what it gave. Sequences join and leave between steps; a long prompt is
 * run in chunks beside others that generate. Who waits is admitted by turns: a client with fewest sequences in slots first, then
 * the one that came first. Nothing here changes an answer: only when it comes. Called by one thread; what is said to be under the
 * lock reads and writes what the thread of HTTP does, too (request.h). */
#ifndef PIPECTL_MODEL_SERVE_SCHEDULER_H
#define PIPECTL_MODEL_SERVE_SCHEDULER_H

#include <stdatomic.h>

#include "model/serve/request.h"

/* Since the beginning; queue and running as they are now. */
typedef struct serve_counts {
	uint64_t steps, prompt_tokens, tokens, preempted, ended, failed;
	uint32_t waiting, active;
} serve_counts;

/*
 * told   there is something of the request for its client; ended: and it is the last, the scheduler has forgotten it. Under the lock
 * hold   1: nobody is admitted until a slot was given back, since the engine had no room; made_room: in this step already;
 *        n_beside: how many slots were taken while the step ran
 */
typedef struct serve_scheduler {
	const pctl_engine *engine;
	const pctl_serve_limits *limits;
	void (*told)(void *ctx, serve_request *r);
	void (*ended)(void *ctx, serve_request *r);
	void *ctx;
	serve_request *first, *last;
	serve_sequence **slots, **in_row;
	pctl_engine_row *rows;
	uint32_t n_rows, hold, made_room, n_beside;
	uint64_t n_admitted;
	pctl_status step_status;
	serve_counts counts;
	serve_refusal failure; /* what the engine said of its last failure */
	atomic_uint hurry; /* 1: a step that is under way need not be ended (pctl_call.cancelled) */
} serve_scheduler;

pctl_status serve_scheduler_open(serve_scheduler *s, const pctl_call *call);
/* Every request was ended before. */
void serve_scheduler_close(serve_scheduler *s);

/* A request that was read. Under the lock. */
void serve_scheduler_add(serve_scheduler *s, serve_request *r);
/* End what is cancelled or late, admit, choose rows: how many. Under the lock. */
uint32_t serve_scheduler_plan(serve_scheduler *s, uint64_t now_ms);
/* The step, of the rows chosen. Not under the lock. */
void serve_scheduler_run(serve_scheduler *s);
/* Hand out what it gave. Under the lock. */
void serve_scheduler_apply(serve_scheduler *s, uint64_t now_ms);
/* End everything with this code. Under the lock. */
void serve_scheduler_stop(serve_scheduler *s, uint32_t code);

/* ---- between scheduler.c and scheduler_rows.c ---- */

/* End a request; code 0: it is answered. */
void serve_scheduler_end(serve_scheduler *s, serve_request *r, uint32_t code, const char *words);
/* Take a sequence out of its slot; it waits, and is run again from its beginning. */
void serve_scheduler_preempt(serve_scheduler *s, serve_sequence *q);
/* A sequence has its answer. */
void serve_scheduler_finish(serve_scheduler *s, serve_sequence *q, uint32_t finish);
/* 1: its reader is behind. */
int serve_scheduler_is_paused(const serve_scheduler *s, const serve_request *r);
uint32_t serve_scheduler_choose(serve_scheduler *s);

#endif
