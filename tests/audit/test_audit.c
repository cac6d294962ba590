/* Audits of a device that lies in one bit: who is outvoted, where the lie is found, whether its reproduction
 * reproduces, and what happens when there is nobody to believe. */
#include "rig.h"

#include "planted/planted.h"

static const char *const three[] = {"cpu", "liar:honest one", "liar:liar"};
static const char *const two[] = {"liar:honest one", "liar:liar"};
static const char *const honest[] = {"cpu", "liar:honest one", "liar:honest two"};

#define IN_PROCESS PCTL_RUN_IN_PROCESS
/* Step 2 of rank.step gathers; its binding 0:3 is the prefixes of u64. */
#define LIE "flip iterate 17 2 0.3 244 5 "

static void audit__honest_devices_agree(void **state)
{
	bench b;

	(void)state;
	bench_open(&b);
	bench_pipeline(&b, NULL);
	bench_audit(&b, honest, 3, 2, "", IN_PROCESS);
	must(&b, b.status);
	assert_int_equal(b.r->agreed, 1);
	assert_int_equal(b.r->weak, 0);
	assert_int_equal(b.r->n_divergences, 0);
	assert_true(b.r->n_cells >= 3); /* graph, start, ranks */
	assert_int_equal(b.r->compared_bytes % 6, 0);
	assert_true(b.r->compared_bytes > 0);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(device_of(&b, i)->outcome, PCTL_AUDIT_AGREES);
		assert_int_equal(device_of(&b, i)->n_runs, 2);
		assert_true(device_of(&b, i)->n_identity > 0);
	}
	bench_close(&b);
}

/* Under a policy that pins the liar, as the bench's registry does. */
static int reproduces(const bench *b)
{
	char command[1024], policy[128], text[256], sha256[2 * PCTL_DIGEST_BYTES + 1];

	assert_true(pctl_plugin_hash_file(AUDIT_LIAR, sha256));
	snprintf(policy, sizeof(policy), "%s/pin.cfg", b->home);
	snprintf(text, sizeof(text), "policy : { plugins : { sha256 : { liar = \"%s\"; }; }; };",
		 sha256);
	assert_int_equal(pctl_file_write(policy, text, strlen(text), 0, NULL), PCTL_OK);
	snprintf(command, sizeof(command),
		 "PIPECTL=%s PIPECTL_OPTIONS='--plugin-dir %s --policy %s' %s >/dev/null",
		 PIPECTL_PROGRAM, AUDIT_PLUGINS, policy, b->r->divergences[0].command);
	return WEXITSTATUS(system(command));
}

/* A row of the table: which device, by its outcome, and what is said of it. */
static void tell(const bench *b, uint32_t device, const char *fault, const char *said)
{
	static const char *const outcomes[] = {[PCTL_AUDIT_AGREES] = "agrees",
					       [PCTL_AUDIT_OUTVOTED] = "outvoted",
					       [PCTL_AUDIT_FAILED] = "failed",
					       [PCTL_AUDIT_UNDECIDED] = "undecided",
					       [PCTL_AUDIT_UNSTEADY] = "not reproducible"};
	const pctl_audit_device *d = device_of(b, device);
	char caught_by[64];

	snprintf(caught_by, sizeof(caught_by), "audit: %s", outcomes[d->outcome]);
	planted(fault, d->selector, caught_by, said == NULL ? d->cause : said);
}

/* Where the first divergence began, to the bit. */
static const char *origin(const bench *b)
{
	static char text[512];
	const pctl_audit_divergence *d = &b->r->divergences[0];

	snprintf(text, sizeof(text),
		 "job %s, round %u, step %u, %s, %s, element %u: got %#llx, wanted %#llx; "
		 "reproduced %u of %u times",
		 d->job, (unsigned)d->round, (unsigned)d->step, d->kernel, d->buffer,
		 (unsigned)d->buffer_element, (unsigned long long)d->buffer_got,
		 (unsigned long long)d->buffer_want, (unsigned)d->reproduced, (unsigned)d->tried);
	return text;
}

