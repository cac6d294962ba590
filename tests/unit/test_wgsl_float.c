/* Float literals and constant expressions. Facts are assertions in WGSL whose bits were worked out
 * by hand or by Python's fractions; random literals are compared with the C library's strtod and
 * strtof, which round correctly and share nothing with the front end. */
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "main.h"
#include "compiler/wgsl/wgsl.h"

/* Compile; the code of the only error, 0 where there is none, 1 for several. */
static uint32_t compile(const char *text, uint32_t flags, int show)
{
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_wgsl_options o = {.file = "test.wgsl", .flags = flags};
	pctl_program *p;
	uint32_t code = 0, n;

	pctl_wgsl_compile(text, strlen(text), &o, pctl_diag_list_call(l), &p);
	n = pctl_diag_list_count(l);
	if (n)
		code = n == 1 ? pctl_diag_list_at(l, 0)->code : 1;
	if (code && show) {
		pctl_diag_list_source(l, "test.wgsl", text, strlen(text));
		pctl_diag_render_text(l, stderr, 0);
	}
	assert_int_equal(p == NULL, code != 0);
	pctl_program_destroy(p);
	pctl_diag_list_destroy(l);
	return code;
}

static uint32_t assertion(const char *fact, int negate, int show)
{
	char text[8192];

	snprintf(text, sizeof(text),
		 "enable f16;\nstruct S { a: f32, b: vec2h }\nconst_assert %s(%s);\n"
		 "@compute @workgroup_size(1) fn main() { }\n",
		 negate ? "!" : "", fact);
	return compile(text, 0, show);
}

#define F32(x) "bitcast<u32>(f32(" x "))"
#define F16(x) "bitcast<u32>(vec2h(" x ", 0))"
#define BF16(x) "bitcast<u32>(vec2<bf16>(" x ", 0))"

