/* The elementary functions of strict floats on the reference: special cases as IEEE 754-2019 section
 * 9.2 lists them, every operand of f16 and bf16, awkward and random ones of f32, lanes that are off. */
#include "float_run.h"
#include "main.h"

#include <stdlib.h>

#define INF 0x7f800000u
#define NINF 0xff800000u
#define NAN32 0x7fc00000u
#define SIGNALLING 0xff812345u
#define ONE 0x3f800000u
#define N0 0x80000000u
#define NEG(x) ((x) ^ 0x80000000u)
#define PI 0x40490fdbu
#define PI_2 0x3fc90fdbu
#define PI_4 0x3f490fdbu
#define PI_3_4 0x4016cbe4u
#define TWO 0x40000000u
#define HALF 0x3f000000u
#define THREE 0x40400000u
#define LEAST 1u
#define MOST 0x7f7fffffu

typedef struct special {
	uint16_t op;
	uint32_t x, y, want;
} special;

static const special specials[] = {
	{PCTL_OP_FSIN, 0, 0, 0},
	{PCTL_OP_FSIN, N0, 0, N0},
	{PCTL_OP_FSIN, INF, 0, NAN32},
	{PCTL_OP_FSIN, LEAST, 0, LEAST},
	{PCTL_OP_FCOS, N0, 0, ONE},
	{PCTL_OP_FCOS, NINF, 0, NAN32},
	{PCTL_OP_FTAN, N0, 0, N0},
	{PCTL_OP_FTAN, INF, 0, NAN32},
	{PCTL_OP_FTAN, LEAST, 0, LEAST},
	{PCTL_OP_FASIN, N0, 0, N0},
	{PCTL_OP_FASIN, ONE, 0, PI_2},
	{PCTL_OP_FASIN, TWO, 0, NAN32},
	{PCTL_OP_FACOS, ONE, 0, 0},
	{PCTL_OP_FACOS, NEG(ONE), 0, PI},
	{PCTL_OP_FACOS, NEG(TWO), 0, NAN32},
	{PCTL_OP_FATAN, INF, 0, PI_2},
	{PCTL_OP_FATAN, NINF, 0, NEG(PI_2)},
	{PCTL_OP_FATAN, N0, 0, N0},
	{PCTL_OP_FSINH, N0, 0, N0},
	{PCTL_OP_FSINH, NINF, 0, NINF},
	{PCTL_OP_FCOSH, N0, 0, ONE},
	{PCTL_OP_FCOSH, NINF, 0, INF},
	{PCTL_OP_FTANH, NINF, 0, NEG(ONE)},
	{PCTL_OP_FTANH, N0, 0, N0},
	{PCTL_OP_FASINH, NINF, 0, NINF},
	{PCTL_OP_FASINH, N0, 0, N0},
	{PCTL_OP_FACOSH, ONE, 0, 0},
	{PCTL_OP_FACOSH, HALF, 0, NAN32},
	{PCTL_OP_FACOSH, INF, 0, INF},
	{PCTL_OP_FACOSH, NINF, 0, NAN32},
	{PCTL_OP_FATANH, ONE, 0, INF},
	{PCTL_OP_FATANH, NEG(ONE), 0, NINF},
	{PCTL_OP_FATANH, TWO, 0, NAN32},
	{PCTL_OP_FATANH, N0, 0, N0},
	{PCTL_OP_FEXP, N0, 0, ONE},
	{PCTL_OP_FEXP, NINF, 0, 0},
	{PCTL_OP_FEXP, INF, 0, INF},
	{PCTL_OP_FEXP, MOST, 0, INF},
	{PCTL_OP_FEXP, NEG(MOST), 0, 0},
	{PCTL_OP_FEXP2, 0xc3150000, 0, LEAST}, /* -149 */
	{PCTL_OP_FEXP2, 0xc3160000, 0, 0},     /* -150: half of it, to even */
	{PCTL_OP_FEXP2, 0xc315ffff, 0, LEAST}, /* just above */
	{PCTL_OP_FEXP2, 0x43000000, 0, INF},   /* 128 */
	{PCTL_OP_FEXP2, NINF, 0, 0},
	{PCTL_OP_FEXP10, TWO, 0, 0x42c80000},
	{PCTL_OP_FEXP10, NINF, 0, 0},
	{PCTL_OP_FLOG, 0, 0, NINF},
	{PCTL_OP_FLOG, N0, 0, NINF},
	{PCTL_OP_FLOG, ONE, 0, 0},
	{PCTL_OP_FLOG, NEG(ONE), 0, NAN32},
	{PCTL_OP_FLOG, INF, 0, INF},
	{PCTL_OP_FLOG, NINF, 0, NAN32},
	{PCTL_OP_FLOG2, N0, 0, NINF},
	{PCTL_OP_FLOG2, LEAST, 0, 0xc3150000},
	{PCTL_OP_FLOG10, 0x42c80000, 0, TWO},
	{PCTL_OP_FLOG10, NEG(LEAST), 0, NAN32},
	{PCTL_OP_FRSQRT, 0, 0, INF},
	{PCTL_OP_FRSQRT, N0, 0, NINF},
	{PCTL_OP_FRSQRT, INF, 0, 0},
	{PCTL_OP_FRSQRT, NEG(ONE), 0, NAN32},
	{PCTL_OP_FRSQRT, 0x40800000, 0, HALF},
	{PCTL_OP_FCBRT, 0xc1000000, 0, NEG(TWO)},
	{PCTL_OP_FCBRT, N0, 0, N0},
	{PCTL_OP_FCBRT, NINF, 0, NINF},
	{PCTL_OP_FERF, N0, 0, N0},
	{PCTL_OP_FERF, INF, 0, ONE},
	{PCTL_OP_FERF, NINF, 0, NEG(ONE)},
	{PCTL_OP_FERF, LEAST, 0, LEAST},
	{PCTL_OP_FERFC, N0, 0, ONE},
	{PCTL_OP_FERFC, INF, 0, 0},
	{PCTL_OP_FERFC, NINF, 0, TWO},
	{PCTL_OP_FLOG1P, N0, 0, N0},
	{PCTL_OP_FLOG1P, LEAST, 0, LEAST},
	{PCTL_OP_FLOG1P, NEG(ONE), 0, NINF},
	{PCTL_OP_FLOG1P, 0xbf800001, 0, NAN32},
	{PCTL_OP_FLOG1P, INF, 0, INF},
	{PCTL_OP_FEXPM1, N0, 0, N0},
	{PCTL_OP_FEXPM1, LEAST, 0, LEAST},
	{PCTL_OP_FEXPM1, INF, 0, INF},
	{PCTL_OP_FEXPM1, NINF, 0, NEG(ONE)},
	{PCTL_OP_FATAN2, 0, 0, 0},
	{PCTL_OP_FATAN2, N0, 0, N0},
	{PCTL_OP_FATAN2, 0, N0, PI},
	{PCTL_OP_FATAN2, N0, N0, NEG(PI)},
	{PCTL_OP_FATAN2, 0, NEG(ONE), PI},
	{PCTL_OP_FATAN2, N0, ONE, N0},
	{PCTL_OP_FATAN2, ONE, N0, PI_2},
	{PCTL_OP_FATAN2, NEG(ONE), 0, NEG(PI_2)},
	{PCTL_OP_FATAN2, INF, INF, PI_4},
	{PCTL_OP_FATAN2, INF, NINF, PI_3_4},
	{PCTL_OP_FATAN2, NINF, NINF, NEG(PI_3_4)},
	{PCTL_OP_FATAN2, ONE, NINF, PI},
	{PCTL_OP_FATAN2, NEG(ONE), INF, N0},
	{PCTL_OP_FATAN2, NINF, ONE, NEG(PI_2)},
	{PCTL_OP_FATAN2, NAN32, INF, NAN32},
	{PCTL_OP_FATAN2, ONE, SIGNALLING, NAN32},
	{PCTL_OP_FATAN2, LEAST, MOST, 0},
	{PCTL_OP_FPOW, NAN32, 0, ONE},
	{PCTL_OP_FPOW, SIGNALLING, N0, ONE},
	{PCTL_OP_FPOW, ONE, NAN32, ONE},
	{PCTL_OP_FPOW, ONE, SIGNALLING, ONE},
	{PCTL_OP_FPOW, NEG(ONE), NAN32, NAN32},
	{PCTL_OP_FPOW, NAN32, ONE, NAN32},
	{PCTL_OP_FPOW, 0xc1000000, THREE, 0xc4000000}, /* (-8)^3 = -512 */
	{PCTL_OP_FPOW, 0xc1000000, HALF, NAN32},
	{PCTL_OP_FPOW, 0, 0, ONE},
	{PCTL_OP_FPOW, INF, N0, ONE},
	{PCTL_OP_FPOW, N0, NEG(THREE), NINF},
	{PCTL_OP_FPOW, N0, NEG(TWO), INF},
	{PCTL_OP_FPOW, 0, NEG(HALF), INF},
	{PCTL_OP_FPOW, N0, THREE, N0},
	{PCTL_OP_FPOW, N0, TWO, 0},
	{PCTL_OP_FPOW, N0, HALF, 0},
	{PCTL_OP_FPOW, N0, NINF, INF},
	{PCTL_OP_FPOW, NEG(ONE), INF, ONE},
	{PCTL_OP_FPOW, NEG(ONE), NINF, ONE},
	{PCTL_OP_FPOW, HALF, INF, 0},
	{PCTL_OP_FPOW, NEG(TWO), INF, INF},
	{PCTL_OP_FPOW, HALF, NINF, INF},
	{PCTL_OP_FPOW, NEG(TWO), NINF, 0},
	{PCTL_OP_FPOW, NINF, THREE, NINF},
	{PCTL_OP_FPOW, NINF, TWO, INF},
	{PCTL_OP_FPOW, NINF, NEG(THREE), N0},
	{PCTL_OP_FPOW, NINF, HALF, INF},
	{PCTL_OP_FPOW, INF, NEG(HALF), 0},
	{PCTL_OP_FPOW, NEG(TWO), MOST, INF},
	{PCTL_OP_FPOW, TWO, 0xc3150000, LEAST},
};

