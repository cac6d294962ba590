/* Which device is the reference: that of the backend "cpu" whose file came with this pipectl, or is pinned; see devices.h. */
#include <string.h>

#include "runtime/plugin/devices.h"
#include "runtime/plugin/registry_private.h"

#define BACKEND "cpu"

/* The reference is what results are held against, so no plugin makes itself that by saying so, or by its name. */
uint32_t pctl_device_kind(const pctl_plugin_info *p, uint32_t claimed)
{
	return claimed == PCTL_DEVICE_REFERENCE && (strcmp(p->id, BACKEND) != 0 || !p->vouched)
		       ? PCTL_DEVICE_OTHER
		       : claimed;
}

pctl_status pctl_reference_find(pctl_registry *r, uint32_t flags, const pctl_call *call,
				pctl_devices **list, const pctl_device_entry **entry)
{
	pctl_status s = pctl_devices_find(r, BACKEND, flags, call, list, entry);
	const pctl_plugin_info *p = pctl_registry_find(r, BACKEND);

	if (s || (*entry)->kind == PCTL_DEVICE_REFERENCE)
		return s;
	pctl_devices_destroy(*list);
	*list = NULL;
	*entry = NULL;
	return pctl_refuse_at(call, PC3235_REFERENCE, NULL,
			      "take it out of the plugin directories, or pin its SHA-256 in a "
			      "policy (plugins.sha256) if it is meant",
			      "backend \"%s\" is not the reference: %s (SHA-256 %s) did not come "
			      "with this pipectl",
			      BACKEND, p->library, p->sha256);
}
