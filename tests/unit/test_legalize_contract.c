/* Programs under range contracts: what is proved of them and what is not, each rule by a good and a bad twin, on a
 * device that is exact but for subnormals. That what is proved holds is test_legalize_contract_sound.c. */
#include "compiler/legalize/contract.h"
#include "main.h"
#include "test_legalize_run.h"
#include "unit/failing_allocation.h"

#define DEVICE (PCTL_CAP_F32 | PCTL_CAP_NATIVE_FLOAT)
#define BUFFERS                                                     \
	"@group(0) @binding(0) var<storage, read> x: array<f32>;\n" \
	"@group(0) @binding(1) var<storage, read> w: array<f32>;\n" \
	"@group(0) @binding(2) var<storage, read> p: array<u32>;\n" \
	"@group(0) @binding(3) var<storage, read_write> y: array<f32>;\n"
#define MAIN                                                        \
	"@compute @workgroup_size(64)\n"                            \
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n" \
	"  let i = id.x; let a = x[i]; let b = w[i]; let c = x[i + 1u];\n"
#define HEAD BUFFERS MAIN

/* Calls of forms that are left. */
static uint32_t calls_of(const pctl_program *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_insts; i++)
		n += p->insts[i].op == PCTL_OP_CALL;
	return n;
}

static pctl_contract_proof proof_by(const char *text, const pctl_profile *profile, uint32_t flags)
{
	const pctl_device_caps caps = {.head = PCTL_HEAD(pctl_device_caps), .caps = DEVICE};
	pctl_contract_proof proof;
	pctl_program *made = NULL;
	legal_kernel k;

	kernel_open(&k, text);
	const pctl_legal_options options = {.head = PCTL_HEAD(pctl_legal_options),
					    .profile = profile,
					    .forms = k.forms,
					    .flags = flags};

	rig_must(&k.r, pctl_legalise_contract(k.p, &caps, &options, &k.r.call, &proof, &made),
		 "legalising under contracts");
	if ((made != NULL) != (proof.verdict == PCTL_CONTRACT_PROVEN))
		fail_msg("%s: a program and no proof, or the other way round", text);
	if (made && !strstr(text, "fn g") && calls_of(made) != 0)
		fail_msg("%s\nis proven and has %u calls left", text, calls_of(made));
	pctl_program_destroy(made);
	kernel_close(&k);
	return proof;
}

static pctl_contract_proof proof_of(const char *text)
{
	const pctl_profile normal = profile_of(PCTL_NATIVE_NORMAL);

	return proof_by(text, &normal, 0);
}

/* why NULL: the program is proved, else the reason that is given. */
static void expect(const char *text, const char *why)
{
	const pctl_contract_proof proof = proof_of(text);

	if (proof.verdict != (why ? PCTL_CONTRACT_UNPROVEN : PCTL_CONTRACT_PROVEN))
		fail_msg("%s\nhas verdict %u (%s), %u operations", text, proof.verdict, proof.why,
			 proof.n_operations);
	if (why && strstr(proof.why, why) == NULL)
		fail_msg("%s\nis not proved for \"%s\", not \"%s\"", text, proof.why, why);
	if (why && proof.where.line == 0)
		fail_msg("%s\n\"%s\" is said of no place", text, proof.why);
	assert_true(proof.n_operations > 0);
}

#define SUBNORMAL "may be subnormal"
#define INFINITE "may be infinite or a NaN"

/* ---- each operation ------------------------------------------------------------------------- */

