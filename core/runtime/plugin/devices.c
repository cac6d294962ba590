/* Asking every driver for its devices, each in a worker of its own, remembering what they said, and
 * putting the answers in order; see devices.h. */
#include "runtime/plugin/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "foundation/base/str.h"
#include "foundation/base/vec.h"
#include "foundation/diag/diag.h"
#include "runtime/plugin/registry_private.h"
#include "foundation/base/hex.h"

#define DEVICES_HEADER "pipectl devices 1"
#define DEVICES_MAX 64u /* of one driver */
#define NO_INDEX UINT32_MAX

struct pctl_devices {
	pctl_arena *arena;
	pctl_device_entry *entries;
	uint32_t n, cap;
	pctl_tsv rows;
	int changed;
	const char *path; /* of the rows; NULL: nothing is kept */
	const char *boot;
};

/* Which question a row answers, and a device. A driver without devices has one row with index "-".
 */
enum { D_PLUGIN, D_LIBRARY, D_DRIVER, D_IDENTITY, D_INDEX, D_NAME, D_VERSION, D_KIND, D_CAPS, D_N };

/* ---- what is remembered ------------------------------------------------------------------- */

static const char *stat_text(pctl_arena *a, const char *path)
{
	struct stat st;

	if (!path || stat(path, &st) < 0)
		return "-";
	return pctl_arena_printf(a, "%lld.%09ld.%lld", (long long)st.st_mtim.tv_sec,
				 st.st_mtim.tv_nsec, (long long)st.st_size);
}

/* Answers hold until the driver's file, the device nodes or the running system change. */
static const char *identity(pctl_devices *d, const pctl_driver_env *env)
{
	pctl_str_buf b = PCTL_STR_BUF_INIT;
	const char *out;
	uint32_t i;
	char *text;

	pctl_str_addf(&b, "%s %s %s %s %s", PIPECTL_VERSION, stat_text(d->arena, env->file),
		      stat_text(d->arena, "/dev/dri"), stat_text(d->arena, "/dev/nvidiactl"),
		      d->boot);
	for (i = 0; i < env->n_set; i++)
		pctl_str_addf(&b, " %s", env->set[i]);
	text = pctl_str_finish(&b);
	out = pctl_arena_dup(d->arena, text);
	free(text);
	return out;
}

static const char *caps_text(pctl_arena *a, const pctl_device_caps *c)
{
	char *text = pctl_arena_alloc(a, 2 * sizeof(*c) + 1);

	return text == NULL ? NULL : pctl_hex_print(c, sizeof(*c), text);
}

static int caps_parse(const char *text, pctl_device_caps *c)
{
	return pctl_hex_is(text, 2 * sizeof(*c)) && pctl_hex_parse(text, sizeof(*c), c) &&
	       c->head.size == sizeof(*c) && c->head.major == PCTL_ABI_MAJOR;
}

static int row_is(const pctl_tsv_row *row, const pctl_plugin_info *p, const pctl_driver_env *env)
{
	return row->n == D_N && !strcmp(row->field[D_PLUGIN], p->id) &&
	       !strcmp(row->field[D_DRIVER], env->key);
}

static int add_entry(pctl_devices *d, const pctl_device_entry *e)
{
	if (!e->name || !e->driver ||
	    !pctl_vec_reserve((void **)&d->entries, d->n, &d->cap, sizeof(*e)))
		return 0;
	d->entries[d->n++] = *e;
	return 1;
}

