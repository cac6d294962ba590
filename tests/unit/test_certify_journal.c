/* Journals torn at every byte, damaged at every byte, and read back. */
#include "test_certify_fake.h"

#include "planted/planted.h"

#include <unistd.h>

static const char head[] = "schema\tpipectl.journal/1\nlevel\tL2\n";

static void entry_of(uint64_t number, pctl_journal_entry *e)
{
	memset(e, 0, sizeof(*e));
	e->number = number;
	e->ran = number % 5 != 3;
	snprintf(e->cause, sizeof(e->cause), "%s", e->ran ? "" : "lost\tand\ngone");
	e->block.cases = e->ran ? 100 + number : 0;
	e->block.skipped = e->ran ? number : 0;
	memset(e->block.digest, (int)number, e->ran ? sizeof(e->block.digest) : 0);
	if (e->ran && number % 4 == 1) {
		e->block.failures = 1;
		strcpy(e->block.first.inputs, "0x1 0x2");
		strcpy(e->block.first.law, "a = b");
		e->block.first.minimal = 1;
	}
}

static void write_journal(const char *path, pctl_shard s, uint64_t n)
{
	pctl_journal *j;
	pctl_journal_entry e;

	assert_int_equal(pctl_journal_create(path, head, s, &fake_quiet, &j), PCTL_OK);
	for (uint64_t k = 0; k < n; k++) {
		entry_of(pctl_shard_block(s, k), &e);
		assert_int_equal(pctl_journal_append(j, &e, &fake_quiet), PCTL_OK);
	}
	assert_int_equal(pctl_journal_close(j, &fake_quiet), PCTL_OK);
}

/* Entries that can be read, all of them right. */
static pctl_status count(const char *path, pctl_shard s, uint64_t *n)
{
	pctl_journal_reader *r;
	pctl_journal_entry e, want;
	const char *h;
	pctl_shard shard;
	int end = 0;
	pctl_status status = pctl_journal_read(path, &fake_quiet, &r, &h, &shard);

	*n = 0;
	if (status != PCTL_OK)
		return status;
	assert_string_equal(h, head);
	assert_true(shard.index == s.index && shard.count == s.count);
	while (status == PCTL_OK && !end) {
		status = pctl_journal_next(r, &fake_quiet, &e, &end);
		if (status != PCTL_OK || end)
			break;
		entry_of(pctl_shard_block(s, (*n)++), &want);
		assert_true(e.number == want.number && e.ran == want.ran);
		assert_memory_equal(e.block.digest, want.block.digest, sizeof(e.block.digest));
		assert_true(e.block.cases == want.block.cases &&
			    e.block.failures == want.block.failures &&
			    e.block.skipped == want.block.skipped &&
			    e.block.first.minimal == want.block.first.minimal);
		assert_string_equal(e.block.first.inputs, want.block.first.inputs);
		assert_string_equal(e.cause, e.ran ? "" : "lost and gone");
	}
	pctl_journal_read_end(r);
	return status;
}

static uint32_t lines_in(const char *text, size_t n)
{
	uint32_t lines = 0;

	for (size_t i = 0; i < n; i++)
		lines += text[i] == '\n';
	return lines;
}

static void test_certify_journal__torn_at_every_byte(void **state)
{
	const pctl_shard s = {2, 3};
	char dir[] = "/tmp/pctl-journal-XXXXXX", path[64], *whole;
	pctl_journal_entry e;
	uint64_t n, found, at_end;
	uint32_t first;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/j", dir);
	write_journal(path, s, 6);
	assert_int_equal(count(path, s, &found), PCTL_OK);
	assert_true(found == 6);
	assert_int_equal(pctl_file_read(path, 1 << 20, &fake_quiet, &whole, &n), PCTL_OK);
	first = lines_in(whole, n) - 6;
	for (uint64_t cut = 0; cut <= n; cut++) {
		const uint32_t lines = lines_in(whole, cut);
		pctl_journal *j;

		assert_int_equal(pctl_file_write(path, whole, cut, 0, &fake_quiet), PCTL_OK);
		assert_int_equal(pctl_journal_resume(path, head, s, &fake_quiet, &j, &at_end),
				 PCTL_OK);
		assert_true(at_end == (lines < first ? 0 : lines - first));
		/* What lacks is written again, and the journal is that of one run. */
		for (uint64_t k = at_end; k < 6; k++) {
			entry_of(pctl_shard_block(s, k), &e);
			assert_int_equal(pctl_journal_append(j, &e, &fake_quiet), PCTL_OK);
		}
		assert_int_equal(pctl_journal_close(j, &fake_quiet), PCTL_OK);
		if (cut % 16 == 0) {
			char *again;
			uint64_t n_again;

			assert_int_equal(
				pctl_file_read(path, 1 << 20, &fake_quiet, &again, &n_again),
				PCTL_OK);
			assert_true(n_again == n);
			assert_memory_equal(again, whole, n);
			free(again);
		}
	}
	free(whole);
	unlink(path);
	rmdir(dir);
}

