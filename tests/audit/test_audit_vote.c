/* What is weak evidence, how bits are compared, and divergences in pipelines of shaders. */
#include "rig.h"

#include "evidence/audit/audit_private.h"
#include "planted/planted.h"

#define IN_PROCESS PCTL_RUN_IN_PROCESS
static const char *const pair[] = {"cpu", "liar:liar"};
static const char *const references[] = {"cpu", "liar:false reference"};

/* A pipeline of one shader job without inputs, over 64 elements. */
static void shader_pipeline(bench *b, const char *class, const char *type, const char *element,
			    const char *value)
{
	char path[160], text[512], wgsl[512];

	snprintf(path, sizeof(path), "%s/k.wgsl", b->home);
	snprintf(wgsl, sizeof(wgsl),
		 "@group(0) @binding(0) var<storage, read_write> y: array<%s>;\n"
		 "@compute @workgroup_size(64)\n"
		 "fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
		 "\tif (id.x < arrayLength(&y)) { y[id.x] = %s; }\n}\n",
		 element, value);
	must(b, pctl_file_write(path, wgsl, strlen(wgsl), 0, b->call));
	snprintf(text, sizeof(text),
		 "pipeline : { name = \"s\"; class = \"%s\"; jobs = ( { id = \"make\"; shader = "
		 "\"%s\"; dispatch = ( 1 ); out : { y = \"%s\"; }; } ); outputs : { y = "
		 "\"make.y\"; }; };",
		 class, path, type);
	bench_pipeline(b, text);
}

static void vote__weak_evidence(void **state)
{
	static const struct {
		const char *value;
		uint32_t weak;
		uint64_t zeros, distinct;
	} cases[] = {
		{"0u", 1, 64, 1}, {"7u", 1, 0, 1}, {"id.x", 0, 1, 64}, {"id.x / 32u", 0, 32, 2}};

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char said[96], fault[64];
		bench b;

		bench_open(&b);
		shader_pipeline(&b, "integer", "u32[64]", "u32", cases[i].value);
		bench_audit(&b, pair, 2, 1, "", IN_PROCESS);
		must(&b, b.status);
		assert_int_equal(b.r->n_cells, 1);
		assert_int_equal(b.r->cells[0].agreed, 1);
		assert_int_equal(b.r->cells[0].evidence.n_elements, 64);
		assert_int_equal(b.r->cells[0].evidence.zeros, cases[i].zeros);
		assert_int_equal(b.r->cells[0].evidence.distinct, cases[i].distinct);
		assert_int_equal(b.r->cells[0].evidence.weak, cases[i].weak);
		assert_int_equal(b.r->weak, cases[i].weak);
		assert_int_equal(b.r->agreed, !cases[i].weak);
		if (cases[i].weak) {
			snprintf(said, sizeof(said), "%u elements, %u of them 0, %u different", 64u,
				 (unsigned)b.r->cells[0].evidence.zeros,
				 (unsigned)b.r->cells[0].evidence.distinct);
			snprintf(fault, sizeof(fault), "a kernel whose every element is %s",
				 cases[i].value);
			planted(fault, "all devices", "audit: no evidence", said);
		}
		bench_close(&b);
	}
}

/* Every element a NaN of its own; the lie is one bit of one of them, and stays a NaN. */
static void vote__nans_are_compared_by_their_bits(void **state)
{
	bench b;

	(void)state;
	bench_open(&b);
	shader_pipeline(&b, "approximate", "f32[64]", "f32", "bitcast<f32>(0x7fc00000u + id.x)");
	bench_audit(&b, references, 2, 1, "", IN_PROCESS);
	must(&b, b.status);
	assert_int_equal(b.r->cells[0].agreed, 1);
	assert_int_equal(b.r->cells[0].evidence.nans, 64);
	assert_int_equal(b.r->weak, 1);
	bench_audit(&b, references, 2, 1, "flip make 0 0 0.0 9 3 1 999", IN_PROCESS);
	must(&b, b.status);
	assert_int_equal(device_of(&b, 1)->outcome, PCTL_AUDIT_OUTVOTED);
	assert_int_equal(b.r->divergences[0].n_different, 1);
	assert_int_equal(b.r->divergences[0].element, 9);
	assert_int_equal(b.r->divergences[0].got, 0x7fc00001);
	assert_int_equal(b.r->divergences[0].want, 0x7fc00009);
	assert_int_equal(b.r->divergences[0].flipped_bits, 1);
	assert_int_equal(b.r->divergences[0].ulp, 1);
	planted("a bit of a NaN's payload", device_of(&b, 1)->selector, "audit: outvoted",
		device_of(&b, 1)->cause);
	assert_int_equal(b.r->divergences[0].known, 1);
	assert_int_equal(b.r->divergences[0].reproduced, b.r->divergences[0].tried);
	bench_close(&b);
}

