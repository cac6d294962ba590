/* Bounds of loops as gas sees them, from texts: released schedules price what is written and keep the
 * numbers they gave (noted here from the builds that made them), structured-3 carries out arithmetic on
 * constants; loops in sequence add up wherever bodies are multiplied. */
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "runtime/gas/gas.h"
#include "runtime/graph/kernel.h"
#include "main.h"
#include "compiler/wgsl/wgsl.h"

#define FRAME(body)                                                       \
	"@group(0) @binding(0) var<storage, read_write> o: array<i32>;\n" \
	"@compute @workgroup_size(1) fn main() {\nvar s = 0;\n" body "\no[0] = s; }"

enum { FIRST, SECOND, STRUCTURED_1, STRUCTURED_2, STRUCTURED_3, N_SCHEDULES };
static const char *const schedules[] = {"cybergraph-0.1", "cybergraph-0.2", "structured-1",
					"structured-2", "structured-3"};

/* The gas of a workgroup, or the code of the refusal; line: where the first diagnostic stands. */
static uint32_t price(const char *text, uint32_t flags, uint32_t which, uint64_t *gas,
		      uint32_t *line)
{
	const pctl_kernel_source source = {
		.name = "loops.wgsl", .text = text, .n_text = strlen(text), .flags = flags};
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_call *call = pctl_diag_list_call(l);
	pctl_kernels *k = pctl_kernels_create(NULL);
	pctl_gas_schedule *s = NULL;
	const pctl_kernel_module *u;
	pctl_gas_price out;
	uint32_t code = 0;
	char path[4096];

	*gas = *line = 0;
	snprintf(path, sizeof(path), PIPECTL_SOURCE_DIR "/conf/gas/%s.cfg", schedules[which]);
	assert_int_equal(pctl_gas_schedule_read(path, call, &s), PCTL_OK);
	assert_string_equal(pctl_gas_schedule_name(s), schedules[which]);
	if (pctl_kernels_get(k, &source, call, &u) == PCTL_OK) {
		const pctl_gas_query q = {
			.program = u->program, .analysis = u->analysis, .groups = {1, 1, 1}};

		if (pctl_gas_price_of(s, &q, call, &out) == PCTL_OK)
			*gas = out.cost_per_workgroup;
	}
	if (pctl_diag_list_count(l)) {
		code = pctl_diag_list_at(l, 0)->code;
		*line = pctl_diag_list_at(l, 0)->pos.line;
		assert_string_equal(pctl_diag_list_at(l, 0)->pos.file, "loops.wgsl");
	}
	pctl_gas_schedule_destroy(s);
	pctl_kernels_destroy(k);
	pctl_diag_list_destroy(l);
	return code;
}

static void expect(const char *text, const uint64_t *gas, uint32_t n)
{
	uint64_t found;
	uint32_t i, line;

	for (i = 0; i < n; i++) {
		assert_int_equal(price(text, 0, i, &found, &line), 0);
		assert_int_equal(found, gas[i]);
	}
}

/* `let h = 2; for (var k = -h; ..)` keeps its price under every released schedule. */
static void test_graph_gas__a_folded_start(void **state)
{
	static const uint64_t gas[] = {64424509530, 64424509530, 19327352880, 19327352880, 66};

	(void)state;
	expect(FRAME("let h = 2;\nfor (var k = -h; k <= h; k++) { s += k; }"), gas, N_SCHEDULES);
}

