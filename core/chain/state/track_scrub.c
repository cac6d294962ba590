/* Going over all rows of a state and all nodes of its tree. */
#include <stdlib.h>
#include <string.h>

#include "chain/state/track_private.h"

static int scrub_row(void *ctx, uint32_t table, const uint8_t *row, uint64_t n)
{
	pctl_track_leaves *l = ctx;

	if (pctl_track_gather(l, table, row, n))
		return 1;
	l->status = pctl_track_check(l->t, table, row, l->n_key, l->list.items[l->list.n - 1].key,
				     row, n, l->call);
	if (l->status == PCTL_OK)
		l->status = pctl_track_verdict(l->t, l->call);
	return l->status != PCTL_OK;
}

static void lost(pctl_track_leaves *l, const uint8_t *key)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1];

	l->status = pctl_refuse(l->call, PC6140_TREE_ROW,
				"a row was removed: the one whose leaf in the tree has the key %s",
				pctl_digest_hex(key, hex));
}

/* A leaf of the tree whose row is gone, and that is not known to be. */
static int scrub_leaf(void *ctx, const pctl_radix_leaf *leaf)
{
	pctl_track_leaves *l = ctx;
	uint8_t value[PCTL_DIGEST_BYTES];
	int found;

	if (bsearch(leaf, l->list.items, l->list.n, sizeof(*leaf), pctl_radix_by_key) != NULL)
		return 0;
	l->status = pctl_track_expected(l->t, 0, leaf->key, l->call, &found, value);
	if (l->status == PCTL_OK && found)
		lost(l, leaf->key);
	return l->status != PCTL_OK;
}

/* Rows of tree_open that must be there, and which are named. */
static pctl_status scrub_open(pctl_track_leaves *l)
{
	sqlite3_stmt *stmt = NULL;
	int step = SQLITE_DONE;
	pctl_status status = pctl_track_prepare(
		l->t, &stmt, "SELECT leaf, name, key FROM main.tree_open WHERE now <> x''",
		l->call);

	while (status == PCTL_OK && (step = sqlite3_step(stmt)) == SQLITE_ROW) {
		const int table = pctl_state_table_find((const char *)sqlite3_column_text(stmt, 1),
							(size_t)sqlite3_column_bytes(stmt, 1));
		pctl_radix_leaf leaf = {.is_gone = 0};

		if (table < 0 || sqlite3_column_bytes(stmt, 0) != (int)PCTL_DIGEST_BYTES) {
			status = pctl_refuse(l->call, PC6141_TREE_NODE,
					     "a row of tree_open is not in form");
			break;
		}
		memcpy(leaf.key, sqlite3_column_blob(stmt, 0), PCTL_DIGEST_BYTES);
		if (bsearch(&leaf, l->list.items, l->list.n, sizeof(leaf), pctl_radix_by_key) ==
		    NULL) {
			pctl_track_forge(l->t, (uint32_t)table, sqlite3_column_blob(stmt, 2),
					 (uint64_t)sqlite3_column_bytes(stmt, 2), "was removed");
			status = pctl_track_verdict(l->t, l->call);
		}
	}
	if (status == PCTL_OK && step != SQLITE_DONE)
		status = pctl_track_trouble(l->t, l->call);
	sqlite3_finalize(stmt);
	return status;
}

pctl_status pctl_track_scrub(pctl_track *t, const pctl_call *call, uint64_t *rows_out)
{
	uint32_t n;
	pctl_track_leaves l = {.t = t, .call = call};
	int is_over = 0;
	pctl_status status = t->is_on ? PCTL_OK
				      : pctl_refuse(call, PC6143_TREE_NONE,
						    "the chain is under version 1 of the rules");

	(void)pctl_state_tables(&n);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		status = pctl_track_walk(t, i, scrub_row, &l, call, &is_over);
		if (status == PCTL_OK)
			status = l.status;
	}
	if (l.list.n > 1)
		qsort(l.list.items, l.list.n, sizeof(*l.list.items), pctl_radix_by_key);
	if (status == PCTL_OK)
		status = scrub_open(&l);
	if (status == PCTL_OK)
		status = pctl_radix_walk(t->tree, scrub_leaf, &l, call);
	if (status == PCTL_OK)
		status = l.status;
	*rows_out = l.rows;
	free(l.list.items);
	return status;
}
