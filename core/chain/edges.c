/* The graph of edges.h as rows. A name is kept once and has a number from its first use on; an edge is seven numbers.
 * Names are compact: the digest alone of a CID or a job. */
#include "chain/edges.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "chain/rows.h"
#include "chain/text.h"

/* How a name is written: a letter, then the digest of a CID or of a job, or the text. */
#define WORD_CID 'c'
#define WORD_JOB 'j'
#define WORD_TEXT 't'
#define JOB_PREFIX "job:"
#define JOB_PREFIX_CHARS (sizeof(JOB_PREFIX) - 1)

typedef struct word {
	uint8_t bytes[1 + PCTL_EDGE_NAME_MAX];
	uint32_t n;
	uint64_t mark; /* by which its row is found */
} word;

static const char *const kind_names[] = {
	NULL,	  "upload", "implements", "input", "executed",
	"output", "parent", "link",	  "alias", "deprecated",
};
#define N_KINDS ((uint32_t)(sizeof(kind_names) / sizeof(kind_names[0])))

const char *pctl_edge_name(uint32_t kind)
{
	return kind < N_KINDS ? kind_names[kind] : NULL;
}

/* ---- names -------------------------------------------------------------------------------- */

static uint64_t mark_of(const uint8_t *digest)
{
	uint64_t mark = 0;

	for (int i = 0; i < 6; i++)
		mark = mark << 8 | digest[i];
	return mark;
}

static pctl_status spell_text(const char *name, size_t n, const pctl_call *call, word *out)
{
	const size_t bad = pctl_chain_text_bad(name, n, 1);
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

static pctl_status spell(const char *name, const pctl_call *call, word *out)
{
	const int is_job = strncmp(name, JOB_PREFIX, JOB_PREFIX_CHARS) == 0;
	pctl_cid cid;

	if (!is_job && !pctl_cid_parse(name, &cid))
		return spell_text(name, strlen(name), call, out);
	if (is_job && !pctl_digest_parse_hex(name + JOB_PREFIX_CHARS, cid.digest))
		return pctl_refuse(call, PC5880_EDGE_NAME, "\"%.80s\" is not the name of a job",
				   name);
	out->bytes[0] = is_job ? WORD_JOB : WORD_CID;
	memcpy(out->bytes + 1, cid.digest, PCTL_DIGEST_BYTES);
	out->n = 1 + PCTL_DIGEST_BYTES;
	out->mark = mark_of(cid.digest);
	return PCTL_OK;
}

/* The text of a row of names; 1 on success. */
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

/* The number of a word, 0 when it has none. */
static pctl_status find_word(pctl_chain_state *s, const word *w, const pctl_call *call,
			     uint64_t *out)
{
	sqlite3_stmt *stmt;
	pctl_status status =
		pctl_chain_statement(s, "SELECT id, name FROM names WHERE mark = ?", call, &stmt);
	int more = 1;

	*out = 0;
	if (status != PCTL_OK)
		return status;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)w->mark);
	while (status == PCTL_OK && more && *out == 0) {
		status = pctl_rows_next(s, stmt, call, &more);
		if (status == PCTL_OK && more && sqlite3_column_bytes(stmt, 1) == (int)w->n &&
		    memcmp(sqlite3_column_blob(stmt, 1), w->bytes, w->n) == 0)
			*out = (uint64_t)sqlite3_column_int64(stmt, 0);
	}
	sqlite3_reset(stmt);
	return status;
}

static pctl_status add_word(pctl_chain_state *s, const word *w, const pctl_call *call,
			    uint64_t *out)
{
	sqlite3_stmt *stmt;
	pctl_status status = pctl_chain_statement(s, "INSERT INTO names (mark, name) VALUES (?, ?)",
						  call, &stmt);
	int more;

	if (status != PCTL_OK)
		return status;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)w->mark);
	sqlite3_bind_blob(stmt, 2, w->bytes, (int)w->n, SQLITE_STATIC);
	status = pctl_rows_next(s, stmt, call, &more);
	sqlite3_reset(stmt);
	*out = (uint64_t)sqlite3_last_insert_rowid(pctl_chain_db(s));
	return status;
}

