/* Over all records that are lines: their golden files are read and written again; every byte of them changed is refused, with a code and a place, or is another value; memory that
 * runs out at any allocation is survived. And the document of all formats is what their tables say; with PIPECTL_BLESS set it is
 * made. */
#include <stdlib.h>

#include "evidence/receipt/block_receipt.h"
#include "evidence/receipt/dispute.h"
#include "evidence/receipt/receipt.h"
#include "foundation/base/file.h"
#include "foundation/diag/diag.h"
#include "lines.h"
#include "main.h"
#include "model/generate/statement.h"
#include "runtime/device/limits_record.h"
#include "runtime/device/optional.h"
#include "runtime/device/tuning_record.h"
#include "runtime/device/profile.h"
#include "unit/failing_allocation.h"

static const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};

/* The text of a record in its golden file, released with free(). */
static char *text_of(const line_record *l, size_t *n)
{
	char path[300], *text, *at;
	uint64_t n_file;

	snprintf(path, sizeof(path), PIPECTL_SOURCE_DIR "/tests/golden/records/%s.txt", l->golden);
	assert_int_equal(pctl_file_read(path, 1u << 20, &quiet, &text, &n_file), PCTL_OK);
	at = text;
	for (uint32_t i = 1; i < l->line; i++)
		at = strchr(at, '\n') + 1;
	*n = l->line != 0 ? strcspn(at, "\n") : (size_t)n_file;
	*n -= l->tail;
	memmove(text, at, *n);
	text[*n] = '\0';
	return text;
}

static pctl_status take(const pctl_record_type *t, const char *text, size_t n,
			const pctl_call *call, pctl_str_buf *again)
{
	pctl_arena *arena = pctl_arena_create();
	void *record = arena == NULL ? NULL : pctl_arena_alloc(arena, t->shape->size);
	pctl_status status = record == NULL
				     ? PCTL_E_NOMEM
				     : pctl_record_read(t, "x", text, n, arena, call, record);

	if (status == PCTL_OK && t->contradicts != 0)
		status = pctl_record_check(t, "x", text, n, call, record);
	if (status == PCTL_OK)
		pctl_record_text(t, record, again);
	pctl_arena_destroy(arena);
	return status;
}

static void test_formats__golden_files_come_back(void **state)
{
	(void)state;
	for (size_t k = 0; k < N_LINE_RECORDS; k++) {
		pctl_str_buf again = PCTL_STR_BUF_INIT;
		size_t n;
		char *text = text_of(&line_records[k], &n);

		assert_int_equal(take(line_records[k].type, text, n, &quiet, &again), PCTL_OK);
		assert_string_equal(again.data, text);
		pctl_str_drop(&again);
		free(text);
	}
}

/* What is planted, one byte at every place: it is refused with the record's codes and a place, or it is another value, spelled
 * so. */
static void test_formats__every_other_byte(void **state)
{
	static const char bytes[] = "0a-\t \n\\\xff";

	(void)state;
	for (size_t k = 0; k < N_LINE_RECORDS; k++) {
		const pctl_record_type *t = line_records[k].type;
		size_t n, refused = 0;
		char *text = text_of(&line_records[k], &n);

		for (size_t i = 0; i < n * (sizeof(bytes) - 1); i++) {
			const size_t at = i / (sizeof(bytes) - 1);
			const char was = text[at];
			pctl_diag_list *said = pctl_diag_list_create();
			pctl_str_buf again = PCTL_STR_BUF_INIT;

			text[at] = bytes[i % (sizeof(bytes) - 1)];
			if (take(t, text, n, pctl_diag_list_call(said), &again) == PCTL_OK) {
				if (t->contradicts != 0) {
					assert_int_equal(again.n, n);
					assert_memory_equal(again.data, text, n);
				}
			} else {
				const pctl_diag *d = pctl_diag_list_at(said, 0);

				assert_int_equal(pctl_diag_list_count(said), 1);
				assert_true(d->code == t->form || d->code == t->contradicts);
				assert_true(d->pos.line != 0 && d->pos.column != 0);
				refused++;
			}
			text[at] = was;
			pctl_str_drop(&again);
			pctl_diag_list_destroy(said);
		}
		if (refused < (t->contradicts != 0 ? n : 1))
			fail_msg("%s: %zu of %zu were refused", t->title, refused,
				 n * (sizeof(bytes) - 1));
		free(text);
	}
}

static void runs_out(const pctl_record_type *t, const char *text, size_t n)
{
	int failed = 1;

	for (uint32_t at = 1; failed; at++) {
		pctl_str_buf again = PCTL_STR_BUF_INIT;
		pctl_status status;

		failing_allocation = at;
		status = take(t, text, n, &quiet, &again);
		failed = failing_allocation == 0;
		failing_allocation = 0;
		if (status != (failed && !again.failed ? PCTL_E_NOMEM : PCTL_OK))
			fail_msg("%s, allocation %u: status %d", t->title, at, (int)status);
		pctl_str_drop(&again);
	}
}

static void test_formats__memory_runs_out_anywhere(void **state)
{
	enum { LARGE = 1u << 20 };
	char *large = malloc(LARGE), *text;
	size_t n;

	(void)state;
	for (size_t k = 0; k < N_LINE_RECORDS; k++) {
		text = text_of(&line_records[k], &n);
		runs_out(line_records[k].type, text, n);
		free(text);
	}
	/* A value that takes an allocation of its own. */
	assert_non_null(large);
	memset(large, 'x', LARGE);
	memcpy(large, "late\t", 5);
	large[LARGE - 3] = '\t';
	runs_out(&pctl_journal_line_type, large, LARGE);
	free(large);
}

/* ---- the document ------------------------------------------------------------------------- */

static const pctl_record_type *const grammar[] = {
	&pctl_statement_type, &pctl_profile_type,     &pctl_limits_type,  &pctl_optional_type,
	&pctl_tuning_type,    &pctl_certificate_type, &pctl_receipt_type, &pctl_block_receipt_type,
	&pctl_block_job_type, &pctl_dispute_type};

static void test_formats__document_is_current(void **state)
{
	static const char path[] = PIPECTL_SOURCE_DIR "/core/foundation/record/FORMATS.md";
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	char *is;
	uint64_t n;

	(void)state;
	pctl_str_add(&text,
		     "# Formats of records\n\nMade from the tables of fields by "
		     "`tests/unit/test_chain_formats.c` (`PIPECTL_BLESS=1`); `record.h` says "
		     "how a table becomes a text.\nIn libconfig's grammar strings are in "
		     "double quotes, `\"` and `\\` behind a `\\`, and a signed record ends "
		     "with the line of its signature; what is made of lines comes behind.\n\n");
	for (size_t i = 0; i < sizeof(grammar) / sizeof(grammar[0]); i++)
		pctl_record_describe(grammar[i], &text);
	for (size_t i = 0; i < N_LINE_RECORDS; i++)
		pctl_record_describe(line_records[i].type, &text);
	assert_false(text.failed);
	if (getenv("PIPECTL_BLESS") != NULL)
		assert_int_equal(pctl_file_write(path, text.data, text.n, 0, &quiet), PCTL_OK);
	assert_int_equal(pctl_file_read(path, 1u << 20, &quiet, &is, &n), PCTL_OK);
	assert_string_equal(text.data, is);
	free(is);
	pctl_str_drop(&text);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_formats__golden_files_come_back),
		PCTL_TEST(test_formats__every_other_byte),
		PCTL_TEST(test_formats__memory_runs_out_anywhere),
		PCTL_TEST(test_formats__document_is_current))
