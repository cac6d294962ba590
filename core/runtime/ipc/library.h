/* Taking a plugin library into use inside this process: loading with the dynamic linker's own
 * words, and the checks of what it says of itself. Used by the worker, the probe and, for trusted
 * plugins, the host. */
#ifndef PIPECTL_RUNTIME_IPC_LIBRARY_H
#define PIPECTL_RUNTIME_IPC_LIBRARY_H

#include "pipectl/backend.h"
#include "pipectl/oplib.h"

/* dlopen at once and locally; the handle stays open until the process ends or dlclose. PC3012 to
 * PC3014 with the linker's text, in which `shown` stands for the path: libraries are loaded from the
 * descriptors of their sealed copies. The path is absolute: bare names would be searched for. */
pctl_status pctl_library_load(const char *path, const char *shown, const pctl_call *call,
			      void **out);

/* The plugin's symbol, checked: present, its ABI major, size, reserved members, id (any when `id`
 * is NULL), slots, and build flags. PC3015 to PC3019, PC3022. */
pctl_status pctl_library_plugin(void *handle, const char *path, const char *id,
				const pctl_call *call, const pctl_plugin **out);

/* Every mandatory slot of an interface is there. PC3017, PC3016, PC3022. */
pctl_status pctl_library_check_backend(const pctl_backend *t, const char *path,
				       const pctl_call *call);
pctl_status pctl_library_check_oplib(const pctl_oplib *t, const char *path, const pctl_call *call);

/* An opened instance and the interface that was asked for. */
typedef struct pctl_library_instance {
	const pctl_plugin *plugin;
	pctl_instance *inst;
	const void *table;
} pctl_library_instance;

/* open and the interface `name` (PCTL_BACKEND_INTERFACE or PCTL_OPLIB_INTERFACE), checked. Closed
 * again on any error. PC3020, PC3021. */
pctl_status pctl_library_open(const pctl_plugin *plugin, const char *path, const char *name,
			      const pctl_host *host, const pctl_call *call,
			      pctl_library_instance *out);
void pctl_library_close(pctl_library_instance *li);

/* The services every host offers: malloc, free, silence or standard error for logs, and these.
 * `cache_dir` may be NULL. The structure must outlive the instance. */
typedef struct pctl_library_host {
	pctl_host host;
	const char *cache_dir;
	uint32_t debug;
	uint32_t log;			/* 1: log lines go to standard error */
	const char *const *environment; /* for pctl.environment/1, or NULL; set after init */
} pctl_library_host;
void pctl_library_host_init(pctl_library_host *h, const char *cache_dir, uint32_t debug,
			    uint32_t log);

#endif
