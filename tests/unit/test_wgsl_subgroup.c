/* Where subgroup operations may stand, what a program of them must look like, and what the analysis takes from them: a
 * verdict a rule, each with its good twin. */
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "compiler/analysis/analyse.h"
#include "compiler/eval/specialise.h"
#include "compiler/wgsl/wgsl.h"
#include "main.h"
#include "pipectl/oplib.h"
#include "test_ir_samples.h"

#define HEAD                                                              \
	"//# subgroup = 32\nenable subgroups;\n"                          \
	"@group(0) @binding(0) var<storage, read_write> r: array<u32>;\n" \
	"@group(0) @binding(1) var<uniform> u: vec4u;\n"                  \
	"var<workgroup> t: array<u32, 64>;\n"                             \
	"fn sum(x: u32) -> u32 { return subgroupAdd(x); }\n"
#define MAIN(size)                             \
	"@compute @workgroup_size(" size ")\n" \
	"fn main(@builtin(local_invocation_index) l: u32, @builtin(workgroup_id) g: vec3u) {\n"

static pctl_program *compiled(const char *text)
{
	const pctl_wgsl_options options = {.file = "test.wgsl"};
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_call *call = pctl_diag_list_call(l);
	pctl_program *general = NULL, *p = NULL;

	if (pctl_wgsl_compile(text, strlen(text), &options, call, &general) != PCTL_OK ||
	    pctl_program_specialise(general, NULL, NULL, 0, call, &p) != PCTL_OK)
		pctl_diag_render_text(l, stderr, 0);
	pctl_program_destroy(general);
	pctl_diag_list_destroy(l);
	assert_non_null(p);
	return p;
}

/* The code of the analysis, 0 for none; race as it was judged. */
static uint32_t judged(const char *text, uint32_t *line, int *race)
{
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_program *p = compiled(text);
	pctl_analysis *a = NULL;
	uint32_t code = 0;

	(void)pctl_program_analyse(p, NULL, pctl_diag_list_call(l), &a);
	*line = 0;
	if (pctl_diag_list_count(l)) {
		code = pctl_diag_list_at(l, 0)->code;
		*line = pctl_diag_list_at(l, 0)->pos.line;
	}
	*race = a ? (int)a->race : -1;
	pctl_analysis_destroy(a);
	pctl_program_destroy(p);
	pctl_diag_list_destroy(l);
	return code;
}

/* 64 invocations of subgroups of 32; HEAD and MAIN are eight lines. */
static const struct verdict {
	const char *text;
	uint32_t code, line;
} verdicts[] = {
	{HEAD MAIN("64") "r[l] = subgroupAdd(l); }", 0, 0},
	{HEAD MAIN("64") "if (l == 1u) {\n r[l] = subgroupAdd(l); } }", PC2055_ANALYSE_SUBGROUP,
	 10},
	{HEAD MAIN("64") "if (g.x == 1u) { r[l] = subgroupAdd(l); } }", 0, 0},
	{HEAD MAIN("64") "if (l == 1u) { return; }\n r[l] = subgroupMax(l); }",
	 PC2055_ANALYSE_SUBGROUP, 10},
	{HEAD MAIN("64") "if (g.x == 1u) { return; }\n r[l] = subgroupMax(l); }", 0, 0},
	{HEAD MAIN("64") "for (var i = 0u; i < 8u; i++) { if (i == l) { break; }\n r[l] = "
			 "subgroupOr(l); } }",
	 PC2055_ANALYSE_SUBGROUP, 10},
	{HEAD MAIN("64") "for (var i = 0u; i < 8u; i++) { if (i == u.x) { break; }\n r[l] = "
			 "subgroupOr(l); } }",
	 0, 0},
	{HEAD MAIN("64") "if (l < 32u) {\n r[l] = sum(l); } }", PC2055_ANALYSE_SUBGROUP, 6},
	{HEAD MAIN("64") "r[l] = sum(l); r[l] += sum(2u); }", 0, 0},
	{HEAD MAIN("64") "let c = l == 3u &&\n subgroupAny(l == 2u); r[l] = u32(c); }",
	 PC2055_ANALYSE_SUBGROUP, 10},
	{HEAD MAIN("64") "let c = subgroupAny(l == 2u) && l == 3u; r[l] = u32(c); }", 0, 0},
	{HEAD MAIN("64") "if (l < 3u) {\n if (subgroupElect()) { r[l] = 1u; } } }",
	 PC2055_ANALYSE_SUBGROUP, 10},
	{HEAD MAIN("64") "if (subgroupElect()) { if (l < 3u) { r[l] = 1u; } } }", 0, 0},
	/* Two subgroups need not agree; one agrees with itself; and what all agree on before stays so. */
	{HEAD MAIN("64") "if (subgroupAny(l == 40u)) {\n r[l] = subgroupXor(l); } }",
	 PC2055_ANALYSE_SUBGROUP, 10},
	{HEAD MAIN("32") "if (subgroupAny(l == 10u)) { r[l] = subgroupXor(l); } }", 0, 0},
	{HEAD MAIN("20") "if (subgroupAdd(l) > 10u) { r[l] = subgroupXor(l); } }", 0, 0},
	{HEAD MAIN("64") "if (subgroupMax(g.x) > 10u) { r[l] = subgroupXor(l); } }", 0, 0},
	/* A sum over a last subgroup that is not whole is another one than the first's. */
	{HEAD MAIN("40") "if (subgroupAdd(g.x) > 10u) {\n r[l] = subgroupXor(l); } }",
	 PC2055_ANALYSE_SUBGROUP, 10},
	{HEAD MAIN("32") "if (subgroupShuffle(l, 0) == 0u) {\n r[l] = subgroupXor(l); } }",
	 PC2055_ANALYSE_SUBGROUP, 10},
	{HEAD MAIN("32") "if (subgroupBroadcast(l, 0) == 0u) { r[l] = subgroupXor(l); } }", 0, 0},
	/* A barrier behind a subgroup's answer. */
	{HEAD MAIN("64") "if (subgroupAll(l > 3u)) {\n workgroupBarrier(); } }",
	 PC2051_ANALYSE_BARRIER, 10},
};

