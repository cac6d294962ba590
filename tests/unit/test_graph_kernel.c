/* Kernel units: what is judged when a text is made concrete, whoever asks, and what version 1 of the
 * consensus rules lets pass as it did. */
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "runtime/graph/kernel.h"
#include "main.h"
#include "planted/planted.h"
#include "compiler/wgsl/wgsl.h"

/* What the first diagnostic of the last make() said. */
static char told[512];

/* The code of the first diagnostic of making a unit, 0 for none. */
static uint32_t make(const char *text, const char *entry, const char *n, uint32_t flags,
		     uint32_t *line)
{
	const pctl_override_value value = {.name = "n", .text = n};
	const pctl_kernel_source source = {.name = "k.wgsl",
					   .text = text,
					   .n_text = strlen(text),
					   .entry = entry,
					   .overrides = &value,
					   .n_overrides = n != NULL,
					   .flags = flags};
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_kernels *k = pctl_kernels_create(NULL);
	const pctl_kernel_module *u;
	pctl_status status = pctl_kernels_get(k, &source, pctl_diag_list_call(l), &u);
	uint32_t code = 0;

	*line = 0;
	if (pctl_diag_list_count(l)) {
		code = pctl_diag_list_at(l, 0)->code;
		*line = pctl_diag_list_at(l, 0)->pos.line;
		snprintf(told, sizeof(told), "%s", pctl_diag_list_at(l, 0)->message);
	}
	assert_int_equal(status != PCTL_OK, code != 0);
	pctl_kernels_destroy(k);
	pctl_diag_list_destroy(l);
	return code;
}

static void test_graph_kernel__override_values_are_judged(void **state)
{
	static const char text[] = "override n: i32 = 1;\n"
				   "@group(0) @binding(0) var<storage, read_write> o: array<i32>;\n"
				   "@compute @workgroup_size(1) fn main() { o[0] =\n"
				   "10 / n; }\n"
				   "@compute @workgroup_size(1) fn other() { o[0] = n; }\n";
	uint32_t line;

	(void)state;
	assert_int_equal(make(text, "main", NULL, 0, &line), 0);
	assert_int_equal(make(text, "main", "5", 0, &line), 0);
	assert_int_equal(make(text, "main", "0", 0, &line), PC2045_SPECIALISE_EXPRESSION);
	assert_int_equal(line, 4);
	planted("an override of 0 that divides", "a kernel", "front end: values of overrides",
		told);
	assert_int_equal(make(text, "main", "0", PCTL_WGSL_CONSENSUS, &line),
			 PC2045_SPECIALISE_EXPRESSION);
	assert_int_equal(make(text, "main", "0", PCTL_WGSL_CONSENSUS | PCTL_WGSL_RULES_1, &line),
			 0);
	assert_int_equal(make(text, "other", "0", 0, &line), 0);
	assert_int_equal(make(text, "nobody", "0", 0, &line), PC2040_SPECIALISE_ENTRY);
	assert_int_equal(make(text, NULL, "0", 0, &line), PC2040_SPECIALISE_ENTRY);
	assert_int_equal(make(text, "main", "3000000000", 0, &line), PC2043_SPECIALISE_RANGE);
}

#define LOAD(index)                                                                             \
	"var<workgroup> w: array<u32, 64>;\n"                                                   \
	"var<workgroup> m: array<vec4u, 4>;\n"                                                  \
	"@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n"                       \
	"@group(0) @binding(1) var<storage> s: array<u32>;\n"                                   \
	"@compute @workgroup_size(64)\n"                                                        \
	"fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) g: vec3u) {\n" \
	"w[i] = i; var p = i; if (s[0] > 4u) { p = 3u; }\n"                                     \
	"let v =\n"                                                                             \
	"workgroupUniformLoad(" index ");\n"                                                    \
	"if (v > 3u) { workgroupBarrier(); }\n"                                                 \
	"o[g.x * 64u + i] = v; }\n"

