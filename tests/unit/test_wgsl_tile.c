/* Where matrix tiles may stand, what a program of them must look like, and what the analysis takes from them: a verdict
 * a rule, each with its good twin. */
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "compiler/analysis/analyse.h"
#include "compiler/eval/specialise.h"
#include "compiler/wgsl/wgsl.h"
#include "main.h"
#include "pipectl/oplib.h"
#include "test_ir_samples.h"

#define HEAD                                                                            \
	"//# subgroup = 32\nenable chromium_experimental_subgroup_matrix, subgroups;\n" \
	"@group(0) @binding(0) var<storage, read_write> r: array<i32>;\n"               \
	"@group(0) @binding(1) var<uniform> u: vec4u;\n"                                \
	"alias L = subgroup_matrix_left<i8, 32, 16>;\n"                                 \
	"alias R = subgroup_matrix_right<i8, 16, 32>;\n"                                \
	"alias S = subgroup_matrix_result<i32, 16, 16>;\n"
#define MAIN(size)                             \
	"@compute @workgroup_size(" size ")\n" \
	"fn main(@builtin(local_invocation_index) l: u32, @builtin(workgroup_id) g: vec3u) {\n"
#define LOAD "let s = subgroupMatrixLoad<S, row_major>(&r, 0u, 16u);\n"
#define STORE "subgroupMatrixStore<row_major>(&r, 0u, s, 16u);\n"

static pctl_status compile(const char *text, pctl_diag_list *l, pctl_program **out)
{
	const pctl_wgsl_options options = {.file = "test.wgsl"};
	const pctl_call *call = pctl_diag_list_call(l);
	pctl_program *general = NULL;
	pctl_status status = pctl_wgsl_compile(text, strlen(text), &options, call, &general);

	*out = NULL;
	if (status == PCTL_OK)
		status = pctl_program_specialise(general, NULL, NULL, 0, call, out);
	pctl_program_destroy(general);
	return status;
}

/* The first code of the compile or the analysis, 0 for none, and its line. */
static uint32_t judged(const char *text, uint32_t *line)
{
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_analysis *a = NULL;
	pctl_program *p;
	uint32_t code = 0;

	if (compile(text, l, &p) == PCTL_OK)
		(void)pctl_program_analyse(p, NULL, pctl_diag_list_call(l), &a);
	*line = 0;
	if (pctl_diag_list_count(l)) {
		code = pctl_diag_list_at(l, 0)->code;
		*line = pctl_diag_list_at(l, 0)->pos.line;
	}
	pctl_analysis_destroy(a);
	pctl_program_destroy(p);
	pctl_diag_list_destroy(l);
	return code;
}

/* HEAD and MAIN are nine lines. */
static const struct verdict {
	const char *text;
	uint32_t code, line;
} verdicts[] = {
	{HEAD MAIN("64") LOAD STORE "}", 0, 0},
	{HEAD MAIN("64") "if (l < 32u) {\n" LOAD "} }", PC2055_ANALYSE_SUBGROUP, 11},
	{HEAD MAIN("64") "if (g.x == 1u) { " LOAD STORE "} }", 0, 0},
	{HEAD MAIN("64") LOAD "if (l < 32u) {\n" STORE "} }", PC2055_ANALYSE_SUBGROUP, 12},
	{HEAD MAIN("64") "var x: L; var y: R; var s: S;\nif (subgroupAny(l == 40u)) { s = "
			 "subgroupMatrixMultiplyAccumulate(x, y, s); }\n" STORE "}",
	 PC2055_ANALYSE_SUBGROUP, 11},
	{HEAD MAIN("64") "var x: L; var y: R; var s: S;\nif (u.x > 1u) { s = "
			 "subgroupMatrixMultiplyAccumulate(x, y, s); }\n" STORE "}",
	 0, 0},
	/* A variable is of all lanes, and so is a result. */
	{HEAD MAIN("64") LOAD "var t = s;\nif (l == 1u) {\n t = S(); } }", PC2055_ANALYSE_SUBGROUP,
	 13},
	{HEAD MAIN("64") LOAD "var t = s;\nif (g.x == 1u) { t = S(); } }", 0, 0},
	{HEAD "fn f(l: u32, a: S, b: S) -> S {\n if (l == 1u) { return a; }\n return b; }\n" MAIN(
		 "64") LOAD "let t = f(l, s, S()); }",
	 PC2055_ANALYSE_SUBGROUP, 9},
	{HEAD "fn f(l: u32, a: S, b: S) -> S {\n if (l == 1u) { return a; }\n return b; }\n" MAIN(
		 "64") LOAD "let t = f(g.x, s, S()); }",
	 0, 0},
	/* Subgroups are whole, and neighbours along x. */
	{HEAD MAIN("48") LOAD "}", PC2031_PROGRAM_TILE_WORKGROUP, 0},
	{HEAD MAIN("32, 2") LOAD "}", PC2031_PROGRAM_TILE_WORKGROUP, 0},
	{HEAD "override n = 16u;\n" MAIN("n") LOAD "}", PC2031_PROGRAM_TILE_WORKGROUP, 0},
	{HEAD "override n = 96u;\n" MAIN("n") LOAD "}", 0, 0},
};

