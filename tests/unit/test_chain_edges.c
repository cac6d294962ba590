/* The graph of the chain: what is added once, in which order it comes back, and what cannot be added. */
#include "main.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "chain/graph/edges.h"

#define JOB_A "job:00000000000000000000000000000000000000000000000000000000000000aa"
#define JOB_B "job:00000000000000000000000000000000000000000000000000000000000000bb"

static uint32_t last_code;

static void note(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	last_code = d->code;
}

static const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = note};

static char cids[8][PCTL_CID_TEXT_SIZE];

static pctl_chain_state *open_state(void)
{
	pctl_chain_state *s;

	for (uint32_t i = 0; i < 8; i++) {
		pctl_cid cid;

		assert_int_equal(pctl_cid_of(&i, sizeof(i), &call, &cid), PCTL_OK);
		pctl_cid_format(&cid, cids[i]);
	}
	assert_int_equal(pctl_chain_state_open_memory(&call, &s), PCTL_OK);
	assert_int_equal(pctl_chain_begin(s, &call), PCTL_OK);
	last_code = 0;
	return s;
}

static pctl_status add(pctl_chain_state *s, uint32_t kind, const char *source, const char *target,
		       const char *via, const char *job, uint64_t height, uint64_t clock)
{
	const pctl_edge e = {kind, 0, source, target, via, job, height, clock};

	return pctl_edges_add(s, &e, &call);
}

/* What a visit saw, as text: one line an edge. */
struct seen {
	char text[4096];
	uint32_t n, stop_after;
};

static const char *short_name(const char *name)
{
	static const char *const letters[8] = {"C0", "C1", "C2", "C3", "C4", "C5", "C6", "C7"};

	for (uint32_t i = 0; i < 8; i++)
		if (strcmp(name, cids[i]) == 0)
			return letters[i];
	return strcmp(name, JOB_A) == 0 ? "A" : strcmp(name, JOB_B) == 0 ? "B" : name;
}

static int see(void *ctx, const pctl_edge *e)
{
	struct seen *seen = ctx;
	const size_t at = strlen(seen->text);

	snprintf(seen->text + at, sizeof(seen->text) - at, "%s %s>%s via %s by %s @%u.%u\n",
		 pctl_edge_name(e->kind), short_name(e->source), short_name(e->target),
		 short_name(e->via), short_name(e->job), (unsigned)e->height, (unsigned)e->clock);
	return ++seen->n == seen->stop_after;
}

static void add_sample(pctl_chain_state *s)
{
	assert_int_equal(add(s, PCTL_EDGE_UPLOAD, "account:ada", cids[7], "", "", 1, 1), PCTL_OK);
	assert_int_equal(add(s, PCTL_EDGE_EXECUTED, "account:ada", JOB_A, "", JOB_A, 1, 2),
			 PCTL_OK);
	assert_int_equal(add(s, PCTL_EDGE_INPUT, cids[0], cids[1], cids[7], JOB_A, 1, 2), PCTL_OK);
	assert_int_equal(add(s, PCTL_EDGE_OUTPUT, JOB_A, cids[1], cids[7], JOB_A, 1, 2), PCTL_OK);
	assert_int_equal(add(s, PCTL_EDGE_LINK, cids[0], cids[2], "account:bob", "", 2, 9),
			 PCTL_OK);
	assert_int_equal(add(s, PCTL_EDGE_INPUT, cids[0], cids[3], cids[7], JOB_B, 2, 3), PCTL_OK);
	assert_int_equal(add(s, PCTL_EDGE_OUTPUT, JOB_B, cids[3], cids[7], JOB_B, 2, 3), PCTL_OK);
	assert_int_equal(add(s, PCTL_EDGE_ALIAS, "alias:rank", cids[7], "account:bob", "", 4, 9),
			 PCTL_OK);
}

