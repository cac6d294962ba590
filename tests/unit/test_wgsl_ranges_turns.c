/* Bounds of loops held against what runs: many random loops, with random limits, steps and places where the variable moves,
 * run on the reference with values of the uniforms within their declared maxima. None may make more rounds than were proven.
 * Wrong rules are planted beside the right one, and the same runs must find them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/str.h"
#include "rig.h"
#include "main.h"
#include "planted/planted.h"
#include "compiler/analysis/range.h"
#include "compiler/eval/specialise.h"
#include "compiler/wgsl/wgsl.h"

#define LOOPS 24u /* of a program */
#define LANES 4u
#define N_COUNTERS (LANES * LOOPS)
#define RUNS 4u	 /* of a program, each with other uniforms */
#define CAP 700u /* rounds after which a loop is left, proven or not */
#define PROGRAMS 850u

static const pctl_wgsl_options options = {.file = "turns.wgsl"};
static uint64_t drawn;
static uint32_t number_of[LOOPS]; /* in the analysis, which numbers those around them too */

static uint32_t draw(uint32_t n)
{
	return (uint32_t)(rig_random(13, drawn++) % n);
}

#define NAMES "a", "b", "c", "s", "near", "raw", "sraw", "zero"
#define N_NAMES 8u

static const char *const names[N_NAMES] = {NAMES};
static const uint32_t maxima[N_NAMES] = {5, 40, 300, 50, 0xfffffff0u, UINT32_MAX, UINT32_MAX, 0};

/* Named in every text, since rules for constants would not let them divide and shift. */
static const char *const numbers[] = {
	"0",  "1",   "2", "3", "4",	     "7",	   "16",	 "31",	      "33",
	"64", "250", "1", "2", "0x7fffffff", "0x80000000", "0xfffffffe", "0xffffffff"};
#define N_NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

typedef struct writer {
	pctl_str_buf s;
	uint32_t n_loops, inner, guarded;
	uint32_t n_all; /* with those that are not counted */
} writer;

static void put(writer *w, uint32_t depth);

/* op(x), (x op y) or op(x, y, z), of expressions. */
static void put_of(writer *w, const char *form, uint32_t depth, void (*part)(writer *, uint32_t))
{
	for (; *form; form++) {
		if (*form == '$')
			part(w, depth - 1);
		else
			pctl_str_add_n(&w->s, form, 1);
	}
}

static void put_condition(writer *w, uint32_t depth)
{
	static const char *const ops[] = {"<", "<=", ">", ">=", "!=", "=="};

	put(w, depth);
	pctl_str_addf(&w->s, " %s ", ops[draw(6)]);
	put(w, depth);
}

/* Of i32. */
static void put_signed(writer *w, uint32_t depth)
{
	static const char *const forms[] = {"($ + $)", "($ - $)",   "($ * $)",	 "($ / $)",
					    "($ % $)", "($ & $)",   "abs($)",	 "(-$)",
					    "sign($)", "min($, $)", "max($, $)", "clamp($, $, $)",
					    "(~$)",    "($ >> k2)", "($ << k3)", "countOneBits($)"};

	if (depth && draw(3))
		put_of(w, forms[draw(16)], depth, put_signed);
	else if (draw(3))
		pctl_str_addf(&w->s, "%s", draw(4) ? "u.s" : "u.sraw");
	else if (depth && draw(2))
		put_of(w, "i32($)", depth, put);
	else
		pctl_str_addf(&w->s, "h%u", draw(9));
}

