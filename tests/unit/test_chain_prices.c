/* Every row of consensus-2 matters: each is made larger once, and some price of a kernel, a job or a message must be. What the chain
 * carries inside is the shipped file. */
#include "main.h"

#include <stdlib.h>

#include "chain/chain.h"
#include "chain/executor/suite.h"
#include "compiler/wgsl/wgsl.h"
#include "foundation/diag/diag.h"
#include "runtime/gas/gas.h"
#include "runtime/graph/kernel.h"

#define FILE_ PIPECTL_SOURCE_DIR "/conf/gas/consensus-2.cfg"

/* What the suite has no kernel of: consensus refuses it, or it is like another one. */
#define FLOATS                                                                                    \
	"@group(0) @binding(0) var<storage, read_write> o: array<f32>;\n"                         \
	"@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"   \
	"var a = o[id.x]; let b = o[1];\n"                                                        \
	"if (a == b) { a += 1.0f; }\nif (a != b) { a += 1.0f; }\nif (a <= b) { a += 1.0f; }\n"    \
	"if (a > b) { a += 1.0f; }\nif (a >= b) { a += 1.0f; }\n"                                 \
	"a += sin(a) + cos(a) + tan(a) + asin(a) + acos(a) + atan(a) + atan2(a, b) + sinh(a) + "  \
	"cosh(a);\n"                                                                              \
	"a += tanh(a) + asinh(a) + acosh(a) + atanh(a) + exp(a) + exp2(a) + exp10(a) + log(a);\n" \
	"a += log2(a) + log10(a) + pow(a, b) + cbrt(a);\no[id.x] = a;\n}\n"
#define ATOMICS                                                                                 \
	"@group(0) @binding(0) var<storage, read_write> o: array<atomic<u32>>;\n"               \
	"@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n" \
	"var a = atomicLoad(&o[0]);\natomicStore(&o[1], a);\na += atomicExchange(&o[2], a);\n"  \
	"a += atomicCompareExchangeWeak(&o[3], a, 1u).old_value;\natomicAdd(&o[4], a);\n}\n"

enum { MOST = 160 };

typedef struct prices {
	const pctl_kernel_module *units[MOST];
	uint32_t n;
	pctl_kernels *kernels;
	char *texts[MOST];
} prices;

static void add(prices *p, const char *name, const char *text)
{
	static const pctl_override_value number = {.name = "number", .text = "3"};
	const uint32_t groups[3] = {1, 1, 1};
	const pctl_kernel_source source = {.name = name,
					   .text = text,
					   .n_text = strlen(text),
					   .groups = groups,
					   .overrides = &number,
					   .n_overrides = strstr(text, "override number") != NULL,
					   .any_size = 1};
	pctl_diag_list *l = pctl_diag_list_create();

	assert_true(p->n < MOST);
	if (pctl_kernels_get(p->kernels, &source, pctl_diag_list_call(l), &p->units[p->n++]) !=
	    PCTL_OK)
		fail_msg("%s: %s", name, pctl_diag_list_at(l, 0)->message);
	pctl_diag_list_destroy(l);
}

static prices begin(void)
{
	prices p = {.kernels = pctl_kernels_create(NULL)};

	for (uint32_t i = 0; i < pctl_suite_count(); i++) {
		p.texts[i] = pctl_suite_text(i);
		add(&p, pctl_suite_at(i)->name, p.texts[i]);
	}
	add(&p, "floats", FLOATS);
	add(&p, "atomics", ATOMICS);
	return p;
}

static void end(prices *p)
{
	for (uint32_t i = 0; i < pctl_suite_count(); i++)
		free(p->texts[i]);
	pctl_kernels_destroy(p->kernels);
}

/* All prices together. */
static uint64_t sum(const prices *p, const pctl_gas_schedule *s)
{
	static const uint32_t beside[] = {PCTL_GAS_UPLOAD, PCTL_GAS_LINK, PCTL_GAS_ALIAS};
	uint64_t all = 0, gas;
	pctl_gas_price price;

	for (uint32_t i = 0; i < p->n; i++) {
		const pctl_gas_query q = {.program = p->units[i]->program,
					  .analysis = p->units[i]->analysis,
					  .groups = {1, 1, 1},
					  .of = PCTL_GAS_OF_JOB | PCTL_GAS_OF_BUILD,
					  .instructions = 5,
					  .input_bytes = 100,
					  .output_bytes = 100,
					  .hops = 1};

		assert_int_equal(pctl_gas_price_of(s, &q, NULL, &price), PCTL_OK);
		all += price.total;
	}
	for (uint32_t i = 0; i < 3; i++) {
		const pctl_gas_message m = {.n_bytes = 10, .source_bytes = 10, .beside = beside[i]};

		assert_int_equal(pctl_gas_of_message(s, &m, NULL, &gas), PCTL_OK);
		all += gas;
	}
	assert_int_equal(pctl_gas_fuel(s, 1000, NULL, &gas), PCTL_OK);
	return all + gas + pctl_gas_row(s, PCTL_GAS_REFUSAL);
}

