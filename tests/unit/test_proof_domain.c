/* Domains: every tuple once where that is promised, any block alone the same as in one go, values by hand; and lines of
 * kept counterexamples. */
#include "test_proof_rig.h"

#include "evidence/proof/domain.h"
#include "evidence/proof/random.h"
#include "evidence/proof/regression.h"
#include "evidence/proof/values.h"

static const uint32_t all[] = {PCTL_SCALAR_U32, PCTL_SCALAR_I32,  PCTL_SCALAR_U64, PCTL_DTYPE_U128,
			       PCTL_SCALAR_F16, PCTL_SCALAR_BF16, PCTL_SCALAR_F32};
#define N_ALL (sizeof(all) / sizeof(all[0]))

static void counts(void **state)
{
	static const struct {
		uint32_t kind, dtype, n_vars;
		uint64_t cases;
	} expected[] = {
		{PCTL_DOMAIN_EXHAUSTIVE8, PCTL_SCALAR_U32, 1, 256},
		{PCTL_DOMAIN_EXHAUSTIVE8, PCTL_SCALAR_I32, 2, 65536},
		{PCTL_DOMAIN_EXHAUSTIVE8, PCTL_DTYPE_U128, 3, 1u << 24},
		{PCTL_DOMAIN_EXHAUSTIVE8, PCTL_SCALAR_U32, 4, 0},
		{PCTL_DOMAIN_EXHAUSTIVE8, PCTL_SCALAR_F16, 1, 0},
		{PCTL_DOMAIN_EXHAUSTIVE8, PCTL_SCALAR_U32, 0, 0},
		{PCTL_DOMAIN_EXHAUSTIVE16, PCTL_SCALAR_F16, 1, 65536},
		{PCTL_DOMAIN_EXHAUSTIVE16, PCTL_SCALAR_BF16, 2, 0},
		{PCTL_DOMAIN_EXHAUSTIVE16, PCTL_SCALAR_F32, 1, 0},
		{PCTL_DOMAIN_EXHAUSTIVE16, PCTL_SCALAR_U64, 1, 65536},
		{PCTL_DOMAIN_LATTICE16, PCTL_SCALAR_F16, 1, 0},
		{PCTL_DOMAIN_LATTICE16, PCTL_SCALAR_BF16, 2, 65536 * 32},
		{PCTL_DOMAIN_LATTICE16, PCTL_SCALAR_F16, 3, 65536 * 48},
		{PCTL_DOMAIN_PAIRS16, PCTL_SCALAR_BF16, 2, UINT64_C(1) << 32},
		{PCTL_DOMAIN_PAIRS16, PCTL_SCALAR_F32, 2, 0},
		{PCTL_DOMAIN_RANDOM, PCTL_SCALAR_F32, 2, 77},
		{PCTL_DOMAIN_RANDOM, PCTL_SCALAR_F32, 5, 0},
		{PCTL_DOMAIN_EXAMPLES, PCTL_SCALAR_F32, 0, 1},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const pctl_domain d = pctl_domain_make(expected[i].kind, expected[i].dtype,
						       expected[i].n_vars, 1, 77);

		if (d.n_cases != expected[i].cases)
			fail_msg("row %u has %u cases", i, (unsigned)d.n_cases);
	}
	for (uint32_t i = 0; i < N_ALL; i++)
		for (uint32_t n = 1; n <= 4; n++) {
			const pctl_domain d =
				pctl_domain_make(PCTL_DOMAIN_ADVERSARIAL, all[i], n, 1, 0);

			assert_true(d.n_cases >= 39 && d.n_cases <= PCTL_PROOF_BLOCK);
		}
}

/* Any range is the same as that part of the whole. */
static void blocks(void **state)
{
	const uint64_t n = 3000;
	pctl_column whole[3], part[3];

	(void)state;
	proof_columns(whole, 3, n);
	proof_columns(part, 3, n);
	for (uint32_t kind = PCTL_DOMAIN_EXHAUSTIVE8; kind <= PCTL_DOMAIN_RANDOM; kind++)
		for (uint32_t i = 0; i < N_ALL; i++)
			for (uint32_t vars = 1; vars <= 3; vars++) {
				const uint64_t bytes = pctl_proof_dtype_bytes(all[i]);
				const pctl_domain d =
					pctl_domain_make(kind, all[i], vars, 9, 90000);
				const uint64_t base = 65536 - n / 2;

				if (kind == PCTL_DOMAIN_EXAMPLES || d.n_cases < base + n)
					continue;
				pctl_domain_fill(&d, base, n, whole);
				for (uint64_t at = 0; at < n; at += 700) {
					const uint64_t now = n - at < 700 ? n - at : 700;

					pctl_domain_fill(&d, base + at, now, part);
					for (uint32_t v = 0; v < vars; v++)
						assert_memory_equal(part[v].data,
								    whole[v].data + at * bytes,
								    now * bytes);
				}
			}
	proof_columns_free(whole, 3);
	proof_columns_free(part, 3);
}

