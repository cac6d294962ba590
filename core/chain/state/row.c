/* Writing and reading the canonical bytes of rows (row.h). */
#include "chain/state/row.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char key_domain[] = "pipectl key 1", row_domain[] = "pipectl row 1";

/* ---- writing ------------------------------------------------------------------------------- */

void pctl_row_add(pctl_str_buf *out, const pctl_row_value *v)
{
	char head[9] = {v->kind};

	if (v->kind == 'i') {
		for (int i = 0; i < 8; i++)
			head[1 + i] = (char)((uint64_t)v->number >> (56 - 8 * i));
		pctl_str_add_n(out, head, 9);
		return;
	}
	for (int i = 0; i < 4; i++)
		head[1 + i] = (char)(v->n >> (24 - 8 * i));
	pctl_str_add_n(out, head, 5);
	if (v->n != 0)
		pctl_str_add_n(out, (const char *)v->data, v->n);
}

void pctl_row_add_column(pctl_str_buf *out, sqlite3_stmt *stmt, int column)
{
	const int type = sqlite3_column_type(stmt, column);
	pctl_row_value v = {.kind = type == SQLITE_INTEGER ? 'i' : type == SQLITE_TEXT ? 't' : 'b'};

	if (type == SQLITE_INTEGER) {
		v.number = sqlite3_column_int64(stmt, column);
	} else if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
		v.data = sqlite3_column_blob(stmt, column);
		v.n = (uint32_t)sqlite3_column_bytes(stmt, column);
	}
	pctl_row_add(out, &v);
}

void pctl_row_add_value(pctl_str_buf *out, sqlite3_value *value)
{
	const int type = sqlite3_value_type(value);
	pctl_row_value v = {.kind = type == SQLITE_INTEGER ? 'i' : type == SQLITE_TEXT ? 't' : 'b'};

	if (type == SQLITE_INTEGER) {
		v.number = sqlite3_value_int64(value);
	} else if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
		v.data = sqlite3_value_blob(value);
		v.n = (uint32_t)sqlite3_value_bytes(value);
	}
	pctl_row_add(out, &v);
}

/* ---- reading ------------------------------------------------------------------------------- */

static uint64_t number(const uint8_t *p, int n)
{
	uint64_t v = 0;

	for (int i = 0; i < n; i++)
		v = v << 8 | p[i];
	return v;
}

int pctl_row_next(const uint8_t *bytes, uint64_t n, uint64_t *at, pctl_row_value *out)
{
	const uint64_t left = n - *at;
	const uint8_t *p = bytes + *at;

	*out = (pctl_row_value){.kind = '\0'};
	if (left < 5 || (p[0] != 'i' && p[0] != 't' && p[0] != 'b'))
		return 0;
	out->kind = (char)p[0];
	if (p[0] == 'i') {
		if (left < 9)
			return 0;
		out->number = (int64_t)number(p + 1, 8);
		*at += 9;
		return 1;
	}
	out->n = (uint32_t)number(p + 1, 4);
	out->data = p + 5;
	if (out->n > INT32_MAX || left - 5 < out->n)
		return 0;
	*at += 5 + (uint64_t)out->n;
	return 1;
}

uint32_t pctl_row_bind(sqlite3_stmt *stmt, const uint8_t *bytes, uint64_t n)
{
	uint64_t at = 0;
	uint32_t count = 0;
	pctl_row_value v;

	while (at < n) {
		int rc;

		if (!pctl_row_next(bytes, n, &at, &v))
			return 0;
		count++;
		if (v.kind == 'i')
			rc = sqlite3_bind_int64(stmt, (int)count, v.number);
		else if (v.kind == 't')
			rc = sqlite3_bind_text(stmt, (int)count, (const char *)v.data, (int)v.n,
					       SQLITE_STATIC);
		else
			rc = v.n == 0 ? sqlite3_bind_zeroblob(stmt, (int)count, 0)
				      : sqlite3_bind_blob(stmt, (int)count, v.data, (int)v.n,
							  SQLITE_STATIC);
		if (rc != SQLITE_OK)
			return 0;
	}
	return count;
}

/* ---- pages --------------------------------------------------------------------------------- */

#define PAGE_KEY_BYTES 9u

