/* Opening backends: in a worker under its driver's environment, or in the host; see instance.h. */
#include "runtime/plugin/instance.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "runtime/ipc/remote.h"
#include "runtime/plugin/devices.h"
#include "runtime/plugin/guard.h"
#include "runtime/plugin/registry_private.h"

typedef struct session {
	pctl_backend_instance view; /* first: what the user holds */
	pctl_registry *r;
	pctl_remote *remote; /* NULL: in-process */
	pctl_guard *guard;   /* what the view shows */
	pctl_library_instance li;
	pctl_library_host host;
	const pctl_driver_env *env; /* the registry's */
	uint32_t flags;
	const char *driver; /* key of the environment */
	const char *dir;    /* private directory, or NULL */
	int lock_fd;
	int over_folder; /* its worker was ended for what lies in `dir` */
} session;

static pctl_status prepare_dir(session *s, const char *id, const pctl_call *call)
{
	pctl_registry *r = s->r;
	const char *lock, *name;
	pctl_status st;
	uint32_t i;

	if (!r->cache)
		return PCTL_OK;
	s->dir = pctl_arena_printf(r->arena, "%s/drivers/%s%s%s", r->cache, id,
				   *s->driver ? "-" : "", s->driver);
	if (!s->dir)
		return pctl_no_memory(call, "a session");
	for (i = 0; (name = pctl_worker_private_dir(i)) != NULL; i++) {
		const char *sub = pctl_arena_printf(r->arena, "%s/%s", s->dir, name);

		st = sub ? pctl_file_make_dirs(sub, call) : PCTL_E_NOMEM;
		if (st)
			return st;
	}
	lock = pctl_arena_printf(r->arena, "%s/plugin", s->dir);
	st = lock ? pctl_file_make_dirs(lock, call) : PCTL_E_NOMEM;
	if (st)
		return st;
	/* Shared while in use: whoever gets it alone may clear away what a killed driver left. */
	/* Beside the folder: what lies in it the plugin may replace, by a link to anything. */
	lock = pctl_arena_printf(r->arena, "%s.lock", s->dir);
	if (lock)
		s->lock_fd = open(lock, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->lock_fd >= 0 && flock(s->lock_fd, LOCK_SH | LOCK_NB) < 0) {
		close(s->lock_fd);
		s->lock_fd = -1;
	}
	return PCTL_OK;
}

/* PoCL builds in files of these names and removes them itself unless it is killed. A link in place of the folder leads
 * nowhere. */
static void clear_leftovers(const char *dir)
{
	char path[4096];
	struct dirent *e;
	DIR *d;
	int fd;

	snprintf(path, sizeof(path), "%s/pocl", dir);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d && fd >= 0)
		close(fd);
	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, "tempfile", 8))
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
}

static pctl_status open_worker(session *s, known_plugin *p, const pctl_driver_env *env,
			       uint32_t flags, const pctl_call *call)
{
	static const char *const interface[] = {PCTL_BACKEND_INTERFACE};
	pctl_registry *r = s->r;
	known_plugin *further = env->wrapped ? pctl_registry_known(r, env->wrapped) : NULL;
	pctl_remote_options o = {.launch = {.worker = r->worker,
					    .log = r->log,
					    .library = p->info.library,
					    .id = p->info.id,
					    .further_fd = -1,
					    .interfaces = interface,
					    .n_interfaces = 1,
					    .debug = flags & PCTL_INSTANCE_DEBUG ? 1 : 0},
				 .traced = (p->info.roles & PCTL_ROLE_SYNTHETIC) != 0,
				 .start_ms = r->start_ms,
				 .call_ms = r->call_ms,
				 .build_cpu_ms = r->build_cpu_ms,
				 .build_memory = r->build_memory,
				 .first_run_ms = r->first_run_ms,
				 .grace_ms = r->grace_ms,
				 .over_folder = &s->over_folder};
	pctl_status st;

	if (!r->worker)
		return pctl_refuse(call, PC3101_WORKER_MISSING,
				   "pipectl-worker is neither beside the executable nor in its "
				   "libexec directory");
	st = pctl_plugin_seal(r, p, call);
	if (!st && further)
		st = pctl_plugin_seal(r, further, call);
	if (!st)
		st = prepare_dir(s, p->info.id, call);
	if (st)
		return st;
	o.launch.library_fd = p->sealed_fd;
	o.launch.further_fd = further ? further->sealed_fd : -1;
	o.launch.envp = pctl_worker_environment(r->arena, p, env, s->dir);
	o.launch.cache_dir = s->dir ? pctl_arena_printf(r->arena, "%s/plugin", s->dir) : NULL;
	o.launch.limits = r->rules.limits;
	pctl_worker_warn(r, p, call);
	st = pctl_worker_confinement(r, p, env, s->dir, call, &o.launch.confine);
	if (st)
		return st;
	if (!o.launch.envp)
		return pctl_no_memory(call, "a session");
	r->wrote = 1;
	st = pctl_remote_open(&o, call, &s->remote);
	if (st)
		return st;
	s->view.table = pctl_remote_table(s->remote);
	s->view.inst = pctl_remote_instance(s->remote);
	return PCTL_OK;
}

