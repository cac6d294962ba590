/* Values of overrides against WGSL's rules for expressions of them: every operator and builtin that has
 * a rule, in each type, with a value that breaks it and one that keeps it, at every place such an
 * expression may stand. A value that breaks a rule where nothing reaches it breaks nothing. */
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "main.h"
#include "compiler/wgsl/wgsl.h"

/* One rule: expression of the override n and the run-time value r, both of `type`; result its type. */
struct rule {
	const char *type, *result, *expr, *bad, *good;
	uint32_t constant; /* 1: no r in it, so that module scope takes it too */
};

#define INTEGERS(T, S, MIN, WIDTH, SHIFT, HALF)                                                  \
	{T, T, "10" S " / n", "0", "1", 1}, {T, T, "10" S " % n", "0", "3", 1},                  \
		{T, T, "r / n", "0", "7", 0}, {T, T, "r % n", "0", "7", 0},                      \
		{T, T, "r / (n - 1)", "1", "0", 0}, {T, T, "r % (n + 1)", MIN, "5", 0},          \
		{T, T, "(10" S " / n) + 1", "0", "2", 1},                                        \
		{T, T, "select(1" S ", 10" S " / n, n != 0)", "0", "2", 1},                      \
		{T, T, "1" S " << u32(n)", WIDTH, "3", 1},                                       \
		{T, T, "1" S " >> u32(n)", WIDTH, "3", 1}, {T, T, "r << u32(n)", WIDTH, "3", 0}, \
		{T, T, "r >> u32(n)", WIDTH, "3", 0}, {T, T, "n << " SHIFT "u", HALF, "0", 1},   \
		{T, T, "clamp(5" S ", n, 3" S ")", "4", "2", 1},                                 \
		{T, T, "clamp(r, n, 3" S ")", "4", "3", 0},                                      \
		{T, T, "vec2(10" S ", 10" S ").x / vec2(1, n).y", "0", "2", 0},                  \
		{T, "vec2<" T ">", "vec2(r) / vec2(1, n)", "0", "2", 0},                         \
		{T, "vec3<" T ">", "vec3(r) % n", "0", "2", 0},                                  \
		{T, "bool", "n == 0 && 10" S " / n > 1", "0", "1", 1},                           \
	{                                                                                        \
		T, "bool", "n != 0 || 10" S " / n > 1", "0", "3", 1                              \
	}

#define SIGNED(T, S, MIN, MOST)                                                               \
	{T, T, "n / -1" S, MIN, "5", 1}, {T, T, "n % -1" S, MIN, "5", 1},                     \
		{T, T, "(-" MOST S " - 1" S ") / n", "-1", "1", 1},                           \
		{T, T, "(-" MOST S " - 1" S ") % n", "-1", "1", 1}, {T, T, "-n", "", MIN, 1}, \
		{T, T, "n - 1" S, "", MIN, 1}, {T, T, "n * 2" S, "", MIN, 1},                 \
	{                                                                                     \
		T, T, "abs(n)", "", MIN, 1                                                    \
	}

