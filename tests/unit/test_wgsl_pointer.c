/* Pointer parameters: the program of a text with them against that of a text written in place by hand, what
 * is proved of both, where instructions come from, and the growth of copies. */
#include <stdlib.h>
#include <time.h>

#include "compiler/analysis/analyse.h"
#include "foundation/diag/diag.h"
#include "main.h"
#include "compiler/wgsl/wgsl.h"

#define HEAD                                                                          \
	"struct S { x: u32, y: array<u32, 4> }\n"                                     \
	"@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n"           \
	"@group(0) @binding(1) var<storage, read_write> at: array<atomic<u32>>;\n"    \
	"var<workgroup> wg: array<S, 8>; var<private> pr: array<array<u32, 4>, 4>;\n" \
	"var<private> pk: u32;\n"
#define MAIN                                                                                 \
	"@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) g: vec3<u32>,\n" \
	"@builtin(local_invocation_index) i: u32) {\n"

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

/* The entry point as it is printed, without the numbers of functions. */
static char *entry_of(const pctl_program *p)
{
	char *all = pctl_program_print(p), *at = all, *next, *out;

	assert_non_null(all);
	while ((next = strstr(at + 1, "\nfunction#")) != NULL)
		at = next;
	out = strdup(strchr(at + 1, '\n'));
	free(all);
	return out;
}

static void same_entry(const char *functions, const char *body, const char *in_place)
{
	char with[8192], without[8192], *a, *b;
	pctl_program *p, *q;

	snprintf(with, sizeof(with), HEAD "%s\n" MAIN "%s}\n", functions, body);
	snprintf(without, sizeof(without), HEAD MAIN "%s}\n", in_place);
	p = compile(with);
	q = compile(without);
	a = entry_of(p);
	b = entry_of(q);
	assert_string_equal(a, b);
	free(a);
	free(b);
	pctl_program_destroy(p);
	pctl_program_destroy(q);
}

static void test_wgsl_pointer__of_a_local_is_written_in_place(void **state)
{
	(void)state;
	same_entry("fn add(p: ptr<function, u32>, n: u32) { *p += n; }",
		   "var a: array<u32, 4>; add(&a[g.x], g.y); add(&a[2], 3u);\n",
		   "var a: array<u32, 4>; a[g.x] += g.y; a[2] += 3u;\n");
	same_entry(
		"fn next(p: ptr<function, vec2<u32>>) -> u32 { p.x = p.x * 5u + p.y; return p.x; }",
		"let k = g.x; var s: vec2<u32>; out[k] = next(&s) + next(&s);\n",
		"let k = g.x; var s: vec2<u32>; s.x = s.x * 5u + s.y; let a = s.x; s.x = s.x * 5u "
		"+ s.y; let b = "
		"s.x; out[k] = a + b;\n");
	/* An index belongs to the pointer, not to its use; and a pointer goes through functions. */
	same_entry("fn put(p: ptr<function, u32>) { *p = 7u; }\n"
		   "fn part(p: ptr<function, S>, n: ptr<function, u32>) { let q = &p.y[*n]; *n = "
		   "9u; put(q); }",
		   "var s: S; var n: u32; part(&s, &n);\n",
		   "var s: S; var n: u32; let k = n; n = 9u; s.y[k] = 7u;\n");
	/* A condition that is plain in place is plain here, so that the loop's bound is seen. */
	same_entry("fn f(p: ptr<function, array<u32, 4>>) { for (var k = 0u; k < 4u && p[1] != 0u; "
		   "k++) { p[k] = "
		   "1u; } }",
		   "var a: array<u32, 4>; f(&a);\n",
		   "var a: array<u32, 4>; for (var k = 0u; k < 4u && a[1] != 0u; k++) { a[k] = 1u; "
		   "}\n");
}

static uint32_t clones(const char *functions, const char *body)
{
	char text[8192];
	pctl_program *p;
	uint32_t n;

	snprintf(text, sizeof(text), HEAD "%s\n" MAIN "%s}\n", functions, body);
	p = compile(text);
	n = p->n_functions - 2; /* spec and the entry point */
	pctl_program_destroy(p);
	return n;
}

