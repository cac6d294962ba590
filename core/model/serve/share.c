/* Hand-overs between the threads of a server, and two of the threads; see share.h. */
#include "model/serve/share.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "foundation/base/clock.h"

#define TICK_MS 50 /* how often times are looked at while nothing else happens */

/* ---- under the lock ----------------------------------------------------------------------- */

static void wake(serve_share *s, serve_request *r)
{
	const uint64_t one = 1;

	if (r->is_woken)
		return;
	r->is_woken = 1;
	r->next_woken = s->woken;
	s->woken = r;
	r->refs++;
	/* Full is readable, too. */
	while (write(s->event_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static void drop(serve_request *r)
{
	if (--r->refs == 0)
		serve_request_destroy(r);
}

static void told(void *ctx, serve_request *r)
{
	r->is_readable = 1;
	wake(ctx, r);
}

static void ended(void *ctx, serve_request *r)
{
	told(ctx, r);
	drop(r);
}

/* A request that no sequence came of. */
static void refuse(serve_share *s, serve_request *r, const serve_refusal *refusal)
{
	if (r->refusal.code == 0)
		r->refusal = *refusal;
	r->is_done = 1;
	ended(s, r);
}

/* ---- the intake --------------------------------------------------------------------------- */

static void read_one(serve_share *s, serve_request *r)
{
	serve_refusal refusal = {.code = 0};
	int fine = 0;

	if (!s->stopping) {
		pthread_mutex_unlock(&s->lock);
		fine = serve_request_read(r, s->engine, &s->options->limits, &refusal);
		free(r->body);
		r->body = NULL;
		pthread_mutex_lock(&s->lock);
	}
	if (s->stopping) {
		refusal = (serve_refusal){.code = 0};
		fine = serve_refuse(&refusal, PC6270_SERVE_STOPPING, NULL,
				    "the server is being stopped");
	}
	if (!fine) {
		r->params.stream = 0;
		refuse(s, r, &refusal);
		return;
	}
	serve_scheduler_add(&s->scheduler, r);
	pthread_cond_signal(&s->engine_work);
}

static void *intake(void *ctx)
{
	serve_share *s = ctx;

	pthread_mutex_lock(&s->lock);
	for (;;) {
		serve_request *r = s->intake_first;

		if (r == NULL && s->stopping)
			break;
		if (r == NULL) {
			pthread_cond_wait(&s->intake_work, &s->lock);
			continue;
		}
		s->intake_first = r->next;
		if (s->intake_first == NULL)
			s->intake_last = NULL;
		if (r->is_cancelled)
			refuse(s, r, &(serve_refusal){.code = PC4_CANCELLED});
		else
			read_one(s, r);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* ---- the engine's ------------------------------------------------------------------------- */

static void wait_a_tick(serve_share *s)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += TICK_MS * 1000000l;
	until.tv_sec += until.tv_nsec / 1000000000l;
	until.tv_nsec %= 1000000000l;
	(void)pthread_cond_timedwait(&s->engine_work, &s->lock, &until);
}

static void *run_engine(void *ctx)
{
	serve_share *s = ctx;

	pthread_mutex_lock(&s->lock);
	while (!s->stopping) {
		const uint32_t n = serve_scheduler_plan(&s->scheduler, pctl_clock_ms());

		s->counts = s->scheduler.counts;
		if (n == 0) {
			if (s->scheduler.first == NULL)
				pthread_cond_wait(&s->engine_work, &s->lock);
			else
				wait_a_tick(s);
			continue;
		}
		pthread_mutex_unlock(&s->lock);
		serve_scheduler_run(&s->scheduler);
		pthread_mutex_lock(&s->lock);
		if (s->scheduler.failure.code != 0 || s->scheduler.step_status != PCTL_OK) {
			s->failure = s->scheduler.failure;
			s->n_failures++;
		}
		serve_scheduler_apply(&s->scheduler, pctl_clock_ms());
	}
	serve_scheduler_stop(&s->scheduler, PC6270_SERVE_STOPPING);
	s->counts = s->scheduler.counts;
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* ---- the thread of HTTP ------------------------------------------------------------------- */

void serve_share_submit(serve_share *s, serve_request *r)
{
	pthread_mutex_lock(&s->lock);
	r->refs++;
	r->next = NULL;
	if (s->intake_last == NULL)
		s->intake_first = r;
	else
		s->intake_last->next = r;
	s->intake_last = r;
	pthread_cond_signal(&s->intake_work);
	pthread_mutex_unlock(&s->lock);
}

void serve_share_leave(serve_share *s, serve_request *r, serve_summary *out)
{
	*out = (serve_summary){
		.number = r->number, .arrived_ms = r->arrived_ms, .code = PC4_CANCELLED};
	r->exchange = NULL;
	pthread_mutex_lock(&s->lock);
	/* Before that the intake has it. */
	if (r->is_readable || r->is_done) {
		out->started_ms = r->started_ms;
		out->prompt_tokens = r->prompt_tokens;
		out->completion_tokens = r->completion_tokens;
		out->code = r->is_done ? r->refusal.code : PC4_CANCELLED;
		snprintf(out->user, sizeof(out->user), "%s",
			 r->params.user == NULL ? "" : r->params.user);
	}
	if (!r->is_done) {
		r->is_cancelled = 1;
		pthread_cond_signal(&s->engine_work);
	}
	drop(r);
	pthread_mutex_unlock(&s->lock);
}

serve_request *serve_share_woken(serve_share *s)
{
	serve_request *first, *kept = NULL;
	uint64_t n;

	while (read(s->event_fd, &n, sizeof(n)) < 0 && errno == EINTR)
		;
	pthread_mutex_lock(&s->lock);
	first = s->woken;
	s->woken = NULL;
	/* Whom HTTP has left meanwhile is nobody's any more. */
	for (serve_request *r = first, *next; r != NULL; r = next) {
		next = r->next_woken;
		r->is_woken = 0;
		if (r->refs == 1 || r->exchange == NULL) {
			drop(r);
			continue;
		}
		r->refs--;
		r->next_ready = kept;
		kept = r;
	}
	pthread_mutex_unlock(&s->lock);
	return kept;
}

int serve_share_is_readable(serve_share *s, serve_request *r)
{
	int readable;

	pthread_mutex_lock(&s->lock);
	readable = (int)(r->is_readable || r->is_done);
	pthread_mutex_unlock(&s->lock);
	return readable;
}

long serve_share_read(serve_share *s, serve_request *r, char *to, size_t n)
{
	const size_t limit = s->options->limits.output_bytes;
	size_t left;
	long got;

	pthread_mutex_lock(&s->lock);
	left = r->out.n - r->out_at;
	n = left < n ? left : n;
	if (n != 0)
		memcpy(to, r->out.data + r->out_at, n);
	r->out_at += n;
	got = n != 0 ? (long)n : r->out.failed ? -2 : r->is_done ? -1 : 0;
	/* What was sent goes away at once: a stream has no memory of its length. */
	if (r->out_at == r->out.n) {
		r->out.n = r->out_at = 0;
	} else if (r->out_at > limit) {
		memmove(r->out.data, r->out.data + r->out_at, r->out.n - r->out_at);
		r->out.n -= r->out_at;
		r->out_at = 0;
	}
	if (left > limit && left - n <= limit)
		pthread_cond_signal(&s->engine_work);
	pthread_mutex_unlock(&s->lock);
	return got;
}

void serve_share_counts(serve_share *s, serve_counts *out)
{
	pthread_mutex_lock(&s->lock);
	*out = s->counts;
	pthread_mutex_unlock(&s->lock);
}

int serve_share_failure(serve_share *s, uint64_t *seen, serve_refusal *out)
{
	int is_new;

	pthread_mutex_lock(&s->lock);
	is_new = s->n_failures != *seen;
	*seen = s->n_failures;
	*out = s->failure;
	pthread_mutex_unlock(&s->lock);
	return is_new;
}

/* ---- beginning and end -------------------------------------------------------------------- */

static pctl_status start(serve_share *s, pthread_t *out, void *(*run)(void *),
			 const pctl_call *call)
{
	const int error = pthread_create(out, NULL, run, s);

	if (error != 0)
		return pctl_refuse(call, PC6253_SERVE_SYSTEM, "a thread cannot be made: %s",
				   strerror(error));
	s->n_threads++;
	return PCTL_OK;
}

pctl_status serve_share_open(serve_share *s, const pctl_engine *engine,
			     const pctl_serve_options *options, const pctl_call *call)
{
	pthread_condattr_t attr;
	pctl_status status;

	*s = (serve_share){.engine = engine,
			   .options = options,
			   .scheduler = {.engine = engine,
					 .limits = &options->limits,
					 .told = told,
					 .ended = ended,
					 .ctx = s}};
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->intake_work, NULL);
	pthread_cond_init(&s->engine_work, &attr);
	pthread_condattr_destroy(&attr);
	s->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->event_fd < 0)
		status = pctl_refuse(call, PC6253_SERVE_SYSTEM, "an eventfd cannot be made: %s",
				     strerror(errno));
	else
		status = serve_scheduler_open(&s->scheduler, call);
	if (status == PCTL_OK)
		status = start(s, &s->engine_thread, run_engine, call);
	if (status == PCTL_OK)
		status = start(s, &s->intake_thread, intake, call);
	if (status != PCTL_OK)
		serve_share_close(s);
	return status;
}

void serve_share_stop(serve_share *s)
{
	pthread_mutex_lock(&s->lock);
	s->stopping = 1;
	s->scheduler.hurry = 1;
	pthread_cond_signal(&s->intake_work);
	pthread_cond_signal(&s->engine_work);
	pthread_mutex_unlock(&s->lock);
	if (s->n_threads > 1)
		pthread_join(s->intake_thread, NULL);
	if (s->n_threads > 0)
		pthread_join(s->engine_thread, NULL);
	s->n_threads = 0;
	/* What the intake added after the engine's thread had ended. */
	pthread_mutex_lock(&s->lock);
	serve_scheduler_stop(&s->scheduler, PC6270_SERVE_STOPPING);
	pthread_mutex_unlock(&s->lock);
}

void serve_share_close(serve_share *s)
{
	serve_share_stop(s);
	(void)serve_share_woken(s);
	serve_scheduler_close(&s->scheduler);
	if (s->event_fd >= 0)
		close(s->event_fd);
	pthread_cond_destroy(&s->intake_work);
	pthread_cond_destroy(&s->engine_work);
	pthread_mutex_destroy(&s->lock);
}
