/* The arithmetic of strict floats on the reference: every operation but the elementary functions, every
 * format and width, awkward and random operands, against MPFR and the rounding of float_oracle.c. */
#include "float_run.h"
#include "main.h"

#include <stdlib.h>

static void awkward_and_random_operands(void **state)
{
	rig r;
	(void)state;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
	for (uint32_t i = 0; i < first_math; i++)
		for (uint32_t k = 0; k < N_FLOAT_FORMATS; k++) {
			const float_format *f = &float_formats[k];
			const uint32_t n = float_awkward(f, float_ops[i].n_args);

			float_check(&r, &float_ops[i], f, 1, 0, n + 40000, 0);
		}
	rig_close(&r);
	float_oracle_close();
}

static void vectors_and_constants(void **state)
{
	rig r;
	(void)state;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
	for (uint32_t i = 0; i < first_math; i++)
		for (uint32_t k = 0; k < N_FLOAT_FORMATS; k++) {
			for (uint32_t m = 1; m < 1u << float_ops[i].n_args; m++)
				for (uint32_t seed = 0; seed < 12; seed++)
					float_check(&r, &float_ops[i], &float_formats[k], 1, m, 99,
						    seed * 977);
			for (uint32_t w = 2; w <= 4; w++)
				float_check(&r, &float_ops[i], &float_formats[k], w, w - 1, 299, w);
		}
	rig_close(&r);
	float_oracle_close();
}

/* All 65536 operands of both small formats. */
static void every_operand_of_the_small_formats(void **state)
{
	rig r;
	uint32_t *in[3] = {calloc(65536, 4), NULL, NULL}, *out = calloc(65536, 4);
	(void)state;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
	for (uint32_t i = 0; i < 65536; i++)
		in[0][i] = i;
	for (uint32_t i = 0; i < first_math; i++) {
		for (uint32_t k = FLOAT_F16; k <= FLOAT_BF16 && float_ops[i].n_args == 1; k++) {
			const float_format *f = &float_formats[k];
			const float_case c = {.op = float_ops[i].op,
					      .result = f->scalar,
					      .operand = f->scalar,
					      .n_args = 1,
					      .width = 1,
					      .n_lanes = 65536};

			float_run(&r, &c, in, out);
			for (uint32_t e = 0; e < 65536; e++)
				assert_int_equal(out[e], float_expect(c.op, f, &e));
		}
	}
	free(in[0]);
	free(out);
	rig_close(&r);
	float_oracle_close();
}

static void conversions(void **state)
{
	rig r;
	static const uint8_t scalars[] = {PCTL_SCALAR_I32, PCTL_SCALAR_U32, PCTL_SCALAR_F16,
					  PCTL_SCALAR_F32, PCTL_SCALAR_BF16};
	const uint32_t n = 65536 + 48 + 40000, n_scalars = sizeof(scalars);
	uint32_t *in[3] = {calloc(n, 4), NULL, NULL}, *out = calloc(n, 4);
	(void)state;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
	for (uint32_t s = 0; s < n_scalars; s++) {
		const uint8_t from = scalars[s];
		const float_format *f = &float_formats[from == PCTL_SCALAR_F16	  ? FLOAT_F16
						       : from == PCTL_SCALAR_BF16 ? FLOAT_BF16
										  : FLOAT_F32];

		/* Integers: bits of floats, powers of two and their neighbours. */
		for (uint32_t i = 0; i < n; i++) {
			in[0][i] = i < 65536 ? i : float_operand(f, 1, 0, i - 65536, 7);
			if (s < 2 && i >= 100000)
				in[0][i] = (uint32_t)(rig_random(5, i) >> (32 + i % 32));
			if (s < 2 && i < 32 * 64)
				in[0][i] = (1u << i / 64) + i % 64 - 32u;
			if (s == 3 && i < 64 * 256) /* f32 around the limits of integers */
				in[0][i] = ((118u + i / 256) << 23) + i % 256 - 128u +
					   (i % 2 ? 0x80000000u : 0);
			if (s == 3 && i >= 20000 &&
			    i < 60000) /* near what the small formats hold */
				in[0][i] = (float_operand(&float_formats[i % 2], 2, 1, i, 8)
					    << (i % 2 ? 16 : 13)) +
					   (i % 2 ? 0 : 0x38000000u) + i % 5 - 2u;
		}
		for (uint32_t t = 0; t < n_scalars; t++) {
			const float_case c = {.op = PCTL_OP_FCONVERT,
					      .result = scalars[t],
					      .operand = from,
					      .n_args = 1,
					      .width = 1 + t % 2,
					      .n_lanes = n / (1 + t % 2)};

			if (s == t || (s < 2 && t < 2))
				continue;
			float_run(&r, &c, in, out);
			for (uint32_t i = 0; i < c.n_lanes * c.width; i++) {
				const uint32_t want =
					float_expect_convert(from, scalars[t], in[0][i]);

				if (out[i] != want)
					fail_msg("%s to %s: %x is %x, not %x",
						 pctl_scalar_name(from),
						 pctl_scalar_name(scalars[t]), in[0][i], out[i],
						 want);
			}
		}
	}
	free(in[0]);
	free(out);
	rig_close(&r);
	float_oracle_close();
}

