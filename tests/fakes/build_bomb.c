/* Fault: its compiler explodes. A program that begins with 'c' takes all the time there is, one with 'm' all the memory,
 * and one with 's' sleeps. */
#include "memory.h"

static pctl_status bomb_build(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
			      uint64_t n, uint32_t flags, const void *cache, uint64_t n_cache,
			      pctl_kernel **out)
{
	const size_t step = 1u << 24;
	volatile char *p;

	while (n && wire[0] == 'c')
		;
	while (n && wire[0] == 's')
		pause();
	while (n && wire[0] == 'm') {
		p = malloc(step);
		for (size_t i = 0; p && i < step; i += 4096)
			p[i] = 1;
		usleep(20000);
	}
	return fake_kernel_build(dev, call, wire, n, flags, cache, n_cache, out);
}
#define FAULT_SLOTS .kernel_build = bomb_build
#include "good.h"
