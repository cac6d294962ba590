/* Histories over a graph made by hand: what they hold, in which order, where they are cut, and what damage is named. */
#include "main.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "chain/provenance/provenance.h"

static uint32_t last_code;

static void note(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	last_code = d->code;
}

static const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = note};

/* Names of things: c(0), c(1) .. are CIDs, j(0), j(1) .. jobs. */
static char *c(uint32_t n)
{
	static char names[16][PCTL_CID_TEXT_SIZE];
	pctl_cid cid;

	assert_int_equal(pctl_cid_of(&n, sizeof(n), &call, &cid), PCTL_OK);
	return pctl_cid_format(&cid, names[n]);
}

static char *j(uint32_t n)
{
	static char names[16][PCTL_EDGE_NAME_MAX];

	snprintf(names[n], sizeof(names[n]), "job:%064x", n);
	return names[n];
}

static void edge(pctl_chain_state *s, uint32_t kind, const char *source, const char *target,
		 const char *via, const char *job, uint64_t clock)
{
	const pctl_edge e = {kind, 0, source, target, via, job, clock, clock};

	assert_int_equal(pctl_edges_add(s, &e, &call), PCTL_OK);
}

/* Job n of ada's at a clock: inputs to output through shader c(15), after a parent (-1: none). */
static void job(pctl_chain_state *s, uint32_t n, uint64_t clock, uint32_t a, uint32_t b,
		uint32_t output, int parent)
{
	edge(s, PCTL_EDGE_EXECUTED, "account:ada", j(n), "", j(n), clock);
	if (parent >= 0)
		edge(s, PCTL_EDGE_PARENT, j((uint32_t)parent), j(n), "", j(n), clock);
	edge(s, PCTL_EDGE_INPUT, c(a), c(output), c(15), j(n), clock);
	edge(s, PCTL_EDGE_INPUT, c(b), c(output), c(15), j(n), clock);
	edge(s, PCTL_EDGE_OUTPUT, j(n), c(output), c(15), j(n), clock);
}

/* c0, c1 given. j1: c0 c1 -> c2; j2: c2 c1 -> c3; j3: c2 c3 -> c4 after j2; j4: c0 c1 -> c2 again; j5: c4 c2 -> c0. */
static pctl_chain_state *open_sample(void)
{
	pctl_chain_state *s;

	assert_int_equal(pctl_chain_state_open_memory(&call, &s), PCTL_OK);
	assert_int_equal(pctl_chain_begin(s, &call), PCTL_OK);
	edge(s, PCTL_EDGE_UPLOAD, "account:bob", c(15), "", "", 1);
	job(s, 1, 2, 0, 1, 2, -1);
	job(s, 2, 3, 2, 1, 3, -1);
	job(s, 3, 4, 2, 3, 4, 2);
	job(s, 4, 5, 0, 1, 2, -1);
	job(s, 5, 6, 4, 2, 0, -1);
	last_code = 0;
	return s;
}

static uint32_t number_of(const uint8_t id[PCTL_DIGEST_BYTES])
{
	return id[PCTL_DIGEST_BYTES - 1];
}

static pctl_provenance read_history(pctl_chain_state *s, const char *name, uint32_t depth,
				    uint32_t steps, uint32_t flags)
{
	const pctl_provenance_options o = {.max_depth = depth, .max_steps = steps, .flags = flags};
	pctl_provenance p;

	assert_int_equal(pctl_provenance_read(s, name, &o, &call, &p), PCTL_OK);
	return p;
}

static void expect_jobs(const pctl_provenance *p, const char *want)
{
	char got[256] = "";

	for (uint32_t i = 0; i < p->n_steps; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%u@%u ",
			 number_of(p->steps[i].job), p->steps[i].depth);
	assert_string_equal(got, want);
}

static void test_chain_provenance__back_to_what_was_given(void **state)
{
	pctl_chain_state *s = open_sample();
	pctl_provenance p = read_history(s, c(4), 64, 1000, 0);
	uint32_t *order = pctl_provenance_order(&p), n;
	pctl_cid *cids;

	(void)state;
	/* j3 took c2 of j1 (not of j4, which came later) and c3 of j2; j2 took c2 of j1. */
	expect_jobs(&p, "3@1 2@2 1@2 ");
	assert_int_equal(p.n_makers, 1);
	assert_int_equal(p.cut_depth + p.cut_steps, 0);
	assert_string_equal(p.steps[0].output, c(4));
	assert_string_equal(p.steps[0].shader, c(15));
	assert_string_equal(p.steps[0].author, "bob");
	assert_string_equal(p.steps[0].sender, "ada");
	assert_int_equal(p.steps[0].clock, 4);
	assert_int_equal(p.steps[0].n_links, 3);
	for (uint32_t i = 0; i < 2; i++) {
		const pctl_provenance_link *given = &p.links[p.steps[2].first_link + i];

		assert_string_equal(given->name, c(i));
		assert_int_equal(given->has_maker, 0);
	}
	/* In the order in which it happened. */
	assert_non_null(order);
	assert_int_equal(number_of(p.steps[order[0]].job), 1);
	assert_int_equal(number_of(p.steps[order[2]].job), 3);
	free(order);
	/* c0 to c4 and the shader. */
	assert_int_equal(pctl_provenance_cids(&p, &call, &cids, &n), PCTL_OK);
	assert_int_equal(n, 6);
	free(cids);
	pctl_provenance_clear(&p);
	pctl_chain_rollback(s);
	pctl_chain_state_close(s);
}

