/* Restoring a snapshot: the record first, by the trusted id; then chunk after chunk, each held against the tree's root before
 * its rows are kept; then what the block left behind its record. At once from a folder that is whole, or step by step from one
 * that is being filled. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/epoch/epoch.h"
#include "chain/state/cursor.h"
#include "chain/state/track.h"
#include "chain/sync/snapshot_private.h"
#include "foundation/base/file.h"
#include "foundation/base/map.h"

typedef struct pctl_restore restoring;

/* ---- where it stands ------------------------------------------------------------------------ */

static pctl_status exec(const restoring *r, const char *sql)
{
	return sqlite3_exec(r->db, sql, NULL, NULL, NULL) == SQLITE_OK
		       ? PCTL_OK
		       : pctl_chain_internal_failure(r->s, "a snapshot", r->call);
}

/* 1: the row is there. */
static pctl_status has(const restoring *r, const char *sql, const char *word, int *out)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status = PCTL_OK;

	*out = 0;
	if (sqlite3_prepare_v2(r->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return pctl_chain_internal_failure(r->s, "a snapshot", r->call);
	sqlite3_bind_text(stmt, 1, word, -1, SQLITE_STATIC);
	status = pctl_cursor_next(r->s, stmt, r->call, out);
	sqlite3_finalize(stmt);
	return status;
}

/* Was this very block restored before, to the end? */
static pctl_status look(const restoring *r, int *is_done)
{
	pctl_block_row last;
	const pctl_status status = pctl_blocks_last(r->s, r->call, &last);

	*is_done = last.height == r->header.height &&
		   memcmp(last.root, r->header.root, sizeof(last.root)) == 0;
	r->report->commit = last.commit;
	return status;
}

/* An empty state begins; one that was cut short goes on, with the same block alone. */
static pctl_status begin(const restoring *r, int *is_done)
{
	char sql[200];
	int is_there, is_same = 0, is_begun = 0;
	pctl_status status =
		has(r, "SELECT 1 FROM sqlite_master WHERE name = ?", PCTL_RESTORING, &is_there);

	if (status == PCTL_OK && is_there)
		status = has(r, "SELECT 1 FROM " PCTL_RESTORING " WHERE chunk = ?", r->header.tree,
			     &is_same);
	if (status == PCTL_OK && !is_there)
		status = has(r, "SELECT 1 FROM params WHERE name <> ?", "", &is_begun);
	*is_done = 0;
	if (status == PCTL_OK && is_begun)
		status = look(r, is_done);
	if (status == PCTL_OK && *is_done)
		return PCTL_OK;
	if (status == PCTL_OK && (is_begun || is_there != is_same))
		return pctl_refuse(r->call, PC6149_SNAPSHOT_HOME, "%s",
				   is_begun ? "the home has a chain already"
					    : "a snapshot of another block is being restored here");
	if (status != PCTL_OK || is_there)
		return status;
	snprintf(sql, sizeof(sql),
		 "CREATE TABLE " PCTL_RESTORING " (chunk TEXT NOT NULL PRIMARY KEY) STRICT;"
		 "INSERT INTO " PCTL_RESTORING " VALUES ('%s')",
		 r->header.tree);
	status = pctl_chain_begin(r->s, r->call);
	if (status == PCTL_OK)
		status = exec(r, sql);
	if (status == PCTL_OK)
		status = pctl_chain_commit(r->s, r->call);
	if (status != PCTL_OK)
		pctl_chain_rollback(r->s);
	return status;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static pctl_status put_one(const restoring *r, uint32_t table, const uint8_t *row, uint64_t n)
{
	uint32_t n_tables, n_columns = 0;
	uint64_t at = 0;
	pctl_row_value v;
	sqlite3_stmt *stmt = NULL;
	pctl_str_buf sql = PCTL_STR_BUF_INIT;
	pctl_status status;
	int step;

	pctl_str_addf(&sql, "INSERT INTO %s VALUES (", pctl_state_tables(&n_tables)[table].name);
	for (; at < n && pctl_row_next(row, n, &at, &v); n_columns++)
		pctl_str_add(&sql, n_columns == 0 ? "?" : ", ?");
	pctl_str_add(&sql, ")");
	status = sql.failed ? pctl_no_memory(r->call, "a snapshot")
			    : pctl_chain_statement(r->s, sql.data, r->call, &stmt);
	pctl_str_drop(&sql);
	if (status != PCTL_OK)
		return status;
	(void)pctl_row_bind(stmt, row, n);
	step = sqlite3_step(stmt);
	if (step == SQLITE_CONSTRAINT)
		status = pctl_refuse(r->call, PC6147_SNAPSHOT_CHUNK,
				     "%s: a chunk has a row that another one had", r->dir);
	else if (step != SQLITE_DONE)
		status = pctl_chain_internal_failure(r->s, "a snapshot", r->call);
	pctl_cursor_done(stmt);
	return status;
}

/* Of a numbered table: all that stand on the page. */
static pctl_status put_row(const restoring *r, const pctl_chunk_row *row)
{
	uint32_t n_tables;
	const pctl_state_table *of = &pctl_state_tables(&n_tables)[row->table];
	const uint8_t *one;
	uint64_t at = 0, n_one;
	int64_t number;
	pctl_status status = PCTL_OK;

	if (!of->is_numbered)
		return put_one(r, row->table, row->row, row->n);
	while (status == PCTL_OK &&
	       pctl_page_next(of, row->row, row->n, &at, &one, &n_one, &number))
		status = put_one(r, row->table, one, n_one);
	return status;
}

/* The rows of a chunk and the word that they are here, durable when it returns. */
static pctl_status keep_chunk(const restoring *r, const char *name, const pctl_chunk *chunk)
{
	pctl_status status = pctl_chain_begin(r->s, r->call);

	for (uint32_t i = 0; status == PCTL_OK && i < chunk->n_rows; i++)
		status = put_row(r, &chunk->rows[i]);
	if (status == PCTL_OK)
		status = pctl_cursor_write(r->s, r->call,
					   "INSERT INTO " PCTL_RESTORING " VALUES (?)", "t", name);
	if (status == PCTL_OK)
		status = pctl_chain_commit(r->s, r->call);
	if (status != PCTL_OK)
		pctl_chain_rollback(r->s);
	return status;
}

static pctl_status note_asked(void *ctx, const char *reference)
{
	restoring *r = ctx;

	return pctl_map_put(r->asked, reference, NULL) ? PCTL_OK
						       : pctl_no_memory(r->call, "a snapshot");
}

static pctl_status note_rows(restoring *r, const pctl_chunk *chunk)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < chunk->n_rows; i++)
		status = pctl_row_needs(chunk->rows[i].table, chunk->rows[i].row, chunk->rows[i].n,
					note_asked, r, r->call);
	return status;
}

