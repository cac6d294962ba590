/* Transactions of a tracked state: what they saw and changed, and what must be where. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/state/track_private.h"
#include "foundation/base/hash.h"

pctl_status pctl_track_trouble(pctl_track *t, const pctl_call *call)
{
	return pctl_refuse(call, PC5701_CHAIN_STATE, "the rows and their tree: %s",
			   sqlite3_errmsg(t->db));
}

pctl_status pctl_track_exec(pctl_track *t, const char *sql, const pctl_call *call)
{
	return sqlite3_exec(t->db, sql, NULL, NULL, NULL) == SQLITE_OK
		       ? PCTL_OK
		       : pctl_track_trouble(t, call);
}

pctl_status pctl_track_prepare(pctl_track *t, sqlite3_stmt **stmt, const char *sql,
			       const pctl_call *call)
{
	if (*stmt == NULL &&
	    sqlite3_prepare_v3(t->db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL) != SQLITE_OK)
		return pctl_track_trouble(t, call);
	sqlite3_reset(*stmt);
	return PCTL_OK;
}

static void keep_first(void *ctx, const pctl_diag *d)
{
	pctl_track *t = ctx;

	if (t->hurt_code != 0)
		return;
	t->hurt_code = d->code;
	snprintf(t->hurt, sizeof(t->hurt), "%s", d->message);
}

pctl_status pctl_track_open(sqlite3 *db, const pctl_call *call, pctl_track **out)
{
	pctl_track *t = calloc(1, sizeof(*t));
	pctl_status status;

	*out = t;
	if (t == NULL)
		return pctl_no_memory(call, "a state");
	t->db = db;
	t->version = -1;
	t->sure = 1;
	t->inner = (pctl_call){.head = PCTL_HEAD(pctl_call), .ctx = t, .diag = keep_first};
	t->arena = pctl_arena_create();
	status = t->arena == NULL ? pctl_no_memory(call, "a state")
				  : pctl_radix_open(db, call, &t->tree);
	if (status == PCTL_OK)
		status = pctl_track_listen(t, call);
	return status == PCTL_OK ? pctl_track_look(t, call) : status;
}

pctl_status pctl_track_look(pctl_track *t, const pctl_call *call)
{
	const pctl_status status = t->is_on ? PCTL_OK : pctl_track_is_made(t, call, &t->is_on);

	return status == PCTL_OK && t->is_on ? pctl_track_views(t, call) : status;
}

void pctl_track_close(pctl_track *t)
{
	if (t == NULL)
		return;
	sqlite3_finalize(t->open_one);
	sqlite3_finalize(t->open_before);
	sqlite3_finalize(t->open_put);
	sqlite3_finalize(t->open_drop);
	sqlite3_finalize(t->version_of);
	sqlite3_finalize(t->moment);
	for (uint32_t i = 0; i < PCTL_STATE_TABLES_MAX; i++)
		sqlite3_finalize(t->by_key[i]);
	pctl_radix_close(t->tree);
	pctl_arena_destroy(t->arena);
	pctl_str_drop(&t->row);
	pctl_str_drop(&t->key);
	free(t->open.items);
	free(t->open_from);
	free(t->slots);
	free(t);
}

int pctl_track_is_on(const pctl_track *t)
{
	return t->is_on;
}

pctl_radix *pctl_track_tree(pctl_track *t)
{
	return t->tree;
}

/* ---- what was seen ------------------------------------------------------------------------- */

void pctl_track_forget(pctl_track *t)
{
	if (t->n_seen == 0)
		return;
	/* What a large transaction needed would cost each small one that comes behind it. */
	if (t->n_slots > 1024 && t->n_seen < t->n_slots / 64) {
		free(t->slots);
		t->slots = NULL;
		t->n_slots = 0;
	} else {
		memset(t->slots, 0, t->n_slots * sizeof(*t->slots));
	}
	t->n_seen = 0;
	pctl_arena_clear(t->arena);
}