/* Of u32. */
static void put(writer *w, uint32_t depth)
{
	static const char *const forms[] = {"($ + ($))",
					    "($ - ($))",
					    "($ * ($))",
					    "($ / ($))",
					    "($ % ($))",
					    "($ & ($))",
					    "($ | ($))",
					    "($ ^ ($))",
					    "($ >> ($))",
					    "($ << ($))",
					    "min($, $)",
					    "max($, $)",
					    "clamp($, $, $)",
					    "(~($))",
					    "countOneBits($)",
					    "min($, $)",
					    "select($, $, x > 3u)",
					    "firstTrailingBit($)",
					    "extractBits($, k2, $)",
					    "($ / ($))",
					    "($ >> ($))",
					    "half($)"};
	static const uint8_t common[] = {0, 1, 2, 2, 4, 5, 1, 0};

	if (depth && draw(4)) {
		if (draw(6))
			put_of(w, forms[draw(22)], depth, put);
		else
			put_of(w, draw(2) ? "u32($)" : "bitcast<u32>($)", depth, put_signed);
		return;
	}
	if (w->guarded && draw(3)) {
		pctl_str_add(&w->s, draw(2) ? "q" : "w");
		return;
	}
	switch (draw(9)) {
	case 0:
		pctl_str_add(&w->s, draw(2) ? "lane" : "groups.x");
		break;
	case 5:
		pctl_str_add(&w->s, draw(2) ? "arrayLength(&c)" : "arrayLength(&m.more)");
		break;
	case 1:
		pctl_str_addf(&w->s, "v%u", draw(3));
		break;
	case 2:
		pctl_str_add(&w->s, w->inner ? "j" : "pair.y");
		break;
	case 3:
	case 4:
		pctl_str_addf(&w->s, "k%u", draw(N_NUMBERS));
		break;
	default:
		pctl_str_addf(&w->s, "u.%s", names[common[draw(8)]]);
	}
}

static void put_number(writer *w, int is_signed, uint32_t depth)
{
	(is_signed ? put_signed : put)(w, depth);
}

static void put_step(writer *w, int is_signed)
{
	static const char *const ops[] = {"+", "+", "-", "*", "/", "+", "-"};
	const uint32_t kind = draw(9);

	if (kind < 2) {
		pctl_str_add(&w->s, kind ? "i++" : "i--");
	} else if (kind == 2) {
		pctl_str_addf(&w->s, "i = i %s u32(", draw(2) ? "<<" : ">>");
		put(w, draw(2));
		pctl_str_add(&w->s, ")");
	} else if (kind < 5) {
		pctl_str_addf(&w->s, "i %s= %u", ops[draw(7)], 1 + draw(3));
	} else {
		pctl_str_addf(&w->s, "i = i %s (", ops[draw(7)]);
		put_number(w, is_signed, draw(3));
		pctl_str_add(&w->s, ")");
	}
}

static void put_test(writer *w, int is_signed)
{
	static const char *const ops[] = {"<", "<=", ">", ">=", "!=", "<", "<", ">"};
	const uint32_t also = draw(6);

	if (also == 0) {
		put_condition(w, 1);
		pctl_str_add(&w->s, draw(4) ? " && " : " || ");
	}
	pctl_str_add(&w->s, draw(8) ? "i" : is_signed ? "i + 3" : "i + k3");
	pctl_str_addf(&w->s, " %s (", ops[draw(8)]);
	put_number(w, is_signed, draw(4));
	pctl_str_add(&w->s, ")");
	if (also == 1) {
		pctl_str_add(&w->s, " && ");
		put_condition(w, 1);
	}
}

static void put_loop(writer *w, int has_inner);

/* Counts a round, and leaves where there were too many: by what memory holds, of which nothing is known. */
static void put_body(writer *w, uint32_t loop, int is_signed, int steps)
{
	pctl_str_addf(&w->s, "c[at + %uu]++; if (c[at + %uu] > %uu) { break; }\n", loop, loop, CAP);
	if (draw(5) == 0) {
		pctl_str_add(&w->s, "if (");
		put_condition(w, 1);
		pctl_str_add(&w->s, ") { ");
		put_step(w, is_signed);
		pctl_str_add(&w->s, draw(3) ? "; }\n" : "; continue; }\n");
	}
	if (draw(6) == 0) {
		pctl_str_add(&w->s, "if (");
		put_test(w, is_signed);
		pctl_str_add(&w->s, ") { break; }\n");
	}
	if (draw(6) == 0) {
		pctl_str_addf(&w->s, "v%u = ", draw(3));
		put(w, 2);
		pctl_str_add(&w->s, ";\n");
	}
	if (steps) {
		put_step(w, is_signed);
		pctl_str_add(&w->s, ";\n");
	}
	if (draw(8) == 0) {
		pctl_str_add(&w->s, "x += u32(i);\n");
		put_step(w, is_signed);
		pctl_str_add(&w->s, ";\n");
	}
}