static pctl_status take_chunk(restoring *r, const pctl_snapshot_file *f)
{
	char *bytes = NULL;
	uint64_t n = 0;
	pctl_chunk chunk;
	pctl_arena *a;
	int is_here;
	pctl_status status =
		has(r, "SELECT 1 FROM " PCTL_RESTORING " WHERE chunk = ?", f->name, &is_here);

	if (status != PCTL_OK || (is_here && r->asked == NULL))
		return status;
	status = pctl_restore_need_file(r, f->name, PCTL_SNAPSHOT_FILE_MAX, &bytes, &n);
	if (status != PCTL_OK)
		return status;
	a = pctl_arena_create();
	status = a == NULL ? pctl_no_memory(r->call, "a snapshot")
			   : pctl_chunk_read(f->name, (const uint8_t *)bytes, n, r->root, r->hasher,
					     a, r->call, &chunk);
	if (status == PCTL_OK && r->asked != NULL)
		status = note_rows(r, &chunk);
	if (status == PCTL_OK && !is_here)
		status = keep_chunk(r, f->name, &chunk);
	if (status == PCTL_OK && !is_here) {
		r->report->chunks++;
		r->report->rows += chunk.n_rows;
		r->report->bytes += n;
	}
	pctl_arena_destroy(a);
	free(bytes);
	return status;
}

/* ---- bytes ---------------------------------------------------------------------------------- */

static pctl_status fetch(void *ctx, const char *reference)
{
	restoring *r = ctx;
	pctl_store *store = pctl_chain_store(r->c);
	char name[PCTL_CID_TEXT_SIZE + 8] = "blobs/", *bytes = NULL;
	uint64_t n;
	int is_there;
	pctl_cid cid, is;
	pctl_status status = pctl_snapshot_resolve(r->c, reference, r->call, &cid);

	if (status == PCTL_E_NOT_FOUND)
		return PCTL_OK;
	if (status != PCTL_OK || pctl_store_has(store, &cid))
		return status;
	pctl_cid_format(&cid, name + strlen(name));
	status = pctl_restore_file(r, name, PCTL_SNAPSHOT_FILE_MAX, &bytes, &n, &is_there);
	if (status == PCTL_OK && !is_there)
		status = pctl_refuse(r->call, PC6150_SNAPSHOT_BYTES, "%s", name + 6);
	if (status == PCTL_OK)
		status = pctl_cid_of(bytes, n, r->call, &is);
	if (status == PCTL_OK && pctl_cid_compare(&is, &cid) != 0)
		status = pctl_refuse(r->call, PC6147_SNAPSHOT_CHUNK,
				     "%s/%s: its bytes have another CID", r->dir, name);
	if (status == PCTL_OK)
		status = pctl_store_put(store, bytes, n, r->call, NULL);
	r->report->blobs += status == PCTL_OK;
	free(bytes);
	return status;
}