#define FLOATS(T, HUGE)                                                                         \
	{T, T, "1.0 / n", "0", "2", 1}, {T, T, "n / 0.0", "1", "", 1},                          \
		{T, T, "n % 0.0", "1", "", 1}, {T, T, "1.0 % n", "0", "0.75", 1},               \
		{T, T, "n + n", HUGE, "1", 1}, {T, T, "n * n", HUGE, "1", 1},                   \
		{T, T, "-n - n", HUGE, "1", 1}, {T, T, "n - -n", HUGE, "1", 1},                 \
		{T, T, "fma(n, n, 1.0)", HUGE, "1", 1}, {T, T, "sqrt(n)", "-1", "0", 1},        \
		{T, T, "inverseSqrt(n)", "0", "4", 1}, {T, T, "log(n)", "0", "1", 1},           \
		{T, T, "log2(n)", "-1", "1", 1}, {T, T, "exp(n)", HUGE, "1", 1},                \
		{T, T, "exp2(n)", HUGE, "1", 1}, {T, T, "pow(n, -1.0)", "0", "2", 1},           \
		{T, T, "pow(n, 9.0)", HUGE, "1.5", 1}, {T, T, "acos(n)", "1.5", "1", 1},        \
		{T, T, "asin(n)", "-1.5", "1", 1}, {T, T, "acosh(n)", "0.5", "1", 1},           \
		{T, T, "atanh(n)", "1", "0.5", 1}, {T, T, "cosh(n)", HUGE, "1", 1},             \
		{T, T, "sinh(n)", HUGE, "1", 1}, {T, T, "degrees(n)", HUGE, "1", 1},            \
		{T, T, "smoothstep(n, 1.0, 0.5)", "1", "0", 1},                                 \
		{T, T, "smoothstep(n, 1.0, r)", "1", "0", 0},                                   \
		{T, T, "clamp(0.5, n, 1.0)", "2", "0", 1},                                      \
		{T, T, "clamp(r, n, 1.0)", "2", "0", 0}, {T, T, "ldexp(n, 1)", HUGE, "1", 1},   \
		{T, T, "mix(n, -n, 2.0)", HUGE, "1", 1}, {T, T, "pow(n, 2.0)", "-1", "3", 1},   \
		{T, T, "pow(0.0, n)", "0", "1", 1}, {T, T, "length(vec2(n, n))", HUGE, "1", 0}, \
		{T, T, "distance(n, -n)", HUGE, "1", 0},                                        \
		{T, T, "distance(vec2(n), vec2(-n))", HUGE, "1", 0},                            \
		{T, T, "dot(vec2(n), vec2(n))", HUGE, "1", 0},                                  \
		{T, "vec2<" T ">", "normalize(vec2(n))", "0", "1", 0},                          \
		{T, "vec2<" T ">", "normalize(vec2(n))", HUGE, "1", 0},                         \
		{T, "vec3<" T ">", "cross(vec3(n), vec3(n, 1, 2))", HUGE, "1", 0},              \
		{T, "vec2<" T ">", "reflect(vec2(n), vec2(n))", HUGE, "1", 0},                  \
		{T, "vec2<" T ">", "vec2(1) / vec2(1, n)", "0", "1", 0},                        \
		{T, T, "determinant(mat2x2(n, 0, 0, n))", HUGE, "1", 0},                        \
		{T, "mat2x2<" T ">", "mat2x2(n, 0, 0, n) * mat2x2(n, 0, 0, n)", HUGE, "1", 0},  \
		{T, "vec2<" T ">", "mat2x2(n, 0, 0, n) * vec2(n)", HUGE, "1", 0},               \
	{                                                                                       \
		T, "bool", "n != 0 && 1.0 / n > 1", "", "0", 1                                  \
	}

static const struct rule rules[] = {
	INTEGERS("i32", "i", "-1", "32", "31", "1"),
	INTEGERS("u32", "u", "4294967295", "32", "31", "2"),
	INTEGERS("i64", "li", "-1", "64", "63", "1"),
	INTEGERS("u64", "lu", "18446744073709551615", "64", "63", "2"),
	SIGNED("i32", "i", "-2147483648", "2147483647"),
	SIGNED("i64", "li", "-9223372036854775808", "9223372036854775807"),
	FLOATS("f32", "3e38"),
	FLOATS("f16", "6e4"),
	/* places in memory */
	{"i32", "u32", "locals[n]", "-1", "3", 0},
	{"i32", "u32", "locals[n]", "4", "0", 0},
	{"u32", "u32", "locals[n]", "4", "0", 0},
	{"u32", "u32", "locals[n + 1]", "3", "2", 0},
	{"u32", "u32", "shared_words[n]", "8", "7", 0},
	{"u32", "u32", "fixed[n]", "16", "15", 0},
	{"i32", "u32", "free[n]", "-1", "1000000", 0},
	{"i32", "u32", "nested[1][n]", "2", "1", 0},
	{"i32", "u32", "nested[n][1]", "3", "2", 0},
	{"i32", "u32", "vec3u(1, 2, 3)[n]", "3", "2", 0},
	{"u32", "f32", "mat2x3f()[n].x", "2", "1", 0},
	{"u32", "f32", "mat2x3f()[1][n]", "3", "2", 0},
	{"i32", "u32", "array<u32, 4>(1, 2, 3, 4)[n]", "-1", "3", 0},
	/* bits and formats */
	{"u32", "u32", "extractBits(7u, n, 4u)", "29", "28", 1},
	{"u32", "u32", "extractBits(r, n, 4u)", "29", "28", 0},
	{"u32", "u32", "extractBits(r, 4u, n)", "29", "28", 0},
	{"u32", "u32", "insertBits(r, 1u, n, 1u)", "32", "31", 0},
	{"i32", "f32", "ldexp(1.0f, n)", "129", "-500", 1},
	{"i32", "f32", "ldexp(f32(r), n)", "129", "128", 0},
	{"f32", "u32", "pack2x16float(vec2(n, 1))", "65520", "65519", 0},
	{"u32", "vec2<f32>", "unpack2x16float(n)", "31744", "31743", 0},
	{"f32", "f32", "quantizeToF16(n)", "65520", "65504", 1},
	{"f32", "f16", "f16(n)", "70000", "1", 1},
	{"u32", "f16", "f16(n)", "70000", "1", 1},
	{"u32", "f32", "bitcast<f32>(n)", "2139095040", "2139095039", 1},
	{"i32", "bf16", "bf16(n) / bf16(n - n + 1) / bf16(n)", "0", "1", 1},
};

