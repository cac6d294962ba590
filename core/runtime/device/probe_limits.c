/* The search for what a device does wrong, or not at all, when a program is too large: every shape of limit_programs.h by
 * doubling and then by halving what is left. The host knows every answer. Programs go to the device as they stand:
 * legalisation would flatten what is searched for. */
#include "runtime/device/limits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/limit_programs.h"
#include "runtime/device/probe_private.h"
#include "foundation/base/clock.h"

/* A device this slow is not asked for more: times what a busy machine leaves of its processors. */
#define SLOW_NS 2500000000u /* to build and to run one */
#define SLOW_STEPS_NS 1000000000u
#define SEARCH_NS 60000000000u
#define RECHECK_NS 1500000000u
#define SPIN_NS 20000000u
#define MOST_BUSY 4u

typedef struct searching {
	probe p;
	uint64_t began;
	pctl_extent_limits *out;
	uint32_t *slow;
	const pctl_limit_program *at; /* what is being asked, and at which size */
	uint32_t n;
} searching;

/* How many want the processor that a thread is on: its time by the wall for its own. */
static uint64_t contention(void)
{
	const uint64_t wall = pctl_clock_ns(), own = pctl_clock_thread_ns();
	uint64_t used, times;

	while ((used = pctl_clock_thread_ns() - own) < SPIN_NS)
		;
	times = (pctl_clock_ns() - wall + used - 1) / used;
	return times > MOST_BUSY ? MOST_BUSY : times;
}

static int is_over(uint64_t ns, uint64_t most)
{
	return ns > most && ns > most * contention();
}

static int is_slow(const searching *s)
{
	return is_over(s->p.slowest_ns + s->p.build_ns,
		       s->at->extent == PCTL_EXTENT_INSTRUCTIONS ? SLOW_STEPS_NS : SLOW_NS);
}

static int is_late(const searching *s)
{
	return is_over(pctl_clock_ns() - s->began, SEARCH_NS);
}

/* 1: right. 0: wrong, refused, failed, or the search is over. */
static int right(searching *s, const pctl_limit_program *l, uint32_t n)
{
	uint32_t in[PCTL_LIMIT_WORDS], out[PCTL_LIMIT_LANES] = {0}, want[PCTL_LIMIT_LANES];
	char *text = pctl_limit_program_text(l, n);
	int ran;

	s->at = l;
	s->n = n;
	s->p.slowest_ns = s->p.build_ns = 0;
	pctl_limit_program_input(l, n, in);
	ran = text != NULL &&
	      probe_run(&s->p, text, 0, l->lanes, in, PCTL_LIMIT_WORDS, out, PCTL_LIMIT_LANES);
	free(text);
	if (!ran)
		return 0;
	l->expect(n, in, want);
	return memcmp(out, want, l->lanes * sizeof(*out)) == 0;
}

/* Half way between two sizes, or the lower of two neighbours. */
static uint32_t between(const pctl_limit_program *l, uint32_t good, uint32_t bad)
{
	return good + (bad - good) / 2 / l->step * l->step;
}

/* The size after n. What a device claims to have may be what breaks it (a launch of NVIDIA's OpenCL with all of its workgroup memory loses the
 * context), so that the end is come to in ever smaller steps. */
static uint32_t next(const pctl_limit_program *l, uint32_t n, uint32_t most)
{
	if (n <= most / 2)
		return 2 * n;
	return l->extent == PCTL_EXTENT_WORKGROUP && most - n > l->resolution &&
			       between(l, n, most) > n
		       ? between(l, n, most)
		       : most;
}

/* The largest size up to `most` that was seen right. *slow is set where time ended it. */
static uint32_t search(searching *s, const pctl_limit_program *l, uint32_t most, int *slow)
{
	uint32_t good = 0, bad = 0, n = l->least < most ? l->least : most;

	*slow = 0;
	while (n != 0 && good < most && bad == 0 && !*slow && s->p.status == PCTL_OK) {
		if (right(s, l, n))
			good = n;
		else
			bad = n;
		n = next(l, n, most);
		*slow = bad == 0 && good < most && (is_slow(s) || is_late(s));
	}
	while (bad != 0 && good != 0 && bad - good > l->resolution && s->p.status == PCTL_OK &&
	       !is_late(s)) {
		n = between(l, good, bad);
		if (n == good)
			break;
		if (right(s, l, n))
			good = n;
		else
			bad = n;
	}
	return good;
}

/* What one more shape was right up to; none of it: one, for 0 would be no limit at all. */
static void keep(searching *s, uint32_t extent, uint64_t most, int by_time)
{
	pctl_extent_limits one = {.most = {0}};
	const uint64_t before = s->out->most[extent];

	one.most[extent] = most == 0 ? 1 : most;
	pctl_extent_limits_least(s->out, &one);
	if (s->out->most[extent] == before)
		return;
	*s->slow &= ~(1u << extent);
	*s->slow |= (uint32_t)by_time << extent;
}

/* The largest size to ask for: what the device claims of its workgroup memory is what is checked of it. */
static uint32_t most_of(const searching *s, const pctl_limit_program *l)
{
	const uint32_t claimed = s->p.caps->max_workgroup_bytes / 4;

	if (l->extent != PCTL_EXTENT_WORKGROUP || claimed > l->most)
		return l->most;
	return claimed / l->step * l->step;
}

