/* Rows of jobs and of the inbox: what is written is what is read, the order of every walk, and each refusal with the
 * root as it was. */
#include "main.h"

#include <sqlite3.h>

#include "chain/jobs/jobs.h"

static uint32_t last_code;

static void note(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	last_code = d->code;
}

static const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = note};

static pctl_chain_state *fresh(void)
{
	pctl_chain_state *s;

	assert_int_equal(pctl_chain_state_open_memory(&call, &s), PCTL_OK);
	assert_int_equal(pctl_chain_begin(s, &call), PCTL_OK);
	return s;
}

static void done(pctl_chain_state *s)
{
	assert_int_equal(pctl_chain_commit(s, &call), PCTL_OK);
	pctl_chain_state_close(s);
}

#define REFUSED(s, what, code_)                                                \
	do {                                                                   \
		uint8_t before_[PCTL_DIGEST_BYTES], after_[PCTL_DIGEST_BYTES]; \
		assert_int_equal(pctl_chain_root(s, &call, before_), PCTL_OK); \
		last_code = 0;                                                 \
		assert_int_not_equal(what, PCTL_OK);                           \
		assert_int_equal(last_code, code_);                            \
		assert_int_equal(pctl_chain_root(s, &call, after_), PCTL_OK);  \
		assert_memory_equal(before_, after_, sizeof(before_));         \
	} while (0)

static uint8_t body[3] = {7, 0, 9};

static pctl_chain_job job_of(uint8_t id, uint64_t position, uint64_t clock, const char *sender)
{
	pctl_chain_job job = {.id = {id, 0xab}, .position = position, .height = 3, .clock = clock};

	job.gas = UINT64_MAX - id;
	job.output_bytes = 64;
	job.origin = PCTL_ORIGIN_EPOCH;
	strcpy(job.sender, sender);
	job.message = body;
	job.n_message = sizeof(body);
	return job;
}

static void add(pctl_chain_state *s, uint8_t id, uint64_t position, uint64_t clock,
		const char *sender)
{
	const pctl_chain_job job = job_of(id, position, clock, sender);

	assert_int_equal(pctl_jobs_add(s, &job, &call), PCTL_OK);
}

/* Ids' first bytes in the order of the visits. */
typedef struct seen {
	uint8_t ids[16];
	uint32_t n, stop;
} seen;

static int take(void *ctx, const pctl_chain_job *job)
{
	seen *v = ctx;

	v->ids[v->n++] = job->id[0];
	return v->n == v->stop;
}

static void expect(const seen *v, const char *ids)
{
	assert_int_equal(v->n, strlen(ids));
	for (uint32_t i = 0; i < v->n; i++)
		assert_int_equal(v->ids[i], ids[i] - '0');
}

static void test_chain_jobs__a_job_is_read_as_written(void **state)
{
	const uint8_t id[PCTL_DIGEST_BYTES] = {1, 0xab}, none[PCTL_DIGEST_BYTES] = {9};
	pctl_chain_state *s = fresh();
	pctl_chain_job job;

	(void)state;
	add(s, 1, 5, 42, "ann");
	assert_int_equal(pctl_jobs_read(s, id, &call, &job), PCTL_OK);
	assert_memory_equal(job.id, id, sizeof(id));
	assert_true(job.position == 5 && job.height == 3 && job.clock == 42);
	assert_true(job.gas == UINT64_MAX - 1 && job.output_bytes == 64);
	assert_int_equal(job.status, PCTL_JOB_PENDING);
	assert_int_equal(job.origin, PCTL_ORIGIN_EPOCH);
	assert_string_equal(job.sender, "ann");
	assert_true(job.ended == 0 && job.gas_used == 0);
	assert_string_equal(job.error, "");
	assert_int_equal(job.n_message, sizeof(body));
	assert_memory_equal(job.message, body, sizeof(body));
	pctl_chain_job_clear(&job);
	REFUSED(s, pctl_jobs_read(s, none, &call, &job), PC5801_JOB_UNKNOWN);
	done(s);
}