/* What semantics section 3 says in so many words. */
static void said_in_words(void **state)
{
	rig r;
	static const struct {
		uint16_t op;
		uint8_t format;
		uint32_t x[3], want;
	} said[] = {
		{PCTL_OP_FDIV, FLOAT_F32, {0, 0, 0}, 0x7fc00000},
		{PCTL_OP_FDIV, FLOAT_F16, {0, 0, 0}, 0x7e00},
		{PCTL_OP_FDIV, FLOAT_BF16, {0, 0, 0}, 0x7fc0},
		{PCTL_OP_FNEG, FLOAT_F32, {0x7fc00000, 0, 0}, 0xffc00000},
		{PCTL_OP_FNEG, FLOAT_F32, {0x7f800001, 0, 0}, 0xff800001},
		{PCTL_OP_FNEG, FLOAT_F32, {1, 0, 0}, 0x80000001},
		{PCTL_OP_FABS, FLOAT_F32, {0xff812345, 0, 0}, 0x7f812345},
		{PCTL_OP_FADD, FLOAT_F32, {0x7f812345, 0, 0}, 0x7fc00000},
		{PCTL_OP_FADD, FLOAT_F32, {0xffc12345, 0x3f800000, 0}, 0x7fc00000},
		{PCTL_OP_FMIN, FLOAT_F32, {0x7f800001, 0x40000000, 0}, 0x40000000},
		{PCTL_OP_FMIN, FLOAT_F32, {0x40000000, 0xffc00001, 0}, 0x40000000},
		{PCTL_OP_FMAX, FLOAT_F32, {0x7f800001, 0xffc00001, 0}, 0x7fc00000},
		{PCTL_OP_FMIN, FLOAT_F32, {0, 0x80000000, 0}, 0x80000000},
		{PCTL_OP_FMAX, FLOAT_F32, {0x80000000, 0, 0}, 0},
		{PCTL_OP_FROUND, FLOAT_F32, {0x3f000000, 0, 0}, 0},
		{PCTL_OP_FROUND, FLOAT_F32, {0x3fc00000, 0, 0}, 0x40000000},
		{PCTL_OP_FROUND, FLOAT_F32, {0xbf000000, 0, 0}, 0x80000000},
		{PCTL_OP_FCEIL, FLOAT_F32, {0xbf000000, 0, 0}, 0x80000000},
		{PCTL_OP_FADD, FLOAT_F32, {1, 1, 0}, 2},
		{PCTL_OP_FMUL, FLOAT_F32, {0x00800000, 0x3f000000, 0}, 0x00400000},
		{PCTL_OP_FSQRT, FLOAT_F32, {0x80000000, 0, 0}, 0x80000000},
		{PCTL_OP_FSQRT, FLOAT_F32, {0xbf800000, 0, 0}, 0x7fc00000},
		{PCTL_OP_FFMA, FLOAT_F32, {0x372a8000, 0xf9e4d500, 0x46d65caa}, 0},
	};
	(void)state;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		const float_format *f = &float_formats[said[i].format];
		uint32_t x[3] = {said[i].x[0], said[i].x[1], said[i].x[2]}, out;
		uint32_t *in[3] = {&x[0], &x[1], &x[2]};
		float_case c = {.op = said[i].op, .result = f->scalar, .operand = f->scalar};
		uint32_t want = said[i].want;

		c.width = c.n_lanes = 1;
		c.n_args = said[i].op == PCTL_OP_FFMA	      ? 3
			   : pctl_op_get(said[i].op)->args[1] ? 2
							      : 1;
		if (said[i].op == PCTL_OP_FFMA) /* a case that or-ing the error bit gets wrong */
			want = float_expect(said[i].op, f, x);
		float_run(&r, &c, in, &out);
		if (out != want)
			fail_msg("%s of %x %x %x is %x, not %x", pctl_op_get(c.op)->name, x[0],
				 x[1], x[2], out, want);
		assert_int_equal(float_expect(c.op, f, x), want); /* the oracle too */
	}
	rig_close(&r);
	float_oracle_close();
}

PCTL_TESTS_MAIN(PCTL_TEST(said_in_words), PCTL_TEST(awkward_and_random_operands),
		PCTL_TEST(vectors_and_constants), PCTL_TEST(every_operand_of_the_small_formats),
		PCTL_TEST(conversions))
