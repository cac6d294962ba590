/* Constant evaluation: each line is an assertion in WGSL whose truth was worked out by hand or by
 * Python's integers; the front end must find it true, and its negation false. */
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "main.h"
#include "compiler/wgsl/wgsl.h"

static const char *const facts[] = {
	"7 / -2 == -3",
	"7 % -2 == 1",
	"-7 % 2 == -1",
	"-7 / 2 == -3",
	"1 << 62 == 4611686018427387904",
	"-1 >> 1 == -1",
	"0xffffffffu >> 4 == 0x0fffffff",
	"(-8i >> 1u) == -4",
	"~0u == 4294967295",
	"~5 == -6",
	"(6 & 3) == 2 && (6 | 3) == 7 && (6 ^ 3) == 5",
	"9223372036854775807 - 1 == 9223372036854775806",
	"-9223372036854775807 - 1 < 0",
	"18446744073709551615lu / 10lu == 1844674407370955161lu",
	"abs(-5) == 5 && abs(5u) == 5 && abs(-2147483647i - 1i) == -2147483647i - 1i",
	"min(-3, 2) == -3 && max(-3, 2) == 2 && clamp(9, -1, 4) == 4",
	"min(3000000000u, 4u) == 4 && max(3000000000u, 4u) == 3000000000u",
	"sign(-9) == -1 && sign(0) == 0 && sign(7li) == 1",
	"countOneBits(0xf0f0u) == 8 && countOneBits(-1) == 32 && countOneBits(-1li) == 64li",
	"countLeadingZeros(1u) == 31 && countLeadingZeros(0u) == 32 && countLeadingZeros(1lu) == "
	"63lu",
	"countTrailingZeros(8u) == 3 && countTrailingZeros(0) == 32 && countTrailingZeros(0lu) == "
	"64lu",
	"reverseBits(1u) == 0x80000000u && reverseBits(0x12345678u) == 0x1e6a2c48u",
	"firstLeadingBit(0x00f0u) == 7 && firstLeadingBit(0u) == 0xffffffffu",
	"firstLeadingBit(-1i) == -1 && firstLeadingBit(-2i) == 0 && firstLeadingBit(0i) == -1",
	"firstLeadingBit(-256i) == 7 && firstLeadingBit(1024i) == 10",
	"firstTrailingBit(0x50u) == 4 && firstTrailingBit(0) == -1",
	"extractBits(0xabcdu, 4u, 8u) == 0xbcu && extractBits(0xf0i, 4u, 4u) == -1",
	"extractBits(0xabcdu, 4u, 0u) == 0u && extractBits(0xffffffffu, 0u, 32u) == 0xffffffffu",
	"insertBits(0xffffu, 0u, 4u, 8u) == 0xf00fu && insertBits(0u, 3u, 31u, 1u) == 0x80000000u",
	"dot(vec3(1, 2, 3), vec3(4, 5, 6)) == 32",
	"dot4U8Packed(0x01020304u, 0x05060708u) == 70u",
	"dot4I8Packed(0xff020304u, 0x05060708u) == 60",
	"pack4xU8(vec4(1u, 2u, 3u, 260u)) == 0x04030201u",
	"pack4xI8Clamp(vec4(-1, 200, -200, 5)) == 0x05807fffu",
	"pack4xU8Clamp(vec4(1u, 300u, 0u, 255u)) == 0xff00ff01u",
	"all(unpack4xI8(0x80ff7f01u) == vec4(1, 127, -1, -128))",
	"all(unpack4xU8(0x80ff7f01u) == vec4(1u, 127u, 255u, 128u))",
	"bitcast<i32>(0xffffffffu) == -1 && bitcast<u32>(-2i) == 4294967294u",
	"all(bitcast<vec2<u32>>(0x0000000500000007lu) == vec2(7u, 5u))",
	"bitcast<u64>(vec2(7u, 5u)) == 0x0000000500000007lu",
	"u32(-1i) == 4294967295u && i32(4294967295u) == -1 && u32(0x100000005li) == 5u",
	"i64(-1i) == -1li && u64(-1i) == 18446744073709551615lu && i64(0xffffffffu) == "
	"4294967295li",
	"bool(3) && !bool(0u) && u32(true) == 1 && i64(false) == 0",
	"select(1, 2, true) == 2 && select(1, 2, false) == 1",
	"all(select(vec2(1, 2), vec2(3, 4), vec2(true, false)) == vec2(3, 2))",
	"any(vec2(false, true)) && !all(vec2(false, true))",
	"vec4(1, 2, 3, 4).wy.x == 4 && vec3(7)[2] == 7",
	"all(vec4(vec2(1, 2), 3, 4).zyx == vec3(3, 2, 1))",
	"all(vec2(1, 2) + 3 == vec2(4, 5)) && all(6 / vec2(2, 3) == vec2(3, 2))",
	"array(5, 6, 7)[1] == 6 && array<array<u32, 2>, 2>(array(1u, 2u), array(3u, 4u))[1][0] == "
	"3",
	"S(1, vec2(2, 3)).b.y == 3 && S().a == 0",
	"all(mat2x2<i32>(1, 2, 3, 4) * vec2(5, 6) == vec2(23, 34))",
	"all(vec2(5, 6) * mat2x2<i32>(1, 2, 3, 4) == vec2(17, 39))",
	"all((mat2x2<i32>(1, 2, 3, 4) * mat2x2<i32>(5, 6, 7, 8))[1] == vec2(31, 46))",
	"all(transpose(mat2x3<i32>(1, 2, 3, 4, 5, 6))[2] == vec2(3, 6))",
	"all((mat2x2<i32>(1, 2, 3, 4) * 2)[1] == vec2(6, 8))",
	"true || 1 / (1 - 1) == 0",
	"!(false && 1 / (1 - 1) == 0)",
	"(true & false) == false && (true | false)",
	"0x7fffffff == 2147483647i && 0XFFu == 255",
};

static pctl_status compile(const char *fact, int negate, uint32_t *code)
{
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_wgsl_options o = {.file = "test.wgsl"};
	pctl_program *p;
	pctl_status status;
	char text[2048];
	int n = snprintf(text, sizeof(text),
			 "struct S { a: i32, b: vec2<i32> }\nconst_assert %s(%s);\n"
			 "@compute @workgroup_size(1) fn main() { }\n",
			 negate ? "!" : "", fact);

	status = pctl_wgsl_compile(text, (uint64_t)n, &o, pctl_diag_list_call(l), &p);
	*code = pctl_diag_list_count(l) == 1 ? pctl_diag_list_at(l, 0)->code : 0;
	if (status != PCTL_OK && !negate) {
		pctl_diag_list_source(l, "test.wgsl", text, (size_t)n);
		pctl_diag_render_text(l, stderr, 0);
	}
	pctl_program_destroy(p);
	pctl_diag_list_destroy(l);
	return status;
}

static void test_wgsl_const__facts_hold_and_their_negations_do_not(void **state)
{
	uint32_t i, code, bad = 0;

	(void)state;
	for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (compile(facts[i], 0, &code) != PCTL_OK)
			bad++;
		if (compile(facts[i], 1, &code) == PCTL_OK || code != PC2411_WGSL_CONST_ASSERT) {
			fprintf(stderr, "not refused when negated: %s\n", facts[i]);
			bad++;
		}
	}
	assert_int_equal(bad, 0);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_wgsl_const__facts_hold_and_their_negations_do_not))