static void test_wgsl_pointer__of_the_module_makes_a_clone_for_each_way(void **state)
{
	const char *f = "fn f(p: ptr<private, array<u32, 4>>, n: u32) { p[n] = 1u; }";
	const char *g = "fn f(p: ptr<storage, array<u32>, read_write>) { p[0] = 1u; }\n"
			"fn h(p: ptr<storage, array<u32>, read_write>) { f(p); f(p); }";

	(void)state;
	assert_int_equal(clones(f, "f(&pr[g.x], 1u); f(&pr[g.y], 2u);"), 1);
	assert_int_equal(clones(f, "f(&pr[1], 1u); f(&pr[1], 2u); f(&pr[2], 2u);"), 2);
	assert_int_equal(clones(f, "f(&pr[1], 1u); f(&pr[g.x], 2u); f(&pr[i32(g.x)], 2u);"), 3);
	assert_int_equal(clones(f, ""), 0);
	assert_int_equal(clones(g, "h(&out);"), 2);
}

/* ---- what is proved ---- */

struct verdict {
	uint32_t race, barriers, order, class, loops;
	uint64_t turns;
	uint32_t checked; /* chain words of memory instructions that are not proved in bounds */
};

static struct verdict judge(const char *text)
{
	const uint32_t groups[3] = {4, 1, 1};
	const pctl_analysis_query query = {.groups = groups};
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_program *p = compile(text);
	struct verdict v = {0};
	pctl_analysis *a;

	assert_int_equal(pctl_program_analyse(p, &query, pctl_diag_list_call(l), &a), PCTL_OK);
	v = (struct verdict){a->race,
			     a->barriers_uniform,
			     a->order_dependent,
			     a->determinism,
			     a->n_loops,
			     a->max_loop_iterations,
			     0};
	for (uint32_t i = 0; i < p->n_insts; i++) {
		const pctl_function *fn = p->functions;
		pctl_place place;

		while (i >= fn->first_inst + fn->n_insts)
			fn++;
		if (!pctl_place_get(p, fn, &p->insts[i], &place))
			continue;
		for (uint32_t k = 0; k < place.n_chain; k++)
			v.checked += !(a->proven[i] & 1u << k);
	}
	pctl_analysis_destroy(a);
	pctl_program_destroy(p);
	pctl_diag_list_destroy(l);
	return v;
}

static void same_verdict(const char *functions, const char *body, const char *in_place,
			 uint32_t race)
{
	char with[8192], without[8192];
	struct verdict a, b;

	snprintf(with, sizeof(with), HEAD "%s\n" MAIN "%s}\n", functions, body);
	snprintf(without, sizeof(without), HEAD MAIN "%s}\n", in_place);
	a = judge(with);
	b = judge(without);
	assert_int_equal(b.race, race);
	/* One clone for two calls has what both have in place. */
	assert_true(a.checked <= b.checked);
	a.checked = b.checked;
	assert_memory_equal(&a, &b, sizeof(a));
}

