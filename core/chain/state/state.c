/* The SQLite file behind state.h: opening, transactions, and the root over its rows. */
#include "chain/state/state.h"

#include <assert.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/hash.h"
#include "foundation/base/vec.h"
#include "chain/state/tables.h"
#include "chain/state/track.h"

#define SCHEMA_VERSION 1
#define BUSY_MS 5000

#define N_BY_TEXT 512u /* a power of two */

/* A statement and the text it was asked for by. */
typedef struct kept_statement {
	sqlite3_stmt *stmt;
	char *sql;
} kept_statement;

struct pctl_chain_state {
	sqlite3 *db;
	pctl_track *track;
	kept_statement *kept;
	void *memory[PCTL_N_MEMORIES];
	uint64_t epoch;
	uint32_t in_transaction, n_kept, cap_kept, reserved;
	uint32_t by_text
		[N_BY_TEXT]; /* place in `kept`, one more, where a text at this address was found last */
};

static const char *const indexes[] = {
#define CHAIN_TABLE(name, columns, key)
#define CHAIN_APART(name, columns, key)
#define CHAIN_LATER(name, columns, key)
#define CHAIN_NUMBERED(name, columns)
#define CHAIN_INDEX(name, unique, table, columns) \
	"CREATE " unique " INDEX IF NOT EXISTS " #name " ON " #table " (" columns ")",
#define CHAIN_PART(name, table, columns, where) \
	"CREATE INDEX IF NOT EXISTS " #name " ON " #table " (" columns ") WHERE " where,
#include "chain/state/schema.def"
#undef CHAIN_TABLE
#undef CHAIN_APART
#undef CHAIN_LATER
#undef CHAIN_NUMBERED
#undef CHAIN_INDEX
#undef CHAIN_PART
};
#define N_INDEXES ((uint32_t)(sizeof(indexes) / sizeof(indexes[0])))

/* Indexes that earlier programs made, and nothing reads. */
static const char unused[] = "DROP INDEX IF EXISTS jobs_queue; DROP INDEX IF EXISTS jobs_clock; "
			     "DROP INDEX IF EXISTS jobs_ended; DROP INDEX IF EXISTS blobs_height";

/* Accounts whose row changed are noted for the record of the open block, whoever changed them. (No OR IGNORE: the
 * conflict clause of the statement that fires a trigger overrides the one inside.) */
static const char triggers[] =
	"CREATE TRIGGER IF NOT EXISTS account_made AFTER INSERT ON accounts "
	"WHEN NOT EXISTS (SELECT 1 FROM touched WHERE account = NEW.name) BEGIN "
	"INSERT INTO touched VALUES (NEW.name); END;"
	"CREATE TRIGGER IF NOT EXISTS account_changed AFTER UPDATE ON accounts "
	"WHEN (OLD.balance <> NEW.balance OR OLD.reserved <> NEW.reserved OR OLD.bond <> NEW.bond "
	"OR OLD.sequence <> NEW.sequence) "
	"AND NOT EXISTS (SELECT 1 FROM touched WHERE account = NEW.name) BEGIN "
	"INSERT INTO touched VALUES (NEW.name); END";

pctl_status pctl_chain_internal_failure(pctl_chain_state *s, const char *what,
					const pctl_call *call)
{
	const pctl_status forged = s->track == NULL ? PCTL_OK : pctl_track_verdict(s->track, call);

	if (forged != PCTL_OK)
		return forged;
	if ((sqlite3_errcode(s->db) & 0xff) == SQLITE_BUSY)
		return pctl_refuse(call, PC5703_CHAIN_BUSY, "%s: another process writes the state",
				   what);
	return pctl_refuse(call, PC5701_CHAIN_STATE, "%s: %s", what, sqlite3_errmsg(s->db));
}

static pctl_status exec(pctl_chain_state *s, const char *sql, const pctl_call *call)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK
		       ? PCTL_OK
		       : pctl_chain_internal_failure(s, "the state of the chain", call);
}

