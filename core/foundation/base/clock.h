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

#endif
