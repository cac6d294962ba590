/* Loops whose bounds ranges of values prove, each beside a near twin of which they must not prove any: bodies of the one
 * kernel whose text begins with `head`. */
#ifndef PIPECTL_TESTS_RANGES_TWINS_H
#define PIPECTL_TESTS_RANGES_TWINS_H

#include <stdint.h>
#include <stdlib.h>

#include "foundation/base/str.h"
#include "main.h"
#include "compiler/analysis/analyse.h"

#define NEVER UINT64_MAX

static const char head[] =
	"//# max u.k = 4096\n//# max u.g = 64\n//# max u.s = 100\n//# max u.few = 3\n"
	"//# max dispatch = 16,8,1\n//# max u.dims.x = 200\n//# max u.rows[1].y = 30\n"
	"//# max u.rows[0].y = 20\n"
	"struct Sizes { k: u32, g: u32, s: i32, few: u32, raw: u32, sraw: i32, dims: vec2<u32>,\n"
	" rows: array<vec4<u32>, 3> };\n"
	"@group(0) @binding(0) var<uniform> u: Sizes;\n"
	"@group(0) @binding(1) var<storage, read_write> c: array<u32>;\n"
	"@group(0) @binding(2) var<storage> d: array<u32>;\n"
	"struct Rows { n: u32, each: array<vec4<u32>> };\n"
	"@group(1) @binding(3) var<storage> rows: Rows;\n"
	"var<private> hidden: u32;\nvar<workgroup> shared_by_all: u32;\n"
	"override H: u32 = 100u;\n"
	"const FEW = array<u32, 4>(3u, 9u, 27u, 5u);\n"
	"fn divide_up(a: u32, b: u32) -> u32 { return (a + b - 1u) / b; }\n"
	"fn least(n: u32) -> u32 { if (n > 9u) { return 9u; } return 3u; }\n"
	"fn through(n: u32) -> u32 { var x = 0u; for (var i = 0u; i < n; i++) { x += i; } return "
	"x; }\n"
	"@compute @workgroup_size(8, 4, 2)\n"
	"fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_id) at: "
	"vec3<u32>,\n"
	" @builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>,\n"
	" @builtin(num_workgroups) groups: vec3<u32>) {\n var x = 0u;\n";

/* What is bound, as far as it is known: 100 elements of c, and of rows as many as are whole. Of d nothing. */
static const pctl_known_binding twin_bound[] = {{0, 1, 400}, {1, 3, 16 + 16 * 37 + 12}};

#define FOR(limit) "for (var i = 0u; i < (" limit "); i++) { x += i; }"
#define FORI(limit) "for (var i = 0i; i < (" limit "); i++) { x += 1u; }"

