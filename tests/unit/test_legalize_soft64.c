/* Soft doubles: programs of native f64 operations, with every f64 made a pair of words and run on the
 * reference, against the doubles of this host. */
#include <math.h>

#include "compiler/legalize/legal_parts.h"
#include "main.h"
#include "test_legalize_run.h"

enum { N = 1024 };

static void compile(legal_kernel *k, const char *text)
{
	const pctl_wgsl_options options = {.file = "test.wgsl", .flags = PCTL_WGSL_NATIVE};

	memset(k, 0, sizeof(*k));
	rig_open(&k->r, PIPECTL_BINARY_DIR "/plugins/cpu.so");
	k->r.loud = 1;
	rig_must(&k->r, pctl_softfloat_create(&k->r.call, &k->forms), "the forms");
	rig_must(&k->r, pctl_wgsl_compile(text, strlen(text), &options, &k->r.call, &k->p),
		 "the test's kernel");
}

/* n pairs of words in, n_out words out. */
static void run(const char *text, const void *in, uint32_t n, uint32_t *out, uint32_t n_out)
{
	const rig_bytes arrays[2] = {{(void *)(uintptr_t)in, n * 8, 0}, {out, n_out * 4, 0}};
	pctl_program *soft = NULL;
	legal_kernel k;

	compile(&k, text);
	rig_must(&k.r, legal_int64_pass(k.p, 1u << PCTL_SCALAR_F64, 0, k.forms, &k.r.call, &soft),
		 "soft doubles");
	assert_int_equal(soft->caps, 0);
	run_on(&k.r, soft, arrays, 2, N / 64);
	pctl_program_destroy(soft);
	kernel_close(&k);
}

static double operand(uint32_t i)
{
	static const double specials[] = {0.0, -0.0,  1.0,	-1.0, 0x1p-1074, 0x1p-1022,
					  0.5, 1e308, 0x1p1023, 3.0,  -2.5,	 1e-310};
	const uint64_t r = rig_random(9, i);
	double d;

	if (i % 4 == 0)
		return specials[(r >> 9) % (sizeof(specials) / sizeof(specials[0]))];
	if (i % 4 == 1) {
		memcpy(&d, &r, 8);
		return d;
	}
	return ldexp((double)(int64_t)r, (int)(i % 40) - 60);
}

static uint64_t bits_of(double d)
{
	uint64_t b;

	memcpy(&b, &d, 8);
	return b;
}

static void expect(const uint32_t *words, double d, const char *what, double a, double b)
{
	const uint64_t got = words[0] | (uint64_t)words[1] << 32;

	if (d != d ? (got << 1) > (0x7ffull << 53) : got == bits_of(d))
		return;
	fail_msg("%s of %a and %a: %016llx, not %016llx", what, a, b, (unsigned long long)got,
		 (unsigned long long)bits_of(d));
}

static void operands(double *in)
{
	for (uint32_t i = 0; i < N; i++)
		in[i] = operand(i);
}

#define HEAD                                                                    \
	"@group(0) @binding(0) var<storage, read> x: array<vec2<u32>>;\n"       \
	"@group(0) @binding(1) var<storage, read_write> y: array<vec2<u32>>;\n" \
	"@compute @workgroup_size(64)\n"                                        \
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"             \
	"  let i = id.x; let a = bitcast<f64>(x[i]); let b = bitcast<f64>(x[(i + 1u) % 1024u]);\n"

static void test_legalize_soft64__arithmetic(void **state)
{
	static double in[N];
	static uint32_t out[N * 16];

	(void)state;
	operands(in);
	run(HEAD
	    "y[i * 8u] = bitcast<vec2<u32>>(a + b); y[i * 8u + 1u] = bitcast<vec2<u32>>(a - b);\n"
	    "y[i * 8u + 2u] = bitcast<vec2<u32>>(a * b); y[i * 8u + 3u] = bitcast<vec2<u32>>(a / "
	    "b);\n"
	    "y[i * 8u + 4u] = bitcast<vec2<u32>>(sqrt(a)); y[i * 8u + 5u] = "
	    "bitcast<vec2<u32>>(-a);\n"
	    "y[i * 8u + 6u] = bitcast<vec2<u32>>(abs(a)); y[i * 8u + 7u] = "
	    "bitcast<vec2<u32>>(floor(a));}",
	    in, N, out, N * 16);
	for (uint32_t i = 0; i < N; i++) {
		const double a = in[i], b = in[(i + 1) % N];
		const uint32_t *w = out + i * 16;

		expect(w, a + b, "sum", a, b);
		expect(w + 2, a - b, "difference", a, b);
		expect(w + 4, a * b, "product", a, b);
		expect(w + 6, a / b, "quotient", a, b);
		expect(w + 8, sqrt(a), "root", a, b);
		expect(w + 10, -a, "negation", a, b);
		expect(w + 12, fabs(a), "absolute value", a, b);
		expect(w + 14, floor(a), "floor", a, b);
	}
}

