/* Strict floats made of native operations: what the legalised program looks like on a device whose
 * every operation is exact, and, where PCTL_TEST_PLUGIN names such a device's plugin, that it leaves the
 * bytes the reference leaves. */
#include "compiler/legalize/legal_parts.h"
#include "main.h"
#include "test_legalize_run.h"

#define DEVICE \
	(PCTL_CAP_F32 | PCTL_CAP_F64 | PCTL_CAP_NATIVE_FLOAT | PCTL_CAP_STORE16 | PCTL_CAP_I64)

#define HEAD                                                              \
	"@group(0) @binding(0) var<storage, read> x: array<f32>;\n"       \
	"@group(0) @binding(1) var<storage, read_write> y: array<f32>;\n" \
	"@compute @workgroup_size(64)\n"                                  \
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"       \
	"  let i = id.x;\n"

static const char dense[] =
	HEAD "  var s = array<vec2<f32>, 2>(); var t = 0.0;\n"
	     "  for (var n = 0u; n < 16u; n++) {\n"
	     "    s[n % 2u] = fma(vec2(x[i + n]), vec2(x[n], t), s[n % 2u]); t = t + s[0].x;\n"
	     "  }\n"
	     "  y[i] = s[0].x - s[1].y;\n}";

static uint8_t scalar_of_local(const pctl_program *p, uint32_t i)
{
	uint32_t type = p->locals[i].type;

	while (p->types[type].kind == PCTL_TYPE_ARRAY)
		type = p->types[type].elem;
	return p->types[type].scalar;
}

static void test_legalize_native__dense(void **state)
{
	const pctl_profile exact = profile_of(PCTL_NATIVE_EXACT);
	uint32_t native_locals = 0;
	pctl_program *made;
	legal_kernel k;

	(void)state;
	kernel_open(&k, dense);
	made = kernel_legal(&k, DEVICE, &exact, 0);
	assert_int_equal(count_op(made, "main", PCTL_OP_NFMA), 1);
	assert_int_equal(count_op(made, "main", PCTL_OP_NADD), 1);
	/* one NaN is put right: at the store */
	assert_int_equal(count_op(made, "main", PCTL_OP_SELECT), 1);
	for (uint32_t i = 0; i < made->n_locals; i++)
		native_locals += scalar_of_local(made, i) == PCTL_SCALAR_F32;
	assert_int_equal(native_locals, 2);
	pctl_program_destroy(made);
	kernel_close(&k);
}

/* What is loaded keeps its payload, so its local is no native one; a negation between native operations
 * costs no look at NaN, one that is stored does. */
static void test_legalize_native__moved(void **state)
{
	const pctl_profile exact = profile_of(PCTL_NATIVE_EXACT);
	pctl_program *made;
	legal_kernel k;

	(void)state;
	kernel_open(&k, HEAD "var s = x[i]; if (i > 3u) { s = s * 2.0; } y[i] = s;}");
	made = kernel_legal(&k, DEVICE, &exact, 0);
	for (uint32_t i = 0; i < made->n_locals; i++)
		assert_int_not_equal(scalar_of_local(made, i), PCTL_SCALAR_F32);
	pctl_program_destroy(made);
	kernel_close(&k);

	kernel_open(&k, HEAD "y[i] = x[i] + -(x[i] / x[i + 1u]);}");
	made = kernel_legal(&k, DEVICE, &exact, 0);
	assert_int_equal(count_op(made, "main", PCTL_OP_SELECT), 1);
	pctl_program_destroy(made);
	kernel_close(&k);

	kernel_open(&k, HEAD "y[i] = -(x[i] / x[i + 1u]);}");
	made = kernel_legal(&k, DEVICE, &exact, 0);
	assert_int_equal(count_op(made, "main", PCTL_OP_SELECT), 1);
	assert_int_equal(count_op(made, "main", PCTL_OP_XOR), 1);
	pctl_program_destroy(made);
	kernel_close(&k);
}

