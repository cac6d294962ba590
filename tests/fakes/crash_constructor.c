/* Fault: dies while it is loaded. */
#include <signal.h>

#include "good.h"

static void __attribute__((constructor)) crash(void)
{
	write(2, "constructor speaks\n", 19);
	signal(SIGILL, SIG_DFL); /* of a sanitizer */
	raise(SIGILL);
}
