/* What texts become: the instructions of the program, named one by one. The expected lists were
 * written by hand from the meaning of the text; the printer has no part in it. */
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "main.h"
#include "compiler/eval/eval.h"
#include "compiler/wgsl/wgsl.h"

#define HEAD                                                              \
	"@group(0) @binding(0) var<storage, read_write> a: array<u32>;\n" \
	"@group(0) @binding(1) var<storage, read> v: array<vec4<u32>>;\n" \
	"@group(0) @binding(2) var<uniform> n: u32;\n"                    \
	"@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3<u32>) {\n"

static pctl_program *compile(const char *text)
{
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_wgsl_options o = {.file = "test.wgsl"};
	pctl_program *p;
	pctl_status status = pctl_wgsl_compile(text, strlen(text), &o, pctl_diag_list_call(l), &p);

	if (status != PCTL_OK) {
		pctl_diag_list_source(l, "test.wgsl", text, strlen(text));
		pctl_diag_render_text(l, stderr, 0);
	}
	assert_int_equal(status, PCTL_OK);
	pctl_diag_list_destroy(l);
	return p;
}

/* The opcodes of the last function in `out`, constants and inputs left out. */
static void opcodes(const pctl_program *p, char *out, size_t size)
{
	const pctl_function *f = &p->functions[p->n_functions - 1];
	uint32_t i;
	size_t n = 0;

	*out = 0;
	for (i = 0; i < f->n_insts; i++) {
		uint16_t op = p->insts[f->first_inst + i].op;

		if (op == PCTL_OP_CONST || op == PCTL_OP_BUILTIN || op == PCTL_OP_ZERO)
			continue;
		n += (size_t)snprintf(out + n, size - n, "%s ", pctl_op_get(op)->name);
	}
}

static void expect(const char *body, const char *want)
{
	char text[8192], found[4096];
	pctl_program *p;

	snprintf(text, sizeof(text), HEAD "%s}\n", body);
	p = compile(text);
	opcodes(p, found, sizeof(found));
	assert_string_equal(found, want);
	pctl_program_destroy(p);
}

static void test_wgsl_lower__a_kernel_has_no_redundant_instruction(void **state)
{
	(void)state;
	expect("if (g.x < arrayLength(&a)) { a[g.x] = a[g.x] * 2u; }\n",
	       "EXTRACT ARRAY_LENGTH LT IF LOAD MUL STORE END_IF ");
	expect("a[g.x] += v[g.y].z;\n", "EXTRACT EXTRACT LOAD LOAD ADD STORE ");
}

static void test_wgsl_lower__vectors_move_whole(void **state)
{
	(void)state;
	expect("let w = v[g.x]; a[0] = dot(w, w.wzyx);\n", "EXTRACT LOAD SHUFFLE DOT STORE ");
	expect("let w = v[g.x] * 3u + v[g.y]; a[0] = w.x;\n",
	       "EXTRACT SPLAT EXTRACT LOAD MUL LOAD ADD EXTRACT STORE ");
}

static void test_wgsl_lower__loops_keep_their_bound_in_sight(void **state)
{
	(void)state;
	expect("for (var i = 0u; i < 8u; i++) { a[i] = i; }\n",
	       "STORE LOOP LOAD LT LOOP_TEST LOAD LOAD STORE CONTINUING LOAD ADD STORE END_LOOP ");
	/* A checked access behind && is not made when the bound fails. */
	expect("for (var i = 0u; i < 8u && a[i] != 0u; i++) { }\n",
	       "STORE LOOP LOAD LT LOOP_TEST LOAD LOAD NE NOT IF BREAK END_IF "
	       "CONTINUING LOAD ADD STORE END_LOOP ");
	expect("for (var i = 0u; i < 8u && i < n; i++) { continue; }\n",
	       "STORE LOOP LOAD LT LOAD LOAD LT AND LOOP_TEST CONTINUE CONTINUING LOAD ADD STORE "
	       "END_LOOP ");
}

static void test_wgsl_lower__logic_is_eager_only_where_it_cannot_be_seen(void **state)
{
	(void)state;
	expect("if (g.x < n && g.y < 4u) { a[0] = 1u; }\n",
	       "EXTRACT EXTRACT LOAD LT LT AND IF STORE END_IF ");
	expect("if (g.x < n || a[g.x] == 0u) { a[0] = 1u; }\n",
	       "EXTRACT LOAD LT STORE NOT IF LOAD EQ STORE END_IF LOAD IF STORE END_IF ");
}

