/* The level rule, each of its parts shown to refuse, and certificates as text: back and forth, and tampered with by
 * someone who can sign. */
#include "test_certify_fake.h"

#include "planted/planted.h"

#include <unistd.h>

static uint32_t last_code;
static char last_text[512];

static void keep(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	last_code = d->code;
	snprintf(last_text, sizeof(last_text), "%s", d->message);
}

static const pctl_call telling = {.head = PCTL_HEAD(pctl_call), .diag = keep};

/* A row of the table: what was asked for, what is granted, why. */
static void tell(const char *fault, const char *where, uint32_t level, const char *cause)
{
	static const char *const granted_as[] = {"nothing", "L1", "L2", "L3", "L4"};
	char caught_by[64];

	snprintf(caught_by, sizeof(caught_by), "level rule: %s instead of L4", granted_as[level]);
	planted(fault, where, caught_by, cause);
}

/* The proof with one change: the level granted to all, and the cause. */
static uint32_t granted(fake_world *w, char cause[PCTL_LEVEL_CAUSE])
{
	pctl_certificate *c = fake_prove(w);
	const uint32_t level = c->granted;

	snprintf(cause, PCTL_LEVEL_CAUSE, "%s", c->cause);
	assert_true((cause[0] == '\0') == (level == c->params.level));
	pctl_certificate_destroy(c);
	return level;
}

typedef struct change {
	uint32_t unit, level; /* granted then */
	const char *cause;    /* part of it */
	fake_unit with;	      /* values that are not zero */
	uint32_t removed;     /* 1: the unit is not there at all */
} change;

static void test_certify_level__everything_that_refuses(void **state)
{
	static const change changes[] = {
		{1, 0, "2 of 700 cases failed", {.fail_at = 4}, 0},
		{2, 1, "commutative", {.fail_at = 1}, 0},
		{4, 1, "repeats", {.fail_at = 1}, 0},
		{5, 2, "atomics", {.fail_at = 2}, 0},
		{6, 3, "associative", {.fail_at = 2}, 0},
		{1, 0, "1 of 7 blocks were not run", {.failure = PCTL_E_UNSUPPORTED}, 0},
		{7, 3, "throughput", {.failure = PCTL_E_UNSUPPORTED}, 0},
		{2, 1, "every case was skipped", {.skipped = 100}, 0},
		{0, 0, "no gate was passed", {.n_blocks = 0}, 1},
		{5, 2, "no invariant of the engine", {.n_blocks = 0}, 1},
		{6, 3, "no composition", {.n_blocks = 0}, 1},
		{7, 3, "no baseline", {.n_blocks = 0}, 1},
	};
	char cause[PCTL_LEVEL_CAUSE], where[128];
	fake_world w;

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		const change *k = &changes[i];
		fake_unit *u;

		fake_begin(&w);
		u = &fake[k->unit];
		if (k->removed)
			u->kind = 0;
		u->fail_at = k->with.fail_at;
		u->failure = k->with.failure;
		u->skipped = k->with.skipped;
		if (u->skipped != 0)
			u->cases = 0;
		assert_int_equal(granted(&w, cause), k->level);
		assert_non_null(strstr(cause, k->cause));
		snprintf(where, sizeof(where), "%s, %s", fake_proof[k->unit].subject,
			 fake_proof[k->unit].name);
		tell(k->removed	       ? "a proof without any unit of a kind"
		     : k->with.fail_at ? "a case of a unit fails"
		     : k->with.failure ? "a block of a unit is not run"
				       : "all cases of a unit are skipped",
		     where, k->level, cause);
		fake_end(&w);
	}
}