static pctl_status read_version(pctl_chain_state *s, const pctl_call *call, int *out)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status = PCTL_OK;

	*out = 0;
	if (sqlite3_prepare_v2(s->db, "PRAGMA user_version", -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		*out = sqlite3_column_int(stmt, 0);
	else
		status = pctl_chain_internal_failure(s, "the state's version", call);
	sqlite3_finalize(stmt);
	return status;
}

#define SQL_SIZE 1024u

static void spell_table(const pctl_state_table *t, const char *words, char out[SQL_SIZE])
{
	snprintf(out, SQL_SIZE, "CREATE TABLE %s%s (%s, PRIMARY KEY (%s)) %s", words, t->name,
		 t->columns, t->key, t->kind);
}

/* A table in the form of an earlier draft of the rules. Those of a chain that is not under them yet are empty, and go. */
static pctl_status renew(pctl_chain_state *s, const pctl_state_table *t, const pctl_call *call)
{
	char sql[SQL_SIZE];
	sqlite3_stmt *stmt = NULL;
	int step;

	snprintf(sql, sizeof(sql), "SELECT 1 FROM %s LIMIT 1", t->name);
	step = sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL) == SQLITE_OK ? sqlite3_step(stmt)
									    : SQLITE_ERROR;
	sqlite3_finalize(stmt);
	if (step == SQLITE_ROW)
		return pctl_refuse(call, PC5702_CHAIN_VERSION,
				   "table %s is in the form of an earlier draft of the rules: the "
				   "chain can be made again from its history",
				   t->name);
	if (step != SQLITE_DONE)
		return pctl_chain_internal_failure(s, "the tables of the state", call);
	snprintf(sql, sizeof(sql), "DROP TABLE %s", t->name);
	return exec(s, sql, call);
}

/* Tables that came later: how many are there, in the form that they have here. */
static pctl_status count_later(pctl_chain_state *s, const pctl_call *call, uint32_t *there,
			       uint32_t *all)
{
	char sql[SQL_SIZE];
	sqlite3_stmt *stmt = NULL;
	uint32_t n;
	const pctl_state_table *tables = pctl_state_tables(&n);
	pctl_status status = PCTL_OK;

	*there = *all = 0;
	if (sqlite3_prepare_v2(s->db, "SELECT sql FROM sqlite_master WHERE name = ?", -1, &stmt,
			       NULL) != SQLITE_OK)
		return pctl_chain_internal_failure(s, "the tables of the state", call);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		int step, is_same;

		if (!tables[i].is_later)
			continue;
		++*all;
		spell_table(&tables[i], "", sql);
		sqlite3_bind_text(stmt, 1, tables[i].name, -1, SQLITE_STATIC);
		step = sqlite3_step(stmt);
		is_same = step == SQLITE_ROW &&
			  strcmp((const char *)sqlite3_column_text(stmt, 0), sql) == 0;
		sqlite3_reset(stmt);
		*there += (uint32_t)is_same;
		if (step == SQLITE_ROW && !is_same)
			status = renew(s, &tables[i], call);
		else if (step != SQLITE_ROW && step != SQLITE_DONE)
			status = pctl_chain_internal_failure(s, "the tables of the state", call);
	}
	sqlite3_finalize(stmt);
	return status;
}

static pctl_status make_tables(pctl_chain_state *s, const pctl_call *call)
{
	char sql[SQL_SIZE];
	uint32_t n;
	const pctl_state_table *tables = pctl_state_tables(&n);
	pctl_status status = exec(s, "BEGIN IMMEDIATE", call);

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		spell_table(&tables[i], "IF NOT EXISTS ", sql);
		status = exec(s, sql, call);
	}
	if (status == PCTL_OK)
		status = exec(s, unused, call);
	for (uint32_t i = 0; status == PCTL_OK && i < N_INDEXES; i++)
		status = exec(s, indexes[i], call);
	if (status == PCTL_OK)
		status = exec(s, triggers, call);
	snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", SCHEMA_VERSION);
	if (status == PCTL_OK)
		status = exec(s, sql, call);
	if (status == PCTL_OK)
		return exec(s, "COMMIT", call);
	sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return status;
}

