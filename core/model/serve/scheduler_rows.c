/* A step: who is admitted, which rows it has, what it gave. */
#include <stdlib.h>
#include <string.h>

#include "model/serve/scheduler.h"

/* ---- admission ---------------------------------------------------------------------------- */

static uint32_t slots_of(const serve_scheduler *s, uint64_t peer)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->engine->n_slots; i++)
		n += s->slots[i] != NULL && s->slots[i]->request->peer == peer;
	return n;
}

/* The request whose sequence is next: of the client with fewest slots, and of its requests the first. */
static serve_request *next_request(const serve_scheduler *s)
{
	serve_request *best = NULL;
	uint32_t fewest = UINT32_MAX;

	for (serve_request *r = s->first; r != NULL; r = r->next) {
		uint32_t n;

		if (r->n_waiting == 0 || serve_scheduler_is_paused(s, r))
			continue;
		n = slots_of(s, r->peer);
		if (n < fewest) {
			best = r;
			fewest = n;
		}
		if (fewest == 0)
			break;
	}
	return best;
}

static void admit(serve_scheduler *s, serve_request *r, uint32_t slot)
{
	serve_sequence *q = r->sequences;

	while (q->state != SERVE_WAITING)
		q++;
	q->state = SERVE_ACTIVE;
	q->slot = slot;
	q->n_cached = 0;
	q->admitted = ++s->n_admitted;
	q->served = 0;
	r->n_waiting--;
	s->counts.waiting--;
	s->counts.active++;
	s->slots[slot] = q;
}

/* A slot that is free, or that a sequence leaves whose reader is behind; n_slots: none. */
static uint32_t free_slot(serve_scheduler *s)
{
	const uint32_t n = s->engine->n_slots;

	for (uint32_t i = 0; i < n; i++)
		if (s->slots[i] == NULL)
			return i;
	for (uint32_t i = 0; i < n; i++) {
		if (serve_scheduler_is_paused(s, s->slots[i]->request)) {
			serve_scheduler_preempt(s, s->slots[i]);
			return i;
		}
	}
	return n;
}

/* ---- rows --------------------------------------------------------------------------------- */

static uint32_t left_of(const serve_sequence *q)
{
	return q->n_tokens - q->n_cached;
}

static void add_row(serve_scheduler *s, serve_sequence *q, uint32_t count)
{
	pctl_engine_row *row = &s->rows[s->n_rows];

	*row = (pctl_engine_row){.slot = q->slot,
				 .start = q->n_cached,
				 .count = count,
				 .tokens = q->tokens,
				 .n_tokens = q->n_tokens,
				 .n_prompt = q->n_prompt,
				 .adapter = q->request->params.adapter,
				 .sampling = &q->sampling,
				 .embedding = q->embedding,
				 .want = count < left_of(q)	? PCTL_ENGINE_NOTHING
					 : q->embedding != NULL ? PCTL_ENGINE_EMBEDDING
								: PCTL_ENGINE_TOKEN};
	s->in_row[s->n_rows++] = q;
}

/* The sequence with a prompt left that was served longest ago, of those the one admitted first. */
static serve_sequence *next_prompt(serve_scheduler *s)
{
	serve_sequence *best = NULL;

	for (uint32_t i = 0; i < s->engine->n_slots; i++) {
		serve_sequence *q = s->slots[i];

		if (q == NULL || left_of(q) < 2 || q->served == s->counts.steps + 1 ||
		    serve_scheduler_is_paused(s, q->request))
			continue;
		if (best == NULL || q->served < best->served ||
		    (q->served == best->served && q->admitted < best->admitted))
			best = q;
	}
	return best;
}

