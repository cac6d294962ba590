/* A session: one backend plugin opened under one driver environment, in a worker process of its own
 * or inside the host. Whoever uses it sees only the backend interface (and runtime/ipc/remote.h says what a
 * worker changes: failures of recording are told by list_end, those of submit by wait). */
#ifndef PIPECTL_RUNTIME_PLUGIN_INSTANCE_H
#define PIPECTL_RUNTIME_PLUGIN_INSTANCE_H

#include <sys/types.h>

#include "foundation/base/str.h"
#include "runtime/plugin/registry.h"

/* A driver environment: what must stand in the environment of a process so that its loader sees one
 * driver. All strings live as long as whoever gave it. */
typedef struct pctl_driver_env {
	const char *key; /* short and stable: names caches, quarantine entries and devices' drivers;
			    "" for backends without drivers */
	const char *file;	/* the ICD description it comes from, or NULL */
	const char *const *set; /* NAME=VALUE pairs */
	const char *const *
		chosen; /* those of them that the user has set to something else than the manifest says */
	uint32_t n_set, n_chosen;
	const char *const *calls,
		*const *programs; /* that its workers may make and execute besides */
	uint32_t n_calls, n_programs;
	uint32_t order;	     /* among the backend's environments */
	const char *script;  /* of a backend that takes one (then `set` ends with NULL), or NULL */
	const char *wrapped; /* id of the backend whose device the script wraps, or NULL */
} pctl_driver_env;

#define PCTL_INSTANCE_IN_PROCESS 1u  /* PC3029 unless the manifest allows it */
#define PCTL_INSTANCE_DEBUG 2u	     /* the plugin's own validation */
#define PCTL_INSTANCE_QUARANTINED 4u /* open in spite of a quarantine */

typedef struct pctl_backend_instance {
	const pctl_backend *table;
	pctl_instance *inst;
	const pctl_plugin_info *plugin;
} pctl_backend_instance;

/*
 * Open backend `id` under `env` (NULL: the backend's only or first environment). To go on after a
 * worker was lost, close the session and open another.
 *
 * Errors: those of pctl_registry_backend, PC3005 for the driver, PC3029, PC31xx.
 * [a thread that lives as long as the session, see remote.h; may block]
 */
pctl_status pctl_backend_instance_open(pctl_registry *r, const char *id, const pctl_driver_env *env,
				       uint32_t flags, const pctl_call *call,
				       pctl_backend_instance **out);

/*
 * Open the same backend under the same driver once more, with the flags of the first: a process of its own for what may
 * cost a device its process. Its loss is nothing to the first one; it counts against the plugin as any other.
 *
 * Errors: as pctl_backend_instance_open.
 */
pctl_status pctl_backend_instance_twin(const pctl_backend_instance *of, const pctl_call *call,
				       pctl_backend_instance **out);

/* End it. Devices and their objects are destroyed before (of a lost worker, too). A worker that was
 * lost by its own doing is counted against plugin and driver, one that ended well clears the
 * count. NULL is fine. */
void pctl_backend_instance_close(pctl_backend_instance *s, const pctl_call *call);

/*
 * Which files the session runs on, as one SHA-256 in hex: the plugin's (and the one it wraps), the driver's description, and
 * all libraries that the kernel shows mapped executable in its worker now; and what of the user's environment its worker was
 * given, which may make another driver of the same files. It is the host's evidence, no claim of the plugin. Asked once the device is open and before anything is built, it is part of the device's key; what a driver maps
 * later (NVIDIA's OpenCL compilers, of the version of libcuda) is found by asking again (pctl_session_settle). Kernels that
 * it built are not in it, nor are the libraries of a session in the host.
 *
 * drivers    the same without the plugins: what is left of it when the plugin alone is built anew
 * libraries  the libraries alone are added to it, a line "NAME<TAB>SHA-256" each, ordered by path
 *
 * Where the mappings cannot be read, the digest says that, and is that of no session whose mappings could.
 */
#define PCTL_SESSION_FILES_TEXT 65u
pctl_status pctl_backend_instance_files(const pctl_backend_instance *s, const pctl_call *call,
					char out[PCTL_SESSION_FILES_TEXT],
					char drivers[PCTL_SESSION_FILES_TEXT],
					pctl_str_buf *libraries);

/* The ICD description of the driver that it was opened under, or NULL. */
const char *pctl_backend_instance_icd(const pctl_backend_instance *s);

/* The worker's first process, which everything else of it dies with; 0: the session is in this process. */
pid_t pctl_backend_instance_worker(const pctl_backend_instance *s);

/* How the worker was lost, or NULL. */
const char *pctl_backend_instance_lost(const pctl_backend_instance *s);
/* It did what it was asked, and is not lost: strikes before this one are no longer in a row with any after it. Closing says so, too. */
void pctl_backend_instance_well(const pctl_backend_instance *s, const pctl_call *call);

#endif