/* `done` or what it was before the loop, alone or beside a test of the variable. */
static void put_flag(writer *w, int is_signed)
{
	pctl_str_add(&w->s, draw(6) ? "!done" : "!held");
	if (draw(4) == 0) {
		pctl_str_add(&w->s, draw(4) ? " && (" : " || (");
		put_test(w, is_signed);
		pctl_str_add(&w->s, ")");
	}
}

static void set_flag(writer *w, int is_signed)
{
	if (draw(5) == 0)
		pctl_str_add(&w->s, "if (x < 9u) ");
	pctl_str_add(&w->s, "{ done = ");
	pctl_str_add(&w->s, draw(4) ? "!(" : "(");
	put_test(w, is_signed);
	pctl_str_add(&w->s, "); }\n");
}

/* One loop in a block of its own; what it made most of in one entry is kept in m. Forms: a test and a step in the header, a
 * step in the body, a way out of the body, a flag. */
static void put_loop(writer *w, int has_inner)
{
	const uint32_t loop = w->n_loops++, form = has_inner ? 0 : draw(6);
	const int is_signed = draw(4) == 0;

	number_of[loop] = w->n_all++;
	pctl_str_addf(&w->s, "{ c[at + %uu] = 0u; var i: %s = ", loop, is_signed ? "i32" : "u32");
	put_number(w, is_signed, draw(3));
	pctl_str_add(&w->s, ";\nvar done = x > 99u; let held = done;\nfor (;");
	if (form < 3)
		put_test(w, is_signed);
	else if (form == 5)
		put_flag(w, is_signed);
	pctl_str_add(&w->s, ";");
	if (form < 2)
		put_step(w, is_signed);
	pctl_str_add(&w->s, ") {\n");
	if (form == 3 || form == 4) {
		pctl_str_add(&w->s, "if (!(");
		put_test(w, is_signed);
		pctl_str_add(&w->s, ")) { break; }\n");
	}
	put_body(w, loop, is_signed, form >= 2);
	if (form == 5)
		set_flag(w, is_signed);
	if (has_inner) {
		pctl_str_addf(&w->s, "let j = u32(i);\nif (c[at + %uu] < 12u) ", loop);
		w->inner = 1;
		put_loop(w, 0);
		w->inner = 0;
	}
	pctl_str_addf(&w->s, "}\nm.more[at + %uu] = max(m.more[at + %uu], c[at + %uu]); }\n", loop,
		      loop, loop);
}

static void put_guard(writer *w)
{
	static const char *const ops[] = {"<", "<=", ">", ">=", "!=", "==", "<", "<"};

	pctl_str_add(&w->s, draw(2) ? "q" : "w");
	pctl_str_addf(&w->s, " %s ", ops[draw(8)]);
	put(w, draw(2));
}

/* What conditions say of `w` may hold no longer. */
static void put_change(writer *w)
{
	if (draw(2)) {
		pctl_str_add(&w->s, "w = ");
		put(w, 1);
		pctl_str_add(&w->s, ";\n");
	}
}

/* A loop, or two, where conditions speak of what it is compared with. */
static void put_guarded(writer *w)
{
	const uint32_t form = draw(4);

	pctl_str_add(&w->s, "{ let q = ");
	put(w, 2);
	pctl_str_add(&w->s, ";\nvar w = ");
	put(w, 2);
	w->guarded = 1;
	w->n_all += form == 1 || form == 2;
	pctl_str_add(&w->s, form == 1	? ";\nloop { if ("
			    : form == 2 ? ";\nfor (var z = 0u; z < 3u; z++) { if ("
					: ";\nif (");
	put_guard(w);
	if (form == 3) {
		pctl_str_add(&w->s, draw(3) ? " && " : " || ");
		put_guard(w);
	}
	pctl_str_add(&w->s,
		     form == 1 ? (draw(4) ? ") { break; }\n" : ") { x += 1u; }\n") : ") {\n");
	put_change(w);
	put_loop(w, 0);
	if (form == 0) {
		pctl_str_add(&w->s, "} else {\n");
		put_change(w);
		put_loop(w, 0);
	}
	if (form == 2)
		put_change(w);
	pctl_str_add(&w->s, form == 1 ? "break; }\n" : form == 2 ? "} }\n" : "}\n");
	if (form != 0 && w->n_loops < LOOPS)
		put_loop(w, 0);
	w->guarded = 0;
	pctl_str_add(&w->s, "}\n");
}

