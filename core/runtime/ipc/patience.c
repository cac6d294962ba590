/* Processor time against the clock; see patience.h. */
#include "runtime/ipc/patience.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "foundation/base/clock.h"

#define TIMES_AS_LONG 10u
#define IDLE_SHARE 50u /* who wanted less than this part of the time did nothing */
#define REAP_SLICE_MS 50u
#define STEPS 4u /* in which a limit is put off: after one of them a hang is found */

void pctl_patience_begin(pctl_patience *p, uint64_t begin_ms, uint64_t limit_ms)
{
	memset(p, 0, sizeof(*p));
	p->limit_ms = limit_ms;
	p->begin_ms = p->seen_ms = begin_ms;
	if (limit_ms == PCTL_PATIENCE_FOREVER || limit_ms > UINT64_MAX / (2 * TIMES_AS_LONG)) {
		p->limit_ms = p->end_ms = p->last_ms = PCTL_PATIENCE_FOREVER;
		return;
	}
	p->end_ms = begin_ms + limit_ms;
	p->last_ms = begin_ms + limit_ms * TIMES_AS_LONG;
}

uint64_t pctl_patience_next(const pctl_patience *p, uint64_t now_ms)
{
	const uint64_t first = p->begin_ms + PCTL_PATIENCE_POLL_MS;
	const uint64_t at = !p->has_polled && first < p->end_ms ? first : p->end_ms;

	if (p->limit_ms == PCTL_PATIENCE_FOREVER)
		return PCTL_PATIENCE_FOREVER;
	return at > now_ms ? at - now_ms : 0;
}

static void look(pctl_patience *p, const pctl_process *process, uint64_t now_ms)
{
	pctl_process_usage u;
	uint64_t wanted;

	pctl_process_used(process, &u);
	if (!p->has_polled) {
		p->has_polled = 1;
		p->first = p->seen = u;
		p->seen_ms = now_ms;
		return;
	}
	/* What has ended takes its count along: no difference is below zero. */
	p->used_ms = u.cpu_ms > p->first.cpu_ms ? u.cpu_ms - p->first.cpu_ms : 0;
	p->waited_ms = u.waited_ms > p->first.waited_ms ? u.waited_ms - p->first.waited_ms : 0;
	wanted = u.cpu_ms > p->seen.cpu_ms ? u.cpu_ms - p->seen.cpu_ms : 0;
	wanted += u.waited_ms > p->seen.waited_ms ? u.waited_ms - p->seen.waited_ms : 0;
	p->is_idle = !u.runnable && wanted * IDLE_SHARE < now_ms - p->seen_ms;
	p->seen = u;
	p->seen_ms = now_ms;
}

int pctl_patience_over(pctl_patience *p, const pctl_process *process, uint64_t now_ms)
{
	uint64_t more;

	if (p->limit_ms == PCTL_PATIENCE_FOREVER)
		return 0;
	if (now_ms < p->end_ms) {
		if (!p->has_polled && now_ms >= p->begin_ms + PCTL_PATIENCE_POLL_MS)
			look(p, process, now_ms);
		return 0;
	}
	look(p, process, now_ms);
	if (now_ms >= p->last_ms || p->used_ms >= p->limit_ms || p->is_idle)
		return 1;
	more = p->limit_ms - p->used_ms;
	if (more > p->limit_ms / STEPS)
		more = p->limit_ms / STEPS;
	if (more < PCTL_PATIENCE_POLL_MS)
		more = PCTL_PATIENCE_POLL_MS;
	p->end_ms = now_ms + more < p->last_ms ? now_ms + more : p->last_ms;
	return 0;
}

int pctl_patience_reap(pctl_process *process, uint32_t limit_ms)
{
	pctl_patience p;

	pctl_patience_begin(&p, pctl_clock_ms(), limit_ms);
	while (!pctl_process_reap(process, REAP_SLICE_MS))
		if (pctl_patience_over(&p, process, pctl_clock_ms()))
			return 0;
	return 1;
}

const char *pctl_patience_words(const pctl_patience *p, char *text, size_t n)
{
	const uint64_t clock = p->seen_ms > p->begin_ms ? p->seen_ms - p->begin_ms : p->limit_ms;

	snprintf(text, n,
		 "within %" PRIu64 " ms: in %" PRIu64 " ms by the clock it used %" PRIu64
		 " ms of processor time and waited %" PRIu64 " ms for a processor",
		 p->limit_ms, clock, p->used_ms, p->waited_ms);
	return text;
}
