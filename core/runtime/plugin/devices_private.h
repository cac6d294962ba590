/* A list of devices, shared by asking for them (devices.c) and what is remembered of the answers (devices_kept.c). */
#ifndef PIPECTL_RUNTIME_PLUGIN_DEVICES_PRIVATE_H
#define PIPECTL_RUNTIME_PLUGIN_DEVICES_PRIVATE_H

#include "runtime/plugin/devices.h"
#include "runtime/plugin/registry_private.h"

#define PCTL_DEVICES_MAX 64u /* of one driver */
#define PCTL_DEVICES_NO_INDEX UINT32_MAX

struct pctl_devices {
	pctl_arena *arena;
	pctl_device_entry *entries;
	uint32_t n, cap;
	pctl_kept rows;
	int changed;
	const char *path; /* of the rows; NULL: nothing is kept */
	const char *boot;
};

/* 0: no memory, also for the texts of the entry. */
int pctl_devices_add(pctl_devices *d, const pctl_device_entry *e);

/* What answers of a driver hold for: its file, the device nodes and the running system. NULL: no memory. */
const char *pctl_devices_identity(pctl_devices *d, const pctl_driver_env *env);
/* 1 when the rows answer for this driver; its devices are added then. */
int pctl_devices_recall(pctl_devices *d, const pctl_plugin_info *p, const pctl_driver_env *env,
			const char *ident);
void pctl_devices_forget(pctl_devices *d, const pctl_plugin_info *p, const pctl_driver_env *env);
/* Entries from `first` on are its answer. */
void pctl_devices_remember(pctl_devices *d, const pctl_plugin_info *p, const pctl_driver_env *env,
			   const char *ident, uint32_t first);

#endif
