/* Fault: linked with a library that is not there when it is loaded. */
#include "good.h"

extern int pctl_gone(void);
PCTL_EXPORT extern int fake_need_it(void);
PCTL_EXPORT int fake_need_it(void)
{
	return pctl_gone();
}
