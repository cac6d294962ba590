/* Requests: decoded, looked at ahead, served in their order inside one batch, answered after its commit. */
#include "chain/node/node_batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/ipc/process.h"
#include "chain/node/first_error.h"
#include "chain/node/node_block.h"
#include "foundation/base/clock.h"

#define REPLIES_MAX 8192u	    /* in one batch */
#define REPLY_BYTES_MAX (16u << 20) /* waiting in one batch */

/* ---- errors -------------------------------------------------------------------------------- */

/* A status without any words still needs a code. */
static void name_error(node_first_error *e, pctl_status status)
{
	if (status == PCTL_E_CANCELLED) {
		e->code = PC6113_NODE_STOPPING;
		snprintf(e->text, sizeof(e->text), "%s", "the node is being stopped");
	} else if (e->code == 0 || e->text[0] == '\0') {
		e->code = PC1_INTERNAL;
		snprintf(e->text, sizeof(e->text), "%s", pctl_status_name(status));
	}
}

static uint8_t *encode_error(uint32_t code, const char *words, uint64_t *n)
{
	pctl_response r = {.kind = PCTL_MSG_ERROR, .as.error = {.code = code, .message = words}};
	uint8_t *bytes = NULL;

	if (pctl_response_encode(&r, NULL, &bytes, n) == PCTL_OK)
		return bytes;
	/* Words that no message may hold: the code says it alone. */
	r.as.error.message = pctl_code_summary(code);
	if (r.as.error.message != NULL && pctl_response_encode(&r, NULL, &bytes, n) == PCTL_OK)
		return bytes;
	*n = 0;
	return NULL;
}

void node_answer_error(node_client *c, uint32_t code, const char *text)
{
	uint64_t n;
	uint8_t *bytes = encode_error(code, text, &n);

	/* A client that is owed an answer and gets none is closed. */
	if (bytes == NULL)
		c->is_gone = 1;
	else
		node_client_answer(c, bytes, (uint32_t)n);
	free(bytes);
}

/* ---- replies ------------------------------------------------------------------------------- */

/* Nobody is there to get it: c NULL. */
static void add(node_batch *b, node_client *c, uint8_t *bytes, uint64_t n, uint32_t in_batch)
{
	if (c == NULL) {
		free(bytes);
		return;
	}
	if (b->n_replies == b->room) {
		const size_t room = b->room == 0 ? 64 : b->room * 2;
		node_reply *grown = realloc(b->replies, room * sizeof(*grown));

		if (grown == NULL) {
			free(bytes);
			c->is_gone = 1;
			return;
		}
		b->replies = grown;
		b->room = room;
	}
	b->replies[b->n_replies++] =
		(node_reply){.to = c, .bytes = bytes, .n = n, .in_batch = in_batch};
	b->n_bytes += n;
}

int node_batch_has_room(const node_batch *b)
{
	return b->n_replies + b->items.n - b->at < REPLIES_MAX && b->n_bytes < REPLY_BYTES_MAX &&
	       b->n_held_bytes < REPLY_BYTES_MAX;
}

/* ---- batches ------------------------------------------------------------------------------- */

/* Trouble of this node ends the batch: nothing of it is kept, all of it is answered with what went wrong. */
static void fail(node_batch *b, node_first_error *e, pctl_status status)
{
	name_error(e, status);
	b->failure = e->code;
	memcpy(b->words, e->text, sizeof(b->words));
	if (b->is_open)
		b->service->abort(b->service->ctx);
	b->is_open = 0;
	if (b->report != NULL)
		b->report(b->report_ctx, e->code, e->text);
}

static void commit(node_batch *b, const pctl_call *outer)
{
	node_first_error e;
	const pctl_call call = node_keep_first(&e, outer);
	pctl_status status;

	if (!b->is_open)
		return;
	b->counts->batches++;
	status = b->service->commit(b->service->ctx, &call);
	b->is_open = 0;
	if (status != PCTL_OK)
		fail(b, &e, status);
}

static void begin(node_batch *b, const pctl_call *outer)
{
	node_first_error e;
	const pctl_call call = node_keep_first(&e, outer);
	pctl_status status;

	if (b->is_open || b->failure != 0)
		return;
	status = b->service->begin(b->service->ctx, &call);
	if (status == PCTL_OK)
		b->is_open = 1;
	else
		fail(b, &e, status);
}