typedef struct needing {
	restoring *r;
	pctl_status status;
} needing;

static int row_needs(void *ctx, uint32_t table, const uint8_t *row, uint64_t n)
{
	needing *k = ctx;

	k->status = pctl_row_needs(table, row, n, fetch, k->r, k->r->call);
	return k->status != PCTL_OK;
}

static pctl_status fetch_all(restoring *r)
{
	needing k = {r, PCTL_OK};
	pctl_status status = pctl_track_rows(pctl_chain_track(r->s), row_needs, &k, r->call);

	return status == PCTL_OK ? k.status : status;
}

/* ---- the end -------------------------------------------------------------------------------- */

/* The tree that was made of all rows is the trusted one: nothing is missing, nothing too much. */
static pctl_status hold(restoring *r)
{
	uint8_t root[PCTL_DIGEST_BYTES];
	pctl_status status = pctl_chain_tree_root(r->s, r->call, root);

	if (status == PCTL_OK && memcmp(root, r->root, sizeof(root)) != 0)
		return pctl_refuse(r->call, PC6147_SNAPSHOT_CHUNK,
				   "%s/snapshot: its chunks together are not all rows", r->dir);
	return status;
}

/* What the id of the parent is, the rows say. */
static pctl_status write_commit(restoring *r)
{
	const uint64_t height = r->header.height;
	pctl_gitlog *log = pctl_chain_log(r->c);
	pctl_gitlog_file files[PCTL_BLOCK_FILES];
	const uint32_t n = pctl_block_record_files(&r->record, files);
	char text[PCTL_BLOCK_COMMIT_TEXT_SIZE];
	pctl_block_row before = {.height = 0};
	pctl_gitlog_oid *out = &r->report->commit;
	pctl_status status =
		height == 1 ? PCTL_OK : pctl_blocks_read(r->s, height - 1, r->call, &before);

	pctl_block_commit_text(&r->header, text);
	if (status == PCTL_OK)
		status = pctl_gitlog_id(height == 1 ? NULL : &before.commit, files, n, text,
					r->header.clock, r->call, out);
	if (status == PCTL_OK && !r->trusted.is_root &&
	    memcmp(out, &r->trusted.commit, sizeof(*out)) != 0)
		return pctl_refuse(r->call, PC6148_SNAPSHOT_TRUST,
				   "%s: the record and the rows give another commit", r->dir);
	if (status == PCTL_OK && log != NULL)
		status = pctl_gitlog_graft(log, height == 1 ? NULL : &before.commit, files, n, text,
					   r->header.clock, r->call, out);
	return status;
}

static pctl_status count_messages(restoring *r, uint64_t *out)
{
	pctl_block_message *messages;
	uint32_t n = 0;
	const pctl_status status =
		pctl_block_read_messages(&r->record, r->dir, r->arena, r->call, &messages, &n);

	*out = n;
	return status;
}

/* As the end of a block does behind its record. */
static pctl_status leave(restoring *r)
{
	char note[PCTL_EPOCH_NOTE_SIZE] = "";
	uint64_t n_messages;
	pctl_status status = count_messages(r, &n_messages);

	if (status == PCTL_OK)
		status = pctl_blocks_add(r->s, &r->header, n_messages, &r->report->commit, r->call);
	if (status == PCTL_OK)
		status = pctl_cursor_write(r->s, r->call, "DELETE FROM touched", "");
	if (status == PCTL_OK)
		status = exec(r, "DROP TABLE " PCTL_RESTORING);
	return status == PCTL_OK ? pctl_chain_epoch(r->c, r->header.height, r->call, note) : status;
}

static pctl_status finish(restoring *r)
{
	pctl_gitlog *log = pctl_chain_log(r->c);
	pctl_status status = pctl_chain_begin(r->s, r->call);

	if (status == PCTL_OK)
		status = hold(r);
	if (status == PCTL_OK)
		status = fetch_all(r);
	if (status == PCTL_OK)
		status = write_commit(r);
	if (status == PCTL_OK)
		status = leave(r);
	if (status == PCTL_OK)
		status = pctl_chain_commit(r->s, r->call);
	if (status != PCTL_OK) {
		pctl_chain_rollback(r->s);
		return status;
	}
	return log == NULL ? PCTL_OK : pctl_gitlog_point(log, &r->report->commit, r->call);
}

/* ---- its steps ------------------------------------------------------------------------------- */

