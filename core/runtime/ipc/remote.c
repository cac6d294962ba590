/* The connection to a worker: starting it, one request and its reply, and how it is lost; see
 * remote.h. */
#include "runtime/ipc/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/ipc/patience.h"
#include "runtime/ipc/remote_private.h"
#include "foundation/base/clock.h"

#define START_MS 30000u
#define CALL_MS 120000u
#define GRACE_MS 10000u
#define EXIT_MS 3000u /* for a driver's exit handlers */
#define WINDOW_BYTES (4u << 20)
#define SLICE_MS 50u /* how often a cancel test is asked */
#define PENDING_MAX (256u << 10)

/* ---- losing a worker ---------------------------------------------------------------------- */

/* Ended by its own supervisor: how, and under which code. Whose fault it is: that of the program while one is built, that of
 * the job when its buffers make up half of what was used, else the worker's, which took what nobody had asked it to. */
static int over_limits(pctl_remote *r, uint32_t *code)
{
	char text[256];

	if (!r->process.reaped || r->process.killed ||
	    !pctl_confine_over(&r->limits, r->process.status, text, sizeof(text)))
		return 0;
	snprintf(r->cause, sizeof(r->cause), "%s%s%s%s (limits.worker)", text,
		 r->is_building ? ", building a program" : "", r->doing[0] ? ", during " : "",
		 r->doing);
	*code = r->is_building ? PC3110_WORKER_BUILD : PC3112_WORKER_RESOURCES;
	r->blameless |=
		r->is_building || (WEXITSTATUS(r->process.status) == PCTL_WORKER_OVER_MEMORY &&
				   r->asked_bytes >= r->limits.memory / 2);
	return 1;
}

/* System calls that it was refused since this was said last. */
static void tell_refused(pctl_remote *r, const pctl_call *call)
{
	char words[512];

	if (!pctl_refused_words(r->refused, r->n_told, words, sizeof(words)))
		return;
	r->n_told = pctl_refused_count(r->refused);
	pctl_warn_at(call, PC3113_WORKER_CALL, NULL,
		     "the manifest's \"calls\" allows system calls that a trusted driver needs",
		     "worker of plugin \"%s\": the confinement refused it %s", r->id, words);
}

static pctl_status __attribute__((format(printf, 4, 5)))
lose(pctl_remote *r, const pctl_call *call, uint32_t code, const char *fmt, ...)
{
	char cause[512];
	va_list args;
	size_t n;

	va_start(args, fmt);
	n = (size_t)vsnprintf(r->cause, sizeof(r->cause), fmt, args);
	va_end(args);
	/* A worker that is already ending gets the time to do so: its own signal is the better
	 * cause. */
	if (code != PC3103_WORKER_DIED || !pctl_process_reap(&r->process, 1000))
		pctl_process_kill(&r->process);
	if (over_limits(r, &code))
		goto told;
	pctl_process_cause(&r->process, cause, sizeof(cause));
	if (n < sizeof(r->cause))
		snprintf(r->cause + n, sizeof(r->cause) - n, "%s%s%s%s", n ? "; it " : "it ", cause,
			 r->doing[0] ? ", during " : "", r->doing);
told:
	tell_refused(r, call);
	r->lost = 1;
	if (r->lost_code && code != PC4_CANCELLED)
		code = r->lost_code;
	return pctl_refuse(call, code, "worker of plugin \"%s\": %s", r->id, r->cause);
}

static pctl_status refuse_lost(pctl_remote *r, const pctl_call *call)
{
	return pctl_refuse(call, r->lost_code ? r->lost_code : PC3103_WORKER_DIED,
			   "worker of plugin \"%s\": %s", r->id, r->cause);
}

pctl_status pctl_remote_bad_reply(pctl_remote *r, const pctl_call *call, const char *what)
{
	return lose(r, call, PC3105_WORKER_REPLY, "its answer to \"%s\" is malformed", what);
}

/* ---- waiting ------------------------------------------------------------------------------ */

typedef struct waiting {
	pctl_patience patience;
	uint64_t cancelled_end_ms; /* once it was cancelled */
	const pctl_call *call;
	const pctl_ipc_control *cancel;
	int cancelled;
	int is_build, has_before;
	uint64_t next_poll_ms;
	pctl_process_usage before; /* of a build, once it was looked at: most are over before */
	remote_first *first;
} waiting;