static pctl_status number_of(pctl_chain_state *s, const word *w, const pctl_call *call,
			     uint64_t *out)
{
	pctl_status status;

	*out = 0;
	if (w->n == 0)
		return PCTL_OK;
	status = find_word(s, w, call, out);
	return status == PCTL_OK && *out == 0 ? add_word(s, w, call, out) : status;
}

static pctl_status name_of(pctl_chain_state *s, uint64_t number, const pctl_call *call,
			   char out[PCTL_EDGE_NAME_MAX + 1])
{
	sqlite3_stmt *stmt;
	pctl_status status;
	int more;

	out[0] = '\0';
	if (number == 0)
		return PCTL_OK;
	status = pctl_chain_statement(s, "SELECT name FROM names WHERE id = ?", call, &stmt);
	if (status != PCTL_OK)
		return status;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)number);
	status = pctl_rows_next(s, stmt, call, &more);
	if (status == PCTL_OK &&
	    (!more || !unspell(sqlite3_column_blob(stmt, 0), sqlite3_column_bytes(stmt, 0), out)))
		status = pctl_refuse(call, PC5882_EDGE_BROKEN, "name %" PRIu64 " of the graph %s",
				     number, more ? "is not in form" : "is missing");
	sqlite3_reset(stmt);
	return status;
}

/* ---- adding ------------------------------------------------------------------------------- */

static pctl_status check_height(pctl_chain_state *s, const pctl_edge *e, const pctl_call *call)
{
	sqlite3_stmt *stmt;
	uint64_t last = 0;
	pctl_status status = pctl_chain_statement(
		s, "SELECT height FROM edges ORDER BY id DESC LIMIT 1", call, &stmt);
	int more;

	if (status != PCTL_OK)
		return status;
	status = pctl_rows_next(s, stmt, call, &more);
	if (status == PCTL_OK && more)
		last = (uint64_t)sqlite3_column_int64(stmt, 0);
	sqlite3_reset(stmt);
	if (status != PCTL_OK)
		return status;
	if (e->height < last || e->height > PCTL_CHAIN_HEIGHT_MAX ||
	    e->clock > PCTL_CHAIN_HEIGHT_MAX)
		return pctl_refuse(call, PC5881_EDGE_HEIGHT,
				   "height %" PRIu64 ", clock %" PRIu64
				   "; the last edge has height %" PRIu64,
				   e->height, e->clock, last);
	return PCTL_OK;
}

static pctl_status insert(pctl_chain_state *s, const pctl_edge *e, const uint64_t numbers[4],
			  const pctl_call *call)
{
	sqlite3_stmt *stmt;
	pctl_status status = pctl_chain_statement(
		s,
		"INSERT INTO edges (kind, source, target, via, job, height, clock) "
		"VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
		call, &stmt);
	int more;

	if (status != PCTL_OK)
		return status;
	sqlite3_bind_int64(stmt, 1, e->kind);
	for (int i = 0; i < 4; i++)
		sqlite3_bind_int64(stmt, 2 + i, (sqlite3_int64)numbers[i]);
	sqlite3_bind_int64(stmt, 6, (sqlite3_int64)e->height);
	sqlite3_bind_int64(stmt, 7, (sqlite3_int64)e->clock);
	status = pctl_rows_next(s, stmt, call, &more);
	sqlite3_reset(stmt);
	return status;
}

pctl_status pctl_edges_add(pctl_chain_state *s, const pctl_edge *e, const pctl_call *call)
{
	const char *const names[4] = {e->source, e->target, e->via, e->job};
	word words[4] = {{.n = 0}};
	uint64_t numbers[4];
	pctl_status status = PCTL_OK;

	assert(!sqlite3_get_autocommit(pctl_chain_db(s)));
	assert(pctl_edge_name(e->kind) != NULL);
	for (int i = 0; status == PCTL_OK && i < 4; i++)
		if (i < 2 || names[i][0] != '\0')
			status = spell(names[i], call, &words[i]);
	if (status == PCTL_OK)
		status = check_height(s, e, call);
	for (int i = 0; status == PCTL_OK && i < 4; i++)
		status = number_of(s, &words[i], call, &numbers[i]);
	return status == PCTL_OK ? insert(s, e, numbers, call) : status;
}

