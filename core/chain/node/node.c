/* The loop of a node: clients come and go, whole frames are taken in rounds, a round is one batch, and what was served is
 * answered when it is durable. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "chain/node/node_batch.h"
#include "chain/node/node_block.h"
#include "runtime/ipc/listener.h"
#include "runtime/ipc/process.h"
#include "foundation/base/clock.h"

#define SLICE_MS 100	    /* how often a wait asks whether to stop */
#define FAREWELL_MS 2000u   /* for clients to take their answers when the node stops */
#define CLIENT_FRAMES 1024u /* of one client in a round, so that all get their turn */

struct pctl_node {
	pctl_listener listener;
	node_batch batch;
	node_client *clients;
	struct pollfd *polled;
	uint32_t n_clients, n_places, first, stall_ms;
	uint64_t last_id;
	uint64_t busy_ms; /* of all rounds */
	pctl_node_counts counts;
};

/* ---- clients ------------------------------------------------------------------------------- */

static int is_idle(const node_client *c)
{
	return node_waiting(&c->in) == 0 && node_waiting(&c->out) == 0 && c->n_held == 0;
}

/* Time as clients see it: what rounds take is not theirs. */
static uint64_t clock_of(const pctl_node *n)
{
	return pctl_clock_ms() - n->busy_ms;
}

/* A place for a new client: a free one, or that of somebody who makes nothing of it. */
static node_client *place(pctl_node *n, uint64_t now)
{
	node_client *found;

	if (n->n_clients < n->n_places)
		return &n->clients[n->n_clients++];
	found = node_client_outstayed(n->clients, n->n_clients, now, n->stall_ms);
	if (found != NULL)
		node_client_close(found);
	return found;
}

static void turn_away(pctl_node *n, int fd)
{
	node_client c = {.fd = fd};

	n->counts.turned_away++;
	node_answer_error(&c, PC6112_NODE_FULL, "no place for another client");
	node_client_write(&c, 0);
	node_client_close(&c);
}

/* Nobody is turned away before those who have the places had a round in which to be seen to be gone. */
static void accept_clients(pctl_node *n, uint64_t now)
{
	const int was_full = n->n_clients == n->n_places;

	for (uint32_t i = 0; i < NODE_ACCEPTS && (was_full || n->n_clients < n->n_places); i++) {
		const int fd = accept4(n->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		node_client *c;

		/* What fails here is this connection's, or will be tried again at the next turn. */
		if (fd < 0)
			return;
		c = place(n, now);
		if (c == NULL) {
			turn_away(n, fd);
			continue;
		}
		n->counts.clients++;
		*c = (node_client){
			.fd = fd, .moved_ms = now, .in_max = NODE_IN_MAX, .id = ++n->last_id};
	}
}

static int is_finished(const node_client *c)
{
	return c->is_gone || (c->is_ending && is_idle(c));
}

static void drop_finished(pctl_node *n)
{
	for (uint32_t i = 0; i < n->n_clients;) {
		if (!is_finished(&n->clients[i])) {
			i++;
			continue;
		}
		node_client_close(&n->clients[i]);
		n->clients[i] = n->clients[--n->n_clients];
	}
}

static void drop_slow(node_client *c, uint64_t now)
{
	if (node_waiting(&c->out) == 0) {
		node_answer_error(c, PC5799_FRAME_TIMEOUT,
				  "no whole frame came within the time allowed");
		node_client_write(c, now);
	}
	c->is_gone = 1;
}

/* Inside a frame or with answers waiting, and nothing has moved, or next to nothing; who waits for us is not late. */
static void drop_stalled(pctl_node *n, uint64_t now)
{
	for (uint32_t i = 0; i < n->n_clients; i++) {
		node_client *c = &n->clients[i];

		if (c->n_held != 0 && node_waiting(&c->out) == 0) {
			c->moved_ms = now;
			c->reading = (node_flow){.since_ms = now};
		} else if (!c->is_gone && node_client_is_slow(c, now, n->stall_ms)) {
			drop_slow(c, now);
		}
	}
}

static size_t held(const pctl_node *n)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < n->n_clients; i++)
		bytes += node_client_held(&n->clients[i]);
	return bytes;
}

/* Where buffers take more than they may together, those who have filled theirs for longest go, until the rest has room. */
static void relieve(pctl_node *n, uint64_t now)
{
	for (size_t bytes = held(n); bytes > NODE_HELD_MAX;) {
		node_client *oldest = NULL;

		for (uint32_t i = 0; i < n->n_clients; i++) {
			node_client *c = &n->clients[i];

			if (!c->is_gone && node_client_held(c) != 0 &&
			    (oldest == NULL || c->reading.since_ms < oldest->reading.since_ms))
				oldest = c;
		}
		if (oldest == NULL)
			return;
		bytes -= node_client_held(oldest);
		drop_slow(oldest, now);
	}
}

