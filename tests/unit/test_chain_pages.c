/* Pages of numbered tables: the root is a function of their rows, however they came; a row of a page that somebody else changed, removed or added is
 * found by whatever reads a row of that page or adds one to it; and nobody changes what was added. */
#include "main.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/state/cursor.h"
#include "chain/state/tables.h"
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

static void root_of(pctl_chain_state *s, int is_held, uint8_t out[PCTL_DIGEST_BYTES])
{
	ALLOWED(pctl_chain_begin(s, &call));
	if (is_held)
		ALLOWED(pctl_chain_hold(s, &call));
	ALLOWED(pctl_chain_tree_root(s, &call, out));
	ALLOWED(pctl_chain_commit(s, &call));
}

static pctl_status add(pctl_chain_state *s, uint64_t mark)
{
	return pctl_cursor_write(s, &call, "INSERT INTO names (mark, name) VALUES (?, ?)", "hb",
				 mark, &mark, (uint64_t)sizeof(mark));
}

/* Of a row past the view, and of one through it; 0: there is none. */
static pctl_status whole(pctl_chain_state *s, uint64_t number, uint64_t *mark)
{
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status = pctl_cursor_keep(s, &call, &stmt,
					      "SELECT * FROM main.names WHERE id = ?", "h", number);

	if (status == PCTL_OK)
		status = pctl_cursor_row(s, stmt, PCTL_STATE_names, &call, &more);
	*mark = status == PCTL_OK && more ? (uint64_t)sqlite3_column_int64(stmt, 1) : 0;
	pctl_cursor_done(stmt);
	return status;
}

static pctl_status viewed(pctl_chain_state *s, uint64_t number, uint64_t *mark)
{
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status = pctl_cursor_keep(s, &call, &stmt,
					      "SELECT mark FROM names WHERE id = ?", "h", number);

	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, &call, &more);
	*mark = status == PCTL_OK && more ? (uint64_t)sqlite3_column_int64(stmt, 0) : 0;
	pctl_cursor_done(stmt);
	return status;
}

static uint64_t random_at;
static uint64_t draw(uint64_t n)
{
	random_at = pctl_mix64(random_at + PCTL_SPLITMIX_STEP);
	return random_at % n;
}

/* Rows added in many transactions, of which some are undone whole or in part, between roots that are held or not. */
static void test_chain_pages__the_root_is_a_function_of_the_rows(void **state)
{
	static uint64_t must[2000];
	uint8_t root[PCTL_DIGEST_BYTES], again[PCTL_DIGEST_BYTES];
	uint64_t n = 0, rows, mark;
	pctl_chain_state *s, *fresh;

	(void)state;
	random_at = 5;
	ALLOWED(pctl_chain_state_open_memory(&call, &s));
	root_of(s, 0, root);
	for (int round = 0; round < 80; round++) {
		const uint64_t before = n;
		const int undo = round % 7 == 3, ends = round % 5 == 4;

		ALLOWED(pctl_chain_begin(s, &call));
		if (ends)
			ALLOWED(pctl_chain_hold(s, &call));
		for (uint64_t i = draw(30); i > 0; i--) {
			const uint64_t kept = n;
			const int partly = draw(4) == 0;

			if (partly)
				ALLOWED(pctl_cursor_write(s, &call, "SAVEPOINT some", ""));
			for (uint64_t k = draw(3); k > 0; k--) {
				must[n] = 1 + draw(1000000);
				ALLOWED(add(s, must[n++]));
			}
			if (partly) {
				ALLOWED(pctl_cursor_write(s, &call, "ROLLBACK TO some", ""));
				ALLOWED(pctl_cursor_write(s, &call, "RELEASE some", ""));
				n = kept;
			}
			if (n > 0 && draw(2) == 0) {
				const uint64_t at = draw(n + 3);

				ALLOWED((draw(2) == 0 ? whole : viewed)(s, at + 1, &mark));
				assert_int_equal(mark, at < n ? must[at] : 0);
			}
		}
		if (ends && draw(2) == 0) { /* and behind the root, as an epoch's rows come */
			ALLOWED(pctl_chain_tree_root(s, &call, root));
			must[n] = 7;
			ALLOWED(add(s, must[n++]));
		}
		if (undo) {
			pctl_chain_rollback(s);
			n = before;
		} else {
			ALLOWED(pctl_chain_commit(s, &call));
		}
		if (round % 4 == 0)
			root_of(s, round % 8 == 0, root);
		ALLOWED(pctl_chain_scrub(s, &call, &rows));
		assert_int_equal(rows, n);
	}
	assert_true(n > 300);
	root_of(s, 1, root);
	ALLOWED(pctl_chain_state_open_memory(&call, &fresh));
	ALLOWED(pctl_chain_begin(fresh, &call));
	for (uint64_t i = 0; i < n; i++)
		ALLOWED(add(fresh, must[i]));
	ALLOWED(pctl_chain_commit(fresh, &call));
	root_of(fresh, 0, again);
	assert_memory_equal(root, again, sizeof(root));
	pctl_chain_state_close(s);
	pctl_chain_state_close(fresh);
}

