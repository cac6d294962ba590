/* The loop of ABCI's connections; see server.h. */
#include "chain/engine/abci/server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "chain/engine/abci/frame.h"
#include "chain/engine/abci/making.h"
#include "chain/engine/listen.h"
#include "chain/node/node_block.h"
#include "chain/node/node_private.h"
#include "foundation/base/clock.h"
#include "foundation/base/utf8.h"

#define SLICE_MS 100	  /* how often a wait asks whether to stop */
#define FAREWELL_MS 2000u /* for the engine to take its answers when the node stops */
#define OUT_MAX \
	(32u << 20) /* no further request of a connection is served while so much waits for it */
#define TURN 256u   /* requests of one connection in a row */
#define NEVER_MS (UINT64_MAX / 4)

/* What is under way in the other thread: a request of one connection. is_busy: something is. */
typedef struct abci_work {
	pctl_abci *what;
	Abci__Request *request;
	Abci__Response out;
	pctl_arena *arena;
	uint64_t client;
	uint32_t is_busy, reserved;
} abci_work;

struct pctl_abci_server {
	pctl_abci *what;
	pctl_abci_server_options o;
	pctl_listener listener;
	node_client *clients;
	struct pollfd *polled;
	uint32_t n_clients, is_alone;
	pctl_arena *arena;
	pctl_abci_counts counts;
	uint64_t busy_ms, last_id; /* of all rounds; of a connection */
	node_block *block;
	abci_work work;
	pctl_abci_making *making;
};

/* ---- answers ------------------------------------------------------------------------------- */

static void send_response(node_client *c, const Abci__Response *r)
{
	const size_t n = abci__response__get_packed_size(r);
	uint8_t head[PCTL_ABCI_HEAD_MAX], *bytes;
	uint32_t n_head;

	bytes = n > UINT32_MAX ? NULL : malloc(n + 1);
	if (bytes == NULL) {
		c->is_gone = 1;
		return;
	}
	abci__response__pack(r, bytes);
	n_head = pctl_abci_head((uint32_t)n, head);
	if (!node_append(&c->out, head, n_head) || !node_append(&c->out, bytes, n))
		c->is_gone = 1;
	free(bytes);
}

/* An exception ends the connection: what comes after it would be judged as if nothing had happened. */
static void send_exception(pctl_abci_server *s, node_client *c, uint32_t code, const char *text)
{
	Abci__Response r = ABCI__RESPONSE__INIT;
	Abci__ExceptionResponse e = ABCI__EXCEPTION_RESPONSE__INIT;
	char words[PCTL_MESSAGE_ERROR_MAX + 64u];

	snprintf(words, sizeof(words), "PC%04u: %s", code, text);
	words[pctl_utf8_bad(words, strlen(words), PCTL_UTF8_PLAIN)] = '\0';
	e.error = words;
	r.value_case = ABCI__RESPONSE__VALUE_EXCEPTION;
	r.exception = &e;
	s->counts.exceptions++;
	if (s->o.report != NULL)
		s->o.report(s->o.report_ctx, code, text);
	send_response(c, &r);
	node_buffer_clear(&c->in);
	c->is_ending = 1;
}

/* ---- requests ------------------------------------------------------------------------------ */

static void send_any(pctl_abci_server *s, node_client *c, pctl_status status,
		     const node_first_error *e, const Abci__Response *r)
{
	if (status == PCTL_OK)
		send_response(c, r);
	else
		send_exception(s, c, e->code == 0 ? PC1_INTERNAL : e->code,
			       e->code == 0 ? pctl_status_name(status) : e->text);
}

/* By the other thread. */
static pctl_status run_work(void *ctx, const pctl_call *call)
{
	abci_work *w = ctx;

	return pctl_abci_serve(w->what, w->request, w->arena, call, &w->out);
}

static void begin_work(pctl_abci_server *s, node_client *c, Abci__Request *r)
{
	s->work.what = s->what;
	s->work.request = r;
	s->work.is_busy = 1;
	s->work.client = c->id;
	c->n_held = 1; /* whose answer is outstanding */
	s->is_alone = pctl_abci_place(r) == PCTL_ABCI_ALONE;
	node_block_begin(s->block, run_work, &s->work);
}

