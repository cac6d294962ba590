/* Implementation of hostconf.h: finding the home and the file, reading it over built-in values,
 * completing paths. */
#include "runtime/config/hostconf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/diag/log.h"
#include "foundation/base/arena.h"
#include "foundation/base/file.h"
#include "foundation/base/program.h"
#include "runtime/config/hostconf_keys.h"

#define PLACES_MAX 4u
#define SEARCHED_MAX (PLACES_MAX + 1u)

typedef struct host_state {
	pctl_host_config c;
	pctl_arena *arena;
	pctl_conf *file, *built_in;
	const pctl_conf_value *layers[2];
	uint32_t n_layers;
	pctl_conf_settings *settings;
	const char *searched[SEARCHED_MAX];
	uint32_t n_searched, used;
	const char *places[PLACES_MAX]; /* where the installation's configuration may lie */
	uint32_t n_places;
} host_state;

/* Paths that are empty here are completed from the home or found beside the executable. */
static const char built_in_text[] =
	"directories : { cas = \"cas\"; memo = \"memo\"; cache = \"cache\"; };\n"
	"plugins : { dirs = ( ); disabled = ( ); };\n"
	"workers : { path = \"\"; probe = \"10s\"; start = \"30s\"; call = \"120s\"; grace = "
	"\"10s\"; strikes = 3;\n"
	"build_cpu = \"120s\"; build_memory = \"4GiB\"; first_run = \"30min\";\n"
	"unconfined = ( ); readable = ( ); in_process = false; };\n"
	"limits : { memory = 0; time = 0; };\n"
	"cache : { kernels = \"1GiB\"; gc_grace = \"24h\"; };\n"
	"chain : { gas_per_ms = 0; abstain = false; rules_known = 0; };\n"
	"memo = \"on\";\n"
	"output : { colour = \"auto\"; progress = \"auto\"; };\n"
	"log : { file = \"\"; level = \"info\"; format = \"text\"; };\n"
	"defaults : { policy = \"policy/default.cfg\"; gas = \"gas/structured-3.cfg\"; };\n";

static host_state *state_of(const pctl_host_config *c)
{
	return (host_state *)(void *)(uintptr_t)c;
}

void pctl_host_config_destroy(pctl_host_config *c)
{
	host_state *s = state_of(c);

	if (c == NULL)
		return;
	pctl_conf_settings_destroy(s->settings);
	pctl_conf_destroy(s->file);
	pctl_conf_destroy(s->built_in);
	pctl_arena_destroy(s->arena);
	free(s);
}

uint32_t pctl_host_config_setting_count(const pctl_host_config *c)
{
	return pctl_conf_settings_count(state_of(c)->settings);
}

const pctl_conf_setting *pctl_host_config_setting_at(const pctl_host_config *c, uint32_t i)
{
	return pctl_conf_settings_at(state_of(c)->settings, i);
}

const char *pctl_host_config_origin(const pctl_host_config *c, const char *key)
{
	const pctl_conf_setting *set = pctl_conf_settings_get(state_of(c)->settings, key);

	return set != NULL ? set->origin : NULL;
}

const char *pctl_host_config_searched_at(const pctl_host_config *c, uint32_t i, int *used)
{
	const host_state *s = state_of(c);

	*used = i < s->n_searched && i == s->used;
	return i < s->n_searched ? s->searched[i] : NULL;
}

/* ---- places ------------------------------------------------------------------------------- */

static const char *join(host_state *s, const char *a, const char *b)
{
	return b[0] == '/' ? pctl_arena_dup(s->arena, b)
			   : pctl_arena_printf(s->arena, "%s/%s", a, b);
}

/* An environment variable that is set, not empty, and to be trusted. */
static const char *environment(const char *name)
{
	const char *value = secure_getenv(name);

	return value != NULL && value[0] != 0 ? value : NULL;
}

