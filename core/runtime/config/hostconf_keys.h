/* The keys of the host configuration, for hostconf.c alone, which reads them. */
#ifndef PIPECTL_RUNTIME_CONFIG_HOSTCONF_KEYS_H
#define PIPECTL_RUNTIME_CONFIG_HOSTCONF_KEYS_H

#include "foundation/conf/schema.h"
#include "foundation/diag/log.h"

static const char *const switch_words[] = {"off", "on", NULL};
static const char *const when_words[] = {"auto", "always", "never", NULL};
static const char *const progress_words[] = {"auto", "always", "plain", "never", NULL};

static const pctl_conf_field path_element = {.kind = PCTL_FIELD_STRING};
static const pctl_conf_field id_element = {.kind = PCTL_FIELD_NAME};

static const pctl_conf_field directory_fields[] = {
	{.key = "cas",
	 .kind = PCTL_FIELD_STRING,
	 .doc = "the store of blobs; relative to the home"},
	{.key = "memo", .kind = PCTL_FIELD_STRING, .doc = "the table of results computed before"},
	{.key = "cache",
	 .kind = PCTL_FIELD_STRING,
	 .doc = "what may vanish: compiled kernels, verdicts on plugins"},
};
static const pctl_conf_schema directory_schema =
	PCTL_CONF_SCHEMA("\"directories\"", directory_fields);

static const pctl_conf_field plugin_fields[] = {
	{.key = "dirs",
	 .kind = PCTL_FIELD_LIST,
	 .element = &path_element,
	 .max = 64,
	 .doc = "further directories of plugin manifests; relative to this file"},
	{.key = "disabled",
	 .kind = PCTL_FIELD_LIST,
	 .element = &id_element,
	 .max = 256,
	 .doc = "ids of plugins that are listed but never used"},
};
static const pctl_conf_schema plugin_schema = PCTL_CONF_SCHEMA("\"plugins\"", plugin_fields);

#define DAY_MS 86400000u

static const pctl_conf_field worker_fields[] = {
	{.key = "path",
	 .kind = PCTL_FIELD_STRING,
	 .doc = "pipectl-worker; empty: beside the executable"},
	{.key = "probe",
	 .kind = PCTL_FIELD_DURATION,
	 .min = 1,
	 .max = DAY_MS,
	 .doc = "how long examining a library may take"},
	{.key = "start",
	 .kind = PCTL_FIELD_DURATION,
	 .min = 1,
	 .max = DAY_MS,
	 .doc = "how long a worker may take to open its device"},
	{.key = "call",
	 .kind = PCTL_FIELD_DURATION,
	 .min = 1,
	 .max = DAY_MS,
	 .doc = "how long one call to a worker may take, besides waiting for the device: of "
		"processor time, and of doing nothing"},
	{.key = "grace",
	 .kind = PCTL_FIELD_DURATION,
	 .min = 1,
	 .max = DAY_MS,
	 .doc = "how long a cancelled worker may take before it is killed"},
	{.key = "build_cpu",
	 .kind = PCTL_FIELD_DURATION,
	 .min = 1,
	 .max = DAY_MS,
	 .doc = "processor time that a driver may take to build one program"},
	{.key = "build_memory",
	 .kind = PCTL_FIELD_BYTES,
	 .doc = "memory that it may take for that; 0: no limit"},
	{.key = "first_run",
	 .kind = PCTL_FIELD_DURATION,
	 .max = DAY_MS,
	 .doc = "by the clock, how long the first run of a program on a device may take, in which "
		"some drivers "
		"still compile; 0: no limit"},
	{.key = "strikes",
	 .kind = PCTL_FIELD_U64,
	 .min = 1,
	 .max = 1000,
	 .doc = "deaths in a row of one plugin and driver that lead to quarantine"},
	{.key = "unconfined",
	 .kind = PCTL_FIELD_LIST,
	 .element = &path_element,
	 .max = 64,
	 .doc = "ids of plugins whose workers are not confined; \"*\": all"},
	{.key = "readable",
	 .kind = PCTL_FIELD_LIST,
	 .element = &path_element,
	 .max = 64,
	 .doc = "what confined workers may read besides the system's folders: a driver kept "
		"elsewhere"},
	{.key = "in_process",
	 .kind = PCTL_FIELD_BOOL,
	 .doc = "run backends that allow it inside pipectl, as --in-process does"},
};
static const pctl_conf_schema worker_schema = PCTL_CONF_SCHEMA("\"workers\"", worker_fields);

static const pctl_conf_field limit_fields[] = {
	{.key = "memory",
	 .kind = PCTL_FIELD_BYTES,
	 .doc = "of the buffers of one job, the most that is alive at once; 0: only the policy's "
		"limit"},
	{.key = "time",
	 .kind = PCTL_FIELD_DURATION,
	 .doc = "of the work of one job; 0: only the policy's limit"},
};
static const pctl_conf_schema limit_schema = PCTL_CONF_SCHEMA("\"limits\"", limit_fields);

