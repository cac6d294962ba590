/* Fault: wait ignores its timeout and every request to stop. */
#include "memory.h"

static pctl_status wait_forever(pctl_device *dev, const pctl_call *call, uint64_t ticket,
				uint64_t timeout_ns, pctl_completion *out)
{
	(void)dev;
	(void)call;
	(void)ticket;
	(void)timeout_ns;
	(void)out;
	while (pause() < 0)
		;
	return PCTL_OK;
}
#define FAULT_SLOTS .wait = wait_forever
#include "good.h"
