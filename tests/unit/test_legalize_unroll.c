/* Loops written out give the bytes of the program as written: generated nests of loops over local arrays, on the reference both
 * ways; which loops are taken and which are left alone. */
#include <stdarg.h>

#include "main.h"
#include "test_legalize_run.h"

#include "compiler/legalize/legal_parts.h"

enum { WORDS = 64, TEXT = 1 << 14 };

static uint32_t loops_of(const pctl_program *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_insts; i++)
		n += p->insts[i].op == PCTL_OP_LOOP;
	return n;
}

/* The program with its loops written out; NULL: all are left alone. */
static pctl_program *unrolled(legal_kernel *k)
{
	pctl_program *out = NULL;

	rig_must(&k->r, legal_unroll_pass(k->p, &k->r.call, &out), "writing loops out");
	return out;
}

/* ---- generated ---------------------------------------------------------------------------- */

typedef struct writer {
	char *text;
	uint32_t n, names;
	uint64_t seed, counter;
} writer;

static uint32_t pick(writer *w, uint32_t n)
{
	return (uint32_t)((rig_random(w->seed, w->counter++) >> 16) % n);
}

__attribute__((format(printf, 2, 3))) static void say(writer *w, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	w->n += (uint32_t)vsnprintf(w->text + w->n, TEXT - w->n, format, args);
	va_end(args);
	assert_true(w->n < TEXT - 512);
}

/* An index: of the variables of the loops that are open, i0 to i(n-1), or anything. */
static void index_of(writer *w, uint32_t n)
{
	const uint32_t i = n ? pick(w, n) : 0;

	switch (n ? pick(w, 6) : 5) {
	case 0:
	case 1:
		say(w, "u32(i%u)", i);
		break;
	case 2:
		say(w, "u32(i%u) + %uu", i, pick(w, 3));
		break;
	case 3:
		say(w, "u32(i%u) * 2u + u32(i%u)", i, pick(w, n));
		break;
	case 4:
		say(w, "(u32(i%u) ^ %uu) & 7u", i, pick(w, 8));
		break;
	default:
		say(w, "(x >> %uu) %% 9u", pick(w, 8));
		break;
	}
}

static void body(writer *w, uint32_t open, uint32_t depth);

static void loop(writer *w, uint32_t open, uint32_t depth)
{
	static const char *const headers[] = {
		"var i%u = 0u; i%u < %uu; i%u++",    "var i%u = 0; i%u <= %u; i%u += 2",
		"var i%u = 7; i%u >= %u; i%u--",     "var i%u = 1u; i%u < %uu; i%u *= 2u",
		"var i%u = 0u; i%u != %uu; i%u++",   "var i%u = -3; i%u < %u; i%u += 1",
		"var i%u = 9u; i%u > %uu; i%u -= 3u"};
	const uint32_t h = pick(w, sizeof(headers) / sizeof(headers[0]));
	char text[80];

	/* Bounds that its step meets, of which none turns for ever. */
	snprintf(text, sizeof(text), headers[h], open, open,
		 h == 6 ? 3 * pick(w, 3) : pick(w, depth ? 5 : 9), open);
	say(w, "for (%s) {\n", text);
	body(w, open + 1, depth - 1);
	if (pick(w, 8) == 0)
		say(w, "if (a[0] > %uu) { break; }\n", pick(w, 1000));
	if (pick(w, 8) == 0)
		say(w, "if (a[1] %% 3u == %uu) { continue; }\nx += 5u;\n", pick(w, 3));
	say(w, "}\n");
	if (pick(w, 3) == 0)
		say(w, "x += %uu;\n", pick(w, 99));
}

