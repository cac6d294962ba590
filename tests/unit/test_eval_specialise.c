/* Specialising: values and defaults put in, sizes literal, refusals; and the evaluator against
 * values worked by hand. */
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "main.h"
#include "compiler/eval/eval.h"
#include "compiler/eval/specialise.h"
#include "test_ir_samples.h"

static pctl_program *everything(void)
{
	pctl_builder *b = sample_everything();
	pctl_program *p = NULL;

	assert_int_equal(pctl_builder_finish(b, NULL, &p), PCTL_OK);
	pctl_builder_destroy(b);
	return p;
}

static void sizes_become_literal(void **state)
{
	const pctl_override_value value = {.name = "n", .bits = 48},
				  by_id = {.name = "7", .bits = 48};
	pctl_program *p = everything(), *q = NULL;
	uint32_t i, counted = 0;

	(void)state;
	assert_int_equal(pctl_program_specialise(p, NULL, NULL, 0, NULL, &q), PCTL_OK);
	assert_int_equal(q->entries[0].workgroup_size[0], 32);
	assert_int_equal(q->n_overrides, 0);
	assert_int_equal(q->functions[0].n_insts, 0);
	assert_false(q->caps & PCTL_CAP_OVERRIDES);
	pctl_program_destroy(q);
	assert_int_equal(pctl_program_specialise(p, "main", &value, 1, NULL, &q), PCTL_OK);
	assert_int_equal(q->entries[0].workgroup_size[0], 48);
	for (i = 0; i < q->n_types; i++)
		counted += q->types[i].kind == PCTL_TYPE_ARRAY && q->types[i].count == 48 &&
			   q->types[i].size == 192;
	assert_int_equal(counted, 1);
	pctl_program_destroy(q);
	assert_int_equal(pctl_program_specialise(p, NULL, &by_id, 1, NULL, &q), PCTL_OK);
	assert_int_equal(q->entries[0].workgroup_size[0], 48);
	pctl_program_destroy(q);
	pctl_program_destroy(p);
}

static uint32_t refused(const pctl_program *p, const char *entry, const char *name, uint64_t bits)
{
	const pctl_override_value value = {.name = name, .bits = bits};
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_program *q = NULL;
	uint32_t code;

	assert_int_not_equal(
		pctl_program_specialise(p, entry, &value, 1, pctl_diag_list_call(l), &q), PCTL_OK);
	assert_null(q);
	code = pctl_diag_list_at(l, 0)->code;
	pctl_diag_list_destroy(l);
	return code;
}

static void refusals(void **state)
{
	pctl_program *p = everything();

	(void)state;
	assert_int_equal(refused(p, "other", "n", 1), PC2040_SPECIALISE_ENTRY);
	assert_int_equal(refused(p, NULL, "m", 1), PC2041_SPECIALISE_OVERRIDE);
	assert_int_equal(refused(p, NULL, "n", 1ull << 32), PC2043_SPECIALISE_RANGE);
	assert_int_equal(refused(p, NULL, "n", UINT64_MAX), PC2043_SPECIALISE_RANGE);
	assert_int_equal(refused(p, NULL, "n", 0), PC2044_SPECIALISE_SIZE);
	assert_int_equal(refused(p, NULL, "n", 65537), PC2044_SPECIALISE_SIZE);
	pctl_program_destroy(p);
}

struct eval_case {
	uint16_t op;
	uint8_t result, operand;
	uint64_t args[4], want;
};

#define I32 PCTL_SCALAR_I32
#define U32 PCTL_SCALAR_U32
#define I64 PCTL_SCALAR_I64
#define U64 PCTL_SCALAR_U64
#define MIN32 0x80000000u
#define MIN64 (1ull << 63)