/* A byte changed anywhere is never taken for a result: the file is refused, or its last line is dropped. */
static void test_certify_journal__changed_at_every_byte(void **state)
{
	const pctl_shard s = {1, 1};
	char dir[] = "/tmp/pctl-journal-XXXXXX", path[64], *whole;
	uint64_t n, found, refused = 0, dropped = 0;
	char named[96];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/j", dir);
	write_journal(path, s, 6);
	assert_int_equal(pctl_file_read(path, 1 << 20, &fake_quiet, &whole, &n), PCTL_OK);
	for (uint64_t at = 0; at < n; at++) {
		whole[at] ^= 1;
		assert_int_equal(pctl_file_write(path, whole, n, 0, &fake_quiet), PCTL_OK);
		if (count(path, s, &found) != PCTL_OK) {
			refused++;
		} else {
			/* 4: where the newline before the last line is gone, the last two are one. */
			assert_true(found == 5 || found == 4);
			dropped++;
		}
		whole[at] ^= 1;
	}
	assert_true(refused > dropped && dropped > 0 && refused + dropped == n);
	snprintf(named, sizeof(named), "of %u bytes %u refused, %u with the last line dropped",
		 (unsigned)n, (unsigned)refused, (unsigned)dropped);
	planted("one bit of one byte changed", "a journal", "journal: checksums", named);
	free(whole);
	unlink(path);
	rmdir(dir);
}

static uint32_t last_code;

static void keep_code(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	last_code = d->code;
}

static void test_certify_journal__refusals_are_named(void **state)
{
	const pctl_call telling = {.head = PCTL_HEAD(pctl_call), .diag = keep_code};
	const pctl_shard s = {1, 2}, other = {2, 2};
	char dir[] = "/tmp/pctl-journal-XXXXXX", path[64], *text;
	pctl_certificate *c;
	pctl_journal *j;
	uint64_t n;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/j", dir);
	write_journal(path, s, 3);
	assert_int_equal(pctl_journal_resume(path, head, other, &telling, &j, &n), PCTL_E_INVALID);
	assert_int_equal(last_code, PC5512_JOURNAL_OTHER);
	assert_int_equal(pctl_file_read(path, 1 << 20, &fake_quiet, &text, &n), PCTL_OK);
	text[n / 2] ^= 1;
	assert_int_equal(pctl_file_write(path, text, n, 0, &fake_quiet), PCTL_OK);
	assert_int_equal(pctl_journal_resume(path, head, s, &telling, &j, &n), PCTL_E_STORE);
	assert_int_equal(last_code, PC5513_JOURNAL_DAMAGED);
	free(text);
	/* Lines that no head and no list of units has. */
	assert_int_equal(pctl_certificate_create(&fake_quiet, &c), PCTL_OK);
	assert_int_equal(pctl_certificate_head_read(c, "x", "weather\tfine\n", 13, &telling),
			 PCTL_E_INVALID);
	assert_int_equal(last_code, PC5504_FORM);
	last_code = 0;
	assert_int_equal(pctl_certificate_units_read(c, "x", "parity\t1\n", &telling),
			 PCTL_E_INVALID);
	assert_int_equal(last_code, PC5504_FORM);
	pctl_certificate_destroy(c);
	unlink(path);
	rmdir(dir);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_certify_journal__torn_at_every_byte),
		PCTL_TEST(test_certify_journal__changed_at_every_byte),
		PCTL_TEST(test_certify_journal__refusals_are_named))