static void test_certify_level__nothing_compared(void **state)
{
	char cause[PCTL_LEVEL_CAUSE];
	fake_world w;

	(void)state;
	fake_begin(&w);
	fake[3].cases = 0;
	assert_int_equal(granted(&w, cause), 0);
	assert_non_null(strstr(cause, "it compared nothing"));
	tell("a unit of no cases", fake_proof[3].subject, 0, cause);
	fake_end(&w);
	/* No parity at all, then no laws and no determinism at all. */
	fake_begin(&w);
	fake[1].kind = fake[3].kind = 0;
	assert_int_equal(granted(&w, cause), 0);
	assert_non_null(strstr(cause, "no parity"));
	tell("a proof without parity", "all ops", 0, cause);
	fake_end(&w);
	fake_begin(&w);
	fake[2].kind = fake[4].kind = 0;
	assert_int_equal(granted(&w, cause), 1);
	assert_non_null(strstr(cause, "no law and no determinism"));
	tell("a proof without laws and determinism", "all ops", 1, cause);
	fake_end(&w);
	/* Too few witnesses. */
	fake_begin(&w);
	w.o.params.cases = PCTL_PROOF_WITNESSES - 1;
	assert_int_equal(granted(&w, cause), 0);
	assert_non_null(strstr(cause, "999999 random cases"));
	tell("one random case too few", "all ops", 0, cause);
	fake_end(&w);
}

static void test_certify_level__of_ops(void **state)
{
	pctl_certificate *c;
	fake_world w;

	(void)state;
	fake_begin(&w);
	fake[3].fail_at = 9;
	c = fake_prove(&w);
	assert_int_equal(c->granted, 0);
	assert_string_equal(c->ops[0].op, "fake.add@1");
	assert_int_equal(c->ops[0].level, 4); /* what is wrong with div is none of its business */
	assert_string_equal(c->ops[1].op, "fake.div@1");
	assert_int_equal(c->ops[1].level, 0);
	pctl_certificate_destroy(c);
	fake_end(&w);
	/* An op that is a plan has parity from level 3 on, and no laws of its own. */
	fake_begin(&w);
	fake[3].level = 3;
	fake[4].kind = 0;
	c = fake_prove(&w);
	assert_int_equal(c->ops[1].level, 4);
	pctl_certificate_destroy(c);
	fake_end(&w);
	fake_begin(&w);
	fake[3].level = 3;
	fake[4].kind = 0;
	w.o.params.level = 2;
	c = fake_prove(&w);
	assert_int_equal(c->n_ops, 1);
	assert_int_equal(c->granted, 2);
	pctl_certificate_destroy(c);
	fake_end(&w);
}

/* L3f and L4f speak of tensors: they want parity of an op that is a plan. */
static void test_certify_level__of_tensors(void **state)
{
	char cause[PCTL_LEVEL_CAUSE];
	pctl_certificate *c;
	fake_world w;

	(void)state;
	fake_begin(&w);
	fake_track = w.o.params.track = PCTL_TRACK_FLOAT;
	fake[1].name = PCTL_UNIT_PROBLEMS;
	c = fake_prove(&w);
	assert_int_equal(c->granted, 4);
	c->units[1].name = "random";
	assert_int_equal(pctl_certificate_level(c, NULL, cause), 2);
	assert_non_null(strstr(cause, "no op of tensors"));
	tell("a proof of floats without tensors", "all ops", 2, cause);
	/* Of an op alone what others are is none of its business. */
	assert_int_equal(pctl_certificate_level(c, "fake.add@1", cause), 4);
	pctl_certificate_destroy(c);
	fake_end(&w);
}

/* ---- as text ------------------------------------------------------------------------------ */

static void write_and_read(fake_world *w, pctl_certificate *c, char path[128])
{
	pctl_certificate *back;

	snprintf(path, 128, "%s/c.cfg", w->dir);
	assert_int_equal(pctl_certificate_write(c, path, w->signer, &fake_quiet), PCTL_OK);
	assert_int_equal(pctl_certificate_read(path, &telling, &back), PCTL_OK);
	assert_int_equal(back->granted, c->granted);
	assert_memory_equal(back->digest, c->digest, sizeof(c->digest));
	assert_string_equal(back->signer, pctl_signer_public(w->signer));
	assert_int_equal(back->n_units, c->n_units);
	for (uint32_t i = 0; i < c->n_units; i++) {
		assert_string_equal(back->units[i].subject, c->units[i].subject);
		assert_string_equal(back->units[i].cause, c->units[i].cause);
		assert_string_equal(back->units[i].first.law, c->units[i].first.law);
	}
	pctl_certificate_destroy(back);
}