/* Opcodes that the front end has no use for: programs written otherwise hold them, which a chain does not take. */
static int is_made_by_no_text(const char *name)
{
	static const char *const names[] = {"DIV", "SHUFFLE", "INSERT", "MATMUL", "FRSQRT"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return 1;
	return 0;
}

static void test_chain_prices__every_row_matters(void **state)
{
	pctl_gas_schedule *s = NULL;
	prices p = begin();
	uint32_t n = 0, still = 0;
	uint64_t before;

	(void)state;
	assert_int_equal(pctl_gas_schedule_read(FILE_, NULL, &s), PCTL_OK);
	/* Of one part a gas, so that nothing is lost by rounding; greater parts make all cheaper. */
	before = sum(&p, s);
	assert_int_equal(pctl_gas_row_set(s, PCTL_GAS_PARTS, 1), 1);
	assert_true(sum(&p, s) > 50 * before);
	before = sum(&p, s);
	for (uint32_t row = 0; row < PCTL_GAS_ROWS; row++) {
		const char *name = pctl_gas_row_name(s, row);
		const uint64_t was = pctl_gas_row(s, row);

		if (name == NULL || row == PCTL_GAS_PARTS ||
		    !pctl_gas_row_set(s, row, was == 0 ? 1 : 2 * was))
			continue;
		n++;
		if (sum(&p, s) == before && was != 0 && !is_made_by_no_text(name)) {
			print_error("nothing costs more with twice as much for %s\n", name);
			still++;
		}
		assert_true(pctl_gas_row_set(s, row, was));
	}
	/* Weights, and opcodes that have a cost. */
	assert_true(n > 33 + 80);
	assert_int_equal(still, 0);
	assert_int_equal(sum(&p, s), before);
	end(&p);
	pctl_gas_schedule_destroy(s);
}

/* Every row has a kernel that is for it, or is of messages, of jobs as the chain sees them, or free. */
static void test_chain_prices__the_suite_names_rows(void **state)
{
	pctl_gas_schedule *s = NULL;

	(void)state;
	assert_int_equal(pctl_gas_schedule_read(FILE_, NULL, &s), PCTL_OK);
	for (uint32_t i = 0; i < pctl_suite_count(); i++) {
		const char *row = pctl_suite_at(i)->row;
		uint32_t k = 0;

		while (k < PCTL_GAS_ROWS && (pctl_gas_row_name(s, k) == NULL ||
					     strcmp(pctl_gas_row_name(s, k), row) != 0))
			k++;
		if (k == PCTL_GAS_ROWS)
			fail_msg("\"%s\" is for %s, which is no row", pctl_suite_at(i)->name, row);
	}
	assert_null(pctl_suite_at(pctl_suite_count()));
	pctl_gas_schedule_destroy(s);
}

/* Version 1 prices by the parameters, version 2 by the file, whatever the parameters say. */
static void test_chain_prices__the_rules_choose(void **state)
{
	pctl_gas_schedule *one = NULL, *two = NULL, *shipped = NULL;
	pctl_params p;

	(void)state;
	pctl_params_default(&p);
	p.values[PCTL_PARAM_WEIGHT_INTEGER] = 77;
	assert_int_equal(pctl_chain_schedule(&p, NULL, &one), PCTL_OK);
	p.values[PCTL_PARAM_RULES] = 2;
	assert_int_equal(pctl_chain_schedule(&p, NULL, &two), PCTL_OK);
	assert_int_equal(pctl_gas_schedule_read(FILE_, NULL, &shipped), PCTL_OK);
	assert_int_equal(pctl_gas_row(one, PCTL_GAS_INTEGER), 77);
	assert_null(pctl_gas_row_name(one, PCTL_GAS_JOB));
	assert_string_equal(pctl_gas_schedule_name(two), "consensus-2");
	for (uint32_t row = 0; row < PCTL_GAS_ROWS; row++)
		assert_int_equal(pctl_gas_row(two, row), pctl_gas_row(shipped, row));
	pctl_gas_schedule_destroy(one);
	pctl_gas_schedule_destroy(two);
	pctl_gas_schedule_destroy(shipped);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_prices__every_row_matters),
		PCTL_TEST(test_chain_prices__the_suite_names_rows),
		PCTL_TEST(test_chain_prices__the_rules_choose))
