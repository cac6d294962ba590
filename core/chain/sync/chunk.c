/* Chunks of a snapshot: their bytes, and holding one against the root. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/blocks/block_private.h"
#include "chain/sync/snapshot.h"
#include "foundation/base/bytes.h"

/* MAGIC, bits (2), prefix (32), siblings, rows (4), then each: table (1 and its name), length (4), bytes. */
static const char magic[16] = "pipectl rows 1\n";

pctl_status pctl_chunk_text(const pctl_chunk *chunk, const pctl_call *call, pctl_str_buf *out)
{
	uint32_t n_tables;
	const pctl_state_table *tables = pctl_state_tables(&n_tables);

	pctl_str_add_n(out, magic, sizeof(magic));
	pctl_str_add_be(out, chunk->n_bits, 2);
	pctl_str_add_n(out, (const char *)chunk->prefix, sizeof(chunk->prefix));
	if (chunk->n_bits != 0)
		pctl_str_add_n(out, (const char *)chunk->siblings,
			       (size_t)chunk->n_bits * PCTL_DIGEST_BYTES);
	pctl_str_add_be(out, chunk->n_rows, 4);
	for (uint32_t i = 0; i < chunk->n_rows; i++) {
		const char *name = tables[chunk->rows[i].table].name;

		pctl_str_add_be(out, strlen(name), 1);
		pctl_str_add(out, name);
		pctl_str_add_be(out, chunk->rows[i].n, 4);
		pctl_str_add_n(out, (const char *)chunk->rows[i].row, chunk->rows[i].n);
	}
	return out->failed ? pctl_no_memory(call, "a snapshot") : PCTL_OK;
}

/* ---- reading -------------------------------------------------------------------------------- */

typedef struct reading {
	const char *name;
	const uint8_t *at, *end;
	const pctl_call *call;
} reading;

static pctl_status lies(const reading *r, const char *what)
{
	return pctl_refuse(r->call, PC6147_SNAPSHOT_CHUNK, "%s: %s", r->name, what);
}

/* n bytes, or NULL. */
static const uint8_t *take(reading *r, uint64_t n)
{
	const uint8_t *at = r->at;

	if ((uint64_t)(r->end - r->at) < n)
		return NULL;
	r->at += n;
	return at;
}

static int take_number(reading *r, int n, uint32_t *out)
{
	const uint8_t *p = take(r, (uint64_t)n);

	*out = p == NULL ? 0 : (uint32_t)pctl_be_get(p, (uint64_t)n);
	return p != NULL;
}

static pctl_status read_row(reading *r, pctl_radix *t, pctl_chunk_row *out)
{
	uint32_t n_name, n_tables;
	uint64_t n_key;
	const uint8_t *name;
	const pctl_state_table *tables = pctl_state_tables(&n_tables);
	int table = -1;
	pctl_status status;

	if (take_number(r, 1, &n_name) && (name = take(r, n_name)) != NULL)
		table = pctl_state_table_find((const char *)name, n_name);
	if (table < 0 || tables[table].is_apart)
		return lies(r, "a row is of no table of the state");
	out->table = (uint32_t)table;
	if (!take_number(r, 4, &out->n) || (out->row = take(r, out->n)) == NULL ||
	    !pctl_row_fits(&tables[table], out->row, out->n, &n_key))
		return lies(r, "a row is not in the form of its table");
	out->leaf.is_gone = 0;
	status = pctl_row_leaf_key(t, tables[table].name, out->row, n_key, r->call, out->leaf.key);
	return status == PCTL_OK
		       ? pctl_row_leaf_value(t, out->row, out->n, r->call, out->leaf.value)
		       : status;
}

static pctl_status check(const reading *r, const pctl_chunk *c, pctl_radix *t, pctl_arena *a,
			 const uint8_t root[PCTL_DIGEST_BYTES])
{
	pctl_radix_leaf *leaves =
		pctl_arena_array(a, c->n_rows == 0 ? 1 : c->n_rows, sizeof(*leaves));
	uint8_t at[PCTL_DIGEST_BYTES], up[PCTL_DIGEST_BYTES];
	pctl_status status;

	if (leaves == NULL)
		return pctl_no_memory(r->call, "a snapshot");
	for (uint32_t i = 0; i < c->n_rows; i++) {
		leaves[i] = c->rows[i].leaf;
		if (!pctl_radix_shares(leaves[i].key, c->prefix, c->n_bits) ||
		    (i > 0 && memcmp(leaves[i - 1].key, leaves[i].key, PCTL_DIGEST_BYTES) >= 0))
			return lies(r, "its rows are not in order, or not in its range");
	}
	status = pctl_radix_hash_of(t, leaves, c->n_rows, c->n_bits, r->call, at);
	if (status == PCTL_OK)
		status = pctl_radix_climb(t, c->prefix, c->siblings, c->n_bits, at, r->call, up);
	if (status == PCTL_OK && memcmp(up, root, sizeof(up)) != 0)
		return lies(r, "its rows and siblings do not give the root of the tree");
	return status;
}