static void test_legalize_native__approximate(void **state)
{
	const pctl_profile wrong = profile_of(PCTL_NATIVE_WRONG);
	pctl_program *made;
	legal_kernel k;

	(void)state;
	kernel_open(&k, HEAD "y[i] = sin(x[i]) / x[i + 1u];}");
	made = kernel_legal(&k, DEVICE, &wrong, PCTL_LEGAL_NATIVE);
	assert_int_equal(count_op(made, "main", PCTL_OP_NSIN), 1);
	assert_int_equal(count_op(made, "main", PCTL_OP_NDIV), 1);
	assert_int_equal(count_op(made, "main", PCTL_OP_SELECT), 0);
	assert_int_equal(made->n_functions, 2);
	pctl_program_destroy(made);
	made = kernel_legal(&k, DEVICE, &wrong, 0);
	assert_int_equal(count_op(made, "main", PCTL_OP_NDIV), 0);
	assert_int_equal(made->caps & PCTL_CAP_F64, 0);
	pctl_program_destroy(made);
	kernel_close(&k);
}

/* Forms in f64 where f64 is exact; a device that knows them only as integers takes another kind. */
static void test_legalize_native__forms(void **state)
{
	const pctl_device_caps caps = {.head = PCTL_HEAD(pctl_device_caps), .caps = DEVICE};
	pctl_profile p = profile_of(PCTL_NATIVE_EXACT);
	pctl_program *made;
	legal_kernel k;
	uint32_t kind;

	(void)state;
	p.native[PCTL_NATIVE_F32_DIV] = PCTL_NATIVE_WRONG;
	p.native[PCTL_NATIVE_F32_FMA] = PCTL_NATIVE_WRONG;
	assert_string_equal(pctl_legal_form(&p, &caps, PCTL_OP_FADD, PCTL_SCALAR_F32, &kind),
			    "native");
	assert_int_equal(kind, PCTL_FORM_NATIVE);
	assert_non_null(pctl_legal_form(&p, &caps, PCTL_OP_FDIV, PCTL_SCALAR_F32, &kind));
	assert_int_equal(kind, PCTL_FORM_F64);
	assert_non_null(pctl_legal_form(&p, &caps, PCTL_OP_FSIN, PCTL_SCALAR_F32, &kind));
	assert_int_equal(kind, PCTL_FORM_F64);
	assert_non_null(pctl_legal_form(NULL, &caps, PCTL_OP_FSIN, PCTL_SCALAR_F32, &kind));
	assert_int_equal(kind, PCTL_FORM_INT);
	assert_null(pctl_legal_form(NULL, &caps, PCTL_OP_FADD, PCTL_SCALAR_I32, &kind));
	assert_int_equal(kind, PCTL_FORM_NONE);

	kernel_open(&k, HEAD "y[i] = x[i] / x[i + 1u];}");
	made = kernel_legal(&k, DEVICE, &p, 0);
	assert_true((made->caps & PCTL_CAP_F64) != 0);
	pctl_program_destroy(made);
	/* one operation of f64 that is not exact, and all of it becomes integers */
	p.native[PCTL_NATIVE_F64_LT] = PCTL_NATIVE_WRONG;
	made = kernel_legal(&k, DEVICE, &p, 0);
	assert_int_equal(made->caps & PCTL_CAP_F64, 0);
	pctl_program_destroy(made);
	kernel_close(&k);
}

static void test_legalize_native__refused(void **state)
{
	const pctl_device_caps caps = {.head = PCTL_HEAD(pctl_device_caps),
				       .caps = DEVICE & ~PCTL_CAP_STORE16};
	pctl_legal_options options = {.head = PCTL_HEAD(pctl_legal_options)};
	pctl_program *out = NULL;
	legal_kernel k;

	(void)state;
	kernel_open(&k, "enable f16;\n"
			"@group(0) @binding(0) var<storage, read_write> y: array<f16>;\n"
			"@compute @workgroup_size(1) fn main() { y[0] = y[1]; }");
	k.r.loud = 0;
	options.forms = k.forms;
	assert_int_equal(pctl_legalise(k.p, &caps, &options, &k.r.call, &out), PCTL_E_UNSUPPORTED);
	assert_int_equal(k.r.last_code, PC2501_LEGAL_CAPABILITY);
	assert_non_null(strstr(k.r.last_text, "16-bit values in storage memory"));
	assert_null(out);
	assert_int_equal(pctl_legalise(k.p, &caps, NULL, &k.r.call, &out), PCTL_E_UNSUPPORTED);
	kernel_close(&k);
}