static void test_chain_edges__come_back_in_their_order(void **state)
{
	pctl_chain_state *s = open_state();
	struct seen from = {.n = 0}, kind = {.n = 0}, to = {.n = 0}, block = {.n = 0},
		    all = {.n = 0}, first = {.stop_after = 1}, none = {.n = 0};
	uint64_t n;

	(void)state;
	add_sample(s);
	assert_int_equal(pctl_edges_from(s, cids[0], 0, see, &from, &call), PCTL_OK);
	assert_string_equal(from.text, "input C0>C1 via C7 by A @1.2\n"
				       "input C0>C3 via C7 by B @2.3\n"
				       "link C0>C2 via account:bob by  @2.9\n");
	assert_int_equal(pctl_edges_from(s, cids[0], PCTL_EDGE_LINK, see, &kind, &call), PCTL_OK);
	assert_string_equal(kind.text, "link C0>C2 via account:bob by  @2.9\n");
	assert_int_equal(pctl_edges_to(s, cids[7], 0, see, &to, &call), PCTL_OK);
	assert_string_equal(to.text, "upload account:ada>C7 via  by  @1.1\n"
				     "alias alias:rank>C7 via account:bob by  @4.9\n");
	assert_int_equal(pctl_edges_of_block(s, 2, see, &block, &call), PCTL_OK);
	assert_string_equal(block.text, "link C0>C2 via account:bob by  @2.9\n"
					"input C0>C3 via C7 by B @2.3\n"
					"output B>C3 via C7 by B @2.3\n");
	assert_int_equal(pctl_edges_all(s, see, &all, &call), PCTL_OK);
	assert_int_equal(all.n, 8);
	assert_int_equal(pctl_edges_from(s, cids[0], 0, see, &first, &call), PCTL_OK);
	assert_string_equal(first.text, "input C0>C1 via C7 by A @1.2\n");
	/* Blocks without edges, names without edges, names that were never seen. */
	for (uint64_t h = 0; h < 7; h += 3)
		assert_int_equal(pctl_edges_of_block(s, h, see, &none, &call), PCTL_OK);
	assert_int_equal(pctl_edges_of_block(s, UINT64_MAX, see, &none, &call), PCTL_OK);
	assert_int_equal(pctl_edges_to(s, cids[0], 0, see, &none, &call), PCTL_OK);
	assert_int_equal(pctl_edges_from(s, cids[6], 0, see, &none, &call), PCTL_OK);
	assert_int_equal(none.n, 0);
	assert_int_equal(pctl_edges_count(s, &call, &n), PCTL_OK);
	assert_int_equal(n, 8);
	pctl_chain_rollback(s);
	pctl_chain_state_close(s);
}

static void test_chain_edges__the_same_edge_is_there_once(void **state)
{
	pctl_chain_state *s = open_state();
	uint8_t before[PCTL_DIGEST_BYTES], after[PCTL_DIGEST_BYTES];
	uint64_t n;

	(void)state;
	add_sample(s);
	assert_int_equal(pctl_chain_root(s, &call, before), PCTL_OK);
	/* Again, at a later clock too; nothing changes, no name and no number. */
	assert_int_equal(add(s, PCTL_EDGE_LINK, cids[0], cids[2], "account:bob", "", 5, 20),
			 PCTL_OK);
	assert_int_equal(add(s, PCTL_EDGE_INPUT, cids[0], cids[3], cids[7], JOB_B, 4, 3), PCTL_OK);
	assert_int_equal(pctl_chain_root(s, &call, after), PCTL_OK);
	assert_memory_equal(before, after, sizeof(before));
	/* Any other field makes another edge. */
	assert_int_equal(add(s, PCTL_EDGE_LINK, cids[0], cids[2], "account:ada", "", 5, 9),
			 PCTL_OK);
	assert_int_equal(add(s, PCTL_EDGE_LINK, cids[2], cids[0], "account:bob", "", 5, 9),
			 PCTL_OK);
	assert_int_equal(add(s, PCTL_EDGE_INPUT, cids[0], cids[3], cids[7], JOB_A, 5, 9), PCTL_OK);
	assert_int_equal(add(s, PCTL_EDGE_INPUT, cids[0], cids[3], cids[6], JOB_A, 5, 9), PCTL_OK);
	assert_int_equal(add(s, PCTL_EDGE_PARENT, cids[0], cids[3], cids[6], JOB_A, 5, 9), PCTL_OK);
	assert_int_equal(pctl_edges_count(s, &call, &n), PCTL_OK);
	assert_int_equal(n, 13);
	assert_int_equal(pctl_chain_root(s, &call, after), PCTL_OK);
	assert_memory_not_equal(before, after, sizeof(before));
	pctl_chain_rollback(s);
	pctl_chain_state_close(s);
}

