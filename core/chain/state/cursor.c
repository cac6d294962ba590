/* Rows of the state behind cursor.h: preparing, binding, stepping. */
#include "chain/state/cursor.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "chain/state/amount.h"
#include "chain/state/track.h"
#include "foundation/base/hash.h"

static int bind_amount(sqlite3_stmt *stmt, int at, uint64_t amount)
{
	uint8_t bytes[PCTL_AMOUNT_BYTES];

	pctl_amount_put(amount, bytes);
	return sqlite3_bind_blob(stmt, at, bytes, sizeof(bytes), SQLITE_TRANSIENT);
}

static int bind_blob(sqlite3_stmt *stmt, int at, const void *data, uint64_t n)
{
	return n == 0 ? sqlite3_bind_zeroblob(stmt, at, 0)
		      : sqlite3_bind_blob64(stmt, at, data, n, SQLITE_STATIC);
}

/* ---- reads by a whole key ------------------------------------------------------------------ */

/* A statement that reads the row of one key, so that finding none is held against the tree, too. */
#define N_POINTS 256u /* a power of two */
#define POINT_KEY_MAX 512u
typedef struct point {
	const sqlite3_stmt *stmt;
	const char *sql; /* that `table` was found for */
	int table;	 /* -1: it is none */
	uint32_t n_rows, n_key;
	uint8_t key[POINT_KEY_MAX];
} point;
typedef struct points {
	point at[N_POINTS];
} points;

/* "SELECT .. FROM T WHERE k = ? AND l = ?", with the key of T and nothing behind it: its place, else -1. */
static int point_table(const char *sql)
{
	const char *at = strstr(sql, " FROM "), *key;
	uint32_t n_tables;
	int table;

	if (strncmp(sql, "SELECT ", 7) != 0 || at == NULL)
		return -1;
	at += strncmp(at, " FROM main.", 11) == 0 ? 11 : 6;
	table = pctl_state_table_find(at, strcspn(at, " "));
	at += strcspn(at, " ");
	if (table < 0 || strncmp(at, " WHERE ", 7) != 0)
		return -1;
	key = pctl_state_tables(&n_tables)[table].key;
	for (at += 7; *key != '\0'; key += strspn(key, ", ")) {
		const size_t n = strcspn(key, ",");

		if (strncmp(at, key, n) != 0 || strncmp(at + n, " = ?", 4) != 0)
			return -1;
		key += n;
		at += n + 4;
		if (*key != '\0' && strncmp(at, " AND ", 5) != 0)
			return -1;
		at += *key != '\0' ? 5 : 0;
	}
	return *at == '\0' ? table : -1;
}

static point *point_of(pctl_chain_state *s, const sqlite3_stmt *stmt)
{
	uint64_t epoch;
	points *all = pctl_chain_memory(s, PCTL_MEMORY_CURSOR, sizeof(*all), &epoch);
	const uint32_t from = (uint32_t)pctl_mix64((uintptr_t)stmt);

	for (uint32_t i = 0; all != NULL && i < N_POINTS; i++) {
		point *p = &all->at[(from + i) & (N_POINTS - 1)];

		if (p->stmt == stmt || p->stmt == NULL)
			return p;
	}
	return all == NULL ? NULL : &all->at[from & (N_POINTS - 1)];
}

/* The key that is bound, as canonical bytes. */
static void spell_key(const char *kinds, va_list args, pctl_str_buf *out)
{
	uint8_t amount[PCTL_AMOUNT_BYTES];

	for (int i = 0; kinds[i] != '\0'; i++) {
		pctl_row_value v = {.kind = kinds[i] == 'h' ? 'i' : kinds[i] == 't' ? 't' : 'b'};

		if (kinds[i] == 'h') {
			v.number = (int64_t)va_arg(args, uint64_t);
		} else if (kinds[i] == 'a') {
			pctl_amount_put(va_arg(args, uint64_t), amount);
			v.data = amount;
			v.n = sizeof(amount);
		} else {
			v.data = va_arg(args, const void *);
			v.n = kinds[i] == 't'
				      ? (uint32_t)(v.data == NULL ? 0
								  : strlen((const char *)v.data))
			      : kinds[i] == 'd' ? PCTL_DIGEST_BYTES
						: (uint32_t)va_arg(args, uint64_t);
		}
		pctl_row_add(out, &v);
	}
}

