/* Strict floats made of integers: each kernel runs on the reference as written (its own arithmetic) and
 * as legalised for a device of which nothing is proved, and must leave the same bytes. The forms are
 * WGSL, the reference's arithmetic is C: they share nothing but IEEE 754. */
#include "main.h"
#include "test_legalize_run.h"

/* f32 patterns by number: specials, subnormals, values near one another, anything. */
static uint32_t pattern(uint32_t i)
{
	static const uint32_t specials[] = {
		0,	    0x80000000, 1,	    0x80000001, 0x007fffff, 0x00800000,
		0x3f800000, 0xbf800000, 0x3f800800, 0x4b000000, 0x4f000000, 0xcf000000,
		0x4f800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001,
		0x7f800001, 0x40490fdb, 0x3f000000, 0xbf000000, 0x3fc00000, 0x33800000};
	const uint64_t r = rig_random(77, i);

	if (i % 3 == 0)
		return specials[(r >> 8) % (sizeof(specials) / sizeof(specials[0]))];
	if (i % 3 == 1)
		return (uint32_t)(r >> 32);
	return 0x3f000000u + ((uint32_t)(r >> 32) & 0x80ffffffu);
}

enum { N = 4096, MOST = 64 * 1024 };

/* Where the legalised program runs: the reference, or the plugin that PCTL_TEST_PLUGIN names. */
static void run_legal(legal_kernel *k, const char *text, const rig_bytes *arrays, uint64_t caps,
		      uint32_t groups)
{
	const char *path = getenv("PCTL_TEST_PLUGIN");
	pctl_program *made;
	rig device;

	rig_open(&device, path ? path : PIPECTL_BINARY_DIR "/plugins/cpu.so");
	if (path && (caps & ~device.caps.caps)) {
		fprintf(stderr, "%s cannot hold this in memory: %.60s\n", device.info.name, text);
		memcpy(arrays[1].data, arrays[2].data, arrays[1].n_bytes);
	} else {
		made = kernel_legal(k, caps, NULL, 0);
		assert_int_equal(made->caps & ~caps, 0);
		run_on(&device, made, arrays, 2, groups);
		pctl_program_destroy(made);
	}
	rig_close(&device);
}

/* input: N words in every case; the output has `words` words. */
static void some(const char *text, uint32_t words, uint64_t caps, uint32_t groups)
{
	uint32_t *in = calloc(N, 4), *out[2] = {calloc(MOST, 4), calloc(MOST, 4)};
	const rig_bytes arrays[3] = {
		{in, N * 4, 0}, {out[1], words * 4, 0}, {out[0], words * 4, 0}};
	const rig_bytes as_written[2] = {arrays[0], arrays[2]};
	uint32_t nonzero = 0;
	legal_kernel k;

	assert_true(in && out[0] && out[1] && words <= MOST);
	kernel_open(&k, text);
	for (uint32_t i = 0; i < N; i++)
		in[i] = pattern(i);
	run_on(&k.r, k.p, as_written, 2, groups);
	run_legal(&k, text, arrays, caps, groups);
	for (uint32_t i = 0; i < words; i++) {
		nonzero += out[0][i] != 0;
		if (out[0][i] != out[1][i])
			fail_msg("word %u: %08x as written, %08x legalised (inputs %08x %08x)", i,
				 out[0][i], out[1][i], in[i % N], in[(i + 1) % N]);
	}
	assert_true(nonzero > words / 8);
	kernel_close(&k);
	free(in);
	free(out[0]);
	free(out[1]);
}

static void both(const char *text, uint32_t words, uint64_t caps)
{
	some(text, words, caps, N / 64);
}

#define HEAD                                                              \
	"@group(0) @binding(0) var<storage, read> x: array<f32>;\n"       \
	"@group(0) @binding(1) var<storage, read_write> y: array<f32>;\n" \
	"@compute @workgroup_size(64)\n"                                  \
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"       \
	"  let i = id.x;\n"                                               \
	"  let a = x[i]; let b = x[(i + 1u) % 4096u]; let c = x[(i + 7u) % 4096u];\n"

static void test_legalize_float__arithmetic(void **state)
{
	(void)state;
	both(HEAD
	     "y[i * 8u] = a + b; y[i * 8u + 1u] = a - b; y[i * 8u + 2u] = a * b;\n"
	     "y[i * 8u + 3u] = a / b; y[i * 8u + 4u] = fma(a, b, c);\n"
	     "y[i * 8u + 5u] = sqrt(a); y[i * 8u + 6u] = min(a, b); y[i * 8u + 7u] = max(a, b);}",
	     N * 8, 0);
	both(HEAD "y[i * 8u] = floor(a); y[i * 8u + 1u] = ceil(a); y[i * 8u + 2u] = trunc(a);\n"
		  "y[i * 8u + 3u] = round(a); y[i * 8u + 4u] = f32(i32(a)); y[i * 8u + 5u] = "
		  "f32(u32(a));\n"
		  "y[i * 8u + 6u] = -a; y[i * 8u + 7u] = abs(a) - a * b + c;}",
	     N * 8, 0);
}

