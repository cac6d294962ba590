/* Fault: answers with a status that does not exist. */
#include "memory.h"

static pctl_status list_end_strangely(pctl_list *l, const pctl_call *call)
{
	(void)l;
	(void)call;
	return 77;
}
#define FAULT_SLOTS .list_end = list_end_strangely
#include "good.h"