static void test_chain_jobs__a_job_ends_once(void **state)
{
	const uint8_t a[PCTL_DIGEST_BYTES] = {1, 0xab}, b[PCTL_DIGEST_BYTES] = {2, 0xab};
	const uint8_t none[PCTL_DIGEST_BYTES] = {9};
	pctl_chain_state *s = fresh();
	pctl_chain_job job;
	pctl_cid cid;

	(void)state;
	assert_int_equal(pctl_cid_of("x", 1, &call, &cid), PCTL_OK);
	add(s, 1, 1, 1, "ann");
	add(s, 2, 2, 1, "ann");
	assert_int_equal(pctl_jobs_end(s, a, PCTL_JOB_COMPLETE, 4, 77, &cid, NULL, &call), PCTL_OK);
	assert_int_equal(pctl_jobs_end(s, b, PCTL_JOB_FAILED, 4, 0, NULL, "no reason", &call),
			 PCTL_OK);
	assert_int_equal(pctl_jobs_read(s, a, &call, &job), PCTL_OK);
	assert_true(job.status == PCTL_JOB_COMPLETE && job.ended == 4 && job.gas_used == 77);
	assert_memory_equal(job.output.digest, cid.digest, PCTL_DIGEST_BYTES);
	pctl_chain_job_clear(&job);
	assert_int_equal(pctl_jobs_read(s, b, &call, &job), PCTL_OK);
	assert_int_equal(job.status, PCTL_JOB_FAILED);
	assert_string_equal(job.error, "no reason");
	pctl_chain_job_clear(&job);
	REFUSED(s, pctl_jobs_end(s, a, PCTL_JOB_FAILED, 5, 0, NULL, "again", &call),
		PC5802_JOB_ENDED);
	REFUSED(s, pctl_jobs_end(s, b, PCTL_JOB_COMPLETE, 5, 0, &cid, NULL, &call),
		PC5802_JOB_ENDED);
	REFUSED(s, pctl_jobs_end(s, none, PCTL_JOB_FAILED, 5, 0, NULL, "x", &call),
		PC5801_JOB_UNKNOWN);
	done(s);
}

static void test_chain_jobs__ids_and_positions_come_once(void **state)
{
	pctl_chain_state *s = fresh();
	pctl_chain_job job;

	(void)state;
	add(s, 1, 1, 1, "ann");
	job = job_of(1, 2, 1, "ann");
	REFUSED(s, pctl_jobs_add(s, &job, &call), PC5803_JOB_TWICE);
	job = job_of(2, 1, 1, "ann");
	REFUSED(s, pctl_jobs_add(s, &job, &call), PC5803_JOB_TWICE);
	job = job_of(2, 2, (uint64_t)INT64_MAX + 1, "ann");
	REFUSED(s, pctl_jobs_add(s, &job, &call), PC5725_CHAIN_HEIGHT);
	done(s);
}

static void test_chain_jobs__walks_have_their_order(void **state)
{
	static const uint8_t ids[3][PCTL_DIGEST_BYTES] = {{1, 0xab}, {4, 0xab}, {2, 0xab}};
	pctl_chain_state *s = fresh();
	seen v = {.stop = 0};
	uint64_t clock, position;
	int is_there;

	(void)state;
	assert_int_equal(pctl_jobs_last(s, &call, &clock, &position), PCTL_OK);
	assert_true(clock == 0 && position == 0);
	add(s, 4, 1, 9, "ann"); /* ids fall as positions rise: neither order is by accident */
	add(s, 3, 2, 5, "bob");
	add(s, 2, 3, 9, "ann");
	add(s, 1, 4, 3, "bob");
	assert_int_equal(pctl_jobs_pending(s, take, &v, &call), PCTL_OK);
	expect(&v, "4321");
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(pctl_jobs_end(s, ids[i], PCTL_JOB_FAILED, 7, 0, NULL, "x", &call),
				 PCTL_OK);
	v = (seen){.stop = 0};
	assert_int_equal(pctl_jobs_pending(s, take, &v, &call), PCTL_OK);
	expect(&v, "3");
	v = (seen){.stop = 0};
	assert_int_equal(pctl_jobs_ended_at(s, 7, take, &v, &call), PCTL_OK);
	expect(&v, "142");
	v = (seen){.stop = 0};
	assert_int_equal(pctl_jobs_ended_at(s, 0, take, &v, &call), PCTL_OK);
	expect(&v, "");
	v = (seen){.stop = 0};
	assert_int_equal(pctl_jobs_all(s, NULL, take, &v, &call), PCTL_OK);
	expect(&v, "1234");
	v = (seen){.stop = 1};
	assert_int_equal(pctl_jobs_all(s, "ann", take, &v, &call), PCTL_OK);
	expect(&v, "2");
	assert_int_equal(pctl_jobs_has_clock(s, 9, &call, &is_there), PCTL_OK);
	assert_true(is_there);
	assert_int_equal(pctl_jobs_has_clock(s, 6, &call, &is_there), PCTL_OK);
	assert_false(is_there);
	assert_int_equal(pctl_jobs_has_clock(s, UINT64_MAX, &call, &is_there), PCTL_OK);
	assert_false(is_there);
	assert_int_equal(pctl_jobs_last(s, &call, &clock, &position), PCTL_OK);
	assert_true(clock == 9 && position == 4);
	done(s);
}

