/* Listening for an engine; see listen.h. */
#include "chain/engine/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "foundation/base/num.h"

#define BACKLOG 16

static const pctl_listener_who who = {"node", PC6160_ENGINE_SOCKET, PC6111_NODE_TAKEN};

typedef union place {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
} place;

static pctl_status no_address(const char *address, const char *why, const pctl_call *call)
{
	return pctl_refuse(call, PC6161_ENGINE_ADDRESS, "\"%s\": %s", address, why);
}

/* A host of the loopback, written as a number, and a port. */
static pctl_status parse(const char *address, const char *text, const pctl_call *call, place *out,
			 socklen_t *n_out)
{
	const char *colon = strrchr(text, ':');
	char host[64];
	uint64_t port = 0;
	size_t n = colon == NULL ? 0 : (size_t)(colon - text);
	int is_six;

	if (colon == NULL || n == 0 || n >= sizeof(host) ||
	    !pctl_num_parse_u64(colon + 1, strlen(colon + 1), &port) || port == 0 || port > 65535)
		return no_address(address, "after tcp: come a host, a colon and a port", call);
	memcpy(host, text, n);
	host[n] = '\0';
	is_six = host[0] == '[' && host[n - 1] == ']';
	if (is_six) {
		host[n - 1] = '\0';
		memmove(host, host + 1, n - 1);
	}
	memset(out, 0, sizeof(*out));
	if (is_six && inet_pton(AF_INET6, host, &out->six.sin6_addr) == 1 &&
	    IN6_IS_ADDR_LOOPBACK(&out->six.sin6_addr)) {
		out->six.sin6_family = AF_INET6;
		out->six.sin6_port = htons((uint16_t)port);
		*n_out = sizeof(out->six);
		return PCTL_OK;
	}
	if (!is_six &&
	    inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host,
		      &out->four.sin_addr) == 1 &&
	    ntohl(out->four.sin_addr.s_addr) >> 24 == 127) {
		out->four.sin_family = AF_INET;
		out->four.sin_port = htons((uint16_t)port);
		*n_out = sizeof(out->four);
		return PCTL_OK;
	}
	return no_address(address, "the host is none of the loopback", call);
}

static pctl_status listen_tcp(const char *address, const char *text, const pctl_call *call,
			      pctl_listener *out)
{
	place where;
	socklen_t n = 0;
	const int on = 1;
	pctl_status status = parse(address, text, call, &where, &n);

	if (status != PCTL_OK)
		return status;
	out->fd = socket(where.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (out->fd >= 0 && setsockopt(out->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
	    bind(out->fd, &where.any, n) == 0 && listen(out->fd, BACKLOG) == 0)
		return PCTL_OK;
	status = errno == EADDRINUSE
			 ? pctl_refuse(call, PC6111_NODE_TAKEN, "somebody listens on %s", address)
			 : pctl_refuse(call, PC6160_ENGINE_SOCKET, "%s: %s", address,
				       strerror(errno));
	pctl_listener_close(out);
	return status;
}

pctl_status pctl_engine_listen(const char *address, const pctl_call *call, pctl_listener *out)
{
	*out = (pctl_listener){.fd = -1};
	if (strncmp(address, "unix:", 5) == 0)
		return pctl_listener_open(address + 5, &who, call, out);
	if (strncmp(address, "tcp:", 4) == 0)
		return listen_tcp(address, address + 4, call, out);
	return no_address(address, "it begins with neither unix: nor tcp:", call);
}
