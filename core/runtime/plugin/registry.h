/* The registry: which plugins there are, which of them may be used, and why the others may not. It
 * reads manifests, has unknown libraries examined in a child process, remembers the verdict, and
 * loads a library only when somebody asks for it. It runs nothing itself (instance.h, devices.h).
 * One thread at a time. */
#ifndef PIPECTL_RUNTIME_PLUGIN_REGISTRY_H
#define PIPECTL_RUNTIME_PLUGIN_REGISTRY_H

#include "runtime/ipc/confine.h"
#include "pipectl/backend.h"
#include "pipectl/oplib.h"

typedef struct pctl_registry pctl_registry;

/* Look only in `dirs`, not in the build tree's or installation's own directories. */
#define PCTL_REGISTRY_NO_DEFAULT_DIRS 1u
/* Examine every library anew, whatever is remembered (doctor). */
#define PCTL_REGISTRY_FRESH 2u

/*
 * What a policy says of plugins; pctl_policy_plugin_rules makes it. Strings and arrays outlive the registry.
 *
 * allowed       ids that may be used; none: all. Of another one not even the file is looked at.
 * pins          pairs of id and SHA-256 in hex: a plugin whose library has another one is not used
 * only_workers  no backend is opened inside the host
 * checks        results are held against others: who is opened inside the host, where nothing keeps it from what judges it, is
 *               vouched for
 * only_confined no worker is started that the kernel or the configuration leaves unconfined
 * only_apart    none without namespaces of its own
 * limits        what a worker may use, with all it starts
 * .._by         where it stands, "file:line"
 */
typedef struct pctl_plugin_rules {
	const char *const *allowed;
	const char *const *pins;
	uint32_t n_allowed, n_pins;
	uint32_t only_workers, checks;
	uint32_t only_confined;
	uint32_t only_apart;
	pctl_worker_limits limits;
	const char *allowed_by, *pins_by, *isolation_by, *checks_by, *confinement_by,
		*namespaces_by;
} pctl_plugin_rules;

/*
 * dirs      directories of manifests, searched besides the defaults; absolute or relative to the
 *           caller's directory. The current directory is never searched unless it is listed.
 * home      pipectl's home: quarantine is kept in home/quarantine.tsv. NULL: nothing is kept.
 * cache     where verdicts, device lists and drivers' own caches lie; NULL: home/cache
 * worker    path of pipectl-worker; NULL: $PIPECTL_WORKER (unless privileged), else beside the
 *           executable, else in the libexec directory
 * disabled  ids that may not be used; disabled_by says who decided so (a file name)
 * probe_ms, start_ms, call_ms, grace_ms  as in remote.h; 0: 10 s, 30 s, 120 s, 10 s
 * cache_bytes  the most that compiled kernels in the cache may take, the host's and the drivers'; what is over it goes when
 *              the registry closes after workers ran: looked for where it may be that much, by 16 MiB a run. Only with bound_cache: else there is no bound.
 * rules     of the policy in force; NULL: everything that is found may be used
 * log       gets what workers write to standard error, as entries of their plugin, and their beginning and end; NULL: nobody
 * strikes   deaths of workers of one plugin and driver in a row that lead to quarantine; 0: 3
 */
typedef struct pctl_registry_options {
	const char *const *dirs;
	uint32_t n_dirs;
	uint32_t flags; /* PCTL_REGISTRY_* */
	const char *home, *cache;
	const char *worker;
	const char *const *disabled;
	uint32_t n_disabled;
	uint32_t probe_ms, start_ms, call_ms, grace_ms;
	uint32_t build_cpu_ms; /* as in remote.h */
	uint64_t build_memory;
	uint32_t first_run_ms;
	uint32_t strikes;
	const char *disabled_by;
	const char *const *unconfined; /* ids whose workers are not confined; "*": all */
	const char *const *readable;   /* what workers may read besides the system's own folders */
	uint32_t n_unconfined, n_readable;
	const pctl_plugin_rules *rules;
	struct pctl_log *log;
	uint64_t cache_bytes;
	uint32_t bound_cache;
	uint32_t
		without; /* PCTL_CONFINE_*, for tests: workers are confined as on a kernel that lacks them */
} pctl_registry_options;

/*
 * Find and judge all manifests. A plugin that cannot be used is no error here: it is listed with
 * its reason.
 *
 * Errors: PC3006 for a directory that cannot be read, PC3031, PC0002. *out is NULL then.
 */
pctl_status pctl_registry_open(const pctl_registry_options *o, const pctl_call *call,
			       pctl_registry **out);
