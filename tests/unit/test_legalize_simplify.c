/* What is hoisted out of loops and computed once gives the bytes of the program as written: generated programs on the reference,
 * or legalised with and without on the plugin that PCTL_TEST_PLUGIN names; what is done and what is left alone; wrong rules are
 * found. */
#include "main.h"
#include "test_legalize_run.h"
#include "test_legalize_flatten.h"
#include "test_legalize_simplify.h"

#include "compiler/analysis/extents.h"
#include "compiler/legalize/legal_parts.h"
#include "planted/planted.h"
#include "unit/failing_allocation.h"

typedef pctl_status (*pass)(const pctl_program *p, const pctl_call *call, pctl_program **out);

/* Both passes, one behind the other; p itself where there is nothing to do. */
static pctl_status simplified(const pctl_program *p, pass hoist, pass number, const pctl_call *call,
			      pctl_program **out)
{
	pctl_program *first = NULL;
	pctl_status status = hoist(p, call, &first);

	*out = NULL;
	if (status == PCTL_OK)
		status = number(first ? first : p, call, out);
	if (status == PCTL_OK && !*out)
		*out = first;
	else
		pctl_program_destroy(first);
	return status;
}

/* ---- generated ---------------------------------------------------------------------------- */

typedef struct trial {
	rig reference, device;
	pctl_softfloat *forms;
	const char *plugin;			   /* NULL: the device is the reference */
	uint32_t programs, changed, before, after; /* instructions */
} trial;

static void trial_open(trial *t)
{
	memset(t, 0, sizeof(*t));
	t->plugin = getenv("PCTL_TEST_PLUGIN");
	rig_open(&t->reference, PIPECTL_BINARY_DIR "/plugins/cpu.so");
	rig_open(&t->device, t->plugin ? t->plugin : PIPECTL_BINARY_DIR "/plugins/cpu.so");
	t->device.loud = 1;
	rig_must(&t->reference, pctl_softfloat_create(&t->reference.call, &t->forms), "the forms");
}

static void trial_close(trial *t)
{
	rig_close(&t->reference);
	rig_close(&t->device);
	pctl_softfloat_destroy(t->forms);
}

static pctl_program *compiled(trial *t, const char *text)
{
	const pctl_wgsl_options options = {.file = "test.wgsl"};
	pctl_program *p = NULL;

	t->reference.loud = 1;
	if (pctl_wgsl_compile(text, strlen(text), &options, &t->reference.call, &p) != PCTL_OK)
		fail_msg("%s", text);
	t->reference.loud = 0;
	return p;
}

static uint64_t turns_of(const pctl_program *p)
{
	pctl_extents x;

	assert_int_equal(pctl_program_extents(p, NULL, NULL, &x), PCTL_OK);
	return x.need[PCTL_EXTENT_TURNS];
}

/* Of the arrays: 1 + the word, counted through all of them, that differs; 0: none. */
static uint32_t difference(const rig_bytes *want, const rig_bytes *got, uint32_t n)
{
	uint32_t at = 1;

	for (uint32_t i = 0; i < n; i++)
		for (uint64_t k = 0; k < want[i].n_bytes / 4; k++, at++)
			if (((const uint32_t *)want[i].data)[k] !=
			    ((const uint32_t *)got[i].data)[k])
				return at;
	return 0;
}

static pctl_program *for_device(trial *t, const pctl_program *p)
{
	const pctl_legal_options options = {.head = PCTL_HEAD(pctl_legal_options),
					    .forms = t->forms};
	pctl_program *out = NULL;

	if (t->plugin)
		rig_must(&t->reference,
			 pctl_legalise(p, &t->device.caps, &options, &t->reference.call, &out),
			 "legalising");
	else
		rig_must(&t->reference,
			 simplified(p, legal_hoist_pass, legal_number_pass, &t->reference.call,
				    &out),
			 "simplifying");
	return out;
}