static void body(writer *w, uint32_t open, uint32_t depth)
{
	const uint32_t n = 1 + pick(w, 3);

	for (uint32_t s = 0; s < n; s++) {
		switch (pick(w, depth ? 7 : 5)) {
		case 0:
			say(w, "a[");
			index_of(w, open);
			say(w, "] = x * %uu + a[", pick(w, 50));
			index_of(w, open);
			say(w, "];\n");
			break;
		case 1:
			say(w, "x ^= b[");
			index_of(w, open);
			say(w, "][");
			index_of(w, open);
			say(w, "] + %uu;\n", pick(w, 50));
			break;
		case 2:
			say(w, "b[");
			index_of(w, open);
			say(w, "][");
			index_of(w, open);
			say(w, "] += x;\n");
			break;
		case 3:
			say(w, "switch (x & 3u) { case 1u: { a[");
			index_of(w, open);
			say(w, "]++; break; } default: { if (x > 9u) { break; } x += 3u; } }\n");
			break;
		case 4: {
			const uint32_t name = w->names++;

			say(w, "var t%u: array<u32, 4>; t%u[", name, name);
			index_of(w, open);
			say(w, "] = x; x += t%u[", name);
			index_of(w, open);
			say(w, "];\n");
			break;
		}
		default:
			loop(w, open, depth);
			break;
		}
	}
}

static void program(writer *w)
{
	say(w, "@group(0) @binding(0) var<storage, read_write> r: array<u32>;\n"
	       "@compute @workgroup_size(1) fn main() {\n"
	       "var x = r[0];\nvar a: array<u32, 8>;\nvar b: array<array<u32, 4>, 6>;\n");
	loop(w, 0, 2);
	loop(w, 0, 1);
	say(w,
	    "for (var i = 0u; i < 8u; i++) { r[i] = a[i]; }\n"
	    "for (var i = 0u; i < 24u; i++) { r[8u + i] = b[i / 4u][i %% 4u]; }\nr[40] = x;\n}\n");
}

static void of_generated(void **state)
{
	char *text = malloc(TEXT);
	uint32_t n_unrolled = 0, n_left = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 1500; seed++) {
		writer w = {.text = text, .seed = seed};
		uint32_t data[2][WORDS];
		rig_bytes arrays[2] = {{data[0], sizeof(data[0]), 0},
				       {data[1], sizeof(data[1]), 0}};
		pctl_program *out;
		legal_kernel k;

		program(&w);
		kernel_open(&k, text);
		out = unrolled(&k);
		for (uint32_t i = 0; i < WORDS; i++)
			data[0][i] = data[1][i] = (uint32_t)rig_random(seed, i) >> i % 31;
		run_on(&k.r, k.p, &arrays[0], 1, 1);
		if (out != NULL) {
			run_on(&k.r, out, &arrays[1], 1, 1);
			if (memcmp(data[0], data[1], sizeof(data[0])) != 0)
				fail_msg("%s", text);
			n_unrolled += loops_of(k.p) - loops_of(out);
			n_left += loops_of(out);
		}
		pctl_program_destroy(out);
		kernel_close(&k);
	}
	print_message("%u loops written out, %u left\n", n_unrolled, n_left);
	assert_true(n_unrolled > 3000 && n_left > 300);
	free(text);
}

/* ---- which -------------------------------------------------------------------------------- */

