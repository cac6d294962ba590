/* A server from beginning to end: its loop, and how it stops. */
#include "model/serve/serve.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "foundation/base/clock.h"
#include "model/serve/http.h"

#define SLICE_MS 50u	 /* how often a wait asks whether to stop */
#define FAREWELL_MS 500u /* for the last words to go out */

/* ---- limits ------------------------------------------------------------------------------- */

static const pctl_serve_limit_row rows[] = {
#define PCTL_SERVE_LIMIT(field, option, usual, least, most, about) \
	{option, about, offsetof(pctl_serve_limits, field), usual, least, most},
#include "model/serve/limits.def"
#undef PCTL_SERVE_LIMIT
};

const pctl_serve_limit_row *pctl_serve_limit_rows(uint32_t *n_out)
{
	*n_out = sizeof(rows) / sizeof(rows[0]);
	return rows;
}

void pctl_serve_limits_init(pctl_serve_limits *out)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		memcpy((char *)out + rows[i].field, &rows[i].usual, sizeof(uint32_t));
}

static pctl_status check_limits(const pctl_serve_limits *l, const pctl_call *call)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t v;

		memcpy(&v, (const char *)l + rows[i].field, sizeof(v));
		if (v < rows[i].least || v > rows[i].most)
			return pctl_refuse(call, PC10_USAGE, "%s takes %u to %u, not %u",
					   rows[i].option, rows[i].least, rows[i].most, v);
	}
	return PCTL_OK;
}

/* ---- the library -------------------------------------------------------------------------- */

/* Paths are compared as they are sent. */
static size_t as_it_is(void *ctx, struct MHD_Connection *mhd, char *text)
{
	(void)ctx;
	(void)mhd;
	return strlen(text);
}

static void on_words(void *ctx, const char *fmt, va_list args)
{
	serve_http *h = ctx;
	char text[256];

	vsnprintf(text, sizeof(text), fmt, args);
	text[strcspn(text, "\n")] = '\0';
	pctl_log_write(h->options->log, PCTL_LOG_DEBUG, "http", text, NULL, 0);
}

static pctl_status begin(serve_http *h)
{
	const pctl_serve_limits *l = &h->options->limits;
	/* Of a Unix socket it would say each time that it has no options of TCP. */
	const unsigned int words = h->options->socket == NULL ? MHD_USE_ERROR_LOG : 0u;

	h->polled = calloc(l->connections + 5u, sizeof(*h->polled));
	h->of_poll = calloc(l->connections + 5u, sizeof(serve_connection *));
	if (h->polled == NULL || h->of_poll == NULL)
		return pctl_no_memory(h->call, "connections");
	h->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET | words, 0,
		NULL, NULL, serve_on_request, h, MHD_OPTION_EXTERNAL_LOGGER, on_words, h,
		MHD_OPTION_NOTIFY_COMPLETED, serve_on_completed, h, MHD_OPTION_NOTIFY_CONNECTION,
		serve_on_connection, h, MHD_OPTION_UNESCAPE_CALLBACK, as_it_is, NULL,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)l->header_bytes,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)l->connections,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)l->idle_s,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
	return h->daemon == NULL
		       ? pctl_refuse(h->call, PC6253_SERVE_SYSTEM, "the HTTP library cannot begin")
		       : PCTL_OK;
}

/* ---- a turn of the loop ------------------------------------------------------------------- */

/* 1: a request of this connection has come whole. */
static int is_received(const serve_connection *c)
{
	return c->exchange != NULL && (c->exchange->request != NULL || c->exchange->is_answered);
}

/* A connection that waits for its answer is not looked at by the library, and one whose request is not whole it keeps for a while when
 * its client is gone: we see to both. A client that only closes its half is taken for one that is gone, too. */
static uint32_t gather(serve_http *h)
{
	uint32_t n = 0;

	h->polled[n++] = (struct pollfd){
		.fd = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
		.events = POLLIN};
	h->polled[n++] = (struct pollfd){.fd = h->share->event_fd, .events = POLLIN};
	h->polled[n++] = (struct pollfd){.fd = h->listener.fd, .events = POLLIN};
	for (uint32_t i = 0; i < 2; i++)
		h->polled[n++] =
			(struct pollfd){.fd = i < h->n_ports ? h->ports[i] : -1, .events = POLLIN};
	for (serve_connection *c = h->connections; c != NULL; c = c->next) {
		if (c->is_shut || (is_received(c) && !c->exchange->is_suspended))
			continue;
		h->of_poll[n] = c;
		h->polled[n++] = (struct pollfd){.fd = c->fd, .events = POLLRDHUP};
	}
	return n;
}

/* Nobody is at the other end. What he sent and is not read yet is still served. */
static void leave(serve_connection *c)
{
	int unread = 0;

	if (is_received(c)) {
		c->exchange->is_gone = 1;
		serve_resume(c->exchange);
	} else if (ioctl(c->fd, FIONREAD, &unread) != 0 || unread == 0) {
		c->is_shut = 1;
		(void)shutdown(c->fd, SHUT_RDWR);
	}
}

/* A request must have come, and an answer gone, in time: what a client sends bit by bit keeps no connection alive. */
static void sweep(serve_http *h, uint64_t now_ms)
{
	const pctl_serve_limits *l = &h->options->limits;

	if (now_ms - h->swept_ms < SLICE_MS)
		return;
	h->swept_ms = now_ms;
	for (serve_connection *c = h->connections; c != NULL; c = c->next) {
		const int whole = is_received(c);
		const uint64_t allowed = whole ? l->total_s + (uint64_t)l->stall_s : l->receive_s;
		const uint64_t since = whole ? c->exchange->begun_ms : c->since_ms;

		if (now_ms - since < 1000 * allowed || c->is_shut)
			continue;
		/* The library sees its end, and closes it. One that waits is told by us. */
		c->is_shut = 1;
		(void)shutdown(c->fd, SHUT_RDWR);
		if (whole) {
			c->exchange->is_gone = 1;
			serve_resume(c->exchange);
		}
	}
}

