/* No fault, but slow: wait comes back only after a cancel or its timeout. */
#include "memory.h"

static pctl_status wait_for_cancel(pctl_device *dev, const pctl_call *call, uint64_t ticket,
				   uint64_t timeout_ns, pctl_completion *out)
{
	uint64_t waited;

	for (waited = 0; waited < timeout_ns; waited += 1000000) {
		if (__atomic_load_n(&dev->cancelled, __ATOMIC_RELAXED) == ticket)
			return pctl_refuse(call, PC4_CANCELLED, "as asked");
		usleep(1000);
	}
	out->done = 0;
	return PCTL_OK;
}
#define FAULT_SLOTS .wait = wait_for_cancel
#include "good.h"
