/* The code table and the list of diagnostics. */
#include "main.h"

#include <stdlib.h>

#include "foundation/diag/diag.h"

static void codes(void **state)
{
	uint32_t last = 0;

	(void)state;
	assert_true(pctl_code_count() > 50);
	for (uint32_t i = 0; i < pctl_code_count(); i++) {
		uint32_t code = pctl_code_at(i);
		const char *explanation = pctl_code_explanation(code);

		if (code <= last)
			fail_msg("PC%04u follows PC%04u: lookups would miss it", code, last);
		last = code;
		assert_non_null(explanation);
		assert_true(strlen(pctl_code_summary(code)) > 5);
		if (strlen(explanation) < 40 || explanation[strlen(explanation) - 1] != '.')
			fail_msg("PC%04u has no explanation", code);
		for (uint32_t k = 0; k < i; k++) {
			if (strcmp(pctl_code_slug(code), pctl_code_slug(pctl_code_at(k))) == 0)
				fail_msg("PC%04u and PC%04u are both \"%s\"", pctl_code_at(k), code,
					 pctl_code_slug(code));
		}
		assert_int_not_equal(pctl_code_status(code), PCTL_OK);
	}
	assert_int_equal(pctl_code_at(pctl_code_count()), 0);
	assert_null(pctl_code_slug(9999));
	assert_int_equal(pctl_code_status(9999), PCTL_E_INTERNAL);
}

static void exits(void **state)
{
	static const int of[][2] = {{PCTL_OK, 0},
				    {PCTL_E_IO, 1},
				    {PCTL_E_USAGE, 2},
				    {PCTL_E_INVALID, 3},
				    {PCTL_E_PLUGIN, 4},
				    {PCTL_E_UNSUPPORTED, 5},
				    {PCTL_E_LIMIT, 5},
				    {PCTL_E_MISMATCH, 6},
				    {PCTL_E_GAS, 7},
				    {PCTL_E_STORE, 8},
				    {PCTL_E_EXEC, 9},
				    {PCTL_E_NOTHING, 10},
				    {PCTL_E_INTERNAL, 70},
				    {PCTL_E_CANCELLED, 130},
				    {PCTL_E_TIMEOUT, 9},
				    {PCTL_E_NOT_FOUND, 3},
				    {12345, 1}};

	(void)state;
	for (uint32_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		assert_int_equal(pctl_status_exit(of[i][0]), of[i][1]);
}

static void lists(void **state)
{
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_call *call = pctl_diag_list_call(l);
	char *text = NULL, big[2000];
	size_t n = 0;
	FILE *to;
	pctl_pos pos = {"f", 2, 3, 6, 0}, far = {"f", 9, 1, 0, 0}, wide = {"f", 2, 900, 0, 0};

	(void)state;
	pctl_diag_list_source(l, "f", "one\n\tabcdef\n", 12);
	assert_int_equal(
		pctl_refuse_at(call, PC4010_REFERENCE_UNKNOWN, &pos, "a hint", "no \"%s\"", "x"),
		PCTL_E_INVALID);
	(void)pctl_refuse_at(call, PC4010_REFERENCE_UNKNOWN, &pos, "a hint", "no \"%s\"", "x");
	assert_int_equal(pctl_diag_list_count(l), 1); /* repeats are dropped */
	(void)pctl_refuse_at(call, PC4010_REFERENCE_UNKNOWN, &far, NULL, "past the end");
	(void)pctl_refuse_at(call, PC4010_REFERENCE_UNKNOWN, &wide, NULL, "past the line");
	pctl_warn_at(call, PC4010_REFERENCE_UNKNOWN, NULL, NULL, "only a warning");
	memset(big, 'b', sizeof(big));
	big[sizeof(big) - 1] = '\0';
	(void)pctl_refuse(call, PC2_NOMEM, "%s", big);
	assert_int_equal(strlen(pctl_diag_list_at(l, 4)->message), sizeof(big) - 1);
	assert_int_equal(pctl_diag_list_errors(l), 4);
	to = open_memstream(&text, &n);
	pctl_diag_render_text(l, to, 0);
	fclose(to);
	assert_non_null(strstr(text, "f:2:3: error: PC4010 [unknown-reference]: no \"x\"\n"
				     "    2 | \tabcdef\n      | \t ^~~\n   hint: a hint\n"));
	free(text);
	for (int i = 0; i < 5000; i++)
		(void)pctl_refuse(call, PC2_NOMEM, "%d", i);
	assert_true(pctl_diag_list_count(l) <= 1000);
	assert_int_equal(pctl_diag_list_errors(l), 5004);
	pctl_diag_list_destroy(l);
	assert_int_equal(pctl_refuse(NULL, PC2_NOMEM, "nobody listens"), PCTL_E_NOMEM);
}

PCTL_TESTS_MAIN(PCTL_TEST(codes), PCTL_TEST(exits), PCTL_TEST(lists))