static void all_of_8_bits(void **state)
{
	uint8_t *seen = calloc(65536, 1);
	pctl_column c[2];
	pctl_domain d;

	(void)state;
	proof_columns(c, 2, 65536);
	d = pctl_domain_make(PCTL_DOMAIN_EXHAUSTIVE8, PCTL_SCALAR_I32, 2, 1, 0);
	pctl_domain_fill(&d, 0, 65536, c);
	for (uint32_t i = 0; i < 65536; i++) {
		const int32_t a = ((int32_t *)(void *)c[0].data)[i];
		const int32_t b = ((int32_t *)(void *)c[1].data)[i];

		assert_true(a >= -128 && a <= 127 && b >= -128 && b <= 127);
		assert_int_equal(seen[(a + 128) * 256 + b + 128]++, 0);
	}
	d = pctl_domain_make(PCTL_DOMAIN_EXHAUSTIVE8, PCTL_DTYPE_U128, 2, 1, 0);
	pctl_domain_fill(&d, 255, 1, c);
	assert_int_equal(c[0].data[0], 255);
	for (uint32_t k = 1; k < 16; k++)
		assert_int_equal(c[0].data[k], 0);
	free(seen);
	proof_columns_free(c, 2);
}

/* Every value stands beside the same partners in each place, and no tuple twice. */
static void lattice(void **state)
{
	static uint16_t tuples[65536 * 32][2];
	uint8_t *seen = calloc(UINT64_C(1) << 32 >> 3, 1);
	uint32_t found = 0, double_ = 0;
	pctl_column c[2];
	const pctl_domain d = pctl_domain_make(PCTL_DOMAIN_LATTICE16, PCTL_SCALAR_F16, 2, 1, 0);

	(void)state;
	proof_columns(c, 2, d.n_cases);
	pctl_domain_fill(&d, 0, d.n_cases, c);
	for (uint64_t i = 0; i < d.n_cases; i++) {
		uint16_t pair[2];
		uint64_t bit;

		memcpy(&pair[0], c[0].data + 2 * i, 2);
		memcpy(&pair[1], c[1].data + 2 * i, 2);
		memcpy(tuples[i], pair, 4);
		bit = (uint64_t)pair[0] << 16 | pair[1];
		double_ += seen[bit / 8] >> bit % 8 & 1;
		found += (seen[bit / 8] >> bit % 8 & 1) == 0;
		seen[bit / 8] |= (uint8_t)(1u << bit % 8);
	}
	/* Partners beside partners come from both places. */
	assert_int_equal(double_, 16 * 16);
	assert_int_equal(found, d.n_cases - 16 * 16);
	for (uint32_t i = 0; i < 65536 * 16; i++)
		assert_true(tuples[i][0] == (i & 65535) &&
			    tuples[i + 65536 * 16][1] == (i & 65535) &&
			    tuples[i][1] == tuples[i + 65536 * 16][0]);
	free(seen);
	proof_columns_free(c, 2);
}

static int has(uint32_t dtype, uint64_t low)
{
	uint8_t values[PCTL_VALUES_MAX][16];
	const uint32_t n = pctl_proof_values(dtype, values);

	for (uint32_t i = 0; i < n; i++)
		if (memcmp(values[i], &low, 8) == 0)
			return 1;
	return 0;
}

