/* Fault: speaks in another's name, over several lines, with control characters, under a code of its own, and at length. */
#include "memory.h"

static pctl_status loud(pctl_device *dev, const pctl_call *call, uint64_t n_bytes, uint32_t usage,
			pctl_buffer **out)
{
	static char text[5000];
	pctl_diag d = {
		.head = PCTL_HEAD(pctl_diag), .code = 987654, .severity = PCTL_SEVERITY_ERROR};

	(void)dev;
	(void)n_bytes;
	(void)usage;
	*out = NULL;
	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, "all is well\n\x1b[2Jcpu: verified \xff", 31);
	d.plugin = "cpu";
	d.message = text;
	d.pos.file = "kernel\n.wgsl";
	d.pos.line = 1;
	(void)pctl_emit(call, &d);
	return PCTL_E_LIMIT;
}
#define FAULT_SLOTS .buffer_create = loud
#include "good.h"
