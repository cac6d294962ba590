/* Limits, hostile shapes, and function ops of a library. */
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "main.h"
#include "compiler/wgsl/wgsl.h"

#define MAIN "@compute @workgroup_size(1) fn main() { }\n"

static int find(void *ctx, const char *op, uint32_t version, uint32_t dtype, const char **text)
{
	(void)ctx;
	if (version != 1)
		return 0;
	if (!strcmp(op, "int.twice") && dtype == PCTL_SCALAR_U32)
		*text = "//# use int.one@1\nfn int_twice(x: u32) -> u32 { return x + x * "
			"int_one(); }\n";
	else if (!strcmp(op, "int.twice") && dtype == PCTL_SCALAR_U64)
		*text = "fn int_twice_u64(x: u64) -> u64 { return x * 2lu; }\n";
	else if (!strcmp(op, "int.one") && dtype == PCTL_SCALAR_U32)
		*text = "fn int_one() -> u32 {\n\treturn 1u;\n}\n";
	else if (!strcmp(op, "int.one") && dtype == PCTL_SCALAR_F16)
		*text = "enable f16;\nfn int_one_f16() -> f16 { return 1h; }\n";
	else if (!strcmp(op, "int.bad") && dtype == PCTL_SCALAR_U32)
		*text = "fn int_bad() -> u32 {\n\treturn 1i;\n}\n";
	else
		return 0;
	return 1;
}

static uint32_t names(void *ctx, uint32_t capacity, const char **out)
{
	(void)ctx;
	if (capacity < 2)
		return 0;
	out[0] = "int.twice";
	out[1] = "int.one";
	return 2;
}

static const pctl_wgsl_library library = {NULL, find, names};

/* Compile; the first diagnostic's code (0: none), its hint in `hint` and file in `file`. */
static uint32_t first_code(const char *text, size_t n, char *hint, char *file, pctl_program **out)
{
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_wgsl_options o = {.file = "test.wgsl", .library = &library};
	pctl_program *p;
	uint32_t code = 0;

	pctl_wgsl_compile(text, n, &o, pctl_diag_list_call(l), &p);
	if (pctl_diag_list_count(l)) {
		const pctl_diag *d = pctl_diag_list_at(l, 0);

		code = d->code;
		if (hint)
			snprintf(hint, 256, "%s", d->hint ? d->hint : "");
		if (file)
			snprintf(file, 256, "%s:%u", d->pos.file ? d->pos.file : "", d->pos.line);
	}
	assert_int_equal(code == 0, p != NULL);
	if (out)
		*out = p;
	else
		pctl_program_destroy(p);
	pctl_diag_list_destroy(l);
	return code;
}

static void test_wgsl_limits__a_text_has_at_most_16_mib(void **state)
{
	const size_t limit = 16u << 20;
	char *text = malloc(limit + 1);

	(void)state;
	assert_non_null(text);
	memset(text, ' ', limit + 1);
	memcpy(text, MAIN, strlen(MAIN));
	assert_int_equal(first_code(text, limit, NULL, NULL, NULL), 0);
	assert_int_equal(first_code(text, limit + 1, NULL, NULL, NULL), PC2104_WGSL_SOURCE_SIZE);
	free(text);
}

static void test_wgsl_limits__errors_beyond_256_are_counted(void **state)
{
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_wgsl_options o = {.file = "test.wgsl"};
	char *text = calloc(1, 100000);
	pctl_program *p;
	uint32_t i, n;

	(void)state;
	for (i = 0; i < 300; i++)
		sprintf(text + strlen(text), "const a%u = missing;\n", i);
	assert_int_equal(pctl_wgsl_compile(text, strlen(text), &o, pctl_diag_list_call(l), &p),
			 PCTL_E_INVALID);
	n = pctl_diag_list_count(l);
	assert_int_equal(n, 257);
	assert_int_equal(pctl_diag_list_at(l, n - 1)->code, PC2108_WGSL_TOO_MANY_ERRORS);
	free(text);
	pctl_diag_list_destroy(l);
}

