/* Distances between floats against what IEEE 754's order says, and drift over buffers whose differences are known. */
#include "main.h"

#include <math.h>
#include <stdlib.h>

#include "evidence/audit/drift.h"

static uint32_t f32_bits(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, 4);
	return bits;
}

static void test_audit__ulp_counts_the_floats_between(void **state)
{
	const uint32_t one = f32_bits(1.0f);
	float next = 1.0f;
	(void)state;

	for (uint64_t i = 0; i < 1000; i++) {
		assert_int_equal(pctl_drift_ulp(PCTL_SCALAR_F32, f32_bits(next), one), i);
		next = nextafterf(next, 2.0f);
	}
	next = -0.0f;
	for (uint64_t i = 1; i < 1000; i++) {
		assert_int_equal(pctl_drift_ulp(PCTL_SCALAR_F32, f32_bits(next), 0), i);
		next = nextafterf(next, -1.0f);
	}
	assert_int_equal(pctl_drift_ulp(PCTL_SCALAR_F16, 0x3c00, 0x3c01), 1);
	assert_int_equal(pctl_drift_ulp(PCTL_SCALAR_BF16, 0x8000, 0x0000), 1);
	assert_int_equal(pctl_drift_ulp(PCTL_SCALAR_F64, 0x3ff0000000000000, 0x3ff0000000000004),
			 4);
	/* the whole line: from -infinity to infinity */
	assert_int_equal(pctl_drift_ulp(PCTL_SCALAR_F32, 0xff800000, 0x7f800000),
			 2ull * 0x7f800000 + 1);
}

static void test_audit__ulp_of_nans(void **state)
{
	(void)state;
	assert_int_equal(pctl_drift_ulp(PCTL_SCALAR_F32, 0x7fc00000, 0x7fc00000), 0);
	assert_int_equal(pctl_drift_ulp(PCTL_SCALAR_F32, 0x7fc00000, 0xffc00001), 1);
	assert_int_equal(pctl_drift_ulp(PCTL_SCALAR_F32, 0x7fc00000, 0x3f800000), 0xffffffff);
	assert_int_equal(pctl_drift_ulp(PCTL_SCALAR_F16, 0x3c00, 0x7e00), 0xffff);
	assert_true(pctl_drift_ulp(PCTL_SCALAR_F64, 0, 0x7ff8000000000000) == UINT64_MAX);
	/* an infinity is no NaN */
	assert_int_equal(pctl_drift_ulp(PCTL_SCALAR_F32, 0x7f800000, 0x7f7fffff), 1);
	assert_false(pctl_drift_is_nan(PCTL_SCALAR_F32, 0xff800000));
	assert_true(pctl_drift_is_nan(PCTL_SCALAR_F32, 0xff800001));
	assert_false(pctl_drift_is_nan(PCTL_SCALAR_U32, 0xff800001));
}

static void test_audit__values_of_bits(void **state)
{
	const float floats[] = {0.0f, -0.0f, 1.0f, -3.25f, 1e-42f, 3.4e38f, 0.1f};
	(void)state;

	for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); i++) {
		const double v = pctl_drift_value(PCTL_SCALAR_F32, f32_bits(floats[i]));
		const double want = (double)floats[i];

		assert_memory_equal(&v, &want, sizeof(v));
	}
	assert_true(pctl_drift_value(PCTL_SCALAR_F16, 0x3555) > 0.333 &&
		    pctl_drift_value(PCTL_SCALAR_F16, 0x3555) < 0.3334);
	assert_true(pctl_drift_value(PCTL_SCALAR_F16, 1) == ldexp(1, -24));
	assert_true(pctl_drift_value(PCTL_SCALAR_BF16, 0x4049) == 3.140625);
	assert_true(isinf(pctl_drift_value(PCTL_SCALAR_F32, 0xff800000)));
	assert_true(isnan(pctl_drift_value(PCTL_SCALAR_F64, UINT64_MAX)));
	assert_true(pctl_drift_value(PCTL_SCALAR_I32, 0xffffffff) == -1.0);
	assert_true(pctl_drift_value(PCTL_SCALAR_U32, 0xffffffff) == 4294967295.0);
}

#define N 100000u