static int grow(pctl_track *t)
{
	const uint32_t n = t->n_slots == 0 ? 1024 : 2 * t->n_slots;
	pctl_seen **slots = calloc(n, sizeof(pctl_seen *));

	if (slots == NULL)
		return 0;
	for (uint32_t i = 0; i < t->n_slots; i++)
		if (t->slots[i] != NULL) {
			uint32_t to = (uint32_t)t->slots[i]->h & (n - 1);

			while (slots[to] != NULL)
				to = (to + 1) & (n - 1);
			slots[to] = t->slots[i];
		}
	free(t->slots);
	t->slots = slots;
	t->n_slots = n;
	return 1;
}

pctl_seen *pctl_track_seen(pctl_track *t, uint32_t table, const uint8_t *key, uint32_t n_key)
{
	const uint64_t h = pctl_mix64(pctl_fnv64(PCTL_FNV64 + table, key, n_key));
	pctl_seen *e;
	uint32_t at;

	if (2 * t->n_seen >= t->n_slots && !grow(t))
		return NULL;
	for (at = (uint32_t)h & (t->n_slots - 1); (e = t->slots[at]) != NULL;
	     at = (at + 1) & (t->n_slots - 1))
		if (e->h == h && e->table == table && e->n_key == n_key &&
		    memcmp(e->key, key, n_key) == 0)
			return e;
	e = pctl_arena_alloc(t->arena, sizeof(*e));
	if (e == NULL)
		return NULL;
	*e = (pctl_seen){.h = h, .table = table, .n_key = n_key};
	e->key = (const uint8_t *)pctl_arena_dup_n(t->arena, (const char *)key, n_key);
	if (e->key == NULL || pctl_row_leaf_key(t->tree, pctl_state_tables(&at)[table].name, key,
						n_key, NULL, e->leaf) != PCTL_OK)
		return NULL;
	for (at = (uint32_t)h & (t->n_slots - 1); t->slots[at] != NULL;)
		at = (at + 1) & (t->n_slots - 1);
	t->slots[at] = e;
	t->n_seen++;
	return e;
}

/* ---- what must be -------------------------------------------------------------------------- */

pctl_status pctl_track_expected(pctl_track *t, uint32_t table,
				const uint8_t leaf[PCTL_DIGEST_BYTES], const pctl_call *call,
				int *found, uint8_t value[PCTL_DIGEST_BYTES])
{
	uint32_t n;
	const int is_apart = pctl_state_tables(&n)[table].is_apart != 0;
	const pctl_open_row *held;
	int step;
	pctl_status status;

	*found = 0;
	if (is_apart && t->apart != PCTL_APART_HOLDS)
		return PCTL_OK;
	held = t->is_held ? pctl_track_held(t, leaf) : NULL;
	*found = held != NULL && !held->leaf.is_gone;
	if (*found)
		memcpy(value, held->leaf.value, PCTL_DIGEST_BYTES);
	if (held != NULL || (is_apart && t->is_held))
		return PCTL_OK;
	if (t->is_held)
		return pctl_radix_find(t->tree, leaf, call, found, value);
	status = pctl_track_prepare(t, &t->open_one,
				    "SELECT now FROM main.tree_open WHERE leaf = ?", call);
	if (status != PCTL_OK)
		return status;
	sqlite3_bind_blob(t->open_one, 1, leaf, PCTL_DIGEST_BYTES, SQLITE_STATIC);
	step = sqlite3_step(t->open_one);
	if (step == SQLITE_ROW) {
		*found = sqlite3_column_bytes(t->open_one, 0) == (int)PCTL_DIGEST_BYTES;
		if (*found)
			memcpy(value, sqlite3_column_blob(t->open_one, 0), PCTL_DIGEST_BYTES);
	} else if (step != SQLITE_DONE) {
		status = pctl_track_trouble(t, call);
	}
	sqlite3_reset(t->open_one);
	if (step == SQLITE_DONE && !is_apart)
		return pctl_radix_find(t->tree, leaf, call, found, value);
	return status;
}

void pctl_track_forge(pctl_track *t, uint32_t table, const uint8_t *key, uint64_t n,
		      const char *how)
{
	char text[PCTL_ROW_TEXT_SIZE];
	uint32_t n_tables;

	if (t->is_forged)
		return;
	t->is_forged = 1;
	snprintf(t->forged, sizeof(t->forged), "%s: the row %s",
		 pctl_row_key_text(&pctl_state_tables(&n_tables)[table], key, n, text), how);
}