static void deliver(node_batch *b)
{
	for (size_t i = 0; i < b->n_replies; i++) {
		node_reply *r = &b->replies[i];

		if (r->in_batch && b->failure != 0) {
			b->counts->errors++;
			node_answer_error(r->to, b->failure, b->words);
		} else if (r->bytes == NULL) {
			r->to->is_gone = 1;
		} else {
			node_client_answer(r->to, r->bytes, (uint32_t)r->n);
		}
		free(r->bytes);
	}
	/* What follows may take long: the end of a block. */
	for (size_t i = 0; i < b->n_replies; i++)
		node_client_write(b->replies[i].to, pctl_clock_ms());
	b->n_replies = b->n_bytes = 0;
	b->failure = 0;
}

static void end(node_batch *b, const pctl_call *call)
{
	commit(b, call);
	deliver(b);
}

/* ---- requests ------------------------------------------------------------------------------ */

static void reply(node_batch *b, node_client *c, const pctl_response *r, const pctl_call *outer,
		  uint32_t in_batch)
{
	node_first_error e;
	const pctl_call call = node_keep_first(&e, outer);
	uint8_t *bytes = NULL;
	uint64_t n = 0;
	const pctl_status status = pctl_response_encode(r, &call, &bytes, &n);

	b->counts->errors += r->kind == PCTL_MSG_ERROR;
	if (status != PCTL_OK) {
		name_error(&e, status);
		bytes = encode_error(e.code, e.text, &n);
	}
	add(b, c, bytes, n, in_batch);
}

static void say(node_batch *b, node_client *c, uint32_t code, const char *words)
{
	uint64_t n;
	uint8_t *bytes = encode_error(code, words, &n);

	b->counts->errors++;
	add(b, c, bytes, n, 0);
}

static void serve(node_batch *b, node_client *c, const pctl_request *r, const pctl_call *outer)
{
	node_first_error e;
	const pctl_call call = node_keep_first(&e, outer);
	pctl_response out = {.kind = 0};
	const pctl_status status = b->service->serve(b->service->ctx, r, &call, &out);

	if (status == PCTL_OK) {
		reply(b, c, &out, outer, 1);
	} else {
		fail(b, &e, status);
		add(b, c, NULL, 0, 1);
	}
	pctl_response_destroy(&out);
}

/* Trouble is an error of this request alone: no batch is open. */
static void answer_now(node_batch *b, node_client *c, const pctl_request *r, const pctl_call *outer)
{
	node_first_error e;
	const pctl_call call = node_keep_first(&e, outer);
	pctl_response out = {.kind = 0};
	const pctl_status status = b->service->answer(b->service->ctx, r, &call, &out);

	if (status == PCTL_OK) {
		reply(b, c, &out, outer, 0);
	} else {
		name_error(&e, status);
		say(b, c, e.code, e.text);
	}
	pctl_response_destroy(&out);
}

/* ---- items --------------------------------------------------------------------------------- */

static int changes_nothing(const pctl_request *r)
{
	/* A proof is of the history, which the view of other threads has not. */
	return r->kind == PCTL_MSG_QUERY || r->kind == PCTL_MSG_BLOCK_QUERY ||
	       r->kind == PCTL_MSG_GET || (r->kind == PCTL_MSG_GRAPH && r->as.graph.prove == 0);
}

static uint64_t size_of(const node_item *it)
{
	uint64_t n = 0;

	(void)pctl_request_bytes(&it->request, &n);
	return n;
}

static void push(node_batch *b, node_client *c, node_item *it)
{
	it->client = c->id;
	it->hint = (uint32_t)(c - b->clients);
	if (PCTL_VEC_PUSH(&b->items, *it)) {
		c->n_held++;
		b->n_held_bytes += size_of(it);
		return;
	}
	pctl_request_destroy(&it->request);
	free(it->words);
	c->is_gone = 1;
}

/* The next item is the caller's; *c: its client, NULL: it has gone. */
static node_item pull(node_batch *b, node_client **c)
{
	const node_item it = b->items.items[b->at++];

	*c = NULL;
	if (it.hint < *b->n_clients && b->clients[it.hint].id == it.client)
		*c = &b->clients[it.hint];
	for (uint32_t i = 0; *c == NULL && i < *b->n_clients; i++)
		if (b->clients[i].id == it.client)
			*c = &b->clients[i];
	if (*c != NULL)
		(*c)->n_held--;
	b->n_held_bytes -= size_of(&it);
	if (b->at == b->items.n)
		b->at = b->items.n = 0;
	return it;
}

void node_batch_refuse(node_batch *b, node_client *c, uint32_t code, const char *text)
{
	node_item it = {.code = code, .words = strdup(text)};

	push(b, c, &it);
}