/* This fault strikes the end of every list of the job: of the one that only fills, too. */
static void vote__a_fill_is_not_blamed_for_the_kernel_behind_it(void **state)
{
	static const char *const with_mock[] = {"cpu",
						"mock:wrap=cpu+flip-bit@make:element=9:bit=3"};
	bench b;

	(void)state;
	bench_open(&b);
	shader_pipeline(&b, "integer", "u32[64]", "u32", "id.x + 1u");
	bench_audit(&b, with_mock, 2, 1, "", 0);
	must(&b, b.status);
	assert_int_equal(device_of(&b, 1)->outcome, PCTL_AUDIT_OUTVOTED);
	assert_int_equal(b.r->divergences[0].known, 1);
	assert_int_equal(b.r->divergences[0].round, 0);
	assert_int_equal(b.r->divergences[0].step, 2);
	assert_string_equal(b.r->divergences[0].buffer, "output y, binding 0:0");
	assert_int_equal(b.r->divergences[0].buffer_got, 10 ^ 8);
	assert_int_equal(b.r->divergences[0].buffer_want, 10);
	assert_int_equal(b.r->divergences[0].reproduced, 5);
	bench_close(&b);
}

static void vote__comparing(void **state)
{
	uint8_t a[40], b[40];
	pctl_audit_difference d;

	(void)state;
	for (uint32_t i = 0; i < 40; i++)
		a[i] = b[i] = (uint8_t)i;
	pctl_audit_compare(a, b, 40, PCTL_SCALAR_U64, &d);
	assert_int_equal(d.n_different, 0);
	b[17] ^= 0x81;
	b[39] ^= 1;
	pctl_audit_compare(a, b, 40, PCTL_SCALAR_U64, &d);
	assert_int_equal(d.n_different, 2);
	assert_int_equal(d.element, 2);
	assert_int_equal(d.element_bytes, 8);
	assert_int_equal(d.flipped_bits, 2);
	assert_int_equal(d.got ^ d.want, 0x8100);
	pctl_audit_compare(a, b, 40, PCTL_DTYPE_BYTES, &d);
	assert_int_equal(d.element, 17);
	pctl_audit_compare(a, b, 40, 0, &d);
	assert_int_equal(d.element, 4);
	assert_int_equal(d.element_bytes, 4);
}

/* Who is believed, decision by decision. A voter is a letter for its plugin's file (capital: vouched for; R the reference), a
 * digit for its driver, and what it said; '-': nothing. 0: no driver was seen; 1 and 2: two drivers of its own; 3: what 1 has
 * mapped and more; 9: one driver that others have, too. want: what is believed, '-' nothing; then what becomes of each: Agrees,
 * Minority, Open, None. */