/* All sessions opened through it are closed before. NULL is fine. */
void pctl_registry_close(pctl_registry *r);

enum { PCTL_PLUGIN_BACKEND = 1, PCTL_PLUGIN_OPLIB = 2 };
enum {
	PCTL_PLUGIN_USABLE = 1,
	PCTL_PLUGIN_REFUSED = 2,     /* code and why say what was found */
	PCTL_PLUGIN_IS_DISABLED = 3, /* who: the file that says so */
	PCTL_PLUGIN_IS_QUARANTINED = 4
};
enum { PCTL_ISOLATION_WORKER = 1, PCTL_ISOLATION_IN_PROCESS = 2 };

/*
 * What a plugin is for, as its manifest declares it before any of its code runs (`roles`). What the host decides about a
 * backend it decides by these, never by its name.
 *
 * REFERENCE  what results are held against. Believed only of a vouched plugin, and of its devices that say the same of
 *            themselves (PCTL_DEVICE_REFERENCE)
 * SYNTHETIC  goes wrong on purpose: it is told which job a call belongs to, nothing it gives is evidence, and it is used only
 *            when named. Refused of a plugin that is not vouched (PC3037)
 * INERT      keeps the contract and runs no program: listed, never chosen, probed or asked to take part
 */
enum { PCTL_ROLE_REFERENCE = 1, PCTL_ROLE_SYNTHETIC = 2, PCTL_ROLE_INERT = 4 };
#define PCTL_N_ROLES 3u
const char *pctl_role_name(uint32_t i); /* of bit i: "reference" */
/* What stands behind "ID:" in a selector: a device's number or name; a script for the backend; a script that may also name
 * the device of another backend, under which the backend lies as a layer ("wrap=ID:DEVICE"). */
enum { PCTL_SELECTS_DEVICE = 0, PCTL_SELECTS_SCRIPT = 1, PCTL_SELECTS_LAYER = 2 };
enum { PCTL_DRIVERS_NONE = 0, PCTL_DRIVERS_VULKAN = 1, PCTL_DRIVERS_OPENCL = 2 };

typedef struct pctl_op_name {
	const char *name; /* "rank.step" */
	uint32_t version;
	uint32_t plugin; /* index in the registry */
} pctl_op_name;

/* What is known of a plugin. All strings live as long as the registry; NULL where nothing is known.
 */
typedef struct pctl_plugin_info {
	const char *id;	      /* never NULL: the file's name when the manifest says none */
	const char *manifest; /* path */
	const char *library;  /* path */
	const char *about;    /* one line */
	const char *version;  /* as the library says */
	const char *sha256;   /* of the library, once it was examined */
	const char *who;      /* who says so: a manifest, a policy file, "probe", "quarantine" */
	const char *why;      /* message of the refusal */
	const char *const *interfaces;
	const char *const *drivers_extra; /* further driver files to look for */
	const char *const *devices;	  /* promised device names */
	const pctl_op_name *ops;
	uint32_t n_interfaces, n_drivers_extra, n_devices, n_ops;
	uint32_t kind;		       /* PCTL_PLUGIN_*, 0 unknown */
	uint32_t state;		       /* PCTL_PLUGIN_USABLE .. */
	uint32_t code;		       /* of the refusal */
	uint32_t isolation;	       /* PCTL_ISOLATION_* */
	uint32_t drivers;	       /* PCTL_DRIVERS_* */
	uint32_t abi_major, abi_minor; /* of the library */
	uint32_t in_process_allowed;   /* may run inside the host with --in-process */
	uint32_t roles;		       /* PCTL_ROLE_*, as declared */
	uint32_t selects; /* PCTL_SELECTS_*; one that takes a script is never chosen unless named */
	uint32_t
		vouched; /* its library is the very file that came with this pipectl, or one that the policy pins */
} pctl_plugin_info;

/* All plugins found, by id. */
uint32_t pctl_registry_count(const pctl_registry *r);
const pctl_plugin_info *pctl_registry_at(const pctl_registry *r, uint32_t i);
/* By id, usable or not; NULL when there is none. */
const pctl_plugin_info *pctl_registry_find(const pctl_registry *r, const char *id);
/* A usable backend, or a refusal: PC3230 (lists those that exist), PC3032, PC3005, PC3004, or its
 * own. */
pctl_status pctl_registry_backend(const pctl_registry *r, const char *id, const pctl_call *call,
				  const pctl_plugin_info **out);

/* PC4317 when the policy lets no backend run inside the host: for who is about to ask for it, so that all of them are
 * refused alike. Sessions ask again. */
