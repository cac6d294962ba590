/* The connection to a worker: one request and its reply, and how it is lost; see remote.h. */
#include "runtime/ipc/remote.h"

#include <assert.h>
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
#include "runtime/ipc/words.h"
#include "foundation/base/clock.h"

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
	*code = PC3112_WORKER_RESOURCES;
	/* What fills its folder is no program's doing. */
	if (pctl_confine_over_folder(r->process.status))
		return 1;
	if (r->is_building)
		*code = PC3110_WORKER_BUILD;
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
	if (code != PC3103_WORKER_DIED || !pctl_patience_reap(&r->process, 1000))
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
	if (r->lost_code && code != PC4_CANCELLED && code != PC2_NOMEM)
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

/* An answer that this process has no room for: it is given up, and not the worker's doing. */
static pctl_status lose_for_memory(pctl_remote *r, const pctl_call *call)
{
	r->blameless = 1;
	return lose(r, call, PC2_NOMEM, "the host had no memory for its answer");
}

/* ---- waiting ------------------------------------------------------------------------------ */

typedef struct waiting {
	pctl_patience patience;
	uint64_t cancelled_end_ms; /* once it was cancelled */
	const pctl_call *call;
	const pctl_ipc_control *cancel;
	int cancelled;
	int is_build, has_before, is_late;
	pctl_arena *keep; /* what the reply holds goes there, too */
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

/* Where this process was not run for a while (a busy machine, a stop, sleep) the answer may lie there since before the time was
 * over. Once: who sends it in pieces gets the time of a cancel for the rest, and no more. */
static int is_there_late(pctl_remote *r, short events, waiting *w, uint64_t now)
{
	struct pollfd fd = {r->ch.fd, events, 0};

	if (w->is_late || poll(&fd, 1, 0) <= 0)
		return 0;
	w->is_late = 1;
	pctl_patience_begin(&w->patience, now, r->grace_ms);
	w->cancelled_end_ms = now + r->grace_ms;
	return 1;
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
			return is_there_late(r, events, w, now) ? PCTL_OK : lose_silent(r, w);
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
		if (rc < 0 && errno == ENOMEM)
			return lose_for_memory(r, w->call);
		if (rc == 0 || (rc < 0 && errno != EAGAIN))
			return lose(r, w->call, PC3103_WORKER_DIED, "%s", "");
	}
}

/* ---- requests ----------------------------------------------------------------------------- */

/* Told only when it changes: most requests come in long runs of one job. */
static void tell_trace(pctl_remote *r, uint64_t trace)
{
	const pctl_ipc_trace t = {trace};

	pctl_ipc_frame_begin(&r->ch, PCTL_IPC_TRACE, r->seq);
	pctl_ipc_pack(&r->ch.out, PCTL_IPC_SHAPE_trace, &t, NULL);
	if (pctl_ipc_frame_end(&r->ch))
		r->trace = trace;
}

static uint32_t number_of(const void *object)
{
	return ((const remote_object *)object)->id;
}

int pctl_remote_begin(pctl_remote *r, uint16_t op, const void *ask, const pctl_call *call)
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
	pctl_ipc_pack(&r->ch.out, pctl_ipc_message_of(op)->ask, ask, number_of);
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

int pctl_remote_decode(const uint8_t *payload, size_t n, const char *plugin, pctl_arena *arena,
		       const pctl_call *call, pctl_status *status, pctl_ipc_in *body)
{
	const pctl_ipc_scope scope = {arena, NULL, NULL};
	pctl_ipc_in in = {payload, n, 0, 0};
	pctl_ipc_answer answer;

	if (!pctl_ipc_unpack(&in, PCTL_IPC_SHAPE_answer, &scope, &answer))
		return 0;
	*status = (pctl_status)answer.status;
	for (uint32_t i = 0; i < answer.n_diags; i++)
		pctl_words_emit(plugin, &answer.diags[i], call);
	*body = in;
	return 1;
}

static int keep_body(pctl_ipc_in *body, pctl_arena *arena)
{
	const size_t n = body->n - body->pos;
	uint8_t *copy = pctl_arena_alloc(arena, n);

	if (copy && n)
		memcpy(copy, body->data + body->pos, n);
	*body = (pctl_ipc_in){copy, n, 0, 0};
	return copy != NULL;
}