/* want and got hold the same, at first. */
static void compare(trial *t, const char *text, const rig_bytes *want, const rig_bytes *got,
		    uint32_t n, uint32_t groups)
{
	pctl_program *p = compiled(t, text), *out = for_device(t, p);

	t->programs++;
	if (out) {
		t->changed++;
		t->before += p->n_insts;
		t->after += out->n_insts;
		run_on(&t->reference, p, want, n, groups);
		run_on(&t->device, out, got, n, groups);
		if (difference(want, got, n))
			fail_msg("%s", text);
		/* Bounds are found again: a device counts turns, too. */
		if (!t->plugin && turns_of(out) > turns_of(p))
			fail_msg("the bound of a loop is lost\n%s", text);
	}
	pctl_program_destroy(out);
	pctl_program_destroy(p);
}

static uint32_t how_many(uint32_t here)
{
	const char *asked = getenv("PCTL_TEST_PROGRAMS");

	return asked ? (uint32_t)strtoul(asked, NULL, 10) : PCTL_TEST_SHARE(here);
}

static void of_addresses(void **state)
{
	char *text = malloc(ADDRESS_TEXT);
	trial t;

	(void)state;
	trial_open(&t);
	for (uint64_t seed = 1; seed <= how_many(2000); seed++) {
		address_writer w = {.text = text, .seed = seed};
		address_data d[2];

		address_program(&w);
		address_fill(&d[0], seed);
		address_fill(&d[1], seed);
		compare(&t, text, d[0].arrays, d[1].arrays, ADDRESS_BUFFERS, ADDRESS_LANES / 8);
	}
	print_message("%u of %u simplified, %u instructions instead of %u\n", t.changed, t.programs,
		      t.after, t.before);
	assert_true(t.changed > t.programs / 2 && (t.plugin || t.after < t.before));
	trial_close(&t);
	free(text);
}

typedef struct control {
	uint32_t a[FLAT_LANES], r[FLAT_LANES * FLAT_WORDS], t[8], u[4];
	rig_bytes arrays[4];
} control;

static void control_fill(control *c, uint64_t seed)
{
	memset(c, 0, sizeof(*c));
	for (uint32_t i = 0; i < FLAT_LANES; i++)
		c->a[i] = (uint32_t)(rig_random(seed, 1000 + i) >> (i % 3 ? 32 : 60));
	for (uint32_t i = 0; i < 4; i++)
		c->u[i] = (uint32_t)(rig_random(seed, 2000 + i) >> 32);
	c->arrays[0] = (rig_bytes){c->a, sizeof(c->a), 0};
	c->arrays[1] = (rig_bytes){c->r, sizeof(c->r), 0};
	c->arrays[2] = (rig_bytes){c->t, sizeof(c->t), 0};
	c->arrays[3] = (rig_bytes){c->u, sizeof(c->u), 1};
}

static void of_control(void **state)
{
	char *text = malloc(FLAT_TEXT);
	trial t;

	(void)state;
	trial_open(&t);
	for (uint64_t seed = 1; seed <= how_many(1500); seed++) {
		flat_writer w = {.text = text, .seed = seed};
		control c[2];

		flat_program(&w, 3 + (int)(seed % 5));
		control_fill(&c[0], seed);
		control_fill(&c[1], seed);
		compare(&t, text, c[0].arrays, c[1].arrays, 4, FLAT_LANES / 8);
	}
	print_message("%u of %u simplified, %u instructions instead of %u\n", t.changed, t.programs,
		      t.after, t.before);
	assert_true(t.changed > t.programs / 2);
	trial_close(&t);
	free(text);
}

/* ---- each rule ---------------------------------------------------------------------------- */

