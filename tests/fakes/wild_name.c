/* Fault: the name of its device is no text. */
#include "memory.h"

static pctl_status wild(pctl_instance *inst, const pctl_call *call, uint32_t capacity,
			pctl_device_info *out, uint32_t *n_out)
{
	const pctl_status s = fake_devices(inst, call, capacity, out, n_out);

	if (capacity != 0)
		strcpy(out[0].name, "fast \xff\xfe device");
	return s;
}
#define FAULT_SLOTS .devices = wild
#include "good.h"
