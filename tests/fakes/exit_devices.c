/* Fault: ends the process it runs in, as if all had gone well. */
#include "memory.h"

static pctl_status devices_exit(pctl_instance *inst, const pctl_call *call, uint32_t capacity,
				pctl_device_info *out, uint32_t *n_out)
{
	exit(0);
	return fake_devices(inst, call, capacity, out, n_out);
}
#define FAULT_SLOTS .devices = devices_exit
#include "good.h"
