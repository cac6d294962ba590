/* A request and its answer, as the HTTP library calls for them: head, body, wait, answer, end. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "foundation/base/clock.h"
#include "model/serve/http.h"

#define BLOCK 4096 /* of a stream, at a time */

/* ---- connections -------------------------------------------------------------------------- */

void serve_on_connection(void *ctx, struct MHD_Connection *mhd, void **connection,
			 enum MHD_ConnectionNotificationCode what)
{
	serve_http *h = ctx;
	serve_connection *c = what == MHD_CONNECTION_NOTIFY_STARTED ? h->adding : *connection;

	if (c == NULL)
		return;
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		*connection = c;
		c->mhd = mhd;
		c->next = h->connections;
		if (c->next != NULL)
			c->next->before = c;
		h->connections = c;
		h->n_connections++;
		h->adding = NULL;
		return;
	}
	*connection = NULL;
	if (c->before == NULL)
		h->connections = c->next;
	else
		c->before->next = c->next;
	if (c->next != NULL)
		c->next->before = c->before;
	h->n_connections--;
	free(c);
}

static serve_connection *connection_of(struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info == NULL ? NULL : info->socket_context;
}

/* ---- waiting ------------------------------------------------------------------------------ */

static void suspend(serve_exchange *e)
{
	e->is_suspended = 1;
	MHD_suspend_connection(e->connection->mhd);
}

void serve_resume(serve_exchange *e)
{
	if (!e->is_suspended)
		return;
	e->is_suspended = 0;
	MHD_resume_connection(e->connection->mhd);
}

/* ---- answers ------------------------------------------------------------------------------ */

static enum MHD_Result queue(serve_exchange *e, struct MHD_Response *response, uint32_t status,
			     const char *type)
{
	enum MHD_Result done;

	if (response == NULL)
		return MHD_NO;
	(void)MHD_add_response_header(response, "Content-Type", type);
	(void)MHD_add_response_header(response, "Cache-Control", "no-store");
	(void)MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	if (status == 429 || status == 503)
		(void)MHD_add_response_header(response, "Retry-After", "1");
	if (status == 405)
		(void)MHD_add_response_header(response, "Allow", serve_route_method(e->path));
	if (e->http->draining)
		(void)MHD_add_response_header(response, "Connection", "close");
	e->status = status;
	e->is_answered = 1;
	done = MHD_queue_response(e->connection->mhd, status, response);
	MHD_destroy_response(response);
	return done;
}

/* Takes the text over. */
static enum MHD_Result send_text(serve_exchange *e, uint32_t status, char *text)
{
	if (text == NULL)
		return MHD_NO;
	return queue(e, MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE),
		     status, "application/json");
}

static enum MHD_Result send_refusal(serve_exchange *e, const serve_refusal *refusal)
{
	e->code = refusal->code;
	e->http->refused++;
	return send_text(e, serve_refusal_http(refusal->code), serve_refusal_document(refusal));
}

static enum MHD_Result send_document(serve_exchange *e)
{
	char *text = e->document;

	e->document = NULL;
	return send_text(e, e->http->draining && e->path[1] == 'h' ? 503 : 200, text);
}

static ssize_t read_stream(void *ctx, uint64_t at, char *to, size_t n)
{
	serve_exchange *e = ctx;
	long got;

	(void)at;
	if (e->is_gone)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	got = serve_share_read(e->http->share, e->request, to, n);
	if (got > 0)
		return got;
	if (got < 0)
		return got == -1 ? MHD_CONTENT_READER_END_OF_STREAM
				 : MHD_CONTENT_READER_END_WITH_ERROR;
	suspend(e);
	return 0;
}

/* The request has something: the head of a stream, or all. */
static enum MHD_Result answer(serve_exchange *e)
{
	serve_request *r = e->request;

	if (e->is_gone)
		return MHD_NO;
	if (!serve_share_is_readable(e->http->share, r)) {
		suspend(e);
		return MHD_YES;
	}
	/* From here on r->params is nobody's but to be read. */
	if (r->params.stream)
		return queue(e,
			     MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream,
							       e, NULL),
			     200, "text/event-stream; charset=utf-8");
	if (r->refusal.code != 0)
		return send_refusal(e, &r->refusal);
	return send_text(e, 200, serve_answer(r, e->http->engine));
}

