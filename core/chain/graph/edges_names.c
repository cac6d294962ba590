/* The dictionary behind edges_private.h: rows of names, and what of them was used lately in this transaction. */
#include <inttypes.h>
#include <string.h>

#include "chain/graph/edges_private.h"
#include "chain/state/cursor.h"
#include "chain/state/tables.h"
#include "foundation/base/utf8.h"
#include "foundation/base/hash.h"

#define WORD_CID 'c'
#define WORD_JOB 'j'
#define WORD_TEXT 't'
#define JOB_PREFIX "job:"
#define JOB_PREFIX_CHARS (sizeof(JOB_PREFIX) - 1)
#define N_RECENT 4096u /* a power of two */

/* ---- short forms -------------------------------------------------------------------------- */

static uint64_t mark_of(const uint8_t *digest)
{
	uint64_t mark = 0;

	for (int i = 0; i < 6; i++)
		mark = mark << 8 | digest[i];
	return mark;
}

static pctl_status spell_text(const char *name, size_t n, const pctl_call *call, pctl_word *out)
{
	const size_t bad = pctl_utf8_bad(name, n, PCTL_UTF8_PLAIN);
	pctl_cid digest;
	pctl_status status;

	if (n == 0 || n > PCTL_EDGE_NAME_MAX)
		return pctl_refuse(call, PC5880_EDGE_NAME,
				   "the name of a thing has 1 to %u bytes, not %zu",
				   PCTL_EDGE_NAME_MAX, n);
	if (bad != n)
		return pctl_refuse(call, PC5880_EDGE_NAME,
				   "byte %zu of the name of a thing is no plain UTF-8 text", bad);
	status = pctl_cid_of(name, n, call, &digest);
	out->bytes[0] = WORD_TEXT;
	memcpy(out->bytes + 1, name, n);
	out->n = 1 + (uint32_t)n;
	out->mark = mark_of(digest.digest);
	return status;
}

pctl_status pctl_word_spell(const char *text, const pctl_call *call, pctl_word *out)
{
	const int is_job = strncmp(text, JOB_PREFIX, JOB_PREFIX_CHARS) == 0;
	pctl_cid cid;

	out->text = text;
	out->n = 0;
	out->number = 0;
	if (!is_job && !pctl_cid_parse(text, &cid))
		return spell_text(text, strlen(text), call, out);
	if (is_job && !pctl_digest_parse_hex(text + JOB_PREFIX_CHARS, cid.digest))
		return pctl_refuse(call, PC5880_EDGE_NAME, "\"%.80s\" is not the name of a job",
				   text);
	out->bytes[0] = is_job ? WORD_JOB : WORD_CID;
	memcpy(out->bytes + 1, cid.digest, PCTL_DIGEST_BYTES);
	out->n = 1 + PCTL_DIGEST_BYTES;
	out->mark = mark_of(cid.digest);
	return PCTL_OK;
}

/* The text of a row; 1 on success. */
static int unspell(const uint8_t *bytes, int n, char out[PCTL_EDGE_NAME_MAX + 1])
{
	pctl_cid cid;

	out[0] = '\0';
	if (n < 2 || n > 1 + (int)PCTL_EDGE_NAME_MAX)
		return 0;
	if (bytes[0] == WORD_TEXT) {
		memcpy(out, bytes + 1, (size_t)n - 1);
		out[n - 1] = '\0';
		return 1;
	}
	if (n != 1 + (int)PCTL_DIGEST_BYTES || (bytes[0] != WORD_CID && bytes[0] != WORD_JOB))
		return 0;
	memcpy(cid.digest, bytes + 1, PCTL_DIGEST_BYTES);
	if (bytes[0] == WORD_CID) {
		pctl_cid_format(&cid, out);
		return 1;
	}
	memcpy(out, JOB_PREFIX, JOB_PREFIX_CHARS);
	pctl_digest_hex(cid.digest, out + JOB_PREFIX_CHARS);
	return 1;
}

/* ---- rows --------------------------------------------------------------------------------- */

pctl_status pctl_word_find(pctl_chain_state *s, pctl_word *w, const pctl_call *call)
{
	sqlite3_stmt *stmt;
	pctl_status status =
		pctl_chain_statement(s, "SELECT * FROM main.names WHERE mark = ?", call, &stmt);
	int more = 1;

	w->number = 0;
	if (status != PCTL_OK)
		return status;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)w->mark);
	while (status == PCTL_OK && more && w->number == 0) {
		status = pctl_cursor_row(s, stmt, PCTL_STATE_names, call, &more);
		if (status == PCTL_OK && more && sqlite3_column_bytes(stmt, 2) == (int)w->n &&
		    memcmp(sqlite3_column_blob(stmt, 2), w->bytes, w->n) == 0)
			w->number = (uint64_t)sqlite3_column_int64(stmt, 0);
	}
	sqlite3_reset(stmt);
	return status;
}