static void test_wgsl_lower__text_behind_a_jump_is_left_out(void **state)
{
	(void)state;
	expect("a[0] = 1u; return; a[1] = 2u;\n", "STORE RETURN ");
	expect("if (n > 1u) { return; } else { return; } a[1] = 2u;\n",
	       "LOAD GT IF RETURN ELSE RETURN END_IF ");
	expect("switch n { case 1u: { return; } default: { break; } } a[1] = 2u;\n",
	       "LOAD SWITCH CASE RETURN CASE BREAK END_SWITCH STORE ");
}

static void test_wgsl_lower__constants_stand_once_at_the_start(void **state)
{
	const char *text = HEAD "a[0] = 7u; a[7] = 7u; for (var i = 0u; i < 7u; i += 7u) {} }\n";
	const pctl_function *f;
	pctl_program *p = compile(text);
	uint32_t i, sevens = 0, code = 0;

	(void)state;
	f = &p->functions[p->n_functions - 1];
	for (i = 0; i < f->n_insts; i++) {
		const pctl_inst *in = &p->insts[f->first_inst + i];

		if (in->op != PCTL_OP_CONST) {
			code = 1;
			continue;
		}
		assert_false(code);
		sevens += pctl_arg(p, in, 0) == 7 && p->types[in->type].scalar == PCTL_SCALAR_U32;
	}
	assert_int_equal(sevens, 1);
	pctl_program_destroy(p);
}

static void test_wgsl_lower__constant_tables_are_looked_up_or_stored_once(void **state)
{
	(void)state;
	expect("a[0] = array(1u, 2u)[g.x]; let t = array(3u, 4u, 5u); a[1] = t[g.y] + t[g.x];\n",
	       "EXTRACT COMPOSE EXTRACT STORE LOOKUP STORE LOAD LOAD ADD STORE ");
	expect("const t = array(vec2(1u), vec2(2u)); a[0] = t[g.x].y + t[g.y].x;\n",
	       "SPLAT SPLAT COMPOSE EXTRACT EXTRACT STORE LOAD EXTRACT LOAD EXTRACT ADD STORE ");
}

static void test_wgsl_lower__functions_are_reached_and_callee_first(void **state)
{
	const char *text = "fn unused() { } fn b(x: u32) -> u32 { return c(x) + 1u; }\n"
			   "fn c(x: u32) -> u32 { return x; }\n" HEAD "a[0] = b(n); }\n";
	pctl_program *p = compile(text);

	(void)state;
	assert_int_equal(p->n_functions, 4);
	assert_string_equal(pctl_str(p, p->functions[1].name), "c");
	assert_string_equal(pctl_str(p, p->functions[2].name), "b");
	assert_string_equal(pctl_str(p, p->functions[3].name), "main");
	pctl_program_destroy(p);
}

static void test_wgsl_lower__origins_point_into_the_text(void **state)
{
	const char *text = "@group(0) @binding(0) var<storage, read_write> a: array<u32>;\n"
			   "@compute @workgroup_size(1) fn main() {\n"
			   "\ta[0] =\n\t\ta[1] / 3u;\n}\n";
	pctl_program *p = compile(text);
	uint32_t i, seen = 0;

	(void)state;
	assert_non_null(p->origins);
	for (i = 0; i < p->n_insts; i++) {
		if (p->insts[i].op != PCTL_OP_DIV_WGSL)
			continue;
		assert_int_equal(p->origins[i].file, 0);
		assert_int_equal(p->origins[i].line, 4);
		assert_int_equal(p->origins[i].column, 3);
		assert_int_equal(p->origins[i].end_column, 12);
		seen++;
	}
	assert_int_equal(seen, 1);
	assert_string_equal(p->origin_files[0], "test.wgsl");
	pctl_program_destroy(p);
}