/* ---- rounds -------------------------------------------------------------------------------- */

/* Serve whole frames of one client, as many as its turn has. 1 when it has more. */
static int take_frames(pctl_node *n, node_client *c, const pctl_call *call)
{
	const uint8_t *bytes;
	uint32_t length, taken = 0;
	int whole = node_client_frame(c, &bytes, &length);

	while (whole > 0 && taken < CLIENT_FRAMES && !c->is_gone && !pctl_is_cancelled(call) &&
	       node_waiting(&c->out) < NODE_OUT_MAX && node_batch_has_room(&n->batch)) {
		taken++;
		node_batch_take(&n->batch, c, bytes, length, call);
		node_client_skip(c, length);
		whole = node_client_frame(c, &bytes, &length);
	}
	c->is_partial = whole == 0;
	if (whole >= 0)
		return whole;
	/* Out of step: what follows cannot be read. */
	node_batch_refuse(&n->batch, c, PC5797_FRAME_SIZE, "the length is not one of a frame");
	node_buffer_clear(&c->in);
	c->is_ending = 1;
	return 0;
}

/* One turn of every client, and the end of the batch. 1 when whole frames are left that can be served at once. */
static int serve_round(pctl_node *n, const pctl_call *call)
{
	const uint32_t first = n->n_clients == 0 ? 0 : n->first++ % n->n_clients;
	int more = 0;

	for (uint32_t i = 0; i < n->n_clients; i++) {
		node_client *c = &n->clients[(first + i) % n->n_clients];

		more |= take_frames(n, c, call) && node_waiting(&c->out) < NODE_OUT_MAX;
	}
	node_batch_run(&n->batch, call);
	return more && node_batch_has_room(&n->batch) && !pctl_is_cancelled(call);
}

/* What a client that has closed its end left unfinished is no request. */
static void forget_halves(pctl_node *n)
{
	const uint8_t *bytes;
	uint32_t length;

	for (uint32_t i = 0; i < n->n_clients; i++) {
		node_client *c = &n->clients[i];

		if (c->is_ending && node_client_frame(c, &bytes, &length) == 0)
			node_buffer_clear(&c->in);
	}
}

static pctl_status wait_for_work(pctl_node *n, int timeout_ms, const pctl_call *call)
{
	nfds_t n_polled = 1 + (nfds_t)n->n_clients;

	n->polled[0] = (struct pollfd){.fd = n->listener.fd, .events = POLLIN};
	for (uint32_t i = 0; i < n->n_clients; i++) {
		const node_client *c = &n->clients[i];
		short events = 0;

		if (!c->is_ending && node_waiting(&c->in) < c->in_max)
			events |= POLLIN;
		if (node_waiting(&c->out) > 0)
			events |= POLLOUT;
		n->polled[1 + i] = (struct pollfd){.fd = c->fd, .events = events};
	}
	if (n->batch.is_busy)
		n->polled[n_polled++] =
			(struct pollfd){.fd = node_block_fd(n->batch.block), .events = POLLIN};
	if (poll(n->polled, n_polled, timeout_ms) < 0 && errno != EINTR)
		return pctl_refuse(call, PC6110_NODE_SOCKET, "waiting for clients: %s",
				   strerror(errno));
	return PCTL_OK;
}

/* Of whom the last wait said that there is something; as much as there is room for. */
static void read_all(pctl_node *n, uint64_t now)
{
	size_t bytes = held(n);

	for (uint32_t i = 0; i < n->n_clients && bytes <= NODE_HELD_MAX; i++) {
		if (n->polled[1 + i].revents == 0)
			continue;
		bytes -= node_client_held(&n->clients[i]);
		node_client_read(&n->clients[i], now);
		bytes += node_client_held(&n->clients[i]);
	}
}

static void write_all(pctl_node *n)
{
	const uint64_t now = clock_of(n);

	for (uint32_t i = 0; i < n->n_clients; i++)
		if (node_waiting(&n->clients[i].out) != 0)
			node_client_write(&n->clients[i], now);
}