static const struct {
	const char *what, *body;
	uint16_t op;
	uint32_t n, outside; /* left of them, and before the first loop */
} cases[] = {
	{"what is there twice", "r[0] = (x * 7u) ^ (r[1] + 7u * x);", PCTL_OP_MUL, 1, 1},
	{"seen in what is inside", "let k = x * 7u; if (r[2] > 1u) { r[0] = x * 7u; } r[1] = k;",
	 PCTL_OP_MUL, 1, 1},
	{"not seen behind a region", "if (r[2] > 1u) { r[0] = x * 7u; } r[1] = x * 7u;",
	 PCTL_OP_MUL, 2, 2},
	{"nor on the other side", "if (r[2] > 1u) { r[0] = x * 7u; } else { r[1] = x * 7u; }",
	 PCTL_OP_MUL, 2, 2},
	{"not over a barrier", "r[0] = x * 7u; workgroupBarrier(); r[1] = x * 7u;", PCTL_OP_MUL, 2,
	 2},
	{"out of a loop", "for (var i = 0u; i < u.x; i++) { r[i] = x * 7u; }", PCTL_OP_MUL, 1, 1},
	{"out of two",
	 "for (var i = 0u; i < u.x; i++) { for (var j = 0u; j < u.x; j++) { "
	 "r[i + j] = x * 7u; } }",
	 PCTL_OP_MUL, 1, 1},
	{"out of the inner one",
	 "for (var i = 0u; i < u.x; i++) { for (var j = 0u; j < u.x; j++) { r[j] = i * 7u; } }",
	 PCTL_OP_MUL, 1, 0},
	{"not out of one with a barrier",
	 "for (var i = 0u; i < u.x; i++) { workgroupBarrier(); r[i] = x * 7u; }", PCTL_OP_MUL, 1,
	 0},
	{"a condition's, if it is cheap",
	 "for (var i = 0u; i < u.x; i++) { if (r[i] > 1u) { r[i] = x * 7u; } }", PCTL_OP_MUL, 1, 1},
	{"not if it is dear",
	 "for (var i = 0u; i < u.x; i++) { if (r[i] > 1u) { r[i] = x / r[9]; } }", PCTL_OP_DIV_WGSL,
	 1, 0},
	{"a length", "for (var i = 0u; i < u.x; i++) { r[i] = arrayLength(&a) ^ arrayLength(&a); }",
	 PCTL_OP_ARRAY_LENGTH, 1, 1},
	{"a load of what nobody writes", "for (var i = 0u; i < u.x; i++) { r[i] = a[x] + a[x]; }",
	 PCTL_OP_LOAD, 5, 2 /* u.x, too; i in test, body and update */},
	{"not of what somebody writes", "for (var i = 0u; i < u.x; i++) { r[3] = r[2]; }",
	 PCTL_OP_LOAD, 4, 1},
	{"nor of the workgroup's", "for (var i = 0u; i < u.x; i++) { w[0] = w[1]; }", PCTL_OP_LOAD,
	 4, 1},
	{"a local once a turn", "for (var i = 0u; i < u.x; i++) { r[i] = i; r[i + 1u] = i; }",
	 PCTL_OP_LOAD, 4, 1 /* u.x; i in test, body and update */},
	{"again behind a store", "var y = x; r[0] = y; y += 1u; r[1] = y;", PCTL_OP_LOAD, 2, 2},
	{"nothing added", "r[x + 0u] = x * 1u;", PCTL_OP_ADD, 0, 0},
	{"floats, strictly the same", "let f = f32(x); r[0] = u32(f * f) + u32(f * f);",
	 PCTL_OP_FMUL, 1, 1},
};

static uint32_t count(const pctl_program *p, uint16_t op, int all)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_insts && (all || p->insts[i].op != PCTL_OP_LOOP); i++)
		n += p->insts[i].op == op;
	return n;
}

static void of_each_rule(void **state)
{
	uint32_t wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[1024];
		pctl_program *out = NULL;
		legal_kernel k;
		uint32_t n, outside;

		snprintf(text, sizeof(text),
			 "@group(0) @binding(0) var<storage, read_write> r: array<u32>;\n"
			 "@group(0) @binding(1) var<storage, read> a: array<u32>;\n"
			 "@group(0) @binding(2) var<uniform> u: vec4<u32>;\n"
			 "var<workgroup> w: array<u32, 8>;\n"
			 "@compute @workgroup_size(1) fn main(@builtin(local_invocation_index) x: "
			 "u32) {\n%s\n}",
			 cases[i].body);
		kernel_open(&k, text);
		rig_must(&k.r,
			 simplified(k.p, legal_hoist_pass, legal_number_pass, &k.r.call, &out),
			 "simplifying");
		n = count(out ? out : k.p, cases[i].op, 1);
		outside = count(out ? out : k.p, cases[i].op, 0);
		if (n != cases[i].n || outside != cases[i].outside)
			print_message("%s: %u, %u of them outside\n", cases[i].what, n, outside);
		wrong += n != cases[i].n || outside != cases[i].outside;
		pctl_program_destroy(out);
		kernel_close(&k);
	}
	assert_int_equal(wrong, 0);
}

