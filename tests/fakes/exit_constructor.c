/* Fault: ends the process while it is loaded. */
#include "good.h"

static void __attribute__((constructor)) leave(void)
{
	_exit(7);
}