static void test_graph_kernel__uniform_loads_need_one_place(void **state)
{
	static const char *const bad[] = {LOAD("&w[i]"), LOAD("&w[i / 8u]"), LOAD("&w[p]"),
					  LOAD("&w[w[0] & 63u]"), LOAD("&w[g.x + (i & 1u)]")};
	static const char *const good[] = {
		LOAD("&w[0]"), LOAD("&w[g.x & 63u]"), LOAD("&w[s[0] & 63u]"),
		LOAD("&w[workgroupUniformLoad(&w[1]) & 63u]"), LOAD("&w[arrayLength(&s) & 63u]")};
	uint32_t i, line;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (make(bad[i], NULL, NULL, 0, &line) != PC2053_ANALYSE_UNIFORM_LOAD || line != 9)
			fail_msg("taken: %s", bad[i]);
		if (i == 0)
			planted("workgroupUniformLoad of an element of one's own", "a kernel",
				"analysis: uniform loads", told);
		assert_int_equal(make(bad[i], NULL, NULL, PCTL_WGSL_CONSENSUS, &line),
				 PC2053_ANALYSE_UNIFORM_LOAD);
		assert_int_equal(
			make(bad[i], NULL, NULL, PCTL_WGSL_CONSENSUS | PCTL_WGSL_RULES_1, &line),
			0);
	}
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (make(good[i], NULL, NULL, 0, &line))
			fail_msg("refused: %s", good[i]);
}

/* `break if` and `continuing` outside of `loop` were read and dropped: a loop of 4 rounds ran all of
 * them, without what stood in its `continuing`. */
static void test_graph_kernel__parts_of_loops_are_not_dropped(void **state)
{
	static const char *const bad[][2] = {
		{"`break if` in a `for`", "break if i == 2u;"},
		{"`continuing` in a `for`", "continuing { o[0] += 1u; }"}};
	uint32_t i, line;
	char text[512];

	(void)state;
	for (i = 0; i < 2; i++) {
		snprintf(text, sizeof(text),
			 "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n"
			 "@compute @workgroup_size(1) fn main() {\n"
			 "for (var i = 0u; i < 4u; i++) { o[0] += 1u;\n%s } }",
			 bad[i][1]);
		assert_int_equal(make(text, NULL, NULL, 0, &line), PC2418_WGSL_JUMP);
		assert_int_equal(line, 4);
		planted(bad[i][0], "a kernel", "front end: parts of loops", told);
		assert_int_equal(make(text, NULL, NULL, PCTL_WGSL_CONSENSUS, &line),
				 PC2418_WGSL_JUMP);
		assert_int_equal(
			make(text, NULL, NULL, PCTL_WGSL_CONSENSUS | PCTL_WGSL_RULES_1, &line), 0);
	}
}

/* Each entry point holds its own variable at a binding. */
static void test_graph_kernel__a_binding_for_each_entry(void **state)
{
	static const char text[] = "@group(0) @binding(0) var<storage, read_write> a: array<u32>;\n"
				   "@group(0) @binding(0) var<storage, read_write> b: array<i32>;\n"
				   "@compute @workgroup_size(1) fn main() { a[0] = 1u; }\n"
				   "@compute @workgroup_size(1) fn other() { b[0] = 1; }\n";
	uint32_t line;

	(void)state;
	assert_int_equal(make(text, "main", NULL, 0, &line), 0);
	assert_int_equal(make(text, "other", NULL, 0, &line), 0);
	assert_int_equal(make(text, "main", NULL, PCTL_WGSL_RULES_1, &line),
			 PC2424_WGSL_BINDING_TWICE);
}

/* The same program, for dispatches of which proofs differ: a device that was built without checks for one would not have
 * them for the other. */
static void test_graph_kernel__devices_build_each_proof(void **state)
{
	static const char text[] =
		"@group(0) @binding(0) var<storage, read_write> o: array<u32, 64>;\n"
		"@group(0) @binding(1) var<storage> s: array<u32>;\n"
		"@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {\n"
		"o[id.x] = 3u; var x = 0u;\n"
		"for (var i = 0u; i < arrayLength(&s); i++) { x += s[i]; }\n"
		"if (id.x == 0u) { o[0] = x; } }\n";
	static const uint32_t groups[2][3] = {{1, 1, 1}, {2, 1, 1}};
	static const pctl_known_binding bound[2] = {{0, 1, 40}, {0, 1, 80}};
	pctl_kernel_source source = {
		.name = "k.wgsl", .text = text, .n_text = sizeof(text) - 1, .n_bindings = 1};
	pctl_kernels *k = pctl_kernels_create(NULL);
	const pctl_kernel_module *u[4];

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		source.groups = groups[i & 1];
		source.bindings = &bound[i >> 1];
		assert_int_equal(pctl_kernels_get(k, &source, NULL, &u[i]), PCTL_OK);
		assert_int_equal(pctl_cid_compare(&u[i]->cid, &u[0]->cid), 0);
		assert_int_equal(u[i]->turns, 0);
		for (uint32_t j = 0; j < i; j++)
			assert_string_not_equal(u[i]->build_key, u[j]->build_key);
	}
	pctl_kernels_destroy(k);
}

