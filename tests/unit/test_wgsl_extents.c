/* Extents of programs as text: what is counted through calls, loops and jumps, that counts saturate, and that a program
 * which unfolds to more than any machine holds is measured at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/str.h"
#include "foundation/diag/diag.h"
#include "main.h"
#include "compiler/analysis/extents.h"
#include "compiler/eval/specialise.h"
#include "compiler/wgsl/wgsl.h"

static const char head[] = "@group(0) @binding(0) var<storage, read_write> r : array<u32>;\n";
static const char entry[] = "@compute @workgroup_size(1)\nfn main() {\n";

static pctl_extents measure(const char *text)
{
	const pctl_wgsl_options o = {.file = "t.wgsl"};
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_call *call = pctl_diag_list_call(l);
	pctl_program *p = NULL, *s = NULL;
	pctl_extents x;

	if (pctl_wgsl_compile(text, strlen(text), &o, call, &p) != PCTL_OK ||
	    pctl_program_specialise(p, NULL, NULL, 0, call, &s) != PCTL_OK)
		pctl_diag_render_text(l, stderr, 0);
	assert_non_null(s);
	assert_int_equal(pctl_program_extents(s, NULL, call, &x), PCTL_OK);
	pctl_program_destroy(p);
	pctl_program_destroy(s);
	pctl_diag_list_destroy(l);
	return x;
}

/* The body of main, with functions before it. */
static pctl_extents of(const char *functions, const char *body)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	pctl_extents x;
	char *text;

	pctl_str_addf(&s, "%s%s%s%s\n}\n", head, functions, entry, body);
	text = pctl_str_finish(&s);
	assert_non_null(text);
	x = measure(text);
	free(text);
	return x;
}

static uint64_t need(uint32_t extent, const char *functions, const char *body)
{
	return of(functions, body).need[extent];
}

static void turns_count_the_one_that_leaves(void **state)
{
	static const char f[] = "fn f(y : u32) -> u32 { var x = y; for (var j = 0u; j < 10u; j++) "
				"{ x += j; } return x; }\n";
	const uint32_t t = PCTL_EXTENT_TURNS;

	(void)state;
	assert_int_equal(need(t, "", "r[0] = 1u;"), 0);
	assert_int_equal(need(t, "", "for (var i = 0u; i < 7u; i++) { r[i] = 1u; }"), 8);
	assert_int_equal(need(t, "",
			      "for (var i = 0u; i < 7u; i++) { r[i] = 1u; }\n"
			      "for (var i = 0u; i < 3u; i++) { r[i] += 1u; }"),
			 12);
	assert_int_equal(need(t, "",
			      "for (var i = 0u; i < 7u; i++) { for (var j = 0u; j < 4u; j++) "
			      "{ r[j] += i; } }"),
			 8 + 7 * 5);
	/* Both sides of a condition: lanes that go together take both. */
	assert_int_equal(need(t, "",
			      "if (r[0] == 0u) { for (var i = 0u; i < 7u; i++) { r[i] = 1u; } "
			      "} else { for (var i = 0u; i < 3u; i++) { r[i] += 1u; } }"),
			 12);
	assert_int_equal(need(t, f, "r[0] = f(1u) + f(2u);"), 22);
	assert_int_equal(need(t, f, "for (var i = 0u; i < 5u; i++) { r[i] = f(i); }"), 6 + 5 * 11);
	assert_true(need(t, "",
			 "for (var i = 0u; i < 0xffffffffu; i++) { for (var j = 0u; j < "
			 "0xffffffffu; j++) { for (var k = 0u; k < 9u; k++) { r[k] += i; } } }") ==
		    UINT64_MAX);
}

static void nesting_goes_through_calls_and_jumps(void **state)
{
	static const char f[] = "fn f(y : u32) -> u32 { var x = y; if (y > 1u) { if (y > 2u) { x = "
				"3u; } } return x; }\n";
	const uint32_t n = PCTL_EXTENT_NESTING;

	(void)state;
	assert_int_equal(need(n, "", "r[0] = 1u;"), 0);
	assert_int_equal(need(n, "", "if (r[0] == 1u) { r[1] = 2u; }"), 1);
	assert_int_equal(
		need(n, "", "if (r[0] == 1u) { r[1] = 2u; }\nif (r[2] == 1u) { r[1] = 3u; }"), 1);
	assert_int_equal(need(n, f, "r[0] = f(r[1]);"), 2);
	assert_int_equal(need(n, f,
			      "for (var i = 0u; i < 3u; i++) { switch (i) { case 1u: { r[0] = "
			      "f(r[1]); } default: {} } }"),
			 4);
	/* What a conditional jump may skip stands one deeper, in every region up to its target. */
	assert_int_equal(need(n, "", "if (r[0] == 1u) { return; }\nr[1] = 2u;"), 1);
	assert_int_equal(need(n, "",
			      "if (r[0] == 1u) { return; }\nif (r[0] == 2u) { return; }\n"
			      "if (r[1] == 2u) { r[1] = 2u; }"),
			 3);
	assert_int_equal(need(n, "",
			      "switch (r[0]) { case 1u: { if (r[1] == 2u) { break; } r[2] = "
			      "3u; } default: {} }\nr[4] = 5u;"),
			 2);
	assert_int_equal(need(n, "",
			      "for (var i = 0u; i < 3u; i++) { if (r[i] == 1u) { continue; } "
			      "if (r[i] == 2u) { r[i] = 3u; } }"),
			 3);
}

