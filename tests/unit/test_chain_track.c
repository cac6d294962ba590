/* Rows of a state under a tree: its root is a function of the rows, however they came; a row that somebody else changed, removed or added
 * is found by whatever meets it first; rolled-back changes leave nothing. The constant is of tests/integration/node/rowproof.py. */
#include "main.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/jobs/jobs.h"
#include "chain/state/cursor.h"
#include "chain/state/track.h"
#include "foundation/base/hash.h"

static uint32_t last_code;
static char last_text[512];

static void note(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	last_code = d->code;
	snprintf(last_text, sizeof(last_text), "%s", d->message);
}

static const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = note};
#define ALLOWED(what) assert_int_equal(what, PCTL_OK)

static void root_of(pctl_chain_state *s, uint8_t out[PCTL_DIGEST_BYTES])
{
	ALLOWED(pctl_chain_begin(s, &call));
	ALLOWED(pctl_chain_tree_root(s, &call, out));
	ALLOWED(pctl_chain_commit(s, &call));
}

static pctl_status account(pctl_chain_state *s, const char *name, uint64_t balance)
{
	return pctl_cursor_write(
		s, &call,
		"INSERT INTO accounts VALUES (?1, ?2, ?3, ?3, 0) ON CONFLICT (name) DO UPDATE SET "
		"balance = ?2",
		"taa", name, balance, (uint64_t)0);
}

/* As `SELECT balance` does; 0 found: 0. */
static pctl_status balance(pctl_chain_state *s, const char *name, uint64_t *out)
{
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status = pctl_cursor_keep(
		s, &call, &stmt, "SELECT balance FROM accounts WHERE name = ?", "t", name);

	*out = 0;
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, &call, &more);
	if (status == PCTL_OK && more)
		status = pctl_cursor_amount(stmt, 0, &call, out);
	pctl_cursor_done(stmt);
	return status;
}

static void test_chain_track__the_root_is_that_of_the_document(void **state)
{
	uint8_t root[PCTL_DIGEST_BYTES];
	char hex[2 * PCTL_DIGEST_BYTES + 1];
	pctl_chain_state *s;

	(void)state;
	ALLOWED(pctl_chain_state_open_memory(&call, &s));
	ALLOWED(pctl_chain_begin(s, &call));
	ALLOWED(account(s, "ada", 7));
	ALLOWED(pctl_cursor_write(s, &call, "INSERT INTO names (mark, name) VALUES (?, ?)", "hb",
				  (uint64_t)5, "tx", (uint64_t)2));
	ALLOWED(pctl_chain_commit(s, &call));
	root_of(s, root);
	assert_string_equal(pctl_digest_hex(root, hex),
			    "1e69d8ccc23a6e86cc75e93f4639c6eb5c9e7aa2c94f61f59d98e400a80dbe53");
	root_of(s, root);
	assert_string_equal(pctl_digest_hex(root, hex),
			    "1e69d8ccc23a6e86cc75e93f4639c6eb5c9e7aa2c94f61f59d98e400a80dbe53");
	pctl_chain_state_close(s);
}

/* Random changes over many transactions, some undone whole or in part, give the root of the rows at their end. */
static void test_chain_track__the_root_is_a_function_of_the_rows(void **state)
{
	static uint64_t must[300];
	uint8_t root[PCTL_DIGEST_BYTES], again[PCTL_DIGEST_BYTES];
	uint64_t random = 3, rows;
	pctl_chain_state *s, *fresh;
	char name[16];

	(void)state;
	memset(must, 0, sizeof(must));
	ALLOWED(pctl_chain_state_open_memory(&call, &s));
	root_of(s, root);
	for (int round = 0; round < 60; round++) {
		uint64_t before[300];
		const int undo = round % 7 == 3;

		memcpy(before, must, sizeof(before));
		ALLOWED(pctl_chain_begin(s, &call));
		for (int i = 0; i < 20; i++) {
			uint64_t found;
			const int partly = i % 5 == 4;

			random = pctl_mix64(random + PCTL_SPLITMIX_STEP);
			snprintf(name, sizeof(name), "a%u", (unsigned)(random % 300));
			ALLOWED(balance(s, name, &found));
			assert_int_equal(found, must[random % 300]);
			if (partly)
				ALLOWED(pctl_cursor_write(s, &call, "SAVEPOINT some", ""));
			if ((random >> 40) % 3 == 0)
				ALLOWED(pctl_cursor_write(s, &call,
							  "DELETE FROM accounts WHERE name = ?",
							  "t", name));
			else
				ALLOWED(account(s, name, random >> 8 | 1));
			if (partly) {
				ALLOWED(pctl_cursor_write(s, &call, "ROLLBACK TO some", ""));
				ALLOWED(pctl_cursor_write(s, &call, "RELEASE some", ""));
			} else {
				must[random % 300] = (random >> 40) % 3 == 0 ? 0 : random >> 8 | 1;
			}
		}
		if (undo) {
			pctl_chain_rollback(s);
			memcpy(must, before, sizeof(must));
		} else {
			ALLOWED(pctl_chain_commit(s, &call));
		}
		if (round % 4 == 0)
			root_of(s, root);
		ALLOWED(pctl_chain_scrub(s, &call, &rows));
	}
	root_of(s, root);
	ALLOWED(pctl_chain_state_open_memory(&call, &fresh));
	ALLOWED(pctl_chain_begin(fresh, &call));
	for (uint32_t i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "a%u", i);
		if (must[i] != 0)
			ALLOWED(account(fresh, name, must[i]));
	}
	ALLOWED(pctl_chain_commit(fresh, &call));
	root_of(fresh, again);
	assert_memory_equal(root, again, sizeof(root));
	pctl_chain_state_close(s);
	pctl_chain_state_close(fresh);
}