static char *make_text(void)
{
	writer w = {.s = PCTL_STR_BUF_INIT};

	for (uint32_t i = 0; i < N_NAMES; i++)
		if (maxima[i] != UINT32_MAX)
			pctl_str_addf(&w.s, "//# max u.%s = %u\n", names[i], maxima[i]);
	pctl_str_addf(&w.s, "struct U { ");
	for (uint32_t i = 0; i < N_NAMES; i++)
		pctl_str_addf(&w.s, "%s: %s, ", names[i], names[i][0] == 's' ? "i32" : "u32");
	pctl_str_addf(&w.s,
		      "};\n@group(0) @binding(0) var<uniform> u: U;\n"
		      "@group(0) @binding(1) var<storage, read_write> c: array<u32>;\n"
		      "struct Most { first: vec4<u32>, more: array<u32> };\n"
		      "@group(0) @binding(2) var<storage, read_write> m: Most;\n"
		      "fn half(n: u32) -> u32 { if (n > 9u) { return n / 2u; } return n; }\n"
		      "@compute @workgroup_size(%u)\n"
		      "fn main(@builtin(local_invocation_index) lane: u32, "
		      "@builtin(num_workgroups) groups: vec3<u32>) {\n"
		      "let at = lane * %uu; var x = 0u; var v0: u32; var v1 = u.b; var v2 = 9u;\n"
		      "let pair = vec2<u32>(u.raw, u.b) / vec2<u32>(2u, 3u);\n",
		      LANES, LOOPS);
	for (uint32_t i = 0; i < N_NUMBERS; i++)
		pctl_str_addf(&w.s, "let k%u = %su;\n", i, numbers[i]);
	for (uint32_t i = 0; i < 9; i++)
		pctl_str_addf(&w.s, "let h%u = %di;\n", i, (int)(i * i) - 9);
	while (w.n_loops < LOOPS)
		if (w.n_loops + 1 < LOOPS && draw(3) == 0)
			put_guarded(&w);
		else
			put_loop(&w, w.n_loops + 1 < LOOPS && draw(4) == 0);
	pctl_str_add(&w.s, "m.first.x += x & 0u; }\n");
	return pctl_str_finish(&w.s);
}

/* ---- what is claimed, and what runs --------------------------------------------------------- */

typedef struct tally {
	uint32_t loops, proven, by_range, wrong;
	char first[160]; /* what was wrong */
	uint64_t from;	 /* where its program's numbers begin */
} tally;

/* The rules, and the wrong ones that ranges_wrong.cmake made of them. */
#define RULE(name)                                                                    \
	void name##_analyse(pctl_analyser *z);                                        \
	int name##_find_exits(pctl_ranges *r, const pctl_function *fn);               \
	pctl_range name##_length(uint64_t n_bytes, uint64_t offset, uint64_t stride); \
	pctl_range name##_apply(uint16_t op, uint8_t scalar, uint8_t operand,         \
				const pctl_range *args)
RULE(right);
RULE(saturating);
RULE(unmasked);
RULE(shifted);
RULE(overrun);
RULE(exclusive);
RULE(early);
RULE(conditional);
RULE(held);
RULE(passed);
RULE(vectors);
RULE(stale);
RULE(otherwise);
RULE(beyond);
RULE(fallen);