static const char *const facts[] = {
	/* one rounding from the text: halves of f32's last place, and just beside them */
	F32("1.1f") " == 0x3f8ccccdu && " F32("0.1f") " == 0x3dcccccdu",
	F32("1.000000059604644775390625f") " == 0x3f800000u",
	F32("1.000000059604644775390625000000000000000000000000000000001f") " == 0x3f800001u",
	F32("1.000000059604644775390624999999999999999999999999999999999f") " == 0x3f800000u",
	F32("1.000000178813934326171875f") " == 0x3f800002u",
	/* the same by way of f64 rounds twice, as an abstract float must */
	F32("1.000000059604644775390625000000000000000000000000000000001") " == 0x3f800000u",
	/* the edges of f32 */
	F32("1.401298464324817070923729583289916131280261941876515771757e-45f") " == 1u",
	F32("7.0064923216240853546186479164495806564013097093825788587853e-46f") " == 0u",
	F32("7.0064923216240853546186479164495806564013097093825788587854e-46f") " == 1u",
	F32("2.1019476964872256063855943749348741969203929128147736e-45f") " == 1u",
	F32("2.1019476964872256063855943749348741969203929128147737e-45f") " == 2u",
	F32("1.17549435e-38f") " == 0x00800000u && " F32("1.17549428e-38f") " == 0x007fffffu",
	F32("3.4028235677973366e38f") " == 0x7f7fffffu",
	F32("1e-400f") " == 0u && " F32("-1e-60") " == 0x80000000u",
	F32("1e-1000000000000000000000f") " == 0u && 0e999999999999f == 0",
	/* forms */
	"1f == 1.0 && 1.f == 1 && .5f == 0.5 && 1e2 == 100. && 1E+2f == 100 && 00.5 == .5",
	"0x1p3 == 8 && 0x.8 == 0.5 && 0x1.8p1f == 3 && 0XAP-1 == 5.0 && 0x1.fp0 == 1.9375",
	"0x1p-149f == 1e-45f && 0x1.fffffep127f == 3.40282347e38f && 0x1p4h == 16",
	"0.000000000000000000000000000000000000000000000000000000000000001e63 == 1",
	F32("-0.0") " == 0x80000000u && " F32("0.0") " == 0u && -0.0 == 0.0",
	/* f16: ties, subnormals, largest */
	F16("1.1h") " == 0x3c66u && " F16("65504h") " == 0x7bffu",
	F16("1.00048828125h") " == 0x3c00u && " F16("1.00146484375h") " == 0x3c02u",
	F16("1.000488281250000000000000000000000000000000001h") " == 0x3c01u",
	F16("65519.99h") " == 0x7bffu && " F16("5.9604644775390625e-8h") " == 1u",
	F16("2.98023223876953125e-8h") " == 0u && " F16("2.98023223876953126e-8h") " == 1u",
	/* bf16 has no suffix: f64 to bf16 */
	BF16("1.00390625") " == 0x3f80u && " BF16("1.01171875") " == 0x3f82u",
	BF16("1.00390626") " == 0x3f81u && " BF16("3.38e38") " == 0x7f7eu",
	BF16("9.2e-41") " == 1u && " BF16("4.5e-41") " == 0u",
	/* abstract arithmetic is that of f64 */
	"0.1 + 0.2 == 0x1.3333333333334p-2 && 0.1 + 0.2 != 0.3 && 0.1 * 3 != 0.3",
	"1.0 / 3 == 0x1.5555555555555p-2 && 9007199254740993 + 0.0 == 9007199254740992",
	"5.5 % 2 == 1.5 && -5.5 % 2.0 == -1.5 && 5.5 % -2.0 == 1.5",
	"0x1p-1074 / 2 == 0 && 0x1.0000000000001p-1022 * 0.5 == 0x1p-1023",
	"1.5 < 2 && 2 >= 1.5 && 1 == 1.0 && all(vec2(1, 2.5) == vec2(1.0, 2.5))",
	/* sized arithmetic rounds to its type at each step */
	"16777216f + 1 == 16777216f && (1f + 0x1p-24f) + 0x1p-24f == 1",
	"2048h + 1h == 2048h && 1h / 3 == 0x1.554p-2h && -(1h) < 0",
	"bf16(256) + 1 == bf16(256) && bf16(3) * bf16(1.5) == 4.5",
	F32("0x1.000002p0f * 0x1.000002p0f - 0x1.000004p0f") " == 0u",
	F32("fma(0x1.000002p0f, 0x1.000002p0f, -0x1.000004p0f)") " == 0x28800000u",
	/* the witness of semantics section 3 */
	F32("bitcast<f32>(0x3f800800u) * bitcast<f32>(0x3f800800u) + -1f") " == 0x3a000000u",
	F32("fma(bitcast<f32>(0x3f800800u), bitcast<f32>(0x3f800800u), -1f)") " == 0x3a000400u",
	/* conversions */
	"i32(-1.9) == -1 && u32(3.99f) == 3 && i32(3e9f) == 2147483647 && u32(-5f) == 0",
	"f32(16777217u) == 16777216 && f32(-16777219i) == -16777220 && f32(true) == 1",
	F32("16777217") " == 0x4b800000u && f32(9223372036854775807) == 9223372036854775808.0",
	F32("36028797018963969") " == 0x5b000000u && " F32("36028799166447617") " == 0x5b000001u",
	"bool(0.5) && !bool(-0.0) && !bool(0h) && bool(0x1p-149f) && u32(1h == 1) == 1",
	"f16(f32(1.0009765625)) == 0x1.004p0h && f32(f16(1.0005)) == 1.0009765625 - 0x1p-11 * 0",
	"all(vec2i(vec2f(1.5, -1.5)) == vec2i(1, -1)) && all(vec2f(vec2u(1, 2)) == vec2(1, 2.0))",
	"all(mat2x2h(mat2x2f(1, 2, 3, 4.5))[1] == vec2h(3, 4.5))",
	"S(1, vec2(2, 3)).b.y == 3h && S().a == 0 && array(1, 2.5)[0] == 1.0",
	"array<f32, 3>(1, 2, 3.5)[2] == 3.5f && array(1, 2h)[0] == 1h",
	/* bits */
	"bitcast<f32>(0x3fc00000u) == 1.5 && bitcast<i32>(-0f) == -2147483647 - 1",
	"bitcast<u32>(vec2h(1, -2)) == 0xc0003c00u && bitcast<vec2<bf16>>(0x40003f80u).y == 2",
	"all(bitcast<vec2u>(vec4h(1, 2, 3, 4)) == vec2u(0x40003c00, 0x44004200))",
	"all(bitcast<vec4<bf16>>(vec2f(1.5, 2)) == vec4<bf16>(0, 1.5, 0, 2))",
	/* matrices: dots from the left */
	"all(mat2x2<i32>(mat2x2(1, 2, 3, 4))[1] == vec2(3, 4))",
	"all(mat2x2(1, 2, 3, 4) * vec2(5, 6.0) == vec2(23.0, 34)) && mat2x2(1, 2, 3, 4)[0][1] / 4 "
	"== "
	".5",
	"all((mat2x3f(1, 2, 3, 4, 5, 6) * mat3x2f(1, 0, 0, 1, 1, 1))[2] == vec3f(5, 7, 9))",
	"all(vec2f(5, 6) * mat2x2f(1, 2, 3, 4) == vec2f(17, 39)) && all((mat2x2f(1, 2, 3, 4) * 2 - "
	"mat2x2f(1, 1, 1, 1))[1] == vec2f(5, 7))",
	"dot(vec3f(0x1p24, 1, 1), vec3f(1, 1, 1)) == 0x1p24f && dot(vec2(1.5, 2), vec2(2, 3)) == 9",
	/* builtins */
	"abs(-1.5) == 1.5 && min(1, 2.5) == 1 && max(-0.0, 0.0) == 0 && clamp(5, 1, 2.5) == 2.5",
	"sign(-0.5) == -1 && sign(0.0) == 0 && floor(-1.5) == -2 && ceil(1.2f) == 2 && trunc(-1.7) "
	"== "
	"-1",
	"round(2.5) == 2 && round(-3.5) == -4 && round(0.5h) == 0 && fract(-0.25) == 0.75",
	F32("sqrt(2.0)") " == 0x3fb504f3u && " F32("inverseSqrt(2f)") " == 0x3f3504f3u",
	F32("sin(1.0)") " == 0x3f576aa4u && " F32("cos(1f)") " == 0x3f0a5140u",
	F32("exp(1.0)") " == 0x402df854u && " F32("log(2.0)") " == 0x3f317218u",
	F32("pow(2.0, 0.5)") " == 0x3fb504f3u && pow(8.0, 3.0) == 512 && exp2(10) == 1024",
	F32("atan2(1, -1)") " == 0x4016cbe4u && exp10(2) == 100 && log10(1000.0) == 3 && cbrt(-27) "
			    "== "
			    "-3",
	F32("rsqrt(2.0)") " == 0x3f3504f3u && " F32("tan(1.0)") " == 0x3fc75923u",
	F16("sin(1h)") " == 0x3abbu && " BF16("exp(bf16(1))") " == 0x402eu",
	"mix(1, 3, 0.5) == 2 && all(mix(vec2(1, 2), vec2(3, 4), 0.5) == vec2(2, 3)) && step(1, 2) "
	"== 1",
	"smoothstep(0, 2, 1) == 0.5 && saturate(-3.5) == 0 && length(vec2(3, 4)) == 5 && "
	"length(-2.5) "
	"== 2.5",
	"distance(vec2(1, 1), vec2(4, 5)) == 5 && all(normalize(vec2f(3, 4)) == vec2(0.6f, 0.8f))",
	"all(cross(vec3(1, 0, 0), vec3(0, 1, 0)) == vec3(0, 0, 1)) && determinant(mat2x2(1, 2, 3, "
	"4)) "
	"== -2",
	"determinant(mat3x3f(2, 0, 0, 0, 3, 0, 0, 0, 4)) == 24 && all(reflect(vec2(1, -1), vec2(0, "
	"1)) "
	"== vec2(1, 1))",
	"all(refract(vec2(1.0, 0), vec2(0, 1), 2) == vec2(0, 0)) && all(faceForward(vec2(1, 2), "
	"vec2(1, 0), vec2(1, 0)) == vec2(-1, -2))",
	"ldexp(1.5, 4) == 24 && ldexp(1.5, 1000) > 1e300 && ldexp(1.5, 4) + 1h == 25 && ldexp(1f, "
	"-149) == 0x1p-149f && frexp(6.0).fract == 0.75 && "
	"frexp(6.0).exp == 3",
	"frexp(0x1p-149f).exp == -148 && frexp(0.0).exp == 0 && modf(-1.25).fract == -0.25 && "
	"modf(-1.25).whole == -1",
	"quantizeToF16(1.0001) == 1 && degrees(radians(180f)) == 180 && " F32(
		"radians(180f)") " == "
				 "0x40490fdbu",
	"pack4x8snorm(vec4(1, -1, 0, 0.5)) == 0x4000817fu && pack4x8unorm(vec4(0, 1, 2, 0.5)) == "
	"0x80ffff00u",
	"pack2x16snorm(vec2(1, -1)) == 0x80017fffu && pack2x16unorm(vec2(1, 0.5)) == 0x8000ffffu",
	"pack2x16float(vec2(1, -2)) == 0xc0003c00u && all(unpack2x16float(0xc0003c00u) == vec2(1, "
	"-2))",
	"unpack4x8snorm(0x00000081u).x == -1 && unpack4x8unorm(0xff00u).y == 1 && "
	"unpack2x16snorm(0x80000000u).y == -1 && unpack2x16unorm(0xffffu).x == 1",
	"select(1, 2.5, true) == 2.5 && all(select(vec2(1, 2.5), vec2(3, 4), vec2(true, false)) == "
	"vec2(3, 2.5))",
	"transpose(mat2x3f(1, 2, 3, 4, 5, 6))[2].y == 6",
	"true || 1.0 / 0.0 == 0",
};