/* ---- visiting ----------------------------------------------------------------------------- */

#define COLUMNS "kind, source, target, via, job, height, clock"

static pctl_status visit_row(pctl_chain_state *s, sqlite3_stmt *stmt, pctl_edges_visit visit,
			     void *ctx, const pctl_call *call, int *more)
{
	char names[4][PCTL_EDGE_NAME_MAX + 1];
	pctl_status status = PCTL_OK;
	pctl_edge e = {.kind = (uint32_t)sqlite3_column_int64(stmt, 0),
		       .height = (uint64_t)sqlite3_column_int64(stmt, 5),
		       .clock = (uint64_t)sqlite3_column_int64(stmt, 6)};

	for (int i = 0; status == PCTL_OK && i < 4; i++)
		status = name_of(s, (uint64_t)sqlite3_column_int64(stmt, 1 + i), call, names[i]);
	e.source = names[0];
	e.target = names[1];
	e.via = names[2];
	e.job = names[3];
	if (status == PCTL_OK && visit(ctx, &e) != 0)
		*more = 0;
	return status;
}

/* Visit the rows of a statement with up to two numbers bound. */
static pctl_status visit_rows(pctl_chain_state *s, const char *sql, const uint64_t *bound,
			      int n_bound, pctl_edges_visit visit, void *ctx, const pctl_call *call)
{
	sqlite3_stmt *stmt;
	pctl_status status = pctl_chain_statement(s, sql, call, &stmt);
	int more = 1;

	if (status != PCTL_OK)
		return status;
	for (int i = 0; i < n_bound; i++)
		sqlite3_bind_int64(stmt, 1 + i, (sqlite3_int64)bound[i]);
	while (status == PCTL_OK && more) {
		status = pctl_rows_next(s, stmt, call, &more);
		if (status == PCTL_OK && more)
			status = visit_row(s, stmt, visit, ctx, call, &more);
	}
	sqlite3_reset(stmt);
	return status;
}

static pctl_status find_name(pctl_chain_state *s, const char *name, const pctl_call *call,
			     uint64_t *out)
{
	word w;
	pctl_status status = spell(name, call, &w);

	*out = 0;
	return status == PCTL_OK ? find_word(s, &w, call, out) : status;
}

static pctl_status visit_name(pctl_chain_state *s, const char *const sql[2], const char *name,
			      uint32_t kind, pctl_edges_visit visit, void *ctx,
			      const pctl_call *call)
{
	uint64_t bound[2] = {0, kind};
	pctl_status status = find_name(s, name, call, &bound[0]);

	if (status != PCTL_OK || bound[0] == 0)
		return status;
	return visit_rows(s, sql[kind != 0], bound, kind != 0 ? 2 : 1, visit, ctx, call);
}

pctl_status pctl_edges_from(pctl_chain_state *s, const char *name, uint32_t kind,
			    pctl_edges_visit visit, void *ctx, const pctl_call *call)
{
	static const char *const sql[2] = {
		"SELECT " COLUMNS " FROM edges WHERE source = ? ORDER BY clock, id",
		"SELECT " COLUMNS " FROM edges WHERE source = ? AND kind = ? ORDER BY clock, id"};

	return visit_name(s, sql, name, kind, visit, ctx, call);
}

pctl_status pctl_edges_to(pctl_chain_state *s, const char *name, uint32_t kind,
			  pctl_edges_visit visit, void *ctx, const pctl_call *call)
{
	static const char *const sql[2] = {
		"SELECT " COLUMNS " FROM edges WHERE target = ? ORDER BY clock, id",
		"SELECT " COLUMNS " FROM edges WHERE target = ? AND kind = ? ORDER BY clock, id"};

	return visit_name(s, sql, name, kind, visit, ctx, call);
}

