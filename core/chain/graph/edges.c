/* The graph of edges.h as rows: an edge is seven numbers, those of its names from the dictionary (edges_names.c). */
#include "chain/graph/edges.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "chain/graph/edges_private.h"
#include "chain/state/cursor.h"

static const char *const kind_names[] = {
	NULL,	  "upload", "implements", "input", "executed",
	"output", "parent", "link",	  "alias", "deprecated",
};
#define N_KINDS ((uint32_t)(sizeof(kind_names) / sizeof(kind_names[0])))

const char *pctl_edge_name(uint32_t kind)
{
	return kind < N_KINDS ? kind_names[kind] : NULL;
}

/* ---- adding ------------------------------------------------------------------------------- */

/* The height of the last edge, 0 without any. */
static pctl_status last_height(pctl_chain_state *s, const pctl_call *call, uint64_t *out)
{
	sqlite3_stmt *stmt;
	pctl_status status = pctl_chain_statement(
		s, "SELECT height FROM edges ORDER BY id DESC LIMIT 1", call, &stmt);
	int more;

	*out = 0;
	if (status != PCTL_OK)
		return status;
	status = pctl_cursor_next(s, stmt, call, &more);
	if (status == PCTL_OK && more)
		*out = (uint64_t)sqlite3_column_int64(stmt, 0);
	sqlite3_reset(stmt);
	return status;
}

static pctl_status check_height(const pctl_edge *e, uint64_t last, const pctl_call *call)
{
	if (e->height < last || e->height > PCTL_CHAIN_HEIGHT_MAX ||
	    e->clock > PCTL_CHAIN_HEIGHT_MAX)
		return pctl_refuse(call, PC5881_EDGE_HEIGHT,
				   "height %" PRIu64 ", clock %" PRIu64
				   "; the last edge has height %" PRIu64,
				   e->height, e->clock, last);
	return PCTL_OK;
}

static pctl_status insert(pctl_chain_state *s, pctl_edge *e, const pctl_word words[4],
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
		sqlite3_bind_int64(stmt, 2 + i, (sqlite3_int64)words[i].number);
	sqlite3_bind_int64(stmt, 6, (sqlite3_int64)e->height);
	sqlite3_bind_int64(stmt, 7, (sqlite3_int64)e->clock);
	status = pctl_cursor_next(s, stmt, call, &more);
	sqlite3_reset(stmt);
	e->is_new = status == PCTL_OK && sqlite3_changes(pctl_chain_db(s)) != 0;
	return status;
}

#define VIA_AND_JOB 0xcu /* of the four names of an edge: these may be "" */

static pctl_status add(pctl_chain_state *s, pctl_edge *e, uint64_t last, const pctl_call *call)
{
	const char *const names[4] = {e->source, e->target, e->via, e->job};
	pctl_word words[4];
	pctl_status status;

	assert(pctl_edge_name(e->kind) != NULL);
	status = pctl_words_check(s, names, 4, VIA_AND_JOB, call, words);
	if (status == PCTL_OK)
		status = check_height(e, last, call);
	if (status == PCTL_OK)
		status = pctl_words_number(s, words, 4, call);
	return status == PCTL_OK ? insert(s, e, words, call) : status;
}

pctl_status pctl_edges_begin(pctl_chain_state *s, const pctl_call *call, pctl_edges_run *out)
{
	const pctl_status status = pctl_words_begin(s, call);

	assert(!sqlite3_get_autocommit(pctl_chain_db(s)));
	out->last = 0;
	return status == PCTL_OK ? last_height(s, call, &out->last) : status;
}

pctl_status pctl_edges_add_all(pctl_chain_state *s, pctl_edges_run *run, pctl_edge *edges,
			       uint32_t n, const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		status = add(s, &edges[i], run->last, call);
		run->last = edges[i].height;
	}
	return status;
}

pctl_status pctl_edges_add(pctl_chain_state *s, const pctl_edge *e, const pctl_call *call)
{
	pctl_edge one = *e;
	pctl_edges_run run;
	const pctl_status status = pctl_edges_begin(s, call, &run);

	return status == PCTL_OK ? pctl_edges_add_all(s, &run, &one, 1, call) : status;
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
		status = pctl_word_text(s, (uint64_t)sqlite3_column_int64(stmt, 1 + i), call,
					names[i]);
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
		status = pctl_cursor_next(s, stmt, call, &more);
		if (status == PCTL_OK && more)
			status = visit_row(s, stmt, visit, ctx, call, &more);
	}
	sqlite3_reset(stmt);
	return status;
}