static void test_wgsl_float__facts_hold_and_their_negations_do_not(void **state)
{
	uint32_t i, bad = 0;

	(void)state;
	for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (assertion(facts[i], 0, 1) != 0)
			bad++;
		if (assertion(facts[i], 1, 0) != PC2411_WGSL_CONST_ASSERT) {
			fprintf(stderr, "not refused when negated: %s\n", facts[i]);
			bad++;
		}
	}
	assert_int_equal(bad, 0);
}

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 20;
}

/* A decimal number of up to 40 digits, mostly in range; now and then exactly between two floats. */
static void random_text(uint64_t *seed, int is_double, char *out)
{
	uint32_t n = 1 + (uint32_t)(next(seed) % 40), i;
	uint64_t bits;
	double tie;
	float f;

	if (next(seed) % 4 == 0) {
		bits = next(seed) << 30 ^ next(seed);
		if (is_double) {
			bits = (bits & 0x1fffffffffffff) << 1 | 1; /* 54 bits: halfway */
			sprintf(out, "%llu", (unsigned long long)bits);
			return;
		}
		bits &= 0x7f7fffff;
		memcpy(&f, &(uint32_t){(uint32_t)bits}, sizeof(f));
		tie = (double)f;
		memcpy(&bits, &tie, sizeof(bits));
		bits |= 1ull << 28; /* half of f32's last place, where it is normal */
		memcpy(&tie, &bits, sizeof(tie));
		sprintf(out, "%.120e", tie);
		return;
	}
	for (i = 0; i < n; i++) {
		*out++ = (char)('0' + next(seed) % 10);
		if (i == 0)
			*out++ = '.';
	}
	sprintf(out, "e%d",
		is_double ? (int)(next(seed) % 640) - 330 : (int)(next(seed) % 85) - 47);
}