static void special_cases(void **state)
{
	rig r;
	(void)state;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
	for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++) {
		const special *s = &specials[i];
		uint32_t x = s->x, y = s->y, out = 0, both[2] = {x, y};
		uint32_t *in[3] = {&x, &y, NULL};
		const float_case c = {.op = s->op,
				      .result = PCTL_SCALAR_F32,
				      .operand = PCTL_SCALAR_F32,
				      .n_args = pctl_op_get(s->op)->args[1] ? 2 : 1,
				      .width = 1,
				      .constants = i % 2 ? 3 : 0,
				      .n_lanes = 1};

		float_run(&r, &c, in, &out);
		if (out != s->want)
			fail_msg("%s of %x %x is %x, not %x", pctl_op_get(s->op)->name, x, y, out,
				 s->want);
		assert_int_equal(float_expect(s->op, &float_formats[FLOAT_F32], both), s->want);
	}
	/* Functions of one operand keep no NaN's payload. */
	for (uint32_t i = first_math; i < n_float_ops; i++) {
		uint32_t x = SIGNALLING, out = 0;
		uint32_t *in[3] = {&x, &x, NULL};
		const float_case c = {.op = float_ops[i].op,
				      .result = PCTL_SCALAR_F32,
				      .operand = PCTL_SCALAR_F32,
				      .n_args = float_ops[i].n_args,
				      .width = 1,
				      .n_lanes = 1};

		float_run(&r, &c, in, &out);
		assert_int_equal(out, NAN32);
	}
	rig_close(&r);
	float_oracle_close();
}

