/* Fault: its compiler explodes. A program that begins with 'c' takes all the time there is, one with 'm' all the memory,
 * and one with 's' sleeps. With a capital letter it does so at the first run: 'C' and 'M' keep the worker from answering, one
 * with 'T' works in a thread beside it and never ends. */
#include "memory.h"

static uint8_t late;

static void explode(uint8_t how)
{
	const size_t step = 1u << 24;
	volatile char *p;

	while (how == 'c')
		;
	while (how == 's')
		pause();
	while (how == 'm') {
		p = malloc(step);
		for (size_t i = 0; p && i < step; i += 4096)
			p[i] = 1;
		usleep(20000);
	}
}

static pctl_status bomb_build(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
			      uint64_t n, uint32_t flags, const void *cache, uint64_t n_cache,
			      pctl_kernel **out)
{
	late = n ? wire[0] : 0;
	explode(late);
	return fake_kernel_build(dev, call, wire, n, flags, cache, n_cache, out);
}

static pctl_status bomb_wait(pctl_device *dev, const pctl_call *call, uint64_t ticket,
			     uint64_t timeout_ns, pctl_completion *out)
{
	if (late == 'C')
		explode('c');
	if (late == 'M')
		explode('m');
	if (late != 'T')
		return fake_wait(dev, call, ticket, timeout_ns, out);
	usleep((useconds_t)(timeout_ns / 1000));
	*out = (pctl_completion){.head = PCTL_HEAD(pctl_completion)};
	return PCTL_OK;
}
#define FAULT_SLOTS .kernel_build = bomb_build, .wait = bomb_wait
#include "good.h"