static void test_wgsl_tile__where_they_may_stand(void **state)
{
	uint32_t bad = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++) {
		uint32_t line;
		const uint32_t code = judged(verdicts[i].text, &line);

		if (code == verdicts[i].code && line == verdicts[i].line)
			continue;
		fprintf(stderr, "PC%u@%u, not PC%u@%u:\n%s\n", code, line, verdicts[i].code,
			verdicts[i].line, verdicts[i].text);
		bad++;
	}
	assert_int_equal(bad, 0);
}

/* Integers of one class. Components of a result that is stored are proved apart as elements are; a factor that is loaded
 * touches its whole array. */
static const struct proof {
	const char *text;
	uint32_t race;
} proofs[] = {
	{HEAD "@group(0) @binding(2) var<storage, read> a: array<i32>;\n" MAIN(
		 "64") "let s = subgroupMatrixLoad<L, row_major>(&a, 0u, 16u); }",
	 PCTL_PROOF_PROVEN},
	{HEAD MAIN("64") LOAD STORE "}", PCTL_PROOF_UNPROVEN},
	{"//# max dispatch = 64,1,1\n" HEAD MAIN(
		 "32") "subgroupMatrixStore<row_major>(&r, g.x * 256u, S(), 16u); }",
	 PCTL_PROOF_PROVEN},
	{"//# max dispatch = 64,1,1\n" HEAD MAIN(
		 "64") "subgroupMatrixStore<row_major>(&r, g.x * 256u, S(), 16u); }",
	 PCTL_PROOF_UNPROVEN},
	{"//# max dispatch = 64,1,1\n" HEAD MAIN("64") "subgroupMatrixStore<row_major>(&r, "
						       "(g.x * 2u + l / 32u) * 256u, S(), 16u); }",
	 PCTL_PROOF_PROVEN},
	{"//# max dispatch = 64,1,1\n" HEAD MAIN("64") "subgroupMatrixStore<row_major>(&r, "
						       "(g.x * 2u + l / 32u) * 256u, S(), 15u); }",
	 PCTL_PROOF_UNPROVEN},
	{"//# max dispatch = 4,4,1\n" HEAD MAIN("32") "subgroupMatrixStore<row_major>(&r, "
						      "g.y * 1024u + g.x * 16u, S(), 64u); }",
	 PCTL_PROOF_PROVEN},
	{"//# max dispatch = 5,4,1\n" HEAD MAIN("32") "subgroupMatrixStore<row_major>(&r, "
						      "g.y * 1024u + g.x * 16u, S(), 64u); }",
	 PCTL_PROOF_UNPROVEN},
	/* The same lane has the same component, whatever is done to it in between. */
	{"//# max dispatch = 64,1,1\n" HEAD MAIN(
		 "32") "let s = subgroupMatrixLoad<S, row_major>(&r, g.x * 256u, 16u);\n"
		       "subgroupMatrixStore<row_major>(&r, g.x * 256u, s, 16u); }",
	 PCTL_PROOF_PROVEN},
	{"//# max dispatch = 64,1,1\n" HEAD MAIN(
		 "32") "let s = subgroupMatrixLoad<S, col_major>(&r, g.x * 256u, 16u);\n"
		       "subgroupMatrixStore<row_major>(&r, g.x * 256u, s, 16u); }",
	 PCTL_PROOF_UNPROVEN},
	{"//# max dispatch = 64,1,1\n" HEAD MAIN(
		 "32") "let x = subgroupMatrixLoad<L, row_major>(&r, g.x * 1024u, 32u);\n"
		       "subgroupMatrixStore<row_major>(&r, g.x * 256u, S(), 16u); }",
	 PCTL_PROOF_UNPROVEN},
};