static pctl_status ask(pctl_remote *r, const pctl_call *call, waiting w, void *reply)
{
	const pctl_ipc_scope scope = {w.keep ? w.keep : r->arena, NULL, NULL};
	const pctl_ipc_message *m;
	pctl_ipc_header sent = {0};
	pctl_status s, answer;
	pctl_ipc_frame f;
	pctl_ipc_in body;

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
	pctl_arena_clear(r->arena);
	if (f.header.op != sent.op || f.header.seq != sent.seq ||
	    !pctl_remote_decode(f.payload, f.header.n_bytes, r->id, r->arena, call, &answer, &body))
		return pctl_arena_failed(r->arena) ? lose_for_memory(r, call)
						   : pctl_remote_bad_reply(r, call, "request");
	if (!pctl_ipc_status_known(answer))
		return pctl_refuse(call, PC3108_WORKER_CONTRACT,
				   "plugin \"%s\" answered with the unknown status %d", r->id,
				   answer);
	if (answer && !pctl_ipc_in_done(&body))
		return pctl_remote_bad_reply(r, call, "refusal");
	m = pctl_ipc_message_of(sent.op);
	if (!answer && w.keep && !keep_body(&body, w.keep))
		return pctl_no_memory(call, "a reply");
	if (!answer && !pctl_ipc_unpack_all(&body, m->reply, &scope, reply))
		return pctl_arena_failed(scope.arena) ? lose_for_memory(r, call)
						      : pctl_remote_bad_reply(r, call, m->name);
	if (answer)
		tell_refused(r, call);
	return answer;
}

pctl_status pctl_remote_ask(pctl_remote *r, const pctl_call *call, uint64_t limit_ms, void *reply)
{
	return ask(r, call, wait_after(call, 0, limit_ms, NULL), reply);
}

pctl_status pctl_remote_ask_keep(pctl_remote *r, const pctl_call *call, uint64_t limit_ms,
				 pctl_arena *arena, void *reply)
{
	waiting w = wait_after(call, 0, limit_ms, NULL);

	w.keep = arena;
	return ask(r, call, w, reply);
}

pctl_status pctl_remote_ask_after(pctl_remote *r, const pctl_call *call, uint64_t after_ms,
				  uint64_t limit_ms, const pctl_ipc_control *cancel,
				  remote_first *first, void *reply)
{
	waiting w = wait_after(call, after_ms, limit_ms, cancel);

	w.first = first;
	return ask(r, call, w, reply);
}

pctl_status pctl_remote_ask_build(pctl_remote *r, const pctl_call *call, void *reply)
{
	waiting w = wait_after(call, 0, r->call_ms, NULL);
	pctl_status s;

	w.is_build = 1;
	w.next_poll_ms = pctl_clock_ms() + PCTL_PATIENCE_POLL_MS;
	r->is_building = 1;
	s = ask(r, call, w, reply);
	r->is_building = 0;
	return s;
}

pctl_status pctl_remote_request(pctl_remote *r, uint16_t op, const void *ask, const pctl_call *call,
				void *reply)
{
	if (!pctl_remote_begin(r, op, ask, call))
		return PCTL_E_DEVICE_LOST;
	switch (pctl_ipc_message_of(op)->patience) {
	case PCTL_IPC_PATIENCE_CALL:
		return pctl_remote_ask(r, call, r->call_ms, reply);
	case PCTL_IPC_PATIENCE_BUILD:
		return pctl_remote_ask_build(r, call, reply);
	case PCTL_IPC_PATIENCE_OWN:
	default:
		assert(0 && "a request with a patience of its own");
		return PCTL_E_INTERNAL;
	}
}

pctl_status pctl_remote_call(pctl_remote *r, uint16_t op, const void *ask, const pctl_call *call,
			     void *reply)
{
	pctl_status s;

	pthread_mutex_lock(&r->lock);
	s = pctl_remote_request(r, op, ask, call, reply);
	pthread_mutex_unlock(&r->lock);
	return s;
}