/* A step that is undone leaves no number behind: the next names get the numbers they would have got without it. */
static void test_chain_edges__what_is_undone_leaves_no_numbers(void **state)
{
	pctl_chain_state *a = open_state(), *b = open_state();
	uint8_t root_a[PCTL_DIGEST_BYTES], root_b[PCTL_DIGEST_BYTES];

	(void)state;
	add_sample(a);
	add_sample(b);
	assert_int_equal(sqlite3_exec(pctl_chain_db(a), "SAVEPOINT one", NULL, NULL, NULL), 0);
	assert_int_equal(add(a, PCTL_EDGE_LINK, cids[4], cids[5], "account:eve", "", 5, 9),
			 PCTL_OK);
	assert_int_equal(
		sqlite3_exec(pctl_chain_db(a), "ROLLBACK TO one; RELEASE one", NULL, NULL, NULL),
		0);
	assert_int_equal(add(a, PCTL_EDGE_LINK, cids[5], cids[4], "account:bob", "", 5, 9),
			 PCTL_OK);
	assert_int_equal(add(b, PCTL_EDGE_LINK, cids[5], cids[4], "account:bob", "", 5, 9),
			 PCTL_OK);
	assert_int_equal(pctl_chain_commit(a, &call), PCTL_OK);
	assert_int_equal(pctl_chain_begin(a, &call), PCTL_OK);
	assert_int_equal(add(a, PCTL_EDGE_LINK, cids[6], cids[4], "account:mal", "", 6, 9),
			 PCTL_OK);
	pctl_chain_rollback(a);
	assert_int_equal(pctl_chain_begin(a, &call), PCTL_OK);
	assert_int_equal(add(a, PCTL_EDGE_LINK, cids[4], cids[6], "account:bob", "", 6, 9),
			 PCTL_OK);
	assert_int_equal(add(b, PCTL_EDGE_LINK, cids[4], cids[6], "account:bob", "", 6, 9),
			 PCTL_OK);
	assert_int_equal(pctl_chain_root(a, &call, root_a), PCTL_OK);
	assert_int_equal(pctl_chain_root(b, &call, root_b), PCTL_OK);
	assert_memory_equal(root_a, root_b, sizeof(root_a));
	pctl_chain_rollback(a);
	pctl_chain_rollback(b);
	pctl_chain_state_close(a);
	pctl_chain_state_close(b);
}

/* Names that share their mark are still two names. */
static void test_chain_edges__marks_may_collide(void **state)
{
	pctl_chain_state *s = open_state();
	struct seen a = {.n = 0}, b = {.n = 0}, c = {.n = 0};
	char of_a[PCTL_CID_TEXT_SIZE];
	pctl_cid cid;

	(void)state;
	/* A CID and a job of one digest have one mark; so do two jobs with the same first six bytes. */
	assert_int_equal(add(s, PCTL_EDGE_PARENT, JOB_A, JOB_B, "", JOB_B, 1, 1), PCTL_OK);
	assert_int_equal(add(s, PCTL_EDGE_EXECUTED, "account:ada", JOB_A, "", JOB_A, 1, 1),
			 PCTL_OK);
	assert_int_equal(pctl_digest_parse_hex(&JOB_A[4], cid.digest), 1);
	pctl_cid_format(&cid, of_a);
	assert_int_equal(add(s, PCTL_EDGE_LINK, cids[0], of_a, "account:ada", "", 1, 1), PCTL_OK);
	assert_int_equal(pctl_edges_to(s, of_a, 0, see, &c, &call), PCTL_OK);
	assert_int_equal(c.n, 1);
	assert_int_equal(pctl_edges_to(s, JOB_A, 0, see, &a, &call), PCTL_OK);
	assert_string_equal(a.text, "executed account:ada>A via  by A @1.1\n");
	assert_int_equal(pctl_edges_to(s, JOB_B, 0, see, &b, &call), PCTL_OK);
	assert_string_equal(b.text, "parent A>B via  by B @1.1\n");
	pctl_chain_rollback(s);
	pctl_chain_state_close(s);
}

