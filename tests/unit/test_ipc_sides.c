/* Each side of the worker protocol before an honest other one that is of another version, asks for what is not there, or
 * answers nonsense: every case has its code. fuzz_ipc looks for what these forget. */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../fakes/memory.h"
#include "foundation/diag/diag.h"
#include "runtime/ipc/remote_private.h"
#include "runtime/ipc/serve.h"
#include "main.h"

typedef struct worker {
	pctl_backend table;
	struct pctl_instance inst;
	pctl_ipc_server *s;
	pctl_ipc_channel ch;
	pctl_arena *arena;
	uint32_t seq;
	pctl_diag_list *diags;
} worker;

static void worker_begin(worker *w)
{
	const pctl_backend table = {FAKE_TABLE};

	memset(w, 0, sizeof(*w));
	w->table = table;
	w->s = pctl_ipc_server_create();
	w->diags = pctl_diag_list_create();
	w->arena = pctl_arena_create();
	assert_non_null(w->s);
	pctl_ipc_channel_init(&w->ch, -1);
	pctl_ipc_server_set(w->s, PCTL_OK, &w->table, &w->inst);
}

static void worker_end(worker *w)
{
	pctl_ipc_server_destroy(w->s);
	pctl_ipc_channel_close(&w->ch);
	pctl_arena_destroy(w->arena);
	pctl_diag_list_destroy(w->diags);
}

/* Objects are their own numbers here. */
static uint32_t number_of(const void *object)
{
	return (uint32_t)(uintptr_t)object;
}
#define OBJECT(n) ((void *)(uintptr_t)(n))

/* The request is handed over; 0 when the worker takes it for nonsense, else *status is that of its reply, if it has one. */
static int hand_over(worker *w, uint16_t op, const void *request, pctl_status *status)
{
	pctl_ipc_out o = {0};
	pctl_ipc_frame f;
	pctl_ipc_in body;
	int rc;

	*status = PCTL_OK;
	pctl_ipc_pack(&o, pctl_ipc_message_of(op)->ask, request, number_of);
	f = (pctl_ipc_frame){{(uint32_t)o.n, op, 0, ++w->seq, 0}, o.data};
	w->ch.out.n = 0;
	rc = pctl_ipc_server_handle(w->s, &f, &w->ch);
	pctl_ipc_out_drop(&o);
	if (w->ch.out.n > sizeof(pctl_ipc_header))
		assert_int_equal(pctl_remote_decode(w->ch.out.data + sizeof(pctl_ipc_header),
						    w->ch.out.n - sizeof(pctl_ipc_header), "fake",
						    w->arena, pctl_diag_list_call(w->diags), status,
						    &body),
				 1);
	return rc == 1;
}

static pctl_status ask(worker *w, uint16_t op, const void *request)
{
	pctl_status status;

	assert_int_equal(hand_over(w, op, request, &status), 1);
	return status;
}

static void said(const pctl_diag_list *l, pctl_status s, uint32_t code, const char *words)
{
	const uint32_t n = pctl_diag_list_count(l);

	assert_int_equal(s, pctl_code_status(code));
	assert_true(n > 0);
	assert_int_equal(pctl_diag_list_at(l, n - 1)->code, code);
	if (!strstr(pctl_diag_list_at(l, n - 1)->message, words))
		fail_msg("\"%s\" lacks \"%s\"", pctl_diag_list_at(l, n - 1)->message, words);
}

static pctl_status greet(worker *w, uint32_t version, uint64_t table)
{
	const pctl_ipc_hello hello = {version, table};

	return ask(w, PCTL_IPC_HELLO, &hello);
}

static void worker__another_version_is_refused(void **state)
{
	worker w;

	(void)state;
	worker_begin(&w);
	said(w.diags, greet(&w, PCTL_IPC_VERSION + 1, pctl_ipc_table_hash()), PC3106_WORKER_VERSION,
	     "the host speaks");
	worker_end(&w);
	worker_begin(&w);
	said(w.diags, greet(&w, PCTL_IPC_VERSION, pctl_ipc_table_hash() + 1), PC3106_WORKER_VERSION,
	     "table of messages");
	worker_end(&w);
}

static void worker__no_window_is_refused(void **state)
{
	worker w;

	(void)state;
	worker_begin(&w);
	said(w.diags, greet(&w, PCTL_IPC_VERSION, pctl_ipc_table_hash()), PC3107_WORKER_REQUEST,
	     "window is missing");
	worker_end(&w);
}

