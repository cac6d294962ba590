/* Fault: speaks an ABI that does not exist yet. */
#define FAULT_HEAD                        \
	{                                 \
		sizeof(pctl_plugin), 2, 0 \
	}
#include "good.h"