static void test_chain_edges__bad_names_and_heights_are_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"job:00",
		"job:00000000000000000000000000000000000000000000000000000000000000AA",
		"account:a\nb",
		"account:\xff",
		"account:0123456789012345678901234567890123456789012345678901234567890123456789012",
	};
	pctl_chain_state *s = open_state();
	uint8_t before[PCTL_DIGEST_BYTES], after[PCTL_DIGEST_BYTES];

	(void)state;
	add_sample(s);
	assert_int_equal(pctl_chain_root(s, &call, before), PCTL_OK);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		last_code = 0;
		assert_int_equal(add(s, PCTL_EDGE_LINK, bad[i], cids[1], "", "", 5, 9),
				 PCTL_E_INVALID);
		assert_int_equal(last_code, PC5880_EDGE_NAME);
		assert_int_equal(add(s, PCTL_EDGE_LINK, cids[6], bad[i], "", "", 5, 9),
				 PCTL_E_INVALID);
	}
	assert_int_equal(add(s, PCTL_EDGE_LINK, cids[6], cids[1], "", "", 3, 9), PCTL_E_INVALID);
	assert_int_equal(last_code, PC5881_EDGE_HEIGHT);
	assert_int_equal(add(s, PCTL_EDGE_LINK, cids[6], cids[1], "", "", 1ull << 63, 9),
			 PCTL_E_INVALID);
	assert_int_equal(add(s, PCTL_EDGE_LINK, cids[6], cids[1], "", "", 5, 1ull << 63),
			 PCTL_E_INVALID);
	assert_int_equal(pctl_chain_root(s, &call, after), PCTL_OK);
	assert_memory_equal(before, after, sizeof(before));
	assert_null(pctl_edge_name(0));
	assert_null(pctl_edge_name(PCTL_EDGE_DEPRECATED + 1));
	pctl_chain_rollback(s);
	pctl_chain_state_close(s);
}

static void test_chain_edges__a_file_changed_by_others_is_named(void **state)
{
	static const char *const damage[] = {
		"DELETE FROM names WHERE id = 2",
		"UPDATE names SET name = x'7900' WHERE id = 2",
		"UPDATE names SET name = x'' WHERE id = 2",
		"UPDATE names SET name = x'6300' WHERE id = 2",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(damage) / sizeof(damage[0]); i++) {
		pctl_chain_state *s = open_state();
		struct seen seen = {.n = 0};

		add_sample(s);
		assert_int_equal(sqlite3_exec(pctl_chain_db(s), damage[i], NULL, NULL, NULL), 0);
		assert_int_equal(pctl_edges_all(s, see, &seen, &call), PCTL_E_STORE);
		assert_int_equal(last_code, PC5882_EDGE_BROKEN);
		pctl_chain_rollback(s);
		pctl_chain_state_close(s);
	}
}

/* Steps of SQLite's machine. */
static int step(void *ctx)
{
	++*(uint64_t *)ctx;
	return 0;
}

/* Bytes that very many jobs gave, as zeros are: whoever asks for one of these jobs does not have all of them read. */
static void test_chain_edges__any_maker_is_found_at_once(void **state)
{
	pctl_chain_state *s = open_state();
	char source[PCTL_EDGE_NAME_MAX + 1], job[80];
	uint64_t steps[2] = {0, 0};

	(void)state;
	assert_int_equal(pctl_edges_any_to(s, cids[1], PCTL_EDGE_OUTPUT, &call, source), PCTL_OK);
	assert_string_equal(source, "");
	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t j = i == 0 ? 0 : 2; j < (i == 0 ? 2u : 500u); j++) {
			snprintf(job, sizeof(job), "job:%064x", j);
			assert_int_equal(add(s, PCTL_EDGE_OUTPUT, job, cids[1], "", job, 1, 1),
					 PCTL_OK);
		}
		sqlite3_progress_handler(pctl_chain_db(s), 1, step, &steps[i]);
		assert_int_equal(pctl_edges_any_to(s, cids[1], PCTL_EDGE_OUTPUT, &call, source),
				 PCTL_OK);
		sqlite3_progress_handler(pctl_chain_db(s), 0, NULL, NULL);
		assert_memory_equal(source, "job:", 4);
	}
	assert_true(steps[0] > 0 && steps[1] <= steps[0] + 8);
	assert_int_equal(pctl_edges_any_to(s, cids[1], PCTL_EDGE_LINK, &call, source), PCTL_OK);
	assert_string_equal(source, "");
	pctl_chain_rollback(s);
	pctl_chain_state_close(s);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_edges__any_maker_is_found_at_once),
		PCTL_TEST(test_chain_edges__come_back_in_their_order),
		PCTL_TEST(test_chain_edges__the_same_edge_is_there_once),
		PCTL_TEST(test_chain_edges__what_is_undone_leaves_no_numbers),
		PCTL_TEST(test_chain_edges__marks_may_collide),
		PCTL_TEST(test_chain_edges__bad_names_and_heights_are_refused),
		PCTL_TEST(test_chain_edges__a_file_changed_by_others_is_named))
