/* Which device is the reference: that of the backend which declares the role and whose file came with this pipectl, or is
 * pinned; see devices.h. */
#include <string.h>

#include "runtime/plugin/devices.h"
#include "runtime/plugin/registry_private.h"

static int is_reference(const pctl_plugin_info *p)
{
	return p->kind == PCTL_PLUGIN_BACKEND && p->roles & PCTL_ROLE_REFERENCE && p->vouched;
}

/* The reference is what results are held against, so no plugin makes itself that by saying so, or by its name. */
uint32_t pctl_device_kind(const pctl_plugin_info *p, uint32_t claimed)
{
	return claimed == PCTL_DEVICE_REFERENCE && !is_reference(p) ? PCTL_DEVICE_OTHER : claimed;
}

uint32_t pctl_device_roles(const pctl_plugin_info *p, uint32_t claimed)
{
	return claimed == PCTL_DEVICE_REFERENCE && is_reference(p)
		       ? p->roles
		       : p->roles & ~(uint32_t)PCTL_ROLE_REFERENCE;
}

/* The one that is believed, else one that only says so; NULL and PC3235 when there is none, or more than one. */
static const pctl_plugin_info *choose(const pctl_registry *r, const pctl_call *call)
{
	const pctl_plugin_info *found = NULL, *claims = NULL;

	for (uint32_t i = 0; i < pctl_registry_count(r); i++) {
		const pctl_plugin_info *p = pctl_registry_at(r, i);

		if (p->kind != PCTL_PLUGIN_BACKEND || !(p->roles & PCTL_ROLE_REFERENCE))
			continue;
		if (found && is_reference(p) && p->state == PCTL_PLUGIN_USABLE) {
			pctl_refuse_at(
				call, PC3235_REFERENCE, NULL,
				"let the policy allow one of them (plugins.allowed)",
				"backends \"%s\" and \"%s\" both declare the role of the "
				"reference, and the files of both came with pipectl or are pinned",
				found->id, p->id);
			return NULL;
		}
		claims = claims ? claims : p;
		if (is_reference(p) && p->state == PCTL_PLUGIN_USABLE)
			found = p;
	}
	if (!claims)
		pctl_refuse_at(call, PC3235_REFERENCE, NULL, "reinstall pipectl",
			       "no backend declares the role of the reference");
	return found ? found : claims;
}

pctl_status pctl_reference_find(pctl_registry *r, uint32_t flags, const pctl_call *call,
				pctl_devices **list, const pctl_device_entry **entry)
{
	const pctl_plugin_info *p = choose(r, call);
	pctl_status s = p ? pctl_devices_find(r, p->id, flags, call, list, entry)
			  : pctl_code_status(PC3235_REFERENCE);

	if (s || (*entry)->kind == PCTL_DEVICE_REFERENCE)
		return s;
	pctl_devices_destroy(*list);
	*list = NULL;
	*entry = NULL;
	return pctl_refuse_at(call, PC3235_REFERENCE, NULL,
			      "take it out of the plugin directories, or pin its SHA-256 in a "
			      "policy (plugins.sha256) if it is to be the reference",
			      "backend \"%s\" is not the reference: %s (SHA-256 %s) did not come "
			      "with this pipectl",
			      p->id, p->library, p->sha256);
}
