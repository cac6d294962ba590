/* What looks at rows as they are read and changed: views whose rows go through a function, and SQLite's preupdate hook. */
#define SQLITE_ENABLE_PREUPDATE_HOOK 1 /* Debian's library has it; its header asks for the word */
#include <sqlite3.h>

#include <stdio.h>
#include <string.h>

#include "chain/state/track_private.h"

/* ---- reading ------------------------------------------------------------------------------- */

int pctl_track_find_seen(pctl_track *t, uint32_t table, pctl_seen **e,
			 uint8_t leaf[PCTL_DIGEST_BYTES])
{
	const uint8_t *key = (const uint8_t *)t->key.data;
	uint32_t n_tables;

	*e = NULL;
	if (t->key.failed)
		return -1;
	if (sqlite3_get_autocommit(t->db))
		return pctl_row_leaf_key(t->tree, pctl_state_tables(&n_tables)[table].name, key,
					 t->key.n, &t->inner, leaf) == PCTL_OK
			       ? 0
			       : -1;
	*e = pctl_track_seen(t, table, key, (uint32_t)t->key.n);
	if (*e == NULL)
		return -1;
	memcpy(leaf, (*e)->leaf, PCTL_DIGEST_BYTES);
	return (*e)->flags != 0;
}

/*
 * Is the row of this key right: 1, or 0 where that was noted. The row is read here, by its key: what SQLite hands to a function
 * in place of another column may be the constant that the query compares it with.
 */
static int judge(pctl_track *t, uint32_t table, sqlite3_value **key, int n)
{
	uint8_t leaf[PCTL_DIGEST_BYTES];
	pctl_seen *e;
	int found, is_known;
	pctl_status status;

	if (sqlite3_get_autocommit(t->db))
		pctl_track_fresh(t);
	t->key.n = 0;
	if (pctl_track_is_numbered(table))
		pctl_page_key(&t->key, sqlite3_value_int64(key[0]));
	else
		for (int i = 0; i < n; i++)
			pctl_row_add_value(&t->key, key[i]);
	is_known = pctl_track_find_seen(t, table, &e, leaf);
	if (is_known != 0)
		return is_known > 0;
	status = pctl_track_present(t, table, (const uint8_t *)t->key.data, t->key.n, &t->inner,
				    &t->row, &found);
	if (status == PCTL_OK)
		status = pctl_track_check(t, table, (const uint8_t *)t->key.data, t->key.n, leaf,
					  found ? (const uint8_t *)t->row.data : NULL, t->row.n,
					  &t->inner);
	if (status != PCTL_OK || t->is_forged)
		return 0;
	if (e != NULL)
		e->flags |= PCTL_SEEN_RIGHT;
	return 1;
}

/* pctl_row(TABLE, KEY..): 1, or an error of the statement. */
static void row_function(sqlite3_context *ctx, int n, sqlite3_value **values)
{
	pctl_track *t = sqlite3_user_data(ctx);

	if (!t->is_on || judge(t, (uint32_t)sqlite3_value_int(values[0]), values + 1, n - 1)) {
		sqlite3_result_int(ctx, 1);
		return;
	}
	if (!t->is_forged)
		t->is_hurt = 1;
	sqlite3_result_error(ctx, "a row is not the one that the chain made", -1);
}

pctl_status pctl_track_shown(pctl_track *t, uint32_t table, sqlite3_stmt *stmt,
			     const pctl_call *call)
{
	uint32_t n_tables;
	const int n = sqlite3_column_count(stmt),
		  n_keys = (int)pctl_state_table_keys(&pctl_state_tables(&n_tables)[table]);
	uint8_t leaf[PCTL_DIGEST_BYTES];
	pctl_seen *e;
	int is_known;
	pctl_status status;

	if (!t->is_on)
		return PCTL_OK;
	if (sqlite3_get_autocommit(t->db))
		pctl_track_fresh(t);
	if (pctl_track_is_numbered(table))
		return pctl_track_page_shown(t, table, stmt, call);
	t->key.n = 0;
	for (int i = 0; i < n_keys; i++)
		pctl_row_add_column(&t->key, stmt, i);
	is_known = pctl_track_find_seen(t, table, &e, leaf);
	if (is_known < 0)
		return pctl_no_memory(call, "a state");
	if (is_known > 0)
		return PCTL_OK;
	t->row.n = 0;
	for (int i = 0; i < n; i++)
		pctl_row_add_column(&t->row, stmt, i);
	if (t->row.failed)
		return pctl_no_memory(call, "a state");
	status = pctl_track_check(t, table, (const uint8_t *)t->key.data, t->key.n, leaf,
				  (const uint8_t *)t->row.data, t->row.n, call);
	if (status == PCTL_OK)
		status = pctl_track_verdict(t, call);
	if (status == PCTL_OK && e != NULL)
		e->flags |= PCTL_SEEN_RIGHT;
	return status;
}

pctl_status pctl_track_views(pctl_track *t, const pctl_call *call)
{
	uint32_t n;
	const pctl_state_table *tables = pctl_state_tables(&n);
	pctl_str_buf sql = PCTL_STR_BUF_INIT;
	pctl_status status;

	if (t->has_views)
		return PCTL_OK;
	for (uint32_t i = 0; i < n; i++) {
		pctl_str_addf(&sql,
			      "CREATE TEMP VIEW IF NOT EXISTS %s AS SELECT * FROM main.%s WHERE "
			      "pctl_row(%u, %s);",
			      tables[i].name, tables[i].name, i, tables[i].key);
	}
	status = sql.failed ? pctl_no_memory(call, "a state") : pctl_track_exec(t, sql.data, call);
	pctl_str_drop(&sql);
	if (status == PCTL_OK) {
		t->has_views = 1;
		t->new_views = !sqlite3_get_autocommit(t->db);
	}
	return status;
}

