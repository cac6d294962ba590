/* What a policy says of races: who is refused, warned about or checked, at which places, and what checking may cost. */
#include "main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foundation/diag/diag.h"
#include "runtime/policy/policy.h"

static pctl_diag_list *diags;

static pctl_policy *policy(const char *body)
{
	char path[] = "/tmp/pctl-policy-XXXXXX";
	const int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");
	pctl_policy *p;

	assert_non_null(f);
	fprintf(f, "policy : { %s };\n", body);
	fclose(f);
	assert_int_equal(pctl_policy_read(path, NULL, NULL, pctl_diag_list_call(diags), &p),
			 PCTL_OK);
	unlink(path);
	return p;
}

static uint32_t code_of_last(void)
{
	return pctl_diag_list_at(diags, pctl_diag_list_count(diags) - 1)->code;
}

static int set_up(void **state)
{
	(void)state;
	diags = pctl_diag_list_create();
	return diags == NULL;
}

static int tear_down(void **state)
{
	(void)state;
	pctl_diag_list_destroy(diags);
	return 0;
}

static void policy__races(void **state)
{
	static const char *const words[] = {"proven", "checked", "trusted"};
	/* Rows: proven, checked, trusted. Columns: unproven, proven, refuted, checked. */
	static const uint32_t wanted[3][4] = {
		{PCTL_VERDICT_REFUSE, PCTL_VERDICT_OK, PCTL_VERDICT_REFUSE, PCTL_VERDICT_REFUSE},
		{PCTL_VERDICT_CHECK, PCTL_VERDICT_OK, PCTL_VERDICT_REFUSE, PCTL_VERDICT_OK},
		{PCTL_VERDICT_WARN, PCTL_VERDICT_OK, PCTL_VERDICT_REFUSE, PCTL_VERDICT_OK},
	};

	(void)state;
	for (uint32_t w = 0; w < 3; w++) {
		char body[64];
		pctl_policy *p;

		snprintf(body, sizeof(body), "race = \"%s\";", words[w]);
		p = policy(body);
		for (uint32_t r = 0; r < 4; r++) {
			const uint32_t before = pctl_diag_list_count(diags);
			const pctl_pos pos = {.file = "k.cfg", .line = r + 1, .column = w + 1};
			const pctl_policy_race what = {
				.races = r,
				.gas = 10,
				.subject = "k",
				.detail = "invocations 1 and 2 race for byte 3 of \"x\"",
				.pos = &pos,
				.place = {{.file = "k.wgsl", .line = 7, .column = 8},
					  {.file = "k.wgsl", .line = 9, .column = 1}}};
			const pctl_status status =
				pctl_policy_race_allowed(p, &what, pctl_diag_list_call(diags));
			const int said = wanted[w][r] == PCTL_VERDICT_REFUSE ||
					 wanted[w][r] == PCTL_VERDICT_WARN;
			const pctl_diag *d;

			assert_int_equal(pctl_policy_race_verdict(p, r), wanted[w][r]);
			assert_int_equal(status != PCTL_OK, wanted[w][r] == PCTL_VERDICT_REFUSE);
			assert_int_equal(pctl_diag_list_count(diags) - before, said);
			if (!said)
				continue;
			assert_int_equal(code_of_last(), PC4311_POLICY_RACE);
			d = pctl_diag_list_at(diags, pctl_diag_list_count(diags) - 1);
			assert_int_equal(d->pos.line, 7);
			assert_int_equal(d->n_notes, 2);
			assert_int_equal(d->notes[0].pos.line, 9);
			assert_int_equal(d->notes[1].pos.line, r + 1);
		}
		assert_int_equal(pctl_policy_race_verdict(p, 9), PCTL_VERDICT_REFUSE);
		pctl_policy_destroy(p);
	}
}

/* What checking costs is bounded, and can be impossible. */
static void policy__race_cost(void **state)
{
	static const struct {
		const char *body;
		uint64_t gas;
		int allowed;
	} cases[] = {
		{"race_cost = 100;", 100, 1},
		{"race_cost = 100;", 101, 0},
		{"race_cost = 0;", UINT64_MAX - 1, 1},
		{"race_cost = 0;", UINT64_MAX, 0},
		{"race_cost = \"20_000_000_000\";", 20000000000u, 1},
		{"race = \"trusted\"; race_cost = 100;", 101, 1},
		{"race = \"proven\"; race_cost = 100;", 1, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pctl_policy *p = policy(cases[i].body);
		const pctl_policy_race what = {
			.races = PCTL_RACES_UNPROVEN, .gas = cases[i].gas, .subject = "k"};

		assert_int_equal(pctl_policy_race_allowed(p, &what, pctl_diag_list_call(diags)) ==
					 PCTL_OK,
				 cases[i].allowed);
		if (!cases[i].allowed)
			assert_int_equal(code_of_last(), PC4311_POLICY_RACE);
		pctl_policy_destroy(p);
	}
}

PCTL_TESTS_MAIN(cmocka_unit_test_setup_teardown(policy__races, set_up, tear_down),
		cmocka_unit_test_setup_teardown(policy__race_cost, set_up, tear_down))
