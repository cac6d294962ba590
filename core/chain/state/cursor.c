/* Rows of the state behind cursor.h: preparing, binding, stepping. */
#include "chain/state/cursor.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "chain/state/amount.h"

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

static int bind(sqlite3_stmt *stmt, const char *kinds, va_list args)
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

static pctl_status open_bound(pctl_chain_state *s, const pctl_call *call, sqlite3_stmt **out,
			      const char *sql, const char *kinds, va_list args)
{
	*out = NULL;
	if (sqlite3_prepare_v2(pctl_chain_db(s), sql, -1, out, NULL) != SQLITE_OK ||
	    bind(*out, kinds, args) != SQLITE_OK)
		return pctl_chain_internal_failure(s, "rows of the state", call);
	return PCTL_OK;
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
	rc = bind(*out, kinds, args);
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

pctl_status pctl_cursor_next(pctl_chain_state *s, sqlite3_stmt *stmt, const pctl_call *call,
			     int *more)
{
	const int step = sqlite3_step(stmt);

	*more = step == SQLITE_ROW;
	return step == SQLITE_ROW || step == SQLITE_DONE
		       ? PCTL_OK
		       : pctl_chain_internal_failure(s, "rows of the state", call);
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
	rc = bind(stmt, kinds, args);
	va_end(args);
	status = rc == SQLITE_OK ? pctl_cursor_next(s, stmt, call, &more)
				 : pctl_chain_internal_failure(s, "rows of the state", call);
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
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