static void test_legalize_contract__operations(void **state)
{
	static const struct {
		const char *good, *bad, *why;
	} twins[] = {
		/* sums cancel, but exactly */
		{"y[i] = a + b - c;", "y[i] = a + bitcast<f32>(p[i]) - c;", SUBNORMAL},
		{"y[i] = a * b * c;", "y[i] = a * b * c * b;",
		 "mul: an operand or the result " SUBNORMAL},
		{"y[i] = a * b * 0.5 * 8.0 - 1.0;", "y[i] = a * b * 1e-15;", SUBNORMAL},
		{"y[i] = a * 1e15;", "y[i] = a * b * c * 1e18;", INFINITE},
		{"y[i] = fma(a, b, c);", "y[i] = fma(a, b, c) * b;", SUBNORMAL},
		{"y[i] = fma(a, b, a * c);", "y[i] = fma(a * b, c, a);", SUBNORMAL},
		/* a divisor that may be zero, and there is none that may not */
		{"y[i] = a + b;", "y[i] = a / b;", INFINITE},
		{"y[i] = a + abs(b);", "y[i] = sqrt(a + b);", INFINITE},
		{"y[i] = -a + b;", "y[i] = -a * b * c * a;", SUBNORMAL},
		{"y[i] = max(a, b) * min(a, c);", "y[i] = max(a, b) * min(a, c) * c * b;",
		 SUBNORMAL},
		{"y[i] = floor(a * b) + trunc(a);", "y[i] = floor(a * 1e38);", INFINITE},
		{"if (a * b < c) { y[i] = 1.0; }", "if (a * b < c * a * b * c) { y[i] = 1.0; }",
		 SUBNORMAL},
		{"y[i] = select(a, b, c == 0.0) + 1.0;",
		 "y[i] = select(a, a * b, c == 0.0) * b * c;", SUBNORMAL},
		{"y[i] = f32(p[i]) * a * 2.0;", "y[i] = f32(p[i]) * a * b * c * a;", INFINITE},
		/* what a buffer has that is no f32 alone is not looked at */
		{"y[i] = x[i + 3u] * w[i + 9u];", "y[i] = a + y[i + 1u];", SUBNORMAL},
		{"y[i] = exp2(min(max(a, -8.0), 8.0)) * 4.0 + b;", "y[i] = exp(a) * b;", ""},
	};
	char text[2048];

	(void)state;
	for (size_t i = 0; i < sizeof(twins) / sizeof(twins[0]); i++) {
		/* exp2 is a call on every device */
		if (!strstr(twins[i].good, "exp2")) {
			snprintf(text, sizeof(text), "%s%s}", HEAD, twins[i].good);
			expect(text, NULL);
		}
		snprintf(text, sizeof(text), "%s%s}", HEAD, twins[i].bad);
		expect(text, twins[i].why);
	}
}

/* Vectors, matrices, structs, private memory and calls. */
static void test_legalize_contract__flow(void **state)
{
	(void)state;
	expect(HEAD "let v = vec4(a, b, c, 0.0); var s = v * v.wzyx; s.y = b; s[i & 3u] += a;\n"
		    "y[i] = s.x + s.y - s.z + dot(v, v);}",
	       NULL);
	expect(HEAD "let v = vec4(a, b, c, 0.0); y[i] = (v * v.wzyx * v * v).x;}", SUBNORMAL);
	expect("var<private> q: f32;\nfn g(u: f32, v: f32) -> f32 { if (u == 7.0) { return 1.0; } "
	       "q "
	       "= u; return u * v; }\n" HEAD "y[i] = g(a, b) + g(c, 2.0) - q;}",
	       NULL);
	expect("var<private> q: f32;\nfn g(u: f32, v: f32) -> f32 { if (u == 7.0) { return 1.0; } "
	       "q "
	       "= u; return u * v; }\n" HEAD "y[i] = g(a, b) + g(g(c, b) * b, g(a, c)) - q;}",
	       SUBNORMAL);
	/* a struct of f32 alone, and a uniform, are buffers with contracts; one with a counter is not */
	expect("struct S { k: f32, v: vec3<f32>, m: mat2x2<f32> }\n"
	       "@group(0) @binding(4) var<uniform> u: S;\n" HEAD
	       "y[i] = a * u.k + u.v.y * u.m[1].x;}",
	       NULL);
	expect("struct S { k: f32, n: u32 }\n"
	       "@group(0) @binding(4) var<uniform> u: S;\n" HEAD "y[i] = a * u.k;}",
	       SUBNORMAL);
}

/* ---- sums ----------------------------------------------------------------------------------- */