/* 1 when the rows answer for this driver; its devices are added then. */
static int recall(pctl_devices *d, const pctl_plugin_info *p, const pctl_driver_env *env,
		  const char *ident)
{
	const uint32_t before = d->n;
	uint32_t i, found = 0;

	for (i = 0; i < d->rows.n; i++) {
		const pctl_tsv_row *row = &d->rows.rows[i];
		pctl_device_entry e = {.backend = p->id, .env = env, .state = PCTL_DEVICE_USABLE};
		uint64_t index, kind;

		if (!row_is(row, p, env))
			continue;
		if (strcmp(row->field[D_IDENTITY], ident) ||
		    strcmp(row->field[D_LIBRARY], p->sha256))
			return 0;
		found = 1;
		if (!strcmp(row->field[D_INDEX], "-"))
			continue;
		e.name = row->field[D_NAME];
		e.driver = row->field[D_VERSION];
		if (!pctl_num_parse_u64(row->field[D_INDEX], strlen(row->field[D_INDEX]), &index) ||
		    index >= DEVICES_MAX ||
		    !pctl_num_parse_u64(row->field[D_KIND], strlen(row->field[D_KIND]), &kind) ||
		    kind > PCTL_DEVICE_DISCRETE || !caps_parse(row->field[D_CAPS], &e.caps)) {
			d->n = before;
			return 0;
		}
		e.in_driver = (uint32_t)index;
		e.claimed = (uint32_t)kind;
		e.kind = pctl_device_kind(p, e.claimed);
		e.roles = pctl_device_roles(p, e.claimed);
		if (!add_entry(d, &e))
			return 0;
	}
	return (int)found;
}

static void forget(pctl_devices *d, const pctl_plugin_info *p, const pctl_driver_env *env)
{
	uint32_t i = 0;

	while (i < d->rows.n) {
		if (row_is(&d->rows.rows[i], p, env)) {
			pctl_tsv_remove(&d->rows, i);
			d->changed = 1;
		} else {
			i++;
		}
	}
}

static void remember(pctl_devices *d, const pctl_plugin_info *p, const pctl_driver_env *env,
		     const char *ident, uint32_t first)
{
	uint32_t i;

	for (i = first; i < d->n || i == first; i++) {
		const pctl_device_entry *e = i < d->n ? &d->entries[i] : NULL;
		const char *fields[D_N] = {p->id, p->sha256, env->key, ident, "-"};

		if (e) {
			fields[D_INDEX] = pctl_arena_printf(d->arena, "%u", e->in_driver);
			fields[D_NAME] = e->name;
			fields[D_VERSION] = e->driver;
			fields[D_KIND] = pctl_arena_printf(d->arena, "%u", e->claimed);
			fields[D_CAPS] = caps_text(d->arena, &e->caps);
		}
		pctl_tsv_add(&d->rows, fields, D_N);
	}
	d->changed = 1;
}

/* ---- asking ------------------------------------------------------------------------------- */

static int promised(const pctl_plugin_info *p, const pctl_device_info *infos, uint32_t n)
{
	uint32_t i;

	if (!p->n_devices)
		return 1;
	if (n != p->n_devices)
		return 0;
	for (i = 0; i < n; i++)
		if (strcmp(infos[i].name, p->devices[i]))
			return 0;
	return 1;
}

static pctl_status ask_devices(pctl_devices *d, const pctl_backend_instance *s,
			       const pctl_driver_env *env, pctl_device_info *infos,
			       const pctl_call *call)
{
	pctl_status st;
	uint32_t n = 0, i;

	st = s->table->devices(s->inst, call, DEVICES_MAX, infos, &n);
	if (st)
		return st;
	if (n > DEVICES_MAX)
		n = DEVICES_MAX;
	if (!promised(s->plugin, infos, n))
		return pctl_refuse(call, PC3033_PLUGIN_DEVICES,
				   "backend \"%s\" has other devices than %s promises",
				   s->plugin->id, s->plugin->manifest);
	for (i = 0; i < n; i++) {
		pctl_device_entry e = {.backend = s->plugin->id,
				       .name = pctl_arena_dup(d->arena, infos[i].name),
				       .driver = pctl_arena_dup(d->arena, infos[i].driver),
				       .env = env,
				       .in_driver = i,
				       .claimed = infos[i].kind,
				       .kind = pctl_device_kind(s->plugin, infos[i].kind),
				       .roles = pctl_device_roles(s->plugin, infos[i].kind),
				       .state = PCTL_DEVICE_USABLE};
		pctl_device *dev = NULL;

		e.caps.head = (pctl_head)PCTL_HEAD(pctl_device_caps);
		st = s->table->device_open(s->inst, call, i, &dev);
		if (!st) {
			st = s->table->device_caps(dev, call, &e.caps);
			s->table->device_close(dev);
		}
		if (st)
			return st;
		if (!add_entry(d, &e))
			return pctl_refuse(call, PC2_NOMEM, "no memory for the device list");
	}
	return PCTL_OK;
}