/* Each row is named, with what it lacks; here by a module that has no forms. */
static void test_legalize_native__no_form(void **state)
{
	const pctl_device_caps caps = {.head = PCTL_HEAD(pctl_device_caps), .caps = DEVICE};
	pctl_profile p = profile_of(PCTL_NATIVE_EXACT);
	const pctl_program *nothing = NULL;
	legal_chooser *c = NULL;
	pctl_program *out = NULL;
	legal_kernel k;

	(void)state;
	kernel_open(&k, HEAD "y[i] = x[i] + f32(i32(x[i])); y[i] = sinh(y[i]);}");
	k.r.loud = 0;
	p.native[PCTL_NATIVE_F32_ADD] = PCTL_NATIVE_WRONG;
	rig_must(&k.r, legal_softfloat_int64(k.forms, &k.r.call, &nothing), "int64.wgsl");
	rig_must(&k.r, legal_chooser_create(&p, &caps, 0, nothing, &k.r.call, &c), "choosing");
	assert_int_equal(legal_float_pass(k.p, NULL, NULL, c, nothing, &k.r.call, &out),
			 PCTL_E_UNSUPPORTED);
	assert_null(out);
	/* the last of three */
	assert_int_equal(k.r.last_code, PC2504_LEGAL_OPERATION);
	assert_string_equal(k.r.last_text, "sinh of f32 cannot be made exact on this device: "
					   "f32_sinh is not written yet");
	legal_chooser_destroy(c);
	kernel_close(&k);
}

/* ---- on a device -------------------------------------------------------------------------- */

enum { N = 4096 };

static const char every[] =
	HEAD "let a = x[i]; let b = x[i + 1u]; let c = x[i + 2u];\n"
	     "y[i * 16u] = a + b; y[i * 16u + 1u] = a - b; y[i * 16u + 2u] = a * b;\n"
	     "y[i * 16u + 3u] = a / b; y[i * 16u + 4u] = fma(a, b, c); y[i * 16u + 5u] = "
	     "sqrt(a);\n"
	     "y[i * 16u + 6u] = a * b + c; y[i * 16u + 7u] = -(a / b); y[i * 16u + 8u] = "
	     "abs(a - a / b);\n"
	     "y[i * 16u + 9u] = floor(a); y[i * 16u + 10u] = round(b); y[i * 16u + 11u] "
	     "= f32(i32(a));\n"
	     "y[i * 16u + 12u] = select(a, b * c, a < b); y[i * 16u + 13u] = "
	     "f32(bitcast<u32>(a));\n"
	     "y[i * 16u + 14u] = select(1.0, 2.0, a != a); y[i * 16u + 15u] = trunc(c);}";

static const char flow[] =
	HEAD "var s = x[i]; for (var n = 0u; n < i % 7u; n++) { s = s * x[i + n]; if (s "
	     "> 2.0) { s = -s; } }\n"
	     "var v = vec4(s, x[i], s * s, 1.0); v = v.wzyx / v.x; y[i * 4u] = v.x; y[i "
	     "* 4u + 1u] = v.y;\n"
	     "y[i * 4u + 2u] = v.z; y[i * 4u + 3u] = v[i % 4u]; }";

static void with_profile(const char *text, uint32_t words, const pctl_profile *profile)
{
	uint32_t *in = calloc(2 * N, 4), *out[2] = {calloc(words, 4), calloc(words, 4)};
	const rig_bytes as_written[2] = {{in, 2 * N * 4, 0}, {out[0], words * 4, 0}},
			there[2] = {{in, 2 * N * 4, 0}, {out[1], words * 4, 0}};
	pctl_program *made;
	legal_kernel k;
	rig device;

	rig_open(&device, getenv("PCTL_TEST_PLUGIN"));
	kernel_open(&k, text);
	for (uint32_t i = 0; i < 2 * N; i++) {
		const uint64_t r = rig_random(5, i);

		in[i] = r & 1 ? (uint32_t)(r >> 32)
			      : 0x3f000000u + ((uint32_t)(r >> 32) & 0x80ffffffu);
		if (r % 13 == 0)
			in[i] &= 0x807fffffu;
		if (r % 17 == 0)
			in[i] |= 0x7f800000u;
	}
	made = kernel_legal(&k, device.caps.caps, profile, 0);
	run_on(&k.r, k.p, as_written, 2, N / 64);
	run_on(&device, made, there, 2, N / 64);
	for (uint32_t i = 0; i < words; i++)
		if (out[0][i] != out[1][i])
			fail_msg("word %u: %08x as written, %08x on %s", i, out[0][i], out[1][i],
				 device.info.name);
	pctl_program_destroy(made);
	kernel_close(&k);
	rig_close(&device);
	free(in);
	free(out[0]);
	free(out[1]);
}