static const struct {
	const char *what, *text;
	uint32_t left; /* loops */
} cases[] = {
	{"a local array by the variable", "for (var i = 0u; i < 8u; i++) { a[i] = r[i]; }", 0},
	{"by what the variable makes", "for (var i = 0u; i < 4u; i++) { a[2u * i + 1u] = 1u; }", 0},
	{"both of a nest",
	 "for (var i = 0u; i < 8u; i++) { for (var j = 0u; j < 8u; j++) { a[i] += a[j]; } }", 0},
	{"no array of the invocation's own", "for (var i = 0u; i < 8u; i++) { r[i] = i; }", 1},
	{"an array by something else", "for (var i = 0u; i < 8u; i++) { a[r[0] & 7u] += 1u; }", 1},
	{"as many turns as may be", "for (var i = 0u; i < 64u; i++) { a[i] = 1u; }", 0},
	{"one more", "for (var i = 0u; i < 65u; i++) { a[i] = 1u; }", 1},
	{"a bound that is not constant", "for (var i = 0u; i < min(r[0], 8u); i++) { a[i] = 1u; }",
	 1},
	{"left in another way",
	 "for (var i = 0u; i < 8u; i++) { if (r[i] == 3u) { break; } a[i] = 1u; }", 1},
	{"a turn cut short",
	 "for (var i = 0u; i < 8u; i++) { if (r[i] == 3u) { continue; } a[i] = 1u; }", 1},
	{"a loop inside that stays",
	 "for (var i = 0u; i < 8u; i++) { a[i] = 1u; for (var j = 0u; j < 8u; j++) { if (r[j] == "
	 "1u) { break; } } }",
	 2},
	{"the end of a switch is not the loop's",
	 "for (var i = 0u; i < 8u; i++) { switch (r[i]) { case 1u: { a[i] = 1u; break; } default: "
	 "{ } } }",
	 0},
	{"a variable that the body moves", "for (var i = 0u; i < 8u; i++) { a[i] = 1u; i += 1u; }",
	 1},
	{"a nest too large to be written out",
	 "for (var h = 0u; h < 64u; h++) { for (var i = 0u; i < 8u; i++) { for (var j = 0u; j < "
	 "8u; j++) "
	 "{ a[h] += a[i] * a[j]; } } }",
	 1},
};

static void of_each_rule(void **state)
{
	uint32_t wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[1024];
		legal_kernel k;
		pctl_program *out;
		uint32_t left;

		snprintf(text, sizeof(text),
			 "@group(0) @binding(0) var<storage, read_write> r: array<u32>;\n"
			 "@compute @workgroup_size(1) fn main() { var a: array<u32, 8>; %s r[9] = "
			 "a[7]; }",
			 cases[i].text);
		kernel_open(&k, text);
		out = unrolled(&k);
		left = loops_of(out ? out : k.p);
		if (left != cases[i].left)
			print_message("%s: %u loops are left\n", cases[i].what, left);
		wrong += left != cases[i].left;
		pctl_program_destroy(out);
		kernel_close(&k);
	}
	assert_int_equal(wrong, 0);
}

/* ---- for whom ----------------------------------------------------------------------------- */

/* The loops that are left by a device of so many turns; 0: any. */
static uint32_t left_with(legal_kernel *k, uint64_t turns)
{
	const pctl_device_caps caps = {.head = PCTL_HEAD(pctl_device_caps),
				       .caps = PCTL_CAP_I64_DIV};
	const pctl_legal_options options = {.head = PCTL_HEAD(pctl_legal_options),
					    .forms = k->forms,
					    .turns = turns,
					    .flags = PCTL_LEGAL_NO_LENGTHS};
	pctl_program *out = NULL;
	uint32_t n;

	rig_must(&k->r, pctl_legalise(k->p, &caps, &options, &k->r.call, &out), "legalising");
	n = loops_of(out);
	pctl_program_destroy(out);
	return n;
}

static void of_turns(void **state)
{
	legal_kernel k;

	(void)state;
	kernel_open(&k, "@group(0) @binding(0) var<storage, read_write> r: array<u32>;\n"
			"@compute @workgroup_size(1) fn main() { var a: array<u32, 8>;\n"
			"for (var i = 0u; i < 8u; i++) { a[i] = r[i]; } r[9] = a[r[0] & 7u]; }");
	assert_int_equal(left_with(&k, 0), 1);
	assert_int_equal(left_with(&k, 9), 1); /* eight, and the one that leaves */
	assert_int_equal(left_with(&k, 8), 0);
	kernel_close(&k);
}

PCTL_TESTS_MAIN(PCTL_TEST(of_turns), PCTL_TEST(of_generated), PCTL_TEST(of_each_rule))
