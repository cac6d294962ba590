/* The turn budget of loops that nothing bounds: which loops get one, with which count; that others pay nothing; what they
 * cost and how large they make a program. That programs count right is shown where they run (integration_limits_turns). */
#include <stdlib.h>

#include "compiler/analysis/extents.h"
#include "compiler/legalize/legal.h"
#include "compiler/wgsl/wgsl.h"
#include "foundation/diag/diag.h"
#include "main.h"
#include "runtime/gas/gas.h"
#include "runtime/graph/kernel.h"
#include "unit/failing_allocation.h"

#define HEAD                                                              \
	"struct U { n: u32 }\n"                                           \
	"@group(0) @binding(0) var<storage> x: array<u32>;\n"             \
	"@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n" \
	"@group(0) @binding(2) var<uniform> u: U;\n"                      \
	"var<workgroup> w: array<u32, 8>;\n"
#define MAIN                                                                             \
	"@compute @workgroup_size(8) fn main(@builtin(local_invocation_index) l: u32,\n" \
	"@builtin(global_invocation_id) id: vec3u) {\nvar n = x[id.x]; var s = 0u;\n"
#define TEXT(body) HEAD MAIN body "\ny[id.x] = s; }\n"

#define BARE(body)                                                        \
	"@group(0) @binding(0) var<storage, read_write> y: array<u32>;\n" \
	"@compute @workgroup_size(1) fn main() {\n" body "\n}\n"

typedef struct made {
	pctl_diag_list *said;
	pctl_kernels *kernels;
	const pctl_kernel_module *unit;
} made;

/* Of x, 40 elements; of y nothing. */
static const pctl_known_binding bound[] = {{0, 0, 160}};

static uint32_t make_with(made *m, const char *text, uint32_t flags, uint32_t asked, uint32_t own)
{
	static const uint32_t groups[3] = {4, 1, 1};
	const pctl_kernel_source source = {.name = "turns.wgsl",
					   .groups = groups,
					   .text = text,
					   .n_text = strlen(text),
					   .flags = flags,
					   .turns = own,
					   .bindings = bound,
					   .n_bindings = 1};

	*m = (made){.said = pctl_diag_list_create(), .kernels = pctl_kernels_create(NULL)};
	pctl_kernels_ask_turns(m->kernels, asked);
	(void)pctl_kernels_get(m->kernels, &source, pctl_diag_list_call(m->said), &m->unit);
	return pctl_diag_list_count(m->said) ? pctl_diag_list_at(m->said, 0)->code : 0;
}

static void make(made *m, const char *text)
{
	if (make_with(m, text, 0, 0, 0))
		fail_msg("%s\n%s", pctl_diag_list_at(m->said, 0)->message, text);
}

static void drop(made *m)
{
	pctl_kernels_destroy(m->kernels);
	pctl_diag_list_destroy(m->said);
}

static uint32_t budgets(const made *m, uint32_t *counters)
{
	const pctl_analysis *a = m->unit->analysis;
	uint32_t n = 0, seen[8];

	*counters = 0;
	for (uint32_t i = 0; i < a->n_loops; i++) {
		uint32_t k = 0;

		if (a->loops[i].bound_kind != PCTL_BOUND_BUDGET)
			continue;
		n++;
		while (k < *counters && seen[k] != a->loops[i].counter)
			k++;
		if (k == *counters)
			seen[(*counters)++] = a->loops[i].counter;
	}
	return n;
}

