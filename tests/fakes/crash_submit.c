/* Fault: dies at the third submit. */
#include <signal.h>

#include "memory.h"

static pctl_status submit_and_crash(pctl_device *dev, const pctl_call *call, pctl_list *l,
				    uint32_t times, uint64_t *ticket)
{
	if (dev->submits == 2) {
		write(2, "about to fall\nnow\n", 18);
		signal(SIGILL, SIG_DFL); /* of a sanitizer */
		raise(SIGILL);
	}
	return fake_submit(dev, call, l, times, ticket);
}
#define FAULT_SLOTS .submit = submit_and_crash
#include "good.h"