static void expect_found(const bench *b)
{
	const pctl_audit_divergence *d = &b->r->divergences[0];

	assert_int_equal(d->known, 1);
	assert_int_equal(d->round, 17);
	assert_int_equal(d->step, 2);
	assert_string_equal(d->kernel, "rank/gather.wgsl");
	assert_string_equal(d->buffer, "temporary 1, binding 0:3");
	assert_int_equal(d->buffer_element, 244);
	assert_int_equal(d->buffer_got ^ d->buffer_want, 1u << 5);
	assert_non_null(d->dir);
	assert_int_equal(d->tried, 5);
	assert_int_equal(d->reproduced, 5);
	assert_true(d->shrunk_bytes < d->shrunk_from);
}

static void audit__a_lie_in_one_repeat_is_found_to_the_bit(void **state)
{
	bench b;

	(void)state;
	bench_open(&b);
	bench_pipeline(&b, NULL);
	bench_audit(&b, three, 3, 3, LIE "3 999", IN_PROCESS); /* the third run is wrong */
	must(&b, b.status);
	assert_int_equal(b.r->agreed, 0);
	assert_int_equal(b.r->decided, 1);
	assert_int_equal(device_of(&b, 0)->outcome, PCTL_AUDIT_AGREES);
	assert_int_equal(device_of(&b, 1)->outcome, PCTL_AUDIT_AGREES);
	assert_int_equal(device_of(&b, 2)->outcome, PCTL_AUDIT_UNSTEADY);
	assert_non_null(strstr(device_of(&b, 2)->cause, "job \"iterate\""));
	assert_non_null(strstr(device_of(&b, 2)->cause, "repeat 2"));
	assert_int_equal(b.r->n_divergences, 1);
	assert_int_equal(b.r->divergences[0].device, 2);
	assert_int_equal(b.r->divergences[0].repeat, 2);
	assert_string_equal(b.r->divergences[0].job, "iterate");
	assert_string_equal(b.r->divergences[0].port, "ranks");
	assert_true(b.r->n_drifts >= 1);
	expect_found(&b);
	tell(&b, 2, "a bit of one step in one of three repeats", origin(&b));
	/* The script is a process of its own, in which the liar lies from the start. */
	setenv("PIPECTL_LIAR", LIE "1 999", 1);
	assert_int_equal(reproduces(&b), 0);
	setenv("PIPECTL_LIAR", "", 1);
	assert_int_equal(reproduces(&b), 1);
	bench_close(&b);
}

static void audit__what_does_not_come_again_is_unknown(void **state)
{
	bench b;

	(void)state;
	bench_open(&b);
	bench_pipeline(&b, NULL);
	bench_audit(&b, three, 3, 2, LIE "2 2", IN_PROCESS);
	must(&b, b.status);
	assert_int_equal(device_of(&b, 2)->outcome, PCTL_AUDIT_UNSTEADY);
	assert_int_equal(b.r->n_divergences, 1);
	assert_int_equal(b.r->divergences[0].known, 0);
	assert_null(b.r->divergences[0].dir);
	tell(&b, 2, "a bit that does not come again", NULL);
	bench_close(&b);
}

static void audit__two_devices_decide_nothing(void **state)
{
	bench b;

	(void)state;
	bench_open(&b);
	bench_pipeline(&b, NULL);
	bench_audit(&b, two, 2, 2, LIE "1 999", IN_PROCESS);
	must(&b, b.status);
	assert_int_equal(b.r->agreed, 0);
	assert_int_equal(b.r->decided, 0);
	assert_int_equal(device_of(&b, 0)->outcome, PCTL_AUDIT_UNDECIDED);
	assert_int_equal(device_of(&b, 1)->outcome, PCTL_AUDIT_UNDECIDED);
	assert_int_equal(b.r->n_divergences, 1);
	expect_found(&b);
	tell(&b, 1, "a bit, of two devices without a reference", origin(&b));
	bench_close(&b);
}

static void audit__a_device_that_differs_from_itself_is_not_reproducible(void **state)
{
	bench b;

	(void)state;
	bench_open(&b);
	bench_pipeline(&b, NULL);
	bench_audit(&b, two, 2, 2, LIE "2 999", IN_PROCESS);
	must(&b, b.status);
	assert_int_equal(device_of(&b, 0)->outcome, PCTL_AUDIT_UNDECIDED);
	assert_int_equal(device_of(&b, 1)->outcome, PCTL_AUDIT_UNSTEADY);
	assert_non_null(strstr(device_of(&b, 1)->cause, "repeat 1"));
	tell(&b, 1, "a device that differs from itself", NULL);
	bench_close(&b);
}