static const struct {
	const char *fault;
	void (*analyse)(pctl_analyser *z);
	int (*find_exits)(pctl_ranges *r, const pctl_function *fn);
	pctl_range (*apply)(uint16_t op, uint8_t scalar, uint8_t operand, const pctl_range *args);
	pctl_range (*length)(uint64_t n_bytes, uint64_t offset, uint64_t stride);
	uint64_t from; /* the numbers that draw a program which shows it: searched from there on */
} rules[] = {
	{NULL, right_analyse, right_find_exits, right_apply, right_length, 0},
	{"ranges of sums and products that wrap end at their type's", right_analyse,
	 right_find_exits, saturating_apply, right_length, 7858},
	{"an amount of a shift is not taken modulo the width", right_analyse, right_find_exits,
	 unmasked_apply, right_length, 110395},
	{"a shift to the right is by the larger amount", right_analyse, right_find_exits,
	 shifted_apply, right_length, 128598},
	{"the step past a loop's limit may wrap", overrun_analyse, right_find_exits, right_apply,
	 right_length, 261907},
	{"`i <= n` is counted as `i < n`", exclusive_analyse, right_find_exits, right_apply,
	 right_length, 275828},
	{"a turn that a break ends is not counted", early_analyse, right_find_exits, right_apply,
	 right_length, 296065},
	{"a step under a condition is counted", conditional_analyse, right_find_exits, right_apply,
	 right_length, 341366},
	{"a flag loaded before the loop stands for it", right_analyse, held_find_exits, right_apply,
	 right_length, 360597},
	{"a way out that a `continue` goes past is counted", right_analyse, passed_find_exits,
	 right_apply, right_length, 1650590},
	{"an array's length is counted in vectors", right_analyse, right_find_exits, right_apply,
	 vectors_length, 1692817},
	{"what a condition says of a variable outlives a store", right_analyse, stale_find_exits,
	 right_apply, right_length, 2787567},
	{"a condition holds in its `else`", right_analyse, otherwise_find_exits, right_apply,
	 right_length, 2821454},
	{"a condition holds behind its end", right_analyse, beyond_find_exits, right_apply,
	 right_length, 2831037},
	{"behind an `if` that goes on its condition does not hold", right_analyse,
	 fallen_find_exits, right_apply, right_length, 2849963},
};

#define N_RULES (sizeof(rules) / sizeof(rules[0]))

static size_t asked; /* of rules */

void pctl_analyse_ranges(pctl_analyser *z)
{
	rules[asked].analyse(z);
}

int pctl_range_find_exits(pctl_ranges *r, const pctl_function *fn)
{
	return rules[asked].find_exits(r, fn);
}

pctl_range pctl_range_apply(uint16_t op, uint8_t scalar, uint8_t operand, const pctl_range *args)
{
	return rules[asked].apply(op, scalar, operand, args);
}

pctl_range pctl_range_length(uint64_t n_bytes, uint64_t offset, uint64_t stride)
{
	return rules[asked].length(n_bytes, offset, stride);
}

static void draw_uniforms(uint32_t run, uint32_t *u)
{
	static const uint32_t edges[] = {0,  1,		 2,	     3,		 31,
					 32, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};

	for (uint32_t i = 0; i < N_NAMES; i++) {
		if (maxima[i] == UINT32_MAX)
			u[i] = draw(2) ? edges[draw(10)] : (uint32_t)rig_random(17, drawn++);
		else if (run == 0 || draw(3) == 0)
			u[i] = maxima[i];
		else
			u[i] = draw(4) ? draw(maxima[i] + 1) : 0;
	}
}

static void keep_wrong(tally *t, uint32_t loop, uint32_t rounds, const pctl_loop_bound *b,
		       const uint32_t *u, const char *text)
{
	if (t->wrong++)
		return;
	snprintf(t->first, sizeof(t->first), "loop %u: %u rounds, proven were %" PRIu64, loop,
		 rounds, b->folded_iterations);
	if (asked != 0)
		return;
	printf("%s\n%s\nu =", text, t->first);
	for (uint32_t k = 0; k < N_NAMES; k++)
		printf(" %u", u[k]);
	printf("\n");
}

