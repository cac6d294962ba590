/* Uniforms from CBOR and back: documents and blocks worked out by hand from RFC 8949 and WGSL's layout rules, and one
 * bad document for every code. */
#include "main.h"

#include "chain/messages/uniform.h"
#include "test_chain_bytes.h"
#include "compiler/wgsl/wgsl.h"

static const char big[] =
	"enable f16;\n"
	"struct Item { at: vec3<u32>, w: i32 }\n"
	"struct U { n: u32, big: u64, delta: i64, x: f32, h: f16, m: mat2x2<f32>,\n"
	"           items: array<Item, 2> }\n"
	"@group(0) @binding(1) var<uniform> u: U;\n"
	"@group(1) @binding(0) var<storage, read_write> result: array<u32>;\n"
	"@compute @workgroup_size(1) fn main() { result[0] = u.n; }\n";

/* Members in order of their keys: h, m, n, x, big, delta, items. */
static const char document[] =
	"A7"
	" 6168 F93C00"
	" 616D 82 82F93C00F94000 82FA40490FDBF9C000"
	" 616E 182A"
	" 6178 FA3DCCCCCD"
	" 63626967 1BFFFFFFFFFFFFFFFF"
	" 6564656C7461 3B7FFFFFFFFFFFFFFF"
	" 656974656D73 82 A2 6177 20 626174 83010203 A2 6177 00 626174 8304051AFFFFFFFF";
static const char block[] = "2A000000 00000000 FFFFFFFFFFFFFFFF 0000000000000080 CDCCCC3D 003C0000"
			    " 0000803F 00000040 DB0F4940 000000C0"
			    " 01000000 02000000 03000000 FFFFFFFF"
			    " 04000000 05000000 FFFFFFFF 00000000";

static pctl_program *compile(const char *text)
{
	const pctl_wgsl_options options = {.file = "test.wgsl"};
	pctl_program *p = NULL;

	assert_int_equal(pctl_wgsl_compile(text, strlen(text), &options, &call, &p), PCTL_OK);
	return p;
}

/* The code a document is refused with, 0 when it is not. */
static uint32_t decode(const pctl_program *p, const char *hex)
{
	size_t n;
	uint64_t n_out;
	uint8_t *cbor = unhex(hex, &n), *out;

	forget();
	if (pctl_uniform_decode(p, cbor, n, &call, &out, &n_out) == PCTL_OK)
		assert_int_equal(n_refused, 0);
	else
		assert_true(n_refused == 1 && out == NULL && n_out == 0);
	free(out);
	free(cbor);
	return n_refused == 0 ? 0 : refused[0];
}

static uint32_t encode(const pctl_program *p, const char *hex)
{
	size_t n;
	uint64_t n_out;
	uint8_t *bytes = unhex(hex, &n), *out;

	forget();
	if (pctl_uniform_encode(p, bytes, n, &call, &out, &n_out) != PCTL_OK)
		assert_null(out);
	free(out);
	free(bytes);
	return n_refused == 0 ? 0 : refused[0];
}

/* The document gives the block and the block the document. */
static void both_ways(const pctl_program *p, const char *cbor_hex, const char *block_hex)
{
	size_t n_cbor, n_block;
	uint8_t *cbor = unhex(cbor_hex, &n_cbor), *bytes = unhex(block_hex, &n_block), *out;
	uint64_t n;

	assert_int_equal(pctl_uniform_decode(p, cbor, n_cbor, &call, &out, &n), PCTL_OK);
	assert_int_equal(n, n_block);
	assert_memory_equal(out, bytes, n_block);
	free(out);
	assert_int_equal(pctl_uniform_encode(p, bytes, n_block, &call, &out, &n), PCTL_OK);
	assert_int_equal(n, n_cbor);
	assert_memory_equal(out, cbor, n_cbor);
	free(out);
	free(cbor);
	free(bytes);
}