static pctl_status find_home(host_state *s, const pctl_host_options *o, const pctl_call *call)
{
	const char *value;

	if (o != NULL && o->home != NULL && o->home[0] != 0) {
		s->c.home = pctl_arena_dup(s->arena, o->home);
		s->c.home_origin = "--home";
	} else if ((value = environment("PIPECTL_HOME")) != NULL) {
		s->c.home = pctl_arena_dup(s->arena, value);
		s->c.home_origin = "PIPECTL_HOME";
	} else if ((value = environment("XDG_DATA_HOME")) != NULL && value[0] == '/') {
		s->c.home = join(s, value, "pipectl");
		s->c.home_origin = "XDG_DATA_HOME";
	} else if ((value = environment("HOME")) != NULL) {
		s->c.home = join(s, value, ".local/share/pipectl");
		s->c.home_origin = "HOME";
	} else {
		return pctl_refuse(call, PC4320_HOST_CONFIG_HOME,
				   "none of --home, PIPECTL_HOME, XDG_DATA_HOME, HOME is set");
	}
	return s->c.home != NULL ? PCTL_OK : pctl_no_memory(call, "a path");
}

/* Directory of the programs; NULL when the system does not tell. */
static const char *executable_dir(host_state *s)
{
	char *dir = pctl_program_dir();
	const char *kept = dir == NULL ? NULL : pctl_arena_dup(s->arena, dir);

	free(dir);
	return kept;
}

static const char *directory_of(host_state *s, const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash == NULL   ? "."
	       : slash == file ? "/"
			       : pctl_arena_dup_n(s->arena, file, (size_t)(slash - file));
}

static void search(host_state *s, const char *path)
{
	if (path != NULL)
		s->searched[s->n_searched++] = path;
}

static void add_place(host_state *s, const char *dir)
{
	if (dir == NULL)
		return;
	s->places[s->n_places++] = dir;
	if (s->c.conf_dir == NULL && pctl_dir_exists(dir))
		s->c.conf_dir = dir;
}

static pctl_status find_file(host_state *s, const pctl_host_options *o, const pctl_call *call)
{
	const char *exe = executable_dir(s);

	s->used = UINT32_MAX;
	if (o != NULL && o->config != NULL) {
		if (!pctl_file_exists(o->config))
			return pctl_refuse(call, PC4321_HOST_CONFIG_FILE,
					   "there is no file \"%s\" (--config)", o->config);
		search(s, pctl_arena_dup(s->arena, o->config));
		add_place(s, directory_of(s, o->config));
	} else {
		search(s, join(s, s->c.home, "pipectl.cfg"));
	}
	if (exe != NULL) {
		add_place(s, join(s, exe, "../conf"));
		add_place(s, join(s, exe, "../share/pipectl/conf"));
	}
	add_place(s, "/etc/pipectl");
	for (uint32_t i = 0; (o == NULL || o->config == NULL) && i < s->n_places; i++)
		search(s, join(s, s->places[i], "pipectl.cfg"));
	for (uint32_t i = 0; i < s->n_searched && s->c.config == NULL; i++) {
		if (!pctl_file_exists(s->searched[i]))
			continue;
		s->used = i;
		s->c.config = s->searched[i];
	}
	return PCTL_OK;
}

char *pctl_host_config_find(const pctl_host_config *c, const char *name)
{
	const host_state *s = state_of(c);
	char *path;

	if (pctl_file_exists(name))
		return strdup(name);
	for (uint32_t i = 0; name[0] != '/' && i <= s->n_places; i++) {
		path = pctl_path_join(i == 0 ? c->home : s->places[i - 1], name);
		if (path != NULL && pctl_file_exists(path))
			return path;
		free(path);
	}
	return NULL;
}

char *pctl_host_config_find_policy(void *config, const char *name)
{
	char inside[512];
	const int n = snprintf(inside, sizeof(inside), "policy/%s", name);

	return name[0] == '/' || n < 0 || (size_t)n >= sizeof(inside)
		       ? NULL
		       : pctl_host_config_find(config, inside);
}

/* ---- the file ----------------------------------------------------------------------------- */

static const pctl_conf_value *value_of(const host_state *s, const char *key)
{
	return pctl_conf_settings_get(s->settings, key)->from;
}