static void test_wgsl_lower__overrides_and_metadata_arrive(void **state)
{
	const char *text = "//# max u.count = 64\n//# max dispatch = 8,2\n//# scale = 1000\n"
			   "struct U { other: u32, count: u32 }\n"
			   "@group(0) @binding(1) var<uniform> u: U;\n"
			   "@id(3) override W: u32 = 8;\noverride H = W * 2u;\n"
			   "var<workgroup> t: array<u32, H>;\n"
			   "@compute @workgroup_size(W, 4) fn main() { t[0] = u.count; }\n";
	pctl_program *p = compile(text);

	(void)state;
	assert_int_equal(p->n_overrides, 2);
	assert_int_equal(p->overrides[0].id, 3);
	assert_true(p->overrides[1].has_default);
	assert_int_equal(p->n_maxima, 1);
	assert_int_equal(p->maxima[0].n_path, 1);
	assert_int_equal(p->maxima[0].path[0], 1);
	assert_int_equal(p->maxima[0].value, 64);
	assert_int_equal(p->max_dispatch[0], 8);
	assert_int_equal(p->max_dispatch[1], 2);
	assert_int_equal(p->max_dispatch[2], 1);
	assert_int_equal(p->scale, 1000);
	assert_int_not_equal(p->entries[0].workgroup_size_spec[0], 0);
	assert_int_equal(p->entries[0].workgroup_size[1], 4);
	assert_int_equal(p->entries[0].workgroup_size[2], 1);
	pctl_program_destroy(p);
}

static void test_wgsl_lower__private_values_are_set_by_the_entries_that_reach_them(void **state)
{
	const char *text = "var<private> x: u32 = 5u;\nvar<private> y: u32 = 6u;\n"
			   "fn f() -> u32 { return x; }\n" HEAD "a[0] = f(); }\n";
	char found[512];
	pctl_program *p = compile(text);

	(void)state;
	opcodes(p, found, sizeof(found));
	assert_string_equal(found, "STORE CALL STORE ");
	pctl_program_destroy(p);
}

static void test_wgsl_lower__compare_exchange_gives_both_results(void **state)
{
	(void)state;
	expect("let r = atomicCompareExchangeWeak(&c, 1u, 2u); if r.exchanged { a[0] = "
	       "r.old_value; } }\n"
	       "var<workgroup> c: atomic<u32>;\nfn rest() {",
	       "ATOMIC_CAS EQ IF STORE END_IF ");
}

static void test_wgsl_lower__half_floats_lie_as_wgsl_says(void **state)
{
	static const uint32_t offsets[] = {0, 8, 16, 24, 48, 64, 66, 72, 80};
	const char *text =
		"enable f16;\n"
		"struct S { a: f16, b: vec3h, c: f32, d: mat3x3h, e: mat2x4<bf16>, f: bf16,\n"
		"  g: array<f16, 3>, h: vec4<bf16>, i: mat2x2<bf16> }\n"
		"@group(0) @binding(0) var<storage> s: S;\n"
		"@compute @workgroup_size(1) fn main() { let x = s.a; }\n";
	pctl_program *p = compile(text);
	const pctl_type *t;
	uint32_t i;

	(void)state;
	assert_int_equal(p->n_vars, 1);
	t = &p->types[p->vars[0].type];
	assert_int_equal(t->count, 9);
	for (i = 0; i < 9; i++)
		assert_int_equal(p->members[t->first_member + i].offset, offsets[i]);
	assert_int_equal(t->size, 88);
	assert_int_equal(t->align, 8);
	assert_true(p->caps & PCTL_CAP_F16);
	pctl_program_destroy(p);
}

static void test_wgsl_lower__overrides_of_floats_are_computed_in_spec(void **state)
{
	const char *text =
		"enable f16;\noverride a: f16 = 1.5;\noverride b = bf16(f32(a)) * 2 % 2;\n"
		"override c: f32;\noverride d = ldexp(clamp(c, 0, 4) / 3, 2) - sin(c);\n"
		"override e = d > 1.5 && bool(b);\noverride f = u32(c) + 1u;\n"
		"@compute @workgroup_size(1) fn main() { var x = c; if (e) { x = f32(f); } }\n";
	/* 1.5, 1, 5.5, then ldexp(4 / 3f, 2) - sin(5.5f) by Python, true, 6 */
	static const uint64_t want[] = {0x3e00, 0x3f80, 0x40b00000, 0x40c13e74, 1, 6};
	uint64_t values[256] = {0}, given[6] = {0, 0, 0x40b00000};
	const uint8_t has[6] = {0, 0, 1};
	pctl_program *p = compile(text);
	uint32_t i, missing;

	(void)state;
	assert_int_equal(p->n_overrides, 6);
	assert_true(p->functions[0].n_insts <= 256);
	assert_true(pctl_eval_spec(p, given, has, values, &missing));
	for (i = 0; i < 6; i++)
		if (i != 2)
			assert_int_equal(values[p->overrides[i].default_value], want[i]);
	pctl_program_destroy(p);
}