/* A worker that was greeted, over the fake backend, with device 1 and in it buffer 2 of 16 bytes. */
static void worker_begin_open(worker *w)
{
	const pctl_ipc_device_open open = {1, 0};
	const pctl_ipc_buffer_create create = {OBJECT(1), 2, 16, PCTL_BUFFER_TRANSFER};
	pctl_ipc_window window;

	worker_begin(w);
	assert_int_equal(pctl_ipc_window_create(4096, &window), 1);
	w->ch.in_fds[w->ch.n_in_fds++] = window.fd;
	window.fd = -1;
	pctl_ipc_window_close(&window);
	assert_int_equal(greet(w, PCTL_IPC_VERSION, pctl_ipc_table_hash()), PCTL_OK);
	assert_int_equal(ask(w, PCTL_IPC_DEVICE_OPEN, &open), PCTL_OK);
	assert_int_equal(ask(w, PCTL_IPC_BUFFER_CREATE, &create), PCTL_OK);
}

static void worker__what_is_not_there_is_refused(void **state)
{
	const pctl_ipc_wait wait = {OBJECT(1), 77, 0};
	worker w;

	(void)state;
	worker_begin_open(&w);
	/* The last byte is there, the one behind it is not. */
	for (uint32_t offset = 15; offset <= 16; offset++) {
		const pctl_ipc_buffer_read read = {OBJECT(1), OBJECT(2), offset, 1};
		const pctl_status s = ask(&w, PCTL_IPC_READ, &read);

		if (offset == 16)
			said(w.diags, s, PC3107_WORKER_REQUEST, "outside a buffer of 16");
		else
			assert_int_equal(s, PCTL_OK);
	}
	said(w.diags, ask(&w, PCTL_IPC_WAIT, &wait), PC3107_WORKER_REQUEST, "ticket 77");
	worker_end(&w);
}

/* Each of these ends the connection of a worker that was fine before. */
static void worker__what_no_host_asks_ends_it(void **state)
{
	const pctl_ipc_hello hello = {PCTL_IPC_VERSION, pctl_ipc_table_hash()};
	const pctl_ipc_of_device no_device = {NULL}, other = {OBJECT(2)};
	const pctl_ipc_of_buffer not_given = {OBJECT(1), OBJECT(3)}, wrong = {OBJECT(1), OBJECT(1)};
	const pctl_ipc_buffer_create again = {OBJECT(1), 2, 16, PCTL_BUFFER_TRANSFER};
	const pctl_ipc_buffer_create far = {OBJECT(1), PCTL_IPC_OBJECTS_MAX, 16, 0};
	const pctl_ipc_window_range wide = {OBJECT(1), OBJECT(2), 0, 16};
	const pctl_ipc_wait wait = {OBJECT(1), 77, 0};
	const struct {
		uint16_t op;
		const void *request;
	} bad[] = {{PCTL_IPC_HELLO, &hello},		  /* once is enough */
		   {PCTL_IPC_CAPS, &no_device},		  /* a device is needed */
		   {PCTL_IPC_CAPS, &other},		  /* that is a buffer */
		   {PCTL_IPC_BUFFER_DESTROY, &not_given}, /* nobody made that */
		   {PCTL_IPC_BUFFER_DESTROY, &wrong},	  /* that is a device */
		   {PCTL_IPC_BUFFER_CREATE, &again},	  /* the number is taken */
		   {PCTL_IPC_BUFFER_CREATE, &far},	  /* and that is none */
		   {PCTL_IPC_OPS_DESCRIBE, NULL},	  /* of an op library */
		   {PCTL_IPC_PROBE_RESULT, &wait}};	  /* nobody asks that */
	pctl_status status;
	worker w;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		worker_begin_open(&w);
		if (bad[i].op == PCTL_IPC_PROBE_RESULT) {
			const pctl_ipc_frame f = {{0, bad[i].op, 0, 9, 0}, NULL};

			assert_int_equal(pctl_ipc_server_handle(w.s, &f, &w.ch), -1);
		} else {
			assert_int_equal(hand_over(&w, bad[i].op, bad[i].request, &status), 0);
		}
		worker_end(&w);
	}
	/* A window of 4096 bytes holds those 16; nothing precedes the greeting. */
	worker_begin_open(&w);
	assert_int_equal(ask(&w, PCTL_IPC_READ_WINDOW, &wide), PCTL_OK);
	worker_end(&w);
	worker_begin(&w);
	assert_int_equal(hand_over(&w, PCTL_IPC_DEVICES, &(pctl_ipc_devices){3}, &status), 0);
	worker_end(&w);
}

typedef struct host {
	pctl_remote r;
	remote_object device, list, kernel;
	int worker; /* the other end */
	pctl_diag_list *diags;
} host;

static void host_begin(host *h)
{
	int pair[2];

	memset(h, 0, sizeof(*h));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	pctl_ipc_channel_init(&h->r.ch, pair[0]);
	h->worker = pair[1];
	h->r.control_fd = h->r.window.fd = -1;
	h->r.process.stderr_fd = -1;
	h->r.call_ms = 1000;
	h->r.grace_ms = 1;
	strcpy(h->r.id, "fake");
	h->r.arena = pctl_arena_create();
	pthread_mutex_init(&h->r.lock, NULL);
	pctl_remote_fill_table(&h->r.table, 7);
	h->device = (remote_object){.r = &h->r, .id = 1, .device = 1};
	h->list = (remote_object){.r = &h->r, .id = 2, .device = 1};
	h->kernel = (remote_object){.r = &h->r, .id = 3, .device = 1};
	h->diags = pctl_diag_list_create();
}

