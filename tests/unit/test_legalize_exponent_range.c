/* The analysis of granules, against what the reference computes: every value stored is a multiple of what
 * the analysis says, and below its bound; and what it is for: no guards where no subnormal can be. */
#include <math.h>

#include "compiler/legalize/exponent_range.h"
#include "main.h"
#include "test_legalize_run.h"

enum { N = 4096, EACH = 36 };

static const char kernel[] =
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
	"@group(0) @binding(1) var<storage, read_write> y: array<f32>;\n"
	"const table = array<f32, 4>(0.75, 1e-20, 3.0, -0.0);\n"
	"@compute @workgroup_size(64)\n"
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
	"  let i = id.x; let n = x[i];\n"
	"  let a = f32(i32(n)); let b = f32(n >> 8u) * 5.9604645e-8; let m = bitcast<f32>(n);\n"
	"  let t = table[i % 5u]; var s = 0.0; var r = 1.0; var v = vec3(a, 0.5, b);\n"
	"  for (var k = 0u; k < 9u; k++) { s = fma(b, t, s); r = r * 0.125; v = v + vec3(b); }\n"
	"  let j = i * 36u;\n"
	"  y[j + 0u] = a; y[j + 1u] = b; y[j + 2u] = a + b; y[j + 3u] = a * b;\n"
	"  y[j + 4u] = fma(a, b, t); y[j + 5u] = s; y[j + 6u] = r;\n"
	"  y[j + 7u] = v.y; y[j + 8u] = a / (b + 1.0); y[j + 9u] = sqrt(b);\n"
	"  y[j + 10u] = log(b); y[j + 11u] = log2(b + 0.5); y[j + 12u] = log10(a);\n"
	"  y[j + 13u] = exp(-b); y[j + 14u] = exp2(b * 30.0);\n"
	"  y[j + 15u] = floor(a * b); y[j + 16u] = m; y[j + 17u] = m * b;\n"
	"  y[j + 18u] = m + a; y[j + 19u] = min(m, b); y[j + 20u] = -abs(a - t);\n"
	"  y[j + 21u] = select(a, t, i % 2u == 0u); y[j + 22u] = m / a;\n"
	"  y[j + 23u] = inverseSqrt(m); y[j + 24u] = a % 3.0; y[j + 25u] = log(m);\n"
	"  y[j + 26u] = trunc(m); y[j + 27u] = exp(m);\n"
	"  y[j + 28u] = b * b * b * b * b * b; y[j + 29u] = round(b * 7.0);\n"
	"  y[j + 30u] = sqrt(abs(m)); y[j + 31u] = sin(m); y[j + 32u] = sin(b);\n"
	"  y[j + 33u] = cos(m); y[j + 34u] = tan(a); y[j + 35u] = atan(b);\n"
	"}";

static int holds(legal_exponent_range g, uint32_t bits)
{
	const uint32_t magnitude = bits & 0x7fffffffu;
	float f;
	double d;

	memcpy(&f, &bits, 4);
	if (!magnitude || magnitude >= 0x7f800000u)
		return 1;
	d = ldexp(fabs((double)f), -g.lsb);
	return d == floor(d) && fabs((double)f) < ldexp(1.0, g.top);
}

