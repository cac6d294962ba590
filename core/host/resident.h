/* A pipeline that stays on a device, for clients: admitted as a run is. */
#ifndef PIPECTL_HOST_RESIDENT_H
#define PIPECTL_HOST_RESIDENT_H

#include "host/run.h"
#include "runtime/exec/resident.h"

/* Admit and open. The installation and the pipeline stay until all that share are closed (resident.h). */
pctl_status pctl_host_resident(pctl_installation *in, pctl_loaded_pipeline *p,
			       const pctl_run_options *o, const pctl_resident_options *how,
			       const pctl_call *call, pctl_resident **out);

#endif
