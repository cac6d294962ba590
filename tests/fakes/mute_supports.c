/* Fault: does not support anything and will not say why. */
#include "memory.h"

static pctl_status supports_nothing(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				    uint64_t n, pctl_support *out)
{
	(void)dev;
	(void)call;
	(void)wire;
	(void)n;
	out->supported = 0;
	return PCTL_OK;
}
#define FAULT_SLOTS .supports = supports_nothing
#include "good.h"