static pctl_status turn(serve_http *h)
{
	const uint32_t n = gather(h);
	MHD_UNSIGNED_LONG_LONG soon = SLICE_MS;
	serve_request *next;

	if (MHD_get_timeout(h->daemon, &soon) != MHD_YES || soon > SLICE_MS)
		soon = SLICE_MS;
	if (poll(h->polled, n, (int)soon) < 0 && errno != EINTR)
		return pctl_refuse(h->call, PC6253_SERVE_SYSTEM, "waiting for clients: %s",
				   strerror(errno));
	for (uint32_t i = 5; i < n; i++) {
		if (h->polled[i].revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL))
			leave(h->of_poll[i]);
	}
	if (h->polled[1].revents != 0) {
		for (serve_request *r = serve_share_woken(h->share); r != NULL; r = next) {
			next = r->next_ready;
			serve_resume(r->exchange);
		}
	}
	for (uint32_t i = 2; i < 5; i++)
		if (h->polled[i].revents != 0)
			serve_accept(h, h->polled[i].fd);
	sweep(h, pctl_clock_ms());
	serve_log_metrics(h, pctl_clock_ms(), 0);
	return MHD_run(h->daemon) == MHD_YES
		       ? PCTL_OK
		       : pctl_refuse(h->call, PC6253_SERVE_SYSTEM, "the HTTP library failed");
}

/* ---- until it stops ----------------------------------------------------------------------- */

static uint32_t is_stopping(const serve_http *h)
{
	if (h->options->stopping != NULL)
		return h->options->stopping(h->options->ctx);
	return pctl_is_cancelled(h->call);
}

/* PCTL_OK when all was answered, PCTL_E_CANCELLED when something is left. */
static pctl_status drain(serve_http *h)
{
	const uint64_t until = pctl_clock_ms() + 1000ull * h->options->limits.drain_s;
	pctl_status status = PCTL_OK;

	h->draining = 1;
	serve_unlisten(h);
	while (status == PCTL_OK && h->n_requests != 0 && is_stopping(h) < 2 &&
	       pctl_clock_ms() < until)
		status = turn(h);
	return status == PCTL_OK && h->n_requests != 0 ? PCTL_E_CANCELLED : status;
}

static pctl_status serve(serve_http *h)
{
	pctl_status status = PCTL_OK;
	uint64_t until;

	h->told_ms = pctl_clock_ms();
	while (status == PCTL_OK && !is_stopping(h))
		status = turn(h);
	if (status == PCTL_OK)
		status = drain(h);
	/* Who is cut off is told so, as far as that goes out at once. */
	serve_share_stop(h->share);
	until = pctl_clock_ms() + FAREWELL_MS;
	while (h->n_requests != 0 && pctl_clock_ms() < until && turn(h) == PCTL_OK)
		;
	serve_log_metrics(h, pctl_clock_ms(), 1);
	return status;
}

static void tell_where(const serve_http *h)
{
	char text[64];

	snprintf(text, sizeof(text), "%s:%u",
		 h->options->address != NULL && h->options->address[0] == ':' ? "[::1]"
									      : "127.0.0.1",
		 h->port);
	pctl_log_write(h->options->log, PCTL_LOG_INFO, "serve", "listens",
		       (const pctl_log_field[]){
			       {"at", h->options->socket != NULL ? h->options->socket : text},
			       {"model", h->engine->model_name}},
		       2);
	if (h->options->listening != NULL)
		h->options->listening(h->options->ctx,
				      h->options->socket != NULL ? h->options->socket : text);
}

pctl_status pctl_server_open(const pctl_serve_options *options, const pctl_call *call,
			     pctl_server **out)
{
	serve_http *h = NULL;
	pctl_status status = check_limits(&options->limits, call);

	*out = NULL;
	if (status == PCTL_OK && (h = calloc(1, sizeof(*h))) == NULL)
		status = pctl_no_memory(call, "a server");
	if (status != PCTL_OK)
		return status;
	*h = (serve_http){.options = options, .call = call, .listener = {.fd = -1}};
	status = serve_listen(h);
	if (status == PCTL_OK)
		status = begin(h);
	if (status != PCTL_OK) {
		pctl_server_close(h);
		return status;
	}
	*out = h;
	return PCTL_OK;
}

pctl_status pctl_server_run(pctl_server *h, const pctl_engine *engine)
{
	serve_share share;
	pctl_status status = serve_share_open(&share, engine, h->options, h->call);

	if (status != PCTL_OK)
		return status;
	h->share = &share;
	h->engine = engine;
	tell_where(h);
	status = serve(h);
	/* The library wants nobody to wait when it ends. */
	for (serve_connection *c = h->connections; c != NULL; c = c->next)
		if (c->exchange != NULL)
			serve_resume(c->exchange);
	MHD_stop_daemon(h->daemon);
	h->daemon = NULL;
	serve_share_close(&share);
	return status;
}

void pctl_server_close(pctl_server *h)
{
	if (h == NULL)
		return;
	if (h->daemon != NULL)
		MHD_stop_daemon(h->daemon);
	serve_unlisten(h);
	free(h->polled);
	free(h->of_poll);
	free(h);
}
