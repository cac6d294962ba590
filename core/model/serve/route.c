/* Which call a request is, from its line and headers alone: what is refused here is refused before a body is read. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "foundation/base/num.h"
#include "model/serve/http.h"

typedef struct route {
	const char *path, *method;
	uint32_t call;
} route;

static const route routes[] = {
	{"/v1/completions", "POST", SERVE_COMPLETIONS},
	{"/v1/chat/completions", "POST", SERVE_CHAT},
	{"/v1/embeddings", "POST", SERVE_EMBEDDINGS},
	{"/v1/models", "GET", 0},
	{"/health", "GET", 0},
};

static const route *find(const char *url)
{
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
		if (strcmp(routes[i].path, url) == 0)
			return &routes[i];
	return NULL;
}

const char *serve_route_method(const char *url)
{
	const route *r = find(url);

	return r == NULL ? NULL : r->method;
}

/* ---- documents ---------------------------------------------------------------------------- */

/* parent: of an adapter the model that it is added to; NULL: it is that one. */
static void model(pctl_json *j, const pctl_engine *e, const char *name, const char *cid,
		  const char *parent)
{
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "id", name);
	pctl_json_kv_string(j, "object", "model");
	pctl_json_kv_u32(j, "created", 0);
	pctl_json_kv_string(j, "owned_by", "pipectl");
	pctl_json_kv_string(j, "cid", cid);
	if (parent != NULL)
		pctl_json_kv_string(j, "parent", parent);
	pctl_json_kv_u32(j, "context", e->context);
	pctl_json_object_end(j);
}

static char *models(const pctl_engine *e)
{
	pctl_json j;

	pctl_json_init(&j, 0);
	pctl_json_object_begin(&j);
	pctl_json_kv_string(&j, "object", "list");
	pctl_json_key(&j, "data");
	pctl_json_array_begin(&j);
	model(&j, e, e->model_name, e->model_cid, NULL);
	for (uint32_t i = 0; i < e->n_adapters; i++)
		model(&j, e, e->adapters[i].name, e->adapters[i].cid, e->model_name);
	pctl_json_array_end(&j);
	pctl_json_object_end(&j);
	return pctl_json_finish(&j);
}

static char *health(serve_http *h)
{
	serve_counts counts;
	pctl_json j;

	serve_share_counts(h->share, &counts);
	pctl_json_init(&j, 0);
	pctl_json_object_begin(&j);
	pctl_json_kv_string(&j, "status", h->draining ? "stopping" : "ok");
	pctl_json_kv_u32(&j, "requests", h->n_requests);
	pctl_json_kv_u32(&j, "waiting", counts.waiting);
	pctl_json_kv_u32(&j, "active", counts.active);
	pctl_json_object_end(&j);
	return pctl_json_finish(&j);
}

/* ---- headers ------------------------------------------------------------------------------ */

struct counted {
	const char *name;
	uint32_t n;
};

static enum MHD_Result count(void *ctx, enum MHD_ValueKind kind, const char *name,
			     const char *value)
{
	struct counted *c = ctx;

	(void)kind;
	(void)value;
	c->n += strcasecmp(name, c->name) == 0;
	return MHD_YES;
}

static const char *header(struct MHD_Connection *mhd, const char *name)
{
	return MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, name);
}

/* 1: it is told once at most. Who is told two things takes one of them, and a proxy before us perhaps the other. */
static int is_single(struct MHD_Connection *mhd, const char *name)
{
	struct counted c = {name, 0};

	(void)MHD_get_connection_values(mhd, MHD_HEADER_KIND, count, &c);
	return c.n <= 1;
}

/* localhost, 127.0.0.1 or [::1], with or without a port. */
static int is_local(const char *host)
{
	static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};

	for (size_t i = 0; host != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
		const size_t n = strlen(names[i]);

		if (strncasecmp(host, names[i], n) == 0 &&
		    (host[n] == '\0' || (host[n] == ':' && strspn(host + n + 1, "0123456789") ==
								   strlen(host + n + 1))))
			return 1;
	}
	return 0;
}

/* application/json, and no charset but UTF-8. */
static int is_json(const char *type)
{
	static const char name[] = "application/json", charset[] = "charset=";

	if (type == NULL || strncasecmp(type, name, sizeof(name) - 1) != 0)
		return 0;
	type += sizeof(name) - 1;
	type += strspn(type, " \t");
	if (*type == '\0')
		return 1;
	if (*type++ != ';')
		return 0;
	type += strspn(type, " \t");
	if (strncasecmp(type, charset, sizeof(charset) - 1) != 0)
		return 0;
	type += sizeof(charset) - 1;
	return strcasecmp(type, "utf-8") == 0 || strcasecmp(type, "\"utf-8\"") == 0;
}