static void test_chain_uniform__document_and_block_are_one_to_one(void **state)
{
	pctl_program *p = compile(big);
	size_t n;
	uint8_t *cbor = unhex(document, &n);

	(void)state;
	both_ways(p, document, block);
	/* Every proper beginning is cut inside an item. */
	for (size_t i = 0; i < n; i++) {
		uint8_t *cut = malloc(i > 0 ? i : 1), *out;
		uint64_t n_out;

		memcpy(cut, cbor, i);
		forget();
		assert_int_not_equal(pctl_uniform_decode(p, cut, i, &call, &out, &n_out), PCTL_OK);
		assert_int_equal(refused[0], PC5761_UNIFORM_TRUNCATED);
		free(cut);
	}
	free(cbor);
	pctl_program_destroy(p);
}

static const char small[] = "struct P { n: u32, x: f32, @align(16) v: vec2<i32> }\n"
			    "@group(0) @binding(1) var<uniform> p: P;\n"
			    "@group(1) @binding(0) var<storage, read_write> result: array<u32>;\n"
			    "@compute @workgroup_size(1) fn main() { result[0] = p.n; }\n";

static void test_chain_uniform__every_wrong_document_has_its_code(void **state)
{
	static const struct {
		uint32_t code;
		const char *hex;
	} cases[] = {
		{0, "A3 616E 01 6176 820120 6178 F93C00"},
		{0, "A3 616E 1AFFFFFFFF 6176 82 1A7FFFFFFF 3A7FFFFFFF 6178 F97E00"},
		{0, "A3 616E 00 6176 820000 6178 F9FC00"},
		{0, "A3 616E 00 6176 820000 6178 FA7F7FFFFF"},
		{0, "A3 616E 00 6176 820000 6178 FA00000001"},
		{0, "A3 616E 00 6176 820000 6178 F90001"},
		{0, "A3 616E 00 6176 820000 6178 FA33C00000"}, /* between two of f16 */
		{PC5761_UNIFORM_TRUNCATED, ""},
		{PC5761_UNIFORM_TRUNCATED, "A3 616E 1A0000"},
		{PC5761_UNIFORM_TRUNCATED, "A3 7BFFFFFFFFFFFFFFFF 6E"},
		{PC5762_UNIFORM_CBOR, "A3 616E 1C"},
		{PC5762_UNIFORM_CBOR, "A3 616E FC"},
		{PC5763_UNIFORM_SHORTEST, "A3 616E 1801"},
		{PC5763_UNIFORM_SHORTEST, "A3 616E 190001"},
		{PC5763_UNIFORM_SHORTEST, "A3 616E 1A0000FFFF"},
		{PC5763_UNIFORM_SHORTEST, "A3 616E 1B00000000FFFFFFFF"},
		{PC5763_UNIFORM_SHORTEST, "B803"},
		{PC5763_UNIFORM_SHORTEST, "A3 7801 6E 01"},
		{PC5763_UNIFORM_SHORTEST, "A3 616E 01 6176 9802"},
		{PC5763_UNIFORM_SHORTEST, "A3 616E 01 6176 82013800"},
		{PC5763_UNIFORM_SHORTEST, "A3 616E 01 6176 820120 6178 FA3F800000"},
		{PC5763_UNIFORM_SHORTEST, "A3 616E 01 6176 820120 6178 FA33800000"},
		{PC5763_UNIFORM_SHORTEST, "A3 616E 01 6176 820120 6178 FB3FB99999A0000000"},
		{PC5763_UNIFORM_SHORTEST, "A3 616E 01 6176 820120 6178 FB36A0000000000000"},
		{PC5763_UNIFORM_SHORTEST, "A3 616E 01 6176 820120 6178 F97E01"},
		{PC5763_UNIFORM_SHORTEST, "A3 616E 01 6176 820120 6178 F9FE00"},
		{PC5763_UNIFORM_SHORTEST, "A3 616E 01 6176 820120 6178 FA7FC00000"},
		{PC5763_UNIFORM_SHORTEST, "A3 616E 01 6176 820120 6178 FB7FF8000000000000"},
		{PC5764_UNIFORM_INDEFINITE, "BF 616E 01"},
		{PC5764_UNIFORM_INDEFINITE, "A3 7F 616E FF 01"},
		{PC5764_UNIFORM_INDEFINITE, "A3 616E 01 6176 9F0120FF"},
		{PC5764_UNIFORM_INDEFINITE, "A3 616E 5FFF"},
		{PC5765_UNIFORM_KIND, "80"},
		{PC5765_UNIFORM_KIND, "FF"},
		{PC5765_UNIFORM_KIND, "A3 616E F5"},
		{PC5765_UNIFORM_KIND, "A3 616E F6"},
		{PC5765_UNIFORM_KIND, "A3 616E F7"},
		{PC5765_UNIFORM_KIND, "A3 616E F93C00"},
		{PC5765_UNIFORM_KIND, "A3 616E 6131"},
		{PC5765_UNIFORM_KIND, "A3 616E C001"},
		{PC5765_UNIFORM_KIND, "A3 616E C24101"},
		{PC5765_UNIFORM_KIND, "A3 616E 01 6176 A0"},
		{PC5765_UNIFORM_KIND, "A3 616E 01 6176 820120 6178 01"},
		{PC5766_UNIFORM_RANGE, "A3 616E 20"},
		{PC5766_UNIFORM_RANGE, "A3 616E 1B0000000100000000"},
		{PC5766_UNIFORM_RANGE, "A3 616E 01 6176 82 1A80000000"},
		{PC5766_UNIFORM_RANGE, "A3 616E 01 6176 82 3A80000000"},
		{PC5767_UNIFORM_INEXACT, "A3 616E 01 6176 820120 6178 FB3FB999999999999A"},
		{PC5767_UNIFORM_INEXACT, "A3 616E 01 6176 820120 6178 FB7FEFFFFFFFFFFFFF"},
		{PC5767_UNIFORM_INEXACT, "A3 616E 01 6176 820120 6178 FB3690000000000000"},
		{PC5768_UNIFORM_LENGTH, "A3 616E 01 6176 8101"},
		{PC5768_UNIFORM_LENGTH, "A3 616E 01 6176 83010203"},
		{PC5768_UNIFORM_LENGTH, "A3 616E 01 6176 9BFFFFFFFFFFFFFFFF"},
		{PC5769_UNIFORM_KEY, "A3 01 01"},
		{PC5769_UNIFORM_KEY, "A3 416E 01"},
		{PC5769_UNIFORM_KEY, "A3 61FF 01"},
		{PC5769_UNIFORM_KEY, "A3 6100 01"},
		{PC5769_UNIFORM_KEY, "A3 62C285 01"},
		{PC5770_UNIFORM_ORDER, "A3 6178 F93C00 616E 01"},
		{PC5771_UNIFORM_TWICE, "A3 616E 01 616E 01"},
		{PC5771_UNIFORM_TWICE, "A4 616E 01 6176 820120 616E 01"},
		{PC5772_UNIFORM_UNKNOWN, "A3 616D 01"},
		{PC5772_UNIFORM_UNKNOWN, "BBFFFFFFFFFFFFFFFF 60 01"},
		{PC5773_UNIFORM_MISSING, "A0"},
		{PC5773_UNIFORM_MISSING, "A2 616E 01 6178 F93C00"},
		{PC5774_UNIFORM_TRAILING, "A3 616E 01 6176 820120 6178 F93C00 00"},
		{PC5774_UNIFORM_TRAILING, "A3 616E 01 6176 820120 6178 F93C00 A0"},
	};
	pctl_program *p = compile(small);
	uint32_t failed = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint32_t code = decode(p, cases[i].hex);

		if (code != cases[i].code)
			print_error("%s: PC%u, not PC%u (%s)\n", cases[i].hex, code, cases[i].code,
				    words);
		failed += code != cases[i].code;
	}
	assert_int_equal(failed, 0);
	pctl_program_destroy(p);
}