static pctl_status find_name(pctl_chain_state *s, const char *name, const pctl_call *call,
			     uint64_t *out)
{
	pctl_word w;
	pctl_status status = pctl_word_spell(name, call, &w);

	*out = 0;
	if (status == PCTL_OK)
		status = pctl_word_find(s, &w, call);
	if (status == PCTL_OK)
		*out = w.number;
	return status;
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

/* No order: with one, all are read to find the first. */
pctl_status pctl_edges_any_to(pctl_chain_state *s, const char *name, uint32_t kind,
			      const pctl_call *call, char source[PCTL_EDGE_NAME_MAX + 1])
{
	uint64_t number, found = 0;
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status = find_name(s, name, call, &number);

	source[0] = '\0';
	if (status != PCTL_OK || number == 0)
		return status;
	status = pctl_cursor_keep(s, call, &stmt,
				  "SELECT source FROM edges WHERE target = ? AND kind = ? LIMIT 1",
				  "hh", number, (uint64_t)kind);
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, &more);
	if (status == PCTL_OK && more)
		found = (uint64_t)sqlite3_column_int64(stmt, 0);
	pctl_cursor_done(stmt);
	return status == PCTL_OK && more ? pctl_word_text(s, found, call, source) : status;
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
	status = pctl_cursor_next(s, stmt, call, &more);
	if (status == PCTL_OK && more)
		*out = (uint64_t)sqlite3_column_int64(stmt, 0);
	sqlite3_reset(stmt);
	return status;
}

pctl_status pctl_edges_known(pctl_chain_state *s, const char *name, const pctl_call *call, int *out)
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

pctl_status pctl_edges_has(pctl_chain_state *s, uint32_t kind, const char *source,
			   const char *target, const char *via, const pctl_call *call, int *out)
{
	uint64_t bound[4] = {0, kind, 0, 0}, n = 0;
	pctl_status status = find_name(s, target, call, &bound[0]);

	*out = 0;
	if (status == PCTL_OK)
		status = find_name(s, source, call, &bound[2]);
	if (status == PCTL_OK)
		status = find_name(s, via, call, &bound[3]);
	if (status != PCTL_OK || bound[0] == 0 || bound[2] == 0 || bound[3] == 0)
		return status;
	status = read_number(s,
			     "SELECT count(*) FROM edges WHERE target = ? AND kind = ? AND "
			     "job = 0 AND source = ? AND via = ?",
			     bound, 4, call, &n);
	*out = n != 0;
	return status;
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

/* How many there are decides first: a sort of all of them costs what they are. */
pctl_status pctl_edges_first_to(pctl_chain_state *s, const char *name, uint32_t kind,
				uint64_t height, uint64_t most, const pctl_call *call,
				pctl_edges_first *out)
{
	uint64_t bound[3] = {0, kind, most < PCTL_CHAIN_HEIGHT_MAX ? most + 1 : most};
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status = find_name(s, name, call, &bound[0]);

	*out = (pctl_edges_first){.n = 0};
	if (status != PCTL_OK || bound[0] == 0)
		return status;
	status = read_number(s,
			     "SELECT count(*) FROM (SELECT 1 FROM edges WHERE target = ? AND kind "
			     "= ? LIMIT ?)",
			     bound, 3, call, &out->n);
	if (status != PCTL_OK || out->n > most)
		return status;
	status = pctl_cursor_keep(s, call, &stmt,
				  "SELECT source, clock FROM edges WHERE target = ? AND kind = ? "
				  "AND height <= ? ORDER BY clock, id LIMIT 1",
				  "hhh", bound[0], (uint64_t)kind, height);
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, &more);
	if (status == PCTL_OK && more) {
		const uint64_t number = (uint64_t)sqlite3_column_int64(stmt, 0);

		out->clock = (uint64_t)sqlite3_column_int64(stmt, 1);
		status = pctl_word_text(s, number, call, out->source);
	}
	pctl_cursor_done(stmt);
	return status;
}

/* Heights ascend with ids, so no index is needed. */
pctl_status pctl_edges_first_at(pctl_chain_state *s, uint64_t height, const pctl_call *call,
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
	pctl_status status = pctl_edges_first_at(s, height, call, &bound[0]);

	bound[1] = height;
	if (status == PCTL_OK && height <= PCTL_CHAIN_HEIGHT_MAX)
		status = pctl_edges_first_at(s, height + 1, call, &bound[1]);
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