/* What was under way has ended, if it has (waits: when it has): its answer goes to who asked, if he is still there. */
static void end_work(pctl_abci_server *s, int waits, const pctl_call *call)
{
	node_client nobody = {.fd = -1}, *c = &nobody;
	node_first_error e;
	pctl_status status, seen;

	if (!s->work.is_busy || !node_block_ended(s->block, waits, &status, &e))
		return;
	s->work.is_busy = s->is_alone = 0;
	for (uint32_t i = 0; i < s->n_clients; i++) {
		s->clients[i].n_held = 0;
		if (s->clients[i].id == s->work.client)
			c = &s->clients[i];
	}
	seen = pctl_abci_look(s->what, call);
	send_any(s, c, status == PCTL_OK ? seen : status, &e, &s->work.out);
	node_buffer_clear(&nobody.out);
	pctl_abci_release(s->work.request);
	pctl_arena_clear(s->work.arena);
	s->work.request = NULL;
}

/* A snapshot that is due is begun before anything else is done to the chain; one that is being made stops no block. */
static void tend(pctl_abci_server *s, const pctl_call *call)
{
	if (pctl_abci_making_ended(s->making, 0) && !s->work.is_busy)
		for (uint32_t i = 0; i < s->n_clients; i++)
			s->clients[i].n_held = 0; /* who waited for it */
	if (!s->work.is_busy && s->what->due != 0 && !pctl_abci_making_is_busy(s->making) &&
	    !pctl_is_cancelled(call))
		pctl_abci_making_begin(s->making, s->what, call);
}

/* Work waits for other work, and for a snapshot that is due and cannot be begun yet; some of it for one that is being made. */
static int must_wait(const pctl_abci_server *s, const Abci__Request *r)
{
	return s->work.is_busy || s->what->due != 0 ||
	       (pctl_abci_waits_for_snapshot(r) && pctl_abci_making_is_busy(s->making));
}

/* 0: the request has to wait for what is under way. */
static int serve(pctl_abci_server *s, node_client *c, const uint8_t *bytes, uint32_t n,
		 const pctl_call *outer)
{
	node_first_error e;
	const pctl_call call = node_keep_first(&e, outer);
	Abci__Request *r;
	Abci__Response out;
	pctl_status status = pctl_abci_decode(bytes, n, &call, &r);
	const int is_work = status == PCTL_OK && pctl_abci_place(r) != PCTL_ABCI_AT_ONCE;

	if (is_work && must_wait(s, r)) {
		pctl_abci_release(r);
		c->n_held = 1; /* not looked at again before that */
		return 0;
	}
	s->counts.requests++;
	if (is_work) {
		begin_work(s, c, r);
		return 1;
	}
	if (status == PCTL_OK)
		status = pctl_abci_serve(s->what, r, s->arena, &call, &out);
	send_any(s, c, status, &e, &out);
	pctl_abci_release(r);
	pctl_arena_clear(s->arena);
	return 1;
}

/* Whole frames of one connection, as many as its turn has. 1 when it has more. */
static int take_frames(pctl_abci_server *s, node_client *c, const pctl_call *call)
{
	uint32_t head, body;

	/* Answers come in the order of the requests, and beside some work nothing is answered. */
	for (uint32_t i = 0;
	     !c->is_gone && c->n_held == 0 && !s->is_alone && !pctl_is_cancelled(call); i++) {
		const uint8_t *at = c->in.bytes + c->in.at;
		const int whole = node_waiting(&c->in) == 0
					  ? 0
					  : pctl_abci_frame(at, node_waiting(&c->in), &head, &body);

		if (whole < 0)
			send_exception(s, c, PC6162_ENGINE_FRAME,
				       "the length is not one of a frame");
		c->is_partial = whole == 0;
		if (whole <= 0)
			return 0;
		if (i == TURN || node_waiting(&c->out) >= OUT_MAX)
			return node_waiting(&c->out) < OUT_MAX;
		if (!serve(s, c, at + head, body, call))
			return 0;
		/* After an exception nothing is left to be skipped. */
		if (node_waiting(&c->in) != 0)
			node_client_taken(c, (size_t)head + body);
		node_client_write(c, pctl_clock_ms() - s->busy_ms);
	}
	return 0;
}