static void test_wgsl_pointer__proofs_are_those_of_text_in_place(void **state)
{
	(void)state;
	same_verdict("fn put(p: ptr<storage, array<u32>, read_write>, k: u32) { if (k < "
		     "arrayLength(p)) { p[k] = "
		     "k; } }",
		     "put(&out, g.x);\n", "if (g.x < arrayLength(&out)) { out[g.x] = g.x; }\n",
		     PCTL_PROOF_PROVEN);
	same_verdict("fn put(p: ptr<storage, array<u32>, read_write>) { p[0] = 1u; }",
		     "put(&out);\n", "out[0] = 1u;\n", PCTL_PROOF_UNPROVEN);
	same_verdict("fn put(p: ptr<workgroup, u32>, v: u32) { *p = v; }", "put(&wg[0].x, i);\n",
		     "wg[0].x = i;\n", PCTL_PROOF_REFUTED);
	same_verdict("fn put(p: ptr<workgroup, S>, v: u32) { p.y[v & 3u] = v; }\n"
		     "fn sum(p: ptr<workgroup, array<S, 8>>, k: u32) -> u32 { var s = 0u; for (var "
		     "j = 0u; j < "
		     "4u; j++) { s += p[k].y[j]; } return s; }",
		     "put(&wg[i], g.x); workgroupBarrier(); out[g.x] = sum(&wg, (i + 1u) % 8u);\n",
		     "wg[i].y[g.x & 3u] = g.x; workgroupBarrier(); var s = 0u; for (var j = 0u; j "
		     "< 4u; j++) { "
		     "s += wg[(i + 1u) % 8u].y[j]; } out[g.x] = s;\n",
		     PCTL_PROOF_PROVEN);
	/* What a call in a loop leaves alone is known behind it. */
	same_verdict("fn count(p: ptr<storage, atomic<u32>, read_write>) { atomicAdd(p, 1u); }",
		     "pk = i; for (var j = 0u; j < 4u; j++) { count(&at[j]); } wg[pk].x = g.x;\n",
		     "pk = i; for (var j = 0u; j < 4u; j++) { atomicAdd(&at[j], 1u); } wg[pk].x = "
		     "g.x;\n",
		     PCTL_PROOF_PROVEN);
	same_verdict(
		"fn away() { pk = 0u; }\n"
		"fn count(p: ptr<storage, atomic<u32>, read_write>) { atomicAdd(p, 1u); away(); }",
		"pk = i; for (var j = 0u; j < 4u; j++) { count(&at[j]); } wg[pk].x = g.x;\n",
		"pk = i; for (var j = 0u; j < 4u; j++) { atomicAdd(&at[j], 1u); pk = 0u; } "
		"wg[pk].x = g.x;\n",
		PCTL_PROOF_UNPROVEN);
	/* The barrier is inside. */
	same_verdict(
		"fn step(p: ptr<workgroup, array<S, 8>>, k: u32) { let v = p[(k + 1u) % 8u].x; "
		"workgroupBarrier(); p[k].x = v; workgroupBarrier(); }",
		"wg[i].x = g.x; workgroupBarrier(); step(&wg, i); step(&wg, i); out[g.x] = "
		"wg[i].x;\n",
		"wg[i].x = g.x; workgroupBarrier(); let v = wg[(i + 1u) % 8u].x; "
		"workgroupBarrier(); "
		"wg[i].x = v; workgroupBarrier(); let w = wg[(i + 1u) % 8u].x; workgroupBarrier(); "
		"wg[i].x = w; workgroupBarrier(); out[g.x] = wg[i].x;\n",
		PCTL_PROOF_PROVEN);
	same_verdict("fn count(p: ptr<storage, atomic<u32>, read_write>) { atomicAdd(p, 1u); }",
		     "count(&at[g.x % 3u]);\n", "atomicAdd(&at[g.x % 3u], 1u);\n",
		     PCTL_PROOF_PROVEN);
	same_verdict("fn count(p: ptr<storage, atomic<u32>, read_write>) -> u32 { return "
		     "atomicAdd(p, 1u); }",
		     "out[g.x] = count(&at[0]);\n", "out[g.x] = atomicAdd(&at[0], 1u);\n",
		     PCTL_PROOF_PROVEN);
	same_verdict("fn fill(p: ptr<function, array<u32, 4>>, v: u32) { for (var j = 0u; j < 4u; "
		     "j++) { p[j] = "
		     "v; } }",
		     "var a: array<u32, 4>; fill(&a, g.x); fill(&a, g.y); out[g.x] = a[i & 3u];\n",
		     "var a: array<u32, 4>; for (var j = 0u; j < 4u; j++) { a[j] = g.x; } for (var "
		     "j = 0u; j < "
		     "4u; j++) { a[j] = g.y; } out[g.x] = a[i & 3u];\n",
		     PCTL_PROOF_PROVEN);
}

/* ---- origins ---- */

static void test_wgsl_pointer__instructions_come_from_the_text_they_are_of(void **state)
{
	pctl_program *p = compile("fn f(p: ptr<function, u32>) {\n*p *= 3u;\n}\n" HEAD MAIN
				  "var x = g.x;\nf(&x);\nout[g.x] = x; }\n");
	uint32_t of_f = 0;

	(void)state;
	for (uint32_t i = 0; i < p->n_insts; i++)
		of_f += p->insts[i].op == PCTL_OP_MUL && p->origins[i].line == 2;
	assert_int_equal(of_f, 1);
	pctl_program_destroy(p);
}