/* Who has one token left first: each costs one, and a long prompt holds nobody up. Then prompts in turn. */
uint32_t serve_scheduler_choose(serve_scheduler *s)
{
	const uint32_t n_slots = s->engine->n_slots;
	uint32_t budget = s->limits->step_tokens > n_slots ? s->limits->step_tokens : n_slots;
	serve_sequence *q;

	s->n_rows = 0;
	while (!s->hold) {
		serve_request *r = next_request(s);
		const uint32_t slot = r == NULL ? n_slots : free_slot(s);

		if (slot == n_slots)
			break;
		admit(s, r, slot);
	}
	for (uint32_t i = 0; i < n_slots; i++) {
		q = s->slots[i];
		if (q == NULL || left_of(q) != 1 || serve_scheduler_is_paused(s, q->request))
			continue;
		add_row(s, q, 1);
		q->served = s->counts.steps + 1;
		budget--;
	}
	while (budget > 0 && (q = next_prompt(s)) != NULL) {
		uint32_t count = left_of(q);

		count = count < s->engine->max_chunk ? count : s->engine->max_chunk;
		/* Who is cut short is the first in the next step. */
		if (count <= budget)
			q->served = s->counts.steps + 1;
		count = count < budget ? count : budget;
		add_row(s, q, count);
		budget -= count;
	}
	return s->n_rows;
}

/* ---- the step ----------------------------------------------------------------------------- */

static void keep_failure(void *ctx, const pctl_diag *d)
{
	serve_scheduler *s = ctx;

	if (d->severity == PCTL_SEVERITY_ERROR)
		(void)serve_refuse(&s->failure, d->code, NULL, "%s", d->message);
}

static uint32_t is_cancelled(void *ctx)
{
	return ((serve_scheduler *)ctx)->hurry;
}

void serve_scheduler_run(serve_scheduler *s)
{
	const pctl_call call = {.head = PCTL_HEAD(pctl_call),
				.ctx = s,
				.diag = keep_failure,
				.cancelled = is_cancelled};

	s->failure = (serve_refusal){.code = 0};
	s->n_beside = s->counts.active;
	s->step_status = s->engine->step(s->engine->self, s->rows, s->n_rows, &call);
}

/* ---- what it gave ------------------------------------------------------------------------- */

static int grow(void **items, uint32_t n, uint32_t *room, size_t size)
{
	const uint32_t more = n < *room ? *room : n < 16 ? 32 : n * 2;
	void *grown = n < *room ? *items : realloc(*items, more * size);

	if (grown == NULL)
		return 0;
	*items = grown;
	*room = more;
	return 1;
}

static int keep_token(serve_sequence *q, const pctl_engine_row *row)
{
	const uint32_t n_top = q->sampling.n_top;
	const uint32_t had = q->given_room;

	if (!grow((void **)&q->tokens, q->n_tokens, &q->room, sizeof(*q->tokens)) ||
	    !grow((void **)&q->given, q->n_given, &q->given_room, sizeof(*q->given)))
		return 0;
	if (n_top != 0 && had != q->given_room) {
		void *grown = realloc(q->tops, (size_t)q->given_room * n_top * sizeof(*q->tops));

		if (grown == NULL)
			return 0;
		q->tops = grown;
	}
	q->given[q->n_given] = (serve_given){.token = row->token,
					     .logprob = row->logprob,
					     .n_top = row->n_top < n_top ? row->n_top : n_top,
					     .begins = q->text.all.n};
	for (uint32_t i = 0; i < q->given[q->n_given].n_top; i++)
		q->tops[(size_t)q->n_given * n_top + i] = row->top[i];
	q->tokens[q->n_tokens++] = row->token;
	return 1;
}

