/* Transactions that end a block: what changed since the last one is read once and held in memory, and tables apart are emptied. */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "chain/state/track_private.h"

/* ---- what is held -------------------------------------------------------------------------- */

static pctl_status take_open(pctl_track *t, sqlite3_stmt *stmt, const pctl_call *call)
{
	const int table = pctl_state_table_find((const char *)sqlite3_column_text(stmt, 2),
						(size_t)sqlite3_column_bytes(stmt, 2));
	pctl_open_row row = {.leaf.is_gone = sqlite3_column_bytes(stmt, 1) == 0};

	if (table < 0 || sqlite3_column_bytes(stmt, 0) != (int)PCTL_DIGEST_BYTES ||
	    (!row.leaf.is_gone && sqlite3_column_bytes(stmt, 1) != (int)PCTL_DIGEST_BYTES))
		return pctl_refuse(call, PC6141_TREE_NODE, "a row of tree_open is not in form");
	row.table = (uint32_t)table;
	memcpy(row.leaf.key, sqlite3_column_blob(stmt, 0), PCTL_DIGEST_BYTES);
	if (!row.leaf.is_gone)
		memcpy(row.leaf.value, sqlite3_column_blob(stmt, 1), PCTL_DIGEST_BYTES);
	return PCTL_VEC_PUSH(&t->open, row) ? PCTL_OK : pctl_no_memory(call, "a tree");
}

static uint32_t shared_bits(const uint8_t leaf[PCTL_DIGEST_BYTES])
{
	return ((uint32_t)leaf[0] << 8 | leaf[1]) >> (16 - PCTL_HELD_BITS);
}

/* Leaves are hashes, so each of the shares has few. */
static int index_open(pctl_track *t)
{
	const uint32_t n_shares = 1u << PCTL_HELD_BITS;
	uint32_t share = 0;

	if (t->open_from == NULL)
		t->open_from = malloc((n_shares + 1) * sizeof(*t->open_from));
	if (t->open_from == NULL)
		return 0;
	for (uint32_t i = 0; i <= t->open.n; i++) {
		const uint32_t until =
			i < t->open.n ? shared_bits(t->open.items[i].leaf.key) : n_shares;

		while (share <= until)
			t->open_from[share++] = i;
	}
	return 1;
}

pctl_status pctl_track_hold(pctl_track *t, const pctl_call *call)
{
	sqlite3_stmt *stmt = NULL;
	int step = SQLITE_DONE;
	pctl_status status;

	if (!t->is_on || t->is_held)
		return PCTL_OK;
	t->open.n = 0;
	status = pctl_track_prepare(
		t, &stmt, "SELECT leaf, now, name FROM main.tree_open ORDER BY leaf", call);
	while (status == PCTL_OK && (step = sqlite3_step(stmt)) == SQLITE_ROW)
		status = take_open(t, stmt, call);
	if (status == PCTL_OK && step != SQLITE_DONE)
		status = pctl_track_trouble(t, call);
	sqlite3_finalize(stmt);
	if (status == PCTL_OK && !index_open(t))
		status = pctl_no_memory(call, "a tree");
	t->is_held = status == PCTL_OK;
	return status;
}

const pctl_open_row *pctl_track_held(const pctl_track *t, const uint8_t leaf[PCTL_DIGEST_BYTES])
{
	const uint32_t share = shared_bits(leaf);

	for (uint32_t i = t->open_from[share]; i < t->open_from[share + 1]; i++)
		if (memcmp(leaf, t->open.items[i].leaf.key, PCTL_DIGEST_BYTES) == 0)
			return &t->open.items[i];
	return NULL;
}

void pctl_track_merged(pctl_track *t)
{
	uint32_t n_tables, n = 0;
	const pctl_state_table *tables = pctl_state_tables(&n_tables);

	for (uint32_t i = 0; i < t->open.n; i++)
		if (tables[t->open.items[i].table].is_apart)
			t->open.items[n++] = t->open.items[i];
	t->open.n = n;
	(void)index_open(t); /* there is room for it */
}

void pctl_track_let_go(pctl_track *t)
{
	t->open.n = 0;
	t->is_held = 0;
	t->apart = PCTL_APART_HOLDS;
	memset(t->less, 0, sizeof(t->less));
}

/* ---- tables apart -------------------------------------------------------------------------- */

/* Rows that this transaction changed, and that are there, are known one by one: they go as if each had been deleted. *n: how many. */
static pctl_status forget_changed(pctl_track *t, uint32_t table, const pctl_call *call, int *n)
{
	pctl_status status = PCTL_OK;

	*n = 0;
	for (uint32_t i = 0; status == PCTL_OK && i < t->n_slots; i++) {
		pctl_seen *e = t->slots[i];
		int found;

		if (e == NULL || e->table != table || (e->flags & PCTL_SEEN_CHANGED) == 0)
			continue;
		found = e->n_now != 0;
		if (e->sure != t->sure)
			status = pctl_track_present(t, table, e->key, e->n_key, call, &t->row,
						    &found);
		*n += found;
		e->n_now = 0;
		e->sure = t->sure;
	}
	return status;
}

pctl_status pctl_track_clear_apart(pctl_track *t, const pctl_call *call)
{
	uint32_t n;
	const pctl_state_table *tables = pctl_state_tables(&n);
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		int n_changed = 0, n_gone = 0;

		if (!tables[i].is_apart)
			continue;
		status = forget_changed(t, i, call, &n_changed);
		if (status == PCTL_OK)
			status = pctl_track_empty(t, tables[i].name, call, &n_gone);
		if (t->is_on)
			t->less[i] += n_gone - n_changed;
	}
	if (status == PCTL_OK && t->is_on && t->apart == PCTL_APART_HOLDS)
		t->apart = PCTL_APART_VOID;
	return status;
}

/* Rows of tree_open whose table is apart, or is not. */
static pctl_status delete_open(pctl_track *t, int is_apart, const pctl_call *call)
{
	uint32_t n;
	const pctl_state_table *tables = pctl_state_tables(&n);
	pctl_str_buf sql = PCTL_STR_BUF_INIT;
	pctl_status status;

	pctl_str_addf(&sql, "DELETE FROM main.tree_open WHERE name %s (''",
		      is_apart ? "IN" : "NOT IN");
	for (uint32_t i = 0; i < n; i++)
		if (tables[i].is_apart)
			pctl_str_addf(&sql, ", '%s'", tables[i].name);
	pctl_str_add(&sql, ")");
	status = sql.failed ? pctl_no_memory(call, "a tree") : pctl_track_exec(t, sql.data, call);
	pctl_str_drop(&sql);
	return status;
}

pctl_status pctl_track_sweep(pctl_track *t, int is_root, const pctl_call *call)
{
	const int is_void = t->apart == PCTL_APART_VOID;
	pctl_status status = PCTL_OK;
	int n;

	if (is_void && is_root)
		status = pctl_track_empty(t, "tree_open", call, &n);
	else if (is_void || is_root)
		status = delete_open(t, is_void, call);
	if (status == PCTL_OK && is_void)
		t->apart = PCTL_APART_GONE;
	return status;
}