static void audit__the_reference_decides_between_two(void **state)
{
	static const char *const with_reference[] = {"liar:liar", "cpu"};
	bench b;

	(void)state;
	bench_open(&b);
	bench_pipeline(&b, NULL);
	bench_audit(&b, with_reference, 2, 1, LIE "1 999", IN_PROCESS);
	must(&b, b.status);
	assert_int_equal(b.r->decided, 1);
	assert_int_equal(device_of(&b, 0)->outcome, PCTL_AUDIT_OUTVOTED);
	assert_int_equal(device_of(&b, 1)->outcome, PCTL_AUDIT_AGREES);
	tell(&b, 0, "a bit, of two devices with the reference", NULL);
	bench_close(&b);
}

/* One plugin with two devices that tell the same lie. */
static void audit__one_plugin_does_not_outvote_the_reference(void **state)
{
	static const char *const league[] = {"cpu", "liar:liar", "liar:false reference"};
	bench b;

	(void)state;
	bench_open(&b);
	bench_pipeline(&b, NULL);
	bench_audit(&b, league, 3, 1, LIE "1 999", IN_PROCESS);
	must(&b, b.status);
	assert_int_equal(device_of(&b, 0)->outcome, PCTL_AUDIT_AGREES);
	assert_int_equal(device_of(&b, 1)->outcome, PCTL_AUDIT_OUTVOTED);
	assert_int_equal(device_of(&b, 2)->outcome, PCTL_AUDIT_OUTVOTED);
	tell(&b, 1, "a bit, of two devices of one plugin against the reference", NULL);
	bench_close(&b);
}

/* Without the reference, too: as many devices as it likes, one plugin is one, and nobody is blamed on its word. */
static void audit__one_plugin_decides_nothing(void **state)
{
	static const char *const league[] = {"liar:honest one", "liar:liar",
					     "liar:false reference"};
	uint32_t n;
	bench b;

	(void)state;
	bench_open(&b);
	bench_pipeline(&b, NULL);
	bench_audit(&b, league, 3, 1, LIE "1 999", IN_PROCESS);
	must(&b, b.status);
	assert_int_equal(b.r->decided, 0);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(device_of(&b, i)->outcome, PCTL_AUDIT_UNDECIDED);
	must(&b, pctl_audit_quarantine(b.r, &b.options, b.call, &n));
	assert_int_equal(n, 0);
	assert_null(pctl_quarantine_find(b.registry, "liar", ""));
	tell(&b, 0, "a bit, of two devices of one plugin against its third", origin(&b));
	bench_close(&b);
}

/* A device that says it is the reference is one like others: a quorum outvotes it, and without one it decides nothing. */
static void audit__no_plugin_makes_itself_the_reference(void **state)
{
	static const char *const all[] = {"liar:false reference", "mock:wrap=cpu", "cpu"};
	static const char *const no_cpu[] = {"liar:false reference", "liar:honest one",
					     "mock:wrap=cpu"};
	bench b;

	(void)state;
	bench_open(&b);
	bench_pipeline(&b, NULL);
	bench_audit(&b, all, 3, 1, LIE "1 999", 0);
	must(&b, b.status);
	assert_int_equal(device_of(&b, 0)->outcome, PCTL_AUDIT_OUTVOTED);
	assert_int_equal(device_of(&b, 1)->outcome, PCTL_AUDIT_AGREES);
	tell(&b, 0, "a bit of a device that says it is the reference", NULL);
	b.options.quorum = 3; /* which nobody reaches */
	bench_audit(&b, no_cpu, 3, 1, LIE "1 998", 0);
	must(&b, b.status);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(device_of(&b, i)->outcome, PCTL_AUDIT_UNDECIDED);
	bench_close(&b);
}