pctl_status pctl_track_verdict(const pctl_track *t, const pctl_call *call)
{
	if (t->is_forged)
		return pctl_refuse(call, PC6140_TREE_ROW, "%s", t->forged);
	if (t->hurt_code != 0)
		return pctl_refuse(call, t->hurt_code, "%s", t->hurt);
	return t->is_hurt ? pctl_no_memory(call, "a state") : PCTL_OK;
}

pctl_status pctl_track_check(pctl_track *t, uint32_t table, const uint8_t *key, uint64_t n_key,
			     const uint8_t leaf[PCTL_DIGEST_BYTES], const uint8_t *row, uint64_t n,
			     const pctl_call *call)
{
	uint8_t must[PCTL_DIGEST_BYTES], is[PCTL_DIGEST_BYTES];
	int found;
	pctl_status status = pctl_track_expected(t, table, leaf, call, &found, must);

	if (status == PCTL_OK && row != NULL)
		status = pctl_row_leaf_value(t->tree, row, n, call, is);
	if (status != PCTL_OK)
		return status;
	if (row != NULL && !found)
		pctl_track_forge(t, table, key, n_key, "was added");
	else if (row == NULL && found)
		pctl_track_forge(t, table, key, n_key, "was removed");
	else if (row != NULL && memcmp(must, is, sizeof(is)) != 0)
		pctl_track_forge(t, table, key, n_key, "was changed");
	return PCTL_OK;
}

pctl_status pctl_track_look_now(pctl_track *t, uint32_t table, const uint8_t *key, uint64_t n,
				const pctl_call *call)
{
	uint8_t leaf[PCTL_DIGEST_BYTES];
	uint32_t n_tables;
	int found = 0;
	pctl_status status = pctl_track_prepare(t, &t->moment,
						"SELECT total FROM main.tree_counts LIMIT 1", call);

	if (status == PCTL_OK && sqlite3_step(t->moment) != SQLITE_ROW)
		status = pctl_track_trouble(t, call);
	if (sqlite3_get_autocommit(t->db))
		pctl_track_fresh(t);
	if (status == PCTL_OK)
		status = pctl_row_leaf_key(t->tree, pctl_state_tables(&n_tables)[table].name, key,
					   n, call, leaf);
	if (status == PCTL_OK)
		status = pctl_track_present(t, table, key, n, call, &t->row, &found);
	if (status == PCTL_OK)
		status = pctl_track_check(t, table, key, n, leaf,
					  found ? (const uint8_t *)t->row.data : NULL, t->row.n,
					  call);
	if (t->moment != NULL)
		sqlite3_reset(t->moment);
	return status == PCTL_OK ? pctl_track_verdict(t, call) : status;
}

pctl_status pctl_track_missing(pctl_track *t, uint32_t table, const uint8_t *key, uint64_t n,
			       const pctl_call *call)
{
	uint8_t leaf[PCTL_DIGEST_BYTES];
	uint32_t n_tables;
	pctl_seen *e;
	pctl_status status;

	if (!t->is_on)
		return PCTL_OK;
	if (pctl_state_tables(&n_tables)[table].is_numbered)
		return pctl_track_page_missing(t, table, key, n, call);
	if (sqlite3_get_autocommit(t->db))
		return pctl_track_look_now(t, table, key, n, call);
	e = pctl_track_seen(t, table, key, (uint32_t)n);
	if (e == NULL)
		return pctl_no_memory(call, "a state");
	if (e->flags != 0)
		return PCTL_OK;
	e->flags |= PCTL_SEEN_RIGHT;
	status = pctl_row_leaf_key(t->tree, pctl_state_tables(&n_tables)[table].name, key, n, call,
				   leaf);
	if (status == PCTL_OK)
		status = pctl_track_check(t, table, key, n, leaf, NULL, 0, call);
	return status == PCTL_OK ? pctl_track_verdict(t, call) : status;
}

/* ---- transactions -------------------------------------------------------------------------- */

pctl_status pctl_track_is_made(pctl_track *t, const pctl_call *call, int *out)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status = pctl_track_prepare(
		t, &stmt, "SELECT 1 FROM main.sqlite_master WHERE name = 'tree_counts'", call);
	const int step = status == PCTL_OK ? sqlite3_step(stmt) : SQLITE_DONE;

	*out = step == SQLITE_ROW;
	if (step != SQLITE_ROW && step != SQLITE_DONE)
		status = pctl_track_trouble(t, call);
	sqlite3_finalize(stmt);
	return status;
}

