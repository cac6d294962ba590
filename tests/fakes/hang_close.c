/* Fault: closing a device never comes back. */
#include "memory.h"

static void close_never(pctl_device *dev)
{
	(void)dev;
	while (pause() < 0)
		;
}
#define FAULT_SLOTS .device_close = close_never
#include "good.h"
