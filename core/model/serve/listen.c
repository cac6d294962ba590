/* Where the server listens, loopback or a file, and who may connect how often. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "foundation/base/clock.h"
#include "model/serve/http.h"

#define BACKLOG 512
#define ACCEPTS_MAX 64 /* in one turn of the loop, so that others get theirs */

typedef union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
	struct sockaddr_storage room;
} address;

/* ---- ports -------------------------------------------------------------------------------- */

static socklen_t loopback(int family, uint32_t port, address *out)
{
	memset(out, 0, sizeof(*out));
	if (family == AF_INET) {
		out->v4.sin_family = AF_INET;
		out->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		out->v4.sin_port = htons((uint16_t)port);
		return sizeof(out->v4);
	}
	out->v6.sin6_family = AF_INET6;
	out->v6.sin6_addr = in6addr_loopback;
	out->v6.sin6_port = htons((uint16_t)port);
	return sizeof(out->v6);
}

/* One family: PCTL_OK with nothing opened where the machine has none of it. */
static pctl_status open_port(serve_http *h, int family)
{
	const int yes = 1;
	address where;
	socklen_t n = loopback(family, h->port, &where);
	const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error;

	if (fd < 0 && errno == EAFNOSUPPORT)
		return PCTL_OK;
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
	    (family == AF_INET ||
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes)) == 0) &&
	    bind(fd, &where.any, n) == 0 && listen(fd, BACKLOG) == 0 &&
	    getsockname(fd, &where.any, &n) == 0) {
		h->port = ntohs(family == AF_INET ? where.v4.sin_port : where.v6.sin6_port);
		h->ports[h->n_ports++] = fd;
		return PCTL_OK;
	}
	error = errno;
	if (fd >= 0)
		close(fd);
	if (error == EADDRNOTAVAIL && family == AF_INET6)
		return PCTL_OK;
	return pctl_refuse(h->call, error == EADDRINUSE ? PC6252_SERVE_TAKEN : PC6251_SERVE_SOCKET,
			   "port %u of %s: %s", h->port, family == AF_INET ? "127.0.0.1" : "::1",
			   strerror(error));
}

static pctl_status open_ports(serve_http *h)
{
	const char *at = h->options->address;
	pctl_status status = PCTL_OK;

	if (at != NULL && strcmp(at, "127.0.0.1") != 0 && strcmp(at, "::1") != 0)
		return pctl_refuse(h->call, PC6250_SERVE_ADDRESS,
				   "\"%s\": a model is served on 127.0.0.1 and ::1 alone", at);
	if (h->options->port > 65535)
		return pctl_refuse(h->call, PC6250_SERVE_ADDRESS, "a port is 1 to 65535, not %u",
				   h->options->port);
	h->port = h->options->port;
	if (at == NULL || at[0] == '1')
		status = open_port(h, AF_INET);
	if (status == PCTL_OK && (at == NULL || at[0] == ':'))
		status = open_port(h, AF_INET6);
	if (status == PCTL_OK && h->n_ports == 0)
		status = pctl_refuse(h->call, PC6251_SERVE_SOCKET, "the machine has no loopback");
	return status;
}

/* Each connection is an open file. */
static pctl_status check_files(serve_http *h)
{
	const uint64_t wanted = (uint64_t)h->options->limits.connections + 64u;
	struct rlimit has;

	if (getrlimit(RLIMIT_NOFILE, &has) == 0 && has.rlim_cur < wanted)
		return pctl_refuse(h->call, PC10_USAGE,
				   "%u connections take %llu open files, and the process may have "
				   "%llu (ulimit -n)",
				   h->options->limits.connections, (unsigned long long)wanted,
				   (unsigned long long)has.rlim_cur);
	return PCTL_OK;
}

pctl_status serve_listen(serve_http *h)
{
	static const pctl_listener_who who = {"server", PC6251_SERVE_SOCKET, PC6252_SERVE_TAKEN};
	pctl_status status = check_files(h);

	if (status != PCTL_OK)
		return status;
	if (h->options->socket != NULL)
		return pctl_listener_open(h->options->socket, &who, h->call, &h->listener);
	return open_ports(h);
}

void serve_unlisten(serve_http *h)
{
	pctl_listener_close(&h->listener);
	for (uint32_t i = 0; i < h->n_ports; i++)
		close(h->ports[i]);
	h->n_ports = 0;
}

/* ---- connections -------------------------------------------------------------------------- */

/* Who is at the other end; see serve_connection. */
static void name_peer(serve_http *h, serve_connection *c, const address *from)
{
	struct ucred who = {.pid = 0};
	socklen_t n = sizeof(who);

	if (from->any.sa_family == AF_INET) {
		c->group = UINT64_C(1) << 63 | ntohl(from->v4.sin_addr.s_addr);
	} else if (from->any.sa_family == AF_INET6) {
		c->group = UINT64_C(3) << 62;
	} else {
		(void)getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &who, &n);
		c->group = (uint32_t)who.pid;
		c->peer = c->group;
		return;
	}
	c->peer = UINT64_C(1) << 63 | h->n_accepted;
}

static int has_room(const serve_http *h, const serve_connection *c)
{
	const pctl_serve_limits *l = &h->options->limits;
	uint32_t n = 0;

	for (const serve_connection *o = h->connections; o != NULL; o = o->next)
		n += o->group == c->group;
	return h->n_connections < l->connections && n < l->peer_connections;
}

/* A few words, if they go out at once. */
static void turn_away(serve_http *h, int fd)
{
	static const serve_refusal full = {
		.code = PC6274_SERVE_FULL,
		.message = "there are as many connections as the server takes"};
	char *body = serve_refusal_document(&full), *text = NULL;
	int n = -1;

	if (body != NULL)
		n = asprintf(&text,
			     "HTTP/1.1 503 Service Unavailable\r\nContent-Type: "
			     "application/json\r\nRetry-After: 1\r\nConnection: "
			     "close\r\nContent-Length: %zu\r\n\r\n%s",
			     strlen(body), body);
	if (n > 0 && send(fd, text, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL) == n)
		(void)shutdown(fd, SHUT_WR);
	if (n >= 0)
		free(text);
	free(body);
	close(fd);
	h->turned_away++;
}

static void add(serve_http *h, serve_connection *c, const address *from, socklen_t n)
{
	enum MHD_Result taken;

	h->adding = c;
	taken = MHD_add_connection(h->daemon, c->fd, &from->any, n);
	/* Still there: the library did not begin it, and has closed it. */
	if (h->adding != NULL && taken != MHD_YES)
		free(c);
	h->adding = NULL;
}

void serve_accept(serve_http *h, int from)
{
	for (uint32_t i = 0; i < ACCEPTS_MAX; i++) {
		serve_connection *c;
		address peer;
		socklen_t n = sizeof(peer);
		const int fd = accept4(from, &peer.any, &n, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return; /* nobody, or no file is left: the next turn asks again */
		h->n_accepted++;
		c = calloc(1, sizeof(*c));
		if (c == NULL) {
			close(fd);
			continue;
		}
		c->fd = fd;
		c->since_ms = pctl_clock_ms();
		name_peer(h, c, &peer);
		if (!has_room(h, c)) {
			free(c);
			turn_away(h, fd);
			continue;
		}
		add(h, c, &peer, n);
	}
}