/* Under the consensus rules who sends a job chooses its dispatch: it is no reason for every device to build a kernel of its own. */
static void test_graph_kernel__a_dispatch_is_no_kernel_of_the_chain(void **state)
{
	static const char text[] =
		"@group(0) @binding(0) var<storage> a: array<u32, 64>;\n"
		"@group(1) @binding(0) var<storage, read_write> o: array<u32>;\n"
		"var<workgroup> w: array<u32, 8>;\n"
		"@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3u, "
		"@builtin(local_invocation_index) l: u32) {\n"
		"w[l] = 1u; o[id.x] = a[id.x] + a[id.x + 8u] + a[id.x + 16u] + w[l]; }\n";
	/* All three places are in bounds, two, and one. */
	static const uint32_t groups[3][3] = {{6, 1, 1}, {7, 1, 1}, {8, 1, 1}};
	pctl_kernel_source source = {.name = "k.wgsl", .text = text, .n_text = sizeof(text) - 1};
	pctl_kernels *k = pctl_kernels_create(NULL);
	const pctl_kernel_module *u[3];

	(void)state;
	for (uint32_t consensus = 0; consensus < 2; consensus++) {
		source.flags = consensus ? PCTL_WGSL_CONSENSUS : 0;
		for (uint32_t i = 0; i < 3; i++) {
			source.groups = groups[i];
			assert_int_equal(pctl_kernels_get(k, &source, NULL, &u[i]), PCTL_OK);
			assert_int_equal(pctl_cid_compare(&u[i]->cid, &u[0]->cid), 0);
		}
		for (uint32_t i = 1; i < 3; i++)
			assert_int_equal(strcmp(u[i]->build_key, u[0]->build_key) == 0, consensus);
	}
	/* What holds for every dispatch is proved all the same: of the array of the workgroup. */
	for (uint32_t i = 0, n = 0; i < u[0]->program->n_insts || n != 2; i++) {
		assert_true(i < u[0]->program->n_insts);
		n += u[0]->program->insts[i].flags != 0;
	}
	pctl_kernels_destroy(k);
}

#define LONG_TEXT (256u << 10)

/* Anybody may ask for units that come to nothing, or for many of one text: neither is kept as a copy of the text. */
static void test_graph_kernel__what_is_kept_is_bounded(void **state)
{
	static const char kernel[] =
		"\noverride n: u32 = 1u;\n"
		"@group(0) @binding(0) var<storage> a: array<u32>;\n"
		"@group(1) @binding(0) var<storage, read_write> o: array<u32>;\n"
		"@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3u) {\n"
		"o[id.x] = a[id.x] / n; }\n";
	static const pctl_override_value zero = {.name = "n", .text = "0"};
	char *text = malloc(LONG_TEXT + sizeof(kernel));
	pctl_kernel_source source = {.name = "k.wgsl",
				     .text = text,
				     .n_text = LONG_TEXT + sizeof(kernel) - 1,
				     .flags = PCTL_WGSL_CONSENSUS};
	uint32_t groups[3] = {0, 1, 1};
	pctl_kernels *k = pctl_kernels_create(NULL);
	const pctl_kernel_module *u;
	uint64_t kept;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', LONG_TEXT);
	memcpy(text, "//", 2);
	memcpy(text + LONG_TEXT, kernel, sizeof(kernel));
	for (uint32_t i = 1; i <= 64; i++) {
		groups[0] = i;
		source.groups = groups;
		assert_int_equal(pctl_kernels_get(k, &source, NULL, &u), PCTL_OK);
		assert_memory_equal(u->text, text, source.n_text + 1);
	}
	kept = pctl_kernels_kept_bytes(k);
	assert_true(kept > LONG_TEXT && kept < 4 * LONG_TEXT);
	/* One text, and its units: for any dispatch, and for each. */
	assert_int_equal(pctl_kernels_kept(k), 1 + 1 + 64);
	source.overrides = &zero;
	source.n_overrides = 1;
	for (uint32_t i = 1; i <= 64; i++)
		assert_int_not_equal(pctl_kernels_get(k, &source, NULL, &u), PCTL_OK);
	assert_int_equal(pctl_kernels_kept(k), 1 + 1 + 64);
	assert_true(pctl_kernels_kept_bytes(k) == kept);
	assert_int_equal(pctl_kernels_forget(k, NULL), PCTL_OK);
	assert_true(pctl_kernels_kept(k) == 0 && pctl_kernels_kept_bytes(k) == 0);
	pctl_kernels_destroy(k);
	free(text);
}

