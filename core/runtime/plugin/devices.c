/* Asking every driver for its devices, each in a worker of its own, and putting the answers in order; see devices.h. */
#include "runtime/plugin/devices_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "foundation/base/str.h"
#include "foundation/base/vec.h"
#include "foundation/diag/diag.h"

int pctl_devices_add(pctl_devices *d, const pctl_device_entry *e)
{
	if (!e->name || !e->driver ||
	    !pctl_vec_reserve((void **)&d->entries, d->n, &d->cap, sizeof(*e)))
		return 0;
	d->entries[d->n++] = *e;
	return 1;
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

	st = s->table->devices(s->inst, call, PCTL_DEVICES_MAX, infos, &n);
	if (st)
		return st;
	if (n > PCTL_DEVICES_MAX)
		n = PCTL_DEVICES_MAX;
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
		if (!pctl_devices_add(d, &e))
			return pctl_no_memory(call, "the device list");
	}
	return PCTL_OK;
}

static pctl_status add_failure(pctl_devices *d, const pctl_plugin_info *p,
			       const pctl_driver_env *env, uint32_t state, uint32_t code,
			       const char *cause, const pctl_call *call)
{
	const pctl_device_entry e = {.backend = p->id,
				     .name = "",
				     .driver = env->file ? env->file : env->key,
				     .cause = pctl_arena_dup(d->arena, cause),
				     .cause_code = code,
				     .env = env,
				     .index = PCTL_DEVICES_NO_INDEX,
				     .state = state};

	return pctl_devices_add(d, &e) ? PCTL_OK : pctl_no_memory(call, "the device list");
}

static pctl_status ask_driver(pctl_registry *r, pctl_devices *d, const pctl_plugin_info *p,
			      const pctl_driver_env *env, uint32_t flags, const char *ident,
			      const pctl_call *call)
{
	const uint32_t first = d->n;
	const int here = flags & PCTL_DEVICES_IN_PROCESS && p->in_process_allowed;
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_device_info *infos = calloc(PCTL_DEVICES_MAX, sizeof(*infos));
	pctl_backend_instance *s = NULL;
	pctl_status st = PCTL_E_NOMEM;
	uint32_t i, code;

	if (!l || !infos)
		goto out;
	for (i = 0; i < PCTL_DEVICES_MAX; i++)
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
	pctl_devices_forget(d, p, env);
	if (!st) {
		pctl_devices_remember(d, p, env, ident, first);
	} else {
		const char *cause = pctl_plugin_first_error(d->arena, l, &code);

		d->n = first;
		st = add_failure(d, p, env, PCTL_DEVICE_UNUSABLE, code, cause, call);
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
		const char *ident = pctl_devices_identity(d, envs[i]);

		if (!ident)
			return pctl_no_memory(call, "the device list");
		if (q)
			s = add_failure(d, p, envs[i], PCTL_DEVICE_QUARANTINED,
					PC3005_PLUGIN_QUARANTINED,
					pctl_arena_printf(r->arena,
							  "%s (held; `pipectl plugin release %s` "
							  "lets it be used again)",
							  q->cause, p->id),
					call);
		else if (flags & PCTL_DEVICES_FRESH || !pctl_devices_recall(d, p, envs[i], ident))
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

	return e->index == PCTL_DEVICES_NO_INDEX ? 5u : ranks[e->kind];
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
		if (e->index == PCTL_DEVICES_NO_INDEX) {
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
	d->path = pctl_registry_cache(r, "devices.tsv");
	read_boot_id(d);
	/* A damaged memory of devices is no memory: they are asked again. */
	(void)pctl_kept_load(&d->rows, &pctl_devices_type, d->arena, d->path, NULL);
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
		s = pctl_no_memory(call, "the device list");
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
		s = pctl_no_memory(call, "the device list");
	else if (d->changed && d->path && !pctl_file_make_dirs(pctl_registry_cache(r, NULL), NULL))
		pctl_kept_save(&d->rows, d->path, 0, NULL);
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

	if (e->index == PCTL_DEVICES_NO_INDEX)
		return 0;
	if (!*text)
		return e->index == 0;
	if (strspn(text, "0123456789") == strlen(text))
		return pctl_num_parse_u64(text, strlen(text), &index) && index == e->index;
	return strcasestr(e->name, text) || strcasestr(e->driver, text) ||
	       strcasestr(e->env->key, text);
}

/* The devices there are, then the drivers that give none: the one asked for may be held. */
static char *describe(const pctl_devices *d)
{
	pctl_str_buf b = PCTL_STR_BUF_INIT;
	uint32_t i, devices = 0;

	for (i = 0; i < d->n; i++)
		devices += d->entries[i].index != PCTL_DEVICES_NO_INDEX;
	pctl_str_add(&b, devices ? "available: " : "");
	for (i = 0; i < d->n; i++) {
		const pctl_device_entry *e = &d->entries[i];

		if (devices && e->index != PCTL_DEVICES_NO_INDEX)
			pctl_str_addf(&b, "%s%s \"%s\"", i ? ", " : "", e->selector, e->name);
		else
			pctl_str_addf(&b, "%s%s%s%s", i ? "; " : "", e->driver,
				      *e->driver ? ": " : "", e->cause);
	}
	return pctl_str_finish(&b);
}

/* No driver gives a device. The same cause has the same code wherever it strikes: a worker that is stopped while devices are
 * listed is refused as one that is stopped later. */
static pctl_status refuse_none(const pctl_devices *d, const char *backend, const char *hint,
			       const pctl_call *call)
{
	uint32_t code = d->n ? d->entries[0].cause_code : 0, i;

	for (i = 1; i < d->n; i++)
		if (d->entries[i].cause_code != code)
			code = 0;
	if (code)
		return pctl_refuse(call, code, "backend \"%s\" has no device: %s", backend,
				   hint ? hint : "");
	return pctl_refuse_at(call, PC3232_DEVICE_NONE, NULL, hint && *hint ? hint : NULL,
			      "backend \"%s\" has no device on this machine", backend);
}

/* The device that a script makes, in a list of its own. */
static pctl_status find_scripted(pctl_registry *r, const char *id, const char *script,
				 uint32_t flags, const pctl_call *call, pctl_devices **list,
				 const pctl_device_entry **entry)
{
	const int here = flags & PCTL_DEVICES_IN_PROCESS;
	pctl_device_info infos[PCTL_DEVICES_MAX] = {{.head = PCTL_HEAD(pctl_device_info)}};
	pctl_backend_instance *session = NULL;
	const pctl_driver_env *env = NULL;
	const pctl_plugin_info *p;
	pctl_devices *d = NULL;
	pctl_status s;

	s = pctl_registry_backend(r, id, call, &p);
	if (!s)
		s = pctl_scripted_env(r, p, script, flags, call, &env);
	if (!s && !(d = create(r)))
		s = pctl_no_memory(call, "the device list");
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
			s = pctl_no_memory(call, "the device list");
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
	if (d->n == 0 || d->entries[0].index == PCTL_DEVICES_NO_INDEX)
		s = refuse_none(d, backend, hint, call);
	else
		s = pctl_refuse_at(call, PC3231_DEVICE_UNKNOWN, NULL, hint,
				   "backend \"%s\" has no device \"%s\"", backend, text);
out:
	free(hint);
	free(backend);
	pctl_devices_destroy(d);
	return s;
}