static void test_audit__drift_of_a_buffer(void **state)
{
	uint32_t *want = calloc(N, 4), *got = calloc(N, 4);
	pctl_audit_drift d = {.device = 3, .job = 7};
	(void)state;

	assert_non_null(want);
	assert_non_null(got);
	for (uint32_t i = 0; i < N; i++)
		want[i] = got[i] = f32_bits((float)(i + 1));
	got[40000] += 1;
	got[40001] -= 5;
	got[99999] += 1u << 20;
	got[7] = 0x7fc00000;
	pctl_drift_compare(got, want, 4ull * N, PCTL_SCALAR_F32, &d);
	assert_int_equal(d.device, 3);
	assert_int_equal(d.job, 7);
	assert_int_equal(d.n_elements, N);
	assert_int_equal(d.n_different, 4);
	assert_int_equal(d.n_nan, 1);
	assert_int_equal(d.first, 7);
	assert_int_equal(d.first_got, 0x7fc00000);
	assert_int_equal(d.first_want, f32_bits(8.0f));
	assert_int_equal(d.max_ulp, 0xffffffff);
	assert_int_equal(d.max_at, 7);
	assert_int_equal(d.histogram[0], N - 4);
	assert_int_equal(d.histogram[1], 1);
	assert_int_equal(d.histogram[3], 1);
	assert_int_equal(d.histogram[21], 1);
	assert_true(d.mean_ulp == (double)(1 + 5 + (1 << 20)) / (double)(N - 1));
	assert_true(d.max_relative > 0.05 && d.max_relative < 0.13);
	for (uint32_t i = 0; i < 256; i++) {
		const int hit = i == 0 || i == 40000ull * 256 / N || i == 255;

		assert_int_equal(d.strip_ppm[i] != 0, hit);
		assert_int_equal(d.strip_ulp[i] != 0, hit);
	}
	assert_int_equal(d.strip_ulp[255], 1u << 20);
	free(want);
	free(got);
}

static void test_audit__drift_in_pieces_is_the_same(void **state)
{
	uint8_t *want = calloc(N, 1), *got = calloc(N, 1);
	const uint32_t dtypes[] = {0,
				   PCTL_SCALAR_F16,
				   PCTL_SCALAR_F32,
				   PCTL_SCALAR_F64,
				   PCTL_SCALAR_U32,
				   PCTL_DTYPE_U128};
	const uint64_t n = N / 16 * 16;
	uint64_t seed = 1;
	(void)state;

	assert_non_null(want);
	assert_non_null(got);
	for (uint32_t i = 0; i < N; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		want[i] = (uint8_t)(seed >> 56);
		got[i] = (uint8_t)(seed >> 33 & 1023 ? want[i] : seed >> 48);
	}
	for (size_t k = 0; k < sizeof(dtypes) / sizeof(dtypes[0]); k++) {
		pctl_audit_drift whole = {.device = 0}, pieces = {.device = 0};
		pctl_drift s;

		pctl_drift_compare(got, want, n, dtypes[k], &whole);
		pctl_drift_begin(&s, dtypes[k], n);
		for (uint64_t at = 0, step; at < n; at += step) {
			step = 16 * (1 + at / 16 % 37);
			step = step < n - at ? step : n - at;
			pctl_drift_add(&s, got + at, want + at, step);
		}
		pctl_drift_end(&s, &pieces);
		assert_memory_equal(&whole, &pieces, sizeof(whole));
		assert_true(whole.n_different > 0);
	}
	free(want);
	free(got);
}

static void test_audit__drift_of_integers_only_counts(void **state)
{
	uint32_t want[3] = {1, 2, 3}, got[3] = {1, 0xffffffff, 3};
	pctl_audit_drift d = {.device = 0};
	(void)state;

	pctl_drift_compare(got, want, sizeof(want), PCTL_SCALAR_U32, &d);
	assert_int_equal(d.n_different, 1);
	assert_int_equal(d.first, 1);
	assert_int_equal(d.max_ulp, 0);
	assert_int_equal(d.histogram[0], 2);
	/* three elements under 256 parts: the middle third shows the one that differs */
	assert_int_equal(d.strip_ppm[0], 0);
	assert_int_equal(d.strip_ppm[128], 1000000);
	assert_int_equal(d.strip_ppm[255], 0);
}

static void test_audit__drift_of_nothing(void **state)
{
	pctl_audit_drift d = {.device = 0};
	(void)state;

	pctl_drift_compare("", "", 0, PCTL_SCALAR_F32, &d);
	assert_int_equal(d.n_elements, 0);
	assert_int_equal(d.n_different, 0);
	assert_true(d.mean_ulp == 0);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_audit__ulp_counts_the_floats_between),
		PCTL_TEST(test_audit__ulp_of_nans), PCTL_TEST(test_audit__values_of_bits),
		PCTL_TEST(test_audit__drift_of_a_buffer),
		PCTL_TEST(test_audit__drift_in_pieces_is_the_same),
		PCTL_TEST(test_audit__drift_of_integers_only_counts),
		PCTL_TEST(test_audit__drift_of_nothing))
