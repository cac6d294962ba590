/* The tables beside the state: what changed goes into tree_open, from there into the tree, and all of it is gone over. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/state/track_private.h"
#include "foundation/base/vec.h"

/* With assertions every row that changed is read all the same, and must be what was noted of it. */
#ifdef NDEBUG
#define PCTL_TRACK_LOOKS_AGAIN 0
#else
#define PCTL_TRACK_LOOKS_AGAIN 1
#endif

/* ---- rows of a table ----------------------------------------------------------------------- */

/* "SELECT * FROM main.T WHERE a = ? AND b = ?", or all rows of a page. */
static void spell_by_key(const pctl_state_table *table, char *out, size_t n_out)
{
	const char *name = table->key;
	size_t n = (size_t)snprintf(out, n_out, "SELECT * FROM main.%s WHERE", table->name);

	if (table->is_numbered) {
		snprintf(out + n, n_out - n, " id > ?1 * %d AND id <= ?1 * %d + %d ORDER BY id",
			 PCTL_PAGE_ROWS, PCTL_PAGE_ROWS, PCTL_PAGE_ROWS);
		return;
	}
	while (*name != '\0' && n < n_out) {
		const size_t length = strcspn(name, ",");

		n += (size_t)snprintf(out + n, n_out - n, "%s %.*s = ?",
				      name == table->key ? "" : " AND", (int)length, name);
		name += length;
		name += strspn(name, ", ");
	}
}

pctl_status pctl_track_present(pctl_track *t, uint32_t table, const uint8_t *key, uint64_t n,
			       const pctl_call *call, pctl_str_buf *row, int *found)
{
	uint32_t n_tables;
	char sql[256];
	sqlite3_stmt *stmt;
	pctl_status status;
	int step, is_page;

	*found = 0;
	row->n = 0;
	is_page = pctl_state_tables(&n_tables)[table].is_numbered != 0;
	spell_by_key(&pctl_state_tables(&n_tables)[table], sql, sizeof(sql));
	status = pctl_track_prepare(t, &t->by_key[table], sql, call);
	if (status != PCTL_OK)
		return status;
	stmt = t->by_key[table];
	if (pctl_row_bind(stmt, key, n) == 0)
		return pctl_track_trouble(t, call);
	while ((step = sqlite3_step(stmt)) == SQLITE_ROW) {
		if (!*found && is_page)
			pctl_str_add_n(row, (const char *)key, (size_t)n);
		*found = 1;
		for (int i = 0; i < sqlite3_column_count(stmt); i++)
			pctl_row_add_column(row, stmt, i);
	}
	if (step != SQLITE_DONE)
		status = pctl_track_trouble(t, call);
	sqlite3_reset(stmt);
	return status == PCTL_OK && row->failed ? pctl_no_memory(call, "a row") : status;
}

pctl_status pctl_track_walk(pctl_track *t, uint32_t table, pctl_track_visit visit, void *ctx,
			    const pctl_call *call, int *is_over)
{
	uint32_t n_tables;
	const pctl_state_table *of = &pctl_state_tables(&n_tables)[table];
	pctl_str_buf row = PCTL_STR_BUF_INIT;
	sqlite3_stmt *stmt = NULL;
	int64_t page = 0;
	char sql[256];
	pctl_status status;
	int step = SQLITE_DONE;

	snprintf(sql, sizeof(sql), "SELECT * FROM main.%s ORDER BY %s", of->name, of->key);
	status = pctl_track_prepare(t, &stmt, sql, call);
	while (status == PCTL_OK && !*is_over && (step = sqlite3_step(stmt)) == SQLITE_ROW) {
		const int64_t number = sqlite3_column_int64(stmt, 0);

		if (row.n != 0 && !(of->is_numbered && pctl_page_of(number) == page))
			*is_over = visit(ctx, table, (const uint8_t *)row.data, row.n) != 0;
		if (row.n == 0 || !(of->is_numbered && pctl_page_of(number) == page)) {
			row.n = 0;
			page = pctl_page_of(number);
			if (of->is_numbered)
				pctl_page_key(&row, number);
		}
		for (int i = 0; i < sqlite3_column_count(stmt); i++)
			pctl_row_add_column(&row, stmt, i);
		if (row.failed)
			status = pctl_no_memory(call, "a row");
	}
	if (status == PCTL_OK && !*is_over && step == SQLITE_DONE && row.n != 0)
		*is_over = visit(ctx, table, (const uint8_t *)row.data, row.n) != 0;
	if (status == PCTL_OK && step != SQLITE_ROW && step != SQLITE_DONE)
		status = pctl_track_trouble(t, call);
	sqlite3_finalize(stmt);
	pctl_str_drop(&row);
	return status;
}