static void test_legalize_soft64__comparisons(void **state)
{
	static double in[N];
	static uint32_t out[N * 2];

	(void)state;
	operands(in);
	run(HEAD "let t = select(a, b, a < b); let v = vec2<f64>(a, b) < vec2<f64>(b, a);\n"
		 "y[i] = vec2<u32>(u32(a < b) + 2u * u32(a <= b) + 4u * u32(a > b) + 8u * u32(a >= "
		 "b) +\n"
		 "16u * u32(a == b) + 32u * u32(a != b) + 64u * u32(t == b) + 128u * u32(v.x) + "
		 "256u * u32(v.y), 7u);}",
	    in, N, out, N * 2);
	for (uint32_t i = 0; i < N; i++) {
		const double a = in[i], b = in[(i + 1) % N], t = a < b ? b : a;
		const uint32_t want = (uint32_t)(a < b) + 2u * (uint32_t)(a <= b) +
				      4u * (uint32_t)(a > b) + 8u * (uint32_t)(a >= b) +
				      16u * (uint32_t)(a == b) + 32u * (uint32_t)(a != b) +
				      64u * (uint32_t)(t == b) + 128u * (uint32_t)(a < b) +
				      256u * (uint32_t)(b < a);

		if (out[2 * i] != want)
			fail_msg("%a and %a: %x, not %x", a, b, out[2 * i], want);
	}
}

/* Conversions, constants, tables, locals, arrays, vectors, calls. */
static void test_legalize_soft64__data(void **state)
{
	static double in[N];
	static uint32_t out[N * 8];
	static const double table[3] = {1.5, -0x1.23456789abcdep+3, 1e-300};

	(void)state;
	for (uint32_t i = 0; i < N; i++)
		in[i] = (double)(int32_t)(uint32_t)rig_random(3, i) / 8;
	run("const table = array<f64, 3>(1.5lf, -0x1.23456789abcdep+3lf, 1e-300lf);\n"
	    "struct P { a: f64, b: vec2<f64> }\n"
	    "fn twice(p: P, v: vec2<f64>) -> P { return P(p.a + p.a, v * p.b.yx); }\n" HEAD
	    "var l = array<f64, 4>(); l[i % 4u] = a; l[(i + 1u) % 4u] += l[i % 4u] * 3.0lf;\n"
	    "let p = twice(P(a, vec2<f64>(a, b)), vec2<f64>(2.0lf, b));\n"
	    "y[i * 4u] = bitcast<vec2<u32>>(l[(i + 1u) % 4u] + table[i % 4u]);\n"
	    "y[i * 4u + 1u] = bitcast<vec2<u32>>(p.a + p.b.x); y[i * 4u + 2u] = "
	    "vec2<u32>(bitcast<u32>(i32(a)), u32(abs(b)));\n"
	    "y[i * 4u + 3u] = bitcast<vec2<u32>>(f64(i32(a)) - f64(i) + p.b.y); }",
	    in, N, out, N * 8);
	for (uint32_t i = 0; i < N; i++) {
		const double a = in[i], b = in[(i + 1) % N];
		const uint32_t *w = out + i * 8;

		expect(w, a * 3 + (i % 4 < 3 ? table[i % 4] : 0), "table", a, b);
		expect(w + 2, a + a + 2 * b, "struct", a, b);
		assert_int_equal((int32_t)w[4], (int32_t)a);
		assert_int_equal(w[5], (uint32_t)fabs(b));
		expect(w + 6, (double)(int32_t)a - i + b * a, "conversion", a, b);
	}
}

PCTL_TESTS_MAIN(PCTL_TEST(test_legalize_soft64__arithmetic),
		PCTL_TEST(test_legalize_soft64__comparisons), PCTL_TEST(test_legalize_soft64__data))