static void test_chain_uniform__a_refusal_says_where(void **state)
{
	pctl_program *p = compile(big);

	(void)state;
	assert_int_equal(decode(p,
				"A7 6168 F93C00 616D 82 82F93C00F94000 82FA40490FDBF9C000 616E 182A"
				" 6178 FA3DCCCCCD 63626967 00 6564656C7461 00"
				" 656974656D73 82 A2 6177 20 626174 83010203"
				" A2 6177 00 626174 83040520"),
			 PC5766_UNIFORM_RANGE);
	assert_non_null(strstr(words, "items[1].at.z (byte 76)"));
	assert_int_equal(decode(p, "A7 6168 F93C00 616D 82 82F93C0000"), PC5765_UNIFORM_KIND);
	assert_non_null(strstr(words, "m[0].y (byte 13)"));
	assert_int_equal(decode(p, "A7 6168 F93C00 616D 82 82F93C00F93C00 82F93C00F93C00 616E 00"
				   " 6178 F93C00 63626967 00 6564656C7465 00"),
			 PC5772_UNIFORM_UNKNOWN);
	assert_string_equal(hint, "did you mean \"delta\"?");
	/* Bytewise "big" stands before "h", by length behind it. */
	assert_int_equal(decode(p, "A7 63626967 00 6168 F93C00"), PC5770_UNIFORM_ORDER);
	pctl_program_destroy(p);
}