pctl_status pctl_track_leaf(pctl_track *t, uint32_t table, const uint8_t *row, uint64_t n,
			    const pctl_call *call, uint64_t *n_key, pctl_radix_leaf *out)
{
	uint32_t n_tables;
	const pctl_state_table *of = &pctl_state_tables(&n_tables)[table];
	pctl_status status;

	out->is_gone = 0;
	if (!pctl_row_fits(of, row, n, n_key))
		return pctl_refuse(call, PC6140_TREE_ROW, "a row of table %s is not in form",
				   of->name);
	status = pctl_row_leaf_key(t->tree, of->name, row, *n_key, call, out->key);
	return status == PCTL_OK ? pctl_row_leaf_value(t->tree, row, n, call, out->value) : status;
}

/* ---- what changed -------------------------------------------------------------------------- */

static pctl_status put_open(pctl_track *t, const pctl_seen *e, const uint8_t *now,
			    const pctl_call *call)
{
	uint32_t n_tables;
	sqlite3_stmt *stmt;
	/* What it was is what it was when it stood there first. */
	pctl_status status = pctl_track_prepare(t, &t->open_put,
						"INSERT INTO main.tree_open VALUES (?, ?, ?, ?, ?) "
						"ON CONFLICT (leaf) DO UPDATE SET "
						"now = excluded.now",
						call);

	if (status != PCTL_OK)
		return status;
	stmt = t->open_put;
	sqlite3_bind_blob(stmt, 1, e->leaf, PCTL_DIGEST_BYTES, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 2, pctl_state_tables(&n_tables)[e->table].name, -1, SQLITE_STATIC);
	if (now == NULL)
		sqlite3_bind_zeroblob(stmt, 3, 0);
	else
		sqlite3_bind_blob(stmt, 3, now, PCTL_DIGEST_BYTES, SQLITE_STATIC);
	sqlite3_bind_blob(stmt, 4, e->key, (int)e->n_key, SQLITE_STATIC);
	if (e->before == NULL)
		sqlite3_bind_zeroblob(stmt, 5, 0);
	else
		sqlite3_bind_blob(stmt, 5, e->before, (int)e->n_before, SQLITE_STATIC);
	if (sqlite3_step(stmt) != SQLITE_DONE)
		status = pctl_track_trouble(t, call);
	sqlite3_reset(stmt);
	return status;
}

static pctl_status drop_open(pctl_track *t, const pctl_seen *e, const pctl_call *call)
{
	pctl_status status = pctl_track_prepare(t, &t->open_drop,
						"DELETE FROM main.tree_open WHERE leaf = ?", call);

	if (status != PCTL_OK)
		return status;
	sqlite3_bind_blob(t->open_drop, 1, e->leaf, PCTL_DIGEST_BYTES, SQLITE_STATIC);
	if (sqlite3_step(t->open_drop) != SQLITE_DONE)
		status = pctl_track_trouble(t, call);
	sqlite3_reset(t->open_drop);
	return status;
}

/* What a changed row is now, as SQLite told at its last change, or as it is read: *row NULL when it is gone. */
static pctl_status row_now(pctl_track *t, const pctl_seen *e, const pctl_call *call,
			   const uint8_t **row, uint64_t *n)
{
	int found;
	pctl_status status = PCTL_OK;

	*row = e->n_now == 0 ? NULL : e->now;
	*n = e->n_now;
	if (e->sure == t->sure && e->first == 0 && !PCTL_TRACK_LOOKS_AGAIN)
		return PCTL_OK;
	status = pctl_track_present(t, e->table, e->key, e->n_key, call, &t->row, &found);
	if (status != PCTL_OK)
		return status;
	assert(e->sure != t->sure || e->first != 0 ||
	       (found ? *row != NULL && *n == t->row.n && memcmp(*row, t->row.data, t->row.n) == 0
		      : *row == NULL));
	*row = found ? (const uint8_t *)t->row.data : NULL;
	*n = found ? t->row.n : 0;
	return PCTL_OK;
}

