/* Recording, submitting, waiting and stopping on one session; see submission.h. */
#include "runtime/exec/submission.h"

#include <inttypes.h>
#include <string.h>

#include "foundation/base/clock.h"

#define WAIT_SLICE_NS (100ull * 1000 * 1000)
#define STOP_SLICES 100u /* how long a cancelled submit is waited for */

void pctl_submission_begin(pctl_submission *b, pctl_session *s, const char *what,
			   uint64_t timeout_ms, const pctl_call *call)
{
	*b = (pctl_submission){.s = s,
			       .t = pctl_session_table(s),
			       .dev = pctl_session_device(s),
			       .call = {.head = PCTL_HEAD(pctl_call)},
			       .what = what,
			       .timeout_ms = timeout_ms,
			       .started_ns = pctl_clock_ns()};
	if (call != NULL)
		b->call = *call;
	b->is_traced = b->call.trace_id == 0;
}

void pctl_submission_trace(pctl_submission *b, const char *job, uint32_t round, uint32_t step)
{
	if (b->is_traced)
		b->call.trace_id = job == NULL ? 0 : pctl_trace(job, round, step);
}

/* ---- recording ------------------------------------------------------------------------------ */

pctl_status pctl_submission_open(pctl_submission *b)
{
	return b->t->list_begin(b->dev, &b->call, &b->list);
}

pctl_status pctl_submission_dispatch(pctl_submission *b, pctl_kernel *kernel,
				     const pctl_binding *bindings, uint32_t n,
				     const uint32_t groups[3])
{
	b->dispatches++;
	return b->t->list_dispatch(b->list, &b->call, kernel, bindings, n, groups);
}

pctl_status pctl_submission_indirect(pctl_submission *b, pctl_kernel *kernel,
				     const pctl_binding *bindings, uint32_t n, pctl_buffer *counts,
				     uint64_t offset, const uint32_t limit[3])
{
	b->dispatches++;
	return b->t->list_dispatch_indirect(b->list, &b->call, kernel, bindings, n, counts, offset,
					    limit);
}

pctl_status pctl_submission_end(pctl_submission *b, pctl_list **out)
{
	pctl_status status = b->t->list_end(b->list, &b->call);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	*out = b->list;
	b->list = NULL;
	return PCTL_OK;
}

void pctl_submission_drop(pctl_submission *b)
{
	if (b->list != NULL)
		b->t->list_destroy(b->dev, b->list);
	b->list = NULL;
}

/* ---- submitting ----------------------------------------------------------------------------- */

/* Asked between submits as well as between waits: many short ones must not outrun it. */
static pctl_status stop_if_due(const pctl_submission *b)
{
	if (pctl_is_cancelled(&b->call))
		return pctl_refuse(&b->call, PC4_CANCELLED, "%s was cancelled", b->what);
	if (b->timeout_ms != 0 && (pctl_clock_ns() - b->started_ns) / 1000000u > b->timeout_ms)
		return pctl_refuse(&b->call, PC5206_TIMEOUT,
				   "%s ran longer than %" PRIu64 " ms on %s", b->what,
				   b->timeout_ms, pctl_session_name(b->s));
	return PCTL_OK;
}

/* Stop what is under way and wait until it has: its buffers are about to go. */
static void stop(pctl_submission *b, uint64_t ticket)
{
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
	pctl_status status = PCTL_OK;

	b->t->cancel(b->dev, ticket);
	for (uint32_t i = 0; i < STOP_SLICES && status == PCTL_OK && !done.done; i++)
		status = b->t->wait(b->dev, &b->call, ticket, WAIT_SLICE_NS, &done);
	b->runs_on = !done.done && status != PCTL_E_CANCELLED;
}

pctl_status pctl_submission_run(pctl_submission *b, pctl_list *list, uint32_t times)
{
	const uint64_t began = pctl_clock_ns();
	uint64_t ticket = 0;
	pctl_status status = stop_if_due(b);

	if (status == PCTL_OK)
		status = b->t->submit(b->dev, &b->call, list, times, &ticket);
	b->submits++;
	b->submit_ns = pctl_clock_ns() - began;
	while (status == PCTL_OK) {
		pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};

		status = b->t->wait(b->dev, &b->call, ticket, WAIT_SLICE_NS, &done);
		if (status != PCTL_OK || done.done) {
			b->device_ns += done.device_ns;
			b->wait_ns = pctl_clock_ns() - began - b->submit_ns;
			b->time = (pctl_round_time){
				done.timestamps[PCTL_SLOT_BEGIN], done.timestamps[PCTL_SLOT_END],
				pctl_clock_ns() - began, done.n_timestamps > PCTL_SLOT_END, 0};
			b->n_stamps = done.n_timestamps;
			memcpy(b->stamps, done.timestamps, sizeof(b->stamps));
			return status;
		}
		if (b->waiting != NULL)
			b->waiting(b->ctx);
		status = stop_if_due(b);
		if (status != PCTL_OK)
			stop(b, ticket);
	}
	return status;
}