static const pctl_conf_field cache_fields[] = {
	{.key = "kernels",
	 .kind = PCTL_FIELD_BYTES,
	 .doc = "compiled kernels kept on disk; 0: none"},
	{.key = "gc_grace",
	 .kind = PCTL_FIELD_DURATION,
	 .doc = "blobs younger than this survive `cas gc`"},
};
static const pctl_conf_schema cache_schema = PCTL_CONF_SCHEMA("\"cache\"", cache_fields);

static const pctl_conf_field chain_fields[] = {
	{.key = "gas_per_ms",
	 .kind = PCTL_FIELD_U64,
	 .max = INT64_MAX,
	 .doc = "gas of jobs that this node does in a millisecond, as `ledger params calibrate` "
		"measures it; 0: nobody knows"},
	{.key = "abstain",
	 .kind = PCTL_FIELD_BOOL,
	 .doc = "end no block whose jobs take longer than the chain gives them; else that is a "
		"warning"},
	{.key = "rules_known",
	 .kind = PCTL_FIELD_U64,
	 .max = UINT32_MAX,
	 .doc = "the newest version of the chain's rules that this node follows; it stops before a "
		"block under a later one; 0: all that this pipectl knows"},
};
static const pctl_conf_schema chain_schema = PCTL_CONF_SCHEMA("\"chain\"", chain_fields);

static const pctl_conf_field output_fields[] = {
	{.key = "colour",
	 .kind = PCTL_FIELD_CHOICE,
	 .words = when_words,
	 .doc = "auto: on a terminal, unless NO_COLOR is set"},
	{.key = "progress",
	 .kind = PCTL_FIELD_CHOICE,
	 .words = progress_words,
	 .doc = "auto: on a terminal; plain: a line every ten seconds"},
};
static const pctl_conf_schema output_schema = PCTL_CONF_SCHEMA("\"output\"", output_fields);

static const pctl_conf_field log_fields[] = {
	{.key = "file",
	 .kind = PCTL_FIELD_STRING,
	 .doc = "where the log is added to, below the home; \"-\": standard error; empty: there is "
		"none"},
	{.key = "level",
	 .kind = PCTL_FIELD_CHOICE,
	 .words = pctl_log_levels,
	 .doc = "the most detailed that is written"},
	{.key = "format",
	 .kind = PCTL_FIELD_CHOICE,
	 .words = pctl_log_formats,
	 .doc = "text: for people; json: an object a line"},
};
static const pctl_conf_schema log_schema = PCTL_CONF_SCHEMA("\"log\"", log_fields);

static const pctl_conf_field default_fields[] = {
	{.key = "policy",
	 .kind = PCTL_FIELD_STRING,
	 .doc = "policy file; below the home or beside this file; empty: built in"},
	{.key = "gas",
	 .kind = PCTL_FIELD_STRING,
	 .doc = "gas schedule; below the home or beside this file"},
};
static const pctl_conf_schema default_schema = PCTL_CONF_SCHEMA("\"defaults\"", default_fields);

static const pctl_conf_field host_fields[] = {
	{.key = "directories",
	 .kind = PCTL_FIELD_GROUP,
	 .group = &directory_schema,
	 .doc = "where state lies"},
	{.key = "plugins",
	 .kind = PCTL_FIELD_GROUP,
	 .group = &plugin_schema,
	 .doc = "where plugins are looked for"},
	{.key = "workers",
	 .kind = PCTL_FIELD_GROUP,
	 .group = &worker_schema,
	 .doc = "the processes that run them"},
	{.key = "limits",
	 .kind = PCTL_FIELD_GROUP,
	 .group = &limit_schema,
	 .doc = "on top of the policy's"},
	{.key = "cache",
	 .kind = PCTL_FIELD_GROUP,
	 .group = &cache_schema,
	 .doc = "what is kept and how long"},
	{.key = "chain",
	 .kind = PCTL_FIELD_GROUP,
	 .group = &chain_schema,
	 .doc = "as a node of the consensus VM"},
	{.key = "memo",
	 .kind = PCTL_FIELD_CHOICE,
	 .words = switch_words,
	 .doc = "take results that were computed before"},
	{.key = "output",
	 .kind = PCTL_FIELD_GROUP,
	 .group = &output_schema,
	 .doc = "what a person sees"},
	{.key = "log", .kind = PCTL_FIELD_GROUP, .group = &log_schema, .doc = "what happened when"},
	{.key = "defaults",
	 .kind = PCTL_FIELD_GROUP,
	 .group = &default_schema,
	 .doc = "what holds when nothing is named"},
};
static const pctl_conf_schema host_schema = PCTL_CONF_SCHEMA("the host configuration", host_fields);

#endif