static void test_wgsl_tile__what_is_proved(void **state)
{
	pctl_diag_list *l = pctl_diag_list_create();

	(void)state;
	for (size_t i = 0; i < sizeof(proofs) / sizeof(proofs[0]); i++) {
		pctl_analysis *a = NULL;
		pctl_program *p;

		assert_int_equal(compile(proofs[i].text, l, &p), PCTL_OK);
		assert_int_equal(p->caps, PCTL_CAP_TILES);
		assert_int_equal(pctl_program_analyse(p, NULL, NULL, &a), PCTL_OK);
		assert_int_equal(a->determinism, PCTL_CLASS_INTEGER);
		if (a->race != proofs[i].race)
			fail_msg("race is judged %u, not %u:\n%s", a->race, proofs[i].race,
				 proofs[i].text);
		pctl_analysis_destroy(a);
		pctl_program_destroy(p);
	}
	pctl_diag_list_destroy(l);
}

/* Sums of floats are rounded, whatever their arrays are of. */
static void test_wgsl_tile__floats_are_strict(void **state)
{
	static const char text[] =
		"//# subgroup = 32\nenable chromium_experimental_subgroup_matrix;\n"
		"@group(0) @binding(0) var<storage, read> a: array<u32>;\n"
		"@compute @workgroup_size(32) fn main() {\n"
		"  let x = subgroupMatrixLoad<subgroup_matrix_left<f32, 8, 8>, row_major>(&a, 0u, "
		"8u);\n}\n";
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_analysis *a = NULL;
	pctl_program *p;

	(void)state;
	assert_int_equal(compile(text, l, &p), PCTL_OK);
	assert_int_equal(p->caps, PCTL_CAP_TILES | PCTL_CAP_F64);
	assert_int_equal(pctl_program_analyse(p, NULL, NULL, &a), PCTL_OK);
	assert_int_equal(a->determinism, PCTL_CLASS_STRICT);
	pctl_analysis_destroy(a);
	pctl_program_destroy(p);
	pctl_diag_list_destroy(l);
}

/* What people read of it, and what a worker is sent. */
static void test_wgsl_tile__print_and_wire(void **state)
{
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_program *p, *again = NULL;
	uint8_t *wire = NULL;
	uint64_t n = 0;
	char *text;

	(void)state;
	assert_int_equal(
		compile(HEAD MAIN("64") "var x: L; var y: R;" LOAD
					"let z = subgroupMatrixMultiplyAccumulate(x, y, s); }",
			l, &p),
		PCTL_OK);
	text = pctl_program_print(p);
	assert_non_null(strstr(text, "TILE_LOAD_ROWS %"));
	assert_non_null(strstr(text, "left<i8, 32, 16>"));
	assert_non_null(strstr(text, "right<i8, 16, 32>"));
	assert_non_null(strstr(text, " : result<i32, 16, 16>"));
	free(text);
	assert_int_equal(pctl_program_encode(p, NULL, &wire, &n), PCTL_OK);
	assert_int_equal(pctl_program_decode(wire, n, NULL, &again), PCTL_OK);
	assert_int_equal(again->caps, p->caps);
	free(wire);
	pctl_program_destroy(again);
	pctl_program_destroy(p);
	pctl_diag_list_destroy(l);
}

/* ---- the rules of the IR ---- */

typedef struct tile {
	uint8_t scalar;
	uint32_t role, columns, rows;
} tile;

enum { F32 = PCTL_SCALAR_F32, F64 = PCTL_SCALAR_F64 };
enum { I8 = PCTL_SCALAR_I8, U8 = PCTL_SCALAR_U8, I32 = PCTL_SCALAR_I32, U32 = PCTL_SCALAR_U32 };
enum { LEFT = PCTL_TILE_LEFT, RIGHT = PCTL_TILE_RIGHT, RESULT = PCTL_TILE_RESULT };

static pctl_status finished(sample *s)
{
	pctl_program *p = NULL;
	pctl_status status;

	sample_entry(s, pctl_build_function_end(s->b), 64, 1, 1);
	status = pctl_builder_finish(s->b, NULL, &p);
	pctl_builder_destroy(s->b);
	pctl_program_destroy(p);
	return status;
}

static uint32_t zero(sample *s, const tile *t)
{
	return pctl_build_inst(s->b, PCTL_OP_ZERO,
			       pctl_build_tile(s->b, t->scalar, t->role, t->columns, t->rows), NULL,
			       0);
}

