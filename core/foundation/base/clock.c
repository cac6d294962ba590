/* Clocks; see clock.h. */
#include "foundation/base/clock.h"

#include <time.h>

static uint64_t read_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t pctl_clock_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

uint64_t pctl_clock_ms(void)
{
	return pctl_clock_ns() / 1000000u;
}

uint64_t pctl_clock_s(void)
{
	return pctl_clock_ns() / 1000000000u;
}

uint64_t pctl_clock_thread_ns(void)
{
	return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

void pctl_clock_date(char out[PCTL_CLOCK_DATE])
{
	const time_t t = time(NULL);
	struct tm utc;

	out[0] = '\0';
	if (gmtime_r(&t, &utc) != NULL)
		strftime(out, PCTL_CLOCK_DATE, "%Y-%m-%dT%H:%M:%SZ", &utc);
}