/* A page as bytes: its number, then rows of these ids. */
static void spell(pctl_str_buf *out, int64_t page, const int64_t *ids, uint32_t n)
{
	pctl_row_value v = {.kind = 'i', .number = page};

	out->n = 0;
	pctl_row_add(out, &v);
	for (uint32_t i = 0; i < n; i++) {
		v = (pctl_row_value){.kind = 'i', .number = ids[i]};
		pctl_row_add(out, &v);
		v.number = 5;
		pctl_row_add(out, &v);
		v = (pctl_row_value){.kind = 'b', .data = (const uint8_t *)"tx", .n = 2};
		pctl_row_add(out, &v);
	}
}

static void test_chain_pages__what_is_no_page_is_none(void **state)
{
	static const struct {
		int64_t page, ids[3];
		uint32_t n;
		int fits;
	} pages[] = {
		{0, {1, 2, 16}, 3, 1},	{0, {1}, 1, 1},		 {0, {16}, 1, 1},
		{1, {17, 32, 0}, 2, 1}, {0, {0}, 0, 0},		 {0, {17}, 1, 0},
		{1, {16}, 1, 0},	{0, {2, 1, 0}, 2, 0},	 {0, {2, 2, 0}, 2, 0},
		{0, {0, 1, 0}, 2, 0},	{0, {-3, 1, 0}, 2, 0},	 {-1, {-3}, 1, 0},
		{1, {17, 33, 0}, 2, 0}, {2, {33, 48, 49}, 3, 0},
	};
	pctl_str_buf bytes = PCTL_STR_BUF_INIT;
	const pctl_state_table *names;
	uint64_t n_key;
	uint32_t n;

	(void)state;
	names = &pctl_state_tables(&n)[PCTL_STATE_names];
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		const uint8_t *data;

		spell(&bytes, pages[i].page, pages[i].ids, pages[i].n);
		data = (const uint8_t *)bytes.data;
		assert_int_equal(pctl_row_fits(names, data, bytes.n, &n_key), pages[i].fits);
		if (!pages[i].fits)
			continue;
		assert_int_equal(n_key, 9);
		for (uint64_t cut = 0; cut < bytes.n;
		     cut++) /* at the end of a row it is one again */
			assert_int_equal(pctl_row_fits(names, data, cut, &n_key),
					 cut > 9 && (cut - 9) % 25 == 0);
		pctl_str_add_n(&bytes, "i", 1);
		assert_int_equal(pctl_row_fits(names, (const uint8_t *)bytes.data, bytes.n, &n_key),
				 0);
	}
	pctl_str_drop(&bytes);
}

/* ---- rows that somebody else wrote ------------------------------------------------------------ */

/* Rows 1 to 40 under a root, so that the last page has 8; 41 to 44 since. */
static void begin(char dir[40], pctl_chain_state **s)
{
	uint8_t root[PCTL_DIGEST_BYTES];

	strcpy(dir, "/tmp/pctl-chain-XXXXXX");
	assert_non_null(mkdtemp(dir));
	ALLOWED(pctl_chain_state_open(dir, &call, s));
	for (uint64_t i = 1; i <= 44; i++) {
		if (i == 41)
			root_of(*s, 1, root);
		ALLOWED(pctl_chain_begin(*s, &call));
		ALLOWED(add(*s, i));
		ALLOWED(pctl_chain_commit(*s, &call));
	}
	last_code = 0;
}