/* One number of a row, 0 when there is none. */
static pctl_status read_number(pctl_chain_state *s, const char *sql, const uint64_t *bound,
			       int n_bound, const pctl_call *call, uint64_t *out)
{
	sqlite3_stmt *stmt;
	pctl_status status = pctl_chain_statement(s, sql, call, &stmt);
	int more;

	*out = 0;
	if (status != PCTL_OK)
		return status;
	for (int i = 0; i < n_bound; i++)
		sqlite3_bind_int64(stmt, 1 + i, (sqlite3_int64)bound[i]);
	status = pctl_rows_next(s, stmt, call, &more);
	if (status == PCTL_OK && more)
		*out = (uint64_t)sqlite3_column_int64(stmt, 0);
	sqlite3_reset(stmt);
	return status;
}

pctl_status pctl_edges_known(pctl_chain_state *s, const char *name, const pctl_call *call,
			     int *out)
{
	uint64_t number;
	pctl_status status = find_name(s, name, call, &number);

	*out = number != 0;
	return status;
}

pctl_status pctl_edges_of_job(pctl_chain_state *s, const char *target, uint32_t kind,
			      const char *job, pctl_edges_visit visit, void *ctx,
			      const pctl_call *call)
{
	uint64_t bound[3] = {0, kind, 0};
	pctl_status status = find_name(s, target, call, &bound[0]);

	if (status == PCTL_OK)
		status = find_name(s, job, call, &bound[2]);
	if (status != PCTL_OK || bound[0] == 0 || bound[2] == 0)
		return status;
	return visit_rows(s,
			  "SELECT " COLUMNS " FROM edges WHERE target = ? AND kind = ? AND job = ? "
			  "ORDER BY clock, id",
			  bound, 3, visit, ctx, call);
}

pctl_status pctl_edges_entering(pctl_chain_state *s, const char *name, uint32_t kind,
				const pctl_call *call, uint64_t *out)
{
	uint64_t bound[2] = {0, kind};
	pctl_status status = find_name(s, name, call, &bound[0]);

	*out = 0;
	if (status != PCTL_OK || bound[0] == 0)
		return status;
	return read_number(s, "SELECT count(*) FROM edges WHERE target = ? AND kind = ?", bound, 2,
			   call, out);
}

/* The first edge of a block at or after `height`; heights ascend with ids, so no index is needed. */
static pctl_status first_at(pctl_chain_state *s, uint64_t height, const pctl_call *call,
			    uint64_t *out)
{
	uint64_t low = 1, high, found;
	pctl_status status = pctl_edges_count(s, call, &high);

	high++;
	while (status == PCTL_OK && low < high) {
		const uint64_t middle = low + (high - low) / 2;

		status = read_number(s, "SELECT height FROM edges WHERE id = ?", &middle, 1, call,
				     &found);
		if (found < height)
			low = middle + 1;
		else
			high = middle;
	}
	*out = low;
	return status;
}

pctl_status pctl_edges_of_block(pctl_chain_state *s, uint64_t height, pctl_edges_visit visit,
				void *ctx, const pctl_call *call)
{
	uint64_t bound[2];
	pctl_status status = first_at(s, height, call, &bound[0]);

	bound[1] = height;
	if (status == PCTL_OK && height <= PCTL_CHAIN_HEIGHT_MAX)
		status = first_at(s, height + 1, call, &bound[1]);
	if (status != PCTL_OK || height > PCTL_CHAIN_HEIGHT_MAX)
		return status;
	return visit_rows(s, "SELECT " COLUMNS " FROM edges WHERE id >= ? AND id < ? ORDER BY id",
			  bound, 2, visit, ctx, call);
}

pctl_status pctl_edges_all(pctl_chain_state *s, pctl_edges_visit visit, void *ctx,
			   const pctl_call *call)
{
	return visit_rows(s, "SELECT " COLUMNS " FROM edges ORDER BY id", NULL, 0, visit, ctx,
			  call);
}

pctl_status pctl_edges_count(pctl_chain_state *s, const pctl_call *call, uint64_t *out)
{
	return read_number(s, "SELECT max(id) FROM edges", NULL, 0, call, out);
}
