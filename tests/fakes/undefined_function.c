/* Fault: calls a function that nothing defines. */
#include "good.h"

extern int pctl_function_that_nobody_wrote(int);
PCTL_EXPORT extern int fake_call_it(void);
PCTL_EXPORT int fake_call_it(void)
{
	return pctl_function_that_nobody_wrote(1);
}