static void text_of(const struct rule *r, uint32_t place, char *out, size_t size)
{
	static const char *const frames[] = {
		/* in the entry point; in a function; in dead code; the other entry's; behind a default */
		"fn f(r: %s) {}\n@compute @workgroup_size(1) fn main() { let r = %s(in.r); MEMORY\n"
		"let v: %s = %s;\n_ = v; }\n",
		"fn f(r: %s) { let one = %s(); MEMORY\nlet v: %s = %s;\n_ = v; _ = one; }\n"
		"@compute @workgroup_size(1) fn main() { f(in.r); }\n",
		"fn f(r: %s) { let one = %s(); MEMORY if false {\nlet v: %s = %s;\n_ = v; } _ = "
		"one; }\n"
		"@compute @workgroup_size(1) fn main() { f(in.r); }\n",
		"fn f(r: %s) { let one = %s(); MEMORY\nlet v: %s = %s;\n_ = v; _ = one; }\n"
		"@compute @workgroup_size(1) fn main() { }\n"
		"@compute @workgroup_size(1) fn other() { f(in.r); }\n",
		"fn f(r: %s) { let one = %s(); _ = one; }\n\nvar<private> v: %s = %s;\n"
		"@compute @workgroup_size(1) fn main() { _ = v; f(in.r); }\n",
	};
	static const char memory[] =
		"var locals = array<u32, 4>(); var nested = array<array<u32, 2>, 3>();";
	char body[2048], *at;

	snprintf(body, sizeof(body), frames[place], r->type, r->type, r->result, r->expr);
	at = strstr(body, "MEMORY");
	if (at)
		*at = 0;
	snprintf(out, size,
		 "enable f16;\noverride n: %s;\nstruct In { r: %s }\n"
		 "@group(0) @binding(0) var<storage, read> in: In;\n"
		 "@group(0) @binding(1) var<storage, read_write> fixed: array<u32, 16>;\n"
		 "@group(0) @binding(2) var<storage, read_write> free: array<u32>;\n"
		 "var<workgroup> shared_words: array<u32, 8>;\n%s%s%s",
		 r->type, r->type, body, at ? memory : "", at ? at + 6 : "");
}

