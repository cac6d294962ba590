/* Proofs run whole, in shards, cut off, lost and resumed: the same certificate whenever the device says the same. */
#include "test_certify_fake.h"

#include "planted/planted.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static uint32_t last_code;

static void keep_code(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	last_code = d->code;
}

static const pctl_call telling = {
	.head = PCTL_HEAD(pctl_call), .diag = keep_code, .cancelled = fake_cancelled};

static void test_certify__whole_proof_is_granted(void **state)
{
	fake_world w;
	pctl_certificate *c;
	pctl_certify_outcome out;

	(void)state;
	fake_begin(&w);
	assert_int_equal(pctl_certify_run(&w.o, &fake_call, &out), PCTL_OK);
	assert_true(out.blocks == 220 && out.ran == 220 && out.failed == 0 && out.not_run == 0);
	c = fake_collect(&w);
	assert_int_equal(c->granted, 4);
	assert_string_equal(c->cause, "");
	assert_int_equal(c->n_units, FAKE_UNITS);
	assert_int_equal(c->n_ops, 2);
	assert_true(c->cases == 10 + 700 + 300 + 1000 + 100 + 36 + 60 + 1);
	assert_int_equal(c->units[3].strip, 4); /* 200 blocks in at most 64 strips */
	assert_int_equal(c->units[3].n_strips, 50);
	assert_string_equal(c->units[7].value, "1.5e9 elements/s");
	pctl_certificate_destroy(c);
	fake_end(&w);
}

static void test_certify__shards_give_the_digest_of_the_whole(void **state)
{
	uint8_t whole[PCTL_DIGEST_BYTES];
	fake_world w;
	pctl_certificate *c;
	pctl_certify_outcome out;

	(void)state;
	fake_begin(&w);
	c = fake_prove(&w);
	memcpy(whole, c->digest, sizeof(whole));
	pctl_certificate_destroy(c);
	fake_end(&w);
	for (uint32_t n = 2; n <= 5; n++) {
		fake_begin(&w);
		for (uint32_t i = n; i >= 1; i--) {
			w.o.shard = (pctl_shard){i, n};
			assert_int_equal(pctl_certify_run(&w.o, &fake_call, &out), PCTL_OK);
			if (i > 1) {
				last_code = 0;
				assert_int_not_equal(pctl_certify_collect(w.journals, &telling, &c),
						     PCTL_OK);
				assert_int_equal(last_code, PC5514_INCOMPLETE);
			}
		}
		c = fake_collect(&w);
		assert_memory_equal(c->digest, whole, sizeof(whole));
		assert_int_equal(c->granted, 4);
		pctl_certificate_destroy(c);
		fake_end(&w);
	}
}

static void test_certify__sharding_takes_every_block_once(void **state)
{
	pctl_shard s;

	(void)state;
	for (uint64_t n = 0; n < 40; n++)
		for (uint32_t count = 1; count < 12; count++) {
			uint64_t seen = 0, total = 0;

			for (uint32_t i = 1; i <= count; i++) {
				const pctl_shard x = {i, count};
				const uint64_t blocks = pctl_shard_blocks(x, n);

				for (uint64_t k = 0; k < blocks; k++) {
					assert_true(pctl_shard_block(x, k) < n);
					assert_int_equal(pctl_shard_block(x, k) % count, i - 1);
					seen |= UINT64_C(1) << pctl_shard_block(x, k);
				}
				total += blocks;
			}
			assert_true(total == n && seen == (UINT64_C(1) << n) - 1);
		}
	assert_int_equal(pctl_shard_parse("3/8", &s), 1);
	assert_true(s.index == 3 && s.count == 8);
	for (size_t i = 0; i < 7; i++) {
		static const char *const bad[] = {"0/3", "4/3", "1", "/3", "1/", "1/0", "1/3x"};

		assert_int_equal(pctl_shard_parse(bad[i], &s), 0);
	}
}