static void host_end(host *h)
{
	close(h->worker);
	pctl_ipc_channel_close(&h->r.ch);
	pthread_mutex_destroy(&h->r.lock);
	pctl_arena_destroy(h->r.arena);
	free(h->r.free_ids);
	free(h->list.fresh);
	pctl_remote_first_drop(&h->r);
	pctl_diag_list_destroy(h->diags);
}

/* The answer to the first request: a frame of `op` around these words. */
static void answer(const host *h, uint16_t op, const uint32_t *words, uint32_t n)
{
	const pctl_ipc_header header = {4 * n, op, 0, 1, 0};

	assert_int_equal(write(h->worker, &header, sizeof(header)), sizeof(header));
	assert_int_equal(write(h->worker, words, 4 * n), 4 * n);
}

static void host__nonsense_loses_the_worker(void **state)
{
	/* All is well, no diagnostics, and then a word of all that should follow. */
	static const uint32_t cut[3] = {PCTL_OK, 0, 1};
	pctl_device_caps caps;
	pctl_device *dev;
	host h;

	(void)state;
	host_begin(&h);
	dev = (pctl_device *)(void *)&h.device;
	answer(&h, PCTL_IPC_CAPS, cut, 3);
	said(h.diags, h.r.table.device_caps(dev, pctl_diag_list_call(h.diags), &caps),
	     PC3105_WORKER_REPLY, "is malformed");
	/* It is asked nothing more. */
	assert_int_equal(h.r.table.device_caps(dev, pctl_diag_list_call(h.diags), &caps),
			 PCTL_E_DEVICE_LOST);
	host_end(&h);
}

/* As if this process were not run for longer than any limit, and the worker answered meanwhile: the first time that it is asked the test of a
 * cancel takes that long, and the second time the answer has come. */
typedef struct held_up {
	host h;
	uint32_t n_asked, n_bytes;
} held_up;

static uint32_t is_held_up(void *ctx)
{
	static const uint32_t cut[3] = {PCTL_OK, 0, 1};
	held_up *u = ctx;

	if (u->n_asked++ == 0)
		usleep(400000);
	else if (u->n_asked == 2 && u->n_bytes != 0)
		assert_int_equal(write(u->h.worker, cut, u->n_bytes), u->n_bytes);
	else if (u->n_asked == 2)
		answer(&u->h, PCTL_IPC_CAPS, cut, 3);
	return 0;
}

static void host__what_came_while_it_did_not_run_is_read(void **state)
{
	pctl_device_caps caps;
	pctl_call call;
	held_up u;

	(void)state;
	/* Whole: its nonsense is seen. A half is no answer. */
	for (u.n_bytes = 0; u.n_bytes <= 8; u.n_bytes += 8) {
		host_begin(&u.h);
		u.h.r.call_ms = 20;
		u.n_asked = 0;
		call = *pctl_diag_list_call(u.h.diags);
		call.cancelled = is_held_up;
		call.ctx = &u;
		call.diag = NULL;
		assert_int_not_equal(
			u.h.r.table.device_caps((pctl_device *)(void *)&u.h.device, &call, &caps),
			PCTL_OK);
		assert_true(u.n_asked >= 2);
		if (!strstr(u.h.r.cause, u.n_bytes == 0 ? "is malformed" : "did not answer"))
			fail_msg("%s", u.h.r.cause);
		host_end(&u.h);
	}
}

static void host__more_bindings_than_a_message_carries(void **state)
{
	static pctl_binding bindings[PCTL_IPC_BINDINGS_MAX + 1];
	const uint32_t groups[3] = {1, 1, 1};
	host h;

	(void)state;
	host_begin(&h);
	said(h.diags,
	     h.r.table.list_dispatch((pctl_list *)(void *)&h.list, pctl_diag_list_call(h.diags),
				     (pctl_kernel *)(void *)&h.kernel, bindings,
				     PCTL_IPC_BINDINGS_MAX + 1, groups),
	     PC3109_WORKER_LIMIT, "1025 bindings; 1024 can be sent");
	assert_int_equal(h.r.lost, 0);
	host_end(&h);
}

PCTL_TESTS_MAIN(PCTL_TEST(worker__another_version_is_refused),
		PCTL_TEST(worker__no_window_is_refused),
		PCTL_TEST(worker__what_is_not_there_is_refused),
		PCTL_TEST(worker__what_no_host_asks_ends_it),
		PCTL_TEST(host__nonsense_loses_the_worker),
		PCTL_TEST(host__what_came_while_it_did_not_run_is_read),
		PCTL_TEST(host__more_bindings_than_a_message_carries))