/* Of the last loop of the text: how many rounds are proven of the good one, and that none are of the bad one. */
static const struct {
	const char *good;
	uint64_t rounds;
	const char *bad;
} twins[] = {
	/* quotients, remainders, masks */
	{FOR("u.k / 4u"), 1024, FOR("u.raw / 4u")},
	{FOR("(u.k + 7u) / 8u"), 512, FOR("(u.raw + 7u) / 8u")},
	{FOR("u.k & ~3u"), 4096, FOR("u.raw & ~3u")},
	{FOR("u.raw & 63u"), 63, FOR("u.raw | 63u")},
	{FOR("63u & c[0]"), 63, FOR("63u ^ c[0]")},
	{FOR("u.raw % 64u"), 63, FOR("c[0] % (u.raw | 1u)")},
	{FOR("c[0] % (u.k + 1u)"), 4096, FOR("c[0] % u.raw")},
	{FOR("u.raw / 0x1000000u"), 255, FOR("u.raw / max(u.few, 1u)")},
	{FOR("u.k / u.few"), 4096, FOR("u.raw / u.few")},
	{FOR("u.k / u.raw"), 4096, FOR("(u.k - 1u) / 2u")},
	{FOR("u.raw >> 24u"), 255, FOR("u.raw >> u.few")},
	{FOR("u.k >> u.few"), 4096, FOR("u.raw >> (u.k & 31u)")},
	{FOR("u.k << 3u"), 32768, FOR("u.k << 21u")},
	{FOR("u.few << u.few"), 24, FOR("u.few << u.g")},
	{FOR("(u.k | 7u)"), 8191, FOR("(u.raw | 7u)")},
	{FOR("(u.few ^ 1u)"), 3, FOR("(u.raw ^ 1u)")},
	{FOR("~(u.raw | 0xfffffff0u)"), 15, FOR("~u.k")},
	{FOR("extractBits(c[0], 4u, 5u)"), 31, FOR("extractBits(c[0], 4u, u.g)")},
	{FOR("countOneBits(c[0])"), 32, FOR("reverseBits(c[0])")},
	{FOR("countLeadingZeros(c[0])"), 32, FOR("firstLeadingBit(c[0])")},
	{FOR("firstTrailingBit(u.few + 1u)"), 31, FOR("firstTrailingBit(u.few)")},
	/* sums, products */
	{FOR("u.k * u.g"), 262144, FOR("u.k * u.k * u.k")},
	{FOR("u.k + u.g"), 4160, FOR("u.k + u.raw")},
	{FOR("u.k * 4u + 3u"), 16387, FOR("u.k * 0x100001u")},
	{FOR("max(u.k, 10u) - 10u"), 4086, FOR("u.k - 10u")},
	{FOR("4096u - u.k"), 4096, FOR("4095u - u.k")},
	{FOR("u.k * u.k"), 16777216, FOR("(u.k + 1u) * u.k")},
	/* minima and the like */
	{FOR("min(u.raw, u.k / 2u)"), 2048, FOR("max(u.raw, u.k / 2u)")},
	{FOR("max(u.k, 8u)"), 4096, FOR("min(u.raw, c[0])")},
	{FOR("clamp(u.raw, 1u, u.k / 4u)"), 1024, FOR("clamp(u.raw, 1u, c[0])")},
	{FOR("select(u.k, 16u, x > 3u)"), 4096, FOR("select(u.raw, 16u, x > 3u)")},
	{FOR("select(u.raw, 16u, true)"), 16, FOR("select(u.raw, 16u, false)")},
	{FOR("abs(u.k)"), 4096, FOR("u32(abs(u.sraw))")},
	/* signed numbers */
	{FORI("i32(u.k)"), 4096, FORI("i32(u.raw)")},
	{FORI("i32(u.k) / 2"), 2048, FORI("u.sraw / 2")},
	{FORI("u.s"), 100, FORI("u.sraw")},
	{FORI("u.s % 7"), 6, FORI("u.sraw % i32(u.raw)")},
	{FORI("u.sraw % 7"), 6, FORI("u.sraw * 7")},
	{FORI("-u.s + 100"), 100, FORI("-u.sraw")},
	{FOR("u32(u.s)"), 100, FOR("u32(u.sraw)")},
	{FOR("u32(max(u.s - 10, 0))"), 90, FOR("u32(u.s - 10)")},
	{FORI("min(u.sraw, 20)"), 20, FORI("max(u.sraw, 20)")},
	{FORI("u.sraw & 15"), 15, FORI("u.sraw & -16")},
	{FORI("u.sraw >> 28u"), 7, FORI("u.sraw << 28u")},
	{FORI("sign(u.sraw) * 5"), 5, FORI("select(5, u.sraw, x == 0u)")},
	{FORI("clamp(u.sraw, -5, 5)"), 5, FORI("clamp(u.sraw, -5, i32(u.raw))")},
	{FORI("bitcast<i32>(u.k)"), 4096, FORI("bitcast<i32>(u.raw)")},
	{FORI("bitcast<i32>(u.raw >> 8u) >> 10u"), 16383, FORI("bitcast<i32>(f32(u.k))")},
	{"for (var i = -u.s; i < u.s; i++) { x++; }", 200,
	 "for (var i = -u.s; i != u.s; i += 2) { x++; }"},
	/* what a program is started with */
	{FOR("H / 2u"), 50, FOR("H / u.raw + u.raw")},
	{FOR("at.x"), 7, FOR("at.x + u.raw")},
	{FOR("at.z + at.y"), 4, FOR("at.z - at.y")},
	{FOR("lane"), 63, FOR("~lane")},
	{FOR("lane / 32u"), 1, FOR("lane - 1u")},
	{FOR("group.y"), 7, FOR("group.y - 1u")},
	{FOR("groups.x"), 16, FOR("groups.x - 2u")},
	{FOR("id.x"), 127, FOR("id.x - u.k")},
	{FOR("id.y * 8u"), 248, FOR("id.y * c[0]")},
	{FOR("dot(at, at)") /* not followed */, NEVER, FOR("c[at.x]")},
	{FOR("FEW[u.raw]"), 27, FOR("c[u.raw]")},
	{FOR("at[u.few]"), 7, FOR("id[u.few] + u.raw")},
	{FOR("divide_up(u.k, 64u)"), 64, FOR("divide_up(u.raw, 64u)")},
	{FOR("least(u.raw)"), 9, FOR("through(u.raw)")},
	{"x = through(u.k); x = through(u.g);" FOR("2u"), 2, FOR("through(4u)")},
	{FOR("vec2<u32>(u.raw, u.k).y"), 4096, FOR("vec2<u32>(u.raw, u.k).x")},
	{FOR("(vec2<u32>(u.g, u.k) / vec2<u32>(4u, 2u)).x"), 16,
	 FOR("(vec2<u32>(u.raw, u.k) / 4u).x")},
	{FOR("(vec2<u32>(u.k) >> vec2<u32>(1u, 2u)).yx.y"), 2048,
	 FOR("(vec2<u32>(u.k) << vec2<u32>(1u, 31u)).y")},
	{FOR("u.dims.x / 2u"), 100, FOR("u.dims.y / 2u")},
	{FOR("u.rows[1].y"), 30, FOR("u.rows[1].x")},
	{FOR("u.rows[u.few & 0u].y"), 20, FOR("u.rows[u.few].y")},
	{"let d = u.dims; " FOR("d.x"), 200, "let d = u.dims; " FOR("d.y")},
	{"let r = u.rows[1]; " FOR("r.yx.x"), 30, "let r = u.rows[2]; " FOR("r.yx.x")},
	{"let p = &u.dims; " FOR("(*p).x"), 200, "let p = &u.dims; " FOR("(*p)[u.few]")},
	{"for (var i = 0u; i != u.dims.x; i++) { x++; }", 200,
	 "for (var i = 0u; i != u.rows[1u + min(x, u.few & 0u)].y; i++) { x++; }"},
	{"let v = u; " FOR("v.dims.x"), 200, "let v = u; " FOR("v.rows[1].z")},
	{"let v = u; " FOR("v.k"), 4096, "let v = u; " FOR("v.raw")},
	/* names and variables */
	{"let n = u.k / 2u; let m = n + 1u; " FOR("m"), 2049, "let n = u.raw; " FOR("n")},
	{"var n = 8u; if (x > 3u) { n = 16u; } " FOR("n"), 16,
	 "var n = 8u; if (x > 3u) { n = u.raw; } " FOR("n")},
	{"var n: u32; switch u.few { case 1u: { n = 4u; } default: { n = 7u; } } " FOR("n"), 7,
	 "var n: u32; switch u.few { case 1u: { n = 4u; } default: { n = c[0]; } } " FOR("n")},
	{"var n = u.raw; n = min(n, 32u); " FOR("min(n, 33u)"), 33,
	 "var n = u.raw; n = min(n, 32u); " FOR("n") /* of a variable, all that it ever holds */},
	{"var n = 4u; for (var j = 0u; j < 3u; j++) { n = n / 2u; } " FOR("n"), 4,
	 "var n = 4u; for (var j = 0u; j < 3u; j++) { n = n * 2u; } " FOR("n")},
	{"var v: vec2<u32>; v.x = 5u; v.y = u.raw; " FOR("v.x"), 5,
	 "var v: vec2<u32>; v.x = 5u; v.y = u.raw; " FOR("v.y")},
	{"var v: vec2<u32>; v[u.few & 1u] = 5u; " FOR("v.x"), 5,
	 "var v: vec2<u32>; v[u.few & 1u] = u.raw; " FOR("v.x")},
	{"for (var j = 0u; j < u.k; j++) { for (var i = 0u; i < j; i++) { x += i; } }", 4095,
	 "for (var j = u.k; j < u.raw; j++) { for (var i = 0u; i < j; i++) { x += i; } }"},
	{"for (var j = 0u; j < u.k; j++) { for (var i = j + 1u; i < u.k; i++) { x++; } }", 4096,
	 "for (var j = 0u; j < u.k; j++) { for (var i = j - 1u; i < u.raw; i++) { x++; } }"},
	{"for (var j = 128u; j > 0u; j >>= 1u) { for (var i = 0u; i < j; i++) { x++; } }", 128,
	 "for (var j = u.raw; j > 0u; j >>= 1u) { for (var i = 0u; i < j; i++) { x++; } }"},
	/* what is compared */
	{"for (var i = 0u; i <= u.k / 4u; i++) { x++; }", 1025,
	 "for (var i = 0u; i <= ~u.k; i++) { x++; }"},
	{"for (var i = 0u; u.k / 4u > i; i++) { x++; }", 1024,
	 "for (var i = u.g; u.few < i; i++) { x++; }"},
	{"for (var i = 0u; !(i >= u.k / 4u); i++) { x++; }", 1024,
	 "for (var i = 0u; !(i < u.k / 4u); i++) { x++; }"},
	{"for (var i = 0u; i != u.k / 4u; i++) { x++; }", 1024,
	 "for (var i = 1u; i != u.k / 4u; i++) { x++; }"},
	{"for (var i = u.k / 4u; i != 0u; i--) { x++; }", 1024,
	 "for (var i = u.k / 4u; i != 1u; i--) { x++; }"},
	{"let n = c[0] & 15u; for (var i = 0u; i != n; i++) { x++; }", 15,
	 "for (var i = 0u; i != (c[0] & 15u); i++) { x++; }"},
	{"for (var i = 0u; i < u.k / 4u && c[i] != 0u; i++) { x++; }", 1024,
	 "for (var i = 0u; i < u.k / 4u || c[i] != 0u; i++) { x++; }"},
	{"for (var i = 0u; c[i] != 0u && i < u.k / 4u; i++) { x++; }", 1024,
	 "for (var i = 0u; c[i] != 0u && i < u.raw / 4u; i++) { x++; }"},
	{"for (var i = 0u; (i < u.raw) & (i < u.k / 4u); i++) { x++; }", 1024,
	 "for (var i = 0u; (i < u.raw) | (i < u.k / 4u); i++) { x++; }"},
	{"for (var i = 0u; !(i >= u.k / 4u || c[0] > 9u); i++) { x++; }", 1024,
	 "for (var i = 0u; !(i >= u.k / 4u && c[0] > 9u); i++) { x++; }"},
	{"for (var i = 0u; i + 4u <= u.k / 2u; i += 4u) { x++; }", 512,
	 "for (var i = u.raw; i + 4u <= u.k / 2u; i += 4u) { x++; }"},
	{"for (var i = 0u; i + 1u < u.k / 2u; i++) { x++; }", 2047,
	 "for (var i = 0u; i - 1u < u.k / 2u; i++) { x++; }"},
	/* steps */
	{"for (var i = 0u; i < u.k / 2u; i += 3u) { x++; }", 683,
	 "for (var i = 0u; i < 0xffffffffu - (u.few & 1u); i += 3u) { x++; }"},
	{"for (var i = lane; i < u.k / 2u; i += 64u) { x++; }", 32,
	 "for (var i = lane; i < u.raw; i += 64u) { x++; }"},
	{"for (var i = id.x; i < u.k; i += groups.x * 8u) { x++; }", 512,
	 "for (var i = id.x; i < u.k; i += groups.x * u.raw) { x++; }"},
	{"for (var i = 0u; i < u.k; i += max(u.few, 1u)) { x++; }", 4096,
	 "for (var i = 0u; i < u.k; i += u.few) { x++; }"},
	{"for (var i = 0u; i < u.k; i += (u.raw & 7u) + 1u) { x++; }", 4096,
	 "for (var i = 0u; i < u.k; i += (u.raw & 7u)) { x++; }"},
	{"for (var i = 0u; i < u.k; i += u.few | 2u) { x++; }", 2048,
	 "for (var i = 0u; i < u.k; i += u.raw | 2u) { x++; }"},
	{"let step = 4u; for (var i = 0u; i < u.k; i += step) { x++; }", 1024,
	 "var step = 4u; if (x > 3u) { step = 0u; } for (var i = 0u; i < u.k; i += step) { x++; }"},
	{"for (var i = 0u; i < u.k / 2u; i = i + 2u) { x++; }", 1024,
	 "for (var i = 0u; i < u.k / 2u; i = x + 2u) { x++; }"},
	{"for (var i = 0u; i < u.k / 2u; i = 2u + i) { x++; }", 1024,
	 "for (var i = 0u; i < u.k / 2u; i = 2u - i) { x++; }"},
	{"for (var i = 0i; i < u.s / 2; i -= -1) { x++; }", 50,
	 "for (var i = 0i; i < u.s / 2; i += -1) { x++; }"},
	/* down */
	{"for (var i = u.k; i > 0u; i--) { x++; }", 4096,
	 "for (var i = u.k; i >= 0u; i--) { x++; }"},
	{"for (var i = u.k; i > u.few; i--) { x++; }", 4096,
	 "for (var i = u.k; i >= u.few; i--) { x++; }"},
	{"for (var i = u.k; i > 1u; i -= 2u) { x++; }", 2048,
	 "for (var i = u.k; i > 0u; i -= 2u) { x++; }"},
	{"for (var i = u.s; i >= 0; i--) { x++; }", 101,
	 "for (var i = u.s; i >= u.sraw; i--) { x++; }"},
	{"for (var i = i32(u.k) - 1; i >= 0; i -= 4) { x++; }", 1024,
	 "for (var i = i32(u.raw) - 1; i >= 0; i -= 4) { x++; }"},
	{"for (var i = u.k - 1u; i < u.k; i--) { x++; }", 4096,
	 "for (var i = u.k - 1u; i <= 0xfffffffeu - (u.few & 1u); i -= 3u) { x++; }"},
	/* by factors */
	{"for (var i = 128u; i > u.few; i >>= 1u) { x++; }", 8,
	 "for (var i = 128u; i >= u.few; i >>= 1u) { x++; }"},
	{"for (var i = u.k; i > 0u; i >>= 1u) { x++; }", 32,
	 "for (var i = u.k; i > 0u; i >>= u.few) { x++; }"},
	{"for (var i = u.raw; i != 0u; i >>= (u.few | 4u)) { x++; }", 8,
	 "for (var i = u.raw; i != 0u; i >>= (u.k | 4u)) { x++; }"},
	{"for (var i = u.k; i > 0u; i /= 2u) { x++; }", 32,
	 "for (var i = u.k; i > 0u; i /= u.few) { x++; }"},
	{"for (var i = u.k; i >= 1u; i = i / (u.few + 2u)) { x++; }", 13,
	 "for (var i = u.k; i >= 1u; i = i / (u.few + 1u)) { x++; }"},
	{"for (var i = 1u; i < u.k; i *= 2u) { x++; }", 12,
	 "for (var i = 0u; i < u.k; i *= 2u) { x++; }"},
	{"for (var i = 1u; i < u.k; i <<= 1u) { x++; }", 12,
	 "for (var i = 1u; i < u.raw; i <<= 1u) { x++; }"},
	{"for (var i = max(u.few, 1u); i <= u.k; i = i * 3u) { x++; }", 8,
	 "for (var i = u.few; i <= u.k; i = i * 3u) { x++; }"},
	{"for (var i = 1u; i < u.k * u.g; i = i << (u.few | 1u)) { x++; }", 18,
	 "for (var i = 1u; i < u.k * u.g; i = i << u.few) { x++; }"},
	{"for (var i = 2i; i < u.s; i = i * 2) { x++; }", 6,
	 "for (var i = -2i; i < u.s; i = i * 2) { x++; }"},
	{"for (var i = 2u; i < u.k; i = i * i) { x++; }", 11,
	 "for (var i = 0u; i < u.k; i = i * i) { x++; }"},
	/* where the variable is, and what else moves it */
	{"var i = 0u; for (; i < u.k / 2u; ) { x++; i++; }", 2048,
	 "var i = 0u; for (; i < u.k / 2u; ) { x++; if (x > 3u) { i++; } }"},
	{"var i = u.few; for (; i < u.k / 2u; i++) { x++; }", 2048,
	 "var i = u.raw; for (; i > u.few; i++) { x++; }"},
	{"var i = 0u; if (x < 3u) { for (; i < u.k / 2u; i++) { x++; } }", 2048,
	 "var i = 0u; if (x < 3u) { for (; i < u.k / 2u; i += u.few) { x++; } }"},
	{"var i = 0u; for (; i < u.k / 2u; ) { i++; if (x > 3u) { continue; } x++; }", 2048,
	 "var i = 0u; for (; i < u.k / 2u; ) { if (x > 3u) { continue; } i++; x++; }"},
	{"for (var i = 0u; i < u.k / 2u; i++) { if (x > 3u) { i++; } x++; }", 2048,
	 "for (var i = 0u; i < u.k / 2u; i++) { if (x > 3u) { i--; } x++; }"},
	{"for (var i = 0u; i < u.k / 2u; i++) { i += 3u; }", 512,
	 "for (var i = 0u; i < u.k / 2u; i++) { i = 3u; }"},
	{"var i = 0u; for (; i < u.k; ) { if (x > 3u) { i += 2u; } else { i += 1u; } i++; }", 4096,
	 "var i = 0u; for (; i < u.k; ) { if (x > 3u) { i += 2u; } else { i += 1u; } }"},
	{"for (var i = 0u; i < u.k / 2u; i++) { let p = &x; *p = 3u; }", 2048,
	 "for (var i = 0u; i < u.k / 2u; i++) { let p = &i; *p = 3u; }"},
	{"for (var i = 0u; i < u.k / 2u; i++) { switch x { case 1u: { i += 2u; } default: { } } }",
	 2048,
	 "for (var i = 0u; i < u.k / 2u; i++) { for (var j = 0u; j < 3u; j++) { i += 0xffffffffu; "
	 "} }"
	 "for (var i = 0u; i < u.raw; i++) { }"},
	{"var i = 0u; for (var j = 0u; j < 3u; j++) { for (; i < u.k / 2u; i++) { x++; } }", 2048,
	 "var i = 0u; for (var j = 0u; j < 3u; j++) { for (; i < u.k / 2u; i++) { x++; } i = "
	 "u.raw; "
	 "for (; i > u.few; i++) { } }"},
	{"hidden = 4u; " FOR("u.g"), 64, "hidden = 4u; " FOR("hidden")},
	{"shared_by_all = 4u; " FOR("u.g"), 64, "shared_by_all = 4u; " FOR("shared_by_all")},
	/* lengths of arrays, where it is known how many bytes are bound */
	{FOR("arrayLength(&c)"), 100, FOR("arrayLength(&d)")},
	{FOR("arrayLength(&c) / 8u"), 12, FOR("arrayLength(&d) / 8u")},
	{FOR("arrayLength(&rows.each)"), 37, FOR("arrayLength(&rows.each) + u.raw")},
	{FORI("i32(arrayLength(&c)) - 1"), 99, FORI("i32(arrayLength(&d)) - 1")},
	{FOR("min(u.raw, arrayLength(&c))"), 100, FOR("max(u.raw, arrayLength(&c))")},
	{"for (var i = lane; i < arrayLength(&c); i += 8u) { x++; }", 13,
	 "for (var i = lane; i < arrayLength(&d); i += 8u) { x++; }"},
	{"for (var i = arrayLength(&c); i > 0u; i--) { x++; }", 100,
	 "for (var i = arrayLength(&d); i > 0u; i--) { x++; }"},
	{"for (var i = 0u; i != arrayLength(&c); i++) { x++; }", 100,
	 "for (var i = 0u; i != arrayLength(&c); i += 3u) { x++; }"},
	{"var i = id.x; while (i < arrayLength(&c)) { x++; i += groups.x * 8u; }", 13,
	 "var i = id.x; while (i < arrayLength(&c)) { x++; i += groups.x * u.few; }"},
	/* conditions */
	{"let n = c[0]; if (n < 50u) { " FOR("n") " }", 49,
	 "let n = c[0]; if (n < 50u) { x++; } " FOR("n")},
	{"let n = c[0]; if (n >= 50u) { x++; } else { " FOR("n") " }", 49,
	 "let n = c[0]; if (n < 50u) { x++; } else { " FOR("n") " }"},
	{"let n = c[0]; if (n > 50u) { return; } " FOR("n"), 50,
	 "let n = c[0]; if (n > 50u) { x = 3u; } " FOR("n")},
	{"let n = c[0]; if (n <= 50u) { x = 3u; } else { return; } " FOR("n"), 50,
	 "let n = c[0]; if (n <= 50u) { return; } else { x = 3u; } " FOR("n")},
	{"let n = c[0]; if (n > 2u && n < 50u) { " FOR("n") " }", 49,
	 "let n = c[0]; if (n > 2u || n < 50u) { " FOR("n") " }"},
	{"let n = c[0]; if (50u > n) { " FOR("n / 2u + 1u") " }", 25,
	 "let n = c[0]; if (50u < n) { " FOR("n / 2u + 1u") " }"},
	{"let n = c[0]; if (n == 9u) { " FOR("n") " }", 9,
	 "let n = c[0]; if (n != 9u) { " FOR("n") " }"},
	{"let n = c[0]; let is = n < 9u; if (is) { " FOR("n") " }", 8,
	 "let n = c[0]; var is = n < 9u; if (c[1] > 0u) { is = true; } if (is) { " FOR("n") " }"},
	{"let n = c[0]; if (n < u.g) { " FOR("n") " }", 63,
	 "let n = c[0]; if (n < u.raw) { " FOR("n") " }"},
	{"var n = c[0]; if (n < 50u) { " FOR("n") " }", 49,
	 "var n = c[0]; if (n < 50u) { n = c[1]; " FOR("n") " }"},
	{"var n = c[0]; if (n > 50u) { n = 50u; } else { " FOR("n") " }", 50,
	 "var n = c[0]; if (n > 50u) { n = 50u; } else { x = 3u; } " FOR("n")
	 /* of a variable, all that it ever holds */},
	{"var n = c[0]; if (n > 50u) { return; } let m = n + 3u; " FOR("m"), 53,
	 "var n = c[0]; if (n > 50u) { return; } let m = n + c[1]; " FOR("m")},
	{"var n = c[0]; if (n > 50u) { n = c[1]; return; } " FOR("n"), 50,
	 "var n = c[0]; for (var k = 0u; k < 3u; k++) { let m = n; if (m > 50u) { n = c[1]; } else "
	 "{ n = c[2]; " FOR("n") " } }"},
	{"for (var k = 0u; k < 4u; k++) { let n = c[k]; if (n > 20u) { continue; } " FOR("n") " }",
	 20, "for (var k = 0u; k < 4u; k++) { let n = c[k]; if (n > 20u) { x++; } " FOR("n") " }"},
	{"for (var k = 0u; k < 4u; k++) { var n = c[k]; if (n < 9u) { " FOR("n") " } n = c[9]; }",
	 8,
	 "var n = 0u; for (var k = 0u; k < 4u; k++) { if (n < 9u) { for (var j = 0u; j < 2u; j++) "
	 "{ " FOR("n") " n = c[9]; } } }"},
	{"let n = u.sraw; if (n > 0 && n < 30) { " FORI("n") " }", 29,
	 "let n = u.sraw; if (n > 30 && n < 0x7fffffff) { " FORI("n") " }"},
	/* ways out of the body */
	{"var i = 0u; for (;;) { if (i >= u.k / 2u) { break; } x++; i++; }", 2049,
	 "var i = 0u; for (;;) { if (i >= u.raw / 2u) { break; } x++; i++; }"},
	{"var i = 0u; for (;;) { i++; if (i > u.k / 2u) { break; } x++; }", 2049,
	 "var i = 0u; for (;;) { if (x > 2u) { continue; } i++; if (i > u.k / 2u) { break; } x++; "
	 "}"},
	{"var i = 0u; for (;;) { if (i < u.k / 2u) { x++; } else { break; } i++; }", 2049,
	 "var i = 0u; for (;;) { if (i < u.k / 2u) { break; } else { x++; } i++; }"},
	{"var i = 0u; for (;;) { if (i == u.k / 2u) { return; } x++; i++; }", 2049,
	 "var i = 1u; for (;;) { if (i == u.k / 2u) { return; } x++; i++; }"},
	{"var i = 0u; for (;;) { if (i >= u.k / 2u || x > 3u) { break; } i++; }", 2049,
	 "var i = 0u; for (;;) { if (i >= u.k / 2u && x > 3u) { break; } i++; }"},
	{"var i = 0u; for (;;) { if (i >= u.k / 2u) { x++; break; } i++; }", 2049,
	 "var i = 0u; for (;;) { if (i >= u.k / 2u) { if (x > 3u) { continue; } break; } i++; }"},
	{"var i = 0u; var done = false; for (; !done; ) { i++; done = i >= u.k / 2u; }", 2048,
	 "var i = 0u; var done = false; for (; !done; ) { i++; if (x > 3u) { done = i >= u.k / 2u; "
	 "} }"},
	{"var i = 0u; var done = false; for (; !done; ) { i++; done = i >= u.k / 2u; }", 2048,
	 "var i = 0u; var done = false; let held = done; for (; !held; ) { i++; done = i >= u.k / "
	 "2u; }"},
	{"for (var i = 0u; i < u.raw; i++) { if (i >= u.k / 2u) { break; } x++; }", 2049,
	 "for (var i = 0u; i < u.raw; i++) { if (i >= u.k / 2u && x > 3u) { break; } x++; }"},
	{"for (var i = 0u; i < u.raw; i++) { if (i >= u.k / 2u) { break; } for (var j = 0u; j < i; "
	 "j++) { } }",
	 2047,
	 "for (var i = 0u; i < u.raw; i++) { for (var j = 0u; j < i; j++) { } if (i >= u.k / 2u) { "
	 "break; } "
	 "for (var k = i; k < u.raw; k++) { } }"},
	/* `while` and `loop` */
	{"var i = 0u; while (i < u.k / 2u) { x++; i++; }", 2048,
	 "var i = 0u; while (i < u.k / 2u) { x++; if (x > 3u) { i++; } }"},
	{"var n = u.k; while n > 0u { n >>= 1u; x++; }", 13,
	 "var n = u.k; while n > 0u { n >>= u.few; x++; }"},
	{"var n = u.k; while (n != 0u) { x += n & 1u; n = n / 2u; }", 13,
	 "var n = u.k; while (n != 0u) { x += n & 1u; n = n / u.few; }"},
	{"var i = 0u; loop { if (i >= u.k) { break; } x++; i++; }", 4097,
	 "var i = 0u; loop { if (i >= u.raw) { break; } x++; i++; }"},
	{"var i = 0u; loop { x++; continuing { i++; break if i >= u.k / 2u; } }", 2048,
	 "var i = 0u; loop { x++; continuing { i++; break if i >= u.k / 2u && x > 3u; } }"},
	{"var i = u.k + 2u; loop { x++; continuing { i -= 2u; break if i < 2u; } }", 2049,
	 "var i = u.k; loop { x++; continuing { i -= 2u; break if i < 2u; } }"},
	{"var i = 0u; loop { if (x > 3u) { continue; } x++; continuing { i++; break if i == u.k + "
	 "1u; } }",
	 4097,
	 "var i = 0u; loop { if (x > 3u) { continue; } x++; continuing { i++; break if i == u.k; } "
	 "}"},
	{"var i = 0u; loop { if i >= u.k { break; } x++; continuing { i += 4u; } }", 1025,
	 "var i = 0u; loop { if x > 9u { continue; } if i >= u.k { break; } x++; continuing { i += "
	 "u.few; } }"},
};

#define N_TWINS (sizeof(twins) / sizeof(twins[0]))

/* The kernel with that body; released with free(). */
static inline char *twin_text(const char *body)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char *text;

	pctl_str_addf(&s, "%s %s\n c[0] = x;\n}\n", head, body);
	text = pctl_str_finish(&s);
	assert_non_null(text);
	return text;
}

#endif