static void test_wgsl_float__literals_are_rounded_once(void **state)
{
	char *text = malloc(1 << 22), *at, number[256];
	const uint32_t n = 4000;
	uint64_t seed = 42, bits;
	uint32_t i, word;
	double d;
	float f;

	(void)state;
	assert_non_null(text);
	at = text;
	for (i = 0; i < n; i++) {
		random_text(&seed, i & 1, number);
		if (i & 1) {
			d = strtod(number, NULL);
			if (d - d != 0)
				continue;
			memcpy(&bits, &d, sizeof(bits));
			at += sprintf(at,
				      "const_assert all(bitcast<vec2u>(%slf) == vec2u(0x%x, "
				      "0x%x));\n",
				      number, (unsigned)bits, (unsigned)(bits >> 32));
			if (strchr(number, 'e')) /* an abstract float is an f64 */
				at += sprintf(at, "const_assert f64(%s) == %slf;\n", number,
					      number);
			continue;
		}
		f = strtof(number, NULL);
		if (f - f != 0)
			continue;
		memcpy(&word, &f, sizeof(word));
		at += sprintf(at, "const_assert bitcast<u32>(%sf) == 0x%xu;\n", number, word);
	}
	sprintf(at, "@compute @workgroup_size(1) fn main() { }\n");
	assert_int_equal(compile(text, PCTL_WGSL_NATIVE, 1), 0);
	/* and it would be noticed */
	sprintf(at, "const_assert bitcast<u32>(0.1f) == 0x3dccccccu;\n"
		    "@compute @workgroup_size(1) fn main() { }\n");
	assert_int_equal(compile(text, PCTL_WGSL_NATIVE, 0), PC2411_WGSL_CONST_ASSERT);
	free(text);
}