static pctl_status add_failure(pctl_devices *d, const pctl_plugin_info *p,
			       const pctl_driver_env *env, uint32_t state, const char *cause,
			       const pctl_call *call)
{
	const pctl_device_entry e = {.backend = p->id,
				     .name = "",
				     .driver = env->file ? env->file : env->key,
				     .cause = pctl_arena_dup(d->arena, cause),
				     .env = env,
				     .index = NO_INDEX,
				     .state = state};

	return add_entry(d, &e) ? PCTL_OK
				: pctl_refuse(call, PC2_NOMEM, "no memory for the device list");
}

static pctl_status ask_driver(pctl_registry *r, pctl_devices *d, const pctl_plugin_info *p,
			      const pctl_driver_env *env, uint32_t flags, const char *ident,
			      const pctl_call *call)
{
	const uint32_t first = d->n;
	const int here = flags & PCTL_DEVICES_IN_PROCESS && p->in_process_allowed;
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_device_info *infos = calloc(DEVICES_MAX, sizeof(*infos));
	pctl_backend_instance *s = NULL;
	pctl_status st = PCTL_E_NOMEM;
	uint32_t i, code;

	if (!l || !infos)
		goto out;
	for (i = 0; i < DEVICES_MAX; i++)
		infos[i].head = (pctl_head)PCTL_HEAD(pctl_device_info);
	st = pctl_backend_instance_open(r, p->id, env, here ? PCTL_INSTANCE_IN_PROCESS : 0,
					pctl_diag_list_call(l), &s);
	if (!st)
		st = ask_devices(d, s, env, infos, pctl_diag_list_call(l));
	pctl_backend_instance_close(s, call);
	if (pctl_is_cancelled(call)) {
		st = pctl_refuse(call, PC4_CANCELLED, "while devices were listed");
		goto out;
	}
	forget(d, p, env);
	if (!st) {
		remember(d, p, env, ident, first);
	} else {
		d->n = first;
		st = add_failure(d, p, env, PCTL_DEVICE_UNUSABLE,
				 pctl_plugin_first_error(d->arena, l, &code), call);
	}
out:
	free(infos);
	pctl_diag_list_destroy(l);
	return st;
}

static pctl_status list_backend(pctl_registry *r, pctl_devices *d, const pctl_plugin_info *p,
				uint32_t flags, const pctl_call *call)
{
	const pctl_driver_env *const *envs;
	pctl_status s;
	uint32_t i, n;

	s = pctl_driver_envs(r, p, call, &envs, &n);
	for (i = 0; i < n && !s; i++) {
		const pctl_quarantine_entry *q = pctl_quarantine_find(r, p->id, envs[i]->key);
		const char *ident = identity(d, envs[i]);

		if (!ident)
			return pctl_refuse(call, PC2_NOMEM, "no memory for the device list");
		if (q)
			s = add_failure(d, p, envs[i], PCTL_DEVICE_QUARANTINED,
					pctl_arena_printf(r->arena,
							  "%s (held; `pipectl plugin release %s` "
							  "lets it be used again)",
							  q->cause, p->id),
					call);
		else if (flags & PCTL_DEVICES_FRESH || !recall(d, p, envs[i], ident))
			s = ask_driver(r, d, p, envs[i], flags, ident, call);
	}
	return s;
}

/* ---- order -------------------------------------------------------------------------------- */

static uint32_t rank(const pctl_device_entry *e)
{
	static const uint8_t ranks[] = {[PCTL_DEVICE_DISCRETE] = 0,
					[PCTL_DEVICE_INTEGRATED] = 1,
					[PCTL_DEVICE_OTHER] = 2,
					[PCTL_DEVICE_REFERENCE] = 3,
					[PCTL_DEVICE_CPU] = 4};

	return e->index == NO_INDEX ? 5u : ranks[e->kind];
}

static int by_order(const void *a, const void *b)
{
	const pctl_device_entry *x = a, *y = b;
	int c = strcmp(x->backend, y->backend);

	if (c)
		return c;
	if (rank(x) != rank(y))
		return rank(x) < rank(y) ? -1 : 1;
	if (x->env->order != y->env->order)
		return x->env->order < y->env->order ? -1 : 1;
	return x->in_driver < y->in_driver ? -1 : x->in_driver > y->in_driver;
}