/* The verdict on a product of three zero tiles. */
static pctl_status product(tile a, tile b, tile c)
{
	uint32_t words[3];
	sample s;

	sample_begin(&s);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	words[0] = zero(&s, &a);
	words[1] = zero(&s, &b);
	words[2] = zero(&s, &c);
	pctl_build_inst(s.b, PCTL_OP_TILE_MULTIPLY_ADD,
			pctl_build_tile(s.b, c.scalar, c.role, c.columns, c.rows), words, 3);
	return finished(&s);
}

static void test_wgsl_tile__products(void **state)
{
	const tile l = {I8, LEFT, 32, 16}, r = {I8, RIGHT, 8, 32}, c = {I32, RESULT, 8, 16};

	(void)state;
	assert_int_equal(product(l, r, c), PCTL_OK);
	assert_int_equal(product((tile){U8, LEFT, 16, 8}, (tile){U8, RIGHT, 16, 16},
				 (tile){U32, RESULT, 16, 8}),
			 PCTL_OK);
	assert_int_equal(product((tile){U8, LEFT, 32, 16}, r, c), PCTL_E_INVALID);
	assert_int_equal(product((tile){I8, LEFT, 16, 16}, r, c), PCTL_E_INVALID);
	assert_int_equal(product((tile){I8, LEFT, 32, 8}, r, c), PCTL_E_INVALID);
	assert_int_equal(product(l, (tile){I8, RIGHT, 16, 32}, c), PCTL_E_INVALID);
	assert_int_equal(product(l, r, (tile){U32, RESULT, 8, 16}), PCTL_E_INVALID);
	assert_int_equal(product(r, l, c), PCTL_E_INVALID);
	assert_int_equal(product((tile){I8, LEFT, 64, 16}, r, c), PCTL_E_INVALID);
	assert_int_equal(product((tile){I8, LEFT, 32, 24}, r, c), PCTL_E_INVALID);
	assert_int_equal(product((tile){I8, 4, 32, 16}, r, c), PCTL_E_INVALID);
	assert_int_equal(product((tile){PCTL_SCALAR_F16, LEFT, 32, 16}, r, c), PCTL_E_INVALID);
	assert_int_equal(product((tile){F32, LEFT, 4, 8}, (tile){F32, RIGHT, 8, 4},
				 (tile){F64, RESULT, 8, 8}),
			 PCTL_OK);
	assert_int_equal(product((tile){F64, LEFT, 16, 16}, (tile){F64, RIGHT, 8, 16},
				 (tile){F64, RESULT, 8, 16}),
			 PCTL_OK);
	assert_int_equal(product((tile){F32, LEFT, 16, 16}, (tile){F64, RIGHT, 8, 16},
				 (tile){F64, RESULT, 8, 16}),
			 PCTL_E_INVALID);
	assert_int_equal(product((tile){F32, LEFT, 16, 16}, (tile){F32, RIGHT, 16, 16},
				 (tile){F64, RESULT, 16, 16}),
			 PCTL_E_INVALID);
	assert_int_equal(product((tile){F32, LEFT, 32, 16}, (tile){F32, RIGHT, 8, 32},
				 (tile){F64, RESULT, 8, 16}),
			 PCTL_E_INVALID);
	assert_int_equal(product((tile){F32, LEFT, 16, 16}, (tile){F32, RIGHT, 8, 16},
				 (tile){F32, RESULT, 8, 16}),
			 PCTL_E_INVALID);
	assert_int_equal(product((tile){I8, LEFT, 16, 16}, (tile){I8, RIGHT, 8, 16},
				 (tile){F64, RESULT, 8, 16}),
			 PCTL_E_INVALID);
}

/* A load and a store at a variable of elements of `elem`; offset of type `offset`. */
static pctl_status moved(tile t, uint8_t elem, uint8_t offset, uint32_t space, int stores,
			 int is_read)
{
	uint32_t words[4], n = 0, type, array;
	pctl_var v = {.space = (uint8_t)space, .access = PCTL_ACCESS_READ_WRITE};
	sample s;

	sample_begin(&s);
	array = pctl_build_array(s.b, pctl_build_scalar(s.b, elem), 64, 0);
	v.type = array;
	if (is_read)
		v.access = PCTL_ACCESS_READ;
	s.data = pctl_build_var(s.b, &v, "data");
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	type = pctl_build_tile(s.b, t.scalar, t.role, t.columns, t.rows);
	if (stores)
		words[n++] = zero(&s, &t);
	words[n] = pctl_build_const(s.b, pctl_build_scalar(s.b, offset), 1);
	words[n + 1] = words[n];
	words[n + 2] = s.data;
	pctl_build_inst(s.b, stores ? PCTL_OP_TILE_STORE_COLUMNS : PCTL_OP_TILE_LOAD_ROWS,
			stores ? 0 : type, words, n + 3);
	return finished(&s);
}

