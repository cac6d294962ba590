/* Writing a snapshot: rows into a spool, sorted by the keys of their leaves, cut into chunks at the tree's own branches. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chain/state/track.h"
#include "chain/sync/snapshot_private.h"
#include "foundation/base/file.h"
#include "foundation/base/map.h"
#include "foundation/base/vec.h"

/* Where a row lies in the spool. */
typedef struct spooled {
	pctl_radix_leaf leaf;
	uint64_t at;
	uint32_t n, table;
} spooled;

typedef struct writing {
	pctl_chain *c;
	pctl_track *t;
	const char *dir;
	uint64_t bound;
	const pctl_call *call;
	pctl_snapshot_report *report;
	FILE *spool;
	uint64_t n_spool;
	PCTL_VEC(spooled) rows;
	PCTL_VEC(pctl_snapshot_file) files;
	pctl_map *needs;
	pctl_status status;
} writing;

static pctl_status spool_failed(const writing *w)
{
	return pctl_refuse(w->call, PC5701_CHAIN_STATE,
			   "the rows of a snapshot do not fit where temporary files lie");
}

/* ---- rows ----------------------------------------------------------------------------------- */

static pctl_status note_need(void *ctx, const char *reference)
{
	writing *w = ctx;

	return pctl_map_put(w->needs, reference, NULL) ? PCTL_OK
						       : pctl_no_memory(w->call, "a snapshot");
}

static int take_row(void *ctx, uint32_t table, const uint8_t *row, uint64_t n)
{
	writing *w = ctx;
	uint32_t n_tables;
	uint64_t n_key;
	const pctl_state_table *of = &pctl_state_tables(&n_tables)[table];
	spooled s = {.at = w->n_spool, .n = (uint32_t)n, .table = table};

	w->status = pctl_row_fits(of, row, n, &n_key)
			    ? pctl_row_leaf_key(pctl_track_tree(w->t), of->name, row, n_key,
						w->call, s.leaf.key)
			    : pctl_refuse(w->call, PC6140_TREE_ROW,
					  "a row of table %s is not in form", of->name);
	if (w->status == PCTL_OK)
		w->status =
			pctl_row_leaf_value(pctl_track_tree(w->t), row, n, w->call, s.leaf.value);
	if (w->status == PCTL_OK)
		w->status = pctl_row_needs(table, row, n, note_need, w, w->call);
	if (w->status == PCTL_OK && fwrite(row, 1, n, w->spool) != n)
		w->status = spool_failed(w);
	w->n_spool += n;
	if (w->status == PCTL_OK && !PCTL_VEC_PUSH(&w->rows, s))
		w->status = pctl_no_memory(w->call, "a snapshot");
	return w->status != PCTL_OK;
}

static int by_leaf(const void *a, const void *b)
{
	return memcmp(((const spooled *)a)->leaf.key, ((const spooled *)b)->leaf.key,
		      PCTL_DIGEST_BYTES);
}

/* ---- chunks --------------------------------------------------------------------------------- */

static pctl_status load_rows(writing *w, uint32_t from, uint32_t n, pctl_arena *a,
			     pctl_chunk *chunk)
{
	chunk->rows = pctl_arena_array(a, n == 0 ? 1 : n, sizeof(*chunk->rows));
	if (chunk->rows == NULL)
		return pctl_no_memory(w->call, "a snapshot");
	chunk->n_rows = n;
	for (uint32_t i = 0; i < n; i++) {
		const spooled *s = &w->rows.items[from + i];
		uint8_t *bytes = pctl_arena_alloc(a, s->n);

		if (bytes == NULL)
			return pctl_no_memory(w->call, "a snapshot");
		if (fseeko(w->spool, (off_t)s->at, SEEK_SET) != 0 ||
		    fread(bytes, 1, s->n, w->spool) != s->n)
			return spool_failed(w);
		chunk->rows[i] = (pctl_chunk_row){s->table, s->n, bytes, s->leaf};
	}
	return PCTL_OK;
}

static pctl_status put_chunk(writing *w, const pctl_chunk *chunk)
{
	pctl_snapshot_file f = {.n_bytes = 0};
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_status status = pctl_chunk_text(chunk, w->call, &text);

	snprintf(f.name, sizeof(f.name), "rows-%06" PRIu32, w->files.n);
	f.n_bytes = text.n;
	if (status == PCTL_OK)
		status = pctl_snapshot_put(w->dir, f.name, text.data, text.n, w->call);
	if (status == PCTL_OK && !PCTL_VEC_PUSH(&w->files, f))
		status = pctl_no_memory(w->call, "a snapshot");
	w->report->chunks++;
	w->report->rows += chunk->n_rows;
	w->report->bytes += text.n;
	pctl_str_drop(&text);
	return status;
}