/* One more token: its text, and whether the answer ends by it. The engine is believed in no number that is used as a place. */
static void take_token(serve_scheduler *s, serve_sequence *q, const pctl_engine_row *row)
{
	const serve_stops *stops = &q->request->params.stops;
	const uint32_t before = q->tokens[q->n_tokens - 1];
	const char *bytes = "";
	uint32_t n = 0, finish = SERVE_UNFINISHED;

	if (row->token >= s->engine->n_vocab || !keep_token(q, row)) {
		serve_scheduler_end(s, q->request,
				    row->token >= s->engine->n_vocab ? PC6272_SERVE_ENGINE
								     : PC2_NOMEM,
				    "the token cannot be taken");
		return;
	}
	s->counts.tokens++;
	q->request->completion_tokens++;
	if (s->engine->is_end(s->engine->self, row->token)) {
		finish = SERVE_STOP;
	} else {
		s->engine->piece(s->engine->self, before, row->token, &bytes, &n);
		q->n_given++;
		if (serve_text_add(&q->text, stops, bytes, n))
			finish = SERVE_STOP;
		else if (q->n_given >= q->max_tokens)
			finish = SERVE_LENGTH;
		q->given[q->n_given - 1].begins = q->text.begins;
		q->given[q->n_given - 1].ends = q->text.all.n + q->text.n_tail;
	}
	if (finish != SERVE_UNFINISHED && serve_text_end(&q->text, stops))
		finish = SERVE_STOP;
	if (q->text.all.failed) {
		serve_scheduler_end(s, q->request, PC2_NOMEM, "no memory for the answer");
		return;
	}
	if (finish != SERVE_UNFINISHED) {
		serve_scheduler_finish(s, q, finish);
		return;
	}
	if (q->request->params.stream) {
		const size_t had = q->request->out.n;

		serve_stream_add(q, s->engine);
		if (q->request->out.n != had)
			s->told(s->ctx, q->request);
	}
}

/* Whose place is needed most lightly: one whose reader is behind, else the one that was admitted last. */
static serve_sequence *least(const serve_scheduler *s)
{
	serve_sequence *last = NULL;

	for (uint32_t i = 0; i < s->engine->n_slots; i++) {
		serve_sequence *q = s->slots[i];

		if (q != NULL && serve_scheduler_is_paused(s, q->request))
			return q;
		if (q != NULL && (last == NULL || q->admitted > last->admitted))
			last = q;
	}
	return last;
}

/* No room: a sequence gives its place up, and comes again when another has ended. The first of all always goes on. Of several rows
 * without room the first asks: the others may fit then. */
static void make_room(serve_scheduler *s, serve_sequence *q)
{
	if (s->made_room)
		return;
	s->made_room = 1;
	if (s->n_beside == 1) {
		serve_scheduler_end(s, q->request, PC6273_SERVE_ROOM,
				    "the device has no room for this sequence, even alone");
		return;
	}
	if (s->counts.active == 1)
		return; /* those beside it have ended meanwhile */
	serve_scheduler_preempt(s, least(s));
	s->hold = 1;
}

static void apply_row(serve_scheduler *s, serve_sequence *q, const pctl_engine_row *row,
		      pctl_status status, uint64_t now_ms)
{
	/* It ended, or gave its place up, by an earlier row. */
	if (q == NULL || q->state != SERVE_ACTIVE)
		return;
	if (status == PCTL_E_LIMIT) {
		make_room(s, q);
		return;
	}
	if (status != PCTL_OK) {
		serve_scheduler_end(s, q->request,
				    status == PCTL_E_CANCELLED ? PC6270_SERVE_STOPPING
							       : PC6272_SERVE_ENGINE,
				    "the step that the sequence was in failed");
		return;
	}
	q->n_cached += row->count;
	if (q->request->started_ms == 0)
		q->request->started_ms = now_ms;
	if (row->want == PCTL_ENGINE_TOKEN)
		take_token(s, q, row);
	else if (row->want == PCTL_ENGINE_EMBEDDING)
		serve_scheduler_finish(s, q, SERVE_STOP);
	if (row->start + row->count <= row->n_prompt)
		s->counts.prompt_tokens += row->count;
}

void serve_scheduler_apply(serve_scheduler *s, uint64_t now_ms)
{
	s->counts.steps++;
	s->made_room = 0;
	for (uint32_t i = 0; i < s->n_rows; i++)
		apply_row(s, s->in_row[i], &s->rows[i],
			  s->step_status == PCTL_OK ? s->rows[i].status : s->step_status, now_ms);
	s->n_rows = 0;
}
