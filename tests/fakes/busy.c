/* Fault: takes its time over the question whether it supports a program. The program's first letter says how: it burns a
 * processor without end (for a minute), for 300 ms of processor time, or sleeps (for a minute). */
#include <time.h>

#include "memory.h"

#define LONG_MS 60000
#define SHORT_MS 300

static void burn(long ms)
{
	struct timespec t;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms);
}

static pctl_status busy_supports(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				 uint64_t n, pctl_support *out)
{
	const char what = n ? (char)wire[0] : 0;

	if (what == 'e')
		burn(LONG_MS);
	if (what == 'b')
		burn(SHORT_MS);
	if (what == 's')
		usleep(LONG_MS * 1000u);
	return fake_supports(dev, call, (const uint8_t *)"y", 1, out);
}
#define FAULT_SLOTS .supports = busy_supports
#include "good.h"