/* now NULL: the row is gone. */
static pctl_status add_leaf(pctl_track *t, const pctl_seen *e, const uint8_t *now,
			    pctl_track_leaves *into, const pctl_call *call)
{
	pctl_radix_leaf leaf = {.is_gone = now == NULL};
	pctl_status status = PCTL_OK;

	memcpy(leaf.key, e->leaf, sizeof(leaf.key));
	if (now != NULL)
		memcpy(leaf.value, now, sizeof(leaf.value));
	if ((e->flags & PCTL_SEEN_UNSURE) != 0)
		leaf.was = e->before == NULL ? PCTL_WAS_NONE : PCTL_WAS_VALUE;
	if (leaf.was == PCTL_WAS_VALUE)
		status = pctl_row_leaf_value(t->tree, e->before, e->n_before, call, leaf.before);
	if (status == PCTL_OK && !PCTL_VEC_PUSH(&into->list, leaf))
		status = pctl_no_memory(call, "a tree");
	return status;
}

/* The leaf that a row which changed has now goes to `leaves` (NULL, and of tables apart: into tree_open). */
static pctl_status settle_one(pctl_track *t, pctl_seen *e, pctl_track_leaves *into,
			      const pctl_call *call, int64_t *more)
{
	uint32_t n_tables;
	uint8_t now[PCTL_DIGEST_BYTES];
	const int is_apart = pctl_state_tables(&n_tables)[e->table].is_apart != 0;
	const uint8_t *row;
	uint64_t n;
	int found;
	pctl_status status = row_now(t, e, call, &row, &n);

	found = row != NULL;
	if (status == PCTL_OK && found)
		status = pctl_row_leaf_value(t->tree, row, n, call, now);
	if (status != PCTL_OK)
		return status;
	if (e->first != 0)
		pctl_track_split_page(e, row, n);
	*more += found ? pctl_track_n_rows(e->table, row, n) : 0;
	*more -= e->before == NULL ? 0 : pctl_track_n_rows(e->table, e->before, e->n_before);
	if (into != NULL && !is_apart &&
	    !((e->flags & PCTL_SEEN_UNSURE) != 0 && pctl_track_held(t, e->leaf) != NULL))
		return add_leaf(t, e, found ? now : NULL, into, call);
	if ((e->flags & PCTL_SEEN_UNSURE) != 0) {
		status = pctl_track_check(t, e->table, e->key, e->n_key, e->leaf, e->before,
					  e->n_before, call);
		if (status == PCTL_OK)
			status = pctl_track_verdict(t, call);
		if (status != PCTL_OK)
			return status;
		e->flags &= ~(uint32_t)PCTL_SEEN_UNSURE;
	}
	if (into != NULL && !is_apart)
		return add_leaf(t, e, found ? now : NULL, into, call);
	if (!found && is_apart)
		return e->before == NULL ? PCTL_OK : drop_open(t, e, call);
	if (found && e->before != NULL && e->n_before == n && memcmp(e->before, row, n) == 0)
		return PCTL_OK;
	return put_open(t, e, found ? now : NULL, call);
}

static pctl_status add_counts(pctl_track *t, const int64_t *more, const pctl_call *call)
{
	uint32_t n;
	const pctl_state_table *tables = pctl_state_tables(&n);
	char sql[160];
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		if (more[i] == 0)
			continue;
		snprintf(sql, sizeof(sql),
			 "UPDATE main.tree_counts SET total = total + %lld WHERE name = '%s'",
			 (long long)more[i], tables[i].name);
		status = pctl_track_exec(t, sql, call);
	}
	return status;
}