static void test_certify__cancelled_and_resumed_is_the_same(void **state)
{
	uint8_t whole[PCTL_DIGEST_BYTES];
	fake_world w;
	pctl_certificate *c;
	pctl_certify_outcome out;

	(void)state;
	fake_begin(&w);
	c = fake_prove(&w);
	memcpy(whole, c->digest, sizeof(whole));
	pctl_certificate_destroy(c);
	fake_end(&w);
	fake_begin(&w);
	fake_cancel_after = 50;
	assert_int_equal(pctl_certify_run(&w.o, &telling, &out), PCTL_E_CANCELLED);
	assert_true(fake_runs == 50);
	fake_cancel_after = 0;
	/* A journal is not run over: only --resume goes on. */
	assert_int_equal(pctl_certify_run(&w.o, &telling, &out), PCTL_E_USAGE);
	assert_int_equal(last_code, PC5510_JOURNAL_EXISTS);
	w.o.resume = 1;
	assert_int_equal(pctl_certify_run(&w.o, &fake_call, &out), PCTL_OK);
	assert_true(out.before >= 49 && out.before + out.ran == 220);
	c = fake_collect(&w);
	assert_memory_equal(c->digest, whole, sizeof(whole));
	pctl_certificate_destroy(c);
	/* Complete: nothing is left to run. */
	assert_int_equal(pctl_certify_run(&w.o, &fake_call, &out), PCTL_OK);
	assert_true(out.before == 220 && out.ran == 0);
	fake_end(&w);
}

static void refuses_resume(fake_world *w, uint32_t code)
{
	pctl_certify_outcome out;

	last_code = 0;
	w->o.resume = 1;
	assert_int_not_equal(pctl_certify_run(&w->o, &telling, &out), PCTL_OK);
	assert_int_equal(last_code, code);
}

static void test_certify__another_proof_is_not_resumed(void **state)
{
	static const char *const lines[] = {"a\tb\tc"};
	pctl_device_entry other = {.name = "another device", .driver = "x", .selector = "y:0"};
	fake_world w;

	(void)state;
	fake_begin(&w);
	pctl_certificate_destroy(fake_prove(&w));
	w.o.params.seed = 8;
	refuses_resume(&w, PC5512_JOURNAL_OTHER);
	w.o.params.seed = 7;
	w.o.params.cases++;
	refuses_resume(&w, PC5512_JOURNAL_OTHER);
	w.o.params.cases--;
	w.context.entry = &other;
	refuses_resume(&w, PC5512_JOURNAL_OTHER);
	w.context.entry = NULL;
	w.context.regressions = lines;
	w.context.n_regressions = 1;
	refuses_resume(&w, PC5512_JOURNAL_OTHER);
	w.context.n_regressions = 0;
	w.o.params.level = 3; /* fewer units */
	refuses_resume(&w, PC5515_DIRECTORY);
	w.o.params.level = 4;
	fake[1].n_blocks++;
	refuses_resume(&w, PC5515_DIRECTORY);
	fake_end(&w);
}

static void test_certify__a_journal_has_one_writer(void **state)
{
	pctl_certify_outcome out;
	fake_world w;
	char *path;
	int fd;

	(void)state;
	fake_begin(&w);
	pctl_certificate_destroy(fake_prove(&w));
	path = pctl_shard_path(w.journals, w.o.shard);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0 && flock(fd, LOCK_EX) == 0);
	w.o.resume = 1;
	assert_int_equal(pctl_certify_run(&w.o, &telling, &out), PCTL_E_USAGE);
	assert_int_equal(last_code, PC5511_JOURNAL_BUSY);
	close(fd);
	free(path);
	fake_end(&w);
}

static void test_certify__lost_device_is_opened_again(void **state)
{
	uint8_t whole[PCTL_DIGEST_BYTES];
	fake_world w;
	pctl_certificate *c;

	(void)state;
	fake_begin(&w);
	c = fake_prove(&w);
	memcpy(whole, c->digest, sizeof(whole));
	pctl_certificate_destroy(c);
	fake_end(&w);
	/* Once: the block runs again and nothing shows in the certificate. */
	fake_begin(&w);
	fake[1].lose_at = 3;
	fake[1].lost = 1;
	c = fake_prove(&w);
	assert_int_equal(fake_reopened, 1);
	assert_memory_equal(c->digest, whole, sizeof(whole));
	assert_true(c->granted == 4 && c->not_run == 0);
	pctl_certificate_destroy(c);
	fake_end(&w);
	/* Twice at one block: noted as not run, the rest is run, no level is granted. */
	fake_begin(&w);
	fake[1].lose_at = 3;
	fake[1].lost = 2;
	c = fake_prove(&w);
	assert_int_equal(fake_reopened, 2);
	assert_true(c->granted == 0 && c->not_run == 1 && c->units[1].not_run == 1);
	assert_non_null(strstr(c->units[1].cause, "the fake device is gone"));
	planted("a device lost twice at one block", "fake.add@1 u32", "certify: not run, no level",
		c->units[1].cause);
	assert_true(c->cases == 2207 - 100);
	pctl_certificate_destroy(c);
	fake_end(&w);
}

