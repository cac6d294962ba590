/* The chain's own shaders; see own.h. */
#include "chain/registry/own.h"

#include <string.h>

#include "chain_shaders.h"

const char *pctl_epoch_shader(int which)
{
	static const char *const texts[PCTL_EPOCH_SHADERS] = {[PCTL_EPOCH_SPREAD] = KERNEL_SPREAD,
							      [PCTL_EPOCH_SETTLE] = KERNEL_SETTLE,
							      [PCTL_EPOCH_GATHER] = KERNEL_GATHER};

	return texts[which];
}

pctl_status pctl_epoch_is_shader(const char *cid, const pctl_call *call, int *out)
{
	char text[PCTL_CID_TEXT_SIZE];
	pctl_status status = PCTL_OK;
	pctl_cid own;

	*out = 0;
	for (int i = 0; status == PCTL_OK && i < PCTL_EPOCH_SHADERS && !*out; i++) {
		const char *source = pctl_epoch_shader(i);

		status = pctl_cid_of(source, strlen(source), call, &own);
		*out = status == PCTL_OK && strcmp(pctl_cid_format(&own, text), cid) == 0;
	}
	return status;
}
