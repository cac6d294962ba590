/* The graph as bytes: one spelling to the byte, whatever the order of its links; what counts once; stakes made small;
 * what of the state is taken. */
#include "main.h"

#include <stdio.h>
#include <stdlib.h>

#include "chain/epoch/epoch.h"
#include "chain/epoch/snapshot.h"

static uint32_t last_code;

static void note(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	last_code = d->code;
}

static const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = note};

#define ALLOWED(what) assert_int_equal(what, PCTL_OK)

static uint32_t word(const pctl_snapshot *s, uint64_t i)
{
	const uint8_t *b = s->graph + 4 * i;

	assert_true(4 * i + 4 <= s->n_graph);
	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static const pctl_snapshot_link links[] = {
	{"b", "a", "ben", 7, 0}, {"a", "c", "ann", 5, 9},
	{"a", "b", "ben", 6, 0}, {"a", "b", "ann", 0x1122334455, 9},
	{"a", "b", "ann", 6, 9}, /* the same again: the earlier clock counts */
};
#define N_LINKS (sizeof(links) / sizeof(links[0]))

static void test_chain_snapshot__bytes_are_those_of_the_description(void **state)
{
	static const uint32_t totals[] = {21, 1, 0}, ends[] = {0, 1, 0, 1, 0, 2, 1, 0};
	static const uint32_t weights[] = {1, 10, 10, 1}, clocks[] = {6, 0, 6, 0, 5, 0, 7, 0};
	pctl_snapshot_link mine[N_LINKS];
	pctl_snapshot s;
	pctl_cid names;

	(void)state;
	memcpy(mine, links, sizeof(links));
	ALLOWED(pctl_snapshot_spell(mine, N_LINKS, 0x100000002, &call, &s));
	assert_int_equal(s.n_nodes, 3);
	assert_int_equal(s.n_edges, 4);
	assert_int_equal(s.n_names, 6);
	assert_memory_equal(s.names, "a\nb\nc\n", 6);
	assert_int_equal(s.n_graph, 4 * (16 + 3 + 5 * 4));
	assert_memory_equal(s.graph, "pctlrank", 8);
	assert_int_equal(word(&s, 2), 1);
	assert_int_equal(word(&s, 3), 3);
	assert_int_equal(word(&s, 4), 4);
	assert_int_equal(word(&s, 5), 0);
	assert_int_equal(word(&s, 6), 2);
	assert_int_equal(word(&s, 7), 1);
	ALLOWED(pctl_cid_of("a\nb\nc\n", 6, &call, &names));
	assert_memory_equal(s.graph + 32, names.digest, PCTL_DIGEST_BYTES);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(word(&s, 16 + i), totals[i]);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(word(&s, 19 + i), ends[i]);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(word(&s, 27 + i), weights[i]);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(word(&s, 31 + i), clocks[i]);
	pctl_snapshot_clear(&s);
}

static void test_chain_snapshot__the_order_of_links_does_not_show(void **state)
{
	pctl_snapshot_link mine[N_LINKS];
	pctl_snapshot first, s;

	(void)state;
	memcpy(mine, links, sizeof(links));
	ALLOWED(pctl_snapshot_spell(mine, N_LINKS, 3, &call, &first));
	for (uint32_t by = 1; by < N_LINKS; by++) {
		for (uint32_t i = 0; i < N_LINKS; i++)
			mine[i] = links[(i * (by == 4 ? 4 : 1) + by) % N_LINKS];
		ALLOWED(pctl_snapshot_spell(mine, N_LINKS, 3, &call, &s));
		assert_int_equal(s.n_graph, first.n_graph);
		assert_memory_equal(s.graph, first.graph, s.n_graph);
		assert_int_equal(s.n_names, first.n_names);
		assert_memory_equal(s.names, first.names, s.n_names);
		pctl_snapshot_clear(&s);
	}
	/* And what is another graph has other bytes: the fault that this test is there for. */
	memcpy(mine, links, sizeof(links));
	mine[0].clock = 8;
	ALLOWED(pctl_snapshot_spell(mine, N_LINKS, 3, &call, &s));
	assert_int_equal(s.n_graph, first.n_graph);
	assert_memory_not_equal(s.graph, first.graph, s.n_graph);
	pctl_snapshot_clear(&s);
	pctl_snapshot_clear(&first);
}

static void test_chain_snapshot__stakes_are_shifted_until_they_fit(void **state)
{
	static const struct {
		uint64_t one, two;
		uint32_t shift, first, second;
	} cases[] = {
		{0xfffffffd, 0, 0, 0xfffffffe, 1},
		{0xfffffffe, 0, 1, 0x80000000, 1},
		{0x7fffffff, 0x7fffffff, 1, 0x40000000, 0x40000000},
		{UINT64_MAX, 1, 33, 0x80000000, 1},
		{UINT64_MAX, UINT64_MAX, 34, 0x40000000, 0x40000000},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pctl_snapshot_link mine[] = {{"a", "b", "ann", 1, cases[i].one},
					     {"a", "c", "ben", 1, cases[i].two}};
		pctl_snapshot s;

		ALLOWED(pctl_snapshot_spell(mine, 2, 1, &call, &s));
		assert_int_equal(word(&s, 5), cases[i].shift);
		assert_int_equal(word(&s, 23), cases[i].first);
		assert_int_equal(word(&s, 24), cases[i].second);
		assert_int_equal(word(&s, 16), (uint64_t)cases[i].first + cases[i].second);
		pctl_snapshot_clear(&s);
	}
}

static void test_chain_snapshot__no_link_is_a_graph(void **state)
{
	pctl_snapshot s;

	(void)state;
	ALLOWED(pctl_snapshot_spell(NULL, 0, 1, &call, &s));
	assert_int_equal(s.n_nodes, 0);
	assert_int_equal(s.n_names, 0);
	assert_int_equal(s.n_graph, 64);
	pctl_snapshot_clear(&s);
}

static void test_chain_snapshot__too_many_nodes_are_refused(void **state)
{
	const uint64_t n = PCTL_SNAPSHOT_NODES_MAX / 2 + 1;
	pctl_snapshot_link *mine = calloc(n, sizeof(*mine));
	char *texts = malloc(n * 16);
	pctl_snapshot s;

	(void)state;
	assert_non_null(mine);
	assert_non_null(texts);
	for (uint64_t i = 0; i < n; i++) {
		snprintf(texts + 16 * i, 8, "%07x", (unsigned)i);
		snprintf(texts + 16 * i + 8, 8, "z%06x", (unsigned)i);
		mine[i] = (pctl_snapshot_link){texts + 16 * i, texts + 16 * i + 8, "ann", 1, 0};
	}
	last_code = 0;
	assert_int_equal(pctl_snapshot_spell(mine, n, 1, &call, &s), PCTL_E_LIMIT);
	assert_int_equal(last_code, PC6100_EPOCH_GRAPH);
	assert_null(s.graph);
	/* The good twin: one less. */
	ALLOWED(pctl_snapshot_spell(mine, n - 1, 1, &call, &s));
	assert_int_equal(s.n_nodes, PCTL_SNAPSHOT_NODES_MAX);
	pctl_snapshot_clear(&s);
	free(mine);
	free(texts);
}

/* ---- from the state ------------------------------------------------------------------------- */

static void add(pctl_chain_state *s, uint32_t kind, const char *source, const char *target,
		const char *via, const char *job, uint64_t clock)
{
	const pctl_edge e = {kind, 0, source, target, via, job, 1, clock};

	ALLOWED(pctl_edges_add(s, &e, &call));
}

static void add_job(pctl_chain_state *s, uint8_t number, const char *sender, char name[80])
{
	char text[PCTL_JOB_TEXT_SIZE];
	pctl_chain_job job = {.id = {number},
			      .position = number,
			      .height = 1,
			      .clock = 1,
			      .message = &number,
			      .n_message = 1};

	snprintf(job.sender, sizeof(job.sender), "%s", sender);
	ALLOWED(pctl_jobs_add(s, &job, &call));
	snprintf(name, 80, "job:%s", pctl_job_id_format(job.id, text));
}

static void test_chain_snapshot__links_and_inputs_of_accounts_are_taken(void **state)
{
	char cids[3][PCTL_CID_TEXT_SIZE], jobs[2][80];
	pctl_chain_state *s;
	pctl_snapshot shot;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		pctl_cid cid;

		ALLOWED(pctl_cid_of(&i, sizeof(i), &call, &cid));
		pctl_cid_format(&cid, cids[i]);
	}
	ALLOWED(pctl_chain_state_open_memory(&call, &s));
	ALLOWED(pctl_chain_begin(s, &call));
	ALLOWED(pctl_ledger_credit(s, "ann", 100, &call));
	ALLOWED(pctl_ledger_bond(s, "ann", 40, &call));
	ALLOWED(pctl_ledger_credit(s, "ben", 100, &call));
	ALLOWED(pctl_ledger_credit(s, PCTL_EPOCH_ACCOUNT, 100, &call));
	add_job(s, 1, "ann", jobs[0]);
	add_job(s, 2, PCTL_EPOCH_ACCOUNT, jobs[1]);
	add(s, PCTL_EDGE_LINK, cids[0], cids[1], "account:ben", "", 3);
	add(s, PCTL_EDGE_INPUT, cids[0], cids[1], cids[2], jobs[0], 4);
	/* None of these is a link or somebody's input. */
	add(s, PCTL_EDGE_INPUT, cids[1], cids[2], cids[2], jobs[1], 5);
	add(s, PCTL_EDGE_LINK, cids[1], cids[2], "account:" PCTL_EPOCH_ACCOUNT, "", 5);
	add(s, PCTL_EDGE_OUTPUT, jobs[0], cids[1], cids[2], jobs[0], 4);
	ALLOWED(pctl_snapshot_take(s, 9, 0, &call, &shot));
	assert_int_equal(shot.n_nodes, 2);
	assert_int_equal(shot.n_edges, 2);
	assert_int_equal(word(&shot, 6), 9);
	assert_int_equal(word(&shot, 22), 1); /* ben has no bond, ann one of 40 */
	assert_int_equal(word(&shot, 23), 41);
	assert_int_equal(word(&shot, 24), 3);
	assert_int_equal(word(&shot, 26), 4);
	pctl_snapshot_clear(&shot);
	pctl_chain_rollback(s);
	pctl_chain_state_close(s);
}