static const char *text_of(const host_state *s, const char *key)
{
	return value_of(s, key)->text;
}

static uint32_t word_of(const host_state *s, const char *key, const char *const *words)
{
	uint32_t n = 0, which = 0;

	while (words[n] != NULL)
		n++;
	(void)pctl_conf_as_choice(value_of(s, key), words, n, NULL, &which);
	return which;
}

static uint32_t ms_of(const host_state *s, const char *key)
{
	uint64_t ms = 0;

	(void)pctl_conf_as_duration(value_of(s, key), 0, DAY_MS, NULL, &ms);
	return (uint32_t)ms;
}

static const char *const *texts_of(host_state *s, const char *key, int paths, uint32_t *n)
{
	const pctl_conf_value *v = value_of(s, key);
	const char **out = pctl_arena_array(s->arena, v->n_items, sizeof(*out));

	*n = v->n_items;
	for (uint32_t i = 0; out != NULL && i < v->n_items; i++)
		out[i] = paths ? join(s, directory_of(s, v->pos.file), v->items[i]->text)
			       : v->items[i]->text;
	return out;
}

/* The path of a default, NULL when it is unset or not there. */
static const char *find_default(host_state *s, const char *key)
{
	const char *name = text_of(s, key), *out = NULL;
	char *path = name[0] != 0 ? pctl_host_config_find(&s->c, name) : NULL;

	if (path != NULL)
		out = pctl_arena_dup(s->arena, path);
	free(path);
	return out;
}

/* A default that a file names must be there. */
static pctl_status require_default(const host_state *s, const char *key, const char *found,
				   const pctl_call *call)
{
	const pctl_conf_setting *set = pctl_conf_settings_get(s->settings, key);

	if (found != NULL || set->from->text[0] == 0)
		return PCTL_OK;
	return pctl_refuse_at(call, PC4322_HOST_CONFIG_DEFAULT, &set->from->pos, NULL,
			      "\"%s\" names \"%.200s\", which is not found (%s)", key,
			      set->from->text, set->origin);
}

pctl_status pctl_host_config_require_gas(const pctl_host_config *c, const pctl_call *call,
					 const char **out)
{
	*out = c->gas;
	return require_default(state_of(c), "defaults.gas", c->gas, call);
}

