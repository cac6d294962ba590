/* Looking for a profile that somebody else, or another build of the plugin, was given for this device. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/arena.h"
#include "foundation/base/file.h"
#include "foundation/base/order.h"
#include "runtime/device/profile.h"

#define FILES_MAX 256u
#define ENDS ".profile.cfg"

static int same_facts(const pctl_profile_record *a, const pctl_profile_record *b)
{
	int same = a->n_identity == b->n_identity;

	for (uint32_t i = 0; same && i < a->n_identity; i++)
		same = strcmp(a->identity[i].key, b->identity[i].key) == 0 &&
		       strcmp(a->identity[i].value, b->identity[i].value) == 0;
	return same;
}

/* An identity of no file, or of a plugin without a driver, is no identity of a driver. */
static int is_of(const pctl_profile_record *r, const pctl_profile_record *found)
{
	return memcmp(&found->key, &r->key, sizeof(r->key)) == 0 ||
	       (r->drivers[0] != '\0' && strcmp(found->drivers, r->drivers) == 0 &&
		same_facts(found, r));
}

static int is_usable(const pctl_profile_record *found, const char *own_dir,
		     const char *const *trusted, uint32_t n_trusted)
{
	char key[PCTL_CID_TEXT_SIZE], revoked[4200];
	uint32_t i = 0;

	while (i < n_trusted && strcmp(found->signer, trusted[i]) != 0)
		i++;
	snprintf(revoked, sizeof(revoked), "%s/%s.revoked", own_dir,
		 pctl_cid_format(&found->key, key));
	return i < n_trusted && found->claim[0] == '\0' &&
	       pctl_profile_broken(found) == PCTL_N_FACTS && !pctl_file_exists(revoked);
}

/* The names of profiles in a directory, in order. */
static uint32_t list(const char *dir, pctl_arena *arena, const char *names[FILES_MAX])
{
	const struct dirent *e;
	DIR *d = opendir(dir);
	uint32_t n = 0;

	while (d != NULL && n < FILES_MAX && (e = readdir(d)) != NULL) {
		const size_t length = strlen(e->d_name), ends = sizeof(ENDS) - 1;

		if (length <= ends || strcmp(e->d_name + length - ends, ENDS) != 0)
			continue;
		names[n] = pctl_arena_printf(arena, "%s/%s", dir, e->d_name);
		n += names[n] != NULL;
	}
	if (d != NULL)
		closedir(d);
	qsort(names, n, sizeof(*names), pctl_order_texts);
	return n;
}

int pctl_profile_find_claim(const pctl_profile_record *r, const char *const *dirs, uint32_t n,
			    const char *const *trusted, uint32_t n_trusted,
			    pctl_profile_record *out)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	pctl_arena *arena = pctl_arena_create();
	const char *names[FILES_MAX];
	int have = 0;

	for (uint32_t i = 0; arena != NULL && i < n && !have; i++) {
		const uint32_t n_names = list(dirs[i], arena, names);

		for (uint32_t k = 0; k < n_names && !have; k++)
			have = pctl_profile_read(names[k], &quiet, out) == PCTL_OK &&
			       is_usable(out, dirs[0], trusted, n_trusted) && is_of(r, out);
	}
	pctl_arena_destroy(arena);
	return have;
}
