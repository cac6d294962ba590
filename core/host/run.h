/* Running what a client was given, as the policy asks: on one device, or on as many as its quorum names. */
#ifndef PIPECTL_HOST_RUN_H
#define PIPECTL_HOST_RUN_H

#include "host/load.h"

/* Run. The scratch space of a quorum lies in the cache directory and is removed. */
pctl_status pctl_host_run(pctl_installation *in, const pctl_graph *g, const pctl_run_options *o,
			  const pctl_call *call, pctl_run_result **out);

/* A directory for blobs of this process in the cache directory, its path in the installation's arena; and away with it
 * (NULL is fine). */
pctl_status pctl_scratch_make(pctl_installation *in, const pctl_call *call, const char **out);
void pctl_scratch_drop(const char *path);

#endif