static void test_wgsl_subgroup__where_they_may_stand(void **state)
{
	uint32_t bad = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++) {
		uint32_t line;
		int race;
		const uint32_t code = judged(verdicts[i].text, &line, &race);

		if (code == verdicts[i].code && line == verdicts[i].line)
			continue;
		fprintf(stderr, "PC%u@%u, not PC%u@%u:\n%s\n", code, line, verdicts[i].code,
			verdicts[i].line, verdicts[i].text);
		bad++;
	}
	assert_int_equal(bad, 0);
}

/* They exchange values and order no memory: what stands before and behind one meets. */
static void test_wgsl_subgroup__order_no_memory(void **state)
{
	static const char before[] = HEAD MAIN("64") "t[l] = l;\n";
	static const char behind[] = "r[g.x * 64u + l] = t[l ^ 1u] + x; }";
	char text[2048];
	uint32_t line;
	int race;

	(void)state;
	snprintf(text, sizeof(text), "//# max dispatch = 64,1,1\n%s let x = subgroupAdd(l); %s",
		 before, behind);
	assert_int_equal(judged(text, &line, &race), 0);
	assert_int_not_equal(race, PCTL_PROOF_PROVEN);
	snprintf(text, sizeof(text),
		 "//# max dispatch = 64,1,1\n%s let x = subgroupAdd(l); workgroupBarrier(); %s",
		 before, behind);
	assert_int_equal(judged(text, &line, &race), 0);
	assert_int_equal(race, PCTL_PROOF_PROVEN);
}

static void test_wgsl_subgroup__class_is_integer(void **state)
{
	pctl_program *p = compiled(HEAD MAIN("64") "r[l] = sum(l); }");
	pctl_analysis *a = NULL;

	(void)state;
	assert_int_equal(pctl_program_analyse(p, NULL, NULL, &a), PCTL_OK);
	assert_int_equal(a->determinism, PCTL_CLASS_INTEGER);
	assert_true(p->caps & PCTL_CAP_SUBGROUPS);
	pctl_analysis_destroy(a);
	pctl_program_destroy(p);
}

/* ---- the rules of the IR ---- */

