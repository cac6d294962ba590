/* Fault: dies while it lists devices, as a driver may. */
#include <signal.h>

#include "memory.h"

static pctl_status devices_crash(pctl_instance *inst, const pctl_call *call, uint32_t capacity,
				 pctl_device_info *out, uint32_t *n_out)
{
	raise(SIGABRT);
	return fake_devices(inst, call, capacity, out, n_out);
}
#define FAULT_SLOTS .devices = devices_crash
#include "good.h"
