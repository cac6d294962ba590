/* Booting a machine with what an installation has; see machine.h. */
#include "host/machine.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/diag/diag.h"

static pctl_status preferred(const pctl_open_options *open, const pctl_call *call,
			     pctl_devices **list, const char **selector)
{
	const pctl_device_entry *entry;
	uint8_t *taken;
	pctl_status status = pctl_devices_list(open->registry, NULL,
					       pctl_open_list_flags(open->flags), call, list);

	if (status != PCTL_OK)
		return status;
	taken = calloc(pctl_devices_count(*list) + (size_t)1, 1);
	if (taken == NULL)
		return pctl_no_memory(call, "a machine");
	entry = pctl_open_next(open->policy, *list, taken, 0);
	free(taken);
	if (entry == NULL)
		return pctl_refuse(call, PC5207_NO_DEVICE, "there is no device for a machine");
	*selector = entry->selector;
	return PCTL_OK;
}

pctl_status pctl_host_machine_boot(pctl_installation *in, const pctl_host_machine_options *o,
				   const pctl_call *call, pctl_host_machine *out)
{
	pctl_machine_options options = {.desc = o->desc,
					.open = &out->open,
					.selector = o->device,
					.is_verified = o->is_verified,
					.budget_bytes = o->budget_bytes};
	pctl_devices *list = NULL;
	pctl_run_options run;
	pctl_status status = pctl_installation_run_options(in, call, &run);

	memset(out, 0, sizeof(*out));
	if (status != PCTL_OK)
		return status;
	options.ops = run.ops;
	options.kernels = in->kernels;
	out->open = (pctl_open_options){.registry = run.registry,
					.policy = run.policy,
					.profiles = run.profiles,
					.cache_dir = run.cache_dir,
					.flags = run.flags | o->run_flags,
					.without_contracts = 1};
	if (o->device == NULL)
		status = preferred(&out->open, call, &list, &options.selector);
	if (status == PCTL_OK)
		status = pctl_machine_boot(&options, call, &out->machine);
	pctl_devices_destroy(list);
	return status;
}

void pctl_host_machine_shutdown(pctl_host_machine *m)
{
	pctl_machine_shutdown(m->machine);
	m->machine = NULL;
}