static void vote__decisions(void **state)
{
	static const struct {
		const char *voters, *want, *why;
		uint32_t k, stands, disputed;
	} rows[] = {
		{"R0x V0x", "xAA", "two of two", 2, 1, 0},
		{"R0x V0y", "xAM", "the reference alone decides", 2, 0, 0},
		{"V0x W0y", "-OO", "two differ without the reference", 2, 0, 0},
		{"V0x W0x U0y", "xAAM", "two plugins against one", 2, 1, 0},
		{"V1x V2x W0y", "-OOO", "two drivers of one plugin against another plugin", 2, 0,
		 0},
		{"V1x V1x W0y", "-OOO", "two devices of one driver are one voice", 2, 0, 0},
		{"V1x V2x W0x U0y", "xAAAM", "three voices of two plugins", 3, 1, 0},
		{"V1x V1x W0x", "-OOO", "one driver under two ICD files", 3, 0, 0},
		{"V1x V3x W0x", "-OOO", "one driver, and the same beside another library", 3, 0, 0},
		{"V0x V0x W0x", "-OOO", "drivers that nobody has seen", 3, 0, 0},
		{"V0x V0x", "-OO", "one plugin's file under two ids", 2, 0, 0},
		{"V9x W9x", "-OO", "one driver behind two plugins", 2, 0, 0},
		{"V9x W9x R0x", "xAAA", "and the reference, which has none", 2, 1, 0},
		{"a1x a2x V0x", "-OOO", "a stranger's two drivers", 3, 0, 0},
		{"V1x V2x V9x W0y U0y", "yMMMAA", "three drivers of one plugin against two plugins",
		 2, 1, 0},
		{"a0x b0x V0y", "-OOO", "two strangers in league", 2, 0, 0},
		{"a0x b0x R0y", "yMMA", "two strangers in league against the reference", 2, 0, 0},
		{"a0x V0x R0y", "-OOO", "a quorum against the reference is nobody's to decide", 2,
		 0, 1},
		{"a0x V0x b0y W0y", "-OOOO", "two quorums alike", 2, 0, 0},
		{"a0x V0x b0y W0y R0y", "yMMAAA", "and the reference with one of them", 2, 1, 0},
		{"R0- V0x W0x U0y", "xNAAM", "the reference has nothing to say", 2, 1, 0},
		{"R0x V0x W0-", "xAAN", "one failed", 2, 1, 0},
		{"R0x V0x", "xAA", "fewer than the quorum: the reference's word", 3, 0, 0}};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char names[8][4], drivers[8][16], got[16] = "";
		pctl_quorum_voter voters[8];
		pctl_quorum_decision d;
		uint32_t n = 0;

		for (const char *at = rows[i].voters;; at += 4) {
			pctl_quorum_voter *v = &voters[n];

			snprintf(names[n], sizeof(names[n]), "%c", at[0]);
			snprintf(drivers[n], sizeof(drivers[n]),
				 at[1] == '0'	? ""
				 : at[1] == '3' ? "+\n%c%c\n"
						: "%c%c\n",
				 at[1] == '9' ? '*' : at[0], at[1] == '3' ? '1' : at[1]);
			*v = (pctl_quorum_voter){.plugin = names[n],
						 .driver = drivers[n],
						 .vouched = at[0] <= 'Z',
						 .is_reference = at[0] == 'R',
						 .group = at[2] == '-' ? PCTL_QUORUM_SILENT
								       : (uint32_t)at[2]};
			n++;
			if (at[3] == '\0')
				break;
		}
		pctl_quorum_decide(voters, n, rows[i].k, &d);
		got[0] = d.group == PCTL_QUORUM_SILENT ? '-' : (char)d.group;
		for (uint32_t k = 0; k < n; k++)
			got[k + 1] = "NAMO"[voters[k].verdict];
		got[n + 1] = '\0';
		if (strcmp(got, rows[i].want) != 0 || d.stands != rows[i].stands ||
		    d.disputed != rows[i].disputed)
			fail_msg("%s: %s gives %s, stands %u, disputed %u", rows[i].why,
				 rows[i].voters, got, (unsigned)d.stands, (unsigned)d.disputed);
		if (strchr(rows[i].voters, 'a') != NULL || rows[i].disputed ||
		    strpbrk(rows[i].voters, "139") != NULL ||
		    strstr(rows[i].voters, "V0x V0x") != NULL)
			planted(rows[i].why, rows[i].voters, "quorum: decision", got);
	}
}

PCTL_TESTS_MAIN(PCTL_TEST(vote__decisions), PCTL_TEST(vote__weak_evidence),
		PCTL_TEST(vote__nans_are_compared_by_their_bits),
		PCTL_TEST(vote__a_fill_is_not_blamed_for_the_kernel_behind_it),
		PCTL_TEST(vote__comparing))