/* ---- rows that somebody else wrote ------------------------------------------------------------ */

typedef struct home {
	char dir[40];
	pctl_chain_state *s;
} home;

static void begin(home *h)
{
	uint8_t root[PCTL_DIGEST_BYTES];
	char name[16];

	strcpy(h->dir, "/tmp/pctl-chain-XXXXXX");
	assert_non_null(mkdtemp(h->dir));
	ALLOWED(pctl_chain_state_open(h->dir, &call, &h->s));
	ALLOWED(pctl_chain_begin(h->s, &call));
	for (uint32_t i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "a%u", i);
		ALLOWED(account(h->s, name, 100 + i));
	}
	ALLOWED(pctl_chain_commit(h->s, &call));
	root_of(h->s, root);
	ALLOWED(pctl_chain_begin(h->s, &call)); /* since then */
	ALLOWED(account(h->s, "a7", 5));
	ALLOWED(account(h->s, "new", 6));
	ALLOWED(pctl_chain_commit(h->s, &call));
}

static void end(home *h)
{
	char command[64];

	pctl_chain_state_close(h->s);
	snprintf(command, sizeof(command), "rm -r %s", h->dir);
	assert_int_equal(system(command), 0);
}

static void forge(const home *h, const char *sql)
{
	char path[64];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/state.sqlite", h->dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	last_code = 0;
	last_text[0] = '\0';
}

static void is_named(const char *how, const char *key)
{
	assert_int_equal(last_code, PC6140_TREE_ROW);
	if (strstr(last_text, how) == NULL)
		print_message("%s\n", last_text);
	assert_non_null(strstr(last_text, how));
	assert_non_null(strstr(last_text, key));
}

static void test_chain_track__a_changed_row_is_found_when_it_is_read(void **state)
{
	static const char *const names[] = {"a3", "a7", "new"}; /* of the tree, and changed since */
	uint64_t found, rows;
	char sql[120];

	(void)state;
	for (int i = 0; i < 6; i++) {
		home h;

		begin(&h);
		snprintf(sql, sizeof(sql),
			 "UPDATE accounts SET balance = x'00000000ffffffff' WHERE name = '%s'",
			 names[i % 3]);
		forge(&h, sql);
		ALLOWED(balance(h.s, "a4", &found)); /* what nobody touched is as it was */
		if (i < 3) {			     /* outside a transaction, and within */
			assert_int_equal(balance(h.s, names[i % 3], &found), PCTL_E_STORE);
		} else {
			ALLOWED(pctl_chain_begin(h.s, &call));
			assert_int_equal(balance(h.s, names[i % 3], &found), PCTL_E_STORE);
			pctl_chain_rollback(h.s);
		}
		is_named("was changed", names[i % 3]);
		last_code = 0;
		assert_int_equal(pctl_chain_scrub(h.s, &call, &rows), PCTL_E_STORE);
		is_named("was changed", names[i % 3]);
		end(&h);
	}
}