/* c0 was given, and later j5 made the same bytes out of what had come from them: no circle. */
static void test_chain_provenance__what_was_made_again_is_no_circle(void **state)
{
	pctl_chain_state *s = open_sample();
	pctl_provenance p = read_history(s, c(0), 64, 1000, PCTL_PROVENANCE_ALL);

	(void)state;
	expect_jobs(&p, "5@1 3@2 1@2 4@2 2@3 ");
	pctl_provenance_clear(&p);
	p = read_history(s, c(2), 64, 1000, 0);
	expect_jobs(&p, "1@1 ");
	assert_int_equal(p.n_makers, 2);
	pctl_provenance_clear(&p);
	p = read_history(s, c(2), 64, 1000, PCTL_PROVENANCE_ALL);
	expect_jobs(&p, "1@1 4@1 ");
	pctl_provenance_clear(&p);
	p = read_history(s, j(2), 64, 1000, 0);
	expect_jobs(&p, "2@1 1@2 ");
	pctl_provenance_clear(&p);
	/* Given alone: nothing made it. */
	p = read_history(s, c(1), 64, 1000, 0);
	expect_jobs(&p, "");
	assert_int_equal(p.n_makers, 0);
	pctl_provenance_clear(&p);
	pctl_chain_rollback(s);
	pctl_chain_state_close(s);
}

static void test_chain_provenance__forward(void **state)
{
	pctl_chain_state *s = open_sample();
	pctl_provenance p = read_history(s, c(3), 64, 1000, PCTL_PROVENANCE_FORWARD);

	(void)state;
	/* j5 made c0 at last, after every job that took c0. */
	expect_jobs(&p, "3@1 5@2 ");
	assert_int_equal(p.steps[1].from, 0);
	pctl_provenance_clear(&p);
	p = read_history(s, c(1), 1, 1000, PCTL_PROVENANCE_FORWARD);
	expect_jobs(&p, "1@1 2@1 4@1 ");
	assert_true(p.cut_depth != 0);
	pctl_provenance_clear(&p);
	pctl_chain_rollback(s);
	pctl_chain_state_close(s);
}

static void test_chain_provenance__says_where_it_was_cut(void **state)
{
	pctl_chain_state *s = open_sample();
	pctl_provenance p = read_history(s, c(4), 1, 1000, 0);

	(void)state;
	expect_jobs(&p, "3@1 ");
	assert_true(p.cut_depth != 0);
	assert_int_equal(p.cut_steps, 0);
	pctl_provenance_clear(&p);
	p = read_history(s, c(4), 64, 2, 0);
	assert_int_equal(p.n_steps, 2);
	assert_int_equal(p.cut_depth, 0);
	assert_true(p.cut_steps != 0);
	pctl_provenance_clear(&p);
	pctl_chain_rollback(s);
	pctl_chain_state_close(s);
}

static void test_chain_provenance__unknown_and_damaged(void **state)
{
	const pctl_provenance_options o = {.max_depth = 64, .max_steps = 1000};
	pctl_chain_state *s = open_sample();
	pctl_provenance p;

	(void)state;
	assert_int_equal(pctl_provenance_read(s, c(9), &o, &call, &p), PCTL_E_NOT_FOUND);
	assert_int_equal(last_code, PC5883_PROVENANCE_UNKNOWN);
	assert_int_equal(pctl_provenance_read(s, j(9), &o, &call, &p), PCTL_E_NOT_FOUND);
	assert_int_equal(pctl_provenance_read(s, "", &o, &call, &p), PCTL_E_INVALID);
	assert_int_equal(last_code, PC5880_EDGE_NAME);
	/* A parent that is no earlier than its child. */
	edge(s, PCTL_EDGE_PARENT, j(3), j(2), "", j(2), 7);
	assert_int_equal(pctl_provenance_read(s, c(4), &o, &call, &p), PCTL_E_STORE);
	assert_int_equal(last_code, PC5882_EDGE_BROKEN);
	pctl_chain_rollback(s);
	pctl_chain_state_close(s);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_provenance__back_to_what_was_given),
		PCTL_TEST(test_chain_provenance__what_was_made_again_is_no_circle),
		PCTL_TEST(test_chain_provenance__forward),
		PCTL_TEST(test_chain_provenance__says_where_it_was_cut),
		PCTL_TEST(test_chain_provenance__unknown_and_damaged))