/* The line of the one expression that is judged. */
static uint32_t line_of(const char *text)
{
	const char *at = strstr(text, "\nlet v: ");
	uint32_t line = 2;

	at = at ? at : strstr(text, "\nvar<private> v: ");
	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

/* The code and line of the first error, 0 for none; flags of the front end. */
static uint32_t judge(const char *text, const char *value, uint32_t flags, uint32_t *line)
{
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_wgsl_options o = {.file = "test.wgsl", .flags = flags};
	const pctl_override_value v = {.name = "n", .text = value};
	pctl_program *p = NULL;
	uint32_t code = 0;
	pctl_status status = pctl_wgsl_compile(text, strlen(text), &o, pctl_diag_list_call(l), &p);

	if (status != PCTL_OK) {
		pctl_diag_list_source(l, "test.wgsl", text, strlen(text));
		pctl_diag_render_text(l, stderr, 0);
	}
	assert_int_equal(status, PCTL_OK);
	status = pctl_wgsl_check_overrides(text, strlen(text), &o, p, "main", &v, 1,
					   pctl_diag_list_call(l));
	*line = 0;
	if (pctl_diag_list_count(l)) {
		const pctl_diag *d = pctl_diag_list_at(l, 0);

		code = d->code;
		*line = d->pos.line;
		assert_non_null(strstr(d->message, "n = "));
		assert_true(d->pos.end_column > d->pos.column);
	}
	assert_int_equal(status != PCTL_OK, code != 0);
	pctl_program_destroy(p);
	pctl_diag_list_destroy(l);
	return code;
}

static void test_wgsl_override__each_rule_at_each_place(void **state)
{
	uint32_t i, place, line, code, wrong = 0, n_bad = 0, n_good = 0;
	char text[4096];

	(void)state;
	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		for (place = 0; place < 4 + rules[i].constant; place++) {
			const struct rule *r = &rules[i];

			text_of(r, place, text, sizeof(text));
			if (*r->bad) {
				code = judge(text, r->bad, 0, &line);
				n_bad += place != 3;
				if (place == 3 ? code != 0
					       : code != PC2045_SPECIALISE_EXPRESSION ||
							 line != line_of(text)) {
					fprintf(stderr, "place %u, n: %s = %s: %s: PC%u line %u\n",
						place, r->type, r->bad, r->expr, code, line);
					wrong++;
				}
				if (judge(text, r->bad, PCTL_WGSL_RULES_1, &line)) {
					fprintf(stderr, "rules 1 refuse %s\n", r->expr);
					wrong++;
				}
			}
			if (*r->good && judge(text, r->good, 0, &line)) {
				fprintf(stderr, "place %u, n: %s = %s: %s is refused\n", place,
					r->type, r->good, r->expr);
				wrong++;
			}
			n_good += *r->good != 0;
		}
	fprintf(stderr, "%u errors, %u good ones\n", n_bad, n_good);
	assert_int_equal(wrong, 0);
	assert_true(n_bad > 497 && n_good > 497);
}

/* Sizes, defaults and statements, which are no single expression. */
static void test_wgsl_override__sizes_defaults_and_statements(void **state)
{
	static const struct {
		const char *text, *bad, *good;
	} cases[] = {
		{"override n: i32;\n@compute @workgroup_size(n) fn main() { }", "0", "64"},
		{"override n: i32;\n@compute @workgroup_size(1, n) fn main() { }", "-1", "1"},
		{"override n: u32;\n@compute @workgroup_size(n + 1) fn main() { }", "4294967295",
		 "7"},
		{"override n: i32; var<workgroup> w: array<u32, n>;\n"
		 "@compute @workgroup_size(1) fn main() { _ = w[0]; }",
		 "0", "2"},
		{"override n: i32; var<workgroup> w: array<u32, n - 1>;\n"
		 "@compute @workgroup_size(1) fn main() { _ = w[0]; }",
		 "0", "2"},
		{"override n: u32; var<workgroup> w: array<u32, n>;\n"
		 "@compute @workgroup_size(1) fn main() { _ = w[3]; }",
		 "3", "4"},
		{"override n: i32; override m = 10 / n;\n"
		 "@compute @workgroup_size(1) fn main() { _ = m; }",
		 "0", "2"},
		{"override n: i32; override m = 10 / n; override k = m + 1;\n"
		 "@compute @workgroup_size(u32(k)) fn main() { }",
		 "0", "2"},
		{"override n: i32;\n@compute @workgroup_size(1) fn main() { var v = 8; v /= n; }",
		 "0", "2"},
		{"override n: i32;\n@compute @workgroup_size(1) fn main() { var v = 8; v %= n; }",
		 "0", "2"},
		{"override n: u32;\n@compute @workgroup_size(1) fn main() { var v = 8; v <<= n; }",
		 "32", "2"},
		{"override n: u32;\n@compute @workgroup_size(1) fn main() { var v = 8; v >>= n; }",
		 "32", "2"},
		{"override n: u32;\n@compute @workgroup_size(1) fn main() {"
		 " var v = array<u32, 4>(); v[n]++; }",
		 "4", "3"},
		{"override n: u32;\n@compute @workgroup_size(1) fn main() {"
		 " for (var i = 0u; i < 8u / n; i++) { } }",
		 "0", "2"},
		{"override n: u32;\n@compute @workgroup_size(1) fn main() {"
		 " switch 8u % n { default: { } } }",
		 "0", "2"},
		{"override n: u32;\nfn f() -> u32 { return 8u / n; }\n"
		 "@compute @workgroup_size(1) fn main() { _ = f(); }",
		 "0", "2"},
		{"@id(7) override n: u32 = 1;\n@compute @workgroup_size(1) fn main() { _ = 1u / n; "
		 "}",
		 "0", "2"},
	};
	uint32_t i, line;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (judge(cases[i].text, cases[i].bad, 0, &line) != PC2045_SPECIALISE_EXPRESSION)
			fail_msg("n = %s is taken: %s", cases[i].bad, cases[i].text);
		if (judge(cases[i].text, cases[i].good, 0, &line))
			fail_msg("n = %s is refused: %s", cases[i].good, cases[i].text);
	}
}

