/* Making proofs of rows: the key from words, the way through the tree, the record and its commit from the history. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/state/track.h"
#include "chain/sync/rowproof.h"
#include "foundation/base/hex.h"
#include "foundation/base/num.h"

/* ---- the key -------------------------------------------------------------------------------- */

static pctl_status no_table(const char *name, const pctl_call *call)
{
	uint32_t n;
	const pctl_state_table *tables = pctl_state_tables(&n);
	pctl_str_buf names = PCTL_STR_BUF_INIT;
	pctl_status status;

	for (uint32_t i = 0; i < n; i++)
		if (!tables[i].is_apart)
			pctl_str_addf(&names, "%s%s", names.n == 0 ? "" : ", ", tables[i].name);
	status = pctl_refuse(call, PC6142_TREE_KEY, "\"%.80s\" is no table of the state: %s", name,
			     names.failed ? "" : names.data);
	pctl_str_drop(&names);
	return status;
}

/* One part of a key as somebody types it. 0: it is none. */
static int add_word(char kind, const char *word, pctl_str_buf *out)
{
	const size_t n = strlen(word);
	pctl_row_value v = {.kind = kind, .data = (const uint8_t *)word, .n = (uint32_t)n};
	uint8_t bytes[256];
	uint64_t number;

	if (kind == 'i') {
		if (!pctl_num_parse_u64(word, n, &number) || number > INT64_MAX)
			return 0;
		v.number = (int64_t)number;
	} else if (kind == 'b') {
		if (n > 2 * sizeof(bytes) || n % 2 != 0 || !pctl_hex_is(word, n) ||
		    !pctl_hex_parse(word, n / 2, bytes))
			return 0;
		v.data = bytes;
		v.n = (uint32_t)(n / 2);
	}
	pctl_row_add(out, &v);
	return 1;
}

/* Of a row of a numbered table: the key of its page. */
static pctl_status spell_key(const pctl_state_table *t, const char *const *words, uint32_t n,
			     const pctl_call *call, pctl_str_buf *out)
{
	const uint32_t keys = pctl_state_table_keys(t);
	const char *name;
	pctl_row_value number;
	uint64_t at = 0;
	char kind;
	int n_name;

	if (n != keys)
		return pctl_refuse(call, PC6142_TREE_KEY,
				   "the key of table %s is %" PRIu32 " words (%s), not %" PRIu32,
				   t->name, keys, t->key, n);
	for (uint32_t i = 0; i < n; i++)
		if (!pctl_state_column(t, i, &name, &n_name, &kind) ||
		    !add_word(kind, words[i], out))
			return pctl_refuse(call, PC6142_TREE_KEY,
					   "\"%.80s\" is not a part of a key of table %s (%s): %s",
					   words[i], t->name, t->key,
					   kind == 'i' ? "a number" : "hex digits");
	if (t->is_numbered && pctl_row_next((const uint8_t *)out->data, out->n, &at, &number)) {
		out->n = 0;
		pctl_page_key(out, number.number);
	}
	return out->failed ? pctl_no_memory(call, "a proof") : PCTL_OK;
}

/* ---- the record ----------------------------------------------------------------------------- */

/* What a record and its commit are to whoever trusts an id: header, digests and objects. Released with drop_block. */
typedef struct block {
	pctl_block_record record;
	void *commit, *entries;
} block;

static void drop_block(block *b)
{
	pctl_block_record_clear(&b->record);
	free(b->commit);
	free(b->entries);
}

static pctl_status read_block(pctl_gitlog *log, const pctl_gitlog_oid *commit,
			      const pctl_call *call, block *b, pctl_row_proof *out)
{
	pctl_block_header header;
	uint64_t n_commit, n_entries;
	pctl_cid cid;
	pctl_status status = pctl_block_record_read(log, commit, call, &b->record, &header);

	if (status == PCTL_OK)
		status = pctl_gitlog_objects(log, commit, call, &b->commit, &n_commit, &b->entries,
					     &n_entries);
	if (status != PCTL_OK)
		return status;
	out->height = header.height;
	out->header = (pctl_proof_bytes){(uint8_t *)b->record.text[PCTL_BLOCK_HEADER],
					 (uint32_t)b->record.n_bytes[PCTL_BLOCK_HEADER], 0};
	out->commit = (pctl_proof_bytes){b->commit, (uint32_t)n_commit, 0};
	out->entries = (pctl_proof_bytes){b->entries, (uint32_t)n_entries, 0};
	for (uint32_t i = PCTL_BLOCK_HEADER + 1; status == PCTL_OK && i < PCTL_BLOCK_FILES; i++) {
		if (b->record.text[i] == NULL)
			continue;
		status = pctl_cid_of(b->record.text[i], b->record.n_bytes[i], call, &cid);
		memcpy(out->files[out->n_files++].digest, cid.digest, PCTL_DIGEST_BYTES);
	}
	return status;
}

/* ---- the row -------------------------------------------------------------------------------- */

static pctl_status not_the_leaf(uint32_t table, const pctl_proof_bytes *key, const pctl_call *call)
{
	char text[PCTL_ROW_TEXT_SIZE];
	uint32_t n;

	return pctl_refuse(
		call, PC6140_TREE_ROW, "%s: the row is not that of its leaf",
		pctl_row_key_text(&pctl_state_tables(&n)[table], key->data, key->n, text));
}

