/* The chain's state: opening, transactions, and the root over its rows. */
#include "main.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chain/state/state.h"

static uint32_t last_code;

static void note(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	last_code = d->code;
}

static const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = note};

static void put(pctl_chain_state *s, const char *sql)
{
	assert_int_equal(pctl_chain_begin(s, &call), PCTL_OK);
	assert_int_equal(sqlite3_exec(pctl_chain_db(s), sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(pctl_chain_commit(s, &call), PCTL_OK);
}

static void root_of(pctl_chain_state *s, uint8_t out[PCTL_DIGEST_BYTES])
{
	assert_int_equal(pctl_chain_root(s, &call, out), PCTL_OK);
}

static void test_chain_state__root_is_a_function_of_the_rows(void **state)
{
	uint8_t empty[PCTL_DIGEST_BYTES], one[PCTL_DIGEST_BYTES], other[PCTL_DIGEST_BYTES];
	pctl_chain_state *a, *b;

	(void)state;
	assert_int_equal(pctl_chain_state_open_memory(&call, &a), PCTL_OK);
	assert_int_equal(pctl_chain_state_open_memory(&call, &b), PCTL_OK);
	root_of(a, empty);
	put(a, "INSERT INTO totals VALUES ('burned', x'0000000000000001')");
	put(a, "INSERT INTO totals VALUES ('treasury', x'0000000000000002')");
	put(b, "INSERT INTO totals VALUES ('treasury', x'0000000000000002')");
	put(b, "INSERT INTO totals VALUES ('burned', x'0000000000000003')");
	root_of(a, one);
	root_of(b, other);
	assert_memory_not_equal(one, empty, sizeof(one));
	assert_memory_not_equal(one, other, sizeof(one));
	put(b, "UPDATE totals SET amount = x'0000000000000001' WHERE name = 'burned'");
	root_of(b, other);
	assert_memory_equal(one, other, sizeof(one));
	/* The same bytes cut otherwise are other rows. */
	put(a, "INSERT INTO shader_tags VALUES ('ab', 'c')");
	put(b, "INSERT INTO shader_tags VALUES ('a', 'bc')");
	root_of(a, one);
	root_of(b, other);
	assert_memory_not_equal(one, other, sizeof(one));
	pctl_chain_state_close(a);
	pctl_chain_state_close(b);
}

static void test_chain_state__rollback_leaves_nothing(void **state)
{
	uint8_t before[PCTL_DIGEST_BYTES], after[PCTL_DIGEST_BYTES];
	pctl_chain_state *s;

	(void)state;
	assert_int_equal(pctl_chain_state_open_memory(&call, &s), PCTL_OK);
	root_of(s, before);
	assert_int_equal(pctl_chain_begin(s, &call), PCTL_OK);
	assert_int_equal(sqlite3_exec(pctl_chain_db(s), "INSERT INTO totals VALUES ('x', x'00')",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	pctl_chain_rollback(s);
	root_of(s, after);
	assert_memory_equal(before, after, sizeof(before));
	pctl_chain_state_close(s);
}

static void test_chain_state__another_schema_and_a_broken_file_are_refused(void **state)
{
	char dir[] = "/tmp/pctl-chain-XXXXXX", path[64];
	pctl_chain_state *s;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(pctl_chain_state_open(dir, &call, &s), PCTL_OK);
	assert_int_equal(
		sqlite3_exec(pctl_chain_db(s), "PRAGMA user_version = 77", NULL, NULL, NULL),
		SQLITE_OK);
	pctl_chain_state_close(s);
	assert_int_equal(pctl_chain_state_open(dir, &call, &s), PCTL_E_STORE);
	assert_int_equal(last_code, PC5702_CHAIN_VERSION);
	assert_null(s);
	snprintf(path, sizeof(path), "%s/state.sqlite", dir);
	f = fopen(path, "wb");
	assert_non_null(f);
	for (int i = 0; i < 1000; i++)
		fputs("no database", f);
	fclose(f);
	assert_int_equal(pctl_chain_state_open(dir, &call, &s), PCTL_E_STORE);
	assert_int_equal(last_code, PC5701_CHAIN_STATE);
	unlink(path);
	rmdir(dir);
}

/* Tables of a draft of the rules: where they are empty they are made again, where they are not the state is refused. */
static void test_chain_state__a_table_of_an_earlier_draft_is_made_again_or_refused(void **state)
{
	static const char old[] = "DROP TABLE blobs; CREATE TABLE blobs (cid TEXT NOT NULL, uses "
				  "INTEGER NOT NULL, PRIMARY KEY (cid)) STRICT, WITHOUT ROWID";
	char dir[] = "/tmp/pctl-chain-XXXXXX", path[64];
	uint8_t before[PCTL_DIGEST_BYTES], after[PCTL_DIGEST_BYTES];
	pctl_chain_state *s;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(pctl_chain_state_open(dir, &call, &s), PCTL_OK);
	root_of(s, before);
	assert_int_equal(sqlite3_exec(pctl_chain_db(s), old, NULL, NULL, NULL), SQLITE_OK);
	pctl_chain_state_close(s);
	assert_int_equal(pctl_chain_state_open(dir, &call, &s), PCTL_OK);
	root_of(s, after);
	assert_memory_equal(before, after, sizeof(before));
	assert_int_equal(sqlite3_exec(pctl_chain_db(s),
				      "INSERT INTO blobs VALUES ('c', 1, 'a', 1, 1)", NULL, NULL,
				      NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_exec(pctl_chain_db(s), old, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_exec(pctl_chain_db(s), "INSERT INTO blobs VALUES ('c', 1)", NULL,
				      NULL, NULL),
			 SQLITE_OK);
	pctl_chain_state_close(s);
	assert_int_equal(pctl_chain_state_open(dir, &call, &s), PCTL_E_STORE);
	assert_int_equal(last_code, PC5702_CHAIN_VERSION);
	for (const char *const *end = (const char *const[]){"", "-wal", "-shm", NULL}; *end;
	     end++) {
		snprintf(path, sizeof(path), "%s/state.sqlite%s", dir, *end);
		unlink(path);
	}
	rmdir(dir);
}

static void test_chain_state__a_second_writer_waits_and_is_refused(void **state)
{
	char dir[] = "/tmp/pctl-chain-XXXXXX", command[96];
	pctl_chain_state *a, *b;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(pctl_chain_state_open(dir, &call, &a), PCTL_OK);
	assert_int_equal(pctl_chain_state_open(dir, &call, &b), PCTL_OK);
	sqlite3_busy_timeout(pctl_chain_db(b), 50);
	assert_int_equal(pctl_chain_begin(a, &call), PCTL_OK);
	assert_int_equal(pctl_chain_begin(b, &call), PCTL_E_STORE);
	assert_int_equal(last_code, PC5703_CHAIN_BUSY);
	assert_int_equal(pctl_chain_commit(a, &call), PCTL_OK);
	assert_int_equal(pctl_chain_begin(b, &call), PCTL_OK);
	pctl_chain_rollback(b);
	pctl_chain_state_close(a);
	pctl_chain_state_close(b);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_state__root_is_a_function_of_the_rows),
		PCTL_TEST(test_chain_state__rollback_leaves_nothing),
		PCTL_TEST(test_chain_state__another_schema_and_a_broken_file_are_refused),
		PCTL_TEST(test_chain_state__a_table_of_an_earlier_draft_is_made_again_or_refused),
		PCTL_TEST(test_chain_state__a_second_writer_waits_and_is_refused))