static void test_legalize_contract__sums(void **state)
{
	(void)state;
	/* the sum of any number of products is finite: what is large enough takes no more in */
	expect(HEAD
	       "var s = 0.0; for (var k = 0u; k < p[i] % 5000u; k++) { s = fma(x[k], w[k], s); "
	       "} y[i] = s;}",
	       NULL);
	expect(HEAD "var s = b; for (var k = 0u; k < p[i] % 5000u; k++) { if (k == 3u) { s = -s; } "
		    "s = s + x[k] * w[k] - c; s += a; } y[i] = s;}",
	       NULL);
	/* one that grows by itself is not */
	expect(HEAD "var s = b; for (var k = 0u; k < 200u; k++) { s = s + s; } y[i] = s;}",
	       INFINITE);
	expect(HEAD "var s = b; for (var k = 0u; k < 200u; k++) { s = fma(s, a, c); } y[i] = s;}",
	       SUBNORMAL);
	/* sums of sums of products of 2^40: 2^80, by as many turns as there are */
	expect(HEAD "var t = 0.0; for (var j = 0u; j < 64u; j++) { var s = 0.0;\n"
		    "for (var k = 0u; k < 64u; k++) { s = fma(x[j + k], w[k], s); } t += s; } y[i] "
		    "= t;}",
	       NULL);
	expect(HEAD "var t = 0.0; for (var j = 0u; j < 5000u; j++) { var s = 0.0;\n"
		    "for (var k = 0u; k < 5000u; k++) { s = fma(x[j + k], w[k], s); } t += s; } "
		    "y[i] = t;}",
	       INFINITE);
	/* sums in arrays and in components of vectors */
	expect(HEAD
	       "var s: array<vec4<f32>, 4>; for (var k = 0u; k < 99u; k++) { let v = vec4(x[k]);\n"
	       "for (var j = 0u; j < 4u; j++) { s[j] = fma(v, vec4(w[j]), s[j]); s[j].x += a; } }\n"
	       "y[i] = s[0].x + s[1].y + s[2].z + s[3].w;}",
	       NULL);
	expect(HEAD
	       "var s: array<vec4<f32>, 4>; for (var k = 0u; k < 99u; k++) { let v = vec4(x[k]);\n"
	       "for (var j = 0u; j < 4u; j++) { s[j] = fma(s[3u - j], v, s[j]); } }\n"
	       "y[i] = s[0].x;}",
	       SUBNORMAL);
}

/* ---- tiles ---------------------------------------------------------------------------------- */

#define TILES                                                                                  \
	BUFFERS                                                                                \
	"var<workgroup> ta: array<f32, 64>; var<workgroup> tb: array<array<f32, 8>, 8>;\n"     \
	"@compute @workgroup_size(8, 8)\n"                                                     \
	"fn main(@builtin(workgroup_id) g: vec3<u32>, @builtin(local_invocation_id) l: "       \
	"vec3<u32>) {\n"                                                                       \
	"  var acc = 0.0;\n"                                                                   \
	"  for (var t = 0u; t < 4096u; t += 8u) {\n"                                           \
	"    ta[l.y * 8u + l.x] = x[(g.x * 8u + l.y) * 4096u + t + l.x]; tb[l.y][l.x] = w[(t " \
	"+ l.y) * 8u + l.x]"

static void test_legalize_contract__tiles(void **state)
{
	(void)state;
	expect(TILES ";\n    workgroupBarrier();\n"
		     "    for (var k = 0u; k < 8u; k++) { acc = fma(ta[l.y * 8u + k], tb[k][l.x], "
		     "acc); }\n"
		     "    workgroupBarrier();\n  }\n"
		     "  y[g.x * 64u + l.y * 8u + l.x] = acc;\n}",
	       NULL);
	/* a product put into the tile leaves no room for another */
	expect(TILES " * 0.3;\n    workgroupBarrier();\n"
		     "    for (var k = 0u; k < 8u; k++) { acc = fma(ta[l.y * 8u + k], tb[k][l.x], "
		     "acc); }\n"
		     "    workgroupBarrier();\n  }\n"
		     "  y[g.x * 64u + l.y * 8u + l.x] = acc;\n}",
	       SUBNORMAL);
	/* a tile that sums up: whose turns nobody counts */
	expect(TILES ";\n    workgroupBarrier();\n"
		     "    tb[l.x][l.y] += ta[l.y * 8u + l.x] * 2.0;\n"
		     "    workgroupBarrier();\n  }\n"
		     "  y[g.x * 64u + l.y * 8u + l.x] = acc + tb[0][l.x];\n}",
	       NULL);
}

/* ---- nothing to prove ----------------------------------------------------------------------- */

