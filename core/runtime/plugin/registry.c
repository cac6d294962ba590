/* Discovery and the listing of plugins; see registry.h. */
#include "runtime/plugin/registry.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/base/program.h"
#include "foundation/base/str.h"
#include "foundation/base/vec.h"
#include "foundation/conf/conf.h"
#include "runtime/plugin/registry_private.h"

#define SUFFIX ".plugin.cfg"
#define PROBE_MS 10000u
#define STRIKES 3u

/* Where an installation keeps manifests, and the worker, seen from the directory of the executable.
 */
static const char *const manifest_dirs[] = {"../plugins.d",
					    PIPECTL_LIBDIR_FROM_BIN "/pipectl/plugins.d"};
static const char *const worker_paths[] = {"pipectl-worker",
					   PIPECTL_LIBEXEC_FROM_BIN "/pipectl/pipectl-worker"};

void pctl_plugin_refuse(pctl_registry *r, known_plugin *p, uint32_t code, const char *who,
			const char *why)
{
	(void)r;
	if (p->info.state != PCTL_PLUGIN_USABLE)
		return;
	p->info.state = PCTL_PLUGIN_REFUSED;
	p->info.code = code;
	p->info.who = who;
	p->info.why = why ? why : "";
}

const char *pctl_plugin_first_error(pctl_arena *a, const pctl_diag_list *l, uint32_t *code)
{
	uint32_t i;

	for (i = 0; i < pctl_diag_list_count(l); i++) {
		const pctl_diag *d = pctl_diag_list_at(l, i);

		if (d->severity != PCTL_SEVERITY_ERROR)
			continue;
		*code = d->code;
		if (d->pos.file && d->pos.line)
			return pctl_arena_printf(a, "%s:%u:%u: %s", d->pos.file, d->pos.line,
						 d->pos.column, d->message);
		return pctl_arena_dup(a, d->message);
	}
	*code = PC1_INTERNAL;
	return "refused without a diagnostic";
}

const char *pctl_registry_cache(pctl_registry *r, const char *name)
{
	if (!r->cache || !name)
		return r->cache;
	return pctl_arena_printf(r->arena, "%s/%s", r->cache, name);
}

/* ---- discovery ---------------------------------------------------------------------------- */