static void test_chain_uniform__sizes_and_declarations(void **state)
{
	static const char *const none[] = {
		"@group(1) @binding(0) var<storage, read_write> result: array<u32>;\n"
		"@compute @workgroup_size(1) fn main() { result[0] = 1u; }\n",
		"@group(0) @binding(1) var<uniform> n: u32;\n"
		"@group(1) @binding(0) var<storage, read_write> result: array<u32>;\n"
		"@compute @workgroup_size(1) fn main() { result[0] = n; }\n",
		"struct P { n: u32 }\n@group(0) @binding(2) var<uniform> p: P;\n"
		"@group(1) @binding(0) var<storage, read_write> result: array<u32>;\n"
		"@compute @workgroup_size(1) fn main() { result[0] = p.n; }\n",
		"struct P { n: array<vec4<u32>, 4097> }\n@group(0) @binding(1) var<uniform> p: P;\n"
		"@group(1) @binding(0) var<storage, read_write> result: array<u32>;\n"
		"@compute @workgroup_size(1) fn main() { result[0] = p.n[0].x; }\n"};
	uint8_t *large = calloc(1, PCTL_UNIFORM_CBOR_MAX + 1), *out;
	uint64_t n;
	pctl_program *p;

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		p = compile(none[i]);
		assert_int_equal(decode(p, "A1 616E 01"), PC5760_UNIFORM_DECLARED);
		assert_int_equal(encode(p, "01000000"), PC5760_UNIFORM_DECLARED);
		pctl_program_destroy(p);
	}
	p = compile(small);
	forget();
	assert_int_equal(pctl_uniform_decode(p, large, PCTL_UNIFORM_CBOR_MAX + 1, &call, &out, &n),
			 PCTL_E_LIMIT);
	assert_int_equal(refused[0], PC5775_UNIFORM_SIZE);
	free(large);
	pctl_program_destroy(p);
}

static void test_chain_uniform__blocks_that_no_document_gives(void **state)
{
	pctl_program *p = compile(small);

	(void)state;
	assert_int_equal(
		encode(p, "01000000 0000803F 0000000000000000 01000000 FFFFFFFF 0000000000000000"),
		0);
	assert_int_equal(encode(p, "01000000 0000803F 0000000000000000 01000000 FFFFFFFF"),
			 PC5776_UNIFORM_BLOCK);
	assert_int_equal(
		encode(p, "01000000 0000803F 0000000000000001 01000000 FFFFFFFF 0000000000000000"),
		PC5776_UNIFORM_BLOCK);
	assert_int_equal(
		encode(p, "01000000 0100C07F 0000000000000000 01000000 FFFFFFFF 0000000000000000"),
		PC5776_UNIFORM_BLOCK);
	assert_int_equal(
		encode(p, "01000000 0000C0FF 0000000000000000 01000000 FFFFFFFF 0000000000000000"),
		PC5776_UNIFORM_BLOCK);
	pctl_program_destroy(p);
}