static void chosen_values(void **state)
{
	static const uint64_t u32[] = {0,	   1,	       31,     32,	33,	0x80000000,
				       0xffffffff, 0x7fffffff, 0xffff, 0x10000, 0x10001};
	static const uint64_t f32[] = {0,	   0x80000000, 1,	   0x7fffff,   0x800000,
				       0x3f800000, 0x3f800001, 0x3f7fffff, 0x7f7fffff, 0x7f800000,
				       0x7fc00000, 0x7f800001, 0xff800000, 0x4b800000};
	static const uint64_t f16[] = {0,      0x8000, 1,      0x3ff,  0x400,
				       0x3c00, 0x7bff, 0x7c00, 0x7e00, 0x7c01};

	(void)state;
	for (uint32_t i = 0; i < sizeof(u32) / sizeof(u32[0]); i++)
		assert_true(has(PCTL_SCALAR_U32, u32[i]));
	for (uint32_t i = 0; i < sizeof(f32) / sizeof(f32[0]); i++)
		assert_true(has(PCTL_SCALAR_F32, f32[i]));
	for (uint32_t i = 0; i < sizeof(f16) / sizeof(f16[0]); i++)
		assert_true(has(PCTL_SCALAR_F16, f16[i]));
	assert_true(has(PCTL_SCALAR_U64, 63) && has(PCTL_SCALAR_U64, 64) &&
		    has(PCTL_SCALAR_U64, UINT64_C(1) << 32) && has(PCTL_DTYPE_U128, 128));
	assert_int_equal(pctl_proof_values(PCTL_SCALAR_BOOL, NULL), 0);
}

static void halves(void **state)
{
	static const struct {
		uint32_t bits, f16, bf16;
	} rows[] = {{0x3f800000, 0x3c00, 0x3f80}, {0x80000000, 0x8000, 0x8000},
		    {0x477fe000, 0x7bff, 0x4780}, {0x477ff000, 0x7c00, 0x4780},
		    {0x00000001, 0x0000, 0x0000}, {0x3f808000, 0x3c04, 0x3f80},
		    {0x3f818000, 0x3c0c, 0x3f82}, {0x7f800000, 0x7c00, 0x7f80},
		    {0x7fc00000, 0x7e00, 0x7fc0}, {0x7f800001, 0x7c01, 0x7f81},
		    {0xffc00000, 0xfe00, 0xffc0}};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(pctl_proof_from_f32(rows[i].bits, PCTL_SCALAR_F16), rows[i].f16);
		assert_int_equal(pctl_proof_from_f32(rows[i].bits, PCTL_SCALAR_BF16), rows[i].bf16);
		assert_int_equal(pctl_proof_from_f32(rows[i].bits, PCTL_SCALAR_F32), rows[i].bits);
	}
}

static void examples(void **state)
{
	static const pctl_example one = {"one", {0x3f800000, 0x7f800000}};
	static const pctl_example two = {"two", {0xc0000000, 0}};
	static const pctl_example *const list[] = {&one, &two};
	static const uint8_t kept[2][16] = {{0x34, 0x12}, {0x78, 0x56}};
	static const uint16_t a[3] = {0x3c00, 0xc000, 0x1234}, b[3] = {0x7c00, 0, 0x5678};
	pctl_domain d = pctl_domain_make(PCTL_DOMAIN_EXAMPLES, PCTL_SCALAR_F16, 2, 1, 3);
	char text[96];
	pctl_column c[2];

	(void)state;
	d.examples = list;
	d.n_kept = 1;
	d.kept = kept;
	proof_columns(c, 2, 3);
	pctl_domain_fill(&d, 0, 3, c);
	assert_memory_equal(c[0].data, a, 6);
	assert_memory_equal(c[1].data, b, 6);
	proof_columns_free(c, 2);
	d = pctl_domain_make(PCTL_DOMAIN_RANDOM, PCTL_SCALAR_U32, 2, 5, 1000);
	pctl_domain_describe(&d, text, sizeof(text));
	assert_string_equal(text, "u32 random, seed 5, 1000 cases");
	d = pctl_domain_make(PCTL_DOMAIN_EXHAUSTIVE8, PCTL_SCALAR_I32, 1, 5, 0);
	pctl_domain_describe(&d, text, sizeof(text));
	assert_string_equal(text, "i32 8 bits exhaustive, 256 cases");
}

/* Every bit is set about half the time, operands and seeds have nothing to do with each other, and middling exponents
 * are what they should be. */
