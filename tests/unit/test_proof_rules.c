/* The laws of the shipped function ops are true of their references, on every type: examples, adversarial, random, and
 * tuples from all over the small domains. PCTL_TUPLES=65536 in the environment goes through all 16-bit values and all
 * pairs of 8 bits (minutes). */
#include "test_proof_libraries.h"

#include "evidence/proof/gates.h"
#include "evidence/proof/random.h"

#define DOMAINS 5
#define SAMPLE 1024u /* of domains that are too large to be gone through */

typedef struct checking {
	pctl_evaluator *reference;
	uint64_t tuples, cases, laws, failed, vacuous;
} checking;

static uint64_t tuples_wanted(void)
{
	const char *text = getenv("PCTL_TUPLES");

	if (text != NULL)
		return strtoull(text, NULL, 10);
	return PCTL_TEST_SANITIZED ? 16 : 256;
}

static void check_domain(checking *c, const pctl_op_function *f, const pctl_law_equation *l,
			 uint32_t kind, uint64_t *held)
{
	const uint64_t bytes = pctl_proof_dtype_bytes(l->dtype);
	const int is_whole = kind == PCTL_DOMAIN_EXHAUSTIVE8 || kind == PCTL_DOMAIN_EXHAUSTIVE16;
	const uint64_t most = is_whole || c->tuples < SAMPLE ? c->tuples : SAMPLE;
	const pctl_domain d = pctl_domain_make(kind, l->dtype, l->n_vars, 7, most);
	const uint64_t n = d.n_cases < most ? d.n_cases : most;
	pctl_law_outcome outcome = {0};
	pctl_column columns[4];
	char name[PCTL_FUNCTION_NAME];

	for (uint32_t v = 0; v < l->n_vars; v++)
		columns[v] = (pctl_column){l->dtype, 0, n, malloc(n * bytes + 1)};
	for (uint64_t i = 0; i < n; i++) {
		pctl_column one[4];

		for (uint32_t v = 0; v < l->n_vars; v++)
			one[v] = (pctl_column){l->dtype, 0, 1, columns[v].data + i * bytes};
		pctl_domain_fill(&d, d.n_cases == n ? i : pctl_proof_mix(1, 2, i) % d.n_cases, 1,
				 one);
	}
	if (n != 0)
		assert_int_equal(pctl_law_check(l, c->reference, c->reference, columns, n, NULL,
						NULL, &outcome),
				 PCTL_OK);
	if (outcome.failures != 0) {
		print_error("%s: %s: fails at", pctl_function_name(f, name), l->text);
		for (uint32_t v = 0; v < l->n_vars; v++) {
			uint32_t low = 0;

			memcpy(&low, columns[v].data + outcome.at * bytes, bytes < 4 ? bytes : 4);
			print_error(" 0x%x", low);
		}
		print_error("\n");
		c->failed++;
	}
	*held += outcome.cases - outcome.failures;
	c->cases += outcome.cases;
	for (uint32_t v = 0; v < l->n_vars; v++)
		free(columns[v].data);
}

static void check_op(checking *c, const libraries *libs, const pctl_op_ref *op, uint32_t dtype)
{
	static const uint32_t kinds[DOMAINS] = {PCTL_DOMAIN_EXHAUSTIVE8, PCTL_DOMAIN_EXHAUSTIVE16,
						PCTL_DOMAIN_LATTICE16, PCTL_DOMAIN_ADVERSARIAL,
						PCTL_DOMAIN_RANDOM};
	pctl_arena *arena = pctl_arena_create();
	pctl_law_equation *e = NULL;
	uint32_t n = 0, prose = 0;
	pctl_op_function f;

	if (!pctl_gate_function(op, dtype, &f)) {
		pctl_arena_destroy(arena);
		return;
	}
	assert_int_equal(pctl_laws_of(&libs->source, &f, arena, NULL, &e, &n, &prose), PCTL_OK);
	assert_int_equal(prose, 0);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t held = 0;

		for (uint32_t k = 0; k < DOMAINS; k++)
			check_domain(c, &f, &e[i], kinds[k], &held);
		/* The few tuples of a sanitized run do not meet every condition. */
		if (held == 0 && !PCTL_TEST_SANITIZED) {
			print_error("%s: never put to the test\n", e[i].text);
			c->vacuous++;
		}
		c->laws++;
	}
	pctl_arena_destroy(arena);
}

static void check_library(const char *id)
{
	static const uint32_t dtypes[] = {PCTL_SCALAR_U32, PCTL_SCALAR_I32, PCTL_SCALAR_U64,
					  PCTL_DTYPE_U128, PCTL_SCALAR_F16, PCTL_SCALAR_BF16,
					  PCTL_SCALAR_F32};
	checking c = {.tuples = tuples_wanted()};
	libraries libs;
	pctl_proof_context b;

	libraries_begin(&libs);
	libraries_open(&libs, "ieee");
	libraries_open(&libs, "int");
	b = libraries_bench(&libs);
	assert_int_equal(pctl_evaluator_reference(&b, NULL, &c.reference), PCTL_OK);
	for (uint32_t i = 0; i < libs.source.count(libs.source.ctx); i++) {
		pctl_op_ref op;

		libs.source.at(libs.source.ctx, i, &op);
		for (uint32_t k = 0; k < 7 && strcmp(op.plugin, id) == 0; k++)
			check_op(&c, &libs, &op, dtypes[k]);
	}
	assert_true(c.laws > 100 && c.cases > 40 * c.tuples);
	assert_int_equal(c.failed + c.vacuous, 0);
	pctl_evaluator_destroy(c.reference);
	pctl_kernels_destroy(b.kernels);
}

static void test_rules__laws_of_int_are_true(void **state)
{
	(void)state;
	check_library("int");
}

static void test_rules__laws_of_ieee_are_true(void **state)
{
	(void)state;
	check_library("ieee");
}

PCTL_TESTS_MAIN(PCTL_TEST(test_rules__laws_of_int_are_true),
		PCTL_TEST(test_rules__laws_of_ieee_are_true))