static pctl_status fill(host_state *s, const pctl_call *call)
{
	pctl_host_config *c = &s->c;
	const char *const base = c->home;
	uint64_t strikes = 0;

	c->cas_dir = join(s, base, text_of(s, "directories.cas"));
	c->memo_dir = join(s, base, text_of(s, "directories.memo"));
	c->cache_dir = join(s, base, text_of(s, "directories.cache"));
	c->plugin_dirs = texts_of(s, "plugins.dirs", 1, &c->n_plugin_dirs);
	c->plugins_disabled = texts_of(s, "plugins.disabled", 0, &c->n_plugins_disabled);
	c->worker = text_of(s, "workers.path")[0] != 0
			    ? join(s, directory_of(s, value_of(s, "workers.path")->pos.file),
				   text_of(s, "workers.path"))
			    : NULL;
	c->probe_ms = ms_of(s, "workers.probe");
	c->start_ms = ms_of(s, "workers.start");
	c->call_ms = ms_of(s, "workers.call");
	c->grace_ms = ms_of(s, "workers.grace");
	(void)pctl_conf_as_u64(value_of(s, "workers.strikes"), 0, 1000, NULL, &strikes);
	c->strikes = (uint32_t)strikes;
	c->unconfined = texts_of(s, "workers.unconfined", 0, &c->n_unconfined);
	c->readable = texts_of(s, "workers.readable", 1, &c->n_readable);
	c->build_cpu_ms = ms_of(s, "workers.build_cpu");
	(void)pctl_conf_as_bytes(value_of(s, "workers.build_memory"), 0, UINT64_MAX, NULL,
				 &c->build_memory);
	c->first_run_ms = ms_of(s, "workers.first_run");
	c->in_process = (uint32_t)value_of(s, "workers.in_process")->integer;
	(void)pctl_conf_as_bytes(value_of(s, "limits.memory"), 0, UINT64_MAX, NULL,
				 &c->memory_bytes);
	(void)pctl_conf_as_duration(value_of(s, "limits.time"), 0, UINT64_MAX, NULL, &c->time_ms);
	(void)pctl_conf_as_bytes(value_of(s, "cache.kernels"), 0, UINT64_MAX, NULL,
				 &c->cache_bytes);
	(void)pctl_conf_as_duration(value_of(s, "cache.gc_grace"), 0, UINT64_MAX, NULL,
				    &c->gc_grace_s);
	c->gc_grace_s /= 1000;
	(void)pctl_conf_as_u64(value_of(s, "chain.gas_per_ms"), 0, INT64_MAX, NULL, &c->gas_per_ms);
	c->abstain = (uint32_t)value_of(s, "chain.abstain")->integer;
	(void)pctl_conf_as_u64(value_of(s, "chain.rules_known"), 0, UINT32_MAX, NULL,
			       &c->rules_known);
	c->memo = word_of(s, "memo", switch_words);
	c->colour = word_of(s, "output.colour", when_words);
	c->progress = progress_words[word_of(s, "output.progress", progress_words)];
	c->log_file = text_of(s, "log.file");
	if (c->log_file[0] == '\0')
		c->log_file = NULL;
	else if (strcmp(c->log_file, "-") != 0)
		c->log_file = join(s, base, c->log_file);
	c->log_level = word_of(s, "log.level", pctl_log_levels);
	c->log_format = word_of(s, "log.format", pctl_log_formats);
	c->policy = find_default(s, "defaults.policy");
	c->gas = find_default(s, "defaults.gas");
	if (c->cas_dir == NULL || c->memo_dir == NULL || c->cache_dir == NULL ||
	    c->plugin_dirs == NULL || c->plugins_disabled == NULL || c->unconfined == NULL ||
	    c->readable == NULL)
		return pctl_no_memory(call, "the host's configuration");
	if (strcmp(pctl_conf_settings_get(s->settings, "defaults.policy")->origin,
		   PCTL_CONF_BUILT_IN) == 0)
		return PCTL_OK; /* nobody asked for that file, and the built-in policy is the same
				 */
	return require_default(s, "defaults.policy", c->policy, call);
}

static pctl_status read_layers(host_state *s, const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	if (s->c.config != NULL) {
		status = pctl_conf_read_file(s->c.config, call, &s->file);
		if (status == PCTL_OK)
			status = pctl_conf_check(pctl_conf_root(s->file), &host_schema, call);
		if (status != PCTL_OK)
			return status;
		s->layers[s->n_layers++] = pctl_conf_root(s->file);
	}
	status = pctl_conf_read_text(PCTL_CONF_BUILT_IN, built_in_text, strlen(built_in_text), call,
				     &s->built_in);
	if (status == PCTL_OK)
		status = pctl_conf_check(pctl_conf_root(s->built_in), &host_schema, call);
	if (status != PCTL_OK)
		return status;
	s->layers[s->n_layers++] = pctl_conf_root(s->built_in);
	return pctl_conf_settings_create(&host_schema, s->layers, s->n_layers, call, &s->settings);
}

pctl_status pctl_host_config_load(const pctl_host_options *o, const pctl_call *call,
				  pctl_host_config **out)
{
	host_state *s = calloc(1, sizeof(*s));
	pctl_status status;

	*out = NULL;
	if (s == NULL || (s->arena = pctl_arena_create()) == NULL) {
		free(s);
		return pctl_no_memory(call, "the host's configuration");
	}
	status = find_home(s, o, call);
	if (status == PCTL_OK)
		status = find_file(s, o, call);
	if (status == PCTL_OK)
		status = read_layers(s, call);
	if (status == PCTL_OK)
		status = fill(s, call);
	if (status != PCTL_OK) {
		pctl_host_config_destroy(&s->c);
		return status;
	}
	*out = &s->c;
	return PCTL_OK;
}