static pctl_status open_here(session *s, known_plugin *known, const pctl_driver_env *env,
			     uint32_t flags, const pctl_call *call)
{
	const pctl_plugin_info *p = &known->info;
	const pctl_plugin *pl;
	pctl_status st;

	st = pctl_registry_in_process(s->r, call);
	if (!st)
		st = pctl_rules_allow_here(s->r, p, call);
	if (st)
		return st;
	if (!p->in_process_allowed)
		return pctl_refuse(
			call, PC3029_PLUGIN_ISOLATION,
			"backend \"%s\" runs in a worker only: %s does not allow in_process", p->id,
			p->manifest);
	st = pctl_host_load(s->r, known, call, &pl);
	if (st)
		return st;
	pctl_library_host_init(&s->host, NULL, flags & PCTL_INSTANCE_DEBUG ? 1 : 0, 0);
	if (env->script)
		s->host.environment = env->set;
	st = pctl_library_open(pl, p->library, PCTL_BACKEND_INTERFACE, &s->host.host, call, &s->li);
	if (st)
		return st;
	s->view.table = s->li.table;
	s->view.inst = s->li.inst;
	return PCTL_OK;
}

static void drop(session *s)
{
	pctl_guard_destroy(s->guard);
	pctl_remote_close(s->remote);
	pctl_library_close(&s->li);
	if (s->lock_fd >= 0) {
		if (s->dir && flock(s->lock_fd, LOCK_EX | LOCK_NB) == 0)
			(s->over_folder ? pctl_worker_folder_empty : clear_leftovers)(s->dir);
		close(s->lock_fd);
	}
	free(s);
}

pctl_status pctl_backend_instance_open(pctl_registry *r, const char *id, const pctl_driver_env *env,
				       uint32_t flags, const pctl_call *call,
				       pctl_backend_instance **out)
{
	const pctl_quarantine_entry *q;
	const pctl_plugin_info *p;
	session *s = NULL;
	pctl_status st;

	*out = NULL;
	st = pctl_registry_backend(r, id, call, &p);
	if (st)
		return st;
	if (!env) {
		const pctl_driver_env *const *envs;
		uint32_t n;

		st = pctl_driver_envs(r, p, call, &envs, &n);
		if (st)
			return st;
		if (n == 0)
			return pctl_refuse(call, PC3232_DEVICE_NONE,
					   "backend \"%s\" has no driver on this machine", id);
		env = envs[0];
	}
	q = pctl_quarantine_find(r, id, env->key);
	if (q && !(flags & PCTL_INSTANCE_QUARANTINED))
		return pctl_refuse(call, PC3005_PLUGIN_QUARANTINED,
				   "backend \"%s\" with driver \"%s\" is in quarantine: %s (held; "
				   "`pipectl plugin release %s` lets it be used again)",
				   id, env->key, q->cause, id);
	s = calloc(1, sizeof(*s));
	if (!s)
		return pctl_no_memory(call, "a session");
	s->r = r;
	s->lock_fd = -1;
	s->env = env;
	s->flags = flags;
	s->driver = env->key;
	s->view.plugin = p;
	if (flags & PCTL_INSTANCE_IN_PROCESS)
		st = open_here(s, pctl_registry_known(r, id), env, flags, call);
	else
		st = open_worker(s, pctl_registry_known(r, id), env, flags, call);
	if (!st)
		st = pctl_guard_create(id, s->remote == NULL, s->view.table, s->view.inst, call,
				       &s->guard);
	if (!st) {
		s->view.table = pctl_guard_table(s->guard);
		s->view.inst = pctl_guard_instance(s->guard);
	}
	if (st) {
		if (st == PCTL_E_DEVICE_LOST)
			pctl_quarantine_strike(r, id, s->driver,
					       "its worker died while it was opened", call);
		drop(s);
		return st;
	}
	*out = &s->view;
	return PCTL_OK;
}