static int number(pctl_devices *d)
{
	uint32_t i, next = 0;

	for (i = 0; i < d->n; i++) {
		pctl_device_entry *e = &d->entries[i];

		if (i == 0 || strcmp(e->backend, d->entries[i - 1].backend))
			next = 0;
		if (e->index == NO_INDEX) {
			e->selector = e->backend;
			continue;
		}
		e->index = next++;
		e->selector = pctl_arena_printf(d->arena, "%s:%u", e->backend, e->index);
		if (!e->selector)
			return 0;
	}
	return 1;
}

/* ---- the interface ------------------------------------------------------------------------ */

static void read_boot_id(pctl_devices *d)
{
	char text[64] = "-";
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (f && fgets(text, sizeof(text), f))
		text[strcspn(text, "\n")] = 0;
	if (f)
		fclose(f);
	d->boot = pctl_arena_dup(d->arena, text);
}

static pctl_devices *create(pctl_registry *r)
{
	pctl_devices *d = calloc(1, sizeof(*d));

	if (!d || !(d->arena = pctl_arena_create())) {
		free(d);
		return NULL;
	}
	pctl_tsv_init(&d->rows, d->arena);
	d->path = pctl_registry_cache(r, "devices.tsv");
	read_boot_id(d);
	/* A damaged memory of devices is no memory: they are asked again. */
	if (d->path)
		pctl_tsv_load(&d->rows, d->path, DEVICES_HEADER, NULL);
	return d;
}

pctl_status pctl_devices_list(pctl_registry *r, const char *backend, uint32_t flags,
			      const pctl_call *call, pctl_devices **out)
{
	const pctl_plugin_info *p = NULL;
	pctl_devices *d = NULL;
	pctl_status s = PCTL_OK;
	uint32_t i;

	*out = NULL;
	if (backend)
		s = pctl_registry_backend(r, backend, call, &p);
	if (s)
		return s;
	d = create(r);
	if (!d || !d->boot) {
		s = pctl_refuse(call, PC2_NOMEM, "no memory for the device list");
		goto out;
	}
	for (i = 0; i < pctl_registry_count(r) && !s; i++) {
		const pctl_plugin_info *q = pctl_registry_at(r, i);

		if (p ? p == q
		      : q->kind == PCTL_PLUGIN_BACKEND && q->state == PCTL_PLUGIN_USABLE &&
				    !q->selects && !(q->roles & PCTL_ROLE_SYNTHETIC))
			s = list_backend(r, d, q, flags, call);
	}
	if (s)
		goto out;
	if (d->n)
		qsort(d->entries, d->n, sizeof(*d->entries), by_order);
	if (!number(d))
		s = pctl_refuse(call, PC2_NOMEM, "no memory for the device list");
	else if (d->changed && d->path && !pctl_file_make_dirs(pctl_registry_cache(r, NULL), NULL))
		pctl_tsv_save(&d->rows, d->path, DEVICES_HEADER, 0, NULL);
out:
	if (s) {
		pctl_devices_destroy(d);
		return s;
	}
	*out = d;
	return PCTL_OK;
}

void pctl_devices_destroy(pctl_devices *d)
{
	if (!d)
		return;
	pctl_tsv_drop(&d->rows);
	pctl_arena_destroy(d->arena);
	free(d->entries);
	free(d);
}

uint32_t pctl_devices_count(const pctl_devices *d)
{
	return d->n;
}

const pctl_device_entry *pctl_devices_at(const pctl_devices *d, uint32_t i)
{
	return i < d->n ? &d->entries[i] : NULL;
}

static int matches(const pctl_device_entry *e, const char *text)
{
	uint64_t index;

	if (e->index == NO_INDEX)
		return 0;
	if (!*text)
		return e->index == 0;
	if (strspn(text, "0123456789") == strlen(text))
		return pctl_num_parse_u64(text, strlen(text), &index) && index == e->index;
	return strcasestr(e->name, text) || strcasestr(e->driver, text) ||
	       strcasestr(e->env->key, text);
}