static void test_certify__device_that_stays_lost(void **state)
{
	fake_world w;
	pctl_certificate *c;

	(void)state;
	fake_begin(&w);
	fake[1].lose_at = 3;
	fake[1].lost = 2;
	fake_reopen_status = PCTL_E_DEVICE_LOST;
	c = fake_prove(&w);
	assert_int_equal(fake_reopened, 1);
	assert_true(c->granted == 0 && c->not_run == 220 - 1 - 2);
	assert_true(c->units[0].not_run == 0); /* before, and on the host */
	pctl_certificate_destroy(c);
	fake_end(&w);
	/* Lost for ever anew: not more often than it is bearable. */
	fake_begin(&w);
	fake[3].lose_at = 5;
	fake[3].lost = 1000000;
	fake[2].lose_at = 1;
	fake[2].lost = 1000000;
	fake[1].lose_at = 1;
	fake[1].lost = 1000000;
	fake[4].lose_at = 1;
	fake[4].lost = 1000000;
	fake[5].lose_at = 1;
	fake[5].lost = 1000000;
	c = fake_prove(&w);
	assert_int_equal(fake_reopened, PCTL_CERTIFY_REOPENS);
	assert_true(c->not_run > 4);
	pctl_certificate_destroy(c);
	fake_end(&w);
}

static void test_certify__failure_is_an_answer_and_kept(void **state)
{
	char path[96], *text;
	const char *const paths[] = {path};
	const char *const *lines;
	pctl_arena *arena = pctl_arena_create();
	uint64_t n;
	uint32_t n_lines;
	fake_world w;
	pctl_certify_outcome out;
	pctl_certificate *c;

	(void)state;
	fake_begin(&w);
	fake[2].fail_at = 2; /* a planted lie */
	snprintf(path, sizeof(path), "%s/regressions.tsv", w.dir);
	w.o.regressions = path;
	for (int again = 0; again < 2; again++) {
		w.o.shard = (pctl_shard){(uint32_t)again + 1, 2};
		assert_int_equal(pctl_certify_run(&w.o, &fake_call, &out), PCTL_OK);
	}
	c = fake_collect(&w);
	assert_true(c->failures == 2 && c->granted == 1);
	assert_non_null(strstr(c->cause, "commutative"));
	planted("a law fails in one of two shards", "fake.add@1 u32", "certify: L1 instead of L4",
		c->cause);
	assert_int_equal(c->ops[0].level, 1);
	assert_int_equal(c->ops[1].level, 4); /* what is wrong with add is none of its business */
	assert_int_equal(pctl_file_read(path, 4096, &fake_quiet, &text, &n), PCTL_OK);
	assert_string_equal(text, "fake.add@1 u32\tadd(a, b) = \"b\" + \\a\t"
				  "0x00000001 0x00000002\n");
	free(text);
	/* Found again: it is there once. */
	w.o.dir = w.keys;
	w.o.shard = (pctl_shard){1, 1};
	assert_int_equal(pctl_certify_run(&w.o, &fake_call, &out), PCTL_OK);
	assert_true(out.failed == 1 && strstr(out.cause, "0x00000001") != NULL);
	assert_int_equal(pctl_regressions_load(paths, 1, arena, &fake_quiet, &lines, &n_lines),
			 PCTL_OK);
	assert_int_equal(n_lines, 1);
	/* A line that is none is not passed over. */
	assert_int_equal(pctl_file_write(path, "no tabs\n", 8, 0, &fake_quiet), PCTL_OK);
	assert_int_not_equal(pctl_regressions_load(paths, 1, arena, &telling, &lines, &n_lines),
			     PCTL_OK);
	assert_int_equal(last_code, PC5507_REGRESSION);
	pctl_certificate_destroy(c);
	pctl_arena_destroy(arena);
	fake_end(&w);
}