/* 1 and *out: the length of the body is told, and told so that nothing else can be meant. */
static int read_length(struct MHD_Connection *mhd, uint64_t *out)
{
	const char *length = header(mhd, "Content-Length");

	return length != NULL && header(mhd, "Transfer-Encoding") == NULL &&
	       is_single(mhd, "Content-Length") && strspn(length, "0123456789") == strlen(length) &&
	       pctl_num_parse_u64(length, strlen(length), out);
}

int serve_route_is_bounded(const serve_exchange *e, struct MHD_Connection *mhd)
{
	uint64_t n;

	if (header(mhd, "Content-Length") == NULL && header(mhd, "Transfer-Encoding") == NULL)
		return 1;
	return read_length(mhd, &n) && n <= e->http->options->limits.body_bytes;
}

static int check_body(serve_exchange *e, struct MHD_Connection *mhd, serve_refusal *refusal)
{
	const pctl_serve_limits *l = &e->http->options->limits;
	uint64_t n;

	if (!is_json(header(mhd, "Content-Type")))
		return serve_refuse(refusal, PC6256_SERVE_MEDIA, NULL,
				    "Content-Type must be application/json");
	if (!read_length(mhd, &n))
		return serve_refuse(refusal, PC6258_SERVE_LENGTH, NULL,
				    "one Content-Length must tell the length of the body");
	if (n > l->body_bytes)
		return serve_refuse(refusal, PC6257_SERVE_BODY, NULL,
				    "the body has %" PRIu64 " bytes, at most %u", n, l->body_bytes);
	if (n > l->bodies_bytes - e->http->bodies_bytes)
		return serve_refuse(refusal, PC6268_SERVE_BUSY, NULL,
				    "bodies that are under way have more than %u bytes",
				    l->bodies_bytes);
	e->announced = (size_t)n;
	return 1;
}

static int check_turn(serve_exchange *e, serve_refusal *refusal)
{
	const pctl_serve_limits *l = &e->http->options->limits;
	uint32_t n = 0;

	for (const serve_connection *c = e->http->connections; c != NULL; c = c->next)
		n += c->peer == e->connection->peer && c->exchange != NULL &&
		     c->exchange->is_counted;
	if (e->http->draining)
		return serve_refuse(refusal, PC6270_SERVE_STOPPING, NULL,
				    "the server is being stopped");
	if (e->http->n_requests >= l->requests)
		return serve_refuse(refusal, PC6268_SERVE_BUSY, NULL,
				    "%u requests wait or run, which is all it takes",
				    e->http->n_requests);
	if (n >= l->peer_requests)
		return serve_refuse(refusal, PC6269_SERVE_PEER, NULL,
				    "%u requests of this client wait or run, which is all it may",
				    n);
	return 1;
}

int serve_route(serve_exchange *e, struct MHD_Connection *mhd, const char *url, const char *method)
{
	serve_refusal *refusal = &e->refusal;
	const route *r = find(url);

	if (e->http->options->socket == NULL &&
	    (!is_local(header(mhd, "Host")) || !is_single(mhd, "Host")))
		return serve_refuse(refusal, PC6259_SERVE_HOST, NULL,
				    "one Host must be localhost, 127.0.0.1 or [::1]");
	if (r == NULL || MHD_get_connection_values(mhd, MHD_GET_ARGUMENT_KIND, NULL, NULL) > 0)
		return serve_refuse(refusal, PC6254_SERVE_PATH, NULL,
				    "there is nothing at %.100s%s", url,
				    r == NULL ? "" : " with a query");
	e->path = r->path;
	if (strcmp(r->method, method) != 0)
		return serve_refuse(refusal, PC6255_SERVE_METHOD, NULL, "%s takes %s, not %.20s",
				    r->path, r->method, method);
	if (r->call == 0) {
		/* Nobody reads what comes with it: as much as a body may have is passed over. */
		if (!serve_route_is_bounded(e, mhd))
			return serve_refuse(refusal, PC6258_SERVE_LENGTH, NULL,
					    "%s takes no body, and none without a length or of "
					    "more than %u bytes is passed over",
					    r->path, e->http->options->limits.body_bytes);
		e->document = r->path[1] == 'v' ? models(e->http->engine) : health(e->http);
		return e->document != NULL ||
		       serve_refuse(refusal, PC2_NOMEM, NULL, "no memory for the answer");
	}
	e->call = r->call;
	return check_body(e, mhd, refusal) && check_turn(e, refusal);
}