pctl_status pctl_chunk_read(const char *name, const uint8_t *bytes, uint64_t n,
			    const uint8_t root[PCTL_DIGEST_BYTES], pctl_radix *t, pctl_arena *a,
			    const pctl_call *call, pctl_chunk *out)
{
	reading r = {name, bytes, bytes + n, call};
	const uint8_t *p = take(&r, sizeof(magic));
	pctl_status status = PCTL_OK;

	memset(out, 0, sizeof(*out));
	if (p == NULL || memcmp(p, magic, sizeof(magic)) != 0 ||
	    !take_number(&r, 2, &out->n_bits) || out->n_bits > PCTL_RADIX_DEPTH ||
	    (p = take(&r, PCTL_DIGEST_BYTES)) == NULL)
		return lies(&r, "it does not begin as a chunk does");
	memcpy(out->prefix, p, sizeof(out->prefix));
	p = take(&r, (uint64_t)out->n_bits * PCTL_DIGEST_BYTES);
	if (p == NULL || !take_number(&r, 4, &out->n_rows) || out->n_rows > n / 16)
		return lies(&r, "it is cut");
	out->siblings = pctl_arena_array(a, out->n_bits + 1, PCTL_DIGEST_BYTES);
	out->rows = pctl_arena_array(a, out->n_rows + 1, sizeof(*out->rows));
	if (out->siblings == NULL || out->rows == NULL)
		return pctl_no_memory(call, "a snapshot");
	memcpy(out->siblings, p, (size_t)out->n_bits * PCTL_DIGEST_BYTES);
	for (uint32_t i = 0; status == PCTL_OK && i < out->n_rows; i++)
		status = read_row(&r, t, &out->rows[i]);
	if (status == PCTL_OK && r.at != r.end)
		return lies(&r, "something stands behind its last row");
	return status == PCTL_OK ? check(&r, out, t, a, root) : status;
}

/* ---- what rows ask for ---------------------------------------------------------------------- */

static int value_at(const uint8_t *row, uint64_t n, uint32_t column, pctl_row_value *out)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i <= column; i++)
		if (!pctl_row_next(row, n, &at, out))
			return 0;
	return 1;
}

static pctl_status job_needs(const pctl_row_value *message, pctl_need_visit visit, void *ctx,
			     const pctl_call *call)
{
	pctl_request r;
	const char *reference;
	uint32_t group, binding;
	pctl_status status = pctl_request_decode(message->data, message->n, call, &r);

	if (status == PCTL_OK && r.kind == PCTL_MSG_EXECUTE) {
		const pctl_msg_execute *m = &r.as.execute;

		if (m->uniform_cid[0] != '\0')
			status = visit(ctx, m->uniform_cid);
		for (uint32_t i = 0;
		     status == PCTL_OK &&
		     (reference = pctl_block_reference(m, i, &group, &binding)) != NULL;
		     i++)
			if (reference[0] != '\0')
				status = visit(ctx, reference);
	}
	pctl_request_destroy(&r);
	return status;
}

/* Columns are found by their names, so that the schema stays their one place. */
static int column_of(const pctl_state_table *t, const char *word, uint32_t *out)
{
	const char *name;
	char kind;
	int n;

	for (*out = 0; pctl_state_column(t, *out, &name, &n, &kind); ++*out)
		if ((size_t)n == strlen(word) && memcmp(name, word, (size_t)n) == 0)
			return 1;
	return 0;
}

pctl_status pctl_row_needs(uint32_t table, const uint8_t *row, uint64_t n, pctl_need_visit visit,
			   void *ctx, const pctl_call *call)
{
	uint32_t n_tables, column;
	const pctl_state_table *t = &pctl_state_tables(&n_tables)[table];
	char text[PCTL_CID_TEXT_SIZE];
	pctl_row_value v;

	/* What names bytes that are state (SEMANTICS.md 8.8), and in which column. */
	static const char *const names[][2] = {{"shaders", "cid"},
					       {"contracts", "cid"},
					       {"blobs", "cid"},
					       {"jobs", "output"},
					       {"epochs", "graph"}};
	pctl_status status = PCTL_OK;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && status == PCTL_OK; i++) {
		if (strcmp(t->name, names[i][0]) != 0 || !column_of(t, names[i][1], &column) ||
		    !value_at(row, n, column, &v) || v.n == 0 || v.n >= sizeof(text))
			continue;
		memcpy(text, v.data, v.n);
		text[v.n] = '\0';
		status = visit(ctx, text);
	}
	if (status != PCTL_OK || strcmp(t->name, "jobs") != 0 || !column_of(t, "status", &column) ||
	    !value_at(row, n, column, &v) || v.number != PCTL_JOB_PENDING ||
	    !column_of(t, "message", &column) || !value_at(row, n, column, &v))
		return status;
	return job_needs(&v, visit, ctx, call);
}