/* ---- connections --------------------------------------------------------------------------- */

/* Nobody waits for who is one too many: what does not fit the socket's own buffer is lost. */
static void turn_away(pctl_abci_server *s, int fd)
{
	node_client c = {.fd = fd};

	send_exception(s, &c, PC6186_ENGINE_PLACES, "every connection of this node is taken");
	node_client_write(&c, 0);
	node_client_close(&c);
}

/* A free place, or that of somebody who makes nothing of it; an engine's connections may be silent for as long as they like. */
static node_client *place(pctl_abci_server *s, uint64_t now)
{
	node_client *found;

	if (s->n_clients < s->o.clients)
		return &s->clients[s->n_clients++];
	found = node_client_outstayed(s->clients, s->n_clients, now, NEVER_MS);
	if (found != NULL)
		node_client_close(found);
	return found;
}

static void accept_clients(pctl_abci_server *s, uint64_t now)
{
	const int on = 1;

	for (uint32_t i = 0; i < NODE_ACCEPTS; i++) {
		const int fd = accept4(s->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		node_client *c;

		if (fd < 0)
			return;
		/* Answers are small and waited for; of a Unix socket there is nothing to set. */
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		c = place(s, now);
		if (c == NULL) {
			turn_away(s, fd);
			continue;
		}
		s->counts.clients++;
		*c = (node_client){.fd = fd,
				   .id = ++s->last_id,
				   .moved_ms = now,
				   .in_max = PCTL_ABCI_FRAME_MAX + PCTL_ABCI_HEAD_MAX};
	}
}

static void drop_clients(pctl_abci_server *s, uint64_t now)
{
	for (uint32_t i = 0; i < s->n_clients;) {
		node_client *c = &s->clients[i];
		uint32_t head, body;
		const int idle =
			node_waiting(&c->in) == 0 && node_waiting(&c->out) == 0 && c->n_held == 0;

		/* Who waits for us is not late. */
		if ((s->work.is_busy || pctl_abci_making_is_busy(s->making)) &&
		    node_waiting(&c->out) == 0 && (c->n_held != 0 || !c->is_partial)) {
			c->moved_ms = now;
			c->reading.since_ms = now;
		}

		/* What one that has closed its end left unfinished is no request. */
		if (c->is_ending && node_waiting(&c->in) != 0 &&
		    pctl_abci_frame(c->in.bytes + c->in.at, node_waiting(&c->in), &head, &body) ==
			    0)
			node_buffer_clear(&c->in);
		if (!c->is_gone && !(c->is_ending && idle) &&
		    !node_client_is_slow(c, now, s->o.stall_ms)) {
			i++;
			continue;
		}
		node_client_close(c);
		s->clients[i] = s->clients[--s->n_clients];
	}
}

static pctl_status wait_for_work(pctl_abci_server *s, int timeout_ms, const pctl_call *call)
{
	s->polled[0] = (struct pollfd){.fd = s->listener.fd, .events = POLLIN};
	for (uint32_t i = 0; i < s->n_clients; i++) {
		const node_client *c = &s->clients[i];
		short events = 0;

		if (!c->is_ending && node_waiting(&c->in) < c->in_max)
			events |= POLLIN;
		if (node_waiting(&c->out) > 0)
			events |= POLLOUT;
		s->polled[1 + i] = (struct pollfd){.fd = c->fd, .events = events};
	}
	s->polled[1 + s->n_clients] =
		(struct pollfd){.fd = node_block_fd(s->block), .events = POLLIN};
	return poll(s->polled, 2 + (nfds_t)s->n_clients, timeout_ms) < 0 && errno != EINTR
		       ? pctl_refuse(call, PC6160_ENGINE_SOCKET, "waiting for the engine: %s",
				     strerror(errno))
		       : PCTL_OK;
}

static void say_farewell(pctl_abci_server *s)
{
	const uint64_t start = pctl_clock_ms();
	uint32_t n_waiting = 1;

	while (n_waiting != 0 && pctl_clock_ms() - start < FAREWELL_MS) {
		n_waiting = 0;
		for (uint32_t i = 0; i < s->n_clients; i++) {
			node_client *c = &s->clients[i];

			node_client_write(c, start);
			if (!c->is_gone && node_waiting(&c->out) != 0)
				s->polled[n_waiting++] =
					(struct pollfd){.fd = c->fd, .events = POLLOUT};
		}
		if (n_waiting != 0)
			poll(s->polled, n_waiting, SLICE_MS);
	}
}

static pctl_status loop(void *ctx, const pctl_call *call)
{
	pctl_abci_server *s = ctx;
	pctl_status status = pctl_abci_look(s->what, call);
	int more = 0;

	while (status == PCTL_OK && !pctl_is_cancelled(call)) {
		uint64_t now, began;

		status = wait_for_work(s, more ? 0 : SLICE_MS, call);
		if (status != PCTL_OK)
			break;
		began = pctl_clock_ms();
		now = began - s->busy_ms;
		more = 0;
		end_work(s, 0, call);
		tend(s, call);
		for (uint32_t i = 0; i < s->n_clients; i++) {
			node_client_read(&s->clients[i], now);
			more |= take_frames(s, &s->clients[i], call);
			node_client_write(&s->clients[i], now);
		}
		/* The time of the round itself is not the engine's. */
		s->busy_ms += pctl_clock_ms() - began;
		drop_clients(s, now);
		accept_clients(s, now);
	}
	end_work(s, 1, call);
	(void)pctl_abci_making_ended(s->making, 1);
	say_farewell(s);
	return status == PCTL_OK ? PCTL_E_CANCELLED : status;
}

pctl_status pctl_abci_server_run(pctl_abci_server *s, const pctl_call *call)
{
	return node_block_beside(s->block, loop, s, call);
}

/* ---- open and close ------------------------------------------------------------------------ */

pctl_status pctl_abci_server_open(const pctl_abci_server_options *o, pctl_abci *what,
				  const pctl_call *call, pctl_abci_server **out)
{
	pctl_abci_server *s = calloc(1, sizeof(*s));
	pctl_status status = PCTL_OK;

	*out = NULL;
	if (s == NULL)
		return pctl_no_memory(call, "a server");
	s->listener.fd = -1;
	s->what = what;
	s->o = *o;
	s->o.clients = o->clients == 0 ? PCTL_ABCI_CLIENTS : o->clients;
	s->o.stall_ms = o->stall_ms == 0 ? PCTL_ABCI_STALL_MS : o->stall_ms;
	s->arena = pctl_arena_create();
	s->clients = calloc(s->o.clients, sizeof(*s->clients));
	s->polled = calloc((size_t)s->o.clients + 2, sizeof(*s->polled));
	s->work.arena = pctl_arena_create();
	if (s->arena == NULL || s->clients == NULL || s->polled == NULL || s->work.arena == NULL)
		status = pctl_no_memory(call, "a server");
	if (status == PCTL_OK)
		status = node_block_open(call, &s->block);
	if (status == PCTL_OK)
		status = pctl_abci_making_open(call, &s->making);
	if (status == PCTL_OK)
		status = pctl_engine_listen(o->address, call, &s->listener);
	if (status == PCTL_OK)
		*out = s;
	else
		pctl_abci_server_close(s);
	return status;
}

const pctl_abci_counts *pctl_abci_server_counts(const pctl_abci_server *s)
{
	return &s->counts;
}

void pctl_abci_server_close(pctl_abci_server *s)
{
	if (s == NULL)
		return;
	for (uint32_t i = 0; i < s->n_clients; i++)
		node_client_close(&s->clients[i]);
	pctl_listener_close(&s->listener);
	node_block_close(s->block);
	pctl_abci_making_close(s->making);
	pctl_arena_destroy(s->work.arena);
	pctl_arena_destroy(s->arena);
	free(s->clients);
	free(s->polled);
	free(s);
}