static void test_wgsl_limits__a_program_has_a_largest_size(void **state)
{
	const char *line = "a=(a*3u+7u)^(a>>3u);";
	const uint32_t n = 200000;
	char *text = malloc(n * strlen(line) + 200);
	size_t at;
	uint32_t i;

	(void)state;
	assert_non_null(text);
	at = (size_t)sprintf(text, "@compute @workgroup_size(1) fn main() { var a = 1u;\n");
	for (i = 0; i < n; i++) {
		memcpy(text + at, line, strlen(line));
		at += strlen(line);
	}
	text[at++] = '}';
	assert_int_equal(first_code(text, at, NULL, NULL, NULL), PC2109_WGSL_PROGRAM_SIZE);
	free(text);
}

/* n scalars, all constants: where a constant is wanted it says how many one can have, and where none is wanted it is a value. */
static uint32_t table_code(const char *before, uint32_t n, const char *after)
{
	char *text = malloc(n * 3u + 400u);
	size_t at = (size_t)sprintf(
		text, "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n%sarray(",
		before);
	uint32_t code;

	for (uint32_t i = 0; i < n; i++)
		at += (size_t)sprintf(text + at, "%uu,", i % 10);
	at += (size_t)sprintf(text + at, ")%s", after);
	code = first_code(text, at, NULL, NULL, NULL);
	free(text);
	return code;
}

