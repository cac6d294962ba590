/* Quarantine and the strikes that lead to it: one small durable file, read when the registry opens.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "runtime/plugin/registry_private.h"

static const char *const states[] = {"strikes", "held"};

#define FIELD(KIND, M, ...) PCTL_RECORD_FIELD(KIND, #M, pctl_quarantine_entry, M, __VA_ARGS__)
static const pctl_record_field fields[] = {
	FIELD(TEXT, plugin, .means = "its id"),
	FIELD(TEXT, driver, .means = "key of it, or nothing for the plugin as a whole"),
	FIELD(WORD, in_force, PCTL_RECORD_WORDS(states), .means = "may it be used"),
	FIELD(U32, strikes, .means = "failures in a row"),
	FIELD(TEXT, who, .means = "\"host\", or who ordered it"),
	FIELD(TEXT, cause, .means = "of the last failure, or of the order")};
PCTL_KEPT(quarantine, pctl_quarantine_entry, fields,
	  "pipectl quarantine 1: plugin, driver, state (held or strikes), strikes, who, cause",
	  PC3031_PLUGIN_STORE, "Quarantine", "`quarantine.tsv` in pipectl's home");

static pctl_quarantine_entry *rows(const pctl_registry *r)
{
	return (pctl_quarantine_entry *)(void *)r->quarantine.rows;
}

static const char *file_path(pctl_registry *r)
{
	return r->home ? pctl_arena_printf(r->arena, "%s/quarantine.tsv", r->home) : NULL;
}

static int by_name(const void *a, const void *b)
{
	const pctl_quarantine_entry *x = a, *y = b;
	const int c = strcmp(x->plugin, y->plugin);

	return c ? c : strcmp(x->driver, y->driver);
}

/* Rebuild the view; 0 when memory is short. */
static int view(pctl_registry *r)
{
	const uint32_t n = r->quarantine.n;

	r->entries = pctl_arena_array(r->arena, n + 1u, sizeof(*r->entries));
	r->n_entries = r->entries ? n : 0;
	if (r->n_entries) {
		memcpy(r->entries, rows(r), n * sizeof(*r->entries));
		qsort(r->entries, n, sizeof(*r->entries), by_name);
	}
	return r->entries != NULL;
}

static pctl_status load(pctl_registry *r, const pctl_call *call)
{
	pctl_status s =
		pctl_kept_load(&r->quarantine, &pctl_quarantine_type, r->arena, file_path(r), call);

	return !s && !view(r) ? pctl_no_memory(call, "the quarantine list") : s;
}

pctl_status pctl_quarantine_load(pctl_registry *r, const pctl_call *call)
{
	return load(r, call);
}

/* Other processes change the file, too: every change is made under a lock to what the file holds
 * now. */
static pctl_status begin_change(pctl_registry *r, const pctl_call *call, int *lock)
{
	const char *path;
	pctl_status s;

	*lock = -1;
	if (!r->home)
		return PCTL_OK;
	s = pctl_file_make_dirs(r->home, call);
	if (s)
		return s;
	path = pctl_arena_printf(r->arena, "%s/quarantine.lock", r->home);
	if (path)
		*lock = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (*lock < 0 || flock(*lock, LOCK_EX) < 0)
		return pctl_refuse(call, PC3_IO, "cannot lock %s/quarantine.lock", r->home);
	return load(r, call);
}

static pctl_status end_change(pctl_registry *r, pctl_status s, int lock, const pctl_call *call)
{
	const char *path = file_path(r);

	if (!s && !view(r))
		s = pctl_no_memory(call, "the quarantine list");
	if (!s && path)
		s = pctl_kept_save(&r->quarantine, path, 1, call);
	if (lock >= 0)
		close(lock);
	return s;
}

static uint32_t find_row(const pctl_registry *r, const char *plugin, const char *driver)
{
	uint32_t i = 0;

	while (i < r->quarantine.n &&
	       (strcmp(rows(r)[i].plugin, plugin) || strcmp(rows(r)[i].driver, driver)))
		i++;
	return i;
}

/* Its texts are the caller's. */
static pctl_status replace(pctl_registry *r, const pctl_quarantine_entry *e, const pctl_call *call)
{
	const uint32_t i = find_row(r, e->plugin, e->driver);
	const pctl_quarantine_entry kept = {.plugin = pctl_arena_dup(r->arena, e->plugin),
					    .driver = pctl_arena_dup(r->arena, e->driver),
					    .cause = pctl_arena_dup(r->arena, e->cause),
					    .who = pctl_arena_dup(r->arena, e->who),
					    .strikes = e->strikes,
					    .in_force = e->in_force};

	if (!kept.plugin || !kept.driver || !kept.cause || !kept.who ||
	    !pctl_kept_add(&r->quarantine, &kept))
		return pctl_no_memory(call, "the quarantine list");
	if (i + 1 < r->quarantine.n)
		pctl_kept_remove(&r->quarantine, i);
	return PCTL_OK;
}

