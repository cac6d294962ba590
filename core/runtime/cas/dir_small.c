/* The file of small blobs (dir_small.h). */
#include "runtime/cas/dir_small.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "foundation/base/vec.h"

#define BUSY_MS 10000
#define WAITING_BYTES (8u << 20)

typedef struct waiting {
	pctl_cid cid;
	uint64_t n;
	uint8_t *bytes;
} waiting;

enum { GET, SIZE, PUT, TOUCH, REMOVE, N_STATEMENTS };
static const char *const texts[N_STATEMENTS] = {
	[GET] = "SELECT bytes FROM blobs WHERE cid = ?1",
	[SIZE] = "SELECT length(bytes), at FROM blobs WHERE cid = ?1",
	[PUT] = ("INSERT INTO blobs VALUES (?1, ?2, ?3) ON CONFLICT (cid) DO UPDATE SET "
		 "at = excluded.at, bytes = excluded.bytes"),
	[TOUCH] = "UPDATE blobs SET at = ?2 WHERE cid = ?1",
	[REMOVE] = "DELETE FROM blobs WHERE cid = ?1 AND at <= ?2",
};

struct pctl_small {
	pthread_mutex_t lock;
	char *path;
	uint32_t read_only;
	uint16_t has_gets, in_gets; /* many are asked for; their transaction is open */
	sqlite3 *db;		    /* NULL: not there yet */
	sqlite3_stmt *statements[N_STATEMENTS];
	PCTL_VEC(waiting) all;
	uint64_t n_waiting;
	char why[160]; /* it was not opened */
};

static pctl_status refuse_sqlite(const pctl_small *s, const pctl_call *call)
{
	return pctl_refuse(call, PC3_IO, "%s: %s", s->path,
			   s->db == NULL ? s->why : sqlite3_errmsg(s->db));
}

/* ---- opening ------------------------------------------------------------------------------- */

pctl_status pctl_small_open(const char *dir, uint32_t read_only, const pctl_call *call,
			    pctl_small **out)
{
	pctl_small *s = calloc(1, sizeof(*s));
	const size_t n = strlen(dir) + sizeof("/small.sqlite");

	*out = NULL;
	if (s == NULL || (s->path = malloc(n)) == NULL || pthread_mutex_init(&s->lock, NULL) != 0) {
		free(s == NULL ? NULL : s->path);
		free(s);
		return pctl_no_memory(call, "a store");
	}
	snprintf(s->path, n, "%s/small.sqlite", dir);
	s->read_only = read_only;
	*out = s;
	return PCTL_OK;
}

static void drop_waiting(pctl_small *s)
{
	for (uint32_t i = 0; i < s->all.n; i++)
		free(s->all.items[i].bytes);
	s->all.n = 0;
	s->n_waiting = 0;
}

static void close_file(pctl_small *s)
{
	for (uint32_t i = 0; i < N_STATEMENTS; i++) {
		sqlite3_finalize(s->statements[i]);
		s->statements[i] = NULL;
	}
	sqlite3_close(s->db);
	s->db = NULL;
}

void pctl_small_close(pctl_small *s)
{
	if (s == NULL)
		return;
	drop_waiting(s);
	free(s->all.items);
	close_file(s);
	pthread_mutex_destroy(&s->lock);
	free(s->path);
	free(s);
}

static int exec(pctl_small *s, const char *sql)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* 1: the file is open; 0: there is none, -1: it is not to be had (s->why). for_writing: made where it is missing. */
static int open_file(pctl_small *s, int for_writing)
{
	const int flags =
		s->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	int ok;

	if (s->db != NULL)
		return 1;
	if (!for_writing && access(s->path, F_OK) != 0)
		return 0;
	ok = sqlite3_open_v2(s->path, &s->db, flags | SQLITE_OPEN_NOFOLLOW, NULL) == SQLITE_OK;
	if (ok) {
		sqlite3_busy_timeout(s->db, BUSY_MS);
		ok = exec(s, "PRAGMA cache_size = -4096") &&
		     (s->read_only ||
		      (chmod(s->path, 0600) == 0 &&
		       exec(s, "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL; "
			       "CREATE TABLE IF NOT EXISTS blobs (cid BLOB NOT NULL PRIMARY KEY, "
			       "at INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT")));
	}
	for (uint32_t i = 0; ok && i < N_STATEMENTS; i++)
		ok = (s->read_only && i >= PUT) ||
		     sqlite3_prepare_v3(s->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
					&s->statements[i], NULL) == SQLITE_OK;
	if (ok)
		return 1;
	/* Another process may be making it at this moment: the next question asks again. */
	snprintf(s->why, sizeof(s->why), "%s", s->db == NULL ? "no memory" : sqlite3_errmsg(s->db));
	close_file(s);
	return -1;
}

