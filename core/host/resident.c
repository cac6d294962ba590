/* Pipelines that stay on a device; see resident.h. */
#include "host/resident.h"

pctl_status pctl_host_resident(pctl_installation *in, pctl_loaded_pipeline *p,
			       const pctl_run_options *o, const pctl_resident_options *how,
			       const pctl_call *call, pctl_resident **out)
{
	pctl_status status = pctl_admit(in, p, call);

	*out = NULL;
	return status == PCTL_OK ? pctl_resident_open(p->graph, o, how, call, out) : status;
}