static void test_wgsl_float__what_is_no_float_is_refused(void **state)
{
	static const struct {
		uint32_t code;
		const char *text;
	} rows[] = {
		{PC2103_WGSL_NUMBER, "3.5e38f"},
		{PC2103_WGSL_NUMBER, "1e309"},
		{PC2103_WGSL_NUMBER, "65520h"},
		{PC2103_WGSL_NUMBER, "3.4028235677973367e38f"},
		{PC2103_WGSL_NUMBER, "0x1.000001p0f"},
		{PC2103_WGSL_NUMBER, "0x1p-150f"},
		{PC2103_WGSL_NUMBER, "0x1p128f"},
		{PC2103_WGSL_NUMBER, "0x1.002p0h"},
		{PC2103_WGSL_NUMBER, "0x1.00000000000001p0"},
		{PC2103_WGSL_NUMBER, "1.5e"},
		{PC2103_WGSL_NUMBER, "1.5e+"},
		{PC2103_WGSL_NUMBER, "1.2.3"},
		{PC2103_WGSL_NUMBER, "01f"},
		{PC2103_WGSL_NUMBER, "1.5ff"},
		{PC2103_WGSL_NUMBER, "1.5lg"},
		{PC2103_WGSL_NUMBER, "0x1.5h"},
		{PC2103_WGSL_NUMBER, "0xp1"},
		{PC2103_WGSL_NUMBER, "0x.p1"},
		{PC2103_WGSL_NUMBER, "1_0.5"},
		{PC2407_WGSL_CONST_OVERFLOW, "1.0 / 0.0"},
		{PC2407_WGSL_CONST_OVERFLOW, "0.0 / 0.0"},
		{PC2407_WGSL_CONST_OVERFLOW, "1e300 * 1e300"},
		{PC2407_WGSL_CONST_OVERFLOW, "3e38f + 3e38f"},
		{PC2407_WGSL_CONST_OVERFLOW, "f32(1e39)"},
		{PC2407_WGSL_CONST_OVERFLOW, "f16(65520)"},
		{PC2407_WGSL_CONST_OVERFLOW, "f16(70000u)"},
		{PC2407_WGSL_CONST_OVERFLOW, "bf16(3.4e38)"},
		{PC2407_WGSL_CONST_OVERFLOW, "1h + 70000"},
		{PC2407_WGSL_CONST_OVERFLOW, "sqrt(-1)"},
		{PC2407_WGSL_CONST_OVERFLOW, "log(0.0)"},
		{PC2407_WGSL_CONST_OVERFLOW, "exp(1000.0)"},
		{PC2407_WGSL_CONST_OVERFLOW, "bitcast<f32>(0x7f800000u)"},
		{PC2407_WGSL_CONST_OVERFLOW, "quantizeToF16(70000)"},
		{PC2407_WGSL_CONST_OVERFLOW, "ldexp(1f, 128)"},
		{PC2406_WGSL_ARGUMENTS, "clamp(1.0, 3, 2)"},
		{PC2406_WGSL_ARGUMENTS, "sqrt(1u)"},
		{PC2406_WGSL_ARGUMENTS, "sqrt(true)"},
		{PC2406_WGSL_ARGUMENTS, "pow(1f, 1h)"},
		{PC2406_WGSL_ARGUMENTS, "pow(-8.0, 3.0)"},
		{PC2406_WGSL_ARGUMENTS, "pow(-0.5f, 2f)"},
		{PC2406_WGSL_ARGUMENTS, "pow(0h, 0h)"},
		{PC2406_WGSL_ARGUMENTS, "pow(-0.0, 0)"},
		{PC2406_WGSL_ARGUMENTS, "mix(1f, 2f, vec2f(1))"},
		{PC2406_WGSL_ARGUMENTS, "cross(vec2f(), vec2f())"},
		{PC2406_WGSL_ARGUMENTS, "determinant(mat2x3f())"},
		{PC2406_WGSL_ARGUMENTS, "normalize(1.5)"},
		{PC2406_WGSL_ARGUMENTS, "ldexp(1.5, 1u)"},
		{PC2406_WGSL_ARGUMENTS, "quantizeToF16(1h)"},
		{PC2406_WGSL_ARGUMENTS, "pack4x8snorm(vec4h())"},
		{PC2406_WGSL_ARGUMENTS, "unpack2x16float(1i)"},
		{PC2406_WGSL_ARGUMENTS, "countOneBits(1.5)"},
		{PC2406_WGSL_ARGUMENTS, "bitcast<f16>(1u)"},
		{PC2405_WGSL_OPERATOR, "1f + 1h"},
		{PC2405_WGSL_OPERATOR, "1f + 1i"},
		{PC2405_WGSL_OPERATOR, "1.5 & 1"},
		{PC2405_WGSL_OPERATOR, "1.5 ^ 1.5"},
		{PC2405_WGSL_OPERATOR, "~1.5"},
		{PC2405_WGSL_OPERATOR, "!1.5"},
		{PC2405_WGSL_OPERATOR, "1.5 << 1u"},
		{PC2405_WGSL_OPERATOR, "1.5 + true"},
		{PC2405_WGSL_OPERATOR, "mat2x2f() % 2"},
		{PC2405_WGSL_OPERATOR, "mat2x2f() * vec3f()"},
		{PC2404_WGSL_TYPE, "array(1, 2)[1.0]"},
		{PC2404_WGSL_TYPE, "array<u32, 1>(1.5)[0]"},
		{PC2221_WGSL_WIDE_FLOAT, "i64(1.5)"},
		{PC2221_WGSL_WIDE_FLOAT, "f32(1lu)"},
		{PC2221_WGSL_WIDE_FLOAT, "vec2h(vec2<i64>())"},
		{PC2224_WGSL_F64_FUNCTION, "sin(1lf)"},
		{PC2224_WGSL_F64_FUNCTION, "atan2(1lf, 2lf)"},
		{PC2405_WGSL_OPERATOR, "1f + 1lf"},
		{PC2407_WGSL_CONST_OVERFLOW, "1e200lf * 1e200lf"},
		{PC2219_WGSL_F64, "mulHigh(1u, 2u)"},
	};
	uint32_t i, bad = 0, code;
	char text[512];

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(text, sizeof(text),
			 "enable f16;\nconst a = %s;\n@compute @workgroup_size(1) fn main() { }\n",
			 rows[i].text);
		code = compile(text, 0, 0);
		if (code == rows[i].code)
			continue;
		fprintf(stderr, "%s: PC%u, not PC%u\n", rows[i].text, code, rows[i].code);
		bad++;
	}
	assert_int_equal(bad, 0);
}

