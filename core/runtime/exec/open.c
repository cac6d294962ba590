/* Opening devices for runs and for blocks; see open.h. */
#include "runtime/exec/open.h"

#include <stdio.h>

#include "runtime/exec/run.h"

pctl_policy_device pctl_open_policy_device(const pctl_device_entry *e)
{
	return (pctl_policy_device){e->backend, e->name, e->index, e->kind};
}

uint32_t pctl_open_list_flags(uint32_t flags)
{
	return flags & PCTL_RUN_IN_PROCESS ? PCTL_DEVICES_IN_PROCESS : 0;
}

void pctl_open_close(pctl_open_device *d)
{
	pctl_session_close(d->session);
	pctl_backend_instance_close(d->backend, NULL);
	*d = (pctl_open_device){0};
}

pctl_status pctl_open_entry(const pctl_open_options *o, const pctl_device_entry *e,
			    const pctl_call *call, pctl_open_device *out)
{
	const uint32_t flags = (o->flags & PCTL_RUN_IN_PROCESS ? PCTL_INSTANCE_IN_PROCESS : 0) |
			       (o->flags & PCTL_RUN_DEBUG ? PCTL_INSTANCE_DEBUG : 0);
	const pctl_policy_device asked = pctl_open_policy_device(e);
	pctl_session_options options = {.index = e->in_driver,
					.device_kind = e->kind,
					.id = e->selector,
					.cache_dir = o->cache_dir,
					.profiles = o->profiles,
					.build_flags = o->build_flags,
					.without_contracts = o->without_contracts,
					.legal_flags =
						o->flags & PCTL_RUN_NATIVE ? PCTL_LEGAL_NATIVE : 0};
	char name[600];
	pctl_status status =
		o->policy == NULL ? PCTL_OK : pctl_policy_backend_allowed(o->policy, &asked, call);

	*out = (pctl_open_device){0};
	if (status == PCTL_OK)
		status = pctl_backend_instance_open(o->registry, e->backend, e->env, flags, call,
						    &out->backend);
	if (status != PCTL_OK)
		return status;
	snprintf(name, sizeof(name), "%s (%s)", e->selector, e->name);
	options.name = name;
	options.backend = out->backend;
	status = pctl_session_open(&options, call, &out->session);
	if (status != PCTL_OK)
		pctl_open_close(out);
	return status;
}

pctl_status pctl_open_selected(const pctl_open_options *o, const char *selector,
			       const pctl_call *call, pctl_open_device *out)
{
	const pctl_device_entry *entry;
	pctl_devices *list = NULL;
	pctl_status status = pctl_devices_find(o->registry, selector,
					       pctl_open_list_flags(o->flags), call, &list, &entry);

	*out = (pctl_open_device){0};
	if (status == PCTL_OK)
		status = pctl_open_entry(o, entry, call, out);
	pctl_devices_destroy(list);
	return status;
}

const pctl_device_entry *pctl_open_next(const pctl_policy *policy, const pctl_devices *list,
					uint8_t *taken, int reference_only)
{
	uint32_t best = UINT32_MAX, at = UINT32_MAX;

	for (uint32_t i = 0; i < pctl_devices_count(list); i++) {
		const pctl_device_entry *e = pctl_devices_at(list, i);
		const pctl_policy_device d = pctl_open_policy_device(e);
		const uint32_t rank = pctl_policy_backend_rank(policy, &d);

		if (reference_only && e->kind != PCTL_DEVICE_REFERENCE)
			continue;
		if (!taken[i] && e->state == PCTL_DEVICE_USABLE && !(e->roles & PCTL_ROLE_INERT) &&
		    rank < best) {
			best = rank;
			at = i;
		}
	}
	if (at == UINT32_MAX)
		return NULL;
	taken[at] = 1;
	return pctl_devices_at(list, at);
}