static void test_chain_track__a_changed_row_is_found_when_it_is_written(void **state)
{
	home h;

	(void)state;
	begin(&h);
	forge(&h, "UPDATE accounts SET sequence = 9 WHERE name = 'a3'");
	ALLOWED(pctl_chain_begin(h.s, &call));
	ALLOWED(pctl_cursor_write(h.s, &call,
				  "UPDATE accounts SET sequence = sequence + 1 WHERE name = ?", "t",
				  "a3"));
	assert_int_equal(pctl_chain_commit(h.s, &call), PCTL_E_STORE);
	is_named("was changed", "a3");
	pctl_chain_rollback(h.s);
	end(&h);
}

static void test_chain_track__removed_and_added_rows_are_found(void **state)
{
	uint64_t found, rows;
	home h;

	(void)state;
	begin(&h);
	forge(&h, "DELETE FROM accounts WHERE name = 'a3'");
	assert_int_equal(balance(h.s, "a3", &found), PCTL_E_STORE);
	is_named("was removed", "\"a3\"");
	last_code = 0;
	assert_int_equal(pctl_chain_begin(h.s, &call), PCTL_E_STORE); /* there is one less */
	assert_int_equal(last_code, PC6140_TREE_ROW);
	end(&h);
	begin(&h);
	forge(&h, "DELETE FROM accounts WHERE name = 'new'");
	assert_int_equal(pctl_chain_begin(h.s, &call), PCTL_E_STORE);
	is_named("was removed", "\"new\"");
	end(&h);
	begin(&h);
	forge(&h, "INSERT INTO accounts VALUES ('zed', x'0000000000000001', x'0000000000000000', "
		  "x'0000000000000000', 0)");
	assert_int_equal(pctl_chain_begin(h.s, &call), PCTL_E_STORE);
	is_named("was added", "\"zed\"");
	last_code = 0;
	assert_int_equal(balance(h.s, "zed", &found), PCTL_E_STORE);
	is_named("was added", "\"zed\"");
	end(&h);
	begin(&h); /* as many as before */
	forge(&h, "UPDATE accounts SET name = 'a33333' WHERE name = 'a3'");
	ALLOWED(pctl_chain_begin(h.s, &call));
	assert_int_equal(account(h.s, "a3", 5), PCTL_OK);
	assert_int_equal(pctl_chain_commit(h.s, &call), PCTL_E_STORE);
	is_named("was removed", "\"a3\"");
	pctl_chain_rollback(h.s);
	last_code = 0;
	assert_int_equal(pctl_chain_scrub(h.s, &call, &rows), PCTL_E_STORE);
	is_named("was added", "a33333");
	end(&h);
}

static void test_chain_track__the_tree_itself_is_held_against_its_parents(void **state)
{
	uint64_t found;
	home h;

	(void)state;
	begin(&h);
	forge(&h, "UPDATE tree_nodes SET node = CAST(substr(node, 1, length(node) - 1) || x'55' AS "
		  "BLOB) WHERE path <> x'00'");
	for (int i = 0; i < 40 && last_code == 0; i++) {
		char name[16];

		snprintf(name, sizeof(name), "a%d", i);
		(void)balance(h.s, name, &found);
	}
	assert_int_equal(last_code, PC6141_TREE_NODE);
	end(&h);
}

/* A query that compares a column with a constant, over rows of which some have it and others not, in every order of its terms: SQLite may put
 * the constant in the column's place wherever it stands. */
static void test_chain_track__right_rows_are_right_whatever_is_asked(void **state)
{
	static const char *const queries[] = {
		"SELECT name FROM accounts WHERE sequence = 0 AND balance <> x'00'",
		"SELECT a.name FROM accounts a JOIN accounts b ON a.name = b.name WHERE b.sequence "
		"= 1 AND (?1 = 0 OR a.sequence = ?1)",
		"SELECT count(*) FROM accounts WHERE sequence = ?1 AND reserved = "
		"x'0000000000000000'",
		"SELECT max(balance) FROM accounts WHERE 0 = sequence AND name <> 'a3'",
		"SELECT name FROM accounts WHERE sequence = 1 UNION ALL SELECT name FROM accounts "
		"WHERE sequence = 0",
		"SELECT name FROM accounts WHERE name = 'a3' AND sequence = 1",
		"SELECT name FROM accounts WHERE name = 'nobody' AND sequence = 1"};
	home h;

	(void)state;
	begin(&h);
	ALLOWED(pctl_chain_begin(h.s, &call));
	ALLOWED(pctl_cursor_write(h.s, &call, "UPDATE accounts SET sequence = 1 WHERE name = ?",
				  "t", "a3"));
	ALLOWED(pctl_chain_commit(h.s, &call));
	for (int i = 0; i < 2 * 7; i++) {
		sqlite3_stmt *stmt = NULL;
		int more = 1;

		if (i >= 7 && i < 8)
			ALLOWED(pctl_chain_begin(h.s, &call));
		ALLOWED(pctl_cursor_open(h.s, &call, &stmt, queries[i % 7], ""));
		while (more)
			ALLOWED(pctl_cursor_next(h.s, stmt, &call, &more));
		sqlite3_finalize(stmt);
	}
	pctl_chain_rollback(h.s);
	end(&h);
}