static void test_chain_jobs__ids_as_text(void **state)
{
	uint8_t id[PCTL_DIGEST_BYTES], back[PCTL_DIGEST_BYTES];
	char text[PCTL_JOB_TEXT_SIZE], longer[80];

	(void)state;
	for (uint32_t i = 0; i < PCTL_DIGEST_BYTES; i++)
		id[i] = (uint8_t)(i * 37 + 11);
	pctl_job_id_format(id, text);
	assert_int_equal(strlen(text), 64);
	assert_int_equal(pctl_job_id_parse(text, back), 1);
	assert_memory_equal(id, back, sizeof(id));
	snprintf(longer, sizeof(longer), "%s0", text);
	assert_int_equal(pctl_job_id_parse(longer, back), 0);
	text[5] = 'A';
	assert_int_equal(pctl_job_id_parse(text, back), 0);
	text[5] = '\0';
	assert_int_equal(pctl_job_id_parse(text, back), 0);
}

typedef struct mail {
	uint32_t n, stop;
	uint8_t first[8];
	uint64_t lengths[8];
} mail;

static int open_mail(void *ctx, uint32_t origin, const uint8_t *bytes, uint64_t n)
{
	mail *m = ctx;

	assert_int_equal(origin, m->n % 2);
	m->first[m->n] = n == 0 ? 0 : bytes[0];
	m->lengths[m->n++] = n;
	return m->n == m->stop;
}

static void test_chain_jobs__inbox_keeps_order_until_cleared(void **state)
{
	pctl_chain_state *s = fresh();
	mail m = {.stop = 0};

	(void)state;
	assert_int_equal(pctl_inbox_add(s, 0, "zz", 2, &call), PCTL_OK);
	assert_int_equal(pctl_inbox_add(s, 1, "a", 1, &call), PCTL_OK);
	assert_int_equal(pctl_inbox_add(s, 0, "m\0m", 3, &call), PCTL_OK);
	assert_int_equal(pctl_inbox_visit(s, open_mail, &m, &call), PCTL_OK);
	assert_int_equal(m.n, 3);
	assert_memory_equal(m.first, "zam", 3);
	assert_true(m.lengths[0] == 2 && m.lengths[1] == 1 && m.lengths[2] == 3);
	m = (mail){.stop = 2};
	assert_int_equal(pctl_inbox_visit(s, open_mail, &m, &call), PCTL_OK);
	assert_int_equal(m.n, 2);
	assert_int_equal(pctl_chain_clear_apart(s, &call), PCTL_OK);
	m = (mail){.stop = 0};
	assert_int_equal(pctl_inbox_visit(s, open_mail, &m, &call), PCTL_OK);
	assert_int_equal(m.n, 0);
	done(s);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_jobs__a_job_is_read_as_written),
		PCTL_TEST(test_chain_jobs__a_job_ends_once),
		PCTL_TEST(test_chain_jobs__ids_and_positions_come_once),
		PCTL_TEST(test_chain_jobs__walks_have_their_order),
		PCTL_TEST(test_chain_jobs__ids_as_text),
		PCTL_TEST(test_chain_jobs__inbox_keeps_order_until_cleared))