/* What is folded is what was written as a number: the same price, which old schedules give too. */
static void test_graph_gas__folding_is_writing_the_number(void **state)
{
	static const char *const pairs[][2] = {
		{FRAME("let h = 2;\nfor (var k = 0; k < h * 4 + 1; k++) { s += k; }"),
		 FRAME("for (var k = 0; k < 9; k++) { s += k; }")},
		{FRAME("let h = 32;\nfor (var k = h >> 1u; k > 0; k--) { s += k; }"),
		 FRAME("for (var k = 16; k > 0; k--) { s += k; }")},
		{FRAME("let h = 3;\nfor (var k = 0; k < max(h, 7); k += 2) { s += k; }"),
		 FRAME("for (var k = 0; k < 7; k += 2) { s += k; }")},
		{FRAME("let h = 3;\nfor (var k = 0; k < select(h, 5, h > 2); k++) { s += k; }"),
		 FRAME("for (var k = 0; k < 5; k++) { s += k; }")},
		{FRAME("let h = 6;\nfor (var k = 0; k < min(s, h / 2); k++) { s += k; }"),
		 FRAME("for (var k = 0; k < min(s, 3); k++) { s += k; }")},
	};
	uint64_t computed, written, outside;
	uint32_t i, line;

	(void)state;
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		assert_int_equal(price(pairs[i][0], 0, STRUCTURED_3, &computed, &line), 0);
		assert_int_equal(price(pairs[i][1], 0, STRUCTURED_3, &written, &line), 0);
		/* The arithmetic itself, once, is all that the sides differ in: less than one more round. */
		assert_true(computed >= written && computed - written < 100);
		assert_int_equal(price(pairs[i][1], 0, STRUCTURED_2, &outside, &line), 0);
		assert_int_equal(outside, written);
	}
}

/* Bounds that only folding finds: priced by structured-3, refused where they were, with a place. */
static void test_graph_gas__a_folded_limit(void **state)
{
	static const char text[] = FRAME("let h = 2;\nfor (var k = 0; k < h * 4; k++) { s += k; }");
	uint32_t i, line;
	uint64_t gas;

	(void)state;
	for (i = 0; i < STRUCTURED_3; i++) {
		assert_int_equal(price(text, 0, i, &gas, &line), PC2054_ANALYSE_LOOP_FOLDED);
		assert_int_equal(line, 5);
	}
	assert_int_equal(price(text, 0, STRUCTURED_3, &gas, &line), 0);
	assert_int_equal(price(text, PCTL_WGSL_CONSENSUS, STRUCTURED_3, &gas, &line),
			 PC2050_ANALYSE_LOOP);
	assert_int_equal(line, 5);
	assert_int_equal(price(text, PCTL_WGSL_CONSENSUS | PCTL_WGSL_RULES_1, FIRST, &gas, &line),
			 PC2050_ANALYSE_LOOP);
}

/* Four loops of a million in sequence: their product is 10^24, their sum is not. The document's
 * schedules multiply, and say where. */
static void test_graph_gas__a_sequence_adds(void **state)
{
	static const char text[] = FRAME("for (var k = 0; k < 1000; k++) { s += k; }\n"
					 "for (var k = 0; k < 1000000; k++) { s += k; }\n"
					 "for (var k = 0; k < 1000000; k++) { s += k; }\n"
					 "for (var k = 0; k < 1000000; k++) { s += k; }");
	static const char nested[] = FRAME("for (var a = 0; a < 2000000000; a++) {\n"
					   "for (var b = 0; b < 2000000000; b++) {\n"
					   "for (var k = 0; k < 2000000001; k++) { s += k; } } }");
	uint64_t gas[N_SCHEDULES];
	uint32_t i, line;

	(void)state;
	for (i = 0; i < N_SCHEDULES; i++) {
		const uint32_t code = price(text, 0, i, &gas[i], &line);

		assert_int_equal(code, i < STRUCTURED_1 ? PC2602_GAS_OVERFLOW : 0);
		assert_int_equal(line, i < STRUCTURED_1 ? 5 : 0);
		assert_int_equal(price(nested, 0, i, &gas[i], &line), PC2602_GAS_OVERFLOW);
		assert_int_equal(line, 6);
	}
	assert_int_equal(price(text, 0, STRUCTURED_2, &gas[0], &line), 0);
	assert_true(gas[0] > 3001000 && gas[0] < 60000000);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_graph_gas__a_folded_start),
		PCTL_TEST(test_graph_gas__folding_is_writing_the_number),
		PCTL_TEST(test_graph_gas__a_folded_limit),
		PCTL_TEST(test_graph_gas__a_sequence_adds))
