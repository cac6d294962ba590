/* Journals put together: block after block in the order of the whole list, each from the journal of its shard. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "evidence/certify/journal_private.h"
#include "evidence/certify/run.h"

#define UNITS_LIMIT (256u << 20)

typedef struct collecting {
	const char *dir;
	const pctl_call *call;
	pctl_certificate *c;
	pctl_journal_reader **readers;
	char **paths;
	uint32_t n;
	pctl_journal_entry entry;
} collecting;

/* How many shards the proof was cut in, as the names of the journals say. */
static pctl_status count_shards(collecting *k)
{
	DIR *d = opendir(k->dir);
	const struct dirent *e;
	pctl_status status = PCTL_OK;

	while (d != NULL && status == PCTL_OK && (e = readdir(d)) != NULL) {
		unsigned index, count;
		char name[64];

		if (sscanf(e->d_name, "shard-%u-of-%u.journal", &index, &count) != 2)
			continue;
		snprintf(name, sizeof(name), "shard-%u-of-%u.journal", index, count);
		if (strcmp(name, e->d_name) != 0 || count == 0 || count > PCTL_SHARDS_MAX)
			continue;
		if (k->n != 0 && k->n != count)
			status = pctl_refuse(k->call, PC5514_INCOMPLETE,
					     "%s holds journals of proofs cut in %u and in %u",
					     k->dir, k->n < count ? k->n : count,
					     k->n < count ? count : k->n);
		k->n = count;
	}
	if (d != NULL)
		closedir(d);
	if (status == PCTL_OK && k->n == 0)
		status = pctl_refuse(k->call, PC5514_INCOMPLETE, "%s holds no journal", k->dir);
	return status;
}

static pctl_status open_shard(collecting *k, uint32_t i, const char **first)
{
	const pctl_shard want = {i + 1, k->n};
	const char *head;
	pctl_shard shard;
	pctl_status status;

	k->paths[i] = pctl_shard_path(k->dir, want);
	if (k->paths[i] == NULL)
		return pctl_no_memory(k->call, "a certificate");
	if (!pctl_file_exists(k->paths[i]))
		return pctl_refuse(k->call, PC5514_INCOMPLETE, "shard %u of %u is missing: no %s",
				   i + 1, k->n, k->paths[i]);
	status = pctl_journal_read(k->paths[i], k->call, &k->readers[i], &head, &shard);
	if (status != PCTL_OK)
		return status;
	if (shard.index != want.index || shard.count != want.count)
		return pctl_refuse(k->call, PC5512_JOURNAL_OTHER, "%s is of shard %u of %u",
				   k->paths[i], shard.index, shard.count);
	if (i == 0)
		*first = head;
	else if (strcmp(*first, head) != 0)
		return pctl_refuse(k->call, PC5512_JOURNAL_OTHER,
				   "%s is of another proof than %s: their first lines differ",
				   k->paths[i], k->paths[0]);
	return PCTL_OK;
}

static pctl_status open_all(collecting *k)
{
	const char *first = NULL;
	pctl_status status = count_shards(k);

	if (status != PCTL_OK)
		return status;
	k->readers = calloc(k->n, sizeof(*k->readers));
	k->paths = calloc(k->n, sizeof(*k->paths));
	if (k->readers == NULL || k->paths == NULL)
		return pctl_no_memory(k->call, "a certificate");
	for (uint32_t i = 0; status == PCTL_OK && i < k->n; i++)
		status = open_shard(k, i, &first);
	if (status == PCTL_OK)
		status = pctl_certificate_head_read(k->c, k->paths[0], first, strlen(first),
						    k->call);
	return status;
}

static pctl_status read_units(collecting *k)
{
	char *path = pctl_path_join(k->dir, "units.tsv"), *text = NULL;
	uint64_t n = 0;
	pctl_cid cid;
	pctl_status status = path == NULL ? pctl_no_memory(k->call, "a certificate")
					  : pctl_file_read(path, UNITS_LIMIT, k->call, &text, &n);

	if (status == PCTL_OK)
		status = pctl_cid_of(text, n, k->call, &cid);
	if (status == PCTL_OK && memcmp(cid.digest, k->c->plan, sizeof(k->c->plan)) != 0)
		status = pctl_refuse(k->call, PC5515_DIRECTORY,
				     "%s is not the list of units that the journals in its "
				     "directory were written for",
				     path);
	if (status == PCTL_OK)
		status = pctl_certificate_units_read(k->c, path, text, k->call);
	if (status == PCTL_OK)
		status = pctl_certificate_strips(k->c, k->call);
	free(text);
	free(path);
	return status;
}

/* The next entry of the block's shard. */
static pctl_status next(collecting *k, uint64_t number)
{
	const uint32_t i = (uint32_t)(number % k->n);
	int end = 0;
	pctl_status status = pctl_journal_next(k->readers[i], k->call, &k->entry, &end);

	if (status == PCTL_OK && end)
		status = pctl_refuse(k->call, PC5514_INCOMPLETE,
				     "shard %u of %u ends before block %" PRIu64
				     "; run it with --resume",
				     i + 1, k->n, number);
	return status;
}