static void test_wgsl_limits__a_constant_has_at_most_65536_scalars(void **state)
{
	static const char *const rows[][2] = {
		{"const t = ", "; @compute @workgroup_size(1) fn main() { o[0] = t[3]; }"},
		{"const_assert ",
		 "[1] == 1u; @compute @workgroup_size(1) fn main() { o[0] = 1u; }"},
		{"@compute @workgroup_size(", "[1]) fn main() { o[0] = 1u; }"},
		{"@compute @workgroup_size(1) fn main() { const t = ", "; o[0] = t[3]; }"},
		{"@compute @workgroup_size(1) fn main() { switch o[0] { case ",
		 "[3]: {} default: {} } }"},
		{"@compute @workgroup_size(1) fn main() { o[0] = 1u; } const n = 1u + ", "[3];"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(table_code(rows[i][0], 65536, rows[i][1]), 0);
		assert_int_equal(table_code(rows[i][0], 65537, rows[i][1]),
				 PC2109_WGSL_PROGRAM_SIZE);
	}
	/* What is none for another reason too is called so. */
	assert_int_equal(table_code("@compute @workgroup_size(1) fn main() { const t = o[0] + ", 4,
				    "[3]; o[1] = t; }"),
			 PC2410_WGSL_NOT_CONST);
}

static void repeat(const char *before, const char *part, uint32_t times, const char *after,
		   uint32_t code)
{
	size_t n = strlen(part), at = strlen(before);
	char *text = malloc(at + n * times + strlen(after) + 1);
	uint32_t i;

	assert_non_null(text);
	memcpy(text, before, at);
	for (i = 0; i < times; i++, at += n)
		memcpy(text + at, part, n);
	memcpy(text + at, after, strlen(after) + 1);
	assert_int_equal(first_code(text, at + strlen(after), NULL, NULL, NULL), code);
	free(text);
}

static void test_wgsl_limits__no_depth_of_nesting_harms(void **state)
{
	(void)state;
	repeat("const a = ", "(", 500000, "1;", PC2105_WGSL_NESTING);
	repeat("const a = ", "-", 1, "1;" MAIN, 0);
	repeat("const a = ", "- ", 500000, "1;", PC2105_WGSL_NESTING);
	repeat("const a = 1", "+1", 500000, ";", PC2105_WGSL_NESTING);
	repeat("const a = b", "[0]", 500000, ";", PC2105_WGSL_NESTING);
	repeat("const a: ", "array<", 500000, "u32", PC2110_WGSL_SYNTAX);
	repeat("fn f() { ", "{", 500000, "}", PC2105_WGSL_NESTING);
	repeat("fn f() { ", "if true { } else ", 100000, "{ } }", PC2105_WGSL_NESTING);
	repeat("fn f() { ", "for (var i = 0; i < 3; i++) {", 100000, "}", PC2105_WGSL_NESTING);
	repeat("", "/*", 500000, "", PC2102_WGSL_COMMENT);
	repeat("fn f() { let x = a", "<a", 500000, ";}", PC2111_WGSL_PARENTHESES);
}

static void test_wgsl_limits__used_ops_are_further_text(void **state)
{
	const char *text = "//# use int.twice@1\n"
			   "@group(0) @binding(0) var<storage, read_write> a: array<u32>;\n"
			   "@compute @workgroup_size(1) fn main() {\n"
			   "\ta[0] = int_twice(a[1]) + u32(int_twice_u64(2lu));\n}\n";
	pctl_program *p;
	uint32_t i, from_one = 0;

	(void)state;
	assert_int_equal(first_code(text, strlen(text), NULL, NULL, &p), 0);
	assert_int_equal(p->n_functions, 5);
	for (i = 0; i < p->n_insts; i++)
		if (!strcmp(p->origin_files[p->origins[i].file], "int.one@1") &&
		    p->origins[i].line == 2)
			from_one++;
	assert_true(from_one > 0);
	pctl_program_destroy(p);
}

static void test_wgsl_limits__extensions_are_a_matter_of_one_text(void **state)
{
	const char *use = "//# use int.one@1\n@compute @workgroup_size(1) fn main() {\n"
			  "\tlet x = f32(int_one_f16());\n}\n";
	const char *name = "//# use int.one@1\n@compute @workgroup_size(1) fn main() {\n"
			   "\tlet x: f16 = int_one_f16();\n}\n";
	const char *number = "//# use int.one@1\n@compute @workgroup_size(1) fn main() {\n"
			     "\tlet x = int_one_f16() + 1h;\n}\n";
	const char *own =
		"//# use int.one@1\nenable f16;\n@compute @workgroup_size(1) fn main() {\n"
		"\tlet x: f16 = int_one_f16() + 1h;\n}\n";

	(void)state;
	assert_int_equal(first_code(use, strlen(use), NULL, NULL, NULL), 0);
	assert_int_equal(first_code(name, strlen(name), NULL, NULL, NULL), PC2220_WGSL_F16);
	assert_int_equal(first_code(number, strlen(number), NULL, NULL, NULL), PC2220_WGSL_F16);
	assert_int_equal(first_code(own, strlen(own), NULL, NULL, NULL), 0);
}

static void test_wgsl_limits__unknown_ops_name_the_nearest(void **state)
{
	const char *text = "//# use int.twise@1\n" MAIN, *version = "//# use int.one@2\n" MAIN;
	const char *bad = "//# use int.bad@1\n" MAIN;
	char hint[256], file[256];

	(void)state;
	assert_int_equal(first_code(text, strlen(text), hint, NULL, NULL), PC2116_WGSL_USE);
	assert_non_null(strstr(hint, "did you mean \"int.twice\"?"));
	assert_non_null(strstr(hint, "int.one"));
	assert_int_equal(first_code(version, strlen(version), NULL, NULL, NULL), PC2116_WGSL_USE);
	assert_int_equal(first_code(bad, strlen(bad), NULL, file, NULL), PC2404_WGSL_TYPE);
	assert_string_equal(file, "int.bad@1:2");
}

PCTL_TESTS_MAIN(PCTL_TEST(test_wgsl_limits__a_text_has_at_most_16_mib),
		PCTL_TEST(test_wgsl_limits__errors_beyond_256_are_counted),
		PCTL_TEST(test_wgsl_limits__a_program_has_a_largest_size),
		PCTL_TEST(test_wgsl_limits__a_constant_has_at_most_65536_scalars),
		PCTL_TEST(test_wgsl_limits__no_depth_of_nesting_harms),
		PCTL_TEST(test_wgsl_limits__used_ops_are_further_text),
		PCTL_TEST(test_wgsl_limits__extensions_are_a_matter_of_one_text),
		PCTL_TEST(test_wgsl_limits__unknown_ops_name_the_nearest))
