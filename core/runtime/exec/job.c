/* Running a plan: what is submitted, how a repeat alternates between two buffers. Recording is job_record.c. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/bytes.h"
#include "foundation/base/str.h"
#include "runtime/exec/guard.h"
#include "runtime/exec/job_private.h"
#include "runtime/exec/sanitize.h"
#include "runtime/exec/value.h"
#include "runtime/exec/readback.h"
#include "foundation/base/clock.h"

#define MOST_TIMES 256u /* re-submissions in one submit: keeps cancelling and progress prompt */

/* One way the plan's buffers are taken: a repeat has up to three (first round, odd, even). */
struct view {
	pctl_buffer **buffers; /* one a plan buffer */
};

static pctl_status create_buffer(struct pctl_job_running *r, uint32_t i, uint64_t seed, int second,
				 pctl_buffer **out)
{
	static const uint8_t none[4] = {0};
	const pctl_plan_buffer *b = &r->plan->buffers[i];
	const pctl_zones zones = pctl_job_zones(r, i, second);
	pctl_status status = r->t->buffer_create(
		r->dev, r->call, b->n_bytes + r->shape.before + r->shape.behind, b->usage, out);

	const int is_guarded = pctl_job_is_guarded(r, i);
	const int is_whole = is_guarded && pctl_zones_are_one(&zones, b->n_bytes);

	if (status == PCTL_OK && is_guarded)
		status = pctl_zones_write(r->s, *out, &zones,
					  b->kind == PCTL_PLAN_PARAMS ? b->data : NULL, b->n_bytes,
					  r->call);
	if (status == PCTL_OK)
		status = pctl_job_poison_own(r, i, seed, *out);
	if (is_whole)
		return status;
	if (status == PCTL_OK && b->kind == PCTL_PLAN_PARAMS && b->n_bytes != 0)
		status = r->t->buffer_write(r->dev, r->call, *out, r->shape.before, b->data,
					    b->n_bytes);
	if (status == PCTL_OK && b->kind == PCTL_PLAN_TURNS)
		status = r->t->buffer_write(r->dev, r->call, *out, r->shape.before, none,
					    b->n_bytes);
	return status;
}

/* Whoever looks at temporaries after steps, or for what they begin with, finds each in a buffer of its own, and so do proofs:
 * their zones see more there. */
static int has_pool(const struct pctl_job_running *r)
{
	return pctl_session_pools(r->s, r->plan) && !r->run->cut && r->run->poison == 0 &&
	       r->run->trace != PCTL_TRACE_STEPS && !r->shape.thorough;
}

static int is_pooled(const struct pctl_job_running *r, uint32_t i)
{
	return r->pool != NULL && r->plan->buffers[i].kind == PCTL_PLAN_TEMP;
}

static pctl_status create_pool(struct pctl_job_running *r)
{
	const pctl_zones zones = pctl_job_zones(r, r->plan->n_buffers, 0);
	const uint64_t n = r->plan->pool_bytes;
	pctl_status status =
		r->t->buffer_create(r->dev, r->call, n + r->shape.before + r->shape.behind,
				    PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM |
					    PCTL_BUFFER_TRANSFER | PCTL_BUFFER_INDIRECT,
				    &r->pool);

	if (status == PCTL_OK && pctl_job_is_guarded(r, r->plan->n_buffers))
		status = pctl_zones_write(r->s, r->pool, &zones, NULL, n, r->call);
	return status;
}

/* A buffer with these zones is no larger than the device allows. */
static int fits(const struct pctl_job_running *r, uint64_t n, uint64_t zones)
{
	const uint64_t most = pctl_session_caps(r->s)->max_buffer_bytes;

	return most == 0 || (zones <= most && n <= most - zones);
}