static void random_bits(void **state)
{
	const uint64_t n = 100000;
	uint32_t ones[64] = {0}, same = 0, middling = 0;
	pctl_column c[2], other[2];
	pctl_domain d = pctl_domain_make(PCTL_DOMAIN_RANDOM, PCTL_SCALAR_U32, 2, 1, n);

	(void)state;
	proof_columns(c, 2, n);
	proof_columns(other, 2, n);
	pctl_domain_fill(&d, 0, n, c);
	d.seed = 2;
	pctl_domain_fill(&d, 0, n, other);
	for (uint64_t i = 0; i < n; i++) {
		const uint32_t a = ((uint32_t *)(void *)c[0].data)[i];
		const uint32_t b = ((uint32_t *)(void *)c[1].data)[i];

		same += a == b || a == ((uint32_t *)(void *)other[0].data)[i];
		for (uint32_t k = 0; k < 32; k++) {
			ones[k] += a >> k & 1;
			ones[k + 32] += (a ^ b) >> k & 1;
		}
	}
	assert_true(same < 5);
	for (uint32_t k = 0; k < 64; k++)
		assert_true(ones[k] > 49000 && ones[k] < 51000);
	d = pctl_domain_make(PCTL_DOMAIN_RANDOM, PCTL_SCALAR_F32, 1, 1, n);
	pctl_domain_fill(&d, 0, n, c);
	for (uint64_t i = 0; i < n; i++) {
		const uint32_t e = ((uint32_t *)(void *)c[0].data)[i] >> 23 & 255;

		assert_true(i % 2 == 0 || (e >= 111 && e <= 142));
		middling += e >= 111 && e <= 142;
	}
	assert_true(middling > n / 2 && middling < n / 2 + n / 8);
	proof_columns_free(c, 2);
	proof_columns_free(other, 2);
}

/* Across the point where the counter's lower word starts anew, and a known stream: these numbers are in certificates. */
static void words(void **state)
{
	uint32_t a[8], b[8];

	(void)state;
	pctl_proof_words(3, 1, (UINT64_C(1) << 32) - 4, 8, a);
	pctl_proof_words(3, 1, UINT64_C(1) << 32, 4, b);
	assert_memory_equal(a + 4, b, 16);
	pctl_proof_words(1, 0, 0, 4, a);
	pctl_proof_words(1, 0, 2, 1, b);
	assert_int_equal(a[2], b[0]);
	assert_int_equal(pctl_proof_mix(1, 0, 0), 0xe220a8397b1dcdaf);
}

static void regressions(void **state)
{
	static const char *const bad[] = {"",	    "a",      "a\tb",	    "a\tb\t",
					  "\tb\tc", "a\t\tc", "a\tb\tc\td", "a\tb\tc\n"};
	static const char *const bad_values[] = {
		"0x1",	  "0x1 0x2 0x3", "0x1  0x2",	    "1 2",
		"0x1 0x", "0x1 0xg",	 "0x1 0x123456789", "0x1 0x2 "};
	const pctl_counterexample c = {.inputs = "0x00000001 0xffffffff", .law = "parity"};
	char line[PCTL_REGRESSION_LINE], text[64];
	uint8_t values[2][16];
	pctl_regression r;

	(void)state;
	assert_true(pctl_regression_format("int.add@1 u32", &c, line));
	assert_string_equal(line, "int.add@1 u32\tparity\t0x00000001 0xffffffff");
	assert_true(pctl_regression_parse(line, &r));
	assert_string_equal(r.subject, "int.add@1 u32");
	assert_true(pctl_regression_values(r.inputs, 2, 4, values));
	assert_int_equal(values[0][0] + values[1][3], 256);
	pctl_regression_print((const uint8_t(*)[16])values, 2, 4, text, sizeof(text));
	assert_string_equal(text, c.inputs);
	assert_false(pctl_regression_format("a\tb", &c, line));
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(pctl_regression_parse(bad[i], &r));
	for (uint32_t i = 0; i < sizeof(bad_values) / sizeof(bad_values[0]); i++)
		assert_false(pctl_regression_values(bad_values[i], 2, 4, values));
}

PCTL_TESTS_MAIN(PCTL_TEST(counts), PCTL_TEST(blocks), PCTL_TEST(all_of_8_bits), PCTL_TEST(lattice),
		PCTL_TEST(chosen_values), PCTL_TEST(halves), PCTL_TEST(examples),
		PCTL_TEST(random_bits), PCTL_TEST(words), PCTL_TEST(regressions))