/* Each loop in a loop doubles what the analysis looks at; version 1 of the rules goes on for longer. */
static void test_graph_kernel__loops_in_loops_are_given_up(void **state)
{
	char text[4096] = "@group(0) @binding(0) var<storage> a: array<u32>;\n"
			  "@group(1) @binding(0) var<storage, read_write> o: array<u32>;\n"
			  "@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: "
			  "vec3u) { var x = a[id.x];\n";
	pctl_kernel_source source = {.name = "k.wgsl", .text = text};
	pctl_kernels *k = pctl_kernels_create(NULL);
	const pctl_kernel_module *u;
	size_t n = strlen(text);

	(void)state;
	for (uint32_t i = 0; i < 12; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "for (var i%u = 0u; i%u < 2u; i%u++) { ", i, i, i);
	snprintf(text + n, sizeof(text) - n, "x = x * 3u + i0; }}}}}}}}}}}}\no[id.x] = x; }\n");
	source.n_text = strlen(text);
	for (uint32_t rules = 1; rules <= 2; rules++) {
		const uint32_t groups[3] = {4, 1, 1};

		source.groups = groups;
		source.flags = PCTL_WGSL_CONSENSUS | (rules == 1 ? PCTL_WGSL_RULES_1 : 0);
		assert_int_equal(pctl_kernels_get(k, &source, NULL, &u), PCTL_OK);
		assert_int_equal(u->analysis->race == PCTL_PROOF_PROVEN, rules == 1);
	}
	pctl_kernels_destroy(k);
}

/* A kernel that declares no size of subgroups, with one that is asked for: it is the program that declares it. */
static void test_graph_kernel__subgroups_of_a_size_that_is_asked_for(void **state)
{
#define SUMS                                                                                \
	"enable subgroups;\n"                                                               \
	"@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n"                   \
	"@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) l: u32) {\n" \
	"o[l] = subgroupAdd(l); }\n"
	static const char declared[] = "//# subgroup = 8\n" SUMS;
	static const struct {
		const char *text;
		uint32_t asked, flags, code, size;
	} cases[] = {{SUMS, 0, 0, PC2222_WGSL_SUBGROUP_SIZE, 0},
		     {SUMS, 8, 0, 0, 8},
		     {SUMS, 64, 0, 0, 64},
		     {declared, 0, 0, 0, 8},
		     {declared, 32, 0, 0, 8},
		     {SUMS, 8, PCTL_WGSL_CONSENSUS, PC2112_WGSL_DIRECTIVE, 0}};
	pctl_cid cid[sizeof(cases) / sizeof(cases[0])];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const pctl_kernel_source source = {.name = "k.wgsl",
						   .text = cases[i].text,
						   .n_text = strlen(cases[i].text),
						   .flags = cases[i].flags};
		pctl_diag_list *l = pctl_diag_list_create();
		pctl_kernels *k = pctl_kernels_create(NULL);
		const pctl_kernel_module *u = NULL;

		pctl_kernels_ask_subgroup(k, cases[i].asked);
		(void)pctl_kernels_get(k, &source, pctl_diag_list_call(l), &u);
		assert_int_equal(pctl_diag_list_count(l) ? pctl_diag_list_at(l, 0)->code : 0,
				 cases[i].code);
		if (cases[i].code == 0) {
			assert_int_equal(pctl_program_subgroup_size(u->program), cases[i].size);
			assert_int_equal(u->subgroup,
					 cases[i].asked == cases[i].size ? cases[i].asked : 0);
			cid[i] = u->cid;
		}
		pctl_kernels_destroy(k);
		pctl_diag_list_destroy(l);
	}
	assert_int_equal(pctl_cid_compare(&cid[1], &cid[3]), 0);
	assert_int_not_equal(pctl_cid_compare(&cid[2], &cid[3]), 0);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_graph_kernel__subgroups_of_a_size_that_is_asked_for),
		PCTL_TEST(test_graph_kernel__a_dispatch_is_no_kernel_of_the_chain),
		PCTL_TEST(test_graph_kernel__what_is_kept_is_bounded),
		PCTL_TEST(test_graph_kernel__loops_in_loops_are_given_up),
		PCTL_TEST(test_graph_kernel__devices_build_each_proof),
		PCTL_TEST(test_graph_kernel__override_values_are_judged),
		PCTL_TEST(test_graph_kernel__uniform_loads_need_one_place),
		PCTL_TEST(test_graph_kernel__parts_of_loops_are_not_dropped),
		PCTL_TEST(test_graph_kernel__a_binding_for_each_entry))
