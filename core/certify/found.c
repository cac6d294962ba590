/* Implementation of found.h. */
#include "certify/found.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"

typedef PCTL_VEC(const char *) path_list;

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Files of a directory and, depth 1, of the directories in it. 0: no memory. */
static int look(pctl_arena *arena, const char *dir, int depth, path_list *out)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	int ok = 1;

	while (ok && d != NULL && (e = readdir(d)) != NULL) {
		const size_t n = strlen(e->d_name);
		const char *path = pctl_arena_printf(arena, "%s/%s", dir, e->d_name);

		if (path == NULL)
			ok = 0;
		else if (e->d_name[0] == '.')
			continue;
		else if (n > 4 && strcmp(e->d_name + n - 4, ".cfg") == 0)
			ok = PCTL_VEC_PUSH(out, path);
		else if (depth > 0 && pctl_dir_exists(path))
			ok = look(arena, path, depth - 1, out);
	}
	if (d != NULL)
		closedir(d);
	return ok;
}

static const char *note_of(const pctl_found *f, const pctl_certificate *c)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/profiles/%s.revoked", f->home, c->profile);
	if (pctl_file_exists(path))
		return "the device's profile is revoked";
	if (strcmp(c->kit, PCTL_PROBE_KIT) != 0)
		return "made with another probe kit";
	return "";
}

pctl_status pctl_found_open(pctl_profiles *profiles, const char *home, const char *const *dirs,
			    uint32_t n, const pctl_call *call, pctl_found **out)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	pctl_found *f = calloc(1, sizeof(*f));
	path_list paths = {NULL, 0, 0};
	int ok = f != NULL && (f->arena = pctl_arena_create()) != NULL;

	*out = NULL;
	for (uint32_t i = 0; ok && i < n; i++)
		ok = look(f->arena, dirs[i], 1, &paths);
	if (ok) {
		if (paths.n != 0)
			qsort(paths.items, paths.n, sizeof(*paths.items), by_text);
		f->home = pctl_arena_dup(f->arena, home);
		f->items = pctl_arena_array(f->arena, paths.n + 1u, sizeof(*f->items));
		ok = f->items != NULL && f->home != NULL;
	}
	for (uint32_t i = 0; ok && i < paths.n; i++) {
		pctl_found_certificate *x = &f->items[f->n];

		if (i > 0 && strcmp(paths.items[i], paths.items[i - 1]) == 0)
			continue;
		if (pctl_certificate_read(paths.items[i], &quiet, &x->c) != PCTL_OK) {
			f->n_refused++;
			continue;
		}
		x->trusted = (uint32_t)pctl_profiles_trust(profiles, x->c->signer, call);
		x->note = note_of(f, x->c);
		f->n++;
	}
	free(paths.items);
	if (ok) {
		*out = f;
		return PCTL_OK;
	}
	pctl_found_close(f);
	return pctl_refuse(call, PC2_NOMEM, "no memory for certificates");
}

void pctl_found_close(pctl_found *f)
{
	if (f == NULL)
		return;
	for (uint32_t i = 0; i < f->n; i++)
		pctl_certificate_destroy(f->items[i].c);
	pctl_arena_destroy(f->arena);
	free(f);
}

/* A fact as it stands in certificates. */
static int same_fact(const char *fact, size_t size, const char *text)
{
	const size_t n = strnlen(fact, size);

	if (strlen(text) != n)
		return 0;
	for (size_t i = 0; i < n; i++) {
		const char c = fact[i] >= ' ' && fact[i] < 0x7f ? fact[i] : ' ';

		if (text[i] != c)
			return 0;
	}
	return 1;
}

static int same_device(const pctl_certificate *c, const pctl_key_value *identity, uint32_t n)
{
	if (n > PCTL_PROFILE_IDENTITY_MAX)
		n = PCTL_PROFILE_IDENTITY_MAX;
	if (c->n_identity != n)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		if (!same_fact(identity[i].key, sizeof(identity[i].key), c->identity[i].key) ||
		    !same_fact(identity[i].value, sizeof(identity[i].value), c->identity[i].value))
			return 0;
	return 1;
}

uint32_t pctl_found_level(const pctl_found *f, const char *op, uint32_t track,
			  const pctl_key_value *identity, uint32_t n_identity)
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		const pctl_certificate *c = f->items[i].c;

		if (!f->items[i].trusted || f->items[i].note[0] != '\0' ||
		    c->params.track != track || !same_device(c, identity, n_identity))
			continue;
		for (uint32_t k = 0; k < c->n_ops; k++)
			if (strcmp(c->ops[k].op, op) == 0 && c->ops[k].level > best)
				best = c->ops[k].level;
	}
	return best;
}