/* Two operations over x, of sizes a and b; the verdict of finish. */
static pctl_status built(uint16_t op, uint8_t operand, uint8_t result, uint32_t width, uint32_t a,
			 uint32_t b, uint32_t lane)
{
	sample s;
	uint32_t x, type, out, words[3];
	const int has_lane = op == PCTL_OP_SUBGROUP_BROADCAST;
	pctl_program *p = NULL;
	pctl_status status;

	sample_begin(&s);
	s.data = sample_storage(&s, "data", s.array, 0, 1);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	type = pctl_build_scalar(s.b, operand);
	out = width > 1 ? pctl_build_vector(s.b, result, width) : pctl_build_scalar(s.b, result);
	x = pctl_build_inst(s.b, PCTL_OP_ZERO, type, NULL, 0);
	words[0] = x;
	words[1] = has_lane ? lane : a;
	words[2] = a;
	pctl_build_inst(s.b, op, out, words, has_lane ? 3 : 2);
	words[1] = b;
	pctl_build_inst(s.b, PCTL_OP_SUBGROUP_ADD, s.u32, (uint32_t[]){sample_const(&s, 1), b}, 2);
	sample_entry(&s, pctl_build_function_end(s.b), 64, 1, 1);
	status = pctl_builder_finish(s.b, NULL, &p);
	pctl_builder_destroy(s.b);
	if (p) {
		uint8_t *wire = NULL;
		uint64_t n = 0;
		pctl_program *again = NULL;

		assert_int_equal(pctl_program_encode(p, NULL, &wire, &n), PCTL_OK);
		assert_int_equal(pctl_program_decode(wire, n, NULL, &again), PCTL_OK);
		assert_int_equal(again->caps, p->caps);
		assert_int_equal(pctl_program_subgroup_size(again), a);
		free(wire);
		pctl_program_destroy(again);
	}
	pctl_program_destroy(p);
	return status;
}

static void test_wgsl_subgroup__rules_of_the_program(void **state)
{
	enum {
		B = PCTL_SCALAR_BOOL,
		U = PCTL_SCALAR_U32,
		I = PCTL_SCALAR_I32,
		F = PCTL_SCALAR_F32
	};

	(void)state;
	assert_int_equal(built(PCTL_OP_SUBGROUP_ADD, U, U, 1, 32, 32, 0), PCTL_OK);
	assert_int_equal(built(PCTL_OP_SUBGROUP_ADD, I, I, 1, 4, 4, 0), PCTL_OK);
	assert_int_equal(built(PCTL_OP_SUBGROUP_ADD, U, U, 1, 128, 128, 0), PCTL_OK);
	assert_int_equal(built(PCTL_OP_SUBGROUP_ADD, U, U, 1, 2, 2, 0), PCTL_E_INVALID);
	assert_int_equal(built(PCTL_OP_SUBGROUP_ADD, U, U, 1, 256, 256, 0), PCTL_E_INVALID);
	assert_int_equal(built(PCTL_OP_SUBGROUP_ADD, U, U, 1, 24, 24, 0), PCTL_E_INVALID);
	assert_int_equal(built(PCTL_OP_SUBGROUP_ADD, U, U, 1, 32, 16, 0), PCTL_E_INVALID);
	assert_int_equal(built(PCTL_OP_SUBGROUP_ADD, F, F, 1, 32, 32, 0), PCTL_E_INVALID);
	assert_int_equal(built(PCTL_OP_SUBGROUP_ADD, U, I, 1, 32, 32, 0), PCTL_E_INVALID);
	assert_int_equal(built(PCTL_OP_SUBGROUP_SHUFFLE, U, U, 1, 32, 32, 0), PCTL_E_INVALID);
	assert_int_equal(built(PCTL_OP_SUBGROUP_ALL, B, B, 1, 32, 32, 0), PCTL_OK);
	assert_int_equal(built(PCTL_OP_SUBGROUP_ALL, U, U, 1, 32, 32, 0), PCTL_E_INVALID);
	assert_int_equal(built(PCTL_OP_SUBGROUP_ANY, B, U, 1, 32, 32, 0), PCTL_E_INVALID);
	assert_int_equal(built(PCTL_OP_SUBGROUP_BALLOT, B, U, 4, 32, 32, 0), PCTL_OK);
	assert_int_equal(built(PCTL_OP_SUBGROUP_BALLOT, B, U, 2, 32, 32, 0), PCTL_E_INVALID);
	assert_int_equal(built(PCTL_OP_SUBGROUP_BROADCAST, U, U, 1, 32, 32, 31), PCTL_OK);
	assert_int_equal(built(PCTL_OP_SUBGROUP_BROADCAST, U, U, 1, 32, 32, 32), PCTL_E_INVALID);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_wgsl_subgroup__where_they_may_stand),
		PCTL_TEST(test_wgsl_subgroup__order_no_memory),
		PCTL_TEST(test_wgsl_subgroup__class_is_integer),
		PCTL_TEST(test_wgsl_subgroup__rules_of_the_program))
