/* The registry's insides, shared by the files of core/runtime/plugin. */
#ifndef PIPECTL_RUNTIME_PLUGIN_REGISTRY_PRIVATE_H
#define PIPECTL_RUNTIME_PLUGIN_REGISTRY_PRIVATE_H

#include <sys/types.h>

#include "foundation/base/arena.h"
#include "foundation/base/str.h"
#include "runtime/cas/cid.h"
#include "foundation/diag/diag.h"
#include "runtime/ipc/launch.h"
#include "runtime/ipc/library.h"
#include "runtime/plugin/registry.h"
#include "runtime/plugin/kept.h"
#include "runtime/plugin/instance.h"

/* Environment that the manifest wants for one driver. */
typedef struct driver_setting {
	const char *driver; /* key of the driver */
	const char *const *set;
	uint32_t n_set;
	const char *const *calls, *const *programs; /* that it may make and execute */
	uint32_t n_calls, n_programs;
} driver_setting;

/* One manifest. */
typedef struct known_plugin {
	pctl_plugin_info info;
	const char *pinned_sha256; /* or NULL */
	int sealed_fd;		   /* the library as it was hashed, once it was read; -1 before */
	const char *const *environment; /* names passed on from the host's environment */
	uint32_t n_environment;
	const char *const *readable; /* that its worker may read besides the system's folders */
	uint32_t n_readable;
	const char *const *calls, *const *programs;
	uint32_t n_calls, n_programs;
	uint32_t abi_min[2], abi_max[2]; /* major, minor */
	const driver_setting *settings;
	uint32_t n_settings;
	/* Op library in use: loaded here, or opened in a worker. Those whose worker was lost are kept, since what they gave
	 * may still be looked at. */
	int loaded;
	int shipped; /* its manifest lies in a directory of the installation's own */
	pctl_library_instance li;
	pctl_library_host host;
	struct opened_ops *opened; /* the one in use first */
	/* Driver environments, once asked for. */
	int has_envs;
	const pctl_driver_env *const *envs;
	uint32_t n_envs;
	/* Environments made for scripts, for as long as the registry lives. */
	struct scripted_env *scripts;
} known_plugin;

typedef struct searched_dir {
	const char *path;
	int present;
} searched_dir;

struct pctl_registry {
	pctl_arena *arena;
	known_plugin **plugins; /* by id */
	uint32_t n_plugins, cap_plugins;
	searched_dir *dirs;
	uint32_t n_dirs, cap_dirs;
	pctl_op_name *ops;
	uint32_t n_ops, cap_ops;
	const char *worker, *home, *cache, *host;
	char unknown[33]; /* files.c: stands for files that cannot be told */
	pctl_plugin_rules rules;
	uint64_t cache_bytes; /* UINT64_MAX: no bound */
	int wrote;	      /* a worker was started that may have compiled something */
	uint32_t flags;
	const char *const *unconfined, *const *readable; /* the caller's, copied */
	uint32_t n_unconfined, n_readable;
	struct pctl_log *log;
	uint32_t probe_ms, start_ms, call_ms, grace_ms, strikes, build_cpu_ms, first_run_ms;
	uint64_t build_memory;
	pctl_kept verdicts;
	uint32_t without;
	int told_of_lack; /* of the kernel, once */
	int verdicts_changed;
	pctl_kept quarantine;
	pctl_quarantine_entry *entries; /* view of quarantine, rebuilt when it changes */
	uint32_t n_entries;
};

/* The files of rows (kept.h). */
extern const pctl_record_type pctl_quarantine_type, pctl_verdicts_type, pctl_devices_type,
	pctl_refused_type, pctl_driver_files_type;

/* By id, or NULL. */
known_plugin *pctl_registry_known(const pctl_registry *r, const char *id);

/* Refuse: state, code, who and why into the info. The first refusal stays. */
void pctl_plugin_refuse(pctl_registry *r, known_plugin *p, uint32_t code, const char *who,
			const char *why);

/* The first error of a list as one line, "file:line:col: message", in the arena. */
const char *pctl_plugin_first_error(pctl_arena *a, const pctl_diag_list *l, uint32_t *code);

/* Emit why a plugin that is not usable is not. */
pctl_status pctl_plugin_state_refuse(const pctl_plugin_info *p, const pctl_call *call);

/* Read one manifest into a new plugin; one that is malformed comes out refused. NULL: no memory. */
known_plugin *pctl_plugin_manifest(pctl_registry *r, const char *path);

/* pid: of the worker; private_dir: where its driver may write, or NULL; icd: the driver's description, or NULL; builds: it
 * runs programs, with which it makes kernels that are files. */
typedef struct pctl_driver_files {
	pid_t pid;
	const char *private_dir, *icd;
	int builds;
} pctl_driver_files;
/* Append a line for the description and for every library mapped executable in the worker now, with its SHA-256
 * (files.c). Where that cannot be told the line is like none that another run of pipectl writes: what is unknown is never
 * taken for what was proved. libraries: the same without the description, as lines
 * "NAME<TAB>SHA-256". */
pctl_status pctl_driver_files_add(pctl_registry *r, const pctl_driver_files *of, pctl_str_buf *text,
				  pctl_str_buf *libraries, const pctl_call *call);

/* SHA-256 of a file as hex. 0: it cannot be read. */
int pctl_plugin_hash_file(const char *path, char hex[2 * PCTL_DIGEST_BYTES + 1]);