static void test_graph_turns__which_loops_count(void **state)
{
	static const struct {
		const char *text;
		uint32_t loops, counters;
	} cases[] = {
		/* proved: nothing is added */
		{TEXT("for (var i = 0u; i < 9u; i++) { s += i; }"), 0, 0},
		{"//# max u.n = 20\n" TEXT("for (var i = 0u; i < u.n; i++) { s += i; }"), 0, 0},
		{TEXT("for (var i = 0u; i < arrayLength(&x); i++) { s += x[i]; }"), 0, 0},
		{TEXT("for (var i = 0u; i < arrayLength(&y); i++) { s += x[i]; }"), 1, 1},
		{TEXT("if (n < 9u) { for (var i = 0u; i < n; i++) { s += i; } }"), 0, 0},
		{TEXT("while (s < n) { s += 3u; }"), 1, 1},
		{TEXT("loop { s++; if (s > n) { break; } }"), 1, 1},
		{TEXT("loop { s++; continuing { break if s > n; } }"), 1, 1},
		{TEXT("for (; s < n;) { s++; }"), 1, 1},
		{TEXT("for (var i = 0u; i < x[1]; i++) { s += i; }"), 1, 1},
		{TEXT("for (var i = 0u; i < 9u; i++) { while (s < n) { s++; } }"), 1, 1},
		{TEXT("while (s < n) { s++; while (s < n) { s++; } } while (s < n) { s++; }"), 3,
		 1},
		{TEXT("var k = u.n; while (k > 0u) { workgroupBarrier(); w[l] = k; k--; }"), 1, 1},
		{TEXT("var k = u.n; while (k > 0u) { workgroupBarrier(); w[l] = k; k--;\n"
		      "while (s < n) { s++; } }"),
		 2, 2},
		{HEAD
		 "fn f(a: u32) -> u32 { var k = a; while (k > 3u) { k = x[k]; } return k; }\n" MAIN
		 "s = f(n) + f(s); while (s > f(4u)) { s--; } y[id.x] = s; }\n",
		 2, 1},
		{HEAD "fn f(a: u32) { workgroupBarrier(); w[a] = 1u; }\n" MAIN
		      "var k = u.n; loop { f(l); k++; if (k == 9u) { break; } } y[id.x] = s; }\n",
		 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t counters, n;
		made m;

		make(&m, cases[i].text);
		n = budgets(&m, &counters);
		if (n != cases[i].loops || counters != cases[i].counters)
			fail_msg("%u loops, %u counters: %s", n, counters, cases[i].text);
		assert_int_equal(pctl_program_turn_flag(m.unit->program) != UINT32_MAX, n != 0);
		assert_int_equal(m.unit->turns, n ? PCTL_TURNS_DEFAULT : 0);
		assert_int_equal(m.unit->analysis->race, PCTL_PROOF_PROVEN);
		assert_int_equal(m.unit->analysis->order_dependent, 0);
		drop(&m);
	}
}

/* All that leave a barrier behind must do so at one turn: a count that differs is none. */
static void test_graph_turns__barriers_need_one_count(void **state)
{
	static const char own[] = TEXT("while (s < n) { workgroupBarrier(); w[l] = s; s++; }");
	made m;

	(void)state;
	assert_int_equal(make_with(&m, own, 0, 0, 0), PC2051_ANALYSE_BARRIER);
	drop(&m);
}

static void test_graph_turns__whose_budget(void **state)
{
	static const char plain[] = TEXT("while (s < n) { s++; }");
	static const char declared[] = "//# max turns = 77\n" TEXT("while (s < n) { s++; }");
	pctl_cid first;
	made m;

	(void)state;
	make(&m, plain);
	assert_int_equal(m.unit->turns, PCTL_TURNS_DEFAULT);
	first = m.unit->cid;
	drop(&m);
	make(&m, declared);
	assert_int_equal(m.unit->turns, 77);
	assert_true(pctl_cid_compare(&first, &m.unit->cid) != 0);
	drop(&m);
	assert_int_equal(make_with(&m, declared, 0, 5, 0), 0);
	assert_int_equal(m.unit->turns, 5);
	drop(&m);
	assert_int_equal(make_with(&m, declared, 0, 5, 6), 0);
	assert_int_equal(m.unit->turns, 6);
	drop(&m);
	assert_int_equal(
		make_with(&m, BARE("while (y[0] < 3u) { y[0]++; }"), PCTL_WGSL_CONSENSUS, 5, 6),
		PC2209_WGSL_WHILE);
	drop(&m);
	assert_int_equal(make_with(&m, BARE("for (var i = 0u; i < y[1]; i++) { y[0] = i; }"),
				   PCTL_WGSL_CONSENSUS, 5, 6),
			 PC2050_ANALYSE_LOOP);
	drop(&m);
}

static uint64_t turns(const char *text)
{
	pctl_extents x;
	made m;

	make(&m, text);
	assert_int_equal(pctl_program_extents(m.unit->program, &m.unit->known, NULL, &x), PCTL_OK);
	drop(&m);
	return x.need[PCTL_EXTENT_TURNS];
}

/* Loops of a count share its budget; what is proved inside of one is made every turn. */
static void test_graph_turns__how_many_a_driver_sees(void **state)
{
	(void)state;
	assert_int_equal(turns("//# max turns = 100\n" TEXT("while (s < n) { s++; }")), 100);
	assert_int_equal(turns(TEXT("for (var i = l; i < arrayLength(&x); i++) { s++; }")), 41);
	assert_int_equal(
		turns("//# max turns = 100\n" TEXT(
			"while (s < n) { s++; while (s < n) { s++; } } while (s < n) { s++; }")),
		100);
	assert_int_equal(turns("//# max turns = 100\n" TEXT(
				 "while (s < n) { for (var i = 0u; i < 4u; i++) { s++; } }")),
			 100 * (1 + 5));
	assert_int_equal(turns("//# max turns = 100\n" TEXT(
				 "for (var i = 0u; i < 4u; i++) { while (s < n) { s++; } }")),
			 100 + 5);
	assert_int_equal(
		turns("//# max turns = 100\n" TEXT(
			"var k = u.n; while (k > 0u) { workgroupBarrier(); w[l] = k; k--;\n"
			"while (s < n) { s++; } }")),
		200);
}

static uint32_t price(const char *text, const char *schedule, uint64_t *gas)
{
	pctl_gas_schedule *s = NULL;
	pctl_gas_price out = {0};
	char path[4096];
	uint32_t code;
	made m;

	make(&m, text);
	snprintf(path, sizeof(path), PIPECTL_SOURCE_DIR "/conf/gas/%s.cfg", schedule);
	assert_int_equal(pctl_gas_schedule_read(path, NULL, &s), PCTL_OK);
	pctl_gas_price_of(s,
			  &(const pctl_gas_query){.program = m.unit->program,
						  .analysis = m.unit->analysis,
						  .groups = {1, 1, 1}},
			  pctl_diag_list_call(m.said), &out);
	code = pctl_diag_list_count(m.said) ? pctl_diag_list_at(m.said, 0)->code : 0;
	*gas = out.cost_per_workgroup;
	pctl_gas_schedule_destroy(s);
	drop(&m);
	return code;
}

/* The budget times the dearest turn, however many loops there are; schedules before structured-3 have no price. */
static void test_graph_turns__gas(void **state)
{
	uint64_t one, two, thrice, ten;

	(void)state;
	assert_int_equal(price("//# max turns = 1000\n" TEXT("while (s < n) { s++; }"),
			       "structured-3", &one),
			 0);
	assert_int_equal(price("//# max turns = 1000\n" TEXT(
				       "while (s < n) { s++; } while (s < n) { s++; }"),
			       "structured-3", &two),
			 0);
	assert_int_equal(one, two);
	assert_int_equal(price("//# max turns = 1000\n" TEXT(
				       "while (s < n) { s++; while (s < n) { s++; } }"),
			       "structured-3", &two),
			 0);
	assert_int_equal(one, two);
	assert_int_equal(price("//# max turns = 3000\n" TEXT("while (s < n) { s++; }"),
			       "structured-3", &thrice),
			 0);
	assert_int_equal((thrice - one) % 2000, 0);
	assert_true((thrice - one) / 2000 * 1000 < one);
	assert_int_equal(price("//# max turns = 1000\n" TEXT(
				       "while (s < n) { for (var i = 0u; i < 9u; i++) { s++; } }"),
			       "structured-3", &ten),
			 0);
	assert_true(ten > 2 * one);
	assert_int_equal(price(TEXT("while (s < n) { s++; }"), "structured-2", &one),
			 PC2050_ANALYSE_LOOP);
	assert_int_equal(price(TEXT("while (s < n) { s++; }"), "cybergraph-0.1", &one),
			 PC2050_ANALYSE_LOOP);
}

/* Each allocation on the way to a program that counts fails in its turn: what a text means is never another for it. */
static void test_graph_turns__memory(void **state)
{
	static const char text[] =
		TEXT("while (n != 1u) { n = select(n / 2u, n * 3u + 1u, (n & 1u) == 1u); s++; }\n"
		     "w[l] = 5u; var i = 0u;\n"
		     "loop { workgroupBarrier(); continuing { i++; break if i >= "
		     "workgroupUniformLoad(&w[0]); } }");
	static const uint32_t groups[3] = {4, 1, 1};
	const pctl_kernel_source source = {
		.name = "turns.wgsl", .groups = groups, .text = text, .n_text = strlen(text)};
	pctl_status status = PCTL_E_NOMEM;
	uint32_t n = 0, budgets = 0;
	pctl_kernels *kernels;
	made m;

	(void)state;
	make(&m, text);
	while (status != PCTL_OK) {
		const pctl_kernel_module *unit = NULL;

		kernels = pctl_kernels_create(NULL);
		assert_non_null(kernels);
		failing_allocation = ++n;
		status = pctl_kernels_get(kernels, &source, NULL, &unit);
		failing_allocation = 0;
		if (status != PCTL_OK && (status != PCTL_E_NOMEM || unit != NULL))
			fail_msg("allocation %u fails, and the status is %d", n, (int)status);
		for (uint32_t i = 0; status == PCTL_OK && i < unit->analysis->n_loops; i++)
			budgets += unit->analysis->loops[i].bound_kind == PCTL_BOUND_BUDGET;
		pctl_kernels_destroy(kernels);
	}
	assert_true(n > 100);
	assert_int_equal(budgets, 2);
	drop(&m);
}

/* Flattened for a device that does few levels right, loops are still seen to count: else they would turn without end there. */
static void test_graph_turns__known_where_flattened(void **state)
{
#define DEEP(way)                                                                                 \
	"if (x[s] > 3u) { if (x[s + 1u] > 5u) { if (x[s + 2u] > 7u) { if (x[s + 3u] > 9u) { " way \
	" } s += 2u; } s ^= 3u; } s++; } s += 2u;"
	static const char *const texts[] = {
		TEXT("while (s < n) { " DEEP("break;") " }"),
		TEXT("while (s < n) { " DEEP("return;") " }"),
		TEXT("while (s < n && x[s] > 3u) { " DEEP("s++; continue;") " }"),
		TEXT("loop { " DEEP("continue;") " continuing { s++; break if s > n; } }"),
		TEXT("loop { if (s > n) { break; } " DEEP("break;") " }"),
		TEXT("for (; s < n;) { while (n > s + 4u) { " DEEP("break;") " n--; } s++; }"),
		TEXT("for (var i = 0u; i < 9u; i++) { while (s < n) { " DEEP("return;") " } }"),
		TEXT("var k = u.n; while (k > 0u) { workgroupBarrier(); w[l] = k; k--; while (s < "
		     "n) { " DEEP("break;") " } }"),
	};
	const pctl_device_caps caps = {.head = PCTL_HEAD(pctl_device_caps)};
	uint32_t flattened = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (uint32_t nesting = 2; nesting < 6; nesting++) {
			pctl_legal_options options = {.head = PCTL_HEAD(pctl_legal_options),
						      .nesting = nesting};
			pctl_extents before, after;
			pctl_program *legal = NULL;
			made m;

			make(&m, texts[i]);
			assert_true(m.unit->turns != 0);
			options.known = &m.unit->known;
			assert_int_equal(
				pctl_program_extents(m.unit->program, options.known, NULL, &before),
				PCTL_OK);
			assert_int_equal(
				pctl_legalise(m.unit->program, &caps, &options, NULL, &legal),
				PCTL_OK);
			assert_int_equal(pctl_program_extents(legal, options.known, NULL, &after),
					 PCTL_OK);
			if (after.need[PCTL_EXTENT_TURNS] > before.need[PCTL_EXTENT_TURNS])
				fail_msg("nesting %u: %s", nesting, texts[i]);
			flattened +=
				after.need[PCTL_EXTENT_NESTING] < before.need[PCTL_EXTENT_NESTING];
			pctl_program_destroy(legal);
			drop(&m);
		}
	}
	printf("%u flattened\n", flattened);
	assert_true(flattened > sizeof(texts) / sizeof(texts[0]) * 2);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_graph_turns__which_loops_count),
		PCTL_TEST(test_graph_turns__barriers_need_one_count),
		PCTL_TEST(test_graph_turns__whose_budget),
		PCTL_TEST(test_graph_turns__how_many_a_driver_sees),
		PCTL_TEST(test_graph_turns__known_where_flattened),
		PCTL_TEST(test_graph_turns__gas), PCTL_TEST(test_graph_turns__memory))