/* An input as it lies on the session, or uploaded now in the shape that this job draws for it. */
static pctl_status take_input(struct pctl_job_running *r, uint32_t i, pctl_value *const *in)
{
	pctl_zones zones = {0, 0, 0};

	if (r->run->shape != NULL)
		zones = pctl_shape_input(r->run->shape, i, pctl_session_caps(r->s));
	if (!fits(r, pctl_value_bytes(in[i]) + 3, zones.before + zones.behind))
		zones = (pctl_zones){0, 0, 0};
	return pctl_value_on(in[i], r->s, &zones, r->call, &r->inputs[i], &r->lie[i]);
}

static int is_carried(const struct pctl_job_running *r, uint32_t output)
{
	for (uint32_t i = 0; r->run->carry != NULL && i < r->plan->n_in; i++) {
		if (r->run->carry[i] == output + 1)
			return 1;
	}
	return 0;
}

static pctl_status prepare(struct pctl_job_running *r, pctl_value *const *in)
{
	const pctl_job_plan *plan = r->plan;
	pctl_status status = PCTL_OK;

	r->kernels = calloc(plan->n_steps + 1u, sizeof(*r->kernels));
	r->own = calloc(plan->n_buffers + 1u, sizeof(*r->own));
	r->second = calloc(plan->n_buffers + 1u, sizeof(*r->second));
	r->inputs = calloc(plan->n_in + 1u, sizeof(*r->inputs));
	r->lie = calloc(plan->n_in + 1u, sizeof(*r->lie));
	r->taken = calloc(plan->n_out + 1u, sizeof(*r->taken));
	if (r->kernels == NULL || r->own == NULL || r->second == NULL || r->inputs == NULL ||
	    r->lie == NULL || r->taken == NULL)
		return pctl_no_memory(r->call, "a job");
	for (uint32_t i = 0; status == PCTL_OK && i < plan->n_steps; i++) {
		if (plan->steps[i].kind == PCTL_STEP_KERNEL)
			status = pctl_session_kernel(r->s, plan->steps[i].unit, r->call,
						     &r->kernels[i]);
	}
	for (uint32_t i = plan->n_in; i < plan->n_buffers; i++)
		if (!fits(r, plan->buffers[i].n_bytes, r->shape.before + r->shape.behind))
			r->shape.before = r->shape.behind = 0;
	if (has_pool(r) && !fits(r, plan->pool_bytes, r->shape.before + r->shape.behind))
		r->shape.before = r->shape.behind = 0;
	for (uint32_t i = 0; status == PCTL_OK && i < plan->n_in; i++)
		status = take_input(r, i, in);
	if (status == PCTL_OK && has_pool(r))
		status = create_pool(r);
	for (uint32_t i = plan->n_in; status == PCTL_OK && i < plan->n_buffers; i++) {
		if (is_pooled(r, i) || pctl_job_place(r, i) != 0)
			continue;
		if (plan->buffers[i].kind == PCTL_PLAN_CONSTANT) {
			status =
				pctl_session_constant(r->s, &plan->buffers[i], r->call, &r->own[i]);
			continue;
		}
		status = create_buffer(r, i, i, 0, &r->own[i]);
		if (status == PCTL_OK && r->run->repeat > 1 && i < plan->n_in + plan->n_out &&
		    is_carried(r, i - plan->n_in))
			status = create_buffer(r, i, (uint64_t)i << 32, 1, &r->second[i]);
	}
	return status;
}

/*
 * Buffers of round `round` (0, then odd and even alternate): outputs of even rounds are the first
 * buffers, of odd ones the second where there are two; a carried input reads what the round before
 * wrote.
 */