static int is_manifest(const struct dirent *e)
{
	const size_t n = strlen(e->d_name), k = strlen(SUFFIX);

	return n > k && e->d_name[0] != '.' && !strcmp(e->d_name + n - k, SUFFIX);
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static pctl_status add_manifest(pctl_registry *r, const char *dir, const char *name,
				const pctl_call *call)
{
	const char *path = pctl_arena_printf(r->arena, "%s/%s", dir, name);
	known_plugin *p = path ? pctl_plugin_manifest(r, path) : NULL;

	if (!p || !pctl_vec_reserve((void **)&r->plugins, r->n_plugins, &r->cap_plugins, sizeof(p)))
		return pctl_refuse(call, PC2_NOMEM, "no memory for the manifests of %s", dir);
	r->plugins[r->n_plugins++] = p;
	return PCTL_OK;
}

/* `listed`: somebody named this directory, so it must be there. */
static pctl_status add_dir(pctl_registry *r, const char *path, int listed, const pctl_call *call)
{
	char reason[128], *real = realpath(path, NULL);
	const int error = errno;
	struct dirent **names = NULL;
	searched_dir d = {NULL, 0};
	pctl_status s = PCTL_OK;
	int i, n = -1;
	uint32_t k;

	for (k = 0; real && k < r->n_dirs; k++)
		if (!strcmp(r->dirs[k].path, real))
			goto out;
	if (real)
		n = scandir(real, &names, is_manifest, by_bytes);
	if (n < 0 && listed) {
		s = pctl_refuse(call, PC3006_PLUGIN_DIRECTORY, "%s: %s", path,
				strerror_r(real ? errno : error, reason, sizeof(reason)));
		goto out;
	}
	d.path = pctl_arena_dup(r->arena, real ? real : path);
	d.present = n >= 0;
	if (!d.path || !pctl_vec_reserve((void **)&r->dirs, r->n_dirs, &r->cap_dirs, sizeof(d))) {
		s = pctl_no_memory(call, "the plugin directories");
		goto out;
	}
	r->dirs[r->n_dirs++] = d;
	for (i = 0; i < n && !s; i++)
		s = add_manifest(r, d.path, names[i]->d_name, call);
out:
	for (i = 0; i < n; i++)
		free(names[i]);
	free(names);
	free(real);
	return s;
}

static const char *executable_dir(pctl_arena *a)
{
	char *dir = pctl_program_dir();
	const char *kept = dir ? pctl_arena_dup(a, dir) : NULL;

	free(dir);
	return kept;
}

/* Those of the installation's own directories, even where somebody listed one of them besides. */
static void mark_shipped(pctl_registry *r, const char *path)
{
	char *real = realpath(path, NULL);
	const size_t k = real ? strlen(real) : 0;
	uint32_t i;

	for (i = 0; real && i < r->n_plugins; i++) {
		const char *m = r->plugins[i]->info.manifest;

		r->plugins[i]->shipped |=
			!strncmp(m, real, k) && m[k] == '/' && !strchr(m + k + 1, '/');
	}
	free(real);
}

static pctl_status discover(pctl_registry *r, const pctl_registry_options *o, const char *exe_dir,
			    const pctl_call *call)
{
	pctl_status s = PCTL_OK;
	size_t k;
	uint32_t i;

	for (i = 0; i < o->n_dirs && !s; i++)
		s = add_dir(r, o->dirs[i], 1, call);
	if (o->flags & PCTL_REGISTRY_NO_DEFAULT_DIRS || !exe_dir)
		return s;
	for (k = 0; k < sizeof(manifest_dirs) / sizeof(manifest_dirs[0]) && !s; k++) {
		const char *path = pctl_arena_printf(r->arena, "%s/%s", exe_dir, manifest_dirs[k]);

		s = path ? add_dir(r, path, 0, call) : PCTL_E_NOMEM;
		if (!s)
			mark_shipped(r, path);
	}
	return s;
}

static void find_worker(pctl_registry *r, const pctl_registry_options *o, const char *exe_dir)
{
	const char *path = o->worker && *o->worker ? o->worker : secure_getenv("PIPECTL_WORKER");
	size_t k;

	if (path) {
		r->worker = access(path, X_OK) == 0 ? pctl_arena_dup(r->arena, path) : NULL;
		return;
	}
	for (k = 0; exe_dir && k < sizeof(worker_paths) / sizeof(worker_paths[0]); k++) {
		path = pctl_arena_printf(r->arena, "%s/%s", exe_dir, worker_paths[k]);
		if (path && access(path, X_OK) == 0) {
			r->worker = path;
			return;
		}
	}
}

/* ---- judging ------------------------------------------------------------------------------ */

static int by_id(const void *a, const void *b)
{
	const known_plugin *const *pa = a, *const *pb = b;
	const int c = strcmp((*pa)->info.id, (*pb)->info.id);

	return c ? c : strcmp((*pa)->info.manifest, (*pb)->info.manifest);
}

static void refuse_duplicates(pctl_registry *r)
{
	uint32_t i;

	for (i = 0; i + 1 < r->n_plugins; i++) {
		known_plugin *a = r->plugins[i], *b = r->plugins[i + 1];
		const char *why;

		if (strcmp(a->info.id, b->info.id))
			continue;
		why = pctl_arena_printf(r->arena, "the id \"%s\" stands in %s and in %s",
					a->info.id, a->info.manifest, b->info.manifest);
		/* Which one was meant cannot be told, even when one of them has further faults. */
		a->info.state = b->info.state = PCTL_PLUGIN_USABLE;
		pctl_plugin_refuse(r, a, PC3002_PLUGIN_DUPLICATE, b->info.manifest, why);
		pctl_plugin_refuse(r, b, PC3002_PLUGIN_DUPLICATE, a->info.manifest, why);
	}
}

static int disable_listed(known_plugin *p, const pctl_registry_options *o, pctl_arena *a)
{
	uint32_t i;

	for (i = 0; i < o->n_disabled; i++)
		if (!strcmp(o->disabled[i], p->info.id))
			break;
	if (i == o->n_disabled)
		return 0;
	p->info.state = PCTL_PLUGIN_IS_DISABLED;
	p->info.code = PC3004_PLUGIN_DISABLED;
	p->info.who = pctl_arena_dup(a, o->disabled_by ? o->disabled_by : "the configuration");
	p->info.why = "is not allowed";
	return 1;
}

static void judge(pctl_registry *r, const pctl_registry_options *o)
{
	uint32_t i;

	for (i = 0; i < r->n_plugins; i++) {
		known_plugin *p = r->plugins[i];
		const pctl_quarantine_entry *q;

		if (p->info.state != PCTL_PLUGIN_USABLE || disable_listed(p, o, r->arena) ||
		    !pctl_rules_allow_id(r, p))
			continue;
		q = pctl_quarantine_find(r, p->info.id, NULL);
		if (q) {
			p->info.state = PCTL_PLUGIN_IS_QUARANTINED;
			p->info.code = PC3005_PLUGIN_QUARANTINED;
			p->info.who = q->who;
			p->info.why = q->cause;
			continue;
		}
		pctl_examine(r, p);
	}
}

static int by_op(const void *a, const void *b)
{
	const pctl_op_name *oa = a, *ob = b;
	const int c = strcmp(oa->name, ob->name);

	if (c)
		return c;
	if (oa->version != ob->version)
		return oa->version < ob->version ? -1 : 1;
	return oa->plugin < ob->plugin ? -1 : oa->plugin > ob->plugin;
}

static pctl_status collect_ops(pctl_registry *r, const pctl_call *call)
{
	uint32_t i, k;

	for (i = 0; i < r->n_plugins; i++) {
		const pctl_plugin_info *info = &r->plugins[i]->info;

		for (k = 0; info->state == PCTL_PLUGIN_USABLE && k < info->n_ops; k++) {
			pctl_op_name op = info->ops[k];

			op.plugin = i;
			if (!pctl_vec_reserve((void **)&r->ops, r->n_ops, &r->cap_ops, sizeof(op)))
				return pctl_no_memory(call, "the op list");
			r->ops[r->n_ops++] = op;
		}
	}
	if (r->n_ops)
		qsort(r->ops, r->n_ops, sizeof(*r->ops), by_op);
	return PCTL_OK;
}

static const char *const *copy_texts(pctl_arena *a, const char *const *from, uint32_t n,
				     uint32_t *n_out)
{
	const char **out = n ? pctl_arena_array(a, n, sizeof(*out)) : NULL;

	for (uint32_t i = 0; out && i < n; i++)
		if (!(out[(*n_out)++] = pctl_arena_dup(a, from[i])))
			return NULL;
	return out;
}

/* Workers do not stand where the program was called, and what they have mapped is known by its path from the root. */
static const char *from_root(pctl_registry *r, const char *path)
{
	char here[4096];

	if (!path || *path == '/' || !getcwd(here, sizeof(here)))
		return path;
	return pctl_arena_printf(r->arena, "%s/%s", here, path);
}

pctl_status pctl_registry_open(const pctl_registry_options *o, const pctl_call *call,
			       pctl_registry **out)
{
	pctl_registry *r = calloc(1, sizeof(*r));
	const char *exe_dir;
	pctl_status s;

	*out = NULL;
	if (!r || !(r->arena = pctl_arena_create())) {
		free(r);
		return pctl_no_memory(call, "the plugin registry");
	}
	r->flags = o->flags;
	if (o->rules)
		r->rules = *o->rules;
	r->cache_bytes = o->bound_cache ? o->cache_bytes : UINT64_MAX;
	r->home = pctl_arena_dup(r->arena, o->home);
	r->cache = o->cache  ? pctl_arena_dup(r->arena, o->cache)
		   : o->home ? pctl_arena_printf(r->arena, "%s/cache", o->home)
			     : NULL;
	r->cache = from_root(r, r->cache);
	r->probe_ms = o->probe_ms ? o->probe_ms : PROBE_MS;
	r->without = o->without;
	r->start_ms = o->start_ms;
	r->call_ms = o->call_ms;
	r->grace_ms = o->grace_ms;
	r->build_cpu_ms = o->build_cpu_ms;
	r->build_memory = o->build_memory;
	r->first_run_ms = o->first_run_ms;
	r->log = o->log;
	r->strikes = o->strikes ? o->strikes : STRIKES;
	r->unconfined = copy_texts(r->arena, o->unconfined, o->n_unconfined, &r->n_unconfined);
	r->readable = copy_texts(r->arena, o->readable, o->n_readable, &r->n_readable);
	exe_dir = executable_dir(r->arena);
	find_worker(r, o, exe_dir);
	s = pctl_quarantine_load(r, call);
	if (!s)
		s = discover(r, o, exe_dir, call);
	if (!s) {
		if (r->n_plugins)
			qsort(r->plugins, r->n_plugins, sizeof(*r->plugins), by_id);
		refuse_duplicates(r);
		judge(r, o);
		pctl_examine_save(r, call);
		s = collect_ops(r, call);
	}
	if (s) {
		pctl_registry_close(r);
		return s;
	}
	*out = r;
	return PCTL_OK;
}

void pctl_registry_close(pctl_registry *r)
{
	uint32_t i;

	if (!r)
		return;
	for (i = 0; i < r->n_plugins; i++) {
		pctl_oplib_close(r, r->plugins[i]);
		pctl_plugin_unseal(r->plugins[i]);
	}
	if (r->cache && r->wrote && r->cache_bytes != UINT64_MAX)
		(void)pctl_cache_trim(r->cache, r->cache_bytes);
	free(r->plugins);
	free(r->dirs);
	free(r->ops);
	pctl_arena_destroy(r->arena);
	free(r);
}

/* ---- reading ------------------------------------------------------------------------------ */

uint32_t pctl_registry_count(const pctl_registry *r)
{
	return r->n_plugins;
}

const pctl_plugin_info *pctl_registry_at(const pctl_registry *r, uint32_t i)
{
	return i < r->n_plugins ? &r->plugins[i]->info : NULL;
}

const pctl_plugin_info *pctl_registry_find(const pctl_registry *r, const char *id)
{
	uint32_t i;

	for (i = 0; i < r->n_plugins; i++)
		if (!strcmp(r->plugins[i]->info.id, id))
			return &r->plugins[i]->info;
	return NULL;
}

pctl_status pctl_plugin_state_refuse(const pctl_plugin_info *p, const pctl_call *call)
{
	pctl_diag d = {.head = PCTL_HEAD(pctl_diag),
		       .code = p->code,
		       .severity = PCTL_SEVERITY_ERROR,
		       .subject = p->id,
		       .plugin = p->id};
	char text[1536];

	if (p->state == PCTL_PLUGIN_IS_QUARANTINED)
		snprintf(text, sizeof(text),
			 "plugin \"%s\": %s (held; `pipectl plugin release %s` lets it be used "
			 "again)",
			 p->id, p->why ? p->why : "", p->id);
	else
		snprintf(text, sizeof(text), "plugin \"%s\": %s", p->id, p->why ? p->why : "");
	d.message = text;
	d.hint = p->state == PCTL_PLUGIN_IS_QUARANTINED
			 ? "`pipectl plugin release` ends a quarantine"
			 : NULL;
	return pctl_emit(call, &d);
}

pctl_status pctl_registry_backend(const pctl_registry *r, const char *id, const pctl_call *call,
				  const pctl_plugin_info **out)
{
	const pctl_plugin_info *p = pctl_registry_find(r, id);
	const char **names;
	pctl_status s;
	uint32_t i, n = 0;
	char *hint;

	*out = NULL;
	if (p && p->state != PCTL_PLUGIN_USABLE)
		return pctl_plugin_state_refuse(p, call);
	if (p && p->kind != PCTL_PLUGIN_BACKEND)
		return pctl_refuse(call, PC3032_PLUGIN_KIND,
				   "\"%s\" is an op library, not a backend", id);
	if (p) {
		*out = p;
		return PCTL_OK;
	}
	names = calloc(r->n_plugins + 1u, sizeof(*names));
	for (i = 0; names && i < r->n_plugins; i++)
		if (r->plugins[i]->info.kind == PCTL_PLUGIN_BACKEND &&
		    r->plugins[i]->info.state == PCTL_PLUGIN_USABLE)
			names[n++] = r->plugins[i]->info.id;
	hint = names ? pctl_conf_hint_names(id, names, n) : NULL;
	s = pctl_refuse_at(call, PC3230_BACKEND_UNKNOWN, NULL, hint, "there is no backend \"%s\"",
			   id);
	free(hint);
	free(names);
	return s;
}

uint32_t pctl_registry_dir_count(const pctl_registry *r)
{
	return r->n_dirs;
}

const char *pctl_registry_dir_at(const pctl_registry *r, uint32_t i, int *present)
{
	if (i >= r->n_dirs)
		return NULL;
	*present = r->dirs[i].present;
	return r->dirs[i].path;
}

const char *pctl_registry_worker(const pctl_registry *r)
{
	return r->worker;
}

uint32_t pctl_registry_op_count(const pctl_registry *r)
{
	return r->n_ops;
}

const pctl_op_name *pctl_registry_op_at(const pctl_registry *r, uint32_t i)
{
	return i < r->n_ops ? &r->ops[i] : NULL;
}