/* path lives as long as the proof. */
static pctl_status read_row(pctl_track *t, uint32_t table, pctl_radix_path *path,
			    const pctl_call *call, pctl_row_proof *out)
{
	uint8_t key[PCTL_DIGEST_BYTES], value[PCTL_DIGEST_BYTES];
	uint64_t n = 0;
	int is_here;
	pctl_status status = pctl_row_leaf_key(pctl_track_tree(t), out->table, out->key.data,
					       out->key.n, call, key);

	if (status == PCTL_OK)
		status = pctl_radix_path_to(pctl_track_tree(t), key, call, path);
	if (status == PCTL_OK)
		status = pctl_track_row(t, table, out->key.data, out->key.n, call,
					&out->row[0].data, &n);
	if (status != PCTL_OK)
		return status;
	out->row[0].n = (uint32_t)n;
	out->n_row = out->row[0].data != NULL;
	out->siblings = (pctl_proof_digest *)path->siblings;
	out->n_siblings = path->n;
	is_here = path->has_leaf && memcmp(path->leaf.key, key, sizeof(key)) == 0;
	if (path->has_leaf && !is_here) {
		out->n_other = 1;
		memcpy(out->other[0].key, path->leaf.key, sizeof(key));
		memcpy(out->other[0].value, path->leaf.value, sizeof(value));
	}
	if (out->n_row != 0 && is_here)
		status = pctl_row_leaf_value(pctl_track_tree(t), out->row[0].data, n, call, value);
	if (status == PCTL_OK && ((out->n_row != 0) != is_here ||
				  (is_here && memcmp(value, path->leaf.value, sizeof(value)) != 0)))
		return not_the_leaf(table, &out->key, call);
	return status;
}

static pctl_status prove(pctl_chain *c, uint32_t table, const pctl_str_buf *key,
			 const pctl_call *call, pctl_str_buf *out)
{
	pctl_track *t = pctl_chain_track(pctl_cursor(c));
	pctl_row_proof p = {.key = {(uint8_t *)key->data, (uint32_t)key->n, 0}};
	pctl_radix_path path;
	pctl_block_row last;
	block b = {.commit = NULL};
	uint32_t n;
	pctl_status status = pctl_blocks_last(pctl_cursor(c), call, &last);

	snprintf(p.table, sizeof(p.table), "%s", pctl_state_tables(&n)[table].name);
	if (status == PCTL_OK)
		status = pctl_blocks_check_tree(c, &last, call);
	if (status == PCTL_OK)
		status = read_block(pctl_chain_log(c), &last.commit, call, &b, &p);
	if (status == PCTL_OK)
		status = read_row(t, table, &path, call, &p);
	if (status == PCTL_OK)
		status = pctl_record_put(&pctl_row_proof_type, &p, out, "a proof", call);
	free(p.row[0].data);
	drop_block(&b);
	return status;
}

pctl_status pctl_row_prove(pctl_chain *c, const char *table, const char *const *words,
			   uint32_t n_words, const pctl_call *call, pctl_str_buf *out)
{
	const int found = pctl_state_table_find(table, strlen(table));
	uint32_t n;
	const pctl_state_table *tables = pctl_state_tables(&n);
	sqlite3 *db = pctl_chain_db(pctl_cursor(c));
	const int is_alone = sqlite3_get_autocommit(db) != 0; /* else a transaction is open */
	pctl_str_buf key = PCTL_STR_BUF_INIT;
	pctl_status status;

	if (found < 0 || tables[found].is_apart)
		return no_table(table, call);
	status = is_alone ? pctl_track_look(pctl_chain_track(pctl_cursor(c)), call) : PCTL_OK;
	if (status != PCTL_OK)
		return status;
	if (!pctl_track_is_on(pctl_chain_track(pctl_cursor(c))) || pctl_chain_log(c) == NULL)
		return pctl_refuse(call, PC6143_TREE_NONE,
				   "no block has ended under version 2 of "
				   "the rules");
	status = spell_key(&tables[found], words, n_words, call, &key);
	/* One look at everything, whatever others write meanwhile. */
	if (status == PCTL_OK && is_alone &&
	    sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
		status = pctl_chain_internal_failure(pctl_cursor(c), "a proof", call);
	if (status == PCTL_OK) {
		pctl_radix_forget(pctl_track_tree(pctl_chain_track(pctl_cursor(c))));
		status = prove(c, (uint32_t)found, &key, call, out);
		if (is_alone)
			sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	}
	pctl_str_drop(&key);
	return status;
}

static void add_row(const pctl_state_table *t, const uint8_t *row, uint64_t n, pctl_str_buf *out)
{
	const char *name;
	uint64_t at = 0;
	pctl_row_value v;
	char kind;
	int n_name;

	for (uint32_t i = 0; pctl_state_column(t, i, &name, &n_name, &kind); i++) {
		if (!pctl_row_next(row, n, &at, &v))
			return;
		pctl_str_addf(out, "%.*s ", n_name, name);
		if (v.kind == 'i')
			pctl_str_addf(out, "%" PRId64, v.number);
		else if (v.kind == 't')
			pctl_str_add_n(out, (const char *)v.data, v.n);
		else
			pctl_hex_add(out, v.data, v.n);
		pctl_str_add(out, "\n");
	}
}

void pctl_row_text(const pctl_state_table *t, const uint8_t *row, uint64_t n, pctl_str_buf *out)
{
	const uint8_t *one;
	uint64_t at = 0, n_one;
	int64_t number;

	if (!t->is_numbered)
		add_row(t, row, n, out);
	while (t->is_numbered && pctl_page_next(t, row, n, &at, &one, &n_one, &number))
		add_row(t, one, n_one, out);
}