static pctl_status read_version(pctl_track *t, const pctl_call *call, int64_t *out)
{
	pctl_status status =
		pctl_track_prepare(t, &t->version_of, "PRAGMA main.data_version", call);

	if (status == PCTL_OK && sqlite3_step(t->version_of) != SQLITE_ROW)
		status = pctl_track_trouble(t, call);
	*out = status == PCTL_OK ? sqlite3_column_int64(t->version_of, 0) : -1;
	if (t->version_of != NULL)
		sqlite3_reset(t->version_of);
	return status;
}

/* One number of the one row that a query gives. */
static pctl_status count(pctl_track *t, const char *sql, const char *name, const pctl_call *call,
			 int64_t *out)
{
	char text[160];
	sqlite3_stmt *stmt = NULL;
	pctl_status status;

	*out = -1;
	snprintf(text, sizeof(text), sql, name);
	status = pctl_track_prepare(t, &stmt, text, call);
	if (status == PCTL_OK && sqlite3_step(stmt) == SQLITE_ROW)
		*out = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return status;
}

/* Rows that were removed or added are seen by their number; which ones, by going over all. */
static pctl_status count_rows(pctl_track *t, const pctl_call *call)
{
	uint32_t n;
	const pctl_state_table *tables = pctl_state_tables(&n);
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		int64_t are, must;
		uint64_t rows;

		status = count(t, "SELECT count(*) FROM main.%s", tables[i].name, call, &are);
		if (status == PCTL_OK)
			status = count(t, "SELECT total FROM main.tree_counts WHERE name = '%s'",
				       tables[i].name, call, &must);
		if (status != PCTL_OK || are == must)
			continue;
		status = pctl_track_scrub(t, call, &rows);
		if (status == PCTL_OK)
			status = pctl_refuse(call, PC6140_TREE_ROW,
					     "table %s has %lld rows, and should have %lld",
					     tables[i].name, (long long)are, (long long)must);
	}
	return status;
}

void pctl_track_calm(pctl_track *t)
{
	t->is_forged = t->is_hurt = 0;
	t->hurt_code = 0;
}

void pctl_track_fresh(pctl_track *t)
{
	unsigned version = 0;

	pctl_track_calm(t);
	if (sqlite3_file_control(t->db, "main", SQLITE_FCNTL_DATA_VERSION, &version) == SQLITE_OK &&
	    t->has_read && version == t->read_version)
		return;
	pctl_radix_forget(t->tree);
	t->read_version = version;
	t->has_read = 1;
}

void pctl_track_undone(pctl_track *t)
{
	t->sure++;
}

pctl_status pctl_track_begin(pctl_track *t, const pctl_call *call)
{
	int64_t version;
	pctl_status status = PCTL_OK;

	pctl_track_forget(t);
	pctl_track_let_go(t);
	pctl_track_calm(t);
	if (!t->is_on)
		status = pctl_track_is_made(t, call, &t->is_on);
	t->was_on = t->is_on;
	if (status != PCTL_OK || !t->is_on)
		return status;
	status = read_version(t, call, &version);
	if (status == PCTL_OK)
		status = pctl_track_views(t, call);
	if (status == PCTL_OK && version != t->version) {
		pctl_radix_forget(t->tree);
		status = count_rows(t, call);
		if (status == PCTL_OK)
			t->version = version;
	}
	return status;
}

pctl_status pctl_track_commit(pctl_track *t, const pctl_call *call)
{
	pctl_status status = pctl_track_verdict(t, call);

	if (status == PCTL_OK && t->is_on)
		status = pctl_track_settle(t, call);
	if (status == PCTL_OK) {
		pctl_track_forget(t);
		pctl_track_let_go(t);
		t->new_views = 0;
	}
	return status;
}

void pctl_track_rollback(pctl_track *t)
{
	pctl_track_calm(t);
	pctl_track_forget(t);
	pctl_track_let_go(t);
	pctl_radix_forget(t->tree);
	if (!t->was_on)
		t->is_on = 0;
	if (t->new_views) /* they went with it */
		t->has_views = 0;
	t->new_views = 0;
}
