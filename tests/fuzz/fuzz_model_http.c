/* Any bytes on a connection of a running server over the fake engine: it answers or closes, and then still answers somebody else. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "fakes/engine.h"
#include "model/serve/serve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static struct sockaddr_un where = {.sun_family = AF_UNIX};
static char folder[] = "/tmp/pipectl-fuzz-XXXXXX";
static atomic_uint is_listening, stop;
static pthread_t thread;
static pctl_engine *engine;

static uint32_t stopping(void *ctx)
{
	(void)ctx;
	return stop;
}

static void listening(void *ctx, const char *place)
{
	(void)ctx;
	(void)place;
	is_listening = 1;
}

static void *serve(void *unused)
{
	pctl_serve_options o = {
		.socket = where.sun_path, .stopping = stopping, .listening = listening};
	pctl_server *s;

	(void)unused;
	pctl_serve_limits_init(&o.limits);
	if (pctl_server_open(&o, NULL, &s) != PCTL_OK || pctl_server_run(s, engine) == PCTL_E_IO)
		abort();
	pctl_server_close(s);
	return NULL;
}

static void finish(void)
{
	stop = 2;
	pthread_join(thread, NULL);
	fake_engine_destroy(engine);
	rmdir(folder);
}

static void begin(void)
{
	const fake_engine_options o = {
		.n_slots = 4, .max_chunk = 16, .context = 200, .n_embd = 4, .has_chat = 1};

	engine = fake_engine_create(&o);
	if (engine == NULL || mkdtemp(folder) == NULL)
		abort();
	snprintf(where.sun_path, sizeof(where.sun_path), "%s/s", folder);
	if (pthread_create(&thread, NULL, serve, NULL) != 0)
		abort();
	while (!is_listening)
		usleep(1000);
	atexit(finish);
}

/* All that comes, of which the first bytes are kept; -1 where the server neither answered to its end nor closed. */
static ssize_t ask(const void *data, size_t n, char *out, size_t room)
{
	const struct timeval patience = {.tv_sec = 20};
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t had = 0;
	ssize_t got;
	char rest[4096];

	if (fd < 0 || connect(fd, (const struct sockaddr *)&where, sizeof(where)) != 0)
		abort();
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	(void)send(fd, data, n, MSG_NOSIGNAL);
	/* Who closes his half waits for no answer. */
	(void)poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 5);
	(void)shutdown(fd, SHUT_WR);
	do {
		got = had < room ? recv(fd, out + had, room - had, 0)
				 : recv(fd, rest, sizeof(rest), 0);
		had += got > 0 && had < room ? (size_t)got : 0;
	} while (got > 0);
	close(fd);
	return got < 0 && had == 0 && n != 0 ? -1 : (ssize_t)had;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char health[] = "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
	static int has_begun;
	char answer[4096];
	ssize_t got;

	if (!has_begun)
		begin();
	has_begun = 1;
	got = ask(data, n, answer, sizeof(answer));
	/* What it says is HTTP. */
	if (got > 8 && memcmp(answer, "HTTP/1.", 7) != 0)
		abort();
	got = ask(health, sizeof(health) - 1, answer, sizeof(answer));
	if (got < 15 || memcmp(answer, "HTTP/1.1 200 OK", 15) != 0)
		abort();
	return 0;
}