static void audit__a_crash_is_that_devices_failure(void **state)
{
	bench b;

	(void)state;
	bench_open(&b);
	bench_pipeline(&b, NULL);
	bench_audit(&b, three, 3, 2, "crash iterate 3 0 0.0 0 0 1 999", 0);
	must(&b, b.status);
	assert_int_equal(device_of(&b, 0)->outcome, PCTL_AUDIT_AGREES);
	assert_int_equal(device_of(&b, 1)->outcome, PCTL_AUDIT_AGREES);
	assert_int_equal(device_of(&b, 2)->outcome, PCTL_AUDIT_FAILED);
	assert_non_null(strstr(device_of(&b, 2)->cause, "PC"));
	tell(&b, 2, "a device that dies in its work", NULL);
	assert_int_equal(b.r->agreed, 0);
	assert_int_equal(b.r->n_divergences, 0);
	/* What it gave before it died was compared: prepare's outputs. */
	assert_int_equal(b.r->cells[0].agreed, 1);
	assert_int_not_equal(b.r->cells[0].groups[4], UINT32_MAX);
	assert_int_equal(b.r->cells[b.r->n_cells - 1].groups[4], UINT32_MAX);
	bench_close(&b);
}

/* The shipped mock in a worker, and its reproduction although it is in quarantine by then (of another home). */
static void audit__the_mock_is_found_out(void **state)
{
	static const char *const with_mock[] = {
		"cpu", "liar:honest one",
		"mock:wrap=cpu+flip-bit@iterate/17.2:bit=5:binding=0.3:element=244"};
	uint32_t n;
	bench b;

	(void)state;
	bench_open(&b);
	bench_pipeline(&b, NULL);
	bench_audit(&b, with_mock, 3, 2, "", 0);
	must(&b, b.status);
	assert_int_equal(device_of(&b, 0)->outcome, PCTL_AUDIT_AGREES);
	assert_int_equal(device_of(&b, 1)->outcome, PCTL_AUDIT_AGREES);
	assert_int_equal(device_of(&b, 2)->outcome, PCTL_AUDIT_OUTVOTED);
	assert_int_equal(b.r->divergences[0].known, 1);
	assert_int_equal(b.r->divergences[0].round, 17);
	assert_int_equal(b.r->divergences[0].step, 2);
	assert_string_equal(b.r->divergences[0].buffer, "temporary 1, binding 0:3");
	assert_int_equal(b.r->divergences[0].reproduced, 5);
	tell(&b, 2, "a bit of one step, through a worker", origin(&b));
	must(&b, pctl_audit_quarantine(b.r, &b.options, b.call, &n));
	assert_int_equal(reproduces(&b), 0);
	bench_close(&b);
}

/* The script asks for the budget that the audit had. */
static void audit__a_step_on_a_turn_budget_is_reproduced(void **state)
{
	static const char wgsl[] =
		"@group(0) @binding(0) var<storage, read_write> y: array<u32>;\n"
		"@compute @workgroup_size(64)\n"
		"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
		"\tvar n = id.x * 7u + 1u;\n\tvar steps = 0u;\n"
		"\twhile (n != 1u) { n = select(n / 2u, n * 3u + 1u, (n & 1u) == 1u); steps++; }\n"
		"\ty[id.x] = steps;\n}\n";
	static const char *const devices[] = {"cpu", "liar:honest one", "liar:liar"};
	char path[160], text[512], command[512];
	bench b;

	(void)state;
	bench_open(&b);
	snprintf(path, sizeof(path), "%s/k.wgsl", b.home);
	must(&b, pctl_file_write(path, wgsl, strlen(wgsl), 0, b.call));
	snprintf(text, sizeof(text),
		 "pipeline : { name = \"s\"; class = \"integer\"; jobs = ( { id = \"make\"; shader "
		 "= "
		 "\"%s\"; dispatch = ( 1 ); out : { y = \"u32[64]\"; }; } ); outputs : { y = "
		 "\"make.y\"; }; };",
		 path);
	pctl_kernels_ask_turns(b.kernels, 5000);
	bench_pipeline(&b, text);
	bench_audit(&b, devices, 3, 1, "flip make 0 0 0.0 9 2 1 999", IN_PROCESS);
	must(&b, b.status);
	assert_int_equal(device_of(&b, 2)->outcome, PCTL_AUDIT_OUTVOTED);
	assert_int_equal(b.r->n_divergences, 1);
	assert_int_equal(b.r->divergences[0].known, 1);
	assert_int_equal(b.r->divergences[0].reproduced, b.r->divergences[0].tried);
	assert_non_null(b.r->divergences[0].dir);
	assert_int_equal(reproduces(&b), 0);
	snprintf(command, sizeof(command), "grep -q -e '--max-turns 5000' '%s/reproduce.sh'",
		 b.r->divergences[0].dir);
	assert_int_equal(system(command), 0);
	setenv("PIPECTL_LIAR", "", 1);
	assert_int_equal(reproduces(&b), 1);
	bench_close(&b);
}

