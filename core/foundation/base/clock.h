/* The clocks of the process. */
#ifndef PIPECTL_FOUNDATION_BASE_CLOCK_H
#define PIPECTL_FOUNDATION_BASE_CLOCK_H

#include <stdint.h>

/* Time since some fixed moment; never goes back. */
uint64_t pctl_clock_ns(void);
uint64_t pctl_clock_ms(void);
uint64_t pctl_clock_s(void);
/* What this thread alone has used of a processor. */
uint64_t pctl_clock_thread_ns(void);

#define PCTL_CLOCK_DATE 40u
/* Date and time of day in UTC, as records say when they were made: 2026-01-31T09:05:00Z; empty where the system knows none. */
void pctl_clock_date(char out[PCTL_CLOCK_DATE]);

#endif
