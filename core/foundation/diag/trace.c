/* Trace ids of jobs: see pipectl/host.h. */
#include "pipectl/host.h"

uint32_t pctl_trace_job(const char *name)
{
	uint32_t h = 0x811c9dc5u;

	for (const unsigned char *p = (const unsigned char *)name; *p != '\0'; p++)
		h = (h ^ *p) * 0x01000193u;
	h = (h ^ h >> 24) & 0xffffffu;
	return h == 0 ? 1 : h;
}

uint64_t pctl_trace(const char *job, uint32_t round, uint32_t step)
{
	return (uint64_t)pctl_trace_job(job) << 40 |
	       (uint64_t)(round & PCTL_TRACE_ROUND_MAX) << 16 | (step & 0xffffu);
}