static void test_legalize_exponent_range__holds(void **state)
{
	static uint32_t in[N], out[N * EACH];
	const rig_bytes arrays[2] = {{in, sizeof(in), 0}, {out, sizeof(out), 0}};
	legal_exponent_ranges all = {0};
	uint32_t stores = 0, useful = 0;
	const pctl_function *fn;
	legal_kernel k;

	(void)state;
	kernel_open(&k, kernel);
	for (uint32_t i = 0; i < N; i++)
		in[i] = i < 64 ? i : (uint32_t)rig_random(4, i) >> (i % 5 ? 0 : i % 32);
	run_on(&k.r, k.p, arrays, 2, N / 64);
	fn = &k.p->functions[1];
	assert_true(legal_exponent_ranges_find(k.p, &all));
	for (uint32_t v = 0; v < fn->n_insts; v++) {
		const pctl_inst *st = &k.p->insts[fn->first_inst + v];
		pctl_place place;
		legal_exponent_range g;

		if (st->op != PCTL_OP_STORE || !pctl_place_get(k.p, fn, st, &place) ||
		    place.space != PCTL_SPACE_STORAGE)
			continue;
		g = all.values[fn->first_inst + pctl_arg(k.p, st, 0)];
		useful += g.lsb > LEGAL_LSB_LEAST;
		for (uint32_t i = 0; i < N; i++)
			if (!holds(g, out[i * EACH + stores]))
				fail_msg("store %u of input %08x: %08x is no multiple of 2^%d "
					 "below 2^%d",
					 stores, in[i], out[i * EACH + stores], g.lsb, g.top);
		stores++;
	}
	assert_int_equal(stores, EACH);
	assert_true(useful >= 20);
	legal_exponent_ranges_drop(&all);
	kernel_close(&k);
}

static uint32_t calls(const char *text, uint32_t *n_native)
{
	const pctl_profile normal = profile_of(PCTL_NATIVE_NORMAL);
	pctl_program *made;
	legal_kernel k;
	uint32_t n;

	kernel_open(&k, text);
	made = kernel_legal(&k, PCTL_CAP_F32 | PCTL_CAP_NATIVE_FLOAT, &normal, 0);
	n = count_op(made, "main", PCTL_OP_CALL);
	*n_native = count_op(made, "main", PCTL_OP_NADD) + count_op(made, "main", PCTL_OP_NMUL) +
		    count_op(made, "main", PCTL_OP_NFMA) + count_op(made, "main", PCTL_OP_NDIV);
	pctl_program_destroy(made);
	kernel_close(&k);
	return n;
}

#define HEAD                                                              \
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"       \
	"@group(0) @binding(1) var<storage, read_write> y: array<f32>;\n" \
	"@compute @workgroup_size(1) fn main() {\n"

static void test_legalize_exponent_range__guards(void **state)
{
	uint32_t n;

	(void)state;
	assert_int_equal(calls(HEAD
			       "let u = f32(x[0] >> 8u) * 5.9604645e-8; var s = 0.0;\n"
			       "for (var k = 0u; k < x[1] % 9u; k++) { s = fma(u, u, s) + u; }\n"
			       "y[0] = s / (u + 1.0);}",
			       &n),
			 0);
	assert_int_equal(n, 5);
	/* through calls (early returns keep them calls), and memory that only the program writes */
	assert_int_equal(
		calls("var<workgroup> w: array<f32, 4>; var<private> q: f32;\n"
		      "fn u(n: u32) -> f32 { if (n == 7u) { return 0.5; } return f32(n >> 8u); }\n"
		      "fn g(a: f32, b: f32) -> f32 { if (x[3] == 7u) { return -a; } q = a; return "
		      "a * b + w[1]; }\n" HEAD
		      "w[0] = u(x[0]) * 0.5; let s = g(u(x[1]), 0.25); y[0] = s + q + "
		      "w[0]; y[1] = g(w[0], 2.0);}",
		      &n),
		4);
	assert_int_equal(n, 3);
	/* of other memory nothing is known */
	assert_int_equal(calls(HEAD "y[0] = bitcast<f32>(x[0]) * 0.5;}", &n), 1);
	assert_int_equal(n, 0);
	/* nor of a local that shrinks in a loop */
	assert_int_equal(calls(HEAD "var s = 1.0; for (var k = 0u; k < x[1] % 9u; k++) { s = s * "
				    "0.5; } y[0] = s;}",
			       &n),
			 1);
	assert_int_equal(n, 0);
	/* a product of two that are no subnormals each */
	assert_int_equal(calls(HEAD "let a = f32(x[0]) * 1e-30; y[0] = a * a;}", &n), 1);
	assert_int_equal(n, 1);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_legalize_exponent_range__holds),
		PCTL_TEST(test_legalize_exponent_range__guards))