/* ---- requests ----------------------------------------------------------------------------- */

static enum MHD_Result begin(serve_http *h, struct MHD_Connection *mhd, const char *url,
			     const char *method, void **out)
{
	serve_exchange *e = calloc(1, sizeof(*e));

	if (e == NULL || (e->connection = connection_of(mhd)) == NULL) {
		free(e);
		return MHD_NO;
	}
	*out = e;
	e->http = h;
	e->connection->exchange = e;
	e->begun_ms = pctl_clock_ms();
	if (!serve_route(e, mhd, url, method))
		return serve_route_is_bounded(e, mhd) ? MHD_YES : send_refusal(e, &e->refusal);
	if (e->document != NULL)
		return MHD_YES;
	e->is_counted = 1;
	h->n_requests++;
	h->bodies_bytes += e->announced;
	return MHD_YES;
}

/* Memory grows with what arrives, not with what is announced. */
static enum MHD_Result receive(serve_exchange *e, const char *bytes, size_t n)
{
	const size_t room = e->room == 0 ? 1024 : e->room * 2;

	if (n > e->announced - e->n_body)
		return MHD_NO;
	if (n > e->room - e->n_body) {
		const size_t more = room > e->n_body + n ? room : e->n_body + n;
		char *grown = realloc(e->body, more < e->announced ? more : e->announced);

		if (grown == NULL)
			return MHD_NO;
		e->body = grown;
		e->room = more < e->announced ? more : e->announced;
	}
	memcpy(e->body + e->n_body, bytes, n);
	e->n_body += n;
	return MHD_YES;
}

/* The body is whole. */
static enum MHD_Result submit(serve_exchange *e)
{
	const serve_refusal none = {.code = PC2_NOMEM, .message = "no memory for the request"};
	serve_request *r = serve_request_create(e->call);

	if (r == NULL)
		return send_refusal(e, &none);
	r->number = ++e->http->n_requests_ever;
	r->peer = e->connection->peer;
	r->arrived_ms = pctl_clock_ms();
	r->created_s = (uint64_t)time(NULL);
	r->body = e->body;
	r->n_body = e->n_body;
	e->body = NULL;
	e->request = r;
	r->exchange = e;
	serve_share_submit(e->http->share, r);
	suspend(e);
	return MHD_YES;
}

enum MHD_Result serve_on_request(void *ctx, struct MHD_Connection *mhd, const char *url,
				 const char *method, const char *version, const char *upload,
				 size_t *n_upload, void **exchange)
{
	serve_exchange *e = *exchange;
	const size_t n = *n_upload;

	(void)version;
	if (e == NULL)
		return begin(ctx, mhd, url, method, exchange);
	if (n != 0) {
		*n_upload = 0;
		return e->is_counted ? receive(e, upload, n) : MHD_YES;
	}
	if (e->is_answered)
		return MHD_YES;
	if (e->refusal.code != 0)
		return send_refusal(e, &e->refusal);
	if (e->document != NULL)
		return send_document(e);
	return e->request == NULL ? submit(e) : answer(e);
}

void serve_on_completed(void *ctx, struct MHD_Connection *mhd, void **exchange,
			enum MHD_RequestTerminationCode why)
{
	serve_exchange *e = *exchange;
	serve_http *h = ctx;
	serve_summary summary = {.code = 0};

	(void)mhd;
	(void)why;
	*exchange = NULL;
	if (e == NULL)
		return;
	if (e->request != NULL)
		serve_share_leave(h->share, e->request, &summary);
	serve_log_request(h, e, e->request == NULL ? NULL : &summary);
	if (e->is_counted) {
		h->n_requests--;
		h->bodies_bytes -= e->announced;
	}
	e->connection->exchange = NULL;
	e->connection->since_ms = pctl_clock_ms();
	free(e->body);
	free(e->document);
	free(e);
}