static void note_point(pctl_chain_state *s, const sqlite3_stmt *stmt, const char *sql,
		       const char *kinds, va_list args)
{
	point *p = pctl_track_is_on(pctl_chain_track(s)) ? point_of(s, stmt) : NULL;
	pctl_str_buf key = PCTL_STR_BUF_INIT;

	if (p == NULL)
		return;
	if (p->stmt != stmt || p->sql != sql)
		p->table = point_table(sql);
	p->stmt = stmt;
	p->sql = sql;
	p->n_rows = p->n_key = 0;
	if (p->table < 0)
		return;
	spell_key(kinds, args, &key);
	if (!key.failed && key.n <= POINT_KEY_MAX) {
		memcpy(p->key, key.data, key.n);
		p->n_key = (uint32_t)key.n;
	}
	pctl_str_drop(&key);
}

static pctl_status check_point(pctl_chain_state *s, const sqlite3_stmt *stmt, int more,
			       const pctl_call *call)
{
	point *p = pctl_track_is_on(pctl_chain_track(s)) ? point_of(s, stmt) : NULL;

	if (p == NULL || p->stmt != stmt || p->table < 0 || p->n_key == 0)
		return PCTL_OK;
	p->n_rows += (uint32_t)more;
	return more || p->n_rows != 0 ? PCTL_OK
				      : pctl_track_missing(pctl_chain_track(s), (uint32_t)p->table,
							   p->key, p->n_key, call);
}

/* ---- binding ------------------------------------------------------------------------------- */

static int bind_all(sqlite3_stmt *stmt, const char *kinds, va_list args)
{
	const void *data;
	int rc = SQLITE_OK;

	for (int i = 0; rc == SQLITE_OK && kinds[i] != '\0'; i++) {
		switch (kinds[i]) {
		case 't':
			rc = sqlite3_bind_text(stmt, i + 1, va_arg(args, const char *), -1,
					       SQLITE_STATIC);
			break;
		case 'a':
			rc = bind_amount(stmt, i + 1, va_arg(args, uint64_t));
			break;
		case 'd':
			rc = sqlite3_bind_blob(stmt, i + 1, va_arg(args, const uint8_t *),
					       PCTL_DIGEST_BYTES, SQLITE_STATIC);
			break;
		case 'b':
			data = va_arg(args, const void *);
			rc = bind_blob(stmt, i + 1, data, va_arg(args, uint64_t));
			break;
		default:
			assert(kinds[i] == 'h');
			rc = sqlite3_bind_int64(stmt, i + 1, (sqlite3_int64)va_arg(args, uint64_t));
		}
	}
	return rc;
}

static int bind(pctl_chain_state *s, sqlite3_stmt *stmt, const char *sql, const char *kinds,
		va_list args)
{
	va_list again;
	int rc;

	va_copy(again, args);
	rc = bind_all(stmt, kinds, args);
	if (rc == SQLITE_OK)
		note_point(s, stmt, sql, kinds, again);
	va_end(again);
	return rc;
}

static pctl_status open_bound(pctl_chain_state *s, const pctl_call *call, sqlite3_stmt **out,
			      const char *sql, const char *kinds, va_list args)
{
	const pctl_status status = pctl_chain_prepare(s, sql, 0, call, out);

	if (status != PCTL_OK)
		return status;
	return bind(s, *out, sql, kinds, args) == SQLITE_OK
		       ? PCTL_OK
		       : pctl_chain_internal_failure(s, "rows of the state", call);
}

pctl_status pctl_cursor_open(pctl_chain_state *s, const pctl_call *call, sqlite3_stmt **out,
			     const char *sql, const char *kinds, ...)
{
	pctl_status status;
	va_list args;

	va_start(args, kinds);
	status = open_bound(s, call, out, sql, kinds, args);
	va_end(args);
	return status;
}