static void test_certify_level__certificates_come_back(void **state)
{
	static const char *const lines[] = {"fake.add@1 u32\tparity\t0x1 0x2"};
	pctl_certificate *c;
	char path[128];
	fake_world w;

	(void)state;
	fake_begin(&w);
	c = fake_prove(&w);
	write_and_read(&w, c, path);
	pctl_certificate_destroy(c);
	fake_end(&w);
	fake_begin(&w);
	fake[2].fail_at = 2;
	fake[3].failure = PCTL_E_UNSUPPORTED;
	w.context.regressions = lines;
	w.context.n_regressions = 1;
	w.o.params.ops = NULL;
	c = fake_prove(&w);
	c->device = "a \"quoted\\ device\"";
	write_and_read(&w, c, path);
	pctl_certificate_destroy(c);
	fake_end(&w);
}

static void test_certify_level__every_byte_counts(void **state)
{
	pctl_certificate *c, *back;
	char path[128], told[16], named[640], *text;
	uint64_t n, flipped = 0;
	fake_world w;

	(void)state;
	fake_begin(&w);
	c = fake_prove(&w);
	write_and_read(&w, c, path);
	pctl_certificate_destroy(c);
	assert_int_equal(pctl_file_read(path, 1 << 20, &fake_quiet, &text, &n), PCTL_OK);
	for (uint64_t at = 0; at < n; at += 3, flipped++) {
		text[at] ^= 1;
		assert_int_equal(pctl_file_write(path, text, n, 0, &fake_quiet), PCTL_OK);
		last_code = 0;
		assert_int_not_equal(pctl_certificate_read(path, &telling, &back), PCTL_OK);
		assert_int_not_equal(last_code, 0);
		text[at] ^= 1;
	}
	snprintf(told, sizeof(told), "PC%04u", (unsigned)last_code);
	snprintf(named, sizeof(named), "%u bytes, one after another; of the last: %s",
		 (unsigned)flipped,
		 strncmp(last_text, path, strlen(path)) == 0 ? last_text + strlen(path)
							     : last_text);
	planted("one bit of one byte changed", "a certificate", told, named);
	assert_true(flipped > 1000);
	free(text);
	fake_end(&w);
}

/* Sealed anew after a change: only its own contradictions can tell. */
static void forge(fake_world *w, const char *path, const char *from, const char *to, uint32_t code)
{
	char key[PCTL_PUBLIC_KEY_TEXT], forged[160], fault[192], told[16], *text, *at;
	pctl_str_buf t = PCTL_STR_BUF_INIT;
	pctl_certificate *c;
	size_t n_signed;
	uint64_t n;

	snprintf(forged, sizeof(forged), "%s.forged", path);
	assert_int_equal(pctl_file_read(path, 1 << 20, &fake_quiet, &text, &n), PCTL_OK);
	assert_int_equal(pctl_sealed_check(path, text, n, &fake_quiet, &n_signed, key), PCTL_OK);
	text[n_signed] = '\0';
	at = strstr(text, from);
	assert_non_null(at);
	pctl_str_add_n(&t, text, (size_t)(at - text));
	pctl_str_add(&t, to);
	pctl_str_add(&t, at + strlen(from));
	assert_int_equal(pctl_signer_seal(w->signer, &t, &fake_quiet), PCTL_OK);
	assert_int_equal(pctl_file_write(forged, t.data, t.n, 0, &fake_quiet), PCTL_OK);
	last_code = 0;
	assert_int_not_equal(pctl_certificate_read(forged, &telling, &c), PCTL_OK);
	if (last_code != code)
		fail_msg("%s to %s: PC%u %s", from, to, last_code, last_text);
	snprintf(told, sizeof(told), "PC%04u", (unsigned)last_code);
	snprintf(fault, sizeof(fault), "signed again with %s for %s", to, from);
	planted(fault, "a certificate", told, last_text);
	pctl_str_drop(&t);
	free(text);
	unlink(forged);
}