static void run_all(rig *r, const pctl_program *p, const pctl_analysis *a, const char *text,
		    tally *t)
{
	uint8_t *wire = NULL;
	uint64_t n_wire = 0;

	assert_int_equal(pctl_program_encode(p, &r->call, &wire, &n_wire), PCTL_OK);
	assert_true(a->n_loops >= LOOPS);
	for (uint32_t run = 0; run < RUNS; run++) {
		uint32_t u[N_NAMES], c[N_COUNTERS] = {0}, m[4 + N_COUNTERS] = {0};
		const rig_bytes arrays[] = {
			{u, sizeof(u), 1}, {c, sizeof(c), 0}, {m, sizeof(m), 0}};

		draw_uniforms(run, u);
		rig_run(r, wire, n_wire, 0, arrays, 3, 1, 1, 1);
		for (uint32_t i = 0; i < N_COUNTERS; i++)
			if (m[4 + i] > a->loops[number_of[i % LOOPS]].folded_iterations)
				keep_wrong(t, i % LOOPS, m[4 + i], &a->loops[number_of[i % LOOPS]],
					   u, text);
	}
	free(wire);
}

/* So many programs; of a wrong rule as many as it takes to find it. */
static void hold(rig *r, uint32_t programs, tally *t)
{
	static const pctl_known_binding bindings[] = {{0, 1, 4 * N_COUNTERS},
						      {0, 2, 4 * (4 + N_COUNTERS)}};
	const pctl_analysis_query query = {
		.bindings = bindings, .n_bindings = 2, .flags = PCTL_ANALYSE_UNBOUNDED};

	*t = (tally){0};
	for (uint32_t i = 0; i < programs && (asked == 0 || t->wrong == 0); i++) {
		const uint64_t from = drawn;
		char *text = make_text();
		pctl_program *p = NULL, *q = NULL;
		pctl_analysis *a = NULL;

		assert_non_null(text);
		r->loud = 1;
		if (pctl_wgsl_compile(text, strlen(text), &options, &r->call, &p) != PCTL_OK) {
			printf("%s\n", text);
			fail_msg("no program");
		}
		assert_int_equal(pctl_program_specialise(p, NULL, NULL, 0, &r->call, &q), PCTL_OK);
		assert_int_equal(pctl_program_analyse(q, &query, &r->call, &a), PCTL_OK);
		for (uint32_t k = 0; k < a->n_loops; k++) {
			t->loops++;
			t->proven += a->loops[k].folded_iterations < CAP;
			t->by_range += a->loops[k].bound_kind == PCTL_BOUND_RANGE &&
				       a->loops[k].folded_iterations < CAP;
		}
		run_all(r, q, a, text, t);
		t->from = t->wrong != 0 ? from : 0;
		pctl_analysis_destroy(a);
		pctl_program_destroy(q);
		pctl_program_destroy(p);
		free(text);
	}
}

static void none_turns_oftener(void **state)
{
	const char *asked_for = getenv("PCTL_TEST_RANGES");
	const uint32_t n = asked_for ? (uint32_t)atoi(asked_for) : PCTL_TEST_SHARE(PROGRAMS);
	tally t;
	rig r;

	(void)state;
	rig_open(&r, PIPECTL_BINARY_DIR "/plugins/cpu.so");
	hold(&r, n, &t);
	printf("%u loops, %u proven below %u rounds, %u of them by ranges; %u wrong\n", t.loops,
	       t.proven, CAP, t.by_range, t.wrong);
	assert_int_equal(t.wrong, 0);
	assert_true(t.by_range > t.loops / 10);
	rig_close(&r);
}

static void wrong_rules_are_found(void **state)
{
	tally t;
	rig r;

	(void)state;
	rig_open(&r, PIPECTL_BINARY_DIR "/plugins/cpu.so");
	for (asked = 1; asked < N_RULES; asked++) {
		/* Found by the build without sanitizers; from 0 on some take 20,000 loops. */
		drawn = rules[asked].from;
		hold(&r, PCTL_TEST_SANITIZED ? 1 : 4 * PROGRAMS, &t);
		printf("%s: %u loops, from %" PRIu64 "\n", rules[asked].fault, t.loops, t.from);
		assert_true(PCTL_TEST_SANITIZED || t.wrong != 0);
		if (!PCTL_TEST_SANITIZED)
			planted(rules[asked].fault, "the ranges of values", "loops that run",
				t.first);
	}
	asked = 0;
	rig_close(&r);
}

PCTL_TESTS_MAIN(PCTL_TEST(none_turns_oftener), PCTL_TEST(wrong_rules_are_found))