uint32_t pctl_quarantine_count(const pctl_registry *r)
{
	return r->n_entries;
}

const pctl_quarantine_entry *pctl_quarantine_at(const pctl_registry *r, uint32_t i)
{
	return i < r->n_entries ? &r->entries[i] : NULL;
}

static const pctl_quarantine_entry *find_entry(const pctl_registry *r, const char *plugin,
					       const char *driver)
{
	uint32_t i;

	for (i = 0; i < r->n_entries; i++)
		if (!strcmp(r->entries[i].plugin, plugin) &&
		    !strcmp(r->entries[i].driver, driver ? driver : ""))
			return &r->entries[i];
	return NULL;
}

const pctl_quarantine_entry *pctl_quarantine_find(const pctl_registry *r, const char *plugin,
						  const char *driver)
{
	const pctl_quarantine_entry *e = find_entry(r, plugin, driver);

	return e && e->in_force ? e : NULL;
}

pctl_status pctl_quarantine_put(pctl_registry *r, const char *plugin, const char *driver,
				const char *cause, const char *who, const pctl_call *call)
{
	pctl_quarantine_entry held = {plugin, driver ? driver : "", cause, who, 0, 1};
	const pctl_quarantine_entry *e;
	pctl_status s;
	int lock;

	s = begin_change(r, call, &lock);
	if (!s) {
		e = find_entry(r, plugin, driver);
		held.strikes = e ? e->strikes : 0;
		s = replace(r, &held, call);
	}
	return end_change(r, s, lock, call);
}

pctl_status pctl_quarantine_release(pctl_registry *r, const char *plugin, const char *driver,
				    const pctl_call *call, uint32_t *n_out)
{
	pctl_status s;
	uint32_t i = 0;
	int lock;

	*n_out = 0;
	s = begin_change(r, call, &lock);
	while (!s && i < r->quarantine.n) {
		const pctl_quarantine_entry *e = &rows(r)[i];

		if (strcmp(e->plugin, plugin) || (driver && strcmp(e->driver, driver))) {
			i++;
			continue;
		}
		*n_out += e->in_force;
		pctl_kept_remove(&r->quarantine, i);
	}
	return end_change(r, s, lock, call);
}

static void warn_held(const char *plugin, const char *driver, uint32_t n, const char *cause,
		      const pctl_call *call)
{
	pctl_warn_at(call, PC3005_PLUGIN_QUARANTINED, NULL,
		     "`pipectl plugin release` ends a quarantine",
		     "plugin \"%s\"%s%s is in quarantine after %u failures in a row: %s", plugin,
		     *driver ? " with driver " : "", driver, n, cause);
}

pctl_status pctl_quarantine_strike(pctl_registry *r, const char *plugin, const char *driver,
				   const char *cause, const pctl_call *call)
{
	pctl_quarantine_entry struck = {plugin, driver ? driver : "", cause, "host", 0, 0};
	const pctl_quarantine_entry *e;
	pctl_status s;
	int lock;

	s = begin_change(r, call, &lock);
	if (!s) {
		e = find_entry(r, plugin, driver);
		struck.strikes = (e ? e->strikes : 0) + 1;
		struck.in_force = struck.strikes >= r->strikes || (e && e->in_force);
		s = replace(r, &struck, call);
	}
	s = end_change(r, s, lock, call);
	if (!s && struck.in_force)
		warn_held(plugin, struck.driver, struck.strikes, cause, call);
	return s;
}

pctl_status pctl_quarantine_well(pctl_registry *r, const char *plugin, const char *driver,
				 const pctl_call *call)
{
	const pctl_quarantine_entry *e = find_entry(r, plugin, driver);
	pctl_status s;
	int lock;

	/* The usual case, and it costs nothing. */
	if (!e || e->in_force)
		return PCTL_OK;
	s = begin_change(r, call, &lock);
	e = find_entry(r, plugin, driver);
	if (!s && e && !e->in_force)
		pctl_kept_remove(&r->quarantine, find_row(r, plugin, driver ? driver : ""));
	return end_change(r, s, lock, call);
}
