/* Preloaded into pipectl: the calls that write pass through ../gitlog/faults.c from the start of the process on. */
#include "faults.h"

__attribute__((constructor)) static void begin(void)
{
	faults_begin();
}

__attribute__((destructor)) static void end(void)
{
	faults_end();
}