/* ---- transactions that end a block ----------------------------------------------------------- */

static pctl_status sequence(pctl_chain_state *s, const char *name)
{
	return pctl_cursor_write(
		s, &call, "UPDATE accounts SET sequence = sequence + 1 WHERE name = ?", "t", name);
}

static pctl_status remove_account(pctl_chain_state *s, const char *name)
{
	return pctl_cursor_write(s, &call, "DELETE FROM accounts WHERE name = ?", "t", name);
}

static int count_mail(void *ctx, uint32_t origin, const uint8_t *bytes, uint64_t n)
{
	(void)origin;
	(void)bytes;
	*(uint64_t *)ctx += n;
	return 0;
}

/* Rows that were changed before and in it, rows of the open block from before, from it, and undone, rows behind the root: the root is that of
 * the rows, and each table has as many as are counted. */
static void test_chain_track__a_block_leaves_the_rows_that_are_there(void **state)
{
	uint8_t root[PCTL_DIGEST_BYTES], again[PCTL_DIGEST_BYTES];
	pctl_chain_state *fresh;
	uint64_t rows, n = 0;
	char name[16];
	home h;

	(void)state;
	begin(&h);
	ALLOWED(pctl_chain_begin(h.s, &call));
	ALLOWED(pctl_inbox_add(h.s, 0, "one", 3, &call));
	ALLOWED(pctl_inbox_add(h.s, 0, "two", 3, &call));
	ALLOWED(pctl_chain_commit(h.s, &call));

	ALLOWED(pctl_chain_begin(h.s, &call));
	ALLOWED(pctl_inbox_add(h.s, 0, "three", 5,
			       &call)); /* as in a batch that ends with a block */
	ALLOWED(pctl_cursor_write(h.s, &call, "SAVEPOINT some", ""));
	ALLOWED(pctl_inbox_add(h.s, 0, "four", 4, &call));
	ALLOWED(pctl_cursor_write(h.s, &call, "ROLLBACK TO some", ""));
	ALLOWED(pctl_cursor_write(h.s, &call, "RELEASE some", ""));
	ALLOWED(pctl_chain_hold(h.s, &call));
	ALLOWED(sequence(h.s, "a3"));
	ALLOWED(sequence(h.s, "a7"));
	ALLOWED(account(h.s, "zed", 1));
	ALLOWED(remove_account(h.s, "new"));
	ALLOWED(remove_account(h.s, "a9"));
	ALLOWED(account(h.s, "brief", 1));
	ALLOWED(remove_account(h.s, "brief"));
	ALLOWED(pctl_inbox_visit(h.s, count_mail, &n, &call));
	assert_int_equal(n, 11);
	ALLOWED(pctl_chain_clear_apart(h.s, &call));
	ALLOWED(pctl_chain_tree_root(h.s, &call, root));
	ALLOWED(sequence(h.s, "a3")); /* of the next block */
	ALLOWED(pctl_inbox_add(h.s, 1, "five", 4, &call));
	n = 0;
	ALLOWED(pctl_inbox_visit(h.s, count_mail, &n, &call));
	assert_int_equal(n, 4);
	ALLOWED(pctl_chain_commit(h.s, &call));
	ALLOWED(pctl_chain_scrub(h.s, &call, &rows));
	/* Somebody else wrote what is no state: rows are counted. */
	forge(&h, "CREATE TABLE no_state (x)");
	ALLOWED(pctl_chain_begin(h.s, &call));
	pctl_chain_rollback(h.s);
	n = 0;
	ALLOWED(pctl_inbox_visit(h.s, count_mail, &n, &call));
	assert_int_equal(n, 4);

	ALLOWED(pctl_chain_state_open_memory(&call, &fresh));
	ALLOWED(pctl_chain_begin(fresh, &call));
	for (uint32_t i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "a%u", i);
		if (i != 9)
			ALLOWED(account(fresh, name, i == 7 ? 5 : 100 + i));
	}
	ALLOWED(account(fresh, "zed", 1));
	ALLOWED(sequence(fresh, "a3"));
	ALLOWED(sequence(fresh, "a7"));
	ALLOWED(pctl_chain_commit(fresh, &call));
	root_of(fresh, again);
	assert_memory_equal(root, again, sizeof(root));
	pctl_chain_state_close(fresh);
	end(&h);
}

