/* Ops of f64 under proof on devices that are wrong: a bit, a sign, a term. Each is caught, by parity or by the law that is named. */
#include "test_proof_caught.h"

static int is_under_proof(const pctl_problem *p)
{
	const size_t n = strlen(p->op.desc->name);

	return n > 2 && strcmp(p->op.desc->name + n - 2, "64") == 0;
}

/* Of ops of f64 alone: others that a law uses are right. */
static void spoil_first(const pctl_problem *p, pctl_answer *a)
{
	if (is_under_proof(p) && a->bytes[0] != 0)
		a->data[0][0] ^= 1;
}

/* The sign of the first f64, or the first truth. */
static void spoil_sign(const pctl_problem *p, pctl_answer *a)
{
	if (is_under_proof(p) && a->bytes[0] >= 8)
		a->data[0][7] ^= 0x80;
}

/* What only the first element's sign shows. */
static void spoil_by_sign(const pctl_problem *p, pctl_answer *a)
{
	if (is_under_proof(p) && p->bytes[0] >= 8 && p->data[0][7] >> 7 && a->bytes[0] != 0)
		a->data[0][0] ^= 1;
}

/* What only the last term shows. */
static void spoil_by_last(const pctl_problem *p, pctl_answer *a)
{
	if (is_under_proof(p) && p->bytes[0] >= 16 && p->data[0][p->bytes[0] - 1] >> 7 &&
	    a->bytes[0] != 0)
		a->data[0][0] ^= 1;
}

/* A product without its sum: fma that is another's sum. */
static void spoil_fused(const pctl_problem *p, pctl_answer *a)
{
	if (strcmp(p->op.desc->name, "ieee.fma64") == 0 && a->bytes[0] >= 8)
		a->data[0][6] ^= 0x10;
}

static void test_proof_plans__wrong_doubles_are_caught(void **state)
{
	static const struct {
		const char *op, *law, *spoilt;
		spoiler spoil;
	} rows[] = {
		{"ieee.add64", NULL, "a lowest bit", spoil_first},
		{"ieee.mul64",
		 "of operands that are f32: y rounded to f32 is what the op of f32 gives", "a sign",
		 spoil_sign},
		{"ieee.lt64",
		 "of operands that are f32: y rounded to f32 is what the op of f32 gives",
		 "a truth", spoil_first},
		{"ieee.div64", "of operands whose places are in reverse order y's are, too",
		 "the first element is wrong", spoil_first},
		{"ieee.fma64", "fma64(a, b, -0) = mul64(a, b), fma64(a, 1, c) = add64(a, c)",
		 "an upper bit", spoil_fused},
		{"ieee.abs64", "neg64(neg64(x)) = x, abs64(neg64(x)) = abs64(x)",
		 "the sign of x shows", spoil_by_sign},
		{"tensor.sum64", NULL, "a lowest bit", spoil_first},
		{"tensor.sum64", "x made i8: the sum of these as f64 is that as integers",
		 "a lowest bit", spoil_first},
		{"tensor.sum64", "x with the named axes in the opposite order gives the same y",
		 "the sign of the last term shows", spoil_by_last},
		{"tensor.matmul64", NULL, "a lowest bit", spoil_first},
		{"tensor.matmul64", "factors made i8: their product as f64 is that as integers",
		 "a lowest bit", spoil_first},
		{"tensor.matmul64",
		 "factors with their terms in the opposite order give the same y",
		 "the sign of the last term shows", spoil_by_last},
		{"tensor.max64", NULL, "a lowest bit", spoil_first},
		{"tensor.argmin64", NULL, "a lowest bit", spoil_first},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pctl_verdict v;
		pctl_problem p = caught(rows[i].op, PCTL_SCALAR_F64, rows[i].law, rows[i].spoil,
					rows[i].spoilt, &v);

		pctl_problem_clear(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PCTL_TEST(test_proof_plans__wrong_doubles_are_caught),
	};

	return run_all(tests, sizeof(tests) / sizeof(tests[0]));
}