static pctl_status add_word(pctl_chain_state *s, pctl_word *w, const pctl_call *call)
{
	sqlite3_stmt *stmt;
	pctl_status status = pctl_chain_statement(s, "INSERT INTO names (mark, name) VALUES (?, ?)",
						  call, &stmt);
	int more;

	if (status != PCTL_OK)
		return status;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)w->mark);
	sqlite3_bind_blob(stmt, 2, w->bytes, (int)w->n, SQLITE_STATIC);
	status = pctl_cursor_next(s, stmt, call, &more);
	sqlite3_reset(stmt);
	if (status == PCTL_OK)
		w->number = (uint64_t)sqlite3_last_insert_rowid(pctl_chain_db(s));
	return status;
}

pctl_status pctl_word_text(pctl_chain_state *s, uint64_t number, const pctl_call *call,
			   char out[PCTL_EDGE_NAME_MAX + 1])
{
	sqlite3_stmt *stmt;
	pctl_status status;
	int more;

	out[0] = '\0';
	if (number == 0)
		return PCTL_OK;
	status = pctl_chain_statement(s, "SELECT * FROM main.names WHERE id = ?", call, &stmt);
	if (status != PCTL_OK)
		return status;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)number);
	status = pctl_cursor_row(s, stmt, PCTL_STATE_names, call, &more);
	if (status == PCTL_OK &&
	    (!more || !unspell(sqlite3_column_blob(stmt, 2), sqlite3_column_bytes(stmt, 2), out)))
		status = pctl_refuse(call, PC5882_EDGE_BROKEN, "name %" PRIu64 " of the graph %s",
				     number, more ? "is not in form" : "is missing");
	sqlite3_reset(stmt);
	return status;
}

/* ---- what was used lately ----------------------------------------------------------------- */

/*
 * An entry holds while `stamp` is the present one. The stamp goes up with every transaction, and when the last number
 * of the table is not the one that was there after the last use: then a part of the transaction was undone.
 */
typedef struct recent {
	uint64_t stamp, epoch, last;
	struct {
		uint64_t stamp, number;
		char text[PCTL_EDGE_NAME_MAX + 1];
	} entries[N_RECENT];
} recent;

static uint32_t slot_of(const char *text)
{
	const uint64_t h = pctl_fnv64_text(PCTL_FNV64, text);

	return (uint32_t)(h ^ h >> 32) & (N_RECENT - 1);
}

static pctl_status open_recent(pctl_chain_state *s, const pctl_call *call, recent **out)
{
	uint64_t epoch, last = 0;
	recent *r = pctl_chain_memory(s, PCTL_MEMORY_EDGES, sizeof(*r), &epoch);
	sqlite3_stmt *stmt;
	pctl_status status;
	int more;

	*out = r;
	if (r == NULL)
		return pctl_no_memory(call, "names of the graph");
	status = pctl_chain_statement(s, "SELECT max(id) FROM names", call, &stmt);
	if (status != PCTL_OK)
		return status;
	status = pctl_cursor_next(s, stmt, call, &more);
	if (status == PCTL_OK && more)
		last = (uint64_t)sqlite3_column_int64(stmt, 0);
	sqlite3_reset(stmt);
	if (r->epoch != epoch || r->last != last || r->stamp == 0)
		r->stamp++;
	r->epoch = epoch;
	r->last = last;
	return status;
}

static void remember(recent *r, const pctl_word *w)
{
	const uint32_t slot = slot_of(w->text);

	r->entries[slot].stamp = r->stamp;
	r->entries[slot].number = w->number;
	memcpy(r->entries[slot].text, w->text, strlen(w->text) + 1);
	if (w->number > r->last)
		r->last = w->number;
}

static pctl_status check_word(recent *r, const char *text, int may_be_empty, const pctl_call *call,
			      pctl_word *out)
{
	const uint32_t slot = slot_of(text);

	out->text = text;
	out->n = 0;
	out->number = 0;
	if (may_be_empty && text[0] == '\0')
		return PCTL_OK;
	if (r->entries[slot].stamp != r->stamp || strcmp(r->entries[slot].text, text) != 0)
		return pctl_word_spell(text, call, out);
	out->number = r->entries[slot].number;
	return PCTL_OK;
}

pctl_status pctl_words_begin(pctl_chain_state *s, const pctl_call *call)
{
	recent *r;

	return open_recent(s, call, &r);
}

pctl_status pctl_words_check(pctl_chain_state *s, const char *const *texts, uint32_t n,
			     uint32_t may_be_empty, const pctl_call *call, pctl_word *out)
{
	uint64_t epoch;
	recent *r = pctl_chain_memory(s, PCTL_MEMORY_EDGES, sizeof(*r), &epoch);
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		status = check_word(r, texts[i], (may_be_empty >> i & 1) != 0, call, &out[i]);
	return status;
}

pctl_status pctl_words_number(pctl_chain_state *s, pctl_word *words, uint32_t n,
			      const pctl_call *call)
{
	uint64_t epoch;
	recent *r = pctl_chain_memory(s, PCTL_MEMORY_EDGES, sizeof(*r), &epoch);
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		if (words[i].n == 0)
			continue; /* none, or known */
		status = pctl_word_find(s, &words[i], call);
		if (status == PCTL_OK && words[i].number == 0)
			status = add_word(s, &words[i], call);
		if (status == PCTL_OK)
			remember(r, &words[i]);
	}
	return status;
}
