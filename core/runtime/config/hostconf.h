/* The host's configuration: where things lie, limits of workers, caches, output. Found, read and
 * completed once at start; every value knows where it came from. */
#ifndef PIPECTL_RUNTIME_CONFIG_HOSTCONF_H
#define PIPECTL_RUNTIME_CONFIG_HOSTCONF_H

#include "foundation/conf/schema.h"

enum { PCTL_WHEN_AUTO = 0, PCTL_WHEN_ALWAYS = 1, PCTL_WHEN_NEVER = 2 };

/* What the command line and environment say; NULL where they are silent. */
typedef struct pctl_host_options {
	const char *home;   /* --home */
	const char *config; /* --config */
} pctl_host_options;

/*
 * All paths are absolute or relative to the caller's directory, ready to use.
 *
 * home      --home, else $PIPECTL_HOME (not when privileged), else $XDG_DATA_HOME/pipectl, else
 *           ~/.local/share/pipectl
 *
 * config    the file that was read, NULL when there is none and all is built in
 * conf_dir  the first that exists of: the directory of --config, EXE/../conf,
 *           EXE/../share/pipectl/conf, /etc/pipectl; else NULL
 *
 * policy    path of the default policy, NULL: the built-in one holds
 * gas       path of the default gas schedule, NULL when it is unset or not found
 */
typedef struct pctl_host_config {
	const char *home, *home_origin;
	const char *config;
	const char *conf_dir;
	const char *cas_dir, *memo_dir, *cache_dir;
	const char *const *plugin_dirs;
	const char *const *plugins_disabled;
	const char *worker; /* path of pipectl-worker, NULL: beside the executable */
	const char *policy;
	const char *gas;
	uint64_t memory_bytes, time_ms; /* of a session, on top of the policy's; 0 none */
	uint64_t cache_bytes;		/* of compiled kernels on disk; 0: none are kept */
	uint64_t gc_grace_s;
	const char *const *unconfined, *const *readable; /* of workers */
	uint32_t n_unconfined, n_readable;
	uint32_t n_plugin_dirs, n_plugins_disabled;
	uint32_t probe_ms, start_ms, call_ms, grace_ms, strikes;
	uint32_t in_process;
	uint32_t build_cpu_ms; /* processor time of one build */
	uint64_t build_memory; /* bytes of one build, 0 none */
	uint32_t first_run_ms; /* of the first run of a program, by the clock, 0 none */
	uint64_t gas_per_ms;   /* of this node, for blocks of the chain; 0: not measured */
	uint32_t abstain;      /* end no block that it has too little time for */
	uint64_t
		rules_known; /* newest version of the chain's rules to follow; 0: all that are known */
	uint32_t memo;
	uint32_t colour;		/* PCTL_WHEN_* */
	uint32_t log_level, log_format; /* PCTL_LOG_* */
	const char *log_file;		/* "-": standard error; NULL: none */
	const char *progress;		/* the word: auto, always, plain, never */
} pctl_host_config;

/*
 * Find and read it. Searched, first found wins: --config (must exist), HOME/pipectl.cfg,
 * EXE/../conf/pipectl.cfg (a build tree), EXE/../share/pipectl/conf/pipectl.cfg (an installation),
 * /etc/pipectl/pipectl.cfg. EXE is the directory of the programs (program.h). All errors of the file at
 * once.
 */
pctl_status pctl_host_config_load(const pctl_host_options *o, const pctl_call *call,
				  pctl_host_config **out);
void pctl_host_config_destroy(pctl_host_config *c);

/* The default gas schedule, for who is about to price something: PC4322 when the file that
 * `defaults.gas` names is not there; *out is NULL when none is named. */
pctl_status pctl_host_config_require_gas(const pctl_host_config *c, const pctl_call *call,
					 const char **out);

/* Every value with its origin, in the order of the documentation. */
uint32_t pctl_host_config_setting_count(const pctl_host_config *c);
const pctl_conf_setting *pctl_host_config_setting_at(const pctl_host_config *c, uint32_t i);
const char *pctl_host_config_origin(const pctl_host_config *c, const char *key);
/* Files that were looked for, in order; *used is 1 for the one that was read. NULL past the end. */
const char *pctl_host_config_searched_at(const pctl_host_config *c, uint32_t i, int *used);

/* A file named in the configuration or on the command line ("policy/default.cfg"): as it is when
 * present, else below HOME, else below the directories of conf_dir's list. The path, released with
 * free(), or NULL when there is none. */
char *pctl_host_config_find(const pctl_host_config *c, const char *name);
/* The same for a policy by its name among those of the home or the installation ("default.cfg"); config is the
 * pctl_host_config. A pctl_policy_find. */
char *pctl_host_config_find_policy(void *config, const char *name);

#endif