static void test_wgsl_tile__memory(void **state)
{
	const tile l = {I8, LEFT, 32, 16}, c = {U32, RESULT, 8, 16};
	const tile f = {F32, LEFT, 16, 16}, d = {F64, RESULT, 8, 16};
	const uint32_t storage = PCTL_SPACE_STORAGE;

	(void)state;
	assert_int_equal(moved(l, I32, U32, storage, 0, 1), PCTL_OK);
	assert_int_equal(moved(l, I32, U32, PCTL_SPACE_WORKGROUP, 0, 0), PCTL_OK);
	assert_int_equal(moved(c, U32, U32, storage, 1, 0), PCTL_OK);
	assert_int_equal(moved(c, U32, U32, storage, 1, 1), PCTL_E_INVALID);
	assert_int_equal(moved(l, I32, U32, storage, 1, 0), PCTL_E_INVALID);
	assert_int_equal(moved(l, U32, U32, storage, 0, 0), PCTL_E_INVALID);
	assert_int_equal(moved(l, I32, I32, storage, 0, 0), PCTL_E_INVALID);
	assert_int_equal(moved(l, I32, U32, PCTL_SPACE_PRIVATE, 0, 0), PCTL_E_INVALID);
	assert_int_equal(moved(c, PCTL_SCALAR_U64, U32, storage, 0, 0), PCTL_E_INVALID);
	assert_int_equal(moved(f, F32, U32, storage, 0, 1), PCTL_OK);
	assert_int_equal(moved(f, U32, U32, storage, 0, 1), PCTL_OK);
	assert_int_equal(moved(f, I32, U32, storage, 0, 1), PCTL_E_INVALID);
	assert_int_equal(moved(f, F64, U32, storage, 0, 1), PCTL_E_INVALID);
	assert_int_equal(moved(f, F32, U32, storage, 1, 0), PCTL_E_INVALID);
	assert_int_equal(moved(d, F64, U32, PCTL_SPACE_WORKGROUP, 1, 0), PCTL_OK);
	assert_int_equal(moved(d, PCTL_SCALAR_U64, U32, storage, 1, 0), PCTL_OK);
	assert_int_equal(moved(d, F32, U32, storage, 0, 1), PCTL_E_INVALID);
	assert_int_equal(moved(d, PCTL_SCALAR_I64, U32, storage, 1, 0), PCTL_E_INVALID);
}

/* A tile in an array, in a struct, in private memory, chosen by a lane. */
static void test_wgsl_tile__stands_alone(void **state)
{
	(void)state;
	for (uint32_t what = 0; what < 4; what++) {
		pctl_var v = {.space = PCTL_SPACE_PRIVATE, .access = PCTL_ACCESS_READ_WRITE};
		const tile t = {I32, RESULT, 16, 16};
		uint32_t type, words[3];
		sample s;

		sample_begin(&s);
		type = pctl_build_tile(s.b, t.scalar, t.role, t.columns, t.rows);
		v.type = type;
		if (what == 2)
			pctl_build_var(s.b, &v, "data");
		pctl_build_function_begin(s.b, "main", NULL, 0, 0);
		if (what == 0) {
			pctl_build_local(s.b, "x", pctl_build_array(s.b, type, 2, 0));
		} else if (what == 1) {
			const pctl_member_spec m = {
				.name = "m", .type = type, .offset = PCTL_OFFSET_AUTO};

			pctl_build_local(s.b, "x", pctl_build_struct(s.b, &m, 1));
		} else if (what == 3) {
			words[0] =
				pctl_build_inst(s.b, PCTL_OP_ZERO,
						pctl_build_scalar(s.b, PCTL_SCALAR_BOOL), NULL, 0);
			words[1] = words[2] = zero(&s, &t);
			pctl_build_inst(s.b, PCTL_OP_SELECT, type, words, 3);
		}
		assert_int_equal(finished(&s), PCTL_E_INVALID);
	}
}

PCTL_TESTS_MAIN(PCTL_TEST(test_wgsl_tile__where_they_may_stand),
		PCTL_TEST(test_wgsl_tile__what_is_proved),
		PCTL_TEST(test_wgsl_tile__floats_are_strict),
		PCTL_TEST(test_wgsl_tile__print_and_wire), PCTL_TEST(test_wgsl_tile__products),
		PCTL_TEST(test_wgsl_tile__memory), PCTL_TEST(test_wgsl_tile__stands_alone))