pctl_status pctl_registry_in_process(const pctl_registry *r, const pctl_call *call);

/* NULL when workers of this plugin are confined in full, else why not. Namespaces are a question of their own: what they
 * keep out, the rest keeps out as well, where the kernel has it. */
const char *pctl_registry_unconfined(const pctl_registry *r, const char *id);
/* System calls ("ptrace, setsid") that the confinement refused workers of this plugin, driver by driver, for as long as its
 * library stays the same. */
void pctl_registry_refused_each(pctl_registry *r, const char *id,
				void (*tell)(void *ctx, const char *driver, const char *calls),
				void *ctx);
/* NULL when they have all namespaces of their own, else why not. Asks the kernel by trying, once in a process. */
const char *pctl_registry_shares_namespaces(const pctl_registry *r, const char *id);
/* Directories that were searched, in order, for `doctor`; present: 1 when it exists. */
uint32_t pctl_registry_dir_count(const pctl_registry *r);
const char *pctl_registry_dir_at(const pctl_registry *r, uint32_t i, int *present);
/* Path of pipectl-worker, or NULL when it was not found. */
const char *pctl_registry_worker(const pctl_registry *r);
/*
 * Which host this is: SHA-256, as hex, over those of the running program and of the worker it starts. Hashed on the
 * first question; owned by the registry.
 *
 * Errors: PC3101 (there is no worker), PC0003 for a file that cannot be read.
 */
pctl_status pctl_registry_host(pctl_registry *r, const pctl_call *call, const char **out);

/* ---- op libraries ------------------------------------------------------------------------- */

/* A loaded op library. It stays loaded and open until the registry closes. */
typedef struct pctl_oplib_instance {
	const pctl_oplib *table;
	pctl_instance *inst;
	const pctl_plugin_info *plugin;
} pctl_oplib_instance;

/* All ops of usable op libraries, by name and version. None of them need be loaded. */
uint32_t pctl_registry_op_count(const pctl_registry *r);
const pctl_op_name *pctl_registry_op_at(const pctl_registry *r, uint32_t i);

/* PC3038 where an op has more ports or attributes than an op may have: whatever counts on the most there are would leave it out.
 * library is for people. */
pctl_status pctl_op_size_check(const pctl_op_desc *d, const char *library, const pctl_call *call);

/* Load an op library by id (once), PC3003, PC3032, PC3038 of an op of it, or its refusal. */
pctl_status pctl_registry_oplib(pctl_registry *r, const char *id, const pctl_call *call,
				pctl_oplib_instance *out);

/* The library that defines op `name`, and the op's index in it. version 0: the highest there is.
 * PC3030 with the nearest names when there is none, PC3024 when two libraries define it. */
pctl_status pctl_registry_find_op(pctl_registry *r, const char *name, uint32_t version,
				  const pctl_call *call, pctl_oplib_instance *out, uint32_t *op);

/* ---- quarantine --------------------------------------------------------------------------- */

typedef struct pctl_quarantine_entry {
	const char *plugin;
	const char *driver; /* "" for the plugin as a whole */
	const char *cause;
	const char *who;  /* "host" or who ordered it */
	uint32_t strikes; /* failures counted; in_force tells whether they suffice */
	uint32_t in_force;
} pctl_quarantine_entry;

/* In the order plugin, driver; strikes that did not lead to quarantine yet are among them. */
uint32_t pctl_quarantine_count(const pctl_registry *r);
const pctl_quarantine_entry *pctl_quarantine_at(const pctl_registry *r, uint32_t i);
/* NULL when plugin and driver may be used; driver NULL or "" asks for the plugin as a whole. */
const pctl_quarantine_entry *pctl_quarantine_find(const pctl_registry *r, const char *plugin,
						  const char *driver);
/* Put in, by order of `who`, at once and durably. A registry without home keeps it in memory. */
pctl_status pctl_quarantine_put(pctl_registry *r, const char *plugin, const char *driver,
				const char *cause, const char *who, const pctl_call *call);
/* Release all entries of a plugin (driver NULL) or one; *n_out says how many. */
pctl_status pctl_quarantine_release(pctl_registry *r, const char *plugin, const char *driver,
				    const pctl_call *call, uint32_t *n_out);
/* Note a failure, or that it went well again. Enough failures in a row are a quarantine (warned
 * of). */
pctl_status pctl_quarantine_strike(pctl_registry *r, const char *plugin, const char *driver,
				   const char *cause, const pctl_call *call);
pctl_status pctl_quarantine_well(pctl_registry *r, const char *plugin, const char *driver,
				 const pctl_call *call);

#endif