/* "which there are" of a refusal, or "which failed" when there are none. */
/* The devices there are, then the drivers that give none: the one asked for may be held. */
static char *describe(const pctl_devices *d)
{
	pctl_str_buf b = PCTL_STR_BUF_INIT;
	uint32_t i, devices = 0;

	for (i = 0; i < d->n; i++)
		devices += d->entries[i].index != NO_INDEX;
	pctl_str_add(&b, devices ? "available: " : "");
	for (i = 0; i < d->n; i++) {
		const pctl_device_entry *e = &d->entries[i];

		if (devices && e->index != NO_INDEX)
			pctl_str_addf(&b, "%s%s \"%s\"", i ? ", " : "", e->selector, e->name);
		else
			pctl_str_addf(&b, "%s%s: %s", i ? "; " : "", e->driver, e->cause);
	}
	return pctl_str_finish(&b);
}

/* The device that a script makes, in a list of its own. */
static pctl_status find_scripted(pctl_registry *r, const char *id, const char *script,
				 uint32_t flags, const pctl_call *call, pctl_devices **list,
				 const pctl_device_entry **entry)
{
	const int here = flags & PCTL_DEVICES_IN_PROCESS;
	pctl_device_info infos[DEVICES_MAX] = {{.head = PCTL_HEAD(pctl_device_info)}};
	pctl_backend_instance *session = NULL;
	const pctl_driver_env *env = NULL;
	const pctl_plugin_info *p;
	pctl_devices *d = NULL;
	pctl_status s;

	s = pctl_registry_backend(r, id, call, &p);
	if (!s)
		s = pctl_scripted_env(r, p, script, flags, call, &env);
	if (!s && !(d = create(r)))
		s = pctl_refuse(call, PC2_NOMEM, "no memory for the device list");
	if (!s)
		s = pctl_backend_instance_open(r, id, env, here ? PCTL_INSTANCE_IN_PROCESS : 0,
					       call, &session);
	if (!s)
		s = ask_devices(d, session, env, infos, call);
	pctl_backend_instance_close(session, call);
	if (!s && d->n == 0)
		s = pctl_refuse(call, PC3232_DEVICE_NONE, "\"%s:%s\" has no device", id, script);
	if (!s) {
		d->entries[0].selector = pctl_arena_printf(d->arena, "%s:%s", id, env->script);
		if (!d->entries[0].selector)
			s = pctl_refuse(call, PC2_NOMEM, "no memory for the device list");
	}
	if (s) {
		pctl_devices_destroy(d);
		return s;
	}
	*list = d;
	*entry = &d->entries[0];
	return PCTL_OK;
}

pctl_status pctl_devices_find(pctl_registry *r, const char *selector, uint32_t flags,
			      const pctl_call *call, pctl_devices **list,
			      const pctl_device_entry **entry)
{
	const size_t n = strcspn(selector, ":");
	const char *text = selector[n] ? selector + n + 1 : selector + n;
	char *backend = strndup(selector, n), *hint = NULL;
	const pctl_plugin_info *p = backend ? pctl_registry_find(r, backend) : NULL;
	pctl_devices *d = NULL;
	pctl_status s;
	uint32_t i;

	*list = NULL;
	*entry = NULL;
	if (strcmp(selector, PCTL_REFERENCE) == 0) {
		s = pctl_reference_find(r, flags, call, list, entry);
		goto out;
	}
	if (p && p->selects >= PCTL_SELECTS_SCRIPT && *text) {
		s = find_scripted(r, backend, text, flags, call, list, entry);
		goto out;
	}
	s = backend ? pctl_devices_list(r, backend, flags, call, &d) : PCTL_E_NOMEM;
	if (s)
		goto out;
	for (i = 0; i < d->n && !*entry; i++)
		if (matches(&d->entries[i], text))
			*entry = &d->entries[i];
	if (*entry) {
		*list = d;
		d = NULL;
		goto out;
	}
	hint = describe(d);
	if (d->n == 0 || d->entries[0].index == NO_INDEX)
		s = pctl_refuse_at(call, PC3232_DEVICE_NONE, NULL, hint && *hint ? hint : NULL,
				   "backend \"%s\" has no device on this machine", backend);
	else
		s = pctl_refuse_at(call, PC3231_DEVICE_UNKNOWN, NULL, hint,
				   "backend \"%s\" has no device \"%s\"", backend, text);
out:
	free(hint);
	free(backend);
	pctl_devices_destroy(d);
	return s;
}
