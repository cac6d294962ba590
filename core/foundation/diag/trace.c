/* Trace ids of jobs: see pipectl/host.h. */
#include <string.h>

#include "pipectl/host.h"

#include "foundation/base/hash.h"

uint32_t pctl_trace_job(const char *name)
{
	uint32_t h = pctl_fnv32(PCTL_FNV32, name, strlen(name));

	h = (h ^ h >> 24) & 0xffffffu;
	return h == 0 ? 1 : h;
}

uint64_t pctl_trace(const char *job, uint32_t round, uint32_t step)
{
	return (uint64_t)pctl_trace_job(job) << 40 |
	       (uint64_t)(round & PCTL_TRACE_ROUND_MAX) << 16 | (step & 0xffffu);
}