/* ---- changing ------------------------------------------------------------------------------ */

/* The old (or new) row of the change at hand into t->row: all of it, or the key alone. */
static int spell_change(pctl_track *t, uint32_t n_keys, int is_new, int all, uint32_t *n_key)
{
	const int n = all ? sqlite3_preupdate_count(t->db) : (int)n_keys;

	t->row.n = 0;
	for (int i = 0; i < n; i++) {
		sqlite3_value *value = NULL;
		const int rc = is_new ? sqlite3_preupdate_new(t->db, i, &value)
				      : sqlite3_preupdate_old(t->db, i, &value);

		if (rc != SQLITE_OK || value == NULL)
			return 0;
		pctl_row_add_value(&t->row, value);
		if (i + 1 == (int)n_keys)
			*n_key = (uint32_t)t->row.n;
	}
	return !t->row.failed;
}

/* The row in t->row is the last that is known of this key. Rows that are changed often seldom change their size. */
static int keep_now(pctl_track *t, pctl_seen *e)
{
	const uint32_t n = (uint32_t)t->row.n;

	if (e->room_now < n) {
		e->now = pctl_arena_alloc(t->arena, n);
		e->room_now = e->now == NULL ? 0 : n;
	}
	if (e->now == NULL)
		return 0;
	memcpy(e->now, t->row.data, n);
	e->n_now = n;
	e->sure = t->sure;
	return 1;
}

/* What is changed without having been read: at once what is at hand, and what the tree has of it when that is brought up to date. */
static int first_change(pctl_track *t, pctl_seen *e)
{
	uint32_t n_tables;

	if (t->is_held && !pctl_state_tables(&n_tables)[e->table].is_apart &&
	    pctl_track_held(t, e->leaf) == NULL) {
		e->flags |= PCTL_SEEN_UNSURE;
		return 1;
	}
	return pctl_track_check(t, e->table, e->key, e->n_key, e->leaf, e->before, e->n_before,
				&t->inner) == PCTL_OK;
}

/* A row as it was (or will be) at a change. At the first of a transaction it must have been what was written, and is remembered
 * as it was. */
static int touch(pctl_track *t, uint32_t table, int is_new)
{
	uint32_t n_tables, n_key = 0;
	const uint32_t n_keys = pctl_state_table_keys(&pctl_state_tables(&n_tables)[table]);
	pctl_seen *e;

	if (!spell_change(t, n_keys, is_new, is_new, &n_key))
		return 0;
	e = pctl_track_seen(t, table, (const uint8_t *)t->row.data, n_key);
	if (e == NULL)
		return 0;
	if ((e->flags & PCTL_SEEN_CHANGED) == 0) {
		if (!is_new) {
			if (!spell_change(t, n_keys, 0, 1, &n_key))
				return 0;
			e->before =
				(const uint8_t *)pctl_arena_dup_n(t->arena, t->row.data, t->row.n);
			e->n_before = (uint32_t)t->row.n;
			if (e->before == NULL)
				return 0;
		}
		if (e->flags == 0 && !first_change(t, e))
			return 0;
		e->flags |= PCTL_SEEN_CHANGED;
	}
	if (is_new)
		return keep_now(t, e);
	e->n_now = 0;
	e->sure = t->sure;
	return 1;
}

static void changing(void *ctx, sqlite3 *db, int op, const char *schema, const char *name,
		     sqlite3_int64 old_id, sqlite3_int64 new_id)
{
	pctl_track *t = ctx;
	const int table = t->is_on && strcmp(schema, "main") == 0
				  ? pctl_state_table_find(name, strlen(name))
				  : -1;

	(void)db;
	if (table < 0)
		return;
	if (pctl_track_is_numbered((uint32_t)table)) {
		if ((op != SQLITE_INSERT && !pctl_track_add_to_page(t, (uint32_t)table, old_id)) ||
		    (op != SQLITE_DELETE && !pctl_track_add_to_page(t, (uint32_t)table, new_id)))
			t->is_hurt = 1;
		return;
	}
	if ((op != SQLITE_INSERT && !touch(t, (uint32_t)table, 0)) ||
	    (op != SQLITE_DELETE && !touch(t, (uint32_t)table, 1)))
		t->is_hurt = 1;
}

/* While nobody listens, SQLite gives back the pages of a table without going over its rows. */
pctl_status pctl_track_empty(pctl_track *t, const char *table, const pctl_call *call, int *n)
{
	char sql[80];
	pctl_status status;

	snprintf(sql, sizeof(sql), "DELETE FROM main.%s", table);
	sqlite3_preupdate_hook(t->db, NULL, NULL);
	status = pctl_track_exec(t, sql, call);
	*n = sqlite3_changes(t->db);
	sqlite3_preupdate_hook(t->db, changing, t);
	return status;
}

pctl_status pctl_track_listen(pctl_track *t, const pctl_call *call)
{
	if (sqlite3_create_function_v2(t->db, "pctl_row", -1, SQLITE_UTF8, t, row_function, NULL,
				       NULL, NULL) != SQLITE_OK)
		return pctl_track_trouble(t, call);
	sqlite3_preupdate_hook(t->db, changing, t);
	return PCTL_OK;
}