static pctl_status settle(pctl_track *t, pctl_track_leaves *into, const pctl_call *call)
{
	int64_t more[PCTL_STATE_TABLES_MAX];
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < PCTL_STATE_TABLES_MAX; i++) {
		more[i] = -t->less[i];
		t->less[i] = 0;
	}
	for (uint32_t i = 0; status == PCTL_OK && i < t->n_slots; i++) {
		pctl_seen *e = t->slots[i];

		if (e == NULL || (e->flags & PCTL_SEEN_CHANGED) == 0)
			continue;
		status = settle_one(t, e, into, call, &more[e->table]);
		e->flags = PCTL_SEEN_RIGHT;
		e->before = NULL;
		e->first = 0;
	}
	return status == PCTL_OK ? add_counts(t, more, call) : status;
}

pctl_status pctl_track_settle(pctl_track *t, const pctl_call *call)
{
	const pctl_status status = pctl_track_sweep(t, 0, call);

	return status == PCTL_OK ? settle(t, NULL, call) : status;
}

/* ---- the tree ------------------------------------------------------------------------------ */

int pctl_track_gather(void *ctx, uint32_t table, const uint8_t *row, uint64_t n)
{
	pctl_track_leaves *l = ctx;
	pctl_radix_leaf leaf;

	l->rows += pctl_track_n_rows(table, row, n);
	l->status = pctl_track_leaf(l->t, table, row, n, l->call, &l->n_key, &leaf);
	if (l->status == PCTL_OK && !PCTL_VEC_PUSH(&l->list, leaf))
		l->status = pctl_no_memory(l->call, "a tree");
	return l->status != PCTL_OK;
}

static int take_apart(void *ctx, uint32_t table, const uint8_t *row, uint64_t n)
{
	pctl_track_leaves *l = ctx;
	pctl_radix_leaf leaf;
	pctl_seen e = {.table = table, .key = row};

	l->rows += pctl_track_n_rows(table, row, n);
	l->status = pctl_track_leaf(l->t, table, row, n, l->call, &l->n_key, &leaf);
	if (l->status == PCTL_OK) {
		e.n_key = (uint32_t)l->n_key;
		memcpy(e.leaf, leaf.key, sizeof(e.leaf));
		l->status = put_open(l->t, &e, leaf.value, l->call);
	}
	return l->status != PCTL_OK;
}

static const char making[] =
	"CREATE TABLE main.tree_open (leaf BLOB NOT NULL PRIMARY KEY, name TEXT NOT NULL, "
	"now BLOB NOT NULL, key BLOB NOT NULL, before BLOB NOT NULL) STRICT, WITHOUT ROWID;"
	"CREATE TABLE main.tree_counts (name TEXT NOT NULL PRIMARY KEY, total INTEGER NOT NULL) "
	"STRICT, WITHOUT ROWID";

static pctl_status make(pctl_track *t, const pctl_call *call)
{
	uint32_t n;
	const pctl_state_table *tables = pctl_state_tables(&n);
	pctl_track_leaves l = {.t = t, .call = call};
	const pctl_radix_leaf *odd;
	char sql[160];
	int is_over = 0;
	pctl_status status = pctl_track_exec(t, making, call);

	if (status == PCTL_OK)
		status = pctl_radix_make(t->tree, call);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		l.rows = 0;
		status = pctl_track_walk(t, i, tables[i].is_apart ? take_apart : pctl_track_gather,
					 &l, call, &is_over);
		if (status == PCTL_OK)
			status = l.status;
		snprintf(sql, sizeof(sql), "INSERT INTO main.tree_counts VALUES ('%s', %llu)",
			 tables[i].name, (unsigned long long)l.rows);
		if (status == PCTL_OK)
			status = pctl_track_exec(t, sql, call);
	}
	if (status == PCTL_OK)
		status = pctl_radix_update(t->tree, l.list.items, l.list.n, call, &odd);
	free(l.list.items);
	t->is_on = status == PCTL_OK;
	return status;
}