static void awkward_and_random_operands(void **state)
{
	rig r;
	(void)state;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
	for (uint32_t i = first_math; i < n_float_ops; i++)
		for (uint32_t k = 0; k < N_FLOAT_FORMATS; k++) {
			const float_op *o = &float_ops[i];
			const float_format *f = &float_formats[k];
			const uint32_t n = float_awkward(f, o->n_args);

			float_check(&r, o, f, 1, 0, n + (pctl_test_more() ? 4000 : 400), 0);
			float_check(&r, o, f, 3, 0, 99, n + 9000);
			for (uint32_t m = 1; m < 1u << o->n_args; m++)
				float_check(&r, o, f, 1, m, 20, n + 9999);
		}
	rig_close(&r);
	float_oracle_close();
}

/* By day one of eleven, others of each function. */
static void every_operand_of_the_small_formats(void **state)
{
	uint32_t *in[3] = {calloc(65536, 4), NULL, NULL}, *out = calloc(65536, 4);
	const uint32_t step = pctl_test_more() ? 1 : 11, n = 65536 / step;
	rig r;
	(void)state;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
	for (uint32_t i = first_math; i < n_float_ops; i++) {
		for (uint32_t e = 0; e < n; e++)
			in[0][e] = e * step + i % step;
		for (uint32_t k = FLOAT_F16; k <= FLOAT_BF16 && float_ops[i].n_args == 1; k++) {
			const float_format *f = &float_formats[k];
			const float_case c = {.op = float_ops[i].op,
					      .result = f->scalar,
					      .operand = f->scalar,
					      .n_args = 1,
					      .width = 1,
					      .n_lanes = n};

			float_run(&r, &c, in, out);
			for (uint32_t e = 0; e < n; e++)
				if (out[e] != float_expect(c.op, f, &in[0][e]))
					fail_msg("%s of %s %x is %x, not %x",
						 pctl_op_get(c.op)->name, f->name, in[0][e], out[e],
						 float_expect(c.op, f, &in[0][e]));
		}
	}
	rig_close(&r);
	free(in[0]);
	free(out);
	float_oracle_close();
}

PCTL_TESTS_MAIN(PCTL_TEST(special_cases), PCTL_TEST(awkward_and_random_operands),
		PCTL_TEST(every_operand_of_the_small_formats))
