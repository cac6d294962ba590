/* The thread of HTTP: sockets, connections, requests in and answers out, by libmicrohttpd driven from one loop of ours. It waits for
 * all clients at once and for none alone; what it does for one is bounded. */
#ifndef PIPECTL_MODEL_SERVE_HTTP_H
#define PIPECTL_MODEL_SERVE_HTTP_H

#include <microhttpd.h>
#include <poll.h>

#include "model/serve/share.h"
#include "runtime/ipc/listener.h"

typedef struct serve_http serve_http;
typedef struct serve_exchange serve_exchange;

/*
 * One connection.
 *
 * peer      whose turn it takes: the process at the other end of a Unix socket, the connection itself on a port
 * group     whose connections are counted together: that process, or the address
 * since_ms  when it was accepted or its last answer ended: a request must have come a while after
 * exchange  the request that is under way on it; NULL: none
 */
typedef struct serve_connection {
	struct serve_connection *next, *before;
	struct MHD_Connection *mhd;
	serve_exchange *exchange;
	uint64_t peer, group, since_ms;
	int fd;
	uint32_t is_shut;
} serve_connection;

/*
 * A request and its answer on a connection.
 *
 * request   NULL until the body is whole, and where none is needed
 * refusal, document  what is sent once the request has come whole: before that the library would have to close the connection
 */
struct serve_exchange {
	serve_http *http;
	serve_connection *connection;
	serve_request *request;
	uint64_t begun_ms;
	uint32_t call, status, code, is_counted, is_suspended, is_gone, is_answered;
	char *body, *document;
	size_t n_body, room, announced;
	const char *path;
	serve_refusal refusal;
};

struct serve_http {
	serve_share *share;
	const pctl_engine *engine;
	const pctl_serve_options *options;
	const pctl_call *call;
	struct MHD_Daemon *daemon;
	pctl_listener listener;
	int ports[2];
	uint32_t n_ports, port;
	serve_connection *connections, *adding;
	struct pollfd *polled;
	serve_connection **of_poll;
	uint64_t n_accepted, n_requests_ever, bodies_bytes, swept_ms, told_ms, failures_seen;
	uint64_t turned_away, refused;
	serve_counts told;
	uint32_t n_connections, n_requests, draining, reserved;
};

/* ---- listen.c ---- */
pctl_status serve_listen(serve_http *h);
void serve_unlisten(serve_http *h);
/* Take what connects to a listening socket; connections over a limit are turned away. */
void serve_accept(serve_http *h, int from);

/* ---- exchange.c: what the library calls ---- */
enum MHD_Result serve_on_request(void *ctx, struct MHD_Connection *mhd, const char *url,
				 const char *method, const char *version, const char *upload,
				 size_t *n_upload, void **exchange);
void serve_on_completed(void *ctx, struct MHD_Connection *mhd, void **exchange,
			enum MHD_RequestTerminationCode why);
void serve_on_connection(void *ctx, struct MHD_Connection *mhd, void **connection,
			 enum MHD_ConnectionNotificationCode what);
/* A connection that waits goes on. */
void serve_resume(serve_exchange *e);

/* ---- route.c ---- */
/* What is asked for: e->refusal (0), e->document, or a call, whose body is to be received. */
int serve_route(serve_exchange *e, struct MHD_Connection *mhd, const char *url, const char *method);
/* 1: no more bytes than a body may have will come for this request. */
int serve_route_is_bounded(const serve_exchange *e, struct MHD_Connection *mhd);
/* The value of Allow for a path; NULL: there is no such path. */
const char *serve_route_method(const char *url);

/* ---- metrics.c: lines of the log ---- */
/* s: of its request; NULL: there was none. */
void serve_log_request(serve_http *h, const serve_exchange *e, const serve_summary *s);
/* When its time has come, or it is the last. */
void serve_log_metrics(serve_http *h, uint64_t now_ms, int is_last);

#endif