/* All that was answered is offered once more, for a while. */
static void say_farewell(pctl_node *n)
{
	const uint64_t start = pctl_clock_ms();

	for (;;) {
		uint32_t n_waiting = 0;

		write_all(n);
		for (uint32_t i = 0; i < n->n_clients; i++) {
			const node_client *c = &n->clients[i];

			if (c->is_gone || node_waiting(&c->out) == 0)
				continue;
			n->polled[n_waiting++] = (struct pollfd){.fd = c->fd, .events = POLLOUT};
		}
		if (n_waiting == 0 || pctl_clock_ms() - start >= FAREWELL_MS)
			return;
		poll(n->polled, n_waiting, SLICE_MS);
	}
}

static pctl_status loop(pctl_node *n, const pctl_call *call)
{
	pctl_status status = PCTL_OK;
	int more = 0;

	while (status == PCTL_OK && !pctl_is_cancelled(call)) {
		uint64_t now, began;

		status = wait_for_work(n, more ? 0 : SLICE_MS, call);
		if (status != PCTL_OK)
			break;
		now = clock_of(n);
		read_all(n, now);
		node_batch_collect(&n->batch, 0, call);
		began = pctl_clock_ms();
		more = serve_round(n, call);
		n->busy_ms += pctl_clock_ms() - began;
		forget_halves(n);
		write_all(n);
		drop_stalled(n, now);
		relieve(n, now);
		drop_finished(n);
		accept_clients(n, clock_of(n));
	}
	node_batch_stop(&n->batch, call);
	say_farewell(n);
	return status == PCTL_OK ? PCTL_E_CANCELLED : status;
}

static pctl_status run_loop(void *ctx, const pctl_call *call)
{
	return loop(ctx, call);
}

pctl_status pctl_node_run(pctl_node *n, const pctl_call *call)
{
	return n->batch.block == NULL ? loop(n, call)
				      : node_block_beside(n->batch.block, run_loop, n, call);
}

/* ---- open and close ------------------------------------------------------------------------ */

#define OTHER_FILES 128u /* of the chain, its store and its workers */

/* As many files as there are places, or as many places as the system gives files. */
static void ask_for_files(pctl_node *n, const pctl_call *call)
{
	const rlim_t wanted = (rlim_t)n->n_places + OTHER_FILES;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
		return;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur >= wanted)
		return;
	n->n_places = limit.rlim_cur > 2 * (rlim_t)OTHER_FILES
			      ? (uint32_t)(limit.rlim_cur - OTHER_FILES)
			      : OTHER_FILES / 2;
	pctl_warn_at(call, PC6112_NODE_FULL, NULL, NULL,
		     "the system gives this process %llu files: at most %u clients at once",
		     (unsigned long long)limit.rlim_cur, n->n_places);
}

static const pctl_listener_who who = {"node", PC6110_NODE_SOCKET, PC6111_NODE_TAKEN};

pctl_status pctl_node_open(const pctl_node_options *o, const pctl_node_service *service,
			   const pctl_call *call, pctl_node **out)
{
	pctl_node *n = calloc(1, sizeof(*n));
	pctl_status status = PCTL_OK;

	*out = NULL;
	if (n == NULL)
		return pctl_no_memory(call, "a node");
	n->listener.fd = -1;
	n->n_places = o->clients == 0 ? PCTL_NODE_CLIENTS : o->clients;
	n->stall_ms = o->stall_ms == 0 ? PCTL_NODE_STALL_MS : o->stall_ms;
	n->batch = (node_batch){.service = service,
				.counts = &n->counts,
				.report = o->report,
				.report_ctx = o->report_ctx};
	ask_for_files(n, call);
	n->clients = calloc(n->n_places, sizeof(*n->clients));
	n->batch.clients = n->clients;
	n->batch.n_clients = &n->n_clients;
	n->polled = calloc((size_t)n->n_places + 2, sizeof(*n->polled));
	if (n->clients == NULL || n->polled == NULL)
		status = pctl_refuse(call, PC2_NOMEM, "no memory for %u clients", n->n_places);
	if (status == PCTL_OK && service->answer != NULL)
		status = node_block_open(call, &n->batch.block);
	if (status == PCTL_OK)
		status = pctl_listener_open(o->path, &who, call, &n->listener);
	if (status == PCTL_OK)
		*out = n;
	else
		pctl_node_close(n);
	return status;
}

void pctl_node_counts_read(const pctl_node *n, pctl_node_counts *out)
{
	*out = n->counts;
}

void pctl_node_close(pctl_node *n)
{
	if (n == NULL)
		return;
	for (uint32_t i = 0; i < n->n_clients; i++)
		node_client_close(&n->clients[i]);
	node_batch_clear(&n->batch);
	node_block_close(n->batch.block);
	pctl_listener_close(&n->listener);
	free(n->clients);
	free(n->polled);
	free(n);
}
