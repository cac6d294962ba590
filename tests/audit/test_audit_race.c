/* Whose fault it is: a device whose own runs differ is blamed where the program has no race, by proof or because the
 * reference looked; where the program has one, nobody is, and the race is named with both its places. */
#include "rig.h"

#include <string.h>

#include "planted/planted.h"

#define IN_PROCESS PCTL_RUN_IN_PROCESS
#define FLIP_SECOND "flip make 0 0 0.0 9 3 2 999" /* from the second run on */
#define FLIP_ALL "flip make 0 0 0.0 9 3 1 999"

static const char *const three[] = {"cpu", "liar:honest one", "liar:liar"};
static const char *const two[] = {"liar:liar", "liar:false reference"};

/* Triangular numbers meet every residue modulo 64 once, squares do not; the analysis proves neither. */
#define APART "((id.x * (id.x + 1u)) >> 1u) & 63u"
#define MEET "(id.x * id.x) & 63u"
#define OWN "id.x"

static void place(bench *b, const char *index)
{
	char path[128], shader[512], text[512];

	snprintf(path, sizeof(path), "%s/k.wgsl", b->home);
	snprintf(shader, sizeof(shader),
		 "@group(0) @binding(0) var<storage, read_write> r : array<u32>;\n"
		 "@compute @workgroup_size(64)\n"
		 "fn main(@builtin(global_invocation_id) id : vec3<u32>) {\n"
		 "  r[%s] = id.x * 2654435761u;\n"
		 "}\n",
		 index);
	must(b, pctl_file_write(path, shader, strlen(shader), 0, b->call));
	snprintf(text, sizeof(text),
		 "pipeline : { name = \"t\"; class = \"integer\"; jobs = ( { id = \"make\"; shader "
		 "= \"%s\"; dispatch = ( 1 ); out : { r = \"u32[64]\"; }; } ); outputs : { r = "
		 "\"make.r\"; }; };",
		 path);
	bench_pipeline(b, text);
}

static void trust(bench *b)
{
	static const char text[] = "policy : { race = \"trusted\"; };\n";
	char path[128];

	snprintf(path, sizeof(path), "%s/trust.cfg", b->home);
	must(b, pctl_file_write(path, text, strlen(text), 0, b->call));
	pctl_policy_destroy(b->policy);
	b->policy = NULL;
	must(b, pctl_policy_read(path, NULL, NULL, b->call, &b->policy));
}

static void expect_blamed(bench *b, uint32_t device, uint32_t races)
{
	uint32_t n;

	must(b, b->status);
	assert_int_equal(b->r->races, races);
	assert_null(b->r->race);
	assert_int_equal(device_of(b, device)->outcome, PCTL_AUDIT_UNSTEADY);
	assert_non_null(strstr(device_of(b, device)->cause, "element 9"));
	assert_int_equal(pctl_audit_verdict(b->r), PCTL_AUDIT_NOT_REPRODUCIBLE);
	must(b, pctl_audit_quarantine(b->r, &b->options, b->call, &n));
	assert_int_equal(n, 1);
}

static void expect_nobody(bench *b)
{
	uint32_t n;

	must(b, b->status);
	assert_int_equal(b->r->races, PCTL_RACES_REFUTED);
	assert_non_null(strstr(b->r->race, "k.wgsl:4:3 and "));
	assert_non_null(strstr(b->r->race, "race for byte"));
	for (uint32_t i = 0; i < b->r->n_devices; i++) {
		assert_int_not_equal(device_of(b, i)->outcome, PCTL_AUDIT_OUTVOTED);
		assert_int_not_equal(device_of(b, i)->outcome, PCTL_AUDIT_UNSTEADY);
		assert_null(device_of(b, i)->cause);
	}
	assert_int_equal(pctl_audit_verdict(b->r), PCTL_AUDIT_RACE);
	must(b, pctl_audit_quarantine(b->r, &b->options, b->call, &n));
	assert_int_equal(n, 0);
	assert_null(pctl_quarantine_find(b->registry, "liar", ""));
}

static void race__a_race_is_nobodys_fault(void **state)
{
	static const char *const lies[] = {FLIP_SECOND, FLIP_ALL};
	bench b;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		bench_open(&b);
		place(&b, MEET);
		/* It is checked before any device runs. */
		bench_audit(&b, three, 3, 2, lies[i], IN_PROCESS);
		assert_int_equal(b.status, PCTL_E_INVALID);
		assert_int_equal(last_code(&b), PC5220_RACE);
		assert_non_null(
			strstr(pctl_diag_list_at(b.l, pctl_diag_list_count(b.l) - 1)->message,
			       "k.wgsl:4:3 and "));
		trust(&b);
		bench_audit(&b, three, 3, 2, lies[i], IN_PROCESS);
		expect_nobody(&b);
		if (i == 0)
			planted("a race that the data make, and a device whose runs differ",
				"k.wgsl", "audit: race, nobody is blamed", b.r->race);
		bench_close(&b);
	}
}

static void race__without_one_the_device_is_blamed(void **state)
{
	bench b;

	(void)state;
	bench_open(&b);
	place(&b, OWN);
	/* Another text each time: the liar counts openings since it changed. */
	bench_audit(&b, three, 3, 2, "flip make 0 0 0.0 9 3 2 998", IN_PROCESS);
	expect_blamed(&b, 2, PCTL_RACES_PROVEN);
	bench_close(&b);
	bench_open(&b);
	place(&b, APART);
	bench_audit(&b, three, 3, 2, "flip make 0 0 0.0 9 3 2 997", IN_PROCESS);
	expect_blamed(&b, 2, PCTL_RACES_CHECKED);
	planted("a device whose runs differ, of a program that was checked",
		device_of(&b, 2)->selector, "audit: not reproducible", device_of(&b, 2)->cause);
	bench_close(&b);
	/* Trusted so far, the detector is asked before it is blamed. */
	bench_open(&b);
	trust(&b);
	place(&b, APART);
	bench_audit(&b, three, 3, 2, "flip make 0 0 0.0 9 3 2 996", IN_PROCESS);
	expect_blamed(&b, 2, PCTL_RACES_CHECKED);
	bench_close(&b);
}

/* Nobody else repeats itself, and there is no quorum: what differs from itself is still wrong. */
static void race__alone_it_is_blamed_too(void **state)
{
	bench b;

	(void)state;
	bench_open(&b);
	place(&b, OWN);
	bench_audit(&b, two, 2, 2, "flip make 0 0 0.0 9 3 2 3", IN_PROCESS);
	must(&b, b.status);
	assert_int_equal(device_of(&b, 0)->outcome, PCTL_AUDIT_UNSTEADY);
	assert_int_equal(device_of(&b, 1)->outcome, PCTL_AUDIT_UNSTEADY);
	bench_close(&b);
}

PCTL_TESTS_MAIN(PCTL_TEST(race__a_race_is_nobodys_fault),
		PCTL_TEST(race__without_one_the_device_is_blamed),
		PCTL_TEST(race__alone_it_is_blamed_too))