void pctl_job_buffers_of(const struct pctl_job_running *r, uint64_t round, pctl_buffer **buffers,
			 uint64_t *bases)
{
	const pctl_job_plan *plan = r->plan;

	for (uint32_t i = 0; i < plan->n_buffers; i++) {
		buffers[i] = i < plan->n_in ? r->inputs[i] : r->own[i];
		bases[i] = i < plan->n_in ? r->lie[i].before : r->shape.before;
		if (plan->buffers[i].kind == PCTL_PLAN_CONSTANT)
			bases[i] = 0;
		if (is_pooled(r, i)) {
			buffers[i] = r->pool;
			bases[i] += plan->buffers[i].at;
		}
		if (pctl_job_place(r, i) != 0) {
			buffers[i] = r->inputs[pctl_job_place(r, i) - 1];
			bases[i] = r->lie[pctl_job_place(r, i) - 1].before;
		}
	}
	for (uint32_t i = plan->n_in; round % 2 != 0 && i < plan->n_in + plan->n_out; i++) {
		if (r->second[i] != NULL)
			buffers[i] = r->second[i];
	}
	for (uint32_t i = 0; round != 0 && r->run->carry != NULL && i < plan->n_in; i++) {
		uint32_t from = r->run->carry[i];

		if (from == 0)
			continue;
		buffers[i] = round % 2 != 0 ? r->own[plan->n_in + from - 1]
					    : r->second[plan->n_in + from - 1];
		bases[i] = r->shape.before;
	}
}

/* ---- submitting --------------------------------------------------------------------------- */

static pctl_status submit(struct pctl_job_running *r, pctl_list *list, uint64_t round,
			  uint32_t step, uint32_t times)
{
	pctl_status status;

	pctl_submission_trace(&r->work, r->plan->name, (uint32_t)round, step);
	status = pctl_submission_run(&r->work, list, times);
	return status == PCTL_OK ? pctl_job_check_turns(r) : status;
}

static void tell_progress(const struct pctl_job_running *r)
{
	const pctl_progress now = {.unit = "rounds",
				   .done = r->rounds,
				   .total = r->run->repeat,
				   .elapsed_ns = pctl_clock_ns() - r->work.started_ns,
				   .limit_ns = r->run->timeout_ms > UINT64_MAX / 1000000u
						       ? 0
						       : r->run->timeout_ms * 1000000u};

	pctl_progress_tell(r->run->progress, &now);
}

static void tell_waiting(void *running)
{
	tell_progress(running);
}

static void rounds_done(struct pctl_job_running *r, uint64_t rounds)
{
	r->rounds = rounds;
	tell_progress(r);
}

/* Rounds first .. first + n - 1, recorded as one list, `times` times. */
static pctl_status run_rounds(struct pctl_job_running *r, uint64_t first, uint32_t n,
			      uint64_t times)
{
	pctl_list *list;
	pctl_status status = times == 0 ? PCTL_OK : pctl_job_record(r, first, n, 0, &list);
	uint64_t done = 0;

	if (status != PCTL_OK || times == 0)
		return status;
	while (status == PCTL_OK && done < times) {
		uint32_t now = times - done < MOST_TIMES ? (uint32_t)(times - done) : MOST_TIMES;

		status = submit(r, list, first + done * n, 0, now);
		done += now;
		if (status == PCTL_OK)
			rounds_done(r, first + done * n);
	}
	r->t->list_destroy(r->dev, list);
	return status;
}

/* ---- the plan's own checks ---------------------------------------------------------------- */

static pctl_status read_word(struct pctl_job_running *r, pctl_buffer *buffer, uint64_t offset,
			     uint32_t bytes, uint64_t *out)
{
	uint8_t raw[8] = {0};
	pctl_status status = pctl_readback_fill(r->s, r->call, buffer, offset, raw, bytes);

	*out = pctl_le_get(raw, bytes);
	return status;
}

