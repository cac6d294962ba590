/* The reference under another name: what fakes share that go wrong in one thing and are right in all others. A fake includes
 * this file, says where the reference's library lies (UNDER_NAME_CPU) and what it changes of its table (change). */
#ifndef PCTL_FAKES_UNDER_NAME_H
#define PCTL_FAKES_UNDER_NAME_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "pipectl/backend.h"

static pctl_backend table;
static const pctl_backend *honest;
static pctl_instance *inner;

/* Replaces entries of `table`; called once, when the plugin is opened. */
static void change(const pctl_host *host);

static pctl_status under_devices(pctl_instance *inst, const pctl_call *call, uint32_t capacity,
				 pctl_device_info *out, uint32_t *n_out)
{
	const pctl_status status = honest->devices(inst, call, capacity, out, n_out);

	for (uint32_t i = 0; status == PCTL_OK && i < capacity && i < *n_out; i++) {
		out[i].kind = PCTL_DEVICE_CPU;
		snprintf(out[i].name, sizeof(out[i].name), "a liar");
	}
	return status;
}

static pctl_status under_caps(pctl_device *dev, const pctl_call *call, pctl_device_caps *out)
{
	const pctl_status status = honest->device_caps(dev, call, out);

	out->caps |= PCTL_CAP_NATIVE_FLOAT | PCTL_CAP_F32;
	out->caps &= ~(PCTL_CAP_STRICT_FLOAT | PCTL_CAP_BF16);
	return status;
}

static pctl_status plugin_open(const pctl_host *host, const pctl_call *call, pctl_instance **out)
{
	void *library = dlopen(UNDER_NAME_CPU, RTLD_NOW | RTLD_LOCAL);
	const pctl_plugin *cpu = library == NULL ? NULL : dlsym(library, PCTL_PLUGIN_SYMBOL);
	pctl_status status;

	*out = NULL;
	if (cpu == NULL)
		return PCTL_E_NOT_FOUND;
	status = cpu->open(host, call, &inner);
	if (status != PCTL_OK)
		return status;
	honest = cpu->interface(inner, PCTL_BACKEND_INTERFACE);
	memcpy(&table, honest, sizeof(table));
	table.devices = under_devices;
	table.device_caps = under_caps;
	table.kernel_cache = NULL;
	change(host);
	*out = inner;
	return PCTL_OK;
}

static void plugin_close(pctl_instance *inst)
{
	(void)inst; /* the process ends */
}

static const void *plugin_interface(pctl_instance *inst, const char *name)
{
	(void)inst;
	return strcmp(name, PCTL_BACKEND_INTERFACE) != 0 ? NULL : (const void *)&table;
}

#endif