static void test_legalize_float__comparisons(void **state)
{
	(void)state;
	both(HEAD
	     "y[i] = f32(u32(a < b) + 2u * u32(a <= b) + 4u * u32(a > b) + 8u * u32(a >= b) +\n"
	     "16u * u32(a == b) + 32u * u32(a != b));}",
	     N, 0);
}

/* Late rules: the canonical NaN, its negation, moved payloads, in every kind of place. */
static void test_legalize_float__nan(void **state)
{
	(void)state;
	both(HEAD "var s = 0.0; if (i % 2u == 0u) { s = b; }\n"
		  "for (var n = 0u; n < 3u; n++) { s = s * a; if (n == i % 3u) { s = -s; } }\n"
		  "y[i * 4u] = s; y[i * 4u + 1u] = -(a / a - b / b); y[i * 4u + 2u] = select(a, a "
		  "+ 0.0, i % 5u == 0u);\n"
		  "y[i * 4u + 3u] = bitcast<f32>(bitcast<u32>(a * b) ^ 1u);}",
	     N * 4, 0);
}

/* Functions that are written out where they are called, and those that are not. */
static void test_legalize_float__calls(void **state)
{
	(void)state;
	both("struct P { a: f32, v: vec2<f32> }\n"
	     "var<private> count: u32;\n"
	     "fn local(a: f32, n: u32) -> f32 { var t: array<f32, 3>; t[n % 3u] += a; count += 1u; "
	     "return t[0] + t[2]; }\n"
	     "fn pair(p: P, s: f32) -> P { var q = p; q.v = q.v * local(s, 2u); if (s > 1.0) { q.a "
	     "= -q.a; } return q; }\n"
	     "fn early(a: f32) -> f32 { if (a < 0.5) { return a; } return local(a, 0u) / a; }\n"
	     "fn nothing(a: f32) { count += u32(a > 2.0); }\n" HEAD
	     "  var p = P(a, vec2(b, c)); var s = 0.0;\n"
	     "  for (var n = 0u; n < 4u; n++) { s += local(b, n); p = pair(p, s); nothing(s); if "
	     "(early(s) > c) { s -= early(-c); } }\n"
	     "  y[i * 4u] = s; y[i * 4u + 1u] = p.a; y[i * 4u + 2u] = p.v.x + p.v.y; y[i * 4u + "
	     "3u] = f32(count);}",
	     N * 4, 0);
}

static void test_legalize_float__vectors(void **state)
{
	(void)state;
	both("struct S { a: vec3<f32>, b: f32, m: mat3x2<f32>, l: array<vec2<f32>, 3> }\n"
	     "@group(0) @binding(0) var<storage, read> x: array<S, 256>;\n"
	     "@group(0) @binding(1) var<storage, read_write> y: array<S, 256>;\n"
	     "var<private> keep: S;\n"
	     "fn turn(s: S, m: mat3x2<f32>) -> S { var t = s; t.m = m * 2.0; t.l[1] = m * s.a; "
	     "return t; }\n"
	     "@compute @workgroup_size(4)\n"
	     "fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
	     "  let i = id.x; keep = x[i]; var s = turn(keep, x[255u - i].m);\n"
	     "  s.a = s.a.zyx * keep.b + vec3(1.0, -0.0, 2.5); s.b = dot(s.a, keep.a); s.m[i % 3u] "
	     "+= s.l[i % 3u];\n"
	     "  let t = transpose(s.m); s.l[0] = s.a * t;\n"
	     "  y[i] = s;}",
	     256 * 16, 0);
}