static uint32_t word_of(const uint8_t *w, uint64_t i)
{
	const uint8_t *b = w + 4 * i;

	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* Parts one behind the other are the graph; c, which nothing leaves, is told of by the first alone. */
static void test_chain_snapshot__parts_are_the_graph_in_pieces(void **state)
{
	pctl_snapshot_link mine[N_LINKS];
	pctl_snapshot s;

	(void)state;
	memcpy(mine, links, sizeof(links));
	ALLOWED(pctl_snapshot_spell(mine, N_LINKS, 3, &call, &s));
	assert_int_equal(word(&s, 16 + 2), 0);
	for (uint32_t most = 1; most < 6; most++) {
		const uint32_t n = pctl_snapshot_parts(&s, most);
		uint32_t at = 0;

		assert_int_equal(n, (4 + most - 1) / most);
		for (uint32_t part = 0; part < n; part++) {
			uint8_t *w;
			uint64_t bytes, m;

			ALLOWED(pctl_snapshot_part(&s, most, part, &call, &w, &bytes));
			if (n == 1) {
				assert_int_equal(bytes, s.n_graph);
				assert_memory_equal(w, s.graph, bytes);
			}
			m = word_of(w, 4);
			assert_int_equal(bytes, 4 * (16 + 3 + 5 * m));
			assert_int_equal(word_of(w, 2), n == 1 ? 1 : 2);
			assert_int_equal(word_of(w, 16), 21);
			assert_int_equal(word_of(w, 18), part == 0 ? 0 : 1);
			for (uint32_t e = 0; e < m; e++, at++) {
				for (uint32_t k = 0; k < 2; k++) {
					assert_int_equal(word_of(w, 19 + 2 * e + k),
							 word(&s, 19 + 2 * at + k));
					assert_int_equal(word_of(w, 19 + 3 * m + 2 * e + k),
							 word(&s, 19 + 12 + 2 * at + k));
				}
				assert_int_equal(word_of(w, 19 + 2 * m + e), word(&s, 19 + 8 + at));
			}
			free(w);
		}
		assert_int_equal(at, 4);
	}
	pctl_snapshot_clear(&s);
}

/* What is above a limit is left out, from the least stake and the latest clock on; nothing is refused. */
static void test_chain_snapshot__the_least_links_are_left_out(void **state)
{
	static const pctl_snapshot_link some[] = {{"a", "b", "ann", 9, 5},
						  {"c", "d", "ben", 1, 4},
						  {"b", "a", "cy", 2, 4},
						  {"e", "a", "dee", 1, 6}};
	pctl_snapshot_link mine[4];
	pctl_snapshot s;

	(void)state;
	memcpy(mine, some, sizeof(some));
	ALLOWED(pctl_snapshot_spell_most(mine, 4, 1, 3, 9, &call,
					 &s)); /* not b to a: later than c to d */
	assert_int_equal(s.n_edges, 3);
	assert_memory_equal(s.names, "a\nb\nc\nd\ne\n", 10);
	pctl_snapshot_clear(&s);
	memcpy(mine, some, sizeof(some));
	ALLOWED(pctl_snapshot_spell_most(mine, 4, 1, 9, 3, &call,
					 &s)); /* not c to d: two nodes too many */
	assert_int_equal(s.n_edges, 3);
	assert_int_equal(s.n_nodes, 3);
	assert_memory_equal(s.names, "a\nb\ne\n", 6);
	pctl_snapshot_clear(&s);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_snapshot__bytes_are_those_of_the_description),
		PCTL_TEST(test_chain_snapshot__the_order_of_links_does_not_show),
		PCTL_TEST(test_chain_snapshot__stakes_are_shifted_until_they_fit),
		PCTL_TEST(test_chain_snapshot__no_link_is_a_graph),
		PCTL_TEST(test_chain_snapshot__too_many_nodes_are_refused),
		PCTL_TEST(test_chain_snapshot__links_and_inputs_of_accounts_are_taken),
		PCTL_TEST(test_chain_snapshot__parts_are_the_graph_in_pieces),
		PCTL_TEST(test_chain_snapshot__the_least_links_are_left_out))