void node_batch_take(node_batch *b, node_client *c, const uint8_t *bytes, uint32_t n,
		     const pctl_call *outer)
{
	node_first_error e;
	const pctl_call call = node_keep_first(&e, outer);
	node_item it = {.code = 0};
	const pctl_status status = pctl_request_decode(bytes, n, &call, &it.request);

	b->counts->requests++;
	if (status != PCTL_OK) {
		name_error(&e, status);
		node_batch_refuse(b, c, e.code, e.text);
	} else if (b->is_busy && c->n_held == 0 && changes_nothing(&it.request)) {
		answer_now(b, c, &it.request, outer);
		pctl_request_destroy(&it.request);
	} else {
		push(b, c, &it);
	}
}

/* ---- rounds -------------------------------------------------------------------------------- */

#define AHEAD_MAX 512u

static void look_ahead(node_batch *b)
{
	const pctl_request *some[AHEAD_MAX];
	uint32_t n = 0;

	for (uint32_t i = b->at; b->service->ahead != NULL && i < b->items.n; i++) {
		node_item *it = &b->items.items[i];

		if (!it->is_seen && it->request.kind != 0 && !changes_nothing(&it->request))
			some[n++] = &it->request;
		it->is_seen = 1;
		if (n != 0 && (n == AHEAD_MAX || i + 1 == b->items.n)) {
			b->service->ahead(b->service->ctx, some, n);
			n = 0;
		}
	}
}

/* By the other thread. */
static pctl_status end_block(void *ctx, const pctl_call *call)
{
	node_batch *b = ctx;

	return b->service->serve(b->service->ctx, &b->ending, call, &b->ended);
}

/* The end of a block stands alone: what came before it is durable and answered first. */
static void serve_block_end(node_batch *b, node_client *c, node_item *it, const pctl_call *call)
{
	end(b, call);
	b->counts->blocks++;
	if (b->block == NULL) {
		serve(b, c, &it->request, call);
		deliver(b);
		return;
	}
	b->ender = it->client;
	if (c != NULL)
		c->n_held++; /* for its answer */
	b->is_busy = 1;
	b->ending = it->request;
	it->request = (pctl_request){.kind = 0};
	node_block_begin(b->block, end_block, b);
}

static void serve_item(node_batch *b, node_client *c, node_item *it, const pctl_call *call)
{
	if (it->request.kind == 0) {
		say(b, c, it->code, it->words == NULL ? "" : it->words);
	} else if (it->request.kind == PCTL_MSG_BLOCK_END) {
		serve_block_end(b, c, it, call);
	} else {
		begin(b, call);
		if (b->failure == 0)
			serve(b, c, &it->request, call);
		else
			add(b, c, NULL, 0, 1);
	}
	pctl_request_destroy(&it->request);
	free(it->words);
}

void node_batch_run(node_batch *b, const pctl_call *call)
{
	look_ahead(b);
	while (!b->is_busy && b->at < b->items.n && !pctl_is_cancelled(call)) {
		node_client *c;
		node_item it = pull(b, &c);

		serve_item(b, c, &it, call);
	}
	if (b->is_busy)
		deliver(b);
	else
		end(b, call);
}

void node_batch_collect(node_batch *b, int waits, const pctl_call *call)
{
	node_first_error e = {.code = 0};
	node_client *c = NULL;
	pctl_status status = PCTL_OK;

	if (!b->is_busy || !node_block_ended(b->block, waits, &status, &e))
		return;
	b->is_busy = 0;
	for (uint32_t i = 0; c == NULL && i < *b->n_clients; i++)
		if (b->clients[i].id == b->ender)
			c = &b->clients[i];
	if (c != NULL)
		c->n_held--;
	if (status == PCTL_OK) {
		reply(b, c, &b->ended, call, 1);
	} else {
		fail(b, &e, status);
		add(b, c, NULL, 0, 1);
	}
	pctl_response_destroy(&b->ended);
	pctl_request_destroy(&b->ending);
	b->ended = (pctl_response){.kind = 0};
	b->ending = (pctl_request){.kind = 0};
	deliver(b);
}

void node_batch_stop(node_batch *b, const pctl_call *call)
{
	node_batch_collect(b, 1, call);
	while (b->at < b->items.n) {
		node_client *c;
		node_item it = pull(b, &c);

		say(b, c, PC6113_NODE_STOPPING, "the node is being stopped");
		pctl_request_destroy(&it.request);
		free(it.words);
	}
	deliver(b);
}

void node_batch_clear(node_batch *b)
{
	for (size_t i = 0; i < b->n_replies; i++)
		free(b->replies[i].bytes);
	free(b->replies);
	for (uint32_t i = b->at; i < b->items.n; i++) {
		pctl_request_destroy(&b->items.items[i].request);
		free(b->items.items[i].words);
	}
	free(b->items.items);
}