static void on_device(const char *text, uint32_t words)
{
	const pctl_profile exact = profile_of(PCTL_NATIVE_EXACT);

	with_profile(text, words, &exact);
}

/* Conversions between f32 and f64 that lose subnormals are guarded, and the rest stays f64; a product and a sum are fused
 * where that is exact. */
static void test_legalize_native__elementary(void **state)
{
	pctl_profile p = profile_of(PCTL_NATIVE_EXACT);
	pctl_program *made;
	legal_kernel k;

	(void)state;
	kernel_open(&k, HEAD "y[i] = exp(x[i]);}");
	made = kernel_legal(&k, DEVICE, &p, 0);
	assert_int_equal(count_op(made, "mad64_fused", PCTL_OP_NFMA), 1);
	assert_int_equal(count_op(made, "narrow_native", PCTL_OP_NCONVERT), 1);
	pctl_program_destroy(made);
	p.native[PCTL_NATIVE_F64_FMA] = PCTL_NATIVE_WRONG;
	p.native[PCTL_NATIVE_F32_TO_F64] = p.native[PCTL_NATIVE_F64_TO_F32] = PCTL_NATIVE_NORMAL;
	made = kernel_legal(&k, DEVICE, &p, 0);
	assert_true((made->caps & PCTL_CAP_F64) != 0);
	assert_int_equal(count_op(made, "mad64", PCTL_OP_NMUL), 1);
	assert_int_equal(count_op(made, "widen_guarded", PCTL_OP_NCONVERT), 0);
	assert_int_equal(count_op(made, "widen_guarded", PCTL_OP_NMUL), 1);
	assert_int_equal(count_op(made, "narrow_guarded", PCTL_OP_NCONVERT), 1);
	pctl_program_destroy(made);
	p.native[PCTL_NATIVE_F64_TO_F32] = PCTL_NATIVE_WRONG;
	made = kernel_legal(&k, DEVICE, &p, 0);
	assert_int_equal(count_op(made, "narrow", PCTL_OP_NCONVERT), 0);
	pctl_program_destroy(made);
	kernel_close(&k);
}

/* Whatever less is proved of an exact device, the bytes are the same. */
static void test_legalize_native__any_profile(void **state)
{
	pctl_profile p;

	(void)state;
	if (!getenv("PCTL_TEST_PLUGIN"))
		return; /* the run on each driver, in tests/conform, names one */
	for (uint32_t seed = 0; seed < 8; seed++) {
		for (uint32_t i = 0; i < PCTL_N_NATIVE; i++)
			p.native[i] = (uint8_t)(seed == 0   ? PCTL_NATIVE_NORMAL
						: seed == 1 ? PCTL_NATIVE_WRONG
							    : rig_random(seed, i) % 4);
		/* half of them with doubles */
		for (uint32_t i = PCTL_NATIVE_F64_ADD; i <= PCTL_NATIVE_F64_FROM_U32 && seed % 2;
		     i++)
			p.native[i] = PCTL_NATIVE_EXACT;
		with_profile(every, N * 16, &p);
		with_profile(flow, N * 4, &p);
	}
}

static void test_legalize_native__device(void **state)
{
	(void)state;
	if (!getenv("PCTL_TEST_PLUGIN"))
		return; /* the run on each driver, in tests/conform, names one */
	on_device(dense, N);
	on_device(every, N * 16);
	on_device(HEAD "let a = x[i]; y[i * 8u] = sin(a); y[i * 8u + 1u] = exp(a); y[i * 8u + 2u] "
		       "= log(a);\n"
		       "y[i * 8u + 3u] = pow(abs(a), x[i + 1u]); y[i * 8u + 4u] = atan2(a, x[i + "
		       "1u]); y[i * 8u + 5u] = tanh(a);\n"
		       "y[i * 8u + 6u] = acos(a); y[i * 8u + 7u] = tan(a);}",
		  N * 8);
	on_device(flow, N * 4);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_legalize_native__dense), PCTL_TEST(test_legalize_native__moved),
		PCTL_TEST(test_legalize_native__approximate),
		PCTL_TEST(test_legalize_native__forms), PCTL_TEST(test_legalize_native__elementary),
		PCTL_TEST(test_legalize_native__refused), PCTL_TEST(test_legalize_native__no_form),
		PCTL_TEST(test_legalize_native__device),
		PCTL_TEST(test_legalize_native__any_profile))