static void test_legalize_float__halves(void **state)
{
	(void)state;
	both("enable f16;\n"
	     "struct S { a: f16, b: vec3<f16>, m: mat2x3<f16>, l: array<f16, 3>, u: u32, h: "
	     "vec2<f16>, d: vec4<f16> }\n"
	     "@group(0) @binding(0) var<storage, read> x: array<S, 256>;\n"
	     "@group(0) @binding(1) var<storage, read_write> y: array<S, 256>;\n"
	     "var<workgroup> w: array<S, 4>;\n"
	     "@compute @workgroup_size(4)\n"
	     "fn main(@builtin(global_invocation_id) id: vec3<u32>, "
	     "@builtin(local_invocation_index) j: u32) {\n"
	     "  let i = id.x; w[j] = x[i]; workgroupBarrier();\n"
	     "  var s = w[3u - j]; s.b = s.b * s.a - s.m[1]; s.m = x[(i * 7u) % 256u].m;\n"
	     "  s.u = bitcast<u32>(s.h) ^ s.u; s.h = bitcast<vec2<f16>>(s.u); s.d = "
	     "bitcast<vec4<f16>>(bitcast<vec2<u32>>(s.d).yx);\n"
	     "  s.l[i % 3u] = f16(f32(s.l[(i + 1u) % 3u]) * 1.5) + sqrt(abs(s.a)); s.a = -s.a;\n"
	     "  y[i] = s; y[i].b.y = s.b.x + 1.0h; y[i].m[i % 2u][i % 3u] = s.d.w;}",
	     256 * 14, PCTL_CAP_STORE16);
}

/* f64 in every kind of place: operations, conversions, what is moved, NaN that is put right late. */
static void test_legalize_float__doubles(void **state)
{
	(void)state;
	both("struct S { a: f64, b: vec3<f64>, m: mat2x2<f64>, l: array<f64, 3> }\n"
	     "@group(0) @binding(0) var<storage, read> x: array<S, 128>;\n"
	     "@group(0) @binding(1) var<storage, read_write> y: array<S, 128>;\n"
	     "var<workgroup> w: array<S, 4>;\n"
	     "fn turn(s: S, k: f64) -> S { var t = s; t.b = t.b * k - s.b.zxy; return t; }\n"
	     "@compute @workgroup_size(4)\n"
	     "fn main(@builtin(global_invocation_id) id: vec3<u32>, "
	     "@builtin(local_invocation_index) j: u32) {\n"
	     "  let i = id.x; w[j] = x[i]; workgroupBarrier();\n"
	     "  var s = turn(w[3u - j], x[i].a); var t = 0.0lf; if (i % 2u == 0u) { t = s.a; }\n"
	     "  for (var n = 0u; n < 3u; n++) { t = fma(t, s.a, s.b.y); if (n == i % 3u) { t = -t; "
	     "} }\n"
	     "  s.m = s.m * 0.5lf; s.l[i % 3u] = sqrt(abs(t)) / s.l[0]; s.l[1] += round(t) - "
	     "floor(s.a);\n"
	     "  s.a = select(t, min(t, max(s.b.x, s.b.z)), t < s.a || s.b.x >= t);\n"
	     "  s.b.z = f64(f32(s.b.z)) + f64(i32(t)) + f64(u64(abs(s.b.y))) + f64(i64(t)) + "
	     "f64(u32(i));\n"
	     "  y[i] = s; y[i].m[i % 2u][1] = fma(f64(f32(t)), f64(f32(s.a)), s.b.x);}",
	     128 * 32, 0);
}

static void test_legalize_float__bfloats(void **state)
{
	(void)state;
	both("@group(0) @binding(0) var<storage, read> x: array<vec4<bf16>, 2048>;\n"
	     "@group(0) @binding(1) var<storage, read_write> y: array<vec4<bf16>, 2048>;\n"
	     "@compute @workgroup_size(32)\n"
	     "fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
	     "  let i = id.x; var v = x[i]; v = v * v.wzyx + vec4<bf16>(bf16(f32(i)));\n"
	     "  v.x = sqrt(v.y); v.z = bf16(f32(v.z) * 3.0); y[i] = select(-v, v / x[2047u - i], i "
	     "% 3u == 0u);}",
	     4096, PCTL_CAP_STORE16);
}

static void test_legalize_float__elementary(void **state)
{
	(void)state;
	/* Few: a simulator takes part. */
	some(HEAD "y[i * 3u] = sin(a); y[i * 3u + 1u] = exp(a); y[i * 3u + 2u] = log(abs(a));}",
	     256 * 3, 0, 4);
	/* pow is the longest of all: a compiler that takes half a minute of a core for it has it in tests that run by night. */
	if (getenv("PCTL_TEST_NO_POW") == NULL)
		some(HEAD "y[i] = pow(abs(a), b);}", 256, 0, 4);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_legalize_float__arithmetic),
		PCTL_TEST(test_legalize_float__comparisons), PCTL_TEST(test_legalize_float__nan),
		PCTL_TEST(test_legalize_float__calls), PCTL_TEST(test_legalize_float__vectors),
		PCTL_TEST(test_legalize_float__halves), PCTL_TEST(test_legalize_float__doubles),
		PCTL_TEST(test_legalize_float__bfloats), PCTL_TEST(test_legalize_float__elementary))