pctl_status pctl_backend_instance_twin(const pctl_backend_instance *of, const pctl_call *call,
				       pctl_backend_instance **out)
{
	const session *s = (const session *)(const void *)of;

	return pctl_backend_instance_open(s->r, of->plugin->id, s->env, s->flags, call, out);
}

const char *pctl_backend_instance_icd(const pctl_backend_instance *view)
{
	return ((const session *)(const void *)view)->env->file;
}

pid_t pctl_backend_instance_worker(const pctl_backend_instance *view)
{
	const session *s = (const session *)(const void *)view;

	return s->remote ? pctl_remote_pid(s->remote) : 0;
}

const char *pctl_backend_instance_lost(const pctl_backend_instance *view)
{
	const session *s = (const session *)(const void *)view;

	return s->remote ? pctl_remote_lost(s->remote) : NULL;
}

void pctl_backend_instance_well(const pctl_backend_instance *view, const pctl_call *call)
{
	const session *s = (const session *)(const void *)view;

	if (s->remote && !pctl_remote_lost(s->remote))
		pctl_quarantine_well(s->r, view->plugin->id, s->driver, call);
}

void pctl_backend_instance_close(pctl_backend_instance *view, const pctl_call *call)
{
	session *s = (session *)(void *)view;
	const char *lost;

	if (!s)
		return;
	if (s->remote)
		pctl_refused_note(s->r, pctl_registry_known(s->r, view->plugin->id), s->driver,
				  pctl_remote_refused(s->remote));
	lost = pctl_backend_instance_lost(view);
	if (lost && pctl_remote_at_fault(s->remote))
		pctl_quarantine_strike(s->r, view->plugin->id, s->driver, lost, call);
	pctl_backend_instance_well(view, call);
	drop(s);
}

static void add_plugin(pctl_str_buf *text, const char *what, const pctl_plugin_info *p)
{
	pctl_str_addf(text, "%s %s %s\n", what, p->id, p->sha256 ? p->sha256 : "");
}

pctl_status pctl_backend_instance_files(const pctl_backend_instance *view, const pctl_call *call,
					char out[PCTL_SESSION_FILES_TEXT],
					char drivers[PCTL_SESSION_FILES_TEXT],
					pctl_str_buf *libraries)
{
	const session *s = (const session *)(const void *)view;
	const known_plugin *known = pctl_registry_known(s->r, view->plugin->id);
	const pctl_plugin_info *wrapped =
		s->env->wrapped ? pctl_registry_find(s->r, s->env->wrapped) : NULL;
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_status st = PCTL_OK;
	pctl_cid cid;
	size_t plugins;

	add_plugin(&text, "plugin", view->plugin);
	if (wrapped)
		add_plugin(&text, "wraps", wrapped);
	plugins = text.n;
	if (s->remote) {
		const pctl_driver_files of = {pctl_remote_pid(s->remote), s->dir, s->env->file,
					      s->env->n_programs != 0 || known->n_programs != 0};

		pctl_worker_environment_add(known, s->env, &text);
		st = pctl_driver_files_add(s->r, &of, &text, libraries, call);
	}
	if (!st && text.failed)
		st = pctl_no_memory(call, "a list of files");
	if (!st)
		st = pctl_cid_of(text.data, text.n, call, &cid);
	if (!st)
		pctl_digest_hex(cid.digest, out);
	if (!st)
		st = pctl_cid_of(text.data + plugins, text.n - plugins, call, &cid);
	if (!st)
		pctl_digest_hex(cid.digest, drivers);
	pctl_str_drop(&text);
	return st;
}
