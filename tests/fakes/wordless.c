/* Fault: fails and says nothing, or only what nobody can see, or says that all went well and has nothing to show. */
#include "memory.h"

static pctl_status nothing(pctl_device *dev, const pctl_call *call, uint64_t n_bytes,
			   uint32_t usage, pctl_buffer **out)
{
	(void)dev;
	(void)usage;
	*out = NULL;
	if (n_bytes == 8)
		return pctl_refuse(call, PC2_NOMEM, "%s", "");
	if (n_bytes == 12)
		return pctl_refuse(call, PC2_NOMEM, "%s", " \t\xe2\x80\x8b\n");
	return n_bytes == 1 ? PCTL_OK : PCTL_E_LIMIT;
}
#define FAULT_SLOTS .buffer_create = nothing
#include "good.h"
