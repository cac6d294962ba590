/* Fault: open never comes back. */
#define FAULT_OPEN \
	for (;;)   \
	pause()
#include "good.h"