static void test_legalize_contract__needless(void **state)
{
	static const char sum[] = HEAD "y[i] = a + b;}";
	const pctl_profile exact = profile_of(PCTL_NATIVE_EXACT),
			   wrong = profile_of(PCTL_NATIVE_WRONG),
			   normal = profile_of(PCTL_NATIVE_NORMAL);

	(void)state;
	assert_int_equal(proof_by(sum, &normal, 0).verdict, PCTL_CONTRACT_PROVEN);
	/* a device that keeps subnormals, one that is wrong anyway, class approximate */
	assert_int_equal(proof_by(sum, &exact, 0).verdict, PCTL_CONTRACT_NEEDLESS);
	assert_int_equal(proof_by(sum, &wrong, 0).verdict, PCTL_CONTRACT_NEEDLESS);
	assert_int_equal(proof_by(sum, &normal, PCTL_LEGAL_NATIVE).verdict, PCTL_CONTRACT_NEEDLESS);
	assert_int_equal(proof_by(sum, NULL, 0).verdict, PCTL_CONTRACT_NEEDLESS);
	/* no buffer of floats, and a proof that needs none */
	assert_int_equal(proof_of(BUFFERS "@compute @workgroup_size(1) fn main() { y[0] = "
					  "bitcast<f32>(p[0]) * 2.0; }")
				 .verdict,
			 PCTL_CONTRACT_NEEDLESS);
	assert_int_equal(proof_of(BUFFERS "@compute @workgroup_size(1) fn main() { y[0] = "
					  "f32(p[0]) * 2.0; y[1] = x[0]; }")
				 .verdict,
			 PCTL_CONTRACT_NEEDLESS);
}

/* Each allocation fails in its turn. */
static void test_legalize_contract__memory(void **state)
{
	static const char text[] =
		HEAD "var s = 0.0; for (var k = 0u; k < 9u; k++) { s = fma(x[k], "
		     "w[k], s); } y[i] = s + a;}";
	const pctl_device_caps caps = {.head = PCTL_HEAD(pctl_device_caps), .caps = DEVICE};
	const pctl_profile normal = profile_of(PCTL_NATIVE_NORMAL);
	pctl_status status = PCTL_E_NOMEM;
	pctl_contract_proof proof;
	pctl_program *made;
	legal_kernel k;
	uint32_t n = 0;

	(void)state;
	kernel_open(&k, text);
	k.r.loud = 0;
	const pctl_legal_options options = {
		.head = PCTL_HEAD(pctl_legal_options), .profile = &normal, .forms = k.forms};

	/* the forms are compiled once, before */
	assert_int_equal(pctl_legalise_contract(k.p, &caps, &options, &k.r.call, &proof, &made),
			 PCTL_OK);
	pctl_program_destroy(made);
	while (status != PCTL_OK) {
		made = NULL;
		failing_allocation = ++n;
		status = pctl_legalise_contract(k.p, &caps, &options, NULL, &proof, &made);
		failing_allocation = 0;
		if (status != PCTL_OK && (status != PCTL_E_NOMEM || made != NULL))
			fail_msg("allocation %u fails, and the status is %d", n, (int)status);
	}
	assert_int_equal(proof.verdict, PCTL_CONTRACT_PROVEN);
	assert_true(n > 20);
	pctl_program_destroy(made);
	kernel_close(&k);
}

static void test_legalize_contract__variables(void **state)
{
	uint8_t is[8] = {0};
	legal_kernel k;

	(void)state;
	kernel_open(&k, "struct S { v: vec3<f32>, k: f32 }\nstruct T { v: f32, n: u32 }\n"
			"@group(0) @binding(4) var<uniform> u: S;\n"
			"@group(0) @binding(5) var<uniform> t: T;\n" HEAD
			"y[i] = a * u.k + t.v; y[i + 1u] = f32(p[i]);}");
	assert_int_equal(pctl_contract_vars(k.p, is), 3);
	for (uint32_t i = 0; i < k.p->n_vars; i++) {
		const char name = pctl_str(k.p, k.p->vars[i].name)[0];

		if (is[i] != (name == 'u' || name == 'x' || name == 'w'))
			fail_msg("%c: %u", name, is[i]);
	}
	kernel_close(&k);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_legalize_contract__operations),
		PCTL_TEST(test_legalize_contract__flow), PCTL_TEST(test_legalize_contract__sums),
		PCTL_TEST(test_legalize_contract__tiles),
		PCTL_TEST(test_legalize_contract__needless),
		PCTL_TEST(test_legalize_contract__memory),
		PCTL_TEST(test_legalize_contract__variables))
