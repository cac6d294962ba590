/* Requests in, sequences into slots and out of them; see scheduler.h. */
#include "model/serve/scheduler.h"

#include <stdlib.h>

pctl_status serve_scheduler_open(serve_scheduler *s, const pctl_call *call)
{
	const uint32_t n = s->engine->n_slots;

	s->slots = calloc(n, sizeof(serve_sequence *));
	s->in_row = calloc(n, sizeof(serve_sequence *));
	s->rows = calloc(n, sizeof(*s->rows));
	if (s->slots != NULL && s->in_row != NULL && s->rows != NULL)
		return PCTL_OK;
	serve_scheduler_close(s);
	return pctl_no_memory(call, "the scheduler");
}

void serve_scheduler_close(serve_scheduler *s)
{
	free(s->slots);
	free(s->in_row);
	free(s->rows);
	s->slots = s->in_row = NULL;
	s->rows = NULL;
}

/* ---- slots -------------------------------------------------------------------------------- */

static void leave_slot(serve_scheduler *s, serve_sequence *q)
{
	s->engine->release(s->engine->self, q->slot);
	s->slots[q->slot] = NULL;
	s->counts.active--;
	s->hold = 0;
	q->n_cached = 0;
}

void serve_scheduler_preempt(serve_scheduler *s, serve_sequence *q)
{
	leave_slot(s, q);
	q->state = SERVE_WAITING;
	q->request->n_waiting++;
	s->counts.waiting++;
	s->counts.preempted++;
}

void serve_scheduler_finish(serve_scheduler *s, serve_sequence *q, uint32_t finish)
{
	serve_request *r = q->request;

	if (q->state == SERVE_ACTIVE) {
		leave_slot(s, q);
	} else {
		s->counts.waiting--;
		r->n_waiting--;
	}
	q->state = SERVE_DONE;
	q->finish = finish;
	r->n_left--;
	if (r->params.stream)
		serve_stream_add(q, s->engine);
	if (r->n_left == 0)
		serve_scheduler_end(s, r, 0, NULL);
}

/* ---- requests ----------------------------------------------------------------------------- */

static void forget(serve_scheduler *s, serve_request *r)
{
	serve_request **at = &s->first, *before = NULL;

	while (*at != r) {
		before = *at;
		at = &before->next;
	}
	*at = r->next;
	if (s->last == r)
		s->last = before;
}

void serve_scheduler_end(serve_scheduler *s, serve_request *r, uint32_t code, const char *words)
{
	for (uint32_t i = 0; i < r->n_sequences; i++) {
		serve_sequence *q = &r->sequences[i];

		if (q->state == SERVE_ACTIVE)
			leave_slot(s, q);
		if (q->state == SERVE_WAITING)
			s->counts.waiting--;
		q->state = SERVE_DONE;
	}
	for (uint32_t i = 0; i < s->n_rows; i++)
		if (s->in_row[i] != NULL && s->in_row[i]->request == r)
			s->in_row[i] = NULL;
	forget(s, r);
	r->n_left = r->n_waiting = 0;
	s->counts.ended++;
	if (code != 0) {
		s->counts.failed++;
		(void)serve_refuse(&r->refusal, code, NULL, "%s", words);
		if (r->params.stream)
			serve_stream_break(r);
	} else if (r->params.stream) {
		serve_stream_end(r, s->engine);
	}
	r->is_done = 1;
	s->ended(s->ctx, r);
}

void serve_scheduler_add(serve_scheduler *s, serve_request *r)
{
	uint32_t n = r->n_sequences;

	r->next = NULL;
	if (s->last == NULL)
		s->first = r;
	else
		s->last->next = r;
	s->last = r;
	s->counts.waiting += n;
	if (r->params.stream)
		s->told(s->ctx, r); /* the head of the answer */
	if (r->call == SERVE_EMBEDDINGS)
		return;
	/* The last one ends the request. */
	for (uint32_t i = 0; i < n; i++)
		if (r->sequences[i].max_tokens == 0)
			serve_scheduler_finish(s, &r->sequences[i], SERVE_LENGTH);
}

int serve_scheduler_is_paused(const serve_scheduler *s, const serve_request *r)
{
	return r->params.stream && r->out.n - r->out_at > s->limits->output_bytes;
}

/* Why a request cannot go on, 0: it can. */
static uint32_t reason_to_end(serve_scheduler *s, serve_request *r, uint64_t now_ms,
			      const char **words)
{
	*words = "the client is gone";
	if (r->is_cancelled)
		return PC4_CANCELLED;
	*words = "no memory for the answer";
	if (r->out.failed)
		return PC2_NOMEM;
	*words = "no answer within the time that is allowed";
	if (now_ms - r->arrived_ms > 1000ull * s->limits->total_s)
		return PC6271_SERVE_TIME;
	if (!serve_scheduler_is_paused(s, r)) {
		r->stalled_ms = 0;
		return 0;
	}
	if (r->stalled_ms == 0)
		r->stalled_ms = now_ms;
	*words = "the stream was not read";
	return now_ms - r->stalled_ms > 1000ull * s->limits->stall_s ? PC6275_SERVE_STALL : 0;
}

uint32_t serve_scheduler_plan(serve_scheduler *s, uint64_t now_ms)
{
	serve_request *next;
	const char *words;

	for (serve_request *r = s->first; r != NULL; r = next) {
		const uint32_t code = reason_to_end(s, r, now_ms, &words);

		next = r->next;
		if (code != 0)
			serve_scheduler_end(s, r, code, words);
	}
	return serve_scheduler_choose(s);
}

void serve_scheduler_stop(serve_scheduler *s, uint32_t code)
{
	while (s->first != NULL)
		serve_scheduler_end(s, s->first, code, "the server is being stopped");
}