/* Which row it was that the tree had otherwise. */
static pctl_status name_odd(pctl_track *t, const pctl_radix_leaf *odd, int had,
			    const pctl_call *call)
{
	for (uint32_t i = 0; i < t->n_slots; i++) {
		const pctl_seen *e = t->slots[i];

		if (e != NULL && memcmp(e->leaf, odd->key, sizeof(e->leaf)) == 0)
			pctl_track_forge(t, e->table, e->key, e->n_key,
					 odd->was == PCTL_WAS_NONE ? "was removed"
					 : had			   ? "was changed"
								   : "was added");
	}
	return pctl_track_verdict(t, call);
}

/* Ascending: the leaves of what changed in this transaction, and those of the transactions before (held) that it did not change. */
static pctl_status merge(pctl_track *t, pctl_track_leaves *now, const pctl_call *call,
			 pctl_track_leaves *out)
{
	uint32_t n, at = 0;
	const pctl_state_table *tables = pctl_state_tables(&n);

	if (now->list.n > 1)
		qsort(now->list.items, now->list.n, sizeof(now->list.items[0]), pctl_radix_by_key);
	for (uint32_t i = 0; i <= t->open.n; i++) {
		const pctl_open_row *held = i < t->open.n ? &t->open.items[i] : NULL;
		int order = -1;

		for (; at < now->list.n; at++) {
			if (held != NULL)
				order = pctl_radix_by_key(&now->list.items[at], &held->leaf);
			if (order >= 0)
				break;
			if (!PCTL_VEC_PUSH(&out->list, now->list.items[at]))
				return pctl_no_memory(call, "a tree");
		}
		if (held != NULL && !tables[held->table].is_apart &&
		    (at == now->list.n || order != 0) && !PCTL_VEC_PUSH(&out->list, held->leaf))
			return pctl_no_memory(call, "a tree");
	}
	return PCTL_OK;
}

static pctl_status bring_up(pctl_track *t, pctl_track_leaves *now, pctl_track_leaves *all,
			    const pctl_call *call)
{
	const pctl_radix_leaf *odd = NULL;
	pctl_status status = pctl_track_hold(t, call);

	if (status == PCTL_OK)
		status = pctl_track_sweep(t, 1, call);
	/* What changed in this transaction never stands in tree_open: the tree has it at once. */
	if (status == PCTL_OK)
		status = settle(t, now, call);
	if (status == PCTL_OK)
		status = merge(t, now, call, all);
	if (status == PCTL_OK)
		status = pctl_radix_update(t->tree, all->list.items, all->list.n, call, &odd);
	if (odd != NULL)
		return name_odd(t, odd, status != PCTL_E_NOT_FOUND, call);
	if (status == PCTL_OK)
		pctl_track_merged(t);
	return status;
}

pctl_status pctl_track_root(pctl_track *t, const pctl_call *call, uint8_t out[PCTL_DIGEST_BYTES])
{
	pctl_track_leaves now = {.t = t, .call = call}, all = now;
	pctl_status status = pctl_track_verdict(t, call);

	memset(out, 0, PCTL_DIGEST_BYTES);
	if (status != PCTL_OK)
		return status;
	status = t->is_on ? bring_up(t, &now, &all, call) : make(t, call);
	free(now.list.items);
	free(all.list.items);
	return status == PCTL_OK ? pctl_radix_root(t->tree, call, out) : status;
}

/* ---- all rows as they were ------------------------------------------------------------------ */

/* What a changed row was: *is_there 0 when the row is not in tree_open. */
static pctl_status before(pctl_track *t, const uint8_t leaf[PCTL_DIGEST_BYTES],
			  const pctl_call *call, pctl_str_buf *row, int *is_there)
{
	int step = SQLITE_DONE;
	pctl_status status = pctl_track_prepare(
		t, &t->open_before, "SELECT before FROM main.tree_open WHERE leaf = ?", call);

	*is_there = 0;
	if (status != PCTL_OK)
		return status;
	sqlite3_bind_blob(t->open_before, 1, leaf, PCTL_DIGEST_BYTES, SQLITE_STATIC);
	step = sqlite3_step(t->open_before);
	*is_there = step == SQLITE_ROW;
	if (*is_there) {
		row->n = 0;
		if (sqlite3_column_bytes(t->open_before, 0) != 0)
			pctl_str_add_n(row, sqlite3_column_blob(t->open_before, 0),
				       (size_t)sqlite3_column_bytes(t->open_before, 0));
	} else if (step != SQLITE_DONE) {
		status = pctl_track_trouble(t, call);
	}
	sqlite3_reset(t->open_before);
	return status == PCTL_OK && row->failed ? pctl_no_memory(call, "a row") : status;
}