/* A default that is replaced, and one that nobody reaches, are never computed. */
static void test_wgsl_override__what_is_not_computed(void **state)
{
	static const char replaced[] = "override zero = 0; override n = 1 / zero;\n"
				       "@compute @workgroup_size(1) fn main() { _ = 8 / n; }";
	static const char unreached[] = "override n: i32; override m = 1 / n;\n"
					"@compute @workgroup_size(1) fn main() { _ = n; }";
	uint32_t line;

	(void)state;
	assert_int_equal(judge(replaced, "3", 0, &line), 0);
	assert_int_equal(judge(replaced, "0", 0, &line), PC2045_SPECIALISE_EXPRESSION);
	assert_int_equal(judge(unreached, "0", 0, &line), 0);
}

/* The wire form of a text with its one entry point, specialised with n = 3 where it has that override. */
static uint8_t *wire_of(const char *text, uint64_t *size)
{
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_wgsl_options o = {.file = "test.wgsl"};
	const pctl_override_value v = {.name = "n", .text = "3"};
	pctl_program *p = NULL, *q = NULL;
	uint8_t *wire = NULL;
	pctl_status status = pctl_wgsl_compile(text, strlen(text), &o, pctl_diag_list_call(l), &p);

	if (status == PCTL_OK)
		status = pctl_program_specialise(p, NULL, &v, p->n_overrides != 0,
						 pctl_diag_list_call(l), &q);
	if (status != PCTL_OK) {
		pctl_diag_list_source(l, "test.wgsl", text, strlen(text));
		pctl_diag_render_text(l, stderr, 0);
	}
	assert_int_equal(status, PCTL_OK);
	assert_int_equal(pctl_program_encode(q, NULL, &wire, size), PCTL_OK);
	pctl_program_destroy(p);
	pctl_program_destroy(q);
	pctl_diag_list_destroy(l);
	return wire;
}

/* Defaults made of vectors, matrices, structs and floats' builtins: computed before the shader runs,
 * they are what the same text gives with a constant in the override's place. */