static const struct eval_case eval_cases[] = {
	{PCTL_OP_ADD, U32, U32, {0xffffffff, 2}, 1},
	{PCTL_OP_SUB, U32, U32, {0, 1}, 0xffffffff},
	{PCTL_OP_MUL, I32, I32, {0xffffffff, 5}, 0xfffffffb},
	{PCTL_OP_DIV, I32, I32, {0xfffffff9, 2}, 0xfffffffd}, /* -7/2 = -3 */
	{PCTL_OP_MOD, I32, I32, {0xfffffff9, 2}, 0xffffffff}, /* -7%2 = -1 */
	{PCTL_OP_DIV, I32, I32, {MIN32, 0xffffffff}, MIN32},
	{PCTL_OP_MOD, I32, I32, {MIN32, 0xffffffff}, 0},
	{PCTL_OP_DIV, I64, I64, {MIN64, UINT64_MAX}, MIN64},
	{PCTL_OP_MOD, I64, I64, {MIN64, UINT64_MAX}, 0},
	{PCTL_OP_DIV, U32, U32, {7, 0}, 0},
	{PCTL_OP_MOD, U32, U32, {7, 0}, 0},
	{PCTL_OP_DIV_WGSL, U32, U32, {7, 0}, 7},
	{PCTL_OP_SHL, U32, U32, {1, 33}, 2},
	{PCTL_OP_SHR, I32, I32, {MIN32, 31}, 0xffffffff},
	{PCTL_OP_SHR, U32, U32, {MIN32, 31}, 1},
	{PCTL_OP_SHR, I64, I64, {MIN64, 63}, UINT64_MAX},
	{PCTL_OP_MIN, I32, I32, {0xffffffff, 1}, 0xffffffff},
	{PCTL_OP_MIN, U32, U32, {0xffffffff, 1}, 1},
	{PCTL_OP_CLAMP, I32, I32, {5, 9, 3}, 3}, /* min(max(5,9),3) */
	{PCTL_OP_ABS, I32, I32, {MIN32}, MIN32},
	{PCTL_OP_SIGN, I32, I32, {0xfffffff0}, 0xffffffff},
	{PCTL_OP_CLZ, U32, U32, {0}, 32},
	{PCTL_OP_CLZ, U32, U32, {1}, 31},
	{PCTL_OP_CLZ, U64, U64, {1}, 63},
	{PCTL_OP_CTZ, U32, U32, {0}, 32},
	{PCTL_OP_REVERSE, U32, U32, {1}, MIN32},
	{PCTL_OP_FIRST_LEADING, U32, U32, {0}, 0xffffffff},
	{PCTL_OP_FIRST_LEADING, I32, I32, {0xffffffff}, 0xffffffff},
	{PCTL_OP_FIRST_LEADING, I32, I32, {0xfffffffe}, 0},
	{PCTL_OP_FIRST_TRAILING, U32, U32, {8}, 3},
	{PCTL_OP_EXTRACT_BITS, I32, I32, {0xf0, 4, 4}, 0xffffffff},
	{PCTL_OP_EXTRACT_BITS, U32, U32, {0xf0, 4, 40}, 0xf},
	{PCTL_OP_EXTRACT_BITS, U32, U32, {0xf0, 32, 4}, 0},
	{PCTL_OP_INSERT_BITS, U32, U32, {0xffffffff, 0, 8, 8}, 0xffff00ff},
	{PCTL_OP_LT, PCTL_SCALAR_BOOL, I32, {0xffffffff, 0}, 1},
	{PCTL_OP_LT, PCTL_SCALAR_BOOL, U32, {0xffffffff, 0}, 0},
	{PCTL_OP_CAST, I64, I32, {0xffffffff}, UINT64_MAX},
	{PCTL_OP_CAST, I64, U32, {0xffffffff}, 0xffffffff},
	{PCTL_OP_CAST, PCTL_SCALAR_BOOL, U32, {2}, 1},
	{PCTL_OP_NOT, PCTL_SCALAR_BOOL, PCTL_SCALAR_BOOL, {1}, 0},
	{PCTL_OP_SELECT, U32, U32, {0, 4, 5}, 5},
};

static void evaluation(void **state)
{
	uint64_t out;
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(eval_cases) / sizeof(eval_cases[0]); i++) {
		const struct eval_case *c = &eval_cases[i];

		if (!pctl_eval(c->op, c->result, c->operand, c->args, &out) || out != c->want)
			fail_msg("case %u, %s: 0x%llx, wanted 0x%llx", i, pctl_op_get(c->op)->name,
				 (unsigned long long)out, (unsigned long long)c->want);
	}
	assert_int_equal(pctl_eval(PCTL_OP_LOAD, U32, U32, eval_cases[0].args, &out), 0);
	assert_int_equal(
		pctl_eval(PCTL_OP_ADD, PCTL_SCALAR_F32, PCTL_SCALAR_F32, eval_cases[0].args, &out),
		0);
}

PCTL_TESTS_MAIN(PCTL_TEST(sizes_become_literal), PCTL_TEST(refusals), PCTL_TEST(evaluation))