/* A proof that may be one of the loop's condition does not leave the loop; one that stays is kept. */
static void of_proofs(void **state)
{
	legal_kernel k;
	pctl_program *out = NULL;
	uint32_t proven = 0, n = 0;

	(void)state;
	kernel_open(&k,
		    "@group(0) @binding(0) var<storage, read> a: array<u32>;\n"
		    "@group(0) @binding(1) var<storage, read_write> r: array<u32>;\n"
		    "@compute @workgroup_size(1) fn main(@builtin(local_invocation_index) x: u32) "
		    "{ for (var i = x; i < arrayLength(&a); i++) { r[i] = a[x]; } }");
	for (uint32_t i = 0; i < k.p->n_insts; i++) {
		pctl_place place;

		if (pctl_place_get(k.p, &k.p->functions[1], &k.p->insts[i], &place) &&
		    place.space == PCTL_SPACE_STORAGE && place.n_chain)
			k.p->insts[i].flags = PCTL_INST_PROVEN(0);
	}
	rig_must(&k.r, legal_hoist_pass(k.p, &k.r.call, &out), "hoisting");
	for (uint32_t i = 0; i < out->n_insts; i++) {
		pctl_place place;

		if (!pctl_place_get(out, &out->functions[1], &out->insts[i], &place) ||
		    place.space != PCTL_SPACE_STORAGE || !place.n_chain)
			continue;
		n++;
		proven += out->insts[i].flags == PCTL_INST_PROVEN(0);
		assert_true(out->insts[i].op != PCTL_OP_LOAD || !out->insts[i].flags);
	}
	assert_int_equal(n, 2);
	assert_int_equal(proven, 1);
	pctl_program_destroy(out);
	kernel_close(&k);
}

/* The switches, each for its pass. */
static void of_switches(void **state)
{
	const pctl_device_caps caps = {.head = PCTL_HEAD(pctl_device_caps),
				       .caps = PCTL_CAP_I64_DIV};
	static const struct {
		uint32_t flags, n, outside;
	} switches[] = {{0, 1, 1},
			{PCTL_LEGAL_NO_HOIST, 1, 0},
			{PCTL_LEGAL_NO_NUMBER, 2, 2},
			{PCTL_LEGAL_PLAIN, 2, 0}};
	legal_kernel k;

	(void)state;
	kernel_open(&k,
		    "@group(0) @binding(0) var<storage, read_write> r: array<u32>;\n"
		    "@compute @workgroup_size(1) fn main(@builtin(local_invocation_index) x: u32) "
		    "{ for (var i = 0u; i < 9u; i++) { r[i] = (x * 7u) ^ (r[1] + x * 7u); } }");
	for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
		const pctl_legal_options options = {.head = PCTL_HEAD(pctl_legal_options),
						    .forms = k.forms,
						    .flags = switches[i].flags |
							     PCTL_LEGAL_NO_LENGTHS};
		pctl_program *out = NULL;

		rig_must(&k.r, pctl_legalise(k.p, &caps, &options, &k.r.call, &out), "legalising");
		assert_int_equal(count(out, PCTL_OP_MUL, 1), switches[i].n);
		assert_int_equal(count(out, PCTL_OP_MUL, 0), switches[i].outside);
		pctl_program_destroy(out);
	}
	kernel_close(&k);
}