static void test_wgsl_override__defaults_are_as_constants(void **state)
{
	static const char *const exprs[] = {
		"length(n)",
		"length(vec2(n, 4.0))",
		"distance(n, -1.5)",
		"distance(vec3(n), vec3(1, 2, 3))",
		"dot(vec2(n, 2.0), vec2(0.5, n))",
		"normalize(vec3(n, 1.0, 2.0)).y",
		"cross(vec3(n, 1.0, 2.0), vec3(2.0, n, 5.0)).z",
		"reflect(vec2(n, 1.0), vec2(0.0, n)).y",
		"refract(vec2(0.25, n), vec2(0.0, 1.0), 0.5).x",
		"refract(vec2(0.8, -0.6), vec2(0.0, 1.0), n).x",
		"faceForward(vec2(n), vec2(n, 1.0), vec2(1.0, n)).x",
		"determinant(mat2x2(n, 1.0, 2.0, n))",
		"determinant(mat3x3(n, 1.0, 2.0, 4.0, n, 6.0, 7.0, 8.0, n))",
		"(mat2x3(n, 1.0, 2.0, 3.0, n, 5.0) * vec2(n, 2.0)).y",
		"(vec2(n, 1.0) * mat2x2(n, 2.0, 3.0, n)).y",
		"frexp(n).fract",
		"f32(frexp(n * 5.0).exp)",
		"modf(n / 2.0).fract",
		"modf(vec2(n, n / 2.0)).whole.x",
		"f32(pack4x8unorm(vec4(n / 4.0, 0.5, 0.25, 1.0)))",
		"unpack4x8snorm(u32(n) * 1234567u).z",
		"bitcast<f32>(bitcast<vec2u>(vec2(n, 1.5)).y + 1u)",
		"mix(vec2(n, 1.0), vec2(2.0, n), 0.25).y",
		"smoothstep(vec2(0.0), vec2(n), vec2(1.0)).x",
		"clamp(vec2(n), vec2(0.0), vec2(2.0)).y",
		"ldexp(vec2(n), vec2(2, 3)).y",
		"quantizeToF16(vec2(n / 7.0)).x",
		"select(vec2(1.0), vec2(n), vec2(n > 2.0, false)).x",
		"f32(any(vec2(n > 2.0, false)) && all(vec3(n > 2.0)))",
		"f32(dot(vec2(u32(n), 5u), vec2(7u, u32(n))))",
		"f32((vec3(i32(n)) / vec3(2, 1, 3)).x << 2u)",
		"vec4(n, vec2(1.0, 2.0), 3.0).wzyx.w",
		"array<f32, 3>(1.0, n, 2.0)[1]",
		"array<vec2f, 2>(vec2(1.0), vec2(n, 2.0))[1].x",
		"S(1, vec2(n, 4.0)).b.x",
		"mat2x2f(n, 1.0, 2.0, 3.0)[0].x",
		"f32(extractBits(vec2u(u32(n) * 99u), 1u, 4u).x)",
		"f32(-vec2(n).x) + fract(vec2(n / 2.0)).x",
		"f32(pack4xI8(vec4(i32(n), -5, 127, -128)) & 0xffffu)",
		"f32(pack4xI8(vec4(i32(n), -5, i32(n) * 50, -128)) >> 16u)",
		"f32(pack4xU8(vec4(u32(n), 5u, 300u, 7u)) >> 8u)",
		"f32(pack4xI8Clamp(vec4(i32(n) * 100, -500, i32(n), -128)) & 0xffffu)",
		"f32(pack4xU8Clamp(vec4(u32(n) * 100u, 500u, 9u, 128u)) >> 8u)",
		"f32(unpack4xI8(u32(n) * 0x45678923u).w)",
		"f32(unpack4xI8(u32(n) * 0x45678923u).x)",
		"f32(unpack4xU8(u32(n) * 0x45678923u).w)",
		"f32(unpack4xU8(u32(n) * 0x45678923u).y)",
		"f32(dot4I8Packed(u32(n) * 0x45678923u, 0x81ff037fu))",
		"f32(dot4U8Packed(u32(n) * 0x45678923u, 0x81ff037fu))",
		"transpose(mat2x3(n, 1.0, 2.0, 4.0, n, 6.0))[2][0]",
		"transpose(mat2x3(n, 1.0, 2.0, 4.0, n, 6.0))[1].y",
		"array<f32, 5>(1.0, n, 2.0, 7.5, 9.0)[u32(n)]",
		"array<vec2f, 4>(vec2(1.0), vec2(n, 2.0), vec2(4.0), vec2(n, 8.0))[i32(n)].y",
		"vec4(n, 1.0, 2.0, 8.0)[i32(n)]",
		"mat4x2(n, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, n)[i32(n)][u32(n) - 2u]",
		/* halves: normal, subnormal, what is rounded, zeros, the largest */
		"f32(pack2x16float(vec2(n, n)) & 0xffffu)",
		"f32(pack2x16float(vec2(1.0, n)) >> 16u)",
		"f32(pack2x16float(vec2(-n / 7.0, n)) & 0xffffu)",
		"f32(pack2x16float(vec2(1.0, -n / 7.0)) >> 16u)",
		"f32(pack2x16float(vec2(n * 20000.0, n)) & 0xffffu)",
		"f32(pack2x16float(vec2(1.0, n * 20000.0)) >> 16u)",
		"f32(pack2x16float(vec2(n * -0x1p-20, n)) & 0xffffu)",
		"f32(pack2x16float(vec2(1.0, n * -0x1p-20)) >> 16u)",
		"f32(pack2x16float(vec2(n * 0x1p-26, n)) & 0xffffu)",
		"f32(pack2x16float(vec2(1.0, n * 0x1p-26)) >> 16u)",
		"f32(pack2x16float(vec2(n * 0x1p-15, n)) & 0xffffu)",
		"f32(pack2x16float(vec2(1.0, n * 0x1p-15)) >> 16u)",
		"f32(pack2x16float(vec2(n * 0x1.ffcp-16, n)) & 0xffffu)",
		"f32(pack2x16float(vec2(1.0, n * 0x1.ffcp-16)) >> 16u)",
		"f32(pack2x16float(vec2(n * 0x1p-25, n)) & 0xffffu)",
		"f32(pack2x16float(vec2(1.0, n * 0x1p-25)) >> 16u)",
		"f32(pack2x16float(vec2(n * 0.0, n)) & 0xffffu)",
		"f32(pack2x16float(vec2(1.0, n * 0.0)) >> 16u)",
		"f32(pack2x16float(vec2(n * 0x1.5ffp-3, n)) & 0xffffu)",
		"f32(pack2x16float(vec2(1.0, n * 0x1.5ffp-3)) >> 16u)",
		"f32(pack2x16float(vec2(n * 21834.0, n)) & 0xffffu)",
		"f32(pack2x16float(vec2(1.0, n * 21834.0)) >> 16u)",
		"f32(pack2x16float(vec2(n * 0x1.554p-16, n)) & 0xffffu)",
		"f32(pack2x16float(vec2(1.0, n * 0x1.554p-16)) >> 16u)",
		"unpack2x16float(0x3c00u + u32(n) - 3u).x",
		"unpack2x16float((0x3c00u << 16u) + u32(n)).y",
		"unpack2x16float(0x8000u + u32(n) - 3u).x",
		"unpack2x16float((0x8000u << 16u) + u32(n)).y",
		"unpack2x16float(0x0001u + u32(n) - 3u).x",
		"unpack2x16float((0x0001u << 16u) + u32(n)).y",
		"unpack2x16float(0x83ffu + u32(n) - 3u).x",
		"unpack2x16float((0x83ffu << 16u) + u32(n)).y",
		"unpack2x16float(0x0400u + u32(n) - 3u).x",
		"unpack2x16float((0x0400u << 16u) + u32(n)).y",
		"unpack2x16float(0x7bffu + u32(n) - 3u).x",
		"unpack2x16float((0x7bffu << 16u) + u32(n)).y",
		"unpack2x16float(0xfbffu + u32(n) - 3u).x",
		"unpack2x16float((0xfbffu << 16u) + u32(n)).y",
		"unpack2x16float(0x5555u + u32(n) - 3u).x",
		"unpack2x16float((0x5555u << 16u) + u32(n)).y",
		"unpack2x16float(0x0200u + u32(n) - 3u).x",
		"unpack2x16float((0x0200u << 16u) + u32(n)).y",
	};
	static const char frame[] = "struct S { a: i32, b: vec2f }\n%s\n%s\n"
				    "@group(0) @binding(0) var<storage, read_write> o: f32;\n"
				    "@compute @workgroup_size(1) fn main() { o = v; }\n";
	char a[1024], b[1024], line[512];
	uint64_t size_a, size_b;
	uint8_t *one, *other;
	uint32_t i, wrong = 0;

	(void)state;
	for (i = 0; i < sizeof(exprs) / sizeof(exprs[0]); i++) {
		const char *e = exprs[i];

		snprintf(line, sizeof(line), "override v: f32 = %s;", e);
		snprintf(a, sizeof(a), frame, "override n: f32;", line);
		snprintf(line, sizeof(line), "const v: f32 = %s;", e);
		snprintf(b, sizeof(b), frame, "const n: f32 = 3.0;", line);
		one = wire_of(a, &size_a);
		other = wire_of(b, &size_b);
		if (size_a != size_b || memcmp(one, other, size_a) != 0) {
			fprintf(stderr, "another value: %s\n", e);
			wrong++;
		}
		free(one);
		free(other);
	}
	assert_int_equal(wrong, 0);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_wgsl_override__each_rule_at_each_place),
		PCTL_TEST(test_wgsl_override__sizes_defaults_and_statements),
		PCTL_TEST(test_wgsl_override__what_is_not_computed),
		PCTL_TEST(test_wgsl_override__defaults_are_as_constants))