void pctl_remote_send_control(pctl_remote *r, const pctl_ipc_control *m)
{
	while (send(r->control_fd, m, sizeof(*m), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
	       errno == EINTR)
		;
}

static void check_cancel(pctl_remote *r, waiting *w, uint64_t now)
{
	const pctl_ipc_control this_call = {PCTL_IPC_CANCEL_CALL, r->seq, 0};

	if (w->cancelled || !pctl_is_cancelled(w->call))
		return;
	w->cancelled = 1;
	pctl_remote_send_control(r, &this_call);
	if (w->cancel)
		pctl_remote_send_control(r, w->cancel);
	/* No driver's compiler can be stopped but with its process. */
	w->cancelled_end_ms = w->is_build ? now : now + r->grace_ms;
}

/* The limits of a build. */
static pctl_status poll_build(pctl_remote *r, waiting *w, uint64_t now)
{
	pctl_process_usage u;

	if (!w->is_build || now < w->next_poll_ms)
		return PCTL_OK;
	w->next_poll_ms = now + PCTL_PATIENCE_POLL_MS;
	pctl_process_used(&r->process, &u);
	if (!w->has_before) {
		w->has_before = 1;
		w->before = u;
	}
	if (u.cpu_ms - w->before.cpu_ms > r->build_cpu_ms) {
		r->blameless = 1;
		return lose(r, w->call, PC3110_WORKER_BUILD,
			    "the build of a program used more than %u ms of processor time",
			    r->build_cpu_ms);
	}
	if (r->build_memory && u.memory > w->before.memory &&
	    u.memory - w->before.memory > r->build_memory) {
		r->blameless = 1;
		return lose(r, w->call, PC3110_WORKER_BUILD,
			    "the build of a program used %llu bytes of memory, more than %llu",
			    (unsigned long long)(u.memory - w->before.memory),
			    (unsigned long long)r->build_memory);
	}
	return PCTL_OK;
}

pctl_status pctl_remote_look_at_first(pctl_remote *r, const pctl_call *call, remote_first *first)
{
	const uint64_t now = pctl_clock_ms();
	pctl_process_usage u;

	if (!first || now < first->next_poll_ms)
		return PCTL_OK;
	first->next_poll_ms = now + PCTL_PATIENCE_POLL_MS;
	if (r->first_run_ms && now - first->begin_ms > r->first_run_ms) {
		r->blameless = 1;
		return lose(r, call, PC3110_WORKER_BUILD,
			    "the first run of a program took more than %u ms "
			    "(workers.first_run)",
			    r->first_run_ms);
	}
	if (!r->build_memory)
		return PCTL_OK;
	pctl_process_used(&r->process, &u);
	if (!first->memory)
		first->memory = u.memory;
	if (u.memory > first->memory &&
	    u.memory - first->memory > r->build_memory + r->asked_bytes) {
		r->blameless = 1;
		return lose(r, call, PC3110_WORKER_BUILD,
			    "the first run of a program used %llu bytes of memory, more than %llu "
			    "and its buffers",
			    (unsigned long long)(u.memory - first->memory),
			    (unsigned long long)r->build_memory);
	}
	return PCTL_OK;
}

static pctl_status lose_silent(pctl_remote *r, const waiting *w)
{
	char text[256];

	r->blameless |= w->cancelled;
	if (w->cancelled && w->is_build) {
		if (!r->lost_code)
			r->lost_code = PC4_CANCELLED;
		return lose(r, w->call, PC4_CANCELLED, "cancelled while it built a program");
	}
	/* It computes where a compiler may: the program's doing, until the opposite is seen. */
	if (!w->cancelled && w->first && !w->patience.is_idle) {
		r->blameless = 1;
		return lose(r, w->call, PC3110_WORKER_BUILD,
			    "the first run of a program kept it from answering %s",
			    pctl_patience_words(&w->patience, text, sizeof(text)));
	}
	if (!w->cancelled)
		return lose(r, w->call, PC3104_WORKER_SILENT, "it did not answer %s",
			    pctl_patience_words(&w->patience, text, sizeof(text)));
	return lose(r, w->call, r->lost_code ? PC4_CANCELLED : PC3104_WORKER_SILENT,
		    "it did not answer within %u ms of being cancelled", r->grace_ms);
}

/* How long to wait before anything has to be looked at. */
static uint64_t next_slice(const waiting *w, uint64_t now)
{
	uint64_t slice = w->is_build || w->first ? PCTL_PATIENCE_POLL_MS : 1000;
	uint64_t next = pctl_patience_next(&w->patience, now);

	if (w->call && w->call->cancelled && !w->cancelled)
		slice = SLICE_MS;
	if (w->cancelled && w->cancelled_end_ms - now < next)
		next = w->cancelled_end_ms - now;
	return next < slice ? next : slice;
}

/* Until `events` are there, or the time is over (refused, worker lost). */
static pctl_status wait_for(pctl_remote *r, short events, waiting *w)
{
	for (;;) {
		struct pollfd fds[2] = {{r->ch.fd, events, 0}, {r->process.stderr_fd, POLLIN, 0}};
		const uint64_t now = pctl_clock_ms();
		pctl_status s = poll_build(r, w, now);
		int n;

		if (!s)
			s = pctl_remote_look_at_first(r, w->call, w->first);
		if (s)
			return s;
		check_cancel(r, w, now);
		/* Who was cancelled has its grace, and no more by being slow. */
		if (w->cancelled ? now >= w->cancelled_end_ms
				 : pctl_patience_over(&w->patience, &r->process, now))
			return lose_silent(r, w);
		n = poll(fds, 2, (int)next_slice(w, now));
		if (n > 0 && fds[1].revents)
			pctl_process_drain(&r->process);
		if (n > 0 && fds[0].revents)
			return PCTL_OK;
	}
}

static pctl_status send_pending(pctl_remote *r, waiting *w)
{
	for (;;) {
		const int rc = pctl_ipc_send(&r->ch);
		pctl_status s;

		if (rc > 0)
			return PCTL_OK;
		if (rc < 0)
			return lose(r, w->call, PC3103_WORKER_DIED, "%s", "");
		s = wait_for(r, POLLOUT, w);
		if (s)
			return s;
	}
}

static pctl_status receive(pctl_remote *r, waiting *w, pctl_ipc_frame *out)
{
	for (;;) {
		int rc = pctl_ipc_next(&r->ch, out);
		pctl_status s;

		if (rc > 0)
			return PCTL_OK;
		if (rc < 0)
			return pctl_remote_bad_reply(r, w->call, "frame");
		s = wait_for(r, POLLIN, w);
		if (s)
			return s;
		rc = pctl_ipc_fill(&r->ch);
		if (rc == 0 || (rc < 0 && errno != EAGAIN))
			return lose(r, w->call, PC3103_WORKER_DIED, "%s", "");
	}
}

/* ---- requests ----------------------------------------------------------------------------- */

/* Told only when it changes: most requests come in long runs of one job. */
static void tell_trace(pctl_remote *r, uint64_t trace)
{
	pctl_ipc_frame_begin(&r->ch, PCTL_IPC_TRACE, r->seq);
	pctl_ipc_put_u64(&r->ch.out, trace);
	if (pctl_ipc_frame_end(&r->ch))
		r->trace = trace;
}

int pctl_remote_begin(pctl_remote *r, uint16_t op, const pctl_call *call)
{
	if (r->lost) {
		refuse_lost(r, call);
		return 0;
	}
	/* 0 means 'no call' to the worker. */
	if (++r->seq == 0)
		r->seq = 1;
	/* Nothing precedes the greeting. Destroying belongs to no call. Who is not meant to fail on
	 * purpose never learns which job it works for. */
	if (r->traced && call && call->trace_id != r->trace && op != PCTL_IPC_HELLO)
		tell_trace(r, call->trace_id);
	pctl_ipc_frame_begin(&r->ch, op, r->seq);
	return 1;
}

static waiting wait_after(const pctl_call *call, uint64_t after_ms, uint64_t limit_ms,
			  const pctl_ipc_control *cancel)
{
	waiting w = {.call = call, .cancel = cancel};

	pctl_patience_begin(&w.patience, pctl_clock_ms() + after_ms, limit_ms);
	return w;
}

pctl_status pctl_remote_flush(pctl_remote *r, const pctl_call *call)
{
	waiting w = wait_after(call, 0, r->call_ms, NULL);

	return r->lost ? refuse_lost(r, call) : send_pending(r, &w);
}

static pctl_status end_frame(pctl_remote *r, const pctl_call *call)
{
	if (pctl_ipc_frame_end(&r->ch))
		return PCTL_OK;
	return pctl_refuse(call, PC3109_WORKER_LIMIT,
			   "a request to the worker of plugin \"%s\" is too large", r->id);
}

pctl_status pctl_remote_post(pctl_remote *r, const pctl_call *call)
{
	pctl_status s = end_frame(r, call);

	if (!s && r->ch.out.n > PENDING_MAX)
		s = pctl_remote_flush(r, call);
	return s;
}

int pctl_remote_decode(const uint8_t *payload, size_t n, const char *plugin, const pctl_call *call,
		       pctl_status *status, pctl_ipc_in *body)
{
	pctl_ipc_in in = {payload, n, 0, 0};
	uint32_t i, n_diags;

	*status = (pctl_status)pctl_ipc_get_u32(&in);
	n_diags = pctl_ipc_get_u32(&in);
	if (in.failed || n_diags > PCTL_IPC_DIAGS_MAX)
		return 0;
	for (i = 0; i < n_diags; i++)
		if (!pctl_ipc_get_diag(&in, plugin, call))
			return 0;
	*body = in;
	return 1;
}

static pctl_status ask(pctl_remote *r, const pctl_call *call, waiting w, pctl_ipc_in *body)
{
	pctl_ipc_header sent = {0};
	pctl_ipc_frame f;
	pctl_status s, answer;

	memset(body, 0, sizeof(*body));
	if (!r->ch.out.failed)
		memcpy(&sent, r->ch.out.data + r->ch.frame_at, sizeof(sent));
	s = end_frame(r, call);
	if (!s)
		s = send_pending(r, &w);
	if (!s)
		s = receive(r, &w, &f);
	if (s)
		return s;
	r->submitted = 0;
	if (f.header.op != sent.op || f.header.seq != sent.seq ||
	    !pctl_remote_decode(f.payload, f.header.n_bytes, r->id, call, &answer, body))
		return pctl_remote_bad_reply(r, call, "request");
	if (!pctl_ipc_status_known(answer))
		return pctl_refuse(call, PC3108_WORKER_CONTRACT,
				   "plugin \"%s\" answered with the unknown status %d", r->id,
				   answer);
	if (answer && !pctl_ipc_in_done(body))
		return pctl_remote_bad_reply(r, call, "refusal");
	if (answer)
		tell_refused(r, call);
	return answer;
}

pctl_status pctl_remote_ask(pctl_remote *r, const pctl_call *call, uint64_t limit_ms,
			    pctl_ipc_in *body)
{
	return ask(r, call, wait_after(call, 0, limit_ms, NULL), body);
}

pctl_status pctl_remote_ask_after(pctl_remote *r, const pctl_call *call, uint64_t after_ms,
				  uint64_t limit_ms, const pctl_ipc_control *cancel,
				  remote_first *first, pctl_ipc_in *body)
{
	waiting w = wait_after(call, after_ms, limit_ms, cancel);

	w.first = first;
	return ask(r, call, w, body);
}

pctl_status pctl_remote_ask_build(pctl_remote *r, const pctl_call *call, pctl_ipc_in *body)
{
	waiting w = wait_after(call, 0, r->call_ms, NULL);
	pctl_status s;

	w.is_build = 1;
	w.next_poll_ms = pctl_clock_ms() + PCTL_PATIENCE_POLL_MS;
	r->is_building = 1;
	s = ask(r, call, w, body);
	r->is_building = 0;
	return s;
}

/* ---- opening and closing ------------------------------------------------------------------ */

static pctl_status start(pctl_remote *r, const pctl_remote_options *o, const pctl_call *call)
{
	int channel = -1;
	pctl_status s = pctl_launch_start(&o->launch, call, &r->process, &channel, &r->control_fd,
					  &r->refused);

	if (!s)
		pctl_ipc_channel_init(&r->ch, channel);
	return s;
}

static pctl_status greet(pctl_remote *r, uint32_t start_ms, const pctl_call *call)
{
	pctl_ipc_in body;
	uint32_t optional;
	pctl_status s;

	pctl_remote_begin(r, PCTL_IPC_HELLO, call);
	pctl_ipc_put_u32(&r->ch.out, PCTL_IPC_VERSION);
	r->ch.out_fds[0] = r->window.fd;
	r->ch.n_out_fds = 1;
	s = pctl_remote_ask(r, call, start_ms, &body);
	if (s)
		return s;
	if (pctl_ipc_get_u32(&body) != PCTL_IPC_VERSION)
		return pctl_remote_bad_reply(r, call, "hello");
	optional = pctl_ipc_get_u32(&body);
	if (!pctl_ipc_in_done(&body))
		return pctl_remote_bad_reply(r, call, "hello");
	pctl_remote_fill_table(&r->table, optional);
	return PCTL_OK;
}

pctl_status pctl_remote_open(const pctl_remote_options *o, const pctl_call *call, pctl_remote **out)
{
	pctl_remote *r = calloc(1, sizeof(*r));
	pctl_status s;

	*out = NULL;
	if (!r)
		return pctl_refuse(call, PC2_NOMEM, "no memory for a worker");
	pthread_mutex_init(&r->lock, NULL);
	pctl_ipc_channel_init(&r->ch, -1);
	r->process.stderr_fd = -1;
	r->control_fd = -1;
	r->window.fd = -1;
	r->next_id = 1;
	r->call_ms = o->call_ms ? o->call_ms : CALL_MS;
	r->grace_ms = o->grace_ms ? o->grace_ms : GRACE_MS;
	r->build_cpu_ms = o->build_cpu_ms ? o->build_cpu_ms : r->call_ms;
	r->build_memory = o->build_memory;
	r->first_run_ms = o->first_run_ms;
	r->limits = o->launch.limits;
	atomic_init(&r->next_ticket, 1);
	r->traced = o->traced;
	r->lost_code = o->lost_code;
	snprintf(r->id, sizeof(r->id), "%s", o->launch.id);
	if (!pctl_ipc_window_create(o->window_bytes ? o->window_bytes : WINDOW_BYTES, &r->window))
		s = pctl_refuse(call, PC3102_WORKER_START, "no shared memory: %s", strerror(errno));
	else
		s = start(r, o, call);
	if (!s)
		s = greet(r, o->start_ms ? o->start_ms : START_MS, call);
	if (s) {
		pctl_remote_close(r);
		return s;
	}
	*out = r;
	return PCTL_OK;
}

void pctl_remote_close(pctl_remote *r)
{
	pctl_ipc_in body;

	if (!r)
		return;
	if (!r->lost && r->process.pid && pctl_remote_begin(r, PCTL_IPC_BYE, NULL)) {
		pctl_remote_ask(r, NULL, r->grace_ms, &body);
		if (r->process.pid)
			pctl_process_reap(&r->process, EXIT_MS);
	}
	pctl_process_kill(&r->process);
	pctl_process_drop(&r->process);
	pctl_ipc_channel_close(&r->ch);
	if (r->control_fd >= 0)
		close(r->control_fd);
	pctl_ipc_window_close(&r->window);
	pctl_refused_drop(r->refused);
	pthread_mutex_destroy(&r->lock);
	pctl_remote_first_drop(r);
	free(r->free_ids);
	free(r);
}

const pctl_backend *pctl_remote_table(const pctl_remote *r)
{
	return &r->table;
}

pctl_instance *pctl_remote_instance(pctl_remote *r)
{
	/* An instance is opaque to its users; this one is the remote itself. */
	return (pctl_instance *)(void *)r;
}

const char *pctl_remote_lost(const pctl_remote *r)
{
	return r->lost ? r->cause : NULL;
}

int pctl_remote_at_fault(const pctl_remote *r)
{
	return r->lost && !r->blameless;
}

pid_t pctl_remote_pid(const pctl_remote *r)
{
	return r->process.pid;
}

const pctl_refused *pctl_remote_refused(const pctl_remote *r)
{
	return r->refused;
}
