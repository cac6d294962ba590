/* Fault: says of its device what no device can be. */
#include "memory.h"

static pctl_status wild(pctl_device *dev, const pctl_call *call, pctl_device_caps *out)
{
	const pctl_status s = fake_device_caps(dev, call, out);

	out->caps |= 1ull << 40;
	out->binding_alignment = 48;
	out->max_groups[1] = 0;
	out->max_local[2] = 1u << 21;
	return s;
}
#define FAULT_SLOTS .device_caps = wild
#include "good.h"
