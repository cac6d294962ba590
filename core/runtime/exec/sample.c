/* Implementation of sample.h. */
#include "runtime/exec/sample.h"

#include "foundation/base/hash.h"
#include "runtime/exec/shape.h"

#define ALL 1000000u

pctl_status pctl_sample_draw(uint32_t ppm, const pctl_call *call, pctl_sample *out)
{
	*out = (pctl_sample){.ppm = ppm};
	return pctl_shapes_draw(call, &out->key);
}

int pctl_sample_has(const pctl_sample *s, uint64_t piece)
{
	return pctl_mix64(s->key + piece * PCTL_SPLITMIX_STEP) % ALL < s->ppm;
}