static void memory_values_and_tables(void **state)
{
	static const char f[] = "fn f(i : u32) -> u32 { var a : array<u32, 16>; a[i & 15u] = i; "
				"return a[(i + 1u) & 15u]; }\n";
	const pctl_extents x = of(f, "r[0] = f(r[1]) + f(r[2]);");
	const pctl_extents v = of("struct S { a : u32, b : array<u32, 100> }\n",
				  "var s = S(); let t = s; r[0] = t.b[r[1] & 63u];");

	(void)state;
	assert_int_equal(x.need[PCTL_EXTENT_ARRAY], 64);
	assert_true(x.need[PCTL_EXTENT_FUNCTION_MEMORY] >= 128);
	assert_int_equal(x.need[PCTL_EXTENT_CALLS], 2);
	assert_true(x.need[PCTL_EXTENT_INSTRUCTIONS] > 2 * 5);
	assert_true(x.need[PCTL_EXTENT_LARGEST] < x.need[PCTL_EXTENT_INSTRUCTIONS]);
	assert_true(v.need[PCTL_EXTENT_VALUES] >= 101);
	/* Structs in structs are as large as arrays in arrays. */
	assert_int_equal(v.need[PCTL_EXTENT_ARRAY], 404);
	assert_int_equal(need(PCTL_EXTENT_PRIVATE, "var<private> p : array<u32, 8>;\n",
			      "p[r[0] & 7u] = 1u; r[0] = p[0];"),
			 32);
	assert_int_equal(need(PCTL_EXTENT_WORKGROUP, "var<workgroup> w : array<u32, 8>;\n",
			      "w[r[0] & 7u] = 1u; workgroupBarrier(); r[0] = w[0];"),
			 32);
	assert_true(need(PCTL_EXTENT_TABLES, "const t = array<u32, 5>(1u, 2u, 3u, 4u, 5u);\n",
			 "r[0] = t[r[1] % 5u];") >= 20);
	assert_true(need(PCTL_EXTENT_EXPRESSION, "",
			 "let x = r[0]; r[1] = ((x + 1u) * x + 2u) * x;") >= 4);
}

/* Each function calls the one before twice: 200 of them unfold to more than 2^200 instructions. */
static void a_bomb_is_measured_at_once(void **state)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	pctl_extent_limits l = {.most = {[PCTL_EXTENT_INSTRUCTIONS] = 65536}};
	pctl_extents x;
	char *text;

	(void)state;
	pctl_str_addf(&s, "fn f0(x : u32) -> u32 { return x * x + 1u; }\n");
	for (uint32_t k = 1; k <= 200; k++)
		pctl_str_addf(&s, "fn f%u(x : u32) -> u32 { return f%u(f%u(x)); }\n", k, k - 1,
			      k - 1);
	text = pctl_str_finish(&s);
	assert_non_null(text);
	x = of(text, "r[0] = f200(r[1]);");
	free(text);
	assert_true(x.need[PCTL_EXTENT_INSTRUCTIONS] == UINT64_MAX);
	assert_true(x.need[PCTL_EXTENT_CALLS] == UINT64_MAX);
	assert_int_equal(pctl_extents_over(&x, &l), PCTL_EXTENT_INSTRUCTIONS);
	l.most[PCTL_EXTENT_INSTRUCTIONS] = 0;
	assert_int_equal(pctl_extents_over(&x, &l), PCTL_N_EXTENTS);
}

PCTL_TESTS_MAIN(PCTL_TEST(turns_count_the_one_that_leaves),
		PCTL_TEST(nesting_goes_through_calls_and_jumps),
		PCTL_TEST(memory_values_and_tables), PCTL_TEST(a_bomb_is_measured_at_once))
