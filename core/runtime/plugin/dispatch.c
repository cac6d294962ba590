/* Implementation of dispatch.h. */
#include "runtime/plugin/dispatch.h"

pctl_status pctl_dispatch_once(const pctl_backend *t, pctl_device *dev, const pctl_call *call,
			       pctl_kernel *k, const pctl_binding *bindings, uint32_t n,
			       const uint32_t groups[3], uint64_t timeout_ns, pctl_completion *done)
{
	pctl_list *list = NULL;
	uint64_t ticket = 0;
	pctl_status status = t->list_begin(dev, call, &list);

	*done = (pctl_completion){.head = PCTL_HEAD(pctl_completion)};
	if (status == PCTL_OK)
		status = t->list_dispatch(list, call, k, bindings, n, groups);
	if (status == PCTL_OK)
		status = t->list_end(list, call);
	if (status == PCTL_OK)
		status = t->submit(dev, call, list, 1, &ticket);
	if (status == PCTL_OK)
		status = t->wait(dev, call, ticket, timeout_ns, done);
	if (list != NULL)
		t->list_destroy(dev, list);
	return status;
}
