/* Pages: rows of numbered tables, which are only added, stand sixteen on a page, and a page has one leaf (SEMANTICS.md 8.7). A page that
 * a transaction adds to is read once, in its end. */
#include <string.h>

#include "chain/state/track_private.h"

int pctl_track_is_numbered(uint32_t table)
{
	uint32_t n_tables;

	return pctl_state_tables(&n_tables)[table].is_numbered != 0;
}

uint32_t pctl_track_n_rows(uint32_t table, const uint8_t *row, uint64_t n)
{
	uint32_t n_tables, count = 0;
	const pctl_state_table *of = &pctl_state_tables(&n_tables)[table];
	uint64_t at = 0, n_row;
	int64_t number;
	const uint8_t *one;

	if (!of->is_numbered)
		return 1;
	while (pctl_page_next(of, row, n, &at, &one, &n_row, &number))
		count++;
	return count;
}

/* ---- reading ------------------------------------------------------------------------------- */

pctl_status pctl_track_page_shown(pctl_track *t, uint32_t table, sqlite3_stmt *stmt,
				  const pctl_call *call)
{
	uint8_t leaf[PCTL_DIGEST_BYTES];
	pctl_seen *e;
	int is_known, found;
	pctl_status status;

	t->key.n = 0;
	pctl_page_key(&t->key, sqlite3_column_int64(stmt, 0));
	is_known = pctl_track_find_seen(t, table, &e, leaf);
	if (is_known < 0)
		return pctl_no_memory(call, "a state");
	if (is_known > 0)
		return PCTL_OK;
	status = pctl_track_present(t, table, (const uint8_t *)t->key.data, t->key.n, call, &t->row,
				    &found);
	if (status == PCTL_OK)
		status = pctl_track_check(t, table, (const uint8_t *)t->key.data, t->key.n, leaf,
					  found ? (const uint8_t *)t->row.data : NULL, t->row.n,
					  call);
	if (status == PCTL_OK)
		status = pctl_track_verdict(t, call);
	if (status == PCTL_OK && e != NULL)
		e->flags |= PCTL_SEEN_RIGHT;
	return status;
}

pctl_status pctl_track_page_missing(pctl_track *t, uint32_t table, const uint8_t *key, uint64_t n,
				    const pctl_call *call)
{
	pctl_str_buf page = PCTL_STR_BUF_INIT;
	uint64_t at = 0;
	pctl_row_value number;
	pctl_seen *e = NULL;
	pctl_status status = PCTL_OK;

	if (!pctl_row_next(key, n, &at, &number) || number.kind != 'i' || number.number < 1)
		return PCTL_OK;
	pctl_page_key(&page, number.number);
	if (page.failed)
		status = pctl_no_memory(call, "a state");
	else if (!sqlite3_get_autocommit(t->db) &&
		 (e = pctl_track_seen(t, table, (const uint8_t *)page.data, (uint32_t)page.n)) ==
			 NULL)
		status = pctl_no_memory(call, "a state");
	if (status == PCTL_OK && (e == NULL || e->flags == 0))
		status = pctl_track_look_now(t, table, (const uint8_t *)page.data, page.n, call);
	if (status == PCTL_OK && e != NULL && e->flags == 0)
		e->flags = PCTL_SEEN_RIGHT;
	pctl_str_drop(&page);
	return status;
}

/* ---- adding -------------------------------------------------------------------------------- */

int pctl_track_add_to_page(pctl_track *t, uint32_t table, int64_t number)
{
	pctl_seen *e;

	t->row.n = 0;
	pctl_page_key(&t->row, number);
	if (t->row.failed)
		return 0;
	if (number < 1) {
		pctl_track_forge(t, table, (const uint8_t *)t->row.data, t->row.n, "was changed");
		return 1;
	}
	e = pctl_track_seen(t, table, (const uint8_t *)t->row.data, (uint32_t)t->row.n);
	if (e == NULL)
		return 0;
	if (e->flags == 0)
		e->flags = PCTL_SEEN_UNSURE;
	if (e->first == 0 || number < e->first)
		e->first = number;
	e->flags |= PCTL_SEEN_CHANGED;
	return 1;
}

void pctl_track_split_page(pctl_seen *e, const uint8_t *now, uint64_t n)
{
	uint32_t n_tables;
	const pctl_state_table *of = &pctl_state_tables(&n_tables)[e->table];
	uint64_t at = 0, end = 0, n_row;
	int64_t number;
	const uint8_t *row;

	while (now != NULL && pctl_page_next(of, now, n, &at, &row, &n_row, &number) &&
	       number < e->first)
		end = at;
	e->before = end == 0 ? NULL : now;
	e->n_before = (uint32_t)end;
}