static pctl_status set_up(pctl_chain_state *s, const char *path, const pctl_call *call)
{
	uint32_t there = 0, all = 0;
	int version;
	pctl_status status;

	/* A state is used by one thread at a time, which is its owner's to see to. */
	if (sqlite3_open_v2(path, &s->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		return pctl_refuse(call, PC5701_CHAIN_STATE, "%s: %s", path,
				   s->db == NULL ? "no memory" : sqlite3_errmsg(s->db));
	sqlite3_busy_timeout(s->db, BUSY_MS);
	/* In memory is above all what a savepoint would undo, which is of one message: in a file it is written for each of them. */
	status = exec(
		s,
		"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; "
		"PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY",
		call);
	if (status == PCTL_OK)
		status = read_version(s, call, &version);
	if (status == PCTL_OK && version != 0 && version != SCHEMA_VERSION)
		return pctl_refuse(call, PC5702_CHAIN_VERSION,
				   "%s has schema version %d, this pipectl writes %d", path,
				   version, SCHEMA_VERSION);
	if (status == PCTL_OK && version != 0)
		status = count_later(s, call, &there, &all);
	if (status == PCTL_OK && (version == 0 || there != all))
		status = make_tables(s, call);
	return status == PCTL_OK ? pctl_track_open(s->db, call, &s->track) : status;
}

static pctl_status open_path(const char *path, const pctl_call *call, pctl_chain_state **out)
{
	pctl_chain_state *s = calloc(1, sizeof(*s));
	pctl_status status = s == NULL ? pctl_no_memory(call, "the chain") : set_up(s, path, call);

	*out = NULL;
	if (status == PCTL_OK)
		*out = s;
	else
		pctl_chain_state_close(s);
	return status;
}

pctl_status pctl_chain_state_open(const char *dir, const pctl_call *call, pctl_chain_state **out)
{
	char path[4096];
	pctl_status status;

	*out = NULL;
	if ((size_t)snprintf(path, sizeof(path), "%s/state.sqlite", dir) >= sizeof(path))
		return pctl_refuse(call, PC5701_CHAIN_STATE, "%s: the path is too long", dir);
	status = pctl_file_make_dirs(dir, call);
	return status == PCTL_OK ? open_path(path, call, out) : status;
}

pctl_status pctl_chain_state_open_memory(const pctl_call *call, pctl_chain_state **out)
{
	return open_path(":memory:", call, out);
}

static void forget(kept_statement *k)
{
	sqlite3_finalize(k->stmt);
	free(k->sql);
}

void pctl_chain_state_close(pctl_chain_state *s)
{
	if (s == NULL)
		return;
	for (uint32_t i = 0; i < s->n_kept; i++)
		forget(&s->kept[i]);
	free(s->kept);
	pctl_track_close(s->track);
	for (uint32_t i = 0; i < PCTL_N_MEMORIES; i++)
		free(s->memory[i]);
	sqlite3_close(s->db);
	free(s);
}

pctl_status pctl_chain_begin(pctl_chain_state *s, const pctl_call *call)
{
	pctl_status status;

	assert(!s->in_transaction);
	status = exec(s, "BEGIN IMMEDIATE", call);
	s->in_transaction = status == PCTL_OK;
	s->epoch++;
	if (status == PCTL_OK)
		status = pctl_track_begin(s->track, call);
	if (status != PCTL_OK)
		pctl_chain_rollback(s);
	return status;
}

pctl_status pctl_chain_commit(pctl_chain_state *s, const pctl_call *call)
{
	pctl_status status;

	assert(s->in_transaction);
	status = pctl_track_commit(s->track, call);
	if (status == PCTL_OK)
		status = exec(s, "COMMIT", call);
	if (status == PCTL_OK)
		s->in_transaction = 0;
	return status;
}

void pctl_chain_rollback(pctl_chain_state *s)
{
	if (s->in_transaction)
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	if (s->in_transaction)
		pctl_track_rollback(s->track);
	s->in_transaction = 0;
}

/* SQLite chooses the moment at the first row that is read. */
pctl_status pctl_chain_moment_begin(pctl_chain_state *s, const pctl_call *call)
{
	assert(sqlite3_get_autocommit(s->db));
	return exec(s, "BEGIN; SELECT count(*) FROM main.sqlite_master", call);
}

void pctl_chain_moment_end(pctl_chain_state *s)
{
	if (!sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
}

pctl_track *pctl_chain_track(pctl_chain_state *s)
{
	return s->track;
}

struct sqlite3 *pctl_chain_db(pctl_chain_state *s)
{
	return s->db;
}

/* Where the name of the table begins that a statement changes; NULL for one that changes none of the state's. */
static const char *changed_table(const char *sql)
{
	static const char *const words[] = {"INSERT INTO ", "INSERT OR REPLACE INTO ", "UPDATE ",
					    "DELETE FROM "};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const size_t n = strlen(words[i]);

		if (strncmp(sql, words[i], n) == 0 &&
		    pctl_state_table_find(sql + n, strcspn(sql + n, " (")) >= 0)
			return sql + n;
	}
	return NULL;
}

/* A name alone is the view of track.h, where there is one: that is for reading. */
pctl_status pctl_chain_prepare(pctl_chain_state *s, const char *sql, uint32_t flags,
			       const pctl_call *call, sqlite3_stmt **out)
{
	const char *table = changed_table(sql);
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	int rc;

	*out = NULL;
	if (table == NULL) {
		rc = sqlite3_prepare_v3(s->db, sql, -1, flags, out, NULL);
	} else {
		pctl_str_add_n(&text, sql, (size_t)(table - sql));
		pctl_str_add(&text, "main.");
		pctl_str_add(&text, table);
		rc = text.failed ? SQLITE_NOMEM
				 : sqlite3_prepare_v3(s->db, text.data, -1, flags, out, NULL);
		pctl_str_drop(&text);
	}
	return rc == SQLITE_OK ? PCTL_OK
			       : pctl_chain_internal_failure(s, "the state of the chain", call);
}

static int take_kept(pctl_chain_state *s, uint32_t i, const char *sql, sqlite3_stmt **out)
{
	if (strcmp(s->kept[i].sql, sql) != 0 || sqlite3_stmt_busy(s->kept[i].stmt))
		return 0;
	*out = s->kept[i].stmt;
	sqlite3_reset(*out);
	return 1;
}

pctl_status pctl_chain_statement(pctl_chain_state *s, const char *sql, const pctl_call *call,
				 sqlite3_stmt **out)
{
	/* Texts are literals, so most questions are answered by the address; what it says is compared all the same. */
	uint32_t *const at = &s->by_text[pctl_mix64((uintptr_t)sql) & (N_BY_TEXT - 1)];
	kept_statement k = {NULL, NULL};
	pctl_status status;

	*out = NULL;
	if (*at != 0 && take_kept(s, *at - 1, sql, out))
		return PCTL_OK;
	for (uint32_t i = 0; i < s->n_kept; i++)
		if (take_kept(s, i, sql, out)) {
			*at = i + 1;
			return PCTL_OK;
		}
	if (!pctl_vec_reserve((void **)&s->kept, s->n_kept, &s->cap_kept, sizeof(*s->kept)))
		return pctl_no_memory(call, "a statement");
	status = pctl_chain_prepare(s, sql, SQLITE_PREPARE_PERSISTENT, call, &k.stmt);
	if (status == PCTL_OK && (k.sql = strdup(sql)) == NULL)
		status = pctl_no_memory(call, "a statement");
	if (status != PCTL_OK) {
		forget(&k);
		return status;
	}
	s->kept[s->n_kept++] = k;
	*out = k.stmt;
	return PCTL_OK;
}

void *pctl_chain_memory(pctl_chain_state *s, int whose, size_t n, uint64_t *epoch)
{
	if (s->memory[whose] == NULL)
		s->memory[whose] = calloc(1, n);
	*epoch = s->epoch;
	return s->memory[whose];
}

/* ---- the root ----------------------------------------------------------------------------- */

/* A value as its type, its length and its bytes, so that no two rows give one string. */
static pctl_status take_value(pctl_hasher *h, sqlite3_stmt *stmt, int column)
{
	const int type = sqlite3_column_type(stmt, column);
	uint8_t head[9] = {(uint8_t)type}, number[8];
	const void *data = number;
	uint64_t n = sizeof(number);

	if (type == SQLITE_INTEGER) {
		uint64_t v = (uint64_t)sqlite3_column_int64(stmt, column);

		for (int i = 0; i < 8; i++)
			number[i] = (uint8_t)(v >> (8 * i));
	} else {
		data = sqlite3_column_blob(stmt, column);
		n = (uint64_t)sqlite3_column_bytes(stmt, column);
	}
	for (int i = 0; i < 8; i++)
		head[1 + i] = (uint8_t)(n >> (8 * i));
	if (pctl_hasher_update(h, head, sizeof(head)) != PCTL_OK)
		return PCTL_E_INTERNAL;
	return n == 0 ? PCTL_OK : pctl_hasher_update(h, data, n);
}

static pctl_status take_table(pctl_chain_state *s, pctl_hasher *h, const pctl_state_table *table,
			      const pctl_call *call)
{
	char sql[256];
	sqlite3_stmt *stmt = NULL;
	pctl_status status = PCTL_OK;
	int step = SQLITE_ROW;

	snprintf(sql, sizeof(sql), "SELECT * FROM %s ORDER BY %s", table->name, table->key);
	if (sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return pctl_chain_internal_failure(s, "the state root", call);
	if (!table->is_later)
		status = pctl_hasher_update(h, table->name, strlen(table->name) + 1);
	for (uint64_t row = 0; status == PCTL_OK && (step = sqlite3_step(stmt)) == SQLITE_ROW;
	     row++) {
		if (table->is_later && row == 0)
			status = pctl_hasher_update(h, table->name, strlen(table->name) + 1);
		for (int i = 0; status == PCTL_OK && i < sqlite3_column_count(stmt); i++)
			status = take_value(h, stmt, i);
	}
	if (status == PCTL_OK && step != SQLITE_DONE)
		status = pctl_chain_internal_failure(s, "the state root", call);
	sqlite3_finalize(stmt);
	return status;
}

pctl_status pctl_chain_root(pctl_chain_state *s, const pctl_call *call,
			    uint8_t out[PCTL_DIGEST_BYTES])
{
	pctl_hasher *h = NULL;
	uint32_t n;
	const pctl_state_table *tables = pctl_state_tables(&n);
	pctl_status status = pctl_hasher_create(call, &h);

	memset(out, 0, PCTL_DIGEST_BYTES);
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		status = take_table(s, h, &tables[i], call);
	return pctl_hasher_end(h, status, out);
}

pctl_status pctl_chain_tree_root(pctl_chain_state *s, const pctl_call *call,
				 uint8_t out[PCTL_DIGEST_BYTES])
{
	assert(s->in_transaction);
	return pctl_track_root(s->track, call, out);
}

pctl_status pctl_chain_hold(pctl_chain_state *s, const pctl_call *call)
{
	assert(s->in_transaction);
	return pctl_track_hold(s->track, call);
}

pctl_status pctl_chain_clear_apart(pctl_chain_state *s, const pctl_call *call)
{
	assert(s->in_transaction);
	return pctl_track_clear_apart(s->track, call);
}

pctl_status pctl_chain_scrub(pctl_chain_state *s, const pctl_call *call, uint64_t *rows)
{
	pctl_status status;

	if (s->in_transaction)
		return pctl_track_scrub(s->track, call, rows);
	status = exec(s, "BEGIN", call);
	if (status == PCTL_OK)
		status = pctl_track_scrub(s->track, call, rows);
	sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
	return status;
}

pctl_status pctl_chain_is_restoring(pctl_chain_state *s, const pctl_call *call, int *out)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status = pctl_chain_prepare(
		s, "SELECT 1 FROM sqlite_master WHERE name = '" PCTL_RESTORING "'", 0, call, &stmt);
	const int step = status == PCTL_OK ? sqlite3_step(stmt) : SQLITE_DONE;

	*out = step == SQLITE_ROW;
	if (step != SQLITE_ROW && step != SQLITE_DONE)
		status = pctl_chain_internal_failure(s, "the state of the chain", call);
	sqlite3_finalize(stmt);
	return status;
}
