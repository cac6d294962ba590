/* Devices by name: which driver environments a backend has, which devices each offers, and what
 * "vulkan:0" or "opencl:portable" means. Answers are remembered under home by the identity of
 * driver files, so that asking costs nothing twice. */
#ifndef PIPECTL_RUNTIME_PLUGIN_DEVICES_H
#define PIPECTL_RUNTIME_PLUGIN_DEVICES_H

#include "runtime/plugin/instance.h"

/*
 * One device.
 *
 * index     number among the devices of its backend, as in "vulkan:1"
 * in_driver index to give to device_open
 * state     PCTL_DEVICE_USABLE, or why not. An unusable entry with kind 0 stands for a driver that
 * could not be asked; it has no index.
 */
typedef struct pctl_device_entry {
	const char *backend;
	const char *name;
	const char *driver;   /* driver and version, as it says */
	const char *selector; /* "vulkan:0" */
	const char *cause;    /* when it is not usable */
	uint32_t cause_code;  /* PCxxxx of it */
	const pctl_driver_env *env;
	uint32_t index;
	uint32_t in_driver;
	uint32_t kind;	  /* PCTL_DEVICE_* of backend.h */
	uint32_t claimed; /* the kind that its plugin says; `kind` is what the host makes of that */
	uint32_t state;	  /* PCTL_DEVICE_USABLE .. */
	uint32_t roles;	  /* PCTL_ROLE_* that the host believes */
	pctl_device_caps caps;
} pctl_device_entry;

enum { PCTL_DEVICE_USABLE = 1, PCTL_DEVICE_UNUSABLE = 2, PCTL_DEVICE_QUARANTINED = 3 };

typedef struct pctl_devices pctl_devices;

#define PCTL_DEVICES_FRESH 1u	   /* ask every driver again */
#define PCTL_DEVICES_IN_PROCESS 2u /* sessions of backends that allow it are opened in the host */

/* The devices of one backend, or (backend NULL) of all usable ones but synthetic ones and those that take a script, which are used only when named.
 * Order: backends by id; discrete
 * GPUs, integrated ones, others, the reference, CPUs; then drivers (the system's by path, then the
 * manifest's extra ones); then the driver's own order. A driver that fails is an entry, not an
 * error. */
pctl_status pctl_devices_list(pctl_registry *r, const char *backend, uint32_t flags,
			      const pctl_call *call, pctl_devices **out);
void pctl_devices_destroy(pctl_devices *d);
uint32_t pctl_devices_count(const pctl_devices *d);
const pctl_device_entry *pctl_devices_at(const pctl_devices *d, uint32_t i);

/*
 * Resolve "backend", "backend:INDEX" or "backend:TEXT", where TEXT is found, case ignored, in a
 * device's name or driver; of several the lowest index is taken. "backend" is its device 0. *list
 * owns *entry and is destroyed by the caller.
 *
 * Of a backend whose manifest says that a selector is a script, "backend:SCRIPT" is the device that the script makes: its selector and
 * its environment hold the script, so that nothing remembered of it is ever taken for another one's. Such a device is
 * asked every time.
 *
 * Errors: PC3230 unknown backend, PC3231 no such device (lists those there are), PC3232 none at
 * all, or, where every driver failed of one cause, the code of that cause; for scripts PC3281 and what the backend says (PC3280).
 */
pctl_status pctl_devices_find(pctl_registry *r, const char *selector, uint32_t flags,
			      const pctl_call *call, pctl_devices **list,
			      const pctl_device_entry **entry);

/*
 * The selector of the reference, for whoever holds results against it. The reference is device 0 of the backend that declares
 * the role and whose library is the very file that came with this pipectl, or one whose SHA-256 the policy pins: neither a
 * name nor what a plugin says of itself makes it the reference. pctl_devices_find gives it or PC3235.
 */
#define PCTL_REFERENCE "the reference"

/* The driver environments of a usable backend, in the order of driver files; at least one for
 * backends without drivers. Owned by the registry. */
pctl_status pctl_driver_envs(pctl_registry *r, const pctl_plugin_info *plugin,
			     const pctl_call *call, const pctl_driver_env *const **out,
			     uint32_t *n_out);

#endif