/* What is changed without being read is found when the tree is brought up to date, or at the end of a transaction that does not. */
static void test_chain_track__a_block_finds_forged_rows_that_it_changes(void **state)
{
	static const struct {
		const char *forged, *changed, *how, *key;
	} cases[] = {
		{"UPDATE accounts SET sequence = 9 WHERE name = 'a3'", "a3", "was changed",
		 "\"a3\""},
		{"UPDATE accounts SET sequence = 9 WHERE name = 'a7'", "a7", "was changed",
		 "\"a7\""},
		{"UPDATE accounts SET sequence = 9 WHERE name = 'new'", "-new", "was changed",
		 "\"new\""},
		{"UPDATE accounts SET name = 'a33333' WHERE name = 'a3'", "+a3", "was removed",
		 "\"a3\""},
		{"UPDATE accounts SET name = 'a33333' WHERE name = 'a3'", "a33333", "was added",
		 "a33333"},
		{"UPDATE accounts SET sequence = 9 WHERE name = 'a3'", "-a3", "was changed",
		 "\"a3\""},
	};

	(void)state;
	for (uint32_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		const char *changed = cases[i / 2].changed;
		uint8_t root[PCTL_DIGEST_BYTES];
		home h;

		begin(&h);
		forge(&h, cases[i / 2].forged);
		ALLOWED(pctl_chain_begin(h.s, &call));
		ALLOWED(pctl_chain_hold(h.s, &call));
		ALLOWED(changed[0] == '+'   ? account(h.s, changed + 1, 4)
			: changed[0] == '-' ? remove_account(h.s, changed + 1)
					    : sequence(h.s, changed));
		if (i % 2 == 0)
			assert_int_equal(pctl_chain_tree_root(h.s, &call, root), PCTL_E_STORE);
		else
			assert_int_equal(pctl_chain_commit(h.s, &call), PCTL_E_STORE);
		is_named(cases[i / 2].how, cases[i / 2].key);
		pctl_chain_rollback(h.s);
		end(&h);
	}
}

/* Rows that are handed out whole are held against the tree, in and outside of a transaction. */
static void test_chain_track__whole_rows_are_right(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		sqlite3_stmt *stmt = NULL;
		uint64_t n = 0;
		int more = 1;
		home h;

		begin(&h);
		forge(&h, "UPDATE accounts SET balance = x'00000000ffffffff' WHERE name = 'a3'");
		if (i == 1)
			ALLOWED(pctl_chain_begin(h.s, &call));
		ALLOWED(pctl_cursor_open(
			h.s, &call, &stmt,
			"SELECT * FROM main.accounts WHERE name < 'a4' ORDER BY name", ""));
		while (more &&
		       pctl_cursor_row(h.s, stmt, PCTL_STATE_accounts, &call, &more) == PCTL_OK)
			n++;
		assert_int_equal(more, 1);
		assert_int_equal(n, 23); /* a0, a1, a10 .. a19, a2, a20 .. a29 */
		is_named("was changed", "\"a3\"");
		sqlite3_finalize(stmt);
		pctl_chain_rollback(h.s);
		end(&h);
	}
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_track__the_root_is_that_of_the_document),
		PCTL_TEST(test_chain_track__the_root_is_a_function_of_the_rows),
		PCTL_TEST(test_chain_track__a_changed_row_is_found_when_it_is_read),
		PCTL_TEST(test_chain_track__a_changed_row_is_found_when_it_is_written),
		PCTL_TEST(test_chain_track__removed_and_added_rows_are_found),
		PCTL_TEST(test_chain_track__right_rows_are_right_whatever_is_asked),
		PCTL_TEST(test_chain_track__a_block_leaves_the_rows_that_are_there),
		PCTL_TEST(test_chain_track__a_block_finds_forged_rows_that_it_changes),
		PCTL_TEST(test_chain_track__whole_rows_are_right),
		PCTL_TEST(test_chain_track__the_tree_itself_is_held_against_its_parents))