static void audit__quarantine_names_the_cause(void **state)
{
	const pctl_quarantine_entry *e;
	uint32_t n;
	bench b;

	(void)state;
	bench_open(&b);
	bench_pipeline(&b, NULL);
	bench_audit(&b, three, 3, 1, LIE "1 999", IN_PROCESS);
	must(&b, b.status);
	assert_null(pctl_quarantine_find(b.registry, "liar", ""));
	must(&b, pctl_audit_quarantine(b.r, &b.options, b.call, &n));
	assert_int_equal(n, 1);
	e = pctl_quarantine_find(b.registry, "liar", device_of(&b, 2)->driver_key);
	assert_non_null(e);
	assert_string_equal(e->who, "audit");
	assert_non_null(strstr(e->cause, "iterate"));
	planted("an outvoted device is used again", device_of(&b, 2)->selector, "quarantine",
		e->cause);
	assert_null(pctl_quarantine_find(b.registry, "cpu", ""));
	bench_close(&b);
}

static void audit__what_is_no_audit_is_refused(void **state)
{
	static const char *const same[] = {"cpu", "cpu:0"};
	bench b;

	(void)state;
	bench_open(&b);
	bench_pipeline(&b, NULL);
	bench_audit(&b, three, 1, 1, "", IN_PROCESS);
	assert_int_equal(b.status, PCTL_E_USAGE);
	assert_int_equal(last_code(&b), PC5601_AUDIT_DEVICES);
	bench_audit(&b, same, 2, 1, "", IN_PROCESS);
	assert_int_equal(last_code(&b), PC5601_AUDIT_DEVICES);
	b.options.natives = 1; /* an integer pipeline has no native forms */
	bench_audit(&b, three, 3, 1, "", IN_PROCESS);
	assert_int_equal(b.status, PCTL_E_USAGE);
	assert_int_equal(last_code(&b), PC5603_AUDIT_NATIVES);
	b.options.natives = 0;
	/* Every device dies: nothing was compared, and that is no agreement. */
	bench_audit(&b, (const char *const[]){"liar:liar", "liar:false reference"}, 2, 1,
		    "crash prepare 0 0 0.0 0 0 1 999", 0);
	assert_int_equal(b.status, PCTL_E_NOTHING);
	assert_int_equal(last_code(&b), PC5602_AUDIT_NOTHING);
	bench_close(&b);
}

PCTL_TESTS_MAIN(PCTL_TEST(audit__honest_devices_agree),
		PCTL_TEST(audit__a_lie_in_one_repeat_is_found_to_the_bit),
		PCTL_TEST(audit__what_does_not_come_again_is_unknown),
		PCTL_TEST(audit__two_devices_decide_nothing),
		PCTL_TEST(audit__a_device_that_differs_from_itself_is_not_reproducible),
		PCTL_TEST(audit__the_reference_decides_between_two),
		PCTL_TEST(audit__one_plugin_does_not_outvote_the_reference),
		PCTL_TEST(audit__one_plugin_decides_nothing),
		PCTL_TEST(audit__no_plugin_makes_itself_the_reference),
		PCTL_TEST(audit__a_crash_is_that_devices_failure),
		PCTL_TEST(audit__the_mock_is_found_out),
		PCTL_TEST(audit__a_step_on_a_turn_budget_is_reproduced),
		PCTL_TEST(audit__quarantine_names_the_cause),
		PCTL_TEST(audit__what_is_no_audit_is_refused))