static void test_certify__a_plan_is_judged(void **state)
{
	pctl_certify_outcome out;
	fake_world w;

	(void)state;
	fake_begin(&w);
	w.o.params.ops = "none.such@1";
	fake[5].kind = fake[6].kind = 0;
	assert_int_equal(pctl_certify_run(&w.o, &telling, &out), PCTL_E_NOTHING);
	assert_int_equal(last_code, PC5502_NOTHING);
	w.o.params.ops = NULL;
	fake_track = PCTL_TRACK_FLOAT;
	assert_int_equal(pctl_certify_run(&w.o, &telling, &out), PCTL_E_INTERNAL);
	assert_int_equal(last_code, PC5503_UNIT);
	w.o.params.track = PCTL_TRACK_FLOAT;
	assert_int_equal(pctl_certify_run(&w.o, &telling, &out), PCTL_E_UNSUPPORTED);
	assert_int_equal(last_code, PC5501_LEVEL);
	fake_end(&w);
}

static void test_certify__replay_finds_what_differs(void **state)
{
	pctl_replay_outcome out;
	pctl_certify_replay_options o;
	fake_world w;
	pctl_certificate *c;

	(void)state;
	fake_begin(&w);
	c = fake_prove(&w);
	o = (pctl_certify_replay_options){.context = &w.context,
					  .providers = fake_providers,
					  .n_providers = 1,
					  .sample_ppm = 1000000,
					  .seed = 3};
	assert_int_equal(pctl_certify_replay(c, &o, &fake_call, &out), PCTL_OK);
	assert_true(out.blocks == 220 && out.mismatches == 0 && out.measured == 1);
	assert_true(out.compared == 1 + 7 + 3 + 50 + 2 + 4 + 2);
	/* A share, the same one every time, never an empty one. */
	o.sample_ppm = 100000;
	assert_int_equal(pctl_certify_replay(c, &o, &fake_call, &out), PCTL_OK);
	assert_true(out.chosen == 7);
	o.sample_ppm = 1;
	assert_int_equal(pctl_certify_replay(c, &o, &fake_call, &out), PCTL_OK);
	assert_true(out.chosen == 1);
	o.sample_ppm = 0;
	assert_int_equal(pctl_certify_replay(c, &o, &telling, &out), PCTL_E_NOTHING);
	assert_int_equal(last_code, PC5532_REPLAY_NOTHING);
	/* Another device that says otherwise. */
	o.sample_ppm = 1000000;
	fake[4].salt = 1;
	assert_int_equal(pctl_certify_replay(c, &o, &telling, &out), PCTL_E_MISMATCH);
	assert_int_equal(last_code, PC5531_REPLAY_MISMATCH);
	assert_true(out.mismatches == 2 && strstr(out.first, "fake.div@1 u32") != NULL &&
		    strstr(out.first, "block 0") != NULL);
	planted("another device says otherwise", "fake.div@1 u32", "PC5531: replay", out.first);
	/* Another installation. */
	fake[4].salt = 0;
	fake[4].name = "shuffles";
	assert_int_equal(pctl_certify_replay(c, &o, &telling, &out), PCTL_E_UNSUPPORTED);
	assert_int_equal(last_code, PC5530_REPLAY_UNITS);
	pctl_certificate_destroy(c);
	fake_end(&w);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_certify__whole_proof_is_granted),
		PCTL_TEST(test_certify__shards_give_the_digest_of_the_whole),
		PCTL_TEST(test_certify__sharding_takes_every_block_once),
		PCTL_TEST(test_certify__cancelled_and_resumed_is_the_same),
		PCTL_TEST(test_certify__another_proof_is_not_resumed),
		PCTL_TEST(test_certify__a_journal_has_one_writer),
		PCTL_TEST(test_certify__lost_device_is_opened_again),
		PCTL_TEST(test_certify__device_that_stays_lost),
		PCTL_TEST(test_certify__failure_is_an_answer_and_kept),
		PCTL_TEST(test_certify__a_plan_is_judged),
		PCTL_TEST(test_certify__replay_finds_what_differs))