static pctl_status write_chunk(writing *w, uint32_t from, uint32_t n, uint32_t depth)
{
	pctl_radix_path path;
	pctl_chunk chunk = {.n_bits = depth, .siblings = path.siblings};
	pctl_arena *a = pctl_arena_create();
	pctl_status status = a == NULL ? pctl_no_memory(w->call, "a snapshot")
				       : load_rows(w, from, n, a, &chunk);

	if (status == PCTL_OK && n != 0) {
		memcpy(chunk.prefix, w->rows.items[from].leaf.key, sizeof(chunk.prefix));
		status = pctl_radix_path_to(pctl_track_tree(w->t), chunk.prefix, w->call, &path);
	}
	/* the bits that count, so that a chunk has one spelling */
	for (uint32_t i = depth; i < 8 * PCTL_DIGEST_BYTES; i++)
		chunk.prefix[i / 8] &= (uint8_t) ~(1u << (7 - i % 8));
	if (status == PCTL_OK)
		status = put_chunk(w, &chunk);
	pctl_arena_destroy(a);
	return status;
}

/* Rows from..from + n share `depth` bits: one chunk, or one for each side of the next bit. */
static pctl_status cut(writing *w, uint32_t from, uint32_t n, uint32_t depth)
{
	uint64_t bytes = 0;
	uint32_t left = 0;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < n; i++)
		bytes += w->rows.items[from + i].n;
	if (n <= 1 || bytes <= w->bound)
		return n == 0 && depth != 0 ? PCTL_OK : write_chunk(w, from, n, depth);
	while (left < n && !pctl_radix_bit(w->rows.items[from + left].leaf.key, depth))
		left++;
	status = cut(w, from, left, depth + 1);
	return status == PCTL_OK ? cut(w, from + left, n - left, depth + 1) : status;
}

/* Are these the rows of the tree? Else the one that is not is looked for. */
static pctl_status hold(writing *w)
{
	pctl_radix_leaf *leaves = malloc((w->rows.n + 1) * sizeof(*leaves));
	uint8_t is[PCTL_DIGEST_BYTES], must[PCTL_DIGEST_BYTES];
	uint64_t rows;
	pctl_status status = leaves == NULL ? pctl_no_memory(w->call, "a snapshot") : PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < w->rows.n; i++)
		leaves[i] = w->rows.items[i].leaf;
	if (status == PCTL_OK)
		status = pctl_radix_hash_of(pctl_track_tree(w->t), leaves, w->rows.n, 0, w->call,
					    is);
	free(leaves);
	if (status == PCTL_OK)
		status = pctl_radix_root(pctl_track_tree(w->t), w->call, must);
	if (status != PCTL_OK || memcmp(is, must, sizeof(is)) == 0)
		return status;
	status = pctl_track_scrub(w->t, w->call, &rows);
	return status == PCTL_OK
		       ? pctl_refuse(
				 w->call, PC6140_TREE_ROW,
				 "the rows of the last block do not give the root of their tree")
		       : status;
}

/* ---- bytes ---------------------------------------------------------------------------------- */

/* What the store lacks, whoever restores this has to have. */
static pctl_status write_blob(writing *w, const char *reference)
{
	pctl_store *store = pctl_chain_store(w->c);
	char name[PCTL_CID_TEXT_SIZE + 8];
	pctl_cid cid;
	pctl_blob blob;
	pctl_status status = pctl_snapshot_resolve(w->c, reference, w->call, &cid);

	if (status == PCTL_E_NOT_FOUND)
		return PCTL_OK; /* a job that has no output yet */
	if (status != PCTL_OK || !pctl_store_has(store, &cid))
		return status;
	status = pctl_store_get(store, &cid, w->call, &blob);
	if (status != PCTL_OK)
		return status;
	strcpy(name, "blobs/");
	pctl_cid_format(&cid, name + strlen(name));
	status = pctl_snapshot_put(w->dir, name, blob.data, blob.n_bytes, w->call);
	w->report->blobs++;
	w->report->bytes += blob.n_bytes;
	pctl_blob_release(&blob);
	return status;
}

static pctl_status write_blobs(writing *w)
{
	char path[4096];
	pctl_status status;

	if ((size_t)snprintf(path, sizeof(path), "%s/blobs", w->dir) >= sizeof(path))
		return pctl_refuse(w->call, PC6146_SNAPSHOT_FORM, "%s: the path is too long",
				   w->dir);
	status = pctl_file_make_dirs(path, w->call);
	for (uint32_t i = 0; status == PCTL_OK && i < pctl_map_count(w->needs); i++)
		status = write_blob(w, pctl_map_key_at(w->needs, i));
	return status;
}

/* ---- the record ----------------------------------------------------------------------------- */

