/* Quantisation under proof on devices that are wrong: ties away from zero, quotients cut off, signs lost, scales that are too small. Each is
 * caught. */
#include "test_proof_caught.h"

#include <math.h>

static int is_quantize(const pctl_problem *p)
{
	return strcmp(p->op.desc->name, "tensor.quantize") == 0 && p->bytes[1] == 4 &&
	       strcmp(pctl_problem_attr(p, "to"), "i8") == 0 && p->bytes[2] == 0;
}

static double quotient(const pctl_problem *p, uint64_t i)
{
	float x, s;

	memcpy(&x, p->data[0] + 4 * i, 4);
	memcpy(&s, p->data[1], 4);
	return s == 0 || !isfinite(s) || !isfinite(x) ? 0 : (double)x / (double)s;
}

static void put(pctl_answer *a, uint64_t i, double q)
{
	a->data[0][i] = (uint8_t)(int8_t)(q < -128 ? -128 : q > 127 ? 127 : q);
}

static void spoil_ties(const pctl_problem *p, pctl_answer *a)
{
	for (uint64_t i = 0; is_quantize(p) && i < a->bytes[0]; i++)
		if (fabs(quotient(p, i) - trunc(quotient(p, i))) == 0.5)
			put(a, i, round(quotient(p, i)));
}

static void spoil_cut(const pctl_problem *p, pctl_answer *a)
{
	for (uint64_t i = 0; is_quantize(p) && i < a->bytes[0]; i++)
		put(a, i, trunc(quotient(p, i)));
}

static void spoil_signs(const pctl_problem *p, pctl_answer *a)
{
	for (uint64_t i = 0; is_quantize(p) && i < a->bytes[0]; i++)
		put(a, i, fabs((double)(int8_t)a->data[0][i]));
}

/* What is no multiple of the scale is told from what is. */
static void spoil_between(const pctl_problem *p, pctl_answer *a)
{
	for (uint64_t i = 0; is_quantize(p) && i < a->bytes[0]; i++)
		if (quotient(p, i) != trunc(quotient(p, i)))
			a->data[0][i] ^= 1;
}

/* Of the ops under proof alone: others that a law uses are right. */
static void spoil_first(const pctl_problem *p, pctl_answer *a)
{
	if (strstr(p->op.desc->name, "quantize") != NULL && a->bytes[0] != 0)
		a->data[0][0] ^= 1;
}

static void spoil_large_scales(const pctl_problem *p, pctl_answer *a)
{
	float s = 0;

	if (strcmp(p->op.desc->name, "tensor.dequantize") == 0 && a->bytes[0] != 0)
		memcpy(&s, p->data[1], 4);
	if (s > 1.5f)
		a->data[0][0] ^= 1;
}

static float block_number(const pctl_problem *p, uint64_t i)
{
	float x = 0;

	if (strcmp(p->op.desc->name, "tensor.quantize_blocks") == 0 && p->bytes[0] >= 4 * (i + 1))
		memcpy(&x, p->data[0] + 4 * i, 4);
	return x;
}

static void spoil_second_by_sign(const pctl_problem *p, pctl_answer *a)
{
	if (block_number(p, 1) < 0)
		a->data[0][a->bytes[0] - 1] ^= 1;
}

static void spoil_large_numbers(const pctl_problem *p, pctl_answer *a)
{
	for (uint64_t i = 0; i < p->bytes[0] / 4; i++)
		if (block_number(p, i) > 40) {
			a->data[0][a->bytes[0] - 1] ^= 1;
			return;
		}
}

static void spoil_scale(const pctl_problem *p, pctl_answer *a)
{
	uint32_t bits;

	(void)p;
	memcpy(&bits, a->data[0], 4);
	bits -= bits >= 0x00800000u && bits < 0x7f800000u ? 256 : 0;
	memcpy(a->data[0], &bits, 4);
}

static void spoil_by_sign(const pctl_problem *p, pctl_answer *a)
{
	if (strcmp(p->op.desc->name, "tensor.quantize_scale") == 0 && p->bytes[0] >= 4 &&
	    p->data[0][3] >> 7)
		a->data[0][0] ^= 1;
}

static void test_proof_plans__wrong_scales_are_caught(void **state)
{
	static const struct {
		const char *op, *law, *spoilt;
		spoiler spoil;
		uint32_t dtype;
	} rows[] = {
		{"tensor.quantize", NULL, "ties go away from zero", spoil_ties, PCTL_SCALAR_F32},
		{"tensor.quantize",
		 "where scales are numbers of middling size: y dequantised and quantised again is "
		 "y",
		 "what lies between shows", spoil_between, PCTL_SCALAR_F32},
		{"tensor.quantize",
		 "with one scale above zero, a number that is not below another does not become a "
		 "lower element",
		 "signs are lost", spoil_signs, PCTL_SCALAR_F32},
		{"tensor.quantize",
		 "integers within their range, less the zero point, times the scale are within "
		 "half a scale of x",
		 "quotients are cut off", spoil_cut, PCTL_SCALAR_F32},
		{"tensor.quantize", "of a vector with one scale: x reversed gives y reversed",
		 "the first element is wrong", spoil_first, PCTL_SCALAR_BF16},
		{"tensor.dequantize", NULL, "a lowest bit", spoil_first, PCTL_DTYPE_I4},
		{"tensor.dequantize",
		 "scales of 1 and no zero point give what tensor.convert gives", "a lowest bit",
		 spoil_first, PCTL_DTYPE_F8E4M3},
		{"tensor.dequantize",
		 "out f32, scales of middling size: twice the scale gives twice the y",
		 "scales above 1.5 show", spoil_large_scales, PCTL_SCALAR_U8},
		{"tensor.quantize_blocks", NULL, "a lowest bit", spoil_first, PCTL_SCALAR_F16},
		{"tensor.quantize_blocks",
		 "rows in the opposite order give the rows of y in the opposite order",
		 "the first element is wrong", spoil_first, PCTL_SCALAR_BF16},
		{"tensor.quantize_blocks",
		 "of the formats without a minimum: negated numbers give y's elements negated",
		 "the sign of the second element shows", spoil_second_by_sign, PCTL_SCALAR_F32},
		{"tensor.quantize_blocks",
		 "numbers with an element of 0 and one of at least 1 in each block, none below 0, "
		 "and their doubles: y's elements doubled",
		 "numbers above 40 show", spoil_large_numbers, PCTL_SCALAR_F32},
		{"tensor.quantize_scale", NULL, "a lowest bit", spoil_first, PCTL_SCALAR_F16},
		{"tensor.quantize_scale",
		 "the type's largest number times the scale reaches the largest magnitude, and "
		 "that of the next scale below does not",
		 "scales are rounded down", spoil_scale, PCTL_SCALAR_F32},
		{"tensor.quantize_scale", "negated numbers give the same scales",
		 "the sign of the first element shows", spoil_by_sign, PCTL_SCALAR_F32},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pctl_verdict v;
		pctl_problem p = caught(rows[i].op, rows[i].dtype, rows[i].law, rows[i].spoil,
					rows[i].spoilt, &v);

		pctl_problem_clear(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PCTL_TEST(test_proof_plans__wrong_scales_are_caught),
	};

	return run_all(tests, sizeof(tests) / sizeof(tests[0]));
}