static sqlite3_stmt *bound(pctl_small *s, int which, const pctl_cid *cid)
{
	sqlite3_bind_blob(s->statements[which], 1, cid->digest, PCTL_DIGEST_BYTES, SQLITE_STATIC);
	return s->statements[which];
}

/* ---- many gets ----------------------------------------------------------------------------- */

static void end_gets(pctl_small *s)
{
	if (s->in_gets)
		(void)exec(s, "COMMIT");
	s->in_gets = 0;
}

void pctl_small_gets(pctl_small *s, int on)
{
	pthread_mutex_lock(&s->lock);
	end_gets(s);
	s->has_gets = on != 0;
	pthread_mutex_unlock(&s->lock);
}

/* ---- putting ------------------------------------------------------------------------------- */

pctl_status pctl_small_put(pctl_small *s, const void *data, uint64_t n, const pctl_cid *cid,
			   const pctl_call *call)
{
	waiting w = {.cid = *cid, .n = n};
	pctl_status status = PCTL_OK;

	pthread_mutex_lock(&s->lock);
	if (s->n_waiting + n > WAITING_BYTES || s->all.n >= WAITING_BYTES / 64)
		status = PCTL_E_LIMIT;
	else if ((w.bytes = malloc((size_t)n + 1)) == NULL || !PCTL_VEC_PUSH(&s->all, w)) {
		free(w.bytes);
		status = pctl_no_memory(call, "a batch of blobs");
	} else {
		if (n != 0)
			memcpy(w.bytes, data, (size_t)n);
		s->n_waiting += n + 64;
	}
	pthread_mutex_unlock(&s->lock);
	return status;
}

static int by_cid(const void *a, const void *b)
{
	return memcmp(((const waiting *)a)->cid.digest, ((const waiting *)b)->cid.digest,
		      PCTL_DIGEST_BYTES);
}

static int put_all(pctl_small *s)
{
	const sqlite3_int64 now = (sqlite3_int64)time(NULL);
	int ok;

	end_gets(s);
	ok = exec(s, "BEGIN IMMEDIATE");

	/* In the order of the index, pages are gone through once. */
	if (s->all.n > 1)
		qsort(s->all.items, s->all.n, sizeof(s->all.items[0]), by_cid);
	for (uint32_t i = 0; ok && i < s->all.n; i++) {
		const waiting *w = &s->all.items[i];
		sqlite3_stmt *stmt = bound(s, PUT, &w->cid);

		sqlite3_bind_int64(stmt, 2, now);
		sqlite3_bind_blob64(stmt, 3, w->bytes, w->n, SQLITE_STATIC);
		ok = sqlite3_step(stmt) == SQLITE_DONE;
		sqlite3_reset(stmt);
	}
	return ok && exec(s, "COMMIT");
}

pctl_status pctl_small_commit(pctl_small *s, const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	pthread_mutex_lock(&s->lock);
	if (s->all.n != 0 && (open_file(s, 1) != 1 || !put_all(s))) {
		status = refuse_sqlite(s, call);
		if (s->db != NULL)
			(void)exec(s, "ROLLBACK");
	}
	drop_waiting(s);
	pthread_mutex_unlock(&s->lock);
	return status;
}

/* ---- asking -------------------------------------------------------------------------------- */

static int stat_row(pctl_small *s, const pctl_cid *cid, uint64_t *n, int64_t *at)
{
	sqlite3_stmt *stmt;
	int found;

	*n = 0;
	if (open_file(s, 0) != 1)
		return 0;
	stmt = bound(s, SIZE, cid);
	found = sqlite3_step(stmt) == SQLITE_ROW;
	if (found) {
		*n = (uint64_t)sqlite3_column_int64(stmt, 0);
		*at = sqlite3_column_int64(stmt, 1);
	}
	sqlite3_reset(stmt);
	return found;
}

int pctl_small_stat(pctl_small *s, const pctl_cid *cid, uint64_t *n)
{
	int64_t at;
	int found;

	pthread_mutex_lock(&s->lock);
	found = stat_row(s, cid, n, &at);
	pthread_mutex_unlock(&s->lock);
	return found;
}

static pctl_status get_row(pctl_small *s, const pctl_cid *cid, const pctl_call *call,
			   pctl_blob *out)
{
	sqlite3_stmt *stmt = bound(s, GET, cid);
	const int step = sqlite3_step(stmt);
	pctl_status status = PCTL_OK;
	uint8_t *data;
	uint64_t n;

	if (step == SQLITE_ROW) {
		n = (uint64_t)sqlite3_column_bytes(stmt, 0);
		data = malloc((size_t)n + 1);
		if (data != NULL && n != 0)
			memcpy(data, sqlite3_column_blob(stmt, 0), (size_t)n);
		*out = (pctl_blob){.data = data, .n_bytes = n, .owner = data};
		if (data == NULL)
			status = pctl_no_memory(call, "a blob");
	} else {
		status = step == SQLITE_DONE ? PCTL_E_NOT_FOUND : refuse_sqlite(s, call);
	}
	sqlite3_reset(stmt);
	return status;
}