static void test_wgsl_lower__consensus_knows_no_lookup(void **state)
{
	const pctl_wgsl_options o = {.file = "test.wgsl", .flags = PCTL_WGSL_CONSENSUS};
	char text[2048], found[4096];
	pctl_program *p;

	(void)state;
	snprintf(text, sizeof(text), HEAD "a[0] = array(1u, 2u)[g.x]; }\n");
	assert_int_equal(pctl_wgsl_compile(text, strlen(text), &o, NULL, &p), PCTL_OK);
	opcodes(p, found, sizeof(found));
	assert_string_equal(found, "COMPOSE EXTRACT STORE LOAD STORE ");
	pctl_program_destroy(p);
}

static void test_wgsl_lower__large_tables_stay_in_memory(void **state)
{
	static char text[1 << 20];
	const uint32_t most = PCTL_LOOKUP_WORDS_MAX;
	char found[4096], *at;
	pctl_program *p;
	uint32_t i, k;

	(void)state;
	for (k = 0; k < 2; k++) {
		at = text + sprintf(text, HEAD "const t = array(1u");
		for (i = 1; i < most + k; i++)
			at += sprintf(at, ", %u", i);
		sprintf(at, "); a[0] = t[g.x]; }\n");
		p = compile(text);
		opcodes(p, found, sizeof(found));
		assert_string_equal(found, k ? "COMPOSE EXTRACT STORE LOAD STORE "
					     : "EXTRACT LOOKUP STORE ");
		pctl_program_destroy(p);
	}
}

static void test_wgsl_lower__tables_hold_whole_words(void **state)
{
	const char *text = "@group(0) @binding(0) var<storage, read_write> a: array<u32>;\n"
			   "const t = array(1.5lf, -0.0, 3);\nconst u = array(1.5, -2);\n"
			   "@compute @workgroup_size(1) fn main() {\n"
			   "\ta[0] = bitcast<vec2u>(t[a[1]]).x + bitcast<u32>(u[a[2]]);\n}\n";
	static const uint32_t wide[] = {0, 0x3ff80000, 0, 0x80000000, 0, 0x40080000};
	static const uint32_t narrow[] = {0x3fc00000, 0xc0000000};
	const pctl_wgsl_options o = {.file = "test.wgsl", .flags = PCTL_WGSL_NATIVE};
	uint32_t i, k, seen = 0;
	pctl_program *p;

	(void)state;
	assert_int_equal(pctl_wgsl_compile(text, strlen(text), &o, NULL, &p), PCTL_OK);
	for (i = 0; i < p->n_insts; i++) {
		const pctl_inst *in = &p->insts[i];
		const uint32_t *words = in->n_args == 7 ? wide : narrow;

		if (in->op != PCTL_OP_LOOKUP)
			continue;
		seen += in->n_args;
		for (k = 1; k < in->n_args; k++)
			assert_int_equal(pctl_arg(p, in, k), words[k - 1]);
	}
	assert_int_equal(seen, 7 + 3);
	assert_int_equal(p->caps & PCTL_CAP_STRICT_FLOAT, 0);
	pctl_program_destroy(p);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_wgsl_lower__half_floats_lie_as_wgsl_says),
		PCTL_TEST(test_wgsl_lower__overrides_of_floats_are_computed_in_spec),
		PCTL_TEST(test_wgsl_lower__consensus_knows_no_lookup),
		PCTL_TEST(test_wgsl_lower__large_tables_stay_in_memory),
		PCTL_TEST(test_wgsl_lower__tables_hold_whole_words),
		PCTL_TEST(test_wgsl_lower__a_kernel_has_no_redundant_instruction),
		PCTL_TEST(test_wgsl_lower__vectors_move_whole),
		PCTL_TEST(test_wgsl_lower__loops_keep_their_bound_in_sight),
		PCTL_TEST(test_wgsl_lower__logic_is_eager_only_where_it_cannot_be_seen),
		PCTL_TEST(test_wgsl_lower__text_behind_a_jump_is_left_out),
		PCTL_TEST(test_wgsl_lower__constants_stand_once_at_the_start),
		PCTL_TEST(test_wgsl_lower__constant_tables_are_looked_up_or_stored_once),
		PCTL_TEST(test_wgsl_lower__functions_are_reached_and_callee_first),
		PCTL_TEST(test_wgsl_lower__origins_point_into_the_text),
		PCTL_TEST(test_wgsl_lower__overrides_and_metadata_arrive),
		PCTL_TEST(test_wgsl_lower__private_values_are_set_by_the_entries_that_reach_them),
		PCTL_TEST(test_wgsl_lower__compare_exchange_gives_both_results))