/* Pairs of id and SHA-256 in hex, ended by NULL: the libraries that were built with this pipectl. Made by the build. */
extern const char *const pctl_shipped_files[];
/* rules.c: 1 when the library that was hashed is one of them, or the policy pins it. */
int pctl_rules_vouch(const pctl_registry *r, const known_plugin *p);

/* rules.c: PC4317 where the policy wants results checked and this plugin, opened inside the host, could do as it likes with
 * what checks them: only files that came with pipectl or are pinned may. */
pctl_status pctl_rules_allow_here(const pctl_registry *r, const pctl_plugin_info *p,
				  const pctl_call *call);

/* rules.c: 0 and the plugin refused when the policy does not allow its id; refused when its file is not the pinned one. */
int pctl_rules_allow_id(pctl_registry *r, known_plugin *p);
void pctl_rules_check_sha256(pctl_registry *r, known_plugin *p);

/* Examine the library of a plugin that is not refused yet: by what is remembered, else for real. */
void pctl_examine(pctl_registry *r, known_plugin *p);
/* Keep what was learnt. */
void pctl_examine_save(pctl_registry *r, const pctl_call *call);

/* Forget what was learnt of a library whose file turned out to be another one. */
void pctl_examine_forget(pctl_registry *r, const known_plugin *p, const pctl_call *call);

/* reference.c: what the host makes of the kind that a plugin says of its device, and what PCTL_REFERENCE finds. */
struct pctl_devices;
struct pctl_device_entry;
uint32_t pctl_device_kind(const pctl_plugin_info *p, uint32_t claimed);
/* The roles of its device that the host believes. */
uint32_t pctl_device_roles(const pctl_plugin_info *p, uint32_t claimed);
pctl_status pctl_reference_find(pctl_registry *r, uint32_t flags, const pctl_call *call,
				struct pctl_devices **list, const struct pctl_device_entry **entry);

/* ---- sealed.c, environment.c ---- */

/* A copy of a file in memory that can no longer change, and its SHA-256; -1: errno. */
int pctl_sealed_copy(const char *path, char hex[65]);
/* The plugin's library as sealed memory whose hash is the one that was examined. PC3007, PC3035. */
pctl_status pctl_plugin_seal(pctl_registry *r, known_plugin *p, const pctl_call *call);
void pctl_plugin_unseal(known_plugin *p);

/* The whole environment of a worker; `dir` is where it may write, or NULL. NULL: no memory. */
char *const *pctl_worker_environment(pctl_arena *a, const known_plugin *p,
				     const pctl_driver_env *env, const char *dir);
/* What of it the user decides, a line each: nothing where he has set nothing. */
void pctl_worker_environment_add(const known_plugin *p, const pctl_driver_env *env,
				 pctl_str_buf *text);
/* What its worker may reach: `dir` to write into, and besides the system the driver's file and what manifest and
 * configuration name. PC3036 when a policy wants confinement and there is none. */
pctl_status pctl_worker_confinement(pctl_registry *r, const known_plugin *p,
				    const pctl_driver_env *env, const char *dir,
				    const pctl_call *call, pctl_confinement *out);

/* refused.c: keep what a worker of this plugin was refused, for `pipectl doctor`. */
void pctl_refused_note(pctl_registry *r, const known_plugin *p, const char *driver,
		       const pctl_refused *page);

/* Before a worker is started for work: a warning, once, where the kernel cannot confine in full. */
void pctl_worker_warn(pctl_registry *r, const known_plugin *p, const pctl_call *call);

/* The i-th directory below `dir` that this environment speaks of; NULL behind the last. */
const char *pctl_worker_private_dir(uint32_t i);

/*
 * Behind a run whose workers could write to the cache directory: keep what was compiled within `most` bytes. Where it may be more,
 * by what was there the last time and 16 MiB for each run since, it is looked at, and the oldest goes; 1: so it was.
 */
int pctl_cache_trim(const char *cache, uint64_t most);

/* Remove all that lies in the folder of a worker which nobody uses. */
void pctl_worker_folder_empty(const char *path);

/* Run `pipectl-worker --probe`; facts into the info, or the plugin refused. */
void pctl_probe_run(pctl_registry *r, known_plugin *p);

/* Open an op library (once): one that came with pipectl inside the host through libltdl, any other in a worker. */
pctl_status pctl_oplib_load(pctl_registry *r, known_plugin *p, const pctl_call *call);
/* Close it, and note whether its workers ended well. */
void pctl_oplib_close(pctl_registry *r, known_plugin *p);
/* In-process loading of any plugin: PC3012 to PC3014 and the checks of library.h. */
pctl_status pctl_host_load(pctl_registry *r, known_plugin *p, const pctl_call *call,
			   const pctl_plugin **out);

pctl_status pctl_quarantine_load(pctl_registry *r, const pctl_call *call);

/* The environment in which a scripted backend finds `script`, its pieces joined by '+', and the device that the script
 * wraps. flags: PCTL_DEVICES_*. PC3281, PC3029, and what resolving the wrapped device says. */
pctl_status pctl_scripted_env(pctl_registry *r, const pctl_plugin_info *info, const char *script,
			      uint32_t flags, const pctl_call *call, const pctl_driver_env **out);

/* A path below the cache directory, in the arena; `name` NULL is the directory. NULL without a
 * cache or memory. */
const char *pctl_registry_cache(pctl_registry *r, const char *name);

#endif