void pctl_page_key(pctl_str_buf *out, int64_t number)
{
	const pctl_row_value page = {.kind = 'i', .number = pctl_page_of(number)};

	pctl_row_add(out, &page);
}

int pctl_page_next(const pctl_state_table *t, const uint8_t *page, uint64_t n, uint64_t *at,
		   const uint8_t **row, uint64_t *n_row, int64_t *number)
{
	uint64_t from = *at == 0 ? PAGE_KEY_BYTES : *at, end = from;
	const char *name;
	pctl_row_value v;
	int n_name;
	char kind;

	if (from >= n)
		return 0;
	for (uint32_t i = 0; pctl_state_column(t, i, &name, &n_name, &kind); i++) {
		if (!pctl_row_next(page, n, &end, &v) || v.kind != kind)
			return 0;
		if (i == 0)
			*number = v.number;
	}
	*row = page + from;
	*n_row = end - from;
	*at = end;
	return 1;
}

static int page_fits(const pctl_state_table *t, const uint8_t *bytes, uint64_t n, uint64_t *n_key)
{
	uint64_t at = 0, n_row;
	int64_t number, last = 0;
	const uint8_t *row;
	pctl_row_value page;

	if (!pctl_row_next(bytes, n, &at, &page) || page.kind != 'i' || page.number < 0)
		return 0;
	*n_key = at;
	for (at = 0; pctl_page_next(t, bytes, n, &at, &row, &n_row, &number); last = number)
		if (number <= last || pctl_page_of(number) != page.number)
			return 0;
	return at == n && last > 0;
}

int pctl_row_fits(const pctl_state_table *t, const uint8_t *bytes, uint64_t n, uint64_t *n_key)
{
	const uint32_t keys = pctl_state_table_keys(t);
	const char *name;
	uint64_t at = 0;
	pctl_row_value v;
	int n_name;
	char kind;

	*n_key = 0;
	if (t->is_numbered)
		return page_fits(t, bytes, n, n_key);
	for (uint32_t i = 0; pctl_state_column(t, i, &name, &n_name, &kind); i++) {
		if (!pctl_row_next(bytes, n, &at, &v) || v.kind != kind)
			return 0;
		if (i + 1 == keys)
			*n_key = at;
	}
	return at == n && *n_key != 0;
}

char *pctl_row_key_text(const pctl_state_table *t, const uint8_t *key, uint64_t n,
			char out[PCTL_ROW_TEXT_SIZE])
{
	size_t room = (size_t)snprintf(out, PCTL_ROW_TEXT_SIZE, "table %s, %s", t->name,
				       t->is_numbered ? "page" : "key");
	uint64_t at = 0;
	pctl_row_value v;

	while (at < n && pctl_row_next(key, n, &at, &v) && room + 80 < PCTL_ROW_TEXT_SIZE) {
		if (v.kind == 'i')
			room += (size_t)snprintf(out + room, PCTL_ROW_TEXT_SIZE - room, " %" PRId64,
						 v.number);
		else if (v.kind == 't')
			room += (size_t)snprintf(out + room, PCTL_ROW_TEXT_SIZE - room, " \"%.*s\"",
						 (int)(v.n < 70 ? v.n : 70), (const char *)v.data);
		else {
			out[room++] = ' ';
			for (uint32_t i = 0; i < v.n && i < 35; i++)
				room += (size_t)snprintf(out + room, PCTL_ROW_TEXT_SIZE - room,
							 "%02x", v.data[i]);
		}
	}
	return out;
}

/* ---- leaves -------------------------------------------------------------------------------- */

pctl_status pctl_row_leaf_key(pctl_radix *t, const char *table, const uint8_t *key, uint64_t n,
			      const pctl_call *call, uint8_t out[PCTL_DIGEST_BYTES])
{
	const pctl_radix_part parts[] = {
		{key_domain, sizeof(key_domain)}, {table, strlen(table) + 1}, {key, n}};

	return pctl_radix_hash(t, parts, 3, call, out);
}

pctl_status pctl_row_leaf_value(pctl_radix *t, const uint8_t *row, uint64_t n,
				const pctl_call *call, uint8_t out[PCTL_DIGEST_BYTES])
{
	const pctl_radix_part parts[] = {{row_domain, sizeof(row_domain)}, {row, n}};

	return pctl_radix_hash(t, parts, 2, call, out);
}
