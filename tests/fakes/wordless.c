/* Fault: fails and says nothing, or says that all went well and has nothing to show. */
#include "memory.h"

static pctl_status nothing(pctl_device *dev, const pctl_call *call, uint64_t n_bytes,
			   uint32_t usage, pctl_buffer **out)
{
	(void)dev;
	(void)call;
	(void)usage;
	*out = NULL;
	return n_bytes == 1 ? PCTL_OK : PCTL_E_LIMIT;
}
#define FAULT_SLOTS .buffer_create = nothing
#include "good.h"