static pctl_status add(const collecting *k, pctl_certificate_unit *u)
{
	const pctl_journal_entry *e = &k->entry;

	if (!e->ran) {
		u->not_run++;
		if (u->cause[0] == '\0')
			u->cause = pctl_certificate_clean(k->c->arena, e->cause);
		return u->cause == NULL ? pctl_no_memory(k->call, "a certificate") : PCTL_OK;
	}
	u->cases += e->block.cases;
	u->failures += e->block.failures;
	u->skipped += e->block.skipped;
	if (!u->failed && e->block.failures != 0) {
		u->failed = 1;
		u->first = e->block.first;
	}
	if (u->value[0] == '\0' && e->block.value[0] != '\0')
		u->value = pctl_certificate_clean(k->c->arena, e->block.value);
	return u->value == NULL ? pctl_no_memory(k->call, "a certificate") : PCTL_OK;
}

/* One strip of a unit, or (n_strips 0) all its blocks. */
static pctl_status collect_blocks(collecting *k, pctl_certificate_unit *u, uint64_t number,
				  uint64_t n, uint8_t *digest)
{
	pctl_hasher *h = NULL;
	pctl_status status =
		digest != NULL && u->strip > 1 ? pctl_hasher_create(k->call, &h) : PCTL_OK;

	for (uint64_t b = 0; status == PCTL_OK && b < n; b++) {
		status = next(k, number + b);
		if (status == PCTL_OK)
			status = add(k, u);
		if (status == PCTL_OK && h != NULL)
			status = pctl_hasher_update(h, k->entry.block.digest, PCTL_DIGEST_BYTES);
		else if (status == PCTL_OK && digest != NULL)
			memcpy(digest, k->entry.block.digest, PCTL_DIGEST_BYTES);
	}
	return pctl_hasher_end(h, status, digest);
}

static pctl_status collect_unit(collecting *k, pctl_certificate_unit *u, uint64_t first)
{
	pctl_status status = PCTL_OK;

	if (u->n_strips == 0)
		return collect_blocks(k, u, first, u->n_blocks, NULL);
	for (uint32_t i = 0; status == PCTL_OK && i < u->n_strips; i++) {
		const uint64_t at = i * u->strip, left = u->n_blocks - at;

		status = collect_blocks(k, u, first + at, left < u->strip ? left : u->strip,
					u->digests[i]);
	}
	return status;
}

/* The seeds of shapes of all shards in order. */
static pctl_status collect_shapes(collecting *k)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	for (uint32_t i = 0; i < k->n; i++) {
		const char *seeds = pctl_journal_seeds(k->readers[i]);

		s.failed |= seeds == NULL;
		if (seeds != NULL && seeds[0] != '\0')
			pctl_str_addf(&s, "%s%s", s.n == 0 ? "" : " ", seeds);
	}
	k->c->shapes = s.failed ? NULL : pctl_arena_dup(k->c->arena, s.data == NULL ? "" : s.data);
	pctl_str_drop(&s);
	return k->c->shapes == NULL ? pctl_no_memory(k->call, "a certificate") : PCTL_OK;
}

/* Libraries mapped late, of all shards. */
static pctl_status collect_late(collecting *k)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < k->n; i++) {
		const char *late = pctl_journal_late_files(k->readers[i]);

		s.failed |= late == NULL;
		if (late != NULL)
			pctl_str_add(&s, late);
	}
	status = s.failed ? pctl_no_memory(k->call, "a certificate")
			  : pctl_certificate_take_late(k->c, s.data == NULL ? "" : s.data, k->call);
	pctl_str_drop(&s);
	return status;
}

/* Nothing may stand behind the last block. */
static pctl_status check_ends(collecting *k)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < k->n; i++) {
		int end = 0;

		status = pctl_journal_next(k->readers[i], k->call, &k->entry, &end);
		if (status == PCTL_OK && !end)
			status = pctl_refuse(k->call, PC5513_JOURNAL_DAMAGED,
					     "%s has more blocks than the proof", k->paths[i]);
	}
	return status;
}

pctl_status pctl_certify_collect(const char *dir, const pctl_call *call, pctl_certificate **out)
{
	collecting *k = calloc(1, sizeof(*k));
	uint64_t first = 0;
	pctl_status status;

	*out = NULL;
	if (k == NULL)
		return pctl_no_memory(call, "a certificate");
	k->dir = dir;
	k->call = call;
	status = pctl_certificate_create(call, &k->c);
	if (status == PCTL_OK)
		status = open_all(k);
	if (status == PCTL_OK)
		status = read_units(k);
	for (uint32_t i = 0; status == PCTL_OK && i < k->c->n_units; i++) {
		status = collect_unit(k, &k->c->units[i], first);
		first += k->c->units[i].n_blocks;
	}
	if (status == PCTL_OK)
		status = check_ends(k);
	if (status == PCTL_OK)
		status = collect_shapes(k);
	if (status == PCTL_OK)
		status = collect_late(k);
	if (status == PCTL_OK)
		status = pctl_certificate_finish(k->c, call);
	for (uint32_t i = 0; i < k->n; i++) {
		if (k->readers != NULL)
			pctl_journal_read_end(k->readers[i]);
		if (k->paths != NULL)
			free(k->paths[i]);
	}
	free(k->readers);
	free(k->paths);
	if (status == PCTL_OK)
		*out = k->c;
	else
		pctl_certificate_destroy(k->c);
	free(k);
	return status;
}