static void test_certify_level__forgeries_contradict_themselves(void **state)
{
	pctl_certificate *c;
	char path[128], digest[2 * PCTL_DIGEST_BYTES + 20], hex[2 * PCTL_DIGEST_BYTES + 1];
	fake_world w;

	(void)state;
	fake_begin(&w);
	fake[2].fail_at = 2;
	c = fake_prove(&w);
	write_and_read(&w, c, path);
	snprintf(digest, sizeof(digest), "digest = \"%s\"", pctl_digest_hex(c->digest, hex));
	pctl_certificate_destroy(c);
	forge(&w, path, digest,
	      "digest = \"00000000000000000000000000000000000000000000000000000000000000ff\"",
	      PC5506_CONTRADICTION);
	forge(&w, path, "granted = \"L1\"", "granted = \"L4\"", PC5506_CONTRADICTION);
	forge(&w, path, "granted = \"L1\"", "granted = \"L2\"", PC5506_CONTRADICTION);
	forge(&w, path, "failures = \"2\"", "failures = \"0\"", PC5506_CONTRADICTION);
	forge(&w, path, "cases = \"700\"; failures = \"0\"", "cases = \"701\"; failures = \"0\"",
	      PC5506_CONTRADICTION);
	forge(&w, path, "op = \"fake.add@1\"; level = \"L1\"",
	      "op = \"fake.add@1\"; level = \"L4\"", PC5506_CONTRADICTION);
	forge(&w, path, "level = 2; track = 1", "level = 4; track = 1", PC5506_CONTRADICTION);
	forge(&w, path, "name = \"commutative\"", "name = \"associative\"", PC5506_CONTRADICTION);
	forge(&w, path, "digest = \"", "digest = \"0", PC5505_CERTIFICATE);
	forge(&w, path, "  cause = ", "  cause  = ", PC5506_CONTRADICTION);
	forge(&w, path, "digests : ( \"", "digests : ( \"00", PC5505_CERTIFICATE);
	forge(&w, path, "pipectl.certificate/2", "pipectl.certificate/1", PC5505_CERTIFICATE);
	forge(&w, path, "  profile = ", "  profiles = ", PC5505_CERTIFICATE);
	forge(&w, path, "track = 1", "track = 2", PC5506_CONTRADICTION);
	fake_end(&w);
}

/* Units without end do not make a certificate without end: it has a limit, and it is told. */
static void test_certify_level__too_long(void **state)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	pctl_certificate *c;
	fake_world w;

	(void)state;
	fake_begin(&w);
	c = fake_prove(&w);
	c->n_regressions = 8000;
	c->regressions = pctl_arena_array(c->arena, 8000, sizeof(*c->regressions));
	for (uint32_t i = 0; i < 8000; i++)
		((const char **)(void *)(uintptr_t)c->regressions)[i] =
			pctl_arena_printf(c->arena, "%0250u\t%0250u\t%0100u", i, i, i);
	assert_int_equal(pctl_certificate_text(c, &s, &telling), PCTL_E_LIMIT);
	assert_int_equal(last_code, PC5508_TOO_LONG);
	planted("units without end", "a certificate", "PC5508", last_text);
	pctl_str_drop(&s);
	pctl_certificate_destroy(c);
	fake_end(&w);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_certify_level__everything_that_refuses),
		PCTL_TEST(test_certify_level__nothing_compared),
		PCTL_TEST(test_certify_level__of_ops), PCTL_TEST(test_certify_level__of_tensors),
		PCTL_TEST(test_certify_level__certificates_come_back),
		PCTL_TEST(test_certify_level__every_byte_counts),
		PCTL_TEST(test_certify_level__forgeries_contradict_themselves),
		PCTL_TEST(test_certify_level__too_long))