static void search_shape(searching *s, const pctl_limit_program *l)
{
	const uint64_t limit = s->out->most[l->extent];
	uint32_t most = most_of(s, l), n;
	uint64_t need = 0;
	int slow = 0;

	/* Where another shape of the extent has found the end, there is nothing to see beyond. */
	if (limit != 0) {
		s->p.status = pctl_limit_program_within(l, limit, s->p.call, &n);
		most = n < most ? n : most;
		/* If it is time that ended it, half of that is enough to see. */
		n = *s->slow >> l->extent & 1 ? most / 2 / l->step * l->step : most;
		if (s->p.status != PCTL_OK || n == 0 || right(s, l, n))
			return;
		most -= l->step;
	}
	n = search(s, l, most, &slow);
	if (s->p.lost && n == 0)
		return;
	/* A long function only takes long: the limit of builds ends that where it is too much. */
	if (slow && l->extent == PCTL_EXTENT_INSTRUCTIONS)
		return;
	if (n == most_of(s, l) && !l->is_end)
		return;
	if (n != 0 && s->p.status == PCTL_OK)
		s->p.status = pctl_limit_program_need(l, n, s->p.call, &need);
	else if (n != 0)
		(void)pctl_limit_program_need(l, n, s->p.call, &need);
	/* The early return is a level by extents.h, but not on every device: it is not taken for one that was seen. */
	if (l->extent == PCTL_EXTENT_NESTING && need > 1)
		need--;
	keep(s, l->extent, need, slow);
}

/* A search of its own: what the device says is heard here and goes no further, and a refusal is an answer. */
static pctl_status begin(searching *s, const pctl_backend *table, pctl_device *dev,
			 const pctl_device_caps *caps, const pctl_call *call, pctl_call *quiet)
{
	*quiet = *call;
	quiet->diag = NULL;
	s->p = (probe){.table = table, .dev = dev, .caps = caps, .call = quiet, .tries = 1};
	s->p.out = calloc(1, sizeof(*s->p.out));
	s->began = pctl_clock_ns();
	return s->p.out == NULL ? pctl_no_memory(call, "a probe") : PCTL_OK;
}

static pctl_status end(searching *s, const pctl_call *call)
{
	free(s->p.out);
	if (s->p.status == PCTL_OK || s->p.status == PCTL_E_CANCELLED)
		return s->p.status;
	return pctl_refuse(call, PC4331_PROBE, "the device was lost at %s of size %" PRIu32,
			   s->at == NULL ? "nothing" : s->at->name, s->n);
}

pctl_status pctl_probe_limits(const pctl_backend *table, pctl_device *dev,
			      const pctl_device_caps *caps, const pctl_call *call,
			      pctl_extent_limits *out, uint32_t *slow, int *lost)
{
	searching s = {.out = out, .slow = slow};
	pctl_call quiet;
	pctl_status status = begin(&s, table, dev, caps, call, &quiet);

	memset(out, 0, sizeof(*out));
	*slow = 0;
	*lost = 0;
	if (status != PCTL_OK)
		return status;
	/* Workgroup memory, at all of which a device may be lost, comes behind what nobody would be asked for then. */
	for (uint32_t i = 0; i < 2 * pctl_limit_n_programs; i++) {
		const pctl_limit_program *l = &pctl_limit_programs[i % pctl_limit_n_programs];
		const int is_asked = s.p.status == PCTL_OK && !is_late(&s);

		if ((l->extent == PCTL_EXTENT_WORKGROUP) != (i >= pctl_limit_n_programs))
			continue;
		if (is_asked)
			search_shape(&s, l);
		/* Shapes that were not asked for any more. */
		if ((!is_asked || s.p.status != PCTL_OK) && out->most[l->extent] == 0 &&
		    l->extent != PCTL_EXTENT_INSTRUCTIONS)
			keep(&s, l->extent, pctl_limits_floor.most[l->extent],
			     s.p.status == PCTL_OK);
	}
	/* What was seen until then stands, and what ended it is beyond: the next one to open the device has the record. */
	*lost = s.p.lost && s.p.status != PCTL_E_CANCELLED && !pctl_is_cancelled(call);
	if (*lost)
		s.p.status = PCTL_OK;
	return end(&s, call);
}

/* At what the table has and half way there, for the first shape of the extent; a device for which the least takes long is
 * not asked for more. */
static int is_known(searching *s, const pctl_limit_program *l, uint64_t limit)
{
	uint32_t n = l->known, most = most_of(s, l);

	if (limit != 0)
		s->p.status = pctl_limit_program_within(l, limit, s->p.call, &n);
	n = n < most ? n : most;
	if (s->p.status != PCTL_OK || n <= l->least)
		return s->p.status == PCTL_OK;
	if (!right(s, l, l->least))
		return 0;
	if (is_over(s->p.slowest_ns + s->p.build_ns, RECHECK_NS / 2))
		return 1;
	return right(s, l, n) && right(s, l, n / 2 / l->step * l->step);
}

pctl_status pctl_probe_known_limits(const pctl_backend *table, pctl_device *dev,
				    const pctl_device_caps *caps, const pctl_call *call,
				    const pctl_extent_limits *known, int *holds)
{
	searching s = {.at = NULL};
	uint32_t asked = 0;
	pctl_call quiet;
	pctl_status status = begin(&s, table, dev, caps, call, &quiet);

	*holds = 1;
	if (status != PCTL_OK)
		return status;
	for (uint32_t i = 0; i < pctl_limit_n_programs && *holds; i++) {
		const pctl_limit_program *l = &pctl_limit_programs[i];

		/* A long function is only slow, and may cost the worker: the limit of builds sees to it. */
		if (asked & 1u << l->extent || l->extent == PCTL_EXTENT_INSTRUCTIONS ||
		    is_over(pctl_clock_ns() - s.began, RECHECK_NS))
			continue;
		asked |= 1u << l->extent;
		*holds = is_known(&s, l, known->most[l->extent]);
	}
	return end(&s, call);
}