pctl_status pctl_track_row(pctl_track *t, uint32_t table, const uint8_t *key, uint64_t n,
			   const pctl_call *call, uint8_t **out, uint64_t *n_out)
{
	uint32_t n_tables;
	uint8_t leaf[PCTL_DIGEST_BYTES];
	pctl_str_buf row = PCTL_STR_BUF_INIT;
	int was, found = 0;
	pctl_status status = pctl_row_leaf_key(t->tree, pctl_state_tables(&n_tables)[table].name,
					       key, n, call, leaf);

	*out = NULL;
	*n_out = 0;
	if (status == PCTL_OK)
		status = before(t, leaf, call, &row, &was);
	if (status == PCTL_OK && !was)
		status = pctl_track_present(t, table, key, n, call, &row, &found);
	if (status == PCTL_OK && row.n != 0 && (was || found)) {
		*n_out = row.n;
		*out = (uint8_t *)pctl_str_finish(&row);
	}
	pctl_str_drop(&row);
	return status;
}

typedef struct rows {
	pctl_track *t;
	const pctl_call *call;
	pctl_track_visit visit;
	void *ctx;
	pctl_status status;
} rows;

/* A present row, unless it changed since: those come from tree_open. */
static int show_present(void *ctx, uint32_t table, const uint8_t *row, uint64_t n)
{
	rows *r = ctx;
	pctl_radix_leaf leaf;
	pctl_str_buf old = PCTL_STR_BUF_INIT;
	uint64_t n_key;
	int was = 0;

	r->status = pctl_track_leaf(r->t, table, row, n, r->call, &n_key, &leaf);
	if (r->status == PCTL_OK)
		r->status = before(r->t, leaf.key, r->call, &old, &was);
	pctl_str_drop(&old);
	if (r->status != PCTL_OK)
		return 1;
	return !was && r->visit(r->ctx, table, row, n) != 0;
}

static pctl_status show_changed(rows *r)
{
	sqlite3_stmt *stmt = NULL;
	int step = SQLITE_DONE, is_over = 0;
	uint32_t n;
	const pctl_state_table *tables = pctl_state_tables(&n);
	pctl_status status = pctl_track_prepare(
		r->t, &stmt,
		"SELECT name, before FROM main.tree_open WHERE before <> x'' ORDER BY leaf",
		r->call);

	while (status == PCTL_OK && !is_over && (step = sqlite3_step(stmt)) == SQLITE_ROW) {
		const int table = pctl_state_table_find((const char *)sqlite3_column_text(stmt, 0),
							(size_t)sqlite3_column_bytes(stmt, 0));

		if (table >= 0 && !tables[table].is_apart)
			is_over = r->visit(r->ctx, (uint32_t)table, sqlite3_column_blob(stmt, 1),
					   (uint64_t)sqlite3_column_bytes(stmt, 1)) != 0;
	}
	if (status == PCTL_OK && step != SQLITE_ROW && step != SQLITE_DONE)
		status = pctl_track_trouble(r->t, r->call);
	sqlite3_finalize(stmt);
	return status;
}

pctl_status pctl_track_rows(pctl_track *t, pctl_track_visit visit, void *ctx, const pctl_call *call)
{
	uint32_t n;
	const pctl_state_table *tables = pctl_state_tables(&n);
	rows r = {t, call, visit, ctx, PCTL_OK};
	int is_over = 0;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && !is_over && i < n; i++) {
		if (tables[i].is_apart)
			continue;
		status = pctl_track_walk(t, i, show_present, &r, call, &is_over);
		if (status == PCTL_OK)
			status = r.status;
	}
	return status == PCTL_OK && !is_over ? show_changed(&r) : status;
}