/* The assertions, on the buffers that round `round` used. */
static pctl_status check_assertions(struct pctl_job_running *r, uint64_t round)
{
	const size_t n = r->plan->n_checks == 0 ? 0 : r->plan->n_buffers + (size_t)1;
	pctl_buffer **buffers = n == 0 ? NULL : calloc(n, sizeof(pctl_buffer *));
	uint64_t *bases = n == 0 ? NULL : calloc(n, sizeof(*bases));
	pctl_status status = PCTL_OK;

	if (n == 0)
		return PCTL_OK;
	status = buffers == NULL || bases == NULL ? pctl_no_memory(r->call, "a job") : PCTL_OK;
	if (status == PCTL_OK)
		pctl_job_buffers_of(r, round, buffers, bases);
	for (uint32_t i = 0; status == PCTL_OK && i < r->plan->n_checks; i++) {
		const pctl_plan_check *c = &r->plan->checks[i];
		uint64_t found, also = 0;

		status = read_word(r, buffers[c->buffer], bases[c->buffer] + c->offset, c->bytes,
				   &found);
		if (status == PCTL_OK && found != c->expected && c->also_bytes != 0)
			status = read_word(r, buffers[c->buffer], bases[c->buffer] + c->also_offset,
					   c->also_bytes, &also);
		if (status == PCTL_OK && found != c->expected)
			status = pctl_job_refuse_check(r->plan, c, found, also, r->call);
	}
	free(buffers);
	free(bases);
	return status;
}

/* Show the buffers of a round: to whom a cut is for (`cut` 1), or to the trace. */
static pctl_status show(struct pctl_job_running *r, int cut, uint64_t round, uint32_t step)
{
	pctl_buffer **buffers = calloc(r->plan->n_buffers + 1u, sizeof(pctl_buffer *));
	uint64_t *bases = calloc(r->plan->n_buffers + 1u, sizeof(*bases));
	pctl_job_buffers view = {r->plan, r->s, buffers, bases};
	pctl_status status =
		buffers == NULL || bases == NULL ? pctl_no_memory(r->call, "a job") : PCTL_OK;

	if (status == PCTL_OK) {
		pctl_job_buffers_of(r, round, buffers, bases);
		status = cut ? r->run->observe(r->run->observer, &view, r->call)
			     : r->run->observed_steps(r->run->observed_ctx, &view, round, step,
						      r->call);
	}
	free(buffers);
	free(bases);
	return status;
}

/* The steps of a round one by one, each shown. */
static pctl_status run_steps(struct pctl_job_running *r, uint64_t round)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < pctl_job_steps_of(r, round); i++) {
		pctl_list *list;

		if (pctl_job_is_empty(&r->plan->steps[i]))
			continue;
		status = pctl_job_record(r, round, 1, i + 1, &list);
		if (status != PCTL_OK)
			break;
		status = submit(r, list, round, i + 1, 1);
		if (status == PCTL_OK)
			status = show(r, 0, round, i + 1);
		r->t->list_destroy(r->dev, list);
	}
	return status;
}

/* A plan with assertions runs round by round: what one round found must not be lost in the next. So does one whose
 * rounds are traced, timed or shown, or whose last round is cut. */
static pctl_status run_checked(struct pctl_job_running *r)
{
	pctl_list *lists[4] = {
		NULL}; /* the first round, odd ones, even ones, the one that is cut */
	pctl_status status = PCTL_OK;

	for (uint64_t round = 0; status == PCTL_OK && round < r->run->repeat; round++) {
		int cut = pctl_job_is_cut(r, round);
		pctl_list **list = &lists[cut ? 3 : round == 0 ? 0 : 2 - round % 2];

		if (r->run->trace == PCTL_TRACE_STEPS) {
			status = run_steps(r, round);
		} else {
			if (*list == NULL)
				status = pctl_job_record(r, round, 1, 0, list);
			if (status == PCTL_OK && !(cut && r->run->steps == 0))
				status = submit(r, *list, round, 0, 1);
		}
		if (status == PCTL_OK && r->run->times != NULL)
			r->run->times[round] = r->work.time;
		if (status == PCTL_OK && !cut)
			status = check_assertions(r, round);
		if (status == PCTL_OK && !cut && r->run->trace != PCTL_TRACE_JOBS)
			status = show(r, 0, round, 0);
		if (status == PCTL_OK)
			rounds_done(r, round + 1);
	}
	if (status == PCTL_OK && r->run->cut && r->run->repeat != 0)
		status = show(r, 1, r->run->repeat - 1, 0);
	for (uint32_t i = 0; i < 4; i++) {
		if (lists[i] != NULL)
			r->t->list_destroy(r->dev, lists[i]);
	}
	return status;
}

