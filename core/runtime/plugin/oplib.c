/* Op libraries, and libraries inside the host. An op library that came with pipectl runs in the host, any other in a worker
 * of its own: what it does, up to ending its process, happens there. Libraries inside the host, backends under --in-process
 * too, are loaded through libltdl, after the dynamic linker was asked directly: its words are lost on the way through
 * libltdl. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ltdl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/cas/cid.h"
#include "foundation/conf/conf.h"
#include "runtime/ipc/remote_ops.h"
#include "runtime/plugin/registry_private.h"

#define GRACE_MS 1000u

/* The library stays loaded until the process ends, as libltdl's `resident` asks: code that was in
 * use is never taken away under a table that still points to it. */
static pctl_status load_resident(const char *path, const pctl_call *call, lt_dlhandle *out)
{
	lt_dladvise advise = NULL;
	pctl_status s = PCTL_OK;
	const char *text;

	*out = NULL;
	if (lt_dlinit() || lt_dlsetsearchpath("") || lt_dladvise_init(&advise) ||
	    lt_dladvise_local(&advise) || lt_dladvise_resident(&advise)) {
		text = lt_dlerror();
		s = pctl_refuse(call, PC3013_PLUGIN_LOAD, "%s: libltdl: %s", path,
				text ? text : "?");
		goto out;
	}
	*out = lt_dlopenadvise(path, advise);
	if (!*out) {
		text = lt_dlerror();
		s = pctl_refuse(call, PC3013_PLUGIN_LOAD, "%s: libltdl: %s", path,
				text ? text : "?");
	}
out:
	if (advise)
		lt_dladvise_destroy(&advise);
	return s;
}

/* Libraries in use in this process, by the hash of what was loaded. The dynamic linker knows a library by the name of its
 * descriptor, which must therefore never be given to another one: both stay until the process ends. */
typedef struct resident {
	struct resident *next;
	char sha256[2 * PCTL_DIGEST_BYTES + 1];
	const pctl_plugin *plugin;
} resident;
static resident *residents;
static pthread_mutex_t residents_lock = PTHREAD_MUTEX_INITIALIZER;

static const pctl_plugin *find_resident(const char *sha256)
{
	const resident *e = residents;

	while (e && strcmp(e->sha256, sha256) != 0)
		e = e->next;
	return e ? e->plugin : NULL;
}

/* Without memory it is loaded again next time, which costs memory only. */
static void keep_resident(const char *sha256, const pctl_plugin *plugin)
{
	resident *e = calloc(1, sizeof(*e));

	if (!e)
		return;
	snprintf(e->sha256, sizeof(e->sha256), "%s", sha256);
	e->plugin = plugin;
	e->next = residents;
	residents = e;
}

static pctl_status load_new(const known_plugin *p, const pctl_call *call, const pctl_plugin **out)
{
	const int fd = fcntl(p->sealed_fd, F_DUPFD_CLOEXEC, 0);
	const pctl_plugin *checked;
	lt_dlhandle lt = NULL;
	char path[32];
	void *handle;
	pctl_status s;

	if (fd < 0)
		return pctl_refuse(call, PC3_IO, "%s: %s", p->info.library, strerror(errno));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	s = pctl_library_load(path, p->info.library, call, &handle);
	if (s) {
		close(fd);
		return s;
	}
	s = load_resident(path, call, &lt);
	if (!s)
		s = pctl_library_plugin(handle, p->info.library, p->info.id, call, &checked);
	if (!s) {
		*out = lt_dlsym(lt, PCTL_PLUGIN_SYMBOL);
		if (*out != checked)
			s = pctl_refuse(call, PC1_INTERNAL, "%s: loaded twice", p->info.library);
	}
	/* libltdl's reference keeps it, and it keeps the name of the descriptor. */
	dlclose(handle);
	if (s)
		*out = NULL;
	return s;
}