/* Each allocation fails, in turn. */
static void without_memory(void **state)
{
	char *text = malloc(ADDRESS_TEXT);
	address_writer w = {.text = text, .seed = 3};
	pctl_program *out = NULL;
	pctl_status status = PCTL_E_NOMEM;
	uint32_t n = 0;
	legal_kernel k;

	(void)state;
	address_program(&w);
	kernel_open(&k, text);
	while (status == PCTL_E_NOMEM) {
		failing_allocation = ++n;
		status = simplified(k.p, legal_hoist_pass, legal_number_pass, NULL, &out);
		failing_allocation = 0;
		if (status != PCTL_OK && (status != PCTL_E_NOMEM || out != NULL))
			fail_msg("allocation %u fails, and the status is %d", n, (int)status);
	}
	assert_int_equal(status, PCTL_OK);
	assert_true(n > 20 && out != NULL);
	pctl_program_destroy(out);
	kernel_close(&k);
	free(text);
}

/* ---- wrong rules -------------------------------------------------------------------------- */

#define WRONG(name)                                                                  \
	pctl_status name##_hoist_pass(const pctl_program *p, const pctl_call *call,  \
				      pctl_program **out);                           \
	pctl_status name##_number_pass(const pctl_program *p, const pctl_call *call, \
				       pctl_program **out)
WRONG(memory);
WRONG(behind);
WRONG(turn);
WRONG(merge);
WRONG(exchanged);
WRONG(identity);
WRONG(moved);

/* Of simplify_wrong.cmake. */
static const struct {
	const char *what;
	pass hoist, number;
} wrong[] = {
	{"a load carried over a store to the same memory, and over a barrier", memory_hoist_pass,
	 memory_number_pass},
	{"a load of a local carried over a store to it", behind_hoist_pass, behind_number_pass},
	{"a value of the turn before taken for this turn's", turn_hoist_pass, turn_number_pass},
	{"what one side of a condition loads taken for both", merge_hoist_pass, merge_number_pass},
	{"a - b taken for b - a", exchanged_hoist_pass, exchanged_number_pass},
	{"x & 0 taken for x", identity_hoist_pass, identity_number_pass},
	{"a load of a local hoisted out of a loop that stores it at its beginning",
	 moved_hoist_pass, moved_number_pass},
};

static void of_wrong_rules(void **state)
{
	char *text = malloc(ADDRESS_TEXT);
	trial t;

	(void)state;
	trial_open(&t);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char seen[100] = "";

		for (uint64_t seed = 1; seed <= 2000 && !seen[0]; seed++) {
			address_writer w = {.text = text, .seed = seed};
			pctl_program *p, *out = NULL;
			address_data d[2];
			pctl_status status;

			address_program(&w);
			address_fill(&d[0], seed);
			address_fill(&d[1], seed);
			p = compiled(&t, text);
			status = simplified(p, wrong[i].hoist, wrong[i].number, &t.reference.call,
					    &out);
			if (status != PCTL_OK) {
				snprintf(seen, sizeof(seen), "program %u is not a program",
					 (uint32_t)seed);
			} else if (out) {
				run_on(&t.reference, p, d[0].arrays, ADDRESS_BUFFERS,
				       ADDRESS_LANES / 8);
				run_on(&t.reference, out, d[1].arrays, ADDRESS_BUFFERS,
				       ADDRESS_LANES / 8);
				if (difference(d[0].arrays, d[1].arrays, ADDRESS_BUFFERS))
					snprintf(seen, sizeof(seen), "program %u: word %u differs",
						 (uint32_t)seed,
						 difference(d[0].arrays, d[1].arrays,
							    ADDRESS_BUFFERS) -
							 1);
			}
			pctl_program_destroy(out);
			pctl_program_destroy(p);
		}
		print_message("%s: %s\n", wrong[i].what, seen[0] ? seen : "not found");
		assert_true(seen[0]);
		planted(wrong[i].what, "hoisting and value numbering", "the program as written",
			seen);
	}
	trial_close(&t);
	free(text);
}

PCTL_TESTS_MAIN(PCTL_TEST(of_each_rule), PCTL_TEST(of_proofs), PCTL_TEST(of_switches),
		PCTL_TEST(without_memory), PCTL_TEST(of_addresses), PCTL_TEST(of_control),
		PCTL_TEST(of_wrong_rules))