static pctl_status write_record(writing *w, const pctl_gitlog_oid *oid)
{
	pctl_gitlog *log = pctl_chain_log(w->c);
	pctl_block_record record;
	pctl_block_header header;
	void *commit, *entries;
	uint64_t n_commit, n_entries;
	char name[64];
	pctl_status status = pctl_block_record_read(log, oid, w->call, &record, &header);

	for (uint32_t i = 0; status == PCTL_OK && i < PCTL_BLOCK_FILES; i++) {
		snprintf(name, sizeof(name), "record-%s", pctl_block_file_name(i));
		if (record.text[i] != NULL)
			status = pctl_snapshot_put(w->dir, name, record.text[i], record.n_bytes[i],
						   w->call);
	}
	pctl_block_record_clear(&record);
	if (status == PCTL_OK)
		status = pctl_gitlog_objects(log, oid, w->call, &commit, &n_commit, &entries,
					     &n_entries);
	if (status != PCTL_OK)
		return status;
	status = pctl_snapshot_put(w->dir, "record-commit", commit, n_commit, w->call);
	if (status == PCTL_OK)
		status = pctl_snapshot_put(w->dir, "record-entries", entries, n_entries, w->call);
	free(commit);
	free(entries);
	return status;
}

/* The index comes last: where it is, all else is. */
static pctl_status write_index(writing *w)
{
	const pctl_snapshot_index index = {w->report->height, w->files.items, w->files.n, 0};
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_status status =
		pctl_record_put(&pctl_snapshot_index_type, &index, &text, "a snapshot", w->call);

	if (status == PCTL_OK)
		status = pctl_snapshot_put(w->dir, "snapshot", text.data, text.n, w->call);
	pctl_str_drop(&text);
	return status;
}

static pctl_status write_all(writing *w)
{
	pctl_block_row last;
	pctl_status status = pctl_blocks_last(pctl_cursor(w->c), w->call, &last);

	pctl_radix_forget(pctl_track_tree(w->t));
	w->report->height = last.height;
	w->report->commit = last.commit;
	if (status == PCTL_OK)
		status = pctl_blocks_check_tree(w->c, &last, w->call);
	if (status == PCTL_OK)
		status = pctl_track_rows(w->t, take_row, w, w->call);
	if (status == PCTL_OK)
		status = w->status;
	if (w->rows.n > 1)
		qsort(w->rows.items, w->rows.n, sizeof(w->rows.items[0]), by_leaf);
	if (status == PCTL_OK)
		status = hold(w);
	if (status == PCTL_OK)
		status = cut(w, 0, w->rows.n, 0);
	if (status == PCTL_OK)
		status = write_blobs(w);
	if (status == PCTL_OK)
		status = write_record(w, &last.commit);
	return status == PCTL_OK ? write_index(w) : status;
}

static int is_empty(const char *dir)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	int n = 0;

	while (d != NULL && (e = readdir(d)) != NULL)
		n += e->d_name[0] != '.';
	if (d != NULL)
		closedir(d);
	return n == 0;
}

pctl_status pctl_snapshot_write(pctl_chain *c, const char *dir, uint64_t chunk_bytes,
				const pctl_call *call, pctl_snapshot_report *out)
{
	writing w = {.c = c,
		     .t = pctl_chain_track(pctl_cursor(c)),
		     .dir = dir,
		     .bound = chunk_bytes == 0 ? PCTL_SNAPSHOT_CHUNK_BYTES : chunk_bytes,
		     .call = call,
		     .report = out};
	/* A moment that the caller holds is the one, and the bytes of it are held by him, too. */
	const int is_held = !sqlite3_get_autocommit(pctl_chain_db(pctl_cursor(c)));
	int hold = -1;
	pctl_status status;

	memset(out, 0, sizeof(*out));
	status = pctl_track_look(w.t, call);
	if (status != PCTL_OK)
		return status;
	if (!pctl_track_is_on(w.t) || pctl_chain_log(c) == NULL)
		return pctl_refuse(call, PC6143_TREE_NONE,
				   "no block has ended under version 2 of the rules");
	if (!is_empty(dir))
		return pctl_refuse(call, PC6149_SNAPSHOT_HOME, "%s is not empty", dir);
	status = pctl_file_make_dirs(dir, call);
	w.spool = tmpfile();
	w.needs = pctl_map_create();
	if (status == PCTL_OK && (w.spool == NULL || w.needs == NULL))
		status = spool_failed(&w);
	if (status == PCTL_OK && !is_held)
		status = pctl_store_hold(pctl_chain_store(c), call, &hold);
	if (status == PCTL_OK && !is_held)
		status = pctl_chain_moment_begin(pctl_cursor(c), call);
	if (status == PCTL_OK) {
		status = write_all(&w);
		if (!is_held)
			pctl_chain_moment_end(pctl_cursor(c));
	}
	pctl_store_release(hold);
	if (w.spool != NULL)
		fclose(w.spool);
	pctl_map_destroy(w.needs);
	free(w.rows.items);
	free(w.files.items);
	return status;
}
