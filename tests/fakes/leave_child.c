/* Fault: starts a child, as a driver's compiler would be, and dies with it running. */
#include <signal.h>

#include "memory.h"

static pctl_status devices_fork(pctl_instance *inst, const pctl_call *call, uint32_t capacity,
				pctl_device_info *out, uint32_t *n_out)
{
	if (fork() == 0) {
		close(3);
		close(4);
		for (;;)
			pause();
	}
	raise(SIGKILL);
	return fake_devices(inst, call, capacity, out, n_out);
}
#define FAULT_SLOTS .devices = devices_fork
#include "good.h"