static pctl_status run_all(struct pctl_job_running *r)
{
	uint64_t n = r->run->repeat;
	pctl_status status;

	if (r->plan->n_checks != 0 || r->run->traced || r->run->cut || r->run->trace ||
	    r->run->times != NULL)
		return run_checked(r);
	status = run_rounds(r, 0, 1, n > 0);
	if (status == PCTL_OK && n > 2)
		status = run_rounds(r, 1, 2, (n - 1) / 2);
	if (status == PCTL_OK && n > 1 && (n - 1) % 2 != 0)
		status = run_rounds(r, n - 1, 1, 1);
	return status;
}

int pctl_job_keeps_second(const struct pctl_job_running *r, uint32_t number)
{
	return r->run->repeat > 0 && (r->run->repeat - 1) % 2 != 0 && r->second[number] != NULL;
}

/* Hand the outputs over as values; the buffer that the last round wrote is kept, the other one
 * dropped. */
static pctl_status hand_over(struct pctl_job_running *r, pctl_value *const *in, pctl_value **out)
{
	const pctl_job_plan *plan = r->plan;

	for (uint32_t i = 0; i < plan->n_out; i++) {
		uint32_t b = plan->n_in + i;
		pctl_buffer **kept = pctl_job_keeps_second(r, b) ? &r->second[b] : &r->own[b];

		if (pctl_job_place(r, b) != 0) {
			out[i] = pctl_value_take_over(in[pctl_job_place(r, b) - 1], r->s,
						      r->run->out_bytes[i]);
			if (out[i] == NULL)
				return pctl_no_memory(r->call, "a job");
			continue;
		}
		if (r->run->repeat == 0) {
			for (uint32_t k = 0; k < plan->n_in; k++) {
				if (r->run->carry != NULL && r->run->carry[k] == i + 1)
					out[i] = pctl_value_retain(in[k]);
			}
			if (out[i] != NULL)
				continue;
		}
		out[i] = pctl_value_from_buffer(r->s, *kept, r->run->out_bytes[i]);
		if (out[i] == NULL)
			return pctl_no_memory(r->call, "a job");
		out[i]->at[0].zones = pctl_job_zones(r, b, kept == &r->second[b]);
		*kept = NULL;
		out[i]->host = r->taken[i];
		r->taken[i] = NULL;
	}
	return PCTL_OK;
}

static void tear_down(struct pctl_job_running *r)
{
	if (r->pool != NULL)
		r->t->buffer_destroy(r->dev, r->pool);
	for (uint32_t i = 0; i < r->plan->n_buffers; i++) {
		/* Constants are the session's. */
		if (r->own != NULL && r->own[i] != NULL &&
		    r->plan->buffers[i].kind != PCTL_PLAN_CONSTANT)
			r->t->buffer_destroy(r->dev, r->own[i]);
		if (r->second != NULL && r->second[i] != NULL)
			r->t->buffer_destroy(r->dev, r->second[i]);
	}
	free(r->kernels);
	free(r->own);
	free(r->second);
	free(r->inputs);
	for (uint32_t i = 0; r->taken != NULL && i < r->plan->n_out; i++)
		free(r->taken[i]);
	free(r->taken);
	free(r->lie);
}

static void start(struct pctl_job_running *r, pctl_session *s, const pctl_job_run *run,
		  const pctl_call *call)
{
	*r = (struct pctl_job_running){.s = s,
				       .t = pctl_session_table(s),
				       .dev = pctl_session_device(s),
				       .run = run,
				       .plan = run->plan,
				       .call = &r->work.call,
				       .shape = run->shape == NULL ? (pctl_shape){0} : *run->shape};
	snprintf(r->what, sizeof(r->what), "job \"%.200s\"", run->plan->name);
	pctl_submission_begin(&r->work, s, r->what, run->timeout_ms, call);
	r->work.waiting = tell_waiting;
	r->work.ctx = r;
	tell_progress(r);
}

