/* Fault: open refuses, with words of its own. */
#define FAULT_OPEN \
	if (host)  \
	return pctl_refuse(call, PC3232_DEVICE_NONE, "not today")
#include "good.h"
