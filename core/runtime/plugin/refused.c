/* What the confinement has refused workers, kept beside the cache so that `pipectl doctor` can say it: a driver that finds no
 * device says nothing of a call that failed. A row counts for the very library that it was seen with. */
#include <string.h>

#include "foundation/base/file.h"
#include "runtime/plugin/registry_private.h"

#define HEADER "pipectl refused calls 1: plugin, driver, sha256, system calls"

enum { R_PLUGIN, R_DRIVER, R_SHA256, R_CALLS, R_N };

static int is_of(const pctl_tsv_row *row, const char *plugin, const char *driver)
{
	return row->n == R_N && !strcmp(row->field[R_PLUGIN], plugin) &&
	       !strcmp(row->field[R_DRIVER], driver);
}

static void load(pctl_registry *r, pctl_tsv *rows)
{
	const char *path = pctl_registry_cache(r, "refused.tsv");

	pctl_tsv_init(rows, r->arena);
	if (path)
		pctl_tsv_load(rows, path, HEADER, NULL);
}

void pctl_refused_note(pctl_registry *r, const known_plugin *p, const char *driver,
		       const pctl_refused *page)
{
	const char *path, *dir, *fields[R_N];
	char words[512];
	pctl_tsv rows;
	uint32_t i;

	if (!p || !p->info.sha256 || !pctl_refused_words(page, 0, words, sizeof(words)))
		return;
	dir = pctl_registry_cache(r, NULL);
	path = pctl_registry_cache(r, "refused.tsv");
	if (!path || pctl_file_make_dirs(dir, NULL))
		return;
	load(r, &rows);
	for (i = 0; i < rows.n; i++) {
		if (!is_of(&rows.rows[i], p->info.id, driver))
			continue;
		if (!strcmp(rows.rows[i].field[R_SHA256], p->info.sha256) &&
		    !strcmp(rows.rows[i].field[R_CALLS], words))
			goto out;
		pctl_tsv_remove(&rows, i--);
	}
	fields[R_PLUGIN] = p->info.id;
	fields[R_DRIVER] = driver;
	fields[R_SHA256] = p->info.sha256;
	fields[R_CALLS] = words;
	/* What cannot be kept is only not shown later. */
	if (pctl_tsv_add(&rows, fields, R_N))
		pctl_tsv_save(&rows, path, HEADER, 0, NULL);
out:
	pctl_tsv_drop(&rows);
}

void pctl_registry_refused_each(pctl_registry *r, const char *plugin,
				void (*tell)(void *ctx, const char *driver, const char *calls),
				void *ctx)
{
	const known_plugin *p = pctl_registry_known(r, plugin);
	pctl_tsv rows;
	uint32_t i;

	load(r, &rows);
	for (i = 0; p && p->info.sha256 && i < rows.n; i++) {
		const pctl_tsv_row *row = &rows.rows[i];

		if (row->n == R_N && !strcmp(row->field[R_PLUGIN], plugin) &&
		    !strcmp(row->field[R_SHA256], p->info.sha256))
			tell(ctx, row->field[R_DRIVER], row->field[R_CALLS]);
	}
	pctl_tsv_drop(&rows);
}