static void end(const char *dir, pctl_chain_state *s)
{
	char command[64];

	pctl_chain_state_close(s);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

static void forge(const char *dir, const char *sql)
{
	char path[64];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/state.sqlite", dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	last_code = 0;
}

static void is_found(pctl_status status, const char *page)
{
	if (last_code != PC6140_TREE_ROW || strstr(last_text, page) == NULL)
		print_message("%u %s\n", last_code, last_text);
	assert_int_equal(status, PCTL_E_STORE);
	assert_int_equal(last_code, PC6140_TREE_ROW);
	assert_non_null(strstr(last_text, page));
	last_code = 0;
}

static void test_chain_pages__a_row_that_was_changed_is_found(void **state)
{
	/* A row, one beside it on its page, and one on another. */
	static const uint64_t rows[][3] = {{3, 16, 17}, {35, 44, 5}, {43, 33, 32}};
	static const char *const pages[] = {"names, page 0", "names, page 2", "names, page 2"};

	(void)state;
	for (int i = 0; i < 3; i++) {
		pctl_status (*const reads[])(pctl_chain_state *, uint64_t, uint64_t *) = {whole,
											  viewed};
		char dir[40], sql[80];
		pctl_chain_state *s;
		uint64_t mark, n;

		begin(dir, &s);
		snprintf(sql, sizeof(sql), "UPDATE names SET mark = 999 WHERE id = %d",
			 (int)rows[i][0]);
		forge(dir, sql);
		for (int k = 0; k < 4; k++) { /* in a transaction, and outside */
			if (k >= 2)
				ALLOWED(pctl_chain_begin(s, &call));
			ALLOWED(reads[k % 2](s, rows[i][2], &mark));
			assert_int_equal(mark, rows[i][2]);
			is_found(reads[k % 2](s, rows[i][1], &mark), pages[i]);
			if (k >= 2)
				pctl_chain_rollback(s);
			is_found(reads[k % 2](s, rows[i][0], &mark), pages[i]);
		}
		is_found(pctl_chain_scrub(s, &call, &n), pages[i]);
		end(dir, s);
	}
}

/* Whoever adds to a page is told that it is not what it was, in the end at the latest; held or not. */
static void test_chain_pages__adding_to_a_forged_page_is_found(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		char dir[40];
		uint8_t root[PCTL_DIGEST_BYTES];
		pctl_chain_state *s;
		pctl_status status;

		begin(dir, &s);
		if (i % 2 != 0) /* the page is in the tree as it is */
			root_of(s, 1, root);
		forge(dir, "UPDATE names SET mark = 999 WHERE id = 34");
		ALLOWED(pctl_chain_begin(s, &call));
		if (i >= 2)
			ALLOWED(pctl_chain_hold(s, &call));
		ALLOWED(add(s, 45));
		status = i < 2 ? pctl_chain_commit(s, &call) : pctl_chain_tree_root(s, &call, root);
		is_found(status, "names, page 2");
		pctl_chain_rollback(s);
		end(dir, s);
	}
}

static void test_chain_pages__removed_and_added_rows_are_found(void **state)
{
	static const struct {
		const char *sql;
		uint64_t read;
		const char *page;
	} forgeries[] = {
		{"DELETE FROM names WHERE id = 20", 20, "names, page 1"},
		{"DELETE FROM names WHERE id = 44", 44, "names, page 2"},
		{"DELETE FROM names WHERE id BETWEEN 17 AND 32", 20, "names, page 1"},
		{"INSERT INTO names VALUES (45, 1, x'61')", 45, "names, page 2"},
		{"INSERT INTO names VALUES (480, 1, x'61')", 480, "names, page 29"},
		{"UPDATE names SET id = 400 WHERE id = 20", 20, "names, page 1"},
		{"UPDATE names SET id = 400 WHERE id = 20", 400, "names, page 24"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(forgeries) / sizeof(forgeries[0]); i++) {
		char dir[40];
		pctl_chain_state *s;
		uint64_t mark, n;

		begin(dir, &s);
		forge(dir, forgeries[i].sql);
		is_found(viewed(s, forgeries[i].read, &mark), forgeries[i].page);
		assert_int_equal(pctl_chain_scrub(s, &call, &n), PCTL_E_STORE);
		assert_int_equal(last_code, PC6140_TREE_ROW);
		end(dir, s);
	}
}

/* The chain itself only adds. */
static void test_chain_pages__what_was_added_is_not_changed(void **state)
{
	static const char *const changes[] = {"UPDATE names SET mark = 1 WHERE id = ?",
					      "DELETE FROM names WHERE id = ?"};

	(void)state;
	for (int i = 0; i < 4; i++) {
		char dir[40];
		pctl_chain_state *s;

		begin(dir, &s);
		ALLOWED(pctl_chain_begin(s, &call));
		(void)pctl_cursor_write(s, &call, changes[i % 2], "h", (uint64_t)(i < 2 ? 3 : 44));
		is_found(pctl_chain_commit(s, &call), i < 2 ? "names, page 0" : "names, page 2");
		pctl_chain_rollback(s);
		end(dir, s);
	}
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_pages__what_is_no_page_is_none),
		PCTL_TEST(test_chain_pages__the_root_is_a_function_of_the_rows),
		PCTL_TEST(test_chain_pages__a_row_that_was_changed_is_found),
		PCTL_TEST(test_chain_pages__adding_to_a_forged_page_is_found),
		PCTL_TEST(test_chain_pages__removed_and_added_rows_are_found),
		PCTL_TEST(test_chain_pages__what_was_added_is_not_changed))