pctl_status pctl_host_load(pctl_registry *r, known_plugin *p, const pctl_call *call,
			   const pctl_plugin **out)
{
	pctl_status s = pctl_plugin_seal(r, p, call);

	*out = NULL;
	if (s)
		return s;
	pthread_mutex_lock(&residents_lock);
	*out = find_resident(p->info.sha256);
	if (*out && strcmp((*out)->id, p->info.id) != 0)
		s = pctl_refuse(call, PC3018_PLUGIN_ID,
				"%s: calls itself \"%.64s\", its manifest says \"%s\"",
				p->info.library, (*out)->id, p->info.id);
	else if (!*out)
		s = load_new(p, call, out);
	if (!s && !find_resident(p->info.sha256))
		keep_resident(p->info.sha256, *out);
	pthread_mutex_unlock(&residents_lock);
	if (s)
		*out = NULL;
	return s;
}

/* ---- in a worker -------------------------------------------------------------------------- */

struct opened_ops {
	struct opened_ops *next;
	pctl_remote_ops *ops;
	int is_noted; /* its end was counted */
};

static pctl_status open_remote(pctl_registry *r, known_plugin *p, const pctl_call *call,
			       pctl_remote_ops **out)
{
	static const char *const interface[] = {PCTL_OPLIB_INTERFACE};
	pctl_remote_options o = {.launch = {.worker = r->worker,
					    .log = r->log,
					    .library = p->info.library,
					    .id = p->info.id,
					    .further_fd = -1,
					    .interfaces = interface,
					    .n_interfaces = 1},
				 .start_ms = r->start_ms,
				 .call_ms = r->call_ms,
				 /* It holds no device that would have to come to rest. */
				 .grace_ms = r->grace_ms && r->grace_ms < GRACE_MS ? r->grace_ms
										   : GRACE_MS};
	pctl_status s;

	if (!r->worker)
		return pctl_refuse(call, PC3101_WORKER_MISSING,
				   "pipectl-worker is neither beside the executable nor in its "
				   "libexec directory, and op library \"%s\" needs it",
				   p->info.id);
	s = pctl_plugin_seal(r, p, call);
	if (s)
		return s;
	o.launch.library_fd = p->sealed_fd;
	o.launch.envp = pctl_worker_environment(r->arena, p, NULL, NULL);
	if (!o.launch.envp)
		return pctl_no_memory(call, "an op library");
	o.launch.limits = r->rules.limits;
	pctl_worker_warn(r, p, call);
	s = pctl_worker_confinement(r, p, NULL, NULL, call, &o.launch.confine);
	return s ? s : pctl_remote_ops_open(&o, call, out);
}

/* The library that is opened has the ops of its manifest, whatever it showed when it was examined. */
static pctl_status compare_ops(const known_plugin *p, const pctl_oplib *t, pctl_instance *inst,
			       const pctl_call *call)
{
	const uint32_t n = t->op_count(inst);
	uint32_t i, k;

	if (n != p->info.n_ops)
		return pctl_refuse(call, PC3023_PLUGIN_OPS, "%s: has %u ops, %s promises %u",
				   p->info.library, n, p->info.manifest, p->info.n_ops);
	for (i = 0; i < p->info.n_ops; i++) {
		const pctl_op_name *want = &p->info.ops[i];

		for (k = 0; k < n; k++)
			if (!strcmp(t->op_at(inst, k)->name, want->name) &&
			    t->op_at(inst, k)->version == want->version)
				break;
		if (k == n)
			return pctl_refuse(call, PC3023_PLUGIN_OPS,
					   "%s promises the op %s@%u, which the library lacks",
					   p->info.manifest, want->name, want->version);
	}
	return PCTL_OK;
}