pctl_status pctl_small_get(pctl_small *s, const pctl_cid *cid, const pctl_call *call,
			   pctl_blob *out)
{
	pctl_status status;
	int is_open;

	pthread_mutex_lock(&s->lock);
	is_open = open_file(s, 0);
	if (is_open == 1 && s->has_gets && !s->in_gets)
		s->in_gets = exec(s, "BEGIN") != 0;
	status = is_open == 1	? get_row(s, cid, call, out)
		 : is_open == 0 ? PCTL_E_NOT_FOUND
				: refuse_sqlite(s, call);
	/* Whoever looks for it elsewhere may take long. */
	if (status != PCTL_OK)
		end_gets(s);
	pthread_mutex_unlock(&s->lock);
	return status;
}

int pctl_small_touch(pctl_small *s, const pctl_cid *cid, uint64_t n)
{
	uint64_t has;
	int64_t at;
	int found;

	pthread_mutex_lock(&s->lock);
	end_gets(s);
	found = stat_row(s, cid, &has, &at) && (n == UINT64_MAX || has == n);
	if (found && !s->read_only) {
		sqlite3_stmt *stmt = bound(s, TOUCH, cid);

		sqlite3_bind_int64(stmt, 2, (sqlite3_int64)time(NULL));
		found = sqlite3_step(stmt) == SQLITE_DONE && sqlite3_changes(s->db) == 1;
		sqlite3_reset(stmt);
	}
	pthread_mutex_unlock(&s->lock);
	return found;
}

/* ---- removing ------------------------------------------------------------------------------ */

static int remove_row(pctl_small *s, const pctl_cid *cid, int64_t until)
{
	sqlite3_stmt *stmt = bound(s, REMOVE, cid);
	int gone;

	end_gets(s);
	sqlite3_bind_int64(stmt, 2, until);
	gone = sqlite3_step(stmt) == SQLITE_DONE && sqlite3_changes(s->db) == 1;
	sqlite3_reset(stmt);
	return gone;
}

int pctl_small_remove_old(pctl_small *s, const pctl_cid *cid, uint64_t grace_s, int dry)
{
	const int64_t now = (int64_t)time(NULL), until = grace_s == 0 ? INT64_MAX
							 : grace_s > (uint64_t)now
								 ? INT64_MIN
								 : now - (int64_t)grace_s;
	uint64_t n;
	int64_t at = 0;
	int old;

	pthread_mutex_lock(&s->lock);
	old = stat_row(s, cid, &n, &at) && at <= until;
	if (old && !dry)
		old = remove_row(s, cid, until);
	pthread_mutex_unlock(&s->lock);
	return old;
}

void pctl_small_remove(pctl_small *s, const pctl_cid *cid)
{
	pthread_mutex_lock(&s->lock);
	if (open_file(s, 0) == 1)
		(void)remove_row(s, cid, INT64_MAX);
	pthread_mutex_unlock(&s->lock);
}

/* ---- listing ------------------------------------------------------------------------------- */

pctl_status pctl_small_list(pctl_small *s, const pctl_call *call, pctl_small_row **out, uint32_t *n)
{
	PCTL_VEC(pctl_small_row) rows = {NULL, 0, 0};
	sqlite3_stmt *stmt = NULL;
	pctl_status status = PCTL_OK;
	int step = SQLITE_DONE, is_open;

	*out = NULL;
	*n = 0;
	pthread_mutex_lock(&s->lock);
	is_open = open_file(s, 0);
	if (is_open < 0)
		status = refuse_sqlite(s, call);
	if (is_open == 1 && sqlite3_prepare_v2(s->db, "SELECT cid, length(bytes) FROM blobs", -1,
					       &stmt, NULL) != SQLITE_OK)
		status = refuse_sqlite(s, call);
	while (status == PCTL_OK && stmt != NULL && (step = sqlite3_step(stmt)) == SQLITE_ROW) {
		pctl_small_row row = {.n_bytes = (uint64_t)sqlite3_column_int64(stmt, 1)};

		if (sqlite3_column_bytes(stmt, 0) != (int)PCTL_DIGEST_BYTES)
			continue;
		memcpy(row.cid.digest, sqlite3_column_blob(stmt, 0), PCTL_DIGEST_BYTES);
		if (!PCTL_VEC_PUSH(&rows, row))
			status = pctl_no_memory(call, "a listing");
	}
	if (status == PCTL_OK && step != SQLITE_DONE)
		status = refuse_sqlite(s, call);
	sqlite3_finalize(stmt);
	pthread_mutex_unlock(&s->lock);
	if (status != PCTL_OK) {
		free(rows.items);
		return status;
	}
	*out = rows.items;
	*n = (uint32_t)rows.n;
	return PCTL_OK;
}
