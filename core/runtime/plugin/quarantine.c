/* Quarantine and the strikes that lead to it: one small durable file, read when the registry opens.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "foundation/base/vec.h"
#include "runtime/plugin/registry_private.h"

#define QUARANTINE_HEADER \
	"pipectl quarantine 1: plugin, driver, state (held or strikes), strikes, who, cause"

enum { Q_PLUGIN, Q_DRIVER, Q_STATE, Q_STRIKES, Q_WHO, Q_CAUSE, Q_N };

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

/* Rebuild the view; 0 when a row is not understood or memory is short. */
static int view(pctl_registry *r)
{
	uint32_t i;

	r->n_entries = 0;
	for (i = 0; i < r->quarantine.n; i++) {
		const pctl_tsv_row *row = &r->quarantine.rows[i];
		pctl_quarantine_entry e = {0};
		uint64_t strikes;

		if (row->n != Q_N ||
		    !pctl_num_parse_u64(row->field[Q_STRIKES], strlen(row->field[Q_STRIKES]),
					&strikes) ||
		    strikes > UINT32_MAX ||
		    (strcmp(row->field[Q_STATE], "held") && strcmp(row->field[Q_STATE], "strikes")))
			return 0;
		e.plugin = row->field[Q_PLUGIN];
		e.driver = row->field[Q_DRIVER];
		e.cause = row->field[Q_CAUSE];
		e.who = row->field[Q_WHO];
		e.strikes = (uint32_t)strikes;
		e.in_force = !strcmp(row->field[Q_STATE], "held");
		if (!pctl_vec_reserve((void **)&r->entries, r->n_entries, &r->cap_entries,
				      sizeof(e)))
			return 0;
		r->entries[r->n_entries++] = e;
	}
	if (r->n_entries)
		qsort(r->entries, r->n_entries, sizeof(*r->entries), by_name);
	return 1;
}

static pctl_status load(pctl_registry *r, const pctl_call *call)
{
	const char *path = file_path(r);
	pctl_status s = PCTL_OK;

	if (path)
		s = pctl_tsv_load(&r->quarantine, path, QUARANTINE_HEADER, call);
	if (s == PCTL_E_INVALID || (!s && !view(r)))
		return pctl_refuse(call, PC3031_PLUGIN_STORE, "%s: is not a quarantine file", path);
	return s;
}

pctl_status pctl_quarantine_load(pctl_registry *r, const pctl_call *call)
{
	pctl_tsv_init(&r->quarantine, r->arena);
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
		s = pctl_refuse(call, PC2_NOMEM, "no memory for the quarantine list");
	if (!s && path)
		s = pctl_tsv_save(&r->quarantine, path, QUARANTINE_HEADER, 1, call);
	if (lock >= 0)
		close(lock);
	return s;
}

static uint32_t find_row(const pctl_registry *r, const char *plugin, const char *driver)
{
	uint32_t i;

	for (i = 0; i < r->quarantine.n; i++)
		if (!strcmp(r->quarantine.rows[i].field[Q_PLUGIN], plugin) &&
		    !strcmp(r->quarantine.rows[i].field[Q_DRIVER], driver))
			break;
	return i;
}

static pctl_status replace(pctl_registry *r, const char *const fields[Q_N], const pctl_call *call)
{
	const uint32_t i = find_row(r, fields[Q_PLUGIN], fields[Q_DRIVER]);

	if (!pctl_tsv_add(&r->quarantine, fields, Q_N))
		return pctl_refuse(call, PC2_NOMEM, "no memory for the quarantine list");
	if (i + 1 < r->quarantine.n)
		pctl_tsv_remove(&r->quarantine, i);
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
	const pctl_quarantine_entry *e;
	char strikes[16];
	const char *fields[Q_N] = {plugin, driver ? driver : "", "held", strikes, who, cause};
	pctl_status s;
	int lock;

	s = begin_change(r, call, &lock);
	if (!s) {
		e = find_entry(r, plugin, driver);
		snprintf(strikes, sizeof(strikes), "%u", e ? e->strikes : 0);
		s = replace(r, fields, call);
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
		const pctl_tsv_row *row = &r->quarantine.rows[i];

		if (strcmp(row->field[Q_PLUGIN], plugin) ||
		    (driver && strcmp(row->field[Q_DRIVER], driver))) {
			i++;
			continue;
		}
		if (!strcmp(row->field[Q_STATE], "held"))
			++*n_out;
		pctl_tsv_remove(&r->quarantine, i);
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
	const pctl_quarantine_entry *e;
	uint32_t n = 0;
	char strikes[16];
	const char *fields[Q_N] = {plugin, driver ? driver : "", "strikes", strikes, "host", cause};
	pctl_status s;
	int lock, held = 0;

	s = begin_change(r, call, &lock);
	if (!s) {
		e = find_entry(r, plugin, driver);
		n = (e ? e->strikes : 0) + 1;
		held = n >= r->strikes || (e && e->in_force);
		if (held)
			fields[Q_STATE] = "held";
		snprintf(strikes, sizeof(strikes), "%u", n);
		s = replace(r, fields, call);
	}
	s = end_change(r, s, lock, call);
	if (!s && held)
		warn_held(plugin, fields[Q_DRIVER], n, cause, call);
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
		pctl_tsv_remove(&r->quarantine, find_row(r, plugin, driver ? driver : ""));
	return end_change(r, s, lock, call);
}
