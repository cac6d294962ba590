/* Bounds of loops by ranges of values: what each rule proves and with which number, beside a near twin that it must not
 * prove, most often because something can wrap. Consensus and the schedules before structured-3 take none of it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "main.h"
#include "compiler/analysis/analyse.h"
#include "compiler/eval/specialise.h"
#include "compiler/wgsl/wgsl.h"
#include "ranges_twins.h"
#include "unit/failing_allocation.h"

#define USELESS 0x10000000u /* a bound that the rule of old gives to `i > 0u; i--` from anywhere */

/* Of the last loop; 0 and *kind = UINT32_MAX: the text is no program. */
static uint64_t rounds_of(const char *body, uint32_t flags, uint32_t *kind)
{
	const pctl_wgsl_options options = {.file = "ranges.wgsl"};
	const pctl_analysis_query query = {
		.bindings = twin_bound, .n_bindings = 2, .flags = PCTL_ANALYSE_UNBOUNDED | flags};
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_call *call = pctl_diag_list_call(l);
	pctl_program *p = NULL, *q = NULL;
	pctl_analysis *a = NULL;
	uint64_t rounds = 0;
	char *text = twin_text(body);

	*kind = UINT32_MAX;
	if (pctl_wgsl_compile(text, strlen(text), &options, call, &p) == PCTL_OK &&
	    pctl_program_specialise(p, NULL, NULL, 0, call, &q) == PCTL_OK &&
	    pctl_program_analyse(q, &query, call, &a) == PCTL_OK && a->n_loops != 0) {
		*kind = a->loops[a->n_loops - 1].bound_kind;
		rounds = a->loops[a->n_loops - 1].folded_iterations;
	}
	if (*kind == UINT32_MAX)
		printf("%s\n", pctl_diag_list_at(l, 0)->message);
	pctl_analysis_destroy(a);
	pctl_program_destroy(q);
	pctl_program_destroy(p);
	pctl_diag_list_destroy(l);
	free(text);
	return rounds;
}

static void good_and_bad(void **state)
{
	uint32_t wrong = 0, kind;

	(void)state;
	for (size_t i = 0; i < N_TWINS; i++) {
		uint64_t rounds = rounds_of(twins[i].good, 0, &kind);

		if (kind == UINT32_MAX || rounds != twins[i].rounds) {
			printf("%s\n  %" PRIu64 ", wanted %" PRIu64 "\n", twins[i].good, rounds,
			       twins[i].rounds);
			wrong++;
		}
		rounds = rounds_of(twins[i].bad, 0, &kind);
		if (kind == UINT32_MAX || rounds < USELESS) {
			printf("%s\n  %" PRIu64 " (%u), wanted no bound\n", twins[i].bad, rounds,
			       kind);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

/* What a block may hold never depends on how much is learnt of ranges. */
static void consensus_takes_none(void **state)
{
	uint32_t kind, n = 0;

	(void)state;
	for (size_t i = 0; i < N_TWINS; i++) {
		(void)rounds_of(twins[i].good, 0, &kind);
		n += kind == PCTL_BOUND_RANGE;
		(void)rounds_of(twins[i].good, PCTL_ANALYSE_RELEASED, &kind);
		assert_int_not_equal(kind, PCTL_BOUND_RANGE);
	}
	assert_true(n > N_TWINS / 2);
}

/* ---- what is missing ----------------------------------------------------------------------- */

static const struct {
	const char *body, *hint;
} hints[] = {
	{FOR("u.raw / 4u + u.k"), "`//# max u.raw = NUMBER`"},
	{"let n = u.dims.y + 3u; " FOR("n"), "`//# max u.dims.y = NUMBER`"},
	{"var n = 3u; if (x == 0u) { n = u.rows[2].z; } " FOR("n"),
	 "`//# max u.rows[2].z = NUMBER`"},
	{"for (var i = u.raw; i > u.few; i -= 2u) { }", "`//# max u.raw = NUMBER`"},
	{FOR("arrayLength(&c)"), "min(arrayLength(&x), LITERAL)"},
	{FOR("c[3] + u.k"), "what memory holds"},
	{"for (var i = 0u; i < 9u; i += u.few) { }", "bound it by a literal"},
};

static void the_hint_names_it(void **state)
{
	const pctl_wgsl_options options = {.file = "ranges.wgsl"};

	(void)state;
	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
		char *text = twin_text(hints[i].body);
		pctl_diag_list *l = pctl_diag_list_create();
		const pctl_call *call = pctl_diag_list_call(l);
		pctl_program *p = NULL, *q = NULL;
		pctl_analysis *a = NULL;

		assert_int_equal(pctl_wgsl_compile(text, strlen(text), &options, call, &p),
				 PCTL_OK);
		assert_int_equal(pctl_program_specialise(p, NULL, NULL, 0, call, &q), PCTL_OK);
		assert_int_not_equal(pctl_program_analyse(q, NULL, call, &a), PCTL_OK);
		assert_int_equal(pctl_diag_list_at(l, 0)->code, PC2050_ANALYSE_LOOP);
		if (strstr(pctl_diag_list_at(l, 0)->hint, hints[i].hint) == NULL)
			fail_msg("%s: %s", hints[i].body, pctl_diag_list_at(l, 0)->hint);
		pctl_program_destroy(q);
		pctl_program_destroy(p);
		pctl_diag_list_destroy(l);
		free(text);
	}
}

/* ---- without memory ----------------------------------------------------------------------- */

/* Each allocation fails in turn: that is said, and no bound comes of it. */
static void each_allocation_may_fail(void **state)
{
	const pctl_wgsl_options options = {.file = "ranges.wgsl"};
	char *text = twin_text(twins[N_TWINS - 1].good);
	uint32_t n = 0;
	pctl_program *p = NULL, *q = NULL;
	pctl_analysis *a = NULL;
	pctl_status status;

	(void)state;
	assert_int_equal(pctl_wgsl_compile(text, strlen(text), &options, NULL, &p), PCTL_OK);
	assert_int_equal(pctl_program_specialise(p, NULL, NULL, 0, NULL, &q), PCTL_OK);
	for (;;) {
		failing_allocation = ++n;
		status = pctl_program_analyse(q, NULL, NULL, &a);
		if (status == PCTL_OK)
			break;
		assert_int_equal(status, PCTL_E_NOMEM);
		assert_null(a);
	}
	failing_allocation = 0;
	assert_true(n > 20);
	pctl_analysis_destroy(a);
	pctl_program_destroy(q);
	pctl_program_destroy(p);
	free(text);
}

PCTL_TESTS_MAIN(PCTL_TEST(good_and_bad), PCTL_TEST(consensus_takes_none),
		PCTL_TEST(the_hint_names_it), PCTL_TEST(each_allocation_may_fail))