pctl_status pctl_job_execute(pctl_session *s, const pctl_job_run *run, pctl_value *const *in,
			     const pctl_call *call, pctl_value **out, pctl_job_stats *stats)
{
	struct pctl_job_running r;
	pctl_counts counts = {0};
	uint64_t uploaded, dispatched;
	pctl_status status;

	memset(out, 0, run->plan->n_out * sizeof(*out));
	start(&r, s, run, call);
	pctl_submission_trace(&r.work, run->plan->name, 0, 0);
	status = prepare(&r, in);
	if (status == PCTL_OK)
		status = pctl_job_choose_programs(&r, in);
	uploaded = pctl_clock_ns();
	if (status == PCTL_OK)
		status = run_all(&r);
	dispatched = pctl_clock_ns();
	if (status == PCTL_OK)
		status = pctl_job_guard_check(&r, in);
	if (status == PCTL_OK && run->held)
		status = pctl_job_check_held(&r, in);
	if (status == PCTL_OK)
		status = pctl_sanitize_report(s, r.plan, call, &counts);
	if (status == PCTL_OK)
		status = hand_over(&r, in, out);
	for (uint32_t i = 0; status != PCTL_OK && i < run->plan->n_out; i++) {
		pctl_value_release(out[i]);
		out[i] = NULL;
	}
	if (status != PCTL_OK)
		pctl_job_drop_places(&r, in);
	tear_down(&r);
	if (stats != NULL)
		*stats = (pctl_job_stats){.device_ns = r.work.device_ns,
					  .wall_ns = pctl_clock_ns() - r.work.started_ns,
					  .began_ns = r.work.started_ns,
					  .upload_ns = uploaded - r.work.started_ns,
					  .dispatch_ns = dispatched - uploaded,
					  .submits = r.work.submits,
					  .dispatches = r.work.dispatches,
					  .fast_kernels = r.fast,
					  .safe_kernels = r.safe,
					  .looked = r.looked,
					  .exceeded = r.exceeded,
					  .counts = counts};
	return status;
}

static pctl_status read_measure(struct pctl_job_running *r, uint64_t *out)
{
	const pctl_job_plan *plan = r->plan;
	pctl_buffer **buffers = calloc(plan->n_buffers + 1u, sizeof(pctl_buffer *));
	uint64_t *bases = calloc(plan->n_buffers + 1u, sizeof(*bases));
	pctl_status status =
		buffers == NULL || bases == NULL ? pctl_no_memory(r->call, "a job") : PCTL_OK;

	if (status == PCTL_OK) {
		pctl_job_buffers_of(r, 0, buffers, bases);
		status = read_word(r, buffers[plan->measure_buffer],
				   bases[plan->measure_buffer] + plan->measure_offset,
				   plan->measure_bytes, out);
	}
	free(buffers);
	free(bases);
	return status;
}

pctl_status pctl_job_measure(pctl_session *s, const pctl_job_plan *plan, pctl_value *const *in,
			     uint64_t timeout_ms, const pctl_progress_sink *progress,
			     const pctl_call *call, uint64_t *out)
{
	pctl_job_run run = {
		.plan = plan, .repeat = 1, .timeout_ms = timeout_ms, .progress = progress};
	struct pctl_job_running r;
	pctl_counts counts = {0};
	pctl_status status;

	*out = 0;
	start(&r, s, &run, call);
	r.work.is_traced = 0; /* a measure is no round of the job */
	status = prepare(&r, in);
	if (status == PCTL_OK)
		status = run_all(&r);
	if (status == PCTL_OK)
		status = pctl_sanitize_report(s, plan, call, &counts);
	if (status == PCTL_OK)
		status = read_measure(&r, out);
	if (status == PCTL_OK && __builtin_add_overflow(*out, plan->measure_add, out))
		status = pctl_refuse(call, PC5205_JOB_FAILED,
				     "job \"%s\": a measured size does not fit in 64 bits",
				     plan->name);
	tear_down(&r);
	return status;
}
