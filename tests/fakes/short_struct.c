/* Fault: states a size that does not reach its last member. */
#define FAULT_HEAD                    \
	{                             \
		24, PCTL_ABI_MAJOR, 0 \
	}
#include "good.h"