pctl_status pctl_cursor_keep(pctl_chain_state *s, const pctl_call *call, sqlite3_stmt **out,
			     const char *sql, const char *kinds, ...)
{
	pctl_status status = pctl_chain_statement(s, sql, call, out);
	va_list args;
	int rc;

	if (status != PCTL_OK)
		return status;
	va_start(args, kinds);
	rc = bind(s, *out, sql, kinds, args);
	va_end(args);
	return rc == SQLITE_OK ? PCTL_OK
			       : pctl_chain_internal_failure(s, "rows of the state", call);
}

void pctl_cursor_done(sqlite3_stmt *stmt)
{
	if (stmt == NULL)
		return;
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
}

/* A statement past the views is one of pctl_cursor_row. */
#define WHOLE "SELECT * FROM main."

static pctl_status step_on(pctl_chain_state *s, sqlite3_stmt *stmt, const pctl_call *call,
			   int *more)
{
	const int step = sqlite3_step(stmt);

	*more = step == SQLITE_ROW;
	if (step != SQLITE_ROW && step != SQLITE_DONE)
		pctl_track_undone(pctl_chain_track(s));
	return step == SQLITE_ROW || step == SQLITE_DONE
		       ? check_point(s, stmt, *more, call)
		       : pctl_chain_internal_failure(s, "rows of the state", call);
}

pctl_status pctl_cursor_next(pctl_chain_state *s, sqlite3_stmt *stmt, const pctl_call *call,
			     int *more)
{
	assert(strncmp(sqlite3_sql(stmt), WHOLE, strlen(WHOLE)) != 0);
	return step_on(s, stmt, call, more);
}

pctl_status pctl_cursor_row(pctl_chain_state *s, sqlite3_stmt *stmt, uint32_t table,
			    const pctl_call *call, int *more)
{
	pctl_status status;

	assert(strncmp(sqlite3_sql(stmt), WHOLE, strlen(WHOLE)) == 0 &&
	       pctl_state_table_find(sqlite3_sql(stmt) + strlen(WHOLE),
				     strcspn(sqlite3_sql(stmt) + strlen(WHOLE), " ")) ==
		       (int)table);
	status = step_on(s, stmt, call, more);
	return status == PCTL_OK && *more ? pctl_track_shown(pctl_chain_track(s), table, stmt, call)
					  : status;
}

pctl_status pctl_cursor_write(pctl_chain_state *s, const pctl_call *call, const char *sql,
			      const char *kinds, ...)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status;
	va_list args;
	int more, rc;

	assert(!sqlite3_get_autocommit(pctl_chain_db(s)));
	status = pctl_chain_statement(s, sql, call, &stmt);
	if (status != PCTL_OK)
		return status;
	va_start(args, kinds);
	rc = bind(s, stmt, sql, kinds, args);
	va_end(args);
	status = rc == SQLITE_OK ? pctl_cursor_next(s, stmt, call, &more)
				 : pctl_chain_internal_failure(s, "rows of the state", call);
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	if (strncmp(sql, "ROLLBACK TO ", 12) == 0)
		pctl_track_undone(pctl_chain_track(s));
	return status;
}

pctl_status pctl_cursor_amount(sqlite3_stmt *stmt, int i, const pctl_call *call, uint64_t *out)
{
	*out = 0;
	if (sqlite3_column_type(stmt, i) != SQLITE_BLOB ||
	    sqlite3_column_bytes(stmt, i) != (int)PCTL_AMOUNT_BYTES)
		return pctl_refuse(call, PC5719_LEDGER_BROKEN, "an amount of the state is %d bytes",
				   sqlite3_column_bytes(stmt, i));
	*out = pctl_amount_get(sqlite3_column_blob(stmt, i));
	return PCTL_OK;
}

void pctl_cursor_text(sqlite3_stmt *stmt, int i, char *out, size_t n)
{
	const char *text = (const char *)sqlite3_column_text(stmt, i);

	snprintf(out, n, "%s", text == NULL ? "" : text);
}

pctl_status pctl_cursor_height(uint64_t height, const pctl_call *call)
{
	return height <= PCTL_CHAIN_HEIGHT_MAX ? PCTL_OK
					       : pctl_refuse(call, PC5725_CHAIN_HEIGHT,
							     "height %" PRIu64 " is above %" PRIu64,
							     height, PCTL_CHAIN_HEIGHT_MAX);
}
