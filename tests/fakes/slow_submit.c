/* No fault, but a driver that works inside submit: it takes a second, or until it is cancelled. */
#include "memory.h"

static pctl_status submit_slowly(pctl_device *dev, const pctl_call *call, pctl_list *l,
				 uint32_t times, uint64_t *ticket)
{
	int i;

	for (i = 0; i < 1000; i++) {
		if (pctl_is_cancelled(call))
			return pctl_refuse(call, PC4_CANCELLED, "as asked");
		usleep(1000);
	}
	return fake_submit(dev, call, l, times, ticket);
}
#define FAULT_SLOTS .submit = submit_slowly
#include "good.h"
