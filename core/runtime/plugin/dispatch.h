/* One dispatch, recorded, submitted and waited for: what checks of kernels need, which have no plan and no job. */
#ifndef PIPECTL_RUNTIME_PLUGIN_DISPATCH_H
#define PIPECTL_RUNTIME_PLUGIN_DISPATCH_H

#include "pipectl/backend.h"

/*
 * Run kernel k once over buffers that are there already.
 *
 * done  done->done is 0 when it did not end within timeout_ns, which is no error here
 *
 * Errors: those of the backend. [session thread; blocks]
 */
pctl_status pctl_dispatch_once(const pctl_backend *t, pctl_device *dev, const pctl_call *call,
			       pctl_kernel *k, const pctl_binding *bindings, uint32_t n,
			       const uint32_t groups[3], uint64_t timeout_ns,
			       pctl_completion *done);

#endif
