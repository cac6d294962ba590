/* What the confinement has refused workers, kept beside the cache so that `pipectl doctor` can say it: a driver that finds no
 * device says nothing of a call that failed. A row counts for the very library that it was seen with. */
#include <string.h>

#include "foundation/base/file.h"
#include "runtime/plugin/registry_private.h"

typedef struct refused_calls {
	const char *plugin, *driver, *sha256, *calls;
} refused_calls;

#define TEXT(M, MEANS) PCTL_RECORD_FIELD(TEXT, #M, refused_calls, M, .means = MEANS)
static const pctl_record_field fields[] = {TEXT(plugin, "its id"), TEXT(driver, "key of it"),
					   TEXT(sha256, "of the plugin's library"),
					   TEXT(calls, "system calls, with how often")};
PCTL_KEPT(refused, refused_calls, fields,
	  "pipectl refused calls 1: plugin, driver, sha256, system calls", PC3031_PLUGIN_STORE,
	  "Refused calls", "`cache/refused.tsv` in pipectl's home; a damaged one is none");

static refused_calls *load(pctl_registry *r, pctl_kept *k)
{
	(void)pctl_kept_load(k, &pctl_refused_type, r->arena, pctl_registry_cache(r, "refused.tsv"),
			     NULL);
	return (refused_calls *)(void *)k->rows;
}

void pctl_refused_note(pctl_registry *r, const known_plugin *p, const char *driver,
		       const pctl_refused *page)
{
	refused_calls note = {p ? p->info.id : NULL, driver, p ? p->info.sha256 : NULL, NULL},
		      *rows;
	const char *path, *dir;
	char words[512];
	pctl_kept k;

	if (!p || !p->info.sha256 || !pctl_refused_words(page, 0, words, sizeof(words)))
		return;
	dir = pctl_registry_cache(r, NULL);
	path = pctl_registry_cache(r, "refused.tsv");
	if (!path || pctl_file_make_dirs(dir, NULL))
		return;
	note.calls = words;
	rows = load(r, &k);
	for (uint32_t i = 0; i < k.n; i++) {
		if (strcmp(rows[i].plugin, note.plugin) || strcmp(rows[i].driver, driver))
			continue;
		if (!strcmp(rows[i].sha256, note.sha256) && !strcmp(rows[i].calls, words))
			return;
		pctl_kept_remove(&k, i--);
	}
	/* What cannot be kept is only not shown later. */
	if (pctl_kept_add(&k, &note))
		pctl_kept_save(&k, path, 0, NULL);
}

void pctl_registry_refused_each(pctl_registry *r, const char *plugin,
				void (*tell)(void *ctx, const char *driver, const char *calls),
				void *ctx)
{
	const known_plugin *p = pctl_registry_known(r, plugin);
	pctl_kept k;
	const refused_calls *rows = load(r, &k);

	for (uint32_t i = 0; p && p->info.sha256 && i < k.n; i++)
		if (!strcmp(rows[i].plugin, plugin) && !strcmp(rows[i].sha256, p->info.sha256))
			tell(ctx, rows[i].driver, rows[i].calls);
}