pctl_status pctl_op_size_check(const pctl_op_desc *d, const char *library, const pctl_call *call)
{
	const struct {
		const char *of;
		uint32_t n, most;
	} counts[] = {{"inputs", d->n_in, PCTL_PORTS_MAX},
		      {"outputs", d->n_out, PCTL_PORTS_MAX},
		      {"attributes", d->n_attr, PCTL_ATTRS_MAX}};

	for (uint32_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (counts[i].n > counts[i].most)
			return pctl_refuse(call, PC3038_PLUGIN_OP_SIZE,
					   "%s: the op %s@%u has %u %s, and an op has at most %u",
					   library, d->name, d->version, counts[i].n, counts[i].of,
					   counts[i].most);
	return PCTL_OK;
}

static pctl_status check_sizes(const known_plugin *p, const pctl_oplib *t, pctl_instance *inst,
			       const pctl_call *call)
{
	const uint32_t n = t->op_count(inst);
	pctl_status s = PCTL_OK;

	for (uint32_t i = 0; i < n && !s; i++)
		s = pctl_op_size_check(t->op_at(inst, i), p->info.library, call);
	return s;
}

static pctl_status load_remote(pctl_registry *r, known_plugin *p, const pctl_call *call)
{
	struct opened_ops *e = calloc(1, sizeof(*e));
	pctl_status s;

	if (!e)
		return pctl_no_memory(call, "an op library");
	s = open_remote(r, p, call, &e->ops);
	if (s == pctl_code_status(PC3111_WORKER_OPLIB) && !pctl_is_cancelled(call))
		pctl_quarantine_strike(r, p->info.id, "", "its worker was lost while it was opened",
				       call);
	if (!s)
		s = compare_ops(p, pctl_remote_ops_table(e->ops), pctl_remote_ops_instance(e->ops),
				call);
	if (!s)
		s = check_sizes(p, pctl_remote_ops_table(e->ops), pctl_remote_ops_instance(e->ops),
				call);
	if (s) {
		pctl_remote_ops_close(e->ops);
		free(e);
		return s;
	}
	e->next = p->opened;
	p->opened = e;
	p->li.table = pctl_remote_ops_table(e->ops);
	p->li.inst = pctl_remote_ops_instance(e->ops);
	return PCTL_OK;
}

/* Count the end of its last worker, once. */
static int note_lost(pctl_registry *r, known_plugin *p, const pctl_call *call)
{
	int at_fault = 0;
	const char *lost = p->opened ? pctl_remote_ops_lost(p->opened->ops, &at_fault) : NULL;

	if (lost && at_fault && !p->opened->is_noted)
		pctl_quarantine_strike(r, p->info.id, "", lost, call);
	if (lost)
		p->opened->is_noted = 1;
	return lost != NULL;
}

/* ---- both --------------------------------------------------------------------------------- */

static pctl_status load_here(pctl_registry *r, known_plugin *p, const pctl_call *call)
{
	const pctl_plugin *pl;
	pctl_status s = pctl_host_load(r, p, call, &pl);

	if (s)
		return s;
	pctl_library_host_init(&p->host, NULL, 0, 0);
	s = pctl_library_open(pl, p->info.library, PCTL_OPLIB_INTERFACE, &p->host.host, call,
			      &p->li);
	if (s)
		return s;
	s = check_sizes(p, p->li.table, p->li.inst, call);
	if (s)
		pctl_library_close(&p->li);
	return s;
}

pctl_status pctl_oplib_load(pctl_registry *r, known_plugin *p, const pctl_call *call)
{
	const pctl_quarantine_entry *q;
	pctl_status s;

	if (p->loaded && !note_lost(r, p, call))
		return PCTL_OK;
	p->loaded = 0;
	q = pctl_quarantine_find(r, p->info.id, "");
	if (q)
		return pctl_refuse(call, PC3005_PLUGIN_QUARANTINED,
				   "op library \"%s\" is in quarantine: %s (held; `pipectl plugin "
				   "release %s` lets it be used again)",
				   p->info.id, q->cause, p->info.id);
	s = p->shipped && p->info.in_process_allowed ? load_here(r, p, call)
						     : load_remote(r, p, call);
	p->loaded = !s;
	return s;
}

void pctl_oplib_close(pctl_registry *r, known_plugin *p)
{
	struct opened_ops *e;

	if (p->opened && !note_lost(r, p, NULL))
		pctl_quarantine_well(r, p->info.id, "", NULL);
	while ((e = p->opened)) {
		p->opened = e->next;
		pctl_remote_ops_close(e->ops);
		free(e);
	}
	/* One in a worker has no plugin here. */
	pctl_library_close(&p->li);
}

known_plugin *pctl_registry_known(const pctl_registry *r, const char *id)
{
	uint32_t i;

	for (i = 0; i < r->n_plugins; i++)
		if (!strcmp(r->plugins[i]->info.id, id))
			return r->plugins[i];
	return NULL;
}

static void give(const known_plugin *p, pctl_oplib_instance *out)
{
	out->table = p->li.table;
	out->inst = p->li.inst;
	out->plugin = &p->info;
}

pctl_status pctl_registry_oplib(pctl_registry *r, const char *id, const pctl_call *call,
				pctl_oplib_instance *out)
{
	known_plugin *p = pctl_registry_known(r, id);
	pctl_status s;

	memset(out, 0, sizeof(*out));
	if (!p)
		return pctl_refuse(call, PC3003_PLUGIN_UNKNOWN, "there is no plugin \"%s\"", id);
	if (p->info.state != PCTL_PLUGIN_USABLE)
		return pctl_plugin_state_refuse(&p->info, call);
	if (p->info.kind != PCTL_PLUGIN_OPLIB)
		return pctl_refuse(call, PC3032_PLUGIN_KIND,
				   "\"%s\" is a backend, not an op library", id);
	s = pctl_oplib_load(r, p, call);
	if (!s)
		give(p, out);
	return s;
}

static pctl_status refuse_unknown(const pctl_registry *r, const char *name, uint32_t version,
				  const pctl_call *call)
{
	const char **names = calloc(r->n_ops + 1u, sizeof(*names));
	pctl_status s;
	uint32_t i, n = 0;
	char *hint;

	for (i = 0; names && i < r->n_ops; i++)
		if (n == 0 || strcmp(names[n - 1], r->ops[i].name))
			names[n++] = r->ops[i].name;
	hint = names ? pctl_conf_hint_names(name, names, n) : NULL;
	if (version)
		s = pctl_refuse_at(call, PC3030_OP_LIBRARY_NONE, NULL, hint,
				   "no usable op library defines %s@%u", name, version);
	else
		s = pctl_refuse_at(call, PC3030_OP_LIBRARY_NONE, NULL, hint,
				   "no usable op library defines %s", name);
	free(hint);
	free(names);
	return s;
}

pctl_status pctl_registry_find_op(pctl_registry *r, const char *name, uint32_t version,
				  const pctl_call *call, pctl_oplib_instance *out, uint32_t *op)
{
	const pctl_op_name *found = NULL;
	pctl_status s;
	uint32_t i, n;
	known_plugin *p;

	memset(out, 0, sizeof(*out));
	*op = 0;
	for (i = 0; i < r->n_ops; i++) {
		const pctl_op_name *o = &r->ops[i];

		if (strcmp(o->name, name) || (version && o->version != version))
			continue;
		if (found && found->version == o->version)
			return pctl_refuse(call, PC3024_PLUGIN_OP_DUPLICATE,
					   "%s@%u is defined by \"%s\" and by \"%s\"", name,
					   o->version, r->plugins[found->plugin]->info.id,
					   r->plugins[o->plugin]->info.id);
		found = o;
	}
	if (!found)
		return refuse_unknown(r, name, version, call);
	p = r->plugins[found->plugin];
	s = pctl_oplib_load(r, p, call);
	if (s)
		return s;
	give(p, out);
	n = out->table->op_count(out->inst);
	for (i = 0; i < n; i++) {
		const pctl_op_desc *d = out->table->op_at(out->inst, i);

		if (d && !strcmp(d->name, name) && d->version == found->version) {
			*op = i;
			return PCTL_OK;
		}
	}
	memset(out, 0, sizeof(*out));
	return pctl_refuse(call, PC3023_PLUGIN_OPS, "%s: lacks the op %s@%u it was examined with",
			   p->info.library, name, found->version);
}