static void test_wgsl_float__words_are_refused_or_free_by_mode(void **state)
{
	const char *own = "fn rsqrt(x: u32) -> u32 { return x; }\nconst exp10 = 3u;\n"
			  "struct bf16 { cbrt: u32 }\nalias f64 = bf16;\n"
			  "@compute @workgroup_size(1) fn main() { var mulHigh = f64(1u); "
			  "mulHigh.cbrt = rsqrt(exp10); }\n";
	const char *bf16 = "@compute @workgroup_size(1) fn main() { let x = bf16(1); }\n";
	const char *half = "@compute @workgroup_size(1) fn main() { let x = vec2h(1); }\n";
	const char *doubles = "@compute @workgroup_size(1) fn main() { let x = f64(1); }\n";
	const char *suffix = "@compute @workgroup_size(1) fn main() { let x = 0.5lf; }\n";
	const char *enabled = "enable f16;\n@compute @workgroup_size(1) fn main() { }\n";

	(void)state;
	assert_int_equal(compile(own, 0, 1), 0);
	assert_int_equal(compile(own, PCTL_WGSL_NATIVE, 1), 0);
	assert_int_equal(compile(own, PCTL_WGSL_CONSENSUS, 1), 0);
	assert_int_equal(compile(bf16, 0, 1), 0);
	assert_int_equal(compile(bf16, PCTL_WGSL_NATIVE, 0), PC2219_WGSL_F64);
	assert_int_equal(compile(bf16, PCTL_WGSL_CONSENSUS, 0), PC2200_WGSL_FLOAT);
	assert_int_equal(compile(doubles, 0, 1), 0);
	assert_int_equal(compile(doubles, PCTL_WGSL_CONSENSUS, 0), PC2200_WGSL_FLOAT);
	assert_int_equal(compile(doubles, PCTL_WGSL_CONSENSUS | PCTL_WGSL_FLOATS, 0),
			 PC2219_WGSL_F64);
	assert_int_equal(compile(suffix, PCTL_WGSL_CONSENSUS | PCTL_WGSL_FLOATS, 0),
			 PC2103_WGSL_NUMBER);
	assert_int_equal(compile(suffix, PCTL_WGSL_RULES_1, 0), PC2103_WGSL_NUMBER);
	assert_int_equal(compile(half, 0, 0), PC2220_WGSL_F16);
	assert_int_equal(compile(half, PCTL_WGSL_CONSENSUS, 0), PC2200_WGSL_FLOAT);
	assert_int_equal(compile(enabled, 0, 1), 0);
	assert_int_equal(compile(enabled, PCTL_WGSL_CONSENSUS, 0), PC2112_WGSL_DIRECTIVE);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_wgsl_float__facts_hold_and_their_negations_do_not),
		PCTL_TEST(test_wgsl_float__literals_are_rounded_once),
		PCTL_TEST(test_wgsl_float__what_is_no_float_is_refused),
		PCTL_TEST(test_wgsl_float__words_are_refused_or_free_by_mode))