static pctl_status open_restore(restoring *r)
{
	pctl_status status = pctl_restore_read_index(r);

	if (status == PCTL_OK)
		status = pctl_restore_read_block(r);
	if (status == PCTL_OK)
		status = begin(r, &r->is_done);
	r->report->height = r->header.height;
	return status;
}

pctl_status pctl_restore_open(pctl_chain *c, const char *dir, const pctl_trusted *trusted,
			      int is_asked, const pctl_call *call, pctl_snapshot_report *report,
			      pctl_restore **out)
{
	restoring *r = calloc(1, sizeof(*r));
	pctl_status status = PCTL_OK;

	*out = NULL;
	memset(report, 0, sizeof(*report));
	if (r == NULL)
		return pctl_no_memory(call, "a snapshot");
	r->c = c;
	r->s = pctl_cursor(c);
	r->db = pctl_chain_db(r->s);
	r->dir = strdup(dir);
	r->trusted = *trusted;
	r->call = call;
	r->report = report;
	r->arena = pctl_arena_create();
	if (is_asked)
		r->asked = pctl_map_create();
	if (r->dir == NULL || r->arena == NULL || (is_asked && r->asked == NULL))
		status = pctl_no_memory(call, "a snapshot");
	if (status == PCTL_OK)
		status = pctl_radix_hasher(call, &r->hasher);
	if (status == PCTL_OK)
		status = open_restore(r);
	if (status == PCTL_OK)
		*out = r;
	else
		pctl_restore_close(r);
	return status;
}

void pctl_restore_close(pctl_restore *r)
{
	if (r == NULL)
		return;
	pctl_block_record_clear(&r->record);
	free(r->commit.data);
	free(r->entries.data);
	pctl_radix_close(r->hasher);
	pctl_map_destroy(r->asked);
	pctl_map_destroy(r->wanted);
	pctl_arena_destroy(r->arena);
	free(r->dir);
	free(r);
}

pctl_status pctl_restore_take(pctl_restore *r, const pctl_call *call, int *more)
{
	pctl_status status = PCTL_OK;

	r->call = call;
	*more = !r->is_done && r->n_taken < r->index.n_chunks;
	if (!*more)
		return PCTL_OK;
	status = take_chunk(r, &r->index.chunks[r->n_taken]);
	r->n_taken += status == PCTL_OK;
	return status;
}

int pctl_restore_was_whole(const pctl_restore *r)
{
	return r->is_done;
}

const char *pctl_restore_next(const pctl_restore *r)
{
	return r->is_done || r->n_taken == r->index.n_chunks ? NULL
							     : r->index.chunks[r->n_taken].name;
}

static pctl_status resolve_all(restoring *r)
{
	char text[PCTL_CID_TEXT_SIZE];
	pctl_cid cid;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < pctl_map_count(r->asked); i++) {
		status = pctl_snapshot_resolve(r->c, pctl_map_key_at(r->asked, i), r->call, &cid);
		if (status == PCTL_E_NOT_FOUND)
			status = PCTL_OK;
		else if (status == PCTL_OK &&
			 !pctl_map_put(r->wanted, pctl_cid_format(&cid, text), NULL))
			status = pctl_no_memory(r->call, "a snapshot");
	}
	return status;
}

pctl_status pctl_restore_wants(pctl_restore *r, const char *cid, const pctl_call *call, int *out)
{
	pctl_status status = PCTL_OK;

	r->call = call;
	*out = 0;
	if (r->asked == NULL || pctl_restore_next(r) != NULL)
		return PCTL_OK;
	if (r->wanted == NULL) {
		r->wanted = pctl_map_create();
		status = r->wanted == NULL ? pctl_no_memory(call, "a snapshot") : resolve_all(r);
	}
	*out = status == PCTL_OK && pctl_map_has(r->wanted, cid);
	return status;
}

pctl_status pctl_restore_finish(pctl_restore *r, const pctl_call *call)
{
	r->call = call;
	return r->is_done ? PCTL_OK : finish(r);
}

pctl_status pctl_snapshot_restore(pctl_chain *c, const char *dir, const pctl_trusted *trusted,
				  const pctl_call *call, pctl_snapshot_report *out)
{
	pctl_restore *r;
	int more = 1;
	pctl_status status = pctl_restore_open(c, dir, trusted, 0, call, out, &r);

	if (status != PCTL_OK)
		return status;
	while (status == PCTL_OK && more) {
		status = pctl_restore_take(r, call, &more);
		if (status == PCTL_OK && pctl_is_cancelled(call))
			status = pctl_refuse(call, PC4_CANCELLED, "cancelled while restoring");
	}
	if (status == PCTL_OK)
		status = pctl_restore_finish(r, call);
	pctl_restore_close(r);
	return status;
}