/* Types that WGSL keeps out of uniforms or nests less deep, in a program made by hand. */
static void test_chain_uniform__types_of_other_front_ends(void **state)
{
	pctl_type types[8 + 20] = {
		[1] = {.kind = PCTL_TYPE_SCALAR, .scalar = PCTL_SCALAR_BOOL, .size = 4, .align = 4},
		[2] = {.kind = PCTL_TYPE_SCALAR, .scalar = PCTL_SCALAR_I8, .size = 1, .align = 1},
		[3] = {.kind = PCTL_TYPE_SCALAR, .scalar = PCTL_SCALAR_BF16, .size = 2, .align = 2},
		[4] = {.kind = PCTL_TYPE_SCALAR, .scalar = PCTL_SCALAR_F64, .size = 8, .align = 8},
		[5] = {.kind = PCTL_TYPE_STRUCT, .count = 3, .size = 8, .align = 4},
		[6] = {.kind = PCTL_TYPE_STRUCT,
		       .count = 1,
		       .size = 8,
		       .align = 8,
		       .first_member = 3},
	};
	pctl_member members[] = {
		{1, 1, 0, 0}, {3, 2, 4, 0}, {5, 3, 6, 0}, {1, 4, 0, 0}, {1, 27, 0, 0}};
	char strings[] = "\0b\0i\0g";
	pctl_var var = {.type = 5, .space = PCTL_SPACE_UNIFORM, .binding = 1};
	const pctl_program p = {.types = types,
				.members = members,
				.vars = &var,
				.strings = strings,
				.n_types = 28,
				.n_members = 5,
				.n_vars = 1,
				.n_strings = sizeof(strings)};

	(void)state;
	both_ways(&p, "A3 6162 F5 6167 F93F80 6169 387F", "01000000 80 00 F03F");
	both_ways(&p, "A3 6162 F4 6167 FA7F7F0000 6169 187F", "00000000 7F 00 7F7F");
	assert_int_equal(decode(&p, "A3 6162 01"), PC5765_UNIFORM_KIND);
	assert_int_equal(decode(&p, "A3 6162 F5 6167 F93C01"), PC5767_UNIFORM_INEXACT);
	assert_int_equal(decode(&p, "A3 6162 F5 6167 F93F80 6169 1880"), PC5766_UNIFORM_RANGE);
	assert_int_equal(decode(&p, "A3 6162 F5 6167 F93F80 6169 3880"), PC5766_UNIFORM_RANGE);
	assert_int_equal(encode(&p, "02000000 00 00 0000"), PC5776_UNIFORM_BLOCK);
	assert_int_equal(encode(&p, "01000000 00 00 C1FF"), PC5776_UNIFORM_BLOCK);
	var.type = 6;
	assert_int_equal(decode(&p, "A1 6162 F93C00"), PC5760_UNIFORM_DECLARED);
	/* A struct of an array of an array .. of bools, twenty deep. */
	for (uint32_t i = 8; i < 28; i++)
		types[i] = (pctl_type){.kind = PCTL_TYPE_ARRAY,
				       .elem = i == 8 ? 1 : i - 1,
				       .count = 1,
				       .stride = 4,
				       .size = 4,
				       .align = 4};
	types[7] = (pctl_type){
		.kind = PCTL_TYPE_STRUCT, .count = 1, .size = 4, .align = 4, .first_member = 4};
	var.type = 7;
	assert_int_equal(decode(&p, "A1 6162 8181818181818181818181818181818181818181 F5"),
			 PC5777_UNIFORM_NESTING);
	members[4].type = 22; /* fifteen arrays */
	both_ways(&p, "A1 6162 818181818181818181818181818181 F5", "01000000");
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_uniform__document_and_block_are_one_to_one),
		PCTL_TEST(test_chain_uniform__every_wrong_document_has_its_code),
		PCTL_TEST(test_chain_uniform__a_refusal_says_where),
		PCTL_TEST(test_chain_uniform__sizes_and_declarations),
		PCTL_TEST(test_chain_uniform__blocks_that_no_document_gives),
		PCTL_TEST(test_chain_uniform__types_of_other_front_ends))