/* ---- growth ---- */

static uint32_t first_code(const char *text, uint32_t *line)
{
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_wgsl_options o = {.file = "test.wgsl"};
	pctl_program *p;
	uint32_t code = 0;

	pctl_wgsl_compile(text, strlen(text), &o, pctl_diag_list_call(l), &p);
	if (pctl_diag_list_count(l)) {
		code = pctl_diag_list_at(l, 0)->code;
		*line = pctl_diag_list_at(l, 0)->pos.line;
	}
	pctl_program_destroy(p);
	pctl_diag_list_destroy(l);
	return code;
}

/* n functions that call the one before with `call`, whose %u is its number. */
static char *chain(uint32_t n, const char *param, const char *first, const char *call,
		   const char *entry)
{
	const size_t size = 400 + (size_t)n * 300;
	char *text = malloc(size);
	size_t at;

	assert_non_null(text);
	at = (size_t)snprintf(text, size, "var<private> pr: array<u32, 2>;\nfn f0(p: %s) { %s }\n",
			      param, first);
	for (uint32_t i = 1; i < n; i++) {
		at += (size_t)snprintf(text + at, size - at, "fn f%u(p: %s) { ", i, param);
		for (const char *c = call; *c; c++)
			at += (size_t)snprintf(text + at, size - at, *c == '#' ? "f%u" : "%c",
					       *c == '#' ? i - 1 : (uint32_t)*c);
		at += (size_t)snprintf(text + at, size - at, " }\n");
	}
	snprintf(text + at, size - at,
		 "@compute @workgroup_size(1) fn main() { var x: u32; f%u(%s); }\n", n - 1, entry);
	return text;
}

static void expect_code(char *text, uint32_t code)
{
	const clock_t began = clock();
	uint32_t line = 0;

	assert_int_equal(first_code(text, &line), code);
	assert_true(!code || line > 1);
	assert_true((clock() - began) / CLOCKS_PER_SEC <
		    60); /* minutes of a sanitizer, not hours */
	free(text);
}

static void test_wgsl_pointer__copies_that_double_are_refused(void **state)
{
	const char *local = "ptr<function, u32>", *owned = "ptr<private, u32>";

	(void)state;
	expect_code(chain(8, local, "*p += 1u;", "#(p); #(p);", "&x"), 0);
	expect_code(chain(40, local, "*p += 1u;", "#(p); #(p);", "&x"), PC2109_WGSL_PROGRAM_SIZE);
	expect_code(chain(40, local, "", "#(p); #(p);", "&x"), PC2109_WGSL_PROGRAM_SIZE);
	/* One clone a function, whatever the number of calls. */
	expect_code(chain(40, owned, "*p += 1u;", "#(p); #(p);", "&pr[1]"), 0);
}

static void test_wgsl_pointer__calls_inside_each_other_have_a_depth(void **state)
{
	(void)state;
	expect_code(chain(100, "ptr<function, u32>", "*p += 1u;", "#(p);", "&x"), 0);
	expect_code(chain(20000, "ptr<function, u32>", "*p += 1u;", "#(p);", "&x"),
		    PC2105_WGSL_NESTING);
	expect_code(chain(20000, "ptr<private, u32>", "*p += 1u;", "#(p);", "&pr[0]"),
		    PC2105_WGSL_NESTING);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_wgsl_pointer__of_a_local_is_written_in_place),
		PCTL_TEST(test_wgsl_pointer__of_the_module_makes_a_clone_for_each_way),
		PCTL_TEST(test_wgsl_pointer__proofs_are_those_of_text_in_place),
		PCTL_TEST(test_wgsl_pointer__instructions_come_from_the_text_they_are_of),
		PCTL_TEST(test_wgsl_pointer__copies_that_double_are_refused),
		PCTL_TEST(test_wgsl_pointer__calls_inside_each_other_have_a_depth))
